/* t_calls.c - numbers of system calls, and those of the same calls in programs of other kinds. */
#include "arch/arch.h"
#include "test.h"

static bool has(const struct arch_calls *calls, const char *name)
{
	for (u32 i = 0; i < calls->n; i++)
		if (arch_call_name(calls, i) && !strcmp(arch_call_name(calls, i), name))
			return true;
	return false;
}

TEST(calls_names)
{
	const struct arch_calls *c = &arch_x86_64.calls;
	CHECK_STR(arch_call_name(c, 0), "read");
	CHECK_STR(arch_call_name(c, 334), "rseq");
	CHECK(!arch_call_name(c, 400) && !arch_call_name(c, c->n) &&
	      !arch_call_name(c, UINT32_MAX));
	CHECK_STR(arch_call_name(c->compat, 3), "read");
	CHECK_STR(arch_call_name(c->x32, 520), "execve");
	CHECK_STR(arch_call_name(&arch_aarch64.calls, 63), "read");
	CHECK(!arch_call_name(arch_aarch64.calls.compat, 0));
}

TEST(calls_twin_rows_name_calls)
{
	const struct arch_calls *c = &arch_x86_64.calls;
	for (const struct arch_twin *t = c->compat->twins; t->name; t++) {
		CHECK(has(c->compat, t->name));
		CHECK(has(c, t->call));
		CHECK(t->same <= ARCH_CALL_ARGS);
		for (const struct arch_twin *u = c->compat->twins; u < t; u++)
			CHECK(strcmp(u->name, t->name) != 0);
	}
}

TEST(calls_twins)
{
	const struct arch_calls *i386 = arch_x86_64.calls.compat, *x32 = arch_x86_64.calls.x32;
	struct arch_twin how;
	CHECK(arch_twin(i386, STR("open"), 0, &how) == 5);
	CHECK(how.same == 6 && how.narrow);
	CHECK(arch_twin(i386, STR("open"), 1, &how) == i386->n);
	/* oldstat, stat64, and stat itself */
	CHECK(arch_twin(i386, STR("stat"), 0, &how) == 18);
	CHECK(arch_twin(i386, STR("stat"), 1, &how) == 195);
	CHECK(how.same == 1);
	CHECK(arch_twin(i386, STR("stat"), 2, &how) == 106);
	CHECK(arch_twin(i386, STR("stat"), 3, &how) == i386->n);
	/* The call of the same name has other arguments. */
	CHECK(arch_twin(i386, STR("mmap"), 0, &how) == 90);
	CHECK(how.same == 0);
	CHECK(arch_twin(i386, STR("mmap"), 1, &how) == 192);
	CHECK(how.same == 5);
	CHECK(arch_twin(i386, STR("mmap"), 2, &how) == i386->n);
	CHECK(arch_twin(i386, STR("clock_gettime"), 0, &how) == 403);
	CHECK(!how.narrow);
	/* Twins are no calls of their own. */
	CHECK(arch_twin(i386, STR("stat64"), 0, &how) == i386->n);
	CHECK(arch_twin(i386, STR("accept"), 0, &how) == i386->n);
	CHECK(arch_twin(x32, STR("execve"), 0, &how) == 520);
	CHECK(arch_twin(x32, STR("getpid"), 0, &how) == 39);
	CHECK(arch_twin(x32, STR("getpid"), 1, &how) == x32->n);
}
