/*
 * recorded.c - the probes of a recording. While a script is compiled for one, they stand in the place
 * of all probe types but those that sonde runs itself (begin, end, interval).
 *
 * A probe is named as it was when it was recorded: the probe type that the script names reads the text, and
 * what it makes of it is looked for among the recording's probes.
 */
#include "core/recorded.h"
#include "probe/common.h"

/* A pattern for probe types: the text is one for the whole probe. */
static struct err *parse_any(struct arena *a, struct point *p, struct str text)
{
	p->text = p->name = arena_str(a, text);
	return NULL;
}

static struct err *recorded_parse(struct arena *a, struct point *p, struct str text)
{
	struct str rest = text, word;
	str_cut(&rest, ':', &word);
	const struct probe_type *k = str_is_glob(word) ? NULL : probe_type_find(word);
	if (!k)
		return parse_any(a, p, text);
	enum prog_phase phase = probe_last_method(k)->phase;
	if (phase == PROG_ITER || phase == PROG_PINNED)
		return err_new("%s probes iterate over objects of the running kernel, which a "
			       "recording does not contain",
			       k->name);
	struct point q = {.type = k, .method = probe_last_method(k)};
	struct err *e = k->parse(a, &q, rest.s ? rest : STR(""));
	if (e)
		return e;
	p->text = p->name = q.text;
	if (k->flags & PROBE_SYNONYM) { /* its points have other names */
		p->name = q.name;
		p->extra = q.extra;
		p->priv = (void *)k;
	}
	return NULL;
}

/* What belongs to the kernel itself may be named without saying so, as on the machine. */
static bool is_named(struct arena *a, struct str pattern, struct str text)
{
	struct parts t = parts_of(text);
	if (str_glob(pattern, text))
		return true;
	return t.n == 3 && str_is(t.v[1], "vmlinux") &&
	       str_glob(pattern, str_z(arena_fmt(a, "%.*s:%.*s", STRF(t.v[0]), STRF(t.v[2]))));
}

static bool matches(struct arena *a, const struct point *p, struct str text, struct str *shown)
{
	*shown = text;
	return p->priv ? syscall_is_event(a, p, text, shown) : is_named(a, p->name, text);
}

static struct err *recorded_expand(struct host *h, struct unit *u, struct diags *ds,
				   const struct point *p, point_cb *cb, void *arg)
{
	const struct recorded *r = h->recording;
	(void)u, (void)ds;
	for (u32 i = 0; i < r->nprobe; i++) {
		struct recorded_probe *at = &r->probe[i];
		struct str shown;
		if (!matches(h->arena, p, at->text, &shown))
			continue;
		struct point q = *p;
		q.text = q.name = shown;
		struct parts t = parts_of(at->text);
		if (t.n == 3) /* a tracepoint: its category */
			q.target = t.v[1];
		q.args = at->args;
		q.args_space = AS_CTX;
		q.priv = at;
		if (!cb(&q, arg))
			break;
	}
	return NULL;
}

/* What there is instead. */
static const char *recorded_lacks(struct host *h, const struct point *p)
{
	enum { MOST = 8 };
	const struct recorded *r = h->recording;
	AUTO_SB b = {0};
	(void)p;
	for (u32 i = 0; i < r->nprobe && i < MOST; i++)
		sb_fmt(&b, "%s%.*s", i ? ", " : "", STRF(r->probe[i].text));
	if (r->nprobe > MOST)
		sb_fmt(&b, " and %u more", r->nprobe - MOST);
	return r->nprobe ? arena_fmt(h->arena, "the recording has %s", b.s)
			 : "the recording has no probes";
}

static struct err *find_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	(void)h, (void)u, (void)use;
	assert(p->args);
	return NULL;
}

static struct ref point_number(struct fn *f, const struct point *points)
{
	(void)points;
	return ir_load(f, 8, ir_ctx(f), ROW_POINT * 8);
}

static const struct which by_row = {.number = point_number};

static const struct method method_recorded = {
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.which = &by_row,
};

const struct probe_type probe_recorded = {
	.name = "recorded",
	.syntax = "KIND:PROBE, as it was recorded",
	.doc = "An event of a recording.",
	.flags = PROBE_KERNEL | PROBE_STACKS | PROBE_RECORDED,
	.parse = recorded_parse,
	.expand = recorded_expand,
	.lacks = recorded_lacks,
	.types = find_types,
	.methods = (const struct method *const[]){&method_recorded, NULL},
};
