/* lang.c - interpreters and their functions; see the header. */
#include "unwind/lang.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "proc/proc.h"
#include "report/loss.h"
#include <unistd.h>

enum { MAX_BYTES = 32 << 20 }; /* of names */

void langs_init(struct langs *l, struct unwind_langs *mem)
{
	l->mem = mem->lang;
	l->file = arena_newn(&l->arena, struct lang_file, UNWIND_LANGS);
	l->code = arena_newn(&l->arena, struct lang_code *, UNWIND_CODES);
}

void langs_free(struct langs *l)
{
	tab_free(&l->texts);
	tab_free(&l->own_by_sign);
	tab_free(&l->kept);
	vec_free(&l->own);
	arena_free(&l->scratch);
	arena_free(&l->arena);
}

/* ---- files ---- */

static u32 rows(void)
{
	u32 n = 0;
	while (interps[n])
		n++;
	return n;
}

/* In the child: {number of the row, base, path}. */
static struct err *answer_interp(struct job *j)
{
	struct image im;
	struct interp_file f;
	u32 row = bytes_u32(&j->args);
	u64 base = bytes_u64(&j->args);
	struct str path = unpack_str(&j->args);
	if (!j->nfile || row >= rows())
		return err_new("there is no file");
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	if (interps[row]->find(&im, path, base, &f))
		sb_mem(&j->out, &f, sizeof(f));
	image_close(&im);
	return NULL;
}

/* A number that programs, or rows, rely on; other offsets lead nowhere but into the process. */
static bool is_sound(const struct interp_file *f)
{
	const struct unwind_lang *l = &f->lang;
	bool learnt = l->form != UNWIND_FORM_JAVA ||
		      !l->known; /* what the file has not cannot be known */
	return learnt && l->known <= 1 && l->root <= UNWIND_ROOT_MAX &&
	       l->form <= UNWIND_FORM_MAX && l->frame_bytes <= 8 * UNWIND_FRAME_WORDS &&
	       memchr(f->label, 0, sizeof(f->label));
}

static struct str base_name(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_from(path, i);
	return path;
}

/* What a file says of itself; false: it is none of this language. */
static bool ask_file(u32 row, struct str path, u64 base, cfi_ask *ask, void *arg,
		     struct interp_file *ret)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_u32(&args, row);
	pack_u64(&args, base);
	pack_str(&args, path);
	struct err *e = ask(arg, answer_interp, sb_str(&args), &out);
	bool is = !e && out.n == sizeof(*ret);
	if (is)
		memcpy(ret, out.s, sizeof(*ret));
	err_free(e);
	return is && is_sound(ret);
}

bool langs_may_be(struct str path)
{
	for (u32 i = 0; interps[i]; i++)
		if (str_find(base_name(path), str_z(interps[i]->in_name)) >= 0)
			return true;
	return false;
}

u32 langs_file(struct langs *l, struct str path, u64 base, cfi_ask *ask, void *arg)
{
	struct interp_file f;
	for (u32 i = 0; interps[i]; i++) {
		if (str_find(base_name(path), str_z(interps[i]->in_name)) < 0 ||
		    !ask_file(i, path, base, ask, arg, &f))
			continue;
		if (l->n == UNWIND_LANGS) {
			l->no_file++;
			return 0;
		}
		l->file[l->n] = (struct lang_file){interps[i], f};
		l->mem[l->n] = f.lang;
		return ++l->n;
	}
	return 0;
}

bool langs_in_loop(const struct langs *l, u32 number, u32 pc)
{
	const struct unwind_range *loop = number ? l->mem[number - 1].loop : NULL;
	for (u32 i = 0; loop && i < countof(l->mem->loop); i++)
		if (pc - loop[i].from < loop[i].n)
			return true;
	return false;
}

bool langs_in_program(const struct langs *l, u32 number, u32 pc)
{
	return number && pc - l->mem[number - 1].program.from < l->mem[number - 1].program.n;
}

bool langs_nest(const struct langs *l, u32 number)
{
	return number && l->mem[number - 1].form == UNWIND_FORM_PERL;
}

bool langs_native(const struct langs *l, u32 number)
{
	return number && l->mem[number - 1].form == UNWIND_FORM_V8;
}

bool langs_java(const struct langs *l, u32 number)
{
	return number && l->mem[number - 1].form == UNWIND_FORM_JAVA;
}

/* ---- functions ---- */

static struct str keep(struct langs *l, struct str s)
{
	const struct str *have = tab_get(&l->texts, s);
	if (have)
		return *have;
	struct str *copy = arena_new(&l->arena, struct str);
	*copy = arena_str(&l->arena, s);
	tab_add(&l->texts, *copy, copy);
	l->bytes += s.n + sizeof(*copy);
	return *copy;
}

struct process {
	struct langs *l;
	int mem;
	u32 pid;
};
struct memo {
	u64 key[2]; /* process, address */
	struct str text;
};

static bool read_process(void *arg, u64 addr, void *to, size_t n)
{
	const struct process *p = arg;
	return addr <= INT64_MAX && pread(p->mem, to, n, (off_t)addr) == (ssize_t)n;
}

static bool kept_text(void *arg, u64 addr, struct str *ret)
{
	const struct process *p = arg;
	u64 key[2] = {p->pid, addr};
	const struct memo *k = tab_get(&p->l->kept, (struct str){(const char *)key, sizeof(key)});
	if (k)
		*ret = k->text;
	return k != NULL;
}

static struct str keep_text(void *arg, u64 addr, struct str text)
{
	struct process *p = arg;
	struct memo *k = arena_new(&p->l->arena, struct memo);
	*k = (struct memo){{p->pid, addr}, arena_str(&p->l->arena, text)};
	tab_add(&p->l->kept, (struct str){(const char *)k->key, sizeof(k->key)}, k);
	p->l->bytes += sizeof(*k) + text.n;
	return k->text;
}

/* What is not in the copy, if the process still runs. False: it is worth another try. */
static bool read_more(struct langs *l, const struct lang_file *f, const struct unwind_code *raw,
		      struct interp_code *ret)
{
	struct process p = {.l = l, .pid = raw->pid};
	struct interp_memory m = {&p, read_process, kept_text, keep_text};
	if (!f->is->more || !l->h)
		return true;
	p.mem = proc_memory(l->h, (int)raw->pid);
	if (p.mem < 0)
		return true;
	bool done = f->is->more(&f->file, raw, &m, &l->scratch, ret);
	close(p.mem);
	return done;
}

static void keep_texts(struct langs *l, struct interp_code *c)
{
	c->name = keep(l, c->name);
	c->file = keep(l, c->file);
	c->lines = keep(l, c->lines);
	c->inlined = keep(l, c->inlined);
}

/* Of a function whose process was just changing what is said of it. */
static void try_again(struct langs *l, struct lang_code *c)
{
	enum { TRIES = 100 };
	bool done = read_more(l, &l->file[c->lang], c->again, &c->is);
	keep_texts(l, &c->is);
	arena_reset(&l->scratch);
	if (done || ++c->tries == TRIES)
		c->again = NULL;
}

/* NULL: there is no room. */
static struct lang_code *take_apart(struct langs *l, const struct unwind_code *raw)
{
	struct interp_code c;
	if (l->bytes > MAX_BYTES) {
		l->no_room++;
		return NULL;
	}
	const struct lang_file *f = &l->file[raw->lang];
	f->is->code(&f->file, raw, &l->scratch, &c);
	bool done = read_more(l, f, raw, &c);
	struct lang_code *kept = arena_new(&l->arena, struct lang_code);
	keep_texts(l, &c);
	*kept = (struct lang_code){.sign = raw->sign, .lang = raw->lang, .is = c};
	if (!done) {
		kept->again = arena_new(&l->arena, struct unwind_code);
		*kept->again = *raw;
		l->bytes += sizeof(*raw);
	}
	l->bytes += sizeof(*kept);
	l->ncode++;
	arena_reset(&l->scratch);
	return kept;
}

void langs_take(struct langs *l, const void *record, size_t size)
{
	const struct unwind_code *raw = record;
	if (size < sizeof(*raw) || raw->lang >= l->n || raw->slot >= UNWIND_CODES)
		return;
	if (!l->code[raw->slot])
		l->code[raw->slot] = take_apart(l, raw);
}

static struct str sign_key(const u64 *sign)
{
	return (struct str){(const char *)sign, sizeof(*sign)};
}

u32 langs_own(const struct langs *l, u64 sign)
{
	const u32 *at = tab_get(&l->own_by_sign, sign_key(&sign));
	return at ? *at : LANGS_NONE;
}

u32 langs_keep(struct langs *l, const struct unwind_code *raw)
{
	assert(raw->lang < l->n);
	struct lang_code *c = l->own.n < UNWIND_CODES ? take_apart(l, raw) : NULL;
	if (!c)
		return LANGS_NONE;
	u32 *at = arena_new(&l->arena, u32);
	*at = l->own.n;
	vec_add(&l->own, c);
	tab_add(&l->own_by_sign, sign_key(&c->sign), at);
	return *at;
}

static struct lang_code *code_of(const struct langs *l, u64 word)
{
	u32 at = word & (UNWIND_CODES - 1);
	if (word & UNWIND_WORD_OWN)
		return at < l->own.n ? l->own.v[at] : NULL;
	return l->code[at];
}

bool langs_frame(struct langs *l, u64 word, struct interp_frame *ret)
{
	u32 lang = word >> UNWIND_WORD_LANG & (UNWIND_LANGS - 1);
	struct lang_code *c = code_of(l, word);
	*ret = (struct interp_frame){0};
	if (lang >= l->n)
		return false;
	const struct lang_file *f = &l->file[lang];
	ret->language = str_z(f->is->name);
	ret->label = str_z(f->file.label);
	if (!c || c->lang != lang)
		return false;
	if (c->again)
		try_again(l, c);
	ret->name = c->is.name;
	ret->file = c->is.file;
	ret->hidden = c->is.hidden;
	u32 instr = word >> UNWIND_WORD_INSTR & UNWIND_NO_INSTR;
	ret->line = f->is->line(&f->file, &c->is, instr);
	if (f->is->inlined) {
		AUTO_SB b = {0};
		f->is->inlined(&c->is, instr, &b);
		ret->inlined = b.n ? keep(l, sb_str(&b)) : STR("");
	}
	return true;
}

void langs_report(const struct langs *l, struct reporter *r, const u64 *lost)
{
	static const u64 none[UNWIND_LANGS];
	const struct {
		u32 first;
		const char *why;
		const u64 *own; /* of those that user space read */
	} reason[] = {
		{UNWIND_LOST_LAYOUT, "unknown layout", l->unknown},
		{UNWIND_LOST_FRAMES, "they could not be read", l->unread},
		{UNWIND_LOST_NAMES, "too many functions", none},
	};
	for (u32 i = 0; i < l->n; i++) {
		const struct lang_file *f = &l->file[i];
		for (u32 k = 0; k < countof(reason); k++) {
			u64 n = lost[reason[k].first + i] + reason[k].own[i];
			const char *why = reason[k].why;
			AUTO_SB who = {0};
			AUTO_SB b = {0};
			if (!n)
				continue;
			if (!k && l->mem[i].known) /* a file need not tell it, but a process does */
				why = "their layout had not been read yet";
			sb_fmt(&who, "%s: %s", f->file.label, why);
			sb_fmt(&b, "%llu stack%s of %s without %s frames: %s", n, n == 1 ? "" : "s",
			       f->file.label, f->is->title, why);
			loss_put(r, LOSS_CUT_STACKS, sb_str(&who), n, sb_str(&b));
		}
	}
}
