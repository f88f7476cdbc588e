# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""eigh against SciPy."""

import numpy as np
import pytest
import scipy.linalg
import tessera
from conftest import hermitian, positive_definite, tolerance

types = [np.float32, np.float64, np.complex64, np.complex128]


def check_pairs(a, w, v, b=None):
    n = a.shape[0]
    if v.size == 0:
        return
    eps = np.finfo(v.dtype).eps
    scale = max(n, 1) * eps * max(np.linalg.norm(a, 1), 1e-30)
    right = v * w if b is None else b @ (v * w)
    size = np.linalg.norm(v, 1) * (1 if b is None else max(np.linalg.norm(b, 1), 1))
    assert np.abs(a @ v - right).max() < 30 * scale * size
    gram = v.conj().T @ (v if b is None else b @ v)
    assert np.abs(gram - np.eye(v.shape[1])).max() < 30 * max(n, 1) * eps * size**2


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 130, 420])
@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_pairs(rng, n, dtype, order):
    a = hermitian(rng, n, dtype, order)
    kept = a.copy(order="K")
    w, v = tessera.eigh(a)
    assert w.dtype == np.finfo(dtype).dtype and v.dtype == dtype
    assert w.shape == (n,) and v.shape == (n, n)
    np.testing.assert_array_equal(a, kept)
    if n:
        np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=tolerance(dtype, n))
        check_pairs(a, w, v)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lower", [True, False])
def test_one_triangle_is_read(rng, dtype, order, lower):
    a = hermitian(rng, 90, dtype, order)
    other = np.array(a, order=order)
    other[np.triu_indices(90, 1) if lower else np.tril_indices(90, -1)] = np.nan
    w, v = tessera.eigh(other, lower=lower)
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=tolerance(dtype, 90))
    check_pairs(a, w, v)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_generalized(rng, dtype, orders):
    n = 110
    a, b = hermitian(rng, n, dtype, orders[0]), positive_definite(rng, n, dtype, orders[1])
    w, v = tessera.eigh(a, b)
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a, b), atol=10 * tolerance(dtype, n))
    check_pairs(a, w, v, b)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("subset", [(0, 0), (0, 9), (5, 31), (59, 59)])
def test_subset_by_index(rng, dtype, n, subset):
    a = hermitian(rng, n, dtype)
    w, v = tessera.eigh(a, subset_by_index=subset)
    expected = scipy.linalg.eigh(a, subset_by_index=subset, eigvals_only=True)
    assert v.shape == (n, subset[1] - subset[0] + 1)
    np.testing.assert_allclose(w, expected, atol=tolerance(dtype, n))
    check_pairs(a, w, v)
    np.testing.assert_allclose(tessera.eigvalsh(a, subset_by_index=subset), expected, atol=tolerance(dtype, n))


@pytest.mark.parametrize("subset", [(-3.0, 2.5), (-np.inf, 0.0), (10.0, np.inf), (-np.inf, np.inf), (1e3, 2e3)])
def test_subset_by_value(rng, subset):
    a = hermitian(rng, 260, np.float64)
    w, v = tessera.eigh(a, subset_by_value=subset)
    expected = scipy.linalg.eigh(a, subset_by_value=subset, eigvals_only=True)
    assert w.shape == expected.shape and v.shape == (260, len(expected))
    np.testing.assert_allclose(w, expected, atol=tolerance(np.float64, 260))
    check_pairs(a, w, v)


def test_bounds_of_a_range_by_value():
    a = np.diag([1.0, 2.0, 3.0])  # (1, 3]: the lower bound is left out, the upper one is in
    np.testing.assert_array_equal(tessera.eigvalsh(a, subset_by_value=(1, 3)), [2, 3])


@pytest.mark.parametrize("solver", ["auto", "two_stage", "one_stage", "vendor"])
def test_solvers(rng, solver):
    a = hermitian(rng, 300, np.float64)
    w, v = tessera.eigh(a, solver=solver)
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=tolerance(np.float64, 300))
    check_pairs(a, w, v)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, bool, np.float16, np.longdouble])
def test_other_types_as_scipy(rng, dtype):
    a = np.array(hermitian(rng, 20, np.float64) * 3, dtype=np.int64) % 7
    a = (a + a.T).astype(dtype)
    w = tessera.eigvalsh(a)
    assert w.dtype == (np.float32 if dtype == np.float16 else np.float64)
    np.testing.assert_allclose(
        w, scipy.linalg.eigvalsh(a.astype(w.dtype)), atol=1e-3 if w.dtype == np.float32 else 1e-10
    )


def test_mixed_types_take_the_larger(rng):
    a, b = hermitian(rng, 30, np.complex64), positive_definite(rng, 30, np.float64)
    w, v = tessera.eigh(a, b)
    assert w.dtype == np.float64 and v.dtype == np.complex128
    np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a, b), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_views_are_read_in_place(rng, dtype):
    large = np.zeros((150, 170), dtype=dtype, order="F")
    a = hermitian(rng, 100, dtype)
    large[20:120, 30:130] = a
    for view in (large[20:120, 30:130], np.ascontiguousarray(large)[20:120, 30:130]):
        w, v = tessera.eigh(view)
        np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=tolerance(dtype, 100))
        check_pairs(a, w, v)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_other_strides(rng, dtype):
    a = hermitian(rng, 40, dtype)
    spread = np.zeros((80, 120), dtype=dtype)
    spread[::2, ::3] = a
    for view in (spread[::2, ::3], a[::-1, ::-1]):
        w, v = tessera.eigh(view)
        np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=tolerance(dtype, 40))
        check_pairs(np.array(view), w, v)


def test_read_only_and_lists():
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    a.flags.writeable = False
    np.testing.assert_allclose(tessera.eigvalsh(a), [1, 3])
    np.testing.assert_allclose(tessera.eigvalsh([[2, 1], [1, 2]]), [1, 3])


def test_byte_order(rng):
    a = hermitian(rng, 12, np.float64)
    np.testing.assert_allclose(tessera.eigvalsh(a.astype(">f8")), scipy.linalg.eigvalsh(a), atol=1e-12)


@pytest.mark.parametrize("order, index", [("F", 8), ("C", 31)])
def test_not_finite(rng, order, index):
    a = hermitian(rng, 50, np.float64, order)
    a[30, 7] = np.nan
    with pytest.raises(np.linalg.LinAlgError) as caught:
        tessera.eigh(a)
    assert isinstance(caught.value, tessera.LinAlgError)
    assert caught.value.status.code == "not_finite" and caught.value.status.index == index
    assert not caught.value.status.ok and str(caught.value) == caught.value.status.message


def test_not_positive_definite(rng):
    a, b = hermitian(rng, 50, np.float64), np.eye(50)
    b[20, 20] = -1
    with pytest.raises(tessera.LinAlgError) as caught:
        tessera.eigh(a, b)
    assert (caught.value.status.code, caught.value.status.index) == ("not_positive_definite", 21)


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": np.zeros((3, 4))},
        {"a": np.zeros(3)},
        {"a": np.zeros((3, 3)), "b": np.zeros((4, 4))},
        {"a": np.eye(3), "subset_by_index": (0, 3)},
        {"a": np.eye(3), "subset_by_index": (-1, 1)},
        {"a": np.eye(3), "subset_by_index": (2, 1)},
        {"a": np.eye(3), "subset_by_value": (2, 1)},
        {"a": np.eye(3), "subset_by_value": (np.nan, 1)},
        {"a": np.eye(3), "subset_by_value": (0, 1), "subset_by_index": (0, 1)},
        {"a": np.eye(3), "solver": "magic"},
        {"a": np.array([["x"]])},
        {"a": np.eye(300), "solver": "two_stage", "band": 32, "update_width": 33},
    ],
)
def test_bad_arguments(arguments):
    with pytest.raises(ValueError) as caught:
        tessera.eigh(**arguments)
    assert isinstance(caught.value, tessera.InvalidArgument)
    assert caught.value.name


def test_without_a_copy(rng):
    """The matrix is read where it lies."""
    from tessera import _dense

    for order in "CF":
        a = hermitian(rng, 64, np.complex128, order)
        first, *_ = _dense._host_matrices(a, None, True)
        assert np.shares_memory(first, a)
