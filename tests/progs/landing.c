/*
 * landing N [MS [ROUNDS]]: functions that begin with endbr64 (or its like), as compilers write them for
 * processors that check where indirect jumps arrive. Calls pushes(i), moves(i) and bare(i), which
 * give i + 1, 2, 3, for i below N. Then it sleeps MS milliseconds; all that ROUNDS times.
 */
#include <stdlib.h>
#include <unistd.h>

#ifdef __x86_64__
__asm__(".text\n"
	".globl pushes\n"
	".type pushes, @function\n"
	"pushes:\n"
	"endbr64\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"lea 1(%rdi), %rax\n"
	"pop %rbp\n"
	"ret\n"
	".size pushes, . - pushes\n"

	".globl moves\n"
	".type moves, @function\n"
	"moves:\n"
	"endbr64\n"
	"mov %rdi, %rax\n"
	"add $2, %rax\n"
	"ret\n"
	".size moves, . - moves\n"

	".globl bare\n"
	".type bare, @function\n"
	"bare:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"lea 3(%rdi), %rax\n"
	"pop %rbp\n"
	"ret\n"
	".size bare, . - bare\n");
#else
/* The same with signed return addresses: paciasp, bti c, autiasp. */
__asm__(".text\n"
	".globl pushes\n"
	".type pushes, %function\n"
	"pushes:\n"
	"hint 25\n"
	"stp x29, x30, [sp, -16]!\n"
	"mov x29, sp\n"
	"add x0, x0, 1\n"
	"ldp x29, x30, [sp], 16\n"
	"hint 29\n"
	"ret\n"
	".size pushes, . - pushes\n"

	".globl moves\n"
	".type moves, %function\n"
	"moves:\n"
	"hint 34\n"
	"add x0, x0, 2\n"
	"ret\n"
	".size moves, . - moves\n"

	".globl bare\n"
	".type bare, %function\n"
	"bare:\n"
	"stp x29, x30, [sp, -16]!\n"
	"mov x29, sp\n"
	"add x0, x0, 3\n"
	"ldp x29, x30, [sp], 16\n"
	"ret\n"
	".size bare, . - bare\n");
#endif

long pushes(long n);
long moves(long n);
long bare(long n);

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1, sum = 0;
	long rounds = argc > 3 ? strtol(argv[3], NULL, 0) : 1;

	for (long r = 0; r < rounds; r++) {
		for (long i = 0; i < n; i++)
			sum += pushes(i) + moves(i) + bare(i);
		if (argc > 2)
			usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	}
	return sum == 0;
}
