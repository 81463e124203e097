/* object.c - functions of BPF object files; see object.h. */
#include "types/object.h"
#include "types/btf.h"
#include "types/image.h"
#include <elf.h>
#include <linux/btf.h>

enum { INSN = sizeof(struct bpf_insn), MAX_INSNS = 1 << 16, FP = 10, MAX_DATA = 1 << 20 };
_Static_assert(INSN == 8, "offsets in .text are in units of this");

struct reader {
	struct image im;
	struct arena *a;
	struct object *o;
	u32 text; /* index of .text */
	struct bytes syms, names, btf_strings;
	struct object_ref *target; /* by instruction: what it names; .insn: 1 when it does */
};

struct symbol {
	struct str name;
	u32 kind, bind, section; /* STT_*, STB_*, index or SHN_UNDEF */
	u64 value, size;
};

static struct str string_at(struct bytes b, u32 off)
{
	bytes_seek(&b, off);
	const char *z = bytes_z(&b);
	return z ? str_z(z) : STR("");
}

static bool symbol_at(const struct reader *r, u32 i, struct symbol *s)
{
	struct bytes b = r->syms;
	bytes_seek(&b, (u64)i * sizeof(Elf64_Sym));
	u32 name = bytes_u32(&b);
	u8 info = bytes_u8(&b);
	bytes_u8(&b);
	*s = (struct symbol){.name = string_at(r->names, name),
			     .kind = ELF64_ST_TYPE(info),
			     .bind = ELF64_ST_BIND(info)};
	s->section = bytes_u16(&b);
	s->value = bytes_u64(&b);
	s->size = bytes_u64(&b);
	return !b.bad;
}

/* ---- sections ---- */

static struct err *find_parts(struct reader *r)
{
	struct section s, names;
	for (u32 i = 0; image_section(&r->im, i, &s); i++) {
		if (s.type == SHT_SYMTAB && image_section(&r->im, s.link, &names)) {
			r->syms = image_bytes(&r->im, &s);
			r->names = image_bytes(&r->im, &names);
		} else if (s.type == SHT_PROGBITS && str_is(s.name, ".text")) {
			r->text = i;
		}
	}
	struct section t = {0};
	if (!r->text)
		return err_new("there is no code in it");
	image_section(&r->im, r->text, &t);
	struct bytes code = image_bytes(&r->im, &t);
	if (code.n % INSN || code.n / INSN > MAX_INSNS)
		return err_new("damaged object: .text of %zu bytes", code.n);
	r->o->ninsn = (u32)(code.n / INSN);
	r->o->insn = arena_newn(r->a, struct bpf_insn, r->o->ninsn + 1);
	if (code.n)
		memcpy(r->o->insn, code.p, code.n);
	r->target = arena_newn(r->a, struct object_ref, r->o->ninsn + 1);
	return NULL;
}

static struct err *open_btf(struct reader *r)
{
	struct section s = {0};
	if (!image_section_named(&r->im, ".BTF", &s))
		return err_new("there is no BTF in it");
	struct bytes b = image_bytes(&r->im, &s), h = b;
	struct err *e = btf_types_mem(b.p, b.n, r->a, NULL, &r->o->btf);
	if (e)
		return e;
	bytes_seek(&h, 4);
	u32 hdr_len = bytes_u32(&h);
	bytes_seek(&h, 16);
	u64 off = (u64)hdr_len + bytes_u32(&h);
	u32 len = bytes_u32(&h);
	bytes_seek(&b, off);
	const u8 *p = bytes_take(&b, len);
	r->btf_strings = bytes_of(p, p ? len : 0);
	return NULL;
}

static bool is_maps(struct str section)
{
	return str_is(section, ".maps") || str_is(section, "maps");
}

/* First thing with a name that lies in a section. */
static struct str name_in(const struct reader *r, u32 section)
{
	struct symbol s;
	for (u32 i = 0; symbol_at(r, i, &s); i++)
		if (s.section == section && s.name.n && s.kind != STT_SECTION)
			return s.name;
	return STR("?");
}

/* ---- variables, constants, maps ---- */

static struct err *add_data(struct reader *r, const struct object_data *d)
{
	struct object *o = r->o;
	if (o->ndata == OBJECT_MAX_DATA)
		return err_new("more than %d maps and sections of data", OBJECT_MAX_DATA);
	if (!o->data)
		o->data = arena_newn(r->a, struct object_data, OBJECT_MAX_DATA);
	o->data[o->ndata++] = *d;
	return NULL;
}

static struct err *add_section(struct reader *r, u32 index, const struct section *s)
{
	struct object_data d = {
		.name = s->name,
		.section = index,
		.is_const = !(s->flags & SHF_WRITE),
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.val_size = (u32)MIN(s->size, MAX_DATA + 1),
		.max_entries = 1,
	};
	if (s->size > MAX_DATA)
		return err_new("section %.*s has %llu bytes (limit %d)", STRF(s->name), s->size,
			       MAX_DATA);
	if (s->type == SHT_PROGBITS) {
		struct bytes b = image_bytes(&r->im, s);
		if (b.n != s->size)
			return err_new("damaged object: section %.*s", STRF(s->name));
		d.init = b.p;
	}
	return add_data(r, &d);
}

/* __uint(name, N) of a map's definition is a pointer to an array of N. */
static bool map_number(const struct field *f, u32 *ret)
{
	const struct type *t = f->type->kind == T_PTR ? f->type->base : NULL;
	if (!t || t->kind != T_ARRAY)
		return false;
	*ret = t->count;
	return true;
}

/* __type(name, T) is a pointer to T. */
static bool map_size(const struct field *f, u32 *ret)
{
	if (f->type->kind != T_PTR || !f->type->base)
		return false;
	*ret = f->type->base->size;
	return true;
}

/* BTF tells more than C's headers do: what is not understood is named. */
static bool map_field(const struct field *f, struct object_data *d)
{
	const struct {
		const char *name;
		bool (*read)(const struct field *f, u32 *ret);
		u32 *to;
	} known[] = {
		{"type", map_number, &d->map_type},
		{"key", map_size, &d->key_size},
		{"key_size", map_number, &d->key_size},
		{"value", map_size, &d->val_size},
		{"value_size", map_number, &d->val_size},
		{"max_entries", map_number, &d->max_entries},
		{"map_flags", map_number, &d->flags},
	};
	for (u32 i = 0; i < countof(known); i++)
		if (str_is(f->name, known[i].name))
			return known[i].read(f, known[i].to);
	return false;
}

/* A map is a variable in .maps; its members say what it is. */
static struct err *add_map(struct reader *r, u32 index, const struct symbol *s)
{
	struct object_data d = {.name = s->name, .section = index, .is_map = true};
	u32 id = btf_types_id(r->o->btf, s->name, BTF_KIND_VAR), n = 0;
	const struct type *t = id ? btf_types_get(r->o->btf, id) : NULL;
	if (!t || t->kind != T_STRUCT)
		return err_new("its BTF does not describe the map %.*s", STRF(s->name));
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++)
		if (!map_field(&f[i], &d))
			return err_new("map %.*s: %.*s is not understood", STRF(s->name),
				       STRF(f[i].name));
	if (!d.map_type)
		return err_new("map %.*s has no type", STRF(s->name));
	return add_data(r, &d);
}

static struct err *add_maps(struct reader *r, u32 index)
{
	struct symbol s;
	struct err *e = NULL;
	for (u32 i = 0; !e && symbol_at(r, i, &s); i++)
		if (s.section == index && s.kind == STT_OBJECT)
			e = add_map(r, index, &s);
	return e;
}

static bool is_silent(struct str section)
{
	return str_is(section, "license") || str_is(section, "version") ||
	       str_is(section, ".eh_frame");
}

/* All that would be loaded and is not code of functions. */
static struct err *find_data(struct reader *r)
{
	struct section s;
	struct err *e = NULL;
	for (u32 i = 0; !e && image_section(&r->im, i, &s); i++) {
		bool moved = s.type == SHT_REL && s.size && str_starts(s.name, STR(".rel."));
		if (moved && (str_starts(s.name, STR(".rel.data")) ||
			      str_starts(s.name, STR(".rel.rodata"))))
			return err_new("its data (section %.*s) holds addresses, which cannot be "
				       "imported",
				       STRF(str_from(s.name, 4)));
		if (i == r->text || !(s.flags & SHF_ALLOC) || !s.size || is_silent(s.name))
			continue;
		if (s.flags & SHF_EXECINSTR)
			return err_new("%.*s() is in section %.*s: only functions without a "
				       "section of their own can be imported",
				       STRF(name_in(r, i)), STRF(s.name));
		e = is_maps(s.name) ? add_maps(r, i) : add_section(r, i, &s);
	}
	return e;
}

/* ---- functions ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct object_fn *a = pa, *b = pb;
	return a->at < b->at ? -1 : a->at > b->at;
}

static struct err *find_fns(struct reader *r)
{
	struct object *o = r->o;
	struct symbol s;
	o->fn = arena_newn(r->a, struct object_fn, OBJECT_MAX_FNS);
	for (u32 i = 0; symbol_at(r, i, &s); i++) {
		if (s.kind != STT_FUNC || s.section != r->text)
			continue;
		if (o->nfn == OBJECT_MAX_FNS)
			return err_new("more than %d functions", OBJECT_MAX_FNS);
		if (s.value % INSN || s.size % INSN || !s.size || s.value > o->ninsn * INSN ||
		    s.size > o->ninsn * INSN - s.value)
			return err_new("damaged object: %.*s() exceeds .text", STRF(s.name));
		o->fn[o->nfn++] = (struct object_fn){.name = s.name,
						     .exported = s.bind != STB_LOCAL,
						     .at = (u32)(s.value / INSN),
						     .ninsn = (u32)(s.size / INSN)};
	}
	if (!o->nfn)
		return NULL;
	qsort(o->fn, o->nfn, sizeof(*o->fn), by_start);
	for (u32 i = 1; i < o->nfn; i++)
		if (o->fn[i - 1].at + o->fn[i - 1].ninsn > o->fn[i].at)
			return err_new("%.*s() and %.*s() are the same code: aliases cannot be "
				       "imported",
				       STRF(o->fn[i - 1].name), STRF(o->fn[i].name));
	return NULL;
}

static const struct object_fn *fn_around(const struct object *o, u64 insn)
{
	for (u32 i = 0; i < o->nfn; i++)
		if (insn >= o->fn[i].at && insn < o->fn[i].at + o->fn[i].ninsn)
			return &o->fn[i];
	return NULL;
}

static const struct object_fn *fn_starting(const struct object *o, u64 insn)
{
	const struct object_fn *f = fn_around(o, insn);
	return f && f->at == insn ? f : NULL;
}

static struct err *find_types(struct reader *r)
{
	for (u32 i = 0; i < r->o->nfn; i++) {
		struct object_fn *f = &r->o->fn[i];
		if (!f->exported)
			continue;
		u32 id = btf_types_id(r->o->btf, f->name, BTF_KIND_FUNC);
		f->type = id ? btf_types_func(r->o->btf, id) : NULL;
		if (!f->type)
			return err_new("its BTF does not contain the type of %.*s()",
				       STRF(f->name));
	}
	return NULL;
}

/* ---- what instructions refer to ---- */

static bool is_wide(const struct bpf_insn *in)
{
	return in->code == (BPF_LD | BPF_DW | BPF_IMM);
}

static bool is_call(const struct bpf_insn *in)
{
	return in->code == (BPF_JMP | BPF_CALL);
}

/* A function of the kernel; variables of the kernel stay out. */
static struct err *refer_outside(struct reader *r, const struct object_fn *f,
				 const struct bpf_insn *in, const struct symbol *s,
				 struct object_ref *ref)
{
	struct object *o = r->o;
	u32 i = 0;
	if (!is_call(in))
		return err_new("%.*s() uses %.*s, which is not in the file: variables of the "
			       "kernel or of other files cannot be imported",
			       STRF(f->name), STRF(s->name));
	while (i < o->nkfunc && !str_eq(o->kfunc[i], s->name))
		i++;
	if (i == OBJECT_MAX_KFUNCS)
		return err_new("more than %d functions of the kernel", OBJECT_MAX_KFUNCS);
	if (!o->kfunc)
		o->kfunc = arena_newn(r->a, struct str, OBJECT_MAX_KFUNCS);
	o->kfunc[i] = s->name;
	o->nkfunc = MAX(o->nkfunc, i + 1);
	*ref = (struct object_ref){.kind = OBJECT_KFUNC, .to = i};
	return NULL;
}

/* The symbol is a section with the distance in the instruction, or the thing itself. */
static struct err *refer_data(struct reader *r, const struct object_fn *f,
			      const struct bpf_insn *in, const struct symbol *s,
			      struct object_ref *ref)
{
	const struct object *o = r->o;
	u64 off = s->value + (u64)(i64)in->imm;
	for (u32 i = 0; i < o->ndata && is_wide(in); i++) {
		const struct object_data *d = &o->data[i];
		if (d->section != s->section || (d->is_map && !str_eq(d->name, s->name)))
			continue;
		*ref = (struct object_ref){
			.kind = OBJECT_DATA, .to = i, .off = d->is_map ? 0 : (u32)off};
		if (d->is_map || off < d->val_size)
			return NULL;
	}
	return err_new("%.*s() has a relocation of an unknown kind", STRF(f->name));
}

/*
 * Calls have the distance in imm: of a function -1, of a section (static functions) its start.
 * Loads of an address have bytes in it.
 */
static struct err *relocate(struct reader *r, u64 off, u32 symbol)
{
	const struct object *o = r->o;
	const struct object_fn *f = off % INSN ? NULL : fn_around(o, off / INSN), *to = NULL;
	struct symbol s;
	if (!f || !symbol_at(r, symbol, &s))
		return err_new("damaged object: relocation at %llu", off);
	const struct bpf_insn *in = &o->insn[off / INSN];
	struct object_ref *ref = &r->target[off / INSN];
	struct err *e = NULL;
	if (s.section == SHN_UNDEF)
		e = refer_outside(r, f, in, &s, ref);
	else if (s.section != r->text)
		e = refer_data(r, f, in, &s, ref);
	else if (is_call(in))
		to = fn_starting(o, s.value / INSN + (u64)(i64)in->imm + 1);
	else if (is_wide(in))
		to = fn_starting(o, (s.value + (u64)(i64)in->imm) / INSN);
	if (s.section == r->text && !to)
		return err_new("%.*s() has a relocation of an unknown kind", STRF(f->name));
	if (to)
		*ref = (struct object_ref){.kind = OBJECT_FN, .to = (u32)(to - o->fn)};
	ref->insn = 1;
	return e;
}

static struct err *read_relocations(struct reader *r)
{
	struct section s;
	if (!image_section_named(&r->im, ".rel.text", &s))
		return NULL;
	struct bytes b = image_bytes(&r->im, &s);
	while (b.n - b.at >= sizeof(Elf64_Rel)) {
		u64 off = bytes_u64(&b), info = bytes_u64(&b);
		struct err *e = relocate(r, off, (u32)ELF64_R_SYM(info));
		if (e)
			return e;
	}
	return NULL;
}

/* The functions that f's instructions name, also by calls that clang resolved itself. */
static struct err *find_refs(struct reader *r, struct object_fn *f)
{
	const struct object *o = r->o;
	struct object_ref *ref = arena_newn(r->a, struct object_ref, f->ninsn);
	for (u32 k = 0; k < f->ninsn; k++) {
		u32 i = f->at + k;
		const struct bpf_insn *in = &o->insn[i];
		struct object_ref *to = &r->target[i];
		if (is_call(in) && in->src_reg == BPF_PSEUDO_CALL && !to->insn) {
			const struct object_fn *at = fn_starting(o, (u64)i + (u64)(i64)in->imm + 1);
			if (at)
				*to = (struct object_ref){
					.kind = OBJECT_FN, .insn = 1, .to = (u32)(at - o->fn)};
		}
		bool plain = !is_call(in) && !is_wide(in);
		bool lost = !plain && in->src_reg && !to->insn;
		bool cut = is_wide(in) && k + 1 == f->ninsn;
		if (lost || cut)
			return err_new("damaged object: instruction %u of %.*s()", k,
				       STRF(f->name));
		if (to->insn) {
			to->insn = k;
			ref[f->nref++] = *to;
		}
		k += is_wide(in);
	}
	f->ref = ref;
	return NULL;
}

/* ---- limits ---- */

/* Offsets from r10 that are used, followed along the text: what the verifier will find or less. */
static u32 stack_of(const struct bpf_insn *in, u32 n)
{
	bool frame[16] = {[FP] = true};
	i64 at[16] = {0}, low = 0;
	for (u32 i = 0; i < n; i++, in++) {
		u32 cls = BPF_CLASS(in->code), base = cls == BPF_LDX ? in->src_reg : in->dst_reg;
		bool memory = cls == BPF_LDX || cls == BPF_STX || cls == BPF_ST;
		if (memory && frame[base])
			low = MIN(low, at[base] + in->off);
		if (cls == BPF_LDX && in->dst_reg != FP)
			frame[in->dst_reg] = false;
		if (cls != BPF_ALU64 || in->dst_reg == FP)
			continue;
		u32 d = in->dst_reg, s = in->src_reg;
		if (in->code == (BPF_ALU64 | BPF_MOV | BPF_X)) {
			frame[d] = frame[s];
			at[d] = at[s];
		} else if (in->code == (BPF_ALU64 | BPF_ADD | BPF_K)) {
			at[d] += in->imm;
		} else {
			frame[d] = false;
		}
		if (frame[d])
			low = MIN(low, at[d]);
	}
	return (u32)MIN(-low, 1 << 20);
}

/* Frames from f on, f included. depth: by function; 0: not known yet, OPEN: being counted. */
enum { OPEN = 255 };
static struct err *count_depth(const struct object *o, u32 f, u8 *depth)
{
	u8 most = 0;
	depth[f] = OPEN;
	for (u32 i = 0; i < o->fn[f].nref; i++) {
		u32 to = o->fn[f].ref[i].to;
		if (o->fn[f].ref[i].kind != OBJECT_FN)
			continue;
		if (depth[to] == OPEN)
			return err_new("%.*s() calls itself, which BPF programs cannot do",
				       STRF(o->fn[to].name));
		struct err *e = depth[to] ? NULL : count_depth(o, to, depth);
		if (e)
			return e;
		most = MAX(most, depth[to]);
	}
	depth[f] = most + 1;
	return depth[f] <= OBJECT_MAX_DEPTH
		       ? NULL
		       : err_new("calls in %.*s() are nested more than %d deep",
				 STRF(o->fn[f].name), OBJECT_MAX_DEPTH);
}

static struct err *check_limits(struct object *o)
{
	u8 depth[OBJECT_MAX_FNS] = {0};
	struct err *e = NULL;
	for (u32 i = 0; i < o->nfn && !e; i++) {
		struct object_fn *f = &o->fn[i];
		f->stack = stack_of(&o->insn[f->at], f->ninsn);
		if (f->stack > 512)
			return err_new("%.*s() needs %u bytes of stack (limit 512)", STRF(f->name),
				       f->stack);
		e = depth[i] ? NULL : count_depth(o, i, depth);
	}
	return e;
}

/* ---- .BTF.ext: lines, CO-RE ---- */

/* One table of .BTF.ext: blocks of records, one for each section of code. */
struct table {
	struct bytes b;
	u32 rec_size, left;
	bool text; /* this block is .text's */
};

static bool next_record(const struct reader *r, struct table *t, struct bytes *rec)
{
	while (!t->left) {
		t->text = str_is(string_at(r->btf_strings, bytes_u32(&t->b)), ".text");
		t->left = bytes_u32(&t->b);
		if (t->b.bad)
			return false;
	}
	t->left--;
	const u8 *p = bytes_take(&t->b, t->rec_size);
	*rec = bytes_of(p, p ? t->rec_size : 0);
	return p && t->rec_size;
}

/* which: 0 functions, 1 lines, 2 CO-RE. */
static bool open_table(const struct reader *r, u32 which, struct table *t)
{
	struct section s = {0};
	if (!image_section_named(&r->im, ".BTF.ext", &s))
		return false;
	struct bytes b = image_bytes(&r->im, &s), h = b;
	bytes_seek(&h, 4);
	u32 hdr_len = bytes_u32(&h);
	if (hdr_len < 8 + 8 * (which + 1))
		return false;
	bytes_seek(&h, 8 + 8ull * which);
	u64 off = (u64)hdr_len + bytes_u32(&h);
	u32 len = bytes_u32(&h);
	bytes_seek(&b, off);
	const u8 *p = h.bad ? NULL : bytes_take(&b, len);
	*t = (struct table){.b = bytes_of(p, p ? len : 0)};
	t->rec_size = bytes_u32(&t->b);
	return !t->b.bad && t->rec_size;
}

static struct err *read_core(const struct reader *r)
{
	struct table t;
	struct bytes rec;
	struct object *o = r->o;
	if (!open_table(r, 2, &t))
		return NULL;
	o->core = arena_newn(r->a, struct object_core, o->ninsn + 1);
	while (next_record(r, &t, &rec)) {
		u32 off = bytes_u32(&rec), type = bytes_u32(&rec), access = bytes_u32(&rec);
		u32 kind = bytes_u32(&rec);
		if (!t.text)
			continue;
		if (rec.bad || off % INSN || off / INSN >= o->ninsn || o->ncore > o->ninsn)
			return err_new("damaged object: CO-RE relocation at %u", off);
		o->core[o->ncore++] = (struct object_core){off / INSN, type, kind,
							   string_at(r->btf_strings, access)};
	}
	return NULL;
}

static void read_lines(struct reader *r)
{
	struct table t;
	struct bytes rec;
	struct object *o = r->o;
	if (!open_table(r, 1, &t))
		return;
	o->line = arena_newn(r->a, struct object_line, o->ninsn + 1);
	while (next_record(r, &t, &rec) && o->nline < o->ninsn) {
		u32 insn = bytes_u32(&rec) / INSN, file = bytes_u32(&rec);
		bytes_u32(&rec);
		u32 at = bytes_u32(&rec);
		if (!t.text || rec.bad || insn >= o->ninsn)
			continue;
		o->line[o->nline++] = (struct object_line){insn, at >> 10, at & 1023,
							   string_at(r->btf_strings, file)};
	}
}

static struct err *read_all(struct reader *r)
{
	struct err *e = find_parts(r);
	if (!e)
		e = find_fns(r);
	if (!e && r->o->nfn)
		e = open_btf(r);
	if (!e)
		e = read_core(r);
	if (!e)
		e = find_data(r);
	if (!e)
		e = read_relocations(r);
	if (!e && !r->o->nfn)
		e = err_new("it contains no function");
	for (u32 i = 0; !e && i < r->o->nfn; i++)
		e = find_refs(r, &r->o->fn[i]);
	if (!e)
		e = find_types(r);
	if (!e)
		e = check_limits(r->o);
	if (!e)
		read_lines(r);
	return e;
}

struct err *object_read(const void *p, size_t n, struct arena *a, struct object *ret)
{
	struct object o = {0};
	struct reader r = {.a = a, .o = &o};
	struct err *e = image_mem(p, n, &r.im);
	if (e)
		return e;
	if (!r.im.is64 || r.im.machine != EM_BPF || r.im.type != ET_REL)
		return err_new("not a BPF object file");
	e = read_all(&r);
	if (e)
		object_close(&o);
	else
		*ret = o;
	return e;
}

void object_close(struct object *o)
{
	btf_types_close(o->btf);
	*o = (struct object){0};
}
