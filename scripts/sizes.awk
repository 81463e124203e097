# sizes.awk FILE... - no function above 70 lines, no file above 1000 (the grammar: 1300).
FNR == 1 { limit = FILENAME ~ /lang\/(bt|d)\.c$/ ? 1300 : 1000; start = 0 }
FNR == limit + 1 { printf "%s: more than %d lines\n", FILENAME, limit; bad = 1 }
/^\{/ { start = FNR }
/^\}/ {
	if (start && FNR - start - 1 > 70) {
		printf "%s:%d: function of %d lines\n", FILENAME, start, FNR - start - 1
		bad = 1
	}
	start = 0
}
END { exit bad }
