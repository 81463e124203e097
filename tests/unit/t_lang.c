#include "lang/language.h"
#include "test.h"

/* A script, parsed. */
struct parsed {
	struct arena arena;
	struct source source;
	struct diags diags;
	struct node *tree;
};

static void parse(struct parsed *p, const char *text)
{
	*p = (struct parsed){.source = {STR("t"), str_z(text)}};
	p->diags = (struct diags){.arena = &p->arena, .source = &p->source, .nsource = 1};
	p->tree = languages[0]->parse(&p->arena, &p->diags, 0, NULL);
}

static u64 number(const char *text)
{
	u64 v = 0;
	const char *err = NULL;
	if (!languages[0]->number(str_z(text), &v, &err))
		test_fail(__FILE__, __LINE__, err);
	return v;
}

static bool refused(const char *text)
{
	u64 v = 42;
	const char *err = NULL;
	return !languages[0]->number(str_z(text), &v, &err) && err && v == 42;
}

TEST(lang_numbers)
{
	CHECK(number("0") == 0 && number("017") == 15 && number("0x1F") == 31);
	CHECK(number("1e6") == 1000000 && number("1_000") == 1000 && number("0b11") == 3);
	CHECK(number("5ms") == 5000000 && number("10ULL") == 10 && number("0xffull") == 255);
	CHECK(number("18446744073709551615") == UINT64_MAX);
	CHECK(number("0xffffffffffffffff") == UINT64_MAX);
	CHECK(refused("") && refused("x") && refused("-1") && refused("1 ") && refused("_1"));
	CHECK(refused("08") && refused("0x") && refused("1_") && refused("15e2") && refused("1e"));
	CHECK(refused("18446744073709551616") && refused("1e20") && refused("1000000d"));
	CHECK(refused("1lul") && refused("1uu") && refused("1lll") && refused("0x1s"));
}

static bool count(struct node *n, void *arg)
{
	++*(u32 *)arg;
	return n->kind != N_CALL; /* arguments are not visited */
}

TEST(lang_walk)
{
	struct parsed p;
	u32 n = 0;
	parse(&p, "begin { f(1, 2); $x = 3 }");
	node_walk(p.tree, count, &n);
	CHECK(n == 9); /* program probe point block expr call assign var num */
	CHECK(node_count(p.tree->a->c->a) == 2);
	CHECK(node_count(NULL) == 0);
	arena_free(&p.arena);
}

TEST(lang_clone_and_eq)
{
	struct parsed p, q, r;
	parse(&p, "kprobe:f /pid/ { @[1, 0x10] = $x++ + (args->y); let $z : int8 = 1; }");
	parse(&q, "kprobe:f\n/pid/ {\n@[1,16]=($x++)+args.y; let $z:int8 = 1 }");
	parse(&r, "kprobe:f /pid/ { @[1, 0x10] = ++$x + args.y; let $z : int8 = 1; }");
	CHECK(!p.diags.nerror && !q.diags.nerror && !r.diags.nerror);
	struct node *copy = node_clone(&p.arena, p.tree);
	CHECK(copy != p.tree && copy->a != p.tree->a && node_eq(copy, p.tree));
	CHECK(node_eq(p.tree, q.tree)); /* spelling and places do not count */
	CHECK(!node_eq(p.tree, r.tree));
	CHECK(!node_eq(p.tree, NULL) && node_eq(NULL, NULL));
	arena_free(&p.arena);
	arena_free(&q.arena);
	arena_free(&r.arena);
}

TEST(lang_places_of_names)
{
	struct parsed p;
	parse(&p, "begin { let $a = 1; for $b : 0..2 { } }");
	struct node *n = p.tree->a->c->a;
	CHECK(n->kind == N_LET && n->num == 12);
	CHECK(n->next->kind == N_FOR && n->next->num == 24);
	arena_free(&p.arena);
}

TEST(lang_errors_are_bounded)
{
	struct parsed p;
	static char text[20000];
	memset(text, '}', sizeof(text) - 1);
	parse(&p, text);
	CHECK(p.diags.nerror > 1 && p.diags.nerror <= 50);
	CHECK(p.tree->kind == N_PROGRAM && !p.tree->a);
	arena_free(&p.arena);
}

TEST(lang_empty)
{
	struct parsed p;
	parse(&p, "");
	CHECK(p.tree->kind == N_PROGRAM && !p.tree->a && !p.diags.nerror);
	arena_free(&p.arena);
	parse(&p, "// only a comment");
	CHECK(!p.tree->a && !p.diags.nerror);
	arena_free(&p.arena);
}

TEST(lang_token_text)
{
	CHECK_STR(token_text(TK_SHLEQ), "<<=");
	CHECK_STR(token_text(TK_UNROLL), "unroll");
	CHECK_STR(token_text(TK_EOF), "end of script");
}

TEST(lang_by_name)
{
	for (const struct language *const *l = languages; *l; l++) {
		char file[64];
		snprintf(file, sizeof(file), "dir/a%s", (*l)->ending);
		CHECK(language_by_ending(str_z(file)) == *l); /* no two have the same ending */
		CHECK(language_of(str_z(file)) == *l);
	}
	CHECK(!language_by_ending(STR("stdin")));
	CHECK(!language_by_ending(STR("a.bt/b.h")));
	CHECK(language_of(STR("stdin")) == languages[0]);
}
