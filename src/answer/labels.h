/*
 * labels.h - labels of hosts, for --by label:KEY of merge.
 *
 * The labels of an answer are lines "KEY=VALUE"; of two lines with one key the first counts. If the answer was merged,
 * the labels of its hosts are lines, too: "HOST\tKEY=VALUE\tKEY=VALUE". Values are made fit to be printed.
 */
#pragma once
#include "base/tab.h"

struct labels {
	struct str all;   /* of the answer */
	struct str hosts; /* of its hosts, if it was merged */
	/* Set by labels_find(): */
	struct str value; /* of the key; LABEL_NONE if there is none, or if hosts differ in it */
	bool none;        /* it is missing on this host, or on one of these */
	struct tab of;    /* name of a host -> struct str *, its value */
};
#define LABEL_NONE "-"

/* A key or a value that somebody gives: letters, digits and ._-:@/%+, as agents have them. */
bool labels_is_name(struct str s);
bool labels_is_label(struct str s); /* "KEY=VALUE" */
void labels_find(struct arena *a, struct labels *l, struct str key);
/* host: "", or one of an answer that was merged. */
struct str labels_of(const struct labels *l, struct str host);
/* Appends the lines that .hosts of a merged answer has for this one; host: what it is called. */
void labels_put(struct sb *b, const struct labels *l, struct str host);
void labels_free(struct labels *l);
