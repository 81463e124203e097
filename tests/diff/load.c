/*
 * load WHAT DIR [FILE]: what tools.sh and kernel/peers.sh let both tracers watch. Everything happens on one CPU, so
 * that the order is the same for both, in a process that is called toolload; DIR is an empty directory on a
 * real file system. It begins when FILE is there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKS = 2000, BLOCK = 4096, BLOCKS = 300, TURNS = 40000 };

static void child(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void nothing(void)
{
}

/* Arguments start with a name that nobody else uses. */
static void exec_one(void)
{
	char *const argv[] = {"toolload-true", "one", "two words", NULL};

	execve("/nowhere/toolload", argv, environ);
	execve("/bin/true", argv, environ);
}

static void exec_many(void)
{
	char *argv[14] = {"toolload-many"};
	char text[12][40];

	for (int i = 0; i < 12; i++) {
		snprintf(text[i], sizeof(text[i]), "--argument-%d=%0*d", i, 4 + i, i);
		argv[i + 1] = text[i];
	}
	execve("/bin/true", argv, environ);
}

static void exec(void)
{
	for (int i = 0; i < 5; i++)
		child(exec_one);
	child(exec_many);
}

static void opens(void)
{
	struct open_how how = {.flags = O_RDONLY};
	int fd;

	for (int i = 0; i < 5; i++) {
		close(open("/etc/passwd", O_RDONLY));
		fd = open("made-here", O_CREAT | O_WRONLY, 0600);
		open("missing", O_RDONLY);
		close(syscall(SYS_open, "/etc/hostname", O_RDONLY));
		close(syscall(SYS_openat2, AT_FDCWD, "/etc/group", &how, sizeof(how)));
		open("/etc/passwd/not-a-directory", O_RDONLY);
		close(fd);
	}
}

static void kills(void)
{
	signal(SIGUSR1, SIG_IGN);
	signal(SIGRTMIN + 3, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		kill(getpid(), 0);
		kill(getpid(), SIGUSR1);
		kill(0x7ffffffe, SIGTERM);
		syscall(SYS_tgkill, getpid(), getpid(), SIGRTMIN + 3);
		syscall(SYS_tkill, 0x7ffffffe, SIGKILL);
		kill(getpid(), 99);
	}
}

static void stats(void)
{
	struct statfs fs;
	struct statx sx;
	struct stat st;

	for (int i = 0; i < 5; i++) {
		statfs("/proc", &fs);
		statx(AT_FDCWD, "/etc/passwd", 0, STATX_ALL, &sx);
		syscall(SYS_stat, "/etc", &st);
		syscall(SYS_lstat, "/etc/missing", &st);
		statx(AT_FDCWD, "relative/missing", 0, STATX_ALL, &sx);
	}
}

static void syncs(void)
{
	int fd = open("synced", O_CREAT | O_RDWR, 0600);
	void *p;

	if (write(fd, "x", 1) != 1 || ftruncate(fd, BLOCK))
		exit(1);
	p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < 5; i++) {
		fsync(fd);
		fdatasync(fd);
		sync_file_range(fd, 0, BLOCK, SYNC_FILE_RANGE_WRITE);
		msync(p, BLOCK, MS_ASYNC);
		syncfs(fd);
		sync();
	}
}

static void naps(void)
{
	for (long ms = 1; ms <= 10; ms++) {
		struct timespec t = {.tv_nsec = ms * 1000000};

		syscall(SYS_nanosleep, &t, NULL);
		t.tv_nsec = 999999;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
}

static void other_user(void)
{
	setfsuid(1000);
	setfsuid(0);
	setresuid(-1, 1000, -1);
	setuid(0);
	setresuid(-1, 0, -1);
	setuid(1000);
	setuid(0);
}

static void users(void)
{
	for (int i = 0; i < 5; i++)
		child(other_user);
}

static void *first_start(void *arg)
{
	return arg;
}

static void *second_start(void *arg)
{
	return arg;
}

static void threads(void)
{
	pthread_t t;

	for (int i = 0; i < 10; i++)
		if (!pthread_create(&t, NULL, i & 1 ? first_start : second_start, NULL))
			pthread_join(t, NULL);
}

static void hosts(void)
{
	struct in_addr local = {.s_addr = htonl(INADDR_LOOPBACK)};
	struct addrinfo *ai;

	for (int i = 0; i < 5; i++) {
		if (!getaddrinfo("127.0.0.1", NULL, NULL, &ai))
			freeaddrinfo(ai);
		gethostbyname("127.0.0.2");
		gethostbyname2("::1", AF_INET6);
		gethostbyaddr(&local, sizeof(local), AF_INET);
	}
}

static void forks(void)
{
	for (int i = 0; i < FORKS; i++)
		child(nothing);
}

/* Calls that hardly anybody else makes, in numbers that put them on top. */
static void calls(void)
{
	for (int i = 0; i < 300000; i++)
		syscall(SYS_sched_get_priority_max, SCHED_FIFO);
	for (int i = 0; i < 200000; i++)
		syscall(SYS_sched_get_priority_min, SCHED_FIFO);
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getsid, -1);
}

/* Blocks of 4, 8, 16 and 32 KiB, straight to the disk. */
static void blocks(void)
{
	int fd = open("blocks", O_CREAT | O_RDWR | O_DIRECT, 0600);
	char *p;

	if (fd < 0 || posix_memalign((void **)&p, BLOCK, 8 * BLOCK) ||
	    posix_fallocate(fd, 0, 8L * BLOCK * BLOCKS))
		exit(1);
	memset(p, 1, 8 * BLOCK);
	fsync(fd);
	for (int i = 0; i < BLOCKS; i++)
		if (pwrite(fd, p, (size_t)BLOCK << (i & 3), 8L * BLOCK * i) < 0)
			exit(1);
	fsync(fd);
}

/* Two processes on this CPU that wake each other, and two that only compute. */
static void turns(void)
{
	int ab[2], ba[2];
	char c = 'x';
	pid_t busy[2], other;

	if (pipe(ab) || pipe(ba))
		exit(1);
	for (int i = 0; i < 2; i++) {
		busy[i] = fork();
		if (!busy[i])
			for (;;)
				;
	}
	other = fork();
	if (!other) {
		close(ab[1]);
		while (read(ab[0], &c, 1) == 1 && write(ba[1], &c, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < TURNS; i++)
		if (write(ab[1], &c, 1) != 1 || read(ba[0], &c, 1) != 1)
			exit(1);
	close(ab[1]);
	for (int i = 0; i < 2; i++)
		kill(busy[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

static void dirty(void)
{
	static char data[1 << 20];

	for (int i = 0; i < 3; i++) {
		int fd = open("dirty", O_CREAT | O_WRONLY | O_TRUNC, 0600);

		for (int mb = 0; mb < 8; mb++)
			if (write(fd, data, sizeof(data)) < 0)
				exit(1);
		close(fd);
		sync();
	}
}

/* Ten connections to ourselves, each with 100 bytes there and 50 back. */
static void connections(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(to);
	char data[100] = {0};
	int l = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(l, (struct sockaddr *)&to, n) || listen(l, 10) ||
	    getsockname(l, (struct sockaddr *)&to, &n))
		exit(1);
	for (int i = 0; i < 10; i++) {
		int c = socket(AF_INET, SOCK_STREAM, 0), a;

		if (connect(c, (struct sockaddr *)&to, n) || (a = accept(l, NULL, NULL)) < 0 ||
		    write(c, data, 100) != 100 || read(a, data, 100) != 100 ||
		    write(a, data, 50) != 50 || read(c, data, 50) != 50)
			exit(1);
		close(c);
		read(a, data, 1); /* its end */
		close(a);
	}
}

static void short_lives(void)
{
	char name[] = "life0";

	for (int i = 0; i < 5; i++) {
		name[4] = (char)('0' + i);
		close(open(name, O_CREAT | O_WRONLY, 0600));
		poll(NULL, 0, 5);
		unlink(name);
	}
}

static void mounts(void)
{
	mkdir("here", 0700);
	for (int i = 0; i < 3; i++) {
		mount("toolload", "here", "tmpfs", MS_NOSUID, "");
		umount2("here", MNT_DETACH);
		mount("toolload", "missing", "tmpfs", 0, "");
	}
}

/* What is typed in a shell that has a terminal. */
static void typed(void)
{
	if (system("printf 'echo toolload one\\necho toolload  two\\n' | script -qc 'bash --norc "
		   "-i' /dev/null"))
		exit(1);
}

/* Two seconds of a processor's time. */
static void computing(void)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec < 2);
}

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static int wanted[2], had[2];

static void *wants_it(void *arg)
{
	char c;

	while (read(wanted[0], &c, 1) == 1) {
		pthread_mutex_lock(&contended);
		pthread_mutex_unlock(&contended);
		if (write(had[1], &c, 1) != 1)
			break;
	}
	return arg;
}

/* Twenty waits for a mutex that another thread has. */
static void mutexes(void)
{
	pthread_t t;
	char c = 'x';

	if (pipe(wanted) || pipe(had) || pthread_create(&t, NULL, wants_it, NULL))
		exit(1);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&contended);
		if (write(wanted[1], &c, 1) != 1)
			exit(1);
		poll(NULL, 0, 5);
		pthread_mutex_unlock(&contended);
		if (read(had[0], &c, 1) != 1)
			exit(1);
	}
}

/* What is allocated and stays, of two callers. */
static void *volatile kept;

static void leaks_small(void)
{
	for (int i = 0; i < 20; i++)
		kept = malloc(1000);
}

static void leaks(void)
{
	leaks_small();
	for (int i = 0; i < 10; i++)
		kept = calloc(10, 4096);
	for (int i = 0; i < 100; i++)
		free(malloc(50000));
	poll(NULL, 0, 3000);
}

/* A connection with TLS, and one line each way. */
static void tls(void)
{
	if (system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
		   "-keyout k.pem "
		   "-out c.pem -days 2 -subj /CN=x 2>/dev/null || exit 1\n"
		   "openssl s_server -key k.pem -cert c.pem -accept 127.0.0.1:0 -naccept 1 -rev "
		   ">port 2>/dev/null &\n"
		   "for i in 1 2 3 4 5 6 7 8 9 10; do grep -q ^ACCEPT port && break; sleep 0.3; "
		   "done\n"
		   "(echo hello; sleep 1) | openssl s_client -connect $(sed -n 's/^ACCEPT //p' "
		   "port) >/dev/null 2>&1; "
		   "wait"))
		exit(1);
}

/* Ten times 64 KiB there and 32 KiB back. */
static void stream(void)
{
	static char data[1 << 16];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(to);
	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), a;

	if (bind(l, (struct sockaddr *)&to, n) || listen(l, 10) ||
	    getsockname(l, (struct sockaddr *)&to, &n) || connect(c, (struct sockaddr *)&to, n) ||
	    (a = accept(l, NULL, NULL)) < 0)
		exit(1);
	for (int i = 0; i < 10; i++)
		if (send(c, data, 1 << 16, 0) != 1 << 16 ||
		    recv(a, data, 1 << 16, MSG_WAITALL) != 1 << 16 ||
		    send(a, data, 1 << 15, 0) != 1 << 15 ||
		    recv(c, data, 1 << 15, MSG_WAITALL) != 1 << 15)
			exit(1);
	poll(NULL, 0, 1500);
}

/* Functions of the virtual file system, some of which nobody else calls so often. */
static void files(void)
{
	char data[BLOCK] = {0};
	int fd = open("file", O_CREAT | O_RDWR, 0600);

	for (int i = 0; i < 2000; i++)
		if (pwrite(fd, data, BLOCK, (i & 15) * BLOCK) != BLOCK)
			exit(1);
	for (int i = 0; i < 3000; i++)
		if (pread(fd, data, BLOCK, (i & 15) * BLOCK) != BLOCK)
			exit(1);
	for (int i = 0; i < 500; i++) {
		mkdir("directory", 0700);
		rmdir("directory");
	}
	for (int i = 0; i < 100; i++)
		close(open("file", O_RDONLY));
	fsync(fd);
	close(fd);
	poll(NULL, 0, 1500);
}

/* A file system of its own in a file. */
static void disk_files(void)
{
	static char data[BLOCK];
	int fd;

	if (system("mkdir mnt && truncate -s 16M disk && /sbin/mkfs.ext4 -q disk </dev/null "
		   ">/dev/null 2>&1 && "
		   "mount -t ext4 -o loop disk mnt"))
		exit(1);
	fd = open("mnt/disk-file", O_CREAT | O_RDWR, 0600);
	for (int i = 0; i < 500; i++)
		if (pwrite(fd, data, BLOCK, (off_t)i * BLOCK) != BLOCK)
			exit(1);
	for (int i = 0; i < 5; i++)
		fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (int i = 0; i < 500; i++)
		if (pread(fd, data, BLOCK, (off_t)i * BLOCK) != BLOCK)
			exit(1);
	close(fd);
	poll(NULL, 0, 1500);
	umount2("mnt", 0);
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(1);
	close(fd);
}

/* A child that may have so many bytes of memory (control groups of version 2). */
#define GROUP "/sys/fs/cgroup/toolload"
static void in_group(const char *bytes, void (*run)(void))
{
	pid_t pid;

	put("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0700);
	put(GROUP "/memory.max", bytes);
	pid = fork();
	if (!pid) {
		put(GROUP "/cgroup.procs", "0");
		run();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	rmdir(GROUP);
}

static void much_memory(void)
{
	size_t size = 48 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < size; i += BLOCK)
			p[i]++;
}

static void too_much(void)
{
	for (int i = 0; i < 3; i++)
		in_group("20M", much_memory);
}

static const struct {
	const char *tool;
	void (*run)(void);
} loads[] = {
	{"execsnoop", exec},
	{"opensnoop", opens},
	{"killsnoop", kills},
	{"statsnoop", stats},
	{"syncsnoop", syncs},
	{"naptime", naps},
	{"setuids", users},
	{"threadsnoop", threads},
	{"gethostlatency", hosts},
	{"pidpersec", forks},
	{"syscount", calls},
	{"bitesize", blocks},
	{"biolatency", blocks},
	{"runqlat", turns},
	{"writeback", dirty},
	{"tcp", connections},
	{"mountsnoop", mounts},
	{"filelife", short_lives},
	{"bash", typed},
	{"compute", computing},
	{"futex", mutexes},
	{"leak", leaks},
	{"tls", tls},
	{"stream", stream},
	{"files", files},
	{"ext4", disk_files},
	{"oom", too_much},
};

int main(int argc, char **argv)
{
	cpu_set_t one;

	if (argc < 3 || chdir(argv[2]))
		return 2;
	while (argc > 3 && access(argv[3], F_OK))
		poll(NULL, 0, 50);
	prctl(PR_SET_NAME, "toolload");
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(loads[i].tool, argv[1])) {
			loads[i].run();
			poll(NULL, 0, 1500); /* addresses are looked up, intervals end */
			return 0;
		}
	fprintf(stderr, "load: no load for %s\n", argv[1]);
	return 2;
}
