/*
 * said.h - what a host prints beside its answer: lines for people, as many as can be read, and the one that says best why
 * the host has failed.
 */
#pragma once
#include "base/str.h"

struct said {
	struct sb line;   /* one that has begun */
	struct sb reason; /* the first line, or the first that begins with ERROR; escaped */
	bool wrong;       /* the reason begins with ERROR */
	bool flooded;     /* it prints too many lines */
};
/* shown: gets whole lines, escaped. */
void said_take(struct said *s, struct str bytes, struct sb *shown);
void said_end(struct said *s, struct sb *shown);
void said_forget(struct said *s); /* what was printed is no reason */
void said_free(struct said *s);
