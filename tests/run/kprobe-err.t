# What kprobe, kretprobe, fentry and fexit say when the kernel refuses them. What is wrong without a
# kernel is in tests/lang/err.E_PROBE_SYNTAX.kprobe.bt and err.E_NO_PROBE.kernel.bt.
# Linux 5.10 has other words for some (sym:bpf_for_each_map_elem is 5.13).

NAME no kprobes in this kernel
PROG kprobe:vfs_read { } kretprobe:vfs_read { } fentry:vfs_read { } fexit:vfs_read { }
NEEDS nokprobe btf
RC 1
EXPECT
ERR
	stdin:1:1-16: ERROR: kprobe probes need kprobes, which this kernel lacks
	kprobe:vfs_read { } kretprobe:vfs_read { } fentry:vfs_read { } fexit:vfs_read { }
	~~~~~~~~~~~~~~~
	stdin:1:44-59: ERROR: fentry probes need BPF trampolines (fentry, fexit), which this kernel lacks
	kprobe:vfs_read { } kretprobe:vfs_read { } fentry:vfs_read { } fexit:vfs_read { }
	                                           ~~~~~~~~~~~~~~~

NAME features that cannot be tried without capabilities
RUN
	cp "$SONDE" $TMPDIR/sonde && chmod 755 $TMPDIR
	for s in 'fentry:vfs_read { }' 'BEGIN { @a[1] = 1; for ($kv : @a) { } }'; do
		/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all $TMPDIR/sonde -e "$s" 2>&1 |
			sed 's/disabled is [12]/disabled is N/; s,sonde$,,; s,ep .*,ep,'
	done
NEEDS file:/usr/bin/setpriv btf
TIMEOUT 20
EXPECT
	stdin:1:1-16: ERROR: fentry probes need BPF trampolines (fentry, fexit), which cannot be tried: needs CAP_BPF and CAP_PERFMON, as kernel.unprivileged_bpf_disabled is N: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep
	fentry:vfs_read { }
	~~~~~~~~~~~~~~~
	stdin:1:20-38: ERROR: iterating over a map needs bpf_for_each_map_elem (Linux 5.13), which cannot be tried: needs CAP_BPF and CAP_PERFMON, as kernel.unprivileged_bpf_disabled is N: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep
	BEGIN { @a[1] = 1; for ($kv : @a) { } }
	                   ~~~~~~~~~~~~~~~~~~

NAME a BPF program that is not there
PROG fentry:bpf:4294967295:x { }
NEEDS btf
RC 1
EXPECT
ERR
	stdin:1:1-24: ERROR: no BPF program has the id 4294967295
	fentry:bpf:4294967295:x { }
	~~~~~~~~~~~~~~~~~~~~~~~

NAME within an instruction
PROG kprobe:vfs_read+1 { }
NEEDS kprobe x86_64
RC 255
EXPECT
ERR
	stdin:1:1-18: ERROR: Unable to attach probe: kprobe:vfs_read+1: vfs_read+1 is not at the start of an instruction. If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:vfs_read+1 { }
	~~~~~~~~~~~~~~~~~

NAME behind the function
PROG kprobe:vfs_read+0x100000 { }
NEEDS file:/proc/kallsyms
RC 1
EXPECT
ERR_RE
	stdin:1:1-25: ERROR: Offset outside the function bounds \('vfs_read' size is [0-9]+\)
	kprobe:vfs_read\+0x100000 \{ \}
	~~~~~~~~~~~~~~~~~~~~~~~~

NAME an address where no function is
ARGS --unsafe
PROG kprobe:0x1000 { }
NEEDS kprobe sym:bpf_for_each_map_elem
RC 255
EXPECT
ERR
	stdin:1:1-14: ERROR: Unable to attach probe: kprobe:0x1000: the kernel has no function at 0x1000. If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:0x1000 { }
	~~~~~~~~~~~~~

NAME a function that only foreign BTF has
ARGS --btf=build/host/6.1-x86_64/sys/kernel/btf/vmlinux
PROG kprobe:pair_sum { }
NEEDS kprobe file:build/host/6.1-x86_64/sys/kernel/btf/vmlinux
RC 255
EXPECT
ERR
	stdin:1:1-16: ERROR: Unable to attach probe: kprobe:pair_sum: the kernel has no function pair_sum. If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:pair_sum { }
	~~~~~~~~~~~~~~~

NAME a function that may not be probed, beside one that may
PROG kprobe:vfs_read, kprobe:exc_int3 { }
NEEDS kprobe sym:exc_int3 sym:bpf_for_each_map_elem
RC 255
EXPECT
ERR
	stdin:1:18-33: ERROR: Unable to attach probe: kprobe:exc_int3: the kernel allows no probe at exc_int3: the function is notrace, __init, or part of what probes need. If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:vfs_read, kprobe:exc_int3 { }
	                 ~~~~~~~~~~~~~~~

NAME the other one is probed when a warning is enough
PROG config = { missing_probes = "warn" } kretprobe:vfs_read, kretprobe:exc_int3 { exit(); }
LOAD rw r1 r1
NEEDS kprobe sym:exc_int3 prog:rw sym:bpf_for_each_map_elem
ALONE
EXPECT
	$
	$
ERR
	stdin:1:58-76: WARNING: 1 of the 2 matches cannot be probed (the first: kretprobe:exc_int3: the kernel allows no probe at exc_int3: the function is notrace, __init, or part of what probes need)
	config = { missing_probes = "warn" } kretprobe:vfs_read, kretprobe:exc_int3 { exit(); }
	                                                         ~~~~~~~~~~~~~~~~~~
	Attached 1 probe

# Which of several is meant is asked since Linux 6.7.
NAME several functions of one name, whose addresses are hidden
RUN
	read -r was </proc/sys/kernel/kptr_restrict; echo 2 >/proc/sys/kernel/kptr_restrict
	"$SONDE" -e 'kprobe:type_show+4 { }' 2>&1; rc=$?
	echo $was >/proc/sys/kernel/kptr_restrict; (exit $rc)
NEEDS kprobe vm sym:type_show sym:bpf_throw
ALONE
RC 255
EXPECT
	stdin:1:1-19: ERROR: Unable to attach probe: kprobe:type_show+4: the kernel has several functions type_show: name the module, or take an address from /proc/kallsyms with --unsafe. If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:type_show+4 { }
	~~~~~~~~~~~~~~~~~~

NAME fentry of a function without the place for it
PROG fentry:exc_int3 { }
NEEDS fentry sym:exc_int3 sym:bpf_for_each_map_elem
RC 255
EXPECT
ERR
	stdin:1:1-16: ERROR: Unable to attach probe: fentry:vmlinux:exc_int3: attach a tracing program (the function is notrace, or something else changes its first bytes): Device or resource busy. If this is expected, set the 'missing_probes' config variable to 'warn'.
	fentry:exc_int3 { }
	~~~~~~~~~~~~~~~

NAME fentry of a function that was freed after the start
PROG fexit:start_kernel { }
NEEDS fentry sym:start_kernel sym:bpf_for_each_map_elem x86_64
RC 255
EXPECT
ERR
	stdin:1:1-19: ERROR: Unable to attach probe: fexit:vmlinux:start_kernel: attach a tracing program (the function is __init, or the kernel allows no probe there): Invalid argument. If this is expected, set the 'missing_probes' config variable to 'warn'.
	fexit:start_kernel { }
	~~~~~~~~~~~~~~~~~~

NAME fentry of a function that was freed after the start, where ftrace says so
PROG fexit:start_kernel { }
NEEDS feature:fentry sym:start_kernel aarch64
RC 255
EXPECT
ERR
	stdin:1:1-19: ERROR: Unable to attach probe: fexit:vmlinux:start_kernel: attach a tracing program (the function is __init or notrace, or has arguments that no trampoline here passes on): Operation not supported. If this is expected, set the 'missing_probes' config variable to 'warn'.
	fexit:start_kernel { }
	~~~~~~~~~~~~~~~~~~

NAME fentry of a function with arguments on the stack
PROG fentry:do_mmap { }
NEEDS fentry before:6.6
RC 255
EXPECT
ERR_RE
	stdin:1:1-15: ERROR: Unable to attach probe: fentry:vmlinux:do_mmap: do_mmap has arguments on the stack, which needs Linux 6.6; use a kprobe: attach a tracing program.*\. If this is expected, set the 'missing_probes' config variable to 'warn'\.
	fentry:do_mmap \{ \}
	~~~~~~~~~~~~~~

NAME more programs than one function takes
RUN
	s= i=0
	while [ $i -lt 39 ]; do
		s="${s}fentry:vfs_readlink { @ = count(); }
	" i=$((i + 1))
	done
	"$SONDE" --dry-run -e "$s" 2>&1 | sed 's/stdin:[0-9]*:/stdin:N:/'
NEEDS fentry sym:bpf_for_each_map_elem
TIMEOUT 60
EXPECT
	stdin:N:1-20: ERROR: Unable to attach probe: fentry:vmlinux:vfs_readlink: attach a tracing program (no more programs fit on one function): Argument list too long. If this is expected, set the 'missing_probes' config variable to 'warn'.
	fentry:vfs_readlink { @ = count(); }
	~~~~~~~~~~~~~~~~~~~

# Debian's kernels have a third level of perf_event_paranoid.
NAME perf events are forbidden
RUN
	chmod 755 $TMPDIR && cp "$SONDE" $TMPDIR/sonde || exit
	c=-all,+bpf,+perfmon
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c $TMPDIR/sonde --no-feature FUNC_ARG -e 'kprobe:vfs_read { }' 2>&1
	echo 2 >/proc/sys/kernel/perf_event_paranoid
NEEDS kprobe file:/usr/bin/setpriv vm sym:bpf_for_each_map_elem
ALONE
TIMEOUT 30
EXPECT
	stdin:1:1-16: ERROR: Unable to attach probe: kprobe:vfs_read: put a kprobe at vfs_read: Permission denied (kernel.perf_event_paranoid is 3, and above 2 Debian's kernels let only CAP_SYS_ADMIN open perf events: use sudo, or sysctl kernel.perf_event_paranoid=2). If this is expected, set the 'missing_probes' config variable to 'warn'.
	kprobe:vfs_read { }
	~~~~~~~~~~~~~~~

NAME what probes there are is read once, whatever is missing
RUN
	"$SONDE" -q -e 'tracepoint:syscalls:sys_enter_openat /pid == cpid/ { $f = str(args.filename, 80); if ($f == "/proc/kallsyms") { @k++ } else if (strcontains($f, "available_filter_functions")) { @f++ } }
		END { printf("%d\n", @k <= 1 && @f <= 1 && @k + @f > 0); clear(@k); clear(@f) }' -c "$SONDE -e kprobe:no_such_1,kretprobe:no_such_2,kprobe:no_such_3{}" 2>&1 |
		grep -x 1
NEEDS tp:syscalls/sys_enter_openat
EXPECT
	1

NAME a probe that is missing, and a warning of it: no list is searched for a name like it
RUN
	"$SONDE" -q -e 'tracepoint:syscalls:sys_enter_openat /pid == cpid && strcontains(str(args.filename, 80), "available_filter_functions")/ { @f++ }
		END { printf("%d\n", @f == 0); clear(@f) }' -c "$SONDE -e config={missing_probes=warn}kprobe:no_such_1,kprobe:no_such_2{}begin{exit()}" 2>&1 |
		grep -x 1
NEEDS tp:syscalls/sys_enter_openat kprobe
EXPECT
	1
