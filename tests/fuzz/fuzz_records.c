/* Any bytes as records of a script that prints every type of value, and as values of its maps. */
#include "cmd/cmd.h"
#include "report/reader.h"
#include <stdlib.h>

static const char script[] =
	"kprobe:vfs_read {\n"
	"printf(\"%d %s %p %r %c\", pid, comm, arg0, buf(arg0, 8), 65);\n"
	"print((pid, comm, (nsecs, str(arg0)), true));\n"
	"print(kstack); print(ustack); print(kstack(raw, 3)); print(ksym(arg0)); "
	"print(usym(arg0));\n"
	"print(ntop(arg0)); print(macaddr(arg0)); print(strftime(\"%H %f\", nsecs)); "
	"print(username);\n"
	"print(cgroup_path(cgroup)); print(probe); print(strerror(arg0)); print(buf(arg0, 100));\n"
	"time(\"%H:%M %k %l\"); cat(\"/proc/%d/comm\", pid); printf(\"%s %x\", str(arg0), arg1);\n"
	"@a[pid, comm] = count(); @b[kstack] = hist(arg0); @c = lhist(arg0, 0, 100, 10);\n"
	"@d[str(arg0)] = stats(arg0); @e = avg(arg0); @f[ustack] = sum(arg0); @g = min(arg0);\n"
	"@h[1, (2, \"x\")] = buf(arg0, 4); @i = tseries(arg0, 1s, 5); @j = str(arg0);\n"
	"@k = (1, kstack); exit(); }";

static bool no_kernel(void *asked, u64 addr, struct symbol *ret)
{
	(void)asked;
	*ret = (struct symbol){.name = STR("name"), .module = STR("module"), .off = addr & 255};
	return addr & 1;
}

static bool no_user(void *asked, u32 pid, u64 addr, struct symbol *ret)
{
	(void)pid;
	return no_kernel(asked, addr, ret);
}

static void no_expect(void *asked, u32 pid, u64 addr)
{
	(void)asked;
	(void)pid;
	(void)addr;
}

static void no_expected(void *asked)
{
	(void)asked;
}

static bool no_gains(void *asked)
{
	(void)asked;
	return true;
}

static u32 no_source(void *asked, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max)
{
	(void)asked;
	(void)pid;
	(void)call;
	u32 n = MIN((u32)(addr & 3), max);
	for (u32 i = 0; i < n; i++)
		v[i] = (struct source_frame){
			.name = STR("inlined"), .source = STR("a.c"), .line = i};
	return n;
}

static const u64 *no_tail(void *asked, u64 mark, u32 *n)
{
	static const u64 rest[] = {1, 2, 3};
	(void)asked;
	*n = countof(rest);
	return mark & 1 ? rest : NULL;
}

static bool no_code(void *asked, u64 word, struct interp_frame *ret)
{
	(void)asked;
	*ret = (struct interp_frame){.language = word & 2 ? STR("python") : STR(""),
				     .name = word & 4 ? STR("name") : STR(""),
				     .file = word & 8 ? STR("a.py") : STR(""),
				     .line = (u32)(word & 0xffff),
				     .hidden = (word & 0xf0) == 0xf0};
	return word & 1;
}

static const char *no_cgroup(void *asked, u64 id)
{
	(void)asked;
	return id & 1 ? "/a/b" : NULL;
}

static void no_cgroups(void *asked, u64 id, struct str glob, struct sb *out)
{
	(void)asked, (void)glob;
	if (id & 1)
		sb_z(out, "unified:/a/b");
}

static const char *no_username(void *asked, u32 uid)
{
	(void)asked;
	return uid & 1 ? "root" : NULL;
}

static const struct names nobody = {
	/* What decode.c asks; the others are asked by act() of builtins. */
	.kernel = no_kernel,     .user = no_user,         .expect = no_expect,
	.expected = no_expected, .gains = no_gains,       .source = no_source,
	.tail = no_tail,         .code = no_code,         .cgroup = no_cgroup,
	.cgroups = no_cgroups,   .username = no_username,
};

static struct job *prepare(struct reader *r)
{
	static struct run_opts opts = {
		.machine.root = "build/host/6.1-x86_64",
		.compile = {.check_ir = true, .no_warn = true, .unsafe = true}};
	static struct script s = {.source = {STR("stdin"), STR(script)}};
	static struct arena arena;
	static struct host host;
	static struct job j;
	if (!host_prepare(&host, &arena, &opts))
		abort();
	job_init(&j, &opts.compile, &s, &host);
	if (!compile_script(&j.c, STAGE_ALL, NULL)) {
		job_report(&j);
		abort();
	}
	reader_init(r, &j.unit, &nobody, NULL);
	return &j;
}

static void show(const struct value *v)
{
	const struct show how = {.trailer = STR(".."), .escape = true};
	AUTO_SB out = {0};
	value_text(&out, v, &how);
	value_key_text(&out, v, &how);
	value_key_short(&out, v, &how);
}

static void take_record(struct reader *r, const struct schema *sc, struct bytes b)
{
	const struct show how = {.trailer = STR("..")};
	struct record *rec = malloc(sizeof(*rec) + b.n);
	if (!rec)
		abort();
	*rec = (struct record){sc->id, (u32)b.n, 1};
	memcpy(rec->data, b.p, b.n);
	if (sc->layout && decode_record(r, sc->layout, rec)) {
		for (u32 i = 0; i < sc->layout->nfield; i++)
			show(&r->vals[i]);
		if (sc->fmt.s)
			reader_printf(r, sc, r->vals, sc->layout->nfield, &how);
	}
	free(rec);
}

static void take_value(struct reader *r, const struct type *t, struct bytes b)
{
	struct value v;
	u8 *copy = calloc(1, (size_t)t->size + 1);
	if (!copy)
		abort();
	memcpy(copy, b.p, MIN(b.n, (size_t)t->size));
	decode_expect(r, t, copy);
	decode_value(r, &r->arena, t, copy, &v);
	show(&v);
	free(copy);
}

/* Of maps of the script alone. */
static void take_map(struct reader *r, const struct map *m, bool key, struct bytes b)
{
	const struct type *t = key ? m->key : m->shown;
	if (t)
		take_value(r, t, b);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static struct reader r;
	static struct job *j;
	if (n < 2)
		return 0;
	if (!j)
		j = prepare(&r);
	struct bytes b = bytes_of(data + 2, n - 2);
	const struct unit *u = &j->unit;
	if (data[0] & 1)
		take_record(&r, u->schema[data[1] % u->nschema], b);
	else
		take_map(&r, u->map[data[1] % u->nmap], data[0] & 2, b);
	arena_reset(&r.arena);
	return 0;
}
