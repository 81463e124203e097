/* x32calls: getpid three times by the number that x32 programs use, whether the kernel knows it or not. */
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 3; i++)
		syscall(0x40000000 | SYS_getpid);
	return 0;
}
