/* config.c - settings: defaults, then the script's config block, then the environment, which wins.
 */
#include "source/source.h"
#include <stdlib.h>

static const char compat_words[] = "valid values are 0.17 and none";

/* Of features that were not yet to be relied on; they may be switched on. */
static const char *const flags[] = {
	"use_blazesym",      "unstable_import_statement", "unstable_tseries",
	"unstable_typeinfo", "unstable_dw_ustack",
};

/* Accepted for old scripts, without effect. */
static const char *const dead_keys[] = {
	"symbol_source",   "max_type_res_iterations", "unstable_addr",
	"unstable_import", "unstable_macro",          "unstable_map_decl",
};

enum { MAX_STRLEN = 1048576, MAX_KEYS = 1 << 26, MAX_RB_PAGES = 65536 /* the verifier's limit */ };

static bool is_flag(struct str name)
{
	for (size_t i = 0; i < countof(flags); i++)
		if (str_eq_nocase(name, str_z(flags[i])))
			return true;
	return false;
}

/* By its name or an earlier spelling; NULL: there is none. */
static const struct setting *find(struct str name)
{
	for (const struct setting *s = settings; s->name; s++)
		if (str_eq_nocase(name, str_z(s->name)) ||
		    (s->old && str_eq_nocase(name, str_z(s->old))))
			return s;
	return NULL;
}

static bool set(struct compile *c, const struct setting *s, struct str text, const char **why)
{
	struct unit *u = c->unit;
	u->config.map_keys_set |= s->at == offsetof(struct config, max_map_keys);
	u->config.prealloc_set |= s->at == offsetof(struct config, prealloc_maps);
	return setting_set(&u->config, s, text, c->arena, why);
}

static bool check_limits(struct compile *c, struct loc loc)
{
	const struct config *g = &c->unit->config;
	if (g->max_strlen < 1 || g->max_strlen > MAX_STRLEN) {
		diag_add(c->diags, E_CONFIG, loc, "max_strlen: %llu is not between 1 and %d",
			 g->max_strlen, MAX_STRLEN);
		return false;
	}
	if (g->kretprobe_maxactive < 1 || g->kretprobe_maxactive > RETPROBE_CALLS) {
		diag_add(c->diags, E_CONFIG, loc,
			 "kretprobe_maxactive: %llu is not between 1 and %d",
			 g->kretprobe_maxactive, RETPROBE_CALLS);
		return false;
	}
	if (g->max_map_keys < 1 || g->max_map_keys > MAX_KEYS) {
		diag_add(c->diags, E_CONFIG, loc, "max_map_keys: %llu is not between 1 and %d",
			 g->max_map_keys, MAX_KEYS);
		return false;
	}
	if (g->perf_rb_pages > MAX_RB_PAGES) {
		diag_add(c->diags, E_CONFIG, loc,
			 "perf_rb_pages: %llu is not between 1 and %d (256 MiB for each CPU)",
			 g->perf_rb_pages, MAX_RB_PAGES);
		return false;
	}
	return true;
}

/* As it was before a value beyond its limits: what follows is not judged by that one. */
static void within_limits(struct compile *c, struct loc loc, const struct config *before)
{
	if (!check_limits(c, loc))
		c->unit->config = *before;
}

static void unknown(struct compile *c, const struct node *n)
{
	if (node_word(n, dead_keys) >= 0)
		diag_add(c->diags, W_DEPRECATED, n->loc, "%.*s has no effect any more",
			 STRF(n->name));
	else
		diag_add(c->diags, E_CONFIG, n->loc, "%.*s: not a known configuration option",
			 STRF(n->name));
}

static struct str text_of(struct compile *c, const struct node *value)
{
	if (value->kind == N_NUM)
		return str_z(arena_fmt(c->arena, "%llu", value->num));
	if (value->kind == N_BOOL)
		return value->num ? STR("true") : STR("false");
	return value->name;
}

static void set_from_script(struct compile *c, const struct node *n)
{
	struct unit *u = c->unit;
	struct str name = n->name, text = text_of(c, n->a);
	if (name.n > 9 && str_eq_nocase(str_n(name.s, 9), STR("BPFTRACE_")))
		name = str_from(name, 9);
	const struct setting *s = find(name);
	bool compat = str_eq_nocase(name, STR("compat"));
	const char *shown = s ? s->name : "compat", *why = compat_words;
	struct config before = u->config;
	if (is_flag(name))
		return;
	if (!s && !compat) {
		unknown(c, n);
		return;
	}
	if (s && !str_eq_nocase(name, str_z(s->name)))
		diag_add(c->diags, W_DEPRECATED, n->loc, "%.*s has been renamed, please use %s",
			 STRF(n->name), s->name);
	if (compat ? !config_compat(&u->config, text) : !set(c, s, text, &why))
		diag_add(c->diags, E_CONFIG, n->loc, "%s: Invalid value for %s: %s, got %.*s",
			 shown, shown, why, STRF(text));
	else
		within_limits(c, n->loc, &before);
}

/* BPFTRACE_NAME in capitals. */
static const char *from_env(const struct compile *c, const char *setting)
{
	char name[64] = "BPFTRACE_";
	size_t n = strlen(name);
	for (const char *p = setting; *p && n + 1 < sizeof(name); p++)
		name[n++] = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
	name[n] = 0;
	return host_env(c->host, name);
}

static void set_from_env(struct compile *c)
{
	struct unit *u = c->unit;
	const char *compat = from_env(c, "compat");
	if (compat && !config_compat(&u->config, str_z(compat)))
		diag_add(c->diags, E_CONFIG, (struct loc){0}, "compat: %s, got %s", compat_words,
			 compat);
	for (const struct setting *s = settings; s->name; s++) {
		const char *val = from_env(c, s->name), *why;
		if (!val && !strcmp(s->name, "max_strlen"))
			val = host_env(c->host, "BPFTRACE_STRLEN"); /* as in books */
		if (!val)
			continue;
		struct config before = u->config;
		if (set(c, s, str_z(val), &why))
			within_limits(c, (struct loc){0}, &before);
		else
			diag_add(c->diags, E_CONFIG, (struct loc){0}, "%s: %s, got %s", s->name,
				 why, val);
	}
}

bool source_config(struct compile *c)
{
	for (const struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_CONFIG)
			for (const struct node *s = n->a; s; s = s->next)
				set_from_script(c, s);
	set_from_env(c);
	return !c->diags->nerror;
}
