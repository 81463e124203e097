#!/usr/bin/env python3
"""receiver.py FOLDER [STATUS...] - an HTTP server on loopback that takes metrics by OTLP and profiles of pprof, for tests.

FOLDER/port is its port. Each POST is answered with the next STATUS (drop: the connection is closed), then with 200;
"200:N" says that N data points were rejected. What was taken last is in FOLDER/metrics, a line for each point:
    counter writes_total{comm="cat"} 3
and all that came, also if it was refused, in FOLDER/log. Samples of profiles are added up in FOLDER/stacks. Messages are
read here as their .proto says; an unknown field is an error."""
import gzip
import http.server
import os
import struct
import subprocess
import sys
import urllib.parse

folder, statuses = sys.argv[1], sys.argv[2:]
stacks = {}
wrong = []


def put(name, text):
    with open(folder + "/." + name, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(folder + "/." + name, folder + "/" + name)


def log(text):
    with open(folder + "/log", "a", encoding="utf-8") as file:
        file.write(text + "\n")


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        at += 1
        shift += 7
        if data[at - 1] < 128:
            return n, at


def fields(data, known):
    """{name: [values]} of a message; known: {number: (name, wire type)}."""
    found = {name: [] for name, _ in known.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        name, wire = known.get(tag >> 3, (None, None))
        if wire != tag & 7:
            raise ValueError("field %d of wire type %d" % (tag >> 3, tag & 7))
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at : at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            if len(value) != size:
                raise ValueError("a field is longer than its message")
        found[name].append(value)
    return found


def one(values, default=None):
    if len(values) > 1:
        raise ValueError("a field is there twice")
    return values[0] if values else default


def number(value, form="<Q"):
    return struct.unpack(form, value)[0]


def plain(n):
    return str(int(n)) if n == int(n) else repr(n)


def labels(pairs):
    out = []
    for pair in pairs:
        p = fields(pair, {1: ("key", 2), 2: ("value", 2)})
        value = one(fields(one(p["value"]), {1: ("string", 2)})["string"], b"")
        out.append('%s="%s"' % (one(p["key"]).decode(), value.decode().replace("\n", "\\n")))
    return out


POINTS = {
    "gauge": (5, {1: ("point", 2)}, {3: ("time", 1), 4: ("double", 1), 7: ("label", 2)}),
    "counter": (7, {1: ("point", 2), 2: ("temporality", 0), 3: ("monotonic", 0)},
                {2: ("since", 1), 3: ("time", 1), 4: ("double", 1), 7: ("label", 2)}),
    "histogram": (9, {1: ("point", 2), 2: ("temporality", 0)},
                  {2: ("since", 1), 3: ("time", 1), 4: ("count", 1), 6: ("buckets", 2), 7: ("bounds", 2), 9: ("label", 2)}),
    "summary": (11, {1: ("point", 2)},
                {2: ("since", 1), 3: ("time", 1), 4: ("count", 1), 5: ("sum", 1), 7: ("label", 2)}),
}


def point(kind, name, unit, p):
    text = "%s %s%s{%s}" % (kind, name, "[%s]" % unit if unit else "", ",".join(labels(p["label"])))
    time = number(one(p["time"]))
    if kind != "gauge" and not 0 < number(one(p["since"])) <= time:
        raise ValueError("%s: a sum that began after its time" % name)
    if kind in ("gauge", "counter"):
        return text + " " + plain(number(one(p["double"]), "<d"))
    count = number(one(p["count"]))
    if kind == "summary":
        return text + " %d %s" % (count, plain(number(one(p["sum"]), "<d")))
    counts = struct.unpack("<%dQ" % (len(one(p["buckets"])) // 8), one(p["buckets"]))
    bounds = struct.unpack("<%dd" % (len(one(p["bounds"], b"")) // 8), one(p["bounds"], b""))
    if len(counts) != len(bounds) + 1 or sum(counts) != count or list(bounds) != sorted(set(bounds)):
        raise ValueError("%s: %d counts of %d, %d bounds" % (name, len(counts), count, len(bounds)))
    return text + " %d:" % count + "".join(" %s=%d" % (plain(b), n) for b, n in zip(bounds, counts) if n)


def metrics(body):
    """Lines of a message ExportMetricsServiceRequest."""
    lines, seen = [], set()
    resource = fields(one(fields(body, {1: ("resource", 2)})["resource"]), {1: ("of", 2), 2: ("scope", 2)})
    lines.append("resource " + ",".join(labels(fields(one(resource["of"]), {1: ("label", 2)})["label"])))
    scope = fields(one(resource["scope"]), {1: ("of", 2), 2: ("metric", 2)})
    known = {1: ("name", 2), 2: ("help", 2), 3: ("unit", 2)}
    known.update({field: (kind, 2) for kind, (field, _, _) in POINTS.items()})
    for metric in scope["metric"]:
        m = fields(metric, known)
        name, unit = one(m["name"]).decode(), one(m["unit"], b"").decode()
        if name in seen:
            raise ValueError("%s comes twice" % name)
        seen.add(name)
        kind, data = next((kind, one(m[kind])) for kind in POINTS if m[kind])
        data = fields(data, POINTS[kind][1])
        if kind == "counter" and (one(data["temporality"]), one(data["monotonic"])) != (2, 1):
            raise ValueError("%s: not cumulative, or not monotonic" % name)
        if kind == "histogram" and one(data["temporality"]) != 2:
            raise ValueError("%s: not cumulative" % name)
        lines += [point(kind, name, unit, fields(p, POINTS[kind][2])) for p in data["point"]]
    return lines


def profile(body):
    """Adds the samples of a profile to what came before."""
    p = fields(gzip.decompress(body),
               {1: ("type", 2), 2: ("sample", 2), 3: ("mapping", 2), 4: ("location", 2), 5: ("function", 2),
                6: ("string", 2), 9: ("time", 0), 10: ("duration", 0)})
    names = {}
    for function in p["function"]:
        f = fields(function, {1: ("id", 0), 2: ("name", 0), 4: ("file", 0)})
        names[one(f["id"])] = p["string"][one(f["name"])].decode()
    places = {}
    for location in p["location"]:
        found = fields(location, {1: ("id", 0), 2: ("mapping", 0), 3: ("address", 0), 4: ("line", 2)})
        functions = [names[one(fields(x, {1: ("of", 0), 2: ("line", 0)})["of"])] for x in found["line"]]
        places[one(found["id"])] = "/".join(functions) or "?"
    if not 0 < one(p["duration"]) < 600e9 or not p["type"]:
        raise ValueError("a profile without a duration or a type")
    for sample in p["sample"]:
        s = fields(sample, {1: ("location", 2), 2: ("value", 2), 3: ("label", 2)})
        frames, at, weight, where = one(s["location"], b""), 0, 0, []
        while at < len(frames):
            n, at = varint(frames, at)
            where.append(places[n])
        at = 0
        while at < len(one(s["value"])):
            n, at = varint(one(s["value"]), at)
            weight += n
        key = ";".join(where)
        stacks[key] = stacks.get(key, 0) + weight


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        status = statuses.pop(0) if statuses else "200"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=bool(url.query)))
        kind = self.headers["Content-Type"]
        log("%s %s %s %s" % (status, url.path, kind, query.get("name", "")))
        if status == "drop":
            self.close_connection = True
            return
        code, _, rejected = status.partition(":")
        if code == "200":
            try:
                self.take(url.path, body, query)
            except (ValueError, IndexError, KeyError, TypeError, OSError) as e:
                log("WRONG: %r" % e)
        answer = b""
        if rejected: # partial_success { rejected_data_points }
            answer = bytes((10, 2, 8, int(rejected)))
        self.send_response(int(code))
        if code == "429":
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def take(self, path, body, query):
        if path.endswith("/v1/metrics"):
            put("metrics", "\n".join(metrics(body)) + "\n")
        elif path == "/ingest":
            if not int(query["from"]) <= int(query["until"]) or query["format"] != "pprof":
                raise ValueError("the query %s" % query)
            profile(body)
            put("stacks", "".join("%s %d\n" % (k, v) for k, v in sorted(stacks.items())))
        else:
            raise ValueError("the path %s" % path)
        if os.access("/usr/bin/protoc", os.X_OK):
            raw = body if path != "/ingest" else gzip.decompress(body)
            done = subprocess.run(["protoc", "--decode_raw"], input=raw, stdout=subprocess.DEVNULL, check=False)
            if done.returncode:
                raise ValueError("protoc does not read it")

    def log_message(self, format, *args):  # noqa: A002
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
open(folder + "/log", "w", encoding="utf-8").close()
put("port", "%d\n" % server.server_port)
server.serve_forever()
