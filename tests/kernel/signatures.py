#!/usr/bin/env python3
"""signatures.py [-v] [-k DIR] [-n FUNCTIONS] [-s SEED] SONDE - arguments by name, wherever compilers left them.

Generates programs of functions whose parameters compilers drop, split, replace by constants or pass in memory (static
functions and others, in C, C++ and Rust), compiles them with gcc, clang and rustc at -O0 to -O3, and compares what
sonde shows at the functions' entries with what the callers in the program print. A value is right, refused (it is
optimised out, or is where probes cannot look), or wrong. Exit status 1: a value is wrong, fewer are right than the
table LEAST asks for, or an argument of unoptimised code is called optimised out.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = 3

# A type of C: its name, an initialiser made of the expression X, and what is compared: (member, format, how C prints it).
C_TYPES = {
    "int": ("int", "(int)(X)", [("", "%d", "{}")]),
    "unsigned char": ("unsigned char", "(unsigned char)(X)", [("", "%d", "{}")]),
    "short": ("short", "(short)-(X)", [("", "%d", "{}")]),
    "long": ("long", "-1000000L * (X)", [("", "%ld", "{}")]),
    "bool": ("_Bool", "(X) & 1", [("", "%d", "{}")]),
    "enum": ("enum color", "(enum color)((X) % 3)", [("", "%d", "(int){}")]),
    "string": ("const char *", "words[(X) % 4]", [("", "%s", "{}")]),
    "double": ("double", "(X) + 0.5", [("", "%f", "{}")]),
    "float": ("float", "(X) + 0.25f", [("", "%f", "{}")]),
    "pointer": ("struct big *", "&bigs[(X) % 4]", [("->b", "%ld", "{}->b")]),
    "pair": ("struct pair", "{(X), -(X)}", [(".a", "%d", "{}.a"), (".b", "%d", "{}.b")]),
    "mixed": ("struct mixed", "{(char)(X), (X) * 7L}", [(".c", "%d", "{}.c"), (".l", "%ld", "{}.l")]),
    "three": ("struct three", "{(X), (X) + 1, (X) + 2}",
              [(".a", "%d", "{}.a"), (".b", "%d", "{}.b"), (".c", "%d", "{}.c")]),
    "points": ("struct points", "{(X) + 0.5f, (X) + 1.5f}", [(".x", "%f", "{}.x"), (".y", "%f", "{}.y")]),
    "half": ("struct half", "{(X) + 0.5, (X) * 3L}", [(".l", "%ld", "{}.l")]),
    "big": ("struct big", "{(X), (X) * 2L, (X) * 3L, {1, 2}}", [(".a", "%ld", "{}.a"), (".b", "%ld", "{}.b")]),
}
CC_TYPES = {
    "reference": ("const pair &", "pairs[(X) % 4]", [(".a", "%d", "{}.a")]),
    "class": ("counted", "counted((X) * 5)", [(".n", "%ld", "{}.n")]),
}
RUST_TYPES = {
    "i32": ("i32", "(X) as i32", [("", "%d", "{}")]),
    "u8": ("u8", "(X) as u8", [("", "%d", "{}")]),
    "i64": ("i64", "-1000000 * (X) as i64", [("", "%ld", "{}")]),
    "bool": ("bool", "(X) & 1 == 1", [("", "%d", "{} as i32")]),
    "f64": ("f64", "(X) as f64 + 0.5", [("", "%f", "{}")]),
    "str": ("&str", "WORDS[(X) as usize % 4]", [(".length", "%d", "{}.len()"), ("str", "%s", "{}")]),
    "slice": ("&[u64]", "&NUMBERS[..(X) as usize % 4 + 1]", [(".length", "%d", "{}.len()")]),
    "ref": ("&Big", "&BIGS[(X) as usize % 4]", [("->b", "%ld", "{}.b")]),
    "pair": ("Pair", "Pair { a: (X) as u32, b: (X) as u32 + 9 }", [(".a", "%d", "{}.a"), (".b", "%d", "{}.b")]),
    "wide": ("Wide", "Wide { a: (X) as u64, b: (X) as u64 + 9 }", [(".a", "%d", "{}.a"), (".b", "%d", "{}.b")]),
    "mixed": ("Mixed", "Mixed { c: (X) as u8, l: (X) as u64 * 7 }", [(".c", "%d", "{}.c"), (".l", "%d", "{}.l")]),
    "three": ("Three", "Three { a: (X) as u32, b: (X) as u32 + 1, c: (X) as u32 + 2 }",
              [(".a", "%d", "{}.a"), (".b", "%d", "{}.b"), (".c", "%d", "{}.c")]),
    "one": ("One", "One { a: (X) as u64 + 3 }", [(".a", "%d", "{}.a")]),
    "half": ("Half", "Half { d: (X) as f64, l: (X) as i64 * 3 }", [(".l", "%ld", "{}.l")]),
    "array": ("[u32; 2]", "[(X) as u32, (X) as u32 + 4]", [("[0]", "%d", "{}[0]"), ("[1]", "%d", "{}[1]")]),
    "tuple": ("(u8, i64)", "((X) as u8, (X) as i64 * -5)", [(".__0", "%d", "{}.0"), (".__1", "%ld", "{}.1")]),
    "tiny": ("Tiny", "Tiny { a: (X) as u8, b: (X) as u8 + 1, c: (X) as u8 + 2 }",
             [(".a", "%d", "{}.a"), (".b", "%d", "{}.b"), (".c", "%d", "{}.c")]),
    "nested": ("Nested", "Nested { one: One { a: (X) as u64 }, b: (X) as u32 * 3 }",
               [(".one.a", "%d", "{}.one.a"), (".b", "%d", "{}.b")]),
    "bytes": ("[u8; 12]", "[(X) as u8; 12]", [("[0]", "%d", "{}[0]"), ("[11]", "%d", "{}[11]")]),
    "option": ("Option<u32>", "Some((X) as u32 + 6)", [(".Some.__0", "%d", "{}.unwrap_or(0)")]),
    "result": ("Result<u32, u8>", "Ok((X) as u32 + 8)", [(".Ok.__0", "%d", "{}.unwrap_or(0)")]),
    "shape": ("Shape", "Shape::Line { from: (X) as u64, to: (X) as u64 + 2 }",
              [(".Line.from", "%d", "{}.ends().0"), (".Line.to", "%d", "{}.ends().1")]),
    "points": ("Points", "Points { x: (X) as f32 + 0.5, y: (X) as f32 }", [(".x", "%f", "{}.x"), (".y", "%f", "{}.y")]),
    "big": ("Big", "Big { a: (X) as i64, b: (X) as i64 * 2, c: 1, d: 2 }", [(".a", "%ld", "{}.a"), (".b", "%ld", "{}.b")]),
}

C_HEAD = r"""
#include <stdio.h>
enum color { RED, GREEN, BLUE };
struct pair { int a, b; };
struct mixed { char c; long l; };
struct three { int a, b, c; };
struct points { float x, y; };
struct half { double d; long l; };
struct big { long a, b, c; int d[2]; };
static const char *const words[] = {"north", "east", "south", "west"};
static struct big bigs[4] = {{1, 10, 0, {0}}, {2, 20, 0, {0}}, {3, 30, 0, {0}}, {4, 40, 0, {0}}};
static struct pair pairs[4] = {{1, 5}, {2, 6}, {3, 7}, {4, 8}};
volatile long sink;
static void swallow(const volatile void *p) { sink = sink + *(const volatile char *)p; }
void (*volatile use)(const volatile void *) = swallow;
#define KEPT __attribute__((noinline))
#define TOUCH __asm__ volatile("" ::: "memory")
"""
CC_HEAD = """
struct counted {
	long n;
	explicit counted(long v) : n(v) {}
	counted(const counted &o) : n(o.n) { sink = sink + 1; }
	~counted() { sink = sink + 1; }
};
struct object { long id; METHODS };
"""
RUST_HEAD = """

use std::hint::black_box;
static WORDS: [&str; 4] = ["north", "east", "south", "west"];
static NUMBERS: [u64; 6] = [4, 5, 6, 7, 8, 9];
pub struct Big { a: i64, b: i64, c: i64, d: i64 }
static BIGS: [Big; 4] = [Big { a: 1, b: 10, c: 0, d: 0 }, Big { a: 2, b: 20, c: 0, d: 0 },
    Big { a: 3, b: 30, c: 0, d: 0 }, Big { a: 4, b: 40, c: 0, d: 0 }];
pub struct Pair { a: u32, b: u32 }
pub struct Wide { a: u64, b: u64 }
pub struct Mixed { c: u8, l: u64 }
pub struct Three { a: u32, b: u32, c: u32 }
pub struct One { a: u64 }
pub struct Half { d: f64, l: i64 }
pub struct Points { x: f32, y: f32 }
pub struct Tiny { a: u8, b: u8, c: u8 }
pub struct Nested { one: One, b: u32 }
pub enum Shape { Empty, Square(u32), Line { from: u64, to: u64 } }
impl Shape {
    #[inline(always)]
    fn ends(&self) -> (u64, u64) {
        match self { Shape::Line { from, to } => (*from, *to), Shape::Square(n) => (*n as u64, 0), Shape::Empty => (0, 0) }
    }
}
"""


class Param:
    def __init__(self, name, kind, how, order):
        self.name, self.kind, self.how = name, kind, how
        self.ctype, self.init, self.parts = kind
        self.k = "%d" % (order + 7) if how == "constant" or how == "address constant" else "k * %d + %d" % (order + 3, order)
        self.init = self.init.replace("(X)", "(%s)" % self.k)


class Function:
    def __init__(self, n, rand, types, language):
        self.name = "fn_%03d" % n
        count = rand.choice([1, 1, 2, 2, 3, 3, 4, 5, 7, 9, 11])
        hows = ["used"] * 5 + ["unused"] * 2 + ["address", "address", "constant", "address constant", "late"]
        # Every third function has small ones only: these fill the registers.
        pick = list(types) if n % 3 else [t for t in types if "*" not in types[t][0]][:4]
        self.params = [Param("p%d" % i, types[rand.choice(pick)], rand.choice(hows), i) for i in range(count)]
        self.static = rand.random() < 0.7
        self.inline = rand.random() < 0.2
        self.method = language == "cc" and rand.random() < 0.3
        self.early = rand.random() < 0.3
        self.big = rand.random() < 0.15
        self.result_used = rand.random() < 0.7

    def terms(self, which):
        for p in self.params:
            if p.how in which and not (p.how == "late" and not self.params):
                yield p


def c_value(p):
    member, _, text = p.parts[0]
    value = text.format(p.name)
    return "*" + value if p.ctype == "const char *" else value


def c_function(f, language):
    head = "struct big " if f.big else "long "
    params = ", ".join("%s%s%s" % (p.ctype, "" if p.ctype[-1] in "*&" else " ", p.name) for p in f.params)
    body = ["long t = %d;" % (int(f.name[3:]) + 1)] # else equal functions would be one
    if f.early:
        body.append("if (sink == -7) return %s;" % ("bigs[0]" if f.big else "3"))
    body += ["t += (long)%s;" % c_value(p) for p in f.params if p.how in ("used", "constant")]
    if f.inline:
        body.append("for (int i = 0; i < 3; i++) { TOUCH; use(&sink); TOUCH; use(words); TOUCH; use(bigs); sink = sink + t; }")
    body += ["use(&%s);" % p.name for p in f.params if p.how.startswith("address")]
    body.append("TOUCH;")
    body += ["t += (long)%s;" % c_value(p) for p in f.params if p.how == "late"]
    body.append("sink = sink + t;")
    if f.method:
        body.append("sink = sink + id;")
    body.append("{ struct big r = {t, t, t, {0}}; return r; }" if f.big else "return t;")
    static = "static " if f.static and not f.method else ""
    kept = "" if f.inline else "KEPT "
    text = "%s%s%s%s(%s) { %s }\n" % (static, kept, head, f.name, params, " ".join(body))
    return text


def c_call(f, language):
    lines = []
    for p in f.params:
        t = p.ctype
        lines.append("%s%s%s = %s;" % (t, "" if t[-1] in "*&" else " ", p.name, p.init))
    fmt, values = [], []
    for p in f.params:
        for member, form, text in p.parts:
            fmt.append(form)
            values.append(text.format(p.name))
    call = "%s%s(%s)" % ("o->" if f.method else "", f.name, ", ".join(
        p.init if p.how.endswith("constant") and not p.init.startswith("{") else p.name for p in f.params))
    result = ".a" if f.big else ""
    if f.result_used:
        call = "sink = sink + %s%s" % (call, result)
    line = '\tprintf("%s %s\\n"%s);' % (f.name, "|".join(fmt), "".join(", " + v for v in values))
    return "static KEPT void call_%s(int k%s) {\n\t%s\n%s\n\t%s;\n}\n" % (
        f.name, ", object *o" if language == "cc" else "", " ".join(lines), line, call)


def c_program(functions, language):
    out = [C_HEAD]
    methods = [c_function(f, language) for f in functions if f.method]
    if language == "cc":
        out.append(CC_HEAD.replace("METHODS", "\n".join(methods)))
    out += [c_function(f, language) for f in functions if not f.method]
    out += [c_call(f, language) for f in functions]
    out.append("int main(int argc, char **argv) {\n")
    if language == "cc":
        out.append("\tobject o = {argc}; object *volatile at = &o;\n")
    out.append("\tfor (int k = argc; k < argc + %d; k++) {\n" % CALLS)
    out += ["\t\tcall_%s(k%s);\n" % (f.name, ", at" if language == "cc" else "") for f in functions]
    out.append("\t}\n\treturn 0;\n}\n")
    return "".join(out)


def rust_value(p):
    t = p.ctype
    if t == "&str" or t == "&[u64]":
        return "%s.len() as i64" % p.name
    if t == "bool" or not t[0].isupper() and t[0] not in "&[(":
        return "%s as i64" % p.name
    return "%s as i64" % p.parts[0][2].format(p.name)


def rust_function(f):
    params = ", ".join("%s: %s" % (p.name, p.ctype) for p in f.params)
    body = ["let mut t: i64 = %d;" % (int(f.name[3:]) + 1)]
    if f.early:
        body.append("if black_box(0) == 7 { return %s; }" % ("Big { a: 1, b: 1, c: 1, d: 1 }" if f.big else "3"))
    body += ["t = t.wrapping_add(%s);" % rust_value(p) for p in f.params if p.how in ("used", "constant")]
    body += ["black_box(&%s);" % p.name for p in f.params if p.how.startswith("address")]
    body.append("black_box(t);")
    body += ["t = t.wrapping_add(%s);" % rust_value(p) for p in f.params if p.how == "late"]
    body.append("Big { a: t, b: t, c: t, d: t }" if f.big else "t")
    outside = "pub " if not f.static else ""
    return "#[inline(never)]\n%sfn %s(%s) -> %s { %s }\n" % (
        outside, f.name, params, "Big" if f.big else "i64", " ".join(body))


def rust_call(f):
    lines = ["let %s: %s = %s;" % (p.name, p.ctype, p.init) for p in f.params]
    values = [text.format(p.name) for p in f.params for _, _, text in p.parts]
    holes = ["{:.6}" if form == "%f" else "{}" for p in f.params for _, form, _ in p.parts]
    line = 'println!("%s %s"%s);' % (f.name, "|".join(holes), "".join(", " + v for v in values))
    call = "%s(%s)" % (f.name, ", ".join(p.name for p in f.params))
    return "#[inline(never)]\nfn call_%s(k: i64) {\n    %s\n    %s\n    black_box(%s);\n}\n" % (
        f.name, " ".join(lines), line, call)


def rust_program(functions):
    out = [RUST_HEAD] + [rust_function(f) for f in functions] + [rust_call(f) for f in functions]
    out.append("fn main() {\n    let from = std::env::args().count() as i64;\n    for k in from..from + %d {\n" % CALLS)
    out += ["        call_%s(k);\n" % f.name for f in functions]
    out.append("    }\n}\n")
    return "".join(out)


def symbols(path):
    """(symbol, function) of each symbol that is a form of a generated function."""
    out = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        word = line.split()
        found = re.search(r"(?<!call_)fn_\d\d\d", word[-1])
        if found and word[1] in "tTwW" and "call_" not in word[-1] and ".cold" not in word[-1]:
            yield word[-1], found.group()


def listed(sonde, path):
    """What sonde says of each function's parameters: {symbol: {name: why not, or None}}."""
    out = subprocess.run([sonde, "-lv", "uprobe:%s:*fn_*" % path], capture_output=True, text=True, check=True).stdout
    told, of = {}, None
    for line in out.splitlines():
        if not line.startswith(" "):
            of = told.setdefault(line.split(":", 2)[2], {})
            continue
        found = re.match(r" .*?([a-z_]\w*)(?:\[[0-9]*\])*(?: \((is|has) (.*)\))?$", line)
        if found:
            of[found.group(1)] = found.group(3) and "%s %s" % (found.group(2), found.group(3))
    return told


def expression(p, member):
    if member == "str":
        return "str(args.%s.data_ptr, args.%s.length + 1)" % (p.name, p.name)
    whole = "args.%s%s" % (p.name, member)
    return "str(%s)" % whole if p.parts[0][1] == "%s" and not member else whole


class Count:
    def __init__(self):
        self.right = self.gone = self.floating = self.other = self.unseen = 0
        self.wrong = []


def trace(sonde, path, functions, verbose):
    count = Count()
    told = listed(sonde, path)
    by_name = {f.name: f for f in functions}
    script, shown = [], {}
    for i, (symbol, name) in enumerate(symbols(path)):
        f, formats, values, of = by_name[name], [], [], []
        column = 0
        for p in f.params:
            why = told.get(symbol, {}).get(p.name, "is not listed")
            for member, form, _ in p.parts:
                if why is None:
                    formats.append(form)
                    values.append(expression(p, member))
                    of.append((column, p))
                column += 1
            if why is None:
                continue
            if "optimised out" in why:
                count.gone += 1
            elif "floating" in why:
                count.floating += 1
            else:
                count.other += 1
            if verbose:
                print("%s %s.%s (%s) %s" % (os.path.basename(path), symbol, p.name, p.how, why))
        shown[str(i)] = (symbol, f, of)
        script.append('uprobe:%s:%s { printf("%d %s\\n"%s); }' % (
            path, symbol, i, "|".join(formats), "".join(", " + v for v in values)))
    file = path + ".bt"
    with open(file, "w") as to:
        to.write("\n".join(script) + "\n")
    run = subprocess.run([sonde, "-q", "-o", path + ".seen", "-c", path, file], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError("%s: %s%s" % (path, run.stdout[-2000:], run.stderr[:4000]))
    truth = {}
    for line in run.stdout.splitlines():
        name, _, rest = line.partition(" ")
        truth.setdefault(name, []).append(rest.split("|"))
    compare(count, shown, truth, open(path + ".seen").read().splitlines(), path)
    return count


def unpassed(p, path):
    """Of a struct in memory that the function never reads clang's callers copy what nobody has written: DWARF gives
    its place all the same, so each debugger shows what is there."""
    return p.how == "unused" and p.ctype.startswith("struct") and "clang" in path and not path.endswith("0")


def compare(count, shown, truth, lines, path):
    nth, bad, good = {}, set(), set()
    events = collections.Counter(line.partition(" ")[0] for line in lines)
    for line in lines:
        number, _, rest = line.partition(" ")
        if number not in shown:
            continue
        symbol, f, of = shown[number]
        k = nth[number] = nth.get(number, -1) + 1
        calls = truth.get(f.name, [])
        if events[number] == len(calls): # else it is inlined in some places, or only a part of the function
            calls = calls[k:k + 1]
        for (column, p), value in zip(of, rest.split("|")):
            key = (symbol, p.name)
            if any(c[column] == value for c in calls):
                good.add(key)
            elif unpassed(p, path):
                count.unseen += 1
            elif key not in bad:
                bad.add(key)
                count.wrong.append("%s: %s.%s (%s, %s) is shown as %s, and is %s" % (
                    os.path.basename(path), symbol, p.name, p.ctype, p.how, value,
                    " or ".join(c[column] for c in calls) or "never called"))
    count.right = len(good - bad)
    seen = good | bad
    count.unseen = len({(s, p.name) for s, _, of in shown.values() for _, p in of} - seen)


def build_and_trace(opt, job):
    _, _, path, fs, command = job
    if subprocess.run(command).returncode:
        return None
    return trace(opt.sonde, path, fs, opt.v)


# Of a hundred parameters that are not floating point numbers in registers, how many must be shown at -O0, -O1, -O2
# and -O3. The generator drops a fifth of them and makes as many constants: so many are optimised out for each debugger.
LEAST = {
    "gcc": (100, 80, 55, 50),
    "clang": (100, 55, 55, 50),
    "g++": (100, 80, 55, 50),
    "clang++": (80, 60, 60, 55),
    "rustc": (90, 48, 46, 40),
}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-v", action="store_true")
    ap.add_argument("-k")
    ap.add_argument("-n", type=int, default=200)
    ap.add_argument("-s", type=int, default=7)
    ap.add_argument("-o", help="only compilers that begin so")
    ap.add_argument("sonde")
    opt = ap.parse_args()
    rand = random.Random(opt.s)
    share = {"c": opt.n * 2 // 5, "cc": opt.n * 3 // 10, "rs": opt.n * 3 // 10}
    functions, sources = {}, {}
    for language, types in (("c", C_TYPES), ("cc", {**C_TYPES, **CC_TYPES}), ("rs", RUST_TYPES)):
        functions[language] = [Function(i, rand, types, language) for i in range(share[language])]
    directory = opt.k or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    for language in functions:
        text = rust_program(functions["rs"]) if language == "rs" else c_program(functions[language], language)
        sources[language] = os.path.join(directory, "signatures." + language)
        with open(sources[language], "w") as to:
            to.write(text if language != "cc" else text.replace("_Bool", "bool"))
    failed = False
    jobs = []
    for compiler, language in (("gcc", "c"), ("clang", "c"), ("g++", "cc"), ("clang++", "cc"), ("rustc", "rs")):
        if opt.o and not compiler.startswith(opt.o):
            continue
        if not shutil.which(compiler):
            print("%s is not installed: skipped" % compiler)
            continue
        for level in "0123":
            path = os.path.join(directory, "%s-%s" % (compiler.replace("++", "xx"), level))
            if compiler == "rustc":
                command = [compiler, "-A", "warnings", "-g", "-C", "opt-level=" + level, "-o", path, sources[language]]
            else:
                command = [compiler, "-w", "-g", "-O" + level, "-o", path, sources[language]]
            jobs.append((compiler, level, path, functions[language], command))
    print("%-9s %6s %9s %12s %8s %9s %6s" % ("", "right", "opt. out", "in vectors", "other", "uncalled", "wrong"))
    pool = concurrent.futures.ThreadPoolExecutor(2)
    counts = [pool.submit(build_and_trace, opt, job) for job in jobs]
    for (compiler, level, path, fs, command), counted in zip(jobs, counts):
        c = counted.result()
        if not c:
            sys.exit("%s -O%s does not compile its program" % (compiler, level))
        print("%-9s %6d %9d %12d %8d %9d %6d" % (compiler + " " + level, c.right, c.gone, c.floating, c.other, c.unseen,
                                                len(c.wrong)))
        for w in c.wrong[:1000 if opt.v else 5]:
            print("  " + w)
        failed |= bool(c.wrong)
        least = LEAST[compiler][int(level)]
        share_right = 100 * c.right // max(1, c.right + c.gone + c.other)
        if share_right < least:
            print("  only %d of 100 are shown, %d were expected" % (share_right, least))
            failed = True
    if not opt.k:
        shutil.rmtree(directory)
    sys.exit(1 if failed else 0)


main()
