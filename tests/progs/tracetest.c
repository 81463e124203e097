/* tracetest N: fires tracetest:testprobe with the time, and tracetest:many with known values. */
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/time.h>

int main(int argc, char **argv)
{
	/* In memory when a probe reads it: a page not yet touched would read as empty. */
	static volatile char text[] = "text";
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1;

	text[0] = 't';
	for (int i = 0; i < n; i++) {
		signed char small = -7;
		unsigned short wide = 65000;
		long big = 1L << 40;
		struct timeval tv;

		gettimeofday(&tv, NULL);
		DTRACE_PROBE1(tracetest, testprobe, tv.tv_sec);
		DTRACE_PROBE5(tracetest, many, i, small, wide, big, text);
		DTRACE_PROBE(tracetest, none);
	}
	return 0;
}
