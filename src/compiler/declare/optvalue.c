/*
 * optvalue.c - values of options: what is typed against the kind that the script declares. They look the
 * same for every tool, whatever it is written in.
 */
#include "core/names.h"
#include "declare/declare.h"
#include "kern/host.h"
#include "proc/proc.h"
#include <arpa/inet.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

bool option_is_time(struct str written)
{
	return written.n && (written.s[written.n - 1] < '0' || written.s[written.n - 1] > '9');
}

static bool number_of(struct str text, u64 *ret)
{
	const char *why;
	return languages[0]->number(text, ret, &why);
}

static u32 digits_of(struct str text)
{
	u32 n = 0;
	while (n < text.n && text.s[n] >= '0' && text.s[n] <= '9')
		n++;
	return n;
}

/* "5" has the unit of the default "10ms"; "1.5s" is as good as "1500ms". */
static bool time_of(struct str text, struct str like, u64 *ret)
{
	u64 n, unit;
	u32 whole = digits_of(text), part = 0;
	struct str rest = str_from(text, whole);
	if (rest.n && rest.s[0] == '.')
		part = 1 + digits_of(str_from(rest, 1));
	struct str suffix = str_from(rest, part);
	/* "1e3" and "1_000" are numbers of scripts, and have no unit. */
	if (suffix.n && suffix.s[suffix.n - 1] >= '0' && suffix.s[suffix.n - 1] <= '9')
		return false;
	if (option_is_time(text) && part < 2)
		return number_of(text, ret);
	AUTO_SB one = {0};
	sb_fmt(&one, "1%.*s", STRF(suffix.n ? suffix : str_from(like, digits_of(like))));
	if (!str_number(str_n(text.s, whole), &n) || !number_of(sb_str(&one), &unit) ||
	    __builtin_mul_overflow(n, unit, ret))
		return false;
	for (u32 i = 1; i < part; i++) {
		unit /= 10;
		if (__builtin_add_overflow(*ret, unit * (u64)(rest.s[i] - '0'), ret))
			return false;
	}
	return true;
}

/* An interval is a microsecond at least. */
static const char *bad_time(const struct getopt_use *o, struct str text, u64 *ret)
{
	if (str_octal(text) || !time_of(text, o->text, ret))
		return "a time, as in 500ms or 2s";
	return o->above0 && *ret < 1000 ? "a time of at least 1us" : NULL;
}

/* "0.1" in parts of a thousand million; 1 at most. */
static bool fraction_of(struct str text, u64 *ret)
{
	u64 n = 0, unit = 1000000000;
	u32 whole = digits_of(text);
	struct str part = str_from(text, whole);
	if (part.n && part.s[0] == '.')
		part = str_from(part, 1);
	bool ok = whole ? str_number(str_n(text.s, whole), &n) && n <= 1 : part.n > 0;
	if (!ok || digits_of(part) != part.n)
		return false;
	*ret = n * unit;
	for (u32 i = 0; i < part.n; i++)
		*ret += (unit /= 10) * (u64)(part.s[i] - '0');
	return *ret <= 1000000000;
}

static bool user_of(struct str text, u64 *ret)
{
	if (str_number(text, ret))
		return *ret < UINT32_MAX;
	FILE *f = fopen("/etc/passwd", "re");
	bool found = false;
	for (struct passwd *p; f && !found && (p = fgetpwent(f));) {
		found = str_is(text, p->pw_name);
		*ret = p->pw_uid;
	}
	if (f)
		fclose(f);
	return found;
}

/* "3", "pts/3" and "/dev/pts/3"; "tty1": as the kernel numbers devices. By number it need not be there yet. */
static bool terminal_of(struct str text, u64 *ret)
{
	enum { PTS = 136, MINOR_BITS = 20 };
	AUTO_SB path = {0};
	struct stat st;
	u64 n;
	if (str_number(text, &n)) {
		*ret = (u64)PTS << MINOR_BITS | n;
		return n < 1u << MINOR_BITS;
	}
	sb_fmt(&path, "%s%.*s", text.n && text.s[0] == '/' ? "" : "/dev/", STRF(text));
	if (!text.n || stat(path.s, &st) || !S_ISCHR(st.st_mode))
		return false;
	*ret = (u64)major(st.st_rdev) << MINOR_BITS | minor(st.st_rdev);
	return true;
}

static bool is_process(u64 pid)
{
	return pid <= INT_MAX && proc_alive((int)pid);
}

/* 0 is none where that is the default. */
static bool process_of(struct str text, struct str none, u64 *ret)
{
	return str_number(text, ret) && (str_eq(text, none) || is_process(*ret));
}

static bool is_word(struct str a, struct str b, bool any_case)
{
	return any_case ? a.n == b.n && !strncasecmp(a.s, b.s, a.n) : str_eq(a, b);
}

/* A word that the table has; any_case: "term" is TERM. */
static bool find_word(const struct names *t, struct str word, bool any_case, u64 *ret)
{
	enum { MOST = 4096 };
	bool sig = word.n > 3 && is_word(str_n(word.s, 3), STR("SIG"), any_case);
	struct str bare = sig ? str_from(word, 3) : word;
	for (i64 n = 0; t && n < MOST; n++) {
		AUTO_SB name = {0};
		if (!names_put(&name, t, n))
			continue;
		if (!is_word(sb_str(&name), word, any_case) &&
		    !is_word(sb_str(&name), bare, any_case))
			continue;
		*ret = (u64)n;
		return true;
	}
	return false;
}

bool option_word(const struct getopt_use *o, struct str word, u64 *ret)
{
	enum { MOST_PORT = 65535 };
	const struct names *t = o->words.n ? names_find(o->words) : NULL;
	if (str_number(word, ret))
		return *ret <= (t                         ? names_most(t)
				: o->kind == OPTION_PORTS ? MOST_PORT
							  : UINT64_MAX);
	return find_word(t, word, false, ret) || find_word(t, word, true, ret);
}

/* Programs that ask with getopt() may be given any. */
static const char *bad_number(const struct getopt_use *o, struct str text, u64 *ret)
{
	i64 i = 0;
	if (o->declared && str_octal(text))
		return "a number that does not begin with 0";
	if (str_i64(text, &i) && (!o->words.n || i < 0))
		*ret = (u64)i;
	else if (o->words.n ? !option_word(o, text, ret) : !number_of(text, ret))
		return o->words.n ? "a name or a number" : "a number";
	if (o->above0 && (i64)*ret <= 0)
		return "a number above 0";
	return o->declared && !o->is_signed && i < 0 ? "a number that is not negative" : NULL;
}

/* *text becomes what of it is wrong. */
static const char *bad_list(const struct getopt_use *o, struct str *text, u64 *ret)
{
	struct str rest = *text, one;
	if (!rest.n)
		return NULL;
	while (str_cut(&rest, ',', &one)) {
		*text = one;
		if (!option_word(o, one, ret))
			return o->words.n ? "names or numbers with commas between them"
			       : o->kind == OPTION_PORTS ? "ports with commas between them"
							 : "numbers with commas between them";
		if (o->kind == OPTION_PIDS && !is_process(*ret))
			return "processes that run";
		if (o->kind == OPTION_CPUS && !host_has_cpu(*ret))
			return "CPUs that this machine has";
	}
	return NULL;
}

static bool flag_of(struct str text, u64 *ret)
{
	*ret = !text.s || str_is(text, "true") || str_is(text, "1");
	return *ret || str_is(text, "false") || str_is(text, "0");
}

bool option_choice(const struct getopt_use *o, struct str text)
{
	const struct node *n = o->choices;
	while (n && !str_eq(n->name, text))
		n = n->next;
	return n != NULL;
}

/* The first word that is none of them, or NULL. */
static const char *bad_words(const struct getopt_use *o, struct str *text, const struct sb *choices)
{
	struct str rest = *text, one;
	while (o->choices && rest.n && str_cut(&rest, ',', &one)) {
		if (option_choice(o, one))
			continue;
		*text = one;
		return choices->s;
	}
	return NULL;
}

/* "10.0.0.0/8": the bits are as many as an address has at most. */
static bool is_network(struct str text)
{
	enum { BITS = 32 };
	struct str address;
	struct in_addr ignored;
	char z[INET_ADDRSTRLEN];
	u64 bits;
	if (!str_cut(&text, '/', &address) || address.n >= sizeof(z))
		return false;
	memcpy(z, address.s, address.n);
	z[address.n] = 0;
	return str_u64(text, &bits) && bits <= BITS && inet_pton(AF_INET, z, &ignored) == 1;
}

/* Scripts look at each in a loop. */
enum { MAX_NETWORKS = 16 };

static const char *bad_networks(struct str rest)
{
	struct str one;
	u32 n = 0;
	bool ok = rest.n;
	for (; ok && str_cut(&rest, ',', &one); n++)
		ok = is_network(one);
	return !ok                ? "networks such as 10.0.0.0/8, with commas between them"
	       : n > MAX_NETWORKS ? "no more than 16 networks"
				  : NULL;
}

/* "a, b or c" */
static void put_choices(struct sb *out, const struct getopt_use *o)
{
	for (const struct node *n = o->choices; n; n = n->next)
		sb_fmt(out, "%s%.*s",
		       n == o->choices ? ""
		       : n->next       ? ", "
				       : " or ",
		       STRF(n->name));
}

bool option_clock(struct str text, u32 *digits)
{
	static const struct str units[] = {STR("s"), STR("ms"), STR("us"), STR("ns")};
	for (u32 i = 0; i < countof(units); i++) {
		if (!str_eq(text, units[i]))
			continue;
		*digits = 3 * i;
		return true;
	}
	return false;
}

/* Whether times are shown, or how. */
static const char *bad_clock(struct str text, u64 *ret)
{
	u32 digits;
	if (text.s && option_clock(text, &digits))
		*ret = 1;
	else if (!flag_of(text, ret))
		return "s, ms, us, ns or no value";
	return NULL;
}

bool option_is_text(const struct getopt_use *o)
{
	return o->kind == OPTION_TEXT || o->kind == OPTION_DISK || o->kind == OPTION_WORD ||
	       o->kind == OPTION_NETWORKS;
}

struct str option_disk(struct str text)
{
	return str_starts(text, STR("/dev/")) ? str_from(text, 5) : text;
}

bool option_is_list(const struct getopt_use *o)
{
	return o->kind == OPTION_LIST || o->kind == OPTION_PIDS || o->kind == OPTION_CPUS ||
	       o->kind == OPTION_PORTS || o->kind == OPTION_WORDS;
}

struct err *declare_value(const struct getopt_use *o, struct str text, u64 *ret)
{
	const char *want = NULL;
	AUTO_SB words = {0};
	i64 i;
	switch (o->kind) {
	case OPTION_FLAG: want = flag_of(text, ret) ? NULL : "no value, true or false"; break;
	case OPTION_CLOCK: want = bad_clock(text, ret); break;
	case OPTION_TIME: want = bad_time(o, text, ret); break;
	case OPTION_USER:
		if (str_eq(text, o->text) && str_i64(text, &i))
			*ret = (u64)i;
		else
			want = user_of(text, ret) ? NULL : "the name or number of a user";
		break;
	case OPTION_TERMINAL:
		if (str_eq(text, o->text) && str_i64(text, &i))
			*ret = (u64)i;
		else
			want = terminal_of(text, ret) ? NULL : "a terminal: 3, pts/3, /dev/tty1";
		break;
	case OPTION_NETNS:
		if (str_eq(text, o->text) && str_i64(text, &i))
			*ret = (u64)i;
		else
			want = proc_netns(text, ret)
				       ? NULL
				       : "a network namespace: a process, a name of ip "
					 "netns, a path or an inode";
		break;
	case OPTION_INT: want = bad_number(o, text, ret); break;
	case OPTION_LIST:
	case OPTION_CPUS:
	case OPTION_PORTS:
	case OPTION_PIDS: want = bad_list(o, &text, ret); break;
	case OPTION_PID:
		want = process_of(text, o->text, ret) ? NULL : "a process that runs";
		break;
	case OPTION_FRACTION:
		want = fraction_of(text, ret) ? NULL : "a number from 0 to 1, as 0.25";
		break;
	case OPTION_DISK:
		text = option_disk(text);
		want = !text.n || host_has_disk(text) ? NULL : "a disk that lsblk -d names";
		break;
	case OPTION_WORD:
		put_choices(&words, o);
		want = str_eq(text, o->text) || option_choice(o, text) ? NULL : words.s;
		break;
	case OPTION_NETWORKS: want = bad_networks(text); break;
	case OPTION_WORDS:
		put_choices(&words, o);
		want = bad_words(o, &text, &words);
		break;
	case OPTION_TEXT: break;
	}
	if (!want)
		return NULL;
	AUTO_SB name = {0};
	for (u32 k = 0; k < o->name.n; k++)
		sb_char(&name, o->name.s[k] == '_' ? '-' : o->name.s[k]);
	return err_new("--%s needs %s (got '%.*s')", name.s, want, STRF(text));
}
