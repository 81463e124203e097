/*
 * here.h - this machine as the source of a reporter's records, maps and names.
 *
 * reporter.from is the struct session that the unit was loaded with. Names are looked up when they
 * are asked for, in the state that the machine has then.
 */
#pragma once
#include "report/reader.h"
#include "report/source.h"

extern const struct event_source source_here;
extern const struct names names_here; /* also source_here.names */
