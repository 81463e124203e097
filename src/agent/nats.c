/* nats.c - see the header. */
#include "agent/nats.h"
#include "base/alloc.h"
#include "base/clock.h"
#include <errno.h>
#include <nats/nats.h>
#include <pthread.h>
#include <sys/eventfd.h>

enum {
	MAX_HELD = 256 << 20,  /* bytes of letters that were not taken yet */
	RETRY_MS = 250,        /* between two tries to connect, */
	RETRY_JITTER_MS = 500, /* and so much more at random: not all come back at once */
	RETRY_BYTES = 8 << 20, /* what is kept meanwhile */
	MAX_SUBJECTS = 80,
};

struct node {
	struct letter letter;
	struct node *next;
};
struct inbox {
	pthread_mutex_t lock;
	struct node *first, **last;
	size_t bytes;
	bool dropped; /* there was no room, which is reported once */
	int fd;
	struct nats *closed; /* libnats may still call us for these */
};
struct nats {
	struct nats *next;
	natsConnection *c;
	natsSubscription *subject[MAX_SUBJECTS];
	u32 nsubject;
	struct inbox *in;
	u32 who;
};

/* ---- letters ---- */

struct inbox *inbox_new(void)
{
	struct inbox *in = xcalloc(1, sizeof(*in));
	pthread_mutex_init(&in->lock, NULL);
	in->last = &in->first;
	in->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (in->fd < 0)
		out_of_memory();
	return in;
}

int inbox_fd(const struct inbox *in)
{
	return in->fd;
}

void letter_free(struct letter *l)
{
	if (l->kind == LETTER_MESSAGE)
		natsMsg_Destroy(l->owner);
	else
		free(l->owner);
	l->owner = NULL;
}

static void put(struct inbox *in, const struct letter *l)
{
	const u64 one = 1;
	struct node *n = xcalloc(1, sizeof(*n));
	n->letter = *l;
	pthread_mutex_lock(&in->lock);
	if (l->kind == LETTER_MESSAGE && in->bytes + l->bytes.n > MAX_HELD) {
		in->dropped = true;
		pthread_mutex_unlock(&in->lock);
		letter_free(&n->letter);
		free(n);
		return;
	}
	bool first = !in->first;
	*in->last = n;
	in->last = &n->next;
	in->bytes += l->bytes.n;
	pthread_mutex_unlock(&in->lock);
	if (first)
		(void)!write(in->fd, &one, sizeof(one));
}

static void put_text(struct nats *n, enum letter_kind kind, const char *text)
{
	char *own = xstrdup(text);
	put(n->in,
	    &(struct letter){.kind = kind, .who = n->who, .bytes = str_z(own), .owner = own});
}

bool inbox_take(struct inbox *in, struct letter *ret)
{
	u64 count;
	pthread_mutex_lock(&in->lock);
	struct node *n = in->first;
	if (in->dropped) {
		in->dropped = false;
		pthread_mutex_unlock(&in->lock);
		*ret = (struct letter){.kind = LETTER_WRONG,
				       .bytes = STR("messages came faster than they were read")};
		return true;
	}
	if (!n) {
		(void)!read(in->fd, &count, sizeof(count));
		pthread_mutex_unlock(&in->lock);
		return false;
	}
	in->first = n->next;
	if (!in->first)
		in->last = &in->first;
	in->bytes -= n->letter.bytes.n;
	pthread_mutex_unlock(&in->lock);
	*ret = n->letter;
	free(n);
	return true;
}

void inbox_free(struct inbox *in)
{
	struct letter l;
	while (inbox_take(in, &l))
		letter_free(&l);
	for (struct nats *n; (n = in->closed);) {
		in->closed = n->next;
		free(n);
	}
	close(in->fd);
	pthread_mutex_destroy(&in->lock);
	free(in);
}

/* ---- what libnats calls, in its threads ---- */

static void came(natsConnection *c, natsSubscription *s, natsMsg *m, void *arg)
{
	struct nats *n = arg;
	(void)c;
	(void)s;
	struct str bytes = str_n(natsMsg_GetData(m), (u32)natsMsg_GetDataLength(m));
	put(n->in, &(struct letter){.kind = LETTER_MESSAGE,
				    .who = n->who,
				    .bytes = bytes,
				    .subject = str_z(natsMsg_GetSubject(m)),
				    .owner = m});
}

static void lost(natsConnection *c, void *arg)
{
	(void)c;
	put_text(arg, LETTER_LOST, "");
}

static void again(natsConnection *c, void *arg)
{
	(void)c;
	put_text(arg, LETTER_AGAIN, "");
}

static void wrong(natsConnection *c, natsSubscription *s, natsStatus status, void *arg)
{
	const char *text = NULL;
	(void)s;
	if (!c || natsConnection_GetLastError(c, &text) == NATS_OK || !text || !*text)
		text = natsStatus_GetText(status);
	put_text(arg, LETTER_WRONG, text);
}

/* ---- connections ---- */

/* Servers without the names and passwords that stand before them. */
static void put_servers(struct sb *b, struct str list)
{
	struct str one;
	while (str_cut(&list, ',', &one)) {
		i32 scheme = str_find(one, STR("://")), at = str_chr(one, '@');
		u32 begin = scheme < 0 ? 0 : (u32)scheme + 3;
		sb_fmt(b, "%s%.*s", b->n ? "," : "", (int)begin, one.s);
		sb_add(b, str_from(one, at < 0 ? begin : (u32)at + 1));
	}
}

static struct err *failed(natsStatus s, const char *what, const char *of)
{
	const char *text = nats_GetLastError(NULL), *end;
	if (text && *text == '(' && (end = strstr(text, "): "))) /* a line of libnats */
		text = end + 3;
	return err_new("%s %s: %s", what, of, text && *text ? text : natsStatus_GetText(s));
}

static natsStatus set_trust(natsOptions *o, const struct nats_spec *spec)
{
	natsStatus s = NATS_OK;
	if (spec->nkey_seed)
		s = natsOptions_SetNKeyFromSeed(o, spec->nkey, spec->nkey_seed);
	if (s == NATS_OK && (spec->ca || spec->cert))
		s = natsOptions_SetSecure(o, true);
	if (s == NATS_OK && spec->ca)
		s = natsOptions_LoadCATrustedCertificates(o, spec->ca);
	if (s == NATS_OK && spec->cert)
		s = natsOptions_LoadCertificatesChain(o, spec->cert, spec->key);
	return s;
}

static natsStatus set_options(natsOptions *o, const struct nats_spec *spec, struct nats *n)
{
	const char *url[16];
	int nurl = 0;
	AUTO_FREE char *list = xstrdup(spec->url);
	char *rest = list;
	for (char *at; nurl < (int)countof(url) && (at = strsep(&rest, ", "));)
		if (*at)
			url[nurl++] = at;
	natsStatus s = natsOptions_SetServers(o, url, nurl);
	if (s == NATS_OK)
		s = set_trust(o, spec);
	if (s == NATS_OK && spec->patient)
		s = natsOptions_SetRetryOnFailedConnect(o, true, again, n);
	if (s != NATS_OK)
		return s;
	natsOptions_SetTimeout(o, spec->timeout_ms ? (i64)spec->timeout_ms : 2000);
	natsOptions_SetName(o, spec->name);
	natsOptions_SetAllowReconnect(o, true);
	natsOptions_SetMaxReconnect(o, INT32_MAX);
	natsOptions_SetReconnectWait(o, RETRY_MS);
	natsOptions_SetReconnectJitter(o, RETRY_JITTER_MS, RETRY_JITTER_MS);
	natsOptions_SetReconnectBufSize(o, RETRY_BYTES);
	natsOptions_SetPingInterval(
		o, 5000); /* a server that is gone without a word is noticed after 15 s */
	natsOptions_SetMaxPingsOut(o, 2);
	natsOptions_SetWriteDeadline(o, 5000);
	natsOptions_UseGlobalMessageDelivery(o, true);
	natsOptions_SetSendAsap(o, true);
	natsOptions_SetDisconnectedCB(o, lost, n);
	natsOptions_SetReconnectedCB(o, again, n);
	return natsOptions_SetErrorHandler(o, wrong, n);
}

struct err *nats_open(const struct nats_spec *spec, struct inbox *in, u32 who, struct nats **ret)
{
	natsOptions *o = NULL;
	natsStatus s = natsOptions_Create(&o);
	struct nats *n = xcalloc(1, sizeof(*n));
	*n = (struct nats){.in = in, .who = who};
	if (s == NATS_OK)
		s = set_options(o, spec, n);
	if (s == NATS_OK)
		s = natsConnection_Connect(&n->c, o);
	natsOptions_Destroy(o);
	if (s == NATS_OK || (s == NATS_NOT_YET_CONNECTED && spec->patient)) {
		*ret = n;
		return NULL;
	}
	AUTO_SB servers = {0};
	put_servers(&servers, str_z(spec->url));
	struct err *e = failed(s, "connect to", servers.s ? servers.s : "");
	nats_close(n);
	return e;
}

struct err *nats_subscribe(struct nats *n, const char *subject)
{
	if (n->nsubject == MAX_SUBJECTS)
		return err_new("subscribe to %s: more than %d subjects", subject, MAX_SUBJECTS);
	natsSubscription **sub = &n->subject[n->nsubject];
	natsStatus s = natsConnection_Subscribe(sub, n->c, subject, came, n);
	if (s != NATS_OK)
		return failed(s, "subscribe to", subject);
	n->nsubject++;
	natsSubscription_SetPendingLimits(*sub, -1, -1); /* the inbox has one */
	return NULL;
}

struct err *nats_send(struct nats *n, const char *subject, struct str bytes)
{
	natsStatus s = natsConnection_Publish(n->c, subject, bytes.s, (int)bytes.n);
	return s == NATS_OK ? NULL : failed(s, "send to", subject);
}

bool nats_flush(struct nats *n, u64 timeout_ms)
{
	return natsConnection_FlushTimeout(n->c, (i64)timeout_ms) == NATS_OK;
}

u64 nats_max_payload(struct nats *n)
{
	i64 most = natsConnection_GetMaxPayload(n->c);
	return most > 0 ? (u64)most : 0;
}

void nats_close(struct nats *n)
{
	if (!n)
		return;
	for (u32 i = 0; i < n->nsubject; i++)
		natsSubscription_Destroy(n->subject[i]);
	natsConnection_Destroy(n->c);
	n->next = n->in->closed;
	n->in->closed = n;
}

void nats_end(void)
{
	nats_CloseAndWait(2000);
}
