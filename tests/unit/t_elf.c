#include "base/alloc.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/vec.h"
#include "rights/sandbox.h"
#include "sym/batch.h"
#include "sym/mappings.h"
#include "test.h"
#include "types/image.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, visibility("default"))) int t_elf_landmark(int x);
int t_elf_landmark(int x)
{
	return x * 3 + 1;
}

TEST(elf_reads_own_symbols)
{
	struct host here = {.recorded = true};
	struct arena mem = {0};
	struct elf_syms e = {0};
	struct err *err = elf_read_syms(&here, &mem, "/proc/self/exe", &e);
	CHECK(!err && e.n > 10);
	err_free(err);
	const struct symbol *s = elf_find(&e, STR("t_elf_landmark"));
	CHECK(s && s->size > 0 && elf_at(&e, s->addr + s->size - 1) == s);
	u64 off = 0;
	err = s ? elf_offset(&here, "/proc/self/exe", s->addr, &off) : NULL;
	CHECK(!err && s && off == s->file_off);
	CHECK(!elf_find(&e, STR("no_such_function")));
	for (u32 i = 1; i < e.n; i++)
		CHECK(e.v[i - 1].addr <= e.v[i].addr);
	err = elf_offset(&here, "/proc/self/exe", ~0ull, &off);
	CHECK(err);
	err_free(err);
	arena_free(&mem);
	sandbox_end(&here);
}

TEST(elf_refuses_other_files)
{
	struct host here = {.recorded = true};
	struct arena mem = {0};
	struct elf_syms e = {0};
	static const char *const bad[] = {"/dev/null", "/", "/no/such/file", "/proc/self/maps"};
	for (u32 i = 0; i < countof(bad); i++) {
		struct err *err = elf_read_syms(&here, &mem, bad[i], &e);
		CHECK(err);
		err_free(err);
	}
	arena_free(&mem);
	sandbox_end(&here);
}

TEST(elf_maps)
{
	struct maps m;
	struct str text = STR("1000-2000 r--p 00000000 fe:00 7     /bin/cat\n"
			      "2000-5000 r-xp 00001000 fe:00 7                 /bin/cat\n"
			      "6000-7000 r-xp 00000000 fe:01 8                 /tmp/a b (deleted)\n"
			      "rubbish\n"
			      "8000-9000 rwxp 00000000 00:00 0 \n"
			      "ffff-10fff r-xp 00000000 00:00 0                [vdso]\n");
	CHECK(maps_parse(text, &m) && m.n == 4);
	const struct mapping *x = m.v;
	CHECK(x->start == 0x2000 && x->end == 0x5000 && x->off == 0x1000 && x->ino == 7 &&
	      str_is(x->path, "/bin/cat") && !x->deleted);
	x++;
	CHECK(x->start == 0x6000 && x->deleted && str_is(x->path, "/tmp/a b"));
	x++;
	CHECK(x->start == 0x8000 && !x->path.n && x->off == MAPS_MADE);
	x++;
	CHECK(x->start == 0xffff && str_is(x->path, MAPS_VDSO));
	maps_free(&m);
}

TEST(elf_user_symbols)
{
	struct host h = {.root = ""};
	struct syms *s;
	struct symbol sym;
	syms_init(&h, true, &s);
	u32 pid = (u32)getpid();
	CHECK(sym_user(s, pid, (u64)(uintptr_t)t_elf_landmark + 1, &sym));
	CHECK(str_is(sym.name, "t_elf_landmark") && sym.off == 1);
	CHECK(sym_user(s, pid, (u64)(uintptr_t)&printf, &sym) && sym.name.n);
	CHECK(!sym_user(s, pid, 0x10, &sym));
	CHECK(!sym_user(s, 0x7ffffff0, (u64)(uintptr_t)t_elf_landmark, &sym));
	syms_free(s);
	sandbox_end(&h);
}

TEST(elf_kernel_symbols)
{
	struct host h = {.root = ""};
	struct syms *s;
	struct symbol sym;
	u64 addr;
	syms_init(&h, true, &s);
	if (sym_kernel_addr(s, STR("vfs_read"), &addr)) {
		CHECK(sym_kernel(s, addr + 4, &sym) && str_is(sym.name, "vfs_read") &&
		      sym.off == 4);
		CHECK(!sym_kernel_addr(s, STR("vfs_rea"), &addr) && !sym_kernel(s, 0x1000, &sym));
	} else {
		test_skip("kernel addresses are hidden");
	}
	syms_free(s);
}

TEST(elf_demangles)
{
	struct arena mem = {0};
	CHECK_STR(demangle(&mem, STR("_ZN2ns1C1mEi")), "ns::C::m(int)");
	CHECK_STR(demangle(&mem, STR("_RNvC6_123foo3bar")), "123foo::bar");
	CHECK_STR(demangle(&mem, STR("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE")),
		  "core::fmt::Write::write_fmt");
	CHECK(!demangle(&mem, STR("main")) && !demangle(&mem, STR("_Zrubbish")) &&
	      !demangle(&mem, STR("")));
	arena_free(&mem);
}

/* A process among other files, until its pipe is closed; 0: we may not do that. */
static int jailed(const char *jail, int *keep)
{
	int ready[2], hold[2];
	char c = 0;
	CHECK(!pipe2(ready, O_CLOEXEC) && !pipe2(hold, O_CLOEXEC));
	int pid = fork();
	if (!pid) {
		close(hold[1]);
		c = !chroot(jail) && !chdir("/");
		if (write(ready[1], &c, 1) != 1 || read(hold[0], &c, 1) != 0)
			_exit(1);
		_exit(0);
	}
	CHECK(pid > 0 && read(ready[0], &c, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	close(hold[0]);
	*keep = hold[1];
	return c ? pid : 0;
}

/* What a process makes of its files while we look: links that lead to ours. */
TEST(elf_links_do_not_lead_out_of_a_root)
{
	char out[] = "/tmp/sonde-out-XXXXXX", jail[] = "/tmp/sonde-jail-XXXXXX", path[64], up[64];
	struct image_file f;
	struct stat st;
	int fd AUTO_CLOSE = mkstemp(out), dir AUTO_CLOSE = -1, inside AUTO_CLOSE = -1, hold = -1;
	CHECK(fd >= 0 && write(fd, "outside", 7) == 7 && mkdtemp(jail));
	dir = open(jail, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(up, sizeof(up), "../../../..%s", out);
	inside = openat(dir, "in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(write(inside, "inside", 6) == 6 && !fstat(inside, &st));
	CHECK(!symlinkat(out, dir, "link") && !symlinkat(up, dir, "up"));
	CHECK(!symlinkat("/in", dir, "good"));
	int pid = jailed(jail, &hold);
	const char *const name[] = {"link", "up", "good"};
	for (u32 i = 0; pid && i < countof(name); i++) {
		snprintf(path, sizeof(path), "/proc/%d/root/%s", pid, name[i]);
		struct err *e = image_find(path, &f);
		CHECK(i < 2 ? e && e->no == ENOENT : !e && f.ino == st.st_ino);
		if (!e)
			close(f.fd);
		err_free(e);
	}
	if (!pid)
		test_skip("needs CAP_SYS_CHROOT");
	close(hold);
	wait(NULL);
	for (u32 i = 0; i < countof(name); i++)
		unlinkat(dir, name[i], 0);
	unlinkat(dir, "in", 0);
	rmdir(jail);
	unlink(out);
}

/* Who wrote a file may cut it short while it is mapped. */
TEST(elf_file_cut_short_while_it_is_mapped)
{
	struct sb text = {0};
	struct arena mem = {0};
	struct elf_syms e = {0};
	struct image im;
	struct section s;
	char path[] = "/tmp/sonde-cut-XXXXXX";
	int fd = mkstemp(path), self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && self >= 0 && !fd_read(self, 1 << 26, &text));
	CHECK(write(fd, text.s, text.n) == (ssize_t)text.n);
	struct err *err = image_open(path, &im);
	CHECK(!err);
	CHECK(!ftruncate(fd, 1));
	signals_fill_pages();
	for (u32 i = 0; image_section(&im, i, &s); i++)
		CHECK(!s.name.n && !s.size);
	err_free(elf_read_syms_mem(&mem, im.p, im.n, &e));
	CHECK(!e.n);
	image_close(&im);
	signal(SIGBUS, SIG_DFL);
	unlink(path);
	close(fd);
	close(self);
	sb_free(&text);
	arena_free(&mem);
}

static int by_addr_and_name(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;
	return a->addr != b->addr ? (a->addr < b->addr ? -1 : 1) : str_cmp(a->name, b->name);
}

static void same_name(void *arg, const struct symbol *sym)
{
	const struct symbol ***at = arg;
	const struct symbol *want = *(*at)++;
	CHECK(!sym == !want && (!sym || (sym->addr == want->addr && sym->size == want->size &&
					 str_eq(sym->name, want->name))));
}

/* One pass over symbols in any order finds what a search among all of them does. */
TEST(elf_names_of_addresses)
{
	enum { SYMBOLS = 60, ADDRESSES = 200, ROUNDS = 300 };
	static const char *const name[] = {"a", "b", "c", "d", "e", "f"};
	u64 seed = 7;
	for (u32 round = 0; round < ROUNDS; round++) {
		struct symbol v[SYMBOLS] = {0}, sorted[SYMBOLS];
		const struct symbol *want[ADDRESSES], **at = want;
		u64 addr[ADDRESSES];
		struct batch names;
		u32 n = 0;
		for (u32 i = 0; i < SYMBOLS; i++) { /* no two of one name at one address */
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			u64 start = 16 + (seed >> 40) % 40 * 4;
			v[n] = (struct symbol){.addr = start,
					       .size = (seed >> 33) % 3 * 3,
					       .rank = (u8)((seed >> 35) % 3),
					       .name = str_z(name[(seed >> 37) % countof(name)])};
			bool twice = false;
			for (u32 k = 0; k < n; k++)
				twice |= v[k].addr == start && str_eq(v[k].name, v[n].name);
			n += !twice;
		}
		memcpy(sorted, v, sizeof(v));
		qsort(sorted, n, sizeof(*sorted), by_addr_and_name);
		const struct elf_syms all = {.v = sorted, .n = n};
		for (u32 i = 0; i < ADDRESSES; i++) {
			addr[i] = i;
			want[i] = elf_at(&all, i);
		}
		batch_init(&names, addr, ADDRESSES);
		for (u32 i = 0; i < n; i++)
			if (batch_cares(&names, v[i].addr, v[i].size))
				batch_offer(&names, &v[i]);
		batch_end(&names, same_name, &at);
		CHECK(at == want + ADDRESSES);
		batch_free(&names);
	}
}

/* Of a file with more functions than are handed over, those at the addresses asked for. */
TEST(elf_names_from_the_child)
{
	struct host h = {.root = ""};
	struct arena a = {0};
	struct elf_facts whole, some;
	const char *self = "/proc/self/exe";
	CHECK(!elf_read(&h, &a, self, false, &whole) && !whole.large);
	CHECK(!elf_read_some(&h, &a, self, 10, &some) && some.large && !some.syms.n);
	CHECK(some.nseg == whole.nseg && some.entry == whole.entry);
	const struct elf_syms *all = &whole.syms;
	struct addresses v = {0};
	u64 last = 0;
	for (u32 i = 0; i < all->n; i += 7)
		if (all->v[i].addr + 1 > last)
			vec_add(&v, last = all->v[i].addr + 1);
	const struct symbol **of = xcalloc(v.n, sizeof(*of));
	CHECK(v.n > 10 && !elf_read_names(&h, &a, self, &v, of));
	for (u32 i = 0; i < v.n; i++) {
		const struct symbol *want = elf_at(all, v.v[i]);
		CHECK(!want == !of[i] &&
		      (!want || (str_eq(want->name, of[i]->name) && want->addr == of[i]->addr)));
	}
	struct bytes none = bytes_of("", 0);
	CHECK(elf_take_names(&none, &a, of, 0) && !elf_take_names(&none, &a, of, 1));
	free(of);
	vec_free(&v);
	sandbox_end(&h);
	arena_free(&a);
}
