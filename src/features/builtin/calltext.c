/*
 * calltext.c - a system call in words, laid out as strace does it.
 *
 * Everything here comes from memory of other processes: it is read through base/bytes.h, and what is
 * not there is shown as its address.
 */
#include "base/bytes.h"
#include "builtin/callshow.h"
#include "core/names.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- a call ---- */

bool call_head(struct str bytes, struct call_head *ret)
{
	if (bytes.n < sizeof(*ret))
		return false;
	memcpy(ret, bytes.s, sizeof(*ret));
	return true;
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

/* What was not there yet when a call began is when it ends: the kernel has brought its page. */
struct str shown_part(struct shown *s, struct str all, u32 id)
{
	struct str t = call_part(all, id);
	return t.s ? t : call_part(s->exit, id);
}

void shown_address(struct shown *s, u64 a)
{
	if (a)
		sb_fmt(s->text, "0x%llx", a);
	else
		sb_z(s->text, "NULL");
}

void shown_text(struct shown *s, u32 i, bool path)
{
	u64 limit = s->in.limit;
	struct str t = shown_part(s, s->enter, i);
	if (!t.s) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	t.n -= t.n > 0;
	bool cut = path ? t.n >= CALL_PATH - 1 : t.n > limit;
	call_put_quoted(s->text, cut && !path ? str_n(t.s, limit) : t, s->flags);
	sb_z(s->text, cut ? "..." : "");
}

/* Data that is hardly ever text, of which there were whole bytes. */
static void put_hex(struct shown *s, struct str t, u64 whole)
{
	t.n = MIN(t.n, s->in.limit);
	call_put_quoted(s->text, t, CALL_ALL_HEX);
	sb_z(s->text, whole > t.n ? "..." : "");
}

/* Data: whole bytes of it there were. */
void shown_data(struct shown *s, struct str t, u64 whole, u64 addr)
{
	if (!t.s && (whole || !addr)) {
		shown_address(s, addr);
		return;
	}
	/* There may be more: a byte to know that it is there, and what is to be dumped. */
	t.n = MIN(t.n, s->in.limit);
	bool cut = whole > t.n;
	call_put_quoted(s->text, t, s->flags);
	sb_z(s->text, cut ? "..." : "");
}

void shown_struct(struct shown *s, u32 i, struct str all)
{
	const struct call_arg *a = &s->arg[i];
	struct str name = str_n(a->name, a->name_len), t = call_part(all, i);
	struct bytes b = bytes_of(t.s, t.n);
	AUTO_SB text = {0};
	call_put_struct(&text, name, s->flags, &b);
	if (!t.s || b.bad)
		shown_address(s, s->in.arg[i]);
	else
		sb_add(s->text, sb_str(&text));
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

void shown_constant(struct shown *s, const char *name, u64 v)
{
	if (!name)
		sb_fmt(s->text, "%d", (i32)v);
	else if (!(s->flags & (CALL_NUMBERS | CALL_BOTH)))
		sb_z(s->text, name);
	else
		sb_fmt(s->text, s->flags & CALL_BOTH ? "%#x /* %s */" : "%#x", (u32)v, name);
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

static void put_protocol(struct shown *s, u64 v)
{
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

static void put_option(struct shown *s, u64 v)
{
	u64 level = s->in.arg[1];
	struct str table = level == SOL_SOCKET    ? STR("so")
			   : level == SOL_TCP     ? STR("tcp")
			   : level == SOL_IP      ? STR("ip")
			   : level == SOL_IPV6    ? STR("ipv6")
			   : level == SOL_NETLINK ? STR("netlink_opt")
						  : STR("");
	put_constant(s, table, v);
}

/* The same everywhere; headers have some of them only for those who ask. */
enum { FCNTL_SETSIG = 10, FCNTL_GETSIG = 11, FCNTL_SETLEASE = 1024, FCNTL_ADD_SEALS = 1033 };

static void put_fcntl_arg(struct shown *s, u32 i, u64 v)
{
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
static void put_futex_arg(struct shown *s, u32 i, u64 v)
{
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

/* Arguments that are not looked at stand between others. */
static bool left_out(const struct shown *s, u32 i)
{
	u32 op = (u32)s->in.arg[1] & 127;
	if (strcmp(s->name, "futex") != 0)
		return s->arg[i].kind == K_NONE;
	return (i == 4 && op == OP_WAIT_BITSET) || ((i == 3 || i == 4) && op == OP_WAKE_BITSET) ||
	       (i == 2 && op == OP_LOCK_PI);
}

/* The second and third argument, and the last. */
static void put_prctl(struct shown *s, u32 i, u64 v)
{
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

/* Of 32 bits: what stands above them in its register means nothing. */
static bool is_int(enum call_kind kind)
{
	switch ((int)kind) {
	case K_D:
	case K_U:
	case K_MODE:
	case K_FD:
	case K_DIRFD:
	case K_PID:
	case K_UID:
	case K_SIG:
	case K_FLAGS:
	case K_ENUM: return true;
	default: return false;
	}
}

/* A number. False: it is something else. */
static bool put_number(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	struct sb *out = s->text;
	switch ((int)s->arg[i].kind) { /* the others are not numbers */
	case K_D: sb_fmt(out, "%d", (i32)v); break;
	case K_U: sb_fmt(out, "%u", (u32)v); break;
	case K_LU: sb_fmt(out, "%llu", v); break;
	case K_LD:
	case K_OFF: sb_fmt(out, "%lld", (i64)v); break;
	case K_X: sb_fmt(out, v ? "0x%llx" : "0", v); break;
	case K_IOCTL:
	case K_IPC:
	case K_OPTVAL:
	case K_OPTVAL_OUT: put_by_other(s, i); break;
	case K_IOPRIO: call_put_ioprio(out, v); break;
	case K_PRCTL: put_prctl(s, i, v); break;
	case K_P: shown_address(s, v); break;
	case K_MODE: call_put_mode(out, (u32)v, s->arg[i].k); break;
	case K_FD:
		sb_fmt(out, "%d", (i32)v);
		call_put_file(out, s->flags, s->enter, i);
		break;
	case K_PID: sb_fmt(out, "%d", (i32)v); break;
	case K_UID: call_put_id(out, (u32)v); break;
	case K_DIRFD:
		if ((i32)v != AT_FDCWD || s->flags & (CALL_NUMBERS | CALL_BOTH))
			sb_fmt(out, "%d", (i32)v);
		if ((i32)v == AT_FDCWD && !(s->flags & CALL_NUMBERS))
			sb_z(out, s->flags & CALL_BOTH ? " /* AT_FDCWD */" : "AT_FDCWD");
		call_put_file(out, s->flags, s->enter, i);
		break;
	case K_SIG: call_put_signal(out, (u32)v); break;
	case K_FUTEX: put_futex_arg(s, i, v); break;
	case K_DEV:
		sb_fmt(out, "makedev(%#llx, %#llx)", v >> 8 & 0xfff,
		       (v & 0xff) | (v >> 12 & 0xfff00));
		break;
	case K_PROTOCOL: put_protocol(s, v); break;
	case K_SOCKOPT: put_option(s, v); break;
	case K_FCNTL: put_fcntl_arg(s, i, v); break;
	case K_KEY: shown_key(s, v); break;
	case K_KEYCTL: shown_keyctl(s, i); break;
	default: return false;
	}
	return true;
}

/* A path, however long texts may be. */
static void put_whole(struct shown *s, struct str t, u64 whole)
{
	call_put_quoted(s->text, t, s->flags);
	sb_z(s->text, whole > t.n ? "..." : "");
}

/* The bytes that a call has filled, or where they would have been. */
static void put_filled(struct shown *s, u32 i, i64 ret)
{
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
static bool not_looked_at(const struct shown *s, u32 i, struct str name)
{
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
static void put_word(struct shown *s, u32 i, struct str name)
{
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

/* A structure, an array: what an address stands for, but not a text, data or words. */
static bool is_deep(enum call_kind kind)
{
	switch ((int)kind) {
	case K_STRUCT:
	case K_STRUCT_OUT:
	case K_STRUCT_LEFT:
	case K_STRUCT_SIZED:
	case K_RULE:
	case K_INOUT:
	case K_ARRAY:
	case K_ARRAY_OUT:
	case K_PAIR_IN:
	case K_SA:
	case K_SA_OUT:
	case K_IOV:
	case K_IOV_OUT:
	case K_MSG:
	case K_MSG_OUT:
	case K_MMSG:
	case K_MMSG_OUT:
	case K_ARGV:
	case K_BPF: return true;
	default: return false;
	}
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
static void put_buffers(struct shown *s, u32 i, i64 ret)
{
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
static void put_given(struct shown *s, u32 i, struct str name)
{
	if (not_looked_at(s, i, name))
		shown_address(s, s->in.arg[i]);
	else if (str_is(name, "fprog"))
		shown_filter(s, i);
	else if (!str_is(name, "uring") || !put_answer(s, i))
		shown_struct(s, i, s->enter);
}

/* Argument i; the result is known when it shows memory that the call has filled. */
static void put_arg(struct shown *s, u32 i)
{
	const struct call_arg *a = &s->arg[i];
	struct str name = str_n(a->name, a->name_len), t = call_part(s->enter, i);
	u64 v = s->in.arg[i], ret = s->has_out ? s->out.arg[CALL_RET] : 0;
	if (s->flags & CALL_RAW) {
		sb_fmt(s->text, v ? "0x%llx" : "0", is_int(a->kind) ? (u32)v : v);
		return;
	}
	if (s->flags & CALL_SHALLOW && is_deep(a->kind)) {
		shown_address(s, v);
		return;
	}
	if (put_number(s, i))
		return;
	switch ((int)a->kind) { /* the others are numbers */
	case K_PATH: shown_text(s, i, true); break;
	case K_STR:
		if (not_looked_at(s, i, name))
			shown_address(s, v);
		else
			shown_text(s, i, false);
		break;
	case K_IN: shown_data(s, shown_part(s, s->enter, i), s->in.arg[a->k], v); break;
	case K_OUT:
	case K_OUTX:
	case K_OUTS:
	case K_ARRAY_OUT:
	case K_DENTS: put_filled(s, i, (i64)ret); break;
	case K_FLAGS:
	case K_ENUM: put_word(s, i, name); break;
	case K_ENVP: put_environ(s, i); break;
	case K_BPF: put_bpf(s, i); break;
	case K_STRUCT_SIZED:
		shown_struct(s, i, s->enter);
		if (str_is(name, "clone_args") && t.n >= 8 && (i64)ret > 0)
			put_cloned(s, t, ret);
		break;
	case K_RULE: put_rule(s, i); break;
	case K_STRUCT:
	case K_STRUCT_LEFT: put_given(s, i, name); break;
	case K_STRUCT_OUT:
		/* wait4() has written nothing when there was no child. */
		if (not_looked_at(s, i, name) || (str_is(name, "status") && !ret))
			shown_address(s, v);
		else
			shown_struct(s, i, s->exit);
		break;
	case K_INOUT: put_inout(s, i); break;
	case K_ARRAY: put_array(s, i, s->enter, s->in.arg[a->k]); break;
	case K_PAIR_IN: put_two(s, i); break;
	case K_SA: put_sockaddr(s, i, t); break;
	case K_SA_OUT: put_sockaddr_out(s, i); break;
	case K_IOV:
		t = shown_part(s, s->enter, i);
		if (t.s || (v && !s->in.arg[a->k]))
			shown_vector(s, s->enter, CALL_NESTED, t, s->in.arg[a->k], ~0ull);
		else
			shown_address(s, v);
		break;
	case K_IOV_OUT: put_buffers(s, i, (i64)ret); break;
	case K_MSG: shown_message(s, i, false); break;
	case K_MSG_OUT: shown_message(s, i, true); break;
	case K_MMSG: shown_messages(s, i, false); break;
	case K_MMSG_OUT: shown_messages(s, i, true); break;
	case K_ARGV: put_words(s, i); break;
	}
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

/* Shows memory that the call has filled, or its result. */
static bool comes_late(const struct call_arg *a)
{
	switch ((int)a->kind) {
	case K_OUT:
	case K_OUTX:
	case K_OUTS:
	case K_STRUCT_OUT:
	case K_ARRAY_OUT:
	case K_SA_OUT:
	case K_IOV_OUT:
	case K_MSG_OUT:
	case K_MMSG:
	case K_MMSG_OUT:
	case K_DENTS:
	case K_IOCTL:
	case K_FCNTL:
	case K_IPC:
	case K_OPTVAL_OUT:
	case K_INOUT: return true;
	default: return false;
	}
}

/* The arguments that are known when the call begins. */
static u32 known_early(const struct shown *s, u32 n)
{
	u32 i = 0;
	while (i < n && !comes_late(&s->arg[i]))
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
		put_arg(s, i);
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
