/* board.c - the setting "panes" of a script; see board.h. */
#include "live/board.h"
#include "core/unit.h"

static bool is_map(const struct unit *u, struct str name)
{
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && str_eq(u->map[i]->name, name))
			return true;
	return str_is(name, WATCH_PROGRAMS);
}

static struct err *add_map(const struct unit *u, struct board_pane *p, struct str name)
{
	if (!is_map(u, name))
		return err_new("panes: the script has no map %.*s", STRF(name));
	if (p->nmap == BOARD_MAPS)
		return err_new("panes: more than %d maps in the pane of %.*s", BOARD_MAPS,
			       STRF(p->map[0]));
	p->map[p->nmap++] = name;
	return NULL;
}

/* The words before the colon. */
static struct err *read_words(const struct unit *u, struct board_pane *p, struct str rest)
{
	struct str word;
	bool by = false, shed = false;
	u64 n;
	while (str_cut(&rest, ' ', &word)) {
		struct err *e = NULL;
		word = str_trim(word);
		if (!word.n)
			continue;
		if (by) {
			p->by = word;
			e = view_sorts_by(word) ? NULL
						: err_new("panes: '%.*s' is no column", STRF(word));
			by = false;
		} else if (shed) {
			shed = false;
			p->shed = str_u64(word, &n) && n && n < UINT32_MAX ? (u32)n : 0;
			e = p->shed ? NULL
				    : err_new("panes: 'shed' needs a number from 1 on (got '%.*s')",
					      STRF(word));
		} else if (word.s[0] == '@' || str_is(word, WATCH_PROGRAMS)) {
			e = add_map(u, p, word);
		} else if (str_is(word, "by")) {
			by = true;
		} else if (str_is(word, "shed")) {
			shed = true;
		} else if (view_named(word)) {
			p->view = view_named(word);
		} else {
			e = err_new("panes: '%.*s' is neither a map nor a view", STRF(word));
		}
		if (e)
			return e;
	}
	return by     ? err_new("panes: 'by' needs a column")
	       : shed ? err_new("panes: 'shed' needs a number")
		      : NULL;
}

struct err *board_read(struct arena *a, const struct unit *u, struct board *ret)
{
	struct str rest = u->config.panes, entry, head;
	struct err *e = NULL;
	u32 most = 1;
	for (u32 i = 0; i < rest.n; i++)
		most += rest.s[i] == ';';
	*ret = (struct board){.pane = arena_newn(a, struct board_pane, most)};
	while (!e && str_cut(&rest, ';', &entry)) {
		struct board_pane *p = &ret->pane[ret->n];
		*p = (struct board_pane){0};
		entry = str_trim(entry);
		if (!entry.n)
			continue;
		str_cut(&entry, ':', &head);
		e = read_words(u, p, head);
		if (!e && !p->nmap)
			e = err_new("panes: '%.*s' names no map", STRF(str_trim(head)));
		p->title = str_trim(entry);
		ret->n++;
	}
	return e;
}

const struct board_pane *board_find(const struct board *b, struct str map, bool *first)
{
	for (u32 i = 0; i < b->n; i++)
		for (u32 k = 0; k < b->pane[i].nmap; k++)
			if (str_eq(b->pane[i].map[k], map)) {
				*first = !k;
				return &b->pane[i];
			}
	return NULL;
}
