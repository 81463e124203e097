/* labels.c - see labels.h. */
#include "answer/labels.h"
#include <ctype.h>

enum { MAX_VALUE = 255 };

/* "": there is none. */
static struct str value_of(struct arena *a, struct str labels, char between, struct str key)
{
	struct str label, name;
	AUTO_SB b = {0};
	while (labels.n && str_cut(&labels, between, &label)) {
		if (!str_cut(&label, '=', &name) || !str_eq(name, key))
			continue;
		sb_visible(&b, str_n(label.s, MIN(label.n, (u32)MAX_VALUE)));
		return arena_str(a, sb_str(&b));
	}
	return STR("");
}

bool labels_is_name(struct str s)
{
	for (u32 i = 0; i < s.n; i++)
		if (!isalnum((u8)s.s[i]) && !memchr("._-:@/%+", s.s[i], 8))
			return false;
	return s.n && s.n <= MAX_VALUE;
}

bool labels_is_label(struct str s)
{
	struct str key;
	return str_cut(&s, '=', &key) && labels_is_name(key) && labels_is_name(s);
}

static void find_of_hosts(struct arena *a, struct labels *l, struct str key)
{
	struct str rest = l->hosts, line, host;
	for (bool first = true; rest.n && str_cut(&rest, '\n', &line); first = false) {
		str_cut(&line, '\t', &host);
		struct str *v = arena_new(a, struct str);
		*v = value_of(a, line, '\t', key);
		l->none |= !v->n;
		if (!v->n)
			*v = STR(LABEL_NONE);
		tab_set(&l->of, arena_str(a, host), v);
		l->value = first || str_eq(l->value, *v) ? *v : STR(LABEL_NONE);
	}
}

void labels_find(struct arena *a, struct labels *l, struct str key)
{
	l->value = value_of(a, l->all, '\n', key);
	if (!l->value.n)
		find_of_hosts(a, l, key);
	l->none |= !l->value.n;
	if (!l->value.n)
		l->value = STR(LABEL_NONE);
}

struct str labels_of(const struct labels *l, struct str host)
{
	const struct str *v = host.n ? tab_get(&l->of, host) : NULL;
	return v ? *v : host.n && l->hosts.n ? STR(LABEL_NONE) : l->value;
}

void labels_put(struct sb *b, const struct labels *l, struct str host)
{
	struct str rest = l->all, label;
	if (l->hosts.n) {
		sb_add(b, l->hosts);
		return;
	}
	sb_visible(b, host);
	while (rest.n && str_cut(&rest, '\n', &label)) {
		sb_char(b, '\t');
		sb_visible(b, label);
	}
	sb_char(b, '\n');
}

void labels_free(struct labels *l)
{
	tab_free(&l->of);
}
