/* A file for each process, of lines that begin with [pid N]. */
#include "base/err.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is then in DIR/f and what ends there; "-": no such file. */
static void check_file(const char *dir, const char *ending, const char *want)
{
	char name[256];
	AUTO_SB text = {0};
	snprintf(name, sizeof(name), "%s/f%s", dir, ending);
	int no = file_read(name, 4096, &text);
	sb_mem(&text, "", 1);
	CHECK_STR(no ? "-" : text.s, want);
	unlink(name);
}

static void split(const char *dir, bool keep, const char *text)
{
	char path[256];
	int pid, in, status = -1;
	snprintf(path, sizeof(path), "%s/f", dir);
	struct err *e = split_start(path, keep, &pid, &in);
	CHECK(!e);
	CHECK(write(in, text, strlen(text)) == (ssize_t)strlen(text));
	close(in);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

TEST(split_by_process)
{
	char dir[] = "/tmp/sonde-split-XXXXXX";
	CHECK(mkdtemp(dir));
	split(dir, false, "[pid 7] a\nmore\n[pid    64<sh>] b\n[pid 71] c\n[pid 7] d\n");
	check_file(dir, "", "-");
	check_file(dir, ".7", "a\nmore\nd\n");
	check_file(dir, ".64", "b\n");
	check_file(dir, ".71", "c\n");
	rmdir(dir);
}

TEST(split_before_the_first)
{
	char dir[] = "/tmp/sonde-split-XXXXXX";
	CHECK(mkdtemp(dir));
	split(dir, false, "of nobody\nnor this\n[pid 64] a\n");
	split(dir, true, "again\n[pid 64] b");
	check_file(dir, "", "of nobody\nnor this\nagain\n");
	check_file(dir, ".64", "a\nb");
	rmdir(dir);
}
