#!/usr/bin/env python3
"""Short processes that have ended when their stacks are printed:

    tests/kernel/langended.py SONDE N INTERPRETER...

N processes of each interpreter run the same small program, two at a time. sonde counts the stacks of their system
call, and prints them when all of them have ended: at least 99 of 100 must have every function of the program, with its
name, its file and (but for JavaScript) its line. As root. Prints a line per interpreter; the number to standard error.
$LEAST: another number than 99, where libraries are mapped late on a machine with much to do.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

AT_ONCE = 2
LEAST = int(os.environ.get("LEAST", "99"))
WITHOUT_LINES = ["node"]
SCRIPT = """config = {{ max_map_keys = 1000000 }}
tracepoint:syscalls:sys_enter_{1} /curtask->real_parent->tgid == {0}/ {{ @[pid, ustack(lang)] = count(); }}
tracepoint:syscalls:sys_enter_{1} /curtask->real_parent->real_parent->tgid == {0}/ {{ print(ustack(lang)); }}"""

JAVA = """public class short {
\tstatic void inner() {
\t\tProcessHandle.current().parent();
\t}

\tstatic void middle() {
\t\tinner();
\t}

\tpublic static void main(String[] args) {
\t\tmiddle();
\t}
}
""".replace("short", "Short")

# File, text, system call, functions from the innermost on.
LANGUAGES = {
    "python": ("short.py", "import os\n\n\ndef inner():\n    os.getppid()\n\n\ndef middle():\n    inner()\n\n\nmiddle()\n",
               "getppid", ["inner@{}:5", "middle@{}:9", "<module>@{}:12"]),
    "ruby": ("short.rb", "def inner\n  Process.ppid\nend\n\ndef middle\n  inner\nend\n\nmiddle\n",
             "getppid", ["inner@{}:2", "middle@{}:6", "<main>@{}:9"]),
    "php": ("short.php", "<?php\nfunction inner() {\n\treturn getmypid();\n}\n\nfunction middle() {\n\treturn inner();\n}\n\n"
            "middle();\n", "getpid", ["getmypid", "inner@{}:3", "middle@{}:7", "short.php@{}:10"]),
    "perl": ("short.pl", "sub inner {\n\tgetppid();\n}\n\nsub middle {\n\tinner();\n\treturn 1;\n}\n\nmiddle();\n",
             "getppid", ["main::inner@{}:2", "main::middle@{}:6", "(main)@{}:10"]),
    "node": ("short.js", "function inner() {\n\treturn process.ppid;\n}\n\nfunction middle() {\n\treturn inner();\n}\n\n"
             "middle();\n", "getppid", ["inner@{}:2", "middle@{}:6", "<anonymous>@{}:9"]),
    "java": ("Short.java", JAVA, "getppid", ["Short.inner@Short.java:3", "Short.middle@Short.java:7",
                                             "Short.main@Short.java:11"]),
}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def prepare(language, command, folder):
    """The command that runs the program, its system call, and the functions that its stack must have."""
    name, text, call, functions = LANGUAGES[language]
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    functions = [f.format(path) for f in functions]
    if language in WITHOUT_LINES:
        functions = [re.sub(r":\d+$", "", f) for f in functions]
    if language != "java":
        return [*command, path], call, functions
    compiler = os.path.join(os.path.dirname(command[0]), "javac")
    subprocess.run([compiler, "--release", "11", "-d", folder, path], check=True)
    return [*command, "-Xshare:auto", "-cp", folder, "Short"], call, functions


def has_all(stack, functions, language):
    """Other functions may be around those of the program, but not between them."""
    if language in WITHOUT_LINES:
        stack = [re.sub(r":\d+$", "", f) for f in stack]
    return any(stack[i:i + len(functions)] == functions for i in range(len(stack)))


def stacks(text):
    """(process, functions) of each key of the map, and the count."""
    for key in re.finditer(r"^@\[(\d+),([^]]*)\]: \d+$", text, re.M):
        yield int(key[1]), [line.strip() for line in key[2].split("\n") if line.strip()]


def run_all(command, n):
    """Their process ids: less than n, if one was used again meanwhile."""
    running, ids = [], set()
    for i in range(n):
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        ids.add(running[-1].pid)
        if len(running) == AT_ONCE:
            running.pop(0).wait()
    for p in running:
        p.wait()
    return ids


def warm_up(command, tracer, functions, out):
    """Until sonde has seen one process of this interpreter, of another parent than the others have."""
    deadline = time.monotonic() + 30
    while functions[0] not in re.sub(r"(?<=js):\d+$", "", read(out), flags=re.M):
        if tracer.poll() is not None or time.monotonic() > deadline:
            return False
        subprocess.run(["sh", "-c", '"$@"; :', "sh", *command], stdout=subprocess.DEVNULL, check=True)
    return True


def try_one(sonde, n, command):
    language = next(word for word in LANGUAGES if word in os.path.basename(command[0]))
    with tempfile.TemporaryDirectory() as folder:
        command, call, functions = prepare(language, command, folder)
        out = os.path.join(folder, "out")
        with subprocess.Popen([sonde, "-o", out, "-e", SCRIPT.format(os.getpid(), call)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tracer:
            first = tracer.stderr.readline()
            if not first.startswith("Attached"):
                tracer.send_signal(signal.SIGINT)
                return first + tracer.communicate()[1]
            met = warm_up(command, tracer, functions, out)
            ids = run_all(command, n) if met else set()
            tracer.send_signal(signal.SIGINT)
            said = tracer.communicate()[1]
        if not met:
            return "no stack of the first process: %s%s" % (said, read(out))
        named = {pid for pid, stack in stacks(read(out)) if has_all(stack, functions, language)}
    sys.stderr.write("%s: %d of %d%s\n" % (command[0], len(named & ids), len(ids), "; " + said if said else ""))
    if len(named & ids) * 100 < len(ids) * LEAST:
        return "%d of %d processes" % (len(named & ids), len(ids))
    return "at least %d of 100 processes" % LEAST


def main():
    bad = 0
    for command in sys.argv[3:]:
        said = try_one(sys.argv[1], int(sys.argv[2]), command.split())
        bad += not said.startswith("at least")
        print(said if len(sys.argv) == 4 else "%s: %s" % (command, said))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
