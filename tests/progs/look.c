/*
 * look FILE PROGRAM ARG...: runs as the tracer's child (-c): writes into FILE how its parent has
 * attached its probes, as the kernel tells it, then becomes PROGRAM. One word or a few:
 *
 *	trampoline, raw tracepoint    BPF links of that type
 *	link                          one for many places
 *	64 per event                  kprobe events of tracefs, each for up to so many functions
 *	one event                     ... one event for several
 *	tracefs event                 ... for one
 *	perf event                    another one
 *
 * with a plural s when there are several; nothing when nothing is attached.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_EVENTS = 1000 };

static int tracing, multi, raw, perf, events, most;

/* The link_type of a descriptor. */
static void count_link(const char *path)
{
	char line[256], type[64];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "link_type: %63s", type) != 1)
			continue;
		tracing += !strcmp(type, "tracing");
		multi += strstr(type, "_multi") != NULL; /* kprobe, uprobe, kretprobe ... */
		raw += !strcmp(type, "raw_tracepoint");
	}
	if (f)
		fclose(f);
}

static void count_links(int pid)
{
	char path[300], to[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, e->d_name);
		ssize_t n = readlink(path, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = 0;
		perf += !strcmp(to, "anon_inode:[perf_event]");
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, e->d_name);
		count_link(path);
	}
	if (d)
		closedir(d);
}

/* Lines like "p:sonde/sonde_PID_CHILD_NUMBER function". */
static void count_events(int pid)
{
	static int places[MAX_EVENTS];
	char line[512], own[64];
	FILE *f = fopen("/sys/kernel/tracing/kprobe_events", "r");

	snprintf(own, sizeof(own), "_%d_", pid);
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, own);
		const char *number = at ? strchr(at + strlen(own), '_') : NULL;
		int n = number ? atoi(number + 1) : MAX_EVENTS;

		if (n < 0 || n >= MAX_EVENTS)
			continue;
		events += !places[n];
		if (++places[n] > most)
			most = places[n];
	}
	if (f)
		fclose(f);
}

static void tell(FILE *f, int n, const char *what)
{
	if (n > 0)
		fprintf(f, "%s%s%s", ftell(f) > 0 ? ", " : "", what, n > 1 ? "s" : "");
}

int main(int argc, char **argv)
{
	FILE *f = argc > 2 ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	count_links(getppid());
	count_events(getppid());
	tell(f, tracing, "trampoline");
	tell(f, multi, "link");
	tell(f, raw, "raw tracepoint");
	if (events > 1 && most > 1)
		fprintf(f, "%s%d per event", ftell(f) > 0 ? ", " : "", most);
	else if (most > 1)
		fprintf(f, "%sone event", ftell(f) > 0 ? ", " : "");
	else
		tell(f, events, "tracefs event");
	tell(f, perf - events, "perf event");
	if (fclose(f))
		return 2;
	execv(argv[2], argv + 2);
	return 127;
}
