/* cfi_bare.c - rows of code that its file does not describe. */
#include "arch/arch.h"
#include "sym/cfi.h"
#include "types/image.h"
#include <elf.h>
#include <string.h>

static void add_described(struct cfi *c, u64 from, u64 to, u32 rule)
{
	if (!c->arch || from < c->base || to < from || to - c->base > UINT32_MAX)
		return;
	struct cfi_fde fde = {.pc = from, .end = to, .first = c->row.n, .n = 1};
	vec_add(&c->row, (struct cfi_row){(u32)(from - c->base), rule});
	vec_add(&c->fde, fde);
}

/* mov x8, 139; svc 0: where handlers of signals return to, in a vdso that describes nothing. Its
 * other functions call nobody. A return address is looked up by the byte before it. */
static void add_vdso(struct cfi *c, const struct image *im, const struct segment *g)
{
	static const u8 sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4};
	u64 from = g->addr, end = g->addr + g->filesz,
	    leaf = unwind_rule(UNWIND_SP, 0, UNWIND_LINK_LIVE);
	for (u64 at = 4; at + sizeof(sigreturn) <= g->filesz; at += 4) {
		if (memcmp(im->p + g->off + at, sigreturn, sizeof(sigreturn)) != 0)
			continue;
		add_described(c, from, g->addr + at - 4, (u32)leaf);
		from = g->addr + at + sizeof(sigreturn);
		add_described(c, g->addr + at - 4, from, unwind_rule(UNWIND_SIGNAL, 0, 0));
	}
	add_described(c, from, end, (u32)leaf);
}

void cfi_bare(struct cfi *c, const struct image *im, bool described)
{
	enum { MAX_VDSO = 1 << 16 };
	struct section plt;
	struct segment g;
	if (!c->arch || !c->arch->unwind.link)
		return;
	if (image_section_named(im, ".plt", &plt)) /* what only jumps on */
		add_described(c, plt.addr, plt.addr + plt.size,
			      unwind_rule(UNWIND_SP, 0, UNWIND_LINK_LIVE));
	if (im->n > MAX_VDSO || described)
		return;
	for (u32 i = 0; image_segment(im, i, &g); i++)
		if (g.type == PT_LOAD && g.flags & PF_X && g.off <= im->n &&
		    g.filesz <= im->n - g.off)
			add_vdso(c, im, &g);
}
