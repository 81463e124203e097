/*
 * load.c - maps and programs into the kernel, with the script's lines; undone in reverse.
 */
#include "kern/caps.h"
#include "kern/rings.h"
#include "kern/verlog.h"
#include "run/run.h"
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

/* Perf buffers, where there is no BPF ring buffer: bytes per CPU. */
enum { PERF_RING_BYTES = 256 * 1024, RB_PAGE = 4096 };

/* ---- maps ---- */

static u64 power_of_two(u64 n)
{
	u64 p = 1;
	while (p < n)
		p *= 2;
	return p;
}

/* The compiler chose the size of a ring; the kernel wants a power of two of whole pages. */
static u32 ring_bytes(const struct session *s, const struct unit *u)
{
	if (u->wake)
		return u->ring_size;
	u64 pages = u->config.perf_rb_pages;
	u64 want = u->ring->map_type == BPF_MAP_TYPE_RINGBUF ? u->ring->max_entries
		   : pages                                   ? pages * RB_PAGE
							     : (u64)PERF_RING_BYTES * s->h->ncpu;
	return (u32)MAX(power_of_two(MIN(want, 1ull << 30)), (u64)sysconf(_SC_PAGESIZE));
}

static bool is_perf(struct session *s, const struct map *m)
{
	return m->map_type == BPF_MAP_TYPE_PERF_EVENT_ARRAY ||
	       (m->map_type == BPF_MAP_TYPE_RINGBUF && !host_has(s->h, FEAT_RINGBUF));
}

struct err *load_inner(const struct map *m, int *fd)
{
	struct map_spec spec = {
		.name = "inner",
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.val_size = m->inner_size,
		.max_entries = 1,
		.flags = BPF_F_MMAPABLE,
	};
	return bpf_map_new(&spec, fd);
}

static size_t mem_size(const struct map *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return ALIGN_UP((size_t)ALIGN_UP(m->val_size, 8u) * m->max_entries, page);
}

static struct err *make_map(struct session *s, struct unit *u, struct map *m)
{
	struct map_spec spec = {
		.name = arena_strz(u->arena, m->name),
		.type = m->map_type,
		.key_size = m->key_size,
		.val_size = m->val_size,
		.max_entries = m->max_entries,
		.flags = m->flags,
	};
	if (m->role == MAP_RING && is_perf(s, m))
		spec = (struct map_spec){.name = "records",
					 .type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
					 .key_size = 4,
					 .val_size = 4,
					 .max_entries = s->h->ncpu};
	else if (m->role == MAP_RING && !u->wake)
		spec = (struct map_spec){.name = "records",
					 .type = BPF_MAP_TYPE_RINGBUF,
					 .max_entries = ring_bytes(s, u)};
	int inner AUTO_CLOSE = -1;
	struct err *e = m->inner_size ? load_inner(m, &inner) : NULL;
	if (!e)
		e = bpf_map_new_outer(&spec, MAX(inner, 0), &m->fd);
	if (e) {
		m->fd = -1;
		return e;
	}
	if (m->flags & BPF_F_MMAPABLE) {
		e = bpf_map_mmap(m->fd, mem_size(m), &m->mem);
		if (e)
			return err_wrap(e, "map %s: ", spec.name);
	}
	u32 zero = 0;
	e = m->role == MAP_AUX && m->init ? bpf_map_put(m->fd, &zero, m->init) : NULL;
	return !e && m->frozen ? bpf_map_seal(m->fd) : e;
}

static struct err *open_ring(struct session *s, const struct unit *u)
{
	struct ring_spec spec = {.fd = u->ring->fd, .cb = record_take, .arg = s};
	struct rings_spec own = {.mem = u->ring->mem,
				 .size = u->ring_size,
				 .n = u->ring->max_entries,
				 .stride = ALIGN_UP(u->ring->val_size, 8u)};
	spec.bytes = s->ring_bytes = ring_bytes(s, u);
	spec.perf = is_perf(s, u->ring);
	if (u->wake) {
		own.turns = u->turns->mem;
		spec.own = &own;
		spec.fd = u->wake->fd;
		spec.bytes = u->wake->max_entries;
	}
	return ring_new(s->h, &spec, &s->ring);
}

/* Maps that no program names are not made, but the script's own are. */
static struct err *make_maps(struct session *s, struct unit *u)
{
	bool *used = arena_newn(u->arena, bool, u->nmap + 1);
	for (u32 i = 0; i < u->nprog; i++)
		for (u32 r = 0; r < u->prog[i]->code.nreloc; r++)
			used[u->prog[i]->code.reloc[r].map] = true;
	for (u32 i = 0; i < u->nmap; i++)
		u->map[i]->fd = -1;
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		bool wanted =
			used[i] || m->role == MAP_USER || (u->scope.follow && m == u->scope.pids);
		struct err *e = wanted ? make_map(s, u, u->map[i]) : NULL;
		if (e)
			return e;
	}
	return u->ring && u->ring->fd >= 0 ? open_ring(s, u) : NULL;
}

/* ---- programs ---- */

static void relocate(const struct unit *u, struct code *c)
{
	for (u32 i = 0; i < c->nreloc; i++) {
		const struct reloc *r = &c->reloc[i];
		assert(r->insn + 1 < c->ninsn && r->map < u->nmap);
		struct bpf_insn *in = &c->insn[r->insn];
		assert(in->code == (BPF_LD | BPF_DW | BPF_IMM));
		in->src_reg = r->kind == RELOC_MAP ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
		in->imm = u->map[r->map]->fd;
	}
}

/* The line of the source that holds pos. */
static struct str source_line(struct str text, u32 pos)
{
	u32 from = MIN(pos, text.n);
	while (from && text.s[from - 1] != '\n')
		from--;
	struct str line = str_from(text, from);
	i32 end = str_chr(line, '\n');
	if (end >= 0)
		line.n = (u32)end;
	return str_trim(line);
}

static u32 make_lines(const struct unit *u, const struct code *c, struct line_info *li)
{
	u32 n = 0, line, col;
	for (u32 i = 0; i < c->nline; i++) {
		struct loc loc = c->line[i].loc;
		if (!diag_place(u->diags, loc, &line, &col))
			continue;
		const struct source *src = &u->diags->source[loc.src];
		li[n++] = (struct line_info){c->line[i].insn, line, col, src->name,
					     source_line(src->text, loc.pos)};
	}
	return n;
}

static u32 make_funcs(const struct code *c, struct func_info *fi)
{
	for (u32 i = 0; i < c->nfn; i++)
		fi[i] = (struct func_info){c->fn[i].insn, c->fn[i].name, c->fn[i].narg,
					   c->fn[i].callback};
	return c->nfn;
}

static struct loc insn_loc(const struct prog *p, i32 insn)
{
	struct loc loc = p->loc;
	for (u32 i = 0; i < p->code.nline && insn >= 0 && p->code.line[i].insn <= (u32)insn; i++)
		if (p->code.line[i].loc.len || p->code.line[i].loc.pos)
			loc = p->code.line[i].loc;
	return loc;
}

/* The verifier said no: one sentence at a place of the script. */
static void refused(struct session *s, struct unit *u, const struct prog *p, const char *log)
{
	struct verdict v = {.insn = -1};
	verlog_read(log, u->arena, &v);
	struct diag *d = diag_add(u->diags, E_VERIFIER, insn_loc(p, v.insn), "%s",
				  v.why ? v.why : "the kernel refused the program");
	bool locked = strstr(log, "probe_read") && str_is(lockdown_mode(s->h), "confidentiality");
	if (locked)
		diag_hint(
			u->diags, d,
			"the kernel is locked down (confidentiality) and lets no program read its "
			"memory by address; fields of typed arguments and curtask can be read");
	if (s->verbose)
		fprintf(stderr, "Kernel log of %.*s:\n%s\n", STRF(p->name), log);
	else if (!locked)
		diag_hint(u->diags, d, "-v shows the kernel's log");
}

/* A typed program for a function of a module names that module's BTF; for one of a BPF program, the
 * program. */
static struct err *module_btf(const struct prog *p, int *fd)
{
	struct str module = p->points->target;
	if ((p->provider->flags & PF_TYPED) && str_is(module, "bpf"))
		return bpf_prog_by_id((u32)p->points->addr, fd);
	if (!(p->provider->flags & PF_TYPED) || !module.n || str_is(module, "vmlinux"))
		return NULL;
	char name[64];
	snprintf(name, sizeof(name), "%.*s", STRF(module));
	return bpf_module_btf(name, fd);
}

static struct err *load_prog(struct session *s, struct unit *u, struct prog *p, bool *is_refused)
{
	struct arena a = {0};
	char *log AUTO_FREE = NULL;
	struct line_info *li = arena_newn(&a, struct line_info, p->code.nline + 1);
	struct func_info *fi = arena_newn(&a, struct func_info, p->code.nfn + 1);
	relocate(u, &p->code);
	int btf_fd AUTO_CLOSE = -1;
	struct err *e = module_btf(p, &btf_fd);
	if (e)
		return e;
	struct prog_spec spec = {
		.name = arena_strz(&a, p->name),
		.license = arena_strz(&a, u->config.license),
		.type = p->provider->prog_type,
		.attach_type = p->provider->load_as ? p->provider->load_as(s->h, u, p)
						    : p->provider->attach_type,
		.attach_btf_id = p->attach_btf_id,
		.attach_btf_fd = btf_fd >= 0 ? btf_fd : 0,
		.insn = p->code.insn,
		.ninsn = p->code.ninsn,
		.func = fi,
		.nfunc = make_funcs(&p->code, fi),
		.line = li,
		.nline = make_lines(u, &p->code, li),
		.log_size = (u32)MIN(u->config.log_size, UINT32_MAX / 8),
	};
	e = bpf_prog_new(s->h, &spec, &p->fd, &log);
	arena_free(&a);
	if (!e)
		return NULL;
	p->fd = -1;
	if (!log) /* it is not about what the program does */
		return e;
	refused(s, u, p, log);
	err_free(e);
	*is_refused = true;
	return NULL;
}

void load_undo(struct session *s, struct unit *u)
{
	for (u32 i = u->nprog; i-- > 0;) {
		if (u->prog[i]->fd >= 0)
			close(u->prog[i]->fd);
		u->prog[i]->fd = -1;
	}
	ring_free(s->ring);
	s->ring = NULL;
	for (u32 i = u->nmap; i-- > 0;) {
		if (u->map[i]->mem)
			munmap(u->map[i]->mem, mem_size(u->map[i]));
		u->map[i]->mem = NULL;
		if (u->map[i]->fd >= 0)
			close(u->map[i]->fd);
		u->map[i]->fd = -1;
	}
}

bool session_load(struct session *s, struct unit *u, struct err **e)
{
	bool bad = false;
	*e = NULL;
	s->u = u;
	if (!s->syms)
		syms_init(s->h, u->config.cpp_demangle, &s->syms);
	for (u32 i = 0; i < u->nprog; i++)
		u->prog[i]->fd = -1;
	*e = make_maps(s, u);
	for (u32 i = 0; i < u->nprog && !*e; i++)
		*e = load_prog(s, u, u->prog[i], &bad);
	if (!*e && !bad)
		return true;
	load_undo(s, u);
	s->u = NULL;
	return false;
}
