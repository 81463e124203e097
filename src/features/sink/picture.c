#include "sink/picture.h"
#include "base/embed.h"

/* Of UTF-8: U+FFFE and U+FFFF are no characters, and surrogates are no UTF-8. */
static bool xml_allows(struct str s, u32 n)
{
	return n != 3 || memcmp(s.s, "\xef\xbf", 2) || (u8)s.s[2] < 0xbe;
}

void xml_text(struct sb *b, struct str s)
{
	for (u32 i = 0; i < s.n;) {
		struct str rest = str_from(s, i);
		u8 c = (u8)s.s[i];
		u32 n = c == '\n' ? 1 : c < ' ' || c == 0x7f ? 0 : str_utf8(rest);
		if (!n || !xml_allows(rest, n))
			sb_fmt(b, "\\x%02x", c);
		else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			sb_fmt(b, "&#%u;", c);
		else
			sb_mem(b, s.s + i, n);
		i += n && xml_allows(rest, n) ? n : 1;
	}
}

void xml_element(struct sb *b, const char *tag, const char *attrs, struct str text)
{
	sb_fmt(b, "<%s%s>", tag, attrs);
	xml_text(b, text);
	sb_fmt(b, "</%s>", tag);
}

/* A file of this folder. */
static struct str part(const char *name)
{
	for (const struct embed *e = embedded; e->name; e++)
		if (str_ends(str_z(e->name), str_z(name)))
			return embed_text(e);
	assert(!"embedded");
	return STR("");
}

struct str picture_title(const struct sink_env *env, struct str asked, struct str kind)
{
	return asked.n ? asked : env->what.n ? env->what : kind;
}

enum { LEAST_TITLE = 12 }; /* characters; then where goes before it */

void picture_head(struct sb *b, u32 width, struct str title, struct str where, struct str note)
{
	u32 fits = (u32)((width - 20) / 7.23), beside = utf8_columns(where) + 2;
	bool both = where.n && beside + LEAST_TITLE * 13 / 10 < fits;
	u32 most = (both ? fits - beside : fits) * 10 / 13; /* the title is larger */
	bool cut = utf8_columns(title) > most;
	sb_z(b, "<text class=\"title\" x=\"10\" y=\"22\">");
	xml_text(b, cut ? utf8_cut(title, most - 1) : title);
	sb_z(b, cut ? "…</text>\n" : "</text>\n");
	if (both) {
		sb_fmt(b, "<text class=\"faint\" text-anchor=\"end\" x=\"%u\" y=\"22\">",
		       width - 10);
		xml_text(b, where);
		sb_z(b, "</text>\n");
	}
	sb_z(b, "<text x=\"10\" y=\"76\">");
	xml_text(b, utf8_cut(note, fits));
	sb_z(b, "</text>\n");
}

void picture_begin(struct sb *b, u32 width, u32 height, struct str title, struct str desc)
{
	sb_fmt(b,
	       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
	       "viewBox=\"0 0 %u %u\" role=\"group\" aria-label=\"",
	       width, height, width, height);
	xml_text(b, title);
	sb_z(b, "\">\n");
	xml_element(b, "title", "", title);
	sb_char(b, '\n');
	xml_element(b, "desc", "", desc);
	sb_z(b, "\n<style><![CDATA[");
	sb_add(b, part("/picture.css"));
	sb_fmt(b, "]]></style>\n<rect class=\"bg\" width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
	       width, height);
}

void picture_end(struct sb *b, struct str json, const char *script)
{
	xml_element(b, "metadata", " id=\"data\"", json);
	sb_z(b, "\n<script><![CDATA[(() => {\n");
	sb_add(b, part("/picture.js"));
	sb_add(b, part(script));
	sb_z(b, "})();]]></script>\n</svg>\n");
}

/* Of the colour wheel: 0 to 1000 at this hue. */
static i32 wheel(i32 hue)
{
	hue = (hue + 720) % 360;
	if (hue < 60)
		return hue * 1000 / 60;
	return hue < 180 ? 1000 : hue < 240 ? (240 - hue) * 1000 / 60 : 0;
}

void put_colour(struct sb *b, u32 hue, u32 saturation, u32 lightness)
{
	i32 l = (i32)lightness * 10, away = 1000 - abs(2 * l - 1000);
	i32 chroma = away * (i32)saturation / 100;
	sb_char(b, '#');
	for (i32 turn = 120; turn >= -120; turn -= 120) {
		i32 level = l + (wheel((i32)hue + turn) - 500) * chroma / 1000;
		sb_fmt(b, "%02x", (u32)MAX(MIN((level * 255 + 500) / 1000, 255), 0));
	}
}

u32 option_number(struct str s, u32 least, u32 most, u32 otherwise)
{
	u64 n;
	if (!s.n || !str_number(s, &n))
		return otherwise;
	return (u32)MAX(MIN(n, most), least);
}

u32 utf8_columns(struct str s)
{
	u32 n = 0;
	for (u32 i = 0; i < s.n; i++)
		n += ((u8)s.s[i] & 0xc0) != 0x80;
	return n;
}

struct str utf8_cut(struct str s, u32 n)
{
	u32 i = 0;
	for (; i < s.n; i++)
		if (((u8)s.s[i] & 0xc0) != 0x80 && !n--)
			break;
	return str_n(s.s, i);
}
