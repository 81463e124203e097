/*
 * fleethub.c - sonde fleet-hub TOKEN: merges the answers that a hub has fetched, for the asker.
 *
 * Frames (fleet/bus.h) come from standard input. When it ends, those answers that can be merged so that nobody can tell the
 * difference become one, and the others are passed on as they came: the asker decides about them. Rights are given up
 * before an answer is looked at.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "cmd/fleet.h"
#include "cmd/merging.h"
#include "fleet/bus.h"
#include "rec/pack.h"
#include "rec/read.h"
#include "rec/write.h"
#include <errno.h>
#include <fcntl.h>

struct hub {
	struct bus_answer in;
	struct arena a;
	struct rec_file **file; /* of each host; NULL if it is not merged */
	bool *alone;            /* it cannot be merged */
	struct merging m;
};

static void leave_out(struct hub *u, u32 i)
{
	rec_close(u->file[i]);
	u->file[i] = NULL;
	u->alone[i] = true;
}

/* Which host is the i-th of the merge. */
static u32 merged_host(const struct hub *u, u32 nth)
{
	for (u32 i = 0; i < u->in.n; i++)
		if (u->file[i] && !nth--)
			return i;
	return u->in.n;
}

static void add_hosts(struct hub *u)
{
	for (u32 i = 0; i < u->in.n; i++) {
		struct fleet_host *h = &u->in.host[i];
		if (u->alone[i] || h->end != FLEET_ANSWERED || !h->bytes || h->fd < 0)
			continue;
		int fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
		struct err *e = fd < 0 ? err_new("open")
				       : rec_open_fd(fd, arena_strz(&u->a, h->name), &u->file[i]);
		bool whole = !e && rec_info(u->file[i])->closed && !merge_bundled(u->file[i]).n;
		if (whole)
			e = merge_add_named(u->m.merge, u->file[i], h->name, i);
		if (e || !whole)
			leave_out(u, i);
		err_free(e);
	}
}

static void close_files(struct hub *u)
{
	for (u32 i = 0; i < u->in.n; i++) {
		rec_close(u->file[i]);
		u->file[i] = NULL;
	}
}

/* Answers that say why the host could not trace. */
static bool drop_failed(struct hub *u)
{
	bool any = false;
	for (u32 i = 0, nth = 0; i < u->in.n; i++) {
		if (!u->file[i] || !merge_run(u->m.merge, nth++).error.n)
			continue;
		u->alone[i] = any = true;
	}
	return any;
}

/* Until those that are left can be merged. False: none can. */
static bool read_answers(struct hub *u)
{
	for (;;) {
		u->m.merge = merge_new(&(struct merge_spec){.bundle = true});
		add_hosts(u);
		if (!merge_hosts(u->m.merge))
			return false;
		struct err *e = merge_read(u->m.merge);
		if (!e && !drop_failed(u))
			return true;
		if (e)
			u->alone[merged_host(u, merge_failed(u->m.merge))] = true;
		err_free(e);
		close_files(u);
		merge_free(u->m.merge);
		u->m.merge = NULL;
	}
}

static struct err *put_merged(struct hub *u, struct sb *out)
{
	const struct rec_start s = {.codec = rec_has_codec(CODEC_ZSTD) ? CODEC_ZSTD : CODEC_ZLIB,
				    .ncpu = 1};
	AUTO_SB bytes = {0};
	struct rec_writer *w = rec_create_mem(&s, &bytes);
	struct err *e = merge_write(u->m.merge, w);
	if (e) {
		rec_abandon(w);
		return e;
	}
	e = rec_finish(w, END_DONE, STR("done"), NULL);
	if (!e)
		bus_put(out, BUS_MERGED, 0, sb_str(&bytes));
	return e;
}

static struct err *put_data(struct sb *out, const struct fleet_host *h, u32 at)
{
	AUTO_SB bytes = {0};
	int no = h->fd < 0 || lseek(h->fd, 0, SEEK_SET) < 0 ? 0 : fd_read(h->fd, h->bytes, &bytes);
	if (bytes.n)
		bus_put(out, BUS_DATA, at, sb_str(&bytes));
	return no ? err_sys(no, "read an answer") : NULL;
}

static struct err *put_hosts(struct hub *u, struct sb *out)
{
	struct err *e = NULL;
	for (u32 i = 0, at = 0; i < u->in.n && !e; i++) {
		struct fleet_host *h = &u->in.host[i];
		if (h->end == FLEET_LATE) /* not all of it has come */
			continue;
		bus_put(out, BUS_HOST, at, h->name);
		if (h->said.n)
			bus_put(out, BUS_SAID, at, sb_str(&h->said));
		if (!u->file[i])
			e = put_data(out, h, at);
		h->merged = u->file[i] != NULL;
		bus_put_over(out, at++, h, sb_str(&h->why));
	}
	return e;
}

static struct err *write_out(const struct sb *out)
{
	struct str rest = sb_str(out);
	while (rest.n) {
		ssize_t n = write(STDOUT_FILENO, rest.s, rest.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(errno, "write the merged answer");
		rest = str_from(rest, (u32)n);
	}
	return NULL;
}

static struct err *merge_all(struct hub *u)
{
	AUTO_SB out = {0};
	struct err *e = fleet_take_bus(STDIN_FILENO, &u->a, &u->in);
	if (!e)
		e = merging_confine(&u->m);
	u->file = xcalloc(u->in.n + 1ul, sizeof(*u->file));
	u->alone = xcalloc(u->in.n + 1ul, sizeof(*u->alone));
	if (!e && read_answers(u))
		e = put_merged(u, &out);
	if (!e)
		e = put_hosts(u, &out);
	return e ? e : write_out(&out);
}

int cmd_fleet_hub(int argc, char **argv, bool compat)
{
	struct hub u = {.m = {.out = {.fd = -1}}};
	u32 n;
	u64 start;
	(void)compat;
	if (argc != 2) {
		fputs("ERROR: fleet-hub is started by sonde-agent\n", stderr);
		return RC_USAGE;
	}
	merging_allow_files(2 * BUS_HOSTS);
	if (!fleet_greet(argv[1], &n, &start))
		return RC_USAGE;
	struct err *e = merge_all(&u);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	int rc = e ? RC_USAGE : RC_OK;
	err_free(e);
	if (u.file)
		close_files(&u);
	free(u.file);
	free(u.alone);
	fleet_free(u.in.host, u.in.n);
	free(u.in.host);
	free(u.in.hub);
	merging_free(&u.m);
	arena_free(&u.a);
	return rc;
}
