/*
 * type.h - one type model for BTF, DWARF, tracefs, C declarations and the language.
 *
 * Types are immutable once made, live in an arena and are compared by
 * structure (type_eq). A struct or union that came from BTF or DWARF is a
 * shell at first: name and size are there, members are read when somebody asks
 * (type_fields). So never touch .field directly; go through type_fields().
 *
 * How values look in memory (maps, records, scratch; native byte order):
 *	bool            1 byte
 *	int, enum, ptr  their own size
 *	string[N]       N bytes; text ends at the first NUL, and without a NUL in N bytes was cut
 *	buffer[N]       u32 length, N bytes: size N + 4
 *	tuple, record, struct, array    as in C
 *	kstack, ustack  struct stack_value, below
 *	ksym            u64 address
 *	usym            u64 address, u64 process
 *	inet            u8 length (4 or 16), u8 pad[3], u8 address[16]: 20 bytes
 *	macaddr         6 bytes
 *	timestamp       u64 ns, u32 format (a string id of the schema), u32 mode
 *	cgroup_path     u64 id, u32 filter (a string id), u32 pad
 *	username        u64 user id
 *	probe           u64, an index into unit.probe_name
 * Aggregations: see core/agg.h.
 */
#pragma once
#include "base/err.h"

enum type_kind {
#define T(kind, name, flags) T_##kind,
#include "types/type.def"
};
enum {
	T_KINDS =
#define T(kind, name, flags) +1
#include "types/type.def"
};
enum type_flags { TF_SCALAR = 1, TF_KEY = 2, TF_AGG = 4, TF_SIGN = 8 };

/* How to read what a pointer points to. */
enum space {
	AS_NONE,   /* unknown: probe_read */
	AS_STACK,  /* BPF stack or scratch: direct */
	AS_MAP,    /* map value: direct */
	AS_CTX,    /* the program's context: direct at constant offsets */
	AS_BTF,    /* trusted kernel pointer with BTF type: direct loads of scalars and pointers */
	AS_KERNEL, /* probe_read_kernel */
	AS_USER,   /* probe_read_user */
};

/*
 * How a stack's frames are printed. NATIVE is as bpftrace does without the functions of interpreted
 * languages, LANG nothing but these, FUNCTION without offsets in the functions.
 */
enum stack_mode {
	STACK_BPFTRACE,
	STACK_PERF,
	STACK_RAW,
	STACK_BUILD_ID,
	STACK_NATIVE,
	STACK_LANG,
	STACK_FUNCTION,
	STACK_MODES
};
extern const char *const stack_modes[];     /* their names, ended by NULL */
static inline bool stack_is_plain(u32 mode) /* laid out as bpftrace does by default */
{
	return mode == STACK_BPFTRACE || mode == STACK_NATIVE || mode == STACK_LANG ||
	       mode == STACK_FUNCTION;
}

/* Which clock a u64 from nsecs(boot), nsecs(tai) counts (its type.mode); the mode of a timestamp.
 */
enum stamp_mode { STAMP_MONO, STAMP_BOOT, STAMP_TAI };

/* A buffer that is a system call (syscall_enter()): it says its own length when it travels. */
enum { BUF_CALL = 1 };

struct field {
	struct str name; /* "" for an anonymous struct or union member, and tuple elements */
	const struct type *type;
	u32 bit_off; /* from the start of the struct */
	u32 bit_len; /* of a bit-field; 0: an ordinary member */
	u8 data_loc; /* tracefs: 1 __data_loc, 2 __rel_loc; the u32 at bit_off holds (len << 16 |
			offset) */
	u8 user;     /* tracefs syscalls: a pointer here points into user space */
	const char *lost; /* args by debug information: why there is no value ("is ...") */
	struct loc loc;
};
struct enumerator {
	struct str name;
	i64 val;
};

/* First in every source of types: fill in the members of a shell that it made. */
struct filler {
	void (*fill)(struct filler *from, struct type *t);
};

struct type {
	enum type_kind kind : 8;
	u8 space; /* enum space; of a pointer's target */
	bool is_signed;
	bool flex;    /* integer literal: adopts the other operand's type when it fits; function of
			 BTF: takes more arguments than are named */
	bool is_char; /* C char: an array of it is text */
	bool whole;   /* string: an array of char, which may fill it without a NUL */
	u8 mode;      /* stacks: enum stack_mode; timestamp: clock; buffer: BUF_CALL */
	u32 size, align;
	struct str name;         /* of struct, union, enum, typedef'd int; without "struct ".
				  * tuple: the format of the text that its parts are for; bhist:
				  * bounds */
	const struct type *base; /* pointer, array, enum's integer; function's return type */
	u32 count;               /* array: elements; stacks: frames; hist: bits */
	i64 p[3];                /* lhist: min, max, step; tseries: interval, n, agg; stacks: [0] 1:
				  * only the number of their frames is shown */
	u32 nfield;
	const struct field *field; /* struct, union, tuple, record; function parameters */
	u32 nenum;
	const struct enumerator *enums;
	/* Who reads the members when they are not read yet. */
	struct filler *lazy;
	u32 id; /* lazy's number for it: BTF type id; 0: none */
	/* How the C source spelled it; for show.c and names of anonymous structs, ignored by
	 * type_eq. */
	u8 qual;          /* enum type_qual */
	struct str alias; /* typedef: "pid_t" */
};
enum type_qual { TQ_CONST = 1, TQ_VOLATILE = 2, TQ_RESTRICT = 4 };

/* Value of kstack and ustack: ustack needs to know whose addresses these are. */
struct stack_value {
	u32 n;    /* frames that follow */
	u32 pid;  /* ustack: tgid; kstack: 0 */
	u64 ip[]; /* type.count of them; unused ones are 0 */
};
/* In build_id mode each frame is one of these (struct bpf_stack_build_id). */
struct stack_place {
	i32 status; /* 1: id and offset in that file; 2: addr; else nothing */
	u8 id[20];
	u64 addr; /* or offset */
};
static inline u32 stack_frame_size(enum stack_mode mode)
{
	return mode == STACK_BUILD_ID ? (u32)sizeof(struct stack_place) : (u32)sizeof(u64);
}
enum { MAX_FRAMES = 1024, DEFAULT_FRAMES = 127 };

extern const struct type type_error, type_none, type_bool, type_str0;
extern const struct type type_i8, type_i16, type_i32, type_i64, type_u8, type_u16, type_u32,
	type_u64;
extern const struct type type_ksym, type_usym, type_mac, type_inet, type_username, type_timestamp,
	type_cgroup_path;

static inline bool type_is_error(const struct type *t)
{
	return t->kind == T_ERROR;
}
/* "int", "string", "double": what a type is, without its size and what it points to. */
const char *type_kind_name(const struct type *t);
u32 type_flags(const struct type *t);
static inline bool type_is_scalar(const struct type *t)
{
	return type_flags(t) & TF_SCALAR;
}
static inline bool type_is_agg(const struct type *t)
{
	return type_flags(t) & TF_AGG;
}
static inline bool type_is_int(const struct type *t) /* int or enum */
{
	return t->kind == T_INT || t->kind == T_ENUM;
}
static inline bool type_is_record(const struct type *t) /* struct or union */
{
	return t->kind == T_STRUCT || t->kind == T_UNION;
}
const struct type *type_int(u32 size, bool is_signed); /* 1 2 4 8 */
const struct type *type_ptr(struct arena *a, const struct type *to, enum space space);
const struct type *type_array(struct arena *a, const struct type *of, u32 count);
const struct type *type_string(struct arena *a, u32 size); /* bytes, NUL included */
const struct type *type_buf(struct arena *a, u32 max);     /* size is max + 4 */
const struct type *type_stack(struct arena *a, enum type_kind kind, enum stack_mode mode,
			      u32 frames);
/* Members laid out as C would, byte arrays and strings aligned to 1. names: NULL for a tuple. */
const struct type *type_tuple(struct arena *a, u32 n, const struct type *const *elem,
			      const struct str *names);
const struct type *type_copy_as(struct arena *a, const struct type *t,
				enum space space); /* pointer with another space */
/* Same layout and meaning. Pointers' spaces, typedef names and qualifiers do not count. */
bool type_eq(const struct type *a, const struct type *b);

/* Members, read now if they were not; n in *n. Anonymous ones are still nested. */
const struct field *type_fields(const struct type *t, u32 *n);
/* Find a member, looking into anonymous structs and unions; bit_off is from t's start. False: none.
 */
bool type_field(const struct type *t, struct str name, struct field *ret);
/* Name nearest to a misspelled one, or {NULL}. */
struct str type_near_field(const struct type *t, struct str name);

/* As messages write it: "uint64", "string[2]", "struct task_struct *", "(int8,string[3])". */
void type_name(const struct type *t, struct sb *out);
const char *type_namez(struct arena *a, const struct type *t);
/* As C source, for -lv: "struct path {\n\tstruct vfsmount *mnt;\n...};" and "struct file *f"
 * declarations. */
void type_show_def(const struct type *t, struct sb *out);
void type_show_decl(const struct type *t, struct str name, struct sb *out);
/* As -lv prints fields and arguments: "struct file * f", "char comm[16]", "__data_loc char[] name".
 */
void type_show_field(const struct field *f, struct sb *out);
