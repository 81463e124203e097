/*
 * follow.c - programs at fork and at the end of a task, on raw tracepoints; without BTF, which says
 * where a task keeps its ids, on perf events, whose records hold them.
 *
 * A program on a raw tracepoint (typed, where the kernel has that) takes the child's process id:
 * threads change nothing. A record has only the child's own id, so the set then also holds threads,
 * which no filter asks for.
 */
#include "proc/follow.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "kern/perf.h"
#include "kern/sys.h"
#include "kern/tracefs.h"
#include "types/format.h"
#include <errno.h>
#include <linux/btf.h>

enum { MAX_INSNS = 4096, KEY = -8, TMP = -16, TMP_TGID = -12, INFO_SIZE = 8 };

struct follow {
	int full; /* map: one counter */
	int prog[2], link[2];
};

struct code {
	struct bpf_insn v[MAX_INSNS];
	u32 n;
	u32 member[MAX_INSNS], nmember; /* jumps to be aimed at the code for members */
};

static void emit(struct code *c, struct bpf_insn in)
{
	assert(c->n < MAX_INSNS);
	c->v[c->n++] = in;
}

static void emit_ld64(struct code *c, u8 reg, u8 kind, u64 val)
{
	emit(c, INSN(BPF_LD | BPF_IMM | BPF_DW, reg & 15u, kind & 15u, 0, (i32)(u32)val));
	emit(c, INSN(0, 0, 0, 0, kind ? 0 : (i32)(u32)(val >> 32)));
}

/* reg = frame + off */
static void emit_frame(struct code *c, u8 reg, i32 off)
{
	emit(c, I_MOVR(reg & 15u, 10));
	emit(c, I_ADD(reg & 15u, off));
}

static void emit_map(struct code *c, int map)
{
	emit_ld64(c, 1, BPF_PSEUDO_MAP_FD, (u64)(u32)map);
	emit_frame(c, 2, KEY);
}

/* ---- where ids are ---- */

/* Of the tracepoints' second or first value. */
enum kind { TYPED, RAW, RECORD };
struct ids {
	enum kind kind;
	u32 child; /* offset of tgid in a task; of child_pid in the record */
	u32 freed; /* offset of pid in a task; of pid in the record */
};

static bool from_btf(struct host *h, struct ids *ret)
{
	struct types *k = host_btf(h);
	const struct type *t = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct field tgid, pid;
	if (!t || !type_field(t, STR("tgid"), &tgid) || !type_field(t, STR("pid"), &pid))
		return false;
	*ret = (struct ids){host_has(h, FEAT_TP_BTF) ? TYPED : RAW, tgid.bit_off / 8,
			    pid.bit_off / 8};
	return true;
}

static struct err *record_field(struct host *h, const char *event, struct str name, u32 *off)
{
	struct str text;
	u64 id;
	const struct type *t;
	struct field f;
	struct err *e = tracefs_format(h, STR("sched"), str_z(event), &text);
	if (!e)
		e = format_parse(text, str_z(event), NULL, h->arena, &id, &t);
	if (!e && !type_field(t, name, &f))
		e = err_new("tracepoint sched:%s has no field %.*s", event, STRF(name));
	if (!e)
		*off = f.bit_off / 8;
	return e;
}

static struct err *find_ids(struct host *h, struct ids *ret)
{
	if (from_btf(h, ret))
		return NULL;
	ret->kind = RECORD;
	struct err *e = record_field(h, "sched_process_fork", STR("child_pid"), &ret->child);
	return e ? e : record_field(h, "sched_process_free", STR("pid"), &ret->freed);
}

/* ---- the programs ---- */

/* Jumps to the code for members when the current process is one. */
static void emit_is_member(struct code *c, int map, const struct follow_seed *seeds, u32 nseed)
{
	emit(c, I_CALL(BPF_FUNC_get_current_pid_tgid));
	emit(c, INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32));
	emit(c, INSN(BPF_STX | BPF_MEM | BPF_W, 10, 0, KEY, 0));
	emit_map(c, map);
	emit(c, I_CALL(BPF_FUNC_map_lookup_elem));
	c->member[c->nmember++] = c->n;
	emit(c, INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, 0));
	for (u32 i = 0; i < nseed; i++) {
		emit(c, I_ST(10, TMP, 0));
		emit_ld64(c, 1, 0, seeds[i].dev);
		emit_ld64(c, 2, 0, seeds[i].ino);
		emit_frame(c, 3, TMP);
		emit(c, I_MOV(4, INFO_SIZE));
		emit(c, I_CALL(BPF_FUNC_get_ns_current_pid_tgid));
		emit(c, INSN(BPF_LDX | BPF_MEM | BPF_W, 0, 10, TMP_TGID, 0));
		c->member[c->nmember++] = c->n;
		emit(c, INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0, (i32)seeds[i].id));
	}
}

/* key = the id at off in the task that word n of the context points to, or in the record itself. */
static void emit_key(struct code *c, enum kind kind, u32 word, u32 off)
{
	u8 from = 6;
	if (kind == RAW) {
		emit(c, INSN(BPF_LDX | BPF_MEM | BPF_DW, 3, 6, (i16)(8 * word), 0));
		emit(c, I_ADD(3, (i32)off));
		emit(c, I_MOV(2, 4));
		emit_frame(c, 1, KEY);
		emit(c, I_CALL(BPF_FUNC_probe_read_kernel));
		return;
	}
	if (kind == TYPED) {
		emit(c, INSN(BPF_LDX | BPF_MEM | BPF_DW, 3, 6, (i16)(8 * word), 0));
		from = 3;
	}
	emit(c, INSN(BPF_LDX | BPF_MEM | BPF_W, 0, from & 15u, (i16)off, 0));
	emit(c, INSN(BPF_STX | BPF_MEM | BPF_W, 10, 0, KEY, 0));
}

static void emit_end(struct code *c)
{
	emit(c, I_MOV(0, 0));
	emit(c, I_EXIT);
}

static void fork_code(struct code *c, const struct ids *ids, int map, int full,
		      const struct follow_seed *seeds, u32 nseed)
{
	emit(c, I_MOVR(6, 1));
	emit(c, I_ST(10, KEY, 0));
	emit_is_member(c, map, seeds, nseed);
	emit_end(c);
	for (u32 i = 0; i < c->nmember; i++)
		c->v[c->member[i]].off = (i16)(c->n - c->member[i] - 1);
	emit_key(c, ids->kind, 1, ids->child);
	emit(c, I_ST(10, TMP, 0));
	emit_map(c, map);
	emit_frame(c, 3, TMP);
	emit(c, I_MOV(4, BPF_ANY));
	emit(c, I_CALL(BPF_FUNC_map_update_elem));
	emit(c, INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4, 0)); /* to the end */
	emit_ld64(c, 1, BPF_PSEUDO_MAP_VALUE, (u64)(u32)full);
	emit(c, I_MOV(2, 1));
	emit(c, INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 1, 2, 0, BPF_ADD));
	emit_end(c);
}

static void free_code(struct code *c, const struct ids *ids, int map)
{
	emit(c, I_MOVR(6, 1));
	emit(c, I_ST(10, KEY, 0));
	emit_key(c, ids->kind, 0, ids->freed);
	emit_map(c, map);
	emit(c, I_CALL(BPF_FUNC_map_delete_elem));
	emit_end(c);
}

static struct err *attach(struct host *h, const struct code *c, enum kind kind, const char *event,
			  int *prog, int *link)
{
	static const u32 types[] = {BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_RAW_TRACEPOINT,
				    BPF_PROG_TYPE_TRACEPOINT};
	struct prog_spec s = {
		.name = event, .license = "GPL", .type = types[kind], .insn = c->v, .ninsn = c->n};
	if (kind == TYPED) {
		s.attach_type = BPF_TRACE_RAW_TP;
		s.attach_btf_id =
			btf_types_id(host_btf(h), str_z(arena_fmt(h->arena, "btf_trace_%s", event)),
				     BTF_KIND_TYPEDEF);
	}
	struct perf_spec p = {.type = PERF_TYPE_TRACEPOINT, .period = 1, .pid = -1, .cpu = 0};
	struct err *e = bpf_prog_new(h, &s, prog, NULL);
	if (!e && kind != RECORD)
		return bpf_raw_tp(*prog, kind == RAW ? event : NULL, link);
	if (!e)
		e = tracefs_id(h, STR("sched"), str_z(event), &p.config);
	if (!e)
		e = perf_open(&p, link);
	return e ? e : perf_attach(*link, *prog);
}

struct err *follow_open(struct host *h, int map, const struct follow_seed *seeds, u32 nseed,
			struct follow **ret)
{
	struct map_spec full = {"full", BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0};
	struct ids ids;
	struct follow *f = xcalloc(1, sizeof(*f));
	AUTO_FREE struct code *c = xcalloc(2, sizeof(*c));
	f->full = f->prog[0] = f->prog[1] = f->link[0] = f->link[1] = -1;
	struct err *e = find_ids(h, &ids);
	if (!e)
		e = bpf_map_new(&full, &f->full);
	if (!e) {
		free_code(&c[0], &ids, map);
		e = attach(h, &c[0], ids.kind, "sched_process_free", &f->prog[0], &f->link[0]);
	}
	if (!e) {
		fork_code(&c[1], &ids, map, f->full, seeds, nseed);
		e = attach(h, &c[1], ids.kind, "sched_process_fork", &f->prog[1], &f->link[1]);
	}
	if (e) {
		follow_close(f);
		return err_wrap(e, "follow children: ");
	}
	*ret = f;
	return NULL;
}

struct err *follow_full(const struct follow *f, u64 *n)
{
	*n = 0;
	return f ? bpf_map_get(f->full, &(u32){0}, n) : NULL;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	close_fd(&f->link[1]);
	close_fd(&f->link[0]);
	close_fd(&f->prog[1]);
	close_fd(&f->prog[0]);
	close_fd(&f->full);
	free(f);
}
