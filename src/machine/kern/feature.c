/* feature.c - what this kernel can do: each question is asked once, by trying the thing itself. */
#include "kern/caps.h"
#include "kern/host.h"
#include "kern/mmaps.h"
#include "kern/perf.h"
#include "kern/sys.h"
#include "kern/tracefs.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/btf.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

enum { BREAKPOINT = 0xcc };

/* ---- small programs ---- */

static long load(u32 type, u32 attach_type, const struct bpf_insn *insn, u32 n)
{
	struct prog_spec s = {.name = "try",
			      .license = "GPL",
			      .type = type,
			      .attach_type = attach_type,
			      .insn = insn,
			      .ninsn = n};
	return prog_load_once(&s, NULL, NULL, 0, 0);
}

static bool loads(u32 type, const struct bpf_insn *insn, u32 n)
{
	AUTO_CLOSE int fd = (int)load(type, 0, insn, n);
	return fd >= 0;
}

static long load_empty(u32 type, u32 attach_type)
{
	const struct bpf_insn insn[] = {I_MOV(0, 0), I_EXIT};
	return load(type, attach_type, insn, countof(insn));
}

/* A helper that takes nothing, or the context. */
static bool helper_loads(u32 helper)
{
	const struct bpf_insn insn[] = {I_CALL((i32)helper), I_MOV(0, 0), I_EXIT};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_sleepable(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -8),
		I_MOV(2, 1),
		I_MOV(3, 0),
		I_CALL(BPF_FUNC_copy_from_user),
		I_MOV(0, 0),
		I_EXIT,
	};
	struct prog_spec s = {.name = "try",
			      .license = "GPL",
			      .type = BPF_PROG_TYPE_KPROBE,
			      .flags = BPF_F_SLEEPABLE,
			      .insn = insn,
			      .ninsn = countof(insn)};
	AUTO_CLOSE int fd = (int)prog_load_once(&s, NULL, NULL, 0, 0);
	return fd >= 0;
}

/* With BTF for its functions. */
static bool described_loads(u32 type, const struct bpf_insn *insn, u32 n,
			    const struct func_info *func, u32 nfunc)
{
	struct prog_spec s = {.name = "try",
			      .license = "GPL",
			      .type = type,
			      .insn = insn,
			      .ninsn = n,
			      .func = func,
			      .nfunc = nfunc};
	struct prog_btf btf;
	if (prog_btf_load(&s, &btf) < 0)
		return false;
	AUTO_CLOSE int fd = (int)prog_load_once(&s, &btf, NULL, 0, 0);
	prog_btf_free(&btf);
	return fd >= 0;
}

/* A program and, behind it, a callback. */
static bool callback_loads(u32 type, const struct bpf_insn *insn, u32 n, u32 callback, u32 narg)
{
	const struct func_info func[] = {{0, STR("try"), 1, false},
					 {callback, STR("callback"), narg, true}};
	return described_loads(type, insn, n, func, countof(func));
}

static int map_fd(u32 type, u32 key, u32 val, u32 n, u32 flags)
{
	struct map_spec m = {"try", type, key, val, n, flags};
	int fd = -1;
	struct err *e = bpf_map_new(&m, &fd);
	err_free(e);
	return fd;
}

static bool root_has(struct host *h, const char *path)
{
	return !faccessat(AT_FDCWD, arena_fmt(h->arena, "%s%s", h->root, path), R_OK, AT_EACCESS);
}

/* ---- one function per row of feature.def ---- */

static bool try_yes(struct host *h)
{
	(void)h;
	return true;
}

static bool try_btf(struct host *h)
{
	return root_has(h, "/sys/kernel/btf/vmlinux");
}

static bool try_ringbuf(struct host *h)
{
	AUTO_CLOSE int fd = map_fd(BPF_MAP_TYPE_RINGBUF, 0, 0, h->page_size, 0);
	return fd >= 0;
}

static bool try_big_keys(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = map_fd(BPF_MAP_TYPE_HASH, 1024, 8, 1, 0);
	return fd >= 0;
}

/* Before that, only for programs that interrupt nothing: the verifier looks at perf events'. */
static bool try_grows(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = map_fd(BPF_MAP_TYPE_HASH, 8, 8, 1, BPF_F_NO_PREALLOC);
	const struct bpf_insn insn[] = {
		I_LD64(1, BPF_PSEUDO_MAP_FD, fd),
		I_MOV(0, 0),
		I_EXIT,
	};
	return fd >= 0 && loads(BPF_PROG_TYPE_PERF_EVENT, insn, countof(insn));
}

static bool try_raw_tp_run(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = (int)load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0);
	u32 ret;
	struct err *e = fd < 0 ? NULL : bpf_prog_run(fd, NULL, 0, &ret);
	err_free(e);
	return fd >= 0 && !e;
}

static bool try_atomic(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_MOV(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 1, -8, BPF_XCHG),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_ordered(struct host *h)
{
	enum { LOAD_ACQUIRE = 0x100, STORE_RELEASE = 0x110 };
	(void)h;
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_MOV(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 1, -8, STORE_RELEASE),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 10, -8, LOAD_ACQUIRE),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_rings(struct host *h)
{
	AUTO_CLOSE int fd = map_fd(BPF_MAP_TYPE_ARRAY, 4, 8, 2, BPF_F_MMAPABLE);
	return fd >= 0 && host_has(h, FEAT_ATOMIC) && host_has(h, FEAT_RINGBUF);
}

static bool try_task_btf(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_get_current_task_btf);
}

static bool try_task_regs(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {
		I_CALL(BPF_FUNC_get_current_task_btf),
		I_MOVR(1, 0),
		I_CALL(BPF_FUNC_task_pt_regs),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_for_each(struct host *h)
{
	(void)h;
	AUTO_CLOSE int map = map_fd(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	if (map < 0)
		return false;
	const struct bpf_insn insn[] = {
		I_LD64(1, BPF_PSEUDO_MAP_FD, map),
		I_LD64(2, BPF_PSEUDO_FUNC,
		       6), /* relative to the instruction behind its first slot */
		I_MOV(3, 0),
		I_MOV(4, 0),
		I_CALL(BPF_FUNC_for_each_map_elem),
		I_MOV(0, 0),
		I_EXIT,
		I_MOV(0, 0),
		I_EXIT,
	};
	return callback_loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn), 9, 4);
}

static bool try_loop(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {
		I_MOV(1, 4),
		I_LD64(2, BPF_PSEUDO_FUNC, 6),
		I_MOV(3, 0),
		I_MOV(4, 0),
		I_CALL(BPF_FUNC_loop),
		I_MOV(0, 0),
		I_EXIT,
		I_MOV(0, 0),
		I_EXIT,
	};
	return callback_loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn), 8, 2);
}

/* What most scripts ask for, in one program: each by itself takes as long. */
static const enum feature usual[] = {FEAT_ATOMIC, FEAT_TASK_BTF, FEAT_LOOP, FEAT_GROWS};

static bool try_usual(void)
{
	AUTO_CLOSE int map = map_fd(BPF_MAP_TYPE_HASH, 8, 8, 1, BPF_F_NO_PREALLOC);
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_MOV(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 1, -8, BPF_XCHG),
		I_CALL(BPF_FUNC_get_current_task_btf),
		I_LD64(1, BPF_PSEUDO_MAP_FD, map),
		I_MOV(1, 4),
		I_LD64(2, BPF_PSEUDO_FUNC, 6),
		I_MOV(3, 0),
		I_MOV(4, 0),
		I_CALL(BPF_FUNC_loop),
		I_MOV(0, 0),
		I_EXIT,
		I_MOV(0, 0),
		I_EXIT,
	};
	return map >= 0 && callback_loads(BPF_PROG_TYPE_PERF_EVENT, insn, countof(insn), 14, 2);
}

static bool try_may_goto(struct host *h)
{
	(void)h;
	enum { MAY_GOTO = BPF_JMP | 0xe0 };
	const struct bpf_insn insn[] = {
		INSN(MAY_GOTO, 0, 0, 1, 0),
		INSN(BPF_JMP | BPF_JA, 0, 0, -2, 0),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_percpu_lookup(struct host *h)
{
	(void)h;
	AUTO_CLOSE int map = map_fd(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, 0);
	if (map < 0)
		return false;
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_LD64(1, BPF_PSEUDO_MAP_FD, map),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8),
		I_MOV(3, 0),
		I_CALL(BPF_FUNC_map_lookup_percpu_elem),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_cookie(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_get_attach_cookie);
}

static bool try_func_ip(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_get_func_ip);
}

static bool try_boot_ns(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_ktime_get_boot_ns);
}

static bool try_tai_ns(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_ktime_get_tai_ns);
}

static bool try_jiffies(struct host *h)
{
	(void)h;
	return helper_loads(BPF_FUNC_jiffies64);
}

/* The format has to be in a map that nobody can write any more. */
static bool try_snprintf(struct host *h)
{
	(void)h;
	AUTO_CLOSE int map = map_fd(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_RDONLY_PROG);
	if (map < 0)
		return false;
	u32 zero = 0;
	char fmt[8] = "x";
	struct err *e = bpf_map_put(map, &zero, fmt);
	err_free(e);
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (u32)map;
	if (e || sys_bpf(BPF_MAP_FREEZE, &attr, sizeof(attr)) < 0)
		return false;
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_MOVR(1, 10),
		I_ADD(1, -8),
		I_MOV(2, 8),
		I_LD64(3, BPF_PSEUDO_MAP_VALUE, map),
		I_MOV(4, 0),
		I_MOV(5, 0),
		I_CALL(BPF_FUNC_snprintf),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_kprobe(struct host *h)
{
	return root_has(h, "/sys/bus/event_source/devices/kprobe/type");
}

static bool tp_btf_loads(struct host *h, const char *type, const struct bpf_insn *insn, u32 n)
{
	struct types *k = host_btf(h);
	u32 id = k ? btf_types_id(k, str_z(type), BTF_KIND_TYPEDEF) : 0;
	struct prog_spec s = {.name = "try",
			      .license = "GPL",
			      .type = BPF_PROG_TYPE_TRACING,
			      .attach_type = BPF_TRACE_RAW_TP,
			      .attach_btf_id = id,
			      .insn = insn,
			      .ninsn = n};
	AUTO_CLOSE int fd = id ? (int)prog_load_once(&s, NULL, NULL, 0, 0) : -1;
	return fd >= 0;
}

static bool try_tp_btf(struct host *h)
{
	const struct bpf_insn insn[] = {I_MOV(0, 0), I_EXIT};
	return tp_btf_loads(h, "btf_trace_sys_enter", insn, countof(insn));
}

static bool second_loads(struct host *h, const char *type)
{
	const struct bpf_insn insn[] = {INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 8, 0), I_MOV(0, 0),
					I_EXIT};
	return tp_btf_loads(h, type, insn, countof(insn));
}

/* Of the series that did it. */
static bool try_calls_preempted(struct host *h)
{
	struct types *k = host_btf(h);
	return k && btf_types_id(k, STR("trace_call_bpf_faultable"), BTF_KIND_FUNC);
}

static bool try_const_pointer(struct host *h)
{
	return second_loads(h, "btf_trace_kfree"); /* const void *ptr */
}

static bool try_func_pointer(struct host *h)
{
	return second_loads(h, "btf_trace_workqueue_execute_end"); /* work_func_t function */
}

/* A tracing program for a function that exists for such tests; not attached. */
static int load_typed(struct host *h, const struct bpf_insn *insn, u32 n)
{
	struct types *k = host_btf(h);
	u32 id = k ? btf_types_id(k, STR("bpf_fentry_test1"), BTF_KIND_FUNC) : 0;
	struct prog_spec s = {.name = "try",
			      .license = "GPL",
			      .type = BPF_PROG_TYPE_TRACING,
			      .attach_type = BPF_TRACE_FENTRY,
			      .attach_btf_id = id,
			      .insn = insn,
			      .ninsn = n};
	return id ? (int)prog_load_once(&s, NULL, NULL, 0, 0) : -1;
}

/*
 * Attaching for a moment takes 0.1 to 0.3 s where the kernel then waits for all tasks: only where
 * it is not known to have what trampolines go through.
 */
static bool try_fentry(struct host *h)
{
	const struct bpf_insn insn[] = {I_MOV(0, 0), I_EXIT};
	AUTO_CLOSE int fd = load_typed(h, insn, countof(insn));
	if (fd < 0)
		return false;
	if (btf_types_id(host_btf(h), STR("register_ftrace_direct"), BTF_KIND_FUNC))
		return true;
	int link = -1;
	struct err *e = bpf_link_tracing(fd, BPF_TRACE_FENTRY, 0, &link);
	err_free(e);
	close_fd(&link);
	return !e;
}

static bool try_func_arg(struct host *h)
{
	const struct bpf_insn insn[] = {
		I_MOV(2, 0), I_MOVR(3, 10), I_ADD(3, -8), I_CALL(BPF_FUNC_get_func_arg),
		I_MOV(0, 0), I_EXIT,
	};
	if (!host_has(h, FEAT_FENTRY))
		return false;
	AUTO_CLOSE int fd = load_typed(h, insn, countof(insn));
	return fd >= 0;
}

/* A bad pointer as list of symbols: who understands the request says EFAULT. */
/* The verifier knows the helper only then. */
static bool try_override(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {
		I_MOV(2, 0),
		I_CALL(BPF_FUNC_override_return),
		I_MOV(0, 0),
		I_EXIT,
	};
	return loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn));
}

static bool try_kprobe_multi(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = (int)load_empty(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI);
	if (fd < 0)
		return false;
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (u32)fd;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.syms = 1;
	attr.link_create.kprobe_multi.cnt = 1;
	return sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr)) == -EFAULT;
}

/* Since function graph tracing carries fprobes, each task has a stack of its returns. */
static bool try_fprobe_returns(struct host *h)
{
	struct types *k = host_btf(h);
	const struct type *t = k ? btf_types_find(k, STR("fprobe"), T_STRUCT) : NULL;
	struct field f;
	return t && type_field(t, STR("hlist_array"), &f) && host_has(h, FEAT_KPROBE_MULTI);
}

/* A directory instead of a binary: who understands the request says EBADF. */
static bool try_uprobe_multi(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = (int)load_empty(BPF_PROG_TYPE_KPROBE, SONDE_BPF_TRACE_UPROBE_MULTI);
	if (fd < 0)
		return false;
	u64 off = 0;
	struct sonde_uprobe_multi_attr attr = {.prog_fd = (u32)fd,
					       .attach_type = SONDE_BPF_TRACE_UPROBE_MULTI,
					       .path = ptr_u64("/"),
					       .offsets = ptr_u64(&off),
					       .cnt = 1};
	return sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr)) == -EBADF;
}

/*
 * Older kernels hand these tracepoints the registers of user space, in which there is no kernel
 * stack. Tried by a call of our own.
 */
static bool try_call_kstack(struct host *h)
{
	struct perf_spec spec = {.type = PERF_TYPE_TRACEPOINT, .period = 1, .pid = -1, .cpu = 0};
	AUTO_CLOSE int map = map_fd(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	const struct bpf_insn insn[] = {
		I_ST(10, -8, 0),
		I_MOVR(2, 10),
		I_ADD(2, -8),
		I_MOV(3, 8),
		I_MOV(4, 0),
		I_CALL(BPF_FUNC_get_stack),
		I_LD64(1, BPF_PSEUDO_MAP_VALUE, map),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 1, 0, 0, 0),
		I_MOV(0, 0),
		I_EXIT,
	};
	AUTO_CLOSE int prog =
		map < 0 ? -1 : (int)load(BPF_PROG_TYPE_TRACEPOINT, 0, insn, countof(insn));
	AUTO_CLOSE int event = -1;
	if (prog < 0)
		return false;
	u32 zero = 0;
	i64 bytes = 0;
	struct err *e = tracefs_id(h, STR("syscalls"), STR("sys_enter_getppid"), &spec.config);
	if (!e)
		e = perf_open(&spec, &event);
	if (!e)
		e = perf_attach(event, prog);
	if (!e) {
		syscall(SYS_getppid);
		e = bpf_map_get(map, &zero, &bytes);
	}
	err_free(e);
	return bytes > 0;
}

static bool try_uprobe_refctr(struct host *h)
{
	return root_has(h, "/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset");
}

/*
 * What becomes of a nop that is probed. Kernels that make a call of one of five bytes (6.18) write
 * the return address below the stack pointer; later ones (7.2) take one of ten, and step aside.
 * Tried on functions of our own.
 */
struct own_place {
	u64 addr, off;
};

static int find_own(struct dl_phdr_info *in, size_t size, void *arg)
{
	struct own_place *o = arg;
	(void)size;
	for (u32 i = 0; i < in->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &in->dlpi_phdr[i];
		u64 at = o->addr - in->dlpi_addr - p->p_vaddr;
		if (p->p_type != PT_LOAD || at >= p->p_filesz)
			continue;
		o->off = at + p->p_offset;
		return 1;
	}
	return 0;
}

/* Is there another instruction in its place after two hits? */
static bool becomes_call(struct host *h, void (*fn)(void))
{
	struct own_place o = {.addr = (u64)(uintptr_t)fn};
	u8 was, now;
	int link;
	if (!fn || !host_has(h, FEAT_UPROBE_MULTI) || !dl_iterate_phdr(find_own, &o))
		return false;
	AUTO_CLOSE int fd = (int)load_empty(BPF_PROG_TYPE_KPROBE, SONDE_BPF_TRACE_UPROBE_MULTI);
	if (fd < 0)
		return false;
	memcpy(&was, (const void *)(uintptr_t)o.addr, 1);
	struct err *e = bpf_link_uprobe_multi(fd, "/proc/self/exe", &o.off, NULL, NULL, 1,
					      (u32)getpid(), false, &link);
	if (e) {
		err_free(e);
		return false;
	}
	fn();
	fn();
	memcpy(&now, (const void *)(uintptr_t)o.addr, 1);
	close(link);
	return now != was && now != BREAKPOINT;
}

static bool try_nop5_call(struct host *h)
{
	return becomes_call(h, h->arch->nop5);
}

static bool try_nop10_call(struct host *h)
{
	return becomes_call(h, h->arch->nop10);
}
static bool try_perf_link(struct host *h)
{
	(void)h;
	AUTO_CLOSE int fd = (int)load_empty(BPF_PROG_TYPE_PERF_EVENT, 0);
	if (fd < 0)
		return false;
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (u32)fd;
	attr.link_create.target_fd = ~0u;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	return sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr)) == -EBADF;
}

static bool try_map_notes(struct host *h)
{
	(void)h;
	return mmaps_try();
}

bool host_has_seccomp(void)
{
	u32 action = SECCOMP_RET_TRAP;
	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

static bool try_confine(struct host *h)
{
	(void)h;
	return host_has_seccomp();
}

static bool try_prog_btf(struct host *h)
{
	(void)h;
	const struct bpf_insn insn[] = {I_MOV(0, 0), I_EXIT};
	const struct func_info func[] = {{0, STR("try"), 1, false}};
	return described_loads(BPF_PROG_TYPE_KPROBE, insn, countof(insn), func, countof(func));
}

/* ---- table ---- */

static const struct {
	const char *name, *what;
	bool (*try_it)(struct host *h);
} features[] = {
#define F(id, what, probe) {#id, what, probe},
#include "kern/feature.def"
};

const char *feature_name(enum feature f)
{
	assert((u32)f < FEAT_COUNT);
	return features[f].name;
}

bool feature_is_file(enum feature f)
{
	return f == FEAT_BTF || f == FEAT_KPROBE || f == FEAT_UPROBE_REFCTR;
}

const char *feature_lacks(struct host *h, enum feature f)
{
	AUTO_SB why = {0};
	if (h->recorded || feature_is_file(f) || !cap_bpf_missing(h, &why))
		return "which this kernel lacks";
	return arena_fmt(h->arena, "which cannot be tried: %s", why.s);
}

const char *feature_what(enum feature f)
{
	assert((u32)f < FEAT_COUNT);
	return features[f].what;
}

/* A recorded machine lists the names of what it had. */
static bool recorded_has(struct host *h, enum feature f)
{
	struct str text, word;
	struct err *e = host_read(h, &text, "/features");
	if (e) {
		err_free(e);
		return false;
	}
	while (str_cut(&text, '\n', &word))
		if (str_eq_nocase(str_trim(word), str_z(features[f].name)))
			return true;
	return false;
}

/* Where the kernel takes all of them; else each is asked for by itself. */
static void ask_usual(struct host *h, enum feature f)
{
	bool among = false, open = !h->recorded && !h->usual_tried;
	for (u32 i = 0; i < countof(usual); i++) {
		among |= usual[i] == f;
		open &= !h->feature[usual[i]];
	}
	if (!among || !open)
		return;
	h->usual_tried = true;
	bool all = try_usual();
	for (u32 i = 0; i < countof(usual) && all; i++)
		h->feature[usual[i]] = 2;
}

bool host_has(struct host *h, enum feature f)
{
	assert((u32)f < FEAT_COUNT);
	if (!h->feature[f])
		ask_usual(h, f);
	if (h->feature[f])
		return h->feature[f] == 2;
	bool yes = h->recorded && f != FEAT_NONE ? recorded_has(h, f) : features[f].try_it(h);
	h->feature[f] = yes ? 2 : 1;
	return yes;
}

bool host_disable(struct host *h, struct str name)
{
	for (u32 f = FEAT_NONE + 1; f < FEAT_COUNT; f++)
		if (str_eq_nocase(name, str_z(features[f].name))) {
			h->feature[f] = 1;
			return true;
		}
	return false;
}
