#include "base/spawn.h"
#include "test.h"
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

/* The words, each between brackets. */
static void check_words(const char *text, const char *want, int line)
{
	struct arena a = {0};
	struct spawn_words v = {0};
	AUTO_SB b = {0};
	if (!spawn_split(&a, str_z(text), &v))
		sb_z(&b, "open ");
	for (u32 i = 0; i < v.n; i++)
		sb_fmt(&b, "[%s]", v.v[i]);
	test_str(__FILE__, line, text, b.s ? b.s : "", want);
	vec_free(&v);
	arena_free(&a);
}
#define WORDS(text, want) check_words(text, want, __LINE__)

TEST(spawn_splits_words)
{
	WORDS("", "");
	WORDS(" a\tb \n", "[a][b]");
	WORDS("sh -c 'a b'", "[sh][-c][a b]");
	WORDS("a\\ b \"c 'd\" '\\' ''", "[a b][c 'd][\\][]");
	WORDS("x'y'\"z\"", "[xyz]");
	WORDS("a 'b", "open [a][b]");
}

TEST(spawn_talks)
{
	char sh[] = "/bin/sh", c[] = "-c",
	     text[] = "read x; echo \"<$x>\"; echo \"!$x\" >&2; exit 5";
	char *argv[] = {sh, c, text, NULL}, got[16];
	int pid, end[3], status;
	CHECK(!spawn_talk(argv, &pid, end));
	CHECK(getpgid(pid) == pid);
	CHECK(read(end[1], got, sizeof(got)) == -1 && errno == EAGAIN);
	CHECK(write(end[0], "hello\n", 6) == 6);
	for (int i = 1; i < 3; i++) {
		CHECK(poll(&(struct pollfd){.fd = end[i], .events = POLLIN}, 1, -1) == 1);
		ssize_t n = read(end[i], got, sizeof(got) - 1);
		got[n > 0 ? n : 0] = 0;
		CHECK_STR(got, i == 1 ? "<hello>\n" : "!hello\n");
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
	for (int i = 0; i < 3; i++)
		close(end[i]);
}

TEST(spawn_talk_reports_what_is_not_there)
{
	char name[] = "/nonexistent/program", *argv[] = {name, NULL};
	int pid, end[3];
	struct err *e = spawn_talk(argv, &pid, end);
	CHECK_STR(e ? e->msg : "", "start /nonexistent/program: No such file or directory");
	CHECK(end[0] == -1 && end[1] == -1 && end[2] == -1);
	err_free(e);
}
