#include "api/output.h"

static struct err *unknown_format(struct str name)
{
	AUTO_SB known = {0};
	for (const struct sink *const *s = sinks; *s; s++)
		sb_fmt(&known, "%s '%s'", s == sinks ? "" : ",", (*s)->name);
	return err_new("Invalid output format \"%.*s\"\nValid formats:%s", STRF(name), known.s);
}

struct err *output_choose(const struct output_spec *spec, struct output_choice *ret)
{
	struct str text = str_z(spec->format), name = text;
	*ret = (struct output_choice){0};
	if (text.n)
		str_cut(&text, ':', &name);
	ret->sink = text.n || spec->format ? sink_named(name) : sink_of_file(str_z(spec->path));
	if (!spec->format && !ret->sink)
		ret->sink = sink_named(STR("text"));
	if (!ret->sink)
		return unknown_format(name);
	struct err *e = spec->format ? sink_set_options(ret->sink, text, ret->opts) : NULL;
	if (!e && spec->diff)
		e = sink_set_option(ret->sink, STR("diff"), str_z(spec->diff), ret->opts);
	return e;
}

struct err *output_suits(const struct output_spec *spec, struct str tool, bool compiled_only,
			 const struct unit *u)
{
	AUTO_SB asked = {0};
	struct output_choice out;
	struct err *e = output_choose(spec, &out);
	const struct schema *keeps = NULL;
	for (u32 i = 0; i < u->nschema && !keeps; i++)
		keeps = u->schema[i]->kept ? u->schema[i] : NULL;
	if (!e && keeps && (compiled_only || !out.sink->keeps))
		return err_new("%.*s() writes to a recording: use sonde record -o FILE",
			       STRF(keeps->kept_by));
	if (!e && u->snapshots && !spec->bounds.keep_bytes)
		return err_new(
			"snapshot() needs a recording in memory: sonde record --keep 60s,200M");
	if (!e && !keeps && out.sink->keeps)
		return err_new("nothing would be recorded: the script calls neither keep() nor "
			       "span_begin()");
	if (e || compiled_only || !out.sink->why_not)
		return e;
	if (spec->format)
		sb_fmt(&asked, "-f %s", out.sink->name);
	else
		sb_fmt(&asked, "-o %s (format %s)", spec->path, out.sink->name);
	return sink_suits(out.sink, asked.s, tool, u);
}
