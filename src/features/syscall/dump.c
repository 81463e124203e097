/* dump.c - the data of system calls in hex, below them, as strace -e read= and -e write= write it. */
#include "base/bytes.h"
#include "syscall/show.h"

enum { ROW = 16, HALF = 8 };

static void put_row(struct sb *out, u32 at, struct str t)
{
	sb_fmt(out, " | %05x  ", at);
	for (u32 i = 0; i < ROW; i++) {
		sb_z(out, i == HALF ? " " : "");
		if (i < t.n)
			sb_fmt(out, "%02x ", (u8)t.s[i]);
		else
			sb_z(out, "   ");
	}
	sb_char(out, ' ');
	for (u32 i = 0; i < ROW; i++)
		sb_char(out, i >= t.n ? ' ' : t.s[i] >= ' ' && t.s[i] <= '~' ? t.s[i] : '.');
	sb_z(out, " |\n");
}

/* whole: so many bytes there were; t: those that were copied. */
static void put_data(struct sb *out, struct str t, u64 whole)
{
	t.n = (u32)MIN(t.n, whole);
	for (u32 at = 0; at < t.n; at += ROW)
		put_row(out, at, str_n(t.s + at, MIN(ROW, t.n - at)));
	if (t.n < whole)
		sb_z(out, " | ...\n");
}

/* Buffers whose pieces are numbered from id on; total bytes are in them. */
static void put_buffers(struct shown *s, struct str all, u32 id, struct str vec, u64 total)
{
	struct bytes b = bytes_of(vec.s, vec.n);
	for (u32 k = 0; b.at + 16 <= b.n && total; k++) {
		bytes_u64(&b); /* where it is */
		u64 len = bytes_u64(&b), there = MIN(len, total);
		struct str t = k < CALL_MAX_NESTED ? shown_part(s, all, id + k) : (struct str){0};
		total -= there;
		sb_fmt(s->text, " * %llu bytes in buffer %u\n", there, k);
		put_data(s->text, t, there);
	}
}

static void put_arg(struct shown *s, u32 i)
{
	const struct call_arg *a = &s->arg[i];
	u64 ret = s->out.arg[CALL_RET];
	switch ((int)a->kind) { /* the others are no data */
	case K_IN: put_data(s->text, shown_part(s, s->enter, i), s->in.arg[a->k]); break;
	case K_OUT: put_data(s->text, call_part(s->exit, i), ret); break;
	case K_IOV: put_buffers(s, s->enter, CALL_NESTED, shown_part(s, s->enter, i), ret); break;
	case K_IOV_OUT: put_buffers(s, s->exit, CALL_NESTED, call_part(s->exit, i), ret); break;
	case K_MSG:
	case K_MSG_OUT: {
		struct str all = a->kind == K_MSG ? s->enter : s->exit;
		put_buffers(s, all, CALL_MESSAGE + CALL_NESTED,
			    shown_part(s, all, CALL_MESSAGE + CALL_MSG_IOV), ret);
	}
	}
}

void call_dump_text(struct sb *out, const struct arch_calls *calls, struct str enter,
		    struct str exit)
{
	struct shown s = {.text = out};
	bool begun = call_head(enter, &s.in);
	if (!call_head(exit, &s.out) || !(s.out.flags & CALL_DUMP) || (i64)s.out.arg[CALL_RET] < 0)
		return;
	if (!begun)
		s.in = s.out;
	else
		s.enter = str_from(enter, sizeof(s.in));
	s.exit = str_from(exit, sizeof(s.out));
	struct call_shape shape;
	call_shape(calls, call_id(&s.in), &shape);
	s.n = shape.row ? shape.n : 0;
	memcpy(s.arg, shape.arg, sizeof(s.arg));
	for (u32 i = 0; i < s.n; i++)
		put_arg(&s, i);
}
