/*
 * profile.h - maps keyed by stacks, collected for a picture or a file of profiles.
 *
 *	profile_put() for each item; what is no such map goes to the error stream, or is told
 *	profile_end() once; then the maps, their samples and frames may be read
 *
 * What else is in a key comes first, then the user stack, then the kernel's: frames from the
 * outermost to the leaf. A map that is printed again replaces what it was; after clear() or zero()
 * it adds to it.
 */
#pragma once
#include "base/tab.h"
#include "base/vec.h"
#include "sink/out.h"

enum frame_kind {
	FRAME_USER,    /* of the program itself */
	FRAME_LIBRARY, /* of a shared object */
	FRAME_KERNEL,
	FRAME_INLINED,
	FRAME_JIT, /* code that was made while running */
	FRAME_UNKNOWN,
	FRAME_LABEL,  /* another part of the key */
	FRAME_PYTHON, /* interpreted languages */
	FRAME_RUBY,
	FRAME_PHP,
	FRAME_PERL,
	FRAME_JAVASCRIPT,
	FRAME_JAVA,
	FRAME_KINDS
};

/* A frame as it is told from others: one row per place in the code. */
struct profile_frame {
	enum frame_kind kind;
	struct str name;                     /* visible UTF-8, never empty */
	struct str module, build_id, source; /* "": unknown */
	u64 addr, file_off;
	u32 line;
	struct str key; /* of a label: which part, "key0" ...; a number when is_num */
	bool is_num;
	i64 num;
};
struct profile_sample {
	u32 first, n; /* of the profile's stack */
	u64 weight;
};
struct profile_map {
	struct str name, unit;
	VEC(struct profile_sample) sample;
	u32 epoch, epoch_from; /* its samples from this one on are of the last epoch */
	u64 total;
};
/* What two frames must share to be one. */
enum profile_by { BY_NAME, BY_KIND, BY_PLACE };
struct profile {
	const char *format;
	enum profile_by by;
	struct sink_env env;
	struct out o;
	struct arena arena;
	struct str unit; /* of weights; "": by the map */
	VEC(struct profile_frame) frame;
	struct tab index; /* number of a frame + 1, by what tells it from others */
	VEC(u32) stack;   /* numbers of frames, outermost first */
	VEC(struct profile_map) map;
	VEC(struct str) left_out; /* "@x: why" */
	u64 lost;                 /* events */
	u64 start_ns;             /* wall clock */
	bool ended;               /* the script came to its end */
};
void profile_init(struct profile *p, const struct sink_env *env, const char *format,
		  enum profile_by by, struct str unit);
struct err *profile_put(struct profile *p, const struct item *it);
/* Sums up equal stacks and sorts them by name; says what cannot be shown. An error when there is
 * nothing else; false *show when there is nothing to be shown or to be said. */
struct err *profile_end(struct profile *p, bool *show);
/* A sink's .shows and .example, and its .why_not. */
#define PROFILE_SHOWS   "maps that count stacks"
#define PROFILE_EXAMPLE "@[ustack] = count()"
const char *profile_why_not(const struct unit *u, const struct map *m);
/* Maps that have no place in the picture: "@x: why". */
void profile_leave_out(struct profile *p, struct str name, const char *why);
void profile_tell_left_out(struct profile *p);
/* Of each frame: where it stands among all, by name. The caller frees it. */
u32 *profile_ranks(struct profile *p);
/* Writes what is in p->o, frees all. */
struct err *profile_close(struct profile *p, struct err *e);

/* For all pictures: a sink's .show, when self begins with a struct profile. */
void profile_show(const void *self, struct show *results, struct show *remarks);
