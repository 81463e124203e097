#include "kern/verlog.h"
#include "test.h"

static struct verdict verdict_of(const char *log)
{
	static struct arena a;
	struct verdict v;
	verlog_read(log, &a, &v);
	return v;
}

TEST(verlog_scalar)
{
	struct verdict v = verdict_of(
		"0: (79) r1 = *(u64 *)(r1 +8)\n"
		"; $x = *arg0 @ stdin:1\n"
		"1: (79) r0 = *(u64 *)(r1 +0)\n"
		"R1 invalid mem access 'scalar'\n"
		"processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0\n");
	CHECK(v.insn == 1);
	CHECK_STR(v.why, "a number is used as if it were a pointer the kernel can follow");
	CHECK(str_is(v.detail, "R1 invalid mem access 'scalar'"));
	CHECK(!v.too_big);
}

TEST(verlog_null)
{
	struct verdict v = verdict_of(
		"7: (7b) *(u64 *)(r0 +0) = r1\nR0 invalid mem access 'map_value_or_null'\n");
	CHECK(v.insn == 7);
	CHECK_STR(v.why, "a pointer is used that was not checked for being null");
}

TEST(verlog_map_value)
{
	struct verdict v = verdict_of("9: (73) *(u8 *)(r0 +0) = r1\n"
				      "invalid access to map value, value_size=8 off=16 size=1\n"
				      "R0 min value is outside of the allowed memory range\n"
				      "processed 9 insns (limit 1000000)\n");
	CHECK(v.insn == 9);
	CHECK_STR(v.why, "memory may be read or written beyond its end");
}

TEST(verlog_too_big)
{
	struct verdict v = verdict_of("BPF program is too large. Processed 1000001 insn\n"
				      "processed 1000001 insns (limit 1000000)\n");
	CHECK(v.too_big);
	CHECK(v.insn == -1);
	/* Behind an instruction whose line had not ended. */
	v = verdict_of("264: (bf) r1 = r2\n265: (15) if r3 == 0x0 goto pc+52 BPF program is too "
		       "large. Processed 1000001 insn\nprocessed 1000001 insns (limit 1000000)\n");
	CHECK(v.too_big);
	CHECK(v.insn == 265);
	v = verdict_of("4: (05) goto pc-1\nThe sequence of 8193 jumps is too complex.\n");
	CHECK(v.too_big);
	CHECK(v.insn == 4);
}

TEST(verlog_loops)
{
	struct verdict v = verdict_of("infinite loop detected at insn 3\nprocessed 10 insns\n");
	CHECK(v.insn == 3);
	CHECK_STR(v.why, "the kernel sees a loop that never ends");
	v = verdict_of("back-edge from insn 12 to 3\n");
	CHECK(v.insn == 12);
}

TEST(verlog_others)
{
	CHECK_STR(verdict_of("3: (85) call unknown#999\ninvalid func unknown#999\n").why,
		  "this kernel does not have a function that the script needs");
	CHECK_STR(verdict_of("5: (95) exit\nR0 !read_ok\n").why,
		  "the program ends without a result");
	CHECK_STR(verdict_of("1: (bf) r0 = r10\nR0 leaks addr as return value\n").why,
		  "the script shows kernel addresses, which this user may not see");
	CHECK_STR(verdict_of("combined stack size of 2 calls is 544. Too large\n").why,
		  "values on the stack need more than the 512 bytes the kernel allows");
	CHECK_STR(verdict_of("1: (85) call bpf_probe_read_kernel#113\n"
			     "program of this type cannot use helper bpf_probe_read_kernel#113\n")
			  .why,
		  "a function is not allowed in this kind of probe");
}

TEST(verlog_strange)
{
	struct verdict v = verdict_of("");
	CHECK(v.insn == -1);
	CHECK(v.why);
	v = verdict_of("\n\n\n");
	CHECK(!v.detail.n);
	v = verdict_of("something nobody has seen before");
	CHECK(str_is(v.detail, "something nobody has seen before"));
	v = verdict_of("99999999999999999999: (85) call\n");
	CHECK(v.insn == -1);
}
