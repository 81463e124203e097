/*
 * config.h - settings from the environment, the script's config block and options; see
 * reference 5.4.
 *
 * What they are is said once, in core/config.def.
 */
#pragma once
#include "base/str.h"

enum { MAP_KEYS = 4096 }; /* max_map_keys, unless it is set */
enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };

enum setting_kind {
	SETTING_YES,     /* bool */
	SETTING_NUMBER,  /* u64 */
	SETTING_TEXT,    /* struct str */
	SETTING_MISSING, /* u8: enum missing_probes */
	SETTING_STACK,   /* u8: enum stack_mode */
	SETTING_CACHE,   /* u8 */
	SETTING_LICENSE, /* struct str: one of its words */
};

struct config {
#define CONFIG_YES                     bool
#define CONFIG_NUMBER                  u64
#define CONFIG_TEXT                    struct str
#define CONFIG_MISSING                 u8
#define CONFIG_STACK                   u8
#define CONFIG_CACHE                   u8
#define CONFIG_LICENSE                 struct str
#define CONFIG(kind, name, first, old) CONFIG_##kind name;
#include "core/config.def"
	bool map_keys_set; /* max_map_keys was set: up to MAP_KEYS it is kept exactly */
	bool prealloc_set; /* prealloc_maps was set: the script's choice counts for all maps */
	u64 duration_ns;   /* of the run, to be told; 0: until it is stopped. Not a setting */
	struct str match; /* rows of emit() whose last column contains it; "": all. Not a setting */
	u64 events;       /* rows of emit() that end the run; 0: no number does. Not a setting */
	bool utc;         /* of times of day. Not a setting */
	u32 clock;        /* 1 + digits behind their second; 0: not asked for. The same */
	bool compat;      /* as it was in 0.17 */
	bool test, bench; /* only such probes run, and begin and end */
	bool unsafe, warnings /* -k */, no_warnings;
};

struct setting {
	const char *name, *old;
	enum setting_kind kind;
	size_t at; /* in struct config */
};
extern const struct setting settings[]; /* ended by {0} */

void config_init(struct config *c);                     /* the defaults */
bool config_compat(struct config *c, struct str level); /* false: there is no such level */
/* Words of a kind by number, ended by NULL; NULL: it has none. */
const char *const *setting_words(enum setting_kind kind);
/* The text into the setting; on failure *why says what was expected. */
bool setting_set(struct config *c, const struct setting *s, struct str text, struct arena *a,
		 const char **why);
/* Of the kinds that show as text. */
struct str setting_text(const struct config *c, const struct setting *s);
u64 setting_number(const struct config *c, const struct setting *s);

/* ---- settings of maps: one text for all of them, or "@x TEXT; @y TEXT" ---- */
bool config_is_list(struct str text);
/* The next entry of a list: the map's name and its text. False: there is none any more. */
bool config_entry(struct str *rest, struct str *map, struct str *value);
/* What the setting says of a map; *said: it says something of it, or of all maps. */
struct str config_of_map(struct str text, struct str map, bool *said);
