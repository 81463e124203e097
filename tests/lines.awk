# lines.awk WANTED GOT: exits 0 when GOT's lines match WANTED's, each an extended regular expression
# for one whole line (no {n}: not every awk has it); a line `...` stands for any number of lines.
NR == FNR {
	want[++nwant] = $0
	next
}
{ got[++ngot] = $0 }

function match_from(i, j)
{
	for (; i <= nwant; i++) {
		if (want[i] == "...") {
			for (; j <= ngot + 1; j++)
				if (match_from(i + 1, j))
					return 1
			return 0
		}
		if (j > ngot || got[j] !~ ("^(" want[i] ")$")) {
			if (j > reached)
				reached = j
			return 0
		}
		j++
	}
	return j > ngot
}
END {
	if (match_from(1, 1))
		exit 0
	if (reached)
		printf "line %d does not match: %s\n", reached, got[reached]
	exit 1
}
