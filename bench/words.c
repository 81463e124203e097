/*
 * words DIRECTORY [THRICE]: for the pictures of docs/pictures.md: reads the files of a directory, counts their words,
 * sorts them, looks for patterns, packs the text, and sums it up by code that it makes itself and keeps a list of. It
 * goes on until it is ended.
 */
#include <dirent.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))

enum { MAX_TEXT = 1 << 20, MAX_WORDS = 1 << 16, BUCKETS = 1 << 12 };
struct word {
	const char *s;
	size_t n;
	unsigned count;
	struct word *next;
};
static char text[MAX_TEXT + 1];
static size_t bytes;
static struct word words[MAX_WORDS], *bucket[BUCKETS], *order[MAX_WORDS];
static unsigned nword;
static unsigned long (*sum)(const char *text, size_t n);

static void read_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n;
	while (fd >= 0 && bytes < MAX_TEXT && (n = read(fd, text + bytes, 512)) > 0)
		bytes += (size_t)n;
	if (fd >= 0)
		close(fd);
}

static void read_directory(const char *path)
{
	DIR *d = opendir(path);
	bytes = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_type == DT_REG)
			read_file(dirfd(d), e->d_name);
	if (d)
		closedir(d);
	text[MIN(bytes, (size_t)MAX_TEXT)] = 0;
}

static inline __attribute__((always_inline)) unsigned hash(const char *s, size_t n)
{
	unsigned h = 2166136261u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

static inline __attribute__((always_inline)) struct word *find(unsigned h, const char *s, size_t n)
{
	struct word *w = bucket[h % BUCKETS];
	while (w && (w->n != n || memcmp(w->s, s, n)))
		w = w->next;
	return w;
}

static __attribute__((noinline)) void count_word(const char *s, size_t n)
{
	unsigned h = hash(s, n);
	struct word *w = find(h, s, n);
	if (!w && nword < MAX_WORDS) {
		w = &words[nword++];
		*w = (struct word){s, n, 0, bucket[h % BUCKETS]};
		bucket[h % BUCKETS] = w;
	}
	if (w)
		w->count++;
}

static __attribute__((noinline)) void count_words(void)
{
	memset(bucket, 0, sizeof(bucket));
	nword = 0;
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, " \t\n(){}[];,.*&\"'");
		if (n)
			count_word(s, n);
		s += n + (s[n] != 0);
	}
}

static __attribute__((noinline)) int by_count(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strncmp(x->s, y->s, x->n < y->n ? x->n : y->n);
}

static __attribute__((noinline)) void sort_words(void)
{
	for (unsigned i = 0; i < nword; i++)
		order[i] = &words[i];
	qsort(order, nword, sizeof(*order), by_count);
}

static __attribute__((noinline)) unsigned match_lines(const char *pattern)
{
	regex_t re;
	unsigned found = 0;
	regmatch_t m;
	if (regcomp(&re, pattern, REG_EXTENDED))
		return 0;
	for (const char *s = text; found < 60 && !regexec(&re, s, 1, &m, 0); s += m.rm_eo + 1)
		found++;
	regfree(&re);
	return found;
}

static __attribute__((noinline)) void pack(void)
{
	uLongf n = compressBound(bytes / 4);
	Bytef *out = malloc(n);
	if (out)
		compress2(out, &n, (const Bytef *)text, bytes / 4, 6);
	free(out);
}

static __attribute__((noinline)) void write_out(void)
{
	int fd = open("/dev/null", O_WRONLY);
	for (unsigned i = 0; fd >= 0 && i < nword; i++)
		if (write(fd, order[i]->s, order[i]->n) < 0)
			break;
	close(fd);
}

/* push rbp; mov rbp, rsp; sum of the bytes, eight times over; pop rbp; ret */
static void make_code(void)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0xb9, 0x08, 0x00,
					     0x00, 0x00, 0x31, 0xd2, 0x44, 0x0f, 0xb6, 0x04, 0x17,
					     0x4c, 0x01, 0xc0, 0x48, 0xff, 0xc2, 0x48, 0x39, 0xf2,
					     0x72, 0xf0, 0xff, 0xc9, 0x75, 0xea, 0x5d, 0xc3};
	char path[64];
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (at == MAP_FAILED)
		exit(1);
	memcpy(at, code, sizeof(code));
	sum = (unsigned long (*)(const char *, size_t))at;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	if (f) {
		fprintf(f, "%lx %zx made_sum_of_bytes\n", (unsigned long)at, sizeof(code));
		fclose(f);
	}
}

int main(int argc, char **argv)
{
	unsigned long all = 0;
	make_code();
	do {
		read_directory(argc > 1 ? argv[1] : ".");
		count_words();
		sort_words();
		for (int i = 0; i < (argc > 2 ? 3 : 1); i++)
			all += match_lines("(struct|enum) +[a-z]+_?[a-z]* *\\{");
		pack();
		write_out();
		all += sum(text, bytes);
	} while (all); /* until there was nothing to read */
	return 1;
}
