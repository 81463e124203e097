/*
 * keep.c - keep(): what every row of a recording has is put before its arguments, and args becomes the
 * members that the probe has.
 *
 * Each argument's text is noted before it has a type: it is what a question about the recording will
 * look for. Those of the first kind begin with a dot. The row of a function may have other names for its
 * first arguments (builtin.kept_as); args is none of them.
 */
#include "sema/keep.h"
#include "source/rows.h"

/* In the order of fields; sink/record.c knows them by their texts. */
static const char *const common[] = {"probe", "cpu", "tid", "pid", "uid", "gid", "cgroup", "comm"};

static struct node *name_node(struct arena *a, struct loc loc, const char *name)
{
	struct node *n = node_new(a, N_NAME, loc);
	n->name = str_z(name);
	return n;
}

/* The members of task_struct are found by BTF. */
static struct node *start_node(struct arena *a, struct loc loc)
{
	struct node *n = node_new(a, N_MEMBER, loc);
	n->a = name_node(a, loc, "curtask");
	n->name = STR("start_time");
	n->flags = NF_ARROW;
	return n;
}

static bool add_common(struct node *n, void *arg)
{
	struct compile *c = arg;
	if (n->kind != N_CALL || builtin_role(n) != ROLE_KEEP)
		return true;
	struct node *head = NULL, **tail = &head;
	for (u32 i = 0; i < countof(common); i++, tail = &(*tail)->next)
		*tail = name_node(c->arena, n->loc, common[i]);
	n->num = countof(common);
	if (host_has(c->host, FEAT_BTF)) {
		*tail = name_node(c->arena, n->loc, "ppid");
		(*tail)->next = start_node(c->arena, n->loc);
		tail = &(*tail)->next->next;
		n->num += 2;
	}
	*tail = n->a;
	n->a = head;
	return true;
}

void keep_begin(struct compile *c)
{
	for (struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_PROBE || n->kind == N_FN)
			node_walk(n->c, add_common, c);
}

/*
 * Of system calls on newer kernels, as 7.2: "__filename_val" is the text behind filename, as the kernel copies it for its own
 * trace. Programs run before it does so.
 */
static bool is_copy(struct str member)
{
	return str_starts(member, STR("__")) && str_ends(member, STR("_val"));
}

/* Programs can read it, and keep() takes it. */
static bool may_be_kept(const struct field *f)
{
	enum type_kind k = f->type->kind;
	return !f->lost && f->name.n && !is_copy(f->name) && k != T_NONE && k != T_FLOAT &&
	       k != T_FUNC && k != T_FWD;
}

/* The members in the place of args; nothing if there are none. */
static void spell(struct arena *a, struct node **at, const struct type *args)
{
	struct node *word = *at, **tail = at;
	u32 n = 0;
	const struct field *f = args ? type_fields(args, &n) : NULL;
	for (u32 i = 0; i < n; i++) {
		if (!may_be_kept(&f[i]))
			continue;
		*tail = args_member(a, word->loc, &f[i]);
		tail = &(*tail)->next;
	}
	*tail = word->next;
}

/* How many arguments have names of their own. */
static u32 named_args(const struct node *call)
{
	const char *const *as = builtin_named(call->name)->kept_as;
	u32 n = 0;
	while (as && as[n])
		n++;
	return n;
}

static void note_texts(struct arena *a, struct node *call)
{
	const char *const *as = builtin_named(call->name)->kept_as;
	struct node **tail = &call->b;
	u32 i = 0;
	call->b = NULL;
	for (struct node *arg = call->a; arg; arg = arg->next, i++) {
		AUTO_SB text = {0};
		if (i < call->num)
			sb_char(&text, '.');
		if (i >= call->num && as && *as)
			sb_z(&text, *as++);
		else
			node_text(arg, &text);
		*tail = node_new(a, N_STR, arg->loc);
		(*tail)->name = arena_str(a, sb_str(&text));
		tail = &(*tail)->next;
	}
}

bool keep_spell(struct node *n, void *arg)
{
	const struct keep_args *w = arg;
	if (n->kind != N_CALL || builtin_role(n) != ROLE_KEEP)
		return true;
	u64 fixed = n->num + named_args(n);
	for (struct node **at = &n->a; *at;) {
		struct node *was = *at, *next = was->next;
		if (fixed) {
			fixed--;
			at = &was->next;
			continue;
		}
		if (!builtin_is_args(was)) {
			at = &was->next;
			continue;
		}
		spell(w->a, at, w->args);
		while (*at != next)
			at = &(*at)->next;
	}
	note_texts(w->a, n);
	return true;
}
