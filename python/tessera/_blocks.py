# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Block-sparse matrices."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np
import scipy.sparse

from . import _core
from ._arrays import Sizes, block_sizes, dtypes, host_array, letter_of, scalar_type
from ._errors import InvalidArgument, raise_for

__all__ = ["BlockMatrix", "ProductInfo", "multiply"]


@dataclasses.dataclass(frozen=True)
class ProductInfo:
    """What a product did.

    Attributes
    ----------
    products : int
        Products of blocks.
    flop : float
        Their floating-point operations.
    filtered_products : int
        Products of blocks that the filter has skipped.
    filtered_blocks : int
        Blocks, not zero, that the filter has dropped afterwards.
    seconds : float
        All, from the call to its end.
    """

    products: int
    flop: float
    filtered_products: int
    filtered_blocks: int
    seconds: float


class BlockMatrix:
    """A matrix cut into blocks of given sizes, of which only some are stored.

    Make one by `from_dense`, `from_scipy`, `from_blocks` or `random`. A matrix does not change: operations return new
    ones. It belongs to the Runtime under which it was made.

    With a ``symmetry`` (``symmetric``, ``antisymmetric``, ``hermitian``) only the blocks (i, j) with i >= j are stored.
    Sums and products with ``+``, ``-``, ``*`` and ``@`` are exact; `multiply` takes a filter.

    Notes
    -----
    With several ranks all operations are collective. Every rank gives the same arguments.
    """

    __slots__ = ("_m",)
    __array_priority__ = 1000.0
    __array_ufunc__ = None  # so that ndarray @ BlockMatrix comes to __rmatmul__

    def __init__(self, matrix: Any) -> None:
        if not isinstance(matrix, _core.Matrix):
            raise TypeError("make a BlockMatrix by from_dense, from_scipy, from_blocks or random")
        self._m = matrix

    # ---- made of arrays ------------------------------------------------------------------------------------------
    @classmethod
    def from_dense(
        cls,
        a: Any,
        row_sizes: Sizes,
        col_sizes: Optional[Sizes] = None,
        *,
        symmetry: str = "none",
        threshold: float = 0.0,
    ) -> BlockMatrix:
        """The blocks of a dense matrix that have an element with modulus above a threshold.

        Parameters
        ----------
        a : array_like, shape (m, n)
            The matrix. Integers become float64.
        row_sizes : int or sequence of int
            Sizes of the blocks along the rows; a number: blocks of that size, the last one cut to fit.
        col_sizes : int or sequence of int, optional
            The same along the columns; None: as along the rows.
        symmetry : str, optional
            ``none``, ``symmetric``, ``antisymmetric`` or ``hermitian``: what is stored. Then the lower half counts.
        threshold : float, optional
            Negative: all blocks are stored.

        Raises
        ------
        InvalidArgument
            For sizes that do not fit, and an unknown symmetry.
        """
        array = host_array(a, "a")
        if array.ndim != 2:
            raise InvalidArgument(f"a: {array.ndim} dimensions, expected 2", "a", str(array.ndim), "2")
        array = np.asfortranarray(array, dtype=scalar_type(array.dtype))
        rows = block_sizes(row_sizes, array.shape[0], "row_sizes")
        cols = rows if col_sizes is None else block_sizes(col_sizes, array.shape[1], "col_sizes")
        return cls(_core.from_dense(array, rows, cols, symmetry, float(threshold)))

    @classmethod
    def from_scipy(
        cls,
        a: Any,
        row_sizes: Optional[Sizes] = None,
        col_sizes: Optional[Sizes] = None,
        *,
        symmetry: str = "none",
    ) -> BlockMatrix:
        """A matrix or array of scipy.sparse.

        Parameters
        ----------
        a : scipy.sparse matrix or array, shape (m, n)
            Of any format. Entries given twice are added.
        row_sizes, col_sizes : int or sequence of int, optional
            As in `from_dense`. They may be left out for the format BSR, which has blocks of its own.
        symmetry : str, optional
            As in `from_dense`; with one the lower triangle counts.
        """
        if not scipy.sparse.issparse(a):
            raise InvalidArgument(f"a: {type(a).__name__}, expected a sparse matrix of SciPy", "a", type(a).__name__)
        if row_sizes is None and a.format == "bsr":
            return cls._from_bsr(a, symmetry)
        if row_sizes is None:
            raise InvalidArgument("row_sizes: none, expected the sizes of blocks", "row_sizes", "none", "sizes")
        rows = block_sizes(row_sizes, a.shape[0], "row_sizes")
        cols = rows if col_sizes is None else block_sizes(col_sizes, a.shape[1], "col_sizes")
        csr = scipy.sparse.csr_matrix(a)
        csr.sum_duplicates()
        if symmetry != "none":
            csr = scipy.sparse.csr_matrix(scipy.sparse.tril(csr))
        values = np.ascontiguousarray(csr.data, dtype=scalar_type(csr.dtype))
        begins, columns = (np.ascontiguousarray(x, dtype=np.int64) for x in (csr.indptr, csr.indices))
        return cls(_core.from_rows(begins, columns, values, rows, cols, symmetry))

    @classmethod
    def _from_bsr(cls, a: Any, symmetry: str) -> BlockMatrix:
        height, width = a.blocksize
        values = np.asarray(a.data, dtype=scalar_type(a.dtype))
        rows = np.repeat(np.arange(len(a.indptr) - 1, dtype=np.int64), np.diff(a.indptr))
        cols = np.asarray(a.indices, dtype=np.int64)
        if symmetry != "none":
            lower = rows >= cols
            rows, cols, values = rows[lower], cols[lower], values[lower]
        flat = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1)
        sizes = (np.full(n // s, s, dtype=np.int64) for n, s in zip(a.shape, (height, width)))
        return cls(_core.from_blocks(flat, np.ascontiguousarray(rows), np.ascontiguousarray(cols), *sizes, symmetry))

    @classmethod
    def from_blocks(
        cls,
        blocks: Mapping[tuple[int, int], Any],
        row_sizes: Sequence[int],
        col_sizes: Optional[Sequence[int]] = None,
        *,
        symmetry: str = "none",
        dtype: Any = None,
    ) -> BlockMatrix:
        """A matrix of given blocks.

        Parameters
        ----------
        blocks : mapping
            ``{(i, j): block}`` with the numbers of block row and block column. In a half-stored matrix a block above
            the diagonal stands for its mirror image.
        row_sizes, col_sizes : sequence of int
            Sizes of all blocks; without `col_sizes` the rows' sizes.
        symmetry : str, optional
            As in `from_dense`.
        dtype : dtype, optional
            None: that of the blocks together.
        """
        rows = block_sizes(row_sizes, None, "row_sizes")
        cols = rows if col_sizes is None else block_sizes(col_sizes, None, "col_sizes")
        arrays = {key: host_array(block, "blocks") for key, block in blocks.items()}
        kind = scalar_type(*(x.dtype for x in arrays.values())) if arrays else np.dtype("f8")
        if dtype is not None:
            wanted = scalar_type(np.dtype(dtype))
            if kind.kind == "c" and wanted.kind != "c":
                raise InvalidArgument(
                    "dtype: real, expected complex for complex blocks", "dtype", str(wanted), "complex"
                )
            kind = wanted
        for (i, j), block in arrays.items():
            if not (0 <= i < len(rows) and 0 <= j < len(cols)):
                raise InvalidArgument(f"blocks: ({i}, {j}), expected a block of the matrix", "blocks", f"({i}, {j})")
            if block.shape != (rows[i], cols[j]):
                text = f"blocks: ({i}, {j}) of shape {block.shape}, expected {(int(rows[i]), int(cols[j]))}"
                raise InvalidArgument(text, "blocks", str(block.shape), str((int(rows[i]), int(cols[j]))))
        keys = np.array(list(arrays), dtype=np.int64).reshape(-1, 2)
        flat = [np.asarray(block, dtype=kind).reshape(-1, order="F") for block in arrays.values()]
        values = np.concatenate(flat) if flat else np.empty(0, dtype=kind)
        numbers = (np.ascontiguousarray(keys[:, 0]), np.ascontiguousarray(keys[:, 1]))
        return cls(_core.from_blocks(values, *numbers, rows, cols, symmetry))

    @classmethod
    def random(
        cls,
        row_sizes: Sequence[int],
        col_sizes: Optional[Sequence[int]] = None,
        *,
        occupation: float = 0.1,
        symmetry: str = "none",
        dtype: Any = np.float64,
        seed: int = 1,
    ) -> BlockMatrix:
        """Random blocks, each stored with the probability `occupation`, those on the diagonal always.

        Parameters
        ----------
        row_sizes, col_sizes : sequence of int
            Sizes of all blocks; without `col_sizes` the rows' sizes.
        occupation : float, optional
            From 0 to 1.
        symmetry, dtype, seed : optional
            What is stored, of which type, and the seed. Elements are uniform in [-1, 1).
        """
        rows = block_sizes(row_sizes, None, "row_sizes")
        cols = rows if col_sizes is None else block_sizes(col_sizes, None, "col_sizes")
        return cls(_core.random_matrix(letter_of(dtype), rows, cols, float(occupation), symmetry, int(seed)))

    # ---- what it is ----------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of elements."""
        return self._m.shape

    @property
    def block_shape(self) -> tuple[int, int]:
        """Rows and columns of blocks."""
        return self._m.block_shape

    @property
    def row_sizes(self) -> np.ndarray:
        """Sizes of the blocks along the rows."""
        return _core.block_sizes(self._m)[0]

    @property
    def col_sizes(self) -> np.ndarray:
        """Sizes of the blocks along the columns."""
        return _core.block_sizes(self._m)[1]

    @property
    def dtype(self) -> np.dtype:
        """float32, float64, complex64 or complex128."""
        return dtypes[self._m.letter]

    @property
    def symmetry(self) -> str:
        """``none``, or of which symmetry the lower half is stored."""
        return self._m.symmetry

    @property
    def stored_blocks(self) -> int:
        """Number of stored blocks."""
        return self._m.stored_blocks

    @property
    def occupation(self) -> float:
        """Share of the elements that are in stored blocks, both halves counted."""
        return _core.occupation(self._m)

    def __repr__(self) -> str:
        if self._m.closed:
            return "<tessera.BlockMatrix, gone with its Runtime>"
        (m, n), (p, q) = self.shape, self.block_shape
        half = "" if self.symmetry == "none" else f", {self.symmetry}"
        return f"<tessera.BlockMatrix {m} x {n} of {self.dtype}{half}: {self.stored_blocks} of {p} x {q} blocks>"

    # ---- out of it -----------------------------------------------------------------------------------------------
    def to_dense(self) -> np.ndarray:
        """The whole matrix as an array in Fortran order, both halves, on every rank.

        Returns
        -------
        ndarray, shape (m, n)
        """
        return _core.to_dense(self._m)

    def to_scipy(self, threshold: float = -1.0) -> scipy.sparse.csr_matrix:
        """The matrix in compressed rows, both halves.

        Parameters
        ----------
        threshold : float, optional
            Elements with a modulus above it; negative: all of the stored blocks.

        Returns
        -------
        scipy.sparse.csr_matrix, shape (m, n)
            On several ranks each has some rows, the others are empty there.
        """
        begins, columns, values = _core.to_rows(self._m, float(threshold))
        return scipy.sparse.csr_matrix((values, columns, begins), shape=self.shape)

    def blocks(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """The stored blocks of this rank, as ``(i, j, block)``."""
        rows, cols, values = _core.to_blocks(self._m)
        heights, widths = _core.block_sizes(self._m)
        at = 0
        for i, j in zip(rows.tolist(), cols.tolist()):
            m, n = int(heights[i]), int(widths[j])
            yield i, j, values[at : at + m * n].reshape((m, n), order="F")
            at += m * n

    def astype(self, dtype: Any) -> BlockMatrix:
        """The matrix with elements of another type.

        Raises
        ------
        InvalidArgument
            From complex to real numbers.
        """
        kind = scalar_type(np.dtype(dtype))
        if kind == self.dtype:
            return self
        if self.dtype.kind == "c" and kind.kind != "c":
            raise InvalidArgument(
                "dtype: real, expected a complex one for a complex matrix", "dtype", str(kind), "complex"
            )
        rows, cols, values = _core.to_blocks(self._m)
        heights, widths = _core.block_sizes(self._m)
        symmetry = self.symmetry
        if symmetry == "symmetric" and kind.kind == "c" and self.dtype.kind != "c":
            symmetry = "hermitian"  # of real numbers the two are one
        return BlockMatrix(_core.from_blocks(values.astype(kind), rows, cols, heights, widths, symmetry))

    # ---- algebra -------------------------------------------------------------------------------------------------
    @property
    def T(self) -> BlockMatrix:
        """The transpose."""
        return BlockMatrix(_core.transposed(self._m, False))

    @property
    def H(self) -> BlockMatrix:
        """The conjugate of the transpose."""
        return BlockMatrix(_core.transposed(self._m, True))

    def trace(self) -> Any:
        """The sum of the diagonal; a real number for a real matrix."""
        return self._number(_core.trace(self._m))

    def dot(self, other: BlockMatrix) -> Any:
        """trace(A^H B): the sum of ``conj(A_ij) B_ij``."""
        a, b = _same_type(self, other)
        return a._number(_core.dot(a._m, b._m))

    def diagonal(self) -> np.ndarray:
        """The diagonal, shape (min(m, n),); zero where no block is stored."""
        return _core.diagonal(self._m)

    def norm(self, kind: str = "fro") -> float:
        """A norm.

        Parameters
        ----------
        kind : {'fro', 'max', 'inf'}, optional
            Of Frobenius; the largest modulus of an element; the largest sum of moduli of a row.
        """
        norms = {"fro": _core.frobenius_norm, "max": _core.max_abs_norm, "inf": _core.gershgorin_norm}
        if kind not in norms:
            raise InvalidArgument(f"kind: {kind}, expected fro, max or inf", "kind", str(kind), "fro, max or inf")
        return norms[kind](self._m)

    def filter(self, eps: float) -> BlockMatrix:
        """The matrix without the blocks whose norm of Frobenius is below `eps`."""
        return BlockMatrix(_core.filtered(self._m, float(eps)))

    def add_identity(self, alpha: complex = 1.0) -> BlockMatrix:
        """A + alpha I of a square matrix."""
        return BlockMatrix(_core.shifted(self._m, alpha))

    def desymmetrize(self) -> BlockMatrix:
        """The same matrix with both halves stored."""
        return BlockMatrix(_core.desymmetrized(self._m))

    def half(self, symmetry: str) -> BlockMatrix:
        """The lower half of a matrix that has a symmetry, half-stored; the upper half is not looked at."""
        return BlockMatrix(_core.half_stored(self._m, symmetry))

    def __add__(self, other: Any) -> BlockMatrix:
        return _sum(self, 1.0, other, 1.0)

    def __sub__(self, other: Any) -> BlockMatrix:
        return _sum(self, 1.0, other, -1.0)

    def __neg__(self) -> BlockMatrix:
        return BlockMatrix(_core.scaled(-1.0, self._m))

    def __mul__(self, factor: Any) -> BlockMatrix:
        if not np.isscalar(factor) and np.ndim(factor) != 0:
            return NotImplemented
        factor = complex(factor)
        matrix = self
        if factor.imag != 0 and self.dtype.kind != "c":
            matrix = self.astype(np.result_type(self.dtype, np.complex64))
        return BlockMatrix(_core.scaled(factor, matrix._m))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> BlockMatrix:
        return self * (1 / divisor)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, BlockMatrix):
            return multiply(self, other)
        return self._times(other, "N")

    def __rmatmul__(self, other: Any) -> np.ndarray:
        array = host_array(other, "x")
        if array.ndim not in (1, 2):
            raise InvalidArgument(f"x: {array.ndim} dimensions, expected 1 or 2", "x", str(array.ndim), "1 or 2")
        return self._times(array.T, "T").T

    def _times(self, x: Any, op: str) -> np.ndarray:
        """op(A) x for a dense vector or matrix."""
        x = host_array(x, "x")
        if x.ndim not in (1, 2):
            raise InvalidArgument(f"x: {x.ndim} dimensions, expected 1 or 2", "x", str(x.ndim), "1 or 2")
        kind = scalar_type(self.dtype, x.dtype)
        columns = np.asfortranarray(x.reshape(len(x), -1) if x.ndim == 1 else x, dtype=kind)
        y = _core.multiply_dense(self.astype(kind)._m, op, columns)
        return y[:, 0] if x.ndim == 1 else y

    def _number(self, x: complex) -> Any:
        return x if self.dtype.kind == "c" else x.real


def _same_type(a: BlockMatrix, b: Any) -> tuple[BlockMatrix, BlockMatrix]:
    if not isinstance(b, BlockMatrix):
        raise TypeError(f"expected a BlockMatrix, not {type(b).__name__}")
    kind = scalar_type(a.dtype, b.dtype)
    return a.astype(kind), b.astype(kind)


def _sum(a: BlockMatrix, alpha: complex, b: Any, beta: complex) -> BlockMatrix:
    if not isinstance(b, BlockMatrix):
        return NotImplemented
    a, b = _same_type(a, b)
    return BlockMatrix(_core.add(alpha, a._m, beta, b._m))


def multiply(
    a: BlockMatrix,
    b: BlockMatrix,
    *,
    filter: float = 0.0,
    alpha: complex = 1.0,
    op_a: str = "N",
    op_b: str = "N",
    symmetry: str = "none",
    full_output: bool = False,
) -> Any:
    """``alpha op(A) op(B)`` with a filter that keeps the product sparse.

    Parameters
    ----------
    a, b : BlockMatrix
        Of fitting block sizes; any symmetry.
    filter : float, optional
        A product of blocks is skipped if ``|alpha| ||A_ik|| ||B_kj|| < filter / blocks in row i of op(A)``, then blocks
        with ``||C_ij|| < filter`` are dropped, in norms of Frobenius. 0: no filter.
    alpha : complex, optional
        A factor.
    op_a, op_b : {'N', 'T', 'C'}, optional
        As they are, transposed, or transposed and conjugated.
    symmetry : str, optional
        Of the product, if it has one: only its lower half is computed and stored.
    full_output : bool, optional
        A `ProductInfo` is returned, too.

    Returns
    -------
    c : BlockMatrix
    info : ProductInfo
        With `full_output`.

    Raises
    ------
    InvalidArgument
        For block sizes that do not fit, and a filter that is negative or no number.
    """
    a, b = _same_type(a, b)
    status, c, numbers = _core.multiply(alpha, a._m, op_a, b._m, op_b, symmetry, float(filter))
    raise_for(status)
    product = BlockMatrix(c)
    return (product, ProductInfo(**numbers)) if full_output else product
