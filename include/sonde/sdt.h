/*
 * sonde/sdt.h - static probes for programs: places with a name and arguments that tracers can attach to.
 *
 *	#include <sonde/sdt.h>
 *
 *	SONDE_PROBE(server, request, id, length);      up to 12 arguments
 *
 * An untraced probe costs a few nops. Arguments are integers of up to 8 bytes, pointers, or floating
 * point numbers (which not every tracer can read); of a bit-field write `s.field + 0`, which every
 * compiler takes. Arguments are computed in any case. When that is dear, give the probe a semaphore,
 * which is above zero while somebody traces it:
 *
 *	SONDE_SEMAPHORE(server, dump);                 once in the program, outside functions
 *
 *	if (SONDE_ENABLED(server, dump))
 *		SONDE_PROBE_S(server, dump, make_text(x));
 *
 * Every tracer that reads .note.stapsdt sees the probes: `sonde -l 'usdt:./server:*'`,
 * `readelf -n ./server`. Sources written for other headers of this kind build with this one:
 * DTRACE_PROBE, DTRACE_PROBE1 to DTRACE_PROBE12, and the same as STAP_PROBE. With _SDT_HAS_SEMAPHORES
 * defined before the inclusion, those have semaphores, which the program defines itself as
 * `unsigned short PROVIDER_NAME_semaphore` in section .probes.
 *
 * On x86-64 the note points at a nop of one byte, which every kernel emulates. A nop of five and one
 * of ten bytes follow: each is what some kernels turn into a call when it is probed, which is faster
 * than a breakpoint. Calls in place of five bytes write below the stack pointer, where functions
 * that call nothing keep variables; so it is for tracers to decide.
 *
 * SONDE_NO_PROBES, defined before the inclusion, leaves all probes out.
 */
#ifndef SONDE_SDT_H
#define SONDE_SDT_H

#if defined(__ELF__) && defined(__GNUC__) && !defined(SONDE_NO_PROBES)

/* Older standards know neither macros of many arguments nor texts as long as these. */
#if defined(__cplusplus) ? __cplusplus < 201103L \
			 : (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#pragma GCC system_header
#endif

/* ---- code: nothing happens here ---- */

#if defined(__x86_64__)
#define SONDE_SDT_NOPS                                  \
	"990:\tnop\n"                                    \
	"\t.byte 0x0f, 0x1f, 0x44, 0, 0\n"               \
	"\t.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
#else
#define SONDE_SDT_NOPS "990:\tnop\n"
#endif

#if __SIZEOF_POINTER__ == 8
#define SONDE_SDT_WORD ".8byte"
#else
#define SONDE_SDT_WORD ".4byte"
#endif

/* ---- the note: where the probe is, what it is called, where its arguments are ---- */

#define SONDE_SDT_HEAD(provider, name, sem)                        \
	SONDE_SDT_NOPS                                             \
	"\t.pushsection .note.stapsdt, \"?\", \"note\"\n"          \
	"\t.balign 4\n"                                             \
	"\t.4byte 992f - 991f, 994f - 993f, 3\n"                    \
	"991:\t.asciz \"stapsdt\"\n"                               \
	"992:\t.balign 4\n"                                         \
	"993:\t" SONDE_SDT_WORD " 990b, _.stapsdt.base, " sem "\n"  \
	"\t.asciz \"" #provider "\"\n"                             \
	"\t.asciz \"" #name "\"\n"

#define SONDE_SDT_TAIL                                                                       \
	"\t.byte 0\n"                                                                         \
	"994:\t.balign 4\n"                                                                   \
	"\t.popsection\n"                                                                     \
	"\t.ifndef _.stapsdt.base\n"                                                          \
	"\t.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"         \
	"\t.weak _.stapsdt.base\n"                                                            \
	"\t.hidden _.stapsdt.base\n"                                                          \
	"_.stapsdt.base:\t.space 1\n"                                                         \
	"\t.size _.stapsdt.base, 1\n"                                                         \
	"\t.popsection\n"                                                                     \
	"\t.endif\n"

/* One argument: "size@place". A floating point number's size has an f behind it. */
#define SONDE_SDT_TEXT(n)                       \
	"\t.if %c[s" #n "] == 36\n"              \
	"\t.ascii \"4f@\"\n"                     \
	"\t.elseif %c[s" #n "] == 40\n"          \
	"\t.ascii \"8f@\"\n"                     \
	"\t.elseif %c[s" #n "] * %c[s" #n "] > 64\n" \
	"\t.error \"argument " #n " of a static probe has more than 8 bytes\"\n" \
	"\t.else\n"                              \
	"\t.ascii \"%c[s" #n "]@\"\n"            \
	"\t.endif\n"                             \
	"\t.ascii \"%[a" #n "]\"\n"
#define SONDE_SDT_MORE(n) "\t.ascii \" \"\n" SONDE_SDT_TEXT(n)
/* On aarch64 other operands in memory may name a part of an address that nobody can look up. */
#ifdef __aarch64__
#define SONDE_SDT_PLACE "nrQ"
#else
#define SONDE_SDT_PLACE "nor"
#endif
#define SONDE_SDT_OPS(n, x) [s##n] "n"(SONDE_SDT_SIZE(x)), [a##n] SONDE_SDT_PLACE(x)

/* ---- sizes: negative when signed, 32 more when floating point ---- */

#ifdef __cplusplus
extern "C++" {
/* Never called: as an argument it would become a value, an array or a function a pointer. */
template <class sonde_T> sonde_T sonde_sdt_value(sonde_T);
template <class sonde_T, bool is_enum = __is_enum(sonde_T)> struct sonde_sdt_number {
	typedef sonde_T type;
};
template <class sonde_T> struct sonde_sdt_number<sonde_T, true> {
	typedef __underlying_type(sonde_T) type;
};
template <class sonde_T> struct sonde_sdt_size {
	typedef typename sonde_sdt_number<sonde_T>::type number;
	enum { value = number(-1) < number(1) ? -(int)sizeof(sonde_T) : (int)sizeof(sonde_T) };
};
template <class sonde_T> struct sonde_sdt_size<sonde_T *> {
	enum { value = (int)sizeof(void *) };
};
#if __cplusplus >= 201103L
template <> struct sonde_sdt_size<decltype(nullptr)> {
	enum { value = (int)sizeof(void *) };
};
#endif
template <> struct sonde_sdt_size<bool> {
	enum { value = 1 };
};
template <> struct sonde_sdt_size<float> {
	enum { value = 36 };
};
template <> struct sonde_sdt_size<double> {
	enum { value = 40 };
};
template <> struct sonde_sdt_size<long double> {
	enum { value = 32 + (int)sizeof(long double) };
};
}
#define SONDE_SDT_SIZE(x) (int)(sonde_sdt_size<__typeof__(sonde_sdt_value(x))>::value)
#else
/* 5: a pointer, or an array, which becomes one; 8: floating point */
#define SONDE_SDT_CLASS(x) __builtin_classify_type(x)
/* The comma: of a bit-field alone there is no typeof. */
#define SONDE_SDT_NUMBER(x) \
	__typeof__(((void)0, __builtin_choose_expr(SONDE_SDT_CLASS(x) == 5, 0UL, (x))))
#define SONDE_SDT_SIGN(x) ((SONDE_SDT_NUMBER(x))-1 < (SONDE_SDT_NUMBER(x))1 ? -1 : 1)
#define SONDE_SDT_SIZE(x)                                             \
	(SONDE_SDT_CLASS(x) == 8 ? 32 + (int)sizeof(SONDE_SDT_NUMBER(x)) \
				 : SONDE_SDT_SIGN(x) * (int)sizeof(SONDE_SDT_NUMBER(x)))
#endif

/* ---- probes by their number of arguments; sem: the semaphore's name or "0" ---- */

#define SONDE_SDT_0(p, n, sem) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TAIL)
#define SONDE_SDT_1(p, n, sem, x1) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1))
#define SONDE_SDT_2(p, n, sem, x1, x2) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2))
#define SONDE_SDT_3(p, n, sem, x1, x2, x3) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3))
#define SONDE_SDT_4(p, n, sem, x1, x2, x3, x4) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4))
#define SONDE_SDT_5(p, n, sem, x1, x2, x3, x4, x5) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5))
#define SONDE_SDT_6(p, n, sem, x1, x2, x3, x4, x5, x6) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6))
#define SONDE_SDT_7(p, n, sem, x1, x2, x3, x4, x5, x6, x7) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7))
#define SONDE_SDT_8(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) SONDE_SDT_MORE(8) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7), SONDE_SDT_OPS(8, x8))
#define SONDE_SDT_9(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) SONDE_SDT_MORE(8) \
		SONDE_SDT_MORE(9) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7), SONDE_SDT_OPS(8, x8), \
		SONDE_SDT_OPS(9, x9))
#define SONDE_SDT_10(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) SONDE_SDT_MORE(8) \
		SONDE_SDT_MORE(9) SONDE_SDT_MORE(10) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7), SONDE_SDT_OPS(8, x8), \
		SONDE_SDT_OPS(9, x9), SONDE_SDT_OPS(10, x10))
#define SONDE_SDT_11(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) SONDE_SDT_MORE(8) \
		SONDE_SDT_MORE(9) SONDE_SDT_MORE(10) SONDE_SDT_MORE(11) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7), SONDE_SDT_OPS(8, x8), \
		SONDE_SDT_OPS(9, x9), SONDE_SDT_OPS(10, x10), \
		SONDE_SDT_OPS(11, x11))
#define SONDE_SDT_12(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
	__asm__ __volatile__(SONDE_SDT_HEAD(p, n, sem) \
		SONDE_SDT_TEXT(1) SONDE_SDT_MORE(2) SONDE_SDT_MORE(3) SONDE_SDT_MORE(4) \
		SONDE_SDT_MORE(5) SONDE_SDT_MORE(6) SONDE_SDT_MORE(7) SONDE_SDT_MORE(8) \
		SONDE_SDT_MORE(9) SONDE_SDT_MORE(10) SONDE_SDT_MORE(11) SONDE_SDT_MORE(12) \
		SONDE_SDT_TAIL :: \
		SONDE_SDT_OPS(1, x1), SONDE_SDT_OPS(2, x2), \
		SONDE_SDT_OPS(3, x3), SONDE_SDT_OPS(4, x4), \
		SONDE_SDT_OPS(5, x5), SONDE_SDT_OPS(6, x6), \
		SONDE_SDT_OPS(7, x7), SONDE_SDT_OPS(8, x8), \
		SONDE_SDT_OPS(9, x9), SONDE_SDT_OPS(10, x10), \
		SONDE_SDT_OPS(11, x11), SONDE_SDT_OPS(12, x12))

#define SONDE_SDT_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, ...) o
#define SONDE_SDT_COUNT(...) \
	SONDE_SDT_NTH(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, none, none)
#define SONDE_SDT_JOIN_(a, b) a##b
#define SONDE_SDT_JOIN(a, b)  SONDE_SDT_JOIN_(a, b)

#define SONDE_PROBE(...)   SONDE_SDT_JOIN(SONDE_SDT_P, SONDE_SDT_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SONDE_PROBE_S(...) SONDE_SDT_JOIN(SONDE_SDT_S, SONDE_SDT_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define SONDE_SDT_P0(p, n) SONDE_SDT_0(p, n, "0")
#define SONDE_SDT_S0(p, n) SONDE_SDT_0(p, n, #p "_" #n "_semaphore")
#define SONDE_SDT_P1(p, n, x1) SONDE_SDT_1(p, n, "0", x1)
#define SONDE_SDT_S1(p, n, x1) SONDE_SDT_1(p, n, #p "_" #n "_semaphore", x1)
#define SONDE_SDT_P2(p, n, x1, x2) SONDE_SDT_2(p, n, "0", x1, x2)
#define SONDE_SDT_S2(p, n, x1, x2) SONDE_SDT_2(p, n, #p "_" #n "_semaphore", x1, x2)
#define SONDE_SDT_P3(p, n, x1, x2, x3) SONDE_SDT_3(p, n, "0", x1, x2, x3)
#define SONDE_SDT_S3(p, n, x1, x2, x3) SONDE_SDT_3(p, n, #p "_" #n "_semaphore", x1, x2, x3)
#define SONDE_SDT_P4(p, n, x1, x2, x3, x4) SONDE_SDT_4(p, n, "0", x1, x2, x3, x4)
#define SONDE_SDT_S4(p, n, x1, x2, x3, x4) \
	SONDE_SDT_4(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4)
#define SONDE_SDT_P5(p, n, x1, x2, x3, x4, x5) SONDE_SDT_5(p, n, "0", x1, x2, x3, x4, x5)
#define SONDE_SDT_S5(p, n, x1, x2, x3, x4, x5) \
	SONDE_SDT_5(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5)
#define SONDE_SDT_P6(p, n, x1, x2, x3, x4, x5, x6) SONDE_SDT_6(p, n, "0", x1, x2, x3, x4, x5, x6)
#define SONDE_SDT_S6(p, n, x1, x2, x3, x4, x5, x6) \
	SONDE_SDT_6(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6)
#define SONDE_SDT_P7(p, n, x1, x2, x3, x4, x5, x6, x7) \
	SONDE_SDT_7(p, n, "0", x1, x2, x3, x4, x5, x6, x7)
#define SONDE_SDT_S7(p, n, x1, x2, x3, x4, x5, x6, x7) \
	SONDE_SDT_7(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7)
#define SONDE_SDT_P8(p, n, x1, x2, x3, x4, x5, x6, x7, x8) \
	SONDE_SDT_8(p, n, "0", x1, x2, x3, x4, x5, x6, x7, x8)
#define SONDE_SDT_S8(p, n, x1, x2, x3, x4, x5, x6, x7, x8) \
	SONDE_SDT_8(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7, x8)
#define SONDE_SDT_P9(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
	SONDE_SDT_9(p, n, "0", x1, x2, x3, x4, x5, x6, x7, x8, x9)
#define SONDE_SDT_S9(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
	SONDE_SDT_9(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7, x8, x9)
#define SONDE_SDT_P10(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
	SONDE_SDT_10(p, n, "0", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10)
#define SONDE_SDT_S10(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
	SONDE_SDT_10(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10)
#define SONDE_SDT_P11(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
	SONDE_SDT_11(p, n, "0", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11)
#define SONDE_SDT_S11(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
	SONDE_SDT_11(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11)
#define SONDE_SDT_P12(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
	SONDE_SDT_12(p, n, "0", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12)
#define SONDE_SDT_S12(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
	SONDE_SDT_12(p, n, #p "_" #n "_semaphore", x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12)

#ifdef __cplusplus
#define SONDE_SEMAPHORE(provider, name)                                                   \
	extern "C" {                                                                      \
	volatile unsigned short provider##_##name##_semaphore                             \
		__attribute__((section(".probes"), used, visibility("hidden"))) = 0;      \
	}                                                                                 \
	extern "C" volatile unsigned short provider##_##name##_semaphore
#else
#define SONDE_SEMAPHORE(provider, name)                       \
	volatile unsigned short provider##_##name##_semaphore \
		__attribute__((section(".probes"), used, visibility("hidden"))) = 0
#endif
#define SONDE_ENABLED(provider, name) __builtin_expect(provider##_##name##_semaphore != 0, 0)

#ifdef _SDT_HAS_SEMAPHORES
#define SONDE_SDT_SEM(provider, name) #provider "_" #name "_semaphore"
#else
#define SONDE_SDT_SEM(provider, name) "0"
#endif

#else /* no probes */

#define SONDE_PROBE(...)               ((void)0)
#define SONDE_PROBE_S(...)             ((void)0)
#define SONDE_SEMAPHORE(provider, name) struct sonde_no_semaphore
#define SONDE_ENABLED(provider, name)  0
#define SONDE_SDT_SEM(provider, name)  "0"
#define SONDE_SDT_0(p, n, sem) ((void)0)
#define SONDE_SDT_1(p, n, sem, x1) ((void)0)
#define SONDE_SDT_2(p, n, sem, x1, x2) ((void)0)
#define SONDE_SDT_3(p, n, sem, x1, x2, x3) ((void)0)
#define SONDE_SDT_4(p, n, sem, x1, x2, x3, x4) ((void)0)
#define SONDE_SDT_5(p, n, sem, x1, x2, x3, x4, x5) ((void)0)
#define SONDE_SDT_6(p, n, sem, x1, x2, x3, x4, x5, x6) ((void)0)
#define SONDE_SDT_7(p, n, sem, x1, x2, x3, x4, x5, x6, x7) ((void)0)
#define SONDE_SDT_8(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8) ((void)0)
#define SONDE_SDT_9(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9) ((void)0)
#define SONDE_SDT_10(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) ((void)0)
#define SONDE_SDT_11(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) ((void)0)
#define SONDE_SDT_12(p, n, sem, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) ((void)0)

#endif

/* ---- under the names of others ---- */

#ifndef DTRACE_PROBE
#define DTRACE_PROBE(p, n) SONDE_SDT_0(p, n, SONDE_SDT_SEM(p, n))
#define DTRACE_PROBE1(p, n, x1) SONDE_SDT_1(p, n, SONDE_SDT_SEM(p, n), x1)
#define DTRACE_PROBE2(p, n, x1, x2) SONDE_SDT_2(p, n, SONDE_SDT_SEM(p, n), x1, x2)
#define DTRACE_PROBE3(p, n, x1, x2, x3) SONDE_SDT_3(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3)
#define DTRACE_PROBE4(p, n, x1, x2, x3, x4) SONDE_SDT_4(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4)
#define DTRACE_PROBE5(p, n, x1, x2, x3, x4, x5) \
	SONDE_SDT_5(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5)
#define DTRACE_PROBE6(p, n, x1, x2, x3, x4, x5, x6) \
	SONDE_SDT_6(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6)
#define DTRACE_PROBE7(p, n, x1, x2, x3, x4, x5, x6, x7) \
	SONDE_SDT_7(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7)
#define DTRACE_PROBE8(p, n, x1, x2, x3, x4, x5, x6, x7, x8) \
	SONDE_SDT_8(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8)
#define DTRACE_PROBE9(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
	SONDE_SDT_9(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9)
#define DTRACE_PROBE10(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
	SONDE_SDT_10(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10)
#define DTRACE_PROBE11(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
	SONDE_SDT_11(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11)
#define DTRACE_PROBE12(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
	SONDE_SDT_12(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12)
#endif
#ifndef STAP_PROBE
#define STAP_PROBE(p, n) SONDE_SDT_0(p, n, SONDE_SDT_SEM(p, n))
#define STAP_PROBE1(p, n, x1) SONDE_SDT_1(p, n, SONDE_SDT_SEM(p, n), x1)
#define STAP_PROBE2(p, n, x1, x2) SONDE_SDT_2(p, n, SONDE_SDT_SEM(p, n), x1, x2)
#define STAP_PROBE3(p, n, x1, x2, x3) SONDE_SDT_3(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3)
#define STAP_PROBE4(p, n, x1, x2, x3, x4) SONDE_SDT_4(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4)
#define STAP_PROBE5(p, n, x1, x2, x3, x4, x5) \
	SONDE_SDT_5(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5)
#define STAP_PROBE6(p, n, x1, x2, x3, x4, x5, x6) \
	SONDE_SDT_6(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6)
#define STAP_PROBE7(p, n, x1, x2, x3, x4, x5, x6, x7) \
	SONDE_SDT_7(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7)
#define STAP_PROBE8(p, n, x1, x2, x3, x4, x5, x6, x7, x8) \
	SONDE_SDT_8(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8)
#define STAP_PROBE9(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9) \
	SONDE_SDT_9(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9)
#define STAP_PROBE10(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10) \
	SONDE_SDT_10(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10)
#define STAP_PROBE11(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11) \
	SONDE_SDT_11(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11)
#define STAP_PROBE12(p, n, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12) \
	SONDE_SDT_12(p, n, SONDE_SDT_SEM(p, n), x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12)
#endif

#endif
