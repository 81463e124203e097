/* sdtmem: a static probe three times, whose argument is in the file and is read by nobody before: pages 4, 5 and 6 of a table. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE_WORDS = 512 };
static const uint64_t table[PAGE_WORDS * 8] __attribute__((aligned(4096))) = {
	[PAGE_WORDS * 4] = 40,
	[PAGE_WORDS * 5] = 50,
	[PAGE_WORDS * 6] = 60,
};

/* With a note that says `8@(%rdi)`. */
__attribute__((noinline)) static void hit(const uint64_t *at)
{
#ifdef __x86_64__
	__asm__ volatile("990:	nop\n"
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991:	.asciz \"stapsdt\"\n"
			 "992:	.balign 4\n"
			 "993:	.8byte 990b\n"
			 ".8byte 0\n"
			 ".8byte 0\n"
			 ".asciz \"app\"\n"
			 ".asciz \"there\"\n"
			 ".asciz \"8@(%%rdi)\"\n"
			 "994:	.balign 4\n"
			 ".popsection\n" ::"D"(at));
#else
	(void)at;
#endif
}

int main(void)
{
	/* The kernel maps no page around a fault, and none that it has in one piece with a page in use. */
	madvise((void *)table, sizeof(table), MADV_RANDOM);
	for (int i = 4; i < 7; i++) {
		madvise((void *)table, sizeof(table), MADV_DONTNEED);
		hit(&table[PAGE_WORDS * i]);
	}
	return 0;
}
