/* result.c - results of system calls, as strace writes them. */
#include "base/bytes.h"
#include "syscall/show.h"
#include <fcntl.h>

/* ", left {tv_sec=1, tv_nsec=5}": of the time that argument i was. */
static void put_left(struct shown *s, u32 i)
{
	if (!s->in.arg[i] || !call_part(s->exit, i).s)
		return;
	sb_z(s->text, ", left ");
	if (s->flags & CALL_SHALLOW)
		shown_address(s, s->in.arg[i]);
	else
		shown_struct(s, i, s->exit);
}

/* "([{fd=3, revents=POLLIN}])" */
static void put_polled(struct shown *s, i64 ret, bool timed)
{
	struct str t = call_part(s->exit, 0);
	struct bytes b = bytes_of(t.s, t.n);
	bool first = true;
	if (!ret) {
		sb_z(s->text, " (Timeout)");
		return;
	}
	sb_z(s->text, " ([");
	while (b.at + 8 <= b.n) {
		i32 fd = (i32)bytes_u32(&b);
		bytes_u16(&b);
		u16 revents = bytes_u16(&b);
		if (!revents)
			continue;
		sb_fmt(s->text, "%s{fd=%d, revents=", first ? "" : ", ", fd);
		call_put_flags(s->text, STR("poll_events"), revents);
		sb_char(s->text, '}');
		first = false;
	}
	sb_char(s->text, ']');
	if (timed)
		put_left(s, 2);
	sb_char(s->text, ')');
}

/* "(in [3], left {tv_sec=1, tv_usec=5})" */
static void put_selected(struct shown *s, i64 ret)
{
	static const char *const sets[] = {NULL, "in ", "out ", "except "};
	size_t start = s->text->n;
	if (!ret) {
		sb_z(s->text, " (Timeout)");
		return;
	}
	for (u32 i = 1; i < countof(sets); i++) {
		struct str t = call_part(s->exit, i);
		bool some = false;
		for (u32 k = 0; k < t.n && !some; k++)
			some = t.s[k];
		if (!some)
			continue;
		sb_fmt(s->text, s->text->n > start ? ", %s" : " (%s", sets[i]);
		shown_struct(s, i, s->exit);
	}
	if (s->text->n == start)
		return;
	put_left(s, 4);
	sb_char(s->text, ')');
}

/* The result, which is flags, in hex, and their names behind it. */
static void put_words_of(struct shown *s, const char *what, struct str table, u64 ret)
{
	while (s->text->n && s->text->s[s->text->n - 1] != ' ')
		s->text->n--;
	sb_fmt(s->text, "%#llx (%s", ret, what);
	call_put_flags(s->text, table, ret);
	sb_char(s->text, ')');
}

/* Of recvmmsg(): what is left of the time. */
static void put_received(struct shown *s)
{
	enum { TIMEOUT = 4 };
	if (!s->in.arg[TIMEOUT] || !call_part(s->exit, TIMEOUT).s)
		return;
	sb_z(s->text, " (left ");
	shown_struct(s, TIMEOUT, s->exit);
	sb_char(s->text, ')');
}

void shown_result(struct shown *s, const struct call_row *row, const char *name)
{
	struct sb *out = s->text;
	i64 ret = (i64)s->out.arg[CALL_RET];
	if (ret < 0 && ret >= -4095) {
		call_put_error(out, ret);
		return;
	}
	if (s->flags & CALL_RAW) {
		sb_fmt(out, ret ? "0x%llx" : "0", (u64)ret);
		return;
	}
	if (row && *row->ret == 'x')
		sb_fmt(out, "0x%llx", (u64)ret);
	else if (!strcmp(name, "prctl"))
		call_put_prctl_result(out, (u32)s->in.arg[0], (u64)ret);
	else if (row && *row->ret == 'm')
		call_put_mode(out, (u32)ret, false);
	else
		sb_fmt(out, "%lld", ret);
	if (row && *row->ret == 'f')
		call_put_file(out, s->flags, s->exit, CALL_RET);
	if (!strcmp(name, "poll") || !strcmp(name, "ppoll"))
		put_polled(s, ret, *name == 'p' && name[1] == 'p');
	if (!strcmp(name, "select") || !strcmp(name, "pselect6"))
		put_selected(s, ret);
	if (!strcmp(name, "recvmmsg") && ret)
		put_received(s);
	if (!strcmp(name, "ioprio_get")) {
		sb_z(out, " (");
		call_put_ioprio(out, (u64)ret);
		sb_char(out, ')');
	}
	if (ret && !strcmp(name, "membarrier") && !s->in.arg[0])
		put_words_of(s, "", STR("membarrier"), (u64)ret);
	if (!strcmp(name, "personality"))
		put_words_of(s, "", STR("personality"), (u64)ret);
	if (!strcmp(name, "sched_getscheduler")) {
		sb_z(out, " (");
		call_put_enum(out, STR("sched"), (u64)ret);
		sb_char(out, ')');
	}
	if (!strcmp(name, "time")) {
		sb_z(out, " (");
		call_put_time(out, ret);
		sb_char(out, ')');
	}
	if (strcmp(name, "fcntl") != 0 && strcmp(name, "fcntl64") != 0)
		return;
	u32 cmd = (u32)s->in.arg[1];
	if (cmd == F_GETFL) {
		out->n -= 1 + (ret > 9) + (ret > 99) + (ret > 999) + (ret > 9999) + (ret > 99999) +
			  (ret > 999999);
		sb_fmt(out, "%#llx (flags ", (u64)ret);
		call_put_flags(out, STR("open"), (u64)ret);
		sb_char(out, ')');
	} else if (cmd == F_GET_SEALS && ret) {
		put_words_of(s, "seals ", STR("seals"), (u64)ret);
	} else if (cmd == F_GETFD && ret) {
		out->n--;
		sb_fmt(out, "%#llx (flags FD_CLOEXEC)", (u64)ret);
	}
}
