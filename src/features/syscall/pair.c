/* pair.c - the rows of a call's beginning and its end become one line, or two if something came between. */
#include "syscall/pair.h"
#include "core/shown.h"
#include "report/calls.h"
#include "report/report.h"
#include "syscall/calls.h"

enum { MAX_CELLS = SHOWN_MAX_CELLS };

/* What the rows of a call's beginning and end do not say, the other one does. */
static void merge_rows(const struct held_call *h, struct value *cell, u32 n)
{
	for (u32 i = 0; h && i < n && i < h->n; i++)
		if (cell[i].kind == V_NONE)
			cell[i] = h->cell[i];
}

/* A line for the whole call has the time of its beginning. */
static void take_rows(const struct held_call *h, struct value *cell, u32 n)
{
	for (u32 i = 0; i < n && i < h->n; i++)
		if (h->cell[i].kind != V_NONE)
			cell[i] = h->cell[i];
}

static void hold_row(const struct call_rows *to, const struct call_head *head,
		     const struct value *cell)
{
	struct held_call *h = calls_hold(to->r->calls, head->tid);
	h->n = to->columns->n;
	h->cell = arena_newn(&h->a, struct value, h->n);
	for (u32 i = 0; i < h->n; i++)
		h->cell[i] =
			i == to->at ? (struct value){.kind = V_NONE} : value_copy(&h->a, &cell[i]);
	h->bytes = arena_str(&h->a, cell[to->at].str);
}

/* A call that has begun, and will not end. */
static void put_open_call(const struct call_rows *to, u32 tid)
{
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	struct held_call *h = calls_held(to->r->calls, tid);
	if (!h)
		return;
	call_text(&text, &to->r->arch->calls, h->bytes, (struct str){0});
	merge_rows(h, cell, to->columns->n);
	to->put(to, cell, sb_str(&text), 0);
	calls_drop(h);
}

/* Something of thread tid is about to be shown: the call that another one is in gets its first line. */
static void interrupt_call(const struct call_rows *to, u32 tid)
{
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	struct calls *c = to->r->calls;
	struct held_call *h = calls_last(c);
	if (!h || h->tid == tid)
		return;
	call_text_begun(&text, &to->r->arch->calls, h->bytes);
	merge_rows(h, cell, to->columns->n);
	to->put(to, cell, sb_str(&text), 0);
	h->begun = true;
	calls_set_last(c, 0);
}

/*
 * Does the end belong to that beginning? The number changes within rt_sigreturn, whose frame has no call
 * in it, and within execveat, as which the kernel starts a program by execve.
 */
static bool same_call(const struct reporter *r, const struct call_head *begun,
		      const struct call_head *ended)
{
	const struct arch_calls *c = &r->arch->calls;
	struct call_shape before, after;
	u64 id = call_id(begun), end = call_id(ended);
	if (id == end || ended->nr == CALL_GONE)
		return true;
	call_shape(c, id, &before);
	call_shape(c, end, &after);
	return before.name && after.name && !strncmp(before.name, "execve", 6) &&
	       !strcmp(after.name, "execve");
}

/* "[ Process PID=1 runs in 32 bit mode. ]": when a call is not of the kind that the thread's last one was. */
static void put_mode(const struct call_rows *to, const struct call_head *head,
		     const struct value *from)
{
	static const char *const modes[] = {"64 bit", "32 bit", "x32"};
	struct call_shape shape;
	struct value cell[MAX_CELLS] = {0};
	AUTO_SB text = {0};
	const struct arch_calls *native = &to->r->arch->calls;
	call_shape(native, call_id(head), &shape);
	u32 mode = shape.calls == native ? 0 : shape.calls == native->compat ? 1 : 2;
	if (!calls_mode(to->r->calls, head->tid, mode) || head->flags & CALL_NO_MODE)
		return;
	sb_fmt(&text, "[ Process PID=%u runs in %s mode. ]", head->tid, modes[mode]);
	for (u32 i = 0; i < to->columns->n; i++)
		cell[i] = to->columns->col[i].unit == COL_SYSCALL ? (struct value){.kind = V_NONE}
								  : from[i];
	to->put(to, cell, sb_str(&text), 0);
}

/* The beginning of a call waits. */
static void begin_call(const struct call_rows *to, const struct call_head *head, struct value *cell)
{
	put_mode(to, head, cell);
	hold_row(to, head, cell);
	if (head->flags & CALL_SPLIT)
		calls_set_last(to->r->calls, head->tid);
}

static void end_call(const struct call_rows *to, const struct call_head *head, struct value *cell,
		     u64 ts)
{
	struct reporter *r = to->r;
	const struct arch_calls *native = &r->arch->calls;
	struct str end = cell[to->at].str;
	struct held_call *h = calls_held(r->calls, head->tid);
	struct call_head begun;
	bool same = h && call_head(h->bytes, &begun) && same_call(r, &begun, head);
	struct str begin = same ? h->bytes : (struct str){0};
	AUTO_SB text = {0};
	AUTO_SB dump = {0};
	if (same && h->begun)
		call_text_resumed(&text, native, begin, end);
	else
		call_text(&text, native, begin, end);
	if (same && !h->begun)
		take_rows(h, cell, to->columns->n);
	merge_rows(same ? h : NULL, cell, to->columns->n);
	to->put(to, cell, sb_str(&text), ts);
	call_dump_text(&dump, native, begin, end);
	if (dump.n)
		report_put(r, &(struct item){.kind = I_TEXT,
					     .name = STR("printf"),
					     .ts = ts,
					     .str = sb_str(&dump)});
	if (h)
		calls_drop(h);
}

/* A signal, a thread that ended or has another number now. */
static void put_event(const struct call_rows *to, const struct call_head *head, struct value *cell,
		      u64 ts)
{
	AUTO_SB text = {0};
	u64 end = head->phase == CALL_ENDED ? head->arg[1] : 0;
	if (head->phase == CALL_MOVED)
		calls_move(to->r->calls, (u32)head->arg[0], head->tid);
	if (end & CALL_END_OPEN)
		put_open_call(to, head->tid);
	if (end & CALL_END_SILENT)
		return;
	call_event_text(&text, cell[to->at].str);
	to->put(to, cell, sb_str(&text), ts);
}

void call_put_row(const struct call_rows *to, struct value *cell, u64 ts)
{
	struct call_head head;
	if (!call_head(cell[to->at].str, &head))
		return;
	interrupt_call(to, head.tid);
	if (head.phase == CALL_ENTER) {
		begin_call(to, &head, cell);
		return;
	}
	calls_set_last(to->r->calls, 0);
	if (head.phase == CALL_EXIT)
		end_call(to, &head, cell, ts);
	else
		put_event(to, &head, cell, ts);
}
