#!/bin/sh
# docs.sh - the scripts in the documentation: every block that starts with ```sonde is a whole script.
#
#   tests/checks/docs.sh [--update] SONDE FILE...
#
#	```sonde                 compiles against the machine recorded in tests/host, as `make` puts it beside SONDE
#	```sonde needs=WORDS     compiles on this machine, as root; WORDS, with commas between them: live (nothing
#	                         else), kprobe, fentry, tp:CATEGORY/EVENT, file:PATH; without one of them it is skipped
#	```sonde run             runs on this machine, as root, else only compiles; a block ```output that follows is
#	                         all that it prints, without empty lines
#	... args='a b'           arguments of the script; the last word of the line
#
# The tables of functions and probes in docs/language.md must be those that `sonde help` gives; --update writes them.
update=
if [ "$1" = --update ]; then
	update=1
	shift
fi
[ $# -ge 1 ] || { sed -n '2,/^update=/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
sonde=$(realpath "$1")
[ -x "$sonde" ] || { echo "docs.sh: no program $1"; exit 1; }
shift
cd "$(dirname "$0")/../.." || exit 1
root=${sonde%/*}/host/6.1-x86_64
[ -e "$root/sys/kernel/btf/vmlinux" ] || { echo "docs.sh: no $root: make it (build/host/ready)"; exit 1; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
pass=0 fail=0 skip=0 n=0

ok() {
	pass=$((pass + 1))
	echo "ok $n - $1"
}

not_ok() {
	fail=$((fail + 1))
	echo "not ok $n - $1"
	sed 's/^/# /' "$2"
}

# NUMBER.script, NUMBER.head (line, words after ```sonde) and NUMBER.output for each block of FILE.
extract() {
	rm -f "$tmp"/*.script "$tmp"/*.head "$tmp"/*.output
	awk -v t="$tmp" '
		/^```/ && !open {
			open = 1
			kind = $0 ~ /^```sonde( |$)/ ? "script" : $0 == "```output" && near ? "output" : ""
			if (kind == "script") {
				n++
				f = sprintf("%s/%03d", t, n)
				sub(/^```sonde ?/, "")
				print NR " " $0 > (f ".head")
			}
			if (kind)
				printf "" > (f "." kind)
			next
		}
		/^```/ { open = 0; near = kind == "script"; next }
		open && kind { print > (f "." kind) }
		!open && NF { near = 0 }' "$1"
}

# Why this machine does not do; nothing: it does.
missing() {
	[ "$(id -u)" = 0 ] || { echo 'not root'; return; }
	for w in $(echo "$1" | tr , ' '); do
		case $w in
		live) ;;
		kprobe) [ -e /sys/bus/event_source/devices/kprobe ] || echo 'no kprobes in this kernel' ;;
		fentry) [ -e /sys/bus/event_source/devices/kprobe ] || echo 'no fentry in this kernel' ;;
		tp:*) [ -e "/sys/kernel/tracing/events/${w#tp:}" ] || echo "no tracepoint ${w#tp:}" ;;
		file:*) [ -e "${w#file:}" ] || echo "no ${w#file:}" ;;
		*) echo "unknown need $w" ;;
		esac
	done
}

# block FILE BASE: compile or run one.
block() {
	read -r line words < "$2.head"
	title="$1:$line" needs='' run='' args=''
	case $words in
	*args=\'*) args=${words#*args=\'} args=${args%\'*} words=${words%%args=*} ;;
	esac
	for w in $words; do
		case $w in
		needs=*) needs=${w#needs=} ;;
		run) run=1 ;;
		*) echo "unknown word '$w'" > "$tmp/got"; not_ok "$title" "$tmp/got"; return ;;
		esac
	done
	why=$(missing "$needs" | head -n 1)
	if [ "$run" ] && [ ! "$why" ]; then
		# shellcheck disable=SC2086
		timeout 20 "$sonde" -q "$2.script" $args > "$tmp/out" 2> "$tmp/got" < /dev/null
		rc=$?
		grep -v '^$' "$tmp/out" > "$tmp/shown"
		if [ $rc != 0 ]; then
			not_ok "$title" "$tmp/got"
		elif [ -e "$2.output" ] && ! diff -u --label documented --label printed "$2.output" "$tmp/shown" > "$tmp/got"; then
			not_ok "$title" "$tmp/got"
		else
			ok "$title"
		fi
		return
	fi
	set -- --root "$root" --mode codegen "$2.script"
	if [ "$needs" ]; then
		if [ "$why" ]; then
			skip=$((skip + 1))
			echo "ok $n - $title # SKIP $why"
			return
		fi
		shift 2
	fi
	# shellcheck disable=SC2086
	if timeout 20 "$sonde" "$@" $args > "$tmp/got" 2>&1 < /dev/null && ! grep -q WARNING "$tmp/got"; then
		ok "$title"
	else
		not_ok "$title" "$tmp/got"
	fi
}

# "SIGNATURE" and "    TEXT" lines of sonde help -> a table.
table() {
	"$sonde" help "$1" | awk -v probes="$([ "$1" = probes ] && echo 1)" '
		BEGIN { print probes ? "| probe | |" : "| function or variable | |"; print "|---|---|" }
		/^    / {
			sub(/^ +/, "")
			gsub(/\|/, "\\|", sig)
			gsub(/\|/, "\\|")
			print "| `" sig "` | " $0 " |"
			next
		}
		{ sig = $0 }'
}

# Replace what stands between "<!-- NAME: ..." and "<!-- end -->" in FILE by table NAME, on stdout.
with_tables() {
	for t in functions probes; do table $t > "$tmp/table.$t"; done
	awk -v t="$tmp" '
		/^<!-- end -->$/ { skip = 0 }
		!skip { print }
		/^<!-- (functions|probes): / {
			name = $2
			sub(":", "", name)
			while ((getline line < (t "/table." name)) > 0)
				print line
			skip = 1
		}' "$1"
}

for file; do
	[ -f "$file" ] || { echo "docs.sh: no $file"; exit 1; }
	if [ "$file" = docs/language.md ]; then
		n=$((n + 1))
		with_tables "$file" > "$tmp/new"
		if [ "$update" ]; then
			cmp -s "$tmp/new" "$file" || cat "$tmp/new" > "$file"
		fi
		if diff -u "$file" "$tmp/new" > "$tmp/got"; then
			ok "$file: tables of functions and probes"
		else
			echo 'the tables are out of date: tests/checks/docs.sh --update SONDE docs/language.md' >> "$tmp/got"
			not_ok "$file: tables of functions and probes" "$tmp/got"
		fi
	fi
	extract "$file"
	for s in "$tmp"/*.script; do
		[ -e "$s" ] || continue
		n=$((n + 1))
		block "$file" "${s%.script}"
	done
done
echo "1..$n"
echo "$pass passed, $fail failed, $skip skipped"
[ $fail = 0 ]
