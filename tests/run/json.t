NAME attached probes and printf
PROG BEGIN { printf("hi %d %s\n", 1, "x"); }
ARGS -f json
EXPECT
	{"type": "attached_probes", "count": 1, "data": {"probes": 1}}
	{"type": "printf", "data": "hi 1 x\n"}

NAME without the attached record
PROG BEGIN { printf("hi\n"); }
ARGS -f json -q
EXPECT
	{"type": "printf", "data": "hi\n"}

NAME escapes
PROG BEGIN { printf("tab\tquote\"back\\slash\x01\n"); print("a\"b"); }
ARGS -f json -q
EXPECT
	{"type": "printf", "data": "tab\tquote\"back\\slash\u0001\n"}
	{"type": "value", "data": "a\"b"}

NAME values
PROG BEGIN { print(5); print(-5); print("s"); print(true); print((1, 2, "x")); print((a = 1, b = "z")); }
ARGS -f json -q
EXPECT
	{"type": "value", "data": 5}
	{"type": "value", "data": -5}
	{"type": "value", "data": "s"}
	{"type": "value", "data": true}
	{"type": "value", "data": [1,2,"x"]}
	{"type": "value", "data": {"a": 1, "b": "z"}}

NAME maps
PROG BEGIN { @a = 1; @b["x"] = 2; @b["y"] = 3; @c[1, "a"] = 4; @s = "text"; }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@a": 1}}
	{"type": "map", "data": {"@b": {"x": 2, "y": 3}}}
	{"type": "map", "data": {"@c": {"1,a": 4}}}
	{"type": "map", "data": {"@s": "text"}}

NAME keys keep their spaces
# The reference drops every space from keys; see docs/compat.md.
PROG BEGIN { @["a b", 1] = 2; }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@": {"a b,1": 2}}}

NAME aggregates
PROG BEGIN { @c = count(); @s = sum(5); @m = min(3); @x = max(9); @v = avg(4); @v = avg(8); @t = stats(4); @t = stats(6); @k["a"] = count(); @ks["a"] = stats(3); @kv["a"] = avg(3); }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@c": 1}}
	{"type": "map", "data": {"@k": {"a": 1}}}
	{"type": "stats", "data": {"@ks": {"a": {"count": 1, "average": 3, "total": 3}}}}
	{"type": "stats", "data": {"@kv": {"a": 3}}}
	{"type": "map", "data": {"@m": 3}}
	{"type": "map", "data": {"@s": 5}}
	{"type": "stats", "data": {"@t": {"count": 2, "average": 5, "total": 10}}}
	{"type": "stats", "data": {"@v": 6}}
	{"type": "map", "data": {"@x": 9}}

NAME hist
PROG BEGIN { @h = hist(-1); @h = hist(0); @h = hist(2); @h = hist(3); @k["a"] = hist(10); }
ARGS -f json -q
EXPECT
	{"type": "hist", "data": {"@h": [{"max": -1, "count": 1},{"min": 0, "max": 0, "count": 1},{"min": 1, "max": 1, "count": 0},{"min": 2, "max": 3, "count": 2}]}}
	{"type": "hist", "data": {"@k": {"a": [{"min": 8, "max": 15, "count": 1}]}}}

NAME lhist
PROG BEGIN { @h = lhist(-1, 0, 10, 5); @h = lhist(3, 0, 10, 5); @h = lhist(50, 0, 10, 5); @k["a"] = lhist(3, 0, 10, 5); }
ARGS -f json -q
EXPECT
	{"type": "hist", "data": {"@h": [{"max": -1, "count": 1},{"min": 0, "max": 4, "count": 1},{"min": 5, "max": 9, "count": 0},{"min": 10, "count": 1}]}}
	{"type": "hist", "data": {"@k": {"a": [{"min": 0, "max": 4, "count": 1}]}}}

NAME large integers are strings
PROG BEGIN { @ = (uint64)9007199254740993; @b = (uint64)9007199254740992; print((uint64)18446744073709551615); }
ARGS -f json -q
EXPECT
	{"type": "value", "data": "18446744073709551615"}
	{"type": "map", "data": {"@": "9007199254740993"}}
	{"type": "map", "data": {"@b": 9007199254740992}}

NAME print of maps in the middle
PROG BEGIN { @a["x"] = 1; print(@a); print(@a["x"]); }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@a": {"x": 1}}}
	{"type": "value", "data": 1}
	{"type": "map", "data": {"@a": {"x": 1}}}

NAME time and strftime
PROG BEGIN { time("%Y\n"); print(strftime("%Y", nsecs)); }
ARGS -f json -q
EXPECT_RE
	\{"type": "time", "data": "20[0-9][0-9]\\n"\}
	\{"type": "value", "data": "20[0-9][0-9]"\}

NAME join
PROG tracepoint:syscalls:sys_enter_execve /comm == "run" && ppid == cpid/ { join(args.argv); }
LOAD run /bin/true a b
ARGS -f json -q
EXPECT
	{"type": "join", "data": "/bin/true a b"}

NAME stacks, symbols and addresses
PROG uprobe:build/tests/stack:inner /pid == cpid/ { print(usym(reg("ip"))); print(ustack(1)); print(ntop(0x0100007f)); }
LOAD stack 1 300
ARGS -f json -q
EXPECT_RE
	\{"type": "value", "data": "inner"\}
	\{"type": "value", "data": "\\n *inner\+0\\n"\}
	\{"type": "value", "data": "127.0.0.1"\}

NAME buffers
PROG uprobe:build/tests/calls:bytes /pid == cpid/ { print(buf(arg0, 3)); }
LOAD calls 1
ARGS -f json -q
EXPECT
	{"type": "value", "data": [1,2,97]}

NAME top and div
PROG BEGIN { @["c"] = (uint64)30; @["a"] = (uint64)10; @["b"] = (uint64)25; print(@, 2, 10); clear(@); }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@": {"b": 2, "c": 3}}}

NAME cleared maps at the end
PROG BEGIN { @a = 1; @b[1] = 1; @h = hist(1); clear(@a); clear(@b); clear(@h); }
ARGS -f json -q
EXPECT

NAME every line is JSON
RUN
	"$SONDE" -f json -c 'build/tests/calls 50' -e 'uprobe:build/tests/calls:target { @[comm, arg0] = hist(arg0); printf("%s\n", str(arg1)); print((arg0, str(arg1))); @s[ustack] = count(); }' |
		awk '!/^\{"type": ".*\}$/ { print "not an object:", $0; bad = 1 } END { print (NR > 100 ? "many" : NR), bad + 0 }'
EXPECT
	many 0

NAME keys of several texts are told apart
PROG BEGIN { @["a,b", "c"] = 1; @["a", "b,c"] = 2; @["a\\", "(b)"] = 3; }
ARGS -f json -q
EXPECT
	{"type": "map", "data": {"@": {"a\\,b,c": 1, "a,b\\,c": 2, "a\\\\,(b)": 3}}}
