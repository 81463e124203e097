/* cfile.c - imported functions in C: reading what clang made, finding them by name. */
#include "source/cfile.h"
#include "source/source.h"
#include "types/btf.h"
#include "types/corefix.h"
#include <limits.h>
#include <linux/btf.h>

/* Lines of the C source become places that reports of the verifier can point at. */
static const struct loc *places(struct arena *a, const struct object *o, const char *real,
				struct str text, u16 src)
{
	struct loc *loc = arena_newn(a, struct loc, o->ninsn + 1);
	VEC(u32) start = {0};
	vec_add(&start, 0);
	for (u32 i = 0; i < text.n; i++)
		if (text.s[i] == '\n')
			vec_add(&start, i + 1);
	for (u32 i = 0; i < o->nline; i++) {
		const struct object_line *l = &o->line[i];
		if (!l->line || l->line > start.n || !str_is(l->file, real))
			continue;
		u32 pos = start.v[l->line - 1] + MAX(l->col, 1) - 1;
		loc[l->insn] = (struct loc){MIN(pos, text.n), 1, src};
	}
	vec_free(&start);
	return loc;
}

/* What the object wants of the kernel must be there. */
static bool find_kfuncs(struct compile *c, struct cfile *f)
{
	const struct object *o = &f->obj;
	struct types *k = o->nkfunc ? host_btf(c->host) : NULL;
	bool ok = true;
	f->kfunc = arena_newn(c->arena, u32, o->nkfunc + 1);
	for (u32 i = 0; i < o->nkfunc; i++) {
		f->kfunc[i] = k ? btf_types_id(k, o->kfunc[i], BTF_KIND_FUNC) : 0;
		if (f->kfunc[i])
			continue;
		ok = false;
		diag_add(c->diags, E_IMPORT, f->at,
			 k ? "%s: the kernel has no function %.*s()"
			   : "%s: the kernel's BTF is needed to call %.*s()",
			 f->path, STRF(o->kfunc[i]));
	}
	return ok;
}

void cfile_import(struct compile *c, const char *path, struct loc at)
{
	struct diags *ds = c->diags;
	struct arena *a = c->arena;
	char real[PATH_MAX];
	struct str text, bytes;
	if (!realpath(path, real) || !source_read_file(a, real, &text)) {
		diag_add(ds, E_IMPORT, at, "cannot read %s", path);
		return;
	}
	u16 src = diags_add_source(ds, str_z(path), text);
	if (!clang_compile(c, real, src, at, &bytes))
		return;
	struct cfile *f = arena_new(a, struct cfile);
	*f = (struct cfile){.path = path, .at = at, .next = c->cfiles};
	struct err *e = object_read(bytes.s, bytes.n, a, &f->obj);
	if (!e && f->obj.ncore) {
		e = corefix(&f->obj, host_btf(c->host));
		if (e)
			object_close(&f->obj);
	}
	if (e) {
		diag_err(ds, E_IMPORT, at, err_wrap(e, "%s: ", path));
		return;
	}
	f->loc = places(a, &f->obj, real, text, src);
	f->data = arena_newn(a, struct map *, f->obj.ndata + 1);
	f->fn = arena_newn(a, struct cfn, f->obj.nfn + 1);
	for (u32 i = 0; i < f->obj.nfn; i++)
		f->fn[i] = (struct cfn){.file = f, .of = &f->obj.fn[i]};
	if (find_kfuncs(c, f))
		c->cfiles = f;
	else
		object_close(&f->obj);
}

void cfiles_close(struct compile *c)
{
	for (struct cfile *f = c->cfiles; f; f = f->next)
		object_close(&f->obj);
	c->cfiles = NULL;
}

static struct cfn *find(struct cfile *from, struct str name, bool exported)
{
	for (struct cfile *f = from; f; f = f->next)
		for (u32 i = 0; i < f->obj.nfn; i++)
			if (f->obj.fn[i].exported == exported && str_eq(f->obj.fn[i].name, name))
				return &f->fn[i];
	return NULL;
}

struct cfn *cfn_find(const struct compile *c, struct str name)
{
	return find(c->cfiles, name, true);
}

struct cfn *cfn_find_static(const struct compile *c, struct str name)
{
	return find(c->cfiles, name, false);
}

void cfile_check_names(struct compile *c)
{
	struct diags *ds = c->diags;
	for (struct cfile *f = c->cfiles; f; f = f->next)
		for (u32 i = 0; i < f->obj.nfn; i++) {
			const struct object_fn *fn = &f->obj.fn[i];
			const struct cfn *other =
				fn->exported ? find(f->next, fn->name, true) : NULL;
			if (other)
				diag_add(ds, E_IMPORT, f->at, "%.*s() is defined in %s, too",
					 STRF(fn->name), other->file->path);
		}
	for (struct node *n = c->cfiles ? c->tree->a : NULL; n; n = n->next) {
		const struct cfn *f = n->kind == N_FN ? cfn_find(c, n->name) : NULL;
		if (f)
			diag_add(ds, E_IMPORT, n->loc, "%.*s() is defined in %s, too",
				 STRF(n->name), f->file->path);
	}
}
