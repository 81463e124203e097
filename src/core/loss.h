/* loss.h - kinds of losses; what each is called is said once, in core/loss.def. */
#pragma once
#include "base/base.h"

enum loss {
#define L(id, name, who, unit, account) LOSS_##id,
#include "core/loss.def"
	LOSS_COUNT
};
enum loss_account {
	ACCOUNT_TOLD,
	ACCOUNT_LOST,
	ACCOUNT_MISSED,
	ACCOUNT_CUT,
	ACCOUNT_OTHER,
	ACCOUNTS
};
struct loss_kind {
	const char *name, *who, *unit; /* who, unit: "" when there is none */
	enum loss_account account;
};
extern const struct loss_kind loss_kinds[LOSS_COUNT];

#define LOSS_UNKNOWN UINT64_MAX /* for a number: some may have been lost, nobody can tell */
