#include "core/loss.h"

const struct loss_kind loss_kinds[LOSS_COUNT] = {
#define L(id, name, who, unit, account) [LOSS_##id] = {name, who, unit, ACCOUNT_##account},
#include "core/loss.def"
};
