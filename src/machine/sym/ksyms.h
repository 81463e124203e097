/* ksyms.h - /proc/kallsyms: the text is kept, an index of its functions sorted by address. */
#pragma once
#include "sym/sym.h"

struct ksym {
	u64 addr;
	u32 line; /* offset of the name in the text */
};
struct ksyms {
	bool tried;
	struct sb text;
	struct ksym *v;
	u32 n;
};
void ksyms_free(struct ksyms *k);
bool ksyms_at(struct ksyms *k, struct host *h, u64 addr, struct symbol *ret);
bool ksyms_addr(struct ksyms *k, struct host *h, struct str name, u64 *ret);
