/* record.c - records to user space: layout, storing, sending, counting what did not fit. */
#include "kern/rings.h"
#include "lower/lower.h"

enum {
	HEADER = sizeof(struct record),
	RING_BRIEF = 256 << 10,
	RING_USUAL = 2 << 20,   /* for each CPU, up to eight of them, */
	RING_KEEPS = 4,         /* times as much if each event is recorded, */
	RING_MOST = 1 << 28,    /* the verifier refuses larger offsets */
	RING_LEAST = 256 << 10, /* and at least, of its own */
	RING_PART = 8,          /* of the memory that we may have, for all of them */
	LOOK_EVERY = 64,
	MAX_REDO = 4,    /* the verifier walks through each */
	SHORT_TEXT = 16, /* is copied from temporary memory with a few loads and stores: comm */
};

struct schema *lower_schema(struct lower *l, const struct builtin *fn, struct loc loc)
{
	struct unit *u = l->u;
	struct schema *sc = arena_new(l->c->arena, struct schema);
	enum prog_phase phase = probe_last_method(l->pt->type)->phase;
	*sc = (struct schema){
		.id = u->nschema,
		.fn = fn,
		.own = phase == PROG_BEGIN || phase == PROG_END ||
		       (l->pt->type->flags & PROBE_REPORTS),
		.loc = fn && fn->flags & B_SAYS ? diags_said_at(l->c->diags, loc) : loc,
	};
	arena_push(l->c->arena, u->schema, u->nschema, sc);
	return sc;
}

static bool find_loop(struct node *n, void *arg)
{
	*(bool *)arg |= n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_UNROLL;
	return true;
}

/* Every probe runs once and stores a bounded number of records. */
static bool is_brief(const struct compile *c)
{
	bool loops = false;
	for (u32 i = 0; i < c->nvariant; i++) {
		if (!(point_flags(c->variant[i]->points) & PROBE_ONCE))
			return false;
		node_walk(c->variant[i]->probe->c, find_loop, &loops);
	}
	return !loops;
}

/* Of functions nobody looks what they do. */
static bool find_sending(struct node *n, void *arg)
{
	*(bool *)arg |= n->kind == N_FNCALL;
	*(bool *)arg |= n->kind == N_CALL && n->fn && !(n->fn->flags & B_END) &&
			(n->fn->handle || n->fn->role == ROLE_KEEP);
	return true;
}

static bool find_sending_loop(struct node *n, void *arg)
{
	bool loop = false;
	find_loop(n, &loop);
	if (loop)
		node_walk(n, find_sending, arg);
	return true;
}

/* Events are only counted: records come of reports, a bounded number of each. */
static bool is_report(const struct compile *c)
{
	bool sends = false;
	for (u32 i = 0; i < c->nvariant; i++)
		node_walk(c->variant[i]->probe->c,
			  point_flags(c->variant[i]->points) & (PROBE_ONCE | PROBE_REPORTS)
				  ? find_sending_loop
				  : find_sending,
			  &sends);
	return !sends;
}

static bool find_keep(struct node *n, void *arg)
{
	*(bool *)arg |= n->kind == N_CALL && n->fn && n->fn->role == ROLE_KEEP;
	return true;
}

static u64 usual_each(const struct compile *c)
{
	bool keeps = false;
	for (u32 i = 0; i < c->nvariant && !keeps; i++)
		node_walk(c->variant[i]->probe->c, find_keep, &keeps);
	return keeps ? (u64)RING_KEEPS * RING_USUAL : RING_USUAL;
}

/* Of one that nobody has set: a part of what there is for all of them. */
static u64 usual_bytes(const struct compile *c, u32 own)
{
	u64 ncpu = c->host->ncpu, each = usual_each(c), may = host_memory(c->host) / RING_PART;
	u64 all = MIN(MAX(ncpu, 2ull), 8ull) * each;
	all = MIN(all, may);
	while (each * own > all && each > RING_LEAST)
		each /= 2;
	return own ? each : all;
}

/*
 * All of a mapped ring counts as resident: 2 MiB are some 10 ms of short records at full speed, in
 * which a machine that is not overloaded lets the reader run. A script that only begins and ends,
 * or reports what it counted, gets little. own: how many rings there are, one for each CPU.
 */
static u64 ring_bytes(const struct compile *c, u32 own)
{
	u64 page = 4096, pages = c->unit->config.perf_rb_pages, n = page;
	bool little = own ? is_report(c) : is_brief(c);
	u64 want = pages ? pages * page : little ? RING_BRIEF : usual_bytes(c, own);
	while (n < want && n < (own ? RING_MOST : 1ull << 30))
		n *= 2;
	return n;
}

/* A ring for each CPU that is online; there may be many more that are possible. */
static u32 nring(const struct compile *c)
{
	u32 *cpu, n, most = 0;
	struct err *e = host_online(c->host, &cpu, &n);
	for (u32 i = 0; !e && i < n; i++)
		most = MAX(most, cpu[i] + 1);
	err_free(e);
	return most ? MIN(most, c->host->ncpu) : c->host->ncpu;
}

/* The kernel refused a body for its code. */
static bool refused_code(const struct unit *u)
{
	bool any = false;
	for (u32 i = 0; i < u->refused.n; i++)
		any |= !u->refused.v[i].method && !u->refused.v[i].asleep;
	return any;
}

static void need_ring(struct lower *l)
{
	struct compile *c = l->c;
	struct unit *u = l->u;
	if (u->ring)
		return;
	/* Plain: a program that was too long for the verifier; through these it is longer. */
	if (!is_brief(c) && !refused_code(u) && host_has(c->host, FEAT_RINGS)) {
		u32 n = nring(c);
		lower_rings(l, n, (u32)ring_bytes(c, n));
		return;
	}
	bool rb = host_has(c->host, FEAT_RINGBUF);
	u->ring = unit_map(c, MAP_RING, "ring");
	u->ring->map_type = rb ? BPF_MAP_TYPE_RINGBUF : BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	u->ring->key_size = rb ? 0 : 4;
	u->ring->val_size = rb ? 0 : 4;
	u->ring->max_entries = rb ? (u32)ring_bytes(c, 0) : c->host->ncpu;
}

static bool is_ringbuf(const struct unit *u)
{
	return u->ring->map_type == BPF_MAP_TYPE_RINGBUF;
}

static void lost_if(struct lower *l, enum op op, struct ref r)
{
	struct fn *f = l->f;
	struct blk *bad = ir_blk(f), *go = ir_blk(f);
	bad->unlikely = true;
	ir_br(f, op, r, ir_con(f, 0), bad, go);
	ir_at(f, bad);
	lower_stat(l, STAT_LOST);
	ir_jmp(f, go);
	ir_at(f, go);
}

/* Every how many records a program looks how full the ring is: they fill a sixteenth of it. */
static u32 look_every(const struct lower *l, u32 size)
{
	u32 n = 1;
	while (n < LOOK_EVERY && 2ull * n * size <= l->u->ring->max_entries / 16)
		n *= 2;
	return n;
}

/*
 * The reader polls; it is woken only when an eighth of the ring is in use, or at the end. Asking
 * costs as much as a third of the record does, so it is done now and then.
 */
static struct ref wake_flags(struct lower *l, u32 size, bool now)
{
	struct fn *f = l->f;
	if (now)
		return ir_con(f, BPF_RB_FORCE_WAKEUP);
	_Static_assert(BPF_RB_NO_WAKEUP == 1 && BPF_RB_FORCE_WAKEUP == 2, "flags are 1 + full");
	struct blk *look = ir_blk(f), *go = ir_blk(f);
	struct ref flags = ir_var(f), mask = ir_con(f, look_every(l, size) - 1);
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->stats->index));
	i32 at = (i32)(8 * stat_record_word(l->u->nprog));
	struct ref n = ir_load(f, 8, p, at);
	ir_store(f, 8, p, at, ir_addi(f, n, 1));
	ir_set(f, flags, ir_con(f, BPF_RB_NO_WAKEUP));
	look->unlikely = true;
	ir_br(f, O_EQ, ir_op2(f, O_AND, n, mask), ir_con(f, 0), look, go);
	ir_at(f, look);
	struct ref used = ir_call(f, BPF_FUNC_ringbuf_query,
				  ARGS(ir_map(l->u->ring->index), ir_con(f, BPF_RB_AVAIL_DATA)));
	struct ref full = ir_op2(f, O_UGE, used, ir_con(f, l->u->ring->max_entries / 8));
	ir_set(f, flags, ir_addi(f, full, 1));
	ir_jmp(f, go);
	ir_at(f, go);
	return ir_get(f, flags);
}

/*
 * What one run says about maps bears one time: by that clear() knows the print() it belongs to,
 * however long the run was held up between them (report/baseline.c).
 */
static struct ref record_time(struct lower *l, const struct schema *sc)
{
	struct cache_key key = {CACHE_TIME, 0};
	if (!sc->fn || !(sc->fn->flags & B_TIMED || l->c->timed))
		return ir_con(l->f, 0);
	struct ref t = sc->map ? lower_cached(l, key) : REF_NONE;
	if (ref_is(t))
		return t;
	t = ir_call(l->f, BPF_FUNC_ktime_get_ns, 0, NULL);
	return sc->map ? lower_cache_put(l, key, t) : t;
}

static void put_header(struct lower *l, struct mem m, const struct schema *sc, struct ref size)
{
	lower_store(l, 4, m, ir_con(l->f, sc->id));
	lower_store(l, 4, mem_at(m, 4), size);
	lower_store(l, 8, mem_at(m, 8), record_time(l, sc));
}

/* Ends the current block; the one for records that find no room counts, then both go on. */
static void lost_at(struct lower *l, struct blk *full, struct blk *done)
{
	struct fn *f = l->f;
	full->unlikely = true;
	ir_jmp(f, done);
	ir_at(f, full);
	lower_stat(l, STAT_LOST);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* What a record of so many bytes takes in a ring of our own. */
static struct ref ring_length(struct lower *l, struct ref size)
{
	struct fn *f = l->f;
	return ir_op2(f, O_AND, ir_addi(f, size, RINGS_WORD + 7), ir_con(f, ~7ull));
}

static bool find_exit(struct node *n, void *arg)
{
	switch (n->kind) {
	case N_BLOCK:
	case N_FNCALL:
	case N_CCALL:
	case N_ASSIGN:
	case N_INCDEC: *(bool *)arg = true; break;
	default: break;
	}
	return true;
}

/* Values that are computed without leaving the probe, or changing anything. */
static bool is_calm(struct lower *l, struct node *args)
{
	bool found = l->tight;
	for (struct node *a = args; a; a = a->next)
		node_walk(a, find_exit, &found);
	return !found;
}

/* Arguments that are computed before there is room for the record. */
struct done {
	struct ref val; /* a scalar, */
	struct mem mem; /* or something else; neither: it is computed where it is to stay */
};

static void compute(struct lower *l, struct node *args, bool all, struct done *done)
{
	for (struct node *a = args; a; a = a->next, done++) {
		done->val = REF_NONE;
		done->mem = MEM_NONE;
		if (type_is_scalar(a->type))
			done->val = lower_value(l, a);
		else if (all)
			done->mem = lower_mem(l, a);
	}
}

/* It is long, and short when it travels. */
static bool is_call(const struct type *t)
{
	return t->kind == T_BUF && t->mode == BUF_CALL;
}

/* Does it take what it needs where it comes last? */
static bool may_be_cut(const struct type *t)
{
	return t->kind == T_STRING || is_call(t);
}

/* Of room in a ring. len: where the length of a text goes, which comes last; or NULL. */
static struct mem field_of(struct mem rec, const struct field *fd, struct ref *len)
{
	struct mem m = mem_at(rec, (i32)(HEADER + fd->bit_off / 8));
	m.nopad = true;
	m.tail = may_be_cut(fd->type) ? len : NULL;
	return m;
}

/* The arguments into a record; result: the length of a text that comes last, or none. */
static struct ref fill(struct lower *l, const struct schema *sc, struct node *args,
		       const struct done *done, struct mem rec)
{
	struct ref len = REF_NONE;
	const struct field *fd = sc->layout->field;
	for (struct node *a = args; a; a = a->next, fd++, done++) {
		struct mem to = field_of(rec, fd, a->next ? NULL : &len);
		if (ref_is(done->val))
			lower_store(l, MIN(fd->type->size, 8u), to, done->val);
		else if (ref_is(done->mem.base))
			lower_copy(l, to, done->mem, fd->type->size);
		else
			lower_into_as(l, a, to, fd->type);
	}
	return len;
}

void lower_redo(struct lower *l, struct redo *r)
{
	lower_store(l, 4, r->claim->rec, ir_con(l->f, RECORD_NONE));
	lower_store(l, 4, mem_at(r->claim->rec, 4), ir_con(l->f, 0));
	lower_finish(l, r->claim, false);
}

/* For each text a page, and one with their addresses. */
static u32 most_redo(const struct node *args)
{
	u32 n = 0;
	for (const struct node *a = args; a; a = a->next)
		n += !type_is_scalar(a->type);
	return MIN(n + 1, MAX_REDO);
}

/* Into room of a ring of our own; a text at the end gives back what it does not need. */
static void send_claimed(struct lower *l, const struct schema *sc, struct node *args, bool calm,
			 bool now)
{
	struct fn *f = l->f;
	const struct type *lay = sc->layout;
	struct done done[RECORD_MAX_FIELDS];
	struct blk *full = ir_blk(f), *go = ir_blk(f);
	u32 most = ALIGN_UP(RINGS_WORD + HEADER + lay->size, 8u);
	struct lower_cache *kept;
	struct ref size = ir_con(f, lay->size);
	struct claim c;
	struct redo redo = {.claim = &c, .most = most_redo(args)};
	compute(l, args, !calm, done);
	if (l->may_sleep) {
		redo.start = ir_blk(f);
		redo.tries = ir_var(f);
		ir_set(f, redo.tries, ir_con(f, 0));
		ir_jmp(f, redo.start);
		ir_at(f, redo.start);
	}
	lower_claim(l, ir_con(f, most), most, full, &c);
	kept = lower_may_skip_begin(l);
	l->redo = l->may_sleep ? &redo : NULL;
	struct ref len = fill(l, sc, args, done, c.rec);
	l->redo = NULL;
	if (ref_is(len)) {
		size = ir_addi(f, len, lay->field[lay->nfield - 1].bit_off / 8);
		lower_shrink(l, &c, ring_length(l, ir_addi(f, size, HEADER)));
	}
	put_header(l, c.rec, sc, size);
	lower_finish(l, &c, now);
	lower_may_skip_end(l, kept);
	lost_at(l, full, go);
}

/* Into reserved memory of the BPF ring buffer. */
static void send_reserved(struct lower *l, const struct schema *sc, struct node *args, bool now)
{
	struct fn *f = l->f;
	struct done done[RECORD_MAX_FIELDS];
	u32 size = sc->layout->size;
	compute(l, args, true, done);
	struct ref p = ir_call(f, BPF_FUNC_ringbuf_reserve,
			       ARGS(ir_map(l->u->ring->index),
				    ir_con(f, ALIGN_UP(HEADER + size, 8)), ir_con(f, 0)));
	struct blk *some = ir_blk(f), *full = ir_blk(f), *go = ir_blk(f);
	ir_br(f, O_NE, p, ir_con(f, 0), some, full);
	ir_at(f, some);
	struct mem m = mem_of(p, 0);
	put_header(l, m, sc, ir_con(f, size));
	fill(l, sc, args, done, m);
	struct ref flags = wake_flags(l, HEADER + size, now);
	ir_call(f, BPF_FUNC_ringbuf_submit, ARGS(p, flags));
	lost_at(l, full, go);
}

static bool is_small(const struct type *t)
{
	return type_is_scalar(t) || (t->kind == T_STRING && t->size <= SHORT_TEXT);
}

/* What was built goes to a ring of our own; size: at most most. */
static void send_copy(struct lower *l, struct mem m, struct ref size, u32 most, bool now)
{
	struct fn *f = l->f;
	struct blk *full = ir_blk(f), *done = ir_blk(f);
	struct claim c;
	u64 n;
	bool known = ir_is_con(f, size, &n);
	lower_claim(l, ring_length(l, size), ALIGN_UP(RINGS_WORD + most, 8u), full, &c);
	if (known)
		lower_copy(l, c.rec, m, (u32)n);
	else
		ir_call(f, BPF_FUNC_probe_read_kernel,
			ARGS(lower_addr(l, c.rec), lower_at_most(l, size, most), lower_addr(l, m)));
	lower_finish(l, &c, now);
	lost_at(l, full, done);
}

static void output(struct lower *l, struct mem m, struct ref size, struct ref flags)
{
	struct fn *f = l->f;
	struct ref ring = ir_map(l->u->ring->index), ret;
	if (is_ringbuf(l->u)) {
		ret = ir_call(f, BPF_FUNC_ringbuf_output,
			      ARGS(ring, lower_addr(l, m), size, flags));
	} else {
		ret = ir_call(f, BPF_FUNC_perf_event_output,
			      ARGS(ir_ctx(f), ring, ir_con(f, BPF_F_CURRENT_CPU), lower_addr(l, m),
				   size));
	}
	lost_if(l, O_SLT, ret);
}

/* Bytes between fields and behind the last one, where temporary memory has what was there before:
 * that is nobody's to see, and equal records are to be equal bytes. So are those behind texts, but
 * for one that comes last and is cut. */
static void zero_gaps(struct lower *l, struct mem m, const struct type *lay)
{
	u32 at = 0;
	for (u32 i = 0; i < lay->nfield; i++) {
		u32 from = lay->field[i].bit_off / 8;
		if (from > at)
			lower_zero(l, mem_at(m, (i32)(HEADER + at)), from - at);
		at = from + lay->field[i].type->size;
	}
	bool cut = lay->nfield && may_be_cut(lay->field[lay->nfield - 1].type);
	if (lay->size > at && !cut)
		lower_zero(l, mem_at(m, (i32)(HEADER + at)), lay->size - at);
}

/* Built in temporary memory, then copied; a text at the end travels with its own length. */
static void send_built(struct lower *l, const struct schema *sc, struct node *args, bool now)
{
	struct fn *f = l->f;
	const struct type *lay = sc->layout;
	struct mem m = lower_tmp(l, HEADER + lay->size);
	struct ref len = REF_NONE;
	zero_gaps(l, m, lay);
	const struct field *fd = lay->field;
	for (struct node *a = args; a; a = a->next, fd++) {
		struct mem to = field_of(m, fd, a->next ? NULL : &len);
		to.stale = true;
		lower_into_as(l, a, to.tail ? to : mem_untold(to), fd->type);
	}
	const struct field *last = lay->nfield ? &lay->field[lay->nfield - 1] : NULL;
	bool cut = last && may_be_cut(last->type);
	struct ref size = ir_con(f, cut ? last->bit_off / 8 + last->type->size : lay->size);
	if (cut && ref_is(len)) {
		u64 k;
		if (!ir_is_con(f, len, &k))
			len = lower_at_most(l, len, last->type->size);
		size = ir_addi(f, len, last->bit_off / 8);
	}
	put_header(l, m, sc, size);
	if (l->u->wake) {
		send_copy(l, m, ir_addi(f, size, HEADER), HEADER + lay->size, now);
		return;
	}
	struct ref flags = is_ringbuf(l->u) ? wake_flags(l, HEADER + lay->size, now) : REF_NONE;
	output(l, m, ir_addi(f, size, HEADER), flags);
}

/* len(ustack): how many frames a walk by tables has, only user space may know. */
static bool is_frames(const struct node *n)
{
	return n->kind == N_CALL && n->fn && n->fn->role == ROLE_LEN && n->a->kind == N_CALL &&
	       n->a->type->kind == T_USTACK && n->a->type->count > 1;
}

/* What travels instead of the arguments: of a number of frames, the stack. */
static struct node *travelling(struct lower *l, struct node *args)
{
	struct node *first = NULL, **end = &first;
	for (const struct node *a = args; a; a = a->next) {
		struct node *copy = arena_new(l->c->arena, struct node);
		*copy = *(is_frames(a) ? a->a : a);
		if (is_frames(a)) {
			struct type *t = arena_new(l->c->arena, struct type);
			*t = *copy->type;
			t->p[0] = 1;
			copy->type = t;
		}
		*end = copy;
		end = &copy->next;
	}
	*end = NULL;
	return first;
}

void lower_record(struct lower *l, struct node *call, struct node *args, struct schema *sc)
{
	const struct type *elem[RECORD_MAX_FIELDS];
	u32 n = 0;
	bool small = true, call_last = false, frames = false;
	need_ring(l);
	for (const struct node *a = args; a; a = a->next)
		frames |= is_frames(a);
	if (frames)
		args = travelling(l, args);
	for (struct node *a = args; a; a = a->next) {
		assert(n < RECORD_MAX_FIELDS);
		elem[n++] = a->type;
		small &= is_small(a->type);
		call_last = is_call(a->type);
	}
	sc->layout = type_tuple(l->c->arena, n, elem, NULL);
	bool ends = call && call->kind == N_CALL && call->fn && (call->fn->flags & B_END);
	bool now = ends || sc->map; /* what a map holds is wanted as it is now */
	u32 size = HEADER + sc->layout->size;
	bool calm = is_calm(l, args);
	if (sc->map) /* before there is room: also where there is none it is this run's */
		record_time(l, sc);
	if (l->u->wake && lower_fits_ring(l, size) && (calm || small) && !call_last)
		send_claimed(l, sc, args, calm, now);
	else if (small && is_ringbuf(l->u))
		send_reserved(l, sc, args, now);
	else
		send_built(l, sc, args, now);
}

void lower_warn(struct lower *l, struct loc loc, const char *msg)
{
	if (point_flags(l->pt) & METHOD_PINNED) /* nobody is there to be told */
		return;
	struct schema *sc = lower_schema(l, NULL, loc);
	sc->msg = msg;
	lower_record(l, NULL, NULL, sc);
}
