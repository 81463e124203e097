/* registry.c - every output format. */
#include "out/out.h"

const struct sink *const sinks[] = {&sink_text, &sink_json, NULL};
