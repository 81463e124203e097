/* read.c - memory: temporaries, constants, copies, loads by address space. */
#include "lower/lower.h"

enum {
	STACK_TMP_MAX = 128,     /* larger temporaries go to scratch memory */
	STACK_BUDGET_LOOPS = 96, /* of temporaries per function when callbacks share the stack */
	INLINE_COPY_MAX = 128,   /* larger copies call a helper */
	PAGE_BITS = 12,
	MAX_PAGES = 5, /* of one value, that are waited for */
};

struct mem lower_scratch(struct lower *l, u32 size)
{
	struct mem m = mem_of(ir_get(l->f, l->scratch), (i32)l->scratch_at);
	l->scratch_at += ALIGN_UP(size, 8u);
	l->scratch_max = MAX(l->scratch_max, l->scratch_at);
	return m;
}

struct mem lower_tmp(struct lower *l, u32 size)
{
	u32 bytes = ALIGN_UP(size, 8u);
	bool fits = bytes <= STACK_TMP_MAX &&
		    (!l->tight || l->f->stack_at + bytes <= STACK_BUDGET_LOOPS);
	struct ref slot = fits ? ir_slot(l->f, bytes) : REF_NONE;
	return ref_is(slot) ? mem_of(slot, 0) : lower_scratch(l, size);
}

struct ref lower_addr(struct lower *l, struct mem m)
{
	if (m.base.kind == R_SLOT)
		return ir_addr(l->f, m.base, m.off);
	return m.off ? ir_addi(l->f, m.base, m.off) : m.base;
}

struct ref lower_acquire(struct lower *l, u32 w, struct ref base, i32 off)
{
	return l->c->host->arch->keeps_order ? ir_load(l->f, w, base, off)
					     : ir_acquire(l->f, w, base, off);
}

/* Where the instruction is not known, an exchange is one, and more. */
void lower_release(struct lower *l, struct ref base, i32 off, struct ref val)
{
	if (l->c->host->arch->keeps_order)
		ir_store(l->f, 8, base, off, val);
	else if (host_has(l->c->host, FEAT_ORDERED))
		ir_release(l->f, 8, base, off, val);
	else
		ir_atomic(l->f, O_XCHG, 8, base, off, val);
}

struct ref lower_load(struct lower *l, u32 size, bool sign, struct mem m)
{
	return sign && size < 8 ? ir_loads(l->f, size, m.base, m.off)
				: ir_load(l->f, size, m.base, m.off);
}

void lower_store(struct lower *l, u32 size, struct mem m, struct ref val)
{
	ir_store(l->f, size, m.base, m.off, val);
}

/* Largest power of two that may be moved at this offset with so many bytes left; loose: wherever it
 * is. */
static u32 chunk(i32 off, u32 left, bool loose)
{
	u32 w = 8;
	while (w > left || (!loose && (off & (i32)(w - 1))))
		w /= 2;
	return w;
}

void lower_zero(struct lower *l, struct mem m, u32 size)
{
	struct fn *f = l->f;
	if (size > INLINE_COPY_MAX) { /* reading from address 0 fails, and a failed read clears its
					 target */
		ir_call(f, BPF_FUNC_probe_read_kernel,
			ARGS(lower_addr(l, m), ir_con(f, size), ir_con(f, 0)));
		return;
	}
	for (u32 i = 0, w; i < size; i += w) {
		w = chunk(m.off + (i32)i, size - i, m.loose);
		ir_store(f, w, m.base, m.off + (i32)i, ir_con(f, 0));
	}
}

void lower_bytes(struct lower *l, struct mem dst, const void *data, u32 size)
{
	const u8 *p = data;
	for (u32 i = 0, w; i < size; i += w) {
		u64 v = 0;
		w = chunk(dst.off + (i32)i, size - i, dst.loose);
		memcpy(&v, p + i, w);
		ir_store(l->f, w, dst.base, dst.off + (i32)i, ir_con(l->f, v));
	}
}

void lower_copy(struct lower *l, struct mem dst, struct mem src, u32 size)
{
	struct fn *f = l->f;
	if (ref_eq(dst.base, src.base) && dst.off == src.off)
		return;
	if (size > INLINE_COPY_MAX) {
		ir_call(f, BPF_FUNC_probe_read_kernel,
			ARGS(lower_addr(l, dst), ir_con(f, size), lower_addr(l, src)));
		return;
	}
	for (u32 i = 0, w; i < size; i += w) {
		w = MIN(chunk(dst.off + (i32)i, size - i, dst.loose),
			chunk(src.off + (i32)i, size - i, false));
		ir_store(f, w, dst.base, dst.off + (i32)i,
			 ir_load(f, w, src.base, src.off + (i32)i));
	}
}

static u32 read_helper(enum space space, bool str)
{
	switch (space) {
	case AS_USER: return str ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user;
	case AS_NONE: return str ? BPF_FUNC_probe_read_str : BPF_FUNC_probe_read;
	case AS_STACK:
	case AS_MAP:
	case AS_CTX:
	case AS_BTF:
	case AS_KERNEL: break;
	}
	return str ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel;
}

/* ---- reads that fail ---- */

/* A block of code that hardly ever runs. */
static struct blk *rare_blk(struct lower *l)
{
	struct blk *b = ir_blk(l->f);
	b->unlikely = true;
	return b;
}

/*
 * Scripts read at NULL and look at the result: without -k that is not counted. Addresses of processes
 * are numbers: 0 or 1 is added, as the verifier would walk through both sides of a branch. Others may
 * be pointers, which can only be compared.
 */
static void count_fault(struct lower *l, enum space space, struct ref addr)
{
	struct fn *f = l->f;
	u32 page = l->c->host->page_size;
	if (space == AS_USER && !l->u->config.warnings) {
		struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(l->u->stats->index));
		struct ref minus =
			ir_op1(f, O_NEG, 8, ir_op2(f, O_SHR, addr, ir_con(f, PAGE_BITS)));
		ir_xadd(f, 8, p, (i32)(8 * (STAT_WORDS_PER_PROG * l->prog->index + STAT_FAULT)),
			ir_op2(f, O_SHR, minus, ir_con(f, 63)));
		return;
	}
	struct blk *count = rare_blk(l), *go = rare_blk(l);
	if (l->u->config.warnings)
		ir_jmp(f, count);
	else
		ir_br(f, O_UGE, addr, ir_con(f, page), count, go);
	ir_at(f, count);
	lower_stat(l, STAT_FAULT);
	if (l->u->config.warnings)
		lower_warn(l, f->loc,
			   "A read of memory failed (bad address), and gave 0 or an empty text.");
	ir_jmp(f, go);
	ir_at(f, go);
}

/* Brings the pages with the first bytes behind an address into memory; that may sleep. */
static void page_in(struct lower *l, struct ref addr, u32 size)
{
	struct fn *f = l->f;
	u32 page = l->c->host->page_size, mark = ir_slot_mark(f);
	u32 n = MIN((size + page - 2) / page, MAX_PAGES - 1u); /* pages that may follow the first */
	struct mem byte = lower_tmp(l, 8);
	struct ref to = lower_addr(l, byte), one = ir_con(f, 1);
	struct ref next = ir_op2(f, O_OR, addr, ir_con(f, page - 1));
	lower_store(l, 8, byte, ir_con(f, 0));
	ir_call(f, BPF_FUNC_copy_from_user, ARGS(to, one, addr));
	for (u32 i = 0; i < n; i++)
		ir_call(f, BPF_FUNC_copy_from_user,
			ARGS(to, one, ir_addi(f, next, 1 + (i64)i * page)));
	if (byte.base.kind == R_SLOT)
		ir_slot_release(f, mark);
	l->prog->sleeps = true;
}

static struct ref call_reader(struct lower *l, const struct try_read *t)
{
	return ir_call(l->f, read_helper(t->space, t->str), ARGS(t->dst, t->size, t->addr));
}

/* Goes on where that was done as often as it may be. */
static void wait_and_redo(struct lower *l, const struct try_read *t)
{
	struct fn *f = l->f;
	struct blk *wait = rare_blk(l), *failed = rare_blk(l);
	struct ref tries = ir_get(f, l->redo->tries);
	ir_br(f, O_ULT, tries, ir_con(f, l->redo->most), wait, failed);
	ir_at(f, wait);
	lower_redo(l, l->redo);
	page_in(l, t->addr, t->most);
	ir_set(f, l->redo->tries, ir_addi(f, tries, 1));
	ir_jmp(f, l->redo->start);
	ir_at(f, failed);
}

/*
 *	call; less than it must be: bad; go
 *	bad: no failure: empty
 *	     page in; in a record: begin it again
 *	     call again; as it must be: go
 *	     count
 *	empty: what a failed read leaves; go
 */
struct ref lower_try_read(struct lower *l, const struct try_read *t)
{
	struct fn *f = l->f;
	struct blk *bad = rare_blk(l), *empty = rare_blk(l), *go = ir_blk(f);
	go->unlikely = f->cur->unlikely;
	bool waits = t->space == AS_USER && l->may_sleep;
	u64 size;
	struct ref v = ir_var(f), got = call_reader(l, t), least = ir_con(f, t->str);
	ir_set(f, v, got);
	ir_br(f, O_SLT, got, least, bad, go);
	ir_at(f, bad);
	/* 0: there was no room, or the text of a process is empty: before Linux 6.2 its NUL did not count. */
	if (t->str && (t->space == AS_USER || !ir_is_con(f, t->size, &size))) {
		struct blk *failed = rare_blk(l);
		ir_br(f, O_EQ, got, ir_con(f, 0), empty, failed);
		ir_at(f, failed);
	}
	if (waits && l->redo) {
		wait_and_redo(l, t);
	} else if (waits) {
		struct blk *failed = rare_blk(l);
		page_in(l, t->addr, t->most);
		got = call_reader(l, t);
		ir_set(f, v, got);
		ir_br(f, O_SLT, got, least, failed, go);
		ir_at(f, failed);
	}
	count_fault(l, t->space, t->addr);
	ir_jmp(f, empty);
	ir_at(f, empty);
	if (t->str && !t->zeroed)
		ir_store(f, 1, t->dst, 0, ir_con(f, 0));
	ir_set(f, v, least);
	ir_jmp(f, t->failed ? t->failed : go);
	ir_at(f, go);
	return ir_get(f, v);
}

void lower_read_user(void *reader, struct ref slot, u32 size, struct ref addr)
{
	struct lower *l = reader;
	const struct try_read t = {
		.space = AS_USER,
		.zeroed = true,
		.dst = slot,
		.size = ir_con(l->f, size),
		.addr = addr,
		.most = size,
	};
	lower_try_read(l, &t);
}

/* Address base + off as a number for a read helper. */
static struct ref source(struct lower *l, struct ref base, i32 off)
{
	if (base.kind == R_SLOT)
		return ir_addr(l->f, base, off);
	return off ? ir_addi(l->f, base, off) : base;
}

void lower_read(struct lower *l, struct mem dst, u32 size, struct ref addr, i32 off,
		enum space space)
{
	bool direct = space == AS_STACK || space == AS_MAP ||
		      (space == AS_CTX && size <= INLINE_COPY_MAX);
	if (direct) {
		lower_copy(l, dst, mem_of(addr, off), size);
		return;
	}
	lower_try_read(l, &(struct try_read){.space = space,
					     .dst = lower_addr(l, dst),
					     .size = ir_con(l->f, size),
					     .most = size,
					     .addr = source(l, addr, off)});
}

/* The first n bytes at m, which need not be aligned (the stack takes nothing else), as an unsigned number. */
static struct ref load_bytes(struct lower *l, u32 n, struct mem m)
{
	struct fn *f = l->f;
	struct ref v = ir_con(f, 0);
	for (u32 i = 0, w; i < n; i += w) {
		w = chunk(m.off + (i32)i, n - i, false);
		struct ref part = lower_load(l, w, false, mem_at(m, (i32)i));
		v = i ? ir_op2(f, O_OR, v, ir_op2(f, O_SHL, part, ir_con(f, 8ull * i))) : part;
	}
	return v;
}

static bool is_mapped(enum space space)
{
	return space == AS_STACK || space == AS_MAP || space == AS_CTX || space == AS_BTF;
}

struct ref lower_read_scalar(struct lower *l, const struct type *t, struct ref addr, i32 off,
			     enum space space)
{
	u32 size = t->size == 1 || t->size == 2 || t->size == 4 ? t->size : 8;
	if (is_mapped(space) && off % (i32)size && addr.kind == R_SLOT) { /* of a packed struct */
		struct ref v = load_bytes(l, size, mem_of(addr, off)),
			   unused = ir_con(l->f, 64 - 8 * size);
		return t->is_signed && size < 8
			       ? ir_op2(l->f, O_SAR, ir_op2(l->f, O_SHL, v, unused), unused)
			       : v;
	}
	if (is_mapped(space))
		return lower_load(l, size, t->is_signed, mem_of(addr, off));
	u32 mark = ir_slot_mark(l->f);
	struct mem tmp = lower_tmp(l, 8);
	lower_read(l, tmp, size, addr, off, space);
	struct ref v = lower_load(l, size, t->is_signed, tmp);
	if (tmp.base.kind == R_SLOT)
		ir_slot_release(l->f, mark);
	return v;
}

void lower_last_char(struct lower *l, struct mem dst, u32 size, struct ref len, struct place p,
		     bool cut)
{
	struct fn *f = l->f;
	struct mem last = mem_at(dst, (i32)size - 1);
	i32 off = p.off + (i32)size - 1;
	struct blk *full = ir_blk(f), *more = ir_blk(f), *done = ir_blk(f);
	bool load = p.space == AS_CTX || p.space == AS_BTF; /* as short as a jump there and back */
	full->unlikely = !load;
	more->unlikely = true;
	ir_br(f, O_EQ, len, ir_con(f, size), full, done);
	ir_at(f, full);
	if (load)
		lower_store(l, 1, last, lower_load(l, 1, false, mem_of(p.base, off)));
	else
		lower_read(l, last, 1, p.base, off, p.space);
	if (cut) {
		ir_br(f, O_NE, lower_load(l, 1, false, last), ir_con(f, 0), more, done);
		ir_at(f, more);
		lower_stat(l, STAT_TRUNC);
	}
	ir_jmp(f, done);
	ir_at(f, done);
}

struct ref lower_read_str(struct lower *l, struct mem dst, u32 size, struct ref addr,
			  enum space space)
{
	struct fn *f = l->f;
	if (!dst.nopad)
		lower_zero(l, dst, size);
	addr = addr.kind == R_SLOT ? ir_addr(f, addr, 0) : addr;
	struct ref len = lower_try_read(l, &(struct try_read){.space = space,
							      .str = true,
							      .zeroed = !dst.nopad,
							      .dst = lower_addr(l, dst),
							      .size = ir_con(f, size),
							      .most = size,
							      .addr = addr});
	if (dst.tail)
		*dst.tail = len;
	return len;
}

/* size bytes at byte from p's base: 1, 2, 4 or 8. need: so many of them are the struct's. */
static struct ref read_part(struct lower *l, struct place p, i32 byte, u32 size, u32 need)
{
	enum space space = p.space == AS_BTF ? AS_KERNEL : p.space;
	bool own = p.base.kind == R_SLOT && is_mapped(space); /* what lies behind it is not read */
	return own ? load_bytes(l, MIN(need, size), mem_of(p.base, byte))
		   : lower_read_scalar(l, type_int(size, false), p.base, byte, space);
}

static struct ref read_bits(struct lower *l, const struct type *t, struct place p)
{
	struct fn *f = l->f;
	u32 size = t->size == 1 || t->size == 2 || t->size == 4 ? t->size : 8;
	i32 byte = p.off + (i32)(p.bit_off / (size * 8) * size);
	u32 bit = p.bit_off % (size * 8);
	if (bit + p.bit_len > size * 8) { /* across a boundary: take it by bytes */
		byte = p.off + (i32)(p.bit_off / 8);
		bit = p.bit_off % 8;
		size = 8;
	}
	struct ref v = read_part(l, p, byte, size, (bit + p.bit_len + 7) / 8), rest;
	if (bit + p.bit_len > 64) { /* a packed one: the rest is in a ninth byte */
		rest = read_part(l, p, byte + 8, 1, 1);
		v = ir_op2(f, O_SHR, v, ir_con(f, bit));
		v = ir_op2(f, O_OR, v, ir_op2(f, O_SHL, rest, ir_con(f, 64 - bit)));
		bit = 0;
	}
	v = ir_op2(f, O_SHL, v, ir_con(f, 64 - bit - p.bit_len));
	return ir_op2(f, t->is_signed ? O_SAR : O_SHR, v, ir_con(f, 64 - p.bit_len));
}

struct ref lower_read_place(struct lower *l, const struct type *t, struct place p)
{
	return p.bit_len ? read_bits(l, t, p) : lower_read_scalar(l, t, p.base, p.off, p.space);
}
