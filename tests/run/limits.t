# Limits of this process and of the disk: told, and nothing stays behind.

# Where there are kprobes, more is tried at the start, and with 20 descriptors a program seems refused.
NAME too few descriptors are an error in words
RUN
	for n in 6 7 8 9 10 12 14 16 20 25 30 35 40 42 44 47
	do sh -c 'ulimit -n $1; shift; exec "$@"' sh $n "$SONDE" -q -e 'tracepoint:sched:sched_switch { @limit_n[kstack, ustack] = count(); }
		profile:hz:9 { @limit_n2 = count(); } interval:ms:20 { exit(); }' >$TMPDIR/out 2>$TMPDIR/err
	rc=$?
	case $rc in 0) ;; 1 | 2 | 255) grep -q 'Too many open files' $TMPDIR/err || { echo "$n: $rc"
	cat $TMPDIR/err
	} ;; *) echo "$n: $rc"
	esac
	done
	gone() { ! bpftool map | grep -q limit_n
	}
	eventually gone && echo gone
NEEDS cmd:bpftool nokprobe
TIMEOUT 60
EXPECT gone

NAME without locked memory
RUN sh -c 'ulimit -l 0; exec "$@"' sh "$SONDE" -q -e 'config = { print_maps_on_exit = false } software:cpu-clock:1000000 { @[kstack] = count(); } interval:ms:200 { print("done"); exit(); }'
EXPECT
	done
	$
	$

NAME a full disk behind -o
RUN "$SONDE" -q -o /dev/full -e 'begin { print(1); exit(); }'; echo $?; "$SONDE" -q -o /dev/full --for 8s -e 'interval:ms:1 { printf("%4000d\n", 1); }'; echo $?
EXPECT
	1
	1
ERR
	ERROR: write output: No space left on device
	ERROR: write output: No space left on device
