#!/usr/bin/env python3
"""A program with a known call tree, sampled 999 times a second:

    tests/kernel/langsampled.py [-v] SONDE SAMPLES INTERPRETER...

Each interpreter runs a program that computes: recursion, a function that C code calls, a generator or a block,
exceptions. sonde counts so many stacks of the thread that runs it. At least 99 of 100 must have the whole tree:
each function of the program below one that calls it, down to the file itself. As root. Prints a line per interpreter;
the number to standard error, with -v and stacks that are not whole.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter

LEAST = 99
SCRIPT = """config = {{ max_map_keys = 100000 }}
begin {{ @n = 0; }}
profile:hz:999 /{1} && @n < {0}/ {{ @[ustack] = count(); @n++; }}
interval:ms:100 /@n >= {0}/ {{ exit(); }}
end {{ clear(@n); }}"""

# Function: those that call it.
CALLERS = {
    "leaf": ["recurse", "key", "numbers", "fail", "exception"],
    "recurse": ["recurse", "work"],
    "key": ["callback"],
    "callback": ["work"],
    "numbers": ["generator"],
    "generator": ["work"],
    "fail": ["exception"],
    "exception": ["work"],
    "work": ["main"],
    "main": [],
}

PYTHON = """def leaf(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s
def recurse(n):
    return recurse(n - 1) if n else leaf(60)
def key(x):
    return leaf(20) + x
def callback():
    return sorted(range(5), key=key)
def numbers():
    for _ in range(5):
        yield leaf(20)
def generator():
    return sum(numbers())
def fail():
    leaf(10)
    raise ValueError
def exception():
    try:
        fail()
    except ValueError:
        leaf(10)
def work():
    recurse(5)
    callback()
    generator()
    exception()
for _ in range(1000):
    work()
print("ready", flush=True)
while True:
    work()
"""

RUBY = """def leaf(n)
  s = 0
  i = 0
  while i < n
    s += i * i % 7
    i += 1
  end
  s
end
def recurse(n)
  n > 0 ? recurse(n - 1) : leaf(60)
end
def key(x)
  leaf(20) + x
end
def callback
  [1, 2, 3, 4, 5].sort_by { |x| key(x) }
end
def numbers
  5.times { yield leaf(20) }
end
def generator
  s = 0
  numbers { |x| s += x }
  s
end
def fail
  leaf(10)
  raise ArgumentError
end
def exception
  begin
    fail
  rescue ArgumentError
    leaf(10)
  end
end
def work
  recurse(5)
  callback
  generator
  exception
end
1000.times { work }
$stdout.puts "ready"
$stdout.flush
while true
  work
end
"""

PHP = """<?php
function leaf($n) {
	$s = 0;
	for ($i = 0; $i < $n; $i++)
		$s += $i * $i % 7;
	return $s;
}
function recurse($n) {
	return $n ? recurse($n - 1) : leaf(60);
}
function key_of($x) {
	return leaf(20) + $x;
}
function callback() {
	return array_map('key_of', [1, 2, 3, 4, 5]);
}
function numbers() {
	for ($i = 0; $i < 5; $i++)
		yield leaf(20);
}
function generator() {
	$s = 0;
	foreach (numbers() as $x)
		$s += $x;
	return $s;
}
function fail() {
	leaf(10);
	throw new Exception();
}
function exception() {
	try {
		fail();
	} catch (Exception $e) {
		leaf(10);
	}
}
function work() {
	recurse(5);
	callback();
	generator();
	exception();
}
for ($i = 0; $i < 1000; $i++)
	work();
echo "ready\\n";
while (true)
	work();
"""

PERL = """$| = 1;
sub leaf {
	my $s = 0;
	for (my $i = 0; $i < $_[0]; $i++) { $s += $i * $i % 7; }
	return $s;
}
sub recurse {
	my $n = shift;
	return $n ? recurse($n - 1) : leaf(60);
}
sub key { leaf(20) + $_[0] }
sub callback { my @s = sort { key($a) <=> key($b) } 3, 1, 2; return 1 }
sub numbers { my ($f) = @_; $f->(leaf(20)) for 1 .. 5; return 1 }
sub generator { my $s = 0; numbers(sub { $s += $_[0] }); return $s }
sub fail { leaf(10); die "x" }
sub exception { eval { fail(); 1 } or leaf(10); return 1 }
sub work { recurse(5); callback(); generator(); exception(); return 1 }
work() for 1 .. 1000;
print "ready\\n";
while (1) { work() }
"""

NODE = """function leaf(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s += i * i % 7;
	return s;
}
function recurse(n) {
	return n ? recurse(n - 1) : leaf(60);
}
function key(x, y) {
	return leaf(20) + x - y;
}
function callback() {
	return [1, 2, 3, 4, 5].sort(key);
}
function *numbers() {
	for (let i = 0; i < 5; i++)
		yield leaf(20);
}
function generator() {
	let s = 0;
	for (const x of numbers())
		s += x;
	return s;
}
function fail() {
	leaf(10);
	throw new Error();
}
function exception() {
	try {
		fail();
	} catch (e) {
		return leaf(10);
	}
}
function work() {
	recurse(5);
	callback();
	generator();
	exception();
}
for (let i = 0; i < 1000; i++)
	work();
console.log('ready');
for (;;)
	work();
"""

JAVA = """import java.util.*;
import java.util.function.*;
public class Tree {
	static int sum;
	static int leaf(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s += i * i % 7;
		return s;
	}
	static int recurse(int n) {
		return n > 0 ? recurse(n - 1) : leaf(60);
	}
	static int key(Integer x) {
		return leaf(20) + x;
	}
	static void callback() {
		Integer[] a = {5, 4, 3, 2, 1};
		Arrays.sort(a, (x, y) -> key(x) - key(y));
	}
	static void numbers(IntConsumer f) {
		for (int i = 0; i < 5; i++)
			f.accept(leaf(20));
	}
	static void generator() {
		numbers(x -> sum += x);
	}
	static void fail() {
		leaf(10);
		throw new RuntimeException();
	}
	static void exception() {
		try {
			fail();
		} catch (RuntimeException e) {
			leaf(10);
		}
	}
	static void work() {
		recurse(5);
		callback();
		generator();
		exception();
	}
	public static void main(String[] a) {
		for (int i = 0; i < 1000; i++)
			work();
		System.out.println("ready");
		for (;;)
			work();
	}
}
"""

# File, text, the thread that runs it.
LANGUAGES = {
    "python": ("tree.py", PYTHON, "tid == pid"),
    "ruby": ("tree.rb", RUBY, "tid == pid"),
    "php": ("tree.php", PHP, "tid == pid"),
    "perl": ("tree.pl", PERL, "tid == pid"),
    "node": ("tree.js", NODE, "tid == pid"),
    "java": ("Tree.java", JAVA, 'comm == "java"'),
}
# What a file itself is called.
FILE = re.compile(r"^(<module>|<main>|tree\.php|\(main\)|<anonymous>)$")


def function(line, file):
    """The program's function on a line of a stack, or None."""
    found = re.search(r"^(.*)@(?:.*/)?%s(?::\d+)?$" % re.escape(file), line)
    if not found:
        return None
    name = found[1]
    if FILE.match(name):
        return "main"
    if name == "(eval)":
        return "exception"
    # A block belongs to its function, and so do functions without a name.
    name = re.sub(r"^(rescue|ensure|block) (\(\d+ levels\) )?in ", "", name)
    name = re.sub(r"^.*?(?:lambda\$(\w+)\$\d+|__ANON__|(\w+))$", lambda m: m[1] or m[2] or "generator", name)
    return {"key_of": "key", "lambda": "callback"}.get(name, name)


def is_whole(stack, file):
    names = [f for f in (function(line, file) for line in stack) if f]
    if not names or names[-1] != "main":
        return False
    for inner, outer in zip(names, names[1:]):
        # Blocks that a function calls, and functions of a block.
        if inner != outer and outer not in CALLERS.get(inner, []) and (inner, outer) != ("generator", "numbers"):
            return False
    return True


def stacks(text):
    for key in re.finditer(r"^@\[\n((?:[ \t].*\n)*)\]: (\d+)$", text, re.M):
        yield [line.strip() for line in key[1].split("\n") if line.strip()], int(key[2])


def prepare(language, command, folder):
    name, text, thread = LANGUAGES[language]
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if language != "java":
        return [*command, path], name, thread
    compiler = os.path.join(os.path.dirname(command[0]), "javac")
    subprocess.run([compiler, "--release", "11", "-d", folder, path], check=True)
    return [*command, "-cp", folder, "Tree"], name, thread


def sample(sonde, samples, command, thread):
    """What sonde printed, and what it said."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        if program.stdout.readline() != "ready\n":
            return "", "the program did not begin"
        try:
            done = subprocess.run([sonde, "-q", "-p", str(program.pid), "-e", SCRIPT.format(samples, thread)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        finally:
            program.send_signal(signal.SIGKILL)
        return done.stdout, done.stderr


def try_one(sonde, samples, command, verbose):
    language = next(word for word in LANGUAGES if word in os.path.basename(command[0]))
    with tempfile.TemporaryDirectory() as folder:
        full, file, thread = prepare(language, command, folder)
        text, said = sample(sonde, samples, full, thread)
    n, whole, bad = 0, 0, Counter()
    for stack, count in stacks(text):
        n += count
        if is_whole(stack, file):
            whole += count
        else:
            bad[tuple(stack)] += count
    sys.stderr.write("%s: %d of %d samples%s\n" % (" ".join(command), whole, n, "; " + said if said else ""))
    if verbose:
        for stack, count in bad.most_common(12):
            sys.stderr.write("%d\n\t%s\n" % (count, "\n\t".join(stack)))
    if not n or whole * 100 < n * LEAST:
        return "%d of %d samples" % (whole, n)
    return "at least %d of 100 samples" % LEAST


def main():
    args, bad = sys.argv[1:], 0
    verbose = args[0] == "-v"
    if verbose:
        args.pop(0)
    for command in args[2:]:
        said = try_one(args[0], int(args[1]), command.split(), verbose)
        bad += not said.startswith("at least")
        print(said if len(args) == 3 else "%s: %s" % (command, said), flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
