#!/bin/sh
# embed.sh FILE... - print C source that holds the files, each packed; found by name at run time (base/embed.h).
set -eu
command -v gzip >/dev/null || { echo 'embed.sh: no gzip' >&2; exit 1; }
packed=$(mktemp)
trap 'rm -f "$packed"' EXIT
echo '#include "base/embed.h"'
echo 'const struct embed embedded[] = {'
at=0
for f; do
	gzip -9nc "$f" >>"$packed"
	end=$(($(wc -c <"$packed")))
	printf '\t{"%s", %d, %d, %d},\n' "$f" $at $((end - at)) $(($(wc -c <"$f")))
	at=$end
done
printf '\t{0}\n};\n'
echo 'const unsigned char embed_packed[] = {'
od -An -v -tx1 "$packed" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
echo '};'
