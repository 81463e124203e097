/*
 * main.c - all fuzzers in one program, since linking each for itself takes minutes. Which one it is depends on the name
 * that the program was started by: fuzz_NAME.
 *
 * Each fuzz_NAME.c defines LLVMFuzzerTestOneInput(), which the Makefile renames to fuzz_NAME(). FUZZERS is the list of
 * them, as F(NAME) F(NAME) ...
 */
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F(name) int fuzz_##name(const u8 *data, size_t n);
FUZZERS
#undef F

static const struct {
	const char *name;
	int (*one)(const u8 *data, size_t n);
} fuzzers[] = {
#define F(name) {"fuzz_" #name, fuzz_##name},
	FUZZERS
#undef F
};

static int (*chosen)(const u8 *data, size_t n);

/* Called by libFuzzer before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];
	(void)argc;
	for (size_t i = 0; i < countof(fuzzers); i++)
		if (!strcmp(fuzzers[i].name, name))
			chosen = fuzzers[i].one;
	if (!chosen) {
		fprintf(stderr, "%s: no fuzzer has this name\n", name);
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	return chosen(data, n);
}
