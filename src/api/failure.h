/* failure.h - how a struct sonde_error is made. */
#pragma once
#include "base/err.h"
#include <sonde/sonde.h>

struct arena;

/* What e says. Frees e; NULL stays NULL. */
struct sonde_error *failure_err(enum sonde_error_kind kind, struct err *e);
struct sonde_error *failure_text(enum sonde_error_kind kind, struct str text);
/* All messages of ds, and behind them e, which may be NULL; frees e. */
struct sonde_error *failure_diags(enum sonde_error_kind kind, const struct diags *ds,
				  struct err *e);
/* The messages of ds, in their order. Memory is from a. */
const struct sonde_diagnostic *diagnostics_of(struct arena *a, const struct diags *ds, size_t *n);
