/* passed.c - functions whose parameters find their places by the rarer rules of calling conventions: floating
 * point numbers in structs, 16 bytes that want their alignment, more of a kind than there are registers. */
#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noinline, noclone))
#endif
struct three {
	double a, b, c;
};
struct two {
	double a, b;
};
struct unlike {
	float f;
	double d;
};
struct both {
	float f;
	int i;
};
struct wide {
	__int128 v;
};
struct asked {
	_Alignas(16) long a;
	long b;
};

CALL long after_three(struct three t, long next)
{
	return next + (long)t.c;
}

CALL long after_two(struct two t, long next)
{
	return next + (long)t.b;
}

CALL long after_unlike(struct unlike u, long next)
{
	return next + (long)u.d;
}

CALL long after_both(struct both b, long next)
{
	return next + b.i;
}

CALL long after_wide(long first, struct wide w, long next)
{
	return first + (long)w.v + next;
}

CALL long after_asked(long first, struct asked a, long next)
{
	return first + a.b + next;
}

CALL long many(double a, double b, double c, double d, double e, double f, double g, double h, double ninth, int i1,
	       int i2, int i3, int i4, int i5, int i6, int i7, int i8, int i9)
{
	return (long)(a + b + c + d + e + f + g + h + ninth) + i1 + i2 + i3 + i4 + i5 + i6 + i7 + i8 + i9;
}

CALL long split(double a, double b, double c, double d, double e, double f, struct three t, double last, int i1,
		int i2, int i3, int i4, int i5, int i6, int i7, int i8, long next)
{
	return (long)(a + b + c + d + e + f + t.a + t.b + t.c + last) + i1 + i2 + i3 + i4 + i5 + i6 + i7 + i8 + next;
}

int main(void)
{
	struct three t = {1, 2, 3};
	struct two pair = {1, 2};
	struct unlike u = {1, 2};
	struct both b = {1, 77};
	struct wide w = {5};
	struct asked a = {6, 7};
	long sum = after_three(t, 101) + after_two(pair, 100) + after_unlike(u, 102) + after_both(b, 103);
	sum += after_wide(1, w, 104) + after_asked(1, a, 105);
	sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 11, 12, 13, 14, 15, 16, 17, 18, 19);
	sum += split(1, 2, 3, 4, 5, 6, t, 10.5, 1, 2, 3, 4, 5, 6, 7, 8, 106);
	return sum == 12345;
}
