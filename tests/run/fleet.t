# Hosts of a fleet on this kernel: shells on this machine, to which the program is sent.

NAME a host whose kernel is too old for the script is refused, with what it lacks
RUN
	"$SONDE" fleet --via 'env HOST={} sh' --sudo '' --wait 60s --hosts old1,old2 -q \
		-e 'begin { @[1] = count(); } interval:ms:1 { for ($kv : @) { printf("%d\n", $kv.0); } exit(); }' >"$TMPDIR/out" 2>&1
	echo $?
	grep '^WARNING' "$TMPDIR/out"
	sed -n 's/; [0-9.]* s.*//p' "$TMPDIR/out"
NEEDS before:5.13
TIMEOUT 60
EXPECT
	3
	WARNING: old1 and 1 other: refused: stdin:1:43-83: ERROR: iterating over a map needs bpf_for_each_map_elem (Linux 5.13), which this kernel lacks
	0 of 2 hosts (2 refused: old1 old2)

NAME what hosts trace is merged, also by their labels
RUN
	printf 'a zone=x\nb zone=x\nc\n' >"$TMPDIR/hosts"
	"$SONDE" fleet --via 'env HOST={} sh' --sudo '' --wait 60s --hosts-file "$TMPDIR/hosts" -q --by label:zone \
		-e 'begin { @ = count(); } interval:ms:1 { exit(); }' 2>"$TMPDIR/err"
	cat "$TMPDIR/err"
TIMEOUT 60
EXPECT
	
	
	@[-]: 1
	@[x]: 2
	WARNING: c: no label zone; rows are under -
