/* cut.c - how many user stacks are not whole; see the header. */
#include "unwind/cut.h"
#include "report/loss.h"

void cut_report(struct reporter *r, const char *who, u64 n, const char *what)
{
	AUTO_SB b = {0};
	if (!n)
		return;
	sb_fmt(&b, "%llu user stack%s %s", n, n == 1 ? " was" : "s were", what);
	loss_put(r, LOSS_CUT_STACKS, str_z(who), n, sb_str(&b));
}

void cut_report_files(struct reporter *r, const struct blocks *blocks, const u64 *lost, u64 all)
{
	u32 most = 0;
	AUTO_SB b = {0};
	if (!all)
		return;
	for (u32 i = 1; i < blocks->file.n; i++)
		if (lost[UNWIND_LOST_FIRST_FILE + i] > lost[UNWIND_LOST_FIRST_FILE + most])
			most = i;
	struct str path = blocks->file.v[most]->path;
	u64 n = lost[UNWIND_LOST_FIRST_FILE + most];
	sb_fmt(&b, "%llu user stack%s cut where there is no unwind information, ", all,
	       all == 1 ? " was" : "s were");
	if (n == all)
		sb_fmt(&b, "in %.*s", STRF(path));
	else
		sb_fmt(&b, "most (%llu) in %.*s", n, STRF(path));
	loss_put(r, LOSS_CUT_IN_FILE, path, all, sb_str(&b));
}
