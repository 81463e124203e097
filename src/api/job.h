/*
 * job.h - one script, compiled for one machine.
 *
 *	machine_open(&spec, &arena, &host, &what);
 *	job_init(&j, &compile_spec, &script, &host);
 *	compile_script(&j.c, STAGE_ALL, NULL);      messages are in j.diags, the result in j.unit
 *	job_free(&j);
 *
 * A job is one attempt: to compile once more, make a new one.
 */
#pragma once
#include "api/compile.h"
#include "api/options.h"
#include "core/cost.h"

/* The text and what is given to it. Belongs to the caller, and outlives the job. */
struct script {
	struct source source;
	u32 fixed; /* so many bytes of the text are a tool's own; 0 if it is the user's script */
	struct str *params;
	u32 nparam;
	struct script_opt *opts;
	u32 nopt;
	u64 duration_ns;  /* see struct compile */
	struct str match; /* see struct config */
	u64 events;       /* the same */
	struct str fields, sort;
	u32 rows;
	bool utc;
	u32 clock;
	struct str percentiles;
	struct run_start start; /* of a tool */
};

struct job {
	struct arena arena; /* the unit's */
	struct diags diags;
	struct unit unit;
	struct compile c;
};

void job_init(struct job *j, const struct compile_spec *spec, const struct script *s,
	      struct host *h);
void job_free(struct job *j);
