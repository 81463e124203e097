#!/bin/sh
# fleet.sh [-u] BUILD - one question to many hosts: shells on this machine play the hosts, and sshd on loopback where it
# is installed. What is printed is compared with tests/record/fleet.txt (-u writes it; read it). As root hosts also trace, and
# what a killed asker leaves behind is looked for.
update=
[ "$1" = -u ] && update=1 && shift
build=$(realpath "${1:-build}") || exit 1
cd "$(dirname "$0")" || exit 1
here=$PWD
tmp=$(mktemp -d) || exit 1
sshd=
clean() {
	[ "$sshd" ] && kill "$sshd"
	rm -rf "$tmp"
}
trap clean EXIT
cd "$tmp" || exit 1
export TZ=UTC
sonde=$build/sonde
bad=0

fails() {
	echo "not ok - $*"
	bad=$((bad + 1))
}

# Until the file is there.
await() {
	i=0
	until [ -e "$1" ]; do
		sleep 0.1
		i=$((i + 1))
		[ $i -lt 1200 ] || { fails "no $1" >&2; return; }
	done
}

# A host's own sonde, which does what the name of its host says.
mkdir bin
cat > bin/sonde << END
#!/bin/sh
sonde=$sonde
cd $tmp || exit 1
END
cat >> bin/sonde << 'END'
[ "$1" = version ] && exec "$sonde" version
case $HOST in
early) printf '\n%s ready\n' "$2"; printf '\n%s clock 0\nbytes' "$2"; exec sleep 1000 ;;
timeless) printf '\n%s ready\n' "$2"; read -r n; printf '\n%s clock maybe\n' "$2"; exec sleep 1000 ;;
nonsense) printf '\n%s maybe\n' "$2"; exec sleep 1000 ;;
unready) exec sleep 1000 ;;
stalls) while printf '\n%s have\n' "$2"; do sleep 0.1; done ;;
esac
printf '\n%s ready\n' "$2"
read -r n || exit 0
now=$(date +%s%N)
[ "$HOST" = fast ] && now=$((now + 5000000000000))
printf '\n%s clock %s\n' "$2" "$now"
read -r n start || exit 0
head -c "$n" > question || exit 1
[ "$start" = 0 ] || echo "asked to begin in $(((start - $(date +%s%N)) / 100000000000))00 s" >&2
case $HOST in
cpu*) cat "$HOST.answer" ;;
garbage) echo 'this is no answer, and has no end' ;;
endless) exec yes ;;
dies) head -c 500 web2.answer; kill -9 $$ ;;
damaged) cat damaged.answer ;;
other) cat other.answer ;;
lacks*) cat lacks.answer ;;
silent) exit 4 ;;
late) cat web2.answer; exec sleep 1000 ;;
refuses) printf 'Warning: \033[31mred\033[0m\r\nstdin:1:1-2: ERROR: no such probe\n  ~~\n' >&2; exit 1 ;;
chatty) yes 'many words' | head -n 9000 >&2; cat web2.answer ;;
waits) touch waits; cat > /dev/null; cat web2.answer ;;
*) echo "asked: $n bytes" >&2; cat web2.answer ;;
esac
END
chmod +x bin/sonde
# The way there: what fails before a shell answers fails here.
cat > way << 'END'
#!/bin/sh
export HOST=$1
case $1 in
down) echo "ssh: connect to host $1 port 22: Connection refused" >&2; exit 255 ;;
floods) exec yes ;;
hangs) exec sleep 1000 ;;
banner) echo 'Welcome to sonde-0123456789abcdef'; printf 'no end of line' ;;
esac
exec sh
END
chmod +x way

# f WORD... - sonde fleet, and what came of it, without times.
f() {
	printf '$ fleet'
	printf ' %s' "$@"
	echo
	o=$(mktemp -p "$tmp")
	PATH=$tmp/bin:$PATH timeout 200 "$sonde" fleet --sudo '' --wait 60s --via "$tmp/way {}" "$@" 2> "$o.err" < /dev/null > "$o"
	rc=$?
	cat "$o.err" "$o" | untimed
	[ $rc = 0 ] || echo "[$rc]"
}
untimed() {
	sed "s,$tmp,TMP,g; s/; [0-9.]* s\(, \(asked\|started\) within [0-9.]* ms, clocks within [0-9.]* ms\)\{0,1\}/; T/
s/\"skew_ns\": [0-9]*, \"asked_within_ns\": [0-9]*,\( \"started_within_ns\": [0-9]*,\)\{0,1\} \"took_ns\": [0-9]*/T/
s/\(the \|its \)clock\(.* is\) \(4999\|500[01]\) s ahead/\1clock\2 5000 s ahead/; s/; [0-9.e-]* % CPU at most ([a-z][0-9]*)\$/; CPU/
s/only [0-9.]* s after/only T after/; s/\"cost\": {\"host\": \"[a-z][0-9]*\", \"ratio\": [0-9.]*}/COST/"
}

script='t:raw_syscalls:sys_enter { @[comm] = count(); @last[comm] = args.id; @h[comm] = hist(args.id); }
end { printf("over\n"); }'
# Two probes that the recording does not have, one of them a pattern.
lacking='config = { missing_probes = "warn" }
t:raw_syscalls:sys_enter { @ = count(); } tracepoint:no:such { @ = count(); } tracepoint:sched:no* { @ = count(); }'
answers() {
	"$build/mkrec" -c wide.sonde && "$build/mkrec" -n web1 web1.sonde && "$build/mkrec" -n web2 web2.sonde || exit 1
	"$sonde" query -q web2.sonde -f answer -o web2.answer -e "$script" || exit 1
	"$sonde" query -q web2.sonde -f answer -o other.answer -e 't:raw_syscalls:sys_enter { @ = count(); }' || exit 1
	"$sonde" query -q web2.sonde -f answer -o lacks.answer -e "$lacking" 2> /dev/null || exit 1
	{ head -c 500 web2.answer; tail -c +502 web2.answer; } > damaged.answer
}

# Forty hosts, each with the events of one CPU, say what one says that has all.
split() {
	cpu=0
	part='table calls sorted by n rows 3 { comm "COMM"; n "N"; part "SHARE" share same; } t:raw_syscalls:sys_* { @ = count(); @c[comm] = count(); @p[pid, comm, probe] = count(); @t[comm] = hist(cpu); }
profile:hz:99 { @s[ustack, comm] = count(); } end { print(@c, 3); show(calls, @c); }'
	while [ $cpu -lt 40 ]; do
		"$sonde" query -q wide.sonde --cpu $cpu -f answer -o cpu$cpu.answer -e "$part" || exit 1
		cpu=$((cpu + 1))
	done
	for format in text json folded; do
		"$sonde" query -q wide.sonde -f $format -o whole -e "$part" > whole.out 2>&1
		PATH=$tmp/bin:$PATH timeout 100 "$sonde" fleet --sudo '' --wait 60s --via "$tmp/way {}" -q --hosts 'cpu[0-39]' -f $format -o merged \
			-e "$part" > merged.out 2>&1 || fails "fleet ended with $?"
		[ $format = json ] && sed -i '/"type": "fleet"/d' merged
		[ -s whole ] && cmp whole merged && cmp whole.out merged.out && continue
		fails "-f $format: forty hosts say the same as one"
		diff whole merged | head
		head merged.out
	done
}

failures() {
	f --hosts web1 -e "$script"
	f --hosts web1,web2,banner --by host -e "$script"
	f --hosts 'web[1-2],down,floods,garbage' -f json -e "$script"
	f --hosts web1,down,refuses,silent,other,garbage,damaged,nonsense,early,timeless,stalls,fast -e "$script"
	f --hosts 'down,refuses' -f json -e "$script"
	f --hosts 'down,refuses' -o x.svg -e "$script"
	[ -e x.svg ] && fails 'there is a picture of nothing'
	# These wait for so long that a busy machine does not count as one that is late.
	f --hosts 'web1,hangs,unready' --wait 8s -e "$script" > hangs.txt &
	f --hosts 'web1,late' --for 1s --wait 8s -e "$script" > late.txt &
	f --hosts 'web1,late' --for 1s --wait 8s --partial -f json -e "$script" > partial.txt &
	wait
	cat hangs.txt late.txt partial.txt
	f --hosts 'web1,dies' -e "$script"
	f --hosts 'web1,dies' --partial -e "$script" | sed 's/byte [0-9]*/byte N/'
	f --hosts 'web1,endless' -q --min-hosts 50% -e "$script"
	f --hosts 'web1,chatty' -q -e "$script" | sort | uniq -c | sed 's/^ *//'
	f --hosts 'web[1-20]' --min-hosts 20 --parallel 3 -q -e "$script"
	f --hosts 'web[1-3],down,refuses' --min-hosts 3 -q -f folded -e "$script"
	# Two questions at once do not meet.
	f --hosts 'lacks[1-3]' -q -e "$lacking" > one.txt &
	f --hosts 'web[1-3],down' -q -f json -e "$script" > two.txt &
	wait
	cat one.txt two.txt
	f --hosts 'lacks[1-2]' -e "$lacking"
	f --hosts 'lacks[1-2]' -q -f json -e "$lacking"
	f --hosts 'web1,fast' --at +30s -e "$script"
	f --hosts 'web1,fast' --at +30s --skew -q -e "$script"
	f --hosts 'web1,web2' --at @2 -e "$script"
	echo 'web1 # one' > hosts
	echo 'begin { }' > empty.bt
	f --hosts-file hosts -q empty.bt 1 --x=2
	tr '\0' '\n' < question | grep -a -e sonde -e x=2 | tr -d '\001-\011\013-\037' | sed 's/^begin.*sonde/sonde/'
}

# Rows by labels that a file gives to hosts.
labels() {
	printf 'web1 zone=a role=web\nweb[2-3]\tzone=b # two\r\n\nbanner\ndown zone=c\n' > hosts
	f --hosts-file hosts --by label:zone -e "$script"
	f --hosts-file hosts --by label:zone -f json -e "$script"
	f --hosts-file hosts -q --by label:role -f json -e "$script"
	f --hosts 'web[1-11]' -q --by label:zone -f json -e "$script"
	f --hosts-file hosts --hosts web1 --by label:zone -q -o zones.answer -f answer -e "$script"
	"$sonde" merge --by label:zone zones.answer 2>&1
	for line in 'web1 zone=' 'web1 zone=a b' 'zone=a' 'web1 zone=a;b' 'web1 zone=a zone=b' '# web2
web1 zone=a
web1 zone=b'; do
		echo "$line" > hosts
		f --hosts-file hosts -e 'begin { }' | head -n 2
	done
	f --hosts web1 --by zone -e 'begin { }'
}

refused() {
	f
	f --hosts web1
	f --hosts 'web[1' -e 'begin { }'
	f --hosts=-oProxyCommand=x -e 'begin { }'
	f --hosts-file none -e 'begin { }'
	f --hosts web1 --via 'ssh' -e 'begin { }'
	f --hosts web1 --via 'ssh {} "' -e 'begin { }'
	f --hosts web1 --wait 3 -e 'begin { }'
	f --hosts web1 --at +3 -e 'begin { }'
	f --hosts web1 --at 00:00 -e 'begin { }'
	f --hosts web1 --min-hosts 101% -e 'begin { }'
	f --hosts web1 --parallel 0 -e 'begin { }'
	f --hosts web1 -o none/x -e 'begin { }'
	f --hosts web1 -f record -o x -e 'begin { }'
	f --hosts web1 -e 'begin { '
	f --hosts web1 none.bt
	f --hosts web1 -e 't:raw_syscalls:sys_enter { if (args.id == 1) { keep(args.id); } }'
	f --hosts web1 -e 'begin { snapshot("x"); }'
	f --hosts web1 -e 'import "other.bt"; begin { }'
	f --hosts web1 syscount -h
	f --hosts web1 syscount --json
	f --hosts web1 execsnoop -o x
	f --hosts web1 profile --flame x.svg
	f --hosts web1 syscount --nonsense
	f --hosts web1 syscuont
	f --hosts web1 -p 1 -e 'begin { }'
	f -h | head -n 3
	f -f help | sed -n '2s/ .*//p'
	printf '$ fleet-host\n'
	"$sonde" fleet-host 2>&1 < /dev/null
	echo "[$?]"
}

# Ctrl-C: the hosts stop, and answer.
stopped() {
	printf '$ stopped\n'
	PATH=$tmp/bin:$PATH "$sonde" fleet --sudo '' --wait 60s --via "$tmp/way {}" --hosts waits,web1 --for 600s -e "$script" > out 2>&1 &
	pid=$!
	await waits
	kill -TERM $pid
	wait $pid
	echo "[$?]"
	untimed < out
}

# ---- hosts without a sonde: a static one is sent ----

# d WORD... - the same, with a way of its own.
d() {
	timeout 200 "$sonde" fleet --wait 60s "$@" 2> err < /dev/null > out
	rc=$?
	untimed < err
	untimed < out
	[ $rc = 0 ] || echo "[$rc]"
}
left_behind() {
	ls -d /run/.sonde-* /dev/shm/.sonde-* /var/tmp/.sonde-* /tmp/.sonde-* "$tmp"/.sonde-* 2> /dev/null
}
# Processes of our hosts.
hosts_run() {
	grep -lsz "^FLEET_TEST=$tmp\$" /proc/[0-9]*/environ
}
gone() {
	i=0
	while [ "$(hosts_run; left_behind)" ]; do
		sleep 0.1
		i=$((i + 1))
		[ $i -lt 600 ] && continue
		fails "$1 leaves something behind: $(hosts_run) $(left_behind)"
		return
	done
}

sent() {
	printf '$ sent\n'
	way="env FLEET_TEST=$tmp HOST={} XDG_RUNTIME_DIR=$tmp HOME=$tmp sh"
	d --via "$way" --hosts a,b --by host -e 'begin { @ = count(); printf("%d\n", 7); exit(); }'
	for shell in dash bash 'busybox sh'; do
		command -v ${shell% *} > /dev/null || continue
		d --via "env FLEET_TEST=$tmp HOST={} $shell" --hosts a,b -q -e 'begin { printf("said\n"); exit(); }' > said
		[ "$(cat said)" = said ] || fails "through $shell: $(cat said)"
	done
	gone 'a run'
	mkdir -p .cache/sonde
	touch ".cache/sonde/sonde-$(uname -m)-old"
	d --via "$way" --hosts 'h[1-8]' --cache -e 'begin { @ = count(); exit(); }'
	d --via "$way" --hosts a --cache -e 'begin { @ = count(); exit(); }'
	ls .cache/sonde | sed "s/$(uname -m)/ARCH/; s/[0-9a-f]\{64\}/SUM/"
	rm -rf .cache
	d --via "$way" --hosts a --binaries none -e 'begin { exit(); }' | sed 's/sonde-[^:]*:/sonde-ARCH:/'
	mkdir -p short
	printf '#!/bin/sh\nexec /usr/bin/head -c 100\n' > short/head
	chmod +x short/head
	d --via "env PATH=$tmp/short:$PATH $way" --hosts a -e 'begin { exit(); }'
	printf '#!/bin/sh\necho amiga\n' > short/uname
	chmod +x short/uname
	d --via "env PATH=$tmp/short:$PATH $way" --hosts a -e 'begin { exit(); }'
	printf '#!/bin/sh\necho 1000\n' > short/id
	printf '#!/bin/sh\necho "sudo: a password is required" >&2\nexit 1\n' > short/sudo
	rm short/head short/uname
	chmod +x short/id short/sudo
	d --via "env PATH=$tmp/short:$PATH $way" --hosts a -e 'begin { exit(); }'
	d --via "env PATH=$tmp/short:$PATH $way" --hosts a --sudo 'env X=1' -e 'begin { @ = 1; exit(); }'
	if command -v setpriv > /dev/null; then
		d --via "setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR FLEET_TEST=$tmp {}=x sh" --sudo '' \
			--hosts a -e 'begin { @ = count(); exit(); }' | sed 's/refused: .*CAP_BPF.*/refused: CAP_BPF .../'
	fi
	gone 'a refusal'
	noexec='for d in /run /dev/shm /var/tmp /tmp; do mount -t tmpfs -o noexec none $d || exit; done; exec sh'
	if unshare -m true 2> /dev/null; then
		d --via "env -u XDG_RUNTIME_DIR unshare -m sh -c '$noexec' {}" --hosts a -e 'begin { exit(); }'
		d --via "env -u XDG_RUNTIME_DIR unshare -m sh -c '${noexec% /var*}; do mount -t tmpfs -o noexec none \$d; done; exec sh' {}" \
			--hosts a -e 'begin { exit(); }'
	fi
}

# All begin at the same time; and one of two hosts has a program that the other lacks.
together() {
	printf '$ together\n'
	timeout 200 "$sonde" fleet --wait 60s --via "$way" --hosts 'h[1-3]' --at +2s -f json \
		-e 'begin { @ = count(); } interval:ms:1 { exit(); }' > out 2> err || fails "--at ended with $?"
	python3 - out << 'END'
import json, sys

lines = [json.loads(line) for line in open(sys.argv[1])]
fleet = lines[-1]
print([line["data"] for line in lines if line["type"] == "map"], "answered:", fleet["answered"])
print("bound:", 0 < fleet["started_within_ns"], "took:", fleet["took_ns"] > 2e9)
print("cost:", fleet["cost"]["host"] in ("h1", "h2", "h3") and fleet["cost"]["ratio"] >= 0)
END
	grep -v 'WARNING: --at: tracing begins [0-9.]* s late' err # on a busy machine
	timeout 200 "$sonde" fleet --wait 60s --via "$way" --hosts 'h[1-3]' --at +600s -e 'begin { printf("x"); }' > out 2>&1 &
	pid=$!
	i=0 # each has a child when it was asked
	until [ "$(hosts_run | xargs -r dirname | while read -r d; do tr '\0' ' ' < "$d/cmdline"; done 2> /dev/null | grep -o fleet-host | wc -l)" -ge 6 ] ||
		[ $i = 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	kill -TERM $pid
	wait $pid
	echo "[$?]"
	untimed < out
	unshare -m true 2> /dev/null || { echo 'skipped: no mount namespaces' >&2; return; }
	cp /bin/true "$tmp/only"
	d --via "env FLEET_TEST=$tmp HOST={} XDG_RUNTIME_DIR=$tmp HOME=$tmp unshare -m sh -c '[ {} = a ] || mount --bind /dev/null $tmp/only; exec sh'" \
		--hosts a,b -f json -e "config = { missing_probes = \"warn\" } uprobe:$tmp/only:0x1000 { @ = count(); } begin { @ = count(); exit(); }" \
		--unsafe
}

# The asker is killed while it sends, and while hosts trace: nothing stays.
killed() {
	printf '$ killed\n'
	mkdir -p slow
	printf '#!/bin/sh\ntouch %s\nexec /usr/bin/head "$@"\n' "$tmp/sending" > slow/head
	chmod +x slow/head
	"$sonde" fleet --wait 60s --via "env PATH=$tmp/slow:$PATH $way" --hosts 'h[1-3]' -e 'begin { }' > /dev/null 2>&1 &
	await sending
	kill -9 $!
	wait $!
	gone 'an asker that was killed while it sent'
	for via in "$way" "$@"; do
		"$sonde" fleet --wait 60s --via "$via" --hosts 'h[1-3]' --for 600s \
			-e "begin { system(\"touch $tmp/traces\"); } interval:s:600 { @ = 1; }" --unsafe > /dev/null 2>&1 &
		await traces
		rm traces
		kill -9 $!
		wait $!
		gone 'a killed asker'
	done
	echo over
}

# ---- through sshd on loopback ----

ssh_open() {
	command -v ssh > /dev/null && daemon=$(PATH=$PATH:/usr/sbin command -v sshd) && [ "$(id -u)" = 0 ] || return
	[ -d /run/sshd ] || mkdir /run/sshd || return
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$tmp/key" || return
	cp key.pub allowed
	cat > sshd_config << END
Port $port
ListenAddress 127.0.0.1
HostKey $tmp/host_key
AuthorizedKeysFile $tmp/allowed
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
MaxStartups 100
SetEnv FLEET_TEST=$tmp XDG_RUNTIME_DIR=$tmp
END
	cat > ssh_config << END
Host *
Hostname 127.0.0.1
Port $port
User root
IdentityFile $tmp/key
IdentitiesOnly yes
UserKnownHostsFile $tmp/known
StrictHostKeyChecking accept-new
LogLevel ERROR
END
	"$daemon" -D -f sshd_config -E sshd.log &
	sshd=$!
	until ssh -F ssh_config -o BatchMode=yes x true 2> /dev/null; do
		kill -0 $sshd || return
		sleep 0.1
	done
	ssh="ssh -F $tmp/ssh_config -o BatchMode=yes -o ConnectTimeout=30 {} sh"
}
by_ssh() {
	printf '$ by ssh\n'
	d --via "$ssh" --hosts 'h[1-4]' --by host -f json -e 'begin { @ = count(); printf("\x1b%d\n", 7); exit(); }'
	gone 'ssh'
	d --via "ssh -F $tmp/ssh_config -o BatchMode=yes -p 1 {} sh" --hosts h1 -e 'begin { exit(); }'
	d --via "ssh -F $tmp/ssh_config -o BatchMode=yes -l nobody {} sh" --hosts h1 -e 'begin { exit(); }' |
		sed 's/denied (.*)/denied (WAYS)/'
}

answers
split
{ failures; labels; refused; stopped; } > got.txt
if [ "$(id -u)" = 0 ]; then
	{ sent; together; killed; } >> got.txt
	if ssh_open; then
		{ by_ssh; killed "$ssh"; } >> got.txt
	else
		echo 'skipped: no sshd'
		sed '/^\$ by ssh/,$d' "$here/fleet.txt" > want.txt
	fi
else
	sed '/^\$ sent/,$d' "$here/fleet.txt" > want.txt
fi
[ -e want.txt ] || cp "$here/fleet.txt" want.txt
if [ "$update" ]; then
	cp got.txt "$here/fleet.txt"
elif ! diff -u want.txt got.txt; then
	bad=$((bad + 1))
fi
[ $bad = 0 ] && echo "one question to many hosts: ok"
exit $bad
