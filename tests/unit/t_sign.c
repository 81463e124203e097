#include "agent/question.h"
#include "agent/sign.h"
#include "base/file.h"
#include "base/spawn.h"
#include "test.h"
#include <fcntl.h>
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
