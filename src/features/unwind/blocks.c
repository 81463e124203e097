/* blocks.c - files, their blocks, the rules; see the header. */
#include "unwind/blocks.h"
#include "base/alloc.h"
#include "sym/procs.h"
#include <errno.h>

enum {
	MIN_HASH = 1 << 11,
	/* Code up to this size is made whole when it is first asked for: a library that everybody
	 * uses is then complete after one stack. */
	WHOLE_BLOCKS = 128,
	/* Of larger files a block at first, then each time twice as many around the one that is asked
	 * for: a program that begins soon needs them, and one question takes longer than their rows. */
	MAX_NEAR_BITS = 5,
	EARLY_BLOCKS = 512,  /* or beforehand, when there is time for it; */
	EARLY_LANG = 4096,   /* of an interpreter, whose stacks should not have to wait */
	MAX_LISTS = 8 << 20, /* bytes of lists; over it one is made anew for each block */
	RULE_UNKNOWN = 0,    /* its number */
};

/* ---- rules ---- */

static u32 rule_slot(const struct blocks *b, u32 rule)
{
	u32 i = (rule * 2654435761u >> 8) % b->nhash;
	while (b->hash[i] && b->mem.rules[b->hash[i] - 1] != rule)
		i = (i + 1) % b->nhash;
	return i;
}

/* Room for twice as many; half of it stays empty. */
static void grow_hash(struct blocks *b)
{
	free(b->hash);
	b->nhash = MAX(2 * b->nhash, (u32)MIN_HASH);
	b->hash = xcalloc(b->nhash, sizeof(*b->hash));
	for (u32 i = 0; i < b->nrule; i++)
		b->hash[rule_slot(b, b->mem.rules[i])] = i + 1;
}

static u16 rule_number(struct blocks *b, u32 rule)
{
	u32 slot = rule_slot(b, rule);
	if (b->hash[slot])
		return (u16)(b->hash[slot] - 1);
	if (b->nrule == UNWIND_RULES)
		return RULE_UNKNOWN;
	b->mem.rules[b->nrule] = rule;
	b->hash[slot] = ++b->nrule;
	if (2 * b->nrule > b->nhash)
		grow_hash(b);
	return (u16)(b->nrule - 1);
}

void blocks_init(struct blocks *b, u32 page, const struct blocks_mem *mem)
{
	*b = (struct blocks){.mem = *mem, .page = page, .nindex = 1};
	grow_hash(b);
	rule_number(b, unwind_rule(UNWIND_UNKNOWN, 0, 0));
}

void blocks_free(struct blocks *b)
{
	for (u32 i = 0; i < b->file.n; i++)
		cfi_list_free(&b->file.v[i]->is.list);
	vec_free(&b->file);
	vec_free(&b->chunk);
	sb_free(&b->answer);
	free(b->hash);
	err_free(b->failed);
	arena_free(&b->arena);
}

/* ---- files ---- */

struct ufile *blocks_file(struct blocks *b, const struct module *m)
{
	for (u32 i = 0; i < b->file.n; i++) {
		struct ufile *f = b->file.v[i];
		if (f->ino == m->ino && f->dev == m->dev && f->born_ns == m->born_ns &&
		    str_eq(f->path, m->path))
			return f;
	}
	if (b->file.n == UNWIND_FILES) {
		b->no_file++;
		return NULL;
	}
	struct ufile *f = arena_new(&b->arena, struct ufile);
	*f = (struct ufile){.dev = m->dev,
			    .ino = m->ino,
			    .born_ns = m->born_ns,
			    .path = arena_str(&b->arena, m->path),
			    .id = b->file.n};
	vec_add(&b->file, f);
	return f;
}

/* Lists of others are thrown away when they are too much: each comes back when it is needed. */
static void keep_list(struct blocks *b, struct ufile *f)
{
	u64 bytes = f->is.list.n * sizeof(*f->is.list.v);
	f->listed = f->is.list.n;
	b->list_bytes += bytes;
	if (b->list_bytes <= MAX_LISTS)
		return;
	for (u32 i = 0; i < b->file.n; i++)
		if (b->file.v[i] != f)
			cfi_list_free(&b->file.v[i]->is.list);
	b->list_bytes = bytes;
}

/* Its facts were asked for. */
static bool file_opened(struct blocks *b, struct ufile *f, struct err *e)
{
	f->opened = !e;
	f->refused = e && e->no == EBADMSG;
	b->no_sense += f->refused;
	err_free(e);
	if (!f->opened)
		return false;
	u64 size = cfi_code_size(&f->is, b->page);
	f->nblock = (u32)((size + UNWIND_BLOCK - 1) >> UNWIND_BLOCK_BITS);
	keep_list(b, f);
	return true;
}

static bool file_open(struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg)
{
	if (f->opened || f->refused)
		return f->opened;
	return file_opened(b, f, cfi_ask_facts(ask, arg, b->page, &f->is));
}

bool blocks_pc(struct blocks *b, struct ufile *f, u64 off, cfi_ask *ask, void *arg, u32 *pc)
{
	if (!file_open(b, f, ask, arg))
		return false;
	for (u32 i = 0; i < f->is.nseg; i++) {
		const struct segment *g = &f->is.seg[i];
		if (!segment_maps(g, off, b->page))
			continue;
		u64 at = off - g->off + g->addr - f->is.base;
		*pc = (u32)at;
		return at >> UNWIND_BLOCK_BITS < f->nblock;
	}
	return false;
}

/* ---- chunks ---- */

/* NULL: it cannot be mapped. */
static struct unwind_chunk *chunk_at(struct blocks *b, u32 i)
{
	struct unwind_chunk **c = &b->chunk.v[i];
	struct err *e = *c ? NULL : b->mem.map(b->mem.arg, i, c);
	if (b->failed)
		err_free(e);
	else
		b->failed = e;
	return *c;
}

static struct unwind_block *block_at(struct blocks *b, u32 ref)
{
	u32 unit = ref & ((1u << UNWIND_REF_UNIT_BITS) - 1);
	u32 chunk = (ref & ~(u32)UNWIND_REF) >> UNWIND_REF_UNIT_BITS;
	struct unwind_chunk *c = chunk_at(b, chunk);
	return c ? (struct unwind_block *)c->unit[unit] : NULL;
}

static u32 ref_of(u32 chunk, u32 unit)
{
	return (u32)UNWIND_REF | chunk << UNWIND_REF_UNIT_BITS | unit;
}

static u32 units_of(u32 nrow)
{
	size_t n = sizeof(struct unwind_block) + nrow * sizeof(struct unwind_row);
	return (u32)((n + UNWIND_UNIT - 1) / UNWIND_UNIT);
}

/* Its blocks are not made any more. */
static void forget_chunk(struct blocks *b, u32 chunk)
{
	for (u32 unit = 0; unit < UNWIND_UNITS;) {
		const struct unwind_block *k = block_at(b, ref_of(chunk, unit));
		if (!k || !k->n)
			break;
		if (b->mem.index->block[k->entry] == ref_of(chunk, unit))
			__atomic_store_n(&b->mem.index->block[k->entry], UNWIND_REF_NEW,
					 __ATOMIC_RELEASE);
		unit += units_of(k->n);
	}
	b->evicted++;
}

/* The clock: who was used since the last look is left alone, once. */
static u32 choose_chunk(struct blocks *b)
{
	for (;;) {
		u32 i = b->hand++ % b->chunk.n;
		if (i == b->fill && b->chunk.n > 1)
			continue;
		struct unwind_chunk *c = chunk_at(b, i);
		if (!c || !__atomic_exchange_n(&c->used, 0, __ATOMIC_RELAXED))
			return i;
	}
}

static bool next_chunk(struct blocks *b)
{
	u32 at = b->chunk.n;
	struct unwind_chunk *c;
	if (b->failed)
		return false;
	if (at == b->mem.max_chunks) {
		at = choose_chunk(b);
		forget_chunk(b, at);
	}
	if (b->failed) /* what was there could not be looked at */
		return false;
	b->failed = b->mem.chunk(b->mem.arg, at, &c);
	if (b->failed)
		return false;
	if (at == b->chunk.n)
		vec_add(&b->chunk, c);
	else
		b->chunk.v[at] = c;
	b->fill = at;
	b->units = 0;
	return true;
}

/* ---- blocks ---- */

/* An answer's rules by the numbers that they have here. */
struct numbers {
	struct cfi_rules rules;
	u16 *of;
};

static struct numbers numbers_of(struct blocks *b, struct bytes *answer)
{
	struct numbers x = {0};
	cfi_take_rules(answer, &x.rules); /* else no part makes sense */
	x.of = xcalloc(x.rules.n + 1ul, sizeof(*x.of));
	for (u32 i = 0; i < x.rules.n; i++)
		x.of[i] = rule_number(b, cfi_rule(&x.rules, i));
	b->no_rule += x.rules.left_out;
	return x;
}

/* n rows that lie at v, or (0) that nothing is known. */
static void put_block(struct blocks *b, u32 entry, const struct numbers *x, const u8 *v, u32 nrow)
{
	u32 n = MIN(MAX(nrow, 1u), (u32)UNWIND_ROWS), need = units_of(n);
	if ((!b->chunk.n || b->units + need > UNWIND_UNITS) && !next_chunk(b))
		return;
	u32 ref = ref_of(b->fill, b->units);
	struct unwind_block *k = block_at(b, ref);
	if (!k)
		return;
	b->units += need;
	b->no_row += nrow > n;
	for (u32 i = 0; i < MIN(n, nrow); i++) {
		struct cfi_brief row;
		memcpy(&row, v + i * sizeof(row), sizeof(row));
		k->row[i] = (struct unwind_row){row.pc, x->of[row.rule]};
		if (x->of[row.rule] == RULE_UNKNOWN)
			b->no_rule += unwind_kind(cfi_rule(&x->rules, row.rule)) != UNWIND_UNKNOWN;
	}
	if (nrow != n) /* of the rest nothing is said */
		k->row[n - 1].rule = RULE_UNKNOWN;
	*k = (struct unwind_block){.entry = entry, .n = n};
	b->made++;
	__atomic_store_n(&b->mem.index->block[entry], ref, __ATOMIC_RELEASE);
}

/* Block i of a file. One that makes no sense is not asked for again: it says nothing of its code, and
 * a stack ends there. */
static void take_block(struct blocks *b, const struct ufile *f, struct bytes *answer,
		       const struct numbers *x, u32 i, bool keep)
{
	const u8 *v;
	u32 n, entry = f->first + i;
	bool sense = cfi_take_part(answer, &x->rules, UNWIND_BLOCK, &v, &n);
	b->no_sense += keep && !sense;
	if (keep && b->mem.index->block[entry] == UNWIND_REF_NEW)
		put_block(b, entry, x, v, sense ? n : 0);
}

/* Blocks [from, to); last comes last: making others may empty chunks. */
static void take_blocks(struct blocks *b, const struct ufile *f, struct bytes answer, u32 from,
			u32 to, u32 last)
{
	struct numbers x = numbers_of(b, &answer);
	struct bytes again = answer;
	for (u32 k = from; k < to; k++)
		take_block(b, f, &answer, &x, k, k != last);
	for (u32 k = from; k <= last; k++)
		take_block(b, f, &again, &x, k, k == last);
	free(x.of);
}

/* Its list comes back. */
static bool list_again(struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg)
{
	struct cfi_facts now;
	if (!f->listed || f->is.list.n)
		return true;
	struct err *e = cfi_ask_facts(ask, arg, b->page, &now);
	bool ok = !e;
	err_free(e);
	if (ok) {
		f->is.list = now.list;
		keep_list(b, f);
	}
	return ok && f->listed;
}

static void make_blocks(struct blocks *b, struct ufile *f, u32 i, bool whole, cfi_ask *ask,
			void *arg)
{
	AUTO_SB out = {0};
	u32 near = 1u << MIN(f->asked, (u32)MAX_NEAR_BITS);
	u32 first = whole ? 0 : i & ~(near - 1),
	    n = MIN(whole ? f->nblock : near, f->nblock - first);
	if (b->failed || !list_again(b, f, ask, arg))
		return;
	f->asked++;
	struct cfi_want w = {.base = f->is.base,
			     .from = first << UNWIND_BLOCK_BITS,
			     .to = (first + n) << UNWIND_BLOCK_BITS,
			     .step = UNWIND_BLOCK,
			     .list = &f->is.list};
	struct err *e = cfi_ask_rows(ask, arg, &w, &out);
	if (!e)
		take_blocks(b, f, bytes_of(out.s, out.n), first, first + n, i);
	err_free(e);
}

static bool reach(struct blocks *b, u32 n)
{
	if (b->mem.reach && !b->failed)
		b->failed = b->mem.reach(b->mem.arg, n);
	return !b->failed;
}

/* Room in the index; false: there is none. */
static bool enter(struct blocks *b, struct ufile *f)
{
	if (f->first)
		return true;
	if (f->nblock > UNWIND_INDEX - b->nindex) {
		b->no_index++;
		return false;
	}
	if (!reach(b, b->nindex + f->nblock))
		return false;
	f->first = b->nindex;
	b->nindex += f->nblock;
	for (u32 i = 0; i < f->nblock && f->is.bare; i++)
		b->mem.index->block[f->first + i] = UNWIND_REF_FP;
	__atomic_store_n(&b->mem.index->file[f->id], f->first, __ATOMIC_RELEASE);
	return true;
}

static u32 find_row(const struct unwind_block *k, u16 pc)
{
	u32 lo = 1, hi = k->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (k->row[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

static struct cfi_all early_of(const struct blocks *b)
{
	return (struct cfi_all){b->page, UNWIND_BLOCK, EARLY_BLOCKS};
}

void blocks_ahead(const struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg)
{
	if (f->ahead || f->opened || f->refused)
		return;
	f->ahead = true;
	const struct cfi_all all = early_of(b);
	err_free(cfi_ask_ahead(ask, arg, &all)); /* then it is asked later */
}

void blocks_early(struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg)
{
	const struct cfi_all all = early_of(b);
	struct bytes rows = bytes_of("", 0);
	if (!f->opened && !f->refused)
		file_opened(b, f, cfi_ask_all(ask, arg, &all, &f->is, &b->answer, &rows));
	if (f->early || !f->nblock || f->nblock > (u32)(f->lang ? EARLY_LANG : EARLY_BLOCKS) ||
	    !enter(b, f) || f->is.bare)
		return;
	f->early = true;
	if (!rows.n)
		make_blocks(b, f, 0, true, ask, arg);
	else if (!b->failed)
		take_blocks(b, f, rows, 0, f->nblock, 0);
}

u32 blocks_rule(struct blocks *b, struct ufile *f, u32 pc, cfi_ask *ask, void *arg)
{
	u32 i = pc >> UNWIND_BLOCK_BITS;
	assert(f->opened && i < f->nblock);
	if (!enter(b, f) || f->is.bare)
		return UNWIND_NONE;
	if (b->mem.index->block[f->first + i] == UNWIND_REF_NEW)
		make_blocks(b, f, i, f->nblock <= WHOLE_BLOCKS, ask, arg);
	u32 ref = b->mem.index->block[f->first + i];
	if (!(ref & UNWIND_REF))
		return UNWIND_NONE;
	const struct unwind_block *k = block_at(b, ref);
	return k ? b->mem.rules[k->row[find_row(k, (u16)(pc % UNWIND_BLOCK))].rule] : UNWIND_NONE;
}
