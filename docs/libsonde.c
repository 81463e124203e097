/* Count the system calls of every process for one second; docs/libsonde.md explains it. */
#include <inttypes.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <string.h>

static const char script[] = "tracepoint:raw_syscalls:sys_enter { @calls[comm] = count(); }\n"
			     "interval:s:1 { printf(\"one second is over\\n\"); exit(); }\n"
			     "end { clear(@calls); }\n";

static int show_item(void *arg, const struct sonde_item *it)
{
	(void)arg;
	if (it->kind == SONDE_ITEM_TEXT || it->kind == SONDE_ITEM_MESSAGE)
		printf("%s", it->text);
	return 0;
}

static int show_row(void *arg, const struct sonde_value *key, const struct sonde_value *value)
{
	(void)arg;
	printf("%-16s %" PRIu64 "\n", key->text, value->u);
	return 0;
}

int main(void)
{
	SONDE_OPTS(sonde_run_opts, opts, .item = show_item);
	struct sonde *s = NULL;
	struct sonde_unit *unit = NULL;
	struct sonde_run *run = NULL;
	struct sonde_error *e = sonde_new(NULL, &s);
	if (!e)
		e = sonde_compile(s, script, strlen(script), NULL, &unit);
	if (!e)
		e = sonde_attach(unit, &opts, &run);
	while (!e && sonde_poll(run, 1000))
		;
	if (!e)
		e = sonde_map_each(run, "@calls", show_row, NULL);
	if (e)
		fprintf(stderr, "%s\n", e->text);
	int status = e ? 1 : 0;
	sonde_error_free(e);
	sonde_stop(run);
	sonde_unit_free(unit);
	sonde_free(s);
	return status;
}
