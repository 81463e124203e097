/* What is typed for funccount, trace, argdist, kprobe ... becomes text of the language. */
#include "kern/host.h"
#include "test.h"
#include "tool/words.h"

struct wrote {
	struct arena a;
	struct sb out;
	struct diags ds;
	struct source *source;
	bool ok;
};

static void wrote_free(struct wrote *w)
{
	sb_free(&w->out);
	arena_free(&w->a);
}

/* opt, val: one of the tool's options, or NULL. */
static void write_words(struct wrote *ret, const char *tool, const char *text, const char *opt,
			const char *val)
{
	struct host h;
	struct unit u = {0};
	*ret = (struct wrote){0};
	ret->source = arena_newn(&ret->a, struct source, 2);
	ret->source[0] = (struct source){STR("t"), str_z(text)};
	ret->ds = (struct diags){.arena = &ret->a, .source = ret->source, .nsource = 1};
	host_init(&h, &ret->a, "/nonexistent");
	struct script_opt given[] = {{STR("string_size"), STR("80")}, {str_z(opt), str_z(val)}};
	struct word word = {str_z(text), 0};
	struct words w = {.a = &ret->a,
			  .h = &h,
			  .u = &u,
			  .diags = &ret->ds,
			  .opts = given,
			  .nopt = opt ? 2 : 1,
			  .pid = 1,
			  .operand = &word,
			  .n = 1,
			  .out = &ret->out};
	ret->ok = writer_find(str_z(tool))->write(&w);
	host_deinit(&h);
}

static bool has(const char *tool, const char *text, const char *want)
{
	struct wrote w;
	write_words(&w, tool, text, NULL, NULL);
	bool found = w.ok && str_find(sb_str(&w.out), str_z(want)) >= 0;
	if (!found)
		printf("# %s '%s': %s\n", tool, text,
		       w.ok        ? w.out.s
		       : w.ds.head ? w.ds.head->msg
				   : "no message");
	wrote_free(&w);
	return found;
}

/* It is refused with this message, at this place of the word. */
static bool refused(const char *tool, const char *text, const char *msg, u32 pos)
{
	struct wrote w;
	write_words(&w, tool, text, NULL, NULL);
	const struct diag *d = w.ds.head;
	bool good = !w.ok && d && !strcmp(d->msg, msg) && d->loc.pos == pos;
	if (!good)
		printf("# %s '%s': %s at %u\n", tool, text, d ? d->msg : w.out.s,
		       d ? d->loc.pos : 0);
	wrote_free(&w);
	return good;
}

static bool dist(const char *opt, const char *text, const char *want)
{
	struct wrote w;
	write_words(&w, "argdist", "", opt, text);
	struct str got = w.ok ? sb_str(&w.out) : str_z(w.ds.head->msg);
	bool found = str_find(got, str_z(want)) >= 0;
	if (!found)
		printf("# %s '%s': %.*s\n", opt, text, STRF(got));
	wrote_free(&w);
	return found;
}

TEST(words_probes)
{
	CHECK(has("trace", "vfs_read", "kprobe:vfs_read\n"));
	CHECK(has("trace", "p::vfs_read", "kprobe:vfs_read\n"));
	CHECK(has("trace", "r::vfs_read", "kretprobe:vfs_read\n"));
	CHECK(has("trace", "vfs_read+0x38", "kprobe:vfs_read+0x38\n"));
	CHECK(has("trace", "/x/a.so:open", "uprobe:/x/a.so:open\n"));
	CHECK(has("trace", "p:/x/a:open", "uprobe:/x/a:open\n"));
	CHECK(has("trace", "r:/x/a:open", "uretprobe:/x/a:open\n"));
	CHECK(has("trace", "t:block:block_rq_complete", "tracepoint:block:block_rq_complete\n"));
	CHECK(has("trace", "u:/x/a:probe", "usdt:/x/a:probe\n"));
	CHECK(has("trace", "u:/x/a:prov:probe", "usdt:/x/a:prov:probe\n"));
	CHECK(has("funccount", "vfs_*", "kprobe:vfs_* /counted()/ { @calls[func] = count(); }"));
	CHECK(has("funccount", "t:sched:*", "tracepoint:sched:* /counted()/ { @calls[probe]"));
	CHECK(has("funclatency", "/x/a:*", "uretprobe:/x/a:* /@depth[tid]/"));
	CHECK(has("stackcount", "/x/a:f", "@[\"\", 0, ustack]"));
	CHECK(has("stackcount", "f", "@[\"\", 0, kstack, ustack]"));
}

TEST(words_expressions)
{
	CHECK(has("trace", "f (arg1 > 5 && arg2 != 0)", "/wanted() && (arg0 > 5 && arg1 != 0)/"));
	CHECK(has("trace", "f \"%d %s\", arg1, arg2",
		  "strf(\"%d %s\", (int32)(arg0), str(arg1, 81))"));
	CHECK(has("trace", "f \"%s\", arg2@user", "str(uptr(arg1), 81)"));
	CHECK(has("trace", "r::f (retval < 0) \"%ld\", $retval", "(int64)(retval)"));
	CHECK(has("trace", "f \"%hx %lu %c %p %llx\", arg1, arg1, arg1, arg1, arg1",
		  "(uint16)(arg0), (uint64)(arg0), (uint32)(arg0), (uint64)(arg0), (uint64)"));
	CHECK(has("trace", "f \"100%% %K %U\", arg1, arg2",
		  "strf(\"100%% %s %s\", ksym(arg0), usym(arg1))"));
	CHECK(has("trace", "f(struct x *p, s32 n) (n > 1) \"%d\", p->a[n]", "(((int32)arg1) > 1)"));
	CHECK(has("trace", "f (STRCMP(\"ab\", arg1))", "(strncmp(str(arg0), \"ab\", 2) == 0)"));
	CHECK(has("trace", "f (arg1 ? $pid : $tgid)", "(arg0 ? tid : pid)"));
	CHECK(has("trace", "f (arg1 == 'a')", "(arg0 == 97)"));
	CHECK(has("trace", "f \"%s\", $COMM", "strf(\"%s\", comm)"));
}

TEST(words_mistakes)
{
	CHECK(refused("trace", "f \"%d\"", "expected an argument for %d", 5));
	CHECK(refused("trace", "f \"%d\", arg1, arg2", "more arguments than the format has", 12));
	CHECK(refused("trace", "f (arg1 = 5)", "an expression changes nothing", 8));
	CHECK(refused("trace", "f (arg1", "expected ')' after the predicate", 6));
	CHECK(refused("trace", "f (arg0)", "arguments are arg1 to arg12", 3));
	CHECK(refused("trace", "f (retval)", "only a return (r:) has a result", 3));
	CHECK(refused("trace", "r::f (arg1)", "arguments are not known at the return", 6));
	CHECK(refused("trace", "f (arg1; exit())", "';' cannot be in an expression", 7));
	CHECK(refused("trace", "f \"%d", "the format has no end", 2));
	CHECK(refused("trace", "f \"%f\", arg1", "%f is not known here", 2));
	CHECK(refused("trace", "t:sched", "a tracepoint is t:CATEGORY:EVENT", 0));
	CHECK(refused("trace", "f{}", "'{' cannot be in a probe", 0));
	CHECK(refused("trace", "a:b:c:d:e", "too many ':' in a probe", 0));
	CHECK(refused("trace", "f($x) ()", "expected a type and a name", 2));
	CHECK(refused("trace", "f ($nope)", "what is $nope?", 3));
	CHECK(refused("trace", "nolibsocalled:f",
		      "neither a library libnolibsocalled nor a program nolibsocalled exists", 0));
	CHECK(refused("funclatency", "t:a:b", "an event takes no time: expected a function", 0));
	CHECK(refused("funccount", "r::f", "returns are seen anyway: leave 'r:' out", 0));
}

TEST(words_argdist)
{
	CHECK(dist("histogram", "p::f(size_t n):size_t:n",
		   "@hist1 = hist((size_t)(((size_t)arg0)))"));
	CHECK(dist("frequency", "p::f(int a, char *b):int,char*:a,b",
		   "@freq1[(int)(((int)arg0)), str(((char *)arg1), 81)] = count()"));
	CHECK(dist("frequency", "p::f(int a):int:a:a==16#label", "if (((int)arg0)==16) {"));
	CHECK(dist("histogram", "r::f(size_t n):u64:$latency/$entry(n)#ns per byte",
		   "hist((u64)((nsecs - @begun1[tid])/@entry1_0[tid]))"));
	CHECK(dist("frequency", "r::f", "@freq1[(u64)(retval)]"));
	CHECK(dist("frequency", "p::f", "@freq1[(u64)(0)]"));
	CHECK(dist("frequency", "t:irq:irq_handler_entry():int:args->irq", "(int)(args->irq)"));
	CHECK(dist("histogram", "p::f", "a histogram needs a type and an expression"));
	CHECK(dist("histogram", "p::f():int,int:1,2", "a histogram is of one expression"));
	CHECK(dist("frequency", "p::f():int:1,2", "1 types, but 2 expressions"));
	CHECK(dist("frequency", "p::f():int", "expected ':' and an expression after the type"));
	CHECK(dist("frequency", "p::f():u64:$latency",
		   "$latency is only available in a return probe of argdist"));
}

TEST(words_ftrace)
{
	CHECK(has("kprobe", "p:do_sys_open", "kprobe:do_sys_open\n"));
	CHECK(has("kprobe", "r:do_sys_open $retval", "kretprobe:do_sys_open\n"));
	CHECK(has("kprobe", "p:myopen do_sys_open filename=+0(%si):string",
		  "strf(\"filename=\\\"%s\\\"\", str((reg(\"si\") + 0)))"));
	CHECK(has("kprobe", "p:f +8(%di):u32",
		  "strf(\"arg1=%llu\", *(uint32 *)(reg(\"di\") + 8))"));
	CHECK(has("kprobe", "p:f mode=%cx:u16", "strf(\"mode=%llu\", (uint16)(reg(\"cx\")))"));
	CHECK(has("kprobe", "p:f +8(-16(%di))", "*(uint64 *)(*(uint64 *)(reg(\"di\") - 16) + 8)"));
	CHECK(has("kprobe", "p:f j=@jiffies $stack2 $comm \\5", "kaddr(\"jiffies\")"));
	CHECK(has("uprobe", "r:/bin/x:readline +0($retval):string", "uretprobe:/bin/x:readline\n"));
	CHECK(has("uprobe", "p:name /bin/x:f+4 $arg2", "uprobe:/bin/x:f+4\n"));
	CHECK(refused("kprobe", "p:f $retval", "only a return (r:) has a result", 4));
	CHECK(refused("kprobe", "p:f %di:u7",
		      "unknown type 'u7' (types: u8 to u64, s8 to s64, x8 to x64, string, ustring, "
		      "char, symbol)",
		      4));
	CHECK(refused("kprobe", "p:f +8(%di", "expected ')'", 4));
	CHECK(has("kprobe", "p:name f", "name = \"name\""));
	CHECK(refused("kprobe", "p:n g;x", "';' cannot be in a symbol", 0));
	CHECK(refused("kprobe", "p:n f x", "expected %REG, $retval, $argN, @SYMBOL or +OFF(...)",
		      6));
	CHECK(refused("uprobe", "p:f", "expected p|r:[NAME ]FILE:SYMBOL", 0));
}
