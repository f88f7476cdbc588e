# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""A few eigenpairs of sparse matrices and operators: LOBPCG."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Callable, Optional, Union

import numpy as np
import scipy.sparse

from . import _core
from ._arrays import host_array, scalar_type
from ._errors import InvalidArgument, Status, raise_for

__all__ = ["LobpcgResult", "eigsh", "lobpcg"]

most = 32  # vectors of a block


@dataclasses.dataclass(frozen=True)
class LobpcgResult:
    """Eigenpairs, and how they were found.

    Attributes
    ----------
    values : ndarray, shape (k,)
        From the wanted end.
    vectors : ndarray, shape (n, k)
        Their vectors.
    residuals : ndarray, shape (k,)
        ``||A x - w B x||``, computed afresh.
    scaled_residuals : ndarray, shape (k,)
        The same over what the tolerance is compared with.
    converged, iterations, restarts, multiplications, columns_multiplied : int
        Pairs that have converged, iterations, restarts among them, calls of A and columns that it was applied to.
    history : list of dict
        A line for each iteration, of this solve alone.
    iterations_before : int
        Of the iterations, those before the checkpoint that the solve has gone on from.
    checkpoints : int
        Written.
    checkpoint_failure : str
        Why the last one could not be written; empty: it could.
    status : Status
        How it has ended.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    scaled_residuals: np.ndarray
    converged: int
    iterations: int
    restarts: int
    multiplications: int
    columns_multiplied: int
    history: list[dict[str, Any]]
    iterations_before: int
    checkpoints: int
    checkpoint_failure: str
    status: Status


def _dtype_of(a: Any) -> np.dtype:
    dtype = getattr(a, "dtype", None)
    return np.dtype("f8") if dtype is None else scalar_type(dtype)


def _require_square(shape: tuple[int, ...], name: str, n: Optional[int]) -> int:
    if len(shape) != 2 or shape[0] != shape[1] or (n is not None and shape[0] != n):
        expected = "a square matrix" if n is None else f"{n} x {n}"
        text = " x ".join(map(str, shape))
        raise InvalidArgument(f"{name}: {text}, expected {expected}", name, text, expected)
    return shape[0]


def _lower_triangle(a: Any, name: str, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lower triangle of a symmetric or Hermitian sparse matrix, in compressed rows of float64 or complex128."""
    kind = "Hermitian" if dtype.kind == "c" else "symmetric"
    csr = scipy.sparse.csr_matrix(a)
    csr.sum_duplicates()
    size = abs(csr).max() if csr.nnz else 0.0
    bound = 16 * np.finfo(dtype).eps * size
    difference = csr - csr.conj().T
    if difference.nnz and abs(difference).max() > bound:
        raise InvalidArgument(f"{name}: not {kind}, expected a {kind} matrix", name, f"not {kind}", kind)
    lower = scipy.sparse.csr_matrix(scipy.sparse.tril(csr), dtype=np.complex128 if dtype.kind == "c" else np.float64)
    if dtype.kind == "c":  # what rounding has left of the diagonal's imaginary part
        rows = np.repeat(np.arange(lower.shape[0]), np.diff(lower.indptr))
        diagonal = rows == lower.indices
        lower.data[diagonal] = lower.data[diagonal].real
    return (
        np.ascontiguousarray(lower.indptr, dtype=np.int64),
        np.ascontiguousarray(lower.indices, dtype=np.int64),
        np.ascontiguousarray(lower.data),
    )


def _block_function(a: Any, name: str, dtype: np.dtype) -> Callable[[np.ndarray], np.ndarray]:
    """A function of blocks of vectors, of a matrix, a LinearOperator or a function."""
    if hasattr(a, "matmat"):
        product = a.matmat
    elif scipy.sparse.issparse(a) or isinstance(a, np.ndarray):
        product = a.__matmul__
    elif callable(a):
        product = a
    else:
        raise InvalidArgument(f"{name}: {type(a).__name__}, expected a matrix, an operator or a function", name)

    def apply(x: np.ndarray) -> np.ndarray:
        y = np.asarray(product(x))
        if y.dtype.kind == "c" and dtype.kind != "c":
            raise InvalidArgument(f"{name}: complex, expected real, as A and B are", name, "complex", "real")
        return y.astype(dtype, copy=False)

    return apply


def _operator(a: Any, name: str, n: Optional[int], dtype: np.dtype, stored: bool) -> tuple[Any, Optional[int]]:
    """What the library takes (arrays, or a function), and the order where it is known."""
    shape = getattr(a, "shape", None)
    if shape is not None:
        n = _require_square(tuple(shape), name, n)
    if scipy.sparse.issparse(a) and stored:
        return _lower_triangle(a, name, dtype), n
    if dtype.kind != "c" and getattr(getattr(a, "dtype", None), "kind", "f") == "c":
        raise InvalidArgument(f"{name}: complex, expected real, as A and B are", name, "complex", "real")
    return _block_function(a, name, dtype), n


def _vectors(x: Any, name: str, n: int, dtype: np.dtype) -> np.ndarray:
    array = host_array(x, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[0] != n:
        raise InvalidArgument(f"{name}: shape {array.shape}, expected ({n}, k)", name, str(array.shape), f"({n}, k)")
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidArgument(f"{name}: complex, expected real, as A and B are", name, "complex", "real")
    return np.ascontiguousarray(array, dtype=dtype)


def _path(given: Any) -> str:
    return "" if given is None else os.fspath(given)


def _solve(
    a: Any,
    k: int,
    b: Any,
    m: Any,
    x: Any,
    y: Any,
    largest: bool,
    tol: float,
    maxiter: int,
    method: str,
    block: int,
    basis: int,
    norm: str,
    shift: Optional[float],
    seed: int,
    monitor: Any,
    checkpoint: Any = None,
    checkpoint_iterations: int = 0,
    checkpoint_seconds: float = 600.0,
    resume: Any = None,
) -> LobpcgResult:
    if not (scipy.sparse.issparse(a) or callable(a) or hasattr(a, "matmat")):
        a = host_array(a, "A")
    if b is not None and not (scipy.sparse.issparse(b) or callable(b) or hasattr(b, "matmat")):
        b = host_array(b, "B")
    kinds = [_dtype_of(a)] + ([_dtype_of(b)] if b is not None else [])
    if x is not None and getattr(a, "dtype", None) is None:
        kinds = [scalar_type(host_array(x, "X").dtype)]
    dtype = scalar_type(*kinds)
    given = getattr(a, "shape", None)
    n = int(given[0]) if given is not None else None
    if n is None and x is not None:
        n = host_array(x, "X").shape[0]
    if n is None:
        raise InvalidArgument("X: none, expected start vectors where A is a function: they tell the order", "X", "none")
    first, _ = _operator(a, "A", n, dtype, True)
    second = None if b is None else _operator(b, "B", n, dtype, isinstance(first, tuple))[0]
    built_in, function = "none", None
    if isinstance(m, str):
        built_in = m
    elif m is not None:
        built_in = "function"
        function, _ = _operator(m if not isinstance(m, (list, tuple)) else host_array(m, "M"), "M", n, dtype, False)
    guess = None if x is None else _vectors(x, "X", n, dtype)
    fixed = None if y is None else _vectors(y, "Y", n, dtype)
    if block == 0 and guess is not None and method == "lobpcg" and k <= most:
        block = max(guess.shape[1], min(k + max(2, k // 2), most, n // 3))
    d = _core.lobpcg(
        {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}[f"{dtype.kind}{dtype.itemsize}"], n, first, second, built_in, function, shift, guess, fixed,
        int(k), method, int(block), int(basis), bool(largest), float(tol), norm, int(maxiter), int(seed), monitor,
        _path(checkpoint), int(checkpoint_iterations), float(checkpoint_seconds), _path(resume),
    )  # fmt: skip
    d["vectors"] = d["vectors"].reshape(n, -1)[:, : len(d["values"])]
    d["values"] = d["values"].astype(np.empty(0, dtype).real.dtype, copy=False)
    result = LobpcgResult(**d)
    raise_for(result.status, result)
    return result


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    X: Any = None,
    *,
    B: Any = None,
    largest: bool = False,
    tol: float = 0.0,
    maxiter: int = 500,
    method: str = "lobpcg",
    block: int = 0,
    basis: int = 0,
    norm: str = "backward",
    shift: Optional[float] = None,
    seed: int = 1,
    return_eigenvectors: bool = True,
    full_output: bool = False,
    monitor: Optional[Callable[[dict[str, Any]], Optional[bool]]] = None,
    checkpoint: Union[str, os.PathLike, None] = None,
    checkpoint_iterations: int = 0,
    checkpoint_seconds: float = 600.0,
    resume: Union[str, os.PathLike, None] = None,
) -> Any:
    """The `k` smallest or largest eigenvalues of a sparse symmetric or Hermitian matrix or operator, and their vectors.

    By LOBPCG, generalized Davidson or block Lanczos with a random start. In contrast to `scipy.sparse.linalg.eigsh`,
    `M` is a preconditioner, and `B` the matrix of a generalized problem.

    Parameters
    ----------
    A : scipy.sparse matrix, array_like, LinearOperator or callable, shape (n, n)
        Real symmetric or complex Hermitian. Eigenvalues are real, vectors are complex if A or B is. A sparse matrix is stored by the library, and multiplied by all workers. The others are called
        with blocks of vectors, shape (n, m), and return the product.
    k : int, optional
        Wanted pairs, at most n / 5. More than 32 are found in groups, each beside those found before, except by
        Lanczos.
    M : str, matrix, LinearOperator or callable, optional
        A preconditioner: an approximate inverse of A. ``'jacobi'``, ``'fom'`` and ``'chebyshev'`` are the library's
        own, the first two for sparse matrices.
    X : array_like, shape (n, m), optional
        Start vectors, as many as a block has or k; they tell the order where A is a function, and its dtype.
    B : the same as A, optional
        Symmetric or Hermitian, positive definite: ``A x = w B x``.
    largest : bool, optional
        The largest eigenvalues instead of the smallest.
    tol : float, optional
        Of the residuals; 0: 1e-8, in float32 and complex64 1e-4.
    maxiter : int, optional
        Iterations at most.
    method : {'lobpcg', 'gd', 'lanczos', 'auto'}, optional
        LOBPCG; generalized Davidson (GD+k), which keeps a basis of many columns and needs fewer products; block Lanczos
        with thick restarts, which has the fewest of many pairs, without `B` and `M`; or the one that costs less.
    block : int, optional
        LOBPCG: vectors of the block, at most 32; 0: k and some guard vectors. Otherwise the columns that A is applied
        to at once; 0: k, at most 8 (Lanczos: 4).
    basis : int, optional
        Columns of the basis at most, not with LOBPCG; 0: 64 or more (Lanczos: 2 k + 32).
    norm : {'backward', 'relative', 'absolute'}, optional
        A pair has converged if ``||r|| <= tol (||A|| + |w| ||B||) ||x||``, ``tol |w| ||x||`` or ``tol ||x||``.
    shift : float, optional
        Of the library's preconditioners; None: chosen beyond the wanted end.
    seed : int, optional
        Of the random start.
    return_eigenvectors, full_output : bool, optional
        What is returned.
    monitor : callable, optional
        Called after each iteration with a dict (``iteration``, ``values``, ``residuals``, ``converged``, ...); False
        stops.
    checkpoint : path, optional
        A file (HDF5) that is written from time to time, and where the monitor stops or `maxiter` is reached, for
        `resume`.
    checkpoint_iterations, checkpoint_seconds : int, float, optional
        It is written after so many iterations, or so many seconds; 0: by the other one alone.
    resume : path, optional
        A checkpoint of the same problem, `k`, end and dtype to go on from, instead of `X`; `maxiter` counts from there.

    Returns
    -------
    w : ndarray, shape (k,)
        Ascending.
    v : ndarray, shape (n, k)
        With `return_eigenvectors`; ``v^H B v = 1``.
    result : LobpcgResult
        Alone, with `full_output`; its pairs are in the order of `lobpcg`.

    Raises
    ------
    InvalidArgument
        For sizes and types that do not fit, and a sparse matrix that is not symmetric or Hermitian.
    ConvergenceError
        Without convergence, with the best pairs that there are.
    LinAlgError
        For NaN or infinity from A, B or M.
    """
    result = _solve(A, k, B, M, X, None, largest, tol, maxiter, method, block, basis, norm, shift, seed, monitor,
                    checkpoint, checkpoint_iterations, checkpoint_seconds, resume)  # fmt: skip
    if full_output:
        return result
    order = np.argsort(result.values, kind="stable")
    w = result.values[order]
    return (w, result.vectors[:, order]) if return_eigenvectors else w


def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    *,
    tol: float = 0.0,
    maxiter: int = 500,
    largest: bool = True,
    norm: str = "backward",
    shift: Optional[float] = None,
    seed: int = 1,
    full_output: bool = False,
    monitor: Optional[Callable[[dict[str, Any]], Optional[bool]]] = None,
) -> Any:
    """As many eigenpairs as there are start vectors, as `scipy.sparse.linalg.lobpcg`.

    Parameters
    ----------
    A, B, M : see `eigsh`
        The matrix, that of a generalized problem, and a preconditioner.
    X : array_like, shape (n, k)
        Start vectors; k at most n / 5.
    Y : array_like, shape (n, m), optional
        Constraints: the vectors that are found are B-orthogonal to them.
    tol, maxiter, norm, shift, seed, monitor : see `eigsh`
        As there.
    largest : bool, optional
        The largest eigenvalues, else the smallest.
    full_output : bool, optional
        A `LobpcgResult` is returned.

    Returns
    -------
    w : ndarray, shape (k,)
        From the wanted end: descending for the largest, ascending for the smallest.
    v : ndarray, shape (n, k)
    result : LobpcgResult
        Alone, with `full_output`.

    Raises
    ------
    InvalidArgument, ConvergenceError, LinAlgError
        As `eigsh`.
    """
    start = host_array(X, "X")
    k = 1 if start.ndim == 1 else start.shape[1]
    result = _solve(A, k, B, M, start, Y, largest, tol, maxiter, "lobpcg", 0, 0, norm, shift, seed, monitor)
    return result if full_output else (result.values, result.vectors)
