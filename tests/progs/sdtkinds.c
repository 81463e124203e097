/*
 * sdtkinds: a probe for each kind of argument that C and C++ know, kinds:NAME, and fields of bits
 * where the compiler gives their value to assembly. Also compiled with other headers (-DHEADER=...,
 * -DPROBE=...) and as C++ by the tests.
 */
#ifndef HEADER
#define HEADER "../../include/sonde/sdt.h"
#define PROBE  SONDE_PROBE
#define OURS   1
#endif
#include HEADER

typedef int (*function)(int);
enum color { RED, GREEN };
enum sign { NEGATIVE = -1, POSITIVE = 1 };
struct bits {
	unsigned small : 3;
	int negative : 5;
};

static int callee(int x)
{
	return x + 1;
}

int integers(int n);
int integers(int n)
{
	signed char sc = -1;
	unsigned char uc = 255;
	short s = -2;
	unsigned short us = 65535;
	const long cl = n;
	volatile int vi = n;
	volatile const unsigned long vul = 7;
	enum color color = GREEN;
	enum sign sign = NEGATIVE;
	double d = 2.5;
	float f = 1.5f;

	PROBE(kinds, sc, sc);
	PROBE(kinds, uc, uc);
	PROBE(kinds, s, s);
	PROBE(kinds, us, us);
	PROBE(kinds, cl, cl);
	PROBE(kinds, vi, vi);
	PROBE(kinds, vul, vul);
	PROBE(kinds, color, color);
	PROBE(kinds, sign, sign);
	PROBE(kinds, constant, -3);
	PROBE(kinds, character, 'c' + 0);
	PROBE(kinds, unsigned_one, 0x80000000u);
	PROBE(kinds, expression, n + 40);
	PROBE(kinds, size, sizeof(n) + 0);
	PROBE(kinds, d, d);
	PROBE(kinds, f, f);
	return vi;
}

int pointers(int n, char **argv);
int pointers(int n, char **argv)
{
	static int array[4] = {1, 2, 3, 4};
	static const char text[] = "text";
	volatile short *volatile_pointer = 0;
	const void *const nothing = 0;
	function f = callee;

	PROBE(kinds, array, array);
	PROBE(kinds, text, text);
	PROBE(kinds, literal, "literal");
	PROBE(kinds, volatile_pointer, volatile_pointer);
	PROBE(kinds, nothing, nothing);
	PROBE(kinds, pointers, argv);
	PROBE(kinds, element, array[n & 3]);
	PROBE(kinds, address, &array[1]);
	PROBE(kinds, variable, f);
	PROBE(kinds, function, callee);
	return f(n);
}

#if defined(OURS) && !defined(__clang__) && !defined(__cplusplus)
void fields(void);
void fields(void)
{
	volatile struct bits b;

	b.small = 5;
	b.negative = -3;
	PROBE(kinds, small, b.small);
	PROBE(kinds, negative, b.negative);
}
#else
#define fields() ((void)0)
#endif

#if defined(__cplusplus) && defined(OURS)
void cpp(const int &ref);
void cpp(const int &ref)
{
	bool yes = true;

	PROBE(kinds, yes, yes);
	PROBE(kinds, reference, ref);
#if __cplusplus >= 201103L
	enum class letter : unsigned char { A, B };
	PROBE(kinds, null, nullptr);
	PROBE(kinds, letter, letter::B);
#endif
}
#else
#define cpp(x) ((void)0)
#endif

int main(int argc, char **argv)
{
	cpp(argc);
	fields();
	return integers(argc) + pointers(argc, argv) == 77;
}
