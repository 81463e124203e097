/* report.c - all that reaches the user goes through here, to the sink. */
#include "report/report.h"
#include "base/alloc.h"
#include "report/baseline.h"
#include "report/calls.h"

void report_put(struct reporter *r, const struct item *it)
{
	struct report_output *o = &r->output;
	struct err *e = o->failed || o->mute ? NULL : o->sink->put(o->self, it);
	if (e) {
		o->failed = true;
		control_stop(r->control);
	}
	err_free(e); /* close() tells it again */
}

void report_flush(struct reporter *r)
{
	struct report_output *o = &r->output;
	struct err *e = o->sink->flush ? o->sink->flush(o->self) : NULL;
	if (e) {
		o->failed = true;
		control_stop(r->control);
	}
	err_free(e);
}

u64 report_now(const struct reporter *r)
{
	return r->records.event_ts ? r->records.event_ts : r->source->now(r->from);
}

void report_text(struct reporter *r, const char *kind, struct str text)
{
	report_put(r, &(struct item){.kind = I_TEXT,
				     .name = str_z(kind),
				     .str = text,
				     .ts = r->records.event_ts,
				     .text.own = r->records.own});
}

void report_line(struct reporter *r, const char *kind, struct str text)
{
	report_put(r, &(struct item){.kind = I_TEXT,
				     .text.line = true,
				     .name = str_z(kind),
				     .str = text,
				     .ts = r->records.event_ts,
				     .text.own = r->records.own});
}

void report_said(struct reporter *r, bool warn, struct loc loc, struct str text)
{
	r->output.nerror += !warn;
	report_put(r, &(struct item){.kind = I_ERROR,
				     .error.warn = warn,
				     .error.said = true,
				     .name = warn ? STR("warnf") : STR("errorf"),
				     .error.loc = loc,
				     .str = text});
}

void report_error(struct reporter *r, bool warn, const char *kind, struct loc loc, struct str text)
{
	report_put(r, &(struct item){.kind = I_ERROR,
				     .error.warn = warn,
				     .name = str_z(kind),
				     .error.loc = loc,
				     .str = text});
}

void report_err(struct reporter *r, bool warn, struct loc loc, struct err *e)
{
	report_error(r, warn, "", loc, str_z(e->msg));
	err_free(e);
}

void report_map_failed(struct reporter *r, const struct map *m, const char *what, struct err *e)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "cannot %s map %.*s: %s", what, STRF(m->name), e->msg);
	report_error(r, false, "", m->loc, sb_str(&text));
	err_free(e);
}

/*
 * What comes after exit() is not wanted any more; end programs still run. An iterator is called for
 * all elements, whatever the first call says, and what the calls print belongs together.
 */
void report_exit(struct reporter *r, int code)
{
	r->control->exit_code = code & 0xff;
	control_stop(r->control);
	r->records.discard = r->control->stage == STAGE_EVENTS;
}

struct signals *control_signals(const struct control *c)
{
	assert(c->stage != STAGE_FINISH || c->signals);
	return c->stage == STAGE_FINISH && c->signals->stop_ns ? NULL : c->signals;
}

void reporter_init(struct reporter *r, const struct sink *sink, void *self)
{
	const struct unit *u = r->unit;
	assert(u && r->control);
	assert(r->source && r->source->names);
	assert(sink);
	struct show show = {.trailer = u->config.str_trunc_trailer};
	r->output =
		(struct report_output){.sink = sink, .self = self, .show = show, .remarks = show};
	if (sink->show)
		sink->show(self, &r->output.show, &r->output.remarks);
	reader_init(&r->reader, u, r->source->names, r->from);
	records_init(&r->records, u);
	r->baseline = baseline_new();
	r->calls = calls_new();
}

void reporter_free(struct reporter *r)
{
	calls_free(r->calls);
	baseline_free(r->baseline);
	records_free(&r->records);
	reader_free(&r->reader);
}
