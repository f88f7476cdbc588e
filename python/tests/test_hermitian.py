# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""eigsh and lobpcg of complex Hermitian matrices against dense eigenvalues and closed forms."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import tessera

n = 12 * 15


@pytest.fixture(scope="module")
def lattice():
    return tessera.matgen.sparse("hofstadter:12:15:1:4")


@pytest.fixture(scope="module")
def exact(lattice):
    return np.linalg.eigvalsh(lattice.toarray())


@pytest.fixture(scope="module")
def mass():
    off = 0.2j * np.exp(1j * np.arange(n - 1))
    return scipy.sparse.diags([off.conj(), np.linspace(1, 2, n).astype(complex), off], [-1, 0, 1]).tocsr()


def forms(a):
    """A matrix in all forms that are taken."""
    return {
        "csr": a,
        "coo": a.tocoo(),
        "dense": a.toarray(),
        "operator": scipy.sparse.linalg.aslinearoperator(a),
        "function": lambda x: a @ x,
    }


def start_of(rng, form, k):
    if form != "function":
        return None
    return rng.standard_normal((n, k)) + 1j * rng.standard_normal((n, k))


def check(a, w, v, b=None):
    right = v * w if b is None else b @ (v * w)
    assert np.linalg.norm(a @ v - right, axis=0).max() < 1e-6
    gram = v.conj().T @ (v if b is None else b @ v)
    np.testing.assert_allclose(gram, np.eye(len(w)), atol=1e-10)


def test_the_matrix_is_hermitian(lattice):
    assert lattice.dtype == np.complex128
    assert abs(lattice - lattice.conj().T).max() == 0
    assert abs(lattice.imag).max() > 0.5


@pytest.mark.parametrize("form", ["csr", "coo", "dense", "operator", "function"])
@pytest.mark.parametrize("largest", [False, True])
def test_eigsh(rng, lattice, exact, form, largest):
    w, v = tessera.eigsh(forms(lattice)[form], 5, X=start_of(rng, form, 5), largest=largest)
    assert w.dtype == np.float64 and v.dtype == np.complex128
    np.testing.assert_allclose(w, exact[-5:] if largest else exact[:5], atol=1e-9)
    check(lattice, w, v)


def test_closed_form():
    ring = tessera.matgen.sparse("magnetic-ring:60:0.9")
    w, v = tessera.eigsh(ring, 5, method="gd")
    expected = np.sort(2 - 2 * np.cos((2 * np.pi * np.arange(60) + 0.9) / 60))
    np.testing.assert_allclose(w, expected[:5], atol=1e-10)
    check(ring, w, v)


@pytest.mark.parametrize("m", ["jacobi", "fom", "chebyshev", "function"])
@pytest.mark.parametrize("method", ["lobpcg", "gd"])
def test_preconditioners(lattice, exact, m, method):
    inverse = scipy.sparse.linalg.splu(lattice.tocsc())
    given = {"function": inverse.solve}.get(m, m)
    r = tessera.eigsh(lattice, 4, given, method=method, full_output=True)
    np.testing.assert_allclose(np.sort(r.values), exact[:4], atol=1e-9)


@pytest.mark.parametrize("form_a", ["csr", "function"])
@pytest.mark.parametrize("form_b", ["csr", "dense"])
def test_generalized(rng, lattice, mass, form_a, form_b):
    w, v = tessera.eigsh(forms(lattice)[form_a], 3, B=forms(mass)[form_b], X=start_of(rng, form_a, 3))
    expected = scipy.linalg.eigvalsh(lattice.toarray(), mass.toarray())[:3]
    np.testing.assert_allclose(w, expected, atol=1e-8)
    check(lattice, w, v, mass)


def test_real_beside_complex(lattice, mass):
    real = tessera.matgen.sparse("laplacian2d:12:15")
    for a, b in ((real, mass), (lattice, scipy.sparse.diags([np.linspace(1, 3, n)], [0]).tocsr())):
        w, v = tessera.eigsh(a, 3, B=b)
        np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a.toarray(), b.toarray())[:3], atol=1e-8)
        check(a, w, v, b)


def test_constraints(rng, lattice, exact):
    _, first = tessera.eigsh(lattice, 3)
    w, v = tessera.lobpcg(lattice, start_of(rng, "function", 3), Y=first, largest=False)
    np.testing.assert_allclose(w, exact[3:6], atol=1e-8)
    assert np.abs(first.conj().T @ v).max() < 1e-8


def test_complex64(lattice, exact):
    w, v = tessera.eigsh(lattice.astype(np.complex64), 3, tol=1e-5)
    assert w.dtype == np.float32 and v.dtype == np.complex64
    np.testing.assert_allclose(w, exact[:3], atol=1e-3)


def test_gauge(lattice, exact):
    phases = scipy.sparse.diags([np.exp(1j * np.arange(n) ** 2)], [0])
    w, _ = tessera.eigsh((phases.conj() @ lattice @ phases).tocsr(), 4)
    np.testing.assert_allclose(w, exact[:4], atol=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"A": scipy.sparse.eye(50) * (1 + 1j)},
        {"A": scipy.sparse.csr_matrix(np.diag(np.ones(49), 1) * 1j + np.diag(np.ones(49), -1) * 1j)},
        {"A": np.eye(50) * (1 + 1j)},
        {"A": scipy.sparse.eye(50).tocsr(), "X": np.ones((50, 2)) * 1j},
        {"A": scipy.sparse.eye(50).tocsr(), "M": np.eye(50) * 1j},
        {"A": scipy.sparse.diags([np.arange(50.0)], [0]).tocsr(), "M": lambda x: x * 1j},
    ],
)
def test_bad_arguments(wrong):
    with pytest.raises(tessera.InvalidArgument):
        tessera.eigsh(k=2, **wrong)
