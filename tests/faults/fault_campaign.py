#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every case of fault_cases on two and three ranks, each rank being the faulty one in turn, and lets the faulty rank
throw at fault points spread over the case. No run may hang, no rank may be without the message, no signal may end one.
Prints GoogleTest-like lines for the cases, and the counts last."""
import argparse
import concurrent.futures
import random
import re
import subprocess
import sys

LIMIT = 20  # seconds


def run(options, name, ranks, faulty, point=None):
    """Lines of the ranks, or a text that says what went wrong."""
    command = [options.mpiexec, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", options.program, name, str(faulty)]
    if point is not None:
        command.append(str(point))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        import os
        import signal
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        return "hangs", ""
    if "signal" in err and "Signal: " in err or "terminate called" in err or "Assertion" in err:
        return "crashes: " + err.strip().replace("\n", " | ")[:300], out
    if process.returncode not in (0, 2):
        return f"ends with {process.returncode}: " + err.strip().replace("\n", " | ")[:300], out
    return None, out


def judge(options, name, message, ranks, faulty, point=None):
    wrong, out = run(options, name, ranks, faulty, point)
    if wrong:
        return wrong, out
    for rank in range(ranks):
        lines = re.findall(rf"^rank {rank}(?: after)?: (.*)$", out, re.M)
        if not lines:
            return f"rank {rank} says nothing", out
        if point is None and message and not any(message in line for line in lines):
            return f"rank {rank} says {lines} instead of '{message}'", out
        if point is None and not message and not lines[0].startswith("none"):
            return f"rank {rank} says {lines}", out
        if point and all(line.startswith("none") for line in lines) and "not enough memory" in out:
            return f"rank {rank} does not know of the failure", out
    return None, out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--cases", default=".", help="a regular expression")
    parser.add_argument("--points", type=int, default=10, help="fault points of each case, rank and number of ranks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two ranks, the last one faulty; fault points of few cases")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    options = parser.parse_args()
    listed = subprocess.run([options.program, "--list"], capture_output=True, text=True, check=True).stdout
    cases = [line.split("\t") for line in listed.splitlines() if re.search(options.cases, line.split("\t")[0])]
    runs, bad = 0, {"hangs": 0, "crashes": 0, "other": 0}

    def run_case(case):
        nonlocal runs
        name, message = case
        choose = random.Random(f"{options.seed} {name}")
        complaints = []

        def check(*arguments):
            nonlocal runs
            runs += 1
            wrong, out = judge(options, name, message, *arguments)
            if wrong:
                kind = "hangs" if wrong == "hangs" else "crashes" if wrong.startswith("crashes") else "other"
                bad[kind] += 1
                complaints.append(f"{arguments}: {wrong}")
            return out

        for ranks in (2,) if options.quick else (2, 3):
            for faulty in range(ranks - 1 if options.quick else 0, ranks):
                check(ranks, faulty)
            faulty = choose.randrange(ranks)
            with_points = options.points and not (options.quick and choose.random() > 0.2)
            found = re.search(r"^points (\d+)$", run(options, name, ranks, faulty, 0)[1], re.M) if with_points else None
            count = int(found.group(1)) if found else 0
            for point in sorted(choose.sample(range(1, count + 1), min(options.points, count))):
                check(ranks, faulty, point)
        lines = [f"[ RUN      ] Faults.{name}", *(f"  {complaint}" for complaint in complaints),
                 f"[{'  FAILED  ' if complaints else '       OK '}] Faults.{name}"]
        print("\n".join(lines), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run_case, cases))
    print(f"{runs} runs of {len(cases)} cases: {bad['hangs']} hangs, {bad['crashes']} crashes, {bad['other']} other failures")
    return 1 if any(bad.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
