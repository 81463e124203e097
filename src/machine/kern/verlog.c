/* verlog.c - the commonest refusals of the kernel's verifier, in plain words. */
#include "kern/verlog.h"

struct rule {
	const char *has;  /* in one of the last lines */
	const char *also; /* in the same line, or NULL */
	const char *why;
	bool too_big;
};

#define TOO_LARGE "BPF program is too large"

/* The first that fits is taken: special before general. */
static const struct rule rules[] = {
	{TOO_LARGE, NULL, "the program is too long or branches too often for the kernel to check",
	 true},
	{"program is too large", NULL,
	 "the program is too long or branches too often for the kernel to check", true},
	{"The sequence of", "jumps is too complex",
	 "the program branches too often for the kernel to check", true},
	{"infinite loop detected", NULL, "the kernel sees a loop that never ends", false},
	{"back-edge", NULL, "this kernel does not accept loops", false},
	{"too many iterations", NULL, "the loop may run too long for the kernel to check", true},
	{"combined stack size", NULL,
	 "values on the stack need more than the 512 bytes the kernel allows", false},
	{"stack depth", NULL, "values on the stack need more than the 512 bytes the kernel allows",
	 false},
	{"invalid stack", NULL, "a value is outside the program's stack", false},
	{"invalid write to stack", NULL, "a value is outside the program's stack", false},
	{"invalid read from stack", NULL, "a value on the stack is read before it was stored",
	 false},
	{"invalid indirect read from stack", NULL,
	 "a value on the stack is read before it was stored", false},
	{"invalid indirect access to stack", NULL, "a value is outside the program's stack", false},
	{"unknown#195896080", NULL,
	 "the C code uses a member, type or enumerator that this kernel does not have", false},
	{"unknown func", NULL,
	 "this kernel does not have a function that the script needs, or not in this kind of probe",
	 false},
	{"invalid func unknown", NULL, "this kernel does not have a function that the script needs",
	 false},
	{"program of this type cannot use helper", NULL,
	 "a function is not allowed in this kind of probe", false},
	{"cannot call GPL-restricted function", NULL,
	 "the script uses a function that the kernel gives only to programs with a GPL-compatible "
	 "license",
	 false},
	{"cannot call GPL only function", NULL,
	 "the script uses a function that the kernel gives only to programs with a GPL-compatible "
	 "license",
	 false},
	{"calling kernel function", NULL,
	 "this kernel does not allow one of its functions to be called in this kind of probe",
	 false},
	{"kfunc", NULL,
	 "this kernel does not allow one of its functions to be called in this kind of probe",
	 false},
	{"invalid mem access", "mem_or_null",
	 "a pointer is used that was not checked for being null", false},
	{"invalid mem access", "_or_null", "a pointer is used that was not checked for being null",
	 false},
	{"invalid mem access", "scalar",
	 "a number is used as if it were a pointer the kernel can follow", false},
	{"invalid mem access", "inv",
	 "a number is used as if it were a pointer the kernel can follow", false},
	{"invalid mem access", NULL,
	 "memory is read or written through a pointer that does not allow it", false},
	{"invalid access to map value", NULL, "a map value may be read or written beyond its end",
	 false},
	{"min value is negative", NULL, "an index or a size may be negative", false},
	{"unbounded memory access", NULL,
	 "an index or a size has no upper limit that the kernel can see", false},
	{"outside of the allowed memory range", NULL,
	 "memory may be read or written beyond its end", false},
	{"The address of function", "cannot be found",
	 "the kernel has no function of that name, or only under its compiler's name for it "
	 "(NAME.isra.0), which BPF trampolines do not find: use a kprobe",
	 false},
	{"The function", "type STRUCT is unsupported",
	 "the function has a structure by value among its arguments, which this kernel's BPF "
	 "trampolines do not pass on (Linux 6.1 does): use a kprobe",
	 false},
	{"invalid bpf_context access", NULL, "this part of the probe's context cannot be read",
	 false},
	{"dereference of modified ctx ptr", NULL,
	 "the probe's context can be read only at fixed places", false},
	{"R0 !read_ok", NULL, "the program ends without a result", false},
	{"!read_ok", NULL, "a value is used before it was set", false},
	{"leaks addr", NULL, "the script shows kernel addresses, which this user may not see",
	 false},
	{"leak pointer", NULL, "the script shows kernel addresses, which this user may not see",
	 false},
	{"pointer arithmetic", NULL, "a kernel pointer is changed in a way the kernel cannot check",
	 false},
	{"is not a known value", NULL, "an argument must be a constant here", false},
	{"expected=", NULL, "an argument of a kernel function has the wrong kind", false},
	{"expects", NULL, "an argument of a kernel function has the wrong kind", false},
	{"At program exit the register R0", NULL,
	 "the program's result is not one that this kind of probe allows", false},
	{"unreachable insn", NULL, "part of the program can never run", false},
	{"jump out of range", NULL, "a jump leaves the program", false},
	{"func_info", NULL,
	 "this kernel does not accept the description of the program's functions", false},
	{"line_info", NULL, "this kernel does not accept the description of the program's lines",
	 false},
	{"in a bpf_spin_lock-ed region", NULL, "a function is called while a lock is held", false},
	{"attach_btf_id", NULL,
	 "this kernel function or tracepoint does not exist, or programs may not attach to it",
	 false},
	{"could not be attached", NULL, "programs may not attach to this kernel function", false},
	{"Cannot replace", NULL, "programs may not attach to this kernel function", false},
};

enum { LAST_LINES = 8 };

static const struct rule *match(struct str line)
{
	for (u32 i = 0; i < countof(rules); i++)
		if (str_find(line, str_z(rules[i].has)) >= 0 &&
		    (!rules[i].also || str_find(line, str_z(rules[i].also)) >= 0))
			return &rules[i];
	return NULL;
}

/* Statistics and verification tails that say nothing about the cause. */
static bool is_tail(struct str line)
{
	static const char *const tails[] = {"processed ",   "verification time",
					    "stack depth ", "max_states_per_insn",
					    "peak_states",  "mark_read "};
	for (u32 i = 0; i < countof(tails); i++)
		if (str_starts(line, str_z(tails[i])))
			return true;
	return !line.n;
}

/* "12: (85) call ..." -> 12, else -1. */
static i32 insn_of(struct str line)
{
	u64 n;
	i32 colon = str_chr(line, ':');
	if (colon <= 0 || line.n < (u32)colon + 3 || line.s[colon + 1] != ' ' ||
	    line.s[colon + 2] != '(')
		return -1;
	return str_u64(str_n(line.s, (size_t)colon), &n) && n < INT32_MAX ? (i32)n : -1;
}

/* "... at insn 12", "back-edge from insn 5 to 3", "loop detected at insn 7" -> the first number. */
static i32 insn_named(struct str line)
{
	i32 at = str_find(line, STR("insn "));
	u32 i = at < 0 ? line.n : (u32)at + 5, start = i;
	while (i < line.n && line.s[i] >= '0' && line.s[i] <= '9')
		i++;
	u64 n;
	return i > start && str_u64(str_n(line.s + start, i - start), &n) && n < INT32_MAX ? (i32)n
											   : -1;
}

/* The line that ends before end; *at is where it starts. */
static struct str line_before(struct str log, u32 end, u32 *at)
{
	while (end && log.s[end - 1] == '\n')
		end--;
	u32 start = end;
	while (start && log.s[start - 1] != '\n')
		start--;
	*at = start;
	return str_trim(str_n(log.s + start, end - start));
}

void verlog_read(const char *log, struct arena *a, struct verdict *ret)
{
	*ret = (struct verdict){.insn = -1, .why = "the kernel's verifier refused the program"};
	struct str text = str_z(log);
	const struct rule *found = NULL;
	u32 seen = 0;
	for (u32 end = text.n, at = 0; end && seen < LAST_LINES && !found; end = at) {
		struct str line = line_before(text, end, &at);
		if (is_tail(line))
			continue;
		/* The cause is said behind the instruction; that all took too long, in its line. */
		if (insn_of(line) >= 0) {
			i32 large = str_find(line, STR(TOO_LARGE));
			line = large < 0 ? STR("") : str_from(line, (u32)large);
			seen = LAST_LINES;
		}
		seen++;
		if (!ret->detail.n && line.n)
			ret->detail = arena_str(a, line);
		found = match(line);
		if (found) {
			ret->detail = arena_str(a, line);
			ret->insn = insn_named(line);
		}
	}
	if (found) {
		ret->why = found->why;
		ret->too_big = found->too_big;
	}
	for (u32 end = text.n, at = 0; end && ret->insn < 0; end = at)
		ret->insn = insn_of(line_before(text, end, &at));
}
