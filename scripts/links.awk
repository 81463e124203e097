# links.awk PAGE... PAGE... - the documentation, each page given twice: links to a page or a heading that does not exist,
# and pages of docs/ that docs/README.md does not list.
function bad(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what
	code = 1
}
# The path without "." and "..".
function plain(path) {
	while (sub(/[^\/]+\/\.\.\//, "", path))
		;
	return path
}
function exists(path,  line, found) {
	if (path ~ /\/$/)
		return 1
	found = (getline line < path) >= 0
	close(path)
	return found
}
# The anchor of a heading.
function anchor(heading) {
	heading = tolower(heading)
	gsub(/[^a-z0-9 _-]/, "", heading)
	gsub(/ /, "-", heading)
	return heading
}
FNR == 1 {
	code_block = 0
	second = FILENAME in seen
	seen[FILENAME] = 1
	folder = FILENAME
	if (!sub(/[^\/]*$/, "", folder))
		folder = ""
}
/^ *```/ { code_block = !code_block; next }
code_block { next }
!second && /^#+ / {
	sub(/^#+ /, "")
	anchors[FILENAME "#" anchor($0)] = 1
}
second {
	text = $0
	while (match(text, /\]\([^)]*\)/)) {
		link = substr(text, RSTART + 2, RLENGTH - 3)
		text = substr(text, RSTART + RLENGTH)
		if (link ~ /^[a-z]+:/)
			continue
		path = heading = link
		sub(/#.*/, "", path)
		path = path == "" ? FILENAME : plain(folder path)
		if (FILENAME == "docs/README.md")
			listed[path] = 1
		if (!(path in seen) && !exists(path))
			bad("no such page: " link)
		else if (sub(/.*#/, "", heading) && (path in seen) && !((path "#" heading) in anchors))
			bad("no such heading: " link)
	}
}
END {
	for (path in seen)
		if (path ~ /^docs\// && path != "docs/README.md" && !(path in listed)) {
			print "docs/README.md: does not list " path
			code = 1
		}
	exit code
}
