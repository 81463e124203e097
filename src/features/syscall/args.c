/* args.c - system calls whose arguments depend on what is asked of them. */
#include "syscall/calls.h"
#include <fcntl.h>
#include <sys/prctl.h>

/* How many arguments an operation has. */
u32 call_futex_args(u32 op)
{
	switch (op) {
	case OP_WAIT:
	case OP_LOCK_PI: return 4;
	case OP_WAKE:
	case OP_FD: return 3;
	case OP_UNLOCK_PI:
	case OP_TRYLOCK_PI: return 2;
	case OP_REQUEUE:
	case OP_WAIT_REQUEUE_PI: return 5;
	default: return 6;
	}
}

/* How many arguments an option has. */
u32 call_prctl_args(u32 option)
{
	switch (option) {
	case PR_GET_DUMPABLE:
	case PR_GET_KEEPCAPS:
	case PR_GET_TIMERSLACK:
	case PR_GET_SECUREBITS:
	case PR_GET_TIMING:
	case PR_GET_SECCOMP: return 1;
	case PR_SET_NAME:
	case PR_GET_NAME:
	case PR_SET_PDEATHSIG:
	case PR_GET_PDEATHSIG:
	case PR_SET_DUMPABLE:
	case PR_SET_KEEPCAPS:
	case PR_SET_TIMERSLACK:
	case PR_SET_SECUREBITS:
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
	case PR_GET_TSC:
	case PR_GET_UNALIGN:
	case PR_GET_TID_ADDRESS:
	case PR_SET_PTRACER:
	case PR_SET_CHILD_SUBREAPER:
	case PR_GET_CHILD_SUBREAPER: return 2;
	default: return 5;
	}
}

u32 call_seccomp_args(u64 mode)
{
	enum { STRICT = 1, FILTER = 2 };
	return mode == STRICT ? 2 : mode == FILTER ? 3 : 5;
}

/* Requests without anything more. */
bool call_ioctl_bare(u32 request)
{
	return call_word(STR("ioctl_bare"), request) != NULL;
}

bool call_fcntl_address(u32 cmd)
{
	static const u16 cmds[] = {F_GETLK, F_SETLK, F_SETLKW, 15,   16,   36,
				   37,      38,      1035,     1036, 1037, 1038};
	for (size_t i = 0; i < countof(cmds); i++)
		if (cmds[i] == cmd)
			return true;
	return false;
}
