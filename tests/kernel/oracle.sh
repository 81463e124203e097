#!/bin/sh
# oracle.sh [-v] BUILD [NAME...] - the scripts of the runtime tests, those that are compared with bpftrace, and generated
# ones, each run in the kernel and by the interpreter of src/vm: both must leave the same maps and send the same records.
#
# Most of them run in both, so a number is demanded: fewer mean that the comparison has stopped comparing. NAME: only the
# corpora with these names: cases, pairs, plain (cases again, without what new kernels have), generated, grammar. As root.
set -u
cd "$(dirname "$0")/../.." || exit 1
verbose=
[ "${1-}" != -v ] || { verbose=-v && shift; }
build=${1:?} failed=0
shift
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/cases" "$tmp/pairs" "$tmp/generated" "$tmp/grammar"

# Scripts of cases: what is behind PROG, with its continuation lines. Those with parameters need them.
awk -v dir="$tmp/cases" '
	function put() {
		if (prog != "" && !args) {
			file = sprintf("%s/%04d.bt", dir, ++n)
			printf "%s", prog >file
			close(file)
		}
		prog = ""
		args = 0
	}
	/^NAME / { put() }
	/^PARAMS / { args = 1 }
	/^[A-Z]/ { on = 0 }
	/^PROG/ { on = 1; prog = substr($0, 6) "\n"; next }
	on && /^\t/ { prog = prog substr($0, 2) "\n" }
	END { put() }' tests/run/*.t
cp tests/diff/*.bt "$tmp/pairs"
cc -O1 -o "$tmp/gen" tests/diff/gen.c || exit 1
for seed in 1 2 3 4 5 6; do
	for n in 0 40 80 120 160; do
		"$tmp/gen" $seed $n 10 >"$tmp/generated/$seed-$n.bt"
	done
done
i=0
while [ $((i += 1)) -le 100 ]; do
	GRAMMAR_SHOW=1 "$build/grammar" 1 $i >"$tmp/grammar/$i.bt" || exit 1
done

# corpus NAME LEAST FOLDER [OPTION...]
corpus() {
	name=$1 least=$2 dir=$3
	shift 3
	case " $names " in *" $name "*) ;; *) return ;; esac
	printf '%s: ' "$name"
	"$build/oracle" $verbose -n "$least" "$@" "$tmp/$dir"/*.bt || failed=$((failed + 1))
}

names=${*:-cases pairs plain generated grammar}
corpus cases 300 cases
corpus pairs 80 pairs
corpus plain 250 cases -x RINGS,RINGBUF,ATOMIC,LOOP,MAY_GOTO,TASK_BTF,ORDERED
corpus generated 25 generated
corpus grammar 30 grammar
[ $failed = 0 ]
