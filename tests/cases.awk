# Turns test files (tests/run/*.t) into one shell file per case, NNN.sh in `dir`, that sets
# name, prog, args, ... and, for texts to compare, whole files beside it. run.sh reads them. `turn`, `every` and `even` are
# its options -s and -e.
function quote(s)
{
	gsub(/'/, "'\\''", s)
	return "'" s "'"
}

function bad(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text | "cat >&2"
	failed = 1
}

# Empty lines cannot stand in a block: a line with only $ means one.
function text_of(key)
{
	return key in has ? val[key] : ""
}

# A number made of the name's letters and digits: where a case runs does not depend on what other cases there are.
function hash_of(text,    i, at, hash)
{
	for (i = 1; i <= length(text); i++)
		if (at = index("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", substr(text, i, 1)))
			hash = (hash * 37 + at) % 65521
	return hash + 0
}

# Of the cases that ask for nothing of the kernel, or only for what all have, and of slow ones, each every-th runs; with
# `even` of all cases.
function left_out()
{
	if (!even && val["NEEDS"] !~ /(^| )slow( |$)/ && (source ~ /^vm-/ || val["NEEDS"] ~ /(kprobe|fentry|vm|hardware|before:|since:|sym:|feature:|btf:)/))
		return 0
	return hash_of(val["NAME"]) % every != turn % every
}

function finish(    file, key)
{
	if (!("NAME" in has))
		return
	if (left_out()) {
		for (key in has) {
			delete val[key]
			delete has[key]
		}
		last = ""
		return
	}
	file = sprintf("%s/%03d", dir, ++n)
	printf "" >(file ".sh")
	for (key in has) {
		if (key ~ /^(EXPECT|ERR)(_RE)?$/)
			printf "%s", val[key] >(file ".want_" tolower(key))
		else {
			sub(/\n$/, "", val[key])
			printf "%s=%s\n", tolower(key), quote(val[key]) >(file ".sh")
		}
		if (key == "ALONE")
			printf "" >(file ".alone")
	}
	printf "file=%s\n", quote(source) >(file ".sh")
	close(file ".sh")
	for (key in has) {
		close(file ".want_" tolower(key))
		close(file ".alone")
		delete val[key]
		delete has[key]
	}
	last = ""
}

FNR == 1 {
	finish()
	source = FILENAME
	sub(/.*\//, "", source)
}
/^#/ { next }
/^$/ {
	last = ""
	next
}
/^\t/ {
	if (last == "")
		bad("a continued line without a keyword")
	line = substr($0, 2)
	if (line == "$")
		line = ""
	val[last] = val[last] line "\n"
	next
}
{
	if ($1 !~ /^(NAME|PROG|ARGS|PARAMS|RUN|LOAD|ENV|EXPECT|EXPECT_RE|ERR|ERR_RE|RC|TIMEOUT|NEEDS|ALONE)$/)
		bad("unknown keyword " $1)
	if ($1 == "NAME")
		finish()
	last = $1
	has[last] = 1
	line = $0
	sub(/^[A-Z_]+[ \t]*/, "", line)
	val[last] = line == "" ? "" : line "\n"
}
END {
	finish()
	if (failed)
		exit 1
	print n
}
