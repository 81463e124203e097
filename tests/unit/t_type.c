#include "test.h"
#include "types/type.h"

static struct arena mem;

static void check_name(const struct type *t, const char *want)
{
	CHECK_STR(type_namez(&mem, t), want);
}

TEST(type_names)
{
	check_name(&type_i8, "int8");
	check_name(&type_u64, "uint64");
	check_name(&type_bool, "bool");
	check_name(type_string(&mem, 2), "string[2]");
	check_name(type_buf(&mem, 3), "buffer[7]");
	check_name(type_array(&mem, &type_u8, 4), "uint8[4]");
	check_name(type_array(&mem, type_array(&mem, &type_u8, 3), 2), "uint8[2][3]");
	check_name(type_stack(&mem, T_KSTACK, STACK_BPFTRACE, 127), "kstack_bpftrace_127");
	check_name(type_stack(&mem, T_USTACK, STACK_PERF, 3), "ustack_perf_3");
	check_name(&(struct type){.kind = T_COUNT}, "count_t");
	check_name(&(struct type){.kind = T_SUM}, "usum_t");
	check_name(&(struct type){.kind = T_SUM, .is_signed = true}, "sum_t");
	check_name(&(struct type){.kind = T_HIST}, "hist_t");
	check_name(&type_inet, "inet");
	check_name(&type_ksym, "ksym_t");
	check_name(&type_none, "none");
	struct type task = {.kind = T_STRUCT, .name = STR("task_struct")};
	check_name(type_ptr(&mem, &task, AS_BTF), "struct task_struct *");
	check_name(type_ptr(&mem, &type_none, AS_NONE), "void *");
	arena_free(&mem);
}

TEST(type_tuples_look_like_structs)
{
	const struct type *elem[] = {&type_i8, type_string(&mem, 3), &type_u64, &type_i16};
	const struct type *t = type_tuple(&mem, 4, elem, NULL);
	u32 n;
	const struct field *f = type_fields(t, &n);
	check_name(t, "(int8,string[3],uint64,int16)");
	CHECK(n == 4 && t->size == 24 && t->align == 8);
	CHECK(f[0].bit_off == 0 && f[1].bit_off == 8);
	CHECK(f[2].bit_off == 64 && f[3].bit_off == 128);
	struct str names[] = {STR("a"), STR("b")};
	const struct type *r = type_tuple(&mem, 2, elem, names);
	check_name(r, "record { .a = int8, .b = string[3] }");
	CHECK(r->size == 4 && r->kind == T_RECORD);
	CHECK(type_eq(r, type_tuple(&mem, 2, elem, names)));
	CHECK(!type_eq(r, type_tuple(&mem, 2, elem, NULL)));
	check_name(type_tuple(&mem, 0, NULL, NULL), "()");
	arena_free(&mem);
}

TEST(type_equality)
{
	CHECK(type_eq(type_int(4, true), &type_i32) && !type_eq(&type_i32, &type_u32));
	CHECK(type_eq(type_string(&mem, 4), type_string(&mem, 4)));
	CHECK(!type_eq(type_string(&mem, 4), type_string(&mem, 5)));
	CHECK(!type_eq(type_string(&mem, 4), type_array(&mem, &type_i8, 4)));
	const struct type *k = type_ptr(&mem, &type_i32, AS_KERNEL);
	CHECK(type_eq(k, type_copy_as(&mem, k, AS_USER)));
	CHECK(!type_eq(k, type_ptr(&mem, &type_i64, AS_KERNEL)));
	CHECK(type_copy_as(&mem, k, AS_USER)->space == AS_USER && k->space == AS_KERNEL);
	struct type a = {.kind = T_ENUM, .size = 4, .name = STR("e")}, b = a;
	b.alias = STR("e_t");
	CHECK(type_eq(&a, &b));
	CHECK(type_array(&mem, &type_u64, 1u << 30) == &type_error);
	arena_free(&mem);
}

/* struct outer { int x; struct { char pad[4]; union { u16 lo; u32 word; }; u32 flag : 3; }; void
 * (*fn)(int, char *); } */
static const struct type *make_outer(void)
{
	static const struct type chr = {.kind = T_INT,
					.is_signed = true,
					.is_char = true,
					.size = 1,
					.align = 1,
					.name = {"char", 4}};
	static struct field uni[2], in[3], out[4], par[2];
	static struct type u = {.kind = T_UNION, .size = 4, .align = 4};
	static struct type s = {.kind = T_STRUCT, .size = 12, .align = 4};
	static struct type fn = {.kind = T_FUNC, .base = &type_none};
	static struct type o = {.kind = T_STRUCT, .size = 24, .align = 8, .name = {"outer", 5}};
	uni[0] = (struct field){.name = STR("lo"), .type = &type_u16};
	uni[1] = (struct field){.name = STR("word"), .type = &type_u32};
	u.field = uni;
	u.nfield = 2;
	in[0] = (struct field){.name = STR("pad"), .type = type_array(&mem, &chr, 4)};
	in[1] = (struct field){.name = STR(""), .type = &u, .bit_off = 32};
	in[2] = (struct field){.name = STR("flag"), .type = &type_u32, .bit_off = 64, .bit_len = 3};
	s.field = in;
	s.nfield = 3;
	par[0] = (struct field){.name = STR(""), .type = &type_i32};
	par[1] = (struct field){.name = STR("s"), .type = type_ptr(&mem, &chr, AS_KERNEL)};
	fn.field = par;
	fn.nfield = 2;
	out[0] = (struct field){.name = STR("x"), .type = &type_i32};
	out[1] = (struct field){.name = STR(""), .type = &s, .bit_off = 32};
	out[2] = (struct field){
		.name = STR("fn"), .type = type_ptr(&mem, &fn, AS_KERNEL), .bit_off = 128};
	out[3] = (struct field){
		.name = STR("self"), .type = type_ptr(&mem, &o, AS_KERNEL), .bit_off = 192};
	o.field = out;
	o.nfield = 4;
	return &o;
}

TEST(type_anonymous_members)
{
	const struct type *o = make_outer();
	struct field f;
	CHECK(type_field(o, STR("word"), &f) && f.bit_off == 64 && f.type == &type_u32);
	CHECK(type_field(o, STR("flag"), &f) && f.bit_off == 96 && f.bit_len == 3);
	CHECK(type_field(o, STR("pad"), &f) && f.bit_off == 32);
	CHECK(!type_field(o, STR("nope"), &f) && !type_field(o, STR(""), &f));
	CHECK(str_is(type_near_field(o, STR("wrd")), "word"));
	CHECK(type_near_field(o, STR("something")).s == NULL);
	arena_free(&mem);
}

TEST(type_shown_as_c)
{
	AUTO_SB b = {0};
	type_show_def(make_outer(), &b);
	CHECK_STR(b.s, "struct outer {\n"
		       "\tint32 x;\n"
		       "\tstruct {\n"
		       "\t\tchar pad[4];\n"
		       "\t\tunion {\n"
		       "\t\t\tuint16 lo;\n"
		       "\t\t\tuint32 word;\n"
		       "\t\t};\n"
		       "\t\tuint32 flag: 3;\n"
		       "\t};\n"
		       "\tvoid (*fn)(int32, char *s);\n"
		       "\tstruct outer *self;\n"
		       "};");
	sb_clear(&b);
	const struct type *arr = type_array(&mem, type_ptr(&mem, &type_none, AS_KERNEL), 3);
	type_show_decl(type_ptr(&mem, arr, AS_KERNEL), STR("p"), &b);
	CHECK_STR(b.s, "void *(*p)[3]");
	sb_clear(&b);
	struct enumerator e[] = {{STR("A"), 0}, {STR("B"), -1}};
	struct type en = {
		.kind = T_ENUM, .name = STR("e"), .is_signed = true, .enums = e, .nenum = 2};
	type_show_def(&en, &b);
	CHECK_STR(b.s, "enum e {\n\tA = 0,\n\tB = -1,\n};");
	arena_free(&mem);
}

TEST(type_fields_shown)
{
	AUTO_SB b = {0};
	struct type file = {.kind = T_STRUCT, .name = STR("file")};
	struct field f = {.name = STR("f"), .type = type_ptr(&mem, &file, AS_KERNEL)};
	type_show_field(&f, &b);
	CHECK_STR(b.s, "struct file * f");
	sb_clear(&b);
	f = (struct field){.name = STR("path"), .type = &type_str0, .data_loc = 1};
	type_show_field(&f, &b);
	CHECK_STR(b.s, "__data_loc char[] path");
	arena_free(&mem);
}
