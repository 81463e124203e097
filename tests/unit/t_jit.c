/* Names of generated code: lists and dumps made by hand, and whose files are believed. */
#include "rights/sandbox.h"
#include "sym/jit.h"
#include "sym/sym.h"
#include "test.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_at(const struct codes *c, u64 addr, const char *name, u64 off)
{
	struct symbol sym;
	return codes_find(c, addr, &sym) && str_is(sym.name, name) && sym.off == off;
}

static bool is_free(const struct codes *c, u64 addr)
{
	struct symbol sym;
	return !codes_find(c, addr, &sym);
}

TEST(jit_lists)
{
	static const char text[] = "1000 20 first\n"
				   "0x2000 0x10 Class::method(int) [opt]\n"
				   "rubbish\n3000\n3000 10\n3000 zz x\nfffffffffffffff00 1 x\n"
				   "ffffffffffffffff 5 around\n"
				   "1010 10 second\n"
				   "2000 8 newer\n"
				   "4000 8 half";
	struct codes c = {0};
	size_t n = sizeof(text) - 1, whole = n - 11;
	CHECK(codes_take_lines(&c, text, n) == whole); /* the last line is still being written */
	codes_sort(&c);
	CHECK(is_at(&c, 0x1000, "first", 0) && is_at(&c, 0x1011, "second", 1));
	CHECK(is_at(&c, 0x2007, "newer", 7) && is_at(&c, 0x200f, "Class::method(int) [opt]", 15));
	CHECK(is_free(&c, 0xfff) && is_free(&c, 0x1020) && is_free(&c, 0x2010));
	CHECK(is_free(&c, 0x3000) && is_free(&c, 0x4000) && is_free(&c, ~0ull));
	CHECK(codes_take_lines(&c, "4000 8 half and half\n", 21) == 21);
	codes_sort(&c);
	CHECK(is_at(&c, 0x4001, "half and half", 1) && is_at(&c, 0x1011, "second", 1));
	codes_free(&c);
	CHECK(codes_take_lines(&c, "", 0) == 0 && is_free(&c, 0));
	codes_free(&c);
}

/* ---- jitdump ---- */

static void put32(struct sb *b, u32 v)
{
	sb_mem(b, &v, sizeof(v));
}

static void put64(struct sb *b, u64 v)
{
	sb_mem(b, &v, sizeof(v));
}

static void put_header(struct sb *b, u32 magic, u32 size)
{
	put32(b, magic);
	put32(b, 1); /* version */
	put32(b, size);
	put32(b, 62); /* x86_64 */
	put32(b, 0);
	put32(b, (u32)getpid());
	put64(b, 1); /* time */
	put64(b, 0); /* flags */
	for (u32 i = 40; i < size; i++)
		sb_mem(b, "", 1);
}

static void put_head(struct sb *b, u32 kind, u32 size)
{
	put32(b, kind);
	put32(b, size);
	put64(b, 2);
}

static void put_load(struct sb *b, u64 addr, u64 size, const char *name, u32 code)
{
	u32 n = (u32)strlen(name) + 1;
	put_head(b, 0, 16 + 40 + n + code);
	put32(b, 1);
	put32(b, 1);
	put64(b, addr);
	put64(b, addr);
	put64(b, size);
	put64(b, 7);
	sb_mem(b, name, n);
	for (u32 i = 0; i < code; i++)
		sb_mem(b, "\x90", 1);
}

static void put_move(struct sb *b, u64 from, u64 to, u64 size)
{
	put_head(b, 1, 16 + 48);
	put32(b, 1);
	put32(b, 1);
	put64(b, to);
	put64(b, from);
	put64(b, to);
	put64(b, size);
	put64(b, 7);
}

static void put_other(struct sb *b, u32 kind, u32 n)
{
	put_head(b, kind, 16 + n);
	for (u32 i = 0; i < n; i++)
		sb_mem(b, "\xff", 1);
}

static void make_dump(struct sb *b)
{
	put_header(b, 0x4a695444, 48); /* longer than today's */
	put_other(b, 2, 100);          /* lines */
	put_load(b, 0x1000, 0x100, "py::f:/x.py", 0x100);
	put_other(b, 4, 33); /* unwinding */
	put_load(b, 0x2000, 0x10, "Made::here(int)", 0x10);
	put_load(b, 0x1080, 0x10, "later", 0);
	put_move(b, 0x2000, 0x9000, 0x10);
	put_move(b, 0x7777, 0xa000, 0x10); /* nothing was there */
	put_other(b, 99, 8);
	put_load(b, 0x5000, 0x10, "last", 64);
}

static void check_dump(struct codes *c)
{
	codes_sort(c);
	CHECK(is_at(c, 0x1000, "py::f:/x.py", 0) && is_at(c, 0x10ff, "py::f:/x.py", 0xff));
	CHECK(is_at(c, 0x1081, "later", 1) && is_at(c, 0x1090, "py::f:/x.py", 0x90));
	CHECK(is_at(c, 0x2001, "Made::here(int)", 1) && is_at(c, 0x9002, "Made::here(int)", 2));
	CHECK(is_free(c, 0xa000) && is_free(c, 0x1100) && is_free(c, 0x2010));
	CHECK(is_at(c, 0x5000, "last", 0));
}

/* What one process reads of a list or a dump and tells another is what it would have kept itself. */
TEST(jit_told)
{
	static const char text[] = "1000 20 first\n2000 10 second\n1010 8 newer\n";
	struct sb dump = {0}, told = {0};
	struct codes there = {.told = &told}, here = {0};
	CHECK(codes_take_lines(&there, text, sizeof(text) - 1) == sizeof(text) - 1);
	CHECK(!there.n && told.n);
	codes_take_told(&here, bytes_of(told.s, told.n));
	codes_sort(&here);
	CHECK(here.n == 3 && is_at(&here, 0x1011, "newer", 1) &&
	      is_at(&here, 0x1018, "first", 0x18));
	for (size_t n = 0; n < told.n; n++) { /* cut anywhere */
		struct codes cut = {0};
		codes_take_told(&cut, bytes_of(told.s, n));
		CHECK(cut.n < 3);
		codes_free(&cut);
	}
	codes_free(&here);
	sb_clear(&told);
	make_dump(&dump);
	codes_take_dump(&there, dump.s, dump.n);
	codes_take_told(&here, bytes_of(told.s, told.n));
	codes_sort(&here);
	check_dump(&here);
	codes_free(&here);
	codes_free(&there);
	sb_free(&dump);
	sb_free(&told);
}

TEST(jit_dump_at_once)
{
	struct codes c = {0};
	AUTO_SB b = {0};
	make_dump(&b);
	CHECK(codes_take_dump(&c, b.s, b.n) == b.n);
	check_dump(&c);
	codes_free(&c);
}

/* As it is read while it grows by a byte at a time, from where the last reading ended. */
TEST(jit_dump_growing)
{
	struct codes c = {0};
	AUTO_SB b = {0};
	u64 done = 0;
	make_dump(&b);
	for (u64 n = 1; n <= b.n; n++) {
		u8 *copy = malloc(n); /* of its size, so that a reader that goes too far is seen */
		CHECK(copy);
		memcpy(copy, b.s, n);
		if (done < n)
			done += codes_take_dump(&c, copy + done, n - done);
		free(copy);
	}
	CHECK(done == b.n);
	check_dump(&c);
	CHECK(c.n == 5);
	codes_free(&c);
}

TEST(jit_dump_ends)
{
	struct codes c = {0};
	AUTO_SB b = {0};
	put_header(&b, 0x4a695444, 40);
	put_load(&b, 0x1000, 0x10, "before", 0);
	put_head(&b, 3, 16);
	put_load(&b, 0x2000, 0x10, "behind", 0);
	CHECK(codes_take_dump(&c, b.s, b.n) == UINT64_MAX);
	codes_sort(&c);
	CHECK(is_at(&c, 0x1000, "before", 0) && is_free(&c, 0x2000));
	codes_free(&c);
}

TEST(jit_dump_rubbish)
{
	struct codes c = {0};
	AUTO_SB b = {0};
	put_header(&b, 0x4454694a, 40); /* of the other byte order */
	put_load(&b, 0x1000, 0x10, "x", 0);
	CHECK(codes_take_dump(&c, b.s, b.n) == UINT64_MAX && !c.n);
	codes_free(&c);
	b.n = 0;
	put_header(&b, 0x4a695444, 39);
	CHECK(codes_take_dump(&c, b.s, b.n) == UINT64_MAX && !c.n);
	codes_free(&c);
	b.n = 0;
	put_header(&b, 0x4a695444, 40);
	put_head(&b, 0, 15); /* shorter than its head */
	CHECK(codes_take_dump(&c, b.s, b.n) == UINT64_MAX && !c.n);
	codes_free(&c);
	b.n = 0;
	put_header(&b, 0x4a695444, 40);
	put_head(&b, 0, 16); /* no name */
	put_head(&b, 0, 40);
	put_load(&b, ~0ull - 4, 0x10, "around", 0);
	put_load(&b, 0x1000, 0, "empty", 0);
	put_load(&b, 0x1000, 0x10, "", 0);
	put_load(&b, 0x3000, 0x10, "good", 0);
	codes_take_dump(&c, b.s, b.n);
	codes_sort(&c);
	CHECK(is_free(&c, ~0ull - 2) && is_free(&c, 0x1000));
	codes_free(&c);
}

/* ---- files ---- */

static bool finds(struct syms *s, u64 addr)
{
	struct symbol sym;
	return sym_user(s, (u32)getpid(), addr, &sym) && str_is(sym.name, "made?now") &&
	       sym.off == 4;
}

TEST(jit_list_owner)
{
	struct host h = {.root = ""};
	struct syms *s;
	char path[64];
	u64 addr = 0x12340000;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	if (fd < 0) {
		test_skip("/tmp cannot be written");
		return;
	}
	CHECK(dprintf(fd, "12340000 100 made\033now\n") > 0);
	syms_init(&h, true, &s);
	CHECK(finds(s, addr + 4));
	syms_free(s);
	if (geteuid() == 0) {
		CHECK(!fchown(fd, 12345, 12345)); /* somebody else's */
		syms_init(&h, true, &s);
		CHECK(!finds(s, addr + 4));
		syms_free(s);
		CHECK(!fchown(fd, 0, 0));
	}
	CHECK(!fchmod(fd, 0666));
	syms_init(&h, true, &s);
	CHECK(!finds(s, addr + 4));
	syms_free(s);
	close(fd);
	unlink(path);
	CHECK(!symlink("/etc/passwd", path));
	syms_init(&h, true, &s);
	CHECK(!finds(s, addr + 4));
	syms_free(s);
	unlink(path);
	sandbox_end(&h);
}

/* A page of it is mapped executable, as the runtimes do. */
TEST(jit_dump_owner)
{
	struct host h = {.root = ""};
	struct syms *s;
	char path[64];
	u64 addr = 0x12340000;
	AUTO_SB b = {0};
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	unlink(path);
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0644);
	if (fd < 0) {
		test_skip("/tmp cannot be written");
		return;
	}
	put_header(&b, 0x4a695444, 40);
	put_load(&b, addr, 0x100, "made\033now", 0x100);
	CHECK(write(fd, b.s, b.n) == (ssize_t)b.n);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(page != MAP_FAILED);
	syms_init(&h, true, &s);
	CHECK(finds(s, addr + 4));
	syms_free(s);
	if (geteuid() == 0) {
		CHECK(!fchown(fd, 12345, 12345)); /* somebody else's */
		syms_init(&h, true, &s);
		CHECK(!finds(s, addr + 4));
		syms_free(s);
		CHECK(!fchown(fd, 0, 0));
	}
	CHECK(!fchmod(fd, 0666));
	syms_init(&h, true, &s);
	CHECK(!finds(s, addr + 4));
	syms_free(s);
	CHECK(!munmap(page, 4096) && !fchmod(fd, 0644)); /* only what is mapped is looked at */
	syms_init(&h, true, &s);
	CHECK(!finds(s, addr + 4));
	syms_free(s);
	close(fd);
	unlink(path);
	sandbox_end(&h);
}
