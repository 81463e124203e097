/*
 * image.h - an ELF file, mapped and taken apart with bounds checks.
 *
 * 64 and 32 bit, little endian; both look alike from here. Nothing is trusted:
 * a section that exceeds the file has no bytes.
 *
 *	err = image_open(path, &im); // also a member of an archive: file.zip!/member
 *	for (u32 i = 0; image_section(&im, i, &s); i++) ...
 *	image_close(&im);
 */
#pragma once
#include "base/bytes.h"
#include "base/err.h"

struct image {
	const u8 *p;
	size_t n;
	void *map; /* the whole file; NULL: not ours */
	size_t map_size;
	u64 base; /* where it begins in the file: a member of an archive */
	bool is64;
	u16 machine, type; /* EM_*, ET_* */
	u64 shoff, phoff;
	u32 shentsize, shnum, phentsize, phnum, shstrndx;
	u64 ino, dev;
	bool by_table; /* somebody else has read the headers: phnum segments, and no sections */
	struct segment *table;
};
struct section {
	struct str name;
	u32 type, link; /* SHT_* */
	u64 flags, addr, off, size, entsize;
};
struct segment {
	u32 type, flags; /* PT_*, PF_* */
	u64 off, addr, filesz, memsz;
};
/* A plain file, open. */
struct image_file {
	int fd;
	u32 member; /* bytes of the path before "!/member"; 0: it is no archive's */
	u64 size, dev, ino;
};
struct err *image_find(const char *path, struct image_file *ret);
struct err *image_map(const struct image_file *f, const char *path, struct image *ret);
/* Both. Its error's number is ENOEXEC when the file is none of ELF. */
struct err *image_open(const char *path, struct image *ret);
struct err *image_mem(const void *p, size_t n, struct image *ret);
void image_close(struct image *im);
bool image_section(const struct image *im, u32 i, struct section *ret); /* false: past the last */
bool image_section_named(const struct image *im, const char *name, struct section *ret);
bool image_segment(const struct image *im, u32 i, struct segment *ret);
struct bytes image_bytes(const struct image *im, const struct section *s); /* none: empty */
/* Virtual address in the file -> file offset, by its PT_LOAD segments. */
bool image_offset(const struct image *im, u64 addr, u64 *off);
bool image_is_code(const struct image *im, u64 addr); /* in a segment that is executable */
u64 image_entry(const struct image *im);              /* 0: none */
/* The other way round: where code is, mapped in pages of so many bytes. */
bool image_vaddr(const struct image *im, u64 off, u32 page, u64 *addr);
/* Is that byte of the file in the segment's mapping, which is whole pages? */
bool segment_maps(const struct segment *g, u64 off, u32 page);
/* What the file says about the one that holds what it was stripped of. */
enum { DEBUG_MAX_ID = 64, DEBUG_MAX_LINK = 256 };
struct debug_wanted {
	u32 nid, sum;
	u8 id[DEBUG_MAX_ID];
	bool has_sum;
	char link[DEBUG_MAX_LINK]; /* its name; "": none */
};
void image_wanted(const struct image *im, struct debug_wanted *ret);
bool image_is_wanted(const struct image *im, const struct debug_wanted *w);
/*
 * Path of that, NULL: there is none. Looked for by build id and by .gnu_debuglink, below
 * /usr/lib/debug and beside the file; also in the root of another process when path begins with
 * /proc/PID/root. dirs: searched before that, "DIR:DIR"; or NULL. In these a file of the program's
 * name will do, too: DIR/NAME.debug, when it has the same build id. "debuginfod" among them means
 * servers, which are asked last. same: does that file belong to it? The caller frees the path.
 */
typedef bool debug_same(void *arg, const char *path, const struct debug_wanted *w);
char *debug_file_find(const struct debug_wanted *w, const char *path, const char *dirs,
		      debug_same *same, void *arg);
/* Path of the package with the split units of a program: its name with ".dwp", beside it, beside info (the
 * file with its debug information), or in one of dirs. NULL: there is none. The caller frees it. */
typedef bool debug_take(void *arg, const char *path);
char *debug_package_find(const char *path, const char *info, const char *dirs, debug_take *take,
			 void *arg);
/* What its linker called this build; empty: nothing. */
struct bytes image_build_id(const struct image *im);
/* One ELF word: 8 or 4 bytes. */
static inline u64 image_word(const struct image *im, struct bytes *b)
{
	return im->is64 ? bytes_u64(b) : bytes_u32(b);
}
/*
 * Next note of a section: name and desc are views. False: no more. A note's
 * parts are padded to 4 bytes.
 */
struct note {
	struct str name;
	u32 type;
	struct bytes desc;
};
bool image_note(struct bytes *b, struct note *ret);
