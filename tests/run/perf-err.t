# What profile, interval, software, hardware and watchpoint say when the kernel refuses them. Texts
# that cannot be read are in tests/lang/err.E_PROBE_SYNTAX.*.

NAME more often than the kernel allows
RUN
	most=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	for p in profile:hz:100000000 interval:hz:4294967296; do
		"$SONDE" -e "begin { } $p { }" 2>&1 | sed "s/which is $most/which is MOST/"
	done
EXPECT
	stdin:1:11-31: ERROR: Unable to attach probe: profile:hz:100000000: 100000000 per second are more than kernel.perf_event_max_sample_rate allows, which is MOST. If this is expected, set the 'missing_probes' config variable to 'warn'.
	begin { } profile:hz:100000000 { }
	          ~~~~~~~~~~~~~~~~~~~~
	stdin:1:11-33: ERROR: Unable to attach probe: interval:hz:4294967296: 4294967296 per second are more than kernel.perf_event_max_sample_rate allows, which is MOST. If this is expected, set the 'missing_probes' config variable to 'warn'.
	begin { } interval:hz:4294967296 { }
	          ~~~~~~~~~~~~~~~~~~~~~~

NAME a probe that cannot be attached is a warning when that is wanted
RUN "$SONDE" -q -e 'config = { missing_probes = "warn" } profile:hz:100000000 { } interval:ms:1 { print(1); exit(); }' 2>&1 | sed 's/which is [0-9]*/which is MOST/'
EXPECT
	stdin:1:38-58: WARNING: Unable to attach probe: profile:hz:100000000: 100000000 per second are more than kernel.perf_event_max_sample_rate allows, which is MOST
	config = { missing_probes = "warn" } profile:hz:100000000 { } interval:ms:1 { print(1); exit(); }
	                                     ~~~~~~~~~~~~~~~~~~~~
	1
	$
	$

NAME no hardware counters
PROG hardware:cycles { }
NEEDS nohardware
RC 255
EXPECT
ERR
	stdin:1:1-16: ERROR: Unable to attach probe: hardware:cycles: open hardware counter 0 on CPU 0 (this machine has no such counter; virtual machines often have none): No such file or directory. If this is expected, set the 'missing_probes' config variable to 'warn'.
	hardware:cycles { }
	~~~~~~~~~~~~~~~

NAME no hardware counters, an event by number
PROG begin { } hardware:r1c0:5 { }
NEEDS nohardware
RC 255
EXPECT
ERR
	stdin:1:11-26: ERROR: Unable to attach probe: hardware:r1c0:5: open hardware counter 0x1c0 on CPU 0 (this machine has no such counter; virtual machines often have none): No such file or directory. If this is expected, set the 'missing_probes' config variable to 'warn'.
	begin { } hardware:r1c0:5 { }
	          ~~~~~~~~~~~~~~~

NAME a PMU that does not say which events are meant
PROG hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
NEEDS file:/sys/bus/event_source/devices/software/type
RC 1
EXPECT
ERR
	stdin:1:1-22: ERROR: no event or term of PMU software is named in software//
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	~~~~~~~~~~~~~~~~~~~~~
	stdin:1:27-54: ERROR: '/' is missing at the end of software/event=1
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	                          ~~~~~~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:59-81: ERROR: PMU software has neither an event nor a term 'x' (events: none)
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	                                                          ~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:86-115: ERROR: the value of term 'config' is not a number: x
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	                                                                                     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:120-142: ERROR: '' is not the name of a term of PMU software
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	                                                                                                                       ~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:147-165: ERROR: '..' is not the name of a PMU
	hardware:"software//" { } hardware:"software/event=1" { } hardware:"software/x/" { } hardware:"software/config=x/" { } hardware:"software/,/" { } hardware:"../x/y/" { }
	                                                                                                                                                  ~~~~~~~~~~~~~~~~~~

NAME terms of a PMU
RUN
	d=$TMPDIR/sys/bus/event_source/devices/odd
	mkdir -p $d/format $TMPDIR/sys/devices/system/cpu && echo 4 >$d/type && echo config:0-7 >$d/format/event && echo other:0-7 >$d/format/mask
	mkdir $d/../none && echo x >$d/../none/type
	echo 0 >$TMPDIR/sys/devices/system/cpu/online
	for e in odd/event=0x100/ odd/mask=1/ none/event=1/; do
		"$SONDE" --root $TMPDIR -e "hardware:\"$e\" { }" 2>&1 | head -n 1
	done
EXPECT
	stdin:1:1-28: ERROR: 0x100 does not fit term 'event' of PMU odd, which is config:0-7
	stdin:1:1-23: ERROR: /sys/bus/event_source/devices/odd/format/mask is not understood: other:0-7
	stdin:1:1-25: ERROR: /sys/bus/event_source/devices/none/type is not a number

NAME a PMU that only counts
PROG hardware:"msr/tsc/:5" { }
NEEDS file:/sys/bus/event_source/devices/msr/type
RC 255
EXPECT
ERR
	stdin:1:1-22: ERROR: Unable to attach probe: hardware:msr/tsc/:5: open perf event 0 on CPU 0 (this PMU may only count, and give no events): Invalid argument. If this is expected, set the 'missing_probes' config variable to 'warn'.
	hardware:"msr/tsc/:5" { }
	~~~~~~~~~~~~~~~~~~~~~

NAME an event that a PMU does not give
PROG hardware:"breakpoint/config=0/" { }
NEEDS file:/sys/bus/event_source/devices/breakpoint/type
RC 255
EXPECT
ERR
	stdin:1:1-32: ERROR: Unable to attach probe: hardware:breakpoint/config=0/: open hardware breakpoint at 0x0 on CPU 0: Invalid argument. If this is expected, set the 'missing_probes' config variable to 'warn'.
	hardware:"breakpoint/config=0/" { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME more watchpoints than the processor has registers
PROG watchpoint:0x1000:8:w, watchpoint:0x2000:8:w, watchpoint:0x3000:8:w, watchpoint:0x4000:8:w, watchpoint:0x5000:8:w { }
NEEDS x86_64
ALONE
RC 255
EXPECT
ERR
	stdin:1:93-114: ERROR: Unable to attach probe: watchpoint:0x5000:8:w: open hardware breakpoint at 0x5000 on CPU 0 (the processor can watch no more places at once): No space left on device. If this is expected, set the 'missing_probes' config variable to 'warn'.
	watchpoint:0x1000:8:w, watchpoint:0x2000:8:w, watchpoint:0x3000:8:w, watchpoint:0x4000:8:w, watchpoint:0x5000:8:w { }
	                                                                                            ~~~~~~~~~~~~~~~~~~~~~

NAME an odd address of a program's variable
RUN "$SONDE" -c 'build/tests/watched 1' -e 'watchpoint:ticks:8:w, watchpoint:main:8:rw { }' 2>&1 | sed 's/0x[0-9a-f]*/ADDRESS/'
NEEDS prog:watched
EXPECT
	stdin:1:23-43: ERROR: watchpoint address must be aligned to its length: ADDRESS is no multiple of 8
	watchpoint:ticks:8:w, watchpoint:main:8:rw { }
	                      ~~~~~~~~~~~~~~~~~~~~

NAME a process that has ended but was not waited for
RUN
	sh -c 'true & exec sleep 5' & p=$!
	until z=$(grep -l "^PPid:.$p\$" /proc/[0-9]*/status 2>/dev/null | head -n 1) && grep -q '^State:.Z' "$z" 2>/dev/null; do sleep 0.1; done
	z=${z#/proc/} z=${z%/status}
	for s in software:cpu:1000000 watchpoint:0x1000:8:w; do
		"$SONDE" -p $z -e "$s { }" 2>&1 | sed "s/process $z/process PID/"
	done
	kill $p
EXPECT
	stdin:1:1-21: ERROR: Unable to attach probe: software:cpu:1000000: process PID has ended. If this is expected, set the 'missing_probes' config variable to 'warn'.
	software:cpu:1000000 { }
	~~~~~~~~~~~~~~~~~~~~
	stdin:1:1-22: ERROR: Unable to attach probe: watchpoint:0x1000:8:w: process PID has ended. If this is expected, set the 'missing_probes' config variable to 'warn'.
	watchpoint:0x1000:8:w { }
	~~~~~~~~~~~~~~~~~~~~~

NAME names of a program that has not started, and of several processes
RUN
	cc -pie -fPIE -O1 -o $TMPDIR/moved tests/progs/watched.c || exit
	$TMPDIR/moved 200 20 & p=$!
	$TMPDIR/moved 200 20 & q=$!
	until_named $q moved
	"$SONDE" -p $p,$q -e 'watchpoint:ticks:8:w { }' 2>&1 | sed -n 1p
	cp $TMPDIR/moved $TMPDIR/other
	"$SONDE" -p $p -e "watchpoint:$TMPDIR/other:ticks:8:w { }" 2>&1 | sed -n "s,$TMPDIR,DIR,; s/$p/PID/; s/:1-[0-9]*:/:/; 1p"
	"$SONDE" -p $p -e "watchpoint:/no/such*:ticks:8:w { }" 2>&1 | sed -n 1p
	"$SONDE" -p $p -e "watchpoint:$TMPDIR/moved:no_such_name:8:w { }" 2>&1 | sed -n "s,$TMPDIR,DIR,; s/:1-[0-9]*:/:/; 1p"
	kill $p $q
NEEDS prog:watched cmd:cc
EXPECT
	stdin:1:1-21: ERROR: the address of ticks differs between processes; select one with -p
	stdin:1: ERROR: process PID has not mapped DIR/other
	stdin:1:1-31: ERROR: watchpoint no file fits /no/such*
	stdin:1: ERROR: DIR/moved has no symbol no_such_name

NAME addresses of the kernel without CAP_SYSLOG
RUN
	cp "$SONDE" $TMPDIR/sonde && chmod 755 $TMPDIR
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all $TMPDIR/sonde -e 'watchpoint:jiffies_64:8:w { }' 2>&1 |
		sed 's/kptr_restrict is [0-9]*/kptr_restrict is N/'
NEEDS file:/usr/bin/setpriv file:/proc/kallsyms
EXPECT
	stdin:1:1-26: ERROR: /proc/kallsyms hides the address of jiffies_64: needs CAP_SYSLOG while kernel.kptr_restrict is N
	watchpoint:jiffies_64:8:w { }
	~~~~~~~~~~~~~~~~~~~~~~~~~

NAME more programs than one event takes
RUN
	p='tracepoint:sched:sched_process_fork { @[args.child_pid] = count(); }'
	s= i=0
	while [ $i -lt 65 ]; do
		s="$s$p
	" i=$((i + 1))
	done
	"$SONDE" --no-feature TP_BTF -e "$s" 2>&1 | sed 's/stdin:[0-9]*:/stdin:N:/' # others may trace it, too
NEEDS tp:sched/sched_process_fork
TIMEOUT 30
EXPECT
	stdin:N:1-36: ERROR: Unable to attach probe: tracepoint:sched:sched_process_fork: attach a program to a perf event (64 programs at most on one event): Argument list too long. If this is expected, set the 'missing_probes' config variable to 'warn'.
	tracepoint:sched:sched_process_fork { @[args.child_pid] = count(); }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME a counter of one process where there are none
RUN "$SONDE" -p $$ -e 'hardware:branches { }' 2>&1 | sed 's/thread [0-9]*/thread TID/'
NEEDS nohardware
EXPECT
	stdin:1:1-18: ERROR: Unable to attach probe: hardware:branches: open hardware counter 4 for thread TID (this machine has no such counter; virtual machines often have none): No such file or directory. If this is expected, set the 'missing_probes' config variable to 'warn'.
	hardware:branches { }
	~~~~~~~~~~~~~~~~~

NAME a list of processors that cannot be read
RUN unshare -m sh -c 'echo rubbish >$TMPDIR/online && mount --bind $TMPDIR/online /sys/devices/system/cpu/online && "$SONDE" -e "profile:hz:9 { }"' 2>&1
NEEDS cmd:unshare
RC 255
EXPECT
	stdin:1:1-13: ERROR: Unable to attach probe: profile:hz:9: /sys/devices/system/cpu/online: not a list of CPUs: rubbish
	. If this is expected, set the 'missing_probes' config variable to 'warn'.
	profile:hz:9 { }
	~~~~~~~~~~~~
