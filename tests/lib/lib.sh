# lib.sh - what commands of cases (RUN) may use to wait: for what they wait for, never for a time.
# shellcheck shell=sh

# eventually COMMAND...: until it succeeds; false and said when it does not in ten seconds.
eventually() {
	tries=$((200 * ${TEST_SLOW:-1}))
	until "$@" 2>/dev/null; do
		if [ $((tries -= 1)) = 0 ]; then
			echo "never: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# until_attached FILE: that tracer writes its messages there.
until_attached() {
	eventually grep -q '^Attached' "$1"
}

# until_written FILE: until something is in it.
until_written() {
	eventually test -s "$1"
}

is_named() {
	[ "$(cat "/proc/$1/comm")" = "$2" ]
}

# until_named PID NAME: until that process runs the program, or calls itself so.
until_named() {
	eventually is_named "$1" "$2"
}

# python_with WORD: a python3 that names its functions for profilers with -X WORD (perf: 3.12, perf_jit: 3.13).
python_with() {
	for py in python3 python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
		"$py" -X "$1" -c 'import os, sys
for f in "perf-%d.map", "jit-%d.dump":
	if os.path.exists("/tmp/" + f % os.getpid()): os.unlink("/tmp/" + f % os.getpid())
sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null || continue
		echo "$py"
		return
	done
	false
}

# sum_of NAME...: of the numbers that JSON has under these names.
sum_of() {
	grep -oE "\"($(printf '%s|' "$@")-)\": [0-9]+" | awk '{ n += $2 } END { print n + 0 }'
}

# at_least N: what comes before a number stays; the number, at the end, is "all" if it is not below N.
at_least() {
	awk -v least="$1" '{ if ($NF + 0 >= least) $NF = "all"; print }'
}

# Either way to say it: in words, or as a record.
is_tracing() {
	grep -q 'Hit Ctrl-C' "$TMPDIR/err" || grep -q '^{"type": "start"' "$TMPDIR/out"
}

# tool_sees COMMAND TOOL [OPTION...]: what a tool prints while a shell command runs. Without -q: how it says that
# it is attached is waited for.
tool_sees() {
	command=$1
	shift
	: >"$TMPDIR/out" # what an earlier tool said there
	: >"$TMPDIR/err"
	"$SONDE" "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" &
	tracer=$!
	eventually is_tracing || cat "$TMPDIR/err"
	eval "$command"
	kill -TERM $tracer
	wait $tracer
	grep -v '^{"type": "\(start\|end\)"' "$TMPDIR/out"
	grep -v 'Hit Ctrl-C' "$TMPDIR/err"
	true
}

# tool_sees_wait WORD COMMAND TOOL [OPTION...]: tool_sees, up to five times, until the word is there. Some virtual
# machines leave out events of sched_switch on one CPU for seconds (what ftrace itself shows of them is not a chain).
tool_sees_wait() {
	word=$1
	shift
	for try in 1 2 3 4 5; do
		tool_sees "$@" >"$TMPDIR/seen"
		grep -q -e "$word" "$TMPDIR/seen" && break
		echo "try $try: no $word" >&2
	done
	cat "$TMPDIR/seen"
}

# flood_while_stopped TRACER: 20,000 calls on its CPU while it reads nothing, then its end. It writes to
# $TMPDIR/o and $TMPDIR/e.
flood_while_stopped() {
	eventually grep -sq 'ttached' "$TMPDIR/o" "$TMPDIR/e"
	kill -STOP "$1"
	taskset -c 0 build/tests/calls 20000
	kill -CONT "$1"
	kill "$1"
	wait "$1"
}

# printed_and_lost PROBE:WORD...: of each, lines that begin with the word and events told as lost add up to how many,
# and whether some were lost. What the tracer wrote is in $TMPDIR/o and $TMPDIR/e.
printed_and_lost() {
	for what; do
		printed=$(grep -c "${what##*:}[ ,\\]" $TMPDIR/o)
		lost=$(sed -n -e "s/^WARNING: ${what%:*}: \([0-9]*\) events did not fit.*/\1/p" -e "s/.*lost_by_probe.*\"${what%:*}\".*\"events\": \([0-9]*\).*/\1/p" $TMPDIR/e $TMPDIR/o)
		echo ${what##*:} $((printed + ${lost:-0})) $((${lost:-0} > 0))
	done
}

# with_loop COMMAND: on a loop device, $disk (/dev/loop0) of 16 MiB.
with_loop() {
	truncate -s 16M "$TMPDIR/img" && disk=$(/usr/sbin/losetup -f --show "$TMPDIR/img") || return
	eval "$1"
	/usr/sbin/losetup -d "$disk"
}

# make_fs TYPE DEVICE
make_fs() {
	case $1 in
	bcachefs) python3 tests/progs/bcachefs.py "$2" ;;
	*) "mkfs.$1" -q "$2" ;;
	esac
}

# on_disk TYPE SIZE COMMAND: in a new file system of that type on a loop device. Not by busybox's commands.
on_disk() {
	truncate -s "$2" "$TMPDIR/img" && loop=$(/usr/sbin/losetup -f --show "$TMPDIR/img") || return
	mkdir -p "$TMPDIR/mnt" && make_fs "$1" "$loop" >"$TMPDIR/mkfs" 2>&1 && /bin/mount -t "$1" "$loop" "$TMPDIR/mnt" || cat "$TMPDIR/mkfs"
	(cd "$TMPDIR/mnt" && eval "$3")
	eventually /bin/umount "$TMPDIR/mnt"
	/usr/sbin/losetup -d "$loop"
}

# sees_own TYPE: TYPEslower and TYPEdist, beside calls there and on another file system.
sees_own() {
	load='dd if=/dev/zero of=own bs=1k count=3 conv=fsync 2>/dev/null; echo other >"$TMPDIR/other"; for f in own "$TMPDIR/other"; do dd if=$f of=/dev/null bs=32k 2>/dev/null; done'
	tool_sees "$load" "$1slower" 0 --fields comm,op,bytes,file | grep -E '^dd .* own|other' | grep -v ' R  *0 '
	tool_sees "$load" "$1slower" 0 -j --fields op,bytes,fs,file | grep -E '"W".*own|other' | sort -u
	tool_sees "$load" "$1slower" 0 --csv --fields op,bytes,file | grep -E '^R,3072|other'
	tool_sees "$load" "$1dist" | awk '/operation =/ { op = $3 } /^\[/ { sub(/\|.*/, ""); n[op] += $NF } END { print n["write,"], n["fsync,"] }'
	tool_sees "$load" "$1dist" -j | awk -F '"count": ' '/"operation": "write"/ { for (i = 2; i <= NF; i++) n += $i } END { print n, "in JSON" }'
	tool_sees "$load" "$1dist" --csv | awk -F, '/^write,/ { n += $NF } END { print n, "in CSV" }'
}

# example_of NAME COMMAND: contrib/metrics/NAME.bt prints to $TMPDIR/out what it has counted of COMMAND.
example_of() {
	example=contrib/metrics/$1.bt
	[ -e "$example" ] || example=$OLDPWD/$example # on_disk and others change the directory
	: >"$TMPDIR/err"
	"$SONDE" "$example" >"$TMPDIR/out" 2>"$TMPDIR/err" &
	pid=$!
	until_attached "$TMPDIR/err" || cat "$TMPDIR/err"
	eval "$2"
	kill -INT $pid
	wait $pid
}

# example_counts NAME PATTERN COMMAND: its name if a line that it prints has the pattern, else all that was printed.
example_counts() {
	example_of "$1" "$3 >\"\$TMPDIR/did\" 2>&1"
	if grep -qE "$2" "$TMPDIR/out"; then
		echo "$1"
	else
		echo "$1: nothing"
		cat "$TMPDIR/out" "$TMPDIR/err" "$TMPDIR/did"
	fi
}

# metrics_of TYPE: which calls contrib/metrics/TYPE-latency.bt counts, of those that are made there.
metrics_of() {
	example_of "$1-latency" 'dd if=/dev/zero of=own bs=1k count=3 conv=fsync 2>/dev/null; dd if=own of=/dev/null bs=1k 2>/dev/null'
	for call in read write fsync; do
		grep -qF "@ns[$call]" "$TMPDIR/out" && echo "$1: $call"
	done
}

# on_fuse COMMAND: in a file system of FUSE, with one file, own.
on_fuse() {
	mkdir -p "$TMPDIR/mnt" && "$SONDE_TESTS/fuse" "$TMPDIR/mnt" || return
	(cd "$TMPDIR/mnt" && eval "$1")
	eventually /bin/umount "$TMPDIR/mnt"
}

# serve_nfs: mounts a folder of this kernel's own server of NFS at $TMPDIR/mnt. What daemons would answer is told
# beforehand: who asks, and what is exported (flags 0x2412: any port, written later, any file, found by number 0).
# In the ten seconds after its start the server lets nobody open a file: it is waited for.
serve_nfs() {
	mkdir -p "$TMPDIR/export" "$TMPDIR/mnt" && /bin/mount -t tmpfs none "$TMPDIR/export" &&
		/bin/mount -t nfsd nfsd /proc/fs/nfsd || return
	# Only version 4 needs no rpcbind; a kernel of 5.10 dies when there is none. Newer ones do not know version 2.
	echo -2 >/proc/fs/nfsd/versions 2>/dev/null
	for setting in 'versions -3' 'nfsv4leasetime 10' 'nfsv4gracetime 10' 'portlist tcp 2049' 'threads 2'; do
		echo "${setting#* }" >"/proc/fs/nfsd/${setting%% *}" || return
	done
	echo "nfsd 127.0.0.1 2147483647 sonde" >/proc/net/rpc/auth.unix.ip/channel &&
		echo "sonde $TMPDIR/export 2147483647 9234 65534 65534 0" >/proc/net/rpc/nfsd.export/channel &&
		printf '%s\n' "sonde 1 \\x00000000 2147483647 $TMPDIR/export" >/proc/net/rpc/nfsd.fh/channel &&
		/bin/mount -i -t nfs4 -o vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ "$TMPDIR/mnt" &&
		: >"$TMPDIR/mnt/own"
}

unserve_nfs() {
	eventually /bin/umount "$TMPDIR/mnt"
	echo 0 >/proc/fs/nfsd/threads
	eventually /bin/umount "$TMPDIR/export"
	/bin/umount /proc/fs/nfsd
}

# on_nfs COMMAND: in a file system of NFS, with one file, own.
on_nfs() {
	serve_nfs && (cd "$TMPDIR/mnt" && eval "$1")
	unserve_nfs
}

# reaches COMM COMMAND...: says whether 99 in 100 user stacks ($most: others) of the command, sampled among all the
# machine's, reach where its threads begin; else how many, and the first of those that do not.
reaches() {
	comm=$1
	shift
	"$SONDE" -e "profile:hz:999 /comm == \"$comm\"/ { @[ustack] = count(); }" >"$TMPDIR/stacks" 2>"$TMPDIR/err" &
	tracer=$!
	until_attached "$TMPDIR/err"
	"$@" >/dev/null 2>&1
	kill -INT $tracer
	wait $tracer
	awk -v comm="$comm" -v most="${most:-99}" '
		/^@/ { ok = own = 0; stack = "" }
		/^ / { own = 1; stack = stack $0 "\n" }
		/ (main|_start|_*clone3?|start_thread|runtime\.(goexit|mstart|mcall|rt0_go)(\.abi0)?)\+/ { ok = 1 }
		# While the kernel is still in exec, the program has no stack of its own.
		/^\]: / && own && stack !~ /execve/ {
			all += $2
			good += ok * $2
			if (!ok && !bad)
				bad = stack
		}
		END {
			if (all > 50 && all - good <= 1 + all * (100 - most) / 100)
				print comm ": yes"
			else
				printf "%s: %d of %d\n%s", comm, good, all, bad
		}' "$TMPDIR/stacks"
}

# served DIR [OPTION...]: sonde serve in the background, as $server; $metrics is its address, once it is there.
served() {
	folder=$1
	shift
	: >"$TMPDIR/served"
	"$SONDE" serve --metrics :0 "$@" "$folder" 2>"$TMPDIR/served" &
	server=$!
	trap 'kill $server $receiver 2>/dev/null' EXIT # also when the case does not come to its end
	eventually grep -q '^Metrics of' "$TMPDIR/served" || cat "$TMPDIR/served"
	metrics=$(sed -n 's/^Metrics of .* at //p' "$TMPDIR/served")
}

# receiver [STATUS...]: takes what serve sends, in the background, as $receiver; its address is http://127.0.0.1:$port.
receiver() {
	mkdir -p "$TMPDIR/got"
	rm -f "$TMPDIR/got/port"
	python3 "$TEST_LIB/receiver.py" "$TMPDIR/got" "$@" 2>"$TMPDIR/got/errors" &
	receiver=$!
	trap 'kill $server $receiver 2>/dev/null' EXIT
	eventually test -s "$TMPDIR/got/port" || cat "$TMPDIR/got/errors"
	port=$(cat "$TMPDIR/got/port")
}

# got FILE PATTERN: lines that the receiver has.
got() {
	grep -E "$2" "$TMPDIR/got/$1"
}

# Metrics whose lines match; every one without an argument.
scrape() {
	curl -s "$metrics" | grep -v '^#' | grep -E "${1-.}"
}

scrapes_as() {
	scrape "$1" | grep -qx "$2"
}

# reload PATTERN LINE: SIGHUP, and until such a line is there.
reload() {
	kill -HUP "$server"
	eventually scrapes_as "$1" "$2"
}
