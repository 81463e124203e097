/* servedmaps.h - which maps of a script are metrics, and what they are called. */
#pragma once
#include "cmd/served.h"

/*
 * By the settings metric, unit, labels and help: each is one value for all maps, or a list "@x VALUE; @y
 * VALUE". A list of metrics names all that there are; else maps of aggregations and counters are metrics.
 */
struct err *served_name_maps(struct served *s, const struct unit *u) MUST_USE;
void served_forget_maps(struct served *s);
