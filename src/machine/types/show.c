/* show.c - a type as C source: declarations read inside out, definitions with one tab per level. */
#include "types/type.h"

enum { MAX_DEPTH = 12, MAX_TEXT = 1 << 17 }; /* of types that contain themselves */

static void show_decl(const struct type *t, struct str name, int indent, int depth, struct sb *out);

static void put_qual(u8 qual, struct sb *out)
{
	if (qual & TQ_CONST)
		sb_z(out, "const ");
	if (qual & TQ_VOLATILE)
		sb_z(out, "volatile ");
	if (qual & TQ_RESTRICT)
		sb_z(out, "restrict ");
}

static void put_body(const struct type *t, int indent, int depth, struct sb *out)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	sb_z(out, "{\n");
	for (u32 i = 0; i < n && out->n < MAX_TEXT; i++) {
		sb_pad(out, '\t', (size_t)indent + 1);
		show_decl(f[i].type, f[i].name, indent + 1, depth + 1, out);
		if (f[i].bit_len)
			sb_fmt(out, ": %u", f[i].bit_len);
		sb_z(out, ";\n");
	}
	sb_pad(out, '\t', (size_t)indent);
	sb_char(out, '}');
}

static void put_enumerators(const struct type *t, int indent, struct sb *out)
{
	sb_z(out, "{\n");
	for (u32 i = 0; i < t->nenum; i++) {
		sb_pad(out, '\t', (size_t)indent + 1);
		struct str s = t->enums[i].name;
		if (t->is_signed)
			sb_fmt(out, "%.*s = %lld,\n", STRF(s), t->enums[i].val);
		else
			sb_fmt(out, "%.*s = %llu,\n", STRF(s), (u64)t->enums[i].val);
	}
	sb_pad(out, '\t', (size_t)indent);
	sb_char(out, '}');
}

/* What stands left of the declarator: "unsigned int", "struct path", "struct {...}". */
static void put_spec(const struct type *t, int indent, int depth, struct sb *out)
{
	put_qual(t->qual, out);
	if (t->alias.n)
		sb_add(out, t->alias);
	else if (t->kind == T_NONE)
		sb_z(out, "void");
	else if (t->name.n && !type_is_record(t) && t->kind != T_ENUM && t->kind != T_FWD)
		sb_add(out, t->name);
	else if (t->name.n || depth > MAX_DEPTH || !(type_is_record(t) || t->kind == T_ENUM))
		type_name(t, out);
	else if (t->kind == T_ENUM) {
		sb_z(out, "enum ");
		put_enumerators(t, indent, out);
	} else {
		sb_z(out, t->kind == T_UNION ? "union " : "struct ");
		put_body(t, indent, depth, out);
	}
}

static void put_params(const struct type *t, int depth, struct sb *out)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	sb_char(out, '(');
	for (u32 i = 0; i < n && out->n < MAX_TEXT; i++) {
		if (i)
			sb_z(out, ", ");
		show_decl(f[i].type, f[i].name, 0, depth + 1, out);
	}
	sb_z(out, n ? ")" : "void)");
}

static bool is_derived(const struct type *t) /* shapes the declarator, not the specifier */
{
	return !t->alias.n && (t->kind == T_PTR || t->kind == T_ARRAY || t->kind == T_FUNC);
}

/* Put text in front of what b holds. */
static void prepend(struct sb *b, struct str s)
{
	AUTO_SB old = *b;
	*b = (struct sb){0};
	sb_add(b, s);
	sb_add(b, sb_str(&old));
}

static void put_pointer(const struct type *t, struct sb *decl)
{
	AUTO_SB b = {0};
	bool wrap = is_derived(t->base) && t->base->kind != T_PTR;
	sb_z(&b, wrap ? "(*" : "*");
	put_qual(t->qual, &b);
	prepend(decl, sb_str(&b));
	if (wrap)
		sb_char(decl, ')');
}

static void show_decl(const struct type *t, struct str name, int indent, int depth, struct sb *out)
{
	AUTO_SB decl = {0};
	sb_add(&decl, name);
	for (int i = 0; i < MAX_DEPTH && depth <= MAX_DEPTH && is_derived(t); i++, t = t->base) {
		if (t->kind == T_PTR)
			put_pointer(t, &decl);
		else if (t->kind == T_FUNC)
			put_params(t, depth, &decl);
		else
			sb_fmt(&decl, "[%u]", t->count);
	}
	put_spec(t, indent, depth, out);
	if (decl.n)
		sb_char(out, ' ');
	sb_add(out, sb_str(&decl));
}

void type_show_decl(const struct type *t, struct str name, struct sb *out)
{
	show_decl(t, name, 0, 0, out);
}

void type_show_def(const struct type *t, struct sb *out)
{
	static const char *const word[] = {
		[T_STRUCT] = "struct", [T_UNION] = "union", [T_ENUM] = "enum"};
	if (!type_is_record(t) && t->kind != T_ENUM) {
		type_show_decl(t, STR(""), out);
		sb_char(out, ';');
		return;
	}
	bool tdef = !t->name.n && t->alias.n;
	sb_fmt(out, "%s%s ", tdef ? "typedef " : "", word[t->kind]);
	if (t->name.n)
		sb_fmt(out, "%.*s ", STRF(t->name));
	if (t->kind == T_ENUM)
		put_enumerators(t, 0, out);
	else
		put_body(t, 0, 0, out);
	if (tdef)
		sb_fmt(out, " %.*s", STRF(t->alias));
	sb_char(out, ';');
}

void type_show_field(const struct field *f, struct sb *out)
{
	const struct type *t = f->type;
	if (f->data_loc) {
		sb_z(out, f->data_loc == 2 ? "__rel_loc " : "__data_loc ");
		if (t->kind == T_STRING)
			sb_z(out, "char");
		else
			show_decl(t->kind == T_ARRAY ? t->base : t, STR(""), 0, 0, out);
		sb_z(out, "[] ");
		sb_add(out, f->name);
		return;
	}
	bool plain = t->kind == T_PTR && is_derived(t);
	for (const struct type *b = t; plain && is_derived(b); b = b->base)
		plain = b->kind == T_PTR;
	if (!plain) {
		type_show_decl(t, f->name, out);
		return;
	}
	type_show_decl(t, STR(""), out);
	if (f->name.n)
		sb_fmt(out, " %.*s", STRF(f->name));
}
