/*
 * ftrace.c - perf-tools' kprobe and uprobe: definitions as in tracefs/kprobe_events.
 *
 *	p|r:[[GROUP/]NAME ]SYMBOL[+OFF] [NAME=]ATOM[:TYPE]...       kprobe
 *	p|r:[NAME ]FILE:SYMBOL [NAME=]ATOM[:TYPE]...                uprobe
 *	ATOM: %REG $retval $argN $stack $stackN $comm @ADDR @SYMBOL[+OFF] \IMM OFF(ATOM)
 */
#include "tool/spec.h"
#include "tool/writers.h"

enum { MAX_FIELDS = 16 };

struct fetch {
	struct str name, value; /* value: in the language */
	bool text;
};
struct definition {
	struct cursor c;
	bool user, returns;
	struct str name, symbol, point;
	struct fetch field[MAX_FIELDS];
	u32 n;
};

static char at(const struct cursor *c)
{
	return c->at < c->word->text.n ? c->word->text.s[c->at] : 0;
}

static struct str take_while(struct cursor *c, const char *more)
{
	u32 from = c->at;
	for (char ch; (ch = at(c)); c->at++)
		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
		      (ch >= '0' && ch <= '9') || strchr(more, ch)))
			break;
	return str_n(c->word->text.s + from, c->at - from);
}

static struct str take_blank(struct cursor *c)
{
	cursor_blanks(c);
	u32 from = c->at;
	while (at(c) && at(c) != ' ' && at(c) != '\t')
		c->at++;
	return str_n(c->word->text.s + from, c->at - from);
}

/* p:, r4096:, p:group/name, then a symbol: the name may be missing, or the head, or both. */
static bool read_head(struct definition *d)
{
	struct cursor *c = &d->c;
	struct str first = take_blank(c), head;
	u32 from = c->at - first.n;
	struct str rest = first;
	bool typed = first.n > 1 && (first.s[0] == 'p' || first.s[0] == 'r');
	u32 digits = 1;
	while (typed && digits < first.n && first.s[digits] >= '0' && first.s[digits] <= '9')
		digits++;
	typed = typed && digits < first.n && first.s[digits] == ':';
	if (typed) {
		d->returns = first.s[0] == 'r';
		str_cut(&rest, ':', &head);
		rest = str_from(first, digits + 1);
	}
	u32 before = c->at;
	struct str next = take_blank(c);
	bool is_symbol = next.n && !strchr("%$@\\+-", next.s[0]) && str_chr(next, '=') < 0 &&
			 (!d->user || str_chr(next, ':') >= 0) && typed;
	if (is_symbol) {
		i32 slash = str_chr(rest, '/');
		d->name = str_from(rest, (u32)(slash + 1));
		rest = next;
	} else {
		c->at = before;
	}
	if (d->user ? str_chr(rest, ':') <= 0 : !rest.n)
		return cursor_fail(c, from,
				   d->user ? "expected p|r:[NAME ]FILE:SYMBOL"
					   : "expected p|r:[NAME ]SYMBOL");
	d->symbol = rest;
	for (u32 i = 0; i < rest.n; i++)
		if (strchr("{};,\"'`|", rest.s[i]))
			return cursor_fail(c, from, "'%c' cannot be in a symbol", rest.s[i]);
	return true;
}

static bool points(struct definition *d)
{
	struct arena *a = d->c.w->a;
	struct cursor *c = &d->c;
	const char *kind = d->user ? d->returns ? "uretprobe" : "uprobe"
				   : (d->returns ? "kretprobe" : "kprobe");
	struct str file = {0}, rest = d->symbol;
	if (d->user) { /* bash:readline, libc:malloc: as bcc writes it */
		struct spec s;
		struct word word = {
			str_z(arena_fmt(a, "%s:%.*s", d->returns ? "r" : "p", STRF(d->symbol))),
			c->word->src};
		struct cursor part = {c->w, &word, 0};
		if (!spec_read(&part, &s, true))
			return false;
		str_cut(&rest, ':', &file);
		d->point = s.point;
	} else {
		d->point = str_z(arena_fmt(a, "%s:%.*s", kind, STRF(d->symbol)));
	}
	struct str plain;
	str_cut(&rest, '+', &plain);
	d->symbol = plain;
	if (!d->name.n)
		d->name = plain;
	return true;
}

static bool read_atom(struct definition *d, struct sb *out, u32 depth);

static bool read_dollar(struct definition *d, struct sb *out, u32 from)
{
	struct cursor *c = &d->c;
	struct str name = take_while(c, "");
	u64 n = 0;
	if (str_is(name, "retval")) {
		if (!d->returns)
			return cursor_fail(c, from, "only a return (r:) has a result");
		sb_z(out, "retval");
	} else if (str_is(name, "comm")) {
		sb_z(out, "comm");
	} else if (str_is(name, "stack")) {
		sb_z(out, "reg(\"sp\")");
	} else if (str_starts(name, STR("stack")) && str_u64(str_from(name, 5), &n) && n < 1024) {
		sb_fmt(out, "*(uint64 *)(reg(\"sp\") + %llu)", n * 8);
	} else if (str_starts(name, STR("arg")) && str_u64(str_from(name, 3), &n) && n && n < 7) {
		sb_fmt(out, "arg%llu", n - 1);
	} else {
		return cursor_fail(c, from, "what is $%.*s?", STRF(name));
	}
	return true;
}

/* [+|-][u]OFF(ATOM): what to read from: its address. */
static bool read_address(struct definition *d, struct sb *out, u32 depth)
{
	struct cursor *c = &d->c;
	AUTO_SB inner = {0};
	u32 from = c->at;
	bool minus = at(c) == '-', user;
	u64 off;
	if (at(c) == '-' || at(c) == '+')
		c->at++;
	user = at(c) == 'u';
	c->at += user;
	struct str digits = take_while(c, "");
	if (!str_u64(digits, &off) || at(c) != '(')
		return cursor_fail(c, from, "expected an offset and '('");
	c->at++;
	if (!read_atom(d, &inner, depth + 1))
		return false;
	if (at(c) != ')')
		return cursor_fail(c, from, "expected ')'");
	c->at++;
	sb_fmt(out, user ? "uptr(%s %c %llu)" : "(%s %c %llu)", inner.s, minus ? '-' : '+', off);
	return true;
}

/* A value of 64 bits. */
static bool read_atom(struct definition *d, struct sb *out, u32 depth)
{
	enum { MAX_DEPTH = 8 };
	struct cursor *c = &d->c;
	u32 from = c->at;
	char ch = at(c);
	if (depth > MAX_DEPTH)
		return cursor_fail(c, from, "more than %d levels", MAX_DEPTH);
	if (ch == '+' || ch == '-' || (ch >= '0' && ch <= '9')) {
		sb_z(out, "*(uint64 *)");
		return read_address(d, out, depth);
	}
	c->at++;
	struct str name;
	switch (ch) {
	case '%':
		name = take_while(c, "");
		sb_fmt(out, "reg(\"%.*s\")", STRF(name));
		break;
	case '$': return read_dollar(d, out, from);
	case '\\':
		name = take_while(c, "");
		sb_add(out, name);
		break;
	case '@':
		name = take_while(c, "");
		sb_z(out, "*(uint64 *)(");
		sb_fmt(out,
		       name.n && name.s[0] >= '0' && name.s[0] <= '9' ? "%.*s" : "kaddr(\"%.*s\")",
		       STRF(name));
		name = at(c) == '+' || at(c) == '-' ? take_while(c, "+-") : (struct str){0};
		sb_fmt(out, "%.*s)", STRF(name));
		break;
	default:
		return cursor_fail(c, from, "expected %%REG, $retval, $argN, @SYMBOL or +OFF(...)");
	}
	return c->at > from + 1 || cursor_fail(c, from, "expected a name after '%c'", ch);
}

/* u8 to x64, string, ustring, char, symbol */
static bool typed_value(struct definition *d, struct fetch *f, struct str type, struct str value,
			bool address, u32 from)
{
	struct arena *a = d->c.w->a;
	u64 bits;
	if (str_is(type, "string") || str_is(type, "ustring")) {
		bool comm = str_is(value, "comm");
		f->text = true;
		f->value = comm ? value
				: str_z(arena_fmt(
					  a, type.s[0] == 'u' ? "str(uptr(%.*s))" : "str(%.*s)",
					  STRF(value)));
		return true;
	}
	if (str_is(type, "symbol")) {
		f->text = true;
		f->value = str_z(arena_fmt(a, d->user ? "usym(%.*s)" : "ksym(%.*s)", STRF(value)));
		return true;
	}
	if (str_is(type, "char"))
		type = STR("u8");
	if (type.n < 2 || !strchr("usx", type.s[0]) || !str_u64(str_from(type, 1), &bits) ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return cursor_fail(&d->c, from,
				   "unknown type '%.*s' (types: u8 to u64, s8 to s64, x8 to x64, "
				   "string, ustring, char, symbol)",
				   STRF(type));
	const char *conv = type.s[0] == 'x' ? "0x%llx" : type.s[0] == 'u' ? "%llu" : "%lld";
	const char *sign = type.s[0] == 's' ? "" : "u";
	f->value = str_z(address ? arena_fmt(a, "*(%sint%llu *)%.*s", sign, bits, STRF(value))
				 : arena_fmt(a, "(%sint%llu)(%.*s)", sign, bits, STRF(value)));
	f->name = str_z(arena_fmt(a, "%.*s=%s", STRF(f->name), conv));
	return true;
}

static bool read_fetch(struct definition *d)
{
	struct cursor *c = &d->c;
	AUTO_SB value = {0};
	u32 from = c->at;
	struct fetch *f = &d->field[d->n];
	if (d->n == MAX_FIELDS)
		return cursor_fail(c, from, "more than %d fields", MAX_FIELDS);
	d->n++;
	struct str name = take_while(c, "");
	if (at(c) == '=' && name.n) {
		c->at++;
		f->name = name;
	} else {
		c->at = from;
		f->name = str_z(arena_fmt(c->w->a, "arg%u", d->n));
	}
	char ch = at(c);
	bool address = ch == '+' || ch == '-' || (ch >= '0' && ch <= '9');
	if (!(address ? read_address(d, &value, 0) : read_atom(d, &value, 0)))
		return false;
	struct str type = str_is(sb_str(&value), "comm") ? STR("string") : STR("x64");
	if (at(c) == ':') {
		c->at++;
		type = take_while(c, "");
	}
	if (at(c) && at(c) != ' ' && at(c) != '\t')
		return cursor_fail(c, from, "expected a blank or the end after a field");
	struct str plain = f->name;
	if (!typed_value(d, f, type, arena_str(c->w->a, sb_str(&value)), address, from))
		return false;
	if (f->text)
		f->name = str_z(arena_fmt(c->w->a, "%.*s=\\\"%%s\\\"", STRF(plain)));
	return true;
}

/* FIELD OP VALUE with && || ( ): fields by their names. */
static bool read_filter(struct definition *d, const struct word *word, struct sb *out)
{
	struct cursor c = {d->c.w, word, 0};
	size_t left = 0, right = SIZE_MAX; /* the latest field */
	while (!cursor_end(&c)) {
		u32 from = c.at;
		char ch = at(&c);
		struct str name = take_while(&c, "");
		bool known = false;
		for (u32 i = 0; i < d->n && name.n; i++) {
			struct str rest = d->field[i].name, field;
			str_cut(&rest, '=', &field);
			if (!str_eq(field, name))
				continue;
			left = out->n;
			sb_add(out, d->field[i].value);
			right = out->n;
			known = true;
		}
		if (known)
			continue;
		if (name.n && !(ch >= '0' && ch <= '9') && ch != '-')
			return cursor_fail(&c, from, "no field is called '%.*s'", STRF(name));
		if (name.n) {
			sb_add(out, name);
			continue;
		}
		if (ch == '~') {
			if (right != out->n)
				return cursor_fail(&c, from, "~ is behind no field");
			struct str field = str_n(out->s + left, out->n - left);
			field = arena_str(c.w->a, str_trim(field));
			out->n = left;
			right = SIZE_MAX;
			c.at++;
			if (!spec_glob(&c, field, out))
				return false;
			continue;
		}
		if (ch == '"') {
			do
				c.at++;
			while (at(&c) && at(&c) != '"');
			c.at++;
		} else if (strchr("=!<>&|()-", ch)) {
			c.at++;
		} else {
			return cursor_fail(&c, from, "'%c' cannot be in a filter", ch);
		}
		if (c.at > word->text.n)
			return cursor_fail(&c, from, "the text has no end");
		sb_add(out, str_n(word->text.s + from, c.at - from));
	}
	return true;
}

static bool write_definition(struct words *w, bool user)
{
	struct definition d = {.c = {w, &w->operand[0], 0}, .user = user};
	AUTO_SB filter = {0};
	AUTO_SB format = {0};
	bool stacks = words_flag(w, "stack");
	if (!read_head(&d) || !points(&d))
		return false;
	while (!cursor_end(&d.c))
		if (!read_fetch(&d))
			return false;
	if (w->n > 1 && !read_filter(&d, &w->operand[1], &filter))
		return false;
	for (u32 i = 0; i < d.n; i++)
		sb_fmt(&format, "%s%.*s", i ? " " : "", STRF(d.field[i].name));
	sb_fmt(w->out, "%.*s\n/wanted()%s%s%s/\n{\n", STRF(d.point), filter.n ? " && (" : "",
	       filter.n ? filter.s : "", filter.n ? ")" : "");
	sb_fmt(w->out,
	       "\temit(hits, task = strf(\"%%s-%%d\", comm, tid), cpu = cpu, time_ns = nsecs, "
	       "name = \"%.*s\",\n\t     function = \"%.*s%.*s\", fields = strf(\"%s\"",
	       STRF(d.name), STRF(d.symbol), STRF(d.returns ? STR(" returns") : STR("")),
	       format.s ? format.s : "");
	for (u32 i = 0; i < d.n; i++)
		sb_fmt(w->out, ", %.*s", STRF(d.field[i].value));
	sb_fmt(w->out, ")%s);\n}\n",
	       stacks ? user ? ",\n\t     ustack = ustack" : ",\n\t     kstack = kstack" : "");
	return true;
}

bool write_kprobe(struct words *w)
{
	return write_definition(w, false);
}

bool write_uprobe(struct words *w)
{
	return write_definition(w, true);
}
