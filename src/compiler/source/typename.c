/* typename.c - the types that a name has without a definition. */
#include "source/typename.h"

static const struct {
	const char *name;
	u8 size;
	bool sign;
} ints[] = {
	{"int8", 1, true},
	{"int16", 2, true},
	{"int32", 4, true},
	{"int64", 8, true},
	{"uint8", 1, false},
	{"uint16", 2, false},
	{"uint32", 4, false},
	{"uint64", 8, false},
	{"u8", 1, false},
	{"u16", 2, false},
	{"u32", 4, false},
	{"u64", 8, false},
	{"s8", 1, true},
	{"s16", 2, true},
	{"s32", 4, true},
	{"s64", 8, true},
	{"__u8", 1, false},
	{"__u16", 2, false},
	{"__u32", 4, false},
	{"__u64", 8, false},
	{"__s8", 1, true},
	{"__s16", 2, true},
	{"__s32", 4, true},
	{"__s64", 8, true},
	{"int8_t", 1, true},
	{"int16_t", 2, true},
	{"int32_t", 4, true},
	{"int64_t", 8, true},
	{"uint8_t", 1, false},
	{"uint16_t", 2, false},
	{"uint32_t", 4, false},
	{"uint64_t", 8, false},
	{"char", 1, true},
	{"signed char", 1, true},
	{"unsigned char", 1, false},
	{"short", 2, true},
	{"unsigned short", 2, false},
	{"int", 4, true},
	{"unsigned int", 4, false},
	{"unsigned", 4, false},
	{"long", 8, true},
	{"unsigned long", 8, false},
	{"long long", 8, true},
	{"unsigned long long", 8, false},
	{"size_t", 8, false},
	{"ssize_t", 8, true},
	{"pid_t", 4, true},
	{"uid_t", 4, false},
	{"gid_t", 4, false},
	{"loff_t", 8, true},
	{"off_t", 8, true},
	{"dev_t", 4, false},
	{"sector_t", 8, false},
	{"uintptr_t", 8, false},
	{"intptr_t", 8, true},
};

static const struct type type_char = {.kind = T_INT,
				      .size = 1,
				      .align = 1,
				      .is_signed = true,
				      .is_char = true,
				      .name = {"char", 4}};

static const struct type type_double = {
	.kind = T_FLOAT, .size = 8, .align = 8, .name = {"double", 6}};
static const struct type type_float = {
	.kind = T_FLOAT, .size = 4, .align = 4, .name = {"float", 5}};

const struct type *plain_type(struct str name)
{
	if (str_is(name, "double"))
		return &type_double;
	if (str_is(name, "float"))
		return &type_float;
	if (str_is(name, "char"))
		return &type_char;
	for (size_t i = 0; i < countof(ints); i++)
		if (str_is(name, ints[i].name))
			return type_int(ints[i].size, ints[i].sign);
	if (str_is(name, "bool") || str_is(name, "_Bool"))
		return &type_bool;
	return str_is(name, "void") ? &type_none : NULL;
}

const struct type *own_type(struct arena *a, struct str name)
{
	const struct type *t = plain_type(name);
	if (t)
		return t;
	if (str_is(name, "string"))
		return &type_str0;
	if (str_is(name, "ksym_t"))
		return &type_ksym;
	if (str_is(name, "usym_t"))
		return &type_usym;
	if (str_is(name, "inet"))
		return &type_inet;
	if (str_is(name, "macaddr_t"))
		return &type_mac;
	if (str_is(name, "timestamp"))
		return &type_timestamp;
	if (str_is(name, "username_t"))
		return &type_username;
	if (str_is(name, "cgroup_path_t"))
		return &type_cgroup_path;
	if (str_starts(name, STR("string[")) || str_starts(name, STR("buffer["))) {
		u64 n = 0;
		str_u64(str_n(name.s + 7, name.n - 8), &n);
		return name.s[0] == 's' ? type_string(a, (u32)n) : type_buf(a, (u32)n);
	}
	return NULL;
}
