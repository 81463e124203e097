/*
 * t_ir.c - files of tests/ir (input, passes, expected text), the builder, and
 * emitted programs given to the real verifier.
 *
 * A file: comment lines with ';', "passes a b c" (names of ir_passes, and "emit"
 * at the end for bytecode), a function, "----", what must come out. With
 * IR_UPDATE=1 in the environment the last part is written anew.
 */
#include "base/err.h"
#include "ir/pass.h"
#include "test.h"
#include <bpf/bpf.h>
#include <glob.h>
#include <linux/btf.h>

/* ---- tests/ir ---- */

static bool read_file(const char *path, struct sb *out)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	char buf[4096];
	for (size_t n; (n = fread(buf, 1, sizeof(buf), f)) > 0;)
		sb_mem(out, buf, n);
	fclose(f);
	return out->n > 0;
}

static void free_all(struct fn *f)
{
	struct fn **all;
	u32 n;
	ir_all_fns(f, &all, &n);
	for (u32 i = 0; i < n; i++)
		ir_fn_free(all[i]);
	free(all);
}

static bool run_pass(struct fn *f, struct str name)
{
	struct fn **all;
	u32 n;
	bool found = false;
	ir_all_fns(f, &all, &n);
	for (const struct ir_pass *p = ir_passes; p->name; p++) {
		if (!str_is(name, p->name))
			continue;
		found = true;
		for (u32 i = 0; i < n; i++) {
			p->run(all[i]);
			ir_check(all[i], p->name);
		}
	}
	free(all);
	return found;
}

static bool run_passes(struct fn *f, struct str passes, struct arena *a, struct sb *out)
{
	struct str name;
	while (passes.s && str_cut(&passes, ' ', &name)) {
		struct code c;
		u32 stack;
		if (!name.n)
			continue;
		if (!str_is(name, "emit")) {
			if (!run_pass(f, name))
				return false;
			continue;
		}
		if (ir_emit(f, a, &c, &stack))
			ir_disasm(&c, NULL, out);
		else
			sb_fmt(out, "stack: %u bytes\n", stack);
		return true;
	}
	ir_print(f, out);
	return true;
}

static void update(const char *path, struct str head, struct str got)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%.*s----\n%.*s", STRF(head), STRF(got));
	fclose(f);
}

static void check_file(const char *path)
{
	struct arena a = {0};
	AUTO_SB text = {0};
	AUTO_SB out = {0};
	CHECK(read_file(path, &text));
	struct str all = sb_str(&text), sep = STR("\n----\n");
	i32 at = str_find(all, sep), passes = str_find(all, STR("passes "));
	CHECK(at > 0 && passes >= 0);
	if (at < 0 || passes < 0)
		return;
	struct str want = str_from(all, (u32)at + sep.n), input = {all.s, (u32)at + 1}, line;
	struct str body = str_from(input, (u32)passes);
	str_cut(&body, '\n', &line);
	u32 bad;
	const char *msg;
	struct fn *f = ir_parse(&a, body, &bad, &msg);
	if (!f) {
		printf("# %s: line %u of the function: %s\n", path, bad, msg);
		test_fail(path, 0, "parse");
		return;
	}
	struct fn **fns;
	u32 nfn;
	ir_all_fns(f, &fns, &nfn); /* some may be dropped */
	ir_check(f, "build");
	CHECK(run_passes(f, str_from(line, 7), &a, &out));
	if (getenv("IR_UPDATE"))
		update(path, input, sb_str(&out));
	else
		test_str(path, 0, "output", out.s, arena_strz(&a, want));
	for (u32 i = 0; i < nfn; i++)
		ir_fn_free(fns[i]);
	free(fns);
	arena_free(&a);
}

TEST(ir_files)
{
	glob_t g = {0};
	CHECK(glob("tests/ir/*.ir", 0, NULL, &g) == 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		check_file(g.gl_pathv[i]);
	globfree(&g);
}

/* ---- mistakes in the text ---- */

TEST(ir_parse_mistakes)
{
	static const struct {
		const char *text, *msg;
	} bad[] = {
		{"", "no function"},
		{"b0:\n ret 0\n", "fn expected"},
		{"fn f\n", "function without blocks"},
		{"fn f\nb0:\n jmp b1\n", "block without a jump or not defined"},
		{"fn f\nb0:\n %0 = frob 1\n ret 0\n", "unknown operation"},
		{"fn f\nb0:\n %0 = call nothing\n ret 0\n", "unknown helper"},
		{"fn f\nb0:\n ret &g\n", "unknown function"},
		{"fn f\nb0:\n ret 0 0\n", "text after the instruction"},
		{"fn f\nb0:\n ret s3\n", "unknown slot"},
		{"fn f\nb0:\n ret 0\nb0:\n ret 0\n", "block defined twice"},
		{"fn f\nb0:\n %0 = add 1 2\n ret 0\n", "unexpected text"},
	};
	for (u32 i = 0; i < countof(bad); i++) {
		struct arena a = {0};
		u32 line;
		const char *msg = NULL;
		CHECK(!ir_parse(&a, str_z(bad[i].text), &line, &msg));
		CHECK_STR(msg, bad[i].msg);
		arena_free(&a);
	}
}

TEST(ir_helper_names)
{
	char buf[32];
	CHECK_STR(ir_helper_name(BPF_FUNC_map_lookup_elem, buf), "map_lookup_elem");
	CHECK_STR(ir_helper_name(BPF_FUNC_user_ringbuf_drain, buf), "user_ringbuf_drain");
	CHECK_STR(ir_helper_name(211, buf), "cgrp_storage_delete");
	CHECK_STR(ir_helper_name(0, buf), "helper 0");
	CHECK_STR(ir_helper_name(250, buf), "helper 250");
}

/* ---- the builder ---- */

TEST(ir_builder_slots)
{
	struct arena a = {0};
	struct fn *f = ir_fn(&a, STR("f"));
	u32 mark = ir_slot_mark(f);
	struct ref big = ir_slot(f, 100);
	CHECK(f->slot.v[big.id].size == 104);
	CHECK(f->slot.v[big.id].off == -104);
	ir_slot_release(f, mark);
	struct ref again = ir_slot(f, 8);
	CHECK(f->slot.v[again.id].off == -8);
	CHECK(f->stack == 104);
	CHECK(!ref_is(ir_slot(f, IR_STACK_MAX - IR_SPILL_MAX)));
	CHECK(ref_is(ir_slot(f, IR_STACK_MAX - IR_SPILL_MAX - 8)));
	ir_ret(f, ir_con(f, 0));
	ir_run(f);
	ir_fn_free(f);
	arena_free(&a);
}

TEST(ir_builder_ctx_once)
{
	struct arena a = {0};
	struct fn *f = ir_fn(&a, STR("f"));
	struct ref x = ir_load(f, 8, ir_ctx(f), 8);
	CHECK(ref_eq(ir_ctx(f), ir_ctx(f)));
	CHECK(f->entry->ins.n == 2);
	CHECK(f->entry->ins.v[0].op == O_CTX);
	ir_ret(f, x);
	ir_op2(f, O_ADD, x, x); /* no block is current: dropped */
	ir_ret(f, x);
	ir_run(f);
	CHECK(f->nblk == 1);
	ir_fn_free(f);
	arena_free(&a);
}

/* A place for every instruction, an entry only where it changes, one at each function's start. */
TEST(ir_lines)
{
	struct arena a = {0};
	struct fn *f = ir_fn(&a, STR("f")), *g = ir_fn(&a, STR("g"));
	g->callback = true;
	ir_ret(g, ir_param(g, 0));
	struct ref s = ir_slot(f, 16);
	for (u32 i = 0; i < 4; i++) {
		f->loc = (struct loc){i / 2 * 10, 5, 0};
		ir_store(f, 8, s, i & 1 ? 8 : 0, ir_con(f, i));
	}
	f->loc = (struct loc){0};
	struct ref r = ir_callfn(f, g, ARGS(s));
	f->loc = (struct loc){30, 2, 0};
	ir_ret(f, r);
	struct code c;
	u32 stack;
	ir_run(f);
	CHECK(ir_emit(f, &a, &c, &stack));
	CHECK(c.nline == 4);
	CHECK(c.line[0].insn == 0 && c.line[0].loc.pos == 0 && c.line[0].loc.len == 5);
	CHECK(c.line[1].insn == 2 && c.line[1].loc.pos == 10);
	CHECK(c.line[2].insn == 7 && c.line[2].loc.pos == 30);
	CHECK(c.line[3].insn == c.fn[1].insn);
	CHECK(c.nfn == 2 && c.fn[1].callback && c.fn[1].narg == 1);
	free_all(f);
	arena_free(&a);
}

TEST(ir_stack_limit)
{
	struct arena a = {0};
	struct fn *f = ir_fn(&a, STR("f")), *g = ir_fn(&a, STR("g"));
	g->callback = true;
	for (u32 i = 0; i < 2; i++) {
		struct fn *h = i ? g : f;
		struct ref s = ir_slot(h, 352);
		for (i32 k = 0; k < 352; k += 8)
			ir_store(h, 8, s, k, ir_con(h, 0));
		ir_ret(h, i ? ir_load(h, 8, s, 0) : ir_callfn(h, g, ARGS(ir_con(h, 1))));
	}
	struct code c;
	u32 stack;
	ir_run(f);
	CHECK(!ir_emit(f, &a, &c, &stack));
	CHECK(stack == 704);
	CHECK(ir_emit(g, &a, &c, &stack));
	free_all(f);
	arena_free(&a);
}

/* Jumps that do not reach in 16 bits. */
TEST(ir_long_jumps)
{
	struct arena a = {0};
	struct fn *f = ir_fn(&a, STR("f"));
	struct blk *yes = ir_blk(f), *no = ir_blk(f);
	ir_br(f, O_NE, ir_load(f, 8, ir_ctx(f), 0), ir_con(f, 0), yes, no);
	ir_at(f, yes);
	for (i32 k = 0; k < 40000; k++)
		ir_store(f, 8, ir_ctx(f), 0, ir_con(f, (u64)k));
	ir_ret(f, ir_con(f, 1));
	ir_at(f, no);
	ir_ret(f, ir_con(f, 0));
	struct code c;
	u32 stack;
	ir_run(f);
	CHECK(ir_emit(f, &a, &c, &stack));
	CHECK(c.ninsn > 40000);
	CHECK(c.insn[3].code == (BPF_JMP32 | BPF_JA));
	CHECK(c.insn[3].imm > 40000);
	free_all(f);
	arena_free(&a);
}

/* ---- the kernel's verifier ---- */

/* BTF: int, one prototype per number of arguments, one function per function. */
struct btf_blob {
	struct btf_header h;
	u32 types[256];
	char strings[256];
};

static int load_btf(const struct code *c, struct bpf_func_info *info)
{
	static struct btf_blob b;
	u32 n = 0, str = 1;
	memset(&b, 0, sizeof(b));
	memcpy(b.strings + str, "int", 4);
	u32 *t = b.types;
	t[n++] = str, t[n++] = BTF_KIND_INT << 24, t[n++] = 8, t[n++] = 64;
	str += 4;
	for (u32 i = 0; i < c->nfn; i++) {
		u32 proto = 2 + 2 * i;
		t[n++] = 0, t[n++] = (u32)BTF_KIND_FUNC_PROTO << 24 | c->fn[i].narg, t[n++] = 1;
		for (u32 k = 0; k < c->fn[i].narg; k++)
			t[n++] = 1, t[n++] = 1; /* named and typed "int" */
		memcpy(b.strings + str, c->fn[i].name.s, c->fn[i].name.n);
		t[n++] = str, t[n++] = (u32)BTF_KIND_FUNC << 24, t[n++] = proto;
		str += c->fn[i].name.n + 1;
		info[i] = (struct bpf_func_info){c->fn[i].insn, proto + 1};
	}
	b.h = (struct btf_header){.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(b.h)};
	b.h.type_len = n * 4;
	b.h.str_off = sizeof(b.types);
	b.h.str_len = sizeof(b.strings);
	b.h.str_off = b.h.type_len;
	static char blob[sizeof(b)];
	memcpy(blob, &b.h, sizeof(b.h));
	memcpy(blob + sizeof(b.h), t, b.h.type_len);
	memcpy(blob + sizeof(b.h) + b.h.type_len, b.strings, str);
	b.h.str_len = str;
	memcpy(blob, &b.h, sizeof(b.h));
	static char log[4096];
	LIBBPF_OPTS(bpf_btf_load_opts, o, .log_buf = log, .log_size = sizeof(log), .log_level = 1);
	int fd = bpf_btf_load(blob, sizeof(b.h) + b.h.type_len + str, &o);
	if (fd < 0)
		printf("# btf: %s\n", log);
	return fd;
}

static void relocate(struct code *c, const int *map_fd)
{
	for (u32 i = 0; i < c->nreloc; i++)
		c->insn[c->reloc[i].insn].imm = map_fd[c->reloc[i].map];
}

/* Loads f as a raw tracepoint program, runs it once with 8 numbers as context; its result, or -1.
 */
static i64 in_kernel(struct fn *f, const int *map_fd)
{
	static char log[1 << 20];
	struct arena a = {0};
	struct code c;
	u32 stack;
	struct bpf_func_info info[16];
	ir_run(f);
	CHECK(ir_emit(f, &a, &c, &stack));
	relocate(&c, map_fd);
	int btf = load_btf(&c, info);
	LIBBPF_OPTS(bpf_prog_load_opts, o, .prog_btf_fd = (u32)btf, .func_info = info,
		    .func_info_cnt = c.nfn, .func_info_rec_size = sizeof(*info), .log_buf = log,
		    .log_size = sizeof(log), .log_level = 1);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "t_ir", "GPL", c.insn, c.ninsn, &o);
	i64 ret = -1;
	if (fd < 0) {
		AUTO_SB out = {0};
		ir_disasm(&c, NULL, &out);
		printf("# %s\n%s", log, out.s);
	} else {
		u64 ctx[8] = {1, 2, 3, 4, 5, 6, 7, 8};
		LIBBPF_OPTS(bpf_test_run_opts, r, .ctx_in = ctx, .ctx_size_in = sizeof(ctx));
		if (!bpf_prog_test_run_opts(fd, &r))
			ret = r.retval;
		close(fd);
	}
	close(btf);
	arena_free(&a);
	return ret;
}

static bool no_bpf(void)
{
	if (geteuid()) {
		test_skip("not root");
		return true;
	}
	return false;
}

/* Eight loads alive over calls: some are spilled, the map value pointer among what lives on. */
static struct fn *spilling(struct arena *a)
{
	struct fn *f = ir_fn(a, STR("spilling"));
	struct ref v[8], key = ir_slot(f, 8), sum = ir_con(f, 0), n;
	struct blk *found = ir_blk(f), *none = ir_blk(f);
	for (i32 i = 0; i < 8; i++)
		v[i] = ir_load(f, 8, ir_ctx(f), i * 8);
	ir_store(f, 8, key, 0, ir_con(f, 0));
	struct ref p = ir_call(f, BPF_FUNC_map_lookup_elem, ARGS(ir_map(0), key));
	ir_br(f, O_EQ, p, ir_con(f, 0), none, found);
	none->unlikely = true;
	ir_at(f, none);
	ir_ret(f, ir_con(f, 0));
	ir_at(f, found);
	n = ir_call(f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	for (u32 i = 0; i < 8; i++) {
		sum = ir_op2(f, O_ADD, sum, ir_op2(f, O_MUL, v[i], ir_con(f, i + 1)));
		struct ref in = ir_callp(f, BPF_FUNC_get_current_pid_tgid, 0, NULL);
		ir_xadd(f, 8, p, 0, ir_op2(f, O_ADD, in, n));
		ir_call(f, BPF_FUNC_ktime_get_ns, 0, NULL);
	}
	ir_store(f, 8, p, 0, sum);
	ir_ret(f, ir_load(f, 8, p, 0));
	return f;
}

TEST(ir_kernel_spills)
{
	if (no_bpf())
		return;
	struct arena a = {0};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 64, 1, NULL);
	int hash = bpf_map_create(BPF_MAP_TYPE_HASH, "h", 8, 64, 1, NULL);
	u64 key = 0, val[8] = {0};
	CHECK(map >= 0 && hash >= 0);
	CHECK(!bpf_map_update_elem(hash, &key, val, 0));
	struct fn *f = spilling(&a);
	CHECK(in_kernel(f, &hash) == 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64);
	close(map);
	close(hash);
	free_all(f);
	arena_free(&a);
}

/* bpf_loop(10, add, &sum, 0): sum += i, in a callback; then a bounded loop over a map's value. */
static struct fn *looping(struct arena *a)
{
	struct fn *f = ir_fn(a, STR("looping")), *cb = ir_fn(a, STR("add"));
	cb->callback = true;
	cb->nparam = 2;
	struct ref i = ir_param(cb, 0), p = ir_param(cb, 1);
	ir_store(cb, 8, p, 0, ir_op2(cb, O_ADD, ir_load(cb, 8, p, 0), i));
	ir_ret(cb, ir_con(cb, 0));
	struct ref sum = ir_slot(f, 8), n = ir_var(f);
	struct blk *head = ir_blk(f), *body = ir_blk(f), *end = ir_blk(f);
	ir_store(f, 8, sum, 0, ir_con(f, 0));
	ir_call(f, BPF_FUNC_loop, ARGS(ir_con(f, 10), ir_fnref(f, cb), sum, ir_con(f, 0)));
	ir_set(f, n, ir_con(f, 0));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, O_ULT, ir_get(f, n), ir_con(f, 4), body, end);
	ir_at(f, body);
	struct ref at = ir_op2(
		f, O_ADD, ir_op1(f, O_MAPVAL, 8, ir_map(0)),
		ir_op2(f, O_SHL, ir_op2(f, O_AND, ir_get(f, n), ir_con(f, 7)), ir_con(f, 3)));
	ir_store(f, 8, at, 0, ir_get(f, n));
	ir_store(f, 8, sum, 0, ir_op2(f, O_ADD, ir_load(f, 8, sum, 0), ir_load(f, 8, at, 0)));
	ir_set(f, n, ir_addi(f, ir_get(f, n), 1));
	ir_jmp(f, head);
	ir_at(f, end);
	ir_ret(f, ir_load(f, 8, sum, 0));
	return f;
}

TEST(ir_kernel_callback)
{
	if (no_bpf())
		return;
	struct arena a = {0};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 64, 1, NULL);
	struct fn *f = looping(&a);
	CHECK(in_kernel(f, &map) == 45 + 6);
	close(map);
	free_all(f);
	arena_free(&a);
}

/* Atomics, byte swap, sign extension, comparisons as values. */
/* Linux 6.15 or newer. */
static bool knows_order(void)
{
	const struct bpf_insn insn[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .src_reg = 10,
		 .off = -8,
		 .imm = ATOMIC_LOAD_ACQUIRE},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd =
		bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "try", "GPL", insn, countof(insn), NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

TEST(ir_kernel_ordered)
{
	if (no_bpf() || !knows_order())
		return;
	struct arena a = {0};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 64, 1, NULL);
	struct fn *f = ir_fn(&a, STR("ordered"));
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(0));
	struct ref two = ir_load(f, 8, ir_ctx(f), 8);
	ir_release(f, 8, p, 8, ir_op2(f, O_SUB, two, ir_con(f, 3))); /* -1 */
	ir_release(f, 2, p, 16, ir_con(f, 0x12345));
	struct ref narrow = ir_acquire(f, 4, p, 8), half = ir_acquire(f, 8, p, 16);
	ir_ret(f, ir_op2(f, O_ADD, ir_op2(f, O_SHR, narrow, ir_con(f, 28)), half));
	CHECK(in_kernel(f, &map) == 0x2345 + 15);
	close(map);
	free_all(f);
	arena_free(&a);
}

TEST(ir_kernel_atomics)
{
	if (no_bpf())
		return;
	struct arena a = {0};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 64, 1, NULL);
	struct fn *f = ir_fn(&a, STR("atomics"));
	struct ref p = ir_op1(f, O_MAPVAL, 8, ir_map(0));
	struct ref x = ir_load(f, 8, ir_ctx(f), 8);                                 /* 2 */
	struct ref old = ir_cmpxchg(f, 8, p, 8, ir_con(f, 0), x);                   /* 0 -> 2 */
	struct ref two = ir_atomic(f, O_XADDF, 8, p, 8, ir_con(f, 5));              /* 2 -> 7 */
	struct ref seven = ir_atomic(f, O_XCHG, 8, p, 8, ir_con(f, 0));             /* 7 -> 0 */
	struct ref less = ir_op2(f, O_SLT, ir_op2(f, O_SUB, x, seven), old);        /* 1 */
	struct ref swap = ir_op1(f, O_BSWAP, 2, ir_op2(f, O_SHL, x, ir_con(f, 8))); /* 2 */
	struct ref sum =
		ir_op2(f, O_ADD, ir_op2(f, O_ADD, two, seven), ir_op2(f, O_ADD, less, swap));
	ir_ret(f, sum);
	CHECK(in_kernel(f, &map) == 12);
	close(map);
	free_all(f);
	arena_free(&a);
}
