/* cfi_ask.c - unwind tables as the sandbox reads them. */
#include "sym/cfi_ask.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "sym/procs.h"
#include <elf.h>
#include <errno.h>

enum { MAX_ROWS = 1 << 24, MAX_LISTED = 1 << 22 };

/* ---- there ---- */

/* Without a file it is the kernel's page of code, which every process has. */
static struct err *open_file(const struct job *j, struct image *ret)
{
	if (j->nfile)
		return image_map(&j->file[0], j->path, ret);
	return vdso_image(ret) ? NULL : err_new("there is no vdso");
}

static struct err *answer_facts(struct job *j)
{
	struct image im;
	struct segment seg;
	struct cfi_list list;
	u32 page = bytes_u32(&j->args);
	struct err *e = open_file(j, &im);
	if (e)
		return e;
	u64 base = cfi_base(&im) & ~(u64)(page - 1);
	bool bare = !cfi_list(&im, base, &list);
	pack_u64(&j->out, base);
	pack_u8(&j->out, bare);
	for (u32 i = 0; image_segment(&im, i, &seg); i++)
		if (seg.type == PT_LOAD && seg.flags & PF_X && seg.addr >= base) {
			pack_u8(&j->out, 1);
			sb_mem(&j->out, &seg, sizeof(seg));
		}
	pack_u8(&j->out, 0);
	sb_mem(&j->out, list.v, list.n * sizeof(*list.v));
	cfi_list_free(&list);
	image_close(&im);
	return NULL;
}

/* [from, to) of rows, of which *next is the first that may begin there. */
static void put_part(struct sb *out, const struct cfi_rows *r, u32 from, u32 to, u32 *next)
{
	struct cfi_row first = {from, cfi_at(r, from)};
	u32 i = *next;
	while (i < r->n && r->v[i].pc <= from)
		i++;
	for (*next = i; *next < r->n && r->v[*next].pc < to;)
		++*next;
	pack_u32(out, *next - i + 1);
	sb_mem(out, &first, sizeof(first));
	sb_mem(out, &r->v[i], (*next - i) * sizeof(*r->v));
}

static struct err *answer_rows(struct job *j)
{
	struct image im;
	struct bytes *b = &j->args;
	struct cfi_rows rows;
	u64 base = bytes_u64(b);
	u32 from = bytes_u32(b), to = bytes_u32(b), step = bytes_u32(b);
	/* Copied, because args are not aligned. */
	struct cfi_list list = {.n = (u32)((b->n - b->at) / sizeof(*list.v))};
	struct err *e = open_file(j, &im);
	if (e)
		return e;
	list.v = xmalloc(list.n * sizeof(*list.v));
	memcpy(list.v, b->p + b->at, list.n * sizeof(*list.v));
	cfi_part(&im, base, &list, from, to, &rows);
	for (u32 next = 0; from < to; from += step)
		put_part(&j->out, &rows, from, from + step, &next);
	free(rows.v);
	cfi_list_free(&list);
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

struct err *cfi_ask_facts(cfi_ask *ask, void *arg, u32 page, struct cfi_facts *ret)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_u32(&args, page);
	struct err *e = ask(arg, answer_facts, sb_str(&args), &out);
	if (!e && !cfi_take_facts(bytes_of(out.s, out.n), ret)) {
		e = err_new("its unwind tables make no sense");
		e->no = EBADMSG;
	}
	return e;
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
	AUTO_SB args = {0};
	pack_u64(&args, w->base);
	pack_u32(&args, w->from);
	pack_u32(&args, w->to);
	pack_u32(&args, w->step);
	if (w->list->n)
		pack_list(&args, w->list, w->from, w->to);
	return ask(arg, answer_rows, sb_str(&args), answer);
}

bool cfi_take_rows(struct bytes *b, u32 from, u32 to, struct cfi_rows *ret)
{
	u32 n = bytes_u32(b);
	const u8 *p = n && n <= MAX_ROWS ? bytes_take(b, n * sizeof(*ret->v)) : NULL;
	*ret = (struct cfi_rows){0};
	if (!p)
		return false;
	ret->v = xmalloc(n * sizeof(*ret->v));
	memcpy(ret->v, p, n * sizeof(*ret->v));
	ret->n = n;
	bool good = ret->v[0].pc == from;
	for (u32 i = 0; i < n && good; i++)
		good = ret->v[i].pc < to && (!i || ret->v[i].pc >= ret->v[i - 1].pc) &&
		       unwind_kind(ret->v[i].rule) <= UNWIND_KIND_MAX;
	if (!good)
		free(ret->v);
	return good;
}
