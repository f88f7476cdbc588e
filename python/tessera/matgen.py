# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Test matrices of the field: dense, sparse, and pairs of a Hamiltonian and an overlap matrix."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence

import numpy as np
import scipy.sparse

from . import _core
from ._arrays import letter_of
from ._blocks import BlockMatrix

__all__ = [
    "DensitySystem",
    "dense",
    "dense_kinds",
    "density_system",
    "shell_model_order",
    "sparse",
    "sparse_kinds",
    "system_kinds",
    "water",
]


@dataclasses.dataclass(frozen=True)
class DensitySystem:
    """A Hamiltonian and an overlap matrix with a gap, and what is known about them.

    Attributes
    ----------
    hamiltonian, overlap : BlockMatrix
        Half-stored, of one pattern; energies in hartree.
    electrons : int
        Two for each occupied state.
    mu : float
        A chemical potential in the gap.
    gap_bound : float
        The gap is at least this, half of it on each side of `mu`.
    overlap_bound : float
        The smallest eigenvalue of the overlap is at least this.
    cell_length : float
        Edge of the periodic cube, in angstrom.
    unit_positions : ndarray, shape (units, 3)
        Centres of the units, in angstrom.
    unit_of_block : ndarray, shape (blocks,)
        The unit of each block.
    """

    hamiltonian: BlockMatrix
    overlap: BlockMatrix
    electrons: int
    mu: float
    gap_bound: float
    overlap_bound: float
    cell_length: float
    unit_positions: np.ndarray
    unit_of_block: np.ndarray


def density_system(
    kind: str = "water",
    molecules: int = 64,
    *,
    blocks: Sequence[int] = (),
    gap: Optional[float] = None,
    dtype: Any = np.float64,
    seed: int = 1,
    threshold: float = 1e-8,
) -> DensitySystem:
    """A model of liquid water, an amorphous organic solid or titanium dioxide, at any size.

    Parameters
    ----------
    kind : str, optional
        A name of `system_kinds`.
    molecules : int, optional
        Units: molecules, groups of atoms or formula units.
    blocks : sequence of int, optional
        Block sizes (basis functions) of one unit; empty: the kind's, of water ``[23]``.
    gap : float, optional
        In hartree; None: the kind's.
    dtype, seed, threshold : optional
        Scalar type, seed, and what norm a block must have to be stored.

    Returns
    -------
    DensitySystem
    """
    h, s, numbers = _core.density_system(letter_of(dtype), kind, molecules, list(blocks), gap, seed, threshold)
    return DensitySystem(BlockMatrix(h), BlockMatrix(s), **numbers)


def water(molecules: int = 64, **options: Any) -> DensitySystem:
    """`density_system` of liquid water.

    Parameters
    ----------
    molecules : int, optional
        Number of molecules.
    **options
        Those of `density_system`.
    """
    return density_system("water", molecules, **options)


def dense(kind: str, n: int, *, dtype: Any = np.float64, seed: int = 1) -> np.ndarray:
    """A dense Hermitian matrix of a kind of `dense_kinds`.

    Returns
    -------
    ndarray, shape (n, n)
        In Fortran order.
    """
    return _core.dense_matrix(letter_of(dtype), kind, n, seed)


def sparse(
    kind: str,
    *,
    seed: int = 1,
    interaction: str = "random",
    orbits: str = "",
    excitation: Optional[int] = None,
    oscillator: float = 20.0,
    lawson: float = 0.0,
    coulomb: bool = False,
) -> scipy.sparse.csr_matrix:
    """A sparse symmetric or complex Hermitian matrix of a kind of `sparse_kinds`, for example ``laplacian2d:30:20``.

    Parameters
    ----------
    interaction
        Of a shell model (``shell:...``): ``random``, ``pairing``, ``pairing-quadrupole``, without a core ``minnesota``,
        or the path of an ``.int`` or ``.snt`` file.
    orbits
        Path of the ``.sps`` file that belongs to an ``.int`` file.
    excitation
        By how much the sum of all nucleons' weights may exceed its least; None: no truncation.
    oscillator
        Of a shell model without a core (``shell:nocore:...``): hbar omega of the basis, in MeV.
    lawson
        beta: beta (H_cm - 3/2 hbar omega) is added, without a core.
    coulomb
        Whether e^2 / r between protons is added to the interaction ``minnesota``.

    Returns
    -------
    scipy.sparse.csr_matrix, shape (n, n)
        Both triangles.
    """
    rows, columns, values, n, _ = _core.sparse_matrix(
        kind, seed, 0, interaction, orbits, excitation, oscillator, lawson, coulomb
    )
    lower = scipy.sparse.csr_matrix((values, (rows, columns)), shape=(n, n))
    return (lower + scipy.sparse.tril(lower, -1).conj().T).tocsr()


def shell_model_order(
    kind: str, *, interaction: str = "random", orbits: str = "", excitation: Optional[int] = None
) -> int:
    """Rows of a shell model's matrix (``shell:nocore:12C:8``), counted without making anything; exact up to 2**53."""
    return int(_core.shell_model_order(kind, interaction, orbits, excitation))


def dense_kinds() -> dict[str, str]:
    """Names of dense matrices, and what they are."""
    return _core.dense_kinds()


def sparse_kinds() -> dict[str, str]:
    """Names of sparse matrices, and what they are."""
    return _core.sparse_kinds()


def system_kinds() -> dict[str, str]:
    """Names of systems for density matrices, and what they are."""
    return _core.system_kinds()
