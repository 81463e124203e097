/* config.c - settings: defaults, then the script's config block, then the environment, which wins.
 */
#include "sema/sema.h"
#include <stdlib.h>

enum key_kind { K_U64, K_BOOL, K_STR, K_MISSING, K_STACK, K_LICENSE, K_CACHE, K_COMPAT, K_FLAG };

static const struct key {
	const char *name, *renamed; /* renamed: the new name of an old spelling */
	enum key_kind kind;
	size_t off;
} keys[] = {
	{"cache_user_symbols", NULL, K_CACHE, offsetof(struct config, cache_user_symbols)},
	{"compat", NULL, K_COMPAT, 0},
	{"cpp_demangle", NULL, K_BOOL, offsetof(struct config, cpp_demangle)},
	{"no_cpp_demangle", "cpp_demangle", K_BOOL, offsetof(struct config, cpp_demangle)},
	{"kretprobe_maxactive", NULL, K_U64, offsetof(struct config, kretprobe_maxactive)},
	{"lazy_symbolication", NULL, K_BOOL, offsetof(struct config, lazy_symbolication)},
	{"license", NULL, K_LICENSE, offsetof(struct config, license)},
	{"log_size", NULL, K_U64, offsetof(struct config, log_size)},
	{"max_bpf_progs", NULL, K_U64, offsetof(struct config, max_bpf_progs)},
	{"max_cat_bytes", NULL, K_U64, offsetof(struct config, max_cat_bytes)},
	{"cat_bytes_max", "max_cat_bytes", K_U64, offsetof(struct config, max_cat_bytes)},
	{"max_followed", NULL, K_U64, offsetof(struct config, max_followed)},
	{"max_map_keys", NULL, K_U64, offsetof(struct config, max_map_keys)},
	{"map_keys_max", "max_map_keys", K_U64, offsetof(struct config, max_map_keys)},
	{"max_probes", NULL, K_U64, offsetof(struct config, max_probes)},
	{"max_strlen", NULL, K_U64, offsetof(struct config, max_strlen)},
	{"strlen", "max_strlen", K_U64, offsetof(struct config, max_strlen)},
	{"missing_probes", NULL, K_MISSING, offsetof(struct config, missing_probes)},
	{"on_stack_limit", NULL, K_U64, offsetof(struct config, on_stack_limit)},
	{"perf_rb_pages", NULL, K_U64, offsetof(struct config, perf_rb_pages)},
	{"print_maps_on_exit", NULL, K_BOOL, offsetof(struct config, print_maps_on_exit)},
	{"show_debug_info", NULL, K_BOOL, offsetof(struct config, show_debug_info)},
	{"stack_mode", NULL, K_STACK, offsetof(struct config, stack_mode)},
	{"str_trunc_trailer", NULL, K_STR, offsetof(struct config, str_trunc_trailer)},
	{"use_blazesym", NULL, K_FLAG, 0},
	{"unstable_import_statement", NULL, K_FLAG, 0},
	{"unstable_tseries", NULL, K_FLAG, 0},
	{"unstable_typeinfo", NULL, K_FLAG, 0},
	{"unstable_dw_ustack", NULL, K_FLAG, 0},
};

/* Accepted for old scripts, without effect. */
static const char *const dead_keys[] = {
	"symbol_source",   "max_type_res_iterations", "unstable_addr",
	"unstable_import", "unstable_macro",          "unstable_map_decl",
};

enum { MAX_STRLEN = 16384, MAX_KEYS = 1 << 26 };

void config_init(struct config *c)
{
	*c = (struct config){
		.kretprobe_maxactive = RETPROBE_CALLS,
		.max_strlen = 1024,
		.max_followed = 16384,
		.max_map_keys = 4096,
		.max_probes = 1024,
		.max_bpf_progs = 1024,
		.max_cat_bytes = 10240,
		.log_size = 1000000,
		.on_stack_limit = 32,
		.cpp_demangle = true,
		.lazy_symbolication = true,
		.print_maps_on_exit = true,
		.missing_probes = MISSING_ERROR,
		.stack_mode = STACK_BPFTRACE,
		.license = STR("GPL"),
		.str_trunc_trailer = STR(".."),
	};
}

static i32 one_of(struct str v, const char *const *names, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (str_eq_nocase(v, str_z(names[i])))
			return (i32)i;
	return -1;
}

bool config_compat(struct config *c, struct str level)
{
	bool old = str_is(level, "0.17");
	if (!old && !str_is(level, "none"))
		return false;
	if (old && !c->compat && c->missing_probes == MISSING_ERROR)
		c->missing_probes = MISSING_WARN;
	c->compat = old;
	return true;
}

/* Store text as the key's kind wants it; on failure *why says what was expected. */
static bool set_key(struct config *c, const struct key *k, struct str v, struct arena *a,
		    const char **why)
{
	static const char *const bools[] = {"false", "true", "0", "1"};
	static const char *const missing[] = {"error", "warn", "ignore"};
	static const char *const modes[] = {"bpftrace", "perf", "raw", "build_id"};
	static const char *const caches[] = {"PER_PID", "PER_PROGRAM", "NONE"};
	static const char *const lic[] = {
		"GPL",          "GPL v2",       "GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"};
	char *at = (char *)c + k->off;
	i32 i;
	switch (k->kind) {
	case K_U64: *why = "expecting a number"; return str_u64(v, (u64 *)(void *)at);
	case K_BOOL:
		*why = "expecting a bool (true, false, 0 or 1)";
		if ((i = one_of(v, bools, countof(bools))) < 0)
			return false;
		*(bool *)at = i & 1;
		return true;
	case K_STR: *(struct str *)(void *)at = arena_str(a, v); return true;
	case K_MISSING:
		*why = "valid values are ignore, warn, and error";
		if ((i = one_of(v, missing, countof(missing))) < 0)
			return false;
		c->missing_probes = (enum missing_probes)i;
		return true;
	case K_STACK:
		*why = "valid values are bpftrace, perf, raw, and build_id";
		if ((i = one_of(v, modes, countof(modes))) < 0)
			return false;
		c->stack_mode = (u8)i;
		return true;
	case K_CACHE:
		*why = "valid values are PER_PID, PER_PROGRAM, and NONE";
		if ((i = one_of(v, caches, countof(caches))) < 0)
			return false;
		c->cache_user_symbols = (u8)i;
		return true;
	case K_LICENSE:
		*why = "valid values are GPL, GPL v2, GPL and additional rights, Dual BSD/GPL, "
		       "Dual MIT/GPL, "
		       "Dual MPL/GPL";
		if ((i = one_of(v, lic, countof(lic))) < 0)
			return false;
		c->license = str_z(lic[i]);
		return true;
	case K_COMPAT: *why = "valid values are 0.17 and none"; return config_compat(c, v);
	case K_FLAG: return true;
	}
	return false;
}

static const struct key *find_key(struct str name)
{
	if (name.n > 9 && str_eq_nocase(str_n(name.s, 9), STR("BPFTRACE_")))
		name = str_from(name, 9);
	for (size_t i = 0; i < countof(keys); i++)
		if (str_eq_nocase(name, str_z(keys[i].name)))
			return &keys[i];
	return NULL;
}

static bool check_limits(struct compile *c, struct loc loc)
{
	const struct config *g = &c->unit->config;
	if (g->max_strlen < 1 || g->max_strlen > MAX_STRLEN) {
		diag_add(c->unit->diags, E_CONFIG, loc, "max_strlen: %llu is not between 1 and %d",
			 g->max_strlen, MAX_STRLEN);
		return false;
	}
	if (g->kretprobe_maxactive < 1 || g->kretprobe_maxactive > RETPROBE_CALLS) {
		diag_add(c->unit->diags, E_CONFIG, loc,
			 "kretprobe_maxactive: %llu is not between 1 and %d",
			 g->kretprobe_maxactive, RETPROBE_CALLS);
		return false;
	}
	if (g->max_map_keys < 1 || g->max_map_keys > MAX_KEYS) {
		diag_add(c->unit->diags, E_CONFIG, loc,
			 "max_map_keys: %llu is not between 1 and %d", g->max_map_keys, MAX_KEYS);
		return false;
	}
	return true;
}

static void set_from_script(struct compile *c, const struct node *n)
{
	struct unit *u = c->unit;
	const struct key *k = find_key(n->name);
	if (!k) {
		for (size_t i = 0; i < countof(dead_keys); i++)
			if (str_is(n->name, dead_keys[i])) {
				diag_add(u->diags, W_DEPRECATED, n->loc,
					 "%.*s has no effect any more", STRF(n->name));
				return;
			}
		diag_add(u->diags, E_CONFIG, n->loc, "%.*s: not a known configuration option",
			 STRF(n->name));
		return;
	}
	if (k->renamed)
		diag_add(u->diags, W_DEPRECATED, n->loc, "%.*s has been renamed, please use %s",
			 STRF(n->name), k->renamed);
	struct str v = n->a->name;
	if (n->a->kind == N_NUM)
		v = str_z(arena_fmt(u->arena, "%llu", n->a->num));
	else if (n->a->kind == N_BOOL)
		v = n->a->num ? STR("true") : STR("false");
	const char *why = "";
	if (!set_key(&u->config, k, v, u->arena, &why))
		diag_add(u->diags, E_CONFIG, n->loc, "%s: Invalid value for %s: %s, got %.*s",
			 k->name, k->name, why, STRF(v));
	else
		check_limits(c, n->loc);
}

static void set_from_env(struct compile *c)
{
	struct unit *u = c->unit;
	for (size_t i = 0; i < countof(keys); i++) {
		const struct key *k = &keys[i];
		if (k->renamed)
			continue;
		char name[64] = "BPFTRACE_";
		size_t n = strlen(name);
		for (const char *p = k->name; *p && n + 1 < sizeof(name); p++)
			name[n++] = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
		name[n] = 0;
		const char *val = getenv(name);
		if (!val && !strcmp(k->name, "max_strlen"))
			val = getenv("BPFTRACE_STRLEN"); /* as in books */
		const char *why = "";
		if (val && !set_key(&u->config, k, str_z(val), u->arena, &why))
			diag_add(u->diags, E_CONFIG, (struct loc){0}, "%s: %s, got %s", k->name,
				 why, val);
	}
	if (!u->diags->nerror)
		check_limits(c, (struct loc){0});
}

bool sema_config(struct compile *c)
{
	for (const struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_CONFIG)
			for (const struct node *s = n->a; s; s = s->next)
				set_from_script(c, s);
	set_from_env(c);
	return !c->unit->diags->nerror;
}
