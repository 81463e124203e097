# What uprobe, uretprobe and usdt say of files and places that cannot be probed. See uprobe-err.t, too.

NAME what is no file
RUN
	mkfifo $TMPDIR/fifo && mkdir $TMPDIR/dir && : >$TMPDIR/empty && cd $TMPDIR || exit
	printf '\177ELF\2\2\1rubbish.........' >big && printf '\177ELF\7\1\1rubbish.........' >class
	for f in ./fifo ./dir ./empty /dev/null ./big ./class; do
		for p in uprobe:$f:main usdt:$f:probe; do
			"$SONDE" -e "$p { }" 2>&1 | head -n 1
		done
	done
EXPECT
	stdin:1:1-19: ERROR: uprobe target file './fifo' is not a regular file
	stdin:1:1-18: ERROR: usdt target file './fifo' is not a regular file
	stdin:1:1-18: ERROR: uprobe target file './dir' is a directory, not a program or library
	stdin:1:1-17: ERROR: usdt target file './dir' is a directory, not a program or library
	stdin:1:1-20: ERROR: ./empty: not an ELF file
	stdin:1:1-19: ERROR: ./empty: not an ELF file
	stdin:1:1-22: ERROR: uprobe target file '/dev/null' is not a regular file
	stdin:1:1-21: ERROR: usdt target file '/dev/null' is not a regular file
	stdin:1:1-18: ERROR: ./big: big-endian ELF files are not supported
	stdin:1:1-17: ERROR: ./big: big-endian ELF files are not supported
	stdin:1:1-20: ERROR: ./class: damaged ELF file: class 7
	stdin:1:1-19: ERROR: ./class: damaged ELF file: class 7

NAME a file below a directory that others may not look into
RUN
	mkdir -m 700 /tmp/sonde-$$ && cp build/tests/landing "$SONDE" /tmp/sonde-$$ || exit
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all /tmp/sonde-$$/sonde -e "uprobe:/tmp/sonde-$$/landing:pushes { }" 2>&1 |
		sed "s,sonde-$$,DIR,; s/:1-[0-9]*:/:/; s,+ep .*,+ep,; 1q"
	rm -r /tmp/sonde-$$
NEEDS prog:landing file:/usr/bin/setpriv
EXPECT
	stdin:1: ERROR: uprobe target file '/tmp/DIR/landing' cannot be reached: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep

NAME a machine that has no name here
RUN
	cp build/tests/landing $TMPDIR/mips && printf '\010\0' | dd of=$TMPDIR/mips bs=1 seek=18 conv=notrunc 2>/dev/null
	cd $TMPDIR && "$SONDE" -e "uprobe:./mips:pushes { }" 2>&1
NEEDS prog:landing x86_64
RC 1
EXPECT
	stdin:1:1-21: ERROR: ./mips is for a machine that has no name here (e_machine 8), and this machine is x86_64
	uprobe:./mips:pushes { }
	~~~~~~~~~~~~~~~~~~~~

NAME places in a file without symbols
RUN
	strip -o $TMPDIR/bare build/tests/landing && cd $TMPDIR || exit
	"$SONDE" -e 'uprobe:./bare:pushes { }' 2>&1
	"$SONDE" -e "uprobe:./bare:0x$(readelf -h bare | sed -n 's/.*Entry.*0x//p') { }" 2>&1 | sed 's/0x[0-9a-f]*/ADDRESS/; s/:1-[0-9]*:/:/; 1q'
	"$SONDE" -e 'uprobe:./bare:0xfffffffff { }' 2>&1
NEEDS prog:landing cmd:strip cmd:readelf
RC 1
EXPECT
	stdin:1:1-21: ERROR: ./bare has no symbols: it is stripped, or damaged
	uprobe:./bare:pushes { }
	~~~~~~~~~~~~~~~~~~~~
	stdin:1: ERROR: Could not determine instruction boundary for uprobe:./bare:ADDRESS; --unsafe attaches all the same, which may corrupt the traced program
	stdin:1:1-26: ERROR: ./bare: no code at address 0xfffffffff
	uprobe:./bare:0xfffffffff { }
	~~~~~~~~~~~~~~~~~~~~~~~~~

NAME functions of Go whose returns cannot be found
RUN
	cd $TMPDIR && cat >go.s <<'END'
	.section .note.go.buildid,"a"
	.long 0
	.text
	.globl main
	.type endless, @function
	endless: jmp endless
	.size endless, . - endless
	.type strange, @function
	strange: nop
	.byte 0x62, 0xff, 0xff, 0xff
	ret
	.size strange, . - strange
	.type open, @function
	open: ret
	main: ret
	.section .note.GNU-stack
	END
	cc -static -o go go.s || exit
	for f in endless strange open; do "$SONDE" -e "uretprobe:./go:$f { }" 2>&1 | head -n 1; done
	"$SONDE" -e "uretprobe:./go:0x$(nm go | sed -n 's/ . endless$//p') { }" 2>&1 | sed 's/:1-[0-9]*:/:/; 1q'
NEEDS cmd:cc cmd:nm x86_64 fast
EXPECT
	stdin:1:1-23: ERROR: endless in ./go has no return instruction
	stdin:1:1-23: ERROR: strange+1 in ./go is an instruction that is not known, so the function's return instructions cannot be found
	stdin:1:1-20: ERROR: ./go does not contain the size of open, so its return instructions cannot be found
	stdin:1: ERROR: ./go is a Go program: returns are probed by the function's name

NAME arguments of a program by an old Go
RUN
	cd $TMPDIR && cat >go.s <<'END'
	.section .go.buildinfo,"a"
	.ascii "\377 Go buildinf:"
	.byte 8, 2
	.fill 16
	.byte 8
	.ascii "go1.16.3"
	.text
	.globl main
	.type main, @function
	main: ret
	.size main, . - main
	.section .note.GNU-stack
	END
	cc -static -o go go.s && "$SONDE" -e 'uprobe:./go:main { print(arg0); }' 2>&1
NEEDS cmd:cc x86_64 fast
RC 1
EXPECT
	stdin:1:1-17: ERROR: ./go is built by a Go older than 1.17, which passes arguments and results on the stack: only reg() reaches them
	uprobe:./go:main { print(arg0); }
	~~~~~~~~~~~~~~~~

# Since Linux 6.18 a nop of five bytes becomes a call, which needs the stack.
NAME places where a probe would overwrite variables
RUN
	cd $TMPDIR && cat >leaf.s <<'END'
	.text
	.globl main
	.type main, @function
	main: mov %rdi, -8(%rsp)
	990: .byte 0x0f, 0x1f, 0x44, 0, 0
	mov -8(%rsp), %rax
	ret
	.size main, . - main
	.section .note.stapsdt, "", "note"
	.balign 4
	.4byte 992f-991f, 994f-993f, 3
	991: .asciz "stapsdt"
	992: .balign 4
	993: .8byte 990b, 0, 0
	.asciz "leaf"
	.asciz "probe"
	.asciz ""
	994: .balign 4
	.section .note.GNU-stack
	END
	cc -static -o leaf leaf.s || exit
	"$SONDE" -e 'uprobe:./leaf:main+5 { }' 2>&1
	"$SONDE" -e 'usdt:./leaf:leaf:probe { }' 2>&1 | sed 's/0x[0-9a-f]*/0xADDRESS/'
	"$SONDE" --unsafe --dry-run -e 'uprobe:./leaf:main+5 { } usdt:./leaf:leaf:probe { }' 2>&1
NEEDS cmd:cc sym:arch_uprobe_optimize before:7.0
EXPECT
	stdin:1:1-21: ERROR: This kernel would overwrite variables at uprobe:./leaf:main+5; --unsafe attaches all the same, which may corrupt the traced program
	uprobe:./leaf:main+5 { }
	~~~~~~~~~~~~~~~~~~~~
	stdin:1:1-23: ERROR: Unable to attach probe: usdt:./leaf:leaf:probe: this kernel would overwrite variables of the function at usdt:./leaf:leaf:probe (0xADDRESS); --unsafe attaches all the same. If this is expected, set the 'missing_probes' config variable to 'warn'.
	usdt:./leaf:leaf:probe { }
	~~~~~~~~~~~~~~~~~~~~~~

NAME a semaphore where the kernel cannot count
RUN "$SONDE" --no-feature UPROBE_MULTI,UPROBE_REFCTR -e 'usdt:build/tests/semaphore:* { }' 2>&1
NEEDS prog:semaphore
RC 255
EXPECT
	stdin:1:1-29: ERROR: Unable to attach probe: usdt:build/tests/semaphore:semtest:probe: this USDT probe has a semaphore, which needs USDT semaphores counted by the kernel (Linux 4.20). If this is expected, set the 'missing_probes' config variable to 'warn'.
	usdt:build/tests/semaphore:* { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME no uprobes in this kernel
RUN unshare -m sh -c 'mount -t tmpfs none /sys/bus/event_source/devices && "$SONDE" --no-feature UPROBE_MULTI -e "uprobe:build/tests/landing:pushes { }"' 2>&1
NEEDS prog:landing cmd:unshare
RC 255
EXPECT
	stdin:1:1-34: ERROR: Unable to attach probe: uprobe:build/tests/landing:pushes: this kernel has no uprobes (CONFIG_UPROBE_EVENTS): /sys/bus/event_source/devices/uprobe does not exist. If this is expected, set the 'missing_probes' config variable to 'warn'.
	uprobe:build/tests/landing:pushes { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME a description of uprobes that is not understood
RUN
	unshare -m sh -c '
	d=/sys/bus/event_source/devices
	mount -t tmpfs none $d && mkdir -p $d/uprobe/format || exit
	for t in rubbish 7; do
		echo $t >$d/uprobe/type
		echo config:x >$d/uprobe/format/retprobe
		"$SONDE" --no-feature UPROBE_MULTI -e "uprobe:build/tests/landing:pushes { }" 2>&1 | head -n 1
	done'
NEEDS prog:landing cmd:unshare
EXPECT
	stdin:1:1-34: ERROR: Unable to attach probe: uprobe:build/tests/landing:pushes: /sys/bus/event_source/devices/uprobe/type is not a number. If this is expected, set the 'missing_probes' config variable to 'warn'.
	stdin:1:1-34: ERROR: Unable to attach probe: uprobe:build/tests/landing:pushes: /sys/bus/event_source/devices/uprobe/format/retprobe is not understood: config:x. If this is expected, set the 'missing_probes' config variable to 'warn'.

# Linux 6.1 wants CAP_SYS_ADMIN for the perf event of a uprobe.
NAME a uprobe without CAP_SYS_ADMIN
RUN
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	d=/tmp/sonde-$$ && mkdir -m 755 $d && cp "$SONDE" build/tests/landing $d && c=-all,+bpf,+perfmon || exit
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c $d/${SONDE##*/} -e "uprobe:$d/landing:pushes { }" 2>&1 |
		sed "s,$d,DIR,g; s/:1-[0-9]*:/:/; s/offset 0x[0-9a-f]*/offset 0xN/; 1q"
	rm -r $d
NEEDS vm before:6.6 prog:landing file:/usr/bin/setpriv sym:bpf_for_each_map_elem
ALONE
TIMEOUT 20
EXPECT
	stdin:1: ERROR: Unable to attach probe: uprobe:DIR/landing:pushes: open uprobe at offset 0xN of DIR/landing: Permission denied (needs CAP_SYS_ADMIN on kernels such as Linux 6.1: use sudo). If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME files of processes that others may not look into
RUN
	cp "$SONDE" $TMPDIR/sonde && c=-all,+bpf,+perfmon
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c $TMPDIR/sonde --dry-run -e 'uprobe:*:no_such_function_anywhere { }' 2>&1
NEEDS file:/usr/bin/setpriv uprobe sym:bpf_for_each_map_elem
TIMEOUT 20
RC 1
EXPECT
	stdin:1:1-35: WARNING: files of other users' processes cannot be seen without CAP_SYS_PTRACE
	uprobe:*:no_such_function_anywhere { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:1-35: ERROR: No matches for uprobe *:no_such_function_anywhere.
	uprobe:*:no_such_function_anywhere { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.
