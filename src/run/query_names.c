/* query_names.c - see query_names.h. */
#include "run/query_names.h"

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
	arena_free(&n->a);
}

static struct str key_text(const struct frame_key *k)
{
	return str_n((const char *)k, sizeof(*k));
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
