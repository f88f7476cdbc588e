# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""tessera.eigh beside the functions of NumPy, SciPy, CuPy and PyTorch, in one process, in turns.

python eigh.py --n 8192 --on gpu
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np
import tessera


def gpu_ways(a):
    """The array on the GPU, {name: function}, what waits for the GPU, and what copies to the host."""
    import cupy
    import torch

    x = cupy.asarray(a)
    t = torch.from_dlpack(x)
    ways = {
        "tessera.eigh, CuPy": lambda: tessera.eigh(x),
        "tessera.eigh, PyTorch": lambda: tessera.eigh(t),
        "cupy.linalg.eigh": lambda: cupy.linalg.eigh(x),
        "torch.linalg.eigh": lambda: torch.linalg.eigh(t),
    }
    return ways, cupy.cuda.Device().synchronize, lambda y: y.cpu().numpy() if isinstance(y, torch.Tensor) else y.get()


def host_ways(a):
    import scipy.linalg

    ways = {
        "tessera.eigh": lambda: tessera.eigh(a),
        "numpy.linalg.eigh": lambda: np.linalg.eigh(a),
        "scipy.linalg.eigh": lambda: scipy.linalg.eigh(a),
    }
    return ways, lambda: None, np.asarray


def residual(a, w, v):
    """The first, a middle and the last pair: |a v - w v| in units of eps |a| n."""
    some = [0, len(w) // 2, len(w) - 1]
    r = a @ v[:, some] - v[:, some] * w[some]
    return float(np.abs(r).max() / (np.finfo(a.dtype).eps * np.abs(w).max() * len(w)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000, help="order (default: %(default)s)")
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64", "complex64", "complex128"])
    parser.add_argument("--on", default="host", choices=["host", "gpu"], help="where the arrays are")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds, after one that warms up")
    parser.add_argument("--functions", default="", metavar="TEXT", help="only those whose names begin so")
    parser.add_argument("--json", metavar="FILE", help="writes the seconds of all rounds")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    a = rng.uniform(-1, 1, (options.n, options.n))
    if options.dtype.startswith("complex"):
        a = a + 1j * rng.uniform(-1, 1, a.shape)
    a = np.asarray((a + a.conj().T) / 2, dtype=options.dtype)
    ways, wait, fetch = (gpu_ways if options.on == "gpu" else host_ways)(a)
    ways = {name: solve for name, solve in ways.items() if name.startswith(options.functions)}

    seconds: dict[str, list[float]] = {name: [] for name in ways}
    worst = dict.fromkeys(ways, 0.0)
    for turn in range(options.rounds + 1):
        for name, solve in ways.items():
            wait()
            start = time.perf_counter()
            w, v = solve()
            wait()
            taken = time.perf_counter() - start
            if turn:
                seconds[name].append(taken)
            worst[name] = max(worst[name], residual(a, fetch(w), fetch(v)))
            del w, v

    first = statistics.median(next(iter(seconds.values())))
    print(f"n = {options.n}, {options.dtype}, arrays on the {options.on}, tessera {tessera.__version__}")
    print(f"{'function':24}{'median, s':>12}{'least, s':>12}{'most, s':>12}{'to the first':>14}{'residual':>10}")
    for name, taken in seconds.items():
        middle = statistics.median(taken)
        print(
            f"{name:24}{middle:12.5f}{min(taken):12.5f}{max(taken):12.5f}{middle / first:14.3f}{worst[name]:10.1e}"
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"n": options.n, "dtype": options.dtype, "on": options.on, "seconds": seconds}, file)
    return 0 if max(worst.values()) < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
