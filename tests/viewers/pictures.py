#!/usr/bin/env python3
"""pictures.py DRAW [NAME] - flame graphs and heat maps in headless Chromium: drawn, searched, zoomed, reset.

DRAW is build/draw, which sends folded stacks through a format. Prints `ok N - name`, `not ok N - name` and why;
the last line sums up. Without Chromium all are skipped."""
import base64, hashlib, http.server, os, re, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser

draw = os.path.abspath(sys.argv[1])
only = sys.argv[2] if len(sys.argv) > 2 else ""
tests, dirname = [], tempfile.mkdtemp()

def test(f):
    tests.append(f)
    return f

def equal(got, want, what=""):
    if got != want:
        raise AssertionError("%s: %r, not %r" % (what or "value", got, want))

def picture(format, text, *words):
    path = os.path.join(dirname, re.sub(r"\W+", "_", format)[:40] + ".svg")
    with open(path, "wb") as f:
        subprocess.run([draw, format, *words], input=text.encode("utf-8", "surrogateescape"), stdout=f, check=True)
    return path

STACKS = """main;parse;read_[l];sys_read_[k] 30
main;parse;token 10
main;work;sum<int>(int, char) 40
main;work;sum<int>(int, char);hot_[i] 15
main;jit_[j] 5
"""
state = "document.documentElement.getAttribute('data-state')"
texts = "[...document.querySelectorAll('#f text')].map(t => t.textContent)"

def centre(b, name):
    """Of the frame that shows this text."""
    return b.run("(() => { const t = [...document.querySelectorAll('#f text')].find(t => t.textContent === %r);"
                 "const r = t.getBoundingClientRect(); return [r.left + 4, r.top + 6]; })()" % name)

@test
def the_file_of_a_language_is_left_out_first(b):
    b.open("file://" + picture("flame", "main;Catalog::load (catalog.php)_[h] 15\nmain;f<int>(char, long, char, int) 15\nmain;work 70\n"))
    equal(b.run(texts), ["all", "main", "Catalog::load", "f<int>()", "work"])

@test
def search_zoom_and_reset(b):
    b.open("file://" + picture("flame", STACKS))
    equal(b.run(state), "ready zoom=0 frames=10", "state")
    b.key("/")
    b.type("read")
    equal(b.run(state), "matched=30.00% frames=2", "nested matches count once")
    equal(b.run("location.hash"), "#s=read")
    equal(b.run("document.querySelectorAll('#f .hit').length"), 2)
    b.key("Escape")
    equal(b.run("location.hash"), "")
    b.click(*centre(b, "work"))
    equal(b.run(texts), ["main", "all", "work", "sum<int>(int, char)", "hot"], "zoomed")
    equal(b.run("location.hash"), "#z=7")
    b.key("/")
    b.type("HOT|(")
    equal(b.run(state), "matched=0.00% frames=0", "not a regular expression: as text, with capitals")
    b.key("Escape")
    b.key("0")
    equal(len(b.run(texts)), 10, "reset")
    equal(b.run("location.hash"), "")

@test
def keys(b):
    b.open("file://" + picture("flame", STACKS))
    for k in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight"):
        b.key(k)
    line = "[...document.querySelectorAll('#bar text')].map(t => t.textContent).find(t => t.includes('self'))"
    equal(b.run(line), "work  55 samples · 55.0 % of all · self 0.00 %", "the last of its neighbours")
    b.key("ArrowLeft")
    equal(b.run(line), "parse  40 samples · 40.0 % of all · self 0.00 %")
    b.key("ArrowRight")
    b.key("Enter")
    equal(b.run("location.hash"), "#z=7")
    b.key("Backspace")
    equal(b.run("location.hash"), "#z=1")
    b.key("Home")
    for key, want in (("i", "#i=1"), ("b", "#i=1&b=1"), ("d", "#i=1&b=1&d=dark")):
        b.key(key)
        equal(b.run("location.hash"), want)
    equal(b.run("document.documentElement.dataset.theme"), "dark")
    equal(b.run(texts)[:2], ["all", "hot"], "leaves first")

@test
def state_of_the_url(b):
    b.open("file://" + picture("flame", STACKS) + "#s=work&z=3&i=1&unknown=7&z2")
    equal(b.run(state), "matched=55.00% frames=1")
    equal(b.run(texts), ["main", "all", "parse", "read", "sys_read", "token"])
    b.open("file://" + picture("flame", STACKS) + "#z=99999")
    equal(b.run(state), "ready zoom=0 frames=10", "a node that is not there")

@test
def differences(b):
    before = os.path.join(dirname, "before.folded")
    with open(before, "w") as f:
        f.write("main;parse;read 80\nmain;gone 20\n")
    b.open("file://" + picture("flame:diff=" + before, "main;parse;read 20\nmain;new 80\n"))
    equal(sorted(b.run(texts)), ["+ new", "all", "main", "parse", "read"])
    b.mouse(*centre(b, "+ new"))
    b.settle()
    tip = b.run("[...document.querySelectorAll('.tip text')].map(t => t.textContent)")
    equal(tip[-1], "before 0, after 80: +80.00 points (new)")
    fills = b.run("Object.fromEntries([...document.querySelectorAll('#f text')].map(t => [t.textContent, t.previousSibling.getAttribute('fill')]))")
    equal(fills["main"], "hsl(212,0%,88%)", "the same")
    equal(fills["+ new"], "hsl(28,85%,66%)", "more")
    equal(fills["read"], "hsl(212,64%,72%)", "less")
    b.key("v")
    equal(sorted(b.run(texts)), ["- gone", "all", "main", "parse", "read"])

@test
def fifty_thousand_frames(b):
    lines = ["main;" + ";".join("f%d_%d" % (d, (i >> d) % 3) for d in range(1 + i % 17)) + " %d" % (i % 7 + 1) for i in range(30000)]
    lines += ["root;leaf%d;x;y 3" % i for i in range(16000)]
    path = picture("flame", "\n".join(lines) + "\n")
    start = time.time()
    b.open("file://" + path)
    spent = time.time() - start
    n = int(re.search(r"frames=(\d+)", b.run(state)).group(1))
    if n < 50000 or spent > 5:
        raise AssertionError("%d frames in %.1f s" % (n, spent))
    b.key("/")
    b.type("leaf77")
    if "matched=" not in b.run(state):
        raise AssertionError("not searched")

@test
def hostile_names(b):
    evil = "]]></script><script>document.title='owned'</script>"
    text = evil + ";<img src=x onerror=1>\"'&amp 5\n" + "".join(chr(c) for c in range(1, 256) if chr(c) not in ";\n") + " 3\n"
    b.open("file://" + picture("flame", text))
    equal(b.run(state), "ready zoom=0 frames=4")
    equal(b.run("document.title !== 'owned' && !document.querySelector('img')"), True)
    if evil not in b.run(texts):
        raise AssertionError("the name is not shown")

@test
def small_and_deep(b):
    b.open("file://" + picture("flame", "a 1\n"))
    equal(b.run(texts), ["a", "all"] if b.run(texts)[0] == "a" else ["all", "a"])
    b.open("file://" + picture("flame", ";".join("f%d" % i for i in range(600)) + " 1\n"))
    equal(len(b.run(texts)), 601)

@test
def under_a_strict_policy(b):
    """Script and style by their hashes, nothing else: served, in a frame of a page."""
    with open(picture("flame", STACKS), "rb") as f:
        svg = f.read()
    def hashed(tag):
        text = re.search(b"<%s><!\\[CDATA\\[(.*?)\\]\\]></%s>" % (tag, tag), svg, re.S).group(1)
        return "'sha256-" + base64.b64encode(hashlib.sha256(text).digest()).decode() + "'"
    policy = ["default-src 'none'; script-src %s; style-src %s" % (hashed(b"script"), hashed(b"style"))]
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "image/svg+xml")
            self.send_header("Content-Security-Policy", policy[0])
            self.end_headers()
            self.wfile.write(svg)
        def log_message(self, *args):
            pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % server.server_port
    b.open(url)
    equal(b.run(state), "ready zoom=0 frames=10", "with the hashes")
    equal(b.run("getComputedStyle(document.querySelector('.title')).fontWeight"), "700", "style")
    b.key("/")
    b.type("read")
    equal(b.run(state), "matched=30.00% frames=2")
    policy[0] = "default-src 'none'"
    b.open(url + "again")
    equal(b.run(state), None, "without them the script does not run")
    if b.run("document.querySelectorAll('#f rect').length") < 9:
        raise AssertionError("the drawing without script is missing")
    server.shutdown()

HISTS = "".join("%d %d %d %d\n" % (t, lo, 2 * lo, n) for t in range(1, 31)
                for lo, n in ((16, 5), (32, 60 + t), (64, 40), (1024, 1 if t % 3 else 2)))

@test
def heat_map(b):
    path = picture("heat:unit=us", HISTS)
    b.open("file://" + path)
    equal(b.run(state), "cells=120 max=90 columns=30")
    labels = b.run(texts)
    for want in ("20 us", "1 ms", "p50", "p99", "+10 s"):
        if want not in labels:
            raise AssertionError("%r is not in %r" % (want, labels))
    x, y = b.run("(() => { const t = [...document.querySelectorAll('#f text')].find(t => t.textContent === '100 us').getBoundingClientRect(); return [600, t.top + 8]; })()")
    b.mouse(x, y)
    b.settle()
    tip = b.run("[...document.querySelectorAll('.tip text')].map(t => t.textContent)")
    if not re.match(r"\d\d:\d\d:\d\d\.\d{3} to \d\d:\d\d:\d\d\.\d{3} \(\+\d+\.\d s\)$", tip[0]):
        raise AssertionError("a column of a second, from when to when: " + tip[0])
    equal(tip[1], "[64 us, 128 us)")
    equal(re.sub(r" of .*", "", tip[2]), "40")
    equal(tip[3], "p50 32 us, p90 64 us, p99 64 us")
    b.mouse(400, y, "mousePressed", button="left", clickCount=1)
    b.mouse(700, y)
    b.mouse(700, y, "mouseReleased", button="left", clickCount=1)
    b.settle()
    part = b.run("location.hash")
    if not re.match(r"#x=\d+-\d+$", part):
        raise AssertionError("a part of the time: " + part)
    b.key("p")
    equal([t for t in b.run(texts) if t[0] == "p"], [], "no percentiles")
    b.key("k")
    equal(b.run("location.hash"), part + "&p=0&k=linear")
    b.key("0")
    equal(b.run(state), "cells=120 max=90 columns=30", "reset")
    for k in ("ArrowRight", "ArrowUp"):
        b.key(k)
    b.open("file://" + path + "#x=3-7&k=rank&d=dark")
    equal(b.run(state), "cells=16 max=67 columns=4")
    equal(b.run("document.documentElement.dataset.theme"), "dark")

def labels(b, kind):
    """Those of an axis, as places on the screen."""
    return b.run("[...document.querySelectorAll('#f .%s')].map(t => { const r = t.getBoundingClientRect();"
                 "return [t.textContent, r.left, r.right, r.top, r.bottom]; })" % kind)

def round_number(label):
    digits = re.sub(r"[^0-9]", "", label)
    return digits.strip("0") in ("", "1", "2", "5")

@test
def axes_of_a_heat_map_have_round_numbers(b):
    wide = "".join("%d %d %d %d\n" % (t, lo, 2 * lo, 3) for t in range(1, 90) for lo in (1, 2 ** 20, 2 ** 33))
    for text in HISTS, wide:
        b.open("file://" + picture("heat:unit=us", text, "runqlat 1", "host, 2026-01-01 10:00:00"))
        values, times = labels(b, "value"), labels(b, "time")
        if len(values) < 4 or len(times) < 4:
            raise AssertionError("few labels: %r %r" % (values, times))
        for t in values:
            if not round_number(t[0]):
                raise AssertionError("not round: " + t[0])
        for a, c in zip(values, values[1:]):
            if c[4] > a[3]:
                raise AssertionError("one above the other: %r %r" % (a, c))
        for a, c in zip(times, times[1:]):
            if a[2] > c[1]:
                raise AssertionError("one beside the other: %r %r" % (a, c))
        step = [int(re.sub(r"\D", "", t[0])) for t in times[:2]]
        if step[0] != 0 or not round_number(times[1][0]):
            raise AssertionError("times by round steps: %r" % times)
    equal(b.run("[document.querySelector('.title').textContent, document.querySelector('.where').textContent]"),
          ["runqlat 1", "host, 2026-01-01 10:00:00"])

@test
def a_table_of_functions(b):
    """Self and total, recursion once; sorted by either; of what is in view; a row leads to the graph."""
    text = STACKS + "main;parse;read_[l];parse;token 7\n"
    b.open("file://" + picture("flame", text, "profile -p 7 -- make", "host, 2026-01-01 10:00:00"))
    equal(b.run("[document.querySelector('#bar .title').textContent, document.querySelector('.where').textContent]"),
          ["profile -p 7 -- make", "host, 2026-01-01 10:00:00"])
    rows = "[...document.querySelectorAll('#f .row')].map(t => t.textContent.trim().replace(/  +/g, ' '))"
    b.key("t")
    equal(b.run(state), "table rows=9 by=self")
    equal(b.run("location.hash"), "#t=self")
    equal(b.run(rows), ["40 37.4 % 55 51.4 % sum<int>(int, char) (app)", "30 28.0 % 30 28.0 % sys_read", "17 15.9 % 17 15.9 % token (app)",
                        "15 14.0 % 15 14.0 % hot (app)", "5 4.67 % 5 4.67 % jit", "0 0.00 % 107 100.0 % main (app)",
                        "0 0.00 % 55 51.4 % work (app)", "0 0.00 % 47 43.9 % parse (app)", "0 0.00 % 37 34.6 % read (libapp.so.1)"])
    b.click(*b.run("(() => { const r = [...document.querySelectorAll('#f [role=button]')].find(t => t.textContent.trim() === 'TOTAL')"
                   ".getBoundingClientRect(); return [r.right - 3, r.top + 6]; })()"))
    equal(b.run(state), "table rows=9 by=total")
    equal(b.run(rows)[0], "0 0.00 % 107 100.0 % main (app)")
    b.key("/")
    b.type("ea")
    equal(b.run(rows), ["0 0.00 % 37 34.6 % read (libapp.so.1)", "30 28.0 % 30 28.0 % sys_read"], "searched")
    b.click(*b.run("(() => { const r = document.querySelector('#f .row').getBoundingClientRect(); return [r.right - 3, r.top + 6]; })()"))
    equal(b.run(state), "matched=34.58% frames=1", "the function in the graph")
    equal(b.run("location.hash"), "#s=%5Eread%24")
    b.open("file://" + picture("flame", text) + "#z=%d&t=self" % b.run("[...JSON.parse(document.querySelector('#data').textContent).F.keys()].find(i => "
        "JSON.parse(document.querySelector('#data').textContent).S[JSON.parse(document.querySelector('#data').textContent).F[i]] === 'work')"))
    equal(b.run(rows), ["40 37.4 % 55 51.4 % sum<int>(int, char) (app)", "15 14.0 % 15 14.0 % hot (app)", "0 0.00 % 55 51.4 % work (app)"], "of the view")

@test
def labels_of_a_heat_map_stay_within_it(b):
    b.open("file://" + picture("heat", "".join("%d 1024 2048 50\n%d 2048 4096 50\n" % (t, t) for t in range(1, 9))))
    top, tags = b.run("[document.querySelector('#f .axis').getBoundingClientRect().top,"
                      "[...document.querySelectorAll('#f .tag')].map(t => t.getBoundingClientRect().top)]")
    equal(len(tags), 3)
    equal([round(t - top) for t in tags if t < top], [], "above the plot")
    if tags[1] - tags[0] < 14:
        raise AssertionError("they lie on each other: %r" % tags)

def main():
    if not browser.find():
        print("no Chromium here: pictures are not tried")
        print("0 passed, 0 failed, %d skipped" % len(tests))
        return 0
    passed = failed = 0
    b = browser.Browser()
    for f in tests:
        if only and only not in f.__name__:
            continue
        name = f.__name__.replace("_", " ")
        try:
            f(b)
            passed += 1
            print("ok %d - %s" % (passed + failed, name))
        except Exception as e:
            failed += 1
            print("not ok %d - %s" % (passed + failed, name))
            print("# " + str(e))
        sys.stdout.flush()
    b.close()
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0

sys.exit(main())
