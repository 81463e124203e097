/* usdt_ask.h - USDT notes of a file that somebody else wrote: read by the sandbox, checked here. */
#pragma once
#include "base/bytes.h"
#include "kern/host.h"
#include "types/usdt.h"

struct err *usdt_ask(struct host *h, const char *path, struct arena *a, struct usdt_sites *ret);
/* What the child answered. False: it cannot be. */
bool usdt_take_sites(struct bytes b, struct arena *a, struct usdt_sites *ret);
