# Comments that a formatter has poured together, which nobody can read any more:
# text glued to the star of its line, and a member torn from its type by the comment behind it.
function bad(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what
	code = 1
}
FNR == 1 { inside = 0; last = "" }
inside && /^[ \t]*\*[A-Za-z0-9.]/ { bad("a reflowed comment: lay it out by hand") }
last ~ /^\t+[A-Za-z][^;,(){}:=]*[A-Za-z0-9_*)]$/ && /^\t+\**[a-z][a-z0-9_]*[;,][ \t]*\/\*/ {
	bad("a member torn from its type: put the comment above it")
}
{
	last = $0
	rest = $0
	while (rest != "") {
		at = index(rest, inside ? "*/" : "/*")
		if (!at)
			break
		rest = substr(rest, at + 2)
		inside = !inside
	}
}
END { exit code }
