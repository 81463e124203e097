/* Messages between askers and agents, each with its length (2 bytes) before it: what is accepted has one encoding, and an
 * agent or a hub that gets all of them answers with messages that are accepted. */
#include "agent/agent.h"
#include "agent/hub.h"
#include "base/bytes.h"

static bool sent(void *arg, const char *subject, struct str bytes)
{
	struct message m;
	(void)arg;
	if (message_unpack(bytes, &m))
		abort();
	return subject[0];
}

static struct err *started(void *arg, const struct question *q, u64 for_ns, struct task **ret)
{
	(void)q;
	task_sample(arg, for_ns % 3, ret);
	return NULL;
}

static struct err *stops(void *arg, const u8 id[QUESTION_ID], struct str order)
{
	struct arena a = {0};
	struct str bytes, signature;
	struct question q;
	(void)arg;
	(void)id;
	struct err *e = question_unseal(order, &bytes, &signature);
	e = e ? e : question_unpack_stop(&a, bytes, &q);
	arena_free(&a);
	return e;
}

static struct err *merges(void *arg, struct task **ret)
{
	task_sample(arg, 1, ret);
	return NULL;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct str label[] = {STR("env=prod"), STR("role=web")};
	struct sample sample = {STR("answer")};
	const struct agent_setup setup = {
		.host = STR("web1"),
		.label = {label, countof(label)},
		.max_running = 2,
		.arg = &sample,
		.send = sent,
		.start = started,
		.stop = stops,
	};
	const struct hub_setup hub_setup = {
		.host = STR("hub1"),
		.max_running = 2,
		.arg = &sample,
		.send = sent,
		.start = merges,
	};
	struct agent *a = agent_new(&setup);
	struct hub *h = hub_new(&hub_setup);
	struct bytes b = bytes_of(data, n);
	while (!b.bad && b.at < b.n) {
		AUTO_SB again = {0};
		struct message m;
		u16 size = bytes_u16(&b);
		const u8 *p = bytes_take(&b, size);
		struct str bytes = str_n((const char *)p, p ? size : 0);
		if (p && !message_unpack(bytes, &m)) {
			message_pack(&m, &again);
			if (!str_eq(sb_str(&again), bytes))
				abort();
		}
		if (p)
			agent_take(a, bytes);
		if (p && size % 2)
			agent_take_of_hub(a, bytes);
		if (p)
			hub_take(h, bytes);
		agent_step(a);
		hub_step(h);
	}
	agent_again(a);
	hub_again(h);
	agent_step(a);
	hub_step(h);
	agent_free(a);
	hub_free(h);
	return 0;
}
