/*
 * names N: functions that are called what C++ and Rust compilers call theirs, each once per round:
 * ns::C::m(int), ns::C::m(double), int ns::id<int>(int), demo::shape::area (as Rust named it first
 * and names it now), <demo::Square>::area.
 */
#include <stdlib.h>

#define KEEP __attribute__((noinline, noipa))

KEEP int m_int(int n) __asm__("_ZN2ns1C1mEi");
KEEP int m_double(double n) __asm__("_ZN2ns1C1mEd");
KEEP int id_int(int n) __asm__("_ZN2ns2idIiEET_S1_");
KEEP int area_old(int n) __asm__("_ZN4demo5shape4area17h0123456789abcdefE");
KEEP int area_now(int n) __asm__("_RNvNtCs1234_4demo5shape4area");
KEEP int area_method(int n) __asm__("_RNvMs_Cs1234_4demoNtB4_6Square4area");

int m_int(int n)
{
	return n + 1;
}

int m_double(double n)
{
	return (int)n + 2;
}

int id_int(int n)
{
	return n;
}

int area_old(int n)
{
	return n * n;
}

int area_now(int n)
{
	return n * n + 1;
}

int area_method(int n)
{
	return n * n + 2;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1, sum = 0;

	for (int i = 0; i < n; i++)
		sum += m_int(i) + m_double(2.5) + id_int(7) + area_old(i) + area_now(i) +
		       area_method(i);
	return sum == 0;
}
