#!/usr/bin/env python3
"""ustack against an interpreter's own idea of its stack:

    tests/kernel/langstacks.py [-r] SONDE INTERPRETER...

Each interpreter runs progs/pycalls.py, or progs/rbcalls.rb, phpcalls.php, plcalls.pl, jscalls.js or JavaCalls.java if
it has ruby, php, perl, node or java in its name, which writes its stack at some places, and makes a system call there, where sonde prints
ustack(lang). Both must say the same. As root. Prints a line per interpreter. -r: the interpreter has a root directory
of its own, where its file is at another path (rooted.sh).
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = """tracepoint:syscalls:sys_enter_{1}
/pid == {0} || curtask->real_parent->tgid == {0}/ {{ print(ustack(lang)); }}"""


# Printed at the end: lines are read while the program goes on, which may take a second look.
AT_END = "tracepoint:syscalls:sys_enter_getppid {{ @n++; @stack[@n, ustack(lang)] = @n; }} END {{ clear(@n); }}"


def blocks(text):
    text = re.sub(r"@stack\[\d+,|\]: \d+", "\n", text)
    return [b for b in ([line.strip() for line in part.split("\n") if line.strip()]
                        for part in text.split("\n\n")) if b]


def run_program(sonde, command, call, want, got):
    """The interpreter's file is the program."""
    done = subprocess.run([sonde, "-q", "-o", got, "-e", SCRIPT.format("cpid", call), "-c", f"{command} {want}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def run_python(sonde, python, prog, want, got):
    return run_program(sonde, f"{python} -W ignore {prog}", "getppid", want, got)


def run_php(sonde, php, prog, want, got):
    """PHP has a function for another system call, which it makes by itself, too."""
    return run_program(sonde, f"{php} {prog}", "getpid", want, got)


def run_before(sonde, command, mapped, got, stays=False):
    """The program is there before sonde, and begins when probes are attached: at the end of its input. If it stays
    until it is ended, it says when it is ready and when it is done, and no other process is asked."""
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE if stays else None, text=True)
    if stays:
        program.stdout.readline()
    while mapped not in open(f"/proc/{program.pid}/maps", encoding="utf-8").read():
        pass
    only = ["-p", str(program.pid)] if stays else []
    tracer = subprocess.Popen([sonde, *only, "-o", got, "-e", (AT_END if stays else SCRIPT).format(program.pid, "getppid")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    first = tracer.stderr.readline()
    if stays:
        program.stdin.close()
        program.stdout.readline()
    else:
        program.communicate("go\n")
    tracer.send_signal(signal.SIGINT)
    said = tracer.communicate()[1]
    if stays:
        program.terminate()
        program.wait()
    return tracer.returncode or program.returncode, said if first.startswith("Attached") else first + said


def run_ruby(sonde, ruby, prog, want, got):
    """The interpreter is a library."""
    start = "$stdin.gets; load ARGV.shift"
    return run_before(sonde, [*ruby.split(), "-e", start, prog, want], "ruby", got)


def run_node(sonde, node, prog, want, got):
    """Its file is large, and lines are read from its memory."""
    return run_before(sonde, [*node.split(), "--no-concurrent-recompilation", prog, want], "node", got, stays=True)


def run_java(sonde, java, prog, want, got):
    """Frames that Java hides are shown. The compiler is beside the interpreter, or is any."""
    folder = os.path.dirname(want)
    command = java.split()
    own = next(word for word in command if os.path.basename(word) == "java")
    compiler = os.path.join(os.path.dirname(own), "javac")
    subprocess.run([compiler, "--release", "11", "-d", folder, prog], check=True)
    shown = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames"]
    return run_before(sonde, [*command, *shown, "-cp", folder, "JavaCalls", want], "libjvm", got, stays=True)


def run_perl(sonde, perl, prog, want, got):
    return run_program(sonde, f"{perl} {prog}", "getppid", want, got)


LANGUAGES = {"ruby": (run_ruby, "rbcalls.rb", ["mark@"]),
             "php": (run_php, "phpcalls.php", ["getmypid", "Calls\\mark@"]),
             "perl": (run_perl, "plcalls.pl", ["main::mark@"]),
             "node": (run_node, "jscalls.js", ["mark@"]),
             "java": (run_java, "JavaCalls.java", ["java.lang.ProcessHandleImpl.parent0@ProcessHandleImpl.java",
                                                   "java.lang.ProcessHandleImpl.parent@ProcessHandleImpl.java",
                                                   "JavaCalls.mark@"]),
             "": (run_python, "pycalls.py", ["mark@"])}


def try_one(sonde, command, rooted):
    name = os.path.basename(command.split()[0])
    run, prog, first = next(of for word, of in LANGUAGES.items() if word in name)
    prog = os.path.join(TESTS, "progs", prog)
    first = first[:-1] + [first[-1] + (os.path.basename(prog) if "java" in name else prog)]
    with tempfile.TemporaryDirectory() as folder:
        want = os.path.join(folder, "want")
        got = os.path.join(folder, "got")
        code, said = run(sonde, rooted + command, prog, want, got)
        if code or said:
            return "exit code %d: %s" % (code, said.strip())
        with open(want, encoding="utf-8") as f:
            wanted = blocks(f.read())
        with open(got, encoding="utf-8") as f:
            stacks = [s for s in blocks(f.read()) if s[0].startswith(first[0])]
    if len(stacks) != len(wanted):
        return "%d stacks instead of %d" % (len(stacks), len(wanted))
    for i, (s, w) in enumerate(zip(stacks, wanted)):
        begins = all(line.startswith(word) for line, word in zip(s, first))
        # Java 11 has no numbers of hidden classes in its memory
        w = [line if line in s else re.sub(r"(\$\$Lambda\$\d+)/0x[0-9a-f]+", r"\1", line) for line in w]
        if not begins or s[len(first):] != w[len(first) - 1:]:
            return "stack %d is\n  %s\ninstead of\n  %s" % (i, "\n  ".join(s), "\n  ".join(w))
    return "%d stacks are the same" % len(stacks)


def main():
    args, bad, rooted = sys.argv[1:], 0, ""
    if args[0] == "-r":
        rooted = os.path.join(TESTS, "kernel", "rooted.sh") + " "
        args.pop(0)
    for command in args[1:]:
        said = try_one(args[0], command, rooted)
        bad += not said.endswith("are the same")
        print(said if len(args) == 2 else "%s: %s" % (command, said))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
