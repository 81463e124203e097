/* Calls three functions; the kernel can probe the first instruction of one of them only. */
#include <stdio.h>

#ifdef __x86_64__
extern int counter;
int counter;
void plus_locked(void);
void plus_wide(void);
void plus(void);
__asm__(".globl plus_locked, plus_wide, plus\n"
	".type plus_locked, @function\n.type plus_wide, @function\n.type plus, @function\n"
	"plus_locked: lock incl counter(%rip)\n ret\n.size plus_locked, .-plus_locked\n"
	"plus_wide: .byte 0xc5, 0xf9, 0xef, 0xc0\n incl counter(%rip)\n ret\n"
	".size plus_wide, .-plus_wide\n"
	"plus: nop\n incl counter(%rip)\n ret\n.size plus, .-plus\n");

int main(void)
{
	plus_locked();
	plus();
	plus();
	printf("%d\n", counter);
	return 0;
}
#endif
