#!/usr/bin/env python3
"""Start of ten tools: sonde's, libbpf-tools' and bpftrace's of the same name. Called by bench/run.sh.

From the environment: SONDE, BPFTRACE as in run.sh ("chroot DIR bpftrace" is understood; libbpf-tools are
looked for in the same place), TOOLS (the folder of bpftrace's scripts), ROUNDS (5). Prints markdown: ms from exec
until the tool says that it traces, or prints its heading, on a terminal; peak memory until then; processor
time until it has ended after SIGINT. Medians.
"""
import os, pty, re, select, shlex, signal, statistics, sys, time

NAMES = "execsnoop opensnoop statsnoop syncsnoop biolatency bitesize runqlat syscount tcplife exitsnoop".split()
READY = re.compile(rb"Attached \d+|Hit Ctrl-C|Tracing|PID|COMM|TIME")
LIMIT = 60


def peak(pid):
    """MiB, of what runs there now: wait4() would count this interpreter, too, from before its exec."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0


def run(argv):
    """-> (ms, processor ms, MiB), or None when it did not start."""
    begun, memory = time.monotonic(), 0
    pid, terminal = pty.fork()
    if not pid:
        try:
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)
    seen, ready = b"", None
    try:
        while ready is None and time.monotonic() - begun < LIMIT:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            seen += os.read(terminal, 4096)
            if READY.search(seen):
                ready = (time.monotonic() - begun) * 1e3
                memory = peak(pid)
    except OSError:  # it has ended
        pass
    os.kill(pid, signal.SIGINT)
    end = time.monotonic() + LIMIT
    while True:
        done, _, use = os.wait4(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        try:
            if select.select([terminal], [], [], 0.01)[0]:
                os.read(terminal, 65536)
        except OSError:
            time.sleep(0.001)
    os.close(terminal)
    return ready and (ready, (use.ru_utime + use.ru_stime) * 1e3, memory)


def median(argv, rounds):
    got = []
    for _ in range(rounds):
        one = run(argv)
        if not one:
            return None
        got.append(one)
        time.sleep(0.12)  # after a detach, attaching waits for the kernel's grace period
    return [statistics.median(x) for x in zip(*got)]


def main():
    sonde = shlex.split(os.environ.get("SONDE", "build/sonde"))
    bpftrace = shlex.split(os.environ.get("BPFTRACE", ""))
    scripts = os.environ.get("TOOLS", "/usr/sbin")
    rounds = int(os.environ.get("ROUNDS", "5"))
    root = bpftrace[1] if bpftrace[:1] == ["chroot"] else ""
    inside = bpftrace[:2] if root else []
    print("\n## Start of tools\n\nms from exec until the tool prints that it traces, or its heading, on a terminal;")
    print("peak memory until then; processor time until its end after SIGINT; medians.\n")
    print("| tool | whose | ready | CPU | MiB |\n|---|---|---|---|---|")
    worst = [0, 0, 0]
    for name in NAMES:
        whose = [("sonde", sonde + [name])]
        if os.access(f"{root}/usr/sbin/{name}-libbpf", os.X_OK):
            whose.append(("libbpf-tools", inside + [f"/usr/sbin/{name}-libbpf"]))
        if bpftrace and os.access(f"{root}{scripts}/{name}.bt", os.R_OK):
            whose.append(("bpftrace", bpftrace + [f"{scripts}/{name}.bt"]))
        for who, argv in whose:
            print(f"  {name} {who}", file=sys.stderr)
            got = median(argv, rounds)
            print(f"| {name} | {who} | " + (" | ".join(f"{x:.1f}" for x in got) if got else "- | - | -") + " |", flush=True)
            if got and who == "sonde":
                worst = [max(x) for x in zip(worst, got)]
    print(f"\nsonde's slowest: {worst[0]:.1f} ms (goal 25); largest: {worst[2]:.1f} MiB (goal 12)")


main()
