/*
 * fuzz_vm.c - any bytes as a program for the interpreter of vm/, over maps of each type: whatever is loaded
 * runs to an end or to an error, and reaches nothing but its own memory.
 *
 * The first byte chooses: instructions as they are, or made so that most of them are accepted. The same
 * program runs a few times, and its maps are read between the runs.
 */
#include "vm/vm.h"
#include <errno.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

enum { MAX_INSNS = 256, NMAP = 11, BUDGET = 4000, RUNS = 3, VALUE = 24, ENTRIES = 5 };

static const u32 types[NMAP] = {
	BPF_MAP_TYPE_ARRAY,         BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_HASH,
	BPF_MAP_TYPE_PERCPU_HASH,   BPF_MAP_TYPE_LRU_HASH,     BPF_MAP_TYPE_LRU_PERCPU_HASH,
	BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_RINGBUF,      BPF_MAP_TYPE_PERF_EVENT_ARRAY,
	BPF_MAP_TYPE_STACK_TRACE,   BPF_MAP_TYPE_ARRAY,
};

static const u32 helpers[] = {
	BPF_FUNC_map_lookup_elem,
	BPF_FUNC_map_update_elem,
	BPF_FUNC_map_delete_elem,
	BPF_FUNC_ringbuf_reserve,
	BPF_FUNC_ringbuf_submit,
	BPF_FUNC_ringbuf_discard,
	BPF_FUNC_ringbuf_output,
	BPF_FUNC_ringbuf_query,
	BPF_FUNC_perf_event_output,
	BPF_FUNC_for_each_map_elem,
	BPF_FUNC_loop,
	BPF_FUNC_map_lookup_percpu_elem,
	BPF_FUNC_probe_read_kernel,
	BPF_FUNC_probe_read_user_str,
	BPF_FUNC_probe_read,
	BPF_FUNC_get_stack,
	BPF_FUNC_get_stackid,
	BPF_FUNC_strncmp,
	BPF_FUNC_get_prandom_u32,
	BPF_FUNC_get_smp_processor_id,
	BPF_FUNC_get_current_comm,
};

static const u8 codes[] = {
	BPF_ALU64 | BPF_MOV | BPF_K,
	BPF_ALU64 | BPF_MOV | BPF_X,
	BPF_ALU64 | BPF_ADD | BPF_K,
	BPF_ALU64 | BPF_ADD | BPF_X,
	BPF_ALU | BPF_MOV | BPF_K,
	BPF_ALU | BPF_SUB | BPF_X,
	BPF_ALU64 | BPF_DIV | BPF_X,
	BPF_ALU | BPF_MOD | BPF_X,
	BPF_ALU64 | BPF_LSH | BPF_X,
	BPF_ALU64 | BPF_END,
	BPF_LDX | BPF_MEM | BPF_DW,
	BPF_LDX | BPF_MEM | BPF_B,
	BPF_LDX | 0x80 | BPF_W,
	BPF_STX | BPF_MEM | BPF_DW,
	BPF_ST | BPF_MEM | BPF_DW,
	BPF_STX | BPF_MEM | BPF_H,
	BPF_STX | BPF_ATOMIC | BPF_DW,
	BPF_STX | BPF_ATOMIC | BPF_W,
	BPF_JMP | BPF_JNE | BPF_K,
	BPF_JMP | BPF_JSGT | BPF_X,
	BPF_JMP32 | BPF_JEQ | BPF_K,
	BPF_JMP | BPF_JA,
	BPF_JMP | 0xe0,
	BPF_JMP | BPF_EXIT,
	BPF_JMP | BPF_CALL,
	BPF_JMP | BPF_CALL,
	BPF_JMP | BPF_CALL,
	BPF_LD | BPF_DW | BPF_IMM,
	BPF_LD | BPF_DW | BPF_IMM,
};

static const i32 atomics[] = {BPF_ADD,
			      BPF_ADD | BPF_FETCH,
			      BPF_XCHG,
			      BPF_CMPXCHG,
			      BPF_AND,
			      BPF_OR | BPF_FETCH,
			      ATOMIC_LOAD_ACQUIRE,
			      ATOMIC_STORE_RELEASE};

struct program {
	struct bpf_insn insn[MAX_INSNS + 2];
	struct reloc reloc[MAX_INSNS];
	u32 fn[MAX_INSNS + 2]; /* where functions begin: behind each exit */
	u32 n, nreloc, nfn;
};

static void add(struct program *p, u32 code, u32 dst, u32 src, i32 imm)
{
	struct bpf_insn in = {.code = (u8)code, .imm = imm};
	in.dst_reg = dst & 15;
	in.src_reg = src & 15;
	p->insn[p->n++] = in;
}

/* Of the four bytes of a constant: mostly something small. */
static i32 number(const u8 *b)
{
	return b[0] & 1 ? (i8)b[1]
			: (i32)((u32)b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24);
}

static void add_map(struct program *p, u32 reg, u32 map, enum reloc_kind kind, i32 off)
{
	p->reloc[p->nreloc++] = (struct reloc){p->n, kind, map};
	add(p, BPF_LD | BPF_DW | BPF_IMM, reg, 0, 0);
	add(p, 0, 0, 0, off);
}

/* Of a function of the program: patch() makes the distance of its number. */
static void add_fn(struct program *p, u32 reg, u32 fn)
{
	add(p, BPF_LD | BPF_DW | BPF_IMM, reg, BPF_PSEUDO_FUNC, (i32)fn);
	add(p, 0, 0, 0, 0);
}

static void wide(struct program *p, const u8 *b)
{
	switch (b[4] % 4) {
	case 0: add_fn(p, b[1] % 10, b[5]); break;
	case 1: add_map(p, b[1] % 10, b[5] % NMAP, RELOC_MAP, 0); break;
	case 2: add_map(p, b[1] % 10, 0, RELOC_MAPVAL, b[6] % VALUE); break;
	default:
		add(p, BPF_LD | BPF_DW | BPF_IMM, b[1] % 10, 0, number(b + 4));
		add(p, 0, 0, 0, (i8)b[2]);
	}
}

/* A helper with a map, or a function, and memory on the stack: then what r0 points to, if it does. */
static void helper(struct program *p, const u8 *b)
{
	u32 id = helpers[b[1] % countof(helpers)];
	if (id == BPF_FUNC_loop)
		add(p, BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, b[2]);
	else if (id != BPF_FUNC_ringbuf_submit && id != BPF_FUNC_ringbuf_discard)
		add_map(p, 1, b[2] % NMAP, RELOC_MAP, 0);
	if (id == BPF_FUNC_loop || id == BPF_FUNC_for_each_map_elem) {
		add_fn(p, 2, b[3]);
	} else {
		add(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0);
		add(p, BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, -(i32)(b[3] % 40) - 11);
	}
	if (id == BPF_FUNC_ringbuf_reserve || id == BPF_FUNC_get_stackid)
		add(p, BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, b[3] % 80);
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, -(i32)(b[4] % 40) - VALUE);
	if (b[5] % 2)
		add(p, BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, b[4] % 32);
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, b[5] / 2 % 4);
	add(p, BPF_JMP | BPF_CALL, 0, 0, (i32)id);
	if (b[6] % 4 == 0)
		return;
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
	p->insn[p->n - 1].off = 2;
	add(p, BPF_STX | BPF_MEM | BPF_DW, 0, 6, 0);
	p->insn[p->n - 1].off = (i16)(b[7] % 32);
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0);
}

/* An instruction that is mostly accepted. */
static void likely(struct program *p, const u8 *b)
{
	struct bpf_insn in = {.code = codes[b[0] / 3 % countof(codes)],
			      .off = (i16)((i8)b[2]),
			      .imm = number(b + 4)};
	u32 class = BPF_CLASS(in.code), op = BPF_OP(in.code);
	bool x = BPF_SRC(in.code) == BPF_X;
	in.dst_reg = (b[1] & 15) % 11 & 15;
	in.src_reg = (b[1] >> 4) % 11 & 15;
	if (class == BPF_ALU || class == BPF_ALU64) {
		in.off = op == BPF_DIV || op == BPF_MOD ? b[2] & 1 : 0;
		in.imm = op == BPF_END ? 16 << b[4] % 3 : x ? 0 : in.imm;
		in.src_reg = x ? in.src_reg : 0;
	} else if (class == BPF_LDX || (class == BPF_STX && BPF_MODE(in.code) == BPF_MEM)) {
		in.imm = 0;
	} else if (class == BPF_STX) {
		in.imm = atomics[b[4] % countof(atomics)];
	} else if (class == BPF_ST) {
		in.src_reg = 0;
	} else if (op == BPF_CALL) {
		bool fn = b[1] % 8 == 0;
		in.imm = fn ? b[4] : (i32)helpers[b[4] % countof(helpers)];
		in.dst_reg = 0;
		in.src_reg = fn ? BPF_PSEUDO_CALL : 0;
		in.off = 0;
	} else if (op == BPF_JA || op == BPF_EXIT || op == 0xe0) {
		in.dst_reg = in.src_reg = 0;
		in.imm = 0;
		in.off = op == BPF_EXIT ? 0 : in.off;
	} else if (class != BPF_LD) {
		in.imm = x ? 0 : in.imm;
		in.src_reg = x ? in.src_reg : 0;
	}
	if (class == BPF_LD)
		wide(p, b);
	else
		p->insn[p->n++] = in;
	if (in.code == (BPF_JMP | BPF_EXIT))
		p->fn[p->nfn++] = p->n;
}

/* Jumps and calls go where something is: in the same function, and to the start of one. */
static void patch(struct program *p)
{
	u32 f = 0;
	for (u32 i = 0; i < p->n; i++) {
		struct bpf_insn *in = &p->insn[i];
		u32 class = BPF_CLASS(in->code), op = BPF_OP(in->code);
		bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);
		f += f + 1 < p->nfn && i >= p->fn[f + 1];
		u32 end = f + 1 < p->nfn ? p->fn[f + 1] : p->n;
		if ((wide && in->src_reg == BPF_PSEUDO_FUNC) ||
		    (in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL))
			in->imm = (i32)p->fn[(u32)in->imm % p->nfn] - (i32)i - 1;
		else if ((class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL &&
			 op != BPF_EXIT && in->off != 2)
			in->off = (i16)((i32)(p->fn[f] + (u16)in->off % (end - p->fn[f])) - (i32)i -
					1);
		i += wide;
	}
}

static void make(struct program *p, const u8 *data, size_t n)
{
	bool raw = n && data[0] == 0xff;
	p->fn[p->nfn++] = 0;
	for (size_t at = 1; at + 8 <= n && p->n + 16 < MAX_INSNS; at += 8) {
		if (raw)
			memcpy(&p->insn[p->n++], data + at, 8);
		else
			data[at] % 3 ? likely(p, data + at) : helper(p, data + at);
	}
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0);
	add(p, BPF_JMP | BPF_EXIT, 0, 0, 0);
	if (!raw)
		patch(p);
}

/* ---- the world of the program ---- */

static size_t read_mem(void *arg, enum vm_space space, u64 addr, void *dst, size_t n)
{
	(void)arg;
	n = space == VM_USER || addr % 3 ? MIN(n, addr % 64) : n;
	memset(dst, (int)addr, n);
	return n;
}

static i32 stack(void *arg, u64 flags, u64 *ip, u32 n)
{
	(void)arg;
	n = MIN(n, 7);
	for (u32 i = 0; i < n; i++)
		ip[i] = (flags & BPF_F_SKIP_FIELD_MASK) + i;
	return flags & BPF_F_USER_STACK ? (i32)n : -EFAULT;
}

static u64 call(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	(void)arg, (void)helper;
	void *to = vm_mem(v, a[0], (u32)a[1], true);
	if (to)
		memset(to, 'c', (u32)a[1]);
	return 0;
}

static bool row(void *arg, const void *key, const void *val)
{
	u64 x;
	memcpy(&x, key, 4);
	memcpy(&x, val, 4);
	++*(u32 *)arg;
	return true;
}

static void record(void *arg, const void *data, size_t n)
{
	u8 sum = 0;
	for (size_t i = 0; i < n; i++)
		sum ^= ((const u8 *)data)[i];
	*(u8 *)arg ^= sum;
}

static void make_maps(struct vm *v, u32 *map)
{
	for (u32 i = 0; i < NMAP; i++) {
		struct vm_map_spec s = {STR("m"), types[i], 4, VALUE, ENTRIES, 0, VALUE};
		if (types[i] == BPF_MAP_TYPE_RINGBUF)
			s.max_entries = 256;
		if (types[i] == BPF_MAP_TYPE_ARRAY_OF_MAPS)
			s.val_size = 4;
		if (types[i] == BPF_MAP_TYPE_ARRAY)
			s.max_entries = i ? 1 : ENTRIES;
		if (types[i] == BPF_MAP_TYPE_HASH)
			s.key_size = 11;
		struct err *e = vm_map_new(v, &s, &map[i]);
		if (e)
			abort();
	}
	u32 inner = map[NMAP - 1], key = 1;
	struct err *e = vm_map_put(v, map[6], &key, &inner, BPF_ANY);
	if (e)
		abort();
}

static void run(struct vm *v, const u32 *map, const struct program *p)
{
	u64 ctx[4] = {1, 2, 3, 4}, ret;
	u32 prog, sum = 0;
	struct code c = {.insn = (struct bpf_insn *)(uintptr_t)p->insn,
			 .ninsn = p->n,
			 .reloc = p->reloc,
			 .nreloc = p->nreloc};
	struct vm_prog_spec s = {STR("fuzz"), &c, map, NMAP, p->n % 2 == 0};
	struct err *e = vm_prog_load(v, &s, &prog);
	for (u32 i = 0; i < RUNS && !e; i++) {
		vm_set_cpu(v, i % 2);
		err_free(vm_prog_run(v, prog, ctx, sizeof(ctx), &ret));
		for (u32 m = 0; m < NMAP; m++) {
			u32 seen = 0;
			vm_map_each(v, map[m], row, &seen);
			if (seen != vm_map_count(v, map[m]))
				abort();
			if (i)
				vm_ring_consume(v, map[m], 2, record, &sum);
		}
	}
	err_free(e);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const u32 answered[] = {BPF_FUNC_get_current_comm};
	struct vm_spec s = {.ncpu = 2,
			    .budget = BUDGET,
			    .seed = n,
			    .strict = n % 2,
			    .env = {.helper = answered,
				    .nhelper = countof(answered),
				    .call = call,
				    .read = read_mem,
				    .stack = stack,
				    .typed_loads = n % 4 == 0}};
	struct program p = {0};
	u32 map[NMAP];
	struct vm *v = vm_new(&s);
	make_maps(v, map);
	make(&p, data, n);
	run(v, map, &p);
	vm_free(v);
	return 0;
}
