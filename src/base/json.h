/*
 * json.h - JSON text into a builder: strings, numbers, names of members.
 *
 * Text that is not UTF-8 keeps its valid parts; each other byte becomes the code point of the same
 * number, so that what is written is always valid JSON.
 */
#pragma once
#include "base/str.h"

void json_str(struct sb *b, struct str s); /* with its quotes */
void json_z(struct sb *b, const char *z);  /* the same; NULL: null */
/* Numbers that a double cannot hold are strings. */
void json_u64(struct sb *b, u64 n);
void json_i64(struct sb *b, i64 n);
void json_f64(struct sb *b, double f); /* as few digits as tell it from others; "nan", "inf" */
/* "name": - and a comma before it, but for the first member. */
void json_member(struct sb *b, bool first, const char *name);
