/*
 * oracle [-v] [-n N] [-x FEATURE,...] FILE...: the programs of each script that sonde itself runs (begin, end,
 * test, bench, self), once in the kernel and once by vm/. Both must leave the same maps, send the same
 * records and return the same values, byte by byte.
 *
 * The interpreter is strict: what a program has not stored on its stack, or lost by a call, is poison.
 * The kernel runs them twice: a script whose two runs differ (it prints the time, or a random number)
 * says nothing. Each script has a process of its own. The last line says how many were compared; exit
 * status 1 if one differed, or fewer than N were compared. -v: says of each script what became of it.
 * -x: features of the kernel that the compiler does without. As root.
 *
 * oracle -b [-x FEATURE,...]: how fast the interpreter is, on this machine.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "kern/rings.h"
#include "run/session.h"
#include "vm/vm.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { PAGE = 4096, SECONDS = 60, START = 12345 };

enum verdict {
	SAME,
	DIFFERS,
	UNFIT,   /* it does not compile or load here, or has no such programs */
	LACKING, /* it asks for what only the kernel knows */
	VARIES,
	VERDICTS
};
static const char *const verdicts[] = {"same", "differs", "unfit", "lacking", "varies"};

static const enum prog_phase phases[] = {PROG_BEGIN, PROG_SIGNAL, PROG_TEST, PROG_BENCH, PROG_END};

/* ---- what a run leaves behind ---- */

struct content {
	u8 *keys, *vals; /* heap, by key */
	u32 n;
};

struct result {
	struct sb records, returned;
	struct content *map; /* by index in the unit */
};

static void result_free(struct result *r, const struct unit *u)
{
	sb_free(&r->records);
	sb_free(&r->returned);
	for (u32 i = 0; r->map && i < u->nmap; i++) {
		free(r->map[i].keys);
		free(r->map[i].vals);
	}
	free(r->map);
}

/* Time is not compared. */
static void take_record(void *arg, const void *data, size_t n)
{
	struct result *r = arg;
	const struct record *rec = data;
	if (n < sizeof(*rec) || rec->schema == RECORD_NONE)
		return;
	struct record head = {.schema = rec->schema, .size = rec->size};
	sb_mem(&r->records, &head, sizeof(head));
	sb_mem(&r->records, rec->data, MIN(rec->size, n - sizeof(*rec)));
	sb_pad(&r->records, 0, ALIGN_UP(r->records.n, 8) - r->records.n);
}

/* Records, and what is about them, differ in time and place. */
static bool is_compared(const struct unit *u, const struct map *m)
{
	return m->role != MAP_RING && m->role != MAP_SCRATCH && m != u->turns && m != u->wake &&
	       m != u->shares && !m->in && m->map_type != BPF_MAP_TYPE_RINGBUF;
}

static u32 user_size(const struct map *m, u32 ncpu)
{
	bool percpu = m->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
		      m->map_type == BPF_MAP_TYPE_PERCPU_ARRAY ||
		      m->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	return percpu ? ALIGN_UP(m->val_size, 8u) * ncpu : m->val_size;
}

static u32 sort_size;
static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sort_size);
}

/* Hash maps have no order. */
static void sort_content(struct content *c, u32 key_size, u32 val_size)
{
	u32 size = key_size + val_size;
	u8 *all = xcalloc(c->n + 1ul, size);
	for (u32 i = 0; i < c->n; i++) {
		memcpy(all + (size_t)i * size, c->keys + (size_t)i * key_size, key_size);
		memcpy(all + (size_t)i * size + key_size, c->vals + (size_t)i * val_size, val_size);
	}
	sort_size = key_size;
	qsort(all, c->n, size, by_key);
	for (u32 i = 0; i < c->n; i++) {
		memcpy(c->keys + (size_t)i * key_size, all + (size_t)i * size, key_size);
		memcpy(c->vals + (size_t)i * val_size, all + (size_t)i * size + key_size, val_size);
	}
	free(all);
}

/* ---- the kernel ---- */

static void drain(struct session *s, struct result *r)
{
	if (s->live.ring)
		ring_consume(s->live.ring, 0);
	for (size_t at = 0; at < s->reporter.records.held.n;) {
		const struct record *rec = (const void *)(s->reporter.records.held.s + at);
		take_record(r, rec, sizeof(*rec) + rec->size);
		at += ALIGN_UP(sizeof(*rec) + rec->size, 8);
	}
	sb_clear(&s->reporter.records.held);
}

static struct err *kernel_maps(struct session *s, struct result *r)
{
	const struct unit *u = s->u;
	r->map = xcalloc(u->nmap + 1, sizeof(*r->map));
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		struct content *c = &r->map[i];
		if (!is_compared(u, m) || map_fd(s, m) < 0)
			continue;
		u32 size = user_size(m, s->h->ncpu);
		struct err *e = bpf_map_all(map_fd(s, m), m->key_size, size, m->max_entries,
					    &c->keys, &c->vals, &c->n);
		if (e)
			return err_wrap(e, "map %.*s: ", STRF(m->name));
		sort_content(c, m->key_size, size);
	}
	return NULL;
}

static struct err *kernel_progs(struct session *s, struct result *r)
{
	for (u32 k = 0; k < countof(phases); k++)
		for (u32 i = 0; i < s->u->nprog; i++) {
			const struct prog *p = s->u->prog[i];
			for (u32 n = p->phase == phases[k] ? point_count(p->points) : 0; n; n--) {
				u32 ret = 0;
				struct err *e = bpf_prog_run(prog_fd(s, p), NULL, 0, &ret);
				if (e)
					return e;
				sb_mem(&r->returned, &ret, sizeof(ret));
				drain(s, r);
			}
		}
	return NULL;
}

/* ---- what the interpreter asks the kernel: by two programs, whose results are in a map ---- */

struct asked {
	int map, reader, task;
	u8 *page;
};

static int load_insns(const struct bpf_insn *insn, u32 n)
{
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "oracle", "GPL", insn, n, NULL);
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define CALL(id)      INSN(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define EXIT          INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define VALUE(d, fd) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_VALUE, 0, fd), INSN(0, 0, 0, 0, 0)

static bool asked_open(struct asked *k)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	k->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "oracle", 4, PAGE, 1, &o);
	void *page = NULL;
	struct err *e = k->map >= 0 ? bpf_map_mmap(k->map, PAGE, &page) : NULL;
	k->page = page;
	err_free(e);
	const struct bpf_insn reader[] = {
		LOAD(2, 1, 8),
		LOAD(3, 1, 0),
		VALUE(1, k->map),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 2, PAGE),
		CALL(BPF_FUNC_probe_read_kernel),
		EXIT,
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
		EXIT,
	};
	const struct bpf_insn task[] = {
		CALL(BPF_FUNC_get_current_task),
		VALUE(1, k->map),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 1, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		EXIT,
	};
	k->reader = load_insns(reader, countof(reader));
	k->task = load_insns(task, countof(task));
	return k->page && k->reader >= 0 && k->task >= 0;
}

/* Not beyond the page of addr. */
static size_t read_part(const struct asked *k, enum vm_space space, u64 addr, void *to, size_t n)
{
	u32 ret = 1;
	if (space == VM_USER) {
		struct iovec here = {to, n}, there = {(void *)(uintptr_t)addr, n};
		return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n ? n : 0;
	}
	err_free(bpf_prog_run(k->reader, (u64[]){addr, n}, 2, &ret));
	if (ret)
		return 0;
	memcpy(to, k->page, n);
	return n;
}

/* ---- the interpreter ---- */

struct user {
	struct asked asked;
	struct host *h;
	struct vm *v;
	struct result *r;
	const struct unit *u;
	u32 *map;  /* by index in the unit */
	u32 *prog; /* the same */
	struct rings *rings;
};

static size_t read_memory(void *arg, enum vm_space space, u64 addr, void *dst, size_t n)
{
	struct user *x = arg;
	size_t got = 0;
	while (got < n) {
		size_t part = MIN(n - got, PAGE - (addr + got) % PAGE);
		if (read_part(&x->asked, space, addr + got, (u8 *)dst + got, part) != part)
			break;
		got += part;
	}
	return got;
}

static u64 current_task(const struct asked *k)
{
	u32 ret;
	u64 task;
	err_free(bpf_prog_run(k->task, (u64[]){0, 0}, 2, &ret));
	memcpy(&task, k->page, sizeof(task));
	return task;
}

static const u32 answers[] = {
	BPF_FUNC_ktime_get_ns,     BPF_FUNC_ktime_get_boot_ns,    BPF_FUNC_ktime_get_tai_ns,
	BPF_FUNC_jiffies64,        BPF_FUNC_get_current_pid_tgid, BPF_FUNC_get_current_uid_gid,
	BPF_FUNC_get_current_comm, BPF_FUNC_get_current_task,     BPF_FUNC_get_current_task_btf,
	BPF_FUNC_get_numa_node_id,
};

static u64 answer(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	const struct user *x = arg;
	char comm[16] = "";
	switch (helper) {
	case BPF_FUNC_ktime_get_ns: return clock_ns(CLOCK_MONOTONIC);
	case BPF_FUNC_ktime_get_boot_ns: return clock_ns(CLOCK_BOOTTIME);
	case BPF_FUNC_ktime_get_tai_ns: return clock_ns(CLOCK_TAI);
	case BPF_FUNC_jiffies64: return clock_ns(CLOCK_MONOTONIC) / 4000000;
	case BPF_FUNC_get_current_pid_tgid: return (u64)getpid() << 32 | (u32)getpid();
	case BPF_FUNC_get_current_uid_gid: return (u64)getgid() << 32 | getuid();
	case BPF_FUNC_get_current_task:
	case BPF_FUNC_get_current_task_btf: return current_task(&x->asked);
	case BPF_FUNC_get_current_comm: {
		prctl(PR_GET_NAME, comm);
		void *to = vm_mem(v, a[0], a[1], true);
		if (to)
			memcpy(to, comm, MIN(sizeof(comm), (size_t)a[1]));
		return 0;
	}
	default: return 0;
	}
}

static struct err *user_map(struct user *x, const struct session *s, const struct map *m)
{
	struct vm_map_spec spec = {.name = m->name,
				   .type = m->map_type,
				   .key_size = m->key_size,
				   .val_size = m->val_size,
				   .max_entries = m->max_entries,
				   .flags = m->flags,
				   .inner_size = m->inner_size};
	if (m->role == MAP_RING && !x->u->wake && m->map_type == BPF_MAP_TYPE_RINGBUF)
		spec = (struct vm_map_spec){.name = m->name,
					    .type = BPF_MAP_TYPE_RINGBUF,
					    .max_entries = s->live.ring_bytes};
	struct err *e = vm_map_new(x->v, &spec, &x->map[m->index]);
	if (!e && m->role == MAP_AUX && m->init)
		e = vm_map_put(x->v, x->map[m->index], &(u32){0}, m->init, BPF_ANY);
	return e;
}

/* The maps and programs that the kernel has; what it lacks is UINT32_MAX. */
static struct err *user_load(struct user *x, const struct session *s)
{
	const struct unit *u = x->u;
	struct err *e = NULL;
	x->map = xcalloc(u->nmap + 1, sizeof(u32));
	x->prog = xcalloc(u->nprog + 1, sizeof(u32));
	for (u32 i = 0; i < u->nmap && !e; i++) {
		x->map[i] = UINT32_MAX;
		if (map_fd(s, u->map[i]) >= 0)
			e = user_map(x, s, u->map[i]);
	}
	if (!e && u->start && x->map[u->start->index] != UINT32_MAX)
		e = vm_map_put(x->v, x->map[u->start->index], &(u32){0}, &(u64){START}, BPF_ANY);
	for (u32 i = 0; i < u->nprog && !e; i++) {
		const struct prog *p = u->prog[i];
		struct vm_prog_spec spec = {p->name, &p->code, x->map, u->nmap, false};
		bool ours = false;
		for (u32 k = 0; k < countof(phases); k++)
			ours |= p->phase == phases[k];
		if (ours)
			e = vm_prog_load(x->v, &spec, &x->prog[i]);
	}
	if (!e && u->wake && u->ring && x->map[u->ring->index] != UINT32_MAX) {
		struct rings_spec own = {.mem = vm_map_mem(x->v, x->map[u->ring->index]),
					 .size = u->ring_size,
					 .n = u->ring->max_entries,
					 .stride = ALIGN_UP(u->ring->val_size, 8u),
					 .turns = vm_map_mem(x->v, x->map[u->turns->index])};
		x->rings = rings_new(&own);
	}
	return e;
}

static void user_drain(struct user *x)
{
	const struct unit *u = x->u;
	if (x->rings)
		rings_consume(x->rings, 0, take_record, x->r);
	else if (u->ring && x->map[u->ring->index] != UINT32_MAX)
		vm_ring_consume(x->v, x->map[u->ring->index], 0, take_record, x->r);
	if (u->wake && x->map[u->wake->index] != UINT32_MAX)
		vm_ring_consume(x->v, x->map[u->wake->index], 0, NULL, NULL);
}

static struct err *user_progs(struct user *x)
{
	for (u32 k = 0; k < countof(phases); k++)
		for (u32 i = 0; i < x->u->nprog; i++) {
			const struct prog *p = x->u->prog[i];
			for (u32 n = p->phase == phases[k] ? point_count(p->points) : 0; n; n--) {
				u64 ret = 0;
				struct err *e = vm_prog_run(x->v, x->prog[i], NULL, 0, &ret);
				if (e)
					return e;
				sb_mem(&x->r->returned, &(u32){(u32)ret}, sizeof(u32));
				user_drain(x);
			}
		}
	return NULL;
}

struct copying {
	struct content *c;
	u32 key_size, val_size;
};

static bool copy_row(void *arg, const void *key, const void *val)
{
	struct copying *x = arg;
	struct content *c = x->c;
	memcpy(c->keys + (size_t)c->n * x->key_size, key, x->key_size);
	memcpy(c->vals + (size_t)c->n++ * x->val_size, val, x->val_size);
	return true;
}

static void user_maps(struct user *x)
{
	const struct unit *u = x->u;
	x->r->map = xcalloc(u->nmap + 1, sizeof(*x->r->map));
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		struct content *c = &x->r->map[i];
		if (!is_compared(u, m) || x->map[i] == UINT32_MAX)
			continue;
		u32 n = vm_map_count(x->v, x->map[i]);
		struct copying copy = {c, m->key_size, user_size(m, x->h->ncpu)};
		c->keys = xcalloc(n + 1ul, copy.key_size);
		c->vals = xcalloc(n + 1ul, copy.val_size);
		vm_map_each(x->v, x->map[i], copy_row, &copy);
		sort_content(c, copy.key_size, copy.val_size);
	}
}

static struct err *in_user(struct user *x, const struct session *s, u32 cpu)
{
	struct vm_spec spec = {.ncpu = x->h->ncpu,
			       .seed = now_ns(),
			       .strict = true,
			       .env = {.arg = x,
				       .helper = answers,
				       .nhelper = countof(answers),
				       .call = answer,
				       .read = read_memory,
				       .typed_loads = true}};
	x->v = vm_new(&spec);
	vm_set_cpu(x->v, cpu);
	struct err *e = user_load(x, s);
	if (!e)
		e = user_progs(x);
	if (!e)
		user_maps(x);
	rings_free(x->rings);
	return e;
}

/* ---- one script ---- */

struct script_run {
	struct run_opts o;
	struct arena a;
	struct host h;
	bool verbose;
	u32 cpu;
};

static struct session session_of(struct script_run *x, struct unit *u, struct target *t)
{
	return (struct session){.u = u,
				.h = &x->h,
				.target = t,
				.dry_run = true,
				.reporter = {.unit = u, .records = {.hold = true}},
				.loop = {.epoll_fd = -1, .signals = SIGNALS_NONE}};
}

static struct err *run_in_kernel(struct session *s, struct diags *ds, struct result *r)
{
	struct err *e = NULL;
	records_init(&s->reporter.records, s->u);
	s->reporter.records.hold = true;
	if (!session_load(s, ds, &e))
		return e ? e : err_new("the kernel refused it");
	if (map_fd(s, s->u->start) >= 0)
		e = bpf_map_put(map_fd(s, s->u->start), &(u32){0}, &(u64){START});
	if (!e)
		e = kernel_progs(s, r);
	return e ? e : kernel_maps(s, r);
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
	return !n || !memcmp(a, b, n);
}

/* NULL: they are the same. */
static const char *difference(const struct unit *u, u32 ncpu, const struct result *a,
			      const struct result *b, struct str *name)
{
	*name = STR("");
	if (a->returned.n != b->returned.n ||
	    !same_bytes(a->returned.s, b->returned.s, a->returned.n))
		return "returned values";
	if (a->records.n != b->records.n || !same_bytes(a->records.s, b->records.s, a->records.n))
		return "records";
	for (u32 i = 0; i < u->nmap; i++) {
		const struct content *x = &a->map[i], *y = &b->map[i];
		*name = u->map[i]->name;
		if (x->n != y->n)
			return "number of elements of";
		if (!same_bytes(x->keys, y->keys, (size_t)x->n * u->map[i]->key_size))
			return "keys of";
		if (!same_bytes(x->vals, y->vals, (size_t)x->n * user_size(u->map[i], ncpu)))
			return "values of";
	}
	return NULL;
}

static bool has_programs(const struct unit *u)
{
	bool any = false;
	for (u32 i = 0; i < u->nprog; i++)
		for (u32 k = 0; k < countof(phases); k++)
			any |= u->prog[i]->phase == phases[k];
	return any;
}

static enum verdict because(enum verdict v, struct err *e, struct sb *why)
{
	sb_fmt(why, "%s", e->msg);
	err_free(e);
	return v;
}

static enum verdict compare(struct script_run *x, struct job *j, struct sb *why)
{
	struct target target = TARGET_NONE;
	struct unit *u = &j->unit;
	struct result r[3] = {0};
	struct session s[2] = {session_of(x, u, &target), session_of(x, u, &target)};
	struct user user = {.h = &x->h, .u = u, .r = &r[2]};
	struct str name;
	for (u32 k = 0; k < 2; k++) {
		struct err *e = run_in_kernel(&s[k], &j->diags, &r[k]);
		if (e)
			return because(UNFIT, e, why);
	}
	if (!asked_open(&user.asked))
		return because(UNFIT, err_new("the oracle's own programs do not load"), why);
	struct err *e = in_user(&user, &s[1], x->cpu);
	if (e)
		return because(strstr(e->msg, "not available here") ? LACKING : DIFFERS, e, why);
	const char *varies = difference(u, x->h.ncpu, &r[0], &r[1], &name);
	if (varies)
		return because(VARIES, err_new("%s %.*s", varies, STRF(name)), why);
	const char *differs = difference(u, x->h.ncpu, &r[0], &r[2], &name);
	for (u32 k = 0; k < 3; k++)
		result_free(&r[k], u);
	return differs ? because(DIFFERS, err_new("%s %.*s", differs, STRF(name)), why) : SAME;
}

static enum verdict one(struct script_run *x, struct str text, struct sb *why)
{
	struct script s = {.source = {STR("stdin"), text}};
	struct job j;
	x->o.compile.test = strstr(text.s, "test:") != NULL;
	x->o.compile.bench = strstr(text.s, "bench:") != NULL;
	job_init(&j, &x->o.compile, &s, &x->h);
	if (!compile_script(&j.c, STAGE_ALL, NULL)) {
		sb_fmt(why, "%s", j.diags.head ? j.diags.head->msg : "it does not compile");
		return UNFIT;
	}
	if (has_programs(&j.unit))
		return compare(x, &j, why);
	sb_fmt(why, "it has no programs that sonde runs itself");
	return UNFIT;
}

/* A script's process; the exit status is the verdict. */
static void child(struct script_run *x, const char *path)
{
	AUTO_SB why = {0};
	struct str text;
	struct err *e = script_file(&x->a, path, &text);
	if (e) {
		printf("%s: %s\n", path, e->msg);
		exit(UNFIT);
	}
	text.s = arena_strz(&x->a, text);
	alarm(SECONDS);
	enum verdict v = one(x, text, &why);
	if (x->verbose || v == DIFFERS)
		printf("%s %s: %s\n%s", verdicts[v], path, why.n ? why.s : "",
		       v == DIFFERS ? text.s : "");
	fflush(stdout);
	_exit(v);
}

static enum verdict run_one(struct script_run *x, const char *path)
{
	int status;
	fflush(stdout);
	pid_t pid = fork();
	if (!pid)
		child(x, path);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(2);
	if (WIFEXITED(status) && WEXITSTATUS(status) < VERDICTS)
		return WEXITSTATUS(status);
	printf("differs %s: ended by %s %d\n", path, WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return DIFFERS;
}

/* All that a process runs is on one CPU. */
static u32 stay(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(2);
	return (u32)cpu;
}

/* ---- how fast it is ---- */

enum { RUNS = 2000000, ROUNDS = 1000000, REPEAT = 5 };

static u64 fast_answer(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	void *to = helper == BPF_FUNC_get_current_comm ? vm_mem(v, a[0], a[1], true) : NULL;
	if (to)
		memcpy(to, arg, MIN(a[1], 16u));
	return helper == BPF_FUNC_get_current_pid_tgid ? 0x100000001ull : 0;
}

static struct vm *fast_vm(char *comm)
{
	struct vm_spec spec = {.ncpu = 2,
			       .env = {.arg = comm,
				       .helper = answers,
				       .nhelper = countof(answers),
				       .call = fast_answer,
				       .read = read_memory}};
	return vm_new(&spec);
}

/* A loop of arithmetic, a jump, a load and a store: six instructions in each round. */
static double bench_loop(void)
{
	struct bpf_insn insn[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, ROUNDS),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -8, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 2, 10, -8, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 2, 1, 0, 0),
		INSN(BPF_ALU64 | BPF_XOR | BPF_X, 0, 2, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -1),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 1, 0, -6, 0),
		EXIT,
	};
	struct code c = {.insn = insn, .ninsn = countof(insn)};
	struct vm_prog_spec s = {STR("loop"), &c, NULL, 0, false};
	struct vm *v = fast_vm("");
	u32 prog;
	u64 ret, best = UINT64_MAX;
	struct err *e = vm_prog_load(v, &s, &prog);
	for (u32 i = 0; i < REPEAT && !e; i++) {
		u64 start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		e = vm_prog_run(v, prog, NULL, 0, &ret);
		best = MIN(best, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
	}
	if (e)
		printf("%s\n", e->msg);
	err_free(e);
	vm_free(v);
	return (double)best / (6.0 * ROUNDS);
}

/* Nanoseconds of a run of the script's first program, with so many different names of processes. */
static double bench_script(struct script_run *x, const char *text, u32 names)
{
	struct script s = {.source = {STR("stdin"), str_z(text)}};
	struct job j;
	char comm[16] = "process";
	job_init(&j, &x->o.compile, &s, &x->h);
	if (!compile_script(&j.c, STAGE_ALL, NULL))
		return -1;
	struct user u = {.h = &x->h, .u = &j.unit, .v = fast_vm(comm)};
	u64 ret, best = UINT64_MAX;
	const struct code *code = &j.unit.prog[0]->code;
	bool *made AUTO_FREE = xcalloc(j.unit.nmap + 1, sizeof(bool));
	u.map = xcalloc(j.unit.nmap + 1, sizeof(u32));
	struct err *e = NULL;
	for (u32 i = 0; i < code->nreloc && !e; i++) {
		if (!made[code->reloc[i].map])
			e = user_map(&u, NULL, j.unit.map[code->reloc[i].map]);
		made[code->reloc[i].map] = true;
	}
	struct vm_prog_spec p = {STR("count"), code, u.map, j.unit.nmap, false};
	u32 prog = 0;
	if (!e)
		e = vm_prog_load(u.v, &p, &prog);
	for (u32 i = 0; i < REPEAT && !e; i++) {
		u64 start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (u32 n = 0; n < RUNS && !e; n++) {
			comm[8] = (char)('0' + n % names);
			e = vm_prog_run(u.v, prog, NULL, 0, &ret);
		}
		best = MIN(best, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
	}
	if (e) {
		fprintf(stderr, "%s: %s\n", text, e->msg);
		exit(1);
	}
	vm_free(u.v);
	return (double)best / RUNS;
}

static void bench(struct script_run *x)
{
	static const char *const scripts[] = {
		"begin { @ = count(); }",
		"begin { @[comm] = count(); }",
		"begin { @[pid] = sum(pid); }",
		"begin { @[comm, pid] = hist(pid); }",
	};
	printf("an instruction: %.2f ns\n", bench_loop());
	for (u32 i = 0; i < countof(scripts); i++) {
		double ns = bench_script(x, scripts[i], 32);
		printf("%-40s %6.1f ns, %.1f million in a second\n", scripts[i], ns, 1e3 / ns);
	}
}

int main(int argc, char **argv)
{
	struct script_run x = {.o.compile = {.no_warn = true, .unsafe = true}};
	u32 count[VERDICTS] = {0}, least = 1;
	int c;
	bool fast = false;
	while ((c = getopt(argc, argv, "bvn:x:")) != -1) {
		if (c == 'v')
			x.verbose = true;
		else if (c == 'b')
			fast = true;
		else if (c == 'n')
			least = (u32)strtoul(optarg, NULL, 0);
		else if (c == 'x')
			x.o.machine.no_feature[x.o.machine.nno_feature++] = optarg;
		else
			return 2;
	}
	/* As over recordings: what a program reads of a task is a helper's answer. */
	if (fast)
		x.o.machine.no_feature[x.o.machine.nno_feature++] = "TASK_BTF";
	x.cpu = stay();
	if (!host_prepare(&x.h, &x.a, &x.o))
		return 2;
	if (fast) {
		bench(&x);
		return 0;
	}
	for (int i = optind; i < argc; i++)
		count[run_one(&x, argv[i])]++;
	printf("%u compared and the same, %u differ; %u do not fit, %u ask for more, %u vary\n",
	       count[SAME], count[DIFFERS], count[UNFIT], count[LACKING], count[VARIES]);
	return count[DIFFERS] || count[SAME] < least ? 1 : 0;
}
