/* watched N MS: reads the variable ticks and writes it, one more, N times, MS milliseconds apart. */
#include <stdlib.h>
#include <unistd.h>

volatile unsigned long ticks = 1000;

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1;

	for (int i = 0; i < n; i++) {
		unsigned long now = ticks;

		__asm__("" : "+r"(now)); /* else one instruction may do both */
		ticks = now + 1;
		usleep(argc > 2 ? (useconds_t)strtol(argv[2], NULL, 0) * 1000 : 0);
	}
	return 0;
}
