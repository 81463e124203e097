/*
 * cfi_code.c - rows of a function of x86_64, from its instructions.
 *
 * It is read from its first instruction on, keeping count of what is on the stack, several times:
 * then it is known what each jump inside it brings along. Code that no jump leads to is another
 * function when this one has ended, else unknown unless there is a frame pointer.
 */
#include "sym/cfi_code.h"
#include "base/alloc.h"
#include <elf.h>
#include <string.h>

enum {
	WORD = 8,
	MAX_FUNCTION = 1 << 20,
	MAX_TARGETS = 1024,
	SLOT_BITS = 12,
	SLOTS = 1 << SLOT_BITS,
	ALIGNED = 16,
	ROUNDS = 3,  /* until what jumps bring along is known */
	NEAR = 8192, /* jumps that lead further go to code that is put aside */
	LOST = -1,
	REG_SP = 4, /* as instructions number them */
	REG_FP = 5,
	REG_KEPT = 3,
};

/* In bytes: from the stack pointer, the frame pointer and the other register to the frame's beginning
 * (0: not known); below that, where the caller's registers are (0: still in them). */
struct frame {
	i32 sp, fp, kept, fp_at, kept_at;
};
static const struct frame first_frame = {.sp = WORD}, no_frame = {.fp_at = LOST, .kept_at = LOST};

struct target {
	u32 at;
	u32 by;      /* the first jump to it ends here */
	bool called; /* a function begins */
	bool known;  /* what it is jumped to with */
	struct frame frame;
};
struct code_walk {
	struct cfi *c;
	const struct code_function *f;
	struct codes code; /* of the function */
	struct frame now, base, branch;
	bool dead, guess, called, padded, has_base,
		has_branch; /* branch: what the latest jump by a table had */
	bool news;          /* in this pass a jump brought something else than before */
	struct target *target;
	u32 ntarget;
	u16 slot[SLOTS];    /* by hash: 1 + an index of target */
	struct cfi_fde fde; /* .n rows, in the last pass */
	enum { PLACES, FRAMES, ROWS } pass;
};

/* ---- what a frame is as a rule ---- */

static u32 where_of(i32 at, u32 most, u32 lost)
{
	if (!at)
		return 0;
	return at > 0 && at % WORD == 0 && (u32)at / WORD <= most ? (u32)at / WORD : lost;
}

static u32 rule_of(const struct frame *f)
{
	u32 where = unwind_regs(where_of(f->fp_at, UNWIND_FP_MAX, UNWIND_FP_LOST),
				where_of(f->kept_at, UNWIND_KEPT_MAX, UNWIND_KEPT_LOST));
	i32 limit = WORD << (UNWIND_OFF_BITS - 2);
	/* As long as it is there, the frame pointer is better: functions that are called may take
	 * what was pushed for them off the stack. */
	if (f->fp == 2 * WORD && f->fp_at == 2 * WORD)
		return unwind_rule(UNWIND_FP, 2, where);
	if (f->sp >= WORD && f->sp % WORD == 0 && f->sp < limit)
		return unwind_rule(UNWIND_SP, f->sp / WORD, where);
	if (f->fp >= WORD && f->fp % WORD == 0 && f->fp < limit)
		return unwind_rule(UNWIND_FP, f->fp / WORD, where);
	if (f->kept >= WORD && f->kept % WORD == 0 && f->kept < WORD << (UNWIND_REG_OFF_BITS - 2))
		return unwind_reg_rule(UNWIND_REG, REG_KEPT, f->kept / WORD, where);
	return UNWIND_UNKNOWN;
}

static void put_row(struct code_walk *w, u32 at, u32 rule)
{
	struct cfi *c = w->c;
	u64 pc = w->f->from + at - c->base;
	if (w->pass != ROWS || pc > UINT32_MAX)
		return;
	struct cfi_row *last = w->fde.n ? &c->row.v[c->row.n - 1] : NULL;
	if (last && last->pc == (u32)pc)
		last->rule = rule;
	if (last && last->rule == rule)
		return;
	vec_add(&c->row, (struct cfi_row){(u32)pc, rule});
	w->fde.n++;
}

/* ---- one instruction ---- */

struct op {
	const u8 *p; /* behind the prefixes */
	u32 n;
	u8 rex, code;
	bool narrow;
	u32 end; /* in the function */
};

static struct op op_of(const u8 *p, u32 n, u32 end)
{
	struct op o = {.p = p, .n = n, .end = end};
	while (o.n > 1 && (*o.p == 0x66 || *o.p == 0xf2 || *o.p == 0xf3 || *o.p == 0x2e ||
			   *o.p == 0x3e || *o.p == 0x64 || *o.p == 0x65 || *o.p == 0xf0)) {
		o.narrow |= *o.p == 0x66;
		o.p++;
		o.n--;
	}
	if (o.n > 1 && (*o.p & 0xf0) == 0x40) {
		o.rex = *o.p++;
		o.n--;
	}
	o.code = *o.p;
	return o;
}

static i32 number(const u8 *p, u32 n)
{
	i32 v = 0;
	if (n == 1)
		return (i8)*p;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void moved(struct frame *f, i32 by)
{
	i64 sp = (i64)f->sp + by;
	if (f->sp)
		f->sp = sp >= WORD && sp < 1 << 30 ? (i32)sp : 0;
}

static void pushed(struct frame *f, const struct op *o)
{
	u8 reg = o->code & 7;
	moved(f, WORD);
	if (o->narrow)
		f->sp = 0;
	if (o->rex & 1 || (o->code & 0xf8) != 0x50)
		return;
	if (reg == REG_FP && !f->fp_at)
		f->fp_at = f->sp ? f->sp : LOST;
	if (reg == REG_KEPT && !f->kept_at)
		f->kept_at = f->sp ? f->sp : LOST;
}

static void popped(struct frame *f, const struct op *o)
{
	u8 reg = o->code & 7;
	bool low = !(o->rex & 1);
	if (low && reg == REG_FP) {
		if (f->fp_at == f->sp || !f->sp)
			f->fp_at = 0;
		f->fp = 0;
	}
	if (low && reg == REG_KEPT) {
		if (f->kept_at == f->sp || !f->sp)
			f->kept_at = 0;
		f->kept = 0;
	}
	moved(f, -WORD);
	if (o->narrow || (low && reg == REG_SP))
		f->sp = 0;
}

/* Where a register that is written now points to, if it is one of the three. */
static i32 *base_of(struct frame *f, u8 reg)
{
	return reg == REG_SP ? &f->sp : reg == REG_FP ? &f->fp : reg == REG_KEPT ? &f->kept : NULL;
}

static void set_base(struct frame *f, u8 reg, i64 to)
{
	i32 *base = base_of(f, reg);
	if (base)
		*base = to >= WORD && to < 1 << 30 ? (i32)to : 0;
}

struct modrm {
	u8 mod, reg, rm;
	bool wide, by_sp; /* by_sp: [rsp + off] */
	i32 off;
};

static struct modrm modrm_of(const struct op *o)
{
	u8 m = o->n > 1 ? o->p[1] : 0;
	struct modrm r = {.mod = m >> 6, .wide = o->rex & 8};
	r.reg = (m >> 3 & 7) | (u8)((o->rex & 4) << 1);
	r.rm = (m & 7) | (u8)((o->rex & 1) << 3);
	u32 sib = r.mod != 3 && (m & 7) == 4;
	r.by_sp = sib && o->n > 2 && o->p[2] == 0x24 && !(o->rex & 3);
	if (r.mod == 1 || r.mod == 2)
		r.off = number(o->p + 2 + sib, r.mod == 1 ? 1 : 4);
	return r;
}

static void lea(struct frame *f, const struct modrm *r)
{
	const i32 *base = r->by_sp ? &f->sp : (r->rm & 7) == 4 ? NULL : base_of(f, r->rm);
	bool plain = r->wide && (r->mod == 1 || r->mod == 2) && base && *base;
	set_base(f, r->reg, plain ? (i64)*base - r->off : 0);
}

static void mov(struct frame *f, u8 dst, u8 src, bool wide)
{
	const i32 *base = base_of(f, src);
	set_base(f, dst, wide && base ? *base : 0);
}

/* add, sub and others with a number */
static void with_number(struct frame *f, const struct op *o, const struct modrm *r)
{
	i32 n = number(o->p + 2, o->code == 0x83 ? 1 : 4);
	if (r->mod != 3 || r->reg == 7) /* cmp */
		return;
	if (r->rm == REG_SP && r->wide && (r->reg == 5 || r->reg == 0))
		moved(f, r->reg == 5 ? n : -n);
	else
		set_base(f, r->rm, 0);
}

/* Where they change one of the three registers. */
static void arithmetic(struct frame *f, const struct op *o)
{
	struct modrm r = modrm_of(o);
	switch (o->code) {
	case 0x81:
	case 0x83: with_number(f, o, &r); return;
	case 0x8d: lea(f, &r); return;
	case 0x89:
		if (r.mod == 3)
			mov(f, r.rm, r.reg, r.wide);
		return;
	case 0x8b: mov(f, r.reg, r.mod == 3 ? r.rm : 0, r.wide && r.mod == 3); return;
	case 0xc9: /* leave */
		f->sp = f->fp;
		moved(f, -WORD);
		f->fp = f->fp_at = 0;
		return;
	case 0x01:
	case 0x09:
	case 0x21:
	case 0x29:
	case 0x31:
	case 0x87:
		if (r.mod == 3)
			set_base(f, r.rm, 0);
		return;
	case 0x03:
	case 0x0b:
	case 0x23:
	case 0x2b:
	case 0x33: set_base(f, r.reg, 0); return;
	case 0xb8 ... 0xbf:
		if (!(o->rex & 1))
			set_base(f, o->code & 7, 0);
		return;
	case 0x94: /* xchg */
	case 0xc8: /* enter */ f->sp = 0; return;
	default: return;
	}
}

static void change(struct frame *f, const struct op *o)
{
	switch (o->code) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c: pushed(f, o); return;
	case 0x58 ... 0x5f: popped(f, o); return;
	case 0x8f:
	case 0x9d: moved(f, o->narrow ? -f->sp : -WORD); return;
	case 0xff:
		if (o->n > 1 && (o->p[1] >> 3 & 7) == 6)
			moved(f, WORD);
		return;
	default: arithmetic(f, o); return;
	}
}

/* mov rax, 15; syscall: where handlers of signals return to. That address is looked up by the byte
 * before it, which C libraries put there. */
bool code_is_signal_return(const u8 *p, u64 n)
{
	static const u8 wide[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5},
			plain[] = {0xb8, 15, 0, 0, 0, 0x0f, 5};
	return (n >= sizeof(wide) && !memcmp(p, wide, sizeof(wide))) ||
	       (n >= sizeof(plain) && !memcmp(p, plain, sizeof(plain)));
}

/* ---- a function ---- */

/* Where in the table a place is, or would be. */
static u16 *slot_of(struct code_walk *w, u32 at)
{
	u32 i = at * 2654435761u >> (32 - SLOT_BITS);
	while (w->slot[i] && w->target[w->slot[i] - 1].at != at)
		i = (i + 1) % SLOTS;
	return &w->slot[i];
}

static struct target *target_at(struct code_walk *w, u32 at)
{
	u16 n = *slot_of(w, at);
	return n ? &w->target[n - 1] : NULL;
}

static void target_add(struct code_walk *w, u32 at)
{
	if (w->ntarget == MAX_TARGETS)
		return;
	*slot_of(w, at) = (u16)(w->ntarget + 1);
	w->target[w->ntarget++] = (struct target){.at = at, .by = UINT32_MAX};
}

/* Does code before this place jump behind it? What begins at a multiple of 16 may be another function
 * though jumps of its own lead further. */
static bool targets_ahead(const struct code_walk *w, u32 at)
{
	bool aligned = !((w->f->from + at) % ALIGNED);
	for (u32 i = 0; i < w->ntarget; i++) {
		const struct target *t = &w->target[i];
		if (t->at > at && t->at - at < NEAR && (!aligned || t->by <= at))
			return true;
	}
	return false;
}

/* Of what comes from two sides. Who takes room on the stack as he needs it has a frame pointer. */
static struct frame joined(const struct frame *a, const struct frame *b)
{
	struct frame f = *a;
	if (a->sp != b->sp && ((a->fp && a->fp == b->fp) || (a->kept && a->kept == b->kept)))
		f.sp = 0;
	if (a->fp != b->fp)
		f.fp = 0;
	if (a->kept != b->kept)
		f.kept = 0;
	if (a->fp_at != b->fp_at)
		f.fp_at = LOST;
	if (a->kept_at != b->kept_at)
		f.kept_at = LOST;
	return f;
}

static i64 jump_target(const struct op *o)
{
	bool far = o->code == 0xe9 || o->code == 0xe8 || o->code == 0x0f;
	return (i64)o->end + number(o->p + o->n - (far ? 4 : 1), far ? 4 : 1);
}

/* False: it leads elsewhere. */
static bool jumps(struct code_walk *w, const struct op *o)
{
	i64 to = jump_target(o);
	if (to < 0 || to >= w->code.n)
		return false;
	struct target *t = target_at(w, (u32)to);
	if (!t) {
		target_add(w, (u32)to);
		t = target_at(w, (u32)to);
	}
	if (!t)
		return true;
	t->by = MIN(t->by, o->end);
	if (o->code == 0xe8) {
		t->called = true;
		t->frame = first_frame;
	} else if (w->pass == FRAMES && !t->called && !w->guess) {
		struct frame f = t->known ? joined(&t->frame, &w->now) : w->now;
		w->news |= !t->known || memcmp(&f, &t->frame, sizeof(f));
		t->frame = f;
		t->known = true;
	}
	return true;
}

static bool is_padding(const struct op *o)
{
	return o->code == 0x90 || o->code == 0xcc ||
	       (o->code == 0x0f && o->n > 1 && o->p[1] == 0x1f);
}

/* Does another function jump there, if something holds? */
static bool is_part(const struct code_function *f, u64 addr)
{
	u32 lo = 0, hi = f->njumped;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (f->jumped[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->njumped && f->jumped[lo] == addr;
}

/* What holds where nobody comes from the instruction before. */
static void revive(struct code_walk *w, u32 at, const struct op *o)
{
	const struct target *t = target_at(w, at);
	bool known = t && (t->known || t->called), far = !t && !targets_ahead(w, at);
	if (!t && is_padding(o))
		return;
	w->dead = false;
	w->guess = !known && !far;
	if (known) {
		w->now = t->frame;
	} else if (is_part(w->f, w->f->from + at)) {
		w->now = no_frame;
		w->guess = true;
	} else if (far && !w->has_branch) { /* the next function */
		w->now = first_frame;
		w->has_base = false;
	} else if (w->has_branch) {
		w->now = w->branch;
	} else {
		w->now = w->has_base ? w->base : no_frame;
		w->now.sp = 0;
	}
}

static void leave(struct code_walk *w, const struct insn *i, const struct op *o)
{
	bool direct = o->code == 0xe9 || o->code == 0xeb;
	if (i->kind == CODE_RET || (o->code == 0x0f && o->n > 1 && o->p[1] == 0x0b) ||
	    o->code == 0xf4) {
		w->dead = true;
	} else if (i->kind == CODE_JUMP && direct) {
		/* Behind a jump to a loop's condition stands the loop. */
		bool inside = jumps(w, o), on = inside && jump_target(o) > o->end;
		w->dead = !on || target_at(w, o->end) || w->now.sp == WORD;
	} else if (i->kind == CODE_JUMP) {
		w->dead = true;
		if (w->now.sp != WORD) { /* by a table: else it is a call at the end */
			w->branch = w->now;
			w->has_branch = true;
		}
	} else if (o->code == 0xe8 || (o->code >= 0x70 && o->code <= 0x7f) ||
		   (o->code == 0x0f && o->n > 1 && (o->p[1] & 0xf0) == 0x80)) {
		jumps(w, o);
	}
}

static void pass(struct code_walk *w)
{
	struct insn i;
	u32 at = 0, next = 0;
	w->now = w->f->part ? no_frame : first_frame;
	w->guess = w->f->part;
	w->news = w->dead = w->called = w->padded = w->has_base = w->has_branch = false;
	while (at < w->code.n) {
		if (!code_next(&w->code, &next, &i)) {
			put_row(w, at, UNWIND_NONE);
			return;
		}
		struct op o = op_of(w->code.p + at, next - at, next);
		if (code_is_signal_return(w->code.p + at, w->code.n - at)) {
			put_row(w, at ? at - 1 : 0, unwind_rule(UNWIND_SIGNAL, 0, 0));
			code_next(&w->code, &next, &i);
			w->dead = true;
			at = next;
			continue;
		}
		const struct target *t = target_at(w, at);
		bool known = t && (t->known || t->called), padding = is_padding(&o);
		/* Behind a call that does not return there may be another function. */
		w->dead |=
			w->called && w->padded && !padding && !t && !((w->f->from + at) % ALIGNED);
		if (w->dead || (t && t->called) || (known && w->guess))
			revive(w, at, &o);
		else if (known && w->called && t->frame.fp != w->now.fp)
			w->now = t->frame; /* what was called may never return */
		else if (known)
			w->now = joined(&t->frame, &w->now);
		if (!w->dead) {
			put_row(w, at, rule_of(&w->now));
			change(&w->now, &o);
			if (w->now.fp && w->now.fp_at > 0 && !w->has_base) {
				w->base = w->now;
				w->has_base = true;
			}
			leave(w, &i, &o);
			if (!padding)
				w->called = i.kind == CODE_CALL;
			w->padded = padding;
		}
		at = next;
	}
}

static void begin(struct code_walk *w, const struct code_function *f)
{
	u64 n = MIN(f->to - f->from, (u64)MAX_FUNCTION);
	w->f = f;
	w->code = (struct codes){f->p, (u32)n, EM_X86_64};
	w->fde = (struct cfi_fde){.pc = f->from, .end = f->from + n, .first = w->c->row.n};
}

void code_function(struct code_walk *w, const struct code_function *f)
{
	begin(w, f);
	w->ntarget = 0;
	memset(w->slot, 0, sizeof(w->slot));
	w->pass = PLACES;
	pass(w);
	w->pass = FRAMES;
	w->news = w->ntarget > 0;
	for (u32 i = 0; i < ROUNDS && w->news; i++)
		pass(w);
	w->pass = ROWS;
	pass(w);
	if (w->fde.n)
		vec_add(&w->c->fde, w->fde);
}

void code_signal_return(struct code_walk *w, const struct code_function *f)
{
	begin(w, f);
	w->pass = ROWS;
	put_row(w, 0, unwind_rule(UNWIND_SIGNAL, 0, 0));
	vec_add(&w->c->fde, w->fde);
}

struct code_walk *code_walk_new(struct cfi *c)
{
	struct code_walk *w = xcalloc(1, sizeof(*w));
	w->c = c;
	w->target = xcalloc(MAX_TARGETS, sizeof(*w->target));
	return w;
}

void code_walk_free(struct code_walk *w)
{
	free(w->target);
	free(w);
}

enum code_way code_way(const struct codes *c, u32 at, u32 next, i64 *to)
{
	struct op o = op_of(c->p + at, next - at, next);
	bool call = o.code == 0xe8, may = o.code == 0x0f && o.n > 1 && (o.p[1] & 0xf0) == 0x80;
	if (o.n < 5 || (!call && !may))
		return CODE_ON;
	*to = jump_target(&o);
	return call ? CODE_CALLS : CODE_MAY_JUMP;
}

bool code_is_padding(const struct codes *c, u32 at, u32 next)
{
	struct op o = op_of(c->p + at, next - at, next);
	return is_padding(&o);
}
