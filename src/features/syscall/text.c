/*
 * text.c - a system call as a line of text, laid out as strace does it: its name, the arguments that mean something, its
 * result and how long it took. A call that was interrupted has two lines.
 */
#include "syscall/show.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* Arguments that are not looked at stand between others. */
static bool left_out(const struct shown *s, u32 i)
{
	u32 op = (u32)s->in.arg[1] & 127;
	if (strcmp(s->name, "futex") != 0)
		return s->arg[i].kind == K_NONE;
	return (i == 4 && op == OP_WAIT_BITSET) || ((i == 3 || i == 4) && op == OP_WAKE_BITSET) ||
	       (i == 2 && op == OP_LOCK_PI);
}

/* Arguments that mean something only with others. */
static u32 meant(const struct shown *s, const char *name)
{
	enum { KCMP_OF_FILE = 0, KCMP_OF_EPOLL = 7, ARCH_CPUID = 0x1011 };
	bool opens = !strcmp(name, "open") || !strcmp(name, "openat");
	u32 flags = s->n > 2 ? (u32)s->in.arg[opens && !strcmp(name, "open") ? 1 : 2] : 0;
	if (opens && !(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE)
		return s->n - 1;
	if (!strcmp(name, "fcntl") || !strcmp(name, "fcntl64")) {
		u32 cmd = (u32)s->in.arg[1];
		if (cmd == F_GETFD || cmd == F_GETFL || cmd == F_GETOWN || cmd == F_GETPIPE_SZ ||
		    cmd == F_GETLEASE || cmd == F_GET_SEALS || cmd == FCNTL_GETSIG)
			return 2;
	}
	if (!strcmp(name, "mq_open") && !(s->in.arg[1] & O_CREAT))
		return 2;
	if (!strcmp(name, "kcmp"))
		return s->in.arg[2] == KCMP_OF_FILE || s->in.arg[2] == KCMP_OF_EPOLL ? 5 : 3;
	if (!strcmp(name, "membarrier"))
		return s->in.arg[1] & 1 ? 3 : 2;
	if (!strcmp(name, "arch_prctl"))
		return s->in.arg[0] == ARCH_CPUID ? 1 : 2;
	if (!strcmp(name, "futex"))
		return call_futex_args((u32)s->in.arg[1] & 127);
	if (!strcmp(name, "ioctl") && call_ioctl_bare((u32)s->in.arg[1]))
		return 2;
	if (!strncmp(name, "mknod", 5)) {
		u32 type = (u32)s->in.arg[s->n - 2] & S_IFMT;
		return type == S_IFCHR || type == S_IFBLK ? s->n : s->n - 1;
	}
	if (!strcmp(name, "prctl"))
		return s->in.arg[0] == PR_SET_SECCOMP ? call_seccomp_args(s->in.arg[1])
						      : call_prctl_args((u32)s->in.arg[0]);
	if (!strcmp(name, "keyctl"))
		return call_keyctl_args(s->in.arg[0]);
	if (!strcmp(name, "mremap") && !(s->in.arg[3] & 2))
		return 4;
	return s->n;
}

/* As strace has it: what x32 lacks, and numbers that mean nothing. */
static void put_name(struct sb *out, const struct call_shape *shape)
{
	if (shape->name)
		sb_fmt(out, shape->foreign ? "%s#64" : "%s", shape->name);
	else if ((i32)shape->nr >= 0 || shape->calls->narrow_from || !shape->calls->compat)
		sb_fmt(out, "syscall_0x%x", shape->nr);
	else
		sb_fmt(out, "syscall_0x%llx", (u64)(i64)(i32)shape->nr);
}

/* Of a call whose beginning was not seen: it may have been rt_sigreturn, which has put other registers in place. */
static void find_shape(struct shown *s, const struct arch_calls *calls, struct call_shape *shape)
{
	bool gone = !s->has_in && s->in.nr == CALL_GONE && (i64)s->out.arg[CALL_RET] != -ENOSYS;
	call_shape(calls, call_id(&s->in), shape);
	if (gone) {
		shape->name = "rt_sigreturn";
		shape->row = call_find(shape->name);
		shape->n = 0;
	}
	s->name = shape->name ? shape->name : "";
	s->n = shape->n;
	memcpy(s->arg, shape->arg, sizeof(s->arg));
}

static void put_column(struct sb *out, size_t start, u32 flags)
{
	enum { RESULT_COLUMN = 40 };
	size_t n = out->n - start + 1, set = flags >> CALL_COLUMN;
	size_t column = set ? set - 1 : RESULT_COLUMN;
	sb_pad(out, ' ', n < column ? column - n : 0);
	sb_z(out, " = ");
}

/* The arguments that are known when the call begins. */
static u32 known_early(const struct shown *s, u32 n)
{
	u32 i = 0;
	while (i < n && !(call_kinds[s->arg[i].kind].flags & KIND_LATE))
		i++;
	return i;
}

/* clone() in the order that strace shows: of those that flags ask for. */
static void put_clone(struct shown *s, const struct arch_calls *calls)
{
	u64 flags = s->in.arg[0], tls = s->in.arg[calls->clone_tls],
	    child = s->in.arg[7 - calls->clone_tls];
	sb_z(s->text, "child_stack=");
	shown_address(s, s->in.arg[1]);
	sb_z(s->text, ", flags=");
	call_put_clone(s->text, flags);
	if (flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) {
		sb_z(s->text, flags & CLONE_PARENT_SETTID ? ", parent_tid=" : ", pidfd=");
		shown_struct(s, 2, s->exit);
	}
	if (flags & CLONE_SETTLS)
		sb_fmt(s->text, ", tls=%#llx", tls);
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
		sb_z(s->text, ", child_tidptr=");
		shown_address(s, child);
	}
}

static void put_args(struct shown *s, u32 from, u32 to)
{
	bool first = !from || s->half == HALF_REST;
	for (u32 i = from; i < to; i++) {
		if (left_out(s, i))
			continue;
		sb_z(s->text, first ? "" : ", ");
		first = false;
		shown_arg(s, i);
	}
}

static void show_call(struct shown *sp, const struct arch_calls *calls, struct str enter,
		      struct str exit)
{
	struct shown s = *sp;
	struct sb *out = s.text;
	size_t start = out->n;
	s.has_in = call_head(enter, &s.in);
	s.has_out = call_head(exit, &s.out);
	if (!s.has_in && !s.has_out)
		return;
	if (s.has_in)
		s.enter = str_from(enter, sizeof(s.in));
	else
		s.in = s.out; /* its arguments are still in the registers */
	s.flags = s.has_out ? s.out.flags : s.in.flags;
	if (s.has_out)
		s.exit = str_from(exit, sizeof(s.out));
	struct call_shape shape;
	find_shape(&s, calls, &shape);
	const struct call_row *row = shape.row;
	sb_z(out, s.half == HALF_REST ? "<... " : "");
	put_name(out, &shape);
	sb_z(out, s.half == HALF_REST ? " resumed>" : "(");
	u32 n = row && !shape.foreign ? meant(&s, s.name) : s.n;
	u32 early = s.half == HALF_NONE ? 0 : known_early(&s, n);
	if (s.half == HALF_BEGUN) {
		put_args(&s, 0, early);
		sb_z(out, early && early < n ? ",  <unfinished ...>" : " <unfinished ...>");
		return;
	}
	if (row && !strcmp(s.name, "clone") && s.half == HALF_NONE && !(s.flags & CALL_RAW))
		put_clone(&s, shape.calls);
	else
		put_args(&s, early, n);
	if (!s.has_out && !(row && *row->ret == '?'))
		sb_z(out, " <unfinished ...>");
	sb_char(out, ')');
	put_column(out, start, s.flags);
	if (!s.has_out) {
		sb_char(out, '?');
		return;
	}
	shown_result(&s, row, s.name);
	u64 took = s.out.time_ns - s.in.time_ns;
	if (s.has_in && s.flags & CALL_TIMES)
		sb_fmt(out, " <%llu.%06llu>", took / 1000000000, took / 1000 % 1000000);
}

static void show(struct sb *out, const struct arch_calls *calls, struct str enter, struct str exit,
		 enum half half)
{
	struct arena a = {0};
	struct shown s = {.text = out, .arena = &a, .half = half};
	show_call(&s, calls, enter, exit);
	arena_free(&a);
}

void call_text(struct sb *out, const struct arch_calls *calls, struct str enter, struct str exit)
{
	show(out, calls, enter, exit, HALF_NONE);
}

void call_text_begun(struct sb *out, const struct arch_calls *calls, struct str enter)
{
	show(out, calls, enter, (struct str){0}, HALF_BEGUN);
}

void call_text_resumed(struct sb *out, const struct arch_calls *calls, struct str enter,
		       struct str exit)
{
	show(out, calls, enter, exit, HALF_REST);
}
