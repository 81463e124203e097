#include "kern/host.h"
#include "sym/cfi.h"
#include "sym/procs.h"
#include "test.h"
#include "types/image.h"
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>

TEST(cfi_rules_keep_what_is_put_in)
{
	static const i32 words[] = {0, 1, -1, 5, (1 << 17) - 1, -(1 << 17)};
	for (u32 kind = UNWIND_NONE; kind <= UNWIND_UNKNOWN; kind++)
		for (u32 i = 0; i < countof(words); i++)
			for (u32 fp = 0; fp <= UNWIND_FP_HERE; fp += 31) {
				u32 r = unwind_rule(kind, words[i], fp);
				CHECK(unwind_kind(r) == kind && unwind_words(r) == words[i] &&
				      unwind_fp(r) == fp);
			}
}

/* ---- beside libdw, which reads the same sections ---- */

static bool op_is(const Dwarf_Op *op, u32 reg, i64 off)
{
	if (op->atom == DW_OP_bregx)
		return op->number == reg && (i64)op->number2 == off;
	return op->atom == DW_OP_breg0 + reg && (i64)op->number == off;
}

static bool same_frame(u32 rule, const Dwarf_Op *op, size_t n)
{
	i64 off = 8 * unwind_words(rule);
	switch (unwind_kind(rule)) {
	case UNWIND_SP: return n == 1 && op_is(op, 7, off);
	case UNWIND_FP: return n == 1 && op_is(op, 6, off);
	case UNWIND_FP_AT: return n == 2 && op_is(op, 6, off) && op[1].atom == DW_OP_deref;
	case UNWIND_SP_AT: return n == 2 && op_is(op, 7, off) && op[1].atom == DW_OP_deref;
	case UNWIND_SP_AT_8:
		return n == 3 && op_is(op, 7, off) && op[1].atom == DW_OP_deref &&
		       op[2].atom == DW_OP_plus_uconst && op[2].number == 8;
	case UNWIND_PLT: return n > 3 && op_is(op, 7, 8) && op_is(op + 1, 16, 0);
	default: return false;
	}
}

static bool same_fp(u32 rule, const Dwarf_Op *op, size_t n, bool undefined)
{
	i64 off = -8 * (i64)unwind_fp(rule);
	switch (unwind_fp(rule)) {
	case UNWIND_FP_SAME: return !op && !n && !undefined;
	case UNWIND_FP_LOST: return undefined || n > 0;
	case UNWIND_FP_HERE: return n == 1 && op_is(op, 6, 0);
	}
	return n >= 2 && op[0].atom == DW_OP_call_frame_cfa && (i64)op[1].number == off;
}

struct tally {
	u32 same, other, unknown, padding;
};

static void compare_at(Dwarf_CFI *cfi, const struct cfi_rows *rows, u64 base, u64 pc,
		       struct tally *t)
{
	u32 rule = cfi_at(rows, pc);
	enum unwind_kind kind = unwind_kind(rule);
	Dwarf_Frame *frame;
	Dwarf_Op mem[3], *op;
	size_t n;
	if (dwarf_cfi_addrframe(cfi, base + pc,
				&frame)) { /* between functions, where nobody runs */
		t->padding++;
		return;
	}
	bool ok = !dwarf_frame_cfa(frame, &op, &n) && same_frame(rule, op, n);
	ok = ok && !dwarf_frame_register(frame, 6, mem, &op, &n) &&
	     same_fp(rule, op, n, !n && op == mem);
	if (kind == UNWIND_END)
		ok = !dwarf_frame_register(frame, 16, mem, &op, &n) && !n && op == mem;
	if (kind == UNWIND_UNKNOWN || kind == UNWIND_SIGNAL)
		t->unknown++;
	else if (kind == UNWIND_NONE)
		t->other++;
	else if (ok)
		t->same++;
	else
		t->other++;
	free(frame);
}

static void compare_file(const char *path)
{
	struct image im;
	struct cfi_rows rows;
	struct tally t = {0};
	elf_version(EV_CURRENT);
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	struct err *e = image_open(path, &im);
	CHECK(cfi && !e);
	if (cfi && !e) {
		u64 base = cfi_base(&im);
		cfi_image(&im, base, &rows);
		for (u32 i = 0; i < rows.n; i++) {
			if (i)
				CHECK(rows.v[i - 1].pc < rows.v[i].pc);
			if (unwind_kind(rows.v[i].rule) == UNWIND_NONE)
				continue;
			compare_at(cfi, &rows, base, rows.v[i].pc, &t);
			if (i + 1 < rows.n && unwind_kind(rows.v[i + 1].rule) != UNWIND_NONE)
				compare_at(cfi, &rows, base, rows.v[i + 1].pc - 1, &t);
		}
		CHECK(t.same > 1000 && !t.other && t.unknown < t.same / 200 &&
		      t.padding < t.same / 10);
		free(rows.v);
	}
	if (!e)
		image_close(&im);
	err_free(e);
	if (cfi)
		dwarf_cfi_end(cfi);
	if (elf)
		elf_end(elf);
}

static bool machine_is_ours(void)
{
	struct image im;
	struct err *e = image_open("/proc/self/exe", &im);
	bool ours = !e && im.machine == EM_X86_64;
	if (!e)
		image_close(&im);
	err_free(e);
	if (!ours)
		test_skip("not x86_64");
	return ours;
}

TEST(cfi_of_this_program_as_libdw_reads_it)
{
	if (machine_is_ours())
		compare_file("/proc/self/exe");
}

TEST(cfi_of_the_c_library_as_libdw_reads_it)
{
	static const char *const libc[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"};
	for (u32 i = 0; i < countof(libc); i++)
		if (!access(libc[i], R_OK)) {
			compare_file(libc[i]);
			return;
		}
	test_skip("no C library found");
}

TEST(cfi_of_the_vdso)
{
	struct image im;
	struct cfi_rows rows;
	if (!machine_is_ours() || !vdso_image(&im))
		return;
	cfi_image(&im, cfi_base(&im), &rows);
	CHECK(rows.n > 2);
	free(rows.v);
}

/* ---- written by hand ---- */

/* A CIE as gcc makes it, and an FDE of 16 bytes at 0x1000 (the section is at 0): push %rbp; mov
 * %rsp,%rbp; ...; ret. */
static const u8 plain[] = {0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7,
			   8, 0x90, 1, 0, 0,
			   /* FDE: its CIE is 28 bytes before, the place is relative */
			   0x1c, 0, 0, 0, 0x1c, 0, 0, 0, 0xe0, 0x0f, 0, 0, 0x10, 0, 0, 0, 0, 0x41,
			   0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x4b, 0x0c, 7, 8, 0, 0, 0};

static void read_rows(const u8 *p, size_t n, bool eh, struct cfi_rows *ret, u32 *bad)
{
	struct cfi c = {0};
	cfi_add(&c, bytes_of(p, n), 0, eh);
	*bad = c.bad;
	cfi_finish(&c, ret);
}

TEST(cfi_of_a_function)
{
	static const struct cfi_row want[] = {{0, UNWIND_NONE},
					      {0x1000, UNWIND_SP | 1 << 4},
					      {0x1001, UNWIND_SP | 2 << 4 | 2u << 22},
					      {0x1004, UNWIND_FP | 2 << 4 | 2u << 22},
					      {0x100f, UNWIND_SP | 1 << 4 | 2u << 22},
					      {0x1010, UNWIND_NONE}};
	struct cfi_rows r;
	u32 bad;
	read_rows(plain, sizeof(plain), true, &r, &bad);
	CHECK(!bad && r.n == countof(want) && !memcmp(r.v, want, sizeof(want)));
	CHECK(cfi_at(&r, 0xfff) == UNWIND_NONE && cfi_at(&r, 0x1010) == UNWIND_NONE);
	CHECK(unwind_kind(cfi_at(&r, 0x100e)) == UNWIND_FP);
	free(r.v);
}

TEST(cfi_entry_has_no_caller)
{
	static const struct cfi_row want[] = {
		{0, UNWIND_NONE}, {0xf00, UNWIND_END}, {0xf80, UNWIND_NONE}};
	struct cfi c = {.entry = 0xf00};
	struct cfi_rows r;
	cfi_add(&c, bytes_of(plain, sizeof(plain)), 0, true);
	cfi_finish(&c, &r);
	CHECK(r.n > 3 && !memcmp(r.v, want, sizeof(want)) && r.v[3].pc == 0x1000);
	free(r.v);
	c = (struct cfi){.entry = 0x1004}; /* described: as it says */
	cfi_add(&c, bytes_of(plain, sizeof(plain)), 0, true);
	cfi_finish(&c, &r);
	CHECK(unwind_kind(cfi_at(&r, 0x1004)) == UNWIND_FP);
	free(r.v);
}

TEST(cfi_damaged)
{
	u8 copy[sizeof(plain)];
	struct cfi_rows r;
	u32 bad, nbad = 0;
	for (size_t n = 0; n < sizeof(plain); n++) { /* cut short */
		read_rows(plain, n, true, &r, &bad);
		CHECK(r.n == 0 || n > 40);
		nbad += bad;
		free(r.v);
	}
	for (size_t i = 0; i < sizeof(plain); i++) /* every byte with other values */
		for (u32 v = 0; v<256; v += i> 40 ? 1 : 17) {
			memcpy(copy, plain, sizeof(plain));
			copy[i] = (u8)v;
			read_rows(copy, sizeof(copy), true, &r, &bad);
			nbad += bad;
			for (u32 k = 1; k < r.n; k++)
				CHECK(r.v[k - 1].pc < r.v[k].pc);
			free(r.v);
			read_rows(copy, sizeof(copy), false, &r, &bad);
			free(r.v);
		}
	CHECK(nbad > 100);
}

TEST(cfi_that_is_not_understood_has_no_rule)
{
	u8 copy[sizeof(plain)];
	struct cfi_rows r;
	u32 bad;
	memcpy(copy, plain, sizeof(plain));
	copy[44] = 3; /* the frame begins where %rbx says: def_cfa_register 3 */
	copy[43] = 0x0d;
	read_rows(copy, sizeof(copy), true, &r, &bad);
	CHECK(r.n && unwind_kind(cfi_at(&r, 0x1001)) == UNWIND_UNKNOWN);
	free(r.v);
	memcpy(copy, plain, sizeof(plain));
	copy[42] = 0x3e; /* no such instruction */
	read_rows(copy, sizeof(copy), true, &r, &bad);
	CHECK(bad == 1 && unwind_kind(cfi_at(&r, 0x1008)) == UNWIND_UNKNOWN);
	free(r.v);
}
