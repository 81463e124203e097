/*
 * labels N: functions as assembly may leave them, each called N times: bare (a label that does not
 * say that it is a function), endless (a function that does not say how long it is), and chosen (an
 * indirect function; what is called is chosen_form).
 */
#include <stdlib.h>

#ifndef __x86_64__
#error "written for x86-64"
#endif

__asm__(".text\n"
	".globl bare\n"
	"bare:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"pop %rbp\n"
	"ret\n"

	".globl endless\n"
	".type endless, @function\n"
	"endless:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"pop %rbp\n"
	"ret\n"

	".globl chosen_form\n"
	".type chosen_form, @function\n"
	"chosen_form:\n"
	"push %rbp\n"
	"pop %rbp\n"
	"ret\n"
	".size chosen_form, . - chosen_form\n"

	".globl chosen\n"
	".type chosen, @gnu_indirect_function\n"
	"chosen:\n"
	"lea chosen_form(%rip), %rax\n"
	"ret\n"
	".size chosen, . - chosen\n");

void bare(void);
void endless(void);
void chosen(void);

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1;

	for (long i = 0; i < n; i++) {
		bare();
		endless();
		chosen();
	}
	return 0;
}
