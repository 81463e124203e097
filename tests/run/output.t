# Formats: chosen by -f or by the file's ending, with options; nothing is left behind when there is nothing to show.
NAME output: folded by the ending
RUN cd "$TMPDIR" && "$SONDE" -q -o x.folded -e 'BEGIN { @[kstack(raw), "a"] = count(); }' && sed 's/;[0-9a-f]*/;ADDR/g' x.folded | cut -c 1-7; ls x*
EXPECT
	a;ADDR;
	x.folded

NAME output: nothing to show, and the old file stays
RUN cd "$TMPDIR" && echo old >y.folded; "$SONDE" -q -o y.folded -e 'BEGIN { @x = 1; printf("text\n"); }' 2>&1; echo $?; cat y.folded; ls y*
EXPECT
	ERROR: -o y.folded (format folded) shows maps that count stacks, as in @[ustack] = count(); @x: its key holds no stack
	1
	old
	y.folded

NAME output: options
RUN for f in folded:wide folded:annotate=1 json:x xml; do "$SONDE" -f $f -e 'BEGIN { }' 2>&1 | head -n 1; done; "$SONDE" --diff a -e 'BEGIN { }' 2>&1 | head -n 1
EXPECT
	ERROR: format folded has no option 'wide'; it has: annotate, delimiter
	ERROR: option 'annotate' of format folded takes no value
	ERROR: format json has no option 'x'
	ERROR: Invalid output format "xml"
	ERROR: format text has no option 'diff'

NAME output: a heat map of two prints, and what has no intervals
RC 1
RUN
	cd "$TMPDIR" &&
		"$SONDE" -q -f heat:unit=us -o h.svg -e 'BEGIN { @h = hist(5); @h = hist(700); print(@h); @h = hist(5); print(@h); clear(@h); exit(); }' &&
		grep -o '<desc>.*</desc>' h.svg
	"$SONDE" -q -f heat -e 'BEGIN { @h = hist(5); }' 2>&1
EXPECT
	<desc>3 values of @h in 2 intervals</desc>
	ERROR: -f heat shows histograms that are printed at intervals, as in @h = hist(x) and interval:s:1 { print(@h); }; @h: it is printed only at the end

NAME output: heat maps of tools: at intervals, empty ones too; refused before tracing where they print once
RUN
	cd "$TMPDIR"
	"$SONDE" -q -f heat -o h.svg runqlat 1 -- sh -c 'sleep 3.4' &&
		grep -oE '<text class="title"[^>]*>[^<]*|<desc>.*values of waits in 3 intervals|y="[0-9.]*" text-anchor="end">[0-9]+ [mu]?s<' h.svg |
		sed 's/.*>//; s/[0-9]* values/N values/; s/[0-9]* [mu]*s</a time/' | uniq
	"$SONDE" -q -f heat -o no.svg runqlat 2>&1; "$SONDE" -q -f heat -e 'begin { @h = hist(5); } interval:s:600 { exit(); } end { print(@h); }' 2>&1; ls
	"$SONDE" -q -f flame -o f.svg -c /bin/true -e 'begin { @[kstack, 1] = count(); }' &&
		grep -oE '<text class="title"[^>]*>[^<]*' f.svg | sed 's/.*>//'
	grep -c "$(uname -n), 20[0-9-]* [0-9:]*</text>" f.svg
NEEDS tp:sched/sched_switch
TIMEOUT 60
EXPECT
	N values of waits in 3 intervals
	runqlat 1 -- sh -c sleep 3.4
	a time
	ERROR: -f heat shows histograms that are printed at intervals; with these options runqlat has none
	ERROR: -f heat shows histograms that are printed at intervals, as in @h = hist(x) and interval:s:1 { print(@h); }; @h: it is printed only at the end
	h.svg
	begin { @[kstack, 1] = count(); } -c &#39;/bin/true&#39;
	1

NAME output: maps that can be shown and stay empty are reported at the end
RUN
	cd "$TMPDIR" && "$SONDE" -q -o e.svg -e 'begin { @x = 1; exit(); } tracepoint:syscalls:sys_enter_getppid /pid == 0/ { @[kstack] = count(); }' 2>&1
	"$SONDE" -q -f heat -e 'begin { @h = hist(5); print(@h); clear(@h); exit(); }' 2>&1; ls
EXPECT
	ERROR: -f flame shows maps that count stacks, as in @[ustack] = count(); @x: its key holds no stack
	ERROR: -f heat shows how histograms change: print @h at intervals, as in interval:s:1 { print(@h); }

NAME output: what has nothing to show is refused before it is traced
RUN
	cd "$TMPDIR"
	see() { "$SONDE" "$@" 2>&1; }
	see -o x.svg -e 'interval:s:600 { @x = 1; @y[comm] = count(); }'
	see -f speedscope -e 'interval:s:600 { @[comm, kstack] = avg(1); }'
	see -f heat -e 'interval:s:600 { @[kstack] = count(); print(@); }'
	see -f pprof -e 'interval:s:600 { print(1); }'
	see -f flame opensnoop
	see -f heat execsnoop
	ls
EXPECT
	ERROR: -o x.svg (format flame) shows maps that count stacks, as in @[ustack] = count(); @x: its key holds no stack; @y: its key holds no stack
	ERROR: -f speedscope shows maps that count stacks, as in @[ustack] = count(); @: averages, minima and maxima cannot be added up; use sum() or count()
	ERROR: -f heat shows histograms that are printed at intervals, as in @h = hist(x) and interval:s:1 { print(@h); }; @: it is no histogram
	ERROR: -f pprof shows maps that count stacks, as in @[ustack] = count(); the script has no map
	ERROR: -f flame shows maps that count stacks; with these options opensnoop has none
	ERROR: -f heat shows histograms that are printed at intervals; with these options execsnoop has none

NAME metrics for Prometheus: names, labels, values
RUN
	"$SONDE" -q -o $TMPDIR/m.prom -e 'begin { @ = 7; @calls[(comm = "a\"b\\c", le = 1, x = true)] = 5; @calls[(comm = "d", le = -2, x = false)] = -6; @two["x", 3] = count(); @text = "left out"; @avg = avg(7); @avg = avg(8); @big = 0x7fffffffffffffff; print(@big); @big = 12; exit(); }'
	cat $TMPDIR/m.prom
	ls $TMPDIR
EXPECT
	# TYPE sonde_big gauge
	sonde_big 12
	# TYPE sonde gauge
	sonde 7
	# TYPE sonde_avg gauge
	sonde_avg 7
	# TYPE sonde_calls gauge
	sonde_calls{comm="a\"b\\c",key_le="1",x="true"} 5
	sonde_calls{comm="d",key_le="-2",x="false"} -6
	# TYPE sonde_two gauge
	sonde_two{key1="x",key2="3"} 1
	m.prom

NAME metrics for Prometheus: histograms and stats
RUN
	"$SONDE" -q -f prometheus -e 'begin { @l["a"] = lhist(-1, 0, 4, 2); @l["a"] = lhist(1, 0, 4, 2); @l["a"] = lhist(9, 0, 4, 2); @l["b"] = lhist(3, 0, 4, 2); @h = hist(0); @h = hist(5); @s[1] = stats(10); @s[1] = stats(3); exit(); }'
EXPECT
	# TYPE sonde_h histogram
	sonde_h_bucket{le="0"} 1
	sonde_h_bucket{le="1"} 1
	sonde_h_bucket{le="3"} 1
	sonde_h_bucket{le="7"} 2
	sonde_h_bucket{le="+Inf"} 2
	sonde_h_count 2
	# TYPE sonde_l histogram
	sonde_l_bucket{key="a",le="-1"} 1
	sonde_l_bucket{key="a",le="1"} 2
	sonde_l_bucket{key="a",le="3"} 2
	sonde_l_bucket{key="a",le="+Inf"} 3
	sonde_l_count{key="a"} 3
	sonde_l_bucket{key="b",le="-1"} 0
	sonde_l_bucket{key="b",le="1"} 0
	sonde_l_bucket{key="b",le="3"} 1
	sonde_l_bucket{key="b",le="+Inf"} 1
	sonde_l_count{key="b"} 1
	# TYPE sonde_s summary
	sonde_s_count{key="1"} 2
	sonde_s_sum{key="1"} 13

NAME metrics for Prometheus: keys that look alike are one series, and what was lost is one
RUN
	"$SONDE" -f prometheus -q -e 'config = { max_map_keys = 2 }
		begin { $a = (uint64)kaddr("vfs_read"); @sum[ksym($a)] = sum(3); @sum[ksym($a + 1)] = sum(4); @last[ksym($a)] = 3; @last[ksym($a + 1)] = 2; @full[1] = 1; @full[2] = 1; @full[3] = 1; exit(); }' 2>/dev/null
EXPECT
	# TYPE sonde_full gauge
	sonde_full{key="1"} 1
	sonde_full{key="2"} 1
	# TYPE sonde_last gauge
	sonde_last{key="vfs_read"} 3
	# TYPE sonde_sum gauge
	sonde_sum{key="vfs_read"} 7
	# TYPE sonde_trace_losses gauge
	sonde_trace_losses{kind="map_full",of="@full"} 1

NAME results behind what a file has
RUN
	for n in 1 2; do "$SONDE" -q --append -o $TMPDIR/f -e 'begin { printf("run %d\n", $1); exit() }' $n; done
	"$SONDE" -q -o $TMPDIR/g -e 'begin { printf("long line\n"); exit() }'; "$SONDE" -q -o $TMPDIR/g -e 'begin { printf("new\n"); exit() }'
	grep . $TMPDIR/f $TMPDIR/g | sed 's/.*\///'
	"$SONDE" --append -o $TMPDIR/x.svg -e 'begin { }' 2>&1; "$SONDE" --append -e 'begin { }' 2>&1; ls $TMPDIR
EXPECT
	f:run 1
	f:run 2
	g:new
	ERROR: --append: a file of format flame is one whole
	ERROR: --append needs -o FILE
	f
	g
