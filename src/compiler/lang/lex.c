/* lex.c - text to tokens, with exact places and exact numbers. */
#include "lang/lex.h"
#include "base/units.h"

static const struct {
	struct str text;
	enum token kind;
} keywords[] = {
#define X(id, text)
#define K(id, text) {STR(text), TK_##id},
#define P(id, text)
#include "lang/tokens.def"
};

static const struct {
	struct str text;
	enum token kind;
} puncts[] = {
#define X(id, text)
#define K(id, text)
#define P(id, text) {STR(text), TK_##id},
#include "lang/tokens.def"
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c) /* may continue an identifier */
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static bool is_layout(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int digit_of(char c) /* 36: not a digit in any base */
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 36;
}

struct loc lex_loc(const struct lex *l, u32 from, u32 to)
{
	assert(from <= to);
	return (struct loc){from, (u16)MIN(to - from, 0xffffu), l->src};
}

/* The character n places on; NUL past the end. */
static char ahead(const struct lex *l, u32 n)
{
	return l->at + n < l->text.n ? l->text.s[l->at + n] : '\0';
}

static bool at_end(const struct lex *l)
{
	return l->at >= l->text.n;
}

static void fail(struct tok *t, enum diag_code code, struct loc loc, const char *msg)
{
	if (t->err) /* the first one is the one worth reading */
		return;
	t->err = msg;
	t->code = code;
	t->err_loc = loc;
}

static void skip_line(struct lex *l)
{
	while (!at_end(l) && l->text.s[l->at] != '\n')
		l->at++;
}

struct lex lex_of(struct arena *a, struct str text, u16 src)
{
	struct lex l = {.arena = a, .text = text, .src = src};
	if (str_starts(text, STR("\xef\xbb\xbf"))) /* what editors put in front of UTF-8 */
		l.at = 3;
	if (ahead(&l, 0) == '#' && ahead(&l, 1) == '!')
		skip_line(&l);
	return l;
}

static void skip_comment(struct lex *l, struct tok *t)
{
	u32 from = l->at;
	for (l->at += 2; !at_end(l); l->at++) {
		if (ahead(l, 0) == '*' && ahead(l, 1) == '/') {
			l->at += 2;
			return;
		}
		t->new_line |= ahead(l, 0) == '\n';
	}
	fail(t, E_SYNTAX, lex_loc(l, from, from + 2), "unterminated comment");
}

/* Text may be read more than once, ahead and then for good. */
static void note_comment(struct lex *l, u32 from)
{
	struct comments *all = l->comments;
	if (!all || (all->last && all->last->pos >= from))
		return;
	struct comment *c = arena_new(l->arena, struct comment);
	c->text = str_n(l->text.s + from, l->at - from);
	c->pos = from;
	if (all->last)
		all->last->next = c;
	else
		all->head = c;
	all->last = c;
}

static void skip_layout(struct lex *l, struct tok *t)
{
	while (!at_end(l)) {
		char c = ahead(l, 0);
		if (is_layout(c)) {
			t->new_line |= c == '\n';
			l->at++;
		} else if (c == '/' && ahead(l, 1) == '/') {
			u32 from = l->at;
			skip_line(l);
			note_comment(l, from);
		} else if (c == '/' && ahead(l, 1) == '*') {
			u32 from = l->at;
			skip_comment(l, t);
			note_comment(l, from);
		} else {
			return;
		}
	}
}

/* Reads an identifier's characters, which may be none. */
static struct str word(struct lex *l)
{
	u32 from = l->at;
	if (!is_digit(ahead(l, 0)))
		while (is_word(ahead(l, 0)))
			l->at++;
	return str_n(l->text.s + from, l->at - from);
}

/*
 * Numbers.
 */

static bool mul_add(u64 *v, u64 mul, u64 add)
{
	return !__builtin_mul_overflow(*v, mul, v) && !__builtin_add_overflow(*v, add, v);
}

/* Digits of one base and underscores from *at on; false: overflow. */
static bool digits(struct str s, u32 *at, int base, u64 *v)
{
	bool fits = true;
	for (*v = 0; *at < s.n && (s.s[*at] == '_' || digit_of(s.s[*at]) < base); ++*at)
		if (s.s[*at] != '_')
			fits = fits && mul_add(v, (u64)base, (u64)digit_of(s.s[*at]));
	return fits;
}

/* u and l or ll, each at most once, in either order and case. */
static bool is_c_suffix(struct str s)
{
	u32 i = 0, nu = 0, nl = 0;
	for (; i < s.n; i++) {
		char c = s.s[i] | 0x20;
		if (c == 'u' && !nu)
			nu++;
		else if (c == 'l' && (!nl || (nl == 1 && (s.s[i - 1] | 0x20) == 'l')))
			nl++;
		else
			return false;
	}
	return s.n > 0;
}

static const char overflow[] = "overflow, the maximum value is 18446744073709551615";

/* *v eN: what stands from at on, with the e. */
static const char *exponent(struct str s, u32 *at, u32 mantissa_len, u64 *v)
{
	u64 exp;
	bool fits = (++*at, digits(s, at, 10, &exp));
	if (mantissa_len != 1 || !*v)
		return "the coefficient of a number with an exponent must be 1-9";
	if (!fits)
		return overflow;
	for (; exp; exp--)
		if (!mul_add(v, 10, 0))
			return overflow;
	return NULL;
}

static const char *number(struct str s, u64 *v)
{
	u32 at = 0;
	int base = 10;
	char x = s.n > 1 && s.s[0] == '0' ? s.s[1] | 0x20 : '\0';
	if (x == 'x' || x == 'b') {
		base = x == 'x' ? 16 : 2;
		at = 2;
	} else if (s.n > 1 && s.s[0] == '0') {
		base = 8;
	}
	u32 from = at;
	bool fits = digits(s, &at, base, v);
	if (!s.n || !is_digit(s.s[0]))
		return "not a number";
	if (at == from)
		return "no digits after the prefix";
	if (at < s.n && is_digit(s.s[at]))
		return base == 8 ? "invalid digit in an octal number"
				 : "invalid digit in a binary number";
	if (s.s[at - 1] == '_')
		return "trailing underscore in a number";
	if (!fits)
		return overflow;
	if (base == 10 && at + 1 < s.n && (s.s[at] | 0x20) == 'e' && is_digit(s.s[at + 1])) {
		const char *e = exponent(s, &at, at, v);
		if (e)
			return e;
	}
	struct str suffix = str_from(s, at);
	if (!suffix.n || is_c_suffix(suffix))
		return NULL;
	u64 ns = base == 16 ? 0 : units_scale(suffix);
	if (!ns)
		return "invalid suffix of a number";
	return mul_add(v, ns, 0) ? NULL : overflow;
}

bool lex_integer(struct str text, u64 *ret, const char **err)
{
	u64 v = 0;
	const char *e = number(text, &v);
	if (e)
		*err = e;
	else
		*ret = v;
	return !e;
}

static void lex_number(struct lex *l, struct tok *t)
{
	const char *err;
	u32 from = l->at;
	while (is_word(ahead(l, 0)))
		l->at++;
	t->kind = TK_NUMBER;
	t->text = str_n(l->text.s + from, l->at - from);
	if (!lex_integer(t->text, &t->num, &err)) {
		struct str shown = str_n(t->text.s, MIN(t->text.n, 64u));
		fail(t, E_NUMBER, lex_loc(l, from, l->at),
		     arena_fmt(l->arena, "%s: %.*s", err, STRF(shown)));
	}
}

/*
 * Strings.
 */

/* Up to max digits of a base. */
static u32 escape_digits(struct lex *l, int base, u32 max, u32 *v)
{
	u32 n = 0;
	for (*v = 0; n < max && digit_of(ahead(l, 0)) < base; n++, l->at++)
		*v = *v * (u32)base + (u32)digit_of(ahead(l, 0));
	return n;
}

/* One escape, from its backslash on. */
static char escape(struct lex *l, struct tok *t)
{
	u32 from = l->at++, v;
	char c = ahead(l, 0);
	if (c >= '0' && c <= '7') {
		escape_digits(l, 8, 3, &v);
		if (v > 255)
			fail(t, E_STRING, lex_loc(l, from, l->at),
			     "octal escape sequence out of range (at most \\377)");
		return (char)v;
	}
	if (at_end(l) || c == '\n') /* the string is reported as unterminated */
		return '\\';
	l->at++;
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case '"': return '"';
	case '\\': return '\\';
	case 'x':
	case 'X':
		if (!escape_digits(l, 16, 2, &v))
			fail(t, E_STRING, lex_loc(l, from, l->at), "no hex digit after \\x");
		return (char)v;
	}
	while ((u8)c >= 0x80 && (ahead(l, 0) & 0xc0) == 0x80)
		l->at++;
	fail(t, E_STRING, lex_loc(l, from, l->at),
	     arena_fmt(l->arena, "invalid escape sequence '%.*s'", (int)(l->at - from),
		       l->text.s + from));
	return c;
}

/* Where the string that l is in ends. */
static u32 string_end(const struct lex *l)
{
	u32 at = l->at;
	for (; at < l->text.n && l->text.s[at] != '"' && l->text.s[at] != '\n'; at++)
		if (l->text.s[at] == '\\' && at + 1 < l->text.n && l->text.s[at + 1] != '\n')
			at++;
	return at;
}

static void lex_string(struct lex *l, struct tok *t)
{
	u32 open = l->at++, n = 0;
	char *out = NULL;
	t->kind = TK_STRING;
	while (!at_end(l) && ahead(l, 0) != '"' && ahead(l, 0) != '\n') {
		if (ahead(l, 0) != '\\') {
			if (out)
				out[n] = ahead(l, 0);
			n++;
			l->at++;
			continue;
		}
		if (!out) { /* from here on the text differs from the source; it never gets longer
			     */
			out = arena_alloc(l->arena, string_end(l) - open, 1);
			memcpy(out, l->text.s + open + 1, n);
		}
		char c = escape(l, t);
		out[n++] = c;
	}
	t->text = str_n(out ? out : l->text.s + open + 1, n);
	if (ahead(l, 0) == '"' && !at_end(l)) {
		l->at++;
		return;
	}
	t->cut = true;
	t->err = NULL; /* matters more than what is wrong inside */
	fail(t, E_STRING, lex_loc(l, open, l->at), "unterminated string");
}

/*
 * Everything else.
 */

static void lex_dollar(struct lex *l, struct tok *t)
{
	u32 from = l->at++;
	if (ahead(l, 0) == '#') {
		l->at++;
		t->kind = TK_NPARAM;
		return;
	}
	u32 name = l->at;
	if (is_digit(ahead(l, 0))) {
		bool fits = true;
		for (; is_digit(ahead(l, 0)); l->at++)
			fits = fits && mul_add(&t->num, 10, (u64)(ahead(l, 0) - '0'));
		t->kind = TK_PARAM;
		if (!fits || !t->num || t->num > INT64_MAX)
			fail(t, E_NUMBER, lex_loc(l, from, l->at),
			     "parameters are numbered from $1 to $9223372036854775807");
	} else {
		word(l);
		t->kind = TK_VAR;
		if (l->at == name) {
			t->kind = TK_BAD;
			name = from;
			fail(t, E_SYNTAX, lex_loc(l, from, l->at),
			     "expected a variable's name or a parameter's number after '$'");
		}
	}
	t->text = str_n(l->text.s + name, l->at - name);
}

static void lex_at(struct lex *l, struct tok *t)
{
	u32 from = l->at++;
	t->kind = TK_MAP;
	t->text = word(l);
	if (!is_digit(ahead(l, 0)))
		return;
	while (is_word(ahead(l, 0)))
		l->at++;
	fail(t, E_SYNTAX, lex_loc(l, from, l->at), "the name of a map cannot begin with a digit");
}

static void lex_word(struct lex *l, struct tok *t)
{
	t->text = word(l);
	t->kind = TK_IDENT;
	for (u32 i = 0; i < countof(keywords); i++)
		if (str_eq(t->text, keywords[i].text))
			t->kind = keywords[i].kind;
}

/* One character, with the whole of a UTF-8 sequence. */
static void lex_bad(struct lex *l, struct tok *t)
{
	u32 from = l->at++;
	u8 c = (u8)l->text.s[from];
	while (c >= 0xc0 && !at_end(l) && (ahead(l, 0) & 0xc0) == 0x80 && l->at - from < 4)
		l->at++;
	t->kind = TK_BAD;
	t->text = str_n(l->text.s + from, l->at - from);
	const char *msg = c < 0x20 || c == 0x7f || (c >= 0x80 && l->at - from == 1)
				  ? arena_fmt(l->arena, "unexpected byte 0x%02x", c)
				  : arena_fmt(l->arena, "unexpected character %.*s", STRF(t->text));
	if (c == '\'')
		msg = "unexpected character ' (strings are written in double quotes)";
	fail(t, E_SYNTAX, lex_loc(l, from, l->at), msg);
}

static bool lex_punct(struct lex *l, struct tok *t)
{
	for (u32 i = 0; i < countof(puncts); i++) {
		struct str p = puncts[i].text;
		if (p.s[0] != ahead(l, 0) ||
		    !str_starts(str_n(l->text.s + l->at, l->text.n - l->at), p))
			continue;
		t->kind = puncts[i].kind;
		t->text = str_n(l->text.s + l->at, p.n);
		l->at += p.n;
		return true;
	}
	return false;
}

void lex_next(struct lex *l, struct tok *t)
{
	u32 before = l->at;
	*t = (struct tok){.kind = TK_EOF};
	skip_layout(l, t);
	t->at = l->at;
	t->skipped = l->at - before;
	char c = ahead(l, 0);
	if (at_end(l)) { /* points behind the last token, not at an empty last line */
		t->loc = lex_loc(l, before, before);
		return;
	}
	if (is_digit(c))
		lex_number(l, t);
	else if (is_word(c))
		lex_word(l, t);
	else if (c == '"')
		lex_string(l, t);
	else if (c == '$')
		lex_dollar(l, t);
	else if (c == '@')
		lex_at(l, t);
	else if (!lex_punct(l, t))
		lex_bad(l, t);
	assert(l->at > t->at);
	t->loc = lex_loc(l, t->at, l->at);
}

static void raw_end(struct lex *l, u32 at, struct tok *t)
{
	t->text = str_n(l->text.s + at, l->at - at);
	t->loc = lex_loc(l, at, l->at);
}

/* A quoted piece, escapes and all; NULL end: up to the end of the line. */
static void raw_quoted(struct lex *l, struct tok *t)
{
	u32 from = l->at++;
	for (; !at_end(l) && ahead(l, 0) != '\n'; l->at++) {
		if (ahead(l, 0) == '\\' && ahead(l, 1) != '\n') {
			l->at += l->at + 1 < l->text.n;
		} else if (ahead(l, 0) == '"') {
			l->at++;
			return;
		}
	}
	t->cut = true;
	fail(t, E_STRING, lex_loc(l, from, l->at), "unterminated string");
}

void lex_point(struct lex *l, u32 at, struct tok *t)
{
	bool colon = false;
	*t = (struct tok){.kind = TK_IDENT, .at = at};
	l->at = at;
	while (!at_end(l)) {
		char c = ahead(l, 0);
		if (is_layout(c) || c == '{' || c == ',' || (c == '/' && !colon))
			break;
		colon |= c == ':';
		if (c == '"')
			raw_quoted(l, t);
		else
			l->at++;
	}
	raw_end(l, at, t);
}

/* Its line ends neither behind a backslash nor in a comment. */
void lex_line(struct lex *l, u32 at, struct tok *t)
{
	*t = (struct tok){.kind = TK_IDENT, .at = at};
	bool in_line = false; /* in a // comment */
	l->at = at;
	while (!at_end(l) && ahead(l, 0) != '\n') {
		bool comment = ahead(l, 0) == '/' && ahead(l, 1) == '*' && !in_line;
		in_line |= ahead(l, 0) == '/' && ahead(l, 1) == '/';
		if (ahead(l, 0) == '\\' && ahead(l, 1) == '\r' && ahead(l, 2) == '\n')
			l->at += 3;
		else if (ahead(l, 0) == '\\' && ahead(l, 1) == '\n')
			l->at += 2;
		else if (comment)
			skip_comment(l, t);
		else
			l->at++;
	}
	raw_end(l, at, t);
	t->text = str_trim(t->text);
	t->loc = lex_loc(l, at, at + t->text.n);
}

/* Steps over one piece of C text: a comment, a literal or a character. */
static void skip_c(struct lex *l, struct tok *t)
{
	char c = ahead(l, 0);
	if (c == '/' && ahead(l, 1) == '/') {
		skip_line(l);
	} else if (c == '/' && ahead(l, 1) == '*') {
		skip_comment(l, t);
	} else if (c == '"') {
		raw_quoted(l, t);
	} else {
		l->at++;
	}
}

/* From an opening bracket to behind its partner; false: there is none. */
static bool skip_balanced(struct lex *l, struct tok *t, char open, char close)
{
	u32 depth = 0;
	while (!at_end(l)) {
		char c = ahead(l, 0);
		depth += c == open;
		skip_c(l, t);
		if (c == close && !--depth)
			return true;
	}
	return false;
}

static void skip_attributes(struct lex *l, struct tok *t)
{
	static const struct str attribute = {"__attribute__", 13};
	for (;;) {
		struct lex was = *l;
		skip_layout(l, t);
		if (!str_eq(word(l), attribute)) {
			*l = was;
			return;
		}
		skip_layout(l, t);
		if (ahead(l, 0) != '(' || !skip_balanced(l, t, '(', ')')) {
			fail(t, E_SYNTAX, lex_loc(l, was.at, l->at),
			     "expected '((...))' after __attribute__");
			return;
		}
	}
}

/* A typedef ends at its ';', braces and what is in them apart. */
static void lex_typedef(struct lex *l, u32 at, struct tok *t)
{
	while (!at_end(l) && ahead(l, 0) != ';') {
		if (ahead(l, 0) != '{')
			skip_c(l, t);
		else if (!skip_balanced(l, t, '{', '}'))
			fail(t, E_SYNTAX, lex_loc(l, at, at + 7), "a '{' is never closed");
	}
	if (at_end(l))
		fail(t, E_SYNTAX, lex_loc(l, at, at + 7), "expected ';' after the typedef");
	raw_end(l, at, t);
	l->at += !at_end(l);
}

void lex_cdef(struct lex *l, u32 at, struct tok *t)
{
	*t = (struct tok){.kind = TK_IDENT, .at = at};
	l->at = at;
	struct tok name;
	lex_next(l, &name); /* struct, union, enum, typedef */
	if (str_is(name.text, "typedef")) {
		lex_typedef(l, at, t);
		return;
	}
	lex_next(l, &name);
	for (bool attrs = true; attrs;) { /* struct __attribute__((packed)) x */
		struct lex was = *l;
		l->at = name.at;
		skip_attributes(l, t);
		attrs = l->at != name.at;
		*l = attrs ? *l : was;
		if (attrs)
			lex_next(l, &name);
	}
	if (name.kind == TK_IDENT)
		lex_next(l, &name);
	if (name.kind == TK_SEMI) { /* struct x; */
		l->at = name.at;
		raw_end(l, at, t);
		l->at = name.at + 1;
		return;
	}
	if (name.kind != TK_LBRACE) {
		fail(t, E_SYNTAX, name.loc, "expected '{' of the definition");
		raw_end(l, at, t);
		return;
	}
	l->at = name.at;
	if (skip_balanced(l, t, '{', '}'))
		skip_attributes(l, t);
	else
		fail(t, E_SYNTAX, name.loc, "this '{' is never closed");
	raw_end(l, at, t);
	struct lex was = *l;
	struct tok semi;
	lex_next(l, &semi);
	if (semi.kind != TK_SEMI)
		*l = was;
}
