/* Events as the counting hardware names them, with PMUs in a made-up tree. */
#include "kern/perf.h"
#include "test.h"
#include <ftw.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DEVICES "/sys/bus/event_source/devices"

static const char *const files[][2] = {
	{"cpu/type", "4\n"},
	{"cpu/format/event", "config:0-7\n"},
	{"cpu/format/umask", "config:8-15\n"},
	{"cpu/format/any", "config:21\n"},
	{"cpu/format/wide", "config:0-7,32-35\n"},
	{"cpu/format/ldlat", "config1:0-15\n"},
	{"cpu/format/odd", "configured\n"},
	{"cpu/format/over", "config:60-64\n"},
	{"cpu/events/loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{"cpu/events/loads.unit", "bytes\n"},
	{"cpu/events/loop", "loop\n"},
	{"broken/type", "none\n"},
};

struct tree {
	char top[64];
	struct arena a;
	struct host h;
};

static void make(struct tree *t)
{
	char path[512];
	*t = (struct tree){.top = "/tmp/sonde-pmu-XXXXXX"};
	CHECK(mkdtemp(t->top));
	for (u32 i = 0; i < countof(files); i++) {
		snprintf(path, sizeof(path), "%s" DEVICES "/%s", t->top, files[i][0]);
		for (char *p = path + strlen(t->top) + 1; (p = strchr(p, '/')); p++) {
			*p = 0;
			mkdir(path, 0755);
			*p = '/';
		}
		FILE *f = fopen(path, "w");
		CHECK(f && fputs(files[i][1], f) >= 0);
		if (f)
			fclose(f);
	}
	host_init(&t->h, &t->a, t->top);
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static void undo(struct tree *t)
{
	host_deinit(&t->h);
	arena_free(&t->a);
	CHECK(!nftw(t->top, drop, 8, FTW_DEPTH | FTW_PHYS));
}

/* "type config config1", or the message up to a list of names, whose order is the disk's. */
static const char *event(struct tree *t, const char *text)
{
	struct perf_spec s = {0};
	struct err *e = pmu_event(&t->h, str_z(text), &s);
	const char *r = e ? arena_fmt(&t->a, "%s", e->msg)
			  : arena_fmt(&t->a, "%u %llx %llx", s.type, s.config, s.config1);
	err_free(e);
	const char *list = strstr(r, " (");
	return list ? arena_strz(&t->a, str_n(r, (size_t)(list - r))) : r;
}

TEST(pmu_names)
{
	CHECK(pmu_is_event(STR("r1c0")));
	CHECK(pmu_is_event(STR("rFFFFffffFFFFffff")));
	CHECK(pmu_is_event(STR("cpu/x/")));
	CHECK(!pmu_is_event(STR("r")));
	CHECK(!pmu_is_event(STR("r1g")));
	CHECK(!pmu_is_event(STR("rFFFFffffFFFFffff0")));
	CHECK(!pmu_is_event(STR("ref-cycles")));
	CHECK(!pmu_is_event(STR("/cpu/")));
	CHECK(!pmu_is_event(STR("")));
}

TEST(pmu_events)
{
	struct tree t;
	make(&t);
	CHECK_STR(event(&t, "r1C0"), "4 1c0 0");
	CHECK_STR(event(&t, "cpu/event=0xc0,umask=1/"), "4 1c0 0");
	CHECK_STR(event(&t, "cpu/event=0xc0, any/"), "4 2000c0 0");
	CHECK_STR(event(&t, "cpu/config=0x1ff,config1=7/"), "4 1ff 7");
	CHECK_STR(event(&t, "cpu/wide=0xfff/"), "4 f000000ff 0");
	CHECK_STR(event(&t, "cpu/loads/"), "4 1cd 3");
	CHECK_STR(event(&t, "cpu/loads,ldlat=0x20/"), "4 1cd 20");
	undo(&t);
}

TEST(pmu_mistakes)
{
	struct tree t;
	make(&t);
	CHECK_STR(event(&t, "cpu/umask=0x100/"),
		  "0x100 does not fit term 'umask' of PMU cpu, which is config:8-15");
	CHECK_STR(event(&t, "cpu/any=2/"),
		  "0x2 does not fit term 'any' of PMU cpu, which is config:21");
	CHECK_STR(event(&t, "cpu/loda/"), "PMU cpu has neither an event nor a term 'loda'");
	CHECK_STR(event(&t, "cpu/mask=1/"), "PMU cpu has no term 'mask'");
	CHECK_STR(event(&t, "cpu/umask=x/"), "the value of term 'umask' is not a number: x");
	CHECK_STR(event(&t, "cpu/../"), "'..' is not the name of a term of PMU cpu");
	CHECK_STR(event(&t, "cpu//"), "no event or term of PMU cpu is named in cpu//");
	CHECK_STR(event(&t, "cpu/loop/"), "PMU cpu has no term 'loop'");
	CHECK_STR(event(&t, "cpu/odd=1/"), DEVICES "/cpu/format/odd is not understood: configured");
	CHECK_STR(event(&t, "cpu/over=1/"),
		  DEVICES "/cpu/format/over is not understood: config:60-64");
	CHECK_STR(event(&t, "cpu/event=1"), "'/' is missing at the end of cpu/event=1");
	CHECK_STR(event(&t, "gpu/event=1/"), "this machine has no PMU 'gpu'");
	CHECK_STR(event(&t, "broken/event=1/"), DEVICES "/broken/type is not a number");
	undo(&t);
}
