#!/bin/sh
# Stacks of processes that live for 20 ms, of the whole machine, printed when all are dead: the share of frames that
# of files that have names. As root; prints a part of docs/performance.md.
#
#   bench/short.sh [PROCESSES]        1000, in each of three places
set -u
cd "$(dirname "$0")/.." || exit 1
sonde=${SONDE:-$PWD/build/sonde} n=${1:-1000}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
${CC:-cc} -O2 -g -o "$tmp/short" tests/progs/unwind.c -pthread 2>"$tmp/cc" || { cat "$tmp/cc"; exit 1; }
mkdir "$tmp/root"
cat >"$tmp/all" <<'END'
i=0
while [ $i -lt "$1" ]; do "$2" spin 20; i=$((i + 1)); done
END
# A root of its own, with the machine's libraries; $3: the command's path there.
cat >"$tmp/within" <<'END'
mount -t tmpfs none "$2/root" && cd "$2/root" && mkdir -p usr lib lib64 bin old app || exit 1
mount --rbind /usr usr && mount --rbind /lib lib && { [ ! -d /lib64 ] || mount --rbind /lib64 lib64; } || exit 1
cp "$2/short" app/short && cp "$2/all" app/all && cp /bin/sh bin/sh && cp "$(command -v busybox)" bin/busybox || exit 1
pivot_root . old && /bin/busybox umount -l /old && cd / && exec /bin/sh /app/all "$1" /app/short
END

measure() { # WHAT COMMAND...
	what=$1
	shift
	"$sonde" -e 'config = { max_map_keys = 131072 } profile:hz:999 /comm == "short"/ { @[pid, ustack(perf)] = count(); }' >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	until grep -qs Attached "$tmp/err"; do sleep 0.1; done
	"$@"
	kill -INT $tracer
	wait $tracer
	awk -v what="$what" '
		/^@\[/ { split($0, f, /[][,]/); pid[f[2]]; stacks++ }
		/^\t/ { if (/\((\/|\[vdso)/) { files++; if ($2 ~ /^(0x|\()/) bare++ } else other++ }
		/^\t.*\/short\)$/ { own++; if ($2 ~ /^(0x|\()/) bare_own++ }
		/^\t[0-9a-f]+ _start\+/ { whole++ }
		END {
			for (p in pid) n++
			printf "| %s | %d | %d | %d | %d | %.2f | %.2f | %.2f |\n", what, n, stacks, files, other, 100 * (files - bare) / files, 100 * (own - bare_own) / own, 100 * whole / stacks
		}' "$tmp/out"
	grep WARNING "$tmp/err" | sed 's/^WARNING: /- /' >&2
}

echo "| where | processes seen | different stacks of them | frames in files | others | named, % | of its own | stacks with _start, % |"
echo "|---|---|---|---|---|---|---|---|"
measure "as they are" sh "$tmp/all" "$n" "$tmp/short"
measure "a mount namespace with a root of its own (\`unshare -m\`, \`pivot_root\`)" unshare -m --propagation private sh "$tmp/within" "$n" "$tmp"
measure "the same with pids, a host name and IPC of its own (\`unshare -mpuif\`)" unshare -mpuif --propagation private sh "$tmp/within" "$n" "$tmp"
