/* What a confined process may do, and how it ends when it does something else. */
#include "rights/confine.h"
#include "test.h"
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum deed {
	READS,
	CODE,
	STARTS,
	SOCKET,
	WRITES,
	RENAMES,
	KILLS,
	LOADS,
	MAPS,
	SPACE,
	TYPES,
	LOOKS,
};

static void act(enum deed d)
{
	char *none[] = {NULL};
	u64 attr[16] = {0};
	int fd;
	switch (d) {
	case READS:
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		(void)!read(fd, &fd, 1);
		free(malloc(1 << 20));
		fd = fork();
		if (!fd)
			_exit(0);
		waitpid(fd, NULL, 0);
		break;
	case CODE:
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case STARTS: execve("/bin/true", none, none); break;
	case SOCKET: socket(AF_INET, SOCK_STREAM, 0); break;
	case WRITES: open("/dev/null", O_WRONLY | O_CLOEXEC); break;
	case RENAMES: rename("/nonexistent/a", "/nonexistent/b"); break;
	case KILLS: kill(getpid(), 0); break;
	case LOADS: syscall(SYS_bpf, BPF_PROG_LOAD, attr, sizeof(attr)); break;
	case MAPS: syscall(SYS_bpf, BPF_MAP_CREATE, attr, sizeof(attr)); break;
	case SPACE: syscall(SYS_clone, 0x10000000 /* CLONE_NEWUSER */ | SIGCHLD, 0, 0, 0, 0); break;
	case TYPES: syscall(SYS_ioctl, STDIN_FILENO, 0x5412 /* TIOCSTI */, "x"); break;
	case LOOKS: /* what isatty() calls: TCGETS; since glibc 2.42 TCGETS2 */
		syscall(SYS_ioctl, STDIN_FILENO, 0x5401, attr);
		syscall(SYS_ioctl, STDIN_FILENO, 0x802c542a, attr);
		break;
	}
}

/* docs/security.md states how many calls the child that parses files may make. */
TEST(confine_sandbox_in_numbers)
{
	enum { NO_CODE, ANY, ASKED };
	static const u8 look[] = {
#define S(name, look) look,
#include "rights/confine.def"
	};
	char said[256], text[1 << 15];
	u32 asked = 0;
	for (u32 i = 0; i < countof(look); i++)
		asked += look[i] == ASKED;
	snprintf(said, sizeof(said), "filter that allows %u system calls (memory,",
		 (u32)countof(look) - asked);
	int fd = open("docs/security.md", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		test_skip("docs/ is not here");
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	CHECK(fd < 0 || strstr(text, said));
	snprintf(said, sizeof(said), "sends %u others (", asked);
#ifdef __x86_64__
	CHECK(fd < 0 || strstr(text, said));
#endif
	if (fd >= 0)
		close(fd);
}

/* "": it went well; else what was said before the process ended with code 1. */
static void confined(u32 may, enum deed d, char *said, size_t n)
{
	int to[2], status = 0;
	size_t at = 0;
	CHECK(!pipe(to));
	pid_t pid = fork();
	if (!pid) {
		dup2(to[1], STDERR_FILENO);
		err_free(confine_calls(may));
		act(d);
		_exit(0);
	}
	close(to[1]);
	for (ssize_t got; at + 1 < n && (got = read(to[0], said + at, n - at - 1)) > 0;)
		at += (size_t)got;
	said[at] = 0;
	close(to[0]);
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (at ? 1 : 0));
}

TEST(confine_refuses_in_words)
{
	static const struct {
		enum deed deed;
		u32 may;
		long nr; /* of the system call that is refused; -1: none */
	} v[] = {
		{READS, 0, -1},
		{CODE, 0, SYS_mmap},
		{STARTS, 0, SYS_execve},
		{SOCKET, 0, SYS_socket},
		{WRITES, 0, SYS_openat},
		{WRITES, MAY_WRITE, -1},
		{RENAMES, MAY_RENAME, -1},
		{KILLS, 0, SYS_kill},
		{KILLS, MAY_KILL, -1},
		{LOADS, MAY_MAP, SYS_bpf},
		{MAPS, 0, SYS_bpf},
		{MAPS, MAY_MAP, -1},
		{SPACE, ~0u, SYS_clone},
		{TYPES, ~0u, SYS_ioctl},
		{LOOKS, 0, -1},
	};
	for (u32 i = 0; i < countof(v) && host_has_seccomp(); i++) {
		char said[512], want[64] = "";
		confined(v[i].may, v[i].deed, said, sizeof(said));
		if (v[i].nr >= 0)
			snprintf(want, sizeof(want), "gave up the right to make system call %ld,",
				 v[i].nr);
		if (!strstr(said, want) || !*said != !*want)
			printf("# deed %u: '%s'\n", v[i].deed, said);
		CHECK(strstr(said, want) && !*said == !*want);
	}
}

TEST(confine_drops_capabilities)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		u64 left = 1, held = confine_held(), two = held & (1ull << 12 | 1ull << 21);
		bool good = !confine_effective(0) && confine_held() == held && /* not for good */
			    !confine_caps(two, &left) && left == two && confine_held() == two;
		struct err *e = two != ~0ull ? confine_caps(~0ull, &left) : NULL;
		good = good && !e && left == two; /* nothing comes back */
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}
