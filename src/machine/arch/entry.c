/*
 * entry.c - where a position-independent program without a dynamic linker begins (the Makefile names it to the linker).
 *
 * Its relocations change some forty pages one after the other, each with an exception of its own, before any C function
 * can run. Here the kernel is asked for all of them at once, from the first array of the writable segment to the end of
 * the data: madvise(2), MADV_POPULATE_WRITE. If it refuses, nothing is lost.
 */
#ifdef __x86_64__
__asm__(".pushsection .text.sonde_start, \"ax\", @progbits\n"
	".globl sonde_start\n"
	".type sonde_start, @function\n"
	"sonde_start:\n"
	"	mov	%rdx, %rbx\n" /* a function for _start to register */
	"	lea	__init_array_start(%rip), %rdi\n"
	"	and	$-4096, %rdi\n"
	"	lea	edata(%rip), %rsi\n"
	"	sub	%rdi, %rsi\n"
	"	mov	$23, %edx\n"
	"	mov	$28, %eax\n"
	"	syscall\n"
	"	mov	%rbx, %rdx\n"
	"	jmp	_start\n"
	".size sonde_start, . - sonde_start\n"
	".popsection\n");
#endif
