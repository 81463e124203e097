/*
 * servedprofile.h - maps of a script that count stacks, as profiles: what was counted since the last one.
 *
 * Whoever gets a profile adds it to those before, so only the difference of two readings is in it. What came since the
 * script began is not in the first one if it was read before.
 */
#pragma once
#include "base/str.h"

struct served;
struct profile_state;

struct profile_state *profile_state_new(void);
void profile_state_free(struct profile_state *p);
/*
 * A gzipped profile of pprof since the last call; empty if nothing was counted, or no map of the script counts stacks.
 * since_ns: the wall clock at that call. *points: stacks in it.
 */
struct err *served_profile(struct served *s, struct profile_state *p, u64 since_ns, struct sb *out,
			   u32 *points) MUST_USE;
