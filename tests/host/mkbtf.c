/*
 * mkbtf.c - types.txt of a recorded machine -> BTF as a kernel shows it.
 *
 *	mkbtf types.txt vmlinux; mkbtf modules/NAME.txt NAME vmlinux
 *
 * Types refer to each other in any order, so the text is read twice: the first
 * time only tells each name's id. What a struct looks like in memory follows
 * from C's rules.
 */
#include <bpf/btf.h>
#include <ctype.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 512, MAX_MEMBERS = 64, MAX_TEXT = 128, MAX_LINES = 2048 };

struct name {
	char text[MAX_TEXT]; /* "struct task_struct", "pid_t" */
	int id;
	unsigned size, align;
};

struct maker {
	struct btf *b;
	struct name name[MAX_NAMES];
	int nname;
	char *line[MAX_LINES];
	int nline, at;
	bool first; /* unknown names are no mistake yet */
};

/* What a declaration's text says. */
struct decl {
	int id;
	unsigned size, align, bits;
	char name[MAX_TEXT];
};

static void fail(const struct maker *m, const char *why, const char *what)
{
	fprintf(stderr, "mkbtf: line %d: %s: %s\n", m->at + 1, why, what);
	exit(1);
}

static int made(const struct maker *m, int id, const char *what)
{
	if (id < 0)
		fail(m, "libbpf refuses", what);
	return id;
}

static struct name *find(struct maker *m, const char *text)
{
	for (int i = 0; i < m->nname; i++)
		if (!strcmp(m->name[i].text, text))
			return &m->name[i];
	return NULL;
}

static void define(struct maker *m, const char *text, int id, unsigned size, unsigned align)
{
	struct name *n = find(m, text);
	if (!n && m->nname == MAX_NAMES)
		fail(m, "too many types", text);
	if (!n)
		n = &m->name[m->nname++];
	snprintf(n->text, sizeof(n->text), "%s", text);
	n->id = id;
	n->size = size;
	n->align = align;
}

static bool take(const char **s, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(*s, word, n) || isalnum((*s)[n]) || (*s)[n] == '_')
		return false;
	*s += n;
	while (**s == ' ')
		++*s;
	return true;
}

static const char *take_name(const char *s, char *out)
{
	size_t n = 0;
	while (isalnum(s[n]) || s[n] == '_')
		n++;
	snprintf(out, MAX_TEXT, "%.*s", (int)n, s);
	s += n;
	while (*s == ' ')
		s++;
	return s;
}

/* "unsigned long", "struct file", "pid_t" */
static const char *base_name(const char *s, char *out)
{
	static const char *const words[] = {"struct", "union", "enum", "unsigned", "signed",
					    "long",   "short", "char", "int"};
	size_t n = 0;
	bool tag = false, any = false;
	for (bool more = true; more && !tag;) {
		more = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !more; i++) {
			more = take(&s, words[i]);
			if (more)
				n += (size_t)snprintf(out + n, MAX_TEXT - n, "%s%s", n ? " " : "",
						      words[i]);
			tag = more && i < 3;
			any |= more;
		}
	}
	if (any && !tag)
		return s;
	char word[MAX_TEXT];
	s = take_name(s, word);
	snprintf(out + n, MAX_TEXT - n, "%s%s", n ? " " : "", word);
	return s;
}

/* "const char __user *const *name[4]:3" up to the end, or a comma or parenthesis. */
static const char *declaration(struct maker *m, const char *s, struct decl *d)
{
	char base[MAX_TEXT];
	bool is_const = take(&s, "const"), is_void = take(&s, "void"), user;
	*d = (struct decl){0};
	if (!is_void) {
		s = base_name(s, base);
		const struct name *n = find(m, base);
		if (!n && !m->first)
			fail(m, "unknown type", base);
		if (n)
			*d = (struct decl){.id = n->id, .size = n->size, .align = n->align};
	}
	if (is_const)
		d->id = made(m, btf__add_const(m->b, d->id), "const");
	user = take(&s, "__user");
	if (user)
		d->id = made(m, btf__add_type_tag(m->b, "user", d->id), "tag");
	for (; *s == '*'; s++) {
		d->id = made(m, btf__add_ptr(m->b, d->id), "pointer");
		d->size = d->align = 8;
	}
	s = take_name(s, d->name);
	if (*s == '[') {
		unsigned long n = strtoul(s + 1, (char **)&s, 10);
		d->id = made(m, btf__add_array(m->b, find(m, "unsigned int")->id, d->id, (__u32)n),
			     "array");
		d->size *= (unsigned)n;
		s++;
	}
	if (*s == ':')
		d->bits = (unsigned)strtoul(s + 1, (char **)&s, 10);
	return s;
}

static int depth_of(const char *line)
{
	int n = 0;
	while (line[n] == '\t')
		n++;
	return n;
}

static bool inside(const struct maker *m, int depth)
{
	return m->at < m->nline && depth_of(m->line[m->at]) > depth;
}

static struct decl record(struct maker *m, int depth);

static struct decl member(struct maker *m)
{
	const char *line = m->line[m->at];
	int depth = depth_of(line);
	struct decl d;
	if (!strcmp(line + depth, "struct") || !strcmp(line + depth, "union"))
		return record(m, depth);
	const char *end = declaration(m, line + depth, &d);
	if (*end || !d.name[0])
		fail(m, "not a member", line);
	m->at++;
	return d;
}

/* Where in the record the member begins, in bits; *end: the first free bit after it. */
static unsigned place(bool is_union, const struct decl *d, unsigned *end)
{
	unsigned at = is_union ? 0 : *end, unit = d->size * 8, n = d->bits ? d->bits : unit;
	if (!d->bits || at / unit != (at + n - 1) / unit)
		at = (at + d->align * 8 - 1) / (d->align * 8) * (d->align * 8);
	*end = at + n > *end ? at + n : *end;
	return at;
}

/* "struct NAME" and the deeper lines below it. */
static struct decl record(struct maker *m, int depth)
{
	struct decl v[MAX_MEMBERS], r = {.align = 1};
	unsigned at[MAX_MEMBERS], end = 0;
	int n = 0;
	const char *head = m->line[m->at++] + depth, *name = strchr(head, ' ');
	bool is_union = !strncmp(head, "union", 5);
	while (inside(m, depth)) {
		if (n == MAX_MEMBERS)
			fail(m, "too many members", head);
		v[n] = member(m);
		if (!v[n].size)
			v[n].size = v[n].align = 1; /* not known in the first reading */
		at[n] = place(is_union, &v[n], &end);
		r.align = v[n].align > r.align ? v[n].align : r.align;
		n++;
	}
	r.size = (end + r.align * 8 - 1) / (r.align * 8) * r.align;
	name = name ? name + 1 : NULL;
	r.id = is_union ? btf__add_union(m->b, name, r.size) : btf__add_struct(m->b, name, r.size);
	made(m, r.id, head);
	for (int i = 0; i < n; i++)
		made(m, btf__add_field(m->b, v[i].name, v[i].id, at[i], v[i].bits), v[i].name);
	if (name)
		define(m, head, r.id, r.size, r.align);
	return r;
}

static void enumeration(struct maker *m)
{
	const char *head = m->line[m->at++], *name = strchr(head, ' ');
	int id = made(m, btf__add_enum(m->b, name ? name + 1 : NULL, 4), head);
	for (; inside(m, 0); m->at++) {
		char word[MAX_TEXT];
		const char *val = take_name(m->line[m->at] + 1, word);
		made(m, btf__add_enum_value(m->b, word, strtoll(val, NULL, 10)), word);
	}
	if (name)
		define(m, head, id, 4, 4);
}

/* "(type name, ...)" -> a prototype; first: a parameter in front that the text does not show. */
static int prototype(struct maker *m, const char *s, int ret, const char *first)
{
	struct decl v[16];
	int n = 0;
	while (*s == '(' || *s == ',') {
		for (s++; *s == ' ';)
			s++;
		s = declaration(m, s, &v[n++]);
	}
	if (*s != ')')
		fail(m, "not a list of parameters", s);
	int data = first ? made(m, btf__add_ptr(m->b, 0), "pointer") : 0;
	int id = made(m, btf__add_func_proto(m->b, ret), "prototype");
	if (first)
		btf__add_func_param(m->b, first, data);
	for (int i = 0; i < n; i++)
		made(m, btf__add_func_param(m->b, v[i].name, v[i].id), v[i].name);
	return id;
}

static void function(struct maker *m, const char *s)
{
	struct decl d;
	s = declaration(m, s, &d);
	made(m, btf__add_func(m->b, d.name, BTF_FUNC_GLOBAL, prototype(m, s, d.id, NULL)), d.name);
}

/* A function whose type is none of a function: what damaged BTF holds. */
static void damaged(struct maker *m, const char *s)
{
	struct decl d;
	declaration(m, s, &d);
	made(m, btf__add_func(m->b, d.name, BTF_FUNC_GLOBAL, d.id), d.name);
}

/* What the kernel's BTF has of a tracepoint: the type of its probes, and the function that calls
 * them. */
static void trace(struct maker *m, const char *s)
{
	char name[MAX_TEXT], full[MAX_TEXT + 16];
	s = take_name(s, name);
	int proto = prototype(m, s, 0, "__data");
	snprintf(full, sizeof(full), "__traceiter_%s", name);
	made(m, btf__add_func(m->b, full, BTF_FUNC_GLOBAL, proto), full);
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	made(m, btf__add_typedef(m->b, full, made(m, btf__add_ptr(m->b, proto), full)), full);
}

static void base(struct maker *m, const char *s)
{
	char how[MAX_TEXT];
	unsigned size = (unsigned)strtoul(s, (char **)&s, 10);
	s = take_name(s + 1, how);
	int id = !strcmp(how, "float")    ? btf__add_float(m->b, s, size)
		 : !strcmp(how, "signed") ? btf__add_int(m->b, s, size, BTF_INT_SIGNED)
		 : !strcmp(how, "char")   ? btf__add_int(m->b, s, size, BTF_INT_CHAR)
		 : !strcmp(how, "bool")   ? btf__add_int(m->b, s, size, BTF_INT_BOOL)
					  : btf__add_int(m->b, s, size, 0);
	define(m, s, made(m, id, s), size, size);
}

static void alias(struct maker *m, const char *s)
{
	struct decl d;
	s = declaration(m, s, &d);
	define(m, d.name, made(m, btf__add_typedef(m->b, d.name, d.id), s), d.size, d.align);
}

/* A struct that is only declared. */
static void declared(struct maker *m, const char *s)
{
	char text[MAX_TEXT];
	snprintf(text, sizeof(text), "struct %s", s);
	define(m, text, made(m, btf__add_fwd(m->b, s, BTF_FWD_STRUCT), s), 0, 1);
}

static void top_level(struct maker *m)
{
	const char *s = m->line[m->at];
	if (!strncmp(s, "struct", 6) || !strncmp(s, "union", 5)) {
		record(m, 0);
		return;
	}
	if (!strncmp(s, "enum", 4)) {
		enumeration(m);
		return;
	}
	if (take(&s, "base"))
		base(m, s);
	else if (take(&s, "declared"))
		declared(m, s);
	else if (take(&s, "typedef"))
		alias(m, s);
	else if (take(&s, "func"))
		function(m, s);
	else if (take(&s, "damaged"))
		damaged(m, s);
	else if (take(&s, "trace"))
		trace(m, s);
	else
		fail(m, "cannot read", s);
	m->at++;
}

static void read_lines(struct maker *m, FILE *f)
{
	char buf[1024];
	while (fgets(buf, sizeof(buf), f)) {
		buf[strcspn(buf, "\n")] = 0;
		if (m->nline == MAX_LINES)
			fail(m, "too many lines", buf);
		if (buf[0] && buf[0] != '#')
			m->line[m->nline++] = strdup(buf);
	}
}

int main(int argc, char **argv)
{
	static struct maker m;
	FILE *in = argc == 3 || argc == 4 ? fopen(argv[1], "r") : NULL;
	FILE *out = in ? fopen(argv[2], "w") : NULL;
	if (!out) {
		fprintf(stderr,
			"usage: mkbtf types.txt vmlinux; mkbtf module.txt module vmlinux\n");
		return 2;
	}
	read_lines(&m, in);
	struct btf *kernel = argc == 4 ? btf__parse(argv[3], NULL) : NULL;
	for (int round = 0; round < 4; round++) { /* sizes of what is used before it is defined */
		btf__free(m.b);
		m.b = kernel ? btf__new_empty_split(kernel) : btf__new_empty();
		m.first = round == 0;
		for (m.at = 0; m.at < m.nline;)
			top_level(&m);
	}
	__u32 n = 0;
	const void *raw = btf__raw_data(m.b, &n);
	bool ok = raw && fwrite(raw, 1, n, out) == n && !fclose(out);
	fclose(in);
	return !ok;
}
