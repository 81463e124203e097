/*
 * engine.h - where the maps and programs of a unit are: what makes them, and what reads them.
 *
 * engine_kernel (run/engine_kernel.c) is this machine's kernel; engine_vm (run/engine_vm.c) is the
 * interpreter, for recorded events. run/load.c makes maps and programs
 * through an engine, and the reader of maps (run/here.c) asks it for elements. Parts of run/ that only
 * a kernel can have (links, unwinding, --follow, --cost) use kern/ with the descriptors of
 * engine_kernel.
 *
 * An engine names each map and each program by a number from 0 on; in the kernel it is a descriptor.
 * Every callback receives live.self, the state of the engine. None may be NULL. Errors have the errno
 * of bpf(2) in err.no.
 */
#pragma once
#include "ir/ir.h"
#include "kern/bpf.h"

/* A map that an engine made. */
struct live_map {
	int fd;    /* -1 if it was not made: nothing needs it, or it is a part of another map */
	void *mem; /* its values, if user space reads and writes them in memory; else NULL */
};
/* Elements of a map: heap, which the caller frees. */
struct elements {
	u8 *keys, *vals; /* n of each, without gaps */
	u32 n;
};
/* Sizes of what map_all() returns. val_size is that of a value with the copies of all CPUs. */
struct map_shape {
	u32 key_size, val_size, max_entries;
};
struct engine_prog {
	struct prog_spec spec; /* without instructions: those are in .code */
	const struct code *code;
	const struct live_map *map; /* by the numbers of maps in .code */
	u32 nmap;
};

struct engine {
	/* ---- maps ---- */
	/* inner_size is the number of bytes of an element, if s is a map of maps of one element; else
	 * 0. */
	struct err *(*map_new)(void *self, const struct map_spec *s, u32 inner_size, int *ret);
	/* The first size bytes of an array's values. */
	struct err *(*map_mem)(void *self, int map, size_t size, void **ret);
	struct err *(*map_get)(void *self, int map, const void *key, void *val);
	struct err *(*map_put)(void *self, int map, const void *key, const void *val);
	struct err *(*map_delete)(void *self, int map, const void *key);
	struct err *(*map_all)(void *self, int map, const struct map_shape *s,
			       struct elements *ret);
	struct err *(*map_seal)(void *self, int map); /* no map_put() after this */
	/* size is that of .mem, or 0 if .mem belongs to another map. A map that was not made is
	 * allowed. */
	void (*map_free)(void *self, struct live_map *m, size_t size);

	/* ---- programs ---- */
	/* If what the program does is refused, *log says why (heap); it stays NULL after other
	 * errors. */
	struct err *(*prog_load)(void *self, const struct engine_prog *p, int *ret, char **log);
	/* Run a program once, with n words of context. */
	struct err *(*prog_run)(void *self, int prog, const u64 *ctx, u32 n, u32 *retval);
	void (*prog_free)(void *self, int prog); /* -1 is allowed */

	/* ---- records: as ring_new() and the following calls in kern/bpf.h ---- */
	struct err *(*ring_new)(void *self, const struct ring_spec *s, struct ring **ret);
	int (*ring_fd)(const struct ring *r);
	u64 (*ring_consume)(struct ring *r, u64 max);
	bool (*ring_wait)(const struct ring *r);
	void (*ring_free)(struct ring *r); /* NULL is allowed */
};
