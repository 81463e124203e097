/*
 * attach.h - attach programs to their points, and detach them.
 *
 * The links belong to the session (live.h). A program that cannot be attached with its attach method
 * is session.attach.refused; the caller compiles once more with the next one.
 */
#pragma once
#include "core/unit.h"

struct session;

enum attached {
	ATTACHED,
	ATTACH_FAILED,    /* the message was reported */
	ATTACH_OTHERWISE, /* nothing was reported: see session_start() */
};

enum attached attach_all(struct session *s);  /* except for points that wait for the child */
enum attached attach_late(struct session *s); /* those points: their addresses are known now */
bool attach_waits(const struct unit *u);      /* there are such points */
u32 attach_count(const struct session *s);    /* points, for "Attached N probes" */
/* Of one program, while the run goes on: detach; attach again (ATTACH_FAILED: the message was reported). */
void attach_off(struct session *s, const struct prog *p);
enum attached attach_again(struct session *s, const struct prog *p);
void attach_stop(struct session *s); /* detach: no event comes after this */
void attach_undo(struct session *s); /* free everything, whatever was attached */
