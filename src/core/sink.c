#include "core/sink.h"
#include "core/unit.h"

const struct sink *sink_named(struct str name)
{
	for (const struct sink *const *s = sinks; *s; s++)
		if (str_is(name, (*s)->name))
			return *s;
	return NULL;
}

const struct sink *sink_of_file(struct str path)
{
	for (const struct sink *const *s = sinks; *s; s++)
		if ((*s)->ending && str_ends(path, str_z((*s)->ending)))
			return *s;
	return NULL;
}

bool item_has_hist(const struct item *it)
{
	bool any = false;
	for (u32 i = 0; i < it->row.n; i++)
		any |= it->row.val[i].kind == V_HIST;
	return any;
}

struct err *sink_suits(const struct sink *s, const char *asked, struct str tool,
		       const struct unit *u)
{
	AUTO_SB why = {0};
	assert(s->why_not);
	for (u32 i = 0; i < u->nmap; i++) {
		if (u->map[i]->role != MAP_USER)
			continue;
		const char *reason = s->why_not(u, u->map[i]);
		if (!reason)
			return NULL;
		sb_fmt(&why, "; %.*s: %s", STRF(u->map[i]->name), reason);
	}
	if (tool.n)
		return err_new("%s shows %s; with these options %.*s has none", asked, s->shows,
			       STRF(tool));
	return err_new("%s shows %s, as in %s%s", asked, s->shows, s->example,
		       why.n ? why.s : "; the script has no map");
}

static i32 find_option(const struct sink *s, struct str name)
{
	for (i32 i = 0; s->options && s->options[i].name; i++)
		if (str_is(name, s->options[i].name))
			return i;
	return -1;
}

static struct err *unknown_option(const struct sink *s, struct str name)
{
	AUTO_SB known = {0};
	for (u32 i = 0; s->options && s->options[i].name; i++)
		sb_fmt(&known, "%s %s", i ? "," : "; it has:", s->options[i].name);
	return err_new("format %s has no option '%.*s'%s", s->name, STRF(name),
		       known.n ? known.s : "");
}

struct err *sink_set_option(const struct sink *s, struct str name, struct str val, struct str *opts)
{
	i32 i = find_option(s, name);
	if (i < 0)
		return unknown_option(s, name);
	assert(i < SINK_OPTIONS);
	if (!val.n && s->options[i].arg)
		return err_new("option '%s' of format %s needs a value: %s=%s", s->options[i].name,
			       s->name, s->options[i].name, s->options[i].arg);
	if (val.n && !s->options[i].arg)
		return err_new("option '%s' of format %s takes no value", s->options[i].name,
			       s->name);
	opts[i] = val.n ? val : STR("yes");
	return NULL;
}

struct err *sink_set_options(const struct sink *s, struct str text, struct str *opts)
{
	struct str word, name;
	while (text.n && str_cut(&text, ',', &word)) {
		struct str val = word;
		str_cut(&val, '=', &name);
		struct err *e = sink_set_option(s, name, val, opts);
		if (e)
			return e;
	}
	return NULL;
}
