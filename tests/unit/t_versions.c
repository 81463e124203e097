/* A file made here, with two versions of one function and one without a version. */
#include "sym/sym.h"
#include "test.h"
#include "types/image.h"
#include <elf.h>

enum { DYNSYM = 1, DYNSTR, VERSYM, VERDEF, NSECTION, NSYM = 5 };

static const char names[] = "\0f\0g\0V_1\0V_2\0lib.so";
enum { NAME_F = 1, NAME_G = 3, NAME_V1 = 5, NAME_V2 = 9, NAME_LIB = 13 };

struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[NSECTION];
	Elf64_Sym syms[NSYM];
	u16 numbers[NSYM];
	u16 pad[3];
	struct {
		Elf64_Verdef def;
		Elf64_Verdaux aux;
	} defs[3];
	char names[sizeof(names)];
};

static Elf64_Sym symbol(u32 name, u64 addr, u16 section)
{
	return (Elf64_Sym){.st_name = name,
			   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			   .st_shndx = section,
			   .st_value = addr,
			   .st_size = 16};
}

#define SECTION(t, field, l)                                                    \
	(Elf64_Shdr)                                                            \
	{                                                                       \
		.sh_type = (t), .sh_offset = offsetof(struct file, field),      \
		.sh_size = sizeof(((struct file *)NULL)->field), .sh_link = (l) \
	}

static struct file make(void)
{
	static const u32 name[] = {NAME_LIB, NAME_V1, NAME_V2};
	struct file f = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
				  .e_shoff = offsetof(struct file, sections),
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = NSECTION}};
	f.sections[DYNSYM] = SECTION(SHT_DYNSYM, syms, DYNSTR);
	f.sections[DYNSTR] = SECTION(SHT_STRTAB, names, 0);
	f.sections[VERSYM] = SECTION(SHT_GNU_versym, numbers, DYNSYM);
	f.sections[VERDEF] = SECTION(SHT_GNU_verdef, defs, DYNSTR);
	f.syms[1] = symbol(NAME_F, 0x1000, 1);
	f.syms[2] = symbol(NAME_F, 0x2000, 1);
	f.syms[3] = symbol(NAME_G, 0x3000, 1);
	f.syms[4] = symbol(NAME_F, 0, SHN_UNDEF);
	f.numbers[1] = 0x8002;
	f.numbers[2] = 3;
	f.numbers[3] = 1;
	f.numbers[4] = 2;
	for (u32 i = 0; i < countof(f.defs); i++) {
		f.defs[i].def = (Elf64_Verdef){.vd_version = 1,
					       .vd_flags = i ? 0 : VER_FLG_BASE,
					       .vd_ndx = (u16)(i + 1),
					       .vd_cnt = 1,
					       .vd_aux = sizeof(Elf64_Verdef),
					       .vd_next = i < 2 ? sizeof(f.defs[0]) : 0};
		f.defs[i].aux.vda_name = name[i];
	}
	memcpy(f.names, names, sizeof(names));
	return f;
}

TEST(versions_of_a_name)
{
	struct file f = make();
	struct image im;
	struct symbol_version v[MAX_VERSIONS];
	struct err *e = image_mem(&f, sizeof(f), &im);
	CHECK(!e);
	u32 n = elf_versions(&im, STR("f"), v, MAX_VERSIONS);
	CHECK(n == 2 && str_is(v[0].name, "V_1") && v[0].addr == 0x1000 && !v[0].is_default &&
	      str_is(v[1].name, "V_2") && v[1].addr == 0x2000 && v[1].is_default);
	CHECK(elf_hidden(v, n, 0x1000) && !elf_hidden(v, n, 0x2000) && !elf_hidden(v, n, 0x3000));
	CHECK(!elf_hidden(v, 1, 0x1000)); /* there is no default */
	v[0].addr = v[1].addr;            /* two versions of one place */
	CHECK(!elf_hidden(v, n, 0x2000));
	CHECK(elf_versions(&im, STR("f"), v, 1) == 1);
	CHECK(elf_versions(&im, STR("g"), v, MAX_VERSIONS) == 0);
	CHECK(elf_versions(&im, STR("h"), v, MAX_VERSIONS) == 0);
}

static void read_damaged(const void *p, size_t n)
{
	struct image im;
	struct symbol_version v[MAX_VERSIONS];
	struct err *e = image_mem(p, n, &im);
	u32 k = e ? 0 : elf_versions(&im, STR("f"), v, MAX_VERSIONS);
	CHECK(k <= NSYM);
	for (u32 i = 0; i < k; i++)
		CHECK((const u8 *)v[i].name.s >= (const u8 *)p &&
		      (const u8 *)v[i].name.s + v[i].name.n < (const u8 *)p + n);
	err_free(e);
}

TEST(versions_of_damaged_files)
{
	for (size_t n = 0; n < sizeof(struct file); n++) {
		static const u8 wrong[] = {0, 1, 0x7f, 0xff};
		struct file f = make();
		read_damaged(&f, n);
		for (u32 i = 0; i < countof(wrong); i++) {
			((u8 *)&f)[n] = wrong[i];
			read_damaged(&f, sizeof(f));
		}
	}
}
