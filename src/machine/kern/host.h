/*
 * host.h - what we know about the machine being traced.
 *
 * Passed down, never global. Every file under /sys and /proc is read through
 * .root, so a test can compile against a recorded machine without root (then
 * .recorded is set, nothing is tried, and features come from .root/features),
 * and fleet mode against a remote one. Everything is found out on first use.
 */
#pragma once
#include "arch/arch.h"
#include "base/tab.h"
#include "kern/root.h"
#include "types/btf.h"

/* The kernel's own types; those of its modules lie beside them. */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

enum feature {
#define F(id, what, probe) FEAT_##id,
#include "kern/feature.def"
};
enum {
	FEAT_COUNT =
#define F(id, what, probe) +1
#include "kern/feature.def"
};

/* Debug information of a program, opened once. */
struct debug_file {
	const char *path, *wrong; /* wrong: it could not be opened */
	struct debug_ask *debug;
	void (*close)(struct debug_ask *debug);
	struct debug_file *next;
};
struct recorded; /* core/recorded.h */
struct query;    /* run/query.h */
struct host {
	const char *root; /* "" for this machine */
	bool recorded;
	bool no_children; /* this process must not fork: what needs that is done without, or refused */
	/* The environment, as getenv(). NULL if it must not be asked: see host_env(). */
	char *(*env)(const char *name);
	const struct recorded *recording; /* scripts are compiled for this one; or NULL */
	struct query *query;              /* of its files: run/query.h */
	struct arena *arena;
	const struct arch *arch; /* a recorded machine's is named in .root/arch */
	u64 signed_bits;         /* that return addresses of programs may have beside the address */
	struct types *btf;       /* NULL until host_btf() */
	bool btf_tried;
	/* The kernel as an ELF file, for the sizes of its functions; or NULL. */
	const char *vmlinux;
	const char *btf_file;   /* not the running kernel's own; NULL: that one */
	u8 feature[FEAT_COUNT]; /* 0 not probed yet, 1 no, 2 yes */
	bool usual_tried;       /* those that most scripts ask for, in one program */
	u32 ncpu;               /* possible CPUs */
	u64 memory;             /* host_memory(); 0: not asked yet */
	u32 page_size;
	const char *tracefs;      /* path below root, NULL until host_tracefs() */
	struct tab *traceable;    /* host_use_functions(); NULL: the kernel's own list */
	const char *debug_dirs;   /* searched first for separate debug files, "DIR:DIR"; or NULL */
	struct debug_file *debug; /* debug_ask_of() */
	struct str kallsyms;      /* once somebody has read it */
	struct str functions;     /* the same of available_filter_functions */
	struct ranges *ranges;    /* tracefs_ranges() */
	struct retprobes *retprobes;     /* kern/link.h; NULL: none were opened */
	struct module *modules;          /* host_module_btf() */
	struct disk *disks;              /* proc_disk_name() */
	struct known_group *groups;      /* cgroup_container_of() */
	struct old_file *old_files;      /* proc_old_file() */
	struct old_runners *old_runners; /* proc_count_old() */
	struct sandbox *sandbox;         /* rights/sandbox.h; NULL: no file was read yet */
	struct file_syms *file_syms;     /* elf_syms_of(); the one read last comes first */
	void (*end[6])(struct host *h);  /* host_at_end() */
	u32 nend;
};

/* A variable of the environment; NULL if it is not set, or if the environment must not be asked. */
static inline const char *host_env(const struct host *h, const char *name)
{
	return h->env ? h->env(name) : NULL;
}
/* Cheap: reads nothing but the number of CPUs. */
void host_init(struct host *h, struct arena *a, const char *root);
/*
 * The machine of a recording, which had ncpu CPUs, for programs that src/vm runs: it has what the
 * interpreter can do, and no files. r stays the caller's.
 */
void host_init_recording(struct host *h, struct arena *a, const struct arch *arch, u32 ncpu,
			 const struct recorded *r);
void host_deinit(struct host *h);
/* Has host_deinit() call fn, those that were added last first: for a part that keeps something of this host which has
 * to be given back. One that was added before is not added again. */
void host_at_end(struct host *h, void (*fn)(struct host *h));
bool host_has(struct host *h, enum feature f); /* asks the kernel once, by trying */
/* This kernel has filters of system calls (seccomp), whatever --no-feature says. */
bool host_has_seccomp(void);
const char *feature_name(enum feature f); /* "RINGBUF", for --no-feature and info */
/* After host_has() said no, behind a comma: "which this kernel lacks", or what it takes to try. */
const char *feature_lacks(struct host *h, enum feature f);
bool feature_is_file(enum feature f);     /* everybody may look for it */
const char *feature_what(enum feature f); /* "the BPF ring buffer (Linux 5.8)" */
/* --no-feature: pretend that one is missing; false: no such name (case-insensitive). */
bool host_disable(struct host *h, struct str name);
/* Types from a file instead; programs that name types by number are not possible then. */
struct err *host_use_btf(struct host *h, const char *path) MUST_USE;
/* A list of kernel functions in place of the kernel's own; others are not there. */
struct err *host_use_functions(struct host *h, const char *path) MUST_USE;
bool host_traceable(const struct host *h, struct str func); /* by such a list, if there is one */
struct types *host_btf(struct host *h);                     /* NULL: this kernel has none */
/* Where a task has the word that says whether it makes a call of a 32-bit program (arch_calls.compat_bits). */
bool host_compat_word(struct host *h, u32 *off);
/* A module's types, read once; its name is that of its file in /sys/kernel/btf. */
struct err *host_module_btf(struct host *h, struct str module, struct types **ret) MUST_USE;
/* Modules that have types there; cb false: stop. */
typedef bool module_cb(struct str module, void *arg);
void host_modules(struct host *h, module_cb *cb, void *arg);
/* The first that a module defines: what the kernel itself at most declares. NULL: none does. */
const struct type *host_module_type(struct host *h, struct str name, enum type_kind kind);
/* Why host_module_btf() cannot be asked: no such module, or its types are not told. */
enum module_types { MODULE_TYPED, MODULE_UNTYPED, MODULE_NONE };
enum module_types host_module_types(struct host *h, struct str module);
/* /sys/kernel/tracing or /sys/kernel/debug/tracing; mounts tracefs when nothing is mounted and we
 * may. */
struct err *host_tracefs(struct host *h, const char **ret);
/* Bytes that our control group may have, read once: the least limit of it and those above it. */
#define NO_MEMORY_LIMIT (~0ull)
u64 host_memory(struct host *h);
/* err_sys(), and after EPERM or EACCES what is missing: capabilities, lockdown,
 * perf_event_paranoid. */
/* Of system calls; files have err_file() in kern/caps.h. */
struct err *err_kern(int no, const char *fmt, ...) PRINTF(2, 3) MUST_USE;
