/*
 * walk_lang.c - frames of interpreted languages in a walk (struct unwind_lang of core/unwind.h).
 *
 * A native frame in the main loop of an interpreter begins a walk of the interpreter's own frames, one
 * in each round, up to the one that was called from outside of the loop; then the native walk goes on.
 * Everything is read from the process, and may be nonsense: what is read is bounded, and so are rounds.
 */
#include "unwind/walk_lang.h"

/* Offsets in task_struct: of the thread pointer, and of what keys count from. */
struct thread_at {
	i32 pointer, keys;
};

/* Of a member, or a member of that: "uw.tp_value". */
static bool find_within(const struct type *t, struct str path, i32 *ret)
{
	struct field f;
	i32 dot;
	*ret = 0;
	do {
		dot = str_find(path, STR("."));
		if (!type_field(t, dot < 0 ? path : str_n(path.s, (u32)dot), &f))
			return false;
		*ret += (i32)(f.bit_off / 8);
		t = f.type;
		path = str_from(path, (u32)dot + 1);
	} while (dot >= 0);
	return true;
}

static bool find_thread(struct host *h, struct thread_at *ret)
{
	const struct arch_unwind *u = &h->arch->unwind;
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct field thread;
	if (!u->thread_pointer || !task || !type_field(task, STR("thread"), &thread) ||
	    !find_within(thread.type, str_z(u->thread_pointer), &ret->pointer))
		return false;
	ret->keys = ret->pointer += (i32)(thread.bit_off / 8);
	return !u->keys_by_tid || unwind_offset(task, "clear_child_tid", &ret->keys);
}

bool unwind_langs(struct host *h, enum stack_mode mode)
{
	struct thread_at at;
	return mode != STACK_NATIVE && find_thread(h, &at);
}

void unwind_lang_begin(struct lower *l, struct mem walk, struct ref task, struct ref pid)
{
	struct thread_at at;
	bool known = find_thread(l->c->host, &at);
	assert(known);
	struct ref thread = ir_load(l->f, 8, task, at.pointer);
	struct ref keys = at.keys == at.pointer ? thread : ir_load(l->f, 8, task, at.keys);
	lower_store(l, 8, mem_at(walk, AT(thread)), thread);
	lower_store(l, 8, mem_at(walk, AT(keys)),
		    ir_addi(l->f, keys, l->c->host->arch->unwind.keys));
	lower_store(l, 4, mem_at(walk, AT(pid)), pid);
}

/* Row number - 1 of langs. */
static struct ref lang_row(struct lower *l, struct fn *f, struct ref number)
{
	struct ref langs = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->unwind->langs->index));
	struct ref i = ir_op2(f, O_AND, ir_addi(f, number, -1), ir_con(f, UNWIND_LANGS - 1));
	return ir_op2(f, O_ADD, langs, ir_op2(f, O_SHL, i, ir_con(f, UNWIND_LANG_SHIFT)));
}

struct ref lang_row_of(struct lower *l, struct fn *f, struct ref piece)
{
	return lang_row(l, f, ir_load(f, 4, piece, offsetof(struct unwind_piece, lang)));
}

/* One more in the interpreter's word of those from first on. */
static void count(struct lower *l, struct fn *f, struct ref number, i32 first)
{
	struct ref i = ir_op2(f, O_AND, ir_addi(f, number, -1), ir_con(f, UNWIND_LANGS - 1));
	unwind_count_lost(l, f, ir_op2(f, O_SHL, i, ir_con(f, 3)), first);
}

/* ---- where it begins ---- */

/* Control goes to same where this call of the main loop stands for what the call within it does. That is
 * the one which one function alone lies between. */
static void goes_on(struct lower *l, struct ref walk, struct ref row, struct ref number,
		    struct blk *same)
{
	enum { ROUNDS = 2 }; /* the function, the call */
	struct fn *f = l->f;
	struct blk *nests = ir_blk(f), *begun = ir_blk(f), *other = ir_blk(f);
	ir_br(f, O_EQ, ir_load(f, 4, row, LANG(form)), ir_con(f, UNWIND_FORM_PERL), nests, other);
	ir_at(f, nests);
	ir_br(f, O_EQ, ir_load(f, 4, walk, AT(lang_begun)), number, begun, other);
	ir_at(f, begun);
	struct ref round = ir_op2(f, O_SUB, ir_param(f, 0), ir_load(f, 4, walk, AT(lang_left)));
	ir_br(f, O_EQ, ir_op1(f, O_EXTU, 4, round), ir_con(f, ROUNDS), same, other);
	ir_at(f, other);
}

void unwind_lang_enter(struct lower *l, struct ref walk, struct ref piece, struct ref addr,
		       bool only)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *in = ir_blk(f), *known = ir_blk(f), *unknown = ir_blk(f),
		   *tell = ir_blk(f), *plain = ir_blk(f), *of_file = ir_blk(f);
	struct ref n = ir_load(f, 4, piece, offsetof(struct unwind_piece, lang));
	some->unlikely = true;
	ir_br(f, O_NE, n, ir_con(f, 0), some, plain);
	ir_at(f, some);
	struct ref row = lang_row(l, f, n);
	struct ref base =
		ir_op2(f, O_SUB, ir_load(f, 8, piece, offsetof(struct unwind_piece, start)),
		       ir_load(f, 4, piece, offsetof(struct unwind_piece, pc)));
	struct ref pc = ir_op2(f, O_SUB, addr, base);
	struct ref made = ir_op2(f, O_NE, ir_load(f, 4, piece, offsetof(struct unwind_piece, kind)),
				 ir_con(f, UNWIND_PIECE_ROWS));
	ir_br(f, O_NE, made, ir_con(f, 0), in, of_file);
	ir_at(f, of_file);
	for (u32 i = 0; i < countof(((struct unwind_lang *)0)->loop); i++) {
		struct blk *next = ir_blk(f);
		struct ref at = ir_op2(f, O_SUB, pc, ir_load(f, 4, row, LANG(loop[i].from)));
		ir_br(f, O_ULT, at, ir_load(f, 4, row, LANG(loop[i].n)), in, next);
		ir_at(f, next);
	}
	unwind_perl_enter(l, &(struct perl_enter){walk, row, n, pc, only});
	ir_jmp(f, plain);
	ir_at(f, in);
	goes_on(l, walk, row, n, plain);
	ir_br(f, O_NE, ir_load(f, 4, row, LANG(known)), ir_con(f, 0), known, unknown);
	ir_at(f, unknown);
	ir_br(f, O_EQ, ir_load(f, 4, walk, AT(lang_told)), ir_con(f, 0), tell, plain);
	ir_at(f, tell);
	ir_store(f, 4, walk, AT(lang_told), ir_con(f, 1));
	count(l, f, n, UNWIND_LOST_LAYOUT);
	ir_jmp(f, plain);
	ir_at(f, known);
	ir_store(f, 4, walk, AT(lang), n);
	ir_store(f, 4, walk, AT(lang_first), ir_con(f, !only));
	ir_store(f, 8, walk, AT(lang_base), base);
	/* what follows finds the caller */
	ir_store(f, 8, walk, AT(v8_pc), addr);
	ir_store(f, 8, walk, AT(v8_fp), ir_load(f, 8, walk, AT(fp)));
	ir_store(f, 4, walk, AT(v8_made), made);
	struct ref table = ir_load(f, 4, piece, offsetof(struct unwind_piece, file));
	ir_store(f, 8, walk, AT(v8_table), ir_op2(f, O_SHL, table, ir_con(f, V8_TABLE_SHIFT)));
	ir_jmp(f, plain);
	ir_at(f, plain);
}

/* ---- reading ---- */

struct ref lang_param(const struct lang *x, i32 member)
{
	return ir_load(x->f, 4, x->row, member);
}

/* So many bytes of the process to a place in the walk's memory. */
void lang_read(const struct lang *x, i32 to, struct ref n, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *ok = ir_blk(f);
	struct ref bad =
		ir_call(f, BPF_FUNC_probe_read_user, ARGS(ir_addi(f, x->walk, to), n, addr));
	ir_br(f, O_EQ, bad, ir_con(f, 0), ok, x->lost);
	ir_at(f, ok);
}

struct ref lang_word(const struct lang *x, struct ref addr)
{
	lang_read(x, AT(word), ir_con(x->f, 8), addr);
	return ir_load(x->f, 8, x->walk, AT(word));
}

struct ref lang_frame_word(const struct lang *x, i32 member)
{
	struct fn *f = x->f;
	u32 mask = 8 * (UNWIND_FRAME_WORDS - 1);
	struct ref at = ir_op2(f, O_AND, lang_param(x, member), ir_con(f, mask));
	return ir_load(f, 8, ir_op2(f, O_ADD, x->walk, at), AT(lang_frame));
}
_Static_assert((UNWIND_FRAME_WORDS & (UNWIND_FRAME_WORDS - 1)) == 0, "programs mask");

/* ---- the newest frame ---- */

/* Where the pointer to the thread's state is: in thread-local memory of a module that may have got some
 * late, whose number and offset stand at words 0 and 1. */
static struct ref dynamic_variable(const struct lang *x)
{
	enum { MODULE_BITS = 16, SLOT_SHIFT = 4, DTV = 8 };
	struct fn *f = x->f;
	struct ref module = ir_load(f, 8, x->walk, AT(word)),
		   off = ir_load(f, 8, x->walk, AT(word) + 8);
	module = ir_op2(f, O_AND, module, ir_con(f, (1u << MODULE_BITS) - 1));
	struct ref dtv = lang_word(x, ir_addi(f, ir_load(f, 8, x->walk, AT(thread)), DTV));
	dtv = ir_op2(f, O_ADD, dtv, ir_op2(f, O_SHL, module, ir_con(f, SLOT_SHIFT)));
	struct ref at = ir_op2(f, O_ADD, lang_word(x, dtv), off);
	return ir_op2(f, O_ADD, at, lang_param(x, LANG(plus)));
}

/* The address of the pointer to the thread's state, which is not one for the whole process. */
static struct ref find_pointer(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *tls = ir_blk(f), *other = ir_blk(f), *key = ir_blk(f), *no_key = ir_blk(f),
		   *made = ir_blk(f), *alone = ir_blk(f), *no_alone = ir_blk(f),
		   *have_key = ir_blk(f), *is_key = ir_blk(f), *added = ir_blk(f),
		   *dynamic = ir_blk(f), *done = ir_blk(f);
	struct ref addr = ir_var(f), number = ir_var(f), root = lang_param(x, LANG(root));
	struct ref at = ir_load(f, 8, x->row, LANG(at)),
		   thread = ir_load(f, 8, x->walk, AT(thread));
	ir_br(f, O_EQ, root, ir_con(f, UNWIND_ROOT_TLS), tls, other);
	ir_at(f, tls);
	ir_set(f, addr, ir_op2(f, O_ADD, thread, at));
	ir_jmp(f, done);
	ir_at(f, other);
	lang_read(x, AT(word), ir_con(f, 16),
		  ir_op2(f, O_ADD, ir_load(f, 8, x->walk, AT(lang_base)), at));
	struct ref word = ir_load(f, 8, x->walk, AT(word));
	ir_br(f, O_EQ, root, ir_con(f, UNWIND_ROOT_KEY), key, no_key);
	ir_at(f, key);
	ir_br(f, O_NE, ir_op1(f, O_EXTU, 4, word), ir_con(f, 0), made, x->lost);
	ir_at(f, made);
	ir_set(f, number, ir_op2(f, O_SHR, word, ir_con(f, 32)));
	ir_jmp(f, have_key);
	ir_at(f, no_key);
	ir_br(f, O_EQ, root, ir_con(f, UNWIND_ROOT_BARE_KEY), alone, no_alone);
	ir_at(f, alone);
	ir_set(f, number, ir_op1(f, O_EXTU, 4, word));
	ir_jmp(f, have_key);
	ir_at(f, have_key);
	word = ir_get(f, number);
	ir_br(f, O_ULT, word, ir_con(f, UNWIND_KEYS), is_key, x->lost);
	ir_at(f, is_key);
	word = ir_op2(f, O_SHL, word, ir_con(f, 4));
	ir_set(f, addr, ir_op2(f, O_ADD, ir_load(f, 8, x->walk, AT(keys)), word));
	ir_jmp(f, done);
	ir_at(f, no_alone);
	ir_br(f, O_EQ, root, ir_con(f, UNWIND_ROOT_TLS_AT), added, dynamic);
	ir_at(f, added);
	word = ir_load(f, 8, x->walk, AT(word));
	ir_set(f, addr, ir_op2(f, O_ADD, thread, word));
	ir_jmp(f, done);
	ir_at(f, dynamic);
	ir_set(f, addr, dynamic_variable(x));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, addr);
}

struct ref lang_state(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *global = ir_blk(f), *own = ir_blk(f), *done = ir_blk(f);
	struct ref state = ir_var(f);
	ir_br(f, O_EQ, lang_param(x, LANG(root)), ir_con(f, UNWIND_ROOT_GLOBAL), global, own);
	ir_at(f, global);
	ir_set(f, state,
	       ir_op2(f, O_ADD, ir_load(f, 8, x->walk, AT(lang_base)),
		      ir_load(f, 8, x->row, LANG(at))));
	ir_jmp(f, done);
	ir_at(f, own);
	ir_set(f, state, lang_word(x, find_pointer(x)));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, state);
}

/* The cursor is at a frame of this interpreter's from here on. */
static void begin(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *start = ir_blk(f), *inner = ir_blk(f), *done = ir_blk(f), *begun = ir_blk(f);
	struct ref frame = ir_var(f);
	ir_br(f, O_EQ, ir_load(f, 4, x->walk, AT(lang_begun)), x->number, begun, start);
	ir_at(f, start);
	struct ref state = lang_state(x);
	ir_set(f, frame, lang_word(x, ir_op2(f, O_ADD, state, lang_param(x, LANG(newest)))));
	struct ref in = lang_param(x, LANG(inner));
	ir_br(f, O_NE, in, ir_con(f, (u32)UNWIND_NOWHERE), inner, done);
	ir_at(f, inner);
	ir_set(f, frame, lang_word(x, ir_op2(f, O_ADD, ir_get(f, frame), in)));
	ir_jmp(f, done);
	ir_at(f, done);
	ir_store(f, 8, x->walk, AT(cursor), ir_get(f, frame));
	ir_store(f, 4, x->walk, AT(lang_begun), x->number);
	ir_jmp(f, begun);
	ir_at(f, begun);
}

/* ---- functions ---- */

/* A hash of what tells a function apart: the process's memory, its address or what stands for that, part of
 * what it says. */
static struct ref sign(const struct lang *x, struct ref code, struct ref is)
{
	enum { SIGN_BYTES = 8 * UNWIND_SIGN_WORDS };
	const u64 mix_by = 0x9e3779b97f4a7c15;
	struct fn *f = x->f;
	struct ref mix = ir_con(f, mix_by), none = ir_con(f, 0);
	for (u32 i = 0; i < UNWIND_SIGN_WORDS; i++)
		ir_store(f, 8, x->walk, AT(lang_sign) + 8 * (i32)i, none);
	struct ref n = ir_op2(f, O_SUB, ir_con(f, SIGN_BYTES), lang_param(x, LANG(sign_less)));
	lang_read(x, AT(lang_sign), lower_at_most(x->l, n, SIGN_BYTES),
		  ir_op2(f, O_ADD, code, lang_param(x, LANG(sign))));
	struct ref h = ir_op2(f, O_MUL, is, mix);
	h = ir_op2(f, O_XOR, h, ir_load(f, 8, x->walk, AT(space)));
	for (u32 i = 0; i < UNWIND_SIGN_WORDS; i++) {
		h = ir_op2(f, O_XOR, h, ir_load(f, 8, x->walk, AT(lang_sign) + 8 * (i32)i));
		h = ir_op2(f, O_MUL, h, mix);
		h = ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
	}
	return ir_op2(f, O_OR, h, ir_con(f, 1)); /* 0 is nobody's */
}

struct place_of {
	struct ref slot, fresh; /* variables; fresh: UNWIND_WORD_FRESH, or 0 */
};

/* A place that is h's already, or is now; control goes to full when there is none. */
static struct place_of find_code(const struct lang *x, struct ref h, struct ref code,
				 struct blk *full)
{
	struct fn *f = x->f;
	struct blk *hit = ir_blk(f), *won = ir_blk(f), *unsent = ir_blk(f), *again = ir_blk(f),
		   *done = ir_blk(f);
	struct place_of p = {ir_var(f), ir_var(f)};
	struct ref codes = ir_op1(f, O_MAPVAL, 8, ir_map(x->l->u->unwind->codes->index));
	struct ref none = ir_con(f, 0), first = ir_op2(f, O_SHR, h, ir_con(f, 48));
	struct ref kept =
		ir_op2(f, O_OR, code,
		       ir_op2(f, O_SHL, ir_addi(f, x->number, -1), ir_con(f, UNWIND_CODE_LANG)));
	ir_set(f, p.fresh, none);
	for (u32 i = 0; i < UNWIND_CODE_TRIES; i++) {
		struct blk *other = ir_blk(f), *empty = ir_blk(f), *taken = ir_blk(f),
			   *next = ir_blk(f);
		struct ref slot =
			ir_op2(f, O_AND, ir_addi(f, first, i), ir_con(f, UNWIND_CODES - 1));
		struct ref at = ir_op2(f, O_ADD, codes, ir_op2(f, O_SHL, slot, ir_con(f, 3)));
		struct ref now = ir_load(f, 8, at, 0);
		ir_set(f, p.slot, slot);
		ir_br(f, O_EQ, now, h, hit, other);
		ir_at(f, other);
		ir_br(f, O_EQ, now, none, empty, next);
		ir_at(f, empty);
		now = ir_cmpxchg(f, 8, at, 0, none, h);
		ir_br(f, O_EQ, now, none, won, taken);
		ir_at(f, taken);
		ir_br(f, O_EQ, now, h, hit, next);
		ir_at(f, next);
	}
	ir_jmp(f, full);
	i32 off = offsetof(struct unwind_codes, code);
	ir_at(f, hit);
	struct ref at = ir_op2(f, O_ADD, codes, ir_op2(f, O_SHL, ir_get(f, p.slot), ir_con(f, 3)));
	ir_br(f, O_SLT, ir_load(f, 8, at, off), none, unsent, done);
	ir_at(f, unsent);
	ir_jmp(f, again);
	ir_at(f, won);
	ir_jmp(f, again);
	ir_at(f, again);
	at = ir_op2(f, O_ADD, codes, ir_op2(f, O_SHL, ir_get(f, p.slot), ir_con(f, 3)));
	ir_store(f, 8, at, off, kept);
	ir_store(f, 8, at, offsetof(struct unwind_codes, file),
		 ir_load(f, 8, x->walk, AT(lang_file)));
	ir_store(f, 4, x->walk, AT(lang_fresh), ir_con(f, 1));
	ir_set(f, p.fresh, ir_con(f, UNWIND_WORD_FRESH));
	ir_jmp(f, done);
	ir_at(f, done);
	return p;
}

/* ---- one frame ---- */

/* The line of an instruction that a frame points to, as a word has it; of a function whose first one is
 * known, and the word before. A frame may point anywhere before its first instruction is done. */
static void line_of(const struct lang *x, struct ref instr, struct ref first, struct ref before,
		    struct ref v)
{
	struct fn *f = x->f;
	struct blk *in = ir_blk(f), *read = ir_blk(f), *done = ir_blk(f);
	struct ref shift = ir_op2(f, O_AND, lang_param(x, LANG(count_bit)), ir_con(f, 63));
	struct ref n = ir_op1(f, O_EXTU, 4, ir_op2(f, O_SHR, before, shift));
	n = ir_op2(f, O_MUL, n, lang_param(x, LANG(op_bytes)));
	ir_set(f, v, ir_con(f, UNWIND_NO_INSTR));
	ir_br(f, O_ULT, ir_op2(f, O_SUB, instr, first), n, in, done);
	ir_at(f, in);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, x->walk, AT(word)), ir_con(f, 4),
				      ir_op2(f, O_ADD, instr, lang_param(x, LANG(line)))));
	ir_br(f, O_EQ, bad, ir_con(f, 0), read, done);
	ir_at(f, read);
	ir_set(f, v, ir_load(f, 4, x->walk, AT(word)));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* The instruction, as a word has it. is: a variable, what stands for the function's address. */
static struct ref instruction(const struct lang *x, struct ref code, struct ref is)
{
	struct fn *f = x->f;
	struct blk *in = ir_blk(f), *plain = ir_blk(f), *self = ir_blk(f), *words = ir_blk(f),
		   *have = ir_blk(f), *large = ir_blk(f), *done = ir_blk(f), *line = ir_blk(f),
		   *count = ir_blk(f);
	struct ref v = ir_var(f), none = ir_con(f, UNWIND_NO_INSTR);
	ir_set(f, is, code);
	struct ref instr = lang_frame_word(x, LANG(instr)), within = lang_param(x, LANG(within));
	ir_br(f, O_NE, within, ir_con(f, UNWIND_WITHIN_NONE), in, plain);
	ir_at(f, in);
	ir_br(f, O_EQ, within, ir_con(f, UNWIND_WITHIN_SELF), self, words);
	ir_at(f, self);
	ir_set(f, v, ir_op2(f, O_SUB, instr, code));
	ir_jmp(f, have);
	ir_at(f, words);
	struct ref at = ir_op2(f, O_ADD, code, lang_param(x, LANG(first_instr)));
	lang_read(x, AT(word), ir_con(f, 16), ir_addi(f, at, -8));
	struct ref before = ir_load(f, 8, x->walk, AT(word)),
		   first = ir_load(f, 8, x->walk, AT(word) + 8);
	ir_br(f, O_EQ, within, ir_con(f, UNWIND_WITHIN_LINE), line, count);
	ir_at(f, line);
	ir_set(f, is, first);
	line_of(x, instr, first, before, v);
	ir_jmp(f, have);
	ir_at(f, count);
	ir_set(f, v, ir_op2(f, O_SHR, ir_op2(f, O_SUB, instr, first), ir_con(f, 3)));
	ir_jmp(f, have);
	ir_at(f, plain);
	ir_set(f, v, ir_op1(f, O_EXTU, 4, instr));
	ir_jmp(f, have);
	ir_at(f, have);
	ir_br(f, O_UGT, ir_get(f, v), none, large, done);
	ir_at(f, large);
	ir_set(f, v, none);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

/* What the frame says of its function. */
static struct ref code_of(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *in = ir_blk(f), *done = ir_blk(f);
	struct ref code = ir_var(f), body = lang_param(x, LANG(body));
	ir_set(f, code,
	       ir_op2(f, O_AND, lang_frame_word(x, LANG(code)),
		      ir_load(f, 8, x->row, LANG(code_mask))));
	ir_br(f, O_NE, body, ir_con(f, (u32)UNWIND_NOWHERE), in, done);
	ir_at(f, in);
	ir_set(f, code, lang_word(x, ir_op2(f, O_ADD, ir_get(f, code), body)));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, code);
}

void lang_put(const struct lang *x, struct ref frames, u32 limit, struct ref word)
{
	struct fn *f = x->f;
	struct blk *room = ir_blk(f);
	struct ref n = ir_op2(f, O_SUB, ir_load(f, 4, x->walk, AT(n)),
			      ir_load(f, 4, x->walk, AT(lang_first)));
	n = ir_op1(f, O_EXTU, 4, n);
	ir_br(f, O_ULT, n, ir_con(f, limit), room, x->full);
	ir_at(f, room);
	ir_store(f, 8, ir_op2(f, O_ADD, frames, ir_op2(f, O_SHL, n, ir_con(f, 3))), 0, word);
	ir_store(f, 4, x->walk, AT(n), ir_addi(f, n, 1));
	ir_store(f, 4, x->walk, AT(lang_first), ir_con(f, 0));
}

void lang_show(const struct lang *x, struct ref frames, u32 limit, const struct shown *s)
{
	struct fn *f = x->f;
	struct blk *full = ir_blk(f), *next = ir_blk(f);
	struct place_of p = find_code(x, s->sign, s->code, full);
	struct ref word = ir_op2(f, O_OR, ir_con(f, UNWIND_WORD), ir_get(f, p.slot));
	word = ir_op2(f, O_OR, word, ir_get(f, p.fresh));
	word = ir_op2(f, O_OR, word, ir_op2(f, O_SHL, s->instr, ir_con(f, UNWIND_WORD_INSTR)));
	struct ref lang = ir_addi(f, x->number, -1);
	word = ir_op2(f, O_OR, word, ir_op2(f, O_SHL, lang, ir_con(f, UNWIND_WORD_LANG)));
	lang_put(x, frames, limit, word);
	ir_jmp(f, next);
	ir_at(f, full);
	count(x->l, f, x->number, UNWIND_LOST_NAMES);
	ir_jmp(f, next);
	ir_at(f, next);
}

static void show_frame(const struct lang *x, struct ref frames, u32 limit)
{
	struct ref code = code_of(x), is = ir_var(x->f), instr = instruction(x, code, is);
	struct shown s = {.code = code, .instr = instr, .sign = sign(x, code, ir_get(x->f, is))};
	lang_show(x, frames, limit, &s);
}

static struct lang lang_at(struct lower *l, struct ref walk, i32 number)
{
	struct fn *f = l->f;
	struct lang x = {.l = l,
			 .f = f,
			 .walk = walk,
			 .number = ir_load(f, 4, walk, number),
			 .lost = ir_blk(f),
			 .full = ir_blk(f),
			 .none = ir_blk(f),
			 .off = ir_blk(f),
			 .leave = ir_blk(f)};
	x.row = lang_row(l, f, x.number);
	return x;
}

enum { FRAME_BYTES = 8 * UNWIND_FRAME_WORDS };

/* The cursor moves on. */
static void find_caller(const struct lang *x, struct ref cursor)
{
	struct fn *f = x->f;
	struct blk *list = ir_blk(f), *array = ir_blk(f), *done = ir_blk(f);
	struct ref stride = lang_param(x, LANG(stride));
	ir_br(f, O_EQ, stride, ir_con(f, 0), list, array);
	ir_at(f, list);
	ir_store(f, 8, x->walk, AT(cursor), lang_frame_word(x, LANG(previous)));
	ir_jmp(f, done);
	ir_at(f, array);
	ir_store(f, 8, x->walk, AT(cursor), ir_op2(f, O_ADD, cursor, stride));
	ir_jmp(f, done);
	ir_at(f, done);
}

static struct ref entry_of(const struct lang *x)
{
	struct fn *f = x->f;
	struct ref at = ir_op2(f, O_AND, lang_param(x, LANG(entry)), ir_con(f, FRAME_BYTES - 1));
	return ir_load(f, 1, ir_op2(f, O_ADD, x->walk, at), AT(lang_frame));
}

/* The bits that say what the frame is. */
static struct ref read_flags(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *here = ir_blk(f), *there = ir_blk(f), *done = ir_blk(f);
	struct ref word = lang_frame_word(x, LANG(flags)), flags = ir_var(f);
	ir_set(f, flags, word);
	ir_br(f, O_NE, lang_param(x, LANG(flags_here)), ir_con(f, 0), here, there);
	ir_at(f, there);
	ir_set(f, flags, lang_word(x, word));
	ir_jmp(f, done);
	ir_at(f, here);
	ir_jmp(f, done);
	ir_at(f, done);
	flags = ir_get(f, flags);
	ir_store(f, 8, x->walk, AT(lang_flags), flags);
	return flags;
}

/* By these bits: is it the last one? Not if its function is native. */
static void leave_by_flags(const struct lang *x)
{
	struct fn *f = x->f;
	struct blk *last = ir_blk(f);
	struct ref bits = ir_load(f, 8, x->walk, AT(lang_flags));
	bits = ir_op2(f, O_AND, bits, lang_param(x, LANG(last_bits)));
	ir_br(f, O_NE, bits, ir_con(f, 0), last, x->leave);
	ir_at(f, last);
	ir_br(f, O_EQ, ir_load(f, 1, x->walk, AT(lang_sign)), lang_param(x, LANG(native)), x->leave,
	      x->off);
}

/* The frame at the cursor, which moves on. Control goes to leave, or to off when the next one is not of
 * the same native frame, to none when there is no frame, to lost when it cannot be read, and to full.
 * native: a native frame came before. */
static void walk_frame(const struct lang *x, struct ref frames, u32 limit, bool native)
{
	struct fn *f = x->f;
	struct blk *some = ir_blk(f), *show = ir_blk(f), *bytes = ir_blk(f), *bits = ir_blk(f),
		   *by_byte = ir_blk(f), *ends = ir_blk(f), *within = ir_blk(f), *over = ir_blk(f),
		   *wanted = ir_blk(f), *plain = ir_blk(f), *perl = ir_blk(f), *v8 = ir_blk(f),
		   *other = ir_blk(f), *java = ir_blk(f), *listed = ir_blk(f);
	struct ref form = lang_param(x, LANG(form));
	ir_br(f, O_EQ, form, ir_con(f, UNWIND_FORM_PERL), perl, other);
	ir_at(f, perl);
	unwind_perl_frame(x, frames, limit);
	ir_at(f, other);
	ir_br(f, O_EQ, form, ir_con(f, UNWIND_FORM_V8), native ? v8 : x->none, plain);
	if (native) {
		ir_at(f, v8);
		unwind_v8_frame(x, frames, limit);
	}
	ir_at(f, plain);
	ir_br(f, O_EQ, form, ir_con(f, UNWIND_FORM_JAVA), native ? java : x->none, listed);
	if (native) {
		ir_at(f, java);
		unwind_java_frame(x, frames, limit);
	}
	ir_at(f, listed);
	begin(x);
	struct ref cursor = ir_load(f, 8, x->walk, AT(cursor));
	ir_br(f, O_NE, cursor, ir_con(f, 0), some, x->none);
	ir_at(f, some);
	lang_read(x, AT(lang_frame),
		  lower_at_most(x->l, lang_param(x, LANG(frame_bytes)), FRAME_BYTES), cursor);
	find_caller(x, cursor);
	ir_br(f, O_EQ, lang_param(x, LANG(flags)), ir_con(f, (u32)UNWIND_NOWHERE), bytes, bits);
	ir_at(f, bytes);
	ir_br(f, O_ULT, entry_of(x), lang_param(x, LANG(hide)), show, x->off);
	ir_at(f, bits);
	struct ref flags = read_flags(x);
	ir_br(f, O_EQ, ir_op2(f, O_AND, flags, lang_param(x, LANG(over_mask))),
	      lang_param(x, LANG(over)), over, within);
	ir_at(f, within);
	ir_br(f, O_NE, ir_op2(f, O_AND, flags, lang_param(x, LANG(skip_bits))), ir_con(f, 0), ends,
	      wanted);
	ir_at(f, wanted);
	ir_br(f, O_EQ, lang_frame_word(x, LANG(code)), ir_con(f, 0), x->leave, show);
	ir_at(f, show);
	show_frame(x, frames, limit);
	ir_br(f, O_EQ, lang_param(x, LANG(flags)), ir_con(f, (u32)UNWIND_NOWHERE), by_byte, ends);
	ir_at(f, by_byte);
	ir_br(f, O_UGE, entry_of(x), lang_param(x, LANG(last)), x->off, x->leave);
	ir_at(f, ends);
	leave_by_flags(x);
	ir_at(f, over);
	ir_store(f, 8, x->walk, AT(cursor), ir_con(f, 0));
	ir_jmp(f, x->none);
}

void unwind_lang_frame(struct lower *l, struct ref walk, struct ref frames, u32 limit)
{
	struct fn *f = l->f;
	struct lang x = lang_at(l, walk, AT(lang));
	walk_frame(&x, frames, limit, true);
	ir_at(f, x.lost);
	count(l, f, x.number, UNWIND_LOST_FRAMES);
	ir_jmp(f, x.off);
	ir_at(f, x.none);
	ir_jmp(f, x.off);
	ir_at(f, x.full);
	ir_jmp(f, x.off);
	ir_at(f, x.off);
	ir_store(f, 4, walk, AT(lang), ir_con(f, 0));
	ir_store(f, 4, walk, AT(lang_left), ir_param(f, 0));
	ir_jmp(f, x.leave);
	ir_at(f, x.leave);
	struct ref off = ir_op2(f, O_EQ, ir_load(f, 4, walk, AT(lang)), ir_con(f, 0));
	ir_ret(f, ir_op2(f, O_AND, off, ir_load(f, 4, walk, AT(lang_over))));
}

/* ---- names ---- */

void lang_copy(struct lower *l, struct ref rec, struct ref to, struct ref n, struct ref addr)
{
	struct fn *f = l->f;
	struct blk *less = ir_blk(f), *all = ir_blk(f), *both = ir_blk(f);
	struct ref here = ir_op2(f, O_AND, addr, ir_con(f, UNWIND_COPY_PAGE - 1));
	struct ref page = ir_op2(f, O_SUB, ir_con(f, UNWIND_COPY_PAGE), here);
	struct ref var = ir_var(f);
	ir_set(f, var, n);
	ir_br(f, O_ULT, page, n, less, all);
	ir_at(f, less);
	ir_set(f, var, page);
	ir_jmp(f, both);
	ir_at(f, all);
	ir_jmp(f, both);
	ir_at(f, both);
	struct ref first = lower_at_most(l, ir_get(f, var), UNWIND_LINE_BYTES);
	struct ref dst = ir_op2(f, O_ADD, rec, to);
	ir_call(f, BPF_FUNC_probe_read_user, ARGS(dst, first, addr));
	struct ref rest = lower_at_most(l, ir_op2(f, O_SUB, n, first), UNWIND_LINE_BYTES);
	ir_call(f, BPF_FUNC_probe_read_user,
		ARGS(ir_op2(f, O_ADD, dst, first), rest, ir_op2(f, O_ADD, addr, first)));
}

/* A part of what is said of a function; pointers to it are in the parts before. */
static void copy_next(struct lower *l, struct ref rec, struct ref row, u32 i)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	i32 part = LANG(part) + (i32)(i * sizeof(struct unwind_part));
	struct ref n = ir_load(f, 2, row, part + (i32)offsetof(struct unwind_part, n));
	ir_br(f, O_NE, n, ir_con(f, 0), some, done);
	ir_at(f, some);
	struct ref mask = ir_con(f, UNWIND_CODE_ROOM - 8);
	struct ref at = ir_load(f, 2, row, part + (i32)offsetof(struct unwind_part, at));
	struct ref to = ir_load(f, 2, row, part + (i32)offsetof(struct unwind_part, to));
	struct ref addr = ir_load(f, 8, ir_op2(f, O_ADD, rec, ir_op2(f, O_AND, at, mask)), 0);
	lang_copy(l, rec, ir_op2(f, O_AND, to, mask), lower_at_most(l, n, UNWIND_LINE_BYTES), addr);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* What is said of the function at a place in codes. */
static void send_code(struct lower *l, struct ref walk, struct ref rec, struct ref word)
{
	struct fn *f = l->f;
	struct blk *failed = ir_blk(f), *done = ir_blk(f), *perl = ir_blk(f), *other = ir_blk(f),
		   *plain = ir_blk(f), *v8 = ir_blk(f), *copied = ir_blk(f), *java = ir_blk(f),
		   *numbers = ir_blk(f);
	struct ref codes = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->unwind->codes->index));
	struct ref slot = ir_op2(f, O_AND, word, ir_con(f, UNWIND_CODES - 1));
	struct ref at = ir_op2(f, O_ADD, codes, ir_op2(f, O_SHL, slot, ir_con(f, 3)));
	i32 off = offsetof(struct unwind_codes, code);
	struct ref kept = ir_load(f, 8, at, off);
	struct ref addr = ir_op2(f, O_AND, kept, ir_con(f, (1ull << UNWIND_CODE_LANG) - 1));
	struct ref number = ir_op2(f, O_SHR, word, ir_con(f, UNWIND_WORD_LANG));
	number = ir_op2(f, O_AND, number, ir_con(f, UNWIND_LANGS - 1));
	struct ref row = lang_row(l, f, ir_addi(f, number, 1));
	ir_store(f, 4, rec, CODE(what), ir_con(f, UNWIND_IS_CODE));
	ir_store(f, 4, rec, CODE(slot), slot);
	ir_store(f, 8, rec, CODE(sign), ir_load(f, 8, at, 0));
	ir_store(f, 8, rec, CODE(addr), addr);
	ir_store(f, 4, rec, CODE(lang), number);
	ir_store(f, 4, rec, CODE(pid), ir_load(f, 4, walk, AT(pid)));
	struct ref file = ir_load(f, 8, at, offsetof(struct unwind_codes, file));
	struct code_names names = {walk, rec, row, addr, file, word};
	ir_br(f, O_EQ, ir_load(f, 4, row, LANG(form)), ir_con(f, UNWIND_FORM_PERL), perl, other);
	ir_at(f, perl);
	unwind_perl_names(l, &names);
	ir_jmp(f, copied);
	ir_at(f, other);
	ir_br(f, O_EQ, ir_load(f, 4, row, LANG(form)), ir_con(f, UNWIND_FORM_V8), v8, plain);
	ir_at(f, v8);
	unwind_v8_names(l, &names);
	ir_jmp(f, copied);
	ir_at(f, plain);
	ir_br(f, O_EQ, ir_load(f, 4, row, LANG(form)), ir_con(f, UNWIND_FORM_JAVA), java, numbers);
	ir_at(f, java);
	unwind_java_names(l, &names);
	ir_jmp(f, copied);
	ir_at(f, numbers);
	lang_copy(l, rec, ir_con(f, (u32)CODE(code)), ir_con(f, UNWIND_CODE_BYTES), addr);
	for (u32 i = 0; i < UNWIND_PARTS; i++)
		copy_next(l, rec, row, i);
	ir_jmp(f, copied);
	ir_at(f, copied);
	struct ref bad = ir_call(f, BPF_FUNC_ringbuf_output,
				 ARGS(ir_map(l->u->unwind->copies->index), rec,
				      ir_con(f, sizeof(struct unwind_code)), ir_con(f, 0)));
	ir_br(f, O_EQ, bad, ir_con(f, 0), done, failed);
	ir_at(f, failed);
	ir_store(f, 8, at, off, ir_op2(f, O_OR, kept, ir_con(f, UNWIND_CODE_UNSENT)));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* long names(u32 round, struct links *), .list of which is room for a record: of frame number round, if
 * they have to be sent. */
static struct fn *make_names(struct lower *l, u32 limit)
{
	struct fn *f = ir_fn(&l->c->scratch, STR("names")), *caller = l->f;
	f->callback = true;
	f->nparam = 2;
	f->loc = caller->loc;
	l->f = f;
	struct ref links = ir_param(f, 1), i = ir_param(f, 0);
	struct ref walk = ir_load(f, 8, links, offsetof(struct links, walk));
	struct ref frames = ir_load(f, 8, links, offsetof(struct links, frames));
	struct ref rec = ir_load(f, 8, links, offsetof(struct links, list));
	struct blk *in = ir_blk(f), *fresh = ir_blk(f), *done = ir_blk(f);
	i = ir_op1(f, O_EXTU, 4, i);
	ir_br(f, O_ULT, i, ir_con(f, limit), in, done);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_ADD, frames, ir_op2(f, O_SHL, i, ir_con(f, 3)));
	struct ref word = ir_load(f, 8, at, 0);
	struct ref kind = ir_op2(f, O_SHR, word, ir_con(f, 61));
	ir_br(f, O_EQ, kind, ir_con(f, (UNWIND_WORD | UNWIND_WORD_FRESH) >> 61), fresh, done);
	ir_at(f, fresh);
	ir_store(f, 8, at, 0, ir_op2(f, O_XOR, word, ir_con(f, UNWIND_WORD_FRESH)));
	send_code(l, walk, rec, word);
	ir_jmp(f, done);
	ir_at(f, done);
	ir_ret(f, ir_con(f, 0));
	l->f = caller;
	return f;
}

void unwind_lang_names(struct lower *l, struct mem walk, struct ref links, struct ref frames,
		       u32 limit)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	some->unlikely = true;
	ir_br(f, O_NE, lower_load(l, 4, false, mem_at(walk, AT(lang_fresh))), ir_con(f, 0), some,
	      done);
	ir_at(f, some);
	u32 kept = l->scratch_at; /* copies of stacks are made there, later */
	struct mem rec = lower_scratch(l, UNWIND_CODE_ROOM + 2 * UNWIND_LINE_BYTES);
	l->scratch_at = kept;
	ir_store(f, 8, links, offsetof(struct links, walk), lower_addr(l, walk));
	ir_store(f, 8, links, offsetof(struct links, frames), frames);
	ir_store(f, 8, links, offsetof(struct links, list), lower_addr(l, rec));
	ir_call(f, BPF_FUNC_loop,
		ARGS(lower_load(l, 4, false, mem_at(walk, AT(n))),
		     ir_fnref(f, make_names(l, limit)), links, ir_con(f, 0)));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* ---- where user space goes on ---- */

struct program_at { /* offsets in the kernel's structs */
	i32 mm, file, code, inode, ino, sb, dev;
};

static bool find_program_at(struct host *h, struct program_at *at)
{
	struct types *k = host_btf(h);
	const char *name[] = {"task_struct", "mm_struct", "file", "inode", "super_block"};
	const struct type *t[countof(name)];
	for (u32 i = 0; i < countof(name); i++)
		t[i] = k ? btf_types_find(k, str_z(name[i]), T_STRUCT) : NULL;
	return unwind_offset(t[0], "mm", &at->mm) && unwind_offset(t[1], "exe_file", &at->file) &&
	       unwind_offset(t[1], "start_code", &at->code) &&
	       unwind_offset(t[2], "f_inode", &at->inode) &&
	       unwind_offset(t[3], "i_ino", &at->ino) && unwind_offset(t[3], "i_sb", &at->sb) &&
	       unwind_offset(t[4], "s_dev", &at->dev);
}

/* bytes of the kernel, 0 when they cannot be read, into the walk's memory. */
static struct ref kernel_read(struct fn *f, struct ref walk, i32 to, u32 bytes, struct ref addr)
{
	ir_call(f, BPF_FUNC_probe_read_kernel, ARGS(ir_addi(f, walk, to), ir_con(f, bytes), addr));
	return ir_load(f, bytes, walk, to);
}

/* What the process runs: which file, and where its code begins. */
static void read_program(struct fn *f, struct ref walk, struct ref task,
			 const struct program_at *at)
{
	i32 dev = AT(program) + (i32)offsetof(struct unwind_program_key, dev);
	i32 ino = AT(program) + (i32)offsetof(struct unwind_program_key, ino);
	struct ref mm = kernel_read(f, walk, AT(word), 8, ir_addi(f, task, at->mm));
	kernel_read(f, walk, AT(program_code), 8, ir_addi(f, mm, at->code));
	struct ref file = kernel_read(f, walk, AT(word), 8, ir_addi(f, mm, at->file));
	struct ref inode = kernel_read(f, walk, AT(word), 8, ir_addi(f, file, at->inode));
	kernel_read(f, walk, ino, 8, ir_addi(f, inode, at->ino));
	struct ref sb = kernel_read(f, walk, AT(sb), 8, ir_addi(f, inode, at->sb));
	kernel_read(f, walk, dev, 4, ir_addi(f, sb, at->dev));
}

/* walk.lang_rest: the interpreter that was begun with, or the one that the process runs. */
static void find_rest(struct lower *l, struct ref walk, struct ref task,
		      const struct program_at *at)
{
	struct fn *f = l->f;
	struct blk *none = ir_blk(f), *listed = ir_blk(f), *known = ir_blk(f), *done = ir_blk(f);
	struct ref begun = ir_load(f, 4, walk, AT(lang_begun));
	ir_store(f, 4, walk, AT(lang_rest), begun);
	ir_br(f, O_EQ, begun, ir_con(f, 0), none, done);
	ir_at(f, none);
	read_program(f, walk, task, at);
	struct ref p = unwind_element(f, ir_map(l->u->unwind->programs->index),
				      ir_addi(f, walk, AT(program)), done);
	struct ref number = ir_load(f, 4, p, offsetof(struct unwind_program, lang));
	struct ref code = ir_load(f, 4, p, offsetof(struct unwind_program, code));
	struct ref base = ir_op2(f, O_SUB, ir_load(f, 8, walk, AT(program_code)), code);
	ir_store(f, 8, walk, AT(lang_base), base);
	struct ref row = lang_row(l, f, number);
	ir_br(f, O_ULT, ir_load(f, 4, row, LANG(form)), ir_con(f, UNWIND_FORM_V8), listed, done);
	ir_at(f, listed);
	ir_br(f, O_NE, ir_load(f, 4, row, LANG(known)), ir_con(f, 0), known, done);
	ir_at(f, known);
	ir_store(f, 4, walk, AT(lang_rest), number);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* long rest(u32 round, struct links *): 1 ends the loop. A thread of an interpreter's process may run
 * nothing of it: what cannot be read is not counted. */
static struct fn *make_rest(struct lower *l, u32 limit, bool only)
{
	struct fn *f = ir_fn(&l->c->scratch, STR("rest")), *caller = l->f;
	struct blk *put = ir_blk(f);
	f->callback = true;
	f->nparam = 2;
	f->loc = caller->loc;
	l->f = f;
	struct ref links = ir_param(f, 1);
	struct ref walk = ir_load(f, 8, links, offsetof(struct links, walk));
	struct ref frames = ir_load(f, 8, links, offsetof(struct links, frames));
	struct lang x = lang_at(l, walk, AT(lang_rest));
	walk_frame(&x, frames, limit, false);
	ir_at(f, x.off);
	ir_jmp(f, only ? x.leave : put);
	ir_at(f, put);
	lang_put(&x, frames, limit, ir_con(f, 0));
	ir_jmp(f, x.leave);
	ir_at(f, x.leave);
	ir_ret(f, ir_con(f, 0));
	ir_at(f, x.lost);
	ir_jmp(f, x.full);
	ir_at(f, x.none);
	ir_jmp(f, x.full);
	ir_at(f, x.full);
	ir_ret(f, ir_con(f, 1));
	l->f = caller;
	return f;
}

void unwind_lang_rest(struct lower *l, struct mem walk, struct ref links, struct ref task,
		      struct ref frames, u32 limit, bool only)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	struct program_at at;
	struct ref w = lower_addr(l, walk);
	if (!find_program_at(l->c->host, &at))
		return;
	find_rest(l, w, task, &at);
	ir_br(f, O_NE, ir_load(f, 4, w, AT(lang_rest)), ir_con(f, 0), some, done);
	ir_at(f, some);
	ir_store(f, 4, w, AT(kept_n), ir_load(f, 4, w, AT(n)));
	ir_store(f, 4, w, AT(lang_first), ir_con(f, 0));
	if (!only)
		ir_store(f, 4, w, AT(n), ir_con(f, 0));
	ir_store(f, 8, links, offsetof(struct links, walk), w);
	ir_store(f, 8, links, offsetof(struct links, frames), frames);
	ir_call(f, BPF_FUNC_loop,
		ARGS(ir_con(f, 3 * MAX_FRAMES), ir_fnref(f, make_rest(l, limit, only)), links,
		     ir_con(f, 0)));
	unwind_lang_names(l, walk, links, frames, limit);
	if (!only) {
		ir_store(f, 4, w, AT(nword), ir_load(f, 4, w, AT(n)));
		ir_store(f, 4, w, AT(n), ir_load(f, 4, w, AT(kept_n)));
	}
	ir_jmp(f, done);
	ir_at(f, done);
}
