#include "run/notify.h"
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct err *notify_open(const char *name, int *ret)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = strlen(name);
	if ((*name != '/' && *name != '@') || n < 2 || n >= sizeof(to.sun_path))
		return err_new("'%s' is no name of a socket", name);
	memcpy(to.sun_path, name, n);
	if (*name == '@')
		to.sun_path[0] = 0;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, len))
		return err_sys(errno, "connect to %s", name);
	*ret = fd;
	fd = -1;
	return NULL;
}

void notify_tell(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
}
