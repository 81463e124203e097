#!/usr/bin/env python3
"""prometheus.py SONDE [SECONDS] - Prometheus scrapes `sonde serve` every two seconds while scripts are added, broken, replaced
and removed. As root; with the prometheus and promtool of the distribution, on free ports of loopback and a folder of its own.

What Prometheus has stored is asked for afterwards: no scrape was refused, counters of the script that stays have never gone
back, and each change was seen. All that is served is clean for promtool, after each change. Then another Prometheus stores
native histograms: each value is counted in the bucket that the script's bucket ends in."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

if len(sys.argv) < 2:
    sys.exit("usage: prometheus.py SONDE [SECONDS]")
sonde, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
slow = float(os.environ.get("TEST_SLOW", "1"))
bad = 0

for program in ("prometheus", "promtool"):
    if not shutil.which(program):
        print("skipped: no %s" % program)
        sys.exit(0)
if os.geteuid():
    print("skipped: not root")
    sys.exit(0)

TICKS = 'config = { metric = "%s" } interval:ms:20 { @ = count(); }\n'
BROKEN = ["interval:ms:20 { @ = count(", "tracepoint:no:such { @ = count(); }\n", "interval:ms:20 { printf(\"x\"); }\n",
          'config = { metric = "stays" } interval:ms:20 { @ = count(); }\n']


def fails(text):
    global bad
    bad += 1
    print("not ok - " + text, flush=True)


def get(url):
    with urllib.request.urlopen(url, timeout=20 * slow) as answer:
        return answer.read().decode()


def wait(what, condition):
    end = time.time() + 30 * slow
    while time.time() < end:
        try:
            got = condition()
        except OSError:
            got = None
        if got:
            return got
        time.sleep(0.1)
    fails("never: " + what)
    return None


class Server:
    """sonde serve, and its folder."""

    def __init__(self, folder, name, text, *options):
        self.folder = folder + "/scripts"
        os.makedirs(self.folder)
        self.log = open(folder + "/serve.log", "w+", encoding="utf-8")
        self.write(name, text)
        self.process = subprocess.Popen([sonde, "serve", "--metrics", "127.0.0.1:0", *options, self.folder], stderr=self.log)
        self.url = wait("sonde serves", self.address)

    def address(self):
        with open(self.log.name, encoding="utf-8") as file:
            found = re.search(r" at (http://\S+)", file.read())
        return found and found.group(1)

    def write(self, name, text):
        with open("%s/%s.bt" % (self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def memory(self):
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


class Prometheus:
    def __init__(self, folder, target, *options):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with open(folder + "/prometheus.yml", "w", encoding="utf-8") as file:
            file.write("global: {scrape_interval: 2s, scrape_timeout: 2s}\nscrape_configs:\n  - job_name: sonde\n"
                       "    static_configs: [{targets: ['%s']}]\n" % target)
        self.log = open(folder + "/prometheus.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=%s/prometheus.yml" % folder, "--storage.tsdb.path=%s/data" % folder,
             "--web.listen-address=127.0.0.1:%d" % port, "--log.level=warn", *options],
            stdout=self.log, stderr=subprocess.STDOUT)
        self.url = "http://127.0.0.1:%d" % port
        wait("Prometheus is ready", lambda: get(self.url + "/-/ready"))

    def rows(self, query):
        answer = json.loads(get(self.url + "/api/v1/query?" + urllib.parse.urlencode({"query": query})))
        return answer["data"]["result"]

    def ask(self, query):
        """{labels of a series: value}; of one without labels {"": value}."""
        return {row["metric"].get("script", row["metric"].get("stage", "")): float(row["value"][1]) for row in self.rows(query)}


def checked(server):
    done = subprocess.run(["promtool", "check", "metrics"], input=get(server.url), capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        fails("promtool: %s" % done.stderr)


def change(server, prometheus, turn):
    """One of each: a script that is new, one that is replaced, one that breaks, one that goes. Until Prometheus has seen it."""
    new, broken, gone = "new%d" % turn, "breaks%d" % (turn % 3), "new%d" % (turn - 2)
    server.write(new, TICKS % new)
    server.write("changes", TICKS % ("changes_%d" % turn))
    server.write(broken, BROKEN[turn % len(BROKEN)])
    if os.path.exists("%s/%s.bt" % (server.folder, gone)):
        os.unlink("%s/%s.bt" % (server.folder, gone))
    server.reload()

    def seen():
        up = prometheus.ask("sonde_up")
        return (up.get(new + ".bt") == 1 and up.get(broken + ".bt") == 0 and gone + ".bt" not in up and
                up.get("stays.bt") == 1 and prometheus.ask("changes_%d_total" % turn).get("", 0) > 0)

    wait("change %d is in Prometheus" % turn, seen)
    checked(server)


def look_back(server, prometheus, began, turns):
    took = "%ds" % (time.time() - began + 1)
    scrapes = prometheus.ask("count_over_time(up[%s])" % took).get("", 0)
    up = prometheus.ask("sum_over_time(up[%s])" % took).get("", 0)
    resets = prometheus.ask("resets(stays_total[%s])" % took).get("")
    rows = prometheus.ask("max_over_time(scrape_samples_scraped[%s])" % took).get("", 0)
    longest = prometheus.ask("max_over_time(scrape_duration_seconds[%s])" % took).get("", 0)
    # Those that took all the time that they had are of a busy machine.
    refused = prometheus.ask("count_over_time((up == 0 and scrape_duration_seconds < 1.9)[%s:1s])" % took).get("", 0)
    if refused or not up:
        fails("%d of %d scrapes failed" % (refused, scrapes))
    if resets != 0:
        fails("a counter of the script that stays went back: %s" % resets)
    if server.process.poll() is not None:
        fails("serve has ended")
    with open("/proc/%d/stat" % server.process.pid, encoding="utf-8") as file:
        ticks = sum(int(n) for n in file.read().rsplit(")", 1)[1].split()[11:13])
    cpu = ticks / os.sysconf("SC_CLK_TCK") / (time.time() - began)
    print("%.0f s: %d scrapes, %d timed out, %d changes of four scripts each; at most %d samples, %.0f ms; serve took %.2f %% of a"
          " processor and %.1f MB" % (time.time() - began, scrapes, scrapes - up, turns, rows, longest * 1000, 100 * cpu,
                                      server.memory()))


def end(server, prometheus):
    for process in (prometheus.process, server.process):
        process.terminate()
        process.wait()
    if server.process.returncode:
        fails("serve ended with %d" % server.process.returncode)
    if bad:
        for log in (server.log, prometheus.log):
            with open(log.name, encoding="utf-8") as file:
                print(file.read()[-2000:])


def changes(folder):
    server = Server(folder, "stays", TICKS % "stays")
    prometheus = Prometheus(folder, server.url.split("/")[2])
    try:
        wait("the first scrape", lambda: prometheus.ask("up").get("") == 1)
        began, turn = time.time(), 0
        first = server.memory()
        while time.time() - began < seconds and not bad:
            turn += 1
            change(server, prometheus, turn)
        look_back(server, prometheus, began, turn)
        if server.memory() > 2 * first + 32:
            fails("serve grew from %.1f to %.1f MB" % (first, server.memory()))
    finally:
        end(server, prometheus)


def native(folder):
    """Of the values 0, 1, 5, 100 and -3 there are as many each. The text for others stays what it was."""
    server = Server(folder, "spread", 'config = { metric = "spread" } interval:ms:20 '
                    "{ @ = hist(0); @ = hist(1); @ = hist(5); @ = hist(100); @ = hist(-3); }\n", "--native-histograms")
    prometheus = Prometheus(folder, server.url.split("/")[2], "--enable-feature=native-histograms")
    try:
        rows = wait("a native histogram", lambda: prometheus.rows("spread")) or [{"histogram": [0, {"count": 0, "buckets": []}]}]
        got = rows[0]["histogram"][1]
        buckets = [(float(low), float(high), float(n) * 5) for _, low, high, n in got["buckets"]]
        zero, all_of = 2.0 ** -128, float(got["count"])
        want = [(-1, -.5, all_of), (-zero, zero, all_of), (.5, 1, all_of), (4, 8, all_of), (64, 128, all_of)]
        if buckets != want or not all_of:
            fails("native buckets: %s, not %s" % (buckets, want))
        if 'spread_bucket{le="127"}' not in get(server.url):
            fails("the text has no buckets")
        print("native: %d buckets of %d values" % (len(buckets), all_of))
    finally:
        end(server, prometheus)


def main():
    with tempfile.TemporaryDirectory() as folder:
        changes(folder + "/changes")
        native(folder + "/native")


main()
if not bad:
    print("Prometheus and serve: ok")
sys.exit(bad)
