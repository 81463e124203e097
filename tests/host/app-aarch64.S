/*
 * app-aarch64.S - a program of aarch64 for compiler tests to name, as words, so that any assembler
 * makes it; its ELF header is told the machine's number behind that. Nothing runs it.
 */
	.text
	.globl work
	.type work, %function
	.balign 16
work:	.4byte 0xd503233f	/* paciasp */
	.4byte 0xa9be7bfd	/* stp x29, x30, [sp, -32]! */
	.4byte 0x910003fd	/* mov x29, sp */
	.4byte 0xb9001fe0	/* str w0, [sp, 28] */
990:	.4byte 0xd503201f	/* nop */
	.4byte 0xb9401fe0	/* ldr w0, [sp, 28] */
	.4byte 0xa8c27bfd	/* ldp x29, x30, [sp], 32 */
	.4byte 0xd50323bf	/* autiasp */
	.4byte 0xd65f03c0	/* ret */
	.size work, . - work

	.pushsection .note.stapsdt, "", %note
	.balign 4
	.4byte 992f - 991f, 994f - 993f, 3
991:	.asciz "stapsdt"
992:	.balign 4
993:	.8byte 990b, 0, 0
	.asciz "app"
	.asciz "step"
	.asciz "-4@w0 8@[x1, 16] 8@[sp, w2, sxtw 3] 4@#5 8@[x3, #:lo12:.LANCHOR0]"
994:	.balign 4
	.popsection
	.section .note.GNU-stack, "", %progbits
