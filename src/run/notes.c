/*
 * notes.c - which process maps what, while it happens: names of user addresses are wanted when the
 * process has gone.
 *
 * Only for scripts that show such addresses. Without perf events (the kernel may forbid them),
 * /proc/PID/maps of the traced process is read now and then.
 */
#include "run/run.h"

static bool has_user_address(const struct type *t)
{
	if (!t)
		return false;
	if (t->kind == T_USTACK || t->kind == T_USYM)
		return true;
	if (t->kind != T_TUPLE && t->kind != T_RECORD)
		return false;
	for (u32 i = 0; i < t->nfield; i++)
		if (has_user_address(t->field[i].type))
			return true;
	return false;
}

/* Maps are printed long after the process was seen. */
static bool maps_hold_addresses(const struct unit *u)
{
	for (u32 i = 0; i < u->nmap; i++)
		if (has_user_address(u->map[i]->key) || has_user_address(u->map[i]->val))
			return true;
	return false;
}

static bool records_hold_addresses(const struct unit *u)
{
	for (u32 i = 0; i < u->nschema; i++)
		if (has_user_address(u->schema[i]->layout))
			return true;
	return false;
}

/* All that is traced happens in one process. */
static bool one_process(const struct unit *u)
{
	if (u->scope.npid != 1 || u->scope.follow)
		return false;
	for (u32 i = 0; i < u->nprog && !u->scope.kernel; i++)
		if (u->prog[i]->phase == PROG_ATTACH && u->prog[i]->provider->flags & PF_PIDFILTER)
			return false;
	return true;
}

static struct err *open_notes(struct session *s)
{
	bool one = one_process(s->u);
	if (!host_has(s->h, FEAT_MAP_NOTES))
		return err_new("%s: not allowed", feature_what(FEAT_MAP_NOTES));
	struct err *e = mmaps_open(s->h, one ? s->u->pid : 0, false, &s->mmaps);
	if (e && !one && s->u->pid) { /* one's own process may be allowed */
		err_free(e);
		e = mmaps_open(s->h, s->u->pid, false, &s->mmaps);
	}
	return e;
}

static void read_processes(struct session *s)
{
	for (u32 i = 0; i < s->u->scope.npid; i++)
		sym_user_read(s->syms, (u32)s->u->scope.pid[i].pid);
}

void notes_open(struct session *s)
{
	bool in_maps = maps_hold_addresses(s->u);
	s->notes = in_maps || records_hold_addresses(s->u);
	if (!s->notes)
		return;
	struct err *e = open_notes(s);
	if (!e)
		sym_user_notes(s->syms, mmaps_of_all(s->mmaps));
	if (!e && in_maps && mmaps_of_all(s->mmaps))
		sym_user_read_all(s->syms);
	if (!s->u->cpid) /* the child has not begun its program */
		read_processes(s);
	if (e && s->verbose) {
		AUTO_SB text = {0};
		sb_fmt(&text, "names of processes that end may be missing: %s", e->msg);
		session_error(s, true, "", (struct loc){0}, sb_str(&text));
	}
	err_free(e);
}

static void take_note(void *session, const struct map_note *n)
{
	struct session *s = session;
	if (n->kind == NOTE_LOST)
		s->notes_lost += n->lost;
	sym_user_note(s->syms, n);
}

void notes_drain(struct session *s)
{
	if (s->mmaps)
		mmaps_drain(s->mmaps, take_note, s);
}

void notes_tick(struct session *s)
{
	u64 now = run_now();
	notes_drain(s);
	if (s->mmaps || !s->notes || !s->u->scope.npid || now - s->noted_ns < SECOND_NS)
		return;
	s->noted_ns = now;
	read_processes(s);
}

void notes_close(struct session *s)
{
	mmaps_free(s->mmaps);
	s->mmaps = NULL;
}
