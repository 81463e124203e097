#!/bin/sh
# probes.sh SONDE: each kind of probe on this kernel, as root: attaches it, makes it see events of its
# own, and compares how many. Prints a line for each kind,
#
#	probe|KIND|yes, HOW|            what it should see, it saw; HOW: tests/progs/look.c
#	probe|KIND|no|SENTENCE          what the tracer says why not
#
# and `not ok` where it attached and saw something else, or ended without a reason. What fails so, and
# what was given up for the time it took, is tried three times: machines under test are starved. The last
# lines sum up. tests/vm/table.sh makes the table in docs/probes.md of these lines. In a test guest the root
# lies on overlay and 9p, so functions and events of those modules can be seen.
set -u
[ $# = 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
SONDE=$(realpath "$1") || exit 1
[ -x "$SONDE" ] || { echo "probes.sh: no program $1"; exit 1; }
cd "$(dirname "$0")/../.." || exit 1
tests/run.sh -b
[ "$(id -u)" = 0 ] || { echo "NOT RUN: tracing needs root"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }

limit=60
tests=build/tests
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 again=
arch=$(uname -m)
case $arch in
aarch64) third=x2 result=x0 behind=8 raw=r0011 pmu=armv8_pmuv3/event=0x11/ ;;
*) third=dx result=ax behind=5 raw=r00c0 pmu=cpu/event=0xc0/ ;;
esac
any='[1-9]*' # how often: a shell pattern

# The first error, without its place and what differs from run to run.
sentence() {
	sed -n 's/.*ERROR: //p' "$tmp/err" | head -n 1 |
		sed -e 's/^Unable to attach probe: //' -e 's/ If this is expected, set .*//' \
			-e 's, for thread [0-9]*,,' -e 's/process [0-9][0-9]*/the process/' -e "s,$tmp,DIR,g" -e 's/0x[0-9a-f]\{8,\}/ADDRESS/g'
}

# passes KIND: one row more.
passes() {
	passed=$((passed + 1))
	[ $left = 2 ] || again="$again$1
"
}

# judge KIND WANTED EXIT-CODE: by $tmp/out, $tmp/err and $tmp/how. True: it is worth another try, if one is $left.
judge() {
	got=$(sed -n 's/^@: //p' "$tmp/out")
	how=$(cat "$tmp/how" 2>/dev/null)
	why=$(sentence)
	case $got in
	$2)
		[ "$3" = 0 ] && passes "$1" && echo "probe|$1|yes${how:+, $how}|" && return 1
		;;
	esac
	sentence=
	[ "$3" = 0 ] || [ "$got" ] || sentence=$why
	case $sentence in
	'' | *' too long, so it is left alone') [ $left = 0 ] || return 0 ;;
	esac
	if [ "$sentence" ]; then
		passes "$1"
		echo "probe|$1|no|$sentence"
	else
		failed=$((failed + 1))
		echo "not ok $1: it saw '$got', not $2; exit code $3"
		sed 's/^/# /' "$tmp/err" | head -n 10
	fi
	return 1
}

# trace KIND WANTED SCRIPT OPTION...
trace() {
	kind=$1 wanted=$2 script=$3
	shift 3
	for left in 2 1 0; do
		rm -f "$tmp/how"
		timeout -k 2 $limit "$SONDE" -q "$@" -e "$script" </dev/null >"$tmp/out" 2>"$tmp/err"
		judge "$kind" "$wanted" $? || break
		echo "# again: $kind: it saw '$got'; $why"
	done
}

# row_of PROGRAM KIND ...: of a test program that is not written for every architecture.
row_of() {
	of=$1
	shift
	if [ -x "$tests/$of" ]; then row "$@"; else echo "probe|$1|not tried|"; fi
}

# row KIND WANTED LOAD SCRIPT [OPTION...]: LOAD is a program of tests/progs and its arguments.
row() {
	kind=$1 wanted=$2 load=$3 script=$4
	shift 4
	trace "$kind" "$wanted" "$script" "$@" -c "$tests/look $tmp/how $tests/$load"
}

n='{ @ = count(); }'

kprobes() {
	w="/pid == cpid && arg2 == 100/ $n"
	rw='rw w100 w100 w100 r5'
	row '`kprobe:f`' 3 "$rw" "kprobe:vfs_write $w"
	row '`kprobe:f` with `kstack`, `reg` or `ctx`' 3 "$rw" \
		"kprobe:vfs_write /pid == cpid && reg(\"$third\") == 100 && len(kstack) > 1/ $n"
	row '`kprobe` of four functions' 8 "$rw" \
		"kprobe:vfs_write, kprobe:ksys_write, kprobe:vfs_read, kprobe:ksys_read
		/pid == cpid && (arg2 == 100 || arg2 == 5)/ $n"
	# Behind the nop of five bytes at the start, before which endbr64 or what replaces it may stand.
	# On aarch64 it is one of the two of four bytes, before which a landing pad may stand.
	offset=8
	[ $arch = aarch64 ] || offset=$("$SONDE" -q -e 'begin { print(*(uint32 *)kaddr("vfs_write") == 0x00441f0f ? 5 : 9); }' | head -n 1)
	row '`kprobe:f+offset`' 3 "$rw" "kprobe:vfs_write+$offset $w"
	address=$(sed -n 's/^\([0-9a-f]*\) . vfs_write$/0x\1/p' /proc/kallsyms | head -n 1)
	row '`kprobe:address`, `--unsafe`' 3 "$rw" "kprobe:$address $w" --unsafe
	row '`kprobe:module:f`' 2 "$opens" "kprobe:overlay:ovl_open $o"
	row '`kprobe:f`, `f` in a module' 2 "$opens" "kprobe:ovl_open $o"
	row '`kprobe:f*`' "$any" "$rw" "kprobe:vfs_* $w"
	row '`kprobe:f*`, some in modules' "$any" "$opens" "kprobe:*[el]_open $o"
	row '`kprobe:module*:f*`' "$any" "$opens" "kprobe:overl*:ovl_o* $o"

	r="/pid == cpid && retval == 100/ $n"
	row '`kretprobe:f`' 3 "$rw" "kretprobe:vfs_write $r"
	row '`kretprobe:f` with `kstack`, `reg` or `ctx`' 3 "$rw" \
		"kretprobe:vfs_write /pid == cpid && reg(\"$result\") == 100 && len(kstack) > 0/ $n"
	row '`kretprobe:module:f`' 2 "$opens" "kretprobe:overlay:ovl_open $o"
	row '`kretprobe:f*`, up to 64' "$any" "$rw" "kretprobe:vfs_w*,kretprobe:ksys_* $r"
	row '`kretprobe:f*`, more' "$any" "$rw" "kretprobe:vfs_*,kretprobe:ksys_* $r"
}

# typed PROVIDER RETURNED-COUNT RETURNED-ZERO RETURNED-ADDRESS: the last three are conditions on retval.
typed() {
	row "\`$1:f\`" 3 "$rw" "$1:vfs_write /pid == cpid && args.count == 100$2/ $n"
	row "\`$1:module:f\`" 2 "$opens" \
		"$1:overlay:ovl_open /pid == cpid && comm == \"open\" && args.inode != 0$3/ $n"
	row "\`$1:f\`, \`f\` in a module" 2 "$opens" "$1:ovl_open $o"
	row "\`$1:f*\`" "$any" "$rw" "$1:vfs_wr* /pid == cpid/ $n"
	row "\`$1:module*:f*\`" "$any" "$opens" "$1:overl*:ovl_op* $o"
	row "\`$1:f\`, more than six arguments" 3 'syscalls 3 mmap' \
		"$1:do_mmap /pid == cpid && args.len == 20480 && args.populate != 0$4/ $n"
	row "\`$1:f\`, a structure by value" 3 'sockets 3' \
		"$1:tcp_setsockopt /pid == cpid && args.optval.user != 0 && args.optlen == 4$3/ $n"
	row "\`$1:bpf:program\`" "$any" 'spin 1 200' "$1:bpf:interval_ms_20* $n"
}

kernel() {
	opens='open /etc/passwd /etc/passwd'
	o="/pid == cpid && comm == \"open\"/ $n"
	kprobes
	"$SONDE" -q -e 'interval:ms:20 { @a = count(); }' >/dev/null 2>&1 &
	other=$!
	until "$SONDE" -l 'fentry:bpf:interval_ms_20*' 2>/dev/null | grep -q . || ! kill -0 $other; do
		sleep 0.1
	done
	typed fentry '' '' ''
	typed fexit ' && (int64)retval == 100' ' && retval == 0' ' && retval != 0'
	kill $other

	row '`tracepoint:c:e`' 1 "$rw" "tracepoint:sched:sched_process_exit /pid == cpid/ $n"
	row '`tracepoint:c:e*`' "$any" "$rw" "tracepoint:sched:sched_process_e* /pid == cpid/ $n"
	row '`tracepoint:c:e` of a module' "$any" 'open /usr/share' "tracepoint:9p:9p_client_req $o"
	l='syscalls 3 lseek'
	case $(uname -m) in x86_64) sys_lseek=__x64_sys_lseek ;; *) sys_lseek=__arm64_sys_lseek ;; esac
	l_only='/pid == cpid && comm == "syscalls"/'
	row '`tracepoint:syscalls:sys_enter_x`' 3 "$l" "tracepoint:syscalls:sys_enter_lseek $l_only $n"
	row '`tracepoint:syscalls:sys_exit_x`' 3 "$l" \
		"tracepoint:syscalls:sys_exit_lseek $l_only $n"
	row '`tracepoint:syscalls:sys_enter_*`' 3 "$l" "tracepoint:syscalls:sys_enter_*
		/pid == cpid && comm == \"syscalls\" && probe == \"tracepoint:syscalls:sys_enter_lseek\"/ $n"
	row '`rawtracepoint:e`' 1 "$rw" \
		"rawtracepoint:sched_process_exit /pid == cpid && args.p.pid == cpid/ $n"
	row '`rawtracepoint:e*`' "$any" "$rw" "rawtracepoint:sys_e* /pid == cpid/ $n"
	row '`rawtracepoint:module:e`' "$any" 'open /usr/share' "rawtracepoint:9pnet:9p_client_req $o"
}

# address PROGRAM SYMBOL
address() {
	nm $tests/$1 | sed -n "s/^0*\([0-9a-f]*\) [TDB] $2\$/0x\1/p"
}

programs() {
	u=uprobe:$tests/landing
	row '`uprobe:path:f`' 3 'landing 3' "$u:pushes $n"
	row '`uprobe:path:f+offset`' 3 'landing 3' "$u:pushes+$behind $n"
	row '`uprobe:path:address`' 3 'landing 3' "$u:$(address landing pushes) $n"
	row '`uprobe:path:f*`' 9 'landing 3' "$u:pushe*,$u:move*,$u:bar* $n"
	row '`uprobe:library:f`' 3 'calls 3' "uprobe:libc:snprintf $n"
	row '`uprobe:path:cpp:name`' 6 'names 3' "uprobe:$tests/names:cpp:ns::C::m $n"
	row '`uprobe:path:rust:name`' 6 'names 3' "uprobe:$tests/names:rust:demo::shape::area $n"
	row '`uprobe:path@file:line`' 3 'typed0 3' "uprobe:$tests/typed0@typed.c:49 $n"
	row '`uprobe:path:f` with `args.name`' 3 'typed 3' \
		"uprobe:$tests/typed:visit /args.pt.x == 11 && str(args.big.name) == \"bigname\"/ $n"
	row_of goabi '`uprobe:path:f` of Go with `arg8`' 3 'goabi 3' "uprobe:$tests/goabi:main.sum9 /arg8 == 9/ $n"
	r=uretprobe:$tests/landing
	row '`uretprobe:path:f`' 1 'landing 3' "$r:pushes /retval == 2/ $n"
	row '`uretprobe:path:f*`' 9 'landing 3' "$r:pushe*,$r:move*,$r:bar* $n"
	row_of goabi '`uretprobe:path:f` of Go' 1 'goabi 3' "uretprobe:$tests/goabi:main.sign /(int64)retval == 1/ $n"
	row '`usdt:path:provider:name`' 3 'tracetest 3' "usdt:$tests/tracetest:tracetest:many /arg2 == 65000/ $n"
	row '`usdt`, with a semaphore' 3 'sdt 3' "usdt:$tests/sdt:own:guarded $n"
	row_of usdtforms '`usdt`, several places' 9 'usdtforms 3' "usdt:$tests/usdtforms:places $n"
	row '`usdt:path:*`' 18 'sdt 3' "usdt:$tests/sdt:own:* /probe != \"\"/ $n"
}

# Processes that call pushes() and sleep by turns, one to be traced ($pid) and one that is not to be
# seen: how often it runs before it is detached depends on the machine, whom it sees does not.
processes() {
	$tests/landing 1 20 100000 &
	others=$!
	mkdir "$tmp/jail"
	unshare -m sh -c "mount -t tmpfs none $tmp/jail && mkdir $tmp/jail/bin &&
		cp $tests/landing $tmp/jail/bin/inside && exec chroot $tmp/jail /bin/inside 1 20 100000" &
	pid=$!
	others="$others $pid"
	until [ "$(cat /proc/$pid/comm)" = inside ] || ! kill -0 $pid; do sleep 0.05; done
	once="{ @ = max(pid == $pid ? 1 : 1000); exit(); }"
	trace '`-p`: `uprobe:path:f` in another mount namespace' 1 \
		"uprobe:/bin/inside:pushes $once" -p $pid
	trace '`-p`: `uretprobe:path:f` in another mount namespace' 1 \
		"uretprobe:/bin/inside:pushes $once" -p $pid
	trace '`-p`: `uprobe:*:f`' 1 "uprobe:*:pushes $once" -p $pid
	trace '`-p`: `uprobe:f`' 1 "uprobe:pushes $once" -p $pid

	$tests/landing 1 20 100000 &
	pid=$!
	others="$others $pid"
	once="{ @ = max(pid == $pid ? 1 : 1000); exit(); }"
	u="uprobe:$tests/landing:pushes $once"
	k="kprobe:do_nanosleep $once"
	s="software:cs:1 $once"
	t="tracepoint:syscalls:sys_enter_clock_nanosleep $once"
	for x in "$k" "$u" "$s" "$t"; do
		trace "\`-p\`: \`${x%%:*}\`" 1 "$x" -p $pid
	done
	cgroups=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
	id=5d0ce00000000000000000000000000000000000000000000000000000000000
	group=$cgroups/docker-$id.scope
	mkdir "$group"
	echo $pid >"$group/cgroup.procs"
	trace '`--cgroup`: `kprobe`' 1 "$k" --cgroup "$group"
	trace '`--cgroup`: `uprobe`' 1 "$u" --cgroup "$group"
	trace '`--cgroup`: `software`' 1 "$s" --cgroup "$group"
	trace '`--container`: `tracepoint`' 1 "$t" --container $id
	kill $others $pid
	wait $others $pid 2>/dev/null
	rmdir "$group"
	c='/pid != cpid/ { @ = count(); }'
	for x in "kprobe:vfs_write /pid != cpid && arg2 == 100/ $n" "uprobe:$tests/landing:pushes $c" \
		"software:page-faults:1 $c" "tracepoint:syscalls:sys_enter_clock_nanosleep $c"; do
		trace "\`--follow\`: \`${x%%:*}\`" "$any" "$x" --follow \
			-c "sh -c '$tests/rw w100; $tests/landing 1 1; true'"
	done
}

events() {
	row '`profile:hz:n`' "$any" 'spin 200' "profile:hz:99 /pid == cpid/ $n"
	row '`profile:ms:n`' "$any" 'spin 200' "profile:ms:5 /pid == cpid/ $n"
	row '`interval:ms:n`' "$any" 'spin 1 300' "interval:ms:20 $n"
	row '`software:event:n`' '1[0-9][0-9][0-9]' 'faults 1000' "software:page-faults:1 /pid == cpid/ $n"
	row '`hardware:event:n`' "$any" 'spin 200' "hardware:cycles:100000 /pid == cpid/ $n"
	row '`hardware:r00c0:n`' "$any" 'spin 200' "hardware:$raw:100000 /pid == cpid/ $n"
	row '`hardware:"cpu/event=0xc0/":n`' "$any" 'spin 200' \
		"hardware:\"$pmu\":100000 /pid == cpid/ $n"
	row '`hardware:"software/config=2/":n`' '1[0-9][0-9][0-9]' 'faults 1000' \
		"hardware:\"software/config=2/\":1 /pid == cpid/ $n"

	# Some virtual machines have debug registers, and nothing happens.
	if [ "${SONDE_VM-}" ] || $tests/watchable; then
		row '`watchpoint:address:8:w`' 5 'watched 5' "watchpoint:$(address watched ticks):8:w $n"
		# Names are looked for in the program that is to be run.
		trace '`watchpoint:name:8:w`' 5 "watchpoint:ticks:8:w $n" -c "$tests/watched 5"
		trace '`watchpoint:name:8:rw`' 10 "watchpoint:ticks:8:rw $n" -c "$tests/watched 5"
		trace '`watchpoint:name:1:x`' 1 "watchpoint:main:1:x $n" -c "$tests/watched 5"
	fi
	row '`watchpoint` of a variable of the kernel' "$any" 'spin 300' "watchpoint:jiffies_64:8:w $n"
	row '`watchpoint` of a function of the kernel' 3 'syscalls 3 lseek' \
		"watchpoint:$sys_lseek:1:x $l_only $n"

	$tests/sockets 1 100000 >"$tmp/ready" &
	pid=$!
	until [ -s "$tmp/ready" ] || ! kill -0 $pid; do sleep 0.05; done
	for i in task task_file task_vma bpf_map bpf_prog bpf_link tcp udp unix netlink ipv6_route ksym cgroup \
		kmem_cache dmabuf; do
		case $i in
		dmabuf) # nothing to be seen where none can be made, unless there is no such iterator
			[ -e /dev/udmabuf ] || ! "$SONDE" -l iter:dmabuf 2>/dev/null | grep -q . || continue
			which='ctx.meta.seq_num < 9'
			;;
		task) which="ctx.task.tgid == $pid" ;;
		task_file) which="ctx.task.tgid == $pid && ctx.fd < 3" ;;
		task_vma) which="ctx.task.tgid == $pid && ctx.vma.vm_end > ctx.vma.vm_start" ;;
		*) which='ctx.meta.seq_num < 9' ;;
		esac
		trace "\`iter:$i\`" "$any" "iter:$i /$which/ $n"
	done
	kill $pid
	wait $pid 2>/dev/null
}

own() {
	row '`begin`' 1 'spin 1' "begin $n"
	row '`end`' 1 'spin 1' "end $n"
	trace '`self:signal:SIGUSR1`' 1 "self:signal:SIGUSR1 { @ = count(); exit(); }" \
		-c 'sh -c "kill -USR1 $PPID; sleep 60"'
	trace '`test:name`, `--test`' 1 "test:t $n" --test
	trace '`bench:name`, `--bench`' "$any" "bench:b $n" --bench
}

kernel
programs
processes
events
own
printf %s "$again" | sed 's/^/# passed at a later try: /'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
