NAME time
PROG BEGIN { time(); time("%H\n"); time("%Y-%m-%d text\n"); }
EXPECT_RE
	[0-2][0-9]:[0-5][0-9]:[0-6][0-9]
	[0-2][0-9]
	20[0-9][0-9]-[01][0-9]-[0-3][0-9] text
	$
	$

NAME strftime
PROG BEGIN { printf("%s\n", strftime("%Y-%m-%dT%H:%M:%S", nsecs)); print(strftime("%Y", nsecs)); @t = strftime("%Y", nsecs); }
EXPECT_RE
	20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]
	20[0-9][0-9]
	$
	$
	@t: 20[0-9][0-9]

NAME strftime with parts of a second
PROG BEGIN { printf("%s|%s|%s\n", strftime("%S.%f", nsecs), strftime("%k", nsecs), strftime("%l", nsecs)); }
EXPECT_RE
	[0-6][0-9]\.[0-9][0-9][0-9][0-9][0-9][0-9]\|[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]\|[0-9][0-9][0-9]
	$
	$

NAME strftime is now
RUN now=$(date +%Y-%m-%d\ %H); [ "$("$SONDE" -q -e 'BEGIN { printf("%s", strftime("%Y-%m-%d %H", nsecs)); }')" = "$now" ] && echo same
EXPECT
	same

NAME nsecs of the clocks
PROG BEGIN { $m = nsecs(monotonic); $b = nsecs(boot); printf("%d %d\n", $b >= $m, $m > 0); }
EXPECT
	1 1
	$
	$

NAME nsecs of tai
PROG BEGIN { printf("%d\n", nsecs(tai) > 1600000000000000000); }
NEEDS sym:bpf_ktime_get_tai_ns
EXPECT
	1
	$
	$

NAME interval counts
PROG interval:ms:20 { @n++; if (@n == 5) { exit(); } } END { print(@n >= 5); clear(@n); }
EXPECT
	true
	$
	$

NAME interval with a duration literal
PROG interval:20ms { printf("tick\n"); exit(); }
EXPECT
	tick
	$
	$

NAME interval aliases
PROG i:ms:10 { printf("a\n"); exit(); }
EXPECT
	a
	$
	$

NAME interval in hz
PROG interval:hz:50 { @n++; if (@n == 3) { exit(); } } END { print(@n >= 3); clear(@n); }
EXPECT
	true
	$
	$

NAME interval of one second
RUN read -r a _ </proc/uptime; "$SONDE" -q -e 'interval:s:1 { exit(); }'; read -r b _ </proc/uptime; awk -v a=$a -v b=$b 'BEGIN { d = b - a; print (d >= 1 && d < 5 ? "fine" : d) }'
EXPECT
	$
	$
	fine

NAME options of kind clock: are times shown, and with which digits
RUN
	for o in '' --time --time=s --time=ms --time=us --time=ns
	do "$SONDE" -q -e 'options { time T : clock = false "the time"; } table t { at "TIME" 8 clock if opt.time; n; }
		begin { if (opt.time) { time("%T|%%T\n"); } emit(t, at = nsecs, n = 5); print(strftime("%T %l", nsecs)); exit(); }' -- $o |
		sed 's/[0-9]/9/g'
	done
EXPECT
	N
	9
	99:99:99 999
	TIME     N
	99:99:99|%T
	99:99:99 9
	99:99:99 999
	TIME     N
	99:99:99|%T
	99:99:99 9
	99:99:99 999
	TIME         N
	99:99:99.999|%T
	99:99:99.999 9
	99:99:99.999 999
	TIME            N
	99:99:99.999999|%T
	99:99:99.999999 9
	99:99:99.999999 999
	TIME               N
	99:99:99.999999999|%T
	99:99:99.999999999 9
	99:99:99.999999999 999
