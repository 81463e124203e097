/*
 * symcache.h - functions of a file that has too many to keep: those at addresses that were asked for.
 *
 *	if (!symcache_get(k, addr, &sym))
 *		symcache_want(k, addr);		... and more of them
 *	err = symcache_read(k, h, path);		one question for all that is wanted
 */
#pragma once
#include "base/arena.h"
#include "sym/sym.h"

struct symcache {
	struct arena arena; /* symbols and their names */
	struct symcache_slot *slot;
	u32 nslot, n; /* open addressing: nslot is a power of two, at least twice n */
	struct addresses wanted;
	size_t bytes; /* of names */
};
void symcache_free(struct symcache *k);
void symcache_forget(struct symcache *k); /* all but what is wanted */
/* False: nobody asked yet. *sym NULL: nothing is there. */
bool symcache_get(const struct symcache *k, u64 addr, const struct symbol **sym);
void symcache_want(struct symcache *k, u64 addr);
bool symcache_wants(const struct symcache *k);
struct err *symcache_read(struct symcache *k, struct host *h, const char *path);
/* What is wanted cannot be read: then nothing is there. */
void symcache_give_up(struct symcache *k);
size_t symcache_bytes(const struct symcache *k);
