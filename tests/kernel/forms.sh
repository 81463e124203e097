#!/bin/sh
# tests/kernel/forms.sh CATEGORY:EVENT FILTER 'FIELD ...' LOAD...: are an event's fields the same to a body that runs on the raw
# tracepoint and to one that keeps the perf event (because it names kstack)? SONDE is the tracer; both run while LOAD does.
# FILTER says which events count; "all": those of the machine, each compared with what the raw tracepoint showed on the
# same CPU just before. (Perf events that interrupt another one are left out by the kernel.) A field may be an expression
# such as str(args.name). Prints the event and "same", or what differs; before that, what is wrong about the form.
set -u
event=$1 filter=$2
fields=$(echo "$3" | sed 's/ /, /g; s/\<\([a-z_]*\)\>,/args.\1,/g; s/\<\([a-z_]*\)$/args.\1/; s/(\([a-z_]*\)/(args.\1/g')
shift 3
want=1 on='@on && '
case $event in sched:sched_process_exec | sched:sched_process_exit) want=2 on= ;; esac
case $fields in *,*) values="($fields)" ;; *) values=$fields ;; esac
case $filter in
all)
	probes="tracepoint:$event { @last[cpu] = $values; }
		tracepoint:$event /@on/ { if (0) { print(kstack); }
			if (@last[cpu] == $values) { @same = count(); } else { @differ = count(); } }
		end { if (@same > 20 * @differ || @same + @differ == 0) { if (@same) { print(\"@rawsame\"); print(\"@perfsame\"); } }
			else { print((\"@raw\", @same, @differ)); } clear(@same); clear(@differ); clear(@last); }"
	;;
*)
	probes="tracepoint:$event /$on($filter)/ { @raw[$fields] = count(); }
		tracepoint:$event /$on($filter)/ { @perf[$fields] = count(); if (0) { print(kstack); } }"
	;;
esac
out=$(mktemp) || exit 1
trap 'rm -f "$out" "$out".?' EXIT
"$SONDE" -q -c "sh -c 'grep -h tp_name /proc/\$PPID/fdinfo/*; exec $*'" -e "$probes
	tracepoint:sched:sched_process_exec /pid == cpid/ { @on = 1; }
	tracepoint:sched:sched_process_exit /pid == cpid && tid == pid/ { @on = 0; }
	end { clear(@on); }" >"$out" 2>&1 || { cat "$out"; exit 1; }
[ "$(grep -c "^tp_name:.${event#*:}$" "$out")" = $want ] || echo "$event: not on one raw tracepoint"
sed -n 's/^(*@raw//p' "$out" | sort >"$out.1"
sed -n 's/^@perf//p' "$out" | sort >"$out.2"
grep -q . "$out.1" || echo "$event: nothing seen"
if cmp -s "$out.1" "$out.2"; then
	echo "$event: same"
else
	diff "$out.1" "$out.2"
fi
[ "${VERBOSE:-}" ] && cat "$out"
exit 0
