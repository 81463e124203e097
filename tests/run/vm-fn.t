NAME name of a file by its struct path
PROG fentry:filp_close /pid == cpid/ { @[path(args.filp->f_path)] = count(); @s = sizeof(path(args.filp->f_path, 64)); }
LOAD open /etc/passwd
NEEDS fentry
EXPECT_RE
	...
	@\[/.*\]: [0-9]+
	...
	@s: 64

NAME comm of another process
PROG fentry:vfs_write /pid == cpid/ { if comptime (kfunc_allowed("bpf_task_from_pid")) { printf("%s %d %s\n", comm(pid), comm(pid) == comm, comm(1999999999)); } else { printf("rw 1 N/A\n"); } exit() }
LOAD rw w55
NEEDS fentry
EXPECT
	rw 1 N/A
	$
	$

NAME per-CPU variables of the kernel
PROG BEGIN { $a = percpu_kaddr("this_cpu_off", 0); $b = percpu_kaddr("this_cpu_off"); print((uint64)$a - *$a == (uint64)$b - *$b); print((uint64)$a != 0); print((uint64)percpu_kaddr("this_cpu_off", 9999)); }
NEEDS vm x86_64
EXPECT
	true
	true
	0
	$
	$

NAME per-CPU variables of the kernel, where no variable tells how far they are
PROG BEGIN { $o = (uint64*)kaddr("__per_cpu_offset"); $a = (uint64)percpu_kaddr("runqueues", 0); print($a != 0); print((uint64)percpu_kaddr("runqueues", 1) - $a == *($o + 1) - *$o); print((uint64)percpu_kaddr("runqueues", 9999)); }
NEEDS vm aarch64
EXPECT
	true
	true
	0
	$
	$

NAME socket_cookie
RUN
	t=$(mktemp -d)
	printf '#!/bin/bash\necho hello >/dev/udp/127.0.0.1/9\n' >$t/send
	chmod +x $t/send
	ip link set lo up
	"$SONDE" -q -c $t/send -e 'fentry:inet_release /pid == cpid && comm == "send"/ { $c = socket_cookie(args.sock->sk); print($c != 0); print($c == socket_cookie(args.sock->sk)); exit() }'
	rm -r $t
NEEDS vm fentry file:/bin/bash sym:bpf_get_socket_ptr_cookie
EXPECT
	true
	true
	$
	$

NAME skboutput
RUN
	t=$(mktemp -d)
	printf '#!/bin/bash\necho hello >/dev/udp/127.0.0.1/9\n' >$t/send
	chmod +x $t/send
	ip link set lo up
	"$SONDE" -q -c $t/send -e "fentry:ip_send_skb /pid == cpid/ { skboutput(\"$t/a.pcap\", args.skb, 1500, 0); skboutput(\"$t/b.pcap\", args.skb, 24, 4); }"
	od -An -tx1 -N 4 $t/a.pcap
	grep -c hello $t/a.pcap
	od -An -tu4 -j 32 -N 8 $t/a.pcap
	od -An -tu4 -j 32 -N 8 $t/b.pcap
	rm -r $t
NEEDS vm fentry file:/bin/bash
EXPECT
	$
	$
	 4d 3c b2 a1
	1
	         34         34
	         24         30

NAME misuse of kernel functions
PROG BEGIN { socket_cookie(1); path(1); override(1); print(percpu_kaddr("no_such_symbol")); skboutput("x", 1, 2, 3); print(kfunc_exist(pid)); }
ARGS --unsafe
NEEDS btf
RC 1
EXPECT
ERR_RE
	stdin:.* ERROR: The socket_cookie builtin can not be used with begin probes
	...
	stdin:.* ERROR: The path builtin can not be used with begin probes
	...
	stdin:.* ERROR: The override builtin can not be used with begin probes
	...
	stdin:.* ERROR: Failed to resolve kernel symbol: no_such_symbol
	...
	stdin:.* ERROR: The skboutput builtin can not be used with begin probes
	...
	stdin:.* ERROR: kfunc_exist\(\) .* string literal .*
	...

NAME kfunc_exist
PROG BEGIN { print(kfunc_exist("bpf_no_such_function")); print(kfunc_allowed("bpf_no_such_function")); if comptime (kfunc_exist("bpf_no_such_function")) { fail("it is not there"); } }
EXPECT
	false
	false
	$
	$

NAME override: the call fails as told, or the kernel cannot, and that is said
NEEDS vm kprobe
RUN case $(uname -m) in x86_64) call=mkdir ;; *) call=mkdirat ;; esac
	set -- --unsafe -q -e 'kprobe:__ARCH_sys_'$call' /pid == cpid/ { override(-13); }' -c "busybox mkdir $TMPDIR/made"
	if "$SONDE" info | grep -q '^ *OVERRIDE  *yes'; then "$SONDE" "$@" 2>&1 | grep -q 'Permission denied' && [ ! -d "$TMPDIR/made" ] && echo right
	else "$SONDE" "$@" 2>&1 | grep -q 'ERROR: override needs bpf_override_return (a kernel built with CONFIG_BPF_KPROBE_OVERRIDE), which this kernel lacks' && echo right; fi
EXPECT
	right
