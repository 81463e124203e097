# modules.sh - modules of a test guest that are not loaded yet, in $modules: NAME.ko, and what it needs in NAME.needs.
# Each makes the lists of the kernel's functions longer, which an emulated processor reads again and again.
# shellcheck shell=sh

# load_module NAME: behind those that it needs. Of one that this kernel does not have, nothing.
load_module() {
	[ ! -e "/sys/module/$1" ] && [ -e "$modules/$1.ko" ] || return 0
	read -r line <"$modules/$1.needs"
	for needed in $line; do
		load_module "$needed"
	done
	"${busybox:-busybox}" insmod "$modules/$1.ko"
}
