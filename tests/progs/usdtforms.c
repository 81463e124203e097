/*
 * usdtforms N [MS]: probes whose arguments lie in every kind of place, written out as the assembler
 * would have them; and probes of one name with arguments in different places.
 *
 *	forms:regs    8@%rbx -4@%ebx 2@%bx -1@%bl 1@%bh 8@%r12 4@%r12d 2@%r12w 1@%r12b
 *	forms:memory  8@(%rbx) 4@8(%rbx) 8@(%rbx,%rcx,8) 4@8(%rbx,%rcx,4) -2@16(%rbx) ...
 *	forms:symbols 8@word(%rip) 4@word+4(%rip) 8@$word 8@table+8(%rip) 1@word+8-1(%rip)
 *	forms:consts  -4@$-3 8@$0x10 1@$255 -1@$255
 *	forms:floats  8f@%xmm0 8@%rbx 8f@(%rdi); the last one is 1.5
 *	forms:places  the same name at three places: 4@%ebx, 4@(%rcx), 4@$30; values 10, 20, 30
 */
#include <stdlib.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "written for x86-64 and aarch64"
#endif

#define NOTE(name, args)                                     \
	"990: nop\n"                                         \
	".pushsection .note.stapsdt, \"\", \"note\"\n"       \
	".balign 4\n"                                        \
	".4byte 992f - 991f, 994f - 993f, 3\n"               \
	"991: .asciz \"stapsdt\"\n"                          \
	"992: .balign 4\n"                                   \
	"993: .8byte 990b, _.stapsdt.base, 0\n"              \
	".asciz \"forms\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n" \
	"994: .balign 4\n"                                   \
	".popsection\n"                                      \
	".ifndef _.stapsdt.base\n"                           \
	".pushsection .stapsdt.base, \"aG\", %progbits, .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"     \
	"_.stapsdt.base: .space 1\n"                         \
	".size _.stapsdt.base, 1\n"                          \
	".popsection\n"                                      \
	".endif\n"

unsigned long word = 0x1122334455667788;
unsigned long table[4] = {100, 101, 102, 103};

#ifdef __x86_64__
__asm__(".text\n"
	".globl fire\n"
	".type fire, @function\n"
	"fire:\n" /* void fire(long *memory) */
	"push %rbp\nmov %rsp, %rbp\npush %rbx\npush %r12\n"
	"mov $0x8182838485868788, %rbx\n"
	"mov $0x9192939495969798, %r12\n"
	NOTE("regs", "8@%rbx -4@%ebx 2@%bx -1@%bl 1@%bh 8@%r12 4@%r12d 2@%r12w 1@%r12b")
	"mov %rdi, %rbx\n"
	"mov $1, %ecx\n"
	NOTE("memory", "8@(%rbx) 4@8(%rbx) 8@(%rbx,%rcx,8) 4@8(%rbx,%rcx,4) -2@16(%rbx) 8@-8+16(%rbx) 1@3(%rbx,%rcx,2)")
	NOTE("symbols", "8@word(%rip) 4@word+4(%rip) 8@$word 8@table+8(%rip) 1@word+8-1(%rip)")
	NOTE("consts", "-4@$-3 8@$0x10 1@$255 -1@$255 -8@$-1")
	"mov $7, %ebx\n"
	NOTE("floats", "8f@%xmm0 8@%rbx 8f@32(%rdi) 8@%fs:0x28")
	"mov $10, %ebx\n"
	NOTE("places", "4@%ebx")
	"lea 24(%rdi), %rcx\n"
	NOTE("places", "4@(%rcx)")
	NOTE("places", "4@$30")
	"pop %r12\npop %rbx\npop %rbp\nret\n"
	".size fire, . - fire\n");
#else
/* The same values from places that aarch64 has; it names no symbols in operands. */
__asm__(".text\n"
	".globl fire\n"
	".type fire, %function\n"
	"fire:\n"
	"stp x29, x30, [sp, #-48]!\nmov x29, sp\nstp x19, x20, [sp, #16]\nstr x21, [sp, #32]\n"
	"ldr x19, =0x8182838485868788\n"
	"ldr x20, =0x9192939495969798\n"
	"mov w21, #0x87\n"
	NOTE("regs", "8@x19 -4@w19 2@w19 -1@x19 1@w21 8@x20 4@w20 2@w20 1@x20")
	"mov x19, x0\n"
	"mov x20, #1\n"
	"mov x21, #3\n"
	NOTE("memory", "8@[x19] 4@[x19, 8] 8@[x19, x20, lsl 3] 4@[x19, w21, sxtw 2] -2@[x19, #16] 8@[x19, 16-8] 1@[x19, 5]")
	NOTE("symbols", "8@[x19, #:lo12:word]")
	NOTE("consts", "-4@-3 8@#0x10 1@255 -1@255 -8@-1")
	"mov x19, #7\n"
	NOTE("floats", "8f@d0 8@x19 8f@[x0, 32] 8@tpidr")
	"ldr x21, [x0, #32]\n"
	NOTE("bits", "8f@x21 -4@wzr")
	"mov w19, #10\n"
	NOTE("places", "4@w19")
	"add x20, x0, #24\n"
	NOTE("places", "4@[x20]")
	NOTE("places", "4@30")
	"ldp x19, x20, [sp, #16]\nldr x21, [sp, #32]\nldp x29, x30, [sp], #48\nret\n"
	".size fire, . - fire\n");
#endif

void fire(long *memory);

int main(int argc, char **argv)
{
	/* 8 bytes each, low byte first: 1, 2 and 3 in each half, -2 in the third; 20 in the fourth; the bits of 1.5 */
	long memory[5] = {0x0000000200000001, 0x0000000400000003, -2, 20, 0x3ff8000000000000};
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1;

	for (int i = 0; i < n; i++)
		fire(memory);
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return 0;
}
