#!/bin/sh
# What of the table in docs/probes.md holds for a kernel. Without -g: runs this script in a guest of
# each kernel and prints the table; with it: one line per kind of probe, attached here.
#
#   tests/vm/probes.sh SONDE [KERNEL...]        tests/vm/probes.sh -g SONDE
set -u

kinds() {
	cat <<-'EOF'
		kprobe|kprobe:vfs_read|
		kprobe+offset|kprobe:vfs_read+0|
		kprobe by wildcard|kprobe:vfs_re*|
		kretprobe|kretprobe:vfs_read|
		kretprobe by wildcard|kretprobe:vfs_re*|
		fentry|fentry:vfs_read|
		fexit|fexit:vfs_read|
		fentry of a BPF program|fentry:bpf:x|
		tracepoint|tracepoint:sched:sched_switch|
		tracepoint:syscalls:* (all)|tracepoint:syscalls:sys_enter_*|
		rawtracepoint|rawtracepoint:sched_switch|
		uprobe|uprobe:build/tests/symbols:main|
		uprobe by wildcard|uprobe:build/tests/symbols:mem*|
		uretprobe|uretprobe:build/tests/symbols:main|
		usdt|usdt:build/tests/tracetest:*|
		profile|profile:hz:99|
		interval|interval:s:1|
		software|software:page-faults:100|
		hardware|hardware:cycles:1000000|
		watchpoint|watchpoint:jiffies_64:8:w|
		iter:task|iter:task|
		iter:task_file|iter:task_file|
		iter:task_vma|iter:task_vma|
		begin, end|begin|
		self:signal:SIGUSR1|self:signal:SIGUSR1|
		test|test:x|--test
		bench|bench:x|--bench
	EOF
}

# KIND|yes, or KIND|what it said.
here() {
	uname -r | sed 's/^/kernel|/'
	kinds | while IFS='|' read -r kind probe option; do
		if why=$(timeout 60 "$1" -q --dry-run $option -e "$probe { @ = count(); }" 2>&1 >/dev/null </dev/null); then
			echo "$kind|yes"
		else
			echo "$kind|$(echo "$why" | sed -n 's/.*ERROR: //p' | head -n 1)"
		fi
	done
}

if [ "${1-}" = -g ]; then
	here "$2"
	exit
fi
[ $# -ge 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
dir=$(cd "$(dirname "$0")" && pwd)
"$dir/run.sh" -c "sh tests/vm/probes.sh -g $(realpath "$1")" "$@" | awk -F'|' '
	NF == 2 {
		split($1, w, ": ")
		kernel = w[1]
		kind = substr($1, length(kernel) + 3)
		if (kind == "kernel") {
			kernels[++nk] = kernel
			next
		}
		if (!(kind in seen)) {
			seen[kind] = 1
			kinds[++n] = kind
		}
		cell[kind, kernel] = $2
		if ($2 != "yes" && !($2 in note)) {
			note[$2] = ++nn
			text[nn] = $2
		}
	}
	END {
		printf "| probe |"
		for (k = 1; k <= nk; k++) printf " %s |", kernels[k]
		printf "\n|---|"
		for (k = 1; k <= nk; k++) printf "---|"
		printf "\n"
		for (i = 1; i <= n; i++) {
			printf "| `%s` |", kinds[i]
			for (k = 1; k <= nk; k++) {
				c = cell[kinds[i], kernels[k]]
				printf " %s |", c == "yes" ? "yes" : c == "" ? "?" : "(" note[c] ")"
			}
			printf "\n"
		}
		printf "\n"
		for (i = 1; i <= nn; i++) printf "%d. %s\n", i, text[i]
	}'
