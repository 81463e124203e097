/* values.c - arguments of system calls that mean what another one says: commands, options, levels. */
#include "base/bytes.h"
#include "syscall/calls.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* As the struct of that name. False: there is too little of it. */
static bool put_as(struct sb *out, const char *name, struct str t)
{
	struct bytes b = bytes_of(t.s, t.n);
	AUTO_SB text = {0};
	if (!t.s)
		return false;
	call_put_struct(&text, str_z(name), 0, &b);
	if (b.bad)
		return false;
	sb_add(out, sb_str(&text));
	return true;
}

/* ---- fcntl ---- */

bool call_put_fcntl(struct sb *out, u32 cmd, struct str in, struct str answer)
{
	enum {
		SETOWN_EX = 15,
		GETOWN_EX = 16,
		OFD_GETLK = 36,
		OFD_SETLK = 37,
		OFD_SETLKW = 38,
		GET_HINT = 1035,
		SET_HINT = 1036
	};
	switch (cmd) {
	case F_SETLK:
	case F_SETLKW:
	case OFD_SETLK:
	case OFD_SETLKW: return put_as(out, "flock", in);
	case F_GETLK:
	case OFD_GETLK: return put_as(out, "flock_of", answer);
	case SETOWN_EX: return put_as(out, "owner", in);
	case GETOWN_EX: return put_as(out, "owner", answer);
	default: break;
	}
	struct str t = cmd == SET_HINT ? in : answer;
	struct bytes b = bytes_of(t.s, t.n);
	u64 hint = bytes_u64(&b);
	if ((cmd != SET_HINT && cmd != GET_HINT) || !t.s || b.bad)
		return false;
	sb_char(out, '[');
	call_put_enum(out, STR("rw_hint"), hint);
	sb_char(out, ']');
	return true;
}

/* ---- ioctl ---- */

static bool one_of(const u32 *list, size_t n, u32 request)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == request)
			return true;
	return false;
}

bool call_put_ioctl(struct sb *out, u32 request, u64 v, struct str in, struct str answer)
{
	enum {
		GETS2 = 0x802c542a,
		SETS2 = 0x402c542b,
		SETSW2,
		SETSF2,
		FLUSH = 0x540b,
		FLOW = 0x540a
	};
	static const u32 takes[] = {FIONBIO, TIOCSPGRP, FIOASYNC, TIOCPKT, 0x40045431, TIOCSETD};
	static const u32 gives[] = {FIONREAD, TIOCGPGRP, TIOCGSID, TIOCOUTQ, 0x80045430, TIOCGETD};
	static const u32 settings[] = {0x5402, 0x5403, 0x5404, SETS2, SETSW2, SETSF2}; /* TCSETS* */
	u32 word;
	u16 size[4] = {0};
	if (call_word(STR("ioctl_number"), request)) {
		sb_fmt(out, "%d", (i32)v);
		return true;
	}
	if (request == FLUSH || request == FLOW) {
		call_put_enum(out, request == FLUSH ? STR("tcflush") : STR("tcflow"), v);
		return true;
	}
	if (request == 0x5401 /* TCGETS */ || request == GETS2)
		return put_as(out, "termios", answer);
	if (one_of(settings, countof(settings), request))
		return put_as(out, "termios", in);
	bool window = request == TIOCGWINSZ || request == TIOCSWINSZ;
	bool given = request == TIOCSWINSZ || one_of(takes, countof(takes), request);
	struct str t = given ? in : answer;
	size_t wide = window ? sizeof(size) : sizeof(word);
	if ((!given && !window && !one_of(gives, countof(gives), request)) || t.n < wide)
		return false;
	memcpy(&word, t.s, sizeof(word));
	memcpy(size, t.s, wide);
	if (window)
		sb_fmt(out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", size[0], size[1],
		       size[2], size[3]);
	else
		sb_fmt(out, "[%d]", (i32)word);
	return true;
}

/* ---- prctl ---- */

bool call_put_prctl(struct sb *out, u32 option, u32 i, u64 v, u64 before, struct str answer)
{
	u8 first = answer.n ? (u8)*answer.s : 0;
	switch (option) {
	case PR_GET_PDEATHSIG:
		if (i != 1 || !answer.s)
			return false;
		sb_char(out, '[');
		call_put_signal(out, first);
		sb_char(out, ']');
		return true;
	case PR_GET_CHILD_SUBREAPER:
		if (i == 1 && answer.s)
			sb_fmt(out, "[%u]", first);
		return i == 1 && answer.s;
	case PR_SET_PDEATHSIG:
		if (i == 1)
			call_put_signal(out, v);
		return i == 1;
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
		if (i == 1)
			call_put_capability(out, v);
		return i == 1;
	case PR_CAP_AMBIENT:
		if (i == 1)
			call_put_enum(out, STR("prctl_ambient"), v);
		else if (i == 2 && before != PR_CAP_AMBIENT_CLEAR_ALL)
			call_put_capability(out, v);
		else
			return false;
		return true;
	case PR_SET_SECCOMP:
		if (i == 1)
			call_put_enum(out, STR("seccomp_mode"), v);
		return i == 1;
	case PR_SET_DUMPABLE:
		if (i == 1)
			call_put_enum(out, STR("dumpable"), v);
		return i == 1;
	case PR_SET_SECUREBITS:
		if (i == 1)
			call_put_flags(out, STR("securebits"), v);
		return i == 1;
	case PR_SET_PTRACER:
		if (i == 1 && v == ~0ull)
			sb_z(out, "PR_SET_PTRACER_ANY");
		return i == 1 && v == ~0ull;
	case PR_SET_KEEPCAPS:
	case PR_SET_NO_NEW_PRIVS:
	case PR_SET_CHILD_SUBREAPER:
	case PR_SET_THP_DISABLE:
	case PR_SET_TIMERSLACK:
		if (i == 1)
			sb_u64(out, v);
		return i == 1;
	case CALL_PR_SET_VMA:
		if (i == 1 && !v)
			sb_z(out, "PR_SET_VMA_ANON_NAME");
		return i == 1 && !v;
	default: return false;
	}
}

void call_put_prctl_result(struct sb *out, u32 option, u64 v)
{
	if (option == PR_GET_DUMPABLE && call_word(STR("dumpable"), v))
		sb_fmt(out, "%llu (%s)", v, call_word(STR("dumpable"), v));
	else if (option == PR_GET_SECUREBITS && v) {
		sb_fmt(out, "%#llx (", v);
		call_put_flags(out, STR("securebits"), v);
		sb_char(out, ')');
	} else
		sb_u64(out, v);
}

void call_put_id(struct sb *out, u32 id)
{
	sb_fmt(out, id == ~0u ? "-1" : "%u", id);
}

/* ---- options of sockets ---- */

/* What a connection failed with; false: nothing. */
static bool put_errno(struct sb *out, struct str t)
{
	struct bytes b = bytes_of(t.s, t.n);
	u32 no = bytes_u32(&b);
	const char *name = no && t.n == sizeof(no) ? strerrorname_np((int)no) : NULL;
	if (name)
		sb_fmt(out, "[%s]", name);
	return name;
}

bool call_put_sockopt(struct sb *out, u32 level, u32 name, struct str t)
{
	enum { ADD_MEMBERSHIP = 35, DROP_MEMBERSHIP = 36, BUFFERED = 4 };
	bool of_socket = level == SOL_SOCKET;
	if (of_socket && name == SO_LINGER && t.n >= 8)
		return put_as(out, "linger", t);
	if (of_socket && name == SO_PEERCRED && t.n >= 12)
		return put_as(out, "ucred", t);
	if (level == IPPROTO_IP && (name == ADD_MEMBERSHIP || name == DROP_MEMBERSHIP) && t.n == 8)
		return put_as(out, "mreq", t);
	if (of_socket && name == SO_ERROR && put_errno(out, t))
		return true;
	bool text = (of_socket && name == SO_BINDTODEVICE) ||
		    (level == IPPROTO_TCP && name == TCP_CONGESTION);
	return !text && t.n == BUFFERED && put_as(out, "i32", t);
}

/* ---- control messages ---- */

enum { CMSG_HEAD = 16 };

static void put_cmsg_data(struct sb *out, u32 level, u32 type, struct str data)
{
	enum { RIGHTS = 1, CREDENTIALS = 2 };
	struct bytes b = bytes_of(data.s, data.n);
	if (level == SOL_SOCKET && type == RIGHTS) {
		sb_char(out, '[');
		for (u32 i = 0; b.at + 4 <= b.n; i++)
			sb_fmt(out, i ? ", %d" : "%d", (i32)bytes_u32(&b));
		sb_char(out, ']');
	} else if (level != SOL_SOCKET || type != CREDENTIALS || !put_as(out, "ucred", data)) {
		call_put_quoted(out, data, CALL_ALL_HEX);
	}
}

void call_put_control(struct sb *out, struct str t, u64 whole)
{
	struct bytes b = bytes_of(t.s, t.n);
	bool first = true;
	sb_char(out, '[');
	while (b.at + CMSG_HEAD <= b.n) {
		size_t at = b.at;
		u64 len = bytes_u64(&b);
		u32 level = bytes_u32(&b), type = bytes_u32(&b);
		if (len < CMSG_HEAD || len > t.n - at)
			break;
		sb_fmt(out, first ? "{cmsg_len=%llu, cmsg_level=" : ", {cmsg_len=%llu, cmsg_level=",
		       len);
		call_put_enum(out, STR("sol"), level);
		sb_z(out, ", cmsg_type=");
		if (level == SOL_SOCKET)
			call_put_enum(out, STR("scm"), type);
		else
			sb_fmt(out, "%#x", type);
		sb_z(out, ", cmsg_data=");
		put_cmsg_data(out, level, type,
			      str_n(t.s + at + CMSG_HEAD, (u32)(len - CMSG_HEAD)));
		sb_char(out, '}');
		bytes_seek(&b, ALIGN_UP(at + len, 8));
		first = false;
	}
	sb_z(out, whole > t.n ? ", ...]" : "]");
}

/* ---- words ---- */

void call_put_ioprio(struct sb *out, u64 v)
{
	sb_z(out, "IOPRIO_PRIO_VALUE(");
	call_put_enum(out, STR("ioprio_class"), v >> 13 & 7);
	sb_fmt(out, ", %llu)", v & 0x1fff);
}

void call_put_futex_op(struct sb *out, u64 v)
{
	static const char *const ops[] = {
		"FUTEX_WAIT",           "FUTEX_WAKE",        "FUTEX_FD",
		"FUTEX_REQUEUE",        "FUTEX_CMP_REQUEUE", "FUTEX_WAKE_OP",
		"FUTEX_LOCK_PI",        "FUTEX_UNLOCK_PI",   "FUTEX_TRYLOCK_PI",
		"FUTEX_WAIT_BITSET",    "FUTEX_WAKE_BITSET", "FUTEX_WAIT_REQUEUE_PI",
		"FUTEX_CMP_REQUEUE_PI", "FUTEX_LOCK_PI2"};
	u32 op = (u32)v & 127;
	if (op < countof(ops))
		sb_z(out, ops[op]);
	else
		sb_fmt(out, "%#x /* FUTEX_??? */", op);
	sb_z(out, v & 128 ? "_PRIVATE" : "");
	sb_z(out, v & 256 ? "|FUTEX_CLOCK_REALTIME" : "");
}

/* "FUTEX_OP_SET<<28|0<<12|FUTEX_OP_CMP_GT<<24|0x1" */
void call_put_futex_wake(struct sb *out, u64 v)
{
	u32 op = v >> 28 & 15, shift = op & 8;
	sb_z(out, shift ? "FUTEX_OP_OPARG_SHIFT<<28|" : "");
	const char *name = call_word(STR("futex_wake"), op & 7);
	sb_fmt(out, name ? "%s<<28" : "%s", name ? name : "");
	if (!name)
		sb_fmt(out, "%#x<<28 /* FUTEX_OP_??? */", op & 7);
	sb_fmt(out, "|%#x<<12|", (u32)(v >> 12) & 0xfff);
	name = call_word(STR("futex_compare"), v >> 24 & 15);
	if (name)
		sb_fmt(out, "%s<<24", name);
	else
		sb_fmt(out, "%#x<<24 /* FUTEX_OP_CMP_??? */", (u32)(v >> 24) & 15);
	sb_fmt(out, "|%#x", (u32)v & 0xfff);
}

void call_put_error(struct sb *out, i64 ret)
{
	static const struct {
		i32 no;
		const char *name, *text;
	} restarts[] = {{512, "ERESTARTSYS", "To be restarted if SA_RESTART is set"},
			{513, "ERESTARTNOINTR", "To be restarted"},
			{514, "ERESTARTNOHAND", "To be restarted if no handler"},
			{516, "ERESTART_RESTARTBLOCK", "Interrupted by signal"}};
	for (size_t i = 0; i < countof(restarts); i++) {
		if (restarts[i].no != -ret)
			continue;
		sb_fmt(out, "? %s (%s)", restarts[i].name, restarts[i].text);
		return;
	}
	const char *name = strerrorname_np((int)-ret), *text = strerrordesc_np((int)-ret);
	sb_fmt(out, "-1 %s (%s)", name ? name : "E?", text ? text : "Unknown error");
}
