# structs.awk FILE... - the structs that everything passes through stay small, and the unit stays data: what a run
# knows, what a probe type and an attach method are have so many members at most; no member of what the compiler hands to
# the runtime is of the machine, of messages, of the tree, of code in the making or of a run.
BEGIN {
	most["session"] = 14
	most["reporter"] = 12
	most["probe_type"] = most["method"] = 13
	data["unit"] = data["map"] = data["prog"] = data["schema"] = data["columns"] = 1
	other = "struct (host|diags?|arena|node|compile|sema|lower|fn|blk|live|session|link|syms|reader) "
}
function members(text,    n, was) {
	do { # arguments, and the names of members that are functions
		was = text
		sub(/\([^()]*\)/, "", text)
	} while (text != was)
	gsub(/\[[^]]*\]/, "", text)
	return gsub(/[,;]/, "", text)
}
FNR == 1 { name = ""; inside = 0 }
{
	line = $0
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
	if (inside && !sub(/^.*\*\//, "", line))
		next
	inside = sub(/\/\*.*$/, "", line)
}
match($0, /^struct [a-z_]+ \{/) {
	name = $2
	body = ""
	next
}
name != "" && /^\}/ {
	n = members(body)
	seen[name] = 1
	if (name in most && n > most[name]) {
		printf "%s:%d: struct %s has %d members, more than %d\n", FILENAME, FNR, name, n, most[name]
		bad = 1
	}
	name = ""
}
name in data && line ~ other {
	printf "%s:%d: struct %s is data: %s\n", FILENAME, FNR, name, line
	bad = 1
}
name != "" { body = body line }
END {
	for (s in most)
		if (!(s in seen)) {
			printf "structs.awk: no struct %s was found\n", s
			bad = 1
		}
	for (s in data)
		if (!(s in seen)) {
			printf "structs.awk: no struct %s was found\n", s
			bad = 1
		}
	exit bad
}
