/*
 * served.h - one script of sonde serve: compiled, attached, read; and why not.
 *
 * What a map is called as a metric, the script's settings say: see docs/metrics.md. The script's arena,
 * host and session live and end together, so nothing grows when scripts come and go.
 */
#pragma once
#include "api/launch.h"
#include "core/metrics.h"
#include "run/health.h"

/* A map that is a metric. */
struct served_map {
	const struct map *map;
	struct metric_shape shape;
	struct metric_memory memory;
	u64 other; /* keys that share a series */
};
/* Whose metric the name is already, or NULL. */
typedef const char *served_taken(void *arg, struct str metric);
/* Why a script does not run. */
enum served_state {
	SERVED_RUNS,
	SERVED_NEW,     /* it was not started yet */
	SERVED_UNREAD,  /* its file cannot be read */
	SERVED_COMPILE, /* the script is wrong */
	SERVED_METRICS, /* its maps cannot be the metrics that it says */
	SERVED_ATTACH,  /* the kernel refused it */
	SERVED_ENDED,   /* by exit(), or because what it traced has ended */
	SERVED_BUDGET,  /* it took more than its budget */
};
const char *served_state_name(enum served_state s); /* "compile" */

/* The same for all. */
struct served_limits {
	u32 series; /* of a map */
	u64 budget; /* millionths of the machine's processor time, of each script; 0: no limit */
};
struct served {
	char *name, *path; /* the file's name; and with its folder */
	struct str text;
	struct sb read; /* the text's memory */
	const struct served_limits *limits;
	enum served_state state;
	struct sb reason; /* one line */
	u64 starts, failures, budget_stops;
	u64 began_ns; /* when all was attached */
	VEC(struct served_map) map;
	struct profile_state *profile; /* of --push-profile; NULL: none was made yet */
	bool keep;                     /* during a reload: it stays */
	served_taken *taken;
	void *taken_arg;

	/* While it runs: */
	struct arena arena;
	struct host host;
	struct target target;
	struct script script;
	struct launch launch;
	struct health last; /* when its time was looked at last, and what it was then */
	u64 last_ns;
	bool told;            /* that what it prints is not shown */
	struct metrics *into; /* a reading: where the map goes */
	const struct served_map *reading;
};

/* text is in read, whose memory it takes; state is SERVED_UNREAD if there is none, and reason why. */
struct served *served_new(const char *dir, const char *name, const struct served_limits *limits);
void served_free(struct served *s);
void served_start(struct served *s, served_taken *taken, void *arg);
void served_poll(struct served *s, u64 now); /* events, the end, the budget */
void served_read(struct served *s, struct metrics *into);
