/* set.c - rows of syscalls.def, what they ask for, and sets of calls as strace writes them. */
#include "base/arena.h"
#include "base/err.h"
#include "syscall/calls.h"
#include <regex.h>

const struct call_row call_rows[] = {
#define C(name, args, ret) {#name, args, ret},
#include "syscall/syscalls.def"
	{0},
};

static const struct call_row *find_in(const struct call_row *rows, const char *name)
{
	for (const struct call_row *r = rows; name && r->name; r++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

const struct call_row *call_find(const char *name)
{
	const struct call_row *r = find_in(call_rows, name);
	return r ? r : call_find_compat(name, NULL);
}

/* Words of kinds.def: a struct call_copying. */
#define C_NO          COPY_NONE, FROM_NOTHING, 0
#define C_PATH        COPY_PATH, FROM_NOTHING, 0
#define C_STR         COPY_STR, FROM_NOTHING, 0
#define C_ARG_DATA    COPY_DATA, FROM_ARG, 1
#define C_ARG_BYTES   COPY_ARRAY, FROM_ARG, 1
#define C_ARG_ARRAY   COPY_ARRAY, FROM_ARG, SIZE_ONE
#define C_ARG_EACH(n) COPY_ARRAY, FROM_ARG, n
#define C_ARG_SIZED   COPY_SIZED, FROM_ARG, 1
#define C_RET_DATA    COPY_DATA, FROM_RESULT, 1
#define C_RET_BYTES   COPY_ARRAY, FROM_RESULT, 1
#define C_RET_EACH(n) COPY_ARRAY, FROM_RESULT, n
#define C_ONE         COPY_FIXED, FROM_NOTHING, SIZE_ONE
#define C_TWO         COPY_FIXED, FROM_NOTHING, SIZE_TWO
#define C_FIXED(n)    COPY_FIXED, FROM_NOTHING, n
const struct call_kind_row call_kinds[] = {
#define K(id, word, flags, begin, end, nested_begin, nested_end, narrow, how) \
	[K_##id] = {STR(word),          flags,     NARROW_##narrow,           \
		    {C_##begin},        {C_##end}, NESTED_##nested_begin,     \
		    NESTED_##nested_end},
#include "syscall/kinds.def"
};

static struct call_arg arg_of(struct str word)
{
	struct call_arg a = {.kind = K_X};
	struct str kind, part;
	u64 n;
	str_cut(&word, ':', &kind);
	for (u32 i = 0; i < countof(call_kinds) && a.kind == K_X; i++)
		if (str_eq(kind, call_kinds[i].word))
			a.kind = (enum call_kind)i;
	while (str_cut(&word, ':', &part)) {
		if (str_u64(part, &n)) {
			a.k = (u8)n;
		} else {
			a.name = part.s;
			a.name_len = part.n;
		}
	}
	return a;
}

/* How many. */
static u32 call_args(const struct call_row *row, struct call_arg arg[CALL_ARGS])
{
	struct str rest = str_z(row->args), word;
	u32 n = 0;
	while (rest.n && n < CALL_ARGS && str_cut(&rest, ' ', &word))
		arg[n++] = arg_of(word);
	return n;
}

static void narrow_args(struct call_shape *shape)
{
	for (u32 i = 0; i < shape->n; i++)
		call_narrow(&shape->arg[i]);
}

/* Which table the number is for. */
static const struct arch_calls *calls_of(const struct arch_calls *native, u64 id, u32 *nr)
{
	*nr = (u32)id;
	if (id & CALL_ID_COMPAT && native->compat)
		return native->compat;
	if (native->x32 && *nr >= CALL_ID_X32 && *nr - CALL_ID_X32 < CALL_TABLE) {
		*nr -= (u32)CALL_ID_X32;
		return native->x32;
	}
	return native;
}

void call_shape(const struct arch_calls *native, u64 id, struct call_shape *ret)
{
	bool wide = false;
	*ret = (struct call_shape){0};
	ret->calls = calls_of(native, id, &ret->nr);
	const char *name = arch_call_name(ret->calls, ret->nr);
	if (!name && ret->calls == native->x32) {
		name = arch_call_name(native, ret->nr);
		ret->foreign = name != NULL;
	}
	bool narrow = ret->calls != native && ret->nr >= ret->calls->narrow_from;
	if (narrow)
		ret->row = call_find_compat(name, &wide);
	if (!ret->row)
		ret->row = find_in(call_rows, name);
	if (ret->row)
		ret->n = call_args(ret->row, ret->arg);
	if (narrow && !wide)
		narrow_args(ret);
	if (!ret->row)
		ret->n = CALL_ARGS;
	for (u32 i = 0; (!ret->row || ret->foreign) && i < ret->n; i++)
		ret->arg[i] = (struct call_arg){.kind = K_X};
	/* newfstat, newuname */
	ret->name =
		name && !strncmp(name, "new", 3) && strcmp(name, "newfstatat") ? name + 3 : name;
	if (!ret->row && ret->name != name) {
		ret->row = find_in(call_rows, ret->name);
		ret->n = ret->row ? call_args(ret->row, ret->arg) : CALL_ARGS;
	}
}

u64 call_id_at(u32 index)
{
	static const u64 what[CALL_TABLES] = {0, CALL_ID_COMPAT, CALL_ID_X32};
	assert(index < CALL_ALL);
	return what[index / CALL_TABLE] | index % CALL_TABLE;
}

u64 call_id(const struct call_head *h)
{
	return h->nr | (h->flags & CALL_COMPAT ? CALL_ID_COMPAT : 0);
}

void call_put_name(struct sb *out, const struct arch_calls *native, u64 id)
{
	struct call_shape shape;
	call_shape(native, id, &shape);
	const char *name = arch_call_name(shape.calls, shape.nr);
	if (shape.foreign) {
		sb_fmt(out, "%s#64", shape.name);
		return;
	}
	if (name)
		sb_z(out, name);
	else
		sb_fmt(out, "syscall_0x%x", shape.nr);
	if (shape.calls != native)
		sb_z(out, shape.calls == native->compat ? "#32" : "#x32");
}

static struct call_copy copy_of(const struct call_arg *a, const struct call_copying *c)
{
	u32 one = a->name ? call_struct_size(str_n(a->name, a->name_len)) : 0;
	u32 size = c->size == SIZE_ONE ? one : c->size == SIZE_TWO ? 2 * one : c->size;
	u8 from = c->from == FROM_ARG ? a->k : c->from == FROM_RESULT ? CALL_RET : 0;
	return (struct call_copy){c->op, from, (u16)size};
}

static struct call_copy copy_at(const struct call_arg *a, bool enter)
{
	const struct call_kind_row *row = &call_kinds[a->kind];
	if (enter && a->kind == K_PRCTL && a->k)
		return (struct call_copy){COPY_FIXED, 0, CALL_FPROG};
	return copy_of(a, enter ? &row->begin : &row->end);
}

static bool is_named(const struct call_arg *a, const char *name)
{
	return a->name && str_is(str_n(a->name, a->name_len), name);
}

void call_plan(const struct call_shape *shape, enum call_phase phase, struct call_plan *ret)
{
	const struct call_arg *arg = shape->arg;
	u32 n = shape->n;
	bool enter = phase == CALL_ENTER;
	size_t nfile = 0;
	*ret = (struct call_plan){0};
	for (u32 i = 0; i < n; i++) {
		enum call_kind k = arg[i].kind;
		u32 nested = enter ? call_kinds[k].nested_begin : call_kinds[k].nested_end;
		if (arg[i].bare)
			continue;
		ret->arg[i] = copy_at(&arg[i], enter);
		if (enter && (is_named(&arg[i], "fprog") || (k == K_PRCTL && arg[i].k)))
			nested = NESTED_FILTER;
		else if (!enter && is_named(&arg[i], "clone_args"))
			nested = NESTED_PIDFD;
		if (nested) {
			ret->nested = nested;
			ret->nested_arg = (u8)i;
		}
		if (enter && (k == K_FD || k == K_DIRFD) && nfile < countof(ret->file))
			ret->file[nfile++] = (u8)(i + 1);
	}
	if (!enter && shape->row && *shape->row->ret == 'f')
		ret->file[0] = CALL_RET + 1;
}

/* ---- sets ---- */

static bool has_kind(const struct call_row *r, enum call_kind a, enum call_kind b)
{
	struct call_arg arg[CALL_ARGS];
	u32 n = call_args(r, arg);
	for (u32 i = 0; i < n; i++)
		if (arg[i].kind == a || arg[i].kind == b)
			return true;
	return false;
}

static const struct {
	const char *name, *calls; /* with blanks before and behind each */
} classes[] = {
	{"process",
	 " execve execveat exit exit_group fork vfork clone clone3 wait4 waitid kill tkill "
	 "tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal waitpid "},
	{"network",
	 " socket connect accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg "
	 "shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt "
	 "socketcall "},
	{"signal", " rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait "
		   "rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack kill tkill tgkill "
		   "signalfd signalfd4 pause pidfd_send_signal sigaction sigprocmask sigreturn "
		   "sigpending sigsuspend signal sgetmask ssetmask rt_sigtimedwait_time64 "},
	{"ipc",
	 " shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl "
	 "ipc semtimedop_time64 "},
	{"memory",
	 " mmap munmap mprotect mremap msync mincore madvise brk mlock munlock mlockall "
	 "munlockall mlock2 shmat shmdt mbind move_pages migrate_pages set_mempolicy "
	 "get_mempolicy remap_file_pages pkey_mprotect io_setup io_destroy map_shadow_stack "
	 "process_madvise mseal mmap2 "},
	{"creds",
	 " getuid getgid geteuid getegid setuid setgid setreuid setregid setresuid setresgid "
	 "getresuid getresgid getgroups setgroups setfsuid setfsgid capget capset prctl "
	 "getuid32 getgid32 geteuid32 getegid32 setuid32 setgid32 setreuid32 setregid32 "
	 "setresuid32 setresgid32 getresuid32 getresgid32 getgroups32 setgroups32 "
	 "setfsuid32 setfsgid32 "},
	{"clock", " clock_settime clock_gettime clock_getres clock_adjtime adjtimex gettimeofday "
		  "settimeofday time stime clock_settime64 clock_gettime64 clock_getres_time64 "
		  "clock_adjtime64 "},
	{"stat", " stat newstat stat64 "},
	{"lstat", " lstat newlstat lstat64 "},
	{"fstat", " fstat newfstat newfstatat fstat64 fstatat64 "},
	{"%stat",
	 " stat newstat lstat newlstat fstat newfstat newfstatat statx stat64 lstat64 fstat64 "
	 "fstatat64 oldstat oldlstat oldfstat "},
	{"statfs", " statfs statfs64 "},
	{"fstatfs", " fstatfs fstatfs64 "},
	{"%statfs", " statfs fstatfs ustat statfs64 fstatfs64 "},
	{"pure", " getpid getppid gettid getuid getgid geteuid getegid getpgrp getpgid getsid "
		 "getuid32 getgid32 geteuid32 getegid32 "},
};

static bool class_has(struct str name, const char *call, bool *known)
{
	const struct call_row *r = call_find(call);
	*known = true;
	if (str_is(name, "file"))
		return r && (has_kind(r, K_PATH, K_PATH) || !strcmp(call, "getcwd"));
	if (str_is(name, "desc"))
		return r &&
		       (has_kind(r, K_FD, K_DIRFD) || strstr(" epoll_create epoll_create1 eventfd "
							     "eventfd2 pipe pipe2 open creat "
							     "poll ppoll select pselect6 ",
							     call));
	if (str_is(name, "net"))
		name = STR("network");
	for (size_t i = 0; i < countof(classes); i++) {
		if (!str_is(name, classes[i].name))
			continue;
		const char *at = strstr(classes[i].calls, call);
		return at && at[-1] == ' ' && at[strlen(call)] == ' ';
	}
	*known = false;
	return false;
}

/* What a program calls fstat, the kernel may call newfstat. */
static bool same_call(struct str word, const char *name)
{
	return str_is(word, name) || (!strncmp(name, "new", 3) && str_is(word, name + 3));
}

/* The name of the call at this place of a table of all calls; NULL: none. */
static const char *name_of(const struct arch_calls *native, u32 index)
{
	const struct arch_calls *calls = index < CALL_TABLE       ? native
					 : index < 2 * CALL_TABLE ? native->compat
								  : native->x32;
	return calls ? arch_call_name(calls, index % CALL_TABLE) : NULL;
}

/* All whose name has a match, of the kernel's or the program's. */
static struct err *add_matches(const struct arch_calls *calls, struct str pattern, u8 *ret)
{
	struct arena a = {0};
	regex_t regex;
	int bad = regcomp(&regex, arena_strz(&a, pattern), REG_EXTENDED | REG_NOSUB);
	for (u32 i = 0; !bad && i < CALL_ALL; i++) {
		const char *name = name_of(calls, i);
		bool renamed = name && !strncmp(name, "new", 3);
		if (name && (!regexec(&regex, name, 0, NULL, 0) ||
			     (renamed && !regexec(&regex, name + 3, 0, NULL, 0))))
			ret[i] = true;
	}
	if (!bad)
		regfree(&regex);
	arena_free(&a);
	return bad ? err_new("'/%.*s' is no regular expression", STRF(pattern)) : NULL;
}

/* "open@32": of one sort of programs. -1: it says nothing of that. */
static int take_sort(struct str *name)
{
	static const struct str sorts[CALL_TABLES] = {STR("@64"), STR("@32"), STR("@x32")};
	for (int i = 0; i < CALL_TABLES; i++) {
		u32 n = sorts[i].n;
		if (name->n > n && str_eq(str_from(*name, name->n - n), sorts[i])) {
			name->n -= n;
			return i;
		}
	}
	return -1;
}

static struct err *add_word(const struct arch_calls *calls, struct str word, u8 *ret)
{
	if (word.n && word.s[0] == '/')
		return add_matches(calls, str_from(word, 1), ret);
	bool quiet = word.n && word.s[0] == '?', group = false, any = false, known = false;
	struct str name = quiet ? str_from(word, 1) : word;
	int sort = take_sort(&name);
	u32 from = sort < 0 ? 0 : (u32)sort * CALL_TABLE,
	    to = sort < 0 ? CALL_ALL : from + CALL_TABLE;
	if (name.n && name.s[0] == '%') {
		group = true;
		name = str_from(name, 1);
	}
	if (str_is(name, "none"))
		return NULL;
	bool all = !group && str_is(name, "all");
	for (u32 i = from; i < to; i++) {
		const char *call = name_of(calls, i);
		bool hit = all || (call &&
				   (group ? class_has(name, call, &known) : same_call(name, call)));
		ret[i] |= hit;
		any |= hit;
	}
	/* "file" without % is what it was called once. */
	for (u32 i = from; !any && !group && i < to; i++) {
		const char *call = name_of(calls, i);
		ret[i] |= call && class_has(name, call, &known);
	}
	if (any || quiet || known)
		return NULL;
	return err_new("there is no %s '%.*s'", group ? "class of system calls" : "system call",
		       STRF(name));
}

struct err *call_set(const struct arch_calls *calls, struct str set, u8 ret[CALL_ALL])
{
	struct str word;
	memset(ret, 0, CALL_ALL);
	if (str_starts(set, STR("trace=")))
		set = str_from(set, 6);
	bool negate = set.n && set.s[0] == '!';
	set = negate ? str_from(set, 1) : set;
	while (set.n && str_cut(&set, ',', &word)) {
		struct err *e = add_word(calls, str_trim(word), ret);
		if (e)
			return e;
	}
	for (u32 i = 0; negate && i < CALL_ALL; i++)
		ret[i] = !ret[i];
	return NULL;
}
