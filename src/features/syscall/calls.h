/*
 * calls.h - system calls as text: openat(AT_FDCWD, "/x", O_RDONLY) = 3.
 *
 * syscalls.def says of which kind each argument is. From that follows what programs copy at the
 * beginning and at the end of a call (syscall.c), and how user space shows it (text.c). What
 * travels is a struct call_head and pieces of memory behind it, as a buffer value.
 */
#pragma once
#include "arch/arch.h"
#include "base/str.h"

enum call_phase {
	CALL_ENTER,
	CALL_EXIT,
	CALL_SIGNAL, /* arg: 48 bytes of siginfo */
	CALL_ENDED,  /* the thread; arg[0]: how, as wait() gives it; arg[1]: enum call_end */
	CALL_MOVED,  /* thread arg[0] called execve, and is the leader of its process now */
};
enum {
	CALL_ARGS = 6,
	CALL_RET = 6,       /* arg[6]: the result */
	CALL_MESSAGE = 256, /* times 1, 2 ...: added to the numbers of the pieces of the messages */
	CALL_MSG_NAME = 5,  /* pieces of a msghdr, as they are in it: the address, */
	CALL_MSG_IOV = 6,   /* vectors, control messages */
	CALL_MSG_CONTROL = 7,
	CALL_MSG_PARTS = 3,
	CALL_MSGHDR = 56,  /* bytes of it, */
	CALL_MMSGHDR = 64, /* of one of several */
	CALL_NESTED = 8,   /* pieces from this on: data of vectors, words */
	CALL_MAX_NESTED = 16,
	CALL_ROUNDS =
		16, /* parts and buffers of all messages, at most: the verifier goes through each */
	CALL_PATH = 4096,    /* bytes of a piece, at most */
	CALL_ENVIRON = 1024, /* bytes of an array of addresses, to count them */
	CALL_FILE = 32,      /* pieces from this on, by argument: a struct call_file */
	CALL_NAMES = 48,     /* the names of its path, from the last one on; an empty one: all */
	CALL_UNREAD = 64,    /* addresses of words that could not be read */
	CALL_AREA = 2 * CALL_PATH,
	CALL_DUMPED = CALL_PATH - 1, /* bytes of data that is to be shown in hex, too */
	CALL_IPC = 120,              /* bytes that are copied of what shmctl() and its kin fill, */
	CALL_IOCTL = 44,             /* of what ioctl() points to, */
	CALL_FCNTL = 32,             /* fcntl() */
	CALL_FPROG = 16,             /* a struct sock_fprog */
	CALL_CONTROL = 512,          /* and control messages, at most */
};
/* The number of a call that has put other registers in its place, and its number with them: rt_sigreturn(). */
#define CALL_GONE 0xffffffffu
/* What is shown when a thread ends. */
enum call_end {
	CALL_END_OPEN = 1,   /* the call that it was in */
	CALL_END_SILENT = 2, /* not how it ended */
};
/* How a call is to be shown. */
enum call_flag {
	CALL_TIMES = 1,      /* how long it took */
	CALL_HEX = 2,        /* texts with other than printable characters in hex */
	CALL_ALL_HEX = 4,    /* all texts */
	CALL_PATHS = 8,      /* what descriptors stand for */
	CALL_SOCKETS = 16,   /* and whom sockets are connected with, which devices there are */
	CALL_SPLIT = 32,     /* in two lines when another thread's come between */
	CALL_WHOLE = 64,     /* structures with all their members */
	CALL_RAW = 128,      /* all arguments, and the result, as numbers */
	CALL_SHALLOW = 256,  /* structures and arrays as addresses */
	CALL_NUMBERS = 512,  /* flags and constants as numbers, */
	CALL_BOTH = 1024,    /* and their names behind */
	CALL_DUMP = 2048,    /* data in hex below the call */
	CALL_COMPAT = 4096,  /* a call of a 32-bit program; the program sets it */
	CALL_NO_MODE = 8192, /* it is not said when a thread goes on in another mode */
	CALL_COLUMN = 16,    /* bits from this on: 1 + the column of the result; 0: 40 */
};
struct call_head {
	u32 nr, phase, tid, pid, limit, flags; /* enum call_flag */
	u64 time_ns;
	u64 arg[8];
	u64 used; /* bytes of pieces */
};
/* Behind the head, each at a multiple of 8. */
struct call_piece {
	u32 id; /* number of the argument, or CALL_NESTED + n */
	u32 n;  /* bytes that follow; a text with its NUL */
};

/* What a descriptor stands for; peer: the inode of the other end of a UNIX socket. */
struct call_file {
	u64 ino, peer;
	u32 dev, rdev, mode, detached; /* detached: in no directory */
	u32 unlinked, family, type, protocol;
	u32 num, dport;          /* num: our port; dport: as in packets */
	u8 saddr[16], daddr[16]; /* of IPv4 the first four bytes */
};

enum call_kind {
#define K(id, ...) K_##id,
#include "syscall/kinds.def"
};
/* What is copied of an argument: op of so many elements (from), each of so many bytes (size). */
enum copy_from { FROM_NOTHING, FROM_ARG, FROM_RESULT };
enum {
	SIZE_ONE = 0xffff,
	SIZE_TWO = 0xfffe
}; /* of the structure that the argument names; two of them */
struct call_copying {
	u8 op, from; /* enum copy_op, copy_from */
	u16 size;
};
enum call_kind_flag { KIND_INT = 1, KIND_DEEP = 2, KIND_LATE = 4 };
enum call_narrow {
	NARROW_SAME,
	NARROW_LONG,
	NARROW_ADDRESS,
	NARROW_STRUCT,
	NARROW_NUMBER,
	NARROW_BARE
};
struct call_kind_row {
	struct str word;
	u8 flags, narrow; /* enum call_kind_flag, call_narrow */
	struct call_copying begin, end;
	u8 nested_begin, nested_end; /* enum nested_op */
};
extern const struct call_kind_row call_kinds[]; /* by enum call_kind */
struct call_arg {
	enum call_kind kind;
	bool bare;        /* nothing is copied of it: it is laid out as 32-bit programs have it */
	u8 k;             /* which argument says how many */
	const char *name; /* of the table or struct */
	u32 name_len;
};
struct call_row {
	const char *name, *args, *ret;
};
extern const struct call_row call_rows[]; /* ended by {0} */
const struct call_row *
call_find(const char *name); /* also of calls that only 32-bit programs have */
/* compat.c: NULL: there is none. wide: see there; or NULL. */
const struct call_row *call_find_compat(const char *name, bool *wide);
void call_narrow(struct call_arg *a);  /* as a 32-bit program has it */
u32 call_struct_size(struct str name); /* 0: there is none */

/*
 * A call's number, and whose it is: of a 64-bit program's call the number alone, of a 32-bit program's with
 * bit 32 set; x32 has bit 30, as the kernel has it. Tables of all calls have CALL_TABLE elements for each.
 */
enum { CALL_TABLE = 576, CALL_TABLES = 3, CALL_ALL = CALL_TABLE * CALL_TABLES };
#define CALL_ID_COMPAT (1ull << 32)
#define CALL_ID_X32    (1ull << 30)
struct call_shape {
	const struct arch_calls *calls; /* whose call it is */
	const char *name;               /* as programs know it; NULL: not known */
	const struct call_row *row;     /* NULL: not known; six numbers are shown */
	struct call_arg arg[CALL_ARGS];
	u32 nr, n;
	bool foreign; /* of a 64-bit program's calls one that x32 lacks */
};
void call_shape(const struct arch_calls *native, u64 id, struct call_shape *ret);
u64 call_id_at(u32 index); /* of element index of a table of all calls */
u64 call_id(const struct call_head *h);
/* "write", "write#32", "write#x32", "syscall_0x3e7" */
void call_put_name(struct sb *out, const struct arch_calls *native, u64 id);

/* What is copied of an argument at a phase. */
enum copy_op { COPY_NONE, COPY_PATH, COPY_STR, COPY_FIXED, COPY_DATA, COPY_ARRAY, COPY_SIZED };
struct call_copy {
	u8 op, from; /* from: the argument with the number of elements, CALL_RET */
	u16 size;    /* of one */
};
enum nested_op {
	NESTED_NONE,
	NESTED_VECTOR,
	NESTED_MSG,
	NESTED_MMSG,
	NESTED_WORDS,
	NESTED_FILTER, /* of a struct sock_fprog, with CALL_WHOLE */
	NESTED_PIDFD,  /* of clone_args */
};
struct call_plan {
	struct call_copy arg[CALL_ARGS];
	u32 nested; /* enum nested_op */
	u8 nested_arg, file[2],
		unused; /* file: 1 + arguments that are descriptors, CALL_RET; 0: none */
};
void call_plan(const struct call_shape *shape, enum call_phase phase, struct call_plan *ret);

/* Is the call in "open,%file", "!read"? ret for all calls. An err names the word that means nothing. */
struct err *call_set(const struct arch_calls *calls, struct str set, u8 ret[CALL_ALL]);

/*
 * enter, exit: values of syscall_enter(), syscall_exit(); empty: not known. Without exit the call
 * has not returned.
 */
void call_text(struct sb *out, const struct arch_calls *calls, struct str enter, struct str exit);
/* The two lines of one that was interrupted: what is known when it begins; the rest. */
void call_text_begun(struct sb *out, const struct arch_calls *calls, struct str enter);
void call_text_resumed(struct sb *out, const struct arch_calls *calls, struct str enter,
		       struct str exit);
/* Lines that stand below the call. */
void call_dump_text(struct sb *out, const struct arch_calls *calls, struct str enter,
		    struct str exit);                    /* dump.c */
void call_event_text(struct sb *out, struct str event);  /* event.c: a signal, an end */
bool call_head(struct str bytes, struct call_head *ret); /* false: too short */

/* structs.c */
struct bytes;
struct call_struct {
	const char *name;
	u32 size;
	void (*put)(struct sb *out, struct bytes *b);
};
const char *call_word(struct str table, u64 v); /* NULL: it has none for v */
void call_put_enum(struct sb *out, struct str table, u64 v);
void call_put_id(struct sb *out, u32 id); /* of a user or group; nobody's is -1 */
void call_put_flags(struct sb *out, struct str table, u64 v);
void call_put_clone(struct sb *out, u64 flags); /* with the signal in their low byte */
void call_put_capability(struct sb *out, u64 v);
void call_put_time(struct sb *out, i64 sec);            /* as a date */
void call_put_siginfo(struct sb *out, struct bytes *b); /* event.c */
void call_put_signal(struct sb *out, u64 n);
void call_put_mode(struct sb *out, u32 mode, bool with_type);
/* As a C literal, with octal codes, or as flags say. */
void call_put_quoted(struct sb *out, struct str s, u32 flags);
void call_put_sockaddr(struct sb *out, struct str s);
void call_put_bpf(struct sb *out, u32 cmd, struct bytes *attr);
/* b.bad: too short */
void call_put_struct(struct sb *out, struct str name, u32 flags, struct bytes *b);

/* file.c */
struct str call_part(struct str all,
		     u32 id); /* the piece of this number; {NULL}: it was not copied */
/* "</etc/passwd>" behind a descriptor, of argument i. */
void call_put_file(struct sb *out, u32 flags, struct str all, u32 i);

/* structs_rare.c */
extern const struct call_struct call_rare[]; /* more of them, ended by {0} */
/*
 * in: what is there when a call begins; answer: when it ends; each a piece, .s NULL: not known. False: nothing
 * was put, the argument is a number or an address.
 */
bool call_put_ipc(struct sb *out, struct str name, u32 cmd, struct str in, struct str answer);

/* values.c */
#define CALL_PR_SET_VMA 0x53564d41
bool call_put_fcntl(struct sb *out, u32 cmd, struct str in, struct str answer);
bool call_put_ioctl(struct sb *out, u32 request, u64 v, struct str in, struct str answer);
/* Argument i; before: the one in front of it. */
bool call_put_prctl(struct sb *out, u32 option, u32 i, u64 v, u64 before, struct str answer);
void call_put_prctl_result(struct sb *out, u32 option, u64 v);
bool call_put_sockopt(struct sb *out, u32 level, u32 name, struct str t);
void call_put_control(struct sb *out, struct str t, u64 whole); /* of whole bytes, t */
void call_put_ioprio(struct sb *out, u64 v);
void call_put_futex_op(struct sb *out, u64 v);
void call_put_futex_wake(struct sb *out, u64 v); /* what FUTEX_WAKE_OP does */
void call_put_error(struct sb *out, i64 ret);

/* args.c: how many arguments an operation has; is there one; is it an address? */
enum futex_op {
	OP_WAIT = 0,
	OP_WAKE = 1,
	OP_FD = 2,
	OP_REQUEUE = 3,
	OP_WAKE_OP = 5,
	OP_LOCK_PI = 6,
	OP_UNLOCK_PI = 7,
	OP_TRYLOCK_PI = 8,
	OP_WAIT_BITSET = 9,
	OP_WAKE_BITSET = 10,
	OP_WAIT_REQUEUE_PI = 11,
	OP_LOCK_PI2 = 13,
};
u32 call_futex_args(u32 op);
u32 call_prctl_args(u32 option);
u32 call_seccomp_args(u64 mode);   /* of PR_SET_SECCOMP */
u32 call_keyctl_args(u64 command); /* keys.c */
bool call_ioctl_bare(u32 request);
bool call_fcntl_address(u32 cmd);
