/*
 * tab.h - hash table from text to pointer; keeps insertion order.
 *
 * Keys are not copied: they must outlive the table. Values must not be NULL.
 */
#pragma once
#include "base/str.h"

struct tab_entry {
	struct str key;
	void *val;
};
struct tab {
	struct tab_entry *v; /* v[0..n), in insertion order */
	u32 n, cap;
	u32 *slot, nslot;
};
void *tab_get(const struct tab *t, struct str key);      /* NULL: absent */
void *tab_add(struct tab *t, struct str key, void *val); /* what was there stays, and is returned */
void tab_set(struct tab *t, struct str key, void *val);
void tab_free(struct tab *t);
