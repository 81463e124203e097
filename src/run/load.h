/*
 * load.h - make a unit's maps and load its programs: session_load(); undone by load_undo().
 */
#pragma once
#include "core/unit.h"

struct session;

void load_undo(struct session *s); /* close programs, maps and the ring, as far as they were made */
/* For a map of maps: make a map that can be put into it. *fd belongs to the caller. */
struct err *load_inner(const struct map *m, int *fd) MUST_USE;
