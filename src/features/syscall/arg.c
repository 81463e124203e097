/*
 * arg.c - one argument of a system call, by its kind: a function for each row of kinds.def.
 *
 * What travelled with the call is shown, what did not as its address.
 */
#include "base/bytes.h"
#include "core/names.h"
#include "syscall/show.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static struct str arg_name(const struct shown *s, u32 i)
{
	return str_n(s->arg[i].name, s->arg[i].name_len);
}

/* 0: the call has not returned. */
static i64 result_of(const struct shown *s)
{
	return s->has_out ? (i64)s->out.arg[CALL_RET] : 0;
}

/* What was there when a call began, and what one that succeeded has left there, if it is to be shown. */
static struct str given_to(struct shown *s, u32 i)
{
	return s->flags & CALL_SHALLOW ? (struct str){0} : call_part(s->enter, i);
}

static struct str answer_of(struct shown *s, u32 i)
{
	return s->has_out && !(s->flags & CALL_SHALLOW) && (i64)s->out.arg[CALL_RET] >= 0
		       ? call_part(s->exit, i)
		       : (struct str){0};
}

/* Data that is hardly ever text, of which there were whole bytes. */
static void put_hex(struct shown *s, struct str t, u64 whole)
{
	t.n = MIN(t.n, s->in.limit);
	call_put_quoted(s->text, t, CALL_ALL_HEX);
	sb_z(s->text, whole > t.n ? "..." : "");
}

static void put_array(struct shown *s, u32 i, struct str all, u64 count)
{
	enum { MOST = 32 };
	const struct call_arg *a = &s->arg[i];
	struct str name = str_n(a->name, a->name_len), t = call_part(all, i);
	u32 size = call_struct_size(name);
	struct bytes b = bytes_of(t.s, t.n);
	bool brackets = size > 4 && !str_is(name, "u64");
	if ((!t.s && count) || !s->in.arg[i]) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	sb_char(s->text, '[');
	for (u64 k = 0; k < count && (k + 1) * size <= t.n && k < MOST; k++) {
		AUTO_SB one = {0};
		call_put_struct(&one, name, s->flags, &b);
		struct str text = sb_str(&one);
		if (!brackets && text.n > 2) /* "[5]" in a list */
			text = str_n(text.s + 1, text.n - 2);
		sb_fmt(s->text, "%s%.*s", k ? ", " : "", STRF(text));
	}
	sb_z(s->text, count > MOST || count * size > t.n ? ", ...]" : "]");
}

static void put_words(struct shown *s, u32 i)
{
	if (!s->has_in || !s->in.arg[i]) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	sb_char(s->text, '[');
	for (u32 k = 0; k < CALL_MAX_NESTED; k++) {
		struct str t = call_part(s->enter, CALL_NESTED + k);
		struct str unread = call_part(s->enter, CALL_UNREAD + k);
		if (!t.s && !unread.s)
			break;
		t.n -= t.n > 0;
		bool cut = t.n > s->in.limit;
		struct bytes addr = bytes_of(unread.s, unread.n);
		sb_z(s->text, k ? ", " : "");
		if (!t.s)
			shown_address(s, bytes_u64(&addr));
		else
			call_put_quoted(s->text, cut ? str_n(t.s, s->in.limit) : t, s->flags);
		sb_z(s->text, cut ? "..." : "");
		if (k + 1 == CALL_MAX_NESTED)
			sb_z(s->text, ", ...");
	}
	sb_char(s->text, ']');
}

/* Where the environment is, and how many words it has, if not too many. */
static void put_environ(struct shown *s, u32 i)
{
	struct str t = call_part(s->enter, i);
	struct bytes b = bytes_of(t.s, t.n);
	u32 n = 0;
	shown_address(s, s->in.arg[i]);
	while (bytes_u64(&b))
		n++;
	if (t.s && !b.bad)
		sb_fmt(s->text, " /* %u var%s */", n, n == 1 ? "" : "s");
}

/* Names in a directory's data: how many. */
static void put_entries(struct shown *s, u32 i)
{
	struct str t = call_part(s->exit, i);
	u32 n = 0;
	u64 whole = s->out.arg[CALL_RET];
	for (u32 at = 0; at + 19 <= t.n;) {
		u16 len;
		memcpy(&len, t.s + at + 16, 2);
		if (!len)
			break;
		at += len;
		n++;
	}
	shown_address(s, s->in.arg[i]);
	if (whole <= t.n)
		sb_fmt(s->text, " /* %u entries */", n);
}

static void put_sockaddr(struct shown *s, u32 i, struct str t)
{
	if (t.n >= 2)
		call_put_sockaddr(s->text, t);
	else
		shown_address(s, s->in.arg[i]);
}

/* [28 => 16] */
static void put_inout(struct shown *s, u32 i)
{
	const struct call_arg *a = &s->arg[i];
	struct str name = str_n(a->name, a->name_len), x = call_part(s->enter, i),
		   y = call_part(s->exit, i);
	struct bytes b = bytes_of(x.s, x.n), c = bytes_of(y.s, y.n);
	if (!x.s || !y.s || (x.n == y.n && !memcmp(x.s, y.s, x.n))) {
		shown_struct(s, i, x.s ? s->enter : s->exit);
		return;
	}
	call_put_struct(s->text, name, s->flags, &b);
	s->text->n--;
	size_t at = s->text->n;
	call_put_struct(s->text, name, s->flags, &c);
	/* "[28" "[16]" */
	struct str second = str_n(s->text->s + at + 1, s->text->n - at - 1);
	const char *text = arena_fmt(s->arena, " => %.*s", STRF(second));
	s->text->n = at;
	sb_z(s->text, text);
}

/* What the table has no name for is a number, as strace writes it. */
static void put_constant(struct shown *s, struct str table, u64 v)
{
	const char *name = call_word(table, v);
	if (!name && table.n && !(s->flags & (CALL_NUMBERS | CALL_BOTH)))
		call_put_enum(s->text, table, v);
	else
		shown_constant(s, name, v);
}

static void put_protocol(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	u64 family = s->in.arg[0];
	if (family == AF_PACKET) {
		sb_z(s->text, "htons(");
		call_put_enum(s->text, STR("ethernet"), (u64)ntohs((u16)v));
		sb_char(s->text, ')');
		return;
	}
	if (family == AF_NETLINK)
		put_constant(s, STR("netlink"), v);
	else
		shown_constant(s,
			       family == AF_INET || family == AF_INET6
				       ? call_word(STR("protocol"), v)
				       : NULL,
			       v);
}

static void put_option(struct shown *s, u32 i)
{
	u64 level = s->in.arg[1];
	struct str table = level == SOL_SOCKET    ? STR("so")
			   : level == SOL_TCP     ? STR("tcp")
			   : level == SOL_IP      ? STR("ip")
			   : level == SOL_IPV6    ? STR("ipv6")
			   : level == SOL_NETLINK ? STR("netlink_opt")
						  : STR("");
	put_constant(s, table, s->in.arg[i]);
}

static void put_fcntl(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	u32 cmd = (u32)s->in.arg[1];
	if (cmd == F_SETFD)
		sb_z(s->text, v & 1 ? "FD_CLOEXEC" : "0");
	else if (cmd == F_SETFL)
		call_put_flags(s->text, STR("open"), v);
	else if (cmd == FCNTL_SETSIG)
		call_put_signal(s->text, v);
	else if (cmd == FCNTL_SETLEASE)
		call_put_enum(s->text, STR("lease"), v);
	else if (cmd == FCNTL_ADD_SEALS)
		call_put_flags(s->text, STR("seals"), v);
	else if (call_put_fcntl(s->text, cmd, given_to(s, i), answer_of(s, i)))
		return;
	else if (call_fcntl_address(cmd))
		shown_address(s, v);
	else
		sb_fmt(s->text, "%d", (i32)v);
}

/* The fourth argument, a time or a number, and the sixth, a number or a set. */
static void put_futex(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	u32 op = (u32)s->in.arg[1] & 127;
	struct str t = call_part(s->enter, i);
	bool timed = op == OP_WAIT || op == OP_LOCK_PI || op == OP_WAIT_BITSET ||
		     op == OP_WAIT_REQUEUE_PI || op == OP_LOCK_PI2;
	bool set = op == OP_WAIT_BITSET || op == OP_WAKE_BITSET;
	if (i == 5 && op == OP_WAKE_OP) {
		call_put_futex_wake(s->text, v);
	} else if (i == 5 && set && (u32)v == ~0u) {
		sb_z(s->text, "FUTEX_BITSET_MATCH_ANY");
	} else if (i == 5 && set) {
		sb_fmt(s->text, "%#x", (u32)v);
	} else if (i == 3 && timed && t.s) {
		struct bytes b = bytes_of(t.s, t.n);
		call_put_struct(s->text, STR("timespec"), s->flags, &b);
	} else if (i == 3 && timed) {
		shown_address(s, v);
	} else {
		v = i == 5 ? (u32)v : v;
		sb_fmt(s->text, v > INT32_MAX ? "%#llx" : "%llu", v);
	}
}

/* The second and third argument, and the last. */
static void put_prctl(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	enum { FILTER = 2 };
	u32 option = (u32)s->in.arg[0];
	struct str answer = answer_of(s, i);
	if (i == 2 && option == PR_SET_SECCOMP && s->in.arg[1] == FILTER) {
		shown_filter(s, i);
		return;
	}
	if ((i == 1 && option == PR_SET_NAME) || (i == 4 && option == CALL_PR_SET_VMA))
		shown_text(s, i, false);
	else if (i == 1 && option == PR_GET_NAME && answer.n)
		call_put_quoted(s->text, str_n(answer.s, answer.n - 1), s->flags);
	else if (!call_put_prctl(s->text, option, i, v, s->in.arg[i ? i - 1 : 0], answer))
		sb_fmt(s->text, v ? "0x%llx" : "0", v);
}

/* By another argument: a command, a request, an option. */
static void put_by_other(struct shown *s, u32 i)
{
	const struct call_arg *a = &s->arg[i];
	struct str in = given_to(s, i), answer = answer_of(s, i);
	u32 what = (u32)s->in.arg[i ? i - 1 : 0];
	u64 v = s->in.arg[i];
	bool put = false;
	switch ((int)a->kind) { /* the others say themselves what they are */
	case K_IOCTL: put = call_put_ioctl(s->text, what, v, in, answer); break;
	case K_IPC:
		put = call_put_ipc(s->text, str_n(a->name, a->name_len), what, in, answer);
		break;
	case K_OPTVAL:
	case K_OPTVAL_OUT: {
		struct str t = a->kind == K_OPTVAL ? in : answer;
		put = t.s && call_put_sockopt(s->text, (u32)s->in.arg[1], what, t);
		if (put || !t.s)
			break;
		shown_data(s, str_n(t.s, MIN(t.n, s->in.limit)), t.n, v);
		put = true;
	}
	}
	if (!put)
		shown_address(s, v);
}

static void put_bpf(struct shown *s, u32 i)
{
	struct str t = call_part(s->enter, i);
	struct bytes b = bytes_of(t.s, t.n);
	if (t.s)
		call_put_bpf(s->text, (u32)s->in.arg[0], &b);
	else
		shown_address(s, s->in.arg[i]);
}

/* A path, however long texts may be. */
static void put_whole(struct shown *s, struct str t, u64 whole)
{
	call_put_quoted(s->text, t, s->flags);
	sb_z(s->text, whole > t.n ? "..." : "");
}

/* The bytes that a call has filled, or where they would have been. */
static void put_filled(struct shown *s, u32 i)
{
	i64 ret = result_of(s);
	const struct call_arg *a = &s->arg[i];
	struct str t = call_part(s->exit, i);
	u32 ends = a->kind == K_OUTS && t.n && !t.s[t.n - 1]; /* the NUL */
	bool none = a->kind == K_OUT && a->k && !s->in.arg[a->k];
	if (ret < 0 || !s->has_out || none || !s->in.arg[i])
		shown_address(s, s->in.arg[i]);
	else if (a->kind == K_DENTS)
		put_entries(s, i);
	else if (a->kind == K_ARRAY_OUT)
		put_array(s, i, s->exit, a->k == CALL_RET ? (u64)ret : s->in.arg[a->k]);
	else if (a->kind == K_OUTX && t.s)
		put_hex(s, t, (u64)ret);
	else if (a->kind == K_OUTS && t.s)
		put_whole(s, str_n(t.s, t.n - ends), (u64)ret - ends);
	else
		shown_data(s, t, (u64)ret, s->in.arg[i]);
}

static void put_two(struct shown *s, u32 i)
{
	struct str name = str_n(s->arg[i].name, s->arg[i].name_len), t = call_part(s->enter, i);
	struct bytes b = bytes_of(t.s, t.n);
	if (!t.s) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	sb_char(s->text, '[');
	call_put_struct(s->text, name, s->flags, &b);
	sb_z(s->text, ", ");
	call_put_struct(s->text, name, s->flags, &b);
	sb_char(s->text, ']');
}

/* select() without descriptors, EPOLL_CTL_DEL, ARCH_SET_FS, seccomp() without a filter. */
static bool not_looked_at(const struct shown *s, u32 i)
{
	struct str name = arg_name(s, i);
	enum { VALUE = 3, SET_STRING = 1, SET_PATH = 3 }; /* of fsconfig() */
	enum { DEL = 2, GET_FS = 0x1003, GET_GS = 0x1004, SET_FILTER = 1 };
	u64 first = s->in.arg[0];
	if (!strcmp(s->name, "fsconfig"))
		return i == VALUE && s->in.arg[1] != SET_STRING && s->in.arg[1] != SET_PATH &&
		       s->in.arg[1] != SET_PATH + 1;
	if (!strcmp(s->name, "arch_prctl"))
		return first != GET_FS && first != GET_GS;
	return (str_is(name, "fdset") && !first) ||
	       (str_is(name, "fprog") && first != SET_FILTER) ||
	       (str_is(name, "epoll_event") && s->in.arg[1] == DEL);
}

/* A constant or flags: by name, as a number, or the number with the names behind it as a remark. */
static void put_word(struct shown *s, u32 i)
{
	struct str name = arg_name(s, i);
	bool numbers = s->flags & (CALL_NUMBERS | CALL_BOTH), both = s->flags & CALL_BOTH;
	u64 v = s->in.arg[i];
	if (numbers)
		sb_fmt(s->text, both ? "%#x /* " : "%#x", (u32)v);
	if (numbers && !both)
		return;
	if ((u32)v == ~0u && str_is(name, "personality")) /* asks only */
		sb_fmt(s->text, "%#x", (u32)v);
	else if (s->arg[i].kind == K_ENUM)
		call_put_enum(s->text, name, v);
	else if (str_is(name, "futex"))
		call_put_futex_op(s->text, v);
	else
		call_put_flags(s->text, name, v);
	sb_z(s->text, numbers ? " */" : "");
}

/* Of landlock_add_rule(): by the kind of rule. */
static void put_rule(struct shown *s, u32 i)
{
	enum { PATH = 1, PORT = 2 };
	struct call_arg *a = &s->arg[i];
	u64 kind = s->in.arg[1];
	a->name = kind == PATH ? "path_beneath" : "net_port";
	a->name_len = (u32)strlen(a->name);
	if (kind == PATH || kind == PORT)
		shown_struct(s, i, s->enter);
	else
		shown_address(s, s->in.arg[i]);
}

/* Of io_uring_setup(): what the kernel has filled in. False: it has not. */
static bool put_answer(struct shown *s, u32 i)
{
	struct str t = answer_of(s, i);
	struct bytes b = bytes_of(t.s, t.n);
	if (t.s)
		call_put_struct(s->text, STR("uring_answer"), s->flags, &b);
	return t.s;
}

/* What was read; of a call that failed where it would have been. */
static void put_buffers(struct shown *s, u32 i)
{
	i64 ret = result_of(s);
	bool good = s->has_out && ret >= 0;
	struct str all = good ? s->exit : (struct str){0};
	struct str vec = call_part(good ? s->exit : s->enter, i);
	u64 count = s->in.arg[s->arg[i].k];
	if (vec.s || (s->in.arg[i] && !count))
		shown_vector(s, all, CALL_NESTED, vec, count, good ? (u64)ret : ~0ull);
	else
		shown_address(s, s->in.arg[i]);
}

/* The address that a call has filled, as long as there was room. */
static void put_sockaddr_out(struct shown *s, u32 i)
{
	struct str t = call_part(s->exit, i), room = call_part(s->enter, s->arg[i].k);
	u32 n = t.n;
	if (room.n == sizeof(n))
		memcpy(&n, room.s, sizeof(n));
	put_sockaddr(s, i, str_n(t.s, MIN(t.n, n)));
}

/* clone3(): words that the kernel has put where the struct t says; that of the thread is the result. */
static void put_cloned(struct shown *s, struct str t, u64 ret)
{
	struct bytes b = bytes_of(t.s, t.n), c;
	u64 flags = bytes_u64(&b);
	struct str fd = flags & CLONE_PIDFD ? call_part(s->exit, CALL_NESTED) : (struct str){0};
	const char *before = " => {";
	c = bytes_of(fd.s, fd.n);
	if (fd.n == 4) {
		sb_fmt(s->text, "%spidfd=[%d]", before, (i32)bytes_u32(&c));
		before = ", ";
	}
	if (flags & CLONE_PARENT_SETTID) {
		sb_fmt(s->text, "%sparent_tid=[%llu]", before, ret);
		before = ", ";
	}
	sb_z(s->text, *before == ',' ? "}" : "");
}

/* A struct that the call reads. */
static void put_given(struct shown *s, u32 i)
{
	struct str name = arg_name(s, i);
	if (not_looked_at(s, i))
		shown_address(s, s->in.arg[i]);
	else if (str_is(name, "fprog"))
		shown_filter(s, i);
	else if (!str_is(name, "uring") || !put_answer(s, i))
		shown_struct(s, i, s->enter);
}

static void put_nothing(struct shown *s, u32 i)
{
	(void)s;
	(void)i;
}

static void put_i32(struct shown *s, u32 i)
{
	sb_fmt(s->text, "%d", (i32)s->in.arg[i]);
}

static void put_u32(struct shown *s, u32 i)
{
	sb_fmt(s->text, "%u", (u32)s->in.arg[i]);
}

static void put_u64(struct shown *s, u32 i)
{
	sb_fmt(s->text, "%llu", s->in.arg[i]);
}

static void put_i64(struct shown *s, u32 i)
{
	sb_fmt(s->text, "%lld", (i64)s->in.arg[i]);
}

static void put_hexadecimal(struct shown *s, u32 i)
{
	sb_fmt(s->text, s->in.arg[i] ? "0x%llx" : "0", s->in.arg[i]);
}

static void put_address(struct shown *s, u32 i)
{
	shown_address(s, s->in.arg[i]);
}

static void put_mode(struct shown *s, u32 i)
{
	call_put_mode(s->text, (u32)s->in.arg[i], s->arg[i].k);
}

static void put_dev(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	sb_fmt(s->text, "makedev(%#llx, %#llx)", v >> 8 & 0xfff, (v & 0xff) | (v >> 12 & 0xfff00));
}

static void put_fd(struct shown *s, u32 i)
{
	put_i32(s, i);
	call_put_file(s->text, s->flags, s->enter, i);
}

static void put_dirfd(struct shown *s, u32 i)
{
	bool here = (i32)s->in.arg[i] == AT_FDCWD;
	if (!here || s->flags & (CALL_NUMBERS | CALL_BOTH))
		put_i32(s, i);
	if (here && !(s->flags & CALL_NUMBERS))
		sb_z(s->text, s->flags & CALL_BOTH ? " /* AT_FDCWD */" : "AT_FDCWD");
	call_put_file(s->text, s->flags, s->enter, i);
}

static void put_id(struct shown *s, u32 i)
{
	call_put_id(s->text, (u32)s->in.arg[i]);
}

static void put_signal(struct shown *s, u32 i)
{
	call_put_signal(s->text, (u32)s->in.arg[i]);
}

static void put_ioprio(struct shown *s, u32 i)
{
	call_put_ioprio(s->text, s->in.arg[i]);
}

static void put_key(struct shown *s, u32 i)
{
	shown_key(s, s->in.arg[i]);
}

static void put_keyctl(struct shown *s, u32 i)
{
	shown_keyctl(s, i);
}

static void put_path(struct shown *s, u32 i)
{
	shown_text(s, i, true);
}

static void put_text(struct shown *s, u32 i)
{
	if (not_looked_at(s, i))
		shown_address(s, s->in.arg[i]);
	else
		shown_text(s, i, false);
}

static void put_data(struct shown *s, u32 i)
{
	shown_data(s, shown_part(s, s->enter, i), s->in.arg[s->arg[i].k], s->in.arg[i]);
}

static void put_struct_sized(struct shown *s, u32 i)
{
	struct str t = call_part(s->enter, i);
	shown_struct(s, i, s->enter);
	if (str_is(arg_name(s, i), "clone_args") && t.n >= 8 && result_of(s) > 0)
		put_cloned(s, t, (u64)result_of(s));
}

/* wait4() has written nothing when there was no child. */
static void put_struct_out(struct shown *s, u32 i)
{
	if (not_looked_at(s, i) || (str_is(arg_name(s, i), "status") && !result_of(s)))
		shown_address(s, s->in.arg[i]);
	else
		shown_struct(s, i, s->exit);
}

static void put_array_in(struct shown *s, u32 i)
{
	put_array(s, i, s->enter, s->in.arg[s->arg[i].k]);
}

static void put_sockaddr_in(struct shown *s, u32 i)
{
	put_sockaddr(s, i, call_part(s->enter, i));
}

/* What is written, from several buffers. */
static void put_vector(struct shown *s, u32 i)
{
	struct str t = shown_part(s, s->enter, i);
	u64 n = s->in.arg[s->arg[i].k];
	if (t.s || (s->in.arg[i] && !n))
		shown_vector(s, s->enter, CALL_NESTED, t, n, ~0ull);
	else
		shown_address(s, s->in.arg[i]);
}

static void put_message(struct shown *s, u32 i)
{
	shown_message(s, i, false);
}

static void put_message_out(struct shown *s, u32 i)
{
	shown_message(s, i, true);
}

static void put_messages(struct shown *s, u32 i)
{
	shown_messages(s, i, false);
}

static void put_messages_out(struct shown *s, u32 i)
{
	shown_messages(s, i, true);
}

void shown_arg(struct shown *s, u32 i)
{
	static void (*const put[])(struct shown * s, u32 i) = {
#define K(id, word, flags, begin, end, nested_begin, nested_end, narrow, how) [K_##id] = put_##how,
#include "syscall/kinds.def"
	};
	enum call_kind kind = s->arg[i].kind;
	u64 v = s->in.arg[i];
	u32 flags = call_kinds[kind].flags;
	if (s->flags & CALL_RAW)
		sb_fmt(s->text, v ? "0x%llx" : "0", flags & KIND_INT ? (u32)v : v);
	else if (s->flags & CALL_SHALLOW && flags & KIND_DEEP)
		shown_address(s, v);
	else
		put[kind](s, i);
}
