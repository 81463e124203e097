/* usdt_ask.c - USDT notes of files as the sandbox reads them (rights/sandbox.h): both halves. */
#include "sym/usdt_ask.h"
#include "base/pack.h"
#include "rights/sandbox.h"

enum { MAX_SITES = 1 << 20, MAX_REGS = 1 << 10 };

/* ---- there ---- */

static void pack_arg(struct sb *b, const struct usdt_arg *a)
{
	pack_u8(b, a->kind);
	pack_u8(b, a->size);
	pack_u8(b, a->is_signed);
	pack_u8(b, a->is_float);
	pack_u32(b, (u32)a->reg);
	pack_u32(b, (u32)a->index);
	pack_u8(b, a->scale);
	pack_u8(b, a->index_is);
	pack_u64(b, (u64)a->off);
	pack_u8(b, a->sym.s != NULL);
	pack_str(b, a->sym);
	pack_str(b, a->text);
}

static struct err *answer_sites(struct job *j)
{
	struct image im;
	struct arena a = {0};
	struct usdt_sites all = {0};
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	e = usdt_read_mem(im.p, im.n, &a, &all);
	pack_u32(&j->out, all.n);
	for (u32 i = 0; i < all.n; i++) {
		const struct usdt_site *s = &all.v[i];
		pack_str(&j->out, s->provider);
		pack_str(&j->out, s->name);
		pack_u64(&j->out, s->addr);
		pack_u64(&j->out, s->offset);
		pack_u64(&j->out, s->sem_offset);
		pack_u32(&j->out, s->narg);
		for (u32 k = 0; k < s->narg; k++)
			pack_arg(&j->out, &s->arg[k]);
	}
	image_close(&im);
	arena_free(&a);
	return e;
}

/* ---- here ---- */

static bool is_register(i32 off)
{
	return off >= -1 && off < MAX_REGS;
}

static bool is_width(u8 n)
{
	return n <= 8 && !(n & (n - 1));
}

static bool take_arg(struct bytes *b, struct arena *mem, struct usdt_arg *a)
{
	u8 kind = bytes_u8(b);
	*a = (struct usdt_arg){.kind = kind};
	a->size = bytes_u8(b);
	a->is_signed = bytes_u8(b) & 1;
	a->is_float = bytes_u8(b) & 1;
	i32 reg = (i32)bytes_u32(b), index = (i32)bytes_u32(b);
	a->reg = (i16)reg;
	a->index = (i16)index;
	a->scale = bytes_u8(b);
	u8 index_is = bytes_u8(b);
	a->index_is = index_is;
	a->off = (i64)bytes_u64(b);
	bool has_sym = bytes_u8(b) & 1;
	struct str sym = unpack_str(b), text = unpack_str(b);
	if (has_sym)
		a->sym = arena_str(mem, sym);
	if (text.n)
		a->text = arena_str(mem, text);
	return !b->bad && kind <= UA_BAD && index_is <= UI_I32 && is_width(a->size) &&
	       is_width(a->scale) && is_register(reg) && is_register(index) &&
	       (kind != UA_REG || reg >= 0);
}

static bool take_site(struct bytes *b, struct arena *mem, struct usdt_site *s)
{
	s->provider = arena_str(mem, unpack_str(b));
	s->name = arena_str(mem, unpack_str(b));
	s->addr = bytes_u64(b);
	s->offset = bytes_u64(b);
	s->sem_offset = bytes_u64(b);
	u32 n = bytes_u32(b);
	bool good = !b->bad && n <= MAX_USDT_ARGS;
	for (u32 k = 0; good && k < n; k++)
		good = take_arg(b, mem, &s->arg[s->narg++]);
	return good;
}

bool usdt_take_sites(struct bytes b, struct arena *a, struct usdt_sites *ret)
{
	enum { LEAST = 2 * 4 + 3 * 8 + 4 }; /* bytes of one */
	u32 n = bytes_u32(&b);
	if (b.bad || n > MIN((b.n - b.at) / LEAST, (size_t)MAX_SITES))
		return false;
	*ret = (struct usdt_sites){arena_newn(a, struct usdt_site, n + 1), n};
	for (u32 i = 0; i < n; i++)
		if (!take_site(&b, a, &ret->v[i]))
			return false;
	return true;
}

struct err *usdt_ask(struct host *h, const char *path, struct arena *a, struct usdt_sites *ret)
{
	AUTO_SB out = {0};
	struct question q = {.path = path, .nfile = 1};
	struct err *e = image_find(path, &q.file[0]);
	if (e)
		return e;
	e = sandbox_ask(h, answer_sites, &q, &out);
	close(q.file[0].fd);
	if (!e && !usdt_take_sites(bytes_of(out.s, out.n), a, ret))
		e = err_new("%s: its USDT notes make no sense", path);
	return e;
}
