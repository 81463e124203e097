/*
 * unit.h - one compiled script: all that the compiler tells the runtime.
 *
 * No tree, no IR, no pass: the same struct can come from the compiler, from a
 * recording, or over the wire.
 */
#pragma once
#include "core/config.h"
#include "core/provider.h"
#include "core/record.h"
#include "core/scope.h"
#include "core/unwind.h"

enum map_role {
	MAP_USER,    /* @x of the script */
	MAP_RING,    /* records */
	MAP_SCRATCH, /* per CPU and nesting level: see lower/frame.c */
	MAP_STATS,   /* loss counters: struct below */
	MAP_AUX,     /* the compiler's own (zero page, tables): .init says what is in it */
};

struct map {
	struct str name; /* "@x"; "@" */
	enum map_role role;
	u32 index; /* in unit.map, what R_MAP means */
	u32 map_type, key_size, val_size, max_entries, flags;
	u32 inner_size; /* a map of maps: bytes in each, an array of one element; else 0 */
	struct map *
		keys; /* keys are too large for this kernel: the map's own are 16-byte hashes of
			 them, and this one holds what they stand for; NULL: keys are as they are */
	struct map *table; /* core/table.h; the map itself takes what does not fit; or NULL */
	struct map *cells; /* core/cell.h; likewise */
	void *mem;         /* a table's memory, mapped by the runtime */
	bool cleared;      /* ... clear() is used on it */
	bool poked; /* the compiler's note: elements are looked up or deleted in the kernel */
	bool odd;   /* ... in other ways than by storing, reading and deleting single values */
	const struct type *key; /* of user maps; NULL: scalar */
	const struct type *val; /* as stored: ints are 8 bytes */
	const struct type
		*shown; /* as printed and typed in the script: val before it was widened */
	bool percpu;
	bool scalar; /* no key: one element at index 0 of an array */
	u32 present; /* scalar: offset of the u64 that says "was stored" */
	u32 stride;  /* scalar, per CPU: the copies lie so far apart in the one element of an array
			that user space maps; 0: the kernel's per-CPU array */
	bool declared;              /* let @x = hash(10) */
	bool frozen;                /* MAP_AUX: constants, as the verifier may take them */
	bool keyed, assigned, read; /* notes of the compiler: used with a key, stored to, value read
				       in the kernel */
	struct loc loc;
	const void *init; /* MAP_AUX: contents of element 0, val_size bytes */
	int fd;           /* -1 until loaded */
};

/* Words of the MAP_STATS value (one element, shared, atomic adds); u64 each. */
enum stat_word {
	STAT_LOST = 0, /* + prog index: records that did not fit the ring */
	STAT_WORDS_PER_PROG = 4,
	STAT_TRUNC = 1, /* strings cut */
	STAT_FAULT = 2, /* failed reads (counted with -k) */
	STAT_NEST =
		3, /* runs given up because the scratch memory of all nesting levels was in use */
};
/* Word w of program p is at STAT_WORDS_PER_PROG * p + w; behind the programs one word per map:
 * refused updates (index map.index; only the first STAT_MAPS maps, the rest share the last word).
 */
enum { STAT_MAPS = 256 };
static inline u32 stat_map_word(u32 nprog, u32 map)
{
	return STAT_WORDS_PER_PROG * nprog + MIN(map, STAT_MAPS - 1u);
}
/* The last word: records so far, roughly (no atomic adds); only programs look at it. */
static inline u32 stat_record_word(u32 nprog)
{
	return stat_map_word(nprog, STAT_MAPS - 1) + 1;
}

struct prog {
	struct point *points; /* all share one program */
	const struct provider *provider;
	struct str name; /* for the kernel: "tracepoint_sched_switch_1" */
	enum prog_phase phase;
	u32 index; /* in unit.prog */
	u32 attach_btf_id;
	struct code code;
	struct loc loc;
	int fd;                     /* -1 until loaded */
	u32 unattached;             /* points of a wildcard that attach() had to leave out */
	struct err *unattached_why; /* of the first */
	const struct point *failed; /* that attach() speaks of; NULL: the only one, or all */
};

struct unit {
	struct arena *arena;
	struct diags *diags;
	struct host *host;
	struct config config;
	struct map **map;       /* by index */
	struct schema **schema; /* by id */
	struct prog **prog;
	struct map *zeros; /* one element of zeros, what new elements of other maps are copied from;
			      or NULL */
	struct map *names; /* probe_name as text for programs; NULL: not needed */
	struct str *probe_name; /* by point.id: what "probe" shows */
	u32 nprobe;
	const char **strings; /* by string id: formats of strftime, filters */
	u32 nmap, nschema, nprog, nstring;
	struct map *ring, *scratch, *stats; /* NULL: the script needs none */
	struct map *turns, *wake; /* kern/rings.h: the counter; a BPF ring buffer that only wakes.
				     NULL: records go through one, or through perf buffers */
	u32 ring_size;            /* bytes of one of the rings */
	struct map *start;   /* one u64: monotonic time when tracing started; the runtime stores it.
				NULL: not needed */
	struct map *stop;    /* one u64: not 0 when programs are to do nothing any more, because
				detaching goes on behind the session. NULL: not needed */
	struct scope scope;  /* which processes are traced */
	int pid;             /* the first whose files and libraries are meant; 0: none */
	u64 cpid;            /* -c child, 0: none */
	const char *program; /* that it will run; NULL: none */
	const int *dwarf_pid; /* --dwarf-pid: unwound by dw_ustack, too */
	u32 ndwarf_pid;
	struct unwind *unwind; /* dw_ustack is used; or NULL */
	const char *skipped; /* the option that would have run probes which are left out, or NULL */
};
