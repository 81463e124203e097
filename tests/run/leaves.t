# Functions that are left in other ways than by one return, as reported to other tracers.

NAME calls that are left by longjmp() give no latency to later ones
RUN
	"$SONDE" -q -e 'uprobe:build/tests/leaves:work { @calls++; }
		uretprobe:build/tests/leaves:work { @returns++; }' -c 'build/tests/leaves jump'
	"$SONDE" funcslower -m 1 build/tests/leaves:work -- build/tests/leaves jump 2>&1 |
		awk 'NR > 1 && $3 > 4.9 { print $1, $4, $5 }'
NEEDS prog:leaves uprobe
EXPECT
	$
	$
	@calls: 6
	@returns: 3
	leaves 0x0 work
	leaves 0x0 work
	leaves 0x0 work

NAME each round of a recursion has its own latency
RUN "$SONDE" funcslower -m 1 build/tests/leaves:rec -- build/tests/leaves recurse 2>&1 | awk 'NR > 1 { print $4, ($3 >= 20 * (NR - 1) ? "right" : $3) }'
NEEDS prog:leaves uprobe
EXPECT
	0x1 right
	0x2 right
	0x3 right
	0x4 right

NAME a function that ends by a jump to another returns with the result of that
PROG uprobe:build/tests/leaves:twice { @calls++; } uretprobe:build/tests/leaves:twice { @returns++; @sum += retval; } uretprobe:build/tests/leaves:next { @inner++; }
LOAD leaves tail
NEEDS prog:leaves uprobe
EXPECT
	$
	$
	@calls: 7
	@inner: 7
	@returns: 7
	@sum: 49

NAME a function that forks returns twice
RUN "$SONDE" -q --follow -e 'uprobe:build/tests/leaves:forks { @calls++; } uretprobe:build/tests/leaves:forks { @returns[retval == 0 ? "child" : "parent"] = count(); }' -c 'build/tests/leaves fork'
NEEDS prog:leaves uprobe
EXPECT
	$
	$
	@calls: 4
	@returns[child]: 4
	@returns[parent]: 4
