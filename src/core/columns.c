/* columns.c - a value as the text of its column. */
#include "core/columns.h"
#include <string.h>

const struct column_unit_info column_units[] = {
#define UNIT(id, word, right, takes, decimals, raw) {word, right, TAKES_##takes, decimals, raw},
#include "core/column_unit.def"
#undef UNIT
};

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

bool column_next_word(struct str *rest, struct str *word)
{
	if (!rest->n)
		return false;
	i32 end = str_chr(*rest, '\0');
	*word = end < 0 ? *rest : str_n(rest->s, (u32)end);
	*rest = end < 0 ? (struct str){0} : str_from(*rest, (u32)end + 1);
	return true;
}

static void put_quoted(struct sb *out, struct str word)
{
	AUTO_SB text = {0};
	for (u32 i = 0; i < word.n; i++) {
		if (word.s[i] == '"' || word.s[i] == '\\')
			sb_char(&text, '\\');
		sb_char(&text, word.s[i]);
	}
	sb_char(out, '"');
	sb_visible(out, sb_str(&text));
	sb_char(out, '"');
}

static void put_words(struct sb *out, struct str bytes, bool quoted)
{
	struct str word;
	for (bool first = true; column_next_word(&bytes, &word); first = false) {
		if (!first)
			sb_char(out, ' ');
		(quoted ? put_quoted : sb_visible)(out, word);
	}
}

bool column_has_words(const struct column *c)
{
	switch (c->unit) {
	case COL_ELAPSED:
	case COL_CLOCK:
	case COL_SYSCALL:
	case COL_USER:
	case COL_DISK:
	case COL_INTERFACE:
	case COL_CGROUP:
	case COL_CONTAINER: return true;
	default: return false;
	}
}

static bool is_number(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_UINT || v->kind == V_BOOL || v->kind == V_ENUM;
}

bool column_absent(const struct column *c, const struct value *v)
{
	bool error = c->unit == COL_NAME && c->names == names_find(STR("errno"));
	return v->kind == V_NONE || (error && !v->i);
}

bool columns_have_data(const struct columns *t)
{
	bool any = false;
	for (u32 i = 0; i < t->n; i++)
		any |= !t->col[i].text;
	return any && !t->summary;
}

static void put_status(struct sb *out, u32 status)
{
	u32 sig = status & 0x7f, code = status >> 8 & 0xff;
	const char *name = sigabbrev_np((int)sig);
	if (sig)
		sb_fmt(out, "signal %u (%s)%s", sig, name ? name : "?",
		       status & 0x80 ? " [core dumped]" : "");
	else if (code)
		sb_fmt(out, "code %u", code);
	else
		sb_char(out, '0');
}

static void put_name(struct sb *out, const struct column *c, i64 n)
{
	if (names_put(out, c->names, n))
		return;
	if (n)
		sb_i64(out, n);
	else
		sb_char(out, '-');
}

enum { MAX_INDENT = 200 };

/* False: the unit says nothing about such a value. */
static bool put_unit(struct sb *out, const struct column *c, const struct value *v)
{
	double d = v->kind == V_UINT ? (double)v->u : (double)v->i;
	bool small = d > 0 && d < (double)NS_PER_MS / 100;
	if (c->unit == COL_ARGV && (v->kind == V_BYTES || v->kind == V_STR)) {
		put_words(out, v->str, c->quoted);
		return true;
	}
	if (!is_number(v))
		return false;
	switch (c->unit) {
	case COL_US: sb_fmt(out, "%.0f", d / (double)NS_PER_US); return true;
	case COL_MS: sb_fmt(out, small ? "%.3f" : "%.2f", d / (double)NS_PER_MS); return true;
	case COL_S: sb_fmt(out, "%.2f", d / (double)NS_PER_S); return true;
	case COL_SECONDS: sb_fmt(out, "%.6f", d / (double)NS_PER_S); return true;
	case COL_KB: sb_fmt(out, "%.0f", d / 1024); return true;
	case COL_MEMINFO:
	case COL_MB: sb_fmt(out, "%.0f", d / (1024 * 1024)); return true;
	case COL_MILLI: sb_fmt(out, "%.3f", d / 1000); return true;
	case COL_PERCENT: sb_fmt(out, c->bare ? "%.2f" : "%.2f%%", d / 100); return true;
	case COL_INDENT: sb_pad(out, ' ', (u32)MIN(v->u, MAX_INDENT)); return true;
	case COL_HEX: sb_fmt(out, "0x%llx", v->u); return true;
	case COL_OCT: sb_fmt(out, "%s%llo", v->u ? "0" : "", v->u); return true;
	case COL_NAME: put_name(out, c, v->i); return true;
	case COL_STATUS: put_status(out, (u32)v->u); return true;
	default: return false;
	}
}

bool column_decimal(struct sb *out, const struct column *c, const struct value *v)
{
	u32 decimals = column_units[c->unit].decimals;
	double scale = 1;
	if (!decimals || (v->kind != V_INT && v->kind != V_UINT))
		return false;
	for (u32 i = 0; i < decimals; i++)
		scale *= 10;
	sb_fmt(out, "%.*f", (int)decimals, (double)v->i / scale);
	return true;
}

void column_text(struct sb *out, const struct column *c, const struct value *v, struct str trailer)
{
	if (c->blank && (v->kind == V_NONE || (is_number(v) && !v->u)))
		return;
	if (v->kind == V_NONE || v->kind == V_HIST) {
		sb_char(out, '-');
	} else if (c->unit == COL_CLOCK && v->kind == V_NAMED && v->str.n >= 29) {
		/* of 2026-11-22T10:15:00.123456789... */
		sb_add(out, str_n(v->str.s + 11, c->digits ? 9 + c->digits : 8));
	} else if (!put_unit(out, c, v)) {
		value_text(out, v, &(struct show){trailer, true});
	}
}
