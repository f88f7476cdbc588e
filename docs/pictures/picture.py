# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of docs/performance are made of: records, captions, axes, SVG."""

import glob
import json
import math
import os
import statistics
import sys
from xml.sax.saxutils import escape

WIDTH = 720
OURS, OURS_LIGHT, PEER, PEER_LIGHT = "#0b5cad", "#5ba3e0", "#b5470b", "#e59a62"
INK, SOFT, GRID = "#222222", "#5a5a5a", "#dddddd"


def say(text):
    print("plot: " + text, file=sys.stderr)


class Record:
    """What the pictures need of a JSON record."""

    def __init__(self, path, document):
        self.path = path
        self.command = document["command"]
        self.options = document["options"]
        self.machine = document["machine"]
        self.version = document["version"]
        self.commit = document.get("commit", "")
        self.date = str(document.get("date", ""))[:10]
        self.ours = statistics.median(run["seconds"]["total"] for run in document["runs"])
        self.result = document["runs"][-1].get("result", {})
        self.limit = document.get("limit", {})
        self.all_runs = document["runs"]
        self.runs = len(self.all_runs)
        checks = [run["check"] for run in document["runs"] if "check" in run]
        peer = document.get("peer")
        self.peer = peer["name"] if peer else ""
        self.library, self.peer_version = "", ""
        if peer:
            self.peer_version = str(peer.get("version") or "")
            self.library = self.peer.split()[0].lower()
            self.peer_threads, self.peer_gpus = peer.get("threads", 0), peer.get("gpus", 0)
            self.theirs = statistics.median(peer["runs"])
            checks.append(peer.get("check", {"passed": True}))
        self.passed = all(check["passed"] for check in checks)
        if not (self.ours > 0 and (not peer or self.theirs > 0)):
            raise ValueError("seconds that are not positive")

    @property
    def ratio(self):
        return self.theirs / self.ours

    def option(self, name, default=None):
        value = self.options.get(name)
        if value is None:
            return default
        return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value

    def place(self):
        """The machine in words; records of other machines are not drawn beside this one."""
        gpus = [str(gpu) for gpu in self.machine.get("gpus", [])]
        used = self.machine.get("cuda_workers", 0)
        parts = []
        if used and gpus:
            parts.append(gpus[0] if used == 1 else "%d x %s" % (used, gpus[0]))
        workers = self.machine["cpu_workers"]
        parts.append("%d CPU worker%s, %s" % (workers, "" if workers == 1 else "s", self.machine["cpu"]))
        return ", ".join(parts)

    def peer_title(self):
        count, kind = (self.peer_threads, "thread") if self.peer_threads else (max(self.peer_gpus, 1), "GPU")
        return "%s, %d %s%s" % ((self.peer + " " + self.peer_version).strip(), count, kind, "" if count == 1 else "s")


def read_records(folder):
    records, good = [], True
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            # Of a benchmark with several cases each is a record.
            cases = document.get("cases")
            of_file = [Record(path, document)] if cases is None else [Record(path, {**document, **case}) for case in cases]
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            say("%s: not a record of Tessera's (%s: %s)" % (path, type(error).__name__, error))
            good = False
            continue
        for record in of_file:
            if record.passed:
                records.append(record)
            else:
                say("%s: left out, a check of it failed" % path)
    return records, good


def one_of_each(records, key):
    """Of records of the same case the newest."""
    newest = {}
    for record in sorted(records, key=lambda record: (record.date, record.path)):
        if key(record) in newest:
            say("%s: left out, %s is of the same case" % (newest[key(record)].path, record.path))
        newest[key(record)] = record
    return list(newest.values())


def same_machine(records, name):
    places = sorted({record.place() for record in records})
    if len(places) == 1:
        return True
    say("%s: not made, its records are of several machines: %s" % (name, "; ".join(places)))
    return False


def caption(records, place=None, timed=True):
    """Two lines: machine and versions, as the records tell. place: instead of that of the first record."""
    first = records[0]
    dates = sorted({record.date for record in records if record.date})
    when = "date not recorded" if not dates else dates[0] if len(dates) == 1 else dates[0] + " to " + dates[-1]
    counts = sorted({record.runs for record in records})
    runs = "one run" if counts == [1] else "median of " + " or ".join(str(count) for count in counts) + " runs"
    versions = sorted({"Tessera %s (%s)" % (record.version, record.commit) if record.commit
                       else "Tessera " + record.version for record in records})
    libraries = ["StarPU " + first.machine["starpu"]]
    if not first.machine.get("cuda_workers"):
        libraries.append(" ".join(str(first.machine["blas"]).split()[:2]))
    peers = sorted({(record.library + " " + record.peer_version).strip() for record in records if record.peer_version})
    return ["; ".join([place or first.place(), when] + ([runs] if timed else [])),
            "; ".join(versions + (libraries if timed else []) + peers)]


class Picture:
    """An SVG with a light card of its own, so that it reads on a dark page, too."""

    def __init__(self, height, title, lines):
        # Long captions go on in the next line.
        self.lines = [part for line in lines for part in wrap(line, 112)]
        self.height = height + 16 * len(self.lines) + 10
        self.top = height
        self.parts = []
        self.text(20, 30, title, size=17, weight="bold")

    def add(self, text):
        self.parts.append("  " + text)

    def text(self, x, y, text, size=13, anchor="start", color=INK, weight="normal"):
        self.add('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s" fill="%s" font-weight="%s">%s</text>'
                 % (x, y, size, anchor, color, weight, escape(text)))

    def line(self, x1, y1, x2, y2, color=GRID, width=1, dash=""):
        self.add('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"%s/>'
                 % (x1, y1, x2, y2, color, width, ' stroke-dasharray="%s"' % dash if dash else ""))

    def bar(self, x, y, width, height, color):
        self.add('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (x, y, width, height, color))

    def curve(self, points, color, dash):
        self.add('<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>'
                 % (color, ' stroke-dasharray="6 4"' if dash else "", " ".join("%.1f,%.1f" % point for point in points)))
        for x, y in points:
            self.add('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, color))

    def write(self, path):
        for k, line in enumerate(self.lines):
            self.text(20, self.top + 12 + 16 * k, line, size=11, color=SOFT)
        head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
                'font-family="Helvetica, Arial, sans-serif">\n  <rect width="%d" height="%d" rx="8" fill="#ffffff"/>\n'
                % ((WIDTH, self.height) * 3))
        temporary = path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(head + "\n".join(self.parts) + "\n</svg>\n")
        os.replace(temporary, path)
        print(path)


def wrap(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return lines + [line]


def short(seconds):
    if seconds >= 1:
        return "%.3g s" % seconds
    return "%.3g ms" % (1e3 * seconds) if seconds >= 1e-3 else "%.3g us" % (1e6 * seconds)


def nice_step(largest, ticks):
    raw = largest / ticks
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)


def axes(picture, left, right, top, bottom, high, step, title):
    """A linear axis from 0 to high. Returns the place of a value."""

    def y_of(value):
        return bottom - (bottom - top) * value / high

    for k in range(int(round(high / step)) + 1):
        picture.line(left, y_of(k * step), right, y_of(k * step))
        picture.text(left - 6, y_of(k * step) + 4, "%g" % (k * step), size=11, anchor="end")
    picture.line(left, bottom, right, bottom, INK)
    picture.line(left, top, left, bottom, INK)
    picture.text(left - 40, top - 10, title, size=12)
    return y_of


def legend(picture, entries, x, y):
    for k, (name, color, dash) in enumerate(entries):
        picture.line(x + 330 * (k % 2), y + 18 * (k // 2) - 4, x + 330 * (k % 2) + 26, y + 18 * (k // 2) - 4, color, 2, dash)
        picture.text(x + 330 * (k % 2) + 32, y + 18 * (k // 2), name, size=12)


def draw_seconds(picture, series, left, right, top, bottom, title="seconds", label="order n"):
    """Seconds over n, both axes logarithmic. series: (name, color, dashed, [(n, seconds)]). Returns a value's place."""
    orders = sorted({n for _, _, _, points in series for n, _ in points})
    seconds = [value for _, _, _, points in series for _, value in points]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    high = max(high, low + 1)
    first, last = math.log(orders[0]), math.log(orders[-1])

    def x_of(n):
        return (left + right) / 2 if last == first else left + (right - left) * (math.log(n) - first) / (last - first)

    def y_of(value):
        return bottom - (bottom - top) * (math.log10(value) - low) / (high - low)

    for power in range(low, high + 1):
        for factor in range(1, 10) if power < high else (1,):
            picture.line(left, y_of(factor * 10.0 ** power), right, y_of(factor * 10.0 ** power),
                         GRID if factor == 1 else "#f0f0f0")
        picture.text(left - 6, y_of(10.0 ** power) + 4, "%g" % 10.0 ** power, size=11, anchor="end")
    for n in orders:
        picture.line(x_of(n), bottom, x_of(n), bottom + 4, INK)
        picture.text(x_of(n), bottom + 17, "%d" % n, size=11, anchor="middle")
    picture.line(left, bottom, right, bottom, INK)
    picture.line(left, top, left, bottom, INK)
    picture.text(left - 40, top - 10, title, size=12)
    picture.text((left + right) / 2, bottom + 34, label, size=12, anchor="middle")
    for name, color, dashed, points in series:
        picture.curve([(x_of(n), y_of(value)) for n, value in sorted(points)], color, dashed)
    return y_of
