#!/bin/sh
# cli.sh - the command line without root: options, messages, exit codes.
cd "$(dirname "$0")/.." || exit 1
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
t 0 'sonde 0.' "$sonde" version
t 0 'bpftrace v0.27.1 (sonde ' "$tmp/bpftrace" -V
t 0 'USAGE:
    sonde [options] FILE' "$sonde" --help
t 0 'USAGE:
    bpftrace [options] FILE' "$tmp/bpftrace" -h
t 0 'USAGE:' "$sonde" help
t 0 'tracepoint:' "$sonde" help tracepoint
t 0 'text' "$sonde" help outputs
t 1 "ERROR: no function, variable or probe is named 'nope'" "$sonde" help nope
t 0 'System
  OS: Linux' "$sonde" info
t 0 'System
  OS: Linux' "$tmp/bpftrace" --info

t 1 "ERROR: USAGE: filename or -e 'program' required." "$sonde"
t 1 "ERROR: USAGE: filename or -e 'program' required." "$sonde" -e ''
t 1 "ERROR: failed to open file '/nope.bt': No such file or directory" "$sonde" /nope.bt
t 1 "ERROR: failed to open file 'info'" "$tmp/bpftrace" info
t 1 "ERROR: unrecognized option '--nope'
USAGE:" "$sonde" --nope
t 1 "ERROR: invalid option -- 'Z'" "$sonde" -Z
t 1 "ERROR: option requires an argument -- 'e'" "$sonde" -e
t 1 'ERROR: Invalid output format "xml"
Valid formats:' "$sonde" -f xml -e 'begin { }'
t 1 'ERROR: --root: look for /nope: No such file or directory' "$sonde" --root /nope -e 'begin { }'
t 1 'ERROR: --root: /dev/null is not a directory' "$sonde" --root /dev/null -e 'begin { }'
t 1 'ERROR: --root: path is too long: 0000' "$sonde" --root "$(printf '%01100d' 0)" -e 'begin { }'
t 1 "ERROR: USAGE: -B must be either 'line', 'full', or 'none'." "$sonde" -B x -e 'begin { }'
t 1 'ERROR: USAGE: invalid option for -d: foo' "$sonde" -d foo -e 'begin { }'
t 1 'ERROR: Failed to parse pid: invalid integer: abc' "$sonde" -p abc -e 'begin { }'
t 1 'ERROR: Failed to parse pid: 4194305 is out of range (1 to 4194304)' "$sonde" -p 4194305 -e 'begin { }'
t 1 'ERROR: USAGE: Cannot use both -c and -p.' "$sonde" -p 1 -c true -e 'begin { }'
t 1 'ERROR: USAGE: -kk is no longer supported' "$sonde" -kk -e 'begin { }'
t 1 "ERROR: USAGE: --mode must be 'codegen'" "$sonde" --mode x -e 'begin { }'
t 1 'ERROR: this option is known, but not implemented yet' "$sonde" --aot x -e 'begin { }'
t 1 "ERROR: --no-feature: unknown feature 'x'" "$sonde" --no-feature x -e 'begin { }'
t 1 'ERROR: unexpected program command line options: --foox' "$sonde" -e 'begin { }' -- --foox
t 1 "ERROR: Failed to fork child: Path '/nope' does not exist or is not executable" "$sonde" -c /nope -e 'begin { }'

t 0 'program @1:1' "$sonde" -d ast -e 'begin { }'
t 0 '== ast ==
program @1:1' "$sonde" -d ast,types -e 'begin { }'
t 0 '' "$sonde" --mode codegen -e 'begin { exit(); }'
t 0 '' "$sonde" --no-feature kprobe_multi,uprobe_multi --mode codegen -b -e 'begin { }'
t 1 'stdin:1:9-12: ERROR: ' "$sonde" -e 'begin { foo }'
t 2 'ERROR: max_strlen: ' env BPFTRACE_MAX_STRLEN=abc "$sonde" --mode codegen -e 'begin { }'
t 1 'ERROR: Invalid probe type: nope' "$sonde" -l nope:x
echo 'begin { exit(); }' > "$tmp/x.bt"
t 0 'program @1:1' "$sonde" "$tmp/x.bt" -d ast
t 0 'begin' "$sonde" -l "$tmp/x.bt"
t 0 'begin' "$sonde" -l -e 'begin { }'
cp "$tmp/x.bt" "$tmp/in"
t 0 'program @1:1' "$sonde" -d ast -

echo "1..$n"
echo "$pass passed, $fail failed"
[ $fail = 0 ]
