/* event.c - what strace writes between system calls: signals, and how threads end. */
#include "base/bytes.h"
#include "syscall/calls.h"
#include <signal.h>

static void put_code(struct sb *out, i32 sig, i32 code)
{
	static const char *const chld[] = {"CLD_EXITED",  "CLD_KILLED",  "CLD_DUMPED",
					   "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"};
	static const char *const segv[] = {"SEGV_MAPERR", "SEGV_ACCERR"};
	static const char *const below[] = {"SI_USER",    "SI_QUEUE", "SI_TIMER", "SI_MESGQ",
					    "SI_ASYNCIO", "SI_SIGIO", "SI_TKILL"};
	if (code == 128)
		sb_z(out, "SI_KERNEL");
	else if (code <= 0 && -code < (i32)countof(below))
		sb_z(out, below[-code]);
	else if (sig == SIGCHLD && code >= 1 && code <= (i32)countof(chld))
		sb_z(out, chld[code - 1]);
	else if (sig == SIGSEGV && code >= 1 && code <= (i32)countof(segv))
		sb_z(out, segv[code - 1]);
	else
		sb_fmt(out, "%d", code);
}

void call_put_siginfo(struct sb *out, struct bytes *b)
{
	i32 sig = (i32)bytes_u32(b);
	bytes_u32(b);
	i32 code = (i32)bytes_u32(b);
	bytes_u32(b);
	u32 pid = bytes_u32(b), uid = bytes_u32(b), status = bytes_u32(b);
	u64 value = (u64)bytes_u32(b) << 32 | status;
	u64 utime = bytes_u64(b), stime = bytes_u64(b);
	if (!sig) {
		sb_z(out, "{}");
		return;
	}
	sb_z(out, "{si_signo=");
	call_put_signal(out, (u64)sig);
	sb_z(out, ", si_code=");
	put_code(out, sig, code);
	if (sig == SIGCHLD && code > 0) {
		sb_fmt(out, ", si_pid=%u, si_uid=%u, si_status=", pid, uid);
		if (code == CLD_EXITED)
			sb_fmt(out, "%d", (i32)status);
		else
			call_put_signal(out, status);
		sb_fmt(out, ", si_utime=%llu, si_stime=%llu", utime, stime);
	} else if (code > 0 && code != 128) {
		u64 addr = (u64)uid << 32 | pid;
		sb_fmt(out, addr ? ", si_addr=0x%llx" : ", si_addr=NULL", addr);
	} else if (code == SI_TIMER) {
		sb_fmt(out, ", si_timerid=%d, si_overrun=%d", (i32)pid, (i32)uid);
	} else if (code <= 0) {
		sb_fmt(out, ", si_pid=%u, si_uid=%u", pid, uid);
	}
	if (code == SI_TIMER || code == SI_QUEUE || code == SI_MESGQ)
		sb_fmt(out, value ? ", si_int=%d, si_ptr=0x%llx" : ", si_int=%d, si_ptr=NULL",
		       (i32)status, value);
	sb_char(out, '}');
}

void call_event_text(struct sb *out, struct str event)
{
	struct call_head h;
	if (!call_head(event, &h))
		return;
	u32 code = (u32)h.arg[0];
	if (h.phase == CALL_SIGNAL) {
		struct bytes b = bytes_of(h.arg, sizeof(h.arg));
		sb_z(out, "--- ");
		call_put_signal(out, h.arg[0] & 0xffffffff);
		sb_char(out, ' ');
		call_put_siginfo(out, &b);
		sb_z(out, " ---");
	} else if (h.phase == CALL_MOVED) {
		sb_fmt(out, "+++ superseded by execve in pid %u +++", code);
	} else if (code & 0x7f) {
		sb_z(out, "+++ killed by ");
		call_put_signal(out, code & 0x7f);
		sb_z(out, code & 0x80 ? " (core dumped) +++" : " +++");
	} else {
		sb_fmt(out, "+++ exited with %u +++", code >> 8 & 0xff);
	}
}
