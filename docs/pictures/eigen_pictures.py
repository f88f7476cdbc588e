# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the dense eigensolver by itself: one stage beside two, over the order and over the share of the vectors, and the
steps of the two stages apart, as Figs. 4 to 7 of Yu et al., Comput. Phys. Commun. 262, 107808 (2021)."""

import os
import statistics

from picture import (GRID, INK, OURS, OURS_LIGHT, PEER, PEER_LIGHT, SOFT, Picture, axes, caption, draw_seconds, legend,
                     nice_step, one_of_each, same_machine, say, short)

STEPS = (("reduce_to_band", "full to band"), ("band_to_tridiagonal", "band to tridiagonal"),
         ("tridiagonal_eigen", "tridiagonal eigenproblem"), ("back_tridiagonal", "vectors: tridiagonal to band"),
         ("back_band", "vectors: band to full"))
STEP_COLORS = (OURS, OURS_LIGHT, SOFT, PEER_LIGHT, PEER)
FORWARD = ("reduce_to_band", "band_to_tridiagonal", "tridiagonalize")
BACKWARD = ("back_tridiagonal", "back_band", "back_one_stage")
TYPES = {"s": "float", "d": "double", "c": "complex float", "z": "complex double"}


def stage_seconds(record, names):
    """Medians over the runs of the sums of the stages."""
    return statistics.median(sum(run["seconds"]["stages"].get(name, 0.0) for name in names) for run in record.all_runs)


def share(record):
    """Computed vectors in percent of the order."""
    return round(100.0 * record.result["count"] / record.option("n"))


def key_of(record):
    return record.option("solver"), record.option("type", "d"), record.option("n"), share(record), device(record)


def device(record):
    return "GPU" if record.machine.get("cuda_workers") else "CPUs"


def of_several(record):
    """Of the records over the number of GPUs, one GPU among them."""
    return record.machine.get("cuda_workers", 0) > 1 or os.path.basename(record.path).startswith("gpus_")


def two_types(records):
    return [type_ for type_ in "dzsc" if any(record.option("type", "d") == type_ for record in records)][:2]


def linear_top(values):
    step = nice_step(max(values), 5)
    return step * -(-max(values) * 1.02 // step), step


def panel(picture, series, left, right, top, bottom, title, label):
    """Curves over a linear axis from 0. series: (color, dashed, [(x, seconds)])."""
    high, step = linear_top([value for _, _, points in series for _, value in points])
    y_of = axes(picture, left, right, top, bottom, high, step, "seconds, " + title)
    marks = sorted({x for _, _, points in series for x, _ in points})

    def x_of(x):
        return left + (right - left) * x / marks[-1]

    for x in marks:
        picture.line(x_of(x), bottom, x_of(x), bottom + 4, INK)
        picture.text(x_of(x), bottom + 17, "%d" % x, size=11, anchor="middle")
    picture.text((left + right) / 2, bottom + 34, label, size=12, anchor="middle")
    for color, dashed, points in series:
        picture.curve([(x_of(x), y_of(value)) for x, value in sorted(points)], color, dashed)
    return y_of


def end_labels(picture, x, labels, bottom):
    """Names beside what they name, moved apart where they would overlap. labels: (y, name, color)."""
    labels, places = sorted(labels, key=lambda label: label[0]), []
    for y, _, _ in labels:
        places.append(max(y, places[-1] + 14) if places else y)
    for k in reversed(range(len(places))):
        places[k] = min(places[k], bottom - 14 * (len(places) - 1 - k))
    for place, (y, name, color) in zip(places, labels):
        picture.line(x + 4, y, x + 13, place, color, 1.5)
        picture.text(x + 16, place + 4, name, size=11)


def draw_share(records, path):
    """As Fig. 6: one stage (solid) and two (dashed) over the share of the vectors; in all and the parts."""
    parts = (("in all", INK, lambda record: record.ours),
             ("reduction", OURS, lambda record: stage_seconds(record, FORWARD)),
             ("tridiagonal", SOFT, lambda record: stage_seconds(record, ("tridiagonal_eigen",))),
             ("back", PEER, lambda record: stage_seconds(record, BACKWARD)))
    first = records[0]
    picture = Picture(394, "A x = λ x, n = %d: one stage and two over the share of the vectors" % first.option("n"),
                      caption(records))
    for k, type_ in enumerate(two_types(records)):
        left, right, bottom = 56 + 348 * k, 256 + 348 * k, 310
        series, ends = [], []
        for name, color, value in parts:
            for solver, word in (("one_stage", "one"), ("two_stage", "two")):
                points = [(share(record), value(record)) for record in records
                          if record.option("solver") == solver and record.option("type", "d") == type_]
                if points:
                    series.append((color, word == "two", points))
                    ends.append((max(points)[1], name, word, color))
        y_of = panel(picture, series, left, right, 76, bottom, TYPES[type_], "eigenvectors, % of n")
        labels = []
        for name, color, _ in parts:
            places = [(y_of(value), word) for value, of_part, word, _ in ends if of_part == name]
            if len(places) == 2 and abs(places[0][0] - places[1][0]) < 10:
                labels.append((sum(y for y, _ in places) / 2, name, color))
            else:
                labels += [(y, "%s, %s" % (name, word), color) for y, word in places]
        end_labels(picture, right, labels, bottom)
    legend(picture, [("one stage", INK, ""), ("two stages", INK, "6 4")], 56, 370)
    picture.write(path)


def draw_orders(records, path):
    """As Figs. 4 and 5: all vectors with one stage (solid) and two (dashed), on the CPUs and on a GPU, over the order."""
    colors = {"CPUs": PEER, "GPU": OURS}
    picture = Picture(410, "A x = λ x, all vectors: one stage and two",
                      caption(records, place="; ".join(sorted({record.place() for record in records}))))
    devices = [name for name in colors if any(device(record) == name for record in records)]
    types = two_types(records)
    kinds = [(name, solver) for name in devices for solver in ("one_stage", "two_stage")]
    for k, type_ in enumerate(types):
        series = [(name, colors[name], solver == "two_stage",
                   [(record.option("n"), record.ours) for record in records if record.option("type", "d") == type_
                    and device(record) == name and record.option("solver") == solver]) for name, solver in kinds]
        draw_seconds(picture, [entry for entry in series if entry[3]], 64 + 360 * k, 340 + 360 * k, 76, 310,
                     "seconds, " + TYPES[type_])
    legend(picture, [("%s, %s" % (name, solver.replace("_", " ").replace("two stage", "two stages")), colors[name],
                      "6 4" if solver == "two_stage" else "") for name, solver in kinds], 64, 376)
    picture.write(path)


def draw_steps(records, path):
    """As Fig. 7: the five steps of the two stages, all vectors, a stacked bar for each order and type."""
    records = sorted(records, key=lambda record: ("dzsc".index(record.option("type", "d")), record.option("n")))
    top, height, left, right = 62, 34, 200, 640
    bottom = top + height * len(records)
    picture = Picture(bottom + 78, "A x = λ x in two stages, all vectors: shares of the five steps", caption(records))
    for mark in range(0, 101, 20):
        x = left + (right - left) * mark / 100
        picture.line(x, top, x, bottom, GRID)
        picture.text(x, bottom + 16, "%d %%" % mark, size=11, anchor="middle")
    for k, record in enumerate(records):
        y = top + height * k
        picture.text(left - 10, y + 22, "%s, n = %d" % (TYPES[record.option("type", "d")], record.option("n")), size=12, anchor="end")
        seconds = [stage_seconds(record, (name,)) for name, _ in STEPS]
        x = left
        for value, color in zip(seconds, STEP_COLORS):
            width = (right - left) * value / sum(seconds)
            picture.bar(x, y + 6, width, 22, color)
            if width > 46:
                picture.text(x + width / 2, y + 21, short(value), size=10, anchor="middle",
                             color=INK if color in (OURS_LIGHT, PEER_LIGHT) else "#ffffff")
            x += width
        picture.text(right + 8, y + 22, short(record.ours), size=12, weight="bold")
    for k, ((_, title), color) in enumerate(zip(STEPS, STEP_COLORS)):
        x, y = 24 + 235 * (k % 3), bottom + 44 + 20 * (k // 3)
        picture.bar(x, y - 10, 14, 10, color)
        picture.text(x + 20, y, title, size=12)
    picture.write(path)


def make_eigen_pictures(records, folder, output):
    """Of records of `eigen` without a peer whose solver is one_stage or two_stage."""
    chosen = [record for record in records if record.command == "eigen" and not record.peer and record.option("vectors", True)
              and record.option("solver") in ("one_stage", "two_stage") and record.result.get("count")
              and not of_several(record)]
    chosen = one_of_each(chosen, key_of)
    if not chosen:
        say("eigen_share_*.svg, eigen_steps_*.svg, eigen_orders.svg: not made, no record of `eigen --solver one_stage|two_stage` "
            "in %s" % folder)
        return True
    good = True
    for name in ("CPUs", "GPU"):
        of_device = [record for record in chosen if device(record) == name]
        orders = [record.option("n") for record in of_device if share(record) < 100]
        wanted = (("eigen_share_%s.svg" % name.lower(), draw_share,
                   [record for record in of_device if orders and record.option("n") == max(orders)]),
                  ("eigen_steps_%s.svg" % name.lower(), draw_steps,
                   [record for record in of_device if share(record) == 100 and record.option("solver") == "two_stage"]))
        for file, draw, part in wanted:
            if part and same_machine(part, file):
                draw(part, os.path.join(output, file))
            elif part:
                good = False
    whole = [record for record in chosen if share(record) == 100]
    if whole and len({record.machine["cpu"] for record in whole}) == 1:
        draw_orders(whole, os.path.join(output, "eigen_orders.svg"))
    elif whole:
        say("eigen_orders.svg: not made, its records are of several machines")
        good = False
    return good
