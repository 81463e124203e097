/* java.c - methods of Java in a stack that user space walks; see the header. unwind/walk_java.c does the same in
 * programs. */
#include "unwind/java.h"
#include "sym/cfi.h"
#include "unwind/task.h"
#include <string.h>

enum { WORD = 8 };

/* ---- heaps ---- */

static bool read_task(void *arg, u64 addr, void *to, size_t n)
{
	return task_read(arg, addr, to, n);
}

static void learn(struct langs *l, u32 lang, const struct task *t, u64 base)
{
	struct lang_file *f = &l->file[lang];
	struct interp_memory m = {.arg = (void *)t, .read = read_task};
	if (!f->is->learn(&f->file, &m, base))
		return;
	struct unwind_lang *mem = &l->mem[lang];
	mem->java = f->file.lang.java;
	__atomic_store_n(&mem->known, 1, __ATOMIC_RELEASE);
}

static bool read_word(const struct task *t, u64 addr, u64 *ret)
{
	return task_read(t, addr, ret, sizeof(*ret));
}

/* False: nonsense, or nothing is there yet. */
static bool read_heap(const u32 *own, const struct task *t, u64 addr, struct unwind_piece *ret)
{
	enum { MIN_LOG2 = 3, MAX_LOG2 = 16 };
	u64 from, to, map;
	u32 log2;
	if (!read_word(t, addr + own[JAVA_OWN_MEMORY] + own[JAVA_OWN_LOW_END], &from) ||
	    !read_word(t, addr + own[JAVA_OWN_MEMORY] + own[JAVA_OWN_HIGH_END], &to) ||
	    !read_word(t, addr + own[JAVA_OWN_SEGMAP] + own[JAVA_OWN_LOW], &map) ||
	    !task_read(t, addr + own[JAVA_OWN_LOG2], &log2, sizeof(log2)))
		return false;
	if (from >= to || to - from > UINT32_MAX || map % JAVA_MAP_ALIGN || !map ||
	    log2 < MIN_LOG2 || log2 > MAX_LOG2)
		return false;
	map |= log2;
	*ret = (struct unwind_piece){.start = from,
				     .end = to,
				     .pc = (u32)map,
				     .file = (u32)(map >> 32),
				     .kind = UNWIND_PIECE_HEAP};
	return true;
}

u32 java_heaps(struct langs *l, u32 lang, const struct task *t, u64 base,
	       struct unwind_piece heap[JAVA_HEAPS])
{
	const u32 *own = l->file[lang].file.own;
	u64 array, data, addr;
	u32 n, found = 0;
	if (!l->mem[lang].known)
		learn(l, lang, t, base);
	if (!l->mem[lang].known || !read_word(t, base + own[JAVA_OWN_HEAPS], &array) || !array ||
	    !task_read(t, array + own[JAVA_OWN_HEAPS_LEN], &n, sizeof(n)) ||
	    !read_word(t, array + own[JAVA_OWN_HEAPS_DATA], &data))
		return 0;
	for (u32 i = 0; i < MIN(n, (u32)JAVA_HEAPS); i++) {
		if (!read_word(t, data + (u64)WORD * i, &addr) ||
		    !read_heap(own, t, addr, &heap[found]))
			continue;
		heap[found++].lang = lang + 1;
	}
	return found;
}

/* ---- code ---- */

struct blob {
	u64 at, code; /* where its code begins */
	u32 words, complete;
	u64 name, method; /* name: the first bytes */
};

/* Where the block begins that an address is in; false: none. */
static bool find_block(const struct java_frame *f, u64 *ret)
{
	u64 map = f->heap->pc | (u64)f->heap->file << 32;
	u32 bits = map % JAVA_MAP_ALIGN;
	u64 i = (f->pc - f->heap->start) >> bits;
	u8 back = JAVA_FREE;
	map -= bits;
	for (u32 hop = 0; hop < JAVA_HOPS; hop++, i -= back) {
		if (!task_read(f->t, map + i, &back, 1) || back == JAVA_FREE || back > i)
			return false;
		if (!back) {
			*ret = f->heap->start + (i << bits);
			return true;
		}
	}
	return false;
}

static u64 word_at(const u8 *p, u32 at)
{
	u64 v;
	memcpy(&v, p + at, sizeof(v));
	return v;
}

static bool read_blob(const struct java_frame *f, const struct unwind_java *j, struct blob *ret)
{
	u8 p[JAVA_BLOB_BYTES];
	u64 block;
	if (!find_block(f, &block))
		return false;
	*ret = (struct blob){.at = block + j->head};
	if (!task_read(f->t, ret->at, p, sizeof(p)) ||
	    !read_word(f->t, word_at(p, j->name), &ret->name))
		return false;
	ret->words = (u32)word_at(p, j->frame_size);
	ret->complete = (u32)word_at(p, j->complete);
	if (j->complete_bytes == sizeof(u16))
		ret->complete = (u16)ret->complete;
	ret->code = word_at(p, j->code);
	if (j->code_inside)
		ret->code = ret->at + (u32)ret->code;
	ret->method = word_at(p, j->method);
	return true;
}

/* The caller's frame pointer is below the return address. */
static u32 frame_of(u32 words)
{
	return unwind_rule(UNWIND_SP, (i32)words, unwind_regs(2, UNWIND_KEPT_LOST));
}

static u32 frame_same(u32 words)
{
	return unwind_rule(UNWIND_SP, (i32)words, unwind_regs(UNWIND_FP_SAME, UNWIND_KEPT_LOST));
}

/* Compiled code, which may just be making its frame, or have given it up: what it runs next tells. */
static u32 leaf_rule(const struct java_frame *f, const struct blob *b)
{
	enum { BYTE = 8, JUMP_RET = 48 };
	u64 p[2]; /* before it, from it on */
	if (!task_read(f->t, f->pc - WORD, p, sizeof(p)))
		return frame_of(b->words);
	u32 next = (u32)p[1], three = next & JAVA_BYTES_3;
	if (f->pc - b->code < b->complete) {
		if (next == JAVA_SAVE_FP_8 || next == JAVA_SAVE_FP_32)
			return frame_same(b->words);
		if (three == JAVA_BARRIER || (p[0] & JAVA_BYTES_3) == JAVA_BARRIER)
			return frame_of(b->words);
		return p[0] >> (64 - BYTE) == JAVA_PUSH_FP ? frame_of(2) : frame_same(1);
	}
	if ((u8)next == JAVA_POP_FP)
		return frame_of(2);
	if ((u8)next == JAVA_RET || three == JAVA_POLL || three == JAVA_POLL_32 ||
	    ((u16)next == JAVA_JUMP_ABOVE && (u8)(p[1] >> JUMP_RET) == JAVA_RET))
		return frame_same(1);
	return frame_of(b->words);
}

/* A stub: most have no frame where they call nobody, some have frame pointers. */
static u32 stub_rule(const struct java_frame *f, const struct blob *b)
{
	if (f->leaf && f->fp - f->sp < JAVA_NEAR_STUB)
		return unwind_by_fp(false);
	if (b->words && b->words < JAVA_MAX_FRAME)
		return frame_of(b->words);
	return f->leaf ? frame_same(1) : unwind_by_fp(false);
}

/* In the interpreter, but a method has only just been called. */
static bool no_frame(const struct java_frame *f)
{
	return f->leaf && f->fp - f->sp >= JAVA_NEAR;
}

static u32 rule_of(const struct java_frame *f, const struct blob *b)
{
	if (b->name == JAVA_INTERPRETER)
		return no_frame(f) ? frame_same(1)
				   : unwind_rule(UNWIND_JAVA, 0, unwind_regs(0, UNWIND_KEPT_LOST));
	if (b->name != JAVA_NMETHOD && b->name != JAVA_NATIVE)
		return stub_rule(f, b);
	return f->leaf ? leaf_rule(f, b) : frame_of(b->words);
}

/* ---- methods ---- */

static u64 mix_in(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

/* A method, and what compiled code of it runs there, if any. Its names are read when it is kept. */
static u64 word_of(const struct java_frame *f, u64 method, u64 nmethod, u64 instr)
{
	const struct unwind_java *j = &f->l->mem[f->heap->lang - 1].java;
	u32 lang = f->heap->lang - 1;
	u8 part[JAVA_PART] = {0};
	u64 body;
	if (!read_word(f->t, method + j->const_method, &body) ||
	    !task_read(f->t, body, part, j->const_bytes))
		return 0;
	u64 h = mix_in(mix_in(mix_in(f->copy->space, method), body), nmethod);
	for (u32 i = 0; i < JAVA_SIGN_WORDS; i++)
		h = mix_in(h, word_at(part, i * WORD));
	u32 at = langs_own(f->l, h | 1);
	if (at == LANGS_NONE) {
		struct unwind_code raw = {.what = UNWIND_IS_CODE,
					  .addr = method,
					  .lang = lang,
					  .pid = f->copy->pid,
					  .sign = h | 1};
		memcpy(raw.name + JAVA_NAME_COMPILED, &nmethod, sizeof(nmethod));
		at = langs_keep(f->l, &raw);
	}
	if (at == LANGS_NONE)
		return 0;
	u16 size;
	memcpy(&size, part + j->code_size, sizeof(size));
	if (!nmethod) /* of a native method it may be anything */
		instr = size ? instr - body - j->const_bytes : UNWIND_NO_INSTR;
	if (!nmethod && size && instr >= size)
		return 0;
	return UNWIND_WORD | UNWIND_WORD_OWN | at |
	       MIN(instr, (u64)UNWIND_NO_INSTR) << UNWIND_WORD_INSTR |
	       (u64)lang << UNWIND_WORD_LANG;
}

static u64 interpreted(const struct java_frame *f)
{
	u64 frame[JAVA_FRAME_WORDS];
	if (!copy_read(f->copy, f->fp - sizeof(frame), frame, sizeof(frame)))
		return 0;
	return word_of(f, frame[JAVA_FRAME_WORDS - JAVA_FRAME_METHOD], 0,
		       frame[JAVA_FRAME_WORDS - JAVA_FRAME_BYTECODE]);
}

void java_frame(const struct java_frame *at, bool wanted, struct copy_code *ret)
{
	const struct unwind_java *j = &at->l->mem[at->heap->lang - 1].java;
	struct blob b;
	ret->rule = unwind_rule(UNWIND_UNKNOWN, 0, 0);
	if (!read_blob(at, j, &b))
		return;
	ret->rule = rule_of(at, &b);
	if (wanted && b.name == JAVA_INTERPRETER && !no_frame(at))
		ret->word = interpreted(at);
	else if (wanted && (b.name == JAVA_NMETHOD || b.name == JAVA_NATIVE))
		ret->word = word_of(at, b.method, b.at, at->pc - b.code);
}
