/* modules.c - types of the kernel's modules; see host.h. */
#include "kern/host.h"
#include <dirent.h>
#include <unistd.h>

struct module {
	struct str name;
	struct types *types;
	const char *wrong; /* why there are none; or NULL */
	struct module *next;
};

static void close_all(struct host *h)
{
	for (struct module *m = h->modules; m; m = m->next)
		if (m->types)
			btf_types_close(m->types);
	h->modules = NULL;
}

static const struct module *find(struct host *h, struct str name)
{
	struct module *m = h->modules;
	while (m && !str_eq(m->name, name))
		m = m->next;
	if (m)
		return m;
	host_at_end(h, close_all);
	m = arena_new(h->arena, struct module);
	m->name = arena_str(h->arena, name);
	m->next = h->modules;
	h->modules = m;
	const char *file = arena_fmt(h->arena, "%s/sys/kernel/btf/%.*s", h->root, STRF(name));
	struct err *e = btf_types_open(file, h->arena, host_btf(h), &m->types);
	m->wrong = e ? arena_fmt(h->arena, "%s", e->msg) : NULL;
	err_free(e);
	return m;
}

struct err *host_module_btf(struct host *h, struct str module, struct types **ret)
{
	const struct module *m = find(h, module);
	*ret = m->types;
	return m->wrong ? err_new("%s", m->wrong) : NULL;
}

enum module_types host_module_types(struct host *h, struct str module)
{
	if (!access(arena_fmt(h->arena, "%s/sys/kernel/btf/%.*s", h->root, STRF(module)), F_OK))
		return MODULE_TYPED;
	bool loaded =
		!access(arena_fmt(h->arena, "%s/sys/module/%.*s", h->root, STRF(module)), F_OK);
	return loaded ? MODULE_UNTYPED : MODULE_NONE;
}

void host_modules(struct host *h, module_cb *cb, void *arg)
{
	DIR *d = opendir(arena_fmt(h->arena, "%s/sys/kernel/btf", h->root));
	bool go = true;
	for (struct dirent *f; d && go && (f = readdir(d));)
		if (f->d_name[0] != '.' && strcmp(f->d_name, "vmlinux") != 0)
			go = cb(str_z(f->d_name), arg);
	if (d)
		closedir(d);
}

struct wanted {
	struct host *h;
	struct str name;
	enum type_kind kind;
	const struct type *found;
};

static bool look_into_module(struct str module, void *arg)
{
	struct wanted *w = arg;
	struct types *k;
	struct err *e = host_module_btf(w->h, module, &k);
	w->found = e ? NULL : btf_types_find(k, w->name, w->kind);
	if (w->found && w->found->kind == T_FWD)
		w->found = NULL;
	err_free(e);
	return !w->found;
}

const struct type *host_module_type(struct host *h, struct str name, enum type_kind kind)
{
	struct wanted w = {h, name, kind, NULL};
	host_modules(h, look_into_module, &w);
	return w.found;
}
