/* Any bytes as an interpreter's file, as what was said of one, and as a function of it as it lay in a
 * process: each row of interps[]. */
#include "core/interp.h"
#include "types/image.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

static void take_file(const struct interp *is, const u8 *data, size_t n)
{
	struct image im;
	struct interp_file f;
	struct err *e = image_mem(data, n, &im);
	if (!e) {
		is->find(&im, str_n((const char *)data, (u32)MIN(n, 64u)), 0, &f);
		image_close(&im);
	}
	err_free(e);
}

static void take_code(const struct interp *is, const u8 *data, size_t n)
{
	struct interp_file f = {0};
	struct unwind_code *raw = calloc(1, sizeof(*raw));
	struct interp_code c;
	struct arena a = {0};
	volatile u32 sum = 0; /* of any value: lines are only read */
	memcpy(&f.own, data, MIN(n, sizeof(f.own)));
	data += MIN(n, sizeof(f.own));
	n -= MIN(n, sizeof(f.own));
	for (u32 i = 0; i < INTERP_OWN && f.own[0] & 0x100; i++) /* else hardly any would do */
		f.own[i] &= 0xff;
	memcpy(raw, data, MIN(n, sizeof(*raw)));
	is->code(&f, raw, &a, &c);
	for (u32 i = 0; i < 64; i++)
		sum = sum + is->line(&f, &c, i * 37);
	sum = sum + is->line(&f, &c, UNWIND_NO_INSTR);
	/* A text is at most four bytes for each that was there, and a mark. */
	if (c.name.n > 4 * UNWIND_NAME_BYTES + 2 || c.file.n > 4 * UNWIND_FILE_BYTES + 2 ||
	    c.lines.n > UNWIND_LINE_BYTES)
		abort();
	arena_free(&a);
	free(raw);
}

/* A process whose memory the bytes are, over and over. */
static bool any_memory(void *arg, u64 addr, void *to, size_t n)
{
	const struct bytes *b = arg;
	u64 at = b->n ? addr % b->n : 0;
	if (n > b->n - at)
		return false;
	memcpy(to, b->p + at, n);
	return true;
}

static bool never_kept(void *arg, u64 addr, struct str *ret)
{
	(void)arg, (void)addr, (void)ret;
	return false;
}

static struct str keep(void *arg, u64 addr, struct str text)
{
	static char kept[1 << 16];
	u32 n = MIN(text.n, (u32)sizeof(kept)) & ~3u;
	(void)arg, (void)addr;
	if (n)
		memcpy(kept, text.s, n);
	return str_n(kept, n);
}

static void take_process(const struct interp *is, const u8 *data, size_t n)
{
	enum { SMALL = 0x3f };
	struct bytes b = bytes_of(data, n);
	struct interp_memory m = {&b, any_memory, never_kept, keep};
	struct interp_file f = {0};
	struct unwind_code *raw = calloc(1, sizeof(*raw));
	struct interp_code c = {0};
	struct interp_frame frame;
	struct arena a = {0};
	u32 v8[sizeof(f.lang.v8) / sizeof(u32)] = {0};
	memcpy(v8, data, MIN(n, sizeof(v8)));
	for (u32 i = 0; i < countof(v8); i++)
		v8[i] &= SMALL;
	memcpy(&f.lang.v8, v8, sizeof(v8));
	f.lang.known = 1;
	for (u32 i = 0; i < INTERP_OWN && i < n; i++)
		f.own[i] = data[i] & SMALL;
	memcpy(f.bytes, data, MIN(n, sizeof(f.bytes)));
	memcpy(raw->lines, data, MIN(n, sizeof(raw->lines)));
	struct interp_file learnt = f;
	if (is->learn)
		is->learn(&learnt, &m, 0);
	if (is->more)
		is->more(&f, raw, &m, &a, &c);
	for (u32 i = 0; i < 64 && is->inlined; i++) {
		AUTO_SB in = {0};
		is->inlined(&c, i * 37, &in);
		struct bytes r = bytes_of(in.s, in.n);
		is->line(&f, &c, i * 37);
		while (r.at < r.n && interp_next(&r, &frame))
			;
	}
	arena_free(&a);
	free(raw);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	for (u32 i = 0; interps[i]; i++) {
		take_file(interps[i], data, n);
		take_code(interps[i], data, n);
		take_process(interps[i], data, n);
	}
	return 0;
}
