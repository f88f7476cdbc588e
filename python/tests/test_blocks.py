# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""BlockMatrix against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.sparse
import tessera
from conftest import hermitian
from tessera import BlockMatrix

types = [np.float32, np.float64, np.complex64, np.complex128]
rows, cols, inner = [3, 1, 4, 2], [2, 5, 0, 2, 1], [4, 4, 3]


def random(rng, row_sizes, col_sizes, dtype=np.float64):
    """A dense matrix with about half of its blocks."""
    a = rng.standard_normal((sum(row_sizes), sum(col_sizes)))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(a.shape)
    mask = rng.random((len(row_sizes), len(col_sizes))) < 0.5
    return (a * np.repeat(np.repeat(mask, row_sizes, 0), col_sizes, 1)).astype(dtype)


def close(a, b):
    a = a.to_dense() if isinstance(a, BlockMatrix) else a
    np.testing.assert_allclose(a, b, atol=100 * np.finfo(b.dtype).eps, rtol=1000 * np.finfo(b.dtype).eps)


@pytest.mark.parametrize("dtype", types)
def test_dense_there_and_back(rng, dtype):
    a = random(rng, rows, cols, dtype)
    m = BlockMatrix.from_dense(a, rows, cols)
    assert m.shape == a.shape and m.dtype == dtype and m.symmetry == "none" and m.block_shape == (4, 5)
    np.testing.assert_array_equal(m.to_dense(), a)
    np.testing.assert_array_equal(m.row_sizes, rows)
    np.testing.assert_array_equal(m.col_sizes, cols)
    np.testing.assert_array_equal(m.to_scipy().toarray(), a)
    full = BlockMatrix.from_dense(a, rows, cols, threshold=-1)
    assert full.occupation == 1 and m.occupation < 1


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_scipy_there_and_back(rng, format, dtype):
    a = random(rng, rows, cols, dtype)
    m = BlockMatrix.from_scipy(scipy.sparse.coo_matrix(a).asformat(format), rows, cols)
    np.testing.assert_array_equal(m.to_dense(), a)
    back = m.to_scipy(threshold=0)
    assert back.nnz == np.count_nonzero(a)
    np.testing.assert_array_equal(back.toarray(), a)


def test_bsr_has_its_own_blocks(rng):
    a = random(rng, [3] * 5, [2] * 7)
    m = BlockMatrix.from_scipy(scipy.sparse.bsr_matrix(a, blocksize=(3, 2)))
    np.testing.assert_array_equal(m.row_sizes, [3] * 5)
    np.testing.assert_array_equal(m.to_dense(), a)
    square = random(rng, [3] * 5, [3] * 5)
    square += square.T
    half = BlockMatrix.from_scipy(scipy.sparse.bsr_matrix(square, blocksize=(3, 3)), symmetry="symmetric")
    np.testing.assert_array_equal(half.to_dense(), square)


def test_blocks_there_and_back(rng):
    blocks = {(0, 1): rng.standard_normal((3, 5)), (2, 0): rng.standard_normal((4, 2)), (3, 4): np.ones((2, 1))}
    m = BlockMatrix.from_blocks(blocks, rows, cols)
    assert m.stored_blocks == 3
    found = {(i, j): block for i, j, block in m.blocks()}
    assert found.keys() == blocks.keys()
    for key, block in blocks.items():
        np.testing.assert_array_equal(found[key], block)


@pytest.mark.parametrize("symmetry", ["symmetric", "hermitian", "antisymmetric"])
@pytest.mark.parametrize("dtype", types)
def test_half_stored(rng, symmetry, dtype):
    a = random(rng, rows, rows, dtype)
    other = a.conj().T if symmetry == "hermitian" else a.T
    a = (a - other if symmetry == "antisymmetric" else a + other).astype(dtype)
    m = BlockMatrix.from_dense(a, rows, symmetry=symmetry)
    assert all(i >= j for i, j, _ in m.blocks())
    np.testing.assert_array_equal(m.to_dense(), a)
    np.testing.assert_array_equal(
        BlockMatrix.from_scipy(scipy.sparse.csr_matrix(a), rows, symmetry=symmetry).to_dense(), a
    )
    np.testing.assert_array_equal(m.desymmetrize().to_dense(), a)
    np.testing.assert_array_equal(m.desymmetrize().half(symmetry).to_dense(), a)
    close(m @ m, a @ a)
    close(m + m.desymmetrize(), 2 * a)
    close(m.T, a.T)


@pytest.mark.parametrize("dtype", types)
def test_algebra(rng, dtype):
    a, b, c = random(rng, rows, inner, dtype), random(rng, rows, inner, dtype), random(rng, inner, cols, dtype)
    x, y = BlockMatrix.from_dense(a, rows, inner), BlockMatrix.from_dense(b, rows, inner)
    z = BlockMatrix.from_dense(c, inner, cols)
    close(x + y, a + b)
    close(x - y, a - b)
    close(-x, -a)
    close(2.5 * x, np.array(2.5 * a, dtype=dtype))
    close(x * 2 / 4, np.array(a / 2, dtype=dtype))
    close(x @ z, a @ c)
    close(x.T, a.T)
    close(x.H, a.conj().T)
    np.testing.assert_allclose(x.dot(y), np.vdot(a, b), rtol=1e-4)
    np.testing.assert_allclose(x.norm(), np.linalg.norm(a), rtol=1e-5)
    np.testing.assert_allclose(x.norm("max"), np.abs(a).max(), rtol=1e-5)
    np.testing.assert_allclose(x.norm("inf"), np.abs(a).sum(1).max(), rtol=1e-5)
    assert np.isrealobj(x.dot(y)) == (np.dtype(dtype).kind == "f")
    np.testing.assert_array_equal(x.to_dense(), a)  # unchanged


def test_square_matrices(rng):
    a = random(rng, rows, rows)
    m = BlockMatrix.from_dense(a, rows)
    np.testing.assert_allclose(m.trace(), np.trace(a))
    np.testing.assert_array_equal(m.diagonal(), np.diag(a))
    close(m.add_identity(3), a + 3 * np.eye(10))
    close(m @ m.T - m, a @ a.T - a)


def test_complex_factors(rng):
    a = random(rng, rows, inner)
    close(1j * BlockMatrix.from_dense(a, rows, inner), 1j * a.astype(complex))
    h = hermitian(rng, 10, complex)
    m = BlockMatrix.from_dense(h, rows, symmetry="hermitian")
    assert (2 * m).symmetry == "hermitian" and (2j * m).symmetry == "none"
    close(2j * m, 2j * h)


def test_types_are_joined(rng):
    a, b = random(rng, rows, inner, np.float32), random(rng, rows, inner, np.complex128)
    c = BlockMatrix.from_dense(a, rows, inner) + BlockMatrix.from_dense(b, rows, inner)
    assert c.dtype == np.complex128
    close(c, a + b)
    s = hermitian(rng, 10, np.float64)
    m = BlockMatrix.from_dense(s, rows, symmetry="symmetric").astype(np.complex64)
    assert m.symmetry == "hermitian"
    np.testing.assert_allclose(m.to_dense(), s, rtol=1e-6)
    with pytest.raises(tessera.InvalidArgument):
        m.astype(np.float32)


@pytest.mark.parametrize("symmetry", ["none", "hermitian"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_dense_vectors(rng, symmetry, dtype):
    a = random(rng, rows, rows, dtype)
    a = a + a.conj().T if symmetry == "hermitian" else a
    m = BlockMatrix.from_dense(a, rows, symmetry=symmetry)
    x = rng.standard_normal((10, 3))
    close(m @ x, a @ x)
    close(m @ x[:, 0], a @ x[:, 0])
    close(x.T @ m, x.T @ a)
    close(x[:, 1] @ m, x[:, 1] @ a)
    close(m @ (x + 1j), a @ (x + 1j))
    with pytest.raises(tessera.InvalidArgument):
        m @ np.ones(9)


@pytest.mark.parametrize("op_a", ["N", "T", "C"])
@pytest.mark.parametrize("op_b", ["N", "T", "C"])
def test_products_of_transposes(rng, op_a, op_b):
    ops = {"N": lambda x: x, "T": lambda x: x.T, "C": lambda x: x.conj().T}
    left = (rows, inner) if op_a == "N" else (inner, rows)
    right = (inner, cols) if op_b == "N" else (cols, inner)
    a, b = random(rng, *left, complex), random(rng, *right, complex)
    c = tessera.multiply(
        BlockMatrix.from_dense(a, *left), BlockMatrix.from_dense(b, *right), op_a=op_a, op_b=op_b, alpha=2 - 1j
    )
    close(c, (2 - 1j) * ops[op_a](a) @ ops[op_b](b))


def test_filtered_product():
    m = BlockMatrix.random([8] * 40, occupation=0.3, seed=5)
    decay = BlockMatrix.from_blocks({(i, j): block * np.exp(-abs(i - j)) for i, j, block in m.blocks()}, [8] * 40)
    exact = decay.to_dense() @ decay.to_dense()
    full, everything = tessera.multiply(decay, decay, full_output=True)
    close(full, exact)
    eps = 1e-4
    c, info = tessera.multiply(decay, decay, filter=eps, full_output=True)
    assert info.filtered_products > 0 and info.products < everything.products and info.flop < everything.flop
    assert c.stored_blocks < full.stored_blocks
    error = (c - full).norm()
    assert 0 < error < 2 * eps * 40
    for i, j, block in c.filter(1e-2).blocks():
        assert np.linalg.norm(block) >= 1e-2, (i, j)


def test_symmetric_product(rng):
    a = random(rng, rows, inner)
    m = BlockMatrix.from_dense(a, rows, inner)
    c = tessera.multiply(m, m, op_b="T", symmetry="symmetric")
    assert c.symmetry == "symmetric"
    close(c, a @ a.T)


def test_random():
    m = BlockMatrix.random([5] * 30, occupation=0.2, symmetry="hermitian", dtype=np.complex64, seed=3)
    a = m.to_dense()
    np.testing.assert_array_equal(a, a.conj().T)
    assert 0.1 < m.occupation < 0.35
    same = BlockMatrix.random([5] * 30, occupation=0.2, symmetry="hermitian", dtype=np.complex64, seed=3)
    np.testing.assert_array_equal(same.to_dense(), a)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BlockMatrix.from_dense(np.eye(4), [2, 3]),
        lambda: BlockMatrix.from_dense(np.eye(4), 0),
        lambda: BlockMatrix.from_dense(np.ones(4), 2),
        lambda: BlockMatrix.from_dense(np.eye(4), 2, symmetry="odd"),
        lambda: BlockMatrix.from_dense(np.ones((4, 6)), 2, symmetry="symmetric"),
        lambda: BlockMatrix.from_scipy(np.eye(4), 2),
        lambda: BlockMatrix.from_scipy(scipy.sparse.eye(4, format="csr")),
        lambda: BlockMatrix.from_blocks({(0, 0): np.eye(3)}, [2]),
        lambda: BlockMatrix.from_blocks({(0, 1): np.eye(2)}, [2]),
        lambda: BlockMatrix.from_blocks({(0, 0): 1j * np.eye(2)}, [2], dtype=np.float64),
        lambda: BlockMatrix.random([2] * 3, occupation=2),
        lambda: tessera.multiply(BlockMatrix.random([2] * 3), BlockMatrix.random([3] * 2)),
        lambda: tessera.multiply(BlockMatrix.random([2]), BlockMatrix.random([2]), filter=-1),
        lambda: tessera.multiply(BlockMatrix.random([2]), BlockMatrix.random([2]), op_a="X"),
        lambda: BlockMatrix.random([2]) + BlockMatrix.random([1, 1]),
        lambda: BlockMatrix.random([2]).norm("two"),
    ],
)
def test_bad_arguments(make):
    with pytest.raises(tessera.InvalidArgument):
        make()


def test_other_operands():
    m = BlockMatrix.random([2])
    for operation in (lambda: m + 1, lambda: m - np.eye(2), lambda: BlockMatrix(3), lambda: m.dot(3)):
        with pytest.raises(TypeError):
            operation()
    assert "2 x 2" in repr(m)


def test_generators():
    system = tessera.matgen.water(4, blocks=[4, 1, 1])
    h, s = system.hamiltonian.to_dense(), system.overlap.to_dense()
    assert h.shape == (24, 24) and system.electrons == 32 and system.unit_positions.shape == (4, 3)
    w = np.linalg.eigvalsh(s)
    assert w[0] >= system.overlap_bound
    lap = tessera.matgen.sparse("laplacian2d:5:4").toarray()
    np.testing.assert_array_equal(lap, lap.T)
    assert np.abs(tessera.matgen.dense("frank", 6) - tessera.matgen.dense("frank", 6).T).max() == 0
    assert {"water"} <= tessera.matgen.system_kinds().keys() and "frank" in tessera.matgen.dense_kinds()
    assert tessera.matgen.sparse_kinds()
