/* What code for aarch64 tells of an interpreter: jumps, and where thread-local variables are. */
#include "interp/common.h"
#include "test.h"
#include <elf.h>

enum { CODE_AT = 0x400000 };

TEST(aarch64_jumps)
{
	const struct {
		u32 word;
		u64 to; /* 0: it is none */
	} rows[] = {
		{0x14000002, CODE_AT + 8},  /* b */
		{0x17ffffff, CODE_AT - 4},  /* b, backwards */
		{0x54000060, CODE_AT + 12}, /* b.eq */
		{0x54ffffe1, CODE_AT - 4},  /* b.ne */
		{0xb4000061, CODE_AT + 12}, /* cbz x1 */
		{0x35ffffe0, CODE_AT - 4},  /* cbnz w0 */
		{0x37f80101, CODE_AT + 32}, /* tbnz w1, #31 */
		{0xb6ffffe0, CODE_AT - 4},  /* tbz x0, #63 */
		{0x94000002, 0},            /* bl */
		{0xd65f03c0, 0},
		{0xd61f0020, 0}, /* ret; br x1 */
		{0xf9407000, 0},
		{0xd503201f, 0}, /* ldr; nop */
	};
	for (u32 i = 0; i < countof(rows); i++) {
		u64 to = 0;
		CHECK(aarch64_jump(rows[i].word, CODE_AT, &to) == (rows[i].to != 0));
		CHECK(to == rows[i].to);
	}
}

/* Of a function that begins at CODE_AT, of a file that begins a page before. */
static bool find(const u32 *word, u32 n, struct unwind_lang *ret)
{
	struct segment all = {.type = PT_LOAD,
			      .flags = PF_R | PF_X,
			      .addr = CODE_AT,
			      .filesz = 4ul * n,
			      .memsz = 4ul * n};
	const struct image im = {.p = (const u8 *)word,
				 .n = 4ul * n,
				 .is64 = true,
				 .by_table = true,
				 .machine = EM_AARCH64,
				 .phnum = 1,
				 .table = &all};
	const struct elf_symbol fn = {CODE_AT, 4ul * n};
	*ret = (struct unwind_lang){0};
	return aarch64_thread_variable(&im, CODE_AT - 0x1000, &fn, ret);
}

TEST(aarch64_thread_variables_of_a_program)
{
	static const u32 near[] = {0xd503245f, 0xd53bd040, 0xd503201f,
				   0x91006000, 0xf9400000, 0xd65f03c0},
			 /* add x0, x0, #1, lsl #12; ldr x2, [x0, #16] */
		far[] = {0xd53bd041, 0x91400420, 0x91006000, 0xf9400802, 0xd65f03c0};
	struct unwind_lang l;
	CHECK(find(near, countof(near), &l) && l.root == UNWIND_ROOT_TLS && l.at == 0x18);
	CHECK(find(far, countof(far), &l) && l.root == UNWIND_ROOT_TLS && l.at == 0x1028);
	CHECK(!find(near, 4, &l));
}

TEST(aarch64_thread_variables_of_a_library)
{
	/* adrp x0, +0x3000; ldr x2, [x0, #176]; add x0, x0, #176; blr x2; ldr x0, [x1, x0] */
	static const u32
		described[] = {0xd53bd041, 0xa9bf7bfd, 0xf0000000, 0xf9405802,
			       0x9102c000, 0xd63f0040, 0xf8606820},
		/* adrp x0, -0x1000; ldr x0, [x0, #8]; mrs x1, tpidr_el0; ldr x0, [x1, x0] */
		added[] = {0xf0ffffe0, 0xf9400400, 0xd53bd041, 0xf8606820},
		/* the same in a function that this one calls, which ends here: bl +8 */
		called[] = {0xa9bf7bfd, 0x94000002, 0xd65f03c0, 0xf0ffffe0,
			    0xf9400400, 0xd53bd041, 0xf8606820},
		/* bl 0 */
		itself[] = {0x94000000, 0xd65f03c0},
		/* ldr x0, [x1, x0], of what nobody has loaded */
		unknown[] = {0xd53bd041, 0xf8606820, 0xd63f0040};
	struct unwind_lang l;
	CHECK(find(described, countof(described), &l) && l.root == UNWIND_ROOT_TLS_AT);
	CHECK(l.at == 0x1000 + 0x3000 + 176 + 8);
	CHECK(find(added, countof(added), &l) && l.root == UNWIND_ROOT_TLS_AT && l.at == 8);
	CHECK(find(called, countof(called), &l) && l.root == UNWIND_ROOT_TLS_AT && l.at == 8);
	CHECK(!find(itself, countof(itself), &l));
	CHECK(!find(unknown, countof(unknown), &l));
}

static struct bytes code_of(const u32 *word, u32 n)
{
	return bytes_of((const u8 *)word, 4ul * n);
}

TEST(aarch64_jumps_to_where_registers_point)
{
	/* ldr x1, [x2]; nop; br x1; ldr x3, [x2], #8; br x3; ldr x1, [x2, #64]; br x1 */
	static const u32 three
		[] = {0xf9400041, 0xd503201f, 0xd61f0020, 0xf8408443,
		      0xd61f0060, 0xf9402041, 0xd61f0020},
	   /* ldr x1, [x2, #72]; br x1; ldr x1, [x2]; mov x1, x4; br x1; add x1, x2, #0; br x1; br x9 */
		none[] = {0xf9402441, 0xd61f0020, 0xf9400041, 0xaa0403e1,
			  0xd61f0020, 0x91000041, 0xd61f0020, 0xd61f0120};
	CHECK(aarch64_jumps_by_register(code_of(three, countof(three))) == 3);
	CHECK(!aarch64_jumps_by_register(code_of(none, countof(none))));
	CHECK(!aarch64_jumps_by_register(bytes_of("\x20\x00\x1f", 3)));
}

TEST(aarch64_first_members)
{
	/* mov x4, x0; mov x29, sp; ldr x0, [x0, #224]; ldr w1, [x0, #40] */
	static const u32 threads[] = {0xaa0003e4, 0x910003fd, 0xf9407000, 0xb9402801},
			 /* ldr x1, [x4, #224] behind the first; ldrsw x1, [x1, #40] */
		moved[] = {0xaa0003e4, 0xf9407081, 0xb9802821},
			 /* adrp x0; ldr x0, [x0, #8]; ldr x2, [x0]; ldr w1, [x2, #40] */
		plain[] = {0x90000000, 0xf9400400, 0xf9400002, 0xb9402841},
			 /* ldr x0, [x0, #224]; ldr w1, [x0, #32]; ldr w1, [x2, #40] */
		other[] = {0xf9407000, 0xb9402001, 0xb9402841};
	i32 member = 0;
	CHECK(aarch64_first_member(code_of(threads, countof(threads)), 40, &member) &&
	      member == 224);
	CHECK(aarch64_first_member(code_of(moved, countof(moved)), 40, &member) && member == 224);
	CHECK(aarch64_first_member(code_of(plain, countof(plain)), 40, &member) && member == -1);
	CHECK(!aarch64_first_member(code_of(other, countof(other)), 40, &member));
	CHECK(!aarch64_first_member(code_of(threads, 3), 40, &member));
}
