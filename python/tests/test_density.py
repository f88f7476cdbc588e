# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""density against the eigenvectors of SciPy."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import tessera
from tessera import BlockMatrix


@pytest.fixture(scope="module")
def system():
    return tessera.matgen.water(12, blocks=[4, 1, 1])


def reference(h, s, electrons, occupation=2.0):
    w, c = scipy.linalg.eigh(h, s)
    k = round(electrons / occupation)
    return occupation * c[:, :k] @ c[:, :k].conj().T, occupation * w[:k].sum(), w[k - 1], w[k]


@pytest.mark.parametrize("method", ["auto", "trs4", "tc2", "sign", "purification", "submatrix", "dense"])
def test_methods(system, method):
    h, s = system.hamiltonian, system.overlap
    p, energy, homo, lumo = reference(h.to_dense(), s.to_dense(), system.electrons)
    r = tessera.density(h, s, n_electrons=system.electrons, method=method, filter=1e-8)
    assert r.status.ok and r.P.symmetry in ("symmetric", "hermitian")
    assert method == "auto" or r.method == method
    assert abs(r.energy - energy) < 1e-9 * system.electrons
    assert abs(r.electrons - system.electrons) < 1e-7
    np.testing.assert_allclose(r.P.to_dense(), p, atol=1e-5)
    assert homo < r.mu < lumo
    for state, (low, high) in ((homo, r.homo), (lumo, r.lumo)):
        assert not low > state + 1e-6 and not high < state - 1e-6  # an end that is not known is NaN
    assert np.isnan(r.idempotency) or r.idempotency < 1e-6
    assert method == "dense" or (r.iterations and all(step.seconds >= 0 for step in r.iterations))
    assert "energy" in repr(r)


@pytest.mark.parametrize("convert", ["dense", "csr"])
def test_matrices_of_others(system, convert):
    h, s = system.hamiltonian.to_dense(), system.overlap.to_dense()
    _, energy, _, _ = reference(h, s, system.electrons)
    made = (lambda x: x) if convert == "dense" else scipy.sparse.csr_matrix
    r = tessera.density(made(h), made(s), n_electrons=system.electrons, block_sizes=6)
    assert abs(r.energy - energy) < 1e-7 * system.electrons
    np.testing.assert_array_equal(r.P.row_sizes, [6] * 12)
    with pytest.raises(tessera.InvalidArgument, match="block_sizes"):
        tessera.density(made(h), made(s), n_electrons=system.electrons)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_types(dtype):
    system = tessera.matgen.water(6, blocks=[4, 1, 1], dtype=dtype)
    h, s = system.hamiltonian, system.overlap
    assert h.dtype == dtype
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    _, energy, _, _ = reference(h.to_dense().astype(wide), s.to_dense().astype(wide), system.electrons)
    r = tessera.density(h, s, n_electrons=system.electrons, filter=1e-5)
    assert r.P.dtype == dtype
    assert abs(r.energy - energy) < 1e-4 * system.electrons


def test_without_an_overlap():
    a = np.diag([-2.0, -1.0, 1.0, 2.0]) + 0.1 * (np.ones((4, 4)) - np.eye(4))
    p, energy, _, _ = reference(a, np.eye(4), 2, 1.0)
    r = tessera.density(BlockMatrix.from_dense(a, 2, symmetry="hermitian"), n_electrons=2, occupation=1, filter=0)
    np.testing.assert_allclose(r.P.to_dense(), p, atol=1e-8)
    np.testing.assert_allclose(r.energy, energy, atol=1e-10)


def test_temperature(system):
    h, s = system.hamiltonian, system.overlap
    kt, electrons = 0.05, system.electrons - 1.5
    r = tessera.density(h, s, n_electrons=electrons, temperature=kt, filter=1e-9)
    w = scipy.linalg.eigh(h.to_dense(), s.to_dense(), eigvals_only=True)
    f = 1 / (1 + np.exp((w - r.mu) / kt))
    assert r.method == "fermi"
    np.testing.assert_allclose(2 * f.sum(), electrons, atol=1e-5)
    np.testing.assert_allclose(r.energy, 2 * (f * w).sum(), atol=1e-5)
    g = np.clip(f, 1e-300, 1 - 1e-16)
    np.testing.assert_allclose(r.entropy, -2 * (g * np.log(g) + (1 - g) * np.log(1 - g)).sum(), atol=1e-4)
    np.testing.assert_allclose(r.free_energy, r.energy - kt * r.entropy)


def test_from_one_to_the_next(system):
    h, s = system.hamiltonian, system.overlap
    first = tessera.density(h, s, n_electrons=system.electrons, energy_weighted=True)
    np.testing.assert_allclose(first.energy_weighted.dot(s), first.energy, rtol=1e-6)
    gap = ((first.homo[0] - 0.02, first.homo[1] + 0.02), (first.lumo[0] - 0.02, first.lumo[1] + 0.02))
    moved = h + 0.01 * s
    second = tessera.density(moved, s, n_electrons=system.electrons, gap=gap, inverse_factor=first.inverse_factor)
    assert second.method == "sp2"
    np.testing.assert_allclose(second.energy, first.energy + 0.01 * system.electrons, atol=1e-6)
    turned = tessera.density(h, s, n_electrons=system.electrons, method="curvy", P=first.P)
    np.testing.assert_allclose(turned.energy, first.energy, atol=1e-6)


def test_given_mu(system):
    r = tessera.density(system.hamiltonian, system.overlap, mu=system.mu)
    assert r.method == "sign"
    assert abs(r.electrons - system.electrons) < 1e-4


def test_monitor(system):
    steps = []
    r = tessera.density(system.hamiltonian, system.overlap, n_electrons=system.electrons, monitor=steps.append)
    assert [s.stage for s in steps] == [s.stage for s in r.iterations]
    with pytest.raises(tessera.ConvergenceError) as caught:
        tessera.density(system.hamiltonian, system.overlap, n_electrons=system.electrons, monitor=lambda step: False)
    assert caught.value.status.code == "stopped" and caught.value.result.P is None
    assert len(caught.value.result.iterations) == 1

    def fails(step):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tessera.density(system.hamiltonian, system.overlap, n_electrons=system.electrons, monitor=fails)


def test_failures(system):
    h, s, electrons = system.hamiltonian, system.overlap, system.electrons
    zero = BlockMatrix.from_dense(np.zeros((4, 4)), 2, symmetry="hermitian", threshold=-1)
    with pytest.raises(tessera.ConvergenceError) as caught:
        tessera.density(zero, n_electrons=4)
    assert caught.value.status.code == "no_gap"
    with pytest.raises(np.linalg.LinAlgError):
        tessera.density(h, -s, n_electrons=electrons)
    with pytest.raises(np.linalg.LinAlgError):
        tessera.density(h * np.nan, s, n_electrons=electrons)
    for options in (
        {"n_electrons": 1.5},
        {"n_electrons": -2},
        {"n_electrons": electrons, "method": "guess"},
        {"n_electrons": electrons, "filter": -1},
        {"n_electrons": electrons, "gap": ((0, 1), (2,))},
        {"n_electrons": electrons, "temperature": -1},
    ):
        with pytest.raises(tessera.InvalidArgument):
            tessera.density(h, s, **options)
    with pytest.raises(tessera.InvalidArgument):
        tessera.density(h.desymmetrize(), s, n_electrons=electrons)
