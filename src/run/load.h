/*
 * load.h - make a unit's maps and load its programs with the engine of session.live. session_load()
 * does it; load_undo() undoes it.
 */
#pragma once

struct session;

void load_undo(struct session *s); /* close programs, maps and the ring, as far as they were made */
