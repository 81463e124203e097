/* Methods of Java: names, lines, and what is inlined, as they lie in a process. */
#include "base/alloc.h"
#include "core/java.h"
#include "core/sink.h"
#include "interp/common.h"
#include "interp/java_scopes.h"
#include "report/report.h"
#include "test.h"
#include "unwind/lang.h"
#include <stdlib.h>
#include <string.h>

static struct str bytes_str(const u8 *p, size_t n)
{
	return str_n((const char *)p, (u32)n);
}

/* {bytes, lines} in a byte, or behind 255 as two packed numbers. */
TEST(java_lines_of_bytecodes)
{
	const u8 table[] = {0 << 3 | 5, 4 << 3 | 1, 255, 100, 5, 0};
	struct str t = bytes_str(table, sizeof(table));
	CHECK(java_table_line(t, 17, 0) == 5 && java_table_line(t, 17, 3) == 5);
	CHECK(java_table_line(t, 17, 4) == 6 && java_table_line(t, 17, 53) == 6);
	CHECK(java_table_line(t, 17, 54) == 3);
	/* since Java 20 bytes count from 1 */
	const u8 one_based[] = {0 << 3 | 5, 255, 101, 6, 0};
	t = bytes_str(one_based, sizeof(one_based));
	CHECK(java_table_line(t, 25, 49) == 5 && java_table_line(t, 25, 50) == 2);
	CHECK(!java_table_line(t, 25, UNWIND_NO_INSTR));
	/* one that goes on behind what was copied */
	CHECK(!java_table_line(str_n(t.s, t.n - 1), 25, 100) && !java_table_line(STR(""), 17, 0));
}

/* A nmethod of Java 17 in memory that begins at BASE. */
enum {
	BASE = 0x10000,
	PLACES_AT = 0x60,
	SCOPES_AT = 0x68,
	END_AT = 0x70,
	LIST_AT = 0x78,
	LIST = 0x100,
	SCOPES = 0x110,
	PLACES = 0x140,
	END = PLACES + 4 * 16,
};
struct memory {
	u8 v[END];
};

static bool read_memory(void *arg, u64 addr, void *to, size_t n)
{
	const struct memory *m = arg;
	if (addr < BASE || addr - BASE > END || n > END - (addr - BASE))
		return false;
	memcpy(to, m->v + (addr - BASE), n);
	return true;
}

static void put(struct memory *m, u32 at, u64 v, u32 n)
{
	memcpy(m->v + at, &v, n);
}

static void name_of(void *arg, u64 method, struct arena *a, struct interp_code *ret)
{
	static const u8 lines[] = {0 << 3 | 7, 10 << 3 | 2, 0};
	(void)arg;
	(void)a;
	*ret = (struct interp_code){.name = method == 1 ? STR("A.outer") : STR("A.inner"),
				    .file = STR("A.java"),
				    .lines = bytes_str(lines, sizeof(lines))};
}

static void make_nmethod(struct memory *m, struct interp_file *f)
{
	/* none; outer at bytecode 10; inner at 0, which that calls */
	static const u8 scopes[] = {0, 0, 1, 11, 1, 2, 1};
	static const u32 places[][4] = {{UINT32_MAX}, {16, 1}, {32, 4}, {INT32_MAX}};
	*m = (struct memory){0};
	put(m, PLACES_AT, PLACES, 4);
	put(m, SCOPES_AT, BASE + SCOPES, 8);
	put(m, END_AT, END, 4);
	put(m, LIST_AT, LIST, 4);
	put(m, LIST, 1, 8);
	put(m, LIST + 8, 2, 8);
	memcpy(m->v + SCOPES, scopes, sizeof(scopes));
	memcpy(m->v + PLACES, places, sizeof(places));
	*f = (struct interp_file){0};
	f->own[JAVA_OWN_PLACES] = PLACES_AT;
	f->own[JAVA_OWN_SCOPES_AT] = SCOPES_AT;
	f->own[JAVA_OWN_PLACES_END] = END_AT;
	f->own[JAVA_OWN_LIST] = LIST_AT;
	f->own[JAVA_OWN_MAJOR] = 17;
}

TEST(java_scopes_of_compiled_code)
{
	struct memory m;
	struct interp_file f;
	struct interp_memory mem = {&m, read_memory, NULL, NULL};
	struct arena a = {0};
	struct interp_frame inner;
	AUTO_SB out = {0};
	make_nmethod(&m, &f);
	struct str s = java_scopes(&f, &mem, BASE, name_of, NULL, &a);
	CHECK(java_scope_line(s, 0) == 9 && java_scope_line(s, 15) == 9);
	java_scope_inlined(s, 15, &out);
	CHECK(!out.n);
	/* a call of 16 bytes ends at 32 */
	CHECK(java_scope_line(s, 31) == 9);
	java_scope_inlined(s, 31, &out);
	struct bytes r = bytes_of(out.s, out.n);
	CHECK(interp_next(&r, &inner) && str_is(inner.name, "A.inner") && inner.line == 7);
	CHECK(r.at == r.n);
	CHECK(!java_scope_line(s, 32) && !java_scope_line(s, UNWIND_NO_INSTR));
	CHECK(!java_scope_line(STR(""), 0));
	/* a scope that calls itself */
	put(&m, SCOPES + 4, 4, 1);
	s = java_scopes(&f, &mem, BASE, name_of, NULL, &a);
	CHECK(java_scope_line(s, 15) == 9 && !java_scope_line(s, 31));
	/* memory that is not there any more */
	CHECK(!java_scopes(&f, &mem, BASE + END, name_of, NULL, &a).n);
	arena_free(&a);
}

static void put_text(u8 *to, const char *text)
{
	u64 n = strlen(text);
	memcpy(to, &n, sizeof(n));
	memcpy(to + JAVA_SYMBOL_HEAD, text, n);
}

TEST(java_names_of_methods)
{
	struct interp_file f = {0};
	struct unwind_code *raw = calloc(1, sizeof(*raw));
	struct arena a = {0};
	struct interp_code c;
	put_text(raw->name, "get");
	put_text(raw->file + JAVA_FILE_CLASS, "org/x/Main$$Lambda+0x01");
	put_text(raw->file + JAVA_FILE_SOURCE, "Main.java");
	interp_java.code(&f, raw, &a, &c);
	CHECK(str_is(c.name, "org.x.Main$$Lambda/0x01.get") && str_is(c.file, "Main.java"));
	memset(raw->name, 0, sizeof(raw->name));
	interp_java.code(&f, raw, &a, &c);
	CHECK(str_is(c.name, "<unknown>"));
	/* longer than what was copied */
	u64 n = JAVA_NAME_BYTES + 1;
	memset(raw->name, 'x', sizeof(raw->name));
	memcpy(raw->name, &n, sizeof(n));
	interp_java.code(&f, raw, &a, &c);
	CHECK(c.name.n == strlen("org.x.Main$$Lambda/0x01.") + JAVA_NAME_BYTES + 2);
	arena_free(&a);
	free(raw);
}

/* ---- what is reported of stacks without methods ---- */

struct sentences {
	struct sb text;
};

static struct err *take_sentence(void *self, const struct item *it)
{
	struct sentences *x = self;
	CHECK(it->kind == I_LOST);
	sb_add(&x->text, it->str);
	sb_char(&x->text, '\n');
	return NULL;
}

TEST(java_stacks_before_the_layout_was_read)
{
	static const struct sink sink = {.name = "sentences", .put = take_sentence};
	static u64 lost[UNWIND_LOST_WORDS];
	struct sentences said = {0};
	struct reporter r = {.output = {.sink = &sink, .self = &said}};
	struct langs l = {0};
	struct unwind_langs *mem = xcalloc(1, sizeof(*mem));
	langs_init(&l, mem);
	l.file[0] = (struct lang_file){&interp_java, {.label = "java 17"}};
	l.file[1] = (struct lang_file){&interp_java, {.label = "java"}};
	l.n = 2;
	mem->lang[0].known = 1;
	lost[UNWIND_LOST_LAYOUT] = 1;
	l.unknown[1] = 12;
	langs_report(&l, &r, lost);
	sb_z(&said.text, "");
	CHECK_STR(said.text.s,
		  "1 stack of java 17 without Java frames: their layout had not been read yet\n"
		  "12 stacks of java without Java frames: unknown layout\n");
	sb_free(&said.text);
	langs_free(&l);
	free(mem);
}
