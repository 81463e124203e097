/*
 * symbols: global variables of several sizes, and two calls of touch(), which has the address of a
 * buffer as its argument; prints the buffer afterwards.
 */
#include <stdio.h>

#define KEEP __attribute__((noinline, noipa))

unsigned char one = 7;
short two = -2;
int four = 44444;
long eight = 8888888888;
char label[] = "a label";
double ratio = 2.5;
float third = -1.25f;

KEEP void touch(char *buf, const double *d, const float *f)
{
	__asm__ volatile("" : : "r"(buf), "r"(d), "r"(f) : "memory");
}

int main(void)
{
	char buf[16] = "untouched";

	touch(buf, &ratio, &third);
	four++;
	touch(buf, &ratio, &third);
	printf("%s\n", buf);
	return 0;
}
