/*
 * usdt.c - .note.stapsdt: where statically defined probes are and where their arguments lie.
 *
 *	name "stapsdt", type 3; desc: pc, base, semaphore (words), provider\0 name\0 arguments\0
 *
 * base is where .stapsdt.base was when the note was written; prelinking moves
 * the section, and the addresses with it. Arguments are operands of the
 * assembler, each "size@operand": x86 "-4@%eax" "8@-8(%rbp,%rax,4)" "4@$5"
 * "8@counter+8(%rip)" "8@$counter", arm64 "-4@w0" "8@[sp, 16]" "4@5". A size
 * such as "8f" is a floating point number's; those are in registers that
 * programs in the kernel do not see.
 */
#include "types/usdt.h"
#include "base/vec.h"
#include "types/image.h"

enum { NOTE_TYPE = 3, MAX_SITES = 1 << 16, MAX_NOTE_SECTIONS = 16, MAX_TERMS = 16 };

/* ---- arguments ---- */

enum { X86_IP = 128 };
struct reg {
	const char *name[4]; /* 64, 32, 16, 8 bits */
	i16 off;             /* in struct pt_regs */
};
static const struct reg x86_regs[] = {
	{{"r15", "r15d", "r15w", "r15b"}, 0},  {{"r14", "r14d", "r14w", "r14b"}, 8},
	{{"r13", "r13d", "r13w", "r13b"}, 16}, {{"r12", "r12d", "r12w", "r12b"}, 24},
	{{"rbp", "ebp", "bp", "bpl"}, 32},     {{"rbx", "ebx", "bx", "bl"}, 40},
	{{"r11", "r11d", "r11w", "r11b"}, 48}, {{"r10", "r10d", "r10w", "r10b"}, 56},
	{{"r9", "r9d", "r9w", "r9b"}, 64},     {{"r8", "r8d", "r8w", "r8b"}, 72},
	{{"rax", "eax", "ax", "al"}, 80},      {{"rcx", "ecx", "cx", "cl"}, 88},
	{{"rdx", "edx", "dx", "dl"}, 96},      {{"rsi", "esi", "si", "sil"}, 104},
	{{"rdi", "edi", "di", "dil"}, 112},    {{"rip", "eip", "ip", "ip"}, X86_IP},
	{{"rsp", "esp", "sp", "spl"}, 152},    {{"ah", "ah", "ah", "ah"}, 81},
	{{"bh", "bh", "bh", "bh"}, 41},        {{"ch", "ch", "ch", "ch"}, 89},
	{{"dh", "dh", "dh", "dh"}, 97},
};

static i16 x86_reg(struct str s)
{
	for (u32 i = 0; i < countof(x86_regs); i++) {
		for (u32 j = 0; j < 4; j++) {
			if (str_is(s, x86_regs[i].name[j]))
				return x86_regs[i].off;
		}
	}
	return -1;
}

static i16 arm_reg(struct str s)
{
	enum { SP_OFF = 31 * 8 };
	u64 n;
	if (str_is(s, "sp"))
		return SP_OFF;
	bool named = s.n >= 2 && s.n <= 3 && (s.s[0] == 'x' || s.s[0] == 'w');
	if (!named || s.s[1] < '0' || s.s[1] > '9' || (s.n == 3 && s.s[1] == '0'))
		return -1;
	return str_u64(str_from(s, 1), &n) && n < 31 ? (i16)(n * 8) : -1;
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
static bool parse_x86_mem(struct str s, struct usdt_arg *a)
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
		*reg = part[i].s[0] == '%' ? x86_reg(str_from(part[i], 1)) : -1;
		if (*reg < 0 || (*reg == X86_IP && i))
			return false;
	}
	if (part[2].n &&
	    (!str_u64(part[2], &scale) || scale > 8 || scale == 0 || (scale & (scale - 1))))
		return false;
	a->scale = (u8)scale;
	a->kind = UA_MEM;
	/* Relative to %rip is how a symbol is reached; where the next instruction is, which a mere
	 * number would count from, the note does not say. */
	if (a->reg == X86_IP && !a->sym.n)
		return false;
	if (a->reg == X86_IP)
		a->reg = -1;
	return a->reg >= 0 || a->index >= 0 || a->sym.n;
}

/* "[sp]", "[x0, 16]", "[x0, x1]", "[x0, #8]" */
static bool parse_arm_mem(struct str s, struct usdt_arg *a)
{
	if (s.n < 3 || s.s[s.n - 1] != ']')
		return false;
	struct str rest = {s.s + 1, s.n - 2}, base;
	str_cut(&rest, ',', &base);
	a->kind = UA_MEM;
	a->scale = 1;
	a->reg = arm_reg(str_trim(base));
	if (a->reg < 0)
		return false;
	if (!rest.s)
		return true;
	rest = str_trim(rest);
	if (str_starts(rest, STR("#")))
		rest = str_from(rest, 1);
	a->index = arm_reg(rest);
	return a->index >= 0 || parse_sum(rest, &a->off);
}

static bool parse_operand(struct str s, struct usdt_arg *a)
{
	if (!s.n)
		return false;
	a->kind = UA_CONST;
	if (s.s[0] == '$')
		return s.n > 1 && parse_place(str_from(s, 1), a);
	a->kind = UA_REG;
	if (s.s[0] == '%') {
		a->reg = x86_reg(str_from(s, 1));
		return a->reg >= 0;
	}
	if (s.s[0] == '[')
		return parse_arm_mem(s, a);
	i32 paren = str_chr(s, '(');
	if (paren >= 0) {
		return parse_place((struct str){s.s, (u32)paren}, a) &&
		       parse_x86_mem(str_from(s, (u32)paren), a);
	}
	a->reg = arm_reg(s);
	if (a->reg >= 0)
		return true;
	if (!parse_place(s, a))
		return false;
	a->kind = a->sym.n ? UA_MEM : UA_CONST; /* x86: memory at a fixed address; arm: a number */
	return true;
}

bool usdt_parse_arg(struct str text, struct usdt_arg *ret)
{
	struct usdt_arg a = {.size = 8, .reg = -1, .index = -1};
	i32 at = str_chr(text, '@');
	i64 size = 8;
	if (at > 0 && !str_i64((struct str){text.s, (u32)at}, &size)) /* "8f", too */
		return false;
	a.is_signed = size < 0;
	if (size < -8 || size > 8)
		return false;
	a.size = (u8)(size < 0 ? -size : size);
	if (a.size != 1 && a.size != 2 && a.size != 4 && a.size != 8)
		return false;
	if (!parse_operand(str_trim(str_from(text, (u32)(at + 1))), &a))
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

static void parse_args(struct str text, struct arena *a, struct usdt_site *site)
{
	for (struct str arg = next_arg(&text); arg.n; arg = next_arg(&text)) {
		if (site->narg == MAX_USDT_ARGS)
			return;
		struct usdt_arg *to = &site->arg[site->narg++];
		arg = arena_str(a, arg);
		if (!usdt_parse_arg(arg, to))
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
	parse_args(str_z(args), a, s);
	return true;
}

static void read_notes(const struct image *im, struct bytes b, u64 base, struct arena *a,
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
		read_notes(im, image_bytes(im, &s), base, a, &v);
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

struct err *usdt_read(const char *path, struct arena *a, struct usdt_sites *ret)
{
	struct image im;
	struct err *err = image_open(path, &im);
	if (err)
		return err;
	err = image_sites(&im, a, ret);
	image_close(&im);
	return err;
}
