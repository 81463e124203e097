#!/bin/sh
# embed.sh FILE... - print C source that holds the files, packed; found by name at run time (base/embed.h).
set -eu
command -v gzip >/dev/null || { echo 'embed.sh: no gzip' >&2; exit 1; }
echo '#include "base/embed.h"'
echo 'const unsigned char embed_packed[] = {'
cat "$@" | gzip -9nc | od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
echo '};'
echo 'const u32 embed_npacked = sizeof embed_packed;'
echo 'const struct embed embedded[] = {'
at=0
for f; do
	n=$(wc -c <"$f")
	printf '\t{"%s", %d, %d},\n' "$f" "$at" "$n"
	at=$((at + n))
done
printf '\t{0}\n};\nconst u32 embed_n = %d;\n' $at
