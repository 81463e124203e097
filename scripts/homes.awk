# homes.awk FILE... - a function that a folder's header declares is defined in that folder: no layer calls into
# one above it by a declaration of its own. Tables (`extern const struct probe_type *const probe_types[]`) may be.
function folder(path,    n, p) {
	n = split(path, p, "/")
	return p[n - 1]
}
FNR == 1 { head = "" }
# A declaration or definition begins in the first column, and ends with a semicolon or goes on with a brace.
/^(#|static|typedef|extern|enum|\/|\t|\}|$)/ && head == "" { next }
/^[A-Za-z_]/ || head != "" {
	head = head " " $0
	if (head !~ /\(/ || head ~ /^ (struct|union|enum) [a-z_]+ *\{/) {
		if ($0 ~ /[;{}]$/ || $0 !~ /[A-Za-z_*]$/)
			head = ""
		next
	}
	if ($0 !~ /;( *\/\*.*)?$/ && $0 !~ /^\{/ && $0 !~ /\*\/$/)
		next
	name = head
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (FILENAME ~ /\.h$/) {
		declared[name] = FILENAME
		at[name] = FNR
	} else if ($0 ~ /^\{/) {
		home[name] = folder(FILENAME)
	}
	head = ""
}
END {
	for (name in declared) {
		n++
		if (name in home && home[name] != folder(declared[name])) {
			printf "%s:%d: %s() is defined in %s/\n", declared[name], at[name], name, home[name]
			bad = 1
		}
		found += name in home
	}
	if (found < 500 || found < n * 0.9) {
		printf "homes.awk: only %d of %d declared functions were found\n", found, n
		bad = 1
	}
	exit bad
}
