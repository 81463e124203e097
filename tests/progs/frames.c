/*
 * frames: makes a system call (getppid) with made-up chains of frames, one after the other, and at last
 * at the end of a deep recursion with frames of all sizes (x86-64; others make none). Then caller() calls
 * bare(), which has no frame of its own.
 */
#include <alloca.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

typedef unsigned long word;

enum { LARGEST_PAGE = 1 << 16 }; /* of the kernels that this runs on */

static char *area; /* 8192 bytes; what follows is not there */

#ifdef __x86_64__
static __attribute__((noinline)) long call_with(word frame)
{
	long ret;

	__asm__ volatile("push %%rbp\n\tmov %2, %%rbp\n\tsyscall\n\tpop %%rbp"
			 : "=a"(ret)
			 : "a"(SYS_getppid), "r"(frame)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static long call_with(word frame)
{
	return (long)frame;
}
#endif

/* A function that makes no frame, and one that does, and calls it. */
long bare(long n);
__asm__(".pushsection .text\n\t.globl bare\n\t.type bare, @function\n"
	"bare:\n\tnop\n\tret\n\t.size bare, . - bare\n\t.popsection");

static __attribute__((noinline, noipa)) long caller(long n)
{
	return bare(n) + 1;
}

/* A frame at area + at: its caller's frame, and a return address by which it is known. */
static word put(word at, word next, word ret)
{
	word w[2] = {next, ret};

	memcpy(area + at, w, sizeof(w));
	return (word)area + at;
}

static __attribute__((noinline, noipa)) long deep(int n)
{
	char *room = alloca((size_t)(n * 97 % 1900 + 1));

	memset(room, n, 1);
	return (n ? deep(n - 1) : call_with((word)__builtin_frame_address(0))) + room[0];
}

int main(void)
{
	word f;

	area = mmap(NULL, 2 * LARGEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || munmap(area + LARGEST_PAGE, LARGEST_PAGE))
		return 1;
	area += LARGEST_PAGE - 8192;
	call_with(0);
	call_with(1);
	call_with(0xdead000000000000);
	call_with((word)area + 8192);
	call_with((word)area + 8184);                    /* half of it is there */
	call_with(put(8176, 0, 0x101));                  /* the last that is there */
	f = put(8168, 8, 0x102);                         /* not aligned as usual */
	call_with(put(16, f, 0x103));
	f = put(4088, 0xfff, 0x104);                     /* in two pages */
	f = put(1016, f, 0x105);                         /* in two windows */
	f = put(1000, f, 0x106);
	f = put(1008 + 1024, f, 0x107);                  /* the last of a window */
	f = put(3000, f, 0x108);
	call_with(put(501, f, 0x109));                   /* at an odd address */
	f = put(64, (word)area + 128, 0x10a);            /* for ever */
	call_with(put(128, f, 0x10b));
	return deep(40) == caller(2);
}
