#!/bin/sh
# The runtime tests on other kernels, each in a guest of its own under QEMU's emulator.
#
#   tests/vm/run.sh [-a ARCH] [-j GUESTS] [-s TURN] [-t] [-u] [-c COMMAND] SONDE [KERNEL...]
#
# The tests are tests/run.sh and tests/kernel/probes.sh; what the latter finds must be what the table in
# docs/probes.md says (vm/table.sh). -t: only that; -u: the table is written anew, of all kernels.
# -s TURN: cases are spread over the kernels. Those that depend on the kernel run on the oldest and on the newest. If
# such a case also runs where the tests are started, the newest runs one in four of them (tests/run.sh -r). Each kernel
# also runs one in 16 of all other cases. Of slow cases the oldest and the newest run one in 16 of those that depend on
# the kernel, and each kernel one in 64 of the others. Which ones depends on the kernel and on TURN, a number. The table
# is tried on one kernel, on another one with the next TURN. Without -s, or with `-s all`, every case runs on every
# kernel.
# KERNEL is a series of Debian kernels such as 6.1, or 6.12-16k, with larger pages; without one: all below. SONDE has to be static,
# or linked to what is on this machine: the guest sees this machine's root, read-only, under a
# writable layer of memory. -c runs another command there (in the project's root) than the tests.
# Every line of a guest starts with its kernel (6.12-arm64); the last line sums up. A kernel that cannot be had
# counts as skipped, and says so. A guest whose kernel dies, or that takes longer than $GUEST_SECONDS, says what
# its console had on it and boots again; when that one dies, too, it has failed. Those that ended only
# then are named like the cases that passed at a later try.
# -a aarch64: kernels of that architecture, whose guests see a tree of Debian's packages (tree.sh) and this
# project; SONDE is built for it (make aarch64), and so are the test programs.
# $GUEST_APPEND: further words for the kernel's command line, such as lockdown=confidentiality. $GUEST_MODULES:
# further modules that guests load. $GUEST_QEMU: further words for QEMU, such as for two NUMA nodes.
set -u

arch=x86_64
guests=2 command= update= table= turn=all
while getopts a:j:s:tuc: o; do
	case $o in
	a) arch=$OPTARG ;;
	j) guests=$OPTARG ;;
	s) turn=$OPTARG ;;
	t) table=y ;;
	u) update=-u ;;
	c) command=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }

case $arch in
x86_64) kernels="5.10 6.1 6.12 7.2" label= debian=amd64 packages="qemu-system-x86 busybox-static" ;;
aarch64)
	kernels="6.1 6.12 6.12-16k 7.2" label=-arm64 debian=arm64 packages="qemu-system-arm gcc-aarch64-linux-gnu"
	export SONDE_TESTS=build/aarch64/tests
	;;
*) echo "vm/run.sh: no guests for $arch"; exit 2 ;;
esac
all_kernels=$kernels
limit=${GUEST_SECONDS:-1500}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sonde=$(command -v "$1") && sonde=$(realpath "$sonde") || { echo "vm/run.sh: no $1"; exit 1; }
shift
[ $# -gt 0 ] && kernels=$*
# The messages of the compiler do not depend on the kernel, nor does what the reference's manual says of the language.
files=$(cd "$root" && ls tests/run/*.t | grep -v '/err.t\|/audit.t' | tr '\n' ' ')
probes="sh tests/kernel/probes.sh $sonde"
named=$command
if [ "$command" ]; then
	table=
elif [ "$table" ]; then
	command=$probes
else
	table=y
	command="TEST_SLOW=4 sh tests/run.sh -j 2 SHARE $sonde $files; code=\$?; PROBES && exit \$code"
fi

# turn_of KERNEL: that of the run, and the kernel's place among all.
turn_of() {
	i=$turn
	for k in $all_kernels; do
		[ "$k" != "$1" ] || break
		i=$((i + 1))
	done
	echo $((i % 64))
}

# share_of KERNEL: the options of tests/run.sh for it.
share_of() {
	[ "$turn" != all ] || return 0
	case $1 in
	"${all_kernels%% *}") spread= ;;
	"${all_kernels##* }") spread=-r ;;
	*) spread=-e ;;
	esac
	echo "-s $(turn_of "$1")/16 $spread"
}

# probes_of KERNEL: the command that tries each type of probe there.
probes_of() {
	if [ "$turn" = all ] || [ $(($(turn_of "$1") % 4)) = 0 ]; then echo "$probes"; else echo true; fi
}

skip_all() {
	echo "NOT RUN on any of $kernels for $arch: $*"
	set -- $kernels
	echo "0 passed, 0 failed, $# skipped"
	exit 0
}
missing=
for tool in qemu-system-$arch $([ $arch = x86_64 ] && echo busybox || echo $arch-linux-gnu-gcc); do
	command -v $tool >/dev/null || missing="$missing $tool"
done
[ "$missing" ] && skip_all "missing$missing (apt-get install $packages)"
share=/ busybox=$(command -v busybox)
if [ $arch != x86_64 ]; then
	share=$("$here/tree.sh" $debian 2>&1) || skip_all "no tree of packages: $share"
	busybox=$share/bin/busybox
	export CC="$arch-linux-gnu-gcc --sysroot=$share" CXX=none
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# Guests are in process groups of their own: each is ended by who started it.
pids=
trap 'trap "" INT TERM; kill $pids 2>/dev/null; wait; exit 130' INT TERM

# File systems, which the cases about them load (NEEDS module:NAME), and tests/kernel/toolkernels.sh; the other modules are
# loaded when a guest starts.
later=' ext4 btrfs xfs f2fs bcachefs fuse nfsd nfsv4 '

# pack KERNEL-FOLDER GUEST-FOLDER SHARE PROBES: the initramfs. busybox must be static. Where the root is not this
# machine's, the project is shared beside it.
pack() {
	mkdir -p "$2/root/bin" "$2/root/dev" "$2/root/modules"
	cp "$busybox" "$2/root/bin/busybox"
	cp "$here/init" "$here/modules.sh" "$2/root"
	chmod 755 "$2/root/init"
	for m in "$1"/modules/*.ko; do
		name=${m##*/}
		name=${name#*-}
		cp "$m" "$2/root/modules/$name"
		tr '\0' '\n' <"$m" | sed -n 's/^depends=//p' | tr ',-' ' _' >"$2/root/modules/${name%.ko}.needs"
	done
	load=
	for m in $(tr - _ <"$1/wanted"); do
		case $later in *" $m "*) ;; *) load="$load $m" ;; esac
	done
	printf "dir='%s'\nproject='%s'\nload='%s'\ncmd='%s'\n" "$root" "$([ $share = / ] || echo y)" "$load" \
		"$(echo "$command" | sed "s/'/'\\\\''/g; s,SHARE,$3,; s,PROBES,$4,")" >"$2/root/job"
	(cd "$2/root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$2/initrd"
}

# boot KERNEL-FOLDER GUEST-FOLDER: the result in out/result and out/status. One thread for both
# processors: with one each, a processor now and then runs half of an instruction that the other is
# patching (static keys, which tracing flips), and the guest's kernel dies. A kernel that has lost a task to
# a mistake of its own mostly hangs later: it ends at once.
boot() {
	rm -rf "$2/out"
	mkdir "$2/out"
	case $arch in
	# A guest that gets no processor for a moment would find that its timer does not work, and panic.
	x86_64) console='ttyS0 no_timer_check' machine="-cpu max,la57=off,erms=off,fsrm=off" ;;
	# Without impdef every signed return address costs a cipher in software.
	aarch64) console=ttyAMA0 machine="-M virt -cpu max,pauth-impdef=on" ;;
	esac
	set -- "$1" "$2" -virtfs "local,path=$2/out,mount_tag=out,security_model=none,multidevs=remap" \
		-virtfs "local,path=$share,mount_tag=host,security_model=none,multidevs=remap,readonly=on"
	[ "$share" = / ] ||
		set -- "$@" -virtfs "local,path=$root,mount_tag=project,security_model=none,multidevs=remap,readonly=on"
	kernel=$1 guest=$2
	shift 2
	timeout -k 5 "$limit" qemu-system-$arch $machine -accel tcg,thread=single -smp 2 -m 1536 \
		-nodefaults -display none -no-reboot -serial "file:$guest/console" \
		-kernel "$kernel/vmlinuz" -initrd "$guest/initrd" \
		-append "console=$console panic=-1 oops=panic quiet printk.devkmsg=on mitigations=off ${GUEST_APPEND-}" ${GUEST_QEMU-} "$@" \
		</dev/null >"$guest/qemu" 2>&1 &
	qemu=$!
	trap 'kill $qemu 2>/dev/null; wait; exit 130' TERM
	wait $qemu
}

# last_words GUEST-FOLDER: what the console says of a kernel's death, with the cases that began before; of one
# that only stood still, its end.
last_words() {
	awk '/BUG:|Oops|Kernel panic|general protection|[Uu]nable to handle|Internal error/ && !at { at = NR }
		{ line[NR] = $0 }
		END {
			from = at ? at - 8 : NR - 20
			to = at ? at + 60 : NR
			for (i = from < 1 ? 1 : from; i <= to && i <= NR; i++)
				print line[i]
		}' "$1/console"
	cat "$1/qemu"
}

# one_guest KERNEL: all that is to be said about it, in $work/KERNEL/log; counts in .../sum.
one_guest() {
	g=$work/$1
	mkdir "$g"
	if ! folder=$("$here/fetch.sh" "$1" $debian 2>"$g/why"); then
		echo "NOT RUN: kernel $1 cannot be had: $(cat "$g/why")"
		echo "0 0 1" >"$g/sum"
		return
	fi
	start=$(date +%s)
	for try in once again; do
		pack "$folder" "$g" "$(share_of "$1")" "$(probes_of "$1")" && boot "$folder" "$g"
		code=$?
		[ -e "$g/out/status" ] && break
		[ -e "$g/out/result" ] && sed 's/^/# /' "$g/out/result"
		echo "# guest: it did not finish (QEMU's exit code $code); its console:"
		last_words "$g" | sed 's/^/# /'
		[ $try = again ] || echo "# guest: boots again"
	done
	if [ -e "$g/out/status" ]; then
		cat "$g/out/result"
		[ $try = once ] || echo "# passed at a later try: the guest"
	fi
	echo "# kernel $(cat "$folder/release"): $(($(date +%s) - start)) s"
	if [ -e "$g/out/status" ]; then
		awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { n++; p += $1; f += $3; s += $5 }
			END { if (n) print p, f, s }' "$g/out/result" >"$g/sum"
		[ -s "$g/sum" ] || echo "$((! $(cat "$g/out/status"))) $((!! $(cat "$g/out/status"))) 0" >"$g/sum"
	else
		echo "not ok guest: it died twice; its console:"
		last_words "$g" | head -n 30 | sed 's/^/# /'
		echo "0 1 0" >"$g/sum"
	fi
}

# The programs are built here, because a guest takes ten times as long; if a command names test files, only theirs.
# shellcheck disable=SC2046
(cd "$root" && tests/run.sh -b $(echo "$named" | grep -o 'tests/run/[^ ;]*\.t'))

mkfifo "$work/slots"
exec 9<>"$work/slots"
i=0
while [ $i -lt "$guests" ]; do
	echo >&9
	i=$((i + 1))
done
# The newest begin: they have most to do, and the last ones end at about the same time.
queue=
for k in $kernels; do
	queue="$k $queue"
done
for k in $queue; do
	read -r _ <&9
	(
		one_guest "$k" >"$work/$k.log" 2>&1
		echo >&9
	) &
	pids="$pids $!"
done

passed=0 failed=0 skipped=0
set -- $pids
for k in $queue; do
	wait "$1"
	shift
	sed "s/^/$k$label: /" "$work/$k.log"
	read -r p f s <"$work/$k/sum" || { p=0 f=1 s=0; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
for k in $kernels; do
	sed "s/^/$k$label: /" "$work/$k.log"
done >"$work/all"
if [ "$table" ] && grep -q ': probe|' "$work/all"; then
	if "$here/table.sh" $update "$work/all" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok table: $0 -t -u writes it anew"
	fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
