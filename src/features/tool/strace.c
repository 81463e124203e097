/* strace.c - strace's -e, -t and -z: what is wanted becomes macros of the script. */
#include "core/recorded.h"
#include "tool/writers.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static u32 times_given(const struct words *w, const char *name)
{
	u32 n = 0;
	for (u32 i = 0; i < w->nopt; i++)
		n += str_is(w->opts[i].name, name);
	return n;
}

struct wanted {
	struct str trace, status, signal, raw, verbose, read, write;
	bool whole;  /* abbrev=none */
	bool silent; /* quiet=exit */
	bool modes;  /* quiet=personality */
	u32 paths;   /* decode-fds: as often as -y */
};

/* What of a session strace says nothing of; here there is nothing to say of most. */
static bool read_quiet(struct words *w, struct str set, struct wanted *ret)
{
	bool negated = set.n && set.s[0] == '!', exits = false, modes = false;
	static const char *const known[] = {"attach",      "exit",       "path-resolution",
					    "personality", "superseded", "thread-execve",
					    "all",         "none",       NULL};
	struct str word;
	set = negated ? str_from(set, 1) : set;
	while (str_cut(&set, ',', &word)) {
		exits |= str_is(word, "exit") || str_is(word, "all");
		modes |= str_is(word, "personality") || str_is(word, "all");
		if (!str_among(word, known))
			return words_fail(w, (struct loc){0},
					  "-e quiet=%.*s is not known: attach, exit, "
					  "path-resolution, personality, thread-execve, all, none",
					  STRF(word));
	}
	ret->silent = exits != negated;
	ret->modes = modes != negated;
	return true;
}

static bool read_abbrev(struct words *w, struct str set, struct wanted *ret)
{
	ret->whole = str_is(set, "none") || str_is(set, "!all");
	if (!ret->whole && !str_is(set, "all") && !str_is(set, "!none"))
		return words_fail(w, (struct loc){0}, "-e abbrev=%.*s is not known: all, none",
				  STRF(set));
	return true;
}

/* decode-fds=SET: -y, and with anything but paths -yy. */
static bool read_paths(struct words *w, struct str set, struct wanted *ret)
{
	static const char *const known[] = {"path", "all", "dev", "pidfd", "socket", "none", NULL};
	struct str word;
	ret->paths = 0;
	while (str_cut(&set, ',', &word)) {
		if (!str_among(word, known))
			return words_fail(
				w, (struct loc){0},
				"-e decode-fds=%.*s is not known: path, socket, dev, pidfd, all, "
				"none",
				STRF(word));
		u32 n = str_is(word, "none") ? 0 : str_is(word, "path") ? 1 : 2;
		ret->paths = MAX(ret->paths, n);
	}
	return true;
}

/* -e trace=SET, -e SET, -e status=SET, -e signal=SET */
static bool read_expressions(struct words *w, struct wanted *ret)
{
	static const struct str not_ours[] = {STR("inject="), STR("fault="), STR("kvm=")};
	bool ok = true;
	for (u32 i = 0; i < w->nopt && ok; i++) {
		struct str value = w->opts[i].value, key = {0}, option = w->opts[i].name;
		if (str_is(option, "trace"))
			ret->trace = value;
		else if (str_is(option, "status"))
			ret->status = value;
		else if (str_is(option, "signal"))
			ret->signal = value;
		else if (str_is(option, "raw"))
			ret->raw = value;
		else if (str_is(option, "abbrev"))
			ok = read_abbrev(w, value, ret);
		if (!str_is(option, "expression"))
			continue;
		for (size_t k = 0; k < countof(not_ours); k++)
			if (str_starts(value, not_ours[k]))
				return words_fail(w, (struct loc){0},
						  "-e %.*s: sonde strace only watches",
						  STRF(not_ours[k]));
		if (str_chr(value, '=') >= 0)
			str_cut(&value, '=', &key);
		if (!key.n || str_is(key, "trace") || str_is(key, "t"))
			ret->trace = value;
		else if (str_is(key, "status"))
			ret->status = value;
		else if (str_is(key, "signal") || str_is(key, "signals") || str_is(key, "s"))
			ret->signal = value;
		else if (str_is(key, "abbrev") || str_is(key, "a"))
			ok = read_abbrev(w, value, ret);
		else if (str_is(key, "raw") || str_is(key, "x"))
			ret->raw = value;
		else if (str_is(key, "verbose") || str_is(key, "v"))
			ret->verbose = value;
		else if (str_is(key, "read") || str_is(key, "r"))
			ret->read = value;
		else if (str_is(key, "write") || str_is(key, "w"))
			ret->write = value;
		else if (str_is(key, "quiet") || str_is(key, "silent") || str_is(key, "q"))
			ok = read_quiet(w, value, ret);
		else if (str_is(key, "decode-fds") || str_is(key, "decode-fd"))
			ok = read_paths(w, value, ret);
		else
			return words_fail(w, (struct loc){0},
					  "-e %.*s= is not known: trace, status, signal, abbrev, "
					  "verbose, raw, quiet, decode-fds, read, write",
					  STRF(key));
	}
	return ok;
}

/* "2", "SIGCHLD,SIGINT", "!USR1", "RT_3": a condition on sig. */
static bool put_signals(struct words *w, struct str set)
{
	enum { FIRST_REALTIME = 32, LAST_SIGNAL = 64 }; /* as the kernel counts */
	bool negate = set.n && set.s[0] == '!', first = true;
	struct str word;
	set = negate ? str_from(set, 1) : set;
	if (!set.s || str_is(set, "all") || str_is(set, "none")) {
		sb_z(w->out, (str_is(set, "none") && set.s) != negate ? "false" : "true");
		return true;
	}
	sb_z(w->out, negate ? "!(" : "(");
	while (str_cut(&set, ',', &word)) {
		u64 n = 0;
		if (str_starts(word, STR("SIG")))
			word = str_from(word, 3);
		for (int i = 1; i < 32 && !str_u64(word, &n); i++)
			n = sigabbrev_np(i) && str_is(word, sigabbrev_np(i)) ? (u64)i : n;
		if (str_is(word, "RTMIN"))
			n = FIRST_REALTIME;
		else if (str_starts(word, STR("RT_")) && str_u64(str_from(word, 3), &n))
			n = n <= LAST_SIGNAL ? n + FIRST_REALTIME : 0;
		if (!n || n > LAST_SIGNAL)
			return words_fail(w, (struct loc){0}, "no signal is called '%.*s'",
					  STRF(word));
		sb_fmt(w->out, "%ssig == %llu", first ? "" : " || ", n);
		first = false;
	}
	sb_char(w->out, ')');
	return true;
}

static bool put_status(struct words *w, struct str set)
{
	bool all = !set.s, good = all, bad = all;
	struct str status = set;
	struct str word;
	while (set.n && str_cut(&set, ',', &word)) {
		good |= str_is(word, "successful") || str_is(word, "success");
		bad |= str_is(word, "failed") || str_is(word, "failure");
		if (!str_is(word, "successful") && !str_is(word, "success") &&
		    !str_is(word, "failed") && !str_is(word, "failure") &&
		    !str_is(word, "unfinished") && !str_is(word, "unavailable"))
			return words_fail(w, (struct loc){0},
					  "-e status=%.*s is not known: successful, failed, "
					  "unfinished",
					  STRF(word));
	}
	if (words_flag(w, "successful"))
		good = true, bad = false;
	if (words_flag(w, "failed"))
		bad = true, good = false;
	bool open = all && !words_flag(w, "successful") && !words_flag(w, "failed");
	open |= str_find(status, STR("unfinished")) >= 0;
	sb_fmt(w->out, "macro unfinished() { %s }\n", open ? "true" : "false");
	sb_fmt(w->out, "macro status_wanted(ret) { %s }\n",
	       good && bad ? "true"
	       : good      ? "ret >= 0"
	       : bad       ? "ret < 0"
			   : "false");
	return true;
}

/* What stands before the calls counts for the column of the results, but for the process. */
static u32 columns_before(const struct words *w)
{
	static const u32 times[] = {0, 9, 16, 18};
	u32 time = times_given(w, "time");
	u32 n = times[MIN(time, countof(times) - 1)];
	n += words_flag(w, "relative") ? 14 + (time ? 3 : 0) : 0;
	n += words_flag(w, "number") ? 7 : 0;
	return n + (words_flag(w, "instruction") ? 19 : 0);
}

/* enum call_flag of syscall/calls.h, which tools do not see. */
static bool put_flags(struct words *w, const struct wanted *wanted)
{
	u64 column = 40;
	struct str columns = words_opt(w, "columns");
	if (columns.s && (!str_number(columns, &column) || column > 1000))
		return words_fail(w, (struct loc){0}, "-a %.*s: from 0 to 1000", STRF(columns));
	u32 paths = MAX(times_given(w, "paths"), wanted->paths), hex = times_given(w, "hex");
	u32 flags = words_flag(w, "times") ? 1 : 0;
	flags |= hex > 1 ? 4 : hex ? 2 : 0;
	flags |= paths > 1 ? 24 : paths ? 8 : 0;
	flags |= words_flag(w, "split") ? 32 : 0;
	flags |= words_flag(w, "unabbreviated") || wanted->whole ? 64 : 0;
	flags |= wanted->modes || w->quiet ? 8192 : 0;
	struct str style = words_opt(w, "constants");
	if (style.n && !str_is(style, "raw") && !str_is(style, "abbrev") &&
	    !str_is(style, "verbose"))
		return words_fail(w, (struct loc){0}, "-X %.*s is not known: raw, abbrev, verbose",
				  STRF(style));
	flags |= str_is(style, "raw") ? 512 : str_is(style, "verbose") ? 1024 : 0;
	u32 before = columns_before(w);
	flags |= columns.s || before ? (u32)(column - MIN(column, before) + 1) << 16 : 0;
	sb_fmt(w->out, "macro call_flags() { %u }\n", flags);
	return true;
}

/* strace's words for what to sort by, and for columns. */
static const struct {
	const char *word;
	struct str column;
} summary_words[] = {
	{"time", STR("total_ns")},
	{"time-total", STR("total_ns")},
	{"total-time", STR("total_ns")},
	{"time_total", STR("total_ns")},
	{"time-percent", STR("time_ratio")},
	{"percent", STR("time_ratio")},
	{"shortest", STR("min_ns")},
	{"longest", STR("max_ns")},
	{"avg-time", STR("avg_ns")},
	{"time-avg", STR("avg_ns")},
	{"min-time", STR("min_ns")},
	{"time-min", STR("min_ns")},
	{"max-time", STR("max_ns")},
	{"time-max", STR("max_ns")},
	{"calls", STR("calls")},
	{"count", STR("calls")},
	{"errors", STR("errors")},
	{"error", STR("errors")},
	{"name", STR("syscall")},
	{"syscall", STR("syscall")},
	{"syscall-name", STR("syscall")},
};

static struct str summary_column(struct words *w, struct str word, const char *option)
{
	for (size_t i = 0; i < countof(summary_words); i++)
		if (str_is(word, summary_words[i].word))
			return summary_words[i].column;
	words_fail(w, (struct loc){0},
		   "%s %.*s is not known: name, time-percent, time-total, time-avg, time-min, "
		   "time-max, calls, errors",
		   option, STRF(word));
	return (struct str){0};
}

/* -S SORT, -U COLUMN,...: of the summary alone. */
static bool read_summary(struct words *w)
{
	AUTO_SB fields = {0};
	struct str sort = words_opt(w, "summary_sort"), rest = words_opt(w, "summary_columns"), one;
	bool extremes = false;
	if (!rest.n)
		rest = STR("time-percent,time-total,time-avg,calls,errors,name");
	while (str_cut(&rest, ',', &one)) {
		struct str column = summary_column(w, one, "-U");
		if (!column.n)
			return false;
		extremes |= str_is(column, "min_ns") || str_is(column, "max_ns");
		sb_fmt(&fields, "%ssummary.%.*s", fields.n ? "," : "", STRF(column));
	}
	if (sort.n) {
		sort = summary_column(w, sort, "-S");
		if (!sort.n)
			return false;
		extremes |= str_is(sort, "min_ns") || str_is(sort, "max_ns");
		const char *column = arena_fmt(w->a, "summary.%.*s", STRF(sort));
		bool shown = str_find(sb_str(&fields), str_z(column)) >= 0;
		if (!shown) /* a row is sorted by what it shows */
			sb_fmt(&fields, ",%s", column);
		bool name = str_is(sort, "syscall"); /* the smallest first */
		w->sort = str_z(arena_fmt(w->a, "%s%.*s", name ? "-" : "", STRF(sort)));
	}
	w->fields = arena_str(w->a, sb_str(&fields));
	sb_fmt(w->out, "macro extremes() { %s }\n", extremes ? "true" : "false");
	return true;
}

/*
 * -P PATH: calls with it as an argument, or with a descriptor of it. The files are those that the paths
 * named when tracing began, and those that such a call opened since.
 */
static void put_paths(struct words *w)
{
	AUTO_SB texts = {0};
	AUTO_SB inodes = {0};
	bool any = false;
	for (u32 i = 0; i < w->nopt; i++) {
		struct stat st;
		AUTO_SB path = {0};
		if (!str_is(w->opts[i].name, "path"))
			continue;
		sb_escape(&path, w->opts[i].value);
		sb_fmt(&texts, "%s$text == \"%s\"", any ? " || " : "", path.s ? path.s : "");
		if (!stat(arena_strz(w->a, w->opts[i].value), &st))
			sb_fmt(&inodes, " || ($ino == %llu && $dev == %llu)", (u64)st.st_ino,
			       (u64)major(st.st_dev) << 20 | minor(st.st_dev));
		any = true;
	}
	bool x86 = w->h->arch->id == ARCH_X86_64;
	static const char *const regs[] = {"di", "si", "dx", "r10", "r8"};
	for (u32 i = 0; i < countof(regs); i++) {
		char other[16];
		snprintf(other, sizeof(other), "regs[%u]", i);
		sb_fmt(w->out, "macro call_arg%u(regs) { regs.%s }\n", i, x86 ? regs[i] : other);
	}
	sb_fmt(w->out, "macro call_nr(regs) { (int32)regs.%s }\n", x86 ? "orig_ax" : "syscallno");
	sb_fmt(w->out, "macro names_it(at) {\n\tlet $text = str(uptr(at), 256);\n\t%s\n}\n",
	       any ? texts.s : "$text == \"\"");
	sb_fmt(w->out,
	       "macro is_file(@files, ino, dev) {\n\tlet $ino = ino;\n\tlet $dev = dev;\n"
	       "\t@files[$ino, $dev]%s\n}\n",
	       inodes.s ? inodes.s : "");
}

/* For the command, which is not started yet and inherits it. */
static void set_environment(struct words *w)
{
	for (u32 i = 0; i < w->nopt; i++) {
		struct str rest = w->opts[i].value, name;
		if (!str_is(w->opts[i].name, "environment"))
			continue;
		bool set = str_chr(rest, '=') >= 0;
		str_cut(&rest, '=', &name);
		if (set)
			setenv(arena_strz(w->a, name), arena_strz(w->a, rest), 1);
		else
			unsetenv(arena_strz(w->a, name));
	}
}

/* Sets of calls that are shown as numbers, and without their structures: all but those of verbose=. */
static void put_depth(struct words *w, const struct wanted *wanted)
{
	AUTO_SB raw = {0};
	AUTO_SB shallow = {0};
	struct str verbose = wanted->verbose;
	bool negated = verbose.n && verbose.s[0] == '!', all = !verbose.s || str_is(verbose, "all");
	sb_escape(&raw, wanted->raw.s ? wanted->raw : STR("none"));
	if (all || str_is(verbose, "none"))
		sb_z(&shallow, all ? "none" : "all");
	else
		sb_escape(&shallow, negated ? str_from(verbose, 1) : verbose);
	sb_fmt(w->out, "macro raw_calls() { \"%s\" }\nmacro shallow_calls() { \"%s%s\" }\n", raw.s,
	       all || negated || str_is(verbose, "none") ? "" : "!", shallow.s);
}

/* "3,5", "!0", "all": calls of those descriptors. */
static bool put_dumped(struct words *w, const char *calls, struct str set)
{
	bool negated = set.n && set.s[0] == '!', first = true;
	struct str word;
	u64 fd;
	set = negated ? str_from(set, 1) : set;
	if (!set.n || str_is(set, "none") || str_is(set, "all")) {
		bool all = set.n && str_is(set, "all") != negated;
		sb_fmt(w->out, all ? "syscall_in($id, \"%s\")" : "false", calls);
		return true;
	}
	sb_fmt(w->out, "(syscall_in($id, \"%s\") && %s(", calls, negated ? "!" : "");
	while (str_cut(&set, ',', &word)) {
		if (!str_number(word, &fd) || fd > INT32_MAX)
			return words_fail(w, (struct loc){0}, "'%.*s' is no number of a descriptor",
					  STRF(word));
		sb_fmt(w->out, "%s$fd == %llu", first ? "" : " || ", fd);
		first = false;
	}
	sb_z(w->out, "))");
	return true;
}

/* -e read=FDS, -e write=FDS: which calls have their data in hex below them. */
static bool put_dumps(struct words *w, const struct wanted *wanted)
{
	if (!wanted->read.n && !wanted->write.n) {
		sb_z(w->out, "macro dumped(id, regs) { 0 }\n");
		return true;
	}
	if (w->by_process)
		return words_fail(w, (struct loc){0},
				  "-e read= and -e write= are for one file, not for those of -ff");
	sb_z(w->out, "macro dumped(id, regs) {\n\tlet $id = id;\n"
		     "\tlet $fd = (uint32)call_arg0(regs);\n\t");
	if (!put_dumped(w, "read,pread64,readv,preadv,preadv2,recvfrom,recvmsg", wanted->read))
		return false;
	sb_z(w->out, " || ");
	if (!put_dumped(w, "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg", wanted->write))
		return false;
	sb_z(w->out, "\n}\n");
	return true;
}

/* Long options whose value strace takes, too: as -e NAME=VALUE, or as the letters that mean it. */
char *spell_strace(struct arena *a, char *word)
{
	static const char *const by_expression[] = {"quiet",   "silent",     "silence",
						    "verbose", "decode-fds", NULL};
	static const struct {
		const char *option, *letters;
	} by_letters[] = {
		{"absolute-timestamps=time", "-t"},
		{"absolute-timestamps=s", "-t"},
		{"absolute-timestamps=time,s", "-t"},
		{"absolute-timestamps=us", "-tt"},
		{"absolute-timestamps=time,us", "-tt"},
		{"absolute-timestamps=unix,us", "-ttt"},
		{"absolute-timestamps=format:unix,precision:us", "-ttt"},
		{"relative-timestamps=us", "-r"},
		{"syscall-times=us", "-T"},
		{"strings-in-hex=non-ascii", "-x"},
		{"strings-in-hex=all", "-xx"},
		{"decode-pids=comm", "-Y"},
		{"output-separately", "-ff"},
		{"daemonize=grandchild", "-D"},
		{"daemonize=pgroup", "-D"},
		{"daemonize=session", "-D"},
	};
	struct str rest = str_z(word), name;
	if (!str_starts(rest, STR("--")))
		return word;
	rest = str_from(rest, 2);
	for (size_t i = 0; i < countof(by_letters); i++)
		if (str_is(rest, by_letters[i].option))
			return arena_fmt(a, "%s", by_letters[i].letters);
	if (str_chr(rest, '=') < 0)
		return word;
	str_cut(&rest, '=', &name);
	if (!str_among(name, by_expression))
		return word;
	if (str_is(name, "silence"))
		name = STR("quiet");
	return arena_fmt(a, "-e%.*s=%.*s", STRF(name), STRF(rest));
}

/* Without -f a process is its first thread; of several, lines say whose they are. */
static void put_whose(struct words *w, bool limited)
{
	bool follow = words_flag(w, "follow");
	bool one = w->u->scope.nviewer + (w->command ? 1 : 0) == 1;
	bool all = !w->command && !w->pid && !w->h->recording;
	bool recorded = w->h->recording && !w->pid; /* whoever it is of */
	sb_fmt(w->out, "macro mine() { %s%s }\n",
	       all        ? "pid != self_pid && ppid != self_pid"
	       : recorded ? "pid != self_pid"
	       : follow   ? "true"
			  : "tid == pid",
	       w->command && !w->pid && !follow ? " && pid == cpid" : "");
	sb_fmt(w->out, "macro several() { %s }\n", follow || !one ? "true" : "false");
	sb_fmt(w->out, "macro named() { %s }\n", all ? "true" : "opt.names");
	/* Of the whole machine: ends and signals only of threads with calls that are shown. */
	sb_fmt(w->out, "macro chosen() { %s }\n", all && limited ? "true" : "false");
}

/* A module may be named between the type and the probe. */
static bool is_recorded(const struct recorded *r, const char *type, const char *probe)
{
	for (u32 i = 0; i < r->nprobe; i++)
		if (str_starts(r->probe[i].text, str_z(type)) &&
		    str_ends(r->probe[i].text, str_z(probe)))
			return true;
	return false;
}

/* What a recording lacks, in one sentence, and not probe by probe. */
static bool check_recording(struct words *w, const struct recorded *r)
{
	bool summary = words_flag(w, "summary_only");
	bool whole = is_recorded(r, "rawtracepoint:", ":sys_enter");
	bool calls = is_recorded(r, "tracepoint:raw_syscalls", ":sys_enter") &&
		     is_recorded(r, "tracepoint:raw_syscalls", ":sys_exit");
	if (words_opt(w, "path").n)
		return words_fail(w, (struct loc){0},
				  "-P compares with files that are open while the process runs, "
				  "which is over: choose calls with -e, as in -e trace=%%file");
	if (words_opt(w, "user").n || words_opt(w, "environment").s)
		return words_fail(w, (struct loc){0},
				  "-%c is for a command, which a recording does not start",
				  words_opt(w, "user").n ? 'u' : 'E');
	if (whole || (summary && calls))
		return true;
	if (summary)
		return words_fail(w, (struct loc){0},
				  "the recording lacks system calls; record them with: "
				  "sonde record --set syscalls");
	return words_fail(
		w, (struct loc){0},
		"the recording lacks what strace prints of a system call; record it with: "
		"sonde record --set strace%s",
		calls ? " (this recording is enough for -c)" : "");
}

bool write_strace(struct words *w)
{
	static const char *const formats[] = {"%H:%M:%S", "%H:%M:%S", "%H:%M:%S.%f", "%s.%f"};
	struct wanted wanted = {0};
	AUTO_SB set = {0};
	if (!read_expressions(w, &wanted))
		return false;
	if (w->h->recording && !check_recording(w, w->h->recording))
		return false;
	put_whose(w, wanted.trace.s || words_opt(w, "path").n);
	if (times_given(w, "follow") > 1)
		w->by_process = true;
	if (w->by_process && (words_flag(w, "summary") || words_flag(w, "summary_only")))
		return words_fail(w, (struct loc){0},
				  "-ff is a file for each process, -c and -C are one summary");
	u32 times = times_given(w, "time");
	if (times >= countof(formats))
		return words_fail(w, (struct loc){0}, "-t may be given three times");
	sb_fmt(w->out, "macro when() { strftime(\"%s\", nsecs) }\n", formats[times]);
	sb_escape(&set, wanted.trace);
	sb_fmt(w->out,
	       wanted.trace.s ? "macro traced(id) { syscall_in(id, \"%s\") }\n"
			      : "macro traced(id) { true }\n%s",
	       set.s ? set.s : "");
	if (!put_status(w, wanted.status))
		return false;
	if (!put_flags(w, &wanted))
		return false;
	put_depth(w, &wanted);
	struct str limit = words_opt(w, "syscall_limit");
	if (limit.n && (!str_number(limit, &w->events) || !w->events))
		return words_fail(w, (struct loc){0}, "--syscall-limit %.*s is no number of calls",
				  STRF(limit));
	if (words_opt(w, "user").n)
		w->as_user = arena_strz(w->a, words_opt(w, "user"));
	set_environment(w);
	sb_fmt(w->out, "macro where(regs) { strf(\"[%%016lx]\", regs.%s) }\n",
	       w->h->arch->id == ARCH_X86_64 ? "ip" : "pc");
	sb_z(w->out, "macro signal_wanted(sig) { ");
	if (!put_signals(w, wanted.signal))
		return false;
	sb_z(w->out, " }\n");
	sb_fmt(w->out, "macro quiet_end() { %s }\n",
	       wanted.silent || w->quiet > 1 ? "true" : "false");
	put_paths(w);
	return put_dumps(w, &wanted) && read_summary(w);
}
