#!/bin/sh
# http.sh LINKER-WORDS... - what the web server of sonde serve is linked with; nothing when there is none. $CC, $HTTP.
#
# libmicrohttpd can encrypt by libgnutls, which we do not let it: with it come nine libraries at every start, and some of
# them have no archive. So it comes from its archive, whose calls of libgnutls lead to a function of ours that does nothing.
# Without that archive it is a shared library.
[ "$HTTP" ] || exit 0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/main.c" << 'END'
#include <microhttpd.h>
int no_tls(void);
int no_tls(void) { return 0; }
int main(void) { return !MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, 0, 0, 0, 0, MHD_OPTION_END); }
END
nm=$($CC -print-prog-name=nm)
archive=$($CC -print-file-name=libmicrohttpd.a | grep /)
tls=$([ -z "$archive" ] || "$nm" -u "$archive" 2> /dev/null | sed -n 's/^ *U \(gnutls_[a-z0-9_]*\)$/-Wl,--defsym=\1=no_tls/p' | sort -u | tr '\n' ' ')
for words in "${archive:+$archive -Wl,-u,no_tls $tls-lpthread}" -lmicrohttpd; do
	# shellcheck disable=SC2086
	if [ "$words" ] && $CC $(pkg-config --cflags "$HTTP") "$tmp/main.c" "$@" $words -o "$tmp/main" 2> /dev/null; then
		echo "$words"
		exit
	fi
done
