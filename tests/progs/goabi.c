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

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "written for x86-64 and aarch64"
#endif

__asm__(".pushsection .note.go.buildid, \"a\", %note\n"
	".balign 4\n"
	".long 4, 4, 4\n"
	".asciz \"Go\\0\"\n"
	".asciz \"abc\"\n"
	".popsection\n"

#ifdef __x86_64__
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
#define QUANTUM "1"
#else
	".text\n"
	".globl \"main.sign\"\n"
	".type \"main.sign\", %function\n"
	"\"main.sign\":\n"
	"cmp x0, #0\n"
	"b.lt 1f\n"
	"b.eq 2f\n"
	"mov x0, #1\n"
	"ret\n"
	"1: mov x0, #-1\n"
	"ret\n"
	"2: mov x0, #0\n"
	"ret\n"
	".size \"main.sign\", . - \"main.sign\"\n"

	".globl \"main.sum9\"\n"
	".type \"main.sum9\", %function\n"
	"\"main.sum9\":\n"
	"add x0, x0, x1\n"
	"add x0, x0, x2\n"
	"add x0, x0, x3\n"
	"add x0, x0, x4\n"
	"add x0, x0, x5\n"
	"add x0, x0, x6\n"
	"add x0, x0, x7\n"
	"add x0, x0, x8\n"
	"ret\n"
	".size \"main.sum9\", . - \"main.sum9\"\n"

	".globl \"main.home\"\n"
	".type \"main.home\", %function\n"
	"\"main.home\":\n"
	"adr x2, go_home_back\n"
	"cmp x30, x2\n"
	"cset x0, eq\n"
	"ret\n"
	".size \"main.home\", . - \"main.home\"\n"

	".globl \"main.(*T).Get\"\n"
	".type \"main.(*T).Get\", %function\n"
	"\"main.(*T).Get\":\n"
	"add x0, x0, #100\n"
	"ret\n"
	".size \"main.(*T).Get\", . - \"main.(*T).Get\"\n"

	".globl go_round\n"
	".type go_round, %function\n"
	"go_round:\n"
	"stp x29, x30, [sp, #-32]!\n"
	"mov x29, sp\n"
	"str x0, [sp, #16]\n"
	"sub x0, x0, #1\n"
	"bl \"main.sign\"\n"
	"ldr x0, [sp, #16]\n"
	"bl \"main.(*T).Get\"\n"
	"mov x0, #1\n"
	"mov x1, #2\n"
	"mov x2, #3\n"
	"mov x3, #4\n"
	"mov x4, #5\n"
	"mov x5, #6\n"
	"mov x6, #7\n"
	"mov x7, #8\n"
	"mov x8, #9\n"
	"bl \"main.sum9\"\n"
	"bl \"main.home\"\n"
	"go_home_back:\n"
	"ldp x29, x30, [sp], #32\n"
	"ret\n"
	".size go_round, . - go_round\n"
#define QUANTUM "4"
#endif

	".pushsection .gopclntab, \"a\"\n"
	"pcln: .long 0xfffffff1\n"
	".byte 0, 0, " QUANTUM ", 8\n"
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
