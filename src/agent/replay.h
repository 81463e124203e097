/*
 * replay.h - is a question asked at its time, and for the first time?
 *
 *	e = replay_open(dir, &r);
 *	e = replay_take(r, q, now);    NULL: it is, and is remembered
 *	replay_free(r);
 *
 * Who can read messages of a fleet could send a signed question again, to have it run again. So each is remembered until
 * it has expired, in the file DIR/questions too, which survives the agent and the machine. Before replay_take() a question
 * has been checked in every other way: only what runs is remembered.
 *
 * Clocks may differ by REPLAY_TOLERANCE_NS. The file is "sonde-r" 1 (8 bytes), then for each question its id (16) and
 * not_after_ns (8, little endian).
 */
#pragma once
#include "agent/question.h"

enum { REPLAY_MAX = 65536 }; /* questions that are remembered at a time */
static const u64 REPLAY_TOLERANCE_NS = 5ull * SECOND_NS;

struct replay;

/* dir: it is there, and belongs to this agent alone: another one is refused. wall_ns: of the wall clock. */
struct err *replay_open(const char *dir, u64 wall_ns, struct replay **ret) MUST_USE;
/* An error is the reason why the question is refused, for who asks. */
struct err *replay_take(struct replay *r, const struct question *q, u64 wall_ns) MUST_USE;
/* The part that is about time alone. */
struct err *replay_time(const struct question *q, u64 wall_ns) MUST_USE;
void replay_free(struct replay *r); /* NULL is allowed */
