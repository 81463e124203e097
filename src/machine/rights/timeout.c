/* timeout.c - how long to wait for another process; see timeout.h. */
#include "rights/timeout.h"
#include "base/clock.h"

enum {
	STILL = 6, /* times what it may work */
	ALL = 60,
	LOOK_MOST_MS = 200,
};

void timeout_begin(struct timeout *p, u32 wait_ms, u64 now, u64 cpu)
{
	u64 wait = wait_ms * MILLI_NS;
	*p = (struct timeout){.wait_ns = wait, .seen_ns = now, .cpu_ns = cpu};
}

enum timeout_is timeout_left(struct timeout *p, u64 now, u64 cpu)
{
	u64 most = LOOK_MOST_MS * MILLI_NS, passed = MIN(now - p->seen_ns, most);
	p->worked_ns += cpu > p->cpu_ns ? MIN(cpu - p->cpu_ns, most) : 0;
	p->all_ns += passed;
	p->still_ns = cpu > p->cpu_ns ? 0 : p->still_ns + passed;
	p->seen_ns = now;
	p->cpu_ns = cpu;
	if (p->worked_ns >= p->wait_ns)
		return TIMEOUT_WORKED;
	bool stood = p->still_ns >= STILL * p->wait_ns || p->all_ns >= ALL * p->wait_ns;
	return stood ? TIMEOUT_STOOD : TIMEOUT_LEFT;
}
