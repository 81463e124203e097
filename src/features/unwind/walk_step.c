/*
 * walk_step.c - one frame of a walk by tables: the function that bpf_loop calls. It finds the
 * piece of the process that the address is in, the rule there, where the frame begins, and its
 * caller.
 */
#include "sym/cfi.h"
#include "unwind/walk.h"

/* Of the function being built. */
struct step {
	struct lower *l;
	const struct arch *arch;
	struct fn *f;
	struct ref walk, frames, list, key;
	struct ref ip, sp, fp, rule, off; /* off: of the rule, in bytes */
	struct ref frame, caller;         /* variables: where the frame begins; the caller's fp */
	struct blk *stop, *bad_read, *have_frame, *up, *done;
	bool langs, only; /* there may be frames of interpreters; others are not put */
};

/* ---- counters ---- */

void unwind_count_lost(struct lower *l, struct fn *f, struct ref off, i32 word)
{
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->unwind->lost->index));
	if (ref_is(off))
		p = ir_op2(f, O_ADD, p, off);
	ir_xadd(f, 8, p, 8 * word, ir_con(f, 1));
}

/* In a file, by its number. */
static void count_file(struct step *x, struct ref id)
{
	struct fn *f = x->f;
	id = ir_op2(f, O_AND, id, ir_con(f, UNWIND_FILES - 1));
	unwind_count_lost(x->l, f, ir_op2(f, O_SHL, id, ir_con(f, 3)), UNWIND_LOST_FIRST_FILE);
	ir_jmp(f, x->stop);
}

/* Control goes where user space is asked for what was not there (MISS_...). */
static void miss(struct step *x, u32 what)
{
	ir_store(x->f, 4, x->walk, AT(miss), ir_con(x->f, what));
	ir_jmp(x->f, x->stop);
}

/* ---- searching ---- */

struct search {
	struct ref base, key; /* of an array of keys of .w bytes, .stride apart, from .off on */
	u32 w, stride_bits, half;
	i32 off;
	struct ref told; /* where the number of keys stands: u32 at told_at */
	i32 told_at;
};

/*
 * Number of the last key <= the one searched for; that of .from is. By halves, without a range that
 * the verifier would have to follow: the masks tell it all. The end is read anew for each step, so that
 * the verifier learns nothing from one for the next.
 */
static struct ref find_last(struct fn *f, const struct search *s, struct ref from)
{
	struct ref pos = ir_var(f), mask = ir_con(f, 2 * s->half - 1);
	ir_set(f, pos, ir_op2(f, O_AND, from, mask));
	for (u32 step = s->half; step; step /= 2) {
		struct blk *in = ir_blk(f), *hit = ir_blk(f), *next = ir_blk(f);
		struct ref t = ir_addi(f, ir_get(f, pos), step);
		ir_br(f, O_ULT, t, ir_load(f, 4, s->told, s->told_at), in, next);
		ir_at(f, in);
		t = ir_op2(f, O_AND, t, mask);
		struct ref p =
			ir_op2(f, O_ADD, s->base, ir_op2(f, O_SHL, t, ir_con(f, s->stride_bits)));
		ir_br(f, O_ULE, ir_load(f, s->w, p, s->off), s->key, hit, next);
		ir_at(f, hit);
		ir_set(f, pos, t);
		ir_jmp(f, next);
		ir_at(f, next);
	}
	/* Linux 6.12 loses the range of what a sum was compared for. */
	return ir_op2(f, O_AND, ir_get(f, pos), mask);
}

/* The last frame was none. */
static void drop_frame(struct step *x)
{
	if (!x->only)
		ir_store(x->f, 4, x->walk, AT(n),
			 ir_addi(x->f, ir_load(x->f, 4, x->walk, AT(n)), -1));
}

/* ---- return addresses that return probes replaced ---- */

bool unwind_offset(const struct type *t, const char *member, i32 *ret)
{
	struct field f;
	bool known = t && type_field(t, str_z(member), &f);
	*ret = known ? (i32)(f.bit_off / 8) : 0;
	return known;
}

bool unwind_returns(struct host *h, struct unwind_returns *r)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	const struct type *utask = k ? btf_types_find(k, STR("uprobe_task"), T_STRUCT) : NULL;
	const struct type *one = k ? btf_types_find(k, STR("return_instance"), T_STRUCT) : NULL;
	return unwind_offset(task, "utask", &r->utask) &&
	       unwind_offset(utask, "return_instances", &r->first) &&
	       unwind_offset(one, "stack", &r->stack) &&
	       unwind_offset(one, "orig_ret_vaddr", &r->address) &&
	       unwind_offset(one, "next", &r->next);
}

/* A word of the kernel; control goes to none when it cannot be read or is 0. */
static struct ref kernel_word(struct step *x, struct ref addr, i32 off, struct blk *none)
{
	struct fn *f = x->f;
	struct blk *some = ir_blk(f);
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(ir_addi(f, x->walk, AT(word)), ir_con(f, 8), ir_addi(f, addr, off)));
	struct ref v = ir_load(f, 8, x->walk, AT(word));
	ir_br(f, O_NE, v, ir_con(f, 0), some, none);
	ir_at(f, some);
	return v;
}

/*
 * A uretprobe has put the address of its own code where the return address was; the kernel
 * remembers that by the place on the stack. The frame is made again with the right address; or
 * control goes to none.
 */
static void undo_return(struct step *x, struct blk *none)
{
	struct fn *f = x->f;
	struct unwind_returns r;
	struct blk *head = ir_blk(f), *body = ir_blk(f), *found = ir_blk(f), *other = ir_blk(f);
	if (!unwind_returns(x->l->c->host, &r)) {
		ir_jmp(f, none);
		return;
	}
	struct ref at = ir_var(f), round = lower_index(x->l, 0, MEM_NONE);
	struct ref place = x->arch->unwind.link ? x->sp : ir_addi(f, x->sp, -8);
	struct ref task = ir_call(f, BPF_FUNC_get_current_task_btf, 0, NULL);
	ir_set(f, at, kernel_word(x, kernel_word(x, task, r.utask, none), r.first, none));
	ir_jmp(f, head);
	ir_at(f, head);
	lower_round(x->l, none);
	ir_br(f, O_ULT, ir_get(f, round), ir_con(f, UNWIND_MAX_RETURNS), body, none);
	ir_at(f, body);
	ir_set(f, round, ir_addi(f, ir_get(f, round), 1));
	struct ref stack = kernel_word(x, ir_get(f, at), r.stack, none);
	ir_br(f, O_EQ, stack, place, found, other);
	ir_at(f, other);
	ir_set(f, at, kernel_word(x, ir_get(f, at), r.next, none));
	ir_jmp(f, head);
	ir_at(f, found);
	ir_store(f, 8, x->walk, AT(ip), kernel_word(x, ir_get(f, at), r.address, none));
	drop_frame(x);
	ir_jmp(f, x->done);
}

/* Where a guess led to no code: the last frame was none. */
static void undo_guess(struct step *x, struct ref guess)
{
	struct fn *f = x->f;
	drop_frame(x);
	count_file(x, ir_addi(f, guess, -1));
}

/* At an address that is in no piece, or in one of which nothing is known (asked: there is no use in
 * asking for it). */
static void no_piece(struct step *x, struct ref asked)
{
	struct fn *f = x->f;
	struct blk *cut = ir_blk(f), *guessed = ir_blk(f), *sure = ir_blk(f), *ask = ir_blk(f),
		   *known = ir_blk(f);
	undo_return(x, cut);
	ir_at(f, cut);
	struct ref guess = ir_load(f, 4, x->walk, AT(guess));
	ir_br(f, O_NE, guess, ir_con(f, 0), guessed, sure);
	ir_at(f, guessed);
	undo_guess(x, guess);
	ir_at(f, sure);
	ir_br(f, O_NE, asked, ir_con(f, 0), known, ask);
	ir_at(f, known);
	unwind_count_lost(x->l, f, REF_NONE, UNWIND_LOST_CODE);
	ir_jmp(f, x->stop);
	ir_at(f, ask);
	miss(x, MISS_PIECE);
}

/* The piece that the address is in; else the stack is cut. */
static struct ref find_piece(struct step *x, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *above = ir_blk(f), *in = ir_blk(f), *none = ir_blk(f), *code = ir_blk(f),
		   *nothing = ir_blk(f), *some = ir_blk(f), *bare = ir_blk(f);
	struct ref asked = ir_var(f);
	struct search s = {
		.base = x->list,
		.key = addr,
		.w = 8,
		.stride_bits = 5,
		.half = UNWIND_PIECES / 2,
		.off = offsetof(struct unwind_piece, start),
		.told = x->walk,
		.told_at = AT(to),
	};
	struct ref from = ir_load(f, 4, x->walk, AT(from)), to = ir_load(f, 4, x->walk, AT(to));
	ir_set(f, asked, ir_con(f, 0));
	ir_br(f, O_NE, from, to, some, bare);
	ir_at(f, bare); /* the process has no list */
	ir_jmp(f, none);
	ir_at(f, some);
	struct ref i = find_last(f, &s, from);
	struct ref p = ir_op2(f, O_ADD, x->list, ir_op2(f, O_SHL, i, ir_con(f, s.stride_bits)));
	ir_br(f, O_UGE, addr, ir_load(f, 8, p, offsetof(struct unwind_piece, start)), above, none);
	ir_at(f, above);
	ir_br(f, O_ULT, addr, ir_load(f, 8, p, offsetof(struct unwind_piece, end)), in, none);
	ir_at(f, in);
	ir_br(f, O_EQ, ir_load(f, 4, p, offsetof(struct unwind_piece, kind)),
	      ir_con(f, UNWIND_PIECE_NONE), nothing, code);
	ir_at(f, nothing);
	ir_set(f, asked, ir_con(f, 1));
	ir_jmp(f, none);
	ir_at(f, none);
	no_piece(x, ir_get(f, asked));
	ir_at(f, code);
	ir_store(f, 4, x->walk, AT(guess), ir_con(f, 0));
	return p;
}

struct ref unwind_element(struct fn *f, struct ref map, struct ref key, struct blk *none)
{
	struct blk *some = ir_blk(f);
	struct ref p = ir_call(f, BPF_FUNC_map_lookup_elem, ARGS(map, key));
	ir_br(f, O_NE, p, ir_con(f, 0), some, none);
	ir_at(f, some);
	return p;
}

/* The word of the index for the block that pc is in; control goes to none when nobody has asked for
 * it yet. */
static struct ref find_ref(struct step *x, struct ref file, struct ref pc, struct blk *none)
{
	struct fn *f = x->f;
	struct blk *known = ir_blk(f), *made = ir_blk(f);
	struct ref index = ir_op1(f, O_MAPVAL, 8, ir_map(x->l->u->unwind->index->index));
	struct ref p = ir_op2(f, O_ADD, index, ir_op2(f, O_SHL, file, ir_con(f, 2)));
	struct ref first = ir_load(f, 4, p, offsetof(struct unwind_index, file));
	ir_br(f, O_NE, first, ir_con(f, 0), known, none);
	ir_at(f, known);
	struct ref i = ir_op2(f, O_ADD, first, ir_op2(f, O_SHR, pc, ir_con(f, UNWIND_BLOCK_BITS)));
	i = ir_op2(f, O_AND, i, ir_con(f, UNWIND_INDEX - 1));
	p = ir_op2(f, O_ADD, index, ir_op2(f, O_SHL, i, ir_con(f, 2)));
	struct ref ref = ir_load(f, 4, p, offsetof(struct unwind_index, block));
	ir_br(f, O_NE, ref, ir_con(f, UNWIND_REF_NEW), made, none);
	ir_at(f, made);
	return ref;
}

/* The rule of pc in the block that ref names. */
static struct ref find_row(struct step *x, struct ref ref, struct ref pc, struct blk *none)
{
	struct fn *f = x->f;
	const struct unwind *u = x->l->u->unwind;
	struct blk *seen = ir_blk(f), *mark = ir_blk(f);
	struct ref chunk_no = ir_op2(f, O_SHR, ref, ir_con(f, UNWIND_REF_UNIT_BITS));
	chunk_no = ir_op2(f, O_AND, chunk_no,
			  ir_con(f, ((u32)UNWIND_REF >> UNWIND_REF_UNIT_BITS) - 1));
	ir_store(f, 4, x->key, 0, chunk_no);
	struct ref map = unwind_element(f, ir_map(u->blocks->index), x->key, none);
	ir_store(f, 4, x->key, 0, ir_con(f, 0));
	struct ref chunk = unwind_element(f, map, x->key, none);
	ir_br(f, O_EQ, ir_load(f, 4, chunk, offsetof(struct unwind_chunk, used)), ir_con(f, 0),
	      mark, seen);
	ir_at(f, mark);
	ir_store(f, 4, chunk, offsetof(struct unwind_chunk, used), ir_con(f, 1));
	ir_jmp(f, seen);
	ir_at(f, seen);
	struct ref unit = ir_op2(f, O_AND, ref, ir_con(f, UNWIND_UNITS - 1));
	struct ref block = ir_op2(f, O_ADD, chunk, ir_op2(f, O_SHL, unit, ir_con(f, 6)));
	i32 at = offsetof(struct unwind_chunk, unit);
	struct search s = {
		.base = block,
		.key = ir_op2(f, O_AND, pc, ir_con(f, UNWIND_BLOCK - 1)),
		.w = 2,
		.stride_bits = 2,
		.half = UNWIND_ROWS / 2,
		.off = at + (i32)sizeof(struct unwind_block),
		.told = block,
		.told_at = at + (i32)offsetof(struct unwind_block, n),
	};
	/* The first row's pc is 0; a 0 that the verifier knew would make it follow every path. */
	struct ref zero = ir_load(f, 2, block, s.off);
	struct ref i = find_last(f, &s, zero);
	struct ref row = ir_op2(f, O_ADD, block, ir_op2(f, O_SHL, i, ir_con(f, s.stride_bits)));
	struct ref rule = ir_load(f, 2, row, s.off + (i32)offsetof(struct unwind_row, rule));
	struct ref rules = ir_op1(f, O_MAPVAL, 8, ir_map(u->rules->index));
	return ir_load(f, 4, ir_op2(f, O_ADD, rules, ir_op2(f, O_SHL, rule, ir_con(f, 2))), 0);
}
_Static_assert(UNWIND_UNIT == 1 << 6, "programs shift");

/*
 * By frame pointers where the file says nothing. That is a guess, but not in V8, whose code without tables has them: it
 * may be called from code that was made a moment ago, which is then asked for.
 */
static struct ref find_rule(struct step *x, struct ref piece, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *none = ir_blk(f), *rows = ir_blk(f), *bare = ir_blk(f), *some = ir_blk(f),
		   *guess = ir_blk(f), *unknown = ir_blk(f), *known = ir_blk(f), *kept = ir_blk(f),
		   *same = ir_blk(f), *not_same = ir_blk(f);
	struct ref var = ir_var(f);
	ir_set(f, var, ir_con(f, unwind_by_fp(x->arch->unwind.link)));
	struct ref kind = ir_load(f, 4, piece, offsetof(struct unwind_piece, kind));
	struct ref file = ir_load(f, 4, piece, offsetof(struct unwind_piece, file));
	file = ir_op2(f, O_AND, file, ir_con(f, UNWIND_FILES - 1));
	struct ref first = ir_load(f, 4, piece, offsetof(struct unwind_piece, pc));
	ir_br(f, O_EQ, kind, ir_con(f, UNWIND_PIECE_RULE), same, not_same);
	ir_at(f, not_same);
	if (x->arch->unwind.link) { /* none of Java there */
		ir_jmp(f, rows);
	} else {
		struct blk *heap = ir_blk(f);
		struct java_code code = {x->walk, piece, addr, x->bad_read};
		ir_br(f, O_EQ, kind, ir_con(f, UNWIND_PIECE_HEAP), heap, rows);
		ir_at(f, heap);
		ir_set(f, var, unwind_java_rule(x->l, &code));
		ir_jmp(f, known);
	}
	ir_at(f, same);
	ir_set(f, var, first);
	ir_jmp(f, known);
	ir_at(f, rows);
	struct ref start = ir_load(f, 8, piece, offsetof(struct unwind_piece, start));
	struct ref pc = ir_op2(f, O_ADD, ir_op2(f, O_SUB, addr, start), first);
	pc = ir_op1(f, O_EXTU, 4, pc);
	struct ref ref = find_ref(x, file, pc, none);
	ir_br(f, O_UGE, ref, ir_con(f, (u32)UNWIND_REF), kept, bare);
	ir_at(f, bare);
	ir_jmp(f, guess);
	ir_at(f, kept);
	struct ref rule = find_row(x, ref, pc, none);
	kind = ir_op2(f, O_AND, rule, ir_con(f, (1u << UNWIND_KIND_BITS) - 1));
	ir_br(f, O_NE, kind, ir_con(f, UNWIND_NONE), some, guess);
	ir_at(f, some);
	ir_set(f, var, rule);
	ir_br(f, O_NE, kind, ir_con(f, UNWIND_UNKNOWN), known, unknown);
	ir_at(f, guess);
	struct ref lang = ir_load(f, 4, piece, offsetof(struct unwind_piece, lang));
	struct ref plain = ir_op2(f, O_EQ, lang, ir_con(f, 0));
	ir_store(f, 4, x->walk, AT(guess), ir_op2(f, O_MUL, ir_addi(f, file, 1), plain));
	ir_jmp(f, known);
	ir_at(f, unknown);
	count_file(x, file);
	ir_at(f, none);
	miss(x, MISS_ROWS);
	ir_at(f, known);
	return ir_get(f, var);
}

/* ---- one frame ---- */

/* Words of the traced process into walk.word. */
static void read_words(struct step *x, u32 n, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *ok = ir_blk(f);
	struct ref got = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, x->walk, AT(word)), ir_con(f, 8 * n), addr));
	ir_br(f, O_EQ, got, ir_con(f, 0), ok, x->bad_read);
	ir_at(f, ok);
}

static struct ref word(struct step *x, u32 i)
{
	return ir_load(x->f, 8, x->walk, AT(word) + 8 * (i32)i);
}

static void frame_is(struct step *x, struct ref frame)
{
	ir_set(x->f, x->frame, frame);
	ir_jmp(x->f, x->have_frame);
}

/* Code for one kind of rule follows; other kinds go to the block that is entered behind it. */
static struct blk *kind_is(struct step *x, struct ref kind, enum unwind_kind want)
{
	struct blk *yes = ir_blk(x->f), *no = ir_blk(x->f);
	ir_br(x->f, O_EQ, kind, ir_con(x->f, want), yes, no);
	ir_at(x->f, yes);
	return no;
}

static void signal_frame(struct step *x)
{
	struct fn *f = x->f;
	const struct arch_unwind *u = &x->arch->unwind;
	if (u->link) { /* fp, link, sp and ip, one behind the other */
		read_words(x, 4, ir_addi(f, x->sp, u->signal_fp));
		ir_store(f, 8, x->walk, AT(fp), word(x, 0));
		ir_store(f, 8, x->walk, AT(link), lower_unsigned(x->l, f, word(x, 1)));
		ir_store(f, 8, x->walk, AT(live), ir_con(f, 1));
		ir_store(f, 8, x->walk, AT(sp), word(x, 2));
		ir_store(f, 8, x->walk, AT(ip), word(x, 3));
	} else {
		read_words(x, 1, ir_addi(f, x->sp, u->signal_fp));
		ir_store(f, 8, x->walk, AT(fp), word(x, 0));
		read_words(x, 2, ir_addi(f, x->sp, u->signal_sp)); /* and ip behind it */
		ir_store(f, 8, x->walk, AT(sp), word(x, 0));
		ir_store(f, 8, x->walk, AT(ip), word(x, 1));
		ir_store(f, 8, x->walk, AT(kept), ir_addi(f, x->sp, u->signal_kept));
	}
	ir_store(f, 8, x->walk, AT(back), ir_con(f, 0));
	ir_store(f, 4, x->walk, AT(depth), ir_con(f, UNWIND_AWAY));
	ir_jmp(f, x->done);
}

/* Control goes to read when the register is the one that is followed, and no longer in place. */
static void find_kept(struct step *x, struct ref reg, struct blk *read)
{
	struct fn *f = x->f;
	struct blk *is = ir_blk(f), *other = ir_blk(f);
	ir_br(f, O_EQ, reg, ir_con(f, x->arch->unwind.kept), is, other);
	ir_at(f, is);
	ir_br(f, O_NE, ir_load(f, 8, x->walk, AT(kept)), ir_con(f, UNWIND_KEPT_IN_REG), read,
	      other);
	ir_at(f, other);
}

/* The next frame: its address, where it begins, and x->caller. */
static void caller_is(struct step *x, struct ref frame, struct ref ra)
{
	struct fn *f = x->f;
	ir_store(f, 8, x->walk, AT(ip), ra);
	ir_store(f, 8, x->walk, AT(sp), frame);
	ir_store(f, 8, x->walk, AT(fp), ir_get(f, x->caller));
	ir_store(f, 8, x->walk, AT(back), ir_con(f, 1));
	ir_br(f, O_NE, ra, ir_con(f, 0), x->done, x->stop);
}

/* The first frame is left. */
static void go_deeper(struct step *x)
{
	struct fn *f = x->f;
	struct ref depth = ir_load(f, 4, x->walk, AT(depth)); /* 0 becomes 1 */
	depth = ir_op2(f, O_ADD, depth, ir_op2(f, O_EQ, depth, ir_con(f, UNWIND_LEAF)));
	ir_store(f, 4, x->walk, AT(depth), depth);
}

/* At a register of the first frame, where it is still known, or at the one that is followed; or it
 * is the return address that such a register has. */
static void frame_by_reg(struct step *x, struct ref kind)
{
	struct fn *f = x->f;
	struct blk *some = ir_blk(f), *any = ir_blk(f), *none = ir_blk(f), *read = ir_blk(f),
		   *have = ir_blk(f);
	struct ref value = ir_var(f);
	struct ref reg =
		ir_op2(f, O_SHR, x->rule, ir_con(f, UNWIND_KIND_BITS + UNWIND_REG_OFF_BITS));
	reg = ir_op2(f, O_AND, reg, ir_con(f, UNWIND_REGS - 1));
	struct ref off =
		ir_op2(f, O_SHL, x->rule, ir_con(f, 64 - UNWIND_KIND_BITS - UNWIND_REG_OFF_BITS));
	off = ir_op2(f, O_SAR, off, ir_con(f, 64 - UNWIND_REG_OFF_BITS));
	find_kept(x, reg, read);
	struct ref depth = ir_load(f, 4, x->walk, AT(depth));
	/* unwind_reg_is_known() */
	ir_br(f, O_EQ, depth, ir_con(f, UNWIND_LEAF), any, some);
	ir_at(f, some);
	u32 regs = UNWIND_CALL_REGS | 1u << x->arch->unwind.kept;
	struct ref kept = ir_op2(f, O_SHR, ir_con(f, regs), reg);
	kept = ir_op2(f, O_AND, kept, ir_con(f, 1));
	kept = ir_op2(f, O_AND, kept, ir_op2(f, O_EQ, depth, ir_con(f, UNWIND_CALLERS)));
	ir_br(f, O_NE, kept, ir_con(f, 0), any, none);
	ir_at(f, none);
	unwind_count_lost(x->l, f, REF_NONE, UNWIND_LOST_READ);
	ir_jmp(f, x->stop);
	ir_at(f, any);
	struct ref at = ir_op2(f, O_ADD, x->walk, ir_op2(f, O_SHL, reg, ir_con(f, 3)));
	ir_set(f, value, ir_load(f, 8, at, AT(reg)));
	ir_jmp(f, have);
	ir_at(f, read);
	read_words(x, 1, ir_load(f, 8, x->walk, AT(kept)));
	ir_set(f, value, word(x, 0));
	ir_jmp(f, have);
	ir_at(f, have);
	off = ir_op2(f, O_SHL, off, ir_con(f, 3));
	struct blk *other = kind_is(x, kind, UNWIND_RA_REG);
	go_deeper(x);
	ir_set(f, x->caller, x->fp);
	caller_is(x, ir_op2(f, O_ADD, x->sp, off), ir_get(f, value));
	ir_at(f, other);
	frame_is(x, ir_op2(f, O_ADD, ir_get(f, value), off));
}
_Static_assert((int)UNWIND_COPY_REGS == (int)UNWIND_REGS, "one of each");

/* Where the frame begins, by the kind of the rule; goes on at have_frame. */
static void find_frame(struct step *x, struct ref kind)
{
	struct fn *f = x->f;
	struct blk *other = kind_is(x, kind, UNWIND_SP);
	frame_is(x, ir_op2(f, O_ADD, x->sp, x->off));
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_FP);
	frame_is(x, ir_op2(f, O_ADD, x->fp, x->off));
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_END);
	ir_jmp(f, x->stop);
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_SIGNAL);
	signal_frame(x);
	ir_at(f, other);
	if (x->arch->unwind.link) { /* others: UNWIND_FP_AT, UNWIND_SP_AT */
		struct blk *by_fp = ir_blk(f), *by_sp = ir_blk(f);
		ir_br(f, O_EQ, kind, ir_con(f, UNWIND_FP_AT), by_fp, by_sp);
		ir_at(f, by_fp);
		frame_is(x, ir_op2(f, O_ADD, x->fp, x->off));
		ir_at(f, by_sp);
		frame_is(x, ir_op2(f, O_ADD, x->sp, x->off));
		return;
	}
	struct blk *grows = ir_blk(f);
	other = kind_is(x, kind, UNWIND_FP_AWAY);
	ir_set(f, x->frame, ir_op2(f, O_ADD, x->fp, x->off));
	ir_jmp(f, x->up);
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_PLT);
	struct ref low = ir_op2(f, O_AND, x->ip, ir_con(f, 15));
	struct ref pushed = ir_op2(f, O_UGE, low, ir_op2(f, O_SHR, x->off, ir_con(f, 3)));
	frame_is(x, ir_op2(f, O_ADD, ir_addi(f, x->sp, 8), ir_op2(f, O_SHL, pushed, ir_con(f, 3))));
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_JAVA);
	read_words(x, 3, ir_addi(f, x->fp, -8));
	ir_set(f, x->caller, word(x, 1));
	go_deeper(x);
	ir_store(f, 8, x->walk, AT(kept), ir_con(f, UNWIND_KEPT_NOWHERE));
	ir_br(f, O_UGT, word(x, 0), x->sp, grows, x->bad_read);
	ir_at(f, grows);
	caller_is(x, word(x, 0), word(x, 2));
	ir_at(f, other);
	struct blk *by_reg = ir_blk(f), *at = ir_blk(f); /* those above are behind us */
	ir_br(f, O_UGE, kind, ir_con(f, UNWIND_REG), by_reg, at);
	ir_at(f, by_reg);
	frame_by_reg(x, kind);
	ir_at(f, at);
	other = kind_is(x, kind, UNWIND_FP_AT);
	read_words(x, 1, ir_op2(f, O_ADD, x->fp, x->off));
	frame_is(x, word(x, 0));
	ir_at(f, other); /* UNWIND_SP_AT, UNWIND_SP_AT_8 */
	read_words(x, 1, ir_op2(f, O_ADD, x->sp, x->off));
	struct ref more = ir_op2(f, O_EQ, kind, ir_con(f, UNWIND_SP_AT_8));
	frame_is(x, ir_op2(f, O_ADD, word(x, 0), ir_op2(f, O_SHL, more, ir_con(f, 3))));
}

/* The same where calls leave the return address in a register: see UNWIND_LINK_LIVE. */
static void find_caller_by_link(struct step *x, struct ref frame)
{
	struct fn *f = x->f;
	struct ref where = ir_op2(f, O_SHR, x->rule, ir_con(f, UNWIND_FP_SHIFT));
	struct ref kind = ir_op2(f, O_AND, x->rule, ir_con(f, (1u << UNWIND_KIND_BITS) - 1));
	struct blk *live = ir_blk(f), *sure = ir_blk(f), *saved = ir_blk(f), *alone = ir_blk(f),
		   *up = ir_blk(f), *read = ir_blk(f), *next = ir_blk(f);
	struct ref at = ir_var(f), ra = ir_var(f), one = ir_con(f, 1);
	ir_set(f, x->caller, x->fp);
	ir_br(f, O_EQ, where, ir_con(f, UNWIND_LINK_LIVE), live, saved);
	ir_at(f, live);
	ir_set(f, ra, ir_load(f, 8, x->walk, AT(link)));
	ir_br(f, O_NE, ir_load(f, 8, x->walk, AT(live)), ir_con(f, 0), next, x->bad_read);
	ir_at(f, saved);
	/* In words below the frame, or (UNWIND_FP_AT, UNWIND_SP_AT) up from the register. */
	struct ref odd = ir_op2(f, O_AND, where, one);
	struct ref words = ir_op2(f, O_SHR, ir_op2(f, O_ADD, where, odd), odd);
	words = ir_op2(f, O_SHL, words, ir_con(f, 3));
	ir_set(f, at, ir_op2(f, O_SUB, frame, words));
	ir_br(f, O_UGE, kind, ir_con(f, UNWIND_FP_AT), up, sure);
	ir_at(f, up);
	words = ir_addi(f, ir_op2(f, O_ADD, words, ir_op2(f, O_SHL, odd, ir_con(f, 3))), -16);
	ir_set(f, at, ir_op2(f, O_ADD, ir_op2(f, O_SUB, frame, x->off), words));
	ir_jmp(f, sure);
	ir_at(f, sure);
	ir_br(f, O_EQ, odd, one, alone, read);
	ir_at(f, alone);
	read_words(x, 1, ir_get(f, at));
	ir_set(f, ra, lower_unsigned(x->l, f, word(x, 0)));
	ir_jmp(f, next);
	ir_at(f, read);
	read_words(x, 2, ir_get(f, at));
	ir_set(f, x->caller, word(x, 0));
	ir_set(f, ra, lower_unsigned(x->l, f, word(x, 1)));
	ir_jmp(f, next);
	ir_at(f, next);
	ir_store(f, 8, x->walk, AT(live), ir_con(f, 0));
	caller_is(x, frame, ir_get(f, ra));
}

/* Where the caller's register is that is followed. It is read only when a frame begins at it. */
static void follow_kept(struct step *x, struct ref frame)
{
	struct fn *f = x->f;
	struct blk *moved = ir_blk(f), *next = ir_blk(f);
	struct ref where = ir_op2(f, O_SHR, x->rule, ir_con(f, UNWIND_KEPT_SHIFT));
	ir_br(f, O_NE, where, ir_con(f, UNWIND_KEPT_SAME), moved, next);
	ir_at(f, moved);
	struct ref at = ir_op2(f, O_SUB, frame, ir_op2(f, O_SHL, where, ir_con(f, 3)));
	/* without a branch, of which the verifier would follow both arms: all ones, or 0 */
	struct ref lost = ir_op2(f, O_EQ, where, ir_con(f, UNWIND_KEPT_LOST));
	at = ir_op2(f, O_OR, ir_op2(f, O_AND, at, ir_addi(f, lost, -1)), lost);
	ir_store(f, 8, x->walk, AT(kept), at);
	ir_jmp(f, next);
	ir_at(f, next);
}
_Static_assert(UNWIND_KEPT_NOWHERE == 1 && UNWIND_KEPT_IN_REG == 0, "lost is 1");

/* The caller's frame pointer and the return address: mostly in one read, or one is enough. */
static void find_caller(struct step *x, struct ref frame)
{
	struct fn *f = x->f;
	follow_kept(x, frame);
	struct ref where = ir_op2(f, O_SHR, x->rule, ir_con(f, UNWIND_FP_SHIFT));
	where = ir_op2(f, O_AND, where, ir_con(f, (1u << UNWIND_FP_BITS) - 1));
	struct blk *pair = ir_blk(f), *one = ir_blk(f), *far = ir_blk(f), *lost = ir_blk(f),
		   *saved = ir_blk(f), *here = ir_blk(f), *word_at = ir_blk(f), *next = ir_blk(f);
	struct ref at = ir_var(f), ra = ir_var(f);
	ir_set(f, x->caller, x->fp);
	ir_br(f, O_EQ, where, ir_con(f, 2), pair, one);
	ir_at(f, pair);
	read_words(x, 2, ir_addi(f, frame, -16));
	ir_set(f, x->caller, word(x, 0));
	ir_set(f, ra, word(x, 1));
	ir_jmp(f, next);
	ir_at(f, one);
	read_words(x, 1, ir_addi(f, frame, -8));
	ir_set(f, ra, word(x, 0));
	ir_br(f, O_EQ, where, ir_con(f, UNWIND_FP_SAME), next, far);
	ir_at(f, far);
	ir_br(f, O_EQ, where, ir_con(f, UNWIND_FP_LOST), lost, saved);
	ir_at(f, lost);
	ir_set(f, x->caller, ir_con(f, 0));
	ir_jmp(f, next);
	ir_at(f, saved);
	ir_set(f, at, ir_op2(f, O_SUB, frame, ir_op2(f, O_SHL, where, ir_con(f, 3))));
	ir_br(f, O_EQ, where, ir_con(f, UNWIND_FP_HERE), here, word_at);
	ir_at(f, here);
	ir_set(f, at, x->fp);
	ir_jmp(f, word_at);
	ir_at(f, word_at);
	read_words(x, 1, ir_get(f, at));
	ir_set(f, x->caller, word(x, 0));
	ir_jmp(f, next);
	ir_at(f, next);
	go_deeper(x);
	caller_is(x, frame, ir_get(f, ra));
}

/* The frame's address into the stack; goes on while there may be more of them. Where the last one may
 * be an interpreter's it goes on to see that. */
static void put_frame(struct step *x, u32 limit)
{
	struct fn *f = x->f;
	struct blk *room = ir_blk(f), *more = ir_blk(f);
	struct ref n = ir_load(f, 4, x->walk, AT(n));
	if (x->only)
		return;
	ir_br(f, O_ULT, n, ir_con(f, limit), room, x->stop);
	ir_at(f, room);
	struct ref at = ir_op2(f, O_ADD, x->frames, ir_op2(f, O_SHL, n, ir_con(f, 3)));
	ir_store(f, 8, at, 0, x->ip);
	ir_store(f, 4, x->walk, AT(n), ir_addi(f, n, 1));
	if (x->langs)
		return;
	ir_br(f, O_ULT, n, ir_con(f, limit - 1), more, x->stop);
	ir_at(f, more);
}

/* The piece that the frame is in, whoever runs there. */
static struct ref find_code(struct step *x, struct ref addr, u32 limit)
{
	struct fn *f = x->f;
	struct ref piece = find_piece(x, addr);
	struct blk *more = ir_blk(f);
	if (!x->langs)
		return piece;
	unwind_lang_enter(x->l, x->walk, piece, addr, x->only);
	ir_br(f, O_ULT, ir_load(f, 4, x->walk, AT(n)), ir_con(f, limit), more, x->stop);
	ir_at(f, more);
	return piece;
}

/* An interpreter's frames are walked until they end. */
static void step_in_lang(struct step *x, u32 limit)
{
	struct fn *f = x->f;
	struct blk *lang = ir_blk(f), *native = ir_blk(f);
	if (!x->langs)
		return;
	lang->unlikely = true;
	ir_br(f, O_NE, ir_load(f, 4, x->walk, AT(lang)), ir_con(f, 0), lang, native);
	ir_at(f, lang);
	unwind_lang_frame(x->l, x->walk, x->frames, limit);
	ir_at(f, native);
}

/* No native frame follows; of an interpreter there may be some. */
static void end_native(struct step *x)
{
	struct fn *f = x->f;
	struct blk *lang = ir_blk(f), *none = ir_blk(f);
	if (x->langs) {
		ir_br(f, O_NE, ir_load(f, 4, x->walk, AT(lang)), ir_con(f, 0), lang, none);
		ir_at(f, lang);
		ir_store(f, 4, x->walk, AT(lang_over), ir_con(f, 1));
		ir_ret(f, ir_con(f, 0));
		ir_at(f, none);
	}
	ir_ret(f, ir_con(f, 1));
}

struct fn *unwind_step(struct lower *l, u32 limit, enum stack_mode mode)
{
	struct fn *f = ir_fn(&l->c->scratch, STR("unwind")), *caller = l->f;
	f->callback = true;
	f->nparam = 2;
	f->loc = caller->loc;
	l->f = f;
	struct ref links = ir_param(f, 1);
	struct step x = {
		.l = l,
		.arch = l->c->host->arch,
		.f = f,
		.walk = ir_load(f, 8, links, offsetof(struct links, walk)),
		.frames = ir_load(f, 8, links, offsetof(struct links, frames)),
		.list = ir_load(f, 8, links, offsetof(struct links, list)),
		.key = ir_slot(f, 8),
		.frame = ir_var(f),
		.caller = ir_var(f),
		.stop = ir_blk(f),
		.bad_read = ir_blk(f),
		.have_frame = ir_blk(f),
		.up = ir_blk(f),
		.done = ir_blk(f),
		.langs = unwind_langs(l->c->host, mode),
		.only = mode == STACK_LANG,
	};
	assert(ref_is(x.key));
	step_in_lang(&x, limit);
	x.ip = ir_load(f, 8, x.walk, AT(ip));
	put_frame(&x, limit);
	x.sp = ir_load(f, 8, x.walk, AT(sp));
	x.fp = ir_load(f, 8, x.walk, AT(fp));
	struct ref addr = ir_op2(f, O_SUB, x.ip, ir_load(f, 8, x.walk, AT(back)));
	x.rule = find_rule(&x, find_code(&x, addr, limit), addr);
	struct ref kind = ir_op2(f, O_AND, x.rule, ir_con(f, (1u << UNWIND_KIND_BITS) - 1));
	x.off = ir_op2(f, O_SAR, ir_op2(f, O_SHL, x.rule, ir_con(f, 64 - UNWIND_FP_SHIFT)),
		       ir_con(f, 64 - UNWIND_OFF_BITS));
	x.off = ir_op2(f, O_SHL, x.off, ir_con(f, 3));
	find_frame(&x, kind);
	ir_at(f, x.have_frame);
	struct ref frame = ir_get(f, x.frame);
	bool link = x.arch->unwind.link; /* then a function need not have a frame */
	/* Stacks grow downwards: else it is no stack. */
	ir_br(f, link ? O_UGE : O_UGT, frame, x.sp, x.up, x.bad_read);
	ir_at(f, x.up);
	(link ? find_caller_by_link : find_caller)(&x, ir_get(f, x.frame));
	ir_at(f, x.done);
	ir_ret(f, ir_con(f, 0));
	ir_at(f, x.bad_read);
	unwind_count_lost(l, f, REF_NONE, UNWIND_LOST_READ);
	ir_jmp(f, x.stop);
	ir_at(f, x.stop);
	end_native(&x);
	l->f = caller;
	return f;
}
