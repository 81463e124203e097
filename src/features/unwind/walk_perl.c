/*
 * walk_perl.c - functions of Perl in a walk: contexts of its stackinfos (core/perl.h), one in each round.
 * unwind/perl.c does the same in user space.
 */
#include "core/perl.h"
#include "unwind/walk_lang.h"

#define FRAME(off) (AT(lang_frame) + (off))

enum {
	NEGATIVE = 31,  /* bit of a number of a context */
	SIGN_WORDS = 3, /* of a function: where it begins, its code, its name */
};

static struct ref get(const struct lang *x, u32 w, i32 at)
{
	return ir_load(x->f, w, x->walk, at);
}

static void put(const struct lang *x, u32 w, i32 at, u64 v)
{
	ir_store(x->f, w, x->walk, at, ir_con(x->f, v));
}

/* Control goes to yes where walk memory is not 0, else it goes on. */
static void branch_if(const struct lang *x, i32 at, struct blk *yes)
{
	struct blk *no = ir_blk(x->f);
	ir_br(x->f, O_NE, get(x, 4, at), ir_con(x->f, 0), yes, no);
	ir_at(x->f, no);
}

/* 1 or 0 */
static struct ref is_number(struct fn *f, struct ref v)
{
	return ir_op2(f, O_ULT, v, ir_con(f, 1u << NEGATIVE));
}

/* The contexts of a stackinfo follow. */
static void enter(const struct lang *x, struct ref info)
{
	struct fn *f = x->f;
	lang_read(x, AT(lang_frame), ir_con(f, PERL_SI_BYTES), info);
	struct ref newest = get(x, 4, FRAME(PERL_SI_NEWEST));
	struct ref none = ir_op2(f, O_XOR, is_number(f, newest), ir_con(f, 1));
	struct ref some = is_number(f, get(x, 4, FRAME(PERL_SI_ANY)));
	ir_store(f, 4, x->walk, AT(perl_bare), ir_op2(f, O_AND, some, none));
	ir_store(f, 4, x->walk, AT(perl_at), newest);
	ir_store(f, 8, x->walk, AT(perl_base), get(x, 8, FRAME(PERL_SI_BASE)));
	ir_store(f, 8, x->walk, AT(perl_before), get(x, 8, FRAME(PERL_SI_PREVIOUS)));
}

void unwind_perl_enter(struct lower *l, const struct perl_enter *e)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *begun = ir_blk(f), *left = ir_blk(f), *done = ir_blk(f);
	struct ref at = ir_op2(f, O_SUB, e->pc, ir_load(f, 4, e->row, LANG(program.from)));
	ir_br(f, O_ULT, at, ir_load(f, 4, e->row, LANG(program.n)), in, done);
	ir_at(f, in);
	ir_br(f, O_EQ, ir_load(f, 4, e->walk, AT(lang_begun)), e->number, begun, done);
	ir_at(f, begun);
	ir_br(f, O_NE, ir_load(f, 8, e->walk, AT(cursor)), ir_con(f, 0), left, done);
	ir_at(f, left);
	ir_store(f, 4, e->walk, AT(lang), e->number);
	ir_store(f, 4, e->walk, AT(lang_first), ir_con(f, !e->only));
	ir_store(f, 4, e->walk, AT(perl_all), ir_con(f, 1));
	if (!e->only)
		ir_store(f, 8, e->walk, AT(perl_ip), ir_load(f, 8, e->walk, AT(ip)));
	ir_jmp(f, done);
	ir_at(f, done);
}

static void begin(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *start = ir_blk(f), *begun = ir_blk(f);
	ir_br(f, O_EQ, get(x, 4, AT(lang_begun)), x->number, begun, start);
	ir_at(f, start);
	struct ref state = lang_state(x);
	struct ref op = lang_word(x, ir_op2(f, O_ADD, state, lang_param(x, LANG(op))));
	/* Between the calls of what compares for sort, say, its context is there, and no call. */
	ir_store(f, 4, x->walk, AT(perl_idle), ir_op2(f, O_EQ, op, ir_con(f, 0)));
	struct ref cop = lang_word(x, ir_op2(f, O_ADD, state, lang_param(x, LANG(statement))));
	ir_store(f, 8, x->walk, AT(perl_cop), cop);
	enter(x, lang_word(x, ir_op2(f, O_ADD, state, lang_param(x, LANG(newest)))));
	put(x, 4, AT(perl_used), 0);
	put(x, 4, AT(perl_ended), 0);
	put(x, 8, AT(cursor), 1);
	ir_store(f, 4, x->walk, AT(lang_begun), x->number);
	ir_jmp(f, begun);
	ir_at(f, begun);
}

/* ---- one frame ---- */

/* What stands for the line; .lang_file is the file's name. */
static struct ref statement(const struct lang *x)
{
	enum { FROM = 32, LINE = PERL_COP_LINE - FROM, FILE_AT = PERL_COP_FILE - FROM };
	struct fn *f = x->f;
	struct blk *in_gv = ir_blk(f), *text = ir_blk(f), *large = ir_blk(f), *done = ir_blk(f);
	struct ref file = ir_var(f), line = ir_var(f), none = ir_con(f, UNWIND_NO_INSTR);
	lang_read(x, AT(word), ir_con(f, FILE_AT + 8), ir_addi(f, get(x, 8, AT(perl_cop)), FROM));
	ir_set(f, line, get(x, 4, AT(word) + LINE));
	ir_set(f, file, get(x, 8, AT(word) + FILE_AT));
	ir_br(f, O_NE, lang_param(x, LANG(file_in_gv)), ir_con(f, 0), in_gv, text);
	ir_at(f, in_gv);
	struct ref parts = lang_word(x, ir_addi(f, ir_get(f, file), PERL_VALUE));
	struct ref scalar = lang_word(x, parts);
	ir_set(f, file, lang_word(x, ir_addi(f, scalar, PERL_VALUE)));
	ir_jmp(f, text);
	ir_at(f, text);
	ir_store(f, 8, x->walk, AT(lang_file), ir_get(f, file));
	ir_br(f, O_UGT, ir_get(f, line), none, large, done);
	ir_at(f, large);
	ir_set(f, line, none);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, line);
}
_Static_assert((int)PERL_COP_FILE - 32 + 8 <= (int)sizeof(((struct walk *)0)->word), "it fits");

/* A function's address is that of what its CV points to, others have their kind in its place. */
static struct ref code_of(const struct lang *x, struct ref kind)
{
	struct fn *f = x->f;
	struct blk *sub = ir_blk(f), *other = ir_blk(f), *done = ir_blk(f);
	struct ref code = ir_var(f);
	ir_br(f, O_EQ, kind, ir_con(f, PERL_FRAME_SUB), sub, other);
	ir_at(f, sub);
	struct ref any = lang_word(x, ir_addi(f, get(x, 8, FRAME(PERL_CX_CV)), PERL_ANY));
	ir_set(f, code, any);
	lang_read(x, AT(lang_sign), ir_con(f, 8 * SIGN_WORDS), ir_addi(f, any, PERL_CV_START));
	ir_jmp(f, done);
	ir_at(f, other);
	ir_set(f, code, kind);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, code);
}
_Static_assert(PERL_CV_START + 8 == (int)PERL_CV_ROOT && PERL_CV_ROOT + 8 == (int)PERL_CV_GV,
	       "read at once");

static struct ref mix_in(const struct lang *x, struct ref h, i32 at, u32 words)
{
	const u64 mix_by = 0x9e3779b97f4a7c15;
	struct fn *f = x->f;
	for (u32 i = 0; i < words; i++) {
		h = ir_op2(f, O_XOR, h, get(x, 8, at + 8 * (i32)i));
		h = ir_op2(f, O_MUL, h, ir_con(f, mix_by));
		h = ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
	}
	return h;
}

/* So many words of the name of the file. */
static struct ref mix_in_text(const struct lang *x, struct ref h, u32 words)
{
	for (u32 i = 0; i < words; i++)
		put(x, 8, AT(perl_text) + 8 * (i32)i, 0);
	ir_call(x->f, BPF_FUNC_probe_read_user_str,
		ARGS(ir_addi(x->f, x->walk, AT(perl_text)), ir_con(x->f, 8 * words),
		     get(x, 8, AT(lang_file))));
	return mix_in(x, h, AT(perl_text), words);
}

/* Copies of a function differ in their address: what tells it apart is its code, its name and so much of that of
 * the file as is different for each string that is evaluated. */
static struct ref sign(const struct lang *x, struct ref kind)
{
	enum { EVAL_WORDS = 2 };
	struct fn *f = x->f;
	struct blk *sub = ir_blk(f), *other = ir_blk(f), *done = ir_blk(f);
	struct ref h = ir_var(f), begin = ir_op2(f, O_XOR, kind, get(x, 8, AT(space)));
	ir_br(f, O_EQ, kind, ir_con(f, PERL_FRAME_SUB), sub, other);
	ir_at(f, sub);
	ir_set(f, h, mix_in_text(x, mix_in(x, begin, AT(lang_sign), SIGN_WORDS), EVAL_WORDS));
	ir_jmp(f, done);
	ir_at(f, other);
	ir_set(f, h, mix_in_text(x, begin, WALK_TEXT_WORDS));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_op2(f, O_OR, ir_get(f, h), ir_con(f, 1)); /* 0 is nobody's */
}

static void show(const struct lang *x, struct ref kind, struct ref frames, u32 limit)
{
	struct ref line = statement(x), code = code_of(x, kind);
	struct shown s = {.sign = sign(x, kind), .code = code, .instr = line};
	lang_show(x, frames, limit, &s);
}

/* Of the context that was read: enum perl_frame. */
static struct ref kind_of(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *eval = ir_blk(f), *other = ir_blk(f), *done = ir_blk(f);
	struct ref kind = ir_var(f), type = get(x, 1, FRAME(PERL_CX_TYPE));
	struct ref is = ir_op2(f, O_AND, type, ir_con(f, PERL_TYPE_MASK));
	ir_br(f, O_EQ, is, ir_con(f, PERL_EVAL), eval, other);
	ir_at(f, eval);
	struct ref in_place = ir_op2(f, O_AND, type, ir_con(f, PERL_STRING | PERL_BLOCK));
	in_place = ir_op2(f, O_EQ, in_place, ir_con(f, 0));
	ir_set(f, kind, ir_addi(f, in_place, PERL_FRAME_EVAL));
	ir_jmp(f, done);
	ir_at(f, other);
	is = ir_op2(f, O_EQ, is, ir_con(f, PERL_FORMAT));
	ir_set(f, kind, ir_op2(f, O_MUL, is, ir_con(f, PERL_FRAME_FORMAT)));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, kind);
}
_Static_assert((int)PERL_FRAME_FILE == (int)PERL_FRAME_EVAL + 1 && (int)PERL_FRAME_SUB == 0,
	       "programs compute");

/* ---- a round ---- */

/* A call of the main loop is over; what is the first part of what runs is that of the next one, if it is idle. */
static void end_call(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *idle = ir_blk(f);
	put(x, 4, AT(perl_ended), 0);
	branch_if(x, AT(perl_all), x->leave);
	branch_if(x, AT(perl_idle), idle);
	put(x, 4, AT(perl_used), 0);
	ir_jmp(f, x->off);
	ir_at(f, idle);
	put(x, 4, AT(perl_idle), 0);
	ir_jmp(f, x->leave);
}

/* No function is left in this stackinfo: the one before follows, or, to main, the program. */
static void end_stack(const struct lang *x, struct blk *program)
{
	struct fn *f = x->f;
	struct blk *ends = ir_blk(f), *more = ir_blk(f);
	struct ref before = get(x, 8, AT(perl_before));
	struct ref end = ir_op2(f, O_OR, get(x, 4, AT(perl_used)), get(x, 4, AT(perl_bare)));
	ir_br(f, O_EQ, before, ir_con(f, 0), program, more);
	ir_at(f, more);
	enter(x, before);
	ir_br(f, O_NE, end, ir_con(f, 0), ends, x->leave);
	ir_at(f, ends);
	end_call(x);
}

/* Is the context that was read the eval of a block, that returns to nothing? Control goes there. */
static void is_bare_eval(const struct lang *x, struct blk *yes, struct blk *no)
{
	struct fn *f = x->f;
	struct blk *block = ir_blk(f);
	struct ref type = ir_op2(f, O_AND, get(x, 1, FRAME(PERL_CX_TYPE)),
				 ir_con(f, PERL_TYPE_MASK | PERL_BLOCK));
	ir_br(f, O_EQ, type, ir_con(f, PERL_EVAL | PERL_BLOCK), block, no);
	ir_at(f, block);
	ir_br(f, O_EQ, get(x, 8, FRAME(PERL_CX_RETURN)), ir_con(f, 0), yes, no);
}

/* The next context, of which there is one; to done, when the last one ended its call of the loop, and this one
 * does not belong to that. */
static void read_context(const struct lang *x, struct blk *done)
{
	struct fn *f = x->f;
	struct blk *ended = ir_blk(f), *block = ir_blk(f), *take = ir_blk(f);
	struct ref off = ir_op2(f, O_MUL, get(x, 4, AT(perl_at)), ir_con(f, PERL_CX_BYTES));
	lang_read(x, AT(lang_frame), ir_con(f, PERL_CX_BYTES),
		  ir_op2(f, O_ADD, get(x, 8, AT(perl_base)), off));
	ir_br(f, O_NE, get(x, 4, AT(perl_ended)), ir_con(f, 0), ended, take);
	ir_at(f, ended);
	struct ref flags = ir_op2(f, O_AND, get(x, 1, FRAME(PERL_CX_TYPE)),
				  ir_con(f, PERL_BLOCK | PERL_HIDDEN));
	ir_br(f, O_NE, flags, ir_con(f, 0), block, done);
	ir_at(f, block);
	ir_br(f, O_EQ, get(x, 8, FRAME(PERL_CX_RETURN)), ir_con(f, 0), take, done);
	ir_at(f, take);
	ir_store(f, 4, x->walk, AT(perl_index), get(x, 4, AT(perl_at)));
	ir_store(f, 4, x->walk, AT(perl_at), get(x, 4, FRAME(PERL_CX_BEFORE)));
}
_Static_assert((int)PERL_CX_BYTES <= 8 * UNWIND_FRAME_WORDS, "it is read at once");
_Static_assert((int)PERL_SI_BYTES <= 8 * UNWIND_FRAME_WORDS, "it is read at once");

/* Behind a context: is the call of the main loop over? An eval that is alone in its stackinfo is one of
 * call_sv(), which has not called yet, or no more. */
static void is_over(const struct lang *x, struct blk *done)
{
	struct fn *f = x->f;
	struct blk *bare = ir_blk(f), *not_bare = ir_blk(f), *more = ir_blk(f), *last = ir_blk(f);
	branch_if(x, AT(perl_ended), done);
	is_bare_eval(x, bare, not_bare);
	ir_at(f, bare);
	branch_if(x, AT(perl_index), more);
	ir_jmp(f, x->leave);
	ir_at(f, not_bare);
	ir_br(f, O_EQ, get(x, 8, FRAME(PERL_CX_RETURN)), ir_con(f, 0), last, more);
	ir_at(f, last);
	put(x, 4, AT(perl_ended), 1);
	ir_jmp(f, more);
	ir_at(f, more);
	put(x, 4, AT(perl_used), 1);
	ir_jmp(f, x->leave);
}

void unwind_perl_frame(const struct lang *x, struct ref frames, u32 limit)
{
	struct fn *f = x->f;
	struct blk *some = ir_blk(f), *left = ir_blk(f), *end = ir_blk(f), *program = ir_blk(f),
		   *done = ir_blk(f), *seen = ir_blk(f), *shown = ir_blk(f), *hidden = ir_blk(f),
		   *behind = ir_blk(f), *over = ir_blk(f), *alone = ir_blk(f), *last = ir_blk(f),
		   *follows = ir_blk(f);
	struct ref kind = ir_var(f);
	begin(x);
	ir_br(f, O_NE, get(x, 8, AT(cursor)), ir_con(f, 0), some, x->none);
	ir_at(f, some);
	ir_br(f, O_NE, is_number(f, get(x, 4, AT(perl_at))), ir_con(f, 0), left, end);
	ir_at(f, end);
	end_stack(x, program);
	ir_at(f, program);
	branch_if(x, AT(perl_ended), alone);
	ir_jmp(f, last);
	ir_at(f, alone);
	branch_if(x, AT(perl_all), last);
	ir_jmp(f, done);
	ir_at(f, last);
	put(x, 8, AT(cursor), 0);
	ir_set(f, kind, ir_con(f, PERL_FRAME_MAIN));
	ir_jmp(f, shown);
	ir_at(f, left);
	read_context(x, done);
	struct ref flag = ir_op2(f, O_AND, get(x, 1, FRAME(PERL_CX_TYPE)), ir_con(f, PERL_HIDDEN));
	ir_br(f, O_NE, flag, ir_con(f, 0), hidden, seen);
	ir_at(f, seen);
	ir_set(f, kind, kind_of(x));
	ir_jmp(f, shown);
	ir_at(f, shown);
	show(x, ir_get(f, kind), frames, limit);
	ir_br(f, O_EQ, get(x, 8, AT(cursor)), ir_con(f, 0), over, behind);
	ir_at(f, behind);
	ir_store(f, 8, x->walk, AT(perl_cop), get(x, 8, FRAME(PERL_CX_COP)));
	ir_jmp(f, hidden);
	ir_at(f, hidden);
	is_over(x, done);
	ir_at(f, done);
	end_call(x);
	ir_at(f, over);
	struct ref ip = get(x, 8, AT(perl_ip));
	ir_br(f, O_NE, ip, ir_con(f, 0), follows, x->off);
	ir_at(f, follows);
	lang_put(x, frames, limit, ip);
	ir_jmp(f, x->off);
}

/* ---- names ---- */

/* A word of the process, 0 when it cannot be read. */
static struct ref word(struct fn *f, const struct code_names *n, struct ref addr, i32 off)
{
	ir_call(f, BPF_FUNC_probe_read_user,
		ARGS(ir_addi(f, n->walk, AT(word)), ir_con(f, 8), ir_addi(f, addr, off)));
	return ir_load(f, 8, n->walk, AT(word));
}

/* Where a package, a hash, has its name. */
static struct ref package_name(struct fn *f, const struct code_names *n, struct ref stash)
{
	struct blk *behind = ir_blk(f), *within = ir_blk(f), *both = ir_blk(f), *many = ir_blk(f),
		   *one = ir_blk(f);
	struct ref aux = ir_var(f), name = ir_var(f), hash = word(f, n, stash, PERL_ANY);
	ir_br(f, O_NE, ir_load(f, 4, n->row, LANG(aux_behind)), ir_con(f, 0), behind, within);
	ir_at(f, behind);
	struct ref items = ir_addi(f, word(f, n, hash, PERL_HV_MAX), 1);
	struct ref array = word(f, n, stash, PERL_VALUE);
	ir_set(f, aux, ir_op2(f, O_ADD, array, ir_op2(f, O_SHL, items, ir_con(f, 3))));
	ir_jmp(f, both);
	ir_at(f, within);
	ir_set(f, aux, ir_addi(f, hash, PERL_HV_BYTES));
	ir_jmp(f, both);
	ir_at(f, both);
	ir_set(f, name, word(f, n, ir_get(f, aux), PERL_AUX_NAME));
	struct ref count = ir_op1(f, O_EXTU, 4, word(f, n, ir_get(f, aux), PERL_AUX_COUNT));
	ir_br(f, O_NE, count, ir_con(f, 0), many, one);
	ir_at(f, many);
	ir_set(f, name, word(f, n, ir_get(f, name), 0));
	ir_jmp(f, one);
	ir_at(f, one);
	return ir_get(f, name);
}

void unwind_perl_names(struct lower *l, const struct code_names *n)
{
	struct fn *f = l->f;
	struct blk *sub = ir_blk(f), *named = ir_blk(f), *by_gv = ir_blk(f), *both = ir_blk(f),
		   *done = ir_blk(f);
	struct ref name = ir_var(f), stash = ir_var(f);
	lang_copy(l, n->rec, ir_con(f, (u32)CODE(file)), ir_con(f, UNWIND_FILE_BYTES), n->file);
	ir_br(f, O_UGT, n->code, ir_con(f, PERL_FRAME_MAIN), sub, done);
	ir_at(f, sub);
	struct ref flags =
		ir_op2(f, O_AND, word(f, n, n->code, PERL_CV_FLAGS), ir_con(f, PERL_CV_NAMED));
	ir_br(f, O_NE, flags, ir_con(f, 0), named, by_gv);
	ir_at(f, named);
	ir_set(f, name, word(f, n, n->code, PERL_CV_GV));
	ir_set(f, stash, word(f, n, n->code, PERL_CV_STASH));
	ir_jmp(f, both);
	ir_at(f, by_gv);
	struct ref gv = word(f, n, word(f, n, n->code, PERL_CV_GV), PERL_ANY);
	ir_set(f, name, word(f, n, gv, PERL_GV_NAME));
	ir_set(f, stash, word(f, n, gv, PERL_GV_STASH));
	ir_jmp(f, both);
	ir_at(f, both);
	struct ref package = package_name(f, n, ir_get(f, stash));
	lang_copy(l, n->rec, ir_con(f, (u32)CODE(name)), ir_con(f, PERL_NAME_BYTES),
		  ir_get(f, name));
	lang_copy(l, n->rec, ir_con(f, (u32)CODE(name) + PERL_NAME_BYTES),
		  ir_con(f, PERL_NAME_BYTES), package);
	ir_jmp(f, done);
	ir_at(f, done);
}
