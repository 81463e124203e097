/*
 * engine_vm.h - the interpreter of src/vm as an engine: maps in memory, programs in this process. Its
 * state is a struct vm, which belongs to the caller; maps and programs go with it.
 */
#pragma once
#include "core/engine.h"
#include "vm/vm.h"

extern const struct engine engine_vm;
