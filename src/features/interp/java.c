/*
 * java.c - Java in HotSpot, as OpenJDK has it. How its methods are found is in core/java.h; here is which files
 * contain HotSpot, what a process tells of the layout, and what methods are called.
 */
#include "core/java.h"
#include "interp/common.h"
#include "interp/java_scopes.h"
#include <elf.h>
#include <string.h>

/* ---- what HotSpot says of itself ---- */

/* An entry of gHotSpotVMStructs, {type, member, type of it: char *, is static: u32, offset, address}; of
 * gHotSpotVMTypes, {type, what it extends: char *, 3 times u32, bytes}. A NULL ends the table. */
enum {
	WORD = 8,
	MEMBER_TYPE = 0,
	MEMBER_NAME = 8,
	MEMBER_OFFSET = 32,
	MEMBER_ADDRESS = 40,
	MEMBER_BYTES = 48,
	TYPE_SIZE = 32,
	TYPE_BYTES = 40,
	MAX_ENTRIES = 4096,
	MAX_NAME = 40,
	MAX_NUMBER = 1 << 16, /* an offset is smaller */
};
enum number {
	N_BLOB_NAME,
	N_FRAME_SIZE,
	N_COMPLETE,
	N_CONST_METHOD,
	N_CONSTANTS,
	N_NAME_INDEX,
	N_CODE_SIZE,
	N_HOLDER,
	N_POOL_LENGTH,
	N_CLASS_NAME,
	N_LENGTH,
	N_TEXT,
	N_HEAPS,
	N_HEAPS_LEN,
	N_HEAPS_DATA,
	N_MEMORY,
	N_SEGMAP,
	N_LOG2,
	N_LOW_END,
	N_HIGH_END,
	N_LOW,
	N_MAJOR,
	N_HEAD,
	N_CONST_BYTES,
	N_POOL_BYTES,
	N_NEEDED, /* all before are in every version */
	N_CODE = N_NEEDED,
	N_CODE_INSIDE,
	N_METHOD,
	N_METHOD_BEFORE,
	N_FLAGS,
	N_FLAGS_BEFORE,
	N_FILE_INDEX,
	N_FILE_INDEX_BEFORE,
	N_FIXED,
	N_FIXED_SIZE,
	N_MUTABLE,
	N_MUTABLE_SIZE,
	N_RELOCATIONS,
	N_SCOPES,
	N_SCOPES_AT,
	N_PLACES,
	N_PLACES_END,
	N_LIST,
	NUMBERS
};
static const struct {
	enum number number;
	const char *type, *member; /* member: NULL, how large it is */
} numbers[] = {
	{N_BLOB_NAME, "CodeBlob", "_name"},
	{N_FRAME_SIZE, "CodeBlob", "_frame_size"},
	{N_COMPLETE, "CodeBlob", "_frame_complete_offset"},
	{N_CODE, "CodeBlob", "_code_begin"},
	{N_CODE_INSIDE, "CodeBlob", "_code_offset"},
	{N_METHOD, "nmethod", "_method"},
	{N_METHOD_BEFORE, "CompiledMethod", "_method"},
	{N_CONST_METHOD, "Method", "_constMethod"},
	{N_CONSTANTS, "ConstMethod", "_constants"},
	{N_NAME_INDEX, "ConstMethod", "_name_index"},
	{N_CODE_SIZE, "ConstMethod", "_code_size"},
	{N_FLAGS, "ConstMethod", "_flags._flags"},
	{N_FLAGS_BEFORE, "ConstMethod", "_flags"},
	{N_CONST_BYTES, "ConstMethod", NULL},
	{N_HOLDER, "ConstantPool", "_pool_holder"},
	{N_FILE_INDEX, "ConstantPool", "_source_file_name_index"},
	{N_FILE_INDEX_BEFORE, "InstanceKlass", "_source_file_name_index"},
	{N_POOL_LENGTH, "ConstantPool", "_length"},
	{N_POOL_BYTES, "ConstantPool", NULL},
	{N_CLASS_NAME, "Klass", "_name"},
	{N_LENGTH, "Symbol", "_length"},
	{N_TEXT, "Symbol", "_body[0]"},
	{N_HEAPS, "CodeCache", "_heaps"},
	{N_HEAPS_LEN, "GrowableArrayBase", "_len"},
	{N_HEAPS_LEN, "GenericGrowableArray", "_len"}, /* before Java 15 */
	{N_HEAPS_DATA, "GrowableArray<int>", "_data"},
	{N_MEMORY, "CodeHeap", "_memory"},
	{N_SEGMAP, "CodeHeap", "_segmap"},
	{N_LOG2, "CodeHeap", "_log2_segment_size"},
	{N_LOW_END, "VirtualSpace", "_low_boundary"},
	{N_HIGH_END, "VirtualSpace", "_high_boundary"},
	{N_LOW, "VirtualSpace", "_low"},
	{N_HEAD, "HeapBlock", NULL},
	{N_FIXED, "nmethod", "_immutable_data"},
	{N_FIXED_SIZE, "nmethod", "_immutable_data_size"},
	{N_MUTABLE, "CodeBlob", "_mutable_data"},
	{N_MUTABLE_SIZE, "CodeBlob", "_mutable_data_size"},
	{N_RELOCATIONS, "CodeBlob", "_relocation_size"},
	{N_SCOPES, "nmethod", "_scopes_data_offset"},
	{N_SCOPES_AT, "CompiledMethod", "_scopes_data_begin"},
	{N_PLACES, "nmethod", "_scopes_pcs_offset"},
	{N_PLACES_END, "nmethod", "_dependencies_offset"},
	{N_LIST, "nmethod", "_metadata_offset"},
	{N_MAJOR, "Abstract_VM_Version", "_vm_major_version"},
};
static bool is_static(enum number n)
{
	return n == N_HEAPS || n == N_MAJOR;
}

struct layout {
	const struct interp_memory *m;
	u64 base;
	u64 v[NUMBERS];          /* of what is static: from base on */
	bool has[NUMBERS], wide; /* wide: N_COMPLETE has 4 bytes */
};

static u64 word_in(const u8 *p)
{
	u64 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* A name of the tables; the rest is zeros. Near the end of what can be read there may be less. */
static void read_name(const struct layout *l, u64 addr, char *to)
{
	memset(to, 0, MAX_NAME);
	for (u32 n = MAX_NAME; addr && n && !l->m->read(l->m->arg, addr, to, n); n /= 2)
		memset(to, 0, MAX_NAME);
	to[MAX_NAME - 1] = 0;
}

/* member: 0 of a type. */
static void take_entry(struct layout *l, const u8 *p, u64 member)
{
	char type[MAX_NAME], name[MAX_NAME];
	read_name(l, word_in(p), type);
	read_name(l, member, name);
	for (u32 i = 0; i < countof(numbers); i++) {
		enum number n = numbers[i].number;
		if (strcmp(numbers[i].type, type) || !numbers[i].member != !member ||
		    (member && strcmp(numbers[i].member, name)))
			continue;
		u64 v = word_in(p + (member ? MEMBER_OFFSET : TYPE_SIZE));
		if (is_static(n))
			v = word_in(p + MEMBER_ADDRESS) - l->base;
		if (v >= UINT32_MAX || (!is_static(n) && v >= MAX_NUMBER))
			continue;
		l->v[n] = v;
		l->has[n] = true;
		if (n != N_COMPLETE)
			continue;
		read_name(l, word_in(p + MEMBER_NAME + WORD), name);
		l->wide = !strcmp(name, "int");
	}
}

static void read_table(struct layout *l, u64 pointer, u32 bytes, bool members)
{
	u8 p[MEMBER_BYTES];
	u64 at;
	if (!l->m->read(l->m->arg, pointer, &at, sizeof(at)))
		return;
	for (u32 i = 0; i < MAX_ENTRIES; i++, at += bytes) {
		if (!l->m->read(l->m->arg, at, p, bytes) || !word_in(p))
			return;
		take_entry(l, p, members ? word_in(p + MEMBER_NAME) : 0);
	}
}

static bool is_known(const struct layout *l)
{
	for (u32 i = 0; i < N_NEEDED; i++)
		if (!l->has[i])
			return false;
	return (l->has[N_CODE] || l->has[N_CODE_INSIDE]) &&
	       (l->has[N_METHOD] || l->has[N_METHOD_BEFORE]) &&
	       (l->has[N_FLAGS] || l->has[N_FLAGS_BEFORE]) &&
	       (l->has[N_FILE_INDEX] || l->has[N_FILE_INDEX_BEFORE]);
}

static void take_layout(const struct layout *l, struct unwind_java *j)
{
	const u64 *v = l->v;
	*j = (struct unwind_java){
		.head = (u32)v[N_HEAD],
		.name = (u32)v[N_BLOB_NAME],
		.frame_size = (u32)v[N_FRAME_SIZE],
		.complete = (u32)v[N_COMPLETE],
		.complete_bytes = l->wide ? sizeof(u32) : sizeof(u16),
		.code = (u32)v[l->has[N_CODE] ? N_CODE : N_CODE_INSIDE],
		.code_inside = !l->has[N_CODE],
		.method = (u32)v[l->has[N_METHOD] ? N_METHOD : N_METHOD_BEFORE],
		.const_method = (u32)v[N_CONST_METHOD],
		.constants = (u32)v[N_CONSTANTS],
		.name_index = (u32)v[N_NAME_INDEX],
		.code_size = (u32)v[N_CODE_SIZE],
		.flags = (u32)v[l->has[N_FLAGS] ? N_FLAGS : N_FLAGS_BEFORE],
		.const_bytes = (u32)v[N_CONST_BYTES],
		.holder = (u32)v[N_HOLDER],
		.file_index = (u32)v[l->has[N_FILE_INDEX] ? N_FILE_INDEX : N_FILE_INDEX_BEFORE],
		.file_in_class = !l->has[N_FILE_INDEX],
		.pool_length = (u32)v[N_POOL_LENGTH],
		.pool_bytes = (u32)v[N_POOL_BYTES],
		.class_name = (u32)v[N_CLASS_NAME],
		.length = (u32)v[N_LENGTH],
		.text = (u32)v[N_TEXT],
	};
}

/* Programs read a part of a blob, of a method and of a class at once. */
static bool fits(const struct unwind_java *j)
{
	return j->const_bytes <= JAVA_PART && j->pool_bytes <= JAVA_PART &&
	       MAX(MAX(j->name, j->code), MAX(j->method, MAX(j->frame_size, j->complete))) <=
		       JAVA_BLOB_BYTES - WORD &&
	       MAX(MAX(j->constants, j->name_index), MAX(j->code_size, j->flags)) <=
		       JAVA_PART - WORD &&
	       MAX(j->holder, j->pool_length) <= JAVA_PART - WORD &&
	       (j->file_in_class || j->file_index <= JAVA_PART - WORD) && j->head <= JAVA_PART;
}

_Static_assert((int)JAVA_OWNS <= (int)INTERP_OWN, "room for all");

static bool java_learn(struct interp_file *f, const struct interp_memory *m, u64 base)
{
	static const u8 own[JAVA_OWNS] = {
		[JAVA_OWN_HEAPS] = N_HEAPS,
		[JAVA_OWN_HEAPS_LEN] = N_HEAPS_LEN,
		[JAVA_OWN_HEAPS_DATA] = N_HEAPS_DATA,
		[JAVA_OWN_MEMORY] = N_MEMORY,
		[JAVA_OWN_SEGMAP] = N_SEGMAP,
		[JAVA_OWN_LOG2] = N_LOG2,
		[JAVA_OWN_LOW_END] = N_LOW_END,
		[JAVA_OWN_HIGH_END] = N_HIGH_END,
		[JAVA_OWN_LOW] = N_LOW,
		[JAVA_OWN_FIXED] = N_FIXED,
		[JAVA_OWN_FIXED_SIZE] = N_FIXED_SIZE,
		[JAVA_OWN_MUTABLE] = N_MUTABLE,
		[JAVA_OWN_MUTABLE_SIZE] = N_MUTABLE_SIZE,
		[JAVA_OWN_RELOCATIONS] = N_RELOCATIONS,
		[JAVA_OWN_SCOPES] = N_SCOPES,
		[JAVA_OWN_SCOPES_AT] = N_SCOPES_AT,
		[JAVA_OWN_PLACES] = N_PLACES,
		[JAVA_OWN_PLACES_END] = N_PLACES_END,
		[JAVA_OWN_LIST] = N_LIST,
	};
	struct layout l = {.m = m, .base = base};
	i32 major;
	read_table(&l, base + f->own[JAVA_OWN_STRUCTS], MEMBER_BYTES, true);
	read_table(&l, base + f->own[JAVA_OWN_TYPES], TYPE_BYTES, false);
	if (!is_known(&l) || !m->read(m->arg, base + l.v[N_MAJOR], &major, sizeof(major)))
		return false;
	take_layout(&l, &f->lang.java);
	for (u32 i = 0; i < countof(own); i++)
		if (i != JAVA_OWN_STRUCTS && i != JAVA_OWN_TYPES && i != JAVA_OWN_MAJOR)
			f->own[i] = (u32)l.v[own[i]];
	f->own[JAVA_OWN_MAJOR] = (u32)major;
	snprintf(f->label, sizeof(f->label), "java %d", major);
	f->lang.known = fits(&f->lang.java);
	return f->lang.known;
}

static bool java_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	struct elf_symbol structs, types;
	(void)path;
	*ret = (struct interp_file){.label = "java"};
	if (im->machine != EM_X86_64 || !file_symbol(im, "gHotSpotVMStructs", &structs) ||
	    !file_symbol(im, "gHotSpotVMTypes", &types))
		return false;
	ret->own[JAVA_OWN_STRUCTS] = (u32)(structs.addr - base);
	ret->own[JAVA_OWN_TYPES] = (u32)(types.addr - base);
	ret->lang.form = UNWIND_FORM_JAVA;
	return true;
}

/* ---- methods ---- */

/* A Symbol that was copied, of which there are at most so many bytes: UTF-8 but for a few characters. */
static void add_symbol(const u8 *p, u32 size, bool is_class, struct sb *out)
{
	u64 n = word_in(p);
	p += JAVA_SYMBOL_HEAD;
	for (u64 i = 0; i < MIN(n, (u64)size); i++)
		sb_char(out, is_class && p[i] == '/'   ? '.'
			     : is_class && p[i] == '+' ? '/'
						       : (char)p[i]);
	if (n > size)
		sb_z(out, "..");
}

/* Of compiled code the table is another. */
static u32 java_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	return c->inlined.n ? java_scope_line(c->inlined, instr)
			    : java_table_line(c->lines, f->own[JAVA_OWN_MAJOR], instr);
}

static void java_inlined(const struct interp_code *c, u32 instr, struct sb *out)
{
	java_scope_inlined(c->inlined, instr, out);
}

static void java_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		      struct interp_code *ret)
{
	AUTO_SB name = {0};
	AUTO_SB file = {0};
	add_symbol(raw->file + JAVA_FILE_CLASS, JAVA_CLASS_BYTES, true, &name);
	if (name.n)
		sb_char(&name, '.');
	add_symbol(raw->name, JAVA_NAME_BYTES, false, &name);
	add_symbol(raw->file + JAVA_FILE_SOURCE, JAVA_SOURCE_BYTES, false, &file);
	*ret = (struct interp_code){
		.name = word_in(raw->name) ? arena_str(a, sb_str(&name)) : STR("<unknown>"),
		.file = arena_str(a, sb_str(&file)),
	};
	u16 flags;
	memcpy(&flags,
	       raw->code + JAVA_CODE_CONST + MIN(f->lang.java.flags, (u32)(JAVA_PART - WORD)),
	       sizeof(flags));
	if (flags & JAVA_HAS_LINES && !word_in(raw->name + JAVA_NAME_COMPILED))
		ret->lines =
			arena_str(a, (struct str){(const char *)raw->lines, sizeof(raw->lines)});
}

/* ---- what was not copied ---- */

/* Of memory that nobody has used for long nothing can be copied: names of native methods, or of classes that came
 * with the archive of HotSpot. */
struct reader {
	const struct interp_memory *m;
	const struct unwind_java *j;
};

static bool read_word(const struct reader *r, u64 addr, u64 *ret)
{
	return r->m->read(r->m->arg, addr, ret, sizeof(*ret));
}

static void read_symbol(const struct reader *r, u64 symbol, u8 *to, u32 bytes)
{
	u16 length;
	if (!r->m->read(r->m->arg, symbol + r->j->length, &length, sizeof(length)) ||
	    !r->m->read(r->m->arg, symbol + r->j->text, to + JAVA_SYMBOL_HEAD, MIN(length, bytes)))
		return;
	u64 n = length;
	memcpy(to, &n, sizeof(n));
}

static void read_numbered(const struct reader *r, u64 pool, u32 i, u8 *to, u32 bytes)
{
	u64 symbol;
	u32 n;
	if (r->m->read(r->m->arg, pool + r->j->pool_length, &n, sizeof(n)) && i && i < n &&
	    read_word(r, pool + r->j->pool_bytes + (u64)WORD * i, &symbol))
		read_symbol(r, symbol, to, bytes);
}

static u16 half_in(const u8 *p)
{
	u16 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* As much of a table of lines as can be read. */
static void read_lines(const struct reader *r, u64 addr, u8 *to)
{
	for (u32 n = UNWIND_LINE_BYTES; n; n /= 2)
		if (r->m->read(r->m->arg, addr, to, n))
			return;
}

static void read_method(const struct reader *r, u64 method, struct unwind_code *raw)
{
	const struct unwind_java *j = r->j;
	u8 *body = raw->code + JAVA_CODE_CONST, *pool = raw->code + JAVA_CODE_POOL;
	u64 at, pool_at, symbol;
	u16 file = 0;
	if (!read_word(r, method + j->const_method, &at) ||
	    !r->m->read(r->m->arg, at, body, j->const_bytes))
		return;
	pool_at = word_in(body + j->constants);
	if (!r->m->read(r->m->arg, pool_at, pool, j->pool_bytes))
		return;
	read_numbered(r, pool_at, half_in(body + j->name_index), raw->name, JAVA_NAME_BYTES);
	u64 holder = word_in(pool + j->holder);
	if (!j->file_in_class)
		file = half_in(pool + j->file_index);
	else if (!r->m->read(r->m->arg, holder + j->file_index, &file, sizeof(file)))
		file = 0;
	read_numbered(r, pool_at, file, raw->file + JAVA_FILE_SOURCE, JAVA_SOURCE_BYTES);
	if (read_word(r, holder + j->class_name, &symbol))
		read_symbol(r, symbol, raw->file + JAVA_FILE_CLASS, JAVA_CLASS_BYTES);
	if (half_in(body + j->flags) & JAVA_HAS_LINES)
		read_lines(r, at + j->const_bytes + half_in(body + j->code_size), raw->lines);
}

/* A method as it is now; nmethod: of which lines are not wanted, or 0. */
static bool method_now(const struct interp_file *f, const struct reader *r, u64 nmethod, u64 method,
		       struct arena *a, struct unwind_code **ret)
{
	struct unwind_code *now = arena_new(a, struct unwind_code);
	(void)f;
	*now = (struct unwind_code){.addr = method};
	memcpy(now->name + JAVA_NAME_COMPILED, &nmethod, sizeof(nmethod));
	read_method(r, method, now);
	*ret = now;
	return word_in(now->name);
}

struct asked {
	const struct interp_file *f;
	struct reader r;
};

static void read_inlined(void *arg, u64 method, struct arena *a, struct interp_code *ret)
{
	struct asked *x = arg;
	struct unwind_code *now;
	method_now(x->f, &x->r, 0, method, a, &now);
	java_code(x->f, now, a, ret);
}

static bool java_more(const struct interp_file *f, const struct unwind_code *raw,
		      const struct interp_memory *m, struct arena *a, struct interp_code *ret)
{
	const struct unwind_java *j = &f->lang.java;
	struct asked x = {f, {m, j}};
	u64 nmethod = word_in(raw->name + JAVA_NAME_COMPILED), method;
	struct unwind_code *now;
	if (!f->lang.known || !fits(j) || !method_now(f, &x.r, nmethod, raw->addr, a, &now) ||
	    (word_in(raw->name) &&
	     word_in(now->code + j->constants) != word_in(raw->code + j->constants)))
		return true;
	java_code(f, now, a, ret);
	if (nmethod && read_word(&x.r, nmethod + j->method, &method) && method == raw->addr)
		ret->inlined = java_scopes(f, m, nmethod, read_inlined, &x, a);
	return true;
}

const struct interp interp_java = {
	.name = "java",
	.title = "Java",
	.in_name = "libjvm",
	.find = java_find,
	.learn = java_learn,
	.code = java_code,
	.more = java_more,
	.line = java_line,
	.inlined = java_inlined,
};
