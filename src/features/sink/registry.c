/* registry.c - every output format. */
#include "core/sink.h"

extern const struct sink sink_text, sink_json, sink_csv, sink_folded, sink_flame, sink_pprof,
	sink_speedscope, sink_heat, sink_prometheus, sink_record, sink_answer;

const struct sink *const sinks[] = {&sink_text,       &sink_json,   &sink_csv,        &sink_folded,
				    &sink_flame,      &sink_pprof,  &sink_speedscope, &sink_heat,
				    &sink_prometheus, &sink_record, &sink_answer,     NULL};
