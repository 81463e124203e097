#!/bin/sh
# embed.sh FILE... - print C source that holds the files; found by name at run time.
echo '#include "base/embed.h"'
i=0
for f; do
	printf 'static const unsigned char f%d[] = {\n' $i
	od -An -v -tx1 "$f" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	printf '0};\n'
	i=$((i + 1))
done
echo 'const struct embed embedded[] = {'
i=0
for f; do
	printf '\t{"%s", f%d, sizeof f%d - 1},\n' "$f" $i $i
	i=$((i + 1))
done
printf '\t{0}\n};\n'
