#include "core/config.h"
#include "kern/link.h"
#include "types/type.h"

const struct setting settings[] = {
#define CONFIG(kind, name, first, old) {#name, old, SETTING_##kind, offsetof(struct config, name)},
#include "core/config.def"
	{0},
};

void config_init(struct config *c)
{
	*c = (struct config){
#define CONFIG(kind, name, first, old) .name = first,
#include "core/config.def"
	};
}

bool config_compat(struct config *c, struct str level)
{
	bool old = str_is(level, "0.17");
	if (!old && !str_is(level, "none"))
		return false;
	if (old && !c->compat && c->missing_probes == MISSING_ERROR)
		c->missing_probes = MISSING_WARN;
	c->compat = old;
	return true;
}

const char *const *setting_words(enum setting_kind kind)
{
	static const char *const yes[] = {"false", "true", "0", "1", NULL};
	static const char *const missing[] = {"error", "warn", "ignore", NULL};
	static const char *const caches[] = {"PER_PID", "PER_PROGRAM", "NONE", NULL};
	static const char *const licenses[] = {"GPL",
					       "GPL v2",
					       "GPL and additional rights",
					       "Dual BSD/GPL",
					       "Dual MIT/GPL",
					       "Dual MPL/GPL",
					       NULL};
	switch (kind) {
	case SETTING_NUMBER:
	case SETTING_TEXT: break;
	case SETTING_YES: return yes;
	case SETTING_MISSING: return missing;
	case SETTING_STACK: return stack_modes;
	case SETTING_CACHE: return caches;
	case SETTING_LICENSE: return licenses;
	}
	return NULL;
}

static const char *expected(enum setting_kind kind)
{
	switch (kind) {
	case SETTING_TEXT: break;
	case SETTING_NUMBER: return "expecting a number";
	case SETTING_YES: return "expecting a bool (true, false, 0 or 1)";
	case SETTING_MISSING: return "valid values are ignore, warn, and error";
	case SETTING_STACK: return "valid values are bpftrace, perf, raw, function, and build_id";
	case SETTING_CACHE: return "valid values are PER_PID, PER_PROGRAM, and NONE";
	case SETTING_LICENSE:
		return "valid values are GPL, GPL v2, GPL and additional rights, Dual BSD/GPL, "
		       "Dual MIT/GPL, Dual MPL/GPL";
	}
	return "";
}

bool setting_set(struct config *c, const struct setting *s, struct str text, struct arena *a,
		 const char **why)
{
	void *at = (char *)c + s->at;
	const char *const *words = setting_words(s->kind);
	u8 word = 0;
	*why = expected(s->kind);
	while (words && words[word] && !str_eq_nocase(text, str_z(words[word])))
		word++;
	if (words && !words[word])
		return false;
	switch (s->kind) {
	case SETTING_NUMBER: return str_count(text, at);
	case SETTING_TEXT: *(struct str *)at = arena_str(a, text); break;
	case SETTING_YES: *(bool *)at = word & 1; break;
	case SETTING_MISSING:
	case SETTING_STACK:
	case SETTING_CACHE: *(u8 *)at = word; break;
	case SETTING_LICENSE: *(struct str *)at = str_z(words[word]); break;
	}
	return true;
}

struct str setting_text(const struct config *c, const struct setting *s)
{
	const void *at = (const char *)c + s->at;
	if (s->kind == SETTING_TEXT || s->kind == SETTING_LICENSE)
		return *(const struct str *)at;
	return str_z(setting_words(s->kind)[*(const u8 *)at]);
}

u64 setting_number(const struct config *c, const struct setting *s)
{
	const void *at = (const char *)c + s->at;
	assert(s->kind == SETTING_YES || s->kind == SETTING_NUMBER);
	return s->kind == SETTING_YES ? *(const bool *)at : *(const u64 *)at;
}

/* ---- settings of maps ---- */

bool config_is_list(struct str text)
{
	return str_starts(str_trim(text), STR("@"));
}

bool config_entry(struct str *rest, struct str *map, struct str *value)
{
	struct str entry;
	while (str_cut(rest, ';', &entry)) {
		struct str s = str_trim(entry);
		u32 n = 0;
		while (n < s.n && s.s[n] != ' ' && s.s[n] != '\t')
			n++;
		*map = str_n(s.s, n);
		*value = str_trim(str_from(s, n));
		if (n)
			return true;
	}
	return false;
}

struct str config_of_map(struct str text, struct str map, bool *said)
{
	struct str rest = text, name, value;
	*said = text.n && !config_is_list(text);
	if (!config_is_list(text))
		return text.s ? str_trim(text) : STR("");
	while (config_entry(&rest, &name, &value)) {
		if (!str_eq(name, map))
			continue;
		*said = true;
		return value;
	}
	return STR("");
}
