/* trace.c - bcc's trace and argdist. */
#include "core/printf.h"
#include "tool/spec.h"
#include "tool/writers.h"

/* ---- trace ---- */

/* The conversions of a format with the arguments that follow it in the word. */
struct message {
	struct cursor *c;
	struct spec *s;
	struct sb format, args;
};

/* The value as the conversion means it: bcc's types follow from it. */
static void put_cast(struct message *m, const struct conv *conv, struct str expr)
{
	const char *l = conv->len;
	bool sign = conv->conv[0] == 'd' || conv->conv[0] == 'i';
	u32 bits = !strcmp(l, "hh") ? 8 : !strcmp(l, "h") ? 16 : *l ? 64 : 32;
	if (conv->conv[0] == 'p')
		bits = 64;
	bool mine = m->s->lib.n && !m->s->syscall; /* the kernel's have types of their own */
	if (sign && mine && str_is(expr, "retval"))
		m->s->result = str_z(arena_fmt(m->c->w->a, "int%u", bits));
	sb_fmt(&m->args, "(%sint%u)(%.*s)", sign ? "" : "u", bits, STRF(expr));
}

static bool put_argument(struct message *m, const struct conv *conv)
{
	AUTO_SB expr = {0};
	struct words *w = m->c->w;
	u32 from = m->c->at;
	if (!cursor_take(m->c, ','))
		return cursor_fail(m->c, from, "expected an argument for %.*s", STRF(conv->text));
	if (!spec_expr(m->c, m->s, NULL, &expr))
		return false;
	sb_z(&m->args, ", ");
	switch (conv->conv[0]) {
	case 's': spec_text(m->s, sb_str(&expr), words_opt(w, "string_size"), &m->args); break;
	case 'K': sb_fmt(&m->args, "ksym(%s)", expr.s); break;
	case 'U': sb_fmt(&m->args, "usym(%s)", expr.s); break;
	default: put_cast(m, conv, sb_str(&expr));
	}
	return true;
}

/* %K and %U, which are not ours, as conv_next() would give them. */
static bool next_conv(struct str fmt, u32 *at, struct str *lit, struct conv *conv)
{
	u32 from = *at;
	for (u32 i = from; i + 1 < fmt.n; i++) {
		if (fmt.s[i] != '%')
			continue;
		if (fmt.s[i + 1] == 'K' || fmt.s[i + 1] == 'U') {
			*lit = str_n(fmt.s + from, i - from);
			*conv = (struct conv){.text = str_n(fmt.s + i, 2), .width = -1, .prec = -1};
			conv->conv[0] = fmt.s[i + 1];
			*at = i + 2;
			return true;
		}
		u32 next = from;
		struct conv other;
		struct str text;
		if (fmt.s[i + 1] != '%' && conv_next(fmt, &next, &text, &other))
			break;
		i++;
	}
	return conv_next(fmt, at, lit, conv);
}

/* "FORMAT"[, ARGUMENT...], then the end. */
static bool read_message(struct message *m)
{
	struct cursor *c = m->c;
	struct str text = c->word->text, lit;
	struct conv conv;
	u32 from = c->at, at = 0;
	if (!cursor_take(c, '"'))
		return cursor_fail(c, from, "expected a format in double quotes");
	u32 begin = c->at;
	while (c->at < text.n && text.s[c->at] != '"')
		c->at += text.s[c->at] == '\\' ? 2 : 1;
	if (c->at >= text.n)
		return cursor_fail(c, from, "the format has no end");
	struct str fmt = str_n(text.s + begin, c->at - begin);
	c->at++;
	while (next_conv(fmt, &at, &lit, &conv)) {
		if (conv.width == -2 || conv.prec == -2 || !strchr("diuxXopcsKU", conv.conv[0]))
			return cursor_fail(c, from, "%.*s is not known here", STRF(conv.text));
		sb_add(&m->format, lit);
		if (conv.conv[0] == 'K' || conv.conv[0] == 'U')
			sb_z(&m->format, "%s");
		else
			sb_add(&m->format, conv.text);
		if (!put_argument(m, &conv))
			return false;
	}
	sb_add(&m->format, lit);
	return cursor_end(c) || cursor_fail(c, c->at, "more arguments than the format has");
}

/* Of a pattern the function that ran; events are probes. */
static void put_function(struct words *w, const struct spec *s)
{
	bool pattern = str_is_glob(s->name);
	if (pattern)
		sb_z(w->out, s->kind == 't' || s->kind == 'u' ? "probe" : "func");
	else
		sb_fmt(w->out, "\"%.*s\"", STRF(s->name));
}

/* "; " of several probes go to maps of their own. */
static void put_action(struct words *w, u32 i, const struct spec *s, struct str message)
{
	const char *mode = words_flag(w, "address") ? "(perf)" : "";
	if (words_flag(w, "aggregate")) {
		sb_fmt(w->out, "{\n\t@messages%u[", i);
		put_function(w, s);
		sb_fmt(w->out, ", %.*s] = count();\n", STRF(message.n ? message : STR("\"\"")));
	} else {
		sb_fmt(w->out,
		       "{\n\temit(calls, time = nsecs, time_ns = nsecs, %scpu = cpu, pid = pid, "
		       "tid = tid, comm = comm,\n\t     function = ",
		       words_flag(w, "unix_time") ? "time_s = strftime(\"%s.%f\", nsecs), " : "");
		put_function(w, s);
		sb_fmt(w->out,
		       "%s%.*s,\n"
		       "\t     kstack = kstack%s, ustack = ustack%s);\n",
		       message.n ? ", message = " : "", STRF(message), mode, mode);
	}
	if (words_flag(w, "aggregate"))
		sb_fmt(w->out, "\tat_most(@events);\n}\n\nend { show(messages, @messages%u); }\n\n",
		       i);
	else
		sb_z(w->out, "}\n\n");
}

/* (predicate) */
static bool read_predicate(struct cursor *c, const struct spec *s, struct sb *out)
{
	return spec_expr(c, s, NULL, out) &&
	       (cursor_take(c, ')') || cursor_fail(c, c->at, "expected ')' after the predicate"));
}

/* FUNCTION(signature) (predicate) "format", arguments */
static bool write_probe(struct words *w, u32 i)
{
	struct spec s;
	struct cursor c = {w, &w->operand[i], 0};
	AUTO_SB predicate = {0};
	AUTO_SB text = {0};
	struct message m = {&c, &s, {0}, {0}};
	bool ok = spec_read(&c, &s, false) && spec_signature(&c, &s);
	bool filters = ok && cursor_take(&c, '(');
	struct cursor again = c;
	ok = ok && (!filters || read_predicate(&c, &s, &predicate));
	if (ok && !cursor_end(&c)) {
		ok = read_message(&m);
		if (ok && filters && s.result.n) { /* by what the format says of the result */
			predicate.n = 0;
			ok = read_predicate(&again, &s, &predicate);
		}
		sb_fmt(&text, "strf(\"%s\"%s)", m.format.s ? m.format.s : "",
		       m.args.s ? m.args.s : "");
	}
	sb_free(&m.format);
	sb_free(&m.args);
	if (!ok)
		return false;
	sb_fmt(w->out, "%.*s\n/wanted()", STRF(s.point));
	if (!words_flag(w, "self") && !w->pid)
		sb_z(w->out, " && pid != self_pid");
	if (predicate.n)
		sb_fmt(w->out, " && (%s)", predicate.s);
	sb_z(w->out, "/\n");
	put_action(w, i, &s, sb_str(&text));
	return true;
}

bool write_trace(struct words *w)
{
	bool ok = true;
	for (u32 i = 0; i < w->n; i++)
		ok &= write_probe(w, i);
	if (!words_flag(w, "aggregate")) /* lines: those that are shown */
		str_number(words_opt(w, "count"), &w->events);
	return ok;
}

/* ---- argdist ---- */

enum { MAX_EXPRS = 5 };

struct dist {
	u32 id;
	bool hist;
	struct spec s;
	struct entries entries;
	struct str type[MAX_EXPRS], expr[MAX_EXPRS], written[MAX_EXPRS];
	u32 ntype, nexpr;
	struct str filter, label;
};

/* TYPE[,TYPE...] up to ':' */
static bool read_types(struct cursor *c, struct dist *d)
{
	struct str text = c->word->text;
	for (;;) {
		cursor_blanks(c);
		u32 from = c->at;
		while (c->at < text.n && !strchr(":,#", text.s[c->at]))
			c->at++;
		struct str type = str_trim(str_n(text.s + from, c->at - from));
		if (!spec_is_type(type))
			return cursor_fail(c, from, "expected a type");
		if (d->ntype == MAX_EXPRS)
			return cursor_fail(c, from, "more than %d types", MAX_EXPRS);
		d->type[d->ntype++] = type;
		if (!cursor_take(c, ','))
			return true;
	}
}

static bool read_exprs(struct cursor *c, struct dist *d)
{
	struct arena *a = c->w->a;
	do {
		AUTO_SB e = {0};
		cursor_blanks(c);
		u32 from = c->at;
		if (d->nexpr == MAX_EXPRS)
			return cursor_fail(c, from, "more than %d expressions", MAX_EXPRS);
		if (!spec_expr(c, &d->s, &d->entries, &e))
			return false;
		d->written[d->nexpr] = str_trim(str_n(c->word->text.s + from, c->at - from));
		d->expr[d->nexpr++] = arena_str(a, sb_str(&e));
	} while (cursor_take(c, ','));
	return d->nexpr == d->ntype ||
	       cursor_fail(c, c->at, "%u types, but %u expressions", d->ntype, d->nexpr);
}

/* A C type in the language: s32 is int32. */
static struct str type_text(struct arena *a, struct str t)
{
	bool sized = t.n > 1 && t.s[0] == 's' && t.s[1] >= '1' && t.s[1] <= '9';
	return sized ? str_z(arena_fmt(a, "int%.*s", STRF(str_from(t, 1)))) : t;
}

/* The result's type: the filter means it, too. */
static void note_result(struct arena *a, struct dist *d)
{
	for (u32 i = 0; i < d->nexpr && !d->s.syscall; i++)
		if (str_is(d->expr[i], "retval") && !str_ends(d->type[i], STR("*")))
			d->s.result = type_text(a, d->type[i]);
}

/* PROBE(SIGNATURE)[:TYPES:EXPRS[:FILTER]][#LABEL] */
static bool read_dist(struct cursor *c, struct dist *d)
{
	AUTO_SB filter = {0};
	struct str text = c->word->text;
	if (!spec_read(c, &d->s, false) || !spec_signature(c, &d->s))
		return false;
	if (cursor_take(c, ':')) {
		if (!read_types(c, d))
			return false;
		if (!cursor_take(c, ':'))
			return cursor_fail(c, c->at,
					   "expected ':' and an expression after the type");
		if (!read_exprs(c, d))
			return false;
		note_result(c->w->a, d);
		if (cursor_take(c, ':') && !spec_expr(c, &d->s, &d->entries, &filter))
			return false;
	}
	d->filter = arena_str(c->w->a, sb_str(&filter));
	d->label = text;
	if (cursor_take(c, '#')) {
		d->label = str_trim(str_from(text, c->at));
		c->at = text.n;
	}
	if (d->hist && d->nexpr > 1)
		return cursor_fail(c, 0, "a histogram is of one expression");
	return cursor_end(c) || cursor_fail(c, c->at, "expected ':', '#' or the end");
}

/* Without an expression: -C counts, or the result of a return. */
static bool default_expr(struct cursor *c, struct dist *d)
{
	if (d->nexpr)
		return true;
	if (d->s.kind != 'r' && d->hist)
		return cursor_fail(c, 0, "a histogram needs a type and an expression");
	d->nexpr = d->ntype = 1;
	d->type[0] = STR("u64");
	d->written[0] = d->s.kind == 'r' ? STR("retval") : STR("total_calls");
	d->expr[0] = d->s.kind != 'r' ? STR("0") : d->s.syscall ? STR("args.ret") : STR("retval");
	return true;
}

/* u32 a: a number; char *: its text. */
static void put_typed(struct words *w, const struct dist *d, u32 i)
{
	struct str t = d->type[i];
	bool star = str_ends(t, STR("*"));
	struct str to = str_trim(star ? str_n(t.s, t.n - 1) : t);
	if (star && (str_is(to, "char") || str_is(to, "const char"))) {
		spec_text(&d->s, d->expr[i], words_opt(w, "string_size"), w->out);
		return;
	}
	sb_fmt(w->out, "(%.*s%s)(%.*s)", STRF(type_text(w->a, to)), star ? " *" : "",
	       STRF(d->expr[i]));
}

static void put_entry_probe(struct words *w, const struct dist *d)
{
	const struct entries *e = &d->entries;
	if (!e->latency && !e->n)
		return;
	sb_fmt(w->out, "%.*s /wanted()/\n{\n\t@begun%u[tid] = nsecs;\n", STRF(d->s.entry), d->id);
	for (u32 i = 0; i < e->n; i++)
		sb_fmt(w->out, "\t@entry%u_%u[tid] = (uint64)(%.*s);\n", d->id, i,
		       STRF(e->expr[i]));
	sb_z(w->out, "}\n\n");
}

static void put_probe(struct words *w, const struct dist *d)
{
	const struct entries *e = &d->entries;
	bool pair = e->latency || e->n;
	const char *map = d->hist ? "hist" : "freq";
	sb_fmt(w->out, "%.*s /", STRF(d->s.point));
	sb_z(w->out, pair ? arena_fmt(w->a, "@begun%u[tid]", d->id) : "wanted()");
	sb_z(w->out, "/\n{\n");
	if (d->filter.n)
		sb_fmt(w->out, "\tif (%.*s) {\n\t", STRF(d->filter));
	if (d->hist) {
		sb_fmt(w->out, "\t@%s%u = hist(", map, d->id);
		put_typed(w, d, 0);
		sb_z(w->out, ");\n");
	} else {
		sb_fmt(w->out, "\t@%s%u[", map, d->id);
		for (u32 i = 0; i < d->nexpr; i++) {
			sb_z(w->out, i ? ", " : "");
			put_typed(w, d, i);
		}
		sb_z(w->out, "] = count();\n");
	}
	sb_z(w->out, d->filter.n ? "\t}\n" : "");
	for (u32 i = 0; i < e->n; i++)
		sb_fmt(w->out, "\tdelete(@entry%u_%u, tid);\n", d->id, i);
	if (pair)
		sb_fmt(w->out, "\tdelete(@begun%u, tid);\n", d->id);
	sb_z(w->out, "}\n\n");
}

/* "fd" as it is, "a->b" as value1, and what has the name of another column. */
static void put_column(struct sb *out, struct str written, u32 i, const char *rest)
{
	AUTO_SB heading = {0};
	bool plain = written.n && written.n < 32 && !(written.s[0] >= '0' && written.s[0] <= '9');
	plain &= !str_is(written, "count") && !str_is(written, "label");
	for (u32 k = 0; k < written.n; k++)
		plain &= (written.s[k] >= 'a' && written.s[k] <= 'z') || written.s[k] == '_' ||
			 (written.s[k] >= '0' && written.s[k] <= '9');
	sb_escape(&heading, written);
	if (plain)
		sb_fmt(out, "\t%.*s \"%s\" 16%s;\n", STRF(written), heading.s, rest);
	else
		sb_fmt(out, "\tvalue%u \"%s\" 16%s;\n", i + 1, heading.s ? heading.s : "", rest);
}

/* The label is a line of text above each report, and a field of rows. */
static void put_tables(struct words *w, const struct dist *d)
{
	struct str top = words_opt(w, "top");
	AUTO_SB label = {0};
	sb_escape(&label, d->label);
	sb_fmt(w->out, "table %s%u", d->hist ? "hists" : "freqs", d->id);
	if (words_flag(w, "cumulative"))
		sb_z(w->out, " standing");
	if (!d->hist)
		sb_fmt(w->out, " sorted by %scount%s%.*s", top.n ? "" : "-", top.n ? " rows " : "",
		       STRF(top));
	sb_fmt(w->out, " {\n\tlabel data is \"%s\" if opt.labels;\n", label.s ? label.s : "");
	for (u32 i = 0; i < d->nexpr; i++)
		put_column(w->out, d->written[i], i, d->hist ? " hist" : "");
	sb_fmt(w->out, "%s}\n\n", d->hist ? "" : "\tcount \"COUNT\" 10 right;\n");
	sb_fmt(w->out, "table label%u bare standing { label text is \"%s\"; }\n\n", d->id,
	       label.s ? label.s : "");
}

static void put_report(struct words *w, const struct dist *all, u32 n, const char *indent)
{
	for (u32 i = 0; i < n; i++) {
		const struct dist *d = &all[i];
		sb_fmt(w->out, "%sif (opt.labels) { emit(label%u); }\n", indent, d->id);
		sb_fmt(w->out, "%sshow(%s%u, @%s%u);\n", indent, d->hist ? "hists" : "freqs", d->id,
		       d->hist ? "hist" : "freq", d->id);
	}
}

/* Each -H and -C, in order. */
bool write_argdist(struct words *w)
{
	enum { MAX_DISTS = 16 };
	struct dist all[MAX_DISTS];
	u32 n = 0;
	bool ok = true;
	for (u32 i = 0; i < w->nopt; i++) {
		bool hist = str_is(w->opts[i].name, "histogram");
		if (!hist && !str_is(w->opts[i].name, "frequency"))
			continue;
		struct str text = w->opts[i].value;
		struct word *word = arena_new(w->a, struct word);
		*word = (struct word){text, diags_add_source(w->diags, STR("argdist"), text)};
		struct cursor c = {w, word, 0};
		if (n == MAX_DISTS)
			return cursor_fail(&c, 0, "more than %d times -H and -C", MAX_DISTS);
		struct dist *d = &all[n];
		*d = (struct dist){.id = n + 1, .hist = hist, .entries.id = n + 1};
		n++;
		ok &= read_dist(&c, d) && default_expr(&c, d);
	}
	if (!n)
		return words_fail(w, (struct loc){0}, "argdist needs -H or -C with a probe");
	for (u32 i = 0; ok && i < n; i++) {
		put_tables(w, &all[i]);
		put_entry_probe(w, &all[i]);
		put_probe(w, &all[i]);
	}
	if (!ok)
		return false;
	sb_z(w->out, "interval:opt.interval\n{\n\treport_time();\n");
	put_report(w, all, n, "\t");
	for (u32 i = 0; i < n && !words_flag(w, "cumulative"); i++)
		sb_fmt(w->out, "\tclear(@%s%u);\n", all[i].hist ? "hist" : "freq", all[i].id);
	sb_z(w->out, "\treport_done(@reports);\n}\n\n"
		     "end /!opt.count || @reports < opt.count/\n{\n\treport_time();\n");
	put_report(w, all, n, "\t");
	sb_z(w->out, "}\n");
	return true;
}
