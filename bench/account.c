/* account.c - what the kernel says of the BPF programs that run (BPF_ENABLE_STATS). */
#include "bench.h"
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int account_on(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return (int)sys_bpf(BPF_ENABLE_STATS, &attr);
}

/* The next program's id, 0 when there is none. */
static unsigned next_id(unsigned id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	return sys_bpf(BPF_PROG_GET_NEXT_ID, &attr) ? 0 : attr.next_id;
}

unsigned account_mark(void)
{
	unsigned last = 0;

	for (unsigned id = 0; (id = next_id(id));)
		last = id;
	return last;
}

static bool prog_info(unsigned id, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	int fd = (int)sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return false;
	memset(info, 0, sizeof(*info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (unsigned)fd;
	attr.info.info = (unsigned long)info;
	attr.info.info_len = sizeof(*info);
	bool good = !sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close(fd);
	return good;
}

static void account_add(struct account *a, unsigned id, double runs)
{
	struct bpf_prog_info info;

	if (!prog_info(id, &info) || (double)info.run_cnt < runs)
		return;
	a->runs += (double)info.run_cnt;
	a->ns += (double)info.run_time_ns;
	a->insns += info.xlated_prog_len / 8;
	a->bytes += info.jited_prog_len;
}

/* Programs that a process has descriptors of, each once. */
static struct account account_held(pid_t pid, double runs)
{
	enum { MAX_PROGS = 64 };
	unsigned ids[MAX_PROGS], n = 0;
	struct account a = {0};
	char path[PATH_SIZE], line[PATH_SIZE];

	for (int fd = 0; fd < 1024 && n < MAX_PROGS; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
		FILE *f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (n < MAX_PROGS && sscanf(line, "prog_id: %u", &ids[n]) == 1) {
				bool seen = false;
				for (unsigned i = 0; i < n; i++)
					seen |= ids[i] == ids[n];
				n += !seen;
			}
		if (f)
			fclose(f);
	}
	for (unsigned i = 0; i < n; i++)
		account_add(&a, ids[i], runs);
	return a;
}

/* Some tracers close the descriptors of programs that are attached: then the newest count. */
struct account account_of(pid_t pid, unsigned mark, double runs)
{
	struct account a = account_held(pid, runs);

	if (a.runs == 0)
		for (unsigned id = mark; (id = next_id(id));)
			account_add(&a, id, runs);
	return a;
}

/* Programs of other kinds, which most machines have, change nothing in what we measure. */
static bool traces(unsigned type)
{
	return type == BPF_PROG_TYPE_KPROBE || type == BPF_PROG_TYPE_TRACEPOINT ||
	       type == BPF_PROG_TYPE_PERF_EVENT || type == BPF_PROG_TYPE_RAW_TRACEPOINT ||
	       type == BPF_PROG_TYPE_TRACING;
}

unsigned account_tracing(void)
{
	unsigned n = 0;
	struct bpf_prog_info info;

	for (unsigned id = 0; (id = next_id(id));)
		n += prog_info(id, &info) && traces(info.type);
	return n;
}
