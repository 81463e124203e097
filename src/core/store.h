/*
 * store.h - the ways to keep a map of the script.
 *
 * A row is one way, with both halves in one file: what programs do to an element, and how user space
 * reads and empties what they left. What all ways have in common is not in the rows: when a map may
 * have a copy per CPU and how its key is kept (sema/plan.c), what operators mean (lower/map.c),
 * keys that hashes stand for (lower/key.c), and what clear() takes off (report/snap.c).
 *
 * In programs a key is the expression in the script, NULL for maps without key. What a row leaves
 * out is never asked for: its fits() refuses maps that are used so (sema/mapuse.h).
 */
#pragma once
#include "ir/ir.h"

struct compile;
struct err;
struct lower;
struct map;
struct mapuse;
struct mem;
struct node;
struct reporter;
struct snap;

struct store {
	const char *name; /* in units that are written to files */

	/* ---- compiling ---- */
	/* Types, sizes of key and value, .percpu, .adds and the limit are set. */
	bool (*fits)(struct compile *c, const struct map *m, const struct mapuse *use);
	/* The kernel's map, as fits() left it to be; .own for memory beside it. */
	void (*plan)(struct compile *c, struct map *m);
	bool bounded; /* plan() says how many elements there can be */
	/* Of a unit from a file: what snapshot(), reset() and forget() do stays within the map. */
	bool (*sound)(const struct map *m, u32 ncpu);

	/* ---- programs ---- */
	/* One more observation of an aggregation. */
	void (*add)(struct lower *l, struct map *m, struct node *key, struct node *call);
	/* @x[key] = value. */
	void (*assign)(struct lower *l, struct map *m, struct node *key, struct node *value);
	/* Address of a value, or 0. */
	struct ref (*find)(struct lower *l, struct map *m, struct node *key);
	/* The same, made with zeros where it is missing; goes to full, and that is counted, where
	 * there is no room. */
	struct ref (*element)(struct lower *l, struct map *m, struct node *key, struct blk *full);
	/* Something was stored at p, an element(). NULL: nothing needs to be noted. */
	void (*stored)(struct lower *l, struct map *m, struct ref p);
	/* A number, 0 where there is none. NULL: it stands where find() says. */
	struct ref (*read)(struct lower *l, struct map *m, struct node *key);
	/* Is there one? NULL: find() says it. */
	struct ref (*has)(struct lower *l, struct map *m, struct node *key);
	/* Delete; 1: it was there. */
	struct ref (*remove)(struct lower *l, struct map *m, struct node *key);
	/* bpf_for_each_map_elem() with a function and its context; gives how many there were. */
	struct ref (*each)(struct lower *l, const struct map *m, struct fn *f, struct ref ctx);
	/* An aggregation as an integer, for the key and the value that f is called with. NULL: the
	 * copy at p is all. */
	struct ref (*each_value)(struct lower *l, const struct map *m, struct mem key,
				 struct ref p);
	bool constant; /* find() and element() never miss: there is one, at a fixed address */

	/* ---- user space: through the reporter's source (report/source.h) ---- */
	/* All elements, the copies of aggregations merged (report/snap.h). */
	struct err *(*snapshot)(struct reporter *r, const struct map *m, struct snap *ret);
	/* All go away; keep: they stay, with the value 0. */
	struct err *(*reset)(struct reporter *r, const struct map *m, bool keep);
	/* One goes away that programs have not added to for a while. */
	void (*forget)(struct reporter *r, const struct map *m, const u8 *key);
};

/* features/store/registry.c: of those that fit the first is taken; ended by NULL. */
extern const struct store *const stores[];
