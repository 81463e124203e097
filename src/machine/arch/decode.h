/* decode.h - readers of one instruction each, for the rows of arch.h. False: not one that is known.
 */
#pragma once
#include "arch/insn.h"

bool x86_64_decode(const u8 *p, u32 n, struct insn *ret);
bool aarch64_decode(const u8 *p, u32 n, struct insn *ret);
