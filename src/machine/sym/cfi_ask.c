/* cfi_ask.c - unwind tables as the sandbox reads them. */
#include "sym/cfi_ask.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "sym/procs.h"
#include <elf.h>
#include <errno.h>

enum { MAX_LISTED = 1 << 22 };

/* ---- there ---- */

/* Without a file it is the kernel's page of code, which every process has. */
static struct err *open_file(const struct job *j, struct image *ret)
{
	if (j->nfile)
		return image_map(&j->file[0], j->path, ret);
	return vdso_image(ret) ? NULL : err_new("there is no vdso");
}

static void read_facts(const struct image *im, u32 page, struct cfi_facts *ret)
{
	struct segment seg;
	*ret = (struct cfi_facts){.base = cfi_base(im) & ~(u64)(page - 1)};
	ret->bare = !cfi_list(im, ret->base, &ret->list);
	for (u32 i = 0; image_segment(im, i, &seg); i++)
		if (seg.type == PT_LOAD && seg.flags & PF_X && seg.addr >= ret->base &&
		    ret->nseg < CFI_SEGMENTS)
			ret->seg[ret->nseg++] = seg;
}

static void pack_facts(struct sb *out, const struct cfi_facts *f)
{
	pack_u64(out, f->base);
	pack_u8(out, f->bare);
	for (u32 i = 0; i < f->nseg; i++) {
		pack_u8(out, 1);
		sb_mem(out, &f->seg[i], sizeof(f->seg[i]));
	}
	pack_u8(out, 0);
	sb_mem(out, f->list.v, f->list.n * sizeof(*f->list.v));
}

static struct err *answer_facts(struct job *j)
{
	struct image im;
	struct cfi_facts facts;
	u32 page = bytes_u32(&j->args);
	struct err *e = open_file(j, &im);
	if (e)
		return e;
	read_facts(&im, page, &facts);
	pack_facts(&j->out, &facts);
	cfi_list_free(&facts.list);
	image_close(&im);
	return NULL;
}

/* An answer in the making: the rules that it has by then, and its parts. */
struct brief {
	VEC(u32) rule;
	u32 *slot, nslot; /* number + 1 of a rule, by hash; twice as many as there are rules */
	u32 left_out;
	struct sb parts;
};

static u32 slot_of(const struct brief *x, u32 rule)
{
	u32 i = (rule * 2654435761u >> 8) % x->nslot;
	while (x->slot[i] && x->rule.v[x->slot[i] - 1] != rule)
		i = (i + 1) % x->nslot;
	return i;
}

static void grow(struct brief *x)
{
	free(x->slot);
	x->nslot = x->nslot ? 2 * x->nslot : 256;
	x->slot = xcalloc(x->nslot, sizeof(*x->slot));
	for (u32 i = 0; i < x->rule.n; i++)
		x->slot[slot_of(x, x->rule.v[i])] = i + 1;
}

static u16 number_of(struct brief *x, u32 rule)
{
	u32 i = slot_of(x, rule);
	if (x->slot[i])
		return (u16)(x->slot[i] - 1);
	if (x->rule.n == CFI_RULES) {
		x->left_out++;
		return 0;
	}
	vec_add(&x->rule, rule);
	x->slot[i] = x->rule.n;
	if (2 * x->rule.n > x->nslot)
		grow(x);
	return (u16)(x->rule.n - 1);
}

/* [from, to) of rows, of which *next is the first that may begin there. */
static void put_part(struct brief *x, const struct cfi_rows *r, u32 from, u32 to, u32 *next)
{
	u32 i = *next;
	while (i < r->n && r->v[i].pc <= from)
		i++;
	for (*next = i; *next < r->n && r->v[*next].pc < to;)
		++*next;
	u32 n = *next - i + 1;
	pack_u32(&x->parts, n);
	sb_reserve(&x->parts, n * sizeof(struct cfi_brief));
	struct cfi_brief row = {0, number_of(x, cfi_at(r, from))};
	for (; n; n--, i++) {
		memcpy(x->parts.s + x->parts.n, &row, sizeof(row));
		x->parts.n += sizeof(row);
		if (n > 1)
			row = (struct cfi_brief){(u16)(r->v[i].pc - from),
						 number_of(x, r->v[i].rule)};
	}
}

static void put_rows(struct sb *out, const struct cfi_rows *r, const struct cfi_want *w)
{
	struct brief x = {0};
	grow(&x);
	number_of(&x, unwind_rule(UNWIND_UNKNOWN, 0, 0));
	for (u32 from = w->from, next = 0; from < w->to; from += w->step)
		put_part(&x, r, from, from + w->step, &next);
	pack_u32(out, x.rule.n);
	pack_u32(out, x.left_out);
	sb_mem(out, x.rule.v, x.rule.n * sizeof(*x.rule.v));
	sb_mem(out, x.parts.s, x.parts.n);
	sb_free(&x.parts);
	vec_free(&x.rule);
	free(x.slot);
}

static void rows_of(struct sb *out, const struct image *im, const struct cfi_want *w)
{
	struct cfi_rows rows;
	cfi_part(im, w->base, w->list, w->from, w->to, &rows);
	put_rows(out, &rows, w);
	free(rows.v);
}

static struct err *answer_rows(struct job *j)
{
	struct image im;
	struct bytes *b = &j->args;
	struct cfi_want w = {.base = bytes_u64(b)};
	w.from = bytes_u32(b);
	w.to = bytes_u32(b);
	w.step = bytes_u32(b);
	/* Copied, because args are not aligned. */
	struct cfi_list list = {.n = (u32)((b->n - b->at) / sizeof(*list.v))};
	struct err *e = open_file(j, &im);
	if (e)
		return e;
	list.v = xmalloc(list.n * sizeof(*list.v));
	memcpy(list.v, b->p + b->at, list.n * sizeof(*list.v));
	w.list = &list;
	rows_of(&j->out, &im, &w);
	cfi_list_free(&list);
	image_close(&im);
	return NULL;
}

static struct err *answer_all(struct job *j)
{
	struct image im;
	struct cfi_facts f;
	struct cfi_all all = {.page = bytes_u32(&j->args)};
	all.step = bytes_u32(&j->args);
	all.most = bytes_u32(&j->args);
	struct err *e = open_file(j, &im);
	if (e)
		return e;
	AUTO_SB facts = {0};
	read_facts(&im, all.page, &f);
	pack_facts(&facts, &f);
	pack_str(&j->out, sb_str(&facts));
	u64 size = ALIGN_UP(cfi_code_size(&f, all.page), (u64)all.step);
	struct cfi_want w = {.base = f.base, .to = (u32)size, .step = all.step, .list = &f.list};
	if (!f.bare && size && size <= (u64)all.most * all.step)
		rows_of(&j->out, &im, &w);
	cfi_list_free(&f.list);
	image_close(&im);
	return NULL;
}

/* ---- here ---- */

static bool is_sorted(const struct cfi_list *l)
{
	for (u32 i = 1; i < l->n; i++)
		if (l->v[i].pc < l->v[i - 1].pc)
			return false;
	return true;
}

bool cfi_take_facts(struct bytes b, struct cfi_facts *ret)
{
	*ret = (struct cfi_facts){0};
	ret->base = bytes_u64(&b);
	ret->bare = bytes_u8(&b) & 1;
	while (bytes_u8(&b)) {
		const u8 *p = bytes_take(&b, sizeof(struct segment));
		if (p && ret->nseg < CFI_SEGMENTS)
			memcpy(&ret->seg[ret->nseg++], p, sizeof(struct segment));
	}
	u32 n = (u32)MIN((b.n - b.at) / sizeof(*ret->list.v), (size_t)MAX_LISTED);
	if (b.bad)
		return false;
	for (u32 i = 0; i < ret->nseg; i++)
		if (ret->seg[i].addr < ret->base)
			return false;
	if (!n)
		return true;
	ret->list.v = xmalloc(n * sizeof(*ret->list.v));
	memcpy(ret->list.v, b.p + b.at, n * sizeof(*ret->list.v));
	ret->list.n = n;
	if (is_sorted(&ret->list))
		return true;
	cfi_list_free(&ret->list);
	return false;
}

u64 cfi_code_size(const struct cfi_facts *is, u32 page)
{
	u64 end = is->base;
	for (u32 i = 0; i < is->nseg; i++) {
		u64 at;
		if (__builtin_add_overflow(is->seg[i].addr, is->seg[i].filesz, &at) ||
		    at > UINT64_MAX - page)
			return 0;
		end = MAX(end, ALIGN_UP(at, (u64)page));
	}
	return MIN(end - is->base, (u64)UINT32_MAX);
}

static struct err *no_sense(void)
{
	struct err *e = err_new("its unwind tables make no sense");
	e->no = EBADMSG;
	return e;
}

struct err *cfi_ask_facts(cfi_ask *ask, void *arg, u32 page, struct cfi_facts *ret)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_u32(&args, page);
	struct err *e = ask(arg, answer_facts, sb_str(&args), &out);
	return !e && !cfi_take_facts(bytes_of(out.s, out.n), ret) ? no_sense() : e;
}

static struct err *ask_all(cfi_ask *ask, void *arg, const struct cfi_all *all, struct sb *answer)
{
	AUTO_SB args = {0};
	assert(all->step <= CFI_STEP);
	pack_u32(&args, all->page);
	pack_u32(&args, all->step);
	pack_u32(&args, all->most);
	return ask(arg, answer_all, sb_str(&args), answer);
}

struct err *cfi_ask_ahead(cfi_ask *ask, void *arg, const struct cfi_all *all)
{
	return ask_all(ask, arg, all, NULL);
}

struct err *cfi_ask_all(cfi_ask *ask, void *arg, const struct cfi_all *all, struct cfi_facts *ret,
			struct sb *answer, struct bytes *rows)
{
	struct err *e = ask_all(ask, arg, all, answer);
	if (e)
		return e;
	struct bytes b = bytes_of(answer->s, answer->n);
	struct str facts = unpack_str(&b);
	if (b.bad || !cfi_take_facts(bytes_of(facts.s, facts.n), ret))
		return no_sense();
	*rows = bytes_of(b.p + b.at, b.n - b.at);
	return NULL;
}

/* Of a list what [from, to) needs: from the last entry at or before from on. */
static void pack_list(struct sb *b, const struct cfi_list *l, u32 from, u32 to)
{
	u32 lo = 0, hi = l->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (l->v[mid].pc < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	lo -= lo > 0; /* never none: that would mean the file's own table */
	for (hi = lo; hi < l->n && l->v[hi].pc < to; hi++)
		;
	hi += hi < l->n; /* with the first behind it: where the last function ends */
	sb_mem(b, &l->v[lo], (hi - lo) * sizeof(*l->v));
}

struct err *cfi_ask_rows(cfi_ask *ask, void *arg, const struct cfi_want *w, struct sb *answer)
{
	assert(w->step <= CFI_STEP);
	AUTO_SB args = {0};
	pack_u64(&args, w->base);
	pack_u32(&args, w->from);
	pack_u32(&args, w->to);
	pack_u32(&args, w->step);
	if (w->list->n)
		pack_list(&args, w->list, w->from, w->to);
	return ask(arg, answer_rows, sb_str(&args), answer);
}

bool cfi_take_rules(struct bytes *b, struct cfi_rules *ret)
{
	u32 n = bytes_u32(b), left_out = bytes_u32(b);
	const u8 *p = n <= CFI_RULES ? bytes_take(b, n * sizeof(u32)) : NULL;
	*ret = (struct cfi_rules){p, p ? n : 0, left_out};
	bool good = p && !b->bad;
	for (u32 i = 0; i < ret->n && good; i++)
		good = unwind_kind(cfi_rule(ret, i)) <= UNWIND_KIND_MAX;
	if (!good)
		*ret = (struct cfi_rules){0};
	return good;
}

u32 cfi_rule(const struct cfi_rules *r, u32 i)
{
	u32 rule;
	assert(i < r->n);
	memcpy(&rule, r->v + i * sizeof(rule), sizeof(rule));
	return rule;
}

bool cfi_take_part(struct bytes *b, const struct cfi_rules *r, u32 step, const u8 **v, u32 *n)
{
	struct cfi_brief row;
	*n = bytes_u32(b);
	*v = *n ? bytes_take(b, *n * sizeof(row)) : NULL;
	if (!*v)
		return false;
	u32 from = 0;
	for (u32 i = 0; i < *n; i++) {
		memcpy(&row, *v + i * sizeof(row), sizeof(row));
		if (row.pc < from || row.pc >= step || row.rule >= r->n || (!i && row.pc))
			return false;
		from = row.pc;
	}
	return true;
}
