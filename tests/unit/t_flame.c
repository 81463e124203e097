/* Flame graphs: the whole file but for the script and the style, which are the same in all. */
#include "sinks.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Without the text of style and script. */
static void cut_out(struct sb *b, const char *from, const char *to)
{
	struct str s = sb_str(b);
	i32 at = str_find(s, str_z(from)), end = str_find(s, str_z(to));
	CHECK(at >= 0 && end > at);
	u32 n = (u32)strlen(from);
	memmove(b->s + at + n, b->s + end, b->n - (size_t)end + 1);
	b->n -= (size_t)end - (size_t)at - n;
}

static void check(struct capture *c, const char *want)
{
	capture_put(c, (struct item){.kind = I_END});
	capture_close(c);
	CHECK(!c->e);
	cut_out(&c->text, "<style>", "</style>");
	cut_out(&c->text, "<script>", "</script>");
	CHECK_STR(c->text.s, want);
	capture_free(c);
}

TEST(flame_file)
{
	struct capture c;
	struct frame u[2], v[1], k[1];
	struct value one[] = {stack_of(true, 1, k, "vfs_read"),
			      stack_of(false, 2, u, "read<a & b>@/lib/libc.so.6", "main@/bin/app")};
	struct value two[] = {{.kind = V_STACK, .kernel = true},
			      stack_of(false, 1, v, "main@/bin/app")};
	struct value key[] = {{.kind = V_TUPLE, .n = 2, .list = one},
			      {.kind = V_TUPLE, .n = 2, .list = two}};
	struct value val[] = {{.kind = V_UINT, .u = 3000}, {.kind = V_UINT, .u = 1000}};
	capture_open(&c, "flame:title=T & <t>,width=420");
	capture_put(&c, map_item("@", T_COUNT, key, val, 2));
	capture_put(&c, (struct item){.kind = I_LOST,
				      .lost.loss = LOSS_EVENTS,
				      .lost.n = 7,
				      .str = STR("Lost 7")});
	check(&c,
	      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"420\" height=\"194\" viewBox=\"0 "
	      "0 420 "
	      "194\" role=\"group\" aria-label=\"T &#38; &#60;t&#62;\">\n"
	      "<title>T &#38; &#60;t&#62;</title>\n"
	      "<desc>4,000 samples in 2 stacks; 7 events were lost. Most in the function itself:\n"
	      "vfs_read 75.00 %\n"
	      "main 25.00 %</desc>\n"
	      "<style></style>\n"
	      "<rect class=\"bg\" width=\"420\" height=\"194\" fill=\"#fff\"/>\n"
	      "<g id=\"f\">\n"
	      "<text class=\"title\" x=\"10\" y=\"22\">T &#38; &#60;t&#62;</text>\n"
	      "<text x=\"10\" y=\"76\">4,000 samples in 2 stacks; 7 events were lost</text>\n"
	      "<g><title>all (4,000 samples, 100.00 %)</title><rect x=\"10.0\" y=\"163\" "
	      "width=\"400.0\" "
	      "height=\"16\" fill=\"#d4d5e3\"/><text x=\"13.0\" y=\"175\">all</text></g>\n"
	      "<g><title>main (4,000 samples, 100.00 %)</title><rect x=\"10.0\" y=\"146\" "
	      "width=\"400.0\" "
	      "height=\"16\" fill=\"#f3a968\"/><text x=\"13.0\" y=\"158\">main</text></g>\n"
	      "<g><title>read&#60;a &#38; b&#62; (3,000 samples, 75.00 %)</title><rect x=\"10.0\" "
	      "y=\"129\" width=\"300.0\" height=\"16\" fill=\"#f4da71\"/><text x=\"13.0\" "
	      "y=\"141\">read&#60;a &#38; b&#62;</text></g>\n"
	      "<g><title>vfs_read (3,000 samples, 75.00 %)</title><rect x=\"10.0\" y=\"112\" "
	      "width=\"300.0\" height=\"16\" fill=\"#89bfe6\"/><text x=\"13.0\" "
	      "y=\"124\">vfs_read</text></g>\n"
	      "</g>\n"
	      "<metadata id=\"data\">{&#34;title&#34;:&#34;T &#38; "
	      "&#60;t&#62;&#34;,&#34;where&#34;:&#34;&#34;,&#34;note&#34;:&#34;4,000 "
	      "samples in 2 stacks; 7 events were lost&#34;,&#34;unit&#34;:&#34;samples&#34;,"
	      "&#34;width&#34;:420,&#34;icicle&#34;:false,&#34;reverse&#34;:false,\n"
	      "&#34;S&#34;:[&#34;all&#34;,&#34;main&#34;,&#34;read&#60;a &#38; "
	      "b&#62;&#34;,&#34;vfs_read&#34;],\n"
	      "&#34;K&#34;:[6,0,1,2],\n"
	      "&#34;O&#34;:[0,1,2,0],\n"
	      "&#34;M&#34;:[&#34;&#34;,&#34;/bin/app&#34;,&#34;/lib/libc.so.6&#34;],\n"
	      "&#34;F&#34;:[0,1,2,3],\n"
	      "&#34;D&#34;:[0,1,2,3],\n"
	      "&#34;W&#34;:[4000,4000,3000,3000]}</metadata>\n"
	      "<script></script>\n"
	      "</svg>\n");
}

/* The tree of two runs; what is gone has weight 0. */
TEST(flame_of_two_runs)
{
	char path[] = "/tmp/sonde-flame-XXXXXX", format[64];
	int fd = mkstemp(path);
	static const char before[] = "main;a 30\nmain;old b 10\n";
	CHECK(write(fd, before, sizeof(before) - 1) == sizeof(before) - 1);
	close(fd);
	snprintf(format, sizeof(format), "flame:icicle,diff=%s", path);
	struct capture c;
	struct frame f[2];
	struct value key = stack_of(false, 2, f, "a@/x", "main@/x"), val = {.kind = V_UINT, .u = 5};
	capture_open(&c, format);
	capture_put(&c, map_item("@", T_COUNT, &key, &val, 1));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK(!c.e);
	struct str s = sb_str(&c.text);
	CHECK(str_find(s, STR("&#34;S&#34;:[&#34;all&#34;,&#34;main&#34;,&#34;a&#34;,&#34;old "
			      "b&#34;],")) > 0);
	CHECK(str_find(
		      s,
		      STR("&#34;F&#34;:[0,1,2,3],\n&#34;D&#34;:[0,1,2,2],\n&#34;W&#34;:[5,5,5,0],\n"
			  "&#34;B&#34;:[40,40,30,10]}")) > 0);
	CHECK(str_find(s, STR("<rect x=\"10.0\" y=\"112\" width=\"1180.0\" height=\"16\" "
			      "fill=\"#e0e0e0\"/>"
			      "<text x=\"13.0\" y=\"124\">all</text>")) > 0);
	capture_free(&c);
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK(write(fd, "a 1\nno count\n", 13) == 13);
	close(fd);
	struct str opts[SINK_OPTIONS] = {{0}};
	char self[8192];
	CHECK(!sink_set_options(sink_named(STR("flame")), str_from(str_z(format), 6), opts));
	struct sink_env env = {.out = -1, .err = -1};
	struct err *e = sink_named(STR("flame"))->open(self, &env, opts);
	AUTO_SB want = {0};
	sb_fmt(&want, "%s:2: not a folded stack and its count", path);
	CHECK_STR(e ? e->msg : "", want.s);
	err_free(e);
	unlink(path);
}

/* What changed between a folded file of some words and two stacks now; want: frames, before and after. */
static void check_diff(const char *before, const char *want)
{
	char path[] = "/tmp/sonde-flame-XXXXXX", format[64];
	int fd = mkstemp(path);
	CHECK(write(fd, before, strlen(before)) == (ssize_t)strlen(before));
	close(fd);
	snprintf(format, sizeof(format), "flame:diff=%s", path);
	struct capture c;
	struct frame start[1], f[4], k[1];
	struct value part[2] = {
		stack_of(true, 1, k, "read"),
		stack_of(false, 4, f, "a;b@/x", "main@/x", "start@/libc.so.6", "_start@/x")};
	struct value key[2] = {{.kind = V_TUPLE, .n = 2, .list = part},
			       stack_of(false, 1, start, "_start@/ld-linux.so.2")};
	struct value val[2] = {{.kind = V_UINT, .u = 5}, {.kind = V_UINT, .u = 1}};
	capture_open(&c, format);
	capture_put(&c, map_item("@", T_COUNT, key, val, 2));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK(!c.e);
	struct str s = sb_str(&c.text);
	i32 at = str_find(s, STR("&#34;F&#34;:"));
	s = str_from(s, at < 0 ? 0 : (u32)at);
	i32 end = str_find(s, STR("}"));
	AUTO_SB got = {0};
	sb_add(&got, str_n(s.s, end < 0 ? s.n : (u32)end));
	CHECK_STR(got.s, want);
	capture_free(&c);
	unlink(path);
}

TEST(flame_finds_the_frames_of_a_folded_file)
{
	static const char same[] = "&#34;F&#34;:[0,1,2,3,4,5],\n&#34;D&#34;:[0,1,2,3,4,5],\n"
				   "&#34;W&#34;:[6,6,5,5,5,5],\n&#34;B&#34;:[9,9,8,8,8,8]";
	/* The first _start is the dynamic linker's, of another kind than the program's. */
	check_diff("_start 1\n_start;start;main;a:b;read 8\n", same);
	check_diff("_start;start;main;a:b;read_[k] 8\n_start 1\n", same);
	check_diff("_start;start;main;a:b;-;read 8\n_start 1\n", same);
}

TEST(flame_of_two_runs_with_two_maps)
{
	char path[] = "/tmp/sonde-flame-XXXXXX", format[64];
	static const char before[] = "@x;main 3\n@y;main 4\n";
	int fd = mkstemp(path);
	CHECK(write(fd, before, sizeof(before) - 1) == sizeof(before) - 1);
	close(fd);
	snprintf(format, sizeof(format), "flame:diff=%s", path);
	struct capture c;
	struct frame f[1];
	struct value key = stack_of(false, 1, f, "main@/x"), val = {.kind = V_UINT, .u = 5};
	capture_open(&c, format);
	capture_put(&c, map_item("@x", T_COUNT, &key, &val, 1));
	capture_put(&c, map_item("@y", T_COUNT, &key, &val, 1));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK(str_find(sb_str(&c.text),
		       STR("&#34;W&#34;:[10,5,5,5,5],\n&#34;B&#34;:[7,3,3,4,4]}")) > 0);
	capture_free(&c);
	unlink(path);
}

/* Every byte a name can hold: nothing of it ends an element, and all is XML. */
TEST(flame_escapes)
{
	struct capture c;
	struct frame f[2];
	char all[256];
	for (u32 i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = 0;
	struct value key = stack_of(true, 2, f, "]]></script><script>", all),
		     val = {.kind = V_UINT, .u = 1};
	capture_open(&c, "flame");
	capture_put(&c, map_item("@", T_COUNT, &key, &val, 1));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	struct str s = sb_str(&c.text);
	CHECK(str_find(s, STR("]]&#62;&#60;/script&#62;&#60;script&#62;")) > 0);
	CHECK(str_find(s, STR("\\\\x01\\\\x02")) > 0 && str_find(s, STR("\\\\xfe\\\\xff")) > 0);
	for (u32 i = 0; i < s.n; i++)
		CHECK((u8)s.s[i] >= ' ' || s.s[i] == '\n' || s.s[i] == '\t');
	capture_free(&c);
	key = stack_of(true, 1, f,
		       "x\xef\xbf\xbf"
		       "y\xef\xbf\xbd");
	capture_open(&c, "flame");
	capture_put(&c, map_item("@", T_COUNT, &key, &val, 1));
	capture_put(&c, (struct item){.kind = I_END});
	capture_close(&c);
	CHECK(str_find(sb_str(&c.text),
		       STR("<text x=\"13.0\" y=\"124\">x\\xef\\xbf\\xbfy\xef\xbf\xbd</text>")) > 0);
	capture_free(&c);
}
