/* ksyms.c - kernel symbols. Reading kallsyms takes 40 ms, so nobody asks before a name is to be
 * shown. */
#include "sym/ksyms.h"
#include "base/file.h"
#include "base/vec.h"
#include "kern/tracefs.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

enum {
	MAX_KALLSYMS = 1 << 28,
	MAX_GAP =
		1 << 24, /* no function is this large: an address further behind one is not in it */
};

void ksyms_free(struct ksyms *k)
{
	sb_free(&k->text);
	free(k->v);
	*k = (struct ksyms){0};
}

static u64 parse_hex(const char **p, const char *end)
{
	u64 v = 0;
	for (; *p < end; (*p)++) {
		char c = **p;
		u32 digit = c >= '0' && c <= '9'   ? (u32)(c - '0')
			    : c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10
						   : 16;
		if (digit > 15)
			break;
		v = v << 4 | digit;
	}
	return v;
}

/* "ffffffff81000000 T _text" or "... t name\t[module]"; the name's offset, 0: a malformed line. */
static u32 parse_line(const struct sb *text, const char *line, const char *end, u64 *addr,
		      char *kind)
{
	const char *p = line;
	*addr = parse_hex(&p, end);
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return 0;
	*kind = p[1];
	return (u32)(p + 3 - text->s);
}

static int by_addr(const void *pa, const void *pb)
{
	const struct ksym *a = pa, *b = pb;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void load(struct ksyms *k, struct host *h)
{
	char path[PATH_MAX];
	VEC(struct ksym) v = {0};
	bool sorted = true;
	if (k->tried)
		return;
	k->tried = true;
	snprintf(path, sizeof(path), "%s" KALLSYMS, h->root);
	if (file_read(path, MAX_KALLSYMS, &k->text))
		return;
	const char *p = k->text.s, *end = p + k->text.n;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		u64 addr;
		char kind;
		u32 name = parse_line(&k->text, p, nl ? nl : end, &addr, &kind);
		if (name && addr && (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W')) {
			sorted &= !v.n || v.v[v.n - 1].addr <= addr;
			vec_add(&v, (struct ksym){addr, name});
		}
		p = nl ? nl + 1 : end;
	}
	if (!sorted)
		qsort(v.v, v.n, sizeof(*v.v), by_addr);
	k->v = v.v;
	k->n = v.n;
}

static void fill(const struct ksyms *k, const struct ksym *s, struct symbol *ret)
{
	const char *p = k->text.s + s->line, *end = k->text.s + k->text.n;
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	struct str rest = {p, (u32)((nl ? nl : end) - p)};
	str_cut(&rest, '\t', &ret->name);
	ret->module = STR("");
	if (rest.s && rest.n > 2 && rest.s[0] == '[')
		ret->module = (struct str){rest.s + 1, rest.n - 2};
}

bool ksyms_at(struct ksyms *k, struct host *h, u64 addr, struct symbol *ret)
{
	load(k, h);
	u32 lo = 0, hi = k->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (k->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - k->v[lo - 1].addr > MAX_GAP)
		return false;
	u32 i = lo - 1;
	while (i && k->v[i - 1].addr ==
			    k->v[i].addr) /* the kernel, too, shows the first of several names */
		i--;
	struct symbol s = {.addr = k->v[i].addr, .off = addr - k->v[i].addr};
	if (lo < k->n)
		s.size = k->v[lo].addr - s.addr;
	fill(k, &k->v[i], &s);
	*ret = s;
	return true;
}

/* Data, too: &jiffies. One pass over the text; nobody asks for many. */
bool ksyms_addr(struct ksyms *k, struct host *h, struct str name, u64 *ret)
{
	load(k, h);
	const char *p = k->text.s, *end = p + k->text.n;
	while (name.n && p && p < end && (p = memmem(p, (size_t)(end - p), name.s, name.n))) {
		const char *line = p, *after = p + name.n;
		while (line > k->text.s && line[-1] != '\n')
			line--;
		u64 addr;
		char kind;
		bool whole = after == end || *after == '\n' || *after == '\t';
		u32 at = whole ? parse_line(&k->text, line, after, &addr, &kind) : 0;
		if (at && k->text.s + at == p && addr) {
			*ret = addr;
			return true;
		}
		p = after;
	}
	return false;
}
