/*
 * Any bytes as an answer of a host, merged with itself and put to an output. The first byte says which output, and
 * whether hosts are apart, or their labels, and whether a hub merges them first. Checksums are made right, because most
 * is behind them.
 */
#include "answer/merge.h"
#include "rec/pack.h"
#include "rec/write.h"
#include <fcntl.h>
#include <stdlib.h>

static const char *const outputs[] = {"text",  "json",   "csv",        "answer",
				      "pprof", "folded", "speedscope", "heat"};

/* As a host that is not honest would: blocks have the checksums of what they contain. */
static void seal(u8 *p, size_t n)
{
	u32 sum;
	if (n < REC_FILE_HEADER)
		return;
	sum = rec_crc(0, p, REC_FILE_HEADER - 4);
	memcpy(p + REC_FILE_HEADER - 4, &sum, 4);
	for (size_t at = REC_FILE_HEADER; at <= n && n - at >= REC_BLOCK_HEADER;) {
		u32 stored;
		u8 *b = p + at;
		memcpy(&stored, b + 8, 4);
		at += REC_BLOCK_HEADER;
		if (stored > n - at)
			return;
		sum = rec_crc(0, p + at, stored);
		memcpy(b + 48, &sum, 4);
		sum = rec_crc(0, b, 52);
		memcpy(b + 52, &sum, 4);
		at = ALIGN_UP(at + stored, 8);
	}
}

static void put(struct merge *m, const char *output, int null)
{
	static const struct str opts[SINK_OPTIONS];
	const struct sink *sink = sink_named(str_z(output));
	struct sink_env env = {.out = null,
			       .err = null,
			       .buffering = 'f',
			       .what = STR("fuzz"),
			       .where = STR("here"),
			       .how = {.trailer = STR(".."), .escape = true},
			       .how_remarks = {.trailer = STR(".."), .escape = true}};
	void *self = calloc(1, sink->size + 1);
	if (!self)
		abort();
	struct err *e = sink->open(self, &env, opts);
	if (e) {
		err_free(e);
		free(self);
		return;
	}
	err_free(merge_put(m, sink, self, &env.how));
	err_free(sink->close(self));
	free(self);
}

static struct err *add(struct merge *m, struct rec_file *f)
{
	struct str names = merge_bundled(f), name;
	struct err *e = names.n ? NULL : merge_add(m, f);
	for (u32 i = 0; names.n && !e && str_cut(&names, '\n', &name); i++)
		e = merge_add_named(m, f, name, i % 3);
	return e;
}

/* What a hub makes of it is an answer of which as much can be made. */
static void bundle(struct merge *m, bool by_host, int null)
{
	AUTO_SB bytes = {0};
	struct rec_file *f = NULL;
	const struct rec_start s = {.codec = CODEC_NONE, .ncpu = 1};
	struct rec_writer *w = rec_create_mem(&s, &bytes);
	struct err *e = merge_write(m, w);
	if (e || rec_finish(w, END_DONE, STR("done"), NULL) ||
	    rec_open_mem(bytes.s, bytes.n, "hub", &f))
		abort();
	struct merge *again = merge_new(&(struct merge_spec){.by_host = by_host});
	e = add(again, f);
	e = e ? e : merge_read(again);
	if (e)
		abort();
	put(again, "json", null);
	merge_free(again);
	rec_close(f);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	enum { HOSTS = 2 };
	static int null = -1;
	struct rec_file *f[HOSTS] = {NULL};
	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!n)
		return 0;
	u32 hosts = *data & 8 ? HOSTS : 1;
	u8 *copy = malloc(n);
	if (!copy)
		abort();
	memcpy(copy, data + 1, n - 1);
	seal(copy, n - 1);
	bool hub = *data & 64;
	struct merge *m =
		merge_new(&(struct merge_spec){.by_host = *data & 48,
					       .by_label = *data & 32 ? STR("zone") : STR(""),
					       .partial = !hub,
					       .bundle = hub});
	struct err *e = NULL;
	for (u32 i = 0; i < hosts && !e; i++) {
		e = rec_open_mem((const char *)copy, n - 1, i ? "b" : "a", &f[i]);
		if (!e)
			e = add(m, f[i]);
	}
	if (!e)
		e = merge_read(m);
	if (!e && hub)
		bundle(m, *data & 16, null);
	else if (!e)
		put(m, outputs[*data & 7], null);
	err_free(e);
	merge_free(m);
	for (u32 i = 0; i < hosts; i++)
		rec_close(f[i]);
	free(copy);
	return 0;
}
