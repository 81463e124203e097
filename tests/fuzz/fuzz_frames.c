/*
 * Any bytes as the memory of a process of an interpreter, and as the layout that its file has: frames of each language
 * as user space reads them (unwind/task.c, perl.c, v8.c, java.c), and what the words that come of them are called.
 */
#include "arch/arch.h"
#include "sym/cfi.h"
#include "unwind/java.h"
#include "unwind/perl.h"
#include "unwind/task.h"
#include "unwind/v8.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

enum { MEMORY = 1 << 14, WORD = 8 };

struct input {
	struct bytes b;
	u8 how;
};

/* Over and over, so that a short input does, too. */
static u64 take_word(struct input *in)
{
	u64 v = 0;
	u8 *p = (u8 *)&v;
	for (u32 i = 0; i < sizeof(v); i++) {
		if (in->b.at == in->b.n)
			in->b.at = 0;
		p[i] = bytes_u8(&in->b);
	}
	return v;
}

/* An address that may be one of the memory, or any. */
static u64 take_address(struct input *in)
{
	u64 v = take_word(in);
	return in->how & 1 ? v : v % MEMORY;
}

/* Half of the numbers are small, else hardly any would lead anywhere. */
static void take_numbers(struct input *in, void *to, size_t n)
{
	u8 *p = to;
	for (size_t i = 0; i + sizeof(u64) <= n; i += sizeof(u64)) {
		u64 v = take_word(in);
		if (!(in->how & 2))
			v &= 0xff000000ff;
		memcpy(p + i, &v, sizeof(v));
	}
}

/* What the child that reads files, and the row of Java, see to (is_sound() of unwind/lang.c, take_sizes() of
 * interp/java.c). */
static void make_sound(struct unwind_lang *l, u32 form)
{
	l->known = 1;
	l->form = form;
	l->root %= UNWIND_ROOT_MAX + 1;
	l->frame_bytes %= 8 * UNWIND_FRAME_WORDS + 1;
	if (form != UNWIND_FORM_JAVA)
		return;
	struct unwind_java *j = &l->java;
	u32 *of_blob[] = {&j->name, &j->frame_size, &j->complete, &j->code, &j->method};
	u32 *of_part[] = {&j->constants, &j->name_index,  &j->code_size, &j->flags,
			  &j->holder,    &j->pool_length, &j->file_index};
	for (u32 i = 0; i < countof(of_blob); i++)
		*of_blob[i] %= JAVA_BLOB_BYTES - WORD + 1;
	for (u32 i = 0; i < countof(of_part); i++)
		*of_part[i] %= JAVA_PART - WORD + 1;
	j->const_bytes %= JAVA_PART + 1;
	j->pool_bytes %= JAVA_PART + 1;
}

static u32 form_of(const struct interp *is)
{
	static const struct {
		const char *name;
		u32 form;
	} forms[] = {{"perl", UNWIND_FORM_PERL},
		     {"javascript", UNWIND_FORM_V8},
		     {"java", UNWIND_FORM_JAVA}};
	for (u32 i = 0; i < countof(forms); i++)
		if (!strcmp(is->name, forms[i].name))
			return forms[i].form;
	return 0;
}

/* Words that lead into the memory, unless they say otherwise. */
static void fill_memory(struct input *in, int mem)
{
	static u64 page[MEMORY / WORD];
	for (u32 i = 0; i < countof(page); i++) {
		page[i] = take_word(in);
		if (!(in->how & 4) && !(page[i] >> 56 & 1))
			page[i] %= MEMORY;
	}
	if (pwrite(mem, page, sizeof(page), 0) != (ssize_t)sizeof(page))
		abort();
}

static void take_native(struct input *in, struct langs *l, u32 lang, const struct task *t)
{
	struct unwind_piece heap[JAVA_HEAPS];
	u64 base = take_address(in), fp = t->copy->fp;
	if (l->mem[lang].form == UNWIND_FORM_V8) {
		struct v8_frame f = {t,           t->copy, l,           lang,
				     t->copy->ip, fp,      in->how & 8, take_address(in)};
		t->copy->word[t->copy->nword++] = v8_word(&f);
		return;
	}
	u32 n = java_heaps(l, lang, t, base, heap);
	for (u32 i = 0; i < MIN(n, 2u); i++) {
		struct java_frame f = {t,           t->copy, l,           &heap[i],
				       t->copy->ip, fp,      t->copy->sp, in->how & 8};
		struct copy_code code = {0};
		java_frame(&f, true, &code);
		if (unwind_kind(code.rule) > UNWIND_KIND_MAX)
			abort();
		t->copy->word[t->copy->nword++] = code.word;
	}
}

static void take_frames(struct input *in, struct langs *l, u32 lang, struct task *t)
{
	struct interp_frame frame;
	struct unwind_copy *c = task_copy(t);
	if (langs_native(l, lang + 1) || langs_java(l, lang + 1))
		take_native(in, l, lang, t);
	else
		task_words(t, l, &(struct task_lang){lang + 1, take_address(in)});
	if (c->nword > UNWIND_COPY_WORDS)
		abort();
	for (u32 i = 0; i < c->nword; i++)
		if (c->word[i] &&
		    (!unwind_is_word(c->word[i]) || !langs_frame(l, c->word[i], &frame)))
			abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static struct unwind_langs mem;
	static int memory = -1;
	const struct host h = {.arch = &arch_x86_64};
	struct input in = {.b = bytes_of(data, n)};
	struct langs l = {0};
	struct unwind_copy head = {0};
	u32 rows = 0, lang = 0;
	if (n < 2)
		return 0;
	if (memory < 0)
		memory = memfd_create("fuzz", 0);
	while (interps[rows])
		rows++;
	lang = bytes_u8(&in.b) % rows;
	in.how = bytes_u8(&in.b);
	langs_init(&l, &mem);
	l.n = rows;
	for (u32 i = 0; i < rows; i++)
		l.file[i].is = interps[i];
	take_numbers(&in, &mem.lang[lang], sizeof(mem.lang[lang]));
	make_sound(&mem.lang[lang], form_of(interps[lang]));
	take_numbers(&in, l.file[lang].file.own, sizeof(l.file[lang].file.own));
	l.file[lang].file.lang = mem.lang[lang];
	head.ip = take_address(&in);
	head.sp = take_address(&in);
	head.fp = take_address(&in);
	head.thread = take_address(&in);
	head.space = take_address(&in);
	struct task t = {.h = (struct host *)&h, .mem = memory};
	t.copy = calloc(1, sizeof(head) + UNWIND_COPY_STACK);
	memcpy(t.copy, &head, offsetof(struct unwind_copy, word));
	fill_memory(&in, memory);
	take_frames(&in, &l, lang, &t);
	free(t.copy);
	langs_free(&l);
	return 0;
}
