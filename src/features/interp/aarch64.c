/* aarch64.c - what code of an interpreter for aarch64 tells; see common.h. */
#include "interp/common.h"

enum { WORD = 4, PAGE_BITS = 12, REGS = 32 };

static u32 bits(u32 word, u32 from, u32 n)
{
	return word >> from & ((1u << n) - 1);
}

static u64 signed_bits(u32 word, u32 from, u32 n)
{
	u32 v = bits(word, from, n);
	return (u64)((i64)((u64)v << (64 - n)) >> (64 - n));
}

bool aarch64_jump(u32 word, u64 addr, u64 *ret)
{
	static const struct {
		u32 mask, value, from, n;
	} form[] = {
		{0xfc000000, 0x14000000, 0, 26}, /* b */
		{0xff000000, 0x54000000, 5, 19}, /* b.cond */
		{0x7e000000, 0x34000000, 5, 19}, /* cbz, cbnz */
		{0x7e000000, 0x36000000, 5, 14}, /* tbz, tbnz */
	};
	for (u32 i = 0; i < countof(form); i++)
		if ((word & form[i].mask) == form[i].value) {
			*ret = addr + signed_bits(word, form[i].from, form[i].n) * WORD;
			return true;
		}
	return false;
}

enum {
	LOAD_MASK = 0xffc00000, /* ldr .., [xN, #n of its size] */
	LOAD = 0xf9400000,
	LOAD_NEXT_MASK = 0xffe00c00, /* ldr x.., [xN], #n bytes */
	LOAD_NEXT = 0xf8400400,
	LOAD_HALF = 0xb9400000, /* 32 bits; */
	LOAD_SIGNED = 0xb9800000,
	ADRP_MASK = 0x9f000000,
	ADRP = 0x90000000,
	MOVE_MASK = 0xffe0ffe0, /* mov x.., x.. */
	MOVE = 0xaa0003e0,
};

u32 aarch64_jumps_by_register(struct bytes code)
{
	enum { BACK = 6, FAR = 8 }; /* instructions that are looked at; words */
	u32 before[BACK] = {0}, n = 0;
	for (u32 at = 0; code.at + WORD <= code.n; at++) {
		u32 word = bytes_u32(&code), reg = bits(word, 5, 5);
		bool jumps = (word & 0xfffffc1f) == 0xd61f0000; /* br */
		for (u32 i = 1; jumps && i < BACK; i++) {
			u32 load = before[(at + BACK - i) % BACK];
			if (bits(load, 0, 5) != reg)
				continue;
			n += ((load & LOAD_MASK) == LOAD && bits(load, 10, 12) <= FAR) ||
			     (load & LOAD_NEXT_MASK) == LOAD_NEXT;
			break;
		}
		before[at % BACK] = word;
	}
	return n;
}

static bool loads_inner(struct bytes code, u32 reg, u32 inner)
{
	enum { LOOK_AT = 4 };
	for (u32 i = 0; i < LOOK_AT && code.at + WORD <= code.n; i++) {
		u32 word = bytes_u32(&code);
		if (((word & LOAD_MASK) == LOAD_HALF || (word & LOAD_MASK) == LOAD_SIGNED) &&
		    bits(word, 5, 5) == reg && bits(word, 10, 12) * 4 == inner)
			return true;
	}
	return false;
}

bool aarch64_first_member(struct bytes code, u32 inner, i32 *member)
{
	u32 is_first = 1, is_file = 0; /* bits: registers */
	while (code.at + WORD <= code.n) {
		u32 word = bytes_u32(&code), to = 1u << bits(word, 0, 5), from = bits(word, 5, 5);
		bool first = is_first >> from & 1, file = is_file >> from & 1;
		if ((word & LOAD_MASK) == LOAD) {
			if ((first || file) && loads_inner(code, bits(word, 0, 5), inner)) {
				*member = file ? -1 : (i32)(8 * bits(word, 10, 12));
				return true;
			}
			is_first &= ~to;
			/* a table of addresses leads into the file, too */
			is_file = file ? is_file | to : is_file & ~to;
		} else if ((word & ADRP_MASK) == ADRP) {
			is_file |= to;
			is_first &= ~to;
		} else if ((word & MOVE_MASK) == MOVE && is_first >> bits(word, 16, 5) & 1) {
			is_first |= to;
		}
	}
	return false;
}

/* What is known while instructions follow each other. */
struct reader {
	u64 page[REGS]; /* what adrp has put there; 0: nothing is known */
	u64 entry,
		added; /* where the last word came from that a page led to; to the thread pointer */
	u32 thread, loaded;      /* registers: the thread pointer, that word; REGS: none yet */
	u32 called;              /* 1: in a function that the first one has called */
	u64 at;                  /* the instruction's address */
	struct unwind_lang *ret; /* .at is an address still */
};

static bool found(struct reader *r, enum unwind_root root, u64 at)
{
	r->ret->root = root;
	r->ret->at = at;
	return true;
}

/* add xD, xN, #imm */
static void take_sum(struct reader *r, u32 word)
{
	u64 by = (u64)bits(word, 10, 12) << (bits(word, 22, 1) ? PAGE_BITS : 0);
	if (bits(word, 5, 5) != r->thread)
		return;
	r->thread = bits(word, 0, 5);
	r->added += by;
}

/* ldr xT, [xN, #imm]; true: it was the variable. */
static bool take_load(struct reader *r, u32 word)
{
	u32 from = bits(word, 5, 5);
	u64 by = 8ull * bits(word, 10, 12);
	if (from == r->thread)
		return found(r, UNWIND_ROOT_TLS, r->added + by);
	if (r->page[from]) {
		r->entry = r->page[from] + by;
		r->loaded = bits(word, 0, 5);
	}
	return false;
}

/* One instruction; true: the variable is known. */
static bool take(struct reader *r, u32 word)
{
	enum { DESCRIBED = 8 }; /* {function, what it adds to the thread pointer} */
	u32 to = bits(word, 0, 5), from = bits(word, 5, 5), by = bits(word, 16, 5);
	if ((word & 0xffffffe0) == 0xd53bd040) { /* mrs x.., tpidr_el0 */
		r->thread = to;
		r->added = 0;
	} else if ((word & ADRP_MASK) == ADRP) {
		u64 pages = signed_bits(bits(word, 5, 19) << 2 | bits(word, 29, 2), 0, 21);
		r->page[to] = ((r->at >> PAGE_BITS) + pages) << PAGE_BITS;
	} else if ((word & 0xff800000) == 0x91000000) {
		take_sum(r, word);
	} else if ((word & LOAD_MASK) == LOAD) {
		return take_load(r, word);
	} else if ((word & 0xfffffc1f) == 0xd63f0000) { /* blr: of a descriptor */
		return from == r->loaded && found(r, UNWIND_ROOT_TLS_AT, r->entry + DESCRIBED);
	} else if ((word & 0xffe0fc00) == 0xf8606800) { /* ldr x.., [x.., x..] */
		bool is = (from == r->thread && by == r->loaded) ||
			  (from == r->loaded && by == r->thread);
		return is && r->loaded < REGS && found(r, UNWIND_ROOT_TLS_AT, r->entry);
	}
	return false;
}

static bool read_function(const struct image *im, struct reader *r, u64 addr, u64 n)
{
	struct bytes b = file_bytes(im, addr, n);
	for (r->at = addr; b.at + WORD <= b.n; r->at += WORD) {
		u32 word = bytes_u32(&b);
		if (take(r, word))
			return true;
		if ((word & 0xfc000000) == 0x94000000 && !r->called) { /* bl */
			r->called = 1;
			return read_function(im, r, r->at + signed_bits(word, 0, 26) * WORD, n);
		}
	}
	return false;
}

bool aarch64_thread_variable(const struct image *im, u64 base, const struct elf_symbol *fn,
			     struct unwind_lang *l)
{
	enum { LOOK_AT = 16 * WORD };
	struct reader r = {.thread = REGS, .loaded = REGS, .ret = l};
	bool is = read_function(im, &r, fn->addr, LOOK_AT);
	if (is && l->root != UNWIND_ROOT_TLS)
		l->at -= base;
	return is;
}
