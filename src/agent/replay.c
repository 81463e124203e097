/* replay.c - see the header. */
#include "agent/replay.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { MAGIC = 8, RECORD = QUESTION_ID + 8 };
static const char magic[MAGIC] = {'s', 'o', 'n', 'd', 'e', '-', 'r', 1};

struct taken {
	u8 id[QUESTION_ID];
	u64 not_after_ns;
};
struct replay {
	struct arena a;
	const char *path, *fresh; /* the file, and the one that takes its place */
	int lock, fd;             /* the folder; the file, to append to */
	VEC(struct taken) taken;
};

/* ---- the file ---- */

static void pack_taken(struct sb *b, const struct taken *t)
{
	sb_mem(b, t->id, QUESTION_ID);
	pack_u64(b, t->not_after_ns);
}

/* The end of a file that was cut in the middle of a record is left out. */
static struct err *load(struct replay *r)
{
	enum { MOST = MAGIC + 2 * REPLAY_MAX * RECORD };
	AUTO_SB text = {0};
	int no = file_read(r->path, MOST, &text);
	if (no == ENOENT)
		return NULL;
	if (no)
		return err_sys(no, "read %s", r->path);
	struct bytes b = bytes_of(text.s, text.n);
	const u8 *p = bytes_take(&b, MAGIC);
	if (!p || memcmp(p, magic, MAGIC) != 0)
		return err_new("%s does not contain questions: remove it, if nothing else needs "
			       "it",
			       r->path);
	while (b.n - b.at >= RECORD) {
		struct taken t;
		memcpy(t.id, bytes_take(&b, QUESTION_ID), QUESTION_ID);
		t.not_after_ns = bytes_u64(&b);
		vec_add(&r->taken, t);
	}
	return NULL;
}

static void forget_expired(struct replay *r, u64 wall_ns)
{
	u32 n = 0;
	for (u32 i = 0; i < r->taken.n; i++)
		if (r->taken.v[i].not_after_ns + 2 * REPLAY_TOLERANCE_NS > wall_ns)
			r->taken.v[n++] = r->taken.v[i];
	r->taken.n = n;
}

static int write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.s, text.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		text = str_from(text, (u32)n);
	}
	return fdatasync(fd) ? errno : 0;
}

/* All that is remembered, in a new file. */
static struct err *rewrite(struct replay *r)
{
	AUTO_SB b = {0};
	sb_mem(&b, magic, MAGIC);
	for (u32 i = 0; i < r->taken.n; i++)
		pack_taken(&b, &r->taken.v[i]);
	int fd = open(r->fresh, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	if (fd < 0)
		return err_sys(errno, "open %s", r->fresh);
	int no = write_all(fd, sb_str(&b));
	if (!no && rename(r->fresh, r->path))
		no = errno;
	if (!no && fsync(r->lock))
		no = errno;
	if (no) {
		close(fd);
		return err_sys(no, "write %s", r->path);
	}
	close_fd(&r->fd);
	r->fd = fd;
	return NULL;
}

static struct err *append(struct replay *r, const struct taken *t)
{
	AUTO_SB b = {0};
	pack_taken(&b, t);
	off_t end = lseek(r->fd, 0, SEEK_END);
	int no = write_all(r->fd, sb_str(&b));
	if (no && end >= 0 && ftruncate(r->fd, end))
		return rewrite(r);
	return no ? err_sys(no, "write %s", r->path) : NULL;
}

/* ---- questions ---- */

static struct err *off_by(const char *what, u64 ns)
{
	return err_new("%s by %llu.%llu s (or the clocks of this host and of the asker differ)",
		       what, ns / SECOND_NS, ns % SECOND_NS / (SECOND_NS / 10));
}

struct err *replay_time(const struct question *q, u64 wall_ns)
{
	if (wall_ns + REPLAY_TOLERANCE_NS < q->not_before_ns)
		return off_by("the question is too early", q->not_before_ns - wall_ns);
	if (wall_ns > q->not_after_ns + REPLAY_TOLERANCE_NS)
		return off_by("the question has expired, and is late", wall_ns - q->not_after_ns);
	return NULL;
}

struct err *replay_take(struct replay *r, const struct question *q, u64 wall_ns)
{
	struct taken t = {.not_after_ns = q->not_after_ns};
	struct err *e = replay_time(q, wall_ns);
	if (e)
		return e;
	memcpy(t.id, q->id, QUESTION_ID);
	for (u32 i = 0; i < r->taken.n; i++)
		if (!memcmp(r->taken.v[i].id, t.id, QUESTION_ID))
			return err_new("the question was asked before: it is a copy, or the agent "
				       "was restarted");
	u32 before = r->taken.n;
	if (before == REPLAY_MAX)
		forget_expired(r, wall_ns);
	if (r->taken.n == REPLAY_MAX)
		return err_new("this host has had %d questions that are still valid, and can "
			       "remember no more",
			       REPLAY_MAX);
	vec_add(&r->taken, t);
	e = r->taken.n <= before ? rewrite(r) : append(r, &t);
	if (e)
		r->taken.n--;
	return e ? err_wrap(e, "this host cannot remember the question: ") : NULL;
}

static struct err *open_dir(struct replay *r, const char *dir)
{
	r->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->lock < 0)
		return err_sys(errno, "open %s", dir);
	if (flock(r->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_new("another agent uses %s", dir);
	return NULL;
}

struct err *replay_open(const char *dir, u64 wall_ns, struct replay **ret)
{
	struct replay *r = xcalloc(1, sizeof(*r));
	*r = (struct replay){.lock = -1, .fd = -1};
	r->path = arena_fmt(&r->a, "%s/questions", dir);
	r->fresh = arena_fmt(&r->a, "%s/questions.new", dir);
	struct err *e = open_dir(r, dir);
	e = e ? e : load(r);
	if (!e) {
		forget_expired(r, wall_ns);
		e = rewrite(r);
	}
	if (e)
		replay_free(r);
	else
		*ret = r;
	return e;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	close_fd(&r->fd);
	close_fd(&r->lock);
	vec_free(&r->taken);
	arena_free(&r->a);
	free(r);
}
