/* ksnoop.c - ksnoop: kernel functions with arguments and results by BTF; conditions on them. */
#include "tool/spec.h"
#include "tool/writers.h"

enum {
	MAX_CALLS = 32,
	MAX_WHOLE = 2048, /* bytes of a structure that nobody named */
	REG_ARGS = 6,     /* those that a kprobe knows */
};

/* A parameter, the result, or a member of either. */
struct part {
	struct str name;
	const struct type *type;
	const char *expr; /* in the language */
	bool whole;       /* shown itself, not only parts of it */
	bool named;
	struct part *child, *next;
};

/* What is shown of one event, and when. */
struct side {
	struct part *part;
	struct sb when;
	bool shown;
};

struct call {
	struct cursor c;
	struct str name;
	const struct type *fn;
	bool trampoline; /* fentry and fexit are there */
	bool listed;     /* arguments were named */
	struct side entry, result;
};

/* ---- functions ---- */

static const struct type *function_of(struct host *h, struct str name)
{
	struct types *k = host_btf(h);
	const struct type *fn = k ? btf_types_find(k, name, T_FUNC) : NULL;
	return k && !fn ? host_module_type(h, name, T_FUNC) : fn;
}

static bool note_point(const struct point *p, void *arg)
{
	*(struct point *)arg = *p;
	return false;
}

/* Trampolines pass on structures since Linux 6.1, and what lies on the stack since 6.6, as other things that are
 * easily asked for. */
static bool passes_on(struct host *h, const struct type *fn)
{
	u32 n, slots = 0;
	const struct field *f = type_fields(fn, &n);
	for (u32 i = 0; i < n; i++) {
		slots += MIN((f[i].type->size + 7) / 8, 2u);
		if (type_is_record(f[i].type) && !host_has(h, FEAT_TAI_NS))
			return false;
	}
	return slots <= REG_ARGS || host_has(h, FEAT_UPROBE_MULTI);
}

static bool has_trampoline(struct words *w, const struct type *fn, struct str name)
{
	struct point p = {.type = probe_type_find(STR("fentry"))}, first = {0};
	if (!host_has(w->h, FEAT_FENTRY) || !passes_on(w->h, fn))
		return false;
	p.method = probe_last_method(p.type);
	struct err *e = p.type->parse(w->a, &p, name);
	if (!e)
		e = p.type->expand(w->h, w->u, NULL, &p, note_point, &first);
	if (!e && first.type)
		e = p.type->types(w->h, w->u, &first, 0);
	bool found = !e && first.type;
	err_free(e);
	return found;
}

/* A probe of its return is refused, or waits in vain. */
static bool ends(const struct call *k)
{
	static const char *const names[] = {"do_exit",
					    "do_group_exit",
					    "make_task_dead",
					    "kthread_exit",
					    "kthread_complete_and_exit",
					    "panic",
					    NULL};
	return str_among(k->name, names);
}

static bool returns(const struct call *k)
{
	return k->fn->base && k->fn->base->kind != T_NONE;
}

/* ---- parts ---- */

/* A type that casts may name, for values that arrive as numbers. */
static const char *cast_of(struct words *w, const struct type *t)
{
	const char *word = t->kind == T_STRUCT  ? "struct "
			   : t->kind == T_UNION ? "union "
						: "enum ";
	if (t->kind == T_PTR) {
		const struct type *to = t->base;
		bool known = to && (type_is_record(to) || to->kind == T_INT || to->kind == T_ENUM ||
				    to->kind == T_BOOL);
		return known ? arena_fmt(w->a, "%s *", cast_of(w, to)) : "void *";
	}
	if (t->kind == T_BOOL)
		return "bool";
	if (t->kind != T_INT && t->name.n)
		return arena_fmt(w->a, "%s%.*s", word, STRF(t->name));
	if (t->kind != T_INT && t->alias.n)
		return arena_fmt(w->a, "%.*s", STRF(t->alias));
	if (t->kind == T_INT && t->is_char)
		return "char";
	if (type_is_record(t))
		return "void";
	return arena_fmt(w->a, "%sint%u", t->is_signed ? "" : "u", t->size * 8);
}

static bool in_register(const struct type *t)
{
	return !type_is_record(t) || t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
}

/* To a kprobe a small structure is a number. */
static const struct type *type_of(const struct call *k, const struct type *t)
{
	return !k->trampoline && type_is_record(t) && in_register(t) ? type_int(t->size, false) : t;
}

/* NULL: a kprobe does not have it. */
static const char *expr_of(struct call *k, u32 i, const struct field *f)
{
	struct words *w = k->c.w;
	if (k->trampoline)
		return arena_fmt(w->a, "args.%.*s", STRF(f[i].name));
	for (u32 n = 0; n <= i; n++)
		if (i >= REG_ARGS || !in_register(f[n].type))
			return NULL;
	return arena_fmt(w->a, "((%s)arg%u)", cast_of(w, type_of(k, f[i].type)), i);
}

static struct part *add_part(struct words *w, struct part **list, struct str name)
{
	for (; *list; list = &(*list)->next)
		if (str_eq((*list)->name, name))
			return *list;
	*list = arena_new(w->a, struct part);
	(*list)->name = name;
	return *list;
}

/* All parameters that can be shown. */
static void add_all(struct call *k)
{
	u32 n;
	const struct field *f = type_fields(k->fn, &n);
	for (u32 i = 0; i < n; i++) {
		const char *expr = f[i].name.n ? expr_of(k, i, f) : NULL;
		if (!expr)
			continue;
		struct part *p = add_part(k->c.w, &k->entry.part, f[i].name);
		p->type = type_of(k, f[i].type);
		p->expr = expr;
		p->whole = true;
	}
}

static struct part *result_part(struct call *k)
{
	struct words *w = k->c.w;
	struct part *p = add_part(w, &k->result.part, STR("return"));
	if (returns(k)) {
		p->type = type_of(k, k->fn->base);
		p->expr = k->trampoline ? "retval"
					: arena_fmt(w->a, "((%s)retval)", cast_of(w, p->type));
	}
	return p;
}

/* ---- what is typed ---- */

static struct str take_name(struct cursor *c)
{
	struct str t = c->word->text;
	cursor_blanks(c);
	u32 from = c->at;
	for (; c->at < t.n; c->at++) {
		char ch = t.s[c->at];
		if (ch != '_' && ch != '.' && !(ch >= 'a' && ch <= 'z') &&
		    !(ch >= 'A' && ch <= 'Z') && !(ch >= '0' && ch <= '9'))
			break;
	}
	return str_n(t.s + from, c->at - from);
}

static bool no_parameter(struct call *k, u32 from, struct str name)
{
	AUTO_SB list = {0};
	u32 n;
	const struct field *f = type_fields(k->fn, &n);
	for (u32 i = 0; i < n; i++)
		sb_fmt(&list, "%s%.*s", i ? ", " : "", STRF(f[i].name));
	return cursor_fail(&k->c, from, "%.*s has no parameter '%.*s', only %s", STRF(k->name),
			   STRF(name), list.n ? list.s : "return");
}

static struct part *read_parameter(struct call *k, u32 from, struct str name)
{
	u32 n;
	const struct field *f = type_fields(k->fn, &n);
	for (u32 i = 0; i < n; i++) {
		if (!str_eq(f[i].name, name))
			continue;
		const char *expr = expr_of(k, i, f);
		if (!expr) {
			cursor_fail(&k->c, from, "kprobes do not have '%.*s'", STRF(name));
			return NULL;
		}
		struct part *p = add_part(k->c.w, &k->entry.part, name);
		p->type = type_of(k, f[i].type);
		p->expr = expr;
		return p;
	}
	no_parameter(k, from, name);
	return NULL;
}

static struct part *read_member(struct call *k, struct part *p)
{
	struct cursor *c = &k->c;
	struct words *w = c->w;
	cursor_blanks(c);
	u32 from = c->at;
	struct str name = take_name(c);
	struct field f;
	const struct type *t = p->type->kind == T_PTR ? p->type->base : p->type;
	if (!name.n)
		return cursor_fail(c, from, "expected a member's name after '->'"), NULL;
	if (!t || !type_is_record(t))
		return cursor_fail(c, from, "'%.*s' is no structure, and has no members",
				   STRF(p->name)),
		       NULL;
	if (!type_field(t, name, &f)) {
		struct str near = type_near_field(t, name);
		cursor_fail(c, from, "%s has no member '%.*s'%s%.*s%s", type_namez(w->a, t),
			    STRF(name), near.n ? ": is '" : "", STRF(near),
			    near.n ? "' meant?" : "");
		return NULL;
	}
	struct part *m = add_part(w, &p->child, name);
	m->type = f.type;
	m->expr = arena_fmt(w->a, "%s->%.*s", p->expr, STRF(name));
	return m;
}

/* " > 100" behind p, if it is there. */
static bool read_condition(struct call *k, const struct part *p, struct side *s)
{
	static const char *const ops[] = {"==", "!=", ">=", "<=", ">", "<"};
	struct cursor *c = &k->c;
	struct str rest;
	size_t op = 0;
	i64 number = 0;
	u64 large = 0;
	cursor_blanks(c);
	u32 from = c->at;
	rest = str_from(c->word->text, from);
	while (op < countof(ops) && !str_starts(rest, str_z(ops[op])))
		op++;
	if (op == countof(ops))
		return true;
	c->at += (u32)strlen(ops[op]);
	cursor_blanks(c);
	bool minus = cursor_take(c, '-');
	struct str digits = take_name(c);
	bool ok = minus ? str_i64(str_z(arena_fmt(c->w->a, "-%.*s", STRF(digits))), &number)
			: str_u64(digits, &large);
	if (!ok)
		return cursor_fail(c, from, "expected a number after '%s'", ops[op]);
	const struct type *t = p->type;
	if (!type_is_int(t) && t->kind != T_BOOL && t->kind != T_PTR)
		return cursor_fail(c, from, "'%.*s' is no number to compare", STRF(p->name));
	const char *to = type_is_int(t) && t->is_signed ? "int64" : "uint64";
	sb_fmt(&s->when, "%s(%s)%s %s ", s->when.n ? " && " : "", to, p->expr, ops[op]);
	if (minus)
		sb_fmt(&s->when, "(%s)(%lld)", to, number);
	else
		sb_u64(&s->when, large);
	return true;
}

/* PARAMETER or return, ->MEMBER..., a condition. */
static bool read_arg(struct call *k)
{
	struct cursor *c = &k->c;
	cursor_blanks(c);
	u32 from = c->at;
	struct str name = take_name(c);
	bool result = str_is(name, "return");
	struct side *s = result ? &k->result : &k->entry;
	if (!name.n)
		return cursor_fail(c, from, "expected the name of a parameter, or return");
	if (result && ends(k))
		return cursor_fail(c, from, "%.*s does not return", STRF(k->name));
	struct part *p = result ? result_part(k) : read_parameter(k, from, name);
	if (!p)
		return false;
	for (;;) {
		cursor_blanks(c);
		if (!str_starts(str_from(c->word->text, c->at), STR("->")))
			break;
		c->at += 2;
		if (!p->type)
			return cursor_fail(c, from, "%.*s returns nothing", STRF(k->name));
		p = read_member(k, p);
		if (!p)
			return false;
	}
	p->whole = p->named = s->shown = true;
	if (!p->type) {
		cursor_blanks(c);
		char ch = c->at < c->word->text.n ? c->word->text.s[c->at] : 0;
		return (ch != '=' && ch != '!' && ch != '<' && ch != '>') ||
		       cursor_fail(c, from, "%.*s returns nothing", STRF(k->name));
	}
	return read_condition(k, p, s);
}

static bool read_call(struct call *k)
{
	struct cursor *c = &k->c;
	struct words *w = c->w;
	k->name = take_name(c);
	if (!k->name.n)
		return cursor_fail(c, 0, "expected a function of the kernel");
	k->fn = function_of(w->h, k->name);
	if (!k->fn)
		return cursor_fail(c, 0, "the kernel's BTF has no function '%.*s'", STRF(k->name));
	k->trampoline = has_trampoline(w, k->fn, k->name);
	if (cursor_take(c, '(')) {
		k->listed = true;
		do
			if (!read_arg(k))
				return false;
		while (cursor_take(c, ','));
		if (!cursor_take(c, ')'))
			return cursor_fail(c, c->at, "expected ',' or ')' after an argument");
	}
	if (!cursor_end(c))
		return cursor_fail(c, c->at, "expected FUNCTION or FUNCTION(ARG, ...)");
	if (!k->listed) {
		k->entry.shown = true;
		k->result.shown = !ends(k);
		result_part(k)->whole = true;
		add_all(k);
	}
	return true;
}

/* ---- info ---- */

/* "int ip_send_skb(struct net * net, struct sk_buff * skb);" */
static void put_prototype(const struct type *fn, struct str name, struct sb *out)
{
	u32 n;
	const struct field *f = type_fields(fn, &n);
	struct field result = {.type = fn->base};
	if (fn->base && fn->base->kind != T_NONE)
		type_show_field(&result, out);
	else
		sb_z(out, fn->base && fn->base->name.n ? "" : "void");
	sb_fmt(out, " %.*s(", STRF(name));
	for (u32 i = 0; i < n; i++) {
		sb_z(out, i ? ", " : "");
		type_show_field(&f[i], out);
	}
	sb_z(out, fn->flex ? n ? ", ...);" : "...);" : n ? ");" : "void);");
}

static bool write_info(struct words *w)
{
	bool ok = true;
	w->answers = true;
	sb_z(w->out, "begin {\n");
	for (u32 i = 1; i < w->n; i++) {
		AUTO_SB text = {0};
		struct call k = {.c = {w, &w->operand[i], 0}};
		bool found = read_call(&k);
		sb_free(&k.entry.when);
		sb_free(&k.result.when);
		ok &= found;
		if (!found)
			continue;
		put_prototype(k.fn, k.name, &text);
		sb_fmt(w->out, "\temit(prototypes, function = \"%.*s\", prototype = \"%s\");\n",
		       STRF(k.name), text.s);
	}
	sb_z(w->out, "\texit();\n}\n");
	return ok;
}

/* ---- trace ---- */

/* Does the value behind a pointer say something? That of bytes is the first of many. */
static bool points_to_value(const struct part *p)
{
	const struct type *to = p->type->kind == T_PTR ? p->type->base : NULL;
	if (!to || !to->size)
		return false;
	if (type_is_record(to))
		return p->named || to->size <= MAX_WHOLE;
	return (to->kind == T_INT && to->size > 1) || to->kind == T_ENUM || to->kind == T_BOOL;
}

static void put_parts(struct sb *out, const struct part *p);

/* A value; (address, what lies there); (parts of it); (address, what lies there, (parts)). */
static void put_part(struct sb *out, const struct part *p)
{
	if (!p->type) {
		sb_z(out, "\"void\"");
		return;
	}
	if (!p->whole) {
		put_parts(out, p->child);
		return;
	}
	bool both = points_to_value(p);
	if (!both && !p->child) {
		sb_z(out, p->expr);
		return;
	}
	sb_fmt(out, both ? "(%s, *%s" : "(%s", p->expr, p->expr);
	if (p->child) {
		sb_z(out, ", ");
		put_parts(out, p->child);
	}
	sb_z(out, ")");
}

static void put_parts(struct sb *out, const struct part *p)
{
	sb_z(out, "(");
	for (const struct part *q = p; q; q = q->next) {
		sb_fmt(out, "%s%.*s = ", q == p ? "" : ", ", STRF(q->name));
		put_part(out, q);
	}
	sb_z(out, ")");
}

static void put_row(struct words *w, const struct call *k, const char *event, const char *tabs)
{
	sb_fmt(w->out,
	       "%semit(calls, time_ns = nsecs, cpu = cpu, pid = pid, comm = comm, function = "
	       "\"%.*s\", event = \"%s\"",
	       tabs, STRF(k->name), event);
}

static void put_emit(struct words *w, const struct call *k, const struct side *s, const char *tabs)
{
	put_row(w, k, s == &k->entry ? "entry" : "return", tabs);
	if (s->part) {
		sb_fmt(w->out, ",\n%s     args = ", tabs);
		put_parts(w->out, s->part);
	}
	sb_z(w->out, ");\n");
}

static void put_probe(struct words *w, const struct call *k, const char *entry_kind)
{
	bool entry = *entry_kind == 'e';
	sb_fmt(w->out, "%s:%.*s",
	       k->trampoline ? entry ? "fentry" : "fexit"
	       : entry       ? "kprobe"
			     : "kretprobe",
	       STRF(k->name));
}

static void write_event(struct words *w, const struct call *k, const struct side *s)
{
	if (!s->shown)
		return;
	put_probe(w, k, s == &k->entry ? "entry" : "return");
	if (s->when.n)
		sb_fmt(w->out, "\n/%s/", s->when.s);
	sb_z(w->out, "\n{\n");
	put_emit(w, k, s, "\t");
	sb_z(w->out, "}\n\n");
}

/* One row for both: what there was at the entry is kept until the result is known. */
static void write_pair(struct words *w, const struct call *k, u32 i)
{
	put_probe(w, k, "entry");
	sb_fmt(w->out,
	       "\n{\n\t@depth%u[tid] += 1;\n\tif (%s) {\n\t\t@begun%u[tid, @depth%u[tid]] = 1;\n"
	       "\t\t@args%u[tid, @depth%u[tid]] = ",
	       i, k->entry.when.n ? k->entry.when.s : "true", i, i, i, i);
	put_parts(w->out, k->entry.part);
	sb_z(w->out, ";\n\t}\n}\n\n");

	put_probe(w, k, "return");
	sb_fmt(w->out,
	       "\n/@depth%u[tid]/\n{\n\t$level = @depth%u[tid];\n\t$args = @args%u[tid, $level];\n"
	       "\tif (@begun%u[tid, $level]%s%s) {\n",
	       i, i, i, i, k->result.when.n ? " && " : "",
	       k->result.when.n ? k->result.when.s : "");
	put_row(w, k, "call", "\t\t");
	sb_z(w->out, ",\n\t\t     args = (");
	for (const struct part *p = k->entry.part; p; p = p->next)
		sb_fmt(w->out, "%.*s = $args.%.*s, ", STRF(p->name), STRF(p->name));
	sb_z(w->out, "return = ");
	put_part(w->out, k->result.part);
	sb_fmt(w->out,
	       "));\n\t}\n\tdelete(@args%u, (tid, $level));\n\tdelete(@begun%u, (tid, $level));\n"
	       "\tif ($level > 1) { @depth%u[tid] = $level - 1; } else { delete(@depth%u, tid); }\n"
	       "}\n\n",
	       i, i, i, i);
}

static void write_call(struct words *w, const struct call *k, u32 i)
{
	if (k->entry.part && k->result.part && (k->entry.when.n || k->result.when.n)) {
		write_pair(w, k, i);
		return;
	}
	write_event(w, k, &k->entry);
	write_event(w, k, &k->result);
}

/* ---- -s: calls within each other ---- */

/*
 * @at[tid] calls of the order are open, each within the one before. What is to be shown of them is
 * kept until the last one is reached. Further calls of an open function are counted, so that their
 * returns are not taken for its own.
 */
static void put_kept(struct words *w, const struct call *k, u32 i)
{
	if (k->entry.shown) {
		sb_fmt(w->out,
		       "\t\t\tif (!@told%u[tid]) {\n"
		       "\t\t\t\temit(calls, time_ns = @time%u[tid], cpu = @cpu%u[tid], pid = pid, "
		       "comm = comm,\n\t\t\t\t     function = \"%.*s\", event = \"entry\"",
		       i, i, i, STRF(k->name));
		if (k->entry.part)
			sb_fmt(w->out, ", args = @args%u[tid]", i);
		sb_z(w->out, ");\n\t\t\t}\n");
	}
	sb_fmt(w->out, "\t\t\t@told%u[tid] = 1;\n", i);
}

static void keep_call(struct words *w, const struct call *k, u32 i)
{
	sb_fmt(w->out, "\t\t\tdelete(@told%u, tid);\n", i);
	if (!k->entry.shown)
		return;
	sb_fmt(w->out, "\t\t\t@time%u[tid] = nsecs;\n\t\t\t@cpu%u[tid] = cpu;\n", i, i);
	if (!k->entry.part)
		return;
	sb_fmt(w->out, "\t\t\t@args%u[tid] = ", i);
	put_parts(w->out, k->entry.part);
	sb_z(w->out, ";\n");
}

static void write_nested(struct words *w, const struct call *all, u32 i, u32 n)
{
	const struct call *k = &all[i];
	bool last = i + 1 == n;
	put_probe(w, k, "entry");
	sb_fmt(w->out, "\n{\n\tif (@at[tid] == %u) {\n\t\tif (%s) {\n\t\t\t@at[tid] = %u;\n", i,
	       k->entry.when.n ? k->entry.when.s : "true", i + 1);
	for (u32 j = 0; last && j < i; j++)
		put_kept(w, &all[j], j);
	if (!last)
		keep_call(w, k, i);
	else if (k->entry.shown)
		put_emit(w, k, &k->entry, "\t\t\t");
	sb_fmt(w->out, "\t\t}\n\t} else if (@at[tid] > %u) {\n\t\t@again%u[tid] += 1;\n\t}\n}\n\n",
	       i, i);

	if (ends(k))
		return;
	put_probe(w, k, "return");
	sb_fmt(w->out, "\n/@at[tid] > %u/\n{\n\tif (@again%u[tid]) {\n\t\t@again%u[tid] -= 1;\n", i,
	       i, i);
	sb_z(w->out, "\t} else {\n");
	if (i)
		sb_fmt(w->out, "\t\t@at[tid] = %u;\n", i);
	else
		sb_z(w->out, "\t\tdelete(@at, tid);\n");
	if (k->result.shown) {
		bool any = !last || k->result.when.n;
		const char *tabs = any ? "\t\t\t" : "\t\t";
		if (any)
			sb_fmt(w->out, "\t\tif (%s%s%s) {\n",
			       last ? "" : arena_fmt(w->a, "@told%u[tid]", i),
			       !last && k->result.when.n ? " && " : "",
			       k->result.when.n ? k->result.when.s : "");
		put_emit(w, k, &k->result, tabs);
		sb_z(w->out, any ? "\t\t}\n" : "");
	}
	if (!last)
		sb_fmt(w->out, "\t\tdelete(@told%u, tid);\n", i);
	sb_fmt(w->out, "\t\tdelete(@again%u, tid);\n\t}\n}\n\n", i);
}

static bool is_repeated(struct call *all, u32 i)
{
	for (u32 j = 0; j < i; j++)
		if (str_eq(all[j].name, all[i].name))
			return cursor_fail(&all[i].c, 0, "%.*s is in the order twice",
					   STRF(all[i].name)),
			       true;
	return false;
}

static bool write_trace_of(struct words *w)
{
	struct call *all = arena_newn(w->a, struct call, w->n);
	u32 n = w->n - 1;
	bool ok = true, nested = words_flag(w, "stack");
	if (n > MAX_CALLS)
		return words_fail(w, word_loc(&w->operand[1 + MAX_CALLS], 0, 1),
				  "more than %d functions", MAX_CALLS);
	for (u32 i = 0; i < n; i++) {
		all[i].c = (struct cursor){w, &w->operand[i + 1], 0};
		ok &= read_call(&all[i]) && !(nested && is_repeated(all, i));
	}
	for (u32 i = 0; ok && i < n; i++) {
		if (nested)
			write_nested(w, all, i, n);
		else
			write_call(w, &all[i], i);
	}
	for (u32 i = 0; i < n; i++) {
		sb_free(&all[i].entry.when);
		sb_free(&all[i].result.when);
	}
	return ok;
}

bool write_ksnoop(struct words *w)
{
	const struct word *first = &w->operand[0];
	bool info = str_is(first->text, "info");
	if (!info && !str_is(first->text, "trace"))
		return words_fail(w, word_loc(first, 0, first->text.n),
				  "expected trace or info before the functions");
	if (w->n < 2)
		return words_fail(w, word_loc(first, 0, first->text.n),
				  "expected a function after '%.*s'", STRF(first->text));
	if (!host_btf(w->h))
		return words_fail(w, (struct loc){0},
				  "this kernel has no BTF (/sys/kernel/btf/vmlinux), which ksnoop "
				  "needs");
	return info ? write_info(w) : write_trace_of(w);
}
