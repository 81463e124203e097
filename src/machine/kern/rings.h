/*
 * rings.h - records in rings of our own: one per CPU, in an array that user space maps.
 *
 * An element of the array, the ring of one CPU:
 *
 *	0	u64 made	end of what programs have claimed; they move it by exchange
 *	64	u64 taken	end of what the reader is done with
 *	128	data		size bytes, a power of two, and room for the longest record
 *
 * Positions only grow. A record begins with a word that is stored last, turn << 20 | length / 8; it
 * is as long as that says and lies in one piece, if need be past the end of the data. The reader
 * leaves zeros behind, so a claimed record that is not finished has the word 0.
 *
 * A turn is drawn after the room was claimed, from a counter that all CPUs share. So when it stands
 * at n, all records with turns below n are claimed already, and the reader merges them by turn. A
 * program that was interrupted between claim and turn by one that claimed, too, gives turn 0: its
 * record goes just before the next of the same ring.
 *
 * The word's store must overtake none of the record's: lower_release().
 */
#pragma once
#include "kern/bpf.h"

enum {
	RINGS_MADE = 0,
	RINGS_TAKEN = 64,
	RINGS_DATA = 128,
	RINGS_WORD = 8, /* what a record has in front of it */
	RINGS_TURN = 20,
	RINGS_LONGEST = 8 << RINGS_TURN, /* a record is shorter */
	RINGS_FIRST_TURN = 1,
	/* In the counter's map: the counter; bytes of a ring that each program has for itself. */
	RINGS_TURNS = 0,
	RINGS_SHARE = 8,
};

struct rings_spec {
	u8 *mem; /* of the array; NULL: no such rings */
	u64 size;
	const u64 *turns; /* the counter */
	u32 n, stride;
};
struct rings;
struct rings *rings_new(const struct rings_spec *s);
/* In the order of turns, up to max records (0: no limit). Number of records. */
u64 rings_consume(struct rings *r, u64 max, ring_cb *cb, void *arg);
/* The last rings_consume() ended at a record that was not finished. */
bool rings_wait(const struct rings *r);
void rings_free(struct rings *r);
