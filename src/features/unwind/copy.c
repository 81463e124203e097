/* copy.c - one frame after the other; see the header. */
#include "unwind/copy.h"
#include "sym/cfi.h"
#include <string.h>

enum { WORD = 8 };

struct walk {
	const struct host *h;
	const struct unwind_copy *copy;
	u64 ip, sp, fp, back, link;
	u64 kept_at; /* UNWIND_KEPT_... */
	u32 depth;
	u64 ra;     /* what a rule found in a register */
	bool live;  /* .link has the return address */
	bool guess; /* ip was found by a frame pointer that may be none */
	enum copy_end end;
	u64 *frame; /* n of them, up to max */
	u32 n, max;
	u32 word;  /* of the copy's: the next one */
	u32 since; /* frames since the last one in the main loop */
};

static bool has_byte(const struct unwind_copy *c, u64 off)
{
	u64 page = ((unwind_copy_low(c) & (UNWIND_COPY_PAGE - 1)) + off) / UNWIND_COPY_PAGE;
	return off < c->bytes && c->pages >> page & 1;
}

/* What a large copy could have had; where a page is missing there, it was not readable. */
static bool is_beyond(const struct unwind_copy *c, u64 off)
{
	u64 most = UNWIND_COPY_STACK - (unwind_copy_low(c) & (UNWIND_COPY_PAGE - 1));
	return !c->whole && off + WORD > most;
}

/* Far above the copy is no stack, close above it what was not copied. */
static bool word(struct walk *w, u64 addr, u64 *ret)
{
	enum { CLOSE = 1 << 30 };
	const struct unwind_copy *c = w->copy;
	u64 off = addr - unwind_copy_low(c);
	if (!has_byte(c, off) || !has_byte(c, off + WORD - 1)) {
		w->end = off < CLOSE && is_beyond(c, off) ? COPY_CUT : COPY_READ;
		return false;
	}
	memcpy(ret, c->stack + off, WORD);
	return true;
}

bool copy_read(const struct unwind_copy *c, u64 addr, void *to, size_t n)
{
	u64 off = addr - unwind_copy_low(c);
	if (!n || off > c->bytes || !has_byte(c, off) || !has_byte(c, off + n - 1) ||
	    n > UNWIND_COPY_PAGE)
		return false;
	memcpy(to, c->stack + off, n);
	return true;
}

static bool signal_frame(struct walk *w)
{
	const struct arch_unwind *u = &w->h->arch->unwind;
	u64 sp = w->sp;
	w->back = 0;
	w->depth = UNWIND_AWAY;
	w->kept_at = sp + u->signal_kept;
	w->live = u->link;
	return (!u->link || word(w, sp + u->signal_link, &w->link)) &&
	       word(w, sp + u->signal_fp, &w->fp) && word(w, sp + u->signal_ip, &w->ip) &&
	       word(w, sp + u->signal_sp, &w->sp);
}

/* Where a register points to, as far as it is known. */
static bool reg_value(struct walk *w, u32 reg, u64 *ret)
{
	bool kept = reg == w->h->arch->unwind.kept;
	*ret = w->copy->reg[reg];
	if (kept && w->kept_at != UNWIND_KEPT_IN_REG)
		return word(w, w->kept_at, ret);
	w->end = COPY_FILE;
	return kept || unwind_reg_is_known(reg, w->depth);
}

/* Where the frame begins. */
static bool find_frame(struct walk *w, u32 rule, u64 *frame)
{
	u64 off = (u64)(i64)unwind_words(rule) * WORD;
	bool link = w->h->arch->unwind.link;
	switch (unwind_kind(rule)) {
	case UNWIND_SP: *frame = w->sp + off; return true;
	case UNWIND_FP:
	case UNWIND_FP_AWAY: *frame = w->fp + off; return true;
	case UNWIND_FP_AT: *frame = w->fp + off; return link || word(w, *frame, frame);
	case UNWIND_SP_AT: *frame = w->sp + off; return link || word(w, *frame, frame);
	case UNWIND_SP_AT_8:
		if (!word(w, w->sp + off, frame))
			return false;
		*frame += WORD;
		return true;
	case UNWIND_REG:
		if (!reg_value(w, unwind_reg(rule), frame))
			return false;
		*frame += (u64)(i64)unwind_reg_words(rule) * WORD;
		return true;
	case UNWIND_RA_REG:
		*frame = w->sp + (u64)(i64)unwind_reg_words(rule) * WORD;
		return reg_value(w, unwind_reg(rule), &w->ra);
	case UNWIND_PLT:
		*frame = w->sp + WORD + ((w->ip & 15) >= (u64)unwind_words(rule) ? WORD : 0);
		return true;
	case UNWIND_JAVA: return word(w, w->fp - WORD, frame);
	case UNWIND_NONE:
	case UNWIND_END:
	case UNWIND_SIGNAL:
	case UNWIND_UNKNOWN: break;
	}
	w->end = unwind_kind(rule) == UNWIND_END ? COPY_END : COPY_FILE;
	return false;
}

/* The caller's frame pointer and the return address. */
static bool read_caller(struct walk *w, u32 rule, u64 frame, u64 *fp, u64 *ip)
{
	u32 kept = unwind_kept(rule);
	*ip = w->ra;
	if (unwind_kind(rule) == UNWIND_RA_REG)
		return true;
	if (kept != UNWIND_KEPT_SAME)
		w->kept_at = kept == UNWIND_KEPT_LOST ? UNWIND_KEPT_NOWHERE : frame - kept * WORD;
	if (unwind_kind(rule) == UNWIND_JAVA)
		return word(w, w->fp, fp) && word(w, w->fp + WORD, ip);
	switch (unwind_fp(rule)) {
	case UNWIND_FP_SAME: break;
	case UNWIND_FP_LOST: *fp = 0; break;
	case UNWIND_FP_HERE:
		if (!word(w, w->fp, fp))
			return false;
		break;
	default:
		if (!word(w, frame - (u64)unwind_fp(rule) * WORD, fp))
			return false;
	}
	return word(w, frame - WORD, ip);
}

/* The same where calls leave the return address in a register: UNWIND_LINK_LIVE. */
static bool read_caller_by_link(struct walk *w, u32 rule, u64 frame, u64 *fp, u64 *ip)
{
	u32 where = unwind_link(rule), odd = where & 1;
	u64 words = odd ? (where + 1) / 2 : where, at = frame - words * WORD;
	*ip = w->link;
	if (where == UNWIND_LINK_LIVE) {
		w->end = w->live ? COPY_END : COPY_READ;
		return w->live;
	}
	if (unwind_kind(rule) >= UNWIND_FP_AT) /* counted up from the register */
		at = frame + (words + odd - 2 - (u64)(i64)unwind_words(rule)) * WORD;
	return odd ? word(w, at, ip) : word(w, at, fp) && word(w, at + WORD, ip);
}

static bool find_caller(struct walk *w, u32 rule, u64 frame)
{
	bool link = w->h->arch->unwind.link, away = unwind_kind(rule) == UNWIND_FP_AWAY;
	bool stays = link || unwind_kind(rule) == UNWIND_RA_REG; /* it may have no frame */
	u64 fp = w->fp, ip;
	if (!away && frame < w->sp + !stays) { /* stacks grow downwards: else it is no stack */
		w->end = COPY_READ;
		return false;
	}
	if (!(link ? read_caller_by_link : read_caller)(w, rule, frame, &fp, &ip)) {
		if (away) /* that stack was not copied */
			w->end = COPY_CUT;
		return false;
	}
	w->ip = ip & ~w->h->signed_bits;
	w->sp = frame;
	w->fp = fp;
	w->back = 1;
	w->depth = MAX(w->depth, (u32)UNWIND_CALLERS);
	w->live = false;
	return w->ip != 0;
}

/* The last frame is in the main loop of an interpreter. */
static void put_words(struct walk *w)
{
	const struct unwind_copy *c = w->copy;
	u32 end = MIN(c->nword, (u32)UNWIND_COPY_WORDS), n = w->n - 1;
	u32 from = w->word;
	for (; w->word < end && c->word[w->word]; w->word++)
		if (n < w->max)
			w->frame[n++] = c->word[w->word];
	w->n = w->word > from ? n : w->n; /* none: it stays */
	w->word++;
}

/* All that are left stand before the last frame, as far as there is room. */
static void put_rest(struct walk *w)
{
	const struct unwind_copy *c = w->copy;
	u32 end = MIN(c->nword, (u32)UNWIND_COPY_WORDS);
	u64 last = w->frame[w->n - 1];
	w->n--;
	for (; w->word < end; w->word++)
		if (c->word[w->word] && w->n < w->max)
			w->frame[w->n++] = c->word[w->word];
	if (w->n < w->max)
		w->frame[w->n++] = last;
}

static bool step(struct walk *w, copy_rule *find, void *arg)
{
	struct copy_code code = {.fp = w->fp, .sp = w->sp, .leaf = w->depth == UNWIND_LEAF};
	u64 frame;
	w->end = COPY_END;
	if (!find(arg, w->ip - w->back, &code)) {
		w->end = COPY_CODE;
		return false;
	}
	if (code.word && w->n)
		w->frame[w->n - 1] = code.word;
	bool is_lang = w->n && code.lang && code.lang == w->copy->lang;
	bool in_loop = is_lang && !code.program;
	if (is_lang && code.program)
		put_rest(w);
	if (in_loop && !(code.nests && w->since == 1))
		put_words(w);
	w->since = in_loop ? 0 : w->since + 1;
	u32 rule = code.rule;
	w->guess = unwind_kind(rule) == UNWIND_NONE;
	if (w->guess)
		rule = unwind_by_fp(w->h->arch->unwind.link);
	if (unwind_kind(rule) == UNWIND_SIGNAL)
		return signal_frame(w);
	return find_frame(w, rule, &frame) && find_caller(w, rule, frame);
}

bool copy_sound(const void *record, size_t size)
{
	const struct unwind_copy *c = record;
	return size >= sizeof(*c) && c->bytes <= size - sizeof(*c) && c->bytes <= UNWIND_COPY_STACK;
}

u32 copy_walk(const struct host *h, const struct unwind_copy *c, copy_rule *rule, void *arg,
	      u64 *frame, u32 max, enum copy_end *end)
{
	struct walk w = {.h = h,
			 .copy = c,
			 .ip = c->ip,
			 .sp = c->sp,
			 .fp = c->fp,
			 .back = c->back,
			 .link = c->link,
			 .live = c->live,
			 .depth = c->depth,
			 .frame = frame,
			 .max = max,
			 .since = max};
	struct copy_code unused = {0};
	if (c->first && max)
		frame[w.n++] = c->ip;
	while (step(&w, rule, arg) && w.n < max) {
		if (w.guess && !rule(arg, w.ip - 1, &unused)) { /* no call led here */
			w.end = COPY_FILE;
			break;
		}
		frame[w.n++] = w.ip;
	}
	*end = w.n == max ? COPY_END : w.end;
	return w.n;
}
