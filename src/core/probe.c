#include "core/probe.h"

/* Aliases as they are written first: U and u are the one pair that differs in case. */
static bool is_alias(const struct probe_type *k, struct str name, bool exact)
{
	for (u32 i = 0; i < countof(k->alias) && k->alias[i]; i++) {
		struct str alias = str_z(k->alias[i]);
		if (exact ? str_eq(name, alias) : str_eq_nocase(name, alias))
			return true;
	}
	return false;
}

const struct probe_type *probe_type_find(struct str name)
{
	for (u32 i = 0; probe_types[i]; i++)
		if (str_eq_nocase(name, str_z(probe_types[i]->name)))
			return probe_types[i];
	for (u32 exact = 2; exact--;)
		for (u32 i = 0; probe_types[i]; i++)
			if (is_alias(probe_types[i], name, exact))
				return probe_types[i];
	return NULL;
}

bool refuse(refusals *v, const struct point *p, bool by_verifier)
{
	const struct method *method = p->method != probe_last_method(p->type) ? p->method : NULL;
	const struct refused all = {v->v, v->n};
	if (was_refused(&all, p->body, method) || (!method && !by_verifier))
		return false;
	vec_add(v, (struct refusal){p->body, method, false});
	return true;
}

void refuse_sleep(refusals *v, const struct point *p)
{
	vec_add(v, (struct refusal){p->body, NULL, true});
}
