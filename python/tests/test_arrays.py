# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries, on the host and on GPUs."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import tessera
from conftest import hermitian, positive_definite

types = [np.float32, np.float64, np.complex64, np.complex128]


def bound(dtype):
    return 1e-3 if np.finfo(dtype).bits == 32 else 1e-10


def check(a, w, v, b=None):
    """w and v as NumPy's."""
    right = v * w if b is None else b @ (v * w)
    assert np.abs(a @ v - right).max() < bound(a.dtype)
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a, b), atol=bound(a.dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("generalized", [False, True])
def test_jax_on_the_host(rng, dtype, generalized):
    jax = pytest.importorskip("jax")
    a = hermitian(rng, 60, dtype)
    b = positive_definite(rng, 60, dtype) if generalized else None
    cpu = jax.devices("cpu")[0]
    x = jax.device_put(a, cpu)
    w, v = tessera.eigh(x, None if b is None else jax.device_put(b, cpu))
    assert isinstance(w, jax.Array) and isinstance(v, jax.Array)
    check(a, np.asarray(w), np.asarray(v), b)


@pytest.mark.parametrize("dtype", types)
def test_torch_on_the_host(rng, dtype):
    torch = pytest.importorskip("torch")
    a = hermitian(rng, 60, dtype)
    w, v = tessera.eigh(torch.from_numpy(a))
    assert isinstance(w, torch.Tensor) and isinstance(v, torch.Tensor)
    check(a, w.numpy(), v.resolve_conj().numpy())


def test_results_leave_by_dlpack(rng):
    a = hermitian(rng, 40, np.float64)
    w, v = tessera.eigh(a)
    assert np.shares_memory(np.from_dlpack(v), v)
    check(a, np.from_dlpack(w), np.from_dlpack(v))


def test_arrays_with_an_interface(rng):
    class Wrapped:
        def __init__(self, a):
            self.__array_interface__ = a.__array_interface__
            self.kept = a

    a = hermitian(rng, 40, np.float64)
    w, v = tessera.eigh(Wrapped(a))
    assert type(w) is np.ndarray
    check(a, w, v)


@pytest.mark.parametrize("dtype", types)
def test_capsules(rng, dtype):
    """What a GPU's array goes through, with one of the host."""
    a = hermitian(rng, 30, dtype)
    for array in (a, a.__dlpack__()):
        wrapped = tessera._core.as_column_major(array, True)
        np.testing.assert_array_equal(np.from_dlpack(wrapped), a.T)
        sizes = 0, 0, 0
        status, w, v, _, _ = tessera._core.eigensolve(wrapped, True, None, True, True, "all", 0, 0, "auto", *sizes, True)
        assert status.ok
        check(np.array(a.T), w, v)


def test_device_arrays_need_a_gpu():
    class OnDevice:
        __module__ = "numba"
        __cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f8", "data": (0, False), "version": 3}

    if tessera._core.with_cuda:
        pytest.skip("a build with CUDA")
    with pytest.raises(tessera.InvalidArgument, match="without CUDA"):
        tessera.eigh(OnDevice())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [30, 700])
def test_cupy(rng, dtype, order, n):
    cupy = pytest.importorskip("cupy")
    a = hermitian(rng, n, dtype)
    b = positive_definite(rng, n, dtype)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, y = cupy.array(a, order=order), cupy.array(b, order=order)
        x += x
        x /= 2  # still under way
        w, v = tessera.eigh(x)
        assert isinstance(w, cupy.ndarray) and isinstance(v, cupy.ndarray) and v.device == x.device
        check(a, w.get(), v.get())
        w, v = tessera.eigh(x, y, subset_by_index=(0, 9))
        assert v.shape == (n, 10)
        check_some(a, w.get(), v.get(), b)


def check_some(a, w, v, b):
    assert np.abs(a @ v - b @ (v * w)).max() < bound(a.dtype)
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a, b)[: len(w)], atol=bound(a.dtype))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("n", [30, 700])
def test_torch_on_a_gpu(rng, dtype, n):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    a = hermitian(rng, n, dtype)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.from_numpy(a).cuda() * 2 / 2  # still under way
        w, v = tessera.eigh(x)
    assert w.device == x.device and v.device == x.device
    check(a, w.cpu().numpy(), v.cpu().numpy())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("n", [30, 700])
def test_jax_on_a_gpu(rng, dtype, n, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes most of the GPU's memory
    jax = pytest.importorskip("jax")
    try:
        gpu = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("JAX sees no GPU")
    a = hermitian(rng, n, dtype)
    x = jax.device_put(a, gpu) * 2 / 2  # still under way
    w, v = tessera.eigh(x)
    assert isinstance(v, jax.Array) and v.devices() == x.devices() and w.devices() == x.devices()
    check(a, np.asarray(w), np.asarray(v))


@pytest.mark.gpu
def test_cuda_array_interface(rng):
    cupy = pytest.importorskip("cupy")

    class Wrapped:
        def __init__(self, x):
            self.__cuda_array_interface__ = x.__cuda_array_interface__
            self.kept = x

    a = hermitian(rng, 200, np.complex128)
    w, v = tessera.eigh(Wrapped(cupy.asarray(a)))
    check(a, w.get(), v.get())


@pytest.mark.gpu
def test_what_others_have_on_the_gpu_stays(tmp_path):
    """Arrays from before the first Runtime of a process, on a machine whose buses are not known yet."""
    pytest.importorskip("cupy")
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    program = """
import cupy, numpy as np, torch
x = cupy.arange(1 << 20)
t = torch.arange(1 << 20, device="cuda")
import tessera
for repetition in range(2):
    a = cupy.asarray(np.diag(np.arange(300.0)))
    w, v = tessera.eigh(a)
    assert abs(w.get() - np.arange(300)).max() < 1e-10
    tessera.close()
    assert (x.get() == np.arange(1 << 20)).all() and (t.cpu().numpy() == np.arange(1 << 20)).all()
    assert float((cupy.asarray(t) * x).sum()) > 0 and abs((v @ v.T - cupy.eye(300)).get()).max() < 1e-12
print("all there")
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "STARPU_BUS_CALIBRATE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "all there\n", done.stderr
