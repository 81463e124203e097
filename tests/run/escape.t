# Control characters of what is traced: on a terminal, or with --escape.
NAME escape: a name cannot forge a line or steer a terminal
RUN
	"$SONDE" -q --escape -e 'BEGIN { @[str($1)] = str($2); printf("[%s] %c\n", str($1), 155); print((str($2), 7)); errorf("%s", str($1)); }' "$(printf 'a\nb\033[2J')" "$(printf '\302\233c\303\251\200')"
EXPECT
	[a\nb\x1b[2J] \x9b
	(\xc2\x9bcé\x80, 7)
	$
	$
	@[a\nb\x1b[2J]: \xc2\x9bcé\x80
ERR
	stdin:1:87-108: ERROR: a\nb\x1b[2J

NAME escape: not into a file
RUN "$SONDE" -q -e 'BEGIN { printf("%s", str($1)); }' "$(printf 'a\nb\033')" | head -c 4 | od -An -c
EXPECT
	   a  \n   b 033

NAME escape: never, and as it is on a terminal
NEEDS cmd:script
RUN for when in never auto; do script -qec "$SONDE -q --escape=$when -e 'BEGIN { printf(\"%s|\", str(\$1)); }' \"\$(printf 'a\tb\033')\"" /dev/null | head -c 9 | tr -d '\r\n' | od -An -c; done
EXPECT
	   a  \t   b 033   |
	   a   \   t   b   \   x   1   b   |

NAME escape: cat and join keep their own line ends
RUN
	printf 'one\033\ntwo\n' >"$TMPDIR/f"
	"$SONDE" -q --unsafe --escape -e 'BEGIN { cat("'"$TMPDIR"'/f"); } tracepoint:syscalls:sys_enter_execve /pid == cpid/ { join(args.argv, "\n"); exit(); }' -c "/bin/true $(printf 'x\033') y" |
		head -n 5
EXPECT
	one\x1b
	two
	/bin/true
	x\x1b
	y

NAME escape: JSON needs none
PROG BEGIN { printf("%s\n", "\x1b"); }
ARGS -f json -q --escape
EXPECT
	{"type": "printf", "data": "\u001b\n"}

NAME escape: another word
RUN "$SONDE" --escape=often -e 'BEGIN { }' 2>&1 | head -n 1
EXPECT
	ERROR: USAGE: --escape must be 'always', 'never' or 'auto' (got 'often')

NAME a number at the end of a line that is wider than the terminal is whole, a text is cut
RUN
	at_36() { script -qec "stty cols 36; $SONDE -q -e '$1'" /dev/null | tr -d '\r'; }
	at_36 'table a { x "LEFT" 30; duration_ns "LAT(us)" 10 us; } begin { emit(a, x = "some", duration_ns = 123456789000); exit(); }'
	at_36 'table b { x "LEFT" 30; y "A HEADING"; } begin { emit(b, x = "some", y = "longer than that"); exit(); }'
NEEDS cmd:script
EXPECT
	LEFT                              LAT(us)
	some                            123456789
	LEFT                           A HEADING
	some                           lon..
