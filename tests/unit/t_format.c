#include "test.h"
#include "types/format.h"

static struct arena mem;

static const char text[] = "name: demo\n"
			   "ID: 372\n"
			   "format:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			   "\n"
			   "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			   "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			   "\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
			   "\tfield:__data_loc char[] filename;\toffset:80;\tsize:4;\tsigned:0;\n"
			   "\tfield:__rel_loc u64[] nums;\toffset:84;\tsize:4;\tsigned:0;\n"
			   "\tfield:const char *const * argv;\toffset:88;\tsize:8;\tsigned:0;\n"
			   "\tfield:int dfd;\toffset:96;\tsize:8;\tsigned:0;\n"
			   "\tfield:xfs_ino_t ino;\toffset:104;\tsize:8;\tsigned:0;\n"
			   "\tfield:enum zone_type zone;\toffset:112;\tsize:4;\tsigned:0;\n"
			   "\tfield:struct page * page;\toffset:120;\tsize:8;\tsigned:0;\n"
			   "\tfield:bool on;\toffset:128;\tsize:1;\tsigned:0;\n"
			   "\tfield:struct in6 addr;\toffset:132;\tsize:16;\tsigned:0;\n"
			   "\tfield:u32 sym[TASK_LEN];\toffset:148;\tsize:8;\tsigned:0;\n"
			   "\n"
			   "print fmt: \"field:%d\", REC->prev_pid\n";

static const struct type *demo(u64 *id)
{
	const struct type *t = NULL;
	struct err *err = format_parse(str_z(text), STR("demo"), NULL, &mem, id, &t);
	CHECK(!err);
	err_free(err);
	return t;
}

TEST(format_layout)
{
	u64 id = 0;
	struct field f;
	const struct type *t = demo(&id);
	CHECK(id == 372 && t->size == 156 && t->nfield == 13);
	CHECK(!type_field(t, STR("common_pid"), &f));
	CHECK(type_field(t, STR("prev_comm"), &f) && f.type->kind == T_ARRAY &&
	      f.type->count == 16);
	CHECK(f.type->base->is_char && f.bit_off == 64);
	CHECK(type_field(t, STR("prev_pid"), &f) && type_eq(f.type, &type_i32));
	CHECK(type_field(t, STR("args"), &f) && f.type->count == 6 &&
	      type_eq(f.type->base, &type_u64));
	CHECK(type_field(t, STR("filename"), &f) && f.data_loc == 1 && f.type->kind == T_STRING);
	CHECK(type_field(t, STR("nums"), &f) && f.data_loc == 2 &&
	      type_eq(f.type->base, &type_u64));
	CHECK(type_field(t, STR("dfd"), &f) && type_eq(f.type, &type_i32));
	CHECK(type_field(t, STR("ino"), &f) && type_eq(f.type, &type_u64));
	CHECK(type_field(t, STR("argv"), &f) && f.type->kind == T_PTR &&
	      f.type->space == AS_KERNEL);
	CHECK(f.type->base->kind == T_PTR && f.type->base->base->is_char);
	CHECK(type_field(t, STR("on"), &f) && f.type->kind == T_BOOL);
	CHECK(type_field(t, STR("addr"), &f) && f.type->kind == T_ARRAY && f.type->size == 16);
	CHECK(type_field(t, STR("sym"), &f) && f.type->count == 2);
	arena_free(&mem);
}

TEST(format_shown_as_written)
{
	AUTO_SB b = {0};
	u32 n;
	u64 id;
	const struct field *f = type_fields(demo(&id), &n);
	for (u32 i = 0; i < 10; i++) {
		type_show_field(&f[i], &b);
		sb_char(&b, '\n');
	}
	CHECK_STR(b.s, "char prev_comm[16]\n"
		       "pid_t prev_pid\n"
		       "unsigned long args[6]\n"
		       "__data_loc char[] filename\n"
		       "__rel_loc u64[] nums\n"
		       "const char *const * argv\n"
		       "int dfd\n"
		       "xfs_ino_t ino\n"
		       "enum zone_type zone\n"
		       "struct page * page\n");
	arena_free(&mem);
}

TEST(format_refuses_rubbish)
{
	static const char *const bad[] = {
		"",
		"hello\n",
		"\tfield:int x;\toffset:zero;\tsize:4;\tsigned:1;\n",
		"field:int;offset:0;size:4;",
		"field:;offset:0;size:0;",
		"field:]x];offset:0;size:1;",
		"ID: x\nfield:int a;offset:0;size:4;",
		"field:int a;offset:99999999999;size:4;signed:0;",
	};
	for (u32 i = 0; i < countof(bad); i++) {
		const struct type *t = NULL;
		struct err *err = format_parse(str_z(bad[i]), STR("x"), NULL, &mem, NULL, &t);
		CHECK(err && !t);
		err_free(err);
	}
	arena_free(&mem);
}
