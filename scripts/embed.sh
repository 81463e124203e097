#!/bin/sh
# embed.sh FILE... - print C source that holds the files, packed in blocks of several; found by name at run time
# (base/embed.h).
set -eu
command -v gzip >/dev/null || { echo 'embed.sh: no gzip' >&2; exit 1; }
most=16384 # bytes of a block's text: what is unpacked for one file, when a tool starts
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: >"$dir/text" >"$dir/packed" >"$dir/blocks"
block=0 at=0 end=0

end_block()
{
	gzip -9nc "$dir/text" >>"$dir/packed"
	printf '\t{%d, %d, %d},\n' $end $(($(wc -c <"$dir/packed") - end)) $at >>"$dir/blocks"
	end=$(wc -c <"$dir/packed")
	block=$((block + 1)) at=0
	: >"$dir/text"
}

echo '#include "base/embed.h"'
echo 'const struct embed embedded[] = {'
for f; do
	n=$(wc -c <"$f")
	[ $at -eq 0 ] || [ $((at + n)) -lt $most ] || end_block
	printf '\t{"%s", %d, %d, %d},\n' "$f" $block $at "$n"
	cat "$f" >>"$dir/text"
	printf '\0' >>"$dir/text" # a text ends in 0
	at=$((at + n + 1))
done
end_block
printf '\t{0}\n};\n'
echo 'const struct embed_block embed_blocks[] = {'
cat "$dir/blocks"
echo '};'
echo 'const unsigned char embed_packed[] = {'
od -An -v -tx1 "$dir/packed" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
echo '};'
