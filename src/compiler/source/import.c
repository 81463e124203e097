/*
 * import.c - import "path": other scripts, headers, and directories of them, put into the tree in
 * place of the import; functions in C (cfile.h). Paths are relative to the file that imports.
 *
 * What anybody may write to is not read: who imports it would run it as root.
 */
#include "base/embed.h"
#include "source/cfile.h"
#include "source/source.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_IMPORTS = 256 };

struct seen {
	dev_t dev;
	ino_t ino;
};

struct importer {
	struct compile *c;
	struct arena *a;
	struct diags *ds;
	struct loc at; /* the import being carried out */
	VEC(struct seen) seen;
	bool full;
};

static void import_path(struct importer *im, const char *path, bool in_dir, struct node ***tail);

/* Puts the imports of a file where they stand. */
static void resolve(struct importer *im, struct node **list);

static struct str base_of(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_from(path, i);
	return path;
}

/*
 * A path in a script, as seen from the directory of that script. What tools import is there for copies
 * of them, wherever they are.
 */
static const char *full_path(struct importer *im, struct str path)
{
	struct str file = im->ds->source[im->at.src].name;
	u32 dir = file.n - base_of(file).n;
	if (path.s[0] == '/')
		dir = 0;
	const char *full = arena_fmt(im->a, "%.*s%.*s", (int)dir, file.s, STRF(path)),
		   *own = arena_fmt(im->a, EMBEDDED "tools/%.*s", STRF(path));
	bool is_copy = str_starts(path, STR("lib/")) && access(full, F_OK) &&
		       embed_find(str_from(str_z(own), sizeof(EMBEDDED) - 1));
	return is_copy ? own : full;
}

static bool first_time(struct importer *im, const struct stat *st)
{
	for (u32 i = 0; i < im->seen.n; i++)
		if (im->seen.v[i].dev == st->st_dev && im->seen.v[i].ino == st->st_ino)
			return false;
	vec_add(&im->seen, ((struct seen){st->st_dev, st->st_ino}));
	return true;
}

/* Nobody but its owner and group can change it, or what stands in its directory. */
static bool is_safe(struct importer *im, const char *path, const struct stat *st)
{
	char real[PATH_MAX];
	struct stat dir;
	bool bad = st->st_mode & S_IWOTH;
	if (!bad && S_ISREG(st->st_mode) && realpath(path, real)) {
		char *end = strrchr(real, '/');
		end[end == real] = 0;
		bad = stat(real, &dir) || (dir.st_mode & S_IWOTH);
	}
	if (bad)
		diag_hint(im->ds,
			  diag_add(im->ds, E_IMPORT, im->at,
				   "import of %s refused: anybody may write there", path),
			  "take the right to write from others (chmod o-w) for %s",
			  "the file and its directory");
	return !bad;
}

static void parse_into(struct importer *im, const char *path, struct str text, struct node ***tail);

static void import_script(struct importer *im, const char *path, struct node ***tail)
{
	struct str text;
	if (!source_read_file(im->a, path, &text)) {
		diag_add(im->ds, E_IMPORT, im->at, "cannot read %s", path);
		return;
	}
	parse_into(im, path, text, tail);
}

static void parse_into(struct importer *im, const char *path, struct str text, struct node ***tail)
{
	u16 src = diags_add_source(im->ds, str_z(path), text);
	struct node *tree = language_of(str_z(path))->parse(im->a, im->ds, src, NULL);
	for (struct node *n = tree->a; n; n = n->next)
		if (n->kind == N_CONFIG)
			diag_add(im->ds, E_IMPORT, n->loc, "invalid `config` within import");
	struct loc at = im->at;
	resolve(im, &tree->a);
	im->at = at;
	**tail = tree->a;
	while (**tail)
		*tail = &(**tail)->next;
}

/* Headers are read by the preprocessor, with the rest of the C definitions. */
static void import_header(struct importer *im, const char *path, struct node ***tail)
{
	char real[PATH_MAX];
	if (!realpath(path, real) || strpbrk(real, "\"\n")) {
		diag_add(im->ds, E_IMPORT, im->at, "cannot read %s", path);
		return;
	}
	struct node *n = node_new(im->a, N_CDEF, im->at);
	n->name = str_z(arena_fmt(im->a, "#include \"%s\"", real));
	**tail = n;
	*tail = &n->next;
}

static void import_dir(struct importer *im, const char *path, struct node ***tail)
{
	VEC(char *) names = {0};
	DIR *d = opendir(path);
	if (!d) {
		diag_add(im->ds, E_IMPORT, im->at, "cannot read %s", path);
		return;
	}
	for (struct dirent *e; (e = readdir(d)) && names.n < MAX_IMPORTS;)
		if (e->d_name[0] != '.')
			vec_add(&names, arena_fmt(im->a, "%s/%s", path, e->d_name));
	closedir(d);
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), strz_order);
	for (u32 i = 0; i < names.n; i++)
		import_path(im, names.v[i], true, tail);
	vec_free(&names);
}

/* A file of the binary's own: "sonde:tools/lib/filter.bt", imported by one of them. */
static void import_embedded(struct importer *im, const char *path, struct node ***tail)
{
	const struct embed *e = embed_find(str_z(path + strlen(EMBEDDED)));
	for (u16 i = 0; i < im->ds->nsource; i++)
		if (str_is(im->ds->source[i].name, path)) /* once */
			return;
	if (e)
		parse_into(im, path, embed_text(e), tail);
	else
		diag_add(im->ds, E_IMPORT, im->at, "there is no %s", path);
}

/* "*.bt, " of every language */
static const char *script_endings(struct importer *im)
{
	const char *all = "";
	for (const struct language *const *l = languages; *l; l++)
		all = arena_fmt(im->a, "%s*%s, ", all, (*l)->ending);
	return all;
}

static void import_path(struct importer *im, const char *path, bool in_dir, struct node ***tail)
{
	struct stat st;
	if (str_starts(str_z(path), str_z(EMBEDDED))) {
		import_embedded(im, path, tail);
		return;
	}
	if (im->c->headers.closed) {
		diag_add(im->ds, E_IMPORT, im->at,
			 "%s: who asks an agent imports no files of its host", path);
		return;
	}
	struct str name = str_z(path);
	bool script = language_by_ending(name), header = str_ends(name, STR(".h"));
	bool object = str_ends(name, STR(".bpf.c"));
	if (stat(path, &st)) {
		diag_hint(im->ds,
			  diag_add(im->ds, E_IMPORT, im->at,
				   "Unable to find suitable path for import"),
			  "checked: %s (%s)", path, strerror(errno));
		return;
	}
	bool dir = S_ISDIR(st.st_mode);
	if (in_dir && (dir || (!script && !header && !object)))
		return;
	if (!dir && !script && !header && !object) {
		struct str base = base_of(name);
		diag_hint(im->ds,
			  diag_add(im->ds, E_IMPORT, im->at, "unknown import type: \"%.*s\"",
				   STRF(base)),
			  "files that can be imported: %s*.h, *.bpf.c, directories with such files",
			  script_endings(im));
		return;
	}
	if (!is_safe(im, path, &st) || !first_time(im, &st))
		return;
	if (im->seen.n > MAX_IMPORTS) {
		if (!im->full)
			diag_add(im->ds, E_LIMIT, im->at, "more than %d imports", MAX_IMPORTS);
		im->full = true;
	} else if (dir) {
		import_dir(im, path, tail);
	} else if (script) {
		import_script(im, path, tail);
	} else if (header) {
		import_header(im, path, tail);
	} else {
		cfile_import(im->c, path, im->at);
	}
}

/* What bpftrace's library consists of; ours is always there. A directory is named alone, too. */
static bool is_library(struct str path)
{
	static const char *const parts[] = {
		"",
		"base.bpf.c",
		"map/map.bpf.c",
		"process/process.bpf.c",
		"stack/dwunwind.bpf.c",
		"stack/dwunwind_defs.h",
		"strings/errors.h",
		"strings/signal.h",
		"strings/strings.bpf.c",
		"strings/strings.h",
		"strings/syscall.h",
		"system/system.bpf.c",
		"task/task.bpf.c",
		"task/vma.bpf.c",
		"test/test.bpf.c",
		"usdt/usdt.bpf.c",
	};
	struct str dir = STR("stdlib"), rest = str_from(path, MIN(path.n, dir.n + 1));
	if (!str_starts(path, dir) || (path.n > dir.n && path.s[dir.n] != '/'))
		return false;
	for (size_t i = 0; i < countof(parts); i++) {
		struct str part = str_z(parts[i]);
		if (str_eq(part, rest) || (str_starts(part, rest) && part.s[rest.n] == '/'))
			return true;
	}
	return false;
}

struct lift {
	struct arena *a;
	struct node **tail;
};

static bool lift_one(struct node *n, void *arg)
{
	struct lift *l = arg;
	if (n->kind != N_IMPORT)
		return true;
	*l->tail = node_clone(l->a, n);
	l->tail = &(*l->tail)->next;
	return false;
}

/* An import within a body brings what one in front of all probes brings. */
static void lift_imports(struct importer *im, struct node **list)
{
	struct node *own = NULL;
	struct lift l = {im->a, &own};
	for (; *list; list = &(*list)->next)
		if ((*list)->kind == N_PROBE || (*list)->kind == N_MACRO || (*list)->kind == N_FN)
			node_walk(*list, lift_one, &l);
	*list = own;
}

static void resolve(struct importer *im, struct node **list)
{
	lift_imports(im, list);
	while (*list) {
		struct node *n = *list, *rest = n->next;
		if (n->kind != N_IMPORT) {
			list = &n->next;
			continue;
		}
		im->at = n->loc;
		*list = NULL;
		if (!n->name.n || str_chr(n->name, '\0') >= 0)
			diag_add(im->ds, E_IMPORT, n->loc, "import needs a path");
		else if (!is_library(n->name))
			import_path(im, full_path(im, n->name), false, &list);
		*list = rest;
	}
}

/* The script itself has been read, too: who imports it, or it in a circle, gets nothing more. */
static void see_script(struct importer *im)
{
	struct stat st;
	const struct node *n = im->c->tree->a;
	u16 src = n ? n->loc.src : 0;
	if (n && !stat(arena_strz(im->a, im->ds->source[src].name), &st) && S_ISREG(st.st_mode))
		first_time(im, &st);
}

bool source_import(struct compile *c)
{
	struct importer im = {.c = c, .a = c->arena, .ds = c->diags};
	u32 nerror = im.ds->nerror;
	see_script(&im);
	resolve(&im, &c->tree->a);
	vec_free(&im.seen);
	cfile_check_names(c);
	return im.ds->nerror == nerror;
}
