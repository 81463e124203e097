/*
 * fuse DIR: a file system of FUSE with one file, own, of up to 64 KiB; as root. It is mounted when the program goes
 * into the background, and ends when it is unmounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OWN = 2, MOST = 65536 };

static char data[MOST];
static uint64_t size;

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = {.ino = node, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = 4096};

	if (node == OWN)
		a.mode = S_IFREG | 0644, a.nlink = 1, a.size = size;
	return a;
}

static void reply(int fd, const struct fuse_in_header *in, int error, const void *body, size_t n)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof out + n), .error = error, .unique = in->unique};
	struct iovec parts[] = {{&out, sizeof out}, {(void *)body, n}};

	if (writev(fd, parts, 2) < 0 && errno != ENOENT)
		perror("fuse: reply");
}

static void set(int fd, const struct fuse_in_header *in, const struct fuse_setattr_in *want)
{
	struct fuse_attr_out out = {0};

	if (want->valid & FATTR_SIZE && in->nodeid == OWN && want->size <= MOST)
		size = want->size;
	out.attr = attr_of(in->nodeid);
	reply(fd, in, 0, &out, sizeof out);
}

static void answer(int fd, const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = OWN, .attr = attr_of(OWN)};
	struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	struct fuse_open_out open = {.open_flags = FOPEN_DIRECT_IO};
	const struct fuse_write_in *write = body;
	const struct fuse_read_in *read = body;
	struct fuse_write_out written = {0};
	uint64_t end;

	switch (in->opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: return;
	case FUSE_INIT: reply(fd, in, 0, &init, sizeof init); return;
	case FUSE_GETATTR: reply(fd, in, 0, &attr, sizeof attr); return;
	case FUSE_SETATTR: set(fd, in, body); return;
	case FUSE_OPEN:
	case FUSE_OPENDIR: reply(fd, in, 0, &open, sizeof open); return;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR: reply(fd, in, 0, NULL, 0); return;
	case FUSE_LOOKUP:
		if (strcmp(body, "own"))
			reply(fd, in, -ENOENT, NULL, 0);
		else
			reply(fd, in, 0, &entry, sizeof entry);
		return;
	case FUSE_READ:
		end = read->offset + read->size < size ? read->offset + read->size : size;
		reply(fd, in, 0, data + read->offset, read->offset < end ? end - read->offset : 0);
		return;
	case FUSE_WRITE:
		if (write->offset + write->size > MOST) {
			reply(fd, in, -ENOSPC, NULL, 0);
			return;
		}
		memcpy(data + write->offset, write + 1, write->size);
		if (size < write->offset + write->size)
			size = write->offset + write->size;
		written.size = write->size;
		reply(fd, in, 0, &written, sizeof written);
		return;
	default: reply(fd, in, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[16384] __attribute__((aligned(8)));
	char how[64];
	int fd = open("/dev/fuse", O_RDWR);

	snprintf(how, sizeof how, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (argc < 2 || fd < 0 || mount("own", argv[1], "fuse", 0, how)) {
		perror("fuse: mount");
		return 1;
	}
	if (daemon(0, 0))
		return 1;
	for (;;) {
		ssize_t n = read(fd, request, sizeof request);
		if (n < 0 && errno == ENODEV)
			return 0;
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer(fd, (void *)request, request + sizeof(struct fuse_in_header));
	}
}
