/* uprobe.c - uprobe and uretprobe: functions of programs and libraries. */
#include "base/tab.h"
#include "kern/regs.h"
#include "probe/common.h"
#include "sym/sym.h"

enum { HELPER_GET_FUNC_IP = 173 };

static bool is_return(const struct provider *p)
{
	return p->flags & PF_RETVAL;
}

/* The first colon ends the path; C++ names hold more of them. */
static struct err *split_target(struct point *p, struct str text, struct str *name)
{
	struct str rest = text;
	p->target = STR("");
	*name = text;
	if (str_chr(text, ':') < 0)
		return text.n ? NULL : parts_err(p, "1 to 3 arguments", 0);
	str_cut(&rest, ':', &p->target);
	*name = rest;
	if (str_starts(rest, STR("cpp:"))) {
		p->extra = STR("cpp");
		*name = str_from(rest, 4);
	}
	u32 single = 0; /* colons that are not part of "::" */
	for (u32 i = 0; i < name->n; i++) {
		if (name->s[i] != ':')
			continue;
		if (i + 1 < name->n && name->s[i + 1] == ':')
			i++;
		else
			single++;
	}
	return single ? parts_err(p, "2 or 3 arguments", 2 + single + (p->extra.n ? 1 : 0)) : NULL;
}

static struct err *uprobe_parse(struct arena *a, struct point *p, struct str text)
{
	struct str name;
	const char *kind = p->provider->name;
	struct err *e = split_target(p, text, &name);
	if (e)
		return e;
	p->target = arena_str(a, p->target);
	if (!name.n)
		return err_new("%s probe type requires a function or an address", kind);
	struct str shown = arena_str(a, name);
	p->text = probe_text(a, kind, p->target, p->extra, shown);
	if (str_u64(name, &p->addr)) {
		p->has_addr = true;
		return NULL;
	}
	if (is_return(p->provider) && str_chr(name, '+') >= 0)
		return err_new("Offset not allowed in a %s: it fires when the function returns",
			       kind);
	bool op = str_find(name, STR("operator")) >= 0; /* operator+ */
	if (!op && !split_offset(&name, &p->offset))
		return err_new("Invalid offset of %s probe: %.*s", kind,
			       STRF(str_from(shown, name.n + 1)));
	if (p->offset && str_is_glob(name))
		return err_new("Offset not allowed with a wildcard");
	p->name = arena_str(a, name);
	return NULL;
}

struct search {
	struct host *h;
	struct unit *u;
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
	const char *path, *real;
	bool stop;
};

/* Name with or without its parameters: "ns::f(int)" fits "ns::f" and "ns::f(int)". */
static bool cpp_fits(struct arena *a, struct str want, struct str mangled)
{
	char *plain = demangle(a, mangled);
	if (!plain)
		return str_glob(want, mangled);
	struct str full = str_z(plain);
	i32 open = str_chr(full, '(');
	return str_glob(want, full) || (open > 0 && str_glob(want, str_n(plain, (size_t)open)));
}

static struct err *give_symbol(struct search *s, const struct symbol *sym)
{
	struct point q = *s->p;
	if (q.offset && sym->size && q.offset >= sym->size)
		return err_new("Offset outside the function bounds ('%.*s' size is %llu)",
			       STRF(sym->name), sym->size);
	q.target = str_z(s->path);
	q.name = arena_str(s->a, sym->name);
	q.addr = sym->file_off + q.offset;
	AUTO_SB shown = {0};
	sb_add(&shown, q.name);
	if (q.offset)
		sb_fmt(&shown, "+%llu", q.offset);
	q.text = probe_text(s->a, q.provider->name, q.target, sb_str(&shown), STR(""));
	s->stop = !s->cb(&q, s->arg);
	return NULL;
}

static struct err *give_address(struct search *s)
{
	struct point q = *s->p;
	struct err *e = elf_offset(s->real, q.addr, &q.addr);
	if (e)
		return e;
	q.target = str_z(s->path);
	q.text = probe_text(s->a, q.provider->name, q.target,
			    str_z(arena_fmt(s->a, "0x%llx", s->p->addr)), STR(""));
	s->stop = !s->cb(&q, s->arg);
	return NULL;
}

/* Several names of one place are one probe. */
static struct err *give_matches(struct search *s, const struct elf_syms *syms)
{
	struct err *e = NULL;
	bool cpp = s->p->extra.n;
	u64 last = 0;
	for (u32 i = 0; !e && !s->stop && i < syms->n; i++) {
		const struct symbol *sym = &syms->v[i];
		if (!sym->file_off || sym->file_off == last)
			continue;
		if (cpp ? !cpp_fits(s->a, s->p->name, sym->name) : !str_glob(s->p->name, sym->name))
			continue;
		last = sym->file_off;
		e = give_symbol(s, sym);
	}
	return e;
}

static struct err *search_file(struct search *s)
{
	if (s->p->has_addr)
		return give_address(s);
	struct elf_syms syms;
	struct err *e = elf_read_syms(s->a, s->real, &syms);
	if (e)
		return e;
	if (s->p->extra.n || str_is_glob(s->p->name))
		return give_matches(s, &syms);
	const struct symbol *sym = elf_find(&syms, s->p->name);
	return sym && sym->file_off ? give_symbol(s, sym) : NULL;
}

static struct err *uprobe_expand(struct host *h, struct unit *u, const struct point *p,
				 point_cb *cb, void *arg)
{
	struct search s = {h, u, u ? u->arena : h->arena, p, cb, arg, NULL, NULL, false};
	bool any_file = !p->target.n || str_is(p->target, "*");
	if (any_file && str_is(p->name, "*") && (!u || u->pid <= 0))
		return NULL;
	paths files = {0};
	struct err *e = user_paths(h, u, p->target, &files);
	if (e)
		e = err_wrap(e, "%s ", p->provider->name);
	bool many = files.n > 1;
	for (u32 i = 0; !e && !s.stop && i < files.n; i++) {
		s.path = files.v[i];
		s.real = user_path_real(h, u, s.path);
		e = search_file(&s);
		if (e && many) { /* not every file that a wildcard meets is a program */
			err_free(e);
			e = NULL;
		}
	}
	vec_free(&files);
	return e;
}

static struct ref uprobe_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n != ARG_FUNC)
		return regs_fetch(f, n);
	if (is_return(p->provider) && host_has(h, FEAT_FUNC_IP))
		return ir_callp(f, HELPER_GET_FUNC_IP, ARGS(ir_ctx(f)));
	return ir_addi(f, ir_load(f, 8, ir_ctx(f), REGS_IP), -(i64)p->offset);
}

static struct err *uprobe_attach(struct host *h, struct unit *u, struct prog *g, struct link **list)
{
	user_sites sites = {0};
	for (const struct point *p = g->points; p; p = p->next) {
		const char *path = arena_strz(h->arena, p->target);
		vec_add(&sites, (struct user_site){user_path_real(h, u, path), p->addr, 0});
	}
	struct err *e = user_attach(h, u, g, &sites, is_return(g->provider), list);
	vec_free(&sites);
	return e;
}

#define UPROBE_FLAGS (PF_USER | PF_REGS | PF_FUNC | PF_STACKS)

const struct provider provider_uprobe = {
	.name = "uprobe",
	.alias = {"u"},
	.syntax = "uprobe:path[:cpp]:function[+offset], uprobe:path:address",
	.doc = "Start of a function of a program or library, or an instruction in it.",
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = UPROBE_FLAGS | PF_ARGN,
	.parse = uprobe_parse,
	.expand = uprobe_expand,
	.arg = uprobe_arg,
	.load_as = user_load_as,
	.attach = uprobe_attach,
};

const struct provider provider_uretprobe = {
	.name = "uretprobe",
	.alias = {"ur"},
	.syntax = "uretprobe:path[:cpp]:function",
	.doc = "Return of a function of a program or library. retval is its result.",
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.flags = UPROBE_FLAGS | PF_RETVAL,
	.parse = uprobe_parse,
	.expand = uprobe_expand,
	.arg = uprobe_arg,
	.load_as = user_load_as,
	.attach = uprobe_attach,
};
