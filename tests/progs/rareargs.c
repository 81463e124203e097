/*
 * rareargs: system calls with keys, filters and operations of futexes as arguments, and clone3(). A line "begin" is
 * written before them. What they do fails, or is undone by the end.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 500, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_A, 0),
	BPF_STMT(BPF_RET | BPF_K, 0x12345678),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
	BPF_STMT(BPF_MISC | BPF_TAX, 0),
	BPF_STMT(BPF_ST, 3),
	BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),
	BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_X, 1, 1, 2),
	BPF_STMT(0xffff, 0),
};

static void filters(void)
{
	struct sock_fprog good = {4, code}, bad = {13, code};

	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 64, &bad);
	syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8L);
	syscall(SYS_prctl, PR_SET_SECCOMP, 7L, 1L, 2L, 3L);
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
	syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &good);
}

static void futexes(void)
{
	static int word, other;

	syscall(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 1, 1L, &other,
		FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, 1));
	syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1L, &other,
		FUTEX_OP(FUTEX_OP_ADD | 8, 5, FUTEX_OP_CMP_EQ, 0xfff));
	syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1L, &other, 0x7a001002);
}

static char data[] = "-bc";

static void keys(void)
{
	data[0] = 'a';
	syscall(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_REQUESTOR_KEYRING, NULL, 0L);
	syscall(SYS_keyctl, KEYCTL_READ, -9L, NULL, 0L);
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 8L);
	syscall(SYS_keyctl, KEYCTL_UPDATE, KEY_SPEC_REQUESTOR_KEYRING, data, 3L);
	syscall(SYS_keyctl, KEYCTL_SETPERM, -9L, 0x3f010000L);
	syscall(SYS_keyctl, KEYCTL_CHOWN, -9L, 0L, -1L);
	syscall(SYS_keyctl, KEYCTL_SEARCH, -9L, "user", "none", KEY_SPEC_THREAD_KEYRING);
	syscall(SYS_keyctl, KEYCTL_REJECT, -9L, 60L, 5L, KEY_SPEC_SESSION_KEYRING);
	syscall(SYS_keyctl, KEYCTL_SET_REQKEY_KEYRING, -1L);
	syscall(SYS_keyctl, 118L, 77L, 1L, 2L, 3L);
	syscall(SYS_add_key, "user", "none", NULL, 0L, KEY_SPEC_PROCESS_KEYRING);
	syscall(SYS_add_key, "none", "none", data, 3L, 77L);
	syscall(SYS_request_key, "none", "none", NULL, KEY_SPEC_PROCESS_KEYRING);
}

static void children(void)
{
	static int fd, parent, child;
	struct clone_args a = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID,
			       .pidfd = (uintptr_t)&fd,
			       .parent_tid = (uintptr_t)&parent,
			       .child_tid = (uintptr_t)&child,
			       .exit_signal = SIGCHLD};

	for (int i = 0; i < 2; i++) {
		long pid = syscall(SYS_clone3, &a, sizeof(a));
		if (!pid)
			_exit(0);
		syscall(SYS_wait4, pid, NULL, 0L, NULL);
		a.flags = CLONE_PIDFD;
	}
	a.flags = 0;
	a.set_tid = (uintptr_t)&fd;
	a.set_tid_size = 3000;
	syscall(SYS_clone3, &a, sizeof(a));
}

int main(void)
{
	write(2, "begin\n", 6);
	futexes();
	keys();
	children();
	filters();
	return 0;
}
