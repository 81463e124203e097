#include "core/loss.h"

const struct loss_kind loss_kinds[LOSS_COUNT] = {
#define L(id, name, who, unit) [LOSS_##id] = {name, who, unit},
#include "core/loss.def"
};
