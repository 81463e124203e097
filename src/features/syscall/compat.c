/*
 * compat.c - arguments of system calls of 32-bit programs.
 *
 * Most are those of the 64-bit call of the same name, but structures with addresses, longs and times in
 * them are laid out differently: they are shown as addresses. syscalls32.def has the calls that are others.
 */
#include "syscall/calls.h"

static const struct {
	struct call_row row;
	bool wide; /* its structures are those of 64-bit programs */
} rows[] = {
#define C(name, args, ret) {{#name, args, ret}, false},
#define W(name, args, ret) {{#name, args, ret}, true},
#include "syscall/syscalls32.def"
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
	switch (call_kinds[a->kind].narrow) {
	case NARROW_SAME: break;
	case NARROW_LONG: a->kind = K_D; break;
	case NARROW_STRUCT: a->kind = is_same(a) ? a->kind : K_P; break;
	case NARROW_ADDRESS: a->kind = K_P; break;
	case NARROW_NUMBER: a->kind = K_X; break;
	case NARROW_BARE: a->bare = true; break;
	}
}
