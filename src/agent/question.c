/* question.c - see the header. */
#include "agent/question.h"
#include "base/pack.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum { MAGIC = 8, VERSION = 2 };
static const char question_magic[MAGIC] = {'s', 'o', 'n', 'd', 'e', '-', 'q', VERSION},
		  sealed_magic[MAGIC] = {'s', 'o', 'n', 'd', 'e', '-', 's', VERSION};
/* How a frame begins. */
static const char *const head[] = {"sonde", "-q", "-f", "answer:alone"};

/* Options that may travel; those of fleet (cmd/fleet.c) that hosts get as they are. */
static const struct travels {
	const char *name;
	bool value;
} travels[] = {
	{"--cgroup", true}, {"--container", true}, {"--unsafe", false},      {"--budget", true},
	{"-k", false},      {"--compat", true},    {"--no-warnings", false},
};

static const struct travels *find_option(struct str name)
{
	for (u32 i = 0; i < countof(travels); i++)
		if (str_is(name, travels[i].name))
			return &travels[i];
	return NULL;
}

/* ---- what a question may contain ---- */

static bool is_plain(struct str s)
{
	for (u32 i = 0; i < s.n; i++)
		if ((u8)s.s[i] < ' ' || s.s[i] == 0x7f)
			return false;
	return true;
}

bool question_is_name(struct str s)
{
	static const char others[] = "._-:@/%+";
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!letter && !(c >= '0' && c <= '9') && !(c && strchr(others, c)))
			return false;
	}
	return s.n && s.n <= QUESTION_MAX_NAME && s.s[0] != '-';
}

static bool is_label(struct str s)
{
	struct str key;
	return s.n <= QUESTION_MAX_NAME && str_chr(s, '=') > 0 && str_cut(&s, '=', &key) &&
	       question_is_name(key) && question_is_name(s);
}

/* It becomes a word of a command line, and must be nothing else than the name of a tool. */
static bool is_tool(struct str s)
{
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    !(i && (c == '-' || c == '_')))
			return false;
	}
	return s.n && s.n <= 64;
}

static bool is_script_name(struct str s)
{
	return is_plain(s) && s.n <= QUESTION_MAX_NAME && s.n && s.s[0] != '-';
}

/* Subjects of answers cannot be those of questions. */
static bool is_inbox(struct str s)
{
	static const struct str begins = STR("_INBOX.");
	struct str rest = str_from(s, begins.n), part;
	if (!str_starts(s, begins) || s.n > QUESTION_MAX_NAME)
		return false;
	for (u32 i = 0; i < rest.n; i++)
		if (rest.s[i] <= ' ' || rest.s[i] >= 0x7f || rest.s[i] == '*' || rest.s[i] == '>')
			return false;
	while (str_cut(&rest, '.', &part))
		if (!part.n)
			return false;
	return true;
}

static struct err *check_words(const struct question_list *l, const char *what)
{
	if (l->n > QUESTION_MAX_WORDS)
		return err_new("the question has more than %d %ss", QUESTION_MAX_WORDS, what);
	for (u32 i = 0; i < l->n; i++)
		if (l->v[i].n > QUESTION_MAX_WORD || !is_plain(l->v[i]))
			return err_new("an %s of the question is longer than %d bytes, or has "
				       "control characters",
				       what, QUESTION_MAX_WORD);
	return NULL;
}

static struct err *check_options(const struct question *q)
{
	for (u32 i = 0; i < q->option.n; i++) {
		const struct travels *t = find_option(q->option.v[i]);
		if (!t) {
			AUTO_SB seen = {0};
			sb_visible(&seen, q->option.v[i]);
			return err_new("the question has an option that hosts do not accept: %s",
				       seen.n ? seen.s : "''");
		}
		if (t->value && ++i == q->option.n)
			return err_new("option %s of the question has no value", t->name);
	}
	return NULL;
}

static struct err *check_names(const struct question_list *l, bool (*good)(struct str),
			       const char *what)
{
	if (l->n > QUESTION_MAX_NAMES)
		return err_new("the question has more than %d %ss", QUESTION_MAX_NAMES, what);
	for (u32 i = 0; i < l->n; i++) {
		AUTO_SB seen = {0};
		sb_visible(&seen, str_n(l->v[i].s, MIN(l->v[i].n, QUESTION_MAX_NAME)));
		if (!good(l->v[i]))
			return err_new("'%s' is not the %s of a question", seen.n ? seen.s : "",
				       what);
		if (i && str_order(&l->v[i - 1], &l->v[i]) >= 0)
			return err_new("the %ss of the question are not in order: %s", what,
				       seen.s);
	}
	return NULL;
}

static struct err *check_times(const struct question *q)
{
	if (q->not_before_ns >= q->not_after_ns)
		return err_new("the question is never valid: it ends before it begins");
	if (q->not_after_ns - q->not_before_ns > QUESTION_MAX_VALID_NS)
		return err_new("the question is valid for more than 24 hours");
	if (q->for_ns > QUESTION_MAX_VALID_NS)
		return err_new("the question asks for more than 24 hours of tracing");
	if (q->at_ns && (q->at_ns < q->not_before_ns || q->at_ns > q->not_after_ns))
		return err_new("the question is to begin at a time when it is not valid");
	if (!q->for_ns && q->kind != QUESTION_TOOL && q->kind != QUESTION_STOP)
		return err_new("the question does not say for how long hosts trace");
	return NULL;
}

static struct err *check_stop(const struct question *q)
{
	u8 id[QUESTION_ID];
	if (q->name.n && !question_take_id(q->name, id))
		return err_new("the order to stop names what is no question");
	if (q->text.n || q->option.n || q->argument.n || q->for_ns || q->at_ns)
		return err_new("the order to stop has parts of a question");
	return NULL;
}

static struct err *check_what(const struct question *q)
{
	AUTO_SB seen = {0};
	sb_visible(&seen, str_n(q->name.s, MIN(q->name.n, QUESTION_MAX_NAME)));
	const char *name = seen.n ? seen.s : "";
	switch (q->kind) {
	case QUESTION_PROGRAM:
		if (q->name.n)
			return err_new("the question has a program and the name '%s'", name);
		break;
	case QUESTION_SCRIPT:
		if (!is_script_name(q->name))
			return err_new("'%s' cannot be the name of a script", name);
		break;
	case QUESTION_TOOL:
		if (!is_tool(q->name))
			return err_new("'%s' is not the name of a tool", name);
		if (q->text.n)
			return err_new("the question has a tool and the text of a script");
		return NULL;
	case QUESTION_STOP: return check_stop(q);
	default: return err_new("the question is of an unknown kind (%u)", (u32)q->kind);
	}
	if (!q->text.n || memchr(q->text.s, 0, q->text.n))
		return err_new("the script of the question is empty, or has a NUL character");
	if (q->text.n > QUESTION_MAX_TEXT)
		return err_new("the script of the question is longer than %d KiB",
			       QUESTION_MAX_TEXT >> 10);
	return NULL;
}

static struct err *check_who(const struct question *q)
{
	if (!is_inbox(q->reply))
		return err_new("answers to the question would be sent to a subject that does not "
			       "begin with _INBOX.");
	if (q->asker.n > QUESTION_MAX_NAME || !is_plain(q->asker))
		return err_new("the name of the asker is longer than %d bytes, or has control "
			       "characters",
			       QUESTION_MAX_NAME);
	return NULL;
}

static struct err *check_all(const struct question *q)
{
	struct err *e = check_what(q);
	e = e ? e : check_times(q);
	e = e ? e : check_words(&q->option, "option");
	e = e ? e : check_options(q);
	e = e ? e : check_words(&q->argument, "argument");
	e = e ? e : check_names(&q->host, question_is_name, "host");
	e = e ? e : check_names(&q->label, is_label, "label");
	return e ? e : check_who(q);
}

/* ---- bytes ---- */

static void pack_list(struct sb *b, const struct question_list *l)
{
	pack_u32(b, l->n);
	for (u32 i = 0; i < l->n; i++)
		pack_str(b, l->v[i]);
}

static void unpack_list(struct arena *a, struct bytes *b, u32 max, struct question_list *ret)
{
	u32 n = bytes_u32(b);
	*ret = (struct question_list){0};
	if (b->bad || n > max || n > (b->n - b->at) / sizeof(u32)) {
		b->bad = true;
		return;
	}
	ret->v = arena_newn(a, struct str, n + 1u);
	for (ret->n = 0; ret->n < n && !b->bad; ret->n++)
		ret->v[ret->n] = unpack_str(b);
}

struct err *question_pack(const struct question *q, struct sb *ret)
{
	AUTO_SB b = {0};
	struct err *e = check_all(q);
	if (e)
		return e;
	sb_mem(&b, question_magic, MAGIC);
	sb_mem(&b, q->id, QUESTION_ID);
	pack_u64(&b, q->not_before_ns);
	pack_u64(&b, q->not_after_ns);
	pack_u64(&b, q->for_ns);
	pack_u64(&b, q->at_ns);
	pack_u8(&b, q->kind);
	pack_str(&b, q->name);
	pack_str(&b, q->text);
	pack_list(&b, &q->option);
	pack_list(&b, &q->argument);
	pack_list(&b, &q->host);
	pack_list(&b, &q->label);
	pack_str(&b, q->reply);
	pack_str(&b, q->asker);
	sb_mem(&b, q->secret_sum, SHA256_BYTES);
	if (b.n > QUESTION_MAX)
		return err_new("the question is larger than %d KiB", QUESTION_MAX >> 10);
	sb_add(ret, sb_str(&b));
	return NULL;
}

/* The bytes behind the magic number; an error if they are of another kind or version. */
static struct err *open_bytes(struct str bytes, const char magic[MAGIC], u32 max, struct bytes *ret)
{
	*ret = bytes_of(bytes.s, bytes.n);
	if (bytes.n > max)
		return err_new("the question is larger than %u KiB", max >> 10);
	const u8 *p = bytes_take(ret, MAGIC);
	if (!p || memcmp(p, magic, MAGIC - 1) != 0)
		return err_new("the message is not a question");
	if (p[MAGIC - 1] != VERSION)
		return err_new("the question has version %u, and this program knows version %d",
			       p[MAGIC - 1], VERSION);
	return NULL;
}

static struct err *damaged(void)
{
	return err_new("the question is damaged: its parts have wrong lengths");
}

static struct err *unpack(struct arena *a, struct str bytes, struct question *ret)
{
	struct bytes b;
	struct question q = {0};
	struct err *e = open_bytes(bytes, question_magic, QUESTION_MAX, &b);
	if (e)
		return e;
	const u8 *id = bytes_take(&b, QUESTION_ID);
	if (!id)
		return damaged();
	memcpy(q.id, id, QUESTION_ID);
	q.not_before_ns = bytes_u64(&b);
	q.not_after_ns = bytes_u64(&b);
	q.for_ns = bytes_u64(&b);
	q.at_ns = bytes_u64(&b);
	q.kind = (enum question_kind)bytes_u8(&b);
	q.name = unpack_str(&b);
	q.text = unpack_str(&b);
	unpack_list(a, &b, QUESTION_MAX_WORDS, &q.option);
	unpack_list(a, &b, QUESTION_MAX_WORDS, &q.argument);
	unpack_list(a, &b, QUESTION_MAX_NAMES, &q.host);
	unpack_list(a, &b, QUESTION_MAX_NAMES, &q.label);
	q.reply = unpack_str(&b);
	q.asker = unpack_str(&b);
	const u8 *sum = bytes_take(&b, SHA256_BYTES);
	if (!sum || b.bad || b.at != b.n)
		return damaged();
	memcpy(q.secret_sum, sum, SHA256_BYTES);
	e = check_all(&q);
	if (!e)
		*ret = q;
	return e;
}

static struct err *unpack_kind(struct arena *a, struct str bytes, bool stop, struct question *ret)
{
	struct question q;
	struct err *e = unpack(a, bytes, &q);
	if (!e && stop != (q.kind == QUESTION_STOP))
		e = stop ? err_new("what is signed is a question, not an order to stop")
			 : err_new("an order to stop is not a question");
	if (!e)
		*ret = q;
	return e;
}

struct err *question_unpack(struct arena *a, struct str bytes, struct question *ret)
{
	return unpack_kind(a, bytes, false, ret);
}

struct err *question_unpack_stop(struct arena *a, struct str bytes, struct question *ret)
{
	return unpack_kind(a, bytes, true, ret);
}

void question_seal(struct str bytes, struct str signature, struct sb *ret)
{
	sb_mem(ret, sealed_magic, MAGIC);
	pack_str(ret, bytes);
	pack_str(ret, signature);
}

struct err *question_unseal(struct str sealed, struct str *bytes, struct str *signature)
{
	struct bytes b;
	struct err *e = open_bytes(sealed, sealed_magic, QUESTION_MAX_SEALED, &b);
	if (e)
		return e;
	struct str question = unpack_str(&b), sign = unpack_str(&b);
	if (b.bad || b.at != b.n || sign.n > QUESTION_MAX_SIGNATURE)
		return damaged();
	*bytes = question;
	*signature = sign;
	return NULL;
}

/* ---- parts ---- */

struct err *question_new_id(u8 id[QUESTION_ID])
{
	return getrandom(id, QUESTION_ID, 0) == QUESTION_ID ? NULL : err_sys(errno, "getrandom");
}

struct err *question_new_secret(u8 secret[QUESTION_SECRET], u8 sum[SHA256_BYTES])
{
	if (getrandom(secret, QUESTION_SECRET, 0) != QUESTION_SECRET)
		return err_sys(errno, "getrandom");
	sha256(secret, QUESTION_SECRET, sum);
	return NULL;
}

bool question_take_id(struct str text, u8 id[QUESTION_ID])
{
	static const struct str digits = STR("0123456789abcdef");
	if (text.n != QUESTION_ID_HEX)
		return false;
	for (u32 i = 0; i < QUESTION_ID_HEX; i++) {
		i32 digit = str_chr(digits, text.s[i]);
		if (digit < 0)
			return false;
		id[i / 2] = (u8)(id[i / 2] << 4 | digit);
	}
	return true;
}

void question_id_text(const u8 id[QUESTION_ID], char ret[QUESTION_ID_HEX + 1])
{
	static const char digit[] = "0123456789abcdef";
	for (u32 i = 0; i < QUESTION_ID; i++) {
		ret[2 * i] = digit[id[i] >> 4];
		ret[2 * i + 1] = digit[id[i] & 15];
	}
	ret[QUESTION_ID_HEX] = 0;
}

void question_sort(struct question_list *l)
{
	u32 n = 0;
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), str_order);
	for (u32 i = 0; i < l->n; i++)
		if (!n || !str_eq(l->v[n - 1], l->v[i]))
			l->v[n++] = l->v[i];
	l->n = n;
}

bool question_option(const struct question *q, const char *name, struct str *value)
{
	for (u32 i = 0; i < q->option.n; i++) {
		const struct travels *t = find_option(q->option.v[i]);
		bool wanted = str_is(q->option.v[i], name);
		*value = t && t->value && i + 1 < q->option.n ? q->option.v[++i] : STR("");
		if (wanted)
			return true;
	}
	return false;
}

static bool is_in(const struct question_list *l, struct str s)
{
	for (u32 i = 0; i < l->n; i++)
		if (str_eq(l->v[i], s))
			return true;
	return false;
}

bool question_is_for(const struct question *q, struct str host, const struct question_list *labels)
{
	for (u32 i = 0; i < q->label.n; i++)
		if (!is_in(labels, q->label.v[i]))
			return false;
	return !q->host.n || is_in(&q->host, host);
}

/* ---- frames ---- */

/* "10000000000ns", as fleet writes it. */
static bool take_time(struct str s, u64 *ret)
{
	static const struct str unit = STR("ns");
	bool ends = str_ends(s, unit);
	return ends && str_u64(str_n(s.s, s.n - unit.n), ret) && *ret;
}

static struct err *bad_frame(void)
{
	return err_new("the question is not as 'sonde fleet' writes it");
}

/* The words behind the head. at: which of all names the script, or 0. */
static struct err *take_words(const struct question_list *w, u32 at, struct question *q)
{
	u32 i = countof(head);
	const struct travels *t;
	q->option.v = w->v + i;
	while (i < w->n && (!at || i < at) && (t = find_option(w->v[i])))
		i += 1 + t->value;
	q->for_ns = 0;
	q->option.n = i - (u32)countof(head);
	if (i + 1 < w->n && str_is(w->v[i], "--for")) {
		if (!take_time(w->v[i + 1], &q->for_ns))
			return bad_frame();
		i += 2;
	}
	bool program = !at && i < w->n && str_is(w->v[i], "-e");
	i += program;
	if (i >= w->n || (at && i != at))
		return bad_frame();
	q->kind = at ? QUESTION_SCRIPT : program ? QUESTION_PROGRAM : QUESTION_TOOL;
	q->name = program ? STR("") : w->v[i];
	q->text = program ? w->v[i] : q->text;
	q->argument = (struct question_list){w->v + i + 1, w->n - i - 1};
	return NULL;
}

struct err *question_of_frame(struct arena *a, struct str frame, struct question *ret)
{
	enum { MOST = 2 * QUESTION_MAX_WORDS + 16 };
	struct bytes b = bytes_of(frame.s, frame.n);
	struct question q = *ret;
	struct question_list w;
	q.text = unpack_str(&b);
	u32 at = bytes_u32(&b);
	unpack_list(a, &b, MOST, &w);
	if (b.bad || b.at != b.n || w.n <= countof(head) || at >= w.n)
		return bad_frame();
	for (u32 i = 0; i < countof(head); i++)
		if (!str_is(w.v[i], head[i]))
			return bad_frame();
	struct err *e = take_words(&w, at, &q);
	if (!e)
		*ret = q;
	return e;
}

static u32 pack_words(struct sb *b, const struct question_list *l)
{
	for (u32 i = 0; i < l->n; i++)
		pack_str(b, l->v[i]);
	return l->n;
}

void question_frame(const struct question *q, const struct question_list *more, struct sb *ret)
{
	AUTO_SB b = {0};
	u32 n = countof(head), at = 0;
	for (u32 i = 0; i < countof(head); i++)
		pack_str(&b, str_z(head[i]));
	n += pack_words(&b, &q->option);
	n += more ? pack_words(&b, more) : 0;
	if (q->for_ns) {
		AUTO_SB time = {0};
		sb_fmt(&time, "%lluns", q->for_ns);
		pack_str(&b, STR("--for"));
		pack_str(&b, sb_str(&time));
		n += 2;
	}
	pack_str(&b, STR("--asked"));
	at = q->kind == QUESTION_TOOL ? 0 : n + 1;
	pack_str(&b, q->kind == QUESTION_PROGRAM ? STR("-") : q->name);
	n += 2;
	n += pack_words(&b, &q->argument);
	pack_str(ret, q->text);
	pack_u32(ret, at);
	pack_u32(ret, n);
	sb_add(ret, sb_str(&b));
}
