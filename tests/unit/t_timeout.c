/* How long to wait for another process: by its processor time, or by the clock while it stands still. */
#include "base/clock.h"
#include "rights/timeout.h"
#include "test.h"

enum { WAIT_MS = 1000, STEP_MS = 20 };

/* It gets cpu_ms of processor time in each step; after how many milliseconds it is over, and why. */
static u64 lasts(u64 cpu_us, enum timeout_is *why)
{
	struct timeout p;
	u64 now = 5000 * (u64)MILLI_NS, cpu = 7, from = now;
	timeout_begin(&p, WAIT_MS, now, cpu);
	do {
		now += STEP_MS * (u64)MILLI_NS;
		cpu += cpu_us * 1000;
		*why = timeout_left(&p, now, cpu);
	} while (*why == TIMEOUT_LEFT);
	return (now - from) / MILLI_NS;
}

TEST(timeout_by_processor_time)
{
	enum timeout_is why;
	CHECK(lasts(20000, &why) == 1000 && why == TIMEOUT_WORKED); /* all of a processor */
	CHECK(lasts(1000, &why) == 20000 && why == TIMEOUT_WORKED); /* a twentieth: it gets on */
	CHECK(lasts(1, &why) == 60000 && why == TIMEOUT_STOOD);     /* only to keep us waiting */
	CHECK(lasts(0, &why) == 6000 && why == TIMEOUT_STOOD);
}

TEST(timeout_begins_anew_when_it_gets_on)
{
	struct timeout p;
	u64 now = 0, cpu = 0;
	timeout_begin(&p, WAIT_MS, now, cpu);
	for (u32 i = 0; i < 1000; i++) { /* 20 s, and some work each second */
		now += STEP_MS * (u64)MILLI_NS;
		cpu += i % 50 ? 0 : 1000;
		CHECK(timeout_left(&p, now, cpu) == TIMEOUT_LEFT);
	}
}

/* Stopped with us, or with the machine: it had no more time than we. */
TEST(timeout_while_we_are_stopped)
{
	struct timeout p;
	u64 hour = 3600 * (u64)SECOND_NS;
	timeout_begin(&p, WAIT_MS, 0, 0);
	for (u32 i = 1; i < 20; i++)
		CHECK(timeout_left(&p, i * hour, 0) == TIMEOUT_LEFT);
}

/* A guest that its host did not run takes that time for work of whoever was running. */
TEST(timeout_while_the_machine_is_stopped)
{
	struct timeout p;
	u64 hour = 3600 * (u64)SECOND_NS;
	timeout_begin(&p, WAIT_MS, 0, 0);
	for (u32 i = 1; i < 5; i++)
		CHECK(timeout_left(&p, i * hour, i * hour) == TIMEOUT_LEFT);
	CHECK(timeout_left(&p, 5 * hour, 5 * hour) == TIMEOUT_WORKED);
}
