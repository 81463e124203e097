/*
 * jit [LIST-MS]: makes a function (system call getppid, return) in memory, names it in
 * /tmp/perf-PID.map as runtimes do, calls it, sleeps and removes the list.
 *
 * jit dump FILE: the same, but names it in FILE ("jitdump"), which it maps and keeps. FILE should be
 * called jit-NUMBER.dump.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __aarch64__
/* stp x29,x30,[sp,-16]!; mov x29,sp; mov x8,#173; svc #0; ldp x29,x30,[sp],16; ret */
static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd28015a8, 0xd4000001, 0xa8c17bfd, 0xd65f03c0};
enum { MACHINE = 183 };
#else
/* push %rbp; mov %rsp,%rbp; mov $110,%eax; syscall; pop %rbp; ret */
static const char code[] = "\x55\x48\x89\xe5\xb8\x6e\0\0\0\x0f\x05\x5d\xc3";
enum { MACHINE = 62 };
#endif

static int put_list(const char *path, const void *at)
{
	FILE *list = fopen(path, "w");
	if (!list)
		return 1;
	fprintf(list, "%lx %zx Made::here(int)\n", (unsigned long)at, sizeof(code));
	return fclose(list);
}

static int put_dump(const char *path, const void *at)
{
	static const char name[] = "Dumped::here(int)";
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} head = {0x4a695444, 1, 40, MACHINE, 0, (uint32_t)getpid(), 0, 0};
	struct {
		uint32_t kind, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, n, index;
	} load = {0, sizeof(load) + sizeof(name) + sizeof(code), 0, head.pid, head.pid,
		  (uintptr_t)at, (uintptr_t)at, sizeof(code), 0};
	FILE *f = fopen(path, "w+");
	if (!f || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		return 1;
	fwrite(&head, sizeof(head), 1, f);
	fwrite(&load, sizeof(load), 1, f);
	fwrite(name, sizeof(name), 1, f);
	fwrite(code, sizeof(code), 1, f);
	return fclose(f);
}

int main(int argc, char **argv)
{
	char path[64];
	int dump = argc > 2 && !strcmp(argv[1], "dump");
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, (char *)at + sizeof(code));
	if (dump ? put_dump(argv[2], at) : put_list(path, at))
		return 1;
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC))
		return 1;
	((void (*)(void))at)();
	if (!dump) {
		usleep((useconds_t)((argc > 1 ? strtol(argv[1], NULL, 0) : 0) * 1000));
		unlink(path);
	}
	return 0;
}
