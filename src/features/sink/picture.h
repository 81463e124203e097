/*
 * picture.h - what SVG pictures share: text that is safe in XML, the frame of the file.
 *
 * A picture is one file without external parts. Its data stand in <metadata>, its script and style are
 * the same in every file of a kind, so that a page may allow them by their hashes.
 */
#pragma once
#include "base/json.h"
#include "core/sink.h"

/* Text of an element or attribute. What XML cannot hold is \xNN. */
void xml_text(struct sb *b, struct str s);
/* An element with text: <tag attrs>text</tag>. attrs: as written, with a blank before. */
void xml_element(struct sb *b, const char *tag, const char *attrs, struct str text);
/* What is asked for, else the command that is traced for, else the kind of picture. */
struct str picture_title(const struct sink_env *env, struct str asked, struct str kind);
/* The title, behind it where and when, as far as it fits; below the note. */
void picture_head(struct sb *b, u32 width, struct str title, struct str where, struct str note);
/* Up to the first drawing: size, title, description, style. */
void picture_begin(struct sb *b, u32 width, u32 height, struct str title, struct str desc);
/* Data (JSON, not yet escaped) and the script: picture.js and then the file's. */
void picture_end(struct sb *b, struct str json, const char *script);
/* Hue 0 to 360, saturation and lightness 0 to 100 as #rrggbb. */
void put_colour(struct sb *b, u32 hue, u32 saturation, u32 lightness);
u32 option_number(struct str s, u32 least, u32 most, u32 otherwise);
/* Columns of a UTF-8 text, and its first n. */
u32 utf8_columns(struct str s);
struct str utf8_cut(struct str s, u32 n);
