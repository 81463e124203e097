#!/bin/sh
# lang.sh [--update] [FILE...] - compiler tests: a script and what sonde must print for it, in one file. No root.
#
#	// RUN: -d ast                options; VAR=value words in front go to the environment; comments may
#	                              stand before it. Without -d the script is compiled: nothing is attached here
#	begin { exit() }              the script, which sonde reads from standard input
#	// EXPECT rc=1                rc=0 when not given
#	// program                    whole output, stdout and stderr, each line behind "// "
#
# err.CODE.what.bt must also report CODE. A code of diag.def without such a test is a failure when all files
# are run, unless tests/lang/elsewhere names it (and the runtime test that provokes it) or STRICT_CODES=0.
cd "$(dirname "$0")/.." || exit 1
sonde=$(realpath "${SONDE:-build/sonde}")
[ -x "$sonde" ] || {
	echo "lang.sh: no program $sonde"
	exit 1
}
# The recorded machine that `make check` builds beside the program; scripts find its program ./app there.
host=${sonde%/*}/host root=6.1-x86_64
[ -f "$host/app" ] || {
	echo "lang.sh: no recorded machine in $host: make check makes it"
	exit 1
}
update=
if [ "$1" = --update ]; then
	update=1
	shift
fi
all=
if [ $# = 0 ]; then
	all=1
	set -- tests/lang/*.bt
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
pass=0 fail=0 n=0

# Split FILE into $tmp/script, $tmp/want, and "options" and "rc" lines in $tmp/head.
split() {
	rm -f "$tmp"/script "$tmp"/want
	: > "$tmp/want"
	: > "$tmp/script"
	awk -v t="$tmp" '
		!begun && sub("^// RUN:[ \t]*", "") { run = $0; next }
		!/^\/\// { begun = 1 }
		!want && /^\/\/ EXPECT( rc=[0-9]+)?$/ { want = 1; rc = $0; sub(".*rc=|.*EXPECT", "", rc); next }
		want { sub("^// ?", ""); print > (t "/want"); next }
		{ print > (t "/script") }
		END { print run > (t "/head"); print rc + 0 > (t "/head") }' "$1"
	{ read -r run; read -r rc; } < "$tmp/head"
}

# Run sonde on the script with extra environment "$@"; output in $tmp/got.
run_sonde() {
	(
		for v; do export "$v"; done
		eval "set -- $run"
		while :; do
			case $1 in
			[A-Z]*=*) export "$1"; shift ;;
			*) break ;;
			esac
		done
		case " $* " in
		*" -d "*) ;;
		*) set -- --mode codegen --verify-llvm-ir "$@" ;;
		esac
		cd "$host" || exit
		exec timeout 30 "$sonde" --root $root - "$@" < "$tmp/script"
	) > "$tmp/got" 2>&1
	got_rc=$?
}

rewrite() {
	{
		awk '/^\/\/ EXPECT/ { exit } { print }' "$1"
		if [ $got_rc = 0 ]; then echo '// EXPECT'; else echo "// EXPECT rc=$got_rc"; fi
		sed 's,^,// ,; s,^// $,//,' "$tmp/got"
	} > "$tmp/file" && cat "$tmp/file" > "$1"
}

bad() {
	echo "not ok $n - $1"
	fail=$((fail + 1))
}

for f; do
	[ -f "$f" ] || continue
	n=$((n + 1))
	split "$f"
	run_sonde
	if [ "$update" ]; then
		if [ $got_rc -ge 124 ] && [ $got_rc -lt 255 ]; then # crashed, timed out, not run
			bad "$f"
			sed 's/^/# /' "$tmp/got"
			continue
		fi
		rewrite "$f"
		echo "updated $f"
		continue
	fi
	if ! cmp -s "$tmp/want" "$tmp/got" || [ "$rc" != "$got_rc" ]; then
		bad "$f"
		echo "# exit code $got_rc, expected $rc"
		diff -u "$tmp/want" "$tmp/got" | sed '1,2d; s/^/# /; 42q'
		continue
	fi
	code=${f##*/err.}
	if [ "$code" != "$f" ]; then
		code=${code%%.*}
		run_sonde SONDE_CODES=1
		if ! grep -qF "[$code]" "$tmp/got"; then
			bad "$f"
			echo "# does not report $code"
			continue
		fi
	fi
	pass=$((pass + 1))
	echo "ok $n - $f"
done
[ "$update" ] && exit $((fail > 0))

if [ "$all" ]; then
	missing=
	for code in $(sed -n 's/^D(\([EW]_[A-Z_]*\),.*/\1/p' src/base/diag.def); do
		set -- tests/lang/err."$code".*.bt
		[ -f "$1" ] || grep -q "^$code " tests/lang/elsewhere || missing="$missing $code"
	done
	[ "$missing" ] && echo "# codes without a test:$missing"
	if [ "$missing" ] && [ "$STRICT_CODES" != 0 ]; then
		fail=$((fail + 1))
	fi
	while read -r code file name; do
		case $code in '' | '#'*) continue ;; esac
		grep -qxF "NAME $name" "$file" && continue
		echo "# tests/lang/elsewhere: $code: $file has no test named $name"
		fail=$((fail + 1))
	done < tests/lang/elsewhere
fi
echo "1..$n"
echo "$pass passed, $fail failed"
[ $fail = 0 ]
