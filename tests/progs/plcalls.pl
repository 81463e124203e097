# Calls of all kinds. mark() writes the stack as caller() tells it, and makes a getppid(2): plcalls.pl FILE.
use strict;
use warnings;
use List::Util qw(first reduce);

open(my $out, '>>', $ARGV[0]) or die "$ARGV[0]: $!";
$out->autoflush(1);

# The line of a frame is where the one before was called. Frames that C makes (of END, say) may have none.
sub mark {
	my @lines;
	my ($file, $line) = (caller(0))[1, 2];
	for (my $i = 1; my @call = caller($i); $i++) {
		my $name = $call[3] eq '(eval)' && $call[7] ? '(require)' : $call[3];
		push @lines, "$name\@$file" . ($line ? ":$line\n" : "\n");
		($file, $line) = @call[1, 2];
	}
	push @lines, "(main)\@$file:$line\n" unless $main::no_program;
	print {$out} @lines, "\n";
	return getppid() && 0;
}

sub recursion {
	my ($n) = @_;
	return mark() unless $n;
	return recursion($n - 1);
}

package Shape {
	use overload '<=>' => \&compare, '""' => sub { main::mark(); 'shape' }, '+' => sub {
		main::recursion(1);
		eval { main::mark() };
		$_[0]
	};
	sub new { my ($class, $size) = @_; main::mark(); return bless {size => $size}, $class }
	sub compare { main::mark(); $_[0]{size} <=> $_[1]{size} }
	sub size { my $self = shift; main::mark(); return $self->{size} }
	sub AUTOLOAD {
		our $AUTOLOAD;
		return if $AUTOLOAD =~ /DESTROY/;
		main::mark();
	}
}

package Shape::Square {
	our @ISA = ('Shape');
	sub new { my ($class, $size) = @_; my $self = $class->SUPER::new($size); main::mark(); $self }
	sub DESTROY { main::mark(); eval { main::mark(); die "within\n" }; main::mark() }
}

package Tied {
	sub TIESCALAR { bless [], shift }
	sub FETCH { main::mark(); eval { main::recursion(2) }; 1 }
	sub STORE { main::mark() }
}

package main;

sub by_name { mark(); $a <=> $b }

sub sorts {
	my @sorted = sort { mark(); $a <=> $b } 2, 1;
	@sorted = sort by_name 2, 1;
	@sorted = sort { by_name() } 2, 1;
	@sorted = sort { eval { mark(); die "x\n" }; $a <=> $b } 2, 1;
	@sorted = sort { my @inner = sort { recursion(1); $a <=> $b } 4, 3; $a <=> $b } 2, 1;
	mark();
}

sub errors {
	eval { mark(); die "first\n" };
	mark();
	eval { eval { recursion(2); die "second\n" }; mark(); die "third\n" };
	local $@;
	eval "mark(); sub evaluated { mark() } evaluated(); 1" or die;
	eval "#line 70 \"made.pl\"\nrecursion(1);\n\nmark(); 1" or die;
	local $SIG{__WARN__} = sub { mark() };
	warn "warned\n";
	local $SIG{__DIE__} = sub { mark() };
	eval { recursion(1); die "fourth\n" };
}

sub closures {
	my @subs = map { my $n = $_; sub { recursion($n) } } 0 .. 2;
	$_->() for @subs;
	my $method = 'size';
	Shape->new(1)->$method;
	Shape->can('size')->(Shape->new(2));
	Shape->new(3)->absent;
	my $text = '' . Shape->new(4);
	my @ordered = sort { $a <=> $b } Shape->new(2), Shape->new(1);
	my $sum = Shape->new(5) + 1;
	Shape::Square->new(6);
	goto &recursion;
}

sub natives {
	first { mark(); 0 } 1, 2;
	first { eval { recursion(1) }; 0 } 1, 2;
	reduce { mark(); $a + $b } 1, 2, 3;
	my @grepped = grep { mark(); 1 } 1;
	(my $replaced = 'ab') =~ s/(a)/recursion(1)/e;
	'ab' =~ /a(?{ mark() })b/;
	tie my $scalar, 'Tied';
	$scalar = 1;
	my $read = $scalar;
	for my $i (1 .. 2) {
		if ($i > 1) {
			while (1) {
				recursion($i);
				last;
			}
		}
	}
}

sub signals {
	local $SIG{USR1} = sub { recursion(1); eval { mark() }; mark() };
	kill USR1 => $$;
	mark();
}

sub children {
	my $pid = fork();
	if (!$pid) {
		recursion(2);
		sorts();
		open(STDERR, '>', '/dev/null');
		require POSIX;
		POSIX::_exit(0);
	}
	waitpid($pid, 0);
	mark();
}

sub files {
	my $path = "$ARGV[0].pm";
	open(my $file, '>', $path) or die;
	print {$file} "package Made;\nmain::mark();\nsub import {\n\tmain::recursion(1);\n}\nsub run { main::mark() }\n1;\n";
	close($file);
	require $path;
	Made->import;
	Made::run();
	do $path;
	mark();
}

recursion(0);
recursion(5);
recursion(60);
sorts();
errors();
closures(1);
natives();
signals();
children();
files();
mark();
END { local $main::no_program = 1; mark() }
