# In containers: what docs/platforms.md says, with the namespaces, mounts and capabilities of one.

NAME with the documented capabilities and mounts
RUN
	all() { tests/kernel/container.sh -h -t bpf,perfmon,dac_read_search,sys_ptrace,syslog "$SONDE" -q "$@" 2>&1; }
	all -e 'tracepoint:syscalls:sys_enter_write /pid == cpid/ { @n = count(); }' -c 'printf x' | grep '@n'
	all -e 'uprobe:libc:malloc /pid == cpid/ { @mallocs = count(); }' -c /bin/date | grep -c '@mallocs: [1-9]'
	all -e 'rawtracepoint:sched_switch { printf("%s\n", kstack(1)); exit(); }' | grep -c '[a-z_]+'
	all -e 'rawtracepoint:sched_switch { printf("%s\n", curtask->comm); exit(); }' | grep -c '[a-z]'
NEEDS file:/usr/bin/unshare file:/usr/bin/setpriv uprobe btf tracefs fast
TIMEOUT 20
EXPECT
	@n: 1
	1
	1
	1

NAME a pid namespace of its own: ids are the container's, others have none
RUN
	tests/kernel/container.sh -t bpf,perfmon,dac_read_search "$SONDE" -q -e 'tracepoint:syscalls:sys_enter_write /pid == cpid/ { @[pid < 50] = count(); }' -c 'printf x' 2>&1 | grep '@'
NEEDS file:/usr/bin/unshare file:/usr/bin/setpriv tracefs fast
EXPECT
	@[true]: 1

NAME what is missing is named, with the words of docker
RUN
	try() { tests/kernel/container.sh "$@" -e "$PROG" 2>&1 | grep -o 'ERROR.*' | sed 's/([0-9]* ins/(N ins/; s/d is [12]/d is N/'; }
	PROG='begin { }'
	try -u -h bpf,perfmon,dac_read_search "$SONDE"
	PROG='tracepoint:syscalls:sys_enter_write { }'
	try -h -t perfmon,dac_read_search "$SONDE"
	try -h -t bpf,dac_read_search "$SONDE"
	try -h -t none "$SONDE"
	try -h bpf,perfmon,dac_read_search "$SONDE"
NEEDS file:/usr/bin/unshare file:/usr/bin/setpriv tracefs fast
EXPECT
	ERROR: load program begin (N instructions): Operation not permitted (this is a user namespace, as in a container that an ordinary user started: its root cannot trace; let the machine's own root start it)
	ERROR: load program tracepoint_syscalls_sys_enter_write (N instructions): Operation not permitted (needs CAP_BPF, as kernel.unprivileged_bpf_disabled is N, which a container gets by docker run --cap-add=BPF --cap-add=PERFMON --cap-add=DAC_READ_SEARCH)
	ERROR: load program tracepoint_syscalls_sys_enter_write (N instructions): Operation not permitted (needs CAP_PERFMON, as kernel.perf_event_paranoid is N, which a container gets by docker run --cap-add=BPF --cap-add=PERFMON --cap-add=DAC_READ_SEARCH)
	ERROR: load program tracepoint_syscalls_sys_enter_write (N instructions): Operation not permitted (needs CAP_BPF and CAP_PERFMON, as kernel.unprivileged_bpf_disabled is N, which a container gets by docker run --cap-add=BPF --cap-add=PERFMON --cap-add=DAC_READ_SEARCH)
	ERROR: tracefs is not mounted, and mounting it failed: Operation not permitted; as root: mount -t tracefs tracefs /sys/kernel/tracing, for a container: -v /sys/kernel/tracing:/sys/kernel/tracing

NAME without CAP_SYS_PTRACE or CAP_SYSLOG: what cannot be seen is told
RUN
	setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 & p=$!; until_named $p sleep
	tests/kernel/container.sh -h -t bpf,perfmon,dac_read_search,syslog "$SONDE" -e 'uprobe:*:no_such_function_anywhere { }' 2>&1 | grep -o 'WARNING.*'
	tests/kernel/container.sh -h -t bpf,perfmon,dac_read_search,sys_ptrace "$SONDE" -q -e 'rawtracepoint:sched_switch { printf("%s\n", kstack(1)); exit(); }' 2>&1 |
		grep -o 'WARNING.*' | sed 's/is [0-2]$/is N/'
	kill $p
NEEDS file:/usr/bin/unshare file:/usr/bin/setpriv uprobe tracefs fast
TIMEOUT 20
EXPECT
	WARNING: files of other users' processes cannot be seen without CAP_SYS_PTRACE
	WARNING: kernel addresses have no names, as /proc/kallsyms shows none: needs CAP_SYSLOG while kernel.kptr_restrict is N
