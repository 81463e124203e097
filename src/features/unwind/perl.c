/* perl.c - Perl's functions of a thread that sleeps; see the header. unwind/walk_perl.c does the same
 * in programs. */
#include "unwind/perl.h"
#include "core/perl.h"
#include "unwind/task.h"
#include <string.h>

enum { WORD = 8, TEXT_BYTES = 128 };

struct walk {
	const struct perl_walk *p;
	const struct unwind_lang *row;
	struct unwind_copy *copy;
	u64 base, before, cop; /* as struct walk of unwind/walk.h has them */
	i32 at;
	bool bare, used, ended, idle, over;
	u8 cx[PERL_CX_BYTES];
};

static bool read_word(const struct walk *w, u64 addr, u64 *ret)
{
	return task_read(w->p->t, addr, ret, sizeof(*ret));
}

static u64 cx_word(const struct walk *w, u32 at)
{
	u64 v;
	memcpy(&v, w->cx + at, sizeof(v));
	return v;
}

static bool enter(struct walk *w, u64 info)
{
	u8 raw[PERL_SI_BYTES];
	i32 any;
	if (!task_read(w->p->t, info, raw, sizeof(raw)))
		return false;
	memcpy(&w->base, raw + PERL_SI_BASE, sizeof(w->base));
	memcpy(&w->before, raw + PERL_SI_PREVIOUS, sizeof(w->before));
	memcpy(&w->at, raw + PERL_SI_NEWEST, sizeof(w->at));
	memcpy(&any, raw + PERL_SI_ANY, sizeof(any));
	w->bare = any >= 0 && w->at < 0;
	return true;
}

static bool begin(struct walk *w)
{
	u64 state = w->p->state, op, info;
	if (!read_word(w, state + w->row->op, &op) ||
	    !read_word(w, state + w->row->statement, &w->cop) ||
	    !read_word(w, state + w->row->newest, &info))
		return false;
	w->idle = !op;
	return enter(w, info);
}

/* ---- one frame ---- */

/* The line and the address of the file's name. */
static bool statement(const struct walk *w, u32 *line, u64 *file)
{
	u64 parts, scalar;
	if (!task_read(w->p->t, w->cop + PERL_COP_LINE, line, sizeof(*line)) ||
	    !read_word(w, w->cop + PERL_COP_FILE, file))
		return false;
	*line = MIN(*line, (u32)UNWIND_NO_INSTR);
	return !w->row->file_in_gv ||
	       (read_word(w, *file + PERL_VALUE, &parts) && read_word(w, parts, &scalar) &&
		read_word(w, scalar + PERL_VALUE, file));
}

static u64 sign_of(const struct walk *w, enum perl_frame kind, u64 code, u64 file)
{
	const u64 mix = 0x9e3779b97f4a7c15;
	u64 part[3] = {0}, text[TEXT_BYTES / WORD] = {0};
	u64 h = kind * mix ^ w->copy->space;
	if (kind == PERL_FRAME_SUB)
		task_read(w->p->t, code + PERL_CV_START, part, sizeof(part));
	task_read_text(w->p->t, file, (char *)text, sizeof(text));
	for (u32 i = 0; i < countof(part) + countof(text); i++) {
		h = (h ^ (i < countof(part) ? part[i] : text[i - countof(part)])) * mix;
		h ^= h >> 32;
	}
	return h | 1;
}

static u64 package_name(const struct walk *w, u64 stash)
{
	u64 hash = 0, aux, items = 0, array = 0, name = 0, count = 0;
	read_word(w, stash + PERL_ANY, &hash);
	aux = hash + PERL_HV_BYTES;
	if (w->row->aux_behind && read_word(w, hash + PERL_HV_MAX, &items) &&
	    read_word(w, stash + PERL_VALUE, &array))
		aux = array + WORD * (items + 1);
	if (read_word(w, aux + PERL_AUX_NAME, &name) &&
	    read_word(w, aux + PERL_AUX_COUNT, &count) && (u32)count && !read_word(w, name, &name))
		name = 0;
	return name;
}

static void read_names(const struct walk *w, u64 code, struct unwind_code *raw)
{
	u64 flags = 0, name = 0, stash = 0, gv = 0, any = 0;
	read_word(w, code + PERL_CV_FLAGS, &flags);
	read_word(w, code + PERL_CV_GV, &gv);
	if (flags & PERL_CV_NAMED) {
		name = gv;
		read_word(w, code + PERL_CV_STASH, &stash);
	} else if (read_word(w, gv + PERL_ANY, &any)) {
		read_word(w, any + PERL_GV_NAME, &name);
		read_word(w, any + PERL_GV_STASH, &stash);
	}
	task_read_part(w->p->t, name, raw->name, PERL_NAME_BYTES);
	task_read_part(w->p->t, package_name(w, stash), raw->name + PERL_NAME_BYTES,
		       PERL_NAME_BYTES);
}

static bool put(struct walk *w, enum perl_frame kind)
{
	u64 code = kind, file, sign;
	u32 line;
	if (!statement(w, &line, &file) ||
	    (kind == PERL_FRAME_SUB && !read_word(w, cx_word(w, PERL_CX_CV) + PERL_ANY, &code)))
		return false;
	sign = sign_of(w, kind, code, file);
	u32 at = langs_own(w->p->l, sign);
	if (at == LANGS_NONE) {
		struct unwind_code raw = {.what = UNWIND_IS_CODE,
					  .addr = code,
					  .lang = w->p->lang,
					  .pid = w->copy->pid,
					  .sign = sign};
		task_read_part(w->p->t, file, raw.file, sizeof(raw.file));
		if (kind == PERL_FRAME_SUB)
			read_names(w, code, &raw);
		at = langs_keep(w->p->l, &raw);
	}
	if (at == LANGS_NONE)
		return false;
	w->copy->word[w->copy->nword++] = UNWIND_WORD | UNWIND_WORD_OWN | at |
					  (u64)line << UNWIND_WORD_INSTR |
					  (u64)w->p->lang << UNWIND_WORD_LANG;
	return true;
}

static enum perl_frame kind_of(u8 type)
{
	switch (type & PERL_TYPE_MASK) {
	case PERL_EVAL:
		return type & (PERL_STRING | PERL_BLOCK) ? PERL_FRAME_EVAL : PERL_FRAME_FILE;
	case PERL_FORMAT: return PERL_FRAME_FORMAT;
	default: return PERL_FRAME_SUB;
	}
}

/* ---- a round ---- */

static bool end_call(struct walk *w)
{
	w->ended = false;
	if (w->idle) {
		w->idle = false;
		return true;
	}
	w->used = false;
	w->copy->word[w->copy->nword++] = 0;
	return true;
}

static bool end_stack(struct walk *w)
{
	bool end = w->used || w->bare;
	if (w->before)
		return enter(w, w->before) && (!end || end_call(w));
	if (w->ended)
		return end_call(w);
	w->over = true;
	return put(w, PERL_FRAME_MAIN);
}

static bool is_bare_eval(const struct walk *w)
{
	return (w->cx[PERL_CX_TYPE] & (PERL_TYPE_MASK | PERL_BLOCK)) == (PERL_EVAL | PERL_BLOCK) &&
	       !cx_word(w, PERL_CX_RETURN);
}

static bool walk_on(struct walk *w)
{
	if (w->at < 0)
		return end_stack(w);
	if (!task_read(w->p->t, w->base + (u64)w->at * PERL_CX_BYTES, w->cx, sizeof(w->cx)))
		return false;
	if (w->ended &&
	    (!(w->cx[PERL_CX_TYPE] & (PERL_BLOCK | PERL_HIDDEN)) || cx_word(w, PERL_CX_RETURN)))
		return end_call(w);
	i32 index = w->at;
	memcpy(&w->at, w->cx + PERL_CX_BEFORE, sizeof(w->at));
	if (!(w->cx[PERL_CX_TYPE] & PERL_HIDDEN)) {
		if (!put(w, kind_of(w->cx[PERL_CX_TYPE])))
			return false;
		w->cop = cx_word(w, PERL_CX_COP);
	}
	if (w->ended)
		return end_call(w);
	/* An eval that is alone in its stackinfo is one of call_sv(), which has not called yet, or no more. */
	w->ended = !cx_word(w, PERL_CX_RETURN) && !is_bare_eval(w);
	w->used |= index || !is_bare_eval(w);
	return true;
}

bool perl_words(const struct perl_walk *p, struct unwind_copy *copy)
{
	enum { ROUNDS = 3 * UNWIND_COPY_WORDS };
	struct walk w = {.p = p, .row = &p->l->mem[p->lang], .copy = copy};
	bool good = begin(&w);
	for (u32 i = 0; good && i < ROUNDS && !w.over && copy->nword + 2 <= UNWIND_COPY_WORDS; i++)
		good = walk_on(&w);
	return good;
}
