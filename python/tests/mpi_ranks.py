# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""What test_mpi.py runs on several ranks."""

import numpy as np
import scipy.linalg
import scipy.sparse
import tessera
from mpi4py import MPI


def check_dense(rng):
    for n, complex_types in ((1, (False, True)), (40, (False, True)), (600, (False,))):
        for complex_type in complex_types:
            a = rng.standard_normal((n, n))
            a = a + a.T
            if complex_type:
                x = rng.standard_normal((n, n))
                a = a + 1j * (x - x.T)
            b = a @ a.conj().T / n + np.eye(n)
            w, v = tessera.eigh(a)
            np.testing.assert_allclose(w, scipy.linalg.eigvalsh(a), atol=1e-9)
            assert np.abs(a @ v - v * w).max() < 1e-9
            w, v = tessera.eigh(a, b, subset_by_index=[0, n // 3])
            assert v.shape == (n, n // 3 + 1) and np.abs(a @ v - b @ (v * w)).max() < 1e-9
            w, v = tessera.eigh(a, subset_by_value=[-5, 5])
            assert np.abs(a @ v - v * w).max(initial=0) < 1e-9


def check_blocks(comm, rng):
    system = tessera.matgen.water(12, blocks=[4, 1, 1])
    h, s = system.hamiltonian.to_dense(), system.overlap.to_dense()
    energy = 2 * scipy.linalg.eigvalsh(h, s)[: system.electrons // 2].sum()
    r = tessera.density(system.hamiltonian, system.overlap, n_electrons=system.electrons)
    assert abs(r.energy - energy) < 1e-6
    m = tessera.BlockMatrix.from_dense(h, 6)
    np.testing.assert_allclose((m @ m).to_dense(), h @ h, atol=1e-10)
    np.testing.assert_array_equal(comm.allreduce(m.to_scipy().toarray()), h)
    same = tessera.BlockMatrix.from_scipy(scipy.sparse.csr_matrix(h), 6)
    np.testing.assert_array_equal(same.to_dense(), h)
    x = rng.standard_normal((len(h), 2))
    np.testing.assert_allclose(m @ x, h @ x, atol=1e-10)


def check_lobpcg(rng):
    a = tessera.matgen.sparse("laplacian2d:17:23")
    exact = np.linalg.eigvalsh(a.toarray())[:3]
    w, v = tessera.eigsh(a, 3)
    np.testing.assert_allclose(w, exact, atol=1e-8)
    w, v = tessera.eigsh(lambda x: a @ x, 3, X=rng.standard_normal((a.shape[0], 3)), M=lambda x: x / 4)
    np.testing.assert_allclose(w, exact, atol=1e-8)
    assert np.linalg.norm(a @ v - v * w, axis=0).max() < 1e-6


def check_errors():
    for wrong, error in ((np.ones((3, 4)), ValueError), (np.full((50, 50), np.nan), np.linalg.LinAlgError)):
        try:
            tessera.eigh(wrong)
        except error:
            continue
        raise AssertionError(error)


def main():
    comm = MPI.COMM_WORLD
    rng = np.random.default_rng(1)  # the same numbers on all ranks
    with tessera.Runtime(cores=1, gpus=0, communicator=comm, bind=False) as runtime:
        assert (runtime.info["size"], runtime.info["rank"]) == (comm.size, comm.rank)
        check_dense(rng)
        check_blocks(comm, rng)
        check_lobpcg(rng)
        check_errors()
    print("passed", flush=True)


main()
