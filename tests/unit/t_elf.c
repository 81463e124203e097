#include "base/file.h"
#include "base/signals.h"
#include "kern/sandbox.h"
#include "sym/maps.h"
#include "sym/sym.h"
#include "test.h"
#include "types/image.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

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
	err = s ? elf_offset("/proc/self/exe", s->addr, &off) : NULL;
	CHECK(!err && s && off == s->file_off);
	CHECK(!elf_find(&e, STR("no_such_function")));
	for (u32 i = 1; i < e.n; i++)
		CHECK(e.v[i - 1].addr <= e.v[i].addr);
	err = elf_offset("/proc/self/exe", ~0ull, &off);
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
