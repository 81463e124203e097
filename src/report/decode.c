/*
 * decode.c - bytes of records and map elements -> values.
 *
 * Nothing here reads past what was given, or asks the kernel: what an address or an id stands for
 * is answered by reader.names.
 */
#include "base/alloc.h"
#include "core/unwind.h"
#include "report/reader.h"
#include <arpa/inet.h>

static u64 load_uint(const u8 *p, u32 n)
{
	u64 v = 0;
	u32 word;
	switch (n) {
	case 8: memcpy(&v, p, 8); return v;
	case 4: memcpy(&word, p, 4); return word;
	default: memcpy(&v, p, MIN(n, sizeof(v))); return v;
	}
}

static u64 extend(u64 v, u32 bits, bool sign)
{
	if (bits == 0 || bits >= 64)
		return v;
	v &= (1ull << bits) - 1;
	return sign && v >> (bits - 1) ? v | ~0ull << bits : v;
}

static void named(struct value *ret, struct str text, u64 u)
{
	*ret = (struct value){.kind = V_NAMED, .str = text, .u = u};
}

static void decode_text(const u8 *p, u32 size, struct value *ret)
{
	const u8 *nul = size ? memchr(p, 0, size) : NULL;
	struct str text = str_n((const char *)p, nul ? (size_t)(nul - p) : size);
	*ret = (struct value){.kind = V_STR, .cut = size && !nul};
	ret->str = text;
}

static bool is_signed(const struct type *t)
{
	return t->is_signed || (t->kind == T_ENUM && t->base && t->base->is_signed);
}

static void decode_int(const struct type *t, u64 raw, struct value *ret)
{
	*ret = (struct value){.kind = is_signed(t) ? V_INT : V_UINT,
			      .size = (u8)t->size,
			      .str = t->alias.n ? t->alias : t->name,
			      .u = raw};
	if (t->kind != T_ENUM)
		return;
	ret->kind = V_ENUM;
	ret->str = (struct str){0};
	for (u32 i = 0; i < t->nenum; i++) {
		if (t->enums[i].val == ret->i) {
			ret->str = t->enums[i].name;
			return;
		}
	}
}

/* ---- addresses ---- */

enum { MAX_INLINED = 16 }; /* functions at one address */

/*
 * "name+21@/src/file.c:7"; what was inlined has no offset. What is shown by function has none either, and what has no
 * name there is the same in every process that runs the file.
 */
static struct str frame_name(struct arena *a, const struct type *t, const struct frame *f)
{
	AUTO_SB b = {0};
	if (!f->sym.n && f->module.n && t->mode == STACK_FUNCTION)
		sb_fmt(&b, "[unknown] (%.*s)", STRF(frame_file(f)));
	else if (!f->sym.n)
		sb_fmt(&b, "0x%llx", f->addr);
	else if (f->inlined || f->language.n || t->mode == STACK_FUNCTION)
		sb_add(&b, f->sym);
	else
		sb_fmt(&b, "%.*s+%llu", STRF(f->sym), f->off);
	if (f->source.n && f->line)
		sb_fmt(&b, "@%.*s:%u", STRF(f->source), f->line);
	else if (f->source.n)
		sb_fmt(&b, "@%.*s", STRF(f->source));
	if (f->inlined)
		sb_add(&b, STR(" [inlined]"));
	return arena_str(a, sb_str(&b));
}

/* One line of a stack, as its mode shows it. */
static void frame_text(struct arena *a, const struct type *t, struct frame *f)
{
	bool user = t->kind == T_USTACK;
	f->text = frame_name(a, t, f);
	if (t->mode != STACK_PERF)
		return;
	struct str module = f->module.n ? f->module : STR("[unknown]");
	f->text =
		user ? str_z(arena_fmt(a, "%llx %.*s (%.*s)", f->addr, STRF(f->text), STRF(module)))
		     : str_z(arena_fmt(a, "%llx %.*s", f->addr, STRF(f->text)));
}

static void put_code(struct arena *a, const struct type *t, struct frame *f,
		     const struct interp_frame *is)
{
	f->sym = is->name.n ? arena_str(a, is->name)
			    : str_z(arena_fmt(a, "[a function of %.*s]", STRF(f->language)));
	f->source = arena_str(a, is->file);
	f->line = is->line;
	frame_text(a, t, f);
}

/* A frame of an interpreted language: its word is no address. *f and what was inlined there, at most max; how many
 * frames that makes. */
static u32 decode_code(struct reader *r, struct arena *a, const struct type *t, struct frame *f,
		       u32 max)
{
	struct interp_frame is, inner;
	bool known = r->names->code(r->asked, f->addr, &is);
	struct bytes inlined = bytes_of(is.inlined.s, is.inlined.n);
	struct frame of = {0};
	u32 n = 0;
	if (is.hidden)
		return 0;
	of.language = arena_str(a, is.language.n ? is.language : STR("interpreted"));
	of.module = arena_str(a, is.label);
	while (n + 1 < max && inlined.at < inlined.n && interp_next(&inlined, &inner)) {
		f[n] = of;
		put_code(a, t, &f[n++], &inner);
	}
	if (!known)
		is.name = STR("");
	f[n] = of;
	put_code(a, t, &f[n], &is);
	return n + 1;
}

static void decode_frame(struct reader *r, struct arena *a, const struct type *t, u32 pid,
			 struct frame *f)
{
	struct symbol sym = {0};
	bool user = t->kind == T_USTACK;
	if (t->mode == STACK_RAW || t->mode == STACK_BUILD_ID) { /* or its id is not known */
		f->text = str_z(arena_fmt(a, "%llx", f->addr));
		return;
	}
	bool known = user ? r->names->user(r->asked, pid, f->addr, &sym)
			  : r->names->kernel(r->asked, f->addr, &sym);
	f->module = arena_str(a, sym.module);
	f->build_id = arena_str(a, sym.build_id);
	f->file_off = user ? sym.file_off : 0;
	f->made = sym.made;
	if (known && sym.name.n) {
		f->sym = arena_str(a, sym.name);
		f->off = sym.off;
	}
	frame_text(a, t, f);
}

/* With show_debug_info: *f and what was inlined there, at most max. How many frames that makes. */
static u32 decode_source(struct reader *r, struct arena *a, const struct type *t, u32 pid,
			 bool call, struct frame *f, u32 max)
{
	struct source_frame v[MAX_INLINED];
	struct frame whole = f[0];
	bool wanted = r->unit->config.show_debug_info && t->kind == T_USTACK &&
		      t->mode != STACK_RAW && t->mode != STACK_BUILD_ID;
	u32 n = wanted ? r->names->source(r->asked, pid, whole.addr, call, v,
					  MIN(max, (u32)MAX_INLINED))
		       : 0;
	for (u32 i = 0; i < n; i++) {
		f[i] = whole;
		if (v[i].inlined || !whole.sym.n)
			f[i].sym = arena_str(a, v[i].name);
		f[i].inlined = v[i].inlined;
		f[i].source = arena_str(a, v[i].source);
		f[i].line = v[i].line;
		frame_text(a, t, &f[i]);
	}
	return MAX(n, 1u);
}

/* A frame of build_id mode: "ID 0xOFFSET"; false: the kernel had only the address. */
static bool decode_place(struct arena *a, const u8 *p, struct frame *f)
{
	AUTO_SB text = {0};
	struct stack_place at;
	memcpy(&at, p, sizeof(at));
	f->addr = at.addr;
	if (at.status != 1)
		return false;
	for (u32 i = 0; i < sizeof(at.id); i++)
		sb_fmt(&text, "%02x", at.id[i]);
	sb_fmt(&text, " 0x%llx", at.addr);
	f->text = arena_str(a, sb_str(&text));
	return true;
}

/* Where the addresses of a stack are: n in the value, the others where its last frame says. */
struct stack_at {
	const u8 *first;
	const u64 *tail;
	u32 n, ntail, pid;
	bool places; /* instead of addresses */
};

static struct stack_at stack_at(struct reader *r, const struct type *t, const u8 *p)
{
	struct stack_value head;
	memcpy(&head, p, sizeof(head));
	struct stack_at s = {.first = p + sizeof(head),
			     .n = MIN(head.n, t->count),
			     .pid = head.pid,
			     .places = t->mode == STACK_BUILD_ID};
	u64 last = s.n && !s.places && t->kind == T_USTACK ? load_uint(s.first + 8ul * (s.n - 1), 8)
							   : 0;
	if ((last & UNWIND_MARK_MASK) == UNWIND_MARK) {
		s.n--;
		s.tail = r->names->tail(r->asked, last, &s.ntail);
		s.ntail =
			unwind_tail_of(t->mode == STACK_LANG, s.tail, MIN(s.ntail, t->count - s.n));
	}
	return s;
}

static u64 stack_addr(const struct stack_at *s, u32 i)
{
	return i < s->n ? load_uint(s->first + 8ul * i, 8) : s->tail[i - s->n];
}

static bool is_code(const struct type *t, const struct stack_at *s, u32 i)
{
	return t->kind == T_USTACK && !s->places && unwind_is_word(stack_addr(s, i));
}

static u32 expect_stack(struct reader *r, const struct type *t, const u8 *p)
{
	struct stack_at s = stack_at(r, t, p);
	if (s.places || t->mode == STACK_RAW || t->kind != T_USTACK)
		return 0;
	for (u32 i = 0; i < s.n + s.ntail; i++)
		if (!unwind_is_word(stack_addr(&s, i)))
			r->names->expect(r->asked, s.pid, stack_addr(&s, i));
	return s.n + s.ntail;
}

static void decode_stack(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	if (!r->expected && t->kind == T_USTACK && r->names->gains(r->asked) &&
	    expect_stack(r, t, p))
		r->names->expected(r->asked);
	struct stack_at s = stack_at(r, t, p);
	u32 made = 0, cap = 0;
	for (u32 i = 0; i < s.n + s.ntail; i++)
		cap += r->unit->config.show_debug_info || is_code(t, &s, i) ? MAX_INLINED : 1;
	struct frame *f = arena_newn(a, struct frame, cap + 1);
	for (u32 i = 0; i < s.n + s.ntail; i++) {
		struct frame *at = &f[made];
		if (s.places && decode_place(a, s.first + i * sizeof(struct stack_place), at)) {
			made++;
			continue;
		}
		if (!s.places)
			at->addr = stack_addr(&s, i);
		if (t->kind == T_USTACK && unwind_is_word(at->addr)) {
			made += decode_code(r, a, t, at, MIN(cap - made, (u32)MAX_INLINED));
			continue;
		}
		decode_frame(r, a, t, s.pid, at);
		made += decode_source(r, a, t, s.pid, i > 0, at, cap - made);
	}
	*ret = (struct value){.kind = V_STACK,
			      .mode = t->mode,
			      .kernel = t->kind == T_KSTACK,
			      .n = made,
			      .stack = f};
}

static void decode_sym(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
		       struct value *ret)
{
	u64 addr = load_uint(p, 8), pid = t->kind == T_USYM ? load_uint(p + 8, 8) : 0;
	struct symbol sym = {0};
	bool known = t->kind == T_USYM ? r->names->user(r->asked, (u32)pid, addr, &sym)
				       : r->names->kernel(r->asked, addr, &sym);
	if (known && sym.name.n)
		named(ret, arena_str(a, sym.name), addr);
	else
		named(ret, addr ? str_z(arena_fmt(a, "0x%llx", addr)) : STR("0"), addr);
}

/* ---- things with a text of their own ---- */

static void decode_inet(struct arena *a, const u8 *p, struct value *ret)
{
	char *text = arena_alloc(a, INET6_ADDRSTRLEN, 1);
	bool six = p[0] == 16;
	if (!inet_ntop(six ? AF_INET6 : AF_INET, p + 4, text, INET6_ADDRSTRLEN))
		text[0] = 0;
	named(ret, str_z(text), load_uint(p + 4, 4));
}

static void decode_mac(struct arena *a, const u8 *p, struct value *ret)
{
	const char *text =
		arena_fmt(a, "%02X:%02X:%02X:%02X:%02X:%02X", p[0], p[1], p[2], p[3], p[4], p[5]);
	named(ret, str_z(text), load_uint(p, 6));
}

static const char *string_by_id(const struct reader *r, u32 id)
{
	return id < r->unit->nstring ? r->unit->strings[id] : "";
}

static void decode_time(struct reader *r, struct arena *a, const u8 *p, struct value *ret)
{
	AUTO_SB text = {0};
	u64 ns = load_uint(p, 8), mode = load_uint(p + 12, 4);
	if (mode < countof(r->clocks.ahead_ns))
		ns -= (u64)r->clocks.ahead_ns[mode];
	clocks_strftime(&r->clocks, &text, string_by_id(r, (u32)load_uint(p + 8, 4)), ns);
	named(ret, arena_str(a, sb_str(&text)), ns);
}

static void decode_cgroup(struct reader *r, struct arena *a, const u8 *p, struct value *ret)
{
	u64 id = load_uint(p, 8);
	struct str filter = str_z(string_by_id(r, (u32)load_uint(p + 8, 4)));
	AUTO_SB paths = {0};
	r->names->cgroups(r->asked, id, filter, &paths);
	named(ret, arena_str(a, sb_str(&paths)), id);
}

static void decode_user(struct reader *r, struct arena *a, const u8 *p, struct value *ret)
{
	u64 uid = load_uint(p, 8);
	const char *name = r->names->username(r->asked, (u32)uid);
	named(ret, name ? str_z(name) : str_z(arena_fmt(a, "%llu", uid)), uid);
}

/* ---- compound ---- */

/* Members as they are printed: those of anonymous structs and unions belong to the parent. */
static u32 count_members(const struct type *t)
{
	u32 n, total = 0;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++)
		total += !f[i].name.n && type_is_record(f[i].type) ? count_members(f[i].type) : 1;
	return total;
}

static void decode_field(struct reader *r, struct arena *a, const struct field *f, const u8 *p,
			 struct value *ret)
{
	u32 at = f->bit_off / 8, shift = f->bit_off % 8;
	if (!f->bit_len) {
		decode_value(r, a, f->type, p + at, ret);
		return;
	}
	u32 bytes = (shift + f->bit_len + 7) / 8;
	u64 raw = load_uint(p + at, bytes) >> shift;
	if (bytes > 8) /* a packed one: the rest is in a ninth byte */
		raw |= (u64)p[at + 8] << (64 - shift);
	decode_int(f->type, extend(raw, f->bit_len, is_signed(f->type)), ret);
}

static u32 decode_members(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
			  struct value *list, struct str *names)
{
	u32 n, done = 0;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		if (!f[i].name.n && type_is_record(f[i].type)) {
			done += decode_members(r, a, f[i].type, p + f[i].bit_off / 8, list + done,
					       names + done);
			continue;
		}
		decode_field(r, a, &f[i], p, &list[done]);
		names[done++] = f[i].name;
	}
	return done;
}

static void decode_struct(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
			  struct value *ret)
{
	u32 n = count_members(t);
	struct value *list = arena_newn(a, struct value, n ? n : 1);
	struct str *names = arena_newn(a, struct str, n ? n : 1);
	decode_members(r, a, t, p, list, names);
	*ret = (struct value){.kind = V_RECORD,
			      .mode = t->kind == T_RECORD || t->name.n ? t->kind : 0,
			      .n = n,
			      .str = t->name.n ? t->name : t->alias,
			      .list = list,
			      .names = names};
}

static void decode_tuple(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	struct value *list = arena_newn(a, struct value, t->nfield ? t->nfield : 1);
	for (u32 i = 0; i < t->nfield; i++)
		decode_field(r, a, &t->field[i], p, &list[i]);
	*ret = (struct value){.kind = V_TUPLE, .n = t->nfield, .list = list};
	if (!t->name.n)
		return;
	AUTO_SB text = {0};
	value_printf(&text, t->name, list, t->nfield,
		     &(struct show){r->unit->config.str_trunc_trailer, false});
	named(ret, arena_str(a, sb_str(&text)), 0);
}

static void decode_array(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	if (t->base->is_char) {
		decode_text(p, t->size, ret);
		ret->cut = false;
		return;
	}
	struct value *list = arena_newn(a, struct value, t->count ? t->count : 1);
	for (u32 i = 0; i < t->count; i++)
		decode_value(r, a, t->base, p + (size_t)i * t->base->size, &list[i]);
	*ret = (struct value){.kind = V_ARRAY, .n = t->count, .list = list};
}

static void decode_buf(const u8 *p, u32 size, struct value *ret)
{
	u32 n = size < 4 ? 0 : (u32)load_uint(p, 4);
	*ret = (struct value){.kind = V_BYTES};
	if (n)
		ret->str = str_n((const char *)p + 4, MIN(n, size - 4));
}

static void decode_float(const struct type *t, const u8 *p, struct value *ret)
{
	*ret = (struct value){.kind = V_FLOAT};
	if (t->size == sizeof(float)) {
		float f;
		memcpy(&f, p, sizeof(f));
		ret->f = (double)f;
	} else if (t->size == sizeof(double)) {
		memcpy(&ret->f, p, sizeof(ret->f));
	}
}

static void decode_agg(struct arena *a, const struct type *t, const u8 *p, struct value *ret)
{
	const struct agg *agg = agg_of(t);
	*ret = (struct value){0};
	if (!agg)
		return;
	u64 *w = arena_newn(a, u64, agg->words(t));
	memcpy(w, p, 8ul * agg->words(t));
	agg->decode(t, w, 0, a, ret);
}

static void decode_probe(const struct reader *r, const u8 *p, struct value *ret)
{
	u64 id;
	memcpy(&id, p, sizeof(id));
	ret->kind = V_STR;
	ret->str = id < r->unit->nprobe ? r->unit->probe_name[id] : STR("?");
}

void decode_value(struct reader *r, struct arena *a, const struct type *t, const u8 *p,
		  struct value *ret)
{
	switch (t->kind) {
	case T_ERROR:
	case T_NONE:
	case T_FWD:
	case T_FUNC: *ret = (struct value){0}; break;
	case T_BOOL: *ret = (struct value){.kind = V_BOOL, .u = load_uint(p, t->size) != 0}; break;
	case T_INT:
	case T_ENUM:
		decode_int(t,
			   extend(load_uint(p, t->size), 8 * t->size,
				  t->is_signed || t->kind == T_ENUM),
			   ret);
		break;
	case T_FLOAT: decode_float(t, p, ret); break;
	case T_PTR:
		*ret = (struct value){.kind = V_PTR, .size = 8, .u = load_uint(p, t->size)};
		break;
	case T_ARRAY: decode_array(r, a, t, p, ret); break;
	case T_STRUCT:
	case T_UNION:
	case T_RECORD: decode_struct(r, a, t, p, ret); break;
	case T_TUPLE: decode_tuple(r, a, t, p, ret); break;
	case T_STRING:
		decode_text(p, t->size, ret);
		ret->cut &= !t->whole;
		break;
	case T_BUF: decode_buf(p, t->size, ret); break;
	case T_KSTACK:
	case T_USTACK:
		decode_stack(r, a, t, p, ret);
		if (t->p[0])
			decode_int(&type_i64, ret->n, ret);
		break;
	case T_KSYM:
	case T_USYM: decode_sym(r, a, t, p, ret); break;
	case T_INET: decode_inet(a, p, ret); break;
	case T_TIMESTAMP: decode_time(r, a, p, ret); break;
	case T_MAC: decode_mac(a, p, ret); break;
	case T_CGROUP_PATH: decode_cgroup(r, a, p, ret); break;
	case T_USERNAME: decode_user(r, a, p, ret); break;
	case T_PROBE: decode_probe(r, p, ret); break;
	default: decode_agg(a, t, p, ret); break;
	}
}

u32 decode_expect(struct reader *r, const struct type *t, const u8 *p)
{
	u32 n = 0;
	if (t->kind == T_USTACK)
		return expect_stack(r, t, p);
	if (t->kind == T_USYM) {
		r->names->expect(r->asked, (u32)load_uint(p + 8, 8), load_uint(p, 8));
		return 1;
	}
	for (u32 i = 0; (t->kind == T_TUPLE || t->kind == T_RECORD) && i < t->nfield; i++)
		n += decode_expect(r, t->field[i].type, p + t->field[i].bit_off / 8);
	return n;
}

/* ---- records ---- */

/* Only the last field may be shorter than its type: text or bytes up to the end of the record. */
static bool decode_short(const struct field *f, bool last, const u8 *p, u32 left, struct value *v)
{
	if (last && f->type->kind == T_STRING) {
		decode_text(p, left, v);
		v->cut = false;
		return true;
	}
	if (last && f->type->kind == T_BUF && left >= 4) {
		decode_buf(p, left, v);
		return true;
	}
	return false;
}

bool decode_record(struct reader *r, const struct type *layout, const struct record *rec)
{
	for (u32 i = 0; i < layout->nfield; i++) {
		const struct field *f = &layout->field[i];
		u32 at = f->bit_off / 8;
		if (at > rec->size)
			return false;
		if (rec->size - at >= f->type->size)
			decode_value(r, &r->arena, f->type, rec->data + at, &r->vals[i]);
		else if (!decode_short(f, i + 1 == layout->nfield, rec->data + at, rec->size - at,
				       &r->vals[i]))
			return false;
	}
	return true;
}

struct str reader_printf(struct reader *r, const struct schema *sc, const struct value *v, u32 n,
			 const struct show *how)
{
	struct pattern *f = &r->patterns[sc->id];
	if (!f->piece)
		pattern_parse(&r->formats, sc->fmt, f);
	sb_clear(&r->text);
	pattern_put(&r->text, f, v, n, how);
	return sb_str(&r->text);
}

void reader_init(struct reader *r, const struct unit *u, const struct names *names, void *asked)
{
	u32 longest = 0;
	assert(u && names);
	for (u32 i = 0; i < u->nschema; i++)
		longest = MAX(longest, u->schema[i]->layout ? u->schema[i]->layout->nfield : 0);
	*r = (struct reader){.unit = u, .names = names, .asked = asked};
	r->vals = xcalloc(longest, sizeof(*r->vals));
	r->patterns = xcalloc(u->nschema, sizeof(*r->patterns));
}

void reader_free(struct reader *r)
{
	free(r->vals);
	free(r->patterns);
	sb_free(&r->text);
	arena_free(&r->arena);
	arena_free(&r->formats);
}
