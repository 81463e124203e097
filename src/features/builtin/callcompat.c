/*
 * callcompat.c - arguments of system calls of 32-bit programs.
 *
 * Most are those of the 64-bit call of the same name, but structures with addresses, longs and times in
 * them are laid out differently: they are shown as addresses. syscalls32.def has the calls that are others.
 */
#include "builtin/calls.h"

static const struct {
	struct call_row row;
	bool wide; /* its structures are those of 64-bit programs */
} rows[] = {
#define C(name, args, ret) {{#name, args, ret}, false},
#define W(name, args, ret) {{#name, args, ret}, true},
#include "builtin/syscalls32.def"
};

const struct call_row *call_find_compat(const char *name, bool *wide)
{
	for (size_t i = 0; name && i < countof(rows); i++) {
		if (strcmp(rows[i].row.name, name) != 0)
			continue;
		if (wide)
			*wide = rows[i].wide;
		return &rows[i].row;
	}
	return NULL;
}

/* Structures that look the same to all programs. */
static bool is_same(const struct call_arg *a)
{
	static const char *const same[] = {
		"u64",     "u32",      "i32",         "pair",       "pollfd",     "epoll_event",
		"status",  "sigset",   "utsname",     "statx",      "open_how",   "clone_args",
		"ruleset", "cap_head", "cap_data",    "timezone",   "cpus",       "fdset",
		"sembuf",  "uring",    "futex_waitv", "mount_attr", "sched_attr", NULL};
	return a->name && str_among(str_n(a->name, a->name_len), same);
}

void call_narrow(struct call_arg *a)
{
	switch ((int)a->kind) { /* the others are the same */
	case K_LD:
	case K_OFF: a->kind = K_D; break;
	case K_STRUCT:
	case K_STRUCT_OUT:
	case K_STRUCT_SIZED:
	case K_STRUCT_LEFT:
	case K_INOUT:
	case K_ARRAY:
	case K_ARRAY_OUT:
		if (!is_same(a))
			a->kind = K_P;
		break;
	case K_PAIR_IN:
	case K_IOV:
	case K_IOV_OUT:
	case K_MSG:
	case K_MSG_OUT:
	case K_MMSG:
	case K_MMSG_OUT:
	case K_ARGV:
	case K_ENVP:
	case K_DENTS:
	case K_IPC:
	case K_OPTVAL:
	case K_OPTVAL_OUT: a->kind = K_P; break;
	case K_IOCTL:
	case K_PRCTL:
	case K_KEYCTL: a->kind = K_X; break;
	case K_FCNTL:
	case K_FUTEX: a->bare = true; break;
	}
}
