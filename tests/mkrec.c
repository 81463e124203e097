/*
 * mkrec [-a] [-l] [-u] [-b N] FILE: a recording that tests know by heart. -a: it has no end. -l: events were
 * lost. -u: it is not compressed. -b: N rows of raw_syscalls:sys_enter by eight programs, for measurements.
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
#include "rec/write.h"
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

static const struct rec_column openat[] = {
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

static void rounds(struct rec_writer *w, bool lost)
{
	static const struct str call = STR("tracepoint");
	u32 e_open = schema(w, call, STR("tracepoint:syscalls:sys_enter_openat"), openat, 4);
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
		u64 at = i * 1000;
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

static void big(struct rec_writer *w, u64 n)
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
		ts += 500 + (x >> 50);
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

int main(int argc, char **argv)
{
	struct rec_writer *w;
	bool cut = false, lost = false, plain = false;
	u64 rows = 0;
	int i = 1;
	for (; i + 1 < argc; i++) {
		cut |= !strcmp(argv[i], "-a");
		lost |= !strcmp(argv[i], "-l");
		plain |= !strcmp(argv[i], "-u");
		if (!strcmp(argv[i], "-b"))
			rows = strtoull(argv[++i], NULL, 10);
	}
	const struct rec_start start = {.real = REAL,
					.mono = START,
					.ncpu = 4,
					.codec = plain ? CODEC_NONE : rec_best_codec()};
	struct err *e = i < argc ? rec_create(argv[i], &start, &w) : err_new("which file?");
	if (!e) {
		rec_meta(w, STR("machine"), STR("x86_64"));
		rec_clock(w, &(struct rec_clock){START, REAL, START + 5, REAL + 37000000000ull, 1});
		if (rows)
			big(w, rows);
		else
			rounds(w, lost);
		e = rec_tick(w, ~0ull);
	}
	if (!e && cut)
		rec_abandon(w);
	else if (!e)
		e = rec_finish(w, END_DONE, STR("the command ended"), NULL);
	if (e)
		fprintf(stderr, "mkrec: %s\n", e->msg);
	return e != NULL;
}
