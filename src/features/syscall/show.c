/*
 * show.c - what everything that shows a system call puts: addresses, texts, data, structures, constants.
 *
 * Everything here comes from memory of other processes: it is read through base/bytes.h, and what is not there is shown
 * as its address.
 */
#include "syscall/show.h"
#include "base/bytes.h"

bool call_head(struct str bytes, struct call_head *ret)
{
	if (bytes.n < sizeof(*ret))
		return false;
	memcpy(ret, bytes.s, sizeof(*ret));
	return true;
}

/* Memory that was not resident when the call began is read when it ends: by then the kernel has faulted the page in. */
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

void shown_constant(struct shown *s, const char *name, u64 v)
{
	if (!name)
		sb_fmt(s->text, "%d", (i32)v);
	else if (!(s->flags & (CALL_NUMBERS | CALL_BOTH)))
		sb_z(s->text, name);
	else
		sb_fmt(s->text, s->flags & CALL_BOTH ? "%#x /* %s */" : "%#x", (u32)v, name);
}
