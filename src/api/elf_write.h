/* elf_write.h - the programs of a unit as a relocatable ELF object, for disassemblers and other tools. */
#pragma once
#include "core/unit.h"

struct err *object_write(const char *path, const struct unit *u) MUST_USE;
