#include "base/pack.h"
#include "sym/procs.h"
#include "test.h"
#include "unwind/blocks.h"
#include "unwind/copy.h"
#include "unwind/lists.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

struct fixture {
	struct unwind_index *index;
	u32 *rules;
	struct unwind_chunk *chunk[8];
	u32 nchunk;
	u32 asked, reach; /* of the index: what was asked for last, and what there is */
	struct blocks b;
};

static struct err *make_chunk(void *arg, u32 i, struct unwind_chunk **ret)
{
	struct fixture *x = arg;
	if (i < x->nchunk)
		free(x->chunk[i]);
	else
		x->nchunk = i + 1;
	*ret = x->chunk[i] = calloc(1, sizeof(struct unwind_chunk));
	return *ret ? NULL : err_new("no memory");
}

static void open_paged(struct fixture *x, u32 page, u32 max_chunks)
{
	*x = (struct fixture){.index = calloc(1, sizeof(*x->index)),
			      .rules = calloc(UNWIND_RULES, 4)};
	struct blocks_mem mem = {x->index, x->rules, max_chunks, make_chunk, NULL, x, NULL};
	blocks_init(&x->b, page, &mem);
}

static void open_fixture(struct fixture *x, u32 max_chunks)
{
	open_paged(x, 4096, max_chunks);
}

static void close_fixture(struct fixture *x)
{
	blocks_free(&x->b);
	for (u32 i = 0; i < x->nchunk; i++)
		free(x->chunk[i]);
	free(x->index);
	free(x->rules);
}

static struct err *open_self(void *arg, sandbox_fn *fn, struct str args, struct sb *answer)
{
	struct host here = {.recorded = true};
	struct question q = {.path = "/proc/self/exe", .nfile = 1, .args = args};
	u32 *opened = arg;
	++*opened;
	struct err *e = image_find(q.path, &q.file[0]);
	if (!e)
		e = sandbox_ask(&here, fn, &q, answer);
	close(q.file[0].fd);
	sandbox_end(&here);
	return e;
}

static struct err *open_none(void *arg, sandbox_fn *fn, struct str args, struct sb *answer)
{
	(void)arg;
	(void)fn;
	(void)args;
	(void)answer;
	return err_new("nothing leads to it");
}

/* The rows of this program, if it is one of the machine whose rows we know. */
static bool own_rows(struct cfi_rows *ret)
{
	struct image im;
	struct err *e = image_open("/proc/self/exe", &im);
	CHECK(!e);
	err_free(e);
	if (e)
		return false;
	cfi_image(&im, cfi_base(&im) & ~4095ull, ret);
	image_close(&im);
	if (ret->n < 100)
		test_skip("no rows for this machine");
	return ret->n >= 100;
}

static void compare_rules(struct fixture *x, struct ufile *f, const struct cfi_rows *rows, u32 step)
{
	u32 opened = 0, pc, last = f->nblock << UNWIND_BLOCK_BITS;
	for (u32 i = 0; i < rows->n; i += step) {
		pc = rows->v[i].pc;
		if (pc < last)
			CHECK(blocks_rule(&x->b, f, pc, open_self, &opened) == rows->v[i].rule);
		if (pc && pc <= last)
			CHECK(blocks_rule(&x->b, f, pc - 1, open_self, &opened) ==
			      cfi_at(rows, pc - 1));
	}
}

static struct ufile *file_named(struct blocks *b, u64 dev, u64 ino, const char *path)
{
	const struct module m = {.dev = dev, .ino = ino, .path = str_z(path)};
	return blocks_file(b, &m);
}

static struct ufile *own_file(struct fixture *x, u64 ino)
{
	u32 opened = 0, pc;
	struct ufile *f = file_named(&x->b, 1, ino, "/self");
	blocks_pc(&x->b, f, 0, open_self, &opened, &pc);
	CHECK(f->opened && !f->is.bare && f->is.nseg && f->nblock);
	CHECK(blocks_pc(&x->b, f, f->is.seg[0].off, open_none, NULL, &pc));
	CHECK(pc == f->is.seg[0].addr - f->is.base);
	return f;
}

TEST(unwind_blocks_say_what_the_file_says)
{
	struct fixture x;
	struct cfi_rows rows;
	if (!own_rows(&rows))
		return;
	open_fixture(&x, 8);
	compare_rules(&x, own_file(&x, 1), &rows, 1);
	CHECK(!x.b.evicted && x.b.made && x.b.nrule > 10);
	CHECK(!x.b.no_row && !x.b.no_rule && !x.b.no_index);
	close_fixture(&x);
	free(rows.v);
}

TEST(unwind_blocks_are_made_beforehand)
{
	struct fixture x;
	struct cfi_rows rows;
	u32 opened = 0;
	if (!own_rows(&rows))
		return;
	open_fixture(&x, 8);
	struct ufile *f = own_file(&x, 1), *large = own_file(&x, 2);
	if (f->nblock > 512) { /* with sanitizers */
		test_skip("this program is too large for that");
		close_fixture(&x);
		free(rows.v);
		return;
	}
	blocks_early(&x.b, f, open_self, &opened);
	blocks_early(&x.b, f, open_self, &opened);
	CHECK(opened == 1 && x.b.made == f->nblock);
	for (u32 i = 0; i < f->nblock; i++)
		CHECK(x.index->block[f->first + i] & UNWIND_REF);
	compare_rules(&x, f, &rows, 1);
	CHECK(x.b.made == f->nblock);
	struct ufile *whole = file_named(&x.b, 1, 3, "/self");
	opened = 0;
	blocks_early(&x.b, whole, open_self, &opened); /* facts and rows are one question */
	blocks_early(&x.b, whole, open_self, &opened);
	CHECK(opened == 1 && whole->nblock == f->nblock && x.b.made == 2 * f->nblock);
	compare_rules(&x, whole, &rows, 1);
	CHECK(x.b.made == 2 * f->nblock);
	large->nblock = 1 << 16;
	blocks_early(&x.b, large, open_none, NULL);
	CHECK(x.b.made == 2 * f->nblock && !large->first);
	close_fixture(&x);
	free(rows.v);
}

static struct err *map_again(void *arg, u32 i, struct unwind_chunk **ret)
{
	struct fixture *x = arg;
	x->asked++;
	*ret = x->reach ? x->chunk[i] : NULL;
	return *ret ? NULL : err_new("no memory");
}

/* What was written otherwise is mapped when somebody looks at it, or has no rows when it cannot be. */
TEST(unwind_chunks_are_mapped_when_they_are_looked_at)
{
	struct fixture x;
	struct cfi_rows rows;
	u32 opened = 0;
	if (!own_rows(&rows))
		return;
	open_fixture(&x, 8);
	x.b.mem.map = map_again;
	x.reach = 1;
	struct ufile *f = own_file(&x, 1);
	blocks_rule(&x.b, f, 0, open_self, &opened);
	x.b.chunk.v[0] = NULL;
	compare_rules(&x, f, &rows, 1);
	CHECK(x.asked == 1 && !x.b.failed && x.b.chunk.v[0] == x.chunk[0]);
	x.reach = 0;
	x.b.chunk.v[0] = NULL;
	CHECK(blocks_rule(&x.b, f, 0, open_none, NULL) == UNWIND_NONE && x.b.failed);
	CHECK(x.asked == 2);
	close_fixture(&x);
	free(rows.v);
}

static struct err *reach_so_far(void *arg, u32 n)
{
	struct fixture *x = arg;
	x->asked = n;
	return n > x->reach ? err_new("no memory") : NULL;
}

/* The index is asked for before it is written; where there is no more of it, further files have no rows. */
TEST(unwind_index_is_mapped_as_it_fills)
{
	struct fixture x;
	u32 opened = 0;
	open_fixture(&x, 8);
	x.b.mem.reach = reach_so_far;
	struct ufile *f = own_file(&x, 1), *next = own_file(&x, 2);
	if (!f->is.bare && f->nblock && f->nblock <= 512) {
		x.reach = 1 + f->nblock;
		blocks_early(&x.b, f, open_self, &opened);
		CHECK(x.asked == x.reach && f->first == 1 && x.b.made == f->nblock);
		blocks_early(&x.b, next, open_self, &opened);
		CHECK(x.asked == 1 + 2 * f->nblock && !next->first && x.b.failed);
		CHECK(x.b.made == f->nblock);
		CHECK(blocks_rule(&x.b, next, 0, open_none, NULL) == UNWIND_NONE);
	}
	close_fixture(&x);
}

/* A program that asks for block after block has all of them after few questions. */
TEST(unwind_blocks_are_made_with_those_around)
{
	struct fixture x;
	u32 opened = 0, large = 300;
	open_fixture(&x, 8);
	struct ufile *f = own_file(&x, 1);
	f->nblock = large; /* the last ones describe nothing, which is a row, too */
	blocks_rule(&x.b, f, 5 << UNWIND_BLOCK_BITS, open_self, &opened);
	CHECK(opened == 1 && x.b.made == 1);
	blocks_rule(&x.b, f, 6 << UNWIND_BLOCK_BITS, open_self, &opened);
	CHECK(opened == 2 && x.b.made == 3);
	CHECK(x.index->block[f->first + 7] & UNWIND_REF && !x.index->block[f->first + 4]);
	blocks_rule(&x.b, f, 4 << UNWIND_BLOCK_BITS, open_self, &opened);
	CHECK(opened == 3 && x.b.made == 4);
	for (u32 i = 0; i < large; i++)
		blocks_rule(&x.b, f, i << UNWIND_BLOCK_BITS, open_self, &opened);
	CHECK(x.b.made == large && opened <= 3 + 3 + (large + 31) / 32);
	close_fixture(&x);
}

/* A mapping begins where its page does: far before its segment, where pages are large. */
TEST(unwind_blocks_of_files_in_large_pages)
{
	struct fixture x;
	u32 opened = 0, pc = 0, page = 1 << 16;
	open_fixture(&x, 2);
	while (!(own_file(&x, 1)->is.seg[0].off & (page - 1))) /* it begins at a page by chance */
		page *= 2;
	close_fixture(&x);
	open_paged(&x, page, 2);
	struct ufile *f = own_file(&x, 1);
	const struct segment *g = &f->is.seg[0];
	u64 mapped = g->off & ~(page - 1ull);
	CHECK(mapped < g->off && !(f->is.base & (page - 1)));
	CHECK(blocks_pc(&x.b, f, mapped, open_self, &opened, &pc));
	CHECK(f->is.base + pc == g->addr - (g->off - mapped));
	close_fixture(&x);
}

TEST(segments_are_mapped_in_pages)
{
	struct segment g = {.off = 0x11fd0, .filesz = 0x100};
	CHECK(segment_maps(&g, 0x11000, 4096) && segment_maps(&g, 0x12fff, 4096));
	CHECK(!segment_maps(&g, 0x10fff, 4096) && !segment_maps(&g, 0x13000, 4096));
	CHECK(segment_maps(&g, 0x10000, 1 << 16) && segment_maps(&g, 0x1ffff, 1 << 16));
	CHECK(!segment_maps(&g, 0xffff, 1 << 16) && !segment_maps(&g, 0x20000, 1 << 16));
}

TEST(unwind_blocks_make_room)
{
	struct fixture x;
	struct cfi_rows rows;
	if (!own_rows(&rows))
		return;
	/* So many files that their rows (4 bytes each) are three chunks and more, however few tests
	 * this program has. */
	u32 n = 3 * UNWIND_UNITS * UNWIND_UNIT / (4 * rows.n) + 2;
	open_fixture(&x, 2);
	for (u32 round = 0; round < 2; round++)
		for (u64 ino = 1; ino <= n; ino++)
			compare_rules(&x, own_file(&x, ino), &rows, 37);
	CHECK(x.b.evicted > 2 && x.nchunk == 2 && x.b.file.n == n);
	close_fixture(&x);
	free(rows.v);
}

TEST(unwind_blocks_of_a_file_that_cannot_be_opened)
{
	struct fixture x;
	u32 pc;
	open_fixture(&x, 2);
	struct ufile *f = file_named(&x.b, 1, 2, "/gone");
	CHECK(f && f == file_named(&x.b, 1, 2, "/gone"));
	CHECK(!blocks_pc(&x.b, f, 0, open_none, NULL, &pc) && !f->opened);
	for (u64 i = 0; i < UNWIND_FILES; i++)
		file_named(&x.b, 2, i, "/many");
	CHECK(!file_named(&x.b, 2, UNWIND_FILES, "/many") && x.b.no_file);
	close_fixture(&x);
}

/* The file is described, but what is said of its rows cannot be; or not even that. */
static struct err *lie_about_rows(void *arg, sandbox_fn *fn, struct str args, struct sb *answer)
{
	u32 *asked = arg;
	if (!(*asked)++)
		return open_self(asked, fn, args, answer);
	sb_clear(answer);
	sb_pad(answer, '\377', 64);
	return NULL;
}

TEST(unwind_blocks_that_make_no_sense_are_counted)
{
	struct fixture x;
	u32 asked = 0, lies = 1, pc;
	open_fixture(&x, 2);
	struct ufile *f = file_named(&x.b, 1, 1, "/liar"), *g;
	blocks_pc(&x.b, f, 0, lie_about_rows, &asked, &pc);
	CHECK(f->opened && !x.b.no_sense);
	if (!f->is.bare && f->nblock) {
		u32 rule = blocks_rule(&x.b, f, 0, lie_about_rows, &lies);
		u32 then = x.b.no_sense;
		CHECK(unwind_kind(rule) == UNWIND_UNKNOWN && then && lies == 2);
		CHECK(blocks_rule(&x.b, f, 0, lie_about_rows, &lies) == rule && lies == 2);
		CHECK(x.b.no_sense == then);
	}
	u32 before = x.b.no_sense;
	g = file_named(&x.b, 1, 2, "/worse");
	CHECK(!blocks_pc(&x.b, g, 0, lie_about_rows, &lies, &pc) && x.b.no_sense == before + 1);
	u32 told = lies;
	CHECK(!blocks_pc(&x.b, g, 0, lie_about_rows, &lies, &pc) && lies == told);
	close_fixture(&x);
}

/* Two rules, and rows of which some had others. */
static struct err *say_too_many_rules(void *arg, sandbox_fn *fn, struct str args, struct sb *answer)
{
	u32 *asked = arg;
	if (!(*asked)++)
		return open_self(asked, fn, args, answer);
	sb_clear(answer);
	const u32 head[] = {2, 5, unwind_rule(UNWIND_UNKNOWN, 0, 0), unwind_rule(UNWIND_SP, 3, 0)};
	const struct cfi_brief row[] = {{0, 0}, {7, 1}, {9, 0}};
	sb_mem(answer, head, sizeof(head));
	for (u32 i = 0; i < 1024; i++) {
		pack_u32(answer, countof(row));
		sb_mem(answer, row, sizeof(row));
	}
	return NULL;
}

TEST(unwind_rules_that_did_not_fit_are_counted)
{
	struct fixture x;
	u32 asked = 0, pc;
	open_fixture(&x, 2);
	struct ufile *f = file_named(&x.b, 1, 1, "/many");
	blocks_pc(&x.b, f, 0, say_too_many_rules, &asked, &pc);
	if (f->opened && !f->is.bare && f->nblock) {
		CHECK(blocks_rule(&x.b, f, 6, say_too_many_rules, &asked) == UNWIND_UNKNOWN);
		CHECK(blocks_rule(&x.b, f, 7, say_too_many_rules, &asked) ==
		      unwind_rule(UNWIND_SP, 3, 0));
		CHECK(asked == 3 && x.b.no_rule == 5 && x.b.nrule == 2 && !x.b.no_sense);
	}
	close_fixture(&x);
}

/* ---- lists ---- */

static struct unwind_list_chunk *list_chunk[4];
static struct err *make_list_chunk(void *arg, u32 i, struct unwind_list_chunk **ret)
{
	(void)arg;
	*ret = list_chunk[i] = calloc(1, sizeof(struct unwind_list_chunk));
	return *ret ? NULL : err_new("no memory");
}

static void fill(struct unwind_piece *v, u32 n, u64 salt)
{
	for (u32 i = 0; i < n; i++)
		v[i] = (struct unwind_piece){.start = salt + i * 4096,
					     .end = salt + (i + 1) * 4096};
}

TEST(unwind_lists_are_shared_and_their_room_is_used_again)
{
	enum { SECOND = 1000000000 };
	static struct unwind_piece v[UNWIND_PIECES];
	struct lists l = {.mem = {2, make_list_chunk, NULL}};
	fill(v, 100, 1 << 20);
	struct ulist *a = lists_put(&l, v, 100, 1), *b = lists_put(&l, v, 100, 2);
	CHECK(a && a == b && a->refs == 2 && !memcmp(list_chunk[0]->piece, v, 100 * sizeof(*v)));
	fill(v, 50, 2 << 20);
	struct ulist *c = lists_put(&l, v, 50, 3);
	CHECK(c && c != a && c->chunk == 0 && c->first == 100);
	lists_drop(&l, a, 4);
	CHECK(a->refs == 1);
	lists_drop(&l, a, 5);
	fill(v, 40, 3 << 20); /* a program may still read it */
	struct ulist *d = lists_put(&l, v, 40, 6);
	CHECK(d && d->first == 150);
	fill(v, 40, 4 << 20);
	struct ulist *e = lists_put(&l, v, 40, 10ull * SECOND);
	CHECK(e && e->first == 0);
	fill(v, UNWIND_PIECES, 5 << 20);
	struct ulist *whole = lists_put(&l, v, UNWIND_PIECES, 11ull * SECOND);
	CHECK(whole && whole->chunk == 1 && whole->first == 0);
	fill(v, UNWIND_PIECES, 6 << 20);
	CHECK(!lists_put(&l, v, UNWIND_PIECES, 12ull * SECOND));
	lists_drop(&l, c, 13ull * SECOND);
	lists_drop(&l, d, 13ull * SECOND);
	lists_drop(&l, e, 13ull * SECOND);
	CHECK(lists_put(&l, v, UNWIND_PIECES, 20ull * SECOND)); /* neighbours are joined */
	lists_free(&l);
	free(list_chunk[0]);
	free(list_chunk[1]);
}

/* ---- copies ---- */

enum { CODE = 0x400000, SP_AT = 0x7ffc00001f80 };

static const struct host toy_host = {.arch = &arch_x86_64};

/* Functions of 256 bytes: frames of two words by sp, by fp, none known, nobody called. */
static bool toy_rule(void *arg, u64 addr, struct copy_code *ret)
{
	const u32 rules[] = {UNWIND_SP | 2 << 4,
			     UNWIND_FP | 2 << 4 | 2u << 22,
			     UNWIND_NONE,
			     UNWIND_END,
			     UNWIND_UNKNOWN,
			     unwind_reg_rule(UNWIND_REG, 8, -1, 0),
			     unwind_reg_rule(UNWIND_REG, 12, 2, 0),
			     unwind_reg_rule(UNWIND_REG, 3, 2, unwind_regs(0, UNWIND_KEPT_LOST)),
			     unwind_rule(UNWIND_SP, 3, unwind_regs(0, 2)),
			     unwind_reg_rule(UNWIND_RA_REG, 5, 0, 0)};
	u64 i = (addr - CODE) >> 8;
	const u32 *lang =
		arg; /* NULL, or that of the function that is the main loop: {lang, function} */
	if (addr < CODE || i >= countof(rules))
		return false;
	*ret = (struct copy_code){.rule = rules[i], .lang = lang && lang[1] == i ? lang[0] : 0};
	return true;
}

static struct unwind_copy *toy_copy(const u64 *stack, u32 nword)
{
	u32 bytes = UNWIND_COPY_BELOW + nword * (u32)sizeof(*stack);
	struct unwind_copy *c = calloc(1, sizeof(*c) + bytes); /* exactly: sanitizers look */
	*c = (struct unwind_copy){
		.ip = CODE + 0x10, .sp = SP_AT, .fp = SP_AT + 32, .pages = 1, .bytes = bytes};
	memcpy(c->stack + UNWIND_COPY_BELOW, stack, nword * sizeof(*stack));
	return c;
}

TEST(unwind_copy_has_words_where_the_interpreter_ran)
{
	static const u64 stack[] = {0, CODE + 0x120, 0, 0, SP_AT + 64, CODE + 0x130, 0, 0,
				    0, CODE + 0x310};
	const u64 a = UNWIND_WORD | 1, b = UNWIND_WORD | 2, d = UNWIND_WORD | 3;
	u64 frame[8];
	u32 loop[] = {7, 1};
	enum copy_end end;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	const u64 words[] = {a, b, 0, d, 0};
	memcpy(c->word, words, sizeof(words));
	c->nword = countof(words);
	c->lang = 7;
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 8, &end) == 4 && end == COPY_END);
	CHECK(frame[0] == a && frame[1] == b && frame[2] == d && frame[3] == CODE + 0x310);
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 1, &end) == 1 && frame[0] == a);
	loop[0] = 6; /* another interpreter */
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 8, &end) == 3 &&
	      frame[0] == CODE + 0x120);
	loop[0] = 7;
	c->nword = 3; /* the second frame of the loop has none */
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 8, &end) == 4);
	CHECK(frame[1] == b && frame[2] == CODE + 0x130 && frame[3] == CODE + 0x310);
	c->word[0] = 0; /* one that stands for none */
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 8, &end) == 3 && frame[1] == b);
	c->first = 1;
	c->nword = UINT32_MAX;
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 8, &end) == 4);
	CHECK(frame[0] == CODE + 0x10 && frame[1] == CODE + 0x120 && frame[2] == b);
	loop[1] = 0;
	c->word[0] = a;
	CHECK(copy_walk(&toy_host, c, toy_rule, loop, frame, 3, &end) == 3);
	CHECK(frame[0] == a && frame[1] == b && frame[2] == CODE + 0x120);
	free(c);
}

TEST(unwind_copy_is_walked_like_a_stack)
{
	static const u64 stack[] = {0, CODE + 0x120, 0, 0, SP_AT + 64, CODE + 0x130, 0, 0,
				    0, CODE + 0x310};
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	u32 n = copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end);
	CHECK(n == 3 && end == COPY_END);
	CHECK(frame[0] == CODE + 0x120 && frame[1] == CODE + 0x130 && frame[2] == CODE + 0x310);
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 2, &end) == 2 && end == COPY_END);
	c->fp = SP_AT + UNWIND_COPY_STACK; /* not copied */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_CUT);
	c->fp = SP_AT + UNWIND_COPY_PAGE; /* was not there */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_READ);
	c->whole = 1;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_READ);
	c->fp = SP_AT + UNWIND_COPY_STACK; /* above the stack is no other */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_READ);
	c->whole = 0;
	c->fp = 16; /* no stack is there */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_READ);
	c->ip = CODE + 0x410;
	CHECK(!copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) && end == COPY_FILE);
	c->ip = 7;
	CHECK(!copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) && end == COPY_CODE);
	free(c);
}

/* Wherever it ends, no byte behind it is looked at, and what was whole before stays so. */
TEST(unwind_copy_ends_anywhere)
{
	static const u64 stack[] = {0, CODE + 0x120, 0, 0, SP_AT + 64, CODE + 0x130, 0, 0,
				    0, CODE + 0x310};
	static const u32 need[] = {16, 48, 80}; /* bytes above sp, for each frame */
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *whole = toy_copy(stack, countof(stack));
	for (u32 bytes = 0; bytes <= whole->bytes; bytes++) {
		struct unwind_copy *c = malloc(sizeof(*c) + bytes);
		memcpy(c, whole, sizeof(*c) + bytes);
		c->bytes = bytes;
		u32 n = copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end), want = 0;
		while (want < countof(need) && bytes >= UNWIND_COPY_BELOW + need[want])
			want++;
		CHECK(n == want && end == (n == 3 ? COPY_END : COPY_READ));
		free(c);
	}
	free(whole);
}

/* sp is anywhere, the copy begins at a word; a page of it may be missing. */
TEST(unwind_copy_begins_at_a_word)
{
	u64 stack[600] = {0}, frame[8];
	enum copy_end end;
	stack[1] = CODE + 0x10;  /* at the end of the first page */
	stack[3] = CODE + 0x120; /* by fp from here on: in the third */
	stack[598] = 0;
	stack[599] = CODE + 0x310;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	c->fp = SP_AT + 598 * 8;
	c->pages = 7;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 3 && end == COPY_END);
	c->pages = 5; /* of the second nothing is needed */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 3 && end == COPY_END);
	c->pages = 3;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 2 && end == COPY_READ);
	c->pages = 7;
	c->sp = SP_AT + 4;
	CHECK(unwind_copy_low(c) == SP_AT - UNWIND_COPY_BELOW);
	free(c);
}

TEST(unwind_copy_is_as_long_as_it_says)
{
	static const u64 stack[] = {1, 2, 3};
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	size_t size = sizeof(*c) + c->bytes;
	CHECK(copy_sound(c, size) && copy_sound(c, size + 7)); /* rings round up */
	CHECK(!copy_sound(c, size - 1) && !copy_sound(c, sizeof(*c)));
	CHECK(!copy_sound(c, sizeof(*c) - 1) && !copy_sound(c, 0));
	c->bytes = 0;
	CHECK(copy_sound(c, sizeof(*c)));
	c->bytes = UINT32_MAX;
	CHECK(!copy_sound(c, size) && !copy_sound(c, SIZE_MAX));
	free(c);
}

TEST(unwind_copy_believes_a_guess_that_leads_to_code)
{
	static const u64 good[] = {0, 0, 0, 0, 0, CODE + 0x310}, bad[] = {0, 0, 0, 0, 0, 77};
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *c = toy_copy(good, countof(good));
	c->ip = CODE + 0x210;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 && end == COPY_END);
	free(c);
	c = toy_copy(bad, countof(bad));
	c->ip = CODE + 0x210;
	CHECK(!copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) && end == COPY_FILE);
	free(c);
}

/* A leaf, a frame with the pair at its bottom, a signal's, a leaf again, the end. */
static bool arm_rule(void *arg, u64 addr, struct copy_code *ret)
{
	static const u32 rules[] = {
		UNWIND_SP | UNWIND_LINK_LIVE,     UNWIND_SP | 4 << 4 | 4u << 22, UNWIND_SIGNAL,
		UNWIND_FP_AT | 2 << 4 | 2u << 22, UNWIND_SP | 2 << 4 | 3u << 22, UNWIND_END};
	u64 i = (addr - CODE) >> 8;
	(void)arg;
	if (addr < CODE || i >= countof(rules))
		return false;
	*ret = (struct copy_code){.rule = rules[i]};
	return true;
}

TEST(unwind_copy_of_aarch64)
{
	enum { SIGNED = 1, FRAME_FP = 544 / 8 };
	static const struct host h = {.arch = &arch_aarch64, .signed_bits = 0x7full << 48};
	u64 stack[128] = {0}, frame[8], sig = (u64)SIGNED << 48;
	u64 signal_sp = SP_AT + 32, interrupted = signal_sp + 640;
	enum copy_end end;
	stack[0] = 7; /* x29 of the handler's caller, and the return address */
	stack[1] = sig | (CODE + 0x210);
	stack[4 + FRAME_FP] = interrupted; /* x29, x30, sp, pc of what was interrupted */
	stack[4 + FRAME_FP + 1] = sig | (CODE + 0x310);
	stack[4 + FRAME_FP + 2] = interrupted;
	stack[4 + FRAME_FP + 3] = CODE + 0x10;
	stack[4 + 640 / 8] = 9; /* at x29: a pair */
	stack[4 + 640 / 8 + 1] = sig | (CODE + 0x410);
	stack[4 + 640 / 8 + 2] =
		sig | (CODE + 0x510); /* x30 alone, 16 bytes below its frame's end */
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	c->pages = 3; /* it goes on in the next */
	c->link = CODE + 0x110;
	c->live = 1;
	u32 n = copy_walk(&h, c, arm_rule, NULL, frame, 8, &end);
	CHECK(n == 6 && end == COPY_END);
	CHECK(frame[0] == CODE + 0x110 && frame[1] == CODE + 0x210 && frame[2] == CODE + 0x10);
	CHECK(frame[3] == CODE + 0x310 && frame[4] == CODE + 0x410 && frame[5] == CODE + 0x510);
	c->live = 0; /* a leaf that somebody called cannot be */
	CHECK(!copy_walk(&h, c, arm_rule, NULL, frame, 8, &end) && end == COPY_READ);
	free(c);
}

TEST(unwind_copy_knows_registers_of_the_first_frame)
{
	static const u64 stack[] = {0, CODE + 0x510, 0, CODE + 0x620, 0, 0};
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	c->reg[8] = SP_AT + 5 * 8; /* r8: a call may change it, but this caller relies on it */
	c->reg[12] = SP_AT;        /* who was called may have put it elsewhere */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 2 && end == COPY_FILE);
	CHECK(frame[0] == CODE + 0x510 && frame[1] == CODE + 0x620);
	c->ip = CODE + 0x610;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 2 &&
	      frame[0] == CODE + 0x510);
	c->depth = UNWIND_AWAY;
	CHECK(!copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) && end == COPY_FILE);
	free(c);
}

TEST(unwind_copy_finds_a_return_address_in_a_register)
{
	static const u64 stack[] = {0, CODE + 0x310, CODE + 0x910, 0, 0};
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	c->ip = CODE + 0x910;
	c->reg[5] = CODE + 0x10; /* who called has two words on the stack, the place of the first */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 2 && end == COPY_END);
	CHECK(frame[0] == CODE + 0x10 && frame[1] == CODE + 0x310);
	c->depth = UNWIND_AWAY;
	CHECK(!copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) && end == COPY_FILE);
	free(c);
}

TEST(unwind_copy_follows_where_a_register_is_kept)
{
	u64 stack[] = {0, SP_AT + 4 * 8, CODE + 0x710, 0, 0, CODE + 0x710, 0, 0};
	u64 frame[8];
	enum copy_end end;
	struct unwind_copy *c = toy_copy(stack, countof(stack));
	c->ip = CODE +
		0x810; /* saves rbx in the second word below its frame, which is at sp + 24 */
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 2 && end == COPY_READ);
	CHECK(frame[0] == CODE + 0x710 &&
	      frame[1] == CODE + 0x710); /* the first does not keep it */
	c->ip = CODE + 0x710;
	c->reg[3] = SP_AT + 8; /* still there, whatever was called */
	c->depth = UNWIND_AWAY;
	CHECK(copy_walk(&toy_host, c, toy_rule, NULL, frame, 8, &end) == 1 &&
	      frame[0] == CODE + 0x710);
	free(c);
}
