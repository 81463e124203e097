/* query_names.c - see query_names.h. */
#include "run/query_names.h"
#include "core/unwind.h"

enum { MAX_CODES = 1 << 24 };

struct frame_key {
	u64 addr;
	u32 pid, pad;
};
struct known_frame {
	struct frame_key key;
	struct symbol sym;
};

void query_names_free(struct query_names *n)
{
	tab_free(&n->known);
	tab_free(&n->codes);
	vec_free(&n->code);
	arena_free(&n->a);
}

static struct str key_text(const struct frame_key *k)
{
	return str_n((const char *)k, sizeof(*k));
}

/* Files have paths; an interpreter has a name, as "python3.11". */
static bool is_label(const struct rec_mapping *m)
{
	return m && m->path.n && str_chr(m->path, '/') < 0 && m->path.s[0] != '[';
}

/* Recordings of the first versions do not name the language. */
bool query_names_is_code(const struct rec_frame *f, const struct rec_mapping *m)
{
	return f->language.n || (!f->addr && !(f->flags & FRAME_KERNEL) && f->sym.n && is_label(m));
}

/* "python" of "python3.11" */
static struct str language_of(const struct rec_frame *f, const struct rec_mapping *m)
{
	u32 n = 0;
	if (f->language.n)
		return f->language;
	while (n < m->path.n && m->path.s[n] >= 'a' && m->path.s[n] <= 'z')
		n++;
	return str_n(m->path.s, n);
}

u64 query_names_note_code(struct query_names *n, const struct rec_frame *f,
			  const struct rec_mapping *m)
{
	struct interp_frame is = {.name = f->sym,
				  .file = f->source,
				  .language = language_of(f, m),
				  .label = m ? m->path : STR(""),
				  .line = f->line};
	AUTO_SB key = {0};
	const struct str part[] = {is.name, is.file, is.language, is.label};
	for (u32 i = 0; i < countof(part); i++) {
		sb_mem(&key, &part[i].n, sizeof(part[i].n));
		sb_add(&key, part[i]);
	}
	sb_mem(&key, &is.line, sizeof(is.line));
	u64 number = (uintptr_t)tab_get(&n->codes, sb_str(&key));
	if (number)
		return UNWIND_WORD | (number - 1);
	if (n->code.n >= MAX_CODES)
		return 0;
	is.name = arena_str(&n->a, is.name);
	is.file = arena_str(&n->a, is.file);
	is.language = arena_str(&n->a, is.language);
	is.label = arena_str(&n->a, is.label);
	vec_add(&n->code, is);
	tab_add(&n->codes, arena_str(&n->a, sb_str(&key)), (void *)(uintptr_t)n->code.n);
	return UNWIND_WORD | (n->code.n - 1);
}

bool query_names_code(const struct query_names *n, u64 word, struct interp_frame *ret)
{
	u64 number = word & ~UNWIND_WORD_MASK;
	*ret = number < n->code.n ? n->code.v[number] : (struct interp_frame){0};
	return ret->name.n;
}

/* A process may have run two programs, with different functions at one address: the first one's name
 * stays, and that is counted. */
void query_names_note(struct query_names *n, u32 pid, const struct rec_frame *f,
		      const struct rec_mapping *m)
{
	const struct frame_key key = {f->addr, pid, 0};
	const struct known_frame *had = tab_get(&n->known, key_text(&key));
	if (had) {
		n->ambiguous += !str_eq(had->sym.name, f->sym);
		return;
	}
	struct known_frame *k = arena_new(&n->a, struct known_frame);
	*k = (struct known_frame){key,
				  {.name = arena_str(&n->a, f->sym),
				   .addr = f->addr - f->sym_off,
				   .off = f->sym_off,
				   .module = m ? arena_str(&n->a, m->path) : STR(""),
				   .build_id = m ? arena_str(&n->a, m->build_id) : STR(""),
				   .file_off = f->file_off,
				   .made = f->flags & FRAME_MADE}};
	tab_add(&n->known, key_text(&k->key), k);
}

bool query_names_find(struct query_names *n, u32 pid, u64 addr, struct symbol *ret)
{
	const struct frame_key key = {addr, pid, 0};
	const struct known_frame *k = tab_get(&n->known, key_text(&key));
	if (k)
		*ret = k->sym;
	return k && k->sym.name.n;
}
