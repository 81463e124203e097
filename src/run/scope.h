/* scope.h - the processes that are traced: told to filters of programs, followed and waited for. */
#pragma once
#include "base/base.h"

struct session;

/* The child of -c has ended, but can still be asked about: report what of it was not seen. */
void scope_ended(struct session *s);
bool scope_over(struct session *s); /* nothing that is traced lives any more */
