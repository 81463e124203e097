#include "sink/profile.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "core/agg.h"
#include "core/unit.h"

void profile_init(struct profile *p, const struct sink_env *env, const char *format,
		  enum profile_by by, struct str unit)
{
	*p = (struct profile){.format = format, .by = by, .env = *env, .unit = unit};
	p->env.buffering = 'f'; /* remarks do not push the picture out */
	p->start_ns = clock_ns(CLOCK_REALTIME);
	out_init(&p->o, &p->env);
}

void profile_show(const void *self, struct show *results, struct show *remarks)
{
	const struct profile *p = self;
	*results = *remarks = p->env.how_remarks; /* texts go there, too */
}

/* ---- frames ---- */

/* Visible text; "\n" and the like can stand in any format. */
static struct str visible(struct profile *p, struct str s)
{
	AUTO_SB b = {0};
	sb_visible(&b, s);
	return arena_str(&p->arena, str_trim(sb_str(&b)));
}

static struct str base_name(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_from(path, i);
	return path;
}

static const struct {
	const char *name;
	enum frame_kind kind;
} languages[] = {{"python", FRAME_PYTHON},
		 {"ruby", FRAME_RUBY},
		 {"php", FRAME_PHP},
		 {"perl", FRAME_PERL},
		 {"javascript", FRAME_JAVASCRIPT},
		 {"java", FRAME_JAVA}};

static enum frame_kind kind_of(const struct value *v, const struct frame *f)
{
	if (f->inlined)
		return FRAME_INLINED;
	if (v->kernel)
		return FRAME_KERNEL;
	for (u32 i = 0; f->language.n && i < countof(languages); i++)
		if (str_is(f->language, languages[i].name))
			return languages[i].kind;
	if (f->made)
		return FRAME_JIT;
	if (!f->module.n)
		return f->sym.n ? FRAME_JIT : FRAME_UNKNOWN;
	return str_find(base_name(f->module), STR(".so")) >= 0 ? FRAME_LIBRARY : FRAME_USER;
}

static struct str name_of(struct profile *p, const struct value *v, const struct frame *f)
{
	bool plain = v->mode == STACK_RAW || v->mode == STACK_BUILD_ID;
	struct str s = plain ? f->text : f->sym;
	struct str module = base_name(f->module);
	struct str file = base_name(f->source);
	if (f->language.n && p->by != BY_PLACE && file.n &&
	    !str_eq(s, file)) /* many are called run() */
		s = str_z(arena_fmt(&p->arena, "%.*s (%.*s)", STRF(s), STRF(file)));
	if (!s.n && module.n)
		s = str_z(arena_fmt(&p->arena, "[%.*s]", STRF(module)));
	s = visible(p, s);
	return s.n ? s : STR("[unknown]");
}

static u32 add_frame(struct profile *p, const struct profile_frame *f)
{
	AUTO_SB key = {0};
	sb_add(&key, f->name);
	if (p->by != BY_NAME)
		sb_fmt(&key, "\n%u", f->kind);
	if (p->by == BY_PLACE)
		sb_fmt(&key, "\n%.*s\n%llx\n%.*s:%u", STRF(f->module), f->addr, STRF(f->source),
		       f->line);
	u32 at = (u32)(uintptr_t)tab_get(&p->index, sb_str(&key));
	if (at)
		return at - 1;
	vec_add(&p->frame, *f);
	tab_set(&p->index, arena_str(&p->arena, sb_str(&key)), (void *)(uintptr_t)p->frame.n);
	return p->frame.n - 1;
}

static void push_stack(struct profile *p, const struct value *v)
{
	for (u32 i = v->n; i; i--) {
		const struct frame *f = &v->stack[i - 1];
		struct profile_frame g = {
			.kind = kind_of(v, f),
			.name = name_of(p, v, f),
			.module = visible(p, f->module),
			.build_id = visible(p, f->build_id),
			.source = visible(p, f->source),
			.addr = f->addr,
			.file_off = f->file_off,
			.line = f->line,
		};
		vec_add(&p->stack, add_frame(p, &g));
	}
}

/* ---- keys ---- */

static bool is_list(const struct value *v)
{
	return v->kind == V_TUPLE || v->kind == V_RECORD || v->kind == V_ARRAY;
}

static bool has_stack(const struct value *key)
{
	if (key->kind == V_STACK)
		return true;
	for (u32 i = 0; is_list(key) && i < key->n; i++)
		if (has_stack(&key->list[i]))
			return true;
	return false;
}

/* Parts that are no stack, outermost. */
static void push_labels(struct profile *p, const struct value *v, u32 *nlabel)
{
	if (v->kind == V_STACK)
		return;
	if (is_list(v) && has_stack(v)) {
		for (u32 i = 0; i < v->n; i++)
			push_labels(p, &v->list[i], nlabel);
		return;
	}
	AUTO_SB text = {0};
	struct show how = {.trailer = p->env.how.trailer, .escape = true};
	value_text(&text, v, &how);
	struct profile_frame f = {
		.kind = FRAME_LABEL,
		.name = visible(p, sb_str(&text)),
		.key = str_z(arena_fmt(&p->arena, "key%u", (*nlabel)++)),
		.is_num = v->kind == V_INT || (v->kind == V_UINT && v->u <= INT64_MAX),
		.num = v->i,
	};
	if (!f.name.n)
		f.name = STR("\"\"");
	if (p->by == BY_PLACE)
		f.source = f.key; /* equal texts of two parts are two labels */
	vec_add(&p->stack, add_frame(p, &f));
}

static void push_stacks(struct profile *p, const struct value *v, bool kernel)
{
	if (v->kind == V_STACK && v->kernel == kernel)
		push_stack(p, v);
	for (u32 i = 0; is_list(v) && i < v->n; i++)
		push_stacks(p, &v->list[i], kernel);
}

/* A part of a key as frames: what is no stack, the user stacks, the kernel's. */
static void push_part(struct profile *p, const struct value *v, u32 *nlabel)
{
	push_labels(p, v, nlabel);
	push_stacks(p, v, false);
	push_stacks(p, v, true);
}

/*
 * A second stack of the same side is of somebody else (who woke the first): it begins a part of its own,
 * with what stands between the two.
 */
static u32 end_of_part(const struct value *key, u32 from)
{
	bool seen[2] = {false, false};
	u32 end = from;
	for (u32 i = from; i < key->n; i++) {
		const struct value *v = &key->list[i];
		if (v->kind != V_STACK)
			continue;
		if (seen[v->kernel])
			return end;
		seen[v->kernel] = true;
		end = i + 1;
	}
	return key->n;
}

static void push_key(struct profile *p, const struct value *key)
{
	u32 nlabel = 0;
	if (!is_list(key)) {
		push_part(p, key, &nlabel);
		return;
	}
	for (u32 at = 0, end; at < key->n; at = end) {
		end = end_of_part(key, at);
		struct value part = *key;
		part.list = key->list + at;
		part.n = end - at;
		if (has_stack(&part))
			push_part(p, &part, &nlabel);
	}
}

/* ---- maps ---- */

/* Negative sums are no weights. */
static u64 weight_of(const struct value *v)
{
	u64 n = 0;
	switch (v->kind) {
	case V_UINT: return v->u;
	case V_INT: return v->i > 0 ? (u64)v->i : 0;
	case V_STATS: return v->list[2].i > 0 ? (u64)v->list[2].i : 0;
	case V_HIST:
		for (u32 i = 0; i < v->n; i++)
			n += v->hist[i].count;
		return n;
	default: return 0;
	}
}

static const char no_stack[] = "its key holds no stack";

static const char *why_not_added(const struct agg *agg)
{
	if (agg && (agg->mean || agg->keeps != AGG_ALL))
		return "averages, minima and maxima cannot be added up; use sum() or count()";
	return NULL;
}

static bool type_has_stack(const struct type *t)
{
	if (t->kind == T_KSTACK || t->kind == T_USTACK)
		return true;
	for (u32 i = 0; (t->kind == T_TUPLE || t->kind == T_RECORD) && i < t->nfield; i++)
		if (type_has_stack(t->field[i].type))
			return true;
	return t->kind == T_ARRAY && type_has_stack(t->base);
}

const char *profile_why_not(const struct unit *u, const struct map *m)
{
	(void)u;
	if (!m->key || !type_has_stack(m->key))
		return no_stack;
	return why_not_added(agg_of(m->val));
}

/* NULL: it can be shown. */
static const char *why_not(const struct item *it)
{
	struct item_row row = item_row(it, 0);
	if (!row.key || !has_stack(row.key))
		return no_stack;
	const char *why = why_not_added(it->map.agg);
	if (why)
		return why;
	if (row.val->kind != V_UINT && row.val->kind != V_INT && row.val->kind != V_STATS &&
	    row.val->kind != V_HIST)
		return "its values are no numbers";
	return NULL;
}

void profile_leave_out(struct profile *p, struct str name, const char *why)
{
	struct str s = str_z(arena_fmt(&p->arena, "%.*s: %s", STRF(name), why));
	for (u32 i = 0; i < p->left_out.n; i++)
		if (str_eq(p->left_out.v[i], s))
			return;
	vec_add(&p->left_out, s);
}

static struct profile_map *map_of(struct profile *p, const struct item *it)
{
	for (u32 i = 0; i < p->map.n; i++)
		if (str_eq(p->map.v[i].name, it->name))
			return &p->map.v[i];
	bool counted = it->map.agg && it->map.agg->counts,
	     buckets = it->map.agg && it->map.agg->buckets;
	vec_add(&p->map,
		(struct profile_map){.name = arena_str(&p->arena, it->name),
				     .unit = p->unit.n               ? p->unit
					     : it->str.n && !buckets ? arena_str(&p->arena, it->str)
					     : counted               ? STR("samples")
								     : STR("count"),
				     .epoch = it->map.epoch});
	return &p->map.v[p->map.n - 1];
}

static void put_map(struct profile *p, const struct item *it)
{
	const char *why = it->map.n ? why_not(it) : NULL;
	if (why)
		profile_leave_out(p, it->name, why);
	if (!it->map.n || why)
		return;
	struct profile_map *m = map_of(p, it);
	if (m->epoch != it->map.epoch)
		m->epoch_from = m->sample.n;
	m->epoch = it->map.epoch;
	m->sample.n = m->epoch_from;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row row = item_row(it, i);
		struct profile_sample s = {.first = p->stack.n, .weight = weight_of(row.val)};
		if (!s.weight)
			continue;
		push_key(p, row.key);
		s.n = p->stack.n - s.first;
		vec_add(&m->sample, s);
	}
}

static void put_aside(struct profile *p, struct str s)
{
	size_t done;
	(void)signals_write(p->env.signals, p->env.err, s.s, s.n, &done);
}

/* Of a merged answer: whose text it is. */
static void put_host(struct sb *b, const struct item *it)
{
	if (it->host.n)
		sb_fmt(b, "%.*s: ", STRF(it->host));
}

struct err *profile_put(struct profile *p, const struct item *it)
{
	AUTO_SB b = {0};
	switch (it->kind) {
	case I_TEXT:
		put_host(&b, it);
		sb_add(&b, it->str);
		put_aside(p, sb_str(&b));
		break;
	case I_VALUE:
		put_host(&b, it);
		value_text(&b, it->text.val, &p->env.how_remarks);
		sb_char(&b, '\n');
		put_aside(p, sb_str(&b));
		break;
	case I_MAP: put_map(p, it); break;
	case I_STATUS:
		if (!p->env.quiet)
			out_remark(&p->o, &p->env, it);
		break;
	case I_LOST: p->lost += it->lost.loss == LOSS_EVENTS ? it->lost.n : 0; /* fallthrough */
	case I_COST:
	case I_FLEET:
	case I_ERROR: out_remark(&p->o, &p->env, it); break;
	case I_HEAD:
	case I_SNAPSHOT:
	case I_KEPT:
	case I_TOTAL: break;
	case I_ROW: profile_leave_out(p, STR("emit()"), "rows of columns hold no stacks"); break;
	case I_END: p->ended = true; break;
	}
	return NULL;
}

/* ---- the end ---- */

struct sorting {
	const struct profile *p;
	u32 *rank; /* of each frame */
};

static int by_frame(const void *pa, const void *pb, void *arg)
{
	const struct profile *p = arg;
	const struct profile_frame *a = &p->frame.v[*(const u32 *)pa],
				   *b = &p->frame.v[*(const u32 *)pb];
	int c = str_cmp(a->name, b->name);
	if (!c)
		c = (a->kind > b->kind) - (a->kind < b->kind);
	if (!c)
		c = str_cmp(a->module, b->module);
	return c ? c : (a->addr > b->addr) - (a->addr < b->addr);
}

static int by_stack(const void *pa, const void *pb, void *arg)
{
	const struct sorting *o = arg;
	const struct profile_sample *a = pa, *b = pb;
	const u32 *x = o->p->stack.v + a->first, *y = o->p->stack.v + b->first;
	for (u32 i = 0; i < a->n && i < b->n; i++)
		if (x[i] != y[i])
			return o->rank[x[i]] < o->rank[y[i]] ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

static void sort_map(const struct sorting *o, struct profile_map *m)
{
	u32 kept = 0;
	struct profile_sample *v = m->sample.v;
	if (!m->sample.n)
		return;
	qsort_r(v, m->sample.n, sizeof(*v), by_stack, (void *)(uintptr_t)o);
	for (u32 i = 0; i < m->sample.n; i++) {
		m->total += v[i].weight;
		if (kept && !by_stack(&v[kept - 1], &v[i], (void *)(uintptr_t)o))
			v[kept - 1].weight += v[i].weight;
		else
			v[kept++] = v[i];
	}
	m->sample.n = kept;
}

u32 *profile_ranks(struct profile *p)
{
	u32 *order AUTO_FREE = xcalloc(p->frame.n, sizeof(u32));
	u32 *rank = xcalloc(p->frame.n, sizeof(u32));
	for (u32 i = 0; i < p->frame.n; i++)
		order[i] = i;
	qsort_r(order, p->frame.n, sizeof(u32), by_frame, p);
	for (u32 i = 0; i < p->frame.n; i++)
		rank[order[i]] = i;
	return rank;
}

static void sort_all(struct profile *p)
{
	u32 *rank AUTO_FREE = profile_ranks(p);
	for (u32 i = 0; i < p->map.n; i++)
		sort_map(&(struct sorting){p, rank}, &p->map.v[i]);
}

static void left_out(const struct profile *p, struct sb *why)
{
	for (u32 i = 0; i < p->left_out.n; i++)
		sb_fmt(why, "%s%.*s", i ? "; " : "", STRF(p->left_out.v[i]));
}

void profile_tell_left_out(struct profile *p)
{
	AUTO_SB why = {0};
	left_out(p, &why);
	if (!why.n)
		return;
	struct item it = {.kind = I_LOST, .lost.warn = true};
	it.str = str_z(arena_fmt(&p->arena, "-f %s leaves out %s", p->format, why.s));
	out_remark(&p->o, &p->env, &it);
}

struct err *profile_end(struct profile *p, bool *show)
{
	u32 nsample = 0;
	*show = false;
	for (u32 i = 0; i < p->map.n; i++)
		nsample += p->map.v[i].sample.n;
	if (!p->ended) /* what went wrong is told */
		return NULL;
	AUTO_SB why = {0};
	left_out(p, &why);
	if (!nsample && p->env.tool)
		return err_new("no stacks were counted");
	if (!nsample && why.n)
		return err_new("-f %s shows " PROFILE_SHOWS ", as in " PROFILE_EXAMPLE "; %s",
			       p->format, why.s);
	if (!nsample)
		return err_new(
			"no stacks were counted; -f %s shows maps of them, as in " PROFILE_EXAMPLE,
			p->format);
	profile_tell_left_out(p);
	sort_all(p);
	*show = true;
	return NULL;
}

struct err *profile_close(struct profile *p, struct err *e)
{
	struct err *late = out_close(&p->o);
	for (u32 i = 0; i < p->map.n; i++)
		vec_free(&p->map.v[i].sample);
	vec_free(&p->map);
	vec_free(&p->frame);
	vec_free(&p->stack);
	vec_free(&p->left_out);
	tab_free(&p->index);
	arena_free(&p->arena);
	if (!e)
		return late;
	err_free(late);
	return e;
}
