#!/usr/bin/env python3
"""export.py [-v] BUILD [NAME] - recordings as files of other programs, read back: by readers of its own, and by the
programs that they are for, where these are installed.

Recordings are those of mkrec. What is in them is read by docs/read_recording.py. Prints `ok N - name`, `not ok N - name`
and why; the last line sums up."""
import csv, io, json, os, re, shutil, sqlite3, stat, struct, subprocess, sys, tempfile, threading

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + "/../../docs")
sys.dont_write_bytecode = True
import read_recording

verbose = "-v" in sys.argv
words = [w for w in sys.argv[1:] if w != "-v"]
build = os.path.abspath(words[0])
only = words[1] if len(words) > 1 else ""
tmp = tempfile.mkdtemp()
tests = []

def test(f):
    tests.append(f)
    return f

def equal(got, want, what=""):
    if got != want:
        raise AssertionError("%s: %r, not %r" % (what or "value", got, want))

def recording(name, *options):
    path = "%s/%s.sonde" % (tmp, name)
    if not os.path.exists(path):
        subprocess.run([build + "/mkrec", "-u", *options, path], check=True)
    return path

def sonde(*words, rc=0):
    done = subprocess.run([build + "/sonde", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          stdin=subprocess.DEVNULL, cwd=tmp)
    equal(done.returncode, rc, "exit status of sonde %s: %s" % (" ".join(words), done.stderr.decode()))
    return done.stdout, done.stderr.decode()

def exported(path, format, *options):
    return sonde("export", path, "--to", format, *options)[0]

def plain(path):
    """Rows of the recording as (time, cpu, pid, tid, comm, probe, names, values)."""
    with open(path, "rb") as file:
        for _, ts, cpu, task, schema, cells in read_recording.rows(file.read()):
            names = [c[7].decode() for c in schema[1]]
            yield ts, cpu, task[0][1], task[0][0], task[1], schema[0].decode(), names, cells

def counts(path):
    """Events by probe, as sonde query counts them."""
    text = sonde("query", "-q", path, "-f", "json", "-e", "*:* { @[probe] = count(); }")[0].decode()
    maps = [json.loads(line) for line in text.splitlines()]
    return next(m["data"]["@"] for m in maps if m["type"] == "map")

def count_of(probes):
    n = {}
    for p in probes:
        n[p] = n.get(p, 0) + 1
    return n

def recordings():
    return [recording("a"), recording("l", "-l"), recording("p", "-p"), recording("k", "-k")]

# ---- rows ----

@test
def text_is_what_report_prints():
    for path in recordings():
        lines = exported(path, "text").decode()
        events = "".join(l for l in lines.splitlines(True) if not l.startswith("LOST: "))
        equal(events, sonde("report", "--events", path)[0].decode())
    lost = [l for l in exported(recording("l", "-l"), "text").decode().splitlines() if l.startswith("LOST")]
    equal(lost, ["LOST: Lost 4 events"])

def json_value(v, name):
    """As docs/read_recording.py has it."""
    if isinstance(v, str) and re.fullmatch(r"-?\d{16,}", v):
        return int(v)
    if name == "args.colour":
        return {"RED": 0, "GREEN": 7}.get(v, v)
    if name.startswith("buf("):
        return bytes(v)
    return v

@test
def json_has_every_value():
    for path in recordings():
        lines = [json.loads(l) for l in exported(path, "json").decode().splitlines()]
        head, events = lines[0], [l for l in lines if l["type"] == "event"]
        equal(head, {"type": "recording", "data": {
            "start": "2025-11-27T19:00:00.000000000Z", "start_ns": 1000000000000, "cpus": 4, "complete": True,
            "machine": "x86_64"}})
        rows = list(plain(path))
        equal(len(events), len(rows))
        for e, (ts, cpu, pid, tid, comm, probe, names, cells) in zip(events, rows):
            equal((e["ts"], e["cpu"], e["pid"], e["tid"], e["comm"], e["table"]),
                  (ts, cpu, pid, tid, comm.decode(), probe))
            equal(list(e["args"]), [n[5:] if n.startswith("args.") else n for n in names])
            for name, got, want in zip(names, e["args"].values(), cells):
                if name in ("kstack", "ustack"):
                    equal([f["sym"] for f in got],
                          {"kstack": ["do_read", "do_syscall_64"], "ustack": ["copy", "main"]}[name])
                elif name == "args.ratio":
                    equal(got, 0.1)
                elif name.startswith("ksym("):
                    equal(got, want[1].decode())
                elif isinstance(want, bytes) and not name.startswith("buf("):
                    equal(got, want.decode("latin-1"), name)
                else:
                    equal(json_value(got, name), want, name)
        equal(count_of(e["table"] for e in events), counts(path))
    lost = [json.loads(l) for l in exported(recording("l", "-l"), "json").decode().splitlines()][-1]
    equal(lost, {"type": "lost_total", "data": {"events": 4, "from": 1000500000000, "to": 1000513000000,
                                                "msg": "Lost 4 events"}})

@test
def csv_has_every_event():
    for path in recordings():
        table = list(csv.DictReader(io.StringIO(exported(path, "csv").decode(), newline="")))
        rows = list(plain(path))
        equal(len(table), len(rows))
        for got, (ts, cpu, pid, tid, comm, probe, names, cells) in zip(table, rows):
            equal([got[c] for c in ("ts", "cpu", "pid", "tid", "comm", "probe")],
                  [str(ts), str(cpu), str(pid), str(tid), comm.decode(), probe])
            names = [n if n in ("args.pid", "args.comm") else re.sub(r"^args\.", "", n) for n in names]
            equal({c for c in got if got[c] != ""} - {"ts", "cpu", "pid", "tid", "comm", "probe"}, set(names))
            for name, value in zip(names, cells):
                if isinstance(value, int) and name in ("id", "ret", "prev_pid", "flags"):
                    equal(got[name], str(value), name)
        equal(count_of(r["probe"] for r in table), counts(path))
    odd = [r for r in csv.DictReader(io.StringIO(exported(recording("k", "-k"), "csv").decode(), newline=""))
           if r["probe"].startswith("usdt:")][2]
    equal({n: odd[n] for n in ("yes", "colour", "event", "buf(args.p, 4)", "list", "ksym(args.ip)", "ratio", "big", "probe")},
          {"yes": "0", "colour": "14", "event": 'a"b,c\\n<\\xff;]]>\\x01 </script>..', "buf(args.p, 4)": "0001feff",
           "list": "[-1,0,300]", "ksym(args.ip)": "do_read", "ratio": "0.1", "big": "18446744073709551613",
           "probe": 'usdt:/opt/a "b":app:odd'})

# ---- timelines ----

CPUS, IRQS, COUNTERS, LOSSES = range((1 << 22) + 1, (1 << 22) + 5)
SPAN_BEGIN, SPAN_END = "span_begin:%s", "span_end:%s"

def drawn(path):
    """What a viewer has of a recording of mkrec, by the numbers that sonde query gives."""
    n = counts(path)
    get = lambda *probes: sum(n.get(p, 0) for p in probes)
    more = "kprobe:outer" in n
    begins = get("tracepoint:raw_syscalls:sys_enter", "kprobe:outer", "fentry:vmlinux:inner", "tracepoint:irq:irq_handler_entry")
    return {
        "slices": begins,
        "ends": begins,  # the function that does not return ends with its thread
        # a return without an entry is one, too, and so are the three ends of spans that did not begin
        "instants": more + 3 * ("p.sonde" in path) + get("tracepoint:sched:sched_process_fork", "tracepoint:sched:sched_wakeup_new",
                               "tracepoint:sched:sched_process_exit", 'usdt:/opt/a "b":app:odd'),
        "samples": get("profile:hz:99"),
        "counters": get("interval:ms:1", "tracepoint:power:cpu_frequency"),
        "all": sum(n.values()),
        "spans": get(SPAN_BEGIN % "tracepoint:block:block_rq_issue", SPAN_BEGIN % "uprobe:/bin/app:done"),
        "span_ends": get(SPAN_END % "tracepoint:block:block_rq_issue", SPAN_END % "uprobe:/bin/app:done")
                     - 3 * ("p.sonde" in path),
        "switches": get("tracepoint:sched:sched_switch"),
        "calls": get("tracepoint:raw_syscalls:sys_enter"),
        "losses": path.endswith("l.sonde"),
    }

def trace_processor(path, *queries):
    """Rows of each query, by Perfetto's engine; None where it is missing."""
    if not shutil.which("node") or not os.environ.get("TRACE_PROCESSOR"):
        return None
    done = subprocess.run(["node", here + "/perfetto.mjs", path, *queries], stdout=subprocess.PIPE, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]

BAD = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
NO_ENGINE = "no trace processor: TRACE_PROCESSOR is not the path of its WebAssembly"

@test
def chrome_is_nested_and_complete():
    for path in recordings():
        want = drawn(path)
        trace = json.loads(exported(path, "chrome", "-o", "-"))
        tracks, kinds = {}, {}
        for e in trace["traceEvents"]:
            kind = "sample" if e.get("name") == "sample" else "lost" if e["pid"] == LOSSES else e["ph"]
            kinds[kind] = kinds.get(kind, 0) + 1
            open_, last = tracks.setdefault((e["pid"], e["tid"]), ([], [0]))
            if e["ph"] in "BEi" and kind != "lost":
                if e["ts"] < last[0]:
                    raise AssertionError("time goes back on a track: %s" % e)
                last[0] = e["ts"]
            if e["ph"] == "B":
                open_.append(e["name"])
            elif e["ph"] == "E":
                open_.pop()
        equal([k for k, (open_, _) in tracks.items() if open_], [], "open slices")
        equal((kinds.get("b", 0), kinds.get("e", 0)), (want["spans"], want["span_ends"]), "spans")
        equal((kinds["B"], kinds["E"], kinds.get("i", 0), kinds["sample"], kinds.get("C", 0), kinds.get("lost", 0)),
              (want["slices"], want["ends"], want["instants"], want["samples"], want["counters"], want["losses"]))
        call = next(e for e in trace["traceEvents"] if e["ph"] == "B")
        equal(call, {"ph": "B", "pid": 100, "tid": 100, "name": "openat", "ts": 0, "args":
                     {"dfd": -100, "flags": 524288, "filename": "/etc/file0"},
                     "cat": "tracepoint:syscalls:sys_enter_openat"})
        sample = next(e for e in trace["traceEvents"] if e.get("name") == "sample")
        frames, at = [], sample["sf"]
        while at:
            frame = trace["stackFrames"][str(at)]
            frames.append(frame["name"])
            at = frame.get("parent")
        equal(frames, ["do_read", "do_syscall_64", "copy", "main"])

@test
def chrome_by_perfetto():
    for path in recordings():
        sonde("export", path, "--to", "chrome", "-o", "x.trace.json")
        got = trace_processor(
            tmp + "/x.trace.json", BAD, "select count(*) from counter",
            "select count(*), sum(dur) from slice where name in ('openat', 'write')",
            "select count(*) from slice where name = 'sample'",
            "select name, dur from slice where name in ('outer', 'inner', 'irq_handler') and dur > 0 order by ts",
            "select count(*) from slice where name like 'Lost %'")
        if not got:
            return NO_ENGINE
        want = drawn(path)
        equal(got, [[], [[want["counters"]]], [[want["calls"], 70000000]], [[want["samples"]]],
                    [["outer", 600000], ["inner", 400000], ["irq_handler", 200000], ["outer", 100000]]
                    if "k.sonde" in path else [], [[int(want["losses"])]]])

@test
def perfetto_by_its_engine():
    for path in recordings():
        sonde("export", path, "--to", "perfetto", "-o", "x.pftrace")
        got = trace_processor(
            tmp + "/x.pftrace", BAD,
            "select count(*), sum(dur) from slice where name in ('openat', 'write')",
            "select count(*) from slice where dur > 0 and category not like 'span%'",
            "select count(*) from slice where dur < 0 and category not like 'span%'",
            "select count(*) from perf_sample where callsite_id is not null",
            "select count(*) from counter join track on track.id = track_id where track.name != 'cpu-clock'",
            "select count(*) from slice join track on track.id = track_id where track.name = 'losses'",
            "select name from stack_profile_frame order by id", "select name, build_id from stack_profile_mapping order by id",
            "select distinct tid, thread.name, pid from sched join thread using (utid) left join process using (upid) order by tid",
            "select key, string_value, int_value from args where arg_set_id = (select min(arg_set_id) from slice) order by key")
        if not got:
            return NO_ENGINE
        want, more = drawn(path), "k.sonde" in path
        equal(got, [[["traced_buf_trace_writer_packet_loss", 4]] if want["losses"] else [],
                    [[want["calls"], 70000000]], [[want["slices"]]], [[0]], [[want["samples"]]], [[want["counters"]]],
                    [[want["losses"]]],
                    [["main"], ["copy"], ["do_syscall_64"], ["do_read"]],
                    [["/usr/bin/cat", "0123456789abcdef"], ["/[kernel.kallsyms]", ""]],
                    [[9, "sonde", 9]] * more + [[100, "cat", 100], [201, "worker", 200]] + [[300, "child", 300]] * more,
                    [["debug.dfd", None, -100], ["debug.filename", "/etc/file0", None], ["debug.flags", None, 524288],
                     ["debug.ret", None, -2]]])

# The spans of mkrec -p: (name, thread, id, time in ns since 1200 ms, duration), which overlap.
MK_SPANS = [["io", 100, "1", 0, 2000000], ["io", 201, "2", 1000000, 6000000], ["io", 100, "1", 3000000, 3000000],
            ["io", 100, "1", 4000000, 1000000], ["io", 0, "3", 10000000, -1], ["request", 100, "abc", 21000000, -1]]

@test
def spans_begin_and_end_by_id():
    out, err = sonde("export", recording("p", "-p"), "--to", "chrome", "-o", "-")
    equal(err, "NOTE: 2 spans did not end: io (1), request (1)\n"
               "NOTE: 3 ends of spans had no begin: io (2), request (1)\n")
    events, spans, open_ = json.loads(out)["traceEvents"], [], {}
    for e in events:
        if e["ph"] == "b":
            equal(e["cat"], "span")
            open_[e["id"]] = len(spans)
            spans.append([e["name"], e["tid"], str(e["args"]["span.id"]), round(e["ts"] * 1000) - 1200000000, -1, e["pid"]])
        elif e["ph"] == "e":
            span = spans[open_.pop(e["id"])]
            equal((e["name"], e["pid"]), (span[0], span[5]))
            span[4] = round(e["ts"] * 1000) - 1200000000 - span[3]
    equal([s[:5] for s in spans], MK_SPANS)
    equal([(e["name"], e["args"]["span.id"]) for e in events if e["ph"] == "i" and e.get("cat", "").startswith("span_end:")],
          [("io", 99), ("io", 99), ("request", "x")])
    equal(next(e["args"] for e in events if e["ph"] == "b"), {"span.id": 1, "bytes": 0})

@test
def spans_by_perfettos_engine():
    spans = ("select s.name, t.tid, a.display_value, ts - 1001200000000, dur from slice s "
             "left join thread_track k on k.id = s.track_id left join thread t using (utid) join args a using (arg_set_id) "
             "where s.category like 'span_begin:%' and a.key = 'debug.span_id' order by ts")
    sonde("export", recording("p", "-p"), "--to", "perfetto", "-o", "x.pftrace")
    sonde("export", recording("p", "-p"), "--to", "chrome", "-o", "x.trace.json")
    got = trace_processor(tmp + "/x.pftrace", BAD, spans, "select distinct name from track where name in ('io', 'request') order by 1")
    if not got:
        return NO_ENGINE
    equal(got, [[], [[s[0], s[1] or None, *s[2:]] for s in MK_SPANS], [["io"], ["request"]]])
    equal(trace_processor(tmp + "/x.trace.json", BAD, "select name, dur from slice where category = 'span' order by ts"),
          [[], [[s[0], s[4]] for s in MK_SPANS]])

# ---- protocol buffers, from the description of the wire format ----

def fields(b):
    at, out = 0, []
    def varint():
        nonlocal at
        n = shift = 0
        while True:
            n |= (b[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if b[at - 1] < 128:
                return n
    while at < len(b):
        key = varint()
        if key & 7 == 0:
            v = varint()
        else:
            n = {1: 8, 2: None, 5: 4}[key & 7]
            n = varint() if n is None else n
            if at + n > len(b):
                raise AssertionError("a field goes beyond its message")
            v, at = b[at:at + n], at + n
        out.append((key >> 3, v))
    return out

@test
def perfetto_read_back():
    for path in recordings():
        want, n, iids = drawn(path), {}, set()
        for kind, packet in fields(exported(path, "perfetto", "-o", "-")):
            equal(kind, 1, "field of the trace")
            packet = fields(packet)
            equal([v for k, v in packet if k == 10], [1], "sequence")
            for k, v in packet:
                for what, item in fields(v) if k == 12 else []:
                    iid = next(x for f, x in fields(item) if f == 1)
                    if (what, iid) in iids:
                        raise AssertionError("interned twice: %d %d" % (what, iid))
                    iids.add((what, iid))
            for k, v in packet:
                event = dict(fields(v)) if k in (11, 66) else {}
                if k == 11:
                    n[event[9]] = n.get(event[9], 0) + 1
                    used = [(2, event.get(10)), (1, event.get(3))]
                elif k == 66:
                    n["sample"] = n.get("sample", 0) + 1
                    used = [(7, event.get(4))]
                else:
                    used = []
                equal([u for u in used if u[1] is not None and u not in iids], [], "not interned")
        equal((n[1], n[2], n.get(3, 0), n.get(4, 0), n["sample"]),
              (want["slices"] + want["spans"], want["ends"] + want["span_ends"], want["instants"] + want["losses"], want["counters"], want["samples"]))

@test
def folded_has_every_sample():
    for path in recordings():
        out, err = sonde("export", path, "--to", "folded")
        samples = drawn(path)["samples"]
        equal(out.decode(), "cat;main;copy;do_syscall_64;do_read %d\n" % samples)
        equal(err.splitlines()[-1], "NOTE: %d events have no stack, or are not samples" % (drawn(path)["all"] - samples))
        asked = sonde("query", "-q", path, "-f", "folded", "-e", "profile:hz:99 { @[comm, ustack, kstack] = count(); }")[0]
        equal(out, asked)

# ---- databases ----

def database(path):
    sonde("export", path, "--to", "sqlite", "-o", "x.db")
    db = sqlite3.connect(tmp + "/x.db")
    db.text_factory = bytes
    equal(db.execute("pragma integrity_check").fetchall(), [(b"ok",)])
    return db

@test
def sqlite_has_every_value():
    for path in recordings():
        db = database(path)
        equal({k.decode(): n for k, n in db.execute("select probe, count(*) from event group by probe")}, counts(path))
        rows, views, at = list(plain(path)), {}, {}
        for probe, view in db.execute("select probe, view from probe order by id"):
            views.setdefault(probe.decode(), []).append(view.decode())
        equal(db.execute("select id, ts, cpu, pid, tid, comm, probe from event order by id").fetchall(),
              [(i + 1, *r[:4], r[4], r[5].encode()) for i, r in enumerate(rows)])
        stored = {}
        for names in views.values():
            for name in names:
                for r in db.execute('select * from "%s"' % name.replace('"', '""')):
                    stored[r[0]] = r
        for i, (ts, cpu, pid, tid, comm, probe, names, cells) in enumerate(rows):
            got = stored[i + 1]
            equal(got[:6], (i + 1, ts, cpu, pid, tid, comm))
            for name, value, want in zip(names, got[6:], cells):
                if name in ("kstack", "ustack"):
                    frames = [s.decode() for s, in db.execute(
                        "select symbol from stack s join frame f on f.id = frame where s.id = ? order by depth", (value,))]
                    equal(frames, {"kstack": ["do_read", "do_syscall_64"], "ustack": ["copy", "main"]}[name])
                elif name == "args.ratio":
                    equal(value, 0.1)
                elif name == "args.colour":
                    equal(value, {0: b"RED", 7: b"GREEN"}.get(want, want))
                elif name == "args.list":
                    equal(json.loads(value), want)
                elif name.startswith("ksym("):
                    equal(value, want[1])
                else:
                    equal(value, str(want).encode() if isinstance(want, int) and want >> 63 > 0 else want, name)
        db.close()
    equal(database(recording("l", "-l")).execute("select * from loss").fetchall(),
          [(1000500000000, 1000513000000, b"lost_total", b"", 4, b"Lost 4 events")])

@test
def sqlite_of_many_pages():
    path = recording("b", "-b", "60000")
    db = database(path)
    equal({k.decode(): n for k, n in db.execute("select probe, count(*) from event group by probe")}, counts(path))
    asked = sonde("query", "-q", path, "-f", "json", "-e", "t:raw_syscalls:sys_enter { @[comm] = stats(args.id); }")[0]
    want = next(m["data"]["@"] for m in map(json.loads, asked.decode().splitlines()) if m["type"] == "stats")
    equal({k.decode(): (n, total) for k, n, total in db.execute(
        'select comm, count(*), sum("args.id") from sys_enter group by comm')},
          {k: (v["count"], v["total"]) for k, v in want.items()})
    equal([db.execute("select ts from event where id = %d" % i).fetchone() for i in (1, 30000, 60000)],
          [(r[0],) for i, r in enumerate(plain(path)) if i + 1 in (1, 30000, 60000)])

def thrift(b, at=0):
    """A struct of Thrift's compact protocol: ({field: value}, end)."""
    def varint():
        nonlocal at
        n = shift = 0
        while True:
            n |= (b[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if b[at - 1] < 128:
                return n
    def value(kind):
        nonlocal at
        if kind in (5, 6):
            n = varint()
            return n >> 1 ^ -(n & 1)
        if kind == 8:
            n = varint()
            at += n
            return b[at - n:at]
        if kind == 9:
            head, at = b[at], at + 1
            n = head >> 4 if head >> 4 < 15 else varint()
            return [value(head & 15) for _ in range(n)]
        equal(kind, 12, "type of a field")
        v, at = thrift(b, at)
        return v
    fields, last = {}, 0
    while b[at]:
        head, at = b[at], at + 1
        last += head >> 4
        fields[last] = value(head & 15)
    return fields, at + 1

def parquet_columns(data):
    """The footer, and values by column, None where there is none."""
    equal((data[:4], data[-4:]), (b"PAR1", b"PAR1"))
    size = struct.unpack_from("<I", data, len(data) - 8)[0]
    footer, end = thrift(data[len(data) - 8 - size:-8])
    equal(end, size, "bytes of the footer")
    columns = {c[4].decode(): [] for c in footer[2][1:]}
    for group in footer[4]:
        equal(len(group[1]), len(columns))
        for chunk in group[1]:
            meta = chunk[3]
            head, at = thrift(data, meta[9])
            page = data[at:at + head[3]]
            if meta[4] == 6:
                page = subprocess.run(["zstd", "-dcq"], input=page, stdout=subprocess.PIPE, check=True).stdout
            equal((len(page), head[5][1]), (head[2], group[3]))
            n = struct.unpack_from("<I", page)[0]
            levels, at, present = page[4:4 + n], 0, []
            while at < n:
                run = shift = 0
                while True:
                    run |= (levels[at] & 127) << shift
                    shift, at = shift + 7, at + 1
                    if levels[at - 1] < 128:
                        break
                present += [levels[at]] * (run >> 1)
                at += 1
            equal(len(present), group[3])
            at, bit, values = 4 + n, 0, columns[meta[3][0].decode()]
            for p in present:
                if not p:
                    values.append(None)
                elif meta[1] == 0:
                    values.append(bool(page[at + bit // 8] >> bit % 8 & 1))
                    bit += 1
                elif meta[1] == 6:
                    size = struct.unpack_from("<I", page, at)[0]
                    values.append(page[at + 4:at + 4 + size])
                    at += 4 + size
                else:
                    values.append(struct.unpack_from({1: "<i", 2: "<q", 5: "<d"}[meta[1]], page, at)[0])
                    at += 4 if meta[1] == 1 else 8
            equal(at + (bit + 7) // 8, len(page), "bytes of a page")
    return footer, columns

@test
def parquet_read_back():
    if not shutil.which("zstd"):
        return "no zstd"
    for path in recordings():
        footer, columns = parquet_columns(exported(path, "parquet", "-o", "-"))
        rows = list(plain(path))
        equal(footer[3], len(rows))
        equal(count_of(p.decode() for p in columns["probe"]), counts(path))
        equal(list(zip(*(columns[c] for c in ("ts", "cpu", "pid", "tid", "comm")))), [r[:5] for r in rows])
        for i, (_, _, _, _, _, _, names, cells) in enumerate(rows):
            given = {n: v[i] for n, v in columns.items() if v[i] is not None}
            names = [n if n in ("args.pid", "args.comm") else re.sub(r"^args\.", "", n) for n in names]
            names = [n + "_" if n == "span.id" and isinstance(c, bytes) else n for n, c in zip(names, cells)]  # of two types
            equal(set(given) - {"ts", "cpu", "pid", "tid", "comm", "probe"}, set(names))
            for name, want in zip(names, cells):
                if isinstance(want, int) and name not in ("kstack", "ustack", "colour", "ratio"):
                    equal(given[name], want - (1 << 64) if want >> 63 > 0 else want, name)
        equal([f[2] for f in footer.get(5, [])], [b"Lost 4 events"] * drawn(path)["losses"])
    odd = {n: v[-1] for n, v in columns.items() if v[-1] is not None and n not in ("text", "ts")}
    equal(odd, {"cpu": 0, "pid": 100, "tid": 100, "comm": b"cat", "probe": b'usdt:/opt/a "b":app:odd', "yes": False,
                "colour": b"14", "event": b'a"b,c\\n<\\xff;]]>\\x01 </script>..', "buf(args.p, 4)": b"\0\1\xfe\xff",
                "list": b"[-1,0,300]", "ksym(args.ip)": b"do_read", "ratio": 0.1, "big": -3})

@test
def parquet_by_hyparquet():
    if not shutil.which("node") or not os.environ.get("HYPARQUET"):
        return "no hyparquet: HYPARQUET is not the folder in which it is installed"
    for path in recordings() + [recording("c", "-b", "150000")]:
        sonde("export", path, "--to", "parquet", "-o", "x.parquet")
        done = subprocess.run(["node", here + "/parquet.mjs", tmp + "/x.parquet"], stdout=subprocess.PIPE, check=True)
        lines = [json.loads(l) for l in done.stdout.decode().splitlines()]
        n = counts(path)
        equal((lines[0]["rows"], lines[0]["groups"]), (sum(n.values()), 1 + (sum(n.values()) > 128 << 10)))
        equal(count_of(l["probe"] for l in lines[1:]), n)
        equal([l["ts"] for l in lines[1:]], [r[0] for r in plain(path)])

# ---- traces of other tracers ----

def short(probe):
    return re.sub("^tracepoint:", "", probe)

@test
def ctf_packets():
    for path in recordings():
        shutil.rmtree(tmp + "/x.ctf", ignore_errors=True)
        sonde("export", path, "--to", "ctf", "-o", "x.ctf")
        equal(sorted(os.listdir(tmp + "/x.ctf")), ["channel0_0", "channel0_1", "channel0_2", "channel0_3", "metadata"])
        rows, discarded = list(plain(path)), 0
        for cpu in range(4):
            times = [r[0] for r in rows if r[1] == cpu]
            with open("%s/x.ctf/channel0_%d" % (tmp, cpu), "rb") as file:
                data = file.read()
            at = number = 0
            while at < len(data):
                magic, _, stream, begin, end, content, size, n, lost, of = struct.unpack_from("<I16sIQQQQQQI", data, at)
                equal((magic, stream, content, n, of), (0xc1fc1fc1, 0, size, number, cpu))
                if begin not in times or end not in times or end < begin:
                    raise AssertionError("times of a packet: %d %d" % (begin, end))
                at, number = at + size // 8, number + 1
            equal(at, len(data))
            discarded += lost
        equal(discarded, 4 * drawn(path)["losses"])

@test
def a_folder_may_end_with_slashes():
    out, err = sonde("export", recording("a"), "--to", "ctf", "-o", "slashed.ctf//")
    equal((out, err), (b"", "slashed.ctf: 80 events\n"))
    sonde("export", recording("a"), "--to", "ctf", "-o", "plain.ctf")
    read = lambda name: {f: open("%s/%s/%s" % (tmp, name, f), "rb").read() for f in os.listdir("%s/%s" % (tmp, name))}
    equal(read("slashed.ctf"), read("plain.ctf"))

@test
def ctf_by_babeltrace():
    if not shutil.which("babeltrace2"):
        return "no babeltrace2"
    for path in recordings():
        shutil.rmtree(tmp + "/x.ctf", ignore_errors=True)
        sonde("export", path, "--to", "ctf", "-o", "x.ctf")
        done = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", tmp + "/x.ctf"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True)
        lines = done.stdout.decode("latin-1").splitlines()
        names = sorted({short(r[5]) for r in plain(path)}, key=len, reverse=True)
        name = lambda l: next(n for n in names if l[23:].startswith(n + ": "))
        equal(count_of(map(name, lines)), {short(k): n for k, n in counts(path).items()})
        equal([int(l[1:21]) for l in lines], sorted(r[0] for r in plain(path)))
        equal(lines[0], '[00000001000000000000] syscalls:sys_enter_openat: { cpu_id = 0 }, { tid = 100, pid = 100, '
              'procname = "cat" }, { dfd = -100, filename = 0x7FFE0000, flags = 524288, str_args_filename_ = "/etc/file0" }')
        equal("Tracer discarded 4 events between" in done.stderr.decode(), drawn(path)["losses"], "message about losses")
        sample = next(l for l in lines if "profile:hz:99" in l)
        equal(sample[sample.index("{ _kstack"):], "{ _kstack_length = 2, kstack = [ [0] = 0xFFFFFFFF81000014, "
              '[1] = 0xFFFFFFFF81000104 ], kstack_text = "do_read\\ndo_syscall_64", _ustack_length = 2, '
              'ustack = [ [0] = 0x401004, [1] = 0x402004 ], ustack_text = "copy\\nmain" }')

@test
def trace_dat_by_trace_cmd():
    if not shutil.which("trace-cmd"):
        return "no trace-cmd"
    for path in recordings():
        sonde("export", path, "--to", "trace.dat", "-o", "x.dat")
        done = subprocess.run(["trace-cmd", "report", "-t", "-i", tmp + "/x.dat"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True)
        lines = done.stdout.decode("latin-1").splitlines()
        equal((lines[0], done.stderr), ("cpus=4", b""))
        events = [re.match(r" *(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\w+): *(.*)", l) for l in lines[1:] if "DROPPED" not in l]
        rows = sorted(plain(path), key=lambda r: r[0])
        word = lambda p: re.sub("[^A-Za-z0-9]", "_", p.split(":", 1)[1])
        equal([(int(e[4] + e[5]), int(e[3]), int(e[2]), e[1]) for e in events],
              [(r[0], r[1], r[3], "<idle>" if r[3] == 0 else r[4].decode()) for r in rows])
        equal(count_of(e[6] for e in events), count_of(word(short(r[5])) for r in rows))
        equal([l for l in lines if "DROPPED" in l], ["CPU:1 [4 EVENTS DROPPED]"] * drawn(path)["losses"])
        equal(next(e[7] for e in events if e[6] == "sys_enter_openat"),
              "dfd=-100 filename=0x7ffe0000 flags=524288 str_args_filename_=/etc/file0")
        equal(next(e[7] for e in events if e[6] == "hz_99"), "kstack=do_read;do_syscall_64 ustack=copy;main")
    path = recording("b", "-b", "60000")
    sonde("export", path, "--to", "trace.dat", "-o", "x.dat")
    lines = subprocess.run(["trace-cmd", "report", "-i", tmp + "/x.dat"], stdout=subprocess.PIPE, check=True).stdout.decode()
    equal({"tracepoint:raw_syscalls:" + n: lines.count(" %s: " % n) for n in ("sys_enter", "sys_exit")}, counts(path))

# ---- import ----

def imported(path):
    return sonde("import", path, "-o", "i.sonde")

@test
def trace_dat_comes_back():
    for path in recordings() + [recording("b", "-b", "60000")]:
        sonde("export", path, "--to", "trace.dat", "-o", "x.dat")
        lost = drawn(path)["losses"]
        equal(imported("x.dat")[1].splitlines()[1:], ["WARNING: 4 events were lost: x.dat does not have them"] * lost)
        rows = [json.loads(l) for l in exported("i.sonde", "json").decode().splitlines()]
        events = [r for r in rows if r["type"] == "event"]
        equal([r["type"] for r in rows if r["type"] != "event"], ["recording"] + ["lost_total"] * lost)
        wanted = sorted(plain(path), key=lambda r: r[0])
        equal([(e["ts"], e["tid"]) for e in events], [(r[0], r[3]) for r in wanted])
        equal(count_of(e["table"].replace("_", ":") for e in events),
              count_of("tracepoint:" + re.sub("[^A-Za-z0-9]", ":", short(r[5])) for r in wanted))
        for e, (_, _, _, _, _, probe, names, cells) in zip(events, wanted):
            got = dict(e["args"])
            for name, want in zip(names, cells):
                name = name[5:] if name.startswith("args.") else name
                if name in got and isinstance(want, int) and isinstance(got[name], int):
                    equal(got[name], want, name)
                elif name in ("prev_comm", "next_comm", "comm"):
                    equal(got[name].encode(), want)
            if probe.endswith("sys_enter_openat"):
                equal(got["str(args.str_args_filename_)"].encode(), cells[3])
        if path.endswith("a.sonde"):
            script = "t:sched:sched_switch { @[args.prev_comm, args.next_comm] = count(); }"
            equal(*(sonde("query", "-q", f, "-e", script)[0] for f in ("i.sonde", path)))

@test
def trace_dat_of_version_7():
    if not shutil.which("trace-cmd"):
        return "no trace-cmd"
    path = recording("b", "-b", "60000")
    sonde("export", path, "--to", "trace.dat", "-o", "x.dat")
    imported("x.dat")
    want = exported("i.sonde", "csv")
    packed = subprocess.run(["trace-cmd", "list", "-c"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for name in ["none"] + re.findall(r"^\s+(zlib|zstd),", packed, re.M):
        subprocess.run(["trace-cmd", "convert", "--file-version", "7", "--compression", name, "-i", tmp + "/x.dat",
                        "-o", tmp + "/v7.dat"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        equal(imported("v7.dat")[1], "i.sonde: 60,000 events\n")
        equal(exported("i.sonde", "csv"), want)
        with open(tmp + "/v7.dat", "rb") as file:
            data = file.read()
        # Sections are anywhere: what is cut is events, or an option points behind the end.
        for cut in (13, 20, 30, 40, 500, len(data) // 2):
            with open(tmp + "/y.dat", "wb") as file:
                file.write(data[:cut])
            err = sonde("import", "y.dat", "-o", "none.sonde", rc=1)[1]
            if "damaged, or ends early" not in err:
                raise AssertionError("%d of %d: %s" % (cut, len(data), err))

@test
def what_cannot_be_imported():
    sonde("export", recording("a"), "--to", "trace.dat", "-o", "x.dat")
    with open(tmp + "/x.dat", "rb") as file:
        data = file.read()
    def refused(want, data):
        with open(tmp + "/y.dat", "wb") as file:
            file.write(data)
        equal(sonde("import", "y.dat", "-o", "none.sonde", rc=1)[1], want)
        equal([n for n in os.listdir(tmp) if n.startswith("none.sonde")], [], "files that are left")
    refused("ERROR: y.dat: not a file that can be imported: sonde reads trace.dat of trace-cmd and perf.data of perf\n", b"")
    refused("ERROR: y.dat: not a file that can be imported: sonde reads trace.dat of trace-cmd and perf.data of perf\n", bytes(100))
    refused("ERROR: y.dat: trace.dat of version 8 is not read; trace-cmd convert --file-version 7 -i FILE -o FILE makes one "
            "that is\n", data[:10] + b"8" + data[11:])
    refused("ERROR: y.dat: trace.dat: only files of little-endian machines of 64 bits are read\n",
            data[:12] + b"\1" + data[13:])
    refused("ERROR: y.dat: trace.dat: the header is damaged, or ends early (before byte 13)\n", data[:13])
    for cut in range(100, data.index(b"flyrecord"), 97):
        with open(tmp + "/y.dat", "wb") as file:
            file.write(data[:cut])
        err = sonde("import", "y.dat", "-o", "none.sonde", rc=1)[1]
        if "damaged, or ends early" not in err:
            raise AssertionError(err)
    # The type of an event that has no format: the event is counted.
    at = data.index(b"flyrecord") + 10
    page = struct.unpack_from("<Q", data, at)[0]
    with open(tmp + "/y.dat", "wb") as file:
        file.write(data[:page + 20] + b"\xff\xff" + data[page + 22:])
    equal(sonde("import", "y.dat", "-o", "i.sonde", rc=1)[1],
          "i.sonde: 79 events\nWARNING: 1 events of y.dat could not be read\n")

PERF = {"tracepoints": "-e sched:sched_switch,raw_syscalls:sys_enter,sched:sched_process_exec",
        "compressed": "-z -g -e sched:sched_switch,raw_syscalls:sys_enter -e cpu-clock",
        "stacks": "-g -F 999 -e cpu-clock", "no stacks": "-F 999 -e cpu-clock -e page-faults",
        "the monotonic clock": "-k mono -a -e sched:sched_switch,sched:sched_process_fork"}

def perf_script(path, stacks):
    """(comm, process, thread, ns, event, fields, addresses) of each event, as perf prints it."""
    fields = "comm,pid,tid,time,event," + ("ip" if stacks else "trace")
    out = subprocess.run(["perf", "script", "--ns", "-F", fields, "-i", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout.decode(errors="replace")
    events = []
    for line in out.splitlines():
        m = re.match(r" *(\S.{0,15}?) +(-?\d+)/(-?\d+) +(\d+)\.(\d{9}): +(\S+): *(.*)", line)
        if m:
            # -1, an unsigned number in a recording: the thread has ended, and had no number at that time.
            comm = "?" if m[3] == "-1" else m[1]
            pid, tid = int(m[2]) & 0xffffffff, int(m[3]) & 0xffffffff
            events.append((comm, pid, tid, int(m[4]) * 10**9 + int(m[5]), m[6],
                           dict(re.findall(r"(\w+)=(\S+)", m[7])), []))
            if stacks and m[7]:
                events[-1][6].append(int(m[7].split()[0], 16))
        elif line.strip():
            events[-1][6].append(int(line.split()[0], 16))
    return events

def equal_to_perf(path, clock, has_stacks):
    """The recording of a file has perf's events: in order, with their tasks, fields and stacks."""
    warning = "WARNING: times are of perf's own clock, not of the monotonic clock\n"
    text = subprocess.run([build + "/sonde", "query", "-q", tmp + "/i.sonde", "-e", "begin {}"], stderr=subprocess.PIPE,
                          check=True).stderr.decode()
    equal(text, "" if clock else warning)
    rows = [json.loads(l) for l in exported("i.sonde", "json").decode().splitlines()]
    rows = [r for r in rows if r["type"] == "event"]
    want = perf_script(path, False)
    key = lambda e: (e[3], e[2], e[4])
    order = lambda r: (r["ts"], r["tid"], r["table"])
    equal(len(rows), len(want))
    checked = 0
    for row, (comm, pid, tid, ns, event, fields, _) in zip(sorted(rows, key=order), sorted(want, key=key)):
        name = row["table"][11:] if row["table"].startswith("tracepoint:") else event
        equal((row["comm"], row["pid"], row["tid"], row["ts"], name), (comm, pid, tid, ns, event))
        for k, v in fields.items():
            if k in row["args"] and re.fullmatch(r"-?\d+", v):
                equal(int(row["args"][k]), int(v), k)
                checked += 1
    if has_stacks:
        for row, event in zip(sorted(rows, key=order), sorted(perf_script(path, True), key=key)):
            kernel, user = ([int(f.get("addr", 0)) for f in row["args"][s]] for s in ("kstack", "ustack"))
            # Addresses of processes are printed less where the file is mapped. perf prints no stack if one of its
            # addresses looks as if it announced another mode.
            if event[6]:
                equal((kernel, len(user)), (event[6][:len(kernel)], len(event[6]) - len(kernel)))
            checked += len(event[6])
    return len(rows), checked

@test
def perf_data_is_what_perf_prints():
    if not shutil.which("perf") or subprocess.run(["perf", "record", "-o", tmp + "/t.data", "-e", "sched:sched_switch", "true"],
                                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return "perf cannot record here"
    work = "for i in 1 2 3; do ls -R /usr/share/doc | wc -l; done"
    for name, options in PERF.items():
        for stream in (False, True):
            words = ["-m", "4096", *options.split()] + (["-o", "-"] if stream else ["-o", tmp + "/p.data"])
            done = subprocess.run(["perf", "record", *words, "--", "sh", "-c", work + " >/dev/null"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if b"compression enabled but" in done.stderr:
                continue # this perf was built without zstd
            if stream:
                with open(tmp + "/p.data", "wb") as file:
                    file.write(done.stdout)
            imported("p.data")
            events, checked = equal_to_perf(tmp + "/p.data", "-k mono" in options, "-g" in options)
            if verbose:
                print("# %s%s: %d events, %d values" % (name, " as a stream" * stream, events, checked))
            if not events:
                raise AssertionError("no events of " + name)

@test
def perf_data_that_is_not_whole():
    if not shutil.which("perf") or subprocess.run(["perf", "record", "-o", tmp + "/t.data", "-e", "cpu-clock", "ls", "-R", "/usr/share/doc"],
                                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return "perf cannot record here"
    with open(tmp + "/t.data", "rb") as file:
        data = file.read()
    whole = json.loads(sonde("import", "t.data", "-o", "i.sonde")[1].split(" ")[1].replace(",", ""))
    def read(data, rc):
        with open(tmp + "/y.data", "wb") as file:
            file.write(data)
        return sonde("import", "y.data", "-o", "none.sonde", rc=rc)[1]
    at, size = struct.unpack_from("<QQ", data, 40)
    # perf was killed: it wrote neither the length of the events nor what follows them.
    killed = data[:48] + bytes(8) + data[56:at + size]
    equal(read(killed, 1), "none.sonde: %d events\nWARNING: y.data is not whole: its end is missing\n" % whole)
    for cut in (at + size - 1, at + size // 2, at + 3):
        equal(read(data[:cut], 1).splitlines()[1:], ["WARNING: y.data is not whole: its end is missing"])
    os.remove(tmp + "/none.sonde")
    for cut in (8, 15, 60, 103, at - 100):
        if not re.fullmatch(r"ERROR: y.data: perf.data: the (header|table of events) is damaged, or ends early \(before byte \d+\)\n",
                            read(data[:cut], 1)):
            raise AssertionError(read(data[:cut], 1))
    equal(read(b"2ELIFREP" + data[8:], 1), "ERROR: y.data: perf.data: only files of little-endian machines are read\n")
    equal(read(b"PERFFILE" + data[8:], 1), "ERROR: y.data: perf.data: files of perf before Linux 3.0 are not read\n")
    wrong = bytearray(data)
    wrong[at + 6:at + 8] = b"\1\0"
    equal(read(wrong, 1), "ERROR: y.data: perf.data: a record is damaged, or ends early (before byte %d)\n" % (at + 8))

# ---- the command ----

@test
def parts_of_a_recording():
    path = recording("k", "-k")
    def probes(*options):
        return count_of(json.loads(l)["table"] for l in exported(path, "json", *options).decode().splitlines()
                        if '"event"' in l[:20])
    equal(probes("--probe", "tracepoint:sched:*"), {
        "tracepoint:sched:sched_switch": 22, "tracepoint:sched:sched_process_fork": 1,
        "tracepoint:sched:sched_wakeup_new": 1, "tracepoint:sched:sched_process_exit": 1})
    equal(probes("--from", "100ms", "--for", "100ms", "-p", "200,300"),
          {"tracepoint:raw_syscalls:sys_enter": 1, "tracepoint:raw_syscalls:sys_exit": 1,
           "tracepoint:sched:sched_switch": 1})
    equal(sum(probes("--for", "900ms").values()), 72)

@test
def messages():
    path, formats = recording("a"), "text, json, csv"
    def refused(want, *words):
        out, err = sonde("export", *words, rc=1)
        equal((out, re.sub(r"formats: [a-z., ]+\)", "formats: ...)", err)), (b"", want))
    refused("ERROR: export needs --to FORMAT (formats: ...)\n", path)
    refused("ERROR: --to: unknown format 'xml' (formats: ...)\n", path, "--to", "xml")
    refused("ERROR: export takes one FILE\n", "--to", "json")
    refused("ERROR: open none.sonde: No such file or directory\n", "none.sonde", "--to", "json")
    refused("ERROR: --for needs a time with its unit, as in 30s or 500ms (got '3')\n", path, "--to", "json", "--for", "3")
    refused("ERROR: Failed to parse pid: invalid integer: cat\n", path, "--to", "json", "-p", "cat")
    refused("ERROR: too many processes (64 at most)\n", path, "--to", "json", "-p", ",".join(str(n) for n in range(1, 66)))
    refused("ERROR: open %s/none/a.json.tmp: No such file or directory\n" % tmp,
            path, "--to", "json", "-o", tmp + "/none/a.json")
    refused("ERROR: the recording has no probe 'kprobe:*': sonde query FILE -l lists those that it has\n",
            path, "--to", "json", "-o", "x.json", "--probe", "kprobe:*")
    with open(tmp + "/empty.sonde", "wb"):
        pass
    sonde("export", "empty.sonde", "--to", "json", "-o", "x.json", rc=1)
    equal([n for n in os.listdir(tmp) if n.startswith("x.json")], [], "files that are left")

@test
def what_is_no_file_is_written_and_stays():
    path, pipe, got = recording("a"), tmp + "/pipe", []
    os.mkfifo(pipe)
    def read():
        with open(pipe, "rb") as file:
            got.append(file.read())
    reader = threading.Thread(target=read)
    reader.start()
    equal(sonde("export", path, "--to", "csv", "-o", pipe), (b"", pipe + ": 80 events\n"))
    reader.join()
    equal(got[0], sonde("export", path, "--to", "csv")[0])
    equal(stat.S_ISFIFO(os.stat(pipe).st_mode), True)
    equal(sonde("export", path, "--to", "sqlite", "-o", pipe, rc=1)[1],
          "ERROR: sqlite cannot be written to %s, which is not a file\n" % pipe)
    equal(sonde("import", path, "-o", pipe, rc=1)[1],
          "ERROR: %s is not a file: a recording would replace it\n" % pipe)
    equal(sonde("export", path, "--to", "csv", "-o", "/dev/full", rc=1)[1],
          "ERROR: write the exported file: No space left on device\n")
    equal(stat.S_ISCHR(os.stat("/dev/full").st_mode), True)

@test
def a_reader_that_goes_is_no_error():
    """Of each command that writes what a recording contains, with the same exit status."""
    path = tmp + "/big.sonde"
    subprocess.run([build + "/mkrec", "-b", "100000", path], check=True)
    rows = "-e 't:raw_syscalls:sys_enter { print(args); }'"
    for words in ("export %s --to text", "export %s --to json", "export %s --to csv", "report -e %s", "query -q %s " + rows):
        command = "%s/sonde %s | head -c 10; echo ${PIPESTATUS[0]} >&2" % (build, words % path)
        done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        equal((words, len(done.stdout), done.stderr), (words, 10, b"0\n"))

@test
def losses_and_damage_are_reported():
    out, err = sonde("export", recording("l", "-l"), "--to", "json", "-o", "l.json")
    equal((out, err), (b"", "l.json: 80 events\nWARNING: 4 events were lost: the recording does not have them\n"))
    cut = recording("cut", "-a")
    equal(sonde("export", "-q", cut, "--to", "json", "-o", "cut.json")[1],
          "WARNING: %s is incomplete: sonde report %s shows what is missing\n" % (cut, cut))
    with open(recording("a"), "rb") as file:
        data = bytearray(file.read())
    at = next(i for i in range(64, len(data), 8) if data[i:i + 4] == b"SBLK" and data[i + 4] == 16)
    data[at + 60] ^= 0x55
    with open(tmp + "/bad.sonde", "wb") as file:
        file.write(data)
    equal(sonde("export", "bad.sonde", "--to", "csv", "-o", "bad.csv", rc=1)[1],
          "bad.csv: 0 events\nWARNING: 80 events were lost: the recording does not have them\n"
          "NOTE: csv has no place for losses; there are 1: sonde report has them\n"
          "WARNING: bad.sonde is incomplete: sonde report bad.sonde shows what is missing\n")

# ---- the run ----

def main():
    passed = failed = skipped = 0
    for n, f in enumerate((f for f in tests if only in f.__name__), 1):
        name = f.__name__.replace("_", " ")
        try:
            why = f()
            passed += not why
            skipped += bool(why)
            print("ok %d - %s%s" % (n, name, " # SKIP " + why if why else ""))
        except Exception as e:
            failed += 1
            print("not ok %d - %s\n# %s" % (n, name, str(e) or repr(e)))
            if verbose:
                raise
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    shutil.rmtree(tmp)
    return failed != 0

if __name__ == "__main__":
    sys.exit(main())
