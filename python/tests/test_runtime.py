# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""The Runtime, threads, signals, the end of the interpreter, and memory."""

import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tessera
from conftest import hermitian


@pytest.fixture(autouse=True)
def closed():
    yield
    tessera.close()


def run(text, **options):
    """Runs a program of its own."""
    program = [sys.executable, "-c", textwrap.dedent(text)]
    return subprocess.run(program, capture_output=True, text=True, timeout=120, check=False, **options)


def test_context(rng):
    a = hermitian(rng, 80, np.float64)
    with tessera.Runtime(cores=1, gpus=0) as runtime:
        assert runtime.is_open and runtime.info["cpu_workers"] == 1 and runtime.info["cuda_workers"] == 0
        assert "1 CPU" in repr(runtime)
        np.testing.assert_allclose(tessera.eigvalsh(a), np.linalg.eigvalsh(a), atol=1e-10)
        assert tessera.info()["cpu_workers"] == 1
        with pytest.raises(tessera.RuntimeFailure, match="open already"):
            tessera.Runtime()
    assert not runtime.is_open and "closed" in repr(runtime)
    runtime.close()
    with pytest.raises(RuntimeError):
        repr(runtime.info)
    np.testing.assert_allclose(tessera.eigvalsh(a), np.linalg.eigvalsh(a), atol=1e-10)  # the implicit one
    assert tessera.info()["version"]


def test_matrices_go_with_their_runtime():
    with tessera.Runtime(cores=1, gpus=0):
        m = tessera.BlockMatrix.random([3] * 5)
        t = m.T
    for use in (lambda: m.to_dense(), lambda: m.shape, lambda: m @ t, lambda: t + m, lambda: m.trace()):
        with pytest.raises(tessera.RuntimeFailure, match="gone"):
            use()
    assert "gone" in repr(m)
    other = tessera.BlockMatrix.random([3] * 5)
    with pytest.raises(tessera.RuntimeFailure, match="gone"):
        other + m
    with pytest.raises(tessera.RuntimeFailure, match="implicit"):
        tessera.Runtime(cores=1)
    del other
    with tessera.Runtime(cores=1, gpus=0):
        pass


def test_bad_options():
    with pytest.raises(tessera.RuntimeFailure):
        tessera.Runtime(gpus=1000)
    with pytest.raises(TypeError):
        tessera.Runtime(log=3)
    if not tessera._core.with_mpi:
        with pytest.raises(ValueError, match="without MPI"):
            tessera.Runtime(communicator=0)


def test_log():
    messages = []
    with tessera.Runtime(cores=1, gpus=0, log=lambda level, message: messages.append((level, message))):
        tessera.eigvalsh(np.eye(4))
    assert all(level in ("debug", "info", "warning", "error") for level, _ in messages)


def test_threads(rng):
    """Calls of several threads follow one another, and Python goes on meanwhile."""
    matrices = [hermitian(rng, 150, np.float64) for _ in range(6)]
    expected = [np.linalg.eigvalsh(a) for a in matrices]
    found, failures = [None] * 6, []

    def solve(k):
        try:
            for _ in range(5):
                m = tessera.BlockMatrix.from_dense(matrices[k], 30)
                found[k] = tessera.eigvalsh(matrices[k])
                np.testing.assert_allclose(m.to_dense(), matrices[k])
        except Exception as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    for w, e in zip(found, expected):
        np.testing.assert_allclose(w, e, atol=1e-10)


def test_python_goes_on_during_a_solve(rng):
    a = hermitian(rng, 900, np.float64)
    tessera.eigvalsh(np.eye(2))
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    tessera.eigh(a)
    seconds = time.monotonic() - begin
    over.set()
    thread.join()
    assert counted[0] > 20 * seconds


def test_interrupt_in_a_solve():
    """KeyboardInterrupt ends an iteration, also where nobody watches it, and a direct solve when it is over."""
    done = run(
        """
        import os, signal, threading, time
        import numpy as np, tessera
        def interrupt(): threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        a = tessera.matgen.sparse("laplacian2d:300:300")
        interrupt()
        begin = time.monotonic()
        try:
            tessera.eigsh(a, 8, tol=1e-14, maxiter=100000)
        except KeyboardInterrupt:
            print("iteration", time.monotonic() - begin < 20)
        x = np.random.default_rng(1).standard_normal((1200, 1200))
        interrupt()
        try:
            while True: tessera.eigh(x + x.T)
        except KeyboardInterrupt:
            print("direct")
        print(tessera.eigvalsh(np.eye(2)))
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == ["iteration True", "direct", "[1. 1.]"], done.stdout + done.stderr


def test_interrupt_in_an_operator():
    calls = []

    def operator(x):
        calls.append(x)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return np.linspace(1, 2, 100)[:, None] * x

    with pytest.raises(KeyboardInterrupt):
        tessera.eigsh(operator, 2, X=np.random.default_rng(1).standard_normal((100, 2)))


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "runtime = tessera.Runtime(cores=1, gpus=0); m = tessera.BlockMatrix.random([2] * 4)",
        "m = tessera.BlockMatrix.random([2] * 4); w, v = tessera.eigh(np.eye(3)); cycle = [m]; cycle.append(cycle)",
        "import sys; sys.kept = tessera.BlockMatrix.random([2] * 4); sys.exit(0)",
        "import builtins; builtins.kept = [tessera.eigh(np.eye(300)), tessera.matgen.water(2, blocks=[4, 1, 1])]",
        "tessera.close(); tessera.close()",
    ],
)
def test_the_end_of_the_interpreter(ending):
    done = run(f"import numpy as np, tessera\ntessera.eigvalsh(np.eye(3))\n{ending}\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_exception_at_the_end():
    done = run("import numpy as np, tessera\nm = tessera.BlockMatrix.random([2] * 4)\nraise KeyError('mine')\n")
    assert done.returncode == 1 and done.stderr.strip().endswith("KeyError: 'mine'")


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def test_memory_stays_flat(rng):
    """1000 calls: the resident memory grows by less than one result of 100 calls would take."""
    a = hermitian(rng, 120, np.float64)
    stack = a.reshape(10, 12, 120)[:, :, :12] + 0
    broken = stack.copy()
    broken[3] = np.nan
    csr = tessera.matgen.sparse("laplacian2d:10:12")
    with tessera.Runtime(cores=1, gpus=0):
        m = tessera.BlockMatrix.from_dense(a, 20, symmetry="symmetric")

        def calls():
            tessera.eigh(a)
            tessera.eigh(stack)
            with pytest.raises(tessera.LinAlgError):
                tessera.eigh(broken)
            (m @ m - m).trace()
            m.to_scipy()
            with pytest.raises(tessera.InvalidArgument):
                tessera.eigh(a[:, :3])
            with pytest.raises(ZeroDivisionError):
                tessera.eigsh(lambda x: 1 / 0, 1, X=np.ones((120, 1)))

        for _ in range(60):
            calls()
        tessera.eigsh(csr, 2)
        gc.collect()
        before = resident()
        for _ in range(200):  # seven calls each
            calls()
        gc.collect()
        grown = resident() - before
    assert grown < 100 * a.nbytes / 10, f"{grown} bytes"
