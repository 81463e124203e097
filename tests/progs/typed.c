/* typed.c - parameters, results and variables of many types, for probes that read debug information.
 *
 *	typed [ROUNDS]
 *
 * Tests name its lines: change them together. */
#include <stdlib.h>
#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noinline, noclone))
#endif
enum color { RED, GREEN = 5, BLUE };
struct point {
	int x, y;
};
struct big {
	long a[5];
	char name[16];
};
typedef struct node {
	struct node *next;
	const char *label;
	int id;
	unsigned bits : 5, more : 9;
	enum color c;
	struct point at;
	int arr[4];
	union {
		int u;
		unsigned char bytes[4];
	};
} node_t;
struct opaque;
struct mixed {
	long n;
	double d;
};

CALL int visit(node_t *n, const char *what, enum color c, struct point pt, short s,
	       unsigned char uc, long stacked, struct big big, double d)
{
	static int calls = 40;
	int local = n->id * 2;
	calls++;
	for (int i = 0; i < 2; i++) {
		volatile int twice = i * 2;
		local += twice;
	}
	return local + pt.x + (int)stacked + big.name[0] + s + uc + (int)d + calls + what[0] + c;
}

CALL struct point make_point(int a, int b)
{
	struct point p = {a, b};
	return p;
}

CALL struct big make_big(int a)
{
	struct big b = {{a, a + 1}, "bigresult"};
	return b;
}

CALL node_t *find(node_t *n, int id)
{
	while (n && n->id != id)
		n = n->next;
	return n;
}

CALL int negative(int n)
{
	return -n;
}

CALL float floats(int k, float f, int j)
{
	return (float)k + f + (float)j;
}

CALL long halves(struct mixed m)
{
	return m.n + (long)m.d;
}

CALL long hidden(struct opaque *o)
{
	return o ? 1 : 2;
}

static inline __attribute__((always_inline)) int inlined(int v)
{
	volatile int w = v * 3;
	w++;
	return w;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	node_t b = {NULL, "second", 2, 3, 300, BLUE, {7, 8}, {1, 2, 3, 4}, {17}};
	node_t a = {&b, "first", 1, 31, 511, RED, {5, 6}, {9, 8, 7, 6}, {0x04030201}};
	struct big big = {{1, 2, 3, 4, 5}, "bigname"};
	struct point pt = {11, 22};
	struct mixed m = {3, 4.5};
	for (int i = 0; i < rounds; i++) {
		sum += visit(&a, "hello", GREEN, pt, -3, 200, -77, big, 2.5);
		sum += make_point(3, 4).x + (int)make_big(9).a[0] + find(&a, 2)->id;
		sum += negative(6) + (int)floats(1, 2.5f, 3) + (int)halves(m);
		sum += (int)hidden((struct opaque *)&a);
		sum += inlined(i + 10);
	}
	return sum == 12345;
}
