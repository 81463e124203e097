/*
 * control.h - how a run ends, and with which exit status.
 *
 * Everything that can end a run writes here: exit() in the script, --budget, output that cannot be
 * written, a signal. The loop reads it between two batches of records. One control belongs to one
 * run; whoever makes the run owns it.
 */
#pragma once
#include "base/signals.h"

enum run_stage {
	STAGE_EVENTS,
	STAGE_ITERATE, /* iterators are read */
	STAGE_FINISH,  /* nothing is attached any more, and end programs run */
};

struct control {
	bool stop;               /* the loop ends */
	int exit_code;           /* of the script: 0 to 255 */
	enum run_stage stage;    /* STAGE_EVENTS until the loop has ended */
	struct signals *signals; /* received by the process; owned by the loop; NULL if none are */
};

/* The loop ends before the next batch of records. May be called more than once. */
static inline void control_stop(struct control *c)
{
	c->stop = true;
}
/*
 * The signals that an action of the script may not outlast. NULL if it may: it belongs to the end of
 * a run that a signal has ended, or there are no signals.
 */
struct signals *control_signals(const struct control *c);
