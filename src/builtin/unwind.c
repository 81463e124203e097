/*
 * unwind.c - the kernel half of dw_ustack: walks a user stack by the tables of core/unwind.h.
 *
 * bpf_loop calls a function once per frame. What it knows from frame to frame is in scratch memory
 * (struct walk), where the verifier does not follow it; the pointers that it needs are on the
 * caller's stack (struct links), where their kinds are known.
 */
#include "builtin/common.h"
#include "kern/regs.h"
#include "sym/cfi.h"

struct walk {
	u64 ip, sp, fp;
	u64 back; /* 1: ip is a return address, the call lies before it */
	u64 word[2];
	u32 n, changes;
	u32 from, to; /* pieces of the list in use */
};
struct links {
	u64 walk, frames, slot;
};

/* Of the function being built. */
struct step {
	struct lower *l;
	struct fn *f;
	struct ref walk, frames, slot, key;
	struct ref ip, sp, fp, rule, off; /* off: of the rule, in bytes */
	struct ref frame, caller;         /* variables: where the frame begins; the caller's fp */
	struct blk *stop, *bad_read, *have_frame, *done;
};

#define AT(member) ((i32)offsetof(struct walk, member))

/* ---- counters ---- */

static void count_lost(struct lower *l, struct fn *f, struct ref off, i32 word)
{
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->unwind->lost->index));
	if (ref_is(off))
		p = ir_op2(f, O_ADD, p, off);
	ir_xadd(f, 8, p, 8 * word, ir_con(f, 1));
}

/* In the file of a piece. */
static void count_file(struct step *x, struct ref piece)
{
	struct fn *f = x->f;
	struct ref id = ir_load(f, 4, piece, offsetof(struct unwind_piece, module));
	id = ir_op2(f, O_AND, id, ir_con(f, UNWIND_MODULES - 1));
	count_lost(x->l, f, ir_op2(f, O_SHL, id, ir_con(f, 3)), UNWIND_LOST_FIRST_MODULE);
	ir_jmp(f, x->stop);
}

/* ---- searching ---- */

struct search {
	struct ref base, key; /* of an array of keys of .w bytes, .stride apart, from .off on */
	u32 w, stride_bits, half;
	i32 off;
};

/*
 * Number of the last key <= the one searched for; that of .from is. By halves, without a range that
 * the verifier would have to follow: the masks tell it all.
 */
static struct ref find_last(struct fn *f, const struct search *s, struct ref from, struct ref to)
{
	struct ref pos = ir_var(f), mask = ir_con(f, 2 * s->half - 1);
	ir_set(f, pos, ir_op2(f, O_AND, from, mask));
	for (u32 step = s->half; step; step /= 2) {
		struct blk *in = ir_blk(f), *hit = ir_blk(f), *next = ir_blk(f);
		struct ref t = ir_addi(f, ir_get(f, pos), step);
		ir_br(f, O_ULT, t, to, in, next);
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

/* ---- return addresses that return probes replaced ---- */

enum { MAX_RETURNS = 64 };
struct returns { /* offsets in the kernel's structs */
	i32 utask, first, stack, address, next;
};

static bool offset_of(const struct type *t, const char *member, i32 *ret)
{
	struct field f;
	bool known = t && type_field(t, str_z(member), &f);
	*ret = known ? (i32)(f.bit_off / 8) : 0;
	return known;
}

static bool find_returns(struct host *h, struct returns *r)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	const struct type *utask = k ? btf_types_find(k, STR("uprobe_task"), T_STRUCT) : NULL;
	const struct type *one = k ? btf_types_find(k, STR("return_instance"), T_STRUCT) : NULL;
	return offset_of(task, "utask", &r->utask) &&
	       offset_of(utask, "return_instances", &r->first) &&
	       offset_of(one, "stack", &r->stack) &&
	       offset_of(one, "orig_ret_vaddr", &r->address) && offset_of(one, "next", &r->next);
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
	struct returns r;
	struct blk *head = ir_blk(f), *body = ir_blk(f), *found = ir_blk(f), *other = ir_blk(f);
	if (!find_returns(x->l->u->host, &r)) {
		ir_jmp(f, none);
		return;
	}
	struct ref at = ir_var(f), round = ir_var(f);
	struct ref place = ir_addi(f, x->sp, -8);
	struct ref task = ir_call(f, BPF_FUNC_get_current_task_btf, 0, NULL);
	ir_set(f, at, kernel_word(x, kernel_word(x, task, r.utask, none), r.first, none));
	ir_set(f, round, ir_con(f, 0));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, O_ULT, ir_get(f, round), ir_con(f, MAX_RETURNS), body, none);
	ir_at(f, body);
	ir_set(f, round, ir_addi(f, ir_get(f, round), 1));
	struct ref stack = kernel_word(x, ir_get(f, at), r.stack, none);
	ir_br(f, O_EQ, stack, place, found, other);
	ir_at(f, other);
	ir_set(f, at, kernel_word(x, ir_get(f, at), r.next, none));
	ir_jmp(f, head);
	ir_at(f, found);
	ir_store(f, 8, x->walk, AT(ip), kernel_word(x, ir_get(f, at), r.address, none));
	ir_store(f, 4, x->walk, AT(n), ir_addi(f, ir_load(f, 4, x->walk, AT(n)), -1));
	ir_jmp(f, x->done);
}

/* The piece that the address is in; else the stack is cut. */
static struct ref find_piece(struct step *x, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *above = ir_blk(f), *in = ir_blk(f), *none = ir_blk(f), *cut = ir_blk(f);
	struct search s = {
		.base = x->slot,
		.key = addr,
		.w = 8,
		.stride_bits = 5,
		.half = UNWIND_PIECES,
		.off = offsetof(struct unwind_slot, piece),
	};
	struct ref i =
		find_last(f, &s, ir_load(f, 4, x->walk, AT(from)), ir_load(f, 4, x->walk, AT(to)));
	struct ref p = ir_op2(f, O_ADD, x->slot, ir_op2(f, O_SHL, i, ir_con(f, s.stride_bits)));
	p = ir_addi(f, p, s.off);
	ir_br(f, O_UGE, addr, ir_load(f, 8, p, offsetof(struct unwind_piece, start)), above, none);
	ir_at(f, above);
	ir_br(f, O_ULT, addr, ir_load(f, 8, p, offsetof(struct unwind_piece, end)), in, none);
	ir_at(f, none);
	undo_return(x, cut);
	ir_at(f, cut);
	count_lost(x->l, f, REF_NONE, UNWIND_LOST_FILE);
	ir_jmp(f, x->stop);
	ir_at(f, in);
	return p;
}

/* A map's element, or control goes to none. */
static struct ref element(struct fn *f, struct ref map, struct ref key, struct blk *none)
{
	struct blk *some = ir_blk(f);
	struct ref p = ir_call(f, BPF_FUNC_map_lookup_elem, ARGS(map, key));
	ir_br(f, O_NE, p, ir_con(f, 0), some, none);
	ir_at(f, some);
	return p;
}

static struct ref find_rule(struct step *x, struct ref piece, struct ref addr)
{
	struct fn *f = x->f;
	struct blk *none = ir_blk(f), *rows = ir_blk(f), *bare = ir_blk(f), *made = ir_blk(f);
	struct ref var = ir_var(f);
	struct ref n = ir_load(f, 2, piece, offsetof(struct unwind_piece, n));
	ir_br(f, O_NE, n, ir_con(f, 0), rows, bare);
	ir_at(f, bare);
	ir_br(f, O_EQ, ir_load(f, 2, piece, offsetof(struct unwind_piece, first)), ir_con(f, 1),
	      made, none);
	ir_at(f, rows);
	struct ref start = ir_load(f, 8, piece, offsetof(struct unwind_piece, start));
	struct ref pc = ir_op2(f, O_ADD, ir_op2(f, O_SUB, addr, start),
			       ir_load(f, 4, piece, offsetof(struct unwind_piece, pc)));
	struct ref first = ir_load(f, 2, piece, offsetof(struct unwind_piece, first));
	ir_store(f, 4, x->key, 0, ir_load(f, 4, piece, offsetof(struct unwind_piece, chunk)));
	struct ref map = element(f, ir_map(x->l->u->unwind->rows->index), x->key, none);
	ir_store(f, 4, x->key, 0, ir_con(f, 0));
	struct ref chunk = element(f, map, x->key, none);
	struct search s = {
		.base = chunk, .key = pc, .w = 4, .stride_bits = 2, .half = UNWIND_CHUNK / 2};
	struct ref i = find_last(f, &s, first, ir_op2(f, O_ADD, first, n));
	struct ref p = ir_op2(f, O_ADD, chunk, ir_op2(f, O_SHL, i, ir_con(f, s.stride_bits)));
	struct ref rule = ir_load(f, 4, p, offsetof(struct unwind_chunk, rule));
	struct ref kind = ir_op2(f, O_AND, rule, ir_con(f, (1u << UNWIND_KIND_BITS) - 1));
	struct blk *known = ir_blk(f), *some = ir_blk(f);
	ir_br(f, O_NE, kind, ir_con(f, UNWIND_NONE), some, none);
	ir_at(f, some);
	ir_set(f, var, rule);
	ir_br(f, O_ULT, kind, ir_con(f, UNWIND_UNKNOWN), known, none);
	ir_at(f, made); /* push %rbp; mov %rsp,%rbp; ... */
	ir_set(f, var, ir_con(f, unwind_rule(UNWIND_FP, 2, 2)));
	ir_jmp(f, known);
	ir_at(f, none);
	count_file(x, piece);
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
	read_words(x, 1, ir_addi(f, x->sp, SIGFRAME_FP));
	ir_store(f, 8, x->walk, AT(fp), word(x, 0));
	read_words(x, 2, ir_addi(f, x->sp, SIGFRAME_SP)); /* and SIGFRAME_IP behind it */
	ir_store(f, 8, x->walk, AT(sp), word(x, 0));
	ir_store(f, 8, x->walk, AT(ip), word(x, 1));
	ir_store(f, 8, x->walk, AT(back), ir_con(f, 0));
	ir_jmp(f, x->done);
}
_Static_assert(SIGFRAME_IP == SIGFRAME_SP + 8, "read at once");

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
	other = kind_is(x, kind, UNWIND_PLT);
	struct ref low = ir_op2(f, O_AND, x->ip, ir_con(f, 15));
	struct ref pushed = ir_op2(f, O_UGE, low, ir_op2(f, O_SHR, x->off, ir_con(f, 3)));
	frame_is(x, ir_op2(f, O_ADD, ir_addi(f, x->sp, 8), ir_op2(f, O_SHL, pushed, ir_con(f, 3))));
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_SIGNAL);
	signal_frame(x);
	ir_at(f, other);
	other = kind_is(x, kind, UNWIND_FP_AT);
	read_words(x, 1, ir_op2(f, O_ADD, x->fp, x->off));
	frame_is(x, word(x, 0));
	ir_at(f, other); /* UNWIND_SP_AT, UNWIND_SP_AT_8 */
	read_words(x, 1, ir_op2(f, O_ADD, x->sp, x->off));
	struct ref more = ir_op2(f, O_EQ, kind, ir_con(f, UNWIND_SP_AT_8));
	frame_is(x, ir_op2(f, O_ADD, word(x, 0), ir_op2(f, O_SHL, more, ir_con(f, 3))));
}

/* The caller's frame pointer and the return address: mostly in one read, or one is enough. */
static void find_caller(struct step *x, struct ref frame)
{
	struct fn *f = x->f;
	struct ref where = ir_op2(f, O_SHR, x->rule, ir_con(f, UNWIND_FP_SHIFT));
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
	ir_store(f, 8, x->walk, AT(ip), ir_get(f, ra));
	ir_store(f, 8, x->walk, AT(sp), frame);
	ir_store(f, 8, x->walk, AT(fp), ir_get(f, x->caller));
	ir_store(f, 8, x->walk, AT(back), ir_con(f, 1));
	ir_br(f, O_NE, ir_get(f, ra), ir_con(f, 0), x->done, x->stop);
}

/* The frame's address into the stack; goes on while there may be more of them. */
static void put_frame(struct step *x, u32 limit)
{
	struct fn *f = x->f;
	struct blk *room = ir_blk(f), *more = ir_blk(f);
	struct ref n = ir_load(f, 4, x->walk, AT(n));
	ir_br(f, O_ULT, n, ir_con(f, limit), room, x->stop);
	ir_at(f, room);
	struct ref at = ir_op2(f, O_ADD, x->frames, ir_op2(f, O_SHL, n, ir_con(f, 3)));
	ir_store(f, 8, at, 0, x->ip);
	ir_store(f, 4, x->walk, AT(n), ir_addi(f, n, 1));
	ir_br(f, O_ULT, n, ir_con(f, limit - 1), more, x->stop);
	ir_at(f, more);
}

/* long unwind(u32 round, struct links *): 1 ends the walk. */
static struct fn *make_step(struct lower *l, u32 limit)
{
	struct fn *f = ir_fn(&l->c->scratch, STR("unwind"));
	f->callback = true;
	f->nparam = 2;
	f->loc = l->f->loc;
	struct ref links = ir_param(f, 1);
	struct step x = {
		.l = l,
		.f = f,
		.walk = ir_load(f, 8, links, offsetof(struct links, walk)),
		.frames = ir_load(f, 8, links, offsetof(struct links, frames)),
		.slot = ir_load(f, 8, links, offsetof(struct links, slot)),
		.key = ir_slot(f, 8),
		.frame = ir_var(f),
		.caller = ir_var(f),
		.stop = ir_blk(f),
		.bad_read = ir_blk(f),
		.have_frame = ir_blk(f),
		.done = ir_blk(f),
	};
	assert(ref_is(x.key));
	x.ip = ir_load(f, 8, x.walk, AT(ip));
	put_frame(&x, limit);
	x.sp = ir_load(f, 8, x.walk, AT(sp));
	x.fp = ir_load(f, 8, x.walk, AT(fp));
	struct ref addr = ir_op2(f, O_SUB, x.ip, ir_load(f, 8, x.walk, AT(back)));
	x.rule = find_rule(&x, find_piece(&x, addr), addr);
	struct ref kind = ir_op2(f, O_AND, x.rule, ir_con(f, (1u << UNWIND_KIND_BITS) - 1));
	x.off = ir_op2(f, O_SAR, ir_op2(f, O_SHL, x.rule, ir_con(f, 64 - UNWIND_FP_SHIFT)),
		       ir_con(f, 64 - UNWIND_OFF_BITS));
	x.off = ir_op2(f, O_SHL, x.off, ir_con(f, 3));
	find_frame(&x, kind);
	ir_at(f, x.have_frame);
	struct blk *up = ir_blk(f);
	struct ref frame = ir_get(f, x.frame);
	ir_br(f, O_UGT, frame, x.sp, up,
	      x.bad_read); /* stacks grow downwards: else it is no stack */
	ir_at(f, up);
	find_caller(&x, frame);
	ir_at(f, x.done);
	ir_ret(f, ir_con(f, 0));
	ir_at(f, x.bad_read);
	count_lost(l, f, REF_NONE, UNWIND_LOST_READ);
	ir_jmp(f, x.stop);
	ir_at(f, x.stop);
	ir_ret(f, ir_con(f, 1));
	return f;
}

/* ---- around the walk ---- */

static struct map *table(struct unit *u, const char *name, u32 type, u32 val_size, u32 entries)
{
	struct map *m = unit_map(u, MAP_AUX, name);
	m->map_type = type;
	m->val_size = val_size;
	m->max_entries = entries;
	return m;
}

static void make_tables(struct unit *u)
{
	if (u->unwind)
		return;
	u->unwind = arena_new(u->arena, struct unwind);
	u32 n = u->scope.npid + u->ndwarf_pid + UNWIND_SLOTS;
	u->unwind->nslot = n;
	u->unwind->pids = table(u, "unwind_pids", BPF_MAP_TYPE_HASH, 4, n);
	u->unwind->slots =
		table(u, "unwind_slots", BPF_MAP_TYPE_ARRAY, sizeof(struct unwind_slot), n);
	u->unwind->slots->flags = BPF_F_MMAPABLE;
	u->unwind->rows = table(u, "unwind_rows", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, UNWIND_CHUNKS);
	u->unwind->rows->inner_size = sizeof(struct unwind_chunk);
	u->unwind->lost = table(u, "unwind_lost", BPF_MAP_TYPE_ARRAY, 8 * UNWIND_LOST_WORDS, 1);
}

static void start_regs(struct lower *l, struct mem walk)
{
	static const i32 reg[] = {REGS_IP, REGS_SP, REGS_FP}, at[] = {AT(ip), AT(sp), AT(fp)};
	struct ref var[countof(reg)];
	for (u32 i = 0; i < countof(reg); i++)
		var[i] = ir_var(l->f);
	builtin_user_regs(l, countof(reg), reg, var);
	for (u32 i = 0; i < countof(reg); i++)
		lower_store(l, 8, mem_at(walk, at[i]), ir_get(l->f, var[i]));
}

static void start_list(struct lower *l, struct mem walk, struct ref slot)
{
	struct fn *f = l->f;
	lower_store(l, 4, mem_at(walk, AT(changes)),
		    ir_load(f, 4, slot, offsetof(struct unwind_slot, changes)));
	struct ref half = ir_load(f, 4, slot, offsetof(struct unwind_slot, active));
	half = ir_op2(f, O_AND, half, ir_con(f, 1));
	struct ref p = ir_op2(f, O_ADD, slot, ir_op2(f, O_SHL, half, ir_con(f, 2)));
	struct ref from = ir_op2(f, O_MUL, half, ir_con(f, UNWIND_PIECES));
	struct ref n = ir_load(f, 4, p, offsetof(struct unwind_slot, n));
	lower_store(l, 4, mem_at(walk, AT(from)), from);
	lower_store(l, 4, mem_at(walk, AT(to)), ir_op2(f, O_ADD, from, n));
	lower_store(l, 8, mem_at(walk, AT(back)), ir_con(f, 0));
}

/* A list that changed twice was written while it was read. */
static void check_changes(struct lower *l, struct mem walk, struct ref slot)
{
	struct fn *f = l->f;
	struct blk *twice = ir_blk(f), *ok = ir_blk(f);
	struct ref now = ir_load(f, 4, slot, offsetof(struct unwind_slot, changes));
	struct ref was = lower_load(l, 4, false, mem_at(walk, AT(changes)));
	struct ref d = ir_op1(f, O_EXTU, 4, ir_op2(f, O_SUB, now, was));
	twice->unlikely = true;
	ir_br(f, O_UGT, d, ir_con(f, 1), twice, ok);
	ir_at(f, twice);
	count_lost(l, f, REF_NONE, UNWIND_LOST_CHANGED);
	ir_jmp(f, ok);
	ir_at(f, ok);
}

static void run_walk(struct lower *l, struct mem walk, struct ref frames, struct ref slot,
		     u32 limit)
{
	struct fn *f = l->f;
	struct ref links = ir_slot(f, sizeof(struct links));
	assert(ref_is(links));
	start_regs(l, walk);
	start_list(l, walk, slot);
	ir_store(f, 8, links, offsetof(struct links, walk), lower_addr(l, walk));
	ir_store(f, 8, links, offsetof(struct links, frames), frames);
	ir_store(f, 8, links, offsetof(struct links, slot), slot);
	u32 rounds = limit + MIN(limit, MAX_RETURNS); /* some frames are made twice */
	ir_call(f, BPF_FUNC_loop,
		ARGS(ir_con(f, rounds), ir_fnref(f, make_step(l, limit)), links, ir_con(f, 0)));
	check_changes(l, walk, slot);
}

/* Kernel threads, and processes that are ending, have no stack. */
static void skip_dead(struct lower *l, struct blk *done)
{
	struct fn *f = l->f;
	struct types *k = host_btf(l->u->host);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct blk *lives = ir_blk(f);
	i32 mm;
	if (!offset_of(task, "mm", &mm))
		return;
	struct ref cur = ir_call(f, BPF_FUNC_get_current_task_btf, 0, NULL);
	ir_br(f, O_NE, ir_load(f, 8, cur, mm), ir_con(f, 0), lives, done);
	ir_at(f, lives);
}

void builtin_unwind(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	u32 limit = call->type->count;
	make_tables(l->u);
	const struct unwind *u = l->u->unwind;
	struct ref pid = ir_op2(f, O_SHR, builtin_pid_tgid(l), ir_con(f, 32));
	struct blk *none = ir_blk(f), *done = ir_blk(f);
	struct mem walk = lower_scratch(l, sizeof(struct walk));
	struct mem out = mem_at(dst, offsetof(struct stack_value, ip)), frames = out;
	if (dst.base.kind == R_SLOT) /* the function that is called cannot index this stack */
		frames = lower_scratch(l, 8 * limit);
	lower_zero(l, frames, 8 * limit);
	lower_store(l, 4, mem_at(walk, AT(n)), ir_con(f, 0));
	struct ref to = lower_addr(l, frames), key = ir_slot(f, 8);
	assert(ref_is(key));
	skip_dead(l, done);
	ir_store(f, 4, key, 0, pid);
	struct ref index = element(f, ir_map(u->pids->index), key, none);
	ir_store(f, 4, key, 0, ir_load(f, 4, index, 0));
	struct ref slot = element(f, ir_map(u->slots->index), key, none);
	run_walk(l, walk, to, slot, limit);
	ir_jmp(f, done);
	ir_at(f, none);
	count_lost(l, f, REF_NONE, UNWIND_LOST_PROCESS);
	ir_jmp(f, done);
	ir_at(f, done);
	if (dst.base.kind == R_SLOT)
		lower_copy(l, out, frames, 8 * limit);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)),
		    lower_load(l, 4, false, mem_at(walk, AT(n))));
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, pid)), pid);
}
