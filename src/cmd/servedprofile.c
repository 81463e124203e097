/* servedprofile.c - see the header. */
#include "cmd/servedprofile.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/tab.h"
#include "cmd/cmd.h"
#include "cmd/served.h"
#include "report/report.h"
#include "sink/profile.h"
#include <errno.h>
#include <sys/mman.h>

/* What a stack of a map was counted when it was read last, by the hash of its key. */
struct count {
	u64 key, n;
};
struct profile_state {
	struct count *count; /* a table with holes, of a power of two */
	u32 n, room;
	/* While one is made: */
	const struct sink *sink;
	void *self;
	u32 points;
	struct err *e;
};

struct profile_state *profile_state_new(void)
{
	return xcalloc(1, sizeof(struct profile_state));
}

void profile_state_free(struct profile_state *p)
{
	if (!p)
		return;
	free(p->count);
	free(p);
}

/* ---- what was counted before ---- */

static struct count *find(struct profile_state *p, u64 key)
{
	u32 at = (u32)key & (p->room - 1);
	while (p->count[at].key && p->count[at].key != key)
		at = (at + 1) & (p->room - 1);
	return &p->count[at];
}

static void grow(struct profile_state *p)
{
	enum { FIRST = 1024 };
	struct count *old = p->count;
	u32 n = p->room;
	p->room = n ? 2 * n : FIRST;
	p->count = xcalloc(p->room, sizeof(*p->count));
	for (u32 i = 0; i < n; i++)
		if (old[i].key)
			*find(p, old[i].key) = old[i];
	free(old);
}

/* How much n is more than it was. */
static u64 difference(struct profile_state *p, struct str map, const struct value *key, u64 n)
{
	AUTO_SB id = {0};
	sb_add(&id, map);
	sb_char(&id, 0);
	value_key_identity(&id, key, true);
	u64 hash = str_hash(sb_str(&id)) | 1;
	if (2 * p->n >= p->room)
		grow(p);
	struct count *c = find(p, hash);
	u64 before = c->key ? c->n : 0;
	p->n += !c->key;
	*c = (struct count){hash, n};
	return n >= before ? n - before : n; /* a map that was cleared begins anew */
}

/* ---- a map ---- */

struct rows {
	const struct item *from;
	u32 *row; /* those that were counted */
	u64 *n;
	struct value key, val;
};

static void make_row(void *self, u64 i)
{
	struct rows *r = self;
	r->key = *item_row(r->from, r->row[i]).key;
	r->val = (struct value){.kind = V_UINT, .size = 8, .u = r->n[i]};
}

static struct err *take(void *self, const struct item *it)
{
	struct profile_state *p = self;
	if (it->kind != I_MAP || !it->map.key || p->e)
		return NULL;
	u32 *row AUTO_FREE = xcalloc(it->map.n + 1, sizeof(*row));
	u64 *n AUTO_FREE = xcalloc(it->map.n + 1, sizeof(*n));
	struct rows r = {.from = it, .row = row, .n = n};
	u32 many = 0;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row from = item_row(it, i);
		bool number =
			from.val->kind == V_UINT || (from.val->kind == V_INT && from.val->i > 0);
		u64 more = number ? difference(p, it->name, from.key, from.val->u) : 0;
		row[many] = (u32)i;
		n[many] = more;
		many += more != 0;
	}
	struct item out = *it;
	out.map.n = many;
	out.map.key = &r.key;
	out.map.val = &r.val;
	out.map.make_row = make_row;
	out.map.rows = &r;
	out.map.merge = NULL;
	p->points += many;
	p->e = many ? p->sink->put(p->self, &out) : NULL;
	return NULL;
}

static const struct sink to_profile = {.name = "profile",
				       .doc = "maps as profiles",
				       .maps = true,
				       .files = true,
				       .keys = KEYS_BY_PLACE,
				       .put = take};

static bool counts_stacks(const struct unit *u, const struct map *m)
{
	return m->role == MAP_USER && m->store && !profile_why_not(u, m) &&
	       (m->val->kind == T_COUNT || m->val->kind == T_SUM || m->counter);
}

static void read_maps(struct served *s, struct profile_state *p)
{
	struct reporter *r = &s->launch.session.reporter;
	const struct sink *sink = r->output.sink;
	void *self = r->output.self;
	r->output.sink = &to_profile;
	r->output.self = p;
	for (u32 i = 0; i < r->unit->nmap; i++) {
		if (counts_stacks(r->unit, r->unit->map[i]))
			report_print_map(r, r->unit->map[i], 0, 0, true);
		arena_reset(&r->reader.arena);
	}
	r->output.sink = sink;
	r->output.self = self;
}

static bool has_stacks(const struct served *s)
{
	const struct unit *u = s->launch.session.reporter.unit;
	bool any = false;
	for (u32 i = 0; s->state == SERVED_RUNS && i < u->nmap; i++)
		any |= counts_stacks(u, u->map[i]);
	return any;
}

static struct err *make(struct served *s, struct profile_state *p, int fd, u64 since_ns)
{
	static const struct str opts[SINK_OPTIONS];
	struct sink_env env = {.out = fd,
			       .err = STDERR_FILENO,
			       .buffering = 'f',
			       .quiet = true,
			       .how = {STR(""), true},
			       .how_remarks = {STR(""), true}};
	struct err *e = p->sink->open(p->self, &env, opts);
	if (e)
		return e;
	/* Every picture begins with this. */
	((struct profile *)p->self)->start_ns = since_ns;
	read_maps(s, p);
	e = p->e;
	p->e = NULL;
	if (!e && p->points) /* without it, nothing is made */
		e = p->sink->put(p->self, &(struct item){.kind = I_END});
	struct err *late = p->sink->close(p->self);
	if (!e)
		return late;
	err_free(late);
	return e;
}

struct err *served_profile(struct served *s, struct profile_state *p, u64 since_ns, struct sb *out,
			   u32 *points)
{
	*points = 0;
	if (!has_stacks(s))
		return NULL;
	int fd AUTO_CLOSE = memfd_create("sonde-profile", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "make a profile");
	p->sink = sink_named(STR("pprof"));
	p->self = xcalloc(1, p->sink->size + 1);
	p->points = 0;
	struct err *e = make(s, p, fd, since_ns);
	free(p->self);
	char buf[65536];
	off_t at = 0;
	for (ssize_t n; !e && p->points && (n = pread(fd, buf, sizeof(buf), at)) > 0; at += n)
		sb_mem(out, buf, (size_t)n);
	*points = p->points;
	return e;
}
