/*
 * grammar.h - scripts by grammar: every construct of the language in every other, as bytes choose.
 *
 * What comes out has types that fit as a rule, so that most of it gets through the compiler to the
 * verifier. Bytes that are used up choose the first of all alternatives, which ends every nesting.
 */
#pragma once
#include "base/str.h"

void grammar_script(const u8 *p, size_t n, struct sb *out);
