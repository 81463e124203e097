/* The child that reads files of others: what it may do, and what becomes of one that dies, hangs or lies. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/signals.h"
#include "rights/image_ask.h"
#include "rights/sandbox.h"
#include "sym/cfi_ask.h"
#include "sym/jit.h"
#include "sym/sym.h"
#include "sym/usdt_ask.h"
#include "test.h"
#include "types/dwpack.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct err *echo(struct job *j)
{
	sb_mem(&j->out, j->args.p, j->args.n);
	return NULL;
}

static struct err *refuse(struct job *j)
{
	struct err *e = err_new("%s: no\033[31m", j->path);
	e->no = ENOEXEC;
	return e;
}

static struct err *crash(struct job *j)
{
	volatile int *nowhere = (volatile int *)(uintptr_t)j->nfile;
	*nowhere = 1;
	return NULL;
}

static struct err *leave(struct job *j)
{
	(void)j;
	_exit(0);
}

static struct err *hang(struct job *j)
{
	while (j->nfile < SANDBOX_FILES)
		__asm__ volatile("" : : "r"(j) : "memory");
	return NULL;
}

static struct err *hoard(struct job *j)
{
	for (;;)
		pack_u8(&j->out, *(u8 *)xcalloc(64, 1 << 20));
	return NULL;
}

/* How many of these succeed. */
static struct err *misbehave(struct job *j)
{
	u32 n = 0;
	u64 attr[16] = {0};
	n += open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
	n += syscall(SYS_openat2, AT_FDCWD, "/", attr, 24) >= 0;
	n += socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
	n += fork() >= 0;
	n += syscall(SYS_execve, "/bin/true", NULL, NULL) >= 0;
	n += kill(getppid(), 0) >= 0;
	n += syscall(SYS_bpf, 0, attr, sizeof(attr)) >= 0;
	n += syscall(SYS_ptrace, 16, getppid(), 0, 0) >= 0;
	n += write(STDOUT_FILENO, "x", 1) >= 0;
	n += mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	     MAP_FAILED;
	n += syscall(SYS_process_vm_readv, getppid(), attr, 1, attr, 1, 0) >= 0;
	pack_u32(&j->out, n);
	return NULL;
}

static struct err *read_file(struct job *j)
{
	const u8 *p = mmap(NULL, j->file[0].size, PROT_READ, MAP_SHARED, j->file[0].fd, 0);
	sb_mem(&j->out, p, 4);
	return NULL;
}

static struct host here(void)
{
	struct host h = {.root = ""};
	h.feature[FEAT_CONFINE] = 2;
	return h;
}

static struct question about(const char *path)
{
	struct question q = {.path = path, .nfile = 1, .args = STR("some words")};
	CHECK(!image_find("/proc/self/exe", &q.file[0]));
	return q;
}

static int runs(struct host *h)
{
	const char *why;
	int pid = sandbox_start(h, &why);
	if (!pid)
		test_skip(why);
	return pid;
}

TEST(sandbox_answers)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0};
	int pid = runs(&h);
	for (u32 i = 0; pid && i < 3; i++) {
		CHECK(!sandbox_ask(&h, echo, &q, &out) && str_is(sb_str(&out), "some words"));
		CHECK(!sandbox_ask(&h, read_file, &q, &out) && !memcmp(out.s, "\177ELF", 4));
	}
	struct sb large = {0};
	/* About as much as goes in one call, with the path or a head before it. */
	for (u32 n = 4070; n <= 4114; sb_clear(&large), n++) {
		sb_pad(&large, 'a', n - 1);
		sb_char(&large, 'b');
		q.args = sb_str(&large);
		CHECK(!sandbox_ask(&h, echo, &q, &out) && str_eq(sb_str(&out), q.args));
	}
	q.args = STR("");
	CHECK(!sandbox_ask(&h, echo, &q, &out) && !out.n);
	sb_pad(&large, 'x', 3 << 20); /* more than a socket holds */
	q.args = sb_str(&large);
	CHECK(!sandbox_ask(&h, echo, &q, &out) && str_eq(sb_str(&out), q.args));
	struct err *e = sandbox_ask(&h, refuse, &q, &out);
	CHECK(e && e->no == ENOEXEC);
	if (pid) {
		CHECK(!strcmp(e->msg, "/some/file: no\\x1b[31m") && runs(&h) == pid);
		CHECK(!sandbox_told(&h, 0));
	}
	err_free(e);
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
	sb_free(&large);
}

/* More than waits in a socket, of what it is told. */
static struct err *repeat(struct job *j)
{
	sb_pad(&j->out, (char)j->args.p[0], 1 << 20);
	return NULL;
}

static bool is_repeated(const struct sb *b, char c)
{
	return b->n == 1 << 20 && b->s[0] == c && !memcmp(b->s, b->s + 1, b->n - 1);
}

TEST(sandbox_works_ahead)
{
	static const char words[] = "abcdefghijkl", order[] = "bacdlkefg";
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0}, long_words = {0};
	int pid = runs(&h);
	sb_pad(&long_words, 'x', 5000);
	for (u32 i = 0; i < strlen(words); i++) {
		q.args = (struct str){&words[i], 1};
		CHECK(sandbox_ahead(&h, repeat, &q) == (pid > 0));
		CHECK(sandbox_ahead(&h, repeat, &q) == (pid > 0)); /* once is enough */
	}
	CHECK(sandbox_room(&h) == SANDBOX_AHEAD - (pid ? strlen(words) : 0));
	for (u32 i = 0; i < strlen(order); i++) {
		q.args = (struct str){&order[i], 1};
		CHECK(!sandbox_ask(&h, repeat, &q, &out) && is_repeated(&out, order[i]));
	}
	q.args = STR("z"); /* one that was not sent comes behind those that were */
	CHECK(!sandbox_ask(&h, echo, &q, &out) && str_is(sb_str(&out), "z"));
	q.args = sb_str(&long_words);
	CHECK(!sandbox_ahead(&h, echo, &q));
	CHECK(sandbox_room(&h) == SANDBOX_AHEAD - (pid ? 3 : 0));
	sandbox_forget(&h);
	CHECK(sandbox_room(&h) == SANDBOX_AHEAD && !sandbox_told(&h, 0));
	for (u32 i = 0; pid && i < SANDBOX_AHEAD; i++) {
		q.args = (struct str){sb_str(&long_words).s, i + 1};
		CHECK(sandbox_ahead(&h, refuse, &q));
	}
	q.args = STR("");
	CHECK(!sandbox_ahead(&h, refuse, &q));
	q.args = (struct str){sb_str(&long_words).s, 7};
	struct err *e = sandbox_ask(&h, refuse, &q, &out);
	CHECK(e && e->no == ENOEXEC);
	err_free(e);
	CHECK(!pid || runs(&h) == pid);
	sandbox_end(&h); /* with what nobody asked for */
	close(q.file[0].fd);
	sb_free(&out);
	sb_free(&long_words);
}

static bool status_says(int pid, const char *line)
{
	char path[64];
	struct sb text = {0};
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = !fd_read(fd, 1 << 16, &text) && strstr(text.s, line);
	close(fd);
	sb_free(&text);
	return ok;
}

TEST(sandbox_has_no_rights)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		CHECK(status_says(pid, "\nCapEff:\t0000000000000000\n"));
		CHECK(status_says(pid, "\nCapPrm:\t0000000000000000\n"));
		CHECK(status_says(pid, "\nCapInh:\t0000000000000000\n"));
		CHECK(status_says(pid, "\nCapAmb:\t0000000000000000\n"));
		CHECK(status_says(pid, "\nNoNewPrivs:\t1\n"));
		CHECK(status_says(pid, "\nSeccomp:\t2\n"));
		CHECK(!sandbox_ask(&h, misbehave, &q, &out) && out.n == 4 &&
		      !memcmp(out.s, "\0\0\0", 4));
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

/* Opens what the arguments say, and asks what it was handed. */
static struct err *open_more(struct job *j)
{
	char path[64] = "", name[64] = "";
	struct stat st;
	memcpy(path, j->args.p, MIN(j->args.n, sizeof(path) - 1));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "%s", path);
	ssize_t n = pread(fd, name, 4, 0);
	sb_mem(&j->out, name, n > 0 ? (size_t)n : 0);
	sb_fmt(&j->out, " %d", !fstatat(fd, "", &st, AT_EMPTY_PATH) && S_ISREG(st.st_mode));
	close(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", j->file[0].fd);
	n = readlink(path, name, sizeof(name));
	sb_z(&j->out, " ");
	sb_mem(&j->out, name, n > 0 ? (size_t)n : 0);
	sb_fmt(&j->out, " %d", stat("/", &st));
	return NULL;
}

static int give_exe(void *arg, const char *path)
{
	++*(u32 *)arg;
	return strcmp(path, "/of/mine") ? -EACCES : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* A library in it that opens files by name is given those that whoever asks agrees to. */
TEST(sandbox_is_given_more)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0};
	u32 n = 0;
	struct sandbox_more more = {give_exe, &n, "/its/name"};
	if (runs(&h)) {
		q.more = &more;
		q.args = STR("/of/mine");
		CHECK(!sandbox_ask(&h, open_more, &q, &out) &&
		      str_is(sb_str(&out), "\177ELF 1 /its/name -1") && n == 1);
		q.args = STR("/etc/passwd");
		struct err *e = sandbox_ask(&h, open_more, &q, &out);
		CHECK(e && e->no == EACCES && n == 2);
		err_free(e);
		q.more = NULL;
		e = sandbox_ask(&h, open_more, &q, &out);
		CHECK(e && e->no == EPERM && n == 2);
		err_free(e);
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

/* Headers come from it; the bytes are the file's. */
TEST(sandbox_reads_headers)
{
	struct host h = here();
	struct image told, own;
	struct segment a, b;
	u32 i = 0;
	CHECK(!image_ask(&h, "/proc/self/exe", &told) && !image_open("/proc/self/exe", &own));
	CHECK(told.machine == own.machine && told.type == own.type && told.ino == own.ino);
	CHECK(told.n == own.n && !memcmp(told.p, own.p, 64));
	for (; image_segment(&own, i, &a); i++)
		CHECK(image_segment(&told, i, &b) && !memcmp(&a, &b, sizeof(a)));
	CHECK(i && !image_segment(&told, i, &b));
	image_close(&told);
	image_close(&own);
	struct err *e = image_ask(&h, "/proc/self/status", &told);
	CHECK(e && strstr(e->msg, "not an ELF file"));
	err_free(e);
	e = image_ask(&h, "/etc/passwd", &told);
	CHECK(e && e->no == ENOEXEC);
	err_free(e);
	sandbox_end(&h);
}

/* What is said, and the next file is read by another child. */
static void dies(sandbox_fn *fn, const char *says)
{
	struct host h = here();
	struct question q = about("/bad/file"), other = {.path = "/other/file", .args = STR("yes")};
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		struct err *e = sandbox_ask(&h, fn, &q, &out);
		CHECK(e && strstr(e->msg, says) && !strncmp(e->msg, "/bad/file: ", 11));
		CHECK(e && sandbox_told(&h, 0) && !strcmp(sandbox_told(&h, 0), e->msg));
		err_free(e);
		CHECK(!sandbox_ask(&h, echo, &other, &out) && str_is(sb_str(&out), "yes"));
		CHECK(runs(&h) != pid && !sandbox_told(&h, 1));
		e = sandbox_ask(&h, fn, &q, &out);
		CHECK(e && strstr(e->msg, "not read again"));
		err_free(e);
		CHECK(!sandbox_ask(&h, echo, &q, &out)); /* what else is in it may be sound */
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

TEST(sandbox_that_crashes)
{
	dies(crash, "was ended by signal 11");
}

TEST(sandbox_that_leaves)
{
	dies(leave, "the process that read it ended");
}

TEST(sandbox_that_takes_all_memory)
{
	dies(hoard, "the process that read it ");
}

/* The one behind it is answered by another child, whether the question was sent before it crashed or after. */
static void crashes_ahead(bool waits)
{
	struct host h = here();
	struct question bad = about("/bad/file"), first = {.path = "/first/file", .args = STR("1")},
			last = {.path = "/last/file", .args = STR("2")};
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		siginfo_t ended;
		CHECK(sandbox_ahead(&h, echo, &first) && sandbox_ahead(&h, crash, &bad));
		if (waits)
			CHECK(!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT));
		CHECK(sandbox_ahead(&h, echo, &last));
		CHECK(!sandbox_ask(&h, echo, &last, &out) && str_is(sb_str(&out), "2"));
		CHECK(runs(&h) != pid && sandbox_told(&h, 0) && !sandbox_told(&h, 1));
		CHECK(sandbox_told(&h, 0) && !strncmp(sandbox_told(&h, 0), "/bad/file: ", 11));
		struct err *e = sandbox_ask(&h, crash, &bad, &out);
		CHECK(e && strstr(e->msg, "not read again"));
		err_free(e);
		CHECK(!sandbox_ahead(&h, crash, &bad));
		CHECK(sandbox_room(&h) == SANDBOX_AHEAD - 1);
		CHECK(!sandbox_ask(&h, echo, &first, &out) && str_is(sb_str(&out), "1"));
		CHECK(sandbox_room(&h) == SANDBOX_AHEAD);
	}
	sandbox_end(&h);
	close(bad.file[0].fd);
	sb_free(&out);
}

TEST(sandbox_that_crashes_ahead)
{
	crashes_ahead(false);
}

TEST(sandbox_that_crashed_ahead)
{
	crashes_ahead(true);
}

TEST(sandbox_that_hangs)
{
	struct host h = here();
	struct question q = about("/slow/file");
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		sandbox_timeout(&h, 50);
		u64 from = now_ns();
		struct err *e = sandbox_ask(&h, hang, &q, &out);
		CHECK(e && strstr(e->msg, "/slow/file: reading it took too long"));
		CHECK(e && e->no == ETIMEDOUT); /* told although probes may be missing */
		err_free(e);
		while (kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) != pid &&
		       now_ns() - from < 120000000000ull) /* a second of a busy processor */
			usleep(1000);
		CHECK(kill(pid, 0)); /* out of processor time */
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

/* A disk that does not answer, or somebody who stopped it. */
TEST(sandbox_that_stands_still)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		sandbox_timeout(&h, 50);
		kill(pid, SIGSTOP);
		struct err *e = sandbox_ask(&h, echo, &q, &out);
		CHECK(e && !strcmp(e->msg, "/some/file: the process that read it stood still for "
					   "too long, so it is left alone"));
		CHECK(e && e->no == ETIMEDOUT);
		err_free(e);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

/* It was ended by somebody else while nothing was asked of it: that is no file's fault. */
TEST(sandbox_is_made_anew)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sb out = {0};
	int pid = runs(&h);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		CHECK(!sandbox_ask(&h, echo, &q, &out) && runs(&h) != pid);
		CHECK(!sandbox_told(&h, 0));
	}
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
}

static void nothing(int sig)
{
	(void)sig;
}

/* In a child of its own: signals to both sides, and stops, until it is killed. */
static _Noreturn void pester(int us, int child)
{
	static const int each[] = {SIGUSR2, SIGCHLD, SIGWINCH};
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (u32 i = 0;; i++) {
		kill(us, each[i % countof(each)]);
		kill(child, each[i % countof(each)]);
		kill(child, i % 16 == 7 ? SIGSTOP : SIGCONT);
		usleep(200);
	}
}

/* Large questions and answers, which take many calls each, while calls are interrupted all the time. */
TEST(sandbox_amid_signals)
{
	struct host h = here();
	struct question q = about("/some/file");
	struct sigaction on = {.sa_handler = nothing}, before[2]; /* without SA_RESTART */
	struct sb large = {0}, out = {0};
	sb_pad(&large, 'x', 3 << 20);
	q.args = sb_str(&large);
	int child = runs(&h);
	sigaction(SIGUSR2, &on, &before[0]);
	sigaction(SIGWINCH, &on, &before[1]);
	pid_t us = getpid(), pid = child ? fork() : -1;
	if (!pid)
		pester(us, child);
	for (u32 i = 0; pid > 0 && i < 20; i++) {
		CHECK(!sandbox_ask(&h, echo, &q, &out) && str_eq(sb_str(&out), q.args));
		CHECK(!sandbox_ask(&h, read_file, &q, &out) && !memcmp(out.s, "\177ELF", 4));
	}
	if (pid > 0) {
		CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
		CHECK(runs(&h) == child && !sandbox_told(&h, 0));
		kill(child, SIGCONT);
	}
	sigaction(SIGUSR2, &before[0], NULL);
	sigaction(SIGWINCH, &before[1], NULL);
	sandbox_end(&h);
	close(q.file[0].fd);
	sb_free(&out);
	sb_free(&large);
}

/* Answers of a child that somebody else speaks through: nothing of them is believed. */
TEST(sandbox_answers_are_checked)
{
	u64 seed = 1;
	for (u32 i = 0; i < 20000; i++) {
		struct arena a = {0};
		struct elf_facts elf;
		struct cfi_facts cfi;
		struct cfi_rules rules;
		const u8 *v;
		u32 nrow;
		u8 junk[160];
		size_t n = i % sizeof(junk);
		for (size_t k = 0; k < n; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			junk[k] = seed >> 62 ? 0 : (u8)(seed >> 40);
		}
		struct bytes b = bytes_of(junk, n), r = b;
		struct usdt_sites sites;
		struct codes codes = {0};
		err_free(elf_take_answer(&a, b, "x", &elf));
		struct bytes told = b;
		const struct symbol *of[4];
		if (elf_take_names(&told, &a, of, countof(of)))
			CHECK(!of[0] || of[0]->name.n < n);
		if (usdt_take_sites(b, &a, &sites))
			CHECK(sites.n <= n);
		struct debug_types types = {.arena = &a};
		struct debug_func func;
		const struct type *type = NULL;
		struct bytes of_func = b, of_type = b;
		if (debug_take_func(&of_func, &types, &func))
			CHECK(func.nvar < n);
		if (debug_take_type(&of_type, &types, &type) && type && type_is_record(type))
			CHECK(type->id <= types.record.n);
		vec_free(&types.record);
		struct image im;
		if (image_take_told(b, 4096, &im)) {
			CHECK(im.base <= 4096 && im.n <= 4096 - im.base);
			image_close(&im);
		}
		codes_take_told(&codes, b);
		codes_free(&codes);
		if (cfi_take_facts(b, &cfi))
			cfi_list_free(&cfi.list);
		if (cfi_take_rules(&r, &rules) && cfi_take_part(&r, &rules, 1 << 14, &v, &nrow)) {
			struct cfi_brief last;
			memcpy(&last, v + (nrow - 1) * sizeof(last), sizeof(last));
			CHECK(last.pc < 1 << 14 && last.rule < rules.n);
		}
		arena_free(&a);
	}
}
