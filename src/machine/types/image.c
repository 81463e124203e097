/* image.c - ELF headers, sections and segments; see image.h. */
#include "types/image.h"
#include "base/alloc.h"
#include "base/file.h"
#include "types/zip.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct err *parse_header(struct image *im)
{
	struct bytes b = bytes_of(im->p, im->n);
	const u8 *ident = bytes_take(&b, EI_NIDENT);
	if (!ident || memcmp(ident, ELFMAG, SELFMAG)) {
		struct err *e =
			err_new(im->n > 2 && !memcmp(im->p, "#!", 2)
					? "a script, not an ELF file: name the program that it runs"
					: "not an ELF file");
		e->no = ENOEXEC;
		return e;
	}
	if (ident[EI_DATA] != ELFDATA2LSB)
		return err_new("big-endian ELF files are not supported");
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return err_new("damaged ELF file: class %u", ident[EI_CLASS]);
	im->is64 = ident[EI_CLASS] == ELFCLASS64;
	im->type = bytes_u16(&b);
	im->machine = bytes_u16(&b);
	bytes_u32(&b);
	image_word(im, &b);
	im->phoff = image_word(im, &b);
	im->shoff = image_word(im, &b);
	bytes_u32(&b);
	bytes_u16(&b);
	im->phentsize = bytes_u16(&b);
	im->phnum = bytes_u16(&b);
	im->shentsize = bytes_u16(&b);
	im->shnum = bytes_u16(&b);
	im->shstrndx = bytes_u16(&b);
	if (b.bad)
		return err_new("damaged ELF file: short header");
	u32 sh_min = im->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	u32 ph_min = im->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (im->shentsize < sh_min || !im->shoff)
		im->shoff = im->shnum = 0;
	if (im->phentsize < ph_min || !im->phoff)
		im->phoff = im->phnum = 0;
	return NULL;
}

static bool read_section(const struct image *im, u32 i, struct section *s, u32 *name)
{
	struct bytes b = bytes_of(im->p, im->n);
	u64 at;
	if (__builtin_add_overflow(im->shoff, (u64)i * im->shentsize, &at))
		return false;
	bytes_seek(&b, at);
	*name = bytes_u32(&b);
	s->type = bytes_u32(&b);
	s->flags = image_word(im, &b);
	s->addr = image_word(im, &b);
	s->off = image_word(im, &b);
	s->size = image_word(im, &b);
	s->link = bytes_u32(&b);
	bytes_u32(&b);
	image_word(im, &b);
	s->entsize = image_word(im, &b);
	return !b.bad;
}

/* Files with 65280 sections or more keep the numbers in section 0. */
static void extended_numbers(struct image *im)
{
	struct section s;
	u32 name;
	if (!im->shoff || (im->shnum && im->shstrndx != SHN_XINDEX) ||
	    !read_section(im, 0, &s, &name))
		return;
	if (!im->shnum)
		im->shnum = (u32)MIN(s.size, im->n / im->shentsize);
	if (im->shstrndx == SHN_XINDEX)
		im->shstrndx = s.link;
}

struct err *image_mem(const void *p, size_t n, struct image *ret)
{
	struct image im = {.p = p, .n = n};
	struct err *err = parse_header(&im);
	if (err)
		return err;
	extended_numbers(&im);
	*ret = im;
	return NULL;
}

struct err *image_find(const char *path, struct image_file *ret)
{
	struct stat st;
	u32 n = 0;
	AUTO_FREE char *name = xstrdup(path);
	if (zip_archive(path, &n))
		name[n] = 0;
	int look AUTO_CLOSE = file_open(name, O_PATH);
	if (look < 0 || fstat(look, &st))
		return err_sys(errno, "open %s", name);
	if (!S_ISREG(st.st_mode)) /* opening a device may do things */
		return err_new("%s: not an ELF file", name);
	int fd AUTO_CLOSE = file_open(name, O_RDONLY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		return err_sys(errno, "open %s", name);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return err_new("%s: not an ELF file", name);
	*ret = (struct image_file){fd, n, (u64)st.st_size, st.st_dev, st.st_ino};
	fd = -1;
	return NULL;
}

struct err *image_map(const struct image_file *f, const char *path, struct image *ret)
{
	struct image im;
	/* Not private: in private mappings the kernel places the breakpoints of others' uprobes. */
	void *map = mmap(NULL, f->size, PROT_READ, MAP_SHARED, f->fd, 0);
	if (map == MAP_FAILED)
		return err_sys(errno, "map %s", path);
	struct bytes b = bytes_of(map, f->size);
	struct err *err = f->member ? zip_member(b, str_z(path + f->member + 2), &b) : NULL;
	if (!err)
		err = image_mem(b.p, b.n, &im);
	if (err) {
		munmap(map, f->size);
		return err_wrap(err, "%s: ", path);
	}
	im.base = (u64)(b.p - (const u8 *)map);
	im.map = map;
	im.map_size = f->size;
	im.ino = f->ino;
	im.dev = f->dev;
	*ret = im;
	return NULL;
}

struct err *image_open(const char *path, struct image *ret)
{
	struct image_file f;
	struct err *err = image_find(path, &f);
	if (err)
		return err;
	err = image_map(&f, path, ret);
	close(f.fd);
	return err;
}

void image_close(struct image *im)
{
	if (im->map)
		munmap(im->map, im->map_size);
	free(im->table);
	*im = (struct image){0};
}

bool image_section(const struct image *im, u32 i, struct section *ret)
{
	struct section s = {0}, names = {0};
	u32 name, unused;
	if (i >= im->shnum || !read_section(im, i, &s, &name))
		return false;
	s.name = STR("");
	if (im->shstrndx < im->shnum && read_section(im, im->shstrndx, &names, &unused)) {
		struct bytes b = image_bytes(im, &names);
		bytes_seek(&b, name);
		const char *z = bytes_z(&b);
		if (z)
			s.name = str_z(z);
	}
	*ret = s;
	return true;
}

bool image_section_named(const struct image *im, const char *name, struct section *ret)
{
	struct section s;
	for (u32 i = 0; image_section(im, i, &s); i++) {
		if (!str_is(s.name, name))
			continue;
		*ret = s;
		return true;
	}
	return false;
}

bool image_segment(const struct image *im, u32 i, struct segment *ret)
{
	struct bytes b = bytes_of(im->p, im->n);
	u64 at;
	if (im->by_table && i < im->phnum) {
		*ret = im->table[i];
		return true;
	}
	if (i >= im->phnum || __builtin_add_overflow(im->phoff, (u64)i * im->phentsize, &at))
		return false;
	bytes_seek(&b, at);
	struct segment s = {.type = bytes_u32(&b)};
	if (im->is64)
		s.flags = bytes_u32(&b);
	s.off = image_word(im, &b);
	s.addr = image_word(im, &b);
	image_word(im, &b);
	s.filesz = image_word(im, &b);
	s.memsz = image_word(im, &b);
	if (!im->is64)
		s.flags = bytes_u32(&b);
	*ret = s;
	return !b.bad;
}

struct bytes image_bytes(const struct image *im, const struct section *s)
{
	if (s->type == SHT_NOBITS || s->off > im->n || s->size > im->n - s->off)
		return bytes_of(im->p, 0);
	return bytes_of(im->p + s->off, s->size);
}

bool image_offset(const struct image *im, u64 addr, u64 *off)
{
	struct segment s;
	for (u32 i = 0; image_segment(im, i, &s); i++) {
		if (s.type != PT_LOAD || addr < s.addr || addr - s.addr >= s.memsz)
			continue;
		*off = addr - s.addr + s.off;
		return true;
	}
	return false;
}

bool segment_maps(const struct segment *g, u64 off, u32 page)
{
	u64 in_page = page - 1;
	return off >= (g->off & ~in_page) && off < ((g->off + g->filesz + in_page) & ~in_page);
}

bool image_vaddr(const struct image *im, u64 off, u32 page, u64 *addr)
{
	struct segment s;
	for (u32 i = 0; image_segment(im, i, &s); i++) {
		if (s.type != PT_LOAD || !(s.flags & PF_X) || !segment_maps(&s, off, page))
			continue;
		*addr = off - s.off + s.addr;
		return true;
	}
	return false;
}

bool image_note(struct bytes *b, struct note *ret)
{
	if (b->bad || b->at == b->n)
		return false;
	u32 namesz = bytes_u32(b), descsz = bytes_u32(b), type = bytes_u32(b);
	const u8 *name = bytes_take(b, namesz);
	bytes_take(b, MIN(-namesz & 3, b->n - b->at));
	const u8 *desc = bytes_take(b, descsz);
	bytes_take(b, MIN(-descsz & 3, b->n - b->at));
	if (!name || !desc)
		return false;
	size_t len = strnlen((const char *)name, namesz);
	*ret = (struct note){{(const char *)name, (u32)len}, type, bytes_of(desc, descsz)};
	return true;
}

bool image_is_code(const struct image *im, u64 addr)
{
	struct segment seg;
	for (u32 i = 0; image_segment(im, i, &seg); i++)
		if (seg.type == PT_LOAD && (seg.flags & PF_X) && addr >= seg.addr &&
		    addr - seg.addr < seg.filesz)
			return true;
	return false;
}

u64 image_entry(const struct image *im)
{
	struct bytes b = bytes_of(im->p, im->n);
	bytes_seek(&b, im->is64 ? offsetof(Elf64_Ehdr, e_entry) : offsetof(Elf32_Ehdr, e_entry));
	return image_word(im, &b);
}
