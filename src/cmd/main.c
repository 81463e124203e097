/* main.c - which command; without one, a canned tool, or run. */
#include "base/alloc.h"
#include "base/signals.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <fcntl.h>

/*
 * A map or a program must not get the number of a standard stream that is closed: it would be
 * written to. What takes its place fails like a closed one.
 */
static void reserve_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Output that stdio could not write is an error, whatever else went well. */
static int close_output(int rc)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return rc;
	/* Of a write in between only the failure is known: one more byte is told the reason. The output is
	 * cut anyway. */
	if (!errno && write(STDOUT_FILENO, "\n", 1) == 1)
		errno = 0;
	fprintf(stderr, "ERROR: write output: %s\n", errno ? strerror(errno) : "failed");
	return rc ? rc : RC_USAGE;
}

/* "opensnoop-bpfcc" is opensnoop: distributions tell the tools of several packages apart so. */
static struct str linked_name(struct str base)
{
	static const struct str endings[] = {STR("-bpfcc"), STR("-libbpf"), STR("-bpftrace"),
					     STR("-perf")};
	for (size_t i = 0; i < countof(endings); i++)
		if (str_ends(base, endings[i]))
			return str_n(base.s, base.n - endings[i].n);
	return base;
}

int run_words(int argc, char **argv)
{
	const char *base = argc ? strrchr(argv[0], '/') : NULL;
	base = base ? base + 1 : argc ? argv[0] : "";
	bool compat = !strcmp(base, "bpftrace");
	int rc, at = compat ? argc : opts_first_operand(argc, argv);
	/* To look a name up the tools are unpacked, which costs a millisecond: not for sonde's own names. */
	if (argc && !compat && strcmp(base, "sonde") &&
	    run_tool_named(linked_name(str_z(base)), 0, argc, argv, &rc))
		return rc;
	command_run *run = !compat && argc > 1 ? command_named(argv[1]) : NULL;
	if (run)
		return run(argc - 1, argv + 1, false);
	return at < argc ? run_operand(at, argc, argv) : cmd_run(argc, argv, compat);
}

int main(int argc, char **argv)
{
	program_ready();
	reserve_streams();
	signals_fill_pages();
	struct aot f;
	if (aot_find(&f))
		return close_output(run_aot(&f, argc, argv));
	return close_output(run_words(argc, argv));
}
