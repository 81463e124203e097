/* members.c - columns of records in text: what a function was called with, a line for each argument. */
#include "core/columns.h"
#include "types/type.h"

enum { MEMBERS_INDENT = 4 }; /* of what stands in the brackets */

struct members {
	struct sb *out;
	struct sb path; /* "skb->len" */
	u32 indent, n;  /* n: lines so far */
	struct show how;
};

/* Nothing but zeros, as what could not be read is. */
static bool is_zero(const struct value *v)
{
	switch (v->kind) {
	case V_NONE: return true;
	case V_BOOL:
	case V_INT:
	case V_UINT:
	case V_PTR:
	case V_ENUM: return !v->u;
	case V_STR:
	case V_BYTES: return !v->str.n;
	case V_TUPLE:
	case V_ARRAY:
	case V_RECORD:
		for (u32 i = 0; i < v->n; i++)
			if (!is_zero(&v->list[i]))
				return false;
		return true;
	case V_NAMED:
	case V_STACK:
	case V_HIST:
	case V_STATS:
	case V_FLOAT:
	case V_PERCENTILES:
	case V_SERIES: break;
	}
	return false;
}

/* "{ .a = 1, .b = { .c = 2 } }" on one line. */
static void put_inline(struct members *m, const struct value *v)
{
	bool record = v->kind == V_RECORD, any = false;
	if (!record && v->kind != V_ARRAY) {
		value_text(m->out, v, &m->how);
		return;
	}
	sb_z(m->out, record ? "{" : "[");
	for (u32 i = 0; i < v->n; i++) {
		if (record && is_zero(&v->list[i]))
			continue;
		sb_z(m->out, any ? "," : "");
		if (record)
			sb_fmt(m->out, " .%.*s = ", STRF(v->names[i]));
		put_inline(m, &v->list[i]);
		any = true;
	}
	sb_z(m->out, record ? any ? " }" : "}" : "]");
}

static void new_line(struct members *m, u32 deeper)
{
	sb_char(m->out, '\n');
	sb_pad(m->out, ' ', m->indent + deeper);
}

/* "(struct path){", a line for each member, "}". */
static void put_struct(struct members *m, const struct value *v)
{
	const char *word = v->mode == T_UNION ? "union " : v->mode ? "struct " : "";
	bool any = false;
	sb_fmt(m->out, "(%s%.*s){", word, STRF(v->str.n ? v->str : STR("struct")));
	for (u32 i = 0; i < v->n; i++) {
		if (is_zero(&v->list[i]))
			continue;
		sb_z(m->out, any ? "," : "");
		new_line(m, 2);
		sb_fmt(m->out, ".%.*s = ", STRF(v->names[i]));
		put_inline(m, &v->list[i]);
		any = true;
	}
	if (any)
		new_line(m, 1);
	sb_char(m->out, '}');
}

static void put_typed(struct members *m, const struct value *v)
{
	if (v->kind == V_RECORD) {
		put_struct(m, v);
		return;
	}
	if ((v->kind == V_INT || v->kind == V_UINT) && v->str.n)
		sb_fmt(m->out, "(%.*s)", STRF(v->str));
	put_inline(m, v);
}

/* "skb->len = " */
static void put_name(struct members *m)
{
	sb_z(m->out, m->n++ ? "," : "");
	new_line(m, 0);
	sb_fmt(m->out, "%s = ", m->path.s);
}

/* "*(0xffff888182435d80)", and what lies there. */
static void put_pointer(struct members *m, const struct value *at, const struct value *there)
{
	/* An address of a process, where the kernel's memory was meant, or of nothing. */
	bool unread = is_zero(there) && (there->kind == V_RECORD || (i64)at->u >= 0);
	sb_fmt(m->out, "*(0x%llx)", at->u);
	if (unread)
		return;
	new_line(m, 1);
	put_typed(m, there);
}

/* What the script put together, and not a structure of C. */
static bool is_parts(const struct value *v)
{
	return v->kind == V_RECORD && v->mode == T_RECORD;
}

static void put_member(struct members *m, const struct value *v)
{
	size_t mark = m->path.n;
	if (is_parts(v)) {
		for (u32 i = 0; i < v->n; i++) {
			sb_fmt(&m->path, "%s%.*s", mark ? "->" : "", STRF(v->names[i]));
			put_member(m, &v->list[i]);
			m->path.n = mark;
			m->path.s[mark] = 0;
		}
		return;
	}
	put_name(m);
	if (v->kind != V_TUPLE || v->n < 2) {
		put_typed(m, v);
		return;
	}
	const struct value *last = &v->list[v->n - 1];
	if (v->n == 2 && is_parts(last))
		put_typed(m, &v->list[0]);
	else
		put_pointer(m, &v->list[0], &v->list[1]);
	if (is_parts(last))
		put_member(m, last);
}

void members_text(struct sb *out, const struct value *v, u32 indent, struct str trailer)
{
	struct members m = {
		.out = out, .indent = indent + MEMBERS_INDENT, .how = {trailer, .escape = true}};
	sb_char(out, '(');
	if (v->kind == V_RECORD)
		put_member(&m, v);
	sb_free(&m.path);
	if (m.n) {
		sb_char(out, '\n');
		sb_pad(out, ' ', indent);
	}
	sb_z(out, ");");
}
