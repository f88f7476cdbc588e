# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests have in common."""

import shutil
import subprocess

import numpy as np
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU")


def _has_gpu() -> bool:
    if shutil.which("nvidia-smi") is None:
        return False
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return "GPU " in listed.stdout


def pytest_collection_modifyitems(items):
    import tessera

    if tessera._core.with_cuda and _has_gpu():
        return
    skip = pytest.mark.skip(reason="needs a GPU and a build with CUDA")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


def hermitian(rng, n, dtype, order="C"):
    """A random Hermitian matrix."""
    a = rng.standard_normal((n, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal((n, n))
    return np.array(a + a.conj().T, dtype=dtype, order=order)


def positive_definite(rng, n, dtype, order="C"):
    """A random Hermitian matrix with eigenvalues between 1 and some units."""
    a = hermitian(rng, n, dtype)
    return np.array(a @ a.conj().T / n + np.eye(n), dtype=dtype, order=order)


def tolerance(dtype, n):
    """What an eigenvalue of a matrix of norm about sqrt(n) may be off."""
    return 30 * np.finfo(dtype).eps * n
