/* wire.c - see the header. */
#include "agent/wire.h"
#include "base/pack.h"

enum field_type { END, FLAG, NUMBER, TEXT, NAME, MAYBE, INBOX, SEALED };

struct field {
	enum field_type type : 8;
	u16 at;  /* in struct message */
	u32 max; /* bytes of a text */
};
#define NUM(name)                                         \
	{                                                 \
		NUMBER, offsetof(struct message, name), 0 \
	}
#define YES(name)                                       \
	{                                               \
		FLAG, offsetof(struct message, name), 0 \
	}
#define TXT(name, max)                                    \
	{                                                 \
		TEXT, offsetof(struct message, name), max \
	}
#define SENDER {NAME, offsetof(struct message, host), QUESTION_MAX_NAME}, NUM(instance)
#define ANSWER_TO                                                         \
	{                                                                 \
		INBOX, offsetof(struct message, reply), QUESTION_MAX_NAME \
	}
enum {
	MAX_FIELDS = 12,
	MAX_WHAT = 255,
	MAX_WHY = 1000,
	MAX_LABELS = 8 << 10,
	MAX_NAMES = 512 << 10,
};

static const char magic[8] = "sonde-m\2";
static const struct field fields[MSG_KINDS][MAX_FIELDS] = {
	[MSG_ASK] = {NUM(since_ns), NUM(spread_ms), NUM(asked_ns),
		     TXT(sealed, QUESTION_MAX_SEALED)},
	[MSG_BEAT] = {NUM(since_ns), NUM(spread_ms), NUM(asked_ns), YES(again), ANSWER_TO},
	[MSG_PULL] = {NUM(instance), NUM(first), NUM(count)},
	[MSG_GOT] = {NUM(instance)},
	[MSG_STOP] = {ANSWER_TO, TXT(secret, QUESTION_SECRET), TXT(sealed, QUESTION_MAX_SEALED)},
	[MSG_WHO] = {NUM(spread_ms), ANSWER_TO, TXT(labels, MAX_LABELS)},
	[MSG_TAKEN] = {SENDER, TXT(boot, MAX_WHAT), TXT(kernel, MAX_WHAT), TXT(version, MAX_WHAT),
		       NUM(since_ns), NUM(asked_ns), NUM(came_ns), NUM(sent_ns), YES(good),
		       TXT(why, MAX_WHY)},
	[MSG_WANT] = {SENDER},
	[MSG_DONE] = {SENDER, NUM(since_ns), YES(good), YES(cut), TXT(why, MAX_WHY),
		      TXT(said, SAID_MAX), NUM(bytes), NUM(pieces), TXT(data, ANSWER_SENT)},
	[MSG_PIECE] = {SENDER, NUM(first), TXT(data, PIECE_BYTES)},
	[MSG_STOPPED] = {SENDER, NUM(count), YES(good), TXT(why, MAX_WHY)},
	[MSG_HERE] = {SENDER, TXT(boot, MAX_WHAT), TXT(kernel, MAX_WHAT), TXT(version, MAX_WHAT),
		      TXT(labels, MAX_LABELS), TXT(running, MAX_LABELS)},
	[MSG_HUBS] = {ANSWER_TO, TXT(sealed, QUESTION_MAX_SEALED)},
	[MSG_SERVES] = {SENDER, YES(good), YES(last), TXT(why, MAX_WHY), TXT(names, MAX_NAMES)},
	[MSG_PART] = {NUM(instance), YES(last), YES(now), ANSWER_TO, TXT(names, MAX_NAMES)},
	[MSG_VIA] = {NUM(instance), {MAYBE, offsetof(struct message, hub), QUESTION_MAX_NAME}},
	[MSG_HELD] = {NUM(instance)},
	[MSG_START] = {NUM(instance), NUM(ahead_ns)},
	[MSG_MERGED] = {SENDER, NUM(bytes), NUM(pieces), TXT(data, ANSWER_SENT)},
};

void message_pack(const struct message *m, struct sb *ret)
{
	sb_mem(ret, magic, sizeof(magic));
	pack_u8(ret, m->kind);
	sb_mem(ret, m->id, sizeof(m->id));
	for (const struct field *f = fields[m->kind]; f->type != END; f++) {
		const void *p = (const char *)m + f->at;
		if (f->type == FLAG)
			pack_u8(ret, *(const bool *)p);
		else if (f->type == NUMBER)
			pack_u64(ret, *(const u64 *)p);
		else
			pack_str(ret, str_n(((const struct str *)p)->s,
					    MIN(((const struct str *)p)->n, f->max)));
	}
}

static const char *take_field(const struct field *f, struct bytes *b, void *p)
{
	if (f->type == NUMBER) {
		*(u64 *)p = bytes_u64(b);
		return NULL;
	}
	if (f->type == FLAG) {
		u8 flag = bytes_u8(b);
		*(bool *)p = flag;
		return flag > 1 ? "a message has a flag that is neither 0 nor 1" : NULL;
	}
	struct str s = unpack_str(b);
	*(struct str *)p = s;
	if (s.n > f->max)
		return "a text of a message is too long";
	bool name = f->type == NAME || (f->type == MAYBE && s.n);
	if (name && !b->bad && !subject_is_name(s))
		return "a message comes from a host without a name";
	if (f->type == INBOX && !b->bad && !subject_is_inbox(s))
		return "a message names no inbox for answers";
	return NULL;
}

const char *message_unpack(struct str bytes, struct message *ret)
{
	struct bytes b = bytes_of(bytes.s, bytes.n);
	*ret = (struct message){0};
	const u8 *head = bytes_take(&b, sizeof(magic));
	if (!head || memcmp(head, magic, sizeof(magic)) != 0)
		return "a message is not one of sonde, or of another version";
	u8 kind = bytes_u8(&b);
	const u8 *id = bytes_take(&b, QUESTION_ID);
	if (!id || !kind || kind >= MSG_KINDS)
		return "a message is of an unknown kind";
	ret->kind = (enum message_kind)kind;
	memcpy(ret->id, id, QUESTION_ID);
	for (const struct field *f = fields[kind]; f->type != END; f++) {
		const char *wrong = take_field(f, &b, (char *)ret + f->at);
		if (wrong)
			return wrong;
	}
	if (b.bad)
		return "a message ends too early";
	return b.at == b.n ? NULL : "a message has bytes behind its end";
}

/* ---- subjects ---- */

bool subject_is_name(struct str name)
{
	bool dot = true; /* a part would be empty */
	if (!question_is_name(name))
		return false;
	for (u32 i = 0; i < name.n; i++) {
		if (dot && name.s[i] == '.')
			return false;
		dot = name.s[i] == '.';
	}
	return !dot;
}

bool subject_is_inbox(struct str subject)
{
	return str_starts(subject, STR("_INBOX.")) && subject_is_name(subject);
}

bool subject_is_label(struct str label, struct str *key, struct str *value)
{
	*value = label;
	return str_chr(label, '=') > 0 && str_cut(value, '=', key) && subject_is_name(*key) &&
	       subject_is_name(*value);
}

void subject_of_all(struct sb *ret)
{
	sb_z(ret, "sonde.run.all");
}

void subject_of_host(struct sb *ret, struct str name)
{
	sb_z(ret, "sonde.run.host.");
	sb_add(ret, name);
}

void subject_of_label(struct sb *ret, struct str key, struct str value)
{
	sb_fmt(ret, "sonde.run.label.%.*s.%.*s", STRF(key), STRF(value));
}

void subject_of_hub(struct sb *ret, struct str name)
{
	sb_fmt(ret, "sonde.run.hub%s%.*s", name.n ? "." : "", STRF(name));
}

static const struct str from_hub = STR("sonde.hub.");

void subject_from_hub(struct sb *ret, struct str host)
{
	sb_add(ret, from_hub);
	sb_add(ret, host);
}

bool subject_is_from_hub(struct str subject)
{
	return str_starts(subject, from_hub);
}

void subject_of_via(struct sb *ret, struct str reply, struct str hub)
{
	sb_fmt(ret, "%.*s.hub.%.*s", STRF(reply), STRF(hub));
}
