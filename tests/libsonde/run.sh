#!/bin/sh
# run.sh [BUILD] - libsonde, installed into a folder of its own: what it shows to others, the example of docs/, and
# tests/libsonde/sessions.c under the sanitizers, with the shared library and with the archive. As root; a compiler in $CC.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build} cc=${CC:-cc} failed=0 n=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

ok() { # WHAT: of the last command's exit status
	rc=$?
	n=$((n + 1))
	[ $rc = 0 ] && echo "ok $n - $1" && return
	echo "not ok $n - $1"
	sed 's/^/# /' "$tmp/log"
	failed=1
}

make -s B="$build" install-dev DESTDIR="$tmp" PREFIX=/usr > "$tmp/log" 2>&1
ok 'make install-dev'
lib=$tmp/usr/lib
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR=$tmp LD_LIBRARY_PATH=$lib
nm -D --defined-only "$lib/libsonde.so" | awk '$3 !~ /^sonde_/ { print; bad = 1 } END { exit bad || !NR }' > "$tmp/log"
ok 'the shared library shows only sonde_*'
nm -g --defined-only "$lib/libsonde.a" | awk 'NF == 3 && $3 !~ /^sonde_/ { print; bad = 1 } NF == 3 { n++ } END { exit bad || !n }' > "$tmp/log"
ok 'the archive shows only sonde_*'
readelf -d "$lib/libsonde.so" | grep -q 'SONAME.*\[libsonde\.so\.0\]' > "$tmp/log"
ok 'the soname is libsonde.so.0'
echo '#include <sonde/sonde.h>' > "$tmp/only.cc"
# shellcheck disable=SC2046
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags libsonde) "$tmp/only.cc" > "$tmp/log" 2>&1
ok 'the header is one of C++, too'
# shellcheck disable=SC2046
$cc -Wall -Wextra -Werror docs/libsonde.c $(pkg-config --cflags --libs libsonde) -o "$tmp/example" > "$tmp/log" 2>&1
ok 'the example is built with pkg-config'
"$tmp/example" > "$tmp/log" 2>&1 && grep -q '^one second is over$' "$tmp/log" && grep -qE '^[^ ].* [1-9][0-9]*$' "$tmp/log"
ok 'the example counts system calls'
sane='-g -fsanitize=address,undefined -fno-sanitize-recover=undefined'
# shellcheck disable=SC2046,SC2086
$cc -Wall -Wextra -Werror $sane tests/libsonde/sessions.c $(pkg-config --cflags --libs libsonde) -lpthread -o "$tmp/shared" > "$tmp/log" 2>&1
ok 'sessions.c is built with the shared library'
"$tmp/shared" > "$tmp/log" 2>&1 && ! grep -q '^not ok' "$tmp/log"
ok 'sessions of the shared library'
archives=$(pkg-config --static --libs libsonde | sed 's/-lsonde//')
# shellcheck disable=SC2046,SC2086
$cc -Wall -Wextra -Werror tests/libsonde/sessions.c $(pkg-config --cflags libsonde) "$lib/libsonde.a" $archives -lpthread -o "$tmp/static" > "$tmp/log" 2>&1
ok 'sessions.c is built with the archive'
"$tmp/static" > "$tmp/log" 2>&1 && ! grep -q '^not ok' "$tmp/log"
ok 'sessions of the archive'
echo "1..$n"
exit $failed
