/*
 * root.h - the ground floor of what we know about the machine: its files, its CPUs and its clock, and the errors of its
 * system calls. Everything else here is built on it. Files under /proc and /sys are read below host.root.
 */
#pragma once
#include "base/err.h"
#include "base/str.h"

struct host;

/* Reads a whole file below root into the host's arena, NUL-terminated. Works for /proc and /sys, whose files have no
 * size. */
struct err *host_read(struct host *h, struct str *ret, const char *fmt, ...) PRINTF(3, 4);
/* The kernel's id of this boot: symbols keep their addresses until the next. "" if it is not known. */
const char *host_boot(struct host *h);
/* The CPUs of a list of the kernel ("possible", "online"), as numbers in the host's arena. */
struct err *host_cpus(struct host *h, const char *which, u32 **cpus, u32 *n);
struct err *host_online(struct host *h, u32 **cpus, u32 *n);
/* A CPU with that number exists, running or not. */
bool host_has_cpu(u64 cpu);
/* A whole disk exists, by the kernel's name: "sda". */
bool host_has_disk(struct str name);
/* CLOCK_REALTIME - CLOCK_MONOTONIC in ns: turns nsecs into wall-clock time. */
u64 host_boot_offset_ns(void);
