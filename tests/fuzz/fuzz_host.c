/* A byte that says which, and any bytes as a file of /proc, /sys, /etc or a container engine. */
#include "kern/caps.h"
#include "kern/perf.h"
#include "kern/tracefs.h"
#include "proc/cgroup.h"
#include "proc/proc.h"
#include "sym/ksyms.h"
#include "sym/mappings.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PMU "/sys/bus/event_source/devices/p"

static char root[64];

static void remove_root(void)
{
	char *argv[] = {"rm", "-rf", root, NULL};
	execvp(argv[0], argv);
}

static void make_folders(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
}

/* Below a folder of its own in memory, which is removed when this process ends. */
static void write_file(const char *name, const u8 *data, size_t n)
{
	char path[512];
	if (!*root) {
		int gone[2];
		snprintf(root, sizeof(root), "/dev/shm/sonde-fuzz-XXXXXX");
		if (!mkdtemp(root) || pipe(gone))
			abort();
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup/docker-" ID ".scope/", root);
		make_folders(path);
		if (!fork()) {
			close(gone[1]);
			(void)!read(gone[0], path, 1);
			remove_root();
			_exit(1);
		}
		close(gone[0]);
	}
	snprintf(path, sizeof(path), "%s%s", root, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ENOENT) {
		make_folders(path);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
}

static bool any_func(struct str func, struct str module, void *arg)
{
	*(size_t *)arg += func.n + module.n;
	return true;
}

static void ask_symbols(struct host *h)
{
	struct ksyms k = {0};
	struct symbol s;
	u64 addr, all[4];
	u32 n = tracefs_addresses(h, STR("a"), all, countof(all));
	size_t total = 0;
	ksyms_at(&k, h, 0xffffffff81000010, &s);
	if (ksyms_addr(&k, h, STR("a"), &addr) && !ksyms_at(&k, h, addr, &s) && k.n)
		total++;
	for (u32 i = 0; i < MIN(n, (u32)countof(all)); i++)
		total += tracefs_symbol_end(h, all[i]);
	tracefs_symbol(h, STR("a"));
	tracefs_symbols_hidden(h);
	err_free(tracefs_functions(h, STR("*a*"), any_func, &total));
	ksyms_free(&k);
}

static void ask_maps(struct host *h)
{
	struct str text, line;
	struct mapped m;
	struct maps all = {0};
	if (maps_read(h, 1, &all))
		for (u32 i = 0; i < all.n; i++)
			if (all.v[i].start >= all.v[i].end ||
			    (i && all.v[i].start < all.v[i - 1].start))
				abort();
	maps_free(&all);
	struct err *e = host_read(h, &text, "/proc/1/maps");
	for (u32 i = 0; !e && i < 64 && str_cut(&text, '\n', &line); i++)
		proc_mapped(h->arena, 1, line, true, &m);
	err_free(e);
}

static void ask_pmu(struct host *h)
{
	struct perf_spec s = {0};
	err_free(pmu_event(h, STR("p/term=0x1234/"), &s));
	err_free(pmu_event(h, STR("p/event/"), &s));
}

static void ask_event(struct host *h)
{
	size_t total = 0;
	u64 n;
	err_free(tracefs_events(h, STR("*"), STR("*"), any_func, &total));
	err_free(tracefs_id(h, STR("a"), STR("b"), &n));
	err_free(tracefs_functions(h, STR("a*"), any_func, &total));
}

static void ask_status(struct host *h)
{
	u32 *cpus, n;
	u64 start;
	proc_runs(h, 1);
	proc_stack_start(h, 1, &start);
	proc_username(h, 1000);
	proc_disk_name(h, 8 << 20);
	err_free(host_online(h, &cpus, &n));
	lockdown_mode(h);
	host_sysctl(h, "/proc/sys/kernel/perf_event_paranoid");
}

static void ask_container(struct host *h)
{
	const char *dir;
	err_free(cgroup_container(h, "web", &dir));
}

static void ask_library(struct host *h)
{
	proc_library(h, h->arena, 0, "libc");
}

static const struct {
	const char *name;
	void (*ask)(struct host *h);
} files[] = {
	{"/proc/kallsyms", ask_symbols},
	{"/proc/1/maps", ask_maps},
	{"/proc/1/status", ask_status},
	{"/proc/1/stat", ask_status},
	{"/etc/passwd", ask_status},
	{"/sys/dev/block/8:0/uevent", ask_status},
	{"/sys/devices/system/cpu/online", ask_status},
	{"/sys/kernel/security/lockdown", ask_status},
	{"/proc/sys/kernel/perf_event_paranoid", ask_status},
	{"/etc/ld.so.cache", ask_library},
	{"/sys/kernel/tracing/available_events", ask_event},
	{"/sys/kernel/tracing/events/a/b/id", ask_event},
	{"/sys/kernel/tracing/available_filter_functions", ask_event},
	{PMU "/format/term", ask_pmu},
	{PMU "/events/event", ask_pmu},
	{"/var/lib/containers/storage/overlay-containers/containers.json", ask_container},
	{"/var/lib/docker/containers/" ID "/config.v2.json", ask_container},
	{"/features", NULL},
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct host h;
	if (!n)
		return 0;
	u32 which = data[0] % countof(files);
	write_file(PMU "/type", (const u8 *)"4\n", 2);
	write_file(files[which].name, data + 1, n - 1);
	host_init(&h, &a, root);
	if (files[which].ask)
		files[which].ask(&h);
	else
		host_has(&h, FEAT_CONFINE);
	host_deinit(&h);
	arena_free(&a);
	char path[512];
	snprintf(path, sizeof(path), "%s%s", root, files[which].name);
	unlink(path);
	return 0;
}
