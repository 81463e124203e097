/* Any bytes as files of other tracers; the first byte says whether what precedes the formats of trace.dat is right. */
#include "base/pack.h"
#include "import/import.h"

static void put_head(struct sb *b)
{
	sb_mem(b, "\x17\x08\x44tracing6\0\0\x08", 14);
	pack_u32(b, 4096);
	sb_mem(b, "header_page\0\0\0\0\0\0\0\0", 20);
	sb_mem(b, "header_event\0\0\0\0\0\0\0\0", 21);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	AUTO_SB b = {0};
	AUTO_SB made = {0};
	struct import_sum sum = {0};
	struct import_out o = {.fd = -1, .mem = &made, .name = "fuzz"};
	if (n < 2)
		return 0;
	if (*data & 1)
		put_head(&b);
	sb_mem(&b, data + 1, n - 1);
	const struct importer *from = importer_of((const u8 *)b.s, b.n);
	if (!from)
		return 0;
	struct err *e = from->read((const u8 *)b.s, b.n, &o, &sum);
	err_free(e);
	rec_abandon(o.w);
	return 0;
}
