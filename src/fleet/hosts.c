/* hosts.c - see the header. */
#include "fleet/hosts.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-:@/%+", c));
}

static struct err *bad_name(struct str name, const char *why)
{
	AUTO_SB b = {0};
	sb_visible(&b, name);
	return err_new("'%s' is not a host name: %s", b.s ? b.s : "", why);
}

static struct err *add_name(struct hosts *h, struct str name)
{
	if (name.s[0] == '-')
		return bad_name(name, "it begins with '-'");
	for (u32 i = 0; i < name.n; i++)
		if (!is_plain(name.s[i]))
			return bad_name(name, "letters, digits and ._-:@/%+ are allowed");
	if (tab_get(&h->seen, name))
		return NULL;
	if (h->name.n == HOSTS_MAX)
		return err_new("more than %d hosts", HOSTS_MAX);
	name = arena_str(&h->a, name);
	tab_add(&h->seen, name, h);
	vec_add(&h->name, name);
	return NULL;
}

struct range {
	u64 first, last;
	u32 digits; /* of the first number, if it begins with 0; else 0 */
};

/* "01-40", or "7" */
static bool take_range(struct str text, struct range *ret)
{
	struct str from, to = text;
	str_cut(&to, '-', &from);
	to = to.s ? to : from;
	for (u32 i = 0; i < from.n + to.n; i++) {
		char c = i < from.n ? from.s[i] : to.s[i - from.n];
		if (c < '0' || c > '9')
			return false;
	}
	bool zeros = from.n > 1 && from.s[0] == '0';
	ret->digits = zeros ? from.n : 0;
	while (from.n > 1 && from.s[0] == '0') /* not octal */
		from = str_from(from, 1);
	while (to.n > 1 && to.s[0] == '0')
		to = str_from(to, 1);
	return str_u64(from, &ret->first) && str_u64(to, &ret->last) && ret->first <= ret->last &&
	       ret->last - ret->first < HOSTS_MAX;
}

/* before, each number of the list, and what is behind the brackets, which may have brackets again. */
static struct err *expand(struct hosts *h, struct str before, struct str rest)
{
	i32 open = str_chr(rest, '['), close = str_chr(rest, ']');
	AUTO_SB b = {0};
	if (open < 0 && close < 0) {
		sb_add(&b, before);
		sb_add(&b, rest);
		return add_name(h, sb_str(&b));
	}
	struct str list = str_n(rest.s + open + 1, (u32)MAX(close - open - 1, 0)), part;
	if (open < 0 || close < open || !list.n)
		return bad_name(rest, "numbers are written as in web[1-3,7]");
	while (str_cut(&list, ',', &part)) {
		struct range r;
		if (!take_range(part, &r))
			return bad_name(rest, "numbers are written as in web[1-3,7]");
		for (u64 n = r.first; n <= r.last; n++) {
			sb_clear(&b);
			sb_add(&b, before);
			sb_add(&b, str_n(rest.s, (u32)open));
			sb_fmt(&b, "%0*llu", (int)r.digits, n);
			struct err *e = expand(h, sb_str(&b), str_from(rest, (u32)close + 1));
			if (e)
				return e;
		}
	}
	return NULL;
}

/* Length of the name that text begins with; commas between brackets are part of it. */
static u32 name_length(struct str text)
{
	bool inside = false;
	u32 n = 0;
	for (; n < text.n && !strchr(" \t\r\n#", text.s[n]) && (inside || text.s[n] != ','); n++)
		inside = text.s[n] == '[' || (inside && text.s[n] != ']');
	return n;
}

struct err *hosts_add(struct hosts *h, struct str text)
{
	enum { NAME_MAX_BYTES = 255 };
	struct str comment;
	while (text.n) {
		u32 n = name_length(text);
		struct str name = str_n(text.s, n);
		if (n > NAME_MAX_BYTES)
			return bad_name(str_n(text.s, 40), "it is too long");
		struct err *e = n ? expand(h, STR(""), name) : NULL;
		if (e)
			return e;
		text = str_from(text, n);
		if (text.n && text.s[0] == '#') {
			str_cut(&text, '\n', &comment);
			continue;
		}
		text = str_from(text, text.n > 0);
	}
	return NULL;
}

void hosts_free(struct hosts *h)
{
	vec_free(&h->name);
	tab_free(&h->seen);
	arena_free(&h->a);
}
