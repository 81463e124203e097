/* spec.c - bcc's probes and expressions. */
#include "tool/spec.h"
#include "kern/tracefs.h"
#include "proc/proc.h"
#include "types/format.h"
#include <ctype.h>
#include <stdarg.h>

/* ---- words ---- */

struct str words_opt(const struct words *w, const char *name)
{
	for (u32 i = w->nopt; i--;)
		if (str_is(w->opts[i].name, name))
			return w->opts[i].value;
	return (struct str){0};
}

bool words_flag(const struct words *w, const char *name)
{
	for (u32 i = 0; i < w->nopt; i++)
		if (str_is(w->opts[i].name, name))
			return true;
	return false;
}

void words_put_mine(struct words *w)
{
	bool all = !w->command || w->pid || words_flag(w, "follow");
	sb_fmt(w->out, "macro mine() { %s }\n\n", all ? "true" : "pid == cpid");
}

struct loc word_loc(const struct word *word, u32 pos, u32 len)
{
	return (struct loc){.pos = pos, .len = (u16)MIN(MAX(len, 1u), 0xffffu), .src = word->src};
}

PRINTF(3, 0)
bool words_fail(struct words *w, struct loc loc, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	diag_addv(w->diags, E_SYNTAX, loc, fmt, ap);
	va_end(ap);
	return false;
}

bool cursor_fail(struct cursor *c, u32 from, const char *fmt, ...)
{
	va_list ap;
	u32 n = c->word->text.n;
	from = MIN(from, n ? n - 1 : 0);
	va_start(ap, fmt);
	diag_addv(c->w->diags, E_SYNTAX, word_loc(c->word, from, MAX(c->at, from + 1) - from), fmt,
		  ap);
	va_end(ap);
	return false;
}

static char peek(const struct cursor *c)
{
	return c->at < c->word->text.n ? c->word->text.s[c->at] : 0;
}

static char peek_next(const struct cursor *c)
{
	return c->at + 1 < c->word->text.n ? c->word->text.s[c->at + 1] : 0;
}

void cursor_blanks(struct cursor *c)
{
	while (peek(c) == ' ' || peek(c) == '\t' || peek(c) == '\n')
		c->at++;
}

bool cursor_end(struct cursor *c)
{
	cursor_blanks(c);
	return c->at >= c->word->text.n;
}

bool cursor_take(struct cursor *c, char ch)
{
	cursor_blanks(c);
	if (peek(c) != ch)
		return false;
	c->at++;
	return true;
}

static struct str since(const struct cursor *c, u32 from)
{
	return str_n(c->word->text.s + from, c->at - from);
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

/* ---- probes ---- */

/* pthread and its like are parts of the C library since glibc 2.34. */
static bool in_libc(struct str lib)
{
	static const char *const parts[] = {"pthread", "dl", "rt", "util", "resolv"};
	for (size_t i = 0; i < countof(parts); i++)
		if (str_is(lib, parts[i]))
			return true;
	return false;
}

/* "c" is libc, "bash" a program, a path itself. */
static bool file_of(struct cursor *c, u32 from, struct str lib, struct str *ret)
{
	struct words *w = c->w;
	if (str_chr(lib, '/') >= 0 || str_find(lib, STR(".so")) >= 0) {
		*ret = lib;
		return true;
	}
	const char *name = arena_fmt(w->a, "lib%.*s", STRF(lib));
	if (!lib.n)
		return cursor_fail(c, from, "which program or library?");
	*ret = str_z(name);
	if (proc_library(w->h, w->a, w->pid, name))
		return true;
	*ret = lib;
	if ((str_starts(lib, STR("lib")) &&
	     proc_library(w->h, w->a, w->pid, arena_strz(w->a, lib))) ||
	    proc_which(w->a, arena_strz(w->a, lib)))
		return true;
	return cursor_fail(c, from, "neither a library %s nor a program %.*s exists", name,
			   STRF(lib));
}

static bool is_language(struct str s)
{
	return str_is(s, "cpp") || str_is(s, "rust");
}

static bool user_point(struct cursor *c, u32 from, struct spec *s, const char *kind,
		       struct str *ret)
{
	struct str file = {0}, name = s->name;
	const char *colon = s->provider.n ? ":" : "";
	if (!file_of(c, from, s->lib, &file))
		return false;
	if (str_chr(name, '(') >= 0 || str_chr(name, ' ') >= 0)
		name = str_z(arena_fmt(c->w->a, "\"%.*s\"", STRF(name)));
	if (!s->provider.n && str_find(name, STR("::")) >= 0) {
		*ret = str_z(arena_fmt(c->w->a, "%s:%.*s:cpp:%.*s else %s:%.*s:rust:%.*s", kind,
				       STRF(file), STRF(name), kind, STRF(file), STRF(name)));
		return true;
	}
	char *text = arena_fmt(c->w->a, "%s:%.*s:%.*s%s%.*s", kind, STRF(file), STRF(s->provider),
			       colon, STRF(name));
	if (in_libc(s->lib))
		text = arena_fmt(c->w->a, "%s else %s:libc:%.*s%s%.*s", text, kind,
				 STRF(s->provider), colon, STRF(s->name));
	*ret = str_z(text);
	return true;
}

/* "open" of sys_open, __x64_sys_open, when its events are there; {NULL}: they are not. */
static struct str call_name(struct words *w, struct str name)
{
	struct str text, call = arch_call_of(name);
	if (!call.s)
		return call;
	struct str event = str_z(arena_fmt(w->a, "sys_enter_%.*s", STRF(call)));
	struct err *e = tracefs_format(w->h, STR("syscalls"), event, &text);
	err_free(e);
	return e ? (struct str){0} : call;
}

/* The fields of a tracepoint; NULL: not known. */
static const struct type *fields_of(struct words *w, struct str category, struct str event)
{
	struct str text;
	const struct type *t = NULL;
	u64 id;
	struct err *e = tracefs_format(w->h, category, event, &text);
	if (!e)
		e = format_parse(text, event, host_btf(w->h), w->a, &id, &t);
	err_free(e);
	return e ? NULL : t;
}

static void call_points(struct words *w, struct spec *s, struct str call)
{
	s->syscall = true;
	s->args =
		fields_of(w, STR("syscalls"), str_z(arena_fmt(w->a, "sys_enter_%.*s", STRF(call))));
	s->entry = str_z(arena_fmt(w->a, "tracepoint:syscalls:sys_enter_%.*s", STRF(call)));
	s->point = s->kind == 'r'
			   ? str_z(arena_fmt(w->a, "tracepoint:syscalls:sys_exit_%.*s", STRF(call)))
			   : s->entry;
}

static bool points_of(struct cursor *c, u32 from, struct spec *s, bool patterns)
{
	struct words *w = c->w;
	bool r = s->kind == 'r';
	if (s->kind == 't') {
		s->args = fields_of(w, s->lib, s->name);
		s->point =
			str_z(arena_fmt(w->a, "tracepoint:%.*s:%.*s", STRF(s->lib), STRF(s->name)));
		return true;
	}
	if (s->kind == 'u')
		return user_point(c, from, s, "usdt", &s->point);
	if (s->lib.n)
		return user_point(c, from, s, "uprobe", &s->entry) &&
		       user_point(c, from, s, r ? "uretprobe" : "uprobe", &s->point);
	struct str call = patterns ? (struct str){0} : call_name(w, s->name);
	if (call.n) {
		call_points(w, s, call);
		return true;
	}
	s->entry = str_z(arena_fmt(w->a, "kprobe:%.*s", STRF(s->name)));
	s->point = str_z(arena_fmt(w->a, "%s:%.*s", r ? "kretprobe" : "kprobe", STRF(s->name)));
	return true;
}

bool spec_read(struct cursor *c, struct spec *s, bool patterns)
{
	enum { MAX_PARTS = 4 };
	struct str part[MAX_PARTS] = {0};
	u32 n = 0, from, begin;
	cursor_blanks(c);
	begin = from = c->at;
	*s = (struct spec){.kind = 'p'};
	for (;; c->at++) {
		char ch = peek(c);
		bool end = !ch || (!patterns && strchr(" \t\n(#", ch)); /* f(int) is a name */
		bool letter = !n && c->at == from + 1 && strchr("prtu", c->word->text.s[from]);
		bool typed = n > 0 && part[0].n == 1 && strchr("tu", part[0].s[0]);
		/* argdist goes on with ":TYPE" behind "r:c:read". */
		if (!end && ch != ':')
			continue;
		if (ch == ':' && peek_next(c) == ':' && c->at > from && !letter) {
			c->at++; /* ns::f */
			continue;
		}
		if (n == MAX_PARTS)
			return cursor_fail(c, begin, "too many ':' in a probe");
		part[n++] = since(c, from);
		from = c->at + 1;
		if (end || (!patterns && n == 3 && !(typed && part[0].s[0] == 'u')))
			break;
	}
	bool kind = n > 1 && part[0].n == 1 && strchr("prtu", part[0].s[0]);
	if (kind)
		s->kind = part[0].s[0];
	u32 at = kind;
	s->name = part[n - 1];
	s->lib = n - at >= 2 ? part[at] : (struct str){0};
	s->provider = n - at == 3 ? part[at + 1] : (struct str){0};
	if (!s->name.n)
		return cursor_fail(c, begin,
				   "expected a probe: [p|r:][LIB:]FUNCTION, "
				   "t:CATEGORY:EVENT or u:LIB:PROBE");
	if (s->kind == 't' && n != 3)
		return cursor_fail(c, begin, "a tracepoint is t:CATEGORY:EVENT");
	if (s->kind == 'u' && n < 3)
		return cursor_fail(c, begin, "a static probe is u:LIB:PROBE");
	if (n - at > (s->kind == 'u' || is_language(s->provider) ? 3u : 2u))
		return cursor_fail(c, begin, "too many ':' in a probe");
	bool within = false;                      /* f(int, long) */
	for (u32 i = 0; i < c->at - begin; i++) { /* it becomes a part of a script */
		char ch = c->word->text.s[begin + i];
		within |= ch == '(' && s->lib.n;
		if (strchr("{};\"'`|", ch) || (ch == ',' && !within))
			return cursor_fail(c, begin, "'%c' cannot be in a probe", ch);
	}
	return points_of(c, begin, s, patterns);
}

bool spec_is_type(struct str s)
{
	for (u32 i = 0; i < s.n; i++)
		if (!is_name(s.s[i]) && !strchr(" *", s.s[i]))
			return false;
	return s.n && !(s.s[0] >= '0' && s.s[0] <= '9');
}

bool spec_signature(struct cursor *c, struct spec *s)
{
	u32 begin = c->at, from;
	if (peek(c) != '(')
		return true;
	c->at++;
	for (;;) {
		cursor_blanks(c);
		from = c->at;
		while (peek(c) && peek(c) != ',' && peek(c) != ')')
			c->at++;
		if (!peek(c))
			return cursor_fail(c, begin, "expected ')' after the parameters");
		struct str text = str_trim(since(c, from));
		u32 k = text.n;
		while (k && is_name(text.s[k - 1]))
			k--;
		if (text.n && !str_is(text, "void") && !str_is(text, "...")) {
			if (s->nparam == SPEC_PARAMS)
				return cursor_fail(c, from, "more than %d parameters", SPEC_PARAMS);
			if (k == text.n || !spec_is_type(str_n(text.s, k)))
				return cursor_fail(c, from, "expected a type and a name");
			s->param[s->nparam++] =
				(struct param){str_trim(str_n(text.s, k)), str_from(text, k)};
		}
		if (c->word->text.s[c->at++] == ')')
			return true;
	}
}

/* ---- expressions ---- */

struct expr {
	struct cursor *c;
	const struct spec *s;
	struct entries *entries;
	struct sb *out;
	bool inside; /* of $entry(): a function's parameters, not the result */
};

static bool put_expr(struct expr *x, u32 depth);

/* s32 is int32 here. */
static bool put_c_type(struct sb *out, struct str name)
{
	if (name.n < 2 || name.s[0] != 's' || str_from(name, 1).s[0] > '9')
		return false;
	struct str bits = str_from(name, 1);
	if (!str_is(bits, "8") && !str_is(bits, "16") && !str_is(bits, "32") && !str_is(bits, "64"))
		return false;
	sb_fmt(out, "int%.*s", STRF(bits));
	return true;
}

/* Argument i (from 0): of system calls a field behind the number. */
static bool put_arg(struct expr *x, u32 from, u32 i)
{
	const struct spec *s = x->s;
	u32 n = 0;
	const struct field *f = s->syscall && s->args ? type_fields(s->args, &n) : NULL;
	if (s->kind == 't')
		return cursor_fail(x->c, from, "a tracepoint has fields: args->NAME");
	if (s->kind == 'r' && !x->inside)
		return cursor_fail(x->c, from, "arguments are not known at the return%s",
				   x->entries ? ": $entry(...) keeps them" : "");
	/* Functions of Go, whose names have a dot, have them in more registers. */
	bool go = str_chr(s->name, '.') >= 0, function = !s->syscall && s->kind != 'u';
	const struct arch *arch = x->c->w->h->arch;
	if (function && i >= (go ? MAX(arch->narg, arch->ngo_arg) : arch->narg))
		return cursor_fail(x->c, from,
				   "registers have arg1 to arg%u of a function here, the others "
				   "are on the stack",
				   go ? arch->ngo_arg : arch->narg);
	if (!s->syscall) {
		sb_fmt(x->out, "arg%u", i);
		return true;
	}
	if (!f || i + 1 >= n)
		return cursor_fail(x->c, from, "the system call has %u arguments", n ? n - 1 : 0);
	sb_fmt(x->out, "args.%.*s", STRF(f[i + 1].name));
	return true;
}

static bool put_retval(struct expr *x, u32 from)
{
	if (x->s->kind != 'r' || x->inside)
		return cursor_fail(x->c, from, "only a return (r:) has a result");
	const char *name = x->s->syscall ? "args.ret" : "retval";
	if (x->s->result.n)
		sb_fmt(x->out, "((%.*s)%s)", STRF(x->s->result), name);
	else
		sb_z(x->out, name);
	return true;
}

static bool is_digit(char c, char most)
{
	return c >= '0' && c <= most;
}

/* Bytes that the text between quotes means: \x01, \001 and \n are one each. */
static u32 text_bytes(struct str t)
{
	u32 n = 0;
	for (u32 i = 0; i < t.n; n++) {
		u32 at = i + 1, digits = 0;
		if (t.s[i++] != '\\' || at >= t.n)
			continue;
		if (t.s[at] == 'x')
			for (i++; i < t.n && digits < 2 && isxdigit((unsigned char)t.s[i]); i++)
				digits++;
		else if (is_digit(t.s[at], '7'))
			for (; i < t.n && digits < 3 && is_digit(t.s[i], '7'); i++)
				digits++;
		else
			i++;
	}
	return n;
}

/* STRCMP("lit", x): x begins with it. */
static bool put_strcmp(struct expr *x, u32 from)
{
	AUTO_SB arg = {0};
	struct cursor *c = x->c;
	if (!cursor_take(c, '(') || !cursor_take(c, '"'))
		return cursor_fail(c, from, "expected STRCMP(\"text\", argument)");
	u32 lit = c->at;
	while (peek(c) && peek(c) != '"')
		c->at += peek(c) == '\\' ? 2 : 1;
	struct str text = c->at <= c->word->text.n ? since(c, lit) : (struct str){0};
	if (!cursor_take(c, '"') || !cursor_take(c, ','))
		return cursor_fail(c, from, "expected STRCMP(\"text\", argument)");
	struct sb *out = x->out;
	x->out = &arg;
	bool ok = put_expr(x, 1);
	x->out = out;
	if (!ok || !cursor_take(c, ')'))
		return ok && cursor_fail(c, from, "expected ')' after STRCMP's arguments");
	sb_fmt(out, "(strncmp(str(%s), \"%.*s\", %u) == 0)", arg.s ? arg.s : "", STRF(text),
	       text_bytes(text));
	return true;
}

static bool put_entry(struct expr *x, u32 from)
{
	AUTO_SB e = {0};
	struct entries *n = x->entries;
	struct sb *out = x->out;
	if (!n || x->s->kind != 'r')
		return cursor_fail(x->c, from,
				   "$entry() is only available in a return probe of argdist (r:)");
	if (!cursor_take(x->c, '('))
		return cursor_fail(x->c, from, "expected $entry(parameter)");
	x->out = &e;
	x->inside = true;
	bool ok = put_expr(x, 1);
	x->out = out;
	x->inside = false;
	if (!ok || !cursor_take(x->c, ')'))
		return ok && cursor_fail(x->c, from, "expected ')' after $entry's parameter");
	u32 i = 0;
	while (i < n->n && !str_eq(n->expr[i], sb_str(&e)))
		i++;
	if (i == SPEC_ENTRIES)
		return cursor_fail(x->c, from, "more than %d different $entry()", SPEC_ENTRIES);
	if (i == n->n)
		n->expr[n->n++] = arena_str(x->c->w->a, sb_str(&e));
	sb_fmt(out, "@entry%u_%u[tid]", n->id, i);
	return true;
}

static bool put_dollar(struct expr *x, struct str name, u32 from)
{
	static const struct {
		const char *name, *trace, *argdist;
	} words[] = {
		{"uid", "uid", "uid"},    {"gid", "gid", "gid"}, {"pid", "tid", "tid"},
		{"tgid", "pid", "pid"},   {"cpu", "cpu", "cpu"}, {"task", "curtask", "curtask"},
		{"PID", "pid", "pid"},    {"TID", "tid", "tid"}, {"COMM", "comm", "comm"},
		{"comm", "comm", "comm"},
	};
	if (str_is(name, "retval"))
		return put_retval(x, from);
	if (str_is(name, "entry"))
		return put_entry(x, from);
	if (str_is(name, "latency")) {
		if (!x->entries || x->s->kind != 'r')
			return cursor_fail(
				x->c, from,
				"$latency is only available in a return probe of argdist (r:)");
		x->entries->latency = true;
		sb_fmt(x->out, "(nsecs - @begun%u[tid])", x->entries->id);
		return true;
	}
	for (size_t i = 0; i < countof(words); i++) {
		if (!str_is(name, words[i].name))
			continue;
		sb_z(x->out, words[i].trace);
		return true;
	}
	return cursor_fail(x->c, from, "what is $%.*s?", STRF(name));
}

static bool put_name(struct expr *x)
{
	struct cursor *c = x->c;
	u32 from = c->at;
	u64 n;
	while (is_name(peek(c)))
		c->at++;
	struct str name = since(c, from);
	u32 start = (u32)x->out->n;
	if (str_is(name, "STRCMP"))
		return put_strcmp(x, from);
	if (str_is(name, "retval"))
		return put_retval(x, from);
	for (u32 i = 0; i < x->s->nparam; i++) {
		const struct param *p = &x->s->param[i];
		if (!str_eq(p->name, name))
			continue;
		sb_z(x->out, "((");
		if (!put_c_type(x->out, p->type))
			sb_add(x->out, p->type);
		sb_char(x->out, ')');
		if (!put_arg(x, from, i))
			return false;
		sb_char(x->out, ')');
		return true;
	}
	if (str_starts(name, STR("arg")) && str_u64(str_from(name, 3), &n)) {
		if (!n || n > SPEC_PARAMS)
			return cursor_fail(c, from, "arguments are arg1 to arg%d", SPEC_PARAMS);
		if (!put_arg(x, from, (u32)n - 1))
			return false;
	} else if (!put_c_type(x->out, name)) {
		sb_add(x->out, name);
	}
	struct str rest = str_from(c->word->text, c->at);
	if (!str_starts(rest, STR("@user")))
		return true;
	c->at += 5;
	struct str inner = arena_str(c->w->a, str_from(sb_str(x->out), start));
	x->out->n = start;
	sb_fmt(x->out, "uptr(%.*s)", STRF(inner));
	return true;
}

static bool put_quoted(struct expr *x)
{
	struct cursor *c = x->c;
	u32 from = c->at;
	char quote = peek(c);
	c->at++;
	while (peek(c) && peek(c) != quote)
		c->at += peek(c) == '\\' && peek_next(c) ? 2 : 1;
	if (!peek(c))
		return cursor_fail(c, from, "the text has no end");
	c->at++;
	struct str text = since(c, from);
	if (quote == '"')
		sb_add(x->out, text);
	else if (text.n == 3)
		sb_u64(x->out, (u8)text.s[1]);
	else
		return cursor_fail(c, from, "expected one character between ''");
	return true;
}

static bool put_number(struct expr *x)
{
	u32 from = x->c->at;
	while (is_name(peek(x->c)))
		x->c->at++;
	sb_add(x->out, since(x->c, from));
	return true;
}

/* Of one or two characters, as they stand. */
static bool put_operator(struct expr *x)
{
	static const char *const two[] = {"->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};
	struct cursor *c = x->c;
	char ch = peek(c);
	for (size_t i = 0; i < countof(two); i++) {
		if (ch != two[i][0] || peek_next(c) != two[i][1])
			continue;
		c->at += 2;
		sb_z(x->out, two[i]);
		return true;
	}
	c->at++;
	if (ch == '=' || ((ch == '+' || ch == '-') && peek(c) == ch))
		return cursor_fail(c, c->at - 1, "an expression changes nothing");
	if (!strchr("+-*/%<>!~&|^?.", ch))
		return cursor_fail(c, c->at - 1, "'%c' cannot be in an expression", ch);
	sb_char(x->out, ch);
	return true;
}

static bool put_token(struct expr *x)
{
	struct cursor *c = x->c;
	char ch = peek(c);
	if (ch >= '0' && ch <= '9')
		return put_number(x);
	if (is_name(ch))
		return put_name(x);
	if (ch == '"' || ch == '\'')
		return put_quoted(x);
	if (ch != '$')
		return put_operator(x);
	u32 from = c->at++;
	while (is_name(peek(c)))
		c->at++;
	return put_dollar(x, str_n(c->word->text.s + from + 1, c->at - from - 1), from);
}

static bool put_brackets(struct expr *x, u32 depth)
{
	struct cursor *c = x->c;
	char open = peek(c), close = open == '(' ? ')' : ']';
	u32 from = c->at++;
	sb_char(x->out, open);
	for (bool first = true; first || cursor_take(c, ','); first = false) {
		if (!first)
			sb_z(x->out, ", ");
		if (!put_expr(x, depth + 1))
			return false;
	}
	if (!cursor_take(c, close))
		return cursor_fail(c, from, "expected '%c'", close);
	sb_char(x->out, close);
	return true;
}

/* Up to what is not part of it. */
static bool put_expr(struct expr *x, u32 depth)
{
	enum { MAX_DEPTH = 64 };
	struct cursor *c = x->c;
	u32 from = c->at, choices = 0;
	size_t start = x->out->n;
	if (depth > MAX_DEPTH)
		return cursor_fail(c, from, "brackets in brackets, too many");
	for (;;) {
		u32 blank = c->at;
		cursor_blanks(c);
		char ch = peek(c);
		bool colon = ch == ':' && choices;
		if (!ch || ch == ',' || ch == ')' || ch == ']' || ch == '#' ||
		    (ch == ':' && !colon))
			break;
		if (c->at > blank && blank > from)
			sb_char(x->out, ' ');
		choices += ch == '?';
		if (colon) {
			choices--;
			c->at++;
			sb_char(x->out, ':');
		} else if (!(ch == '(' || ch == '[' ? put_brackets(x, depth) : put_token(x))) {
			return false;
		}
	}
	return x->out->n > start || cursor_fail(c, from, "expected an expression");
}

bool spec_expr(struct cursor *c, const struct spec *s, struct entries *entries, struct sb *out)
{
	struct expr x = {.c = c, .s = s, .entries = entries, .out = out};
	cursor_blanks(c);
	return put_expr(&x, 0);
}

/* args->NAME of a tracepoint that holds the text itself, and does not point to it. */
static bool is_text(const struct spec *s, struct str expr)
{
	struct field f;
	expr = str_trim(expr);
	if (str_is(expr, "comm"))
		return true;
	if (!s->args || s->syscall || !str_starts(expr, STR("args->")))
		return false;
	return type_field(s->args, str_from(expr, 6), &f) && !f.data_loc &&
	       (f.type->kind == T_ARRAY || f.type->kind == T_STRING);
}

void spec_text(const struct spec *s, struct str expr, struct str size, struct sb *out)
{
	u64 n;
	bool known = str_u64(size, &n) && n;
	if (is_text(s, expr))
		sb_add(out, expr);
	else
		sb_fmt(out, "str(%.*s, %llu)", STRF(expr), (known ? n : 80) + 1);
}

bool spec_glob(struct cursor *c, struct str field, struct sb *out)
{
	struct str all = c->word->text;
	cursor_blanks(c);
	u32 from = c->at;
	if (!cursor_take(c, '"'))
		return cursor_fail(c, from, "expected a pattern in double quotes after ~");
	u32 begin = c->at;
	while (c->at < all.n && all.s[c->at] != '"')
		c->at++;
	if (c->at == all.n)
		return cursor_fail(c, from, "the text has no end");
	struct str text = str_n(all.s + begin, c->at++ - begin);
	bool front = text.n && text.s[0] == '*';
	text = front ? str_from(text, 1) : text;
	bool behind = text.n && text.s[text.n - 1] == '*';
	text.n -= behind;
	for (u32 i = 0; i < text.n; i++)
		if (strchr("*?[\\", text.s[i]))
			return cursor_fail(c, from, "a pattern has * at its ends only");
	if (!text.n)
		sb_z(out, "true");
	else if (front)
		sb_fmt(out, "strcontains(%.*s, \"%.*s\")", STRF(field), STRF(text));
	else if (behind)
		sb_fmt(out, "(strncmp(%.*s, \"%.*s\", %zu) == 0)", STRF(field), STRF(text),
		       (size_t)text.n);
	else
		sb_fmt(out, "(%.*s == \"%.*s\")", STRF(field), STRF(text));
	return true;
}
