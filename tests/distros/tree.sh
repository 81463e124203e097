#!/bin/sh
# A command in a bare tree of a Debian release, as root:
#
#   tests/distros/tree.sh [-s] [-o DIR] SUITE COMMAND...
#
# in a copy of the tree, which is removed afterwards.
#
# The tree is what `debootstrap --variant=minbase` makes: a new machine. It is made once, from the mirror
# of this machine's apt (or $SONDE_MIRROR), and kept in $SONDE_TREES (/var/cache/sonde-trees), as are the
# packages that copies install; one that is older than 30 days is made anew if that works. -s: the source
# is in /src, as a fresh clone would have it; the command starts there. -o: DIR is /out.
# /proc, /sys and /dev are this machine's. Exit code 75: the tree cannot be had, and why is said.
set -u

source= out=
while getopts so: o; do
	case $o in
	s) source=y ;;
	o) out=$(realpath "$OPTARG") ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
suite=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
trees=${SONDE_TREES:-/var/cache/sonde-trees}
tree=$trees/$suite

no_tree() {
	echo "no tree of $suite: $*"
	exit 75
}

# A mirror of this machine that has Debian itself (not its security updates, nor another distribution).
mirror() {
	[ -z "${SONDE_MIRROR-}" ] || { echo "$SONDE_MIRROR"; return; }
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(SUITE) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
		awk '$1 !~ /-/ { print $2; exit }'
}

make_tree() {
	command -v debootstrap >/dev/null || no_tree 'debootstrap is not installed'
	from=$(mirror)
	[ "$from" ] || no_tree "apt here knows no mirror of Debian; name one: SONDE_MIRROR=URL"
	rm -rf --one-file-system "$tree.part"
	if timeout 900 debootstrap --variant=minbase "$suite" "$tree.part" "$from" >"$tree.log" 2>&1; then
		[ ! -e "$tree" ] || rm -rf --one-file-system "$tree"
		mv "$tree.part" "$tree"
		rm -f "$tree.log"
	elif [ ! -e "$tree" ]; then
		no_tree "$(tail -n 1 "$tree.log") (the whole of it: $tree.log)"
	fi
}

# The files of the source: git's, as they are in the folder; without git all but what was built.
copy_source() {
	mkdir "$1/src"
	if git -C "$root" rev-parse >/dev/null 2>&1; then
		(cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null |
			tar -c -T - | tar -x --no-same-owner -C "$1/src")
	else
		(cd "$root" && tar -c --exclude=./build . | tar -x --no-same-owner -C "$1/src")
	fi
}

[ "$(id -u)" = 0 ] || no_tree 'it takes root'
mkdir -p "$trees" || no_tree "cannot write $trees"
exec 9>"$tree.lock"
flock 9
[ -n "$(find "$tree" -maxdepth 0 -mtime -30 2>/dev/null)" ] || make_tree

copy=$(mktemp -d "$trees/run.XXXXXX") || no_tree "cannot write $trees"
trap 'rm -rf --one-file-system "$copy"' EXIT
trap 'exit 130' INT TERM
cp -a --reflink=auto "$tree/." "$copy" || no_tree "no room in $trees"
echo force-unsafe-io >"$copy/etc/dpkg/dpkg.cfg.d/unsafe-io"
# A mirror may stand still for longer than its lists say that they are valid.
echo 'Acquire::Check-Valid-Until "false";' >"$copy/etc/apt/apt.conf.d/valid-until"
[ ! "$source" ] || copy_source "$copy"
commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null)
mkdir -p "$tree.debs/partial" "$tree.lists/partial"

# The mounts are seen by the command alone, and go with it.
# shellcheck disable=SC2016
unshare --mount --propagation private sh -c '
	copy=$1 tree=$2 folder=$3 commit=$4 out=$5
	shift 5
	mount --bind "$copy" "$copy" || exit 75
	for m in proc sys dev; do
		mount --rbind /$m "$copy/$m" || exit 75
	done
	mount --bind "$tree.debs" "$copy/var/cache/apt/archives" && mount --bind "$tree.lists" "$copy/var/lib/apt/lists" || exit 75
	mount -t tmpfs tmpfs "$copy/tmp" && mount -t tmpfs tmpfs "$copy/run" || exit 75
	[ ! "$out" ] || { mkdir "$copy/out" && mount --bind "$out" "$copy/out"; } || exit 75
	# Not chroot alone: in one the kernel refuses user namespaces.
	cd "$copy" && pivot_root . mnt || exit 75
	exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI="${CI-}" ${COMPILERS+COMPILERS="$COMPILERS"} COMMIT="$commit" \
		sh -c "umount -l /mnt && cd $folder && exec \"\$@\"" sh "$@"' tree.sh "$copy" "$tree" "${source:+/src}/" "$commit" "$out" "$@" 9>&-
