/* who.c - `sonde fleet list` and `sonde fleet stop`: which agents are there, and the end of what they run. */
#include "agent/ask.h"
#include "agent/wire.h"
#include "base/alloc.h"
#include "base/tab.h"
#include <poll.h>
#include <stdio.h>

enum { MAX_HERE = 20000 };

struct listing {
	struct arena a;
	struct tab line;    /* of each host */
	struct tab refused; /* the reason of each host */
	u32 stopped, hubs;
};

static void add_visible(struct sb *b, struct str s)
{
	sb_visible(b, s.n ? s : STR("-"));
}

static struct str *keep(struct listing *l, struct str text)
{
	struct str *kept = arena_new(&l->a, struct str);
	*kept = arena_str(&l->a, text);
	return kept;
}

static void take_stopped(struct listing *l, const struct message *m)
{
	AUTO_SB b = {0};
	l->stopped += m->good;
	if (m->good || l->refused.n >= MAX_HERE)
		return;
	sb_visible(&b, m->why.n ? m->why : STR("it gives no reason"));
	tab_add(&l->refused, arena_str(&l->a, m->host), keep(l, sb_str(&b)));
}

static void take(struct listing *l, const struct message *m)
{
	AUTO_SB b = {0};
	if (m->kind == MSG_STOPPED)
		take_stopped(l, m);
	if (m->kind != MSG_HERE || l->line.n >= MAX_HERE)
		return;
	const struct str column[] = {m->kernel, m->version, m->labels, m->running};
	sb_fmt(&b, "%-24.*s ", STRF(m->host));
	for (u32 i = 0; i < countof(column); i++) {
		size_t at = b.n, width = i == 0 ? 26 : i == 1 ? 8 : i == 2 ? 24 : 0;
		add_visible(&b, column[i]);
		if (width > b.n - at)
			sb_pad(&b, ' ', width - (b.n - at));
		if (width)
			sb_char(&b, ' ');
	}
	bool hub = m->labels.n && m->labels.s[0] == '('; /* its name may be that of an agent, too */
	struct str key = str_z(arena_fmt(&l->a, "%.*s%s", STRF(m->host), hub ? " hub" : ""));
	if (!tab_add(&l->line, key, keep(l, sb_str(&b))))
		l->hubs += hub;
}

/* Until nothing more can be expected. */
static void listen(struct listing *l, struct inbox *in, u64 wait_ns)
{
	u64 end = now_ns() + wait_ns;
	for (u64 now; (now = now_ns()) < end;) {
		struct pollfd p = {.fd = inbox_fd(in), .events = POLLIN};
		struct letter letter;
		struct message m;
		poll(&p, 1, (int)((end - now) / MILLI_NS) + 1);
		while (inbox_take(in, &letter)) {
			if (letter.kind == LETTER_MESSAGE && !message_unpack(letter.bytes, &m))
				take(l, &m);
			letter_free(&letter);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	const struct tab_entry *x = a, *y = b;
	return str_cmp(x->key, y->key);
}

static struct err *send_one(struct nats *nats, const char *subject, const struct message *m)
{
	AUTO_SB b = {0};
	message_pack(m, &b);
	return nats_send(nats, subject, sb_str(&b));
}

struct err *ask_who(struct nats *nats, struct inbox *in, const char *reply, struct str labels,
		    u64 wait_ns)
{
	AUTO_SB to = {0};
	struct listing l = {0};
	struct message m = {.kind = MSG_WHO,
			    .spread_ms = wait_ns / MILLI_NS / 2,
			    .reply = str_z(reply),
			    .labels = labels};
	subject_of_all(&to);
	struct err *e = send_one(nats, to.s, &m);
	if (e)
		return e;
	listen(&l, in, wait_ns);
	qsort(l.line.v, l.line.n, sizeof(*l.line.v), by_name);
	printf("%-24s %-26s %-8s %-24s %s\n", "HOST", "KERNEL", "SONDE", "LABELS", "RUNNING");
	for (u32 i = 0; i < l.line.n; i++)
		printf("%.*s\n", STRF(*(struct str *)l.line.v[i].val));
	u32 n = l.line.n - l.hubs;
	printf("%u host%s", n, n == 1 ? "" : "s");
	if (l.hubs)
		printf(", %u hub%s", l.hubs, l.hubs == 1 ? "" : "s");
	putchar('\n');
	tab_free(&l.line);
	arena_free(&l.a);
	return NULL;
}

struct err *ask_stop(const struct stop_spec *s, struct stop_result *ret)
{
	AUTO_SB to = {0};
	struct listing l = {0};
	struct message m = {.kind = MSG_STOP, .reply = str_z(s->reply), .sealed = s->sealed};
	memcpy(m.id, s->id, sizeof(m.id));
	subject_of_all(&to);
	struct err *e = send_one(s->nats, to.s, &m);
	if (e)
		return e;
	listen(&l, s->in, s->wait_ns);
	if (l.refused.n)
		qsort(l.refused.v, l.refused.n, sizeof(*l.refused.v), by_name);
	for (u32 i = 0; i < l.refused.n; i++)
		fprintf(stderr, "WARNING: %.*s: refused: %.*s\n", STRF(l.refused.v[i].key),
			STRF(*(struct str *)l.refused.v[i].val));
	*ret = (struct stop_result){.stopped = l.stopped, .refused = l.refused.n};
	tab_free(&l.refused);
	tab_free(&l.line);
	arena_free(&l.a);
	return NULL;
}
