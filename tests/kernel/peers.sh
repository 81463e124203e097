#!/bin/sh
# sonde's tools beside bpftrace's and libbpf-tools' of the same name: both run at the same time, watch the
# same load (diff/load.c), and must tell the same events.
#
#   tests/kernel/peers.sh -r ROOT [-k KEEP] SONDE [TOOL...]
#
# ROOT is a folder with another system in it, where bpftrace and libbpf-tools are installed (Debian's packages of
# these names): all run under chroot there, so SONDE has to be static. KEEP: all outputs are kept there. TOOLs, else
# all that are listed below.
#
# Each tool has a row: its name, the load, our options, their command, and what is compared: two programs of awk
# that print, for ours (CSV) and theirs, what both know of an event. "sum" before them: only the sums are compared,
# which may differ by 5 %, with "sum:15" by 15 %, because the whole machine counts, or seconds begin at other moments,
# and bpftrace, which is first, sees how ours begins. LOADPID and LOAD in a
# command stand for the load's process and program. Behind the load: +kprobes when theirs needs them, +guest when
# the load does what only a test guest may suffer.
# Tools that need kprobes: in a guest, tests/vm/run.sh -c 'TEST_SLOW=4 sh tests/kernel/peers.sh -r ROOT SONDE' SONDE 6.12,
# with GUEST_MODULES="$(sh tests/kernel/toolkernels.sh -m)" and GUEST_SECONDS=5000; ROOT needs e2fsprogs for it.
# A difference has to show three times. The last line sums up; exit code 1 when one failed.
set -u

rows() {
	cat <<-'END'
		execsnoop`execsnoop`execsnoop -x --csv --fields argv`bpftrace /usr/sbin/execsnoop.bt`sub(/.*toolload-/, "")`sub(/.*toolload-/, "")
		opensnoop`opensnoop`opensnoop -n toolload --csv --fields comm,ret,err,path`opensnoop-libbpf`/^toolload/ { $0 = $2 " " $3 " " $4; k = 1 } k`/ toolload / { $0 = $3 " " $4 " " $5; k = 1 } k
		exitsnoop`setuids`exitsnoop --csv --fields comm,exit_code`exitsnoop-libbpf`/^toolload/ { $0 = $1 " " $2; k = 1 } k`/^toolload/ { $0 = $1 " " $6; k = 1 } k
		sigsnoop`killsnoop`sigsnoop --csv --fields comm,signal,target_comm`sigsnoop-libbpf`/^toolload/ { $0 = $2 " " $3; k = 1 } k`$3 == "toolload" { $0 = $4 " " $6; k = 1 } k
		statsnoop`statsnoop`statsnoop -n toolload --csv --fields comm,ret,err,path`statsnoop-libbpf`/^toolload/ { $0 = $2 " " $3 " " $4; k = 1 } k`$2 == "toolload" { sub(/.*.dir.relative/, "relative", $5); $0 = $3 " " $4 " " $5; k = 1 } k
		syncsnoop`syncsnoop`syncsnoop --csv --fields comm,syscall`syncsnoop-libbpf`/^toolload/ { $0 = $2; k = 1 } k`$2 == "toolload" { $0 = $3; k = 1 } k
		killsnoop`killsnoop`killsnoop --csv --fields comm,signal_name,ret`bpftrace /usr/sbin/killsnoop.bt`/^toolload/ { $0 = ($2 ~ /^[A-Z]/ ? $2 : "-") " " $3; k = 1 } k`$3 == "toolload" { sub(/^SIG/, "", $4); $0 = ($4 ~ /^[A-Z]/ && $4 != "N/A" ? $4 : "-") " " $NF; k = 1 } k
		naptime`naptime`naptime --csv --fields comm,duration_ns`bpftrace /usr/sbin/naptime.bt`/^toolload/ { $0 = sprintf("%d", $2 / 1000000); k = 1 } k`/ toolload / { $0 = sprintf("%d", $NF * 1000 + 0.5); k = 1 } k
		setuids`setuids`setuids --csv --fields comm,uid,syscall`bpftrace /usr/sbin/setuids.bt`/^toolload/ { $0 = $2 " " $3; k = 1 } k`$3 == "toolload" { $0 = $4 " " $5; k = 1 } k
		threadsnoop`threadsnoop`threadsnoop --csv --fields comm,function`bpftrace /usr/sbin/threadsnoop.bt`/^toolload/ { $0 = $2; k = 1 } k`/ toolload / { $0 = $NF; k = 1 } k
		gethostlatency`gethostlatency`gethostlatency --csv --fields comm,host`bpftrace /usr/sbin/gethostlatency.bt`/^toolload/ { $0 = $2; k = 1 } k`/ toolload .*(127[.]0|::1)/ { $0 = $NF; k = 1 } k
		mountsnoop`mountsnoop`mountsnoop --csv`mountsnoop-libbpf`/toolload/ && /umount/ { $0 = "umount"; k = 1 } /toolload/ && /mount/ { $0 = /ENOENT/ ? "none" : "mount"; k = 1 } k`/^toolload/ && /umount/ { $0 = "umount"; k = 1 } /^toolload/ && /mount/ { $0 = /ENOENT/ ? "none" : "mount"; k = 1 } k
		tcpstates`tcp`tcpstates --csv --fields old_state,new_state`tcpstates-libbpf`/^[A-Z]/ { $0 = $1 " " $2; k = 1 } k`/ -> / && $NF != "MS" { $0 = $(NF - 3) " " $(NF - 1); k = 1 } k
		tcplife`tcp`tcplife --csv --fields comm,tx_bytes,rx_bytes`tcplife-libbpf`/^toolload/ { $0 = int($2 / 1024) " " int($3 / 1024); k = 1 } k`$2 == "toolload" { $0 = int($(NF - 2)) " " int($(NF - 1)); k = 1 } k
		writeback`writeback`writeback --csv --fields bdi,pages,reason`bpftrace /usr/sbin/writeback.bt`/SYNC$/ { $0 = $1; k = 1 } k`$4 == "sync" { $0 = $2; k = 1 } k
		bitesize`bitesize`bitesize --csv`bitesize-libbpf`/^toolload/ && $4 > 0 { $0 = $2 " " $4; k = 1 } k`/Process Name/ { on = $NF == "toolload" } on && /->/ { $0 = $1 " " $5; k = $2 > 0 } k
		syscount`syscount`syscount --csv`bpftrace /usr/sbin/syscount.bt`/^(getsid|sched_get_priority_min|sched_get_priority_max),/ { $0 = $2; k = 1 } k`/^@syscall.(124|146|147)/ { $0 = $NF; k = 1 } k
		tcpconnect`tcp+kprobes`tcpconnect --csv --fields comm,saddr,daddr,dport`tcpconnect-libbpf`/^toolload/ { $0 = $2 " " $3 " " $4; k = 1 } k`/ toolload / { $0 = $(NF - 2) " " $(NF - 1) " " $NF; k = 1 } k
		tcpconnlat`tcp+kprobes`tcpconnlat --csv --fields comm,saddr,daddr,dport`tcpconnlat-libbpf`/^toolload/ { $0 = $2 " " $3 " " $4; k = 1 } k`/ toolload / { $0 = $(NF - 3) " " $(NF - 2) " " $(NF - 1); k = 1 } k
		tcptracer`tcp+kprobes`tcptracer --csv --fields comm,saddr,daddr,sport,dport`tcptracer-libbpf`/^toolload/ { $0 = $2 " " $3 " " $4 " " $5; k = 1 } k`/ toolload / { $0 = $(NF - 3) " " $(NF - 2) " " $(NF - 1) " " $NF; k = 1 } k
		tcprtt`tcp+kprobes`tcprtt --csv`tcprtt-libbpf`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/->/ { $0 = $5; k = 1 } k
		tcppktlat`tcp`tcppktlat --csv --fields comm,lport,rport`tcppktlat-libbpf`/^toolload/ { $0 = $2 " " $3; k = 1 } k`/ toolload / { $0 = $5 " " $7; k = 1 } k
		biopattern`bitesize`biopattern --csv --fields time,requests`biopattern-libbpf`sum /^20/ { $0 = $2; k = 1 } k`/^[a-z]/ { $0 = $4; k = 1 } k
		bindsnoop`tcp+kprobes`bindsnoop --csv --fields comm,protocol,addr`bindsnoop-libbpf`/^toolload/ { $0 = $2 " " $3; k = 1 } k`/ toolload / { $0 = $4 " " $NF; k = 1 } k
		solisten`tcp+kprobes`solisten --csv --fields comm,port,addr`solisten-libbpf`/^toolload/ { $0 = $2 " " $3; k = 1 } k`/toolload / { $0 = $(NF - 1) " " $NF; k = 1 } k
		filelife`filelife+kprobes`filelife --csv`filelife-libbpf`/toolload/ { $0 = $NF; k = 1 } k`/ toolload / { $0 = $NF; k = 1 } k
		capable`setuids+kprobes`capable -v --csv --fields comm,name`capable-libbpf`/^toolload/ { $0 = $2; k = 1 } k`/ toolload / { $0 = $6; k = 1 } k
		pidpersec`pidpersec`pidpersec --csv`bpftrace /usr/sbin/pidpersec.bt`sum /^20/ { $0 = $2; k = 1 } k`/PIDs/ { $0 = $NF; k = 1 } k
		biolatency`bitesize`biolatency --csv`biolatency-libbpf`sum /^[0-9]/ { $0 = $NF; k = 1 } k`/->/ { $0 = $5; k = 1 } k
		runqlat`runqlat`runqlat --csv`runqlat-libbpf`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/->/ { $0 = $5; k = 1 } k
		biosnoop`bitesize`biosnoop --csv --fields comm`bpftrace /usr/sbin/biosnoop.bt`sum /^toolload/ { $0 = 1; k = 1 } k`/ toolload / { $0 = 1; k = 1 } k
		bashreadline`bash`bashreadline --csv --fields line`bpftrace /usr/sbin/bashreadline.bt`/toolload/ { k = 1 } k`/toolload/ { sub(/.* echo/, "echo"); k = 1 } k
		runqslower`runqlat`runqslower 2000 --csv --fields comm`runqslower-libbpf 2000`sum /^toolload/ { $0 = 1; k = 1 } k`/ toolload / { $0 = 1; k = 1 } k
		softirqs`files`softirqs -C --csv`softirqs-libbpf -C`sum /[0-9]$/ { $0 = $2; k = 1 } k`/^[a-z].* [0-9]+$/ { $0 = $NF; k = 1 } k
		hardirqs`bitesize`hardirqs -C --csv`hardirqs-libbpf -C`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/ [0-9]+$/ && $3 != "TOTAL_usecs" { $0 = $(NF - 3); k = 1 } k
		offcputime`naptime`offcputime -n toolload --csv --fields comm,total_ns`offcputime-libbpf`sum /^toolload/ { $0 = $2 / 1000; k = 1 } k`on { $0 = $1; k = 1; on = 0 } / toolload \(/ { on = 1 } k
		wakeuptime`naptime`wakeuptime --csv --fields comm,total_ns`wakeuptime-libbpf`sum /^toolload/ { $0 = $2 / 1000; k = 1 } k`/target: / { on = $NF == "toolload" } on && NF == 1 && /^[\t ]*[0-9]+$/ { k = 1 } k
		profile`compute`profile -n toolload --csv --fields comm,samples`profile-libbpf -F 99`sum /^toolload/ { $0 = $2; k = 1 } k`on { $0 = $1; k = 1; on = 0 } / toolload \(/ { on = 1 } k
		runqlen`compute`runqlen --csv`runqlen-libbpf`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/^ +[0-9]+ +:/ { $0 = $3; k = 1 } k
		cpuwalk`compute`cpuwalk --csv`bpftrace /usr/sbin/cpuwalk.bt`sum:15 /^[0-9]/ { $0 = $2 * $3; k = 1 } k`/^\[/ { $0 = $2; k = 1 } k
		biostacks`bitesize`biostacks --csv`bpftrace /usr/sbin/biostacks.bt`sum /^"/ { on = 0 } /pwrite64/ { on = 1 } on && /",[0-9]/ { $0 = $NF; k = 1 } k`/^@/ { on = 0 } /pwrite64/ { on = 1 } on && /^\[/ { $0 = $0 ~ /^.[^)]*\]/ ? $2 : $3; k = 1 } k
		futexctn`futex`futexctn -s -n toolload --csv --fields comm,waits`futexctn-libbpf -s`/^toolload/ { $0 = $2; k = 1 } k`/^toolload/ { $0 = $5; k = 1 } k
		memleak`leak`memleak -p LOADPID -o 0 --csv --fields bytes,allocations 1h`memleak-libbpf -p LOADPID 1`/^[0-9]/ { $0 = $1 " " $2; k = 1 } k`/ bytes in / { $0 = $1 " " $4; k = !seen[$0]++ } k
		sslsnoop`tls`sslsnoop -n openssl --csv --fields comm,function,ret`bpftrace /usr/sbin/sslsnoop.bt`/,SSL_(read|write|do_handshake),/ { $0 = $2 " " $3; k = 1 } k`$3 == "openssl" { $0 = $6 " " $5; k = 1 } k
		ssllatency`tls`ssllatency -n openssl --csv --fields function,calls`bpftrace /usr/sbin/ssllatency.bt`sum /^SSL_(read|write|do_handshake),/ { $0 = $2; k = 1 } k`/^@stat/ { $0 = $5; k = 1 } k
		funclatency`threadsnoop`funclatency LOAD:second_start --csv`funclatency-libbpf LOAD:second_start`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/->/ { $0 = $5; k = 1 } k
		oomkill`oom+kprobes+guest`oomkill --csv --fields comm,victim_comm,limit_pages`oomkill-libbpf`/^toolload/ { $0 = $1 " " $2 " " $3; k = 1 } k`/OOM kill.*toolload/ { match($0, /[0-9]+ pages/); $0 = "toolload toolload " substr($0, RSTART, RLENGTH - 6); k = 1 } k
		tcpsynbl`tcp+kprobes`tcpsynbl --csv`tcpsynbl-libbpf`sum /[0-9]$/ { $0 = $NF; k = 1 } k`/->/ { $0 = $5; k = 1 } k
		tcptop`stream+kprobes`tcptop --csv --fields comm,tx_bytes,rx_bytes`tcptop-libbpf -C`sum /^toolload/ { $0 = ($2 + $3) / 1024; k = 1 } k`$2 == "toolload" { $0 = $(NF - 1) + $NF; k = 1 } k
		biotop`ext4+kprobes+guest`biotop --csv --fields comm,requests`biotop-libbpf -C`sum /^toolload/ { $0 = $2; k = 1 } k`$2 == "toolload" { $0 = $7; k = 1 } k
		readahead`ext4+kprobes+guest`readahead --csv`readahead-libbpf`sum /^[0-9]/ && !n++ { $0 = $1; k = 1 } k`/total pages/ { split($NF, a, "/"); $0 = a[2]; k = 1 } k
		filetop`files+kprobes`filetop --csv --fields comm,reads,writes`filetop-libbpf -C`sum /^toolload/ { $0 = $2 + $3; k = 1 } k`$2 == "toolload" { $0 = $3 + $4; k = 1 } k
	END
}

usage() {
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
	exit 2
}

root='' keep=''
while getopts r:k: o; do
	case $o in
	r) root=${OPTARG%/} ;;
	k) keep=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] && [ "$root" ] || usage
sonde=$(command -v "$1") || { echo "peers.sh: no $1"; exit 1; }
shift
here=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" != 0 ] || [ ! -x "$root/usr/bin/bpftrace" ] || [ ! -x "$root/usr/sbin/opensnoop-libbpf" ]; then
	echo "NOT RUN: needs root, and bpftrace and libbpf-tools in $root"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

work=$(mktemp -d "$root/var/tmp/sonde-peers.XXXXXX") || exit 1
work=${work#"$root"}
tracers= loads=
trap 'kill $tracers $loads 2>/dev/null; umount "$root$work/dir" 2>/dev/null; rm -rf "$root$work"' EXIT
trap 'exit 130' INT TERM
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -g -o "$root$work/load" "$here/diff/load.c" -lpthread || exit 1
cp "$sonde" "$root$work/sonde"

slow=${TEST_SLOW:-1}
# What the loads need of a test guest's kernel; programs behind chroot cannot ask for it.
modules=/run/modules
. "$here/vm/modules.sh"
load_module ext4
# In a test guest nothing is mounted there.
[ -e "$root/proc/self" ] || mount -t proc proc "$root/proc" && [ -e "$root/sys/kernel" ] || mount --rbind /sys "$root/sys"
[ -e "$root/dev/null" ] || mount --rbind /dev "$root/dev"
[ -e "$root/dev/fd" ] || ln -s /proc/self/fd "$root/dev/fd" # bpftrace's compiler writes there
kprobes=$(ls "$root/sys/kernel/tracing/kprobe_events" "$root/sys/kernel/debug/tracing/kprobe_events" 2>/dev/null)

# until_in PATTERN FILE PID: it is in the file; false after a minute, or when the process has ended.
until_in() {
	i=0
	until grep -qsE "$1" "$2"; do
		i=$((i + 1))
		[ $i -lt $((600 * slow)) ] && kill -0 "$3" 2>/dev/null || return 1
		sleep 0.1
	done
}

# A row's command with the load's process and program in it.
given() {
	echo "$1" | sed "s,LOADPID,$loads,; s,LOAD,$work/load,"
}

# A test guest's files lie on no disk.
mount_disk() {
	truncate -s 64M "$root$work/disk" && chroot "$root" /sbin/mkfs.ext4 -qF -b 4096 "$work/disk" &&
		mount -o loop "$root$work/disk" "$root$work/dir"
}

# Some tell when they have attached, some print a heading then, some nothing: those get three seconds.
run_both() {
	umount "$root$work/dir" 2>/dev/null
	rm -rf "$root$work/dir" "$root$work/go" "$case".*
	mkdir "$root$work/dir"
	case ${SONDE_VM:+$load} in
	bitesize | writeback) mount_disk || return 1 ;;
	esac
	chroot "$root" "$work/load" "$load" "$work/dir" "$work/go" >"$case.load" 2>&1 &
	loads=$!
	chroot "$root" $(given "$theirs") </dev/null >"$case.theirs" 2>"$case.theirs.err" &
	tracers=$!
	ready=y
	# Many seconds before ours: sums are of the same time.
	case $theirs in
	bpftrace*) until_in '^Attach' "$case.theirs.err" $tracers || ready= ;;
	esac
	chroot "$root" "$work/sonde" $(given "$ours") </dev/null >"$case.ours" 2>"$case.ours.err" &
	tracers="$tracers $!"
	until_in 'Hit Ctrl-C' "$case.ours.err" $! || ready=
	case $theirs in
	bpftrace*) ;;
	*)
		until_in . "$case.theirs" "${tracers%% *}" &
		w=$!
		sleep $((3 * slow))
		kill $w 2>/dev/null
		wait $w 2>/dev/null
		;;
	esac
	(trap 'kill $!' TERM; sleep $((120 * slow)) & wait $! && kill -KILL $loads $tracers) 2>/dev/null &
	dog=$!
	[ $ready ] && : >"$root$work/go" || kill $loads
	wait $loads || ready=
	loads=
	# What is not ready may not mind SIGINT yet.
	kill -s $([ $ready ] && echo INT || echo TERM) $tracers 2>/dev/null
	wait $tracers
	tracers=
	kill $dog 2>/dev/null
	[ $ready ]
}

# Lines that the program of awk lets through (those that set k, or that sub() changed).
lines_of() {
	case $1 in
	sub*) program="{ k = $1 } k" ;;
	*) program="{ k = 0 } $1" ;;
	esac
	awk -F"$2" "$program"
}

judge() {
	lines_of "$our_awk" , <"$case.ours" >"$case.a"
	lines_of "$their_awk" ' ' <"$case.theirs" >"$case.b"
	if [ $kind = sum ]; then
		what=$(awk -v percent="$percent" '{ n[FILENAME == ARGV[1]] += $1 } END { printf "%d and %d", n[1], n[0]
			d = n[1] - n[0]; exit !n[1] || (d < 0 ? -d : d) > percent / 100 * n[1] }' "$case.a" "$case.b")
		return
	fi
	sort -o "$case.a" "$case.a"
	sort -o "$case.b" "$case.b"
	what="$(($(wc -l <"$case.b"))) lines"
	[ -s "$case.b" ] && cmp -s "$case.a" "$case.b"
}

passed=0 failed=0 skipped=0 n=0
rows >"$root$work/rows"
while IFS='`' read -r tool load ours theirs our_awk their_awk <&3; do
	case " $* " in
	'  ' | *" $tool "*) ;;
	*) continue ;;
	esac
	n=$((n + 1)) kind=lines result=
	missing=
	case $load in
	*+kprobes*) [ "$kprobes" ] || missing='kprobes, which this kernel lacks' ;;
	esac
	case $load in
	*+guest) [ "${SONDE_VM-}" ] || missing='a test guest' ;;
	esac
	load=${load%%+*}
	if [ "$missing" ]; then
		skipped=$((skipped + 1))
		echo "ok $n - $tool # SKIP needs $missing"
		continue
	fi
	case $our_awk in
	'sum '*) kind=sum percent=5 our_awk=${our_awk#sum } ;;
	sum:*)
		kind=sum percent=${our_awk%% *} our_awk=${our_awk#* }
		percent=${percent#sum:}
		;;
	esac
	case=$root$work/$tool
	for try in 1 2 3; do
		if run_both; then
			judge && result=ok && break
		else
			what='did not attach, or the load failed'
		fi
	done
	if [ $result ]; then
		passed=$((passed + 1))
		echo "ok $n - $tool beside ${theirs##*/}: $what"
	else
		failed=$((failed + 1))
		echo "not ok $n - $tool beside ${theirs##*/}: $what"
		diff "$case.b" "$case.a" | head -n 12 | sed 's/^/# /'
		head -n 3 "$case.ours.err" "$case.theirs.err" | sed 's/^/# /'
	fi
	[ -z "$keep" ] || { mkdir -p "$keep" && cp "$case".* "$keep"; }
done 3<"$root$work/rows"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
