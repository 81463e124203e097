/*
 * load N [SEED [ROOT]]: N scripts by grammar, compiled and given to this kernel's verifier (no probe is
 * attached); with ROOT only compiled, for the machine recorded there.
 *
 * Children do the work, CHUNK scripts each. What is found is printed with its script: a crash, a refusal
 * by the verifier that is not one of its limits, a compilation that takes too long or too much memory.
 * The last line sums up; exit code 1 when something was found.
 */
#include "base/clock.h"
#include "cmd/cmd.h"
#include "grammar.h"
#include "run/session.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum {
	CHUNK = 200,
	MAX_CHOICES = 600,
	SIZES = 6, /* at most all of them, half of them, a quarter ... */
	/* A compilation: so long in all, and per byte of script; processor time. */
	LIMIT_US = 200000,
	LIMIT_US_PER_BYTE = 100,
	LIMIT_MIB = 400,
	LIMIT_SECONDS = 120, /* of a chunk */
};

/* Shared with the children. */
static struct tally {
	u64 done, accepted, loaded, limits, other_form, found;
	u64 longest_us, current;
} * tally;

static u64 state;
static u64 next(void)
{
	u64 z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void make(u64 seed, struct sb *out)
{
	u8 bytes[MAX_CHOICES];
	state = seed;
	/* Small ones are common: in the time of one large script many small ones are tried. */
	size_t n = 16 + next() % ((MAX_CHOICES - 16) >> next() % SIZES);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (u8)next();
	grammar_script(bytes, n, out);
}

static void found(u64 seed, const char *what, const struct sb *text)
{
	__atomic_add_fetch(&tally->found, 1, __ATOMIC_RELAXED);
	printf("not ok - seed %llu: %s\n%s\n", seed, what, text->s);
	fflush(stdout);
}

static u64 cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

static bool has(const struct diags *ds, enum diag_code code, const char **msg)
{
	for (const struct diag *d = ds->head; d; d = d->next)
		if (d->code == code)
			return *msg = d->msg, true;
	return false;
}

/* As cmd/run.c does: of the programs that were not loaded, those that can be tried in another form. */
static bool try_others(refusals *v, const struct session *s)
{
	bool again = false;
	for (u32 i = 0; i < s->u->nprog; i++)
		if (live_prog(&s->live, s->u->prog[i]) < 0)
			again |= refuse(v, s->u->prog[i]->points, true);
	return again;
}

struct machine {
	struct run_opts o;
	struct arena a;
	struct host h;
	bool load;
};

/* True: the same once more, v says how. */
static bool load(struct machine *m, struct job *j, u64 seed, const struct sb *text, refusals *v)
{
	struct target target = TARGET_NONE;
	struct session s = {.u = &j->unit,
			    .h = &m->h,
			    .target = &target,
			    .dry_run = true,
			    .loop = {.epoll_fd = -1, .signals = SIGNALS_NONE}};
	struct err *e = NULL;
	const char *msg = "?";
	bool again = false;
	if (session_load(&s, &j->diags, &e)) {
		tally->loaded++;
	} else if (e) {
		found(seed, e->msg, text);
	} else if (try_others(v, &s)) {
		again = true;
		tally->other_form++;
	} else if (has(&j->diags, E_VERIFIER, &msg) && strstr(msg, "for the kernel to check")) {
		tally->limits++;
	} else {
		AUTO_SB what = {0};
		sb_fmt(&what, "refused: %s", msg);
		found(seed, what.s, text);
	}
	err_free(e);
	session_free(&s);
	return again;
}

static void one(struct machine *m, u64 seed)
{
	AUTO_SB text = {0};
	make(seed, &text);
	struct script s = {.source = {STR("stdin"), sb_str(&text)}};
	refusals refused = {0};
	for (bool again = true; again;) {
		struct job j;
		u64 start = cpu_us();
		again = false;
		job_init(&j, &m->o.compile, &s, &m->h);
		j.unit.refused = (struct refused){refused.v, refused.n};
		bool good = compile_script(&j.c, STAGE_ALL, NULL);
		u64 us = cpu_us() - start;
		tally->longest_us = MAX(tally->longest_us, us);
		if (us > LIMIT_US + LIMIT_US_PER_BYTE * text.n)
			found(seed, "takes too long to compile", &text);
		if (good == (j.diags.nerror != 0))
			found(seed, "an error without a message, or a message without an error",
			      &text);
		if (good && j.unit.nprog) {
			tally->accepted += !refused.n;
			again = m->load && load(m, &j, seed, &text, &refused);
		} else if (getenv("GRAMMAR_ERRORS")) {
			printf("# seed %llu\n%s", seed, text.s);
			fflush(stdout);
			job_report(&j);
		}
		job_free(&j);
	}
	vec_free(&refused);
	tally->done++;
}

static void chunk(u64 from, u64 to, const char *root)
{
	struct rlimit memory = {(u64)LIMIT_MIB << 20, (u64)LIMIT_MIB << 20},
		      time = {LIMIT_SECONDS, LIMIT_SECONDS};
	struct machine m = {.o = {.machine.root = root,
				  .compile = {.check_ir = true, .no_warn = true, .unsafe = true}},
			    .load = !root};
	setrlimit(RLIMIT_DATA, &memory);
	setrlimit(RLIMIT_CPU, &time);
	if (!host_prepare(&m.h, &m.a, &m.o))
		_exit(2);
	for (u64 i = from; i < to; i++) {
		tally->current = i;
		one(&m, i);
	}
	_exit(0);
}

/* A child that dies takes one script with it; the rest of its chunk is done by the next. */
static void run(u64 from, u64 to, const char *root)
{
	while (from < to) {
		int status;
		pid_t pid = fork();
		if (pid < 0)
			exit(2);
		if (!pid)
			chunk(from, MIN(from + CHUNK, to), root);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && !WEXITSTATUS(status)) {
			from += CHUNK;
			continue;
		}
		AUTO_SB text = {0};
		AUTO_SB what = {0};
		make(tally->current, &text);
		sb_fmt(&what, "ended by %s %d", WIFSIGNALED(status) ? "signal" : "exit code",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		found(tally->current, what.s, &text);
		from = tally->current + 1;
	}
}

int main(int argc, char **argv)
{
	u64 n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000,
	    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const char *root = argc > 3 ? argv[3] : NULL;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		return 2;
	if (getenv("GRAMMAR_SHOW")) {
		AUTO_SB text = {0};
		make(seed, &text);
		fputs(text.s, stdout);
		return 0;
	}
	run(seed, seed + n, root);
	printf("%llu scripts, %llu accepted, %llu loaded, %llu beyond the verifier's limits, %llu "
	       "in another form; the longest compilation took %llu ms; %llu found\n",
	       tally->done, tally->accepted, tally->loaded, tally->limits, tally->other_form,
	       tally->longest_us / 1000, tally->found);
	return tally->found ? 1 : 0;
}
