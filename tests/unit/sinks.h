/* sinks.h - one sink, items in, what it wrote out. */
#pragma once
#include "core/sink.h"
#include "test.h"
#include <sys/mman.h>

struct capture {
	const struct sink *sink;
	char self[65536];
	struct str opts[SINK_OPTIONS];
	int out, err;
	struct sb text, remarks; /* after capture_close() */
	struct err *e;
};
void capture_open(struct capture *c, const char *format); /* as behind -f */
void capture_put(struct capture *c, struct item it);
void capture_close(struct capture *c);
void capture_free(struct capture *c);

/* Frames of a stack from the leaf on: "name", "name@/path/of/file" of a user stack. */
struct value stack_of(bool kernel, u32 n, struct frame *f, ...);
struct item map_item(const char *name, enum type_kind kind, const struct value *key,
		     const struct value *val, u64 n);
