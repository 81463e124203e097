/* An archive made here: "a" is stored, "b" compressed, "c" encrypted. */
#include "base/alloc.h"
#include "test.h"
#include "types/zip.h"

enum { MAX = 512, NMEMBER = 3, DATA_A = 35 };

struct out {
	u8 v[MAX];
	u32 n;
};

static void put(struct out *o, u32 size, u64 v)
{
	memcpy(o->v + o->n, &v, size);
	o->n += size;
}

/* Flags, method, time, checksum, sizes: in both headers alike. */
static void put_common(struct out *o, u32 i)
{
	put(o, 2, i == 2);
	put(o, 2, i == 1 ? 8 : 0);
	put(o, 8, 0);
	put(o, 4, 4);
	put(o, 4, i == 1 ? 9 : 4);
	put(o, 2, 1);
}

static struct out make(u32 comment)
{
	struct out o = {0};
	u32 at[NMEMBER];
	for (u32 i = 0; i < NMEMBER; i++) {
		at[i] = o.n;
		put(&o, 4, 0x04034b50);
		put(&o, 2, 20);
		put_common(&o, i);
		put(&o, 2, 4); /* padding, as for alignment */
		put(&o, 1, 'a' + i);
		put(&o, 4, 0);
		put(&o, 4, 0x44434241);
	}
	u32 dir = o.n;
	for (u32 i = 0; i < NMEMBER; i++) {
		put(&o, 4, 0x02014b50);
		put(&o, 4, 0);
		put_common(&o, i);
		put(&o, 8, 0);
		put(&o, 4, 0);
		put(&o, 4, at[i]);
		put(&o, 1, 'a' + i);
	}
	put(&o, 4, 0x06054b50);
	put(&o, 4, 0);
	put(&o, 2, NMEMBER);
	put(&o, 2, NMEMBER);
	put(&o, 4, o.n - dir - 12);
	put(&o, 4, dir);
	put(&o, 2, comment);
	o.n += comment;
	return o;
}

static bool refuses(const struct out *o, struct str name, const char *why)
{
	struct bytes m;
	struct err *e = zip_member(bytes_of(o->v, o->n), name, &m);
	bool ok = e && strstr(e->msg, why);
	err_free(e);
	return ok;
}

TEST(zip_members)
{
	for (u32 comment = 0; comment < 100; comment += 33) {
		struct out o = make(comment);
		struct bytes m;
		struct err *e = zip_member(bytes_of(o.v, o.n), STR("a"), &m);
		CHECK(!e && m.n == 4 && m.p == o.v + DATA_A && !memcmp(m.p, "ABCD", 4));
		err_free(e);
		CHECK(refuses(&o, STR("b"), "b is compressed in the archive"));
		CHECK(refuses(&o, STR("c"), "c is encrypted"));
		CHECK(refuses(&o, STR("d"), "has no member d"));
		CHECK(refuses(&o, STR(""), "has no member"));
	}
}

TEST(zip_refuses)
{
	struct out o = make(0), cut = o;
	cut.n--;
	CHECK(refuses(&cut, STR("a"), "not a ZIP archive"));
	struct out big = o;
	memset(big.v + o.n - 6, 0xff, 4);
	CHECK(refuses(&big, STR("a"), "ZIP64"));
	struct out more = o;
	more.v[o.n - 12]++;
	CHECK(refuses(&more, STR("d"), "ends after 3 of 4"));
	struct out local = o;
	local.v[0]++;
	CHECK(refuses(&local, STR("a"), "damaged ZIP archive: a"));
}

/* What is given lies in the archive, whatever one byte of it says. */
TEST(zip_damaged)
{
	static const u8 wrong[] = {0, 1, 0x7f, 0xff};
	const struct out whole = make(7);
	for (u32 i = 0; i < whole.n * countof(wrong); i++) {
		struct out o = whole;
		struct bytes m = {0};
		o.v[i / countof(wrong)] = wrong[i % countof(wrong)];
		u8 *copy = xmalloc(o.n); /* an address sanitizer knows its end */
		memcpy(copy, o.v, o.n);
		struct err *e = zip_member(bytes_of(copy, o.n), STR("a"), &m);
		CHECK(e || (m.p >= copy && m.n <= o.n && (size_t)(m.p - copy) <= o.n - m.n));
		err_free(e);
		free(copy);
	}
	for (u32 n = 0; n < whole.n; n++) {
		struct bytes m;
		struct err *e = zip_member(bytes_of(whole.v, n), STR("a"), &m);
		CHECK(e);
		err_free(e);
	}
}
