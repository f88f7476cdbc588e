# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of density matrices: seconds over the order beside diagonalisation, and the convergence of the steps."""

import math
import os

from picture import (INK, OURS, OURS_LIGHT, PEER, PEER_LIGHT, SOFT, GRID, Picture, caption, legend, one_of_each,
                     same_machine, say)


def log_axis(picture, left, right, top, bottom, values, title):
    """A logarithmic axis of whole powers of ten around the values. Returns the place of a value."""
    low = math.floor(math.log10(min(values)))
    high = max(low + 1, math.ceil(math.log10(max(values))))

    def y_of(value):
        return bottom - (bottom - top) * (math.log10(value) - low) / (high - low)

    for power in range(low, high + 1, max(1, (high - low + 7) // 8)):
        picture.line(left, y_of(10.0 ** power), right, y_of(10.0 ** power), GRID)
        picture.text(left - 6, y_of(10.0 ** power) + 4, "%g" % 10.0 ** power, size=11, anchor="end")
    picture.line(left, bottom, right, bottom, INK)
    picture.line(left, top, left, bottom, INK)
    picture.text(left - 40, top - 10, title, size=12)
    return y_of


def blocks_of(record):
    return ",".join(map(str, record.option("blocks")))


def functions_of(blocks):
    return sum(map(int, blocks.split(",")))


def draw_crossover(records, path):
    """As Fig. 2 of Schuett et al.: seconds of liquid water by purification and by eigenpairs, over the order."""
    colors = {"purified": (OURS, OURS_LIGHT), "dense": (PEER, PEER_LIGHT)}
    series = []
    for k, blocks in enumerate(sorted({blocks_of(record) for record in records}, key=functions_of)):
        for method in sorted({record.option("method") for record in records}, key=lambda name: name == "dense"):
            points = sorted((record.option("n"), record.ours) for record in records
                            if blocks_of(record) == blocks and record.option("method") == method)
            if points:
                series.append(("%s, %d functions a molecule" % ("eigenpairs (dense)" if method == "dense" else method, functions_of(blocks)),
                               colors["dense" if method == "dense" else "purified"][k % 2], method == "dense", points))
    first = records[0]
    picture = Picture(430, "Density matrices of liquid water, filter %g: seconds over the order" % first.option("filter"),
                      caption(records))
    left, right, top, bottom = 70, 690, 70, 330
    y_of = log_axis(picture, left, right, top, bottom, [value for *_, points in series for _, value in points], "seconds")
    orders = [n for *_, points in series for n, _ in points]
    low, high = math.log(min(orders)), math.log(max(orders))

    def x_of(n):
        return left + (right - left) * (math.log(n) - low) / (high - low)

    mark = 2 ** math.ceil(math.log2(min(orders) / 100))
    while 100 * mark <= max(orders):
        picture.line(x_of(100 * mark), bottom, x_of(100 * mark), bottom + 4, INK)
        picture.text(x_of(100 * mark), bottom + 17, "%d" % (100 * mark), size=11, anchor="middle")
        mark *= 2
    picture.text((left + right) / 2, bottom + 34, "basis functions n", size=12, anchor="middle")
    for name, color, dashed, points in series:
        picture.curve([(x_of(n), y_of(value)) for n, value in points], color, dashed)
    legend(picture, [(name, color, "6 4" if dashed else "") for name, color, dashed, _ in series], left, bottom + 62)
    picture.write(path)


def draw_convergence(records, path):
    """The convergence of the steps of the purification, for each system."""
    colors = (OURS, PEER, "#2f7d32", SOFT)
    series = []
    for k, record in enumerate(records):
        steps = [step for step in record.result["steps"] if step["stage"] == record.option("method")]
        points = [(i + 1, step["convergence"]) for i, step in enumerate(steps) if step["convergence"]]
        series.append(("%s, n = %d" % (record.option("system"), record.option("n")), colors[k % len(colors)], points))
    picture = Picture(430, "Convergence of %s for three systems" % records[0].option("method"), caption(records))
    left, right, top, bottom = 70, 690, 70, 330
    y_of = log_axis(picture, left, right, top, bottom, [value for *_, points in series for _, value in points],
                    "convergence: ||X² - X|| / ||X||, Frobenius norms")
    last = max(step for *_, points in series for step, _ in points)

    def x_of(step):
        return left + (right - left) * (step - 0.5) / last

    for step in range(1, last + 1):
        picture.text(x_of(step), bottom + 17, "%d" % step, size=11, anchor="middle")
    picture.text((left + right) / 2, bottom + 34, "step", size=12, anchor="middle")
    for _, color, points in series:
        picture.curve([(x_of(step), y_of(value)) for step, value in points], color, False)
    legend(picture, [(name, color, "") for name, color, _ in series], left, bottom + 62)
    picture.write(path)


def make_density_pictures(records, folder, output):
    """Those of the records of `bench_density`."""

    def case(record):
        return tuple(str(record.option(name)) for name in ("system", "n", "blocks", "method", "filter"))

    good = True
    for name, prefix, draw, wanted in (
            ("density_crossover.svg", "density_water_", draw_crossover, lambda record: True),
            ("density_convergence.svg", "density_systems_", draw_convergence, lambda record: record.option("method") == "trs4")):
        chosen = [record for record in records if record.command == "bench_density" and record.option("type", "d") == "d"
                  and os.path.basename(record.path).startswith(prefix) and wanted(record)]
        if not chosen:
            say("%s: not made, no record %s*.json of `bench_density` in %s" % (name, prefix, folder))
        elif same_machine(chosen, name):
            draw(one_of_each(chosen, case), os.path.join(output, name))
        else:
            good = False
    return good
