# A script in a file that declares options is used as a tool is.

NAME a file with options: help, its own options, an operand, in front of and behind --
RUN
	cd "$TMPDIR"
	cat >mine.bt <<-'B'
		#!/usr/bin/env sonde
		/*
		 * mine: what it was told
		 *
		 * Nothing else.
		 *
		 * Examples:
		 *   sonde mine.bt --least-of 7
		 */
		options {
			least_of l = 5 N "the least";
			name [1] = "none" TEXT "somebody's";
		}
		begin { printf("%d %s\n", opt.least_of, opt.name); exit(); }
	B
	cp mine.bt noending
	"$SONDE" mine.bt -h | sed '/^  *-[^l]/d; /^  *--[a-z]/d'
	for f in mine.bt ./noending; do "$SONDE" -q $f; "$SONDE" -q $f --least-of=6; "$SONDE" -q $f -l 7 x; "$SONDE" -q $f -- --least_of=8 y; done | grep .
	{ "$SONDE" mine.bt --least-of; "$SONDE" mine.bt x y; "$SONDE" mine.bt -- --no=7; "$SONDE" mine.bt -- true; } 2>&1 | grep -v 'shows its options'
	"$SONDE" --fmt mine.bt | tail -1; "$SONDE" -l mine.bt
EXPECT
	mine.bt: what it was told
	$
	USAGE:
	    sonde mine.bt [options] [name]
	$
	Nothing else.
	$
	OPTIONS:
	    -l, --least-of N        the least (5)
	$
	EXAMPLES:
	  sonde mine.bt --least-of 7
	5 none
	6 none
	7 x
	8 y
	5 none
	6 none
	7 x
	8 y
	ERROR: option '--least-of' requires an argument
	ERROR: what is 'y'? mine.bt takes no further operand
	ERROR: unrecognized option '--no'
	ERROR: mine.bt looks once and ends: it runs no command
	}
	begin

NAME the same on standard input, and with positional parameters: options stand behind --, the common ones are sonde's
RUN
	echo 'options { least = 5 N "the least"; pid, command; } begin { print(opt.least); exit(); }' >"$TMPDIR/o.bt"
	echo 'options { least = 5; } begin { print((opt.least, str($1), $#)); exit(); }' >"$TMPDIR/p.bt"
	"$SONDE" -q - -- --least=4 <"$TMPDIR/o.bt"
	for o in --pid=1 --command=true --leas=4 --help; do "$SONDE" -q - -- $o <"$TMPDIR/o.bt" 2>&1; done
	"$SONDE" -q "$TMPDIR/p.bt" a b -- --least=6
EXPECT
	4
	$
	$
	ERROR: unexpected program command line options: --pid
	HINT: expected program options:
	  --least=5: the least
	ERROR: unexpected program command line options: --command
	HINT: expected program options:
	  --least=5: the least
	ERROR: unexpected program command line options: --leas
	HINT: expected program options:
	  --least=5: the least
	HINT: expected program options:
	  --least=5: the least
	(6, a, 2)
	$
	$

NAME a copy of a tool, without lib/: its command is traced, and nothing else
RUN
	cd "$TMPDIR" && "$SONDE" tools -s execsnoop | sed 's/"PCOMM"/"MINE"/' >mine.bt && mkdir lib
	{ while :; do /bin/true; done; } & p=$!
	"$SONDE" -q mine.bt --fields comm,ret -- sh -c '/bin/true; true'; kill $p
	"$SONDE" mine.bt --csv -q --fields ret -- /bin/true
	echo 'broken' >lib/filter.bt; "$SONDE" mine.bt -- /bin/true 2>&1 | head -1
NEEDS btf tp:sched/sched_process_exec
EXPECT
	MINE             RET
	sh                 0
	true               0
	ret
	0
	lib/filter.bt:1:7-8: ERROR: expected '{', ',' or a /predicate/ after the probe, found the end of the script
