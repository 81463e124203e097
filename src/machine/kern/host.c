/* host.c - the machine as one thing: what it is when it is opened and closed, tracefs, BTF. */
#include "kern/host.h"
#include "base/file.h"
#include "kern/bpf.h"
#include "kern/caps.h"
#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>

static const struct arch *find_arch(struct host *h)
{
	struct str name;
	struct err *e = h->recorded ? host_read(h, &name, "/arch") : NULL;
	const struct arch *a = h->recorded && !e ? arch_by_name(str_trim(name)) : NULL;
	err_free(e);
	return a ? a : arch_native();
}

/* A recorded machine has a number of what its programs add to return addresses. */
static u64 find_signed_bits(struct host *h)
{
	struct str text;
	u64 bits = 0;
	if (!h->recorded)
		return h->arch->signed_bits ? h->arch->signed_bits() : 0;
	struct err *e = host_read(h, &text, "/signed_bits");
	if (e || !str_u64(str_trim(text), &bits))
		bits = 0;
	err_free(e);
	return bits;
}

void host_init(struct host *h, struct arena *a, const char *root)
{
	*h = (struct host){.root = root, .recorded = root[0] != 0, .arena = a};
	u32 *cpus;
	struct err *e = host_cpus(h, "possible", &cpus, &h->ncpu);
	if (e) {
		long n = h->recorded ? 1 : sysconf(_SC_NPROCESSORS_CONF);
		h->ncpu = n > 0 ? (u32)n : 1;
		err_free(e);
	}
	h->page_size = (u32)sysconf(_SC_PAGESIZE);
	h->arch = find_arch(h);
	h->signed_bits = find_signed_bits(h);
	bpf_library_init();
}

void host_init_recording(struct host *h, struct arena *a, const struct arch *arch, u32 ncpu,
			 const struct recorded *r)
{
	static const enum feature has[] = {
		FEAT_NONE,    FEAT_RINGBUF, FEAT_FOR_EACH, FEAT_LOOP,  FEAT_MAY_GOTO,
		FEAT_BOOT_NS, FEAT_TAI_NS,  FEAT_BIG_KEYS, FEAT_GROWS, FEAT_PERCPU_LOOKUP,
	};
	*h = (struct host){.root = "/dev/null", /* below it there is nothing */
			   .recorded = true,
			   .recording = r,
			   .arena = a,
			   .arch = arch,
			   .ncpu = ncpu,
			   .page_size = (u32)sysconf(_SC_PAGESIZE),
			   .btf_tried = true,
			   .usual_tried = true};
	for (u32 f = 0; f < FEAT_COUNT; f++)
		h->feature[f] = 1;
	for (u32 i = 0; i < countof(has); i++)
		h->feature[has[i]] = 2;
}

void host_at_end(struct host *h, void (*fn)(struct host *h))
{
	for (u32 i = 0; i < h->nend; i++)
		if (h->end[i] == fn)
			return;
	assert(h->nend < countof(h->end));
	h->end[h->nend++] = fn;
}

void host_deinit(struct host *h)
{
	while (h->nend)
		h->end[--h->nend](h);
	if (h->traceable)
		tab_free(h->traceable);
	if (h->btf)
		btf_types_close(h->btf);
	h->btf = NULL;
	h->btf_tried = false;
	for (struct debug_file *f = h->debug; f; f = f->next)
		if (f->close)
			f->close(f->debug);
	h->debug = NULL;
}

struct err *host_use_btf(struct host *h, const char *path)
{
	static const enum feature own[] = {FEAT_TASK_BTF, FEAT_FENTRY, FEAT_TP_BTF};
	struct types *t;
	if (!strcmp(path, KERNEL_BTF))
		return NULL;
	struct err *e = btf_types_open(path, h->arena, NULL, &t);
	if (e)
		return e;
	h->btf = t;
	h->btf_tried = true;
	h->btf_file = path;
	h->feature[FEAT_BTF] = 2;
	for (u32 i = 0; i < countof(own); i++)
		h->feature[own[i]] = 1;
	return NULL;
}

struct err *host_use_functions(struct host *h, const char *path)
{
	AUTO_SB b = {0};
	struct str line, func;
	int no = file_read(path, SIZE_MAX, &b);
	if (no)
		return err_file(no, path, "read functions from %s", path);
	h->functions = arena_str(h->arena, sb_str(&b));
	h->traceable = arena_new(h->arena, struct tab);
	for (struct str rest = h->functions; str_cut(&rest, '\n', &line);) {
		str_cut(&line, ' ', &func);
		if (func.n)
			tab_add(h->traceable, func, h);
	}
	return NULL;
}

bool host_traceable(const struct host *h, struct str func)
{
	return !h->traceable || tab_get(h->traceable, func);
}

struct types *host_btf(struct host *h)
{
	if (h->btf_tried || h->feature[FEAT_BTF] == 1)
		return h->btf;
	h->btf_tried = true;
	const char *path =
		h->btf_file ? h->btf_file : arena_fmt(h->arena, "%s" KERNEL_BTF, h->root);
	struct err *e = btf_types_open(path, h->arena, NULL, &h->btf);
	if (e) {
		h->btf = NULL;
		err_free(e);
	}
	return h->btf;
}

/* Not access(2): that asks for the real user, without capabilities. */
static bool has_events(struct host *h, const char *dir, int *no)
{
	struct stat st;
	bool ok = !stat(arena_fmt(h->arena, "%s%s/events", h->root, dir), &st);
	if (!ok)
		*no = *no == EACCES ? EACCES : errno;
	return ok;
}

static struct err *no_tracefs(struct host *h, const char *dir, int no, int mount_no)
{
	if (no != ENOENT || h->recorded)
		return err_file(no, dir, "open %s%s/events", h->root, dir);
	if (str_is(lockdown_mode(h), "confidentiality"))
		return err_new(
			"tracefs is empty, as the kernel is locked down (confidentiality), "
			"until it boots without that; rawtracepoint, kprobe, fentry and user "
			"probes work without tracefs");
	if (mount_no == ENODEV)
		return err_new("this kernel has no tracefs, which lists the tracepoints");
	return err_new(
		"tracefs is not mounted, and mounting it failed: %s; as root: mount -t tracefs "
		"tracefs %s, for a container: -v %s:%s",
		strerror(mount_no), dir, dir, dir);
}

struct err *host_tracefs(struct host *h, const char **ret)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int no = 0, mount_no = 0;
	for (u32 i = 0; !h->tracefs && i < countof(dirs); i++)
		if (has_events(h, dirs[i], &no))
			h->tracefs = dirs[i];
	if (!h->tracefs && !h->recorded && no == ENOENT) {
		if (mount("tracefs", dirs[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
			mount_no = errno;
		else if (has_events(h, dirs[0], &no))
			h->tracefs = dirs[0];
	}
	if (!h->tracefs)
		return no_tracefs(h, dirs[0], no, mount_no);
	*ret = h->tracefs;
	return NULL;
}

bool host_compat_word(struct host *h, u32 *off)
{
	const struct arch_calls *calls = &h->arch->calls;
	struct types *k = calls->compat ? host_btf(h) : NULL;
	const struct type *task = k ? btf_types_find(k, STR("task_struct"), T_STRUCT) : NULL;
	struct field info, word;
	if (!task || !type_field(task, STR("thread_info"), &info) ||
	    !type_field(info.type, str_z(calls->compat_member), &word))
		return false;
	*off = (info.bit_off + word.bit_off) / 8;
	return word.type->size >= 4;
}
