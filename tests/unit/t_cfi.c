#include "arch/arch.h"
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
			for (u32 fp = 0; fp <= UNWIND_FP_HERE; fp += 7) {
				u32 kept = fp % 16,
				    r = unwind_rule(kind, words[i], unwind_regs(fp, kept));
				CHECK(unwind_kind(r) == kind && unwind_words(r) == words[i] &&
				      unwind_fp(r) == fp && unwind_kept(r) == kept);
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
	case UNWIND_REG:
		return n == 1 && op_is(op, unwind_reg(rule), 8 * (i64)unwind_reg_words(rule));
	case UNWIND_RA_REG: return n == 1 && op_is(op, 7, 8 * (i64)unwind_reg_words(rule));
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

static bool same_kept(u32 rule, const Dwarf_Op *op, size_t n, bool undefined)
{
	i64 off = -8 * (i64)unwind_kept(rule);
	switch (unwind_kept(rule)) {
	case UNWIND_KEPT_SAME: return !n; /* what is not mentioned libdw calls undefined */
	case UNWIND_KEPT_LOST: return undefined || n != 2 || op[0].atom != DW_OP_call_frame_cfa;
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
	ok = ok && !dwarf_frame_register(frame, 3, mem, &op, &n) &&
	     same_kept(rule, op, n, !n && op == mem);
	if (kind == UNWIND_RA_REG)
		ok = ok && !dwarf_frame_register(frame, 16, mem, &op, &n) && n == 1 &&
		     op->atom == DW_OP_regx && op->number == unwind_reg(rule);
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

/* ---- part by part ---- */

enum { PART = 1 << 14 };

static void check_parts(const struct image *im, bool listed)
{
	u64 base = cfi_base(im), end = 0;
	struct cfi_rows all, part;
	struct cfi_list list;
	cfi_image(im, base, &all);
	CHECK(cfi_list(im, base, &list));
	CHECK(all.n > 100 && (list.n > 0) == listed);
	end = all.v[all.n - 1].pc;
	for (u32 from = 0, k = 0; from <= end; from += PART) {
		cfi_part(im, base, &list, from, from + PART, &part);
		CHECK(part.n && part.v[0].pc == from && part.v[part.n - 1].pc < from + PART);
		CHECK(part.v[0].rule == cfi_at(&all, from));
		for (; k < all.n && all.v[k].pc < from + PART; k++)
			CHECK(cfi_at(&part, all.v[k].pc) == all.v[k].rule);
		for (u32 i = 0; i < part.n; i++)
			CHECK(cfi_at(&all, part.v[i].pc) == part.v[i].rule);
		free(part.v);
	}
	cfi_list_free(&list);
	free(all.v);
}

/* Its program headers, but not the one of .eh_frame_hdr. */
static void without_header(struct image *im, u8 *copy)
{
	for (u32 i = 0; i < im->phnum; i++) {
		Elf64_Phdr *p = (Elf64_Phdr *)(copy + im->phoff + (u64)i * im->phentsize);
		if (p->p_type == PT_GNU_EH_FRAME)
			p->p_type = PT_NULL;
	}
}

TEST(cfi_parts_are_the_whole)
{
	struct image im, bare;
	if (!machine_is_ours())
		return;
	struct err *e = image_open("/proc/self/exe", &im);
	CHECK(!e);
	if (e) {
		err_free(e);
		return;
	}
	check_parts(&im, false);
	u8 *copy = malloc(im.n);
	CHECK(copy);
	if (copy) {
		memcpy(copy, im.p, im.n);
		without_header(&im, copy);
		CHECK(!image_mem(copy, im.n, &bare));
		check_parts(&bare, true);
		/* The other way round: no sections, as sstrip leaves it. */
		memcpy(copy, im.p, im.n);
		((Elf64_Ehdr *)copy)->e_shoff = 0;
		CHECK(!image_mem(copy, im.n, &bare));
		check_parts(&bare, false);
	}
	free(copy);
	image_close(&im);
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
	struct cfi c = {.arch = &arch_x86_64};
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

/* As gcc makes them for aarch64 with signed return addresses: the place at 28, the code at 36. */
static const u8 arm[] = {
	0x10, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0,
	/* paciasp; stp x29, x30, [sp, -32]!; ...; ldp; autiasp; ret */
	0x20, 0, 0, 0, 0x18, 0, 0, 0, 0xe4, 0x0f, 0, 0, 0x20, 0, 0, 0, 0, 0x41, 0x2d, 0x41, 0x0e,
	32, 0x9d, 4, 0x9e, 3, 0x44, 0xde, 0xdd, 0x0e, 0, 0x41, 0x2d, 0, 0, 0,
	/* a large frame from x29 on; x30 alone; x30 in another register */
	0x24, 0, 0, 0, 0x3c, 0, 0, 0, 0xe0, 0x0f, 0, 0, 0x10, 0, 0, 0, 0, 0x0c, 29, 0x80, 0x40,
	0x9d, 0x80, 0x08, 0x9e, 0xff, 0x07, 0x41, 0x0c, 31, 16, 0xdd, 0x9e, 2, 0x41, 0x09, 30, 15,
	0, 0};

TEST(cfi_of_aarch64)
{
	static const struct cfi_row want[] = {{0, UNWIND_NONE},
					      {0x1000, UNWIND_SP | UNWIND_LINK_LIVE},
					      {0x1008, UNWIND_SP | 4 << 4 | 4u << 22},
					      {0x1018, UNWIND_SP | UNWIND_LINK_LIVE},
					      {0x1020, UNWIND_FP_AT | 1024 << 4 | 2u << 22},
					      {0x1024, UNWIND_SP | 2 << 4 | 3u << 22},
					      {0x1028, UNWIND_UNKNOWN},
					      {0x1030, UNWIND_NONE}};
	struct cfi c = {.arch = &arch_aarch64};
	struct cfi_rows r;
	cfi_add(&c, bytes_of(arm, sizeof(arm)), 0, true);
	CHECK(!c.bad);
	cfi_finish(&c, &r);
	for (u32 i = 0; i < r.n && i < countof(want); i++)
		if (r.v[i].pc != want[i].pc || r.v[i].rule != want[i].rule)
			printf("# row %u: %x %x\n", i, r.v[i].pc, r.v[i].rule);
	CHECK(r.n == countof(want) && !memcmp(r.v, want, sizeof(want)));
	free(r.v);
}

TEST(cfi_entry_has_no_caller)
{
	static const struct cfi_row want[] = {
		{0, UNWIND_NONE}, {0xf00, UNWIND_END}, {0xf80, UNWIND_NONE}};
	struct cfi c = {.arch = &arch_x86_64, .entry = 0xf00};
	struct cfi_rows r;
	cfi_add(&c, bytes_of(plain, sizeof(plain)), 0, true);
	cfi_finish(&c, &r);
	CHECK(r.n > 3 && !memcmp(r.v, want, sizeof(want)) && r.v[3].pc == 0x1000);
	free(r.v);
	c = (struct cfi){.arch = &arch_x86_64, .entry = 0x1004}; /* described: as it says */
	cfi_add(&c, bytes_of(plain, sizeof(plain)), 0, true);
	cfi_finish(&c, &r);
	CHECK(unwind_kind(cfi_at(&r, 0x1004)) == UNWIND_FP);
	free(r.v);
}

TEST(cfi_frame_by_another_register)
{
	u8 copy[sizeof(plain)];
	struct cfi_rows r;
	u32 bad;
	memcpy(copy, plain, sizeof(plain));
	copy[48] = 9; /* def_cfa_register r9 */
	read_rows(copy, sizeof(copy), true, &r, &bad);
	u32 rule = cfi_at(&r, 0x1004);
	CHECK(!bad && unwind_kind(rule) == UNWIND_REG && unwind_fp(rule) == 2);
	CHECK(unwind_reg(rule) == 9 && unwind_reg_words(rule) == 2);
	CHECK(unwind_reg_words(unwind_reg_rule(UNWIND_REG, 15, -7, 1)) == -7);
	free(r.v);
	copy[48] = 33; /* no such register */
	read_rows(copy, sizeof(copy), true, &r, &bad);
	CHECK(unwind_kind(cfi_at(&r, 0x1004)) == UNWIND_UNKNOWN);
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
	copy[43] = 13; /* the frame begins between two words: def_cfa_offset 13 */
	read_rows(copy, sizeof(copy), true, &r, &bad);
	CHECK(r.n && unwind_kind(cfi_at(&r, 0x1001)) == UNWIND_UNKNOWN);
	free(r.v);
	memcpy(copy, plain, sizeof(plain));
	copy[42] = 0x3e; /* no such instruction */
	read_rows(copy, sizeof(copy), true, &r, &bad);
	CHECK(bad == 1 && unwind_kind(cfi_at(&r, 0x1008)) == UNWIND_UNKNOWN);
	free(r.v);
}
