/* ctok.c - C tokens. */
#include "cparse/ctok.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static char ahead(const struct clex *l, u32 n)
{
	return l->at + n < l->text.n ? l->text.s[l->at + n] : '\0';
}

static bool at_end(const struct clex *l)
{
	return l->at >= l->text.n;
}

/* Length of a backslash and the line break behind it; 0: there is none. */
static u32 splice(const struct clex *l)
{
	if (ahead(l, 0) != '\\')
		return 0;
	return ahead(l, 1) == '\n' ? 2 : ahead(l, 1) == '\r' && ahead(l, 2) == '\n' ? 3 : 0;
}

static void skip_line(struct clex *l)
{
	while (!at_end(l) && ahead(l, 0) != '\n')
		l->at += splice(l) ? splice(l) : 1;
}

static void skip_comment(struct clex *l)
{
	for (l->at += 2; !at_end(l); l->at++)
		if (ahead(l, 0) == '*' && ahead(l, 1) == '/') {
			l->at += 2;
			return;
		}
}

/* A comment is one blank: a line break inside does not end a directive. */
static void skip_layout(struct clex *l, struct ctok *t)
{
	t->line = l->at == 0;
	while (!at_end(l)) {
		char c = ahead(l, 0);
		if (splice(l)) {
			l->at += splice(l);
		} else if (c == ' ' || (c >= '\t' && c <= '\r')) {
			t->line |= c == '\n';
			l->at++;
		} else if (c == '/' && ahead(l, 1) == '/') {
			skip_line(l);
		} else if (c == '/' && ahead(l, 1) == '*') {
			skip_comment(l);
		} else {
			return;
		}
		t->space = true;
	}
}

static void quoted(struct clex *l, struct ctok *t, char quote)
{
	t->kind = quote == '"' ? CT_STR : CT_CHAR;
	for (l->at++; !at_end(l) && ahead(l, 0) != '\n'; l->at++) {
		char c = ahead(l, 0);
		if (c == '\\' && l->at + 1 < l->text.n)
			l->at++;
		if (c == quote) {
			l->at++;
			return;
		}
	}
	t->kind = CT_OTHER; /* not closed: "don't" in a part that is left out */
}

/* Signs belong to it behind an exponent's letter: 1e+5, 0x1p-3. */
static void number(struct clex *l, struct ctok *t)
{
	bool hex = ahead(l, 0) == '0' && (ahead(l, 1) | 0x20) == 'x';
	char before = '\0';
	t->kind = CT_NUM;
	for (; !at_end(l); l->at++) {
		char c = ahead(l, 0);
		bool exp = before == 'p' || (before == 'e' && !hex);
		if (!is_word(c) && c != '.' && !((c == '+' || c == '-') && exp))
			return;
		before = c | 0x20;
	}
}

static void punct(struct clex *l, struct ctok *t)
{
	static const char *const longer[] = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
					     "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
					     "*=",  "/=",  "%=",  "&=", "|=", "^=", "##", ".."};
	t->kind = CT_PUNCT;
	struct str rest = str_from(l->text, l->at);
	for (size_t i = 0; i < countof(longer); i++)
		if (str_starts(rest, str_z(longer[i]))) {
			l->at += str_z(longer[i]).n;
			return;
		}
	u8 c = (u8)ahead(l, 0);
	l->at++;
	if (c < 0x21 || c > 0x7e || c == '\\' || c == '`')
		t->kind = CT_OTHER;
}

struct ctok *ctok_new(struct arena *a, const struct ctok *like)
{
	struct ctok *t = arena_new(a, struct ctok);
	if (like)
		*t = *like;
	t->next = NULL;
	return t;
}

struct ctok *clex_next(struct clex *l)
{
	struct ctok got = {.sys = l->sys};
	skip_layout(l, &got);
	if (at_end(l))
		return NULL;
	u32 from = l->at;
	char c = ahead(l, 0);
	got.text = str_from(l->text, from);
	if (is_digit(c) || (c == '.' && is_digit(ahead(l, 1)))) {
		number(l, &got);
	} else if (is_word(c) || c == '$' || c == '@') {
		got.kind = is_word(c) ? CT_IDENT : CT_OTHER;
		l->at++;
		if (c == '$' && ahead(l, 0) == '#')
			l->at++;
		while (is_word(ahead(l, 0)))
			l->at++;
	} else if (c == '"' || c == '\'') {
		quoted(l, &got, c);
	} else {
		punct(l, &got);
	}
	assert(l->at > from);
	got.text.n = l->at - from;
	got.loc = l->base;
	if (l->exact) {
		got.loc.pos += from;
		got.loc.len = (u16)MIN(got.text.n, 0xffffu);
	}
	return ctok_new(l->arena, &got);
}

static u64 escape(struct str s, u32 *at)
{
	static const char names[] = "n\nt\tr\rv\va\ab\bf\f";
	char c = s.s[(*at)++];
	u64 v = 0;
	if (c == 'x') {
		for (; *at < s.n; ++*at) {
			char d = s.s[*at];
			u32 h = is_digit(d) ? (u32)(d - '0')
				: (d | 0x20) >= 'a' && (d | 0x20) <= 'f'
					? (u32)((d | 0x20) - 'a' + 10)
					: 16;
			if (h == 16)
				break;
			v = v * 16 + h;
		}
		return v;
	}
	if (c >= '0' && c <= '7') {
		v = (u64)(c - '0');
		for (u32 i = 0; i < 2 && *at < s.n && s.s[*at] >= '0' && s.s[*at] <= '7'; i++)
			v = v * 8 + (u64)(s.s[(*at)++] - '0');
		return v;
	}
	for (u32 i = 0; i + 1 < sizeof(names) - 1; i += 2)
		if (names[i] == c)
			return (u64)names[i + 1];
	return (u8)c;
}

bool ctok_char(struct str text, u64 *ret)
{
	if (text.n < 3)
		return false;
	struct str s = str_n(text.s + 1, text.n - 2);
	u32 at = 1;
	u64 v = (u8)s.s[0];
	if (s.s[0] == '\\' && s.n > 1)
		v = escape(s, &at);
	*ret = (u64)(i64)(i8)v;
	return at == s.n;
}

bool ctok_number(struct str text, u64 *ret, bool *uns, bool *wide)
{
	u32 nl = 0;
	*uns = *wide = false;
	for (; text.n > 1; text.n--) {
		char c = text.s[text.n - 1] | 0x20;
		if (c == 'u' && !*uns)
			*uns = true;
		else if (c == 'l' && nl < 2)
			nl++;
		else
			break;
	}
	*wide = nl > 0;
	return str_chr(text, '_') < 0 && str_u64(text, ret);
}

/* ---- names ---- */

struct name {
	struct str key;
	void *val;
	struct name *next;
};

static struct name *lookup(const struct names *n, struct str key)
{
	struct name *e = n->bucket[str_hash(key) % countof(n->bucket)];
	while (e && !str_eq(e->key, key))
		e = e->next;
	return e;
}

void *names_get(const struct names *n, struct str key)
{
	const struct name *e = lookup(n, key);
	return e ? e->val : NULL;
}

void names_set(struct names *n, struct arena *a, struct str key, void *val)
{
	struct name *e = lookup(n, key);
	if (!e) {
		struct name **b = &n->bucket[str_hash(key) % countof(n->bucket)];
		e = arena_new(a, struct name);
		e->key = key;
		e->next = *b;
		*b = e;
	}
	e->val = val;
}
