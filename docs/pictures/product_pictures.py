# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of block-sparse products without a peer: what memory allows, cores, the balance of the ranks."""

import math
import os
import statistics

from picture import (INK, OURS, OURS_LIGHT, PEER, SOFT, Picture, axes, caption, legend, nice_step, one_of_each, same_machine,
                     say)


def draw_intensity(records, path):
    """As Fig. 6 of Schuett et al.: what the memory allows for each shape, with and without reading and writing C."""
    shape = [tuple(record.option(name) for name in "mnk") for record in records]
    copy = statistics.median(record.limit["copy_bytes_per_second"] for record in records)
    peak = statistics.median(record.limit["gflops"] for record in records)
    rates = [record.result["kernels"]["gflops"] if "kernels" in record.result else 1e-9 * record.result["flop"] / record.ours
             for record in records]
    best = [2 * m * n * k / (8 * (m * k + k * n)) for m, n, k in shape]
    worst = [2 * m * n * k / (8 * (m * k + k * n + 2 * m * n)) for m, n, k in shape]
    bounds = [[min(peak, 1e-9 * copy * x) for x in intensity] for intensity in (best, worst)]
    largest = max(rates + bounds[0])
    step = nice_step(largest, 6)
    picture = Picture(430, "Products of small blocks and what the memory allows", caption(records))
    left, right, top, bottom = 70, 700, 70, 330
    y_of = axes(picture, left, right, top, bottom, step * math.ceil(largest * 1.05 / step), step, "GFLOP/s")
    slot = (right - left) / len(records)
    middle = [left + (i + 0.5) * slot for i in range(len(records))]
    for i, (m, n, k) in enumerate(shape):
        picture.bar(middle[i] - 0.3 * slot, y_of(rates[i]), 0.6 * slot, bottom - y_of(rates[i]), OURS_LIGHT)
        picture.text(middle[i], y_of(rates[i]) - 4, "%.3g" % rates[i], size=10, anchor="middle")
        picture.text(middle[i], bottom + 16, "%d" % m if m == n == k else "%dx%dx%d" % (m, n, k), size=11, anchor="middle")
        picture.text(middle[i], bottom + 30, "%.2g-%.2g" % (worst[i], best[i]), size=10, anchor="middle", color=SOFT)
    picture.text(left, bottom + 48, "m = n = k; below, flop a byte of memory: C read and written with each product - C at hand", size=12)
    for bound, dash in zip(bounds, (False, True)):
        picture.curve(list(zip(middle, map(y_of, bound))), PEER, dash)
    legend(picture, [("copy rate x flop a byte, C at hand", PEER, ""), ("the same, C read and written", PEER, "6 4"),
                     ("Tessera, stacks of products", OURS_LIGHT, "")], left, bottom + 72)
    picture.write(path)


def draw_cores(records, path):
    """As Fig. 9 of Schuett et al.: the rate of a whole product over the cores, without and with a GPU."""
    series = []
    for gpu, color in ((False, OURS), (True, PEER)):
        points = sorted((record.option("cores"), 1e-9 * record.result["flop"] / record.ours) for record in records
                        if bool(record.option("gpus", 0)) == gpu)
        if points:
            series.append(("CPUs and a GPU" if gpu else "CPUs alone", color, points))
    cores = sorted({count for _, _, points in series for count, _ in points})
    largest = max(rate for _, _, points in series for _, rate in points)
    step = nice_step(largest, 6)
    first = records[0]
    picture = Picture(400, "C := A B, blocks of %s, n = %d, %.0f %% of the blocks" % (
        ",".join(map(str, first.option("blocks"))), first.option("n"), 100 * first.option("occupation")),
        caption(records, place=first.machine["cpu"]))
    left, right, top, bottom = 70, 690, 70, 320
    y_of = axes(picture, left, right, top, bottom, step * math.ceil(largest * 1.05 / step), step, "GFLOP/s")

    def x_of(count):
        return left + (right - left) * count / (cores[-1] + 0.5)

    for count in cores:
        picture.text(x_of(count), bottom + 16, "%d" % count, size=11, anchor="middle")
    picture.text((left + right) / 2, bottom + 32, "CPU workers", size=12, anchor="middle")
    for name, color, points in series:
        picture.curve([(x_of(0), y_of(0))] * (name == "CPUs alone") + [(x_of(x), y_of(y)) for x, y in points], color, False)
        for x, y in points:
            picture.text(x_of(x), y_of(y) - 8, "%.3g" % y, size=10, anchor="middle")
    legend(picture, [(name, color, "") for name, color, _ in series], left, bottom + 58)
    picture.write(path)


def draw_balance(records, path):
    """The largest rank's share over the mean one, over the number of ranks, blocks in runs and dealt at random."""
    def points(permute, what):
        return sorted((record.machine["ranks"], record.result["balance"][what]["max_over_mean"]) for record in records
                      if record.option("permute") == permute)

    series = [(title, color, dash, points(permute, what))
              for permute, way, color in (("none", "in runs", PEER), ("random", "at random", OURS))
              for what, title, dash in (("products", "products, blocks dealt " + way, False),
                                        ("elements", "stored elements, blocks dealt " + way, True))]
    ranks = sorted({count for _, _, _, of in series for count, _ in of})
    largest = max(share for _, _, _, of in series for _, share in of)
    first = records[0]
    picture = Picture(420, "The largest rank's share of C := A A, %s, blocks of %s, n = %d" % (
        os.path.splitext(first.option("matrix_a"))[0], ",".join(map(str, first.option("blocks"))), first.option("n")),
        caption(records, place="counts, which no other work on the machine changes", timed=False))
    left, right, top, bottom = 70, 690, 70, 320
    step = nice_step(largest, 6)
    y_of = axes(picture, left, right, top, bottom, step * math.ceil(largest * 1.05 / step), step,
                "largest / mean (1: all ranks have the same)")

    def x_of(count):
        return left + (right - left) * (count - ranks[0] + 0.5) / (ranks[-1] - ranks[0] + 1)

    for count in ranks:
        picture.text(x_of(count), bottom + 16, "%d" % count, size=11, anchor="middle")
    picture.text((left + right) / 2, bottom + 32, "ranks", size=12, anchor="middle")
    picture.line(left, y_of(1), right, y_of(1), INK, 1.2, "3 3")
    for _, color, dash, of in series:
        picture.curve([(x_of(x), y_of(y)) for x, y in of], color, dash)
    legend(picture, [(name, color, "6 4" if dash else "") for name, color, dash, _ in series], left, bottom + 58)
    picture.write(path)


def alone(records, command, prefix):
    """Records without a peer, by the beginning of their files' names."""
    return [record for record in records if not record.peer and record.command == command
            and record.option("type", "d") == "d" and os.path.basename(record.path).startswith(prefix)]


def make_product_pictures(records, folder, output):
    """Those of block-sparse products without a peer."""

    def of_ranks(record):
        return record.machine["ranks"], record.option("permute")

    good = True
    for name, command, prefix, draw, key in (
            ("product_intensity.svg", "bench_stack", "stack_", draw_intensity, lambda r: tuple(r.option(x) for x in "mnk")),
            ("product_cores.svg", "multiply", "cores_", draw_cores, lambda r: (r.option("cores"), r.option("gpus"))),
            ("product_balance_band.svg", "multiply", "balance_band_", draw_balance, of_ranks),
            ("product_balance_water.svg", "multiply", "balance_water_", draw_balance, of_ranks)):
        chosen = alone(records, command, prefix)
        if not chosen:
            say("%s: not made, no record %s*.json of `%s` in %s" % (name, prefix, command, folder))
        elif command == "multiply" or same_machine(chosen, name):
            draw(sorted(one_of_each(chosen, key), key=key), os.path.join(output, name))
        else:
            good = False
    return good
