/* main.c - the program: its streams, and its exit status. operand.c finds the command. */
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
