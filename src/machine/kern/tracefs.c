/* tracefs.c - events, formats and traceable functions. */
#include "kern/tracefs.h"
#include "base/alloc.h"
#include "base/tab.h"
#include "base/vec.h"
#include "kern/link.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct event {
	struct str category, name;
};
typedef VEC(struct event) events;

static int by_name(const void *x, const void *y)
{
	const struct event *a = x, *b = y;
	int d = str_cmp(a->category, b->category);
	return d ? d : str_cmp(a->name, b->name);
}

/* available_events: "category:event" lines. False: no such file. */
static bool events_from_list(struct host *h, const char *dir, struct str category, struct str event,
			     events *v)
{
	struct str text, line;
	struct err *e = host_read(h, &text, "%s/available_events", dir);
	if (e) {
		err_free(e);
		return false;
	}
	while (str_cut(&text, '\n', &line)) {
		i32 at = str_chr(line, ':');
		if (at <= 0)
			continue;
		struct event ev = {str_n(line.s, (size_t)at), str_from(line, (u32)at + 1)};
		if (str_glob(category, ev.category) && str_glob(event, ev.name))
			vec_add(v, ev);
	}
	return true;
}

static bool is_event(const char *dir, const char *name)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s/format", dir, name);
	struct stat st;
	return n > 0 && (size_t)n < sizeof(path) && !stat(path, &st);
}

static void events_from_dir(struct host *h, const char *dir, struct str category, struct str event,
			    events *v)
{
	const char *path = arena_fmt(h->arena, "%s%s/events/%.*s", h->root, dir, STRF(category));
	DIR *d = opendir(path);
	if (!d)
		return;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && str_glob(event, str_z(e->d_name)) &&
		    is_event(path, e->d_name))
			vec_add(v, (struct event){category, arena_str(h->arena, str_z(e->d_name))});
	closedir(d);
}

static void events_from_dirs(struct host *h, const char *dir, struct str category, struct str event,
			     events *v)
{
	DIR *d = opendir(arena_fmt(h->arena, "%s%s/events", h->root, dir));
	if (!d)
		return;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && str_glob(category, str_z(e->d_name)))
			events_from_dir(h, dir, arena_str(h->arena, str_z(e->d_name)), event, v);
	closedir(d);
}

static bool plain_name(struct str s)
{
	return s.n && str_chr(s, '/') < 0 && s.s[0] != '.';
}

struct err *tracefs_events(struct host *h, struct str category, struct str event, event_cb *cb,
			   void *arg)
{
	const char *dir;
	struct err *e = host_tracefs(h, &dir);
	if (e)
		return e;
	if (!plain_name(category) || !plain_name(event))
		return NULL;
	events v = {0};
	if (str_is_glob(category)) {
		if (!events_from_list(h, dir, category, event, &v))
			events_from_dirs(h, dir, category, event, &v);
	} else if (str_is_glob(event)) {
		events_from_dir(h, dir, category, event, &v);
	} else if (is_event(arena_fmt(h->arena, "%s%s/events/%.*s", h->root, dir, STRF(category)),
			    arena_strz(h->arena, event))) {
		vec_add(&v, (struct event){category, event});
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_name);
	for (u32 i = 0; i < v.n; i++)
		if (!cb(v.v[i].category, v.v[i].name, arg))
			break;
	vec_free(&v);
	return NULL;
}

static struct err *event_file(struct host *h, struct str category, struct str event,
			      const char *file, struct str *text)
{
	const char *dir;
	struct err *e = host_tracefs(h, &dir);
	if (e)
		return e;
	assert(plain_name(category) && plain_name(event)); /* tracefs_events() gives no others */
	return host_read(h, text, "%s/events/%.*s/%.*s/%s", dir, STRF(category), STRF(event), file);
}

struct err *tracefs_format(struct host *h, struct str category, struct str event, struct str *text)
{
	return event_file(h, category, event, "format", text);
}

struct err *tracefs_id(struct host *h, struct str category, struct str event, u64 *id)
{
	struct str s;
	struct err *e = event_file(h, category, event, "id", &s);
	if (e)
		return e;
	if (!str_u64(str_trim(s), id))
		return err_new("the id of tracepoint %.*s:%.*s is not a number", STRF(category),
			       STRF(event));
	return NULL;
}

/* "name" or "name [module]" and what follows a blank elsewhere. */
static void split_module(struct str line, struct str *func, struct str *module)
{
	*module = STR("");
	i32 open = str_chr(line, '[');
	i32 end = -1;
	for (u32 i = 0; i < line.n && end < 0; i++)
		if (line.s[i] == ' ' || line.s[i] == '\t')
			end = (i32)i;
	*func = end < 0 ? line : str_n(line.s, (size_t)end);
	if (open > 0) {
		*module = str_from(line, (u32)open + 1);
		i32 close = str_chr(*module, ']');
		module->n = close < 0 ? 0 : (u32)close;
	}
}

/* Names that cannot be probed although they are listed, or that no wildcard means. */
static bool is_noise(struct str glob, struct str func)
{
	return str_starts(func, STR("__ftrace_invalid_address___")) ||
	       (str_find(func, STR(".part.")) >= 0 && str_chr(glob, '.') < 0) ||
	       str_find(func, STR(".cold")) >= 0;
}

/* The next line at or behind *at where the name stands behind that character. */
static bool next_line(struct str text, char before, struct str name, u32 *at, struct str *line)
{
	while (name.n && *at < text.n) {
		const char *end = text.s + text.n,
			   *hit = memmem(text.s + *at, text.n - *at, name.s, name.n);
		if (!hit)
			break;
		const char *behind = hit + name.n;
		*at = (u32)(behind - text.s);
		bool begins = hit == text.s ? before == '\n' : hit[-1] == before;
		if (!begins || (behind < end && !strchr("\n\t ", *behind)))
			continue;
		const char *start = memrchr(text.s, '\n', (size_t)(hit - text.s)),
			   *stop = memchr(behind, '\n', (size_t)(end - behind));
		start = start ? start + 1 : text.s;
		*line = str_n(start, (size_t)((stop ? stop : end) - start));
		return true;
	}
	*at = text.n;
	return false;
}

static void functions_from_list(struct str text, struct str glob, func_cb *cb, void *arg)
{
	struct str line, func, module;
	bool wild = str_is_glob(glob);
	u32 at = 0;
	while (wild ? str_cut(&text, '\n', &line) : next_line(text, '\n', glob, &at, &line)) {
		if (!line.n)
			continue;
		split_module(line, &func, &module);
		if (wild && (!str_glob(glob, func) || is_noise(glob, func)))
			continue;
		if (!cb(func, module, arg))
			break;
	}
}

/* Some megabytes, which the kernel takes tens of milliseconds to write. Empty: there is no list. */
static struct str list_of_functions(struct host *h)
{
	const char *dir;
	if (h->functions.s)
		return h->functions;
	struct err *e = host_tracefs(h, &dir);
	if (!e)
		e = host_read(h, &h->functions, "%s/available_filter_functions", dir);
	if (e)
		h->functions = STR("");
	err_free(e);
	return h->functions;
}

/* The same of this one. */
static struct err *kallsyms(struct host *h, struct str *text)
{
	struct err *e = h->kallsyms.n ? NULL : host_read(h, &h->kallsyms, KALLSYMS);
	*text = h->kallsyms;
	return e;
}

/* "ffffffff81000000 T name [module]" */
static bool kallsyms_line(struct str line, u64 *addr, char *kind, struct str *rest)
{
	i32 sp = str_chr(line, ' ');
	if (sp <= 0 || sp > 16 || line.n < (u32)sp + 4)
		return false;
	*addr = 0;
	for (i32 i = 0; i < sp; i++) {
		char c = line.s[i];
		u64 digit = c >= '0' && c <= '9'   ? (u64)(c - '0')
			    : c >= 'a' && c <= 'f' ? (u64)(c - 'a' + 10)
						   : 16;
		if (digit > 15)
			return false;
		*addr = *addr << 4 | digit;
	}
	*kind = line.s[sp + 1];
	*rest = str_from(line, (u32)sp + 3);
	return true;
}

static void functions_from_kallsyms(struct str text, struct str glob, func_cb *cb, void *arg)
{
	struct str line, rest, func, module;
	bool wild = str_is_glob(glob);
	u64 addr;
	u32 at = 0;
	char kind;
	while (wild ? str_cut(&text, '\n', &line) : next_line(text, ' ', glob, &at, &line)) {
		if (!kallsyms_line(line, &addr, &kind, &rest) || !strchr("tTwW", kind))
			continue;
		split_module(rest, &func, &module);
		bool fits = wild ? str_glob(glob, func) : str_eq(glob, func);
		if (!fits || (wild && (is_noise(glob, func) || str_is(module, "bpf"))))
			continue;
		if (!cb(func, module, arg))
			break;
	}
}

struct err *tracefs_functions(struct host *h, struct str glob, func_cb *cb, void *arg)
{
	struct str text = list_of_functions(h);
	if (text.n) {
		functions_from_list(text, glob, cb, arg);
		return NULL;
	}
	struct err *e = kallsyms(h, &text);
	if (!e)
		functions_from_kallsyms(text, glob, cb, arg);
	return e;
}

void tracefs_symbols(struct host *h, struct probe_place *v, u32 n)
{
	struct str text, line, rest, func, module;
	struct tab by_name = {0};
	u64 addr, start = 0;
	char kind;
	struct err *e = kallsyms(h, &text);
	u64 *at = xcalloc(n + 1, sizeof(*at));
	for (u32 i = 0; i < n && !e; i++)
		tab_set(&by_name, str_z(v[i].func), &v[i]);
	while (!e && str_cut(&text, '\n', &line)) {
		if (!kallsyms_line(line, &addr, &kind, &rest))
			continue;
		split_module(rest, &func, &module);
		if (str_is(func, "_stext"))
			start = addr;
		const struct probe_place *p = tab_get(&by_name, func);
		if (p) /* twice: none */
			at[p - v] = at[p - v] || module.n ? UINT64_MAX : addr;
	}
	for (u32 i = 0; i < n; i++)
		v[i].off = start && at[i] > start && at[i] != UINT64_MAX ? at[i] - start : 0;
	free(at);
	tab_free(&by_name);
	err_free(e);
}

u64 tracefs_symbol(struct host *h, struct str name)
{
	struct str text, line, rest, func, module;
	u64 addr;
	u32 at = 0;
	char kind;
	struct err *e = kallsyms(h, &text);
	if (e) {
		err_free(e);
		return 0;
	}
	while (next_line(text, ' ', name, &at, &line)) {
		if (!kallsyms_line(line, &addr, &kind, &rest))
			continue;
		split_module(rest, &func, &module);
		if (str_eq(func, name))
			return addr;
	}
	return 0;
}

/* The next one of that name of the kernel itself. */
static bool next_named(struct str text, struct str name, u32 *at, u64 *addr, char *kind)
{
	struct str line, rest;
	while (next_line(text, ' ', name, at, &line))
		if (kallsyms_line(line, addr, kind, &rest) && str_eq(rest, name))
			return true;
	return false;
}

u32 tracefs_addresses(struct host *h, struct str name, u64 *addr, u32 max)
{
	struct str text;
	u64 a, start = 0, end = UINT64_MAX;
	u32 at = 0, n = 0;
	char kind;
	struct err *e = kallsyms(h, &text);
	if (e) {
		err_free(e);
		return 0;
	}
	if (next_named(text, STR("_stext"), &at, &a, &kind))
		start = a;
	at = 0;
	if (next_named(text, STR("_etext"), &at, &a, &kind))
		end = a;
	for (at = 0; next_named(text, name, &at, &a, &kind);) {
		if (!strchr("tTwW", kind) || !a || a < start || a >= end)
			continue;
		if (n < max)
			addr[n] = a;
		n++;
	}
	return n;
}

u64 tracefs_symbol_end(struct host *h, u64 addr)
{
	struct str text, line, rest;
	u64 at, end = 0;
	char kind;
	struct err *e = kallsyms(h, &text);
	while (!e && str_cut(&text, '\n', &line))
		if (kallsyms_line(line, &at, &kind, &rest) && at > addr && (!end || at < end))
			end = at;
	err_free(e);
	return end;
}

static int by_from(const void *pa, const void *pb)
{
	const struct place_range *a = pa, *b = pb;
	return (a->from > b->from) - (a->from < b->from);
}

/* Each ends where the next symbol is. */
static void find_sizes(struct str text, struct place_range *v, u32 n)
{
	struct str line, rest;
	u64 addr;
	char kind;
	while (str_cut(&text, '\n', &line)) {
		if (!kallsyms_line(line, &addr, &kind, &rest))
			continue;
		u32 lo = 0, hi = n;
		while (lo < hi) {
			u32 mid = lo + (hi - lo) / 2;
			if (v[mid].from < addr)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo)
			v[lo - 1].size = MIN(v[lo - 1].size, addr - v[lo - 1].from);
	}
}

static u32 find_ranges(struct host *h, struct str begin, struct place_range *v, u32 max)
{
	enum { MAX_SIZE = 1 << 24 }; /* no function is this large */
	struct str text, left, line, rest, func, module;
	u64 addr;
	char kind;
	u32 n = 0, kept = 0;
	struct err *e = kallsyms(h, &text);
	left = text;
	while (!e && n < max && str_cut(&left, '\n', &line)) {
		if (!kallsyms_line(line, &addr, &kind, &rest) || !strchr("tTwW", kind) || !addr)
			continue;
		split_module(rest, &func, &module);
		if (str_starts(func, begin))
			v[n++] = (struct place_range){addr, MAX_SIZE};
	}
	if (!e) {
		qsort(v, n, sizeof(*v), by_from);
		for (u32 i = 0; i < n; i++) /* some have several names */
			if (!kept || v[kept - 1].from != v[i].from)
				v[kept++] = v[i];
		find_sizes(text, v, kept);
	}
	err_free(e);
	return n < max ? kept : max;
}

/* What was asked before: it takes a pass over all symbols. */
struct ranges {
	struct str begin;
	u32 n, max;
	struct place_range *v;
	struct ranges *next;
};

const struct place_range *tracefs_ranges(struct host *h, struct str begin, u32 max, u32 *n)
{
	struct ranges *r = h->ranges;
	while (r && (!str_eq(r->begin, begin) || r->max != max))
		r = r->next;
	if (!r) {
		r = arena_new(h->arena, struct ranges);
		*r = (struct ranges){.begin = arena_str(h->arena, begin), .max = max};
		r->v = arena_newn(h->arena, struct place_range, max);
		r->n = find_ranges(h, begin, r->v, max);
		r->next = h->ranges;
		h->ranges = r;
	}
	*n = r->n;
	return r->v;
}

bool tracefs_symbols_hidden(struct host *h)
{
	struct str text, line, rest;
	u64 at, n = 0;
	char kind;
	struct err *e = kallsyms(h, &text);
	while (!e && str_cut(&text, '\n', &line)) {
		if (!kallsyms_line(line, &at, &kind, &rest))
			continue;
		if (at)
			return false;
		n++;
	}
	err_free(e);
	return n;
}
