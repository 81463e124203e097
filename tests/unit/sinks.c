#include "sinks.h"
#include "core/agg.h"
#include <stdarg.h>
#include <string.h>

static const struct diags diags;

void capture_open(struct capture *c, const char *format)
{
	struct str text = str_z(format), name;
	*c = (struct capture){.out = memfd_create("out", 0), .err = memfd_create("err", 0)};
	str_cut(&text, ':', &name);
	c->sink = sink_named(name);
	CHECK(c->sink && c->sink->size <= sizeof(c->self));
	CHECK(!sink_set_options(c->sink, text, c->opts));
	struct sink_env env = {.out = c->out,
			       .err = c->err,
			       .buffering = 'l',
			       .diags = &diags,
			       .how = {.trailer = STR("..")},
			       .how_remarks = {.trailer = STR("..")}};
	c->e = c->sink->open(c->self, &env, c->opts);
	CHECK(!c->e);
}

void capture_put(struct capture *c, struct item it)
{
	CHECK(!c->sink->put(c->self, &it));
}

static void contents(int fd, struct sb *b)
{
	char buf[4096];
	off_t at = 0;
	for (ssize_t n; (n = pread(fd, buf, sizeof(buf), at)) > 0; at += n)
		sb_mem(b, buf, (size_t)n);
	close(fd);
}

void capture_close(struct capture *c)
{
	c->e = c->sink->close(c->self);
	sb_z(&c->text, "");
	sb_z(&c->remarks, "");
	contents(c->out, &c->text);
	contents(c->err, &c->remarks);
}

void capture_free(struct capture *c)
{
	sb_free(&c->text);
	sb_free(&c->remarks);
	err_free(c->e);
}

struct value stack_of(bool kernel, u32 n, struct frame *f, ...)
{
	va_list ap;
	va_start(ap, f);
	for (u32 i = 0; i < n; i++) {
		struct str s = str_z(va_arg(ap, const char *));
		f[i] = (struct frame){.addr = 0x1000 + i, .file_off = kernel ? 0 : 0x100 + i};
		str_cut(&s, '@', &f[i].sym);
		f[i].module = s.s ? s : STR("");
	}
	va_end(ap);
	return (struct value){.kind = V_STACK, .kernel = kernel, .n = n, .stack = f};
}

struct item map_item(const char *name, enum type_kind kind, const struct value *key,
		     const struct value *val, u64 n)
{
	struct type t = {.kind = kind};
	return (struct item){.kind = I_MAP,
			     .name = str_z(name),
			     .map.agg = agg_of(&t),
			     .map.key = key,
			     .map.val = val,
			     .map.n = n};
}
