#!/usr/bin/env python3
"""formats.py DRAW - what the formats of stacks write, read back by readers of their own.

DRAW is build/draw, which sends folded stacks through a format. Prints `ok N - name`, `not ok N - name` and why;
the last line sums up."""
import gzip, json, os, re, shutil, subprocess, sys, tempfile

draw = os.path.abspath(sys.argv[1])
STACKS = ("bash_[=];42_[=];main;parse;read_[l];sys_read_[k];vfs_read_[k] 30\n"
          "bash_[=];42_[=];main;work 15\n"
          "cat_[=];-7_[=];main;work;jit_[j] 18446744073709551\n"
          "cat_[=];-7_[=];main;work;f(int)::{lambda} 3\n")
PLAIN = sorted(re.sub(r"_\[.\]", "", STACKS).splitlines())
tests = []

def test(f):
    tests.append(f)
    return f

def equal(got, want, what=""):
    if got != want:
        raise AssertionError("%s: %r, not %r" % (what or "value", got, want))

def written(format, text=STACKS):
    return subprocess.run([draw, format], input=text.encode("latin-1"), stdout=subprocess.PIPE, check=True).stdout

@test
def folded_round_trip():
    once = written("folded").decode()
    equal(once.splitlines(), PLAIN)
    equal(written("folded", once).decode(), once, "read again")
    marked = written("folded:annotate").decode()
    equal(sorted(re.sub(r"_\[[kij]\]", "", marked).splitlines()), PLAIN)
    if "sys_read_[k];vfs_read_[k] 30" not in marked or "jit_[j] " not in marked:
        raise AssertionError(marked)

# ---- protocol buffers, from the description of the wire format ----
def varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        at += 1
        if b[at - 1] < 128:
            return n, at
        shift += 7

def message(b):
    fields, at = {}, 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 0:
            v, at = varint(b, at)
        elif key & 7 == 2:
            n, at = varint(b, at)
            if at + n > len(b):
                raise AssertionError("a field goes beyond its message")
            v, at = b[at:at + n], at + n
        else:
            raise AssertionError("wire type %d" % (key & 7))
        fields.setdefault(key >> 3, []).append(v)
    return fields

def packed(values):
    out = []
    for b in values:
        at = 0
        while at < len(b):
            n, at = varint(b, at)
            out.append(n)
    return out

def number(m, field):
    return m.get(field, [0])[0]

@test
def pprof_read_back():
    p = message(gzip.decompress(written("pprof")))
    strings = [s.decode() for s in p[6]]
    equal(strings[0], "", "string 0")
    equal(len(set(strings)), len(strings), "strings differ")
    types = [message(t) for t in p[1]]
    equal([(strings[number(t, 1)], strings[number(t, 2)]) for t in types], [("samples", "count")])
    mappings = {number(message(m), 1): message(m) for m in p[3]}
    functions = {number(message(f), 1): strings[number(message(f), 2)] for f in p[5]}
    locations = {}
    for l in map(message, p[4]):
        m = mappings[number(l, 2)]
        if not number(m, 2) <= number(l, 3) < number(m, 3):
            raise AssertionError("a location outside of its mapping")
        locations[number(l, 1)] = [functions[number(message(line), 1)] for line in l[4]]
    if 0 in mappings or 0 in functions or 0 in locations:
        raise AssertionError("an id is 0")
    lines = []
    for s in map(message, p[2]):
        labels = {}
        for l in map(message, s[3]):
            n = number(l, 3)
            labels[strings[number(l, 1)]] = strings[number(l, 2)] if 2 in l else str(n - (1 << 64) if n >> 63 else n)
        stack = [locations[i][0] for i in packed(s[1])][::-1]
        values = packed(s[2])
        equal(len(values), 1, "values of a sample")
        lines.append(";".join([labels["key0"], labels["key1"]] + stack) + " %d" % values[0])
    equal(sorted(lines), PLAIN)
    files = sorted(strings[number(m, 5)] for m in mappings.values())
    equal(files, ["/usr/bin/app", "/usr/lib/libapp.so.1", "[jit]", "[kernel.kallsyms]"])

@test
def pprof_by_go():
    if not shutil.which("go"):
        return "no go here"
    d = tempfile.mkdtemp()
    path = os.path.join(d, "x.pb.gz")
    with open(path, "wb") as f:
        f.write(written("pprof"))
    env = dict(os.environ, HOME=d, PPROF_TMPDIR=d, GOTELEMETRY="off")
    text = subprocess.run(["go", "tool", "pprof", "-traces", path], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout.decode()
    shutil.rmtree(d)
    traces = [re.findall(r"^ +(?:\d+ +)?([^\s-]\S*)$", t, re.M) for t in text.split("-----------+")[1:]]
    if ["vfs_read", "sys_read", "read", "parse", "main"] not in traces:
        raise AssertionError(text)

@test
def speedscope_rules():
    """Those of its file-format-schema.json for sampled profiles, and what its importer checks."""
    d = json.loads(written("speedscope:title=a,unit=nanoseconds"))
    equal(sorted(d), ["$schema", "activeProfileIndex", "exporter", "name", "profiles", "shared"])
    equal(d["$schema"], "https://www.speedscope.app/file-format-schema.json")
    equal(d["name"], "a")
    frames = d["shared"]["frames"]
    for f in frames:
        if set(f) - {"name", "file", "line", "col"} or not isinstance(f["name"], str):
            raise AssertionError(f)
    lines = []
    for p in d["profiles"]:
        equal(sorted(p), ["endValue", "name", "samples", "startValue", "type", "unit", "weights"])
        equal((p["type"], p["name"], p["unit"], p["startValue"]), ("sampled", "@", "nanoseconds", 0))
        equal(len(p["samples"]), len(p["weights"]))
        equal(p["endValue"], sum(p["weights"]))
        for s, w in zip(p["samples"], p["weights"]):
            lines.append(";".join(frames[i]["name"] for i in s) + " %d" % w)
    equal(sorted(lines), PLAIN)

def main():
    passed = failed = skipped = 0
    for f in tests:
        name = f.__name__.replace("_", " ")
        n = passed + failed + skipped + 1
        try:
            why = f()
            passed += not why
            skipped += bool(why)
            print("ok %d - %s%s" % (n, name, " # SKIP " + why if why else ""))
        except Exception as e:
            failed += 1
            print("not ok %d - %s\n# %r" % (n, name, e))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed != 0

sys.exit(main())
