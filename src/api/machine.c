#include "api/machine.h"
#include "proc/proc.h"
#include "types/debuginfod.h"
#include <errno.h>
#include <sys/stat.h>

static struct err *check_root(const char *root)
{
	enum { MAX_ROOT = 1024 };
	struct stat st;
	if (strlen(root) > MAX_ROOT)
		return err_new("path is too long: %.60s...", root);
	if (stat(root, &st))
		return err_sys(errno, "look for %s", root);
	return S_ISDIR(st.st_mode) ? NULL : err_new("%s is not a directory", root);
}

/* If debug information is wanted from servers, report what keeps it from coming. */
static struct err *check_servers(const struct machine_spec *spec, struct arena *a, struct str dirs)
{
	struct str dir;
	const char *urls = spec->debug_servers;
	bool asked = false;
	while (str_cut(&dirs, ':', &dir))
		asked |= debuginfod_is(dir);
	if (!asked)
		return NULL;
	if (!urls || !*urls)
		return err_new(
			"DEBUGINFOD_URLS is not set; it names the servers (sudo -E keeps it)");
	if (!proc_which(a, DEBUGINFOD_PROGRAM))
		return err_new("there is no " DEBUGINFOD_PROGRAM
			       " here (package debuginfod, or elfutils)");
	return NULL;
}

static struct err *use_debug_dirs(const struct machine_spec *spec, struct arena *a, struct host *h)
{
	AUTO_SB dirs = {0};
	for (u32 i = 0; i < spec->ndebug_dir; i++)
		sb_fmt(&dirs, "%s%s", i ? ":" : "", spec->debug_dir[i]);
	h->debug_dirs = spec->ndebug_dir ? arena_strz(a, sb_str(&dirs)) : NULL;
	return check_servers(spec, a, sb_str(&dirs));
}

static struct err *disable(const struct machine_spec *spec, struct host *h)
{
	for (u32 i = 0; i < spec->nno_feature; i++) {
		struct str rest = str_z(spec->no_feature[i]), name;
		while (str_cut(&rest, ',', &name))
			if (name.n && !host_disable(h, name) && !str_is(name, "kprobe_session"))
				return err_new("unknown feature '%.*s' (names: sonde info)",
					       STRF(name));
	}
	return NULL;
}

static void close_query(struct host *h)
{
	query_close(h->query);
	h->query = NULL;
}

static struct err *open_recordings(const struct machine_spec *spec, struct arena *a, struct host *h)
{
	struct query *q = NULL;
	struct err *e = query_open(&spec->recordings, &q);
	if (e) {
		host_init(h, a, "");
		return e;
	}
	query_host(q, h, a);
	h->env = spec->env;
	h->no_children = spec->no_children;
	h->query = q;
	host_at_end(h, close_query);
	return NULL;
}

struct err *machine_open(const struct machine_spec *spec, struct arena *a, struct host *h,
			 const char **what)
{
	*what = "";
	if (spec->recordings.npath)
		return open_recordings(spec, a, h);
	*what = "root";
	struct err *e = spec->root ? check_root(spec->root) : NULL;
	host_init(h, a, spec->root && !e ? spec->root : "");
	h->vmlinux = spec->vmlinux;
	h->env = spec->env;
	h->no_children = spec->no_children;
	if (!e && spec->btf) {
		*what = "btf";
		e = host_use_btf(h, spec->btf);
	}
	if (!e && spec->traceable) {
		*what = "traceable-functions";
		e = host_use_functions(h, spec->traceable);
	}
	if (!e) {
		*what = "debuginfo debuginfod";
		e = use_debug_dirs(spec, a, h);
	}
	if (!e) {
		*what = "no-feature";
		e = disable(spec, h);
	}
	return e;
}
