/*
 * goabi N [MS]: functions by the rules of Go's compiler, in a program that says it is Go's
 * (.note.go.buildid). Each round calls
 *
 *	main.sign(i - 1)      three return instructions; -1, 0 or 1
 *	main.sum9(1, ... 9)   nine arguments in registers; 45
 *	main.home()           1 when its return address is the caller's, 0 when somebody changed it
 *	main.(*T).Get(i)      i + 100
 *
 * .gopclntab lists these four in the form of Go 1.20, also when the program is stripped.
 *
 * The exit code is 1 when home() ever said 0. MS: milliseconds to sleep at the end.
 */
#include <stdlib.h>
#include <unistd.h>

#ifndef __x86_64__
#error "written for x86-64"
#endif

__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
	".balign 4\n"
	".long 4, 4, 4\n"
	".asciz \"Go\\0\"\n"
	".asciz \"abc\"\n"
	".popsection\n"

	".text\n"
	".globl \"main.sign\"\n"
	".type \"main.sign\", @function\n"
	"\"main.sign\":\n"
	"test %rax, %rax\n"
	"js 1f\n"
	"jz 2f\n"
	"mov $0xc3c3c3c3c3c3c3c3, %rcx\n" /* looks like returns, and is none */
	"mov $1, %eax\n"
	"ret\n"
	"1: mov $-1, %rax\n"
	"ret\n"
	"2: xor %eax, %eax\n"
	"ret\n"
	".size \"main.sign\", . - \"main.sign\"\n"

	".globl \"main.sum9\"\n"
	".type \"main.sum9\", @function\n"
	"\"main.sum9\":\n"
	"add %rbx, %rax\n"
	"add %rcx, %rax\n"
	"add %rdi, %rax\n"
	"add %rsi, %rax\n"
	"add %r8, %rax\n"
	"add %r9, %rax\n"
	"add %r10, %rax\n"
	"add %r11, %rax\n"
	"ret\n"
	".size \"main.sum9\", . - \"main.sum9\"\n"

	".globl \"main.home\"\n"
	".type \"main.home\", @function\n"
	"\"main.home\":\n"
	"lea go_home_back(%rip), %rcx\n"
	"xor %eax, %eax\n"
	"cmp %rcx, (%rsp)\n"
	"sete %al\n"
	"ret\n"
	".size \"main.home\", . - \"main.home\"\n"

	".globl \"main.(*T).Get\"\n"
	".type \"main.(*T).Get\", @function\n"
	"\"main.(*T).Get\":\n"
	"add $100, %rax\n"
	"ret\n"
	".size \"main.(*T).Get\", . - \"main.(*T).Get\"\n"

	/* long round(long n): all of them, by C's rules; the result is home()'s */
	".globl go_round\n"
	".type go_round, @function\n"
	"go_round:\n"
	"push %rbx\n"
	"push %rdi\n"
	"lea -1(%rdi), %rax\n"
	"call \"main.sign\"\n"
	"mov (%rsp), %rax\n"
	"call \"main.(*T).Get\"\n"
	"mov $1, %eax\n"
	"mov $2, %ebx\n"
	"mov $3, %ecx\n"
	"mov $4, %edi\n"
	"mov $5, %esi\n"
	"mov $6, %r8d\n"
	"mov $7, %r9d\n"
	"mov $8, %r10d\n"
	"mov $9, %r11d\n"
	"call \"main.sum9\"\n"
	"call \"main.home\"\n"
	"go_home_back:\n"
	"pop %rdi\n"
	"pop %rbx\n"
	"ret\n"
	".size go_round, . - go_round\n"

	".pushsection .gopclntab, \"a\"\n"
	"pcln: .long 0xfffffff1\n"
	".byte 0, 0, 1, 8\n"
	".quad 4, 0, \"main.sign\", pcln_names - pcln, 0, 0, 0, pcln_list - pcln\n"
	"pcln_names:\n"
	"1: .asciz \"main.sign\"\n"
	"2: .asciz \"main.sum9\"\n"
	"3: .asciz \"main.home\"\n"
	"4: .asciz \"main.(*T).Get\"\n"
	".balign 4\n"
	"pcln_list:\n"
	".long 0, 5f - pcln_list\n"
	".long \"main.sum9\" - \"main.sign\", 6f - pcln_list\n"
	".long \"main.home\" - \"main.sign\", 7f - pcln_list\n"
	".long \"main.(*T).Get\" - \"main.sign\", 8f - pcln_list\n"
	".long go_round - \"main.sign\"\n"
	"5: .long 0, 1b - pcln_names\n"
	"6: .long \"main.sum9\" - \"main.sign\", 2b - pcln_names\n"
	"7: .long \"main.home\" - \"main.sign\", 3b - pcln_names\n"
	"8: .long \"main.(*T).Get\" - \"main.sign\", 4b - pcln_names\n"
	".popsection\n");

long go_round(long n);

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1, home = 1;

	for (long i = 0; i < n; i++)
		home &= go_round(i);
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return !home;
}
