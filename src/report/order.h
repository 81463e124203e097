/*
 * order.h - the order of keys, by their bytes in memory.
 *
 * order_put() makes texts of keys of one type which memcmp() orders as order_keys() orders the keys.
 * They say in which order rows of several hosts are printed, after the keys themselves are gone.
 */
#pragma once
#include "base/str.h"
#include "types/type.h"

u64 order_int(const struct type *t, const u8 *p); /* a number, with its sign extended */
int order_numbers(const struct type *t, u64 a, u64 b);
int order_keys(const struct type *t, const u8 *a, const u8 *b);
void order_put(struct sb *out, const struct type *t, const u8 *p);
