#!/bin/sh
# toolkernels.sh SONDE [TOOL...]: does each tool attach on this kernel, and see what it is for? Runs each beside a
# load that provokes it. A line per tool: "tool|NAME|seen", "tool|NAME|attached" when nothing came of the load (or
# there is none for a test guest), "tool|NAME|no|what is missing"; the last line sums up. Exit code 1 when one failed
# in another way than by naming what the kernel lacks.
#
# GUEST_MODULES="$(tests/kernel/toolkernels.sh -m)" GUEST_QEMU="$(tests/kernel/toolkernels.sh -q FILE)" \
#   tests/vm/run.sh -c 'sh tests/kernel/toolkernels.sh build/static/sonde' build/static/sonde >LOG
# asks the guests' kernels (ten minutes each), scripts/tool-kernels.sh LOG puts it into the table in docs/tools.md.
# -m: modules that the tools are about, and their loads need, beside those of all guests. -q: words for QEMU, which make
# two nodes of a guest's memory, for numamove and numasched, and, by a table in FILE, processors whose frequency can be
# set, for cpufreq. -l before SONDE: only whether they attach.
# It makes loop devices, mounts, a server of NFS, an array of disks and a control group, and turns the swap on: for test
# guests. File systems are made where their mkfs is installed (btrfs-progs, e2fsprogs, f2fs-tools, xfsprogs).
set -u
if [ "${1-}" = -m ]; then
	echo md-mod raid0 kvm-amd tcp_diag acpi-cpufreq
	exit
fi
if [ "${1-}" = -q ]; then
	python3 "$(dirname "$0")/../vm/frequencies.py" "$2" || exit
	echo "-cpu max,family=16 -acpitable file=$2"
	for n in 0 1; do
		echo "-object memory-backend-ram,id=m$n,size=768M -numa node,cpus=$n,memdev=m$n"
	done
	exit
fi
attach=
if [ "${1-}" = -l ]; then
	attach=y
	shift
fi
[ $# -ge 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
sonde=$(command -v "$1") && sonde=$(realpath "$sonde") || exit 2
shift
# Not the names of a language's tools: they ask for its interpreter, not for anything else of the kernel.
[ $# -gt 0 ] || set -- $("$sonde" tools | awk '/^ / { print $1 }' | grep -vE '^(java|node|perl[a-z]|php|python|ruby|tcl)')
cd "$(dirname "$0")/../.." || exit 1
export TEST_SLOW="${TEST_SLOW:-4}"
. tests/lib/lib.sh
modules=/run/modules
. tests/vm/modules.sh
for m in "$modules"/*.ko; do
	m=${m##*/}
	load_module "${m%.ko}"
done
TMPDIR=$(mktemp -d) || exit 1
export TMPDIR
tmp=$TMPDIR
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
limit=$((30 * TEST_SLOW))
progs=$PWD/build/tests
# Not busybox's, which lack options.
losetup=/usr/sbin/losetup mount=/bin/mount
probes=$progs/runtime

cat >"$tmp/tcp.py" <<'P'
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
c = socket.create_connection(s.getsockname())
a = s.accept()[0]
for i in range(5):
    c.sendall(b"x" * 2000)
    a.recv(2000, socket.MSG_WAITALL)
    a.sendall(b"y")
    c.recv(1)
c.send(b"late")
time.sleep(0.02)
a.recv(4)
c.close()
a.close()
socket.socket().connect_ex(("127.0.0.1", 9)) # refused
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
u.connect(u.getsockname())
u.send(b"z" * 100)
u.recv(100)
socket.getaddrinfo("localhost", 80)
time.sleep(0.2)
P
cat >"$tmp/unix.py" <<'P'
import socket
a, b = socket.socketpair()
f = open("/etc/passwd")
socket.send_fds(a, [b"x"], [f.fileno()])
socket.recv_fds(b, 10, 4)
a.send(b"hello")
b.recv(5)
P
cat >"$tmp/lost.sh" <<'P'
ip link set lo up && ip route add 10.9.9.0/24 dev lo && exec /usr/bin/python3 -IS -c 'import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
s.settimeout(20)
s.connect_ex(("10.9.9.2", 18914))'
P
cat >"$tmp/shm.py" <<'P'
import ctypes
l = ctypes.CDLL(None)
l.shmctl(l.shmget(0x50de, 8192, 0o1600), 0, None)
P
cat >"$tmp/circle.py" <<'P'
import ctypes
l = ctypes.CDLL("libc.so.6")
m = [ctypes.create_string_buffer(40) for i in range(2)]
for a, b in (0, 1), (1, 0):
    l.pthread_mutex_lock(m[a]); l.pthread_mutex_lock(m[b])
    l.pthread_mutex_unlock(m[b]); l.pthread_mutex_unlock(m[a])
P
cat >"$tmp/tls.py" <<'P'
import os, socket, ssl, threading
d = os.environ["TMPDIR"]
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(d + "/c.pem", d + "/k.pem")
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen()
def serve():
    s = c.wrap_socket(l.accept()[0], server_side=True)
    s.sendall(b"pong " + s.recv(100))
t = threading.Thread(target=serve)
t.start()
k = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
k.check_hostname = False
k.verify_mode = ssl.CERT_NONE
s = k.wrap_socket(socket.create_connection(l.getsockname()))
s.sendall(b"ping\n")
s.recv(100)
t.join()
P

# Loads.
spins() {
	spin=
	for i in 1 2 3; do
		taskset -c 0 "$progs/spin" 300 &
		spin="$spin $!"
	done
	wait $spin
}
files() {
	mkdir "$tmp/f" && echo some >"$tmp/f/load" && cat "$tmp/f/load" "$tmp/f/load" >/dev/null
	cat "$tmp/f/load-that-is-not-there" 2>/dev/null
	dd if=/dev/zero of="$tmp/f/load" bs=64k count=8 conv=fsync 2>/dev/null
	ls -l "$tmp/f" >/dev/null
	rm -r "$tmp/f"
}
programs() {
	for i in 1 2 3; do /bin/true; done
	sh -c 'kill -USR1 $$' 2>/dev/null
	sleep 1.2
}
# A disk whose requests are seen: a loop device over a file.
disks() {
	truncate -s 16M "$tmp/img" && disk=$($losetup -f --show "$tmp/img") || return
	/bin/dd if=/dev/zero of="$disk" bs=8k count=20 oflag=direct 2>/dev/null
	/bin/dd if="$disk" of=/dev/null bs=8k count=20 iflag=direct 2>/dev/null
	$losetup -d "$disk"
}
# filesystem TYPE SIZE: one on a loop device, where its mkfs is; its pages are those of a disk.
filesystem() {
	truncate -s "$2" "$tmp/fs.img" && disk=$($losetup -f --show "$tmp/fs.img") || return
	mkdir -p "$tmp/mnt"
	make_fs "$1" "$disk" >/dev/null && $mount -t "$1" "$disk" "$tmp/mnt" && {
		dd if=/dev/zero of="$tmp/mnt/load" bs=64k count=32 conv=fsync 2>/dev/null
		echo 3 >/proc/sys/vm/drop_caches
		cat "$tmp/mnt/load" "$tmp/mnt/load" >/dev/null
		rm "$tmp/mnt/load"
		sync
		umount "$tmp/mnt"
	}
	$losetup -d "$disk"
	rm "$tmp/fs.img"
}
ext4() { filesystem ext4 16M; }
fuse() {
	mkdir -p "$tmp/mnt" && "$progs/fuse" "$tmp/mnt" || return
	dd if=/dev/zero of="$tmp/mnt/own" bs=1k count=8 conv=fsync 2>/dev/null
	cat "$tmp/mnt/own" >/dev/null
	umount "$tmp/mnt"
}
nfs() {
	serve_nfs && dd if=/dev/zero of="$tmp/mnt/own" bs=1k count=8 conv=fsync 2>/dev/null && cat "$tmp/mnt/own" >/dev/null
	unserve_nfs
}
frequencies() {
	for khz in 1000000 2000000 1000000; do
		for policy in /sys/devices/system/cpu/cpufreq/policy*; do
			echo $khz >"$policy/scaling_max_freq"
		done
		sleep 0.3
	done
}
array() {
	truncate -s 8M "$tmp/img1" "$tmp/img2"
	a=$($losetup -f --show "$tmp/img1") && b=$($losetup -f --show "$tmp/img2") || return
	/usr/bin/python3 -IS tests/progs/array.py "$tmp/array" "$a" "$b"
	$losetup -d "$a" "$b"
}
moves() {
	"$progs/spin" 1500 &
	p=$!
	for n in 0 1 0 1; do
		taskset -cp $n $p
		sleep 0.3
	done
	wait $p
}
tcp() { /usr/bin/python3 -IS "$tmp/tcp.py"; }
lost() { unshare -n sh "$tmp/lost.sh" 2>/dev/null; }
packets() { unshare -n sh -c 'ip link set lo up; /usr/bin/python3 -IS "$TMPDIR/tcp.py"'; }
tls() {
	[ -s "$tmp/c.pem" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
		-keyout "$tmp/k.pem" -out "$tmp/c.pem" -days 2 -subj /CN=x 2>/dev/null
	/usr/bin/python3 -IS "$tmp/tls.py"
}
locks() {
	sh -c 'for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait' "$tmp/one"
}
mounts() { unshare -m sh -c '/bin/mount -t tmpfs none "$TMPDIR" && umount "$TMPDIR"'; }
# A script whose input ends before its bash asks for a line waits forever.
typed() { printf 'echo load\nexit\n' | timeout -k 2 "$limit" script -qc 'bash --norc -i' /dev/null >/dev/null 2>&1; }
tty() { /usr/bin/python3 -IS -c 'import os; m, s = os.openpty(); os.write(s, b"hello")'; }
rights() { /usr/bin/setpriv --reuid 65534 cat /root/load 2>/dev/null; }
# in_group MAX COMMAND...: with so much memory.
in_group() {
	g=/sys/fs/cgroup/sonde-tools
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p "$g" && echo "$1" >"$g/memory.max"
	shift
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$g" "$@" >/dev/null 2>&1
	rmdir "$g"
}
use_memory() {
	in_group "$1" /usr/bin/python3 -IS -c 'x = bytearray(40 << 20)
for i in range(0, len(x), 4096): x[i] = 1
s = sum(x[i] for i in range(0, len(x), 4096))'
}
oom() { use_memory 20M; }
swaps() {
	truncate -s 64M "$tmp/swap" && disk=$($losetup -f --show "$tmp/swap") || return
	/sbin/mkswap "$disk" >/dev/null 2>&1 && /sbin/swapon "$disk" && use_memory 24M
	/sbin/swapoff "$disk"
	$losetup -d "$disk"
}
idle() { sleep 1.2; }

# What a tool needs to be told, its load, a command that it runs itself, and a word of the record that shows it.
about() {
	args='' load=idle run='' sign='"type"'
	case $1 in
	execsnoop | exitsnoop) load=programs sign='"true"' ;;
	forksnoop | sigsnoop | killsnoop | pidpersec) load=programs ;;
	loads) args=1 ;;
	threadsnoop) run="$progs/threads 2" ;;
	cthreads) run="$progs/threads 2" ;;
	opensnoop | statsnoop) load=files sign='load-that-is-not\|/f"' ;;
	ext4slower) load=ext4 args=0 ;;
	ext4dist | biopattern | writeback | cachestat | readahead) load=ext4 ;;
	fsslower | overlayslower | fileslower) load=files args=0 ;;
	fsdist | overlaydist) load=files ;;
	btrfsslower) load='filesystem btrfs 128M' args=0 ;;
	btrfsdist) load='filesystem btrfs 128M' ;;
	f2fsslower) load='filesystem f2fs 64M' args=0 ;;
	f2fsdist) load='filesystem f2fs 64M' ;;
	xfsslower) load='filesystem xfs 320M' args=0 ;;
	xfsdist) load='filesystem xfs 320M' ;;
	fuseslower) load=fuse args=0 ;;
	fusedist) load=fuse ;;
	nfsslower) load=nfs args=0 ;;
	nfsdist) load=nfs ;;
	bcachefsslower) load='filesystem bcachefs 128M' args=0 ;;
	bcachefsdist) load='filesystem bcachefs 128M' ;;
	zfs*) load=: ;; # not in Linux
	cachetop) load=ext4 args='-r 100' ;;
	filelife | filegone) load=files sign='"load"\|/load"' ;;
	filetop | dirtop | dcsnoop | syncsnoop | vfscount) load=files ;;
	dcstat | vfsstat) load='files; idle' ;;
	bps | bpflist) args='' ;;
	mountsnoop) load=mounts ;;
	bio* | bitesize | io*) load=disks ;;
	virtiostat) load='ls -lR tests' ;;
	cpudist | runqlat | cpuunclaimed | runqlen | cpuwalk | offcputime) load=spins ;;
	runqslower) load=spins args=100us ;;
	profile) load=spins sign='"spin"' ;;
	hardirqs) load='ls -lR tests' ;;
	klockstat) load=locks ;;
	naptime) load='sleep 0.1' args='-m 50' ;;
	softirqslower) args=1ns ;;
	wqlat) load=ext4 ;;
	wakeuptime | offwaketime) load="$progs/mutex" sign='"mutex"' ;;
	compactsnoop) load='echo 1 >/proc/sys/vm/compact_memory' ;;
	drsnoop) load=swaps args=-g ;;
	swapin | swapout) load=swaps ;;
	oomkill) load=oom ;;
	memleak) args='-o 0 1h' run="$progs/leak" ;;
	shmsnoop) run="/usr/bin/python3 -IS $tmp/shm.py" ;;
	slabratetop) load='ls -lR tests' ;;
	netqtop) args='-n lo 1h' load=packets ;;
	tcpretrans | tcpcong) load=lost ;;
	bindsnoop | solisten | udpconnect | tcpaccept | tcpconnect | gethostlatency) run="/usr/bin/python3 -IS $tmp/tcp.py" ;;
	tcp*) load=tcp ;;
	bashreadline) load=typed ;;
	capable | setuids) load=rights sign='"setpriv"' ;;
	ssl*) load=tls ;;
	ttysnoop) load=tty ;;
	dbslower) args="$probes -m 0" run=$probes ;;
	mysqld_qslower) args="$probes 0" run=$probes ;;
	ucalls | uflow | ugc | uobjnew | uthreads | dbstat) args=$probes run=$probes ;;
	cobjnew) run="$progs/leak" ;;
	ustat) args="-l $probes 1h" run=$probes ;;
	deadlock) run="/usr/bin/python3 -IS $tmp/circle.py" ;;
	futexctn) args='--min 1us' run="$progs/mutex" ;;
	ltrace) run="$progs/calls 2" ;;
	sofdsnoop) run="/usr/bin/python3 -IS $tmp/unix.py" ;;
	undump) load="/usr/bin/python3 -IS $tmp/unix.py" ;;
	strace) run='cat /dev/null' ;;
	syscount) load=files ;;
	argdist) args='-C p::vfs_read' load=files ;;
	funccount | funclatency | stackcount | functrace | funcinterval | trace | stacksnoop) args=vfs_read load=files ;;
	funcslower) args='-u 1 vfs_read' load=files ;;
	ksnoop) args='trace vfs_read' load=files ;;
	tpoint) args=sched:sched_process_exit load=programs ;;
	perf-stat-hist) args='sched:sched_switch prev_prio' load=programs ;;
	kprobe) args=p:vfs_read load=files ;;
	uprobe) args=p:libc:getenv load=/usr/bin/env ;;
	tplist) args=sched:sched_switch run='' ;;
	kvmexit) load="$progs/machine 100" ;;
	mdflush) load=array ;;
	numamove) load='/usr/bin/python3 -IS tests/progs/far.py 20' sign='"migrations": [1-9]' ;;
	numasched) load=moves ;;
	cpufreq) load=frequencies ;;
	criticalstat | llcstat) load=: ;;
	inject) args=kmalloc ;;
	esac
}

# The sentence alone: where in the script it stands, and what else was tried, -v says.
why() {
	sed -n 's/.*ERROR: //p; s/^{"type": "errorf", "msg": "\(.*\)".*/\1/p' "$tmp/err" "$tmp/out" | head -n 1 | tr '|' '/' | sed 's|[.:] If this is expected.*||' | cut -c1-200
}

# see TOOL: its records in $tmp/out, what it says in $tmp/err, its code in $rc. Interpreted once more by the shell.
see() {
	: >"$tmp/out"
	: >"$tmp/err"
	: >"$tmp/load"
	unsafe=
	[ "$1" != inject ] || unsafe=--unsafe
	if [ "$attach" ]; then
		[ -z "$run" ] || run="-- $run"
		timeout -k 2 "$limit" "$sonde" --dry-run $unsafe "$1" $args $run </dev/null >"$tmp/load" 2>"$tmp/err"
		rc=$?
		return
	fi
	if [ "$run" ]; then
		timeout -k 2 "$limit" "$sonde" $unsafe "$1" -j $args -- $run </dev/null >"$tmp/out" 2>"$tmp/err"
		rc=$?
		return
	fi
	timeout -k 2 "$limit" "$sonde" $unsafe "$1" -j $args </dev/null >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	tries=$((limit * 10))
	# Without a process for each look: guests are slow.
	while ! read -r _ <"$tmp/out" && kill -0 $tracer 2>/dev/null && [ $((tries -= 1)) -gt 0 ]; do
		sleep 0.1
	done
	if read -r _ <"$tmp/out"; then
		eval "$load" >"$tmp/load" 2>&1 </dev/null
		sleep 0.2
		kill -TERM $tracer 2>/dev/null
	fi
	wait $tracer
	rc=$?
}

passed=0 failed=0 skipped=0
for tool; do
	about "$tool"
	see "$tool"
	what=$(why)
	if [ "$what" ] && [ $rc != 124 ] && [ $rc != 137 ]; then
		skipped=$((skipped + 1))
		echo "tool|$tool|no|$what"
	elif [ $rc != 0 ] && [ $rc != 143 ]; then
		failed=$((failed + 1))
		echo "tool|$tool|no|exit code $rc"
		head -n 3 "$tmp/err" | sed 's/^/# /'
	else
		passed=$((passed + 1))
		if grep -v '^{"type": "\(start\|end\|warnf\)"' "$tmp/out" | grep -q "$sign"; then
			echo "tool|$tool|seen"
		else
			echo "tool|$tool|attached"
			[ "$attach" ] || cat "$tmp/load" "$tmp/err" | head -n 3 | sed 's/^/# /'
		fi
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
