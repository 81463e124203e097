/*
 * cgroup.c - control groups of paths and containers.
 *
 * What runtimes call the control group of a container:
 *
 *	docker-ID.scope  crio-ID.scope  cri-containerd-ID.scope  libpod-ID.scope  nerdctl-ID.scope
 *	docker/ID  kubepods/.../podUID/ID  ...slice:cri-containerd:ID
 *	lxc.payload.NAME  lxc/NAME  machine-NAME.scope  systemd-nspawn@NAME.service
 *
 * An ID is 64 hexadecimal digits, so whatever ends in one is a container; "conmon" in front of it
 * says that it is the one that watches over it. Names of the first two lines' containers are in the
 * state files of docker and podman.
 */
#include "proc/cgroup.h"
#include "base/vec.h"
#include "kern/caps.h"
#include "proc/proc.h"
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

enum { ID_LEN = 64, ID_SHOWN = 12, MAX_DEPTH = 32, MAX_FOUND = 4096, LISTED = 8 };

struct container {
	const char *dir;
	struct str id, name; /* one of them may be "" */
};
typedef VEC(struct container) containers;

/* ---- paths ---- */

const char *cgroup_mount(struct host *h)
{
	const char *unified = arena_fmt(h->arena, "%s/sys/fs/cgroup/unified", h->root);
	const char *plain = arena_fmt(h->arena, "%s/sys/fs/cgroup", h->root);
	return access(arena_fmt(h->arena, "%s/cgroup.procs", unified), F_OK) ? plain : unified;
}

static struct err *is_version_2(struct host *h, const char *path, const char *dir)
{
	struct statfs fs;
	if (h->recorded)
		return NULL;
	if (statfs(dir, &fs))
		return err_kern(errno, "look at control group %s", path);
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return NULL;
	if (fs.f_type == CGROUP_SUPER_MAGIC)
		return err_new(
			"%s is a control group of version 1; programs in the kernel only know "
			"those of version 2 (cgroup2, below %s)",
			path, cgroup_mount(h));
	return err_new("%s is not a control group (a directory of cgroup2, below %s)", path,
		       cgroup_mount(h));
}

struct err *cgroup_find(struct host *h, const char *path, const char **dir)
{
	struct stat st;
	const char *full = arena_fmt(h->arena, "%s%s", *path == '/' ? h->root : "", path);
	if (!*path)
		return err_new("the path of a control group is empty");
	if (h->recording)
		return err_new("a recording has the numbers of control groups, not their paths: "
			       "compare cgroup in a script");
	if (stat(full, &st) && errno != EACCES)
		full = arena_fmt(h->arena, "%s/%s", cgroup_mount(h), path + strspn(path, "/"));
	if (stat(full, &st))
		return errno == ENOENT
			       ? err_new("control group %s does not exist (nor %s)", path, full)
			       : err_file(errno, full, "find control group %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_new("%s is not a control group: it is no directory", path);
	*dir = full;
	return is_version_2(h, path, full);
}

struct err *cgroup_id(struct host *h, const char *path, u64 *id, struct err **doubt)
{
	struct stat st;
	const char *full = path;
	if (stat(path, &st)) {
		full = arena_fmt(h->arena, "%s/%s", cgroup_mount(h), path);
		if (stat(full, &st))
			return err_kern(errno, "find control group %s", path);
	}
	if (!S_ISDIR(st.st_mode))
		return err_new("%s is not a control group", path);
	*id = st.st_ino;
	*doubt = is_version_2(h, path, full);
	return NULL;
}

/* ---- names ---- */

static bool is_hex(struct str s)
{
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
	}
	return s.n;
}

/* "\x2d" -> "-", as systemd writes names. */
static struct str unescape(struct arena *a, struct str s)
{
	AUTO_SB b = {0};
	for (u32 i = 0; i < s.n; i++) {
		u64 c;
		char hex[5] = "0x";
		if (i + 3 < s.n && s.s[i] == '\\' && s.s[i + 1] == 'x') {
			memcpy(hex + 2, s.s + i + 2, 2);
			if (str_u64(str_z(hex), &c)) {
				sb_char(&b, (char)c);
				i += 3;
				continue;
			}
		}
		sb_char(&b, s.s[i]);
	}
	return arena_str(a, sb_str(&b));
}

static bool between(struct str s, const char *head, const char *tail, struct str *ret)
{
	struct str x = str_z(head), y = str_z(tail);
	if (s.n <= x.n + y.n || !str_starts(s, x) || !str_ends(s, y))
		return false;
	*ret = str_n(s.s + x.n, s.n - x.n - y.n);
	return true;
}

/* Is that directory a container's? */
static bool recognize(struct arena *a, struct str parent, struct str base, struct container *c)
{
	struct str stem = base, name;
	if (str_ends(stem, STR(".scope")))
		stem.n -= 6;
	*c = (struct container){.id = STR(""), .name = STR("")};
	struct str id = stem.n >= ID_LEN ? str_from(stem, stem.n - ID_LEN) : STR("");
	if (is_hex(id) && str_find(stem, STR("conmon")) < 0) {
		c->id = arena_str(a, id);
		return true;
	}
	if (between(base, "lxc.payload.", "", &name) ||
	    between(base, "machine-", ".scope", &name) ||
	    between(base, "systemd-nspawn@", ".service", &name))
		c->name = unescape(a, name);
	else if (str_is(parent, "lxc") || str_is(parent, "lxc.payload"))
		c->name = arena_str(a, base);
	return c->name.n;
}

/* A part of a container (its own groups) is not another one; a container inside one is. */
static void scan(struct host *h, const char *dir, struct str base, u32 depth, containers *out)
{
	DIR *d = depth < MAX_DEPTH ? opendir(dir) : NULL;
	for (struct dirent *e; d && out->n < MAX_FOUND && (e = readdir(d));) {
		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		struct container c;
		const char *path = arena_fmt(h->arena, "%s/%s", dir, e->d_name);
		struct str name = arena_str(h->arena, str_z(e->d_name));
		if (recognize(h->arena, base, name, &c)) {
			c.dir = path;
			bool part = false; /* of one with the same id */
			for (u32 i = 0; i < out->n && !part; i++)
				part = c.id.n && str_eq(out->v[i].id, c.id) &&
				       str_starts(str_z(path), str_z(out->v[i].dir));
			if (!part)
				vec_add(out, c);
		}
		scan(h, path, name, depth + 1, out);
	}
	if (d)
		closedir(d);
}

/* Text between quotes behind key, from *at on; *at moves behind it. */
static bool json_text(struct str text, const char *key, u32 *at, struct str *ret)
{
	i32 i = str_find(str_from(text, *at), str_z(key));
	if (i < 0)
		return false;
	u32 from = *at + (u32)i + (u32)strlen(key);
	i32 open = str_chr(str_from(text, from), '"');
	if (open < 0)
		return false;
	from += (u32)open + 1;
	i32 close = str_chr(str_from(text, from), '"');
	if (close < 0)
		return false;
	*ret = str_n(text.s + from, (size_t)close);
	*at = from + (u32)close + 1;
	return true;
}

static void docker_names(struct host *h, containers *all)
{
	for (u32 i = 0; i < all->n; i++) {
		struct container *c = &all->v[i];
		struct str text, name;
		u32 at = 0;
		if (!c->id.n)
			continue;
		struct err *e = host_read(
			h, &text, "/var/lib/docker/containers/%.*s/config.v2.json", STRF(c->id));
		if (!e && json_text(text, "\"Name\":", &at, &name))
			c->name = str_starts(name, STR("/")) ? str_from(name, 1) : name;
		err_free(e);
	}
}

/* [{"id":"...","names":["web"], ...}, ...] */
static void podman_names(struct host *h, containers *all)
{
	struct str text, id, name;
	u32 at = 0;
	struct err *e = host_read(h, &text,
				  "/var/lib/containers/storage/overlay-containers/containers.json");
	while (!e && json_text(text, "\"id\":", &at, &id)) {
		u32 behind = at;
		if (!json_text(text, "\"names\":", &behind, &name))
			break;
		for (u32 i = 0; i < all->n; i++)
			if (str_eq(all->v[i].id, id))
				all->v[i].name = name;
	}
	err_free(e);
}

static bool fits(const struct container *c, struct str name)
{
	return str_eq(c->name, name) || (is_hex(name) && c->id.n && str_starts(c->id, name));
}

static bool fits_wholly(const struct container *c, struct str name)
{
	return str_eq(c->name, name) || str_eq(c->id, name);
}

static void list(struct host *h, struct sb *out, const containers *v)
{
	size_t skip = strlen(cgroup_mount(h));
	for (u32 i = 0; i < v->n && i < LISTED; i++) {
		const struct container *c = &v->v[i];
		sb_z(out, i ? ", " : " ");
		if (c->name.n)
			sb_add(out, c->name);
		if (c->id.n)
			sb_fmt(out, "%s%.*s", c->name.n ? " = " : "", ID_SHOWN, c->id.s);
		sb_fmt(out, " (%s)", c->dir + skip);
	}
	if (v->n > LISTED)
		sb_fmt(out, " and %u more", v->n - LISTED);
}

static struct err *choose(struct host *h, const char *name, const containers *all, const char **dir)
{
	AUTO_SB text = {0};
	containers hits = {0}, whole = {0};
	struct err *e = NULL;
	for (u32 i = 0; i < all->n; i++) {
		if (fits(&all->v[i], str_z(name)))
			vec_add(&hits, all->v[i]);
		if (fits_wholly(&all->v[i], str_z(name)))
			vec_add(&whole, all->v[i]);
	}
	list(h, &text, hits.n ? &hits : all);
	if (whole.n == 1 || hits.n == 1)
		*dir = whole.n == 1 ? whole.v[0].dir : hits.v[0].dir;
	else if (hits.n)
		e = err_new("%s may be any of %u containers:%s", name, hits.n, text.s);
	else if (all->n)
		e = err_new("container %s does not exist; containers:%s", name, text.s);
	else
		e = err_new("container %s does not exist: no control group below %s has a "
			    "container's name",
			    name, cgroup_mount(h));
	vec_free(&hits);
	vec_free(&whole);
	return e;
}

static int by_dir(const void *a, const void *b)
{
	return strcmp(((const struct container *)a)->dir, ((const struct container *)b)->dir);
}

struct err *cgroup_container(struct host *h, const char *name, const char **dir)
{
	containers all = {0};
	const char *root = cgroup_mount(h);
	if (!*name)
		return err_new("the name of a container is empty");
	scan(h, root, STR(""), 0, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_dir);
	docker_names(h, &all);
	podman_names(h, &all);
	struct err *e = choose(h, name, &all, dir);
	vec_free(&all);
	return e ? e : is_version_2(h, name, *dir);
}

/* Looked up once. */
struct known_group {
	u64 id;
	const char *container;
	struct known_group *next;
};

/* Of the innermost container on the way to path. */
static const char *container_on(struct host *h, const char *path)
{
	containers all = {0};
	struct container c;
	struct str rest = str_z(path), part, parent = STR("");
	const char *name = NULL;
	while (str_cut(&rest, '/', &part)) {
		if (part.n && recognize(h->arena, parent, part, &c))
			vec_add(&all, c);
		parent = part;
	}
	docker_names(h, &all);
	podman_names(h, &all);
	if (all.n) {
		c = all.v[all.n - 1];
		name = c.name.n ? arena_strz(h->arena, c.name)
				: arena_fmt(h->arena, "%.*s", ID_SHOWN, c.id.s);
	}
	vec_free(&all);
	return name;
}

const char *cgroup_container_of(struct host *h, u64 id)
{
	struct known_group *g = h->groups;
	while (g && g->id != id)
		g = g->next;
	if (!g) {
		const char *path = proc_cgroup_path(h, id);
		g = arena_new(h->arena, struct known_group);
		*g = (struct known_group){id, path ? container_on(h, path) : NULL, h->groups};
		h->groups = g;
	}
	return g->container;
}

/* ---- processes ---- */

static int first_process(struct host *h, const char *dir, u32 depth)
{
	struct str text, line;
	u64 pid = 0;
	struct err *e = host_read(h, &text, "%s/cgroup.procs", dir + strlen(h->root));
	while (!e && !pid && str_cut(&text, '\n', &line))
		if (!str_u64(line, &pid))
			pid = 0;
	err_free(e);
	DIR *d = pid || depth == MAX_DEPTH ? NULL : opendir(dir);
	for (struct dirent *f; d && !pid && (f = readdir(d));)
		if (f->d_name[0] != '.' && f->d_type == DT_DIR)
			pid = (u64)first_process(h, arena_fmt(h->arena, "%s/%s", dir, f->d_name),
						 depth + 1);
	if (d)
		closedir(d);
	return (int)pid;
}

int cgroup_any_process(struct host *h, const char *dir)
{
	return first_process(h, dir, 0);
}
