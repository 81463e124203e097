#!/bin/sh
# fetch.sh VERSION: makes sure that a Debian kernel of that series (5.10, 7.2) is in the cache and
# prints its folder: vmlinuz, release (uname -r), modules/*.ko, those that a guest needs, and their list.
# The packages come from the mirror that this machine's apt uses, through an apt root of its own, so
# neither its sources nor its package state change. When that fails: why on stderr, exit code 1.
set -u

ver=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sonde/kernels
wanted="virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev failover
	netfs fscache 9pnet 9p 9pnet_virtio overlay
	brd fat msdos vfat nls_cp437 nls_ascii"

# Complete, or all that can be had for now.
have() {
	[ -s "$cache/$ver/vmlinuz" ] && echo "$cache/$ver"
}
[ "$(cat "$cache/$ver/wanted" 2>/dev/null)" = "$wanted" ] && have && exit 0

fail() {
	have && exit 0
	echo "$*" >&2
	exit 1
}

suites_of() {
	case $1 in
	5.10) echo "bullseye" ;;
	6.1) echo "bookworm" ;;
	6.12) echo "bookworm-backports trixie" ;;
	*) echo "forky sid trixie-backports experimental" ;;
	esac
}

# The first Debian archive in apt's configuration that is not the one for security updates.
find_mirror() {
	{
		apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
			sed -n 's/^Debian //p'
		cat /etc/apt/sources.list.d/debian*.sources 2>/dev/null | sed -n 's/^URIs: *//p'
		sed -n 's/^deb .*[ \t]\([a-z+]*:[^ ]*\) .*/\1/p' /etc/apt/sources.list 2>/dev/null
	} | tr ' ' '\n' | grep -v -e security -e ubuntu | head -n 1
}

for tool in apt-get dpkg-deb xz; do
	command -v $tool >/dev/null || fail "no $tool here"
done
mirror=${SONDE_DEBIAN_MIRROR:-$(find_mirror)}
[ "$mirror" ] || fail "apt knows no Debian archive here (SONDE_DEBIAN_MIRROR names one)"

mkdir -p "$cache" || exit 1
tmp=$(mktemp -d "$cache/.$ver.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/x" "$tmp/debs" "$tmp/new/modules" "$tmp/none"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
signed=
[ -r $keyring ] && signed=",signed-by=$keyring"
for suite in $(suites_of "$ver"); do
	echo "deb [arch=amd64$signed] $mirror $suite main"
done >"$tmp/sources"

own_apt() {
	tool=$1
	shift
	$tool -q -o Dir::Etc::sourcelist="$tmp/sources" -o Dir::Etc::sourceparts="$tmp/none" \
		-o Dir::State::lists="$tmp/lists" -o Dir::Cache="$tmp/cache" \
		-o Dir::Etc::preferencesparts="$tmp/none" -o APT::Architecture=amd64 \
		-o Acquire::Languages=none -o APT::Sandbox::User=root -o Acquire::Retries=2 "$@"
}

# A suite that is missing there (404) does not matter when another has the kernel.
own_apt apt-get update >"$tmp/log" 2>&1
image=$(own_apt apt-cache search --names-only "^linux-image-$(echo "$ver" | sed 's/\./\\./')[-.+][^ ]*-amd64\$" |
	sed 's/ .*//' | grep -v -e rt- -e cloud- -e dbg -e unsigned | sort -V | tail -n 1)
[ "$image" ] ||
	fail "no linux-image-$ver* in the suites $(suites_of "$ver") of $mirror: $(grep -m 1 -e '^E:' -e '^Err' "$tmp/log")"

# Since 2026 the kernel and its modules are packages of their own.
packages="$image $(own_apt apt-cache depends --important "$image" |
	sed -n 's/.*Depends: \(linux-\(binary\|modules\)-[^ ]*\)$/\1/p')"
(cd "$tmp/debs" && own_apt apt-get download $packages) >"$tmp/log" 2>&1 ||
	fail "download of $image: $(grep -m 1 '^E:' "$tmp/log")"
for deb in "$tmp"/debs/*.deb; do
	dpkg-deb -x "$deb" "$tmp/x" || fail "cannot unpack $(basename "$deb")"
done

vmlinuz=$(find "$tmp/x" -name 'vmlinuz*' -type f | head -n 1)
[ "$vmlinuz" ] || fail "no kernel in $packages"
cp "$vmlinuz" "$tmp/new/vmlinuz"
echo "${image#linux-image-}" >"$tmp/new/release"
echo "$wanted" >"$tmp/new/wanted"
for m in $wanted; do
	find "$tmp/x" \( -name "$m.ko" -o -name "$m.ko.xz" \) -exec cp '{}' "$tmp/new/modules/" \;
done
for m in "$tmp"/new/modules/*.xz; do
	[ -e "$m" ] && xz -d "$m"
done

rm -rf "${cache:?}/$ver"
mv "$tmp/new" "$cache/$ver" && echo "$cache/$ver"
