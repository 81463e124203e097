# strace: build/tests/manycalls DIR makes calls of many kinds with known arguments.

NAME strace: calls of many kinds, decoded
RUN
	mkdir "$TMPDIR/d"
	"$SONDE" strace -q -o "$TMPDIR/o" build/tests/manycalls "$TMPDIR/d" 2>/dev/null
	sed '1,/^write(2, "begin/d; s/0x7[0-9a-f]\{8,\}/ADDR/g; s|"/.*/d"|"DIR"|; s/^\(getcwd.*)\) *= [0-9]*/\1 = N/' "$TMPDIR/o"
NEEDS prog:manycalls tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	openat(AT_FDCWD, "file", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0640) = 3
	write(3, "hello \"world\"\\\t\0\377", 17) = 17
	writev(3, [{iov_base="ab\n", iov_len=3}, {iov_base="\1\33\0017", iov_len=4}], 2) = 7
	lseek(3, 0, SEEK_SET)                   = 0
	read(3, "hello \"world\"\\\t\0\377ab\n\1\33\0017", 64) = 24
	preadv(3, [{iov_base="\"wor", iov_len=4}], 1, 6) = 4
	pread64(3, "", 0, 0)                    = 0
	fstat(3, {st_mode=S_IFREG|0640, st_size=24, ...}) = 0
	ftruncate(3, 100)                       = 0
	fchmod(3, 04711)                        = 0
	fcntl(3, F_GETFD)                       = 0x1 (flags FD_CLOEXEC)
	fcntl(3, F_SETFL, O_RDONLY|O_APPEND|O_NONBLOCK) = 0
	fcntl(3, F_GETFL)                       = 0x8c02 (flags O_RDWR|O_APPEND|O_NONBLOCK|O_LARGEFILE)
	dup3(3, 70, O_CLOEXEC)                  = 70
	close(70)                               = 0
	close(3)                                = 0
	openat(AT_FDCWD, "gone", O_RDONLY|O_DIRECTORY) = -1 ENOENT (No such file or directory)
	openat(AT_FDCWD, 0x8, O_RDONLY)         = -1 EFAULT (Bad address)
	mkdirat(AT_FDCWD, "dir", 0700)          = 0
	faccessat(AT_FDCWD, "dir", R_OK|X_OK)   = 0
	symlinkat("file", AT_FDCWD, "link")     = 0
	readlinkat(AT_FDCWD, "link", "file", 64) = 4
	renameat2(AT_FDCWD, "link", AT_FDCWD, "other", RENAME_NOREPLACE) = 0
	unlinkat(AT_FDCWD, "other", 0)          = 0
	unlinkat(AT_FDCWD, "dir", AT_REMOVEDIR) = 0
	unlinkat(AT_FDCWD, "file", 0)           = 0
	umask(022)                              = 022
	socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [3, 4]) = 0
	sendto(3, "ping", 4, MSG_NOSIGNAL, NULL, 0) = 4
	recvfrom(4, "ping", 16, 0, NULL, NULL)  = 4
	ppoll([{fd=4, events=POLLIN}, {fd=3, events=POLLOUT}], 2, NULL, NULL, 8) = 1 ([{fd=3, revents=POLLOUT}])
	shutdown(3, SHUT_RDWR)                  = 0
	epoll_create1(EPOLL_CLOEXEC)            = 5
	epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLET, data={u32=7, u64=7}}) = 0
	epoll_pwait(5, [{events=EPOLLIN|EPOLLHUP, data={u32=7, u64=7}}], 1, 0, NULL, 8) = 1
	socket(AF_UNIX, SOCK_DGRAM, 0)          = 6
	connect(6, {sa_family=AF_UNIX, sun_path="/nonexistent/sock"}, 20) = -1 ENOENT (No such file or directory)
	connect(6, {sa_family=AF_UNIX, sun_path=@"none"}, 7) = -1 ECONNREFUSED (Connection refused)
	socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP) = 7
	bind(7, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
	setsockopt(7, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
	connect(-1, {sa_family=AF_INET6, sin6_port=htons(9), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 EBADF (Bad file descriptor)
	clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=1000}, NULL) = 0
	mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0x1) = -1 EINVAL (Invalid argument)
	madvise(NULL, 0, MADV_DONTNEED)         = 0
	rt_sigprocmask(SIG_BLOCK, [USR1 CHLD], NULL, 8) = 0
	rt_sigaction(SIGWINCH, NULL, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, 8) = 0
	prlimit64(0, RLIMIT_CORE, {rlim_cur=1024, rlim_max=RLIM64_INFINITY}, NULL) = 0
	wait4(-1, ADDR, WNOHANG, NULL) = -1 ECHILD (No child processes)
	kill(0, 0)                              = 0
	ioctl(-1, TCGETS, NULL)                 = -1 EBADF (Bad file descriptor)
	ioctl(-1, FICLONE, 3)                   = -1 EBADF (Bad file descriptor)
	sigaltstack({ss_sp=NULL, ss_flags=SS_DISABLE, ss_size=0}, NULL) = 0
	prctl(PR_CAPBSET_READ, 0x3f /* CAP_??? */) = -1 EINVAL (Invalid argument)
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0) = 0
	capset({version=_LINUX_CAPABILITY_VERSION_3, pid=1}, {effective=1<<CAP_CHOWN, permitted=1<<CAP_CHOWN|1<<CAP_KILL|1<<CAP_BPF, inheritable=0}) = -1 EPERM (Operation not permitted)
	sched_setaffinity(-1, 8, [0 3])         = -1 ESRCH (No such process)
	getuid()                                = 0
	futex(ADDR, FUTEX_WAKE_PRIVATE, 1) = 0
	syscall_0x1f4(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	clone(child_stack=NULL, flags=CLONE_THREAD|SIGCHLD) = -1 EINVAL (Invalid argument)
	clone(child_stack=0x10, flags=CLONE_THREAD|CLONE_SETTLS|CLONE_CHILD_CLEARTID, tls=0x30, child_tidptr=0x20) = -1 EINVAL (Invalid argument)
	futex(ADDR, FUTEX_WAIT, 1, {tv_sec=0, tv_nsec=1000}) = -1 ETIMEDOUT (Connection timed out)
	futex(ADDR, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 1, {tv_sec=0, tv_nsec=1000}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out)
	futex(ADDR, FUTEX_WAKE_BITSET, 1, 0x5) = 0
	futex(ADDR, FUTEX_CMP_REQUEUE, 1, 2, ADDR, 1) = 0
	fallocate(-1, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 4096) = -1 EBADF (Bad file descriptor)
	mknodat(AT_FDCWD, "none/x", S_IFIFO|0600) = -1 ENOENT (No such file or directory)
	mknodat(AT_FDCWD, "none/x", S_IFCHR|0600, makedev(0x1, 0x3)) = -1 ENOENT (No such file or directory)
	utimensat(AT_FDCWD, "none", [UTIME_NOW, UTIME_OMIT], 0) = -1 ENOENT (No such file or directory)
	semget(IPC_PRIVATE, -1, IPC_CREAT|0640) = -1 EINVAL (Invalid argument)
	semop(-1, [{sem_num=0, sem_op=1, sem_flg=IPC_NOWAIT}, {sem_num=1, sem_op=-1, sem_flg=SEM_UNDO}], 2) = -1 EINVAL (Invalid argument)
	msgrcv(-1, NULL, 0, 0, MSG_NOERROR|IPC_NOWAIT) = -1 EINVAL (Invalid argument)
	accept4(-1, NULL, NULL, SOCK_CLOEXEC)   = -1 EBADF (Bad file descriptor)
	pwritev2(-1, NULL, 0, 9, RWF_DSYNC)     = -1 EBADF (Bad file descriptor)
	writev(-1, 0x1, 2)                      = -1 EBADF (Bad file descriptor)
	lseek(-1, 0, 0x4d /* SEEK_??? */)       = -1 EBADF (Bad file descriptor)
	clock_gettime(0x4d /* CLOCK_??? */, ADDR) = -1 EINVAL (Invalid argument)
	nanosleep({tv_sec=0, tv_nsec=18446744073709551615}, NULL) = -1 EINVAL (Invalid argument)
	pselect6(0, ADDR, NULL, NULL, {tv_sec=0, tv_nsec=0}, NULL) = 0 (Timeout)
	pselect6(7, NULL, [6], NULL, {tv_sec=0, tv_nsec=0}, NULL) = 1 (out [6], left {tv_sec=0, tv_nsec=0})
	ppoll([{fd=-1}], 1, {tv_sec=0, tv_nsec=0}, NULL, 8) = 0 (Timeout)
	fcntl(-1, F_SETSIG, SIGIO)              = -1 EBADF (Bad file descriptor)
	fcntl(-1, F_GETSIG)                     = -1 EBADF (Bad file descriptor)
	fcntl(-1, F_ADD_SEALS, F_SEAL_SEAL|F_SEAL_WRITE) = -1 EBADF (Bad file descriptor)
	ioctl(-1, TIOCEXCL)                     = -1 EBADF (Bad file descriptor)
	close_range(4294967295, 0, CLOSE_RANGE_CLOEXEC) = -1 EINVAL (Invalid argument)
	getcwd("DIR", 4096) = N
	kcmp(-1, -1, KCMP_FILE, 0, 0)           = -1 ESRCH (No such process)
	execve("none", ["none"], ADDR /* 2 vars */) = -1 ENOENT (No such file or directory)
	ioctl(-1, FIONBIO, [4])                 = -1 EBADF (Bad file descriptor)
	exit_group(5)                           = ?
	+++ exited with 5 +++

NAME strace: what one argument says of another: locks, terminals, options, messages, prctl
RUN
	mkdir "$TMPDIR/d"
	"$SONDE" strace -q -o "$TMPDIR/o" build/tests/moreargs "$TMPDIR/d" 2>/dev/null
	sed '1,/^write(2, "begin/d;s/SNDCTL_TMR_[A-Z]* or //;s/\(TIOCGPTN, \[\)[0-9]*/\1N/;s/0x7[0-9a-f]\{8,\}/ADDR/g;s/left {[^}]*}/left/;s/_[cl]pid=[0-9]*/_pid=N/g;s/\([{ ]pid=\)[0-9]\{2,\}/\1N/;s/_ctime=[0-9]*/_ctime=N/;s/^\(shmctl.\)[0-9]*\(.*)\)  *=/\1N\2 =/;s/^\(shmget.*= \)[0-9]*/\1N/' "$TMPDIR/o"
NEEDS prog:moreargs tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=10}) = 0
	fcntl(3, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=10, l_pid=0}) = 0
	fcntl(3, F_SETLKW, {l_type=F_RDLCK, l_whence=SEEK_END, l_start=-3, l_len=0}) = -1 EINVAL (Invalid argument)
	fcntl(3, F_OFD_SETLK, {l_type=F_UNLCK, l_whence=SEEK_END, l_start=-3, l_len=0}) = -1 EINVAL (Invalid argument)
	fcntl(3, F_GETLK, 0x8)                  = -1 EFAULT (Bad address)
	fcntl(3, F_SETOWN_EX, {type=F_OWNER_PGRP, pid=1}) = 0
	fcntl(3, F_DUPFD, 70)                   = 70
	openat(AT_FDCWD, "/dev/ptmx", O_RDWR)   = 4
	ioctl(4, TIOCGPTN, [N])                 = 0
	ioctl(4, TIOCSPTLCK, [0])               = 0
	ioctl(4, TIOCGPTPEER, 0x102)            = 5
	write(-1, "terminals", 9)               = -1 EBADF (Bad file descriptor)
	ioctl(5, TCGETS, {c_iflag=ICRNL|IXON, c_oflag=NL0|CR0|TAB0|BS0|VT0|FF0|OPOST|ONLCR, c_cflag=B38400|CS8|CREAD, c_lflag=ISIG|ICANON|ECHO|ECHOE|ECHOK|IEXTEN|ECHOCTL|ECHOKE, ...}) = 0
	ioctl(5, TCSETSW, {c_iflag=ICRNL|IXON, c_oflag=NL0|CR0|TAB0|BS0|VT0|FF0|OPOST|ONLCR, c_cflag=B38400|CS8|CREAD, c_lflag=ISIG|ICANON|ECHO|ECHOE|ECHOK|IEXTEN|ECHOCTL|ECHOKE, ...}) = 0
	ioctl(-1, TCGETS, NULL)                 = -1 EBADF (Bad file descriptor)
	ioctl(5, TCFLSH, TCIFLUSH)              = 0
	ioctl(5, TCXONC, TCOON)                 = 0
	ioctl(5, TIOCSWINSZ, {ws_row=25, ws_col=80, ws_xpixel=1, ws_ypixel=2}) = 0
	ioctl(5, TIOCGWINSZ, {ws_row=25, ws_col=80, ws_xpixel=1, ws_ypixel=2}) = 0
	ioctl(5, TIOCGETD, [0])                 = 0
	ioctl(-1, TCSETS, {c_iflag=IGNBRK|BRKINT|IGNPAR|PARMRK|INPCK|ISTRIP|INLCR|IGNCR|ICRNL|IUCLC|IXON|IXANY|IXOFF|IMAXBEL|IUTF8|0xffff8000, c_oflag=NL1|CR3|XTABS|BS1|VT1|FF1|OPOST|OLCUC|ONLCR|OCRNL|ONOCR|ONLRET|OFILL|OFDEL|0xffff0000, c_cflag=B4000000|CS8|CSTOPB|CREAD|PARENB|PARODD|HUPCL|CLOCAL|CMSPAR|CRTSCTS, c_lflag=ISIG|ICANON|XCASE|ECHO|ECHOE|ECHOK|ECHONL|NOFLSH|IEXTEN|ECHOCTL|ECHOPRT|ECHOKE|FLUSHO|PENDIN|TOSTOP|EXTPROC|0xfffe2000, ...}) = -1 EBADF (Bad file descriptor)
	socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 6
	setsockopt(6, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 8) = 0
	getsockopt(6, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, [8]) = 0
	getsockopt(6, SOL_SOCKET, SO_TYPE, [1], [4]) = 0
	getsockopt(-1, SOL_SOCKET, SO_TYPE, NULL, [4]) = -1 EBADF (Bad file descriptor)
	setsockopt(6, SOL_SOCKET, SO_BINDTODEVICE, "lo\0", 3) = 0
	setsockopt(6, SOL_TCP, TCP_CONGESTION, "cubic", 5) = 0
	getsockopt(6, SOL_TCP, TCP_CONGESTION, "cubic\0\0\0\0\0\0\0\0\0\0\0", [16]) = 0
	setsockopt(-1, SOL_IP, IP_ADD_MEMBERSHIP, {imr_multiaddr=inet_addr("224.0.0.1"), imr_interface=inet_addr("0.0.0.0")}, 8) = -1 EBADF (Bad file descriptor)
	setsockopt(6, SOL_SOCKET, SO_KEEPALIVE, NULL, 0) = -1 EINVAL (Invalid argument)
	timer_create(CLOCK_MONOTONIC, {sigev_signo=SIGUSR1, sigev_notify=SIGEV_SIGNAL}, [0]) = 0
	timer_create(CLOCK_MONOTONIC, {sigev_value={sival_int=7, sival_ptr=0x7}, sigev_signo=10, sigev_notify=SIGEV_NONE}, [1]) = 0
	timer_create(CLOCK_MONOTONIC, NULL, [2]) = 0
	sched_setattr(-1, {size=48, sched_policy=SCHED_OTHER, sched_flags=0, sched_nice=1, sched_priority=0, sched_runtime=0, sched_deadline=0, sched_period=0}, 0) = -1 EINVAL (Invalid argument)
	ioprio_set(IOPRIO_WHO_PROCESS, -1, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 7)) = -1 ESRCH (No such process)
	shmget(IPC_PRIVATE, 100, IPC_CREAT|0600) = N
	shmctl(N, IPC_STAT, {shm_perm={uid=0, gid=0, mode=0600, key=0, cuid=0, cgid=0}, shm_segsz=100, shm_pid=N, shm_pid=N, shm_nattch=0, shm_atime=0, shm_dtime=0, shm_ctime=N}) = 0
	shmctl(N, IPC_SET, {shm_perm={uid=0, gid=0, mode=0600}}) = 0
	shmctl(N, IPC_RMID, NULL) = 0
	prctl(PR_SET_PDEATHSIG, SIGTERM)        = 0
	prctl(PR_GET_PDEATHSIG, [SIGTERM])      = 0
	prctl(PR_SET_NAME, "a name")            = 0
	prctl(PR_GET_NAME, "a name")            = 0
	prctl(PR_SET_DUMPABLE, SUID_DUMP_USER)  = 0
	prctl(PR_GET_DUMPABLE)                  = 1 (SUID_DUMP_USER)
	prctl(PR_SET_KEEPCAPS, 1)               = 0
	prctl(PR_GET_SECUREBITS)                = 0x10 (SECBIT_KEEP_CAPS)
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  = 0
	prctl(PR_SET_CHILD_SUBREAPER, 1)        = 0
	prctl(PR_GET_CHILD_SUBREAPER, [1])      = 0
	socketpair(AF_UNIX, SOCK_DGRAM, 0, [7, 8]) = 0
	pselect6(9, [3 7], [8], NULL, NULL, NULL) = 2 (in [3], out [8])
	pselect6(9, [3 7], NULL, [8], {tv_sec=3, tv_nsec=0}, {sigmask=NULL, sigsetsize=8}) = 1 (in [3], left)
	ppoll([{fd=8, events=POLLOUT}], 1, {tv_sec=3, tv_nsec=0}, NULL, 8) = 1 ([{fd=8, revents=POLLOUT}], left)
	epoll_ctl(-1, EPOLL_CTL_DEL, 3, ADDR) = -1 EBADF (Bad file descriptor)
	wait4(-1, NULL, WNOHANG|WSTOPPED, NULL) = -1 ECHILD (No child processes)
	socketpair(AF_UNIX, SOCK_DGRAM, 0, [9, 10]) = 0
	setsockopt(9, SOL_SOCKET, SO_PASSCRED, [1], 4) = 0
	sendmsg(10, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="hello", iov_len=5}], msg_iovlen=1, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3, 0]}], msg_controllen=24, msg_flags=0}, 0) = 5
	recvmsg(9, {msg_name=ADDR, msg_namelen=110 => 0, msg_iov=[{iov_base="hello", iov_len=5}], msg_iovlen=1, msg_control=[{cmsg_len=28, cmsg_level=SOL_SOCKET, cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=N, uid=0, gid=0}}, {cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[11, 12]}], msg_controllen=56, msg_flags=MSG_CMSG_CLOEXEC}, MSG_CMSG_CLOEXEC) = 5
	recvmsg(9, {msg_namelen=0}, MSG_DONTWAIT) = -1 EAGAIN (Resource temporarily unavailable)
	sendmsg(-1, {msg_name={sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")}, msg_namelen=16, msg_iov=[{iov_base="hello", iov_len=5}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = -1 EBADF (Bad file descriptor)
	write(-1, "\18\0017", 4)                = -1 EBADF (Bad file descriptor)
	exit_group(0)                           = ?
	+++ exited with 0 +++

NAME strace: keys, filters, what futexes do, where clone3 puts ids
RUN
	n() { sed '1,/^write(2, /d; s/0x[4-7][0-9a-f]\{5,\}/ADDR/g; s/=\[[0-9]\{2,\}\]/=[N]/; /^wait4/d; /^--- SIGCHLD/d; s/) *= [0-9]\{2,\}$/) = N/' "$TMPDIR/o"; }
	"$SONDE" strace -q -o "$TMPDIR/o" build/tests/rareargs 2>/dev/null; n
	"$SONDE" strace -v -q -o "$TMPDIR/o" build/tests/rareargs 2>/dev/null; n | grep 'filter=\['
NEEDS prog:rareargs tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	futex(ADDR, FUTEX_WAKE_OP_PRIVATE, 1, 1, ADDR, FUTEX_OP_SET<<28|0<<12|FUTEX_OP_CMP_GT<<24|0x1) = 0
	futex(ADDR, FUTEX_WAKE_OP, 1, 1, ADDR, FUTEX_OP_OPARG_SHIFT<<28|FUTEX_OP_ADD<<28|0x5<<12|FUTEX_OP_CMP_EQ<<24|0xfff) = 0
	futex(ADDR, FUTEX_WAKE_OP, 1, 1, ADDR, 0x7<<28 /* FUTEX_OP_??? */|0x1<<12|0xa<<24 /* FUTEX_OP_CMP_??? */|0x2) = -1 ENOSYS (Function not implemented)
	keyctl(KEYCTL_DESCRIBE, KEY_SPEC_REQUESTOR_KEYRING, NULL, 0) = -1 ENOKEY (Required key not available)
	keyctl(KEYCTL_READ, -9, NULL, 0)        = -1 ENOKEY (Required key not available)
	keyctl(KEYCTL_JOIN_SESSION_KEYRING, 0x8) = -1 EFAULT (Bad address)
	keyctl(KEYCTL_UPDATE, KEY_SPEC_REQUESTOR_KEYRING, "abc", 3) = -1 ENOKEY (Required key not available)
	keyctl(KEYCTL_SETPERM, -9, KEY_POS_VIEW|KEY_POS_READ|KEY_POS_WRITE|KEY_POS_SEARCH|KEY_POS_LINK|KEY_POS_SETATTR|KEY_USR_VIEW) = -1 EINVAL (Invalid argument)
	keyctl(KEYCTL_CHOWN, -9, 0, -1)         = -1 EINVAL (Invalid argument)
	keyctl(KEYCTL_SEARCH, -9, "user", "none", KEY_SPEC_THREAD_KEYRING) = -1 EINVAL (Invalid argument)
	keyctl(KEYCTL_REJECT, -9, 60, EIO, KEY_SPEC_SESSION_KEYRING) = -1 EPERM (Operation not permitted)
	keyctl(KEYCTL_SET_REQKEY_KEYRING, KEY_REQKEY_DEFL_NO_CHANGE) = 0
	keyctl(0x76 /* KEYCTL_??? */, 0x4d, 0x1, 0x2, 0x3) = -1 EOPNOTSUPP (Operation not supported)
	add_key("user", "none", NULL, 0, KEY_SPEC_PROCESS_KEYRING) = -1 EINVAL (Invalid argument)
	add_key("none", "none", "abc", 3, 77)   = -1 ENOKEY (Required key not available)
	request_key("none", "none", NULL, KEY_SPEC_PROCESS_KEYRING) = -1 ENOKEY (Required key not available)
	clone3({flags=CLONE_PIDFD|CLONE_PARENT_SETTID|CLONE_CHILD_SETTID, pidfd=ADDR, child_tid=ADDR, parent_tid=ADDR, exit_signal=SIGCHLD, stack=NULL, stack_size=0} => {pidfd=[3], parent_tid=[N]}, 88) = N
	clone3({flags=CLONE_PIDFD, pidfd=ADDR, exit_signal=SIGCHLD, stack=NULL, stack_size=0} => {pidfd=[4]}, 88) = N
	clone3({flags=0, exit_signal=SIGCHLD, stack=NULL, stack_size=0, set_tid=ADDR, set_tid_size=3000}, 88) = -1 EINVAL (Invalid argument)
	seccomp(SECCOMP_SET_MODE_FILTER, 0x40 /* SECCOMP_FILTER_FLAG_??? */, {len=13, filter=ADDR}) = -1 EINVAL (Invalid argument)
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0x8) = -1 EFAULT (Bad address)
	prctl(PR_SET_SECCOMP, 0x7 /* SECCOMP_MODE_??? */, 0x1, 0x2, 0x3) = -1 EINVAL (Invalid argument)
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  = 0
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=4, filter=ADDR}) = 0
	exit_group(0)                           = ?
	+++ exited with 0 +++
	seccomp(SECCOMP_SET_MODE_FILTER, 0x40 /* SECCOMP_FILTER_FLAG_??? */, {len=13, filter=[BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0), BPF_JUMP(BPF_JMP|BPF_K|BPF_JEQ, 0x1f4, 0, 0x1), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|0x26), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET|BPF_A, SECCOMP_RET_KILL_THREAD), BPF_STMT(BPF_RET|BPF_K, 0x12340000 /* SECCOMP_RET_??? */|0x5678), BPF_STMT(BPF_ALU|BPF_K|BPF_AND, 0xff), BPF_STMT(BPF_MISC|BPF_TAX, 0), BPF_STMT(BPF_ST, 0x3), BPF_STMT(BPF_LDX|BPF_W|BPF_MEM, 0x3), BPF_STMT(BPF_JMP|BPF_K|BPF_JA, 0x1), BPF_JUMP(BPF_JMP|BPF_X|BPF_JSET, 0x1, 0x1, 0x2), BPF_STMT(BPF_MISC|0xf8 /* BPF_??? */|0xff00 /* BPF_??? */, 0)]}) = -1 EINVAL (Invalid argument)
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=4, filter=[BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0), BPF_JUMP(BPF_JMP|BPF_K|BPF_JEQ, 0x1f4, 0, 0x1), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|0x26), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ALLOW)]}) = 0

NAME strace -e read=, -e write=: data in hex below the calls, as strace has it
RUN
	s() { d=$1
	shift
	"$@" -q -o "$TMPDIR/o" -e trace=write,writev,read,preadv,pread64,sendto,recvfrom,sendmsg,recvmsg,readv -e read=all -e write=all build/tests/$p "$TMPDIR/$d" >/dev/null 2>&1
	sed '1,/^ | 00000 .* begin/d; s/0x7[0-9a-f]\{8,\}/ADDR/g; s/pid=[0-9]*/pid=N/g; /^syscall_/d' "$TMPDIR/o"
	}
	for p in manycalls moreargs
	do mkdir "$TMPDIR/a" "$TMPDIR/b"
	s a "$SONDE" strace >"$TMPDIR/ours"
	s b strace >"$TMPDIR/theirs"
	rm -r "$TMPDIR/a" "$TMPDIR/b"
	cmp "$TMPDIR/ours" "$TMPDIR/theirs" && grep -c '^ [*|]' "$TMPDIR/ours"
	done
NEEDS cmd:strace prog:manycalls prog:moreargs tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 60
EXPECT
	12
	4

NAME strace -e read=, -e write=: of these descriptors; -V, an end after some calls
RUN
	printf 'abcdefghijklmnopqrstuvwxyz\1\n' >"$TMPDIR/one"
	s() { "$SONDE" strace -q -e trace=read,write "$@" 2>&1 >/dev/null; }
	s -s 3 -e read=!0,1 -e write=none /usr/bin/cat "$TMPDIR/one" | sed '/ELF/d; /^ | .*7f 45/,/^read/d' | grep -A3 abc |
		sed 's/, [0-9]*)  *=/) =/'
	s -e write=7 /usr/bin/cat "$TMPDIR/one" | grep -c '^ |'
	s -e write=1,2 sh -c 'echo one; echo two >&2' | grep '^ |'
	"$SONDE" strace -e read=x true 2>&1
	"$SONDE" strace --syscall-limit=none true 2>&1
	"$SONDE" strace -ff -o "$TMPDIR/o" -e read=3 true 2>&1
	"$SONDE" strace -V | cut -d' ' -f1
	s --syscall-limit=1 /usr/bin/cat "$TMPDIR/one" | wc -l
NEEDS tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 60
EXPECT
	read(3, "abc"...) = 28
	 | 00000  61 62 63 64 65 66 67 68  69 6a 6b 6c 6d 6e 6f 70  abcdefghijklmnop |
	 | 00010  71 72 73 74 75 76 77 78  79 7a 01 0a              qrstuvwxyz..     |
	write(1, "abc"...) = 28
	read(3, "") = 0
	+++ exited with 0 +++
	0
	 | 00000  6f 6e 65 0a                                       one.             |
	 | 00000  74 77 6f 0a                                       two.             |
	ERROR: 'x' is no number of a descriptor
	ERROR: --syscall-limit none is no number of calls
	ERROR: -e read= and -e write= are for one file, not for those of -ff
	sonde
	1

NAME strace: several messages at once, as strace has them
RUN mkdir "$TMPDIR/d"; "$SONDE" strace -q -o "$TMPDIR/o" build/tests/messages "$TMPDIR/d" 2>/dev/null; sed '1,/^write(2, "begin/d;s/0x7[0-9a-f]\{8,\}/ADDR/g;s/left {[^}]*}/left/' "$TMPDIR/o"
NEEDS prog:messages tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="first", iov_len=5}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=5}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="second, ", iov_len=8}, {iov_base="in two", iov_len=6}], msg_iovlen=2, msg_controllen=0, msg_flags=0}, msg_len=14}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=NULL, msg_iovlen=0, msg_controllen=0, msg_flags=0}, msg_len=0}], 3, MSG_DONTWAIT) = 3
	sendmmsg(-1, [{msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="first", iov_len=5}], msg_iovlen=1, msg_controllen=0, msg_flags=0}}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="second, ", iov_len=8}, {iov_base="in two", iov_len=6}], msg_iovlen=2, msg_controllen=0, msg_flags=0}}], 2, 0) = -1 EBADF (Bad file descriptor)
	sendmmsg(-1, NULL, 2, 0)                = -1 EBADF (Bad file descriptor)
	sendmmsg(-1, 0x8, 2, 0)                 = -1 EBADF (Bad file descriptor)
	sendmmsg(3, [], 0, 0)                   = 0
	recvmmsg(4, [{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="first", iov_len=64}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=5}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="one"}, msg_namelen=110 => 6, msg_iov=[{iov_base="seco", iov_len=4}, {iov_base="nd, in two", iov_len=64}], msg_iovlen=2, msg_controllen=0, msg_flags=0}, msg_len=14}], 2, MSG_DONTWAIT, {tv_sec=60, tv_nsec=0}) = 2 (left)
	recvmmsg(4, [{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="", iov_len=64}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=0}], 2, MSG_DONTWAIT, NULL) = 1
	recvmmsg(4, ADDR, 2, MSG_DONTWAIT, NULL) = -1 EAGAIN (Resource temporarily unavailable)
	recvmmsg(-1, ADDR, 2, 0, {tv_sec=60, tv_nsec=0}) = -1 EBADF (Bad file descriptor)
	sendmsg(3, {msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="first", iov_len=5}, {iov_base="second, ", iov_len=8}, {iov_base="in two", iov_len=6}], msg_iovlen=3, msg_controllen=0, msg_flags=0}, 0) = 19
	recvmsg(4, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="firstsecond, in two", iov_len=64}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = 19
	sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="a", iov_len=1}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=1}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="ab", iov_len=2}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=2}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="abc", iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}, {msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="two"}, msg_namelen=6, msg_iov=[{iov_base="abcd", iov_len=4}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=4}, ...], 6, MSG_DONTWAIT) = 6
	exit_group(0)                           = ?
	+++ exited with 0 +++

NAME strace: rules of landlock, rings of io_uring
RUN
	"$SONDE" strace -q -o "$TMPDIR/o" build/tests/rules 2>/dev/null
	sed '1,/^write(2, "begin/d;/^exit/d;/^+++/d;s/0x7[0-9a-f]\{8,\}/ADDR/g;s/features=IORING_FEAT_[^,]*/features/;/^io_uring_setup/s/=[0-9][0-9]*\([,}]\)/=N\1/g;s/) *= [^=]*$/)/' "$TMPDIR/o"
NEEDS prog:rules tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	landlock_create_ruleset(ADDR, 0, 0x8 /* LANDLOCK_CREATE_RULESET_??? */)
	landlock_create_ruleset({handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_WRITE_FILE|LANDLOCK_ACCESS_FS_READ_FILE|LANDLOCK_ACCESS_FS_READ_DIR|LANDLOCK_ACCESS_FS_REMOVE_DIR|LANDLOCK_ACCESS_FS_REMOVE_FILE|LANDLOCK_ACCESS_FS_MAKE_CHAR|LANDLOCK_ACCESS_FS_MAKE_DIR|LANDLOCK_ACCESS_FS_MAKE_REG|LANDLOCK_ACCESS_FS_MAKE_SOCK|LANDLOCK_ACCESS_FS_MAKE_FIFO|LANDLOCK_ACCESS_FS_MAKE_BLOCK|LANDLOCK_ACCESS_FS_MAKE_SYM|LANDLOCK_ACCESS_FS_REFER}, 8, 0x8 /* LANDLOCK_CREATE_RULESET_??? */)
	landlock_create_ruleset({handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_WRITE_FILE|LANDLOCK_ACCESS_FS_READ_FILE|LANDLOCK_ACCESS_FS_READ_DIR|LANDLOCK_ACCESS_FS_REMOVE_DIR|LANDLOCK_ACCESS_FS_REMOVE_FILE|LANDLOCK_ACCESS_FS_MAKE_CHAR|LANDLOCK_ACCESS_FS_MAKE_DIR|LANDLOCK_ACCESS_FS_MAKE_REG|LANDLOCK_ACCESS_FS_MAKE_SOCK|LANDLOCK_ACCESS_FS_MAKE_FIFO|LANDLOCK_ACCESS_FS_MAKE_BLOCK|LANDLOCK_ACCESS_FS_MAKE_SYM|LANDLOCK_ACCESS_FS_REFER, handled_access_net=LANDLOCK_ACCESS_NET_BIND_TCP|LANDLOCK_ACCESS_NET_CONNECT_TCP}, 16, 0x8 /* LANDLOCK_CREATE_RULESET_??? */)
	landlock_create_ruleset({handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_WRITE_FILE|LANDLOCK_ACCESS_FS_READ_FILE|LANDLOCK_ACCESS_FS_READ_DIR|LANDLOCK_ACCESS_FS_REMOVE_DIR|LANDLOCK_ACCESS_FS_REMOVE_FILE|LANDLOCK_ACCESS_FS_MAKE_CHAR|LANDLOCK_ACCESS_FS_MAKE_DIR|LANDLOCK_ACCESS_FS_MAKE_REG|LANDLOCK_ACCESS_FS_MAKE_SOCK|LANDLOCK_ACCESS_FS_MAKE_FIFO|LANDLOCK_ACCESS_FS_MAKE_BLOCK|LANDLOCK_ACCESS_FS_MAKE_SYM|LANDLOCK_ACCESS_FS_REFER, handled_access_net=LANDLOCK_ACCESS_NET_BIND_TCP|LANDLOCK_ACCESS_NET_CONNECT_TCP, scoped=LANDLOCK_SCOPE_SIGNAL}, 24, 0x8 /* LANDLOCK_CREATE_RULESET_??? */)
	landlock_create_ruleset({handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_WRITE_FILE|LANDLOCK_ACCESS_FS_READ_FILE|LANDLOCK_ACCESS_FS_READ_DIR|LANDLOCK_ACCESS_FS_REMOVE_DIR|LANDLOCK_ACCESS_FS_REMOVE_FILE|LANDLOCK_ACCESS_FS_MAKE_CHAR|LANDLOCK_ACCESS_FS_MAKE_DIR|LANDLOCK_ACCESS_FS_MAKE_REG|LANDLOCK_ACCESS_FS_MAKE_SOCK|LANDLOCK_ACCESS_FS_MAKE_FIFO|LANDLOCK_ACCESS_FS_MAKE_BLOCK|LANDLOCK_ACCESS_FS_MAKE_SYM|LANDLOCK_ACCESS_FS_REFER, handled_access_net=LANDLOCK_ACCESS_NET_BIND_TCP|LANDLOCK_ACCESS_NET_CONNECT_TCP, scoped=LANDLOCK_SCOPE_SIGNAL, ...}, 32, 0x8 /* LANDLOCK_CREATE_RULESET_??? */)
	landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)
	landlock_create_ruleset(0x8, 8, 0)
	landlock_add_rule(-1, LANDLOCK_RULE_PATH_BENEATH, {allowed_access=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_READ_FILE, parent_fd=3}, 0)
	landlock_add_rule(-1, LANDLOCK_RULE_NET_PORT, {allowed_access=LANDLOCK_ACCESS_NET_CONNECT_TCP, port=80}, 0)
	landlock_add_rule(-1, LANDLOCK_RULE_PATH_BENEATH, NULL, 0)
	landlock_add_rule(-1, 0x7 /* LANDLOCK_RULE_??? */, ADDR, 0)
	landlock_restrict_self(-1, 0)
	io_uring_setup(4, {flags=N, sq_thread_cpu=N, sq_thread_idle=N, sq_entries=N, cq_entries=N, features, sq_off={head=N, tail=N, ring_mask=N, ring_entries=N, flags=N, dropped=N, array=N}, cq_off={head=N, tail=N, ring_mask=N, ring_entries=N, overflow=N, cqes=N, flags=N}})
	io_uring_setup(0, {flags=IORING_SETUP_CQSIZE|IORING_SETUP_ATTACH_WQ, sq_thread_cpu=N, sq_thread_idle=N, wq_fd=N})
	io_uring_setup(4, NULL)
	io_uring_enter(-1, 0, 0, IORING_ENTER_GETEVENTS, [USR1], 8)
	io_uring_enter(-1, 1, 0, 0, NULL, 8)

NAME strace: requests of ioctl, and protocols of netlink, by their names
RUN "$SONDE" strace -q -o "$TMPDIR/o" -e trace=ioctl,socket build/tests/ioctls 2>/dev/null; sed -E 's/^(socket.*\)) *= .*/\1/' "$TMPDIR/o"
NEEDS prog:ioctls tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	ioctl(-1, BLKFLSBUF)                    = -1 EBADF (Bad file descriptor)
	ioctl(-1, BLKRASET, 4660)               = -1 EBADF (Bad file descriptor)
	ioctl(-1, PERF_EVENT_IOC_SET_OUTPUT, 4660) = -1 EBADF (Bad file descriptor)
	ioctl(-1, PERF_EVENT_IOC_SET_BPF, 4660) = -1 EBADF (Bad file descriptor)
	ioctl(-1, EVIOCGRAB, 4660)              = -1 EBADF (Bad file descriptor)
	ioctl(-1, RNDRESEEDCRNG)                = -1 EBADF (Bad file descriptor)
	ioctl(-1, RTC_UIE_ON)                   = -1 EBADF (Bad file descriptor)
	ioctl(-1, RTC_IRQP_SET, 4660)           = -1 EBADF (Bad file descriptor)
	ioctl(-1, WDIOC_KEEPALIVE)              = -1 EBADF (Bad file descriptor)
	ioctl(-1, UFFDIO_API, 0x1234)           = -1 EBADF (Bad file descriptor)
	ioctl(-1, BTRFS_IOC_SYNC)               = -1 EBADF (Bad file descriptor)
	ioctl(-1, NBD_SET_SOCK, 4660)           = -1 EBADF (Bad file descriptor)
	ioctl(-1, NBD_DISCONNECT)               = -1 EBADF (Bad file descriptor)
	ioctl(-1, KVM_CREATE_VM, 0x1234)        = -1 EBADF (Bad file descriptor)
	ioctl(-1, KVM_CREATE_VCPU, 4660)        = -1 EBADF (Bad file descriptor)
	ioctl(-1, KVM_RUN, 0x1234)              = -1 EBADF (Bad file descriptor)
	ioctl(-1, NS_GET_USERNS)                = -1 EBADF (Bad file descriptor)
	ioctl(-1, FIFREEZE)                     = -1 EBADF (Bad file descriptor)
	ioctl(-1, FIONCLEX)                     = -1 EBADF (Bad file descriptor)
	ioctl(-1, _IOC(_IOC_READ|_IOC_WRITE, 0xbe, 0xef, 0x1ead), 0x1234) = -1 EBADF (Bad file descriptor)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_UNUSED)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_NFLOG)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_XFRM)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_NETFILTER)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_GENERIC)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_RDMA)
	socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, 0x4d /* NETLINK_??? */)
	+++ exited with 0 +++

NAME strace: the same names and results as strace has, for ten programs
RUN
	cd "$TMPDIR"
	tab=$(printf '\t')
	for c in true 'ls /usr' 'cat /etc/passwd' 'sort /etc/passwd' date id 'uname -a' 'sleep 0' 'echo hi' 'mkdir d' 'rmdir d'
	do strace -o a $c >/dev/null 2>&1
	[ "$c" = 'mkdir d' ] && rmdir d
	[ "$c" = 'rmdir d' ] && mkdir d
	"$SONDE" strace -q -o b $c >/dev/null 2>&1
	for f in a b
	do sed -E 's/ \(SCHED_[A-Z]+\)$//; s/^([a-z0-9_]+)\(.*= (-?[0-9]+|\?)( [A-Z]+.*)?$/\1 \2\3/; s/^([a-z0-9_]+)\(.*= 0x.*/\1/; s/^(set_tid_address|getpid) .*/\1/' $f >$f.n
	done
	if cmp -s a.n b.n
	then echo "$c: the same"
	else echo "$c:"
	diff a.n b.n | head -n 5
	fi
	done
NEEDS cmd:strace tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 60
EXPECT
	true: the same
	ls /usr: the same
	cat /etc/passwd: the same
	sort /etc/passwd: the same
	date: the same
	id: the same
	uname -a: the same
	sleep 0: the same
	echo hi: the same
	mkdir d: the same
	rmdir d: the same

NAME strace: the same lines as strace has, for 47 programs and their children
RUN python3 tests/kernel/calls.py "$SONDE" | sed 's/^[1-9][0-9] programs/many programs/'
NEEDS fast slow cmd:strace cmd:setarch cmd:python3 tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 300
EXPECT
	many programs: the same

NAME strace: the same lines as strace has, for calls of each kind, most of which fail
RUN python3 -I tests/kernel/eachcall.py "$SONDE" build/tests/eachcall
NEEDS cmd:strace cmd:setarch cmd:python3 prog:eachcall tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 120
EXPECT
	many calls: the same

NAME strace: what a handler returns by, though its number is gone then; also counted
RUN s() { "$SONDE" strace -q -e rt_sigreturn "$@" sh -c 'trap : USR1; kill -USR1 $$' 2>&1; }; s -e signal=none; s -c --fields syscall,calls
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	rt_sigreturn()                          = 0
	+++ exited with 0 +++
	syscall              calls
	---------------- ---------
	rt_sigreturn             1
	---------------- ---------
	total                    1

NAME strace: sets of calls, results, lengths of texts, JSON
RUN
	s() { "$SONDE" strace -q -o "$TMPDIR/o" "$@" >/dev/null 2>&1
	rc=$?
	cat "$TMPDIR/o"
	return $rc
	}
	s -e openat -Z cat /nope | grep -m 1 nope
	s -z -e trace=%file cat /nope | grep -c 'openat.*nope'
	s -s 3 -e write echo hello | grep write
	s -e '!%memory,%file,%desc' -e signal=none true | cut -d'(' -f1 | sort -u | head -n 3
	"$SONDE" strace -q -j -e write echo hello | grep '"write"' | sed 's/: [0-9]*}/: N}/; s/"duration_ns": [0-9]*/N/'
	"$SONDE" strace -e nope true 2>/dev/null
	echo $?
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	openat(AT_FDCWD, "/nope", O_RDONLY)     = -1 ENOENT (No such file or directory)
	0
	write(1, "hel"..., 6)                   = 6
	+++ exited with 0 +++
	arch_prctl
	exit_group
	{"type": "event", "table": "calls", "syscall": "write", "ret": 6, N, "call": "write(1, \"hello\\n\", 6)                  = 6"}
	1

NAME strace: a command behind --, and one without
RUN for words in "" -- "-T --" -T; do "$SONDE" strace -q -e exit_group $words true 2>&1; done
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	exit_group(0)                           = ?
	+++ exited with 0 +++
	exit_group(0)                           = ?
	+++ exited with 0 +++
	exit_group(0)                           = ?
	+++ exited with 0 +++
	exit_group(0)                           = ?
	+++ exited with 0 +++

NAME strace: a command of many words
RUN "$SONDE" strace -q -s 3 -e execve,exit_group /bin/echo $(seq 1000) 2>&1 >/dev/null | sed 's/0x[0-9a-f]*\( .* vars \*\/\)\{0,1\})/ENV)/'
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	execve("/bin/echo", ["/bi"..., "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", ...], ENV) = 0
	exit_group(0)                           = ?
	+++ exited with 0 +++

NAME strace: the summary is laid out as strace does
RUN
	normal() { sed 's/[0-9]*\.[0-9]*/T/g; s/0x[0-9a-f]*/ADDR/g; s/  */ /g; s/ [0-9][0-9]*/ N/g; s/^ //; s/^[0-9][0-9]*/N/; s/ *$//'; }
	to() { o="$TMPDIR/$1"; shift; "$@" -o "$o.raw" /usr/bin/cat /gone 2>/dev/null; normal <"$o.raw" >"$o"; }
	both() { to theirs strace "$@"; to ours "$SONDE" strace -q "$@"; cmp "$TMPDIR/theirs" "$TMPDIR/ours" && wc -l <"$TMPDIR/ours"; }
	e=trace=execve,openat,access; all=name,time-percent,total-time,avg-time,min-time,max-time,calls,errors
	both -c -e $e -S name
	both -C -e trace=execve -S calls
	both -c -e $e -U calls,name,errors -S name
	both -C -e trace=access,execve -U $all -S name
	both -c -e trace=reboot
	both -c -e $e -U name,min-time,max-time -S name
NEEDS slow cmd:strace prog:syscalls tp:raw_syscalls/sys_exit btf
TIMEOUT 60
EXPECT
	7
	7
	7
	9
	0
	7

NAME strace: columns and order of the summary
RUN
	s() { "$SONDE" strace -q -c -e getppid,execve "$@" build/tests/syscalls 1000 getppid 2>&1; }
	s -S calls >"$TMPDIR/o"
	head -n 2 "$TMPDIR/o"
	awk 'NR > 2 { print length($0) - length($NF), $4, $NF }' "$TMPDIR/o"
	"$SONDE" strace -qce access /usr/bin/cat /dev/null 2>&1 | awk '$NF == "access" { print $(NF - 1), $(NF - 2) }'
	s -S largest; s -U name,max-time,calls -S calls | sed 's/ [0-9]\.[0-9]\{6\} / S.SSSSSS /'
	"$SONDE" strace -q -c --fields summary.calls,errors -e getppid build/tests/syscalls 1000 getppid 2>&1; "$SONDE" strace --fields summary.ret true 2>&1
	"$SONDE" strace -ff -c -o /tmp/x true 2>&1
	"$SONDE" strace -qcj -e getppid,access -S name build/tests/syscalls 1000 getppid |
		sed -n 's/\(_ratio": \|_ns": \)[0-9.]*/\1N/g; /row/p'
	"$SONDE" strace -qc --csv -e getppid build/tests/syscalls 1000 getppid | sed 's/,[0-9]*,[0-9]*,/,N,N,/'
NEEDS prog:syscalls tp:raw_syscalls/sys_exit btf
TIMEOUT 60
EXPECT
	% time     seconds  usecs/call     calls    errors syscall
	------ ----------- ----------- --------- --------- ----------------
	51 1000 getppid
	51 1 execve
	51 --------- ----------------
	51 1001 total
	1 1
	ERROR: -S largest is not known: name, time-percent, time-total, time-avg, time-min, time-max, calls, errors
	syscall           longest     calls
	---------------- -------- ---------
	getppid          S.SSSSSS      1000
	execve           S.SSSSSS         1
	---------------- -------- ---------
	total            S.SSSSSS      1001
	    calls    errors
	--------- ---------
	     1000          
	--------- ---------
	     1000          
	ERROR: --fields: no column 'summary.ret' (columns: pid when since nr ip syscall ret error duration_ns ustack call syscall calls avg_ns total_ns time_ratio errors min_ns max_ns)
	ERROR: -ff is a file for each process, -c and -C are one summary
	{"type": "row", "table": "summary", "time_ratio": N, "total_ns": N, "avg_ns": N, "calls": 1000, "syscall": "getppid"}
	time_ratio,total_ns,avg_ns,calls,errors,syscall
	1.0000,N,N,1000,,getppid

NAME strace: calls of a path, and of what it opened
RUN
	echo text >"$TMPDIR/one"
	"$SONDE" strace -q -o "$TMPDIR/o" -P "$TMPDIR/one" -P /gone /usr/bin/cat /gone /etc/passwd "$TMPDIR/one" >/dev/null 2>&1
	grep -v stat "$TMPDIR/o" | sed "s,$TMPDIR,D,; s/(.*one.*= [0-9]*$/(D one)/; s/([3-9], .*/(N)/; s/([3-9])/(N)/" |
		grep -v fadvise
	"$SONDE" strace -q -P "$TMPDIR/one" -e read sh -c 'exec 5<"$0"; read -r line <&5; read -r line' "$TMPDIR/one" 2>&1 </dev/null |
		grep -c '^read(0, ' | sed 's/^[1-9][0-9]*$/some/'
	"$SONDE" strace -q -c -P "$TMPDIR/one" --fields syscall,calls -e openat /usr/bin/cat "$TMPDIR/one" /etc/passwd 2>&1 |
		grep openat
NEEDS tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 30
EXPECT
	openat(AT_FDCWD, "/gone", O_RDONLY)     = -1 ENOENT (No such file or directory)
	openat(D one)
	read(N)
	read(N)
	close(N)                                = 0
	+++ exited with 1 +++
	some
	openat                   1

NAME strace -v: structures as strace has them
RUN
	cd "$TMPDIR"; echo text >one; cat one >/dev/null
	both() { "$@" -v -o out -e fstat,newfstatat /usr/bin/cat one >/dev/null 2>&1; grep 'st_size=5,' out; "$@" -v -o out -e uname /usr/bin/uname >/dev/null 2>&1; grep ^uname out; }
	both strace >theirs; both "$SONDE" strace -q >ours; cmp theirs ours && wc -l <ours
NEEDS slow cmd:strace tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	2

NAME strace: children, signals, times, an end by a signal
RUN
	"$SONDE" strace -q -o "$TMPDIR/o" -f -e %process sh -c '/bin/true; (exit 3); kill -9 $$' 2>/dev/null
	sed -E 's/[0-9]{3,}/N/g; s/0x[0-9a-fN]+/ADDR/g; s/^\[pid +/[pid /' "$TMPDIR/o" |
		grep -oE 'execve\("/bin/true"|exit_group\(3\)|exited with 3|SIGCHLD.*si_status=3|killed by SIGKILL|WEXITSTATUS\(s\) == 3' |
		LC_ALL=C sort
	"$SONDE" strace -q -tt -T -e clock_nanosleep sleep 0.01 2>&1 |
		grep -cE '^[0-2][0-9]:[0-9:]{5}\.[0-9]{6} clock_nanosleep\(.* = 0 <0\.[0-9]{6}>$'
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=N, si_uid=0, si_status=3
	WEXITSTATUS(s) == 3
	execve("/bin/true"
	exit_group(3)
	exited with 3
	killed by SIGKILL
	1

NAME strace: a summary with exact counts
RUN
	"$SONDE" strace -q -c --fields syscall,calls build/tests/syscalls 1000 getppid 2>&1 | grep -E 'syscall|getppid'
	"$SONDE" strace -qc --fields syscall,calls,errors -e openat cat /nope 2>&1 |
		awk '/^openat/ && $3 > 0 { print $1, "failed" }'
NEEDS prog:syscalls tp:raw_syscalls/sys_exit
EXPECT
	syscall              calls
	getppid               1000
	openat failed

NAME strace: a process that runs already, whose call was under way
RUN
	sleep 60 & p=$!
	until_named $p sleep
	"$SONDE" strace -p $p -o "$TMPDIR/o" 2>"$TMPDIR/err" & t=$!
	eventually grep -q Tracing "$TMPDIR/err"
	kill $p
	wait $t
	grep -cE 'killed by SIGTERM' "$TMPDIR/o"
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	1

NAME strace: a process and a command at once
RUN
	sleep 60 & p=$!; until_named $p sleep
	"$SONDE" strace -p $p -o "$TMPDIR/o" -e execve,kill,exit_group -- /bin/sh -c "kill $p; exit 3" 2>"$TMPDIR/err"; echo $?
	sed -n 's/^\[pid  *[0-9]*\] //; s/kill([0-9]*/kill(N/; s/execve(\("[^"]*"\).*/execve(\1)/; s/  *=/ =/; p' "$TMPDIR/o" | sort; grep -c Tracing "$TMPDIR/err"
	sleep 60 & p=$!; until_named $p sleep
	"$SONDE" strace -p $p -q -f -c -e kill --fields calls,syscall /bin/sh -c "kill $p" 2>&1 | grep ' kill'
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	3
	+++ exited with 3 +++
	+++ killed by SIGTERM +++
	execve("/bin/sh")
	exit_group(3) = ?
	kill(N, SIGTERM) = 0
	1
	        1 kill

NAME strace: the functions by themselves
RUN
	"$SONDE" -q -c "/bin/echo hello" -e 'table t bare { tid "TID" if false; call call; } table u bare { a; b data; }
		BEGIN { emit(u, b = 1); }
		rawtracepoint:sys_enter /pid == cpid && syscall_in(args.id, "write,%signal,exit_group")/ { emit(t, call = syscall_enter(args.regs, args.id, 4)); }
		rawtracepoint:sys_exit /pid == cpid && args.ret == 6/ { emit(t, call = syscall_exit(args.regs, args.ret, 4)); }
		rawtracepoint:signal_deliver /pid == cpid/ { emit(t, call = syscall_signal(args.info)); }
		tracepoint:sched:sched_process_exit /pid == cpid/ { emit(t, call = syscall_ended(curtask.exit_code)); emit(t, call = syscall_ended(curtask.exit_code, 0)); }' |
		grep -v '^hello$' | grep .
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	write(1, "hell"..., 6)                  = 6
	exit_group(0)                           = ?
	+++ exited with 0 +++
	+++ exited with 0 +++

NAME strace: calls of a script with their data in hex
RUN
	printf 'in and out\n' >"$TMPDIR/f"
	"$SONDE" -q -c "/usr/bin/cat $TMPDIR/f" -e 'table t bare { call call; }
		rawtracepoint:sys_enter /pid == cpid && syscall_in(args.id, "write")/ { emit(t, call = syscall_enter(args.regs, args.id, 4, 0, "none", "none", 1)); }
		rawtracepoint:sys_exit /pid == cpid && syscall_in(args.regs.orig_ax, "read,write")/ { emit(t, call = syscall_exit(args.regs, args.ret, 4, 0, "none", "none", args.ret == 11)); }' 2>/dev/null |
		sed -n '/"in a/,$p' | grep -v -e exited -e '^in and out'
NEEDS file:/usr/bin/cat tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	read(3, "in a"..., 131072)              = 11
	 | 00000  69 6e 20 61 6e 64 20 6f  75 74 0a                 in and out.      |
	write(1, "in a"..., 11)                 = 11
	 | 00000  69 6e 20 61 6e 64 20 6f  75 74 0a                 in and out.      |
	read(3, "", 131072)                     = 0

NAME strace: sets of calls that are shown as numbers, and without their structures
RUN
	shown() { mkdir "$TMPDIR/$1"
	"$SONDE" -q -c "build/tests/manycalls $TMPDIR/$1" -e "table t bare { call call; } $2" 2>/dev/null |
		sed -n 's/0x7[0-9a-f]*/ADDR/g; /^umask\|^kill\|^clock_nano\|^fallocate/p'
	}
	shown 1 'rawtracepoint:sys_enter /pid == cpid/ { emit(t, call = syscall_enter(args.regs, args.id, 4, 0, "umask")); } rawtracepoint:sys_exit /pid == cpid/ { emit(t, call = syscall_exit(args.regs, args.ret, 4, 0, "umask,fallocate")); }'
	shown 2 'rawtracepoint:sys_enter /pid == cpid/ { emit(t, call = syscall_enter(args.regs, args.id, 4, 0, "none", "kill")); } rawtracepoint:sys_exit /pid == cpid/ { emit(t, call = syscall_exit(args.regs, args.ret, 4, 0, "none", "!kill")); }'
	"$SONDE" -e 'BEGIN { $x = syscall_enter(1, 1, 1, 0, "nope"); }' 2>&1 | head -n 1; "$SONDE" -e 'BEGIN { $x = syscall_exit(1, 1, 1, 0, "none", "nope"); }' 2>&1 | head -n 1
NEEDS prog:manycalls tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	umask(0x12)                             = 0x12
	clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=1000}, NULL) = 0
	kill(0, 0)                              = 0
	fallocate(0xffffffff, 0x3, 0, 0x1000)   = -1 EBADF (Bad file descriptor)
	umask(022)                              = 022
	clock_nanosleep(CLOCK_MONOTONIC, 0, ADDR, NULL) = 0
	kill(0, 0)                              = 0
	fallocate(-1, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 4096) = -1 EBADF (Bad file descriptor)
	stdin:1:40-46: ERROR: there is no system call 'nope'
	stdin:1:47-53: ERROR: there is no system call 'nope'

NAME strace: how long, only when asked; mistakes
RUN
	"$SONDE" -q -c /bin/true -e 'table t bare { call call; } rawtracepoint:sys_enter /pid == cpid/ { emit(t, call = syscall_enter(args.regs, args.id, 4, 2)); } rawtracepoint:sys_exit /pid == cpid/ { emit(t, call = syscall_exit(args.regs, args.ret, 4, 3)); }' |
		grep -m 1 -oE '^brk.*> *$' | sed 's/0x[0-9a-f]*/A/; s/[0-9]\.[0-9]*/N/'
	"$SONDE" -e 'BEGIN { print(syscall_in(1, "nope")); }' 2>&1 | head -n 1
	"$SONDE" -e 'BEGIN { $x = syscall_enter(1, 1, 5000); }' 2>&1 | head -n 1
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	brk(NULL)                               = A <N>
	stdin:1:29-35: ERROR: there is no system call 'nope'
	stdin:1:34-38: ERROR: texts may be 0 to 4095 bytes long

NAME strace: to standard error, JSON to standard output
RUN "$SONDE" strace -q -e write true 2>"$TMPDIR/err" | wc -c; grep -c exited "$TMPDIR/err"; "$SONDE" strace -q -j -e write true 2>"$TMPDIR/err" | grep -c exited; wc -c <"$TMPDIR/err"
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	0
	1
	1
	0

NAME strace -y: paths of descriptors, as strace writes them
RUN
	d=$PWD
	cd "$TMPDIR" && echo x >"a b" && ln -s "a b" link && for t in "$SONDE strace -q" strace
	do $t -y -o o -e openat,read,close /bin/cat link >/dev/null && sed -n "/link/,\$s|$TMPDIR||gp" o |
		sed 's/, [0-9]*) =/, N) =/'
	done | sort | uniq -c | awk '{ $1 = $1 } 1'
NEEDS tp:raw_syscalls/sys_exit btf x86_64 cmd:strace
EXPECT
	2 close(3</a b>) = 0
	2 openat(AT_FDCWD<>, "link", O_RDONLY) = 3</a b>
	2 read(3</a b>, "", N) = 0
	2 read(3</a b>, "x\n", N) = 2

NAME strace -yy: pipes, sockets, devices, deleted files: as strace writes them
RUN
	for t in "$SONDE strace -q" strace
	do $t -yy -o "$TMPDIR/o" build/tests/descriptors "$TMPDIR/gone" && sed -n '/ftruncate/,$p' "$TMPDIR/o" |
		grep '^fsync' |
		sed "s|$TMPDIR||; "'s/\[[0-9]*->[0-9]*\]/[A->B]/; s/\[[0-9]*\]/[A]/; s/:[0-9]\{4,\}/:P/g; s/  *=/ =/'
	done | sort | uniq -c | awk '{ $1 = $1 } 1'
NEEDS fast tp:raw_syscalls/sys_exit btf x86_64 cmd:strace prog:descriptors
EXPECT
	2 fsync(10<anon_inode:[eventpoll]>) = -1 EINVAL (Invalid argument)
	2 fsync(11<UNIX-STREAM:[A->B]>) = -1 EINVAL (Invalid argument)
	2 fsync(13<pipe:[A]>) = -1 EINVAL (Invalid argument)
	2 fsync(15<TCP:[A]>) = -1 EINVAL (Invalid argument)
	2 fsync(3<UDP:[A]>) = -1 EINVAL (Invalid argument)
	2 fsync(5<TCP:[127.0.0.1:P->127.0.0.1:P]>) = -1 EINVAL (Invalid argument)
	2 fsync(6</dev/null<char 1:3>>) = -1 EINVAL (Invalid argument)
	2 fsync(7</>) = 0
	2 fsync(8</gone>(deleted)) = 0
	2 fsync(9</memfd:mine>(deleted)) = 0

NAME strace: hex, numbers of calls, where, since the call before
RUN
	s() { "$SONDE" strace -q -e write "$@" echo hi 2>&1 >/dev/null | grep write
	}
	s -xx | grep -c 'write(1, "\\x68\\x69\\x0a", 3)'
	s -x | grep -c '"hi\\n"'
	s -n | grep -c '^\[   1\] write'
	s -i | grep -cE '^\[0000[0-9a-f]{12}\] write'
	s -r | grep -cE '^     0\.0[0-9]{5} write'
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	1
	1
	1
	1
	1

NAME strace --split: a call that another thread's come between stands in two lines
RUN
	"$SONDE" strace -q --split -f -e read,write,clock_nanosleep sh -c '/bin/sleep 1 | /bin/cat' 2>&1 |
		sed -n 's/^\[pid *[0-9]*\] //; /^read(0.*unfinished/p; s/^\(<... read resumed>""\), [0-9]*) *= 0/\1/p' | sort -u
NEEDS tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	<... read resumed>""
	read(0,  <unfinished ...>

NAME strace: names of socket options and flags, in strace's order
RUN "$SONDE" strace -q -e setsockopt -e signal=none python3 -c 'import socket as s
	n = s.socket(s.AF_NETLINK, s.SOCK_RAW); t = s.socket(s.AF_INET6)
	n.setsockopt(270, 11, 1); t.setsockopt(41, 26, 1); t.setsockopt(6, 30, 1); t.setsockopt(1, 46, 0)' 2>&1 | sed 's/([0-9]*,/(N,/'
NEEDS fast cmd:python3 tp:raw_syscalls/sys_exit btf
EXPECT
	setsockopt(N, SOL_NETLINK, NETLINK_EXT_ACK, [1], 4) = 0
	setsockopt(N, SOL_IPV6, IPV6_V6ONLY, [1], 4) = 0
	setsockopt(N, SOL_TCP, TCP_FASTOPEN_CONNECT, [1], 4) = 0
	setsockopt(N, SOL_SOCKET, SO_BUSY_POLL, [0], 4) = 0
	+++ exited with 0 +++

NAME strace: what a connection failed with, nobody's credentials, a flag of old signals
RUN "$SONDE" strace -q -e getsockopt,rt_sigaction -e signal=none python3 -c 'import ctypes, select, socket as s
	t = s.socket(); t.setblocking(0); t.connect_ex(("127.0.0.1", 1)); select.select([], [t], [], 5)
	for i in 4, 4, 17: t.getsockopt(1, i, 12)
	ctypes.CDLL(None).sysv_signal(10, 1)' 2>&1 | sed -n 's/([0-9]*,/(N,/; /SOL_SOCKET/p; s/, sa_restorer.*//; /INTERRUPT/p'
NEEDS cmd:python3 tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	getsockopt(N, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [12 => 4]) = 0
	getsockopt(N, SOL_SOCKET, SO_ERROR, [0], [12 => 4]) = 0
	getsockopt(N, SOL_SOCKET, SO_PEERCRED, {pid=0, uid=-1, gid=-1}, [12]) = 0
	rt_sigaction(SIGUSR1, {sa_handler=SIG_IGN, sa_mask=[], sa_flags=SA_RESTORER|SA_INTERRUPT|SA_NODEFER|SA_RESETHAND|0xffffffff00000000

NAME strace: strace's options, also by their long names
RUN
	n=build/tests/syscalls
	"$SONDE" strace -q -e '/^get+ppid$' -a 20 $n 1 getppid 2>&1 | sed 's/= [0-9]*$/= N/'
	"$SONDE" strace --quiet --trace=getppid --status=successful --columns=0 -DD -I 2 -b execve --seccomp-bpf -O 1us --summary-wall-clock $n 1 getppid 2>&1 | sed 's/= [0-9]*$/= N/'
	"$SONDE" strace -q -f -Y -e quiet=all -e trace=getppid $n 1 getppid 2>&1 | sed 's/[0-9][0-9]*/N/g; s/  */ /g'
	"$SONDE" strace -q --summary-only --summary-sort-by=calls --summary-columns=name,calls --trace=getppid $n 7 getppid 2>&1
	A=x "$SONDE" strace -q -E B=c -E A -e trace=none sh -c 'echo "$A$B"' 2>&1
	sleep 60 & a=$!; sleep 60 & b=$!; "$SONDE" strace -p " $a
	$b " 2>"$TMPDIR/e" & s=$!; until_written "$TMPDIR/e"; kill $a $b; wait $s; grep -c killed "$TMPDIR/e"
	for o in '-e /(' '-a x' '-e foo=open' '-e read=x' '-X no' '-e raw=nope' '-e quiet=exit,no' '-e abbrev=open'; do "$SONDE" strace $o true 2>&1; done
NEEDS prog:syscalls tp:raw_syscalls/sys_exit btf
TIMEOUT 30
RC 1
EXPECT
	getppid()           = N
	+++ exited with 0 +++
	getppid() = N
	+++ exited with 0 +++
	[pid N<syscalls>] getppid() = N
	syscall              calls
	---------------- ---------
	getppid                  7
	---------------- ---------
	total                    7
	c
	+++ exited with 0 +++
	2
	ERROR: '/(' is no regular expression
	ERROR: --columns needs a number (got 'x')
	sonde strace -h shows its options.
	ERROR: -e foo= is not known: trace, status, signal, abbrev, verbose, raw, quiet, decode-fds, read, write
	ERROR: 'x' is no number of a descriptor
	ERROR: -X no is not known: raw, abbrev, verbose
	ERROR: there is no system call 'nope'
	ERROR: -e quiet=no is not known: attach, exit, path-resolution, personality, thread-execve, all, none
	ERROR: -e abbrev=open is not known: all, none

NAME strace: options that take a value, or are given twice, as in strace
RUN
	both() { for t in strace "$SONDE strace"
	do $t "$@" 2>&1 >/dev/null |
		sed 's/[0-9]/N/g; s/si_pid=N*/si_pid=N/; s/\[????\]/[ NNN]/; s/-Nx[0-9a-fN]*/A/g' >"$TMPDIR/${t##*/}"
	done
	cmp -s "$TMPDIR/strace" "$TMPDIR/sonde strace" && echo same || { echo "$*"
	diff "$TMPDIR/strace" "$TMPDIR/sonde strace"
	}
	}
	for o in -qq -qqq '-q -q' --quiet=exit --silent=all '-e quiet=exit,attach' --quiet=attach --decode-fds=path --decode-fds=all --verbose=none --abbrev=none --raw=close '--absolute-timestamps=time,us' --strings-in-hex=all --strings-in-hex=non-ascii --syscall-times=us '-s 0' '-e close@64,fstat,?nope'
	do
		set -- $o; case $o in *@64*) ;; *) set -- "$@" -e trace=close,fstat,write,exit_group ;; esac; both "$@" echo hi
	done | sort | uniq -c | awk '{ $1 = $1 } 1'
	for o in -t -tt -ttt -r '-t -r' -n '-n -a 20' '-t -n -a 5' --relative-timestamps=us; do both $o -e trace=close,fstat true; done | sort | uniq -c | awk '{ $1 = $1 } 1'
	for o in '-e none' '-e none -e signal=none' '-qq -e none'; do both $o sh -c 'kill -9 $$'; done 2>/dev/null | sort | uniq -c | awk '{ $1 = $1 } 1'
	cd "$TMPDIR" && "$SONDE" strace -f --output-separately -o x -e none sh -c '/bin/true; :' && ls x.* | wc -l
	{ "$SONDE" strace -e decode-fds=no true; "$SONDE" strace --quiet=no true; } 2>&1
NEEDS slow cmd:strace tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 120
RC 1
EXPECT
	18 same
	9 same
	3 same
	2
	ERROR: -e decode-fds=no is not known: path, socket, dev, pidfd, all, none
	ERROR: -e quiet=no is not known: attach, exit, path-resolution, personality, thread-execve, all, none

NAME strace: signals for real time by their names
RUN for s in SIGRT_3 RTMIN RT_33; do "$SONDE" strace -q -e trace=none -e signal=$s sh -c 'kill -35 $$' 2>&1; done
NEEDS tp:raw_syscalls/sys_exit btf
RC 1
EXPECT
	+++ killed by SIGRT_3 +++
	ERROR: no signal is called 'RT_33'

# A page of a file that nobody has touched yet.
NAME strace: words that are not in memory are addresses, and those behind them are shown
RUN
	cat >"$TMPDIR/p.c" <<-'P'
		#include <fcntl.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int n, char **arg)
		{
			char path[] = "/bin/true", first[] = "true", last[] = "last";
			char *far = mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(arg[n - 1], O_RDONLY), 0);
			char *words[] = {first, far, last, 0}, *none[] = {0};
			return execve(path, words, none);
		}
	P
	cc -o "$TMPDIR/p" "$TMPDIR/p.c" && echo word >"$TMPDIR/f"
	"$SONDE" strace -q -e execve "$TMPDIR/p" "$TMPDIR/f" 2>&1 | grep last | sed 's/0x[0-9a-f]*/0xN/g; s/  */ /g'
NEEDS cmd:cc tp:raw_syscalls/sys_exit btf
EXPECT
	execve("/bin/true", ["true", 0xN, "last"], 0xN /* 0 vars */) = 0

# As strace has it: without -f a process is its first thread, and who is meant is told where there are several.
NAME strace: which threads without -f; several processes
RUN
	t=build/tests/threads e='-e clock_nanosleep,exit_group'
	for f in '' -f; do "$SONDE" strace $f $e $t 1 2>&1 | sed 's/pid *[0-9]*/pid N/; s/(.*)/()/; s/  */ /g' | sort; done
	"$SONDE" strace -q -c $e -U name,calls $t 1 2>&1 | grep '[oe] '
	mkfifo "$TMPDIR/a" "$TMPDIR/b"
	sh -c "read -r line; exec $t 2" <"$TMPDIR/a" & a=$!; exec 3>"$TMPDIR/a"; sh -c "read -r line; exec $t 1" <"$TMPDIR/b" & b=$!; exec 4>"$TMPDIR/b"
	"$SONDE" strace $e -p $a -p $b 2>"$TMPDIR/e" & s=$!; until_written "$TMPDIR/e"
	echo >&3; wait $a; echo >&4; wait $b; wait $s
	sed "s/pid *$a\]/pid A]/; s/pid *$b\]/pid B]/; s/  */ /g" "$TMPDIR/e"
NEEDS prog:threads tp:raw_syscalls/sys_exit btf
TIMEOUT 30
EXPECT
	+++ exited with 0 +++
	exit_group() = ?
	[pid N] +++ exited with 0 +++
	[pid N] +++ exited with 0 +++
	[pid N] clock_nanosleep() = 0
	[pid N] exit_group() = ?
	Tracing system calls... Hit Ctrl-C to end.
	[pid A] exit_group(0) = ?
	[pid A] +++ exited with 0 +++
	[pid B] exit_group(0) = ?
	[pid B] +++ exited with 0 +++

NAME strace -c -S: a column that -U does not name is shown behind those
RUN
	"$SONDE" strace -c -S max-time true 2>&1 | head -n 1
	"$SONDE" strace -c -S shortest -U name,calls true 2>&1 | sed -n '1p; 3,$p' |
		awk '$3 ~ /^[0-9.]+$/ && $1 != "total" { if (last != "" && $3 > last) print "not in order"; last = $3 } NR == 1'
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	% time     seconds  usecs/call     calls    errors syscall           longest
	syscall              calls shortest

NAME strace: names of how a path is looked up, of what a file is
RUN
	for t in strace "$SONDE strace"
	do $t -e trace=openat2,statx,epoll_pwait2 /usr/bin/python3 -I -c 'import ctypes as c; f = c.CDLL(None).syscall; f(441, -1, c.create_string_buffer(64), 5, (c.c_uint64 * 2)(0, 1000), None, c.c_size_t(8)); f(437, -100, b"/nope", (c.c_uint64 * 3)(0o10000000, 0, 12), 24); f(332, -100, b"/proc", 0, 0, c.create_string_buffer(256))' 2>&1 |
		sed 's/0x[0-9a-f]\{8,\}/A/g; s/\(epoll.* = -1\) .*/\1/'
	done | grep -v exited | sort | uniq -c | awk '{ $1 = $1 } 1'
NEEDS slow cmd:strace cmd:/usr/bin/python3 tp:raw_syscalls/sys_exit btf x86_64
EXPECT
	2 epoll_pwait2(-1, A, 5, A, NULL, 8) = -1
	2 openat2(AT_FDCWD, "/nope", {flags=O_RDONLY|O_PATH, resolve=RESOLVE_NO_SYMLINKS|RESOLVE_BENEATH}, 24) = -1 EXDEV (Invalid cross-device link)
	2 statx(AT_FDCWD, "/proc", AT_STATX_SYNC_AS_STAT, 0, {stx_mask=STATX_BASIC_STATS|STATX_MNT_ID, stx_attributes=STATX_ATTR_MOUNT_ROOT, stx_mode=S_IFDIR|0555, stx_size=0, ...}) = 0

NAME strace: arguments as numbers, without structures, constants both ways: as strace has them
RUN
	both() { for t in strace "$SONDE strace -q"
	do setarch -R $t -o "$TMPDIR/o" "$@" build/tests/moreargs "$TMPDIR" 2>/dev/null
	sed -n '/begin/,$!d; s/SNDCTL_TMR_[A-Z]* or //; s/left [^)]*/left/; s/0x7ff[0-9a-f]*/STACK/g; s/)  *=/) =/; /0x23/d; p' "$TMPDIR/o" >"$TMPDIR/${t##*/}"
	done
	diff "$TMPDIR/strace" "$TMPDIR/sonde strace -q"
	grep -c = "$TMPDIR/strace"
	}
	both -e raw=fcntl,pselect6 -e trace=write,fcntl,ioctl,pselect6
	both -e verbose='!fcntl' -e trace=write,fcntl,ioctl,setsockopt
	both -e verbose=none -e trace=write,ioctl,sendmsg,pselect6,setsockopt
	both -X raw -e trace=write,openat,setsockopt,socketpair
	both -X verbose -e trace=write,openat,setsockopt
NEEDS cmd:strace cmd:setarch prog:moreargs tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 60
EXPECT
	24
	28
	25
	11
	9

# 5.10 finds no file of a test guest's root by its descriptor.
NAME strace: calls whose number changes before they end
RUN
	"$SONDE" strace -q -e trace=rt_sigreturn -e signal=none sh -c 'trap : USR1; kill -USR1 $$' 2>&1
	"$SONDE" strace -q -e signal=none -e trace=execveat python3 -c 'import os; os.execve(os.open("/bin/true", os.O_RDONLY), ["true", "x"], {})' 2>&1
NEEDS since:6.1 tp:raw_syscalls/sys_exit btf cmd:python3
TIMEOUT 20
EXPECT_RE
	rt_sigreturn\(\) += .*
	\+\+\+ exited with 0 \+\+\+
	execveat\([0-9]+, "", \["true", "x"\], 0x[0-9a-f]+.*, AT_EMPTY_PATH\) = 0
	\+\+\+ exited with 0 \+\+\+

NAME strace -u USER: the command runs as that user, with his groups
RUN
	s="$SONDE strace -q -e none -e signal=none"; $s -u daemon sh -c 'id -u; id -g; id -G' 2>&1; $s -f -u root id -u 2>&1 | sed 's/\[.*\] //'; $s -u nobody-at-all id 2>&1; echo $?
	line=$(sed -n 's/^\([^:]*\):[^:]*:[1-9][0-9]*:\([^,:]*\).*/\2/p' /etc/group | grep . | head -n 1)
	$s -u "${line:-daemon}" sh -c 'id -G' 2>/dev/null | tr ' ' '\n' | sort >"$TMPDIR/o"
	id -G "${line:-daemon}" | tr ' ' '\n' | sort | cmp - "$TMPDIR/o" && echo same
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	1
	1
	1
	+++ exited with 0 +++
	0
	+++ exited with 0 +++
	ERROR: user 'nobody-at-all' is not in /etc/passwd
	1
	same

NAME strace -ff -o FILE: a file for each process, which nobody else has rights to open
RUN
	cd "$TMPDIR"; mkfifo go; s="$SONDE strace -q -ff -a 1 -e %process -e signal=none"
	lines() { for f in f.*; do sed -E 's/0x[0-9a-f]+[^,)]*/ADDR/g; s/[0-9]{3,}/N/g' $f | tail -n 4; rm $f; done | sort; }
	$s -o f /bin/sh -c '/bin/true; (exit 3)'; echo $?; ls f.* | wc -l; lines
	echo old >f.1; $s -A -o f /bin/sh -c 'echo $$ >n; /bin/sh -c "exit 2"; exit 0'; n=$(cat n); $s -A -o f /bin/true; test -s f.$n && ls f.* | wc -l; grep -c pid f.*| grep -v :0; cat f.1; rm f.*
	"$SONDE" strace -v -ff -o f -e read /bin/sh -c 'read x <go' 2>err & p=$!
	eventually grep -q 'Seccomp:.2' /proc/$p/status
	h=$(pgrep -P $p -x "$(cat /proc/$p/comm)")
	for x in $p $h
	do sed -n 's/^\(NoNewPrivs\|Seccomp\|CapEff\):.*[0-9a-f]*\(.\)$/\1 \2/p' /proc/$x/status
	done
	written() { [ $(ls /proc/$h/fd | wc -l) -ge 4 ]; }
	eventually written; ls /proc/$h/fd | wc -l
	echo >go
	wait $p
	ls f.* | wc -l
	rm f.*
	$s -k -e close -o f /bin/true; grep -c '^        .*close' f.* | sed 's,^[1-9][0-9]*$,stacks,'
	$s -o none/f true 2>&1; echo $?; $s -o '|cat' true 2>&1; $s -j -o f true 2>&1; $s /bin/true 2>&1 | tail -n 1 | sed 's/ *[0-9][0-9]*/ N/'
NEEDS slow feature:CONFINE tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 60
EXPECT
	3
	3
	+++ exited with 0 +++
	+++ exited with 3 +++
	+++ exited with 3 +++
	execve("/bin/true", ["/bin/true"], ADDR) = 0
	exit_group(0) = ?
	exit_group(3) = ?
	exit_group(3) = ?
	wait4(-1, ADDR, WNOHANG, NULL) = -1 ECHILD (No child processes)
	wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = N
	4
	old
	CapEff 0
	NoNewPrivs 1
	Seccomp 2
	CapEff 2
	NoNewPrivs 1
	Seccomp 2
	4
	1
	stacks
	ERROR: Failed to open output file 'none/f.PID': No such file or directory
	1
	ERROR: a file for each process is one of text, with -o FILE
	ERROR: a file for each process is one of text, with -o FILE
	[pid N] +++ exited with 0 +++

NAME strace: into a command, which is waited for, and behind what a file has
RUN
	cd "$TMPDIR"
	"$SONDE" strace -q -e execve -o '|sleep 0.3; grep -c "^execve(" >n; echo end >>n' true
	cat n
	"$SONDE" strace -q -e execve -o f true
	"$SONDE" strace -q -A -e execve -o f true
	grep -c '^execve(' f
	"$SONDE" execsnoop -q --csv -o '|head -n 1' -- true
	"$SONDE" strace -q -e execve -o '|true' true
	echo $?
NEEDS tp:raw_syscalls/sys_exit btf
EXPECT
	1
	end
	2
	comm,pid,ppid,ret,argv
	0

NAME strace: the exit code is the command's
RUN
	is() { want=$1; shift; "$@" >/dev/null 2>&1; echo "$want $?"; }
	s="$SONDE strace -q -e execve"; is 3 $s sh -c 'exit 3'; is 7 $s -c sh -c 'exit 7'; is 9 $s -o "$TMPDIR/o" -f sh -c '(exit 3); exit 9'; is 0 $s true; is 1 $s -C -j -k false
	is 137 $s sh -c 'kill -9 $$'; is 143 $s -c -o "$TMPDIR/o" sh -c 'kill $$'; is 0 $s -d 100ms sh -c 'trap "exit 5" TERM; sleep 60 & wait'; is 1 $s /nonexistent/program
	mkfifo "$TMPDIR/f"
	sh -c 'read -r line; exit 5' <"$TMPDIR/f" & p=$!
	exec 5>"$TMPDIR/f"
	"$SONDE" strace -p $p -o "$TMPDIR/o" 2>"$TMPDIR/e" & t=$!
	eventually grep -q Tracing "$TMPDIR/e"
	echo >&5
	wait $t
	echo "-p $?"
	is 0 "$SONDE" -q -c 'sh -c "exit 3"' -e 'begin { }  tracepoint:raw_syscalls:sys_enter /pid == cpid/ { }'
	is 4 "$SONDE" -q -c 'sh -c "exit 3"' -e 'config = { exit_with_command = true }
		tracepoint:raw_syscalls:sys_enter /pid == cpid/ { exit(4); }'
NEEDS slow tp:raw_syscalls/sys_exit btf
TIMEOUT 60
EXPECT
	3 3
	7 7
	9 9
	0 0
	1 1
	137 137
	143 143
	0 0
	1 1
	-p 0
	0 0
	4 4

NAME strace: calls that a filter refuses before they begin
RUN
	f=build/tests/filtered
	for o in '' -Z -z
	do "$SONDE" strace -q -n $o -e getpriority,openat,getppid $f 2>&1 | sed 's/= [1-9][0-9]*$/= N/'
	done
	"$SONDE" strace -q -e '!openat' $f 2>&1 | grep -oE '^(getpriority|openat|getppid)'
	"$SONDE" strace -qc -U calls,errors,name -e getpriority,getppid -S name $f 2>&1
	"$SONDE" strace -qj -e getpriority --fields syscall,ret,error $f | head -n 1
	"$SONDE" strace -qf -e fork,vfork,clone,getpriority sh -c "$f; :" 2>&1 | grep -cE 'k\(.* = 0$|getpriority'
NEEDS prog:filtered tp:raw_syscalls/sys_exit btf x86_64
TIMEOUT 40
EXPECT
	[ 140] getpriority(PRIO_PGRP, 2)        = -1 EPERM (Operation not permitted)
	[ 257] openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = -1 EACCES (Permission denied)
	[ 110] getppid()                        = N
	[????] +++ exited with 0 +++
	[ 140] getpriority(PRIO_PGRP, 2)        = -1 EPERM (Operation not permitted)
	[ 257] openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = -1 EACCES (Permission denied)
	[????] +++ exited with 0 +++
	[ 110] getppid()                        = N
	[????] +++ exited with 0 +++
	getpriority
	getppid
	    calls    errors syscall
	--------- --------- ----------------
	        1           getppid
	        1         1 getpriority
	--------- --------- ----------------
	        2         1 total
	{"type": "event", "table": "calls", "syscall": "getpriority", "ret": -1, "error": "EPERM"}
	1

NAME strace: what cannot go into a command, and a file that is not named
RUN "$SONDE" strace -A true 2>&1; "$SONDE" profile --flame '|cat' -d 100ms 2>&1; SUDO_UID=1 SUDO_GID=1 "$SONDE" --as-invoker strace -o '|cat' true 2>&1
RC 1
EXPECT
	ERROR: --append needs -o FILE
	WARNING: -d is --delimiter here, which has no effect without -f; did you mean --duration 100ms?
	ERROR: -o '|': flame goes to a file
	ERROR: -o '|': what --as-invoker writes goes to a file

NAME strace: numbers that are no system call's
RUN "$SONDE" strace build/tests/oddcalls 2>&1 | sed -n '/0x3e7/,$p' | sed 's/PID=[0-9]*/PID=N/'
	"$SONDE" syscount -- build/tests/oddcalls | grep -E 'syscall_|#' | sort
	"$SONDE" -q -c build/tests/oddcalls -e 'tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_id(args.id) == 0x40000014/ { @ = count(); }' | grep @
NEEDS x86_64 prog:oddcalls
EXPECT
	syscall_0x3e7(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	syscall_0x3e7(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	syscall_0xffffffffffffffff(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	syscall_0xffffffffffffffff(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	syscall_0xffffffffffffffff(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	[ Process PID=N runs in x32 mode. ]
	writev#64(0x1, 0x2, 0x3)                = -1 ENOSYS (Function not implemented)
	writev#64(0x1, 0x2, 0x3)                = -1 ENOSYS (Function not implemented)
	[ Process PID=N runs in 64 bit mode. ]
	exit_group(0)                           = ?
	+++ exited with 0 +++
	syscall_0x3e7                 2
	syscall_0xffffffff            3
	writev#64                     2
	@: 2

# Three writes and an open by int $0x80; few points are compared, many are looked up. A number of theirs may be another call's.
NAME tracepoints of system calls see those of 32-bit programs
RUN
	try() { "$SONDE" -q -c build/tests/calls32 -e "$1" 2>&1 | grep -v '^32 bits' | grep . | sort; }
	try 'tracepoint:syscalls:sys_enter_write /pid == cpid/ { @[args.fd, args.count, str(args.buf, 8)] = count(); }'
	try 'tracepoint:syscalls:sys_enter_write, tracepoint:syscalls:sys_enter_newstat, tracepoint:syscalls:sys_enter_open /pid == cpid/ { @[probe] = count(); }'
	try 'tracepoint:syscalls:sys_exit_write /pid == cpid/ { @[args.ret] = count(); }'
	try 'tracepoint:syscalls:sys_exit_write, tracepoint:syscalls:sys_exit_open, tracepoint:syscalls:sys_exit_lseek, tracepoint:syscalls:sys_exit_newstat, tracepoint:syscalls:sys_exit_getppid, tracepoint:syscalls:sys_exit_getpid /pid == cpid/ { @[probe] = count(); }'
	try 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @ = count(); }'
	try 'tracepoint:syscalls:sys_enter_newstat /pid == cpid/ { for $i : 0..2 { @[str(args.filename), $i] = count(); } }'
	try 'syscall:fcntl /pid == cpid/ { @[args.fd, args.cmd] = count(); }'
	"$SONDE" opensnoop -- build/tests/calls32 2>&1 | grep -o '/dev/null'
	"$SONDE" statsnoop -- build/tests/calls32 2>&1 | grep -o '/dev/null'
NEEDS x86_64 runs:calls32 btf
TIMEOUT 90
EXPECT
	@[1, 8, 32 bits]: 3
	@[tracepoint:syscalls:sys_enter_newstat]: 1
	@[tracepoint:syscalls:sys_enter_open]: 1
	@[tracepoint:syscalls:sys_enter_write]: 3
	@[8]: 3
	@[tracepoint:syscalls:sys_exit_getpid]: 1
	@[tracepoint:syscalls:sys_exit_getppid]: 1
	@[tracepoint:syscalls:sys_exit_newstat]: 1
	@[tracepoint:syscalls:sys_exit_open]: 1
	@[tracepoint:syscalls:sys_exit_write]: 3
	@[/dev/null, 0]: 1
	@[/dev/null, 1]: 1
	@[1, 1]: 1
	/dev/null
	/dev/null

# In a 32-bit program the words of argv have 4 bytes.
NAME calls of 32-bit programs with arguments that are laid out otherwise are counted
RUN
	try() {
		echo "options { pid, command; } $1" >"$TMPDIR/x.bt"
		"$SONDE" "$TMPDIR/x.bt" -- build/tests/calls32 2>&1 | grep -e ' of these'
	}
	try 'tracepoint:syscalls:sys_enter_execve { printf("%s\n", str(*args.argv)); }'
	try 'tracepoint:syscalls:sys_enter_write { @[args.__syscall_nr] = count(); }'
NEEDS x86_64 runs:calls32 btf fentry
TIMEOUT 40
EXPECT
	WARNING: 1 of these system calls was made by 32-bit programs and not traced: the arguments that the script reads are laid out otherwise there (strace shows them)
	WARNING: 3 of these system calls were made by 32-bit programs and not traced: the arguments that the script reads are laid out otherwise there (strace shows them)

NAME tracepoints of single system calls see those of 32-bit programs, by the kernel's functions for them
RUN
	try() { "$SONDE" -c build/tests/calls32 -e "$1" 2>&1 | grep -v '^32 bits' | grep .; }
	try 'tracepoint:syscalls:sys_enter_execve /pid == cpid/ { @[probe] = count(); }'
	try 'syscall:execve:return /pid == cpid/ { @[args.ret] = count(); }'
	try 'tracepoint:syscalls:sys_enter_execve /pid == cpid/ { printf("%s\n", str(args.filename)); }' | sed 's,/.*/calls32,calls32,'
NEEDS x86_64 runs:calls32 btf fentry
TIMEOUT 40
EXPECT
	Attached 1 probe
	@[tracepoint:syscalls:sys_enter_execve]: 2
	Attached 1 probe
	@[-13]: 1
	@[0]: 1
	Attached 1 probe
	calls32
	/dev/null

NAME tracepoints of single system calls see those of 32-bit programs, by kprobes where the kernel has no fentry
RUN
	try() { "$SONDE" --no-feature fentry -c build/tests/calls32 -e "$1" 2>&1 | grep -v '^32 bits' | grep .; }
	try 'tracepoint:syscalls:sys_enter_execve /pid == cpid/ { @[probe] = count(); }'
	try 'syscall:execve:return /pid == cpid/ { @[args.ret] = count(); }'
	try 'tracepoint:syscalls:sys_enter_execve /pid == cpid/ { printf("%s\n", str(args.filename)); }' | sed 's,/.*/calls32,calls32,'
	echo 'options { pid, command; } tracepoint:syscalls:sys_enter_execve { printf("%s\n", str(*args.argv)); }' >"$TMPDIR/x.bt"
	"$SONDE" --no-feature fentry "$TMPDIR/x.bt" -- build/tests/calls32 2>&1 | grep -e ' of these'
NEEDS x86_64 runs:calls32 btf kprobe
TIMEOUT 60
EXPECT
	Attached 1 probe
	@[tracepoint:syscalls:sys_enter_execve]: 2
	Attached 1 probe
	@[-13]: 1
	@[0]: 1
	Attached 1 probe
	calls32
	/dev/null
	WARNING: 1 of these system calls was made by 32-bit programs and not traced: the arguments that the script reads are laid out otherwise there (strace shows them)

NAME kprobes on the kernel's functions for calls of 32-bit programs: the registers are behind the first argument
PROG
	kprobe:__ia32_sys_write /pid == cpid/ { $r = (struct pt_regs *)arg0; @[$r->bx, $r->dx, str(uptr($r->cx), 8)] = count(); }
	kretprobe:__ia32_sys_write /pid == cpid/ { @ret[retval] = count(); }
LOAD calls32
NEEDS x86_64 runs:calls32 btf kprobe
EXPECT
	32 bits
	32 bits
	32 bits
	$
	$
	@[1, 8, 32 bits]: 3
	@ret[8]: 3

# Their numbers have bit 30 set: few points are compared, many are looked up.
NAME tracepoints of system calls see those of x32 programs
RUN
	try() { "$SONDE" -q -c build/tests/x32calls -e "$1" 2>&1 | grep 'getpid.: '; }
	try 'tracepoint:syscalls:sys_enter_getpid /pid == cpid/ { @[probe] = count(); }'
	try 'tracepoint:syscalls:sys_exit_getpid /pid == cpid/ { @[probe] = count(); }'
	try 'tracepoint:syscalls:sys_enter_getpid, syscall:getppid, syscall:getuid, syscall:geteuid, syscall:getgid, syscall:getegid /pid == cpid/ { @[probe] = count(); }'
	try 'tracepoint:syscalls:sys_enter_get* /pid == cpid/ { @[probe] = count(); }'
NEEDS x86_64 prog:x32calls btf
EXPECT
	@[tracepoint:syscalls:sys_enter_getpid]: 3
	@[tracepoint:syscalls:sys_exit_getpid]: 3
	@[tracepoint:syscalls:sys_enter_getpid]: 3
	@[tracepoint:syscalls:sys_enter_getpid]: 3

NAME strace: calls of 32-bit programs
RUN "$SONDE" strace build/tests/calls32 2>&1 >"$TMPDIR/out" | sed -n '/Process/,$p' | sed 's/PID=[0-9]*/PID=N/; s/0x[0-9a-f]*00)/ADDR)/; s/pid() *= .*/pid() = N/'
	"$SONDE" strace -qe write@32 build/tests/calls32 2>&1 >>"$TMPDIR/out"
	"$SONDE" strace -e write@64 build/tests/calls32 2>&1 >>"$TMPDIR/out"
	"$SONDE" syscount -T 100 -- build/tests/calls32 2>&1 | grep '#32' | tr -s ' ' | sort
	"$SONDE" -q -c build/tests/calls32 -e 'tracepoint:raw_syscalls:sys_exit /pid == cpid && syscall_in(syscall_id(args.id, args.ret), "write@32")/ { @[args.id] = count(); }' | grep @
NEEDS x86_64 runs:calls32
TIMEOUT 30
EXPECT
	[ Process PID=N runs in 32 bit mode. ]
	write(1, "32 bits\n", 8)                = 8
	write(1, "32 bits\n", 8)                = 8
	write(1, "32 bits\n", 8)                = 8
	open("/dev/null", O_RDONLY)             = 3
	close(3)                                = 0
	stat64("/dev/null", ADDR)         = 0
	clock_gettime(CLOCK_MONOTONIC, ADDR) = 0
	fcntl64(1, F_GETFD)                     = 0
	[ Process PID=N runs in 64 bit mode. ]
	getppid() = N
	[ Process PID=N runs in 32 bit mode. ]
	getpid() = N
	execve("/dev/null", NULL, NULL)         = -1 EACCES (Permission denied)
	[ Process PID=N runs in 64 bit mode. ]
	syscall_0xffffffffffffffff(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
	exit_group(0)                           = ?
	+++ exited with 0 +++
	write(1, "32 bits\n", 8)                = 8
	write(1, "32 bits\n", 8)                = 8
	write(1, "32 bits\n", 8)                = 8
	+++ exited with 0 +++
	+++ exited with 0 +++
	clock_gettime#32 1
	close#32 1
	execve#32 1
	fcntl64#32 1
	getpid#32 1
	open#32 1
	stat64#32 1
	write#32 3
	@[4]: 3

NAME strace: a thread that calls execve takes the place of the first one
RUN
	t=$(readlink -f /bin/true)
	f() { "$SONDE" strace -q "$@" -e execve,exit_group build/tests/execthread "$t" one two 2>&1 |
		sed -n "/execthread/d; s/0x[0-9a-f]* .. [0-9]* vars/ENV/; s|$t|TRUE|g; s/^\[pid *[0-9]*\] //; s/pid [0-9]*/pid N/; s/  */ /g; p"
	}
	f -f; echo; f -f --split; echo; f -f -c | awk '$NF == "execve" { print $4, $5 }'
NEEDS prog:execthread
EXPECT
	+++ superseded by execve in pid N +++
	execve("TRUE", ["TRUE", "one", "two"], ENV */) = 0
	exit_group(0) = ?
	+++ exited with 0 +++
	$
	execve("TRUE", ["TRUE", "one", "two"], ENV */ <unfinished ...>
	+++ superseded by execve in pid N +++
	<... execve resumed>) = 0
	exit_group(0) = ?
	+++ exited with 0 +++
	$
	2 execve

NAME a thread that calls execve, in a script
RUN
	"$SONDE" -q -c "build/tests/execthread $(readlink -f /bin/true)" -e 'table t bare { call call; }
		rawtracepoint:sys_enter /pid == cpid && syscall_in(args.id, "execve")/ { emit(t, call = syscall_enter(args.regs, args.id, 0)); }
		rawtracepoint:sys_exit /pid == cpid && @moved && !@shown++/ { emit(t, call = syscall_exit(args.regs, args.ret, 0)); }
		tracepoint:sched:sched_process_exec /pid == cpid && args.old_pid != args.pid/ { emit(t, call = syscall_superseded(args.old_pid)); @moved = args.pid == cpid; }
		end { clear(@shown); }' |
		sed 's|"/[^"]*"|"TRUE"|; s/"[^"]*"\.\.\./TEXT/g; s/pid [0-9]*/pid N/; s/0x[0-9a-f]* .. [0-9]* vars/ENV/; s/  */ /g' |
		grep .
NEEDS prog:execthread
EXPECT
	+++ superseded by execve in pid N +++
	execve("TRUE", [TEXT], ENV */) = 0
	@moved: true
