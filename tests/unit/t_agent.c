#include "agent/agent.h"
#include "base/alloc.h"
#include "test.h"

/* ---- messages ---- */

static struct message full(enum message_kind kind)
{
	struct message m = {
		.kind = kind,
		.host = STR("web1.example"),
		.instance = 7,
		.boot = STR("b"),
		.kernel = STR("6.1"),
		.version = STR("0.1"),
		.sealed = STR("sealed"),
		.secret = STR("secret"),
		.reply = STR("_INBOX.a"),
		.since_ns = 1,
		.spread_ms = 2,
		.again = true,
		.asked_ns = 3,
		.came_ns = 4,
		.sent_ns = 5,
		.good = true,
		.cut = true,
		.why = STR("why"),
		.said = STR("said\n"),
		.bytes = 4,
		.pieces = 1,
		.first = 6,
		.count = 8,
		.data = STR("data"),
		.labels = STR("a=b"),
		.running = STR("r"),
		.hub = STR("hub1"),
		.names = STR("a\nb"),
		.last = true,
		.now = true,
	};
	memset(m.id, 9, sizeof(m.id));
	return m;
}

TEST(message_comes_back)
{
	for (u32 kind = 1; kind < MSG_KINDS; kind++) {
		AUTO_SB once = {0}, twice = {0};
		struct message m = full((enum message_kind)kind), back;
		message_pack(&m, &once);
		CHECK(!message_unpack(sb_str(&once), &back));
		message_pack(&back, &twice);
		CHECK(str_eq(sb_str(&once), sb_str(&twice)));
		for (u32 n = 0; n < once.n; n++) /* cut anywhere */
			CHECK(message_unpack(str_n(once.s, n), &back));
		sb_char(&once, 0);
		CHECK_STR(message_unpack(sb_str(&once), &back),
			  "a message has bytes behind its end");
	}
}

TEST(message_is_refused)
{
	static const struct {
		const char *host, *reply, *why;
	} bad[] = {
		{"web 1", "_INBOX.a", "a message comes from a host without a name"},
		{"web..1", "_INBOX.a", "a message comes from a host without a name"},
		{"", "_INBOX.a", "a message comes from a host without a name"},
		{"*", "_INBOX.a", "a message comes from a host without a name"},
		{"web1", "sonde.run.all", "a message names no inbox for answers"},
		{"web1", "_INBOX.>", "a message names no inbox for answers"},
	};
	for (u32 i = 0; i < countof(bad); i++) {
		AUTO_SB b = {0};
		bool host = strcmp(bad[i].host, "web1") != 0;
		struct message m = full(host ? MSG_WANT : MSG_WHO), back;
		m.host = str_z(bad[i].host);
		m.reply = str_z(bad[i].reply);
		message_pack(&m, &b);
		CHECK_STR(message_unpack(sb_str(&b), &back), bad[i].why);
	}
	struct message m = full(MSG_TAKEN), back;
	AUTO_SB b = {0};
	message_pack(&m, &b);
	b.s[7] = 1;
	CHECK_STR(message_unpack(sb_str(&b), &back),
		  "a message is not one of sonde, or of another version");
	b.s[7] = 2;
	b.s[8] = MSG_KINDS;
	CHECK_STR(message_unpack(sb_str(&b), &back), "a message is of an unknown kind");
}

/* ---- an agent ---- */

struct bench {
	struct agent_setup setup;
	struct agent *agent;
	struct sample sample;
	struct sb log; /* what it has sent and done */
	const char *refuse, *no_stop;
	u64 for_ns; /* 0: until it is stopped */
	u64 instance;
};

static const char *const kinds[MSG_KINDS] = {
	[MSG_TAKEN] = "taken", [MSG_WANT] = "want",       [MSG_DONE] = "done",
	[MSG_PIECE] = "piece", [MSG_STOPPED] = "stopped", [MSG_HERE] = "here",
};

static bool sent(void *arg, const char *subject, struct str bytes)
{
	struct bench *t = arg;
	struct message m;
	CHECK(!message_unpack(bytes, &m));
	t->instance = m.instance;
	sb_fmt(&t->log, "%s %s:", subject, kinds[m.kind]);
	if (m.kind == MSG_TAKEN)
		sb_fmt(&t->log, " %s <%.*s> since %llu", m.good ? "good" : "bad", STRF(m.why),
		       m.since_ns);
	else if (m.kind == MSG_DONE)
		sb_fmt(&t->log, " %llu bytes in %llu pieces, %u here%s", m.bytes, m.pieces,
		       m.data.n, m.cut ? ", cut" : "");
	else if (m.kind == MSG_PIECE)
		sb_fmt(&t->log, " %llu of %u bytes", m.first, m.data.n);
	else if (m.kind == MSG_STOPPED && m.good)
		sb_fmt(&t->log, " %llu", m.count);
	else if (m.kind == MSG_STOPPED)
		sb_fmt(&t->log, " %llu <%.*s>", m.count, STRF(m.why));
	else if (m.kind == MSG_HERE)
		sb_fmt(&t->log, " %.*s <%.*s>", STRF(m.labels), STRF(m.running));
	sb_char(&t->log, '\n');
	return true;
}

static struct err *judged(void *arg, const struct question *q, struct str bytes,
			  struct str signature)
{
	const struct bench *t = arg;
	(void)q;
	(void)bytes;
	(void)signature;
	return t->refuse ? err_new("%s", t->refuse) : NULL;
}

/* The log has which order was looked at. */
static struct err *may_stop(void *arg, const u8 id[QUESTION_ID], struct str order)
{
	struct bench *t = arg;
	sb_fmt(&t->log, "may %u be stopped by <%.*s>?\n", id[0], STRF(order));
	return t->no_stop ? err_new("%s", t->no_stop) : NULL;
}

static struct err *started(void *arg, const struct question *q, u64 for_ns, struct task **ret)
{
	struct bench *t = arg;
	(void)q;
	t->for_ns = for_ns;
	task_sample(&t->sample, 0, ret);
	return NULL;
}

static struct str label[] = {STR("env=prod"), STR("role=web")};

static void bench_open(struct bench *t, u32 max_running, u32 bytes)
{
	char *p = xcalloc(bytes, 1);
	*t = (struct bench){
		.setup = {.host = STR("web1"),
			  .label = {label, countof(label)},
			  .max_running = max_running,
			  .arg = t,
			  .send = sent,
			  .judge = judged,
			  .start = started},
		.sample = {.bytes = str_n(p, bytes)},
	};
	t->agent = agent_new(&t->setup);
}

static void bench_close(struct bench *t)
{
	agent_free(t->agent);
	sb_free(&t->log);
	free((char *)t->sample.bytes.s);
}

/* What the agent has sent since the last time. */
static const char *step(struct bench *t, char text[1000])
{
	agent_step(t->agent);
	snprintf(text, 1000, "%s", t->log.n ? t->log.s : "");
	sb_clear(&t->log);
	return text;
}

static void give(struct bench *t, enum message_kind kind, u8 id, u64 first, u64 count)
{
	AUTO_SB b = {0};
	struct message m = {.kind = kind,
			    .reply = STR("_INBOX.a"),
			    .instance = t->instance,
			    .first = first,
			    .count = count};
	memset(m.id, id, sizeof(m.id));
	m.again = kind == MSG_BEAT && first;
	message_pack(&m, &b);
	agent_take(t->agent, sb_str(&b));
}

/* Each question has its own. */
static const char *secret_of(u8 id)
{
	static char secret[QUESTION_SECRET + 1];
	snprintf(secret, sizeof(secret), "what the asker of %u knows", id);
	return secret;
}

static void ask(struct bench *t, u8 id, const char *host, const char *one_label, u64 since_ns)
{
	AUTO_SB packed = {0}, sealed = {0}, b = {0};
	struct str to = str_z(host), of = str_z(one_label);
	struct question q = {
		.not_after_ns = SECOND_NS,
		.for_ns = SECOND_NS,
		.kind = QUESTION_PROGRAM,
		.text = STR("begin { }"),
		.host = {&to, host ? 1 : 0},
		.label = {&of, one_label ? 1 : 0},
		.reply = STR("_INBOX.a"),
		.asker = STR("ann@desk"),
	};
	memset(q.id, id, sizeof(q.id));
	sha256(secret_of(id), QUESTION_SECRET, q.secret_sum);
	struct err *e = question_pack(&q, &packed);
	CHECK(!e);
	err_free(e);
	question_seal(sb_str(&packed), STR(""), &sealed);
	struct message m = {.kind = MSG_ASK, .sealed = sb_str(&sealed), .since_ns = since_ns};
	memset(m.id, id, sizeof(m.id));
	message_pack(&m, &b);
	agent_take(t->agent, sb_str(&b));
}

#define TAKEN(since) "_INBOX.a taken: good <> since " since "\n"
#define BAD(why)     "_INBOX.a taken: bad <" why "> since 0\n"

TEST(agent_answers_once)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 4, 10);
	ask(&t, 1, NULL, NULL, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	ask(&t, 1, NULL, NULL, 0); /* sent again */
	give(&t, MSG_BEAT, 1, 0, 0);
	CHECK_STR(step(&t, text), "");
	give(&t, MSG_BEAT, 1, 1, 0); /* the asker may have missed something */
	CHECK_STR(step(&t, text), TAKEN("0"));
	give(&t, MSG_STOP, 1, 0, 0);
	CHECK_STR(step(&t, text),
		  "_INBOX.a stopped: 1\n_INBOX.a done: 10 bytes in 1 pieces, 10 here, cut\n");
	give(&t, MSG_STOP, 1, 0, 0);
	CHECK_STR(step(&t, text), "");
	give(&t, MSG_BEAT, 1, 1, 0);
	CHECK_STR(step(&t, text), TAKEN("0") "_INBOX.a done: 10 bytes in 1 pieces, 0 here, cut\n");
	give(&t, MSG_GOT, 1, 0, 0);
	agent_again(t.agent);
	ask(&t, 1, NULL, NULL, 0);
	give(&t, MSG_PULL, 1, 0, 1);
	CHECK_STR(step(&t, text), "");
	CHECK(agent_due(t.agent) == UINT64_MAX);
	bench_close(&t);
}

/* So that the asker notices that an agent is gone, however long the question is. */
TEST(agent_says_that_it_runs)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 4, 10);
	ask(&t, 1, NULL, NULL, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	for (u32 i = 0; i < 4; i++)
		give(&t, MSG_BEAT, 1, 0, 0);
	step(&t, text);
	CHECK(agent_due(t.agent) > now_ns() + 10ull * SECOND_NS);
	give(&t, MSG_BEAT, 1, 0, 0);
	step(&t, text);
	CHECK(agent_due(t.agent) <= now_ns() + BEAT_MS * (u64)MILLI_NS);
	bench_close(&t);
}

TEST(agent_sends_pieces)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 4, 2 * PIECE_BYTES + 5);
	ask(&t, 1, NULL, NULL, 0);
	give(&t, MSG_STOP, 0, 0, 0); /* of all questions */
	CHECK_STR(step(&t, text),
		  "_INBOX.a stopped: 1\n" TAKEN(
			  "0") "_INBOX.a done: 524293 bytes in 3 pieces, 0 here, cut\n");
	give(&t, MSG_PULL, 1, 1, 2);
	give(&t, MSG_PULL, 1, 0, 1);
	CHECK_STR(step(&t, text), "_INBOX.a piece: 1 of 262144 bytes\n"
				  "_INBOX.a piece: 2 of 5 bytes\n"
				  "_INBOX.a piece: 0 of 262144 bytes\n");
	give(&t, MSG_PULL, 1, 3, 1);
	give(&t, MSG_PULL, 1, ~0ull, ~0ull);
	t.instance++; /* of an earlier process of this name */
	give(&t, MSG_PULL, 1, 0, 1);
	give(&t, MSG_GOT, 1, 0, 0);
	t.instance--;
	CHECK_STR(step(&t, text), "");
	give(&t, MSG_PULL, 1, 2, 100);
	CHECK_STR(step(&t, text), "_INBOX.a piece: 2 of 5 bytes\n");
	bench_close(&t);
}

static void via(struct bench *t, const char *hub)
{
	AUTO_SB b = {0};
	struct message m = {.kind = MSG_VIA, .instance = t->instance, .hub = str_z(hub)};
	memset(m.id, 1, sizeof(m.id));
	message_pack(&m, &b);
	agent_take(t->agent, sb_str(&b));
}

static void of_hub(struct bench *t, enum message_kind kind)
{
	AUTO_SB b = {0};
	struct message m = {
		.kind = kind, .instance = t->instance, .count = 1, .reply = STR("_INBOX.b")};
	memset(m.id, 1, sizeof(m.id));
	message_pack(&m, &b);
	agent_take_of_hub(t->agent, sb_str(&b));
}

#define DONE(to) to " done: 300000 bytes in 2 pieces, 0 here, cut\n"

TEST(agent_answers_by_a_hub)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 4, 300000);
	ask(&t, 1, NULL, NULL, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	via(&t, "hub1");
	of_hub(&t, MSG_STOP); /* a hub gives no orders */
	of_hub(&t, MSG_HELD); /* there is no answer yet */
	of_hub(&t, MSG_GOT);
	CHECK_STR(step(&t, text), "");
	give(&t, MSG_STOP, 1, 0, 0);
	CHECK_STR(step(&t, text), "_INBOX.a stopped: 1\n" DONE("_INBOX.a.hub.hub1"));
	of_hub(&t, MSG_PULL);
	CHECK_STR(step(&t, text), "_INBOX.a.hub.hub1 piece: 0 of 262144 bytes\n");
	of_hub(&t, MSG_GOT); /* it is the asker who makes it forget */
	via(&t, "hub1");
	CHECK_STR(step(&t, text), "");
	of_hub(&t, MSG_HELD);
	agent_again(t.agent);
	CHECK_STR(step(&t, text), TAKEN("0"));
	give(&t, MSG_BEAT, 1, 1, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	CHECK(agent_due(t.agent) > now_ns() + (KEEP_MS - 1000) * (u64)MILLI_NS);
	via(&t, "hub2");
	CHECK_STR(step(&t, text), DONE("_INBOX.a.hub.hub2"));
	via(&t, ""); /* the hub is gone */
	CHECK_STR(step(&t, text), DONE("_INBOX.a"));
	give(&t, MSG_GOT, 1, 0, 0);
	via(&t, "hub1");
	CHECK_STR(step(&t, text), "");
	CHECK(agent_due(t.agent) == UINT64_MAX);
	bench_close(&t);
}

TEST(agent_refuses)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 2, 10);
	ask(&t, 1, NULL, NULL, 0);
	ask(&t, 2, "web1", "role=web", 400 * MILLI_NS);
	CHECK(t.for_ns == 600 * MILLI_NS);
	CHECK_STR(step(&t, text), TAKEN("400000000") TAKEN("0"));
	ask(&t, 3, NULL, NULL, 0);
	CHECK_STR(step(&t, text), BAD("2 questions are running already, which is as many as this "
				      "host allows"));
	give(&t, MSG_STOP, 1, 0, 0);
	step(&t, text);
	t.refuse = "it is not signed";
	ask(&t, 4, NULL, NULL, 0);
	CHECK_STR(step(&t, text), BAD("it is not signed"));
	t.refuse = NULL;
	ask(&t, 5, NULL, NULL, SECOND_NS);
	CHECK_STR(step(&t, text),
		  "_INBOX.a taken: bad <the question came after its end> since 1000000000\n");
	/* Others are asked: it does not answer, now or later. */
	ask(&t, 6, "web2", NULL, 0);
	ask(&t, 7, NULL, "role=db", 0);
	give(&t, MSG_BEAT, 6, 1, 0);
	give(&t, MSG_BEAT, 7, 1, 0);
	CHECK_STR(step(&t, text), "");
	give(&t, MSG_BEAT, 8, 0, 0);
	CHECK_STR(step(&t, text), "_INBOX.a want:\n");
	agent_take(t.agent, STR("sonde-m\2nonsense"));
	agent_take(t.agent, STR(""));
	CHECK_STR(step(&t, text), "");
	bench_close(&t);
}

static void stop(struct bench *t, u8 id, struct str secret, const char *order)
{
	AUTO_SB b = {0};
	struct message m = {.kind = MSG_STOP,
			    .reply = STR("_INBOX.c"),
			    .secret = secret,
			    .sealed = str_z(order)};
	memset(m.id, id, sizeof(m.id));
	message_pack(&m, &b);
	agent_take(t->agent, sb_str(&b));
}

#define MAY(id, order) "may " id " be stopped by <" order ">?\n"
#define NO             "_INBOX.c stopped: 0 <no>\n"
#define DONE_CUT       "_INBOX.a done: 10 bytes in 1 pieces, 10 here, cut\n"

/* Its asker may always end a question; others only as far as they may. */
TEST(agent_is_stopped_by_some)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 4, 10);
	t.setup.stop = may_stop;
	t.no_stop = "no";
	for (u8 id = 1; id <= 3; id++)
		ask(&t, id, NULL, NULL, 0);
	CHECK_STR(step(&t, text), TAKEN("0") TAKEN("0") TAKEN("0"));
	stop(&t, 1, STR(""), "");
	stop(&t, 1, STR(""), "order");
	stop(&t, 1, str_n(secret_of(2), QUESTION_SECRET), "");
	stop(&t, 1, str_n(secret_of(1), QUESTION_SECRET - 1), "");
	stop(&t, 0, str_n(secret_of(1), QUESTION_SECRET), ""); /* it is not that of all */
	CHECK_STR(step(&t, text), MAY("1", "") NO MAY("1", "order") NO MAY("1", "") NO MAY("1", "")
					  NO MAY("0", "") NO);
	stop(&t, 1, str_n(secret_of(1), QUESTION_SECRET), "");
	CHECK_STR(step(&t, text), "_INBOX.c stopped: 1\n" DONE_CUT);
	stop(&t, 1, STR(""), ""); /* it has ended */
	stop(&t, 9, STR(""), ""); /* it was never here */
	CHECK_STR(step(&t, text), "");
	t.no_stop = NULL;
	stop(&t, 2, STR(""), "order");
	CHECK_STR(step(&t, text), MAY("2", "order") "_INBOX.c stopped: 1\n" DONE_CUT);
	stop(&t, 0, STR(""), "all");
	CHECK_STR(step(&t, text), MAY("0", "all") "_INBOX.c stopped: 1\n" DONE_CUT);
	/* Nothing runs: an order to end all is looked at nevertheless. */
	stop(&t, 0, STR(""), "all");
	CHECK_STR(step(&t, text), MAY("0", "all"));
	t.no_stop = "no";
	stop(&t, 0, STR(""), "all");
	CHECK_STR(step(&t, text), MAY("0", "all") NO);
	bench_close(&t);
}

TEST(agent_is_found)
{
	struct bench t;
	char text[1000], *at;
	AUTO_SB subjects = {0}, b = {0};
	bench_open(&t, 2, 10);
	for (u32 i = 0; agent_subject(t.agent, i, &subjects); i++)
		sb_char(&subjects, ' ');
	CHECK_STR(subjects.s, "sonde.run.all sonde.run.host.web1 sonde.hub.web1 "
			      "sonde.run.label.env.prod sonde.run.label.role.web ");
	ask(&t, 1, NULL, NULL, 0);
	step(&t, text);
	struct message m = {.kind = MSG_WHO, .reply = STR("_INBOX.b"), .labels = STR("role=db")};
	message_pack(&m, &b);
	agent_take(t.agent, sb_str(&b));
	CHECK_STR(step(&t, text), "");
	sb_clear(&b);
	m.labels = STR("role=web,env=prod");
	message_pack(&m, &b);
	agent_take(t.agent, sb_str(&b));
	step(&t, text);
	if ((at = strstr(text, " s of 1 s")) && at > text && at[-1] >= '0' && at[-1] <= '9')
		at[-1] = 'N';
	CHECK_STR(text, "_INBOX.b here: env=prod,role=web "
			"<01010101010101010101010101010101 N s of 1 s for ann@desk>\n");
	bench_close(&t);
}

/* Askers that fetch nothing do not fill the memory. */
TEST(agent_keeps_the_newest)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 8, 50 << 20);
	for (u32 id = 1; id <= 3; id++)
		ask(&t, (u8)id, NULL, NULL, 0);
	step(&t, text);
	give(&t, MSG_STOP, 0, 0, 0);
	step(&t, text);
	for (u32 id = 1; id <= 3; id++)
		give(&t, MSG_PULL, (u8)id, 0, 1);
	CHECK_STR(step(&t, text), "_INBOX.a piece: 0 of 262144 bytes\n"
				  "_INBOX.a piece: 0 of 262144 bytes\n");
	bench_close(&t);
}

/* Older questions are forgotten, running ones are not. */
TEST(agent_remembers_so_many)
{
	struct bench t;
	char text[1000];
	bench_open(&t, 1, 10);
	ask(&t, 1, NULL, NULL, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	for (u32 i = 0; i < 3; i++)
		for (u32 id = 2; id < 250; id++)
			ask(&t, (u8)id, "web2", NULL, 0);
	give(&t, MSG_BEAT, 1, 1, 0);
	CHECK_STR(step(&t, text), TAKEN("0"));
	bench_close(&t);
}
