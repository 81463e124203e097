/* save.h - what a front has, as a file: readings as CSV or JSON, the screen as SVG. */
#pragma once
#include "base/err.h"

struct front;
/* By the ending of the name: ".csv", ".json" or ".svg". An err if it has another. */
struct err *save_text(struct front *f, struct str name, struct sb *out) MUST_USE;
