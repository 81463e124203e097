#include "kern/bpf.h"
#include "kern/perf.h"
#include "kern/tracefs.h"
#include "proc/cgroup.h"
#include "proc/proc.h"
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct setup {
	struct arena a;
	struct host h;
};

static struct setup *setup(const char *root)
{
	struct setup *s = calloc(1, sizeof(*s));
	host_init(&s->h, &s->a, root);
	return s;
}

static void done(struct setup *s)
{
	host_deinit(&s->h);
	arena_free(&s->a);
	free(s);
}

static bool root(void)
{
	if (geteuid() == 0)
		return true;
	test_skip("needs root");
	return false;
}

static bool ok(struct err *e)
{
	if (e)
		printf("# %s\n", e->msg);
	err_free(e);
	return !e;
}

static void put_file(const char *dir, const char *name, const void *data, size_t n)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

static void put_text(const char *dir, const char *name, const char *text)
{
	put_file(dir, name, text, strlen(text));
}

static void remove_tree(const char *dir)
{
	int pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

TEST(kern_recorded_host)
{
	char dir[] = "/tmp/sonde-host-XXXXXX";
	CHECK(mkdtemp(dir));
	put_text(dir, "features", "NONE\nRINGBUF\nkprobe\n");
	put_text(dir, "sys/devices/system/cpu/possible", "0-3,6\n");
	put_text(dir, "sys/devices/system/cpu/online", "0,2-3\n");
	put_text(dir, "etc/passwd", "root:x:0:0::/:/bin/sh\nada:x:1815:1:,:/:\nbroken\n");
	put_text(dir, "sys/kernel/tracing/events/sched/sched_switch/format",
		 "name: sched_switch\n");
	put_text(dir, "sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
	put_text(dir, "sys/kernel/tracing/events/sched/sched_wakeup/format",
		 "name: sched_wakeup\n");
	put_text(dir, "sys/kernel/tracing/events/irq/irq_handler_entry/format", "x\n");
	put_text(dir, "sys/kernel/tracing/events/sched/enable", "0\n");
	put_text(dir, "proc/kallsyms",
		 "ffffffff81000000 T vfs_read\nffffffff81000010 d some_data\nffffffff81000020 t "
		 "ext4_read [ext4]\n");
	struct setup *s = setup(dir);
	CHECK(s->h.ncpu == 5);
	CHECK(host_has(&s->h, FEAT_RINGBUF));
	CHECK(host_has(&s->h, FEAT_KPROBE));
	CHECK(!host_has(&s->h, FEAT_LOOP));
	CHECK(!host_btf(&s->h));
	u32 *cpus, n;
	CHECK(ok(host_online(&s->h, &cpus, &n)) && n == 3 && cpus[1] == 2);
	CHECK(!strcmp(proc_username(&s->h, 1815), "ada"));
	CHECK(!proc_username(&s->h, 7));
	u64 id;
	CHECK(ok(tracefs_id(&s->h, STR("sched"), STR("sched_switch"), &id)) && id == 314);
	CHECK(tracefs_symbol(&s->h, STR("ext4_read")) == 0xffffffff81000020);
	CHECK(!tracefs_symbol(&s->h, STR("nothing")));
	done(s);
	remove_tree(dir);
}

static bool join_events(struct str category, struct str event, void *arg)
{
	sb_fmt(arg, "%.*s:%.*s ", STRF(category), STRF(event));
	return true;
}

static bool join_functions(struct str func, struct str module, void *arg)
{
	sb_fmt(arg, "%.*s[%.*s] ", STRF(func), STRF(module));
	return true;
}

TEST(kern_tracefs)
{
	char dir[] = "/tmp/sonde-host-XXXXXX";
	CHECK(mkdtemp(dir));
	put_text(dir, "sys/kernel/tracing/events/sched/sched_switch/format", "a");
	put_text(dir, "sys/kernel/tracing/events/sched/sched_wakeup/format", "b");
	put_text(dir, "sys/kernel/tracing/events/irq/irq_handler_entry/format", "c");
	put_text(dir, "sys/kernel/tracing/events/sched/enable", "0\n");
	put_text(dir, "proc/kallsyms",
		 "ffffffff81000000 T vfs_read\nffffffff81000010 d vfs_data\nffffffff81000020 t "
		 "vfs_x [ext4]\n"
		 "ffffffff81000030 t vfs_read.cold\n");
	struct setup *s = setup(dir);
	AUTO_SB b = {0};
	CHECK(ok(tracefs_events(&s->h, STR("*"), STR("*"), join_events, &b)));
	CHECK_STR(b.s, "irq:irq_handler_entry sched:sched_switch sched:sched_wakeup ");
	sb_clear(&b);
	CHECK(ok(tracefs_events(&s->h, STR("sched"), STR("*w[ai]*"), join_events, &b)));
	CHECK_STR(b.s, "sched:sched_switch sched:sched_wakeup ");
	sb_clear(&b);
	CHECK(ok(tracefs_events(&s->h, STR("sched"), STR("enable"), join_events, &b)));
	CHECK(ok(tracefs_events(&s->h, STR(".."), STR("events"), join_events, &b)));
	CHECK(b.n == 0);
	CHECK(ok(tracefs_functions(&s->h, STR("vfs_*"), join_functions, &b)));
	CHECK_STR(b.s, "vfs_read[] vfs_x[ext4] ");
	sb_clear(&b);
	put_text(dir, "sys/kernel/tracing/available_filter_functions",
		 "vfs_read\nvfs_open\next4_x [ext4]\nx_vfs_open\nvfs_open_x\nlast");
	CHECK(ok(tracefs_functions(&s->h, STR("*"), join_functions, &b)));
	CHECK_STR(b.s, "vfs_read[] vfs_x[ext4] "); /* that there is no list is kept */
	done(s);
	s = setup(dir);
	sb_clear(&b);
	CHECK(ok(tracefs_functions(&s->h, STR("*"), join_functions, &b)));
	CHECK_STR(b.s, "vfs_read[] vfs_open[] ext4_x[ext4] x_vfs_open[] vfs_open_x[] last[] ");
	sb_clear(&b);
	CHECK(ok(tracefs_functions(&s->h, STR("vfs_open"), join_functions, &b)));
	CHECK(ok(tracefs_functions(&s->h, STR("ext4_x"), join_functions, &b)));
	CHECK(ok(tracefs_functions(&s->h, STR("last"), join_functions, &b)));
	CHECK(ok(tracefs_functions(&s->h, STR("ext4"), join_functions, &b)));
	CHECK_STR(b.s, "vfs_open[] ext4_x[ext4] last[] ");
	done(s);
	remove_tree(dir);
}

/* An ld.so.cache as glibc writes it: header, two entries, texts. */
TEST(kern_library_cache)
{
	char dir[] = "/tmp/sonde-host-XXXXXX";
	CHECK(mkdtemp(dir));
	static const char texts[] = "libz.so.1\0/lib/libz.so.1\0libc.so.6\0/lib/libc.so.6";
	u8 image[48 + 2 * 24 + sizeof(texts)] = "glibc-ld.so.cache1.1";
	u32 flags = arch_native()->ldcache_flags;
	u32 n = 2, base = 48 + 2 * 24;
	const u32 at[2][2] = {{0, 10}, {25, 35}};
	memcpy(image + 20, &n, 4);
	for (u32 i = 0; i < 2; i++) {
		u32 row[3] = {flags, base + at[i][0], base + at[i][1]};
		memcpy(image + 48 + i * 24, row, sizeof(row));
	}
	memcpy(image + base, texts, sizeof(texts));
	put_file(dir, "etc/ld.so.cache", image, sizeof(image));
	struct setup *s = setup(dir);
	const char *p = proc_library(&s->h, &s->a, 0, "libc");
	CHECK(p && !strcmp(p, "/lib/libc.so.6"));
	p = proc_library(&s->h, &s->a, 0, "libz.so.1");
	CHECK(p && !strcmp(p, "/lib/libz.so.1"));
	CHECK(!proc_library(&s->h, &s->a, 0, "libcrypto"));
	/* Cut short at every length: nothing found, nothing read beyond. */
	for (size_t cut = 0; cut < sizeof(image); cut += 7) {
		put_file(dir, "etc/ld.so.cache", image, cut);
		(void)proc_library(&s->h, &s->a, 0, "libnothing");
	}
	done(s);
	remove_tree(dir);
}

TEST(kern_host)
{
	struct setup *s = setup("");
	CHECK(s->h.ncpu >= 1);
	CHECK(s->h.page_size >= 4096);
	struct str text;
	struct err *e = host_read(&s->h, &text, "/nonexistent/%d", 5);
	CHECK(e && e->no == ENOENT &&
	      !strcmp(e->msg, "read /nonexistent/5: No such file or directory"));
	err_free(e);
	CHECK(ok(host_read(&s->h, &text, "/proc/self/status")) &&
	      str_find(text, STR("CapEff")) > 0);
	CHECK(host_disable(&s->h, STR("ringbuf")));
	CHECK(!host_disable(&s->h, STR("rongbuf")));
	CHECK(!host_has(&s->h, FEAT_RINGBUF));
	CHECK(host_has(&s->h, FEAT_NONE));
	CHECK_STR(feature_name(FEAT_KPROBE_MULTI), "KPROBE_MULTI");
	CHECK(host_boot_offset_ns() > 1000000000ull);
	done(s);
}

TEST(kern_which)
{
	struct setup *s = setup("");
	char *p = proc_which(&s->a, "sh");
	CHECK(p && p[0] == '/');
	CHECK(!proc_which(&s->a, "no-such-program-here"));
	CHECK(!proc_which(&s->a, "/etc/passwd"));
	CHECK(!proc_which(&s->a, ""));
	CHECK(proc_alive(getpid()));
	CHECK(!proc_alive(0));
	done(s);
}

TEST(kern_child)
{
	char path[] = "/tmp/sonde-child-XXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	char cmd[256];
	snprintf(cmd, sizeof(cmd), "sh -c \"echo  'a b' > %s\"", path);
	struct child c;
	CHECK(ok(proc_child_start(cmd, NULL, &c)));
	struct stat st;
	usleep(20000);
	CHECK(!stat(path, &st) && st.st_size == 0); /* not yet */
	struct err *e;
	int pidfd = proc_pidfd(c.pid, &e);
	CHECK(ok(e) && pidfd >= 0);
	CHECK(ok(proc_child_go(&c)));
	int status = -1;
	waitpid(c.pid, &status, 0);
	CHECK(status == 0);
	char text[16] = "";
	CHECK(pread(fd, text, sizeof(text) - 1, 0) == 4);
	CHECK_STR(text, "a b\n");
	close(pidfd);
	close(fd);
	unlink(path);
	free(c.path);
	e = proc_child_start("/nope x", NULL, &c);
	CHECK(e && !strcmp(e->msg, "Path '/nope' does not exist or is not executable "
				   "(No such file or directory)"));
	err_free(e);
	e = proc_child_start("echo 'x", NULL, &c);
	CHECK(e);
	err_free(e);
}

TEST(kern_child_exec_fails)
{
	char path[] = "/tmp/sonde-child-XXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, "\177ELFjunk", 8) == 8 && !fchmod(fd, 0755));
	close(fd);
	struct child c;
	CHECK(ok(proc_child_start(path, NULL, &c)));
	struct err *e = proc_child_go(&c);
	CHECK(e && e->no == ENOEXEC);
	err_free(e);
	waitpid(c.pid, NULL, 0);
	free(c.path);
	unlink(path);
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV0 INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

TEST(kern_features)
{
	if (!root())
		return;
	struct setup *s = setup("");
	printf("#");
	for (u32 f = 0; f < FEAT_COUNT; f++)
		printf(" %s%s", host_has(&s->h, f) ? "" : "-", feature_name(f));
	printf("\n");
	done(s);
}

/* Those that are tried in one program are those that each by itself says. */
TEST(kern_usual_features)
{
	static const enum feature usual[] = {FEAT_GROWS, FEAT_ATOMIC, FEAT_LOOP, FEAT_TASK_BTF};
	if (!root())
		return;
	struct setup *s = setup("");
	bool one[countof(usual)];
	s->h.usual_tried = true;
	for (u32 i = 0; i < countof(usual); i++)
		one[i] = host_has(&s->h, usual[i]);
	memset(s->h.feature, 0, sizeof(s->h.feature));
	s->h.usual_tried = false;
	for (u32 i = 0; i < countof(usual); i++)
		CHECK(host_has(&s->h, usual[i]) == one[i]);
	CHECK(s->h.usual_tried);
	memset(s->h.feature, 0, sizeof(s->h.feature));
	s->h.usual_tried = false;
	CHECK(host_disable(&s->h, STR("loop")));
	CHECK(!host_has(&s->h, FEAT_LOOP) && host_has(&s->h, FEAT_ATOMIC) == one[1]);
	CHECK(!s->h.usual_tried);
	done(s);
}

static u32 rows_seen(int fd, u32 key_size, u32 max)
{
	u8 *keys, *vals;
	u32 n = 0;
	if (!ok(bpf_map_all(fd, key_size, 8, max, &keys, &vals, &n)))
		return 0;
	u64 sum = 0, want = 0;
	for (u32 i = 0; i < n; i++) {
		u64 k = 0, v;
		memcpy(&k, keys + i * key_size, MIN(key_size, 8u));
		memcpy(&v, vals + i * 8, 8);
		CHECK(v == 3 * k);
		sum += v;
		want += 3 * (u64)i;
	}
	CHECK(sum == want);
	free(keys);
	free(vals);
	return n;
}

TEST(kern_maps)
{
	if (!root())
		return;
	struct map_spec m = {"@odd name!", BPF_MAP_TYPE_HASH, 8, 8, 3000, 0};
	int fd = -1;
	CHECK(ok(bpf_map_new(&m, &fd)));
	CHECK(rows_seen(fd, 8, 3000) == 0);
	for (u64 i = 0; i < 2500; i++) {
		u64 v = 3 * i;
		CHECK(ok(bpf_map_put(fd, &i, &v)));
	}
	CHECK(rows_seen(fd, 8, 3000) == 2500);
	u64 k = 7, v = 0;
	CHECK(ok(bpf_map_get(fd, &k, &v)) && v == 21);
	k = 9999;
	struct err *e = bpf_map_get(fd, &k, &v);
	CHECK(e && e->no == ENOENT);
	err_free(e);
	u32 n = 0;
	for (bool more = bpf_map_next(fd, NULL, &k); more && n <= 2500;
	     more = bpf_map_next(fd, &k, &k))
		n++;
	CHECK(n == 2500);
	k = 7;
	CHECK(ok(bpf_map_del(fd, &k)));
	close(fd);
	struct map_spec bad = {"bad", BPF_MAP_TYPE_HASH, 0, 8, 1, 0};
	e = bpf_map_new(&bad, &fd);
	CHECK(e && e->no == EINVAL);
	err_free(e);
}

TEST(kern_array_mmap)
{
	if (!root())
		return;
	struct map_spec m = {"array", BPF_MAP_TYPE_ARRAY, 4, 4096, 1, BPF_F_MMAPABLE};
	int fd = -1;
	void *p;
	CHECK(ok(bpf_map_new(&m, &fd)));
	CHECK(ok(bpf_map_mmap(fd, 4096, &p)));
	memset(p, 0x5a, 4096);
	u8 *keys, *vals;
	u32 n;
	CHECK(ok(bpf_map_all(fd, 4, 4096, 1, &keys, &vals, &n)) && n == 1 && vals[4095] == 0x5a);
	free(keys);
	free(vals);
	close(fd);
}

TEST(kern_programs)
{
	if (!root())
		return;
	struct setup *s = setup("");
	/* "return ctx[1]" */
	const struct bpf_insn get[] = {INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 8, 0), EXIT};
	const struct func_info func[] = {{0, STR("raw tp:prog"), 1, false}};
	const struct line_info line[] = {{0, 1, 5, STR("stdin"), STR("begin { exit(); }")},
					 {1, 1, 9, STR("stdin"), STR("begin { exit(); }")}};
	struct prog_spec p = {.name = "raw",
			      .license = "GPL",
			      .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			      .insn = get,
			      .ninsn = countof(get),
			      .func = func,
			      .nfunc = 1,
			      .line = line,
			      .nline = 2};
	const struct bpf_insn null[] = {MOV0, INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 0, 0, 0), EXIT};
	int fd = -1;
	char *log = NULL;
	CHECK(ok(bpf_prog_new(&s->h, &p, &fd, &log)) && !log);
	u64 ctx[2] = {5, 42}, misses = 9;
	u32 ret = 0;
	CHECK(ok(bpf_prog_run(fd, ctx, 2, &ret)) && ret == 42);
	CHECK(ok(bpf_prog_misses(fd, &misses)) && misses == 0);
	close(fd);
	p.log_level = 2;
	CHECK(ok(bpf_prog_new(&s->h, &p, &fd, &log)) && log && strstr(log, "begin { exit(); }"));
	free(log);
	close(fd);
	p = (struct prog_spec){
		.name = "bad", .type = BPF_PROG_TYPE_KPROBE, .insn = null, .ninsn = 3};
	struct err *e = bpf_prog_new(&s->h, &p, &fd, &log);
	CHECK(e && log && strstr(log, "invalid mem access"));
	err_free(e);
	free(log);
	done(s);
}

static void count_record(void *arg, const void *data, size_t n)
{
	u64 v;
	memcpy(&v, data, sizeof(v));
	CHECK(n >= 8 && v == 7);
	++*(u32 *)arg;
}

/* A raw tracepoint program that sends the 8 bytes 7, run a few times. */
static void ring_test(struct setup *s, bool perf)
{
	struct map_spec m = {"ring",
			     perf ? BPF_MAP_TYPE_PERF_EVENT_ARRAY : BPF_MAP_TYPE_RINGBUF,
			     perf ? 4 : 0,
			     perf ? 4 : 0,
			     perf ? s->h.ncpu : 65536,
			     0};
	int map = -1, fd = -1;
	CHECK(ok(bpf_map_new(&m, &map)));
	const struct bpf_insn ring_insn[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 7),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, 130),
		MOV0,
		EXIT,
	};
	const struct bpf_insn perf_insn[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 7),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 5, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, 25),
		MOV0,
		EXIT,
	};
	struct prog_spec p = {.name = "ring",
			      .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			      .insn = perf ? perf_insn : ring_insn,
			      .ninsn = countof(ring_insn)};
	CHECK(ok(bpf_prog_new(&s->h, &p, &fd, NULL)));
	struct ring *r = NULL;
	u32 n = 0, ret;
	struct ring_spec spec = {
		.fd = map, .bytes = 65536, .perf = perf, .cb = count_record, .arg = &n};
	CHECK(ok(ring_new(&s->h, &spec, &r)));
	if (!r)
		return;
	for (u32 i = 0; i < 5; i++)
		CHECK(ok(bpf_prog_run(fd, NULL, 0, &ret)));
	CHECK(ring_fd(r) >= 0);
	u64 first = ring_consume(r, 2);
	CHECK(perf ? first >= 2 : first == 2);
	CHECK(first + ring_consume(r, 0) == 5);
	CHECK(n == 5);
	CHECK(ring_consume(r, 0) == 0);
	ring_free(r);
	close(fd);
	close(map);
}

/* 64-bit numbers that count up, in a ring that holds ever further ones: what is read is mapped in parts. */
static void count_up(void *arg, const void *data, size_t n)
{
	u64 *next = arg;
	CHECK(n == 4088 && *(const u64 *)data == *next);
	++*next;
}

/* Bytes of such mappings that this process has. */
static u64 mapped_of_maps(void)
{
	char line[512];
	u64 from, to, all = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "bpf-map") && sscanf(line, "%llx-%llx", &from, &to) == 2)
			all += to - from;
	if (f)
		fclose(f);
	return all;
}

static void rare_ring_test(struct setup *s)
{
	enum { BYTES = 4 << 20, N = 2500 };
	struct map_spec records = {"rare", BPF_MAP_TYPE_RINGBUF, 0, 0, BYTES, 0};
	struct map_spec value = {"value", BPF_MAP_TYPE_ARRAY, 4, 4088, 1, 0};
	int map = -1, number = -1, fd = -1;
	CHECK(ok(bpf_map_new(&records, &map)) && ok(bpf_map_new(&value, &number)));
	const struct bpf_insn insn[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, number),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 9, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 6, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 4088),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, 130),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_XADD | BPF_DW, 6, 1, 0, 0),
		MOV0,
		EXIT,
	};
	struct prog_spec p = {.name = "rare",
			      .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			      .insn = insn,
			      .ninsn = countof(insn)};
	CHECK(ok(bpf_prog_new(&s->h, &p, &fd, NULL)));
	struct ring *r = NULL;
	u64 next = 0, before = mapped_of_maps();
	struct ring_spec spec = {
		.fd = map, .bytes = BYTES, .rare = true, .cb = count_up, .arg = &next};
	CHECK(ok(ring_new(&s->h, &spec, &r)));
	u32 ret;
	for (u32 i = 0; r && i < N; i++) {
		CHECK(ok(bpf_prog_run(fd, NULL, 0, &ret)));
		if (i % 700 == 699)
			ring_consume(r, 0);
		CHECK(mapped_of_maps() - before <= 1 << 20);
	}
	if (r)
		ring_consume(r, 0);
	CHECK(next == N);
	ring_free(r);
	CHECK(mapped_of_maps() == before);
	close(fd);
	close(map);
	close(number);
}

TEST(kern_rare_ring)
{
	if (!root())
		return;
	struct setup *s = setup("");
	if (host_has(&s->h, FEAT_RINGBUF) && host_has(&s->h, FEAT_RAW_TP_RUN))
		rare_ring_test(s);
	done(s);
}

TEST(kern_ring)
{
	if (!root())
		return;
	struct setup *s = setup("");
	if (host_has(&s->h, FEAT_RINGBUF) && host_has(&s->h, FEAT_RAW_TP_RUN))
		ring_test(s, false);
	ring_test(s, true);
	done(s);
}

TEST(kern_raw_tp)
{
	if (!root())
		return;
	struct setup *s = setup("");
	const struct bpf_insn insn[] = {MOV0, EXIT};
	struct prog_spec p = {
		.name = "rawtp", .type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insn = insn, .ninsn = 2};
	int fd = -1, link = -1;
	CHECK(ok(bpf_prog_new(&s->h, &p, &fd, NULL)));
	CHECK(ok(bpf_raw_tp(fd, "sched_process_exit", &link)));
	close(link);
	struct err *e = bpf_raw_tp(fd, "no_such_tracepoint", &link);
	CHECK(e && strstr(e->msg, "no_such_tracepoint"));
	err_free(e);
	close(fd);
	done(s);
}

TEST(kern_perf)
{
	if (!root())
		return;
	struct setup *s = setup("");
	const struct bpf_insn insn[] = {MOV0, EXIT};
	struct prog_spec p = {
		.name = "clock", .type = BPF_PROG_TYPE_PERF_EVENT, .insn = insn, .ninsn = 2};
	int prog = -1, fd = -1;
	CHECK(ok(bpf_prog_new(&s->h, &p, &prog, NULL)));
	struct perf_spec spec = {.type = PERF_TYPE_SOFTWARE,
				 .config = PERF_COUNT_SW_CPU_CLOCK,
				 .period = 99,
				 .freq = true,
				 .pid = -1,
				 .cpu = 0};
	CHECK(ok(perf_open(&spec, &fd)));
	CHECK(ok(perf_attach(fd, prog)));
	CHECK(ok(perf_disable(fd)));
	close(fd);
	spec.pid = getpid();
	spec.cpu = -1;
	spec.inherit = true;
	CHECK(ok(perf_open(&spec, &fd)));
	close(fd);
	close(prog);
	done(s);
}

TEST(kern_cgroup)
{
	struct setup *s = setup("");
	u64 id;
	struct err *doubt = NULL;
	struct err *e = cgroup_id(&s->h, "/no/such/group", &id, &doubt);
	CHECK(e);
	err_free(e);
	e = cgroup_id(&s->h, "/", &id, &doubt);
	err_free(e);
	err_free(doubt);
	done(s);
}
