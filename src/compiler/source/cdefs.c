/* cdefs.c - the C part of a script: preprocessed, parsed, and its macros put where they are used.
 */
#include "source/cdefs.h"
#include "source/source.h"
#include "source/typename.h"

struct cdefs {
	struct cpp cpp;
	struct cdecl decl;
	struct header_search search;
	struct types *btf;
};

static const struct type *find_outside(void *arg, struct str name, enum type_kind kind)
{
	const struct cdefs *cd = arg;
	const struct type *t = kind == T_NONE ? plain_type(name) : NULL;
	return t || !cd->btf ? t : btf_types_find(cd->btf, name, kind);
}

/* What headers ask the compiler for. */
static void predefine(struct cdefs *cd, const struct arch_c *c)
{
	static const struct {
		const char *name, *value;
	} all[] = {
		{"__linux__", "1"},
		{"__linux", "1"},
		{"__unix__", "1"},
		{"__STDC__", "1"},
		{"__STDC_VERSION__", "201710L"},
		{"__STDC_HOSTED__", "1"},
		{"__GNUC__", "12"},
		{"__GNUC_MINOR__", "2"},
		{"__LP64__", "1"},
		{"_LP64", "1"},
		{"__CHAR_BIT__", "8"},
		{"__SIZEOF_INT__", "4"},
		{"__SIZEOF_LONG__", "8"},
		{"__SIZEOF_POINTER__", "8"},
		{"__SIZEOF_SHORT__", "2"},
		{"__SIZEOF_LONG_LONG__", "8"},
		{"__SIZE_TYPE__", "unsigned long"},
		{"__PTRDIFF_TYPE__", "long"},
		{"__WCHAR_TYPE__", "int"},
		{"__INT_MAX__", "2147483647"},
		{"__LONG_MAX__", "9223372036854775807L"},
		{"__ORDER_LITTLE_ENDIAN__", "1234"},
		{"__ORDER_BIG_ENDIAN__", "4321"},
		{"__BYTE_ORDER__", "1234"},
		{"__LITTLE_ENDIAN__", "1"},
	};
	for (size_t i = 0; i < countof(all); i++)
		cpp_define(&cd->cpp, str_z(all[i].name), str_z(all[i].value));
	cpp_define(&cd->cpp, str_z(c->macro), STR("1"));
	cpp_define(&cd->cpp, str_z(c->target), STR("1"));
	cd->decl.unsigned_char = c->unsigned_char;
	cd->decl.bits_align = c->bits_align;
	if (cd->btf)
		cpp_define(&cd->cpp, STR("BPFTRACE_HAVE_BTF"), STR("1"));
}

static void feed(struct compile *c, struct cpp *p)
{
	const struct diags *ds = c->diags;
	for (u32 i = 0; i < c->headers.nfile; i++)
		cpp_feed(p, str_z(arena_fmt(c->arena, "#include \"%s\"\n", c->headers.file[i])),
			 (struct loc){0}, false);
	for (const struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind != N_CDEF || !n->name.n)
			continue;
		/* Made by somebody (an import of a header) or lying in a source? */
		const char *from = ds->source[n->loc.src].text.s + n->loc.pos;
		cpp_feed(p, n->name, n->loc, n->name.s == from);
		if (n->name.s[0] != '#')
			cpp_feed(p, STR(";"), n->loc, false);
	}
}

bool source_cdefs(struct compile *c)
{
	bool any = c->headers.nfile;
	for (const struct node *n = c->tree->a; n && !any; n = n->next)
		any = n->kind == N_CDEF;
	if (!any || c->cdefs)
		return true;
	u32 nerror = c->diags->nerror;
	struct cdefs *cd = arena_new(c->arena, struct cdefs);
	c->cdefs = cd;
	cd->btf = host_btf(c->host);
	cd->search = (struct header_search){c->arena, &c->headers, c->host->root,
					    c->host->arch->name, cd->btf != NULL};
	cpp_init(&cd->cpp, c->arena, c->diags);
	cdecl_init(&cd->decl, c->arena, c->diags);
	cd->cpp.open = header_open;
	cd->cpp.arg = &cd->search;
	if (!cd->btf)
		cd->cpp.hint = "without kernel BTF, types come from installed kernel headers (-I)";
	cd->decl.find = find_outside;
	cd->decl.arg = cd;
	predefine(cd, &c->host->arch->c);
	feed(c, &cd->cpp);
	cdecl_parse(&cd->decl, cpp_end(&cd->cpp));
	cdecl_finish(&cd->decl);
	expand_uses(c, &cd->cpp);
	return c->diags->nerror == nerror;
}

const struct type *cdefs_type(const struct cdefs *cd, struct str name, u16 flags, bool weak)
{
	enum type_kind kind = flags & NF_STRUCT  ? T_STRUCT
			      : flags & NF_UNION ? T_UNION
			      : flags & NF_ENUM  ? T_ENUM
						 : T_NONE;
	return cd ? cdecl_type(&cd->decl, name, kind, weak) : NULL;
}

bool cdefs_enumerator(const struct cdefs *cd, struct str name, bool weak, i64 *val,
		      const struct type **type)
{
	return cd && cdecl_enumerator(&cd->decl, name, weak, val, type);
}
