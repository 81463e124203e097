/* Records of mappings as the kernel writes them, and what becomes of them. */
#include "kern/mmaps.h"
#include "sym/procs.h"
#include "test.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- making records ---- */

static void put32(struct sb *b, u32 v)
{
	sb_mem(b, &v, sizeof(v));
}

static void put64(struct sb *b, u64 v)
{
	sb_mem(b, &v, sizeof(v));
}

static size_t begin(struct sb *b, u32 type, u16 misc)
{
	size_t at = b->n;
	put32(b, type);
	sb_mem(b, &misc, sizeof(misc));
	sb_mem(b, "\0", 2);
	return at;
}

static void end(struct sb *b, size_t at, u64 ns)
{
	put64(b, ns);
	u16 size = (u16)(b->n - at);
	memcpy(b->s + at + 6, &size, sizeof(size));
}

static void put_map(struct sb *b, u32 pid, u64 start, u64 len, const char *path)
{
	size_t at = begin(b, PERF_RECORD_MMAP2, 0);
	put32(b, pid);
	put32(b, pid);
	put64(b, start);
	put64(b, len);
	put64(b, 0x1000); /* offset */
	put32(b, 8);
	put32(b, 1);
	put64(b, 77); /* inode */
	put64(b, 0);
	put64(b, 5);
	sb_mem(b, path, strlen(path) + 1);
	sb_pad(b, 0, ALIGN_UP(b->n, 8) - b->n);
	end(b, at, 100);
}

static void put_task(struct sb *b, u32 type, const u32 word[4], u64 ns)
{
	size_t at = begin(b, type, 0);
	for (u32 i = 0; i < 4; i++)
		put32(b, word[i]);
	put64(b, ns);
	end(b, at, ns);
}

static void put_comm(struct sb *b, u32 pid, u16 misc)
{
	size_t at = begin(b, PERF_RECORD_COMM, misc);
	put32(b, pid);
	put32(b, pid);
	sb_mem(b, "name\0\0\0", 8);
	end(b, at, 7);
}

static bool parse_one(struct sb *b, struct mmap_event *n)
{
	struct bytes all = bytes_of(b->s, b->n), record;
	bool ok = mmaps_next(&all, &record) && mmaps_parse(record, n);
	return ok && all.at == all.n;
}

TEST(mmaps_records)
{
	AUTO_SB b = {0};
	struct mmap_event n;
	put_map(&b, 5, 0x400000, 0x3000, "/bin/a b");
	CHECK(parse_one(&b, &n) && n.kind == MMAP_EVENT_MAP && n.pid == 5 && n.ns == 100);
	CHECK(n.start == 0x400000 && n.end == 0x403000 && n.off == 0x1000);
	CHECK(n.dev == (8ull << 32 | 1) && n.ino == 77 && str_is(n.path, "/bin/a b"));
	sb_clear(&b);
	put_task(&b, PERF_RECORD_FORK, (u32[]){6, 5, 6, 5}, 9);
	CHECK(parse_one(&b, &n) && n.kind == MMAP_EVENT_FORK && n.pid == 6 && n.parent == 5 &&
	      n.ns == 9);
	sb_clear(&b);
	put_task(&b, PERF_RECORD_FORK, (u32[]){5, 5, 6, 5}, 9);
	CHECK(!parse_one(&b, &n)); /* a thread */
	sb_clear(&b);
	put_task(&b, PERF_RECORD_EXIT, (u32[]){6, 5, 6, 5}, 9);
	CHECK(parse_one(&b, &n) && n.kind == MMAP_EVENT_EXIT && n.pid == 6);
	sb_clear(&b);
	put_task(&b, PERF_RECORD_EXIT, (u32[]){6, 5, 7, 5}, 9);
	CHECK(!parse_one(&b, &n));
	sb_clear(&b);
	put_comm(&b, 6, PERF_RECORD_MISC_COMM_EXEC);
	CHECK(parse_one(&b, &n) && n.kind == MMAP_EVENT_EXEC && n.pid == 6 && n.ns == 7);
	sb_clear(&b);
	put_comm(&b, 6, 0);
	CHECK(!parse_one(&b, &n)); /* only a name */
	sb_clear(&b);
	size_t at = begin(&b, PERF_RECORD_LOST, 0);
	put64(&b, 1);
	put64(&b, 12);
	end(&b, at, 3);
	CHECK(parse_one(&b, &n) && n.kind == MMAP_EVENT_LOST && n.lost == 12);
}

TEST(mmaps_malformed_records)
{
	AUTO_SB b = {0};
	struct mmap_event n;
	struct bytes all, record;
	put_map(&b, 5, 0x1000, 0, "/empty");
	CHECK(!parse_one(&b, &n));
	sb_clear(&b);
	put_map(&b, 5, ~0ull - 5, 100, "/around");
	CHECK(!parse_one(&b, &n));
	sb_clear(&b);
	put_map(&b, 5, 0x1000, 0x1000, "/long/enough");
	memset(b.s + b.n - 32, 'x', 24); /* no end of the name */
	CHECK(!parse_one(&b, &n));
	/* Every length of each kind, and every size that a header can claim. */
	put_comm(&b, 6, PERF_RECORD_MISC_COMM_EXEC);
	put_task(&b, PERF_RECORD_FORK, (u32[]){6, 5, 6, 5}, 9);
	for (u32 type = 0; type < 24; type++)
		for (u16 size = 0; size <= b.n; size++) {
			memcpy(b.s, &type, sizeof(type));
			memcpy(b.s + 6, &size, sizeof(size));
			char *copy = malloc(size + 1u); /* a read behind it is found by asan */
			memcpy(copy, b.s, size);
			all = bytes_of(copy, size);
			if (mmaps_next(&all, &record))
				mmaps_parse(record, &n);
			all = bytes_of(b.s, b.n);
			while (mmaps_next(&all, &record))
				mmaps_parse(record, &n);
			CHECK(all.at <= all.n);
			free(copy);
		}
	all = bytes_of("\0\0\0\0\0\0\0\0", 8);
	CHECK(!mmaps_next(&all, &record) && all.bad); /* size 0 would go on for ever */
}

TEST(mmaps_rings)
{
	AUTO_SB b = {0};
	const u8 *ring = (const u8 *)"abcdefgh";
	CHECK(mmaps_copy(ring, 8, 2, 5, &b) && str_is(sb_str(&b), "cde"));
	sb_clear(&b);
	CHECK(mmaps_copy(ring, 8, 14, 18, &b) && str_is(sb_str(&b), "ghab"));
	sb_clear(&b);
	CHECK(mmaps_copy(ring, 8, 8, 16, &b) && b.n == 8);
	CHECK(!mmaps_copy(ring, 8, 8, 17, &b) && !mmaps_copy(ring, 8, 9, 8, &b));
}

/* ---- processes ---- */

struct table {
	struct host h;
	struct procs p;
	u64 ns;
};

static struct table *table_new(void)
{
	struct table *t = calloc(1, sizeof(*t));
	t->h.root = "/nonexistent"; /* nothing to read there: only notes count */
	t->p = (struct procs){.host = &t->h, .noted = true, .all = true};
	t->ns = 1000;
	return t;
}

static void table_free(struct table *t)
{
	procs_free(&t->p);
	CHECK(!t->p.n && !t->p.narea && !t->p.nmodule && !t->p.nfd);
	free(t);
}

static void note(struct table *t, enum note_kind kind, u32 pid, u32 parent)
{
	procs_event(&t->p, &(struct mmap_event){
				   .kind = kind, .pid = pid, .parent = parent, .ns = ++t->ns});
}

static void map_at(struct table *t, u32 pid, u64 start, u64 len, const char *path)
{
	procs_event(&t->p, &(struct mmap_event){.kind = MMAP_EVENT_MAP,
						.pid = pid,
						.ns = ++t->ns,
						.start = start,
						.end = start + len,
						.off = start,
						.ino = 1,
						.path = str_z(path)});
}

/* "path+offset" in the process, "anon" or "none". */
static const char *at(struct table *t, u32 pid, u64 addr)
{
	static char text[100];
	struct proc *x;
	const struct area *a = procs_at(&t->p, pid, addr, &x);
	if (!a)
		return "none";
	if (!a->module)
		return "anon";
	snprintf(text, sizeof(text), "%.*s+%llx", STRF(a->module->path), addr - a->start + a->off);
	return text;
}

TEST(mmaps_exec_fork_exit)
{
	struct table *t = table_new();
	note(t, MMAP_EVENT_EXEC, 10, 0);
	map_at(t, 10, 0x1000, 0x1000, "/a");
	map_at(t, 10, 0x5000, 0x1000, "/lib (deleted)");
	CHECK_STR(at(t, 10, 0x1fff), "/a+1fff");
	CHECK_STR(at(t, 10, 0x2000), "none");
	CHECK_STR(at(t, 10, 0x5000), "/lib+5000");
	note(t, MMAP_EVENT_FORK, 11, 10);
	map_at(t, 11, 0x8000, 0x1000, "/child");
	CHECK_STR(at(t, 11, 0x1800), "/a+1800");
	CHECK_STR(at(t, 11, 0x8001), "/child+8001");
	CHECK_STR(at(t, 10, 0x8001), "none");
	note(t, MMAP_EVENT_EXEC, 11, 0);
	map_at(t, 11, 0x1800, 0x1000, "/b");
	CHECK_STR(at(t, 11, 0x1900), "/b+1900"); /* the newest knows best */
	CHECK_STR(at(t, 11, 0x1100), "/a+1100"); /* recorded before exec, printed behind it */
	note(t, MMAP_EVENT_EXIT, 11, 0);
	CHECK_STR(at(t, 11, 0x1900), "/b+1900");
	CHECK(procs_get(&t->p, 11)->ended && !procs_get(&t->p, 10)->ended);
	note(t, MMAP_EVENT_FORK, 11, 10); /* somebody else */
	CHECK_STR(at(t, 11, 0x2100), "none");
	CHECK_STR(at(t, 11, 0x1900), "/a+1900");
	table_free(t);
}

TEST(mmaps_late_notes)
{
	struct table *t = table_new();
	note(t, MMAP_EVENT_EXEC, 10, 0);
	map_at(t, 10, 0x1000, 0x1000, "/a");
	t->ns = 500; /* written before, on another CPU */
	note(t, MMAP_EVENT_FORK, 10, 3);
	map_at(t, 10, 0x1000, 0x1000, "/old");
	note(t, MMAP_EVENT_EXIT, 10, 0);
	CHECK_STR(at(t, 10, 0x1000), "/a+1000");
	CHECK(!procs_get(&t->p, 10)->ended);
	note(t, MMAP_EVENT_FORK, 0, 10);
	note(t, MMAP_EVENT_FORK, ~0u, 10);
	CHECK(t->p.n == 1);
	table_free(t);
}

TEST(mmaps_overlaps)
{
	struct table *t = table_new();
	map_at(t, 1, 0x1000, 0x9000, "/a");
	map_at(t, 1, 0x3000, 0x1000, "/b"); /* within */
	CHECK_STR(at(t, 1, 0x2fff), "/a+2fff");
	CHECK_STR(at(t, 1, 0x3fff), "/b+3fff");
	CHECK_STR(at(t, 1, 0x4000), "/a+4000");
	map_at(t, 1, 0x2000, 0x1800, "/c"); /* over the end of one and the start of the next */
	CHECK_STR(at(t, 1, 0x1fff), "/a+1fff");
	CHECK_STR(at(t, 1, 0x37ff), "/c+37ff");
	CHECK_STR(at(t, 1, 0x3800), "/b+3800");
	map_at(t, 1, 0x1000, 0x9000, "//anon"); /* over all */
	CHECK_STR(at(t, 1, 0x1000), "anon");
	CHECK_STR(at(t, 1, 0x9fff), "anon");
	CHECK(procs_get(&t->p, 1)->now->n == 1);
	for (u64 seed = 1, i = 0; i < 3000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		map_at(t, 1, 1 + (seed >> 40) % 500, 1 + (seed >> 20) % 40, i % 2 ? "/x" : "/y");
	}
	const struct aspace *s = procs_get(&t->p, 1)->now;
	for (u32 i = 0; i < s->n; i++) {
		CHECK(s->v[i].start < s->v[i].end && (!i || s->v[i - 1].end <= s->v[i].start));
		if (s->v[i].module)
			CHECK(s->v[i].off == s->v[i].start);
	}
	CHECK(t->p.narea == s->n);
	table_free(t);
}

TEST(mmaps_bounded)
{
	struct table *t = table_new();
	char path[32];
	for (u32 pid = 1; pid < 40000; pid++) {
		note(t, MMAP_EVENT_EXEC, pid, 0);
		for (u64 i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "/tmp/%u/%llu", pid, i);
			map_at(t, pid, 0x1000 * (i + 1), 0x1000, path);
		}
		note(t, MMAP_EVENT_EXIT, pid, 0);
	}
	CHECK(t->p.n < 20000 && t->p.nmodule < 4 * 20000 * 2);
	CHECK_STR(at(t, 39999, 0x1001), "/tmp/39999/0+1001");
	CHECK_STR(at(t, 1, 0x1001), "none");
	for (u64 i = 0; i < 10000; i++)
		map_at(t, 39999, 0x100000 + 0x2000 * i, 0x1000, "/many");
	CHECK(procs_get(&t->p, 39999)->now->n <= 4096);
	for (u32 i = 0; i < 20; i++) {
		note(t, MMAP_EVENT_EXEC, 39999, 0);
		map_at(t, 39999, 0x1000, 0x1000, "/again");
	}
	CHECK(t->p.narea < 4 * 4096 + 3 * t->p.n);
	table_free(t);
}

/* Children of a process that maps much share what it has, until one of them changes it. */
TEST(mmaps_children_share)
{
	enum { AREAS = 300, CHILDREN = 4000 };
	struct table *t = table_new();
	note(t, MMAP_EVENT_EXEC, 1, 0);
	for (u64 i = 0; i < AREAS; i++)
		map_at(t, 1, 0x100000 + 0x2000 * i, 0x1000, "/parent");
	for (u32 pid = 2; pid < 2 + CHILDREN; pid++) {
		note(t, MMAP_EVENT_FORK, pid, 1);
		note(t, MMAP_EVENT_EXIT, pid, 0);
	}
	CHECK(t->p.n == CHILDREN + 1 && t->p.narea == AREAS);
	CHECK_STR(at(t, 2, 0x100001), "/parent+100001");
	note(t, MMAP_EVENT_FORK, 9000, 1);
	map_at(t, 9000, 0x100000, 0x1000, "/child");
	map_at(t, 1, 0x102000, 0x1000, "/later");
	CHECK_STR(at(t, 2, 0x100001), "/parent+100001");
	CHECK_STR(at(t, 2, 0x102001), "/parent+102001");
	CHECK_STR(at(t, 9000, 0x100001), "/child+100001");
	CHECK_STR(at(t, 9000, 0x102001), "/parent+102001");
	CHECK_STR(at(t, 1, 0x102001), "/later+102001");
	CHECK(t->p.narea == 3 * AREAS);
	table_free(t);
}

TEST(mmaps_lost)
{
	struct table *t = table_new();
	struct proc *x;
	u32 pid = (u32)getpid();
	u64 addr = (u64)(uintptr_t)&table_new;
	t->h.root = "";
	note(t, MMAP_EVENT_EXEC, pid, 0);
	map_at(t, pid, addr & ~4095ull, 4096, "/wrong");
	CHECK(!strncmp(at(t, pid, addr), "/wrong+", 7));
	note(t, MMAP_EVENT_LOST, 0, 0);
	procs_at(&t->p, pid, addr, &x); /* it lives: /proc knows better */
	CHECK(x && x->doubt == t->p.doubt && strstr(at(t, pid, addr), "/unit+"));
	table_free(t);
}

/* What a real child did. */
struct seen {
	u32 pid, exec, map, exit;
	struct syms *syms;
	u64 addr;
};

static void see(void *arg, const struct mmap_event *n)
{
	struct seen *s = arg;
	if (n->pid != s->pid)
		return;
	s->exec += n->kind == MMAP_EVENT_EXEC;
	s->exit += n->kind == MMAP_EVENT_EXIT;
	if (n->kind == MMAP_EVENT_MAP && n->path.s[0] == '/') {
		s->map++;
		s->addr = n->start;
	}
	sym_user_event(s->syms, n);
}

static void watch_child(struct host *h, int pid, int gate)
{
	struct mmaps *m;
	struct symbol sym;
	struct seen seen = {.pid = (u32)pid};
	struct err *e = mmaps_open(h, pid, 0, &m);
	CHECK(write(gate, "x", 1) == 1);
	waitpid(pid, NULL, 0);
	if (e) {
		test_skip("no perf events");
		err_free(e);
		return;
	}
	syms_init(h, true, &seen.syms);
	sym_user_events(seen.syms, mmaps_of_all(m));
	mmaps_drain(m, see, &seen);
	CHECK(seen.exec == 1 && seen.exit == 1 && seen.map > 0);
	CHECK(sym_user(seen.syms, (u32)pid, seen.addr, &sym) && sym.module.s[0] == '/');
	CHECK(!sym_user(seen.syms, (u32)pid, 0x10, &sym));
	syms_free(seen.syms);
	mmaps_free(m);
}

TEST(mmaps_of_a_child)
{
	struct arena a = {0};
	struct host h;
	int gate[2];
	char c;
	host_init(&h, &a, "");
	CHECK(!pipe(gate));
	int pid = fork();
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 1 && execl("/bin/sh", "sh", "-c", ":", NULL));
	}
	close(gate[0]);
	watch_child(&h, pid, gate[1]);
	close(gate[1]);
	host_deinit(&h);
	arena_free(&a);
}

/* ---- what is there before ---- */

static void put_process(const char *root, const char *pid, const char *stat, const char *maps)
{
	static const char *const name[] = {"stat", "maps"};
	char path[128];
	snprintf(path, sizeof(path), "%s/proc/%s", root, pid);
	CHECK(!mkdir(path, 0755));
	for (u32 i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/proc/%s/%s", root, pid, name[i]);
		FILE *f = fopen(path, "w");
		CHECK(f && fputs(i ? maps : stat, f) >= 0 && !fclose(f));
	}
}

static void remove_process(const char *root, const char *pid)
{
	static const char *const name[] = {"/stat", "/maps", ""};
	char path[128];
	for (u32 i = 0; i < countof(name); i++) {
		snprintf(path, sizeof(path), "%s/proc/%s%s", root, pid, name[i]);
		CHECK(!remove(path));
	}
}

/* 2 is of the kernel, 30 has used the most processor time. */
TEST(mmaps_that_are_there_the_busiest_first)
{
	static const char code[] = "1000-2000 r-xp 00000000 08:01 5 /bin/a\n";
	char root[] = "/tmp/sonde-unit-XXXXXX", path[64];
	struct table *t = table_new();
	CHECK(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	CHECK(!mkdir(path, 0755));
	put_process(root, "2", "2 (kthreadd) S 0 0 0 0 -1 1 0 0 0 0 900 900 0 0 20 0 1 0 1 0 0",
		    "");
	put_process(root, "10", "10 (a) S 1 1 1 0 -1 1 0 0 0 0 7 3 0 0 20 0 1 0 1 4096 9", code);
	put_process(root, "20", "20 (b) S) R 1 1 1 0 -1 1 9 9 9 9 50 51 0 0 20 0 1 0 1 4096 9",
		    code);
	put_process(root, "30", "30 (c) S 1 1 1 0 -1 1 0 0 0 0 60 900 0 0 20 0 1 0 1 4096 9", code);
	t->h.root = root;
	procs_read_all(&t->p);
	const struct proc *x = t->p.alive.first;
	CHECK(t->p.n == 3 && x->pid == 30 && x->next->pid == 20 && x->next->next->pid == 10);
	CHECK(x->now->n == 1);
	remove_process(root, "2");
	remove_process(root, "10");
	remove_process(root, "20");
	remove_process(root, "30");
	CHECK(!remove(path) && !remove(root));
	table_free(t);
}
