/*
 * gfp.c - gfp_t as text.
 *
 * The bits as Linux 6.10 and later number them (include/linux/gfp_types.h); combinations come
 * before their parts, the larger ones first.
 */
#include "core/value.h"

enum {
	DMA = 1 << 0,
	HIGHMEM = 1 << 1,
	DMA32 = 1 << 2,
	MOVABLE = 1 << 3,
	RECLAIMABLE = 1 << 4,
	HIGH = 1 << 5,
	IO = 1 << 6,
	FS = 1 << 7,
	ZERO = 1 << 8,
	DIRECT = 1 << 10,
	KSWAPD = 1 << 11,
	WRITE = 1 << 12,
	NOWARN = 1 << 13,
	RETRY = 1 << 14,
	NOFAIL = 1 << 15,
	NORETRY = 1 << 16,
	MEMALLOC = 1 << 17,
	COMP = 1 << 18,
	NOMEMALLOC = 1 << 19,
	HARDWALL = 1 << 20,
	THISNODE = 1 << 21,
	ACCOUNT = 1 << 22,
	ZEROTAGS = 1 << 23,
	SKIP_ZERO = 1 << 24,
	SKIP_KASAN = 1 << 25,
	NO_OBJ_EXT = 1 << 26,
	RECLAIM = DIRECT | KSWAPD,
	KERNEL = RECLAIM | IO | FS,
	USER = KERNEL | HARDWALL,
	HIGHUSER = USER | HIGHMEM,
	HIGHUSER_MOVABLE = HIGHUSER | MOVABLE | SKIP_KASAN,
	HUGE_LIGHT = (HIGHUSER_MOVABLE | COMP | NOMEMALLOC | NOWARN) & ~RECLAIM,
};

static const struct {
	u32 bits;
	const char *name;
} names[] = {
	{HUGE_LIGHT | DIRECT, "GFP_TRANSHUGE"},
	{HUGE_LIGHT, "GFP_TRANSHUGE_LIGHT"},
	{HIGHUSER_MOVABLE, "GFP_HIGHUSER_MOVABLE"},
	{HIGHUSER, "GFP_HIGHUSER"},
	{USER, "GFP_USER"},
	{KERNEL | ACCOUNT, "GFP_KERNEL_ACCOUNT"},
	{KERNEL, "GFP_KERNEL"},
	{RECLAIM | IO, "GFP_NOFS"},
	{HIGH | KSWAPD, "GFP_ATOMIC"},
	{RECLAIM, "GFP_NOIO"},
	{KSWAPD | NOWARN, "GFP_NOWAIT"},
	{DMA, "GFP_DMA"},
	{HIGHMEM, "__GFP_HIGHMEM"},
	{DMA32, "GFP_DMA32"},
	{MOVABLE, "__GFP_MOVABLE"},
	{RECLAIMABLE, "__GFP_RECLAIMABLE"},
	{HIGH, "__GFP_HIGH"},
	{IO, "__GFP_IO"},
	{FS, "__GFP_FS"},
	{ZERO, "__GFP_ZERO"},
	{DIRECT, "__GFP_DIRECT_RECLAIM"},
	{KSWAPD, "__GFP_KSWAPD_RECLAIM"},
	{WRITE, "__GFP_WRITE"},
	{NOWARN, "__GFP_NOWARN"},
	{RETRY, "__GFP_RETRY_MAYFAIL"},
	{NOFAIL, "__GFP_NOFAIL"},
	{NORETRY, "__GFP_NORETRY"},
	{MEMALLOC, "__GFP_MEMALLOC"},
	{COMP, "__GFP_COMP"},
	{NOMEMALLOC, "__GFP_NOMEMALLOC"},
	{HARDWALL, "__GFP_HARDWALL"},
	{THISNODE, "__GFP_THISNODE"},
	{ACCOUNT, "__GFP_ACCOUNT"},
	{ZEROTAGS, "__GFP_ZEROTAGS"},
	{SKIP_ZERO, "__GFP_SKIP_ZERO"},
	{SKIP_KASAN, "__GFP_SKIP_KASAN"},
	{NO_OBJ_EXT, "__GFP_NO_OBJ_EXT"},
};

void value_gfp_text(struct sb *out, u64 flags)
{
	const char *sep = "";

	if (!flags)
		sb_char(out, '0');
	for (u32 i = 0; i < countof(names); i++) {
		if ((flags & names[i].bits) != names[i].bits)
			continue;
		flags &= ~(u64)names[i].bits;
		sb_fmt(out, "%s%s", sep, names[i].name);
		sep = "|";
	}
	if (flags)
		sb_fmt(out, "%s0x%llx", sep, flags);
}
