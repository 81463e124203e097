/* 20,000 functions of 256 bytes, with frames of different sizes: 0.6 MB of .eh_frame. */
	.text
	.globl wide
	.balign 256
	.set i, 0
wide:
	.rept 20000
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	sub $(16 * (1 + (i % 61))), %rsp
	.cfi_adjust_cfa_offset 16 * (1 + (i % 61))
	call *%rdi
	add $(16 * (1 + (i % 61))), %rsp
	.cfi_adjust_cfa_offset -16 * (1 + (i % 61))
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.balign 256
	.set i, i + 1
	.endr
	.section .note.GNU-stack,"",@progbits
