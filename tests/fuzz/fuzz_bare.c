/* Any bytes as code of x86_64 that nothing describes: a file of them with a function at its beginning and
 * one in the middle. Rows must come out in order, and parts must be as the whole. */
#include "arch/arch.h"
#include "sym/cfi.h"
#include "types/image.h"
#include <elf.h>
#include <string.h>

enum { MAX = 1 << 14, AT = 0x1000, NAMES = 32 };
static struct file {
	Elf64_Ehdr head;
	Elf64_Shdr section[4];
	Elf64_Sym symbol[3];
	char names[NAMES];
	u8 code[MAX];
} file;

static Elf64_Shdr section(u32 name, u32 type, const void *p, u64 n)
{
	return (Elf64_Shdr){.sh_name = name,
			    .sh_type = type,
			    .sh_offset = (u64)((const u8 *)p - (const u8 *)&file),
			    .sh_size = n,
			    .sh_link = 2};
}

static void make(const u8 *data, size_t n)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0f\0g";
	u8 info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	memset(&file, 0, sizeof(file));
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_ident[EI_VERSION] = EV_CURRENT;
	file.head.e_type = ET_DYN;
	file.head.e_machine = EM_X86_64;
	file.head.e_ehsize = sizeof(Elf64_Ehdr);
	file.head.e_entry = AT + n / 3;
	file.head.e_shoff = offsetof(struct file, section);
	file.head.e_shentsize = sizeof(Elf64_Shdr);
	file.head.e_shnum = 4;
	file.head.e_shstrndx = 2;
	memcpy(file.names, names, sizeof(names));
	memcpy(file.code, data, n);
	file.symbol[1] = (Elf64_Sym){23, info, 0, 1, AT, n / 2};
	file.symbol[2] = (Elf64_Sym){25, info, 0, 1, AT + n / 2, n - n / 2};
	file.section[1] = section(1, SHT_PROGBITS, file.code, n);
	file.section[1].sh_addr = AT;
	file.section[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	file.section[2] = section(15, SHT_STRTAB, file.names, sizeof(names));
	file.section[3] = section(7, SHT_SYMTAB, file.symbol, sizeof(file.symbol));
	file.section[3].sh_entsize = sizeof(Elf64_Sym);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct image im;
	struct cfi_rows whole, part;
	struct cfi_list none = {0};
	n = MIN(n, (size_t)MAX);
	make(data, n);
	struct err *e = image_mem(&file, sizeof(file), &im);
	if (e)
		abort();
	if (!cfi_code_can(&im))
		abort();
	cfi_image(&im, 0, &whole);
	for (u32 i = 1; i < whole.n; i++)
		if (whole.v[i - 1].pc >= whole.v[i].pc)
			abort();
	u32 from = AT + (u32)n / 4, to = AT + (u32)n / 2 + 8;
	cfi_part(&im, 0, &none, from, to, &part);
	for (u32 pc = from; pc < to; pc++)
		if (cfi_at(&part, pc) != cfi_at(&whole, pc))
			abort();
	free(part.v);
	free(whole.v);
	return 0;
}
