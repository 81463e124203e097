#include "base/alloc.h"
#include "base/sha256.h"
#include "test.h"
#include <string.h>

static void check_sum(const void *p, size_t n, const char *want, int line)
{
	char sum[SHA256_HEX + 1];
	sha256_hex(p, n, sum);
	test_str(__FILE__, line, "sum", sum, want);
}

TEST(sha256_bytes)
{
	u8 sum[SHA256_BYTES];
	sha256("abc", 3, sum);
	CHECK(sum[0] == 0xba && sum[1] == 0x78 && sum[30] == 0x15 && sum[31] == 0xad);
}

static void check_letters(size_t n, const char *want, int line)
{
	AUTO_FREE char *p = xcalloc(n + 1, 1);
	memset(p, 'a', n);
	check_sum(p, n, want, line);
}
#define LETTERS(n, want) check_letters(n, want, __LINE__)

/* Of the standard, and what sha256sum prints around the edges of blocks. */
TEST(sha256_of_known_texts)
{
	check_sum("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		  __LINE__);
	LETTERS(0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	LETTERS(1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
	LETTERS(55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	LETTERS(56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	LETTERS(63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
	LETTERS(64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	LETTERS(65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
	LETTERS(119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
	LETTERS(120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
	LETTERS(128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e");
	LETTERS(1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}
