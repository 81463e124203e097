#!/bin/sh
# fetch.sh VERSION [ARCH]: makes sure that a Debian kernel of that series (5.10, 7.2) is in the cache and
# prints its folder: vmlinuz, release (uname -r), modules/*.ko, those that a guest needs with what these need, in the
# order of their names, and what was asked for.
# ARCH as Debian calls it: amd64, arm64. 6.12-16k: one of arm64 with pages of that size. When that fails: why on
# stderr, exit code 1.
# $GUEST_MODULES: further modules, those that this kernel has; kept beside the folder without them.
set -u

. "$(dirname "$0")/apt.sh"
ver=${1%-*} arch=${2:-amd64} pages=${1#"${1%-*}"}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sonde/kernels
name=$1
[ "$arch" = amd64 ] || name=$1-$arch
wanted="virtio_pci 9p 9pnet_virtio overlay brd msdos vfat nls_cp437 nls_ascii
	loop crc32_generic crc32c_generic crc32c_cryptoapi sha256_generic ext4 btrfs xfs f2fs bcachefs fuse nfsd nfsv4"
if [ "${GUEST_MODULES-}" ]; then
	name=$name-more
	wanted="$wanted $GUEST_MODULES"
fi

# A 32-bit number of a file, at an offset.
word() {
	od -A n -t u4 -j "$2" -N 4 "$1" | tr -d ' '
}

# Kernels that unpack themselves under EFI only: "MZ", "zimg", where the kernel lies and how it is packed.
unpack_zboot() {
	[ "$(dd if="$1" bs=1 skip=4 count=4 2>/dev/null | tr -d '\0')" = zimg ] || return 0
	tail -c "+$(($(word "$1" 8) + 1))" "$1" | head -c "$(word "$1" 12)" >"$1.packed"
	case $(dd if="$1" bs=1 skip=24 count=8 2>/dev/null | tr -d '\0') in
	gzip) gzip -dc "$1.packed" ;;
	zstd*) zstd -dc "$1.packed" ;;
	xz*) xz -dc "$1.packed" ;;
	esac >"$1"
	rm "$1.packed"
}

# take NAME...: modules, each behind those that it names. What is built in, or not in this kernel, is no file.
take() {
	for m; do
		m=$(echo "$m" | tr - _)
		file=$(find "$tmp/x" -name "$(echo "$m" | sed 's/_/[-_]/g').ko*" | head -n 1)
		[ "$file" ] && [ ! -e "$tmp/$m.ko" ] || continue
		case $file in
		*.xz) xz -dc "$file" ;;
		*) cat "$file" ;;
		esac >"$tmp/$m.ko"
		(take $(tr '\0' '\n' <"$tmp/$m.ko" | sed -n 's/^depends=//p' | tr ',' ' '))
		cp "$tmp/$m.ko" "$tmp/new/modules/$(printf %03d "$(ls "$tmp/new/modules" | wc -l)")-$m.ko"
	done
}

# Complete, or all that can be had for now.
have() {
	[ -s "$cache/$name/vmlinuz" ] && echo "$cache/$name"
}
[ "$(cat "$cache/$name/wanted" 2>/dev/null)" = "$wanted" ] && have && exit 0

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

mkdir -p "$cache" || exit 1
tmp=$(mktemp -d "$cache/.$name.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

mkdir -p "$tmp/x" "$tmp/new/modules"
own_begin "$tmp/apt" "$arch" $(suites_of "$ver")
image=$(own_apt apt-cache search --names-only "^linux-image-$(echo "$ver" | sed 's/\./\\./')[-.+][^ ]*-$arch$pages\$" |
	sed 's/ .*//' | grep -v -e rt- -e cloud- -e dbg -e unsigned | sort -V | tail -n 1)
[ "$image" ] ||
	fail "no linux-image-$ver* in the suites $(suites_of "$ver") of $mirror: $(grep -m 1 -e '^E:' -e '^Err' "$tmp/apt/log")"

# Since 2026 the kernel and its modules are packages of their own.
packages="$image $(own_apt apt-cache depends --important "$image" |
	sed -n 's/.*Depends: \(linux-\(binary\|modules\)-[^ ]*\)$/\1/p')"
(cd "$own/debs" && own_apt apt-get download $packages) >"$tmp/apt/log" 2>&1 ||
	fail "download of $image: $(grep -m 1 '^E:' "$tmp/apt/log")"
for deb in "$own"/debs/*.deb; do
	dpkg-deb -x "$deb" "$tmp/x" || fail "cannot unpack $(basename "$deb")"
done

vmlinuz=$(find "$tmp/x" -name 'vmlinuz*' -type f | head -n 1)
[ "$vmlinuz" ] || fail "no kernel in $packages"
cp "$vmlinuz" "$tmp/new/vmlinuz"
unpack_zboot "$tmp/new/vmlinuz"
echo "${image#linux-image-}" >"$tmp/new/release"
echo "$wanted" >"$tmp/new/wanted"
take $wanted

rm -rf "${cache:?}/$name"
mv "$tmp/new" "$cache/$name" && echo "$cache/$name"
