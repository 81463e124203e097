/*
 * conf.h - the configuration of an agent, by default /etc/sonde/fleet.conf; that of an asker has the same form.
 *
 *	struct conf c;
 *	struct err *e = conf_read(&c, CONF_PATH);
 *	... conf_free(&c);
 *
 * A line is "KEY = VALUE", a comment that begins with '#', or empty. Behind the line "[labels]" each line is a label of
 * the host. An error names the file, the line and the column; unknown keys, keys that are there twice and values that
 * make no sense are errors. A value "$NAME" of `name` or of a label is that of the environment variable.
 *
 *	url = tls://bus:4222            servers, with commas between them
 *	nkey = UABC...                  public key, and the file with its seed
 *	nkey_seed = /etc/sonde/agent.nk
 *	tls_ca = FILE, tls_cert = FILE, tls_key = FILE
 *	name = web1                     default: the host's name
 *	allow = signed                  tools, signed or any
 *	allowed_signers = FILE          as ssh-keygen(1) describes it
 *	unsafe = never                  never or signed
 *	deny = write, str:*password*    functions and kinds of probes that no script may use (option --deny of sonde)
 *	max_seconds = 600, max_cpu = 2%, max_memory = 256M, max_running = 4
 *	key = FILE                      of who asks: signs questions and orders to stop (sign.h)
 *	sonde = FILE                    the program; default: sonde in $PATH
 *	state = DIR                     where questions are remembered
 *	hub = no                        yes: it merges answers of other hosts (hub.h), and is not asked itself
 */
#pragma once
#include "agent/question.h"

#define CONF_PATH "/etc/sonde/fleet.conf"

enum { CONF_MAX_BYTES = 1 << 20, CONF_MAX_RUNNING = 64 };

enum conf_allow {
	CONF_TOOLS,  /* tools of the host's own sonde by anybody, scripts if they are signed */
	CONF_SIGNED, /* what is signed */
	CONF_ANY,    /* everything */
};
/* Texts are the arena's. NULL: the key is not there, and has no default. */
struct conf {
	struct arena a;
	const char *url, *nkey, *nkey_seed, *tls_ca, *tls_cert, *tls_key;
	const char *name;
	struct question_list label; /* "env=prod", ascending */
	enum conf_allow allow;
	const char *allowed_signers;
	bool unsafe;               /* signed questions may have the option --unsafe */
	struct question_list deny; /* "write", "str:*password*" */
	u64 max_ns, max_memory;    /* time of a question; bytes of the process that traces */
	u64 max_cpu;               /* millionths of the machine's processor time */
	u32 max_running;           /* questions at a time */
	bool hub;
	const char *key, *sonde, *state;
};

/* *c is set in any case; the caller ends with conf_free(). file: how errors call the text. */
struct err *conf_parse(struct conf *c, const char *file, struct str text) MUST_USE;
/* A file that anybody may write to is refused. */
struct err *conf_read(struct conf *c, const char *path) MUST_USE;
void conf_free(struct conf *c);
/* Per cent of processor time, "2%" or "0.5%", in millionths. */
bool conf_percent(struct str s, u64 *ret);
/* Nobody but root, the user of this process and their groups can change the file. fd: it is open. */
struct err *conf_is_safe(const char *path, int fd) MUST_USE;
