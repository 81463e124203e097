#include "base/units.h"

u64 units_scale(struct str unit)
{
	static const struct {
		struct str name;
		u64 ns;
	} units[] = {
		{STR("ns"), 1},
		{STR("us"), 1000},
		{STR("ms"), 1000000},
		{STR("s"), 1000000000},
		{STR("m"), 60000000000},
		{STR("h"), 3600000000000},
		{STR("d"), 86400000000000},
	};
	for (size_t i = 0; i < countof(units); i++)
		if (str_eq(unit, units[i].name))
			return units[i].ns;
	return 0;
}

bool units_ns(struct str s, u64 *ret)
{
	u32 n = s.n;
	while (n && s.s[n - 1] >= 'a' && s.s[n - 1] <= 'z')
		n--;
	struct str unit = str_from(s, n);
	u64 v, scale = unit.n ? units_scale(unit) : 1;
	if (!scale || !str_count((struct str){s.s, n}, &v))
		return false;
	return !__builtin_mul_overflow(v, scale, ret);
}

bool units_time(struct str s, u64 *ret)
{
	bool bare = s.n && s.s[s.n - 1] >= '0' && s.s[s.n - 1] <= '9';
	return !bare && !str_octal(s) && units_ns(s, ret);
}

void units_1024(struct sb *b, i64 v)
{
	u32 shift = 0;
	u64 mag = v < 0 ? -(u64)v : (u64)v;
	while (mag && shift < 6 && mag >= 1024 && mag % 1024 == 0) {
		mag /= 1024;
		shift++;
	}
	sb_fmt(b, "%s%llu", v < 0 ? "-" : "", mag);
	if (shift)
		sb_char(b, "KMGTPE"[shift - 1]);
}

void units_grouped(struct sb *b, u64 n)
{
	if (n >= 1000) {
		units_grouped(b, n / 1000);
		sb_fmt(b, ",%03llu", n % 1000);
	} else {
		sb_u64(b, n);
	}
}
