/*
 * fleet.h - between fleet and fleet-host: what is sent as the question.
 *
 * "NBYTES START\n", then so many bytes (base/pack.h): the text of the script, or an empty one; which word names it, or 0; and
 * the words of the command line that the host runs. START is by the host's wall clock, in nanoseconds; 0: at once.
 */
#pragma once
#include "base/base.h"

enum { FLEET_MAX_QUESTION = 16 << 20, FLEET_MAX_WORDS = 4096 };
/* Of whom agents and askers start: tells them that it is ready, and its time; then the head of the question comes. */
bool fleet_greet(const char *token, u32 *bytes, u64 *start);
