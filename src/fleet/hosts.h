/*
 * hosts.h - names of hosts, as options and files give them: "web1,db[01-40],pod/a".
 *
 *	struct hosts h = {0};
 *	hosts_add(&h, text);
 *	h.name.v[0], h.name.n
 *	hosts_free(&h);
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
	struct tab seen;
	struct arena a;
};
/* Names with commas, blanks or ends of lines between them; '#' begins a comment, which ends with its line. */
struct err *hosts_add(struct hosts *h, struct str text) MUST_USE;
void hosts_free(struct hosts *h);
