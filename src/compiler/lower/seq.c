/*
 * seq.c - printf of a pinned iterator: text into the file that somebody reads when we have ended.
 *
 * The kernel's bpf_seq_printf formats integers; texts and what stands between conversions is
 * written as it is, because its %s is limited to 128 bytes on Linux 5.10.
 * sema_check_seq() has refused what neither can do.
 */
#include "core/printf.h"
#include "lower/lower.h"

enum {
	CHUNK = 64, /* bytes of constant text per call */
	FORMAT = 32,
};

/* ctx.meta.seq: struct seq_file of the reader. */
static struct ref seq_file(struct lower *l)
{
	const struct type *meta = l->pt->args->field[0].type->base;
	struct field seq = {0};
	bool known = type_field(meta, STR("seq"), &seq);
	assert(known);
	struct ref m = ir_load(l->f, 8, lower_ctx(l), 0);
	return ir_load(l->f, 8, m, (i32)(seq.bit_off / 8));
}

static void write_bytes(struct lower *l, struct ref addr, struct ref n)
{
	ir_call(l->f, BPF_FUNC_seq_write, ARGS(seq_file(l), addr, n));
}

static void release(struct lower *l, struct mem m, u32 mark)
{
	if (m.base.kind == R_SLOT)
		ir_slot_release(l->f, mark);
}

static void write_text(struct lower *l, struct str s)
{
	for (u32 at = 0; at < s.n; at += CHUNK) {
		u32 mark = ir_slot_mark(l->f), n = MIN(s.n - at, (u32)CHUNK);
		char buf[CHUNK] = "";
		memcpy(buf, s.s + at, n);
		struct mem m = lower_tmp(l, n);
		lower_bytes(l, m, buf, ALIGN_UP(n, 8u));
		write_bytes(l, lower_addr(l, m), ir_con(l->f, n));
		release(l, m, mark);
	}
}

/* Text between conversions has "%%" for '%'. */
static void write_literal(struct lower *l, struct str lit)
{
	AUTO_SB b = {0};
	for (u32 i = 0; i < lit.n; i++) {
		sb_char(&b, lit.s[i]);
		i += lit.s[i] == '%' && i + 1 < lit.n && lit.s[i + 1] == '%';
	}
	write_text(l, sb_str(&b));
}

static bool is_left(const struct conv *c)
{
	return strchr(c->flags, '-') != NULL;
}

/* Constant text in its width. */
static void write_padded(struct lower *l, const struct conv *c, struct str s)
{
	AUTO_SB b = {0};
	u32 width = c->width > 0 ? (u32)c->width : 0;
	s.n = c->prec >= 0 ? MIN(s.n, (u32)c->prec) : s.n;
	u32 pad = width > s.n ? width - s.n : 0;
	if (!is_left(c))
		sb_pad(&b, ' ', pad);
	sb_add(&b, s);
	if (is_left(c))
		sb_pad(&b, ' ', pad);
	write_text(l, sb_str(&b));
}

/* width - n blanks, if any. */
static void write_blanks(struct lower *l, u32 width, struct ref n)
{
	struct fn *f = l->f;
	struct blk *some = ir_blk(f), *done = ir_blk(f);
	u32 mark = ir_slot_mark(f);
	struct mem m = lower_tmp(l, width);
	char blank[SEQ_WIDTH_MAX];
	memset(blank, ' ', sizeof(blank));
	lower_bytes(l, m, blank, ALIGN_UP(width, 8u));
	struct ref pad = ir_op2(f, O_SUB, ir_con(f, width), n);
	ir_br(f, O_ULE, pad, ir_con(f, width), some, done);
	ir_at(f, some);
	write_bytes(l, lower_addr(l, m), pad);
	ir_jmp(f, done);
	ir_at(f, done);
	release(l, m, mark);
}

/* Text in our memory, up to its NUL; without one it was cut. told: its length with the NUL, or less
 * than 1 where it could not be read, or none. */
static void write_string(struct lower *l, const struct conv *c, struct mem m, u32 size,
			 struct ref told)
{
	struct fn *f = l->f;
	struct ref addr = lower_addr(l, m), n = ir_var(f);
	struct blk *whole = ir_blk(f), *none = ir_blk(f), *cut = ir_blk(f), *go = ir_blk(f);
	struct ref last = lower_load(l, 1, false, mem_at(m, (i32)size - 1));
	ir_set(f, n, ir_con(f, size));
	ir_br(f, O_EQ, last, ir_con(f, 0), whole, go);
	ir_at(f, whole); /* reading it onto itself gives its length */
	struct ref len = ref_is(told) ? told
				      : ir_call(f, BPF_FUNC_probe_read_kernel_str,
						ARGS(addr, ir_con(f, size), lower_addr(l, m)));
	len = ir_addi(f, len, -1);
	ir_set(f, n, len);
	ir_br(f, O_ULT, len, ir_con(f, size), go, none);
	ir_at(f, none);
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, go);
	ir_at(f, go);
	struct ref shown = ir_get(f, n);
	if (c->width > 0 || c->prec >= 0)
		shown = lower_at_most(l, shown, c->prec >= 0 ? MIN(size, (u32)c->prec) : size);
	if (c->width > 0 && !is_left(c))
		write_blanks(l, (u32)c->width, shown);
	write_bytes(l, lower_addr(l, m), shown);
	if (c->width > 0 && is_left(c))
		write_blanks(l, (u32)c->width, shown);
	if (c->prec >= 0)
		return;
	struct blk *done = ir_blk(f);
	ir_br(f, O_NE, last, ir_con(f, 0), cut, done);
	ir_at(f, cut);
	write_text(l, l->u->config.str_trunc_trailer);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void write_bool(struct lower *l, const struct conv *c, struct node *n)
{
	struct fn *f = l->f;
	struct blk *yes = ir_blk(f), *no = ir_blk(f), *done = ir_blk(f);
	ir_br(f, O_NE, lower_value(l, n), ir_con(f, 0), yes, no);
	ir_at(f, yes);
	write_padded(l, c, STR("true"));
	ir_jmp(f, done);
	ir_at(f, no);
	write_padded(l, c, STR("false"));
	ir_jmp(f, done);
	ir_at(f, done);
}

static void write_char(struct lower *l, const struct conv *c, struct node *n)
{
	u32 mark = ir_slot_mark(l->f);
	struct conv rest = *c;
	struct mem m = lower_tmp(l, 8);
	lower_store(l, 1, m, lower_value(l, n));
	rest.width--;
	if (!is_left(c))
		write_padded(l, &rest, STR(""));
	write_bytes(l, lower_addr(l, m), ir_con(l->f, 1));
	if (is_left(c))
		write_padded(l, &rest, STR(""));
	release(l, m, mark);
}

/* The kernel formats 64 bits; what a length leaves of them is taken before. */
static void write_number(struct lower *l, const struct conv *c, struct node *n)
{
	struct fn *f = l->f;
	const struct type *t = n->type;
	struct ref v = lower_value(l, n);
	char fmt[FORMAT] = "", kind = c->conv[0];
	if (t->kind == T_PTR && t->space == AS_BTF)
		v = lower_number(l, v);
	if (kind == 's')
		kind = t->kind == T_PTR ? 'p' : t->is_signed ? 'd' : 'u';
	bool sign = kind == 'd' || kind == 'i';
	u32 w = !strcmp(c->len, "hh") ? 1 : !strcmp(c->len, "h") ? 2 : 8;
	if (w < 8)
		v = ir_op1(f, sign ? O_EXTS : O_EXTU, w, v);
	u32 mark = ir_slot_mark(f);
	int len = kind == 'p' ? snprintf(fmt, sizeof(fmt), "0x%%llx")
		  : c->width > 0
			  ? snprintf(fmt, sizeof(fmt), "%%%s%dll%c", c->flags, c->width, kind)
			  : snprintf(fmt, sizeof(fmt), "%%%sll%c", c->flags, kind);
	assert(len > 0 && len < FORMAT);
	u32 bytes = ALIGN_UP((u32)len + 1, 8u);
	struct mem text = lower_tmp(l, bytes), data = lower_tmp(l, 8);
	lower_bytes(l, text, fmt, bytes);
	lower_store(l, 8, data, v);
	ir_call(f, BPF_FUNC_seq_printf,
		ARGS(seq_file(l), lower_addr(l, text), ir_con(f, (u64)len + 1), lower_addr(l, data),
		     ir_con(f, 8)));
	release(l, text, mark);
}

static void write_value(struct lower *l, const struct conv *c, struct node *n)
{
	const struct type *t = n->type;
	bool text = c->conv[0] == 's';
	if (c->conv[0] == 'c') {
		write_char(l, c, n);
	} else if (text && t->kind == T_BOOL) {
		write_bool(l, c, n);
	} else if (text && t->kind == T_PROBE) {
		const struct type *s = type_string(l->c->arena, t->count);
		struct mem m = lower_tmp(l, s->size);
		lower_into_as(l, n, m, s);
		write_string(l, c, m, s->size, REF_NONE);
	} else if (text && t->kind == T_STRING) {
		struct ref len = REF_NONE;
		struct mem m = lower_text(l, n, &len);
		write_string(l, c, m, t->size, len);
	} else {
		write_number(l, c, n);
	}
}

void lower_seq(struct lower *l, struct node *args, struct str fmt)
{
	u32 at = 0;
	struct str lit;
	struct conv c;
	struct node *arg = args;
	for (; conv_next(fmt, &at, &lit, &c); arg = arg->next) {
		assert(arg);
		write_literal(l, lit);
		write_value(l, &c, arg);
	}
	write_literal(l, lit);
}
