/*
 * v8.c - JavaScript in V8, as Node.js has it. How its functions are found is in core/v8.h; here is which files
 * contain V8, where they say that things are, and what functions are called.
 *
 * A file that contains V8 exports numbers for debuggers (v8dbg_...). What has none follows from its neighbours:
 * which is said where it is used. The code that was made when V8 was built has no unwind tables, and is by far the
 * largest part of the file that has none.
 */
#include "core/v8.h"
#include "interp/common.h"
#include "interp/v8_lines.h"
#include <elf.h>
#include <string.h>

/* ---- numbers of the file ---- */

enum number {
	N_CONTEXT,
	N_FUNCTION,
	N_ARRAY,
	N_OFFSET,
	N_TAGGED,
	N_SMI_SHIFT,
	N_TAG,
	N_STRINGS,
	N_FORM,
	N_THIN,
	N_CONS,
	N_ONE_BYTE,
	N_MAP_TYPE,
	N_SHARED,
	N_IS_SHARED,
	N_IS_ARRAY,
	N_IS_SCOPE,
	N_IS_SCRIPT,
	N_IS_CODE,
	N_ARRAY_HEAD,
	N_PARAMETERS,
	N_SCRIPT_NAME,
	N_SCRIPT_SOURCE,
	N_SCOPE_COUNT,
	N_SCOPE_FIRST,
	N_LENGTH,
	N_ACTUAL,
	N_FIRST,
	N_SECOND,
	N_TEXT,
	N_NEEDED, /* all before are in every version */
	N_NAME = N_NEEDED,
	N_SCRIPT,
	N_CODE_START,
	N_CODE_INSIDE,
	N_CODE_SIZE,
	N_CODE_FLAGS,
	N_BASELINE,
	N_POSITIONS,
	N_LITERALS,
	NUMBERS
};
static const struct {
	enum number number;
	const char *name;
} numbers[] = {
	{N_CONTEXT, "off_fp_context"},
	{N_FUNCTION, "off_fp_function"},
	{N_ARRAY, "off_fp_bytecode_array"},
	{N_OFFSET, "off_fp_bytecode_offset"},
	{N_TAGGED, "TaggedSize"},
	{N_SMI_SHIFT, "SmiShiftSize"},
	{N_TAG, "HeapObjectTag"},
	{N_STRINGS, "FirstNonstringType"},
	{N_FORM, "StringRepresentationMask"},
	{N_THIN, "ThinStringTag"},
	{N_CONS, "ConsStringTag"},
	{N_ONE_BYTE, "OneByteStringTag"},
	{N_MAP_TYPE, "class_Map__instance_type__uint16_t"},
	{N_SHARED, "class_JSFunction__shared__SharedFunctionInfo"},
	{N_IS_SHARED, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"},
	{N_IS_ARRAY, "type_BytecodeArray__BYTECODE_ARRAY_TYPE"},
	{N_IS_SCOPE, "type_ScopeInfo__SCOPE_INFO_TYPE"},
	{N_IS_SCRIPT, "type_Script__SCRIPT_TYPE"},
	{N_IS_CODE, "type_Code__CODE_TYPE"},
	{N_ARRAY_HEAD, "class_BytecodeArray__data__uintptr_t"},
	{N_PARAMETERS, "class_SharedFunctionInfo__length__uint16_t"},
	{N_SCRIPT_NAME, "class_Script__name__Object"},
	{N_SCRIPT_SOURCE, "class_Script__source__Object"},
	{N_SCOPE_COUNT, "scopeinfo_idx_ncontextlocals"},
	{N_SCOPE_FIRST, "scopeinfo_idx_first_vars"},
	{N_LENGTH, "class_String__length__int32_t"},
	{N_ACTUAL, "class_ThinString__actual__String"},
	{N_FIRST, "class_ConsString__first__String"},
	{N_SECOND, "class_ConsString__second__String"},
	{N_TEXT, "class_SeqOneByteString__chars__char"},
	{N_NAME, "class_SharedFunctionInfo__name_or_scope_info__Object"},
	{N_NAME, "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_"},
	{N_SCRIPT, "class_SharedFunctionInfo__script_or_debug_info__HeapObject"},
	{N_SCRIPT, "class_SharedFunctionInfo__script__Tagged_HeapObject_"},
	{N_CODE_START, "class_Code__instruction_start__Address"},
	{N_CODE_INSIDE, "class_Code__instruction_start__uintptr_t"},
	{N_CODE_SIZE, "class_Code__instruction_size__int"},
	{N_CODE_FLAGS, "class_Code__flags__uint32_t"},
	{N_BASELINE, "CodeKindBaseline"},
	{N_POSITIONS, "DeoptimizationDataInliningPositionsIndex"},
	{N_LITERALS, "DeoptimizationDataLiteralArrayIndex"},
};

struct numbers {
	i32 v[NUMBERS];
	bool has[NUMBERS];
};

/* Zeros that the file need not contain are not in it. */
static i32 number_at(const struct image *im, u64 addr)
{
	i32 v = 0;
	struct bytes b = file_bytes(im, addr, sizeof(v));
	if (b.n == sizeof(v))
		memcpy(&v, b.p, sizeof(v));
	return v;
}

static void take_number(const struct image *im, const char *name, u32 n, u64 addr,
			struct numbers *ret)
{
	for (u32 i = 0; i < countof(numbers); i++) {
		if (strlen(numbers[i].name) != n || memcmp(numbers[i].name, name, n))
			continue;
		ret->v[numbers[i].number] = number_at(im, addr);
		ret->has[numbers[i].number] = true;
	}
}

/* All in one go: such files export tens of thousands of symbols. */
static void find_numbers(const struct image *im, struct numbers *ret)
{
	static const char begin[] = "v8dbg_";
	enum { BEGIN = sizeof(begin) - 1 };
	struct section s, texts;
	Elf64_Sym sym;
	*ret = (struct numbers){0};
	if (!im->is64 || !image_section_named(im, ".dynsym", &s) ||
	    !image_section(im, s.link, &texts))
		return;
	struct bytes b = image_bytes(im, &s), t = image_bytes(im, &texts);
	for (size_t at = 0; at + sizeof(sym) <= b.n; at += sizeof(sym)) {
		memcpy(&sym, b.p + at, sizeof(sym));
		if (sym.st_name >= t.n || t.n - sym.st_name <= BEGIN ||
		    memcmp(t.p + sym.st_name, begin, BEGIN))
			continue;
		const char *name = (const char *)t.p + sym.st_name + BEGIN;
		u32 n = (u32)strnlen(name, t.n - sym.st_name - BEGIN);
		take_number(im, name, n, sym.st_value, ret);
	}
}

/* Do programs, which take some for granted, understand it? */
static bool is_known(const struct numbers *n)
{
	static const struct {
		enum number number;
		i32 want;
	} granted[] = {
		{N_TAGGED, 8},
		{N_SMI_SHIFT, V8_SMI_SHIFT - 1},
		{N_TAG, V8_TAG},
		{N_STRINGS, V8_STRINGS},
		{N_FORM, V8_STRING_FORM},
		{N_THIN, V8_STRING_THIN},
		{N_CONS, V8_STRING_CONS},
		{N_ONE_BYTE, V8_ONE_BYTE},
		{N_TEXT, V8_STRING_TEXT},
	};
	for (u32 i = 0; i < N_NEEDED; i++)
		if (!n->has[i])
			return false;
	for (u32 i = 0; i < countof(granted); i++)
		if (n->v[granted[i].number] != granted[i].want)
			return false;
	for (u32 i = N_CONTEXT; i <= N_OFFSET; i++)
		if (n->v[i] < -V8_FRAME_BYTES || n->v[i] > -8 || n->v[i] % 8)
			return false;
	return true;
}

/* ---- the layout ---- */

enum { WORD = 8, SPLIT_HEAD = 64, SPLIT_CODE = 11 };

/* Where a function's code is, and what it says of itself. Since V8 12 a function has it before what it shares,
 * or it has none; before, behind the cell that follows the context. V8 11 does not say where a Code has it. */
static void take_code(const struct numbers *n, i32 major, struct unwind_v8 *v)
{
	enum { NEW_SHARED = 32, OLD_CODE = 48, START = 40, SIZE_11 = 56 };
	v->code = n->v[N_SHARED] >= NEW_SHARED ? (u32)n->v[N_SHARED] - WORD : OLD_CODE;
	if (n->has[N_CODE_INSIDE] && n->has[N_CODE_SIZE]) {
		v->inside = 1;
		v->start = (u32)n->v[N_CODE_INSIDE];
		v->size = (u32)n->v[N_CODE_SIZE];
	} else if (n->has[N_CODE_START] && n->has[N_CODE_SIZE]) {
		v->start = (u32)n->v[N_CODE_START];
		v->size = (u32)n->v[N_CODE_SIZE];
	} else if (major == SPLIT_CODE) {
		v->start = START;
		v->size = SIZE_11;
	} else {
		v->code = 0;
	}
}

static void take_layout(const struct numbers *n, i32 major, struct unwind_v8 *v)
{
	u32 parameters = (u32)n->v[N_PARAMETERS];
	*v = (struct unwind_v8){
		.context = (u32)(V8_FRAME_BYTES + n->v[N_CONTEXT]),
		.function = (u32)(V8_FRAME_BYTES + n->v[N_FUNCTION]),
		.array = (u32)(V8_FRAME_BYTES + n->v[N_ARRAY]),
		.offset = (u32)(V8_FRAME_BYTES + n->v[N_OFFSET]),
		.shared = (u32)n->v[N_SHARED],
		.map_type = (u32)n->v[N_MAP_TYPE],
		.is_shared = (u32)n->v[N_IS_SHARED],
		.is_array = (u32)n->v[N_IS_ARRAY],
		.is_scope = (u32)n->v[N_IS_SCOPE],
		.is_script = (u32)n->v[N_IS_SCRIPT],
		.array_head = (u32)n->v[N_ARRAY_HEAD] - V8_TAG,
		/* These two, and what is said of calls between them, are before the number of parameters. */
		.name = n->has[N_NAME] ? (u32)n->v[N_NAME] : parameters - 3 * WORD,
		.script = n->has[N_SCRIPT] ? (u32)n->v[N_SCRIPT] : parameters - WORD,
		.script_name = (u32)n->v[N_SCRIPT_NAME],
		.scope_count = WORD + WORD * (u32)n->v[N_SCOPE_COUNT],
		.scope_first = WORD + WORD * (u32)n->v[N_SCOPE_FIRST],
		.length = (u32)n->v[N_LENGTH],
		.actual = (u32)n->v[N_ACTUAL],
		.first = (u32)n->v[N_FIRST],
		.second = (u32)n->v[N_SECOND],
	};
	take_code(n, major, v);
}

static void take_own(const struct numbers *n, u32 *own)
{
	enum { FLAGS = 48, BASELINE_11 = 11, INLINED = 7, LITERALS = 2 };
	bool split = n->v[N_ARRAY_HEAD] >= SPLIT_HEAD;
	own[V8_OWN_SOURCE] = (u32)n->v[N_SCRIPT_SOURCE];
	own[V8_OWN_IS_CODE] = (u32)n->v[N_IS_CODE];
	own[V8_OWN_FLAGS] = n->has[N_CODE_FLAGS] ? (u32)n->v[N_CODE_FLAGS] : FLAGS;
	own[V8_OWN_BASELINE] = n->has[N_BASELINE] ? (u32)n->v[N_BASELINE] : BASELINE_11;
	/* Since V8 12 a BytecodeArray has its positions before its other tables, and a Code has no relocations. */
	own[V8_OWN_ARRAY_POSITIONS] = split ? 3 * WORD : 4 * WORD;
	own[V8_OWN_CODE_DATA] = split ? WORD : 2 * WORD;
	own[V8_OWN_CODE_POSITIONS] = split ? 2 * WORD : 3 * WORD;
	own[V8_OWN_INLINED] = n->has[N_POSITIONS] ? (u32)n->v[N_POSITIONS] : INLINED;
	own[V8_OWN_LITERALS] = n->has[N_LITERALS] ? (u32)n->v[N_LITERALS] : LITERALS;
}

/* ---- the file ---- */

/* From base on, the pointer to the group of isolates that all of a process's are in: what an exported function reads
 * first. 0: there is no such function; then functions lead to their code. */
static u32 find_group(const struct image *im, u64 base)
{
	enum {
		LOOK_AT = 48,
		REX = 0x48,
		MOV = 0x8b,
		LEA = 0x8d,
		MODE = 0xc7,
		RELATIVE = 5,
		BYTES = 7
	};
	struct elf_symbol fn;
	if (!file_symbol(im, "_ZN2v812IsolateGroup10GetDefaultEv", &fn))
		return 0;
	struct bytes b = file_bytes(im, fn.addr, MIN(fn.size, (u64)LOOK_AT));
	for (u32 at = 0; at + BYTES <= b.n; at++) {
		const u8 *p = b.p + at;
		i32 by;
		if ((p[0] & ~4) != REX || (p[1] != MOV && p[1] != LEA) || (p[2] & MODE) != RELATIVE)
			continue;
		memcpy(&by, p + BYTES - sizeof(by), sizeof(by));
		return (u32)(fn.addr + at + BYTES + (u64)(i64)by - base);
	}
	return 0;
}

/* How long bytecodes are, for each scale. The file need not have a symbol for it: first come prefixes, and what
 * debuggers put in the place of bytecodes with 0 to 4 operands. */
static struct bytes find_sizes(const struct image *im)
{
	enum { FIRST = 10, LEAST = 128, MOST = INTERP_BYTES / V8_SCALES };
	static const u8 first[V8_SCALES][FIRST] = {
		{1, 1, 1, 1, 1, 2, 3, 4, 5, 5},
		{1, 1, 1, 1, 1, 3, 5, 7, 9, 7},
		{1, 1, 1, 1, 1, 5, 9, 13, 17, 11},
	};
	struct elf_symbol sizes;
	struct section s;
	if (file_symbol(im, "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE", &sizes) &&
	    sizes.size <= INTERP_BYTES)
		return file_bytes(im, sizes.addr, sizes.size);
	struct bytes b = bytes_of("", 0);
	if (image_section_named(im, ".rodata", &s))
		b = image_bytes(im, &s);
	const u8 *p = b.p, *end = b.p + b.n;
	for (; (p = memmem(p, (size_t)(end - p), first[0], FIRST)); p++)
		for (u32 n = LEAST; n <= MOST && (size_t)(end - p) >= (size_t)V8_SCALES * n; n++)
			if (!memcmp(p + n, first[1], FIRST) &&
			    !memcmp(p + 2 * (size_t)n, first[2], FIRST))
				return bytes_of(p, (size_t)V8_SCALES * n);
	return bytes_of("", 0);
}

static bool v8_find(const struct image *im, struct str path, u64 base, struct interp_file *ret)
{
	struct elf_symbol major, minor, blob;
	struct numbers n;
	(void)path;
	*ret = (struct interp_file){.label = "node"};
	if (!file_symbol(im, "_ZN2v88internal7Version6major_E", &major) ||
	    !file_symbol(im, "_ZN2v88internal7Version6minor_E", &minor) ||
	    !file_without_tables(im, &blob))
		return false;
	i32 version = number_at(im, major.addr);
	snprintf(ret->label, sizeof(ret->label), "node (V8 %d.%d)", version,
		 number_at(im, minor.addr));
	ret->lang.form = UNWIND_FORM_V8;
	ret->lang.loop[0] = (struct unwind_range){(u32)(blob.addr - base), (u32)blob.size};
	find_numbers(im, &n);
	if (im->machine != EM_X86_64 || !is_known(&n))
		return true;
	take_layout(&n, version, &ret->lang.v8);
	take_own(&n, ret->own);
	struct bytes b = find_sizes(im);
	memcpy(ret->bytes, b.p, b.n);
	ret->own[V8_OWN_BYTECODES] = (u32)b.n / V8_SCALES;
	ret->own[V8_OWN_GROUP] = find_group(im, base);
	ret->lang.known = 1;
	return true;
}

/* ---- functions ---- */

/* A string that was copied, of which there are so many bytes. */
static void add_string(const struct interp_file *f, const u8 *p, u32 size, struct sb *out)
{
	u64 type;
	u32 length;
	size -= V8_STRING_HEAD;
	memcpy(&type, p, sizeof(type));
	p += V8_STRING_HEAD;
	if (type >= V8_STRINGS || type & V8_STRING_FORM ||
	    f->lang.v8.length > size - sizeof(length))
		return;
	memcpy(&length, p + f->lang.v8.length, sizeof(length));
	v8_add_text(p + V8_STRING_TEXT,
		    MIN(length, (size - V8_STRING_TEXT) >> !(type & V8_ONE_BYTE)),
		    !(type & V8_ONE_BYTE), out);
	if (length > (size - V8_STRING_TEXT) >> !(type & V8_ONE_BYTE))
		sb_z(out, "..");
}

static void v8_code(const struct interp_file *f, const struct unwind_code *raw, struct arena *a,
		    struct interp_code *ret)
{
	AUTO_SB name = {0};
	AUTO_SB file = {0};
	u64 script;
	for (size_t i = 0; i < V8_PARTS; i++) {
		add_string(f, raw->name + i * V8_NAME_BYTES, V8_NAME_BYTES, &name);
		add_string(f, raw->file + i * V8_FILE_BYTES, V8_FILE_BYTES, &file);
	}
	*ret = (struct interp_code){
		.name = name.n ? arena_str(a, sb_str(&name)) : STR("<anonymous>"),
		.file = v8_path(a, sb_str(&file)),
	};
	/* V8's own, such as that which goes on with an async function, have neither. */
	memcpy(&script, raw->lines + V8_LINES_SCRIPT, sizeof(script));
	ret->hidden = !script && !name.n;
}

const struct interp interp_v8 = {
	.name = "javascript",
	.title = "JavaScript",
	.in_name = "node",
	.find = v8_find,
	.learn = v8_learn,
	.table = v8_code_table,
	.code = v8_code,
	.more = v8_more,
	.line = v8_line,
	.inlined = v8_inlined,
};
