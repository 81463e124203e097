# prose.awk PAGE... - the documentation: lines of at most 120 columns, and none of the phrases below, which have a plain
# English word. Tables, code, and what `make bench` writes into performance.md are not checked for their width.
function bad(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what
	code = 1
}
# instead(PATTERN, WORD): a line that has the pattern as words of their own should say WORD.
function instead(pattern, word) {
	if (tolower(text) ~ ("(^|[^a-z])(" pattern ")([^a-z]|$)"))
		bad("\"" pattern "\": say " word)
}
FNR == 1 {
	code_block = 0
	generated = FILENAME ~ /performance\.md$/
	# Its rows are names of tests.
	audit = FILENAME ~ /compat-audit\.md$/
}
/^## Prices of mechanisms/ { generated = 0 }
/^ *```/ { code_block = !code_block; next }
code_block || /^<!--/ { next }
{
	text = $0
	gsub(/`[^`]*`/, "", text)
	table = text ~ /^ *\|/
	if (length(text) > 120 && !table && !generated)
		bad("more than 120 columns")
	if (table && audit)
		next
	instead("(is|are|was|were|be) (told|said)", "reported, printed")
	instead("nothing is (said|told)", "there is no message")
	instead("tells? of", "reports, shows")
	instead("(stands?|lies?) (in|behind|beside|below|there)", "is in, is after, is next to")
	instead("goes by", "depends on, uses")
	instead("(the|its|their) (like|kin)", "similar tools, similar functions")
	instead("that one|of the others", "the noun")
	instead("all the same", "nevertheless, anyway")
	instead("for want of", "for lack of")
	instead("what is not there", "what is missing")
	instead("exit code", "exit status")
}
END { exit code }
