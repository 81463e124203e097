/*
 * cwds DIR HOW: directories that a process works in, below DIR, which is empty.
 *
 *	where   the root, a mounted file system, a directory that is renamed
 *	deep    40 directories, one in another
 *	long    12 directories with names of 255 characters
 *	files   opens a relative, an absolute, an empty and a climbing path in DIR
 *	rooted  DIR becomes its root
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int went;

static void go(const char *to)
{
	went |= chdir(to);
}

static void down(const char *name, int times)
{
	for (int i = 0; i < times; i++) {
		went |= mkdir(name, 0700);
		go(name);
	}
}

static void where(void)
{
	go("/");
	go("/proc/self/task");
	go("/dev");
}

static void renamed(void)
{
	down("one", 1);
	down("in", 1);
	went |= rename("../../one", "../../two");
	go(".");
}

static void look(const char *path)
{
	int fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
}

static void files(void)
{
	look("some/file");
	look("/etc/hostname");
	look("");
	look("../up");
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	char name[256] = "";
	if (!strcmp(how, "where"))
		where();
	go(argv[1]);
	if (!strcmp(how, "where"))
		renamed();
	if (!strcmp(how, "deep"))
		down("d", 40);
	memset(name, 'x', 255);
	if (!strcmp(how, "long"))
		down(name, 12);
	if (!strcmp(how, "files"))
		files();
	if (!strcmp(how, "rooted")) {
		down("sub", 1);
		went |= chroot(argv[1]);
		go("/");
		go("/sub");
	}
	return went != 0;
}
