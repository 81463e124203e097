/* The model of `sonde live`, its views in a grid of cells, and what goes to the terminal; without one. */
#include "base/clock.h"
#include "core/unit.h"
#include "live/term.h"
#include "live/view.h"
#include "sinks.h"

/* A script with one map. */
struct run {
	struct live_model m;
	struct map map;
	struct live_lines lines;
	struct view_state st;
	struct arena a;
	u64 ns;
	enum type_kind kind; /* 0: a plain integer */
	bool adds;
};

static void run_begin(struct run *r, const char *name, bool adds)
{
	*r = (struct run){.map = {.name = str_z(name), .role = MAP_USER}, .adds = adds};
	model_init(&r->m, &(struct live_limits){600 * (u64)SECOND_NS, 64 << 20});
	text_lines_init(&r->lines, 8);
}

static void run_end(struct run *r)
{
	model_deinit(&r->m);
	text_lines_free(&r->lines);
	sb_free(&r->st.selected);
	free(r->st.boxes);
	arena_free(&r->a);
}

static struct item item_of(const struct run *r, const struct value *key, const struct value *val,
			   u64 n)
{
	return (struct item){.kind = I_MAP,
			     .name = r->map.name,
			     .map.key = key,
			     .map.val = val,
			     .map.n = n,
			     .map.adds = r->adds};
}

/* One second later. */
static void read_rows(struct run *r, const struct value *key, const struct value *val, u64 n)
{
	struct item it = item_of(r, key, val, n);
	r->ns += SECOND_NS;
	model_note(&r->m, 0, r->lines.n);
	model_begin(&r->m, &(struct watch_reading){
				   .ns = r->ns, .wall_ns = r->ns, .programs_ns = WATCH_UNKNOWN});
	model_map(&r->m, &r->map, &it, false);
	model_end(&r->m);
}

static void clear_rows(struct run *r, const struct value *key, const struct value *val, u64 n)
{
	struct item it = item_of(r, key, val, n);
	model_map(&r->m, &r->map, &it, true);
}

static struct value text(const char *s)
{
	return (struct value){.kind = V_STR, .str = str_z(s)};
}

static struct value number(i64 n)
{
	return (struct value){.kind = V_INT, .i = n};
}

static struct live_look look_at(const struct run *r, u32 back)
{
	return (struct live_look){.at = model_back(&r->m, back),
				  .prev = back + 1 < r->m.ntick ? model_back(&r->m, back + 1)
								: NULL,
				  .base = r->m.base};
}

/* "key=total+rate;" of each row, in their order. */
static void check_rows(struct run *r, u32 back, const char *want)
{
	AUTO_SB b = {0};
	struct live_look look = look_at(r, back);
	struct live_entries e = model_collect(&r->m, r->m.table[0], &look, &r->a);
	for (u32 i = 0; i < e.n; i++) {
		sb_fmt(&b, "%.*s=%lld", STRF(e.v[i].row->key), e.v[i].all.n);
		if (e.v[i].known)
			sb_fmt(&b, "+%g", e.v[i].rate);
		sb_char(&b, ';');
	}
	CHECK_STR(sb_str(&b).s, want);
}

/* ---- the model ---- */

TEST(live_rates)
{
	struct run r;
	struct value key[] = {text("a"), text("b")}, one[] = {number(5)},
		     two[] = {number(9), number(3)};
	run_begin(&r, "@", true);
	read_rows(&r, key, one, 1);
	check_rows(&r, 0, "a=5;");
	read_rows(&r, key, two, 2);
	check_rows(&r, 0, "a=9+4;b=3+3;"); /* what is new began at 0 */
	check_rows(&r, 1, "a=5;");
	CHECK(model_back(&r.m, 7) == model_back(&r.m, 1)); /* the oldest */
	run_end(&r);
}

/* Totals go on over clear(), zero() and delete() of the script. */
TEST(live_cleared)
{
	struct run r;
	struct value key[] = {text("a"), text("b")}, v[] = {number(5), number(1)},
		     before[] = {number(7), number(1)}, after[] = {number(2)};
	run_begin(&r, "@", true);
	read_rows(&r, key, v, 2);
	clear_rows(&r, key, before, 2);
	read_rows(&r, key, after, 1);
	check_rows(&r, 0, "a=9+4;b=1+0;");
	read_rows(&r, key, NULL, 0); /* deleted in between */
	check_rows(&r, 0, "a=9+0;b=1+0;");
	read_rows(&r, key, after, 1);
	check_rows(&r, 0, "a=11+2;b=1+0;");
	run_end(&r);
}

/* What a script stores is shown as it is, and goes when it goes. */
TEST(live_values)
{
	struct run r;
	struct value key[] = {text("a"), text("b")}, v[] = {number(5), number(1)},
		     w[] = {number(2)};
	run_begin(&r, "@", false);
	read_rows(&r, key, v, 2);
	clear_rows(&r, key, v, 2);
	read_rows(&r, key, w, 1);
	check_rows(&r, 0, "a=2+-3;");
	read_rows(&r, key, NULL, 0);
	check_rows(&r, 0, "");
	run_end(&r);
}

TEST(live_baseline)
{
	struct run r;
	struct value key[] = {text("a"), text("b")}, v[] = {number(5), number(1)},
		     w[] = {number(9), number(1)};
	run_begin(&r, "@", true);
	read_rows(&r, key, v, 2);
	model_pin(&r.m, &r.m.base, model_back(&r.m, 0));
	read_rows(&r, key, w, 2);
	check_rows(&r, 0, "a=4+4;"); /* nothing of b since then */
	model_pin(&r.m, &r.m.base, NULL);
	check_rows(&r, 0, "a=9+4;b=1+0;");
	run_end(&r);
}

/* The history has an end, in time and in memory; a mark stays, and rows that no reading has are freed. */
TEST(live_limits)
{
	struct run r;
	run_begin(&r, "@", false);
	r.m.limits.history_ns = 3 * (u64)SECOND_NS;
	for (u32 i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "k%u", i);
		struct value key = text(name), v = number(i);
		read_rows(&r, &key, &v, 1);
		if (i == 1)
			model_pin(&r.m, &r.m.mark, model_back(&r.m, 0));
	}
	CHECK(r.m.ntick == 4);
	CHECK(r.m.forgotten == 996);
	CHECK(r.m.mark->at.ns == 2 * (u64)SECOND_NS);
	CHECK(r.m.table[0]->nrow <= 6);
	CHECK(model_steps_to(&r.m, 999 * (u64)SECOND_NS) == 1);
	CHECK(model_steps_to(&r.m, 0) == 3);
	r.m.limits.memory = 1;
	struct value key = text("x"), v = number(1);
	read_rows(&r, &key, &v, 1);
	CHECK(r.m.ntick == 2);
	run_end(&r);
}

TEST(live_hist)
{
	struct run r;
	struct bucket a[] = {{1, 2, .count = 3}, {4, 8, .count = 1}},
		      b[] = {{1, 2, .count = 5}, {2, 4, .count = 0}, {4, 8, .count = 1}};
	struct value va = {.kind = V_HIST, .n = 2, .hist = a},
		     vb = {.kind = V_HIST, .n = 3, .hist = b};
	run_begin(&r, "@h", true);
	read_rows(&r, NULL, &va, 1);
	read_rows(&r, NULL, &vb, 1);
	struct live_look look = look_at(&r, 0);
	struct live_entries e = model_collect(&r.m, r.m.table[0], &look, &r.a);
	CHECK(e.n == 1 && e.v[0].all.count == 6 && e.v[0].rate == 2);
	CHECK(e.v[0].step.blob->n == 1 && e.v[0].step.blob->hist[0].count == 2);
	CHECK(e.v[0].all.blob->n == 2);
	run_end(&r);
}

/* ---- the grid, and the terminal ---- */

TEST(live_grid)
{
	struct grid g = {0};
	AUTO_SB b = {0};
	struct style s = {INK_PLAIN, 0};
	grid_size(&g, 8, 3);
	CHECK(grid_text(&g, 0, 0, 8, s, STR("12345678")) == 8);
	CHECK(grid_text(&g, 0, 1, 4, s, STR("a\x1b[1mb\tc")) == 4); /* control bytes take nothing */
	grid_text(&g, 0, 2, 5, s,
		  STR("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2")); /* each is two wide */
	grid_right(&g, 5, 1, 3, s, STR("7"));
	grid_lines(&g, &b);
	CHECK_STR(b.s, "12345678\na[1>   7\n\xe6\xbc\xa2\xe5\xad\x97>\n");
	grid_free(&g);
}

TEST(live_diff)
{
	struct grid a = {0}, b = {0};
	AUTO_SB out = {0};
	struct style s = {INK_BAD, STYLE_BOLD};
	grid_size(&a, 6, 2);
	grid_size(&b, 6, 2);
	term_diff(&out, &a, &b, COLOR_16, false);
	CHECK(!out.n);
	grid_text(&b, 2, 1, 4, s, STR("ab"));
	term_diff(&out, &a, &b, COLOR_16, false);
	CHECK_STR(out.s, "\x1b[2;3H\x1b[0;1;31;49mab");
	sb_clear(&out);
	term_diff(&out, &a, &b, COLOR_NONE, true);
	CHECK_STR(out.s, "\x1b[0m\x1b[2J\x1b[2;3H\x1b[0;1mab");
	grid_free(&a);
	grid_free(&b);
}

/* Keys that were typed in one piece, as numbers; '.' where more is needed. */
static void check_keys(const char *typed, bool all, const char *want)
{
	char in[64];
	u32 n = (u32)strlen(typed);
	AUTO_SB b = {0};
	memcpy(in, typed, n);
	for (;;) {
		int key = term_decode(in, &n, all);
		if (key == KEY_NONE)
			break;
		sb_fmt(&b, "%x ", (u32)key);
	}
	if (n)
		sb_char(&b, '.');
	CHECK_STR(sb_str(&b).s, want);
}

TEST(live_keys)
{
	check_keys("a\r\x1b[A\x1bOB\x1b[5~\x1b[Z", false, "61 d 110000 110001 110004 110008 ");
	check_keys("\x1b[1;5C\x1b[200~", false, "110003 110009 ");
	check_keys("\x1b", false, ".");
	check_keys("\x1b", true, "1b ");
	check_keys("\x1b[", false, ".");
	check_keys("\x1b[", true, "110009 ");
	check_keys("\xc3\xa9\xff\xc3", true, "e9 110009 110009 ");
	check_keys("\n\b", false, "d 7f ");
}

TEST(live_mouse)
{
	check_keys("\x1b[<0;1;1M\x1b[<0;1;1m", false, "40000000 110009 ");
	check_keys("\x1b[<64;10;2Mx\x1b[<65;1000;1000M", false, "40100409 78 402f9fe7 ");
	check_keys("\x1b[<20;3;1M", false, "40000002 "); /* with Shift and Ctrl */
	check_keys("\x1b[<1;1;1M\x1b[<32;1;1M\x1b[<0;1001;1M\x1b[<0;0;1M", false,
		   "110009 110009 110009 110009 ");
	check_keys("\x1b[<M\x1b[<0;1M\x1b[<0;1;1;1M\x1b[<-1;1;1M", false,
		   "110009 110009 110009 110009 ");
	check_keys("\x1b[<0;1;", false, ".");
	struct mouse m =
		mouse_of(KEY_MOUSE | MOUSE_DOWN << 2 * MOUSE_BITS | 999 << MOUSE_BITS | 998);
	CHECK(m.kind == MOUSE_DOWN && m.x == 998 && m.y == 999);
}

/* ---- views ---- */

static void draw(struct run *r, const char *view, struct grid *g, const char *filter)
{
	const struct live_view *v = view_named(str_z(view));
	struct view_env env = {.m = &r->m,
			       .t = r->m.ntable ? r->m.table[0] : NULL,
			       .lines = &r->lines,
			       .look = look_at(r, 0),
			       .filter = str_z(filter),
			       .focus = true,
			       .st = &r->st,
			       .a = &r->a};
	if (!strcmp(view, "text"))
		env.t = NULL;
	CHECK(v->fits(env.t, NULL));
	grid_clear(g);
	v->draw(&env, g, grid_rect(g));
}

static void check_view(struct run *r, const char *view, struct grid *g, const char *filter,
		       const char *want)
{
	AUTO_SB b = {0};
	draw(r, view, g, filter);
	grid_lines(g, &b);
	CHECK_STR(b.s, want);
}

/* At a place of the grid that was drawn last; it is drawn again. Returns whether something came of it. */
static bool check_click(struct run *r, const char *view, struct grid *g, u32 x, u32 y)
{
	const struct live_view *v = view_named(str_z(view));
	struct view_env env = {.m = &r->m,
			       .t = r->m.table[0],
			       .look = look_at(r, 0),
			       .focus = true,
			       .st = &r->st,
			       .a = &r->a};
	bool used = v->click(&env, grid_rect(g), x, y);
	draw(r, view, g, "");
	return used;
}

/* There is a view for everything, also for a row of it. */
TEST(live_views_fit)
{
	struct live_row row = {0};
	for (u32 kind = LIVE_EMPTY; kind <= LIVE_TEXT; kind++)
		for (u32 i = 0; i < 8; i++) {
			struct live_table t = {
				.kind = kind, .stacks = i & 1, .scalar = i & 2, .adds = i & 4};
			CHECK(view_for(&t, NULL));
			CHECK(view_for(&t, &row));
			CHECK(view_after(view_for(&t, &row), &t, &row)->fits(&t, &row));
		}
	CHECK(view_for(NULL, NULL) == view_named(STR("text")));
	CHECK(!view_named(STR("tables")));
}

TEST(live_view_table)
{
	struct run r;
	struct grid g = {.ascii = true};
	struct value key[] = {text("cat"), text("a b\nc"), text("dog")},
		     v[] = {number(10), number(40), number(20)},
		     w[] = {number(20), number(40), number(60)};
	run_begin(&r, "@", true);
	read_rows(&r, key, v, 3);
	read_rows(&r, key, w, 3);
	grid_size(&g, 80, 5);
	check_view(&r, "table", &g, "",
		   "   PER SEC         TOTALv OF MOST    PAST                 KEY\n"
		   "        40             60 ##########                    @ dog\n"
		   "         0             40 #######                         a b c\n"
		   "        10             20 ###                           @ cat\n\n");
	CHECK_STR(r.st.selected.s, "dog");
	r.st.reverse = true;
	check_view(&r, "table", &g, "rate>5",
		   "   PER SEC         TOTAL^ OF MOST    PAST                 KEY\n"
		   "        10             20 ###                           @ cat\n"
		   "        40             60 ##########                    @ dog\n\n\n");
	check_click(&r, "table", &g, 20, 0); /* a head: sorted the other way round, and back */
	CHECK(!r.st.reverse && r.st.sort == 2);
	check_click(&r, "table", &g, 20, 0);
	CHECK(r.st.reverse && r.st.sort == 2);
	check_click(&r, "table", &g, 3, 0);
	CHECK(!r.st.reverse && r.st.sort == 1);
	check_click(&r, "table", &g, 3, 3); /* a row, which is opened when it is selected */
	CHECK(r.st.cursor == 2 && !r.st.top);
	CHECK(!check_click(&r, "table", &g, 3, 3));
	r.st.cursor = 0;
	r.st.reverse = false;
	r.st.sort = 5;
	grid_size(&g, 50, 3); /* optional columns go, and so do rows */
	check_view(&r, "table", &g, "",
		   "   PER SEC          TOTAL KEYv\n"
		   "         0             40 a b c\n"
		   "        10             20 cat\n");
	check_view(&r, "table", &g, "DO total=60",
		   "   PER SEC          TOTAL KEYv\n"
		   "        40             60 dog\n\n");
	check_view(&r, "table", &g, "none",
		   "   PER SEC          TOTAL KEYv\nno row passes the filter\n\n");
	grid_free(&g);
	run_end(&r);
}

static void hist_run(struct run *r)
{
	static const struct bucket a[] = {{1, 2, .count = 4}, {2, 4, .count = 8}},
				   b[] = {{1, 2, .count = 4},
					  {2, 4, .count = 9},
					  {4, 8, .count = 5}};
	struct value va = {.kind = V_HIST, .n = 2, .hist = a},
		     vb = {.kind = V_HIST, .n = 3, .hist = b};
	run_begin(r, "@h", true);
	r->map.scalar = true;
	read_rows(r, NULL, &va, 1);
	read_rows(r, NULL, &vb, 1);
}

TEST(live_view_hist)
{
	struct run r;
	struct grid g = {.ascii = true};
	hist_run(&r);
	grid_size(&g, 60, 7);
	CHECK(view_for(r.m.table[0], NULL) == view_named(STR("hist")));
	check_view(&r, "hist", &g, "",
		   "VALUE                   ALL              INTERVAL\n"
		   "[1]                       4 #####               0\n"
		   "[2, 4)                    9 ##########          1 ##\n"
		   "[4, 8)                    5 ######              5 ##########\n"
		   "\n"
		   "all       p50 <4  p90 <8  p99 <8  max <8  n 18\n"
		   "interval  p50 <8  p90 <8  p99 <8  max <8  n 6\n");
	grid_free(&g);
	run_end(&r);
}

TEST(live_view_heat)
{
	struct run r;
	struct grid g = {.ascii = true};
	hist_run(&r);
	grid_size(&g, 60, 4);
	check_view(&r, "heat", &g, "",
		   "      [4, 8)                                               @\n"
		   "      [2, 4)                                               -\n"
		   "             most: 5 in an interval                  1 s ago\n\n");
	grid_free(&g);
	run_end(&r);
}

TEST(live_view_series)
{
	struct run r;
	struct grid g = {.ascii = true};
	struct value v[] = {number(0), number(4), number(6), number(14)};
	run_begin(&r, "@", true);
	r.map.scalar = true;
	for (u32 i = 0; i < countof(v); i++)
		read_rows(&r, NULL, &v[i], 1);
	grid_size(&g, 42, 4);
	check_view(&r, "series", &g, "",
		   "           8                             @\n"
		   "                                       = @\n"
		   "           0                           @*@\n"
		   "             per second, in each interval\n");
	grid_free(&g);
	run_end(&r);
}

TEST(live_view_flame)
{
	struct run r;
	struct grid g = {.ascii = true};
	struct frame f[8];
	static const struct str names[] = {STR("b"), STR("a"), STR("c"), STR("a")};
	struct value ab = stack_of(false, 2, f, "b", "a"), ac = stack_of(false, 2, f + 2, "c", "a"),
		     part[2][2] = {{text("x"), ab}, {text("x"), ac}};
	struct value key[] = {{.kind = V_TUPLE, .n = 2, .list = part[0]},
			      {.kind = V_TUPLE, .n = 2, .list = part[1]}},
		     v[] = {number(30), number(10)};
	for (u32 i = 0; i < countof(names); i++)
		f[i].text = names[i];
	run_begin(&r, "@", true);
	read_rows(&r, key, v, 2);
	const struct live_view *flame = view_named(STR("flame"));
	CHECK(view_for(r.m.table[0], NULL) == flame);
	grid_size(&g, 40, 6);
	check_view(&r, "flame", &g, "",
		   "|all------------------------------------\n"
		   "|x--------------------------------------\n"
		   "|a--------------------------------------\n"
		   "|b----------------------------|c--------\n\n"
		   "all: 40 of 40, 100.0 %\n");
	struct view_env env = {.st = &r.st};
	for (u32 i = 0; i < 3; i++)
		flame->move(&env, 0, 1);
	flame->move(&env, 1, 0);
	CHECK(flame->enter(&env, true));
	check_view(&r, "flame", &g, "",
		   "|all\n|x\n|a\n"
		   "|c--------------------------------------\n\n"
		   "c: 10 of 40, 25.0 %\n");
	CHECK(flame->enter(&env, false));
	CHECK(!flame->enter(&env, false)); /* the pane may leave the row */
	grid_free(&g);
	run_end(&r);
}

TEST(live_view_text)
{
	struct run r;
	struct grid g = {.ascii = true};
	run_begin(&r, "@", true);
	text_lines_add(&r.lines, STR("one\ntwo\n\x1b[2Jthree\nfo"));
	grid_size(&g, 20, 2);
	check_view(&r, "text", &g, "", "two\n\\x1b[2Jthree\n");
	text_lines_add(&r.lines, STR("ur\n"));
	check_view(&r, "text", &g, "", "\\x1b[2Jthree\nfour\n");
	check_view(&r, "text", &g, "o", "two\nfour\n");
	view_named(STR("text"))->move(&(struct view_env){.st = &r.st}, 0, -10);
	draw(&r, "text", &g, "");
	check_view(&r, "text", &g, "", "one\ntwo\n");
	for (u32 i = 0; i < 20; i++)
		text_lines_add(&r.lines, STR("more\n"));
	CHECK(text_lines_first(&r.lines) == 16);
	CHECK(!text_lines_at(&r.lines, 15).n);
	run_end(&r);
	grid_free(&g);
}
