/*
 * eachcall FILE: makes the system calls in FILE, words that end in NUL: a number, its arguments, "+". An
 * argument is a number, "@N": page N of zeros, or "s:TEXT".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, WORDS = 1 << 17 };

static char *pages;

static long value(const char *word, int i)
{
	if (*word == '@')
		return (long)(pages + PAGE * atoi(word + 1));
	if (strncmp(word, "s:", 2) != 0)
		return (long)strtoul(word, NULL, 0);
	char *text = pages + PAGE * (PAGES + i);
	return (long)strcpy(text, word + 2);
}

int main(int argc, char **argv)
{
	static char words[WORDS];
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!f)
		return 1;
	size_t n = fread(words, 1, sizeof(words) - 1, f);
	fclose(f);
	pages = mmap((void *)0x10000000, 2L * PAGES * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
	long arg[8] = {0};
	int i = 0;
	for (char *w = words; w < words + n; w += strlen(w) + 1) {
		if (strcmp(w, "+") != 0) {
			if (i < 7)
				arg[i] = value(w, i);
			i++;
			continue;
		}
		memset(pages, 0, (size_t)PAGES * PAGE);
		syscall(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
		memset(arg, 0, sizeof(arg));
		i = 0;
	}
	syscall(SYS_exit_group, 0);
}
