/*
 * bpf.h - the bpf(2) system call: maps, programs, links, test runs.
 *
 * With kern/perf.h the only door to tracing system calls. Descriptors are
 * plain ints, closed by whoever gets them.
 */
#pragma once
#include "kern/host.h"
#include "kern/uapi.h"
#include <linux/bpf.h>

struct map_spec {
	const char *name; /* cut and cleaned to what the kernel accepts */
	u32 type, key_size, val_size, max_entries, flags;
};
struct err *bpf_map_new(const struct map_spec *s, int *fd);
/* What libbpf reads of maps in a section ".maps" of an object: the i-th lies at i * MAP_DEF_BYTES. */
enum { MAP_DEF_BYTES = 32 };
void bpf_maps_btf(const struct map_spec *maps, u32 n, struct sb *out);
/* A map of maps; inner: one of the kind that it holds. */
struct err *bpf_map_new_outer(const struct map_spec *s, int inner, int *fd);
/* For a map of maps: an array of one element of size bytes, which can be mapped. */
struct err *bpf_map_new_inner(u32 size, int *fd);
/* Raises RLIMIT_MEMLOCK once, on the first EPERM of an old kernel. */

struct line_info {
	u32 insn;
	u32 line, col;   /* from 1 */
	struct str file; /* "stdin" */
	struct str text; /* the source line, without newline */
};
struct func_info {
	u32 insn;
	struct str name;
	u32 narg; /* callbacks: number of u64 parameters; returns long */
	bool is_static;
};
struct prog_spec {
	const char *name, *license;
	u32 type, attach_type, attach_btf_id;
	int attach_btf_fd; /* module BTF, 0: vmlinux */
	u32 flags;
	const struct bpf_insn *insn;
	u32 ninsn;
	const struct func_info *func; /* with lines: becomes the program's BTF */
	u32 nfunc;
	const struct line_info *line;
	u32 nline;
	u32 log_level, log_size;
};
/* Of libbpf: its errors come back as values; nothing below cmd/ prints. */
void bpf_library_init(void);
const char *bpf_library_version(void);

/*
 * On refusal *log (heap, may be NULL) holds the verifier's log, loaded again with a log if need be.
 * With a .log_level it holds the log of a success, too. log NULL: not wanted.
 */
struct err *bpf_prog_new(struct host *h, const struct prog_spec *s, int *fd, char **log);

/* May such a program call the kernel function with this BTF id? */
bool bpf_kfunc_allowed(struct host *h, u32 btf_id, u32 prog_type, u32 attach_type,
		       u32 attach_btf_id);

struct err *bpf_map_get(int fd, const void *key, void *val); /* no == ENOENT: absent */
struct err *bpf_map_put(int fd, const void *key, const void *val);
/* n elements of 4 bytes, by keys of 4 bytes. Where the kernel can, in one call: a map of maps waits once then, not
 * each time, for the programs that run. */
struct err *bpf_map_put_all(int fd, const u32 *keys, const u32 *vals, u32 n);
struct err *bpf_map_seal(int fd); /* user space writes no more */
struct err *bpf_map_del(int fd, const void *key);
/* Next key after prev (NULL: first); false at the end. */
bool bpf_map_next(int fd, const void *prev, void *key);
/*
 * All elements, by BPF_MAP_LOOKUP_BATCH where there is one, else key by key. keys and vals are heap
 * arrays of *n elements; val_size is the size user space sees (per-CPU maps: 8-aligned value times
 * possible CPUs).
 */
struct err *bpf_map_all(int fd, u32 key_size, u32 val_size, u32 max_entries, u8 **keys, u8 **vals,
			u32 *n);
struct err *bpf_map_mmap(int fd, size_t size, void **ret);
/* All of an array of one element that can be mapped: cheaper than to map it and write there, or bpf_map_put(). */
struct err *bpf_map_fill(int fd, const void *from, size_t size);
/* For a map of which only a part is looked at: addresses, and what lies there between two multiples of a page. */
struct err *bpf_map_reserve(size_t size, void **ret);
struct err *bpf_map_mmap_part(int fd, void *reserved, size_t from, size_t to);

/* Run a program once; raw tracepoint programs get ctx (n u64). */
struct err *bpf_prog_run(int fd, const u64 *ctx, u32 n, u32 *retval);
/* The kernel's recursion_misses of a program. */
struct err *bpf_prog_misses(int fd, u64 *misses);
/* How many instructions the verifier walked through; 0: this kernel does not tell. */
u32 bpf_prog_walked(int fd);

/* Nanoseconds and runs of a program since bpf_stats(), which lasts until its descriptor is closed.
 */
struct err *bpf_stats(int *fd);
struct err *bpf_prog_time(int fd, u64 *ns, u64 *runs);
/* What a kprobe link did not see (Linux 6.7); false: the kernel does not tell. */
bool bpf_link_misses(int fd, u64 *misses);

/* Programs in the kernel: the id after that one (0: first); 0 at the end. */
u32 bpf_prog_after(u32 id);
struct err *bpf_prog_by_id(u32 id, int *fd);
/* What the kernel keeps of a program: its name, and what it took while bpf_stats() was on. */
struct bpf_about {
	u32 id;
	char name[17];
	u64 ns, runs;
};
struct err *bpf_prog_about(int fd, struct bpf_about *ret);
/* A program's type and its BTF (heap); an err when it has none. */
struct err *bpf_prog_types(int fd, u32 *prog_type, void **btf, u32 *size);

/* A module's BTF object, for prog_spec.attach_btf_fd. */
struct err *bpf_module_btf(const char *module, int *fd);

/* BPF_LINK_CREATE and BPF_RAW_TRACEPOINT_OPEN. */
struct err *bpf_raw_tp(int prog_fd, const char *name, int *fd); /* name NULL: BPF_TRACE_RAW_TP */
struct err *bpf_link_tracing(int prog_fd, u32 attach_type, u64 cookie, int *fd); /* fentry, fexit */
/* cgroup: the directory that the iterator begins at, "": the first of all; NULL: it is of another
 * kind. */
struct err *bpf_link_iter(int prog_fd, const char *cgroup, int *fd);
/* Give a link a name in a BPF file system, where it outlives us. */
#define BPF_PINS "/sys/fs/bpf/" /* where pins without a directory go */
struct err *bpf_pin(int fd, const char *path) MUST_USE;
struct err *bpf_iter_open(int link_fd, int *fd); /* reading it runs the program */
struct err *bpf_link_perf(int prog_fd, int perf_fd, u64 cookie, int *fd);
struct err *bpf_link_kprobe_multi(int prog_fd, const char *const *syms, const u64 *cookies, u32 n,
				  bool ret, int *fd);
struct err *bpf_link_uprobe_multi(int prog_fd, const char *path, const u64 *offsets,
				  const u64 *ref_ctr, const u64 *cookies, u32 n, u32 pid, bool ret,
				  int *fd);

/*
 * Ring of records from the kernel: rings of our own (kern/rings.h), a BPF ring buffer, or a perf
 * buffer where there is neither. Records may come with a few bytes more than were sent.
 */
struct ring;
struct rings_spec;
typedef void ring_cb(void *arg, const void *data, size_t n);
struct ring_spec {
	int fd;                       /* of the map */
	u32 bytes;                    /* of it */
	bool perf;                    /* it is a perf buffer, else a BPF ring buffer */
	const struct rings_spec *own; /* records are there; the BPF ring buffer only wakes us */
	bool rare;                    /* of a BPF ring buffer only what is read now is mapped */
	ring_cb *cb;
	void *arg;
};
struct err *ring_new(struct host *h, const struct ring_spec *s, struct ring **ret);
int ring_fd(const struct ring *r); /* for epoll */
/* Hand over all that is there now, at most max records (0: no limit). Number of records. */
u64 ring_consume(struct ring *r, u64 max);
/* Records are there that a program has not finished. */
bool ring_wait(const struct ring *r);
void ring_free(struct ring *r);
