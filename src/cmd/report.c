/* report.c - sonde report: what is in a recording, and its events as lines. */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/units.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "export/cells.h"
#include "export/spans.h"
#include "rec/read.h"
#include "rights/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TASKS = 20, NS_PER_S = 1000000000 };

struct report_opts {
	bool events, help;
};

static struct err *set(void *self, int id, const char *val)
{
	struct report_opts *o = self;
	(void)val;
	o->events |= id == OPT_EVENTS;
	o->help |= id == OPT_HELP;
	return NULL;
}

/* ---- texts ---- */

static void put_str(struct str s)
{
	AUTO_SB b = {0};
	sb_visible(&b, s);
	fwrite(b.s ? b.s : "", 1, b.n, stdout);
}

static void put_seconds(u64 ns)
{
	printf("%llu.%06llu", ns / NS_PER_S, ns / 1000 % 1000000);
}

static bool ends_early(const struct rec_info *in)
{
	return !in->closed;
}

/* ---- sums ---- */

struct task_sum {
	u32 pid, tid;
	u64 start, rows, first, last;
	char comm[16]; /* the last one */
};
struct sums {
	VEC(struct task_sum) task;
	u64 *rows; /* by schema */
	u64 unknown;
	struct spans *spans; /* NULL until there is one */
	u32 *slot, nslot;
};

static void grow(struct sums *s)
{
	u32 n = s->nslot ? s->nslot * 2 : 256;
	s->slot = xrealloc(s->slot, n * sizeof(*s->slot));
	memset(s->slot, 0, n * sizeof(*s->slot));
	s->nslot = n;
	for (u32 i = 0; i < s->task.n; i++) {
		u32 at = s->task.v[i].pid * 2654435761u & (n - 1);
		while (s->slot[at])
			at = (at + 1) & (n - 1);
		s->slot[at] = i + 1;
	}
}

/* By process. */
static struct task_sum *task_of(struct sums *s, const struct rec_task *t)
{
	if (s->task.n * 2 >= s->nslot)
		grow(s);
	u32 at = t->pid * 2654435761u & (s->nslot - 1);
	for (; s->slot[at]; at = (at + 1) & (s->nslot - 1))
		if (s->task.v[s->slot[at] - 1].pid == t->pid)
			return &s->task.v[s->slot[at] - 1];
	vec_add(&s->task, (struct task_sum){.pid = t->pid, .tid = t->tid});
	s->slot[at] = s->task.n;
	return &s->task.v[s->task.n - 1];
}

/* Rows of spans begin with the name and the id. */
static void add_span(struct sums *s, const struct rec_file *f, const struct rec_row *r)
{
	const struct rec_schema *c = r->schema;
	bool begins = str_is(c->type, "span_begin");
	AUTO_SB id = {0};
	if ((!begins && !str_is(c->type, "span_end")) || c->ncolumn < 2 ||
	    !str_is(c->column[0].expr, "span.name") || !str_is(c->column[1].expr, "span.id"))
		return;
	struct str name = r->cell[0].missing ? STR("?") : r->cell[0].str;
	cell_text(&id, f, &c->column[1], &r->cell[1]);
	s->spans = s->spans ? s->spans : spans_new();
	if (begins)
		spans_begin(s->spans, name, sb_str(&id), NULL);
	else
		spans_end(s->spans, name, sb_str(&id));
}

static void add_row(struct sums *s, const struct rec_file *f, const struct rec_row *r)
{
	s->rows[r->schema->id]++;
	add_span(s, f, r);
	if (!r->task) {
		s->unknown++;
		return;
	}
	struct task_sum *t = task_of(s, r->task);
	t->first = t->rows ? t->first : r->ts;
	t->last = r->ts;
	t->rows++;
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, r->task->comm.s, MIN(r->task->comm.n, (u32)sizeof(t->comm) - 1));
}

static void put_row(const struct rec_file *f, const struct rec_row *r)
{
	AUTO_SB b = {0};
	cell_row(&b, f, r);
	fwrite(b.s, 1, b.n, stdout);
}

static struct err *read_rows(struct rec_file *f, struct sums *s, bool print)
{
	struct rec_row r;
	struct err *e;
	while (rec_next(f, &r, &e)) {
		if (print)
			put_row(f, &r);
		else
			add_row(s, f, &r);
	}
	return e;
}

static int by_rows(const void *x, const void *y)
{
	const struct task_sum *a = x, *b = y;
	if (a->rows != b->rows)
		return a->rows < b->rows ? 1 : -1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void show_time(const char *what, u64 real)
{
	time_t t = (time_t)(real / NS_PER_S);
	struct tm tm;
	char text[64];
	if (!real || !gmtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%-10s %s.%03llu UTC\n", what, text, real / 1000000 % 1000);
}

static void show_meta(const struct rec_file *f, const char *what, struct str key)
{
	struct str s = rec_meta_of(f, key);
	if (!s.n)
		return;
	printf("%-10s ", what);
	put_str(str_trim(s));
	putchar('\n');
}

/* What an incomplete file says of itself comes first. */
static void show_end(const struct rec_info *in)
{
	static const char *const how[] = {[END_DONE] = "done",
					  [END_SIGNAL] = "stopped by a signal",
					  [END_EXIT] = "exit()",
					  [END_BUDGET] = "over its budget",
					  [END_ERROR] = "an error"};
	if (ends_early(in)) {
		printf("This recording has no end: the recorder was killed, or is still running. "
		       "The last "
		       "second may be missing.\n");
		if (in->cut)
			printf("Its last block is not whole: %llu bytes are not read.\n", in->cut);
		return;
	}
	printf("%-10s ", "ended");
	if (in->reason.n)
		put_str(in->reason);
	else
		printf("%s", in->end < countof(how) ? how[in->end] : "?");
	putchar('\n');
}

static void show_events(const struct rec_file *f, const struct sums *s)
{
	const struct rec_info *in = rec_info(f);
	u64 rows = 0, span = in->last - in->first;
	u32 n, nprobe = 0;
	const struct rec_schema *const *schema = rec_schemas(f, &n);
	AUTO_SB b = {0};
	for (u32 i = 0; i < n; i++) {
		rows += s->rows[schema[i]->id];
		bool some = s->rows[schema[i]->id];
		for (u32 k = 0; k < i && some; k++) /* a probe may have several schemas */
			some = !s->rows[schema[k]->id] ||
			       !str_eq(schema[k]->probe, schema[i]->probe);
		nprobe += some;
	}
	units_grouped(&b, rows);
	printf("%-10s %s of %u probe%s in ", "events", sb_str(&b).s, nprobe,
	       nprobe == 1 ? "" : "s");
	put_seconds(span);
	printf(" s");
	if (span)
		printf(", %.0f per second", (double)rows * NS_PER_S / (double)span);
	printf("\n%-10s %llu bytes", "file", in->bytes);
	if (rows)
		printf(", %.1f per event (rows: %.1f, uncompressed %.1f)",
		       (double)in->bytes / (double)rows, (double)in->stored / (double)rows,
		       (double)in->raw / (double)rows);
	printf("\n");
}

static void show_schemas(const struct rec_file *f, const struct sums *s)
{
	u32 n;
	const struct rec_schema *const *schema = rec_schemas(f, &n);
	printf("\n%12s %8s  %s\n", "EVENTS", "BYTES", "PROBE: VALUES");
	for (u32 i = 0; i < n; i++) {
		const struct rec_total *t = rec_total_of(f, schema[i]->id);
		u64 rows = s->rows[schema[i]->id];
		printf("%12llu ", rows);
		if (t && t->rows)
			printf("%8.1f  ", (double)t->bytes / (double)t->rows);
		else
			printf("%8s  ", "-");
		put_str(schema[i]->probe);
		for (u32 k = 0; k < schema[i]->ncolumn; k++) {
			printf("%s", k ? ", " : ": ");
			put_str(schema[i]->column[k].expr);
		}
		putchar('\n');
	}
}

/* How the process ended, if that was recorded; of a process id that was used again, the last. */
static void put_exit(const struct rec_file *f, u32 pid)
{
	u32 n;
	const struct rec_exit *x = rec_exits(f, &n), *last = NULL;
	for (u32 i = 0; i < n; i++)
		if (x[i].pid == pid && x[i].tid == pid)
			last = &x[i];
	if (last && last->code & 0x7f)
		printf(" (killed by signal %u)", last->code & 0x7f);
	else if (last)
		printf(" (exited with %u)", last->code >> 8 & 0xff);
}

static void show_tasks(const struct rec_file *f, struct sums *s)
{
	const struct rec_info *in = rec_info(f);
	if (s->task.n)
		qsort(s->task.v, s->task.n, sizeof(*s->task.v), by_rows);
	printf("\n%12s %8s %12s %12s  %s\n", "EVENTS", "PID", "FROM s", "TO s", "PROCESS");
	for (u32 i = 0; i < s->task.n && i < MOST_TASKS; i++) {
		const struct task_sum *t = &s->task.v[i];
		printf("%12llu %8u %12.6f %12.6f  ", t->rows, t->pid,
		       (double)(t->first - in->first) / NS_PER_S,
		       (double)(t->last - in->first) / NS_PER_S);
		put_str(str_z(t->comm));
		put_exit(f, t->pid);
		putchar('\n');
	}
	if (s->task.n > MOST_TASKS)
		printf("%12s and %u more processes\n", "", s->task.n - MOST_TASKS);
	if (s->unknown)
		printf("%12llu of unknown processes\n", s->unknown);
}

static void show_clocks(const struct rec_file *f)
{
	u32 n;
	const struct rec_clock *c = rec_clocks(f, &n);
	if (!n)
		return;
	i64 first = (i64)(c[0].real - c[0].mono), last = (i64)(c[n - 1].real - c[n - 1].mono);
	printf("\n%-10s %u reading%s within %u ns; wall-clock time moved by %lld ns against the "
	       "monotonic "
	       "clock\n",
	       "clocks", n, n == 1 ? "" : "s", c[n - 1].uncertainty, last - first);
}

static void show_spans(const struct spans *s)
{
	if (!s)
		return;
	printf("%-10s %llu began\n", "spans", spans_begun(s));
	for (u32 stray = 0; stray < 2; stray++) {
		AUTO_SB b = {0};
		spans_text(s, stray, &b);
		if (b.n)
			printf("    %s\n", b.s);
	}
}

/* of_hosts: lines about those that the answer of a hub tells of. */
static void show_losses(const struct rec_file *f, struct str of_hosts)
{
	u32 n;
	const struct rec_loss *l = rec_losses(f, &n);
	const u64 start = rec_info(f)->first;
	printf("%-10s %s\n", "losses", n || of_hosts.n ? "" : "none");
	for (u32 i = 0; i < n; i++) {
		printf("    ");
		put_str(l[i].kind);
		if (l[i].n)
			printf(" %llu", l[i].n);
		if (l[i].to)
			printf(" from %.3f s to %.3f s",
			       ((double)l[i].from - (double)start) / NS_PER_S,
			       ((double)l[i].to - (double)start) / NS_PER_S);
		printf(": ");
		put_str(l[i].text);
		putchar('\n');
	}
	fwrite(of_hosts.s, 1, of_hosts.n, stdout);
}

static void show(struct rec_file *f, struct sums *s)
{
	const struct rec_info *in = rec_info(f);
	if (ends_early(in))
		show_end(in);
	show_time("recorded", in->real);
	show_meta(f, "host", STR("hostname"));
	show_meta(f, "kernel", STR("release"));
	show_meta(f, "command", STR("command"));
	if (!ends_early(in))
		show_end(in);
	show_events(f, s);
	show_schemas(f, s);
	show_tasks(f, s);
	show_clocks(f);
	show_spans(s->spans);
	show_losses(f, STR(""));
}

/* Something of the file could not be read. */
static bool is_damaged(const struct rec_file *f)
{
	u32 n;
	const struct rec_loss *l = rec_losses(f, &n);
	for (u32 i = 0; i < n; i++)
		if (str_is(l[i].kind, "corrupt_file"))
			return true;
	return false;
}

/* Nobody vouches for the file: when it is open, nothing but reading and printing is left to do. */
static struct err *open_confined(const char *path, struct rec_file **ret)
{
	u64 left;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "open %s", path);
	struct err *e = host_has_seccomp() ? confine_caps(0, &left) : NULL;
	if (!e && host_has_seccomp())
		e = confine_calls(0);
	if (!e)
		return rec_open_fd(fd, path, ret);
	close(fd);
	return e;
}

/* Maps that were printed in an answer, and how many rows they had. */
struct printed {
	char name[64];
	u64 times, rows;
};
struct answer_sums {
	VEC(struct printed) map;
	u64 texts, rows; /* rows of emit() */
	struct str host; /* that what follows is of; "": of the one that the file is of */
	struct sb lost;  /* lines about what hosts lost */
};

static struct printed *printed_of(struct answer_sums *s, struct str name)
{
	struct printed one = {0};
	memcpy(one.name, name.s, MIN(name.n, (u32)sizeof(one.name) - 1));
	for (u32 i = 0; i < s->map.n; i++)
		if (!strcmp(s->map.v[i].name, one.name))
			return &s->map.v[i];
	vec_add(&s->map, one);
	return &s->map.v[s->map.n - 1];
}

/* The answer of a hub names its hosts, one per line. */
static struct str host_at(const struct rec_file *f, u32 i)
{
	struct str all = rec_meta_of(f, STR("hosts")), host = {0};
	for (u32 k = 0; k <= i && str_cut(&all, '\n', &host); k++)
		if (k == i)
			return host;
	return STR("?");
}

static void put_host_loss(struct answer_sums *s, struct bytes *b)
{
	u64 n = bytes_u64(b);
	struct str kind = unpack_str(b), who = unpack_str(b), text = unpack_str(b);
	AUTO_SB line = {0};
	(void)who; /* the sentence says it */
	sb_fmt(&line, "%.*s: %.*s", STRF(s->host), STRF(kind));
	if (n)
		sb_fmt(&line, " %llu", n);
	sb_fmt(&line, ": %.*s", STRF(text));
	sb_z(&s->lost, "    ");
	sb_visible(&s->lost, sb_str(&line));
	sb_char(&s->lost, '\n');
}

static struct err *sum_answer(struct rec_file *f, struct answer_sums *s)
{
	struct rec_answer it;
	struct err *e;
	struct printed *map = NULL;
	u64 before = 0, rows = 0; /* of the last PRINT that had some, and of this one */
	while (rec_next_answer(f, &it, &e)) {
		struct bytes b = bytes_of(it.fields.s, it.fields.n);
		if (it.kind == ITEM_PRINT) {
			bytes_take(&b, sizeof(u64) + 1);
			map = printed_of(s, unpack_str(&b));
			map->times++;
			before = rows ? rows : before;
			rows = 0;
		} else if (it.kind == ITEM_ROW && map) {
			map->rows++;
			rows++;
		} else if (it.kind == (ITEM_AGAIN | ITEM_NEEDED) && map) {
			map->rows += before;
		} else if (it.kind == ITEM_OUTPUT || it.kind == ITEM_VALUE) {
			s->texts++;
		} else if (it.kind == (ITEM_CELLS | ITEM_NEEDED)) {
			s->rows++;
		} else if (it.kind == (ITEM_HOST | ITEM_NEEDED)) {
			s->host = host_at(f, bytes_u32(&b));
		} else if (it.kind == (ITEM_HOST_LOSS | ITEM_NEEDED)) {
			put_host_loss(s, &b);
		}
	}
	return e;
}

/* An answer has no events. */
static int report_answer(struct rec_file *f)
{
	const struct rec_info *in = rec_info(f);
	struct answer_sums s = {0};
	struct err *e = sum_answer(f, &s);
	if (ends_early(in))
		show_end(in);
	show_meta(f, "answer to", STR("what"));
	show_time("made", in->real);
	show_meta(f, "host", STR("hostname"));
	show_meta(f, "kernel", STR("release"));
	if (!ends_early(in))
		show_end(in);
	printf("%-10s %llu bytes\n%-10s %llu\n", "file", in->bytes, "texts", s.texts);
	if (s.rows)
		printf("%-10s %llu, of tables\n", "rows", s.rows);
	printf("\n%12s %12s  %s\n", "PRINTED", "ROWS", "MAP");
	for (u32 i = 0; i < s.map.n; i++) {
		printf("%12llu %12llu  ", s.map.v[i].times, s.map.v[i].rows);
		put_str(str_z(s.map.v[i].name));
		putchar('\n');
	}
	show_losses(f, sb_str(&s.lost));
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	int rc = e || is_damaged(f) ? RC_USAGE : RC_OK;
	err_free(e);
	vec_free(&s.map);
	sb_free(&s.lost);
	rec_close(f);
	return rc;
}

static int report(const char *path, bool events)
{
	struct rec_file *f;
	struct sums s = {0};
	u32 n, last = 0;
	struct err *e = open_confined(path, &f);
	if (e) {
		fprintf(stderr, "ERROR: %s\n", e->msg);
		err_free(e);
		return RC_USAGE;
	}
	if (rec_is_answer(f))
		return report_answer(f);
	const struct rec_schema *const *schema = rec_schemas(f, &n);
	for (u32 i = 0; i < n; i++)
		last = MAX(last, schema[i]->id);
	s.rows = xcalloc((size_t)last + 1, sizeof(*s.rows));
	e = read_rows(f, &s, events);
	if (!events)
		show(f, &s);
	else if (ends_early(rec_info(f)) || is_damaged(f))
		fprintf(stderr,
			"WARNING: %s is incomplete: sonde report %s shows what is missing\n", path,
			path);
	int rc = e || is_damaged(f) ? RC_USAGE : RC_OK;
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	err_free(e);
	free(s.rows);
	free(s.slot);
	if (s.spans)
		spans_free(s.spans);
	vec_free(&s.task);
	rec_close(f);
	return rc;
}

/* Whoever reads the output has seen enough, as head(1) does. */
static void reader_left(int sig)
{
	(void)sig;
	_exit(RC_OK);
}

int cmd_report(int argc, char **argv, bool compat)
{
	struct report_opts o = {0};
	char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	int nrest = 0, ndash = 0, rc;
	struct option_table table;
	(void)compat;
	options_of(in(CMD_REPORT), &table);
	struct err *e = opt_parse(table.row, argc, argv, set, &o, rest, &nrest, &ndash);
	if (!e && !o.help && nrest != 1)
		e = err_new("report takes one FILE");
	if (o.help) {
		opts_usage(stdout, CMD_REPORT, command_use("report"));
		rc = RC_OK;
	} else if (e) {
		fprintf(stderr, "ERROR: %s\nUSAGE:\n    sonde %s\n", e->msg, command_use("report"));
		rc = RC_USAGE;
	} else {
		signal(SIGPIPE, reader_left);
		rc = report(rest[0], o.events);
	}
	err_free(e);
	free(rest);
	return rc;
}
