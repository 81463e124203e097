/* task.c - what is read of a thread that sleeps; see the header. */
#include "unwind/task.h"
#include "base/alloc.h"
#include "proc/proc.h"
#include "types/type.h"
#include "unwind/perl.h"
#include <string.h>
#include <unistd.h>

enum { WORD = 8 };

void task_open(struct task *t, struct host *h, const void *head)
{
	*t = (struct task){.h = h, .copy = xcalloc(1, sizeof(*t->copy) + UNWIND_COPY_STACK)};
	memcpy(t->copy, head, offsetof(struct unwind_copy, word));
	t->mem = proc_memory(h, (int)t->copy->pid);
}

void task_close(struct task *t)
{
	close_fd(&t->mem);
	free(t->copy);
	t->copy = NULL;
}

bool task_read(const struct task *t, u64 addr, void *to, size_t n)
{
	return t->mem >= 0 && addr <= INT64_MAX && pread(t->mem, to, n, (off_t)addr) == (ssize_t)n;
}

bool task_sleeps(const struct task *t)
{
	u64 switches;
	return proc_sleeps(t->h, (int)t->copy->pid, (int)t->copy->tid, &switches) &&
	       switches == t->copy->switches;
}

/* ---- the stack ---- */

struct unwind_copy *task_copy(struct task *t)
{
	struct unwind_copy *c = t->copy;
	u64 low = unwind_copy_low(c), below = low & (UNWIND_COPY_PAGE - 1);
	u64 all = c->space - low, want = UNWIND_COPY_STACK - below;
	c->what = UNWIND_IS_COPY;
	c->pages = c->bytes = c->nword = c->lang = 0;
	c->whole = all <= want;
	want = MIN(want, all);
	for (u32 page = 0, at = 0; at < want; page++) {
		u64 left = UNWIND_COPY_PAGE - ((low + at) & (UNWIND_COPY_PAGE - 1));
		u32 n = (u32)MIN(want - at, left);
		if (task_read(t, low + at, c->stack + at, n)) {
			c->pages |= 1u << page;
			c->bytes = at + n;
		}
		at += n;
	}
	return c;
}

void task_read_part(const struct task *t, u64 addr, u8 *to, u32 n)
{
	u32 first = (u32)MIN(n, UNWIND_COPY_PAGE - (addr & (UNWIND_COPY_PAGE - 1)));
	if (task_read(t, addr, to, first) && first < n)
		task_read(t, addr + first, to + first, n - first);
}

void task_read_text(const struct task *t, u64 addr, char *to, size_t n)
{
	task_read_part(t, addr, (u8 *)to, (u32)n);
	size_t length = strnlen(to, n - 1);
	memset(to + length, 0, n - length);
}

/* ---- frames of an interpreter ---- */

struct interp_walk {
	const struct task *t;
	const struct unwind_lang *row;
	u32 lang; /* number */
	u64 base, cursor;
	u8 frame[WORD * UNWIND_FRAME_WORDS];
};

static bool read_word(const struct interp_walk *w, u64 addr, u64 *ret)
{
	return task_read(w->t, addr, ret, sizeof(*ret));
}

/* The word of the frame at that offset. */
static u64 frame_word(const struct interp_walk *w, u32 at)
{
	u64 v;
	memcpy(&v, w->frame + (at & (WORD * (UNWIND_FRAME_WORDS - 1))), sizeof(v));
	return v;
}

/* The address of the pointer to the thread's state, which is not one for the whole process. */
static bool find_pointer(const struct interp_walk *w, u64 *ret)
{
	enum { MODULE_BITS = 16, SLOT_SHIFT = 4, DTV = 8 };
	const struct unwind_lang *row = w->row;
	u64 thread = w->t->copy->thread, word[2], dtv;
	if (row->root == UNWIND_ROOT_TLS) {
		*ret = thread + row->at;
		return true;
	}
	if (!task_read(w->t, w->base + row->at, word, sizeof(word)))
		return false;
	u64 keys = w->t->copy->keys;
	switch (row->root) {
	case UNWIND_ROOT_KEY:
		*ret = keys + (word[0] >> 32 << SLOT_SHIFT);
		return (u32)word[0] && word[0] >> 32 < UNWIND_KEYS;
	case UNWIND_ROOT_BARE_KEY:
		*ret = keys + ((u64)(u32)word[0] << SLOT_SHIFT);
		return (u32)word[0] < UNWIND_KEYS;
	case UNWIND_ROOT_TLS_AT: *ret = thread + word[0]; return true;
	default: break;
	}
	u64 slot = (word[0] & ((1u << MODULE_BITS) - 1)) << SLOT_SHIFT;
	if (!read_word(w, thread + DTV, &dtv) || !read_word(w, dtv + slot, ret))
		return false;
	*ret += word[1] + row->plus;
	return true;
}

static bool find_state(const struct interp_walk *w, u64 *ret)
{
	u64 at;
	*ret = w->base + w->row->at;
	return w->row->root == UNWIND_ROOT_GLOBAL ||
	       (find_pointer(w, &at) && read_word(w, at, ret));
}

static bool find_newest(struct interp_walk *w)
{
	u64 state;
	if (!find_state(w, &state) || !read_word(w, state + w->row->newest, &w->cursor))
		return false;
	return w->row->inner == UNWIND_NOWHERE ||
	       read_word(w, w->cursor + (u64)w->row->inner, &w->cursor);
}

static u64 sign_of(const struct interp_walk *w, u64 is, const u64 *part)
{
	const u64 mix = 0x9e3779b97f4a7c15;
	u64 h = is * mix ^ w->t->copy->space;
	for (u32 i = 0; i < UNWIND_SIGN_WORDS; i++) {
		h = (h ^ part[i]) * mix;
		h ^= h >> 32;
	}
	return h | 1;
}

/* What is said of a function, as programs copy it. */
static void read_code(const struct interp_walk *w, u64 addr, struct unwind_code *raw)
{
	u8 *rec = (u8 *)raw;
	*raw = (struct unwind_code){
		.what = UNWIND_IS_CODE, .addr = addr, .lang = w->lang, .pid = w->t->copy->pid};
	task_read_part(w->t, addr, raw->code, sizeof(raw->code));
	for (u32 i = 0; i < UNWIND_PARTS; i++) {
		const struct unwind_part *p = &w->row->part[i];
		u64 from;
		if (!p->n || p->at > sizeof(*raw) - sizeof(from) ||
		    p->to < offsetof(struct unwind_code, code) || p->to > sizeof(*raw) ||
		    p->n > sizeof(*raw) - p->to)
			continue;
		memcpy(&from, rec + p->at, sizeof(from));
		task_read_part(w->t, from, rec + p->to, p->n);
	}
}

/* Of an instruction of a function whose first one is known, and the word before. */
static u64 line_of(const struct interp_walk *w, u64 instr, u64 first, u64 before)
{
	const struct unwind_lang *row = w->row;
	u64 n = (u32)(before >> (row->count_bit & 63));
	u32 line;
	if (instr - first >= n * row->op_bytes ||
	    !task_read(w->t, instr + row->line, &line, sizeof(line)))
		return UNWIND_NO_INSTR;
	return line;
}

/* is: what stands for the function's address. */
static bool instruction(const struct interp_walk *w, u64 code, u64 *is, u64 *ret)
{
	const struct unwind_lang *row = w->row;
	u64 v = frame_word(w, row->instr), word[2] = {0};
	if (row->within >= UNWIND_WITHIN_CODE &&
	    !task_read(w->t, code + row->first_instr - WORD, word, sizeof(word)))
		return false;
	*is = code;
	switch (row->within) {
	case UNWIND_WITHIN_NONE: v = (u32)v; break;
	case UNWIND_WITHIN_SELF: v -= code; break;
	case UNWIND_WITHIN_LINE:
		*is = word[1];
		v = line_of(w, v, word[1], word[0]);
		break;
	default: v = (v - word[1]) / WORD;
	}
	*ret = MIN(v, (u64)UNWIND_NO_INSTR);
	return true;
}

/* The frame that was read, as a word, and whether its function is native. False: it makes no sense. */
static bool word_of(const struct interp_walk *w, struct langs *l, u64 *ret, bool *native)
{
	u64 code = frame_word(w, w->row->code) & w->row->code_mask, instr, is;
	u64 part[UNWIND_SIGN_WORDS] = {0};
	u32 less = MIN(w->row->sign_less, (u32)sizeof(part));
	if (w->row->body != UNWIND_NOWHERE && !read_word(w, code + (u64)w->row->body, &code))
		return false;
	if (!instruction(w, code, &is, &instr) ||
	    !task_read(w->t, code + w->row->sign, part, sizeof(part) - less))
		return false;
	u64 sign = sign_of(w, is, part);
	*native = w->row->flags != UNWIND_NOWHERE && (u8)part[0] == w->row->native;
	u32 at = langs_own(l, sign);
	if (at == LANGS_NONE) {
		struct unwind_code raw;
		read_code(w, code, &raw);
		raw.sign = sign;
		at = langs_keep(l, &raw);
	}
	if (at == LANGS_NONE)
		return false;
	*ret = UNWIND_WORD | UNWIND_WORD_OWN | at | instr << UNWIND_WORD_INSTR |
	       (u64)w->lang << UNWIND_WORD_LANG;
	return true;
}

/* What the frame at the cursor is. */
struct seen {
	bool shown, last; /* it stands for a function; its native frame ends with it */
	bool over;        /* and no frames are left */
};

static bool read_frame(struct interp_walk *w, struct seen *ret)
{
	const struct unwind_lang *row = w->row;
	u64 flags, here = w->cursor;
	if (!task_read(w->t, here, w->frame, row->frame_bytes))
		return false;
	w->cursor = row->stride ? here + row->stride : frame_word(w, row->previous);
	if (row->flags == UNWIND_NOWHERE) {
		u8 entry = w->frame[row->entry % sizeof(w->frame)];
		bool hidden = entry >= row->hide;
		*ret = (struct seen){!hidden, hidden || entry >= row->last, false};
		return true;
	}
	flags = frame_word(w, (u32)row->flags);
	if (!row->flags_here && !read_word(w, flags, &flags))
		return false;
	bool skip = flags & row->skip_bits, none = !skip && !frame_word(w, row->code);
	*ret = (struct seen){!skip && !none, !none && flags & row->last_bits,
			     (flags & row->over_mask) == row->over};
	return true;
}

static bool walk_perl(const struct interp_walk *w, struct langs *l, struct unwind_copy *copy)
{
	struct perl_walk p = {.t = w->t, .l = l, .lang = w->lang};
	return find_state(w, &p.state) && perl_words(&p, copy);
}

/* False: something could not be read. */
static bool put_words(struct interp_walk *w, struct langs *l, struct unwind_copy *copy)
{
	enum { ROUNDS = 3 * UNWIND_COPY_WORDS };
	struct seen seen;
	bool native = false;
	for (u32 i = 0; i < ROUNDS && w->cursor && copy->nword + 2 <= UNWIND_COPY_WORDS; i++) {
		if (!read_frame(w, &seen))
			return false;
		if (seen.over)
			break;
		if (seen.shown && !word_of(w, l, &copy->word[copy->nword++], &native))
			return false;
		if (seen.last && !native)
			copy->word[copy->nword++] = 0;
	}
	return true;
}

void task_words(struct task *t, struct langs *l, const struct task_lang *at)
{
	u32 lang = at->number - 1;
	struct interp_walk w = {.t = t, .row = &l->mem[lang], .lang = lang, .base = at->base};
	assert(lang < l->n);
	t->copy->lang = t->copy->nword = 0;
	if (!w.row->known) {
		l->unknown[lang]++;
		return;
	}
	t->copy->lang = at->number;
	if (w.row->form == UNWIND_FORM_PERL ? walk_perl(&w, l, t->copy)
					    : find_newest(&w) && put_words(&w, l, t->copy))
		return;
	t->copy->nword = 0;
	l->unread[lang]++;
}

/* ---- all of it ---- */

u32 task_only_words(u64 *frame, u32 n)
{
	u32 kept = 0;
	for (u32 i = 0; i < n; i++)
		if (unwind_is_word(frame[i]))
			frame[kept++] = frame[i];
	return kept;
}

/* A walk by the copy tells which interpreter it is about; one with that one's frames follows. */
u32 task_walk(struct task *t, const struct task_walk *w, u64 *frame, u32 max, enum copy_end *end)
{
	u32 mode = t->copy->mode, n = copy_walk(t->h, t->copy, w->rule, w->arg, frame, max, end);
	if (w->lang->number && mode != STACK_NATIVE) {
		task_words(t, w->langs, w->lang);
		n = copy_walk(t->h, t->copy, w->rule, w->arg, frame, max, end);
	}
	return mode == STACK_LANG ? task_only_words(frame, n) : n;
}
