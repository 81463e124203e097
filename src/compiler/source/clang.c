/* clang.c - an installed clang compiles a .bpf.c file, without a shell, into a folder of its own.
 */
#include "proc/proc.h"
#include "source/cfile.h"
#include "source/source.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

enum { NEWEST = 40, OLDEST = 12, MAX_WORDS = 128, MAX_LOG = 8192 };

static const char *find_clang(struct arena *a)
{
	char name[16] = "clang";
	const char *path = proc_which(a, name);
	for (int v = NEWEST; !path && v >= OLDEST; v--) {
		snprintf(name, sizeof(name), "clang-%d", v);
		path = proc_which(a, name);
	}
	return path;
}

/* Without jump tables, which would be data. Kernel headers are found where the host's compiler has
 * them. */
static void make_args(struct compile *c, const char *in, const char *out, const char **argv)
{
	static const char *const flags[] = {
		"clang",
		"-target",
		"bpf",
		"-O2",
		"-g",
		"-w",
		"-fno-jump-tables",
		"-fno-color-diagnostics",
		"-fno-caret-diagnostics",
		"-idirafter",
	};
	const struct arch *arch = c->host->arch;
	u32 n = 0;
	for (; n < countof(flags); n++)
		argv[n] = flags[n];
	argv[n++] = arena_fmt(c->arena, "/usr/include/%s-linux-gnu", arch->name);
	argv[n++] = arena_fmt(c->arena, "-D%s", arch->c.target);
	for (u32 i = 0; i < c->headers.ndir && n + 8 < MAX_WORDS; i++) {
		argv[n++] = "-I";
		argv[n++] = c->headers.dir[i];
	}
	const char *const last[] = {"-c", "-o", out, in};
	for (u32 i = 0; i < countof(last); i++)
		argv[n++] = last[i];
	argv[n] = NULL;
}

/* In the child: only what is safe after fork. */
static void child_main(const char *clang, const char *const *argv, int log)
{
	sigset_t none;
	sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDONLY);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
		execv(clang, (char *const *)argv);
	_exit(127);
}

static struct err *run_clang(const char *clang, const char *const *argv, const char *log,
			     int *status)
{
	int fd AUTO_CLOSE = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(errno, "create %s", log);
	pid_t pid = fork();
	if (pid == 0)
		child_main(clang, argv, fd);
	if (pid < 0)
		return err_sys(errno, "fork");
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return err_sys(errno, "wait for clang");
	return NULL;
}

/* "12:5" in front of text; the place of it in source src. */
static struct loc place_in(const struct compile *c, u16 src, struct str *rest)
{
	struct str text = c->diags->source[src].text, line, col;
	u64 l = 0, k = 0;
	if (!str_cut(rest, ':', &line) || !str_cut(rest, ':', &col) || !str_u64(line, &l) ||
	    !str_u64(col, &k) || !l || !k)
		return (struct loc){0};
	struct str tail = text;
	while (--l && str_cut(&tail, '\n', &line))
		;
	u64 pos = tail.s ? (u64)(tail.s - text.s) + k - 1 : text.n;
	return (struct loc){(u32)MIN(pos, text.n), 1, src};
}

/* clang's errors: those of the file itself with their lines, others as they are. */
static void show_log(struct compile *c, struct diag *d, const char *path, u16 src, struct str log)
{
	struct diags *ds = c->diags;
	struct str line, prefix = str_z(path), error = STR(" error: "),
			 fatal = STR(" fatal error: ");
	AUTO_SB other = {0};
	while (str_cut(&log, '\n', &line)) {
		struct str rest = str_from(line, prefix.n + 1);
		struct loc at = {0};
		if (str_starts(line, prefix))
			at = place_in(c, src, &rest);
		if (at.len && (str_starts(rest, error) || str_starts(rest, fatal))) {
			rest = str_from(rest, str_starts(rest, error) ? error.n : fatal.n);
			diag_note(ds, d, at, "%.*s", STRF(rest));
		} else if (!at.len && line.n && str_find(line, STR(" generated.")) < 0) {
			sb_fmt(&other, "%s%.*s", other.n ? "\n" : "", STRF(line));
		}
	}
	if (other.n)
		diag_hint(ds, d, "clang says:\n%s", other.s);
}

bool clang_compile(struct compile *c, const char *path, u16 src, struct loc at, struct str *ret)
{
	struct diags *ds = c->diags;
	struct arena *a = c->arena;
	struct str name = ds->source[src].name, text = STR("");
	const char *clang = find_clang(a), *tmp = host_env(c->host, "TMPDIR"), *argv[MAX_WORDS];
	if (!clang) {
		diag_hint(ds,
			  diag_add(ds, E_IMPORT, at, "%.*s: clang is needed to compile it",
				   STRF(name)),
			  "install clang, or write the functions as macros or `fn` in a .bt file");
		return false;
	}
	if (c->host->no_children) {
		diag_add(ds, E_IMPORT, at,
			 "%.*s: compiling it starts clang, and this process must not "
			 "start others",
			 STRF(name));
		return false;
	}
	char *dir = arena_fmt(a, "%s/sonde-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		diag_err(ds, E_IMPORT, at, err_sys(errno, "create the folder %s", dir));
		return false;
	}
	const char *out = arena_fmt(a, "%s/out.o", dir), *log = arena_fmt(a, "%s/log", dir);
	int status = 0;
	make_args(c, path, out, argv);
	struct err *e = run_clang(clang, argv, log, &status);
	bool ok = !e && WIFEXITED(status) && !WEXITSTATUS(status) && source_read_file(a, out, ret);
	if (e) {
		diag_err(ds, E_IMPORT, at, e);
	} else if (!ok) {
		source_read_file(a, log, &text);
		text.n = MIN(text.n, (u32)MAX_LOG);
		show_log(c,
			 diag_add(ds, E_IMPORT, at, "%.*s: clang could not compile it", STRF(name)),
			 path, src, text);
	}
	unlink(out);
	unlink(log);
	rmdir(dir);
	return ok;
}
