#!/bin/sh
# rooted.sh PROGRAM ARGUMENT... - a program as a container has it: in namespaces of its own, with a root of its own. The
# program's folder is at a path that exists there alone (/inside); all others are this machine's. As root.
program=$(readlink -f "$1")
shift
# shellcheck disable=SC2016
exec unshare --mount --propagation private --ipc --uts --cgroup sh -c '
	program=$1
	shift
	here=$(pwd)
	root=$(mktemp -d) && mount -t tmpfs tmpfs "$root" || exit
	for entry in /*; do
		name=${entry#/}
		if [ -L "$entry" ]; then
			cp -P "$entry" "$root/$name" || exit
		elif [ -d "$entry" ]; then
			bind=--bind
			case $name in proc | sys | dev) bind=--rbind ;; esac
			mkdir "$root/$name" && mount $bind "$entry" "$root/$name" || exit
		fi
	done
	# which may be a mount of its own
	mount --bind "$here" "$root$here" || exit
	mkdir "$root/inside" "$root/before" && mount --bind "${program%/*/*}" "$root/inside" || exit
	cd "$root" && pivot_root . before && umount -l /before || exit
	rmdir /before "$root"
	cd "$here" || exit
	exec /inside/"${program#"${program%/*/*}"/}" "$@"' rooted "$program" "$@"
