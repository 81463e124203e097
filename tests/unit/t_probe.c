#include "arch/arch.h"
#include "base/clock.h"
#include "core/unit.h"
#include "kern/bpf.h"
#include "test.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

struct setup {
	struct arena a;
	struct host h;
	struct unit u;
};

static struct setup *setup(void)
{
	struct setup *s = calloc(1, sizeof(*s));
	host_init(&s->h, &s->a, "");
	return s;
}

static void done(struct setup *s)
{
	host_deinit(&s->h);
	arena_free(&s->a);
	free(s);
}

static bool ok(struct err *e)
{
	if (e)
		printf("# %s\n", e->msg);
	err_free(e);
	return !e;
}

/* "kprobe:vfs_read" -> a point; or the message. */
static const char *parse(struct arena *a, const char *text, struct point *p)
{
	struct str rest = str_z(text), name;
	str_cut(&rest, ':', &name);
	if (!rest.s)
		rest = STR("");
	*p = (struct point){.type = probe_type_find(name)};
	if (!p->type)
		return "no such kind";
	p->method = probe_last_method(p->type);
	struct err *e = p->type->parse(a, p, rest);
	const char *msg = e ? arena_fmt(a, "%s", e->msg) : NULL;
	err_free(e);
	return msg;
}

TEST(probe_names)
{
	CHECK_STR(probe_type_find(STR("BEGIN"))->name, "begin");
	CHECK_STR(probe_type_find(STR("U"))->name, "usdt");
	CHECK_STR(probe_type_find(STR("u"))->name, "uprobe");
	CHECK_STR(probe_type_find(STR("UR"))->name, "uretprobe");
	CHECK_STR(probe_type_find(STR("kfunc"))->name, "fentry");
	CHECK_STR(probe_type_find(STR("rt"))->name, "rawtracepoint");
	CHECK(!probe_type_find(STR("foo")));
	CHECK(!probe_type_find(STR("")));
	for (u32 i = 0; probe_types[i]; i++) {
		CHECK(probe_types[i]->syntax && probe_types[i]->doc &&
		      probe_last_method(probe_types[i])->prog_type);
		CHECK(probe_type_find(str_z(probe_types[i]->name)) == probe_types[i]);
	}
}

/* Texts that stay as they are written, or become the second. */
TEST(probe_texts)
{
	static const char *const rows[][2] = {
		{"BEGIN", "begin"},
		{"END", "end"},
		{"k:vfs_read", "kprobe:vfs_read"},
		{"kprobe:vfs_read+4", "kprobe:vfs_read+4"},
		{"kprobe:ext4:ext4_*", "kprobe:ext4:ext4_*"},
		{"kr:vfs_read", "kretprobe:vfs_read"},
		{"t:sched:sched_switch", "tracepoint:sched:sched_switch"},
		{"rt:sched_switch", "rawtracepoint:sched_switch"},
		{"f:vfs_read", "fentry:vfs_read"},
		{"fexit:vmlinux:vfs_read", "fexit:vmlinux:vfs_read"},
		{"p:hz:99", "profile:hz:99"},
		{"profile:10ms", "profile:10ms"},
		{"i:s:5", "interval:s:5"},
		{"s:cs:5", "software:cs:5"},
		{"h:cycles", "hardware:cycles"},
		{"u:/bin/bash:readline", "uprobe:/bin/bash:readline"},
		{"u:/bin/bash:cpp:a::b(int)", "uprobe:/bin/bash:cpp:a::b(int)"},
		{"ur:/bin/bash:readline", "uretprobe:/bin/bash:readline"},
		{"U:/lib/libc.so.6:libc:setjmp", "usdt:/lib/libc.so.6:libc:setjmp"},
		{"w:0x1000:4:rw", "watchpoint:0x1000:4:rw"},
	};
	struct arena a = {0};
	struct point p;
	for (u32 i = 0; i < countof(rows); i++) {
		const char *msg = parse(&a, rows[i][0], &p);
		if (msg)
			printf("# %s: %s\n", rows[i][0], msg);
		CHECK(!msg && str_is(p.text, rows[i][1]));
	}
	CHECK(!parse(&a, "kprobe:vfs_read+0x10", &p) && p.offset == 16 &&
	      str_is(p.name, "vfs_read"));
	CHECK(!parse(&a, "kprobe:0xffffffff81000000", &p) && p.has_addr &&
	      p.addr == 0xffffffff81000000);
	CHECK(!parse(&a, "uprobe:/bin/sh:0x40", &p) && p.has_addr && p.addr == 0x40);
	CHECK(!parse(&a, "profile:ms:5", &p) && p.period == 5000000);
	CHECK(!parse(&a, "interval:10ms", &p) && p.period == 10000000);
	CHECK(!parse(&a, "profile:hz:99", &p) && p.period == 99 && str_is(p.extra, "hz"));
	CHECK(!parse(&a, "software:faults", &p) && p.period == 100);
	CHECK(!parse(&a, "usdt:/x:a:b", &p) && str_is(p.extra, "a") && str_is(p.name, "b"));
	arena_free(&a);
}

static bool join_texts(const struct point *p, void *arg)
{
	sb_fmt(arg, "%.*s ", STRF(p->text));
	return true;
}

static struct err *expand(struct setup *s, const char *text, point_cb *cb, void *arg)
{
	struct point p;
	const char *msg = parse(&s->a, text, &p);
	if (msg)
		return err_new("%s", msg);
	return p.type->expand(&s->h, &s->u, NULL, &p, cb, arg);
}

TEST(probe_lists)
{
	struct setup *s = setup();
	AUTO_SB b = {0};
	CHECK(ok(expand(s, "interval:*", join_texts, &b)));
	CHECK_STR(b.s, "interval:hz: interval:ms: interval:s: interval:us: ");
	sb_clear(&b);
	CHECK(ok(expand(s, "software:c*", join_texts, &b)));
	CHECK_STR(b.s, "software:context-switches: software:cpu: software:cpu-clock: "
		       "software:cpu-migrations: "
		       "software:cs: ");
	sb_clear(&b);
	CHECK(ok(expand(s, "hardware:*cycles", join_texts, &b)));
	CHECK_STR(
		b.s,
		"hardware:bus-cycles: hardware:cpu-cycles: hardware:cycles: hardware:ref-cycles: ");
	sb_clear(&b);
	CHECK(ok(expand(s, "uprobe:*", join_texts, &b)) && !b.n);
	struct err *e = expand(s, "usdt:no-such-file:x", join_texts, &b);
	CHECK(e && str_starts(str_z(e->msg),
			      STR("usdt target file 'no-such-file' does not exist or is not "
				  "executable")));
	err_free(e);
	e = expand(s, "kprobe:0x1000", join_texts, &b);
	CHECK(e && !strcmp(e->msg, "Probing by address requires --unsafe"));
	err_free(e);
	done(s);
}

struct first {
	struct point p;
	u32 n;
};

static bool keep_first(const struct point *p, void *arg)
{
	struct first *f = arg;
	if (!f->n++)
		f->p = *p;
	return true;
}

TEST(probe_typed)
{
	struct setup *s = setup();
	struct first f = {0};
	if (!host_btf(&s->h)) {
		test_skip("no BTF");
		done(s);
		return;
	}
	CHECK(ok(expand(s, "rawtracepoint:sched_switch", keep_first, &f)) && f.n == 1);
	CHECK(str_is(f.p.text, "rawtracepoint:vmlinux:sched_switch"));
	CHECK(ok(f.p.type->types(&s->h, &s->u, &f.p, USE_ARGS | USE_RETVAL)));
	u32 n;
	const struct field *v = type_fields(f.p.args, &n);
	CHECK(f.p.narg == n && n >= 3 && f.p.btf_id);
	CHECK(str_is(v[1].name, "prev") && v[1].bit_off == 64 && v[1].type->kind == T_PTR &&
	      v[1].type->space == AS_BTF);
	f.n = 0;
	CHECK(ok(expand(s, "rawtracepoint:no_such_event", keep_first, &f)) && f.n == 0);
	CHECK(ok(expand(s, "fexit:vfs_read", keep_first, &f)) && f.n == 1);
	CHECK(str_is(f.p.text, "fexit:vmlinux:vfs_read"));
	CHECK(ok(f.p.type->types(&s->h, &s->u, &f.p, USE_ARGS | USE_RETVAL)));
	v = type_fields(f.p.args, &n);
	CHECK(n == 4 && str_is(v[2].name, "count") && f.p.ret && f.p.ret->size == 8);
	f.n = 0;
	CHECK(ok(expand(s, "kprobe:vfs_read", keep_first, &f)) && f.n == 1);
	CHECK(str_is(f.p.text, "kprobe:vfs_read"));
	f.n = 0;
	CHECK(ok(expand(s, "fentry:vfs_rea*", keep_first, &f)) && f.n >= 2);
	done(s);
}

/* ---- attaching: a program that counts its runs ---- */

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})

struct counter {
	struct prog g;
	struct attach attach;
	u64 *count;
	int map;
};

static bool counter_load(struct setup *s, struct counter *c, struct point *p)
{
	struct map_spec m = {"count", BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE};
	*c = (struct counter){.g = {.points = p}, .attach = {.fd = -1}, .map = -1};
	c->attach.prog = &c->g;
	if (!ok(bpf_map_new(&m, &c->map)) || !ok(bpf_map_mmap(c->map, 4096, (void **)&c->count)))
		return false;
	const struct bpf_insn insn[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, c->map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 1, 2, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const struct method *v = p->method;
	struct prog_spec spec = {.name = p->type->name,
				 .license = "GPL",
				 .type = v->prog_type,
				 .attach_type = v->load_as ? v->load_as(&s->h, &s->u, &c->g)
							   : v->attach_type,
				 .attach_btf_id = p->btf_id,
				 .insn = insn,
				 .ninsn = countof(insn)};
	return ok(bpf_prog_new(&s->h, &spec, &c->attach.fd, NULL));
}

static void counter_end(struct counter *c)
{
	for (struct link *l = c->attach.links, *next; l; l = next) {
		next = l->next;
		close_fd(&l->fd);
		close_fd(&l->perf_fd);
		free(l);
	}
	if (c->count)
		munmap(c->count, 4096);
	close_fd(&c->attach.fd);
	close_fd(&c->map);
}

/* How often text fires while act runs; ~0: it did not attach. */
static u64 fires(struct setup *s, const char *text, void (*handle)(void))
{
	struct first f = {0};
	struct counter c;
	u64 n = ~0ull;
	if (!ok(expand(s, text, keep_first, &f)) || !f.n) {
		printf("# no match: %s\n", text);
		return n;
	}
	if (f.p.type->types && !ok(f.p.type->types(&s->h, &s->u, &f.p, USE_ARGS | USE_RETVAL)))
		return n;
	for (u32 i = 0; f.p.btf_id && f.p.type->methods[i]; i++) /* what it is loaded for */
		if (f.p.type->methods[i]->flags & METHOD_TYPED) {
			f.p.method = f.p.type->methods[i];
			break;
		}
	if (counter_load(s, &c, &f.p) && ok(f.p.method->attach(&s->h, &s->u, &c.attach))) {
		u64 before = *c.count;
		handle();
		n = *c.count - before;
	}
	counter_end(&c);
	return n;
}

__attribute__((noinline)) int probe_target(int x);
__attribute__((noinline)) int probe_target(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static void call_target(void)
{
	for (int i = 0; i < 7; i++)
		probe_target(i);
}

static void call_getppid(void)
{
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
}

/* Two places of the static probe sonde:tick, as <sys/sdt.h> would make them; the semaphore counts
 * tracers. */
__attribute__((section(".probes"), used,
	       visibility("hidden"))) volatile unsigned short sonde_tick_semaphore;
static unsigned short semaphore_seen;

#if defined(__x86_64__)
#define TICK(value)                                                    \
	__asm__ volatile("990:	nop\n"                                  \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"  \
			 ".balign 4\n"                                 \
			 ".4byte 992f-991f, 994f-993f, 3\n"            \
			 "991: .asciz \"stapsdt\"\n"                   \
			 "992: .balign 4\n"                            \
			 "993: .8byte 990b, 0, sonde_tick_semaphore\n" \
			 ".asciz \"sonde\"\n"                          \
			 ".asciz \"tick\"\n"                           \
			 ".asciz \"-4@%%eax\"\n"                       \
			 "994: .balign 4\n"                            \
			 ".popsection\n" ::"a"(value))
#else
#define TICK(value) (void)(value)
#endif

static __attribute__((noinline)) void tick(int x)
{
	semaphore_seen = sonde_tick_semaphore;
	TICK(x);
	TICK(-x);
}

static void call_tick(void)
{
	for (int i = 0; i < 3; i++)
		tick(i);
}

static void busy(void)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 60);
}

static void touch(void)
{
	char *p = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (u32 i = 0; i < 64; i++)
		p[i * 4096] = 1;
	munmap(p, 64 * 4096);
}

static bool root(void)
{
	if (geteuid() == 0)
		return true;
	test_skip("needs root");
	return false;
}

TEST(probe_attach_kernel)
{
	if (!root())
		return;
	struct setup *s = setup();
	u64 n = fires(s, "tracepoint:syscalls:sys_enter_getppid", call_getppid);
	CHECK(n >= 50 && n < 5000);
	if (host_btf(&s->h)) {
		n = fires(s, "rawtracepoint:sys_enter", call_getppid);
		CHECK(n >= 50 && n != ~0ull);
	}
	done(s);
}

TEST(probe_attach_user)
{
	if (!root())
		return;
	struct setup *s = setup();
	s->u.pid = getpid();
	for (u32 plain = 0; plain < 2; plain++) {
		if (plain)
			host_disable(&s->h, STR("UPROBE_MULTI"));
		CHECK(fires(s, "uprobe:/proc/self/exe:probe_target", call_target) == 7);
		CHECK(fires(s, "uretprobe:/proc/self/exe:probe_target", call_target) == 7);
		CHECK(fires(s, "uprobe:probe_target", call_target) == 7);
		if (arch_native() != &arch_x86_64) /* the note above is for x86_64 */
			continue;
		CHECK(fires(s, "usdt:/proc/self/exe:sonde:tick", call_tick) == 6);
		CHECK(semaphore_seen > 0 && sonde_tick_semaphore == 0);
		CHECK(fires(s, "usdt:tick", call_tick) == 6);
	}
	done(s);
}

TEST(probe_attach_perf)
{
	if (!root())
		return;
	struct setup *s = setup();
	/* A busy machine gives us few turns, and lets us wait for long. */
	u64 start = now_ns(), n = fires(s, "profile:hz:500", busy);
	u64 ms = (now_ns() - start) / 1000000;
	CHECK(n >= 1 && n <= s->h.ncpu * (ms / 2 + 2));
	start = now_ns();
	n = fires(s, "interval:ms:5", busy);
	ms = (now_ns() - start) / 1000000;
	CHECK(n >= 1 && n <= ms / 5 + 2);
	s->u.pid = getpid();
	n = fires(s, "software:page-faults:1", touch);
	CHECK(n >= 64 && n < 1000); /* a busy virtual machine may fault at a page again */
	done(s);
}
