/*
 * walk_v8.c - functions of JavaScript in a walk (core/v8.h): each native frame of V8's code has one, or none.
 * unwind/v8.c does the same in user space.
 */
#include "unwind/walk_lang.h"

#define V8(member)   LANG(v8.member)
#define FRAME_AT(at) (AT(lang_frame) + (at))

/* ---- objects ---- */

/* A word of an object (a pointer without its tag). */
static struct ref member(const struct lang_reads *r, struct ref object, struct ref at)
{
	lang_read_to(r, AT(word), ir_con(r->f, 8), ir_op2(r->f, O_ADD, object, at));
	return ir_load(r->f, 8, r->walk, AT(word));
}

/* The address of an object to which there is a pointer. */
static struct ref object(const struct lang_reads *r, struct ref v)
{
	struct fn *f = r->f;
	struct blk *is = ir_blk(f);
	struct ref tag = ir_op2(f, O_AND, v, ir_con(f, V8_TAG_MASK));
	ir_br(f, O_EQ, tag, ir_con(f, V8_TAG), is, r->no);
	ir_at(f, is);
	return ir_addi(f, v, -V8_TAG);
}

/* What an object is, whose map is known. */
static struct ref type_of_map(const struct lang_reads *r, struct ref map)
{
	struct ref at = ir_op2(r->f, O_ADD, object(r, map), lang_number(r, V8(map_type)));
	lang_read_to(r, AT(word), ir_con(r->f, 2), at);
	return ir_load(r->f, 2, r->walk, AT(word));
}

static struct ref type_of(const struct lang_reads *r, struct ref at)
{
	return type_of_map(r, member(r, at, ir_con(r->f, 0)));
}

static void is_of(const struct lang_reads *r, struct ref type, struct ref want)
{
	struct blk *is = ir_blk(r->f);
	ir_br(r->f, O_EQ, type, want, is, r->no);
	ir_at(r->f, is);
}

/* ---- one frame ---- */

/* The pointer to a function's code, with its tag. */
static struct ref code_of(const struct lang *x, const struct lang_reads *r, struct ref function,
			  struct ref code_at)
{
	struct fn *f = x->f;
	struct blk *by_handle = ir_blk(f), *plain = ir_blk(f), *done = ir_blk(f);
	struct ref tagged = ir_var(f), table = ir_load(f, 8, x->walk, AT(v8_table));
	ir_set(f, tagged, member(r, function, code_at));
	ir_br(f, O_NE, table, ir_con(f, 0), by_handle, plain);
	ir_at(f, by_handle);
	struct ref i = ir_op1(f, O_EXTU, 4, ir_get(f, tagged));
	i = ir_op2(f, O_SHR, i, ir_con(f, V8_HANDLE_SHIFT));
	i = ir_op2(f, O_MUL, i, ir_con(f, V8_ENTRY));
	struct ref entry = member(r, table, ir_addi(f, i, V8_ENTRY_CODE));
	entry = ir_op2(f, O_SHR, entry, ir_con(f, V8_ENTRY_SHIFT));
	ir_set(f, tagged, ir_op2(f, O_OR, entry, ir_con(f, V8_TAG)));
	ir_jmp(f, done);
	ir_at(f, plain);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, tagged);
}

/* How far the frame's code has come, in bytes, if that is compiled code of its function: the one that it has now.
 * Control goes to r->no when it is not. */
static struct ref compiled(const struct lang *x, const struct lang_reads *r, struct ref function)
{
	struct fn *f = x->f;
	struct blk *known = ir_blk(f), *inside = ir_blk(f), *outside = ir_blk(f), *both = ir_blk(f),
		   *is = ir_blk(f);
	struct ref start = ir_var(f), code_at = lang_number(r, V8(code));
	ir_br(f, O_NE, code_at, ir_con(f, 0), known, r->no);
	ir_at(f, known);
	struct ref tagged = code_of(x, r, function, code_at), code = object(r, tagged);
	struct ref at = ir_op2(f, O_ADD, code, lang_number(r, V8(start)));
	ir_br(f, O_NE, lang_number(r, V8(inside)), ir_con(f, 0), inside, outside);
	ir_at(f, inside);
	ir_set(f, start, at);
	ir_jmp(f, both);
	ir_at(f, outside);
	ir_set(f, start, member(r, at, ir_con(f, 0)));
	ir_jmp(f, both);
	ir_at(f, both);
	struct ref size = ir_op1(f, O_EXTU, 4, member(r, code, lang_number(r, V8(size))));
	struct ref off = ir_op2(f, O_SUB, ir_load(f, 8, x->walk, AT(v8_pc)), ir_get(f, start));
	ir_br(f, O_ULT, off, size, is, r->no);
	ir_at(f, is);
	ir_store(f, 8, x->walk, AT(lang_file), tagged);
	return off;
}

/* How far the interpreter has come in the function's bytecode, in bytes. */
static struct ref interpreted(const struct lang *x, const struct lang_reads *r)
{
	struct fn *f = x->f;
	struct blk *smi = ir_blk(f);
	struct ref off = lang_frame_word(x, V8(offset)), array = lang_frame_word(x, V8(array));
	ir_br(f, O_EQ, ir_op1(f, O_EXTU, 4, off), ir_con(f, 0), smi, r->no);
	ir_at(f, smi);
	object(r, array);
	off = ir_op2(f, O_SHR, off, ir_con(f, V8_SMI_SHIFT));
	return ir_op2(f, O_SUB, off, lang_number(r, V8(array_head)));
}

/* Of code to which its function does not lead (V8_PLACE). */
static struct ref placed(const struct lang *x)
{
	struct fn *f = x->f;
	struct ref low = ir_con(f, (1u << V8_PLACE_BITS) - 1);
	struct ref pc = ir_load(f, 8, x->walk, AT(v8_pc)), off = ir_op2(f, O_AND, pc, low);
	ir_store(f, 8, x->walk, AT(lang_file), ir_addi(f, ir_op2(f, O_SUB, pc, off), V8_PLACE));
	return off;
}

/* As a word has it. Code that took the place of other code while it ran may have what that has left in its frame, so
 * only the file's code, the interpreter, is asked where it is by its frame. */
static struct ref instruction(const struct lang *x, const struct lang_reads *r, struct ref function)
{
	struct fn *f = x->f;
	struct blk *made = ir_blk(f), *of_file = ir_blk(f), *none = ir_blk(f), *large = ir_blk(f),
		   *have = ir_blk(f), *done = ir_blk(f), *other = ir_blk(f);
	struct lang_reads last = *r, own = *r;
	struct ref v = ir_var(f);
	last.no = none;
	own.no = other;
	ir_store(f, 8, x->walk, AT(lang_file), ir_con(f, 0));
	ir_br(f, O_NE, ir_load(f, 4, x->walk, AT(v8_made)), ir_con(f, 0), made, of_file);
	ir_at(f, made);
	ir_set(f, v, compiled(x, &own, function));
	ir_jmp(f, have);
	ir_at(f, other);
	ir_set(f, v, placed(x));
	ir_jmp(f, have);
	ir_at(f, of_file);
	ir_set(f, v, interpreted(x, &last));
	ir_jmp(f, have);
	ir_at(f, have);
	ir_br(f, O_UGT, ir_get(f, v), ir_con(f, UNWIND_NO_INSTR), large, done);
	ir_at(f, none);
	ir_jmp(f, large);
	ir_at(f, large);
	ir_set(f, v, ir_con(f, UNWIND_NO_INSTR));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

static struct ref mix_in(struct fn *f, struct ref h, struct ref v)
{
	const u64 mix_by = 0x9e3779b97f4a7c15;
	h = ir_op2(f, O_MUL, ir_op2(f, O_XOR, h, v), ir_con(f, mix_by));
	return ir_op2(f, O_XOR, h, ir_op2(f, O_SHR, h, ir_con(f, 32)));
}

void unwind_v8_frame(const struct lang *x, struct ref frames, u32 limit)
{
	struct fn *f = x->f;
	struct lang_reads r = {f, x->walk, x->row, x->none};
	struct ref fp = ir_load(f, 8, x->walk, AT(v8_fp));
	lang_read_to(&r, AT(lang_frame), ir_con(f, V8_FRAME_BYTES),
		     ir_addi(f, fp, -V8_FRAME_BYTES));
	object(&r, lang_frame_word(x, V8(context)));
	struct ref function = object(&r, lang_frame_word(x, V8(function)));
	struct ref shared = object(&r, member(&r, function, lang_param(x, V8(shared))));
	struct ref instr = instruction(x, &r, function);
	lang_read_to(&r, AT(lang_frame), ir_con(f, V8_SHARED_BYTES), shared);
	struct ref type = type_of_map(&r, ir_load(f, 8, x->walk, FRAME_AT(0)));
	is_of(&r, type, lang_number(&r, V8(is_shared)));
	struct ref h = mix_in(f, ir_load(f, 8, x->walk, AT(space)), shared);
	h = mix_in(f, h, lang_frame_word(x, V8(name)));
	h = mix_in(f, h, lang_frame_word(x, V8(script)));
	h = mix_in(f, h, ir_load(f, 8, x->walk, AT(lang_file)));
	struct shown s = {.sign = ir_op2(f, O_OR, h, ir_con(f, 1)), .code = shared, .instr = instr};
	lang_show(x, frames, limit, &s);
	ir_jmp(f, x->off);
}
_Static_assert((int)V8_SHARED_BYTES <= 8 * UNWIND_FRAME_WORDS, "it is read at once");

/* ---- names ---- */

/* A string, not one that leads to another, with its type to an offset of the record. */
static void put_string(struct lower *l, const struct lang_reads *r, const struct code_names *n,
		       struct ref string, u32 to, u32 bytes)
{
	struct fn *f = r->f;
	struct blk *thin = ir_blk(f), *plain = ir_blk(f);
	struct ref at = ir_var(f), type = ir_var(f);
	ir_set(f, at, string);
	ir_set(f, type, type_of(r, string));
	struct ref form = ir_op2(f, O_AND, ir_get(f, type), ir_con(f, V8_STRING_FORM));
	ir_br(f, O_EQ, form, ir_con(f, V8_STRING_THIN), thin, plain);
	ir_at(f, thin);
	ir_set(f, at, object(r, member(r, string, lang_number(r, V8(actual)))));
	ir_set(f, type, type_of(r, ir_get(f, at)));
	ir_jmp(f, plain);
	ir_at(f, plain);
	ir_store(f, 8, n->rec, (i32)to, ir_get(f, type));
	lang_copy(l, n->rec, ir_con(f, to + V8_STRING_HEAD), ir_con(f, bytes - V8_STRING_HEAD),
		  ir_get(f, at));
}

/* One that may have been put together of several, "a", ".b" and ".c": the last ones. */
static void put_parts(struct lower *l, const struct lang_reads *r, const struct code_names *n,
		      struct ref string, u32 to, u32 bytes)
{
	struct fn *f = r->f;
	struct blk *whole = ir_blk(f);
	struct ref left = ir_var(f);
	ir_set(f, left, string);
	for (u32 i = V8_PARTS - 1; i; i--) {
		struct blk *two = ir_blk(f);
		struct ref at = ir_get(f, left);
		struct ref form = ir_op2(f, O_AND, type_of(r, at), ir_con(f, V8_STRING_FORM));
		ir_br(f, O_EQ, form, ir_con(f, V8_STRING_CONS), two, whole);
		ir_at(f, two);
		struct ref second = object(r, member(r, at, lang_number(r, V8(second))));
		put_string(l, r, n, second, to + i * bytes, bytes);
		ir_set(f, left, object(r, member(r, at, lang_number(r, V8(first)))));
	}
	ir_jmp(f, whole);
	ir_at(f, whole);
	put_string(l, r, n, ir_get(f, left), to, bytes);
}

/* Where the function's name may be in a ScopeInfo: behind the names of variables and what is said of them. */
static struct ref behind_variables(const struct lang_reads *r, struct ref scope)
{
	struct fn *f = r->f;
	struct blk *few = ir_blk(f), *many = ir_blk(f), *both = ir_blk(f);
	struct ref names = ir_var(f);
	struct ref n = member(r, scope, lang_number(r, V8(scope_count)));
	n = ir_op2(f, O_SHR, n, ir_con(f, V8_SMI_SHIFT));
	ir_br(f, O_ULT, n, ir_con(f, V8_INLINE_NAMES), few, many);
	ir_at(f, few);
	ir_set(f, names, n);
	ir_jmp(f, both);
	ir_at(f, many);
	ir_set(f, names, ir_con(f, 1));
	ir_jmp(f, both);
	ir_at(f, both);
	struct ref words = ir_op2(f, O_ADD, n, ir_get(f, names));
	struct ref at = ir_op2(f, O_ADD, scope, ir_op2(f, O_SHL, words, ir_con(f, 3)));
	return ir_op2(f, O_ADD, at, lang_number(r, V8(scope_first)));
}

/* The first string there that is not empty: other words are numbers, or objects of other kinds. */
static struct ref name_of_scope(const struct lang_reads *r, struct ref scope)
{
	struct fn *f = r->f;
	struct blk *found = ir_blk(f);
	struct ref name = ir_var(f), first = behind_variables(r, scope);
	for (u32 i = 0; i < V8_NAME_TRIES; i++) {
		struct blk *next = ir_blk(f), *string = ir_blk(f);
		struct lang_reads one = *r;
		one.no = next;
		struct ref v = object(&one, member(&one, first, ir_con(f, 8 * i)));
		ir_set(f, name, v);
		ir_br(f, O_ULT, type_of(&one, v), ir_con(f, V8_STRINGS), string, next);
		ir_at(f, string);
		struct ref length =
			ir_op1(f, O_EXTU, 4, member(&one, v, lang_number(&one, V8(length))));
		ir_br(f, O_NE, length, ir_con(f, 0), found, next);
		ir_at(f, next);
	}
	ir_jmp(f, r->no);
	ir_at(f, found);
	return ir_get(f, name);
}

static void put_function(struct lower *l, const struct lang_reads *r, const struct code_names *n)
{
	struct fn *f = r->f;
	struct blk *string = ir_blk(f), *other = ir_blk(f), *have = ir_blk(f);
	struct ref name = ir_var(f), v = object(r, member(r, n->code, lang_number(r, V8(name))));
	struct ref type = type_of(r, v);
	ir_set(f, name, v);
	ir_br(f, O_ULT, type, ir_con(f, V8_STRINGS), string, other);
	ir_at(f, string);
	ir_jmp(f, have);
	ir_at(f, other);
	is_of(r, type, lang_number(r, V8(is_scope)));
	ir_set(f, name, name_of_scope(r, v));
	ir_jmp(f, have);
	ir_at(f, have);
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_NAME, ir_addi(f, ir_get(f, name), V8_TAG));
	put_parts(l, r, n, ir_get(f, name), CODE(name), V8_NAME_BYTES);
}

static void put_script(struct lower *l, const struct lang_reads *r, const struct code_names *n)
{
	struct fn *f = r->f;
	struct ref tagged = member(r, n->code, lang_number(r, V8(script))),
		   script = object(r, tagged);
	is_of(r, type_of(r, script), lang_number(r, V8(is_script)));
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_SCRIPT, tagged);
	struct ref name = object(r, member(r, script, lang_number(r, V8(script_name))));
	put_parts(l, r, n, name, CODE(file), V8_FILE_BYTES);
}

void unwind_v8_names(struct lower *l, const struct code_names *n)
{
	struct fn *f = l->f;
	struct blk *script = ir_blk(f), *done = ir_blk(f);
	struct lang_reads r = {f, n->walk, n->row, script};
	struct ref none = ir_con(f, 0);
	struct ref instr = ir_op2(f, O_SHR, n->word, ir_con(f, UNWIND_WORD_INSTR));
	instr = ir_op2(f, O_AND, instr, ir_con(f, UNWIND_NO_INSTR));
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_CODE, n->file);
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_INSTR, instr);
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_SCRIPT, none);
	ir_store(f, 8, n->rec, CODE(lines) + V8_LINES_NAME, none);
	/* strings of no length, until there are some */
	for (i32 i = 0; i < V8_PARTS; i++) {
		ir_store(f, 8, n->rec, CODE(name) + i * V8_NAME_BYTES, ir_con(f, V8_STRINGS));
		ir_store(f, 8, n->rec, CODE(file) + i * V8_FILE_BYTES, ir_con(f, V8_STRINGS));
	}
	lang_copy(l, n->rec, ir_con(f, (u32)CODE(code)), ir_con(f, V8_SHARED_BYTES), n->code);
	put_function(l, &r, n);
	ir_jmp(f, script);
	ir_at(f, script);
	r.no = done;
	put_script(l, &r, n);
	ir_jmp(f, done);
	ir_at(f, done);
}
