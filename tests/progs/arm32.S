/*
 * arm32: a program for 32-bit Arm, as a whole file in words, so that a compiler for aarch64 makes it:
 *
 *	$CC -c -o arm32.o arm32.S; objcopy -O binary -j .text arm32.o arm32
 *
 * It calls getppid three times, from a function that keeps a frame. That system call's number, 64, is the
 * one of write for programs of 64 bits. Its second argument is 0x1234.
 */
#define BASE   0x10000
#define LENGTH 0x90
	.text
	.byte	0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
	.short	2, 40			/* ET_EXEC, EM_ARM */
	.word	1, BASE + 0x54		/* entry */
	.word	0x34, 0, 0x05000000	/* program headers; no sections; ABI 5 */
	.short	0x34, 0x20, 1, 0, 0, 0
	.word	1, 0, BASE, BASE, LENGTH, LENGTH, 5, 0x10000

/* 0x54 */
	.word	0xe3a0b000		/* mov r11, #0 */
	.word	0xe3a0e000		/* mov lr, #0 */
	.word	0xeb000002		/* bl 0x6c */
	.word	0xe3a00000		/* mov r0, #0 */
	.word	0xe3a07001		/* mov r7, #1 (exit) */
	.word	0xef000000		/* svc 0 */
/* 0x6c */
	.word	0xe92d4810		/* push {r4, r11, lr} */
	.word	0xe28db008		/* add r11, sp, #8 */
	.word	0xe3a04003		/* mov r4, #3 */
	.word	0xe3011234		/* movw r1, #0x1234 */
	.word	0xe3a07040		/* mov r7, #64 (getppid) */
	.word	0xef000000		/* svc 0 */
	.word	0xe2544001		/* subs r4, r4, #1 */
	.word	0x1afffffb		/* bne: 0x7c */
	.word	0xe8bd8810		/* pop {r4, r11, pc} */
