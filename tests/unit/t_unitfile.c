/* Compiled scripts as bytes: written, read back, damaged. */
#include "cmd/cmd.h"
#include "core/unitfile.h"
#include "test.h"

static const char *const scripts[] = {
	"begin { @ = 1; }",
	"begin { printf(\"%s %d %x\\n\", comm, pid, 5); @x[1, \"a\"] = hist(5, 2); "
	"print(@x); clear(@x); time(\"%H\"); exit(3); }",
	"tracepoint:sched:sched_switch { @[args.prev_comm] = count(); @s = sum(1); "
	"@l = lhist(pid, 0, 100, 10); @t[pid] = tseries(1, 1s, 5); @start[tid] = nsecs; }",
	"begin { @d[1] = stddev(1); @q = quantize(1, 2); @ll = llquantize(5, 10, 0, 3, 10); "
	"@s = stats(4); @m = min(3); @bh = bhist(5, \"1,10\"); }",
	"kprobe:vfs_read { @[kstack(5), ustack(perf)] = avg(arg2); @b = (1, (uint8)2, \"three\"); "
	"print((1, 2)); }",
};

struct bytes_of_script {
	struct arena a;
	struct host h;
	struct job j;
};

static bool build(struct bytes_of_script *t, const char *text, struct sb *out)
{
	struct run_opts o = {.machine.root = "build/host/6.1-x86_64",
			     .compile = {.check_ir = true, .no_warn = true}};
	struct script s = {.source = {STR("stdin"), str_z(text)}};
	*t = (struct bytes_of_script){0};
	if (!host_prepare(&t->h, &t->a, &o))
		return false;
	job_init(&t->j, &o.compile, &s, &t->h);
	bool ok = compile_script(&t->j.c, STAGE_ALL, NULL);
	if (!ok)
		diags_print(&t->j.diags, stdout, false);
	struct err *e = ok ? unit_write(&t->j.unit, &t->j.diags, out) : NULL;
	if (e)
		test_fail(__FILE__, __LINE__, e->msg);
	ok &= !e;
	err_free(e);
	return ok;
}

static void teardown(struct bytes_of_script *t)
{
	job_free(&t->j);
	host_deinit(&t->h);
	arena_free(&t->a);
}

/* Read into a unit of its own; what that writes again in *again, when it is wanted. */
static bool read_back(struct host *h, const void *p, size_t n, struct sb *again)
{
	struct arena a = {0};
	struct diags ds = {.arena = &a};
	struct unit u = {0};
	struct err *e = unit_read(&u, &a, &ds, h, p, n);
	bool ok = !e;
	if (e && again)
		test_fail(__FILE__, __LINE__, e->msg);
	err_free(e);
	if (ok && again)
		err_free(unit_write(&u, &ds, again));
	arena_free(&a);
	return ok;
}

TEST(unit_comes_back_as_it_was)
{
	for (u32 i = 0; i < countof(scripts); i++) {
		struct bytes_of_script t;
		AUTO_SB first = {0};
		AUTO_SB again = {0};
		CHECK(build(&t, scripts[i], &first));
		CHECK(read_back(&t.h, first.s, first.n, &again));
		CHECK(first.n > 100 && first.n == again.n && !memcmp(first.s, again.s, first.n));
		teardown(&t);
	}
}

TEST(unit_that_is_cut_is_refused)
{
	struct bytes_of_script t;
	AUTO_SB b = {0};
	u32 good = 0;
	CHECK(build(&t, scripts[1], &b));
	for (size_t n = 0; n < b.n; n++)
		good += read_back(&t.h, b.s, n, NULL);
	CHECK(good == 0);
	sb_char(&b, 'x');
	CHECK(!read_back(&t.h, b.s, b.n, NULL));
	teardown(&t);
}

/* Every byte wrong in turn, in three ways: refused, or another script; never a crash. */
TEST(unit_that_is_damaged_does_no_harm)
{
	static const u8 wrong[] = {0xff, 0x80, 1};
	for (u32 i = 0; i < countof(scripts); i++) {
		struct bytes_of_script t;
		AUTO_SB b = {0};
		u32 bad = 0;
		CHECK(build(&t, scripts[i], &b));
		for (size_t at = 0; at < b.n; at++)
			for (u32 k = 0; k < countof(wrong); k++) {
				char was = b.s[at];
				b.s[at] = (char)(was ^ wrong[k]);
				bad += !read_back(&t.h, b.s, b.n, NULL);
				b.s[at] = was;
			}
		CHECK(bad > b.n / 2);
		teardown(&t);
	}
}

TEST(unit_of_another_version_is_told)
{
	struct bytes_of_script t;
	AUTO_SB b = {0};
	struct diags ds = {0};
	CHECK(build(&t, scripts[0], &b));
	b.s[8]++;
	struct unit u = {0};
	struct err *e = unit_read(&u, &t.a, &ds, &t.h, b.s, b.n);
	CHECK_STR(e ? e->msg : "", "compiled script: it is of another version of sonde");
	err_free(e);
	teardown(&t);
}
