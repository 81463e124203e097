/*
 * watch.h - somebody who looks at a run while it goes on, such as a screen.
 *
 * The run calls the watcher: look() often, and for each reading of the maps begin(), map() for each map of
 * the script that was made, then end(). A reading changes nothing: print() and clear() of the script go
 * on to mean what they mean.
 */
#pragma once
#include "core/sink.h"

struct map;

/* What a reading has beside the maps. Times and numbers are since the run began; over a recording, times are those
 * that were recorded. */
struct watch_reading {
	u64 ns, wall_ns; /* when it was made: monotonic, and wall clock */
	u64 start_ns;    /* when the run began, monotonic */
	u64 own_ns;      /* processor time of sonde itself */
	u64 programs_ns; /* of the programs in the kernel; WATCH_UNKNOWN if it is not measured */
	u32 ncpu; /* on line; 0 if it is not measured what the run takes, as over a recording */
};
#define WATCH_UNKNOWN  UINT64_MAX
#define WATCH_PROGRAMS "bpf" /* the name of the map of all BPF programs, in nanoseconds */

struct watcher {
	void *self;
	int fd;        /* look() is called as soon as it is readable; -1 if there is none */
	u64 every_ns;  /* between two readings; may be changed at any time */
	u64 slowed_ns; /* what it is instead, as readings take long; set by the run; 0: it is that */
	u32 nfailed;   /* maps that could not be read, so far */
	/* Read the times of all BPF programs of this machine, too, as a map without a type. May be
	 * changed at any time, but needs_programs says at the beginning whether it ever will be. */
	bool reads_programs, needs_programs;
	/*
	 * These three are NULL, or none is. ignores: the map is never to be read. wants: somebody looks
	 * at it; programs all of whose maps are ignored or not wanted are detached until one is.
	 * traced: that has happened to programs of this map, or they are attached again.
	 */
	bool (*ignores)(void *self, const struct map *m);
	bool (*wants)(void *self, const struct map *m);
	void (*traced)(void *self, const struct map *m, bool on);
	/* Between two batches of records, at least every TICK_MS. False ends the run. */
	bool (*look)(void *self);
	void (*begin)(void *self, const struct watch_reading *t);
	/* An I_MAP, whose rows are in no order. clearing: it is about to be cleared, and this reading is no part
	 * of one that began. Values to which scripts only add are as if clear() had not been called, where
	 * that is known. */
	void (*map)(void *self, const struct map *m, const struct item *it, bool clearing);
	void (*end)(void *self);
};
