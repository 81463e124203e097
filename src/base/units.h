/* units.h - 5ms 4K 99hz: numbers with units, read and written. */
#pragma once
#include "base/str.h"

/* Nanoseconds of a unit of time: ns us ms s m h d; 0: it is none. */
u64 units_scale(struct str unit);
/* "10ms" -> 10000000. Units ns us ms s m h d; without one: nanoseconds. */
bool units_ns(struct str s, u64 *ret);
/* The same, and the unit must be there. */
bool units_time(struct str s, u64 *ret);
/* Histogram bounds: below 1024 plain; else the largest of K M G T P E that divides v, else plain.
 */
void units_1024(struct sb *b, i64 v);
/* 1115340 -> "1,115,340" */
void units_grouped(struct sb *b, u64 n);
