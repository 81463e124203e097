/* list.c - probes that match a pattern, those of a script, and C types; -v shows what they hold. */
#include "base/json.h"
#include "cmd/cmd.h"
#include "core/recorded.h"
#include "proc/proc.h"
#include <linux/btf.h>

struct listing {
	struct host *h;
	struct unit *u;
	bool verbose, bare; /* bare: without "tracepoint:" */
	bool json, csv;
	struct show how;   /* names come from files of others */
	struct str filter; /* glob over the whole text, or {NULL} */
	struct str last;   /* shown; places of one USDT probe are listed once */
	u32 n;             /* lines so far */
	struct arena scratch;
};

/* "    char prev_comm[16]", "    struct file * f": stars stand apart from the name, as ever in
 * these lists. lost: why a probe there cannot read it, or NULL. */
static void show(const struct type *t, struct str name, const char *lost, struct sb *out)
{
	AUTO_SB b = {0};
	if (t->kind == T_NONE && t->name.n) { /* where it is, which is nowhere to read it */
		sb_fmt(out, "(%.*s) %.*s\n", STRF(t->name), STRF(name));
		return;
	}
	type_show_decl(t, name, &b);
	struct str d = sb_str(&b);
	bool star = str_ends(d, name) && d.n > name.n && d.s[d.n - name.n - 1] == '*';
	u32 head = d.n - (star ? name.n : 0);
	sb_fmt(out, "%.*s%s%.*s", (int)head, d.s, star ? " " : "", (int)(d.n - head), d.s + head);
	if (lost)
		sb_fmt(out, " (%s)", lost);
	sb_char(out, '\n');
}

/* A line each. */
static void show_args(struct listing *l, const struct point *p, struct sb *out)
{
	const struct type *args = p->args, *ret = p->ret;
	bool numbered = false;
	u32 n = 0;
	struct types *btf = host_btf(l->h);
	if (!args && btf && (point_flags(p) & METHOD_REGS) && (point_flags(p) & PROBE_KERNEL)) {
		const struct type *f = btf_types_find(btf, p->name, T_FUNC);
		bool retprobe = point_flags(p) & PROBE_RETVAL;
		args = retprobe ? NULL : f;
		ret = retprobe && f ? f->base : NULL;
		numbered = true;
	}
	const struct field *v = args ? type_fields(args, &n) : NULL;
	for (u32 i = 0; i < n; i++) {
		char name[16];
		snprintf(name, sizeof(name), "arg%u", i);
		show(v[i].type, numbered ? str_z(name) : v[i].name, v[i].lost, out);
	}
	if (ret && ret->kind != T_NONE)
		show(ret, STR("retval"), p->no_ret, out);
}

/* What a recording kept of a probe. */
static void show_kept(const struct point *p, struct sb *out)
{
	const struct recorded_probe *r = p->priv;
	for (u32 i = 0; i < r->ncol; i++)
		if (r->col[i].type->kind == T_KSTACK || r->col[i].type->kind == T_USTACK)
			sb_fmt(out, "%.*s\n", STRF(r->col[i].expr));
		else
			show(r->col[i].type, r->col[i].expr, NULL, out);
}

/* {"type": "row", "table": "probes", "probe": "sched:sched_switch", "args": ["int prev_prio", ...]} */
static void put_json(const struct listing *l, struct str name, struct str args)
{
	AUTO_SB out = {0};
	struct str line;
	sb_z(&out, "{\"type\": \"row\", \"table\": \"probes\"");
	json_member(&out, false, "probe");
	json_str(&out, name);
	if (l->verbose) {
		json_member(&out, false, "args");
		sb_char(&out, '[');
		for (bool first = true; args.n && str_cut(&args, '\n', &line); first = false) {
			sb_z(&out, first ? "" : ", ");
			json_str(&out, line);
		}
		sb_char(&out, ']');
	}
	printf("%s}\n", out.s);
}

/* A field of CSV, in quotes if it needs them. */
static void put_field(struct str s)
{
	bool plain = str_chr(s, ',') < 0 && str_chr(s, '"') < 0 && str_chr(s, '\n') < 0;
	fputs(plain ? "" : "\"", stdout);
	for (u32 i = 0; i < s.n; i++)
		printf(s.s[i] == '"' ? "\"\"" : "%c", s.s[i]);
	fputs(plain ? "" : "\"", stdout);
}

static void put_point(const struct listing *l, struct str name, struct str args)
{
	AUTO_SB shown = {0};
	struct str line;
	if (l->json) {
		put_json(l, name, args);
		return;
	}
	if (l->csv) {
		put_field(name);
		if (l->verbose) {
			putchar(',');
			while (args.n && str_cut(&args, '\n', &line))
				sb_fmt(&shown, "%s%.*s", shown.n ? "; " : "", STRF(line));
			put_field(sb_str(&shown));
		}
		putchar('\n');
		return;
	}
	value_put_str(&shown, name, &l->how);
	printf("%s\n", shown.s);
	while (args.n && str_cut(&args, '\n', &line))
		printf("    %.*s\n", STRF(line));
}

static bool show_point(const struct point *p, void *arg)
{
	struct listing *l = arg;
	if (l->filter.s && !str_glob(l->filter, p->text))
		return true;
	if (!l->verbose && l->last.n && str_eq(l->last, p->text))
		return true;
	l->last = p->text;
	l->n++;
	AUTO_SB args = {0};
	struct str text = p->plain.n ? p->plain : p->text, kind;
	if (l->bare)
		str_cut(&text, ':', &kind);
	if (l->verbose) {
		struct point q = *p;
		u32 use = USE_ARGS | USE_RETVAL;
		struct err *e = p->type->types ? p->type->types(l->h, l->u, &q, use) : NULL;
		if (!e && (p->type->flags & PROBE_RECORDED))
			show_kept(&q, &args);
		else if (!e)
			show_args(l, &q, &args);
		err_free(e);
	}
	put_point(l, text, sb_str(&args));
	return true;
}

/* Points of one kind that match text. */
static struct err *list_kind(struct listing *l, const struct probe_type *p, struct str text)
{
	struct point pt = {.type = p, .method = probe_last_method(p)};
	struct err *e = p->parse(l->h->arena, &pt, text);
	bool bad = e != NULL;
	bool file = (p->flags & PROBE_USER) && str_chr(text, '/') >= 0 && str_chr(text, ':') < 0;
	err_free(e);
	if (bad) /* no wildcards there: list all, then filter */
		pt = (struct point){
			.type = p,
			.method = probe_last_method(p),
			.text = str_z(p->name),
			.target = file ? text : STR("*"),
			.name = STR("*"),
		};
	if (bad && p->expand && !file && !l->filter.s)
		l->filter = str_z(arena_fmt(l->h->arena, "%s:%.*s%s", p->name, STRF(text),
					    str_ends(text, STR("*")) ? "" : "*"));
	e = NULL;
	if (p->expand)
		e = p->expand(l->h, l->u, NULL, &pt, show_point, l);
	else if (!bad || str_is(text, "*"))
		show_point(&pt, l);
	l->filter = (struct str){0};
	return e;
}

/* Of a pattern for many: what fires at returns follows from the others, and so do other words for
 * the same; user space needs a program to look into. */
static bool wants(const struct probe_type *p, struct str rest, int pid)
{
	if (!p->expand || (p->flags & (PROBE_RETVAL | PROBE_SYNONYM)))
		return false;
	return !(p->flags & PROBE_USER) || pid || str_chr(rest, '/') >= 0;
}

static struct err *list_pattern(struct listing *l, struct str pattern, int pid)
{
	struct str rest = pattern, name;
	str_cut(&rest, ':', &name);
	bool whole = !rest.s; /* no ':': a kind, or a pattern for the whole text */
	const struct probe_type *p = probe_type_find(name);
	if (l->h->recording) /* whole: of a kind, or as the text says */
		return list_kind(l, recorded_types[0],
				 whole && p ? str_z(arena_fmt(l->h->arena, "%s:*", p->name))
					    : pattern);
	if (whole)
		rest = STR("*");
	if (p)
		return list_kind(l, p, rest);
	if (!whole && !str_is_glob(name))
		return err_new("Invalid probe type: %.*s", STRF(name));
	for (u32 i = 0; probe_types[i]; i++) {
		p = probe_types[i];
		if (!wants(p, rest, pid) || (!whole && !str_glob(name, str_z(p->name))))
			continue;
		if (whole)
			l->filter = pattern;
		err_free(list_kind(l, p, rest));
	}
	return NULL;
}

/* ---- "struct task_*" ---- */

struct names {
	struct types *k;
	struct arena *a;
	VEC(struct str) name;
};

static bool add_name(struct str name, u32 id, void *arg)
{
	struct names *n = arg;
	(void)id;
	vec_add(&n->name, arena_str(n->a, name));
	return true;
}

static const struct {
	struct str word;
	u32 btf;
	enum type_kind kind;
} type_words[] = {
	{STR("struct "), BTF_KIND_STRUCT, T_STRUCT},
	{STR("union "), BTF_KIND_UNION, T_UNION},
	{STR("enum "), BTF_KIND_ENUM, T_ENUM},
};

/* False: the pattern does not ask for types. */
static bool list_types(struct listing *l, struct str pattern)
{
	for (size_t i = 0; i < countof(type_words); i++) {
		struct str word = type_words[i].word;
		if (!str_starts(pattern, word))
			continue;
		struct names n = {.k = host_btf(l->h), .a = l->h->arena};
		if (!n.k)
			return true;
		struct str glob = str_trim(str_from(pattern, word.n));
		btf_types_each(n.k, type_words[i].btf, glob, add_name, &n);
		if (type_words[i].btf == BTF_KIND_ENUM)
			btf_types_each(n.k, BTF_KIND_ENUM64, glob, add_name, &n);
		if (n.name.n)
			qsort(n.name.v, n.name.n, sizeof(*n.name.v), str_order);
		for (u32 k = 0; k < n.name.n; k++) {
			if (!n.name.v[k].n || (k && str_eq(n.name.v[k], n.name.v[k - 1])))
				continue;
			l->n++;
			const struct type *t =
				l->verbose ? btf_types_find(n.k, n.name.v[k], type_words[i].kind)
					   : NULL;
			AUTO_SB b = {0};
			if (t)
				type_show_def(t, &b);
			if (t)
				printf("vmlinux: %s\n\n", b.s);
			else
				printf("%.*s%.*s\n", STRF(word), STRF(n.name.v[k]));
		}
		vec_free(&n.name);
		return true;
	}
	return false;
}

/* ---- a script's points ---- */

static int by_loc(const void *pa, const void *pb)
{
	const struct point *a = *(const struct point *const *)pa,
			   *b = *(const struct point *const *)pb;
	if (a->loc.pos != b->loc.pos)
		return a->loc.pos < b->loc.pos ? -1 : 1;
	return str_cmp(a->text, b->text);
}

/* The processes whose files are meant. */
static void set_viewers(struct unit *u, const struct run_opts *o)
{
	u->pid = o->target.npid ? o->target.pid[0] : 0;
	u->scope.viewer = o->target.pid;
	u->scope.nviewer = o->target.npid;
}

static int list_script(struct listing *l, const struct run_opts *o, struct host *h)
{
	struct arena a = {0};
	struct script s = {0};
	struct job j;
	VEC(const struct point *) v = {0};
	int rc = RC_USAGE;
	if (!script_read(o, &a, &s))
		return rc;
	job_prepare(&j, o, &s, h);
	set_viewers(&j.unit, o);
	if (compile_script(&j.c, STAGE_EXPAND, NULL))
		rc = RC_OK;
	job_report(&j);
	for (u32 i = 0; rc == RC_OK && i < j.c.nvariant; i++)
		for (const struct point *p = j.c.variant[i]->points; p; p = p->next)
			if (!p->beside) /* in the list already */
				vec_add(&v, p);
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_loc);
	l->u = &j.unit;
	for (u32 i = 0; i < v.n; i++)
		show_point(v.v[i], l);
	vec_free(&v);
	job_free(&j);
	arena_free(&a);
	return rc;
}

/* Up to a comma that does not stand in quotes. */
static bool cut_pattern(struct str *rest, struct str *one)
{
	bool quoted = false;
	for (u32 i = 0; i < rest->n; i++) {
		quoted ^= rest->s[i] == '"';
		if (rest->s[i] != ',' || quoted)
			continue;
		*one = str_n(rest->s, i);
		*rest = str_from(*rest, i + 1);
		return true;
	}
	*one = *rest;
	*rest = (struct str){0};
	return one->s != NULL;
}

/* What is not there is no error, as ever in these lists; but silence would be. */
static void tell_none(const struct listing *l, struct str pattern, bool types)
{
	fflush(stdout);
	if (types && !host_btf(l->h))
		fputs("WARNING: this kernel has no BTF, which knows the types\n", stderr);
	else
		fprintf(stderr, "WARNING: nothing matches '%.*s'%s\n", STRF(pattern),
			str_ends(pattern, STR(".bt")) ? ", and no such file exists" : "");
}

static int list_patterns(struct listing *l, struct str patterns, int pid)
{
	struct str one;
	while (cut_pattern(&patterns, &one)) {
		u32 before = l->n;
		one = str_trim(one);
		bool types = list_types(l, one);
		one = types ? one : str_trim(str_unquote(l->h->arena, one));
		struct err *e = types ? NULL : list_pattern(l, one, pid);
		if (!e && l->n == before)
			tell_none(l, one, types);
		if (!e)
			continue;
		fflush(stdout);
		fprintf(stderr, "ERROR: %s\n", e->msg);
		err_free(e);
		return RC_USAGE;
	}
	return RC_OK;
}

/* Of this machine; 0: all of those that are meant run. */
static int one_that_ended(const struct host *h, const struct run_opts *o)
{
	for (u32 i = 0; i < o->target.npid && !*h->root; i++)
		if (!proc_alive(o->target.pid[i]))
			return o->target.pid[i];
	return 0;
}

int list(const struct run_opts *o)
{
	struct arena a = {0};
	struct host h;
	struct job j;
	struct script none = {.source = {STR("stdin"), STR("")}};
	if (!host_prepare(&h, &a, o))
		return RC_USAGE;
	int ended = one_that_ended(&h, o);
	if (ended) {
		fprintf(stderr, "ERROR: process %d does not exist\n", ended);
		host_deinit(&h);
		arena_free(&a);
		return RC_USAGE;
	}
	job_prepare(&j, o, &none, &h);
	set_viewers(&j.unit, o);
	struct listing l = {.h = &h,
			    .u = &j.unit,
			    .verbose = o->verbose != 0,
			    .bare = o->bare,
			    .json = o->output.format && !strcmp(o->output.format, "json"),
			    .csv = o->output.format && !strcmp(o->output.format, "csv"),
			    .how = {.escape = escaped(o, STDOUT_FILENO)}};
	int rc;
	if (l.csv)
		puts(l.verbose ? "probe,args" : "probe");
	const char *what = o->nrest ? o->rest[0] : "*";
	bool file = o->program || (!strchr(what, ':') && !access(what, R_OK));
	rc = file ? list_script(&l, o, &h) : list_patterns(&l, str_z(what), j.unit.pid);
	fflush(stdout);
	job_free(&j);
	host_deinit(&h);
	arena_free(&a);
	return rc;
}
