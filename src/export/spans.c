/* spans.c - see spans.h. */
#include "export/spans.h"
#include "base/alloc.h"
#include "base/tab.h"
#include "base/vec.h"
#include "export/timeline.h"

enum { FIRST_SLOTS = 256, MOST_NAMES = 8 };

/* Spans of one name on one thread: tracks that no open span is on. */
struct group {
	VEC(u32) idle;
};
struct named {
	struct str name;
	u64 open, stray; /* stray: ends without a begin */
};
struct open_span {
	struct tl_span s;
	struct group *group;
	struct named *named;
	struct open_span *next; /* in the slot; the newest is first */
	u32 hash, nid;
	char id[];
};
struct spans {
	struct arena a;
	struct tab names;  /* name -> struct named */
	struct tab groups; /* thread's id and name -> struct group */
	struct open_span **slot, *ended;
	u32 nslot, nopen, ntrack;
	u64 begun;
};

struct spans *spans_new(void)
{
	struct spans *s = xcalloc(1, sizeof(*s));
	s->nslot = FIRST_SLOTS;
	s->slot = xcalloc(s->nslot, sizeof(struct open_span *));
	return s;
}

/* ---- names and groups ---- */

static struct named *named(struct spans *s, struct str name)
{
	struct named *n = tab_get(&s->names, name);
	if (n)
		return n;
	n = arena_new(&s->a, struct named);
	n->name = arena_str(&s->a, name);
	tab_set(&s->names, n->name, n);
	return n;
}

static struct group *group_of(struct spans *s, struct str name, const struct tl_thread *t)
{
	AUTO_SB key = {0};
	sb_fmt(&key, "%u ", t ? t->id : 0);
	sb_add(&key, name);
	struct group *g = tab_get(&s->groups, sb_str(&key));
	if (g)
		return g;
	g = arena_new(&s->a, struct group);
	tab_set(&s->groups, arena_str(&s->a, sb_str(&key)), g);
	return g;
}

static u32 take_track(struct spans *s, struct group *g)
{
	return g->idle.n ? g->idle.v[--g->idle.n] : ++s->ntrack;
}

/* ---- spans that are open ---- */

static u32 hash_of(const struct named *n, struct str id)
{
	u32 h = (u32)((uintptr_t)n >> 4) * 2654435761u;
	for (u32 i = 0; i < id.n; i++)
		h = (h ^ (u8)id.s[i]) * 16777619u;
	return h ^ h >> 15;
}

static void grow(struct spans *s)
{
	u32 n = s->nslot * 2;
	struct open_span **slot = xcalloc(n, sizeof(struct open_span *));
	for (u32 i = 0; i < s->nslot; i++) {
		struct open_span *o = s->slot[i], *back = NULL, *next;
		for (; o; o = next) { /* oldest first, so that the newest is first again */
			next = o->next;
			o->next = back;
			back = o;
		}
		for (o = back; o; o = next) {
			struct open_span **at = &slot[o->hash & (n - 1)];
			next = o->next;
			o->next = *at;
			*at = o;
		}
	}
	free(s->slot);
	s->slot = slot;
	s->nslot = n;
}

const struct tl_span *spans_begin(struct spans *s, struct str name, struct str id,
				  const struct tl_thread *thread)
{
	struct open_span *o = xmalloc(sizeof(*o) + id.n);
	struct named *n = named(s, name);
	struct group *g = group_of(s, name, thread);
	if (s->nopen >= s->nslot)
		grow(s);
	*o = (struct open_span){.s = {.name = n->name,
				      .track = take_track(s, g),
				      .number = ++s->begun,
				      .thread = thread},
				.group = g,
				.named = n,
				.hash = hash_of(n, id),
				.nid = id.n};
	memcpy(o->id, id.s ? id.s : "", id.n);
	struct open_span **at = &s->slot[o->hash & (s->nslot - 1)];
	o->next = *at;
	*at = o;
	s->nopen++;
	n->open++;
	return &o->s;
}

const struct tl_span *spans_end(struct spans *s, struct str name, struct str id)
{
	struct named *n = named(s, name);
	u32 hash = hash_of(n, id);
	struct open_span **at = &s->slot[hash & (s->nslot - 1)];
	while (*at && ((*at)->named != n || !str_eq(str_n((*at)->id, (*at)->nid), id)))
		at = &(*at)->next;
	struct open_span *o = *at;
	if (!o) {
		n->stray++;
		return NULL;
	}
	*at = o->next;
	s->nopen--;
	n->open--;
	vec_add(&o->group->idle, o->s.track);
	free(s->ended);
	s->ended = o;
	return &o->s;
}

/* ---- what does not belong together ---- */

u64 spans_begun(const struct spans *s)
{
	return s->begun;
}

void spans_text(const struct spans *s, bool stray, struct sb *out)
{
	AUTO_SB b = {0};
	u64 all = 0;
	u32 nname = 0;
	for (u32 i = 0; i < s->names.n; i++) {
		const struct named *n = s->names.v[i].val;
		u64 count = stray ? n->stray : n->open;
		all += count;
		if (!count || nname++ >= MOST_NAMES)
			continue;
		sb_z(&b, nname > 1 ? ", " : "");
		sb_visible(&b, n->name);
		sb_fmt(&b, " (%llu)", count);
	}
	if (nname > MOST_NAMES)
		sb_fmt(&b, " and %u other names", nname - MOST_NAMES);
	if (all)
		sb_fmt(out,
		       stray ? "%llu end%s of spans had no begin: %s"
			     : "%llu span%s did not end: %s",
		       all, all == 1 ? "" : "s", b.s);
}

void spans_remark(const struct spans *s, struct exporting *x)
{
	for (u32 stray = 0; stray < 2; stray++) {
		AUTO_SB b = {0};
		spans_text(s, stray, &b);
		if (b.n)
			export_remark(x, "%s", b.s);
	}
}

void spans_free(struct spans *s)
{
	for (u32 i = 0; i < s->nslot; i++)
		for (struct open_span *o = s->slot[i], *next; o; o = next) {
			next = o->next;
			free(o);
		}
	for (u32 i = 0; i < s->groups.n; i++) {
		struct group *g = s->groups.v[i].val;
		vec_free(&g->idle);
	}
	tab_free(&s->names);
	tab_free(&s->groups);
	arena_free(&s->a);
	free(s->slot);
	free(s->ended);
	free(s);
}
