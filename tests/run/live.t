# Screens, also in guests: tests/live/live.py compares them, here is what depends on the kernel.

NAME hidden panes are detached, and attached again
RUN
	build/tests/screen 'until:2 second' send:z sleep:6 send:z 'until:not traced for' sleep:1 send:q -- "$SONDE" live --every 200ms -e '
		config = { panes = "@first: first; @second: second" }
		tracepoint:sched:sched_switch { @first = count(); }
		rawtracepoint:sched_switch, tracepoint:raw_syscalls:sys_exit, software:page-faults:1, interval:ms:10 {
			if (@seen && nsecs - @last > 3000000000) { @again = 1; }
			@second = count(); @seen = 1; @last = nsecs;
		}' >$TMPDIR/out || cat $TMPDIR/out
	grep -oE '^@(again|first|second): ' $TMPDIR/out
TIMEOUT 90
EXPECT
	@first: 
	@second: 

NAME the built-in board
RUN
	build/tests/screen 'until:CPU, run queue' 'until:system calls' send:5 'until:BPF programs' 'until:sonde: ' send:q -- "$SONDE" top --every 500ms | tr -d '\r\n'
	"$SONDE" top -c 'sh -c "for i in 1 2 3 4 5; do ls / >/dev/null; sleep 0.2; done"' >$TMPDIR/out; grep -oE '^@(cpu|calls|faults|runq)\[' $TMPDIR/out | sort -u
TIMEOUT 90
EXPECT
	@calls[
	@cpu[
	@faults[
	@runq[
