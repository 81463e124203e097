#!/bin/sh
# tree.sh [ARCH]: makes sure that a tree of Debian's packages for another architecture (arm64) is in the
# cache and prints its folder: what test guests run, and the libraries that sonde is built with. Packages
# are only unpacked: none of their scripts run. When that fails: why on stderr, exit code 1.
set -u

. "$(dirname "$0")/apt.sh"
arch=${1:-arm64}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sonde/trees
wanted="base-files base-passwd bash binutils busybox-static coreutils dash debianutils diffutils findutils
	grep gawk hostname libc-bin mount procps python3 sed util-linux
	systemtap-sdt-dev libbpf-dev libdw-dev libelf-dev libiberty-dev libc6-dev libgcc-12-dev libstdc++-12-dev liblzma-dev
	libzstd-dev libbz2-dev zlib1g-dev"

fail() {
	echo "$*" >&2
	exit 1
}
[ "$(cat "$cache/$arch/wanted" 2>/dev/null)" = "$wanted" ] && echo "$cache/$arch" && exit 0

mkdir -p "$cache" || exit 1
tmp=$(mktemp -d "$cache/.$arch.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
own_begin "$tmp/apt" "$arch" bookworm
mkdir "$tmp/new"
own_apt apt-get -y --no-install-recommends --download-only install $wanted >"$tmp/log" 2>&1 ||
	fail "download for $arch: $(grep -m 1 '^E:' "$tmp/log")"
for deb in "$own"/cache/archives/*.deb; do
	dpkg-deb -x "$deb" "$tmp/new" || fail "cannot unpack $(basename "$deb")"
done
cd "$tmp/new" || exit 1
# What the packages' scripts would have done.
cp usr/share/base-passwd/passwd.master etc/passwd
cp usr/share/base-passwd/group.master etc/group
[ -e bin/sh ] || ln -s dash bin/sh
[ -e usr/bin/awk ] || ln -s gawk usr/bin/awk
echo guest >etc/hostname
# Links that name files from the root on would leave the tree when somebody looks from outside.
find . -type l -lname '/*' | while read -r link; do
	to=$(readlink "$link")
	ln -sfn "$(echo "${link#./}" | sed 's,[^/]*$,,; s,[^/]*/,../,g')${to#/}" "$link"
done
chmod 1777 tmp
cd / && echo "$wanted" >"$tmp/new/wanted" && rm -rf "${cache:?}/$arch" && mv "$tmp/new" "$cache/$arch" && echo "$cache/$arch"
