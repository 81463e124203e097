/*
 * reader.h - bytes of records and map elements -> values.
 *
 * It knows the unit that the bytes were made by, and no kernel object: records and maps may as well
 * come from a file or from another host. What a number stands for there is answered by .names.
 */
#pragma once
#include "core/agg.h"
#include "core/interp.h"
#include "core/printf.h"
#include "core/unit.h"
#include "sym/sym.h"

/*
 * What numbers stand for on the machine that is traced. Every callback receives reader.asked. Texts in
 * answers stay until the next question. None may be NULL.
 */
struct names {
	/* A function; pid is the process that the address is of. False if it is not known. */
	bool (*kernel)(void *asked, u64 addr, struct symbol *ret);
	bool (*user)(void *asked, u32 pid, u64 addr, struct symbol *ret);
	/* As sym_user_expect(), sym_user_expected(), sym_user_gains(). */
	void (*expect)(void *asked, u32 pid, u64 addr);
	void (*expected)(void *asked);
	bool (*gains)(void *asked);
	/* As sym_user_source(). */
	u32 (*source)(void *asked, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max);
	/* The rest of a stack whose last frame is mark (core/unwind.h). NULL if it is not known. */
	const u64 *(*tail)(void *asked, u64 mark, u32 *n);
	/* A frame of an interpreted language, which a word stands for (core/unwind.h). False if it is
	 * not known what it is called. */
	bool (*code)(void *asked, u64 word, struct interp_frame *ret);
	/* Put that rest into the stacks of a key of type t, in the place of their marks. True if
	 * there was one. */
	bool (*finish_key)(void *asked, const struct type *t, u8 *key);

	/* NULL if there is no such thing, or not any more. */
	const char *(*username)(void *asked, u32 uid);
	const char *(*cgroup)(void *asked, u64 id); /* the path in the hierarchy of version 2 */
	/* Append the paths in all hierarchies whose names fit glob ("": all): "unified:/a,pids:/b". */
	void (*cgroups)(void *asked, u64 id, struct str glob, struct sb *out);
	const char *(*container)(void *asked, u64 cgroup);
	const char *(*disk)(void *asked, u32 dev);
	/* Append the name of a network interface; false if there is none. */
	bool (*interface)(void *asked, u32 index, struct sb *out);
	/* Append the line of /proc/loadavg. */
	void (*load)(void *asked, struct sb *out);
	/* A line of /proc/meminfo, in bytes; false if there is no such line. */
	bool (*meminfo)(void *asked, struct str line, u64 *bytes);
};

struct clocks {
	u64 boot_offset_ns; /* of wall-clock time to the monotonic clock */
	i64 ahead_ns[3];    /* by enum stamp_mode: of the monotonic clock */
	bool utc;           /* not the local zone */
	u32 digits;         /* of %T, behind the second */
};

struct reader {
	const struct unit *unit;
	const struct names *names;
	void *asked; /* the state behind .names */
	struct clocks clocks;
	struct arena arena;       /* emptied after each event */
	bool expected;            /* addresses of what is decoded now were announced to .names */
	struct value *vals;       /* of the record being handled: room for the longest */
	struct pattern *patterns; /* by schema; taken apart when first used */
	struct arena formats;     /* these */
	struct sb text;
};

void reader_init(struct reader *r, const struct unit *u, const struct names *names, void *asked);
void reader_free(struct reader *r);
/* One value of type t at p (checked to be t->size bytes). Memory from a. */
void decode_value(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
		  struct value *ret);
/* Its addresses will be asked about: how many. All values that will be decoded come first, then
 * names->expected(). */
u32 decode_expect(struct reader *r, const struct type *t, const u8 *p);
/* The fields of a record, in r->vals. False: it is too short. */
bool decode_record(struct reader *r, const struct type *layout, const struct record *rec);
/* The schema's format with the values of a record; stays until the next call. */
struct str reader_printf(struct reader *r, const struct schema *sc, const struct value *v, u32 n,
			 const struct show *how);

/* time.c */
void clocks_read(struct clocks *c); /* of this machine */
/* Wall-clock text of a timestamp; %f %k %l as in the reference, %T with the
 * clocks' digits. */
void clocks_strftime(const struct clocks *c, struct sb *out, const char *fmt, u64 nsecs);
