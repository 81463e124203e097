/* Recordings: written, read back, cut at every byte, damaged at every byte. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "rec/pack.h"
#include "rec/read.h"
#include "rec/ring.h"
#include "rec/write.h"
#include "test.h"
#include <fcntl.h>
#include <stdlib.h>

enum { NROW = 200, NCELL = 9, NPART = NCELL + 2, SMALL_BLOCK = 1500 };

static const struct rec_column columns[NCELL] = {
	{.expr = STR("args.fd"),
	 .ctype = STR("int"),
	 .kind = REC_INT,
	 .coding = REC_ZIGZAG,
	 .sign = true,
	 .size = 4},
	{.expr = STR("args.count"),
	 .ctype = STR("size_t"),
	 .kind = REC_INT,
	 .coding = REC_VARINT,
	 .size = 8},
	{.expr = STR("args.hash"),
	 .ctype = STR("u64"),
	 .kind = REC_INT,
	 .coding = REC_RAW,
	 .size = 8},
	{.expr = STR("str(args.filename)"),
	 .ctype = STR("char[64]"),
	 .kind = REC_STRING,
	 .coding = REC_TEXT,
	 .size = 64},
	{.expr = STR("buf(args.p, 8)"),
	 .ctype = STR("char[8]"),
	 .kind = REC_BYTES,
	 .coding = REC_BLOB,
	 .size = 8},
	{.expr = STR("ustack"),
	 .ctype = STR("ustack"),
	 .kind = REC_STACK,
	 .coding = REC_STACKID,
	 .size = 8},
	{.expr = STR("args.v"),
	 .ctype = STR("short[3]"),
	 .kind = REC_ARRAY,
	 .coding = REC_LIST,
	 .element = REC_ZIGZAG,
	 .size = 6,
	 .count = 3},
	{.expr = STR("ksym(args.ip)"),
	 .ctype = STR("u64"),
	 .printer = STR("ksym"),
	 .kind = REC_NAMED,
	 .coding = REC_PAIR,
	 .size = 8},
	{.expr = STR("args.state"),
	 .ctype = STR("enum state"),
	 .kind = REC_ENUM,
	 .coding = REC_VARINT,
	 .size = 4,
	 .enum_id = 1},
};

/* ---- rows that are known ---- */

static u64 mix(u64 n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	return n ^ n >> 27;
}

static void fill_cells(struct rec_cell *c, u32 i, u32 stack, struct arena *a)
{
	static const i16 list[3] = {-1, 300, 0};
	*c++ = (struct rec_cell){.u = (u64)(i64)(i % 3 ? (i32)i : -(i32)i)};
	*c++ = (struct rec_cell){.u = i % 50 ? i * 100 : ~0ull};
	*c++ = (struct rec_cell){.u = mix(i)};
	/* Some are too long to be kept once. */
	struct str s = str_z(arena_fmt(a, "/tmp/%u", i % 7));
	if (i % 60 == 59) {
		char *p = arena_alloc(a, 1000, 1);
		memset(p, 'x', 1000);
		s = str_n(p, 1000);
	}
	*c++ = (struct rec_cell){.str = s, .cut = i % 60 == 59};
	*c++ = (struct rec_cell){.str = str_n("\0ab\xff", i % 5)};
	*c++ = (struct rec_cell){.u = i % 4 ? stack : 0};
	*c++ = (struct rec_cell){.str = str_n((const char *)list, sizeof(list))};
	*c++ = (struct rec_cell){.u = 0xffffffff81000000ull + i % 3, .str = STR("vfs_read")};
	*c++ = (struct rec_cell){.u = i % 2};
}

static u32 stack_of(struct rec_writer *w, u32 i)
{
	u32 map = rec_mapping(
		w, &(struct rec_mapping){.path = STR("/bin/x"), .build_id = STR("ab12")});
	u32 frame[2];
	for (u32 k = 0; k < 2; k++)
		frame[k] = rec_frame(w, &(struct rec_frame){.mapping = map,
							    .addr = 0x1000 + k + i % 2,
							    .sym = STR("main"),
							    .sym_off = k,
							    .text = STR("main+1")});
	return rec_stack(w, &(struct rec_stack){.n = 2, .frame = frame});
}

static void facts(struct rec_writer *w)
{
	static const struct rec_enumerator states[] = {{0, STR("OFF")}, {1, STR("ON")}};
	rec_meta(w, STR("hostname"), STR("here"));
	rec_feature(w, STR("ringbuf"), true);
	rec_feature(w, STR("loop"), false);
	rec_clock(w,
		  &(struct rec_clock){.mono = 1, .real = 2, .boot = 3, .tai = 4, .uncertainty = 5});
	rec_blob(w, STR("btf"), STR("some bytes"));
	CHECK(rec_enum(w, &(struct rec_enum){.name = STR("state"), .v = states, .n = 2}) == 1);
}

/* One schema has no columns. Ids above 30 take a byte more. */
static u32 row_schema(u32 i)
{
	return i % 10 == 9 ? 40 : 1;
}

static void put_rows(struct rec_writer *w, u32 n)
{
	struct arena a = {0};
	for (u32 i = 0; i < n; i++) {
		u32 cpu = i / 3 % 4;
		struct rec_cell cell[NCELL];
		struct rec_task t = {.tid = 100 + cpu,
				     .pid = 100,
				     .ppid = 1,
				     .uid = 5,
				     .gid = 6,
				     .cgroup = 77,
				     .start = 88,
				     .since = 1000 + i,
				     .known = 31,
				     .comm = i > 90 ? STR("renamed") : STR("worker")};
		u32 task = rec_task(w, &t), stack = stack_of(w, i);
		fill_cells(cell, i, stack, &a);
		if (i == 90)
			rec_exit(w, &(struct rec_exit){
					    .ts = 1090, .tid = 103, .pid = 100, .code = 256});
		rec_row(w, &(struct rec_event){.schema = row_schema(i),
					       .cpu = cpu,
					       .task = i % 20 ? task : 0,
					       .missing = i % 100 == 50 ? 3 : 0,
					       .ts = 1000000 + i * 10 - i % 4,
					       .cell = cell});
		err_free(rec_tick(w, 0));
		arena_reset(&a);
	}
	arena_free(&a);
}

static void write_file(struct sb *out, enum rec_codec codec, u32 remember)
{
	struct rec_writer *w = rec_create_mem(&(struct rec_start){.real = 5000,
								  .mono = 1000,
								  .ncpu = 4,
								  .codec = codec,
								  .block_bytes = SMALL_BLOCK,
								  .remember = remember},
					      out);
	facts(w);
	for (u32 i = 1; i <= 40; i++)
		CHECK(rec_schema(w, &(struct rec_schema){.type = STR("tracepoint"),
							 .probe = STR("tracepoint:a:b"),
							 .act = STR("keep"),
							 .column = columns,
							 .ncolumn = i == 1 ? NCELL : 0}) == i);
	put_rows(w, NROW);
	rec_loss(w, &(struct rec_loss){.from = 5,
				       .to = 6,
				       .n = 3,
				       .kind = STR("lost_events"),
				       .who = STR("x"),
				       .text = STR("3 events were lost")});
	CHECK(rec_rows(w) == NROW && !rec_dropped(w));
	CHECK(!rec_finish(w, END_SIGNAL, STR("interrupted"), NULL));
}

/* ---- rows as texts ---- */

struct parts {
	struct str v[NPART];
	bool missing[NPART];
	u32 n;
};

static struct str stack_text(struct rec_file *f, u32 id, struct arena *a)
{
	const struct rec_stack *s = rec_stack_of(f, id);
	const char *text = "";
	for (u32 i = 0; s && i < s->n; i++) {
		const struct rec_frame *fr = rec_frame_of(f, s->frame[i]);
		const struct rec_mapping *m = fr ? rec_mapping_of(f, fr->mapping) : NULL;
		struct str sym = fr ? fr->sym : STR("?"), path = m ? m->path : STR("?");
		text = arena_fmt(a, "%s;%.*s+%llu %.*s", text, STRF(sym), fr ? fr->addr : 0,
				 STRF(path));
	}
	return str_z(text);
}

static void parts_of(struct rec_file *f, const struct rec_row *r, struct arena *a, struct parts *p)
{
	const struct rec_task *t = r->task;
	*p = (struct parts){.n = 2 + r->schema->ncolumn};
	p->v[0] = str_z(arena_fmt(a, "%llu %u %u", r->ts, r->cpu, r->schema->id));
	if (t)
		p->v[1] =
			str_z(arena_fmt(a, "%u %u %u %u %u %llu %llu %.*s", t->tid, t->pid, t->ppid,
					t->uid, t->gid, t->cgroup, t->start, STRF(t->comm)));
	p->missing[1] = !t && r->task_id;
	for (u32 i = 0; i < r->schema->ncolumn; i++) {
		const struct rec_cell *c = &r->cell[i];
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu %d %u ", r->schema->column[i].kind == REC_STACK ? c->u != 0 : c->u,
		       c->cut, c->str.n);
		sb_add(&b, c->str);
		if (r->schema->column[i].kind == REC_STACK)
			sb_add(&b, stack_text(f, (u32)c->u, a));
		p->v[2 + i] = arena_str(a, sb_str(&b));
		p->missing[2 + i] = c->missing;
	}
}

/* The rows of the whole file, by turn. */
struct expected {
	struct arena a;
	struct parts row[NROW + 16];
	u64 last;
};

static void expect_all(struct expected *x, const struct sb *file)
{
	struct rec_file *f;
	struct rec_row r;
	struct err *e = rec_open_mem(file->s, file->n, "test", &f);
	CHECK(!e);
	if (e)
		return;
	u32 n = 0;
	for (; rec_next(f, &r, &e) && r.turn < countof(x->row); n++) {
		parts_of(f, &r, &x->a, &x->row[r.turn]);
		for (u32 i = 0; i < x->row[r.turn].n; i++)
			CHECK(!x->row[r.turn].missing[i]);
		x->last = r.turn;
	}
	CHECK(!e && n == NROW);
	rec_close(f);
}

/* Every row that is read is one of the file; how many, and whether something is said to be missing. */
static u32 rows_right(const struct expected *x, struct rec_file *f, bool *loss, bool *ok)
{
	struct arena a = {0};
	struct rec_row r;
	struct err *e;
	u32 n = 0, nloss;
	bool missing = false;
	u64 turn = 0;
	for (; rec_next(f, &r, &e); n++) {
		struct parts p;
		bool known = r.turn < countof(x->row) && x->row[r.turn].n && r.turn >= turn;
		turn = r.turn + 1;
		parts_of(f, &r, &a, &p);
		*ok &= known && p.n == x->row[r.turn].n;
		for (u32 i = 0; *ok && i < p.n; i++) {
			bool hole = i > 1 && memchr(p.v[i].s, '?', p.v[i].n);
			missing |= p.missing[i] || hole;
			*ok &= p.missing[i] || hole || str_eq(p.v[i], x->row[r.turn].v[i]);
		}
		arena_reset(&a);
	}
	rec_losses(f, &nloss);
	*loss = e || nloss > 1 || rec_info(f)->cut || !rec_info(f)->closed;
	*ok &= !missing || *loss;
	err_free(e);
	arena_free(&a);
	return n;
}

TEST(rec_numbers)
{
	static const u64 v[] = {0, 1, 127, 128, 16383, 16384, 1ull << 32, 1ull << 63, ~0ull};
	for (u32 i = 0; i < countof(v); i++) {
		u8 buf[REC_VARINT_BYTES];
		u8 *end = varint_put(buf, v[i]);
		struct rec_bytes b = {buf, end, false};
		CHECK(varint_take(&b) == v[i] && !b.bad && b.p == end);
		CHECK((u64)unzigzag(zigzag((i64)v[i])) == v[i]);
		b = (struct rec_bytes){buf, end - 1, false};
		varint_take(&b);
		CHECK(b.bad);
	}
	static const u8 eleven[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	struct rec_bytes b = {eleven, eleven + sizeof(eleven), false};
	varint_take(&b);
	CHECK(b.bad);
	CHECK(zigzag(-1) == 1 && zigzag(1) == 2 && zigzag(-2) == 3);
}

static void check_facts(struct rec_file *f)
{
	const struct rec_info *in = rec_info(f);
	u32 n;
	CHECK(in->real == 5000 && in->mono == 1000 && in->ncpu == 4 && in->major == 1);
	CHECK(in->nrow == NROW && in->rows == NROW && in->closed && in->end == END_SIGNAL &&
	      !in->cut);
	CHECK(str_is(in->reason, "interrupted") && in->lost == 3);
	CHECK(in->first == 1000000 && in->last == 1000000 + (NROW - 1) * 10 - (NROW - 1) % 4);
	CHECK(str_is(rec_meta_of(f, STR("hostname")), "here") && !rec_meta_of(f, STR("no")).s);
	const struct rec_feature *feat = rec_features(f, &n);
	CHECK(n == 2 && feat[0].has && !feat[1].has && str_is(feat[1].name, "loop"));
	const struct rec_clock *c = rec_clocks(f, &n);
	CHECK(n == 1 && c->mono == 1 && c->real == 2 && c->boot == 3 && c->tai == 4 &&
	      c->uncertainty == 5);
	const struct rec_loss *l = rec_losses(f, &n);
	CHECK(n == 1 && l->from == 5 && l->to == 6 && l->n == 3 && str_is(l->kind, "lost_events") &&
	      str_is(l->text, "3 events were lost"));
	const struct rec_enum *e = rec_enum_of(f, 1);
	CHECK(e && e->n == 2 && str_is(e->name, "state") && str_is(e->v[1].name, "ON") &&
	      !rec_enum_of(f, 2));
	const struct rec_schema *const *s = rec_schemas(f, &n);
	CHECK(n == 40 && s[0]->ncolumn == NCELL && str_is(s[0]->probe, "tracepoint:a:b") &&
	      str_is(s[0]->column[7].printer, "ksym") && s[0]->column[6].count == 3);
	CHECK(rec_total_of(f, 1)->rows == NROW - NROW / 10 &&
	      rec_total_of(f, 40)->rows == NROW / 10 && !rec_total_of(f, 2)->rows);
	AUTO_SB blob = {0};
	CHECK(rec_blob_of(f, STR("btf"), &blob) && str_is(sb_str(&blob), "some bytes") &&
	      !rec_blob_of(f, STR("no"), &blob));
}

TEST(rec_round)
{
	for (u32 codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
		if (!rec_has_codec(codec))
			continue;
		AUTO_SB file = {0};
		struct expected *x = xcalloc(1, sizeof(*x));
		struct rec_file *f;
		struct rec_row r;
		struct err *e;
		write_file(&file, codec, 0);
		expect_all(x, &file);
		CHECK(x->last == NROW + 6 - 1);
		CHECK(str_is(x->row[1].v[0], "1000009 0 1"));
		CHECK(str_is(x->row[1].v[1], "100 100 1 5 6 77 88 worker"));
		CHECK(str_is(x->row[4].v[2], "4 0 0 ") &&
		      str_is(x->row[3].v[2], "18446744073709551613 0 0 "));
		CHECK(str_is(x->row[2].v[5], "0 0 6 /tmp/2"));
		CHECK(str_is(x->row[2].v[7], "1 0 0 ;main+4096 /bin/x;main+4097 /bin/x"));
		CHECK(!rec_open_mem(file.s, file.n, "test", &f));
		check_facts(f);
		/* Twice the same, and only some. */
		for (u32 pass = 0; pass < 3; pass++) {
			u32 n = 0;
			rec_rewind(f);
			if (pass == 2)
				rec_between(f, 1000500, 1000600);
			while (rec_next(f, &r, &e))
				n += r.ts >= 1000500 && r.ts <= 1000600;
			CHECK(!e && n == 10);
		}
		bool want[41] = {[40] = true};
		rec_rewind(f);
		rec_between(f, 0, ~0ull);
		rec_want(f, want, countof(want));
		u32 n = 0;
		while (rec_next(f, &r, &e))
			n += r.schema->id == 40;
		u32 nexit;
		CHECK(n == NROW / 10 && rec_exits(f, &nexit)->code == 256 && nexit == 1);
		rec_close(f);
		arena_free(&x->a);
		free(x);
	}
}

/* What is remembered is forgotten all the time: new ids, the same rows. */
TEST(rec_reset)
{
	AUTO_SB all = {0}, small = {0};
	struct expected *x = xcalloc(1, sizeof(*x));
	struct rec_file *f;
	bool loss, ok = true;
	write_file(&all, CODEC_NONE, 0);
	write_file(&small, CODEC_NONE, 1);
	expect_all(x, &all);
	CHECK(!rec_open_mem(small.s, small.n, "test", &f));
	CHECK(rows_right(x, f, &loss, &ok) == NROW && ok && !loss);
	rec_close(f);
	CHECK(small.n > all.n);
	arena_free(&x->a);
	free(x);
}

TEST(rec_cut)
{
	AUTO_SB file = {0};
	struct expected *x = xcalloc(1, sizeof(*x));
	u32 last = 0, wrong = 0, silent = 0, fewer = 0;
	write_file(&file, rec_best_codec(), 0);
	expect_all(x, &file);
	for (size_t n = 0; n < file.n; n++) {
		struct rec_file *f;
		char *copy = xmalloc(n + 1);
		memcpy(copy, file.s, n);
		struct err *e = rec_open_mem(copy, n, "test", &f);
		if (e) {
			CHECK(n < REC_FILE_HEADER);
			err_free(e);
		} else {
			bool loss, ok = true;
			u32 rows = rows_right(x, f, &loss, &ok);
			wrong += !ok;
			silent += !loss;
			fewer += rows < last;
			last = rows;
			rec_close(f);
		}
		free(copy);
	}
	CHECK(!wrong && !silent && !fewer && last == NROW);
	arena_free(&x->a);
	free(x);
}

/* Rows that are read and rows that are said to be lost are all rows, where the number is known. */
TEST(rec_flip)
{
	AUTO_SB file = {0};
	struct expected *x = xcalloc(1, sizeof(*x));
	u32 wrong = 0, silent = 0, refused = 0, uncounted = 0;
	write_file(&file, rec_best_codec(), 0);
	expect_all(x, &file);
	for (size_t i = 0; i < file.n; i++) {
		struct rec_file *f;
		u8 bit = (u8)(1 << i % 8);
		file.s[i] ^= (char)bit;
		struct err *e = rec_open_mem(file.s, file.n, "test", &f);
		if (e) {
			refused++;
			CHECK(i < 8);
			err_free(e);
		} else {
			bool loss, ok = true;
			u32 rows = rows_right(x, f, &loss, &ok), nloss;
			const struct rec_loss *l = rec_losses(f, &nloss);
			u64 sum = rows;
			for (u32 k = 0; k < nloss; k++)
				sum += str_is(l[k].kind, "corrupt_file") ? l[k].n : 0;
			wrong += !ok;
			silent += !loss && rows != NROW;
			uncounted += sum < NROW && rec_info(f)->closed;
			rec_close(f);
		}
		file.s[i] ^= (char)bit;
	}
	CHECK(!wrong && !silent && refused == 8);
	CHECK(!uncounted);
	arena_free(&x->a);
	free(x);
}

/* ---- other versions ---- */

static void put_u16(struct sb *b, size_t at, u16 v)
{
	memcpy(b->s + at, &v, sizeof(v));
}
static void seal(struct sb *b, size_t at, size_t n) /* the checksum behind n bytes */
{
	u32 crc = rec_crc(0, b->s + at, n);
	memcpy(b->s + at + n, &crc, sizeof(crc));
}

/* A block of an unknown type behind the file header. */
static struct err *with_block(u8 type, u16 flags, struct rec_file **f, struct sb *file)
{
	struct sb whole = {0};
	write_file(&whole, CODEC_NONE, 0);
	sb_mem(file, whole.s, whole.n);
	sb_free(&whole);
	file->s[REC_FILE_HEADER + 4] = (char)type;
	put_u16(file, REC_FILE_HEADER + 6, flags);
	seal(file, REC_FILE_HEADER, REC_BLOCK_HEADER - 4);
	return rec_open_mem(file->s, file->n, "test", f);
}

TEST(rec_versions)
{
	AUTO_SB a = {0}, b = {0}, c = {0};
	struct rec_file *f;
	struct err *e = with_block(99, 0, &f, &a);
	CHECK(!e);
	rec_close(f);
	e = with_block(99, BLOCK_NEEDED, &f, &b);
	CHECK(e);
	if (e)
		CHECK_STR(e->msg,
			  "test: block of the unknown type 99 at byte 64: use a newer sonde");
	err_free(e);
	write_file(&c, CODEC_NONE, 0);
	put_u16(&c, 10, 7); /* a newer minor version is read */
	seal(&c, 0, REC_FILE_HEADER - 4);
	CHECK(!rec_open_mem(c.s, c.n, "test", &f));
	rec_close(f);
	put_u16(&c, 8, 2);
	seal(&c, 0, REC_FILE_HEADER - 4);
	e = rec_open_mem(c.s, c.n, "test", &f);
	CHECK(e);
	if (e)
		CHECK_STR(e->msg, "test has format version 2.7; this sonde reads version 1");
	err_free(e);
	e = rec_open_mem("text", 4, "test", &f);
	CHECK(e);
	if (e)
		CHECK_STR(e->msg, "test is not a recording of sonde");
	err_free(e);
}

/* No room: rows are dropped and counted, and the file is whole. */
TEST(rec_full)
{
	struct rec_writer *w;
	struct err *e = rec_create("/dev/full", &(struct rec_start){.codec = CODEC_NONE}, &w);
	CHECK(e && strstr(e->msg, "/dev/full"));
	err_free(e);
	e = rec_create("/nonexistent/f", &(struct rec_start){.codec = CODEC_NONE}, &w);
	CHECK(e);
	if (e)
		CHECK_STR(e->msg, "open /nonexistent/f: No such file or directory");
	err_free(e);
}

/* Left without an end, as by kill -9: what was flushed is there. Names are by generation. */
TEST(rec_unfinished)
{
	char dir[] = "/tmp/t_rec.XXXXXX", path[64];
	struct rec_writer *w;
	struct rec_file *f;
	struct rec_row r;
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f.sonde", dir);
	struct err *e =
		rec_create(path, &(struct rec_start){.codec = CODEC_NONE, .remember = 1}, &w);
	CHECK(!e);
	u32 schema = rec_schema(w, &(struct rec_schema){.type = STR("self"),
							.probe = STR("begin"),
							.act = STR("keep")});
	u32 before = rec_generation(w),
	    task = rec_task(w, &(struct rec_task){.tid = 7, .comm = STR("x")});
	rec_row(w, &(struct rec_event){.schema = schema, .ts = 10, .task = task});
	CHECK(!rec_tick(w, 10) && rec_bytes_written(w) == REC_FILE_HEADER);
	CHECK(!rec_tick(w, 11 + REC_BLOCK_AGE_NS) && rec_bytes_written(w) > REC_FILE_HEADER);
	CHECK(rec_generation(w) == before + 1);
	CHECK(rec_schema_total(w, schema).rows == 1);
	rec_row(w, &(struct rec_event){.schema = schema, .ts = 20});
	rec_abandon(w);
	CHECK(!rec_open(path, &f));
	CHECK(rec_info(f)->nrow == 1 && !rec_info(f)->closed && !rec_info(f)->cut);
	CHECK(rec_next(f, &r, &e) && r.ts == 10 && rec_task_of(f, r.task_id) == r.task &&
	      r.task->tid == 7);
	u32 n;
	rec_metas(f, &n);
	CHECK(!n && !rec_next(f, &r, &e) && !e);
	rec_close(f);
	unlink(path);
	rmdir(dir);
}

/* ---- in memory ---- */

enum { RING_ROWS = 60000, RING_BYTES = 1 << 20, RING_NS_PER_ROW = 1000 };

static struct err *save(struct rec_writer *w, u64 now, const char *path, struct rec_saved *saved)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const struct rec_start s = {
		.real = now + 5, .mono = now, .ncpu = 4, .codec = rec_best_codec()};
	return rec_save(w, &s, fd, path, STR("why"), saved);
}

/* The last rows, without a gap, with their texts, stacks and tasks. */
static u64 last_rows(const char *path, u64 *first)
{
	struct rec_file *f;
	struct rec_row r;
	struct err *e = rec_open(path, &f);
	u64 n = 0, next = 0;
	CHECK(!e);
	if (e)
		return err_free(e), 0;
	CHECK(rec_info(f)->closed);
	CHECK(str_is(rec_info(f)->reason, "why"));
	for (; rec_next(f, &r, &e); n++) {
		u64 i = r.ts / RING_NS_PER_ROW;
		*first = n ? *first : i;
		CHECK(!n || (i == next && !r.missing));
		CHECK(r.task && r.task->tid == i % 100 + 1);
		char text[32];
		snprintf(text, sizeof(text), "/tmp/%llu", i % 1000);
		CHECK(str_is(r.cell[0].str, text));
		next = i + 1;
	}
	CHECK(!e);
	rec_close(f);
	return n;
}

static void fill_ring(struct rec_writer *w, const struct rec_ring *ring, u32 from, u32 to,
		      u64 *most)
{
	for (u32 i = from; i < to; i++) {
		char text[32];
		snprintf(text, sizeof(text), "/tmp/%u", i % 1000);
		struct rec_cell cell = {.str = str_z(text)};
		u64 ts = (u64)i * RING_NS_PER_ROW;
		u32 task = rec_task(w, &(struct rec_task){.tid = i % 100 + 1,
							  .pid = 1,
							  .comm = STR("ring"),
							  .known = KNOWN_COMM});
		rec_row(w,
			&(struct rec_event){
				.schema = 1, .cpu = i % 4, .task = task, .ts = ts, .cell = &cell});
		if (rec_full(w))
			CHECK(!rec_tick(w, ts));
		*most = MAX(*most, rec_ring_bytes(ring));
	}
}

static struct rec_writer *ring_writer(struct rec_ring *ring)
{
	struct rec_writer *w = rec_create_ring(&(struct rec_start){.ncpu = 4}, ring);
	rec_schema(w, &(struct rec_schema){.type = STR("tracepoint"),
					   .probe = STR("tracepoint:a:b"),
					   .act = STR("keep"),
					   .column = &columns[3],
					   .ncolumn = 1});
	CHECK(!rec_begin(w));
	return w;
}

/* By size: never more than that, and most of it is used. */
TEST(rec_ring_size)
{
	struct rec_ring *ring = rec_ring_new(RING_BYTES, 0);
	struct rec_writer *w = ring_writer(ring);
	struct rec_saved saved;
	char path[] = "/tmp/t_rec_ringXXXXXX";
	int fd = mkstemp(path);
	u64 most = 0, first = 0;
	close(fd);
	fill_ring(w, ring, 1, RING_ROWS * 5, &most);
	CHECK(most <= RING_BYTES && most > RING_BYTES / 4 * 3);
	CHECK(!save(w, RING_ROWS * 5ull * RING_NS_PER_ROW, path, &saved));
	u64 n = last_rows(path, &first);
	CHECK(n == saved.rows && n > 10000 && first + n == RING_ROWS * 5);
	/* And goes on. */
	fill_ring(w, ring, RING_ROWS * 5, RING_ROWS * 5 + 100, &most);
	CHECK(!save(w, (RING_ROWS * 5ull + 100) * RING_NS_PER_ROW, path, &saved));
	n = last_rows(path, &first);
	CHECK(n == saved.rows && first + n == RING_ROWS * 5 + 100);
	rec_abandon(w);
	rec_ring_free(ring);
	unlink(path);
}

/* By time: at least that, and not much more. */
TEST(rec_ring_time)
{
	const u64 span = 10000ull * RING_NS_PER_ROW;
	struct rec_ring *ring = rec_ring_new(16 << 20, span);
	struct rec_writer *w = ring_writer(ring);
	struct rec_saved saved;
	char path[] = "/tmp/t_rec_ringXXXXXX";
	int fd = mkstemp(path);
	u64 most = 0, first = 0;
	close(fd);
	for (u32 i = 1; i < RING_ROWS; i += 100) {
		fill_ring(w, ring, i, i + 100, &most);
		CHECK(!rec_tick(w, ~0ull));
	}
	CHECK(!save(w, (u64)RING_ROWS * RING_NS_PER_ROW, path, &saved));
	u64 n = last_rows(path, &first);
	CHECK(n == saved.rows && n >= 10000 && n < 12000);
	rec_abandon(w);
	rec_ring_free(ring);
	unlink(path);
}
