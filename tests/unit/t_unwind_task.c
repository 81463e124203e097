#include "test.h"
#include "unwind/task.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A toy interpreter, in our own memory: state -> frame -> ... */

struct toy_code {
	u64 sign[UNWIND_SIGN_WORDS];
	const char *name;
};
struct toy_frame {
	const void *previous, *code;
	u64 instr;
	u8 entry, pad[7];
};
struct toy_state {
	const struct toy_frame *newest;
};

static void toy_name(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		     struct interp_code *ret)
{
	(void)f;
	*ret = (struct interp_code){
		.name = arena_str(a, (struct str){(const char *)raw->name,
						  (u32)strnlen((const char *)raw->name, 8)})};
}

static u32 toy_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	(void)f, (void)c;
	return instr;
}

struct toy {
	struct host h;
	struct unwind_langs langs_mem;
	struct langs langs;
	const struct toy_state *state;
	struct unwind_copy *copy;
	struct task task;
};

static void open_toy(struct toy *x)
{
	static const struct interp toy = {.name = "toy",
					  .title = "Toy",
					  .in_name = "toy",
					  .code = toy_name,
					  .line = toy_line};
	*x = (struct toy){.h = {.root = ""}};
	langs_init(&x->langs, &x->langs_mem);
	x->langs.file[0].is = &toy;
	x->langs.n = 1;
	x->langs_mem.lang[0] = (struct unwind_lang){
		.known = 1,
		.root = UNWIND_ROOT_TLS,
		.code_mask = ~0ull,
		.newest = offsetof(struct toy_state, newest),
		.inner = UNWIND_NOWHERE,
		.frame_bytes = sizeof(struct toy_frame),
		.code = offsetof(struct toy_frame, code),
		.previous = offsetof(struct toy_frame, previous),
		.instr = offsetof(struct toy_frame, instr),
		.entry = offsetof(struct toy_frame, entry),
		.hide = UNWIND_FRAME_NEVER,
		.last = 1,
		.flags = UNWIND_NOWHERE,
		.body = UNWIND_NOWHERE,
		.part = {{offsetof(struct unwind_code, code) + offsetof(struct toy_code, name),
			  offsetof(struct unwind_code, name), 8, 0},
			 {offsetof(struct unwind_code, code) + offsetof(struct toy_code, name),
			  offsetof(struct unwind_code, lang), 8, 0}, /* not there */
			 {UINT16_MAX, 0, UINT16_MAX, 0}},
	};
	struct unwind_copy head = {.pid = (u32)getpid(), .tid = (u32)getpid()};
	head.thread = (u64)(uintptr_t)&x->state;
	task_open(&x->task, &x->h, &head);
	x->copy = x->task.copy;
}

static void close_toy(struct toy *x)
{
	task_close(&x->task);
	langs_free(&x->langs);
}

static void take(struct toy *x)
{
	struct task_lang at = {1, 0};
	task_words(&x->task, &x->langs, &at);
}

TEST(unwind_task_has_words_of_an_interpreters_frames)
{
	const struct toy_code outer = {{1}, "outer\0\0\0"}, inner = {{2}, "inner\0\0\0"};
	const struct toy_frame first = {NULL, &outer, 7, 1, {0}},
			       second = {&first, &inner, 8, 0, {0}},
			       third = {&second, &inner, 9, 1, {0}};
	const struct toy_state state = {&third};
	struct interp_frame f;
	struct toy x;
	open_toy(&x);
	x.state = &state;
	take(&x);
	CHECK(x.copy->nword == 5 && x.copy->lang == 1);
	CHECK(!x.copy->word[1] && !x.copy->word[4]); /* two native frames */
	CHECK(langs_frame(&x.langs, x.copy->word[0], &f) && str_is(f.name, "inner") && f.line == 9);
	CHECK(langs_frame(&x.langs, x.copy->word[2], &f) && str_is(f.name, "inner") && f.line == 8);
	CHECK(langs_frame(&x.langs, x.copy->word[3], &f) && str_is(f.name, "outer") && f.line == 7);
	CHECK(x.langs.ncode == 2); /* each once */
	take(&x);
	CHECK(x.copy->nword == 5 && x.langs.ncode == 2);
	CHECK(!langs_frame(&x.langs, x.copy->word[0] + 5, &f)); /* no such function */
	close_toy(&x);
}

TEST(unwind_task_ends_where_frames_make_no_sense)
{
	const struct toy_code code = {{1}, "code\0\0\0\0"};
	struct toy_frame circle = {&circle, &code, 7, 0, {0}}, wild = circle;
	const struct toy_state state = {&circle}, other = {&wild};
	struct toy x;
	open_toy(&x);
	x.state = &state;
	take(&x);
	CHECK(x.copy->nword <= UNWIND_COPY_WORDS && x.copy->nword > UNWIND_COPY_WORDS / 2);
	wild.previous = (void *)8;
	x.state = &other;
	take(&x);
	CHECK(!x.copy->nword && x.langs.unread[0] == 1);
	wild.code = (void *)~0ull;
	take(&x);
	CHECK(!x.copy->nword && x.langs.unread[0] == 2);
	x.state = NULL;
	take(&x);
	CHECK(!x.copy->nword && x.langs.unread[0] == 3);
	x.langs_mem.lang[0].known = 0;
	take(&x);
	CHECK(!x.copy->nword && !x.copy->lang && x.langs.unknown[0] == 1);
	close_toy(&x);
}

/* Another toy: what a frame is says a bit of its own, and functions are told apart by their instructions. */
struct op_function {
	u64 type;
	u32 pad, nop;
	const struct op *op;
	const char *name;
};
struct op {
	u32 other, line;
};
struct op_frame {
	const void *previous, *function, *op;
	u64 flags;
};
enum { OP_TOP = 4, OP_NATIVE = 1, OP_SIGN_BYTES = 8 };

static void take_op_row(struct toy *x)
{
	x->langs_mem.lang[0] = (struct unwind_lang){
		.known = 1,
		.root = UNWIND_ROOT_GLOBAL,
		.at = (u64)(uintptr_t)&x->state,
		.code_mask = ~0ull,
		.inner = UNWIND_NOWHERE,
		.frame_bytes = sizeof(struct op_frame),
		.code = offsetof(struct op_frame, function),
		.previous = offsetof(struct op_frame, previous),
		.instr = offsetof(struct op_frame, op),
		.within = UNWIND_WITHIN_LINE,
		.flags = offsetof(struct op_frame, flags),
		.flags_here = 1,
		.last_bits = OP_TOP,
		.over = 1,
		.native = OP_NATIVE,
		.body = UNWIND_NOWHERE,
		.first_instr = offsetof(struct op_function, op),
		.count_bit = 32,
		.op_bytes = sizeof(struct op),
		.line = offsetof(struct op, line),
		.sign_less = 8 * UNWIND_SIGN_WORDS - OP_SIGN_BYTES,
		.part = {{offsetof(struct unwind_code, code) + offsetof(struct op_function, name),
			  offsetof(struct unwind_code, name), 8, 0}},
	};
}

TEST(unwind_task_has_lines_of_instructions)
{
	const struct op op[] = {{0, 3}, {0, 4}, {0, 9}};
	const struct op_function user = {2, 0, 2, op, "user\0\0\0\0"}, copy = user,
				 native = {OP_NATIVE, 0, 0, NULL, "native\0\0"};
	const struct op_frame first = {NULL, &user, &op[0], OP_TOP},
			      second = {&first, &native, &op[0], OP_TOP},
			      third = {&second, NULL, &op[0], OP_TOP},
			      fourth = {&third, &copy, &op[1], OP_TOP},
			      fifth = {&fourth, &user, &op[2], 0}; /* behind its last one */
	const struct toy_state *newest = (const void *)&fifth;
	struct interp_frame f;
	struct toy x;
	open_toy(&x);
	x.state = newest;
	take_op_row(&x);
	take(&x);
	/* fifth, fourth: one native frame; native, first: one. */
	CHECK(x.copy->nword == 6 && !x.copy->word[2] && !x.copy->word[5]);
	CHECK(langs_frame(&x.langs, x.copy->word[0], &f) && f.line == UNWIND_NO_INSTR);
	CHECK(langs_frame(&x.langs, x.copy->word[1], &f) && str_is(f.name, "user") && f.line == 4);
	CHECK(langs_frame(&x.langs, x.copy->word[3], &f) && str_is(f.name, "native"));
	CHECK(langs_frame(&x.langs, x.copy->word[4], &f) && str_is(f.name, "user") && f.line == 3);
	CHECK(x.langs.ncode == 2); /* a copy is the same function */
	close_toy(&x);
}

TEST(unwind_task_copies_what_can_be_read_of_a_stack)
{
	struct toy x;
	u64 *stack = calloc(512, sizeof(u64));
	for (u32 i = 0; i < 512; i++)
		stack[i] = i;
	open_toy(&x);
	x.copy->sp = (u64)(uintptr_t)&stack[64];
	x.copy->space = (u64)(uintptr_t)&stack[512];
	task_copy(&x.task);
	u64 low = unwind_copy_low(x.copy), at;
	CHECK(x.copy->whole && x.copy->bytes == x.copy->space - low);
	memcpy(&at, x.copy->stack + (x.copy->sp - low), sizeof(at));
	CHECK(at == 64);
	x.copy->sp = 1 << 16; /* nothing is there */
	x.copy->space = 0;
	task_copy(&x.task);
	CHECK(!x.copy->whole && !x.copy->bytes && !x.copy->pages);
	x.copy->sp = ~0ull - 64;
	task_copy(&x.task);
	CHECK(!x.copy->bytes);
	CHECK(!task_sleeps(&x.task)); /* we run */
	close_toy(&x);
	free(stack);
}
