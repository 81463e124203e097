/*
 * zip.h - members of a ZIP archive (.zip, .apk, .jar) that lie in it as they are, not compressed:
 * Android's linker maps libraries from there. Written archive!/member.
 *
 *	if (zip_archive(path, &n))
 *		err = zip_member(archive's bytes, STR(path + n + 2), &member);
 */
#pragma once
#include "base/bytes.h"
#include "base/err.h"

/* Is this the path of a member? No file is called so, and one is up to "!/": the first n bytes. */
bool zip_archive(const char *path, u32 *n);
/* A view of the member; where it begins is ret->p - archive.p. */
struct err *zip_member(struct bytes archive, struct str name, struct bytes *ret);
