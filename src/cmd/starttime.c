/* starttime.c - --at: when tracing begins. */
#include "base/clock.h"
#include "base/units.h"
#include "cmd/cmd.h"

/* "1764340200.25", in nanoseconds. */
static bool take_seconds(struct str text, u64 *ret)
{
	struct str whole, part;
	u64 seconds, scale = SECOND_NS;
	str_cut(&text, '.', &whole);
	if (!str_number(whole, &seconds) || seconds > INT64_MAX / SECOND_NS || text.n > 9)
		return false;
	*ret = seconds * SECOND_NS;
	for (part = text; part.n; part = str_from(part, 1)) {
		if (part.s[0] < '0' || part.s[0] > '9')
			return false;
		scale /= 10;
		*ret += (u64)(part.s[0] - '0') * scale;
	}
	return true;
}

/* "14:30" or "14:30:05", of today, in local time; as if the clock were not changed before. */
static bool take_clock(struct str text, u64 *ret)
{
	static const u64 most[] = {23, 59, 59};
	u64 v[3] = {0};
	u32 n = 0;
	struct tm t;
	time_t now = time(NULL);
	struct str word;
	while (n < countof(v) && str_cut(&text, ':', &word)) {
		if (word.n != 2 || word.s[0] < '0' || word.s[0] > '9' || word.s[1] < '0' ||
		    word.s[1] > '9')
			return false;
		v[n] = (u64)(word.s[0] - '0') * 10 + (u64)(word.s[1] - '0');
		if (v[n] > most[n])
			return false;
		n++;
	}
	if (n < 2 || text.n || !localtime_r(&now, &t))
		return false;
	i64 later =
		((i64)v[0] - t.tm_hour) * 3600 + ((i64)v[1] - t.tm_min) * 60 + (i64)v[2] - t.tm_sec;
	*ret = (u64)(now + later) * SECOND_NS;
	return true;
}

struct err *take_start(const char *val, struct start_time *ret)
{
	struct str text = str_z(val);
	bool good = false;
	*ret = (struct start_time){0};
	if (text.n && text.s[0] == '+')
		good = units_time(str_from(text, 1), &ret->after_ns) && ret->after_ns;
	else if (text.n && text.s[0] == '@')
		good = take_seconds(str_from(text, 1), &ret->at_ns) && ret->at_ns;
	else if (take_clock(text, &ret->at_ns))
		return ret->at_ns > clock_ns(CLOCK_REALTIME)
			       ? NULL
			       : err_new("--at %s: that time has passed today", val);
	return good ? NULL
		    : err_new("--at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since "
			      "1970 (got '%s')",
			      val);
}
