#include "base/opt.h"

enum { HELP_COLUMN = 28 };

struct scan {
	const struct opt *table;
	int argc, at; /* at: next word to look at */
	char **argv;
	opt_set *set;
	void *self;
};

/* By full name or by the only name that begins so; *many: several do. */
static const struct opt *find_long(const struct opt *table, struct str name, bool *many)
{
	const struct opt *hit = NULL;
	*many = false;
	for (const struct opt *o = table; o->id; o++) {
		if (!o->name || !str_starts(str_z(o->name), name))
			continue;
		if (str_is(name, o->name)) {
			*many = false;
			return o;
		}
		*many |= hit && hit->id != o->id;
		hit = hit ? hit : o;
	}
	return hit;
}

const struct opt *opt_named(const struct opt *table, const char *word)
{
	bool many;
	if (word[0] != '-' || word[1] != '-')
		return NULL;
	struct str name = str_n(word + 2, strcspn(word + 2, "="));
	const struct opt *o = find_long(table, name, &many);
	return o && str_is(name, o->name) ? o : NULL;
}

static const struct opt *find_short(const struct opt *table, char c)
{
	for (const struct opt *o = table; o->id; o++)
		if (o->shrt == c)
			return o;
	return NULL;
}

static struct err *long_option(struct scan *s, char *word)
{
	char *eq = strchr(word, '=');
	struct str name = str_n(word + 2, eq ? (size_t)(eq - word - 2) : strlen(word + 2));
	bool many;
	const struct opt *o = find_long(s->table, name, &many);
	const char *val = eq ? eq + 1 : NULL;
	if (!o)
		return err_new("unrecognized option '--%.*s'", STRF(name));
	if (many)
		return err_new("option '--%.*s' is ambiguous", STRF(name));
	if (!o->arg && val)
		return err_new("option '--%s' doesn't allow an argument", o->name);
	bool optional = o->arg && o->arg[0] == '['; /* only behind "=" */
	if (o->arg && !val && !optional) {
		if (s->at == s->argc)
			return err_new("option '--%s' requires an argument", o->name);
		val = s->argv[s->at++];
	}
	return s->set(s->self, o->id, val);
}

static bool takes_numbers(const struct opt *o)
{
	while (o->name || o->shrt)
		o++;
	return o->id == OPT_NUMBERS;
}

static struct err *short_options(struct scan *s, char *word)
{
	for (char *p = word + 1; *p; p++) {
		const struct opt *o = find_short(s->table, *p);
		if (!o && p == word + 1 && *p >= '0' && *p <= '9' && takes_numbers(s->table))
			return err_new("'%s' is no option, and operands are not negative", word);
		if (!o)
			return err_new("invalid option -- '%c'", *p);
		const char *val = NULL;
		if (o->arg && o->arg[0] != '[') {
			if (!p[1] && s->at == s->argc)
				return err_new("option requires an argument -- '%c'", *p);
			val = p[1] ? p + 1 : s->argv[s->at++];
		}
		struct err *e = s->set(s->self, o->id, val);
		if (e || val)
			return e;
	}
	return NULL;
}

struct err *opt_parse(const struct opt *table, int argc, char **argv, opt_set *set, void *self,
		      char **rest, int *nrest, int *ndash)
{
	struct scan s = {table, argc, 1, argv, set, self};
	bool dash = false;
	*nrest = 0;
	*ndash = -1;
	while (s.at < argc) {
		char *word = argv[s.at++];
		struct err *e = NULL;
		if (dash || word[0] != '-' || !word[1]) {
			rest[(*nrest)++] = word;
		} else if (!strcmp(word, "--")) {
			dash = true;
			*ndash = *nrest;
		} else {
			e = word[1] == '-' ? long_option(&s, word) : short_options(&s, word);
		}
		if (e)
			return e;
	}
	if (*ndash < 0)
		*ndash = *nrest;
	return NULL;
}

static bool takes_next(const struct opt *table, const char *word)
{
	bool many;
	const char *eq = strchr(word, '=');
	const struct opt *o = NULL;
	if (word[1] == '-')
		o = eq ? NULL : find_long(table, str_z(word + 2), &many);
	for (const char *p = word + 1; word[1] != '-' && *p; p++) {
		o = find_short(table, *p);
		if (!o || o->arg)
			return o && o->arg[0] != '[' && !p[1];
	}
	return o && o->arg && o->arg[0] != '[';
}

int opt_first_operand(const struct opt *table, int argc, char **argv)
{
	int i = 1;
	while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += takes_next(table, argv[i]) ? 2 : 1;
	return MIN(i, argc);
}

void opt_help(const struct opt *table, FILE *f)
{
	for (const struct opt *o = table; o->id; o++) {
		if (!o->help)
			continue;
		AUTO_SB b = {0};
		sb_z(&b, "    ");
		if (o->shrt)
			sb_fmt(&b, "-%c", o->shrt);
		if (o->name)
			sb_fmt(&b, "%s--%s", o->shrt ? ", " : "", o->name);
		if (o->arg)
			sb_fmt(&b, "%s%s", o->arg[0] == '[' ? "" : " ", o->arg);
		if (b.n + 1 < HELP_COLUMN)
			sb_pad(&b, ' ', HELP_COLUMN - b.n);
		else
			sb_z(&b, "  ");
		fprintf(f, "%s%s\n", b.s, o->help);
	}
}
