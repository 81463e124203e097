/* v8.c - functions of JavaScript in a stack that user space walks; see the header. unwind/walk_v8.c does
 * the same in programs. */
#include "unwind/v8.h"
#include "proc/proc.h"
#include "unwind/task.h"
#include <string.h>

enum { WORD = 8 };

struct walk {
	const struct v8_frame *at;
	const struct unwind_v8 *v;
	u8 frame[V8_FRAME_BYTES], shared[V8_SHARED_BYTES];
};

static u64 word_in(const u8 *p, u32 size, u32 at)
{
	u64 v;
	memcpy(&v, p + MIN(at, size - WORD), sizeof(v));
	return v;
}

static u64 frame_word(const struct walk *w, u32 at)
{
	return word_in(w->frame, sizeof(w->frame), at);
}

static u64 shared_word(const struct walk *w, u32 at)
{
	return word_in(w->shared, sizeof(w->shared), at);
}

static bool read_word(const struct walk *w, u64 addr, u64 *ret)
{
	return task_read(w->at->t, addr, ret, sizeof(*ret));
}

/* The address of the object that a pointer leads to. */
static bool object(u64 v, u64 *ret)
{
	*ret = v - V8_TAG;
	return (v & V8_TAG_MASK) == V8_TAG;
}

static bool object_at(const struct walk *w, u64 addr, u64 *ret)
{
	u64 v;
	return read_word(w, addr, &v) && object(v, ret);
}

static bool type_of(const struct walk *w, u64 at, u16 *ret)
{
	u64 map;
	return object_at(w, at, &map) &&
	       task_read(w->at->t, map + w->v->map_type, ret, sizeof(*ret));
}

/* ---- the table of code ---- */

static bool read_task(void *arg, u64 addr, void *to, size_t n)
{
	return task_read(arg, addr, to, n);
}

u64 v8_table(struct langs *l, u32 lang, u32 pid, u64 base)
{
	struct lang_file *f = &l->file[lang];
	struct task t = {.h = l->h, .mem = -1};
	u64 table = 0;
	if (!l->mem[lang].known || !f->is->table || !l->h)
		return 0;
	t.mem = proc_memory(l->h, (int)pid);
	struct interp_memory m = {.arg = &t, .read = read_task};
	table = f->is->table(&f->file, &m, base);
	close_fd(&t.mem);
	return table;
}

/* ---- one frame ---- */

static bool code_of(const struct walk *w, u64 function, u64 *ret)
{
	u64 table = w->at->table;
	if (!w->v->code || !read_word(w, function + w->v->code, ret))
		return false;
	if (!table)
		return true;
	table += V8_ENTRY * (u64)((u32)*ret >> V8_HANDLE_SHIFT);
	if (!read_word(w, table + V8_ENTRY_CODE, ret))
		return false;
	*ret = *ret >> V8_ENTRY_SHIFT | V8_TAG;
	return true;
}

static bool compiled(const struct walk *w, u64 function, u64 *code, u64 *off)
{
	u64 tagged, at, start;
	u32 size;
	if (!code_of(w, function, &tagged) || !object(tagged, &at))
		return false;
	start = at + w->v->start;
	if ((!w->v->inside && !read_word(w, start, &start)) ||
	    !task_read(w->at->t, at + w->v->size, &size, sizeof(size)))
		return false;
	*off = w->at->pc - start;
	*code = tagged;
	return *off < size;
}

static bool interpreted(const struct walk *w, u64 *off)
{
	u64 array;
	*off = frame_word(w, w->v->offset);
	if ((u32)*off || !object(frame_word(w, w->v->array), &array))
		return false;
	*off = (*off >> V8_SMI_SHIFT) - w->v->array_head;
	return true;
}

static u64 instruction(const struct walk *w, u64 function, u64 *code)
{
	u64 off;
	*code = 0;
	if (!w->at->made)
		return interpreted(w, &off) ? MIN(off, (u64)UNWIND_NO_INSTR) : UNWIND_NO_INSTR;
	if (compiled(w, function, code, &off))
		return MIN(off, (u64)UNWIND_NO_INSTR);
	off = w->at->pc & ((1u << V8_PLACE_BITS) - 1);
	*code = w->at->pc - off + V8_PLACE;
	return off;
}

static u64 mix_in(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

/* ---- names ---- */

static void put_string(const struct walk *w, u64 string, u8 *to, u32 bytes)
{
	u16 type;
	u64 kind;
	if (!type_of(w, string, &type))
		return;
	if (type < V8_STRINGS && (type & V8_STRING_FORM) == V8_STRING_THIN &&
	    (!object_at(w, string + w->v->actual, &string) || !type_of(w, string, &type)))
		return;
	kind = type;
	memcpy(to, &kind, sizeof(kind));
	task_read_part(w->at->t, string, to + V8_STRING_HEAD, bytes - V8_STRING_HEAD);
}

static bool name_of_scope(const struct walk *w, u64 scope, u64 *ret)
{
	u64 n, at;
	u32 length;
	u16 type;
	if (!read_word(w, scope + w->v->scope_count, &n))
		return false;
	n >>= V8_SMI_SHIFT;
	at = scope + w->v->scope_first + WORD * (n + (n < V8_INLINE_NAMES ? n : 1));
	for (u32 i = 0; i < V8_NAME_TRIES; i++)
		if (object_at(w, at + (u64)WORD * i, ret) && type_of(w, *ret, &type) &&
		    type < V8_STRINGS &&
		    task_read(w->at->t, *ret + w->v->length, &length, sizeof(length)) && length)
			return true;
	return false;
}

/* One that may have been put together of several: the last ones. */
static void put_parts(const struct walk *w, u64 string, u8 *to, u32 bytes)
{
	u64 part;
	u16 type;
	for (u32 i = V8_PARTS - 1; i && type_of(w, string, &type); i--) {
		if ((type & V8_STRING_FORM) != V8_STRING_CONS)
			break;
		if (object_at(w, string + w->v->second, &part))
			put_string(w, part, to + (size_t)i * bytes, bytes);
		if (!object_at(w, string + w->v->first, &string))
			return;
	}
	put_string(w, string, to, bytes);
}

static void put_function(const struct walk *w, struct unwind_code *raw)
{
	u64 name, tagged;
	u16 type;
	if (!object(shared_word(w, w->v->name), &name) || !type_of(w, name, &type) ||
	    (type >= V8_STRINGS && (type != w->v->is_scope || !name_of_scope(w, name, &name))))
		return;
	tagged = name + V8_TAG;
	memcpy(raw->lines + V8_LINES_NAME, &tagged, sizeof(tagged));
	put_parts(w, name, raw->name, V8_NAME_BYTES);
}

static void put_script(const struct walk *w, struct unwind_code *raw)
{
	u64 tagged = shared_word(w, w->v->script), script, name;
	u16 type;
	if (!object(tagged, &script) || !type_of(w, script, &type) || type != w->v->is_script)
		return;
	memcpy(raw->lines + V8_LINES_SCRIPT, &tagged, sizeof(tagged));
	if (object_at(w, script + w->v->script_name, &name))
		put_parts(w, name, raw->file, V8_FILE_BYTES);
}

static u32 keep(const struct walk *w, u64 sign, u64 shared, const u64 code[2])
{
	const u64 none = V8_STRINGS;
	u32 at = langs_own(w->at->l, sign);
	if (at != LANGS_NONE)
		return at;
	struct unwind_code raw = {.what = UNWIND_IS_CODE,
				  .addr = shared,
				  .lang = w->at->lang,
				  .pid = w->at->copy->pid,
				  .sign = sign};
	memcpy(raw.code, w->shared, sizeof(w->shared));
	for (size_t i = 0; i < V8_PARTS; i++) {
		memcpy(raw.name + i * V8_NAME_BYTES, &none, sizeof(none));
		memcpy(raw.file + i * V8_FILE_BYTES, &none, sizeof(none));
	}
	memcpy(raw.lines + V8_LINES_CODE, &code[0], sizeof(code[0]));
	memcpy(raw.lines + V8_LINES_INSTR, &code[1], sizeof(code[1]));
	put_function(w, &raw);
	put_script(w, &raw);
	return langs_keep(w->at->l, &raw);
}

u64 v8_word(const struct v8_frame *at)
{
	struct walk w = {.at = at, .v = &at->l->mem[at->lang].v8};
	u64 function, shared, any, code[2]; /* its instruction is the second */
	u16 type;
	if (!copy_read(at->copy, at->fp - sizeof(w.frame), w.frame, sizeof(w.frame)) ||
	    !object(frame_word(&w, w.v->context), &any) ||
	    !object(frame_word(&w, w.v->function), &function) ||
	    !object_at(&w, function + w.v->shared, &shared) ||
	    !task_read(at->t, shared, w.shared, sizeof(w.shared)) || !type_of(&w, shared, &type) ||
	    type != w.v->is_shared)
		return 0;
	code[1] = instruction(&w, function, &code[0]);
	u64 h = mix_in(mix_in(at->copy->space, shared), shared_word(&w, w.v->name));
	h = mix_in(mix_in(h, shared_word(&w, w.v->script)), code[0]) | 1;
	u32 slot = keep(&w, h, shared, code);
	if (slot == LANGS_NONE)
		return 0;
	return UNWIND_WORD | UNWIND_WORD_OWN | slot | code[1] << UNWIND_WORD_INSTR |
	       (u64)at->lang << UNWIND_WORD_LANG;
}
