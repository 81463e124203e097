/* signs.c - results below 0, and signed bit-fields. "signs" runs each function once per round, "signs N" rounds. */
#include <stdbool.h>
#include <stdlib.h>
#define CALL __attribute__((noinline))
enum color { RED = -1, BLUE = 1 };
struct inner {
	int a : 3;
	enum color c : 3;
	bool y : 1;
	long long d : 40;
	signed char e : 4;
	unsigned long long u : 37;
	short s : 9;
};
struct outer {
	struct inner in;
	int z;
};
struct __attribute__((packed)) packed {
	unsigned a : 7;
	long long b : 62;
	int c : 3;
};

CALL int int_below(int i)
{
	__asm__ volatile("");
	return -i;
}

CALL long long_below(long i)
{
	__asm__ volatile("");
	return -i;
}

CALL int bits(struct outer *p, struct packed *k)
{
	__asm__ volatile("" ::"r"(p), "r"(k) : "memory");
	return p->z;
}

int main(int argc, char **argv)
{
	struct outer x = {{-2, RED, true, -123456789, -7, 0x1555555555, -200}, -1};
	struct packed k = {100, -1234567890123456789, -3};
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 1; i <= rounds; i++) {
		int_below(i);
		long_below(i);
		bits(&x, &k);
	}
	return 0;
}
