/* engine_kernel.h - the kernel of this machine as an engine. Its state is the struct host. */
#pragma once
#include "core/engine.h"

extern const struct engine engine_kernel;
