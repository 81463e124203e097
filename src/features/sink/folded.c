/*
 * folded.c - a line per stack: frames from the outermost on, joined by ';', a blank, the weight.
 *
 * What other tools of flame graphs read. Lines are sorted, so that two files compare.
 */
#include "sink/profile.h"

enum option { OPT_ANNOTATE, OPT_DELIMITER };

struct folded {
	struct profile p;
	bool annotate, delimiter;
};

static const struct sink_option options[] = {
	[OPT_ANNOTATE] = {"annotate", NULL,
			  "mark frames: _[k] kernel, _[i] inlined, _[j] JIT, _[p] Python, _[r] "
			  "Ruby, _[h] PHP, _[l] Perl, _[s] JavaScript, _[v] Java"},
	[OPT_DELIMITER] = {"delimiter", NULL,
			   "a frame '-' between a program's frames and the kernel's"},
	{0},
};

static struct err *folded_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct folded *f = self;
	f->annotate = opts[OPT_ANNOTATE].n;
	f->delimiter = opts[OPT_DELIMITER].n;
	profile_init(&f->p, env, "folded", f->annotate || f->delimiter ? BY_KIND : BY_NAME,
		     STR(""));
	return NULL;
}

static struct err *folded_put(void *self, const struct item *it)
{
	return profile_put(self, it);
}

static void put_frame(const struct folded *f, const struct profile_frame *g, struct sb *b)
{
	static const char *const marks[FRAME_KINDS] = {
		[FRAME_KERNEL] = "_[k]", [FRAME_INLINED] = "_[i]",    [FRAME_JIT] = "_[j]",
		[FRAME_PYTHON] = "_[p]", [FRAME_RUBY] = "_[r]",       [FRAME_PHP] = "_[h]",
		[FRAME_PERL] = "_[l]",   [FRAME_JAVASCRIPT] = "_[s]", [FRAME_JAVA] = "_[v]"};
	for (u32 i = 0; i < g->name.n; i++)
		sb_char(b, g->name.s[i] == ';' ? ':' : g->name.s[i]);
	if (f->annotate && marks[g->kind])
		sb_z(b, marks[g->kind]);
}

static bool is_of_program(enum frame_kind kind)
{
	return kind != FRAME_KERNEL && kind != FRAME_LABEL;
}

static void put_map(struct folded *f, const struct profile_map *m)
{
	struct sb *b = &f->p.o.b;
	for (u32 i = 0; i < m->sample.n; i++) {
		const struct profile_sample *s = &m->sample.v[i];
		if (f->p.map.n > 1)
			sb_add(b, m->name);
		enum frame_kind outer = FRAME_LABEL;
		for (u32 k = 0; k < s->n; k++) {
			const struct profile_frame *g = &f->p.frame.v[f->p.stack.v[s->first + k]];
			if (k || f->p.map.n > 1)
				sb_char(b, ';');
			if (f->delimiter && g->kind == FRAME_KERNEL && is_of_program(outer))
				sb_z(b, "-;");
			put_frame(f, g, b);
			outer = outer == FRAME_KERNEL && g->kind == FRAME_INLINED ? outer : g->kind;
		}
		if (!s->n && f->p.map.n == 1)
			sb_z(b, "[unknown]");
		sb_fmt(b, " %llu\n", s->weight);
		out_room(&f->p.o);
	}
}

static struct err *folded_close(void *self)
{
	struct folded *f = self;
	bool show;
	struct err *e = profile_end(&f->p, &show);
	for (u32 i = 0; show && i < f->p.map.n; i++)
		put_map(f, &f->p.map.v[i]);
	return profile_close(&f->p, e);
}

const struct sink sink_folded = {
	.name = "folded",
	.doc = "maps keyed by stacks: a line per stack, for tools of flame graphs",
	.ending = ".folded",
	.whole = true,
	.maps = true,
	.keys = KEYS_BY_PLACE,
	.files = true,
	.shows = PROFILE_SHOWS,
	.example = PROFILE_EXAMPLE,
	.why_not = profile_why_not,
	.size = sizeof(struct folded),
	.options = options,
	.open = folded_open,
	.put = folded_put,
	.close = folded_close,
	.show = profile_show,
};
