/*
 * COUNT functions of 256 bytes with names of their own, from number FROM on, frames of different sizes: parts of a
 * library with very many of them (bench/large.sh links them). The one with number 0 is "wide", too.
 */
	.altmacro
	.macro function number
	.type generated_function_of_a_large_library_\number, @function
generated_function_of_a_large_library_\number:
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
	.size generated_function_of_a_large_library_\number, . - generated_function_of_a_large_library_\number
	.balign 256
	.endm

	.text
	.balign 256
	.if FROM == 0
	.globl wide
wide:
	.endif
	.set i, FROM
	.rept COUNT
	function %i
	.set i, i + 1
	.endr
	.section .note.GNU-stack,"",@progbits
