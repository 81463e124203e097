#include "agent/guard.h"
#include "agent/sign.h"
#include "base/file.h"
#include "base/spawn.h"
#include "test.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Keys, a file of those who may sign, and a question. */
struct bench {
	struct arena a;
	char dir[32];
	const char *allowed;
	struct sb bytes;
};

static bool run(char *const *argv)
{
	int pid, out, status = -1;
	char buf[256];
	struct err *e = spawn_read(argv, true, &pid, &out);
	bool good = !e;
	err_free(e);
	if (!good)
		return false;
	while (read(out, buf, sizeof(buf)) > 0)
		;
	close(out);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static const char *file(struct bench *b, const char *name)
{
	return arena_fmt(&b->a, "%s/%s", b->dir, name);
}

/* What ssh-keygen is to call the key: the first two words of its file. */
static const char *public_key(struct bench *b, const char *name)
{
	AUTO_SB text = {0};
	struct str rest, kind, key;
	CHECK(!file_read(arena_fmt(&b->a, "%s.pub", file(b, name)), 4096, &text));
	rest = sb_str(&text);
	str_cut(&rest, ' ', &kind);
	str_cut(&rest, ' ', &key);
	return arena_fmt(&b->a, "%.*s %.*s", STRF(kind), STRF(key));
}

static bool make_key(struct bench *b, const char *name, const char *passphrase)
{
	const char *argv[] = {"ssh-keygen", "-q", "-t",          "ed25519", "-N",
			      passphrase,   "-f", file(b, name), NULL};
	return run((char *const *)argv);
}

static void fill_question(struct bench *b)
{
	struct question q = {.not_before_ns = 1000,
			     .not_after_ns = 2000,
			     .for_ns = 1,
			     .kind = QUESTION_PROGRAM,
			     .text = STR("begin { exit(); }"),
			     .reply = STR("_INBOX.x"),
			     .asker = STR("ann@desk")};
	struct err *e = question_pack(&q, &b->bytes);
	CHECK(!e);
}

/* False: there is no ssh-keygen. */
static bool set_up(struct bench *b)
{
	static const char *const keys[] = {"ann", "bob", "cid", "dan", "eve"};
	AUTO_SB text = {0};
	*b = (struct bench){.dir = "/tmp/sonde-unit.XXXXXX"};
	CHECK(mkdtemp(b->dir));
	signal(SIGPIPE, SIG_IGN); /* as the agent does: ssh-keygen may end before it has read all */
	for (u32 i = 0; i < countof(keys); i++)
		if (!make_key(b, keys[i], ""))
			return false;
	sb_fmt(&text, "# who may ask\nann@desk,root@desk namespaces=\"sonde\" %s\n",
	       public_key(b, "ann"));
	sb_fmt(&text, "bob@desk valid-before=\"20200101\" %s\n", public_key(b, "bob"));
	sb_fmt(&text, "cid@desk valid-after=\"20990101\" %s\n", public_key(b, "cid"));
	sb_fmt(&text, "dan@desk namespaces=\"git\" %s\n", public_key(b, "dan"));
	b->allowed = file(b, "allowed");
	CHECK(!file_write(b->allowed, sb_str(&text)) && !chmod(b->allowed, 0644));
	fill_question(b);
	return true;
}

static void tear_down(struct bench *b)
{
	const char *argv[] = {"rm", "-rf", b->dir, NULL};
	CHECK(run((char *const *)argv));
	sb_free(&b->bytes);
	arena_free(&b->a);
}

/* Who has signed, or why not. */
static void check_signer(struct bench *b, struct str bytes, struct str signature, const char *want,
			 int line)
{
	AUTO_SB signer = {0};
	struct err *e = sign_check(b->allowed, bytes, signature, &signer);
	CHECK(!e || !signer.n);
	test_str(__FILE__, line, "sign_check()", e ? e->msg : signer.s, want);
	err_free(e);
}

static struct str signature_of(struct bench *b, const char *key)
{
	AUTO_SB s = {0};
	struct err *e = sign_make(file(b, key), sb_str(&b->bytes), &s);
	CHECK_STR(e ? e->msg : "", "");
	err_free(e);
	return arena_str(&b->a, sb_str(&s));
}

static void check_key(struct bench *b, const char *key, const char *want, int line)
{
	check_signer(b, sb_str(&b->bytes), signature_of(b, key), want, line);
}

TEST(sign_and_check)
{
	struct bench b;
	if (!set_up(&b)) {
		test_skip("no ssh-keygen");
		return;
	}
	check_key(&b, "ann", "ann@desk", __LINE__);
	check_key(&b, "bob", "the key that signed the question is no longer valid", __LINE__);
	check_key(&b, "cid", "the key that signed the question is not valid yet", __LINE__);
	check_key(&b, "dan", "the key that signed the question is not for questions", __LINE__);
	check_key(&b, "eve", "the question is signed by a key that this host does not allow",
		  __LINE__);
	struct str good = signature_of(&b, "ann");
	check_signer(&b, STR("other bytes"), good, "the signature is not that of this question",
		     __LINE__);
	check_signer(&b, sb_str(&b.bytes), str_n(good.s, good.n / 2), "the signature is damaged",
		     __LINE__);
	check_signer(&b, sb_str(&b.bytes), STR(""), "the signature is damaged", __LINE__);
	check_signer(&b, sb_str(&b.bytes), STR("\x1b[1m\n"), "the signature is damaged", __LINE__);
	b.allowed = file(&b, "none");
	check_signer(&b, sb_str(&b.bytes), good,
		     arena_fmt(&b.a, "this host cannot read %s", b.allowed), __LINE__);
	tear_down(&b);
}

/* Every byte counts. */
TEST(sign_covers_all)
{
	struct bench b;
	if (!set_up(&b)) {
		test_skip("no ssh-keygen");
		return;
	}
	struct str good = signature_of(&b, "ann");
	for (u32 i = 0; i < b.bytes.n; i += 5) {
		b.bytes.s[i] ^= 1;
		check_signer(&b, sb_str(&b.bytes), good,
			     "the signature is not that of this question", __LINE__);
		b.bytes.s[i] ^= 1;
	}
	check_signer(&b, sb_str(&b.bytes), good, "ann@desk", __LINE__);
	tear_down(&b);
}

/* A signature of the same bytes that was made for something else. */
TEST(sign_for_another_purpose)
{
	struct bench b;
	AUTO_SB signature = {0};
	if (!set_up(&b)) {
		test_skip("no ssh-keygen");
		return;
	}
	const char *path = file(&b, "question"), *sig = arena_fmt(&b.a, "%s.sig", path);
	const char *argv[] = {"ssh-keygen",    "-Y", "sign", "-n", "file", "-f",
			      file(&b, "ann"), path, NULL};
	CHECK(!file_write(path, sb_str(&b.bytes)) && run((char *const *)argv));
	CHECK(!file_read(sig, 16384, &signature));
	check_signer(&b, sb_str(&b.bytes), sb_str(&signature),
		     "the signature is for another purpose (its namespace is not sonde)", __LINE__);
	tear_down(&b);
}

static void check_cannot(struct bench *b, const char *key, const char *want, int line)
{
	AUTO_SB s = {0};
	struct err *e = sign_make(key, sb_str(&b->bytes), &s);
	test_str(__FILE__, line, "sign_make()", e ? e->msg : "signed", want);
	CHECK(!s.n);
	err_free(e);
}

TEST(sign_errors)
{
	struct bench b;
	if (!set_up(&b) || !make_key(&b, "fay", "secret")) {
		test_skip("no ssh-keygen");
		return;
	}
	const char *fay = file(&b, "fay"), *none = file(&b, "none"), *path = getenv("PATH");
	check_cannot(
		&b, fay,
		arena_fmt(
			&b.a,
			"cannot sign with %s: it has a passphrase; give it to ssh-agent by ssh-add",
			fay),
		__LINE__);
	AUTO_SB signature = {0};
	struct err *e = sign_make(none, sb_str(&b.bytes), &signature);
	CHECK(e &&
	      str_starts(str_z(e->msg), str_z(arena_fmt(&b.a, "cannot sign with %s: ", none))));
	CHECK(e && strstr(e->msg, "No such file or directory") && !signature.n);
	err_free(e);
	e = sign_ready(b.allowed);
	CHECK(!e);
	CHECK(!chmod(b.allowed, 0666));
	e = sign_ready(b.allowed);
	CHECK_STR(e ? e->msg : "",
		  arena_fmt(&b.a, "%s: anybody may write to it (chmod o-w)", b.allowed));
	err_free(e);
	e = sign_ready(none);
	CHECK_STR(e ? e->msg : "", arena_fmt(&b.a, "open %s: No such file or directory", none));
	err_free(e);
	/* Folders that depend on where a process is are not searched. */
	path = arena_fmt(&b.a, "%s", path);
	setenv("PATH", "usr/bin::.", 1);
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(here >= 0 && !chdir("/"));
	e = sign_ready(b.allowed);
	CHECK_STR(e ? e->msg : "",
		  "signatures are checked by ssh-keygen (package openssh-client), which is not "
		  "in $PATH");
	err_free(e);
	setenv("PATH", path, 1);
	CHECK(!fchdir(here));
	close(here);
	tear_down(&b);
}

/* ---- policy: what a host answers to questions that are signed, or are not ---- */

static const u64 noon = 1000ull * SECOND_NS;

struct court {
	struct bench b;
	struct conf c;
	struct policy p;
	struct question q;
	struct str label[1], host[2], option[4], argument[1];
};

static bool court_open(struct court *t, const char *conf)
{
	AUTO_SB text = {0};
	*t = (struct court){0};
	if (!set_up(&t->b))
		return false;
	sb_fmt(&text,
	       "url = nats://h\nallowed_signers = %s\nmax_seconds = 30\n%s[labels]\nenv = prod\n",
	       t->b.allowed, conf);
	struct err *e = conf_parse(&t->c, "fleet.conf", sb_str(&text));
	CHECK_STR(e ? e->msg : "", "");
	t->p = (struct policy){.c = &t->c, .host = STR("web1")};
	e = e ? e : replay_open(t->b.dir, noon, &t->p.replay);
	CHECK(!e);
	e = e ? e : policy_ready(&t->c);
	CHECK_STR(e ? e->msg : "", "");
	err_free(e);
	t->label[0] = STR("env=prod");
	t->host[0] = STR("db1");
	t->host[1] = STR("web1");
	t->option[0] = STR("-k");
	t->argument[0] = STR("x");
	t->q = (struct question){.id = {1},
				 .not_before_ns = noon,
				 .not_after_ns = noon + 60ull * SECOND_NS,
				 .for_ns = 10ull * SECOND_NS,
				 .kind = QUESTION_SCRIPT,
				 .name = STR("ask.bt"),
				 .text = STR("abc"),
				 .option = {t->option, 1},
				 .argument = {t->argument, 1},
				 .host = {t->host, 2},
				 .label = {t->label, 1},
				 .reply = STR("_INBOX.x"),
				 .asker = STR("ann@desk")};
	return true;
}

static void court_close(struct court *t)
{
	replay_free(t->p.replay);
	conf_free(&t->c);
	tear_down(&t->b);
}

/* The question as it is, with this signature: who has signed, or why it is refused. */
static void judge_by(struct court *t, struct str signature, u64 seconds, const char *want, int line)
{
	struct judgement j = {0};
	struct question q;
	AUTO_SB bytes = {0};
	struct err *e = question_pack(&t->q, &bytes);
	CHECK_STR(e ? e->msg : "", "");
	e = e ? e : question_unpack(&t->b.a, sb_str(&bytes), &q);
	e = e ? e
	      : policy_judge(&t->p, &q, sb_str(&bytes), signature, noon + seconds * SECOND_NS, &j);
	test_str(__FILE__, line, "policy_judge()",
		 e            ? e->msg
		 : j.signer.n ? j.signer.s
			      : "unsigned",
		 want);
	err_free(e);
	judgement_free(&j);
}

/* Signed with this key; "": not at all. Each question is a new one. */
static void judge(struct court *t, const char *key, const char *want, int line)
{
	t->q.id[1]++;
	sb_clear(&t->b.bytes);
	struct err *e = question_pack(&t->q, &t->b.bytes);
	CHECK_STR(e ? e->msg : "", "");
	err_free(e);
	judge_by(t, *key ? signature_of(&t->b, key) : STR(""), 1, want, line);
}
#define JUDGE(t, key, want) judge(t, key, want, __LINE__)

#define NOT_SIGNED "this host runs what is signed, and the question is not signed"
#define ONLY_TOOLS                                                                            \
	"this host runs tools, but scripts only if they are signed, and the question is not " \
	"signed"

TEST(policy_of_signatures)
{
	struct court t;
	if (!court_open(&t, "")) {
		test_skip("no ssh-keygen");
		return;
	}
	JUDGE(&t, "ann", "ann@desk");
	JUDGE(&t, "", NOT_SIGNED);
	JUDGE(&t, "bob", "the key that signed the question is no longer valid");
	JUDGE(&t, "cid", "the key that signed the question is not valid yet");
	JUDGE(&t, "dan", "the key that signed the question is not for questions");
	JUDGE(&t, "eve", "the question is signed by a key that this host does not allow");
	t.q.kind = QUESTION_TOOL;
	t.q.name = STR("biolatency");
	t.q.text = STR("");
	JUDGE(&t, "", NOT_SIGNED);
	JUDGE(&t, "ann", "ann@desk");
	court_close(&t);
}

TEST(policy_of_times)
{
	struct court t;
	if (!court_open(&t, "")) {
		test_skip("no ssh-keygen");
		return;
	}
	struct err *e = question_pack(&t.q, (sb_clear(&t.b.bytes), &t.b.bytes));
	CHECK(!e);
	struct str good = signature_of(&t.b, "ann");
	judge_by(&t, good, (u64)-6,
		 "the question is too early by 6.0 s (or the clocks of this host and of the "
		 "asker differ)",
		 __LINE__);
	judge_by(
		&t, good, 66,
		"the question has expired, and is late by 6.0 s (or the clocks of this host and of "
		"the asker differ)",
		__LINE__);
	judge_by(&t, good, 2, "ann@desk", __LINE__);
	judge_by(&t, good, 4,
		 "the question was asked before: it is a copy, or the agent was restarted",
		 __LINE__);
	replay_free(t.p.replay);
	e = replay_open(t.b.dir, noon, &t.p.replay);
	CHECK(!e);
	judge_by(&t, good, 4,
		 "the question was asked before: it is a copy, or the agent was restarted",
		 __LINE__);
	court_close(&t);
}

/* Each part of a signed question is changed, and the signature kept. */
TEST(policy_of_altered_questions)
{
	struct court t;
	if (!court_open(&t, "unsafe = signed\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	struct err *e = question_pack(&t.q, (sb_clear(&t.b.bytes), &t.b.bytes));
	CHECK(!e);
	struct str good = signature_of(&t.b, "ann");
	const struct question was = t.q;
#define ALTER(change)                                                                          \
	do {                                                                                   \
		change;                                                                        \
		judge_by(&t, good, 1, "the signature is not that of this question", __LINE__); \
		t.q = was;                                                                     \
	} while (0)
	ALTER(t.q.id[15] = 1);
	ALTER(t.q.not_before_ns--);
	ALTER(t.q.not_after_ns++);
	ALTER(t.q.for_ns++);
	ALTER((t.q.kind = QUESTION_PROGRAM, t.q.name = STR("")));
	ALTER(t.q.name = STR("ask.bx"));
	ALTER(t.q.text = STR("abd"));
	ALTER((t.option[1] = STR("--unsafe"), t.q.option.n = 2));
	ALTER(t.q.option.n = 0);
	ALTER(t.q.argument.n = 0);
	ALTER(t.q.host.n = 0);
	ALTER(t.q.label.n = 0);
	ALTER(t.q.reply = STR("_INBOX.y"));
	ALTER(t.q.asker = STR("bob@desk"));
	ALTER(t.q.secret_sum[31] = 1);
#undef ALTER
	judge_by(&t, good, 1, "ann@desk", __LINE__);
	court_close(&t);
}

/* ---- orders to stop ---- */

#define NAMED "0123456789abcdef0123456789abcdef"

static void make_order(struct court *t)
{
	t->q = (struct question){.id = {1, t->q.id[1]},
				 .not_before_ns = noon,
				 .not_after_ns = noon + 60ull * SECOND_NS,
				 .kind = QUESTION_STOP,
				 .name = STR(NAMED),
				 .reply = STR("_INBOX.x"),
				 .asker = STR("ann@desk")};
}

/* The order as it is, with this signature. */
static void stop_by(struct court *t, struct str signature, u64 seconds, const char *want, int line)
{
	struct judgement j = {0};
	struct question q;
	AUTO_SB bytes = {0};
	struct err *e = question_pack(&t->q, &bytes);
	CHECK_STR(e ? e->msg : "", "");
	e = e ? e : question_unpack_stop(&t->b.a, sb_str(&bytes), &q);
	e = e ? e
	      : policy_stops(&t->p, &q, sb_str(&bytes), signature, noon + seconds * SECOND_NS, &j);
	test_str(__FILE__, line, "policy_stops()", e ? e->msg : j.signer.s, want);
	err_free(e);
	judgement_free(&j);
}

static struct str sign_order(struct court *t, const char *key)
{
	t->q.id[1]++;
	sb_clear(&t->b.bytes);
	struct err *e = question_pack(&t->q, &t->b.bytes);
	CHECK_STR(e ? e->msg : "", "");
	err_free(e);
	return signature_of(&t->b, key);
}

#define NO_ORDER                                                                               \
	"this host stops questions only for their askers or by signed orders, and this order " \
	"is not signed"
#define ASKED_BEFORE "the question was asked before: it is a copy, or the agent was restarted"

TEST(policy_of_stops)
{
	static const struct {
		const char *key, *want;
	} keys[] = {
		{"bob", "the key that signed the question is no longer valid"},
		{"cid", "the key that signed the question is not valid yet"},
		{"dan", "the key that signed the question is not for questions"},
		{"eve", "the question is signed by a key that this host does not allow"},
		{"ann", "ann@desk"},
	};
	struct court t;
	if (!court_open(&t, "")) {
		test_skip("no ssh-keygen");
		return;
	}
	make_order(&t);
	stop_by(&t, STR(""), 1, NO_ORDER, __LINE__);
	stop_by(&t, STR("nonsense"), 1, "the signature is damaged", __LINE__);
	for (u32 i = 0; i < countof(keys); i++)
		stop_by(&t, sign_order(&t, keys[i].key), 1, keys[i].want, __LINE__);
	struct str good = sign_order(&t, "ann");
	stop_by(&t, good, (u64)-6,
		"the question is too early by 6.0 s (or the clocks of this host and of the asker "
		"differ)",
		__LINE__);
	stop_by(&t, good, 66,
		"the question has expired, and is late by 6.0 s (or the clocks of this host and of "
		"the asker differ)",
		__LINE__);
	const struct question was = t.q;
#define ALTER(change)                                                                         \
	do {                                                                                  \
		change;                                                                       \
		stop_by(&t, good, 1, "the signature is not that of this question", __LINE__); \
		t.q = was;                                                                    \
	} while (0)
	ALTER(t.q.name = STR("1123456789abcdef0123456789abcdef"));
	ALTER(t.q.name = STR(""));
	ALTER(t.q.id[15] = 1);
	ALTER(t.q.not_before_ns--);
	ALTER(t.q.not_after_ns++);
	ALTER(t.q.reply = STR("_INBOX.y"));
	ALTER(t.q.asker = STR("bob@desk"));
#undef ALTER
	stop_by(&t, good, 1, "ann@desk", __LINE__);
	stop_by(&t, good, 2, ASKED_BEFORE, __LINE__);
	replay_free(t.p.replay);
	struct err *e = replay_open(t.b.dir, noon, &t.p.replay);
	CHECK(!e);
	stop_by(&t, good, 2, ASKED_BEFORE, __LINE__);
	t.q.host = (struct question_list){t.host, 1}; /* db1 */
	stop_by(&t, sign_order(&t, "ann"), 1, "the question is for other hosts", __LINE__);
	court_close(&t);
}

static const u8 named[QUESTION_ID] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
				      0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};

/* What an agent answers to an order, "" if it stops, and its record. */
static void check_stop(struct guard *g, const u8 id[QUESTION_ID], struct str order,
		       const char *want, const char *record, int line)
{
	AUTO_SB json = {0};
	struct err *e = guard_stop(g, id, order, &json);
	test_str(__FILE__, line, "guard_stop()", e ? e->msg : "", want);
	const char *kind = json.n ? strstr(json.s, "\"signer\"") : "";
	test_str(__FILE__, line, "its record", kind ? kind : json.s, record);
	err_free(e);
}
#define RECORD(signer, what, end, why)                                                       \
	"\"signer\": \"" signer "\", \"kind\": \"stop\", \"what\": \"" what                  \
	"\", \"sha256\": \"\", \"for_ns\": 0, \"took_ns\": 0, \"cpu_ns\": 0, \"bytes\": 0, " \
	"\"end\": \"" end "\", \"why\": \"" why "\"}"
#define REFUSES(id, order, what, why) \
	check_stop(g, id, order, why, RECORD("", what, "refused", why), __LINE__)

static struct str sealed_by(struct court *t, const char *key)
{
	AUTO_SB b = {0};
	struct str signature = *key ? sign_order(t, key) : STR("");
	question_seal(sb_str(&t->b.bytes), signature, &b);
	return arena_str(&t->b.a, sb_str(&b));
}

TEST(guard_stops)
{
	static const u8 all[QUESTION_ID], other[QUESTION_ID] = {1};
	struct court t;
	struct guard *g = NULL;
	if (!court_open(&t, "allow = tools\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	replay_free(t.p.replay);
	t.p.replay = NULL;
	t.c.state = t.b.dir;
	struct err *e = guard_open(&t.c, STR("web1"), &g);
	CHECK_STR(e ? e->msg : "", "");
	t.q.not_before_ns = clock_ns(CLOCK_REALTIME);
	t.q.not_after_ns = t.q.not_before_ns + 60ull * SECOND_NS;
	struct str question = sealed_by(&t, "ann");
	make_order(&t);
	struct str expired = sealed_by(&t, "ann");
	t.q.not_before_ns = clock_ns(CLOCK_REALTIME);
	t.q.not_after_ns = t.q.not_before_ns + 60ull * SECOND_NS;
	struct str none = sealed_by(&t, ""), eve = sealed_by(&t, "eve"), ann = sealed_by(&t, "ann");
	REFUSES(named, STR(""), NAMED, NO_ORDER);
	REFUSES(all, STR(""), "--all", NO_ORDER);
	REFUSES(named, STR("nonsense"), NAMED, "the message is not a question");
	REFUSES(named, question, NAMED, "what is signed is a question, not an order to stop");
	REFUSES(all, ann, "--all", "the order to stop is not for what the message names");
	REFUSES(other, ann, "01000000000000000000000000000000",
		"the order to stop is not for what the message names");
	REFUSES(named, none, NAMED, NO_ORDER);
	REFUSES(named, eve, NAMED,
		"the order to stop is signed by a key that this host does not allow");
	AUTO_SB json = {0};
	e = guard_stop(g, named, expired, &json);
	CHECK(e &&
	      str_starts(str_z(e->msg), STR("the order to stop has expired, and is late by ")));
	err_free(e);
	check_stop(g, named, ann, "", RECORD("ann@desk", NAMED, "answered", ""), __LINE__);
	const char *copy =
		"the order to stop was asked before: it is a copy, or the agent was restarted";
	check_stop(g, named, ann, copy,
		   RECORD("ann@desk", NAMED, "refused",
			  "the order to stop was asked before: it is a copy, or the agent was "
			  "restarted"),
		   __LINE__);
	t.q.name = STR("");
	check_stop(g, all, sealed_by(&t, "ann"), "", RECORD("ann@desk", "--all", "answered", ""),
		   __LINE__);
	t.c.allow = CONF_ANY;
	check_stop(g, named, STR(""), "", "", __LINE__);
	guard_free(g);
	court_close(&t);
}

TEST(policy_of_other_things)
{
	struct court t;
	if (!court_open(&t, "allow = any\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	JUDGE(&t, "", "unsigned");
	JUDGE(&t, "ann", "ann@desk");
	JUDGE(&t, "eve", "the question is signed by a key that this host does not allow");
	t.q.for_ns = 30500ull * MILLI_NS;
	JUDGE(&t, "ann", "the question asks for 31 s of tracing, and this host allows 30 s");
	t.q.for_ns = 30ull * SECOND_NS;
	JUDGE(&t, "", "unsigned");
	t.option[0] = STR("--unsafe");
	JUDGE(&t, "ann", "this host does not allow --unsafe");
	t.option[0] = STR("--budget");
	t.option[1] = STR("much");
	t.q.option.n = 2;
	JUDGE(&t, "", "'much' is no budget: per cent are needed, as in 2%");
	t.q.option.n = 0;
	t.host[1] = STR("web2");
	JUDGE(&t, "ann", "the question is for other hosts");
	t.q.host.n = 0;
	t.label[0] = STR("env=test");
	JUDGE(&t, "ann", "the question is for other hosts");
	court_close(&t);
}

TEST(policy_of_tools)
{
	struct court t;
	if (!court_open(&t, "allow = tools\nunsafe = signed\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	JUDGE(&t, "", ONLY_TOOLS);
	JUDGE(&t, "ann", "ann@desk");
	t.q.kind = QUESTION_TOOL;
	t.q.name = STR("biolatency");
	t.q.text = STR("");
	t.q.for_ns = 0;
	JUDGE(&t, "", "unsigned");
	t.option[0] = STR("--unsafe");
	JUDGE(&t, "", "this host allows --unsafe only in questions that are signed");
	JUDGE(&t, "ann", "ann@desk");
	court_close(&t);
}

/* The options that sonde gets, and the digest of the script. */
static void check_words(const char *conf, const char *option, const char *signer, const char *want,
			int line)
{
	struct arena a = {0};
	struct conf c;
	struct question q = {.text = STR("abc"), .kind = QUESTION_PROGRAM};
	struct judgement j = {0};
	struct question_list more;
	AUTO_SB b = {0};
	struct str rest = str_z(option), word;
	struct err *e = conf_parse(&c, "f", str_z(arena_fmt(&a, "url = nats://h\n%s", conf)));
	CHECK(!e);
	while (*option && str_cut(&rest, ' ', &word))
		arena_push(&a, q.option.v, q.option.n, word);
	sb_z(&j.signer, signer);
	policy_words(&c, &q, &j, &a, &more);
	for (u32 i = 0; i < more.n; i++)
		sb_fmt(&b, "%s%.*s", i ? " " : "", STRF(more.v[i]));
	test_str(__FILE__, line, conf, b.s, want);
	judgement_free(&j);
	conf_free(&c);
	arena_free(&a);
}
#define WORDS(conf, option, signer, want) check_words(conf, option, signer, want, __LINE__)

TEST(policy_options)
{
	WORDS("", "", "ann", "--budget 2.0000% --deny write");
	WORDS("max_cpu = 0.5%", "--budget 0.25%", "ann", "--budget 0.2500% --deny write");
	WORDS("max_cpu = 100%", "--budget 1%", "", "--budget 1.0000% --deny write");
	WORDS("max_cpu = 1%", "--budget 3%", "", "--budget 1.0000% --deny write");
	WORDS("deny = cat, str:*password*", "", "ann",
	      "--budget 2.0000% --deny cat,str:*password*,write");
	WORDS("unsafe = signed", "--unsafe", "ann", "--budget 2.0000%");
	WORDS("unsafe = signed\ndeny = signal", "--unsafe -k", "ann",
	      "--budget 2.0000% --deny signal");
	WORDS("allow = tools", "", "", "--budget 2.0000% --deny write,probes");
	WORDS("allow = tools", "", "ann", "--budget 2.0000% --deny write");
	WORDS("[labels]\nzone = a\nrole = db", "", "ann",
	      "--budget 2.0000% --label role=db,zone=a --deny write");
}

TEST(policy_limits)
{
	struct conf c = {.max_ns = 30, .max_memory = 64 << 20};
	CHECK(policy_for_ns(&c, 0) == 30 && policy_for_ns(&c, 31) == 30 &&
	      policy_for_ns(&c, 29) == 29);
	const char *argv[] = {"sh", "-c", "read x; ulimit -d", NULL};
	int pid, end[3], status;
	char got[32] = "";
	struct err *e = spawn_talk((char *const *)argv, &pid, end);
	CHECK(!e);
	e = e ? e : policy_limit(&c, pid);
	CHECK(!e);
	CHECK(write(end[0], "\n", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(end[1], got, sizeof(got) - 1) > 0);
	CHECK_STR(got, "65536\n");
	for (int i = 0; i < 3; i++)
		close(end[i]);
}

TEST(policy_digest)
{
	struct court t;
	struct judgement j = {0};
	if (!court_open(&t, "allow = any\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	struct err *e = policy_judge(&t.p, &t.q, STR(""), STR(""), noon, &j);
	CHECK(!e);
	CHECK_STR(j.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	judgement_free(&j);
	court_close(&t);
}

/* The agent's part: judged, started, recorded. */
TEST(guard_records)
{
	struct court t;
	struct guard *g = NULL;
	AUTO_SB json = {0};
	AUTO_SB frame = {0};
	AUTO_SB bytes = {0};
	if (!court_open(&t, "allow = any\n")) {
		test_skip("no ssh-keygen");
		return;
	}
	replay_free(t.p.replay);
	t.p.replay = NULL;
	t.c.state = t.b.dir;
	t.q.not_before_ns = clock_ns(CLOCK_REALTIME);
	t.q.not_after_ns = t.q.not_before_ns + 60ull * SECOND_NS;
	struct err *e = question_pack(&t.q, &bytes);
	CHECK(!e);
	e = guard_open(&t.c, STR("web1"), &g);
	CHECK_STR(e ? e->msg : "", "");
	e = e ? e : guard_judge(g, &t.q, sb_str(&bytes), STR(""));
	CHECK_STR(e ? e->msg : "", "");
	guard_frame(g, &t.q, 5ull * SECOND_NS, &frame);
	CHECK(str_find(sb_str(&frame), STR("--deny")) > 0 &&
	      str_find(sb_str(&frame), STR("5000000000ns")) > 0);
	struct err *again = guard_judge(g, &t.q, sb_str(&bytes), STR(""));
	CHECK_STR(again ? again->msg : "", "the question is running already");
	err_free(again);
	guard_ended(g, t.q.id, &(struct guard_end){AUDIT_FAILED, STR("no"), 7, 9}, &json);
	CHECK(strstr(json.s, "\"what\": \"ask.bt x\", \"sha256\": \"ba7816bf") &&
	      strstr(json.s, "\"cpu_ns\": 7, \"bytes\": 9, \"end\": \"failed\", \"why\": \"no\"}"));
	e = guard_judge(g, &t.q, sb_str(&bytes), STR(""));
	CHECK_STR(e ? e->msg : "",
		  "the question was asked before: it is a copy, or the agent was restarted");
	sb_clear(&json);
	guard_ended(g, t.q.id,
		    &(struct guard_end){.end = AUDIT_REFUSED, .why = str_z(e ? e->msg : "")},
		    &json);
	CHECK(strstr(
		json.s,
		"\"took_ns\": 0, \"cpu_ns\": 0, \"bytes\": 0, \"end\": \"refused\", \"why\": \"the "
		"question was asked before"));
	err_free(e);
	sb_clear(&json);
	guard_ended(g, (u8[QUESTION_ID]){9},
		    &(struct guard_end){.end = AUDIT_REFUSED, .why = STR("full")}, &json);
	CHECK(strstr(json.s, "{\"id\": \"09000000000000000000000000000000\", \"host\": \"web1\", "
			     "\"asker\": \"\", ") &&
	      strstr(json.s, "\"kind\": \"\", \"what\": \"\", "));
	guard_free(g);
	court_close(&t);
}
