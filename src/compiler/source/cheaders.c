/* cheaders.c - headers that the C definitions of a script include. */
#include "source/cdefs.h"
#include "source/source.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { MAX_HEADER_BYTES = 1 << 24 };

/* What the compiler, not the C library, brings along. */
static const struct {
	const char *name, *text;
} builtin[] = {
	{"stddef.h", "#ifndef NULL\n#define NULL 0\n#endif\ntypedef unsigned long size_t;\n"
		     "typedef long ptrdiff_t;\ntypedef int wchar_t;\n"},
	{"stdbool.h", "#define bool _Bool\n"},
	{"stdarg.h", "typedef void *va_list;\ntypedef void *__gnuc_va_list;\n"},
	{"float.h", ""},
	{"limits.h", "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n"
		     "#define UCHAR_MAX 255\n#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n"
		     "#define USHRT_MAX 65535\n#define INT_MIN (-2147483647 - 1)\n"
		     "#define INT_MAX 2147483647\n#define UINT_MAX 4294967295U\n"
		     "#define LONG_MIN (-9223372036854775807L - 1)\n"
		     "#define LONG_MAX 9223372036854775807L\n"
		     "#define ULONG_MAX 18446744073709551615UL\n"},
};

bool source_read_file(struct arena *a, const char *path, struct str *ret)
{
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_HEADER_BYTES)
		return false;
	char *s = arena_alloc(a, (size_t)st.st_size + 1, 1);
	size_t n = 0;
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, s + n, (size_t)st.st_size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	*ret = str_n(s, n);
	return true;
}

static bool try_dir(const struct header_search *hs, struct str dir, struct str name, bool sys,
		    struct cpp_file *ret)
{
	const char *root = sys ? hs->root : "";
	const char *path = dir.n ? arena_fmt(hs->arena, "%s%.*s/%.*s", root, STRF(dir), STRF(name))
				 : arena_strz(hs->arena, name);
	if (!source_read_file(hs->arena, path, &ret->text))
		return false;
	ret->path = str_z(path);
	ret->sys = sys;
	return true;
}

static struct str dir_of(struct str path)
{
	for (u32 i = path.n; i; i--)
		if (path.s[i - 1] == '/')
			return str_n(path.s, MAX(i - 1, 1u));
	return (struct str){0};
}

/* Types of these directories' headers are in BTF. */
static bool is_kernel_header(struct str name)
{
	static const char *const dirs[] = {
		"linux/",   "net/",    "asm/",    "asm-generic/", "uapi/",  "trace/",
		"kernel/",  "fs/",     "block/",  "mm/",          "scsi/",  "sound/",
		"drm/",     "rdma/",   "crypto/", "media/",       "video/", "security/",
		"drivers/", "target/", "xen/",    "kvm/",         "acpi/",  "vdso/",
	};
	while (str_starts(name, STR("../")))
		name = str_from(name, 3);
	for (size_t i = 0; i < countof(dirs); i++)
		if (str_starts(name, str_z(dirs[i])))
			return true;
	return false;
}

/* after: the file with an #include_next; only directories behind its own count. */
static bool find_system(const struct header_search *hs, struct str name, struct str after,
			struct cpp_file *ret)
{
	const char *const dirs[] = {"/usr/local/include", "/usr/include",
				    arena_fmt(hs->arena, "/usr/include/%s-linux-gnu", hs->arch)};
	bool on = !after.n;
	for (size_t i = 0; i < countof(dirs); i++) {
		const char *path = arena_fmt(hs->arena, "%s%s/%.*s", hs->root, dirs[i], STRF(name));
		if (on && try_dir(hs, str_z(dirs[i]), name, true, ret))
			return true;
		on |= str_is(after, path);
	}
	for (size_t i = 0; i < countof(builtin); i++)
		if (str_is(name, builtin[i].name)) {
			*ret = (struct cpp_file){str_z(builtin[i].name), str_z(builtin[i].text),
						 true};
			return true;
		}
	return false;
}

/* A directory of CPATH. */
static bool find_path(const struct header_search *hs, struct str name, struct cpp_file *ret)
{
	struct str rest = hs->h->path, dir;
	while (str_cut(&rest, ':', &dir))
		if (dir.n && try_dir(hs, dir, name, false, ret))
			return true;
	return false;
}

/* Trees as the kernel's own build has them. */
static bool find_kernel(const struct header_search *hs, struct str name, struct cpp_file *ret)
{
	static const char *const places[] = {"include", "include/uapi", "include/generated/uapi"};
	const char *const trees[] = {hs->h->source, hs->h->build};
	const char *arch = !strcmp(hs->arch, "x86_64") ? "x86" : "arm64";
	for (size_t i = 0; i < countof(trees); i++) {
		for (size_t k = 0; trees[i] && k < 2 * countof(places); k++) {
			const char *place = places[k / 2];
			const char *dir = k % 2 ? arena_fmt(hs->arena, "%s/%s", trees[i], place)
						: arena_fmt(hs->arena, "%s/arch/%s/%s", trees[i],
							    arch, place);
			if (try_dir(hs, str_z(dir), name, true, ret))
				return true;
		}
	}
	return false;
}

/* Of a script whose author may ask about the machine, but not read its files. */
static enum cpp_found open_closed(const struct header_search *hs, struct str name,
				  struct cpp_file *ret)
{
	bool plain = name.n && name.s[0] != '/' && str_chr(name, '\0') < 0 &&
		     str_find(name, STR("..")) < 0;
	if (plain && (find_kernel(hs, name, ret) || find_system(hs, name, (struct str){0}, ret)))
		return CPP_FOUND;
	return hs->btf && plain && is_kernel_header(name) ? CPP_SKIP : CPP_MISSING;
}

enum cpp_found header_open(void *arg, struct str name, enum cpp_include how, struct str from,
			   struct cpp_file *ret)
{
	const struct header_search *hs = arg;
	if (hs->h->closed)
		return open_closed(hs, name, ret);
	if (!name.n || str_chr(name, '\0') >= 0)
		return CPP_MISSING;
	if (name.s[0] == '/')
		return try_dir(hs, (struct str){0}, name, false, ret) ? CPP_FOUND : CPP_MISSING;
	struct str here = dir_of(from.n ? from : hs->h->script);
	bool sys = from.n && str_starts(from, STR("/usr/"));
	if (how == CPP_NEXT && sys)
		return find_system(hs, name, from, ret) ? CPP_FOUND : CPP_SKIP;
	bool quoted = how == CPP_QUOTED;
	if (quoted && !sys && try_dir(hs, here, name, false, ret))
		return CPP_FOUND;
	for (u32 i = 0; i < hs->h->ndir; i++)
		if (try_dir(hs, str_z(hs->h->dir[i]), name, false, ret))
			return CPP_FOUND;
	if (find_path(hs, name, ret))
		return CPP_FOUND;
	if (quoted && sys && try_dir(hs, str_from(here, str_z(hs->root).n), name, true, ret))
		return CPP_FOUND;
	if (find_kernel(hs, name, ret) || find_system(hs, name, (struct str){0}, ret))
		return CPP_FOUND;
	return hs->btf && is_kernel_header(name) ? CPP_SKIP : CPP_MISSING;
}
