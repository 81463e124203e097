/*
 * load.h - make a unit's maps and load its programs with the engine of session.live. session_load()
 * does it; load_undo() undoes it.
 */
#pragma once

#include "core/unit.h"

struct session;

/* The place in the script that an instruction was made for. */
struct loc load_place(const struct prog *p, i32 insn);

void load_undo(struct session *s); /* close programs, maps and the ring, as far as they were made */
