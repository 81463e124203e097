/* cost.h - what a run took of the machine: told at its end (--cost), limited while it runs (--budget). */
#pragma once
#include "base/str.h"

/* What a run may do to the whole process that it is in; bits. */
enum {
	ACT_SIGNALS = 1 << 0, /* receive SIGINT, SIGTERM and the like, as the wish to end */
	ACT_CONFINE =
		1 << 1, /* give up capabilities and system calls that the script does not need */
	ACT_PRIORITY = 1 << 2, /* ask for a higher priority */
	ACT_ALL = (1 << 3) - 1,
};

/* What the caller allows a run; zeros: as much as it takes. */
struct limits {
	u64 at_ns;       /* wall clock: nothing is attached before; 0: at once */
	u64 for_ns;      /* by the wall, from when all is attached */
	u64 budget;      /* millionths of the machine's processor time */
	u32 acts;        /* of the bits above */
	bool cost;       /* say at the end what it took */
	bool as_invoker; /* ... with the rights of who called sudo */
	bool parts;      /* files are made while it runs; SIGUSR2 asks for one */
	bool renames;    /* the output is a file that is renamed when it is done */
};

/* The programs of one probe, by the kernel's own clock. */
struct cost_row {
	struct str probe;
	u64 runs, ns;
};
struct cost {
	u64 attached_ns;            /* wall clock: when all was attached */
	u64 traced_ns;              /* by the wall, since the first program could run */
	u64 start_ns, own_ns;       /* processor time of sonde itself: before that, and since */
	u64 programs_ns;            /* of all rows */
	bool measured;              /* the kernel measured them */
	u32 ncpu;                   /* on line */
	const struct cost_row *row; /* those that ran, the dearest first */
	u32 n;
};
/* Parts of a million of the time of all processors. */
static inline u64 cost_share(u64 ns, u64 wall_ns, u32 ncpu)
{
	u64 all_us = wall_ns / 1000 * ncpu;
	return all_us ? ns * 1000 / all_us : 0;
}
