/*
 * pprof.c - maps keyed by stacks as a profile of google/pprof: a gzipped message of
 * perftools.profiles.Profile (proto/profile.proto there).
 *
 * Frames are locations in mappings, known by file and build id, so that a reader may look up what had no
 * name here. Other parts of the key are labels. Each map is a type of sample; with several, a
 * sample has zeros for the others.
 */
#include "base/clock.h"
#include "base/proto.h"
#include "sink/profile.h"
#include <zlib.h>

enum option { OPT_UNIT };

/* Field numbers of profile.proto. */
enum {
	P_SAMPLE_TYPE = 1,
	P_SAMPLE = 2,
	P_MAPPING = 3,
	P_LOCATION = 4,
	P_FUNCTION = 5,
	P_STRING = 6,
	P_TIME = 9,
	P_DURATION = 10,
	P_COMMENT = 13,
	P_DEFAULT = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
};

struct pprof {
	struct profile p;
	struct tab strings;  /* number + 1 */
	struct tab mappings; /* id, by file and build id */
	struct sb out;
};

static const struct sink_option options[] = {
	[OPT_UNIT] = {"unit", "WORD", "of the values: count, nanoseconds, bytes ..."},
	{0},
};

static struct err *pprof_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct pprof *f = self;
	*f = (struct pprof){0};
	if (isatty(env->out))
		return err_new("pprof is not for terminals: -o FILE.pb.gz");
	profile_init(&f->p, env, "pprof", BY_PLACE, opts[OPT_UNIT]);
	return NULL;
}

static struct err *pprof_put(void *self, const struct item *it)
{
	return profile_put(self, it);
}

static u64 string(struct pprof *f, struct str s)
{
	u64 at = (u64)(uintptr_t)tab_get(&f->strings, s);
	if (at)
		return at - 1;
	tab_set(&f->strings, s, (void *)(uintptr_t)(f->strings.n + 1ul));
	return f->strings.n - 1;
}

/* ---- the profile ---- */

static void put_type(struct pprof *f, const struct profile_map *m)
{
	AUTO_SB b = {0};
	struct str name = m->name.n > 1 ? str_from(m->name, 1) : STR("samples");
	struct str unit = str_is(m->unit, "samples") ? STR("count") : m->unit;
	proto_number(&b, VALUE_TYPE, string(f, name));
	proto_number(&b, VALUE_UNIT, string(f, unit));
	proto_bytes(&f->out, P_SAMPLE_TYPE, sb_str(&b));
}

static void put_label(struct pprof *f, const struct profile_frame *g, struct sb *sample)
{
	AUTO_SB b = {0};
	proto_number(&b, LABEL_KEY, string(f, g->key));
	if (g->is_num)
		proto_number(&b, LABEL_NUM, (u64)g->num);
	else
		proto_number(&b, LABEL_STR, string(f, g->name));
	proto_bytes(sample, SAMPLE_LABEL, sb_str(&b));
}

static void put_sample(struct pprof *f, u32 map, const struct profile_sample *s)
{
	AUTO_SB b = {0};
	AUTO_SB list = {0};
	const u32 *stack = f->p.stack.v + s->first;
	for (u32 i = s->n; i; i--) /* leaf first; ids count from 1 */
		if (f->p.frame.v[stack[i - 1]].kind != FRAME_LABEL)
			proto_varint(&list, stack[i - 1] + 1ull);
	proto_bytes(&b, SAMPLE_LOCATION, sb_str(&list));
	sb_clear(&list);
	for (u32 i = 0; i < f->p.map.n; i++)
		proto_varint(&list, i == map ? s->weight : 0);
	proto_bytes(&b, SAMPLE_VALUE, sb_str(&list));
	for (u32 i = 0; i < s->n; i++)
		if (f->p.frame.v[stack[i]].kind == FRAME_LABEL)
			put_label(f, &f->p.frame.v[stack[i]], &b);
	proto_bytes(&f->out, P_SAMPLE, sb_str(&b));
}

static struct str file_of(const struct profile_frame *g)
{
	switch (g->kind) {
	case FRAME_KERNEL: return g->module.n ? g->module : STR("[kernel.kallsyms]");
	case FRAME_JIT: return STR("[jit]");
	default: return g->module.n ? g->module : STR("[unknown]");
	}
}

struct mapping {
	struct str file, build_id;
	u64 from, to;
	bool of_file; /* addresses are offsets in it */
	bool named;   /* all frames in it have names */
};

/* A file is one mapping, however often it was mapped: addresses in it are offsets. */
static u64 address_of(const struct profile_frame *g)
{
	return g->file_off ? g->file_off : g->addr;
}

static bool is_named(const struct profile_frame *g)
{
	return g->name.n && g->name.s[0] != '[';
}

/* Of one path there may be several files: in containers, after an upgrade. */
static struct str mapping_key(struct pprof *f, const struct profile_frame *g)
{
	return str_z(arena_fmt(&f->p.arena, "%.*s\n%.*s", STRF(file_of(g)), STRF(g->build_id)));
}

static struct mapping *find_mappings(struct pprof *f)
{
	struct mapping *v = arena_newn(&f->p.arena, struct mapping, f->p.frame.n + 1ul);
	for (u32 i = 0; i < f->p.frame.n; i++) {
		const struct profile_frame *g = &f->p.frame.v[i];
		if (g->kind == FRAME_LABEL)
			continue;
		struct str key = mapping_key(f, g);
		if (!tab_get(&f->mappings, key)) {
			v[f->mappings.n] = (struct mapping){.file = file_of(g),
							    .build_id = g->build_id,
							    .from = UINT64_MAX,
							    .of_file = true,
							    .named = true};
			tab_set(&f->mappings, key, (void *)(uintptr_t)(f->mappings.n + 1ul));
		}
		struct mapping *m = &v[(uintptr_t)tab_get(&f->mappings, key) - 1];
		m->from = MIN(m->from, address_of(g) & ~4095ull);
		m->to = MAX(m->to, (address_of(g) | 4095) + 1);
		m->named &= is_named(g);
		m->of_file &= g->file_off != 0;
	}
	return v;
}

static void put_mappings(struct pprof *f)
{
	const struct mapping *v = find_mappings(f);
	for (u32 i = 0; i < f->mappings.n; i++) {
		AUTO_SB b = {0};
		proto_number(&b, MAPPING_ID, i + 1ull);
		proto_number(&b, MAPPING_START, v[i].from);
		proto_number(&b, MAPPING_LIMIT, v[i].to);
		proto_number(&b, MAPPING_OFFSET, v[i].of_file ? v[i].from : 0);
		proto_number(&b, MAPPING_FILE, string(f, v[i].file));
		proto_number(&b, MAPPING_BUILD_ID, string(f, v[i].build_id));
		proto_number(&b, MAPPING_HAS_FUNCTIONS, v[i].named);
		proto_bytes(&f->out, P_MAPPING, sb_str(&b));
	}
}

/* A location without a line has no name: the reader may find one. */
static void put_location(struct pprof *f, u32 i, struct tab *functions)
{
	const struct profile_frame *g = &f->p.frame.v[i];
	AUTO_SB b = {0};
	AUTO_SB line = {0};
	AUTO_SB key = {0};
	proto_number(&b, LOCATION_ID, i + 1ull);
	proto_number(&b, LOCATION_MAPPING, (uintptr_t)tab_get(&f->mappings, mapping_key(f, g)));
	proto_number(&b, LOCATION_ADDRESS, address_of(g));
	if (is_named(g)) {
		sb_fmt(&key, "%.*s\n%.*s", STRF(g->source), STRF(g->name));
		u64 id = (uintptr_t)tab_get(functions, sb_str(&key));
		if (!id) {
			AUTO_SB fn = {0};
			id = functions->n + 1ull;
			tab_set(functions, arena_str(&f->p.arena, sb_str(&key)),
				(void *)(uintptr_t)id);
			proto_number(&fn, FUNCTION_ID, id);
			proto_number(&fn, FUNCTION_NAME, string(f, g->name));
			proto_number(&fn, FUNCTION_FILE, string(f, g->source));
			proto_bytes(&f->out, P_FUNCTION, sb_str(&fn));
		}
		proto_number(&line, LINE_FUNCTION, id);
		proto_number(&line, LINE_LINE, g->line);
		proto_bytes(&b, LOCATION_LINE, sb_str(&line));
	}
	proto_bytes(&f->out, P_LOCATION, sb_str(&b));
}

static void put_profile(struct pprof *f)
{
	struct tab functions = {0};
	AUTO_SB lost = {0};
	string(f, STR(""));
	for (u32 i = 0; i < f->p.map.n; i++)
		put_type(f, &f->p.map.v[i]);
	for (u32 i = 0; i < f->p.map.n; i++)
		for (u32 k = 0; k < f->p.map.v[i].sample.n; k++)
			put_sample(f, i, &f->p.map.v[i].sample.v[k]);
	put_mappings(f);
	for (u32 i = 0; i < f->p.frame.n; i++)
		if (f->p.frame.v[i].kind != FRAME_LABEL)
			put_location(f, i, &functions);
	tab_free(&functions);
	proto_number(&f->out, P_TIME, f->p.start_ns);
	proto_number(&f->out, P_DURATION, clock_ns(CLOCK_REALTIME) - f->p.start_ns);
	if (f->p.lost) {
		sb_fmt(&lost, "lost %llu events", f->p.lost);
		proto_number(&f->out, P_COMMENT, string(f, sb_str(&lost)));
	}
	for (u32 i = 0; i < f->strings.n; i++)
		proto_bytes(&f->out, P_STRING, f->strings.v[i].key);
}

/* One member, without a time in its head. */
static struct err *gzip(struct str in, struct sb *out)
{
	enum { GZIP = 16 };
	z_stream z = {.next_in = (Bytef *)(uintptr_t)in.s, .avail_in = in.n};
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_new("compress the profile: no memory");
	uLong most = deflateBound(&z, in.n);
	sb_reserve(out, most);
	z.next_out = (Bytef *)out->s + out->n;
	z.avail_out = (uInt)most;
	int rc = deflate(&z, Z_FINISH);
	out->n += z.total_out;
	deflateEnd(&z);
	return rc == Z_STREAM_END ? NULL : err_new("compress the profile: zlib's error %d", rc);
}

static struct err *pprof_close(void *self)
{
	struct pprof *f = self;
	bool show;
	struct err *e = profile_end(&f->p, &show);
	if (show) {
		put_profile(f);
		e = gzip(sb_str(&f->out), &f->p.o.b);
	}
	tab_free(&f->strings);
	tab_free(&f->mappings);
	sb_free(&f->out);
	return profile_close(&f->p, e);
}

const struct sink sink_pprof = {
	.name = "pprof",
	.doc = "maps keyed by stacks: a profile for go tool pprof and its kin",
	.ending = ".pb.gz",
	.whole = true,
	.maps = true,
	.keys = KEYS_BY_PLACE,
	.files = true,
	.shows = PROFILE_SHOWS,
	.example = PROFILE_EXAMPLE,
	.why_not = profile_why_not,
	.size = sizeof(struct pprof),
	.options = options,
	.open = pprof_open,
	.put = pprof_put,
	.close = pprof_close,
	.show = profile_show,
};
