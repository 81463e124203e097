/*
 * mappings.c - 562b177b5000-562b177ba000 r-xp 00002000 fe:00 247134   /usr/bin/cat
 *
 * Only mappings that may be executed are kept, of files, of generated code and the kernel's [vdso]:
 * the stacks and symbols that ask lie there.
 */
#include "sym/mappings.h"
#include "base/file.h"
#include "base/vec.h"
#include "proc/paths.h"
#include <limits.h>
#include <stdio.h>

enum { MAX_MAPPINGS = 1 << 16, MAX_MAPS_TEXT = 1 << 26 };

static bool take_hex(struct str *s, u64 *ret)
{
	u64 v = 0;
	u32 i = 0;
	for (; i < s->n && i < 16; i++) {
		char c = s->s[i];
		if (c >= '0' && c <= '9')
			v = v << 4 | (u64)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (u64)(c - 'a' + 10);
		else
			break;
	}
	*s = str_from(*s, i);
	*ret = v;
	return i > 0;
}

static bool take_char(struct str *s, char c)
{
	if (!s->n || s->s[0] != c)
		return false;
	*s = str_from(*s, 1);
	return true;
}

static bool parse_line(struct str s, struct mapping *m, bool *exec)
{
	u64 major, minor;
	if (!take_hex(&s, &m->start) || !take_char(&s, '-') || !take_hex(&s, &m->end))
		return false;
	if (!take_char(&s, ' ') || s.n < 5)
		return false;
	*exec = s.s[2] == 'x';
	s = str_from(s, 5);
	if (!take_hex(&s, &m->off) || !take_char(&s, ' ') || !take_hex(&s, &major) ||
	    !take_char(&s, ':') || !take_hex(&s, &minor) || !take_char(&s, ' '))
		return false;
	m->dev = major << 32 | minor;
	struct str ino;
	if (!str_cut(&s, ' ', &ino) || !str_u64(ino, &m->ino))
		return false;
	m->path = s.s ? str_trim(s) : STR("");
	m->deleted = str_ends(m->path, STR(" (deleted)"));
	if (m->deleted)
		m->path.n -= 10;
	return true;
}

bool maps_is_made(struct str path)
{
	return !path.n || str_is(path, "//anon") || str_starts(path, STR("[anon:"));
}

bool maps_parse(struct str text, struct maps *ret)
{
	VEC(struct mapping) v = {0};
	struct maps m = {0};
	struct str line;
	while (v.n < MAX_MAPPINGS && str_cut(&text, '\n', &line)) {
		struct mapping x = {0};
		bool exec;
		if (!parse_line(line, &x, &exec) || !exec)
			continue;
		if (maps_is_made(x.path)) {
			x.path = STR("");
			x.off = MAPS_MADE;
		} else if (x.path.s[0] != '/' && !str_is(x.path, MAPS_VDSO)) {
			continue;
		}
		if (x.start >= x.end || (v.n && x.start < v.v[v.n - 1].end))
			continue;
		if (v.n && str_eq(v.v[v.n - 1].path, x.path))
			x.path = v.v[v.n - 1].path;
		else
			x.path = arena_str(&m.arena, x.path);
		vec_add(&v, x);
	}
	m.v = v.v;
	m.n = v.n;
	*ret = m;
	return m.n > 0;
}

bool maps_read(struct host *h, u32 pid, struct maps *ret)
{
	char path[PATH_MAX];
	AUTO_SB text = {0};
	proc_put(path, sizeof(path), h, (int)pid, "maps");
	struct maps m;
	if (file_read(path, MAX_MAPS_TEXT, &text))
		return false;
	if (!maps_parse(sb_str(&text), &m)) {
		maps_free(&m);
		return false;
	}
	*ret = m;
	return true;
}

void maps_free(struct maps *m)
{
	free(m->v);
	arena_free(&m->arena);
	*m = (struct maps){0};
}
