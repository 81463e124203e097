/* cdecl_parse.h - between the halves of the declaration parser: cdecl.c and cbody.c. */
#pragma once
#include "cparse/cdecl.h"

enum { CDECL_MAX_DEPTH = 60 };

struct ctag {
	struct str name;
	struct type *type; /* lives from the first mention on; completed by the definition */
	enum type_kind kind : 8;
	bool defined, weak;
	struct loc loc;
	struct ctag *next; /* of cdecl.pending */
};
struct cname { /* typedef or enumerator */
	const struct type *type;
	i64 val;
	bool weak;
	struct loc loc;
};

/* What stands in front of the declarators. */
struct spec {
	const struct type *type;
	bool is_typedef, seen; /* seen: some word of a declaration was there */
	u8 qual;
	u32 align; /* __attribute__((aligned)), _Alignas */
	bool packed;
	bool fresh; /* a tag was defined or mentioned here: "struct x;" needs no declarator */
};

/* Members on their way. */
struct body {
	struct clayout lay;
	struct field *f;
	u32 n;
};

/* at NULL: behind the last token. Then out of this definition: d->panic. */
void cd_fail(struct cdecl *d, const struct ctok *at, const char *fmt, ...) PRINTF(3, 4);
/* Where the first one is, if there were errors since. */
void cd_note(struct cdecl *d, u32 nerror, struct loc loc);
void cd_expected(struct cdecl *d, const char *what);
void cd_expect(struct cdecl *d, const char *text);
void cd_next(struct cdecl *d);
bool cd_accept(struct cdecl *d, const char *text);
static inline bool cd_at(const struct cdecl *d, const char *text)
{
	return ctok_is(d->t, text);
}
static inline bool cd_at_ident(const struct cdecl *d)
{
	return d->t && d->t->kind == CT_IDENT;
}
void cd_skip(struct cdecl *d); /* over a bracket and all up to its partner */

bool cd_constant(struct cdecl *d, struct cval *ret);
void cd_attributes(struct cdecl *d, struct spec *s);
void cd_specifiers(struct cdecl *d, struct spec *s);
const struct type *cd_declarator(struct cdecl *d, const struct type *base, struct spec *s,
				 const struct ctok **name);
struct ctag *cd_tag(struct cdecl *d, enum type_kind kind, const struct ctok *name);
bool cd_incomplete(struct cdecl *d, const struct type *t); /* it has no size here */

/* cbody.c: struct x { ... }, struct { ... }, struct x; also union and enum. The keyword is d->last.
 */
const struct type *cd_tagged(struct cdecl *d, struct spec *s, enum type_kind kind);
struct field *cd_add_field(struct cdecl *d, struct body *b);
