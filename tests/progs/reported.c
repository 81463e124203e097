/*
 * reported HOW: what users of other tracers reported as shown wrongly or not at all, a known number of times.
 *
 *	kills    a signal that is ignored, by six calls, to this process
 *	syncs    a file is written back by six calls
 *	files    a file is renamed and removed, another is removed by one of its two names, one is removed while open
 *	threads  20 getppid() in each of three threads with names of their own
 *	names    opens files whose names have a newline, an escape, a quote, bytes that are no UTF-8
 *	compare  memcmp() of 7,777 bytes, five times
 *	sums     counts from -3 to 3 in probed(), which returns what it gets
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void kills(void)
{
	int self = getpid();
	siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	int fd = (int)syscall(SYS_pidfd_open, self, 0);

	signal(SIGUSR1, SIG_IGN);
	kill(self, SIGUSR1);
	syscall(SYS_tkill, self, SIGUSR1);
	syscall(SYS_tgkill, self, self, SIGUSR1);
	syscall(SYS_rt_sigqueueinfo, self, SIGUSR1, &info);
	syscall(SYS_rt_tgsigqueueinfo, self, self, SIGUSR1, &info);
	syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0);
}

static void syncs(void)
{
	int fd = open("sync", O_RDWR | O_CREAT, 0600);
	char *p;

	if (ftruncate(fd, 4096))
		_exit(1);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*p = 1;
	msync(p, 4096, MS_SYNC);
	fsync(fd);
	fdatasync(fd);
	sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE);
	syncfs(fd);
	sync();
	unlink("sync");
}

static int make(const char *name)
{
	return open(name, O_RDWR | O_CREAT, 0600);
}

static void files(void)
{
	int fd;

	close(make("first"));
	rename("first", "second");
	unlink("second");
	close(make("one"));
	if (link("one", "two"))
		_exit(1);
	unlink("one");
	unlink("two");
	fd = make("open");
	unlink("open");
	close(fd);
}

static void *thread(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void threads(void)
{
	pthread_t t[3];
	static char *names[] = {"red", "green", "blue"};

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void names(void)
{
	close(make("a\nb"));
	close(make("a\033[2Jb"));
	close(make("a\"b"));
	close(make("a\xff\xfe"));
}

static void compare(void)
{
	static char a[7777], b[7777];
	volatile size_t n = sizeof(a);
	volatile int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += memcmp(a, b, n);
}

__attribute__((noinline, noclone)) int probed(int n)
{
	__asm__ volatile("");
	return n;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "kills"))
		kills();
	else if (!strcmp(how, "syncs"))
		syncs();
	else if (!strcmp(how, "files"))
		files();
	else if (!strcmp(how, "threads"))
		threads();
	else if (!strcmp(how, "names"))
		names();
	else if (!strcmp(how, "compare"))
		compare();
	for (int i = -3; !strcmp(how, "sums") && i <= 3; i++)
		probed(i);
	return 0;
}
