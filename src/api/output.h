/* output.h - which output format results get, and what a format cannot show. */
#pragma once
#include "api/options.h"
#include "core/unit.h"

/* What was chosen: a row of sinks[], and its options by number. */
struct output_choice {
	const struct sink *sink;
	struct str opts[SINK_OPTIONS];
};

/* By .format, the ending of .path, or text. */
struct err *output_choose(const struct output_spec *spec, struct output_choice *ret) MUST_USE;
/*
 * Refuse a script that has nothing which the format can show. tool is the name of the tool whose script
 * it is, or ""; compiled_only is set if the script is written to a file and not run.
 */
struct err *output_suits(const struct output_spec *spec, struct str tool, bool compiled_only,
			 const struct unit *u) MUST_USE;
