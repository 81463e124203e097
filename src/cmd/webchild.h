/* webchild.h - what web.c runs in its child. */
#pragma once
#include "core/metrics.h"

bool webchild_able(void); /* this sonde was built with libmicrohttpd */
/*
 * Serve connections to a socket until the parent ends. To fd goes a byte for each text that is wanted, an
 * enum metrics_format; from there come its size, a u64, and the text, in the same order.
 */
void webchild_run(int listening, int fd, const void *arg);
