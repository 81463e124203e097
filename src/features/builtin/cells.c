/* cells.c - what columns of tables show that only the traced machine knows; keys of maps as a table shows them. */
#include "builtin/cells.h"
#include "core/columns.h"
#include "report/calls.h"
#include "report/report.h"
#include "syscall/calls.h"

struct value value_named(struct reporter *r, struct str text, u64 n)
{
	return (struct value){.kind = V_NAMED, .str = arena_str(&r->reader.arena, text), .u = n};
}

static void name_of_call(struct reporter *r, struct sb *out, u64 nr)
{
	if ((i64)nr == -1)
		sb_z(out, "rt_sigreturn"); /* at its end, see CALL_GONE */
	else if (nr >> 33)
		sb_fmt(out, "[unknown: %lld]", (i64)nr);
	else
		call_put_name(out, &r->arch->calls, nr);
}

static void name_of_user(struct reporter *r, struct sb *out, u64 uid)
{
	const char *name = r->reader.names->username(r->reader.asked, (u32)uid);

	if (name)
		sb_z(out, name);
	else
		sb_u64(out, uid);
}

/* "sda", and "8:0" when it is gone. */
static void name_of_disk(struct reporter *r, struct sb *out, u64 dev)
{
	const char *name = r->reader.names->disk(r->reader.asked, (u32)dev);

	if (name)
		sb_z(out, name);
	else
		sb_fmt(out, "%llu:%llu", dev >> 20, dev & 0xfffff);
}

static void name_of_interface(struct reporter *r, struct sb *out, u64 index)
{
	if (!r->reader.names->interface(r->reader.asked, (u32)index, out))
		sb_u64(out, index);
}

static void name_of_cgroup(struct reporter *r, struct sb *out, u64 id)
{
	const char *path = r->reader.names->cgroup(r->reader.asked, id);

	if (path)
		sb_z(out, path);
	else
		sb_u64(out, id);
}

static void name_of_container(struct reporter *r, struct sb *out, u64 id)
{
	const char *name = r->reader.names->container(r->reader.asked, id);

	sb_z(out, name ? name : "");
}

static void put_time(struct reporter *r, struct sb *out, u64 ns)
{
	clocks_strftime(&r->reader.clocks, out, "%Y-%m-%dT%H:%M:%S.%k%z", ns);
	sb_char(out, ' ');
	memmove(out->s + out->n - 2, out->s + out->n - 3, 2);
	out->s[out->n - 3] = ':'; /* +0100 is +01:00 in RFC 3339 */
}

void column_resolve(struct reporter *r, const struct column *c, struct value *v)
{
	AUTO_SB text = {0};
	const struct names *names = r->reader.names;
	u64 n = v->u, since = n > r->start_ns ? n - r->start_ns : 0;

	bool demangled = c->unit == COL_DEMANGLED;
	if ((c->unit == COL_FUNCTION || demangled) && (v->kind == V_STR || v->kind == V_NAMED)) {
		struct str rest = v->str;
		while (str_cut(&rest, ':', &v->str))
			;
		char *plain = demangled ? demangle(&r->reader.arena, v->str) : NULL;
		v->str = plain ? str_z(plain) : v->str;
	}
	if (c->unit == COL_MEMINFO && v->kind == V_STR)
		*v = names->meminfo(r->reader.asked, v->str, &n)
			     ? (struct value){.kind = V_UINT, .u = n}
			     : (struct value){.kind = V_NONE};
	if (v->kind != V_INT && v->kind != V_UINT)
		return;
	if (c->unit == COL_ELAPSED)
		sb_fmt(&text, "%llu.%06llu", since / 1000000000, since / 1000 % 1000000);
	else if (c->unit == COL_CLOCK)
		put_time(r, &text, n);
	else if (c->unit == COL_SYSCALL)
		name_of_call(r, &text, n);
	else if (c->unit == COL_USER)
		name_of_user(r, &text, n);
	else if (c->unit == COL_DISK)
		name_of_disk(r, &text, n);
	else if (c->unit == COL_INTERFACE)
		name_of_interface(r, &text, n);
	else if (c->unit == COL_CGROUP)
		name_of_cgroup(r, &text, n);
	else if (c->unit == COL_CONTAINER)
		name_of_container(r, &text, n);
	if (text.n)
		*v = value_named(r, sb_str(&text), n);
	else if (c->unit == COL_CONTAINER) /* in none */
		v->kind = V_NONE;
}

/* ---- for a screen ---- */

void table_key_text(struct reporter *r, const struct schema *sc, const struct value *key,
		    struct sb *out)
{
	const struct columns *t = sc->columns;
	bool tuple = key->kind == V_TUPLE;
	u32 n = tuple ? key->n : 1;

	for (u32 i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		if (c->index >= n || c->is.s || c->part)
			continue;
		struct value v = tuple ? key->list[c->index] : *key;
		column_resolve(r, c, &v);
		if (out->n)
			sb_z(out, ", ");
		column_text(out, c, &v, STR(".."));
	}
}

u64 table_unit_ns(const struct schema *sc)
{
	static const struct {
		const char *name;
		u64 ns;
	} names[] = {{"nsecs", 1}, {"usecs", 1000}, {"msecs", 1000000}, {"secs", 1000000000}};
	const struct columns *t = sc->columns;
	const struct type *key = sc->maps[0]->key;
	u32 n = !key ? 0 : key->kind == T_TUPLE ? key->nfield : 1;

	for (u32 i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		bool stats = sc->maps[0]->val->kind == T_STATS;
		if (c->index < n || c->index > n + (stats ? 2 : 0))
			continue;
		if (c->unit == COL_US || c->unit == COL_MS || c->unit == COL_S ||
		    c->unit == COL_SECONDS)
			return 1;
		for (u32 k = 0; c->unit == COL_HIST && k < countof(names); k++)
			if (str_is(c->name, names[k].name))
				return names[k].ns;
	}
	return 0;
}
