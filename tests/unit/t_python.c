/* Functions of CPython: names and lines, as they lie in a process; layouts that make no sense. */
#include "interp/common.h"
#include "interp/python.h"
#include "test.h"
#include "unwind/lang.h"
#include <elf.h>

static struct interp_file version(u32 minor)
{
	struct interp_file f = {.label = "python3"};
	f.own[OWN_MINOR] = minor;
	f.own[OWN_FIRST] = 40;
	f.own[OWN_BYTECODE] = 184;
	f.own[OWN_TEXT] = 48;
	f.own[OWN_WIDER] = 24;
	f.own[OWN_LENGTH] = 16;
	f.own[OWN_STATE] = 32;
	f.own[OWN_BYTES] = 32;
	f.own[OWN_SIZE] = 16;
	return f;
}

static u32 line_of(u32 minor, const char *table, u32 n, u32 instr)
{
	const struct interp_file f = version(minor);
	const struct interp_code c = {.lines = str_n(table, n), .line = 1};
	return interp_python.line(&f, &c, instr);
}

/*
 * def f(a):
 *     x = [i for i in a
 *          if i]
 *     return max(
 *         len(x),
 *         a and
 *         1,
 *     )
 */
TEST(python_lines_in_steps)
{
	static const char t[] = "\x00\x01\x0e\x02\x02\x01\x06\x01\x04\x01\x02\xfd";
	const u32 at[] = {0, 12, 14, 16, 20, 22, 26, 28, 30}, line[] = {2, 2, 4, 5, 5, 6, 7, 4, 4};
	for (u32 i = 0; i < countof(at); i++)
		CHECK(line_of(9, t, sizeof(t) - 1, at[i]) == line[i]);
}

TEST(python_lines_in_ranges)
{
	static const char t[] = "\x0e\x01\x02\x02\x06\x01\x04\x01\x02\x01\x04\xfd",
			  none[] = "\x04\x80\x04\x03";
	const u32 at[] = {0, 12, 14, 16, 20, 22, 26, 28, 30}, line[] = {2, 2, 4, 5, 5, 6, 7, 4, 4};
	for (u32 i = 0; i < countof(at); i++) /* counted in units of two bytes */
		CHECK(line_of(10, t, sizeof(t) - 1, at[i] / 2) == line[i]);
	CHECK(line_of(10, none, 4, 0) == 0);
	CHECK(line_of(10, none, 4, 2) == 4);
	CHECK(line_of(10, none, 4, 4) == 0);
}

TEST(python_lines_in_entries)
{
	static const char t[] = "\x80\x00\xf0\x02\x01\x09\x0f\xf0\x00\x01\x09\x0f\x90\x41\xf0\x00"
				"\x01\x09\x0f\xf1\x00"
				"\x01\x09\x0f\xf4\x00\x01\x09\x0f\x80\x41\xe5\x0b\x0e\xdd\x08\x0b"
				"\x88\x41\x89\x06\x8c"
				"\x06\xd8\x08\x09\xf0\x00\x01\x09\x0a\xd8\x08\x09\xf1\x07\x04\x0c"
				"\x06\xf4\x00\x04\x0c"
				"\x06\xf0\x00\x04\x05\x06";
	const u32 at[] = {0, 2, 12, 24, 26, 38, 50, 66, 70, 72, 86},
		  line[] = {1, 2, 2, 2, 4, 5, 5, 6, 7, 4, 4};
	for (u32 i = 0; i < countof(at); i++)
		CHECK(line_of(11, t, sizeof(t) - 1, 184 + at[i]) == line[i]);
	CHECK(line_of(11, t, sizeof(t) - 1, 184 + 88) == 0);                 /* behind the end */
	CHECK(line_of(11, t, sizeof(t) - 1, 182) == 1);                      /* not begun */
	CHECK(line_of(11, t, sizeof(t) - 1, UNWIND_NO_INSTR) == 1);          /* not known */
	CHECK(line_of(11, "\xf8\xf8", 2, 184) == 0);                         /* no line */
	CHECK(line_of(11, "\xee\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 8, 184) != 1); /* endless number */
}

/* A str object of n characters of so many bytes. */
static void put_text(const struct interp_file *f, u8 *to, u32 state, u64 n, const void *text,
		     u32 bytes)
{
	bool ascii = state >> 6 & 1;
	memcpy(to + f->own[OWN_LENGTH], &n, sizeof(n));
	memcpy(to + f->own[OWN_STATE], &state, sizeof(state));
	memcpy(to + f->own[OWN_TEXT] + (ascii ? 0 : f->own[OWN_WIDER]), text, bytes);
}

static struct str name_of(u32 state, u64 n, const void *text, u32 bytes, struct arena *a)
{
	const struct interp_file f = version(11);
	struct unwind_code raw = {0};
	struct interp_code c;
	put_text(&f, raw.name, state, n, text, bytes);
	interp_python.code(&f, &raw, a, &c);
	return c.name;
}

enum { COMPACT = 1 << 5, ASCII = 1 << 6, ONE = 1 << 2, TWO = 2 << 2, FOUR = 4 << 2 };

TEST(python_names)
{
	struct arena a = {0};
	static const u16 two[] = {'a', 0x20ac, 0xd800};
	static const u32 four[] = {0x1f600, 0x110000, 'z'};
	CHECK(str_is(name_of(COMPACT | ASCII | ONE, 3, "abc", 3, &a), "abc"));
	CHECK(str_is(name_of(COMPACT | ASCII | ONE | 1, 3, "abc", 3, &a), "abc"));
	CHECK(str_is(name_of(COMPACT | ONE, 2,
			     "\xfc"
			     "b",
			     2, &a),
		     "\xc3\xbc"
		     "b"));
	CHECK(str_is(name_of(COMPACT | TWO, 3, two, 6, &a), "a\xe2\x82\xac?"));
	CHECK(str_is(name_of(COMPACT | FOUR, 3, four, 12, &a), "\xf0\x9f\x98\x80?z"));
	CHECK(name_of(COMPACT | 3 << 2, 3, "abc", 3, &a).n == 0); /* no such width */
	CHECK(name_of(ASCII | ONE, 3, "abc", 3, &a).n == 0);
	struct str cut = name_of(COMPACT | ASCII | ONE, UINT64_MAX, "abc", 3, &a);
	CHECK(cut.n == UNWIND_NAME_BYTES - 48 + 2 && !memcmp(cut.s + cut.n - 2, "..", 2));
	arena_free(&a);
}

/* ---- the half in user space ---- */

static struct interp_file answer;
static u32 asked;

static struct err *give(void *arg, sandbox_fn *fn, struct str args, struct sb *out)
{
	(void)arg;
	(void)fn;
	(void)args;
	asked++;
	sb_mem(out, &answer, sizeof(answer));
	return NULL;
}

TEST(python_interpreters_are_asked_for_by_name)
{
	struct unwind_langs *mem = calloc(1, sizeof(*mem));
	struct langs l = {0};
	langs_init(&l, mem);
	answer = version(11);
	answer.lang.known = 1;
	answer.lang.loop[0] = (struct unwind_range){16, 32};
	asked = 0;
	CHECK(langs_file(&l, STR("/usr/lib/python3/libc.so"), 0, give, NULL) == 0 && !asked);
	CHECK(langs_file(&l, STR("/usr/bin/python3.11"), 0, give, NULL) == 1 && asked == 1);
	CHECK(mem->lang[0].known == 1 && mem->lang[0].loop[0].n == 32);
	answer.lang.frame_bytes = 8 * UNWIND_FRAME_WORDS + 1; /* would be read past its room */
	CHECK(langs_file(&l, STR("/usr/bin/python3.11"), 0, give, NULL) == 0);
	answer.lang.frame_bytes = 0;
	answer.lang.root = UNWIND_ROOT_MAX + 1;
	CHECK(langs_file(&l, STR("/usr/bin/python3.11"), 0, give, NULL) == 0);
	answer.lang.root = 0;
	memset(answer.label, 'x', sizeof(answer.label));
	CHECK(langs_file(&l, STR("/usr/bin/python3.11"), 0, give, NULL) == 0);
	langs_free(&l);
	free(mem);
}

TEST(python_frames_are_named_by_their_words)
{
	struct unwind_langs *mem = calloc(1, sizeof(*mem));
	struct unwind_code *raw = calloc(1, sizeof(*raw));
	struct langs l = {0};
	struct interp_frame f;
	u64 word = UNWIND_WORD | 7 | (u64)UNWIND_NO_INSTR << UNWIND_WORD_INSTR;
	langs_init(&l, mem);
	CHECK(!langs_frame(&l, word, &f) && !f.language.n); /* no interpreter at all */
	answer = version(11);
	langs_file(&l, STR("python3"), 0, give, NULL);
	CHECK(!langs_frame(&l, word, &f) && str_is(f.language, "python") && !f.name.n);
	*raw = (struct unwind_code){.what = UNWIND_IS_CODE, .slot = 7};
	put_text(&answer, raw->name, COMPACT | ASCII | ONE, 3, "abc", 3);
	put_text(&answer, raw->file, COMPACT | ASCII | ONE, 4, "a.py", 4);
	raw->code[answer.own[OWN_FIRST]] = 9;
	raw->lang = 1;
	langs_take(&l, raw, sizeof(*raw)); /* of an interpreter that there is not */
	raw->lang = 0;
	raw->slot = UNWIND_CODES;
	langs_take(&l, raw, sizeof(*raw));
	raw->slot = 7;
	langs_take(&l, raw, sizeof(*raw) - 1);
	CHECK(!langs_frame(&l, word, &f));
	langs_take(&l, raw, sizeof(*raw));
	CHECK(langs_frame(&l, word, &f) && str_is(f.name, "abc") && str_is(f.file, "a.py"));
	CHECK(f.line == 9 && str_is(f.label, "python3") && !f.hidden);
	CHECK(!langs_frame(&l, word | 1ull << UNWIND_WORD_LANG, &f));
	langs_free(&l);
	free(raw);
	free(mem);
}

/* ---- files ---- */

enum { FILE_AT = 0x400000, RUNTIME_AT = FILE_AT + 0x10000 };

/* A program of CPython 3.x for a machine: its headers, the three symbols that are asked for, its version. */
struct toy_file {
	Elf64_Ehdr head;
	Elf64_Phdr all;
	Elf64_Shdr section[3];
	Elf64_Sym symbol[3];
	char names[64]; /* of symbols, and of sections */
	u32 version;
};

static void make_file(struct toy_file *f, u16 machine, u32 minor)
{
	static const char names[] = "\0_PyEval_EvalFrameDefault\0_PyRuntime\0Py_Version\0.dynsym";
	enum { LOOP = 1, RUNTIME = 26, VERSION = 37, DYNSYM = 48 };
	_Static_assert(sizeof(names) <= sizeof(f->names), "room for all");
	const u64 at = FILE_AT + offsetof(struct toy_file, version);
	*f = (struct toy_file){
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = machine,
			 .e_version = EV_CURRENT,
			 .e_phoff = offsetof(struct toy_file, all),
			 .e_shoff = offsetof(struct toy_file, section),
			 .e_ehsize = sizeof(f->head),
			 .e_phentsize = sizeof(f->all),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(f->section[0]),
			 .e_shnum = countof(f->section),
			 .e_shstrndx = 2},
		.all = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = FILE_AT,
			.p_filesz = sizeof(*f),
			.p_memsz = sizeof(*f)},
		.section = {{0},
			    {.sh_name = DYNSYM,
			     .sh_type = SHT_DYNSYM,
			     .sh_offset = offsetof(struct toy_file, symbol),
			     .sh_size = sizeof(f->symbol),
			     .sh_link = 2,
			     .sh_entsize = sizeof(f->symbol[0])},
			    {.sh_type = SHT_STRTAB,
			     .sh_offset = offsetof(struct toy_file, names),
			     .sh_size = sizeof(f->names)}},
		.symbol =
			{{.st_name = LOOP, .st_shndx = 1, .st_value = FILE_AT + 16, .st_size = 32},
			 {.st_name = RUNTIME,
			  .st_shndx = 1,
			  .st_value = RUNTIME_AT,
			  .st_size = 4096},
			 {.st_name = VERSION, .st_shndx = 1, .st_value = at, .st_size = 4}},
		.version = 3u << 24 | minor << 16,
	};
	memcpy(f->names, names, sizeof(names));
}

/* Mutexes are larger on aarch64; 3.12 has none before the key. */
TEST(python_keys_by_machine)
{
	const struct {
		u16 machine;
		u32 minor, known;
		u64 key; /* in _PyRuntime */
	} rows[] = {
		{EM_X86_64, 9, 1, 584},   {EM_AARCH64, 9, 1, 600},  {EM_X86_64, 11, 1, 592},
		{EM_AARCH64, 11, 1, 608}, {EM_X86_64, 12, 1, 1544}, {EM_AARCH64, 12, 1, 1544},
		{EM_AARCH64, 99, 0, 0},   {EM_RISCV, 11, 0, 0},
	};
	for (u32 i = 0; i < countof(rows); i++) {
		struct toy_file file;
		struct image im;
		struct interp_file f;
		make_file(&file, rows[i].machine, rows[i].minor);
		struct err *e = image_mem(&file, sizeof(file), &im);
		CHECK(!e && interp_python.find(&im, STR("python3"), FILE_AT, &f));
		CHECK(f.lang.known == rows[i].known && f.lang.loop[0].from == 16);
		if (f.lang.known)
			CHECK(f.lang.root == UNWIND_ROOT_KEY &&
			      f.lang.at == RUNTIME_AT - FILE_AT + rows[i].key);
		image_close(&im);
		err_free(e);
	}
}
