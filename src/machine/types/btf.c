/*
 * btf.c - reading BTF where it lies.
 *
 * A type record is 12 bytes (name, info, size or type) and what its kind adds,
 * so the records can only be walked. A walk notes name and kind of every type, where
 * every 32nd begins, and that all are whole; reads step over at most 31. It is made
 * at opening, but for the running kernel's BTF, which is good: there it goes as far
 * as needed. A split BTF (a module's) goes on with ids and string offsets where its
 * base ends. The first searches compare the names of types of the kinds that they
 * are for; then a table by name is made.
 */
#include "types/btf.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/tab.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
	STRIDE = 32,
	AT_ONCE = 16384,            /* names that the kernel is asked for memory for */
	SEARCHES_BEFORE_TABLE = 64, /* making it takes as long */
	MAX_FOUND = 64,             /* searches that are remembered */
	MAX_BTF_BYTES = 1 << 28,
	MAX_TYPES = 1 << 22,
	MAX_RANK = 4,   /* entries of search.want */
	MAX_DEPTH = 64, /* of pointers, arrays and modifiers around a type */
};

struct cached {
	u32 id; /* 0: free */
	const struct type *type;
};

/* A search's answer: a script asks for the same few names again and again. */
struct found {
	struct str name;
	u32 want, id; /* want: the first set, which tells searches apart */
};

struct types {
	struct filler filler;
	void *map, *heap; /* what to give back */
	size_t map_len;
	const u8 *type; /* type section */
	const char *str;
	u32 type_len, str_len;
	u32 first_id, first_str;       /* of this part; 1 and 0 without a base */
	u32 ntype;                     /* of this part, as far as it was walked */
	u32 walked;                    /* up to this offset */
	VEC(u32) mark;                 /* offset of types first_id + 32 i */
	u32 *name;                     /* of each type that was walked: offset of its string */
	u8 *kind;                      /* the same */
	VEC(u32) enums;                /* which types are enums, once somebody asked */
	u32 nsearch;                   /* without the table */
	u32 *head, *chain, nhead;      /* table by name: head[hash] and chain[i] are indices + 1 */
	struct found found[MAX_FOUND]; /* the oldest is forgotten */
	u32 nfound;
	struct cached *cache;
	u32 ncache, cache_cap;
	struct types *base;
	struct arena *arena;
};

struct rec {
	u32 id, name, info, size; /* size: also the id of another type */
	const u8 *more;           /* what the kind adds: nmore bytes */
	u32 nmore;
};

static u32 rec_kind(const struct rec *r)
{
	return BTF_INFO_KIND(r->info);
}

static u32 rec_n(const struct rec *r)
{
	return BTF_INFO_VLEN(r->info);
}

#define BIT(kind) (1u << BTF_KIND_##kind)
enum {
	PLAIN = BIT(PTR) | BIT(FWD) | BIT(TYPEDEF) | BIT(VOLATILE) | BIT(CONST) | BIT(RESTRICT) |
		BIT(FUNC) | BIT(FLOAT) | BIT(TYPE_TAG),
	PLUS_4 = BIT(INT) | BIT(VAR) | BIT(DECL_TAG),
	PLUS_12 = BIT(ARRAY),
	PLUS_8N = BIT(ENUM) | BIT(FUNC_PROTO),
	PLUS_12N = BIT(STRUCT) | BIT(UNION) | BIT(DATASEC) | BIT(ENUM64),
};

/* Bytes behind the 12 that every type has; -1: unknown kind. */
static inline __attribute__((always_inline)) i64 more_bytes(u32 info)
{
	u32 bit = 1u << BTF_INFO_KIND(info);
	if (bit & PLAIN)
		return 0;
	if (bit & PLUS_8N)
		return 8 * (i64)BTF_INFO_VLEN(info);
	if (bit & PLUS_12N)
		return 12 * (i64)BTF_INFO_VLEN(info);
	if (bit & PLUS_4)
		return 4;
	return bit & PLUS_12 ? 12 : -1;
}

static inline bool rec_next(struct bytes *b, u32 id, struct rec *r)
{
	u32 h[3];
	const u8 *p = bytes_take(b, sizeof(h));
	if (!p)
		return false;
	memcpy(h, p, sizeof(h));
	i64 n = more_bytes(h[1]);
	r->id = id;
	r->name = h[0];
	r->info = h[1];
	r->size = h[2];
	r->nmore = (u32)n;
	r->more = n < 0 ? NULL : bytes_take(b, (size_t)n);
	return r->more != NULL;
}

/* Up to the type with this number in its part, or the last. What is behind damage is not there. */
static struct err *walk_to(struct types *k, u32 n)
{
	u32 at = k->walked, h[3];
	u32 most = k->type_len / (u32)sizeof(h) + 1;
	if (!k->name) {
		k->name = xcalloc(most, sizeof(*k->name));
		k->kind = xcalloc(most, sizeof(*k->kind));
	}
	while (at < k->type_len && k->ntype <= n) {
		u32 left = k->type_len - at;
		if (left >= sizeof(h))
			memcpy(h, k->type + at, sizeof(h));
		i64 more = left >= sizeof(h) ? more_bytes(h[1]) : -1;
		if (more < 0 || more > left - (i64)sizeof(h) || k->ntype >= MAX_TYPES) {
			k->type_len = k->walked = at;
			return err_new("damaged BTF: type %u", k->first_id + k->ntype);
		}
		if (k->ntype % STRIDE == 0)
			vec_add(&k->mark, at);
		if (k->ntype % AT_ONCE == 0) {
			u32 soon = MIN(most - k->ntype, (u32)AT_ONCE);
			pages_ready(&k->name[k->ntype], soon * sizeof(*k->name));
			pages_ready(&k->kind[k->ntype], soon * sizeof(*k->kind));
		}
		k->kind[k->ntype] = (u8)BTF_INFO_KIND(h[1]);
		k->name[k->ntype++] = h[0];
		k->walked = at += (u32)sizeof(h) + (u32)more;
	}
	return NULL;
}

static u32 next_id(struct types *k) /* one past the last id of k and its base */
{
	err_free(walk_to(k, MAX_TYPES));
	return k->first_id + k->ntype;
}

static bool rec_get(struct types *k, u32 id, struct rec *r)
{
	while (k && id < k->first_id)
		k = k->base;
	u32 i = k ? id - k->first_id : 0;
	if (k && i >= k->ntype)
		err_free(walk_to(k, i));
	if (!k || i >= k->ntype)
		return false;
	struct bytes b = bytes_of(k->type, k->type_len);
	bytes_seek(&b, k->mark.v[i / STRIDE]);
	for (u32 at = i / STRIDE * STRIDE; at < i; at++) {
		if (!rec_next(&b, 0, r))
			return false;
	}
	return rec_next(&b, id, r);
}

static struct str name_at(const struct types *k, u32 off)
{
	while (k->base && off < k->first_str)
		k = k->base;
	off -= k->first_str;
	if (off >= k->str_len)
		return STR("");
	return str_z(k->str + off); /* the section ends with a NUL: checked at opening */
}

static void fill(struct filler *from, struct type *t);

/* ---- opening ---- */

static struct err *parse_header(struct types *k, const u8 *p, size_t n)
{
	struct bytes b = bytes_of(p, n);
	u16 magic = bytes_u16(&b);
	u8 version = bytes_u8(&b);
	bytes_u8(&b);
	u32 hdr_len = bytes_u32(&b), type_off = bytes_u32(&b), type_len = bytes_u32(&b);
	u32 str_off = bytes_u32(&b), str_len = bytes_u32(&b);
	if (b.bad || magic != BTF_MAGIC || version != BTF_VERSION || hdr_len < 24)
		return err_new("not BTF, or of an unknown version");
	bytes_seek(&b, hdr_len);
	struct bytes types = b, strs = b;
	bytes_seek(&types, (size_t)hdr_len + type_off);
	bytes_seek(&strs, (size_t)hdr_len + str_off);
	k->type = bytes_take(&types, type_len);
	k->str = (const char *)bytes_take(&strs, str_len);
	k->type_len = type_len;
	k->str_len = str_len;
	if (!k->type || !k->str)
		return err_new("damaged BTF: sections exceed the file");
	if (str_len && k->str[str_len - 1])
		return err_new("damaged BTF: unterminated strings");
	return NULL;
}

static struct err *open_mem(struct types *k, const void *data, size_t n, bool good)
{
	if (n > MAX_BTF_BYTES)
		return err_new("BTF of %zu bytes is too large", n);
	struct err *err = parse_header(k, data, n);
	return err || good ? err : walk_to(k, MAX_TYPES);
}

static struct types *types_new(struct arena *a, struct types *base)
{
	struct types *k = arena_new(a, struct types);
	k->filler.fill = fill;
	k->arena = a;
	k->base = base;
	k->first_id = base ? next_id(base) : 1;
	k->first_str = base ? base->first_str + base->str_len : 0;
	return k;
}

struct err *btf_types_mem(const void *data, size_t n, struct arena *a, struct types *base,
			  struct types **ret)
{
	struct types *k = types_new(a, base);
	struct err *err = open_mem(k, data, n, false);
	if (err)
		btf_types_close(k);
	else
		*ret = k;
	return err;
}

static struct err *read_all(int fd, const char *path, size_t n, void **ret)
{
	u8 *p = xmalloc(n ? n : 1);
	assert(p);
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, p + at, n - at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			int no = got ? errno : EIO;
			free(p);
			return err_sys(no, "read %s", path);
		}
		at += (size_t)got;
	}
	*ret = p;
	return NULL;
}

struct err *btf_types_open(const char *path, struct arena *a, struct types *base,
			   struct types **ret)
{
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct statfs fs;
	if (fd < 0 || fstat(fd, &st))
		return err_sys(errno, "open %s", path);
	if (st.st_size < 0 || st.st_size > MAX_BTF_BYTES)
		return err_new("%s is too large", path);
	struct types *k = types_new(a, base);
	size_t n = (size_t)st.st_size;
	struct err *err = NULL;
	/* sysfs lets BTF be mapped since Linux 6.16. A regular file could be cut under the mapping.
	 */
	void *map = S_ISREG(st.st_mode) && n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0)
					     : MAP_FAILED;
	if (map != MAP_FAILED) {
		k->map = map;
		k->map_len = n;
	} else {
		err = read_all(fd, path, n, &k->heap);
	}
	if (!err)
		err = open_mem(k, k->map ? k->map : k->heap, n,
			       !fstatfs(fd, &fs) && fs.f_type == SYSFS_MAGIC);
	if (err) {
		btf_types_close(k);
		return err_wrap(err, "%s: ", path);
	}
	*ret = k;
	return NULL;
}

void btf_types_close(struct types *k)
{
	if (!k)
		return;
	if (k->map)
		munmap(k->map, k->map_len);
	free(k->heap);
	vec_free(&k->mark);
	free(k->name);
	free(k->kind);
	vec_free(&k->enums);
	free(k->head);
	free(k->chain);
	free(k->cache);
	k->map = k->heap = NULL;
	k->name = k->head = k->chain = NULL;
	k->kind = NULL;
	k->cache = NULL;
	k->type_len = k->ntype = k->walked = 0;
	k->ncache = k->cache_cap = 0;
}

/* ---- cache by id ---- */

static struct cached *cache_slot(const struct types *k, u32 id)
{
	u32 i = (id * 2654435769u) & (k->cache_cap - 1);
	while (k->cache[i].id && k->cache[i].id != id)
		i = (i + 1) & (k->cache_cap - 1);
	return &k->cache[i];
}

static const struct type *cache_get(const struct types *k, u32 id)
{
	return k->cache_cap ? cache_slot(k, id)->type : NULL;
}

static void cache_put(struct types *k, u32 id, const struct type *t)
{
	if (k->ncache * 2 >= k->cache_cap) {
		struct cached *old = k->cache;
		u32 n = k->cache_cap;
		k->cache_cap = n ? n * 2 : 64;
		k->cache = xcalloc(k->cache_cap, sizeof(*k->cache));
		assert(k->cache);
		for (u32 i = 0; i < n; i++) {
			if (old[i].id)
				*cache_slot(k, old[i].id) = old[i];
		}
		free(old);
	}
	struct cached *c = cache_slot(k, id);
	k->ncache += !c->id;
	*c = (struct cached){id, t};
}

/* ---- making types ---- */

static const struct type *get(struct types *k, u32 id, int depth);

static struct type *make(struct types *k, const struct rec *r, enum type_kind kind, u32 size)
{
	struct type *t = arena_new(k->arena, struct type);
	t->kind = kind;
	t->size = size;
	/* BTF does not know alignment: the largest that the size allows. */
	t->align = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
	t->name = name_at(k, r->name);
	t->id = r->id;
	return t;
}

static const struct type *make_int(struct types *k, const struct rec *r)
{
	struct bytes b = bytes_of(r->more, r->nmore);
	u32 enc = BTF_INT_ENCODING(bytes_u32(&b));
	struct type *t = make(k, r, T_INT, r->size);
	if (r->size == 0 || r->size > 8 || (r->size & (r->size - 1))) {
		/* __int128: nothing in eBPF holds it, so show its bytes. */
		if (r->size > 64)
			return &type_error;
		*t = *type_array(k->arena, &type_u8, r->size);
		t->alias = name_at(k, r->name);
		return t;
	}
	t->is_signed = enc & BTF_INT_SIGNED;
	t->is_char = r->size == 1 && str_is(t->name, "char");
	if (enc & BTF_INT_BOOL && r->size == 1)
		t->kind = T_BOOL;
	return t;
}

static const struct type *make_enum(struct types *k, const struct rec *r)
{
	bool wide = rec_kind(r) == BTF_KIND_ENUM64;
	u32 n = rec_n(r);
	if (r->size == 0 || r->size > 8 || (r->size & (r->size - 1)))
		return &type_error;
	struct bytes b = bytes_of(r->more, r->nmore);
	struct type *t = make(k, r, T_ENUM, r->size);
	struct enumerator *e = arena_newn(k->arena, struct enumerator, n + 1);
	bool kflag = BTF_INFO_KFLAG(r->info);
	t->is_signed = kflag;
	for (u32 i = 0; i < n; i++) {
		e[i].name = name_at(k, bytes_u32(&b));
		if (wide)
			e[i].val = (i64)bytes_u64(&b);
		else
			e[i].val = (i32)bytes_u32(&b);
		/* Before Linux 6.0 nothing tells signed enums: a negative value does. */
		if (!wide && e[i].val < 0 && e[i].val >= -4095)
			t->is_signed = true;
	}
	for (u32 i = 0; i < n && !wide && !t->is_signed; i++)
		e[i].val = (u32)e[i].val;
	t->base = type_int(r->size, t->is_signed);
	t->enums = e;
	t->nenum = n;
	return t;
}

/* The address space that a chain of modifiers gives a pointer to it. */
static enum space tag_space(struct types *k, u32 id)
{
	struct rec r;
	for (int i = 0; i < MAX_DEPTH && rec_get(k, id, &r); i++, id = r.size) {
		u32 kind = rec_kind(&r);
		if (kind == BTF_KIND_TYPE_TAG && str_is(name_at(k, r.name), "user"))
			return AS_USER;
		if (kind != BTF_KIND_TYPE_TAG && kind != BTF_KIND_CONST &&
		    kind != BTF_KIND_VOLATILE && kind != BTF_KIND_RESTRICT)
			break;
	}
	return AS_KERNEL;
}

static const struct type *make_ptr(struct types *k, const struct rec *r, int depth)
{
	struct type *t = make(k, r, T_PTR, 8);
	t->base = get(k, r->size, depth + 1);
	t->space = (u8)tag_space(k, r->size);
	return t;
}

static const struct type *make_array(struct types *k, const struct rec *r, int depth)
{
	struct bytes b = bytes_of(r->more, r->nmore);
	u32 elem = bytes_u32(&b);
	bytes_u32(&b);
	return type_array(k->arena, get(k, elem, depth + 1), bytes_u32(&b));
}

/* typedef, const ...: the type itself, or a copy that remembers how it was spelled. */
static const struct type *make_modified(struct types *k, const struct rec *r, int depth)
{
	u32 kind = rec_kind(r);
	const struct type *base = get(k, r->size, depth + 1);
	if (kind == BTF_KIND_TYPE_TAG || base == &type_error)
		return base;
	struct type *t = arena_new(k->arena, struct type);
	*t = *base;
	if (kind == BTF_KIND_TYPEDEF) {
		t->alias = name_at(k, r->name);
		t->qual = 0;
	} else {
		t->qual |= kind == BTF_KIND_CONST      ? TQ_CONST
			   : kind == BTF_KIND_VOLATILE ? TQ_VOLATILE
						       : TQ_RESTRICT;
	}
	return t;
}

static const struct type *make_proto(struct types *k, const struct rec *r, int depth)
{
	struct bytes b = bytes_of(r->more, r->nmore);
	u32 n = rec_n(r), slot = 0, kept = 0;
	struct type *t = make(k, r, T_FUNC, 0);
	struct field *f = arena_newn(k->arena, struct field, n + 1);
	t->base = get(k, r->size, depth + 1);
	t->align = 1;
	for (u32 i = 0; i < n; i++) {
		u32 name = bytes_u32(&b), id = bytes_u32(&b);
		if (!id && i + 1 == n) { /* "..." */
			t->flex = true;
			break;
		}
		const struct type *p = get(k, id, depth + 1);
		f[kept++] =
			(struct field){.name = name_at(k, name), .type = p, .bit_off = slot * 64};
		slot += MIN((p->size + 7) / 8, 2u); /* larger ones are passed in memory */
	}
	t->field = f;
	t->nfield = kept;
	return t;
}

static const struct type *make_func(struct types *k, const struct rec *r, int depth)
{
	const struct type *proto = get(k, r->size, depth + 1);
	if (proto->kind != T_FUNC)
		return &type_error;
	struct type *t = arena_new(k->arena, struct type);
	*t = *proto;
	t->name = name_at(k, r->name);
	t->id = r->id;
	return t;
}

static const struct type *make_shell(struct types *k, const struct rec *r, enum type_kind kind)
{
	struct type *t = make(k, r, kind, r->size);
	t->lazy = &k->filler;
	return t;
}

static const struct type *make_rec(struct types *k, const struct rec *r, int depth)
{
	switch (rec_kind(r)) {
	case BTF_KIND_INT: return make_int(k, r);
	case BTF_KIND_PTR: return make_ptr(k, r, depth);
	case BTF_KIND_ARRAY: return make_array(k, r, depth);
	case BTF_KIND_STRUCT: return make_shell(k, r, T_STRUCT);
	case BTF_KIND_UNION: return make_shell(k, r, T_UNION);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: return make_enum(k, r);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: return make_modified(k, r, depth);
	case BTF_KIND_FUNC: return make_func(k, r, depth);
	case BTF_KIND_FUNC_PROTO: return make_proto(k, r, depth);
	case BTF_KIND_VAR: return get(k, r->size, depth + 1);
	case BTF_KIND_FLOAT: return make(k, r, T_FLOAT, r->size);
	}
	if (rec_kind(r) != BTF_KIND_FWD)
		return &type_error; /* data section, declaration tag: not the type of anything */
	struct type *t = make(k, r, T_FWD, 0);
	t->count = BTF_INFO_KFLAG(r->info); /* union */
	return t;
}

/*
 * While a type is being made its id leads to type_error, so one that contains
 * itself other than through a struct ends there.
 */
static const struct type *get(struct types *k, u32 id, int depth)
{
	if (id == 0)
		return &type_none;
	while (k->base && id < k->first_id)
		k = k->base;
	const struct type *t = cache_get(k, id);
	if (t)
		return t;
	struct rec r;
	if (depth > MAX_DEPTH || !rec_get(k, id, &r))
		return &type_error;
	cache_put(k, id, &type_error);
	t = make_rec(k, &r, depth);
	cache_put(k, id, t);
	return t;
}

const struct type *btf_types_get(struct types *k, u32 id)
{
	return get(k, id, 0);
}

static void fill_member(struct types *k, const struct rec *r, struct bytes *b, struct field *f)
{
	u32 name = bytes_u32(b), id = bytes_u32(b), off = bytes_u32(b);
	f->name = name_at(k, name);
	f->type = get(k, id, 0);
	if (BTF_INFO_KFLAG(r->info)) {
		f->bit_off = BTF_MEMBER_BIT_OFFSET(off);
		f->bit_len = BTF_MEMBER_BITFIELD_SIZE(off);
		return;
	}
	/* The older encoding: the integer type itself is narrow. */
	f->bit_off = off;
	struct rec m;
	for (int i = 0; i < MAX_DEPTH && rec_get(k, id, &m); i++, id = m.size) {
		u32 kind = rec_kind(&m);
		if (kind == BTF_KIND_INT) {
			struct bytes mb = bytes_of(m.more, m.nmore);
			u32 v = bytes_u32(&mb);
			f->bit_off += BTF_INT_OFFSET(v);
			if (BTF_INT_BITS(v) < m.size * 8)
				f->bit_len = BTF_INT_BITS(v);
		}
		if (kind != BTF_KIND_TYPEDEF && kind != BTF_KIND_CONST && kind != BTF_KIND_VOLATILE)
			break;
	}
}

static void fill(struct filler *from, struct type *t)
{
	struct types *k = (struct types *)from;
	struct rec r;
	u32 n = 0;
	if (rec_get(k, t->id, &r) &&
	    (rec_kind(&r) == BTF_KIND_STRUCT || rec_kind(&r) == BTF_KIND_UNION))
		n = rec_n(&r);
	struct field *f = arena_newn(k->arena, struct field, n + 1);
	struct bytes b = bytes_of(n ? r.more : NULL, n ? r.nmore : 0);
	for (u32 i = 0; i < n; i++) {
		fill_member(k, &r, &b, &f[i]);
		/* A struct without a name inside itself would be walked forever. */
		if (!f[i].name.n && type_is_record(f[i].type) &&
		    (f[i].type->id == t->id || f[i].type->size > t->size))
			f[i].type = &type_error;
	}
	t->field = f;
	t->nfield = n;
}

const struct type *btf_types_func(struct types *k, u32 id)
{
	const struct type *t = get(k, id, 0);
	for (int i = 0; i < MAX_DEPTH && t->kind == T_PTR; i++)
		t = t->base;
	return t->kind == T_FUNC ? t : NULL;
}

/* ---- searching ---- */

static void make_index(struct types *k)
{
	u32 nhead = 1024;
	next_id(k); /* counts them */
	while (nhead < k->ntype)
		nhead *= 2;
	k->head = xcalloc(nhead, sizeof(*k->head));
	k->chain = xcalloc(k->ntype + 1, sizeof(*k->chain));
	assert(k->head && k->chain);
	k->nhead = nhead;
	for (u32 i = 0; i < k->ntype; i++) {
		struct str name = name_at(k, k->name[i]);
		if (!name.n)
			continue;
		u32 *h = &k->head[str_hash(name) & (nhead - 1)];
		k->chain[i] = *h;
		*h = i + 1;
	}
}

/* 16 places at once. */
typedef u8 places __attribute__((vector_size(16)));

static inline places bytes_equal(const char *p, u8 c)
{
	places v;
	memcpy(&v, p, sizeof(v));
	return (places)(v == c);
}

/* The first place with that NUL, name and NUL among n bytes, where the name begins; or NULL. */
static const char *named(const char *p, size_t n, struct str name)
{
	size_t at = 0, whole = (size_t)name.n + 2;
	while (at + whole <= n) {
		u64 any[2] = {1};
		size_t step = at + whole + 15 <= n ? 16 : 1;
		if (step == 16) { /* few names have that length, and begin so */
			places hit = bytes_equal(p + at, 0) &
				     bytes_equal(p + at + 1, (u8)name.s[0]) &
				     bytes_equal(p + at + whole - 1, 0);
			memcpy(any, &hit, sizeof(any));
		}
		for (size_t i = at; (any[0] | any[1]) && i < at + step; i++)
			if (!p[i] && !memcmp(p + i + 1, name.s, name.n) && !p[i + whole - 1])
				return p + i + 1;
		at += step;
	}
	return NULL;
}

/* A string's offset in k's own section, as type records hold it; 0: it is not there. */
static u32 string_offset(const struct types *k, struct str name)
{
	const char *p = k->str;
	bool first = k->str_len > name.n && !p[name.n] && !memcmp(p, name.s, name.n);
	if (!first && k->str_len)
		p = named(k->str, k->str_len, name);
	return p && k->str_len ? (u32)(p - k->str) + k->first_str : 0;
}

/* Kinds a search takes, as bits; id of the match that comes first in the order of want[]. */
struct search {
	struct str name;
	const u32 *want; /* bit sets, best first, ended by 0 */
	u32 id, rank;    /* rank: index in want */
};

static void search_see(struct search *s, u32 id, u32 kind)
{
	for (u32 i = 0; i <= s->rank && s->want[i]; i++) {
		if (!(s->want[i] >> kind & 1) || (i == s->rank && s->id < id))
			continue;
		s->id = id;
		s->rank = i;
		return;
	}
}

static void search_table(struct types *k, struct search *s)
{
	struct rec r;
	for (u32 i = k->head[str_hash(s->name) & (k->nhead - 1)]; i; i = k->chain[i - 1]) {
		if (str_eq(name_at(k, k->name[i - 1]), s->name) &&
		    rec_get(k, k->first_id + i - 1, &r))
			search_see(s, r.id, rec_kind(&r));
	}
}

/* Is that the string at this offset? */
static bool has_name(const struct types *k, u32 off, struct str name)
{
	while (k->base && off < k->first_str)
		k = k->base;
	off -= k->first_str;
	const char *p = k->str + off;
	return off < k->str_len && name.n < k->str_len - off && *p == *name.s && !p[name.n] &&
	       !memcmp(p, name.s, name.n);
}

static void search_names(struct types *k, struct search *s)
{
	enum { STEP = 512 }; /* types that are walked at a time */
	u32 any = 0;
	for (u32 i = 0; s->want[i]; i++)
		any |= s->want[i];
	for (u32 i = 0; s->rank; i++) {
		if (i == k->ntype)
			err_free(walk_to(k, i + STEP - 1));
		if (i == k->ntype)
			break;
		if (any >> k->kind[i] & 1 && has_name(k, k->name[i], s->name))
			search_see(s, k->first_id + i, k->kind[i]);
	}
}

static const struct found *found(const struct types *k, struct str name, u32 want)
{
	for (u32 i = 0; i < MAX_FOUND && i < k->nfound; i++)
		if (k->found[i].want == want && str_eq(k->found[i].name, name))
			return &k->found[i];
	return NULL;
}

static void remember(struct types *k, struct str name, u32 want, u32 id)
{
	k->found[k->nfound++ % MAX_FOUND] = (struct found){arena_str(k->arena, name), want, id};
}

/* The module's own types come before its base's. */
static u32 search(struct types *k, struct str name, const u32 *want)
{
	const struct found *f = k ? found(k, name, want[0]) : NULL;
	if (f)
		return f->id;
	struct search s = {.name = name, .want = want, .rank = MAX_RANK};
	for (struct types *p = k; p && name.n && !s.id; p = p->base) {
		if (!p->head && p->nsearch++ >= SEARCHES_BEFORE_TABLE)
			make_index(p);
		if (p->head)
			search_table(p, &s);
		else
			search_names(p, &s);
	}
	if (k)
		remember(k, name, want[0], s.id);
	return s.id;
}

u32 btf_types_id(struct types *k, struct str name, u32 btf_kind)
{
	assert(btf_kind < 32);
	u32 want[] = {1u << btf_kind, 0};
	return search(k, name, want);
}

static const u32 kinds_of[T_KINDS][MAX_RANK] = {
	[T_NONE] = {BIT(TYPEDEF) | BIT(INT) | BIT(FLOAT),
		    BIT(STRUCT) | BIT(UNION) | BIT(ENUM) | BIT(ENUM64), BIT(FWD)},
	[T_INT] = {BIT(INT)},
	[T_BOOL] = {BIT(INT)},
	[T_FLOAT] = {BIT(FLOAT)},
	[T_STRUCT] = {BIT(STRUCT)},
	[T_UNION] = {BIT(UNION)},
	[T_ENUM] = {BIT(ENUM) | BIT(ENUM64)},
	[T_FUNC] = {BIT(FUNC)},
	[T_FWD] = {BIT(FWD)},
};

const struct type *btf_types_find(struct types *k, struct str name, enum type_kind kind)
{
	assert((u32)kind < T_KINDS);
	u32 id = search(k, name, kinds_of[kind]);
	const struct type *t = id ? get(k, id, 0) : NULL;
	return t && t->kind != T_ERROR ? t : NULL;
}

static bool enum_has(const struct rec *r, u32 off)
{
	u32 each = rec_kind(r) == BTF_KIND_ENUM ? 8 : 12;
	struct bytes b = bytes_of(r->more, r->nmore);
	for (u32 i = 0; i < rec_n(r); i++) {
		if (bytes_u32(&b) == off)
			return true;
		bytes_take(&b, each - 4);
	}
	return false;
}

/* The first enum that has one of that name. */
static u32 find_enum(struct types *k, u32 off)
{
	struct rec r;
	for (u32 i = 0, all = k->enums.n ? 0 : next_id(k) - k->first_id; i < all; i++)
		if (k->kind[i] == BTF_KIND_ENUM || k->kind[i] == BTF_KIND_ENUM64)
			vec_add(&k->enums, k->first_id + i);
	for (u32 i = 0; i < k->enums.n; i++)
		if (rec_get(k, k->enums.v[i], &r) && enum_has(&r, off))
			return r.id;
	return 0;
}

/* Remembered as other searches are, as of no kind. */
static u32 search_enumerator(struct types *k, struct str name)
{
	u32 off = 0;
	const struct found *f = found(k, name, 0);
	if (f)
		return f->id;
	for (struct types *p = k; p && !off; p = p->base)
		off = string_offset(p, name);
	u32 id = off ? find_enum(k, off) : 0;
	remember(k, name, 0, id);
	return id;
}

bool btf_types_enumerator(struct types *k, struct str name, i64 *val, const struct type **ret)
{
	for (; k && name.n; k = k->base) {
		u32 id = search_enumerator(k, name);
		const struct type *t = id ? get(k, id, 0) : NULL;
		for (u32 i = 0; t && i < t->nenum; i++) {
			if (!str_eq(t->enums[i].name, name))
				continue;
			*val = t->enums[i].val;
			if (ret)
				*ret = t;
			return true;
		}
	}
	return false;
}

void btf_types_each(struct types *k, u32 btf_kind, struct str glob, btf_name_cb *cb, void *arg)
{
	bool all = str_is(glob, "*"), exact = !str_is_glob(glob);
	struct bytes b = bytes_of(k->type, k->type_len);
	struct rec r;
	for (u32 id = k->first_id; rec_next(&b, id, &r); id++) {
		if (rec_kind(&r) != btf_kind)
			continue;
		struct str name = name_at(k, r.name);
		if (!name.n || !(all || (exact ? str_eq(glob, name) : str_glob(glob, name))))
			continue;
		if (!cb(name, id, arg))
			return;
	}
}
