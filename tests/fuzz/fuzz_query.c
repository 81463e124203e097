/*
 * Any bytes as a recording that a script or tool is put to: compiler, interpreter, maps and outputs, as sonde query
 * has them. The first byte says which script, the second which output. Checksums are made right, because most is behind
 * them.
 */
#include "api/launch.h"
#include "api/machine.h"
#include "base/embed.h"
#include "core/sink.h"
#include "rec/pack.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOOL EMBEDDED "tools/"

static const char *const scripts[] = {
	"*:* { @[probe, comm, pid, tid, ppid, uid, cpu] = count(); }",
	"t:syscalls:sys_enter_openat { printf(\"%s %s %d\\n\", comm, str(args.filename), "
	"args.flags); "
	"print(args); }",
	"t:raw_syscalls:* { @[probe, comm] = hist(args.id); @l = lhist(args.id, 0, 300, 10); "
	"@s = stats(args.id); @t = tseries(args.id, 10ms, 5); }",
	"profile:hz:99 { @[kstack, ustack(3), comm] = count(); print(kstack(perf, 4)); }",
	"*:sched:* { @s[args.prev_comm, args.next_pid] = sum(args.prev_pid); @m = "
	"max(args.next_pid); }"
	" interval:ms:100 { print(@s, 3); clear(@m); }",
	"t:raw_syscalls:sys_enter { @at[tid] = nsecs; } t:raw_syscalls:sys_exit /@at[tid]/ { "
	"@us[args.id] = avg(nsecs - @at[tid]); delete(@at, tid); }",
	"t:raw_syscalls:sys_exit /args.ret < 0/ { @e[strerror(-args.ret)] = count(); "
	"time(\"%H:%M:%S\\n\"); @d[strftime(\"%H\", nsecs)] = args.ret; }",
	"k:vfs_read { print((arg0, arg1)); } u:*:* { print(arg0); } kr:vfs_read { @[retval] = "
	"count(); }",
	"begin { printf(\"b\\n\"); } *:* { @n++; if (@n > 1000) { exit(3); } } end { print(@n); }",
	TOOL "runqlat.bt",
	TOOL "offcputime.bt",
	TOOL "profile.bt",
	TOOL "opensnoop.bt",
	TOOL "execsnoop.bt",
	TOOL "biolatency.bt",
	TOOL "syscount.bt",
};
static const char *const outputs[] = {"text", "json", "csv", "folded", "flame"};

/* As a writer that is not honest would: blocks have the checksums of what they contain. */
static void seal(u8 *p, size_t n)
{
	u32 sum;
	if (n < REC_FILE_HEADER)
		return;
	sum = rec_crc(0, p, REC_FILE_HEADER - 4);
	memcpy(p + REC_FILE_HEADER - 4, &sum, 4);
	for (size_t at = REC_FILE_HEADER; at <= n && n - at >= REC_BLOCK_HEADER;) {
		u32 stored;
		u8 *b = p + at;
		memcpy(&stored, b + 8, 4);
		at += REC_BLOCK_HEADER;
		if (stored > n - at)
			return;
		sum = rec_crc(0, p + at, stored);
		memcpy(b + 48, &sum, 4);
		sum = rec_crc(0, b, 52);
		memcpy(b + 52, &sum, 4);
		at = ALIGN_UP(at + stored, 8);
	}
}

struct output_of {
	const struct sink *sink;
	void *self;
	int null;
};

static struct err *open_output(struct launch *l, const struct sink **sink, void **self)
{
	struct output_of *o = l->arg;
	static const struct str opts[SINK_OPTIONS];
	struct sink_env env = {.out = o->null,
			       .err = o->null,
			       .buffering = 'f',
			       .diags = &l->job.diags,
			       .unit = &l->job.unit,
			       .what = STR("fuzz"),
			       .where = STR("here"),
			       .how = {.trailer = STR(".."), .escape = true},
			       .how_remarks = {.trailer = STR(".."), .escape = true}};
	o->self = calloc(1, o->sink->size + 1);
	if (!o->self)
		abort();
	struct err *e = o->sink->why_not
				? sink_suits(o->sink, "-f", (struct str){"", 0}, &l->job.unit)
				: NULL;
	if (!e)
		e = o->sink->open(o->self, &env, opts);
	*sink = o->sink;
	*self = o->self;
	return e;
}

static void close_output(struct launch *l)
{
	struct output_of *o = l->arg;
	err_free(o->sink->close(o->self));
}

static const struct launch_hooks hooks = {.open = open_output, .close = close_output};

static struct script script_of(const char *text)
{
	struct str s = str_z(text), prefix = STR(EMBEDDED);
	if (!str_starts(s, prefix))
		return (struct script){.source = {STR("stdin"), s}};
	const struct embed *e = embed_find(str_from(s, prefix.n));
	if (!e)
		abort();
	return (struct script){.source = {s, embed_text(e)}};
}

static void ask(const char *path, const char *text, struct output_of *o)
{
	struct arena a = {0};
	struct host h;
	struct machine_spec machine = {.recordings = {.path = {path}, .npath = 1}};
	struct target_spec spec = {0};
	struct target target = TARGET_NONE;
	const char *what;
	struct err *e = machine_open(&machine, &a, &h, &what);
	if (!e) {
		struct script script = script_of(text);
		struct launch l = {.script = &script,
				   .compile = {.check_ir = true, .no_warn = true},
				   .spec = &spec,
				   .host = &h,
				   .target = &target,
				   .hooks = &hooks,
				   .arg = o};
		if (launch_start(&l) == LAUNCHED) {
			session_loop(&l.session);
			session_finish(&l.session);
			close_output(&l);
		}
		free(o->self);
		err_free(l.error);
		launch_free(&l);
	}
	err_free(e);
	host_deinit(&h);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static int file = -1, null = -1;
	static char path[64];
	if (file < 0) {
		file = memfd_create("fuzz", MFD_CLOEXEC);
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (n < 3 || file < 0 || null < 0)
		return 0;
	AUTO_SB b = {0};
	sb_mem(&b, data + 2, n - 2);
	seal((u8 *)b.s, b.n);
	if (ftruncate(file, 0) || pwrite(file, b.s, b.n, 0) != (ssize_t)b.n)
		abort();
	struct output_of o = {.sink = sink_named(str_z(outputs[data[1] % countof(outputs)])),
			      .null = null};
	if (!o.sink)
		abort();
	ask(path, scripts[data[0] % countof(scripts)], &o);
	return 0;
}
