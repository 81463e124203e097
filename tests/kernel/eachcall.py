#!/usr/bin/env python3
"""sonde strace beside strace on calls of each kind: with arguments that fail, and with some that do not.

    tests/kernel/eachcall.py SONDE PROGRAM [STRACE]      the calls that differ, then how many were the same

PROGRAM is build/tests/eachcall. FAILING are made twice each, with -1 1 3 5 7 9 and -1 0 0 0 0 0: none of them does anything
with that. Not among them are calls that would, and those that docs/tools.md lists as different.
"""
import glob, os, re, subprocess, sys, tempfile

FAILING = """
read write open close stat fstat lstat lseek mmap pread64 pwrite64 readv writev access pipe sched_yield mremap msync
mincore madvise shmget shmat shmctl nanosleep getitimer sendfile socket connect sendto recvfrom sendmsg recvmsg
shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt uname semget semop semctl msgget msgsnd
msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd fchdir rename mkdir rmdir creat link
unlink symlink readlink chmod fchmod chown fchown lchown gettimeofday getrlimit getrusage sysinfo times getuid getgid
geteuid getegid getgroups getresuid getresgid getpgid getsid capget rt_sigpending rt_sigtimedwait rt_sigqueueinfo
utime mknod ustat statfs fstatfs sysfs getpriority sched_getparam sched_getscheduler sched_get_priority_max
sched_get_priority_min sched_rr_get_interval munlock pivot_root mount delete_module readahead setxattr lsetxattr
fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr time
futex sched_setaffinity sched_getaffinity set_thread_area io_setup io_destroy io_submit io_cancel get_thread_area
epoll_create remap_file_pages getdents64 semtimedop fadvise64 timer_settime timer_gettime timer_getoverrun
timer_delete clock_gettime clock_getres clock_nanosleep epoll_wait epoll_ctl utimes mbind get_mempolicy mq_open
mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr add_key request_key ioprio_set ioprio_get
inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat unlinkat
renameat linkat symlinkat readlinkat fchmodat faccessat get_robust_list splice tee sync_file_range vmsplice utimensat
epoll_pwait signalfd fallocate timerfd_settime timerfd_gettime signalfd4 pipe2 preadv pwritev rt_tgsigqueueinfo
perf_event_open recvmmsg fanotify_mark name_to_handle_at open_by_handle_at sendmmsg getcpu process_vm_readv
process_vm_writev kcmp finit_module sched_getattr renameat2 getrandom bpf membarrier copy_file_range preadv2 pwritev2
pkey_mprotect pkey_alloc pkey_free statx pidfd_send_signal io_uring_setup io_uring_register open_tree move_mount
fsopen fsconfig fsmount fspick pidfd_open openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr
landlock_add_rule memfd_secret process_mrelease futex_waitv set_mempolicy_home_node
"""
CALLS = """
openat -100 s:f1 0102 0644; write 3 s:hello-world 11; pwrite64 3 s:abc 3 100; lseek 3 0 0; read 3 @1 32; fstat 3 @1
newfstatat 3 s: @1 0x1000; statx 3 s: 0x1000 0xfff @1; statx -100 s:/etc 0x100 0x7ff @1; getdents64 3 @1 4096
fallocate 3 0 0 100; fadvise64 3 0 0 2; sync_file_range 3 0 0 7; flock 3 6; fchmod 3 0640; fchown 3 0 0
fsetxattr 3 s:user.a s:val 3 0; fgetxattr 3 s:user.a @1 100; flistxattr 3 @1 100; fremovexattr 3 s:user.a
setxattr s:f1 s:user.b s:v 1 1; listxattr s:f1 @1 0; removexattr s:f1 s:user.b; utime s:f1 0; utime s:f1 @1
utimes s:f1 0; utimensat -100 s:f1 @1 0; futimesat -100 s:f1 @1; access s:f1 4; faccessat -100 s:f1 2
faccessat2 -100 s:f1 2 0x200; fchmodat -100 s:f1 0600; chmod s:f1 0644; chown s:f1 0 -1; lchown s:f1 0 0
fchownat -100 s:f1 0 0 0x100; truncate s:f1 50; ftruncate 3 60; readlink s:/proc/self/exe @1 10
readlink s:/proc/self/exe @1 100; link s:f1 s:f2; rename s:f2 s:f3; symlink s:f3 s:f4; unlink s:f4; unlink s:f3
mkdir s:dd1 0755; rmdir s:dd1; mknod s:p1 010600 0; unlink s:p1; mknodat -100 s:none/p1 020600 0x501; creat s:f5 0600
close 4; dup 3; dup2 3 9; dup3 3 10 02000000; close_range 9 10 0; close 4; pipe @1; pipe2 @1 02004000
splice 4 0 5 0 10 3; tee 4 7 10 2; vmsplice 5 @1 1 0; sendfile 3 3 @1 0; copy_file_range 3 @1 3 @2 0 0
ioctl 4 0x541b @1; ioctl 4 0x5421 @1; fcntl 4 1031 65536; fcntl 4 1032; fcntl 4 1; fcntl 4 3; fcntl 4 1030 20
close_range 4 20 0; eventfd 3; eventfd2 5 04000; epoll_create 5; epoll_create1 02000000; epoll_ctl 6 1 4 @1
epoll_wait 6 @1 5 0; epoll_pwait 6 @1 5 0 0 8; epoll_pwait 6 @1 5 0 @2 8; epoll_pwait2 6 @1 5 @2 0 8; signalfd @1 -1 8
signalfd4 -1 @1 8 02004000; timerfd_create 1 02000000; timerfd_settime 8 1 @1 @2; timerfd_gettime 8 @1; inotify_init
inotify_init1 04000; inotify_add_watch 9 s:. 0x3; inotify_rm_watch 9 1; fanotify_mark 11 1 0x3 -100 s:.
memfd_create s:name 1; memfd_create s:name 3; fcntl 12 1034; fcntl 13 1033 4; memfd_secret 0; close_range 4 40 0
socket 1 1 0; socket 2 1 0; socket 10 2 0; socket 16 3 0; socket 17 3 0x300; socketpair 1 1 0 @1; getsockname 4 @1 @2
getpeername 4 @1 @2; getsockopt 4 1 3 @1 @2; setsockopt 5 6 1 @1 4; setsockopt 4 1 20 @1 16; getsockopt 4 1 4 @1 @2
bind 5 @1 16; listen 5 5; accept4 4 @1 @2 0; connect 4 @1 110; sendto 9 s:abc 3 0x4040 0 0
recvfrom 9 @1 10 0x40 @2 @3; shutdown 9 2; sendmsg 9 @1 0x4040; recvmsg 9 @1 0x40; close_range 4 40 0; getuid
getresuid @1 @2 @3; getresgid @1 @2 @3; getgroups 0 0; getgroups 10 @1; setgroups 0 0; setresuid -1 -1 -1
setreuid -1 0; setuid 0; setfsuid 0; getpriority 0 0; setpriority 0 0 0; sched_getparam 0 @1; sched_getscheduler 0
sched_setscheduler 0 0 @1; sched_get_priority_max 1; sched_rr_get_interval 0 @1; sched_getaffinity 0 8 @1
sched_getattr 0 @1 56 0; sched_setattr 0 @1 0; ioprio_get 1 0; getrlimit 7 @1; setrlimit 4 @1; prlimit64 0 7 0 @1
getrusage 0 @1; gettimeofday @1 @2; gettimeofday @1 0; time 0; time @1; clock_gettime 1 @1; clock_getres 1 @1
clock_nanosleep 1 0 @1 @2; nanosleep @1 @2; getitimer 0 @1; setitimer 0 @1 @2; alarm 0; timer_create 1 @1 @2
timer_create 1 0 @2; timer_settime 0 0 @1 @2; timer_gettime 0 @1; timer_getoverrun 0; timer_delete 0
rt_sigaction 10 0 @1 8; rt_sigprocmask 0 0 @1 8; rt_sigpending @1 8; rt_sigqueueinfo 999999 10 @1
pidfd_send_signal -1 10 @1 0; pidfd_send_signal -1 10 0 0; sigaltstack 0 @1; kill 999999 0; tkill 999999 10
tgkill 999999 999999 10; mmap 0 4096 3 0x22 -1 0; mmap 0 4096 1 0x2 3 0; mprotect 0x10000000 4096 3
madvise 0x10000000 4096 4; msync 0x10000000 4096 4; mlock 0x10000000 4096; munlock 0x10000000 4096
mlock2 0x10000000 4096 1; munlock 0x10000000 4096; mremap 0x10000000 4096 4096 0; mlockall 4; munlockall; brk 0
mbind 0x10000000 4096 0 0 0 0; set_mempolicy 0 0 0; move_pages 0 0 0 0 0 0; remap_file_pages 0 0 0 0 0; pkey_alloc 0 0
pkey_free 1; membarrier 0 0; membarrier 0 0 0; process_madvise -1 @1 1 20 0; process_vm_readv 0 @1 0 @2 0 0
process_mrelease -1 0; semop -1 @1 1; semtimedop -1 @1 1 @2; semctl -1 0 12; mq_open s:/none 0 0 0
mq_open s:none 0100 0600 0; mq_unlink s:none; mq_timedsend -1 s:abc 3 1 @1; mq_timedreceive -1 @1 3 0 0
mq_notify -1 @1; mq_getsetattr -1 @1 0; uname @1; sysfs 3; sysfs 1 s:ext4; getcpu @1 @2 0; capget @1 @2
personality -1; umask 022; prctl 3 0 0 0 0; prctl 16 @1 0 0 0; prctl 15 s:ab 0 0 0; prctl 21 0 0 0 0; prctl 30 0 0 0 0
arch_prctl 0x1003 @1; arch_prctl 0x1011 0; arch_prctl 0x1004 @1; set_tid_address @1; get_robust_list 0 @1 @2
set_robust_list @1 24; rseq @1 32 0 0x53053053; futex @1 1 1 0 0 0; futex @1 0 1 0 0 0; futex_waitv @1 1 0 @2 1
kcmp 1 1 2 0 0; setns -1 0x20000000; unshare 0; unshare 1; chdir s:/tmp; fchdir -1; getcwd @1 100
pivot_root s:/none s:/none2; mount s:none s:/none s:tmpfs 2 s:size=1; umount2 s:/none 2; swapoff s:/none; acct s:/none
delete_module s:none 04000; ustat 0x801 @1; openat2 -100 s:f1 @1 24; open_tree -100 s:/tmp 0x80000; close 4
move_mount -1 s: -1 s:/none 4; fsopen s:none 1; fsconfig -1 0 s:key s:val 0; fsconfig -1 1 s:key s:val 0
fsconfig -1 5 s:key 0 3; fsconfig -1 6 0 0 0; fsmount -1 1 0x2; fspick -100 s:/none 1
mount_setattr -1 s: 0x1000 @1 32; pidfd_open 1 0; pidfd_getfd 4 0 0; close 4; io_setup 1 @1; io_getevents 1 1 1 @1 @2
io_destroy 1; waitid 0 0 @1 5 @2; wait4 -1 @1 1 @2; select 0 0 0 0 @1; poll @1 0 0; ppoll @1 1 @2 0 8
pselect6 0 0 0 0 @1 0; process_vm_writev 0 @1 1 @2 1 0; readahead 3 0 10; preadv 3 @1 1 0; pwritev2 3 @1 1 0 0 0
readv 3 @1 1; writev 3 @1 0; seccomp 1 1 @1
"""
SAME = [  # what is never the same twice
    (r"^(get\w*p\w*id|gettid|set_tid_address|getpgrp)\((.*)\) = \d+", r"\1(\2) = N"),
    (r"^(getrusage|getitimer|gettimeofday|clock_\w+|time|times|get_robust_list|getcpu|sched_getaffinity)\(.*\) = .*", r"\1"),
    (r" /\* \d+ entries \*/", ""),
    (r"left \{[^}]*\}", "left"),
    (r"socket:\[\d+\]", "socket"),
    (r"^(membarrier\(MEMBARRIER_CMD_QUERY, 0\)) = .*", r"\1"),
    (r"stx_size=\d+", "stx_size"),
    (r"st_size=\d+", "st_size"),
]


def numbers():
    for path in glob.glob("/usr/include/*/asm/unistd_64.h") + glob.glob("/usr/include/asm/unistd_64.h"):
        return dict(re.findall(r"#define __NR_(\w+) (\d+)", open(path).read()))
    sys.exit("there is no asm/unistd_64.h")


def words():
    number, calls = numbers(), []
    for name in FAILING.split():
        calls += [[name] + "-1 1 3 5 7 9".split(), [name] + "-1 0 0 0 0 0".split()]
    calls += [call.split() for line in CALLS.strip().split("\n") for call in line.split("; ")]
    for name, *args in calls:
        if name in number:
            yield from [number[name], *args, "+"]


def lines_of(tracer, program, calls, folder):
    out = folder + "/out"
    work = tempfile.mkdtemp(dir=folder)
    subprocess.run(["setarch", "-R", *tracer, "-o", out, program, calls], cwd=work, timeout=60, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = []
    for line in open(out, errors="replace"):
        line = re.sub(r"\) += ", ") = ", line.rstrip("\n"))
        if line.startswith("mmap(0x10000000, "):
            seen.clear()  # what the program's beginning does
        for pattern, text in SAME:
            line = re.sub(pattern, text, line)
        seen.append(line)
    return seen


def main():
    sonde, program = [os.path.abspath(a) for a in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as folder:
        calls = folder + "/calls"
        open(calls, "w").write("\0".join(words()) + "\0")
        theirs = lines_of(sys.argv[3:] or ["strace"], program, calls, folder)
        ours = lines_of([sonde, "strace", "-q"], program, calls, folder)
    differ = [(a, b) for a, b in zip(theirs, ours) if a != b]
    for a, b in differ:
        print("strace " + a, "sonde  " + b, sep="\n")
    n = len(theirs)
    print(f"{n} and {len(ours)} lines" if n != len(ours) or n < 500 else "many calls: the same" if not differ else f"{len(differ)} differ")


main()
