/* Any bytes as a ZIP archive: a name up to a NUL, then the archive. */
#include "types/zip.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct bytes b = bytes_of(data, n), member;
	const char *name = bytes_z(&b);
	if (!name)
		return 0;
	struct bytes archive = bytes_of(data + b.at, n - b.at);
	struct err *e = zip_member(archive, str_z(name), &member);
	if (!e && (member.p < archive.p || member.n > archive.n ||
		   (size_t)(member.p - archive.p) > archive.n - member.n))
		__builtin_trap();
	err_free(e);
	return 0;
}
