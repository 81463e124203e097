/* lower.c - variants -> programs: entry, filters, scratch memory, exit. */
#include "lower/lower.h"

struct map *unit_map(struct compile *c, enum map_role role, const char *name)
{
	struct unit *u = c->unit;
	struct map *m = arena_new(c->arena, struct map);
	*m = (struct map){.name = str_z(name), .role = role, .index = u->nmap};
	m->map_type = BPF_MAP_TYPE_ARRAY;
	m->key_size = 4;
	m->max_entries = 1;
	arena_push(c->arena, u->map, u->nmap, m);
	return m;
}

/* ---- values kept for the rest of the run ---- */

struct lower_cache *lower_may_skip_begin(const struct lower *l)
{
	return l->cache;
}

void lower_may_skip_end(struct lower *l, struct lower_cache *kept)
{
	l->cache = kept;
}

struct ref lower_cached(const struct lower *l, struct cache_key key)
{
	for (const struct lower_cache *c = l->cache; c; c = c->older)
		if (c->key.kind == key.kind && c->key.n == key.n)
			return c->val;
	return REF_NONE;
}

struct ref lower_cache_put(struct lower *l, struct cache_key key, struct ref val)
{
	struct lower_cache *c = arena_new(&l->c->scratch, struct lower_cache);
	*c = (struct lower_cache){key, val, l->cache};
	l->cache = c;
	return val;
}

struct ref lower_helper0(struct lower *l, u32 helper)
{
	struct cache_key key = {CACHE_HELPER, helper};
	struct ref r = lower_cached(l, key);
	return ref_is(r) ? r : lower_cache_put(l, key, ir_callp(l->f, helper, 0, NULL));
}

struct ref lower_ctx(struct lower *l)
{
	if (l->f == l->main)
		return ir_ctx(l->f);
	return ir_load(l->f, 8, l->frame.base, l->frame.off + FRAME_CTX);
}

struct ref lower_start_ns(struct lower *l)
{
	if (!l->u->start) {
		l->u->start = unit_map(l->c, MAP_AUX, "start");
		l->u->start->val_size = 8;
	}
	struct ref p = ir_op1(l->f, O_MAPVAL, 8, ir_map(l->u->start->index));
	return ir_load(l->f, 8, p, 0);
}

enum space lower_space(struct lower *l)
{
	return point_flags(l->pt) & PROBE_USER ? AS_USER : AS_NONE;
}

/* A typed program's context holds what stays a pointer to the verifier. */
static bool is_typed_pointer(const struct point *p, i32 n)
{
	u32 nf = 0;
	const struct field *f = p->args ? type_fields(p->args, &nf) : NULL;
	const struct type *t = n == ARG_RET ? p->ret : n >= 0 && (u32)n < nf ? f[n].type : NULL;
	return t && t->kind == T_PTR && t->space == AS_BTF;
}

/* Where the event fired decides where its argument is. */
static struct ref either_arg(struct lower *l, i32 n)
{
	struct fn *f = l->f;
	const struct method *w = l->pt->method;
	struct ref v = ir_var(f), elsewhere = l->elsewhere;
	struct blk *here = ir_blk(f), *there = ir_blk(f), *done = ir_blk(f);
	if (f != l->main)
		elsewhere = lower_load(l, 8, false, lower_shared(l, SHARED_ELSEWHERE));
	there->unlikely = true;
	ir_br(f, O_EQ, elsewhere, ir_con(f, 0), here, there);
	ir_at(f, there);
	ir_set(f, v, w->which->twin_arg(f, l->c->host, l->pt, n));
	ir_jmp(f, done);
	ir_at(f, here);
	ir_set(f, v, w->arg(f, l->c->host, l->pt, n));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

struct ref lower_arg(struct lower *l, i32 n)
{
	struct cache_key key = {CACHE_ARG, (u32)n};
	struct ref r = lower_cached(l, key);
	if (ref_is(r))
		return r;
	assert(l->pt->method->arg);
	/* Ways read from the context register; in a callback that is a value loaded from the
	 * frame. */
	r = ref_is(l->elsewhere) ? either_arg(l, n)
				 : l->pt->method->arg(l->f, l->c->host, l->pt, n);
	if (l->pt->code_refused && is_typed_pointer(l->pt, n))
		r = lower_number(l, r);
	return lower_cache_put(l, key, r);
}

void lower_stat(struct lower *l, enum stat_word w)
{
	struct ref p = ir_op1(l->f, O_MAPVAL, 8, ir_map(l->u->stats->index));
	ir_xadd(l->f, 8, p, (i32)(8 * (STAT_WORDS_PER_PROG * l->prog->index + w)), ir_con(l->f, 1));
}

/* ---- leaving ---- */

void lower_end_probe(struct lower *l)
{
	if (l->f == l->main) {
		ir_jmp(l->f, l->exit);
		return;
	}
	lower_store(l, 8, lower_shared(l, SHARED_STOP), ir_con(l->f, STOP_PROBE));
	ir_ret(l->f, ir_con(l->f, 1));
}

void lower_return(struct lower *l, struct ref val)
{
	if (l->f == l->main)
		ir_set(l->f, l->retval, val);
	else
		lower_store(l, 8, lower_shared(l, SHARED_RETVAL), val);
	lower_end_probe(l);
}

/* ---- scratch memory ---- */

/*
 * Every CPU has SCRATCH_LEVELS areas, each a word that says "in use" and the memory. Programs can
 * interrupt each other, and where the kernel is preemptible not even in the order of a stack; so a
 * run takes the first area that is free.
 */
static void claim_scratch(struct lower *l, struct blk *body, struct blk *none)
{
	struct fn *f = l->f;
	bool atomic = host_has(l->c->host, FEAT_ATOMIC);
	struct ref cpu = ir_callp(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	struct ref first = ir_op2(f, O_MUL, cpu, ir_con(f, SCRATCH_LEVELS));
	u32 mark = ir_slot_mark(f);
	struct ref key = ir_slot(f, 8);
	if (!ref_is(key)) /* the body has it all, and what it keeps there is not alive here */
		key = ir_slot_last(f);
	for (u32 i = 0; i < SCRATCH_LEVELS; i++) {
		struct blk *next = ir_blk(f), *found = ir_blk(f), *mine = ir_blk(f);
		next->unlikely = true;
		ir_store(f, 4, key, 0, ir_addi(f, first, i));
		struct ref p = ir_call(f, BPF_FUNC_map_lookup_elem,
				       ARGS(ir_map(l->u->scratch->index), key));
		ir_br(f, O_NE, p, ir_con(f, 0), found, none);
		ir_at(f, found);
		struct ref zero = ir_con(f, 0), one = ir_con(f, 1);
		struct ref was = atomic ? ir_cmpxchg(f, 8, p, 0, zero, one) : ir_load(f, 8, p, 0);
		ir_br(f, O_EQ, was, zero, mine, next);
		ir_at(f, mine);
		if (!atomic)
			ir_store(f, 8, p, 0, one);
		ir_set(f, l->scratch, ir_addi(f, p, SCRATCH_HEADER));
		ir_jmp(f, body);
		ir_at(f, next);
	}
	ir_slot_release(f, mark);
	ir_jmp(f, none);
}

static void release_scratch(struct lower *l)
{
	ir_store(l->f, 8, ir_get(l->f, l->scratch), -SCRATCH_HEADER, ir_con(l->f, 0));
}

/* ---- one program ---- */

static bool count_loops(struct node *n, void *arg)
{
	*(u32 *)arg += n->kind == N_FOR || n->kind == N_FNCALL || n->flags & NF_CALLED;
	return true;
}

struct mem lower_shared(struct lower *l, u32 at)
{
	return mem_of(ir_get(l->f, l->scratch), (i32)(l->shared + at));
}

/* Variables that cannot be SSA values get memory for the whole run. */
static void place_vars(struct lower *l)
{
	u32 shared = SHARED_VARS;
	for (struct var *v = l->v->vars; v; v = v->next) {
		v->ref = REF_NONE;
		v->mem = MEM_NONE;
		v->frame = -1;
		if (!v->type || type_is_scalar(v->type)) {
			if (v->captured) {
				v->frame = (i32)shared;
				shared += 8;
			}
		} else if (v->body || v->captured || l->tight) {
			v->mem = lower_scratch(l, v->type->size);
		} else {
			v->mem = lower_tmp(l, v->type->size);
		}
	}
	if (!l->callbacks) {
		if (shared > SHARED_VARS) /* variables whose address is taken */
			l->shared = (u32)lower_scratch(l, shared).off;
		return;
	}
	for (struct fninst *fi = l->v->fns; fi; fi = fi->next) {
		fi->result = shared;
		if (!type_is_scalar(fi->ret))
			shared += ALIGN_UP(fi->ret->size, 8u);
	}
	for (struct var *v = l->v->vars; v; v = v->next)
		if (v->loop && type_is_scalar(v->type)) {
			v->bound = shared;
			shared += 8;
		}
	l->shared = (u32)lower_scratch(l, shared).off;
	struct ref slot = ir_slot(l->f, FRAME_SIZE), zero = ir_con(l->f, 0);
	assert(ref_is(slot));
	l->frame = mem_of(slot, 0);
	ir_store(l->f, 8, slot, FRAME_CTX, ir_ctx(l->f));
	ir_store(l->f, 8, slot, FRAME_SCRATCH, ir_get(l->f, l->scratch));
	lower_store(l, 8, lower_shared(l, SHARED_STOP), zero);
	lower_store(l, 8, lower_shared(l, SHARED_RETVAL), zero);
	if (ref_is(l->which))
		lower_store(l, 8, lower_shared(l, SHARED_WHICH), l->which);
	if (ref_is(l->elsewhere))
		lower_store(l, 8, lower_shared(l, SHARED_ELSEWHERE), l->elsewhere);
}

static bool names_vars(struct node *n, void *found)
{
	*(bool *)found |= n->kind == N_VAR || n->kind == N_LET;
	return true;
}

/* Nothing happens any more once the session says so. */
static void heed_stop(struct lower *l, struct blk *out)
{
	struct fn *f = l->f;
	struct blk *go = ir_blk(f);
	if (!l->u->stop) {
		l->u->stop = unit_map(l->c, MAP_AUX, "stop");
		l->u->stop->val_size = 8;
	}
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->stop->index));
	ir_br(f, O_EQ, ir_load(f, 8, p, 0), ir_con(f, 0), go, out);
	ir_at(f, go);
}

/* Perf buffers cannot be written by programs that sleep. */
static bool may_sleep(struct lower *l)
{
	return host_has(l->c->host, FEAT_SLEEPABLE) && host_has(l->c->host, FEAT_RINGBUF) &&
	       !was_kept_awake(&l->u->refused, l->pt->body);
}

/*
 *	entry: scope.c             a predicate that needs no scratch memory runs before it is taken
 *	[claim] predicate [claim]
 *	body
 *	exit: release
 *	out: return
 */
/* The kernel takes no other result of these; `return 1` then means what `return` does. */
static bool only_zero(const struct method *w)
{
	return w->prog_type == BPF_PROG_TYPE_TRACING &&
	       (w->attach_type == BPF_TRACE_FENTRY || w->attach_type == BPF_TRACE_FEXIT ||
		w->attach_type == BPF_TRACE_ITER);
}

static struct fn *lower_prog(struct lower *l, struct str name)
{
	struct fn *f = ir_fn(&l->c->scratch, name);
	struct node *probe = l->v->probe;
	l->f = l->main = l->root = f;
	f->arch = l->c->host->arch;
	f->user_mask = f->arch->tag_bits ? ~f->arch->tag_bits : 0;
	f->loc = probe->a ? probe->a->loc : probe->loc;
	struct blk *pre = ir_blk(f), *post = ir_blk(f), *test = ir_blk(f), *body = ir_blk(f),
		   *out = ir_blk(f), *skip = ir_blk(f), *none = ir_blk(f);
	l->exit = ir_blk(f);
	l->retval = ir_var(f);
	l->scratch = ir_var(f);
	u32 nloop = 0;
	node_walk(probe->c, count_loops, &nloop);
	for (const struct fninst *i = l->v->fns; i; i = i->next)
		node_walk(i->fn->c, count_loops, &nloop);
	u32 body_loops = nloop;
	if (probe->b)
		node_walk(probe->b, count_loops, &nloop);
	/* Blocks in the predicate may have variables of their own. */
	bool pred_vars = nloop > body_loops;
	if (probe->b)
		node_walk(probe->b, names_vars, &pred_vars);
	l->callbacks = nloop > 0;
	l->tight = l->callbacks || l->v->calls_back;
	ir_set(f, l->retval, ir_con(f, 0));
	if (point_flags(l->pt) & METHOD_LINGERS)
		heed_stop(l, out);
	l->may_sleep = point_flags(l->pt) & METHOD_SLEEPS && may_sleep(l);
	f->read_user = lower_read_user;
	f->reader = l;
	lower_scope(l, out);
	lower_which(l, out);
	ir_jmp(f, pre);
	ir_at(f, test);
	if (pred_vars)
		place_vars(l);
	if (probe->b) {
		lower_branch(l, probe->b, post, skip);
	} else {
		ir_jmp(f, post);
	}
	bool early = l->scratch_max > 0;
	ir_at(f, body);
	if (!pred_vars)
		place_vars(l);
	lower_block(l, probe->c);
	ir_jmp(f, l->exit);

	bool claim = l->scratch_max > 0;
	ir_at(f, pre);
	claim &&early ? claim_scratch(l, test, none) : ir_jmp(f, test);
	ir_at(f, post);
	claim && !early ? claim_scratch(l, body, none) : ir_jmp(f, body);
	ir_at(f, skip);
	ir_jmp(f, claim && early ? l->exit : out);
	ir_at(f, l->exit);
	if (claim)
		release_scratch(l);
	ir_jmp(f, out);
	none->unlikely = true;
	ir_at(f, none);
	lower_stat(l, STAT_NEST);
	ir_jmp(f, out);
	ir_at(f, out);
	ir_ret(f, only_zero(l->pt->method) ? ir_con(f, 0) : ir_get(f, l->retval));
	return f;
}

static struct str prog_name(struct arena *a, const struct point *p)
{
	struct sb b = {0};
	for (u32 i = 0; i < p->text.n; i++) {
		char c = p->text.s[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			  (c >= '0' && c <= '9') || c == '_';
		sb_char(&b, ok ? c : '_');
	}
	struct str s = arena_str(a, sb_str(&b));
	sb_free(&b);
	return s;
}

static void add_prog(struct compile *c, struct point *points)
{
	struct unit *u = c->unit;
	struct prog *g = arena_new(c->arena, struct prog);
	*g = (struct prog){.points = points, .index = u->nprog, .loc = points->loc};
	g->name = prog_name(c->arena, points);
	/* The point keeps its number when another way is taken. */
	if (points->method->prog_type == BPF_PROG_TYPE_TRACING)
		g->attach_btf_id = points->btf_id;
	g->phase = points->method->phase;
	c->fn = arena_more(&c->scratch, c->fn, u->nprog, sizeof(*c->fn)); /* filled later */
	arena_push(c->arena, u->prog, u->nprog, g);
}

/* Programs first, so that their number is known when counters are laid out. */
static void make_progs(struct compile *c, struct variant **of)
{
	u32 n = 0;
	for (u32 i = 0; i < c->nvariant; i++) {
		struct variant *v = c->variant[i];
		if (!v->per_point) {
			of[n++] = v;
			add_prog(c, v->points);
			continue;
		}
		for (struct point *p = v->points, *next; p; p = next) {
			next = p->next;
			p->next = NULL;
			of[n++] = v;
			add_prog(c, p);
		}
	}
}

static void make_maps(struct compile *c)
{
	struct unit *u = c->unit;
	u->stats = unit_map(c, MAP_STATS, "stats");
	u->stats->val_size = 8 * (stat_record_word(u->nprog) + 1);
	u->scratch = unit_map(c, MAP_SCRATCH, "scratch");
	u->scratch->max_entries = c->host->ncpu * SCRATCH_LEVELS;
	lower_scope_maps(c);
}

bool lower_unit(struct compile *c)
{
	struct unit *u = c->unit;
	u32 total = 0;
	for (u32 i = 0; i < c->nvariant; i++)
		total += c->variant[i]->per_point ? c->variant[i]->npoint : 1;
	if (total > u->config.max_bpf_progs) {
		diag_hint(
			c->diags,
			diag_add(c->diags, E_LIMIT, (struct loc){0},
				 "Your program is trying to generate more than %llu BPF programs, "
				 "which exceeds the current limit",
				 u->config.max_bpf_progs),
			"raise it with BPFTRACE_MAX_BPF_PROGS or config = { max_bpf_progs = ... }");
		return false;
	}
	struct variant **of = arena_newn(&c->scratch, struct variant *, total);
	make_progs(c, of);
	make_maps(c);
	u32 scratch = 0, claiming = 0;
	for (u32 i = 0; i < u->nprog; i++) {
		struct lower l = {
			.c = c, .u = u, .v = of[i], .pt = u->prog[i]->points, .prog = u->prog[i]};
		c->fn[i] = lower_prog(&l, u->prog[i]->name);
		scratch = MAX(scratch, l.scratch_max);
		claiming += l.claims;
	}
	lower_share(u, claiming);
	u->scratch->val_size = SCRATCH_HEADER + ALIGN_UP(scratch, 8u);
	if (!scratch)
		u->scratch->max_entries = 0; /* not needed: the loader leaves it out */
	return !c->diags->nerror;
}

static struct loc place_of(const struct prog *g, u32 insn)
{
	struct loc loc = g->loc;
	for (u32 i = 0; i < g->code.nline && g->code.line[i].insn <= insn; i++)
		loc = g->code.line[i].loc;
	return loc;
}

/* The kernel lets a program name so many maps; said at the access that is one too many. */
static void count_maps(struct compile *c, const struct prog *g)
{
	enum { MAPS_MAX = 64 };
	struct unit *u = c->unit;
	bool *seen = arena_newn(&c->scratch, bool, u->nmap + 1);
	struct loc loc = {0};
	u32 n = 0;
	for (u32 i = 0; i < g->code.nreloc; i++) {
		const struct reloc *r = &g->code.reloc[i];
		if (!seen[r->map] && ++n == MAPS_MAX + 1)
			loc = place_of(g, r->insn);
		seen[r->map] = true;
	}
	if (n > MAPS_MAX)
		diag_hint(c->diags,
			  diag_add(c->diags, E_LIMIT, loc,
				   "this probe needs %u maps of the kernel, which allows a program "
				   "%d",
				   n, MAPS_MAX),
			  "all maps without keys count as one, each map with keys as one or two; "
			  "several maps can become one with an additional key");
}

bool emit_unit(struct compile *c)
{
	struct unit *u = c->unit;
	for (u32 i = 0; i < u->nprog; i++) {
		u32 stack = 0;
		struct prog *g = u->prog[i];
		if (!ir_emit(c->fn[i], c->arena, &g->code, &stack))
			diag_add(c->diags, E_LIMIT, g->loc,
				 "this probe needs %u bytes of BPF stack, and there are %d", stack,
				 IR_STACK_MAX);
		else
			count_maps(c, g);
		ir_fn_free(c->fn[i]);
	}
	return !c->diags->nerror;
}
