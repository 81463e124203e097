/*
 * draw.c - folded stacks on standard input through a sink to standard output: pictures of what no
 * machine has to be made to do.
 *
 *	draw FORMAT[:OPT,...] [WHAT [WHERE]] < stacks.folded
 *	draw heat ... < "SECONDS LOW HIGH COUNT" lines, by time
 *
 * WHAT is the command that was traced for, WHERE the machine and time.
 *
 * A frame that ends in _[k] is of the kernel, in _[l] of a library, in _[i] inlined, in _[j] made by a
 * JIT; what ends in _[=] is another part of the key; the others are of the program.
 */
#include "base/clock.h"
#include "base/vec.h"
#include "core/agg.h"
#include "core/sink.h"
#include <stdio.h>

static const struct diags diags;

struct stack {
	VEC(struct frame) user, kernel;
	VEC(struct value) part;
};

static void add_frame(struct stack *s, struct str name, u64 addr)
{
	struct frame f = {
		.addr = addr, .sym = name, .module = STR("/usr/bin/app"), .file_off = addr};
	char kind = name.n > 4 && name.s[name.n - 4] == '_' && name.s[name.n - 3] == '[' &&
				    name.s[name.n - 1] == ']'
			    ? name.s[name.n - 2]
			    : 0;
	if (kind)
		f.sym.n -= 4;
	if (kind == '=') {
		struct value v = {.kind = V_STR, .str = f.sym};
		if (str_i64(f.sym, &v.i))
			v.kind = V_INT;
		vec_add(&s->part, v);
		return;
	}
	f.inlined = kind == 'i';
	if (kind == 'l')
		f.module = STR("/usr/lib/libapp.so.1");
	if (kind == 'j' || kind == 'k')
		f.module = STR("");
	if (kind == 'k')
		vec_add(&s->kernel, f);
	else
		vec_add(&s->user, f);
}

/* Leaf first, as stacks are. */
static struct value turned(struct arena *a, const struct frame *v, u32 n, bool kernel)
{
	struct frame *f = arena_newn(a, struct frame, n + 1ul);
	for (u32 i = 0; i < n; i++)
		f[i] = v[n - 1 - i];
	return (struct value){.kind = V_STACK, .kernel = kernel, .n = n, .stack = f};
}

static void read_stacks(struct arena *a, struct str text, const struct sink *sink, void *self)
{
	VEC(struct value) key = {0};
	VEC(struct value) val = {0};
	struct str line, name;
	while (str_cut(&text, '\n', &line)) {
		struct stack s = {0};
		u32 at = line.n;
		u64 n;
		while (at && line.s[at - 1] != ' ')
			at--;
		if (at < 2 || !str_u64(str_from(line, at), &n))
			continue;
		line.n = at - 1;
		while (str_cut(&line, ';', &name))
			add_frame(&s, name, 0x1000 + str_hash(name) % 0xffff00);
		struct value *parts = arena_newn(a, struct value, 2ul + s.part.n);
		parts[0] = turned(a, s.kernel.v, s.kernel.n, true);
		parts[1] = turned(a, s.user.v, s.user.n, false);
		for (u32 i = 0; i < s.part.n; i++)
			parts[2 + i] = s.part.v[i];
		vec_free(&s.user);
		vec_free(&s.kernel);
		vec_add(&key, (struct value){.kind = V_TUPLE, .n = 2 + s.part.n, .list = parts});
		vec_free(&s.part);
		vec_add(&val, (struct value){.kind = V_UINT, .size = 8, .u = n});
	}
	struct item it = {.kind = I_MAP,
			  .name = STR("@"),
			  .map.agg = agg_of(&(struct type){.kind = T_COUNT}),
			  .map.key = key.v,
			  .map.val = val.v,
			  .map.n = key.n};
	err_free(sink->put(self, &it));
	vec_free(&key);
	vec_free(&val);
}

static void put_hist(const struct sink *sink, void *self, u64 ts, const struct bucket *v, u32 n,
		     u32 epoch)
{
	struct value hist = {.kind = V_HIST, .n = n, .hist = v};
	struct item it = {.kind = I_MAP,
			  .name = STR("@"),
			  .map.agg = agg_of(&(struct type){.kind = T_HIST}),
			  .ts = ts,
			  .map.epoch = epoch,
			  .map.val = &hist,
			  .map.n = 1};
	err_free(sink->put(self, &it));
}

static void read_hists(struct str text, const struct sink *sink, void *self)
{
	VEC(struct bucket) v = {0};
	struct str line, word;
	u64 start = now_ns(), now = 0, f[4];
	u32 epoch = 0;
	while (str_cut(&text, '\n', &line)) {
		u32 n = 0;
		while (n < 4 && str_cut(&line, ' ', &word) && str_u64(word, &f[n]))
			n++;
		if (n < 4)
			continue;
		if (v.n && f[0] != now) {
			put_hist(sink, self, start + now * 1000000000, v.v, v.n, epoch++);
			v.n = 0;
		}
		now = f[0];
		vec_add(&v, (struct bucket){(i64)f[1], (i64)f[2], .count = f[3]});
	}
	put_hist(sink, self, start + now * 1000000000, v.v, v.n, epoch);
	vec_free(&v);
}

int main(int argc, char **argv)
{
	struct arena a = {0};
	AUTO_SB text = {0};
	struct str opts[SINK_OPTIONS] = {{0}}, rest = str_z(argc > 1 ? argv[1] : ""), name = {0};
	char buf[65536];
	ssize_t n;
	str_cut(&rest, ':', &name);
	const struct sink *sink = sink_named(name);
	struct err *e = sink ? sink_set_options(sink, rest, opts) : err_new("no such format");
	while (!e && (n = read(0, buf, sizeof(buf))) > 0)
		sb_mem(&text, buf, (size_t)n);
	void *self = e ? NULL : calloc(1, sink->size);
	struct sink_env env = {.out = 1,
			       .err = 2,
			       .buffering = 'f',
			       .diags = &diags,
			       .quiet = true,
			       .what = str_z(argc > 2 ? argv[2] : ""),
			       .where = str_z(argc > 3 ? argv[3] : "")};
	if (!e)
		e = sink->open(self, &env, opts);
	if (!e) {
		if (str_is(name, "heat"))
			read_hists(sb_str(&text), sink, self);
		else
			read_stacks(&a, sb_str(&text), sink, self);
		err_free(sink->put(self, &(struct item){.kind = I_END}));
		e = sink->close(self);
	}
	if (e)
		fprintf(stderr, "draw: %s\n", e->msg);
	free(self);
	arena_free(&a);
	int rc = e != NULL;
	err_free(e);
	return rc;
}
