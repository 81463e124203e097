#include "test.h"
#include "types/btf.h"
#include <bpf/btf.h>
#include <linux/btf.h>

static struct arena mem;

static struct types *open_raw(struct btf *b, struct types *base)
{
	u32 n = 0;
	struct types *k = NULL;
	const void *raw = btf__raw_data(b, &n);
	struct err *err = btf_types_mem(raw, n, &mem, base, &k);
	CHECK(!err);
	err_free(err);
	return k;
}

/* libbpf adds members to the type made last. */
static struct btf *make_btf(void)
{
	struct btf *b = btf__new_empty();
	int num = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int chr = btf__add_int(b, "char", 1, 0);
	int bol = btf__add_volatile(b, btf__add_int(b, "_Bool", 1, BTF_INT_BOOL));
	int big = btf__add_int(b, "__int128", 16, BTF_INT_SIGNED);
	int pid = btf__add_typedef(b, "pid_t", num);
	int comm = btf__add_array(b, num, chr, 16);
	int uptr = btf__add_ptr(b, btf__add_type_tag(b, "user", btf__add_const(b, chr)));
	int e = btf__add_enum(b, "state", 4);
	btf__add_enum_value(b, "RUN", 0);
	btf__add_enum_value(b, "STOP", -1);
	int e64 = btf__add_enum64(b, "wide", 8, false);
	btf__add_enum64_value(b, "HUGE", 0x8000000000000001ull);
	int anon = btf__add_struct(b, NULL, 8);
	btf__add_field(b, "lo", num, 0, 0);
	btf__add_field(b, "flag", num, 32, 3);
	int ptr = btf__add_ptr(b, btf__add_fwd(b, "task", BTF_FWD_STRUCT));
	int proto = btf__add_func_proto(b, pid);
	btf__add_func_param(b, "t", ptr);
	btf__add_func_param(b, "n", num);
	btf__add_func_param(b, NULL, 0);
	int fptr = btf__add_ptr(b, proto);
	int node = btf__add_struct(b, "node", 96);
	btf__add_field(b, "pid", pid, 0, 0);
	btf__add_field(b, "comm", comm, 32, 0);
	btf__add_field(b, NULL, anon, 192, 0);
	btf__add_field(b, "uptr", uptr, 256, 0);
	btf__add_field(b, "task", ptr, 320, 0);
	btf__add_field(b, "on", bol, 384, 0);
	btf__add_field(b, "big", big, 448, 0);
	btf__add_field(b, "e", e, 576, 0);
	btf__add_field(b, "w", e64, 640, 0);
	btf__add_field(b, "fn", fptr, 704, 0);
	btf__add_decl_tag(b, "tag", node, 0);
	btf__add_func(b, "do_it", BTF_FUNC_STATIC, proto);
	btf__add_typedef(b, "btf_trace_it", fptr);
	btf__add_float(b, "double", 8);
	int var = btf__add_var(b, "count", BTF_VAR_STATIC, num);
	btf__add_datasec(b, ".data", 4);
	btf__add_datasec_var_info(b, var, 0, 4);
	btf__add_typedef(b, "both", num);
	btf__add_struct(b, "both", 1);
	return b;
}

static void check_fields(const struct type *t)
{
	struct field f;
	CHECK(type_field(t, STR("pid"), &f) && type_eq(f.type, &type_i32) &&
	      str_is(f.type->alias, "pid_t"));
	CHECK(type_field(t, STR("comm"), &f) && f.bit_off == 32 && f.type->size == 16);
	CHECK(f.type->base->is_char);
	CHECK(type_field(t, STR("flag"), &f) && f.bit_off == 224 && f.bit_len == 3);
	CHECK(type_field(t, STR("uptr"), &f) && f.type->space == AS_USER && f.type->base->is_char);
	CHECK(type_field(t, STR("task"), &f) && f.type->space == AS_KERNEL &&
	      f.type->base->kind == T_FWD);
	CHECK(type_field(t, STR("on"), &f) && f.type->kind == T_BOOL);
	CHECK(type_field(t, STR("big"), &f) && f.type->kind == T_ARRAY && f.type->size == 16);
	CHECK(type_field(t, STR("e"), &f) && f.type->nenum == 2 && f.type->enums[1].val == -1);
	CHECK(type_field(t, STR("w"), &f) && (u64)f.type->enums[0].val == 0x8000000000000001ull);
	CHECK(!type_field(t, STR("nope"), &f));
}

TEST(btf_all_kinds)
{
	struct btf *b = make_btf();
	struct types *k = open_raw(b, NULL);
	/* More than the walks before a table by name is made, and than are remembered. */
	for (int i = 0; i < 60; i++) {
		char none[16];
		snprintf(none, sizeof(none), "none%d", i / 2);
		CHECK(!btf_types_find(k, str_z(none), T_NONE));
		const struct type *t = btf_types_find(k, STR("node"), T_STRUCT);
		CHECK(t && t->size == 96 && t == btf_types_find(k, STR("node"), T_NONE));
		CHECK(btf_types_find(k, STR("both"), T_NONE)->kind == T_INT);
		CHECK(btf_types_find(k, STR("both"), T_STRUCT)->kind == T_STRUCT);
		CHECK(btf_types_find(k, STR("task"), T_NONE)->kind == T_FWD);
		CHECK(!btf_types_find(k, STR("nod"), T_NONE) &&
		      !btf_types_find(k, STR(""), T_NONE));
		CHECK(!btf_types_find(k, STR("node"), T_ENUM));
		check_fields(t);
	}
	i64 v = 0;
	const struct type *t = NULL;
	CHECK(btf_types_enumerator(k, STR("STOP"), &v, &t) && v == -1 && str_is(t->name, "state"));
	CHECK(!btf_types_enumerator(k, STR("STO"), &v, &t));
	CHECK(btf_types_find(k, STR("double"), T_NONE)->kind == T_FLOAT);
	CHECK(btf_types_get(k, 0)->kind == T_NONE && btf_types_get(k, 10000)->kind == T_ERROR);
	btf_types_close(k);
	btf__free(b);
	arena_free(&mem);
}

/* Before kind_flag a bit-field's type was an integer of so many bits. */
TEST(btf_old_bit_fields)
{
	enum { INT_DATA = 24 + 12 }; /* header, record; then encoding, offset, bits */
	struct btf *b = btf__new_empty();
	btf__add_int(b, "unsigned int", 4, 0);
	btf__add_struct(b, "s", 4);
	btf__add_field(b, "flag", 1, 8, 0);
	u32 n = 0;
	u8 copy[256];
	const void *raw = btf__raw_data(b, &n);
	CHECK(n <= sizeof(copy));
	memcpy(copy, raw, n);
	copy[INT_DATA] = 3;
	struct types *k = NULL;
	struct err *err = btf_types_mem(copy, n, &mem, NULL, &k);
	struct field f;
	CHECK(!err && type_field(btf_types_find(k, STR("s"), T_STRUCT), STR("flag"), &f));
	CHECK(f.bit_off == 8 && f.bit_len == 3);
	btf_types_close(k);
	btf__free(b);
	arena_free(&mem);
}

TEST(btf_functions)
{
	struct btf *b = make_btf();
	struct types *k = open_raw(b, NULL);
	const struct type *f = btf_types_find(k, STR("do_it"), T_FUNC);
	u32 n = 0;
	const struct field *p = type_fields(f, &n);
	CHECK(n == 2 && str_is(p[0].name, "t") && p[1].bit_off == 64);
	CHECK(f->base->alias.n && type_eq(f->base, &type_i32));
	u32 id = btf_types_id(k, STR("btf_trace_it"), BTF_KIND_TYPEDEF);
	CHECK(id && type_eq(btf_types_func(k, id), f));
	CHECK(!btf_types_func(k, btf_types_id(k, STR("node"), BTF_KIND_STRUCT)));
	AUTO_SB s = {0};
	type_show_def(btf_types_find(k, STR("node"), T_STRUCT), &s);
	CHECK_STR(s.s, "struct node {\n"
		       "\tpid_t pid;\n"
		       "\tchar comm[16];\n"
		       "\tstruct {\n"
		       "\t\tint lo;\n"
		       "\t\tint flag: 3;\n"
		       "\t};\n"
		       "\tconst char *uptr;\n"
		       "\tstruct task *task;\n"
		       "\tvolatile _Bool on;\n"
		       "\t__int128 big;\n"
		       "\tenum state e;\n"
		       "\tenum wide w;\n"
		       "\tpid_t (*fn)(struct task *t, int n);\n"
		       "};");
	btf_types_close(k);
	btf__free(b);
	arena_free(&mem);
}

static bool count_name(struct str name, u32 id, void *arg)
{
	(void)id;
	CHECK(name.n > 0);
	return ++*(int *)arg < 2;
}

TEST(btf_names_by_glob)
{
	struct btf *b = make_btf();
	struct types *k = open_raw(b, NULL);
	int n = 0;
	btf_types_each(k, BTF_KIND_TYPEDEF, STR("*_t*"), count_name, &n);
	CHECK(n == 2);
	n = 0;
	btf_types_each(k, BTF_KIND_STRUCT, STR("no*"), count_name, &n);
	CHECK(n == 1);
	btf_types_close(k);
	btf__free(b);
	arena_free(&mem);
}

TEST(btf_of_a_module)
{
	struct btf *b = make_btf(), *m = btf__new_empty_split(b);
	int own = btf__add_struct(m, "own", 96);
	btf__add_field(m, "n", btf__find_by_name(b, "node"), 0, 0);
	btf__add_func(m, "mod_fn", BTF_FUNC_STATIC,
		      btf__type_by_id(b, (u32)btf__find_by_name(b, "do_it"))->type);
	struct types *k = open_raw(b, NULL), *s = open_raw(m, k);
	struct field f;
	const struct type *t = btf_types_find(s, STR("own"), T_STRUCT);
	CHECK(t && t->id == (u32)own && type_field(t, STR("n"), &f));
	CHECK(f.type == btf_types_find(k, STR("node"), T_STRUCT));
	CHECK(f.type == btf_types_find(s, STR("node"), T_STRUCT));
	CHECK(!btf_types_find(k, STR("own"), T_NONE));
	CHECK(type_eq(btf_types_find(s, STR("mod_fn"), T_FUNC),
		      btf_types_find(k, STR("do_it"), T_FUNC)));
	btf_types_close(s);
	btf_types_close(k);
	btf__free(m);
	btf__free(b);
	arena_free(&mem);
}

/* Names of every length, found wherever they stand among the strings; parts of names are not. */
TEST(btf_finds_every_name)
{
	enum { N = 90 };
	struct btf *b = btf__new_empty();
	char name[N + 2] = "";
	for (u32 i = 1; i < N; i++) {
		memset(name, 'a' + (int)(i % 3), i);
		btf__add_struct(b, name, i);
	}
	for (u32 searches = 0; searches < 2; searches++) { /* in order, and by the table */
		struct types *k = open_raw(b, NULL);
		for (u32 i = 1; searches && i < N; i++)
			btf_types_id(k, str_z(arena_fmt(&mem, "x%u", i)), BTF_KIND_STRUCT);
		for (u32 i = N - 1; i; i--) {
			struct str s;
			memset(name, 'a' + (int)(i % 3), i);
			s = str_n(name, i);
			CHECK(btf_types_id(k, s, BTF_KIND_STRUCT) == i);
			CHECK(!btf_types_id(k, s, BTF_KIND_UNION));
			name[0]++;
			CHECK(i < 2 || !btf_types_id(k, s, BTF_KIND_STRUCT));
		}
		memset(name, 'c', N);
		CHECK(!btf_types_id(k, str_n(name, N), BTF_KIND_STRUCT));
		CHECK(!btf_types_id(k, STR(""), BTF_KIND_STRUCT));
		btf_types_close(k);
	}
	btf__free(b);
	arena_free(&mem);
}

/* Types that contain themselves; nothing here can come from a compiler. */
TEST(btf_cycles_end)
{
	struct btf *b = btf__new_empty();
	btf__add_typedef(b, "a", 2); /* 1 */
	btf__add_const(b, 1);        /* 2 */
	btf__add_ptr(b, 3);          /* 3 */
	btf__add_array(b, 4, 4, 9);  /* 4 */
	btf__add_struct(b, NULL, 8); /* 5 */
	btf__add_field(b, NULL, 6, 0, 0);
	btf__add_field(b, NULL, 6, 0, 0);
	btf__add_struct(b, NULL, 8); /* 6 */
	btf__add_field(b, NULL, 5, 0, 0);
	btf__add_field(b, NULL, 5, 0, 0);
	btf__add_ptr(b, 8);        /* 7 */
	btf__add_func_proto(b, 7); /* 8 */
	btf__add_func_param(b, "f", 7);
	struct types *k = open_raw(b, NULL);
	AUTO_SB s = {0};
	struct field f;
	for (u32 id = 1; id <= 8; id++) {
		const struct type *t = btf_types_get(k, id);
		type_name(t, &s);
		type_show_def(t, &s);
		CHECK(!type_field(t, STR("x"), &f) && type_eq(t, t));
		btf_types_func(k, id);
	}
	CHECK(btf_types_get(k, 1)->kind == T_ERROR);
	btf_types_close(k);
	btf__free(b);
	arena_free(&mem);
}

TEST(btf_damaged)
{
	struct btf *b = make_btf();
	u32 n = 0;
	const u8 *raw = btf__raw_data(b, &n);
	u8 *copy = malloc(n);
	for (u32 len = 0; len < n; len++) {
		struct types *k = NULL;
		memcpy(copy, raw, n);
		struct err *err = btf_types_mem(copy, len, &mem, NULL, &k);
		CHECK(err && !k);
		err_free(err);
	}
	free(copy);
	btf__free(b);
	arena_free(&mem);
}

/* ---- against libbpf's reader, on this machine's kernel ---- */

static void compare_struct(const struct btf *b, u32 id, const struct type *t)
{
	const struct btf_type *bt = btf__type_by_id(b, id);
	u32 n;
	const struct field *f = type_fields(t, &n);
	CHECK(t->size == bt->size && n == btf_vlen(bt));
	for (u32 i = 0; i < n && i < btf_vlen(bt); i++) {
		const struct btf_member *m = &btf_members(bt)[i];
		CHECK(str_is(f[i].name, btf__name_by_offset(b, m->name_off)));
		CHECK(f[i].bit_off == btf_member_bit_offset(bt, i));
		CHECK(f[i].bit_len == btf_member_bitfield_size(bt, i));
		i64 size = btf__resolve_size(b, m->type);
		if (size >= 0 && size < 1 << 30)
			CHECK(f[i].type->size == (u64)size);
	}
}

TEST(btf_agrees_with_libbpf)
{
	struct types *k = NULL;
	struct err *err = btf_types_open("/sys/kernel/btf/vmlinux", &mem, NULL, &k);
	if (err) {
		test_skip(err->msg);
		err_free(err);
		return;
	}
	struct btf *b = btf__load_vmlinux_btf();
	u32 seen = 0, step = btf__type_cnt(b) / 2000 + 1;
	for (u32 id = 1; id < btf__type_cnt(b); id += step) {
		const struct btf_type *bt = btf__type_by_id(b, id);
		const struct type *t = btf_types_get(k, id);
		if (!btf_is_composite(bt))
			continue;
		compare_struct(b, id, t);
		seen++;
	}
	CHECK(seen > 100);
	static const char *const name[] = {"task_struct", "file", "sk_buff", "net_device", "bio"};
	for (u32 i = 0; i < countof(name); i++) {
		const struct type *t = btf_types_find(k, str_z(name[i]), T_STRUCT);
		i32 id = btf__find_by_name_kind(b, name[i], BTF_KIND_STRUCT);
		CHECK(t && t->id == (u32)id);
		if (t)
			compare_struct(b, (u32)id, t);
	}
	btf__free(b);
	btf_types_close(k);
	arena_free(&mem);
}

static bool keep_last(struct str name, u32 id, void *arg)
{
	struct last {
		struct str name;
		u32 id;
	} *last = arg;
	*last = (struct last){name, id};
	return true;
}

/* The running kernel's is walked as far as needed: all of it is there, and is counted. */
TEST(btf_as_far_as_needed)
{
	struct last {
		struct str name;
		u32 id;
	} last = {0};
	struct types *k = NULL, *module;
	struct btf *b = btf__parse("/sys/kernel/btf/vmlinux", NULL), *m;
	struct err *e = btf_types_open("/sys/kernel/btf/vmlinux", &mem, NULL, &k);
	err_free(e);
	if (e || !b) {
		btf__free(b);
		btf_types_close(k);
		return;
	}
	CHECK(btf_types_find(k, STR("task_struct"), T_STRUCT));
	btf_types_each(k, BTF_KIND_FUNC, STR("*"), keep_last, &last);
	CHECK(last.id && btf_types_func(k, last.id));
	CHECK(!btf_types_func(k, 1u << 30));
	btf_types_close(k);

	err_free(btf_types_open("/sys/kernel/btf/vmlinux", &mem, NULL, &k));
	m = btf__new_empty_split(b);
	btf__add_typedef(m, "only_here_t", 1);
	module = open_raw(m, k); /* the numbers of its types come behind those of all others */
	CHECK(btf_types_id(module, STR("only_here_t"), BTF_KIND_TYPEDEF) == btf__type_cnt(b));
	btf_types_close(module);
	btf_types_close(k);
	btf__free(m);
	btf__free(b);
}
