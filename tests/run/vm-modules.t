# Functions of modules. msdos and vfat have a static function setup() each, which mounting calls; the
# guest loads both, and brd for /dev/ram0.

NAME a name that several modules have: a kprobe gets all of them
ALONE
RUN
	mkdir $TMPDIR/m && busybox mkdosfs /dev/ram0 || exit 1
	for type in msdos vfat; do
		"$SONDE" -q -c "busybox mount -t $type /dev/ram0 $TMPDIR/m" -e 'kprobe:setup { @[probe] = count(); } kretprobe:setup { @r[probe] = count(); }' 2>&1 | grep .
		busybox umount $TMPDIR/m
	done
	"$SONDE" -l kprobe:setup
NEEDS vm kprobe file:/sys/module/msdos cmd:busybox
TIMEOUT 20
EXPECT
	@[kprobe:msdos:setup]: 1
	@r[kretprobe:msdos:setup]: 1
	@[kprobe:vfat:setup]: 1
	@r[kretprobe:vfat:setup]: 1
	kprobe:msdos:setup
	kprobe:vfat:setup

NAME a name that several modules have: fentry wants one of them
ALONE
RUN
	mkdir $TMPDIR/m && busybox mkdosfs /dev/ram0 || exit 1
	"$SONDE" -e 'fentry:setup { }' 2>&1 | head -n 1
	for type in msdos vfat; do
		for p in fentry:msdos:setup fexit:vfat:setup; do
			"$SONDE" -q -c "busybox mount -t $type /dev/ram0 $TMPDIR/m" -e "$p { printf(\"%s %s\n\", probe, func); }" 2>&1 | sed -n -e '/^f[^{]*$/p' -e 's/.*ERROR: Unable to attach probe: //p'
			busybox umount $TMPDIR/m 2>/dev/null
		done
	done | sed 's/\. If this.*//' | sort -u
NEEDS vm fentry file:/sys/kernel/btf/vfat cmd:busybox
TIMEOUT 20
EXPECT_RE
	stdin:1:1-13: ERROR: setup is in several modules \(msdos, vfat ...\): name one, as in fentry:msdos:setup
	(fentry:msdos:setup setup|fentry:msdos:setup: this kernel finds functions of modules by their names alone \(Linux 6.3 does not\), and another has a setup: use kprobe:msdos:setup)
	(fexit:vfat:setup setup|fexit:vfat:setup: this kernel finds functions of modules by their names alone \(Linux 6.3 does not\), and another has a setup: use kprobe:vfat:setup)

NAME a wildcard over modules
ALONE
RUN
	mkdir $TMPDIR/m && busybox mkdosfs /dev/ram0 || exit 1
	"$SONDE" -q -c "busybox mount -t vfat /dev/ram0 $TMPDIR/m" -e 'kprobe:*fat:setu* { @[probe, func] = count(); }' 2>&1 | grep .
	busybox umount $TMPDIR/m
	"$SONDE" -q -c "busybox mount -t msdos /dev/ram0 $TMPDIR/m" -e 'kprobe:*fat:setu*, kprobe:msd*:set[tu]p { @[probe, func] = count(); }' 2>&1 | grep .
	busybox umount $TMPDIR/m
NEEDS vm kprobe file:/sys/module/msdos cmd:busybox
TIMEOUT 20
EXPECT
	@[kprobe:vfat:setup, setup]: 1
	@[kprobe:msdos:setup, setup]: 1

NAME types of modules
RUN "$SONDE" -lv fexit:overlay:ovl_open; "$SONDE" -l 'fentry:overl*:ovl_op[e]n'
NEEDS vm fentry file:/sys/kernel/btf/overlay
EXPECT
	fexit:overlay:ovl_open
	    struct inode * inode
	    struct file * file
	    int retval
	fentry:overlay:ovl_open

NAME no types of modules
RUN for p in overlay:ovl_open ovl_open 'overl*:ovl_open' nosuchmodule:f; do "$SONDE" -e "begin { exit() } fentry:$p { }" 2>&1 | sed -n '1s/.*ERROR: //p'; done | sort -u
NEEDS vm fentry file:/sys/module/overlay
EXPECT_RE
	module nosuchmodule is not loaded, or has no BTF \(/sys/kernel/btf/nosuchmodule does not exist\)
	...

# What tracing itself goes through.

NAME wildcards leave out what tracing goes through, unless they begin like it
RUN
	"$SONDE" -l -e 'kprobe:*raw_spin_lock_irqsave { }'
	"$SONDE" -l -e 'kprobe:_raw_*_lock_irqsav[e] { }'
	"$SONDE" -l -e 'kprobe:_raw_spin_lock_irqsav* { }'
	"$SONDE" -l -e 'kprobe:_raw_spin_lock_irqsave { }'
	"$SONDE" -l 'kprobe:*raw_spin_lock_irqsave'
NEEDS vm kprobe x86_64
EXPECT
	kprobe:_raw_spin_lock_irqsave
	kprobe:_raw_spin_lock_irqsave
	kprobe:_raw_spin_lock_irqsave
ERR_RE
	.*WARNING: 1 function that tracing itself goes through is left out of this wildcard. Name them to probe them.
	...
	.*ERROR: No matches for kprobe \*raw_spin_lock_irqsave.
	...
	.*WARNING: [1-9] functions? that tracing itself goes through (is|are) left out of this wildcard. Name them to probe them.
	...
	.*ERROR: No matches for kprobe _raw_\*_lock_irqsav\[e\].
	...

NAME wildcards of fentry leave out what trampolines go through
RUN "$SONDE" -l -e 'fentry:*raw_spin_lock_irqsave { }'
RC 1
NEEDS vm fentry x86_64
EXPECT
ERR_RE
	.*WARNING: 1 function that BPF trampolines go through themselves is left out of this wildcard
	...
	.*ERROR: No matches for fentry \*raw_spin_lock_irqsave.
	...

NAME a wildcard over everything leaves out hundreds
RUN
	"$SONDE" -l -e 'config = { max_probes = 200000 } kprobe:* { }' >"$TMPDIR/all" 2>"$TMPDIR/err"
	sed -n 's/.*WARNING: \([0-9]*\) functions that tracing.*/\1/p' "$TMPDIR/err" | sed 's/^[1-9][0-9][0-9][0-9]*$/hundreds/'
	grep -c -e ':_raw_spin_' -e ':rcu_' -e ':bpf_' -e ':ftrace_' "$TMPDIR/all"
	[ $(wc -l <"$TMPDIR/all") -gt 20000 ] && echo many
	true
NEEDS slow vm kprobe
TIMEOUT 30
EXPECT
	hundreds
	0
	many

NAME some of a wildcard's functions cannot be probed: the others are
RUN
	"$SONDE" -c 'build/tests/rw w100' -e 'kprobe:ksys_writ*,kprobe:setu* { @[probe] = count(); }' 2>&1 |
		sed -n -e 's/[0-9][0-9]* of the [0-9][0-9]* matches cannot be probed (the first: .*/N of the M cannot be probed/p' -e '/ksys_write/p'
NEEDS slow vm kprobe
TIMEOUT 20
EXPECT_RE
	(.*WARNING: N of the M cannot be probed)?
	.*ksys_write.*: [1-9][0-9]*
