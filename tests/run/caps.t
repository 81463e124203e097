# Without uid 0: what works with which capability, and the sentence that names what is missing.

NAME without any capability
RUN
	cp "$SONDE" /tmp/sonde-$$
	run() { /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all /tmp/sonde-$$ "$@" 2>&1 |
		sed "s/-$$/-X/; s/disabled is [12]/disabled is N/; s/ (2 instr.*permitted/:/"
	}
	run -e 'begin { }'
	run -e 'tracepoint:sched:sched_switch { }' | head -n 1
	run -l tracepoint:sched:sched_switch
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/setpriv tracefs
TIMEOUT 20
EXPECT
	ERROR: load program begin: (needs CAP_BPF and CAP_PERFMON, as kernel.unprivileged_bpf_disabled is N: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep /tmp/sonde-X)
	stdin:1:1-30: ERROR: open /sys/kernel/tracing/events: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep /tmp/sonde-X)
	ERROR: open /sys/kernel/tracing/events: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep /tmp/sonde-X)

NAME what each kind of probe misses
RUN
	cp "$SONDE" /tmp/sonde-$$ && cp build/tests/usdtforms /tmp/usdt-$$ && chmod 755 /tmp/usdt-$$ || exit
	miss() {
		printf '%s: ' "${2%%:*}"
		/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$1 --ambient-caps=$1 --bounding-set=$1 /tmp/sonde-$$ --dry-run -e "$2 { }" 2>&1 |
			sed -n '/ERROR: .* (needs .*: use sudo, or allow it once: setcap /s/.*(needs \([A-Z_]*\( and CAP_PERFMON\)*\).*/\1/p'
	}
	for c in -all -all,+bpf -all,+perfmon; do
		echo "$c"
		for p in self:signal:SIGUSR1 rawtracepoint:sched_switch tracepoint:sched:sched_switch iter:task uprobe:/tmp/usdt-$$:main usdt:/tmp/usdt-$$:forms:memory profile:hz:9 interval:ms:9 software:cpu:9999999 watchpoint:0x1000:8:w
		do
			miss $c $p
		done
	done
	rm /tmp/sonde-$$ /tmp/usdt-$$
NEEDS file:/usr/bin/setpriv prog:usdtforms btf tracefs uprobe sym:bpf_for_each_map_elem fast
TIMEOUT 60
EXPECT
	-all
	self: CAP_BPF and CAP_PERFMON
	rawtracepoint: CAP_BPF and CAP_PERFMON
	tracepoint: CAP_DAC_READ_SEARCH
	iter: CAP_BPF and CAP_PERFMON
	uprobe: CAP_BPF and CAP_PERFMON
	usdt: CAP_BPF and CAP_PERFMON
	profile: CAP_BPF and CAP_PERFMON
	interval: CAP_BPF and CAP_PERFMON
	software: CAP_BPF and CAP_PERFMON
	watchpoint: CAP_BPF and CAP_PERFMON
	-all,+bpf
	self: CAP_PERFMON
	rawtracepoint: CAP_PERFMON
	tracepoint: CAP_DAC_READ_SEARCH
	iter: CAP_PERFMON
	uprobe: CAP_PERFMON
	usdt: CAP_PERFMON
	profile: CAP_PERFMON
	interval: CAP_PERFMON
	software: CAP_PERFMON
	watchpoint: CAP_PERFMON
	-all,+perfmon
	self: CAP_BPF
	rawtracepoint: CAP_BPF
	tracepoint: CAP_DAC_READ_SEARCH
	iter: CAP_BPF
	uprobe: CAP_BPF
	usdt: CAP_BPF
	profile: CAP_BPF
	interval: CAP_BPF
	software: CAP_BPF
	watchpoint: CAP_BPF

NAME with CAP_BPF alone
RUN
	cp "$SONDE" /tmp/sonde-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf --ambient-caps=-all,+bpf --bounding-set=-all,+bpf /tmp/sonde-$$ -e 'begin { }' 2>&1 |
		sed 's/ ([0-9]* instructions)//; s/as kernel.*sudo/use sudo/; s/+ep.*/+ep/'
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/setpriv
TIMEOUT 20
EXPECT
	ERROR: load program begin: Operation not permitted (needs CAP_PERFMON, use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep

NAME with CAP_BPF and CAP_PERFMON
RUN
	[ "${SONDE_VM-}" ] && echo 2 >/proc/sys/kernel/perf_event_paranoid
	cp "$SONDE" /tmp/sonde-$$
	cp build/tests/spin /tmp/spin-$$
	chmod 755 /tmp/spin-$$
	for s in 'begin { print("begin"); exit(); }' 'rawtracepoint:sched_switch { print("raw"); exit(); }' 'profile:hz:99 { print("profile"); exit(); }' 'interval:ms:10 { print("interval"); exit(); }'
	do /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon /tmp/sonde-$$ -q -e "$s" 2>&1 |
		head -n 1
	done
	rm /tmp/sonde-$$ /tmp/spin-$$
NEEDS file:/usr/bin/setpriv prog:spin uprobe btf sym:bpf_for_each_map_elem
ALONE
TIMEOUT 30
EXPECT
	begin
	raw
	profile
	interval

# Linux 6.1 has no multi link, and wants CAP_SYS_ADMIN for the perf event of a uprobe.
NAME with CAP_BPF and CAP_PERFMON, a uprobe and a perf event
RUN
	[ "${SONDE_VM-}" ] && echo 2 >/proc/sys/kernel/perf_event_paranoid
	cp "$SONDE" /tmp/sonde-$$
	cp build/tests/spin /tmp/spin-$$
	chmod 755 /tmp/spin-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon /tmp/sonde-$$ -q -c "/tmp/spin-$$ $((100 * ${TEST_SLOW:-1}))" -e "uprobe:/tmp/spin-$$:busy { @u = count(); } software:cpu-clock:1000000 { @c = count(); }" 2>&1 |
		sed -n 's/: [0-9]*$//p'
	rm /tmp/sonde-$$ /tmp/spin-$$
NEEDS file:/usr/bin/setpriv prog:spin uprobe btf sym:bpf_for_each_map_elem sym:bpf_uprobe_multi_link_attach
ALONE
TIMEOUT 30
EXPECT
	@c
	@u

NAME a setuid program that is over at once takes them away, too
RUN
	cp build/tests/spin /tmp/suid-$$; chown 65534 /tmp/suid-$$; chmod 4755 /tmp/suid-$$
	"$SONDE" -q -c "sh -c 'sleep 0.05; exec /tmp/suid-$$ 20'" -e 'software:cpu-clock:1000000 /strncmp(comm, "sonde", 5)/ { @some = max(1); }' 2>&1 |
		sed 's/process [0-9]* has/process PID has/' | grep WARNING
	rm /tmp/suid-$$
NEEDS prog:spin
EXPECT
	WARNING: process PID has started a program with another owner or capabilities: perf events (software, hardware, watchpoint) do not follow it there

NAME a setuid program takes perf events away, and that is said
RUN
	[ "${SONDE_VM-}" ] && echo 2 >/proc/sys/kernel/perf_event_paranoid
	cp "$SONDE" /tmp/sonde-$$; cp build/tests/spin /tmp/plain-$$; cp build/tests/spin /tmp/suid-$$; chmod 755 /tmp/plain-$$; chmod 4755 /tmp/suid-$$
	run() { /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon "$@"; }
	for p in plain suid; do
		run /tmp/sonde-$$ -q -c "/tmp/$p-$$ $((150 * ${TEST_SLOW:-1}))" -e 'software:cpu-clock:1000000 /strncmp(comm, "sonde", 5)/ { @some = max(1); }
		profile:hz:99 /pid == cpid/ { @profile = max(1); }' 2>&1
	done | sed 's/process [0-9]* has/process PID has/' | grep .
	"$SONDE" -q -c "/tmp/suid-$$ 100" -e 'software:cpu-clock:1000000 { @root = max(1); }' 2>&1 | grep .
	rm /tmp/sonde-$$ /tmp/plain-$$ /tmp/suid-$$
NEEDS file:/usr/bin/setpriv prog:spin btf sym:bpf_for_each_map_elem
ALONE
TIMEOUT 40
EXPECT
	@profile: 1
	@some: 1
	WARNING: process PID has started a program with another owner or capabilities: perf events (software, hardware, watchpoint) do not follow it there
	@profile: 1
	@root: 1

NAME any file of any process, without CAP_SYS_PTRACE
RUN
	cp "$SONDE" /tmp/sonde-$$
	for c in '' ,+sys_ptrace
	do /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon$c --ambient-caps=-all,+bpf,+perfmon$c --bounding-set=-all,+bpf,+perfmon$c /tmp/sonde-$$ -e 'uprobe:*:no_such_function_anywhere { }' 2>&1 |
		grep -c CAP_SYS_PTRACE
	done
	rm /tmp/sonde-$$
NEEDS slow file:/usr/bin/setpriv uprobe
EXPECT
	1
	0

NAME the third level of perf_event_paranoid, which Debian's kernels have
RUN
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	cp "$SONDE" /tmp/sonde-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon /tmp/sonde-$$ -e 'profile:hz:99 { exit(); }' 2>&1 |
		head -n 1
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	rm /tmp/sonde-$$
NEEDS vm file:/usr/bin/setpriv sym:bpf_for_each_map_elem
ALONE
TIMEOUT 20
EXPECT
	stdin:1:1-14: ERROR: Unable to attach probe: profile:hz:99: open software event 0 on CPU 0: Permission denied (kernel.perf_event_paranoid is 3, and above 2 Debian's kernels let only CAP_SYS_ADMIN open perf events: use sudo, or sysctl kernel.perf_event_paranoid=2). If this is expected, set the 'missing_probes' config variable to 'warn'.

# Since 7, Debian's kernels let only CAP_SYS_ADMIN open perf events while kernel.perf_event_paranoid is 3, as it is there.
NAME with CAP_DAC_READ_SEARCH, tracepoints; without CAP_SYSLOG, kernel addresses without names
RUN
	cp "$SONDE" /tmp/sonde-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf,+perfmon,+dac_read_search --ambient-caps=-all,+bpf,+perfmon,+dac_read_search --bounding-set=-all,+bpf,+perfmon,+dac_read_search /tmp/sonde-$$ -q -c true -e 'tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { @[kstack(1)] = count(); }' 2>&1 |
		sed 's/0x[0-9a-f]*$/ADDRESS/; s/kptr_restrict is [0-9]*/kptr_restrict is N/'
	rm /tmp/sonde-$$
NEEDS before:7 file:/usr/bin/setpriv tp:syscalls/sys_enter_exit_group btf sym:bpf_for_each_map_elem
TIMEOUT 20
EXPECT
	$
	$
	@[
	        ADDRESS
	]: 1
	WARNING: kernel addresses have no names, as /proc/kallsyms shows none: needs CAP_SYSLOG while kernel.kptr_restrict is N

NAME tracefs that is not mounted
RUN
	[ "${SONDE_VM-}" ] && echo 2 >/proc/sys/kernel/perf_event_paranoid
	unshare -m sh -c 'umount /sys/kernel/tracing 2>/dev/null; umount /sys/kernel/debug 2>/dev/null; "$SONDE" -l tracepoint:sched:sched_switch; umount /sys/kernel/tracing; cp "$SONDE" /tmp/sonde-$$; /usr/bin/setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$SONDE" -l tracepoint:sched:sched_switch 2>&1; /usr/bin/setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$SONDE" -q -e "interval:ms:10 { print(1); exit(); }" 2>&1; rm /tmp/sonde-$$; :'
NEEDS file:/usr/bin/setpriv tracefs
ALONE
TIMEOUT 20
EXPECT
	tracepoint:sched:sched_switch
	ERROR: tracefs is not mounted, and mounting it failed: Operation not permitted; as root: mount -t tracefs tracefs /sys/kernel/tracing, for a container: -v /sys/kernel/tracing:/sys/kernel/tracing
	1
	$
	$

NAME types from a file
RUN
	cp /sys/kernel/btf/vmlinux $TMPDIR/btf
	"$SONDE" -q --btf=$TMPDIR/btf -c true -e 'tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @[curtask->tgid == pid] = count(); exit(); }' |
		sed 's/: [0-9]*$//'
	"$SONDE" --btf=$TMPDIR/btf -e "iter:task { }" 2>&1 | head -n 1
	"$SONDE" --btf=$TMPDIR/btf -e "fentry:vfs_read { }" 2>&1 | head -n 1
	"$SONDE" --btf=$TMPDIR/btf --info | grep -E ' (BTF|TASK_BTF|FENTRY) +[yn]' | tr -s ' ' | cut -d ' ' -f 2,3
	for f in /nope /etc/passwd
	do "$SONDE" --btf=$f -e 'begin { }'
	done 2>&1
NEEDS btf tp:raw_syscalls/sys_enter
EXPECT
	$
	$
	@[true]
	stdin:1:1-10: ERROR: probes of this type are found by numbers in the kernel's own BTF, not in that of --btf
	stdin:1:1-16: ERROR: probes of this type are found by numbers in the kernel's own BTF, not in that of --btf
	BTF yes
	TASK_BTF no
	FENTRY no
	ERROR: --btf: open /nope: No such file or directory
	ERROR: --btf: /etc/passwd: not BTF, or of an unknown version
RC 1

NAME info is one JSON object that says what the text says
RUN "$SONDE" info >$TMPDIR/text; "$SONDE" info --json | python3 -c '
	import json, sys
	d = json.load(sys.stdin)
	print(sorted(d))
	text = open(sys.argv[1]).read()
	for part in ("features", "probes"):
	    for x in d[part]:
	        line = "  %-14s %-7s %s" % (x["name"], x["available"], x["what"])
	        assert line in text, line
	        assert (x["reason"] is None) == (x["available"] == "yes"), x
	assert all(isinstance(c["held"], bool) for c in d["capabilities"])
	print(d["uid"], d["btf"]["available"], d["tracefs"]["available"], d["kernel"]["cpus"] > 0, len(d["probes"]) > 15)
	' $TMPDIR/text
NEEDS file:/usr/bin/python3 btf tracefs
TIMEOUT 20
EXPECT
	['btf', 'build', 'capabilities', 'commit', 'features', 'kernel', 'libbpf', 'lockdown', 'probes', 'sysctl', 'tracefs', 'uid', 'version']
	0 True True True True

NAME info without capabilities does not take unknown for missing
RUN
	cp "$SONDE" /tmp/sonde-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all /tmp/sonde-$$ info |
		grep -E '^ +(CAP_BPF|BTF|RINGBUF|begin|tracepoint) ' | tr -s ' ' |
		sed 's/ (needs CAP_DAC.*/ (...)/; s/: open.*/ .../'
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/setpriv btf tracefs
TIMEOUT 20
EXPECT
	 CAP_BPF no maps and programs: every script
	 BTF yes kernel BTF (/sys/kernel/btf/vmlinux)
	 RINGBUF unknown the BPF ring buffer (Linux 5.8) (needs CAP_BPF and CAP_PERFMON to be tried)
	 begin no begin (needs CAP_BPF and CAP_PERFMON)
	 tracepoint no tracepoint:category:event (open /sys/kernel/tracing/events: Permission denied (...)

NAME a feature that is switched off says so
RUN "$SONDE" --no-feature RINGBUF --info | grep RINGBUF
EXPECT
	  RINGBUF        no      the BPF ring buffer (Linux 5.8) (switched off by --no-feature)

NAME root of a user namespace, and one that does not know it
RUN
	/usr/bin/unshare -Ur "$SONDE" -e 'begin { }' 2>&1
	unaware() {
		/usr/bin/unshare -Urm sh -c 'mount -t tmpfs none /sys/kernel/security && cd /sys/kernel/security &&
			echo "0 0 4294967295" >map && mount --bind map /proc/$$/uid_map && echo "$0" >lockdown && exec "$SONDE" -e "begin { }"' "$1" 2>&1
	}
	unaware '[none] integrity confidentiality'
	unaware 'none integrity [confidentiality]'
	cp "$SONDE" /tmp/sonde-$$ && /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/unshare -Ur /tmp/sonde-$$ -e 'tracepoint:sched:sched_switch { }' 2>&1
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/unshare file:/usr/bin/setpriv file:/sys/kernel/security tracefs fast
TIMEOUT 20
EXPECT
	ERROR: load program begin (2 instructions): Operation not permitted (this is a user namespace, as in a container that an ordinary user started: its root cannot trace; let the machine's own root start it)
	ERROR: load program begin (2 instructions): Operation not permitted (not a matter of capabilities: a container, a security module or this kernel's configuration forbids it)
	ERROR: load program begin (2 instructions): Operation not permitted (the kernel is locked down (confidentiality), until it boots without lockdown=confidentiality)
	stdin:1:1-30: ERROR: open /sys/kernel/tracing/events: Permission denied (a security module or a container forbids it)
	tracepoint:sched:sched_switch { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME a process of root in an inner pid namespace
RUN
	cp "$SONDE" /tmp/sonde-$$
	unshare --pid --fork --mount-proc sh -c "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all /tmp/sonde-$$ -p 1 -e 'begin { }' 2>&1" |
		sed 's/disabled is [12]/disabled is N/; s/+ep .*/+ep/'
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/setpriv cmd:unshare fast
EXPECT
	ERROR: find the pid namespace of process 1: Permission denied (needs CAP_SYS_PTRACE: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_ptrace+ep

NAME CAP_BPF alone, in full
RUN
	cp "$SONDE" /tmp/sonde-$$
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+bpf --ambient-caps=-all,+bpf --bounding-set=-all,+bpf /tmp/sonde-$$ -e 'interval:ms:1 { @ = count(); }' 2>&1 |
		sed 's/paranoid is [0-9]/paranoid is N/; s/([0-9]* inst/(N inst/; s/+ep .*/+ep/'
	rm /tmp/sonde-$$
NEEDS file:/usr/bin/setpriv fast
EXPECT
	ERROR: load program interval_ms_1 (N instructions): Operation not permitted (needs CAP_PERFMON, as kernel.perf_event_paranoid is N: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep

NAME memory of maps before Linux 5.11
RUN
	cp "$SONDE" /tmp/sonde-$$ && c=-all,+bpf,+perfmon
	ulimit -l 64
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c /tmp/sonde-$$ -e 'interval:ms:1 { @[pid] = count(); }' 2>&1 |
		sed 's/map [^ ]* (.* entries)/map X/'
	rm /tmp/sonde-$$
NEEDS vm before:5.11 file:/usr/bin/setpriv
TIMEOUT 20
EXPECT
	ERROR: create map X: Operation not permitted (before Linux 5.11 the memory of maps counts as locked, and 65536 bytes may be: needs CAP_SYS_RESOURCE, or ulimit -l unlimited)
