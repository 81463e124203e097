/*
 * question.h - one question to hosts that run sonde-agent: what is asked, of which hosts, when, and by whom.
 *
 * The asker takes what `sonde fleet` sends (question_of_frame()), or fills a struct question itself, and makes bytes of it
 * by question_pack(). A question has one encoding only, and these bytes are signed (agent/sign.h). question_seal() puts
 * the bytes and the signature together; this is what travels. An agent calls question_unseal(), question_unpack(), lets
 * policy.h decide, and gives question_frame() to `sonde fleet-host`.
 *
 * Nothing that was received is trusted: question_unpack() accepts only what question_pack() can have written, and says
 * in one sentence why it refuses anything else. Both check the same limits. All texts but .text are free of NUL and of
 * control characters.
 *
 * The bytes, in this order. Numbers are little endian; a text is its length (4 bytes) and its bytes; a list is the number
 * of its texts (4 bytes) and the texts.
 *
 *	"sonde-q" 2          7 bytes, and the version of the encoding (1 byte)
 *	id                   16 bytes
 *	not_before_ns        8 bytes
 *	not_after_ns         8 bytes
 *	for_ns, at_ns        8 bytes each
 *	kind                 1 byte
 *	name, text           2 texts
 *	option, argument     2 lists
 *	host, label          2 lists, each in ascending order of bytes, without repetition
 *	reply, asker         2 texts
 *	secret_sum           32 bytes
 *
 * An order to end a question, or all, is a question of its own kind (QUESTION_STOP). It has the same encoding, so that it
 * is signed, valid for a time and accepted once in the same way; question_unpack() refuses it, and question_unpack_stop()
 * accepts nothing else, so that neither is taken for the other.
 *
 * A sealed question is "sonde-s" 2, the text of these bytes, and the text of the signature, which is empty if the question
 * is not signed.
 */
#pragma once
#include "base/clock.h"
#include "base/err.h"
#include "base/sha256.h"

enum {
	QUESTION_ID = 16,
	QUESTION_SECRET = 32,
	QUESTION_ID_HEX = 2 * QUESTION_ID,
	/* The server of a fleet accepts messages of 1 MiB by default. */
	QUESTION_MAX = 640 << 10,      /* bytes of a packed question */
	QUESTION_MAX_TEXT = 512 << 10, /* of the script */
	QUESTION_MAX_WORD = 4 << 10,   /* of an option's word or an argument */
	QUESTION_MAX_WORDS = 256,      /* options and their values; arguments */
	QUESTION_MAX_NAME =
		255, /* bytes of a name: of a script, a tool, a host, a subject, a person */
	QUESTION_MAX_NAMES = 1024, /* hosts; labels */
	QUESTION_MAX_SIGNATURE = 16 << 10,
	QUESTION_MAX_SEALED = QUESTION_MAX + QUESTION_MAX_SIGNATURE + 16,
};
/* A question is valid for so long at most: agents remember it until then. */
static const u64 QUESTION_MAX_VALID_NS = 24ull * 3600 * SECOND_NS;

enum question_kind {
	QUESTION_PROGRAM = 1, /* .text, as of option -e */
	QUESTION_SCRIPT,      /* .text, from a file that .name names, "ask.bt", for messages */
	QUESTION_TOOL,        /* the tool .name of the host's own sonde */
	QUESTION_STOP,        /* ends the question whose id, as text, is .name; "": all */
	QUESTION_KINDS,
};
struct question_list {
	struct str *v;
	u32 n;
};
struct question {
	u8 id[QUESTION_ID]; /* random: question_new_id() */
	/* Nanoseconds of the wall clock. The first is when it is asked: all hosts trace until not_before_ns + for_ns, so one that
	 * learns of the question later traces for a shorter time. No host begins after the second. */
	u64 not_before_ns, not_after_ns;
	u64 for_ns; /* how long hosts trace; 0: until the tool ends by itself */
	/* When all hosts begin, by the asker's clock; 0: at once. Then hosts trace until at_ns + for_ns. */
	u64 at_ns;
	enum question_kind kind : 8;
	struct str name, text;
	/* Words for sonde, as "--cgroup" "a.slice": only those options that `sonde fleet` passes on. */
	struct question_list option;
	struct question_list argument; /* of the script or the tool */
	struct question_list host;     /* if any: only hosts with one of these names are asked */
	struct question_list label;    /* "env=prod": only hosts that have all of these */
	struct str reply;              /* "_INBOX....": subject that answers are sent to */
	struct str asker; /* "user@machine": what the asker says, for messages and logs */
	/* SHA-256 of a random number that only the asker knows: whoever shows the number may end the question. */
	u8 secret_sum[SHA256_BYTES];
};

struct err *question_new_id(u8 id[QUESTION_ID]) MUST_USE;
/* secret: a new one. */
struct err *question_new_secret(u8 secret[QUESTION_SECRET], u8 sum[SHA256_BYTES]) MUST_USE;
/* False: the text is not an id as question_id_text() writes it. */
bool question_take_id(struct str text, u8 id[QUESTION_ID]);
void question_id_text(const u8 id[QUESTION_ID], char ret[QUESTION_ID_HEX + 1]);
/* Ascending and without repetition, as .host and .label have to be. */
void question_sort(struct question_list *l);
/* A host's name, or the key or the value of a label: letters, digits and ._-:@/%+, not beginning with '-'. */
bool question_is_name(struct str s);

/* Appends to ret. An error is a limit that q breaks; ret is unchanged then. */
struct err *question_pack(const struct question *q, struct sb *ret) MUST_USE;
/* Texts of *ret are views into bytes; lists are in the arena. */
struct err *question_unpack(struct arena *a, struct str bytes, struct question *ret) MUST_USE;
struct err *question_unpack_stop(struct arena *a, struct str bytes, struct question *ret) MUST_USE;
void question_seal(struct str bytes, struct str signature, struct sb *ret);
/* Views into sealed. */
struct err *question_unseal(struct str sealed, struct str *bytes, struct str *signature) MUST_USE;

/* Value of an option that is in q->option, or "" if it is an option without value. False: it is not there. */
bool question_option(const struct question *q, const char *name, struct str *value);
/* Are these the labels and the name of a host that is asked? labels: "env=prod", in any order. */
bool question_is_for(const struct question *q, struct str host, const struct question_list *labels);

/*
 * A frame is what `sonde fleet` sends to a host as the question (cmd/fleet.h): bytes of base/pack.h, without the line
 * that says how many. From a frame come the kind, .name, .text, .option, .argument and .for_ns; the rest of *ret
 * stays. Texts are views into the frame.
 */
struct err *question_of_frame(struct arena *a, struct str frame, struct question *ret) MUST_USE;
/*
 * The frame for `sonde fleet-host` on the host. more: words of options that the host's policy adds. The words that the
 * asker has chosen freely are behind the option --asked, so that they are no options of sonde, and neither run commands
 * nor name files to write.
 */
void question_frame(const struct question *q, const struct question_list *more, struct sb *ret);
