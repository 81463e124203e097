/*
 * elf_write.c - the programs of a unit as an ELF object, for disassemblers and other people's tools.
 *
 *	s_NAME, .rels_NAME   each program, and where it names maps
 *	.maps, .BTF          what those are, as libbpf reads it
 *	license
 *
 * A map that a program reads without a helper has BPF_PSEUDO_MAP_VALUE in its instruction, and the
 * offset in the second half.
 */
#include "api/elf_write.h"
#include "base/file.h"
#include "base/vec.h"
#include "kern/bpf.h"
#include <ctype.h>
#include <elf.h>

enum { R_BPF_INSN_MAP = 1, FIRST_GLOBAL = 1 };

struct object {
	const struct unit *u;
	struct sb body;  /* behind the header: contents of sections */
	struct sb names; /* .strtab */
	VEC(Elf64_Shdr) section;
	VEC(Elf64_Sym) sym;
	u32 *map_sym; /* by the map's index */
	u32 maps;     /* the section's number */
	struct arena arena;
};

static u32 add_name(struct object *o, const char *s)
{
	u32 at = (u32)o->names.n;
	sb_mem(&o->names, s, strlen(s) + 1);
	return at;
}

static u32 add_section(struct object *o, const char *name, u32 type, u64 flags,
		       const struct sb *bytes)
{
	while (o->body.n % 8)
		sb_char(&o->body, 0);
	Elf64_Shdr s = {
		.sh_name = add_name(o, name),
		.sh_type = type,
		.sh_flags = flags,
		.sh_offset = sizeof(Elf64_Ehdr) + o->body.n,
		.sh_size = bytes->n,
		.sh_addralign = 8,
	};
	sb_mem(&o->body, bytes->s, bytes->n);
	vec_add(&o->section, s);
	return o->section.n - 1;
}

static u32 add_symbol(struct object *o, const char *name, u8 type, u32 section, u64 at, u64 size)
{
	Elf64_Sym s = {
		.st_name = add_name(o, name),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = (u16)section,
		.st_value = at,
		.st_size = size,
	};
	vec_add(&o->sym, s);
	return o->sym.n - 1;
}

/* "@x" is AT_x; what is no identifier otherwise gets underscores. A number keeps names apart. */
static const char *map_name(struct object *o, const struct map *m)
{
	AUTO_SB b = {0};
	bool own = str_starts(m->name, STR("@"));
	sb_z(&b, own ? "AT_" : "");
	for (u32 i = own; i < m->name.n; i++)
		sb_char(&b, isalnum((u8)m->name.s[i]) ? m->name.s[i] : '_');
	if (m->role != MAP_USER)
		sb_fmt(&b, "_%u", m->index);
	return arena_strz(&o->arena, sb_str(&b));
}

/* ---- maps ---- */

static void add_maps(struct object *o)
{
	const struct unit *u = o->u;
	AUTO_SB bytes = {0}, types = {0};
	struct map_spec *spec = arena_newn(&o->arena, struct map_spec, u->nmap + 1);
	o->map_sym = arena_newn(&o->arena, u32, u->nmap + 1);
	o->maps = o->section.n;
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		spec[i] = (struct map_spec){.name = map_name(o, m),
					    .type = m->map_type,
					    .key_size = m->key_size,
					    .val_size = m->val_size,
					    .max_entries = m->max_entries};
		o->map_sym[i] =
			add_symbol(o, spec[i].name, STT_OBJECT, o->maps, bytes.n, MAP_DEF_BYTES);
		for (u32 k = 0; k < MAP_DEF_BYTES; k++)
			sb_char(&bytes, 0);
	}
	add_section(o, ".maps", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, &bytes);
	bpf_maps_btf(spec, u->nmap, &types);
	add_section(o, ".BTF", SHT_PROGBITS, 0, &types);
}

/* ---- programs ---- */

static void add_functions(struct object *o, const struct prog *g, u32 section)
{
	const struct code *c = &g->code;
	for (u32 i = 0; i < c->nfn; i++) {
		u32 end = i + 1 < c->nfn ? c->fn[i + 1].insn : c->ninsn;
		struct str name = i ? c->fn[i].name : g->name;
		add_symbol(o, arena_strz(&o->arena, name), STT_FUNC, section, 8ull * c->fn[i].insn,
			   8ull * (end - c->fn[i].insn));
	}
}

static void add_program(struct object *o, const struct prog *g)
{
	const struct code *c = &g->code;
	AUTO_SB code = {0}, rel = {0};
	struct bpf_insn *insn = arena_newn(&o->arena, struct bpf_insn, c->ninsn + 1);
	memcpy(insn, c->insn, c->ninsn * sizeof(*insn));
	for (u32 i = 0; i < c->nreloc; i++) {
		const struct reloc *r = &c->reloc[i];
		insn[r->insn].src_reg = r->kind == RELOC_MAPVAL ? BPF_PSEUDO_MAP_VALUE : 0;
		Elf64_Rel e = {8ull * r->insn, ELF64_R_INFO(o->map_sym[r->map], R_BPF_INSN_MAP)};
		sb_mem(&rel, &e, sizeof(e));
	}
	sb_mem(&code, insn, c->ninsn * sizeof(*insn));
	u32 at = add_section(o, arena_fmt(&o->arena, "s_%.*s", STRF(g->name)), SHT_PROGBITS,
			     SHF_ALLOC | SHF_EXECINSTR, &code);
	add_functions(o, g, at);
	if (!rel.n)
		return;
	u32 k = add_section(o, arena_fmt(&o->arena, ".rels_%.*s", STRF(g->name)), SHT_REL,
			    SHF_INFO_LINK, &rel);
	o->section.v[k].sh_info = at;
	o->section.v[k].sh_entsize = sizeof(Elf64_Rel);
}

/* ---- the file ---- */

/* Tables that others refer to come last. */
static void add_tables(struct object *o)
{
	AUTO_SB syms = {0}, names = {0};
	sb_mem(&syms, o->sym.v, o->sym.n * sizeof(*o->sym.v));
	u32 symtab = add_section(o, ".symtab", SHT_SYMTAB, 0, &syms);
	o->section.v[symtab].sh_link = symtab + 1;
	o->section.v[symtab].sh_info = FIRST_GLOBAL;
	o->section.v[symtab].sh_entsize = sizeof(Elf64_Sym);
	for (u32 i = 0; i < o->section.n; i++)
		if (o->section.v[i].sh_type == SHT_REL)
			o->section.v[i].sh_link = symtab;
	sb_mem(&names, o->names.s, o->names.n);
	sb_mem(&names, ".strtab", sizeof(".strtab"));
	add_section(o, ".strtab", SHT_STRTAB, 0, &names);
	while (o->body.n % 8)
		sb_char(&o->body, 0);
}

static void put_file(struct object *o, struct sb *out)
{
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = EM_BPF,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(head) + o->body.n,
		.e_ehsize = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (u16)o->section.n,
		.e_shstrndx = (u16)(o->section.n - 1),
	};
	sb_mem(out, &head, sizeof(head));
	sb_mem(out, o->body.s, o->body.n);
	sb_mem(out, o->section.v, o->section.n * sizeof(*o->section.v));
}

struct err *object_write(const char *path, const struct unit *u)
{
	if (u->nprog > SHN_LORESERVE / 2 - 16)
		return err_new("--emit-elf: too many programs for one file (%u)", u->nprog);
	struct object o = {.u = u};
	AUTO_SB license = {0}, out = {0};
	sb_char(&o.names, 0);
	vec_add(&o.section, (Elf64_Shdr){0});
	vec_add(&o.sym, (Elf64_Sym){0});
	add_maps(&o);
	for (u32 i = 0; i < u->nprog; i++)
		add_program(&o, u->prog[i]);
	sb_add(&license, u->config.license);
	sb_char(&license, 0);
	add_section(&o, "license", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, &license);
	add_tables(&o);
	put_file(&o, &out);
	int no = file_write(path, sb_str(&out));
	sb_free(&o.body);
	sb_free(&o.names);
	vec_free(&o.section);
	vec_free(&o.sym);
	arena_free(&o.arena);
	return no ? err_sys(no, "--emit-elf: write %s", path) : NULL;
}
