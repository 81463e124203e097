/* conf.c - see the header. */
#include "agent/conf.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static const u64 default_ns = 600ull * SECOND_NS, default_cpu = 20000, default_memory = 256 << 20;
enum { DEFAULT_RUNNING = 4, LEAST_MEMORY = 32 << 20 };
#define DEFAULT_SIGNERS "/etc/sonde/allowed_signers"
#define DEFAULT_STATE   "/var/lib/sonde-agent"

/* The text and what is read of it. */
struct reader {
	struct conf *c;
	const char *file;
	u32 line;
	struct str rest, text; /* text: the line */
	u32 seen;              /* keys, a bit for each */
	bool labels;           /* behind [labels] */
};

/* ---- values ---- */

static struct err *set_text(struct conf *c, struct str v, const char **ret)
{
	*ret = arena_strz(&c->a, v);
	return NULL;
}

static struct err *set_path(struct conf *c, struct str v, const char **ret)
{
	if (v.s[0] != '/')
		return err_new("a path from / on is needed (got '%.*s')", STRF(v));
	return set_text(c, v, ret);
}

/* A part of a list: without blanks around it, and what is behind the comma. */
static bool next_part(struct str *rest, struct str *part)
{
	bool more = str_cut(rest, ',', part);
	*part = str_trim(*part);
	return more;
}

static struct err *set_url(struct conf *c, struct str v)
{
	struct str rest = v, part;
	while (next_part(&rest, &part))
		if (!str_starts(part, STR("nats://")) && !str_starts(part, STR("tls://")))
			return err_new("a server is written as in tls://HOST:4222 (got '%.*s')",
				       STRF(part));
	return set_text(c, v, &c->url);
}

static struct err *set_nkey(struct conf *c, struct str v)
{
	enum { NKEY = 56 };
	if (v.n != NKEY || v.s[0] != 'U')
		return err_new("a public key of a user is needed: %d characters, beginning with U "
			       "(got '%.*s')",
			       NKEY, STRF(v));
	return set_text(c, v, &c->nkey);
}
static struct err *set_nkey_seed(struct conf *c, struct str v)
{
	return set_path(c, v, &c->nkey_seed);
}
static struct err *set_tls_ca(struct conf *c, struct str v)
{
	return set_path(c, v, &c->tls_ca);
}
static struct err *set_tls_cert(struct conf *c, struct str v)
{
	return set_path(c, v, &c->tls_cert);
}
static struct err *set_tls_key(struct conf *c, struct str v)
{
	return set_path(c, v, &c->tls_key);
}
static struct err *set_key(struct conf *c, struct str v)
{
	return set_path(c, v, &c->key);
}
static struct err *set_allowed_signers(struct conf *c, struct str v)
{
	return set_path(c, v, &c->allowed_signers);
}
static struct err *set_sonde(struct conf *c, struct str v)
{
	return set_path(c, v, &c->sonde);
}
static struct err *set_state(struct conf *c, struct str v)
{
	return set_path(c, v, &c->state);
}

/* Of a name or a label: "$NAME" is what the environment says. */
static struct err *take_name(struct conf *c, struct str v, struct str *ret)
{
	*ret = v;
	if (v.s[0] == '$') {
		const char *env = getenv(arena_strz(&c->a, str_from(v, 1)));
		if (!env || !*env)
			return err_new("the environment has no %.*s", STRF(str_from(v, 1)));
		*ret = str_z(env);
	}
	if (question_is_name(*ret))
		return NULL;
	AUTO_SB seen = {0};
	sb_visible(&seen, *ret);
	return err_new("letters, digits and ._-:@/%%+ are allowed (got '%s')",
		       seen.n ? seen.s : "");
}

static struct err *set_name(struct conf *c, struct str v)
{
	struct str name;
	struct err *e = take_name(c, v, &name);
	return e ? e : set_text(c, name, &c->name);
}

/* Which of the words v is; false: none. */
static bool take_word(struct str v, const char *const *words, u32 *ret)
{
	for (*ret = 0; words[*ret]; ++*ret)
		if (str_is(v, words[*ret]))
			return true;
	return false;
}

static struct err *set_allow(struct conf *c, struct str v)
{
	static const char *const words[] = {
		[CONF_TOOLS] = "tools", [CONF_SIGNED] = "signed", [CONF_ANY] = "any", NULL};
	u32 i;
	if (!take_word(v, words, &i))
		return err_new("tools, signed or any is needed (got '%.*s')", STRF(v));
	c->allow = (enum conf_allow)i;
	return NULL;
}

static struct err *set_unsafe(struct conf *c, struct str v)
{
	static const char *const words[] = {"never", "signed", NULL};
	u32 i;
	if (!take_word(v, words, &i))
		return err_new("never or signed is needed (got '%.*s')", STRF(v));
	c->unsafe = i == 1;
	return NULL;
}

/* "str", "str:*password*". */
static bool is_denial(struct str s)
{
	struct str word;
	str_cut(&s, ':', &word);
	for (u32 i = 0; i < word.n; i++)
		if (!(word.s[i] >= 'a' && word.s[i] <= 'z') && word.s[i] != '_' &&
		    !(word.s[i] >= '0' && word.s[i] <= '9'))
			return false;
	return word.n && (!s.s || s.n);
}

static struct err *set_deny(struct conf *c, struct str v)
{
	struct str rest = v, part;
	while (next_part(&rest, &part)) {
		if (!is_denial(part))
			return err_new("words as in write, or str:*password*, are needed (got "
				       "'%.*s')",
				       STRF(part));
		arena_push(&c->a, c->deny.v, c->deny.n, arena_str(&c->a, part));
	}
	return NULL;
}

static struct err *set_max_seconds(struct conf *c, struct str v)
{
	const u64 most = QUESTION_MAX_VALID_NS / SECOND_NS;
	u64 n;
	if (!str_number(v, &n) || !n || n > most)
		return err_new("a number from 1 to %llu is needed (got '%.*s')", most, STRF(v));
	c->max_ns = n * SECOND_NS;
	return NULL;
}

bool conf_percent(struct str s, u64 *ret)
{
	enum { MOST = 16 };
	char text[MOST + 1] = "", *end;
	if (s.n < 2 || s.n > MOST || s.s[0] < '0' || s.s[0] > '9')
		return false;
	memcpy(text, s.s, s.n);
	double percent = strtod(text, &end);
	if (strcmp(end, "%") != 0 || !(percent > 0) || percent > 100)
		return false;
	*ret = MAX((u64)(percent * 10000), 1ull);
	return true;
}

static struct err *set_max_cpu(struct conf *c, struct str v)
{
	if (!conf_percent(v, &c->max_cpu))
		return err_new("per cent of the machine's processor time are needed, as in 2%% or "
			       "0.5%% (got '%.*s')",
			       STRF(v));
	return NULL;
}

static struct err *set_max_memory(struct conf *c, struct str v)
{
	static const char units[] = "KMG";
	const char *unit = strchr(units, v.s[v.n - 1]);
	u64 n;
	if (!unit || !str_number(str_n(v.s, v.n - 1), &n) || n >> 32)
		return err_new("a size is needed, as in 256M or 1G (got '%.*s')", STRF(v));
	n <<= 10 * (unit - units + 1);
	if (n < LEAST_MEMORY)
		return err_new("a trace needs 32M at least (got '%.*s')", STRF(v));
	c->max_memory = n;
	return NULL;
}

static struct err *set_hub(struct conf *c, struct str v)
{
	static const char *const words[] = {"no", "yes", NULL};
	u32 i;
	if (!take_word(v, words, &i))
		return err_new("yes or no is needed (got '%.*s')", STRF(v));
	c->hub = i;
	return NULL;
}

static struct err *set_max_running(struct conf *c, struct str v)
{
	u64 n;
	if (!str_number(v, &n) || !n || n > CONF_MAX_RUNNING)
		return err_new("a number from 1 to %d is needed (got '%.*s')", CONF_MAX_RUNNING,
			       STRF(v));
	c->max_running = (u32)n;
	return NULL;
}

#define KEY(name)                 \
	{                         \
#name, set_##name \
	}
static const struct key {
	const char *name;
	struct err *(*set)(struct conf *c, struct str v);
} keys[] = {
	KEY(url),     KEY(nkey),        KEY(nkey_seed), KEY(tls_ca),     KEY(tls_cert),
	KEY(tls_key), KEY(name),        KEY(allow),     KEY(unsafe),     KEY(allowed_signers),
	KEY(deny),    KEY(max_seconds), KEY(max_cpu),   KEY(max_memory), KEY(max_running),
	KEY(key),     KEY(sonde),       KEY(state),     KEY(hub),
};
#undef KEY
_Static_assert(countof(keys) <= 32, "a bit of reader.seen for each");

/* ---- lines ---- */

/* e, at the place where `at` begins. */
static struct err *placed(const struct reader *r, struct str at, struct err *e)
{
	return err_wrap(e, "%s:%u:%u: ", r->file, r->line, (u32)(at.s - r->text.s) + 1);
}

static struct err *unknown_key(const struct reader *r, struct str name)
{
	AUTO_SB seen = {0};
	const char *near = NULL;
	u32 least = 3;
	sb_visible(&seen, name);
	for (u32 i = 0; i < countof(keys); i++) {
		u32 d = str_distance(str_z(keys[i].name), name, least);
		if (d < least)
			near = keys[i].name;
		least = MIN(d, least);
	}
	return placed(r, name,
		      err_new("unknown key '%s'%s%s%s", seen.n ? seen.s : "",
			      near ? "; did you mean " : "", near ? near : "", near ? "?" : ""));
}

static struct err *take_label(struct reader *r, struct str name, struct str value)
{
	struct conf *c = r->c;
	struct str text;
	if (!question_is_name(name))
		return placed(r, name,
			      err_new("a label is written as in env = prod, with letters, digits "
				      "and ._-:@/%%+"));
	struct err *e = take_name(c, value, &text);
	if (!e && name.n + text.n >= QUESTION_MAX_NAME)
		e = err_new("the label is longer than %d bytes", QUESTION_MAX_NAME - 1);
	if (e)
		return placed(r, value, e);
	if (c->label.n == QUESTION_MAX_NAMES)
		return placed(r, name, err_new("more than %d labels", QUESTION_MAX_NAMES));
	for (u32 i = 0; i < c->label.n; i++)
		if (str_starts(c->label.v[i], name) && c->label.v[i].s[name.n] == '=')
			return placed(r, name, err_new("label %.*s is there twice", STRF(name)));
	const char *both = arena_fmt(&c->a, "%.*s=%.*s", STRF(name), STRF(text));
	arena_push(&c->a, c->label.v, c->label.n, str_z(both));
	return NULL;
}

static struct err *take_key(struct reader *r, struct str name, struct str value)
{
	u32 i = 0;
	while (i < countof(keys) && !str_is(name, keys[i].name))
		i++;
	if (i == countof(keys))
		return unknown_key(r, name);
	if (r->seen & 1u << i)
		return placed(r, name, err_new("%s is there twice", keys[i].name));
	r->seen |= 1u << i;
	struct err *e = keys[i].set(r->c, value);
	return e ? placed(r, value, err_wrap(e, "%s: ", keys[i].name)) : NULL;
}

static struct err *take_line(struct reader *r)
{
	struct str line = str_trim(r->text), value = line, name;
	if (!line.n || line.s[0] == '#')
		return NULL;
	if (line.s[0] == '[') {
		r->labels = str_is(line, "[labels]");
		return r->labels ? NULL
				 : placed(r, line,
					  err_new("unknown section; [labels] is the only one"));
	}
	for (u32 i = 0; i < line.n; i++)
		if ((u8)line.s[i] < ' ' && line.s[i] != '\t')
			return placed(r, str_from(line, i), err_new("a control character"));
	str_cut(&value, '=', &name);
	name = str_trim(name);
	if (!value.s)
		return placed(r, line, err_new("KEY = VALUE is needed"));
	value = str_trim(value);
	if (!value.n)
		return placed(r, line, err_new("%.*s has no value", STRF(name)));
	return r->labels ? take_label(r, name, value) : take_key(r, name, value);
}

/* What needs another key, too. */
static struct err *check(const struct conf *c, const char *file)
{
	if (!c->url)
		return err_new("%s: url is missing: the server, as in tls://HOST:4222", file);
	if (!c->nkey != !c->nkey_seed)
		return err_new("%s: nkey and nkey_seed belong together", file);
	if (!c->tls_cert != !c->tls_key)
		return err_new("%s: tls_cert and tls_key belong together", file);
	return NULL;
}

struct err *conf_parse(struct conf *c, const char *file, struct str text)
{
	struct reader r = {.c = c, .file = file, .rest = text};
	*c = (struct conf){
		.allow = CONF_SIGNED,
		.allowed_signers = DEFAULT_SIGNERS,
		.max_ns = default_ns,
		.max_cpu = default_cpu,
		.max_memory = default_memory,
		.max_running = DEFAULT_RUNNING,
		.state = DEFAULT_STATE,
	};
	while (str_cut(&r.rest, '\n', &r.text)) {
		r.line++;
		struct err *e = take_line(&r);
		if (e)
			return e;
	}
	question_sort(&c->label);
	return check(c, file);
}

struct err *conf_is_safe(const char *path, int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_new("%s is not a file", path);
	if (st.st_mode & S_IWOTH)
		return err_new("%s: anybody may write to it (chmod o-w)", path);
	if (st.st_uid && st.st_uid != geteuid())
		return err_new("%s belongs to user %u, who is neither root nor the user of the "
			       "agent",
			       path, st.st_uid);
	return NULL;
}

struct err *conf_read(struct conf *c, const char *path)
{
	AUTO_SB b = {0};
	*c = (struct conf){0};
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "open %s", path);
	struct err *e = conf_is_safe(path, fd);
	int no = e ? 0 : fd_read(fd, CONF_MAX_BYTES + 1, &b);
	if (no)
		e = err_sys(no, "read %s", path);
	if (!e && b.n > CONF_MAX_BYTES)
		e = err_new("%s is larger than 1 MiB", path);
	return e ? e : conf_parse(c, path, sb_str(&b));
}

void conf_free(struct conf *c)
{
	arena_free(&c->a);
	*c = (struct conf){0};
}
