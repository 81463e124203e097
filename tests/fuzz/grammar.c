/* grammar.c - see grammar.h. Maps have their types in their names; variables know theirs. */
#include "grammar.h"
#include <stdio.h>

enum { MAX_VARS = 32, MAX_DEPTH = 7 };
enum ty { INT, STR_, BOOL, TUP, REC, ARR, TASK, NTY };

struct gen {
	const u8 *p;
	size_t n, at;
	struct sb *out;
	enum ty var[MAX_VARS];
	u32 nvar, nname, depth, loops;
	bool args; /* the probe has args.prev_pid */
};

/* Below n. */
static u32 pick(struct gen *g, u32 n)
{
	return g->at < g->n ? g->p[g->at++] % n : 0;
}

static void put(struct gen *g, const char *s)
{
	sb_z(g->out, s);
}

static const char *one(struct gen *g, const char *const *v, u32 n)
{
	return v[pick(g, n)];
}
#define ONE(g, ...)                                \
	one(g, (const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void expr(struct gen *g, enum ty t);
static void block(struct gen *g);
static void statement(struct gen *g);

/* To be followed by a member or an index. */
static void operand(struct gen *g, enum ty t)
{
	put(g, "(");
	expr(g, t);
	put(g, ")");
}

static bool put_var(struct gen *g, enum ty t)
{
	u32 n = 0, k;
	for (u32 i = 0; i < g->nvar; i++)
		n += g->var[i] == t;
	if (!n)
		return false;
	k = pick(g, n);
	for (u32 i = 0; i < g->nvar; i++)
		if (g->var[i] == t && !k--)
			return sb_fmt(g->out, "$v%u", i), true;
	return false;
}

static void binary(struct gen *g, enum ty t, const char *op)
{
	put(g, "(");
	expr(g, t);
	sb_fmt(g->out, " %s ", op);
	expr(g, t);
	put(g, ")");
}

static const char *stack_key(char k)
{
	switch (k) {
	case 'k': return "kstack";
	case 'f': return "kstack(3)";
	case 'r': return "kstack(raw, 5)";
	case 'u': return "ustack";
	default: return "fp_ustack(4)";
	}
}

/*
 * Keys by letter: i integer, s string, t tuple; stacks of different kinds are different keys, k, f and r
 * the kernel's, u and p the program's.
 */
static char key(struct gen *g)
{
	char k = "istk"[pick(g, 4)];
	put(g, "[");
	switch (k) {
	case 'i': expr(g, INT); break;
	case 's': expr(g, STR_); break;
	case 't':
		expr(g, INT);
		put(g, ", ");
		expr(g, STR_);
		break;
	default: k = "kfurp"[pick(g, 5)]; put(g, stack_key(k));
	}
	put(g, "]");
	return k;
}

/* @ and its name, with the key's letter put in when the key is known. */
static void map(struct gen *g, const char *value)
{
	struct sb *real = g->out, text = {0};
	if (!pick(g, 3)) {
		sb_fmt(g->out, "@%s", value);
		return;
	}
	g->out = &text;
	char k = key(g);
	g->out = real;
	sb_fmt(g->out, "@%s_%c%s", value, k, text.s);
	sb_free(&text);
}

static void choice(struct gen *g, enum ty t)
{
	switch (pick(g, 4)) {
	case 0:
		put(g, "(");
		expr(g, BOOL);
		put(g, " ? ");
		expr(g, t);
		put(g, " : ");
		expr(g, t);
		put(g, ")");
		break;
	case 1:
		put(g, "{ let $e = ");
		expr(g, t);
		put(g, "; $e }");
		break;
	case 2:
		put(g, "if (");
		expr(g, BOOL);
		put(g, ") { ");
		expr(g, t);
		put(g, " } else { ");
		expr(g, t);
		put(g, " }");
		break;
	default:
		put(g, "twice(");
		expr(g, t);
		put(g, ", ");
		expr(g, t);
		put(g, ")");
	}
}

static void integer(struct gen *g)
{
	switch (pick(g, 24)) {
	case 0:
		put(g, ONE(g, "1", "0", "7", "255", "4096", "0x7fffffffffffffff", "(-1)", "1e6"));
		break;
	case 1:
		put(g, ONE(g, "pid", "tid", "cpu", "uid", "nsecs", "rand", "elapsed", "ncpus",
			   "gid", "cgroup", "ppid", "jiffies", "numaid", "usermode"));
		break;
	case 2: binary(g, INT, ONE(g, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")); break;
	case 3:
		put(g, ONE(g, "-", "~", "!"));
		put(g, "(");
		expr(g, INT);
		put(g, ")");
		break;
	case 4:
		sb_fmt(g->out, "(%s)(",
		       ONE(g, "int8", "uint8", "int16", "uint32", "int64", "uint64", "bool",
			   "pid_t", "typeof(cpu)"));
		expr(g, INT);
		put(g, ")");
		break;
	case 5: choice(g, INT); break;
	case 6:
		put(g, "strlen(");
		expr(g, STR_);
		put(g, ")");
		break;
	case 7:
		put(g, "strncmp(");
		expr(g, STR_);
		put(g, ", ");
		expr(g, STR_);
		sb_fmt(g->out, ", %s)", ONE(g, "3", "1", "16", "64"));
		break;
	case 8: map(g, "i"); break;
	case 9:
		operand(g, TUP);
		put(g, ".0");
		break;
	case 10:
		operand(g, REC);
		put(g, ".a");
		break;
	case 11:
		operand(g, ARR);
		sb_fmt(g->out, "[%s]", ONE(g, "0", "1", "3"));
		break;
	case 12:
		operand(g, TASK);
		put(g, ONE(g, "->pid", "->tgid", ".flags", "->real_parent->tgid", "->start_time",
			   "->cred->uid.val"));
		break;
	case 13:
		put(g, ONE(g, "sizeof(struct pair)", "sizeof(uint64)",
			   "offsetof(struct pair, name)", "sizeof(struct task_struct)", "RED",
			   "SQUARE(3)", "AF_INET6", "comptime (1 + 2)"));
		break;
	case 14:
		put(g, "strstr(");
		expr(g, STR_);
		sb_fmt(g->out, ", %s)", ONE(g, "\"a\"", "\"abc\"", "comm"));
		break;
	case 15:
		put(g, ONE(g, "(int64)@count", "(int64)@sum", "(uint64)@max", "(int64)@avg",
			   "(uint64)@min"));
		break;
	case 16: put(g, ONE(g, "len(@i_i)", "len(@s_s)", "len(kstack)", "len(@i_t)")); break;
	case 17:
		put(g,
		    g->args ? ONE(g, "args.prev_pid", "args.next_prio", "args.prev_state") : "pid");
		break;
	case 18:
		put(g, "bswap((uint32)");
		integer(g);
		put(g, ")");
		break;
	case 19:
		operand(g, STR_);
		sb_fmt(g->out, "[%s]", ONE(g, "0", "2"));
		break;
	case 20:
		put(g, "if comptime (sizeof(uint64) == 8) { ");
		integer(g);
		put(g, " } else { nothing_of_this_name }");
		break;
	case 21:
		put(g, "(uint32)");
		operand(g, ARR);
		break;
	case 22:
		put(g, "((struct pair *)(");
		integer(g);
		put(g, "))->a");
		break;
	default:
		if (!put_var(g, INT))
			put(g, "pid");
	}
}

static void text(struct gen *g)
{
	switch (pick(g, 12)) {
	case 0:
		put(g, ONE(g, "\"a\"", "\"\"", "\"abc\\n\"", "comm", "pcomm", "\"x\" + \"yz\"",
			   "probetype", "leader_comm", "strerror(2)", "signal_name(9)",
			   "syscall_name(1)"));
		break;
	case 1:
		if (!put_var(g, STR_))
			put(g, "comm");
		break;
	case 2: choice(g, STR_); break;
	case 3: map(g, "s"); break;
	case 4:
		put(g, "str(");
		operand(g, TASK);
		put(g, ONE(g, "->comm)", "->comm, 4)", ")", ", 3)"));
		break;
	case 5:
		put(g, "str_concat(");
		expr(g, STR_);
		put(g, ", ");
		expr(g, STR_);
		put(g, ")");
		break;
	case 6:
		operand(g, TUP);
		put(g, ".1");
		break;
	case 7:
		operand(g, REC);
		put(g, ".b");
		break;
	case 8:
		operand(g, TASK);
		put(g, ONE(g, "->comm", "->real_parent->comm", ".group_leader.comm"));
		break;
	case 9:
		put(g, "strerror(");
		expr(g, INT);
		put(g, ")");
		break;
	case 10:
		put(g, "((struct pair *)(");
		integer(g);
		put(g, "))->name");
		break;
	default:
		put(g, g->args ? ONE(g, "args.prev_comm", "args.next_comm", "str(args.next_comm)")
			       : "comm");
	}
}

static void truth(struct gen *g)
{
	switch (pick(g, 9)) {
	case 0: put(g, ONE(g, "true", "false")); break;
	case 1: binary(g, INT, ONE(g, "==", "!=", "<", "<=", ">", ">=")); break;
	case 2: binary(g, STR_, ONE(g, "==", "!=")); break;
	case 3: binary(g, BOOL, ONE(g, "&&", "||")); break;
	case 4:
		put(g, "!(");
		expr(g, BOOL);
		put(g, ")");
		break;
	case 5:
		put(g, "strcontains(");
		expr(g, STR_);
		sb_fmt(g->out, ", %s)", ONE(g, "\"a\"", "\"abcdef\"", "comm"));
		break;
	case 6:
		put(g, ONE(g, "has_key(@i_i, 1)", "has_key(@s_s, comm)", "has_key(@i_t, (1, comm))",
			   "@i_i[3]", "@count > 3"));
		break;
	case 7: binary(g, TUP, "=="); break;
	default:
		if (!put_var(g, BOOL))
			put(g, "pid");
	}
}

static void other(struct gen *g, enum ty t)
{
	static const char *const values[NTY] = {[TUP] = "t", [REC] = "r", [ARR] = "a"};
	u32 c = pick(g, 5);
	if (c == 1 && put_var(g, t))
		return;
	if (c == 2 && values[t]) {
		map(g, values[t]);
		return;
	}
	if (c == 3) {
		choice(g, t);
		return;
	}
	switch (t) {
	case TUP:
	case REC:
		put(g, t == TUP ? "(" : "(a=");
		expr(g, INT);
		put(g, t == TUP ? ", " : ", b=");
		expr(g, STR_);
		put(g, ")");
		break;
	case ARR:
		put(g, "(uint8[4])");
		put(g, "(uint32)(");
		expr(g, INT);
		put(g, ")");
		break;
	default: put(g, ONE(g, "curtask", "curtask->real_parent", "curtask->group_leader")); break;
	}
}

static void expr(struct gen *g, enum ty t)
{
	static const char *const least[NTY] = {
		"3",      "comm", "true", "(1, \"a\")", "(a=1, b=\"x\")", "((uint8[4])(uint32)9)",
		"curtask"};
	if (g->depth >= MAX_DEPTH) {
		put(g, least[t]);
		return;
	}
	g->depth++;
	switch (t) {
	case INT: integer(g); break;
	case STR_: text(g); break;
	case BOOL: truth(g); break;
	default: other(g, t); break;
	}
	g->depth--;
}

/* ---- statements ---- */

static void assign_agg(struct gen *g)
{
	const char *const kind[] = {"count",  "sum",  "min",   "max",      "avg",        "stats",
				    "stddev", "hist", "lhist", "quantize", "llquantize", "tseries"};
	u32 k = pick(g, countof(kind));
	map(g, kind[k]);
	sb_fmt(g->out, " = %s(", kind[k]);
	if (k)
		expr(g, INT);
	put(g, k == 8 ? ", 0, 100, 10" : k == 10 ? ", 10, 0, 3, 10" : k == 11 ? ", 100ms, 4" : "");
	put(g, ");\n");
}

static void declare(struct gen *g)
{
	enum ty t = (enum ty)pick(g, NTY);
	if (g->nvar == MAX_VARS)
		return;
	sb_fmt(g->out, "%s$v%u = ", pick(g, 2) ? "let " : "", g->nvar);
	expr(g, t);
	put(g, ";\n");
	g->var[g->nvar++] = t;
}

static void loop(struct gen *g)
{
	u32 nvar = g->nvar, kind = pick(g, 6), id = g->nname++;
	if (g->loops >= 3 || g->nvar == MAX_VARS)
		return;
	g->loops++;
	switch (kind) {
	case 0:
		sb_fmt(g->out, "for $i%u : 0..%s ", id,
		       ONE(g, "3", "1", "40", "5000", "(pid % 9)"));
		break;
	case 1: sb_fmt(g->out, "unroll (%s) ", ONE(g, "2", "1", "4")); break;
	case 2: sb_fmt(g->out, "for $i%u : @i_i ", id); break;
	case 3: sb_fmt(g->out, "for $i%u : @s_s ", id); break;
	case 4: sb_fmt(g->out, "for $i%u : @t_t ", id); break;
	default: sb_fmt(g->out, "$w%u = 0; while ($w%u < 4) ", id, id); break;
	}
	if (kind == 5) {
		put(g, "{ ");
		sb_fmt(g->out, "$w%u++;\n", id);
		statement(g);
		put(g, "}\n");
	} else {
		block(g);
	}
	g->nvar = nvar;
	g->loops--;
}

static void print_it(struct gen *g)
{
	switch (pick(g, 7)) {
	case 0:
		put(g, "printf(\"%d %s\\n\", ");
		expr(g, INT);
		put(g, ", ");
		expr(g, STR_);
		put(g, ");\n");
		break;
	case 1:
		put(g, "print(");
		expr(g, (enum ty)pick(g, TASK));
		put(g, ");\n");
		break;
	case 2:
		sb_fmt(g->out, "%s;\n",
		       ONE(g, "print(@i_i)", "print(@count)", "clear(@s_s)", "zero(@i_t)",
			   "print(@hist)", "clear(@hist_k)"));
		break;
	case 3:
		sb_fmt(g->out, "print(%s);\n",
		       ONE(g, "kstack", "ustack(3)", "buf(curtask->comm, 4)", "ntop(0x0100007f)",
			   "ksym(7)", "usym(7)", "username", "strftime(\"%H\", nsecs)",
			   "macaddr(\"abcdef\")", "cgroup_path(cgroup)", "probe"));
		break;
	case 4:
		sb_fmt(g->out, "%s;\n",
		       ONE(g, "time(\"%H\")", "cat(\"/nonexistent\")", "errorf(\"%d\", pid)",
			   "warnf(\"x\")", "debugf(\"%d\", pid)"));
		break;
	case 5:
		put(g, "printf(\"%5.3s|%-8lx|%r|%c\\n\", ");
		expr(g, STR_);
		put(g, ", ");
		expr(g, INT);
		put(g, ", buf(comm, 5), ");
		expr(g, INT);
		put(g, ");\n");
		break;
	default:
		put(g, "assert(");
		expr(g, BOOL);
		put(g, ", \"no\");\n");
	}
}

static void statement(struct gen *g)
{
	u32 nvar = g->nvar;
	if (g->depth >= MAX_DEPTH) {
		put(g, "@i++;\n");
		return;
	}
	g->depth++;
	switch (pick(g, 14)) {
	case 0: assign_agg(g); break;
	case 1: declare(g); break;
	case 2:
		map(g, "i");
		sb_fmt(g->out, " %s ",
		       ONE(g, "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="));
		expr(g, INT);
		put(g, ";\n");
		break;
	case 3:
		map(g, "s");
		put(g, " = ");
		expr(g, STR_);
		put(g, ";\n");
		break;
	case 4:
		put(g, ONE(g, "if (", "if comptime (1 == 1) {} if ("));
		expr(g, BOOL);
		put(g, ") ");
		block(g);
		if (pick(g, 2)) {
			put(g, "else ");
			block(g);
		}
		g->nvar = nvar;
		break;
	case 5: loop(g); break;
	case 6: print_it(g); break;
	case 7: {
		const char *const v[] = {"t", "r", "a"};
		u32 k = pick(g, 3);
		map(g, v[k]);
		put(g, " = ");
		expr(g, (enum ty)(TUP + k));
		put(g, ";\n");
		break;
	}
	case 8:
		put(g, ONE(g, "delete(@i_i, ", "_ = has_key(@i_i, ", "delete(@i_i, "));
		expr(g, INT);
		put(g, ");\n");
		break;
	case 9:
		put(g, g->loops ? ONE(g, "break;\n", "continue;\n", "return;\n")
				: ONE(g, "return;\n", "exit();\n"));
		break;
	case 10:
		block(g);
		g->nvar = nvar;
		break;
	case 11:
		if (put_var(g, INT))
			put(g, ONE(g, "++;\n", "--;\n", " += 3;\n", " = rand;\n"));
		break;
	case 12:
		put(g, "bump(@i_i, ");
		expr(g, INT);
		put(g, ", 2);\n");
		break;
	default:
		put(g, "@any_k[");
		put(g, ONE(g, "kstack", "kstack(2)"));
		put(g, ", ");
		expr(g, INT);
		put(g, "] = count();\n");
	}
	g->depth--;
}

static void block(struct gen *g)
{
	u32 n = 1 + pick(g, 4);
	put(g, "{\n");
	while (n--)
		statement(g);
	put(g, "}\n");
}

/* Every map that the probes name has a value and a type. */
static void put_maps(struct sb *out, struct str body)
{
	static const char letter[] = " istkfurp";
	static const char *const key[] = {"", "1", "\"a\"", "1, \"a\""};
	static const char *const value[] = {"1", "\"a\"", "(1, \"a\")", "(a=1, b=\"x\")",
					    "(uint8[4])(uint32)9"};
	static const char *const agg[] = {"count = count()",
					  "sum = sum(1)",
					  "min = min(1)",
					  "max = max(1)",
					  "avg = avg(1)",
					  "hist = hist(1)",
					  "hist_k[kstack] = hist(1)"};
	sb_z(out, "begin {\n@i = 1;\n");
	for (u32 v = 0; v < countof(value); v++) {
		for (u32 k = 0; letter[k]; k++) {
			char name[16];
			snprintf(name, sizeof(name), k ? "@%c_%c[" : "@%c", "istra"[v], letter[k]);
			if (k ? str_find(body, str_n(name, strlen(name) - 1)) < 0 : !v)
				continue;
			sb_fmt(out, k ? "%s%s] = %s;\n" : "%s%s = %s;\n", name,
			       k < countof(key) ? key[k] : stack_key(letter[k]), value[v]);
		}
	}
	for (u32 i = 0; i < countof(agg); i++) {
		char name[16];
		snprintf(name, sizeof(name), "@%.*s", (int)strcspn(agg[i], " ["), agg[i]);
		if (str_find(body, str_z(name)) >= 0)
			sb_fmt(out, "@%s;\n", agg[i]);
	}
	sb_z(out, "}\n");
}

void grammar_script(const u8 *p, size_t n, struct sb *out)
{
	struct gen g = {.p = p, .n = n, .out = out};
	static const char *const probe[] = {"begin",
					    "end",
					    "interval:s:9",
					    "tracepoint:sched:sched_switch",
					    "tracepoint:syscalls:sys_enter_openat",
					    "rawtracepoint:sched_switch",
					    "profile:hz:9",
					    "software:cpu-clock:1000000",
					    "self:signal:SIGUSR1"};
	put(&g,
	    "struct pair { int a; char name[12]; unsigned flag : 3; };\nenum color { RED = 3 };\n"
	    "#define SQUARE(x) ((x) * (x))\n");
	if (pick(&g, 3) == 1)
		sb_fmt(out, "config = { %s }\n",
		       ONE(&g, "max_strlen = 64", "max_strlen = 200; print_maps_on_exit = false",
			   "max_map_keys = 10"));
	if (pick(&g, 4) == 1)
		sb_fmt(out, "let @i_i = %s;\n", ONE(&g, "hash(10)", "lruhash(10)", "hash(100000)"));
	put(&g, "macro twice(a, b) { if (pid) { a } else { b } }\nmacro bump(@m, k, n) { @m[k] += "
		"n; }\n");
	AUTO_SB body = {0};
	g.out = &body;
	for (u32 i = 0, k = 1 + pick(&g, 3); i < k; i++) {
		const char *name = ONE(&g, probe[0], probe[1], probe[2], probe[3], probe[4],
				       probe[5], probe[6], probe[7], probe[8]);
		g.nvar = 0;
		g.args = name == probe[3];
		put(&g, name);
		if (pick(&g, 3) == 1) {
			put(&g, " / ");
			expr(&g, BOOL);
			put(&g, " /");
		}
		put(&g, " ");
		block(&g);
	}
	put_maps(out, sb_str(&body));
	sb_add(out, sb_str(&body));
}
