/* throws_in: searches twice; the first time the comparison throws an exception through bsearch(). */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int left;

static int compare(const void *a, const void *b)
{
	if (!left--)
		throw std::runtime_error("no more");
	return *(const int *)a - *(const int *)b;
}

int main()
{
	for (int round = 0; round < 2; round++) {
		int v[] = {1, 2, 3, 4, 5};
		left = round ? 1000 : 1;
		try {
			if (bsearch(&v[4], v, 5, sizeof(v[0]), compare))
				puts("found");
		} catch (const std::exception &) {
			puts("caught");
		}
	}
}
