/* notes.h - which process maps what, for names of user addresses (kern/mmaps.h writes it down). */
#pragma once
#include "base/base.h"

struct session;

/* Read what the kernel wrote. Done before an address is looked up. Nothing happens if no address is. */
void mmap_events_drain(struct session *s);
/* True if what all processes map was read at the start. */
bool mmap_events_of_all(const struct session *s);
