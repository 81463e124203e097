/* sign.c - see the header. */
#include "agent/sign.h"
#include "agent/conf.h"
#include "base/clock.h"
#include "base/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	MAX_OUTPUT = 64 << 10, /* of ssh-keygen, on each of its streams */
	CHECK_MS = 10000,
	SIGN_MS = 120000, /* somebody may have to touch a hardware key */
	MAX_SIGNERS = 16, /* names of one key */
};
#define PROGRAM "ssh-keygen"

/* ---- the program ---- */

static const char *find_program(struct arena *a)
{
	const char *path = getenv("PATH");
	struct str rest = str_z(path ? path : "/usr/bin:/bin"), dir;
	while (str_cut(&rest, ':', &dir)) {
		const char *file = arena_fmt(a, "%.*s/" PROGRAM, STRF(dir));
		if (dir.n && dir.s[0] == '/' && !access(file, X_OK))
			return file;
	}
	return NULL;
}

/* One run of it. */
struct run {
	struct str input;
	u32 max_ms;
	struct sb out, said; /* what it printed: the result, and messages */
	int status;
};
static void run_free(struct run *r)
{
	sb_free(&r->out);
	sb_free(&r->said);
}
#define AUTO_RUN CLEANUP(run_free) struct run

struct talk {
	int pid, fd[3];
	size_t written;
	u64 end_ns;
};

static void close_end(struct talk *t, int i)
{
	close_fd(&t->fd[i]);
	t->fd[i] = -1;
}

static void feed(struct talk *t, struct str input)
{
	while (t->written < input.n) {
		ssize_t n = write(t->fd[0], input.s + t->written, input.n - t->written);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		t->written += (size_t)n;
	}
	close_end(t, 0);
}

/* What is behind MAX_OUTPUT is thrown away: the program must not wait for us. */
static void drain(struct talk *t, int i, struct sb *b)
{
	char buf[4096];
	ssize_t n = read(t->fd[i], buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		close_end(t, i);
	else
		sb_mem(b, buf, MIN((size_t)n, MAX_OUTPUT - b->n));
}

/* False: its time is over. */
static bool talk(struct talk *t, struct run *r)
{
	while (t->fd[0] >= 0 || t->fd[1] >= 0 || t->fd[2] >= 0) {
		struct pollfd p[] = {{.fd = t->fd[0], .events = POLLOUT},
				     {.fd = t->fd[1], .events = POLLIN},
				     {.fd = t->fd[2], .events = POLLIN}};
		u64 now = now_ns();
		if (now >= t->end_ns)
			return false;
		if (poll(p, countof(p), (int)((t->end_ns - now) / MILLI_NS) + 1) < 0 &&
		    errno != EINTR)
			return false;
		if (p[0].revents)
			feed(t, r->input);
		if (p[1].revents)
			drain(t, 1, &r->out);
		if (p[2].revents)
			drain(t, 2, &r->said);
	}
	return true;
}

static struct err *run(struct run *r, char *const *argv)
{
	struct talk t = {.end_ns = now_ns() + r->max_ms * (u64)MILLI_NS};
	struct err *e = spawn_talk(argv, &t.pid, t.fd);
	if (e)
		return e;
	bool good = talk(&t, r);
	for (int i = 0; i < 3; i++)
		close_end(&t, i);
	if (!good)
		kill(-t.pid, SIGKILL);
	while (waitpid(t.pid, &r->status, 0) < 0)
		if (errno != EINTR)
			return err_sys(errno, "wait for %s", PROGRAM);
	return good ? NULL : err_new("%s had no result within %u s", PROGRAM, r->max_ms / 1000);
}

static bool succeeded(const struct run *r)
{
	return WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0;
}

/* A line of its messages that has the text; without one: its first line. Visible. */
static void message_of(const struct run *r, const char *with, struct sb *ret)
{
	struct str rest = sb_str(&r->said), line, found = {0};
	while (rest.n && str_cut(&rest, '\n', &line))
		if (with ? !found.n && str_find(line, str_z(with)) >= 0 : !found.n)
			found = str_trim(line);
	sb_visible(ret, found);
}

static bool says(const struct run *r, const char *text)
{
	return str_find(sb_str(&r->said), str_z(text)) >= 0;
}

/* ---- signing ---- */

struct err *sign_make(const char *key, struct str bytes, struct sb *ret)
{
	struct arena a = {0};
	AUTO_RUN r = {.input = bytes, .max_ms = SIGN_MS};
	AUTO_SB why = {0};
	const char *program = find_program(&a);
	char *argv[] = {(char *)program, "-Y", "sign", "-n", SIGN_NAMESPACE, "-f",
			(char *)key,     "-P", "",     NULL};
	struct err *e = program ? run(&r, argv)
				: err_new("questions are signed by %s (package openssh-client), "
					  "which is not in $PATH",
					  PROGRAM);
	if (!e && says(&r, "incorrect passphrase"))
		e = err_new("cannot sign with %s: it has a passphrase; give it to ssh-agent by "
			    "ssh-add",
			    key);
	if (!e && !succeeded(&r)) {
		message_of(&r, key, &why);
		e = err_new("cannot sign with %s: %s", key, why.n ? why.s : PROGRAM " failed");
	}
	if (!e)
		sb_add(ret, sb_str(&r.out));
	arena_free(&a);
	return e;
}

/* ---- checking ---- */

/* A file without a name, as a path for a child. */
struct unnamed {
	int fd;
	char path[32];
};
static void unnamed_free(struct unnamed *u)
{
	close_fd(&u->fd);
}

static struct err *unnamed_make(struct unnamed *u, struct str text)
{
	u->fd = memfd_create("sonde-signature", 0); /* the child has it, too */
	if (u->fd < 0)
		return err_sys(errno, "memfd_create");
	for (size_t done = 0; done < text.n;) {
		ssize_t n = write(u->fd, text.s + done, text.n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(n ? errno : EIO, "write the signature");
		done += (size_t)n;
	}
	snprintf(u->path, sizeof(u->path), "/dev/fd/%d", u->fd);
	return NULL;
}

/* Why a key is not accepted, of what ssh-keygen prints. */
static struct err *refusal(const struct run *r, const char *allowed_signers)
{
	static const struct {
		const char *says, *means;
	} reasons[] = {
		{"key has expired", "the key that signed the question is no longer valid"},
		{"key is not yet valid", "the key that signed the question is not valid yet"},
		{"signature namespace", "the key that signed the question is not for questions"},
		{"namespace does not match",
		 "the signature is for another purpose (its namespace is not " SIGN_NAMESPACE ")"},
		{"incorrect signature", "the signature is not that of this question"},
		{"parse signature", "the signature is damaged"},
		{"sshsig_armor", "the signature is damaged"},
		{"invalid format", "the signature is damaged"},
	};
	AUTO_SB why = {0};
	if (says(r, "Unable to open allowed keys file"))
		return err_new("this host cannot read %s", allowed_signers);
	for (u32 i = 0; i < countof(reasons); i++)
		if (says(r, reasons[i].says))
			return err_new("%s", reasons[i].means);
	if (says(r, "No principal matched"))
		return err_new("the question is signed by a key that this host does not allow");
	message_of(r, NULL, &why);
	return err_new("the signature cannot be checked: %s", why.n ? why.s : PROGRAM " failed");
}

/* Lines of principals: each is a name, or a pattern. */
static struct err *check_names(const char *program, const char *allowed_signers,
			       const struct unnamed *u, struct run *names, struct run *r,
			       struct sb *signer)
{
	struct arena a = {0};
	struct str rest = sb_str(&names->out), line;
	struct err *e = NULL;
	bool good = false;
	for (u32 i = 0; i < MAX_SIGNERS && !good && !e && rest.n && str_cut(&rest, '\n', &line);
	     i++) {
		char *name = arena_strz(&a, line);
		char *argv[] = {
			(char *)program,         "-Y", "verify", "-n", SIGN_NAMESPACE,  "-f",
			(char *)allowed_signers, "-I", name,     "-s", (char *)u->path, NULL};
		sb_clear(&r->said);
		sb_clear(&r->out);
		if (line.n && line.s[0] != '!')
			e = run(r, argv);
		good = !e && succeeded(r) && line.n && line.s[0] != '!';
		if (good)
			sb_visible(signer, line);
	}
	arena_free(&a);
	return e || good ? e : refusal(r, allowed_signers);
}

struct err *sign_check(const char *allowed_signers, struct str bytes, struct str signature,
		       struct sb *signer)
{
	struct arena a = {0};
	AUTO_RUN names = {.max_ms = CHECK_MS};
	AUTO_RUN r = {.input = bytes, .max_ms = CHECK_MS};
	CLEANUP(unnamed_free) struct unnamed u = {.fd = -1};
	const char *program = find_program(&a);
	struct err *e = program ? unnamed_make(&u, signature)
				: err_new("this host has no %s to check signatures", PROGRAM);
	char *argv[] = {(char *)program, "-Y", "find-principals",       "-s",
			u.path,          "-f", (char *)allowed_signers, NULL};
	if (!e)
		e = run(&names, argv);
	if (!e && !succeeded(&names))
		e = refusal(&names, allowed_signers);
	if (!e)
		e = check_names(program, allowed_signers, &u, &names, &r, signer);
	arena_free(&a);
	return e;
}

struct err *sign_ready(const char *allowed_signers)
{
	struct arena a = {0};
	bool found = find_program(&a);
	arena_free(&a);
	if (!found)
		return err_new("signatures are checked by %s (package openssh-client), which is "
			       "not in $PATH",
			       PROGRAM);
	int fd AUTO_CLOSE = open(allowed_signers, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "open %s", allowed_signers);
	return conf_is_safe(allowed_signers, fd);
}
