/* uprobe.c - uprobe and uretprobe: functions of programs and libraries. */
#include "base/tab.h"
#include "probe/common.h"
#include "probe/ufile.h"
#include "types/zip.h"
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

static bool is_return(const struct probe_type *p)
{
	return p->flags & PROBE_RETVAL;
}

/* The first colon ends the path; C++ names hold more of them. */
static struct err *split_target(struct point *p, struct str text, struct str *name)
{
	struct str rest = text;
	p->target = STR("");
	*name = text;
	if (str_chr(text, ':') < 0 &&
	    str_chr(text, '/') >= 0) /* a file; a function alone has none */
		return parts_err(p, "2 or 3 arguments", 1);
	if (str_chr(text, ':') < 0)
		return text.n ? NULL : parts_err(p, "1 to 3 arguments", 0);
	str_cut(&rest, ':', &p->target);
	*name = rest;
	static const char *const lang[] = {"cpp", "rust"};
	for (u32 i = 0; i < countof(lang); i++) {
		u32 n = str_z(lang[i]).n;
		if (!str_starts(rest, str_z(lang[i])) || rest.n <= n || rest.s[n] != ':')
			continue;
		p->extra = str_z(lang[i]);
		*name = str_from(rest, n + 1);
	}
	u32 single = 0; /* colons that are not part of "::" */
	for (u32 i = 0; i < name->n; i++) {
		if (name->s[i] != ':')
			continue;
		if (i + 1 < name->n && name->s[i + 1] == ':')
			i++;
		else
			single++;
	}
	struct str word = rest;
	if (single == 1 && !p->extra.n && str_cut(&rest, ':', &word))
		return err_new("%.*s is not a language of %s probes: cpp and rust are",
			       STRF(part_shown(word)), p->type->name);
	return single ? parts_err(p, "1 to 3 arguments", 2 + single + (p->extra.n ? 1 : 0)) : NULL;
}

static struct err *uprobe_parse(struct arena *a, struct point *p, struct str text)
{
	struct str name;
	const char *kind = p->type->name;
	struct err *e = NULL;
	if (source_parse(a, p, text, &e))
		return e;
	e = split_target(p, text, &name);
	if (e)
		return e;
	p->target = part_path(a, p->target);
	if (!name.n)
		return err_new("%s probe type requires a function or an address", kind);
	struct str shown = arena_str(a, name);
	p->text = probe_text(a, kind, p->target, p->extra, shown);
	if (str_u64(name, &p->addr)) {
		p->has_addr = true;
		return NULL;
	}
	if (is_return(p->type) && str_chr(name, '+') >= 0)
		return err_new("Offset not allowed in a %s: it fires when the function returns",
			       kind);
	bool op = str_find(name, STR("operator")) >= 0; /* operator+ */
	e = op ? NULL : split_offset(p, &name, &p->offset);
	if (e)
		return e;
	if (p->offset && str_is_glob(name))
		return err_new("Offset not allowed with a wildcard");
	p->name = arena_str(a, name);
	return NULL;
}

/* ---- finding functions ---- */

struct search {
	struct host *h;
	struct unit *u;
	struct diags *ds; /* or NULL */
	struct arena *a;
	const struct point *p;
	point_cb *cb;
	void *arg;
	const char *path;
	struct ufile file;
	struct elf_syms syms;
	u32 found, nleft;   /* nleft: fit the wildcard and cannot be probed */
	struct err *left;   /* why the first of them */
	u32 njumping;       /* functions of which tail calls are not seen */
	struct str jumping; /* the first of them */
	struct str version; /* of the name, as it was written: "@@GLIBC_2.14" */
	struct choices choices;
	bool chose; /* they were read */
	bool wild, stop;
};

/* The point's text; with the demangled name, the way it is written in scripts. */
static void name_point(struct search *s, struct point *q, const struct symbol *sym)
{
	AUTO_SB shown = {0};
	sb_add(&shown, q->name);
	sb_add(&shown, s->version);
	if (q->offset)
		sb_fmt(&shown, "+%llu", q->offset);
	q->text = probe_text(s->a, q->type->name, q->target, q->extra, sb_str(&shown));
	const char *plain = q->extra.n ? demangle(s->a, sym->name) : NULL;
	if (plain)
		q->plain = str_z(arena_fmt(s->a, "%s:%.*s:%.*s:\"%s\"", q->type->name,
					   STRF(q->target), STRF(q->extra), plain));
}

static struct err *unsafe_place(struct search *s, const char *what)
{
	return err_new("%s %.*s; --unsafe attaches all the same, which may corrupt the traced "
		       "program",
		       what, STRF(s->p->text));
}

/* Functions in assembly may not say how long they are. */
static u64 up_to_next(const struct search *s, const struct symbol *fn)
{
	u32 next = elf_up_to(&s->syms, fn->addr);
	return next < s->syms.n ? s->syms.v[next].addr - fn->addr : 0;
}

/* A breakpoint within an instruction changes what the program does. */
static struct err *check_place(struct search *s, const struct symbol *fn, u64 offset)
{
	struct codes c = {0};
	struct symbol whole;
	if (fn) {
		whole = *fn;
		whole.size = fn->size ? fn->size : up_to_next(s, fn);
		c = ufile_code(&s->file, &whole);
	}
	if (c.n && offset < c.n && ufile_refused(&s->file, fn->file_off + offset))
		return err_new("the kernel puts no uprobe on the instruction at %.*s+%llu in %s "
			       "(its prefix or kind)",
			       STRF(fn->name), offset, s->path);
	if (!offset || (s->u && s->u->config.unsafe))
		return NULL;
	switch (c.n ? code_begins(&c, (u32)offset) : BEGINS_UNKNOWN) {
	case BEGINS_YES:
		return ufile_harms(&s->file, s->h, fn->file_off + offset, fn)
			       ? unsafe_place(s, "This kernel would overwrite variables at")
			       : NULL;
	case BEGINS_NO: return unsafe_place(s, "Could not add uprobe into middle of instruction:");
	case BEGINS_UNKNOWN: break;
	}
	return unsafe_place(s, "Could not determine instruction boundary for");
}

/*
 * A return probe of the kernel's changes the return address on the stack. Go moves its stacks, and
 * an exception looks there for where it came from: it finds no such function and ends the program.
 * So returns of Go's functions, and of those that ufile_keeps_returns() names, are probes of the
 * instructions that return.
 */
struct returns {
	u32 n;
	const u64 *off;
	u64 start; /* of the function */
};

/* fn: NULL for any. */
static const char *keeps_returns(const struct search *s, const struct symbol *fn)
{
	return s->u && s->u->config.unsafe ? NULL : ufile_keeps_returns(&s->file, &s->syms, fn);
}

static struct err *find_returns(struct search *s, struct point *q, const struct symbol *fn)
{
	bool go = abi_is_go(q->abi);
	struct ways_out out;
	const char *why = is_return(q->type) && !go ? keeps_returns(s, fn) : NULL;
	if (!is_return(q->type) || (!go && !why))
		return NULL;
	struct symbol whole = *fn;
	if (!whole.size && !go)
		whole.size = up_to_next(s, fn);
	struct err *e = ufile_ways_out(&s->file, &s->syms, &whole, s->a, &out);
	if (e)
		return go ? e
			  : err_wrap(e,
				     "%s %.*s: changing its return address could end the traced "
				     "program (--unsafe does that all the same): ",
				     why, STRF(fn->name));
	struct returns *r = arena_new(s->a, struct returns);
	*r = (struct returns){out.n, out.off, fn->file_off};
	q->priv = r;
	if (out.njump && !go && !s->njumping++)
		s->jumping = arena_str(s->a, fn->name);
	return NULL;
}

static void tell_ifunc(struct search *s, const struct point *q)
{
	struct unit *u = s->u;
	if (!u || !s->ds || u->config.missing_probes == MISSING_IGNORE)
		return;
	struct diag *d = diag_add(s->ds, W_NO_PROBE, s->p->loc,
				  "%.*s is an indirect function (ifunc), and no process shows "
				  "which implementation it selected: the probe fires when the "
				  "implementation is selected, not when it is called",
				  STRF(q->name));
	diag_hint(s->ds, d, "forms: sonde -l '%s:%s:*%.*s*'", q->type->name, s->path,
		  STRF(q->name));
}

/* The form that an indirect function chose, which is what is called. False: nobody tells. */
static bool find_form(struct search *s, const struct symbol *sym, struct symbol *form)
{
	if (!s->chose)
		err_free(elf_choices(s->h, s->a, s->file.path, s->u ? s->u->pid : 0, &s->choices));
	s->chose = true;
	u64 addr = elf_chosen(&s->choices, sym->addr);
	if (!addr)
		return false;
	const struct symbol *known = elf_at(&s->syms, addr);
	*form = *sym;
	form->ifunc = false;
	form->size = known && known->addr == addr ? known->size : 0;
	form->addr = addr;
	if (!image_offset(&s->file.im, addr, &form->file_off))
		return false;
	form->file_off += ufile_past_vectors(&s->file, form->file_off);
	return true;
}

/* By any of its names: what is called setjmp may be given as another one. */
static struct err *check_return(struct search *s, const struct symbol *fn)
{
	const char *why = sym_noreturn(fn->name);
	const struct symbol *v = s->syms.v;
	for (u32 i = elf_up_to(&s->syms, fn->addr); !why && i && v[i - 1].addr == fn->addr; i--)
		why = sym_noreturn(v[i - 1].name);
	if (!why || (s->u && s->u->config.unsafe))
		return NULL;
	return err_new("%.*s %s: a return probe, which changes that address, would send the "
		       "traced program astray; --unsafe attaches all the same",
		       STRF(fn->name), why);
}

static struct err *give_symbol(struct search *s, const struct symbol *sym)
{
	struct point q = *s->p;
	struct symbol form;
	if (sym->ifunc && find_form(s, sym, &form))
		sym = &form;
	if (q.offset && sym->size && q.offset >= sym->size)
		return offset_outside(sym->name, sym->size);
	q.target = str_z(s->path);
	q.wild = s->wild;
	q.name = arena_str(s->a, sym->name);
	q.addr = sym->file_off + q.offset;
	q.abi = ufile_abi(&s->file, sym->addr);
	name_point(s, &q, sym);
	struct err *e = check_place(s, sym, q.offset);
	if (!e && is_return(q.type) && !abi_is_go(q.abi))
		e = check_return(s, sym);
	if (!e)
		e = find_returns(s, &q, sym);
	if (e && s->wild) { /* the others are there */
		if (!s->nleft++)
			s->left = e;
		else
			err_free(e);
		return NULL;
	}
	if (e)
		return e;
	s->found++;
	if (sym->ifunc && !s->wild)
		tell_ifunc(s, &q);
	s->stop = !s->cb(&q, s->arg);
	return NULL;
}

static struct err *give_address(struct search *s)
{
	struct point q = *s->p;
	if (!image_offset(&s->file.im, q.addr, &q.addr))
		return err_new("%s: no code at address 0x%llx", s->path, s->p->addr);
	const struct symbol *fn = elf_at(&s->syms, s->p->addr);
	struct err *e = check_place(s, fn, fn ? s->p->addr - fn->addr : 1);
	if (!e && fn && is_return(q.type))
		e = check_return(s, fn);
	if (e)
		return e;
	q.target = str_z(s->path);
	q.abi = ufile_abi(&s->file, s->p->addr);
	if (abi_is_go(q.abi) && is_return(q.type))
		return err_new("%s is a Go program: returns are probed by the function's name",
			       s->path);
	if (fn && fn->addr == s->p->addr)
		e = find_returns(s, &q, fn);
	else if (is_return(q.type) && keeps_returns(s, NULL))
		e = err_new("%s %s: returns are probed by the function's name",
			    keeps_returns(s, NULL), s->path);
	if (e)
		return e;
	q.text = probe_text(s->a, q.type->name, q.target,
			    str_z(arena_fmt(s->a, "0x%llx", s->p->addr)), STR(""));
	s->stop = !s->cb(&q, s->arg);
	return NULL;
}

/* A file without headers: the address is an offset in it, and nobody knows where instructions
 * begin. */
static struct err *give_flat(struct search *s, const char *real)
{
	struct stat st;
	struct point q = *s->p;
	if (stat(real, &st))
		return err_sys(errno, "stat %s", s->path);
	if (q.addr >= (u64)st.st_size)
		return err_new("%s has no offset 0x%llx: it is %llu bytes long", s->path, q.addr,
			       (u64)st.st_size);
	if (!s->u || !s->u->config.unsafe)
		return err_new(
			"%s is not an ELF file: 0x%llx would be an offset in it, which may "
			"lie within an instruction; --unsafe attaches all the same, which may "
			"corrupt the traced program",
			s->path, q.addr);
	q.target = str_z(s->path);
	q.abi = ABI_C;
	q.text = probe_text(s->a, q.type->name, q.target, str_z(arena_fmt(s->a, "0x%llx", q.addr)),
			    STR(""));
	s->stop = !s->cb(&q, s->arg);
	return NULL;
}

static bool name_fits(const struct point *p, struct str name)
{
	if (!p->extra.n)
		return str_glob(p->name, name);
	return demangle_fits(str_is(p->extra, "rust") ? DEMANGLE_RUST : DEMANGLE_CPP, p->name,
			     name);
}

/* Of two names for one place the one that people use: snprintf rather than __snprintf. */
static bool better_name(const struct symbol *a, const struct symbol *b)
{
	bool reserved = a->name.s[0] == '_';
	if (reserved != (b->name.s[0] == '_'))
		return !reserved;
	return a->rank < b->rank;
}

/* Several names of one place are one probe, by the best of those that fit. */
static struct err *give_matches(struct search *s)
{
	struct err *e = NULL;
	for (u32 i = 0, next; !e && !s->stop && i < s->syms.n; i = next) {
		const struct symbol *best = NULL, *first = &s->syms.v[i];
		for (next = i; next < s->syms.n && s->syms.v[next].file_off == first->file_off;
		     next++) {
			const struct symbol *sym = &s->syms.v[next];
			if (sym->file_off && name_fits(s->p, sym->name) &&
			    (!best || better_name(sym, best)))
				best = sym;
		}
		if (best)
			e = give_symbol(s, best);
	}
	return e;
}

/* Static functions may share a name: all of them. */
/* By a plain name not those that are only an older version of it. */
static struct err *give_named(struct search *s)
{
	struct symbol_version v[MAX_VERSIONS];
	u32 n = elf_versions_of(s->h, s->a, s->file.path, s->p->name, v);
	struct err *e = NULL;
	for (u32 i = 0; !e && !s->stop && i < s->syms.n; i++) {
		const struct symbol *sym = &s->syms.v[i];
		if (sym->file_off && str_eq(sym->name, s->p->name) && !elf_hidden(v, n, sym->addr))
			e = give_symbol(s, sym);
	}
	return e;
}

static struct err *no_version(struct search *s, struct str name, const struct symbol_version *v,
			      u32 n)
{
	AUTO_SB sb = {0};
	for (u32 i = 0; i < n; i++)
		sb_fmt(&sb, "%s%.*s%s%.*s", i ? ", " : "", STRF(name), v[i].is_default ? "@@" : "@",
		       STRF(v[i].name));
	if (!n && !elf_find(&s->syms, name))
		return NULL;
	return n ? err_new("%s has no %.*s%.*s: there are %.*s", s->path, STRF(name),
			   STRF(s->version), STRF(sb_str(&sb)))
		 : err_new("%s has %.*s without versions", s->path, STRF(name));
}

/* memcpy@@GLIBC_2.14 is that version if it is the default one, memcpy@GLIBC_2.14 in any case. */
static struct err *give_version(struct search *s, u32 at)
{
	struct symbol_version v[MAX_VERSIONS];
	struct str name = str_n(s->p->name.s, at), want = str_from(s->p->name, at + 1);
	bool is_default = str_starts(want, STR("@"));
	if (is_default)
		want = str_from(want, 1);
	u32 n = elf_versions_of(s->h, s->a, s->file.path, name, v), k = 0;
	while (k < n && (!str_eq(v[k].name, want) || (is_default && !v[k].is_default)))
		k++;
	s->version = str_from(s->p->name, at);
	for (u32 i = 0; k < n && i < s->syms.n; i++) {
		const struct symbol *sym = &s->syms.v[i];
		if (sym->file_off && sym->addr == v[k].addr && str_eq(sym->name, name))
			return give_symbol(s, sym);
	}
	return no_version(s, name, v, n);
}

/* Does it call a function of that name that is defined elsewhere? */
static bool calls_named(const struct search *s)
{
	struct elf_links links = {0};
	err_free(elf_links_of(s->h, s->a, s->file.path, &links));
	for (u32 i = 0; i < links.nimport; i++)
		if (str_eq(links.import[i], s->p->name))
			return true;
	return false;
}

/* Names in assembly may not say that they are functions. */
static struct err *give_label(struct search *s)
{
	struct symbol sym;
	struct err *e = elf_symbol(s->h, s->file.path, s->p->name, &sym);
	bool ok = !e && image_is_code(&s->file.im, sym.addr);
	err_free(e);
	if (ok)
		return give_symbol(s, &sym);
	if (calls_named(s))
		return err_new("%s calls %.*s, but a library defines it: name the library instead "
			       "(ldd lists them)",
			       s->path, STRF(s->p->name));
	return NULL;
}

static const char *jumps_text(const struct search *s)
{
	AUTO_SB b = {0};
	sb_add(&b, s->jumping);
	if (s->njumping > 1)
		sb_fmt(&b, " and %u more", s->njumping - 1);
	return arena_strz(s->a, sb_str(&b));
}

/* One warning for both, because a place has one of each. */
static void tell_left(struct search *s)
{
	static const char unseen[] = "%s can end by a jump to another function (a tail call): "
				     "returns by such a jump are not seen";
	struct unit *u = s->u;
	struct diag *d = NULL;
	bool tell = u && s->ds && u->config.missing_probes != MISSING_IGNORE;
	if (tell && s->nleft)
		d = diag_add(s->ds, W_NO_PROBE, s->p->loc,
			     "%u of the functions cannot be probed: %s", s->nleft, s->left->msg);
	if (tell && s->njumping && d)
		diag_hint(s->ds, d, unseen, jumps_text(s));
	else if (tell && s->njumping)
		diag_add(s->ds, W_NO_PROBE, s->p->loc, unseen, jumps_text(s));
	err_free(s->left);
	s->left = NULL;
	s->nleft = s->njumping = 0;
}

static struct err *search_open(struct search *s)
{
	if (is_source(s->p))
		return source_expand(s->h, s->a, s->p, s->path, s->file.path, s->cb, s->arg);
	struct err *e = elf_syms_of(s->h, s->file.path, &s->syms);
	if (e)
		return e;
	ufile_go_range(&s->file, &s->syms);
	if (s->p->has_addr)
		return give_address(s);
	i32 at = s->p->extra.n ? -1 : str_chr(s->p->name, '@');
	if (at > 0)
		e = give_version(s, (u32)at);
	else if (!s->p->extra.n) /* names of Go's methods look like patterns: main.(*T).Get */
		e = give_named(s);
	s->wild = str_is_glob(s->p->name);
	if (!e && !s->found && (s->p->extra.n || s->wild))
		e = give_matches(s);
	tell_left(s);
	if (!e && !s->found && !s->p->extra.n && !s->wild)
		e = give_label(s);
	if (!e && !s->found && !s->syms.n && !s->syms.packed)
		e = err_new("%s has no symbols: it is stripped, or damaged", s->path);
	if (!e && !s->found && s->syms.packed)
		e = err_new("%s keeps symbols in .gnu_debugdata, which is damaged, or needs a "
			    "sonde that is built with liblzma",
			    s->path);
	return e;
}

static struct err *search_file(struct point *p, const char *real, void *arg)
{
	struct search *s = arg;
	if (s->stop)
		return NULL;
	u32 n;
	s->p = p;
	s->path = arena_strz(s->a, p->target);
	struct err *e = ufile_open(s->h, real, &s->file);
	if (e && e->no == ENOEXEC && p->has_addr && !zip_archive(real, &n)) {
		err_free(e);
		return give_flat(s, real);
	}
	if (e)
		return e;
	s->found = 0;
	s->wild = false;
	s->version = STR("");
	s->chose = false;
	e = search_open(s);
	ufile_close(&s->file);
	return e;
}

static struct err *uprobe_expand(struct host *h, struct unit *u, struct diags *ds,
				 const struct point *p, point_cb *cb, void *arg)
{
	struct search s = {.h = h, .u = u, .ds = ds, .a = h->arena, .cb = cb, .arg = arg};
	bool any_file = !p->target.n || str_is(p->target, "*");
	if (any_file && str_is(p->name, "*") && (!u || u->pid <= 0))
		return NULL;
	return user_files(h, u, ds, p, search_file, &s);
}

static struct err *uprobe_types(struct host *h, struct unit *u, struct point *p, u32 use)
{
	if (p->abi == ABI_GO)
		p->narg = h->arch->ngo_arg;
	/* A body for many functions wants their results alike: as numbers. */
	if (p->abi != ABI_GO_STACK)
		return use & (p->wild ? USE_ARGS : USE_ARGS | USE_RETVAL) ? user_types(h, u, p)
									  : NULL;
	return err_new("%.*s is built by a Go older than 1.17, which passes arguments and results "
		       "on the stack: only reg() reaches them",
		       STRF(p->target));
}

static struct ref uprobe_arg(struct fn *f, struct host *h, const struct point *p, int n)
{
	if (n >= 0 && p->abi == ABI_GO)
		return ir_load(f, 8, ir_ctx(f), arch_go_arg(f->arch, (u32)n));
	if (n >= 0 && p->abi == ABI_C32) /* behind the return address */
		return user_load(f, ir_addi(f, ir_load(f, 8, ir_ctx(f), f->arch->sp), 4 + 4 * n), 4,
				 false);
	if (n != ARG_FUNC)
		return regs_fetch(f, n);
	if (is_return(p->type) && !p->priv && host_has(h, FEAT_FUNC_IP))
		return ir_callp(f, BPF_FUNC_get_func_ip, ARGS(ir_ctx(f)));
	struct ref ip = ir_load(f, 8, ir_ctx(f), f->arch->ip);
	if (p->method->which && p->priv)
		return ir_op2(f, O_SUB, ip, user_behind(f));
	return ir_addi(f, ip, -(i64)p->offset);
}

/*
 * An instruction that has to be single-stepped costs twenty times one that the kernel emulates. So
 * where a function begins with endbr64 the probe goes behind it, unless the script could tell.
 * Whoever enters the function comes by: only what jumps past endbr64 would not be seen there.
 */
static void skip_landing_pads(struct host *h, struct point *points)
{
	struct ufile f = {0};
	for (struct point *p = points; p; p = p->next) {
		const char *real = user_point_path(h, p);
		if (p->has_addr || p->offset || p->priv)
			continue;
		if (!f.path || strcmp(f.path, real) != 0) {
			ufile_close(&f);
			struct err *e = ufile_open(h, real, &f);
			bool failed = e != NULL;
			err_free(e);
			if (failed)
				break;
		}
		p->addr += ufile_skip(&f, p->addr);
	}
	ufile_close(&f);
}

static enum frames uprobe_frames(const struct point *p)
{
	return p->has_addr || p->offset || p->priv ? FRAMES_ELSE : FRAMES_ENTRY;
}

/* Is one program for all points, which asks which it is, to be preferred to one for each? */
static bool asks_which(struct host *h, const struct point *points, u32 n, u32 use)
{
	bool offset = false, go_return = false;
	for (const struct point *p = points; p; p = p->next) {
		offset |= p->offset != 0;
		go_return |= p->priv != NULL;
	}
	bool wanted = ((use & USE_PROBE) && n > 1) || ((use & USE_FUNC) && go_return);
	return wanted && !((use & USE_FUNC) && offset) && host_has(h, FEAT_COOKIE);
}

/* What both methods do first. */
static bool take_all(const struct ask *q)
{
	if (!(q->use & (USE_REGS | USE_USTACK)))
		skip_landing_pads(q->h, q->points);
	return true;
}

static bool which_fits(const struct ask *q)
{
	return asks_which(q->h, q->points, q->n, q->use) && take_all(q);
}

static struct err *uprobe_attach(struct host *h, struct unit *u, struct attach *a)
{
	user_sites plain = {0}, returns = {0};
	for (const struct point *p = a->prog->points; p; p = p->next) {
		const char *path = user_point_path(h, p);
		const struct returns *r = p->priv;
		bool which = a->prog->points->method->which != NULL;
		struct user_site site = {.point = p, .path = path, .off = p->addr};
		site.cookie = which ? user_cookie(p, 0) : 0;
		if (!r && is_return(a->prog->points->type))
			vec_add(&returns, site);
		else if (!r)
			vec_add(&plain, site);
		for (u32 i = 0; r && i < r->n; i++) {
			site.off = r->off[i];
			site.cookie = which ? user_cookie(p, site.off - r->start) : 0;
			vec_add(&plain, site);
		}
	}
	struct err *e = user_attach(h, u, a, &plain, false);
	if (!e)
		e = user_attach(h, u, a, &returns, true);
	vec_free(&plain);
	vec_free(&returns);
	return e;
}

#define UPROBE_METHOD                                                                             \
	.prog_type = BPF_PROG_TYPE_KPROBE, .flags = METHOD_REGS | METHOD_LINGERS | METHOD_SLEEPS, \
	.arg = uprobe_arg, .arg_at = user_arg_at, .load_as = user_load_as, .attach = uprobe_attach
static const struct method method_entry = {
	UPROBE_METHOD,
	.fits = take_all,
	.frames = uprobe_frames,
};
static const struct method method_return = {UPROBE_METHOD, .fits = take_all};

/* For bodies that ask which point it is: one program for all. */
static const struct method method_entries = {
	UPROBE_METHOD,
	.fits = which_fits,
	.frames = uprobe_frames,
	.which = &user_which,
};
static const struct method method_returns = {UPROBE_METHOD, .fits = which_fits,
					     .which = &user_which};

#define UPROBE_PROBE                                                                              \
	.able = user_able, .parse = uprobe_parse, .expand = uprobe_expand, .types = uprobe_types, \
	.type_named = user_type
#define UPROBE_FLAGS (PROBE_USER | PROBE_FUNC | PROBE_STACKS | PROBE_RAW_ARGN | PROBE_MULTI)

const struct probe_type probe_uprobe = {
	UPROBE_PROBE,
	.name = "uprobe",
	.alias = {"u"},
	.syntax = "uprobe:path[:cpp|:rust]:function[@version][+offset], uprobe:path:address, "
		  "uprobe:path@file:line[:column]",
	.doc = "Start of a function of a program or library, or an instruction in it.",
	.flags = UPROBE_FLAGS | PROBE_ARGN,
	.methods = (const struct method *const[]){&method_entries, &method_entry, NULL},
};

const struct probe_type probe_uretprobe = {
	UPROBE_PROBE,
	.name = "uretprobe",
	.alias = {"ur"},
	.syntax = "uretprobe:path[:cpp|:rust]:function[@version]",
	.doc = "Return of a function of a program or library. retval is its result.",
	.flags = UPROBE_FLAGS | PROBE_RETVAL,
	.methods = (const struct method *const[]){&method_returns, &method_return, NULL},
};
