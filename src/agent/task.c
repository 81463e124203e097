/* task.c - see the header. */
#include "agent/task.h"
#include "agent/wire.h"
#include "base/alloc.h"
#include "base/spawn.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	MAX_HEAD = 4096, /* bytes before the answer */
	KILL_MS = 20000, /* after the wish to stop; sonde itself kills a script after 10 s */
	LOOK_MS = 20,    /* between two looks whether a child has ended whose streams are closed */
	MAX_READS = 64,  /* at a time, so that one child does not keep the others waiting */
};

struct err *task_child(const char *const *words, u32 nword, struct str frame, struct task **ret)
{
	u64 random;
	struct task *t = xcalloc(1, sizeof(*t));
	if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
		free(t);
		return err_sys(errno, "getrandom");
	}
	snprintf(t->token, sizeof(t->token), "sonde-%016llx", random);
	const char **argv = xcalloc(nword + 2u, sizeof(*argv));
	for (u32 i = 0; i < nword; i++)
		argv[i] = words[i];
	argv[nword] = t->token;
	struct err *e = spawn_talk((char *const *)argv, &t->pid, t->fd);
	free(argv);
	if (e) {
		free(t);
		return e;
	}
	sb_z(&t->input, "clock\n");
	sb_add(&t->frame, frame);
	t->waits = true;
	*ret = t;
	return NULL;
}

void task_sample(const struct sample *s, u64 for_ns, struct task **ret)
{
	struct task *t = xcalloc(1, sizeof(*t));
	*t = (struct task){.fd = {-1, -1, -1}, .sample = s, .for_ns = for_ns, .waits = true};
	*ret = t;
}

void task_go(struct task *t, u64 at_ns)
{
	u64 wall = clock_ns(CLOCK_REALTIME), waits = at_ns > wall ? at_ns - wall : 0;
	if (!t->waits)
		return;
	t->waits = false;
	if (t->sample) {
		t->end_ns = t->end_ns || !t->for_ns ? t->end_ns : now_ns() + waits + t->for_ns;
		return;
	}
	sb_fmt(&t->input, "%u %llu\n", (u32)t->frame.n, at_ns);
	sb_add(&t->input, sb_str(&t->frame));
	sb_free(&t->frame);
}

static void close_end(struct task *t, int i)
{
	close_fd(&t->fd[i]);
	t->fd[i] = -1;
}

void task_feed(struct task *t, struct str bytes)
{
	if (t->fd[0] >= 0)
		sb_add(&t->input, bytes);
}

void task_end_input(struct task *t)
{
	t->fed = true;
}

void task_stop(struct task *t)
{
	if (t->over || t->kill_ns)
		return;
	t->cut = true;
	t->kill_ns = now_ns() + KILL_MS * (u64)MILLI_NS;
	t->end_ns = 1;
	if (t->fd[0] >= 0 && t->written == t->input.n)
		close_end(t,
			  0); /* else the question is written first: sonde answers questions only */
}

static void fail(struct task *t, const char *why)
{
	t->wrong = t->wrong ? t->wrong : why;
	if (t->pid)
		kill(-t->pid, SIGKILL);
}

static void write_more(struct task *t)
{
	while (t->fd[0] >= 0 && t->written < t->input.n) {
		ssize_t n = write(t->fd[0], t->input.s + t->written, t->input.n - t->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			close_end(t, 0); /* its status says why */
		else
			t->written += (size_t)n;
	}
	if (t->written < t->input.n)
		return;
	sb_clear(&t->input);
	t->written = 0;
	if (t->kill_ns || t->fed)
		close_end(t, 0);
}

/* The answer begins behind the line "TOKEN clock NUMBER". */
static void look_for_answer(struct task *t)
{
	AUTO_SB sign = {0};
	sb_fmt(&sign, "\n%s clock ", t->token);
	struct str all = sb_str(&t->answer);
	i32 at = str_find(all, sb_str(&sign));
	i32 end = at < 0 ? -1 : str_chr(str_from(all, (u32)at + 1), '\n');
	if (end < 0) {
		if (all.n > MAX_HEAD)
			fail(t, "sonde does not say when its answer begins");
		return;
	}
	size_t gone = (size_t)at + 1 + (size_t)end + 1;
	memmove(t->answer.s, t->answer.s + gone, t->answer.n - gone);
	t->answer.n -= gone;
	t->begun = true;
}

static void take_answer(struct task *t, const char *p, size_t n)
{
	if (t->wrong)
		return;
	if (t->answer.n + n > ANSWER_MAX) {
		fail(t, "its answer is too large (more than 64 MB)");
		return;
	}
	sb_mem(&t->answer, p, n);
	if (!t->begun)
		look_for_answer(t);
}

static void take_said(struct task *t, const char *p, size_t n)
{
	sb_mem(&t->said, p, MIN(n, SAID_MAX - t->said.n));
}

/* False: nothing is there for now. */
static bool read_stream(struct task *t, int i)
{
	char buf[65536];
	ssize_t n = read(t->fd[i], buf, sizeof(buf));
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0)
		close_end(t, i);
	else if (i == 1)
		take_answer(t, buf, (size_t)n);
	else
		take_said(t, buf, (size_t)n);
	return n > 0;
}

static u64 time_ns(struct timeval t)
{
	return (u64)t.tv_sec * SECOND_NS + (u64)t.tv_usec * 1000;
}

static void reap(struct task *t)
{
	int status;
	struct rusage u;
	if (!t->pid || wait4(t->pid, &status, WNOHANG, &u) != t->pid)
		return;
	t->pid = 0;
	t->cpu_ns = time_ns(u.ru_utime) + time_ns(u.ru_stime);
	t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	for (int i = 1; i < 3; i++) {
		while (t->fd[i] >= 0 && read_stream(t, i))
			;
		close_end(t, i); /* others may hold it, who are not asked */
	}
	close_end(t, 0);
	if (!t->begun)
		sb_clear(&t->answer);
	t->over = true;
}

void task_step(struct task *t)
{
	if (t->over)
		return;
	if (t->sample) {
		t->over = t->end_ns && now_ns() >= t->end_ns;
		return;
	}
	write_more(t);
	for (int i = 1; i < 3; i++)
		for (u32 n = 0; t->fd[i] >= 0 && n < MAX_READS && read_stream(t, i); n++)
			;
	if (t->kill_ns && now_ns() >= t->kill_ns)
		fail(t, "it did not stop, and was killed");
	reap(t);
}

u32 task_poll(const struct task *t, struct pollfd *ret)
{
	u32 n = 0;
	if (t->over)
		return 0;
	if (t->fd[0] >= 0 && t->written < t->input.n)
		ret[n++] = (struct pollfd){.fd = t->fd[0], .events = POLLOUT};
	for (int i = 1; i < 3; i++)
		if (t->fd[i] >= 0)
			ret[n++] = (struct pollfd){.fd = t->fd[i], .events = POLLIN};
	return n;
}

u64 task_due(const struct task *t)
{
	if (t->over)
		return UINT64_MAX;
	if (t->sample)
		return t->end_ns ? t->end_ns : UINT64_MAX;
	if (t->fd[1] < 0 && t->fd[2] < 0)
		return now_ns() + LOOK_MS * (u64)MILLI_NS;
	return t->kill_ns ? t->kill_ns : UINT64_MAX;
}

struct str task_answer(const struct task *t)
{
	return t->sample ? t->sample->bytes : sb_str(&t->answer);
}

void task_free(struct task *t)
{
	if (!t)
		return;
	if (t->pid) {
		kill(-t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	for (int i = 0; i < 3; i++)
		close_end(t, i);
	sb_free(&t->frame);
	sb_free(&t->input);
	sb_free(&t->answer);
	sb_free(&t->said);
	free(t);
}
