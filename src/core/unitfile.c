/*
 * unitfile.c - see unitfile.h. One walk writes and reads, so that both agree.
 *
 *	"sonde\0U" version, then sources, types, maps, tables, schemas, programs, the rest
 *
 * Numbers are little endian, texts are a length and bytes. Types stand in an order in which each
 * refers only to those before it; so do maps to maps by their index.
 */
#include "core/unitfile.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/tab.h"
#include "base/vec.h"
#include "core/agg.h"
#include "core/builtin.h"
#include "core/columns.h"
#include "core/store.h"
#include <linux/bpf.h>

enum {
	MAX_DEPTH = 32,          /* of types in types */
	MAX_TYPE_SIZE = 1 << 26, /* bytes of a value */
	MAX_MEMORY = 1 << 28,    /* that reading may take */
};

static const char magic[8] = "sonde\0U";

struct walk {
	struct sb *out; /* written to; NULL: .in is read */
	struct bytes in;
	struct unit *u;
	struct diags *ds; /* the texts of the script */
	u32 ncpu;         /* reading: of this machine */
	struct arena *a;
	const char *bad; /* what is wrong with it; NULL: nothing yet */
	size_t memory;
	struct tab seen; /* writing: address of a type -> its number + 1 */
	VEC(const struct type *) type;
	VEC(u8) depth; /* reading: of each type */
	u8 deepest;    /* of those that were referred to last */
};

static void fail(struct walk *w, const char *why)
{
	if (!w->bad)
		w->bad = why;
}

static bool good(const struct walk *w)
{
	return !w->bad && !w->in.bad;
}

static void check(struct walk *w, bool ok, const char *why)
{
	if (!ok)
		fail(w, why);
}

/* ---- numbers, texts, arrays ---- */

static void raw(struct walk *w, void *p, size_t n)
{
	if (w->out) {
		sb_mem(w->out, p, n);
		return;
	}
	const u8 *from = bytes_take(&w->in, n);
	if (from)
		memcpy(p, from, n);
	else
		memset(p, 0, n);
}

#define NUM(w, x)                                    \
	do {                                         \
		u64 num_ = (u64)(x);                 \
		raw(w, &num_, sizeof(num_));         \
		if (!(w)->out)                       \
			(x) = (__typeof__(x))(num_); \
	} while (0)

/* Zeroed memory for n things of a size; NULL, and it is bad, when that is absurd. */
static void *room(struct walk *w, u64 n, size_t size)
{
	if (n > MAX_MEMORY / size || w->memory + n * size > MAX_MEMORY) {
		fail(w, "it is too large");
		return NULL;
	}
	w->memory += n * size;
	return arena_alloc(w->a, n * size + 1, 8);
}

/* An array: its length, and when reading the memory for it. */
static void *array(struct walk *w, void *v, u32 *n, size_t size)
{
	u64 count = *n;
	raw(w, &count, sizeof(count));
	if (w->out)
		return v;
	/* Every element takes a byte at least. */
	*n = good(w) && count <= w->in.n - w->in.at ? (u32)count : 0;
	check(w, *n == count, "a table is longer than all");
	void *p = room(w, *n, size);
	if (!p)
		*n = 0;
	return p;
}
#define ARRAY(w, v, n) array(w, (void *)(uintptr_t)(v), &(n), sizeof(*(v)))

static void text(struct walk *w, struct str *s)
{
	u32 n = s->n, none = !s->s;
	char *p = array(w, (void *)(uintptr_t)s->s, &n, 1);
	NUM(w, none);
	if (p && n)
		raw(w, p, n);
	if (!w->out)
		*s = none || !p ? (struct str){0} : str_n(p, n);
}

static void ztext(struct walk *w, const char **s)
{
	struct str v = *s ? str_z(*s) : (struct str){0};
	text(w, &v);
	if (!w->out)
		*s = v.s ? arena_strz(w->a, v) : NULL;
}

static void place(struct walk *w, struct loc *l)
{
	NUM(w, l->pos);
	NUM(w, l->len);
	NUM(w, l->src);
	const struct diags *ds = w->ds;
	if (!w->out && (l->src ? l->src >= ds->nsource : !ds->nsource && (l->pos || l->len)))
		*l = (struct loc){0};
	if (!w->out && ds->nsource && (u64)l->pos + l->len > ds->source[l->src].text.n)
		*l = (struct loc){0};
}

/* One of the unit's maps, or none. */
static void map_ref(struct walk *w, struct map **m)
{
	u64 n = w->out && *m ? (*m)->index + 1ull : 0;
	raw(w, &n, sizeof(n));
	check(w, n <= w->u->nmap, "a map is not there");
	if (!w->out)
		*m = n && good(w) ? w->u->map[n - 1] : NULL;
}

/* ---- types ---- */

/* Numbers its parts, then itself. Targets of pointers do not matter to values. */
static u32 number(struct walk *w, const struct type *t)
{
	struct str key = str_n((const char *)&t, sizeof(t));
	u32 n = (u32)(uintptr_t)tab_get(&w->seen, key), nfield;
	if (n)
		return n;
	if (t->base && t->kind != T_PTR)
		number(w, t->base);
	const struct field *f = type_fields(t, &nfield);
	for (u32 i = 0; i < nfield && t->kind != T_FUNC; i++)
		number(w, f[i].type);
	const struct type **kept = arena_new(w->a, const struct type *);
	*kept = t;
	vec_add(&w->type, t);
	tab_set(&w->seen, str_n((const char *)kept, sizeof(t)), (void *)(uintptr_t)w->type.n);
	return w->type.n;
}

static void type_ref(struct walk *w, const struct type **t)
{
	u64 n = w->out && *t ? number(w, *t) : 0;
	raw(w, &n, sizeof(n));
	check(w, n <= w->type.n, "a type is not there");
	if (w->out)
		return;
	*t = n && good(w) ? w->type.v[n - 1] : NULL;
	if (*t)
		w->deepest = MAX(w->deepest, w->depth.v[n - 1]);
}

/* Bytes that decoding a value of this kind looks at; parts not counted. */
static u64 least_size(const struct type *t)
{
	switch (t->kind) {
	case T_KSYM:
	case T_USERNAME:
	case T_PROBE: return 8;
	case T_USYM:
	case T_TIMESTAMP:
	case T_CGROUP_PATH: return 16;
	case T_INET: return 20;
	case T_MAC: return 6;
	case T_KSTACK:
	case T_USTACK:
		return sizeof(struct stack_value) + (u64)t->count * stack_frame_size(t->mode);
	case T_ARRAY: return (u64)t->count * t->base->size;
	default: return 0;
	}
}

static bool agg_is_sound(const struct type *t)
{
	const struct agg *agg = agg_of(t);
	return (!agg->sound || agg->sound(t)) && agg->words(t) * 8ull <= MAX_TYPE_SIZE;
}

static bool field_fits(const struct type *t, const struct field *f)
{
	u64 bytes = f->bit_len ? (f->bit_off % 8 + f->bit_len + 7) / 8 : f->type->size;
	return f->bit_len <= 64 && bytes + f->bit_off / 8 <= t->size && bytes <= t->size;
}

/* A type that was read decodes within its size, and is no deeper than others. */
static void check_type(struct walk *w, const struct type *t)
{
	bool ok = (u32)t->kind < (u32)T_KINDS && t->size <= MAX_TYPE_SIZE && t->space <= AS_STACK;
	if (ok && t->kind == T_ARRAY)
		ok = t->base && t->base->size;
	ok = ok && least_size(t) <= t->size && (!type_is_agg(t) || agg_is_sound(t));
	if (ok && (t->kind == T_INT || t->kind == T_ENUM || t->kind == T_BOOL || t->kind == T_PTR))
		ok = t->size <= 8;
	for (u32 i = 0; ok && i < t->nfield; i++)
		ok = t->field[i].type && field_fits(t, &t->field[i]);
	check(w, ok && w->deepest < MAX_DEPTH, "a type is damaged");
}

static void type_body(struct walk *w, struct type *t)
{
	u32 kind = t->kind, nfield;
	const struct field *fields = w->out ? type_fields(t, &nfield) : NULL;
	if (w->out && t->kind == T_FUNC)
		nfield = 0;
	NUM(w, kind);
	t->kind = kind & 0xff;
	NUM(w, t->space);
	NUM(w, t->is_signed);
	NUM(w, t->is_char);
	NUM(w, t->mode);
	NUM(w, t->size);
	NUM(w, t->align);
	text(w, &t->name);
	NUM(w, t->count);
	for (u32 i = 0; i < countof(t->p); i++)
		NUM(w, t->p[i]);
	const struct type *base = t->kind == T_PTR ? NULL : t->base;
	type_ref(w, &base);
	struct field *f = ARRAY(w, fields, nfield);
	for (u32 i = 0; i < nfield; i++) {
		text(w, &f[i].name);
		NUM(w, f[i].bit_off);
		NUM(w, f[i].bit_len);
		type_ref(w, &f[i].type);
	}
	u32 nenum = t->nenum;
	struct enumerator *e = ARRAY(w, t->enums, nenum);
	for (u32 i = 0; i < nenum; i++) {
		text(w, &e[i].name);
		NUM(w, e[i].val);
	}
	if (w->out)
		return;
	t->base = t->kind == T_PTR ? &type_none : base;
	t->enums = e;
	t->field = f;
	t->nfield = nfield;
	t->nenum = nenum;
}

/* Writing numbers all that is referred to first, so that the table can go before the rest. */
static void types(struct walk *w)
{
	struct unit *u = w->u;
	for (u32 i = 0; w->out && i < u->nmap; i++) {
		const struct map *m = u->map[i];
		const struct type *used[] = {m->key, m->val, m->shown};
		for (u32 k = 0; k < countof(used); k++)
			if (used[k])
				number(w, used[k]);
	}
	for (u32 i = 0; w->out && i < u->nschema; i++)
		if (u->schema[i]->layout)
			number(w, u->schema[i]->layout);
	u64 n = w->type.n;
	raw(w, &n, sizeof(n));
	for (u64 i = 0; i < n && w->out; i++) {
		struct type copy = *w->type.v[i];
		type_body(w, &copy);
	}
	for (u64 i = 0; i < n && good(w) && !w->out; i++) {
		struct type *t = room(w, 1, sizeof(*t));
		w->deepest = 0;
		if (t)
			type_body(w, t);
		if (good(w))
			check_type(w, t);
		vec_add(&w->type, t);
		vec_add(&w->depth, (u8)(w->deepest + 1));
	}
}

/* ---- maps ---- */

/* What the runtime does with a map stays within it. */
static bool map_is_sound(const struct walk *w, const struct map *m)
{
	bool ok = m->role <= MAP_AUX && m->key_size <= MAX_TYPE_SIZE &&
		  m->val_size <= MAX_TYPE_SIZE && m->max_entries <= MAX_MEMORY;
	if (m->role != MAP_USER || !ok)
		return ok && !m->store && !m->own && !m->keys;
	u32 keys = m->keys ? m->keys->val_size : m->key_size;
	ok = m->store && m->val && !m->scalar == (m->key != NULL);
	ok = ok && (!m->key || m->key->size <= keys) && (!m->own || m->own->max_entries == 1);
	ok = ok && (!m->keys || (m->keys->key_size == m->key_size && !m->keys->key));
	return ok && m->store->sound(m, w->ncpu);
}

static void store_ref(struct walk *w, const struct store **ref)
{
	struct str name = *ref ? str_z((*ref)->name) : (struct str){0};
	text(w, &name);
	if (w->out || !name.n)
		return;
	const struct store *const *s = stores;
	while (*s && !str_is(name, (*s)->name))
		s++;
	check(w, *s != NULL, "a way to keep a map is not known here");
	*ref = *s;
}

static void map_body(struct walk *w, struct map *m)
{
	u32 role = m->role;
	text(w, &m->name);
	NUM(w, role);
	m->role = role;
	NUM(w, m->map_type);
	NUM(w, m->key_size);
	NUM(w, m->val_size);
	NUM(w, m->max_entries);
	NUM(w, m->flags);
	NUM(w, m->inner_size);
	map_ref(w, &m->keys);
	store_ref(w, &m->store);
	map_ref(w, &m->own);
	NUM(w, m->adds);
	NUM(w, m->cleared);
	NUM(w, m->zeroed);
	NUM(w, m->counter);
	type_ref(w, &m->key);
	type_ref(w, &m->val);
	type_ref(w, &m->shown);
	NUM(w, m->percpu);
	NUM(w, m->scalar);
	NUM(w, m->declared);
	NUM(w, m->frozen);
	place(w, &m->loc);
	u32 n = m->init ? m->val_size : 0, size = m->val_size;
	m->init = array(w, (void *)(uintptr_t)m->init, &n, 1);
	if (n)
		raw(w, (void *)(uintptr_t)m->init, n);
	check(w, !n || n == size, "a map's contents are cut");
	if (!n && !w->out)
		m->init = NULL;
}

/* All of them first, so that they can refer to each other. */
static void maps(struct walk *w)
{
	struct unit *u = w->u;
	u->map = ARRAY(w, u->map, u->nmap);
	for (u32 i = 0; i < u->nmap && !w->out; i++) {
		u->map[i] = room(w, 1, sizeof(struct map));
		if (!u->map[i])
			u->nmap = 0;
		else
			u->map[i]->index = i;
	}
	for (u32 i = 0; i < u->nmap && good(w); i++)
		map_body(w, u->map[i]);
	for (u32 i = 0; i < u->nmap && good(w) && !w->out; i++)
		check(w, map_is_sound(w, u->map[i]), "a map is damaged");
}

/* ---- records ---- */

static void columns_body(struct walk *w, struct columns *c)
{
	text(w, &c->name);
	c->col = ARRAY(w, c->col, c->n);
	for (u32 i = 0; i < c->n; i++) {
		struct column *k = &c->col[i];
		u32 unit = k->unit;
		struct str names = k->names ? names_table(k->names) : (struct str){0};
		text(w, &k->name);
		text(w, &k->heading);
		text(w, &k->is);
		text(w, &names);
		NUM(w, k->width);
		NUM(w, k->right);
		NUM(w, k->data);
		NUM(w, k->text);
		NUM(w, k->share);
		NUM(w, k->bare);
		NUM(w, k->blank);
		NUM(w, k->quoted);
		NUM(w, k->index);
		NUM(w, k->part);
		NUM(w, k->digits);
		NUM(w, unit);
		k->unit = unit;
		if (!w->out)
			k->names = names_find(names);
		check(w, (unit == COL_NAME) == !!k->names, "a column's names are damaged");
		check(w, unit < COLUMN_UNITS && k->index <= 64 && k->width < 4096 && k->digits < 10,
		      "a column is damaged");
	}
	NUM(w, c->declared);
	NUM(w, c->head);
	NUM(w, c->bare);
	NUM(w, c->ruled);
	NUM(w, c->total);
	NUM(w, c->sort);
	NUM(w, c->ascending);
	NUM(w, c->rows);
	NUM(w, c->top);
	NUM(w, c->numbered);
	NUM(w, c->period_ns);
	NUM(w, c->standing);
	NUM(w, c->spaced);
	NUM(w, c->begun);
	check(w, c->sort <= 64 && c->declared <= 64, "a table is damaged");
}

static const struct builtin *find_row(struct str sig)
{
	for (u32 i = 0; builtin_tables[i]; i++)
		for (const struct builtin *b = builtin_tables[i]; b->sig; b++)
			if (str_is(sig, b->sig))
				return b;
	return NULL;
}

static void schema_body(struct walk *w, struct schema *sc)
{
	struct unit *u = w->u;
	struct str fn = sc->fn ? str_z(sc->fn->sig) : (struct str){0};
	text(w, &fn);
	if (!w->out && fn.s) {
		sc->fn = find_row(fn);
		check(w, sc->fn && sc->fn->handle, "a function is not known here");
	}
	type_ref(w, &sc->layout);
	check(w, !sc->layout || sc->layout->kind == T_TUPLE, "a record is damaged");
	text(w, &sc->fmt);
	map_ref(w, &sc->map);
	check(w, !sc->map || sc->map->role == MAP_USER, "a record is damaged");
	u64 table = 0;
	for (u32 i = 0; w->out && sc->columns && i < u->ncolumns; i++)
		table = u->columns[i] == sc->columns ? i + 1 : table;
	NUM(w, table);
	check(w, table <= u->ncolumns, "a table is not there");
	if (!w->out)
		sc->columns = table && good(w) ? u->columns[table - 1] : NULL;
	NUM(w, sc->filled);
	NUM(w, sc->last);
	NUM(w, sc->own);
	struct map **maps = ARRAY(w, sc->maps, sc->nmap);
	for (u32 i = 0; i < sc->nmap; i++)
		map_ref(w, &maps[i]);
	for (u32 i = 0; i < sc->nmap; i++)
		check(w, maps[i] && maps[i]->role == MAP_USER, "a record is damaged");
	sc->maps = maps;
	NUM(w, sc->n[0]);
	NUM(w, sc->n[1]);
	place(w, &sc->loc);
	ztext(w, &sc->msg);
}

/* ---- programs ---- */

static const struct probe_type *find_kind(struct str name)
{
	for (const struct probe_type *const *k = probe_types; *k; k++)
		if (str_is(name, (*k)->name))
			return *k;
	return NULL;
}

/* A kind by its name, a method by its place among those of the kind. */
static void method_ref(struct walk *w, struct point *p)
{
	struct str name = p->type ? str_z(p->type->name) : (struct str){0};
	u32 n = 0, nway = 0;
	text(w, &name);
	const struct probe_type *k = find_kind(name);
	check(w, k != NULL, "a kind of probe is not known here");
	if (!k)
		return;
	while (k->methods[nway])
		nway++;
	while (w->out && n < nway && k->methods[n] != p->method)
		n++;
	NUM(w, n);
	check(w, n < nway, "a way to attach is not known here");
	if (w->out || n >= nway)
		return;
	p->type = k;
	p->method = k->methods[n];
}

static void point_body(struct walk *w, struct point *p)
{
	u32 abi = p->abi, found = p->priv != NULL;
	method_ref(w, p);
	text(w, &p->text);
	text(w, &p->target);
	text(w, &p->name);
	text(w, &p->extra);
	text(w, &p->plain);
	NUM(w, p->offset);
	NUM(w, p->addr);
	NUM(w, p->period);
	NUM(w, p->id);
	NUM(w, p->has_addr);
	NUM(w, p->late);
	NUM(w, p->wild);
	NUM(w, p->copied);
	NUM(w, p->pid);
	NUM(w, abi);
	p->abi = abi & 3;
	NUM(w, p->narg);
	NUM(w, p->btf_id);
	NUM(w, found);
	place(w, &p->loc);
	check(w, !p->late, "a probe waits for the child of -c");
	check(w, w->out || !w->u->nprobe || p->id < w->u->nprobe, "a probe is damaged");
	if (!w->out)
		p->priv = found ? p : NULL; /* until unit_resolve() */
}

static void points(struct walk *w, struct prog *g)
{
	u32 n = point_count(g->points);
	void *none = array(w, NULL, &n, 1);
	(void)none;
	struct point **at = &g->points;
	check(w, n, "a program has no probe");
	for (u32 i = 0; i < n && good(w); i++, at = &(*at)->next) {
		if (!w->out && !(*at = room(w, 1, sizeof(struct point))))
			return;
		point_body(w, *at);
	}
}

static void code_body(struct walk *w, struct code *c)
{
	c->insn = ARRAY(w, c->insn, c->ninsn);
	if (c->ninsn)
		raw(w, c->insn, c->ninsn * sizeof(*c->insn));
	struct reloc *r = ARRAY(w, c->reloc, c->nreloc);
	for (u32 i = 0; i < c->nreloc; i++) {
		u32 kind = r[i].kind;
		NUM(w, r[i].insn);
		NUM(w, r[i].map);
		NUM(w, kind);
		r[i].kind = kind;
		check(w,
		      r[i].insn + 1ull < c->ninsn && r[i].map < w->u->nmap &&
			      c->insn[r[i].insn].code == (BPF_LD | BPF_DW | BPF_IMM),
		      "a program is damaged");
		if (!good(w))
			break;
	}
	c->reloc = r;
	struct code_line *l = ARRAY(w, c->line, c->nline);
	for (u32 i = 0; i < c->nline; i++) {
		NUM(w, l[i].insn);
		place(w, &l[i].loc);
	}
	c->line = l;
	struct code_fn *f = ARRAY(w, c->fn, c->nfn);
	for (u32 i = 0; i < c->nfn; i++) {
		NUM(w, f[i].insn);
		text(w, &f[i].name);
		NUM(w, f[i].narg);
		NUM(w, f[i].callback);
	}
	c->fn = f;
}

static void prog_body(struct walk *w, struct prog *g)
{
	u32 phase = g->phase;
	text(w, &g->name);
	NUM(w, phase);
	g->phase = phase;
	check(w, phase <= PROG_BENCH, "a program is damaged");
	NUM(w, g->sleeps);
	NUM(w, g->attach_btf_id);
	place(w, &g->loc);
	points(w, g);
	code_body(w, &g->code);
}

/* ---- the rest ---- */

static void sources(struct walk *w)
{
	struct diags *ds = w->ds;
	struct source *src = ARRAY(w, ds->source, ds->nsource);
	for (u32 i = 0; i < ds->nsource; i++) {
		text(w, &src[i].name);
		text(w, &src[i].text);
	}
	ds->source = src;
}

static void word(struct walk *w, const struct setting *s, u8 *at)
{
	const char *const *words = setting_words(s->kind);
	u32 n = 0;
	NUM(w, *at);
	while (words[n])
		n++;
	check(w, *at < n, "a setting is damaged");
}

static void config(struct walk *w, struct config *c)
{
	bool *const flag[] = {&c->compat,   &c->test,        &c->bench,        &c->unsafe,
			      &c->warnings, &c->no_warnings, &c->map_keys_set, &c->utc};
	for (const struct setting *s = settings; s->name; s++) {
		void *at = (char *)c + s->at;
		switch (s->kind) {
		case SETTING_YES: NUM(w, *(bool *)at); break;
		case SETTING_NUMBER: NUM(w, *(u64 *)at); break;
		case SETTING_TEXT:
		case SETTING_LICENSE: text(w, at); break;
		case SETTING_MISSING:
		case SETTING_STACK:
		case SETTING_CACHE: word(w, s, at); break;
		}
	}
	for (u32 i = 0; i < countof(flag); i++)
		NUM(w, *flag[i]);
	NUM(w, c->duration_ns);
	text(w, &c->match);
	NUM(w, c->events);
	NUM(w, c->clock);
	check(w, !c->clock || (c->clock <= 10 && c->clock % 3 == 1), "a setting is damaged");
}

static void scope(struct walk *w, struct scope *s)
{
	struct scope_pid *pid = ARRAY(w, s->pid, s->npid);
	for (u32 i = 0; i < s->npid; i++) {
		NUM(w, pid[i].pid);
		NUM(w, pid[i].id);
		NUM(w, pid[i].dev);
		NUM(w, pid[i].ino);
	}
	s->pid = pid;
	NUM(w, s->kernel);
	NUM(w, s->follow);
	const char **cgroup = ARRAY(w, s->cgroup, s->ncgroup);
	for (u32 i = 0; i < s->ncgroup; i++)
		ztext(w, &cgroup[i]);
	s->cgroup = cgroup;
	int *viewer = ARRAY(w, s->viewer, s->nviewer);
	for (u32 i = 0; i < s->nviewer; i++)
		NUM(w, viewer[i]);
	s->viewer = viewer;
	map_ref(w, &s->pids);
	map_ref(w, &s->cgroups);
	check(w, !s->follow || s->pids, "the set of processes is not there");
}

static void unwind(struct walk *w)
{
	struct unit *u = w->u;
	u32 used = u->unwind != NULL;
	NUM(w, used);
	if (!used)
		return;
	if (!w->out)
		u->unwind = room(w, 1, sizeof(*u->unwind));
	struct map **const ref[] = {&u->unwind->procs,   &u->unwind->lists, &u->unwind->index,
				    &u->unwind->blocks,  &u->unwind->rules, &u->unwind->lost,
				    &u->unwind->copies,  &u->unwind->langs, &u->unwind->codes,
				    &u->unwind->programs};
	for (u32 i = 0; i < countof(ref); i++) {
		map_ref(w, ref[i]);
		check(w, *ref[i] != NULL, "tables for stacks are not there");
	}
}

static void tail(struct walk *w)
{
	struct unit *u = w->u;
	struct map **const ref[] = {&u->zeros, &u->names, &u->ring,  &u->scratch, &u->stats,
				    &u->turns, &u->wake,  &u->start, &u->stop};
	for (u32 i = 0; i < countof(ref); i++)
		map_ref(w, ref[i]);
	NUM(w, u->ring_size);
	check(w, !(u->ring_size & (u->ring_size - 1)), "the ring is damaged");
	check(w, !u->wake || (u->turns && u->ring && u->ring_size), "the ring is damaged");
	check(w, !u->start || u->start->val_size == 8, "a map is damaged");
	check(w, !u->stop || u->stop->val_size == 8, "a map is damaged");
	u->strings = ARRAY(w, u->strings, u->nstring);
	for (u32 i = 0; i < u->nstring; i++)
		ztext(w, &u->strings[i]);
	for (u32 i = 0; i < u->nstring && !w->out; i++)
		check(w, u->strings[i] != NULL, "a text is not there");
	scope(w, &u->scope);
	NUM(w, u->pid);
	int *pid = ARRAY(w, u->dwarf_pid, u->ndwarf_pid);
	for (u32 i = 0; i < u->ndwarf_pid; i++)
		NUM(w, pid[i]);
	u->dwarf_pid = pid;
	ztext(w, &u->boot);
	unwind(w);
}

/* Things of one kind, each made when reading. */
#define EACH(w, v, n, body)                                                      \
	do {                                                                     \
		(v) = ARRAY(w, v, n);                                            \
		for (u32 i_ = 0; i_ < (n) && good(w); i_++) {                    \
			if (!(w)->out && !((v)[i_] = room(w, 1, sizeof(**(v))))) \
				break;                                           \
			body(w, (v)[i_]);                                        \
		}                                                                \
	} while (0)

static void all(struct walk *w)
{
	struct unit *u = w->u;
	sources(w);
	config(w, &u->config);
	types(w);
	maps(w);
	u->probe_name = ARRAY(w, u->probe_name, u->nprobe);
	for (u32 i = 0; i < u->nprobe; i++)
		text(w, &u->probe_name[i]);
	EACH(w, u->columns, u->ncolumns, columns_body);
	EACH(w, u->schema, u->nschema, schema_body);
	EACH(w, u->prog, u->nprog, prog_body);
	for (u32 i = 0; !w->out && i < u->nschema && good(w); i++)
		u->schema[i]->id = i;
	for (u32 i = 0; !w->out && i < u->nprog && good(w); i++)
		u->prog[i]->index = i;
	tail(w);
}

static void walk_end(struct walk *w)
{
	tab_free(&w->seen);
	vec_free(&w->type);
	vec_free(&w->depth);
}

struct err *unit_write(const struct unit *u, const struct diags *ds, struct sb *out)
{
	struct unit copy = *u; /* the walk stores what it wrote, and nothing else */
	struct diags texts = *ds;
	struct arena a = {0};
	struct walk w = {.out = out, .u = &copy, .ds = &texts, .a = &a};
	u32 version = UNIT_VERSION;
	raw(&w, (void *)(uintptr_t)magic, sizeof(magic));
	NUM(&w, version);
	all(&w);
	walk_end(&w);
	arena_free(&a);
	return w.bad ? err_new("the script cannot be written: %s", w.bad) : NULL;
}

struct err *unit_read(struct unit *u, struct arena *a, struct diags *ds, const struct host *h,
		      const void *p, size_t n)
{
	struct walk w = {.in = bytes_of(p, n), .u = u, .ds = ds, .ncpu = h->ncpu, .a = a};
	char head[sizeof(magic)];
	u32 version = 0;
	raw(&w, head, sizeof(head));
	NUM(&w, version);
	check(&w, !memcmp(head, magic, sizeof(magic)), "it is not one");
	check(&w, version == UNIT_VERSION, "it is of another version of sonde");
	if (good(&w))
		all(&w);
	check(&w, !w.in.bad, "it is cut short");
	check(&w, !good(&w) || w.in.at == w.in.n, "something follows it");
	walk_end(&w);
	return w.bad ? err_new("compiled script: %s", w.bad) : NULL;
}

/* ---- what attaching needs of this machine ---- */

static bool keep_first(const struct point *p, void *arg)
{
	*(struct point *)arg = *p;
	return false;
}

struct err *unit_resolve(struct unit *u, struct host *h, struct diags *ds)
{
	struct err *e = NULL;
	for (u32 i = 0; i < u->nprog && !e; i++)
		for (struct point *p = u->prog[i]->points; p && !e; p = p->next) {
			struct point found = {0};
			if (!p->priv || !p->type->expand)
				continue;
			e = p->type->expand(h, u, ds, p, keep_first, &found);
			if (!e && !found.priv)
				e = err_new("%.*s is not there", STRF(p->text));
			p->priv = found.priv;
		}
	return e;
}
