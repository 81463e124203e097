# User stacks of the whole machine, no option given: however a program was built, dead or alive.

# What calls main() has a name only where debug information of the C library is installed.
NAME one program built in twelve ways has one stack
TIMEOUT 60
RUN built=$(tests/progs/builds.sh "$TMPDIR")
	{ "$SONDE" -e 'tracepoint:syscalls:sys_enter_getppid { @[comm, ustack] = count(); }' >"$TMPDIR/out" 2>"$TMPDIR/err" & }
	tracer=$!
	i=0; until grep -q Attached "$TMPDIR/err" || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
	for p in $built; do "$TMPDIR/$p"; done
	kill -INT $tracer; wait $tracer
	for p in $built; do
		echo "$p: $(sed -n "/^@\[$(echo "$p" | cut -c1-15),/,/^\]/p" "$TMPDIR/out" | sed 's/+.*//; s/^ *0x.*/libc_start_call_main/; s/^ *__/ /; s/^ *//' | grep -v '^[]@]' | paste -sd' ')"
	done
EXPECT
	frame_pointers: getppid three two one main libc_start_call_main libc_start_main _start
	no_frame_pointers: getppid three two one main libc_start_call_main libc_start_main _start
	o3: getppid three two one main libc_start_call_main libc_start_main _start
	static: getppid three two one main libc_start_call_main libc_start_main _start
	no_pie: getppid three two one main libc_start_call_main libc_start_main _start
	static_pie: getppid three two one main libc_start_call_main libc_start_main _start
	cf_protection: getppid three two one main libc_start_call_main libc_start_main _start
	lazy_plt: getppid three two one main libc_start_call_main libc_start_main _start
	debug_frame: getppid three two one main libc_start_call_main libc_start_main _start
	no_frame_header: getppid three two one main libc_start_call_main libc_start_main _start
	stripped: getppid three two one main libc_start_call_main libc_start_main _start
	exceptions: getppid three two one main libc_start_call_main libc_start_main _start
NEEDS tracefs dwunwind cmd:c++ cmd:objcopy fast

NAME stacks of a shell and of Perl reach where they begin
TIMEOUT 60
RUN reaches bash bash -c 'for i in {1..60000}; do x="${x:0:20}$i"; case $x in *7*) y=${x//7/8};; esac; done'
	reaches perl perl -e 'for my $i (1 .. 300000) { my $s = "x$i"; $s =~ s/(\d)(\d)/$2$1/g; $h{$s}++; } @k = sort keys %h;'
EXPECT
	bash: yes
	perl: yes
NEEDS dwunwind cmd:bash cmd:perl fast

# What begins a thread has a name only where debug information of the C library is installed.
NAME stacks of the threads of sort reach where they begin
TIMEOUT 60
RUN seq 300000 | sed 's/\(.*\)\(...\)$/\2 \1/' >"$TMPDIR/lines"
	reaches sort sort -S 10M "$TMPDIR/lines" "$TMPDIR/lines"
EXPECT
	sort: yes
NEEDS dwunwind file:/usr/lib/debug/.build-id fast

# Debian's: where functions of libraries are bound when they are called first, the linker's code for that keeps its
# caller by a register (rbx) that walks do not follow.
NAME stacks of Python reach where it begins
TIMEOUT 30
RUN reaches python3 /usr/bin/python3 tests/progs/work.py 1000
EXPECT
	python3: yes
NEEDS dwunwind file:/usr/bin/python3 fast

NAME stacks of assembly reach where the program begins
TIMEOUT 60
RUN for a in '-bytes 8192 -evp aes-128-gcm' '-bytes 8192 -evp sha256' '-bytes 8192 -evp chacha20-poly1305' rsa2048 ecdsap256 ed25519; do
		reaches openssl openssl speed -seconds 1 $a
	done
EXPECT
	openssl: yes
	openssl: yes
	openssl: yes
	openssl: yes
	openssl: yes
	openssl: yes
NEEDS dwunwind cmd:openssl x86_64 fast

# Copies, which a process's first stacks come from, end where Go goes to another stack: 97, not 99.
NAME stacks of Go reach where goroutines begin
TIMEOUT 300
RUN most=97
	export HOME="$TMPDIR" GOCACHE="$PWD/build/tests/gocache" GO111MODULE=off
	go build -o "$TMPDIR/gowork" tests/progs/work.go && reaches gowork "$TMPDIR/gowork" 1000
	go build -buildmode=pie -ldflags='-s -w' -o "$TMPDIR/gopie" tests/progs/work.go && reaches gopie "$TMPDIR/gopie" 1000
	"$SONDE" -e "uprobe:$TMPDIR/gowork:runtime.sighandler { @[ustack] = count(); }" -c "$TMPDIR/gowork 1000" 2>&1 |
		awk '/^        / { last = $1 } /^]: / { all += $2; if (last ~ /goexit|mstart|rt0_go|clone|mcall/) whole += $2 } END { print "signals:", (all && whole >= 0.9 * all ? "yes" : last) }'
EXPECT
	gowork: yes
	gopie: yes
	signals: yes
NEEDS dwunwind cmd:go x86_64 fast

NAME stacks of Rust reach where threads begin
TIMEOUT 60
RUN rustc -O -o "$TMPDIR/rswork" tests/progs/work.rs && reaches rswork "$TMPDIR/rswork" 1000
EXPECT
	rswork: yes
NEEDS dwunwind cmd:rustc func:libc:start_thread fast

NAME names of the stacks of short processes, printed when they are dead
TIMEOUT 40
RUN { "$SONDE" -e 'profile:hz:999 /comm == "unwind"/ { @[ustack] = count(); }' >"$TMPDIR/out" 2>"$TMPDIR/err" & }
	tracer=$!
	i=0; until grep -q Attached "$TMPDIR/err" || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
	i=0; while [ $i -lt 100 ]; do build/tests/unwind spin 20; i=$((i + 1)); done
	kill -INT $tracer; wait $tracer
	awk '/^@/ { n = has = 0 } /^        / { n++; has += !/^        0x/ } /^        main\+/ { all += n; named += has } END { print (all > 100), (named >= 0.99 * all) }' "$TMPDIR/out"
EXPECT
	1 1
NEEDS prog:unwind dwunwind fast

NAME names of short processes in a root of their own
TIMEOUT 60
RUN tests/progs/builds.sh "$TMPDIR" >/dev/null
	{ "$SONDE" -e 'tracepoint:syscalls:sys_enter_getppid /comm == "static" || comm == "o3"/ { @[comm, ustack] = count(); }' >"$TMPDIR/out" 2>"$TMPDIR/err" & }
	tracer=$!
	i=0; until grep -q Attached "$TMPDIR/err" || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
	mkdir -p "$TMPDIR/root"
	unshare -m sh -c 'mount -t tmpfs none "$1/root" && cd "$1/root" && mkdir -p lib lib64 bin old usr proc && mount --rbind /usr usr &&
		mount --rbind /lib lib && mount --rbind /lib64 lib64 && cp "$1/o3" "$1/static" . && cp "$(command -v busybox)" bin &&
		pivot_root . old && /bin/busybox umount -l /old && cd / && for i in 1 2 3 4 5; do /o3; /static; /bin/busybox sleep 0.1; done' sh "$TMPDIR" 2>&1
	kill -INT $tracer; wait $tracer
	sed 's/+.*//' "$TMPDIR/out" | grep -E '^        ' | sort -u | grep -cE '^        (_*getppid|three|two|one|main|_*libc_start_call_main|_*libc_start_main|_start)$'
	grep -c '^        0x' "$TMPDIR/out" || :
EXPECT_RE
	[89]
	0
NEEDS tracefs dwunwind cmd:unshare cmd:pivot_root cmd:busybox cmd:c++ fast

NAME inlined functions and source lines
TIMEOUT 30
RUN cat >"$TMPDIR/inl.c" <<'END'
	#include <unistd.h>
	static volatile int sink;
	static inline __attribute__((always_inline)) void deep(int n) {
		sink += getppid() + n;
	}
	static inline __attribute__((always_inline)) void mid(int n) {
		deep(n + 1);
		sink++;
	}
	__attribute__((noinline)) void outer(int n) {
		mid(n);
		sink++;
	}
	int main(void) { outer(1); return 0; }
	END
	(cd "$TMPDIR" && cc -O2 -g -fdebug-prefix-map="$TMPDIR"=/src -o inl inl.c && cp inl bare && strip -g bare)
	for p in inl bare; do
		"$SONDE" -q -c "$TMPDIR/$p" -e 'config = { show_debug_info = true } tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(4)); print(ustack(perf, 3)); print(ustack(raw, 1)); }' |
			grep -E 'inl|outer|main' | grep -v libc_start | sed -E 's/^\t[0-9a-f]+/\tADDR/; s/\+[0-9]+/+N/; s/\(.*\/(inl|bare)\)/(\1)/'
	done
EXPECT
	        deep@/src/inl.c:4 [inlined]
	        mid@/src/inl.c:7 [inlined]
	        outer+N@/src/inl.c:11
	        main+N@/src/inl.c:14
		ADDR deep@/src/inl.c:4 [inlined] (inl)
		ADDR mid@/src/inl.c:7 [inlined] (inl)
		ADDR outer+N@/src/inl.c:11 (inl)
		ADDR main+N@/src/inl.c:14 (inl)
	        outer+N
	        main+N
		ADDR outer+N (bare)
		ADDR main+N (bare)
NEEDS tracefs dwunwind cmd:cc fast
