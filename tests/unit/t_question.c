#include "agent/question.h"
#include "base/pack.h"
#include "test.h"

enum { T0 = 1000000 };

struct sample {
	struct str option[4], argument[2], host[2], label[2];
	struct question q;
};

/* A question with something in each of its parts. */
static struct question *fill(struct sample *s)
{
	*s = (struct sample){
		.option = {STR("--cgroup"), STR("a.slice"), STR("-k"), STR("--no-warnings")},
		.argument = {STR("1"), STR("two words")},
		.host = {STR("db1"), STR("web1")},
		.label = {STR("env=prod"), STR("role=web")},
		.q = {.not_before_ns = T0,
		      .not_after_ns = T0 + 20ull * SECOND_NS,
		      .for_ns = 10ull * SECOND_NS,
		      .at_ns = T0 + 3ull * SECOND_NS,
		      .kind = QUESTION_SCRIPT,
		      .name = STR("ask.bt"),
		      .text = STR("begin { exit(); }\n"),
		      .option = {s->option, 4},
		      .argument = {s->argument, 2},
		      .host = {s->host, 2},
		      .label = {s->label, 2},
		      .reply = STR("_INBOX.a1.b2"),
		      .asker = STR("ann@desk")},
	};
	for (u32 i = 0; i < QUESTION_ID; i++)
		s->q.id[i] = (u8)(16 * i + i);
	for (u32 i = 0; i < SHA256_BYTES; i++)
		s->q.secret_sum[i] = (u8)(i + 1);
	return &s->q;
}

static void put_list(struct sb *b, const struct question_list *l)
{
	sb_z(b, " [");
	for (u32 i = 0; i < l->n; i++)
		sb_fmt(b, "%s%.*s", i ? "|" : "", STRF(l->v[i]));
	sb_char(b, ']');
}

static void put_question(struct sb *b, const struct question *q)
{
	char id[QUESTION_ID_HEX + 1];
	question_id_text(q->id, id);
	sb_fmt(b, "%s %llu %llu %llu at %llu kind %u <%.*s> <%.*s>", id, q->not_before_ns,
	       q->not_after_ns, q->for_ns, q->at_ns, (u32)q->kind, STRF(q->name), STRF(q->text));
	put_list(b, &q->option);
	put_list(b, &q->argument);
	put_list(b, &q->host);
	put_list(b, &q->label);
	sb_fmt(b, " %.*s %.*s %u..%u", STRF(q->reply), STRF(q->asker), q->secret_sum[0],
	       q->secret_sum[31]);
}

TEST(question_comes_back)
{
	struct sample s;
	struct arena a = {0};
	struct question got = {0};
	AUTO_SB bytes = {0};
	AUTO_SB again = {0};
	AUTO_SB text = {0};
	struct err *e = question_pack(fill(&s), &bytes);
	CHECK(!e);
	e = question_unpack(&a, sb_str(&bytes), &got);
	CHECK(!e);
	put_question(&text, &got);
	CHECK_STR(text.s, "00112233445566778899aabbccddeeff 1000000 20001000000 10000000000 at "
			  "3001000000 kind 2 <ask.bt> "
			  "<begin { exit(); }\n> [--cgroup|a.slice|-k|--no-warnings] [1|two words] "
			  "[db1|web1] "
			  "[env=prod|role=web] _INBOX.a1.b2 ann@desk 1..32");
	e = question_pack(&got, &again);
	CHECK(!e && str_eq(sb_str(&bytes), sb_str(&again)));
	arena_free(&a);
}

/* Every cut, and every byte changed: refused, or a question whose only encoding these bytes are. */
TEST(question_has_one_encoding)
{
	struct sample s;
	AUTO_SB bytes = {0};
	struct err *e = question_pack(fill(&s), &bytes);
	CHECK(!e);
	for (u32 i = 0; i < bytes.n; i++) {
		struct arena a = {0};
		struct question got;
		e = question_unpack(&a, str_n(bytes.s, i), &got);
		CHECK(e);
		err_free(e);
		for (u32 bit = 0; bit < 8; bit++) {
			AUTO_SB again = {0};
			bytes.s[i] ^= (char)(1 << bit);
			e = question_unpack(&a, sb_str(&bytes), &got);
			struct err *packs = e ? NULL : question_pack(&got, &again);
			CHECK(!packs);
			CHECK(e || str_eq(sb_str(&bytes), sb_str(&again)));
			bytes.s[i] ^= (char)(1 << bit);
			err_free(e);
		}
		arena_free(&a);
	}
}

/* Both ways refuse the same. */
static void check_refused(const struct question *q, const char *want, int line)
{
	AUTO_SB b = {0};
	struct err *e = question_pack(q, &b);
	test_str(__FILE__, line, "question_pack()", e ? e->msg : "no error", want);
	CHECK(!b.n);
	err_free(e);
}
#define REFUSED(change, want)                     \
	do {                                      \
		struct sample s;                  \
		struct question *q = fill(&s);    \
		change;                           \
		check_refused(q, want, __LINE__); \
	} while (0)

TEST(question_limits)
{
	static char big[QUESTION_MAX_TEXT + 1];
	static struct str many[QUESTION_MAX_NAMES + 1];
	memset(big, 'a', sizeof(big));
	REFUSED(q->kind = 9, "the question is of an unknown kind (9)");
	REFUSED(q->kind = QUESTION_PROGRAM, "the question has a program and the name 'ask.bt'");
	REFUSED(q->kind = QUESTION_TOOL, "'ask.bt' is not the name of a tool");
	REFUSED((q->kind = QUESTION_TOOL, q->name = STR("opensnoop")),
		"the question has a tool and the text of a script");
	REFUSED((q->kind = QUESTION_TOOL, q->name = STR("-c")), "'-c' is not the name of a tool");
	REFUSED(q->name = STR("-e"), "'-e' cannot be the name of a script");
	REFUSED(q->name = STR("a\nb"), "'a\\nb' cannot be the name of a script");
	REFUSED(q->text = STR(""), "the script of the question is empty, or has a NUL character");
	REFUSED(q->text = STR("a\0b"),
		"the script of the question is empty, or has a NUL character");
	REFUSED(q->text = str_n(big, sizeof(big)),
		"the script of the question is longer than 512 KiB");
	REFUSED(q->not_after_ns = T0, "the question is never valid: it ends before it begins");
	REFUSED(q->not_after_ns = T0 + QUESTION_MAX_VALID_NS + 1,
		"the question is valid for more than 24 hours");
	REFUSED(q->for_ns = QUESTION_MAX_VALID_NS + 1,
		"the question asks for more than 24 hours of tracing");
	REFUSED(q->at_ns = T0 - 1, "the question is to begin at a time when it is not valid");
	REFUSED(q->at_ns = T0 + 20ull * SECOND_NS + 1,
		"the question is to begin at a time when it is not valid");
	REFUSED(q->for_ns = 0, "the question does not say for how long hosts trace");
	REFUSED(s.option[2] = STR("-o"), "the question has an option that hosts do not accept: -o");
	REFUSED(s.option[3] = STR("--budget"), "option --budget of the question has no value");
	REFUSED(q->argument.n = 257, "the question has more than 256 arguments");
	REFUSED(s.argument[1] = STR("a\x1b[1m"),
		"an argument of the question is longer than 4096 bytes, or has control characters");
	REFUSED(s.argument[1] = str_n(big, QUESTION_MAX_WORD + 1),
		"an argument of the question is longer than 4096 bytes, or has control characters");
	REFUSED(s.host[1] = STR("a b"), "'a b' is not the host of a question");
	REFUSED(s.host[1] = STR("-x"), "'-x' is not the host of a question");
	REFUSED(s.host[1] = STR("db1"), "the hosts of the question are not in order: db1");
	REFUSED(s.label[0] = STR("zone=eu"),
		"the labels of the question are not in order: role=web");
	REFUSED(s.label[0] = STR("env"), "'env' is not the label of a question");
	REFUSED(s.label[0] = STR("=prod"), "'=prod' is not the label of a question");
	REFUSED(s.label[0] = STR("env="), "'env=' is not the label of a question");
	REFUSED((q->label.v = many, q->label.n = countof(many)),
		"the question has more than 1024 labels");
	REFUSED(q->reply = STR("sonde.run.all"),
		"answers to the question would be sent to a subject "
		"that does not begin with _INBOX.");
	REFUSED(q->reply = STR("_INBOX.*"),
		"answers to the question would be sent to a subject that "
		"does not begin with _INBOX.");
	REFUSED(q->reply = STR("_INBOX.a..b"), "answers to the question would be sent to a subject "
					       "that does not begin with _INBOX.");
	REFUSED(q->asker = STR("a\tb"),
		"the name of the asker is longer than 255 bytes, or has control characters");
}

TEST(question_names)
{
	u8 id[QUESTION_ID] = {0}, other[QUESTION_ID] = {0};
	CHECK(question_is_name(STR("a-b.c_d:e@f/g%h+0")) && question_is_name(STR("fe80::1%eth0")));
	CHECK(!question_is_name(STR("")) && !question_is_name(STR("-a")));
	CHECK(!question_is_name(STR("a\0")) && !question_is_name(STR("a*")));
	struct err *e = question_new_id(id), *f = question_new_id(other);
	CHECK(!e && !f && memcmp(id, other, sizeof(id)) != 0);
}

static void check_bytes(const struct sb *b, const char *want, int line)
{
	struct arena a = {0};
	struct question q;
	struct err *e = question_unpack(&a, sb_str(b), &q);
	test_str(__FILE__, line, "question_unpack()", e ? e->msg : "no error", want);
	err_free(e);
	arena_free(&a);
}

TEST(question_of_other_bytes)
{
	struct sample s;
	AUTO_SB b = {0};
	AUTO_SB none = {0};
	struct err *e = question_pack(fill(&s), &b);
	CHECK(!e);
	check_bytes(&none, "the message is not a question", __LINE__);
	sb_char(&b, 0);
	check_bytes(&b, "the question is damaged: its parts have wrong lengths", __LINE__);
	b.s[7] = 1;
	check_bytes(&b, "the question has version 1, and this program knows version 2", __LINE__);
	b.s[0] = 'S';
	check_bytes(&b, "the message is not a question", __LINE__);
	sb_pad(&b, 'x', QUESTION_MAX);
	check_bytes(&b, "the question is larger than 640 KiB", __LINE__);
}

/* An order to stop is no question, and a question no order. */
TEST(question_stops)
{
	struct sample s;
	struct arena a = {0};
	struct question got = {0}, *q = fill(&s);
	AUTO_SB question = {0};
	AUTO_SB order = {0};
	AUTO_SB again = {0};
	struct err *e = question_pack(q, &question);
	*q = (struct question){.kind = QUESTION_STOP,
			       .name = STR("00112233445566778899aabbccddeeff"),
			       .not_before_ns = T0,
			       .not_after_ns = T0 + 1,
			       .reply = STR("_INBOX.a")};
	e = e ? e : question_pack(q, &order);
	e = e ? e : question_unpack_stop(&a, sb_str(&order), &got);
	e = e ? e : question_pack(&got, &again);
	CHECK_STR(e ? e->msg : "", "");
	err_free(e);
	CHECK(str_eq(got.name, q->name) && str_eq(sb_str(&order), sb_str(&again)));
	check_bytes(&order, "an order to stop is not a question", __LINE__);
	e = question_unpack_stop(&a, sb_str(&question), &got);
	CHECK_STR(e ? e->msg : "", "what is signed is a question, not an order to stop");
	err_free(e);
	arena_free(&a);
}

TEST(question_limits_of_orders)
{
	const struct question order = {.kind = QUESTION_STOP,
				       .not_before_ns = T0,
				       .not_after_ns = T0 + 1,
				       .reply = STR("_INBOX.a")};
#define NO_ORDER(change, want) REFUSED((*q = order, change), want)
	NO_ORDER(q->name = STR("00112233445566778899aabbccddeef"),
		 "the order to stop names what is no question");
	NO_ORDER(q->name = STR("00112233445566778899AABBCCDDEEFF"),
		 "the order to stop names what is no question");
	NO_ORDER(q->text = STR("x"), "the order to stop has parts of a question");
	NO_ORDER(q->for_ns = 1, "the order to stop has parts of a question");
	NO_ORDER(q->at_ns = T0, "the order to stop has parts of a question");
	NO_ORDER((q->option.v = s.option, q->option.n = 1),
		 "the order to stop has parts of a question");
	NO_ORDER((q->argument.v = s.argument, q->argument.n = 1),
		 "the order to stop has parts of a question");
	NO_ORDER(q->not_after_ns = T0, "the question is never valid: it ends before it begins");
#undef NO_ORDER
}

TEST(question_secrets)
{
	u8 secret[QUESTION_SECRET] = {0}, other[QUESTION_SECRET] = {0}, sum[SHA256_BYTES],
	   want[SHA256_BYTES];
	struct err *e = question_new_secret(secret, sum), *f = question_new_secret(other, want);
	CHECK(!e && !f && memcmp(secret, other, sizeof(secret)) != 0);
	sha256(secret, sizeof(secret), want);
	CHECK(!memcmp(sum, want, sizeof(sum)));
}

TEST(question_sealed)
{
	struct str bytes, signature;
	AUTO_SB b = {0};
	question_seal(STR("what"), STR("by whom"), &b);
	struct err *e = question_unseal(sb_str(&b), &bytes, &signature);
	CHECK(!e && str_is(bytes, "what") && str_is(signature, "by whom"));
	for (u32 i = 0; i < b.n; i++) {
		e = question_unseal(str_n(b.s, i), &bytes, &signature);
		CHECK_STR(e ? e->msg : "no error",
			  i < 8 ? "the message is not a question"
				: "the question is damaged: its parts have wrong lengths");
		err_free(e);
	}
}

TEST(question_is_for_hosts)
{
	struct sample s;
	struct question *q = fill(&s);
	struct str has[] = {STR("zone=eu"), STR("role=web"), STR("env=prod")};
	struct question_list all = {has, 3}, some = {has, 2}, none = {0};
	CHECK(question_is_for(q, STR("web1"), &all));
	CHECK(!question_is_for(q, STR("web2"), &all));
	CHECK(!question_is_for(q, STR("web1"), &some));
	CHECK(!question_is_for(q, STR("web1"), &none));
	q->host.n = 0;
	CHECK(question_is_for(q, STR("web2"), &all));
	q->label.n = 0;
	CHECK(question_is_for(q, STR("web2"), &none));
}

TEST(question_lists)
{
	struct sample s;
	struct question *q = fill(&s);
	struct str value, v[] = {STR("b"), STR("a"), STR("b"), STR("c"), STR("a")};
	struct question_list l = {v, 5};
	AUTO_SB b = {0};
	question_sort(&l);
	put_list(&b, &l);
	CHECK_STR(b.s, " [a|b|c]");
	CHECK(question_option(q, "--cgroup", &value) && str_is(value, "a.slice"));
	CHECK(question_option(q, "-k", &value) && !value.n);
	CHECK(!question_option(q, "--unsafe", &value));
	s.option[1] = STR("--unsafe"); /* a value, not an option */
	CHECK(!question_option(q, "--unsafe", &value));
}

/* A frame of these words, and what comes of it: the question, or why not. */
static void check_frame(const char *script, u32 at, const char *words, const char *want, int line)
{
	struct arena a = {0};
	struct question q = {0};
	AUTO_SB frame = {0};
	AUTO_SB list = {0};
	AUTO_SB got = {0};
	struct str rest = str_z(words), word;
	u32 n = 0;
	while (str_cut(&rest, '|', &word)) {
		pack_str(&list, word);
		n++;
	}
	pack_str(&frame, str_z(script));
	pack_u32(&frame, at);
	pack_u32(&frame, n);
	sb_add(&frame, sb_str(&list));
	struct err *e = question_of_frame(&a, sb_str(&frame), &q);
	if (e)
		sb_z(&got, e->msg);
	else
		sb_fmt(&got, "%u <%.*s> <%.*s> %llu", (u32)q.kind, STRF(q.name), STRF(q.text),
		       q.for_ns);
	if (!e) {
		put_list(&got, &q.option);
		put_list(&got, &q.argument);
	}
	test_str(__FILE__, line, words, got.s, want);
	err_free(e);
	arena_free(&a);
}
#define FRAME(script, at, words, want) check_frame(script, at, words, want, __LINE__)

TEST(question_from_frames)
{
	FRAME("", 0,
	      "sonde|-q|-f|answer:alone|-k|--budget|2%|--for|10000000000ns|-e|begin {}|x|--for",
	      "1 <> <begin {}> 10000000000 [-k|--budget|2%] [x|--for]");
	FRAME("end {}", 6, "sonde|-q|-f|answer:alone|--for|5ns|a.bt|-k",
	      "2 <a.bt> <end {}> 5 [] [-k]");
	FRAME("", 0, "sonde|-q|-f|answer:alone|biolatency|1|3", "3 <biolatency> <> 0 [] [1|3]");
	FRAME("", 0, "sonde|-q|-f|answer:alone|--cgroup|--for|x", "3 <x> <> 0 [--cgroup|--for] []");
	const char *bad = "the question is not as 'sonde fleet' writes it";
	FRAME("", 0, "sonde|-q|-f|answer:alone", bad);
	FRAME("", 0, "sonde|-q|-f|text|x", bad);
	FRAME("", 0, "sonde|-q|-f|answer:alone|--for|5s|x", bad);
	FRAME("", 0, "sonde|-q|-f|answer:alone|--for|0ns|x", bad);
	FRAME("", 0, "sonde|-q|-f|answer:alone|--for|5ns", bad);
	FRAME("", 0, "sonde|-q|-f|answer:alone|-k|--cgroup", bad);
	FRAME("", 0, "sonde|-q|-f|answer:alone|-e", bad);
	FRAME("x", 5, "sonde|-q|-f|answer:alone|a.bt|b", bad);
	FRAME("x", 9, "sonde|-q|-f|answer:alone|a.bt", bad);
}

/* What a host gets: the text, which word names it, and the words. */
static void check_to_frame(const struct question *q, const char *want, int line)
{
	struct str more[] = {STR("--deny"), STR("write")};
	AUTO_SB b = {0};
	AUTO_SB got = {0};
	question_frame(q, &(struct question_list){more, 2}, &b);
	struct bytes in = bytes_of(b.s, b.n);
	struct str text = unpack_str(&in);
	u32 at = bytes_u32(&in), n = bytes_u32(&in);
	sb_fmt(&got, "<%.*s> %u:", STRF(text), at);
	for (u32 i = 0; i < n && !in.bad; i++) {
		struct str word = unpack_str(&in);
		sb_fmt(&got, "|%.*s", STRF(word));
	}
	CHECK(!in.bad && in.at == in.n);
	test_str(__FILE__, line, "question_frame()", got.s, want);
}

TEST(question_to_frames)
{
	struct sample s;
	struct question *q = fill(&s);
	check_to_frame(q,
		       "<begin { exit(); }\n> "
		       "13:|sonde|-q|-f|answer:alone|--cgroup|a.slice|-k|--no-warnings|--deny|"
		       "write|--for|10000000000ns|--asked|ask.bt|1|two words",
		       __LINE__);
	q->kind = QUESTION_PROGRAM;
	q->option.n = 0;
	check_to_frame(q,
		       "<begin { exit(); }\n> "
		       "9:|sonde|-q|-f|answer:alone|--deny|write|--for|10000000000ns|"
		       "--asked|-|1|two words",
		       __LINE__);
	q->kind = QUESTION_TOOL;
	q->name = STR("biolatency");
	q->text = STR("");
	q->for_ns = 0;
	check_to_frame(q,
		       "<> 0:|sonde|-q|-f|answer:alone|--deny|write|--asked|biolatency|1|two words",
		       __LINE__);
}
