/*
 * Any bytes as what pages ask (enum ask_line), of a run whose maps have a row of each kind. Questions are separated by bytes
 * of 0; an empty one is a further reading. Each is answered once, in valid JSON if it is about states.
 */
#include "base/clock.h"
#include "core/unit.h"
#include "core/watch.h"
#include "live/front.h"
#include <stdlib.h>

enum { MAPS = 5, ROWS = 3, MOST_DEPTH = 8 };

/* ---- JSON ---- */

/* Behind a value, or NULL if there is none. */
static const char *behind_value(const char *s, const char *end, u32 depth);

static const char *behind_blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

static const char *behind_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++) {
		if ((u8)*s < 0x20)
			return NULL;
		s += *s == '\\';
	}
	return s < end ? s + 1 : NULL;
}

static const char *behind_list(const char *s, const char *end, u32 depth)
{
	char close = *s == '{' ? '}' : ']';
	s = behind_blanks(s + 1, end);
	if (s < end && *s == close)
		return s + 1;
	while (s && s < end) {
		if (close == '}') {
			s = *s == '"' ? behind_string(s, end) : NULL;
			s = s && s < end && *s == ':' ? s + 1 : NULL;
		}
		s = s ? behind_value(behind_blanks(s, end), end, depth + 1) : NULL;
		if (s && s < end && *s == close)
			return s + 1;
		s = s && s < end && *s == ',' ? behind_blanks(s + 1, end) : NULL;
	}
	return NULL;
}

static const char *behind_value(const char *s, const char *end, u32 depth)
{
	static const char *const words[] = {"true", "false", "null"};
	if (s >= end || depth > MOST_DEPTH)
		return NULL;
	if (*s == '"')
		return behind_string(s, end);
	if (*s == '{' || *s == '[')
		return behind_list(s, end, depth);
	for (u32 i = 0; i < countof(words); i++)
		if (str_starts(str_n(s, (size_t)(end - s)), str_z(words[i])))
			return s + strlen(words[i]);
	size_t n = 0;
	while (s + n < end && strchr("0123456789+-.e", s[n]))
		n++;
	return n ? s + n : NULL;
}

static bool is_json_lines(struct str text)
{
	struct str line;
	while (text.n && str_cut(&text, '\n', &line))
		if (behind_value(line.s, line.s + line.n, 0) != line.s + line.n)
			return false;
	return true;
}

/* ---- a page that asks what it is given ---- */

struct asker {
	struct str rest;
	struct sb question;
	bool expects; /* an answer */
};

static bool asked(void *self, struct sb *question)
{
	struct asker *k = self;
	struct str part;
	if (!k->rest.n || !str_cut(&k->rest, 0, &part) || !part.n)
		return false;
	assert(!k->expects);
	sb_clear(&k->question);
	sb_add(&k->question, part);
	sb_add(question, part);
	k->expects = true;
	return true;
}

static void answer(void *self, bool good, struct str text)
{
	static const char *const states[] = {"state\n", "pane\n", "part\n"};
	struct asker *k = self;
	if (!k->expects)
		abort();
	k->expects = false;
	for (u32 i = 0; good && i < countof(states); i++)
		if (str_starts(sb_str(&k->question), str_z(states[i])) &&
		    (!text.n || !is_json_lines(text)))
			abort();
	if (!good && !text.n)
		abort();
}

static void put(void *self, struct str state)
{
	(void)self;
	if (!is_json_lines(state))
		abort();
}

static bool ready(void *self)
{
	(void)self;
	return true;
}

static u64 own_ns(void *self)
{
	(void)self;
	return 0;
}

/* ---- a run ---- */

static const struct map maps[MAPS] = {
	{.name = STR("@n"), .role = MAP_USER},   {.name = STR("@h"), .role = MAP_USER},
	{.name = STR("@s"), .role = MAP_USER},   {.name = STR("@on"), .role = MAP_USER},
	{.name = STR("@\"t"), .role = MAP_USER},
};

/* Rows of one map: numbers, histograms, stats, numbers by stack, texts. */
static void read_map(struct watcher *w, u32 which, i64 time)
{
	static const struct str names[ROWS] = {STR("cat"), STR("a \"b\"\\\n"), STR("\xff\xc3\xa9")};
	struct frame frame[ROWS] = {0};
	struct bucket bucket[] = {{.lo = 1, .hi = 2, .count = 3}, {.lo = 2, .no_hi = true}};
	struct value key[ROWS], val[ROWS],
		stats[] = {{.kind = V_UINT, .u = (u64)time},
			   {.kind = V_INT, .i = 7},
			   {.kind = V_INT, .i = 7 * time}};
	bucket[1].count = (u64)time;
	for (u32 i = 0; i < ROWS; i++) {
		const struct value kinds[MAPS] = {
			{.kind = V_INT, .i = time * i},
			{.kind = V_HIST, .n = countof(bucket), .hist = bucket},
			{.kind = V_STATS, .n = countof(stats), .list = stats},
			{.kind = V_INT, .i = time},
			{.kind = V_STR, .str = names[i]},
		};
		frame[i].text = names[i];
		key[i] = which == 3 ? (struct value){.kind = V_STACK, .n = i + 1, .stack = frame}
				    : (struct value){.kind = V_STR, .str = names[i]};
		val[i] = kinds[which];
	}
	struct item it = {.kind = I_MAP,
			  .name = maps[which].name,
			  .map = {.key = key, .val = val, .n = ROWS, .adds = which < MAPS - 1}};
	w->map(w->self, &maps[which], &it, false);
}

static void reading(struct watcher *w, i64 time)
{
	struct watch_reading t = {.ns = (u64)time * SECOND_NS,
				  .wall_ns = (u64)time * SECOND_NS,
				  .programs_ns = WATCH_UNKNOWN};
	w->begin(w->self, &t);
	for (u32 i = 0; i < MAPS; i++)
		read_map(w, i, time);
	w->end(w->self);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	enum { MOST = 2000, MOST_READINGS = 20 };
	struct asker k = {.rest = str_n((const char *)data, n)};
	struct front_page page = {.self = &k,
				  .fd = -1,
				  .ready = ready,
				  .put = put,
				  .asked = asked,
				  .answer = answer,
				  .own_ns = own_ns};
	struct front_spec spec = {.page = &page,
				  .script = {.name = STR("x"), .text_fd = -1},
				  .title = STR("a \"title\""),
				  .maps_are_shown = true,
				  .every_ns = SECOND_NS,
				  .limits = {600 * (u64)SECOND_NS, 1 << 20}};
	struct front *f;
	if (n > MOST || front_open(&spec, &f))
		return 0;
	struct watcher *w = part_watcher(front_first(f));
	for (i64 time = 1; time == 1 || (k.rest.n && time < MOST_READINGS); time++) {
		reading(w, time);
		w->look(w->self);
	}
	front_close(f);
	sb_free(&k.question);
	return 0;
}
