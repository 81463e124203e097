/* patience.c - how long to wait for another process; see patience.h. */
#include "rights/patience.h"
#include "base/clock.h"

enum {
	STILL = 6, /* times what it may work */
	ALL = 60,
	LOOK_MOST_MS = 200,
};

void patience_begin(struct patience *p, u32 wait_ms, u64 now, u64 cpu)
{
	u64 wait = wait_ms * MILLI_NS;
	*p = (struct patience){.wait_ns = wait, .seen_ns = now, .cpu_ns = cpu};
}

enum patience_is patience_left(struct patience *p, u64 now, u64 cpu)
{
	u64 most = LOOK_MOST_MS * MILLI_NS, passed = MIN(now - p->seen_ns, most);
	p->worked_ns += cpu > p->cpu_ns ? MIN(cpu - p->cpu_ns, most) : 0;
	p->all_ns += passed;
	p->still_ns = cpu > p->cpu_ns ? 0 : p->still_ns + passed;
	p->seen_ns = now;
	p->cpu_ns = cpu;
	if (p->worked_ns >= p->wait_ns)
		return PATIENCE_WORKED;
	bool stood = p->still_ns >= STILL * p->wait_ns || p->all_ns >= ALL * p->wait_ns;
	return stood ? PATIENCE_STOOD : PATIENCE_LEFT;
}
