/*
 * decode.c - records and map elements -> values.
 *
 * A record is as trustworthy as the program that wrote it, which is ours; but it may also come from
 * a file or another host one day, so nothing here reads past what was given.
 */
#include "run/run.h"
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

static bool is_control(char c)
{
	return ((u8)c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

/* Traced text on a terminal: escape sequences must not reach it. */
static struct str escaped(struct arena *a, struct str s)
{
	static const char hex[] = "0123456789abcdef";
	u32 n = 0;
	for (u32 i = 0; i < s.n; i++)
		n += is_control(s.s[i]);
	if (!n)
		return s;
	char *buf = arena_alloc(a, s.n + 3ul * n, 1), *to = buf;
	for (u32 i = 0; i < s.n; i++) {
		u8 c = (u8)s.s[i];
		if (is_control((char)c)) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = hex[c >> 4];
			*to++ = hex[c & 15];
		} else {
			*to++ = (char)c;
		}
	}
	return str_n(buf, (size_t)(to - buf));
}

static void named(struct value *ret, struct str text, u64 u)
{
	*ret = (struct value){.kind = V_NAMED, .str = text, .u = u};
}

static void decode_text(struct session *s, struct arena *a, const u8 *p, u32 size,
			struct value *ret)
{
	const u8 *nul = size ? memchr(p, 0, size) : NULL;
	struct str text = str_n((const char *)p, nul ? (size_t)(nul - p) : size);
	*ret = (struct value){.kind = V_STR, .cut = size && !nul};
	ret->str = s->escape ? escaped(a, text) : text;
}

static void decode_int(const struct type *t, u64 raw, struct value *ret)
{
	bool sign = t->is_signed || (t->kind == T_ENUM && t->base && t->base->is_signed);
	*ret = (struct value){.kind = sign ? V_INT : V_UINT, .size = (u8)t->size, .u = raw};
	if (t->kind != T_ENUM)
		return;
	ret->kind = V_ENUM;
	for (u32 i = 0; i < t->nenum; i++) {
		if (t->enums[i].val == ret->i) {
			ret->str = t->enums[i].name;
			return;
		}
	}
}

/* ---- addresses ---- */

static struct str sym_offset(struct arena *a, const struct symbol *sym)
{
	return str_z(arena_fmt(a, "%.*s+%llu", STRF(sym->name), sym->off));
}

/* One line of a stack, as its mode shows it. */
static void decode_frame(struct session *s, struct arena *a, const struct type *t, u32 pid,
			 struct frame *f)
{
	struct symbol sym = {0};
	bool user = t->kind == T_USTACK, perf = t->mode == STACK_PERF;
	if (t->mode == STACK_RAW || t->mode == STACK_BUILD_ID) { /* or its id is not known */
		f->text = str_z(arena_fmt(a, "%llx", f->addr));
		return;
	}
	bool known =
		user ? sym_user(s->syms, pid, f->addr, &sym) : sym_kernel(s->syms, f->addr, &sym);
	known = known && sym.name.n;
	f->module = arena_str(a, sym.module);
	if (known) {
		f->sym = arena_str(a, sym.name);
		f->off = sym.off;
		f->text = sym_offset(a, &sym);
	} else {
		f->text = str_z(arena_fmt(a, "0x%llx", f->addr));
	}
	if (!perf)
		return;
	struct str module = sym.module.n ? sym.module : STR("[unknown]");
	f->text =
		user ? str_z(arena_fmt(a, "%llx %.*s (%.*s)", f->addr, STRF(f->text), STRF(module)))
		     : str_z(arena_fmt(a, "%llx %.*s", f->addr, STRF(f->text)));
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

static void decode_stack(struct session *s, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	struct stack_value head;
	memcpy(&head, p, sizeof(head));
	if (t->kind == T_USTACK)
		notes_drain(s);
	u32 n = MIN(head.n, t->count);
	struct frame *f = arena_newn(a, struct frame, n ? n : 1);
	for (u32 i = 0; i < n; i++) {
		if (t->mode == STACK_BUILD_ID &&
		    decode_place(a, p + sizeof(head) + i * sizeof(struct stack_place), &f[i]))
			continue;
		if (t->mode != STACK_BUILD_ID)
			f[i].addr = load_uint(p + sizeof(head) + 8ul * i, 8);
		decode_frame(s, a, t, head.pid, &f[i]);
	}
	*ret = (struct value){.kind = V_STACK,
			      .mode = t->mode,
			      .kernel = t->kind == T_KSTACK,
			      .n = n,
			      .stack = f};
}

static void decode_sym(struct session *s, struct arena *a, const struct type *t, const u8 *p,
		       struct value *ret)
{
	u64 addr = load_uint(p, 8), pid = t->kind == T_USYM ? load_uint(p + 8, 8) : 0;
	struct symbol sym = {0};
	if (t->kind == T_USYM)
		notes_drain(s);
	bool known = t->kind == T_USYM ? sym_user(s->syms, (u32)pid, addr, &sym)
				       : sym_kernel(s->syms, addr, &sym);
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

static const char *string_by_id(const struct session *s, u32 id)
{
	return id < s->u->nstring ? s->u->strings[id] : "";
}

static void decode_time(struct session *s, struct arena *a, const u8 *p, struct value *ret)
{
	AUTO_SB text = {0};
	u64 ns = load_uint(p, 8), mode = load_uint(p + 12, 4);
	if (mode < countof(s->ahead_ns))
		ns -= (u64)s->ahead_ns[mode];
	session_strftime(s, &text, string_by_id(s, (u32)load_uint(p + 8, 4)), ns);
	named(ret, arena_str(a, sb_str(&text)), ns);
}

static void decode_cgroup(struct session *s, struct arena *a, const u8 *p, struct value *ret)
{
	u64 id = load_uint(p, 8);
	const char *path = proc_cgroup_path(s->h, id);
	const char *filter = string_by_id(s, (u32)load_uint(p + 8, 4));
	bool wanted = path && (!*filter || str_glob(str_z(filter), STR("unified")));
	named(ret, wanted ? str_z(arena_fmt(a, "unified:%s", path)) : STR(""), id);
}

static void decode_user(struct session *s, struct arena *a, const u8 *p, struct value *ret)
{
	u64 uid = load_uint(p, 8);
	const char *name = proc_username(s->h, (u32)uid);
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

static void decode_field(struct session *s, struct arena *a, const struct field *f, const u8 *p,
			 struct value *ret)
{
	u32 at = f->bit_off / 8, shift = f->bit_off % 8;
	if (!f->bit_len) {
		decode_value(s, a, f->type, p + at, ret);
		return;
	}
	u64 raw = load_uint(p + at, (shift + f->bit_len + 7) / 8) >> shift;
	decode_int(f->type, extend(raw, f->bit_len, false), ret);
}

static u32 decode_members(struct session *s, struct arena *a, const struct type *t, const u8 *p,
			  struct value *list, struct str *names)
{
	u32 n, done = 0;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		if (!f[i].name.n && type_is_record(f[i].type)) {
			done += decode_members(s, a, f[i].type, p + f[i].bit_off / 8, list + done,
					       names + done);
			continue;
		}
		decode_field(s, a, &f[i], p, &list[done]);
		names[done++] = f[i].name;
	}
	return done;
}

static void decode_struct(struct session *s, struct arena *a, const struct type *t, const u8 *p,
			  struct value *ret)
{
	u32 n = count_members(t);
	struct value *list = arena_newn(a, struct value, n ? n : 1);
	struct str *names = arena_newn(a, struct str, n ? n : 1);
	decode_members(s, a, t, p, list, names);
	*ret = (struct value){.kind = V_RECORD, .n = n, .list = list, .names = names};
}

static void decode_tuple(struct session *s, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	struct value *list = arena_newn(a, struct value, t->nfield ? t->nfield : 1);
	for (u32 i = 0; i < t->nfield; i++)
		decode_field(s, a, &t->field[i], p, &list[i]);
	*ret = (struct value){.kind = V_TUPLE, .n = t->nfield, .list = list};
}

static void decode_array(struct session *s, struct arena *a, const struct type *t, const u8 *p,
			 struct value *ret)
{
	if (t->base->is_char) {
		decode_text(s, a, p, t->size, ret);
		return;
	}
	struct value *list = arena_newn(a, struct value, t->count ? t->count : 1);
	for (u32 i = 0; i < t->count; i++)
		decode_value(s, a, t->base, p + (size_t)i * t->base->size, &list[i]);
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

static void decode_probe(const struct session *s, const u8 *p, struct value *ret)
{
	u64 id;
	memcpy(&id, p, sizeof(id));
	ret->kind = V_STR;
	ret->str = id < s->u->nprobe ? s->u->probe_name[id] : STR("?");
}

void decode_value(struct session *s, struct arena *a, const struct type *t, const u8 *p,
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
	case T_ARRAY: decode_array(s, a, t, p, ret); break;
	case T_STRUCT:
	case T_UNION:
	case T_RECORD: decode_struct(s, a, t, p, ret); break;
	case T_TUPLE: decode_tuple(s, a, t, p, ret); break;
	case T_STRING: decode_text(s, a, p, t->size, ret); break;
	case T_BUF: decode_buf(p, t->size, ret); break;
	case T_KSTACK:
	case T_USTACK: decode_stack(s, a, t, p, ret); break;
	case T_KSYM:
	case T_USYM: decode_sym(s, a, t, p, ret); break;
	case T_INET: decode_inet(a, p, ret); break;
	case T_TIMESTAMP: decode_time(s, a, p, ret); break;
	case T_MAC: decode_mac(a, p, ret); break;
	case T_CGROUP_PATH: decode_cgroup(s, a, p, ret); break;
	case T_USERNAME: decode_user(s, a, p, ret); break;
	case T_PROBE: decode_probe(s, p, ret); break;
	case T_COUNT:
	case T_SUM:
	case T_MIN:
	case T_MAX:
	case T_AVG:
	case T_STATS:
	case T_HIST:
	case T_LHIST:
	case T_TSERIES: decode_agg(a, t, p, ret); break;
	}
}

/* ---- records ---- */

/* The fields of a record. Only the last may be shorter than its type: text or bytes up to the end
 * of the record. */
static bool decode_fields(struct session *s, const struct type *t, const struct record *r,
			  struct value *v)
{
	if (r->size >= t->size) {
		for (u32 i = 0; i < t->nfield; i++)
			decode_value(s, &s->ev, t->field[i].type, r->data + t->field[i].bit_off / 8,
				     &v[i]);
		return true;
	}
	for (u32 i = 0; i < t->nfield; i++) {
		const struct field *f = &t->field[i];
		u32 at = f->bit_off / 8, left = at <= r->size ? r->size - at : 0;
		bool whole = left >= f->type->size && at <= r->size;
		if (whole) {
			decode_value(s, &s->ev, f->type, r->data + at, &v[i]);
		} else if (f->type->kind == T_STRING && i + 1 == t->nfield && at <= r->size) {
			decode_text(s, &s->ev, r->data + at, left, &v[i]);
			v[i].cut = false;
		} else if (f->type->kind == T_BUF && i + 1 == t->nfield && left >= 4) {
			decode_buf(r->data + at, left, &v[i]);
		} else {
			return false;
		}
	}
	return true;
}

/* A warning from the program: the first few at each place are shown, all are counted. */
static void take_warning(struct session *s, const struct schema *sc)
{
	if (s->warned[sc->id]++ < WARN_SHOWN)
		session_error(s, true, "runtime_error", sc->loc,
			      str_z(sc->msg ? sc->msg : "run-time error"));
}

static void dispatch(struct session *s, const struct record *r)
{
	const struct schema *sc = s->u->schema[r->schema];
	u32 n = sc->layout ? sc->layout->nfield : 0;
	if (!sc->fn) {
		take_warning(s, sc);
		return;
	}
	struct value *v = s->vals;
	if (!sc->fn->act || !decode_fields(s, n ? sc->layout : &type_none, r, v)) {
		s->corrupt++;
	} else {
		s->event_ts = r->ts;
		sc->fn->act(s, sc, v, n, r->ts);
		s->event_ts = 0;
	}
	arena_reset(&s->ev);
}

static void hold(struct session *s, const struct record *r)
{
	const struct schema *sc = s->u->schema[r->schema];
	sb_mem(&s->held, r, sizeof(*r) + r->size);
	sb_pad(&s->held, 0, ALIGN_UP(s->held.n, 8) - s->held.n);
	if (sc->fn && sc->fn->flags & B_END)
		s->exit_held = true;
}

void record_take(void *session, const void *data, size_t n)
{
	struct session *s = session;
	const struct record *r = data;
	if (s->discard || s->failed)
		return;
	if ((uintptr_t)data % _Alignof(struct record)) { /* perf buffers: 4 bytes off */
		sb_clear(&s->aligned);
		sb_mem(&s->aligned, data, n);
		r = (const void *)s->aligned.s;
	}
	if (n < sizeof(*r) || r->size > n - sizeof(*r) || r->schema >= s->u->nschema) {
		s->corrupt++;
		return;
	}
	if (s->hold)
		hold(s, r);
	else
		dispatch(s, r);
}

void record_again(struct session *s)
{
	assert(!s->hold);
	for (size_t at = 0; at < s->held.n;) {
		const struct record *r = (const void *)(s->held.s + at);
		size_t n = sizeof(*r) + r->size;
		record_take(s, r, n);
		at += ALIGN_UP(n, 8);
	}
}

void record_forget(struct session *s)
{
	sb_free(&s->held);
	s->held = (struct sb){0};
}

void record_replay(struct session *s)
{
	record_again(s);
	record_forget(s);
}
