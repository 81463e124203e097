/* usdt.c - static probes that programs bring along (.note.stapsdt): every place of one name is one
 * probe. */
#include "types/usdt.h"
#include "base/alloc.h"
#include "probe/common.h"
#include "probe/ufile.h"
#include "sym/usdt_ask.h"
#include <errno.h>

/* point.priv: the places that share a name and where their arguments are. */
struct usdt_point {
	u32 n;
	const struct usdt_site **site;
	u32 *skip;            /* of each place: bytes to the nop that is probed; NULL: none */
	struct usdt_arg *arg; /* of all of them, symbols found; NULL: nobody asked */
};

static struct err *usdt_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n < 1 || t.n > 3)
		return parts_err(p, "2 or 3 arguments", t.n);
	bool file = t.n == 1 && (str_chr(text, '/') >= 0 ||
				 str_is(text, "*")); /* usdt:/path, as lists are asked for */
	p->target = t.n == 1 ? (file ? t.v[0] : STR("")) : t.v[0];
	p->extra = t.n == 3 ? t.v[1] : STR("");
	p->name = file ? STR("*") : t.v[t.n - 1];
	if (!p->name.n)
		return err_new("usdt probe type requires the name of a probe");
	p->target = part_path(a, p->target);
	p->extra = arena_str(a, p->extra);
	p->name = arena_str(a, p->name);
	p->text = probe_text(a, "usdt", p->target, p->extra, p->name);
	return NULL;
}

/* A symbol's address is counted from the place, so places that name one differ. */
static bool same_args(const struct usdt_site *x, const struct usdt_site *y)
{
	if (x->narg != y->narg)
		return false;
	for (u32 i = 0; i < x->narg; i++) {
		const struct usdt_arg *a = &x->arg[i], *b = &y->arg[i];
		if (a->kind != b->kind || a->size != b->size || a->is_signed != b->is_signed ||
		    a->is_float != b->is_float || a->reg != b->reg || a->index != b->index ||
		    a->scale != b->scale || a->index_is != b->index_is || a->off != b->off ||
		    a->sym.n || b->sym.n || !str_eq(a->text, b->text))
			return false;
	}
	return true;
}

static bool fits(const struct point *p, const struct usdt_site *s)
{
	return (!p->extra.n || str_glob(p->extra, s->provider)) && str_glob(p->name, s->name);
}

/* The group that begins with site i; those taken are marked. */
static struct usdt_point *group(struct arena *a, const struct usdt_sites *all, u32 i, bool *taken)
{
	struct usdt_point *g = arena_new(a, struct usdt_point);
	g->site = arena_newn(a, const struct usdt_site *, all->n - i);
	const struct usdt_site *first = &all->v[i];
	for (u32 k = i; k < all->n; k++) {
		const struct usdt_site *s = &all->v[k];
		bool same = str_eq(s->provider, first->provider) && str_eq(s->name, first->name) &&
			    same_args(s, first);
		if (k != i && (taken[k] || !same))
			continue;
		taken[k] = true;
		g->site[g->n++] = s;
	}
	return g;
}

struct search {
	struct host *h;
	struct arena *a;
	point_cb *cb;
	void *arg;
	bool stop;
};

static struct err *search_file(struct point *p, const char *real, void *arg)
{
	struct search *s = arg;
	struct arena *a = s->a;
	struct usdt_sites all;
	struct err *e = s->stop ? NULL : usdt_ask(s->h, real, a, &all);
	if (s->stop)
		return NULL;
	if (!e && !all.n) {
		e = err_new("%.*s has no USDT probes (no notes of type stapsdt)", STRF(p->target));
		e->no = ENODATA;
	}
	if (e)
		return e;
	AUTO_FREE bool *taken = xcalloc(all.n + 1, sizeof(*taken));
	for (u32 i = 0; i < all.n && !s->stop; i++) {
		if (taken[i] || !fits(p, &all.v[i]))
			continue;
		struct point q = *p;
		q.priv = group(a, &all, i, taken);
		q.extra = all.v[i].provider;
		q.name = all.v[i].name;
		q.addr = all.v[i].offset;
		q.narg = all.v[i].narg;
		q.text = str_z(arena_fmt(a, "usdt:%.*s:%.*s:%.*s", STRF(q.target), STRF(q.extra),
					 STRF(q.name)));
		s->stop = !s->cb(&q, s->arg);
	}
	return NULL;
}

static struct err *usdt_expand(struct host *h, struct unit *u, struct diags *ds,
			       const struct point *p, point_cb *cb, void *arg)
{
	bool any_file = !p->target.n || str_is(p->target, "*");
	if (any_file && str_is(p->name, "*") && (!u || u->pid <= 0))
		return NULL;
	struct search s = {.h = h, .a = h->arena, .cb = cb, .arg = arg};
	return user_files(h, u, ds, p, search_file, &s);
}

/* From the place to the symbol: the same wherever the file is mapped. */
static bool find_symbol(struct host *h, const char *path, const struct usdt_site *s,
			struct usdt_arg *a)
{
	struct symbol sym;
	struct err *e = elf_symbol(h, path, a->sym, &sym);
	bool found = !e;
	err_free(e);
	if (found)
		a->off += (i64)(sym.addr - s->addr);
	return found;
}

/* Sizes and signs, as the notes have them. One that cannot be read is an error where it is used. */
static struct err *usdt_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)u, (void)use;
	struct arena *a = h->arena;
	struct usdt_point *g = p->priv;
	if (!g)
		return NULL;
	if (!g->arg) {
		const char *path = user_point_path(h, p);
		const struct usdt_site *s = g->site[0];
		g->arg = arena_newn(a, struct usdt_arg, s->narg + 1);
		memcpy(g->arg, s->arg, s->narg * sizeof(*s->arg));
		for (u32 i = 0; i < s->narg; i++)
			if (g->arg[i].sym.n && !find_symbol(h, path, s, &g->arg[i]))
				g->arg[i] =
					(struct usdt_arg){.kind = UA_BAD, .text = g->arg[i].sym};
	}
	u32 n = g->site[0]->narg;
	struct field *f = arena_newn(a, struct field, n + 1);
	for (u32 i = 0; i < n; i++) {
		const struct usdt_arg *arg = &g->arg[i];
		struct type *none = arena_new(a, struct type);
		*none = (struct type){.kind = T_NONE, .name = arg->text};
		f[i] = (struct field){.name = str_z(arena_fmt(a, "arg%u", i)), .bit_off = i * 64};
		f[i].type = arg->kind == UA_BAD ? none : type_int(arg->size, arg->is_signed);
		if (arg->kind != UA_BAD && arg->is_float) {
			*none = (struct type){
				.kind = T_FLOAT, .size = arg->size, .align = arg->size};
			none->name = arg->size == 4 ? STR("float") : STR("double");
			f[i].type = none;
		}
	}
	struct type *t = arena_new(a, struct type);
	*t = (struct type){.kind = T_STRUCT, .size = n * 8, .align = 8, .nfield = n, .field = f};
	t->name = str_z(arena_fmt(a, "usdt_%.*s_args", STRF(p->name)));
	p->args = t;
	p->args_space = AS_NONE;
	return NULL;
}

static struct ref reg(struct fn *f, i16 at)
{
	if (at < 0)
		return ir_con(f, 0);
	struct ref whole = ir_load(f, 8, ir_ctx(f), at & ~7);
	return at & 7 ? ir_op2(f, O_SHR, whole, ir_con(f, (u64)(at & 7) * 8)) : whole; /* %ah */
}

/* The address of an operand in memory, or of a symbol. */
static struct ref place(struct fn *f, const struct usdt_arg *a)
{
	struct ref base = a->sym.n      ? ir_load(f, 8, ir_ctx(f), f->arch->ip)
			  : a->reg >= 0 ? reg(f, a->reg)
					: ir_con(f, 0);
	struct ref at = ir_addi(f, base, a->off);
	if (a->sym.n && a->reg >= 0)
		at = ir_op2(f, O_ADD, at, reg(f, a->reg));
	if (a->index < 0)
		return at;
	struct ref index = reg(f, a->index);
	if (a->index_is != UI_WHOLE)
		index = ir_op1(f, a->index_is == UI_I32 ? O_EXTS : O_EXTU, 4, index);
	return ir_op2(f, O_ADD, at, ir_op2(f, O_MUL, index, ir_con(f, a->scale ? a->scale : 1)));
}

static struct ref usdt_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	(void)h;
	const struct usdt_point *g = p->priv;
	if (!g || n < 0 || (u32)n >= g->site[0]->narg)
		return ir_con(f, 0);
	const struct usdt_arg *a = g->arg ? &g->arg[n] : &g->site[0]->arg[n];
	struct ref at;
	switch (a->kind) {
	case UA_BAD: break; /* told by the type */
	case UA_CONST: return a->sym.n ? place(f, a) : ir_con(f, (u64)a->off);
	case UA_REG:
		at = reg(f, a->reg);
		return a->size == 8 ? at : ir_op1(f, a->is_signed ? O_EXTS : O_EXTU, a->size, at);
	case UA_MEM: return user_load(f, place(f, a), a->size, a->is_signed);
	}
	return ir_con(f, 0);
}

/* One file's probes: where sonde/sdt.h left a choice, the cheapest nop. */
struct nop_choice {
	struct host *h;
	struct arena *a;
	struct ufile file;
	struct elf_syms syms;
	bool have_syms; /* or there are none */
};

static const struct symbol *function_at(struct nop_choice *c, u64 addr)
{
	if (!c->have_syms)
		err_free(elf_read_syms(c->h, c->a, c->file.path, &c->syms));
	c->have_syms = true;
	return elf_at(&c->syms, addr);
}

static void choose_nops(struct nop_choice *c, struct usdt_point *g)
{
	if (!g->skip)
		g->skip = arena_newn(c->a, u32, g->n);
	for (u32 i = 0; i < g->n; i++) {
		const struct usdt_site *s = g->site[i];
		if (ufile_has_nops(&c->file, s->offset))
			g->skip[i] =
				ufile_best_nop(&c->file, c->h, s->offset, function_at(c, s->addr));
	}
	for (u32 i = 0; g->arg && g->n && i < g->site[0]->narg; i++)
		if (g->arg[i].sym.n) /* counted from the place; then there is but one */
			g->arg[i].off -= g->skip[0];
}

static void choose_all_nops(struct host *h, struct unit *u, struct point *points)
{
	(void)u;
	struct nop_choice c = {.h = h, .a = h->arena};
	for (struct point *p = points; p; p = p->next) {
		const char *real = user_point_path(h, p);
		if (!p->priv)
			continue;
		if (!c.file.path || strcmp(c.file.path, real) != 0) {
			ufile_close(&c.file);
			struct err *e = ufile_open(h, real, &c.file);
			bool failed = e != NULL;
			err_free(e);
			if (failed)
				break;
			c.syms = (struct elf_syms){0};
			c.have_syms = false;
		}
		choose_nops(&c, p->priv);
	}
	ufile_close(&c.file);
}

static bool take_all(const struct ask *q)
{
	if (!(q->use & (USE_REGS | USE_USTACK)))
		choose_all_nops(q->h, q->u, q->points);
	return true;
}

static bool which_fits(const struct ask *q)
{
	return (q->use & USE_PROBE) && q->n > 1 && host_has(q->h, FEAT_COOKIE) && take_all(q);
}

/* Headers of others may place nops of five bytes alone, in functions that keep variables below the
 * stack pointer; see ufile_harms(). */
static struct err *check_harm(struct host *h, struct unit *u, const struct point *p,
			      const char *path)
{
	const struct usdt_point *up = p->priv;
	struct nop_choice c = {.h = h, .a = h->arena};
	if (u->config.unsafe)
		return NULL;
	struct err *e = ufile_open(h, path, &c.file);
	for (u32 i = 0; !e && i < up->n; i++) {
		const struct usdt_site *s = up->site[i];
		if (ufile_harms(&c.file, h, s->offset, NULL) &&
		    ufile_harms(&c.file, h, s->offset, function_at(&c, s->addr)))
			e = err_new("this kernel would overwrite variables of the function at "
				    "%.*s (0x%llx); --unsafe attaches all the same",
				    STRF(p->text), s->addr);
	}
	ufile_close(&c.file);
	return e;
}

static struct err *usdt_attach(struct host *h, struct unit *u, struct attach *a)
{
	user_sites sites = {0};
	struct err *e = NULL;
	for (const struct point *p = a->prog->points; p && !e; p = p->next) {
		const struct usdt_point *up = p->priv;
		const char *path = user_point_path(h, p);
		e = up ? check_harm(h, u, p, path) : NULL;
		for (u32 i = 0; up && i < up->n; i++) {
			const struct usdt_site *s = up->site[i];
			u64 cookie = a->prog->points->method->which ? user_cookie(p, 0) : 0;
			vec_add(&sites, (struct user_site){p, path,
							   s->offset + (up->skip ? up->skip[i] : 0),
							   s->sem_offset, cookie});
		}
	}
	if (!e)
		e = user_attach(h, u, a, &sites, false);
	vec_free(&sites);
	return e;
}

static enum frames usdt_frames(const struct point *p)
{
	(void)p;
	return FRAMES_SET;
}

#define USDT_METHOD                                                                               \
	.prog_type = BPF_PROG_TYPE_KPROBE, .flags = METHOD_REGS | METHOD_LINGERS | METHOD_SLEEPS, \
	.arg = usdt_arg, .load_as = user_load_as, .frames = usdt_frames, .attach = usdt_attach
static const struct method method_each = {USDT_METHOD, .fits = take_all};
/* For bodies that ask which point it is: one program for all. */
static const struct method method_many = {USDT_METHOD, .fits = which_fits, .which = &user_which};

const struct probe_type probe_usdt = {
	.name = "usdt",
	.alias = {"U"},
	.syntax = "usdt:path:[provider:]name",
	.doc = "A static probe in a program or library. arg0... are its arguments.",
	.able = user_able,
	.flags = PROBE_USER | PROBE_ARGN | PROBE_STACKS,
	.parse = usdt_parse,
	.expand = usdt_expand,
	.types = usdt_types,
	.methods = (const struct method *const[]){&method_many, &method_each, NULL},
};
