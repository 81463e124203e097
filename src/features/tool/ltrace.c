/*
 * ltrace.c - the functions that a program imports, by the libraries that define them, and its own.
 *
 * A library's function is probed, and the caller's address tells calls of the program from those of
 * other libraries. Functions whose arguments are known share a probe with others that have the same.
 */
#include "proc/paths.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tool/writers.h"

enum { MAX_IMPORTS = 2000, MAX_LIBS = 64, MAX_TOLD = 63 /* words of -e */, MAX_STRING = 1000 };

/* s: text, d: int, l: long, u: unsigned long, o: mode, p: address; the result behind the colon. A text
 * that the function fills (strcpy) is that of the return. */
static const struct {
	const char *kinds, *names; /* with blanks around each */
} known[] = {
	{"s:d", " atoi puts chdir rmdir unlink remove system putenv printf "},
	{"s:l", " atol atoll "},
	{"s:u", " strlen "},
	{"s:s", " getenv secure_getenv strdup textdomain gettext "},
	{"s:p", " opendir "},
	{"s:", " perror "},
	{"ds:s", " setlocale "},
	{"ss:d", " strcmp strcoll strcasecmp rename link symlink "},
	{"ss:s", " strstr strcasestr bindtextdomain bind_textdomain_codeset dgettext strcat "},
	{"ss:u", " strspn strcspn "},
	{"ss:p", " strpbrk fopen fopen64 popen "},
	{"ssd:s", " dcgettext "},
	{"ssd:d", " setenv "},
	{"ssu:d", " strncmp strncasecmp "},
	{"ps:s", " strcpy "},
	{"psu:s", " strncpy "},
	{"ps:p", " stpcpy "},
	{"ssp:p", " freopen freopen64 "},
	{"sp:d", " fputs stat lstat stat64 lstat64 execv execvp open open64 fputs_unlocked "},
	{"sp:s", " realpath "},
	{"sd:s", " strchr strrchr index rindex "},
	{"sd:d", " access "},
	{"so:d", " creat mkdir chmod "},
	{"spd:l", " strtol strtoll "},
	{"spd:u", " strtoul strtoull "},
	{"u:p", " malloc valloc "},
	{"uu:p", " calloc memalign aligned_alloc "},
	{"p:", " free "},
	{"p:d", " fclose fflush closedir fgetc getc feof ferror fileno fileno_unlocked "},
	{"p:l", " ftell "},
	{"p:p", " readdir readdir64 "},
	{"pu:p", " realloc "},
	{"pdp:s", " fgets "},
	{"dp:d", " putc fputc "},
	{"ppu:p", " memcpy memmove mempcpy "},
	{"ppu:d", " memcmp "},
	{"pdu:p", " memset memchr memrchr "},
	{"puup:u", " fread fwrite "},
	{"d:d", " close isatty fsync putchar toupper tolower dup "},
	{"d:u", " sleep "},
	{"u:d", " usleep "},
	{"d:", " exit _exit "},
	{"dpu:l", " read write "},
	{"dp:p", " signal "},
	{":d", " getpid getppid getuid geteuid getgid getegid fork rand "},
	{":", " abort "},
	{"ps:d", " fprintf sprintf "},
	{"pus:d", " snprintf "},
	{"ds:d", " __printf_chk "},
	{"pds:d", " __fprintf_chk "},
	{"pdus:d", " __sprintf_chk "},
	{"pudus:d", " __snprintf_chk "},
};

struct import {
	struct str name;
	u32 lib;           /* index; MAX_LIBS: not found */
	bool own;          /* not imported, but the program's: whoever calls it */
	bool indirect;     /* found, but nobody tells which code the library chose */
	u64 form;          /* the code that it chose; 0: there is no choice; own: its address */
	struct str as;     /* another import that has the same code, and is probed; "": none */
	const char *kinds; /* of known[], or NULL */
};
struct program {
	struct words *w;
	const char *path; /* with several programs all of them, for messages */
	paths programs;
	bool go;
	struct import *v;
	u32 n;
	struct str lib[MAX_LIBS]; /* paths */
	u32 nlib;
	u32 further, further_libs; /* what there is no room for */
	u64 imported, own; /* which words of -e are names of imports, of -x of functions, as bits */
};

static const char *kinds_of(struct str name)
{
	char word[80];
	snprintf(word, sizeof(word), " %.*s ", STRF(name));
	for (size_t i = 0; i < countof(known); i++)
		if (strstr(known[i].names, word))
			return known[i].kinds;
	return NULL;
}

/* "!a+b" is a+b, and true */
static bool is_negated(struct str *set)
{
	bool negated = set->n && set->s[0] == '!';
	*set = negated ? str_from(*set, 1) : *set;
	return negated;
}

/* With -C also the name that the source has, with or without parameters. */
static bool is_called(const struct program *p, struct str glob, struct str name)
{
	if (str_glob(glob, name))
		return true;
	return words_flag(p->w, "demangle") && (demangle_fits(DEMANGLE_CPP, glob, name) ||
						demangle_fits(DEMANGLE_RUST, glob, name));
}

/* told: the words that name something, as bits. */
static bool wanted(struct program *p, struct str set, struct str name, u64 *told)
{
	struct str glob;
	bool negated = is_negated(&set), listed = !set.n && !negated;
	for (u32 i = 0; str_cut(&set, '+', &glob); i++) {
		if (!is_called(p, glob, name))
			continue;
		listed = true;
		*told |= 1ull << MIN(i, MAX_TOLD);
	}
	return listed != negated;
}

static void add_import(struct str name, struct program *p)
{
	for (u32 i = 0; i < p->n; i++)
		if (str_eq(p->v[i].name, name))
			return;
	if (!wanted(p, words_opt(p->w, "expression"), name, &p->imported))
		return;
	if (p->n < MAX_IMPORTS)
		p->v[p->n++] = (struct import){
			.name = arena_str(p->w->a, name), .lib = MAX_LIBS, .kinds = kinds_of(name)};
	else
		p->further++;
}

static void add_lib(struct str name, int pid, struct program *p)
{
	struct words *w = p->w;
	struct str only = words_opt(w, "library");
	char *path = proc_library(w->h, w->a, pid, arena_strz(w->a, name));
	if (!path || (only.n && str_find(name, only) < 0))
		return;
	for (u32 i = 0; i < p->nlib; i++)
		if (str_is(p->lib[i], path))
			return;
	if (p->nlib < MAX_LIBS)
		p->lib[p->nlib++] = str_z(path);
	else
		p->further_libs++;
}

/* Is it the name of a function that is called, and that a return probe does no harm? */
static bool is_function(const struct symbol *s)
{
	return !s->ifunc && s->name.n && !str_is(s->name, "_start") &&
	       str_find(s->name, STR(".cold")) < 0 && str_chr(s->name, '@') < 0;
}

/* -x: functions of the program at path; of several names of one (constructors have two) the first. */
static struct err *add_own(struct program *p, const char *path)
{
	struct elf_syms syms;
	struct str set = words_opt(p->w, "own");
	u32 lib = p->nlib, first = p->n;
	struct err *e = set.n ? elf_syms_of(p->w->h, path, &syms) : NULL;
	if (e || !set.n || lib == MAX_LIBS)
		return e;
	p->lib[p->nlib++] = str_z(path);
	for (u32 i = 0; i < syms.n; i++) {
		struct str name = syms.v[i].name;
		bool had = false;
		if (!is_function(&syms.v[i]) || !wanted(p, set, name, &p->own))
			continue;
		for (u32 k = first; k < p->n && !had; k++)
			had = str_eq(p->v[k].name, name) || p->v[k].form == syms.v[i].addr;
		if (!had && p->n < MAX_IMPORTS)
			p->v[p->n++] = (struct import){.name = arena_str(p->w->a, name),
						       .lib = lib,
						       .own = true,
						       .form = syms.v[i].addr};
		else if (!had)
			p->further++;
	}
	return NULL;
}

/* Two that chose the same code (memcpy, memmove) cannot be told apart: one is probed. */
static void take_form(struct program *p, struct import *m, u32 lib, u64 form)
{
	m->indirect = !form;
	m->form = form;
	for (u32 i = 0; i < p->n && form && !m->as.n; i++)
		if (!p->v[i].own && p->v[i].lib == lib && p->v[i].form == form)
			m->as = p->v[i].name;
	if (form && !m->as.n)
		m->lib = lib;
}

/* The first library that has a function of the name. */
static void find_definitions(struct program *p)
{
	for (u32 k = 0; k < p->nlib; k++) {
		struct elf_syms syms;
		struct choices chosen = {0};
		bool asked = false;
		const char *path = arena_strz(p->w->a, p->lib[k]);
		struct err *e = elf_syms_of(p->w->h, path, &syms);
		for (u32 i = 0; !e && i < p->n; i++) {
			struct import *m = &p->v[i];
			const struct symbol *s =
				m->lib == MAX_LIBS && !m->as.n ? elf_find(&syms, m->name) : NULL;
			if (s && s->ifunc && !asked)
				e = elf_choices(p->w->h, p->w->a, path, p->w->pid, &chosen);
			asked |= s && s->ifunc;
			if (s && s->ifunc)
				take_form(p, m, k, elf_chosen(&chosen, s->addr));
			else if (s)
				m->lib = k;
		}
		err_free(e);
	}
}

/* -L; what -e asks for is not by default. */
static bool no_imports(const struct words *w)
{
	return words_flag(w, "no_libraries") && !words_opt(w, "expression").n;
}

/* pid: whose libraries they are; 0: nobody's yet. */
static bool read_program(struct program *p, const char *path, int pid)
{
	struct elf_links links;
	bool had = false;
	for (u32 i = 0; i < p->programs.n; i++)
		had |= !strcmp(p->programs.v[i], path);
	if (!had) {
		p->path = p->path ? arena_fmt(p->w->a, "%s, %s", p->path, path) : path;
		vec_add(&p->programs, path);
	}
	struct err *e = elf_links_of(p->w->h, p->w->a, path, &links);
	if (e) {
		diag_err(p->w->diags, E_SYSTEM, (struct loc){0}, e);
		return false;
	}
	p->go |= links.go;
	for (u32 i = 0; i < links.nimport && !no_imports(p->w); i++)
		add_import(links.import[i], p);
	for (u32 i = 0; i < links.nneeded; i++)
		add_lib(links.needed[i], pid, p);
	return true;
}

/* Of the command, and of the processes that were named. */
static bool read_programs(struct program *p)
{
	struct words *w = p->w;
	const struct scope *scope = &w->u->scope;
	if (!w->command && !w->pid)
		return words_fail(w, (struct loc){0}, "ltrace needs a command, or -p PID");
	if (w->command) {
		const char *path = proc_which(w->a, w->command[0]);
		if (!path)
			return words_fail(w, (struct loc){0}, "there is no program %s",
					  w->command[0]);
		if (!read_program(p, path, 0))
			return false;
	}
	for (u32 i = 0; i < scope->nviewer; i++) {
		int pid = scope->viewer[i];
		const char *path = proc_alive(pid) ? proc_exe(w->h, w->a, pid) : NULL;
		if (!proc_alive(pid))
			return words_fail(w, (struct loc){0}, "process %d does not exist", pid);
		if (!path)
			return words_fail(w, (struct loc){0}, "process %d has no program", pid);
		if (!read_program(p, path, pid))
			return false;
	}
	find_definitions(p);
	for (u32 i = 0; i < p->programs.n; i++) {
		struct err *e = add_own(p, p->programs.v[i]);
		if (!e)
			continue;
		diag_err(w->diags, E_SYSTEM, (struct loc){0}, e);
		return false;
	}
	return true;
}

static void put_value(struct sb *out, char kind, const char *value)
{
	switch (kind) {
	case 's': sb_fmt(out, ", quote(%s), text(%s), unquote(%s)", value, value, value); break;
	case 'd': sb_fmt(out, ", (int32)%s", value); break;
	case 'l': sb_fmt(out, ", (int64)%s", value); break;
	case 'o': sb_fmt(out, ", (uint32)%s", value); break;
	default: sb_fmt(out, ", %s", value); break;
	}
}

static const char *conversion(char kind)
{
	switch (kind) {
	case 's': return "%s%s%s";
	case 'd': return "%d";
	case 'l': return "%ld";
	case 'o': return "0%o";
	case 'u': return "%lu";
	}
	return "0x%lx";
}

/* "(%lu, %s)" and its values: of the entry, or as they were kept. */
static void put_arguments(struct sb *out, const char *kinds, bool kept)
{
	sb_z(out, "args = strf(\"(");
	for (u32 i = 0; kinds[i] && kinds[i] != ':'; i++)
		sb_fmt(out, "%s%s", i ? ", " : "", conversion(kinds[i]));
	sb_z(out, ")\"");
	for (u32 i = 0; kinds[i] && kinds[i] != ':'; i++) {
		char value[64];
		snprintf(value, sizeof(value), kept ? "@arg%u[tid, call_end()]" : "arg%u", i);
		put_value(out, kinds[i], value);
	}
	sb_char(out, ')');
}

/* Of functions that a return probe would send astray, of all of C++ (an exception may pass through), and of
 * a program of Go no returns are seen. */
static bool begins_only(const struct program *p, const struct import *m)
{
	return p->go || sym_noreturn(m->name) || str_starts(m->name, STR("_Z"));
}

/* Functions with one body. */
struct group {
	const char *kinds;
	bool own, begins;
};

static bool in_group(const struct program *p, const struct import *m, const struct group *g)
{
	return m->kinds == g->kinds && m->own == g->own && m->lib < MAX_LIBS &&
	       begins_only(p, m) == g->begins;
}

static void put_points(struct program *p, const struct group *g, const char *kind)
{
	bool first = true;
	for (u32 i = 0; i < p->n; i++) {
		if (!in_group(p, &p->v[i], g))
			continue;
		sb_fmt(p->w->out, "%s%s:%.*s:%.*s", first ? "" : ",\n", kind,
		       STRF(p->lib[p->v[i].lib]), STRF(p->v[i].name));
		first = false;
	}
	sb_char(p->w->out, '\n');
}

static void put_group(struct program *p, const struct group *g)
{
	struct sb *out = p->w->out;
	const char *shown = g->kinds ? g->kinds : "ppp:p";
	const char *ret = strchr(shown, ':') + 1;
	u32 narg = (u32)(ret - shown) - 1;
	bool some = false;
	for (u32 i = 0; i < p->n; i++)
		some |= in_group(p, &p->v[i], g);
	if (!some)
		return;
	put_points(p, g, "uprobe");
	sb_fmt(out, "/mine()%s/\n{\n", g->own ? "" : " && from_program()");
	if (g->begins) {
		sb_z(out, "\tif (opt.summary) { @calls[probe] = stats(0); } else {\n"
			  "\t\temit(calls, pid = strf(\"[pid %d]\", tid), depth = depth(@open), "
			  "function = probe, ");
		put_arguments(out, shown, false);
		sb_z(out, ");\n\t}\n}\n\n");
		return;
	}
	sb_z(out,
	     "\t@begun[tid, call_begin()] = nsecs;\n\tif (opt.nested) { go_in(@open, @level); }\n");
	for (u32 i = 0; i < narg; i++)
		sb_fmt(out, "\tif (!opt.summary) { @arg%u[tid, call_begin()] = arg%u; }\n", i, i);
	sb_z(out, "}\n\n");
	put_points(p, g, "uretprobe");
	sb_z(out, "/@begun[tid, call_end()]/\n{\n\t$ns = nsecs - @begun[tid, call_end()];\n"
		  "\tif (opt.nested) { go_out(@open, @level); }\n"
		  "\tif (opt.summary) {\n\t\t@calls[probe] = stats($ns);\n\t} else {\n"
		  "\t\temit(calls, pid = strf(\"[pid %d]\", tid), depth = depth(@open), "
		  "function = probe, ");
	put_arguments(out, shown, true);
	sb_fmt(out, ",\n\t\t     result = strf(\"= %s\"", *ret ? conversion(*ret) : "void");
	if (*ret) /* not retval: debug information may say that it is no number */
		put_value(out, *ret, "reg(\"ax\")");
	sb_z(out, "), duration_ns = $ns,\n\t\t     took = strf(\"<%d.%06d>\", $ns / 1000000000, "
		  "$ns / 1000 % 1000000));\n\t}\n");
	for (u32 i = 0; i < narg; i++)
		sb_fmt(out, "\tif (!opt.summary) { delete(@arg%u, (tid, call_end())); }\n", i);
	sb_z(out, "\tdelete(@begun, (tid, call_end()));\n}\n\n");
}

/* Some names, and how many more there are. */
struct some {
	struct sb text;
	u32 n;
};

static void some_add(struct some *s, struct str name)
{
	enum { NAMED = 8 };
	if (s->n++ < NAMED)
		sb_fmt(&s->text, "%s%.*s", s->n > 1 ? ", " : "", STRF(name));
	else if (s->n == NAMED + 1)
		sb_z(&s->text, ", ...");
}

/* What is not seen, or under another's name. */
static u32 tell_indirect(struct program *p)
{
	struct some left = {0}, same = {0};
	for (u32 i = 0; i < p->n; i++) {
		const struct import *m = &p->v[i];
		if (m->lib == MAX_LIBS && m->indirect)
			some_add(&left, m->name);
		if (m->as.n)
			some_add(&same, str_z(arena_fmt(p->w->a, "%.*s as %.*s", STRF(m->name),
							STRF(m->as))));
	}
	if (left.n)
		diag_add(p->w->diags, W_NO_PROBE, (struct loc){0},
			 "calls of %s are not traced: the library selects their implementation "
			 "when a program starts, and no process shows which one",
			 left.text.s);
	if (same.n)
		diag_add(p->w->diags, W_NO_PROBE, (struct loc){0},
			 "calls are shown under another name, because both have the same code: %s",
			 same.text.s);
	sb_free(&left.text);
	sb_free(&same.text);
	return left.n;
}

/* Words of an option that name nothing, beside others that do; what: the program has not. */
static void tell_unknown(struct program *p, const char *option, u64 told, const char *what)
{
	struct some unknown = {0};
	struct str set = words_opt(p->w, option), glob;
	is_negated(&set);
	for (u32 i = 0; i < MAX_TOLD && str_cut(&set, '+', &glob); i++)
		if (!(told & 1ull << i))
			some_add(&unknown, glob);
	if (unknown.n)
		diag_add(p->w->diags, W_NO_PROBE, (struct loc){0},
			 "%s %s no function of that name: %s", p->path, what, unknown.text.s);
	sb_free(&unknown.text);
}

static void tell_further(struct program *p)
{
	if (p->further)
		diag_add(p->w->diags, W_NO_PROBE, (struct loc){0},
			 "%u more functions of %s are not traced; select functions with -e",
			 p->further, p->path);
	if (p->further_libs)
		diag_add(p->w->diags, W_NO_PROBE, (struct loc){0},
			 "functions of %u more libraries of %s are not traced; select libraries "
			 "with -l",
			 p->further_libs, p->path);
}

/* Why nothing is traced. */
static bool fail_nothing(struct program *p, bool indirect)
{
	struct str set = words_opt(p->w, "expression"), own = words_opt(p->w, "own");
	if (own.n)
		return words_fail(p->w, (struct loc){0},
				  "%s has no function that matches -x %.*s%s", p->path, STRF(own),
				  no_imports(p->w) ? "" : ", and imports none that is wanted");
	if (no_imports(p->w))
		return words_fail(p->w, (struct loc){0},
				  "-L traces only the functions of -x, which is missing");
	return words_fail(p->w, (struct loc){0},
			  "%s imports no %sfunction that a library of its defines%s%.*s%s", p->path,
			  indirect ? "other " : "", set.n ? " and -e " : "", STRF(set),
			  set.n ? " wants" : "");
}

bool write_ltrace(struct words *w)
{
	struct program p = {.w = w, .v = arena_newn(w->a, struct import, MAX_IMPORTS)};
	u64 length;
	struct str strings = words_opt(w, "strings");
	if (w->h->arch->id != ARCH_X86_64)
		return words_fail(w, (struct loc){0}, "ltrace works on x86_64 only");
	if (strings.n && (!str_number(strings, &length) || !length || length > MAX_STRING))
		return words_fail(w, (struct loc){0}, "-s %.*s: from 1 to %d", STRF(strings),
				  MAX_STRING);
	bool ok = read_programs(&p);
	vec_free(&p.programs);
	if (!ok)
		return false;
	u32 found = 0, indirect = tell_indirect(&p);
	for (u32 i = 0; i < p.n; i++)
		found += p.v[i].lib < MAX_LIBS;
	if (!found)
		return fail_nothing(&p, indirect);
	tell_unknown(&p, "expression", p.imported, "imports");
	tell_unknown(&p, "own", p.own, "has");
	tell_further(&p);
	words_put_mine(w);
	for (int own = 0; own < 2; own++)
		for (int begins = 0; begins < 2; begins++) {
			put_group(&p, &(struct group){NULL, own, begins});
			for (size_t i = 0; i < countof(known) && !own; i++)
				put_group(&p, &(struct group){known[i].kinds, own, begins});
		}
	return true;
}
