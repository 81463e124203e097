/*
 * sessions.c - libsonde from outside: runs one after another and at once, errors, compiled scripts, values, maps, and what
 * stays as it was in the process. Prints a line for each check; exit status 1 if one failed. Needs root.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void check(bool ok, const char *what)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", what);
	failed |= !ok;
}

/* The text of all items. */
struct heard {
	char text[4096];
	size_t n;
	unsigned items, end_after;
};

static void add(struct heard *h, const char *s)
{
	size_t n = strlen(s);
	if (h->n + n < sizeof(h->text))
		memcpy(h->text + h->n, s, n + 1), h->n += n;
}

static int hear(void *arg, const struct sonde_item *it)
{
	struct heard *h = arg;
	char text[256];
	if (it->kind == SONDE_ITEM_TEXT || it->kind == SONDE_ITEM_MESSAGE ||
	    it->kind == SONDE_ITEM_LOST)
		add(h, it->text);
	for (size_t i = 0; i < it->nvalues; i++) {
		sonde_value_text(&it->values[i], text, sizeof(text));
		add(h, text);
	}
	for (uint64_t i = 0; it->kind == SONDE_ITEM_MAP && i < it->nrows; i++) {
		const struct sonde_value *key, *value;
		sonde_item_row(it, i, &key, &value);
		add(h, it->name);
		sonde_value_text(value, text, sizeof(text));
		add(h, text);
	}
	h->items++;
	return h->end_after && h->items >= h->end_after;
}

static struct sonde_run *start(struct sonde *s, const char *script, struct heard *h,
			       struct sonde_unit **unit)
{
	SONDE_OPTS(sonde_run_opts, o, .item = hear, .arg = h);
	struct sonde_run *run = NULL;
	struct sonde_error *e = sonde_compile(s, script, strlen(script), NULL, unit);
	if (!e)
		e = sonde_attach(*unit, &o, &run);
	if (e)
		printf("# %s\n", e->text);
	sonde_error_free(e);
	return run;
}

static const char three[] =
	"interval:ms:5 { if ((int64)@ < 3) { @ = count(); printf(\"%d\", (int64)@);"
	" if ((int64)@ == 3) { exit(7); } } }";

static void one_after_another(struct sonde *s)
{
	struct heard h = {0};
	struct sonde_unit *unit;
	struct sonde_run *run = start(s, three, &h, &unit);
	while (run && sonde_poll(run, 1000))
		;
	check(sonde_stop(run) == 7, "the exit status is that of exit()");
	check(!strcmp(h.text, "123@3"), "items come in order, and the map at the end");
	SONDE_OPTS(sonde_run_opts, o, .item = hear, .arg = &h);
	memset(&h, 0, sizeof(h));
	struct sonde_error *e = sonde_attach(unit, &o, &run);
	check(!e, "a unit is attached again after its run");
	while (!e && sonde_poll(run, 1000))
		;
	check(!e && sonde_stop(run) == 7 && !strcmp(h.text, "123@3"), "and starts anew");
	sonde_error_free(e);
	sonde_unit_free(unit);
}

static void at_once(struct sonde *s, struct sonde *other)
{
	struct heard a = {0}, b = {0};
	struct sonde_unit *ua, *ub;
	struct sonde_run *ra = start(s, three, &a, &ua), *rb = start(other, three, &b, &ub);
	bool more_a = ra, more_b = rb;
	while (more_a || more_b) {
		more_a = more_a && sonde_poll(ra, 1);
		more_b = more_b && sonde_poll(rb, 1);
	}
	sonde_stop(ra);
	sonde_stop(rb);
	check(!strcmp(a.text, "123@3") && !strcmp(b.text, "123@3"),
	      "two sessions at once do not meet");
	sonde_unit_free(ua);
	sonde_unit_free(ub);
}

static void *thread(void *arg)
{
	struct heard *h = arg;
	struct sonde *s;
	struct sonde_unit *unit;
	if (sonde_new(NULL, &s))
		return NULL;
	struct sonde_run *run = start(s, three, h, &unit);
	while (run && sonde_poll(run, -1))
		;
	sonde_stop(run);
	sonde_unit_free(unit);
	sonde_free(s);
	return NULL;
}

static void in_threads(void)
{
	static struct heard h[2];
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, &h[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	check(!strcmp(h[0].text, "123@3") && !strcmp(h[1].text, "123@3"),
	      "two threads have a session each");
}

static void errors(struct sonde *s)
{
	static const char wrong[] = "begin {\n  printf(\"%d\", foo);\n}";
	struct sonde_unit *unit = NULL;
	struct sonde_error *e = sonde_compile(s, wrong, strlen(wrong), NULL, &unit);
	check(e && e->kind == SONDE_ERROR_SCRIPT && e->ndiagnostics == 1,
	      "a wrong script is an error with a diagnostic");
	if (e && e->ndiagnostics)
		check(e->diagnostics[0].line == 2 && !strcmp(e->diagnostics[0].source, "stdin") &&
			      strstr(e->text, "foo") &&
			      strncmp(e->diagnostics[0].code, "E_", 2) == 0,
		      "the diagnostic has a place and a code");
	sonde_error_free(e);
	struct {
		struct sonde_opts o;
		int more;
	} newer = {.o.size = sizeof(newer), .more = 1};
	struct sonde *other = NULL;
	e = sonde_new(&newer.o, &other);
	check(e && e->kind == SONDE_ERROR_OPTION, "an option of a newer version is refused");
	sonde_error_free(e);
	SONDE_OPTS(sonde_opts, o, .root = "/nonexistent");
	e = sonde_new(&o, &other);
	check(e && e->kind == SONDE_ERROR_OPTION && strstr(e->text, "/nonexistent"),
	      "a folder that is not there is an error");
	sonde_error_free(e);
	e = sonde_unit_read(s, "nonsense", 8, &unit);
	check(e && e->kind == SONDE_ERROR_UNIT, "bytes that are no unit are an error");
	sonde_error_free(e);
	struct heard h = {0};
	struct sonde_run *run = start(s, "begin { @x = 1; } interval:s:100 { }", &h, &unit);
	SONDE_OPTS(sonde_run_opts, ro, .item = hear, .arg = &h);
	struct sonde_run *second;
	e = sonde_attach(unit, &ro, &second);
	check(e && e->kind == SONDE_ERROR_STATE, "a unit has one run at a time");
	sonde_error_free(e);
	e = sonde_map_each(run, "@y", NULL, NULL);
	check(e && e->kind == SONDE_ERROR_OPTION,
	      "a map that the script does not have is an error");
	sonde_error_free(e);
	sonde_stop(run);
	sonde_unit_free(unit);
	e = sonde_compile(s, "signal:SIGUSR1 { }", 18, NULL, &unit);
	if (!e) {
		e = sonde_attach(unit, &ro, &second);
		check(e && e->kind == SONDE_ERROR_ATTACH && strstr(e->text, "signal"),
		      "signals are not taken unasked");
		sonde_unit_free(unit);
	}
	sonde_error_free(e);
}

struct bytes {
	char p[1 << 16];
	size_t n;
};

static int keep(void *arg, const void *p, size_t n)
{
	struct bytes *b = arg;
	if (b->n + n > sizeof(b->p))
		return 28; /* ENOSPC */
	memcpy(b->p + b->n, p, n);
	b->n += n;
	return 0;
}

static void units(struct sonde *s)
{
	static struct bytes b;
	struct heard h = {0};
	SONDE_OPTS(sonde_run_opts, o, .item = hear, .arg = &h);
	struct sonde_unit *unit, *again;
	struct sonde_run *run = NULL;
	struct sonde_error *e = sonde_compile(s, three, strlen(three), NULL, &unit);
	if (!e)
		e = sonde_unit_write(unit, keep, &b);
	sonde_unit_free(unit);
	if (!e)
		e = sonde_unit_read(s, b.p, b.n, &again);
	if (!e)
		e = sonde_attach(again, &o, &run);
	while (run && sonde_poll(run, 1000))
		;
	check(!e && sonde_stop(run) == 7 && !strcmp(h.text, "123@3"),
	      "a script that was written and read runs");
	if (e)
		printf("# %s\n", e->text);
	sonde_error_free(e);
	sonde_unit_free(again);
}

static int sum(void *arg, const struct sonde_value *key, const struct sonde_value *value)
{
	struct heard *h = arg;
	char text[64];
	snprintf(text, sizeof(text), "%s=%" PRId64 " ", key->text, value->i);
	add(h, text);
	return 0;
}

static void maps_and_values(struct sonde *s)
{
	static const char script[] = "begin { @n[\"a\"] = 1; @n[\"b\"] = 2; @h = hist(5); "
				     "print((1, \"x\")); print(@h); }\n"
				     "interval:ms:5 { printf(\"tick\"); }";
	struct heard h = {0}, rows = {0};
	struct sonde_unit *unit;
	struct sonde_run *run = start(s, script, &h, &unit);
	struct sonde_error *e = sonde_map_each(run, "@n", sum, &rows);
	check(!e && !strcmp(rows.text, "a=1 b=2 "), "a map is read while the script runs");
	sonde_error_free(e);
	check(strstr(h.text, "(1, x)") != NULL && strstr(h.text, "[4, 8)") != NULL,
	      "values of begin come as text, too");
	struct pollfd p = {.fd = sonde_fd(run), .events = POLLIN};
	memset(&h, 0, sizeof(h));
	h.end_after = 2;
	int n = 0;
	while (n++ < 10000 && poll(&p, 1, 10000) == 1 && sonde_poll(run, 0))
		;
	check(h.items == 2 && !strcmp(h.text, "ticktick"),
	      "an event loop waits for sonde_fd(), and the callback ends the run");
	sonde_stop(run);
	sonde_unit_free(unit);
}

static void processes(struct sonde *s)
{
	static const char script[] = "tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { "
				     "printf(\"%d\", args.error_code); }";
	struct heard h = {0};
	SONDE_OPTS(sonde_compile_opts, c, .command = "/bin/sh -c 'exit 5'");
	SONDE_OPTS(sonde_run_opts, o, .item = hear, .arg = &h);
	struct sonde_unit *unit;
	struct sonde_run *run = NULL;
	struct sonde_error *e = sonde_compile(s, script, strlen(script), &c, &unit);
	if (!e)
		e = sonde_attach(unit, &o, &run);
	while (run && sonde_poll(run, 1000))
		;
	sonde_stop(run);
	check(!e && !strcmp(h.text, "5"), "a command is traced until it ends");
	if (e || strcmp(h.text, "5"))
		printf("# %s\n", e ? e->text : h.text);
	sonde_error_free(e);
	e = sonde_attach(unit, &o, &run);
	check(e && e->kind == SONDE_ERROR_STATE, "its unit is attached once");
	sonde_error_free(e);
	sonde_unit_free(unit);
}

int main(void)
{
	struct sigaction before, after;
	sigset_t mask, mask_after;
	struct sonde *s, *other;
	sigaction(SIGPIPE, NULL, &before);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (sonde_new(NULL, &s) || sonde_new(NULL, &other))
		return 1;
	one_after_another(s);
	at_once(s, other);
	in_threads();
	errors(s);
	units(s);
	maps_and_values(s);
	processes(s);
	sonde_free(other);
	sonde_free(s);
	sigaction(SIGPIPE, NULL, &after);
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	bool same = before.sa_handler == after.sa_handler;
	for (int i = 1; i < 32; i++)
		same &= sigismember(&mask, i) == sigismember(&mask_after, i);
	check(same, "signals are as before");
	return failed;
}
