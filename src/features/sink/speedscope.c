/*
 * speedscope.c - maps keyed by stacks as JSON of www.speedscope.app: one sampled profile per map.
 *
 * Frames stand in a table, samples are lists of their numbers, outermost first, with a weight each.
 */
#include "base/json.h"
#include "sink/profile.h"

enum option { OPT_TITLE, OPT_UNIT };

struct speedscope {
	struct profile p;
	struct str title;
};

static const struct sink_option options[] = {
	[OPT_TITLE] = {"title", "TEXT", "name of the file's profiles"},
	[OPT_UNIT] = {"unit", "WORD",
		      "none, nanoseconds, microseconds, milliseconds, seconds or bytes"},
	{0},
};

static struct err *speedscope_open(void *self, const struct sink_env *env, const struct str *opts)
{
	static const char *const units[] = {"none",         "nanoseconds", "microseconds",
					    "milliseconds", "seconds",     "bytes"};
	struct speedscope *f = self;
	struct str unit = opts[OPT_UNIT].n ? opts[OPT_UNIT] : STR("none");
	bool known = false;
	for (u32 i = 0; i < countof(units); i++)
		known |= str_is(unit, units[i]);
	if (!known)
		return err_new("format speedscope has no unit '%.*s': %s", STRF(unit),
			       options[OPT_UNIT].doc);
	profile_init(&f->p, env, "speedscope", BY_NAME, unit);
	f->title = opts[OPT_TITLE].n ? opts[OPT_TITLE] : STR("sonde");
	return NULL;
}

static struct err *speedscope_put(void *self, const struct item *it)
{
	return profile_put(self, it);
}

static void put_frames(struct speedscope *f, struct sb *b)
{
	sb_z(b, ",\"shared\":{\"frames\":[");
	for (u32 i = 0; i < f->p.frame.n; i++) {
		const struct profile_frame *g = &f->p.frame.v[i];
		sb_z(b, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_str(b, g->name);
		if (g->source.n || g->module.n) {
			sb_z(b, ",\"file\":");
			json_str(b, g->source.n ? g->source : g->module);
		}
		if (g->source.n && g->line)
			sb_fmt(b, ",\"line\":%u", g->line);
		sb_char(b, '}');
		out_room(&f->p.o);
	}
	sb_z(b, "]}");
}

static void put_map(struct speedscope *f, const struct profile_map *m, struct sb *b)
{
	AUTO_SB name = {0};
	sb_add(&name, m->name);
	if (f->p.lost)
		sb_fmt(&name, " (%llu events lost)", f->p.lost);
	sb_z(b, "{\"type\":\"sampled\",\"name\":");
	json_str(b, sb_str(&name));
	sb_z(b, ",\"unit\":");
	json_str(b, m->unit);
	sb_fmt(b, ",\"startValue\":0,\"endValue\":%llu,\"samples\":[", m->total);
	for (u32 i = 0; i < m->sample.n; i++) {
		const struct profile_sample *s = &m->sample.v[i];
		sb_z(b, i ? ",\n[" : "\n[");
		for (u32 k = 0; k < s->n; k++)
			sb_fmt(b, "%s%u", k ? "," : "", f->p.stack.v[s->first + k]);
		sb_char(b, ']');
		out_room(&f->p.o);
	}
	sb_z(b, "],\"weights\":[");
	for (u32 i = 0; i < m->sample.n; i++)
		sb_fmt(b, "%s%llu", i ? "," : "", m->sample.v[i].weight);
	sb_z(b, "]}");
}

static void put_file(struct speedscope *f)
{
	struct sb *b = &f->p.o.b;
	sb_z(b, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"exporter\":\"sonde\",\"name\":");
	json_str(b, f->title);
	sb_z(b, ",\"activeProfileIndex\":0");
	put_frames(f, b);
	sb_z(b, ",\n\"profiles\":[\n");
	for (u32 i = 0; i < f->p.map.n; i++) {
		sb_z(b, i ? ",\n" : "");
		put_map(f, &f->p.map.v[i], b);
	}
	sb_z(b, "]}\n");
}

static struct err *speedscope_close(void *self)
{
	struct speedscope *f = self;
	bool show;
	struct err *e = profile_end(&f->p, &show);
	if (show)
		put_file(f);
	return profile_close(&f->p, e);
}

const struct sink sink_speedscope = {
	.name = "speedscope",
	.doc = "maps keyed by stacks: JSON for speedscope",
	.ending = ".speedscope.json",
	.whole = true,
	.maps = true,
	.keys = KEYS_BY_PLACE,
	.files = true,
	.shows = PROFILE_SHOWS,
	.example = PROFILE_EXAMPLE,
	.why_not = profile_why_not,
	.size = sizeof(struct speedscope),
	.options = options,
	.open = speedscope_open,
	.put = speedscope_put,
	.close = speedscope_close,
	.show = profile_show,
};
