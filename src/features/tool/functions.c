/* functions.c - funccount, funclatency, funcslower, funcinterval, functrace, stackcount: patterns of functions;
 * tpoint, perf-stat-hist: a tracepoint. */
#include "tool/spec.h"
#include "tool/writers.h"
#include <regex.h>

/* ---- -r: functions by regular expression ---- */

struct matches {
	regex_t regex;
	const struct spec *s;
	struct sb list;
	u32 n;
};

static bool add_match(const struct point *p, void *arg)
{
	enum { MAX_MATCHES = 5000 };
	struct matches *m = arg;
	AUTO_SB name = {0};
	sb_add(&name, p->name);
	if (!name.n || regexec(&m->regex, name.s, 0, NULL, 0))
		return true;
	AUTO_SB point = {0};
	sb_add(&point, str_n(m->s->point.s, m->s->point.n - m->s->name.n));
	sb_fmt(&point, "%s", name.s);
	if (m->n++)
		sb_z(&m->list, ",\n");
	sb_add(&m->list, sb_str(&point));
	return m->n < MAX_MATCHES;
}

/* s's point becomes a list of all that match its name. */
static bool match_regex(struct words *w, const struct word *word, struct spec *s)
{
	struct matches m = {.s = s};
	struct str all = str_n(s->point.s, s->point.n - s->name.n), kind, rest;
	struct loc loc = word_loc(word, 0, word->text.n);
	if (regcomp(&m.regex, arena_strz(w->a, s->name), REG_EXTENDED | REG_NOSUB))
		return words_fail(w, loc, "this is no regular expression");
	rest = str_z(arena_fmt(w->a, "%.*s*", STRF(all)));
	str_cut(&rest, ':', &kind);
	struct point p = {.type = probe_type_find(kind)};
	p.method = probe_last_method(p.type);
	struct err *e = p.type->parse(w->a, &p, rest);
	if (!e)
		e = p.type->expand(w->h, w->u, NULL, &p, add_match, &m);
	regfree(&m.regex);
	s->point = arena_str(w->a, sb_str(&m.list));
	sb_free(&m.list);
	if (e) {
		diag_err(w->diags, E_SYNTAX, loc, e);
		return false;
	}
	return m.n || words_fail(w, loc, "no function matches");
}

/* [p:][LIB:]PATTERN, t:CATEGORY:EVENT, u:LIB:PROBE: the whole word. functions: no events. */
static bool read_pattern(struct words *w, const struct word *word, struct spec *s, bool functions)
{
	struct cursor c = {w, word, 0};
	if (words_flag(w, "regex")) { /* it may hold anything; a library stands before it */
		i32 colon = str_chr(word->text, ':');
		struct str name = str_from(word->text, (u32)(colon + 1));
		struct word head = {str_z(arena_fmt(w->a, "%.*s*", colon + 1, word->text.s)),
				    word->src};
		c.word = &head;
		if (!spec_read(&c, s, true))
			return false;
		s->point = str_z(
			arena_fmt(w->a, "%.*s%.*s", (int)s->point.n - 1, s->point.s, STRF(name)));
		s->name = name;
		return match_regex(w, word, s);
	}
	if (!spec_read(&c, s, true))
		return false;
	if (!cursor_end(&c))
		return cursor_fail(&c, c.at, "expected only a pattern");
	if (functions && (s->kind == 't' || s->kind == 'u'))
		return cursor_fail(&c, 0, "an event takes no time: expected a function");
	return s->kind != 'r' || cursor_fail(&c, 0, "returns are seen anyway: leave 'r:' out");
}

static const char *shown_name(const struct spec *s)
{
	return s->kind == 't' || s->kind == 'u' ? "probe" : "func";
}

/* The same with returns, also in what stands behind "else". */
static struct str returns_of(struct words *w, const struct spec *s)
{
	static const struct str user = STR("uprobe:"), kernel = STR("kprobe:");
	AUTO_SB out = {0};
	const struct str all = s->point;
	for (u32 i = 0; i < all.n; i++) {
		struct str rest = str_from(all, i);
		bool begins = !i || all.s[i - 1] == ' ' || all.s[i - 1] == '\n';
		if (begins && str_starts(rest, user))
			sb_z(&out, "uret"), i++;
		else if (begins && str_starts(rest, kernel))
			sb_z(&out, "kret"), i++;
		sb_char(&out, all.s[i]);
	}
	return arena_str(w->a, sb_str(&out));
}

bool write_funccount(struct words *w)
{
	struct spec s;
	if (!read_pattern(w, &w->operand[0], &s, false))
		return false;
	sb_fmt(w->out, "%.*s /counted()/ { @calls[%s] = count(); }\n", STRF(s.point),
	       shown_name(&s));
	return true;
}

bool write_funclatency(struct words *w)
{
	struct spec s;
	if (!read_pattern(w, &w->operand[0], &s, true))
		return false;
	sb_fmt(w->out, "%.*s /wanted()/ { call_begins(@depth, @begun); }\n\n", STRF(s.point));
	sb_fmt(w->out,
	       "%.*s /@depth[tid]/\n{\n"
	       "\t$ns = call_ends(@depth, @begun);\n"
	       "\t@time[%s] = hist($ns / unit_ns());\n"
	       "\t@total = sum($ns);\n"
	       "\t@calls = count();\n}\n",
	       STRF(returns_of(w, &s)), words_flag(w, "function") ? "func" : "0");
	return true;
}

bool write_funcinterval(struct words *w)
{
	struct spec s;
	if (!read_pattern(w, &w->operand[0], &s, false))
		return false;
	sb_fmt(w->out,
	       "%.*s /wanted()/\n{\n"
	       "\tif (@last) { @time = hist((nsecs > @last ? nsecs - @last : 0) / unit_ns()); }\n"
	       "\t@last = nsecs;\n}\n",
	       STRF(s.point));
	return true;
}

bool write_functrace(struct words *w)
{
	for (u32 i = 0; i < w->n; i++) {
		struct spec s;
		if (!read_pattern(w, &w->operand[i], &s, false))
			return false;
		sb_fmt(w->out,
		       "%.*s /wanted()/\n{\n"
		       "\temit(calls, task = strf(\"%%s-%%d\", comm, tid), cpu = cpu, time_ns = "
		       "nsecs, "
		       "function = %s);\n}\n",
		       STRF(s.point), shown_name(&s));
	}
	return true;
}

/* CATEGORY:EVENT, with or without t: before it. */
static bool read_event(struct words *w, struct spec *s)
{
	const struct word *typed = &w->operand[0];
	bool has = str_starts(typed->text, STR("t:"));
	struct word word = {str_z(arena_fmt(w->a, "%s%.*s", has ? "" : "t:", STRF(typed->text))),
			    typed->src};
	struct cursor c = {w, &word, 0};
	return spec_read(&c, s, true) &&
	       (cursor_end(&c) || cursor_fail(&c, c.at, "expected only CATEGORY:EVENT"));
}

/* A field, or what C makes of fields: `args.` goes before each name. */
static bool add_fields(struct words *w, const struct word *word)
{
	struct str t = word->text;
	bool quoted = false;
	size_t field = w->out->n; /* where the latest one begins */
	for (u32 i = 0; i < t.n; i++) {
		bool letter = (t.s[i] >= 'a' && t.s[i] <= 'z') ||
			      (t.s[i] >= 'A' && t.s[i] <= 'Z') || t.s[i] == '_';
		bool within = i && (t.s[i - 1] == '_' || (t.s[i - 1] >= '0' && t.s[i - 1] <= '9') ||
				    (t.s[i - 1] >= 'a' && t.s[i - 1] <= 'z') ||
				    (t.s[i - 1] >= 'A' && t.s[i - 1] <= 'Z'));
		if (strchr("{};,`", t.s[i]))
			return words_fail(w, word_loc(word, i, i + 1),
					  "expected fields and operators");
		quoted ^= t.s[i] == '"';
		if (t.s[i] == '~' && !quoted) {
			struct cursor c = {w, word, i + 1};
			struct str left = str_trim(str_n(w->out->s + field, w->out->n - field));
			left = arena_str(w->a, left);
			if (!left.n)
				return words_fail(w, word_loc(word, i, i + 1),
						  "~ is behind no field");
			w->out->n = field;
			if (!spec_glob(&c, left, w->out))
				return false;
			i = c.at - 1;
			continue;
		}
		if (letter && !within && !quoted) {
			field = w->out->n;
			sb_z(w->out, "args.");
		}
		sb_add(w->out, str_n(t.s + i, 1));
	}
	return true;
}

bool write_tpoint(struct words *w)
{
	struct spec s;
	if (!read_event(w, &s))
		return false;
	sb_fmt(w->out, "%.*s /wanted()", STRF(s.point));
	if (w->n > 1) {
		sb_z(w->out, " && (");
		if (!add_fields(w, &w->operand[1]))
			return false;
		sb_z(w->out, ")");
	}
	sb_fmt(w->out,
	       "/\n{\n\temit(hits, task = strf(\"%%s-%%d\", comm, tid), cpu = cpu, time_ns = "
	       "nsecs,\n"
	       "\t     name = \"%.*s\", fields = args%s);\n}\n",
	       STRF(s.name), words_flag(w, "stack") ? ", kstack = kstack" : "");
	return true;
}

bool write_perf_stat_hist(struct words *w)
{
	struct spec s;
	u64 seconds;
	if (w->n < 2)
		return words_fail(w, (struct loc){0}, "expected CATEGORY:EVENT and a field of it");
	if (w->n > 2 && (!str_number(w->operand[2].text, &seconds) || !seconds))
		return words_fail(w, word_loc(&w->operand[2], 0, w->operand[2].text.n),
				  "expected a number of seconds");
	if (!read_event(w, &s))
		return false;
	bool own = words_opt(w, "buckets").n > 0;
	sb_fmt(w->out, "%.*s /wanted()/ { @ = %s(", STRF(s.point), own ? "bhist" : "hist");
	if (!add_fields(w, &w->operand[1]))
		return false;
	sb_z(w->out, own ? ", opt.buckets); }\n" : "); }\n");
	if (w->n > 2)
		sb_fmt(w->out, "interval:s:%llu { exit(); }\n", seconds);
	return true;
}

bool write_funcslower(struct words *w)
{
	u64 narg = 0;
	struct str args = words_opt(w, "arguments");
	if (args.s && (!str_number(args, &narg) || narg > 6))
		return words_fail(w, (struct loc){0}, "--arguments: from 1 to 6");
	for (u32 i = 0; i < w->n; i++) {
		struct spec s;
		if (!read_pattern(w, &w->operand[i], &s, true))
			return false;
		sb_fmt(w->out, "%.*s /wanted()/\n{\n\tcall_begins(@depth, @begun);\n",
		       STRF(s.point));
		for (u32 k = 0; k < narg; k++)
			sb_fmt(w->out, "\t@arg%u[tid, @depth[tid]] = arg%u;\n", k, k);
		sb_fmt(w->out,
		       "}\n\n%.*s /@depth[tid]/\n{\n\t$d = @depth[tid];\n"
		       "\t$ns = call_ends(@depth, @begun);\n"
		       "\tif ($ns >= least_ns()) {\n"
		       "\t\temit(slow, time = nsecs, time_ns = nsecs, comm = comm, pid = pid,\n"
		       "\t\t     duration_ns = $ns, duration_us_ns = $ns, ret = (uint64)retval, "
		       "function = "
		       "func",
		       STRF(returns_of(w, &s)));
		for (u32 k = 0; k < narg; k++)
			sb_fmt(w->out, "%s%s@arg%u[tid, $d]", k ? ", " : "",
			       k ? "" : ",\n\t\t     args = (", k);
		sb_fmt(w->out, "%s,\n\t\t     kstack = kstack, ustack = ustack);\n\t}\n",
		       narg ? ")" : "");
		for (u32 k = 0; k < narg; k++)
			sb_fmt(w->out, "\tdelete(@arg%u, (tid, $d));\n", k);
		sb_fmt(w->out, "}\n");
	}
	return true;
}

bool write_stackcount(struct words *w)
{
	static const char *const tables[] = {"stacks", "user_stacks", "kernel_stacks"};
	static const char *const values[] = {"kstack, ustack", "ustack", "kstack"};
	struct spec s;
	if (!read_pattern(w, &w->operand[0], &s, false))
		return false;
	bool user = words_flag(w, "user_only"), kernel = words_flag(w, "kernel_only");
	bool mine = !user && !kernel && s.lib.n && s.kind != 't';
	u32 k = user == kernel && !mine ? 0 : kernel ? 2 : 1;
	const char *by = words_flag(w, "processes") ? "comm, pid" : "\"\", 0";
	sb_fmt(w->out, "%.*s /counted()/ { @[%s, %s] = count(); }\n\n", STRF(s.point), by,
	       values[k]);
	sb_fmt(w->out,
	       "interval:opt.interval /opt.interval/\n{\n\treport_time();\n\tshow(%s, @);\n"
	       "\tclear(@);\n\treport_done(@reports);\n}\n\n"
	       "end /report_rest(@reports)/ { show(%s, @); }\n",
	       tables[k], tables[k]);
	return true;
}
