# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""eigh of stacks of matrices, against NumPy."""

import numpy as np
import pytest
import tessera
from conftest import hermitian, tolerance

types = [np.float32, np.float64, np.complex64, np.complex128]


def stack_of(rng, shape, n, dtype, order="C"):
    """Hermitian matrices; `order`: of each matrix."""
    a = np.empty((*shape, n, n), dtype)
    for k in np.ndindex(*shape):
        matrix = hermitian(rng, n, dtype)
        a[k] = matrix if order == "C" else matrix.T
    return a if order == "C" else a.swapaxes(-1, -2)


def check(a, w, v):
    """As NumPy's; w and v are arrays of NumPy."""
    n = a.shape[-1]
    eps = np.finfo(a.dtype).eps
    assert w.shape == a.shape[:-1] and v.shape == a.shape
    assert w.dtype == np.finfo(a.dtype).dtype and v.dtype == a.dtype
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a), atol=tolerance(a.dtype, max(n, 1)))
    if a.size == 0:
        return
    scale = 30 * n * eps * np.abs(a).sum(axis=-1).max()
    assert np.abs(a @ v - v * w[..., None, :]).max() < scale
    assert np.abs(v.conj().swapaxes(-1, -2) @ v - np.eye(n)).max() < 30 * n * eps


@pytest.mark.parametrize("shape, n", [((7,), 1), ((5,), 2), ((3, 4), 17), ((2, 1, 3), 40), ((1,), 130), ((1, 1), 5)])
@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
def test_stacks(rng, shape, n, dtype, order):
    a = stack_of(rng, shape, n, dtype, order)
    kept = a.copy()
    w, v = tessera.eigh(a)
    np.testing.assert_array_equal(a, kept)
    check(a, w, v)
    np.testing.assert_allclose(tessera.eigvalsh(a), w, atol=tolerance(dtype, n))
    np.testing.assert_allclose(tessera.eigh(a, eigvals_only=True), w, atol=tolerance(dtype, n))


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lower", [True, False])
def test_one_triangle_is_read(rng, dtype, order, lower):
    a = stack_of(rng, (6,), 20, dtype, order)
    other = a.copy(order="K")
    rows, columns = np.triu_indices(20, 1) if lower else np.tril_indices(20, -1)
    other[:, rows, columns] = np.nan
    check(a, *tessera.eigh(other, lower=lower))
    np.testing.assert_allclose(tessera.eigvalsh(other, lower=lower), np.linalg.eigvalsh(a), atol=tolerance(dtype, 20))


@pytest.mark.parametrize("shape", [(0, 3, 3), (4, 0, 0), (2, 0, 5, 5), (0, 0, 0)])
def test_nothing_to_solve(shape):
    w, v = tessera.eigh(np.empty(shape, np.complex64))
    assert w.shape == shape[:-1] and w.dtype == np.float32
    assert v.shape == shape and v.dtype == np.complex64


views = {
    "part of each matrix": lambda a: a[:, :9, :9],
    "every other matrix": lambda a: a[::2],
    "backwards": lambda a: a[::-1],
    "one matrix again and again": lambda a: np.broadcast_to(a[0], a.shape),
    "matrices in the first dimensions": lambda a: np.ascontiguousarray(np.moveaxis(a, 0, -1)).transpose(2, 0, 1),
    "axes changed": lambda a: a.reshape(2, 4, 12, 12).swapaxes(0, 1),
    "some rows and columns": lambda a: a[:, ::2, ::2],
    "another byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "read only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "not aligned": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "a list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("view", views)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_views(rng, view, dtype):
    a = views[view](stack_of(rng, (8,), 12, dtype))
    check(np.array(a, dtype), *tessera.eigh(a))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, bool, np.float16])
def test_other_types_as_scipy(rng, dtype):
    a = np.array(stack_of(rng, (5,), 8, np.float64) * 3, dtype=np.int64) % 7
    a = (a + a.swapaxes(-1, -2)).astype(dtype)
    w, v = tessera.eigh(a)
    check(a.astype(np.float32 if dtype == np.float16 else np.float64), w, v)


def test_without_a_copy(rng, monkeypatch):
    """The matrices are read where they lie."""
    read = []
    original = tessera._core.eigensolve_batch

    def remembered(array, *rest):
        read.append(array)
        return original(array, *rest)

    monkeypatch.setattr(tessera._core, "eigensolve_batch", remembered)
    for order in "CF":
        a = stack_of(rng, (3, 5), 16, np.complex128, order)
        for part in (a, a[:, 0], a[..., 2:10, 2:10]):
            tessera.eigh(part)
            assert np.shares_memory(read.pop(), a)


@pytest.mark.parametrize("order, column", [("F", 5), ("C", 8)])  # in C order the row
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_fails_by_itself(rng, order, column, bad):
    a = stack_of(rng, (2, 3), 10, np.float64, order)
    a[0, 2, 7, 4] = a[0, 2, 4, 7] = a[1, 1, 0, 0] = bad
    with pytest.raises(np.linalg.LinAlgError, match=f"matrix 3, column {column}; 2 of 6 matrices") as caught:
        tessera.eigh(a)
    assert isinstance(caught.value, tessera.LinAlgError)
    assert (caught.value.status.code, caught.value.status.index) == ("not_finite", 3)
    w, v = caught.value.result
    assert np.isnan(w[0, 2, 0]) and np.isnan(w[1, 1, 0])
    for k in [(0, 0), (0, 1), (1, 0), (1, 2)]:
        check(a[k], w[k], v[k])
    with pytest.raises(tessera.LinAlgError, match="matrix 3") as caught:
        tessera.eigvalsh(a)
    assert np.isnan(caught.value.result[..., 0]).sum() == 2


stack = np.stack([np.eye(3)] * 2)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("a", {"a": np.zeros((2, 3, 4))}),
        ("a", {"a": np.zeros((1, 2049, 2049), np.float32)}),
        ("b", {"a": stack, "b": np.eye(3)}),
        ("b", {"a": stack, "b": stack}),
        ("b", {"a": np.eye(3), "b": stack}),
        ("subset_by_index", {"a": stack, "subset_by_index": (0, 1)}),
        ("subset_by_value", {"a": stack, "subset_by_value": (0, 2)}),
        ("solver", {"a": stack, "solver": "two_stage"}),
        ("tile", {"a": stack, "tile": 64}),
        ("band", {"a": stack, "band": 8}),
        ("update_width", {"a": stack, "update_width": 8}),
        ("split_products", {"a": stack, "split_products": False}),
        ("a", {"a": np.full((2, 3, 3), "x")}),
    ],
)
def test_bad_arguments(name, arguments):
    for function in (tessera.eigh, tessera.eigvalsh):
        with pytest.raises(tessera.InvalidArgument) as caught:
            function(**arguments)
        assert caught.value.name == name


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
def test_capsules(rng, monkeypatch, dtype, order):
    """What a GPU's array goes through, with one of the host."""
    if not hasattr(np.ndarray, "__array_namespace__"):
        pytest.skip("an older NumPy")
    from tessera import _dense

    def wrapped(array, name):
        strides = tuple(s // array.itemsize for s in array.strides)
        return array.__dlpack__(), tessera._arrays.letter_of(array.dtype), array.shape, strides

    monkeypatch.setattr(_dense, "on_device", lambda array: True)
    monkeypatch.setattr(_dense, "device_array", wrapped)
    a = stack_of(rng, (2, 3), 9, dtype, order)
    check(a, *tessera.eigh(a))
    check(a[:, 1], *tessera.eigh(a[:, 1]))
    np.testing.assert_allclose(tessera.eigvalsh(a), np.linalg.eigvalsh(a), atol=tolerance(dtype, 9))
    with pytest.raises(tessera.InvalidArgument, match="strides"):
        tessera.eigh(a[::-1])


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
def test_torch_on_the_host(rng, dtype, order):
    torch = pytest.importorskip("torch")
    a = stack_of(rng, (2, 3), 15, dtype, order)
    w, v = tessera.eigh(torch.from_numpy(a))
    assert isinstance(w, torch.Tensor) and isinstance(v, torch.Tensor)
    check(a, w.numpy(), v.resolve_conj().numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_jax_on_the_host(rng, dtype):
    jax = pytest.importorskip("jax")
    a = stack_of(rng, (2, 3), 15, dtype)
    w, v = tessera.eigh(jax.device_put(a, jax.devices("cpu")[0]))
    assert isinstance(w, jax.Array) and isinstance(v, jax.Array)
    check(a, np.asarray(w), np.asarray(v))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 30, 130])
def test_cupy(rng, dtype, order, n):
    cupy = pytest.importorskip("cupy")
    a = stack_of(rng, (3, 4), n, dtype, order)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x = cupy.array(a, order="C")
        x = x if order == "C" else cupy.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
        x += x
        x /= 2  # still under way
        w, v = tessera.eigh(x)
        assert isinstance(w, cupy.ndarray) and isinstance(v, cupy.ndarray) and v.device == w.device == x.device
        check(a, w.get(), v.get())
        check(a[:, 1], *(r.get() for r in tessera.eigh(x[:, 1])))
        np.testing.assert_allclose(tessera.eigvalsh(x).get(), w.get(), atol=tolerance(dtype, n))
        with pytest.raises(tessera.InvalidArgument, match="strides"):
            tessera.eigh(x[::-1])
        x[1, 2, 0, 0] = np.nan
        with pytest.raises(tessera.LinAlgError, match="matrix 7") as caught:
            tessera.eigh(x)
        assert bool(cupy.isnan(caught.value.result[0][1, 2, 0]))
        assert tessera.eigh(x[:0])[1].shape == (0, 4, n, n)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", types)
def test_torch_on_a_gpu(rng, dtype):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    a = stack_of(rng, (3, 4), 30, dtype)
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.from_numpy(a).cuda() * 2 / 2  # still under way
        w, v = tessera.eigh(x)
    assert w.device == x.device and v.device == x.device
    check(a, w.cpu().numpy(), v.cpu().numpy())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_jax_on_a_gpu(rng, dtype, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes most of the GPU's memory
    jax = pytest.importorskip("jax")
    try:
        gpu = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("JAX sees no GPU")
    a = stack_of(rng, (3, 4), 30, dtype)
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

    a = stack_of(rng, (5,), 20, np.complex128)
    w, v = tessera.eigh(Wrapped(cupy.asarray(a)))
    check(a, w.get(), v.get())
