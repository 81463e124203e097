/* time.c - wall-clock text of kernel timestamps. */
#include "base/clock.h"
#include "report/reader.h"
#include <time.h>

enum { MAX_TIME_TEXT = 4096 };

void clocks_read(struct clocks *c)
{
	c->boot_offset_ns = host_boot_offset_ns();
	c->ahead_ns[STAMP_MONO] = 0;
	c->ahead_ns[STAMP_BOOT] = (i64)(clock_ns(CLOCK_BOOTTIME) - now_ns());
	c->ahead_ns[STAMP_TAI] = (i64)(clock_ns(CLOCK_TAI) - now_ns());
}

static void put_part(struct sb *out, u32 digits, u64 ns)
{
	static const u64 unit[] = {[3] = 1000000, [6] = 1000, [9] = 1};
	assert(digits < countof(unit) && unit[digits]);
	sb_fmt(out, "%0*llu", (int)digits, ns / unit[digits]);
}

/*
 * strftime() has no parts of a second: %f micro-, %k nano-, %l milliseconds are filled in before, and
 * those of %T.
 */
static void fill_parts(struct sb *out, const char *fmt, u32 digits, u64 ns)
{
	for (; *fmt; fmt++) {
		if (*fmt != '%' || !fmt[1]) {
			sb_char(out, *fmt);
			continue;
		}
		switch (*++fmt) {
		case 'f': put_part(out, 6, ns); break;
		case 'k': put_part(out, 9, ns); break;
		case 'l': put_part(out, 3, ns); break;
		case 'T':
			sb_z(out, digits ? "%T." : "%T");
			if (digits)
				put_part(out, digits, ns);
			break;
		default: sb_char(out, '%'); sb_char(out, *fmt);
		}
	}
}

void clocks_strftime(const struct clocks *c, struct sb *out, const char *fmt, u64 nsecs)
{
	AUTO_SB full = {0};
	u64 wall = nsecs + c->boot_offset_ns;
	time_t secs = (time_t)(wall / SECOND_NS);
	struct tm tm;
	char text[MAX_TIME_TEXT];
	if (!(c->utc ? gmtime_r(&secs, &tm) : localtime_r(&secs, &tm))) {
		sb_z(out, "(?)");
		return;
	}
	fill_parts(&full, fmt, c->digits, wall % SECOND_NS);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	size_t n = full.n ? strftime(text, sizeof(text), full.s, &tm) : 0;
#pragma GCC diagnostic pop
	if (full.n && !n && full.n > sizeof(text) / 8)
		sb_z(out, "(?)");
	sb_mem(out, text, n);
}
