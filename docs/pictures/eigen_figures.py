# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the five steps of the dense eigensolver's two stages: over the share of the vectors, over the order and
over the number of GPUs, as Fig. 7 of Yu et al., Comput. Phys. Commun. 262, 107808 (2021), and Fig. 1 of their
description of ELPA2's kernel; and the step from the tridiagonal matrix to the band by that kernel and by ours."""

import math
import os
import re
import statistics

from eigen_pictures import STEP_COLORS, STEPS, TYPES, device, end_labels, of_several, share, stage_seconds, two_types
from picture import (INK, OURS, PEER, PEER_LIGHT, SOFT, Picture, axes, caption, draw_seconds, nice_step, one_of_each,
                     same_machine, say)

NAMES = ("full to band", "to tridiagonal", "tridiagonal", "back to band", "back to full")


def gpus(record):
    return record.machine.get("cuda_workers", 0)


def of_type(records, type_):
    return [record for record in records if record.option("type", "d") == type_]


def draw_over_share(records, path):
    """The seconds of the five steps as stacked bars over the share of the vectors."""
    first = records[0]
    picture = Picture(372, "Two stages, n = %d: the five steps over the share of the vectors" % first.option("n"),
                      caption(records))
    for k, type_ in enumerate(two_types(records)):
        left, right, top, bottom = 56 + 348 * k, 256 + 348 * k, 76, 310
        bars = sorted(of_type(records, type_), key=share)
        seconds = [[stage_seconds(record, (name,)) for name, _ in STEPS] for record in bars]
        step = nice_step(max(map(sum, seconds)), 5)
        high = step * math.ceil(1.02 * max(map(sum, seconds)) / step)
        y_of = axes(picture, left, right, top, bottom, high, step, "seconds, " + TYPES[type_])
        slot = (right - left) / len(bars)
        for i, (record, values) in enumerate(zip(bars, seconds)):
            below = 0.0
            for value, color in zip(values, STEP_COLORS):
                picture.bar(left + (i + 0.12) * slot, y_of(below + value), 0.76 * slot,
                            y_of(below) - y_of(below + value), color)
                below += value
            picture.text(left + (i + 0.5) * slot, bottom + 15, "%d" % share(record), size=10, anchor="middle")
        picture.line(left, bottom, right, bottom, INK)
        below, labels = 0.0, []
        for value, name, color in zip(seconds[-1], NAMES, STEP_COLORS):
            labels.append((y_of(below + value / 2), name, color))
            below += value
        end_labels(picture, right - 4, labels, bottom)
        bands = [record.option("band") for record in bars]
        picture.text((left + right) / 2, bottom + 32, "eigenvectors, % of n", size=12, anchor="middle")
        for band in sorted(set(bands), key=bands.index):
            places = [i for i, of_bar in enumerate(bands) if of_bar == band]
            picture.text(left + (places[0] + places[-1] + 1) / 2 * slot, bottom + 48, "band %d" % band, size=10,
                         anchor="middle", color=SOFT)
    picture.write(path)


def kernel_seconds(records, type_, n, count):
    """Of the back-transformation by ELPA2's kernel; None: not measured."""
    found = [record for record in records if record.option("kernel") == "elpa" and record.option("type", "d") == type_
             and record.option("n") == n and gpus(record) == count]
    return stage_seconds(found[-1], ("back_tridiagonal",)) if found else None


def step_series(records, kernels, x_of):
    """A curve for each step, and the fourth by ELPA2's kernel."""
    series = [(name, color, False, [(x_of(record), stage_seconds(record, (step,))) for record in records])
              for (step, _), name, color in zip(STEPS, NAMES, STEP_COLORS)]
    theirs = [(x_of(record), kernel_seconds(kernels, record.option("type", "d"), record.option("n"), gpus(record)))
              for record in records]
    theirs = [point for point in theirs if point[1]]
    if theirs:
        series.append(("back, ELPA2", PEER_LIGHT, True, theirs))
    return series


def draw_lines(panels, label, title, lines, path):
    """Panels of the steps' seconds, both axes logarithmic. panels: (title, series)."""
    picture = Picture(394, title, lines)
    for k, (of_panel, series) in enumerate(panels):
        left, right, bottom = 56 + 348 * k, 256 + 348 * k, 310
        y_of = draw_seconds(picture, series, left, right, 76, bottom, "seconds, " + of_panel, label)
        labels = [(y_of(max(points)[1]), name, color) for name, color, _, points in series]
        end_labels(picture, right, labels, bottom)
    if any(dashed for _, series in panels for _, _, dashed, _ in series):
        picture.text(56, 370, "dashed: back to band by ELPA2's kernel as described, a thread block a column", size=12,
                     color=SOFT)
    picture.write(path)


def draw_over_orders(records, kernels, path):
    panels = [(TYPES[type_], step_series(of_type(records, type_), kernels, lambda record: record.option("n")))
              for type_ in two_types(records)]
    draw_lines(panels, "order n", "Two stages, all vectors: the five steps over the order",
               caption(records), path)


def gpu_model(record):
    name = str((record.machine.get("gpus") or [""])[0])
    model = re.search(r"\((.*) \S+\)", name)
    return model.group(1) if model else name


def draw_over_gpus(records, kernels, path):
    """As Fig. 1 of the kernel's description: the steps' seconds over the number of GPUs, for two orders."""
    counts = sorted({gpus(record) for record in records})
    panels = [("n = %d, %s" % (n, TYPES[records[0].option("type", "d")]),
               step_series([record for record in records if record.option("n") == n], kernels, gpus))
              for n in sorted({record.option("n") for record in records})[-2:]]
    place = "%s GPUs of %s, %s" % (", ".join(map(str, counts)), gpu_model(records[0]), records[0].machine["cpu"])
    draw_lines(panels, "GPUs", "Two stages, all vectors: the five steps over the number of GPUs",
               caption(records, place=place), path)


def draw_kernel(records, path):
    """The rates of both kernels over the order, below the machine's limit; above ours how many times faster it is."""
    theirs = any(record.option("kernel") == "elpa" for record in records)
    kernels = "our kernel and that of ELPA2" if theirs else "our kernel"
    picture = Picture(400, "Vectors from tridiagonal to band: " + kernels, caption(records))

    def rate(record):
        return statistics.median(run["gflops"]["back_tridiagonal"] for run in record.all_runs)

    for k, type_ in enumerate(two_types(records)):
        left, right, top, bottom = 56 + 348 * k, 256 + 348 * k, 76, 310
        chosen = of_type(records, type_)
        limit = max(record.limit.get("gflops") or 0 for record in chosen)
        largest = max([limit] + [rate(record) for record in chosen])
        unit, name = (1000, "TFLOP/s") if largest > 2000 else (1, "GFLOP/s")
        step = nice_step(largest / unit, 6)
        y_of = axes(picture, left, right, top, bottom, step * math.ceil(1.02 * largest / unit / step), step,
                    "%s, %s" % (name, TYPES[type_]))
        orders = sorted({record.option("n") for record in chosen})
        span = math.log(orders[-1] / orders[0]) or 1.0

        def x_of(n):
            return left + 16 + (right - left - 16) * math.log(n / orders[0]) / span

        for n in orders:
            picture.line(x_of(n), bottom, x_of(n), bottom + 4, INK)
            picture.text(x_of(n), bottom + 17, "%d" % n, size=11, anchor="middle")
        picture.text((left + right) / 2, bottom + 34, "order n, n vectors", size=12, anchor="middle")
        labels, seconds = [], {}
        if limit:
            picture.line(left, y_of(limit / unit), right, y_of(limit / unit), INK, 1.5, "3 3")
            labels.append((y_of(limit / unit), "limit", INK))
        for kernel, title, color in (("blocked", "Tessera", OURS), ("elpa", "ELPA2", PEER)):
            of_kernel = sorted((record for record in chosen if record.option("kernel") == kernel),
                               key=lambda record: record.option("n"))
            if of_kernel:
                points = [(x_of(record.option("n")), y_of(rate(record) / unit)) for record in of_kernel]
                picture.curve(points, color, kernel == "elpa")
                labels.append((points[-1][1], title, color))
                seconds[kernel] = {record.option("n"): (point, stage_seconds(record, ("back_tridiagonal",)))
                                   for record, point in zip(of_kernel, points)}
        for n, ((x, y), value) in seconds.get("blocked", {}).items():
            if n in seconds.get("elpa", {}):
                picture.text(x, y - 9, "%.3g x" % (seconds["elpa"][n][1] / value), size=11, anchor="middle",
                             weight="bold")
        end_labels(picture, right, labels, bottom)
    notes = ["limit: large dense products on the same machine"]
    if theirs:
        notes.append("ELPA2: its kernel as described, a thread block a column; N x: its seconds / ours")
    for k, note in enumerate(notes):
        picture.text(56, 366 + 17 * k, note, size=12, color=SOFT)
    picture.write(path)


def make_eigen_figures(records, folder, output):
    """Of records of `eigen --solver two_stage` without a peer and of `bench_dense back_tridiagonal`."""
    def key(record):
        return (record.command, record.option("type", "d"), record.option("n"), record.option("kernel"), gpus(record),
                record.result.get("count"))

    solves = one_of_each([record for record in records if record.command == "eigen" and not record.peer
                          and record.option("vectors", True) and record.option("solver") == "two_stage"
                          and record.result.get("count")], key)
    kernels = one_of_each([record for record in records if record.command == "bench_dense"
                           and record.option("stage") == "back_tridiagonal"
                           and record.option("columns") == record.option("n")], key)
    good, made = True, False

    def make(name, draw, chosen, *others, alike=same_machine):
        nonlocal good, made
        if chosen and alike(chosen + [record for other in others for record in other], name):
            draw(sorted(chosen, key=lambda record: (record.option("n"), gpus(record))), *others,
                 os.path.join(output, name))
            made = True
        elif chosen:
            good = False

    for name in ("CPUs", "GPU"):
        here = [record for record in solves if device(record) == name and not of_several(record)]
        bench = [record for record in kernels if device(record) == name and not of_several(record)]
        whole = [record for record in here if share(record) == 100]
        shared = [record.option("n") for record in here if share(record) < 100]
        make("eigen_steps_over_share_%s.svg" % name.lower(), draw_over_share,
             [record for record in here if shared and record.option("n") == max(shared)])
        make("eigen_steps_over_n_%s.svg" % name.lower(), draw_over_orders,
             whole if len({record.option("n") for record in whole}) > 1 else [], bench)
        make("eigen_kernel_%s.svg" % name.lower(), draw_kernel, bench)

    def same_models(chosen, name):
        if len({(record.machine["cpu"], gpu_model(record)) for record in chosen}) == 1:
            return True
        say("%s: not made, its records are of several machines" % name)
        return False

    several = [record for record in solves if of_several(record) and gpus(record) and share(record) == 100]
    make("eigen_steps_over_gpus.svg", draw_over_gpus, several if max(map(gpus, several), default=0) > 1 else [],
         [record for record in kernels if of_several(record) and gpus(record)], alike=same_models)
    if not made and good:
        say("eigen_steps_over_*.svg, eigen_kernel_*.svg: not made, no record of `eigen --solver two_stage` or of "
            "`bench_dense back_tridiagonal` in %s" % folder)
    return good
