/* loss.h - kinds of losses; what each is called is said once, in core/loss.def. */
#pragma once
#include "base/base.h"

enum loss {
#define L(id, name, who, unit) LOSS_##id,
#include "core/loss.def"
	LOSS_COUNT
};
struct loss_kind {
	const char *name, *who, *unit; /* who, unit: "" when there is none */
};
extern const struct loss_kind loss_kinds[LOSS_COUNT];

#define LOSS_UNKNOWN UINT64_MAX /* for a number: some may have been lost, nobody can tell */
