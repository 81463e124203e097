#!/bin/sh
# cli.sh - the command line without root: options, messages, exit codes.
cd "$(dirname "$0")/../.." || exit 1
sonde=$(realpath "${SONDE:-build/sonde}")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
ln -s "$sonde" "$tmp/bpftrace"
n=0 pass=0 fail=0

# t RC TEXT COMMAND... - the command ends with RC and its output (both streams) begins with TEXT.
t() {
	rc=$1 want=$2
	shift 2
	n=$((n + 1))
	got=$(timeout 20 "$@" 2>&1 < "$tmp/in")
	got_rc=$?
	case $got in
	"$want"*) same=1 ;;
	*) same= ;;
	esac
	if [ "$same" ] && [ $got_rc = "$rc" ]; then
		pass=$((pass + 1))
		echo "ok $n - $*"
	else
		fail=$((fail + 1))
		echo "not ok $n - $*"
		echo "# exit code $got_rc, expected $rc; output:"
		printf '%s\n' "$got" | head -n 8 | sed 's/^/# /'
		printf '%s\n' "expected: $want" | sed 's/^/# /'
	fi
}
: > "$tmp/in"

t 0 'sonde 0.' "$sonde" --version
t 0 'sonde 0.1.0 (commit ' "$sonde" --version
t 0 'sonde 0.' "$sonde" version
t 0 'bpftrace v0.27.1 (sonde ' "$tmp/bpftrace" -V
t 0 'USAGE:
    sonde [options] FILE' "$sonde" --help
t 0 'USAGE:
    bpftrace [options] FILE' "$tmp/bpftrace" -h
t 0 'USAGE:' "$sonde" help
t 0 'tracepoint:' "$sonde" help tracepoint
t 0 'text' "$sonde" help outputs
t 0 'execsnoop: ' "$sonde" help execsnoop
t 0 'ext4slower: ' "$sonde" help ext4slower
t 0 'profile:(hz|s|ms|us):count' "$sonde" help profile
t 0 'profile is a tool, too: sonde profile -h' sh -c '"$1" help profile | tail -n 1' sh "$sonde"
t 0 'USAGE:
    sonde list [-v] [PATTERN]' "$sonde" help list
t 0 'USAGE:
    sonde list [-v] [PATTERN]' "$sonde" list -h
t 0 'USAGE:
    sonde info' "$sonde" info -h
t 0 'USAGE:
    sonde check FILE|TOOL...' "$sonde" check -h
t 0 'USAGE:
    sonde tools [WORD]' "$sonde" help tools
t 1 "ERROR: no function, variable, probe, command or tool is named 'execsnop'; did you mean execsnoop?" "$sonde" help execsnop
# What `make install` brings, `make uninstall` takes away, and nothing else. -o all: what is built here is installed;
# two tools stand for all, because manual pages take long.
cat > "$tmp/install" << 'END'
d=$1 b=${2%/sonde}
shift 2
go() { make -s -o all TOOL_NAMES="execsnoop opensnoop" "$@" B="$b" DESTDIR="$d" PREFIX=/opt >&2 || exit; }
mkdir -p "$d/opt/bin" && echo other > "$d/opt/bin/opensnoop.old"
go install "$@"
ls "$d/opt/share/man/man1" | grep -cx 'sonde-execsnoop.1\|sonde.1'
sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$d/opt/lib/systemd/system/sonde-record.service"
sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$d/opt/lib/systemd/system/sonde-metrics.service"
readlink "$d/opt/bin/execsnoop"
[ "$#" -gt 0 ] || echo mine > "$d/opt/bin/execsnoop"
go uninstall
find "$d" ! -type d -printf '%P\n' | sort
END
t 0 '2
/opt/bin/sonde
/opt/bin/sonde
opt/bin/execsnoop
opt/bin/opensnoop.old' sh "$tmp/install" "$tmp/installed" "$sonde"
t 0 '2
/opt/bin/sonde
/opt/bin/sonde
sonde
opt/bin/opensnoop.old' sh "$tmp/install" "$tmp/linked" "$sonde" TOOLS=1
# Scripts that are right, that are not, that are not there.
echo 'begin { print(1); system("id"); }' > "$tmp/right.bt"
echo 'begin { print(nosuch); }' > "$tmp/wrong.bt"
t 0 "$tmp/right.bt: 1 program" "$sonde" check "$tmp/right.bt"
t 0 '' "$sonde" check -q "$tmp/right.bt" "$tmp/right.bt"
t 1 "$tmp/wrong.bt:1:15-21: ERROR: Unknown identifier: 'nosuch'" "$sonde" check "$tmp/wrong.bt" "$tmp/right.bt"
t 1 'ERROR: failed to open file' "$sonde" check "$tmp/none.bt"
t 0 'tcplife: 1 program' "$sonde" check tcplife
t 1 "ERROR: no command, tool or file is named 'tcplive'; did you mean tcplife" "$sonde" check tcplive
t 1 'ERROR: --for means nothing to '"'check'" "$sonde" check --for 3s "$tmp/right.bt"
t 1 'ERROR: USAGE: sonde check' "$sonde" check
t 0 'USAGE:' "$sonde" check --help
# What bash offers behind a line.
cat > "$tmp/offers" << 'END'
. packaging/completion.bash
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=' :='
_sonde "$1"
printf '%s\n' "${COMPREPLY[@]}"
END
if command -v bash > /dev/null; then
	t 0 execsnoop bash "$tmp/offers" "$sonde" 'sonde exec'
	t 0 'import
info' bash "$tmp/offers" "$sonde" 'sonde i'
	t 0 '--no-feature
--no-warnings' bash "$tmp/offers" "$sonde" 'sonde --no-'
	t 0 '--tid
--time
--timestamp' bash "$tmp/offers" "$sonde" 'sonde execsnoop --t'
	t 0 'from-rq-alloc' bash "$tmp/offers" "$sonde" 'sonde biolatpcts -w f'
	t 0 'alloc_page' bash "$tmp/offers" "$sonde" 'sonde inject --mode a'
	t 0 'flame' bash "$tmp/offers" "$sonde" 'sonde -f fl'
	# A letter of the tool's own is not that of sonde.
	t 0 'k' bash "$tmp/offers" "$sonde" 'sonde tcpsubnet -f k'
	t 0 'perf-stat-hist' bash "$tmp/offers" "$sonde" 'sonde perf-'
	t 0 'opensnoop' bash "$tmp/offers" "$sonde" 'sonde tools -s opensn'
	t 0 "$$" bash "$tmp/offers" "$sonde" "sonde -p $$"
	t 0 'software:cpu-clock:' bash "$tmp/offers" "$sonde" "sonde -l 'software:cpu-c"
	t 0 'cpu-clock:' bash "$tmp/offers" "$sonde" 'sonde -l software:cpu-c'
fi
# Help, manual page and completion name the same options, and each command accepts those of its help.
cat > "$tmp/options" << 'END'
"$1" $2 | sed -n 's/^    \(-[^ ].*\)/\1/p' | sed 's/  .*//' | tr ', ' '\n\n' | sed -n 's/^\(-[-a-zA-Z]*\).*/\1/p' | sort -u
END
cat > "$tmp/accepts" << 'END'
for o in $(sh "$1/options" "$2" "$3 -h"); do
	"$2" $3 $o /dev/null -h 2>&1 | sed "s/^/$o: /" | grep -E 'unrecognized|invalid option --|means nothing|ssertion|ambiguous'
done
echo all accepted
END
t 0 '.Dd' sh scripts/man.sh "$sonde" man/sonde.1.in
sed '/^@sonde --aot/d' man/sonde.1.in > "$tmp/few.in"
t 1 'few.in: option --aot FILE is not mentioned' sh -c 'cd "$1" && sh "$2" "$3" few.in 2>&1 > few.1' sh "$tmp" "$PWD/scripts/man.sh" "$sonde"
echo '@record --nope' | cat man/sonde.1.in - > "$tmp/many.in"
t 1 'many.in: the help of record has no option --nope' sh -c 'cd "$1" && sh "$2" "$3" many.in 2>&1 > many.1' sh "$tmp" "$PWD/scripts/man.sh" "$sonde"
commands=$("$sonde" --help | sed -n '/^COMMANDS:/,/^$/s/^    \([a-z]*\).*/\1/p')
t 0 'list
record
report
query
live
top
export
import
merge
fleet
serve
check
info
help
tools' echo "$commands"
for command in list record report query live top export import merge fleet serve check info tplist execsnoop; do
	t 0 'all accepted' sh "$tmp/accepts" "$tmp" "$sonde" "$command"
	if command -v bash > /dev/null; then
		t 0 "$(sh "$tmp/options" "$sonde" "$command -h")
." sh -c 'bash "$1" "$2" "sonde $3 -"; echo .' sh "$tmp/offers" "$sonde" "$command"
	fi
done
if command -v bash > /dev/null; then
	t 0 "$(sh "$tmp/options" "$sonde" --help)
." sh -c 'bash "$1" "$2" "sonde -"; echo .' sh "$tmp/offers" "$sonde"
	t 0 "$commands" sh -c 'bash "$1" "$2" "sonde " | head -n "$3"' sh "$tmp/offers" "$sonde" "$(echo "$commands" | wc -l)"
fi
# And zsh and fish, where they are.
mkdir "$tmp/bin"
ln -s "$sonde" "$tmp/bin/sonde"
cat > "$tmp/offers.zsh" << 'END'
path=($1 $path)
shift
source packaging/completion.zsh
_sonde_candidates "$@" | grep -e "^${argv[-1]}"
END
cat > "$tmp/offers.fish" << 'END'
set PATH $argv[1] $PATH
source packaging/completion.fish
complete -C $argv[2]
END
if command -v zsh > /dev/null; then
	t 0 execsnoop zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde exec
	t 0 '--tid
--time
--timestamp' zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde execsnoop --t
	t 0 'from-rq-alloc' zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde biolatpcts -w f
	t 0 'k' zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde tcpsubnet -f k
	t 0 'opensnoop' zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde tools -s opensn
	t 0 'software:cpu-clock:' zsh -f "$tmp/offers.zsh" "$tmp/bin" sonde -l software:cpu-c
fi
if command -v fish > /dev/null; then
	t 0 'opensnoop	files' env HOME="$tmp" fish "$tmp/offers.fish" "$tmp/bin" 'sonde tools -s opensn'
	t 0 'execsnoop	new programs' env HOME="$tmp" fish "$tmp/offers.fish" "$tmp/bin" 'sonde exec'
	t 0 '--tid	these threads only
--time	column' env HOME="$tmp" fish "$tmp/offers.fish" "$tmp/bin" 'sonde execsnoop --t'
	t 0 'from-rq-alloc' env HOME="$tmp" fish "$tmp/offers.fish" "$tmp/bin" 'sonde biolatpcts -w f'
	t 0 'software:cpu-clock:' env HOME="$tmp" fish "$tmp/offers.fish" "$tmp/bin" 'sonde -l software:cpu-c'
fi
# The words to which a probe gives a meaning.
for word in args argN retval func probe probetype; do
	t 0 "auto $word
    " "$sonde" help $word
done
t 0 'auto argN
    One argument' "$sonde" help arg3
t 1 "ERROR: no function, variable, probe, command or tool is named 'argue'" "$sonde" help argue
t 1 "ERROR: no function, variable, probe, command or tool is named 'nope'" "$sonde" help nope
t 0 'System
  OS: Linux' "$sonde" info
# What cannot be written is an error: nothing of it was seen by anybody.
for args in list help 'help tracepoint' info 'info -f json' --version \
	"--fmt -e 'begin { }'" "-d ast -e 'begin { }'" "-d bpf -e 'begin { @ = 1; }'"; do
	t 1 'ERROR: write output: ' sh -c "\"$sonde\" $args 2>&1 >/dev/full"
	t 1 'ERROR: write output: ' sh -c "\"$sonde\" $args 2>&1 >&-"
done
for args in list help tools info; do
	t 1 'ERROR: write output: No space left on device' sh -c "'$sonde' $args 2>&1 >/dev/full"
done
t 0 'System
  OS: Linux' "$tmp/bpftrace" --info
# What compiling takes grows with the script, not with its square (sanitizers need more).
awk 'BEGIN { print "begin {"; for (i = 0; i < 10000; i++) print "@a[" i "] = " i ";"; print "}" }' > "$tmp/long.bt"
grep -q __asan_init "$sonde" && room=unlimited || room=200000
t 0 '' sh -c 'ulimit -v $1; exec "$2" --mode codegen "$3"' sh $room "$sonde" "$tmp/long.bt"

# Macros that double forty times end at the limit, in little memory.
awk 'BEGIN { print "#define m0 1 + 1"; for (i = 1; i < 41; i++) print "#define m" i " m" i - 1 " + m" i - 1; print "begin { print(m40); }" }' > "$tmp/bomb.bt"
t 1 "$tmp/bomb.bt:42:15-18: ERROR: macros make too much text (more than 1048576 tokens)" sh -c 'ulimit -v $1; exec "$2" --mode codegen "$3"' sh $room "$sonde" "$tmp/bomb.bt"

t 1 "ERROR: USAGE: filename or -e 'program' required." "$sonde"
t 1 "ERROR: USAGE: filename or -e 'program' required." "$sonde" -e ''
t 1 "ERROR: failed to open file '/nope.bt': No such file or directory" "$sonde" /nope.bt
t 1 "ERROR: no command, tool or file is named 'execsnop'; did you mean execsnoop?" "$sonde" execsnop
t 1 "ERROR: no command, tool or file is named 'lits'; did you mean list?" "$sonde" lits
t 1 "ERROR: no command, tool or file is named 'frobnicate' (sonde -h lists the commands, sonde tools the tools)" \
	"$sonde" frobnicate
t 1 "ERROR: failed to open file 'frobnicate.bt': No such file or directory" "$sonde" frobnicate.bt
t 1 "ERROR: failed to open file 'info'" "$tmp/bpftrace" info
t 1 "ERROR: unrecognized option '--nope'
USAGE:" "$sonde" --nope
t 1 "ERROR: invalid option -- 'Z'" "$sonde" -Z
t 1 "ERROR: option requires an argument -- 'e'" "$sonde" -e
for time in 2 0s '' s 5x; do
	t 1 "ERROR: --for needs a time with its unit, as in 30s or 500ms (got '$time')" "$sonde" --for "$time" -e 'begin { }'
done
for share in 2 0% -1% 101% % nan% 2%%; do
	t 1 "ERROR: --budget needs per cent of the machine's processor time, as in 2% or 0.5% (got '$share')" \
		"$sonde" --budget "$share" -e 'begin { }'
done
t 1 'ERROR: -e may be given once: put the probes into one program' "$sonde" -e 'begin { }' -e 'begin { }'
t 1 "ERROR: --cgroup means nothing to 'info'
USAGE:" "$sonde" info --cgroup /nonexistent
t 1 "ERROR: --json means nothing to 'list'" "$sonde" list --json
t 1 "ERROR: -B means nothing to 'list'" "$sonde" -l -B full
t 1 "ERROR: --quiet means nothing to '--fmt'" "$sonde" --fmt -q -e 'begin { }'
t 0 '' "$tmp/bpftrace" -l -B full 'begin'
t 0 'USAGE:
    sonde info' "$sonde" info --help
t 0 'sonde 0.' "$sonde" list --version
t 1 'ERROR: Invalid output format "xml"
Valid formats:' "$sonde" -f xml -e 'begin { }'
t 1 'ERROR: --root: look for /nope: No such file or directory' "$sonde" --root /nope -e 'begin { }'
t 1 'ERROR: --root: /dev/null is not a directory' "$sonde" --root /dev/null -e 'begin { }'
t 1 'ERROR: --root: path is too long: 0000' "$sonde" --root "$(printf '%01100d' 0)" -e 'begin { }'
t 1 "ERROR: USAGE: -B must be either 'line', 'full', or 'none'." "$sonde" -B x -e 'begin { }'
t 1 'ERROR: USAGE: invalid option for -d: foo' "$sonde" -d foo -e 'begin { }'
t 1 'ERROR: Failed to parse pid: invalid integer: abc' "$sonde" -p abc -e 'begin { }'
t 1 'ERROR: Failed to parse pid: 4194305 is out of range (1 to 4194304)' "$sonde" -p 4194305 -e 'begin { }'
t 1 'ERROR: Failed to parse pid: 010 begins with 0' "$sonde" record -p 010 raw_syscalls:sys_enter
t 1 'ERROR: USAGE: Cannot use both -c and -p.' "$sonde" -p 1 -c true -e 'begin { }'
t 1 'ERROR: USAGE: -kk is no longer supported' "$sonde" -kk -e 'begin { }'
t 1 "ERROR: USAGE: --mode can only be 'codegen', 'compiler-bench', 'bench', 'test' or 'format' (got 'x')" "$sonde" --mode x -e 'begin { }'
t 0 'begin
{
  exit();
}' "$sonde" --mode format -e 'begin {exit();}'
t 255 'ERROR: No probes attached; use --bench to run bench probes.' "$sonde" --mode test -e 'bench:x { }'
t 255 'ERROR: No probes attached; use --test to run test probes.' "$sonde" --mode bench -e 'test:x { }'
t 0 'pass           rounds      mean us     least us      most us
ast  ' "$sonde" --mode compiler-bench -e 'begin { @ = count(); }'
t 1 'stdin:1:9-12: ERROR: ' "$sonde" --mode compiler-bench -e 'begin { foo }'
# The words of who asks an agent are behind --asked: no options of sonde, no commands, no files of the host.
echo 'options { x: flag = "y" } begin { exit(); }' > "$tmp/own.bt"
t 1 'ERROR: who asks an agent chooses no options of sonde behind the script' "$sonde" -q --asked -e 'begin { exit(); }'
t 1 'ERROR: who asks an agent chooses no options of sonde behind the script' "$sonde" -q --asked --unsafe execsnoop
for o in '-- id' '--exec id'; do
	t 1 'ERROR: who asks an agent runs no commands' "$sonde" -q --asked execsnoop $o
done
t 1 'ERROR: who asks an agent runs no commands' "$sonde" -q --asked strace id
t 1 "ERROR: unrecognized option '--unsafe'" "$sonde" -q --asked execsnoop --unsafe
for o in '-o x' '-o|id'; do
	t 1 'ERROR: the hosts do not choose the output: put -o FILE before offcputime' "$sonde" -q --asked offcputime $o
done
t 1 'ERROR: the hosts do not choose the output: put -f flame -o FILE before offcputime' "$sonde" -q --asked offcputime --flame x
t 1 'ERROR: -h is no question to hosts' "$sonde" -q --asked execsnoop -h
for o in "$tmp/own.bt" /etc/passwd nosuch tplist; do
	t 1 "ERROR: no tool is named '$o'" "$sonde" -q --asked "$o"
done
t 1 'ERROR: funccount is denied here, because its user writes probes (--deny probes)' "$sonde" --deny write,probes funccount 'vfs_*'
echo 'begin { print(comm); }' > "$tmp/comm.bt"
t 1 "$tmp/comm.bt:1:15-19: ERROR: comm is denied here (--deny comm)" "$sonde" check --deny comm "$tmp/comm.bt"
# Every option of the reference is taken: what follows it is looked at.
for o in '-l begin' -v '-p 1' '--pid 1' '--dwarf-pid 1' --usdt-file-activation '-o /dev/null' '--output /dev/null' '-f text' \
	'-B line' -q --quiet -k --warnings --no-warnings '-I .' '--include /dev/null' '--debuginfo /a:/b' --unsafe \
	'--traceable-functions /dev/null' '--no-feature kprobe_multi,kprobe_session,uprobe_multi' '--mode codegen' --test --bench \
	'--probe-filter x' --dry-run --verify-llvm-ir '-d ast' '--debug verifier' '--emit-elf /dev/null' "--emit-llvm $tmp/ir" -b --btf; do
	t 1 'ERROR: unrecognized option' "$tmp/bpftrace" $o --nope
done
t 1 '' grep -rn 'not implemented' src/cmd src/api
t 0 '' "$sonde" --mode codegen --emit-elf "$tmp/x.o" --emit-llvm "$tmp/ir" -e 'begin { @a[pid] = count(); }'
t 0 'fn begin stack' sh -c 'cat "$1.original.ir" "$1.optimized.ir" | grep -w "fn begin"' sh "$tmp/ir"
t 0 '  Class:                             ELF64
  Machine:                           Linux BPF
.maps
.BTF
s_begin
.rels_begin
license
.symtab
.strtab' sh -c 'readelf -hSW "$1" | sed -n "s/^  *\[ *[1-9][0-9]*\] \([^ ]*\).*/\1/p; /Class:/p; /Machine:/p"' sh "$tmp/x.o"
t 0 'AT_a' sh -c 'readelf -rW "$1" | grep -wom 1 AT_a' sh "$tmp/x.o"
# A program for any address: it gets a random one, its relocations become read-only, and it needs no other file where there
# are archives of all libraries, the C library as well.
needed=$(readelf -dW "$sonde" 2>/dev/null | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p')
if readelf -hW "$sonde" | grep -qw DYN && ! echo "$needed" | grep -q 'asan\|ubsan\|stdc++'; then
	t 0 'Flags: NOW PIE' sh -c 'readelf -dW "$1" | sed -n "s/.*FLAGS_1) *//p"' sh "$sonde"
	t 0 'GNU_RELRO' sh -c 'readelf -lW "$1" | grep -wo -m 1 GNU_RELRO' sh "$sonde"
	t 1 '' sh -c 'readelf -dW "$1" | grep TEXTREL' sh "$sonde"
	if grep -q -e '-static-pie' "${sonde%/*}/libs" 2>/dev/null; then
		t 1 '' sh -c 'readelf -dW "$1" | grep NEEDED' sh "$sonde"
		if readelf -hW "$sonde" | grep -q X86-64; then
			t 0 'sonde_start' sh -c 'nm "$1" | sed -n "s/^0*$(readelf -hW "$1" | sed -n "s/.*Entry point address: *0x//p") T //p"' sh "$sonde"
		fi
	elif grep -q 'libelf\.a' "${sonde%/*}/libs" 2>/dev/null; then
		t 1 '' sh -c 'readelf -dW "$1" | grep NEEDED | grep -v "libc\.so\|ld-linux"' sh "$sonde"
	fi
fi
t 1 'ERROR: --emit-elf: write /nope/x: No such file or directory' "$sonde" --mode codegen --emit-elf /nope/x -e 'begin { }'
t 1 'ERROR: --emit-llvm: write /nope/x.original.ir: No such file or directory' "$sonde" --mode codegen --emit-llvm /nope/x -e 'begin { }'
t 1 "ERROR: Invalid --probe-filter regex '(': " "$sonde" --probe-filter '(' -e 'begin { }'
t 1 'No probes to attach' "$sonde" --test --probe-filter '^x' -e 'test:x { }'
t 0 'begin
interval:s:12' "$sonde" -l --probe-filter 's:1.$' -e 'begin { } interval:s:1 { } interval:s:12, interval:s:2 { }'
t 1 'ERROR: --traceable-functions: read functions from /nope: No such file or directory' "$sonde" --traceable-functions /nope -l 'kprobe:*'
t 1 "ERROR: --no-feature: unknown feature 'x'" "$sonde" --no-feature x -e 'begin { }'
t 1 'ERROR: unexpected program command line options: --foox' "$sonde" -e 'begin { }' -- --foox
t 1 "ERROR: Failed to fork child: Path '/nope' does not exist or is not executable" "$sonde" -c /nope -e 'begin { }'

# Colours when asked for.
for color in always never; do
	t 0 "$color" sh -c 'BPFTRACE_COLOR=$2 "$1" -e "foo:x { }" 2>&1 | grep -q "^$(printf "\033")\[31m.*ERROR: Invalid probe type" && echo always || echo never' sh "$sonde" $color
done
# Not on a terminal that says that it has none, nor when NO_COLOR asks for none.
for set in TERM=xterm TERM=dumb NO_COLOR=1 NO_COLOR= 'NO_COLOR=1 BPFTRACE_COLOR=always'; do
	case $set in TERM=xterm | NO_COLOR= | *always) want=colours ;; *) want=none ;; esac
	t 0 "$set: $want" sh -c 'unset NO_COLOR TERM; printf "%s: " "$2"
		env $2 python3 -I -c "import pty, sys; pty.spawn(sys.argv[1:])" "$1" -e "foo:x { }" </dev/null |
		grep -q "^$(printf "\033")\[31m" && echo colours || echo none' sh "$sonde" "$set"
done
t 0 'processes:
    ' "$sonde" tools
t 1 "ERROR: no tool is called 'nope' (sonde tools lists all)" "$sonde" tools -s nope
t 1 'ERROR: USAGE: sonde tools [WORD], or sonde tools -s NAME' "$sonde" tools -s
t 1 "ERROR: no tool matches 'nope' (sonde tools lists all)" "$sonde" tools nope
t 1 "ERROR: --sort: no column 'reads'; columns: pid comm op disk_major disk_minor disk requests bytes avg_ns" "$sonde" biotop -s reads
t 0 'security:
    bashreadline     Trace lines typed into bash' "$sonde" tools typed
t 0 'CPU:
    cpudist ' "$sonde" tools cpu
t 0 '    runqlat  ' sh -c '"$1" tools cpu | grep runqlat' sh "$sonde"
# A column that has two forms is one line.
t 0 '    ARGS         argv' sh -c '"$1" execsnoop -h | grep "^    ARGS"' sh "$sonde"
t 0 1 sh -c '"$1" execsnoop -h | grep -c "^    ARGS"' sh "$sonde"
t 1 "ERROR: what is 'y'? execsnoop takes no further operand" "$sonde" execsnoop x y
t 1 "HINT: put a command after --: sonde execsnoop -- sh -c true" sh -c '"$1" execsnoop -c "sh -c true" 2>&1 | { read -r error; cat; exit 1; }' sh "$sonde"
t 1 "ERROR: unrecognized option '--cmd'
HINT: put a command after --: sonde opensnoop -- sh" "$sonde" opensnoop --cmd sh
t 1 "ERROR: unrecognized option '--nope'
sonde execsnoop -h" "$sonde" execsnoop --nope
t 1 'ERROR: --user needs the name or number of a user' "$sonde" execsnoop -u no,body
t 1 'ERROR: --duration needs a time above 0 (got '\''0'\'')' "$sonde" opensnoop -d 0
# An option of the tool, one of all that show times.
for tool in opensnoop killsnoop; do
	t 1 "ERROR: --time needs s, ms, us, ns or no value (got 'x')" "$sonde" $tool --time=x
done
t 1 "ERROR: unrecognized option '--utc'" "$sonde" biolatpcts --utc
# One of some words; networks.
t 1 "ERROR: 'nosuchmode': --mode needs kmalloc, alloc_page or bio (got 'nosuchmode')" "$sonde" --unsafe inject nosuchmode
t 1 "ERROR: --which needs on-device, after-rq-alloc or from-rq-alloc (got 'x')" "$sonde" biolatpcts -w x
t 1 "ERROR: --type needs ext4, xfs, btrfs, nfs, f2fs, fuse, overlay, bcachefs or zfs (got 'ext5')" "$sonde" fsslower -t ext5
t 1 "ERROR: more than 64 options and operands" "$sonde" strace $(seq -f '-P %g' 65) true
for net in foo 10.0.0.0 10.0.0.0/33 10.0.0/8 10.0.0.0/8,foo; do
	t 1 "ERROR: '$net': --subnets needs networks such as 10.0.0.0/8, with commas between them (got '$net')" "$sonde" tcpsubnet $net
done
net=$(printf '10.0.%s.0/24,' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)10.1.0.0/16
t 1 "ERROR: '$net': --subnets needs no more than 16 networks (got '$net')" "$sonde" tcpsubnet "$net"
for tty in nosuch /dev/null/x /etc/passwd 1048576; do
	t 1 "ERROR: '$tty': --tty needs a terminal: 3, pts/3, /dev/tty1 (got '$tty')" "$sonde" ttysnoop $tty
done
t 1 'ERROR: stacksnoop needs PROBE...' "$sonde" stacksnoop
# What is no interval, count or rate; 0 is one report at the end where there need be no other.
for tool in biopattern biotop cachestat cachetop cpuunclaimed dcstat dirtop filetop loads memleak netqtop \
	numamove pidpersec slabratetop swapin swapout tcptop ustat vfsstat virtiostat; do
	t 1 "ERROR: '0': --interval needs a time of at least 1us (got '0')" "$sonde" $tool 0
done
for tool in argdist biolatpcts tcpsubnet; do
	t 1 "ERROR: --interval needs a time of at least 1us (got '0')" "$sonde" $tool -i 0
done
for tool in cpufreq profile runqlen cpuwalk; do
	t 1 "ERROR: --frequency needs a number above 0 (got '0')" "$sonde" $tool --frequency 0
done
t 1 "ERROR: --period needs a number above 0 (got '0')" "$sonde" llcstat -c 0
for tool in biopattern cpudist runqlat wqlat; do
	t 1 "ERROR: 'x': --interval needs a time, as in 500ms or 2s (got 'x')" "$sonde" $tool x
	t 1 "ERROR: 'x': --count needs a number (got 'x')" "$sonde" $tool 1 x
	t 1 "ERROR: '-5' is no option, and operands are not negative" "$sonde" $tool 1 -5
	t 1 "ERROR: --count needs a number that is not negative (got '-5')" "$sonde" $tool 1 --count=-5
done
t 1 "ERROR: --flame needs a file (got '')" "$sonde" profile --flame ''
for time in 1e3 5e0 1_000; do
	t 1 "ERROR: --duration needs a time, as in 500ms or 2s (got '$time')" "$sonde" opensnoop -d $time
done
t 1 "ERROR: --fields needs names of columns (got '')" "$sonde" opensnoop --fields ''
t 1 'ERROR: --csv and --json: one of them' "$sonde" opensnoop --csv -j
printf 'begin { }\0' >"$tmp/binary"
t 1 "ERROR: '$tmp/binary' is no script: it has bytes that are 0" "$sonde" "$tmp/binary"
for tool in biotop cpudist 'runqlat 1'; do
	t 1 'ERROR: process 4194304 does not exist' "$sonde" $tool -p 4194304
done
for it in 'ltrace -p 4194304' 'tplist -p 4194304' "list -p 4194304 uprobe:*malloc"; do
	t 1 'ERROR: process 4194304 does not exist' "$sonde" $it
done
t 1 'ERROR: Failed to parse pid: 5000000000 is out of range (1 to 4194304)' "$sonde" cpudist -p 5000000000
t 1 'ERROR: process 4194304 does not exist' "$sonde" offcputime -p 1,4194304
t 1 'ERROR: --pid needs a process that runs (got '\''4194304'\'')' "$sonde" bpflist -p 4194304
t 1 'ERROR: --disk needs a disk that lsblk -d names (got '\''2'\'')
HINT: did you mean --duration 2?' "$sonde" biolatency -d 2
t 1 'ERROR: --disk needs a disk that lsblk -d names (got '\''500ms'\'')
HINT: did you mean --duration 500ms?' "$sonde" biosnoop -d500ms
t 1 'ERROR: --cgroup: control group 5 does not exist' "$sonde" offcputime -c 5
t 1 'HINT: did you mean --count 5?' sh -c '"$1" opensnoop -c 5 2>&1 | tail -n 1; exit 1' sh "$sonde"
t 1 "ERROR: what is '5'? tcpconnect takes no operand
HINT: did you mean --duration 5?" "$sonde" tcpconnect -d 5
t 1 "ERROR: unrecognized option '--nope'
sonde biosnoop -h" "$sonde" biosnoop --nope -d 2
for it in '-d 5' '-fd 5' '-f -d 5' '-d -f' '-d'; do
	case $it in
	-d*5) want='WARNING: -d is --delimiter here, which has no effect without -f; did you mean --duration 5?' ;;
	-f\ *) want="WARNING: -d is --delimiter here, which puts a frame - between the program's and the kernel's; did you mean --duration 5?" ;;
	-d) want='WARNING: -d is --delimiter here, which has no effect without -f' ;;
	*) want= ;;
	esac
	t 0 "$it: $want
." sh -c 'printf "%s: " "$2"; "$1" --mode codegen profile $2 2>&1 | grep . || echo; echo .' sh "$sonde" "$it"
done
t 2 'ERROR: --period 5: a sample for so few nanoseconds is all that a CPU would do' "$sonde" --mode codegen profile -c 5
t 1 'ERROR: --disk needs a disk that lsblk -d names (got '\''..'\'')' "$sonde" biosnoop -d ..
t 1 'ERROR: --duration needs a time' "$sonde" execsnoop -d x
t 1 "ERROR: unrecognized option '--cost'
HINT: put --cost before the tool's name: sonde --cost execsnoop" "$sonde" execsnoop -T --cost
t 1 "ERROR: unrecognized option '--budget'
HINT: put --budget before the tool's name: sonde --budget N% execsnoop" "$sonde" execsnoop --budget=2%
t 1 "ERROR: unrecognized option '--nope'
sonde execsnoop -h shows its options." "$sonde" execsnoop --nope -- sh --cost
t 0 'program @1:1' "$sonde" -d ast execsnoop -T
t 0 "COLUMNS (names in JSON and CSV):
  ages:
    msecs        msecs
  pages:
    READ-AHEAD   pages
    USED         used_pages
    UNUSED       unused_pages" sh -c '"$1" readahead -h | sed -n "/^COLUMNS/,/^$/p" | sed "/^$/d"' sh "$sonde"
tools=$("$sonde" tools | sed -n 's/^    \([a-z0-9_-]*\) .*/\1/p')
mkdir "$tmp/man"
# shellcheck disable=SC2086
t 0 '' scripts/tool-man.sh -d "$tmp/man" "$sonde" $tools
for tool in $tools; do
	t 0 "$tool: " "$sonde" "$tool" --help
	printf '%s\n' "$got" > "$tmp/help"
	# A name for a tool with options has that tool's script.
	script=$(sed -n 's,^    which is: sonde:tools/\([^.]*\)\.bt.*,\1,p' "$tmp/help")
	t 1 'ERROR: unrecognized option' "$sonde" "$tool" --nope
	# Lines of JSON have these keys already.
	t 1 '' grep -E '^    (type|table) ' "$tmp/help"
	if [ "$tool" = tplist ]; then
		t 1 'ERROR: tplist is not a script' "$sonde" tools -s tplist
	else
		t 0 "/*
 * ${script:-$tool}: " "$sonde" tools -s "$tool"
	fi
	t 0 1 grep -c "| .$tool. |" docs/tools.md
	t 0 ".Dd" cat "$tmp/man/sonde-$tool.1"
	ln -s "$sonde" "$tmp/$tool"
	t 0 "$tool: " "$tmp/$tool" -h
done
# By the names that packages of other tools have; an ending alone, or of no tool, is none.
for name in opensnoop-bpfcc ext4slower-libbpf opensnoop.bt tplist-bpfcc perf-stat-hist-perf setuids-bpftrace; do
	ln -s "$sonde" "$tmp/$name"
	t 0 "$(echo "$name" | sed 's/-[a-z]*$//; s/\.bt$//'): " "$tmp/$name" -h
done
for name in nosuchtool-bpfcc -bpfcc opensnoop-other; do
	ln -s "$sonde" "$tmp/./$name"
	t 0 "USAGE:" "$tmp/$name" -h
done
# Options of the classic tools of these names, as they are typed there.
while read -r tool options; do
	t 0 "$tool: " "$sonde" "$tool" $options -h
done << 'END'
profile -adf
profile -A
profile --include-idle --user-stacks-only --delimited
cachestat --timestamp
biolatency --flag --timestamp
bindsnoop --ports 80
capable --extra-fields
execsnoop --fails --uid 0 --name x
exitsnoop --threaded
hardirqs --distributed --timestamp
softirqs --distributed
runqlen --runqocc
statsnoop --sysname
syscount --failures
tcplife --localport 80 --remoteport 80
tcpstates --localport 80 --remoteport 80
tcprtt --millisecond --timestamp
opensnoop --extended-fields --uid 0 --name x
offcputime --min-block-time 1 --max-block-time 9 --user-threads-only
offcputime --kernel-threads-only
wakeuptime --min-block-time 1 --max-block-time 9 --user-threads-only
memleak --sample-rate 3
klockstat --timestamp
funclatency --timestamp
stackcount -sdf
execsnoop -l make
offcputime --state D --perf-max-stack-depth 10
futexctn -m --stack-storage-size 100
kvmexit -p 1 -v 0
runqlen -H
inject -P 0.1 -I linux/fs.h -c 5
drsnoop -e
trace -f text -a -M 5
profile -F 99 -U -I --stack-storage-size 1024 --hash-storage-size 1024
profile -L 1,2 -C 0 -c 1000000
offcputime -K -p 1 -M 100000 -m 10
offcputime -df -u -s --state 2 --stack-storage-size 1024
offwaketime -df -t 1,2 -u
wakeuptime -u -p 1 -f --stack-storage-size 1024
opensnoop -x -T -U -n main -d 10 -f O_WRONLY -F -e -b 16
opensnoop -f O_WRONLY -f O_RDWR -t 1 -u 0
naptime -m 0.5 -d 1.5s
memleak -T 5 -a -t -s 5 -o 60000 --combined-only --wa-missing-free --sort bytes
memleak -z 16 -Z 32 -O libc -c true
cpudist -O -P -I -e -m -T
runqlat --pidnss -mT -P -L
filetop -C -r 5 -s writes -d /var -a --read-only --write-only
mountsnoop -P
kvmexit -t 1 -T 1,2 -a
biolatency -mTQDFe
shmsnoop -T -t 1 -d 10 -n x
sofdsnoop -T -t 1 -d 10 -n x
drsnoop -TU -t 1 -u 0 -d 10 -n x
compactsnoop -TKe -d 10
klockstat -n 3 -s 3 -d 5 -i 1 -t 1 -L cgroup_mutex -P -R
klockstat -n 3 -s 3 -d 5 -i 1 -t 1 -S acq_max,hld_total
futexctn -T -s -t 1 -l 0x1234
biolatpcts -i 5 -w from-rq-alloc -p 50,99 -j
biosnoop -QP -t -m 1
iosnoop -Qst -i R -p 1 -n dd
opensnoop -L 1
ext4slower -c
hardirqs -s 0 1 1
execsnoop -M -a 3 -r
memleak -C -F -P -S je_
deadlock -t 1 -e 2 -s 3 --lock-symbols a --unlock-symbols b 1
tcptop -S
tcpdrop --pid-netns 4026531840
bindsnoop --count
tcptracer -U
solisten -t
syscount -l
killsnoop -k
exitsnoop --utc
dbslower mysql -p 1
trace -B -s libc.so,/bin/true
funclatency -k -u
END
t 1 "ERROR: unrecognized option '--cgroupmap'
HINT: select one with --cgroup DIR or --container NAME" "$sonde" opensnoop --cgroupmap /sys/fs/bpf/map
t 0 '    accepted and without effect: -H --header, -F --force' sh -c '"$1" uprobe -h | grep accepted' sh "$sonde"
t 0 '    -L, --tid N,...         trace only these' sh -c '"$1" profile -h | grep -e "--tid"' sh "$sonde"
t 0 'program @1:1' "$sonde" -d ast -e 'begin { }'
t 0 '== ast ==
program @1:1' "$sonde" -d ast,types -e 'begin { }'
t 0 '' "$sonde" --mode codegen -e 'begin { exit(); }'
t 0 '' "$sonde" --no-feature kprobe_multi,uprobe_multi, --mode codegen --btf -e 'begin { }'
t 0 '' "$sonde" --mode codegen -b -e 'begin { }'
t 1 'ERROR: BPFTRACE_BTF: open /nope: No such file or directory' env BPFTRACE_BTF=/nope "$sonde" -e 'begin { }'
t 0 '' "$tmp/bpftrace" --mode codegen -b -e 'begin { }'
t 1 'ERROR: --btf: open /nope: No such file or directory' "$sonde" -b /nope -e 'begin { }'
t 2 'ERROR: perf_rb_pages: 99999999 is not between 1 and 65536 (256 MiB for each CPU)' env BPFTRACE_PERF_RB_PAGES=99999999 "$sonde" --mode codegen -e 'begin { print(1); }'
t 0 "WARNING: nothing matches 'tracepoint:nope:*'" "$sonde" --root build/host/6.1-x86_64 -l 'tracepoint:nope:*'
t 0 "WARNING: nothing matches 'nope.bt', and no such file exists" "$sonde" -l nope.bt
t 0 "WARNING: nothing matches 'struct nope'" "$sonde" --root build/host/6.1-x86_64 -l 'struct nope'
t 1 'stdin:1:9-12: ERROR: ' "$sonde" -e 'begin { foo }'
t 2 'ERROR: max_strlen: ' env BPFTRACE_MAX_STRLEN=abc "$sonde" --mode codegen -e 'begin { }'
t 1 'ERROR: Invalid probe type: nope' "$sonde" -l nope:x
echo 'begin { exit(); }' > "$tmp/x.bt"
t 0 'program @1:1' "$sonde" "$tmp/x.bt" -d ast
t 0 'begin' "$sonde" -l "$tmp/x.bt"
t 0 'begin' "$sonde" -l -e 'begin { }'
cp "$tmp/x.bt" "$tmp/in"
t 0 'program @1:1' "$sonde" -d ast -

# Maps and rings are made for the memory that the control group may have.
mkdir -p "$tmp/root/proc/self" "$tmp/root/sys/fs/cgroup/small"
for f in arch features functions.list sys/kernel sys/devices proc/kallsyms; do
	ln -s "$PWD/build/host/6.1-x86_64/$f" "$tmp/root/$f"
done
echo 0::/small >"$tmp/root/proc/self/cgroup"
t 0 'map @: hash, 4096 elements' "$sonde" --root "$tmp/root" -d plan -e 'kprobe:vfs_read { @[pid, buf(arg1, 1000)] = 1; }'
echo 4194304 >"$tmp/root/sys/fs/cgroup/small/memory.max"
t 0 'map @: hash, 1524 elements' "$sonde" --root "$tmp/root" -d plan -e 'kprobe:vfs_read { @[pid, buf(arg1, 1000)] = 1; }'

echo "1..$n"
echo "$pass passed, $fail failed"
[ $fail = 0 ]
