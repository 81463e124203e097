#!/bin/sh
# selftest.sh SONDE - a few tests of a program that was built for a package: it starts, compiles scripts, and finds its
# tools. Nothing is traced or timed, and no rights are needed; `make check` is the whole.
set -u
sonde=$1 failed=0

# try WHAT WANTED COMMAND...: succeeds, and its output contains WANTED.
try() {
	what=$1 wanted=$2
	shift 2
	out=$("$@" 2>&1)
	code=$?
	case $code/$out in
	0/*"$wanted"*) echo "packaged: ok - $what" ;;
	*)
		failed=1
		printf 'packaged: not ok - %s (exit code %s)\n%s\n' "$what" "$code" "$out"
		;;
	esac
}

try version 'sonde ' "$sonde" --version
try 'a script is compiled' call "$sonde" -d bpf -e 'begin { @[comm, pid % 3] = hist(nsecs); printf("%d\n", pid); }'
try 'a script is formatted' 'begin' "$sonde" --fmt -e 'begin{@=count();}'
try 'tools are listed' execsnoop "$sonde" tools
try 'a tool explains itself' USAGE "$sonde" execsnoop -h
try 'a manual page' 'Nm sonde-execsnoop' sh scripts/tool-man.sh "$sonde" execsnoop
exit $failed
