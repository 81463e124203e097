/*
 * asked.h - functions of a file that has too many to keep: those at addresses that were asked for.
 *
 *	if (!asked_get(k, addr, &sym))
 *		asked_want(k, addr);		... and more of them
 *	err = asked_read(k, h, path);		one question for all that is wanted
 */
#pragma once
#include "base/arena.h"
#include "sym/sym.h"

struct asked {
	struct arena arena; /* symbols and their names */
	struct asked_slot *slot;
	u32 nslot, n; /* open addressing: nslot is a power of two, at least twice n */
	struct addresses wanted;
	size_t bytes; /* of names */
};
void asked_free(struct asked *k);
void asked_forget(struct asked *k); /* all but what is wanted */
/* False: nobody asked yet. *sym NULL: nothing is there. */
bool asked_get(const struct asked *k, u64 addr, const struct symbol **sym);
void asked_want(struct asked *k, u64 addr);
bool asked_wants(const struct asked *k);
struct err *asked_read(struct asked *k, struct host *h, const char *path);
/* What is wanted cannot be read: then nothing is there. */
void asked_give_up(struct asked *k);
size_t asked_bytes(const struct asked *k);
