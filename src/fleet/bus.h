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
 *	hubs                 1 byte: hubs may merge answers
 *	at_ns, after_ns, apart_ns    8 bytes each, as in struct fleet_question; after_ns: after the question
 *	hosts, labels        lists: their number (4 bytes), and the texts
 *	frame                text: cmd/fleet.h, without the line that says how many bytes
 *
 * From it, frames: a head of BUS_HEAD bytes, then so many bytes as it says. Hosts are numbered in the order in which they
 * appear. The frames of a host begin with BUS_HOST and end with BUS_OVER; the last frame is BUS_TIMES. Without it, the
 * program has failed, and its standard error says why. Merged answers have numbers of their own; the frames of one begin
 * with BUS_HUB, and come before the BUS_OVER of its hosts.
 *
 * A hub (agent/hub.h) gives the same frames to `sonde fleet-hub`, which merges as many of the answers as can be merged
 * exactly. Its output are frames, too: BUS_MERGED of number 0, and the hosts; of those in the merged answer without
 * BUS_DATA, and the others as they came. Neither has BUS_TIMES or BUS_HUB, or clocks in BUS_OVER.
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
	BUS_OVER, /* enum fleet_end (1 byte), .ahead_ns, .unsure_ns (8 each), .merged (4), and the reason as text */
	BUS_TIMES,  /* .asked_ns, .spread_ns, .took_ns of struct fleet_times (8 each) */
	BUS_HUB,    /* name of the hub */
	BUS_MERGED, /* bytes of its answer */
};
struct bus_frame {
	enum bus_kind kind;
	u32 host;
	struct str bytes;
};
/* Bytes are split if they are too many. */
void bus_put(struct sb *b, enum bus_kind kind, u32 host, struct str bytes);
void bus_put_over(struct sb *b, u32 at, const struct fleet_host *h, struct str why);
enum bus_next { BUS_MORE, BUS_ONE, BUS_BAD };
/* The first frame of *rest, which is taken off. BUS_MORE: it is not whole yet. */
enum bus_next bus_next(struct str *rest, struct bus_frame *ret);

struct bus_question {
	struct str url, key;
	const struct str *host, *label; /* of those that are asked; none of both: all */
	u32 nhost, nlabel;
	u64 for_ns, wait_ns, at_ns, after_ns, apart_ns;
	u32 expect;
	bool hubs; /* they may merge answers */
	struct str frame;
	struct signals *signals;
	struct arena *arena; /* for the names of hosts */
};
struct bus_answer {
	/* Those that have answered or should have, as they were named, or by name. */
	struct fleet_host *host;
	struct fleet_host *hub; /* merged answers: .name, .fd and .bytes */
	u32 n, nhub;
	struct fleet_times times;
};
/* The caller frees hosts, hubs and both lists, also after an error. */
struct err *fleet_ask_bus(const struct bus_question *q, struct bus_answer *ret) MUST_USE;
/* Of a hub: frames until the end of fd. Texts are as they came; hosts without BUS_OVER are FLEET_LATE. */
struct err *fleet_take_bus(int fd, struct arena *a, struct bus_answer *ret) MUST_USE;
