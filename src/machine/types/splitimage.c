/* splitimage.c - a unit of split debug information as an ELF file with one ordinary unit; see split.h.
 *
 * Entries refer to each other by their offsets in the unit, so these stay. The header of an ordinary unit
 * is shorter by the unit's id or signature, except in DWARF 4, where the id is an attribute. These
 * bytes become an attribute of the unit's own entry, its lowest address, to which ranges are relative:
 *
 *	header | id, 8 bytes | code 1 | attributes ...	as it was, in DWARF 5
 *	header | code 1 | address     | attributes ...	as it becomes
 *
 * What else the unit gets (where its addresses, strings and lists begin) is in its abbreviation: there an
 * attribute can have a value that takes no room in the unit.
 */
#include "base/pack.h"
#include "types/split.h"
#include <dwarf.h>
#include <elf.h>

enum { HEAD_4 = 11, HEAD_5 = 12, ID = 8, PARTS = 8, ALIGNMENT = 8 };

/* ---- reading ---- */

static u64 uleb(struct bytes *b)
{
	u64 v = 0;
	for (u32 shift = 0; !b->bad; shift += 7) {
		u8 c = bytes_u8(b);
		if (shift < 64)
			v |= (u64)(c & 0x7f) << shift;
		if (!(c & 0x80))
			break;
	}
	return v;
}

struct unit {
	u32 version;
	u64 entry; /* where the unit's own entry begins */
	u64 abbrev;
	u64 code;
	u64 code_end;
};

/* Also cuts off what follows the unit. */
static struct err *read_unit(struct split_unit *s, struct unit *u)
{
	struct bytes b = s->info;
	u64 size = (u64)bytes_u32(&b) + 4;
	*u = (struct unit){.version = bytes_u16(&b)};
	u8 type = u->version >= 5 ? bytes_u8(&b) : 0, address = 0;
	if (u->version >= 5)
		address = bytes_u8(&b);
	u->abbrev = bytes_u32(&b);
	if (u->version < 5)
		address = bytes_u8(&b);
	bool by_type = s->by_types || type == DW_UT_split_type;
	if (u->version >= 5 || by_type)
		bytes_take(&b, ID);
	s->type = by_type ? bytes_u32(&b) : 0;
	u->entry = b.at;
	u->code = uleb(&b);
	u->code_end = b.at;
	if (size > s->info.n || b.bad || u->code_end > size)
		return err_new("unit 0x%llx is cut off", s->id);
	bool known = u->version == 4 ||
		     (u->version == 5 && (type == DW_UT_split_compile || type == DW_UT_split_type));
	if (!known || address != 8 || !u->code)
		return err_new("unit 0x%llx is no split unit of DWARF 4 or 5 for 64 bits", s->id);
	s->info.n = size;
	return NULL;
}

/* An abbreviation; pairs are those of attributes and forms, to the end. */
struct abbreviation {
	size_t from, end, pairs;
	u8 children;
};

struct pair {
	u64 attr, form;
};

static bool next_pair(struct bytes *b, struct pair *p)
{
	p->attr = uleb(b);
	p->form = uleb(b);
	if (p->form == DW_FORM_implicit_const)
		uleb(b);
	return !b->bad && (p->attr || p->form);
}

static bool find_abbreviation(struct bytes b, u64 code, struct abbreviation *a)
{
	struct pair p;
	while (!b.bad) {
		a->from = b.at;
		u64 found = uleb(&b);
		uleb(&b); /* its tag */
		a->children = bytes_u8(&b);
		a->pairs = b.at;
		while (next_pair(&b, &p))
			;
		a->end = b.at;
		if (!found || b.bad)
			return false;
		if (found == code)
			return true;
	}
	return false;
}

/* Moves past a value, of the forms that units themselves have. */
static bool skip_value(struct bytes *b, u64 form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return true;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1: bytes_take(b, 1); return true;
	case DW_FORM_data2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2: bytes_take(b, 2); return true;
	case DW_FORM_data4:
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strx4:
	case DW_FORM_addrx4: bytes_take(b, 4); return true;
	case DW_FORM_data8:
	case DW_FORM_addr: bytes_take(b, 8); return true;
	case DW_FORM_string: bytes_z(b); return true;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index: uleb(b); return true;
	}
	return false;
}

/* In DWARF 4: where the unit's entry has its id; 0: nowhere. */
static size_t find_id(const struct split_unit *s, const struct unit *u,
		      const struct abbreviation *a)
{
	struct bytes value = s->info, b = s->abbrev;
	struct pair p;
	bytes_seek(&value, u->code_end);
	bytes_seek(&b, a->pairs);
	while (next_pair(&b, &p)) {
		if (p.attr == DW_AT_GNU_dwo_id && p.form == DW_FORM_data8)
			return !value.bad && value.n - value.at >= ID ? value.at : 0;
		if (!skip_value(&value, p.form) || value.bad)
			break;
	}
	return 0;
}

/* ---- writing ---- */

static void put_uleb(struct sb *out, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		sb_char(out, (char)(v | 0x80));
	sb_char(out, (char)v);
}

static void put_sleb(struct sb *out, i64 v)
{
	for (; v < -0x40 || v >= 0x40; v >>= 7)
		sb_char(out, (char)(v | 0x80));
	sb_char(out, (char)(v & 0x7f));
}

static void put_pair(struct sb *out, u64 attr, u64 form)
{
	put_uleb(out, attr);
	put_uleb(out, form);
}

static void put_given(struct sb *out, u64 attr, u64 v)
{
	put_pair(out, attr, DW_FORM_implicit_const);
	put_sleb(out, (i64)v);
}

/* The unit's abbreviation goes before the others of its table, which starts at the unit's offset. */
static void put_abbreviations(struct sb *out, const struct split_unit *s, const struct unit *u,
			      const struct abbreviation *a)
{
	bool new = u->version >= 5;
	struct bytes b = s->abbrev;
	struct pair p;
	put_uleb(out, u->code);
	put_uleb(out, DW_TAG_compile_unit); /* also of a type's: the header says so */
	sb_char(out, (char)a->children);
	put_given(out, DW_AT_addr_base, 0);
	put_given(out, DW_AT_str_offsets_base, new ? 8 : 0);
	if (new) { /* behind the headers of the lists */
		put_given(out, DW_AT_rnglists_base, 12);
		put_given(out, DW_AT_loclists_base, 12);
	}
	if (!new && s->kind == SPLIT_UNIT)
		put_given(out, DW_AT_GNU_dwo_id, s->id);
	u64 gap = u->entry - (new ? HEAD_5 : HEAD_4);
	if (gap)
		put_pair(out, DW_AT_low_pc, DW_FORM_addr);
	if (gap > ID) /* a type's offset */
		put_pair(out, DW_AT_lo_user, DW_FORM_data4);
	bytes_seek(&b, a->pairs);
	for (size_t from = b.at; next_pair(&b, &p); from = b.at) {
		if (!gap && p.attr == DW_AT_GNU_dwo_id && p.form == DW_FORM_data8)
			put_pair(out, DW_AT_low_pc, DW_FORM_addr);
		else
			sb_mem(out, b.p + from, b.at - from);
	}
	put_pair(out, 0, 0);
	sb_mem(out, s->abbrev.p + u->abbrev, a->from - u->abbrev);
	sb_mem(out, s->abbrev.p + a->end, s->abbrev.n - a->end);
}

static void put_info(struct sb *out, const struct split_unit *s, const struct unit *u, size_t id_at)
{
	size_t from = out->n;
	bool new = u->version >= 5;
	u64 gap = u->entry - (new ? HEAD_5 : HEAD_4);
	sb_mem(out, s->info.p, 6); /* length, version */
	if (new) {
		pack_u8(out, DW_UT_compile);
		pack_u8(out, 8);
	}
	pack_u32(out, 0);
	if (!new)
		pack_u8(out, 8);
	sb_mem(out, s->info.p + u->entry, u->code_end - u->entry);
	if (gap)
		pack_u64(out, s->low);
	if (gap > ID)
		pack_u32(out, 0);
	sb_mem(out, s->info.p + u->code_end, s->info.n - u->code_end);
	if (id_at)
		memcpy(out->s + from + id_at, &s->low, ID);
}

/* Of all strings of the package those of this unit. One that is damaged becomes the first, which is empty. */
static void put_strings(struct sb *offsets, struct sb *str, const struct split_unit *s,
			const struct unit *u)
{
	struct bytes b = s->str_offsets;
	u32 head = u->version >= 5 ? 8 : 0;
	const u8 *p = bytes_take(&b, head);
	if (p)
		sb_mem(offsets, p, head);
	sb_char(str, 0);
	while (!b.bad && b.n - b.at >= 4) {
		struct bytes z = s->str;
		bytes_seek(&z, bytes_u32(&b));
		const char *text = bytes_z(&z);
		pack_u32(offsets, text ? (u32)str->n : 0);
		if (text)
			sb_mem(str, text, strlen(text) + 1);
	}
}

struct piece {
	const char *name;
	const void *p;
	size_t n;
};

static void align(struct sb *out)
{
	while (out->n % ALIGNMENT)
		sb_char(out, 0);
}

/* Sections, their names, their headers. Behind each are bytes for whoever reads a little too far. */
static void put_elf(struct sb *out, const struct piece *piece, u32 n, u16 machine)
{
	Elf64_Shdr h[PARTS + 2] = {{0}};
	AUTO_SB text = {0};
	size_t from = out->n;
	Elf64_Ehdr eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = machine,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(eh),
			 .e_shentsize = sizeof(*h),
			 .e_shnum = (u16)(n + 2),
			 .e_shstrndx = (u16)(n + 1)};
	assert(n <= PARTS);
	sb_mem(out, &eh, sizeof(eh));
	sb_char(&text, 0);
	for (u32 i = 0; i <= n; i++) {
		const char *name = i < n ? piece[i].name : ".shstrtab";
		u32 name_at = (u32)text.n;
		sb_mem(&text, name, strlen(name) + 1);
		h[i + 1] = (Elf64_Shdr){.sh_name = name_at,
					.sh_type = i < n ? SHT_PROGBITS : SHT_STRTAB,
					.sh_offset = out->n - from,
					.sh_size = i < n ? piece[i].n : text.n,
					.sh_addralign = 1};
		sb_mem(out, i < n ? piece[i].p : text.s, h[i + 1].sh_size);
		sb_pad(out, 0, 16);
		align(out);
	}
	eh.e_shoff = out->n - from;
	sb_mem(out, h, (n + 2) * sizeof(*h));
	memcpy(out->s + from, &eh, sizeof(eh));
}

static void put_image(struct sb *out, const struct split_unit *s, const struct unit *u,
		      const struct abbreviation *a, size_t id_at, u16 machine)
{
	bool new = u->version >= 5;
	AUTO_SB info = {0};
	AUTO_SB abbrev = {0};
	AUTO_SB offsets = {0};
	AUTO_SB str = {0};
	put_info(&info, s, u, id_at);
	put_abbreviations(&abbrev, s, u, a);
	put_strings(&offsets, &str, s, u);
	const struct bytes *ranges = new ? &s->rnglists : &s->ranges;
	const struct piece all[PARTS] = {
		{".debug_info", info.s, info.n},
		{".debug_abbrev", abbrev.s, abbrev.n},
		{".debug_str", str.s, str.n},
		{".debug_str_offsets", offsets.s, offsets.n},
		{".debug_addr", s->addr.p, s->addr.n},
		{new ? ".debug_rnglists" : ".debug_ranges", ranges->p, ranges->n},
		{new ? ".debug_loclists" : ".debug_loc", s->loc.p, s->loc.n},
	};
	struct piece there[PARTS];
	u32 n = 0;
	for (u32 i = 0; i < PARTS; i++)
		if (all[i].n)
			there[n++] = all[i];
	put_elf(out, there, n, machine);
}

struct err *split_image(struct split_unit *s, u16 machine, struct sb *out)
{
	struct unit u;
	struct abbreviation a;
	struct bytes table = s->abbrev;
	struct err *e = read_unit(s, &u);
	if (e)
		return e;
	bytes_seek(&table, u.abbrev);
	if (!find_abbreviation(table, u.code, &a))
		return err_new("unit 0x%llx has an abbreviation that is not there", s->id);
	bool by_attribute = u.version < 5 && s->kind == SPLIT_UNIT;
	size_t id_at = by_attribute ? find_id(s, &u, &a) : 0;
	if (by_attribute && (!id_at || memcmp(s->info.p + id_at, &s->id, ID) != 0))
		return err_new("unit 0x%llx has another id: it was made for another program",
			       s->id);
	put_image(out, s, &u, &a, id_at, machine);
	return NULL;
}
