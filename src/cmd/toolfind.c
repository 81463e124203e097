/*
 * toolfind.c - the tools of the binary: found by name or alias, listed, and the one whose name is most like a word.
 *
 * A tool is its script, tools/NAME.bt. tools/aliases has names for tools with options.
 */
#include "base/embed.h"
#include "base/vec.h"
#include "cmd/tool.h"

/* A line of a comment without the star that begins it. */
static struct str comment_line(struct str line)
{
	struct str s = str_trim(line);
	if (s.n && s.s[0] == '*')
		s = str_from(s, s.n > 1 && s.s[1] == ' ' ? 2 : 1);
	return s;
}

static void add_line(struct sb *b, struct str line)
{
	sb_add(b, line);
	sb_char(b, '\n');
}

void tool_read_comment(struct arena *a, struct tool *t)
{
	AUTO_SB about = {0};
	AUTO_SB examples = {0};
	struct str rest = t->text, line;
	bool first = true, in_examples = false;
	if (str_starts(rest, STR("#!")))
		str_cut(&rest, '\n', &line);
	if (!str_starts(rest, STR("/*")))
		return;
	str_cut(&rest, '\n', &line);
	while (str_cut(&rest, '\n', &line) && !str_is(str_trim(line), "*/")) {
		line = comment_line(line);
		if (first) {
			str_cut(&line, ':', &t->name);
			t->summary = str_trim(line);
		} else if (str_starts(line, STR("Subject:"))) {
			t->subject = str_trim(str_from(line, 8));
		} else if (str_is(line, "Examples:")) {
			in_examples = true;
		} else {
			add_line(in_examples ? &examples : &about, line);
		}
		first = false;
	}
	t->about = arena_str(a, str_trim(sb_str(&about)));
	while (examples.n && examples.s[examples.n - 1] == '\n')
		examples.n--;
	t->examples = arena_str(a, sb_str(&examples));
}

static bool read_script(struct arena *a, struct str name, struct tool *t)
{
	const char *path = arena_fmt(a, "tools/%.*s.bt", STRF(name));
	const struct embed *e = embed_find(str_z(path));
	*t = (struct tool){.name = name};
	if (!e)
		return false;
	t->text = embed_text(e);
	t->file = str_z(arena_fmt(a, EMBEDDED "%s", path));
	tool_read_comment(a, t);
	t->name = name;
	return true;
}

/* "ext4slower = fsslower --type ext4 : slow calls of ext4" */
static bool read_alias(struct arena *a, struct str line, struct tool *t)
{
	struct str name, target, preset = line, summary;
	if (!line.n || line.s[0] == '#' || !str_cut(&preset, '=', &name))
		return false;
	summary = preset;
	str_cut(&summary, ':', &preset);
	preset = str_trim(preset);
	str_cut(&preset, ' ', &target);
	if (!read_script(a, target, t))
		return false;
	t->name = str_trim(name);
	t->summary = str_trim(summary);
	t->preset = preset;
	t->alias = true;
	return true;
}

static struct str aliases(void)
{
	const struct embed *e = embed_find(STR("tools/aliases"));
	return e ? embed_text(e) : STR("");
}

bool tool_find(struct arena *a, struct str name, struct tool *ret)
{
	struct str rest, line;
	if (str_ends(name, STR(".bt")))
		name.n -= 3;
	if (!name.n || str_chr(name, '/') >= 0)
		return false;
	if (read_script(a, name, ret))
		return true;
	rest = aliases();
	while (str_cut(&rest, '\n', &line))
		if (str_starts(line, name) && read_alias(a, line, ret) && str_eq(ret->name, name))
			return true;
	return false;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct tool *)a)->name, ((const struct tool *)b)->name);
}

void tool_each(struct arena *a, tool_cb *cb, void *arg)
{
	VEC(struct tool) all = {0};
	struct str rest = aliases(), line;
	struct tool t;
	for (const struct embed *e = embedded; e->name; e++) {
		struct str path = str_z(e->name);
		if (!str_starts(path, STR("tools/")) || !str_ends(path, STR(".bt")))
			continue;
		path = str_n(path.s + 6, path.n - 9);
		if (str_chr(path, '/') < 0 && read_script(a, path, &t))
			vec_add(&all, t);
	}
	while (str_cut(&rest, '\n', &line))
		if (read_alias(a, line, &t))
			vec_add(&all, t);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_name);
	for (u32 i = 0; i < all.n && cb(&all.v[i], arg); i++)
		;
	vec_free(&all);
}

struct nearest {
	struct arena *a;
	struct str name;
	const char *found;
	u32 distance;
};

static bool see_near(const struct tool *t, void *arg)
{
	struct nearest *n = arg;
	u32 d = str_distance(t->name, n->name, n->distance - 1);
	if (d < n->distance) {
		n->distance = d;
		n->found = arena_strz(n->a, t->name);
	}
	return true;
}

const char *tool_near(struct arena *a, struct str name)
{
	enum { MOST = 2 };
	struct nearest n = {a, name, NULL, MOST + 1};
	if (name.n > MOST + 1)
		tool_each(a, see_near, &n);
	return n.found;
}
