# What sonde gives up when all is attached.

NAME rights: capabilities by what the script needs, and new ones cannot be had
RUN
	look() { "$SONDE" -v "$@" >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	eventually grep -q 'Seccomp:.2' /proc/$s/status
	sed -n 's/^\(NoNewPrivs\|CapInh\|CapAmb\):.//p' /proc/$s/status | tr '\n' ' '
	kill $s
	wait $s
	sed -n 's/^rights while tracing: [0-9]* system calls;//p' $TMPDIR/out | sed 's/ CAP_BPF//; s/: *$/: none/'
	}
	look -e 'tracepoint:sched:sched_switch { @ = count(); } end { print(1); }'
	look -e 'tracepoint:sched:sched_switch { @[kstack] = count(); }'
	look -e 'tracepoint:sched:sched_switch { printf("%s\n", ksym(7)); }'
	look -e 'interval:s:9 { cat("/etc/hosts"); }'
	look -e 'interval:s:9 { @ = usym(7); }'
	look -c 'sleep 100' -e 'interval:s:9 { @ = 1; }'
	look -o $TMPDIR/x.svg -e 'profile:hz:9 { @[kstack] = count(); }'
NEEDS slow feature:CONFINE
EXPECT
	0000000000000000 0000000000000000 1  capabilities: none
	0000000000000000 0000000000000000 1  capabilities: CAP_SYSLOG
	0000000000000000 0000000000000000 1  capabilities: CAP_SYSLOG
	0000000000000000 0000000000000000 1  capabilities: CAP_DAC_READ_SEARCH CAP_SYS_PTRACE CAP_SYSLOG
	0000000000000000 0000000000000000 1  capabilities: CAP_DAC_READ_SEARCH CAP_SYS_PTRACE CAP_CHECKPOINT_RESTORE
	0000000000000000 0000000000000000 1  capabilities: CAP_SYS_PTRACE CAP_KILL
	0000000000000000 0000000000000000 1  capabilities: CAP_DAC_OVERRIDE CAP_SYSLOG

NAME rights: what the process says is what the kernel says
RUN "$SONDE" -e 'tracepoint:sched:sched_switch { @[kstack] = count(); }' >$TMPDIR/out 2>&1 & s=$!; until_attached $TMPDIR/out; eventually grep -q 'Seccomp:.2' /proc/$s/status; for set in Prm Eff; do caps=0x$(sed -n "s/^Cap$set:.//p" /proc/$s/status); echo $(((caps & ~(1 << 39)) == 1 << 34)); done; kill $s; wait $s
NEEDS feature:CONFINE
EXPECT
	1
	1

NAME rights: scripts that run commands keep them, and so do the commands
RUN
	"$SONDE" -q -v --unsafe -e 'begin { printf("go\n"); }
		interval:ms:50 { system("grep -E '"'"'^(CapEff|Seccomp:)'"'"' /proc/self/status"); exit(); }' >$TMPDIR/out 2>&1
	grep -E '^(CapEff|Seccomp:)' /proc/self/status >$TMPDIR/own
	grep -E '^(CapEff|Seccomp:)' $TMPDIR/out | cmp - $TMPDIR/own && echo same
	grep '^rights' $TMPDIR/out
EXPECT
	same
	rights while tracing: all, because the script runs commands

NAME rights: kept with --no-feature confine
RUN "$SONDE" -v --no-feature confine -e 'begin { }' 2>&1 | grep rights
EXPECT rights while tracing: all, because this kernel has no filters of system calls, or they are off

NAME rights: kept when the script only begins and ends
RUN "$SONDE" -v -e 'begin { } end { }' 2>&1 | grep rights; "$SONDE" -v -e 'begin { exit(); } interval:s:9 { }' 2>&1 | grep -c 'rights while tracing: [0-9]'
NEEDS feature:CONFINE
EXPECT
	rights while tracing: all, because nothing is traced
	1

NAME -o as who called sudo
RUN
	d=$(mktemp -d /tmp/sonde-XXXXXX) && mkdir $d/his $d/ours && chown 1000:1000 $d/his || exit
	chmod 755 $d $d/ours; chmod 700 $d/his
	export SUDO_UID=1000 SUDO_GID=1000
	"$SONDE" -q --as-invoker -o $d/his/text -e 'begin { print(1); exit(); }'
	"$SONDE" -q --as-invoker -o $d/his/x.svg -e 'profile:hz:999 { @[kstack] = count(); } interval:ms:200 { exit(); }' 2>&1 | grep -v 'updates* w[ae][sr]e* refused'
	stat -c '%n %u %g' $d/his/* | sed 's,.*/,,'
	for f in text x.svg; do "$SONDE" -q --as-invoker -o $d/ours/$f -e 'begin { @[kstack] = count(); }' 2>&1 | sed "s,$d,TMP,"; done
	ln -s $d/ours/text $d/his/link; "$SONDE" -q --as-invoker -o $d/his/link -e 'begin { }' 2>&1 | sed "s,$d,TMP,"
	unset SUDO_GID; "$SONDE" -q --as-invoker -o $d/his/text -e 'begin { }'; echo $?; ls $d/ours; rm -r $d
EXPECT
	text 1000 1000
	x.svg 1000 1000
	ERROR: Failed to open output file 'TMP/ours/text': Permission denied
	ERROR: Failed to open output file 'TMP/ours/x.svg': Permission denied
	ERROR: Failed to open output file 'TMP/his/link': Permission denied
	1
ERR_RE ERROR: --as-invoker: SUDO_UID and SUDO_GID do not name the calling user

NAME rights: files of traced programs are read by a process that has none, and made anew when it has died
RUN
	build/tests/spin 20000 20000 & q=$!
	"$SONDE" -v -p $q -e 'profile:hz:199 { @[ustack] = count(); } interval:ms:100 { @n = count(); printf("%d\n", 1); }' >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	eventually grep -q '^files of traced' $TMPDIR/out
	r=$(sed -n 's/^files of traced programs: read by process \([0-9]*\), which has no rights$/\1/p' $TMPDIR/out)
	sed -n 's/^\(Cap[IPEA][a-z]*\|NoNewPrivs\|Seccomp\):.//p' /proc/$r/status | tr '\n' ' '; echo; ls /proc/$r/fd | wc -l
	kill -9 $r
	kill $s
	wait $s
	kill $q
	grep -q 'busy' $TMPDIR/out && echo named
	gone() { ! kill -0 $r 2>/dev/null; }
	eventually gone && echo gone
NEEDS feature:CONFINE uprobe prog:spin
EXPECT
	0000000000000000 0000000000000000 0000000000000000 0000000000000000 1 2 
	1
	named
	gone

NAME rights: debug information is read by that process, too
RUN
	build/tests/spin 20000 20000 & q=$!
	"$SONDE" -v -p $q -e 'config = { show_debug_info = true } profile:hz:199 { print(ustack(2)); }' >$TMPDIR/out 2>&1 & s=$!
	eventually grep -q 'spin.c:' $TMPDIR/out
	r=$(sed -n 's/^files of traced programs: read by process \([0-9]*\), which has no rights$/\1/p' $TMPDIR/out)
	for p in $s $r; do grep -c 'build/tests/spin$' /proc/$p/maps; done | sed 's/[1-9].*/mapped/'
	kill $s
	wait $s
	kill $q
EXPECT
	0
	mapped
NEEDS feature:CONFINE dwunwind prog:spin
