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

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	for (u32 i = 0; interps[i]; i++) {
		take_file(interps[i], data, n);
		take_code(interps[i], data, n);
	}
	return 0;
}
