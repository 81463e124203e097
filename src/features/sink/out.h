/* out.h - what sinks share: a buffered stream, and remarks on the error stream. */
#pragma once
#include "core/sink.h"

enum { OUT_FLUSH = 65536 }; /* a fuller buffer is written out at once */

struct out {
	struct sb b;
	int fd, failed; /* errno of the first failed write; nothing is written after it */
	char buffering;
	struct signals *signals; /* as in sink_env */
	u64 unwritten; /* bytes that nobody took before sonde had to end; nothing is written then */
};
void out_init(struct out *o, const struct sink_env *env);
/* After each item: writes when the buffering mode or the size of the buffer says so. */
struct err *out_item(struct out *o);
void out_room(struct out *o);         /* within an item: writes what is there when it is much */
struct err *out_flush(struct out *o); /* all of it */
struct err *out_close(struct out *o);

/* I_ERROR, I_LOST and I_STATUS as lines on the error stream, after what was put before. */
void out_remark(struct out *o, const struct sink_env *env, const struct item *it);
