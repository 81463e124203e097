/* language.c - the table of languages. */
#include "lang/bt.h"

const struct language *const languages[] = {
	&bpftrace_language,
	NULL,
};

const struct language *language_by_ending(struct str file)
{
	for (const struct language *const *l = languages; *l; l++)
		if (str_ends(file, str_z((*l)->ending)))
			return *l;
	return NULL;
}

const struct language *language_of(struct str file)
{
	const struct language *l = language_by_ending(file);
	return l ? l : languages[0];
}
