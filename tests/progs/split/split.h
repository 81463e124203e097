/* split.h - a program of two units, whose debug information may be in other files. */
enum color { RED = 3, BLUE };
struct point {
	int x, y;
};
struct pair {
	int a;
	long b;
	struct point where;
};
int paint(struct pair *p, enum color c, int k);
