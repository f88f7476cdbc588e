# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""eigsh and lobpcg against dense eigenvalues."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import tessera

n = 17 * 23


@pytest.fixture(scope="module")
def laplacian():
    return tessera.matgen.sparse("laplacian2d:17:23")


@pytest.fixture(scope="module")
def exact(laplacian):
    return np.linalg.eigvalsh(laplacian.toarray())


@pytest.fixture(scope="module")
def mass():
    return scipy.sparse.diags([0.2 * np.ones(n - 1), np.linspace(1, 2, n), 0.2 * np.ones(n - 1)], [-1, 0, 1]).tocsr()


def forms(a):
    """A matrix in all forms that are taken."""
    return {
        "csr": a,
        "coo": a.tocoo(),
        "array": scipy.sparse.csr_array(a),
        "dense": a.toarray(),
        "operator": scipy.sparse.linalg.aslinearoperator(a),
        "function": lambda x: a @ x,
    }


def check(a, w, v, b=None):
    right = v * w if b is None else b @ (v * w)
    assert np.linalg.norm(a @ v - right, axis=0).max() < 1e-6
    gram = v.T @ (v if b is None else b @ v)
    np.testing.assert_allclose(gram, np.eye(len(w)), atol=1e-10)


@pytest.mark.parametrize("form", ["csr", "coo", "array", "dense", "operator", "function"])
@pytest.mark.parametrize("largest", [False, True])
def test_eigsh(rng, laplacian, exact, form, largest):
    start = rng.standard_normal((n, 4)) if form == "function" else None
    w, v = tessera.eigsh(forms(laplacian)[form], 4, X=start, largest=largest)
    np.testing.assert_allclose(w, exact[-4:] if largest else exact[:4], atol=1e-9)
    check(laplacian, w, v)


@pytest.mark.parametrize("method, sizes", [("gd", {}), ("gd", {"block": 2, "basis": 20}), ("auto", {}),
                                           ("lanczos", {}), ("lanczos", {"block": 2, "basis": 30})])
def test_methods(laplacian, exact, method, sizes):
    w, v = tessera.eigsh(laplacian, 4, method=method, **sizes)
    np.testing.assert_allclose(w, exact[:4], atol=1e-9)
    check(laplacian, w, v)


@pytest.mark.parametrize("method", ["lobpcg", "gd", "lanczos"])
@pytest.mark.parametrize("largest", [False, True])
def test_more_pairs_than_a_block_holds(laplacian, exact, method, largest):
    w, v = tessera.eigsh(laplacian, 45, method=method, largest=largest)
    np.testing.assert_allclose(w, exact[-45:] if largest else exact[:45], atol=1e-9)
    check(laplacian, w, v)
    start = v[:, ::-1] if largest else v
    again = tessera.eigsh(laplacian, 45, X=start, method=method, largest=largest, full_output=True)
    assert again.iterations < 40


def test_as_scipy(laplacian):
    w, v = tessera.eigsh(laplacian, 3)
    expected = scipy.sparse.linalg.eigsh(laplacian, 3, sigma=0, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.sort(expected), atol=1e-9)
    np.testing.assert_array_equal(tessera.eigsh(laplacian, 3, return_eigenvectors=False), w)


@pytest.mark.parametrize("m", ["jacobi", "fom", "chebyshev", "matrix", "operator", "function"])
def test_preconditioners(laplacian, exact, m):
    inverse = scipy.sparse.linalg.splu(laplacian.tocsc())
    given = {
        "matrix": scipy.sparse.csr_matrix(np.linalg.inv(laplacian.toarray())),
        "operator": scipy.sparse.linalg.LinearOperator((n, n), matvec=inverse.solve, matmat=inverse.solve, dtype=float),
        "function": inverse.solve,
    }.get(m, m)
    r = tessera.eigsh(laplacian, 4, given, full_output=True)
    np.testing.assert_allclose(r.values, exact[:4], atol=1e-9)
    plain = tessera.eigsh(laplacian, 4, full_output=True)
    assert plain.converged >= 4 and plain.status.ok and len(plain.history) >= plain.iterations
    if m not in ("jacobi", "fom"):  # the diagonal is constant
        assert r.iterations < plain.iterations / 2


@pytest.mark.parametrize("form_a", ["csr", "function"])
@pytest.mark.parametrize("form_b", ["csr", "function", "dense"])
def test_generalized(rng, laplacian, mass, form_a, form_b):
    w, v = tessera.eigsh(forms(laplacian)[form_a], 3, B=forms(mass)[form_b], X=rng.standard_normal((n, 3)))
    expected = scipy.linalg.eigvalsh(laplacian.toarray(), mass.toarray())[:3]
    np.testing.assert_allclose(w, expected, atol=1e-8)
    check(laplacian, w, v, mass)


@pytest.mark.parametrize("largest", [False, True])
def test_lobpcg(rng, laplacian, exact, largest):
    x = rng.standard_normal((n, 5))
    w, v = tessera.lobpcg(laplacian, x, largest=largest)
    np.testing.assert_allclose(w, exact[::-1][:5] if largest else exact[:5], atol=1e-9)
    check(laplacian, w, v)
    found = tessera.lobpcg(laplacian, v, largest=largest, full_output=True)
    assert found.iterations <= 3  # from the solution
    single, _ = tessera.lobpcg(laplacian, x[:, 0], largest=largest)
    np.testing.assert_allclose(single, w[:1], atol=1e-9)


def test_constraints(rng, laplacian, exact):
    _, first = tessera.eigsh(laplacian, 3)
    w, v = tessera.lobpcg(laplacian, rng.standard_normal((n, 3)), Y=first, largest=False)
    np.testing.assert_allclose(w, exact[3:6], atol=1e-8)
    assert np.abs(first.T @ v).max() < 1e-8


def test_float32(laplacian, exact):
    w, v = tessera.eigsh(laplacian.astype(np.float32), 3, tol=1e-5)
    assert w.dtype == v.dtype == np.float32
    np.testing.assert_allclose(w, exact[:3], atol=1e-3)


def test_integers(exact, laplacian):
    w, _ = tessera.eigsh(laplacian.astype(np.int64), 2)
    np.testing.assert_allclose(w, exact[:2], atol=1e-9)


def test_no_convergence(laplacian):
    with pytest.raises(tessera.ConvergenceError) as caught:
        tessera.eigsh(laplacian, 3, maxiter=3)
    e = caught.value
    assert e.status.code == "iterations_exhausted"
    assert e.eigenvalues.shape == (3,) and e.eigenvectors.shape == (n, 3) and e.result.iterations == 3


def test_monitor(laplacian):
    seen = []
    tessera.eigsh(laplacian, 2, monitor=lambda step: seen.append(step["iteration"]))
    assert seen[:3] == [0, 1, 2] or seen[:3] == [1, 2, 3]
    with pytest.raises(tessera.ConvergenceError) as caught:
        tessera.eigsh(laplacian, 2, monitor=lambda step: step["iteration"] < 4)
    assert caught.value.status.code == "stopped"


@pytest.mark.parametrize("method, k", [("lobpcg", 3), ("gd", 3), ("gd", 36)])
def test_checkpoint(laplacian, exact, tmp_path, method, k):
    file = tmp_path / "c.h5"
    with pytest.raises(tessera.ConvergenceError) as caught:
        tessera.eigsh(laplacian, k, method=method, maxiter=12, checkpoint=file, checkpoint_iterations=5)
    first = caught.value.result
    assert first.checkpoints == 3 and first.checkpoint_failure == "" and first.iterations_before == 0
    result = tessera.eigsh(laplacian, k, method=method, resume=str(file), full_output=True)
    assert result.iterations_before == 12 and result.history[0]["iteration"] == 13
    np.testing.assert_allclose(result.values, exact[:k], atol=1e-8)
    with pytest.raises(tessera.InvalidArgument, match="resume"):
        tessera.eigsh(laplacian, k + 1, resume=file)
    with pytest.raises(tessera.InvalidArgument, match="checkpoint"):
        tessera.eigsh(laplacian, k, checkpoint=tmp_path / "nowhere" / "c.h5")
    with pytest.raises(tessera.InputError):
        tessera.eigsh(laplacian, k, resume=tmp_path / "none.h5")


class Mine(Exception):
    pass


def fails(*arguments):
    raise Mine("of the caller")


def test_exceptions_come_back(rng, laplacian):
    x = rng.standard_normal((n, 2))
    for arguments in (
        {"A": fails, "X": x},
        {"A": laplacian, "X": x, "M": fails},
        {"A": laplacian, "X": x, "B": fails},
        {"A": laplacian, "X": x, "monitor": fails},
    ):
        with pytest.raises(Mine, match="of the caller"):
            tessera.lobpcg(**arguments)
    w, _ = tessera.eigsh(laplacian, 2)  # and the Runtime is as good as before
    assert w[0] > 0


def test_functions_may_not_call_back(rng, laplacian):
    with pytest.raises(tessera.RuntimeFailure, match="cannot be called"):
        tessera.eigsh(laplacian, 2, monitor=lambda step: tessera.eigh(np.eye(3)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"A": np.ones((3, 4))},
        {"A": np.eye(100), "k": 40},
        {"A": np.eye(20), "k": 10},
        {"A": scipy.sparse.csr_matrix(np.triu(np.ones((50, 50)))), "k": 2},
        {"A": np.eye(50) * 1j, "k": 2},
        {"A": scipy.sparse.eye(50) * 1j, "k": 2},
        {"A": scipy.sparse.eye(50).tocsr(), "k": 2, "M": "magic"},
        {"A": np.eye(50), "k": 2, "M": "jacobi"},
        {"A": np.eye(50), "k": 2, "B": np.eye(51)},
        {"A": np.eye(50), "k": 2, "X": np.ones((49, 2))},
        {"A": np.eye(50), "k": 2, "norm": "large"},
        {"A": np.eye(50), "k": 2, "method": "arnoldi"},
        {"A": np.eye(50), "k": 2, "method": "lanczos", "B": np.eye(50)},
        {"A": scipy.sparse.eye(50).tocsr(), "k": 2, "method": "lanczos", "M": "jacobi"},
        {"A": np.eye(50), "k": 2, "method": "lobpcg", "basis": 20},
        {"A": lambda x: x, "k": 2},
        {"A": lambda x: x[:3], "k": 2, "X": np.ones((50, 2))},
        {"A": lambda x: None, "k": 2, "X": np.ones((50, 2))},
    ],
)
def test_bad_arguments(wrong):
    with pytest.raises((ValueError, TypeError)):
        tessera.eigsh(**wrong)


def test_not_finite(rng):
    with pytest.raises(np.linalg.LinAlgError) as caught:
        tessera.eigsh(lambda x: x * np.nan, 2, X=rng.standard_normal((60, 2)))
    assert caught.value.status.code == "not_finite"


def test_a_nucleus_without_a_core():
    assert tessera.matgen.shell_model_order("shell:nocore:12C:8") == 594496743
    space = dict(interaction="minnesota", oscillator=12)
    h = tessera.matgen.sparse("shell:nocore:2H:4", lawson=10, **space)
    assert h.shape[0] == tessera.matgen.shell_model_order("shell:nocore:2H:4") == 116
    energies = np.linalg.eigvalsh(h.toarray())
    # The centre of mass costs 120 MeV a quantum, and leaves the deuteron where it is.
    assert -2.203 < energies[0] < 0
    plain = np.linalg.eigvalsh(tessera.matgen.sparse("shell:nocore:2H:4", **space).toarray())
    assert abs(energies[0] - plain[0]) < 1e-9
    assert np.sum(energies < 100) < np.sum(plain < 100)
    protons = tessera.matgen.sparse("shell:nocore:2:0:2", coulomb=True, **space)
    neutrons = tessera.matgen.sparse("shell:nocore:0:2:2", **space)
    assert 0.1 < np.linalg.eigvalsh((protons - neutrons).toarray())[0] < 1.5
    with pytest.raises(ValueError):
        tessera.matgen.sparse("shell:nocore:2H:4", oscillator=-1)
