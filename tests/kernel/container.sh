#!/bin/sh
# A command as a container engine would start it, as far as the kernel can tell: namespaces of its own,
# /sys mounted anew and read-only, and few capabilities. The files are this machine's.
#
#   tests/kernel/container.sh [-h] [-t] [-u] CAPABILITY,... COMMAND...
#
# CAPABILITY: what --cap-add gives beyond the engine's usual ones (bpf, perfmon ...; "none").
# -h: --pid=host. -t: -v /sys/kernel/tracing:/sys/kernel/tracing:ro. -u: started by an ordinary user, so
# that its root is one of a user namespace.
pid='--pid --fork' tracing= user=
while getopts htu o; do
	case $o in
	h) pid= ;;
	t) tracing=y ;;
	u) user='--user --map-root-user' ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
caps=,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot
caps=$caps,+mknod,+audit_write,+setfcap
[ "$1" = none ] || caps=$caps,+$(echo "$1" | sed 's/,/,+/g')
shift
# shellcheck disable=SC2016,SC2086
exec unshare $user --mount --net --ipc --uts --cgroup $pid sh -c '
	tracing=$1 caps=$2 pid=$3
	shift 3
	[ -z "$pid" ] || mount -t proc proc /proc || exit
	keep=$(mktemp -d) || exit
	mount -t tmpfs tmpfs "$keep" && mkdir "$keep/tracing" || exit
	[ -z "$tracing" ] || mount --bind /sys/kernel/tracing "$keep/tracing" || exit
	mount -t sysfs -o ro sysfs /sys || exit
	[ -z "$tracing" ] || { mount --bind "$keep/tracing" /sys/kernel/tracing && mount -o remount,bind,ro /sys/kernel/tracing; } || exit
	umount "$keep/tracing" 2>/dev/null
	umount -l "$keep" && rmdir "$keep"
	exec setpriv --bounding-set="-all$caps" --inh-caps="-all$caps" --ambient-caps=-all "$@"' \
	container "$tracing" "$caps" "$pid" "$@"
