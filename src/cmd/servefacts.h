/* servefacts.h - what sonde serve tells of itself and of each script, as metrics. */
#pragma once
#include "cmd/served.h"

struct push;
struct service_facts {
	struct served *const *script;
	u32 n;
	u64 reloads, scrapes, web_starts;
	double reading_s;        /* how long the last reading took */
	const struct push *push; /* receivers */
	u32 npush;
};
bool service_fact_named(struct str metric); /* one of ours has that name */
void service_facts(struct metrics *m, const struct service_facts *f);
