/* msg.c - buffers and messages of system calls, as strace writes them. */
#include "base/bytes.h"
#include "syscall/show.h"

/* The pieces of what the vectors point to are numbered from id on. */
void shown_vector(struct shown *s, struct str all, u32 id, struct str vec, u64 count, u64 total)
{
	struct bytes b = bytes_of(vec.s, vec.n);
	sb_char(s->text, '[');
	for (u64 k = 0; k < count && b.at + 16 <= b.n; k++) {
		u64 base = bytes_u64(&b), len = bytes_u64(&b), there = MIN(len, total);
		struct str t =
			k < CALL_MAX_NESTED ? shown_part(s, all, id + (u32)k) : (struct str){0};
		total -= there;
		sb_z(s->text, k ? ", {iov_base=" : "{iov_base=");
		if (base || there)
			shown_data(s, str_n(t.s, MIN(t.n, there)), there, base);
		else
			shown_address(s, 0);
		sb_fmt(s->text, ", iov_len=%llu}", len);
	}
	sb_char(s->text, ']');
}

/* A message: its pieces and their number, its struct as it was before the call (received: in), and is. */
struct message {
	struct str all, hdr, before;
	u32 id;
	u64 total; /* bytes that are there */
};

/* What msg_name and msg_control point to. */
static void put_msg_name(struct shown *s, const struct message *m, u64 name, u64 len)
{
	struct str t = shown_part(s, m->all, m->id + CALL_MSG_NAME);
	sb_z(s->text, "{msg_name=");
	if (t.n >= 2)
		call_put_sockaddr(s->text, t);
	else
		shown_address(s, name);
	sb_fmt(s->text, ", msg_namelen=%llu", len);
}

static void put_msg_control(struct shown *s, const struct message *m, u64 control, u64 len)
{
	struct str t = shown_part(s, m->all, m->id + CALL_MSG_CONTROL);
	if (!len)
		return;
	sb_z(s->text, ", msg_control=");
	if (t.n)
		call_put_control(s->text, t, len);
	else
		shown_address(s, control);
}

/* The struct msghdr. */
static void put_msg(struct shown *s, const struct message *m)
{
	struct bytes b = bytes_of(m->hdr.s, m->hdr.n), c = bytes_of(m->before.s, m->before.n);
	struct str vec = shown_part(s, m->all, m->id + CALL_MSG_IOV);
	bytes_u64(&c);
	u64 name = bytes_u64(&b), namelen = bytes_u64(&b) & 0xffffffff,
	    room = bytes_u64(&c) & 0xffffffff;
	u64 iov = bytes_u64(&b), niov = bytes_u64(&b), control = bytes_u64(&b);
	u64 ncontrol = bytes_u64(&b), flags = bytes_u64(&b) & 0xffffffff;
	put_msg_name(s, m, name, m->before.s && room != namelen ? room : namelen);
	if (m->before.s && room != namelen)
		sb_fmt(s->text, " => %llu", namelen);
	sb_z(s->text, ", msg_iov=");
	if (iov && (vec.s || !niov))
		shown_vector(s, m->all, m->id + CALL_NESTED, vec, niov, m->total);
	else
		shown_address(s, iov);
	sb_fmt(s->text, ", msg_iovlen=%llu", niov);
	put_msg_control(s, m, control, ncontrol);
	sb_fmt(s->text, ", msg_controllen=%llu, msg_flags=", ncontrol);
	call_put_flags(s->text, STR("msg"), flags);
	sb_char(s->text, '}');
}

/* What was sent; what was received, or how long its address could have been. */
void shown_message(struct shown *s, u32 i, bool received)
{
	struct str in = call_part(s->enter, i), out = call_part(s->exit, i);
	struct message m = {s->enter, in, {0}, CALL_MESSAGE, ~0ull};
	struct bytes b = bytes_of(in.s, in.n);
	if (received)
		m = (struct message){s->exit, out, in, CALL_MESSAGE, s->out.arg[CALL_RET]};
	if (m.hdr.s)
		put_msg(s, &m);
	else if (received && in.s && s->has_out && bytes_take(&b, 8))
		sb_fmt(s->text, "{msg_namelen=%u}", bytes_u32(&b));
	else
		shown_address(s, s->in.arg[i]);
}

/* Message k of those at t. */
static struct str one_of_messages(struct str t, u32 k)
{
	u32 at = MIN(k * CALL_MMSGHDR, t.n);
	return str_n(t.s ? t.s + at : NULL, MIN(CALL_MMSGHDR, t.n - at));
}

/* Several messages: as many as were sent or received, of a call that failed all that were to be sent. */
void shown_messages(struct shown *s, u32 i, bool received)
{
	struct str in = call_part(s->enter, i), out = call_part(s->exit, i);
	bool good = s->has_out && (i64)s->out.arg[CALL_RET] >= 0;
	struct str all = received ? s->exit : s->enter, list = received || !in.s ? out : in;
	u64 count = good ? s->out.arg[CALL_RET] : s->in.arg[s->arg[i].k], rounds = 0;
	u32 k = 0;
	if ((received && !good) || !s->in.arg[i] || (!list.s && count)) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	sb_char(s->text, '[');
	for (; k < count && (k + 1) * CALL_MMSGHDR <= list.n; k++) {
		struct str hdr = one_of_messages(list, k), done = one_of_messages(out, k);
		struct message m = {all, hdr, {0}, (k + 1) * CALL_MESSAGE, ~0ull};
		struct bytes b = bytes_of(done.s, done.n), c = bytes_of(hdr.s, hdr.n);
		bytes_take(&b, CALL_MSGHDR);
		bytes_take(&c, 24);
		u32 len = bytes_u32(&b);
		u64 niov = bytes_u64(&c);
		rounds += CALL_MSG_PARTS + niov;
		if (k && rounds > CALL_ROUNDS)
			break;
		if (received) {
			m.before = one_of_messages(in, k);
			m.total = len;
		}
		sb_z(s->text, k ? ", {msg_hdr=" : "{msg_hdr=");
		put_msg(s, &m);
		if (good && !b.bad)
			sb_fmt(s->text, ", msg_len=%u", len);
		sb_char(s->text, '}');
	}
	sb_z(s->text, k < count ? ", ...]" : "]");
}
