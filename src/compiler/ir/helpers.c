/* helpers.c - names of the BPF helpers. */
#include "ir/ir.h"
#include "ir/pass.h"
#include <stdio.h>

static const struct {
	u32 id;
	const char *name;
} helpers[] = {
#define H(id, name, vm) {id, name},
#include "ir/helpers.def"
};

const char *ir_helper_name(u32 id, char buf[32])
{
	if (id && id <= countof(helpers) && helpers[id - 1].id == id)
		return helpers[id - 1].name;
	snprintf(buf, 32, "helper %u", id);
	return buf;
}

bool helper_find(struct str name, u32 *id)
{
	for (u32 i = 0; i < countof(helpers); i++) {
		if (str_is(name, helpers[i].name)) {
			*id = helpers[i].id;
			return true;
		}
	}
	return false;
}
