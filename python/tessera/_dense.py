# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Dense Hermitian eigenproblems."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _core
from ._arrays import device_array, host_array, library_of, on_device, scalar_type, to_library
from ._errors import InvalidArgument, raise_for

__all__ = ["eigh", "eigvalsh"]


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    subset_by_index: Optional[Sequence[int]] = None,
    subset_by_value: Optional[Sequence[float]] = None,
    solver: str = "auto",
    tile: int = 0,
    band: int = 0,
    update_width: int = 0,
    split_products: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix: ``a x = w x``, or ``a x = w b x``.

    The arguments are those of `scipy.linalg.eigh`. With more than two dimensions `a` is a stack of matrices, all of
    which are solved, as by `numpy.linalg.eigh`: many small ones at once, by all workers.

    Parameters
    ----------
    a : array_like, shape (n, n) or (..., n, n)
        Hermitian (real: symmetric), of which one triangle is read; not changed. float32, float64, complex64 and
        complex128 are computed as such, integers as float64. An array of NumPy in C or Fortran order is read in
        place, and so is one of PyTorch, CuPy or JAX, in the memory where it is (DLPack, ``__cuda_array_interface__``).
        A stack has matrices of order 2048 at most, and is read in place if these have one distance.
    b : array_like, shape (n, n), optional
        Hermitian positive definite; in the same memory as `a`. None: the identity. Not with a stack, as all that
        chooses eigenvalues or a solver.
    lower : bool, optional
        The lower triangles count, else the upper ones.
    eigvals_only : bool, optional
        No vectors.
    subset_by_index : (int, int), optional
        The first and the last wanted eigenvalue, from 0, both included.
    subset_by_value : (float, float), optional
        The eigenvalues in ``(low, high]``; infinite bounds are allowed.
    solver : {'auto', 'two_stage', 'one_stage', 'vendor'}, optional
        How the eigenvalues are found.
    tile, band, update_width : int, optional
        Sizes of the two-stage solver; 0: chosen.
    split_products : bool, optional
        On GPUs, large products in faster ways: of float32 and complex64 from operands split into two parts of half
        precision, of complex128 by three real products; as accurate by norm.

    Returns
    -------
    w : ndarray, shape (k,) or (..., n)
        Ascending. Always an array of NumPy, but for arrays of another library, which get one of theirs.
    v : ndarray, shape (n, k) or (..., n, n)
        Orthonormal columns, or ``v^H b v = 1``; not returned with `eigvals_only`. ``v[..., :, j]`` belongs to
        ``w[..., j]``.

    Raises
    ------
    InvalidArgument
        For arrays that are not square or do not fit each other, and for bad ranges (a ValueError).
    LinAlgError
        For NaN or infinity in the matrices, and a `b` that is not positive definite (a numpy.linalg.LinAlgError). The
        index of `not_finite` is the column, of an array in C order the row, from 1. Of a stack it is the number of the
        first matrix that has failed, from 1 in C order; ``result`` has what is returned else, the values of matrices
        that have failed as NaN.
    RuntimeFailure
        For too little memory (a RuntimeError).

    Notes
    -----
    On several ranks the call is collective, every rank gives the same matrix, and all get the whole result. Stacks are
    for one rank.

    Examples
    --------
    >>> w, v = tessera.eigh(a, subset_by_index=[0, 9])  # the ten lowest
    >>> w, v = tessera.eigh(stack)  # (1000, 50, 50): w is (1000, 50), v is (1000, 50, 50)
    """
    gpu = on_device(a)
    if _dimensions(a) > 2:
        _refuse_for_a_stack(b, subset_by_index, subset_by_value, solver, tile, band, update_width, split_products)
        return _stack(a, lower, not eigvals_only)
    if b is not None and on_device(b) != gpu:
        raise InvalidArgument("b: in another memory than a, expected the same", "b", "another memory", "that of a")
    if subset_by_index is not None and subset_by_value is not None:
        raise InvalidArgument("subset_by_value: given beside subset_by_index, expected one of them", "subset_by_value")
    wrap = to_library(library_of(a))
    if gpu:
        first, first_lower, second, second_lower, n, conjugate = _device_matrices(a, b, lower)
    else:
        first, first_lower, second, second_lower, n, conjugate = _host_matrices(a, b, lower)
    kind, lo, hi = _range(n, subset_by_index, subset_by_value)
    status, w, z, _, _ = _core.eigensolve(
        first,
        first_lower,
        second,
        second_lower,
        not eigvals_only,
        kind,
        lo,
        hi,
        solver,
        tile,
        band,
        update_width,
        split_products,
    )
    raise_for(status)
    if gpu:
        return _device_result(a, wrap, w, z, n, conjugate, eigvals_only)
    if conjugate and z is not None:
        np.conjugate(z, out=z)
    if wrap is None:
        return w if eigvals_only else (w, z)
    return wrap(w) if eigvals_only else (wrap(w), wrap(z.T).T)


def eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    """The eigenvalues alone: `eigh` with ``eigvals_only=True``.

    Parameters
    ----------
    a, b : array_like, shape (n, n); a also (..., n, n)
        As in `eigh`.
    **options
        Those of `eigh`.

    Returns
    -------
    w : ndarray, shape (k,) or (..., n)
        Ascending.
    """
    return eigh(a, b, eigvals_only=True, **options)


def _square(shape: tuple[int, ...], name: str) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        text = " x ".join(map(str, shape)) or "a scalar"
        raise InvalidArgument(f"{name}: {text}, expected a square matrix", name, text, "a square matrix")
    return shape[0]


def _same_order(n: int, other: int) -> None:
    if n != other:
        raise InvalidArgument(f"b: order {other}, expected that of a, {n}", "b", str(other), str(n))


def _range(n: int, by_index: Any, by_value: Any) -> tuple[str, float, float]:
    if by_index is not None:
        lo, hi = (int(x) for x in by_index)
        if not 0 <= lo <= hi < n:
            text = f"subset_by_index: [{lo}, {hi}], expected 0 <= first <= last < {n}"
            raise InvalidArgument(text, "subset_by_index", f"[{lo}, {hi}]", f"0 <= first <= last < {n}")
        return "index", lo, hi + 1
    if by_value is not None:
        above, upto = (float(x) for x in by_value)
        if not above < upto:
            text = f"subset_by_value: ({above}, {upto}], expected low < high"
            raise InvalidArgument(text, "subset_by_value", f"({above}, {upto}]", "low < high")
        if above == -np.inf and upto == np.inf:
            return "all", 0, 0
        most = float(np.finfo(np.float64).max)
        return "value", max(above, -most), min(upto, most)
    return "all", 0, 0


def _layout(a: np.ndarray) -> str:
    """F: columns without gaps, read in place; C: rows without gaps; empty: neither."""
    if a.shape[0] <= 1:
        return "F" if a.flags.f_contiguous else ""
    row, column = (s // a.itemsize for s in a.strides)
    if a.strides[0] % a.itemsize or a.strides[1] % a.itemsize or not a.flags.aligned:
        return ""
    if row == 1 and column >= a.shape[0]:
        return "F"
    return "C" if column == 1 and row >= a.shape[1] else ""


def _host_matrices(a: Any, b: Any, lower: bool) -> tuple[Any, bool, Any, bool, int, bool]:
    a = host_array(a, "a")
    n = _square(a.shape, "a")
    if b is not None:
        b = host_array(b, "b")
        _same_order(n, _square(b.shape, "b"))
    dtype = scalar_type(a.dtype) if b is None else scalar_type(a.dtype, b.dtype)
    a = a if a.dtype == dtype else a.astype(dtype)
    layout = _layout(a)
    if not layout:
        a, layout = np.asfortranarray(a), "F"
    if b is not None:
        b = b if b.dtype == dtype else b.astype(dtype)
        of_b = _layout(b)
        if not of_b or (dtype.kind == "c" and of_b != layout):  # two complex matrices are both conjugated, or none
            b, of_b = (np.asfortranarray(b) if layout == "F" else np.ascontiguousarray(b)), layout
        b, b_lower = (b, lower) if of_b == "F" else (b.T, not lower)
    else:
        b_lower = lower
    # Rows without gaps are the columns of the transpose, the conjugate of a Hermitian matrix.
    conjugate = layout == "C" and dtype.kind == "c"
    a, a_lower = (a, lower) if layout == "F" else (a.T, not lower)
    return a, a_lower, b, b_lower, n, conjugate


def _device_matrices(a: Any, b: Any, lower: bool) -> tuple[Any, bool, Any, bool, int, bool]:
    handle, letter, shape, strides = device_array(a, "a")
    n = _square(shape, "a")

    def transposed(strides: tuple[int, ...], name: str) -> bool:
        if n <= 1 or (strides[0] == 1 and strides[1] >= n):
            return False
        if strides[1] == 1 and strides[0] >= n:
            return True
        raise InvalidArgument(f"{name}: other strides, expected rows or columns without gaps", name, str(strides))

    a_transposed, b_lower, second = transposed(strides, "a"), lower, None
    if b is not None:
        second, b_letter, b_shape, b_strides = device_array(b, "b")
        _same_order(n, _square(b_shape, "b"))
        if b_letter != letter:
            raise InvalidArgument("b: another dtype, expected that of a", "b", b_letter, letter)
        b_transposed = transposed(b_strides, "b")
        if b_transposed != a_transposed and letter in "cz" and n > 1:
            raise InvalidArgument("b: another order (C, Fortran), expected that of a", "b")
        b_lower = lower != b_transposed
        second = _core.as_column_major(second, b_transposed)
    first = _core.as_column_major(handle, a_transposed)
    return first, lower != a_transposed, second, b_lower, n, a_transposed and letter in "cz"


def _dimensions(a: Any) -> int:
    if hasattr(a, "ndim"):
        return int(a.ndim)
    interface = getattr(a, "__cuda_array_interface__", None) if on_device(a) else None
    return len(interface["shape"]) if interface is not None else np.ndim(a)


def _refuse_for_a_stack(
    b: Any, by_index: Any, by_value: Any, solver: str, tile: int, band: int, update_width: int, split_products: bool
) -> None:
    given = {
        "b": b is not None,
        "subset_by_index": by_index is not None,
        "subset_by_value": by_value is not None,
        "solver": solver != "auto",
        "tile": tile != 0,
        "band": band != 0,
        "update_width": update_width != 0,
        "split_products": not split_products,
    }
    for name, is_given in given.items():
        if is_given:
            text = f"{name}: given with a stack of matrices, expected a matrix a of two dimensions"
            raise InvalidArgument(text, name, "given with a stack of matrices", "a matrix a of two dimensions")


def _stack_layout(shape: tuple[int, ...], strides: tuple[int, ...]) -> Optional[tuple[bool, int, int]]:
    """Whether the matrices have their rows without gaps (else the columns), the distance of these, and that of the
    matrices, all in elements; None for what the library does not read in place."""
    n, (row, column) = shape[-1], strides[-2:]
    if n <= 1:
        transposed, ld = False, 1
    elif row == 1 and column >= n:
        transposed, ld = False, column
    elif column == 1 and row >= n:
        transposed, ld = True, row
    else:
        return None
    distance, count = ld * n, 1
    for extent, stride in zip(shape[-3::-1], strides[-3::-1]):
        if extent == 1:
            continue
        if count == 1:
            distance = stride
        elif stride != distance * count:
            return None
        count *= extent
    return (transposed, ld, distance) if distance >= (n - 1) * ld + n else None


def _stack(a: Any, lower: bool, vectors: bool) -> Any:
    """eigh of matrices that are the last two dimensions of an array."""
    gpu, wrap = on_device(a), to_library(library_of(a))
    array: Any
    if gpu:
        array, letter, shape, strides = device_array(a, "a")
        is_complex = letter in "cz"
    else:
        array = host_array(a, "a")
        dtype = scalar_type(array.dtype)
        array = array if array.dtype == dtype else array.astype(dtype)
        shape, is_complex = array.shape, dtype.kind == "c"
        whole = array.flags.aligned and not any(s % array.itemsize for s in array.strides)
        strides = tuple(s // array.itemsize for s in array.strides) if whole else ()
    n = shape[-1]
    if shape[-2] != n:
        text = " x ".join(map(str, shape))
        raise InvalidArgument(f"a: {text}, expected square matrices", "a", text, "square matrices")
    layout: Optional[tuple[bool, int, int]]
    if 0 in shape:
        layout = (False, max(n, 1), max(n * n, 1))
    else:
        layout = _stack_layout(shape, strides) if strides else None
    if layout is None:
        if gpu:
            text = "matrices of one distance, their rows or columns without gaps"
            raise InvalidArgument(f"a: other strides, expected {text}", "a", str(strides), text)
        array, layout = np.array(array, order="C"), (True, n, n * n)
    # Rows without gaps are the columns of the transpose, the conjugate of a Hermitian matrix.
    transposed, ld, distance = layout
    status, w, z = _core.eigensolve_batch(array, list(shape), ld, distance, lower != transposed, vectors)
    if gpu:
        wrap = _wrap_of_device(a, wrap)
    elif transposed and is_complex and z is not None:
        np.conjugate(z, out=z)
    if wrap is not None:
        w = wrap(w)
        if z is not None:
            z = wrap(z)
            z = _conjugated(a, z) if gpu and transposed and is_complex else z
    result = w if z is None else (w, z.swapaxes(-1, -2))
    raise_for(status, None if status.code == "task_failed" else result)
    return result


def _wrap_of_device(a: Any, wrap: Any) -> Any:
    """What makes an array of the library of `a` of one in the memory of a GPU."""
    if wrap is not None:
        return wrap
    namespace = getattr(a, "__array_namespace__", None)
    if namespace is not None:
        return namespace().from_dlpack
    import cupy  # arrays that have __cuda_array_interface__ alone

    return cupy.from_dlpack


def _conjugated(a: Any, z: Any) -> Any:
    return z.conj().resolve_conj() if library_of(a) == "torch" else z.conj()


def _device_result(a: Any, wrap: Any, w: np.ndarray, z: Any, n: int, conjugate: bool, values_only: bool) -> Any:
    library = library_of(a)
    if library == "torch":
        import torch

        values = torch.as_tensor(w, device=a.device)
    elif library == "jax":
        import jax

        values = jax.device_put(w, next(iter(a.devices())))
    else:
        import cupy

        values = cupy.asarray(w)
    if values_only:
        return values
    rows = _wrap_of_device(a, wrap)(z)
    return values, (_conjugated(a, rows) if conjugate else rows).T
