/* programs.h - what all BPF programs of this machine take, as a map for a watcher. */
#pragma once

struct session;
struct watcher;

/* A row for each program that has run: its id and name; runs, and nanoseconds in them. The kernel measures them
 * while bpf_stats() is on (run/cost.c). */
void programs_read(struct session *s, struct watcher *w);
