/* bpf.c - bpf(2): maps, programs, test runs, links. */
#include "kern/bpf.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "kern/sys.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum {
	LOAD_TRIES = 5, /* EAGAIN: a signal came while the verifier was at work */
	LOG_SIZE = 1 << 20,
	LOG_SIZE_MAX = 1 << 26,
	BATCH_FIRST = 512, /* elements of the first batch; doubled while there is more */
};

/* Before 5.11 maps and programs are charged to RLIMIT_MEMLOCK and refused with EPERM. */
static bool raise_memlock(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_MEMLOCK, &r) || r.rlim_cur == RLIM_INFINITY)
		return false;
	r.rlim_cur = r.rlim_max = RLIM_INFINITY;
	return !setrlimit(RLIMIT_MEMLOCK, &r);
}

static long bpf_once(int cmd, void *attr, u32 size)
{
	long r = syscall(__NR_bpf, cmd, attr, size);
	return r < 0 ? -errno : r;
}

long sys_bpf(int cmd, void *attr, u32 size)
{
	long r = bpf_once(cmd, attr, size);
	bool charged = cmd == BPF_MAP_CREATE || cmd == BPF_PROG_LOAD || cmd == BPF_BTF_LOAD;
	if (r == -EPERM && charged && raise_memlock())
		r = bpf_once(cmd, attr, size);
	return r;
}

/* Names as the kernel accepts them for maps and programs: 15 characters of [A-Za-z0-9_.]. */
static void sys_name(char dst[BPF_OBJ_NAME_LEN], const char *src)
{
	u32 n = 0;
	for (; src && *src && n < BPF_OBJ_NAME_LEN - 1; src++)
		if (isalnum((u8)*src) || *src == '_' || *src == '.')
			dst[n++] = *src;
		else if (*src != '@')
			dst[n++] = '_';
	memset(dst + n, 0, BPF_OBJ_NAME_LEN - n);
}

/* ---- maps ---- */

struct err *bpf_map_new(const struct map_spec *s, int *fd)
{
	return bpf_map_new_outer(s, 0, fd);
}

struct err *bpf_map_new_outer(const struct map_spec *s, int inner, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = s->type;
	attr.key_size = s->key_size;
	attr.value_size = s->val_size;
	attr.max_entries = s->max_entries;
	attr.map_flags = s->flags;
	attr.inner_map_fd = (u32)inner;
	sys_name(attr.map_name, s->name);
	long r = sys_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
	if (r < 0)
		return err_kern(
			(int)-r, "create map %s (type %u, key %u, value %u bytes, %u entries)",
			s->name ? s->name : "", s->type, s->key_size, s->val_size, s->max_entries);
	*fd = (int)r;
	return NULL;
}

struct err *bpf_map_new_inner(u32 size, int *fd)
{
	struct map_spec spec = {
		.name = "inner",
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.val_size = size,
		.max_entries = 1,
		.flags = BPF_F_MMAPABLE,
	};
	return bpf_map_new(&spec, fd);
}

static long map_op(int cmd, int fd, const void *key, const void *val)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (u32)fd;
	attr.key = ptr_u64(key);
	attr.value = ptr_u64(val); /* also .next_key */
	return sys_bpf(cmd, &attr, sizeof(attr));
}

struct err *bpf_map_get(int fd, const void *key, void *val)
{
	long r = map_op(BPF_MAP_LOOKUP_ELEM, fd, key, val);
	return r < 0 ? err_kern((int)-r, "read a map element") : NULL;
}

struct err *bpf_map_put(int fd, const void *key, const void *val)
{
	long r = map_op(BPF_MAP_UPDATE_ELEM, fd, key, val);
	return r < 0 ? err_kern((int)-r, "write a map element") : NULL;
}

struct err *bpf_map_put_all(int fd, const u32 *keys, const u32 *vals, u32 n)
{
	union bpf_attr attr;
	struct err *e = NULL;
	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = (u32)fd;
	attr.batch.keys = ptr_u64(keys);
	attr.batch.values = ptr_u64(vals);
	attr.batch.count = n;
	if (n > 1 && !sys_bpf(BPF_MAP_UPDATE_BATCH, &attr, sizeof(attr)))
		return NULL;
	for (u32 i = 0; i < n && !e; i++)
		e = bpf_map_put(fd, &keys[i], &vals[i]);
	return e;
}

struct err *bpf_map_seal(int fd)
{
	union bpf_attr a = {.map_fd = (u32)fd};
	long r = sys_bpf(BPF_MAP_FREEZE, &a, sizeof(a));
	return r < 0 ? err_kern((int)-r, "freeze a map") : NULL;
}

struct err *bpf_map_del(int fd, const void *key)
{
	long r = map_op(BPF_MAP_DELETE_ELEM, fd, key, NULL);
	return r < 0 ? err_kern((int)-r, "delete a map element") : NULL;
}

bool bpf_map_next(int fd, const void *prev, void *key)
{
	return map_op(BPF_MAP_GET_NEXT_KEY, fd, prev, key) == 0;
}

/* A growing pair of arrays. */
struct rows {
	u8 *keys, *vals;
	u32 n, cap, key_size, val_size;
};

static void rows_grow(struct rows *r, u32 cap)
{
	if (cap <= r->cap)
		return;
	r->keys = xrealloc(r->keys, (size_t)cap * r->key_size + 1);
	r->vals = xrealloc(r->vals, (size_t)cap * r->val_size + 1);
	r->cap = cap;
}

/* 1: done; 0: this kernel or map has no batches; -errno. */
static long rows_batch(int fd, struct rows *r, u32 limit)
{
	u8 token[2][512];
	u32 calls = 0, room = MIN(limit, (u32)BATCH_FIRST);
	if (r->key_size > sizeof(token[0]))
		return 0;
	memset(token, 0, sizeof(token));
	while (r->n < limit) {
		rows_grow(r, r->n + room);
		union bpf_attr attr;
		memset(&attr, 0, sizeof(attr));
		attr.batch.map_fd = (u32)fd;
		attr.batch.in_batch = calls ? ptr_u64(token[calls % 2]) : 0;
		attr.batch.out_batch = ptr_u64(token[(calls + 1) % 2]);
		attr.batch.keys = ptr_u64(r->keys + (size_t)r->n * r->key_size);
		attr.batch.values = ptr_u64(r->vals + (size_t)r->n * r->val_size);
		attr.batch.count = room;
		long err = sys_bpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr));
		if (err == -ENOSPC && room < limit) { /* one bucket holds more than the batch */
			room *= 2;
			continue;
		}
		if (err < 0 && err != -ENOENT)
			return !calls && (err == -EINVAL || err == -ENOTSUPP_KERNEL ||
					  err == -EOPNOTSUPP)
				       ? 0
				       : err;
		r->n += attr.batch.count;
		if (err == -ENOENT)
			return 1;
		calls++;
		room *= 2;
	}
	return 1;
}

static long rows_one_by_one(int fd, struct rows *r, u32 limit)
{
	const u8 *prev = NULL;
	u32 steps = 0;
	AUTO_FREE u8 *key = xmalloc(2 * (size_t)r->key_size + 1);
	for (u8 *next = key; r->n < limit && steps < 2 * limit && bpf_map_next(fd, prev, next);
	     steps++) {
		rows_grow(r, r->n == r->cap ? MAX(64u, r->cap * 2) : r->cap);
		long err =
			map_op(BPF_MAP_LOOKUP_ELEM, fd, next, r->vals + (size_t)r->n * r->val_size);
		if (err < 0 && err != -ENOENT)
			return err;
		if (!err)
			memcpy(r->keys + (size_t)r->n++ * r->key_size, next, r->key_size);
		prev = next;
		next = next == key ? key + r->key_size : key;
	}
	return 1;
}

struct err *bpf_map_all(int fd, u32 key_size, u32 val_size, u32 max_entries, u8 **keys, u8 **vals,
			u32 *n)
{
	struct rows r = {.key_size = key_size, .val_size = val_size};
	rows_grow(&r, 1);
	long done = rows_batch(fd, &r, max_entries);
	if (!done) {
		r.n = 0;
		done = rows_one_by_one(fd, &r, max_entries);
	}
	if (done < 0) {
		free(r.keys);
		free(r.vals);
		return err_kern((int)-done, "read all elements of a map");
	}
	*keys = r.keys;
	*vals = r.vals;
	*n = r.n;
	return NULL;
}

struct err *bpf_map_mmap(int fd, size_t size, void **ret)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_kern(errno, "map %zu bytes of a BPF map into memory", size);
	madvise(p, size, MADV_DONTFORK); /* children read what others wrote (sandbox.h) */
	*ret = p;
	return NULL;
}

/*
 * The kernel finds pages of ours by addresses of its own that it has used before. A page that is touched for the
 * first time at another address, where we or the map have it, costs more than the copying does.
 */
struct err *bpf_map_fill(int fd, const void *from, size_t size)
{
	void *p;
	struct err *e = bpf_map_mmap(fd, size, &p);
	if (e)
		return e;
	struct iovec here = {(void *)from, size}, there = {p, size};
	bool done = process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
	munmap(p, size);
	return done ? NULL : bpf_map_put(fd, &(u32){0}, from);
}

struct err *bpf_map_reserve(size_t size, void **ret)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return err_kern(errno, "reserve %zu bytes for a BPF map", size);
	*ret = p;
	return NULL;
}

struct err *bpf_map_mmap_part(int fd, void *reserved, size_t from, size_t to)
{
	u8 *at = (u8 *)reserved + from;
	if (mmap(at, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)from) ==
	    MAP_FAILED)
		return err_kern(errno, "map %zu bytes of a BPF map into memory", to - from);
	madvise(at, to - from, MADV_DONTFORK);
	return NULL;
}

/* ---- programs ---- */

long prog_load_once(const struct prog_spec *s, const struct prog_btf *btf, char *log, u32 log_size,
		    u32 log_level)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = s->type;
	attr.expected_attach_type = s->attach_type;
	attr.insns = ptr_u64(s->insn);
	attr.insn_cnt = s->ninsn;
	attr.license = ptr_u64(s->license ? s->license : "GPL");
	attr.prog_flags = s->flags;
	attr.attach_btf_id = s->attach_btf_id;
	attr.attach_btf_obj_fd = (u32)s->attach_btf_fd;
	sys_name(attr.prog_name, s->name);
	if (btf && btf->fd >= 0) {
		attr.prog_btf_fd = (u32)btf->fd;
		attr.func_info = ptr_u64(btf->func);
		attr.func_info_cnt = btf->nfunc;
		attr.func_info_rec_size = sizeof(*btf->func);
		attr.line_info = btf->nline ? ptr_u64(btf->line) : 0;
		attr.line_info_cnt = btf->nline;
		attr.line_info_rec_size = btf->nline ? sizeof(*btf->line) : 0;
	}
	if (log && log_level) {
		attr.log_buf = ptr_u64(log);
		attr.log_size = log_size;
		attr.log_level = log_level;
	}
	long r = -EAGAIN;
	for (u32 i = 0; i < LOAD_TRIES && r == -EAGAIN; i++)
		r = sys_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
	return r;
}

/* Kernels before 6.4 keep the start of the log and say ENOSPC: ask again with more room. */
static long load_with_log(const struct prog_spec *s, const struct prog_btf *btf, char **log)
{
	u32 size = s->log_size ? s->log_size : (u32)LOG_SIZE,
	    level = s->log_level ? s->log_level : 1;
	long r;
	for (;; size *= 4) {
		free(*log);
		*log = xcalloc(1, size);
		r = prog_load_once(s, btf, *log, size, level);
		if (r != -ENOSPC || size > LOG_SIZE_MAX / 4)
			return r;
	}
}

/* The process or the machine has no more of something: that says nothing about the program. */
static bool is_shortage(long r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

struct err *bpf_prog_new(struct host *h, const struct prog_spec *s, int *fd, char **log)
{
	struct prog_btf btf = {.fd = -1};
	char *text = NULL;
	const char *name = s->name ? s->name : "";
	if (log)
		*log = NULL;
	/* Without it, the program loads all the same if it has no callbacks. */
	int described = h->feature[FEAT_PROG_BTF] != 1 ? prog_btf_load(s, &btf) : 0;
	if (is_shortage(described))
		return err_kern(-described, "load the types of program %s", name);
	long r = log && s->log_level ? load_with_log(s, &btf, &text)
				     : prog_load_once(s, &btf, NULL, 0, 0);
	int no = (int)-r;
	if (r < 0 && log && !text && !is_shortage(r)) {
		long again = load_with_log(s, &btf, &text);
		if (again >= 0)
			r = again;
	}
	prog_btf_free(&btf);
	bool empty = !text || !text[0];
	if (empty || is_shortage(r)) {
		free(text);
		text = NULL;
	}
	if (log)
		*log = text;
	if (r >= 0) {
		*fd = (int)r;
		return NULL;
	}
	return empty ? err_kern(no, "load program %s (%u instructions)", name, s->ninsn)
		     : err_sys(no, "load program %s (%u instructions)", name, s->ninsn);
}

struct err *bpf_prog_run(int fd, const u64 *ctx, u32 n, u32 *retval)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (u32)fd;
	attr.test.ctx_in = n ? ptr_u64(ctx) : 0;
	attr.test.ctx_size_in = n * (u32)sizeof(*ctx);
	long r = sys_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
	if (r < 0)
		return err_kern((int)-r, "run a program");
	*retval = attr.test.retval;
	return NULL;
}

/* Bytes that the kernel filled in, or -errno. */
static long obj_info(int fd, void *info, u32 size)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (u32)fd;
	attr.info.info = ptr_u64(info);
	attr.info.info_len = size;
	long r = sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	return r < 0 ? r : (long)attr.info.info_len;
}

struct err *bpf_stats(int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	long r = sys_bpf(BPF_ENABLE_STATS, &attr, sizeof(attr));
	if (r < 0)
		return err_kern((int)-r, "have the kernel measure programs");
	*fd = (int)r;
	return NULL;
}

struct err *bpf_prog_time(int fd, u64 *ns, u64 *runs)
{
	struct bpf_prog_info info = {0};
	long r = obj_info(fd, &info, sizeof(info));
	if (r < 0)
		return err_kern((int)-r, "ask about a program");
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
	return NULL;
}

bool bpf_link_misses(int fd, u64 *misses)
{
	struct sonde_link_info info = {0};
	if (obj_info(fd, &info, sizeof(info)) < (long)sizeof(info))
		return false;
	bool multi = info.type == BPF_LINK_TYPE_KPROBE_MULTI,
	     one = info.type == BPF_LINK_TYPE_PERF_EVENT &&
		   (info.kprobe.type == SONDE_PERF_EVENT_KPROBE ||
		    info.kprobe.type == SONDE_PERF_EVENT_KRETPROBE);
	*misses = multi ? info.kprobe_multi.missed : info.kprobe.missed;
	return multi || one;
}

struct err *bpf_prog_misses(int fd, u64 *misses)
{
	struct bpf_prog_info info = {0};
	long r = obj_info(fd, &info, sizeof(info));
	if (r < 0)
		return err_kern((int)-r, "ask about a program");
	*misses = info.recursion_misses;
	return NULL;
}

u32 bpf_prog_walked(int fd)
{
	struct bpf_prog_info info = {0};
	return obj_info(fd, &info, sizeof(info)) < 0 ? 0 : info.verified_insns;
}

u32 bpf_prog_after(u32 id)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	return sys_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) < 0 ? 0 : attr.next_id;
}

struct err *bpf_prog_by_id(u32 id, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	long r = sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
	if (r < 0)
		return r == -ENOENT ? err_new("no BPF program has the id %u", id)
				    : err_kern((int)-r, "open BPF program %u", id);
	*fd = (int)r;
	return NULL;
}

struct err *bpf_prog_about(int fd, struct bpf_about *ret)
{
	struct bpf_prog_info info = {0};
	long r = obj_info(fd, &info, sizeof(info));
	if (r < 0)
		return err_kern((int)-r, "ask about a program");
	*ret = (struct bpf_about){.id = info.id, .ns = info.run_time_ns, .runs = info.run_cnt};
	_Static_assert(sizeof(info.name) < sizeof(ret->name), "a name and its end");
	memcpy(ret->name, info.name, sizeof(info.name));
	return NULL;
}

struct err *bpf_prog_types(int fd, u32 *prog_type, void **btf, u32 *size)
{
	union bpf_attr attr;
	struct bpf_prog_info info = {0};
	long r = obj_info(fd, &info, sizeof(info));
	if (r < 0)
		return err_kern((int)-r, "ask about a program");
	*prog_type = info.type;
	if (!info.btf_id)
		return err_new("the program has no BTF");
	memset(&attr, 0, sizeof(attr));
	attr.btf_id = info.btf_id;
	AUTO_CLOSE int btf_fd = (int)sys_bpf(BPF_BTF_GET_FD_BY_ID, &attr, sizeof(attr));
	struct bpf_btf_info about = {0};
	r = btf_fd < 0 ? btf_fd : obj_info(btf_fd, &about, sizeof(about));
	if (r < 0)
		return err_kern((int)-r, "read the BTF of a program");
	*size = about.btf_size;
	*btf = xmalloc(about.btf_size + 1u);
	about = (struct bpf_btf_info){.btf = ptr_u64(*btf), .btf_size = *size};
	r = obj_info(btf_fd, &about, sizeof(about));
	if (r >= 0)
		return NULL;
	free(*btf);
	return err_kern((int)-r, "read the BTF of a program");
}

struct err *bpf_module_btf(const char *module, int *fd)
{
	union bpf_attr attr;
	for (u32 id = 0;;) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		long r = sys_bpf(BPF_BTF_GET_NEXT_ID, &attr, sizeof(attr));
		if (r < 0)
			return err_kern((int)-r, "find the BTF of module %s", module);
		id = attr.next_id;
		memset(&attr, 0, sizeof(attr));
		attr.btf_id = id;
		r = sys_bpf(BPF_BTF_GET_FD_BY_ID, &attr, sizeof(attr));
		if (r < 0)
			continue; /* gone meanwhile */
		char name[64] = "";
		struct bpf_btf_info info = {.name = ptr_u64(name), .name_len = sizeof(name)};
		if (obj_info((int)r, &info, sizeof(info)) >= 0 && info.kernel_btf &&
		    !strcmp(name, module)) {
			*fd = (int)r;
			return NULL;
		}
		close((int)r);
	}
}

/* ---- links ---- */

struct err *bpf_raw_tp(int prog_fd, const char *name, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = ptr_u64(name);
	attr.raw_tracepoint.prog_fd = (u32)prog_fd;
	long r = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	if (r < 0)
		return err_kern((int)-r, "attach to raw tracepoint%s%s", name ? " " : "",
				name ? name : "");
	*fd = (int)r;
	return NULL;
}

static long link_create(union bpf_attr *attr, int prog_fd, int target_fd, u32 attach_type)
{
	attr->link_create.prog_fd = (u32)prog_fd;
	attr->link_create.target_fd = (u32)target_fd;
	attr->link_create.attach_type = attach_type;
	return sys_bpf(BPF_LINK_CREATE, attr, sizeof(*attr));
}

static const char *trampoline_reason(u32 attach_type, int no)
{
	if (attach_type != BPF_TRACE_FENTRY && attach_type != BPF_TRACE_FEXIT)
		return "";
	switch (no) {
	case EBUSY: return " (the function is notrace, or something else changes its first bytes)";
	case EINVAL: return " (the function is __init, or the kernel allows no probe there)";
	case ENOTSUPP_KERNEL:
		return " (the function is __init or notrace, or has arguments that no trampoline "
		       "here passes on)";
	case E2BIG: return " (no more programs fit on one function)";
	}
	return "";
}

struct err *bpf_link_tracing(int prog_fd, u32 attach_type, u64 cookie, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.tracing.cookie = cookie;
	long r = link_create(&attr, prog_fd, 0, attach_type);
	if (r == -EINVAL &&
	    !cookie) { /* before 5.19 tracing programs attach like raw tracepoints */
		memset(&attr, 0, sizeof(attr));
		attr.raw_tracepoint.prog_fd = (u32)prog_fd;
		r = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	}
	if (r < 0)
		return err_kern((int)-r, "attach a tracing program%s",
				trampoline_reason(attach_type, (int)-r));
	*fd = (int)r;
	return NULL;
}

struct err *bpf_link_iter(int prog_fd, const char *cgroup, int *fd)
{
	union bpf_attr attr;
	union bpf_iter_link_info info;
	memset(&attr, 0, sizeof(attr));
	memset(&info, 0, sizeof(info));
	if (!cgroup)
		return bpf_link_tracing(prog_fd, BPF_TRACE_ITER, 0, fd);
	int dir AUTO_CLOSE = *cgroup ? open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (*cgroup && dir < 0)
		return err_sys(errno, "open %s", cgroup);
	info.cgroup.order = BPF_CGROUP_ITER_DESCENDANTS_PRE;
	info.cgroup.cgroup_fd = *cgroup ? (u32)dir : 0;
	attr.link_create.iter_info = (u64)(uintptr_t)&info;
	attr.link_create.iter_info_len = sizeof(info);
	long r = link_create(&attr, prog_fd, 0, BPF_TRACE_ITER);
	if (r < 0)
		return err_kern((int)-r, "attach an iterator over control group %s",
				*cgroup ? cgroup : "/");
	*fd = (int)r;
	return NULL;
}

/* On what kind of file system the file would be. */
static struct err *pin_place(const char *path)
{
	enum { MAGIC = 0xcafe4a11 };
	AUTO_FREE char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	slash[slash == dir] = 0;
	struct statfs fs;
	if (statfs(dir, &fs))
		return err_sys(errno, "pin to %s: %s", path, dir);
	if (fs.f_type != MAGIC)
		return err_new("pin to %s: %s is not in a BPF file system; mount one with: mount "
			       "-t bpf bpf /sys/fs/bpf",
			       path, dir);
	return NULL;
}

struct err *bpf_pin(int fd, const char *path)
{
	union bpf_attr attr;
	struct err *e = pin_place(path);
	if (e)
		return e;
	memset(&attr, 0, sizeof(attr));
	attr.pathname = ptr_u64(path);
	attr.bpf_fd = (u32)fd;
	long r = sys_bpf(BPF_OBJ_PIN, &attr, sizeof(attr));
	if (r == -EEXIST)
		return err_new("pin to %s: the file exists; if nobody needs it, remove it with: rm "
			       "%s",
			       path, path);
	return r < 0 ? err_kern((int)-r, "pin to %s", path) : NULL;
}

struct err *bpf_iter_open(int link_fd, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (u32)link_fd;
	long r = sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr));
	if (r < 0)
		return err_kern((int)-r, "open an iterator");
	*fd = (int)r;
	return NULL;
}

struct err *bpf_link_perf(int prog_fd, int perf_fd, u64 cookie, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.perf_event.bpf_cookie = cookie;
	long r = link_create(&attr, prog_fd, perf_fd, BPF_PERF_EVENT);
	if (r < 0)
		return err_kern((int)-r, "link a program to a perf event");
	*fd = (int)r;
	return NULL;
}

struct err *bpf_link_kprobe_multi(int prog_fd, const char *const *syms, const u64 *cookies, u32 n,
				  bool ret, int *fd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.kprobe_multi.flags = ret ? BPF_F_KPROBE_MULTI_RETURN : 0;
	attr.link_create.kprobe_multi.cnt = n;
	attr.link_create.kprobe_multi.syms = ptr_u64(syms);
	attr.link_create.kprobe_multi.cookies = ptr_u64(cookies);
	long r = link_create(&attr, prog_fd, 0, BPF_TRACE_KPROBE_MULTI);
	if (r < 0)
		return err_kern((int)-r, "attach to %u kernel functions (first: %s)", n,
				n ? syms[0] : "none");
	*fd = (int)r;
	return NULL;
}

struct err *bpf_link_uprobe_multi(int prog_fd, const char *path, const u64 *offsets,
				  const u64 *ref_ctr, const u64 *cookies, u32 n, u32 pid, bool ret,
				  int *fd)
{
	struct sonde_uprobe_multi_attr attr = {
		.prog_fd = (u32)prog_fd,
		.attach_type = SONDE_BPF_TRACE_UPROBE_MULTI,
		.path = ptr_u64(path),
		.offsets = ptr_u64(offsets),
		.ref_ctr_offsets = ptr_u64(ref_ctr),
		.cookies = ptr_u64(cookies),
		.cnt = n,
		.multi_flags = ret ? SONDE_BPF_F_UPROBE_MULTI_RETURN : 0,
		.pid = pid,
	};
	long r = sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
	if (r == -ENOTSUPP_KERNEL) {
		struct err *e = err_new("the kernel cannot probe an instruction of %s", path);
		e->no = ENOTSUPP_KERNEL;
		return e;
	}
	if (r < 0)
		return err_kern((int)-r, "attach to %u places in %s", n, path);
	*fd = (int)r;
	return NULL;
}
