#!/bin/sh
# libs.sh OBJECT LINKER-WORDS... - the libraries that sonde is linked with, for the linker: the first
# choice that links here. $CC, $PKGS, $SHARED, $LIBC; OBJECT is that of elfutils.c.
#
# libdw.a where it links: the shared library would bring three more with it, at every start. liblzma.a,
# too: without it, symbols in .gnu_debugdata are not found, which is told where it matters.
#
# The other libraries come from archives, too, where there are archives of all, and so does the C library where the compiler
# makes position-independent programs without a dynamic linker (-static-pie): loading shared libraries takes a third of the
# time of a short script. LIBC=shared leaves the C library out of the file, SHARED=1 every library. Relocations are packed
# where linker and C library can, and what they change is read-only before main().
#
# A static file leaves out what libdw has for processors that sonde does not run on, whose table of
# machines may have none for a machine (100 KB), and the tables that would unwind through libraries (70 KB):
# $SLIM is a folder for such copies of the archives.
object=$1
shift
mode= absent= slim=
case " $* " in
*' -static '*)
	mode=--static
	for m in alpha arc bpf csky hexagon ia64 loongarch m68k mips ppc ppc64 riscv s390 sh sparc tilegx; do
		absent="$absent,--defsym=${m}_init=0"
	done
	slim=$SLIM
	;;
esac
# shellcheck disable=SC2086
common="$(pkg-config $mode --libs $PKGS) -liberty" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo 'int main(void) { return 0; }' > "$tmp/main.c"
# Between them these need all of libdw that sonde does.
roots='-Wl,-u,dwarf_begin_elf,-u,dwarf_getsrclines,-u,dwarf_getcfi_elf,-u,dwarf_cfi_addrframe,-u,dwarf_getlocation'

# The path of an archive, nothing when there is none.
archive() {
	if [ "$slim" ] && [ -e "$slim/$1" ]; then echo "$slim/$1"; else $CC -print-file-name="$1" | grep /; fi
}

make_slim() {
	mkdir -p "$slim" || exit 1
	rm -f "$slim"/*.a
	objcopy=$($CC -print-prog-name=objcopy)
	for lib in bpf elf dw z zstd lzma iberty; do
		from=$($CC -print-file-name=lib$lib.a | grep /) || continue
		"$objcopy" -R .eh_frame -R .rela.eh_frame "$from" "$slim/lib$lib.a" 2> /dev/null || rm -f "$slim/lib$lib.a"
	done
	common="-L$slim $common"
}

# The same words, with archives in the place of shared libraries; nothing when one is missing.
archives() {
	for word in $common; do
		case $word in
		-liberty) echo "$word" ;;
		-l*) archive "lib${word#-l}.a" | grep . || return ;;
		*) echo "$word" ;;
		esac
	done
}

# An old C library does not start a program whose relocations are packed, so one is started.
packs() {
	# shellcheck disable=SC2086
	$CC "$tmp/main.c" $words $1 -o "$tmp/main" > "$tmp/log" 2>&1 && ! [ -s "$tmp/log" ] && "$tmp/main" 2> "$tmp/log"
}

# A file that needs no other: its addresses are as random, and its relocations as read-only, as those of one that does.
# Sanitizers need the dynamic linker.
alone() {
	case "$words" in
	*-fsanitize*) return 1 ;;
	esac
	[ "$LIBC" != shared ] || return 1
	links "$1 -static-pie" && "$tmp/main" 2> "$tmp/log"
}

links() {
	# shellcheck disable=SC2086
	$CC "$tmp/main.c" "$object" $words $roots $1 $common -o "$tmp/main" 2> "$tmp/log"
}

words=$*
[ -z "$slim" ] || make_slim
lzma=$(archive liblzma.a)
lzma=${lzma:+-Wl,-u,lzma_stream_buffer_decode $lzma}
# A shared library cannot take in objects of archives, which are made for programs.
[ -z "${LIBRARY-}" ] || { lzma='' common="$(pkg-config --libs $PKGS) -liberty"; }
dw=$([ "${LIBRARY-}" ] || archive libdw.a)
dw=${dw:+$dw${absent:+ -Wl$absent}}
harden=
if [ -z "$mode" ]; then
	harden=-Wl,-z,now
	packed=-Wl,-z,pack-relative-relocs
	packs "$harden $packed" && harden="$harden $packed"
	if [ "$dw" ] && [ -z "$SHARED" ] && all=$(archives); then
		shared=$common
		common=$(echo $all)
		for choice in "$dw $lzma" "$dw"; do
			if alone "$choice"; then
				echo "$choice $common $harden -static-pie"
				exit
			fi
			links "$choice" || continue
			echo "$choice $common $harden"
			exit
		done
		common=$shared
	fi
fi
for choice in ${dw:+"$dw $lzma" "$dw"} "-ldw $lzma" -ldw; do
	links "$choice" || continue
	echo "$choice $common${harden:+ $harden}"
	exit
done
cat "$tmp/log" >&2
echo 'sonde needs libbpf, libelf, libdw, zlib and libiberty; none of the ways to link them works (see above)' >&2
exit 1
