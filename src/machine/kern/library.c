/* library.c - libbpf without its loader of objects.
 *
 * Of libbpf sonde uses what reads and writes BTF. In an archive that part calls the loader's, to
 * print, to turn a pointer into an error and, in some versions, to find out how the kernel names
 * system calls, or whether it takes names of maps and programs. That would bring all of it: 200 KB
 * of a static program. Hence definitions of these here, weak, so that those of a loader that is
 * linked for another reason go first; and what is asked of the loader itself is asked only where it
 * is.
 */
#include "kern/bpf.h"
#include <bpf/libbpf.h>
#include <errno.h>

#define WEAK __attribute__((weak))

WEAK void libbpf_print(enum libbpf_print_level level, const char *format, ...);
WEAK int probe_kern_syscall_wrapper(int token);
WEAK bool kernel_supports(const struct bpf_object *o, int feature);

extern __typeof__(libbpf_set_print) libbpf_set_print WEAK;
extern __typeof__(libbpf_version_string) libbpf_version_string WEAK;

void libbpf_print(enum libbpf_print_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

/* As in libbpf 1: NULL says that errno tells why. */
WEAK long libbpf_get_error(const void *p)
{
	long no = (long)(intptr_t)p;
	if (!no)
		return -errno;
	if (no < 0 && no >= -4095) {
		errno = (int)-no;
		return no;
	}
	return 0;
}

/* Sonde asks no libbpf about it. */
int probe_kern_syscall_wrapper(int token)
{
	(void)token;
	return 0;
}

/* Until libbpf 1.3, by its bpf_map_create() and bpf_prog_load(), which sonde does not call. */
bool kernel_supports(const struct bpf_object *o, int feature)
{
	(void)o;
	(void)feature;
	return true;
}

void bpf_library_init(void)
{
	if (libbpf_set_print)
		libbpf_set_print(NULL);
}

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x

const char *bpf_library_version(void)
{
	return libbpf_version_string
		       ? libbpf_version_string()
		       : "v" TEXT(LIBBPF_MAJOR_VERSION) "." TEXT(LIBBPF_MINOR_VERSION);
}
