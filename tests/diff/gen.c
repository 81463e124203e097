/* gen SEED NUMBER [COUNT [ONLY...]]: writes COUNT (1) valid programs, from NUMBER on, whose output is the
 * same wherever they are run, as one script: a tracer takes longer to start than to run them. ONLY: just
 * these, counted from 0; each is what it is among all.
 *
 * A program is some snippets; each makes its own variables and maps, so any may stand beside any.
 * What the two tracers are known to do differently (accepted.txt) is avoided here: signed division
 * and right shifts of negative values, the order of equal or narrow values in maps. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PICK(a)  ((a)[below(COUNT(a))])

static uint64_t state;

static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
	return rnd() % n;
}

/* True in N of 100 cases. */
static bool chance(unsigned n)
{
	return below(100) < n;
}

/* Text is never freed: a program is small. */
__attribute__((format(printf, 1, 2))) static const char *text(const char *format, ...)
{
	char *s;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

static bool json, c_types;
static int depth = 1;
static FILE *out, *definitions;

/* One line of the program, indented. */
__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
	va_list ap;

	for (int i = 0; i < depth; i++)
		fputc('\t', out);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputc('\n', out);
}

static void open(const char *head)
{
	line("%s {", head);
	depth++;
}

static void close(void)
{
	depth--;
	line("}");
}

/* Names are never used twice; a program of several has its own. */
static int named, program;
static const char *name(char kind)
{
	return text("%c%c%d_%d", kind, kind == '$' ? 'v' : 'm', program, ++named);
}

/* -------- integers -------- */

struct var {
	const char *name;
	const char *type; /* NULL: inferred */
};

static struct var vars[64];
static int n_vars;

static const char *const int_types[] = {"int8",  "int16",  "int32",  "int64",
					"uint8", "uint16", "uint32", "uint64"};
static const char *const words[] = {"a", "bc", "def", "abc", "x y", "longer word", "", "abd", "Z"};

static const char *number(void)
{
	static const char *const edges[] = {
		"0",
		"1",
		"127",
		"128",
		"255",
		"256",
		"32767",
		"32768",
		"65535",
		"65536",
		"-1",
		"-128",
		"-129",
		"-32769",
		"2147483647",
		"0xff",
		"2147483648",
		"4294967295",
		"4294967296",
		"-2147483648",
		"1e6",
		"1_000",
		"017",
		"9223372036854775807",
		"-2147483649",
		"0x7f",
		"3ms",
		"-300",
		"1234567890123",
		"0x1234567890",
		"10us",
		"5",
		"42u",
		"7ll",
		"(uint64)18446744073709551615",
	};

	switch (below(4)) {
	case 0: return PICK(edges);
	case 1: return text("%d", (int)below(2000) - 1000);
	case 2: return text("%u", below(100));
	}
	return text("%ld", (long)(rnd() >> (1 + below(60))) * (chance(30) ? -1 : 1));
}

static const char *cond(int level);

/* An integer expression. */
static const char *expr(int level)
{
	static const char *const ops[] = {"+", "-", "*", "&", "|", "^"};
	const char *a;

	if (level <= 0 || chance(15)) {
		if (n_vars && chance(75))
			return vars[below(n_vars)].name;
		if (chance(40))
			return text("(%s)%s", PICK(int_types), number());
		return number();
	}
	a = expr(level - 1);
	switch (below(16)) {
	case 0:
	case 1: return text("(%s)(%s)", PICK(int_types), a);
	case 2: return text("~(%sint64)(%s)", chance(50) ? "u" : "", a);
	case 3: return text("-(%sint64)(%s)", chance(50) ? "u" : "", a);
	case 4: return text("(%s ? %s : %s)", cond(level - 1), a, expr(level - 1));
	case 5:
		return text("((uint64)(%s) / ((uint64)(%s)%s))", a, expr(level - 1),
			    json ? " | 1" : "");
	case 6: return text("((uint64)(%s) %% %u)", a, 1 + below(1000));
	case 7: return text("((uint%u)(%s) >> %u)", 8U << below(4), a, below(64));
	case 8: return text("((%s) << %u)", a, below(64));
	case 9: return text("((uint64)(%s) >> ((uint64)(%s) & 63))", a, expr(level - 1));
	case 10: return text("(%s) + (%s)", a, cond(level - 1));
	case 11: return text("(((%s) & 0xffff) / %u)", a, 1 + below(300));
	}
	return text("(%s %s %s)", a, PICK(ops), expr(level - 1));
}

/* A condition: bool. */
static const char *cond(int level)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};
	const char *a;

	if (level > 0) {
		switch (below(8)) {
		case 0: return text("(%s && %s)", cond(level - 1), cond(level - 1));
		case 1: return text("(%s || %s)", cond(level - 1), cond(level - 1));
		case 2: return text("!(%s)", cond(level - 1));
		case 3: return text("(bool)(%s)", expr(level - 1));
		}
	}
	a = expr(level - 1);
	return text("(%s %s %s)", a, PICK(ops), chance(10) ? a : expr(level - 1));
}

/* Prints a value in one of the ways. */
static void show(const char *value, bool integer)
{
	static const char *const formats[] = {"%s", "%ld", "%lu", "%lx", "%d", "%u", "%lld", "%hd"};
	int n = ++named;

	switch (below(4)) {
	case 0: line("print(%s);", value); break;
	case 1: line("print((\"p%d\", %s));", n, value); break;
	case 2: line("printf(\"p%d %s\\n\", %s);", n, integer ? PICK(formats) : "%s", value); break;
	case 3: line("%s = %s;", name('@'), value); break;
	}
}

static void make_vars(int n)
{
	n_vars = 0;
	while (n-- > 0) {
		struct var *v = &vars[n_vars];
		const char *value = expr(n_vars ? 1 : 0);

		v->type = chance(60) ? PICK(int_types) : NULL;
		v->name = NULL;
		const char *to = name('$');
		if (!v->type)
			line("%s = %s;", to, value);
		else if (chance(50))
			line("%s = (%s)(%s);", to, v->type, value);
		else
			line("let %s : %s = (%s)(%s);", to, v->type, v->type, value);
		v->name = to;
		n_vars++;
	}
}

static void change_var(void)
{
	static const char *const ops[] = {"+=", "-=", "*=", "&=", "|=", "^="};
	struct var *v = &vars[below(n_vars)];

	if (v->type)
		line("%s = (%s)(%s);", v->name, v->type, expr(2));
	else if (chance(20))
		line("%s%s;", v->name, chance(50) ? "++" : "--");
	else if (chance(50))
		line("%s %s %s;", v->name, PICK(ops), expr(1));
	else
		line("%s = %s;", v->name, expr(2));
}

static void s_expressions(void)
{
	make_vars(1 + below(4));
	for (int i = 2 + below(4); i; i--) {
		if (chance(25))
			change_var();
		show(chance(75) ? expr(1 + below(4)) : cond(1 + below(3)), true);
	}
	if (chance(50))
		line("print(sizeof(%s));", vars[0].name);
}

static void s_literals(void)
{
	n_vars = 0;
	for (int i = 2 + below(3); i; i--)
		show(chance(50) ? number()
				: text("%d %c %d", (int)below(200) - 100, "+-*&|^"[below(6)],
				       (int)below(200) - 100),
		     true);
	if (chance(50))
		line("print(%s ? \"yes\" : \"no\");", cond(1));
	if (chance(30))
		line("print((%d / %d, %d %% %d, %d >> %d, %d << %d));", (int)below(100) - 50,
		     1 + below(9), (int)below(100) - 50, 1 + below(9), below(1000), below(8),
		     below(100), below(8));
}

/* -------- statements -------- */

static void s_branches(void)
{
	make_vars(2);
	const char *r = name('$');

	line("let %s;", r);
	open(text("if (%s)", cond(2)));
	line("%s = %s;", r, expr(2));
	close();
	open(text("if (%s)", cond(1)));
	line("%s = %s;", r, expr(1));
	if (chance(50)) {
		depth--;
		open(text("} else if (%s)", cond(1)));
		line("%s = %s;", r, expr(1));
	}
	depth--;
	open("} else");
	line("%s = %s;", r, expr(1));
	close();
	show(r, true);
	line("%s = if (%s) { %s } else { %s };", name('$'), cond(1), expr(1), expr(1));
	if (chance(50))
		line("print({ let %s = %s; %s });", "$in", expr(1), "$in + 1");
	if (chance(50)) {
		n_vars = 2;
		show(text("%s ? : %s", vars[0].name, vars[1].name), true);
	}
}

static void s_loops(void)
{
	const char *sum = name('$'), *i = name('$');

	make_vars(1);
	line("%s = (int64)0;", sum);
	switch (below(4)) {
	case 0: open(text("for %s : %u..%u", i, below(4), below(12))); break;
	case 1:
		line("%s = 0;", i);
		open(text("while (%s < %u)", i, 2 + below(9)));
		line("%s++;", i);
		break;
	case 2:
		line("%s = %u;", i, below(4));
		open(text("unroll (%u)", 1 + below(8)));
		line("%s++;", i);
		break;
	case 3: open(text("for (%s : (%d)..(%u + 3))", i, -(int)below(5), below(8))); break;
	}
	vars[n_vars++] = (struct var){i, "int64"};
	line("%s += (int64)(%s);", sum, expr(2));
	if (chance(30))
		line("printf(\"%%d \", %s);", i);
	if (chance(30))
		line("print((%s, %s));", i, expr(1));
	close();
	n_vars = 0;
	show(sum, true);
}

static void s_jumps(void)
{
	const char *sum = name('$'), *i = name('$');

	line("%s = 0;", sum);
	open(text("for %s : 0..%u", i, 3 + below(10)));
	line("if (%s == %u) { continue; }", i, below(6));
	line("if (%s > %u) { break; }", i, 4 + below(5));
	line("%s += %s;", sum, i);
	if (chance(50)) {
		const char *j = name('$');

		open(text("for %s : 0..%s", j, i));
		line("if (%s == 2) { break; }", j);
		line("%s = %s * 2 + %s;", sum, sum, j);
		close();
	}
	close();
	line("print(%s);", sum);
}

/* -------- strings, tuples, records, buffers -------- */

static const char *word(void)
{
	const char *w = PICK(words);

	return text("\"%s\"", json && strchr(w, ' ') ? "q" : w);
}

static void s_strings(void)
{
	const char *a = name('$'), *b = name('$');

	line("%s = %s;", a, word());
	if (chance(40))
		line("%s = %s;", a, word());
	line("%s = str(\"%s\");", b, PICK(words));
	for (int i = 2 + below(4); i; i--) {
		const char *s = chance(50) ? a : b;

		switch (below(14)) {
		case 0: line("print(%s == %s);", s, word()); break;
		case 1: line("print((%s, %s != %s));", s, a, b); break;
		case 2: line("print(strlen(%s));", s); break;
		case 3: line("print(str_concat(%s, %s));", a, b); break;
		case 4: line("print(strcontains(%s, \"%s\"));", s, chance(50) ? "b" : "ng"); break;
		case 5: line("print(strncmp(%s, %s, %u));", a, b, 1 + below(4)); break;
		case 6:
			line("printf(\"[%%%s%us] %%s\\n\", %s, %s);", chance(50) ? "-" : "",
			     below(14), a, b);
			break;
		case 7: line("print(%s ? %s : %s);", cond(0), a, b); break;
		case 8: line("%s[%s] = %s;", name('@'), a, b); break;
		case 9: line("%s = %s;", name('@'), s); break;
		case 10: line("print(strstr(%s, \"b\"));", s); break;
		case 11: line("print(%s + 1);", "\"hello\""); break;
		case 12:
			line("if (%s == %s) { print(\"same\"); } else { print(\"other\"); }", a,
			     word());
			break;
		case 13: line("print((%s, %s, 1, %s));", b, word(), a); break;
		}
	}
}

/* A value of any printable kind. */
static const char *value(int level)
{
	switch (below(level > 0 ? 8 : 4)) {
	case 0: return word();
	case 1: return cond(0);
	case 2:
	case 3: return expr(1);
	case 4: return text("(%s, %s)", value(level - 1), value(level - 1));
	case 5: return text("(%s, %s, %s)", value(0), value(level - 1), value(0));
	case 6: return text("(a=%s, bb=%s)", value(level - 1), value(0));
	}
	return text("(%s,)", value(0));
}

static void s_tuples(void)
{
	const char *t = name('$');

	make_vars(2);
	line("%s = (%s, %s, %s);", t, expr(1), word(), value(1));
	line("print(%s);", t);
	switch (below(4)) {
	case 0: line("print(%s.%u);", t, below(3)); break;
	case 1: line("print((%s.2, %s.0 + 1));", t, t); break;
	case 2: line("%s[%s.0, %s.1] = %s;", name('@'), t, t, expr(1)); break;
	case 3: line("%s[%s] = %s;", name('@'), t, word()); break;
	}
	show(value(2), false);
	line("print(%s);", value(2));
	if (chance(50)) {
		const char *w = name('$');

		line("%s = (%s, %s);", w, number(), word());
		line("print(%s);", w);
		line("%s = (%s, %s);", w, number(), word());
		line("print((%s, %s.1, sizeof(%s)));", w, w, w);
	}
	if (chance(30)) {
		const char *a = expr(0), *b = expr(0);

		line("print((%s, %s) == (%s, %s));", a, b, a, chance(50) ? b : a);
	}
}

static void s_records(void)
{
	const char *r = name('$');

	make_vars(1);
	line("%s = (num=%s, name=%s, in=(q=%s));", r, expr(1), word(), value(0));
	if (chance(50))
		line("print(%s);", r);
	line("print((%s.name, %s.num));", r, r);
	if (chance(50))
		line("print(%s.in.q);", r);
	if (chance(50))
		line("%s[%s.num] = %s;", name('@'), r, r);
	if (chance(30))
		line("print(%s.num == %s.num);", r, r);
	if (chance(30))
		line("%s = (num=%s, name=%s, in=%s.in);", r, expr(1), word(), r);
	show(r, false);
}

static void s_bytes(void)
{
	const char *a = name('$');

	switch (below(5)) {
	case 0:
		line("%s = (uint8[4])(uint32)%u;", a, (unsigned)rnd());
		line("print(%s); print(%s[%u]); print((uint32)%s);", a, a, below(4), a);
		if (chance(50))
			line("%s[%s] = 1;", name('@'), a);
		break;
	case 1:
		line("%s = (int16[4])(uint64)%lu;", a, (unsigned long)rnd() >> 1);
		line("print((%s, %s[%u]));", a, a, below(4));
		break;
	case 2:
		line("print(buf(\"ab\\x%02xc\", %u));", 1 + below(json ? 127 : 255), 1 + below(4));
		line("printf(\"%%r %%rx %%rh\\n\", buf(\"a b\\xff\", 4), buf(\"xyz\", 2), "
		     "buf(\"\\n12\", 3));");
		break;
	case 3:
		line("%s = buf(\"%s\", 3);", a, chance(50) ? "abc" : "xyz");
		line("%s[%s] = %s;", name('@'), a, a);
		break;
	case 4:
		line("%s = (uint64)%lu;", a, (unsigned long)rnd());
		line("print((bswap((uint16)%s), bswap((uint32)%s), bswap(%s)));", a, a, a);
		break;
	}
}

static void s_network(void)
{
	switch (below(5)) {
	case 0: line("print(ntop((uint32)%u));", (unsigned)rnd()); break;
	case 1:
		line("printf(\"%%s|%%20s|\\n\", ntop(2, (uint32)%u), ntop(pton(\"::%x\")));",
		     (unsigned)rnd(), below(65536));
		break;
	case 2:
		line("%s[ntop(pton(\"10.%u.0.%u\"))] = 1;", name('@'), below(256), below(256));
		break;
	case 3: line("print(pton(\"%u.2.3.%u\"));", below(256), below(256)); break;
	case 4: line("print(ntop(pton(\"fe80::%x:%x\")));", below(65536), below(65536)); break;
	}
}

static void s_time(void)
{
	static const char *const formats[] = {"%F", "%Y/%m/%d %H", "%j %a", "%b %e %y"};

	line("print(strftime(\"%s\", (uint64)%u * 1000000000));", PICK(formats), below(100000000));
	if (chance(50))
		line("printf(\"at %%s.\\n\", strftime(\"%s\", %u));", PICK(formats),
		     below(1000000000));
}

/* -------- maps -------- */

static const char *key(int kind, int n)
{
	static const char *const letters[] = {"a", "b", "cc", "ddd", "ee"};

	switch (kind) {
	case 0: return text("%d", n * 7 - 10);
	case 1: return text("\"%s\"", letters[n]);
	case 2: return text("%d, \"%s\"", n % 2, letters[n]);
	case 3: return text("(uint16)%d, (%d, \"x\")", n, -n);
	case 4: return text("(int64)%d", n * 1000000007 - 5);
	}
	return text("(k=\"%s\", n=%d)", letters[n], n);
}

static void s_scalars(void)
{
	const char *m = name('@');

	make_vars(2);
	line("%s = %s;", m, chance(50) ? expr(1) : text("(%s)(%s)", PICK(int_types), expr(1)));
	switch (below(6)) {
	case 0: line("%s++;", m); break;
	case 1: line("%s += %s;", m, expr(1)); break;
	case 2: line("print((%s, %s++, %s));", m, m, m); break;
	case 3: line("%s = %s * 3;", m, m); break;
	case 4: line("--%s;", m); break;
	case 5: line("if (%s > %s) { %s = 1; }", m, expr(0), m); break;
	}
	if (chance(40))
		line("print(%s);", m);
	if (chance(20))
		line("delete(%s);", m);
	else if (chance(20))
		line("clear(%s);", m);
	else if (chance(20))
		line("zero(%s);", m);
	if (chance(40))
		line("print(%s);", m);
}

static void s_keyed(void)
{
	const char *m = name('@');
	int kind_of_value = below(4), kind = below(kind_of_value < 2 ? 6 : 5), n = 2 + below(4);

	for (int i = 0; i < n; i++) {
		const char *v = NULL;
		switch (kind_of_value) {
		case 0: v = text("(int64)%d", i * 13 - 20 + (int)below(10)); break;
		case 1: v = text("(uint64)%d", (n - i) * 13 + below(10)); break;
		case 2: v = word(); break;
		case 3: v = text("(%s, %d)", word(), i - 2); break;
		}
		line("%s[%s] = %s;", m, key(kind, i), v);
	}
	if (kind_of_value < 2 && chance(50))
		line("%s[%s]++;", m, key(kind, below(n)));
	if (kind_of_value < 2 && chance(30))
		line("%s[%s] += %u;", m, key(kind, 0), 1000 + below(100));
	if (kind_of_value < 2 && chance(30))
		line("print(%s[%s] + 1);", m, key(kind, 1));
	if (chance(30))
		line("print(%s[%s]);", m, key(kind, 1));
	if (chance(30))
		line("print((len(%s), has_key(%s, (%s)), has_key(%s, (%s))));", m, m, key(kind, 0),
		     m, key(kind, 4));
	if (chance(30)) {
		line("print(delete(%s, (%s)));", m, key(kind, below(5)));
		line("print(len(%s));", m);
	}
	if (chance(20) && kind == 1)
		line("delete(%s[%s]);", m, key(kind, 0));
	if (chance(25)) {
		const char *c = name('$'), *kv = name('$');

		line("%s = 0;", c);
		line("for %s : %s { %s += 1 + %s; }", kv, m, c,
		     kind == 0           ? text("%s.0", kv)
		     : kind_of_value < 2 ? text("%s.1", kv)
					 : "5");
		line("print(%s);", c);
	}
	if (chance(40))
		line("print(%s);", m);
	if (chance(30))
		line("print(%s, %u);", m, 1 + below(3));
	if (kind_of_value < 2 && chance(30))
		line("print(%s, %u, %u);", m, below(4), 1 + below(5));
	if (chance(20))
		line("clear(%s);", m);
}

static void s_counts(void)
{
	const char *m = name('@');
	int keys = chance(30) ? 0 : 1 + below(4), kind = below(6);
	static const char *const aggs[] = {"count", "sum", "min", "max", "avg", "stats"};
	const char *agg = PICK(aggs);
	const char *cast = chance(30) ? "(uint64)" : chance(30) ? "(int64)" : "";
	bool negative = !strchr(cast, 'u') && *cast && chance(40) && agg[0] != 'm';
	int top = below(5), divide = 1 + below(4);

	for (int k = 0; k < (keys ? keys : 1); k++) {
		const char *at = keys ? text("%s[%s]", m, key(kind, k)) : m;

		for (int i = 1 + k + (keys ? 0 : below(3)); i > 0; i--) {
			if (!strcmp(agg, "count"))
				line("%s = count();", at);
			else
				line("%s = %s(%s%d);", at, agg, cast,
				     (negative && chance(60) ? -1 : 1) *
					     (int)(k * 1000 + i * 10 + below(9)));
		}
	}
	const char *first = keys ? text("%s[%s]", m, key(kind, 0)) : m;
	if (strcmp(agg, "stats") && chance(50)) {
		line("print((int64)%s);", first);
		if (chance(50))
			line("if (%s > %u) { print(\"more\"); } else { print(%s + 1); }", first,
			     below(20), first);
	}
	if (strcmp(agg, "stats") && chance(30))
		line("print(%s);", first);
	if (keys && !negative && chance(50))
		line(chance(50) ? "print(%s, %d, %d);" : "print(%s, %d);", m, top, divide);
	if (chance(30))
		line("print(%s);", m);
	if (chance(20)) {
		line("%s(%s);", keys > 1 || chance(50) ? "clear" : "zero", m);
		line("print(%s);", m);
	} else if (keys && chance(20)) {
		line("delete(%s, (%s));", m, key(kind, 0));
	}
}

static void s_histograms(void)
{
	const char *m = name('@'), *i = name('$');
	bool linear = chance(40), keyed = chance(50);
	int low = chance(60) ? 0 : below(100), step = 1 + below(chance(80) ? 20 : 2000);
	const char *rest =
		linear       ? text(", %d, %d, %d", low, low + step * (1 + (int)below(12)), step)
		: chance(60) ? text(", %u", below(6))
			     : "";
	int factor = 1 + below(chance(70) ? 9 : 100000), less = chance(30) ? below(40) : 0;
	const char *argument = chance(20)   ? text("(uint64)1 << (%s * 3)", i)
			       : chance(20) ? text("(int64)%s * %s * %s", i, i, i)
					    : text("%s * %d - %d", i, factor, less);
	const char *call = text("%s(%s%s)", linear ? "lhist" : "hist", argument, rest);

	open(text("for %s : %u..%u", i, below(3), 3 + below(20)));
	if (keyed) {
		line("%s[\"all\"] = %s;", m, call);
		line("if (%s %% 3 == 0) { %s[\"third\"] = %s; }", i, m, call);
	} else {
		line("%s = %s;", m, call);
	}
	close();
	if (chance(40))
		line("print(%s);", m);
	if (chance(30) && !linear)
		line("print(%s, %u, %u);", m, keyed ? below(3) : 0, 1 + below(3));
	if (chance(20) && keyed)
		line("print(%s, 1);", m);
	if (chance(15)) {
		line("%s(%s);", chance(70) ? "clear" : "zero", m);
		line("print(%s);", m);
	}
}

/* -------- printf -------- */

static void s_printf(void)
{
	static const char *const lengths[] = {"", "", "l", "ll", "h", "hh", "z", "j"};
	char format[256] = "";
	const char *arguments = "";

	make_vars(2);
	for (int i = 1 + below(4); i; i--) {
		const char *piece, *argument = expr(1), *length = PICK(lengths);

		switch (below(10)) {
		case 0:
		case 1:
			piece = text("%%%s%s%s%c",
				     chance(30)   ? "-"
				     : chance(20) ? "+"
						  : "",
				     chance(60) ? text("%u", 1 + below(24)) : "", length,
				     "di"[below(2)]);
			break;
		case 2:
			piece = text("%%%s%s%su",
				     chance(30)   ? "-"
				     : chance(30) ? "0"
						  : "",
				     chance(60) ? text("%u", 1 + below(24)) : "", length);
			break;
		case 3:
			piece = text("%%%s%s%s%c",
				     chance(30)   ? "-"
				     : chance(30) ? "0"
				     : chance(30) ? "#"
						  : "",
				     chance(60) ? text("%u", 1 + below(24)) : "", length,
				     "xXo"[below(3)]);
			break;
		case 4:
			piece = "%c";
			argument = text("(65 + (%s & 15))", argument);
			break;
		case 5:
			piece = text("%%%s%us", chance(50) ? "-" : "", 1 + below(12));
			argument = chance(50) ? word() : argument;
			break;
		case 6:
			piece = "%s";
			argument = value(2);
			break;
		case 7: piece = text("%%%sp", chance(30) ? "20" : ""); break;
		case 8:
			piece = chance(50) ? "%d" : "%s";
			argument = cond(1);
			break;
		default:
			piece = chance(30) ? "100%%" : "x\\ty";
			argument = NULL;
			break;
		}
		strcat(strcat(format, chance(50) ? " " : "|"), piece);
		if (argument)
			arguments = text("%s, %s", arguments, argument);
	}
	line("printf(\"%s\\n\"%s);", format, arguments);
}

/* -------- C types -------- */

static int struct_count;

/* What each program of some has: a struct with a bit of everything, an enum, a constant. */
static void define_types(void)
{
	fprintf(definitions,
		"#define GEN_LIMIT%d %d\n"
		"struct gen_in%d { char b; %s l; };\n"
		"struct gen_a%d { %s c; short s; unsigned int u; int low : %u; unsigned int "
		"high : %u;\n"
		"\tstruct gen_in%d in; unsigned char pair[2]; };\n"
		"enum gen_e%d { GEN_ZERO%d, GEN_FIVE%d = 5, GEN_SIX%d, GEN_BIG%d = %u };\n\n",
		program, (int)below(1000) - 500, program, chance(50) ? "long" : "int", program,
		chance(50) ? "char" : "unsigned char", 1 + below(12), 1 + below(12), program,
		program, program, program, program, program, 100 + below(100000));
}

static void s_structs(void)
{
	const char *p = name('$');

	if (!c_types)
		return;
	line("%s = (struct gen_a%d *)(kaddr(\"vfs_read\") + %u);", p, program, below(40));
	line("print((%s->c, %s->s, %s->u));", p, p, p);
	line("print((%s->low, %s->high, %s->pair));", p, p, p);
	switch (below(5)) {
	case 0: line("print(*%s);", p); break;
	case 1: line("print(%s->in);", p); break;
	case 2: line("%s = *%s;", name('@'), p); break;
	case 3: line("print(%s->pair[%u] + %s->in.l);", p, below(2), p); break;
	case 4: line("%s[%s->in.b] = %s->s;", name('@'), p, p); break;
	}
	line("print((sizeof(struct gen_a%d), offsetof(struct gen_a%d, %s), sizeof(*%s)));", program,
	     program, chance(50) ? "in" : "in.l", p);
}

static void s_enums(void)
{
	static const char *const values[] = {"GEN_ZERO", "GEN_FIVE", "GEN_SIX", "GEN_BIG"};
	const char *e = name('$'), *m = name('@');

	if (!c_types)
		return;
	line("%s = (enum gen_e%d)%s%d;", e, program, PICK(values), program);
	line("print((%s, %s + 1, %s%d));", e, e, PICK(values), program);
	line("printf(\"%%d %%s %%d\\n\", %s, %s, GEN_LIMIT%d);", e, e, program);
	for (int i = below(4); i; i--)
		switch (below(8)) {
		case 0: line("%s[%s] = GEN_LIMIT%d;", name('@'), e, program); break;
		case 1: line("print(%s == %s%d);", e, PICK(values), program); break;
		case 2: line("%s[%s, \"x\"] = %s;", name('@'), e, e); break;
		case 3: line("%s = (%s, %s%d);", name('@'), e, PICK(values), program); break;
		case 4: line("print((%s)%s);", PICK(int_types), e); break;
		case 5: line("%s = %s%d;", name('@'), PICK(values), program); break;
		case 6:
			line("%s[(%s, %d)] = (int64)%d;", m, e, i, i);
			line("%s[(%s, %d)] = (int64)%d;", m, e, 7, 7);
			break;
		case 7: line("print((enum gen_e%d)%u);", program, 5 + below(2)); break;
		}
}

/* A pointer to bytes that are the same for both: code of the kernel, or the names that uname() tells, and
 * how long the text is there. */
static const char *place(const char *type, unsigned int *len)
{
	struct utsname u;
	const char *p = name('$');

	uname(&u);
	if (!json && chance(40)) {
		*len = 0;
		line("%s = (%s *)(kaddr(\"vfs_read\") + %u);", p, type, below(200));
		return p;
	}
	const struct {
		const char *text;
		unsigned int at;
	} names[] = {{u.sysname, 0},   {u.sysname + 2, 2},   {u.release, 130},
		     {u.machine, 260}, {u.machine + 5, 265}, {u.version + 9, 204}};
	unsigned int k = below(COUNT(names) - json); /* the last has a space */

	*len = strlen(names[k].text);
	line("%s = (%s *)((uint64)curtask.nsproxy.uts_ns + offsetof(struct uts_namespace, name) + "
	     "%u);",
	     p, type, names[k].at);
	return p;
}

/* Arrays, bit-fields, texts with and without NUL: each as it is, copied, as keys, as values. Behind a text
 * without NUL there is one: bpftrace takes the next byte, too. A structure without a name is only printed: as
 * a part of a map it costs bpftrace the BTF of the whole script, and then no loop in it loads. */
static void s_layout(void)
{
	static const char *const ints[] = {"char", "unsigned char", "short", "unsigned short",
					   "int",  "unsigned int",  "long",  "unsigned long"};
	int n = ++struct_count;
	unsigned int other = 1 + below(6), more = 1 + below(4), len;
	const char *type = text("struct gen_t%d_%d", program, n), *p = place(type, &len);
	bool chars = len;

	len = !len ? 1 + below(8) : chance(50) ? len : len + 1 + below(5);
	/* Of a bit-field that reaches into a fifth byte bpftrace takes four; signed ones lose their sign there. */
	bool packed = chance(5);
	const char *in = text("struct { short x; signed char y[%u]; }", 1 + below(6));
	bool named_in = chance(80);

	if (named_in) {
		fprintf(definitions, "struct gen_in%d_%d %s;\n", program, n, in + strlen("struct "));
		in = text("struct gen_in%d_%d", program, n);
	}
	fprintf(definitions, "%s {\n\t%s a[%u];\n\t%s b;\n\tunsigned char c[%u];\n", type,
		chars ? "char" : "unsigned char", len, PICK(ints), other);
	fprintf(definitions, "\tunsigned int d : %u, e : %u;\n\tunsigned int f : %u;\n\tunsigned long g : %u;\n",
		1 + below(20), 1 + below(12), 1 + below(packed ? 25 : 31), 1 + below(40));
	fprintf(definitions, "\t%s in;\n", in);
	fprintf(definitions, "\t%s h[%u];\n\tunion { int i; unsigned char j[4]; };\n",
		ints[1 + below(COUNT(ints) - 1)], more);
	fprintf(definitions, "}%s;\n", packed ? " __attribute__((packed))" : "");

	static const char *const members[] = {"a",    "b", "c", "d",  "e", "f", "g", "in.x",
					      "in.y", "i", "j", "in", "a", "a", "h"};
	const char *s = p, *arrow = "->", *m = name('@');

	if (chance(30)) {
		s = name('$');
		arrow = ".";
		line("%s = *%s;", s, p);
	} else if (named_in && chance(20)) {
		s = name('@');
		arrow = ".";
		line("%s = *%s;", s, p);
	}
	for (int i = 2 + below(4); i; i--) {
		const char *x = text("%s%s%s", s, arrow, PICK(members)),
			   *y = text("%s%s%s", s, arrow, PICK(members));

		if (!named_in) {
			line(chance(50) ? "print(%s);" : "print((%s, 1));", x);
			continue;
		}
		switch (below(16)) {
		case 0: line("print(%s);", x); break;
		case 1: line("print((%s, %s));", x, y); break;
		case 2: line("%s = %s;", name('@'), x); break;
		case 3: line("%s[%s] = %s;", name('@'), x, y); break;
		case 4: line("%s[%s, %s] = %d;", name('@'), x, y, i); break;
		case 5: line("%s[1, (%s, 2)] = (%s, \"x\");", name('@'), x, y); break;
		case 6:
			if (chars)
				line("print(str(%s%sa%s));", s, arrow,
				     chance(50) ? text(", %u", 1 + below(10)) : "");
			break;
		case 7: line("print(buf(%s%sa, %u));", s, arrow, 1 + below(len)); break;
		case 8:
			line("printf(\"%%d|%%s\\n\", %s%sf, %s%s%s);", s, arrow, s, arrow,
			     chance(50) ? "a" : "in.y");
			break;
		case 9:
			line("print((%s%sa[%u], 1));", s, arrow, below(len));
			if (chars)
				line("print(%s%sa == \"Linux\");", s, arrow);
			break;
		case 10:
			line("print((%s%sd + %s%se, -%s%sf, (uint8)%s%sg));", s, arrow, s, arrow, s,
			     arrow, s, arrow);
			break;
		case 11: line("print((sizeof(%s%sc), sizeof(%s%sh)));", s, arrow, s, arrow); break;
		case 12:
			line("%s[%s%sa] = count();", m, s, arrow);
			line("%s[%s%sa] = count();", m, s, arrow);
			break;
		case 13: line("%s = (k=%s, v=%s);", name('@'), x, y); break;
		case 14: line("print(*%s);", p); break;
		case 15:
			line("print((offsetof(%s, %s), sizeof(%s)));", type, PICK(members), type);
			break;
		}
	}
}

/* Values are stored where those of other widths were before. */
static void s_conversions(void)
{
	const char *a = name('$'), *m = name('@');

	switch (below(7)) {
	case 0:
		line("%s = (%s, (%s)%d);", m, word(), PICK(int_types), (int)below(200) - 100);
		line("print(%s);", m);
		break;
	case 1:
		line("%s[1] = (int8)%d;", m, (int)below(250) - 125);
		line("%s[2] = (int64)%d;", m, (int)below(250000) - 125000);
		break;
	case 2:
		line("%s = (bool)%u;", a, below(3));
		line("print((%s, (int8)%s, %s + 1, !%s));", a, a, a, a);
		break;
	case 3:
		line("%s = (uint8[8])(uint64)%lu;", a, (unsigned long)rnd());
		line("print((uint64)%s == 0); print((%s, 1)); %s[(%s, 1)] = (%s, %s);", a, a, m, a,
		     a, word());
		break;
	case 4:
		line("%s = \"%.*s\";", a, (int)below(10), "abcdefghij");
		line("%s[(%s, 1)] = (%s, %s); %s[(\"longer-than-it\", 1)] = (%s, %s);", m, a, a,
		     word(), m, a, a);
		break;
	case 5:
		line("%s = buf(\"abcdef\", %u);", a, 1 + below(6));
		line("%s[%s, 1] = (%s, 2); print((%s, %s));", m, a, a, a, word());
		break;
	case 6:
		line("%s = (%s)(%s)%s;", a, PICK(int_types), PICK(int_types), number());
		line("%s[%s] = (%s, (%s)%s); print((uint64)%s);", m, a, a, PICK(int_types), a, a);
		break;
	}
}

/* What a time series is made of; when it was does not show. */
static void s_series(void)
{
	static const char *const aggs[] = {"avg", "max", "min", "sum", NULL};
	const char *m = name('@'), *agg = PICK(aggs),
		   *at = chance(40) ? text("%s[%u, \"k\"]", m, below(9)) : m;

	for (int i = 1 + below(3); i; i--)
		line(agg ? "%s = tseries(%d, 1h, %u, \"%s\");" : "%s = tseries(%d, 1h, %u);", at,
		     (int)below(100) - 50, 5, agg);
	line("clear(%s);", m);
}

/* -------- programs -------- */

static void (*const snippets[])(void) = {
	s_expressions, s_expressions, s_expressions, s_literals, s_branches, s_loops,
	s_jumps,       s_strings,     s_tuples,      s_records,  s_bytes,    s_network,
	s_time,        s_scalars,     s_keyed,       s_keyed,    s_counts,   s_counts,
	s_histograms,  s_histograms,  s_printf,      s_printf,   s_structs,  s_enums,
	s_layout,      s_layout,      s_conversions, s_series,
};

static void body(int n)
{
	while (n-- > 0) {
		n_vars = 0;
		PICK(snippets)();
	}
}

/* One program; its definitions have to stand at the head of the script. */
static void one(uint64_t seed, int n)
{
	state = seed;
	for (int i = 0; i < 4; i++)
		rnd();
	program = n;
	named = struct_count = n_vars = 0;
	c_types = chance(35);
	if (c_types)
		define_types();
	fprintf(out, "%s {\n", chance(50) ? "begin" : "BEGIN");
	body(2 + below(6));
	fprintf(out, "}\n");
	if (chance(25)) {
		fprintf(out, "\nend {\n");
		body(1 + below(2));
		fprintf(out, "}\n");
	}
}

/* What a script has once: a child, rounds of an interval, an exit code. */
static void once(uint64_t seed, int count, bool child, int code)
{
	state = seed;
	program = count;
	named = n_vars = 0;
	c_types = false;
	if (code)
		fprintf(out, "begin {\n\texit(%d);\n}\n", code);
	if (!child && !chance(40))
		return;
	fprintf(out, "\n%s {\n", chance(50) ? "interval:ms:5" : "interval:5ms");
	line("@rounds++;");
	open("if (@rounds == 3)");
	body(1);
	line("exit();");
	close();
	fprintf(out, "}\n\nend {\n\tclear(@rounds);\n}\n");
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: gen SEED NUMBER [COUNT [ONLY...]]\n");
		return 2;
	}
	uint64_t seed = strtoull(argv[1], NULL, 0) * 1000003 + strtoull(argv[2], NULL, 0);
	int count = argc > 3 ? atoi(argv[3]) : 1;
	char *defined, *written;
	size_t n_defined, n_written;

	state = seed;
	for (int i = 0; i < 4; i++)
		rnd();
	json = chance(25);
	bool child = chance(8);
	int code = chance(5) && !child ? below(chance(50) ? 4 : 256) : 0;
	if (json)
		printf("// ARGS -f json\n");
	if (child)
		printf("// LOAD sleep 5\n");
	if (code)
		printf("// RC %d\n", code);
	definitions = open_memstream(&defined, &n_defined);
	out = open_memstream(&written, &n_written);
	for (int i = 0; i < count; i++) {
		bool wanted = argc < 5;

		for (int k = 4; k < argc; k++)
			wanted |= atoi(argv[k]) == i;
		if (wanted)
			one(seed + i, i);
	}
	once(seed + count, count, child, code);
	fclose(definitions);
	fclose(out);
	printf("%s%sconfig = { unstable_tseries = enable }\n%s", defined, n_defined ? "\n" : "",
	       written);
	return 0;
}
