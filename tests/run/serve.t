# sonde serve: scripts as metrics. Totals are those of programs that do something a known number of times.

NAME metrics count what a program did, as a plain run does
NEEDS cmd:curl tp:syscalls/sys_enter_write
RUN
	cd "$TMPDIR"; mkdir s; cp /bin/dd made1
	cat >s/writes.bt <<'END'
	config = { metric = "@n writes; @bytes written; @size write_size; @big largest_write; @last last_write"; unit = "@bytes bytes; @size bytes"; labels = "@n comm,fd"; help = "@n calls of write" }
	tracepoint:syscalls:sys_enter_write /comm == "made1" && args.fd == 1/ {
		@n[comm, args.fd] = count(); @bytes = sum((uint64)args.count); @size = hist(args.count); @big = max(args.count); @last = args.count;
	}
	END
	served s
	"$SONDE" s/writes.bt >plain 2>plain.err & plain=$!
	until_attached plain.err
	scrape '^writes|^written|^write_size|^largest'; echo after:
	./made1 if=/dev/zero of=/dev/null bs=3 count=1000 2>/dev/null
	scrape '^writ|^largest|^last'
	./made1 if=/dev/zero of=/dev/null bs=100 count=7 2>/dev/null
	curl -s "$metrics" | grep -E '^(# [A-Z]* )?(writ|large|last)'
	kill -INT $plain; wait $plain; grep -v '^$' plain | grep -v '|'
	kill $server; wait $server; echo $?
EXPECT
	written_bytes_total 0
	after:
	largest_write 3
	last_write 3
	write_size_bytes_bucket{le="3"} 1000
	write_size_bytes_bucket{le="+Inf"} 1000
	write_size_bytes_count 1000
	writes_total{comm="made1",fd="1"} 1000
	written_bytes_total 3000
	# HELP largest_write @big of writes.bt
	# TYPE largest_write gauge
	largest_write 100
	# HELP last_write @last of writes.bt
	# TYPE last_write gauge
	last_write 100
	# HELP write_size_bytes @size of writes.bt
	# TYPE write_size_bytes histogram
	write_size_bytes_bucket{le="3"} 1000
	write_size_bytes_bucket{le="7"} 1000
	write_size_bytes_bucket{le="15"} 1000
	write_size_bytes_bucket{le="31"} 1000
	write_size_bytes_bucket{le="63"} 1000
	write_size_bytes_bucket{le="127"} 1007
	write_size_bytes_bucket{le="+Inf"} 1007
	write_size_bytes_count 1007
	# HELP writes_total calls of write
	# TYPE writes_total counter
	writes_total{comm="made1",fd="1"} 1007
	# HELP written_bytes_total @bytes of writes.bt
	# TYPE written_bytes_total counter
	written_bytes_total 3700
	@big: 100
	@bytes: 3700
	@last: 100
	@n[made1, 1]: 1007
	@size:
	0

NAME a reload takes what is new, and lets the rest go on
NEEDS cmd:curl tp:syscalls/sys_enter_write
RUN
	cd "$TMPDIR"; mkdir s; cp /bin/dd made2
	for n in a b c; do echo "config = { metric = \"m_$n\" } tracepoint:syscalls:sys_enter_write /comm == \"made2\" && args.fd == 1/ { @ = count(); }" >s/$n.bt; done
	served s
	one() { ./made2 if=/dev/zero of=/dev/null bs=1 count=10 2>/dev/null; scrape '^m_|^sonde_(up|script_error|start_fail)'; }
	one
	echo 'tracepoint:syscalls:no_such { @ = count(); }' >s/b.bt; rm s/c.bt; cp s/a.bt s/d.bt; sed -i s/m_a/m_d/ s/d.bt; cp s/a.bt s/e.bt; echo not a script >s/README
	reload '^sonde_up.*"d.bt"' 'sonde_up{script="d.bt"} 1'
	one
	sed s/m_a/m_b/ s/a.bt >s/b.bt; rm s/e.bt
	reload '^sonde_up.*"b.bt"' 'sonde_up{script="b.bt"} 1'
	one
	rm -r s; kill -HUP $server; eventually grep -q stay served; sed 's/^/stderr: /' served | grep -v 'Metrics of'
	one
	kill $server; wait $server
EXPECT
	m_a_total 10
	m_b_total 10
	m_c_total 10
	sonde_up{script="a.bt"} 1
	sonde_up{script="b.bt"} 1
	sonde_up{script="c.bt"} 1
	sonde_start_failures_total{script="a.bt"} 0
	sonde_start_failures_total{script="b.bt"} 0
	sonde_start_failures_total{script="c.bt"} 0
	m_a_total 20
	m_d_total 10
	sonde_up{script="a.bt"} 1
	sonde_up{script="b.bt"} 0
	sonde_up{script="d.bt"} 1
	sonde_up{script="e.bt"} 0
	sonde_start_failures_total{script="a.bt"} 0
	sonde_start_failures_total{script="b.bt"} 1
	sonde_start_failures_total{script="d.bt"} 0
	sonde_start_failures_total{script="e.bt"} 1
	sonde_script_error{script="b.bt",stage="compile",reason="No matches for tracepoint syscalls:no_such."} 1
	sonde_script_error{script="e.bt",stage="metrics",reason="metric: m_a_total is already the metric of a.bt"} 1
	m_a_total 30
	m_b_total 10
	m_d_total 20
	sonde_up{script="a.bt"} 1
	sonde_up{script="b.bt"} 1
	sonde_up{script="d.bt"} 1
	sonde_start_failures_total{script="a.bt"} 0
	sonde_start_failures_total{script="b.bt"} 1
	sonde_start_failures_total{script="d.bt"} 0
	stderr: s/b.bt:1:1-28: ERROR: No matches for tracepoint syscalls:no_such.
	stderr: tracepoint:syscalls:no_such { @ = count(); }
	stderr: ~~~~~~~~~~~~~~~~~~~~~~~~~~~
	stderr: HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.
	stderr: e.bt: metric: m_a_total is already the metric of a.bt
	stderr: ERROR: open the folder s: No such file or directory; the scripts stay as they are
	m_a_total 40
	m_b_total 20
	m_d_total 30
	sonde_up{script="a.bt"} 1
	sonde_up{script="b.bt"} 1
	sonde_up{script="d.bt"} 1
	sonde_start_failures_total{script="a.bt"} 0
	sonde_start_failures_total{script="b.bt"} 1
	sonde_start_failures_total{script="d.bt"} 0

NAME a script that cannot be metrics says why, and hostile names stay labels
NEEDS cmd:curl
RUN
	cd "$TMPDIR"; mkdir s; p='interval:ms:50'
	w() { printf '%s\n' "$2" >"s/$1.bt"; }
	w clears "$p { @ = count(); clear(@); }"
	w zeros "$p { @ = hist(1); zero(@); }"
	w none "$p { printf(\"x\"); }"
	w nomap "config = { metric = \"@y z\" } $p { @x = count(); }"
	w badname "config = { metric = \"a b\" } $p { @x = count(); }"
	w badunit "config = { unit = \"miles\" } $p { @x = sum(1); }"
	w text "config = { metric = \"@t texts\" } $p { @t = \"x\"; }"
	w own "config = { metric = \"sonde_up\" } $p { @x = max(1); }"
	w h1 "config = { metric = \"twice\" } $p { @x = hist(1); }"
	w h2 "config = { metric = \"twice_count\" } $p { @x = max(1); }"
	w ends "$p { @x = count(); exit(); }"
	printf 'syntax(' >s/syntax.bt
	w 'q"\b
	{x="1"} 2
	# EOF' "$p { @[\"a\\\"\\nb{} 7\"] = count(); }"
	mkdir s/folder.bt; printf 'a\0b' >s/zero.bt
	served s
	eventually scrapes_as '"ends.bt",stage' 'sonde_script_error{script="ends.bt",stage="ended",reason="the script has ended"} 1'
	scrape '^sonde_(up|script_error)'
	eventually scrapes_as '^sonde_q' '^sonde_q__b.*'
	scrape '^sonde_q' | sed 's/[0-9]*$/N/'
	kill $server; wait $server
EXPECT
	sonde_up{script="badname.bt"} 0
	sonde_up{script="badunit.bt"} 0
	sonde_up{script="clears.bt"} 0
	sonde_up{script="ends.bt"} 0
	sonde_up{script="folder.bt"} 0
	sonde_up{script="h1.bt"} 1
	sonde_up{script="h2.bt"} 0
	sonde_up{script="nomap.bt"} 0
	sonde_up{script="none.bt"} 0
	sonde_up{script="own.bt"} 0
	sonde_up{script="q\"\\b\n{x=\"1\"} 2\n# EOF.bt"} 1
	sonde_up{script="syntax.bt"} 0
	sonde_up{script="text.bt"} 0
	sonde_up{script="zero.bt"} 0
	sonde_up{script="zeros.bt"} 0
	sonde_script_error{script="badname.bt",stage="metrics",reason="metric: 'a b_total' is no name of a metric: letters, digits and '_'"} 1
	sonde_script_error{script="badunit.bt",stage="metrics",reason="unit: 'miles' is none of ns, us, ms, seconds, bytes, KiB, pages, sectors, percent, ratio"} 1
	sonde_script_error{script="clears.bt",stage="metrics",reason="metric: clear() or zero() of @, but a counter must not go back"} 1
	sonde_script_error{script="ends.bt",stage="ended",reason="the script has ended"} 1
	sonde_script_error{script="folder.bt",stage="read",reason="failed to read 's/folder.bt': Is a directory"} 1
	sonde_script_error{script="h2.bt",stage="metrics",reason="metric: twice_count is already the metric of h1.bt"} 1
	sonde_script_error{script="nomap.bt",stage="metrics",reason="metric: the script has no map @y"} 1
	sonde_script_error{script="none.bt",stage="metrics",reason="the script has no map that is a metric: an aggregation such as count(), or one that config = { metric = ... } names"} 1
	sonde_script_error{script="own.bt",stage="metrics",reason="metric: sonde_up is already the metric of sonde itself"} 1
	sonde_script_error{script="syntax.bt",stage="compile",reason="expected '{', ',' or a /predicate/ after the probe, found the end of the script"} 1
	sonde_script_error{script="text.bt",stage="metrics",reason="metric: the values of @t are no numbers"} 1
	sonde_script_error{script="zero.bt",stage="read",reason="'s/zero.bt' is no script: it has bytes that are 0"} 1
	sonde_script_error{script="zeros.bt",stage="metrics",reason="metric: clear() or zero() of @, but a counter must not go back"} 1
	sonde_q__b__x__1___2___EOF_total{key="a\"\nb{} 7"} N

NAME other keys share a series, and no counter goes back
NEEDS cmd:curl tp:syscalls/sys_enter_write
RUN
	cd "$TMPDIR"; mkdir s; for n in a b c d; do cp /bin/dd made4_$n; done
	echo 'config = { metric = "w"; labels = "comm" } tracepoint:syscalls:sys_enter_write /strncmp(comm, "made4_", 6) == 0 && args.fd == 1/ { @[comm] = count(); }' >s/w.bt
	served s --series 2
	for n in a b c d b d; do ./made4_$n if=/dev/zero of=/dev/null bs=1 count=10 2>/dev/null; scrape '^w_|^sonde_series' | tr '\n' ' ' | sed 's/ $//'; echo; done
	kill $server; wait $server
EXPECT
	w_total{comm="made4_a"} 10 sonde_series_other{script="w.bt",metric="w_total"} 0
	w_total{comm="made4_a"} 10 w_total{comm="made4_b"} 10 sonde_series_other{script="w.bt",metric="w_total"} 0
	w_total{comm="__other__"} 10 w_total{comm="made4_a"} 10 w_total{comm="made4_b"} 10 sonde_series_other{script="w.bt",metric="w_total"} 1
	w_total{comm="__other__"} 20 w_total{comm="made4_a"} 10 w_total{comm="made4_b"} 10 sonde_series_other{script="w.bt",metric="w_total"} 2
	w_total{comm="__other__"} 20 w_total{comm="made4_a"} 10 w_total{comm="made4_b"} 20 sonde_series_other{script="w.bt",metric="w_total"} 2
	w_total{comm="__other__"} 30 w_total{comm="made4_a"} 10 w_total{comm="made4_b"} 20 sonde_series_other{script="w.bt",metric="w_total"} 2

NAME full maps, failed reads and a budget are told
NEEDS cmd:curl
RUN
	cd "$TMPDIR"; mkdir s
	echo 'config = { max_map_keys = 2 } interval:ms:20 { @n[@i] = count(); @i++; $x = *(uint64 *)0xdead00000000; }' >s/full.bt
	served s
	some() { scrape "$1" | grep -qv ' 0$'; }
	for m in map_full_total.*@n failed_reads_total runs_total cpu_seconds_total; do eventually some "^sonde_$m" && echo $m; done
	scrape '^sonde_full_n_total' | wc -l
	kill $server; wait $server
	echo 'interval:ms:1 { $i = 0; while ($i < 20000) { @n = count(); $i++; } }' >s/dear.bt
	rm s/full.bt; echo 'interval:s:9 { @n = count(); }' >s/cheap.bt # also on an emulated processor
	served s --budget 0.1%
	eventually scrapes_as 'budget_stops.*dear' '.* 1'
	scrape '_up|budget_stops'; scrape script_error | sed 's/took [0-9.e+]*/took N/'
	kill $server; wait $server
EXPECT
	map_full_total.*@n
	failed_reads_total
	runs_total
	cpu_seconds_total
	2
	sonde_up{script="cheap.bt"} 1
	sonde_up{script="dear.bt"} 0
	sonde_budget_stops_total{script="cheap.bt"} 0
	sonde_budget_stops_total{script="dear.bt"} 1
	sonde_script_error{script="dear.bt",stage="budget",reason="stopped: its programs took N % of this machine's processor time in the last second, and --budget allows 0.1 %"} 1

NAME web: paths, methods, formats, clients that do not read, a server that dies
NEEDS cmd:curl cmd:python3
RUN
	cd "$TMPDIR"; mkdir s; echo 'interval:ms:50 { @ = count(); }' >s/a.bt
	served s
	at=${metrics%/metrics}; port=${at##*:}
	for p in / /metrics/ /metricsx /../etc/passwd; do curl -s --path-as-is -w '%{http_code}\n' "$at$p"; done
	curl -s -X POST -d x -w '%{http_code}\n' "$metrics"
	curl -s -I "$metrics" | grep -c '200 OK'
	curl -s -D h -H 'Accept: application/openmetrics-text; version=1.0.0' "$metrics" | tail -1; tr -d '\r' <h | grep -i '^content-type'
	curl -s -D h "$metrics" | grep -c EOF; tr -d '\r' <h | grep -i '^content-type'
	families='application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
	for accept in "$families" "text/plain;q=0.5,$families;q=0.6" "$families;q=0.2, */*;q=0.25" 'application/vnd.google.protobuf' "$families;q=0" ',;,=;q' 'application/openmetrics-text;q=0.1,text/plain;q=0.05'; do
		curl -s -o body -D h -H "Accept: $accept" "$metrics"; tr -d '\r' <h | grep -i '^content-type'
		grep -ac 'sonde_up' body
	done
	python3 - $port <<'END'
	import socket, sys, threading, urllib.request
	at = ("127.0.0.1", int(sys.argv[1]))
	idle = [socket.create_connection(at) for _ in range(9)]
	for s in idle[:5]: s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
	idle[5].sendall(b"\0\xff\r\n\r\n"); idle[6].sendall(b"GET /metrics HTTP/9.9\r\n" + b"a: b\r\n" * 9999)
	got = []
	def scrape(): got.append(b"sonde_up" in urllib.request.urlopen("http://127.0.0.1:%d/metrics" % at[1]).read())
	all = [threading.Thread(target=scrape) for _ in range(20)]
	for t in all: t.start()
	for t in all: t.join()
	print(got.count(True))
	END
	child=$(cat /proc/$server/task/*/children | tr ' ' '\n' | head -1)
	grep -E '^(Uid|CapPrm|CapEff|NoNewPrivs|Seccomp):' /proc/$child/status
	ls -l /proc/$child/fd | grep -c bpf
	kill -9 $child
	eventually scrapes_as restarts 'sonde_web_restarts_total 1'
	kill $server; wait $server; echo $?; grep -v '^Metrics' served
	"$SONDE" serve --metrics host:1 s 2>&1; "$SONDE" serve s 2>&1; "$SONDE" serve --metrics :1 --series 0 s 2>&1; "$SONDE" serve --metrics :0 nosuch 2>&1; chmod o+w s; "$SONDE" serve --metrics :0 s 2>&1; true
EXPECT
	there is only /metrics
	404
	there is only /metrics
	404
	there is only /metrics
	404
	there is only /metrics
	404
	only GET and HEAD
	405
	1
	# EOF
	Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8
	0
	Content-Type: text/plain; version=0.0.4; charset=utf-8
	Content-Type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited
	1
	Content-Type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited
	1
	Content-Type: text/plain; version=0.0.4; charset=utf-8
	3
	Content-Type: text/plain; version=0.0.4; charset=utf-8
	3
	Content-Type: text/plain; version=0.0.4; charset=utf-8
	3
	Content-Type: text/plain; version=0.0.4; charset=utf-8
	3
	Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8
	3
	20
	Uid:	65534	65534	65534	65534
	CapPrm:	0000000000000000
	CapEff:	0000000000000000
	NoNewPrivs:	1
	Seccomp:	2
	0
	0
	ERROR: the web server has ended, and is started again
	ERROR: --metrics needs an address and a port in numbers, as in :9435, 0.0.0.0:9435 or [::1]:9435 (got 'host:1')
	ERROR: serve needs --metrics ADDR, --otlp URL or --push-profile URL, and a folder with scripts
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)
	ERROR: --series needs a number from 1 to 1000000 (got '0')
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)
	ERROR: open the folder nosuch: No such file or directory
	ERROR: s: everybody may put scripts into this folder, which would run with the rights of sonde

NAME examples run, and what they say is clean
NEEDS cmd:curl cmd:promtool fast
TIMEOUT 40
RUN
	cd "$TMPDIR"; mkdir s n; folder=${SONDE%/*}/../contrib/metrics; [ -d "$folder" ] || folder=$OLDPWD/contrib/metrics
	for f in "$folder"/*.bt; do [ "$(wc -l <"$f")" -le 10 ] || echo "longer than ten lines: $f"; grep -qE 'kprobe:|kaddr|hardware:|usdt:' "$f" || cp "$f" s; done
	served s
	scrape '^sonde_up.* 0$|^sonde_script_error'
	curl -s "$metrics" | promtool check metrics; echo $?
	[ "$(scrape '^sonde_up' | grep -c ' 1$')" = "$(ls s | wc -l)" ] && echo all
	kill $server; wait $server
EXPECT
	0
	all

NAME --otlp sends what /metrics says, and tries again
NEEDS cmd:curl cmd:python3 tp:syscalls/sys_enter_write
TIMEOUT 40
RUN
	cd "$TMPDIR"; mkdir s; cp /bin/dd made5
	cat >s/w.bt <<'END'
	config = { metric = "@n writes; @bytes written; @size write_size; @big largest_write; @st of_writes"; unit = "@bytes bytes; @size bytes; @st us"; labels = "@n comm,text" }
	tracepoint:syscalls:sys_enter_write /comm == "made5" && args.fd == 1/ {
		@n[comm, "a\"\\ \nb"] = count(); @bytes = sum((uint64)args.count); @size = hist(args.count); @big = max(args.count); @st = stats(args.count);
	}
	END
	receiver 503 drop
	served s --otlp http://127.0.0.1:$port/ --push-every 500ms
	./made5 if=/dev/zero of=/dev/null bs=3 count=1000 2>/dev/null
	./made5 if=/dev/zero of=/dev/null bs=100 count=7 2>/dev/null
	eventually got metrics '^counter writes_total.* 1007$' >/dev/null
	got metrics '^(resource|[a-z]* (writ|largest|of_w))' | sed "s/$(uname -n)/HOST/g"
	head -n 3 got/log; got log WRONG
	scrape '^sonde_push_(fail|drop)'
	got metrics '^counter sonde_up|^gauge sonde_up'
	kill $server; wait $server; echo $?
	sed 's/:[0-9][0-9]*/:PORT/; /^Metrics of/d' served
EXPECT
	resource service.name="sonde",service.instance.id="HOST",host.name="HOST"
	gauge largest_write{} 100
	summary of_writes_seconds[s]{} 1007 0.0037
	histogram write_size_bytes[By]{} 1007: 3=1000 127=7
	counter writes_total{comm="made5",text="a"\ \nb"} 1007
	counter written_bytes_total[By]{} 3700
	503 /v1/metrics application/x-protobuf 
	drop /v1/metrics application/x-protobuf 
	200 /v1/metrics application/x-protobuf 
	sonde_push_failures_total{to="otlp"} 2
	sonde_push_dropped_points_total{to="otlp"} 0
	gauge sonde_up{script="w.bt"} 1
	0
	--otlp sends to http://127.0.0.1:PORT/v1/metrics
	WARNING: --otlp: 127.0.0.1:PORT answers with status 503; it is tried again
	WARNING: --otlp: 127.0.0.1:PORT takes data again; 0 points were dropped so far

NAME what a receiver does not take is counted
NEEDS cmd:curl cmd:python3
TIMEOUT 40
RUN
	cd "$TMPDIR"; mkdir s; echo 'config = { metric = "ticks" } interval:ms:50 { @ = count(); }' >s/t.bt
	receiver 400 429 200:3 200
	served s --otlp http://127.0.0.1:$port/api/v1/otlp --push-every 100ms
	eventually got metrics 'sonde_pushes_total.* [1-9]' >/dev/null
	n=$(scrape 'sonde_push_dropped' | sed 's/.* //'); [ "$n" -gt 3 ] && echo dropped
	scrape '^sonde_push_fail'
	head -n 4 got/log; got log WRONG
	kill $receiver; wait $receiver 2>/dev/null
	eventually scrapes_as '^sonde_push_waiting' '.* 16'
	before=$n; eventually sh -c "[ \$(curl -s $metrics | sed -n 's/^sonde_push_dropped.* //p') -gt $before ]"
	pid=$(pgrep -P $server | while read -r p; do grep -q ^Seccomp:.2 /proc/$p/status && [ -z "$(ls -l /proc/$p/fd | grep -c listening)" ] || echo $p; done | tail -n 1)
	grep -E '^(Uid|CapEff|Seccomp|NoNewPrivs):' /proc/$pid/status
	kill $server; wait $server; echo $?
	sed 's/:[0-9][0-9]*/:PORT/; /^Metrics of/d; s/reached: .*; it/reached: WHY; it/; s/these [0-9]* points/these N points/; s/of [0-9]* points/of N points/; s/; [0-9]* points were/; N points were/' served
EXPECT
	dropped
	sonde_push_failures_total{to="otlp"} 2
	400 /api/v1/otlp/v1/metrics application/x-protobuf 
	429 /api/v1/otlp/v1/metrics application/x-protobuf 
	200:3 /api/v1/otlp/v1/metrics application/x-protobuf 
	200 /api/v1/otlp/v1/metrics application/x-protobuf 
	Uid:	65534	65534	65534	65534
	CapEff:	0000000000000000
	NoNewPrivs:	1
	Seccomp:	2
	0
	--otlp sends to http://127.0.0.1:PORT/api/v1/otlp/v1/metrics
	WARNING: --otlp: 127.0.0.1:PORT answers with status 400, and does not get these N points again
	WARNING: --otlp: 127.0.0.1:PORT takes data again; N points were dropped so far
	WARNING: --otlp: 127.0.0.1:PORT cannot be reached: WHY; it is tried again

NAME --push-profile sends what was counted since the last profile
NEEDS cmd:python3 uprobe dwunwind
TIMEOUT 40
RUN
	calls=$(realpath build/tests/calls); cd "$TMPDIR"; mkdir s
	echo "uprobe:$calls:target { @[ustack(2), comm] = count(); @n = count(); }" >s/p.bt
	echo 'interval:ms:100 { @ = count(); }' >s/none.bt
	receiver 503
	"$SONDE" serve --push-profile http://localhost:$port --push-every 100ms s 2>served & server=$!
	eventually grep -q '^Metrics of' served
	has() { sum=$(sed 's/.* //' got/stacks | paste -sd+); [ $((sum)) = $1 ]; }
	$calls 250; eventually has 250; cat got/stacks
	$calls 100; $calls 7; eventually has 357; cat got/stacks
	sed -n 1,2p got/log | sed "s/$(uname -n)/HOST/"; got log WRONG
	kill $server; wait $server; echo $?; sed 's/:[0-9][0-9]*/:PORT/' served
EXPECT
	target;main 250
	target;main 357
	503 /ingest application/octet-stream sonde{script="p.bt",hostname="HOST"}
	200 /ingest application/octet-stream sonde{script="p.bt",hostname="HOST"}
	0
	--push-profile sends to http://localhost:PORT/ingest
	Metrics of 2 scripts
	WARNING: --push-profile: localhost:PORT answers with status 503; it is tried again
	WARNING: --push-profile: localhost:PORT takes data again; 0 points were dropped so far

NAME receivers that cannot be are refused
NEEDS cmd:getent
TIMEOUT 40
RUN
	cd "$TMPDIR"; mkdir s
	for u in https://127.0.0.1:4318 127.0.0.1:4318 http:// http://:4318/x http://127.0.0.1:0x 'http://u@127.0.0.1' 'http://127.0.0.1/a b' http://127.0.0.1:99999 http://nosuch.invalid 'http://a;b' 'http://[::1' ; do
		timeout 60 "$SONDE" serve --otlp "$u" s 2>&1
	done
	"$SONDE" serve --otlp http://127.0.0.1:1 --push-every 1 s 2>&1 | head -n 1
	"$SONDE" serve --push-every 1s s 2>&1 | head -n 1
EXPECT
	ERROR: --otlp: this sonde sends nothing encrypted: let a collector on this machine take it by http://127.0.0.1:4318 and encrypt it (got 'https://127.0.0.1:4318')
	ERROR: --otlp needs a URL, as in http://127.0.0.1:4318 (got '127.0.0.1:4318')
	ERROR: --otlp: '' is no host and port
	ERROR: --otlp: ':4318' is no host and port
	ERROR: --otlp: '127.0.0.1:0x' is no host and port
	ERROR: --otlp: a URL may have a host, a port and a path (got 'http://u@127.0.0.1')
	ERROR: --otlp: a URL may have a host, a port and a path (got 'http://127.0.0.1/a b')
	ERROR: --otlp: '127.0.0.1:99999' is no host and port
	ERROR: --otlp: no address is known for 'nosuch.invalid'
	ERROR: --otlp: 'a;b' is no name of a host
	ERROR: --otlp: '[::1' is no host and port
	ERROR: --push-every needs a time of 100ms or more (got '1')
	ERROR: serve needs --metrics ADDR, --otlp URL or --push-profile URL, and a folder with scripts

NAME examples count what was done
NEEDS cmd:curl cmd:python3 tp:sock/inet_sock_set_state tp:raw_syscalls/sys_enter fast
TIMEOUT 60
RUN
	contrib=$(realpath contrib/metrics); cd "$TMPDIR"; mkdir s
	for n in accepts connections connect-latency exec exits shells faults opens syscalls syscalls-by-comm syscall-latency switches runqlat packets \
		netstack-latency softirqs softirqs-by-cpu timers kmalloc signals tcp-states fsync profile kstack cgroup-switches workqueues; do cp "$contrib/$n.bt" s; done
	served s
	work() {
		python3 -c 'import os, signal, socket
	s = socket.create_server(("127.0.0.1", 0))
	for i in range(20):
		c = socket.create_connection(s.getsockname()); a = s.accept()[0]; c.send(b"x"); a.recv(1); c.close(); a.close()
	f = open("file", "w"); f.write("x"); f.flush(); os.fsync(f.fileno())
	signal.signal(signal.SIGUSR1, lambda *a: None); os.kill(os.getpid(), signal.SIGUSR1)'
		sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	}
	# Metrics of the scripts that have counted nothing yet.
	idle() {
		curl -s "$metrics" >text
		for f in s/*.bt; do
			n=$(sed -n 's/.*metric = "\(@[a-z]* \)\{0,1\}\([a-z_]*\)[";].*/\2/p' "$f")
			grep -qE "^${n}(_seconds|_bytes)?(_total|_count)?(\{.*\})? [1-9]" text || echo "${f#s/} $n"
		done
	}
	busy() { work; [ -z "$(idle)" ]; }
	eventually busy; idle
	kill $server; wait $server; echo $?
EXPECT 0

NAME Grafana's dashboard asks for metrics that the examples have
NEEDS cmd:python3
RUN
	python3 - contrib/grafana/sonde.json contrib/metrics docs/metrics.md <<'END'
	import glob, json, re, sys
	board = json.load(open(sys.argv[1]))
	known = set(re.findall(r"\bsonde_[a-z_]+|process_[a-z_]+", open(sys.argv[3]).read()))
	for name in glob.glob(sys.argv[2] + "/*.bt"):
		text = open(name).read()
		for word in re.findall(r'metric = "([^"]*)"', text):
			for one in word.split(";"):
				base = one.split()[-1]
				for unit in ("", "_seconds", "_bytes"):
					known |= {base + unit + end for end in ("", "_total", "_bucket", "_count", "_sum")}
	ids, asked = [], 0
	for panel in board["panels"]:
		ids.append(panel["id"])
		for target in panel.get("targets", []):
			text = re.sub(r"\{[^{}]*\}|\[[^\]]*\]", "", re.sub(r'"[^"]*"', "", target["expr"]))
			text = re.sub(r"\b(by|without|on|ignoring|group_left) *\([^()]*\)", "", text)
			names = [n for n in re.findall(r"\b[a-z_]{4,}\b(?! *\()", text) if n not in ("vector", "bool", "unless")]
			asked += len(names)
			for name in names:
				if name not in known:
					print("panel %s asks for %s" % (panel["title"], name))
	print("ids", len(ids) == len(set(ids)), "asked", asked > 10)
	END
EXPECT ids True asked True

NAME examples of static probes: Python's garbage collector, exceptions of C++
NEEDS usdt:/usr/bin/python3 usdt:/usr/lib/x86_64-linux-gnu/libstdc++.so.6 cmd:g++
TIMEOUT 40
RUN
	example_of python-gc "/usr/bin/python3 -c 'import gc; gc.collect(2)'"; grep -c '^@ns\[2\]' $TMPDIR/out
	g++ -O1 -o $TMPDIR/throws tests/progs/throws.cc && example_of exceptions '$TMPDIR/throws >/dev/null'; grep -cE '^@\[(throw|catch), throws\]: [1-9]' $TMPDIR/out
EXPECT
	1
	2
