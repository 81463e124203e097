/* notify.h - what a service manager is told through the socket that NOTIFY_SOCKET names. */
#pragma once
#include "base/err.h"

/* name is a path, or behind '@' a name that no file has. */
struct err *notify_open(const char *name, int *ret) MUST_USE;
/* "READY=1\n". Nobody waits for it: a manager that does not read does without. */
void notify_tell(int fd, const char *text);
