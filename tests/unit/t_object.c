/* BPF object files, made here byte by byte: no clang is needed. */
#include "test.h"
#include "types/object.h"
#include <elf.h>
#include <linux/btf.h>

enum { NSEC = 8, TEXT = 1, REL, SYM, STRS, BTF, MAPS, SHSTR };
static const char sec_names[] = "\0.text\0.rel.text\0.symtab\0.strtab\0.BTF\0.maps\0.shstrtab";
static const char sym_names[] = "\0twice\0helper\0counts\0bpf_kf";
enum { N_TWICE = 1, N_HELPER = 7, N_COUNTS = 14, N_KF = 21 };
static const char btf_names[] = "\0int\0a\0twice";
enum { B_INT = 1, B_A = 5, B_TWICE = 7 };

#define INS(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define EXIT INS(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

struct input {
	struct bpf_insn insn[8];
	u32 ninsn, twice; /* instructions of twice(); helper() has the rest */
	u32 rel_insn, rel_sym;
	bool rel, maps;
};
/* Symbols: 1 .text, 2 twice(), 3 helper() (static), 4 counts in .maps, 5 bpf_kf undefined. */
enum { S_TEXT = 1, S_TWICE, S_HELPER, S_COUNTS, S_KF, NSYM };

static void add_symbol(struct sb *b, u32 name, u32 info, u32 section, u32 from, u32 n)
{
	Elf64_Sym s = {.st_name = name,
		       .st_info = (u8)info,
		       .st_shndx = (u16)section,
		       .st_value = from * 8ull,
		       .st_size = n * 8ull};
	sb_mem(b, &s, sizeof(s));
}

static void add_btf(struct sb *b)
{
	u32 types[] = {B_INT,
		       BTF_KIND_INT << 24,
		       4,
		       BTF_INT_SIGNED << 24 | 32,
		       0,
		       BTF_KIND_FUNC_PROTO << 24 | 1,
		       1,
		       B_A,
		       1,
		       B_TWICE,
		       BTF_KIND_FUNC << 24 | 1,
		       2};
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = sizeof(types),
			       .str_off = sizeof(types),
			       .str_len = sizeof(btf_names)};
	sb_mem(b, &h, sizeof(h));
	sb_mem(b, types, sizeof(types));
	sb_mem(b, btf_names, sizeof(btf_names));
}

static void add_content(struct sb *b, const struct input *in, u32 section)
{
	Elf64_Rel rel = {in->rel_insn * 8ull, ELF64_R_INFO((u64)in->rel_sym, 10)};
	switch (section) {
	case TEXT: sb_mem(b, in->insn, in->ninsn * sizeof(*in->insn)); break;
	case REL: sb_mem(b, &rel, in->rel ? sizeof(rel) : 0); break;
	case SYM:
		add_symbol(b, 0, 0, 0, 0, 0);
		add_symbol(b, 0, STT_SECTION, TEXT, 0, 0);
		add_symbol(b, N_TWICE, STB_GLOBAL << 4 | STT_FUNC, TEXT, 0, in->twice);
		add_symbol(b, N_HELPER, STT_FUNC, TEXT, in->twice, in->ninsn - in->twice);
		add_symbol(b, N_COUNTS, STB_GLOBAL << 4 | STT_OBJECT, MAPS, 0, 1);
		add_symbol(b, N_KF, STB_GLOBAL << 4, SHN_UNDEF, 0, 0);
		break;
	case STRS: sb_mem(b, sym_names, sizeof(sym_names)); break;
	case BTF: add_btf(b); break;
	case MAPS: sb_pad(b, 0, in->maps ? 8 : 0); break;
	case SHSTR: sb_mem(b, sec_names, sizeof(sec_names)); break;
	}
}

static void make(const struct input *in, struct sb *b)
{
	static const u32 type[NSEC] = {0,          SHT_PROGBITS, SHT_REL,      SHT_SYMTAB,
				       SHT_STRTAB, SHT_PROGBITS, SHT_PROGBITS, SHT_STRTAB};
	static const u32 name[NSEC] = {0, 1, 7, 17, 25, 33, 38, 44};
	Elf64_Shdr sh[NSEC] = {0};
	Elf64_Ehdr h = {.e_ident = ELFMAG,
			.e_type = ET_REL,
			.e_machine = EM_BPF,
			.e_shentsize = sizeof(*sh),
			.e_shnum = NSEC,
			.e_shstrndx = SHSTR};
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	sb_mem(b, &h, sizeof(h));
	for (u32 i = 1; i < NSEC; i++) {
		sh[i] = (Elf64_Shdr){.sh_name = name[i], .sh_type = type[i], .sh_offset = b->n};
		add_content(b, in, i);
		sh[i].sh_size = b->n - sh[i].sh_offset;
	}
	sh[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	sh[MAPS].sh_flags = SHF_ALLOC;
	sh[SYM].sh_link = STRS;
	h.e_shoff = b->n;
	memcpy(b->s, &h, sizeof(h));
	sb_mem(b, sh, sizeof(sh));
}

/* twice(): *(u64 *)(r10 - 8) = r1; return helper(r1). helper(): return r1. */
static struct input sample(void)
{
	return (struct input){
		.insn = {INS(BPF_STX | BPF_MEM | BPF_DW, 10, 1, -8, 0),
			 INS(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
			 INS(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -24),
			 INS(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1), EXIT,
			 INS(BPF_ALU64 | BPF_MOV | BPF_X, 0, 1, 0, 0), EXIT},
		.ninsn = 7,
		.twice = 5,
	};
}

/* Reads it; the message, or "" when all is well. */
static void message(const struct input *in, char *out, size_t size)
{
	struct arena a = {0};
	AUTO_SB b = {0};
	struct object o;
	make(in, &b);
	struct err *e = object_read(b.s, b.n, &a, &o);
	snprintf(out, size, "%s", e ? e->msg : "");
	if (!e)
		object_close(&o);
	err_free(e);
	arena_free(&a);
}

static void check_sample(const struct input *in)
{
	struct arena a = {0};
	AUTO_SB b = {0};
	struct object o;
	make(in, &b);
	struct err *e = object_read(b.s, b.n, &a, &o);
	CHECK(!e);
	if (!e) {
		CHECK(o.nfn == 2 && str_is(o.fn[0].name, "twice") && o.fn[0].exported);
		CHECK(!o.fn[1].exported && o.fn[1].at == 5 && o.fn[1].ninsn == 2);
		CHECK(o.fn[0].stack == 24 && o.fn[1].stack == 0);
		CHECK(o.fn[0].nref == 1 && o.fn[0].ref[0].insn == 3 && o.fn[0].ref[0].to == 1);
		CHECK(o.fn[0].type && o.fn[0].type->nfield == 1 && o.fn[0].type->base->size == 4);
		object_close(&o);
	}
	err_free(e);
	arena_free(&a);
}

TEST(object_functions)
{
	struct input in = sample();
	check_sample(&in); /* the call is resolved already */
	in.rel = true;
	in.rel_insn = 3;
	in.rel_sym = S_HELPER;
	in.insn[3].imm = -1;
	check_sample(&in);
	in.rel_sym = S_TEXT;
	in.insn[3].imm = 4;
	check_sample(&in);
}

TEST(object_address_of_a_function)
{
	struct input in = sample();
	struct arena a = {0};
	AUTO_SB b = {0};
	struct object o;
	in.insn[0] = INS(BPF_LD | BPF_DW | BPF_IMM, 2, 0, 0, 40);
	in.insn[1] = INS(0, 0, 0, 0, 0);
	in.insn[3] = INS(BPF_JMP | BPF_CALL, 0, 0, 0, 181);
	in.rel = true;
	in.rel_sym = S_TEXT;
	make(&in, &b);
	struct err *e = object_read(b.s, b.n, &a, &o);
	CHECK(!e && o.fn[0].nref == 1 && o.fn[0].ref[0].insn == 0 && o.fn[0].ref[0].to == 1);
	if (!e)
		object_close(&o);
	err_free(e);
	arena_free(&a);
}

TEST(object_refusals)
{
	char msg[256];
	struct input in = sample();
	in.maps = true;
	message(&in, msg, sizeof(msg));
	CHECK_STR(msg, "its BTF does not describe the map counts");
	in = sample();
	in.insn[3].imm = -4;
	message(&in, msg, sizeof(msg));
	CHECK_STR(msg, "twice() calls itself, which BPF programs cannot do");
	in.insn[3].imm = 2; /* into the middle */
	message(&in, msg, sizeof(msg));
	CHECK_STR(msg, "damaged object: instruction 3 of twice()");
	in = sample();
	in.insn[4] = INS(BPF_LD | BPF_DW | BPF_IMM, 0, 0, 0, 0);
	message(&in, msg, sizeof(msg));
	CHECK_STR(msg, "damaged object: instruction 4 of twice()");
	in = sample();
	in.insn[2].imm = -520;
	message(&in, msg, sizeof(msg));
	CHECK_STR(msg, "twice() needs 520 bytes of stack (limit 512)");
}

/* Cut anywhere, and with any byte changed: an answer, whatever it is. */
TEST(object_damaged)
{
	struct input in = sample();
	AUTO_SB b = {0};
	in.rel = true;
	in.rel_insn = 3;
	in.rel_sym = S_HELPER;
	in.insn[3].imm = -1;
	make(&in, &b);
	for (size_t i = 0; i < b.n * 4; i++) {
		static const u8 flip[] = {0xff, 0x01, 0x80};
		struct arena a = {0};
		struct object o;
		size_t at = i / 4, n = i % 4 ? b.n : at;
		u8 *copy AUTO_FREE = malloc(n + 1);
		CHECK(copy != NULL);
		if (!copy)
			return;
		memcpy(copy, b.s, n);
		if (i % 4)
			copy[at] ^= flip[i % 4 - 1];
		struct err *e = object_read(copy, n, &a, &o);
		if (!e)
			object_close(&o);
		err_free(e);
		arena_free(&a);
	}
}
