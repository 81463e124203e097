/* oddcalls: calls by numbers that no system call has: 999 twice, -1 three times, of x32 (bit 30) writev twice; arguments 1 to 6. */
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	static const long nr[] = {999, 999, -1, -1, -1, 0x40000000 | 20, 0x40000000 | 20};
	for (unsigned i = 0; i < sizeof(nr) / sizeof(nr[0]); i++)
		syscall(nr[i], 1, 2, 3, 4, 5, 6);
	return 0;
}
