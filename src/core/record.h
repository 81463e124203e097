/*
 * record.h - what travels from the kernel to user space, disk and other hosts.
 *
 * The compiler lays a schema out once. lower/ stores by it, run/ decodes by
 * it, rec/ writes it into the file, fleet/ sends it first. No struct is ever
 * declared twice.
 */
#pragma once
#include "base/diag.h"
#include "types/type.h"

struct record {
	u32 schema, size; /* size: of data that follows; a last string may be cut to its length */
	u64 ts;           /* nsecs (monotonic) */
	u8 data[];
};
_Static_assert(sizeof(struct record) == 16, "wire format");

enum { RECORD_MAX_FIELDS = 128 };
/* Its schema: room that was claimed for a record and given up. */
#define RECORD_NONE UINT32_MAX

struct map;
struct columns;
struct schema {
	u32 id;
	/* Whose handle() takes it; NULL: the runtime's own (run-time error, pid gone). */
	const struct builtin *fn;
	/* T_TUPLE of the arguments that travel: types and offsets into data. */
	const struct type *layout;
	struct str fmt;                /* of printf and its kin; else NULL */
	struct map *map;               /* print(@x), clear(@x), zero(@x) */
	const struct columns *columns; /* of emit(): the table, */
	u64 filled;                    /* and which of its columns travel */
	const struct str *kept;        /* of keep(): what each field is, as text; else NULL */
	struct str kept_by;            /* the name of that function */
	bool kept_apart;         /* what it keeps is no event of the probe (builtin.kept_as) */
	u32 prog;                /* with .kept: its program, as an index into unit.prog */
	bool last;               /* the end of tracing asks for it */
	bool own;                /* begin, end or an interval does: it happens on each host */
	struct map *const *maps; /* of show() */
	u32 nmap;
	i64 n[2]; /* print's top and div; exit's nothing; 0 when not given */
	struct loc loc;
	const char *msg; /* run-time warning: "divide or modulo by 0" */
};
