/*
 * nop5 N: probes five:leaf and five:caller on nops of five bytes. leaf() keeps a variable below the
 * stack pointer, and the exit code is 1 when it changed; caller() calls another function.
 */
#include <stdlib.h>

#ifndef __x86_64__
#error "written for x86-64"
#endif

#define NOTE(name)                                           \
	"990: .byte 0x0f, 0x1f, 0x44, 0, 0\n"                \
	".pushsection .note.stapsdt, \"\", \"note\"\n"       \
	".balign 4\n"                                        \
	".4byte 992f - 991f, 994f - 993f, 3\n"               \
	"991: .asciz \"stapsdt\"\n"                          \
	"992: .balign 4\n"                                   \
	"993: .8byte 990b, 0, 0\n"                           \
	".asciz \"five\"\n.asciz \"" name "\"\n.asciz \"\"\n" \
	"994: .balign 4\n"                                   \
	".popsection\n"

__asm__(".text\n"
	".type leaf, @function\n"
	"leaf:\n"
	"movq $7, -8(%rsp)\n"
	NOTE("leaf")
	"mov -8(%rsp), %rax\n"
	"ret\n"
	".size leaf, . - leaf\n"
	".type caller, @function\n"
	"caller:\n"
	"push %rbx\n"
	NOTE("caller")
	"call leaf\n"
	"pop %rbx\n"
	"ret\n"
	".size caller, . - caller\n"
	".globl caller\n");

long caller(void);

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1;

	for (int i = 0; i < n; i++)
		if (caller() != 7)
			return 1;
	return 0;
}
