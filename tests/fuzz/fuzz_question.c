/* A byte that says what the rest is: a question, a sealed question, or a frame. What is accepted has one encoding. */
#include "agent/question.h"

static void take_question(struct arena *a, struct str bytes)
{
	AUTO_SB again = {0};
	AUTO_SB frame = {0};
	struct question q, back = {0};
	struct str value;
	struct err *e = question_unpack_stop(a, bytes, &q);
	if (!e) {
		struct err *packs = question_pack(&q, &again);
		if (packs || !str_eq(sb_str(&again), bytes))
			abort();
		return;
	}
	err_free(e);
	e = question_unpack(a, bytes, &q);
	if (!e) {
		struct err *packs = question_pack(&q, &again);
		if (packs || !str_eq(sb_str(&again), bytes))
			abort();
		question_frame(&q, NULL, &frame);
		question_is_for(&q, STR("web1"), &q.label);
		question_option(&q, "--budget", &value);
		/* --asked is no option of sonde fleet, and no tool: the frame of a host is not asked again. */
		back = q;
		e = question_of_frame(a, sb_str(&frame), &back);
		if (!e && q.kind != QUESTION_PROGRAM && !(e = question_pack(&back, &again)))
			abort();
	}
	err_free(e);
}

static void take_sealed(struct arena *a, struct str bytes)
{
	AUTO_SB again = {0};
	struct str question, signature;
	struct err *e = question_unseal(bytes, &question, &signature);
	if (!e) {
		question_seal(question, signature, &again);
		if (!str_eq(sb_str(&again), bytes))
			abort();
		take_question(a, question);
	}
	err_free(e);
}

/* What a frame asks is asked of hosts. */
static void take_frame(struct arena *a, struct str bytes)
{
	AUTO_SB b = {0};
	struct question q = {.not_after_ns = SECOND_NS, .reply = STR("_INBOX.x")}, back;
	struct err *e = question_of_frame(a, bytes, &q);
	e = e ? e : question_pack(&q, &b);
	if (!e) {
		struct err *opens = question_unpack(a, sb_str(&b), &back);
		if (opens)
			abort();
	}
	err_free(e);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct str rest = str_n((const char *)data + 1, n ? n - 1 : 0);
	if (!n || n > QUESTION_MAX_SEALED)
		return 0;
	switch (data[0] % 3) {
	case 0: take_question(&a, rest); break;
	case 1: take_sealed(&a, rest); break;
	default: take_frame(&a, rest); break;
	}
	arena_free(&a);
	return 0;
}
