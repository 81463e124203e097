/* recorded.c - see recorded.h. */
#include "declare/recorded.h"
#include "core/recorded.h"
#include "source/rows.h"

/* What only the event itself can tell, or what the recording has of it. */
enum {
	OF_EVENT = USE_ARGS | USE_ARGN | USE_RETVAL | USE_FUNC | USE_REGS | USE_PROGRAM | USE_CTX,
	OF_STACKS = USE_KSTACK | USE_USTACK,
};

struct spelling {
	struct compile *c;
	const struct point *p;
	struct recorded_probe *probe;
};

const struct probe_type *recorded_probe_type(const struct compile *c, const struct probe_type *k,
					     bool *whole)
{
	static const u32 own =
		1u << PROG_BEGIN | 1u << PROG_END | 1u << PROG_TEST | 1u << PROG_BENCH;
	u32 phase = k ? 1u << probe_last_method(k)->phase : 0;
	bool interval = k && (k->flags & PROBE_NOBODY) && (phase & 1u << PROG_ATTACH);
	*whole = c->host->recording && !(phase & own) && !interval;
	return *whole ? recorded_types[0] : k;
}

bool recorded_has_type(const struct compile *c, struct str type)
{
	const struct recorded *r = c->host->recording;
	for (u32 i = 0; r && i < r->nprobe; i++)
		if (r->probe[i].kept_by.n && str_eq(r->probe[i].kept_by, type))
			return true;
	return false;
}

const char *recorded_command(const struct compile *c, struct str text)
{
	struct str rest = text, name;
	str_cut(&rest, ':', &name);
	const struct builtin *b = builtin_named(name);
	if (!b || !b->kept_as)
		return NULL;
	return rest.n && !str_is_glob(rest)
		       ? arena_fmt(c->arena, "sonde record -e '%.*s { %.*s(NAME, ID); }'",
				   STRF(rest), STRF(name))
		       : "sonde record --span NAME=BEGIN,END,ID";
}

bool recorded_no_rows(const struct compile *c, struct str text, struct loc loc)
{
	const char *command = recorded_command(c, text);
	struct str rest = text, name;
	str_cut(&rest, ':', &name);
	if (command && c->host->recording)
		diag_add(c->diags, E_RECORDING, loc,
			 "the recording lacks %.*s(); record it with: %s", STRF(name), command);
	else if (command)
		diag_add(c->diags, E_RECORDING, loc,
			 "only recordings have %.*s probes: %s, then sonde query FILE", STRF(name),
			 command);
	return command;
}

/* ---- what was kept ---- */

/* Texts of a recording are no texts of the script: what is wrong with them is nobody's mistake. */
static const struct node *column_tree(struct compile *c, struct recorded_column *k)
{
	struct source text = {STR("recording"), k->expr};
	struct diags quiet = {.arena = c->arena, .source = &text, .nsource = 1};
	if (k->parsed)
		return k->tree;
	k->parsed = true;
	k->tree = compile_language(c)->parse_part(c->arena, &quiet, 0, false);
	if (quiet.nerror)
		k->tree = NULL;
	return k->tree;
}

static struct recorded_column *column_of(struct spelling *s, const struct node *n)
{
	for (u32 i = 0; i < s->probe->ncol; i++) {
		const struct node *tree = column_tree(s->c, &s->probe->col[i]);
		if (tree && node_eq(tree, n))
			return &s->probe->col[i];
	}
	return NULL;
}

static bool has_stack(const struct spelling *s, u32 use)
{
	enum type_kind kind = use & USE_KSTACK ? T_KSTACK : T_USTACK;
	for (u32 i = 0; i < s->probe->ncol; i++)
		if (s->probe->col[i].type->kind == kind)
			return true;
	return false;
}

static bool is_mode(struct str word, enum stack_mode mode)
{
	return str_is(word, stack_modes[mode]);
}

static bool is_native(const struct node *n)
{
	const struct node *mode = n->kind == N_CALL ? n->a : NULL;
	return mode && mode->kind == N_NAME && is_mode(mode->name, STACK_NATIVE);
}

/* The interpreter's own functions are in a stack only where no others were asked for. */
static bool lacks_native(struct spelling *s, const struct node *n)
{
	for (u32 i = 0; i < s->probe->ncol && is_native(n); i++) {
		const struct node *tree = column_tree(s->c, &s->probe->col[i]);
		if (tree && s->probe->col[i].type->kind == T_USTACK && is_native(tree))
			return false;
	}
	return is_native(n);
}

/* A row has it whatever was kept, but no helper tells it. */
static bool is_word(const struct spelling *s, const struct node *n)
{
	struct field f;
	return n->kind == N_NAME && type_field(s->probe->args, n->name, &f) &&
	       f.bit_off < ROW_WORDS * 64;
}

/* n becomes args.NAME. */
static void become(struct spelling *s, struct node *n, struct str name)
{
	struct node *args = node_new(s->c->arena, N_NAME, n->loc);
	args->name = STR("args");
	n->kind = N_MEMBER;
	n->flags &= NF_PAREN;
	n->name = name;
	n->a = args;
	n->b = n->c = NULL;
	n->any = NULL;
}

/* A word with the current task as its argument, as in ppid((struct task_struct *)curtask), is the word. */
static bool is_word_of_current(const struct spelling *s, const struct node *n)
{
	struct node word = {.kind = N_NAME, .name = n->name};
	const struct node *of = n->a;
	if (n->kind != N_CALL || !of || of->next || !is_word(s, &word))
		return false;
	while (of->kind == N_CAST)
		of = of->b;
	return of->kind == N_NAME && builtin_role(of) == ROLE_TASK;
}

static void become_word(struct spelling *s, struct node *n)
{
	s->probe->asks_ppid = true; /* there is no other */
	become(s, n, n->name);
}

/* ---- what was not ---- */

static u32 asks_of(const struct node *n)
{
	bool named = n->kind == N_NAME || n->kind == N_CALL;
	const struct builtin *b = named ? builtin_named(n->name) : NULL;
	u32 asks = b ? builtin_asks(n->name) : 0;
	return b && (b->flags & B_ROW) ? asks & ~(u32)USE_TASK : asks;
}

static bool see_event(struct node *n, void *arg)
{
	*(bool *)arg |= (asks_of(n) & (OF_EVENT | OF_STACKS | USE_TASK)) != 0;
	return true;
}

/* n is made of something of the event. */
static bool is_of_event(struct node *n)
{
	bool found = false;
	node_walk(n, see_event, &found);
	return found;
}

bool recorded_differs(const struct node *probe, u32 use)
{
	bool found = use & OF_EVENT;
	struct node *n = (struct node *)probe;
	if (n->b)
		node_walk(n->b, see_event, &found);
	node_walk(n->c, see_event, &found);
	return found;
}

/* The text of n in one line. */
static struct str text_of(struct spelling *s, const struct node *n)
{
	const struct diags *ds = s->c->diags;
	AUTO_SB b = {0};
	if (n->loc.src >= ds->nsource || n->loc.pos >= ds->source[n->loc.src].text.n)
		return n->name;
	struct str t = str_n(ds->source[n->loc.src].text.s + n->loc.pos, n->loc.len);
	for (u32 i = 0; i < t.n; i++)
		if (t.s[i] != '\n' && t.s[i] != '\t')
			sb_char(&b, t.s[i]);
		else if (b.n && b.s[b.n - 1] != ' ')
			sb_char(&b, ' ');
	return arena_str(s->c->arena, sb_str(&b));
}

/*
 * The whole command. A set has what its events tell, so what it lacks are the stacks, or nothing is known of it but by a
 * script.
 */
static void lacks(struct spelling *s, const struct node *n)
{
	struct str what = text_of(s, n), set = recorded_set(s->c->arena, s->p->text);
	if (set.n && (asks_of(n) & OF_STACKS) && !is_native(n))
		diag_add(s->c->diags, E_RECORDING, n->loc,
			 "the recording lacks %.*s; record it with: sonde record --set %.*s "
			 "--stacks both",
			 STRF(what), STRF(set));
	else if (s->probe->kept_by.n)
		diag_add(s->c->diags, E_RECORDING, n->loc,
			 "the recording lacks %.*s; record it with: sonde record -e '%.*s { "
			 "%.*s(NAME, ID, %.*s); }'",
			 STRF(what), STRF(str_from(s->p->text, s->probe->kept_by.n + 1)),
			 STRF(s->probe->kept_by), STRF(what));
	else
		diag_add(s->c->diags, E_RECORDING, n->loc,
			 "the recording lacks %.*s; record it with: sonde record -e '%.*s { "
			 "keep(%s%.*s); "
			 "}'",
			 STRF(what), STRF(s->p->text),
			 str_starts(what, STR("args.")) ? "" : "args, ", STRF(what));
}

/* What a function does here and now has no meaning for the past. */
static bool is_refused(struct spelling *s, const struct node *n)
{
	const struct builtin *b = n->kind == N_CALL ? builtin_named(n->name) : NULL;
	if (!b || !(b->flags & (B_UNSAFE | B_RUNS | B_READS | B_WRITES)))
		return false;
	diag_add(s->c->diags, E_RECORDING, n->loc,
		 "%.*s() acts on the running machine and cannot be used on a recording",
		 STRF(n->name));
	return true;
}

/* ---- the walk ---- */

static void visit(struct spelling *s, struct node *n);

static void visit_list(struct spelling *s, struct node *list)
{
	for (struct node *n = list, *next; n; n = next) {
		next = n->next;
		visit(s, n);
	}
}

/* The type of what was kept, or of a part of it that is also in the row; else NULL. */
static const struct type *kept_type(struct spelling *s, const struct node *n)
{
	const struct recorded_column *k = column_of(s, n);
	struct field f;
	if (k)
		return k->type;
	if (n->kind != N_MEMBER && n->kind != N_INDEX)
		return NULL;
	const struct type *of = builtin_is_args(n->a) ? NULL : kept_type(s, n->a);
	if (of && n->kind == N_MEMBER && type_is_record(of) && type_field(of, n->name, &f))
		return f.type;
	return of && n->kind == N_INDEX && of->kind == T_ARRAY ? of->base : NULL;
}

/* What is read through an address is memory, and that is not in a recording. */
static bool is_memory(struct spelling *s, struct node *from)
{
	const struct type *t = kept_type(s, from);
	bool here = t && (type_is_record(t) || t->kind == T_ARRAY || t->kind == T_STRING ||
			  t->kind == T_BUF);
	return !here && is_of_event(from);
}

static bool is_args_member(const struct node *n)
{
	return n && n->kind == N_MEMBER && builtin_is_args(n->a);
}

/* The member of args that a column is, or is the text of, if there is nothing else of it; else NULL. */
static const struct node *member_of(struct spelling *s, struct recorded_column *k)
{
	const struct node *tree = column_tree(s->c, k);
	if (is_args_member(tree))
		return tree;
	bool call = tree && tree->kind == N_CALL && is_args_member(tree->a) && !tree->a->next;
	return call && !column_of(s, tree->a) ? tree->a : NULL;
}

/* args.NAME of everything that was kept as such. */
static void spell_args(struct spelling *s, struct node *n)
{
	struct node **tail = &n->a;
	n->kind = N_RECORD;
	n->name = (struct str){0};
	n->a = NULL;
	for (u32 i = 0; i < s->probe->ncol; i++) {
		struct recorded_column *k = &s->probe->col[i];
		const struct node *tree = member_of(s, k);
		if (!tree)
			continue;
		struct node *f = node_new(s->c->arena, N_RFIELD, n->loc);
		f->name = tree->name;
		f->a = node_new(s->c->arena, N_MEMBER, n->loc);
		k->used = true;
		become(s, f->a, k->expr);
		*tail = f;
		tail = &f->next;
	}
}

/* A column of another call of the function, with other arguments behind the first. */
static struct recorded_column *column_of_call(struct spelling *s, const struct node *n)
{
	for (u32 i = 0; i < s->probe->ncol; i++) {
		const struct node *tree = column_tree(s->c, &s->probe->col[i]);
		if (tree && tree->kind == N_CALL && str_eq(tree->name, n->name) && tree->a &&
		    n->a && node_eq(tree->a, n->a))
			return &s->probe->col[i];
	}
	return NULL;
}

static struct node *literal_of(struct spelling *s, const struct node *n, struct loc loc)
{
	struct node *lit = node_new(s->c->arena, N_NUM, loc);
	lit->num = n && n->kind == N_NUM ? n->num : 0;
	return lit;
}

/* f(x, ...), of which f(x, a, LIMIT, FLAGS) was kept: see builtin.recorded. */
static bool visit_kept_call(struct spelling *s, struct node *n)
{
	const struct builtin *b = builtin_named(n->name);
	struct recorded_column *k = b && b->recorded ? column_of_call(s, n) : NULL;
	if (!k)
		return false;
	struct node *kept = node_new(s->c->arena, N_MEMBER, n->loc);
	k->used = true;
	become(s, kept, k->expr);
	kept->next = literal_of(s, call_arg(k->tree, 2), n->loc);
	kept->next->next = literal_of(s, call_arg(k->tree, 3), n->loc);
	kept->next->next->next = n->a->next ? n->a->next->next : NULL;
	n->a = kept;
	n->name = str_z(b->recorded);
	visit_list(s, kept->next);
	return true;
}

static void visit_call(struct spelling *s, struct node *n)
{
	const struct builtin *b = builtin_named(n->name);
	const struct sig *g = b ? builtin_sig(s->c, b) : NULL;
	u32 asks = asks_of(n), i = 0;
	if (is_refused(s, n))
		return;
	if (is_word_of_current(s, n)) {
		become_word(s, n);
		return;
	}
	bool stack = asks & OF_STACKS;
	if ((asks & (OF_EVENT | USE_TASK)) ||
	    (stack && (!has_stack(s, asks) || lacks_native(s, n)))) {
		lacks(s, n);
		return;
	}
	if (stack)
		return;
	for (struct node *arg = n->a; arg; arg = arg->next, i++)
		if (g && i < g->nmax && g->kind[i] == SIG_PTR && is_memory(s, arg)) {
			lacks(s, n);
			return;
		}
	visit_list(s, n->a);
}

/* What is computed from the result of a system call, wherever a probe has that. */
static bool is_of_result(struct spelling *s, u32 asks)
{
	enum { RESULT = USE_ARGS | USE_RETVAL };
	bool found = false;
	for (u32 i = 0; i < s->probe->ncol && (asks & RESULT) == RESULT; i++)
		if (str_is(s->probe->col[i].expr, "args.ret"))
			found = s->probe->col[i].used = true;
	return found;
}

static void visit_name(struct spelling *s, struct node *n)
{
	u32 asks = asks_of(n);
	if (is_of_result(s, asks))
		return;
	if (builtin_is_args(n))
		spell_args(s, n);
	else if (is_word(s, n))
		become_word(s, n);
	else if ((asks & (OF_EVENT | USE_TASK)) || ((asks & OF_STACKS) && !has_stack(s, asks)))
		lacks(s, n);
}

static void visit(struct spelling *s, struct node *n)
{
	if (n->kind == N_CALL && visit_kept_call(s, n))
		return;
	struct recorded_column *k = column_of(s, n);
	if (k && k->type->kind != T_KSTACK && k->type->kind != T_USTACK) {
		k->used = true;
		become(s, n, k->expr);
		return;
	}
	switch ((int)n->kind) {
	case N_IF:
		if ((n->flags & NF_COMPTIME) && (n->a->kind == N_BOOL || n->a->kind == N_NUM)) {
			visit_list(s, n->a->num ? n->b : n->c); /* there is no other branch */
			return;
		}
		break;
	case N_CALL: visit_call(s, n); return;
	case N_NAME: visit_name(s, n); return;
	case N_MEMBER:
		if (builtin_is_args(n->a) || is_memory(s, n->a)) {
			lacks(s, n);
			return;
		}
		break;
	case N_INDEX:
		if (is_memory(s, n->a)) {
			lacks(s, n);
			return;
		}
		break;
	case N_UNARY:
		if (n->op == TK_STAR && is_of_event(n->a)) {
			lacks(s, n);
			return;
		}
		break;
	}
	struct node *kids[] = {n->a, n->b, n->c};
	for (u32 i = 0; i < countof(kids); i++)
		if (kids[i])
			visit_list(s, kids[i]);
}

void recorded_spell(struct compile *c, const struct point *p, struct node *n)
{
	struct spelling s = {c, p, p->priv};
	assert(p->type->flags & PROBE_RECORDED);
	assert(s.probe);
	visit_list(&s, n);
}
