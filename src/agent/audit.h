/*
 * audit.h - a record of each question that came to a host: who asked what, who had signed it, what it cost, and what became of it.
 *
 * It is written as one line to syslog(3), facility authpriv, and sent as one object of JSON to the subject sonde.audit.
 */
#pragma once
#include "agent/question.h"

enum audit_end {
	AUDIT_ANSWERED, /* it ran until its end */
	AUDIT_STOPPED,  /* the asker ended it, or was gone */
	AUDIT_FAILED,   /* sonde ended with an error */
	AUDIT_REFUSED,  /* it did not run */
};
/* Texts are "" if they are not known. */
struct audit {
	const struct question *q;
	struct str host, signer;
	const char *sha256; /* of the script */
	enum audit_end end;
	struct str why; /* it was refused, or failed */
	u64 took_ns, cpu_ns,
		bytes; /* time, processor time of the process that traced, size of the answer */
};
void audit_line(const struct audit *a, struct sb *ret);
void audit_json(const struct audit *a, struct sb *ret);
/* openlog() is the caller's. */
void audit_log(const struct audit *a);
