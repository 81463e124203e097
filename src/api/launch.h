/*
 * launch.h - from a script to a session that has attached: compile, load, attach. If the kernel refuses a
 * program or its probe, all is done once more with the next attach method, and after the last with
 * plainer code.
 *
 *	struct launch l = {.script = &s, .compile = ..., .host = &h, .target = &t, ...};
 *	if (launch_start(&l) == LAUNCHED) {
 *		session_loop(&l.session);
 *		rc = session_finish(&l.session);
 *	}
 *	launch_free(&l);
 *
 * The caller sets the first group of members and owns what they point to. If the script was compiled
 * before, by launch_compile(), or .compiled was set, launch_start() begins with .job.
 */
#pragma once
#include "api/job.h"
#include "run/session.h"

struct launch;

/* What the caller does on the way. Each may be NULL; arg is the launch's .arg. */
struct launch_hooks {
	/* Before a compilation: what else the unit and the compiler are told. */
	void (*prepare)(struct launch *l);
	/* After a compilation without errors. False ends the launch (LAUNCH_ENDED). */
	bool (*compiled)(struct launch *l);
	/* Messages about the script are complete: of an attempt that is the last, or was loaded. */
	void (*report)(struct launch *l);
	/* The programs are loaded. False ends the launch (LAUNCH_ENDED). */
	bool (*loaded)(struct launch *l);
	/* Open the output. Called once per attempt, as is close() for what was opened, unless the attempt is
	 * LAUNCHED: then the output is the caller's to close. */
	struct err *(*open)(struct launch *l, const struct sink **sink, void **self);
	void (*close)(struct launch *l);
};

enum launched {
	LAUNCHED,       /* everything is attached: the session can run */
	LAUNCH_ENDED,   /* by a hook */
	LAUNCH_WRONG,   /* the script has errors: job.diags */
	LAUNCH_REFUSED, /* the kernel refused a program: job.diags or error; nothing was attached */
	LAUNCH_NO_FORM, /* the same, of a unit that cannot be compiled in another form */
	LAUNCH_NO_OUTPUT, /* open() failed: error */
	LAUNCH_FAILED,    /* it could not be attached; the reason went to the output */
};

struct launch {
	const struct script *script; /* NULL if job was made from a compiled unit */
	struct compile_spec compile;
	const struct target_spec *spec;
	struct host *host;
	struct target *target;
	struct limits limits;
	struct run_start start; /* of a tool */
	struct log log;
	bool dry_run;
	const struct launch_hooks *hooks;
	void *arg;
	struct watch watch; /* of compilations */

	struct scope scope; /* by launch_scope() */
	struct job job;     /* of the last attempt */
	bool compiled;      /* job is waiting for launch_start() */
	struct session session;
	refusals refused;
	bool reported;     /* messages of an attempt that was loaded */
	struct err *error; /* for LAUNCH_REFUSED and LAUNCH_NO_OUTPUT; or NULL */
};

/* Which processes are traced, by .spec. Before the first compilation; not for compiled units. */
struct err *launch_scope(struct launch *l) MUST_USE;
/* One attempt's compilation, into .job. False: job.diags has the errors. */
bool launch_compile(struct launch *l);
enum launched launch_start(struct launch *l);
void launch_free(struct launch *l); /* whatever was done; also the session */
