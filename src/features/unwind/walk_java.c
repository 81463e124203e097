/*
 * walk_java.c - methods of Java in a walk (core/java.h): a native frame in a heap of code has one, or none, and the
 * blob that it is in says where its caller is. unwind/java.c does the same in user space.
 */
#include "sym/cfi.h"
#include "unwind/walk_lang.h"

#define JAVA(member) LANG(java.member)

static struct ref word_at(const struct lang_reads *r, struct ref addr)
{
	lang_read_to(r, AT(word), ir_con(r->f, 8), addr);
	return ir_load(r->f, 8, r->walk, AT(word));
}

static struct ref member(const struct lang_reads *r, struct ref object, i32 offset)
{
	return word_at(r, ir_op2(r->f, O_ADD, object, lang_number(r, offset)));
}

/* ---- code ---- */

/* The address of the block that addr is in. */
static struct ref find_block(const struct lang_reads *r, struct ref piece, struct ref addr)
{
	struct fn *f = r->f;
	struct blk *found = ir_blk(f);
	struct ref start = ir_load(f, 8, piece, offsetof(struct unwind_piece, start));
	struct ref map = ir_load(f, 8, piece, offsetof(struct unwind_piece, pc)), i = ir_var(f);
	struct ref bits = ir_op2(f, O_AND, map, ir_con(f, 63));
	map = ir_op2(f, O_SUB, map, bits);
	ir_set(f, i, ir_op2(f, O_SHR, ir_op2(f, O_SUB, addr, start), bits));
	for (u32 hop = 0; hop < JAVA_HOPS; hop++) {
		struct blk *some = ir_blk(f), *used = ir_blk(f);
		lang_read_to(r, AT(word), ir_con(f, 1), ir_op2(f, O_ADD, map, ir_get(f, i)));
		struct ref back = ir_load(f, 1, r->walk, AT(word));
		ir_br(f, O_EQ, back, ir_con(f, 0), found, some);
		ir_at(f, some);
		ir_br(f, O_EQ, back, ir_con(f, JAVA_FREE), r->no, used);
		ir_at(f, used);
		ir_set(f, i, ir_op2(f, O_SUB, ir_get(f, i), back));
	}
	ir_jmp(f, r->no);
	ir_at(f, found);
	return ir_op2(f, O_ADD, start, ir_op2(f, O_SHL, ir_get(f, i), bits));
}
_Static_assert(offsetof(struct unwind_piece, pc) % 8 == 0 &&
		       offsetof(struct unwind_piece, file) == offsetof(struct unwind_piece, pc) + 4,
	       "one word");

/* So many bytes of the blob that was read. Numbers are where their size allows, but for u16. */
static struct ref of_blob(const struct lang_reads *r, u32 bytes, i32 offset)
{
	struct fn *f = r->f;
	struct ref at = ir_op2(f, O_AND, lang_number(r, offset), ir_con(f, JAVA_BLOB_BYTES - 2));
	return ir_load(f, bytes, ir_op2(f, O_ADD, r->walk, at), AT(java_blob));
}

/* A rule of a frame of so many words, where the caller's frame pointer is below the return address, or the same. */
static struct ref frame_of(struct fn *f, struct ref words)
{
	u32 rule = unwind_rule(UNWIND_SP, 0, unwind_regs(2, UNWIND_KEPT_LOST));
	return ir_op2(f, O_OR, ir_con(f, rule),
		      ir_op2(f, O_SHL, words, ir_con(f, UNWIND_KIND_BITS)));
}

static struct ref frame_same(struct fn *f, struct ref words)
{
	u32 rule = unwind_rule(UNWIND_SP, 0, unwind_regs(UNWIND_FP_SAME, UNWIND_KEPT_LOST));
	return ir_op2(f, O_OR, ir_con(f, rule),
		      ir_op2(f, O_SHL, words, ir_con(f, UNWIND_KIND_BITS)));
}

struct branch {
	struct fn *f;
	struct ref rule; /* variable */
	struct blk *done;
};

/* The rule is this one if v is the number; else control goes on. */
static void rule_if(const struct branch *b, struct ref v, u64 is, struct ref rule)
{
	struct blk *yes = ir_blk(b->f), *no = ir_blk(b->f);
	ir_br(b->f, O_EQ, v, ir_con(b->f, is), yes, no);
	ir_at(b->f, yes);
	ir_set(b->f, b->rule, rule);
	ir_jmp(b->f, b->done);
	ir_at(b->f, no);
}

/* Compiled code, which may just be making its frame, or have given it up: what it runs next tells. */
static void leaf_rule(const struct lang_reads *r, const struct branch *b, struct ref addr,
		      struct ref words)
{
	enum { NEXT = 8, JUMP_RET = 6 };
	struct fn *f = r->f;
	struct blk *making = ir_blk(f), *made = ir_blk(f);
	struct ref one = frame_same(f, ir_con(f, 1)), two = frame_of(f, ir_con(f, 2)),
		   all = frame_of(f, words);
	lang_read_to(r, AT(word), ir_con(f, 2 * NEXT), ir_addi(f, addr, -NEXT));
	struct ref next = ir_load(f, 4, r->walk, AT(word) + NEXT), bytes = ir_con(f, JAVA_BYTES_3);
	struct ref first = ir_op2(f, O_AND, next, ir_con(f, 0xff)),
		   three = ir_op2(f, O_AND, next, bytes);
	struct ref complete = of_blob(r, 4, JAVA(complete));
	struct ref bits = ir_op2(f, O_SHL, lang_number(r, JAVA(complete_bytes)), ir_con(f, 3));
	struct ref past = ir_op2(f, O_SHL, ir_con(f, 1), ir_op2(f, O_AND, bits, ir_con(f, 63)));
	complete = ir_op2(f, O_AND, complete, ir_addi(f, past, -1));
	ir_br(f, O_ULT, ir_load(f, 8, r->walk, AT(java_off)), complete, making, made);
	ir_at(f, making);
	rule_if(b, next, JAVA_SAVE_FP_8, frame_same(f, words));
	rule_if(b, next, JAVA_SAVE_FP_32, frame_same(f, words));
	rule_if(b, three, JAVA_BARRIER, all);
	rule_if(b, ir_op2(f, O_AND, ir_load(f, 4, r->walk, AT(word)), bytes), JAVA_BARRIER, all);
	rule_if(b, ir_load(f, 1, r->walk, AT(word) + NEXT - 1), JAVA_PUSH_FP, two);
	ir_set(f, b->rule, one);
	ir_jmp(f, b->done);
	ir_at(f, made);
	rule_if(b, first, JAVA_POP_FP, two);
	rule_if(b, first, JAVA_RET, one);
	rule_if(b, three, JAVA_POLL, one);
	rule_if(b, three, JAVA_POLL_32, one);
	struct ref ret = ir_load(f, 1, r->walk, AT(word) + NEXT + JUMP_RET);
	struct ref jump = ir_op2(f, O_AND, next, ir_con(f, 0xffff));
	rule_if(b, ir_op2(f, O_OR, ir_op2(f, O_SHL, ret, ir_con(f, 16)), jump),
		JAVA_RET << 16 | JAVA_JUMP_ABOVE, one);
	ir_set(f, b->rule, all);
	ir_jmp(f, b->done);
}

/* How far the frame pointer is above the stack pointer. */
static struct ref fp_above(const struct lang_reads *r)
{
	struct fn *f = r->f;
	return ir_op2(f, O_SUB, ir_load(f, 8, r->walk, AT(fp)), ir_load(f, 8, r->walk, AT(sp)));
}

/* A stub, which stays a native frame. Most have no frame where they call nobody; some have frame pointers. */
static void stub_rule(const struct lang_reads *r, const struct branch *b, struct ref words)
{
	struct fn *f = r->f;
	struct blk *none = ir_blk(f), *some = ir_blk(f), *leaf = ir_blk(f), *deep = ir_blk(f),
		   *frame = ir_blk(f), *by_fp = ir_blk(f);
	struct ref depth = ir_load(f, 4, r->walk, AT(depth));
	ir_store(f, 4, r->walk, AT(lang), ir_con(f, 0));
	ir_br(f, O_EQ, depth, ir_con(f, UNWIND_LEAF), leaf, deep);
	ir_at(f, leaf);
	ir_br(f, O_ULT, fp_above(r), ir_con(f, JAVA_NEAR_STUB), by_fp, deep);
	ir_at(f, deep);
	ir_br(f, O_ULT, ir_addi(f, words, -1), ir_con(f, JAVA_MAX_FRAME), some, none);
	ir_at(f, some);
	ir_set(f, b->rule, frame_of(f, words));
	ir_jmp(f, b->done);
	ir_at(f, none);
	ir_br(f, O_EQ, depth, ir_con(f, UNWIND_LEAF), frame, by_fp);
	ir_at(f, frame);
	ir_set(f, b->rule, frame_same(f, ir_con(f, 1)));
	ir_jmp(f, b->done);
	ir_at(f, by_fp);
	ir_set(f, b->rule, ir_con(f, unwind_by_fp(false)));
	ir_jmp(f, b->done);
}

/* The interpreter, where a method may only just have been called. */
static void interpreter_rule(const struct lang_reads *r, const struct branch *b)
{
	struct fn *f = r->f;
	struct blk *leaf = ir_blk(f), *frame = ir_blk(f), *none = ir_blk(f);
	ir_br(f, O_EQ, ir_load(f, 4, r->walk, AT(depth)), ir_con(f, UNWIND_LEAF), leaf, frame);
	ir_at(f, leaf);
	ir_br(f, O_ULT, fp_above(r), ir_con(f, JAVA_NEAR), frame, none);
	ir_at(f, none);
	ir_store(f, 4, r->walk, AT(lang), ir_con(f, 0));
	ir_set(f, b->rule, frame_same(f, ir_con(f, 1)));
	ir_jmp(f, b->done);
	ir_at(f, frame);
	ir_set(f, b->rule,
	       ir_con(f, unwind_rule(UNWIND_JAVA, 0, unwind_regs(0, UNWIND_KEPT_LOST))));
	ir_jmp(f, b->done);
}

static void compiled_rule(const struct lang_reads *r, const struct branch *b, struct ref addr,
			  struct ref blob)
{
	struct fn *f = r->f;
	struct blk *inside = ir_blk(f), *outside = ir_blk(f), *both = ir_blk(f), *leaf = ir_blk(f),
		   *deep = ir_blk(f);
	struct ref code = ir_var(f), words = of_blob(r, 4, JAVA(frame_size));
	words = ir_op2(f, O_AND, words, ir_con(f, JAVA_MAX_FRAME - 1));
	ir_store(f, 8, r->walk, AT(java_compiled), blob);
	ir_store(f, 8, r->walk, AT(java_method), of_blob(r, 8, JAVA(method)));
	ir_br(f, O_NE, lang_number(r, JAVA(code_inside)), ir_con(f, 0), inside, outside);
	ir_at(f, inside);
	ir_set(f, code, ir_op2(f, O_ADD, blob, of_blob(r, 4, JAVA(code))));
	ir_jmp(f, both);
	ir_at(f, outside);
	ir_set(f, code, of_blob(r, 8, JAVA(code)));
	ir_jmp(f, both);
	ir_at(f, both);
	ir_store(f, 8, r->walk, AT(java_off), ir_op2(f, O_SUB, addr, ir_get(f, code)));
	ir_br(f, O_EQ, ir_load(f, 4, r->walk, AT(depth)), ir_con(f, UNWIND_LEAF), leaf, deep);
	ir_at(f, leaf);
	leaf_rule(r, b, addr, words);
	ir_at(f, deep);
	ir_set(f, b->rule, frame_of(f, words));
	ir_jmp(f, b->done);
}

struct ref unwind_java_rule(struct lower *l, const struct java_code *c)
{
	struct fn *f = l->f;
	struct blk *method = ir_blk(f), *not_method = ir_blk(f), *native = ir_blk(f),
		   *stub = ir_blk(f), *done = ir_blk(f), *interpreter = ir_blk(f),
		   *compiled = ir_blk(f);
	struct lang_reads r = {f, c->walk, lang_row_of(l, f, c->piece), c->bad_read};
	struct branch b = {f, ir_var(f), done};
	struct ref blob =
		ir_op2(f, O_ADD, find_block(&r, c->piece, c->addr), lang_number(&r, JAVA(head)));
	lang_read_to(&r, AT(java_blob), ir_con(f, JAVA_BLOB_BYTES), blob);
	struct ref name = word_at(&r, of_blob(&r, 8, JAVA(name)));
	ir_store(f, 8, c->walk, AT(java_compiled), ir_con(f, 0));
	ir_br(f, O_EQ, name, ir_con(f, JAVA_INTERPRETER), interpreter, compiled);
	ir_at(f, interpreter);
	interpreter_rule(&r, &b);
	ir_at(f, compiled);
	ir_br(f, O_EQ, name, ir_con(f, JAVA_NMETHOD), method, not_method);
	ir_at(f, not_method);
	ir_br(f, O_EQ, name, ir_con(f, JAVA_NATIVE), native, stub);
	ir_at(f, native);
	ir_jmp(f, method);
	ir_at(f, stub);
	stub_rule(&r, &b, of_blob(&r, 4, JAVA(frame_size)));
	ir_at(f, method);
	compiled_rule(&r, &b, c->addr, blob);
	ir_at(f, done);
	return ir_get(f, b.rule);
}

/* ---- methods ---- */

static struct ref mix_in(struct fn *f, struct ref h, struct ref v)
{
	const u64 mix_by = 0x9e3779b97f4a7c15;
	h = ir_op2(f, O_MUL, ir_op2(f, O_XOR, h, v), ir_con(f, mix_by));
	return ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
}

/* Where the interpreter is in the method of a ConstMethod that was read: control goes to x->none if it can be
 * nowhere. Of a method without bytecodes it is nowhere. */
static struct ref bytecode(const struct lang *x, struct ref body, struct ref at)
{
	struct fn *f = x->f;
	struct blk *some = ir_blk(f), *native = ir_blk(f), *in = ir_blk(f), *done = ir_blk(f);
	struct ref v = ir_var(f), mask = ir_con(f, JAVA_PART - 2);
	struct ref size = ir_op2(f, O_AND, lang_param(x, JAVA(code_size)), mask);
	size = ir_load(f, 2, ir_op2(f, O_ADD, x->walk, size), AT(lang_frame));
	ir_br(f, O_NE, size, ir_con(f, 0), some, native);
	ir_at(f, native);
	ir_set(f, v, ir_con(f, UNWIND_NO_INSTR));
	ir_jmp(f, done);
	ir_at(f, some);
	struct ref off =
		ir_op2(f, O_SUB, at, ir_op2(f, O_ADD, body, lang_param(x, JAVA(const_bytes))));
	ir_br(f, O_ULT, off, size, in, x->none);
	ir_at(f, in);
	ir_set(f, v, off);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

void unwind_java_frame(const struct lang *x, struct ref frames, u32 limit)
{
	struct fn *f = x->f;
	struct blk *compiled = ir_blk(f), *interpreted = ir_blk(f), *both = ir_blk(f),
		   *of_code = ir_blk(f), *of_frame = ir_blk(f), *show = ir_blk(f), *far = ir_blk(f),
		   *near = ir_blk(f), *there = ir_blk(f);
	struct lang_reads r = {f, x->walk, x->row, x->lost};
	struct ref method = ir_var(f), instr = ir_var(f), at = ir_var(f);
	struct ref nmethod = ir_load(f, 8, x->walk, AT(java_compiled));
	ir_br(f, O_NE, nmethod, ir_con(f, 0), compiled, interpreted);
	ir_at(f, compiled);
	ir_set(f, method, ir_load(f, 8, x->walk, AT(java_method)));
	ir_set(f, at, ir_load(f, 8, x->walk, AT(java_off)));
	ir_jmp(f, both);
	ir_at(f, interpreted);
	lang_read_to(&r, AT(lang_frame), ir_con(f, 8 * JAVA_FRAME_WORDS),
		     ir_addi(f, ir_load(f, 8, x->walk, AT(v8_fp)), -8 * (i32)JAVA_FRAME_WORDS));
	ir_set(f, method,
	       ir_load(f, 8, x->walk, AT(lang_frame) + 8 * (JAVA_FRAME_WORDS - JAVA_FRAME_METHOD)));
	ir_set(f, at,
	       ir_load(f, 8, x->walk,
		       AT(lang_frame) + 8 * (JAVA_FRAME_WORDS - JAVA_FRAME_BYTECODE)));
	ir_jmp(f, both);
	ir_at(f, both);
	ir_store(f, 8, x->walk, AT(lang_file), nmethod);
	struct ref body = member(&r, ir_get(f, method), JAVA(const_method));
	struct ref bytes = lower_at_most(x->l, lang_param(x, JAVA(const_bytes)), JAVA_PART);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, x->walk, AT(lang_frame)), bytes, body));
	ir_br(f, O_NE, nmethod, ir_con(f, 0), of_code, of_frame);
	ir_at(f, of_frame);
	/* Zeros: nobody has used that page, as the method has no bytecodes. User space reads it. */
	ir_br(f, O_EQ, bad, ir_con(f, 0), there, far);
	ir_at(f, of_code);
	ir_set(f, instr, ir_get(f, at));
	ir_jmp(f, show);
	ir_at(f, there);
	ir_set(f, instr, bytecode(x, body, ir_get(f, at)));
	ir_jmp(f, show);
	ir_at(f, show);
	ir_br(f, O_UGT, ir_get(f, instr), ir_con(f, UNWIND_NO_INSTR), far, near);
	ir_at(f, far);
	ir_set(f, instr, ir_con(f, UNWIND_NO_INSTR));
	ir_jmp(f, near);
	ir_at(f, near);
	struct ref h = mix_in(f, ir_load(f, 8, x->walk, AT(space)), ir_get(f, method));
	h = mix_in(f, mix_in(f, h, body), nmethod);
	for (i32 i = 0; i < JAVA_SIGN_WORDS; i++)
		h = mix_in(f, h, ir_load(f, 8, x->walk, AT(lang_frame) + 8 * i));
	struct shown s = {.sign = ir_op2(f, O_OR, h, ir_con(f, 1)),
			  .code = ir_get(f, method),
			  .instr = ir_get(f, instr)};
	lang_show(x, frames, limit, &s);
	ir_jmp(f, x->off);
}
_Static_assert(8 * UNWIND_FRAME_WORDS >= (int)JAVA_PART &&
		       (int)JAVA_FRAME_WORDS <= UNWIND_FRAME_WORDS,
	       "it is read at once");

/* ---- names ---- */

static void put_symbol(struct lower *l, const struct lang_reads *r, struct ref rec,
		       struct ref symbol, u32 to, u32 bytes)
{
	struct fn *f = r->f;
	lang_read_to(r, AT(word), ir_con(f, 2),
		     ir_op2(f, O_ADD, symbol, lang_number(r, JAVA(length))));
	ir_store(f, 8, rec, (i32)to, ir_load(f, 2, r->walk, AT(word)));
	lang_copy(l, rec, ir_con(f, to + JAVA_SYMBOL_HEAD), ir_con(f, bytes),
		  ir_op2(f, O_ADD, symbol, lang_number(r, JAVA(text))));
}

/* The number (u16) that stands in the record at first, and behind it as the row says. */
static struct ref half(const struct lang_reads *r, struct ref rec, i32 first, i32 offset)
{
	struct fn *f = r->f;
	struct ref at = ir_op2(f, O_AND, lang_number(r, offset), ir_con(f, JAVA_PART - 2));
	return ir_load(f, 2, ir_op2(f, O_ADD, rec, at), first);
}

/* Not of one that HotSpot makes for methods without a source. */
static struct ref numbered(const struct lang_reads *r, struct ref pool, struct ref i)
{
	struct fn *f = r->f;
	struct blk *in = ir_blk(f);
	struct ref n = ir_op1(f, O_EXTU, 4, member(r, pool, JAVA(pool_length)));
	ir_br(f, O_ULT, i, n, in, r->no);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_ADD, pool, lang_number(r, JAVA(pool_bytes)));
	return word_at(r, ir_op2(f, O_ADD, at, ir_op2(f, O_SHL, i, ir_con(f, 3))));
}

static struct ref word_of(const struct lang_reads *r, struct ref rec, i32 first, i32 offset)
{
	struct fn *f = r->f;
	struct ref at = ir_op2(f, O_AND, lang_number(r, offset), ir_con(f, JAVA_PART - 8));
	return ir_load(f, 8, ir_op2(f, O_ADD, rec, at), first);
}

/* The file's number in the pool, which the pool has, or the class. */
static struct ref file_number(const struct lang_reads *r, struct ref rec, struct ref holder)
{
	struct fn *f = r->f;
	struct blk *of_class = ir_blk(f), *of_pool = ir_blk(f), *done = ir_blk(f);
	struct ref i = ir_var(f);
	ir_br(f, O_NE, lang_number(r, JAVA(file_in_class)), ir_con(f, 0), of_class, of_pool);
	ir_at(f, of_class);
	lang_read_to(r, AT(word), ir_con(f, 2),
		     ir_op2(f, O_ADD, holder, lang_number(r, JAVA(file_index))));
	ir_set(f, i, ir_load(f, 2, r->walk, AT(word)));
	ir_jmp(f, done);
	ir_at(f, of_pool);
	ir_set(f, i, half(r, rec, CODE(code) + JAVA_CODE_POOL, JAVA(file_index)));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, i);
}

static void put_file(struct lower *l, const struct lang_reads *r, struct ref rec, struct ref pool,
		     struct ref holder)
{
	struct fn *f = r->f;
	struct blk *some = ir_blk(f);
	struct ref i = file_number(r, rec, holder);
	ir_br(f, O_NE, i, ir_con(f, 0), some, r->no);
	ir_at(f, some);
	put_symbol(l, r, rec, numbered(r, pool, i), CODE(file) + JAVA_FILE_SOURCE,
		   JAVA_SOURCE_BYTES);
}

void unwind_java_names(struct lower *l, const struct code_names *n)
{
	struct fn *f = l->f;
	struct blk *done = ir_blk(f);
	struct lang_reads r = {f, n->walk, n->row, done};
	struct ref none = ir_con(f, 0), rec = n->rec;
	ir_store(f, 8, rec, CODE(name), none);
	ir_store(f, 8, rec, CODE(file) + JAVA_FILE_CLASS, none);
	ir_store(f, 8, rec, CODE(file) + JAVA_FILE_SOURCE, none);
	ir_store(f, 8, rec, CODE(code), none);
	ir_store(f, 8, rec, CODE(name) + JAVA_NAME_COMPILED, n->file);
	struct ref body = member(&r, n->code, JAVA(const_method));
	lang_copy(l, rec, ir_con(f, (u32)CODE(code)), ir_con(f, JAVA_PART), body);
	struct ref pool = word_of(&r, rec, CODE(code), JAVA(constants));
	lang_copy(l, rec, ir_con(f, (u32)CODE(code) + JAVA_CODE_POOL), ir_con(f, JAVA_PART), pool);
	struct ref lines = ir_op2(f, O_ADD, body, lang_number(&r, JAVA(const_bytes)));
	lines = ir_op2(f, O_ADD, lines, half(&r, rec, CODE(code), JAVA(code_size)));
	lang_copy(l, rec, ir_con(f, (u32)CODE(lines)), ir_con(f, UNWIND_LINE_BYTES), lines);
	put_symbol(l, &r, rec, numbered(&r, pool, half(&r, rec, CODE(code), JAVA(name_index))),
		   CODE(name), JAVA_NAME_BYTES);
	struct ref holder = word_of(&r, rec, CODE(code) + JAVA_CODE_POOL, JAVA(holder));
	put_symbol(l, &r, rec, member(&r, holder, JAVA(class_name)), CODE(file) + JAVA_FILE_CLASS,
		   JAVA_CLASS_BYTES);
	put_file(l, &r, rec, pool, holder);
	ir_jmp(f, done);
	ir_at(f, done);
}
