/*
 * nats.h - connections to a NATS server, by libnats: the only file that knows it.
 *
 * libnats calls us from threads of its own. What they bring is kept in a queue (struct inbox), whose descriptor is
 * readable while it is not empty, so that the rest of the program is one thread that waits for descriptors. Several
 * connections may share an inbox; .who tells them apart.
 *
 *	struct inbox *in = inbox_new();
 *	e = nats_open(&spec, in, 0, &n);
 *	e = nats_subscribe(n, "sonde.run.all");
 *	while (poll inbox_fd(in))
 *		while (inbox_take(in, &letter)) { ... letter_free(&letter); }
 *	nats_close(n);
 *	nats_end();
 *	inbox_free(in);
 *
 * A connection that breaks is made again, for as long as it takes, and its subscriptions with it.
 */
#pragma once
#include "base/err.h"

struct inbox;
struct nats;

enum letter_kind {
	LETTER_MESSAGE,
	LETTER_LOST,  /* the connection is broken, and is tried again */
	LETTER_AGAIN, /* it works again; what was sent around that time may be lost */
	LETTER_WRONG, /* the server refuses something, or letters were dropped: .bytes is a sentence */
};
struct letter {
	enum letter_kind kind : 8;
	u32 who;
	struct str bytes;
	struct str subject; /* of a message */
	void *owner;
};
struct inbox *inbox_new(void);
void inbox_free(struct inbox *in); /* last of all */
int inbox_fd(const struct inbox *in);
/* False: there is none. */
bool inbox_take(struct inbox *in, struct letter *ret);
void letter_free(struct letter *l);

struct nats_spec {
	const char *url;              /* nats://HOST:PORT or tls://...; several with commas */
	const char *name;             /* of this end, for the server's own logs */
	const char *nkey, *nkey_seed; /* public key, and the file of its seed; or NULL */
	const char *ca, *cert, *key;  /* files for TLS; or NULL */
	bool patient;                 /* if there is no server yet, one is waited for */
	u64 timeout_ms;               /* of the first try; 0: two seconds */
};
struct err *nats_open(const struct nats_spec *spec, struct inbox *in, u32 who,
		      struct nats **ret) MUST_USE;
struct err *nats_subscribe(struct nats *n, const char *subject) MUST_USE;
/* Bytes are copied. While the connection is broken some are kept. An error: they are not sent. */
struct err *nats_send(struct nats *n, const char *subject, struct str bytes) MUST_USE;
/* Waits until the server has what was sent, but not for long. False: it has not. */
bool nats_flush(struct nats *n, u64 timeout_ms);
u64 nats_max_payload(struct nats *n); /* bytes of a message; 0: not known yet */
void nats_close(struct nats *n);
void nats_end(void); /* at the end of the program */
