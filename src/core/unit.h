/*
 * unit.h - one compiled script: all that the compiler tells the runtime.
 *
 * It is data: no tree, no IR, no descriptor, no machine, no messages. unitfile.h writes it and
 * reads it back, so the same struct can come from the compiler, from a file, or over the wire. It
 * lies in the arena that the compiler or unit_read() was given, and what kinds find of points in the
 * host's: both outlive it.
 */
#pragma once
#include "core/config.h"
#include "core/probe.h"
#include "core/record.h"
#include "core/scope.h"
#include "core/unwind.h"

struct columns;
struct store;

enum map_role {
	MAP_USER,    /* @x of the script */
	MAP_RING,    /* records */
	MAP_SCRATCH, /* per CPU and nesting level: lower_scratch() */
	MAP_STATS,   /* loss counters: struct below */
	MAP_AUX,     /* the compiler's own (zero page, tables): .init says what is in it */
};

struct map {
	struct str name; /* "@x"; "@" */
	enum map_role role;
	u32 index; /* in unit.map, what R_MAP means */
	u32 map_type, key_size, val_size, max_entries, flags;
	u32 inner_size; /* a map of maps: bytes in each, an array of one element; else 0 */
	/* Keys are too large for this kernel: the map's own are 16-byte hashes of them, and this one
	 * holds what they stand for. NULL: keys are as they are. */
	struct map *keys;
	/* An array of one element that has no map of its own: it lies in the one element of this one,
	 * which user space maps, from byte at on. NULL: it has. */
	struct map *in;
	u32 at;
	const struct store *store; /* how it is kept, of user maps: core/store.h */
	struct map *own;           /* memory that the store has beside; or NULL */
	bool adds;                 /* programs do nothing but add to it */
	bool cleared;              /* clear() is used on it */
	bool counter;              /* plain integers, changed only by ++ -- += -= */
	bool zeroed;               /* zero() is used on it */
	const struct type *key;    /* of user maps; NULL: scalar */
	const struct type *val;    /* as stored: ints are 8 bytes */
	/* As printed and typed in the script: val before it was widened. */
	const struct type *shown;
	bool percpu;   /* of each value there is a copy for each CPU */
	bool scalar;   /* no key: one element */
	bool declared; /* let @x = hash(10): no setting changes the limit */
	bool frozen;   /* MAP_AUX: constants, as the verifier may take them */
	struct loc loc;
	const void *init; /* MAP_AUX: contents of element 0, val_size bytes */
};

/* Words of the MAP_STATS value (one element, shared, atomic adds); u64 each. */
enum stat_word {
	STAT_LOST = 0, /* + prog index: records that did not fit the ring */
	STAT_WORDS_PER_PROG = 6,
	STAT_TRUNC = 1, /* strings cut */
	STAT_FAULT = 2, /* failed reads (of NULL: with -k) */
	STAT_NEST =
		3, /* runs given up because the scratch memory of all nesting levels was in use */
	STAT_JOINED = 4,  /* strings cut that were put together of others */
	STAT_FOREIGN = 5, /* events that the method sees and leaves out: which.foreign */
};
/* Word w of program p is at STAT_WORDS_PER_PROG * p + w; behind the programs three words per map
 * (index map.index; only the first STAT_MAPS maps, the rest share the last one's).
 */
enum { STAT_MAPS = 256 };
enum stat_map_word {
	STAT_MAP_REFUSED, /* updates refused */
	STAT_MAP_OTHER,   /* ... for other reasons than that there was no room; counted before */
	STAT_MAP_ERROR,   /* the latest of these, as stat_error() says */
	STAT_WORDS_PER_MAP,
};
/* An error number as programs have it: the kernel's are negative, none is above 4095, and those of
 * which only the lower half is told (before Linux 6.4) are like the others then. */
enum { STAT_ERROR_MASK = 0xfff };
static inline u32 stat_error(int no)
{
	return (u32)-no & STAT_ERROR_MASK;
}
static inline u32 stat_map_word(u32 nprog, u32 map)
{
	return STAT_WORDS_PER_PROG * nprog + STAT_WORDS_PER_MAP * MIN(map, STAT_MAPS - 1u);
}
/* The last word: records so far, roughly (no atomic adds); only programs look at it. */
static inline u32 stat_record_word(u32 nprog)
{
	return stat_map_word(nprog, STAT_MAPS - 1) + STAT_WORDS_PER_MAP;
}

struct prog {
	struct point *points; /* all share one program, kind and method */
	struct str name;      /* for the kernel: "tracepoint_sched_switch_1" */
	enum prog_phase phase;
	bool sleeps; /* loaded as one that may wait for pages of user memory */
	u32 index;   /* in unit.prog */
	u32 attach_btf_id;
	struct code code;
	struct loc loc;
};

struct unit {
	struct config config;
	struct refused refused; /* by the kernel, so far */
	struct map **map;       /* by index */
	struct schema **schema; /* by id */
	struct prog **prog;
	struct map *zeros; /* one element of zeros, what new elements of other maps are copied from;
			      or NULL */
	struct map *names; /* probe_name as text for programs; NULL: not needed */
	struct str *probe_name; /* by point.id: what "probe" shows */
	u32 nprobe;
	struct columns **columns; /* the script's tables */
	u32 ncolumns;
	const char **strings; /* by string id: formats of strftime, filters */
	u32 nmap, nschema, nprog, nstring;
	struct map *ring, *scratch, *stats; /* NULL: the script needs none */
	struct map *turns, *wake; /* kern/rings.h: the counter; a BPF ring buffer that only wakes.
				     NULL: records go through one, or through perf buffers */
	u32 ring_size;            /* bytes of one of the rings */
	struct map *shares;  /* what each program has used of them; NULL: one makes all records */
	struct map *start;   /* one u64: monotonic time when tracing started; the runtime stores it.
				NULL: not needed */
	struct map *stop;    /* one u64: not 0 when programs are to do nothing any more, because
				detaching goes on behind the session. NULL: not needed */
	struct scope scope;  /* which processes are traced */
	int pid;             /* the first whose files and libraries are meant; 0: none */
	u64 cpid;            /* -c child, 0: none */
	bool snapshots;      /* snapshot() is called */
	u64 self_pid;        /* the tracer's own process, 0: not known as programs see it */
	const char *program; /* that it will run; NULL: none */
	const int *dwarf_pid; /* --dwarf-pid: unwound by dw_ustack, too */
	u32 ndwarf_pid;
	struct unwind *unwind; /* dw_ustack is used; or NULL */
	const char *boot; /* of the machine whose addresses of kernel symbols stand in programs, as
			     host_boot() tells; NULL: none do */
	const char *skipped; /* the option that would have run probes which are left out, or NULL */
};
