/* Any text as C definitions: preprocessed, parsed, and what came of it shown. */
#include "cparse/cdecl.h"
#include "cparse/cpp.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

static enum cpp_found no_header(void *arg, struct str name, enum cpp_include how, struct str from,
				struct cpp_file *ret)
{
	struct str *whole = arg; /* it may include itself */
	(void)from;
	*ret = (struct cpp_file){name, *whole, how == CPP_ANGLE};
	return name.n == 1 ? CPP_FOUND : CPP_SKIP;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	struct source src = {STR("fuzz"), str_n((const char *)data, n)};
	struct diags ds = {.arena = &a, .source = &src, .nsource = 1};
	struct cpp *p = arena_new(&a, struct cpp);
	struct cdecl *d = arena_new(&a, struct cdecl);
	AUTO_SB out = {0};
	cpp_init(p, &a, &ds);
	cdecl_init(d, &a, &ds);
	p->open = no_header;
	p->arg = &src.text;
	cpp_feed(p, src.text, (struct loc){0}, true);
	struct ctok *list = cpp_end(p), *copy = NULL, **tail = &copy;
	for (const struct ctok *t = list; t; t = t->next)
		cpp_add(&tail, ctok_new(&a, t));
	cdecl_parse(d, copy);
	cdecl_finish(d);
	for (const struct ctok *t = list; t; t = t->next) {
		const struct type *x = cdecl_type(d, t->text, T_NONE, false);
		struct field f;
		i64 v;
		if (x && out.n < 1 << 16)
			type_show_def(x, &out);
		if (x)
			type_field(x, STR("x"), &f);
		cdecl_enumerator(d, t->text, true, &v, NULL);
	}
	arena_free(&a);
	return 0;
}
