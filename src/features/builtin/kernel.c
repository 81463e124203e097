/*
 * kernel.c - deeper into the kernel: override write_user path socket_cookie skboutput percpu_kaddr
 * kfunc_exist kfunc_allowed comm(pid).
 */
#include "builtin/common.h"
#include "kern/bpf.h"
#include "report/report.h"
#include "sym/sym.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>

enum { MAX_WRITE = 4096, MAX_PACKET = 16384, COMM = 64, TASK_COMM = 16 };

static bool wants_number(struct sema *s, struct node *call, u32 i)
{
	const struct type *t = call_arg(call, i)->type;

	if (type_is_int(t) || type_is_error(t))
		return true;
	return sema_fail(s, E_TYPE, call_arg(call, i)->loc,
			 "%.*s() only supports int arguments (%s provided)", STRF(call->name),
			 type_namez(s->a, t));
}

/* ---- override ---- */
static bool check_override(struct sema *s, struct node *call)
{
	if (!(point_flags(s->v->points) & PROBE_OVERRIDE))
		return sema_fail(s, E_CONTEXT, call->loc,
				 "override() can only be used with 'kprobe' probes");
	return wants_number(s, call, 0);
}

static struct ref lower_override(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	ir_call(l->f, BPF_FUNC_override_return,
		ARGS(lower_ctx(l), lower_value(l, call_arg(call, 0))));
	return REF_NONE;
}

/* ---- write_user ---- */
static bool check_write_user(struct sema *s, struct node *call)
{
	struct node *to = call_arg(call, 0), *from = call_arg(call, 1), *len = call_arg(call, 2);
	u32 most = from->type->kind == T_PTR ? (u32)MAX_WRITE : from->type->size;
	i64 n;

	if (!builtin_is_addr(to->type))
		return sema_fail(s, E_TYPE, to->loc,
				 "write_user() expects an address to write to (%s provided)",
				 type_namez(s->a, to->type));
	if (type_is_scalar(from->type) && from->type->kind != T_PTR)
		return sema_fail(
			s, E_TYPE, from->loc,
			"write_user() expects a pointer, or text, an array or the like, to "
			"write (%s provided)",
			type_namez(s->a, from->type));
	if (!node_int(len, &n))
		return sema_fail(s, E_LITERAL, len->loc,
				 "write_user() expects an integer literal as length");
	if (n < 1 || n > most)
		return sema_fail(s, E_RANGE, len->loc,
				 "write_user() can write 1 to %u bytes here (got %lld)", most, n);
	return true;
}

static struct ref lower_write_user(struct lower *l, struct node *call, struct mem dst)
{
	struct node *from = call_arg(call, 1);
	struct fn *f = l->f;
	struct ref to = lower_value(l, call_arg(call, 0)), ret;
	struct mem m;
	i64 n = 0;

	(void)dst;
	node_int(call_arg(call, 2), &n);
	if (from->type->kind == T_PTR) {
		m = lower_tmp(l, (u32)n);
		lower_read(l, m, (u32)n, lower_value(l, from), 0, builtin_space(l, from->type));
	} else {
		m = lower_mem(l, from);
	}
	ret = ir_call(f, BPF_FUNC_probe_write_user, ARGS(to, lower_addr(l, m), ir_con(f, (u64)n)));
	return ir_op2(f, O_EQ, ret, ir_con(f, 0));
}

/* ---- things that want typed pointers ---- */

/* Is n a struct of this name, or a pointer to one, in memory that the verifier knows? */
static bool is_typed(const struct node *n, const char *name)
{
	const struct type *t = n->type->kind == T_PTR ? n->type->base : n->type;

	return type_is_record(t) && n->type->space == AS_BTF && (!name || str_is(t->name, name));
}

static struct ref typed_addr(struct lower *l, struct node *n)
{
	struct place p;

	if (n->type->kind == T_PTR)
		return lower_value(l, n);
	p = lower_place(l, n);
	return p.off ? ir_addi(l->f, p.base, p.off) : p.base;
}

/*
 * A struct within what a pointer of an iterator's context points to, ctx.file.f_path: of which field, and how many
 * bytes behind. Such pointers are numbers elsewhere, because to the verifier they may be null.
 */
static bool in_iterated(const struct point *p, const struct node *n, struct field *ret, u32 *off)
{
	if (p->method->prog_type != BPF_PROG_TYPE_TRACING ||
	    p->method->attach_type != BPF_TRACE_ITER || !p->args)
		return false;
	for (*off = 0; n->kind == N_MEMBER && n->field && !n->field->bit_len; n = n->a) {
		const struct node *of = n->a;
		*off += n->field->bit_off / 8;
		if (of->kind == N_MEMBER && builtin_is_args(of->a) && of->type->kind == T_PTR)
			return type_field(p->args, of->name, ret);
		if (of->kind != N_MEMBER || !type_is_record(of->type))
			return false;
	}
	return false;
}

static bool is_path(const struct type *t)
{
	return type_is_record(t) && str_is(t->name, "path");
}

static const struct type *type_path(struct sema *s, struct node *call)
{
	u32 size = (u32)MAX(s->u->config.max_strlen, 1);
	i64 n;

	if (call_arg(call, 1) && node_int(call_arg(call, 1), &n) && n > 0)
		size = (u32)MIN((u64)n, size);
	return type_string(s->a, size);
}

static bool check_path(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	i64 size;

	if (s->v->points->code_refused)
		return sema_fail(s, E_FEATURE, call->loc,
				 "this kernel does not allow bpf_d_path in this function");
	struct field f;
	u32 off;
	if (!is_typed(n, "path") && !(is_path(n->type) && in_iterated(s->v->points, n, &f, &off)))
		return sema_fail(s, E_TYPE, n->loc,
				 "path() expects a struct path reached from the probe's arguments "
				 "(%s provided)",
				 type_namez(s->a, n->type));
	if (call_arg(call, 1) && (!builtin_lit(s, call, 1, &size) || size < 1))
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "path() size must be at least 1");
	return true;
}

static struct ref lower_path(struct lower *l, struct node *call, struct mem dst)
{
	u32 size = call->type->size, off;
	struct node *n = call_arg(call, 0);
	struct blk *some, *done;
	struct field f;
	struct ref p;

	lower_zero(l, dst, size);
	if (is_typed(n, "path")) {
		p = typed_addr(l, n);
		ir_call(l->f, BPF_FUNC_d_path, ARGS(p, lower_addr(l, dst), ir_con(l->f, size)));
		return REF_NONE;
	}
	if (!in_iterated(l->pt, n, &f, &off))
		assert(!"check_path() accepted it");
	some = ir_blk(l->f);
	done = ir_blk(l->f);
	p = ir_load(l->f, 8, lower_ctx(l), (i32)(f.bit_off / 8));
	ir_br(l->f, O_NE, p, ir_con(l->f, 0), some, done);
	ir_at(l->f, some);
	p = off ? ir_addi(l->f, p, off) : p;
	ir_call(l->f, BPF_FUNC_d_path, ARGS(p, lower_addr(l, dst), ir_con(l->f, size)));
	ir_jmp(l->f, done);
	ir_at(l->f, done);
	return REF_NONE;
}

static bool check_cookie(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);

	if (is_typed(n, NULL) && n->type->kind == T_PTR)
		return true;
	if (s->v->points->code_refused) /* second try, after the kernel refused the first */
		return sema_fail(s, E_FEATURE, call->loc,
				 "this kernel does not offer bpf_get_socket_cookie to %s probes",
				 s->v->points->type->name);
	return sema_fail(s, E_TYPE, n->loc,
			 "socket_cookie() expects a struct sock * of the probe's arguments (%s "
			 "provided)",
			 type_namez(s->a, n->type));
}

static struct ref lower_cookie(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return ir_call(l->f, BPF_FUNC_get_socket_cookie, ARGS(lower_value(l, call_arg(call, 0))));
}

/* ---- percpu_kaddr ---- */

/* The symbol's address is a place in the first copy; __per_cpu_offset[cpu] leads to another. */
static bool check_percpu(struct sema *s, struct node *call)
{
	struct syms *syms;
	struct str name;
	u64 addr, offsets;
	bool found, offset;

	if (!builtin_text(s, call, 0, &name))
		return false;
	if (call_arg(call, 1) && !wants_number(s, call, 1))
		return false;
	syms_init(s->c->host, false, &syms);
	found = sym_kernel_addr(syms, name, &addr);
	offset = sym_kernel_addr(syms, STR("__per_cpu_offset"), &offsets);
	syms_free(syms);
	if (!found)
		return builtin_no_symbol(s, call_arg(call, 0)->loc, name);
	if (!offset)
		return sema_fail(s, E_FEATURE, call->loc,
				 "percpu_kaddr() needs the kernel's symbol __per_cpu_offset");
	return true;
}

static const struct type *type_percpu(struct sema *s, struct node *call)
{
	(void)call;
	return type_ptr(s->a, &type_u64, AS_KERNEL);
}

static struct ref lower_percpu(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct node *arg = call_arg(call, 1);
	struct ref cpu =
		arg ? lower_value(l, arg)
		    : ir_op1(f, O_EXTU, 4, lower_helper0(l, BPF_FUNC_get_smp_processor_id));
	struct ref ret = ir_var(f), at, off;
	struct blk *good = ir_blk(f), *done = ir_blk(f);
	struct str name = {0};
	struct syms *syms;
	u64 addr = 0, offsets = 0;

	(void)dst;
	node_str(call_arg(call, 0), &name);
	syms_init(l->c->host, false, &syms);
	sym_kernel_addr(syms, name, &addr);
	sym_kernel_addr(syms, STR("__per_cpu_offset"), &offsets);
	syms_free(syms);
	builtin_keeps_address(l->c);
	ir_set(f, ret, ir_con(f, 0));
	ir_br(f, O_ULT, cpu, ir_con(f, l->c->host->ncpu), good, done);
	ir_at(f, good);
	at = ir_op2(f, O_ADD, ir_con(f, offsets), ir_op2(f, O_SHL, cpu, ir_con(f, 3)));
	off = lower_read_scalar(l, &type_u64, at, 0, AS_KERNEL);
	ir_set(f, ret, ir_op2(f, O_ADD, off, ir_con(f, addr)));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, ret);
}

/* ---- kernel functions for programs ---- */
static u32 kfunc_id(struct host *h, const char *name)
{
	struct types *k = host_btf(h);

	return k ? btf_types_id(k, str_z(name), BTF_KIND_FUNC) : 0;
}

/* Known as soon as the name is: the call decides what `if comptime` keeps. */
static const struct type *type_kfunc_exist(struct sema *s, struct node *call)
{
	struct str name;

	if (node_str(call_arg(call, 0), &name))
		node_set_num(call, kfunc_id(s->c->host, arena_strz(s->a, name)) != 0, &type_bool);
	return &type_bool;
}

static bool allowed(struct sema *s, u32 id)
{
	const struct method *w = s->point->method;

	return id &&
	       bpf_kfunc_allowed(s->c->host, id, w->prog_type, w->attach_type, s->point->btf_id);
}

static const struct type *type_kfunc_allowed(struct sema *s, struct node *call)
{
	struct str name;

	if (node_str(call_arg(call, 0), &name))
		node_set_num(call, allowed(s, kfunc_id(s->c->host, arena_strz(s->a, name))),
			     &type_bool);
	return &type_bool;
}

static bool check_kfunc(struct sema *s, struct node *call)
{
	struct str name;

	return builtin_text(s, call, 0, &name);
}

/* ---- comm(pid) ---- */
static bool check_comm_pid(struct sema *s, struct node *call)
{
	struct types *k = host_btf(s->c->host);
	const struct type *t = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct field m;

	if (!wants_number(s, call, 0))
		return false;
	if (t && type_field(t, STR("comm"), &m) && kfunc_id(s->c->host, "bpf_task_release") &&
	    allowed(s, kfunc_id(s->c->host, "bpf_task_from_pid")))
		return true;
	return sema_fail(s, E_FEATURE, call->loc,
			 "comm(pid) needs the kernel function bpf_task_from_pid, which this kernel "
			 "does not offer to %s probes",
			 s->v->points->type->name);
}

static struct ref lower_comm_pid(struct lower *l, struct node *call, struct mem dst)
{
	struct host *h = l->c->host;
	struct fn *f = l->f;
	struct ref pid = ir_op1(f, O_EXTS, 4, lower_value(l, call_arg(call, 0))), task;
	struct blk *found = ir_blk(f), *none = ir_blk(f), *done = ir_blk(f);
	struct field m = {0};

	type_field(btf_types_find(host_btf(h), STR("task_struct"), T_STRUCT), STR("comm"), &m);
	lower_zero(l, dst, COMM);
	task = ir_kfunc(f, kfunc_id(h, "bpf_task_from_pid"), ARGS(pid));
	ir_br(f, O_NE, task, ir_con(f, 0), found, none);
	ir_at(f, found);
	for (u32 i = 0; i < TASK_COMM; i += 8)
		lower_store(l, 8, mem_at(dst, (i32)i),
			    ir_load(f, 8, task, (i32)(m.bit_off / 8 + i)));
	ir_kfunc(f, kfunc_id(h, "bpf_task_release"), ARGS(task));
	ir_jmp(f, done);
	ir_at(f, none);
	lower_bytes(l, dst, "N/A", 4);
	lower_warn(l, call->loc, "No such process");
	ir_jmp(f, done);
	ir_at(f, done);
	return REF_NONE;
}

/* ---- skboutput ---- */

/* Members of struct sk_buff that lead to the packet. */
static bool skb_member(struct host *h, const char *name, struct field *ret)
{
	struct types *k = host_btf(h);
	const struct type *t = k ? btf_types_find(k, STR("sk_buff"), T_STRUCT) : NULL;

	return t && type_field(t, str_z(name), ret);
}

static bool check_skb(struct sema *s, struct node *call)
{
	static const char *const members[] = {"data", "len", "data_len"};
	struct node *skb = call_arg(call, 1);
	struct str path;
	struct field m;

	if (!builtin_text(s, call, 0, &path))
		return false;
	if (!builtin_is_addr(skb->type))
		return sema_fail(s, E_TYPE, skb->loc,
				 "skboutput() expects a struct sk_buff * (%s provided)",
				 type_namez(s->a, skb->type));
	for (u32 i = 0; i < countof(members); i++)
		if (!skb_member(s->c->host, members[i], &m))
			return sema_fail(s, E_FEATURE, call->loc,
					 "skboutput() needs the kernel's BTF: %s of struct sk_buff",
					 members[i]);
	return wants_number(s, call, 2) && wants_number(s, call, 3);
}

static struct ref skb_load(struct lower *l, struct ref skb, const char *name)
{
	struct field m = {0};

	skb_member(l->c->host, name, &m);
	return lower_read_scalar(l, m.type, skb, (i32)(m.bit_off / 8), AS_KERNEL);
}

/* a, but at most b (both unsigned). */
static struct ref at_most(struct fn *f, struct ref a, struct ref b)
{
	struct ref v = ir_var(f);
	struct blk *more = ir_blk(f), *done = ir_blk(f);

	ir_set(f, v, a);
	ir_br(f, O_UGT, a, b, more, done);
	ir_at(f, more);
	ir_set(f, v, b);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

/*
 * The packet's bytes from the offset on: those in the socket buffer's own memory, as much as was
 * asked for. Fragments in pages of their own are missing, which a capture file can say.
 */
static struct ref lower_packet(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct ref skb = lower_value(l, call->a), data = skb_load(l, skb, "data");
	struct ref len = skb_load(l, skb, "len"), pages = skb_load(l, skb, "data_len");
	struct ref off = at_most(f, lower_value(l, call->a->next->next), len), n, ret;
	struct blk *bad = ir_blk(f), *done = ir_blk(f);
	struct ref size = ir_var(f), linear = ir_op2(f, O_SUB, len, pages);

	linear = ir_op2(f, O_SUB, linear, at_most(f, off, linear));
	n = at_most(f, at_most(f, lower_value(l, call->a->next), linear), ir_con(f, MAX_PACKET));
	lower_store(l, 8, mem_at(dst, 0), ir_op2(f, O_SUB, len, off));
	ir_set(f, size, n);
	ret = ir_call(f, BPF_FUNC_probe_read_kernel,
		      ARGS(lower_addr(l, mem_at(dst, 12)), n, ir_op2(f, O_ADD, data, off)));
	ir_br(f, O_SLT, ret, ir_con(f, 0), bad, done);
	ir_at(f, bad);
	ir_set(f, size, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	lower_store(l, 4, mem_at(dst, 8), ir_get(f, size));
	return REF_NONE;
}

/* The record's one field: (whole length, bytes), filled by lower_packet(). */
static struct ref lower_skboutput(struct lower *l, struct node *call, struct mem dst)
{
	static const struct builtin packet = {.sig = "auto skboutput(any skb)",
					      .lower = lower_packet};
	const struct type *elem[2] = {&type_u64, type_buf(l->c->arena, MAX_PACKET)};
	struct node *n = node_new(l->c->arena, N_CALL, call->loc);
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	n->name = call->name;
	n->a = call_arg(call, 1);
	n->type = type_tuple(l->c->arena, 2, elem, NULL);
	n->fn = &packet;
	node_str(call_arg(call, 0), &sc->fmt);
	lower_record(l, call, n, sc);
	return ir_con(l->f, 0);
}

struct pcap_file {
	u32 magic;
	u16 major, minor;
	u32 zone, sigfigs, snaplen, link;
};
struct pcap_packet {
	u32 sec, nsec, captured, whole;
};
_Static_assert(sizeof(struct pcap_file) == 24, "file format");
_Static_assert(sizeof(struct pcap_packet) == 16, "file format");
enum { PCAP_NSEC = 0xa1b23c4d, LINK_RAW_IP = 101 };

static struct err *append_packet(const char *path, struct str bytes, u64 whole, u64 wall_ns)
{
	const struct pcap_file head = {PCAP_NSEC, 2, 4, 0, 0, MAX_PACKET, LINK_RAW_IP};
	const struct pcap_packet p = {(u32)(wall_ns / 1000000000), (u32)(wall_ns % 1000000000),
				      bytes.n, (u32)MAX(whole, bytes.n)};
	int fd AUTO_CLOSE = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	AUTO_SB out = {0};

	if (fd < 0)
		return err_sys(errno, "open %s", path);
	if (lseek(fd, 0, SEEK_END) == 0)
		sb_mem(&out, &head, sizeof(head));
	sb_mem(&out, &p, sizeof(p));
	sb_add(&out, bytes);
	if (write(fd, out.s, out.n) != (ssize_t)out.n)
		return err_sys(errno, "write %s", path);
	return NULL;
}

static void handle_skboutput(struct reporter *r, const struct schema *sc, const struct value *v,
			     u32 n, u64 ts)
{
	struct err *e;

	if (n != 1 || v[0].n != 2)
		return;
	e = append_packet(arena_strz(&r->reader.arena, sc->fmt), v[0].list[1].str, v[0].list[0].u,
			  ts + r->reader.clocks.boot_offset_ns);
	if (!e)
		return;
	report_error(r, false, "skboutput", sc->loc, str_z(e->msg));
	err_free(e);
}

const struct builtin builtin_kernel[] = {
	{"void override(int rc)", lower_override, B_UNSAFE, .asks = USE_PROGRAM,
	 .where = PROBE_KERNEL, .needs = FEAT_OVERRIDE, .check = check_override,
	 .doc = "The probed kernel function is not run and returns rc instead."},
	{"bool write_user(any to, any from, lit len)", lower_write_user, B_UNSAFE | B_STMT_OK,
	 .check = check_write_user,
	 .doc = "Writes len bytes into memory of the current process. False if that failed."},
	{"auto path(any path, [lit size])", lower_path, .asks = USE_PROGRAM, .where = METHOD_TYPED,
	 .type = type_path, .check = check_path,
	 .doc = "Full name of a struct path. Only in functions in which the kernel allows it."},
	{"u64 socket_cookie(any sk)", lower_cookie, .asks = USE_PROGRAM, .where = METHOD_TYPED,
	 .check = check_cookie, .doc = "A number that identifies a socket as long as it exists."},
	{"u32 skboutput(text file, any skb, any len, any offset)", lower_skboutput,
	 B_ASYNC | B_TIMED | B_STMT_OK | B_WRITES, .asks = USE_PROGRAM,
	 .where = PROBE_KERNEL | METHOD_TYPED, .check = check_skb, .handle = handle_skboutput,
	 .doc = "Appends at most len bytes of a packet, from an offset on, to a pcap file (raw "
		"IP)."},
	{"auto percpu_kaddr(text symbol, [any cpu])", lower_percpu, .type = type_percpu,
	 .check = check_percpu,
	 .doc = "Address of a CPU's copy of a kernel variable; 0 if the CPU does not exist."},
	{"auto kfunc_exist(text name)", .flags = B_CONST, .type = type_kfunc_exist,
	 .check = check_kfunc, .doc = "True if the kernel has this function."},
	{"auto kfunc_allowed(text name)", .flags = B_CONST, .asks = USE_PROGRAM,
	 .type = type_kfunc_allowed, .check = check_kfunc,
	 .doc = "True if a probe of this type may call this kernel function."},
	{"string[64] comm(any pid)", lower_comm_pid, .check = check_comm_pid,
	 .doc = "Name of the thread with this id; \"N/A\" if it does not exist."},
	{0},
};
