/*
 * watch.h - the watcher of a run over recordings, which query.c calls by recorded time. A run on this machine
 * calls it as a service (service.h).
 */
#pragma once

struct session;

/* Both are called only if there is a watcher. */
/* Calls look(), unless it was called just now, and ends the run if that says so. */
void watch_look(struct session *s);
void watch_read(struct session *s); /* a reading of all maps, at query_now() */
