/* A byte that says how, then an ELF file that is packed into another's .gnu_debugdata, or what is
 * there instead of one. */
#include "sym/sym.h"
#include <elf.h>
#include <stdlib.h>

/* liblzma's, where sonde is linked with it. */
__attribute__((weak)) int lzma_easy_buffer_encode(u32 preset, int check, const void *allocator,
						  const u8 *in, size_t n, u8 *out, size_t *at,
						  size_t size);

static const char names[] = "\0.shstrtab\0.gnu_debugdata";
enum { NAMES = 1, PACKED = 11, SECTIONS = 3, MAX_INNER = 1 << 16 };

/* Header, section headers, their names, then the packed bytes. */
static void wrap(struct sb *out, const u8 *p, size_t n)
{
	const u64 table = sizeof(Elf64_Ehdr), text = table + SECTIONS * sizeof(Elf64_Shdr),
		  packed = text + sizeof(names);
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = table,
			   .e_ehsize = sizeof(head),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = SECTIONS,
			   .e_shstrndx = 1};
	Elf64_Shdr s[SECTIONS] = {
		{0},
		{.sh_name = NAMES,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = text,
		 .sh_size = sizeof(names)},
		{.sh_name = PACKED, .sh_type = SHT_PROGBITS, .sh_offset = packed, .sh_size = n},
	};
	sb_mem(out, &head, sizeof(head));
	sb_mem(out, s, sizeof(s));
	sb_mem(out, names, sizeof(names));
	sb_mem(out, p, n);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static u8 room[MAX_INNER * 2];
	struct arena a = {0};
	AUTO_SB file = {0};
	struct elf_syms e;
	size_t size = 0;
	if (!n || n > MAX_INNER)
		return 0;
	bool whole =
		data[0] & 1 && lzma_easy_buffer_encode &&
		!lzma_easy_buffer_encode(0, 1, NULL, data + 1, n - 1, room, &size, sizeof(room));
	wrap(&file, whole ? room : data + 1, whole ? size : n - 1);
	struct err *err = elf_read_syms_mem(&a, file.s, file.n, &e);
	for (u32 i = 1; !err && i < e.n; i++)
		if (e.v[i].addr < e.v[i - 1].addr)
			abort();
	err_free(err);
	arena_free(&a);
	return 0;
}
