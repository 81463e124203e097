#!/usr/bin/env python3
"""What stacks with functions of a language cost: python3 bench/langs.py SONDE INTERPRETER...

Each interpreter runs a program that makes a system call ten functions deep, 20,000 times. The program is traced with
ustack and with ustack(native) in turn, seven times each; printed are the medians of what sonde's program took, and of
the quotient. As root.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROUNDS, CALLS = 7, 20000
PROGRAMS = {
    "python": ("deep.py", "getppid", """import os
def deep(n):
    if n:
        return deep(n - 1)
    for _ in range(%d):
        os.getppid()
deep(8)
"""),
    "ruby": ("deep.rb", "getppid", """def deep(n)
  return deep(n - 1) if n > 0
  i = 0
  while i < %d
    Process.ppid
    i += 1
  end
end
deep(8)
"""),
    "php": ("deep.php", "getpid", """<?php
function deep($n) {
	if ($n)
		return deep($n - 1);
	for ($i = 0; $i < %d; $i++)
		getmypid();
}
deep(7);
"""),
    "perl": ("deep.pl", "getppid", """sub deep {
	my $n = shift;
	return deep($n - 1) if $n;
	getppid() for 1 .. %d;
	return 1;
}
deep(8);
"""),
    "node": ("deep.js", "getppid", """function deep(n) {
	if (n)
		return deep(n - 1);
	for (let i = 0; i < %d; i++)
		process.ppid;
}
deep(1);
"""),
    "java": ("Deep.java", "getppid", """public class Deep {
	static void deep(int n) {
		if (n > 0) {
			deep(n - 1);
			return;
		}
		for (int i = 0; i < %d; i++)
			ProcessHandle.current().parent();
	}
	public static void main(String[] a) {
		deep(6);
	}
}
"""),
}


def cost(sonde, command, call, stack):
    """ns of each of these calls; what other processes' calls cost is in it."""
    script = "tracepoint:syscalls:sys_enter_%s /pid == cpid/ { @[%s] = count(); }" % (call, stack)
    said = subprocess.run([sonde, "--cost", "-q", "-e", script, "-c", command], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    runs, ms = re.search(r"(\d+) runs, \d+ ns each, ([\d.]+) ms", said).groups()
    assert int(runs) >= CALLS, said
    return float(ms) * 1e6 / CALLS


def main():
    sonde = sys.argv[1]
    for command in sys.argv[2:]:
        name = os.path.basename(command.split()[0])
        file, call, text = next(v for k, v in PROGRAMS.items() if k in name)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, file)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text % CALLS)
            run = "%s %s" % (command, path)
            both = [], []
            for _ in range(ROUNDS):
                for list_, stack in zip(both, ("ustack", "ustack(native)")):
                    list_.append(cost(sonde, run, call, stack))
            a, b = (statistics.median(x) for x in both)
            ratio = statistics.median(x / y for x, y in zip(*both))
            print("%-12s %6.0f ns, native %6.0f ns, %.2f times" % (name, a, b, ratio), flush=True)


if __name__ == "__main__":
    main()
