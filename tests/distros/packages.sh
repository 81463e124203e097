#!/bin/sh
# The packages, in bare trees of Debian releases: built twice, checked, installed, run, removed.
#
#   tests/distros/packages.sh [-q] [SUITE...]       (bookworm trixie sid)
#
# One copy of the tree builds deb, rpm and tarball in two folders, which must give the same bytes; then
# each is used in a copy of its own where nothing else was installed, and taken away again, which must
# leave the files that were there before. The last line sums up; a suite without a tree is skipped.
# -q: quickly, in no tree: tarball and deb of what `make` and `make static` built here, unpacked and run.
set -u

n=0 failed=0

# result CODE WHAT [FILE]: a line, and what FILE says when CODE is not 0.
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok - $2"
	[ -z "${3-}" ] || tail -n 30 "$3" | sed 's/^/# /'
}

# try WHAT COMMAND...
try() {
	what=$1
	shift
	"$@" >/tmp/log 2>&1
	result $? "$what" /tmp/log
}

# quietly COMMAND...: must work, or nothing else does.
quietly() {
	"$@" >/tmp/log 2>&1 && return
	tail -n 5 /tmp/log
	exit 1
}

packages() {
	quietly apt-get -qq update
	quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@"
}

# ---- in a tree ----

build() {
	packages gcc libc6-dev make pkg-config libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev libmicrohttpd-dev libiberty-dev libnats-dev \
		debhelper lintian rpm rpmlint
	cp -a /src /elsewhere
	echo "$COMMIT" >/out/commit
	for kind in deb rpm tarball; do
		(cd /src && packaging/build.sh $kind) >/tmp/log 2>&1
		result $? "make $kind" /tmp/log
	done
	# Another folder, another day, another user's habits.
	(
		umask 077
		cd /elsewhere && for kind in deb rpm tarball; do
			TZ=Asia/Tokyo LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS='nocheck parallel=1' packaging/build.sh $kind || exit
		done
	) >/tmp/again 2>&1
	result $? 'all of them again, in another folder' /tmp/again
	for f in /src/build/package/*.deb /src/build/package/*.rpm /src/build/package/*.tar.gz; do
		try "${f##*/}: the same bytes" cmp "$f" "/elsewhere/build/package/${f##*/}"
		cp "$f" /out
	done
	try 'lintian' lintian --allow-root --fail-on error,warning -i /out/*.deb
	try 'rpmlint' rpmlint -c /src/packaging/rpmlint.toml /out/*.rpm
}

# Of what the package brought, as bash loads it by a tool's name.
complete_here() {
	bash -c 'd=$(dirname "$(dirname "$(command -v sonde)")")
		. "$(find "$d" -path "*/bash-completion/completions/execsnoop")" && complete -p execsnoop &&
		COMP_LINE="execsnoop --ti" && COMP_POINT=${#COMP_LINE} && _sonde execsnoop && [ "${COMPREPLY[*]}" = "--tid --time --timestamp" ]'
}

# What is on the disk, but for what package managers keep for themselves.
files() {
	find / -xdev \( -path /src -o -path /tmp -o -path /run -o -path /out -o -path '/var/cache' -o -path '/var/log' \
		-o -path '/var/lib/apt' -o -path '/var/lib/dpkg' -o -path '/var/lib/rpm' -o -path '/root/.rpmdb' \
		-o -path /etc/ld.so.cache \) -prune -o -print | sort
}

works() {
	try "$1: --version names the commit" sh -c 'sonde --version | grep "commit $(cat /out/commit)"'
	try "$1: a script" sh -c 'sonde -e "tracepoint:syscalls:sys_enter_openat /pid == cpid/ { @n = count(); }" -c "cat /etc/passwd" | grep "^@n: [1-9]"'
	try "$1: a tool by its name" sh -c 'execsnoop -h | grep -i usage'
	try "$1: completion" complete_here
}

gone() {
	files >/tmp/after
	diff /tmp/before /tmp/after >/tmp/log
	result $? "$1: removed, nothing is left" /tmp/log
}

# The example of docs/, by the header and the library that the package brought; the checks of memory are the compiler's.
embeds() {
	example='-Wall -Wextra -Werror -g -fsanitize=address,undefined -o /tmp/example docs/libsonde.c'
	try "$1: libsonde: the example is built" sh -c "cd /src && gcc $example \$(pkg-config --cflags --libs libsonde)"
	try "$1: libsonde: the example runs" sh -c '/tmp/example | tee /tmp/counted | grep -x "one second is over" && grep " [1-9][0-9]*$" /tmp/counted'
	rm -f /tmp/example /tmp/counted
}

use_deb() {
	packages gcc libc6-dev pkg-config
	files >/tmp/before
	try 'deb: installed' apt-get -qq -y --no-install-recommends install /out/*.deb
	works deb
	try 'deb: manual pages' sh -c 'cd /usr/share/man/man1 && zcat sonde.1.gz sonde-execsnoop.1.gz execsnoop.1.gz | grep -c "Nm sonde-execsnoop"'
	try 'deb: the agent' sh -c 'sonde-agent -h && find /lib/systemd/system /usr/lib/systemd/system -name sonde-agent.service | grep . && ls /usr/share/doc/sonde-agent/examples/nkey.sh'
	try 'deb: the header' test -s /usr/include/sonde/sdt.h
	embeds deb
	try 'deb: purged' apt-get -qq -y --autoremove purge sonde libsonde0 sonde-agent sonde-dev sonde-tools
	gone deb
}

use_rpm() {
	packages rpm libbpf1 libelf1 zlib1g libzstd1
	mkdir -p /usr/share/licenses # where rpm is at home it belongs to the base system
	files >/tmp/before
	try 'rpm: installed' rpm -i --nodeps /out/*.rpm
	works rpm
	try 'rpm: manual pages' sh -c 'cd /usr/share/man/man1 && zcat sonde.1.gz sonde-execsnoop.1.gz execsnoop.1.gz | grep -c "Nm sonde-execsnoop"'
	try 'rpm: the header' test -s /usr/include/sonde/sdt.h
	try 'rpm: asks for the libraries' sh -c 'rpm -qR sonde | grep "^libbpf.so"'
	try 'rpm: erased' rpm -e sonde sonde-agent sonde-libs sonde-devel sonde-tools
	gone rpm
}

use_tarball() {
	files >/tmp/before
	try 'tarball: unpacked' tar -xf /out/sonde-*.tar.gz -C /opt
	try 'tarball: checksums' sh -c 'cd /opt/sonde-* && sha256sum -c --strict SHA256SUMS'
	PATH=$PATH:$(echo /opt/sonde-*/bin)
	works tarball
	try 'tarball: manual, header, licence' sh -c 'cd /opt/sonde-* && ls share/man/man1/sonde.1 share/man/man1/sonde-execsnoop.1 include/sonde/sdt.h LICENSE'
	rm -rf /opt/sonde-*
	gone tarball
}

# ---- in no tree ----

# In $work: unpacked by COMMAND..., run from there.
from_here() {
	kind=$1
	shift
	rm -rf "$work/root"
	mkdir -p "$work/root"
	try "$kind: unpacked" "$@"
	(
		PATH=$(find "$work/root" -type d -name bin):$PATH
		export PATH
		sonde --version >"$work/log" 2>&1 && execsnoop -h >>"$work/log" 2>&1 && complete_here >>"$work/log" 2>&1 &&
			grep "commit $COMMIT" "$work/log" && grep USAGE "$work/log"
	) >/dev/null
	result $? "$kind: --version names the commit, a tool by its name, completion" "$work/log"
}

quick() {
	cd "$(dirname "$0")/../.." || exit 1
	work=$(mktemp -d) || exit 1
	trap 'rm -rf "$work"' EXIT
	COMMIT=$(git rev-parse --short=12 HEAD 2>/dev/null)
	# The log of try() is one name in a tree.
	try() {
		what=$1
		shift
		"$@" >"$work/log" 2>&1
		result $? "$what" "$work/log"
	}
	try 'tarball' packaging/build.sh tarball
	cp build/package/sonde-*.tar.gz "$work/first.tar.gz"
	(umask 077 && TZ=Asia/Tokyo packaging/build.sh tarball) >"$work/log" 2>&1
	try 'tarball: the same bytes' cmp build/package/sonde-*.tar.gz "$work/first.tar.gz"
	from_here tarball tar -xf "$work/first.tar.gz" -C "$work/root"
	try 'tarball: what pages open they close' sh -c 'awk "/^\.Bd/ { n++ } /^\.Ed/ { n-- } /^\.Sh/ && n { print FILENAME; bad = 1; n = 0 } END { exit bad || n }" \
		"$1"/root/sonde-*/share/man/man1/*.1' sh "$work"
	try 'tarball: checksums' sh -c 'cd "$1"/root/sonde-* && sha256sum -c --strict SHA256SUMS' sh "$work"
	if ! command -v dh >/dev/null; then
		echo 'ok - deb # SKIP no debhelper here'
		skipped=1
		return
	fi
	# The flags of `make`, so that its objects do; a file that no package has is an error. How packages are compressed is
	# dpkg's matter, and takes it longest.
	try 'deb' env DPKG_DEB_COMPRESSOR_TYPE=none BUILT="$PWD/build" DEB_CFLAGS_SET='-O2 -g' DEB_CPPFLAGS_SET= DEB_LDFLAGS_SET= \
		packaging/build.sh deb
	from_here deb sh -c 'for p in build/package/*.deb; do dpkg-deb -x "$p" "$1" || exit; done' sh "$work/root"
	try 'deb: manual pages' sh -c 'cd "$1"/root/usr/share/man/man1 && zcat sonde.1.gz sonde-execsnoop.1.gz execsnoop.1.gz | grep -c "Nm sonde-execsnoop"' \
		sh "$work"
}

skipped=0
case ${1-} in
in-*)
	"$(echo "${1#in-}" | tr - _)"
	echo "$((n - failed)) passed, $failed failed"
	[ $failed = 0 ]
	exit
	;;
-q)
	quick
	echo "$((n - failed)) passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
	;;
esac

# ---- outside ----

[ $# -gt 0 ] || set -- bookworm trixie sid
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM
passed=0

# one_part SUITE PART
one_part() {
	"$here/tree.sh" -s -o "$out" "$1" tests/distros/packages.sh "in-$2" >"$out/log" 2>&1
	code=$?
	sed "s/^/$1: /" "$out/log"
	if [ $code = 75 ]; then
		skipped=$((skipped + 1))
		return
	fi
	sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/log" | tail -n 1)
	# shellcheck disable=SC2046
	set -- $(echo "${sum:-0 1}" | tr -dc '0-9 ')
	passed=$((passed + $1)) failed=$((failed + $2))
}

for suite; do
	rm -rf "${out:?}"/*
	one_part "$suite" build
	[ "$(ls "$out"/*.deb "$out"/*.rpm "$out"/*.tar.gz 2>/dev/null)" ] || continue
	for part in use-deb use-rpm use-tarball; do
		one_part "$suite" $part
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
