# Formats: chosen by -f or by the file's ending, with options; nothing is left behind when there is nothing to show.
NAME output: folded by the ending
RUN cd "$TMPDIR" && "$SONDE" -q -o x.folded -e 'BEGIN { @[kstack(raw), "a"] = count(); }' && sed 's/;[0-9a-f]*/;ADDR/g' x.folded | cut -c 1-7; ls x*
EXPECT
	a;ADDR;
	x.folded

NAME output: nothing to show, and the old file stays
RUN cd "$TMPDIR" && echo old >y.folded; "$SONDE" -q -o y.folded -e 'BEGIN { @x = 1; printf("text\n"); }' 2>&1; echo $?; cat y.folded; ls y*
EXPECT
	text
	ERROR: -f folded shows maps that count stacks, as in @[ustack] = count(); @x: its key holds no stack
	1
	old
	y.folded

NAME output: options
RUN for f in folded:wide folded:annotate=1 json:x xml; do "$SONDE" -f $f -e 'BEGIN { }' 2>&1 | head -n 1; done; "$SONDE" --diff a -e 'BEGIN { }' 2>&1 | head -n 1
EXPECT
	ERROR: format folded has no option 'wide'; it has: annotate
	ERROR: option 'annotate' of format folded takes no value
	ERROR: format json has no option 'x'
	ERROR: Invalid output format "xml"
	ERROR: format text has no option 'diff'

NAME output: a heat map of two prints, and what has no intervals
RC 1
RUN cd "$TMPDIR" && "$SONDE" -q -f heat:unit=us -o h.svg -e 'BEGIN { @h = hist(5); @h = hist(700); print(@h); @h = hist(5); print(@h); clear(@h); exit(); }' && grep -o '<desc>.*</desc>' h.svg; "$SONDE" -q -f heat -e 'BEGIN { @h = hist(5); }' 2>&1
EXPECT
	<desc>3 values of @h in 2 intervals</desc>
	ERROR: -f heat shows how histograms change: print @h at intervals, as in interval:s:1 { print(@h); }
