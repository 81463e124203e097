/*
 * mkrec [-a] [-g] [-l] [-u] [-z] [-k] [-p] [-i] [-r] [-s NEXT] [-b N [-d NS]] [-c] [-y] [-n NAME] FILE: a recording that tests know by heart. -a: it has no end. -g: nothing
 * happens for ten days before the last round. -l: events were lost. -u: it is not compressed, -z: by zlib. -k: also all kinds of
 * values, and what viewers draw: drawn() below. -p: also spans. -i: also the items that the rest has no need of: items() below. -r: a
 * snapshot of what was held in memory. -s: it goes on in the file NEXT. -b: N rows of raw_syscalls:sys_enter by eight programs, for
 * measurements; -d: so much longer between two of them. -c: of a machine with 40 CPUs, with a name: spread() below. -y: only stacks of interpreted languages: languages() below. -n
 * NAME: the host's name.
 *
 * Time 0 is 1000 s of the monotonic clock, and 2025-11-27 19:00:00 UTC. Ten rounds of 100 ms, each:
 *
 *	 0 ms  cat (100)       calls openat("/etc/file<round>") on CPU 0
 *	+2 ms                  which returns 3 after 2 + round ms; every third fails with -2
 *	+5 ms  worker (200)    thread 201 makes call 1 on CPU 1, which returns 10 * round
 *	+8 ms  cat -> worker   sched_switch on CPU 2
 *	+9 ms  worker -> cat   sched_switch on CPU 2
 *	+10 ms cat             a sample with two stacks, on CPU 3
 */
#include "base/alloc.h"
#include "rec/pack.h"
#include "rec/ring.h"
#include "rec/write.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START 1000000000000ull
#define REAL  1764270000000000000ull
#define MS    1000000ull

#define INT(e, t, s, n)                                                           \
	{                                                                         \
		.expr = STR(e), .ctype = STR(t), .kind = REC_INT,                 \
		.coding = (s) ? REC_ZIGZAG : REC_VARINT, .sign = (s), .size = (n) \
	}
#define TEXT(e, n)                                                                \
	{                                                                         \
		.expr = STR(e), .ctype = STR("char[" #n "]"), .kind = REC_STRING, \
		.coding = REC_TEXT, .size = (n)                                   \
	}
#define STACK(e, t)                                                                        \
	{                                                                                  \
		.expr = STR(e), .ctype = STR(t), .kind = REC_STACK, .coding = REC_STACKID, \
		.size = 8                                                                  \
	}

static const struct rec_column opening[] = {
	INT("args.dfd", "int", true, 4),
	{.expr = STR("args.filename"),
	 .ctype = STR("const char *"),
	 .kind = REC_POINTER,
	 .coding = REC_RAW,
	 .size = 8},
	INT("args.flags", "int", true, 4),
	TEXT("str(args.filename)", 64),
};
static const struct rec_column enter[] = {INT("args.id", "long", true, 8)};
static const struct rec_column leave[] = {INT("args.id", "long", true, 8),
					  INT("args.ret", "long", true, 8)};
static const struct rec_column sched[] = {
	TEXT("args.prev_comm", 16), INT("args.prev_pid", "pid_t", true, 4),
	TEXT("args.next_comm", 16), INT("args.next_pid", "pid_t", true, 4)};
static const struct rec_column sample[] = {STACK("kstack", "kstack"), STACK("ustack", "ustack")};

static u32 schema(struct rec_writer *w, struct str type, struct str probe,
		  const struct rec_column *c, u32 n)
{
	return rec_schema(w, &(struct rec_schema){.type = type,
						  .probe = probe,
						  .act = STR("keep"),
						  .column = c,
						  .ncolumn = n});
}

/* What a script noted at a probe beside its events. */
static u32 spans_of(struct rec_writer *w, struct str act, struct str at, const struct rec_column *c,
		    u32 n)
{
	AUTO_SB probe = {0};
	sb_fmt(&probe, "%.*s:%.*s", STRF(act), STRF(at));
	return rec_schema(w, &(struct rec_schema){.type = act,
						  .probe = sb_str(&probe),
						  .act = act,
						  .column = c,
						  .ncolumn = n});
}

static u32 task(struct rec_writer *w, u32 pid, u32 tid, struct str comm)
{
	enum { ALL = KNOWN_PPID | KNOWN_IDS | KNOWN_CGROUP | KNOWN_START | KNOWN_COMM };
	return rec_task(w, &(struct rec_task){.tid = tid,
					      .pid = pid,
					      .ppid = 1,
					      .uid = 1000 + pid,
					      .gid = 50,
					      .cgroup = 7,
					      .start = 5,
					      .known = ALL,
					      .comm = comm});
}

static u32 frame(struct rec_writer *w, u64 addr, struct str sym, u32 mapping, u8 flags)
{
	return rec_frame(w, &(struct rec_frame){.mapping = mapping,
						.addr = addr,
						.file_off = addr & 0xffff,
						.sym_off = 4,
						.flags = flags,
						.sym = sym,
						.text = sym});
}

static void row(struct rec_writer *w, u32 id, u32 cpu, u32 task_id, u64 ms_x10, u32 missing,
		const struct rec_cell *cell)
{
	rec_row(w, &(struct rec_event){.schema = id,
				       .cpu = cpu,
				       .task = task_id,
				       .missing = missing,
				       .ts = START + ms_x10 * (MS / 10),
				       .cell = cell});
}

static void rounds(struct rec_writer *w, bool lost, bool gap)
{
	static const struct str call = STR("tracepoint");
	u32 e_open = schema(w, call, STR("tracepoint:syscalls:sys_enter_openat"), opening, 4);
	u32 e_call = schema(w, call, STR("tracepoint:raw_syscalls:sys_enter"), enter, 1);
	u32 e_exit = schema(w, call, STR("tracepoint:raw_syscalls:sys_exit"), leave, 2);
	u32 e_sched = schema(w, call, STR("tracepoint:sched:sched_switch"), sched, 4);
	u32 e_sample = schema(w, STR("profile"), STR("profile:hz:99"), sample, 2);
	u32 cat = task(w, 100, 100, STR("cat")), worker = task(w, 200, 201, STR("worker"));
	u32 lib = rec_mapping(w, &(struct rec_mapping){.path = STR("/usr/bin/cat"),
						       .build_id = STR("0123456789abcdef")});
	const u32 k[] = {frame(w, 0xffffffff81000014, STR("do_read"), 0, FRAME_KERNEL),
			 frame(w, 0xffffffff81000104, STR("do_syscall_64"), 0, FRAME_KERNEL)};
	const u32 u[] = {frame(w, 0x401004, STR("copy"), lib, 0),
			 frame(w, 0x402004, STR("main"), lib, 0)};
	u32 ks = rec_stack(w, &(struct rec_stack){.n = 2, .flags = STACK_KERNEL, .frame = k});
	u32 us = rec_stack(w, &(struct rec_stack){.n = 2, .frame = u});
	for (u32 i = 0; i < 10; i++) {
		u64 at = i * 1000 + (gap && i == 9 ? 10ull * 86400 * 10000 : 0);
		char name[32];
		u64 ret = i % 3 ? 3 : (u64)-2;
		snprintf(name, sizeof(name), "/etc/file%u", i);
		row(w, e_open, 0, cat, at, 0,
		    (struct rec_cell[]){{.u = (u64)-100},
					{.u = 0x7ffe0000 + i},
					{.u = 0x80000},
					{.str = {name, (u32)strlen(name)}}});
		row(w, e_call, 0, cat, at, 0, (struct rec_cell[]){{.u = 257}});
		row(w, e_exit, 0, cat, at + 20 + 10 * i, 0,
		    (struct rec_cell[]){{.u = 257}, {.u = ret}});
		row(w, e_call, 1, worker, at + 130, lost && i == 5 ? 4 : 0,
		    (struct rec_cell[]){{.u = 1}});
		row(w, e_exit, 1, worker, at + 135, 0,
		    (struct rec_cell[]){{.u = 1}, {.u = 10ull * i}});
		row(w, e_sched, 2, cat, at + 140, 0,
		    (struct rec_cell[]){
			    {.str = STR("cat")}, {.u = 100}, {.str = STR("worker")}, {.u = 201}});
		row(w, e_sched, 2, worker, at + 150, 0,
		    (struct rec_cell[]){
			    {.str = STR("worker")}, {.u = 201}, {.str = STR("cat")}, {.u = 100}});
		row(w, e_sample, 3, cat, at + 160, 0, (struct rec_cell[]){{.u = ks}, {.u = us}});
	}
	if (lost)
		rec_loss(w, &(struct rec_loss){.from = START + 500 * MS,
					       .to = START + 513 * MS,
					       .n = 4,
					       .kind = STR("lost_total"),
					       .text = STR("Lost 4 events")});
}

/* ---- -k ---- */

#define OTHER(e, t, k, c, n)                                                             \
	{                                                                                \
		.expr = STR(e), .ctype = STR(t), .kind = (k), .coding = (c), .size = (n) \
	}

static const struct rec_enumerator colours[] = {{0, {"RED", 3}}, {7, {"GREEN", 5}}};

static void row_of_kinds(struct rec_writer *w, u32 thread)
{
	static const char hostile[] = "a\"b,c\n<\xff;]]>\x01 </script>";
	u32 id = rec_enum(
		w, &(struct rec_enum){.name = STR("colour"), .v = colours, .n = countof(colours)});
	const struct rec_column kinds[] = {
		OTHER("args.yes", "bool", REC_BOOL, REC_VARINT, 1),
		{.expr = STR("args.colour"),
		 .ctype = STR("enum colour"),
		 .kind = REC_ENUM,
		 .coding = REC_VARINT,
		 .size = 4,
		 .enum_id = id},
		TEXT("args.event", 64),
		OTHER("buf(args.p, 4)", "char[4]", REC_BYTES, REC_BLOB, 4),
		{.expr = STR("args.list"),
		 .ctype = STR("short[3]"),
		 .kind = REC_ARRAY,
		 .coding = REC_LIST,
		 .element = REC_ZIGZAG,
		 .sign = true,
		 .size = 6,
		 .count = 3},
		{.expr = STR("ksym(args.ip)"),
		 .ctype = STR("ksym_t"),
		 .printer = STR("ksym"),
		 .kind = REC_NAMED,
		 .coding = REC_PAIR,
		 .size = 8},
		OTHER("args.ratio", "double", REC_FLOAT, REC_RAW, 8),
		INT("args.big", "unsigned long", false, 8),
		TEXT("args.text", 16384),
	};
	char text[10001];
	double ratio = 0.1;
	u64 bits;
	memcpy(&bits, &ratio, sizeof(bits));
	memset(text, 'y', sizeof(text));
	u32 e = schema(w, STR("usdt"), STR("usdt:/opt/a \"b\":app:odd"), kinds, countof(kinds));
	for (u32 i = 0; i < 3; i++) {
		static const i16 list[] = {-1, 0, 300};
		row(w, e, 0, thread, 12100 + i, 0,
		    (struct rec_cell[]){{.u = i & 1},
					{.u = i * 7ull},
					{.str = {hostile, sizeof(hostile) - 1}, .cut = i == 2},
					{.str = {"\0\1\xfe\xff", 4}},
					{.str = {(const char *)list, sizeof(list)}},
					{.u = 0xffffffff81000014, .str = STR("do_read")},
					{.u = bits},
					{.u = ~0ull - i},
					{.str = {text, 1 + 5000 * i}}});
	}
}

/* A thread is made, woken, runs, calls functions within functions, is interrupted, and ends; counters. */
static void drawn(struct rec_writer *w)
{
	static const struct str call = STR("tracepoint");
	static const struct rec_column fork[] = {TEXT("str(args.child_comm)", 16),
						 INT("args.child_pid", "pid_t", true, 4)};
	static const struct rec_column wake[] = {TEXT("args.comm", 16),
						 INT("args.pid", "pid_t", true, 4)};
	static const struct rec_column change[] = {
		TEXT("args.prev_comm", 16), INT("args.prev_pid", "pid_t", true, 4),
		INT("args.prev_state", "long", true, 8), TEXT("args.next_comm", 16),
		INT("args.next_pid", "pid_t", true, 4)};
	static const struct rec_column irq[] = {INT("args.irq", "int", true, 4),
						TEXT("str(args.name)", 16)};
	static const struct rec_column irq_end[] = {INT("args.irq", "int", true, 4)};
	static const struct rec_column result[] = {INT("retval", "long", true, 8)};
	static const struct rec_column frequency[] = {INT("args.state", "u32", false, 4),
						      INT("args.cpu_id", "u32", false, 4)};
	static const struct rec_column number[] = {INT("@n", "int64", true, 8)};
	u32 e_fork = schema(w, call, STR("tracepoint:sched:sched_process_fork"), fork, 2);
	u32 e_wake = schema(w, call, STR("tracepoint:sched:sched_wakeup_new"), wake, 2);
	u32 e_change = schema(w, call, STR("tracepoint:sched:sched_switch"), change, 5);
	u32 e_end = schema(w, call, STR("tracepoint:sched:sched_process_exit"), wake, 2);
	u32 e_irq = schema(w, call, STR("tracepoint:irq:irq_handler_entry"), irq, 2);
	u32 e_irq_end = schema(w, call, STR("tracepoint:irq:irq_handler_exit"), irq_end, 1);
	u32 e_in = schema(w, STR("kprobe"), STR("kprobe:outer"), NULL, 0);
	u32 e_out = schema(w, STR("kretprobe"), STR("kretprobe:outer"), result, 1);
	u32 e_in2 = schema(w, STR("fentry"), STR("fentry:vmlinux:inner"), NULL, 0);
	u32 e_out2 = schema(w, STR("fexit"), STR("fexit:vmlinux:inner"), result, 1);
	u32 e_hz = schema(w, call, STR("tracepoint:power:cpu_frequency"), frequency, 2);
	u32 e_tick = schema(w, STR("interval"), STR("interval:ms:1"), number, 1);
	u32 cat = task(w, 100, 100, STR("cat")), child = task(w, 300, 300, STR("child")),
	    sonde = task(w, 9, 9, STR("sonde"));
	row(w, e_fork, 0, cat, 12000, 0, (struct rec_cell[]){{.str = STR("cat")}, {.u = 300}});
	row(w, e_wake, 0, cat, 12001, 0, (struct rec_cell[]){{.str = STR("cat")}, {.u = 300}});
	row(w, e_change, 1, task(w, 0, 0, STR("swapper/1")), 12002, 0,
	    (struct rec_cell[]){{.str = STR("swapper/1")},
				{.u = 0},
				{.u = 0},
				{.str = STR("cat")},
				{.u = 300}});
	row(w, e_in, 1, child, 12003, 0, NULL);
	row(w, e_in2, 1, child, 12004, 0, NULL);
	row(w, e_irq, 1, child, 12005, 0, (struct rec_cell[]){{.u = 7}, {.str = STR("disk")}});
	row(w, e_tick, 3, sonde, 12006, 0, (struct rec_cell[]){{.u = 5}});
	row(w, e_irq_end, 1, child, 12007, 0, (struct rec_cell[]){{.u = 7}});
	row(w, e_out2, 1, child, 12008, 0, (struct rec_cell[]){{.u = (u64)-5}});
	row(w, e_out, 1, child, 12009, 0, (struct rec_cell[]){{.u = 1}});
	row(w, e_out, 1, child, 12010, 0,
	    (struct rec_cell[]){{.u = 2}}); /* began before the recording */
	row(w, e_hz, 1, child, 12011, 0, (struct rec_cell[]){{.u = 1800000}, {.u = 1}});
	row(w, e_tick, 3, sonde, 12016, 0, (struct rec_cell[]){{.u = (u64)-6}});
	row(w, e_in, 1, child, 12017, 0, NULL); /* does not return */
	row(w, e_end, 1, child, 12018, 0, (struct rec_cell[]){{.str = STR("child")}, {.u = 300}});
	row(w, e_change, 1, child, 12019, 0,
	    (struct rec_cell[]){{.str = STR("child")},
				{.u = 300},
				{.u = 0x10},
				{.str = STR("swapper/1")},
				{.u = 0}});
	row_of_kinds(w, cat);
}

/* ---- -p ---- */

/*
 * "io" 1 of cat, which worker ends while "io" 2 is open; "io" 1 again, twice at a time; "io" 2 ends. Two ends of an "io" 99
 * and one of a "request" "x", which did not begin; "request" "abc" and "io" 3, of an idle CPU, do not end.
 */
static void spans(struct rec_writer *w)
{
	static const struct str begin = STR("span_begin"), end = STR("span_end");
	static const struct rec_column io[] = {TEXT("span.name", 3),
					       INT("span.id", "sector_t", false, 8),
					       INT("args.bytes", "unsigned int", false, 4)};
	static const struct rec_column request[] = {TEXT("span.name", 8), TEXT("span.id", 16),
						    STACK("ustack", "ustack")};
	struct str issue = STR("tracepoint:block:block_rq_issue"),
		   done = STR("uprobe:/bin/app:done");
	u32 e_io = spans_of(w, begin, issue, io, 3), e_io_end = spans_of(w, end, issue, io, 2);
	u32 e_req = spans_of(w, begin, done, request, 3),
	    e_req_end = spans_of(w, end, done, request, 2);
	u32 cat = task(w, 100, 100, STR("cat")), worker = task(w, 200, 201, STR("worker"));
	u32 idle = task(w, 0, 0, STR("swapper/0"));
	const struct {
		u32 schema, task;
		u64 id;
	} v[] = {{e_io, cat, 1},      {e_io, worker, 2},     {e_io_end, worker, 1},
		 {e_io, cat, 1},      {e_io, cat, 1},        {e_io_end, cat, 1},
		 {e_io_end, cat, 1},  {e_io_end, worker, 2}, {e_io_end, cat, 99},
		 {e_io_end, cat, 99}, {e_io, idle, 3}};
	for (u32 i = 0; i < countof(v); i++)
		row(w, v[i].schema, 0, v[i].task, 12000 + 10ull * i, 0,
		    (struct rec_cell[]){{.str = STR("io")}, {.u = v[i].id}, {.u = 512ull * i}});
	row(w, e_req_end, 1, cat, 12200, 0,
	    (struct rec_cell[]){{.str = STR("request")}, {.str = STR("x")}});
	row(w, e_req, 1, cat, 12210, 0,
	    (struct rec_cell[]){{.str = STR("request")}, {.str = STR("abc")}, {.u = 2}});
}

/* ---- -i ---- */

/* Frames of other languages, processes that end, features, a part of a file; texts that are forgotten and said anew. */
static void items(struct rec_writer *w)
{
	static const struct rec_column stack[] = {STACK("ustack", "ustack")};
	static const struct rec_column text[] = {TEXT("str(arg0)", 64)};
	u32 e_stack = schema(w, STR("uprobe"), STR("uprobe:/usr/bin/python3:call"), stack, 1);
	u32 e_text = schema(w, STR("uprobe"), STR("uprobe:/usr/bin/python3:say"), text, 1);
	rec_feature(w, STR("ringbuf"), true);
	rec_feature(w, STR("kprobe_session"), false);
	rec_blob(w, STR("notes"), STR("any bytes"));
	u32 python = task(w, 400, 400, STR("python3"));
	u32 lib = rec_mapping(w, &(struct rec_mapping){.path = STR("/usr/bin/python3")});
	const u32 f[] = {rec_frame(w, &(struct rec_frame){.mapping = lib,
							  .addr = 0x500010,
							  .line = 7,
							  .flags = FRAME_INLINED,
							  .sym = STR("inner"),
							  .source = STR("call.c"),
							  .text = STR("inner (call.c:7)")}),
			 frame(w, 0x500010, STR("call"), lib, 0),
			 rec_frame(w, &(struct rec_frame){.line = 12,
							  .flags = FRAME_MADE,
							  .sym = STR("handle"),
							  .source = STR("server.py"),
							  .text = STR("handle (server.py:12)")}),
			 rec_frame(w, &(struct rec_frame){.addr = 0x7f0000001000,
							  .flags = FRAME_MADE,
							  .sym = STR("LazyCompile:~run"),
							  .text = STR("LazyCompile:~run")})};
	u32 id = rec_stack(w, &(struct rec_stack){.n = countof(f), .flags = STACK_CUT, .frame = f});
	row(w, e_stack, 0, python, 13000, 0, (struct rec_cell[]){{.u = id}});
	for (u32 i = 0; i < 40; i++) {
		char said[64];
		snprintf(said, sizeof(said), "text %u of some length, so that they are many bytes",
			 i % 30);
		row(w, e_text, 0, task(w, 400, 400, STR("python3")), 13001 + i, 0,
		    (struct rec_cell[]){{.str = {said, (u32)strlen(said)}}});
		err_free(rec_tick(w, ~0ull));
	}
	rec_exit(w, &(struct rec_exit){
			    .ts = START + 1310 * MS, .tid = 400, .pid = 400, .code = 0x300});
	rec_exit(w, &(struct rec_exit){.ts = START + 1311 * MS, .tid = 100, .pid = 100, .code = 9});
}

/* A stack of two functions of a program, between two of the machine. The language may not be named: so it was in version 1.0. */
static u32 program(struct rec_writer *w, struct str language, struct str label, struct str file,
		   u32 lib)
{
	u32 by = rec_mapping(w, &(struct rec_mapping){.path = label});
	struct rec_frame run = {
		.mapping = by, .line = 12, .sym = STR("run"), .source = file, .language = language};
	struct rec_frame top = run;
	top.line = 20;
	top.sym = STR("main");
	const u32 f[] = {frame(w, 0x401004, STR("copy"), lib, 0), rec_frame(w, &run),
			 rec_frame(w, &top), frame(w, 0x402004, STR("main"), lib, 0)};
	return rec_stack(w, &(struct rec_stack){.n = countof(f), .frame = f});
}

static void languages(struct rec_writer *w)
{
	static const struct rec_column column[] = {STACK("ustack", "ustack")};
	u32 lib = rec_mapping(
		w, &(struct rec_mapping){.path = STR("/usr/bin/app"), .build_id = STR("0123")});
	u32 e = schema(w, STR("profile"), STR("profile:hz:99"), column, 1),
	    t = task(w, 500, 500, STR("app"));
	const u32 id[] = {program(w, STR("python"), STR("python3.11"), STR("/srv/app.py"), lib),
			  program(w, STR("php"), STR("php8.2"), STR("/srv/app.php"), lib),
			  program(w, STR("ruby"), STR("ruby3.1"), STR("/srv/app.rb"), lib),
			  program(w, STR("perl"), STR("perl5.36"), STR("/srv/app.pl"), lib),
			  program(w, STR(""), STR("python3.8"), STR("/srv/old.py"), lib)};
	for (u32 i = 0; i < countof(id); i++)
		for (u32 k = 0; k <= i; k++)
			row(w, e, 0, t, 10 * i + k, 0, (struct rec_cell[]){{.u = id[i]}});
}

static void big(struct rec_writer *w, u64 n, u64 gap)
{
	u32 id = schema(w, STR("tracepoint"), STR("tracepoint:raw_syscalls:sys_enter"), enter, 1);
	u32 other = schema(w, STR("tracepoint"), STR("tracepoint:raw_syscalls:sys_exit"), leave, 2);
	u32 t[8];
	for (u32 i = 0; i < 8; i++) {
		char name[16];
		snprintf(name, sizeof(name), "program%u", i);
		t[i] = task(w, 100 + i, 100 + i, str_n(name, strlen(name)));
	}
	u64 x = 12345, ts = START;
	for (u64 i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		u64 call = (x >> 33) % 300;
		ts += 500 + gap + (x >> 50);
		struct rec_cell cell[] = {{.u = call}, {.u = x >> 60}};
		rec_row(w, &(struct rec_event){.schema = i & 1 ? other : id,
					       .cpu = (u32)(x >> 40) & 3,
					       .task = t[(x >> 42) & 7],
					       .ts = ts,
					       .cell = cell});
		if (i % 1024 == 0)
			err_free(rec_tick(w, ts));
	}
}

enum { WIDE_CPUS = 40, WIDE_ROWS = 4000, DEEP = 6 };

/* One of few stacks: which of two functions is called at each depth is a bit of n. */
static u32 some_stack(struct rec_writer *w, u32 n, u8 flags, u32 lib)
{
	u32 f[DEEP];
	for (u32 i = 0; i < DEEP; i++) {
		u64 addr =
			(flags ? 0xffffffff81000000 : 0x400000) + 0x1000 * i + 0x100 * (n >> i & 1);
		char name[16];
		snprintf(name, sizeof(name), "f%u%c", i, n >> i & 1 ? 'b' : 'a');
		f[i] = frame(w, addr, str_n(name, strlen(name)), lib, flags);
	}
	return rec_stack(
		w, &(struct rec_stack){.n = DEEP, .flags = flags ? STACK_KERNEL : 0, .frame = f});
}

/* Calls of eight programs with results, and samples with stacks, on 40 CPUs, at times that are never the same. */
static void spread(struct rec_writer *w)
{
	u32 in = schema(w, STR("tracepoint"), STR("tracepoint:raw_syscalls:sys_enter"), enter, 1);
	u32 out = schema(w, STR("tracepoint"), STR("tracepoint:raw_syscalls:sys_exit"), leave, 2);
	u32 at = schema(w, STR("profile"), STR("profile:hz:99"), sample, 2);
	u32 lib = rec_mapping(w, &(struct rec_mapping){.path = STR("/usr/bin/f")});
	u64 x = 4711, ts = START;
	for (u32 i = 0; i < WIDE_ROWS; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		u32 r = (u32)(x >> 32), which = i % 3;
		char name[16];
		snprintf(name, sizeof(name), "program%u", r & 7);
		ts += 1 + (r >> 12);
		struct rec_cell cell[] = {{.u = (r >> 3) % 300},
					  {.u = (u64)((i64)(r >> 5) - 3000)}};
		if (which == 2) {
			cell[0].u = some_stack(w, r >> 4 & 7, FRAME_KERNEL, 0);
			cell[1].u = some_stack(w, r >> 7 & 15, 0, lib);
		}
		rec_row(w, &(struct rec_event){.schema = which == 0   ? in
							 : which == 1 ? out
								      : at,
					       .cpu = (r >> 20) % WIDE_CPUS,
					       .task = task(w, 100 + (r & 7), 100 + (r & 7),
							    str_n(name, strlen(name))),
					       .ts = ts,
					       .cell = cell});
	}
}

struct options {
	bool cut, lost, more, spans, gap, items, ring, wide, languages;
	const char *next, *name;
	u64 rows, gap_ns;
	enum rec_codec codec;
};

static void fill(struct rec_writer *w, const struct options *o)
{
	rec_meta(w, STR("machine"), STR("x86_64"));
	rec_clock(w, &(struct rec_clock){START, REAL, START + 5, REAL + 37000000000ull, 1});
	if (o->name)
		rec_meta(w, STR("hostname"), str_z(o->name));
	if (o->ring || o->next)
		err_free(rec_begin(w));
	if (o->wide)
		spread(w);
	else if (o->languages)
		languages(w);
	else if (o->rows)
		big(w, o->rows, o->gap_ns);
	else
		rounds(w, o->lost, o->gap);
	if (o->more)
		drawn(w);
	if (o->spans)
		spans(w);
	if (o->items)
		items(w);
}

/* The rows are in memory first. */
static struct err *snapshot(const struct rec_start *start, const struct options *o, int fd,
			    const char *path)
{
	struct rec_ring *ring = rec_ring_new(4 << 20, 0);
	struct rec_writer *w = rec_create_ring(start, ring);
	struct rec_saved saved;
	fill(w, o);
	const struct rec_start now = {
		.real = REAL + 2000 * MS, .mono = START + 2000 * MS, .ncpu = 4, .codec = o->codec};
	struct err *e = rec_save(w, &now, fd, path, STR("a reason"), &saved);
	rec_abandon(w);
	rec_ring_free(ring);
	return e;
}

static struct err *file(const struct rec_start *start, const struct options *o, int fd,
			const char *path)
{
	struct rec_writer *w;
	struct err *e = rec_create_fd(fd, path, start, &w);
	u64 bytes;
	if (e)
		return e;
	fill(w, o);
	e = rec_tick(w, ~0ull);
	int next = o->next && !e ? open(o->next, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	if (next >= 0)
		e = rec_next_file(w, start, next, o->next, &bytes);
	if (next >= 0 && !e)
		row(w, 1, 0, task(w, 100, 100, STR("cat")), 20000, 0,
		    (struct rec_cell[]){{.u = 1}, {.u = 2}, {.u = 3}, {.str = STR("/next")}});
	if (e || o->cut) {
		rec_abandon(w);
		return e;
	}
	return rec_finish(w, END_DONE, STR("the command ended"), NULL);
}

static int take(struct options *o, int argc, char **argv)
{
	int i = 1;
	for (; i + 1 < argc; i++) {
		o->cut |= !strcmp(argv[i], "-a");
		o->gap |= !strcmp(argv[i], "-g");
		o->lost |= !strcmp(argv[i], "-l");
		o->more |= !strcmp(argv[i], "-k");
		o->spans |= !strcmp(argv[i], "-p");
		o->items |= !strcmp(argv[i], "-i");
		o->ring |= !strcmp(argv[i], "-r");
		o->wide |= !strcmp(argv[i], "-c");
		o->languages |= !strcmp(argv[i], "-y");
		o->codec = !strcmp(argv[i], "-u")   ? CODEC_NONE
			   : !strcmp(argv[i], "-z") ? CODEC_ZLIB
						    : o->codec;
		if (!strcmp(argv[i], "-s"))
			o->next = argv[++i];
		else if (!strcmp(argv[i], "-n"))
			o->name = argv[++i];
		else if (!strcmp(argv[i], "-b"))
			o->rows = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-d") && i + 1 < argc)
			o->gap_ns = strtoull(argv[++i], NULL, 10);
	}
	return i;
}

int main(int argc, char **argv)
{
	struct options o = {.codec = rec_best_codec()};
	int i = take(&o, argc, argv);
	const struct rec_start start = {.real = REAL,
					.mono = START,
					.ncpu = o.wide ? WIDE_CPUS : 4,
					.codec = o.codec,
					.remember = o.items ? 1500 : 0};
	int fd = i < argc ? open(argv[i], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	struct err *e = fd < 0   ? err_new("which file?")
			: o.ring ? snapshot(&start, &o, fd, argv[i])
				 : file(&start, &o, fd, argv[i]);
	if (e)
		fprintf(stderr, "mkrec: %s\n", e->msg);
	return e != NULL;
}
