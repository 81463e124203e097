/*
 * walk.c - the kernel half of user stacks: walks them by the tables of core/unwind.h.
 *
 * bpf_loop calls a function once per frame (walk_step.c). What it knows from frame to frame is in
 * scratch memory (struct walk), where the verifier does not follow it; the pointers that it needs
 * are on the caller's stack (struct links), where their kinds are known.
 *
 * A walk that comes to something that is not in the tables yet sets .miss; what is left of the
 * stack is then copied for user space (struct unwind_copy).
 */
#include "unwind/walk.h"

/* ---- around the walk ---- */

static struct map *table(struct compile *c, const char *name, u32 type, u32 val_size, u32 entries)
{
	struct map *m = unit_map(c, MAP_AUX, name);
	m->map_type = type;
	m->val_size = val_size;
	m->max_entries = entries;
	return m;
}

static struct map *outer(struct compile *c, const char *name, u32 entries, u32 inner_size)
{
	struct map *m = table(c, name, BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, entries);
	m->inner_size = inner_size;
	return m;
}

static void make_tables(struct compile *c)
{
	struct unit *u = c->unit;
	if (u->unwind)
		return;
	struct unwind *w = u->unwind = arena_new(c->arena, struct unwind);
	w->procs = table(c, "unwind_procs", BPF_MAP_TYPE_HASH, sizeof(struct unwind_proc),
			 UNWIND_PROCS);
	/* Only user space puts elements there. */
	w->procs->flags = host_has(c->host, FEAT_GROWS) ? BPF_F_NO_PREALLOC : 0;
	w->lists = outer(c, "unwind_lists", UNWIND_LISTS, sizeof(struct unwind_list_chunk));
	w->blocks = outer(c, "unwind_blocks", UNWIND_CHUNKS, sizeof(struct unwind_chunk));
	w->index = table(c, "unwind_index", BPF_MAP_TYPE_ARRAY, sizeof(struct unwind_index), 1);
	w->rules = table(c, "unwind_rules", BPF_MAP_TYPE_ARRAY, UNWIND_RULES * sizeof(u32), 1);
	w->index->flags = w->rules->flags = BPF_F_MMAPABLE;
	w->lost = table(c, "unwind_lost", BPF_MAP_TYPE_ARRAY, 8 * UNWIND_LOST_WORDS, 1);
	w->copies = table(c, "unwind_copies", BPF_MAP_TYPE_RINGBUF, 0, UNWIND_COPY_BYTES);
	w->copies->key_size = 0;
	w->langs = table(c, "unwind_langs", BPF_MAP_TYPE_ARRAY, sizeof(struct unwind_langs), 1);
	w->langs->flags = BPF_F_MMAPABLE;
	w->codes = table(c, "unwind_codes", BPF_MAP_TYPE_ARRAY, sizeof(struct unwind_codes), 1);
	w->programs = table(c, "unwind_programs", BPF_MAP_TYPE_HASH, sizeof(struct unwind_program),
			    UNWIND_PROGRAMS);
	w->programs->key_size = sizeof(struct unwind_program_key);
}

/* Control goes to other when the process runs a program that is not of 64 bits. task: REF_NONE for what
 * the probe interrupted. */
static void start_regs(struct lower *l, struct mem walk, struct ref task, struct blk *other)
{
	enum { IP, SP, FP, MODE, FIRST, NREG = FIRST + UNWIND_COPY_REGS };
	static const i32 at[MODE] = {AT(ip), AT(sp), AT(fp)};
	struct fn *f = l->f;
	const struct arch *a = l->c->host->arch;
	i32 reg[NREG] = {a->ip, a->sp, a->fp, a->native.off};
	struct ref var[NREG];
	struct blk *native = ir_blk(f);
	/* With a link register frames begin at sp or fp, but that one is needed. */
	u32 n = FIRST + (a->unwind.link ? 1 : UNWIND_COPY_REGS);
	for (u32 i = FIRST; i < n; i++)
		reg[i] = a->unwind.link ? a->link : arch_dwarf(a, i - FIRST);
	for (u32 i = 0; i < n; i++)
		var[i] = ir_var(f);
	if (ref_is(task))
		lower_regs_of(l, task, n, reg, var);
	else
		lower_user_regs(l, n, reg, var);
	for (u32 i = 0; i < MODE; i++)
		lower_store(l, 8, mem_at(walk, at[i]), ir_get(f, var[i]));
	for (u32 i = FIRST; i < n && !a->unwind.link; i++)
		lower_store(l, 8, mem_at(walk, AT(reg) + 8 * (i32)(i - FIRST)), ir_get(f, var[i]));
	if (a->unwind.link) {
		lower_store(l, 8, mem_at(walk, AT(link)),
			    lower_unsigned(l, f, ir_get(f, var[FIRST])));
		lower_store(l, 8, mem_at(walk, AT(live)), ir_con(f, 1));
	}
	struct ref mode = ir_op2(f, O_AND, ir_get(f, var[MODE]), ir_con(f, a->native.mask));
	ir_br(f, O_EQ, mode, ir_con(f, a->native.value), native, other);
	ir_at(f, native);
}

/* ---- the process's list ---- */

struct task_at { /* offsets in the kernel's structs */
	i32 mm, stack, parent, tgid;
};

static bool find_task(struct host *h, struct task_at *at)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	const struct type *mm = k ? btf_types_find(k, STR("mm_struct"), T_STRUCT) : NULL;
	return unwind_offset(task, "mm", &at->mm) &&
	       unwind_offset(task, "real_parent", &at->parent) &&
	       unwind_offset(task, "tgid", &at->tgid) &&
	       unwind_offset(mm, "start_stack", &at->stack);
}

/* Its entry's list, if it is of the program that the process runs now; else control goes to none.
 */
static void take_entry(struct lower *l, struct mem walk, struct ref key, struct ref list,
		       struct blk *none, struct blk *got)
{
	struct fn *f = l->f;
	const struct unwind *u = l->u->unwind;
	struct blk *same = ir_blk(f);
	struct ref p = unwind_element(f, ir_map(u->procs->index), key, none);
	struct ref first = ir_load(f, 4, p, offsetof(struct unwind_proc, first));
	struct ref n = ir_load(f, 4, p, offsetof(struct unwind_proc, n));
	struct ref chunk = ir_load(f, 4, p, offsetof(struct unwind_proc, chunk));
	/* last, because an element that is replaced may be given to another process */
	ir_br(f, O_EQ, ir_load(f, 8, p, offsetof(struct unwind_proc, space)),
	      lower_load(l, 8, false, mem_at(walk, AT(space))), same, none);
	ir_at(f, same);
	ir_store(f, 4, key, 0, chunk);
	struct ref map = unwind_element(f, ir_map(u->lists->index), key, none);
	ir_store(f, 4, key, 0, ir_con(f, 0));
	ir_set(f, list, unwind_element(f, map, key, none));
	lower_store(l, 4, mem_at(walk, AT(from)), first);
	lower_store(l, 4, mem_at(walk, AT(to)), ir_op2(f, O_ADD, first, n));
	ir_jmp(f, got);
}

/* A word of the kernel, 0 when it cannot be read, into the walk's memory. */
static void kernel_word(struct fn *f, struct ref walk, i32 to, struct ref addr, i32 off)
{
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(ir_addi(f, walk, to), ir_con(f, 8), ir_addi(f, addr, off)));
}

/* Its own list, or its parent's, which has the same memory until it runs another program. The parent is
 * not followed by loads: for a pointer that is loaded from the task, the verifier of Linux 6.4 to 6.19
 * searches the names of all types. */
static struct ref start_list(struct lower *l, struct mem walk, struct ref task, struct ref pid,
			     const struct task_at *at, struct blk *none)
{
	struct fn *f = l->f;
	struct blk *parent = ir_blk(f), *got = ir_blk(f);
	struct ref list = ir_var(f), key = ir_slot(f, 8);
	assert(ref_is(key));
	ir_store(f, 4, key, 0, pid);
	take_entry(l, walk, key, list, parent, got);
	ir_at(f, parent);
	struct ref w = lower_addr(l, walk);
	kernel_word(f, w, AT(word), task, at->parent);
	kernel_word(f, w, AT(word), ir_load(f, 8, w, AT(word)), at->tgid);
	ir_store(f, 4, key, 0, ir_load(f, 4, w, AT(word)));
	take_entry(l, walk, key, list, none, got);
	ir_at(f, got);
	return ir_get(f, list);
}

/* ---- copies ---- */

/* A copy in the making. */
struct copying { /* what callbacks get, in the place of struct links */
	u64 walk, rec;
};
_Static_assert(sizeof(struct copying) <= sizeof(struct links), "one after the other");
struct copy {
	struct lower *l;
	struct mem walk, head; /* head: in scratch memory, and behind it the stack of a small one */
	struct ref rec, links;
	bool small;
};

/* Bytes of stack that the record has room for: of a small one, too, the verifier takes each page for a
 * whole one, and the last begins anywhere. */
static u32 copy_room(bool small)
{
	return small ? UNWIND_SMALL_STACK + UNWIND_COPY_PAGE : UNWIND_COPY_STACK;
}

/* A function that bpf_loop() calls: long name(u32 round, struct copying *). */
static struct fn *copying_fn(struct lower *l, const char *name, struct ref *walk, struct ref *rec)
{
	struct fn *f = ir_fn(&l->c->scratch, str_z(name));
	f->callback = true;
	f->nparam = 2;
	f->loc = l->f->loc;
	struct ref links = ir_param(f, 1);
	*walk = ir_load(f, 8, links, offsetof(struct copying, walk));
	*rec = ir_load(f, 8, links, offsetof(struct copying, rec));
	return f;
}

/* long copy(u32 round, struct copying *): a page of the stack into the record; what is behind the stack in
 * its last page, too. Pages that nobody has touched are not there. */
static struct fn *make_copy(struct lower *l, bool small)
{
	struct ref walk, rec;
	struct fn *f = copying_fn(l, "copy", &walk, &rec);
	struct blk *fits = ir_blk(f), *good = ir_blk(f), *done = ir_blk(f);
	struct ref at = ir_load(f, 4, walk, AT(copy_at)), page = ir_con(f, UNWIND_COPY_PAGE);
	ir_br(f, O_ULE, at, ir_con(f, copy_room(small) - UNWIND_COPY_PAGE), fits, done);
	ir_at(f, fits);
	struct ref src = ir_op2(f, O_ADD, ir_load(f, 8, walk, AT(copy_low)), at);
	struct ref below = ir_op2(f, O_AND, src, ir_con(f, UNWIND_COPY_PAGE - 1));
	struct ref size = ir_op2(f, O_SUB, page, below);
	struct ref dst = ir_addi(f, ir_op2(f, O_ADD, rec, at), offsetof(struct unwind_copy, stack));
	struct ref next = ir_op2(f, O_ADD, at, size);
	ir_store(f, 4, walk, AT(copy_at), next);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user, ARGS(dst, size, src));
	ir_br(f, O_EQ, bad, ir_con(f, 0), good, done);
	ir_at(f, good);
	struct ref round = ir_op2(f, O_AND, ir_param(f, 0), ir_con(f, 31));
	struct ref pages = ir_load(f, 4, walk, AT(copy_pages));
	pages = ir_op2(f, O_OR, pages, ir_op2(f, O_SHL, ir_con(f, 1), round));
	ir_store(f, 4, walk, AT(copy_pages), pages);
	ir_store(f, 4, walk, AT(copy_bytes), next);
	ir_jmp(f, done);
	ir_at(f, done);
	ir_ret(f, ir_con(f, 0));
	return f;
}

/* The copy begins above what the register that is followed was saved by. */
static void copy_kept(struct lower *l, struct mem walk, struct mem head)
{
	struct fn *f = l->f;
	struct blk *moved = ir_blk(f), *next = ir_blk(f);
	u32 kept = l->c->host->arch->unwind.kept;
	if (kept == NO_REG)
		return;
	struct ref at = lower_load(l, 8, false, mem_at(walk, AT(kept)));
	ir_br(f, O_NE, at, ir_con(f, UNWIND_KEPT_IN_REG), moved, next);
	ir_at(f, moved);
	struct mem to = mem_at(head, (i32)(offsetof(struct unwind_copy, reg) + 8 * kept));
	ir_call(f, BPF_FUNC_probe_read_user, ARGS(lower_addr(l, to), ir_con(f, 8), at)); /* or 0 */
	ir_jmp(f, next);
	ir_at(f, next);
}

/* The address of a return probe's code in the copy gives its place to the one that it took.
 * Instances may be left over from calls that never returned: only what is that address, which all
 * have in common, is replaced. */
static void undo_in_copy(struct fn *f, struct ref walk, struct ref rec, u32 bytes, struct blk *done)
{
	struct blk *in = ir_blk(f), *first = ir_blk(f), *other = ir_blk(f), *put = ir_blk(f);
	i32 stack = offsetof(struct unwind_copy, stack);
	struct ref low = ir_load(f, 8, walk, AT(copy_low));
	struct ref off = ir_op2(f, O_SUB, ir_load(f, 8, walk, AT(word)), low);
	ir_br(f, O_ULT, off, ir_con(f, bytes), in, done);
	ir_at(f, in);
	off = ir_op2(f, O_AND, off, ir_con(f, bytes - 8));
	struct ref p = ir_op2(f, O_ADD, rec, off), now = ir_load(f, 8, p, stack);
	struct ref trampoline = ir_load(f, 8, walk, AT(trampoline));
	ir_br(f, O_EQ, trampoline, ir_con(f, 0), first, other);
	ir_at(f, first);
	ir_store(f, 8, walk, AT(trampoline), now);
	ir_jmp(f, put);
	ir_at(f, other);
	ir_br(f, O_EQ, trampoline, now, put, done);
	ir_at(f, put);
	ir_store(f, 8, p, stack, ir_load(f, 8, walk, AT(word) + 8));
	ir_jmp(f, done);
}

/* long returns(u32 round, struct copying *): 1 ends the loop. */
static struct fn *make_undo(struct lower *l, const struct unwind_returns *r, u32 bytes)
{
	struct ref walk, rec;
	struct fn *f = copying_fn(l, "returns", &walk, &rec);
	struct blk *some = ir_blk(f), *done = ir_blk(f), *stop = ir_blk(f);
	struct ref at = ir_load(f, 8, walk, AT(instance));
	ir_br(f, O_NE, at, ir_con(f, 0), some, stop);
	ir_at(f, some);
	kernel_word(f, walk, AT(word), at, r->stack);
	kernel_word(f, walk, AT(word) + 8, at, r->address);
	kernel_word(f, walk, AT(instance), at, r->next);
	undo_in_copy(f, walk, rec, bytes, done);
	ir_at(f, done);
	ir_ret(f, ir_con(f, 0));
	ir_at(f, stop);
	ir_ret(f, ir_con(f, 1));
	return f;
}

/* Others than the script's own are few, and this is what costs the verifier most. */
static bool probes_returns(const struct unit *u)
{
	for (u32 i = 0; i < u->nprog; i++) {
		u32 flags = point_flags(u->prog[i]->points);
		if (flags & PROBE_USER && flags & PROBE_RETVAL)
			return true;
	}
	return false;
}

static void call_loop(const struct copy *c, struct ref rounds, struct fn *fn)
{
	struct fn *f = c->l->f;
	ir_call(f, BPF_FUNC_loop, ARGS(rounds, ir_fnref(f, fn), c->links, ir_con(f, 0)));
}

static void undo_returns(const struct copy *c, struct ref task)
{
	struct fn *f = c->l->f;
	struct unwind_returns r;
	if (!probes_returns(c->l->u) || !unwind_returns(c->l->c->host, &r))
		return;
	struct ref w = lower_addr(c->l, c->walk);
	/* Most tasks have no utask, which reads as 0, and so does what is there. */
	kernel_word(f, w, AT(instance), task, r.utask);
	kernel_word(f, w, AT(instance), ir_load(f, 8, w, AT(instance)), r.first);
	u32 bytes = c->small ? UNWIND_SMALL_STACK : UNWIND_COPY_STACK;
	call_loop(c, ir_con(f, UNWIND_MAX_RETURNS), make_undo(c->l, &r, bytes));
}

static void want_copy(struct lower *l, struct mem walk, struct ref bytes, bool whole,
		      struct blk *to)
{
	lower_store(l, 4, mem_at(walk, AT(copy_want)), bytes);
	lower_store(l, 4, mem_at(walk, AT(copy_whole)), ir_con(l->f, whole));
	ir_jmp(l->f, to);
}

/*
 * Control goes to small where the stack ends soon, else to large. The first thread's begins where exec
 * has put it; of another it is only known whether the page that a small copy does not reach can be read.
 */
static void choose_size(struct lower *l, struct mem walk, struct blk *small, struct blk *large)
{
	struct fn *f = l->f;
	struct blk *is_near = ir_blk(f), *is_far = ir_blk(f), *ends = ir_blk(f),
		   *goes_on = ir_blk(f), *all_fits = ir_blk(f), *part = ir_blk(f);
	struct ref low =
		ir_addi(f, lower_load(l, 8, false, mem_at(walk, AT(sp))), -UNWIND_COPY_BELOW);
	low = ir_op2(f, O_AND, low, ir_con(f, ~7ull));
	lower_store(l, 8, mem_at(walk, AT(copy_low)), low);
	struct ref all = ir_op2(f, O_SUB, lower_load(l, 8, false, mem_at(walk, AT(space))), low);
	ir_br(f, O_ULE, all, ir_con(f, UNWIND_SMALL_STACK), is_near, is_far);
	ir_at(f, is_near);
	want_copy(l, walk, all, true, small);
	ir_at(f, is_far);
	struct ref below = ir_op2(f, O_AND, low, ir_con(f, UNWIND_COPY_PAGE - 1));
	struct ref most = ir_op2(f, O_SUB, ir_con(f, UNWIND_COPY_STACK), below);
	ir_br(f, O_ULE, all, most, all_fits, part);
	ir_at(f, all_fits);
	want_copy(l, walk, all, true, large);
	ir_at(f, part);
	struct ref want = ir_addi(f, most, UNWIND_SMALL_STACK - UNWIND_COPY_STACK);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(lower_addr(l, mem_at(walk, AT(word))), ir_con(f, 8),
				      ir_op2(f, O_ADD, low, want)));
	ir_br(f, O_EQ, bad, ir_con(f, 0), goes_on, ends);
	ir_at(f, ends);
	want_copy(l, walk, want, true, small);
	ir_at(f, goes_on);
	want_copy(l, walk, most, false, large);
}

/* What the walk knows; the number of the copy is the result. */
static struct ref put_state(struct lower *l, struct mem walk, struct mem head, struct ref pid,
			    u32 limit)
{
	static const struct {
		u32 bytes;
		i32 from, to;
	} state[] = {
		{8, AT(space), offsetof(struct unwind_copy, space)},
		{8, AT(ip), offsetof(struct unwind_copy, ip)},
		{8, AT(sp), offsetof(struct unwind_copy, sp)},
		{8, AT(fp), offsetof(struct unwind_copy, fp)},
		{8, AT(back), offsetof(struct unwind_copy, back)},
		{8, AT(link), offsetof(struct unwind_copy, link)},
		{8, AT(live), offsetof(struct unwind_copy, live)},
		{4, AT(depth), offsetof(struct unwind_copy, depth)},
		{4, AT(nword), offsetof(struct unwind_copy, nword)},
		{4, AT(lang_rest), offsetof(struct unwind_copy, lang)},
		{8, AT(program.dev), offsetof(struct unwind_copy, program.dev)},
		{8, AT(program.ino), offsetof(struct unwind_copy, program.ino)},
		{8, AT(program_code), offsetof(struct unwind_copy, code)},
	};
	struct fn *f = l->f;
	for (u32 i = 0; i < countof(state); i++)
		lower_store(l, state[i].bytes, mem_at(head, state[i].to),
			    lower_load(l, state[i].bytes, false, mem_at(walk, state[i].from)));
	for (u32 i = 0; i < UNWIND_COPY_REGS; i++)
		lower_store(l, 8, mem_at(head, (i32)(offsetof(struct unwind_copy, reg) + 8 * i)),
			    lower_load(l, 8, false, mem_at(walk, AT(reg) + 8 * (i32)i)));
	copy_kept(l, walk, head);
	lower_store(l, 8, mem_at(head, offsetof(struct unwind_copy, ns)),
		    ir_call(f, BPF_FUNC_ktime_get_ns, 0, NULL));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, what)),
		    ir_con(f, UNWIND_IS_COPY));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, pid)), pid);
	struct ref n = lower_load(l, 4, false, mem_at(walk, AT(n)));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, left)),
		    ir_op2(f, O_SUB, ir_con(f, limit), n));
	struct ref lost = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->unwind->lost->index));
	struct ref id = ir_atomic(f, O_XADDF, 8, lost, 8 * UNWIND_LOST_IDS, ir_con(f, 1));
	id = ir_op2(f, O_AND, id, ir_con(f, ~UNWIND_MARK_MASK));
	lower_store(l, 8, mem_at(head, offsetof(struct unwind_copy, id)), id);
	return id;
}

/* The stack into the record, and into the head what is known of it then: its length is the result. */
static struct ref copy_stack(const struct copy *c)
{
	struct lower *l = c->l;
	struct fn *f = l->f;
	struct mem walk = c->walk;
	struct ref page = ir_con(f, UNWIND_COPY_PAGE - 1);
	ir_store(f, 8, c->links, offsetof(struct copying, walk), lower_addr(l, walk));
	ir_store(f, 8, c->links, offsetof(struct copying, rec), c->rec);
	struct ref want = lower_load(l, 4, false, mem_at(walk, AT(copy_want)));
	struct ref low = lower_load(l, 8, false, mem_at(walk, AT(copy_low)));
	struct ref rounds =
		ir_op2(f, O_ADD, ir_op2(f, O_AND, low, page), ir_op2(f, O_ADD, want, page));
	rounds = ir_op2(f, O_SHR, rounds, ir_con(f, 12));
	call_loop(c, rounds, make_copy(l, c->small));
	lower_store(l, 4, mem_at(c->head, offsetof(struct unwind_copy, pages)),
		    lower_load(l, 4, false, mem_at(walk, AT(copy_pages))));
	lower_store(l, 4, mem_at(c->head, offsetof(struct unwind_copy, whole)),
		    lower_load(l, 4, false, mem_at(walk, AT(copy_whole))));
	struct blk *more = ir_blk(f), *done = ir_blk(f);
	struct ref bytes = ir_var(f);
	ir_set(f, bytes, lower_load(l, 4, false, mem_at(walk, AT(copy_bytes))));
	want = lower_load(l, 4, false, mem_at(walk, AT(copy_want)));
	ir_br(f, O_UGT, ir_get(f, bytes), want, more, done);
	ir_at(f, more);
	ir_set(f, bytes, want);
	ir_jmp(f, done);
	ir_at(f, done);
	lower_store(l, 4, mem_at(c->head, offsetof(struct unwind_copy, bytes)), ir_get(f, bytes));
	return ir_get(f, bytes);
}
_Static_assert(UNWIND_COPY_PAGE == 1 << 12, "programs shift");

/* The last frame is the number of the copy. */
static void put_mark(struct lower *l, struct mem walk, struct ref frames, struct ref id, u32 limit)
{
	struct fn *f = l->f;
	struct blk *put = ir_blk(f), *done = ir_blk(f);
	struct ref n = lower_load(l, 4, false, mem_at(walk, AT(n)));
	ir_br(f, O_ULT, n, ir_con(f, limit), put, done); /* always; the verifier does not know */
	ir_at(f, put);
	struct ref at = ir_op2(f, O_ADD, frames, ir_op2(f, O_SHL, n, ir_con(f, 3)));
	ir_store(f, 8, at, 0, ir_op2(f, O_OR, id, ir_con(f, UNWIND_MARK)));
	lower_store(l, 4, mem_at(walk, AT(n)), ir_addi(f, n, 1));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* Both go to sent, or to full. */
static void send_small(struct copy *c, struct ref task, struct blk *sent, struct blk *full)
{
	struct lower *l = c->l;
	struct fn *f = l->f;
	c->small = true;
	c->rec = lower_addr(l, c->head);
	struct ref bytes = lower_at_most(l, copy_stack(c), UNWIND_SMALL_STACK);
	undo_returns(c, task);
	struct ref bad = ir_call(f, BPF_FUNC_ringbuf_output,
				 ARGS(ir_map(l->u->unwind->copies->index), c->rec,
				      ir_addi(f, bytes, sizeof(struct unwind_copy)), ir_con(f, 0)));
	ir_br(f, O_EQ, bad, ir_con(f, 0), sent, full);
}

static void send_large(struct copy *c, struct ref task, struct blk *sent, struct blk *full)
{
	struct lower *l = c->l;
	struct fn *f = l->f;
	struct blk *room = ir_blk(f);
	u32 size = sizeof(struct unwind_copy) + copy_room(false);
	c->small = false;
	c->rec = ir_call(f, BPF_FUNC_ringbuf_reserve,
			 ARGS(ir_map(l->u->unwind->copies->index), ir_con(f, size), ir_con(f, 0)));
	ir_br(f, O_NE, c->rec, ir_con(f, 0), room, full);
	ir_at(f, room);
	copy_stack(c);
	lower_copy(l, mem_of(c->rec, 0), c->head, sizeof(struct unwind_copy));
	undo_returns(c, task);
	ir_call(f, BPF_FUNC_ringbuf_submit, ARGS(c->rec, ir_con(f, 0)));
	ir_jmp(f, sent);
}

/* What a copy is made of. */
struct asked {
	struct mem walk, words; /* words: MEM_NONE if there can be none */
	struct ref links, frames, task, pid;
	u32 mode; /* enum stack_mode */
	bool langs;
};

static void put_words(struct lower *l, const struct asked *x, struct mem head)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	if (!ref_is(x->words.base))
		return;
	ir_br(f, O_NE, lower_load(l, 4, false, mem_at(x->walk, AT(nword))), ir_con(f, 0), some,
	      done);
	ir_at(f, some);
	ir_call(f, BPF_FUNC_probe_read_kernel,
		ARGS(lower_addr(l, mem_at(head, offsetof(struct unwind_copy, word))),
		     ir_con(f, 8 * UNWIND_COPY_WORDS), lower_addr(l, x->words)));
	ir_jmp(f, done);
	ir_at(f, done);
}

static void add_to_n(struct lower *l, const struct asked *x, enum op op, struct ref v)
{
	struct mem n = mem_at(x->walk, AT(n));
	if (x->mode != STACK_LANG) /* that has no native frames */
		lower_store(l, 4, n, ir_op2(l->f, op, lower_load(l, 4, false, n), v));
}

/*
 * Whose code the last frame is in was not known where its piece was not: frames of an interpreter may stand
 * for it, so it is taken back, and user space puts it.
 */
static void take_last_back(struct lower *l, const struct asked *x, struct mem head)
{
	struct fn *f = l->f;
	struct mem first = mem_at(head, offsetof(struct unwind_copy, first));
	struct ref miss = lower_load(l, 4, false, mem_at(x->walk, AT(miss)));
	lower_store(l, 4, first, ir_con(f, 0));
	if (!x->langs)
		return;
	lower_store(l, 4, first, ir_op2(f, O_NE, miss, ir_con(f, MISS_ROWS)));
	add_to_n(l, x, O_SUB, lower_load(l, 4, false, first));
}

/* The walk's state to user space; the stack ends in the number of the copy. */
static void ask(struct lower *l, const struct asked *x, u32 limit)
{
	struct fn *f = l->f;
	struct mem walk = x->walk;
	struct ref task = x->task;
	struct blk *small = ir_blk(f), *large = ir_blk(f), *full = ir_blk(f), *sent = ir_blk(f),
		   *done = ir_blk(f);
	struct copy c = {.l = l, .walk = walk, .links = x->links};
	c.head = lower_scratch(l, sizeof(struct unwind_copy) + copy_room(true));
	put_words(l, x, c.head);
	take_last_back(l, x, c.head);
	struct ref id = put_state(l, walk, c.head, x->pid, limit);
	lower_store(l, 4, mem_at(c.head, offsetof(struct unwind_copy, mode)), ir_con(f, x->mode));
	choose_size(l, walk, small, large);
	ir_at(f, small);
	send_small(&c, task, sent, full);
	ir_at(f, large);
	send_large(&c, task, sent, full);
	ir_at(f, sent);
	put_mark(l, walk, x->frames, id, limit);
	ir_jmp(f, done);
	ir_at(f, full);
	add_to_n(l, x, O_ADD,
		 lower_load(l, 4, false, mem_at(c.head, offsetof(struct unwind_copy, first))));
	unwind_count_lost(l, f, REF_NONE, UNWIND_LOST_COPY);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* The interpreter's frames that are left: into the stack, if no others are wanted, or where the result
 * says. */
static struct mem take_rest(struct lower *l, struct mem walk, struct ref links, struct ref task,
			    struct ref frames, const struct type *t)
{
	if (t->mode == STACK_LANG) {
		unwind_lang_rest(l, walk, links, task, frames, t->count, true);
		return MEM_NONE;
	}
	struct mem words = lower_scratch(l, 8 * UNWIND_COPY_WORDS);
	unwind_lang_rest(l, walk, links, task, lower_addr(l, words), UNWIND_COPY_WORDS, false);
	return words;
}

static void run_walk(struct lower *l, struct mem walk, struct ref links, struct ref frames,
		     struct ref list, const struct type *t)
{
	struct fn *f = l->f;
	u32 limit = t->count;
	enum stack_mode mode = (enum stack_mode)t->mode;
	ir_store(f, 8, links, offsetof(struct links, walk), lower_addr(l, walk));
	ir_store(f, 8, links, offsetof(struct links, frames), frames);
	ir_store(f, 8, links, offsetof(struct links, list), list);
	/* Some frames are made twice, and of an interpreter's some stand for none. */
	u32 most = mode == STACK_LANG ? MAX_FRAMES : limit;
	u32 rounds =
		(unwind_langs(l->c->host, mode) ? 3 : 1) * most + MIN(limit, UNWIND_MAX_RETURNS);
	ir_call(f, BPF_FUNC_loop,
		ARGS(ir_con(f, rounds), ir_fnref(f, unwind_step(l, limit, mode)), links,
		     ir_con(f, 0)));
}

/* The stack of a process that user space has not met has one frame, if native ones are wanted. */
static void first_frame(struct lower *l, struct mem walk, struct ref frames, bool wanted)
{
	if (wanted)
		ir_store(l->f, 8, frames, 0, lower_load(l, 8, false, mem_at(walk, AT(ip))));
	lower_store(l, 4, mem_at(walk, AT(n)), ir_con(l->f, wanted));
	lower_store(l, 4, mem_at(walk, AT(miss)), ir_con(l->f, MISS_LIST));
}

/* Kernel threads, and processes that are ending, have no stack: control goes to done. */
static struct ref live_task(struct lower *l, const struct task_at *at, struct mem walk,
			    struct blk *done)
{
	struct fn *f = l->f;
	struct blk *lives = ir_blk(f);
	struct ref task = lower_helper0(l, BPF_FUNC_get_current_task_btf);
	struct ref mm = ir_load(f, 8, task, at->mm);
	ir_br(f, O_NE, mm, ir_con(f, 0), lives, done);
	ir_at(f, lives);
	lower_store(l, 8, mem_at(walk, AT(space)), ir_load(f, 8, mm, at->stack));
	return task;
}

bool unwind_able(struct host *h)
{
	struct task_at at;
	return host_has(h, FEAT_LOOP) && host_has(h, FEAT_TASK_BTF) &&
	       host_has(h, FEAT_TASK_REGS) && host_has(h, FEAT_RINGBUF) && find_task(h, &at);
}

void unwind_lower(struct lower *l, struct node *call, struct mem dst, struct ref pid,
		  struct blk *other)
{
	struct fn *f = l->f;
	u32 limit = call->type->count;
	struct task_at at;
	bool known = find_task(l->c->host, &at);
	assert(known);
	make_tables(l->c);
	struct blk *none = ir_blk(f), *over = ir_blk(f), *missed = ir_blk(f), *done = ir_blk(f);
	struct mem walk = lower_scratch(l, sizeof(struct walk));
	struct mem out = mem_at(dst, offsetof(struct stack_value, ip)), frames = out;
	if (dst.base.kind == R_SLOT) /* the function that is called cannot index this stack */
		frames = lower_scratch(l, 8 * limit);
	lower_zero(l, frames, 8 * limit);
	lower_zero(l, walk, WALK_ZEROED);
	struct ref to = lower_addr(l, frames), task = live_task(l, &at, walk, done);
	enum stack_mode mode = (enum stack_mode)call->type->mode;
	bool langs = unwind_langs(l->c->host, mode);
	if (langs)
		unwind_lang_begin(l, walk, task, pid);
	start_regs(l, walk, REF_NONE, other);
	struct ref links = ir_slot(f, sizeof(struct links));
	assert(ref_is(links));
	run_walk(l, walk, links, to, start_list(l, walk, task, pid, &at, none), call->type);
	ir_jmp(f, over);
	ir_at(f, none);
	first_frame(l, walk, to, mode != STACK_LANG);
	ir_jmp(f, limit > 1 || mode == STACK_LANG ? over : done);
	ir_at(f, over);
	if (langs)
		unwind_lang_names(l, walk, links, to, limit);
	struct blk *left = ir_blk(f);
	struct mem words = MEM_NONE;
	ir_br(f, O_NE, lower_load(l, 4, false, mem_at(walk, AT(miss))), ir_con(f, 0), left, done);
	ir_at(f, left);
	left->unlikely = true;
	if (langs)
		words = take_rest(l, walk, links, task, to, call->type);
	ir_br(f, O_ULT, lower_load(l, 4, false, mem_at(walk, AT(n))), ir_con(f, limit), missed,
	      done);
	ir_at(f, missed);
	struct asked asked = {walk, words, links, to, task, pid, (u32)mode, langs};
	ask(l, &asked, limit);
	ir_jmp(f, done);
	ir_at(f, done);
	/* Else the verifier would follow what comes after this for each kind of pointer. */
	for (u32 i = 0; i < sizeof(struct links); i += 8)
		ir_store(f, 8, links, (i32)i, ir_con(f, 0));
	if (dst.base.kind == R_SLOT)
		lower_copy(l, out, frames, 8 * limit);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)),
		    lower_load(l, 4, false, mem_at(walk, AT(n))));
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, pid)), pid);
}

/* ---- of another task ---- */

/* Offsets in the kernel's struct task_struct. */
struct sleeper_at {
	i32 state, tid, left, pushed;
};

static bool find_sleeper(struct host *h, struct sleeper_at *at)
{
	struct types *k = host_btf(h);
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	return (unwind_offset(task, "__state", &at->state) ||
		unwind_offset(task, "state", &at->state)) &&
	       unwind_offset(task, "pid", &at->tid) && unwind_offset(task, "nvcsw", &at->left) &&
	       unwind_offset(task, "nivcsw", &at->pushed);
}

bool unwind_task_able(struct host *h)
{
	struct sleeper_at at;
	return unwind_able(h) && find_sleeper(h, &at);
}

/* What user space needs beyond the registers, in the head of a copy without a stack. */
static void put_sleeper(struct lower *l, struct ref task, const struct sleeper_at *at,
			struct mem head, struct mem walk)
{
	struct fn *f = l->f;
	struct ref switches =
		ir_op2(f, O_ADD, ir_load(f, 8, task, at->left), ir_load(f, 8, task, at->pushed));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, what)),
		    ir_con(f, UNWIND_IS_TASK));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, first)), ir_con(f, 1));
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, tid)),
		    ir_load(f, 4, task, at->tid));
	lower_store(l, 8, mem_at(head, offsetof(struct unwind_copy, switches)), switches);
	lower_store(l, 8, mem_at(head, offsetof(struct unwind_copy, thread)),
		    lower_load(l, 8, false, mem_at(walk, AT(thread))));
	lower_store(l, 8, mem_at(head, offsetof(struct unwind_copy, keys)),
		    lower_load(l, 8, false, mem_at(walk, AT(keys))));
}

/* The registers of a task that does not sleep, or has none, are not there: control goes to done. */
static void sleeping(struct lower *l, struct ref task, const struct task_at *at,
		     const struct sleeper_at *sleeper, struct mem walk, struct blk *done)
{
	struct fn *f = l->f;
	struct blk *sleeps = ir_blk(f), *lives = ir_blk(f);
	ir_br(f, O_NE, ir_load(f, 4, task, sleeper->state), ir_con(f, 0), sleeps, done);
	ir_at(f, sleeps);
	struct ref mm = ir_load(f, 8, task, at->mm);
	ir_br(f, O_NE, mm, ir_con(f, 0), lives, done);
	ir_at(f, lives);
	lower_store(l, 8, mem_at(walk, AT(space)), ir_load(f, 8, mm, at->stack));
}

void unwind_lower_task(struct lower *l, struct node *call, struct mem dst, struct ref task)
{
	struct fn *f = l->f;
	u32 limit = call->type->count;
	struct task_at at;
	struct sleeper_at sleeper;
	bool known = find_task(l->c->host, &at) && find_sleeper(l->c->host, &sleeper);
	assert(known);
	make_tables(l->c);
	struct blk *full = ir_blk(f), *sent = ir_blk(f), *done = ir_blk(f);
	struct mem walk = lower_scratch(l, sizeof(struct walk));
	struct mem head = lower_scratch(l, sizeof(struct unwind_copy));
	struct ref n = ir_var(f), pid = ir_load(f, 4, task, at.tgid);
	ir_set(f, n, ir_con(f, 0));
	lower_zero(l, mem_at(dst, offsetof(struct stack_value, ip)), 8 * limit);
	lower_zero(l, walk, WALK_ZEROED);
	sleeping(l, task, &at, &sleeper, walk, done);
	if (unwind_langs(l->c->host, STACK_LANG))
		unwind_lang_begin(l, walk, task, pid);
	start_regs(l, walk, task, done);
	struct ref id = put_state(l, walk, head, pid, limit);
	put_sleeper(l, task, &sleeper, head, walk);
	lower_store(l, 4, mem_at(head, offsetof(struct unwind_copy, mode)),
		    ir_con(f, (u32)call->type->mode));
	struct ref bad = ir_call(f, BPF_FUNC_ringbuf_output,
				 ARGS(ir_map(l->u->unwind->copies->index), lower_addr(l, head),
				      ir_con(f, offsetof(struct unwind_copy, word)), ir_con(f, 0)));
	ir_br(f, O_EQ, bad, ir_con(f, 0), sent, full);
	ir_at(f, full);
	unwind_count_lost(l, f, REF_NONE, UNWIND_LOST_COPY);
	ir_jmp(f, done);
	ir_at(f, sent);
	lower_store(l, 8, mem_at(dst, offsetof(struct stack_value, ip)),
		    ir_op2(f, O_OR, id, ir_con(f, UNWIND_MARK)));
	ir_set(f, n, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, done);
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, n)), ir_get(f, n));
	lower_store(l, 4, mem_at(dst, offsetof(struct stack_value, pid)), pid);
}
