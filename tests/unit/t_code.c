#include "probe/ufile.h"
#include "rights/sandbox.h"
#include "sym/code.h"
#include "test.h"
#include <elf.h>

/* Instructions as objdump writes them; what each is, and how long. */
static const struct {
	const char *bytes;
	u32 len; /* 0: not an instruction */
	enum code_kind kind;
} rows[] = {
	{"c3", 1, CODE_RET},
	{"f3 c3", 2, CODE_RET},
	{"f2 c3", 2, CODE_RET},
	{"c2 08 00", 3, CODE_RET},
	{"48 b9 c3 c3 c3 c3 c3 c3 c3 c3", 10, CODE_OTHER}, /* mov $..., %rcx */
	{"b9 c3 c3 c3 c3", 5, CODE_OTHER},
	{"66 b9 c3 c3", 4, CODE_OTHER},
	{"e8 01 02 03 04", 5, CODE_CALL},
	{"ff 15 01 02 03 04", 6, CODE_CALL},
	{"ff d0", 2, CODE_CALL},
	{"e9 01 02 03 04", 5, CODE_JUMP},
	{"eb fe", 2, CODE_JUMP},
	{"ff 25 01 02 03 04", 6, CODE_JUMP},
	{"f2 ff 25 01 02 03 04", 7, CODE_JUMP},
	{"55", 1, CODE_PUSH},
	{"41 57", 2, CODE_PUSH},
	{"90", 1, CODE_NOP},
	{"0f 1f 44 00 00", 5, CODE_NOP5},
	{"0f 1f 00", 3, CODE_OTHER},
	{"66 0f 1f 44 00 00", 6, CODE_OTHER},
	{"f3 0f 1e fa", 4, CODE_ENDBR},
	{"0f 1e fa", 3, CODE_OTHER},
	{"48 89 e5", 3, CODE_OTHER},
	{"8b 44 24 08", 4, CODE_OTHER},
	{"8b 84 24 01 02 03 04", 7, CODE_OTHER},
	{"8b 04 25 01 02 03 04", 7, CODE_OTHER},
	{"8b 05 01 02 03 04", 6, CODE_OTHER},
	{"8b 45 08", 3, CODE_OTHER},
	{"69 c0 01 02 03 04", 6, CODE_OTHER},
	{"66 69 c0 01 02", 5, CODE_OTHER},
	{"f7 c0 01 02 03 04", 6, CODE_OTHER}, /* test */
	{"f7 d0", 2, CODE_OTHER},             /* not */
	{"f6 44 24 08 01", 5, CODE_OTHER},
	{"66 81 38 01 02", 5, CODE_OTHER},
	{"0f 84 01 02 03 04", 6, CODE_OTHER},
	{"0f b6 c0", 3, CODE_OTHER},
	{"0f ba e0 05", 4, CODE_OTHER},
	{"66 0f 38 00 c1", 5, CODE_OTHER},
	{"66 0f 3a 0f c1 08", 6, CODE_OTHER},
	{"48 a1 01 02 03 04 05 06 07 08", 10, CODE_OTHER},
	{"c8 01 02 03", 4, CODE_OTHER},
	{"c5 f8 77", 3, CODE_OTHER},           /* vzeroupper */
	{"c5 f9 6e c6", 4, CODE_VECTOR},       /* vmovd %esi, %xmm0 */
	{"c5 f9 6e 06", 4, CODE_OTHER},        /* vmovd (%rsi), %xmm0 */
	{"c5 f9 ef c0", 4, CODE_VECTOR},       /* vpxor */
	{"c5 f9 7e c0", 4, CODE_OTHER},        /* vmovd %xmm0, %eax */
	{"62 e2 7d 28 7a ce", 6, CODE_VECTOR}, /* vpbroadcastb %esi, %ymm17 */
	{"c5 f9 70 c1 08", 5, CODE_OTHER},     /* vpshufd */
	{"c4 e3 79 0f c1 08", 6, CODE_OTHER},  /* vpalignr */
	{"c4 e2 79 00 c1", 5, CODE_OTHER},     /* vpshufb */
	{"62 f1 7d 48 6f 40 01", 7, CODE_OTHER},
	{"62 f3 7d 48 0f c1 08", 7, CODE_OTHER},
	{"64 48 8b 04 25 28 00 00 00", 9, CODE_OTHER},
	{"f0 48 0f b1 0f", 5, CODE_OTHER},
	{"06", 0, CODE_OTHER},
	{"62", 0, CODE_OTHER},
	{"0f 04", 0, CODE_OTHER},
	{"48 66 90", 0, CODE_OTHER},
	{"e8 01 02", 0, CODE_OTHER},
	{"8f 82", 0, CODE_OTHER},
	{"8f 00", 2, CODE_OTHER},
	{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", 0, CODE_OTHER}, /* 16 bytes */
	{"", 0, CODE_OTHER},
};

static u32 from_hex(const char *text, u8 *out)
{
	u32 n = 0;
	for (; *text; text += *text == ' ', n++) {
		char *end;
		out[n] = (u8)strtoul(text, &end, 16);
		text = end;
	}
	return n;
}

TEST(code_lengths)
{
	for (u32 i = 0; i < countof(rows); i++) {
		u8 b[32];
		struct codes c = {b, from_hex(rows[i].bytes, b), EM_X86_64};
		struct insn in = {0};
		u32 at = 0;
		bool ok = code_next(&c, &at, &in);
		if (ok != (rows[i].len > 0) || at != rows[i].len || in.kind != rows[i].kind)
			printf("# %s: %u, kind %u\n", rows[i].bytes, at, in.kind);
		CHECK(ok == (rows[i].len > 0) && at == rows[i].len && in.kind == rows[i].kind);
	}
}

TEST(code_refused)
{
	static const char *const yes[] = {"f0 ff 0f",
					  "2e 90",
					  "3e ff e0",
					  "cc",
					  "f4",
					  "e4 10",
					  "c5 f9 6e c6",
					  "c5 f9 ef c0",
					  "cd 80",
					  "c4 e2 7d 78 c0",
					  "c5 f8 28 c0",
					  "62 f1 7c 48 28 c0",
					  "66 0f 38 00 c1"};
	static const char *const no[] = {"55", "0f 0b", "f3 0f 1e fa", "64 8b 04 25 00 00 00 00",
					 "0f 05"};
	for (u32 i = 0; i < countof(yes) + countof(no); i++) {
		bool want = i < countof(yes);
		u8 b[32];
		struct codes c = {b, from_hex(want ? yes[i] : no[i - countof(yes)], b), EM_X86_64};
		struct insn in;
		u32 at = 0;
		CHECK(code_next(&c, &at, &in) && in.refused == want);
	}
}

TEST(code_begins)
{
	static const u8 b[] = {0x55, 0x48, 0x89, 0xe5, 0xc3, 0x06, 0x90};
	struct codes c = {b, sizeof(b), EM_X86_64};
	CHECK(code_begins(&c, 0) == BEGINS_YES && code_begins(&c, 1) == BEGINS_YES);
	CHECK(code_begins(&c, 2) == BEGINS_NO && code_begins(&c, 3) == BEGINS_NO);
	CHECK(code_begins(&c, 4) == BEGINS_YES && code_begins(&c, 5) == BEGINS_YES);
	CHECK(code_begins(&c, 6) == BEGINS_UNKNOWN && code_begins(&c, 100) == BEGINS_UNKNOWN);
	static const u8 arm[] = {0xc0, 0x03, 0x5f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, 0, 0, 0, 0x94};
	static const enum code_kind kind[] = {CODE_RET, CODE_NOP, CODE_CALL};
	c = (struct codes){arm, sizeof(arm), EM_AARCH64};
	CHECK(code_begins(&c, 4) == BEGINS_YES && code_begins(&c, 6) == BEGINS_NO);
	struct insn in;
	u32 at = 0;
	for (u32 i = 0; i < countof(kind); i++)
		CHECK(code_next(&c, &at, &in) && in.kind == kind[i] && in.len == 4);
	CHECK(!code_next(&c, &at, &in));
	/* ldr x0, .+8; ldxr w1, [x0]; svc 0; retaa; msr; stp, ldadd and ldr x1, [x0] are allowed */
	static const u32 words[] = {0x58000040, 0x885f7c01, 0xd4000001, 0xd65f0bff,
				    0xd51b4200, 0xa9bf7bfd, 0xb8210002, 0xf9400001};
	c = (struct codes){(const u8 *)words, sizeof(words), EM_AARCH64};
	at = 0;
	for (u32 i = 0; i < countof(words); i++)
		CHECK(code_next(&c, &at, &in) && in.refused == (i < 5));
}

/* Every function of this program and of the C library, from its start to its very end. */
TEST(code_of_this_program)
{
	struct arena a = {0};
	struct elf_syms syms;
	struct ufile f;
	u32 n = 0, bad = 0, returns = 0;
	struct host here = {.recorded = true, .arch = arch_native()};
	struct err *e = ufile_open(&here, "/proc/self/exe", &f);
	CHECK(!e && f.go == ABI_C);
	CHECK(!elf_read_syms(&here, &a, "/proc/self/exe", &syms));
	sandbox_end(&here);
	for (u32 i = 0; !e && i < syms.n; i++) {
		struct codes c = ufile_code(&f, &syms.v[i]);
		struct insn in = {0};
		u32 at = 0;
		while (code_next(&c, &at, &in))
			returns += in.kind == CODE_RET;
		n++;
		if (at != c.n)
			bad++;
	}
	CHECK(n > 100 && returns > 100 && !bad);
	ufile_close(&f);
	arena_free(&a);
}

TEST(code_landing_pads)
{
	static const struct {
		const char *bytes;
		u32 skip;
	} pads[] = {
		{"f3 0f 1e fa 55", 4},
		{"f3 0f 1e fa 41 57", 4},
		{"f3 0f 1e fa 90", 4},
		{"f3 0f 1e fa e9 01 02 03 04", 4},
		{"f3 0f 1e fa 48 89 e5", 0},
		{"f3 0f 1e fa 48 83 ec 08", 0},
		{"f3 0f 1e fa", 0},
		{"f3 0f 1e fb 55", 4},
		{"55 48 89 e5", 0},
		{"f3 0f 1e fa ff 25 01 02 03 04", 0},
		{"f3 0f 1e fa 0f 1f 44 00 00", 4},
	};
	for (u32 i = 0; i < countof(pads); i++) {
		u8 b[64];
		struct ufile f = {
			.im = {.p = b, .n = from_hex(pads[i].bytes, b), .machine = EM_X86_64}};
		CHECK(ufile_skip(&f, 0) == pads[i].skip);
		CHECK(ufile_skip(&f, 1000) == 0);
	}
}
