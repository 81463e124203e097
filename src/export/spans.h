/*
 * spans.h - which begins and ends of spans belong together: those of one name and id, the newest begin first.
 *
 * Spans overlap, so each that is open has a track for itself. Tracks are of a name and a thread; a track is used again
 * when its span has ended, so there are as many as were open at one time.
 */
#pragma once
#include "export/export.h"

struct tl_thread;
struct tl_span {
	struct str name;
	u32 track;                      /* from 1; never two open spans on one */
	u64 number;                     /* from 1, in the order of begins */
	const struct tl_thread *thread; /* on which it began; NULL: not known */
};
struct spans;
struct spans *spans_new(void);
/* The span is there until spans_free() or until its end was put; texts are copied. */
const struct tl_span *spans_begin(struct spans *s, struct str name, struct str id,
				  const struct tl_thread *thread);
/* The newest open span of this name and id, which is open no more; NULL if there is none. It stays until the next call. */
const struct tl_span *spans_end(struct spans *s, struct str name, struct str id);
u64 spans_begun(const struct spans *s);
/* "2 spans did not end: io (1), request (1)"; or, stray, the same of ends that had no begin. Nothing if there are none. */
void spans_text(const struct spans *s, bool stray, struct sb *out);
/* Says how many spans did not end, and how many ends had no begin, with their names. */
void spans_remark(const struct spans *s, struct exporting *x);
void spans_free(struct spans *s);
