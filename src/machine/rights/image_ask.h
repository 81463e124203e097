/*
 * image_ask.h - an ELF file whose headers the sandbox has read (rights/sandbox.h).
 *
 * It has segments and bytes, which are the file's and mean nothing by themselves; it has no sections:
 * what is in these is asked for elsewhere (sym/).
 *
 *	err = image_ask(h, path, &im);	also a member of an archive: file.zip!/member
 *	image_close(&im);
 */
#pragma once
#include "kern/host.h"
#include "types/image.h"

struct err *image_ask(struct host *h, const char *path, struct image *ret) MUST_USE;
/* What the child answered of a file of that size. False: it cannot be. */
bool image_take_told(struct bytes b, u64 size, struct image *ret);
