#!/bin/sh
# exports.sh BUILD - functions that a header declares although only the file that defines them uses them: they should be
# static. Tests and fuzzers count as users.
#
# It reads the object files in BUILD, so it has nothing to report where nothing was built.
set -u
build=$1
[ -d "$build/src" ] || exit 0

# "defined NAME" and "used NAME" of the program's own objects.
find "$build/src" -name '*.o' -exec nm -A {} + |
	awk '$(NF - 1) == "T" { print "defined", $NF } $(NF - 1) == "U" { print "used", $NF }' |
	awk '$1 == "used" { used[$2] = 1 } $1 == "defined" { defined[$2] = 1 }
		END { for (f in defined) if (!(f in used) && f != "main") print f }' | sort |
	while read -r name; do
		header=$(grep -rlw --include='*.h' "$name" src)
		[ "$header" ] || continue
		grep -rqw "$name" tests/unit tests/fuzz tests/viewers/draw.c bench ||
			echo "$header: $name is used in one file only: make it static"
	done | { ! grep .; }
