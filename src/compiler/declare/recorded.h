/*
 * recorded.h - bodies for recorded events. What a body asks of its event is looked up among the
 * expressions that the recording kept (core/recorded.h), the outermost first, so that
 * str(args.filename) is found before args.filename; what is found becomes a member of args. What
 * cannot be found or computed from what was kept is an error that says how to record it.
 */
#pragma once
#include "lang/compile.h"

/* The kind that a probe text stands for while a script is compiled for a recording: k itself for
 * what sonde runs (begin, interval), else the kind of all recorded probes. *whole is set if that kind
 * reads the whole text. k is NULL for a pattern. */
const struct probe_type *recorded_probe_type(const struct compile *c, const struct probe_type *k,
					     bool *whole);
/* Rows that functions of scripts kept beside the events are of probes of a type of their own, span_begin: no kind has its
 * name. */
bool recorded_has_type(const struct compile *c, struct str type);
/* The command that records rows of such a type, as "span_begin:PROBE". NULL: there is no such function. */
const char *recorded_command(const struct compile *c, struct str text);
/* Report a probe of such a type where there are no such rows. False: there is no such function. */
bool recorded_no_rows(const struct compile *c, struct str text, struct loc loc);
/* The code of a body depends on what its point's recording kept. use: enum point_use. */
bool recorded_differs(const struct node *probe, u32 use);
/* Look up what is asked for in n, a list of statements or expressions, for events of p. */
void recorded_spell(struct compile *c, const struct point *p, struct node *n);
