/* strace.c - strace's -e, -t and -z: what is wanted becomes macros of the script. */
#include "tool/writers.h"
#include <string.h>

static u32 times_given(const struct words *w, const char *name)
{
	u32 n = 0;
	for (u32 i = 0; i < w->nopt; i++)
		n += str_is(w->opts[i].name, name);
	return n;
}

struct wanted {
	struct str trace, status, signal;
};

/* -e trace=SET, -e SET, -e status=SET, -e signal=SET */
static bool read_expressions(struct words *w, struct wanted *ret)
{
	static const struct str not_ours[] = {STR("inject="), STR("fault="), STR("kvm=")};
	for (u32 i = 0; i < w->nopt; i++) {
		struct str value = w->opts[i].value, key = {0};
		if (!str_is(w->opts[i].name, "expression"))
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
		else
			return words_fail(w, (struct loc){0},
					  "-e %.*s= is not known: trace, status, signal",
					  STRF(key));
	}
	return true;
}

/* "2", "SIGCHLD,SIGINT", "!USR1": a condition on sig. */
static bool put_signals(struct words *w, struct str set)
{
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
		if (!n || n > 64)
			return words_fail(w, (struct loc){0}, "there is no signal '%.*s'",
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

/* enum call_flag of builtin/calls.h, which tools do not see. */
static void put_flags(struct words *w)
{
	u32 paths = times_given(w, "paths"), hex = times_given(w, "hex");
	u32 flags = words_flag(w, "times") ? 1 : 0;
	flags |= hex > 1 ? 4 : hex ? 2 : 0;
	flags |= paths > 1 ? 24 : paths ? 8 : 0;
	flags |= words_flag(w, "split") ? 32 : 0;
	sb_fmt(w->out, "macro call_flags() { %u }\n", flags);
}

bool write_strace(struct words *w)
{
	static const char *const formats[] = {"%H:%M:%S", "%H:%M:%S", "%H:%M:%S.%f", "%s.%f"};
	struct wanted wanted = {0};
	AUTO_SB set = {0};
	if (!read_expressions(w, &wanted))
		return false;
	words_put_mine(w);
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
	put_flags(w);
	sb_fmt(w->out, "macro where(regs) { strf(\"[%%016lx]\", regs.%s) }\n",
	       w->h->arch->id == ARCH_X86_64 ? "ip" : "pc");
	sb_z(w->out, "macro signal_wanted(sig) { ");
	if (!put_signals(w, wanted.signal))
		return false;
	sb_z(w->out, " }\n");
	return true;
}
