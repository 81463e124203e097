/* report.c - the ground floor: all that reaches the user goes through here, to the sink. */
#include "run/run.h"

void session_put(struct session *s, const struct item *it)
{
	struct report *r = &s->report;
	struct err *e = r->failed || r->mute ? NULL : r->sink->put(r->self, it);
	if (e)
		r->failed = s->loop.stop = true;
	err_free(e); /* close() tells it again */
}

void report_flush(struct session *s)
{
	struct report *r = &s->report;
	struct err *e = r->sink->flush ? r->sink->flush(r->self) : NULL;
	if (e)
		r->failed = s->loop.stop = true;
	err_free(e);
}

void session_text(struct session *s, const char *kind, struct str text)
{
	session_put(s, &(struct item){.kind = I_TEXT, .name = str_z(kind), .str = text});
}

void session_line(struct session *s, const char *kind, struct str text)
{
	session_put(s,
		    &(struct item){.kind = I_TEXT, .line = true, .name = str_z(kind), .str = text});
}

void session_lost(struct session *s, u64 n, struct str text)
{
	loss_put(s, LOSS_NOT_COUNTED, text, n, text);
}

void session_said(struct session *s, bool warn, struct loc loc, struct str text)
{
	s->report.nerror += !warn;
	session_put(s, &(struct item){.kind = I_ERROR,
				      .warn = warn,
				      .said = true,
				      .name = warn ? STR("warnf") : STR("errorf"),
				      .loc = loc,
				      .str = text});
}

void session_error(struct session *s, bool warn, const char *kind, struct loc loc, struct str text)
{
	session_put(s, &(struct item){.kind = I_ERROR,
				      .warn = warn,
				      .name = str_z(kind),
				      .loc = loc,
				      .str = text});
}

void report_err(struct session *s, bool warn, struct loc loc, struct err *e)
{
	session_error(s, warn, "", loc, str_z(e->msg));
	err_free(e);
}

void loss_put(struct session *s, enum loss kind, struct str who, u64 n, struct str text)
{
	session_put(s, &(struct item){.kind = I_LOST,
				      .warn = true,
				      .loss = kind,
				      .who = who,
				      .n = n,
				      .str = text});
}
