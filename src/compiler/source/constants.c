/*
 * constants.c - what scripts call by name although it is nowhere in BTF.
 *
 * The names stand one behind the other, each with its NUL: with pointers to them the table would be
 * twice as large. A script asks for few.
 */
#include "source/cdefs.h"

static const char names[] =
#define C(name, value)       #name "\0"
#define A(name, x86_64, arm) #name "\0"
#include "source/constants.def"
	;

static const i64 values[] = {
#define C(name, value)       value,
#define A(name, x86_64, arm) x86_64,
#include "source/constants.def"
};

/* What is different on aarch64. */
static const struct {
	const char *name;
	i64 val;
} on_aarch64[] = {
#define C(name, value)
#define A(name, x86_64, arm) {#name, arm},
#include "source/constants.def"
};

bool known_constant(const struct host *h, struct str name, i64 *val)
{
	const char *p = names;
	for (u32 i = 0; h->arch->id == ARCH_AARCH64 && i < countof(on_aarch64); i++)
		if (str_is(name, on_aarch64[i].name))
			return *val = on_aarch64[i].val, true;
	for (u32 i = 0; i < countof(values); i++, p += strlen(p) + 1)
		if (str_is(name, p))
			return *val = values[i], true;
	return false;
}
