/*
 * load.c - maps and programs into the kernel, with the script's lines; undone in reverse.
 */
#include "run/load.h"
#include "base/alloc.h"
#include "kern/caps.h"
#include "kern/rings.h"
#include "kern/verlog.h"
#include "run/engine_kernel.h"
#include "run/mmap_events.h"
#include "run/session.h"
#include <errno.h>
#include <stdio.h>

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

static size_t mem_size(const struct map *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return ALIGN_UP((size_t)ALIGN_UP(m->val_size, 8u) * m->max_entries, page);
}

static struct err *make_map(struct session *s, const struct unit *u, const struct map *m)
{
	assert(m->index < u->nmap);
	assert(!m->in); /* that one is a part of another map */
	const struct live *l = &s->live;
	struct live_map *made = &l->map[m->index];
	struct map_spec spec = {
		.name = arena_strz(s->h->arena, m->name),
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
	struct err *e = l->engine->map_new(l->self, &spec, m->inner_size, &made->fd);
	if (e) {
		made->fd = -1;
		return e;
	}
	if (m->flags & BPF_F_MMAPABLE && !(u->unwind && m == u->unwind->index)) {
		e = l->engine->map_mem(l->self, made->fd, mem_size(m), &made->mem);
		if (e)
			return err_wrap(e, "map %s: ", spec.name);
	}
	e = m->role == MAP_AUX && m->init ? live_put(l, m, &(u32){0}, m->init) : NULL;
	return !e && m->frozen ? l->engine->map_seal(l->self, made->fd) : e;
}

static struct err *open_ring(struct session *s, const struct unit *u)
{
	struct ring_spec spec = {.fd = map_fd(s, u->ring), .cb = record_take, .arg = &s->reporter};
	struct rings_spec own = {.mem = map_mem(s, u->ring),
				 .size = u->ring_size,
				 .n = u->ring->max_entries,
				 .stride = ALIGN_UP(u->ring->val_size, 8u)};
	spec.bytes = s->live.ring_bytes = ring_bytes(s, u);
	spec.perf = is_perf(s, u->ring);
	if (u->wake) {
		own.turns = map_mem(s, u->turns);
		spec.own = &own;
		spec.fd = map_fd(s, u->wake);
		spec.bytes = u->wake->max_entries;
	}
	return s->live.engine->ring_new(s->live.self, &spec, &s->live.ring);
}

/* A program that only says which threads' stacks are wanted names no tables, but user space walks by them. */
static void use_tables(const struct unwind *u, bool *used)
{
	const struct map *table[] = {u->procs, u->lists, u->index, u->blocks,  u->rules,
				     u->lost,  u->langs, u->codes, u->programs};
	if (!used[u->copies->index] || used[u->procs->index])
		return;
	for (u32 i = 0; i < countof(table); i++)
		used[table[i]->index] = true;
}

/* Maps that no program names are not made, but the script's own are. */
static struct err *make_maps(struct session *s, struct unit *u)
{
	bool *used AUTO_FREE = xcalloc(u->nmap + 1, sizeof(*used));
	for (u32 i = 0; i < u->nprog; i++)
		for (u32 r = 0; r < u->prog[i]->code.nreloc; r++)
			used[u->prog[i]->code.reloc[r].map] = true;
	if (u->unwind)
		use_tables(u->unwind, used);
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->in)
			used[u->map[i]->in->index] = true;
	for (u32 i = 0; i < u->nmap; i++) {
		const struct map *m = u->map[i];
		bool wanted = !m->in && (used[i] || m->role == MAP_USER ||
					 (u->scope.follow && m == u->scope.pids));
		struct err *e = wanted ? make_map(s, u, m) : NULL;
		if (e)
			return e;
	}
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->in)
			s->live.map[i].mem = (u8 *)map_mem(s, u->map[i]->in) + u->map[i]->at;
	return map_fd(s, u->ring) >= 0 ? open_ring(s, u) : NULL;
}

/* ---- programs ---- */

/* The line of the source with the place; of a long one what begins there. */
static struct str source_line(const struct diags *ds, struct loc loc, u32 col)
{
	enum { LONG_LINE = 200 };
	struct str line = diag_line(ds, loc);
	if (line.n > LONG_LINE)
		line = str_from(line, col - 1);
	line.n = MIN(line.n, LONG_LINE);
	return str_trim(line);
}

static u32 make_lines(const struct diags *ds, const struct code *c, struct line_info *li)
{
	u32 n = 0, line, col;
	for (u32 i = 0; i < c->nline; i++) {
		struct loc loc = c->line[i].loc;
		if (!diag_place(ds, loc, &line, &col))
			continue;
		const struct source *src = &ds->source[loc.src];
		li[n++] = (struct line_info){c->line[i].insn, line, col, src->name,
					     source_line(ds, loc, col)};
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

struct loc load_place(const struct prog *p, i32 insn)
{
	struct loc loc = p->loc;
	for (u32 i = 0; i < p->code.nline && insn >= 0 && p->code.line[i].insn <= (u32)insn; i++)
		if (p->code.line[i].loc.len || p->code.line[i].loc.pos)
			loc = p->code.line[i].loc;
	return loc;
}

/* The verifier said no: one sentence at a place of the script. */
static void refused(struct session *s, struct diags *ds, const struct prog *p, const char *log)
{
	struct verdict v = {.insn = -1};
	verlog_read(log, ds->arena, &v);
	struct diag *d = diag_add(ds, E_VERIFIER, load_place(p, v.insn), "%s",
				  v.why ? v.why : "the kernel refused the program");
	bool locked = strstr(log, "probe_read") && str_is(lockdown_mode(s->h), "confidentiality");
	if (locked)
		diag_hint(
			ds, d,
			"the kernel is locked down (confidentiality) and lets no program read its "
			"memory by address; fields of typed arguments and curtask can be read");
	if (s->log.level)
		log_put(&s->log, "Kernel log of %.*s:\n%s\n", STRF(p->name), log);
	else if (!locked)
		diag_hint(ds, d, "-v shows the kernel's log");
}

/* A typed program for a function of a module names that module's BTF; for one of a BPF program, the
 * program. */
static struct err *module_btf(const struct prog *p, int *fd)
{
	struct str module = p->points->target;
	if ((point_flags(p->points) & METHOD_TYPED) && str_is(module, "bpf"))
		return bpf_prog_by_id((u32)p->points->addr, fd);
	if (!(point_flags(p->points) & METHOD_TYPED) || !module.n || str_is(module, "vmlinux"))
		return NULL;
	char name[64];
	snprintf(name, sizeof(name), "%.*s", STRF(module));
	return bpf_module_btf(name, fd);
}

static struct err *load_prog(struct session *s, struct unit *u, struct diags *ds,
			     const struct prog *p)
{
	struct arena a = {0};
	char *log AUTO_FREE = NULL;
	struct line_info *li = arena_newn(&a, struct line_info, p->code.nline + 1);
	struct func_info *fi = arena_newn(&a, struct func_info, p->code.nfn + 1);
	int btf_fd AUTO_CLOSE = -1;
	assert(p->index < u->nprog);
	const struct method *method = p->points->method;
	struct err *e = module_btf(p, &btf_fd);
	if (e)
		return e;
	const struct prog_spec spec = {
		.name = arena_strz(&a, p->name),
		.license = arena_strz(&a, u->config.license),
		.type = method->prog_type,
		.attach_type = method->load_as ? method->load_as(s->h, u, p) : method->attach_type,
		.attach_btf_id = p->attach_btf_id,
		.attach_btf_fd = btf_fd >= 0 ? btf_fd : 0,
		.flags = p->sleeps ? BPF_F_SLEEPABLE : 0,
		.func = fi,
		.nfunc = make_funcs(&p->code, fi),
		.line = li,
		.nline = make_lines(ds, &p->code, li),
		.log_size = (u32)MIN(u->config.log_size, UINT32_MAX / 8),
	};
	const struct engine_prog load = {
		.spec = spec, .code = &p->code, .map = s->live.map, .nmap = u->nmap};
	e = s->live.engine->prog_load(s->live.self, &load, &s->live.prog_fd[p->index], &log);
	arena_free(&a);
	if (!e)
		return NULL;
	s->live.prog_fd[p->index] = -1;
	if (!log) /* it is not about what the program does */
		return e;
	refused(s, ds, p, log);
	err_free(e);
	s->attach.refused = s->attach.refused ? s->attach.refused : p;
	return NULL;
}

/* What it cost the verifier; tests/kernel/verified.py reads this. */
static void tell_cost(const struct log *log, const struct prog *p, int fd)
{
	u32 walked = bpf_prog_walked(fd);
	if (walked)
		log_put(log, "%.*s: %u instructions, %u verified\n", STRF(p->name), p->code.ninsn,
			walked);
}

static struct live_map *no_maps(u32 n)
{
	struct live_map *v = xcalloc(n, sizeof(*v));
	for (u32 i = 0; i < n; i++)
		v[i].fd = -1;
	return v;
}

static int *no_progs(u32 n)
{
	int *fd = xcalloc(n, sizeof(*fd));
	for (u32 i = 0; i < n; i++)
		fd[i] = -1;
	return fd;
}

void load_undo(struct session *s)
{
	struct live *l = &s->live;
	for (u32 i = l->prog_fd ? s->u->nprog : 0; i-- > 0;)
		l->engine->prog_free(l->self, l->prog_fd[i]);
	free(l->prog_fd);
	if (l->ring)
		l->engine->ring_free(l->ring);
	for (u32 i = l->map ? s->u->nmap : 0; i-- > 0;)
		l->engine->map_free(l->self, &l->map[i],
				    s->u->map[i]->in ? 0 : mem_size(s->u->map[i]));
	free(l->map);
	*l = (struct live){0};
}

bool session_load(struct session *s, struct diags *ds, struct err **e)
{
	struct unit *u = s->u;
	assert(!s->live.map);
	*e = NULL;
	syms_init(s->h, u->config.cpp_demangle, &s->syms);
	s->live = (struct live){
		.engine = session_in_kernel(s) ? &engine_kernel : s->live.engine,
		.self = session_in_kernel(s) ? s->h : s->live.self,
		.query = s->live.query,
		.map = no_maps(u->nmap),
		.prog_fd = no_progs(u->nprog),
	};
	if (s->log.level && session_in_kernel(s) && host_memory(s->h) != NO_MEMORY_LIMIT)
		log_put(&s->log,
			"memory: this control group may have %llu KiB; maps and event rings are "
			"made for half of it at most\n",
			host_memory(s->h) >> 10);
	services_init(s);
	*e = make_maps(s, u);
	if (!*e && !s->dry_run)
		services_early(s);
	for (u32 i = 0; i < u->nprog && !*e; i++) {
		*e = load_prog(s, u, ds, u->prog[i]);
		if (session_in_kernel(s))
			mmap_events_drain(s); /* that may have taken long */
	}
	for (u32 i = 0;
	     i < u->nprog && !*e && !s->attach.refused && s->log.level && session_in_kernel(s); i++)
		tell_cost(&s->log, u->prog[i], s->live.prog_fd[i]);
	return !*e && !s->attach.refused;
}
