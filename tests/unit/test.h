/* test.h - TEST(name) { CHECK(...); } anywhere in tests/unit is found and run. */
#pragma once
#include <stdio.h>
#include <string.h>

struct test {
	const char *name, *file;
	void (*fn)(void);
	struct test *next;
};
void test_add(struct test *t);
void test_fail(const char *file, int line, const char *what);
/* Prints both texts when they differ. */
void test_str(const char *file, int line, const char *what, const char *got, const char *want);
/* The test cannot say anything here (not root, no BTF): counted apart. */
void test_skip(const char *why);

#define TEST(id)                                                         \
	static void test_##id(void);                                     \
	__attribute__((constructor)) static void add_##id(void)          \
	{                                                                \
		static struct test t = {#id, __FILE__, test_##id, NULL}; \
		test_add(&t);                                            \
	}                                                                \
	static void test_##id(void)
#define CHECK(x)                                           \
	do {                                               \
		if (!(x))                                  \
			test_fail(__FILE__, __LINE__, #x); \
	} while (0)
#define CHECK_STR(a, b) test_str(__FILE__, __LINE__, #a, (a), (b))
