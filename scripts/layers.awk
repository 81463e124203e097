# layers.awk LAYERS FILE... - a file may include only its own folder and those LAYERS allows.
# A folder's name says it, wherever it stands below src/.
FILENAME ~ /LAYERS$/ {
	if ($0 !~ /^#/ && NF) {
		dir = $1
		sub(":", "", dir)
		for (i = 2; i <= NF; i++)
			ok[dir, $i] = 1
		ok[dir, dir] = 1
	}
	next
}
FNR == 1 {
	n = split(FILENAME, p, "/")
	dir = p[n - 1]
}
/^#include "/ {
	split($2, q, "\"")
	n = split(q[2], r, "/")
	if (n > 1 && !((dir, r[1]) in ok)) {
		printf "%s:%d: %s/ may not include %s\n", FILENAME, FNR, dir, q[2]
		bad = 1
	}
}
END { exit bad }
