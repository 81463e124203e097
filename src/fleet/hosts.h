/*
 * hosts.h - names of hosts, as options and files give them: "web1,db[01-40],pod/a".
 *
 *	struct hosts h = {0};
 *	hosts_add(&h, text);
 *	h.name.v[0], h.name.n
 *	hosts_free(&h);
 *
 *	hosts_add_lines(&h, text of a file), hosts_labels(&h, name)
 *
 * Each name is taken once, in the order of its first appearance. Names become arguments of the command that reaches the
 * host: only letters, digits and "._-:@/%+" are accepted, and no name begins with '-'.
 */
#pragma once
#include "base/err.h"
#include "base/tab.h"
#include "base/vec.h"

enum { HOSTS_MAX = 4096 };

struct hosts {
	VEC(struct str) name;
	struct tab seen;   /* name -> struct str *, its labels */
	struct str labels; /* of the line that is being read */
	struct arena a;
};
/* Names with commas, blanks or ends of lines between them; '#' begins a comment, which ends with its line. */
struct err *hosts_add(struct hosts *h, struct str text) MUST_USE;
/* The same of a file: a line may also be one name, or one pattern, and labels behind it: "db[1-3] zone=a role=db". */
struct err *hosts_add_lines(struct hosts *h, struct str text) MUST_USE;
/* "zone=a\nrole=db", or "". */
struct str hosts_labels(const struct hosts *h, struct str name);
void hosts_free(struct hosts *h);
