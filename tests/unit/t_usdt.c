#include "arch/arch.h"
#include "test.h"
#include "types/usdt.h"
#include <elf.h>

static struct usdt_arg arg_of(const struct arch *arch, const char *text)
{
	struct usdt_arg a = {0};
	if (!usdt_parse_arg(arch, str_z(text), &a))
		a.size = 99;
	return a;
}

static struct usdt_arg arg(const char *text)
{
	return arg_of(&arch_x86_64, text);
}

static struct usdt_arg arm(const char *text)
{
	return arg_of(&arch_aarch64, text);
}

static bool same(struct usdt_arg a, enum usdt_arg_kind kind, int size, int reg, i64 off)
{
	int signed_size = a.is_signed ? -a.size : a.size;
	return a.kind == kind && signed_size == size && a.reg == reg && a.off == off;
}

TEST(usdt_x86_arguments)
{
	CHECK(same(arg("-4@%eax"), UA_REG, -4, 80, 0));
	CHECK(same(arg("8@%r15"), UA_REG, 8, 0, 0));
	CHECK(same(arg("1@%r15b"), UA_REG, 1, 0, 0));
	CHECK(same(arg("2@%si"), UA_REG, 2, 104, 0));
	CHECK(same(arg("-1@%dil"), UA_REG, -1, 112, 0));
	CHECK(same(arg("1@%ah"), UA_REG, 1, 81, 0));
	CHECK(same(arg("4@$5"), UA_CONST, 4, -1, 5));
	CHECK(same(arg("-4@$-9"), UA_CONST, -4, -1, -9));
	CHECK(same(arg("%rdi"), UA_REG, 8, 112, 0));
	CHECK(same(arg("8@-8(%rbp)"), UA_MEM, 8, 32, -8));
	CHECK(same(arg("8@(%rsp)"), UA_MEM, 8, 152, 0));
	CHECK(same(arg("8@0x10+8(%rsp)"), UA_MEM, 8, 152, 24));
	struct usdt_arg a = arg("4@-4(%rbp,%rax,8)");
	CHECK(same(a, UA_MEM, 4, 32, -4) && a.index == 80 && a.scale == 8);
	a = arg("8@sym+8-4(%rip)");
	CHECK(same(a, UA_MEM, 8, -1, 4) && str_is(a.sym, "sym") && a.index < 0);
	a = arg("8@sym");
	CHECK(same(a, UA_MEM, 8, -1, 0) && str_is(a.sym, "sym"));
	a = arg("8@$sym+16");
	CHECK(same(a, UA_CONST, 8, -1, 16) && str_is(a.sym, "sym"));
	a = arg("4@sym(,%rax,4)");
	CHECK(same(a, UA_MEM, 4, -1, 0) && a.index == 80 && a.scale == 4 && a.sym.n == 3);
	a = arg("4@sym-4(%rbx)");
	CHECK(same(a, UA_MEM, 4, 40, -4) && a.sym.n == 3);
	a = arg("4@16(,%rcx,4)");
	CHECK(same(a, UA_MEM, 4, -1, 16) && a.index == 88 && a.scale == 4);
}

TEST(usdt_arm_arguments)
{
	CHECK(same(arm("8@x0"), UA_REG, 8, 0, 0));
	CHECK(same(arm("-4@w19"), UA_REG, -4, 152, 0));
	CHECK(same(arm("8@fp"), UA_REG, 8, 232, 0) && same(arm("8@lr"), UA_REG, 8, 240, 0));
	CHECK(same(arm("8@[sp]"), UA_MEM, 8, 248, 0));
	CHECK(same(arm("8@[x29, -16]"), UA_MEM, 8, 232, -16));
	CHECK(same(arm("8@[x3, #24]"), UA_MEM, 8, 24, 24));
	CHECK(same(arm("4@5"), UA_CONST, 4, -1, 5) && same(arm("-4@#-7"), UA_CONST, -4, -1, -7));
	CHECK(same(arm("8@xzr"), UA_CONST, 8, -1, 0) && same(arm("4@wzr"), UA_CONST, 4, -1, 0));
	CHECK(arm("8@[x0, x1]").index == 8 && arm("8@[x0, x1]").scale == 1);
	struct usdt_arg a = arm("8@[x0, x1, lsl 3]");
	CHECK(same(a, UA_MEM, 8, 0, 0) && a.index == 8 && a.scale == 8 && a.index_is == UI_WHOLE);
	a = arm("4@[x0, w2, sxtw #2]");
	CHECK(same(a, UA_MEM, 4, 0, 0) && a.index == 16 && a.scale == 4 && a.index_is == UI_I32);
	a = arm("1@[x5, w3, uxtw]");
	CHECK(same(a, UA_MEM, 1, 40, 0) && a.index == 24 && a.scale == 1 && a.index_is == UI_U32);
	CHECK(arm("8@x31").sym.n && arm("8@x012").sym.n); /* no registers */
	CHECK(arm("8@[x3, #:lo12:.LANCHOR0]").size == 99);
	CHECK(arm("8@[x0, x1, ror 3]").size == 99 && arm("8@[x0, 8, lsl 3]").size == 99);
	CHECK(arm("8f@x4").is_float && arm("4f@[sp, 8]").is_float && !arm("8@x4").is_float);
	CHECK(arm("8f@v0").size == 99 || arm("8f@v0").sym.n);
	CHECK(arm("2f@x4").size == 99 && arm("8f@5").size == 99 && arm("-8f@x4").size == 99);
	CHECK(arm("8@%rax").size == 99 && arg("8@x0").sym.n);
}

TEST(usdt_refused_arguments)
{
	static const char *const bad[] = {
		"",
		"8@",
		"8@4(%rip)",
		"8@(%rip)",
		"8@sym(%rax,%rip)",
		"8@sym@tpoff",
		"8@%fs:sym",
		"8@sym+",
		"8@sym+x",
		"8@%xmm0",
		"8f@%xmm0",
		"3@%eax",
		"16@%rax",
		"8@(%rax",
		"8@()",
		"8@(%rax,%rbx,3)",
		"8@(%rax,%rbx,1,2)",
		"8@%fs:0x10",
		"8@$",
		"8@[sp",
		"8@[5]",
		"9223372036854775808@%rax",
	};
	for (u32 i = 0; i < countof(bad); i++) {
		struct usdt_arg a;
		CHECK(!usdt_parse_arg(&arch_x86_64, str_z(bad[i]), &a));
	}
}

/* ---- a small file: header, two segments, sections: null, names, notes, .stapsdt.base ---- */

struct image64 {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Shdr sh[4];
	char names[64];
	struct __attribute__((packed)) {
		Elf64_Nhdr nh;
		char name[8];
		u64 pc, base, sem;
		char text[56];
	} note;
};

static struct image64 make_image(void)
{
	static const char text[] = "prov\0probe\0-4@%edi 8@sym(%rip) 8@8(%rsp)";
	static const char names[] = "\0.shstrtab\0.note.stapsdt\0.stapsdt.base";
	struct image64 im = {0};
	memcpy(im.eh.e_ident, ELFMAG, SELFMAG);
	im.eh.e_ident[EI_CLASS] = ELFCLASS64;
	im.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	im.eh.e_machine = EM_X86_64;
	im.eh.e_phoff = offsetof(struct image64, ph);
	im.eh.e_shoff = offsetof(struct image64, sh);
	im.eh.e_phentsize = sizeof(Elf64_Phdr);
	im.eh.e_shentsize = sizeof(Elf64_Shdr);
	im.eh.e_phnum = 2;
	im.eh.e_shnum = 4;
	im.eh.e_shstrndx = 1;
	im.ph[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_X, .p_offset = 0x1000, .p_vaddr = 0x401000};
	im.ph[0].p_filesz = im.ph[0].p_memsz = 0x1000;
	im.ph[1] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_W, .p_offset = 0x2000, .p_vaddr = 0x403000};
	im.ph[1].p_filesz = im.ph[1].p_memsz = 0x1000;
	memcpy(im.names, names, sizeof(names));
	im.sh[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof(names)};
	im.sh[1].sh_offset = offsetof(struct image64, names);
	im.sh[2] = (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_NOTE, .sh_size = sizeof(im.note)};
	im.sh[2].sh_offset = offsetof(struct image64, note);
	im.sh[3] = (Elf64_Shdr){
		.sh_name = 25, .sh_type = SHT_PROGBITS, .sh_addr = 0x400500, .sh_size = 1};
	im.note.nh = (Elf64_Nhdr){8, 24 + sizeof(im.note.text), 3};
	memcpy(im.note.name, "stapsdt", 8);
	im.note.pc = 0x401110;
	im.note.base = 0x400400; /* moved by 0x100 since */
	im.note.sem = 0x403020;
	memcpy(im.note.text, text, sizeof(text));
	return im;
}

TEST(usdt_notes)
{
	struct arena mem = {0};
	struct image64 im = make_image();
	struct usdt_sites s = {0};
	struct err *err = usdt_read_mem(&im, sizeof(im), &mem, &s);
	CHECK(!err && s.n == 1);
	if (s.n == 1) {
		CHECK(str_is(s.v[0].provider, "prov") && str_is(s.v[0].name, "probe"));
		CHECK(s.v[0].addr == 0x401210 && s.v[0].offset == 0x1210 &&
		      s.v[0].sem_offset == 0x2120);
		CHECK(s.v[0].narg == 3 && str_is(s.v[0].arg[1].sym, "sym"));
		CHECK(s.v[0].arg[1].size == 8 && same(s.v[0].arg[2], UA_MEM, 8, 152, 8));
	}
	/* Cut anywhere, it is refused or has fewer probes. */
	for (size_t n = 0; n < offsetof(struct image64, note) + sizeof(im.note); n++) {
		u8 *copy = malloc(n + 1);
		memcpy(copy, &im, n);
		err = usdt_read_mem(copy, n, &mem, &s);
		CHECK(err || s.n == 0);
		err_free(err);
		free(copy);
	}
	arena_free(&mem);
}
