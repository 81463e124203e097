# judge.awk -v case=PREFIX -v rc=GOT -v wanted=RC -v kinds="expect err_re ...": compares what a case
# printed (PREFIX.out, PREFIX.err) with what it should (PREFIX.want_KIND) and prints a line for each
# difference, none when it passed. Texts are compared line by line, so that a missing last newline
# is forgiven. strict=n: errors on stderr do not matter. In a *_re text each line is a regular expression for one whole line (no {n}: not
# every awk has it), and a line `...` stands for any number of lines.
function load(file, a,    n)
{
	n = 0
	while ((getline line <file) > 0)
		a[++n] = line
	close(file)
	return n
}

function same()
{
	if (nwant != ngot)
		return 0
	for (k = 1; k <= nwant; k++)
		if (want[k] != got[k])
			return 0
	return 1
}

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
	if (j <= ngot && j > reached)
		reached = j
	return j > ngot
}

function compare(kind, got_file)
{
	nwant = load(case ".want_" kind, want)
	ngot = load(got_file, got)
	if (kind !~ /_re$/) {
		if (!same())
			print "differs: " kind
		return
	}
	reached = 0
	if (!match_from(1, 1))
		print "differs: " kind ", line " reached
}

BEGIN {
	if (rc != wanted)
		print "exit code " rc ", not " wanted
	n = split(kinds, kind, " ")
	for (i = 1; i <= n; i++) {
		compare(kind[i], case (kind[i] ~ /^err/ ? ".err" : ".out"))
		if (kind[i] ~ /^err/)
			judged = 1
	}
	if (!judged && wanted == 0 && strict == "")
		while ((getline line <(case ".err")) > 0)
			if (line ~ /ERROR:|BUG|Sanitizer|runtime error:/)
				print "stderr: " line
}
