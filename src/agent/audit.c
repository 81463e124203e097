/* audit.c - see the header. */
#include "agent/audit.h"
#include "base/json.h"
#include <syslog.h>

enum { MAX_WHAT = 512 }; /* bytes of the words that are asked */

static const char *const ends[] = {
	[AUDIT_ANSWERED] = "answered",
	[AUDIT_STOPPED] = "stopped",
	[AUDIT_FAILED] = "failed",
	[AUDIT_REFUSED] = "refused",
};

/* The tool or the name of the script, and its arguments; or what is to be ended. */
static void put_what(struct sb *b, const struct question *q)
{
	sb_add(b, q->kind == QUESTION_PROGRAM ? STR("-e") : q->name);
	if (q->kind == QUESTION_STOP && !q->name.n)
		sb_z(b, "--all");
	for (u32 i = 0; i < q->argument.n && b->n <= MAX_WHAT; i++) {
		sb_char(b, ' ');
		sb_add(b, q->argument.v[i]);
	}
	if (b->n > MAX_WHAT) {
		b->n = MAX_WHAT;
		sb_z(b, "...");
	}
}

/* Both forms have the same members in the same order. */
struct form {
	void (*text)(struct sb *b, bool first, const char *name, struct str val);
	void (*number)(struct sb *b, const char *name, u64 val);
};

static void put_all(const struct audit *a, const struct form *f, struct sb *b)
{
	static const char *const kinds[QUESTION_KINDS] = {
		"", [QUESTION_PROGRAM] = "program", [QUESTION_SCRIPT] = "script",
		[QUESTION_TOOL] = "tool", [QUESTION_STOP] = "stop"};
	char id[QUESTION_ID_HEX + 1];
	AUTO_SB what = {0};
	question_id_text(a->q->id, id);
	put_what(&what, a->q);
	f->text(b, true, "id", str_z(id));
	f->text(b, false, "host", a->host);
	f->text(b, false, "asker", a->q->asker);
	f->text(b, false, "signer", a->signer);
	f->text(b, false, "kind", str_z(kinds[a->q->kind]));
	f->text(b, false, "what", sb_str(&what));
	f->text(b, false, "sha256", str_z(a->sha256));
	f->number(b, "for_ns", a->q->for_ns);
	f->number(b, "took_ns", a->took_ns);
	f->number(b, "cpu_ns", a->cpu_ns);
	f->number(b, "bytes", a->bytes);
	f->text(b, false, "end", str_z(ends[a->end]));
	f->text(b, false, "why", a->why);
}

static void line_text(struct sb *b, bool first, const char *name, struct str val)
{
	sb_fmt(b, "%s%s=\"", first ? "" : " ", name);
	sb_escape(b, val);
	sb_char(b, '"');
}

static void line_number(struct sb *b, const char *name, u64 val)
{
	sb_fmt(b, " %s=%llu", name, val);
}

void audit_line(const struct audit *a, struct sb *ret)
{
	static const struct form form = {line_text, line_number};
	put_all(a, &form, ret);
}

static void member_text(struct sb *b, bool first, const char *name, struct str val)
{
	json_member(b, first, name);
	json_str(b, val);
}

static void member_number(struct sb *b, const char *name, u64 val)
{
	json_member(b, false, name);
	json_u64(b, val);
}

void audit_json(const struct audit *a, struct sb *ret)
{
	static const struct form form = {member_text, member_number};
	sb_char(ret, '{');
	put_all(a, &form, ret);
	sb_char(ret, '}');
}

void audit_log(const struct audit *a)
{
	AUTO_SB b = {0};
	audit_line(a, &b);
	syslog(LOG_AUTHPRIV | (a->end == AUDIT_REFUSED ? LOG_WARNING : LOG_NOTICE), "%s", b.s);
}
