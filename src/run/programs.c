/* programs.c - what BPF programs take, by the kernel's own account; see programs.h. */
#include "run/programs.h"
#include "base/vec.h"
#include "core/watch.h"
#include "run/session.h"

/* As long as nothing ends them, the programs of a machine are few. */
enum { MOST = 4096 };

static const struct map programs = {.name = STR(WATCH_PROGRAMS), .role = MAP_USER, .adds = true};

struct rows {
	VEC(struct value) key;
	VEC(struct value) val;
	u32 *own; /* ids of our programs by their index; 0: it is not loaded */
	const struct unit *unit;
};

static u32 *own_ids(struct session *s, struct arena *a)
{
	u32 *id = arena_newn(a, u32, s->u->nprog + 1);
	for (u32 i = 0; i < s->u->nprog; i++) {
		struct bpf_about about;
		int fd = prog_fd(s, s->u->prog[i]);
		struct err *e = fd >= 0 ? bpf_prog_about(fd, &about) : err_new("not loaded");
		id[i] = e ? 0 : about.id;
		err_free(e);
	}
	return id;
}

/* Of ours the whole name; the kernel cuts it. */
static const char *key_of(const struct rows *r, struct arena *a, const struct bpf_about *p)
{
	for (u32 i = 0; i < r->unit->nprog; i++)
		if (r->own[i] == p->id)
			return arena_fmt(a, "sonde: %.*s", STRF(r->unit->prog[i]->name));
	return arena_fmt(a, "%s (%u)", *p->name ? p->name : "-", p->id);
}

static void add_row(struct rows *r, struct arena *a, const struct bpf_about *p)
{
	struct value *v = arena_newn(a, struct value, 3);
	const char *key = key_of(r, a, p);
	v[0] = (struct value){.kind = V_INT, .size = 8, .i = (i64)p->runs};
	v[1] = (struct value){.kind = V_INT, .size = 8, .i = (i64)(p->ns / p->runs)};
	v[2] = (struct value){.kind = V_INT, .size = 8, .i = (i64)p->ns};
	vec_add(&r->key, ((struct value){.kind = V_STR, .str = str_z(key)}));
	vec_add(&r->val, ((struct value){.kind = V_STATS, .n = 3, .list = v}));
}

void programs_read(struct session *s, struct watcher *w)
{
	struct arena a = {0};
	struct rows r = {.unit = s->u};
	r.own = own_ids(s, &a);
	for (u32 id = 0, n = 0; (id = bpf_prog_after(id)) && n < MOST; n++) {
		int fd AUTO_CLOSE = -1;
		struct bpf_about about;
		struct err *e = bpf_prog_by_id(id, &fd); /* it may be gone by now */
		if (!e)
			e = bpf_prog_about(fd, &about);
		if (!e && about.runs)
			add_row(&r, &a, &about);
		err_free(e);
	}
	struct item it = {.kind = I_MAP,
			  .name = programs.name,
			  .map.key = r.key.v,
			  .map.val = r.val.v,
			  .map.n = r.key.n,
			  .map.adds = true};
	w->map(w->self, &programs, &it, false);
	vec_free(&r.key);
	vec_free(&r.val);
	arena_free(&a);
}
