/* lines.c - files with debug information, and answers of before. */
#include "sym/lines.h"
#include "base/alloc.h"
#include "sym/debug_ask.h"
#include <string.h>

enum {
	MAX_OPEN = 8,
	MAX_ANSWER = 32,   /* at one address */
	ANSWERS = 1 << 14, /* remembered; another address may take the place */
	MAX_BYTES = 8 << 20,
};

struct opened {
	u64 dev, ino, born_ns, used;
	u32 id; /* never the same twice */
	struct host *host;
	struct arena arena;
	struct debug_ask *debug; /* NULL: it has none */
};
struct answer {
	u32 file, n; /* file: opened.id; 0: free */
	u64 vaddr;
	const struct debug_frame *v;
};
struct lines {
	struct host *host;
	struct opened file[MAX_OPEN];
	u32 nfile, next_id;
	u64 clock;
	struct answer *answer;
	struct arena arena; /* of answers */
	u64 bytes;
};

struct lines *lines_new(struct host *h)
{
	struct lines *l = xcalloc(1, sizeof(*l));
	l->host = h;
	l->answer = xcalloc(ANSWERS, sizeof(*l->answer));
	return l;
}

static void forget(struct lines *l)
{
	memset(l->answer, 0, ANSWERS * sizeof(*l->answer));
	arena_reset(&l->arena);
	l->bytes = 0;
}

static void file_close(struct opened *f)
{
	debug_ask_close(f->debug);
	arena_free(&f->arena);
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (u32 i = 0; i < l->nfile; i++)
		file_close(&l->file[i]);
	arena_free(&l->arena);
	free(l->answer);
	free(l);
}

static bool try_path(void *arg, const char *path)
{
	struct opened *f = arg;
	struct err *e = debug_ask_open(f->host, path, &f->arena, &f->debug);
	err_free(e);
	return !e;
}

static struct opened *place_for(struct lines *l)
{
	struct opened *f = &l->file[0];
	if (l->nfile < MAX_OPEN)
		return &l->file[l->nfile++];
	for (u32 i = 1; i < MAX_OPEN; i++)
		if (l->file[i].used < f->used)
			f = &l->file[i];
	file_close(f);
	return f;
}

static struct opened *file_get(struct lines *l, const struct proc *p, const struct area *a)
{
	struct opened *f = NULL;
	for (u32 i = 0; i < l->nfile && !f; i++)
		if (l->file[i].ino == a->module->ino && l->file[i].dev == a->module->dev &&
		    l->file[i].born_ns == a->module->born_ns)
			f = &l->file[i];
	if (!f) {
		f = place_for(l);
		*f = (struct opened){.dev = a->module->dev,
				     .ino = a->module->ino,
				     .born_ns = a->module->born_ns,
				     .id = ++l->next_id,
				     .host = l->host};
		if (!area_is_vdso(a))
			area_paths(l->host, p, a, try_path, f);
	}
	f->used = ++l->clock;
	return f;
}

u32 lines_at(struct lines *l, const struct proc *p, const struct area *a, u64 vaddr,
	     const struct debug_frame **ret)
{
	struct debug_frame v[MAX_ANSWER];
	struct opened *f = file_get(l, p, a);
	struct answer *at = &l->answer[(vaddr * 0x9e3779b97f4a7c15ull >> 32 ^ f->id) % ANSWERS];
	if (!f->debug)
		return 0;
	if (at->file != f->id || at->vaddr != vaddr) {
		if (l->bytes > MAX_BYTES)
			forget(l);
		u32 n = debug_ask_frames(f->debug, vaddr, &l->arena, v, MAX_ANSWER);
		struct debug_frame *kept = arena_newn(&l->arena, struct debug_frame, n + 1);
		memcpy(kept, v, n * sizeof(*v));
		l->bytes += (n + 1) * sizeof(*v);
		for (u32 i = 0; i < n; i++)
			l->bytes += v[i].name.n + v[i].source.n;
		*at = (struct answer){f->id, n, vaddr, kept};
	}
	*ret = at->v;
	return at->n;
}
