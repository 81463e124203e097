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

static bool is_label(struct str s)
{
	struct str key;
	bool good = str_cut(&s, '=', &key) && key.n && s.n;
	for (u32 i = 0; good && i < key.n + s.n; i++)
		good = is_plain(i < key.n ? key.s[i] : s.s[i - key.n]);
	return good;
}

/* The value that labels have for the key of this one; .s NULL: none. */
static struct str value_of(struct str labels, struct str label)
{
	struct str key, line, other;
	str_cut(&label, '=', &key);
	while (labels.n && str_cut(&labels, '\n', &line)) {
		str_cut(&line, '=', &other);
		if (str_eq(other, key))
			return line;
	}
	return (struct str){0};
}

/* Those of this line, to those that the host has. */
static struct err *add_labels(struct hosts *h, struct str name, struct str *labels)
{
	struct str rest = h->labels, one;
	AUTO_SB b = {0};
	sb_add(&b, *labels);
	while (rest.n && str_cut(&rest, '\n', &one)) {
		struct str had = value_of(sb_str(&b), one), value = value_of(one, one);
		if (had.s && !str_eq(had, value))
			return err_new("%.*s has the label %.*s, and %.*s before", STRF(name),
				       STRF(one), STRF(had));
		if (!had.s)
			sb_fmt(&b, "%s%.*s", b.n ? "\n" : "", STRF(one));
	}
	*labels = arena_str(&h->a, sb_str(&b));
	return NULL;
}

static struct err *add_name(struct hosts *h, struct str name)
{
	if (name.s[0] == '-')
		return bad_name(name, "it begins with '-'");
	for (u32 i = 0; i < name.n; i++)
		if (!is_plain(name.s[i]))
			return bad_name(name, "letters, digits and ._-:@/%+ are allowed");
	struct str *labels = tab_get(&h->seen, name);
	if (labels)
		return add_labels(h, name, labels);
	if (h->name.n == HOSTS_MAX)
		return err_new("more than %d hosts", HOSTS_MAX);
	name = arena_str(&h->a, name);
	labels = arena_new(&h->a, struct str);
	tab_add(&h->seen, name, labels);
	vec_add(&h->name, name);
	return add_labels(h, name, labels);
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

/* "web1 zone=a role=web": one name or pattern. */
static struct err *add_labelled(struct hosts *h, struct str line)
{
	AUTO_SB labels = {0};
	struct str word, name = {0};
	while (line.n && str_cut(&line, ' ', &word)) {
		if (!word.n)
			continue;
		if (!name.s) {
			name = word;
			continue;
		}
		if (!is_label(word)) {
			AUTO_SB b = {0};
			sb_visible(&b, word);
			return err_new("'%s' is no label: a line with labels is HOST KEY=VALUE ...",
				       b.s);
		}
		sb_fmt(&labels, "%s%.*s", labels.n ? "\n" : "", STRF(word));
	}
	h->labels = sb_str(&labels);
	struct err *e = hosts_add(h, name);
	h->labels = (struct str){0};
	return e;
}

struct err *hosts_add_lines(struct hosts *h, struct str text)
{
	struct err *e = NULL;
	struct str line;
	for (u32 n = 1; !e && text.n && str_cut(&text, '\n', &line); n++) {
		AUTO_SB b = {0};
		struct str words = {0};
		str_cut(&line, '#', &words);
		for (u32 i = 0; i < words.n; i++)
			sb_char(&b, strchr("\t\r", words.s[i]) ? ' ' : words.s[i]);
		bool labels = str_chr(words, '=') >= 0;
		e = labels ? add_labelled(h, sb_str(&b)) : hosts_add(h, words);
		if (e)
			e = err_wrap(e, "line %u: ", n);
	}
	return e;
}

struct str hosts_labels(const struct hosts *h, struct str name)
{
	const struct str *labels = tab_get(&h->seen, name);
	return labels ? *labels : STR("");
}

void hosts_free(struct hosts *h)
{
	vec_free(&h->name);
	tab_free(&h->seen);
	arena_free(&h->a);
}
