/* save.h - what a front has, as a file: readings as CSV or JSON, the screen as SVG. */
#pragma once
#include "base/err.h"
#include "live/model.h"

struct front;
struct pane;
struct grid;
/*
 * By the ending of the name: ".csv" or ".pb" of a pane, ".json" or ".sonde" of all, ".svg" what is drawn in g. An err if it has
 * another.
 */
struct err *save_text(struct front *f, const struct pane *p, const struct grid *g, struct str name,
		      struct sb *out) MUST_USE;
/* record.c: all readings as a recording. */
struct err *save_recording(const struct live_model *m, struct sb *out) MUST_USE;
/* pprof.c: the stacks of a table, as looked at. */
void save_pprof(const struct live_model *m, const struct live_table *t,
		const struct live_look *look, struct sb *out);
