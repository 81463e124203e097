/*
 * Calls three functions; the kernel can probe the first instruction of one of them only. It takes
 * vpbroadcastb for a jump: with a probe there the sum is wrong.
 */
#include <stdio.h>

#ifndef __x86_64__
#error "written for x86-64"
#endif

extern int counter;
int counter;
void plus_locked(void);
void plus_wide(void);
void plus(void);
__asm__(".globl plus_locked, plus_wide, plus\n"
	".type plus_locked, @function\n.type plus_wide, @function\n.type plus, @function\n"
	"plus_locked: lock incl counter(%rip)\n ret\n.size plus_locked, .-plus_locked\n"
	"plus_wide: .byte 0xc4, 0xe2, 0x7d, 0x78, 0xc0\n ret\n"
	".size plus_wide, .-plus_wide\n"
	"plus: nop\n incl counter(%rip)\n ret\n.size plus, .-plus\n");

/* vpbroadcastb copies the first byte to all. */
static void wide(void)
{
	unsigned char out[32] = {0};
	__asm__ volatile("movl $1, %%eax\n movd %%eax, %%xmm0\n call plus_wide\n vmovdqu %%ymm0, %0\n"
			 "vzeroupper"
			 : "=m"(out)
			 :
			 : "eax", "memory");
	counter += out[31];
}

int main(void)
{
	plus_locked();
	plus();
	plus();
	if (__builtin_cpu_supports("avx2"))
		wide();
	else
		counter++;
	printf("%d\n", counter);
	return 0;
}
