/*
 * watchable: does the processor tell when a variable is written? The exit code is 0 when it does; some
 * virtual machines have the registers, and nothing happens.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int watched;

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t n = 0;

	for (int i = 0; i < 5; i++)
		watched = i;
	return fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n) || n != 5;
}
