/* Runs every TEST(), or those whose name contains the first argument. */
#include "test.h"
#include <stdbool.h>

static struct test *tests;
static bool failed, skipped;

void test_add(struct test *t)
{
	t->next = tests;
	tests = t;
}

void test_fail(const char *file, int line, const char *what)
{
	printf("# %s:%d: %s\n", file, line, what);
	failed = true;
}

void test_str(const char *file, int line, const char *what, const char *got, const char *want)
{
	if (got && want && !strcmp(got, want))
		return;
	test_fail(file, line, what);
	printf("# got:\n%s\n# want:\n%s\n", got ? got : "(null)", want ? want : "(null)");
}

void test_skip(const char *why)
{
	printf("# skipped: %s\n", why);
	skipped = true;
}

/* Constructors ran in link order and pushed in front: turn the list round. */
static void reverse(void)
{
	struct test *r = NULL;
	for (struct test *t = tests, *next; t; t = next) {
		next = t->next;
		t->next = r;
		r = t;
	}
	tests = r;
}

int main(int argc, char **argv)
{
	int nfail = 0, nskip = 0, nrun = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	reverse();
	for (struct test *t = tests; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		failed = skipped = false;
		t->fn();
		nfail += failed;
		nskip += skipped && !failed;
		printf("%s %d - %s\n", failed ? "not ok" : "ok", ++nrun, t->name);
	}
	printf("1..%d\n%d passed, %d failed", nrun, nrun - nfail - nskip, nfail);
	if (nskip)
		printf(", %d skipped", nskip);
	printf("\n");
	return nfail != 0;
}
