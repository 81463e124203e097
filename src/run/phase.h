/*
 * phase.h - programs that sonde runs itself: those of begin, end, signals, iterators, tests and
 * benchmarks.
 */
#pragma once
#include "core/unit.h"

struct session;

/* Run the programs of a phase, once per point, in the order of the script. False if one could not be
 * run; that was reported. */
bool phase_run(struct session *s, enum prog_phase phase);
bool phase_any(const struct session *s, enum prog_phase phase);
void phase_iterate(struct session *s); /* read all iterators to their ends */
bool phase_pin(struct session *s);     /* false if it failed, and that was reported */
void phase_test(struct session *s);    /* sets the exit code: 1 if a test failed */
void phase_bench(struct session *s);
