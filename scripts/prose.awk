# prose.awk PAGE... - the documentation: lines of at most 120 columns, and none of the phrases below, which have a plain
# English word. Tables, code, lists of messages, macros of man pages, and what `make bench` writes into performance.md
# are not checked for their width.
function bad(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what
	code = 1
}
# instead(PATTERN, WORD): a line that has the pattern as words of their own should say WORD. A phrase may begin on the
# line before, whose last words are in `tail`.
function instead(pattern, word,  alone) {
	alone = "(^|[^a-z])(" pattern ")([^a-z]|$)"
	if (tolower(text) ~ alone || (tolower(tail " " text) ~ alone && tolower(tail) !~ alone))
		bad("\"" pattern "\": say " word)
}
# The last three words of a line.
function last_words(line,  word, n) {
	n = split(line, word, " ")
	return (n > 2 ? word[n - 2] " " : "") (n > 1 ? word[n - 1] " " : "") word[n]
}
FNR == 1 {
	code_block = 0
	tail = ""
	generated = FILENAME ~ /performance\.md$/
	# Its rows are names of tests.
	audit = FILENAME ~ /tests\/audit\.md$/
}
/^## Prices of mechanisms/ { generated = 0 }
/^ *```/ { code_block = !code_block; tail = ""; next }
code_block || /^<!--/ { next }
{
	text = $0
	gsub(/`[^`]*`/, "", text)
	table = text ~ /^ *\|/
	macro = text ~ /^\./ && FILENAME ~ /^man\//
	quoted = $0 ~ /^[0-9]+\. `[^`]*`$/
	if (length($0) > 120 && !table && !macro && !quoted && !generated)
		bad("more than 120 columns")
	if (table && audit)
		next
	instead("(is|are|was|were|be) (told|said)", "reported, printed")
	instead("nothing is (said|told)", "there is no message")
	instead("tells? (of|about|what|no|how|whether|where)", "reports, shows, describes")
	instead("hears?|heard", "reads, receives, is notified")
	instead("(stands?|lies?) (in|behind|beside|below|there)", "is in, is after, is next to")
	instead("goes by", "depends on, uses")
	instead("(the|its|their) (like|kin)", "similar tools, similar functions")
	instead("that one|of the others", "the noun")
	instead("all the same", "nevertheless, anyway")
	instead("for want of", "for lack of")
	instead("what is not there", "what is missing")
	instead("exit code", "exit status")
	if (text ~ /(^|[.:;|] )Who / && text !~ /\?/)
		bad("\"Who ...\": say the user, the caller, the script")
	instead("theirs", "the noun")
	instead("behind (what|it|one|a|the) (has|have|is|are|option|letter|name)", "after")
	instead("(write|writes|written|put|puts) behind", "append to")
	instead("(for|after|in) so long", "for this time")
	instead("in silence", "without a message")
	tail = table ? "" : last_words(text)
}
END { exit code }
