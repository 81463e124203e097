/*
 * bus.h - one question to many hosts behind a server that they are connected to: NATS.
 *
 * The program `sonde-agent ask` talks with the server, so that sonde needs no library for it. It is started by
 * fleet_ask_bus(), gets the question on its standard input, and writes what hosts send to its standard output. When its
 * standard input ends, hosts stop tracing and answer.
 *
 * To it, after a line "NBYTES": bytes of base/pack.h:
 *
 *	url, key             texts: nats://... or a file like /etc/sonde/fleet.conf; the key that signs, or nothing
 *	for_ns, wait_ns      8 bytes each
 *	expect               4 bytes: at least so many hosts are waited for
 *	hosts, labels        lists: their number (4 bytes), and the texts
 *	frame                text: cmd/fleet.h, without the line that says how many bytes
 *
 * From it, frames: a head of BUS_HEAD bytes, then so many bytes as it says. Hosts are numbered in the order in which they
 * appear. The frames of a host begin with BUS_HOST and end with BUS_OVER; the last frame is BUS_TIMES. Without it, the
 * program has failed, and its standard error says why.
 */
#pragma once
#include "fleet/ask.h"

#define FLEET_AGENT "sonde-agent"
#define FLEET_NO_AGENT \
	"this needs the program sonde-agent, which is not installed (package sonde-agent)"

enum {
	BUS_HEAD = 4 + 1 + 4, /* bytes that follow the head, the kind, the host */
	BUS_MAX = 256 << 10,  /* bytes that follow a head */
	BUS_HOSTS = 10000,
};
enum bus_kind {
	BUS_HOST = 1, /* its name */
	BUS_SAID,     /* bytes of what sonde printed there, beside its answer */
	BUS_DATA,     /* bytes of its answer */
	BUS_OVER, /* enum fleet_end (1 byte), .ahead_ns, .unsure_ns (8 each), and the reason as text */
	BUS_TIMES, /* .asked_ns, .spread_ns, .took_ns of struct fleet_times (8 each) */
};
struct bus_question {
	struct str url, key;
	const struct str *host, *label; /* of those that are asked; none of both: all */
	u32 nhost, nlabel;
	u64 for_ns, wait_ns;
	u32 expect;
	struct str frame;
	struct signals *signals;
	struct arena *arena; /* for the names of hosts */
};
/* *host: those that have answered or should have, as they were named, or by name. They and it are the caller's to free. */
struct err *fleet_ask_bus(const struct bus_question *q, struct fleet_host **host, u32 *n,
			  struct fleet_times *times) MUST_USE;
