/*
 * usdt.c - .note.stapsdt: where statically defined probes are and where their arguments lie.
 *
 *	name "stapsdt", type 3; desc: pc, base, semaphore (words), provider\0 name\0 arguments\0
 *
 * base is where .stapsdt.base was when the note was written; prelinking moves
 * the section, and the addresses with it. Arguments are operands of the
 * assembler, each "size@operand": x86 "-4@%eax" "8@-8(%rbp,%rax,4)" "4@$5"
 * "8@counter+8(%rip)" "8@$counter", arm64 "-4@w0" "8@[sp, 16]" "4@5". A size
 * such as "8f" is a floating point number's, which can be read where it is
 * not in registers that programs in the kernel do not see.
 */
#include "types/usdt.h"
#include "arch/arch.h"
#include "base/vec.h"
#include "types/image.h"

enum { NOTE_TYPE = 3, MAX_SITES = 1 << 16, MAX_NOTE_SECTIONS = 16, MAX_TERMS = 16 };

/* ---- arguments ---- */

static i16 operand_reg(const struct arch *a, struct str s)
{
	const struct arch_reg *r = arch_reg(&a->operand, s);
	return r ? r->off : -1;
}

/* "16", "-8", "16+8", "0x10-4": what compilers leave of offsetof and stack adjustments. */
static bool parse_sum(struct str s, i64 *ret)
{
	i64 sum = 0;
	for (u32 i = 0; i < MAX_TERMS; i++) {
		u32 n = s.n && (s.s[0] == '-' || s.s[0] == '+');
		while (n < s.n && s.s[n] != '-' && s.s[n] != '+')
			n++;
		struct str term = {s.s, n};
		i64 v;
		if (term.n && term.s[0] == '+')
			term = str_from(term, 1);
		if (!str_i64(term, &v))
			return false;
		sum = (i64)((u64)sum + (u64)v);
		s = str_from(s, n);
		if (!s.n) {
			*ret = sum;
			return true;
		}
	}
	return false;
}

/* What a displacement may be: a sum, a symbol, or a symbol and a sum: "16", "sym", "sym+8-4". */
static bool parse_place(struct str s, struct usdt_arg *a)
{
	u32 n = 0;
	if (!s.n)
		return true;
	bool number = (s.s[0] >= '0' && s.s[0] <= '9') || s.s[0] == '-' || s.s[0] == '+';
	if (number)
		return parse_sum(s, &a->off);
	while (n < s.n && s.s[n] != '+' && s.s[n] != '-')
		n++;
	a->sym = (struct str){s.s, n};
	for (u32 i = 0; i < n; i++)
		if (strchr("%@:()[]$* ", s.s[i])) /* sym@tpoff, %fs:8 */
			return false;
	return n == s.n || parse_sum(str_from(s, n), &a->off);
}

/* disp(%base,%index,scale), the disp already cut off: "(%rbp)", "(,%rax,8)" */
static bool parse_att_mem(const struct arch *arch, struct str s, struct usdt_arg *a)
{
	struct str part[3] = {{0}};
	u64 scale = 1;
	if (s.n < 2 || s.s[s.n - 1] != ')')
		return false;
	s = (struct str){s.s + 1, s.n - 2};
	for (u32 i = 0; s.s; i++) {
		struct str p;
		if (i == 3 || !str_cut(&s, ',', &p))
			return false;
		part[i] = str_trim(p);
	}
	for (u32 i = 0; i < 2; i++) {
		i16 *reg = i ? &a->index : &a->reg;
		if (!part[i].n)
			continue;
		*reg = part[i].s[0] == '%' ? operand_reg(arch, str_from(part[i], 1)) : -1;
		if (*reg < 0 || (*reg == arch->ip && i))
			return false;
	}
	if (part[2].n &&
	    (!str_u64(part[2], &scale) || scale > 8 || scale == 0 || (scale & (scale - 1))))
		return false;
	a->scale = (u8)scale;
	a->kind = UA_MEM;
	/* Relative to %rip is how a symbol is reached; where the next instruction is, which a mere
	 * number would count from, the note does not say. */
	if (a->reg == arch->ip && !a->sym.n)
		return false;
	if (a->reg == arch->ip)
		a->reg = -1;
	return a->reg >= 0 || a->index >= 0 || a->sym.n;
}

/* "lsl 3", "sxtw 2", "uxtw": what becomes of the index. */
static bool parse_extension(struct str s, struct usdt_arg *a)
{
	enum { MAX_SHIFT = 3 };
	u64 shift = 0;
	i32 blank = str_chr(s, ' ');
	struct str how = str_n(s.s, blank < 0 ? s.n : (u32)blank);
	struct str by = str_trim(str_from(s, how.n));
	if (str_starts(by, STR("#")))
		by = str_from(by, 1);
	if (by.n && (!str_u64(by, &shift) || shift > MAX_SHIFT))
		return false;
	a->scale = (u8)(1 << shift);
	a->index_is = str_is(how, "sxtw") ? UI_I32 : str_is(how, "uxtw") ? UI_U32 : UI_WHOLE;
	return a->index_is != UI_WHOLE || str_is(how, "lsl") || str_is(how, "sxtx");
}

/* "[sp]", "[x0, 16]", "[x0, #8]", "[x0, x1]", "[x0, w1, sxtw 2]" */
static bool parse_bracket_mem(const struct arch *arch, struct str s, struct usdt_arg *a)
{
	if (s.n < 3 || s.s[s.n - 1] != ']')
		return false;
	struct str rest = {s.s + 1, s.n - 2}, base, second;
	str_cut(&rest, ',', &base);
	a->kind = UA_MEM;
	a->scale = 1;
	a->reg = operand_reg(arch, str_trim(base));
	if (a->reg < 0)
		return false;
	if (!rest.s)
		return true;
	str_cut(&rest, ',', &second);
	second = str_trim(second);
	a->index = operand_reg(arch, second);
	if (rest.s)
		return a->index >= 0 && parse_extension(str_trim(rest), a);
	if (str_starts(second, STR("#")))
		second = str_from(second, 1);
	return a->index >= 0 || parse_sum(second, &a->off);
}

static bool parse_bracket_operand(const struct arch *arch, struct str s, struct usdt_arg *a)
{
	if (s.s[0] == '[')
		return parse_bracket_mem(arch, s, a);
	a->kind = UA_REG;
	a->reg = operand_reg(arch, s);
	if (a->reg >= 0)
		return true;
	a->kind = UA_CONST;
	if (str_is(s, "xzr") || str_is(s, "wzr"))
		return true;
	if (s.s[0] == '#')
		s = str_from(s, 1);
	if (!s.n || !parse_place(s, a))
		return false;
	a->kind = a->sym.n ? UA_MEM : UA_CONST;
	return true;
}

static bool parse_operand(const struct arch *arch, struct str s, struct usdt_arg *a)
{
	if (!s.n)
		return false;
	if (!arch->att_syntax)
		return parse_bracket_operand(arch, s, a);
	a->kind = UA_CONST;
	if (s.s[0] == '$')
		return s.n > 1 && parse_place(str_from(s, 1), a);
	a->kind = UA_REG;
	if (s.s[0] == '%') {
		a->reg = operand_reg(arch, str_from(s, 1));
		return a->reg >= 0;
	}
	i32 paren = str_chr(s, '(');
	if (paren >= 0) {
		return parse_place((struct str){s.s, (u32)paren}, a) &&
		       parse_att_mem(arch, str_from(s, (u32)paren), a);
	}
	if (!parse_place(s, a))
		return false;
	a->kind = a->sym.n ? UA_MEM : UA_CONST; /* memory at a fixed address */
	return true;
}

bool usdt_parse_arg(const struct arch *arch, struct str text, struct usdt_arg *ret)
{
	struct usdt_arg a = {.size = 8, .reg = -1, .index = -1};
	i32 at = str_chr(text, '@');
	i64 size = 8;
	struct str width = {text.s, at > 0 ? (u32)at : 0};
	a.is_float = width.n && width.s[width.n - 1] == 'f';
	width.n -= a.is_float;
	if (at > 0 && !str_i64(width, &size))
		return false;
	a.is_signed = size < 0;
	if (size < -8 || size > 8)
		return false;
	a.size = (u8)(size < 0 ? -size : size);
	if (a.size != 1 && a.size != 2 && a.size != 4 && a.size != 8)
		return false;
	if (!parse_operand(arch, str_trim(str_from(text, (u32)(at + 1))), &a))
		return false;
	if (a.is_float && (size < 4 || a.kind == UA_CONST))
		return false;
	*ret = a;
	return true;
}

/* Blanks separate arguments, but not inside brackets: "4@[sp, 8]". */
static struct str next_arg(struct str *s)
{
	u32 n = 0;
	int depth = 0;
	*s = str_trim(*s);
	for (; n < s->n && (depth || s->s[n] != ' '); n++)
		depth += (s->s[n] == '[' || s->s[n] == '(') - (s->s[n] == ']' || s->s[n] == ')');
	struct str arg = {s->s, n};
	*s = str_from(*s, n);
	return arg;
}

static void parse_args(const struct arch *arch, struct str text, struct arena *a,
		       struct usdt_site *site)
{
	for (struct str arg = next_arg(&text); arg.n; arg = next_arg(&text)) {
		if (site->narg == MAX_USDT_ARGS)
			return;
		struct usdt_arg *to = &site->arg[site->narg++];
		arg = arena_str(a, arg);
		if (!arch || !usdt_parse_arg(arch, arg, to))
			*to = (struct usdt_arg){
				.kind = UA_BAD, .reg = -1, .index = -1, .text = arg};
	}
}

/* ---- notes ---- */

typedef VEC(struct usdt_site) site_vec;

static struct str take_text(struct bytes *b, struct arena *a)
{
	const char *z = bytes_z(b);
	return z ? arena_str(a, str_z(z)) : STR("");
}

static bool parse_site(const struct image *im, struct note *note, u64 base, struct arena *a,
		       struct usdt_site *s)
{
	struct bytes *b = &note->desc;
	u64 addr = image_word(im, b), old_base = image_word(im, b), sem = image_word(im, b);
	u64 moved = base && old_base ? base - old_base : 0;
	s->provider = take_text(b, a);
	s->name = take_text(b, a);
	const char *args = bytes_z(b);
	if (b->bad || !s->name.n)
		return false;
	s->addr = addr + moved;
	if (!image_offset(im, s->addr, &s->offset))
		return false;
	if (sem && !image_offset(im, sem + moved, &s->sem_offset))
		s->sem_offset = 0;
	parse_args(arch_that_runs(im->machine), str_z(args), a, s);
	return true;
}

static void read_events(const struct image *im, struct bytes b, u64 base, struct arena *a,
			site_vec *v)
{
	struct note note;
	while (image_note(&b, &note) && v->n < MAX_SITES) {
		struct usdt_site site = {0};
		if (note.type != NOTE_TYPE || !str_is(note.name, "stapsdt"))
			continue;
		if (parse_site(im, &note, base, a, &site))
			vec_add(v, site);
	}
}

static struct err *image_sites(const struct image *im, struct arena *a, struct usdt_sites *ret)
{
	struct section s;
	site_vec v = {0};
	u64 base = image_section_named(im, ".stapsdt.base", &s) ? s.addr : 0;
	for (u32 i = 0, n = 0; n < MAX_NOTE_SECTIONS && image_section(im, i, &s); i++) {
		if (!str_is(s.name, ".note.stapsdt"))
			continue;
		read_events(im, image_bytes(im, &s), base, a, &v);
		n++;
	}
	ret->n = v.n;
	ret->v = arena_newn(a, struct usdt_site, v.n + 1);
	if (v.n)
		memcpy(ret->v, v.v, v.n * sizeof(*v.v));
	vec_free(&v);
	return NULL;
}

struct err *usdt_read_mem(const void *p, size_t n, struct arena *a, struct usdt_sites *ret)
{
	struct image im;
	struct err *err = image_mem(p, n, &im);
	return err ? err : image_sites(&im, a, ret);
}
