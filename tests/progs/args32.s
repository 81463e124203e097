# args32: a program for i386 that calls tens(4, 2) and tens(5, 3), which give 42 and 53; the exit code is 0 when
# they do. No library is needed.
	.text
	.globl	tens
	.type	tens, @function
tens:
	push	%ebp
	mov	%esp, %ebp
	mov	8(%ebp), %eax
	imul	$10, %eax
	add	12(%ebp), %eax
	pop	%ebp
	ret
	.size	tens, . - tens

	.globl	_start
	.type	_start, @function
_start:
	push	$2
	push	$4
	call	tens
	mov	%eax, %esi
	push	$3
	push	$5
	call	tens
	add	%eax, %esi
	xor	%ebx, %ebx
	cmp	$95, %esi
	setne	%bl
	mov	$1, %eax
	int	$0x80
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
