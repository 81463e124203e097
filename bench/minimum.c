/*
 * minimum NAME LOAD: the least that a program of the benchmark can cost, written by hand.
 *
 * The same places as sonde's programs and the best mechanisms we know, in BPF instructions: direct
 * slots for one value per CPU, an own hash table per CPU in directly addressed memory, fields of
 * the task by typed loads, an own ring for events. It checks less than a tool must: tables do not
 * grow, a full window counts as lost, records have one size. "minimum list" names the programs. It
 * says "Attached", waits for SIGINT and prints how much was counted.
 */
#include "kern/bpf.h"
#include "kern/perf.h"
#include "kern/sys.h"
#include "kern/tracefs.h"
#include <linux/btf.h>
#include <signal.h>

enum {
	MAX_INSN = 1024,
	MAX_MAPS = 4,
	SLOTS = 1024, /* of a hash table, and WINDOW more behind it */
	WINDOW = 8,
	SLOT_BYTES = 64, /* tag, three words of key, value */
	SLOT_VALUE = 32,
	TABLE_BYTES = (SLOTS + WINDOW) * SLOT_BYTES,
	RECORDS = 16384, /* of a CPU's ring; each: length, pid, comm, text */
	RECORD_BYTES = 256,
	RING_HEADER = 64, /* head, lost */
	RING_BYTES = RING_HEADER + RECORDS * RECORD_BYTES,
	STACKS = 16384,
	UPROBE_SESSION = 57, /* BPF_TRACE_UPROBE_SESSION */
	BUSY = 2,
};

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };
enum { B1 = BPF_B, B4 = BPF_W, B8 = BPF_DW };

struct table { /* a map whose values are summed up at the end */
	int fd;
	u32 bytes, stride, at;
};

struct code {
	struct bpf_insn insn[MAX_INSN];
	u32 n;
};

struct bench {
	struct host *h;
	const char *load;
	struct code code[2];
	struct table table[MAX_MAPS];
	u32 ntable, ncpu; /* a power of two */
	int ring_fd;
	u8 *ring;
	u64 tail[64], taken;
	int stacks_fd;
	u32 comm, tgid, pid, parent; /* offsets in task_struct */
};

static void die(struct err *e)
{
	if (!e)
		return;
	fprintf(stderr, "minimum: %s\n", e->msg);
	exit(1);
}

/* ---- instructions ---- */

static u32 put(struct code *c, u8 code, u8 dst, u8 src, i32 off, i32 imm)
{
	assert(c->n < MAX_INSN);
	c->insn[c->n] = (struct bpf_insn){.code = code, .off = (i16)off, .imm = imm};
	c->insn[c->n].dst_reg = dst & 15u;
	c->insn[c->n].src_reg = src & 15u;
	return c->n++;
}
static void op(struct code *c, u8 o, u8 dst, u8 src)
{
	put(c, BPF_ALU64 | BPF_X | o, dst, src, 0, 0);
}
static void opi(struct code *c, u8 o, u8 dst, i32 imm)
{
	put(c, BPF_ALU64 | BPF_K | o, dst, 0, 0, imm);
}
static void mov(struct code *c, u8 dst, u8 src)
{
	op(c, BPF_MOV, dst, src);
}
static void movi(struct code *c, u8 dst, i32 imm)
{
	opi(c, BPF_MOV, dst, imm);
}
static void ld(struct code *c, u8 size, u8 dst, u8 src, i32 off)
{
	put(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}
static void st(struct code *c, u8 size, u8 dst, i32 off, u8 src)
{
	put(c, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}
static u32 jmp(struct code *c, u8 o, u8 dst, u8 src)
{
	return put(c, BPF_JMP | BPF_X | o, dst, src, 0, 0);
}
static u32 jmpi(struct code *c, u8 o, u8 dst, i32 imm)
{
	return put(c, BPF_JMP | BPF_K | o, dst, 0, 0, imm);
}
/* The jump at this place comes here. */
static void land(struct code *c, u32 at)
{
	c->insn[at].off = (i16)(c->n - at - 1);
}
static void call(struct code *c, i32 helper)
{
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}
static void wide(struct code *c, u8 dst, u8 kind, u64 val)
{
	put(c, BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, (i32)val);
	put(c, 0, 0, 0, 0, (i32)(val >> 32));
}
static void leave(struct code *c)
{
	movi(c, R0, 0);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
static void add1(struct code *c, u8 base, i32 off)
{
	ld(c, B8, R1, base, off);
	opi(c, BPF_ADD, R1, 1);
	st(c, B8, base, off, R1);
}

/* ---- maps ---- */

static int map_new(u32 type, u32 key, u32 val, u32 n, u32 flags)
{
	int fd = -1;
	struct map_spec s = {"minimum", type, key, val, n, flags};
	die(bpf_map_new(&s, &fd));
	return fd;
}

static int table_new(struct bench *b, u32 bytes, u32 stride, u32 at)
{
	int fd = map_new(BPF_MAP_TYPE_ARRAY, 4, bytes, 1, 0);
	assert(b->ntable < MAX_MAPS);
	b->table[b->ntable++] = (struct table){fd, bytes, stride, at};
	return fd;
}

/* dst = address of this CPU's part of the map; clobbers R0 to R5. */
static void cpu_part(struct bench *b, struct code *c, u8 dst, int fd, u32 bytes)
{
	call(c, BPF_FUNC_get_smp_processor_id);
	opi(c, BPF_AND, R0, (i32)b->ncpu - 1);
	opi(c, BPF_MUL, R0, (i32)bytes);
	wide(c, dst, BPF_PSEUDO_MAP_VALUE, (u32)fd);
	op(c, BPF_ADD, dst, R0);
}

/*
 * R9 = the slot with the key words in R6, R7, R8, which is made when there is none. The table
 * begins at R9. Clobbers R0 to R5. Slots: tag, words, value.
 */
static void find(struct code *c, u32 nword)
{
	static const u64 mul[3] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0xff51afd7ed558ccd};
	u32 found[2 * WINDOW], nfound = 0;
	movi(c, R5, 0);
	for (u32 i = 0; i < nword; i++) {
		wide(c, R1, 0, mul[i]);
		mov(c, R2, (u8)(R6 + i));
		op(c, BPF_MUL, R2, R1);
		op(c, i ? BPF_XOR : BPF_MOV, R5, R2);
	}
	mov(c, R2, R5);
	opi(c, BPF_RSH, R2, 54);
	opi(c, BPF_MUL, R2, SLOT_BYTES);
	op(c, BPF_ADD, R9, R2);
	opi(c, BPF_OR, R5, 1);
	for (u32 w = 0; w < WINDOW; w++) {
		u32 next[8], nnext = 0;
		ld(c, B8, R1, R9, 0);
		u32 other = jmp(c, BPF_JNE, R1, R5);
		for (u32 i = 0; i < nword; i++) {
			ld(c, B8, R2, R9, 8 + 8 * (i32)i);
			next[nnext++] = jmp(c, BPF_JNE, R2, (u8)(R6 + i));
		}
		found[nfound++] = jmpi(c, BPF_JA, 0, 0);
		land(c, other);
		next[nnext++] = jmpi(c, BPF_JNE, R1, 0);
		movi(c, R0, 0);
		movi(c, R2, BUSY);
		put(c, BPF_STX | BPF_ATOMIC | BPF_DW, R9, R2, 0, BPF_CMPXCHG);
		next[nnext++] = jmpi(c, BPF_JNE, R0, 0);
		for (u32 i = 0; i < nword; i++)
			st(c, B8, R9, 8 + 8 * (i32)i, (u8)(R6 + i));
		st(c, B8, R9, 0, R5);
		found[nfound++] = jmpi(c, BPF_JA, 0, 0);
		while (nnext)
			land(c, next[--nnext]);
		opi(c, BPF_ADD, R9, SLOT_BYTES);
	}
	leave(c);
	while (nfound)
		land(c, found[--nfound]);
}

/* dst = number of src's highest bit, plus one; 0 for 0. Clobbers src. */
static void log2_of(struct code *c, u8 dst, u8 src)
{
	movi(c, dst, 0);
	u32 zero = jmpi(c, BPF_JEQ, src, 0);
	for (i32 bits = 32; bits; bits /= 2) {
		u32 small;
		if (bits == 32) {
			wide(c, R0, 0, 1ull << 32);
			small = jmp(c, BPF_JLT, src, R0);
		} else {
			small = jmpi(c, BPF_JLT, src, 1 << bits);
		}
		opi(c, BPF_RSH, src, bits);
		opi(c, BPF_ADD, dst, bits);
		land(c, small);
	}
	opi(c, BPF_ADD, dst, 1);
	land(c, zero);
	opi(c, BPF_AND, dst, 127);
}

/* ---- bodies ---- */

static void empty(struct bench *b, struct code *c)
{
	(void)b;
	leave(c);
}

static void empty_pair(struct bench *b, struct code *c)
{
	leave(c);
	leave(&b->code[1]);
}

static void count(struct bench *b, struct code *c)
{
	int fd = table_new(b, b->ncpu * 64, 64, 0);
	cpu_part(b, c, R9, fd, 64);
	add1(c, R9, 0);
	leave(c);
}

/* @ = sum(value): where it lies in the context. */
static void sum_at(struct bench *b, struct code *c, i32 off)
{
	int fd = table_new(b, b->ncpu * 64, 64, 8);
	ld(c, B8, R8, R1, off);
	cpu_part(b, c, R9, fd, 64);
	ld(c, B8, R1, R9, 0);
	op(c, BPF_ADD, R1, R8);
	st(c, B8, R9, 0, R1);
	add1(c, R9, 8); /* sum() keeps how many, too */
	leave(c);
}

static void sum(struct bench *b, struct code *c)
{
	sum_at(b, c, 24);
}

static void hist_at(struct bench *b, struct code *c, i32 off)
{
	int fd = table_new(b, b->ncpu * 1024, 8, 0);
	ld(c, B8, R8, R1, off);
	cpu_part(b, c, R9, fd, 1024);
	log2_of(c, R7, R8);
	opi(c, BPF_LSH, R7, 3);
	op(c, BPF_ADD, R9, R7);
	add1(c, R9, 0);
	leave(c);
}

static void hist(struct bench *b, struct code *c)
{
	hist_at(b, c, 24);
}

static void hist_arg0(struct bench *b, struct code *c)
{
	hist_at(b, c, 112); /* rdi */
}

static void hist_retval(struct bench *b, struct code *c)
{
	hist_at(b, c, 80); /* rax */
}

static void lhist(struct bench *b, struct code *c)
{
	int fd = table_new(b, b->ncpu * 1024, 8, 0);
	ld(c, B8, R8, R1, 24);
	cpu_part(b, c, R9, fd, 1024);
	movi(c, R7, 0);
	u32 below = jmpi(c, BPF_JSLT, R8, 0);
	movi(c, R7, 11);
	u32 above = jmpi(c, BPF_JSGE, R8, 1000);
	mov(c, R7, R8);
	opi(c, BPF_DIV, R7, 100);
	opi(c, BPF_ADD, R7, 1);
	land(c, below);
	land(c, above);
	opi(c, BPF_AND, R7, 15);
	opi(c, BPF_LSH, R7, 3);
	op(c, BPF_ADD, R9, R7);
	add1(c, R9, 0);
	leave(c);
}

/* Key words in R6 and up. */
static void by_key(struct bench *b, struct code *c, u32 nword)
{
	int fd = table_new(b, b->ncpu * TABLE_BYTES, SLOT_BYTES, SLOT_VALUE);
	cpu_part(b, c, R9, fd, TABLE_BYTES);
	find(c, nword);
	add1(c, R9, SLOT_VALUE);
	leave(c);
}

static void by_comm(struct bench *b, struct code *c)
{
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R6, R0, (i32)b->comm);
	ld(c, B8, R7, R0, (i32)b->comm + 8);
	by_key(b, c, 2);
}

static void by_pid(struct bench *b, struct code *c)
{
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B4, R6, R0, (i32)b->tgid);
	by_key(b, c, 1);
}

static void by_both(struct bench *b, struct code *c)
{
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R6, R0, (i32)b->comm);
	ld(c, B8, R7, R0, (i32)b->comm + 8);
	ld(c, B4, R8, R0, (i32)b->tgid);
	by_key(b, c, 3);
}

static void hist_comm(struct bench *b, struct code *c)
{
	ld(c, B8, R9, R1, 24);
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R6, R0, (i32)b->comm);
	ld(c, B8, R7, R0, (i32)b->comm + 8);
	log2_of(c, R8, R9);
	by_key(b, c, 3);
}

static void walk(struct bench *b, struct code *c)
{
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R1, R0, (i32)b->parent);
	ld(c, B4, R6, R1, (i32)b->tgid);
	by_key(b, c, 1);
}

static void filter(struct bench *b, struct code *c)
{
	int fd = table_new(b, b->ncpu * 64, 64, 0);
	call(c, BPF_FUNC_get_current_pid_tgid);
	opi(c, BPF_RSH, R0, 32);
	u32 go = jmpi(c, BPF_JEQ, R0, 1);
	leave(c);
	land(c, go);
	cpu_part(b, c, R9, fd, 64);
	add1(c, R9, 0);
	leave(c);
}

/* comm == "no-such-name" */
static void filter_comm(struct bench *b, struct code *c)
{
	u64 word[2] = {0};
	memcpy(word, "no-such-name", 12);
	int fd = table_new(b, b->ncpu * 64, 64, 0);
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R1, R0, (i32)b->comm);
	wide(c, R2, 0, word[0]);
	u32 go = jmp(c, BPF_JEQ, R1, R2);
	leave(c);
	land(c, go);
	ld(c, B8, R1, R0, (i32)b->comm + 8);
	wide(c, R2, 0, word[1]);
	u32 go2 = jmp(c, BPF_JEQ, R1, R2);
	leave(c);
	land(c, go2);
	cpu_part(b, c, R9, fd, 64);
	add1(c, R9, 0);
	leave(c);
}

/* A slot for each number below 512, found at ctx + off. */
static void by_number(struct bench *b, struct code *c, i32 off)
{
	int fd = table_new(b, b->ncpu * 4096, 8, 0);
	ld(c, B8, R8, R1, off);
	cpu_part(b, c, R9, fd, 4096);
	u32 in = jmpi(c, BPF_JLT, R8, 512);
	leave(c);
	land(c, in);
	opi(c, BPF_LSH, R8, 3);
	op(c, BPF_ADD, R9, R8);
	add1(c, R9, 0);
	leave(c);
}

static void by_nr(struct bench *b, struct code *c)
{
	by_number(b, c, 8);
}

static void by_prev(struct bench *b, struct code *c)
{
	ld(c, B8, R1, R1, 8);
	ld(c, B4, R6, R1, (i32)b->pid);
	by_key(b, c, 1);
}

/* Entry keeps the time in a table by thread; exit makes a histogram by comm. */
static void enter(struct bench *b, struct code *c)
{
	int fd = map_new(BPF_MAP_TYPE_ARRAY, 4, TABLE_BYTES, 1, 0);
	b->stacks_fd = fd;
	call(c, BPF_FUNC_ktime_get_ns);
	mov(c, R8, R0);
	call(c, BPF_FUNC_get_current_pid_tgid);
	put(c, BPF_ALU | BPF_X | BPF_MOV, R6, R0, 0, 0);
	wide(c, R9, BPF_PSEUDO_MAP_VALUE, (u32)fd);
	find(c, 1);
	st(c, B8, R9, SLOT_VALUE, R8);
	leave(c);
}

static void since(struct bench *b, struct code *c)
{
	int fd = table_new(b, b->ncpu * TABLE_BYTES, SLOT_BYTES, SLOT_VALUE);
	call(c, BPF_FUNC_get_current_pid_tgid);
	put(c, BPF_ALU | BPF_X | BPF_MOV, R6, R0, 0, 0);
	wide(c, R9, BPF_PSEUDO_MAP_VALUE, (u32)b->stacks_fd);
	find(c, 1);
	ld(c, B8, R8, R9, SLOT_VALUE);
	u32 some = jmpi(c, BPF_JNE, R8, 0);
	leave(c);
	land(c, some);
	movi(c, R1, 0);
	st(c, B8, R9, SLOT_VALUE, R1);
	call(c, BPF_FUNC_ktime_get_ns);
	mov(c, R9, R0);
	op(c, BPF_SUB, R9, R8);
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R6, R0, (i32)b->comm);
	ld(c, B8, R7, R0, (i32)b->comm + 8);
	log2_of(c, R8, R9);
	cpu_part(b, c, R9, fd, TABLE_BYTES);
	find(c, 3);
	add1(c, R9, SLOT_VALUE);
	leave(c);
}

static void latency(struct bench *b, struct code *c)
{
	enter(b, c);
	since(b, &b->code[1]);
}

/* One program for entry and return: the kernel keeps a word for it on the way. */
static void session(struct bench *b, struct code *c)
{
	u32 is_return = btf_types_id(host_btf(b->h), STR("bpf_session_is_return"), BTF_KIND_FUNC);
	u32 cookie = btf_types_id(host_btf(b->h), STR("bpf_session_cookie"), BTF_KIND_FUNC);
	int fd = table_new(b, b->ncpu * 1024, 8, 0);
	put(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (i32)cookie);
	mov(c, R6, R0);
	put(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (i32)is_return);
	mov(c, R7, R0);
	call(c, BPF_FUNC_ktime_get_ns);
	u32 returning = jmpi(c, BPF_JNE, R7, 0);
	st(c, B8, R6, 0, R0);
	leave(c);
	land(c, returning);
	ld(c, B8, R1, R6, 0);
	mov(c, R8, R0);
	op(c, BPF_SUB, R8, R1);
	cpu_part(b, c, R9, fd, 1024);
	log2_of(c, R7, R8);
	opi(c, BPF_LSH, R7, 3);
	op(c, BPF_ADD, R9, R7);
	add1(c, R9, 0);
	leave(c);
}

static void record(struct bench *b, struct code *c, i32 text_at)
{
	b->ring_fd = map_new(BPF_MAP_TYPE_ARRAY, 4, b->ncpu * RING_BYTES, 1, BPF_F_MMAPABLE);
	if (text_at)
		ld(c, B8, R8, R1, text_at);
	cpu_part(b, c, R9, b->ring_fd, RING_BYTES);
	movi(c, R1, 1);
	put(c, BPF_STX | BPF_ATOMIC | BPF_DW, R9, R1, 0, BPF_ADD | BPF_FETCH);
	opi(c, BPF_AND, R1, RECORDS - 1);
	opi(c, BPF_MUL, R1, RECORD_BYTES);
	mov(c, R7, R9);
	op(c, BPF_ADD, R9, R1);
	ld(c, B8, R1, R9, RING_HEADER);
	u32 room = jmpi(c, BPF_JEQ, R1, 0);
	movi(c, R1, 1);
	put(c, BPF_STX | BPF_ATOMIC | BPF_DW, R7, R1, 8, BPF_ADD);
	leave(c);
	land(c, room);
	call(c, BPF_FUNC_get_current_task_btf);
	ld(c, B8, R1, R0, (i32)b->comm);
	st(c, B8, R9, RING_HEADER + 16, R1);
	ld(c, B8, R1, R0, (i32)b->comm + 8);
	st(c, B8, R9, RING_HEADER + 24, R1);
	ld(c, B4, R1, R0, (i32)b->tgid);
	st(c, B8, R9, RING_HEADER + 8, R1);
	movi(c, R0, 1);
	if (text_at) {
		mov(c, R1, R9);
		opi(c, BPF_ADD, R1, RING_HEADER + 32);
		movi(c, R2, RECORD_BYTES - 32);
		mov(c, R3, R8);
		call(c, BPF_FUNC_probe_read_user_str);
		opi(c, BPF_OR, R0, 256);
	}
	st(c, B8, R9, RING_HEADER, R0);
	leave(c);
}

static void print_text(struct bench *b, struct code *c)
{
	record(b, c, 24);
}

static void print(struct bench *b, struct code *c)
{
	record(b, c, 0);
}

static void stack(struct bench *b, struct code *c, u64 flags)
{
	b->stacks_fd = map_new(BPF_MAP_TYPE_STACK_TRACE, 4, 127 * 8, STACKS, 0);
	int fd = table_new(b, b->ncpu * STACKS * 8, 8, 0);
	wide(c, R2, BPF_PSEUDO_MAP_FD, (u32)b->stacks_fd);
	movi(c, R3, (i32)flags);
	call(c, BPF_FUNC_get_stackid);
	u32 good = jmpi(c, BPF_JSGE, R0, 0);
	leave(c);
	land(c, good);
	mov(c, R8, R0);
	opi(c, BPF_AND, R8, STACKS - 1);
	opi(c, BPF_LSH, R8, 3);
	cpu_part(b, c, R9, fd, STACKS * 8);
	op(c, BPF_ADD, R9, R8);
	add1(c, R9, 0);
	leave(c);
}

static void kstack(struct bench *b, struct code *c)
{
	stack(b, c, 0);
}

static void ustack(struct bench *b, struct code *c)
{
	stack(b, c, BPF_F_USER_STACK);
}

/* ---- places ---- */

enum place { TP, RAW, TYPED, UPROBE, URETPROBE, SESSION };

static const struct program {
	const char *name;
	enum place place;
	const char *at, *at2; /* of code[1] */
	void (*build)(struct bench *b, struct code *c);
} programs[] = {
	{"tp-empty", TP, "sys_enter_getppid", NULL, empty},
	{"tp-count", TP, "sys_enter_getppid", NULL, count},
	{"tp-comm", TP, "sys_enter_getppid", NULL, by_comm},
	{"tp-pid", TP, "sys_enter_getppid", NULL, by_pid},
	{"tp-pid-comm", TP, "sys_enter_getppid", NULL, by_both},
	{"tp-filter", TP, "sys_enter_getppid", NULL, filter},
	{"tp-filter-comm", TP, "sys_enter_getppid", NULL, filter_comm},
	{"tp-sum", TP, "sys_enter_lseek", NULL, sum},
	{"tp-hist", TP, "sys_enter_lseek", NULL, hist},
	{"tp-hist-comm", TP, "sys_enter_lseek", NULL, hist_comm},
	{"tp-lhist", TP, "sys_enter_lseek", NULL, lhist},
	{"tp-pair-empty", TP, "sys_enter_lseek", "sys_exit_lseek", empty_pair},
	{"tp-latency", TP, "sys_enter_lseek", "sys_exit_lseek", latency},
	{"tp-walk", TP, "sys_enter_getppid", NULL, walk},
	{"tp-print", TP, "sys_enter_openat", NULL, print_text},
	{"tp-kstack", TP, "sys_enter_getppid", NULL, kstack},
	{"tp-ustack", TP, "sys_enter_getppid", NULL, ustack},
	{"tp-ids", RAW, "sys_enter", NULL, by_nr},
	{"tp-switch-empty", TYPED, "sched_switch", NULL, empty},
	{"tp-switch", TYPED, "sched_switch", NULL, by_prev},
	{"raw-empty", RAW, "sys_enter", NULL, empty},
	{"raw-count", RAW, "sys_enter", NULL, count},
	{"raw-comm", RAW, "sys_enter", NULL, by_comm},
	{"raw-pid-comm", RAW, "sys_enter", NULL, by_both},
	{"raw-filter", RAW, "sys_enter", NULL, filter},
	{"raw-pair-empty", RAW, "sys_enter", "sys_exit", empty_pair},
	{"raw-latency", RAW, "sys_enter", "sys_exit", latency},
	{"raw-print", RAW, "sys_enter", NULL, print},
	{"uprobe-empty", UPROBE, "f_push", NULL, empty},
	{"uprobe-count", UPROBE, "f_push", NULL, count},
	{"uprobe-comm", UPROBE, "f_push", NULL, by_comm},
	{"uprobe-hist", UPROBE, "f_push", NULL, hist_arg0},
	{"uprobe-endbr", UPROBE, "f_endbr", NULL, count},
	{"uretprobe-empty", URETPROBE, "f_push", NULL, empty},
	{"uretprobe-hist", URETPROBE, "f_push", NULL, hist_retval},
	{"uprobe-pair-empty", SESSION, "f_push", NULL, empty},
	{"uprobe-latency", SESSION, "f_push", NULL, session},
	{"usdt-empty", UPROBE, "f_site", NULL, empty},
	{"usdt-count", UPROBE, "f_site", NULL, count},
	{"usdt-hist", UPROBE, "f_site", NULL, hist_arg0},
};

static int load_prog(struct bench *b, const struct program *p, struct code *c)
{
	static const struct {
		u32 type, attach;
	} kinds[] = {
		[TP] = {BPF_PROG_TYPE_TRACEPOINT, 0},
		[RAW] = {BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
		[TYPED] = {BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
		[UPROBE] = {BPF_PROG_TYPE_KPROBE, SONDE_BPF_TRACE_UPROBE_MULTI},
		[URETPROBE] = {BPF_PROG_TYPE_KPROBE, SONDE_BPF_TRACE_UPROBE_MULTI},
		[SESSION] = {BPF_PROG_TYPE_KPROBE, UPROBE_SESSION},
	};
	struct prog_spec s = {.name = "minimum",
			      .license = "GPL",
			      .type = kinds[p->place].type,
			      .attach_type = kinds[p->place].attach,
			      .insn = c->insn,
			      .ninsn = c->n};
	char *log = NULL, name[64];
	int fd = -1;
	if (p->place == TYPED) {
		snprintf(name, sizeof(name), "btf_trace_%s", p->at);
		s.attach_btf_id = btf_types_id(host_btf(b->h), str_z(name), BTF_KIND_TYPEDEF);
	}
	struct err *e = bpf_prog_new(b->h, &s, &fd, &log);
	if (e && log)
		fprintf(stderr, "%s\n", log);
	die(e);
	free(log);
	return fd;
}

static u64 offset_in(const char *load, const char *func)
{
	char line[64] = "";
	int out[2];
	if (pipe(out))
		return 0;
	pid_t pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		execl(load, load, "where", func, NULL);
		_exit(127);
	}
	close(out[1]);
	ssize_t n = read(out[0], line, sizeof(line) - 1);
	close(out[0]);
	if (n <= 0) {
		fprintf(stderr, "minimum: no %s in %s\n", func, load);
		exit(1);
	}
	return strtoull(line, NULL, 10);
}

static void attach(struct bench *b, const struct program *p, int prog, const char *at)
{
	int fd = -1;
	if (p->place == TP) {
		struct perf_spec s = {.type = PERF_TYPE_TRACEPOINT, .pid = -1, .period = 1};
		die(tracefs_id(b->h, STR("syscalls"), str_z(at), &s.config));
		die(perf_open(&s, &fd));
		die(perf_attach(fd, prog));
	} else if (p->place == RAW || p->place == TYPED) {
		die(bpf_raw_tp(prog, p->place == RAW ? at : NULL, &fd));
	} else {
		u64 off = offset_in(b->load, at);
		struct sonde_uprobe_multi_attr attr = {
			.prog_fd = (u32)prog,
			.attach_type = p->place == SESSION ? (u32)UPROBE_SESSION
							   : SONDE_BPF_TRACE_UPROBE_MULTI,
			.path = (u64)(uintptr_t)b->load,
			.offsets = (u64)(uintptr_t)&off,
			.cnt = 1,
			.multi_flags = p->place == URETPROBE ? SONDE_BPF_F_UPROBE_MULTI_RETURN : 0,
		};
		long r = sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
		if (r < 0)
			die(err_kern((int)-r, "attach to %s in %s", at, b->load));
	}
}

/* ---- the rest ---- */

static u32 member(struct host *h, const char *name)
{
	const struct type *task = btf_types_find(host_btf(h), STR("task_struct"), T_STRUCT);
	struct field f;
	if (!task || !type_field(task, str_z(name), &f)) {
		fprintf(stderr, "minimum: no task_struct.%s in the kernel's BTF\n", name);
		exit(1);
	}
	return f.bit_off / 8;
}

static void drain(struct bench *b)
{
	for (u32 cpu = 0; b->ring && cpu < b->ncpu; cpu++) {
		u8 *part = b->ring + (size_t)cpu * RING_BYTES + RING_HEADER;
		for (;;) {
			u64 *len = (u64 *)(part + b->tail[cpu] % RECORDS * RECORD_BYTES);
			if (!__atomic_load_n(len, __ATOMIC_ACQUIRE))
				break;
			__atomic_store_n(len, 0, __ATOMIC_RELEASE);
			b->tail[cpu]++;
			b->taken++;
		}
	}
}

static u64 total(const struct table *t)
{
	u32 zero = 0;
	u64 sum_of = 0;
	u8 *val = calloc(1, t->bytes);
	if (!val)
		abort();
	die(bpf_map_get(t->fd, &zero, val));
	for (u32 i = t->at; i + 8 <= t->bytes; i += t->stride) {
		u64 v;
		memcpy(&v, val + i, 8);
		sum_of += v;
	}
	free(val);
	return sum_of;
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void run(struct bench *b, const struct program *p)
{
	p->build(b, &b->code[0]);
	int fd[2];
	for (u32 i = 0; i < 2 && b->code[i].n; i++)
		fd[i] = load_prog(b, p, &b->code[i]);
	for (u32 i = 0; i < 2 && b->code[i].n; i++)
		attach(b, p, fd[i], i ? p->at2 : p->at);
	if (b->ring_fd > 0) {
		void *ring;
		die(bpf_map_mmap(b->ring_fd, (size_t)b->ncpu * RING_BYTES, &ring));
		b->ring = ring;
	}
	fprintf(stderr, "Attached 1 program\n");
	while (!stop) {
		drain(b);
		usleep(b->ring ? 1000 : 20000);
	}
	drain(b);
	u64 sum_of = b->taken;
	for (u32 i = 0; i < b->ntable; i++)
		sum_of += total(&b->table[i]);
	printf("%s: %llu\n", p->name, sum_of);
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	struct host h;
	struct bench b = {.h = &h, .load = argc > 2 ? argv[2] : ""};
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "list")) {
		for (size_t i = 0; i < countof(programs); i++)
			puts(programs[i].name);
		return 0;
	}
	struct sigaction sa = {.sa_handler = on_signal};
	sigaction(SIGINT, &sa, NULL);
	host_init(&h, &a, "");
	if (!host_btf(&h)) {
		fprintf(stderr, "minimum: this kernel has no BTF\n");
		return 1;
	}
	for (b.ncpu = 1; b.ncpu < h.ncpu; b.ncpu *= 2)
		;
	b.comm = member(&h, "comm");
	b.tgid = member(&h, "tgid");
	b.pid = member(&h, "pid");
	b.parent = member(&h, "real_parent");
	for (size_t i = 0; i < countof(programs); i++)
		if (!strcmp(argv[1], programs[i].name)) {
			run(&b, &programs[i]);
			host_deinit(&h);
			return 0;
		}
	fprintf(stderr, "minimum: no program %s\n", argv[1]);
	return 2;
}
