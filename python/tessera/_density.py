# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Density matrices without diagonalisation."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, Sequence

from . import _core
from ._arrays import scalar_type
from ._blocks import BlockMatrix
from ._errors import InvalidArgument, Status, raise_for

__all__ = ["DensityResult", "DensityStep", "density"]


@dataclasses.dataclass(frozen=True)
class DensityStep:
    """One line of an iteration's table.

    Attributes
    ----------
    stage : str
        Which iteration: ``inverse_factor``, ``trs4``, ...
    iteration : int
        From 1.
    convergence : float
        What the stop compares.
    occupation : float
        Share of the iterate's elements that are stored.
    threshold : float
        The filter of its products.
    seconds : float
        Of this step.
    products : int
        Of matrices, in this step.
    flop : float
        Of these products.
    electrons, energy : float
        Of the iterate; NaN where not known.
    """

    stage: str
    iteration: int
    convergence: float
    occupation: float
    threshold: float
    seconds: float
    products: int
    flop: float
    electrons: float
    energy: float


@dataclasses.dataclass(frozen=True)
class DensityResult:
    """A density matrix and what follows from it; energies in the unit of the Hamiltonian.

    Attributes
    ----------
    P : BlockMatrix or None
        The density matrix, half-stored, ``P S P = occupation P``; None after a failure.
    energy : float
        trace(P H).
    mu : float
        A chemical potential: between the highest occupied and the lowest other state.
    electrons : float
        trace(P S).
    entropy : float
        In units of k_B; above 0 at a temperature.
    free_energy : float
        ``energy - temperature entropy``.
    homo, lumo : (float, float)
        Intervals in which the highest occupied and the lowest other energy lie; NaN where not known.
    idempotency : float
        ``||Q S Q - Q|| / ||Q||``, Q = P / occupation; NaN at a temperature.
    commutator : float
        ``||S P H - H P S|| / sqrt(n)``.
    energy_weighted : BlockMatrix or None
        ``P H P / occupation``, if it was asked for.
    inverse_factor : BlockMatrix or None
        Z with ``Z^H S Z = 1``, to begin the next computation with.
    method : str
        That was used.
    iterations : list of DensityStep
        The table of all steps.
    products : int
        Products of matrices.
    flop, seconds : float
        Of the whole computation.
    status : Status
        How it has ended.
    """

    P: Optional[BlockMatrix]
    energy: float
    mu: float
    electrons: float
    entropy: float
    free_energy: float
    homo: tuple[float, float]
    lumo: tuple[float, float]
    idempotency: float
    commutator: float
    energy_weighted: Optional[BlockMatrix]
    inverse_factor: Optional[BlockMatrix]
    method: str
    iterations: list[DensityStep]
    products: int
    flop: float
    seconds: float
    status: Status

    def __repr__(self) -> str:
        return (
            f"<tessera.DensityResult, {self.method}: {self.status.code}, energy {self.energy:.10g}, "
            f"{self.electrons:.6g} electrons, mu {self.mu:.6g}, {len(self.iterations)} steps>"
        )


def _half(matrix: Any, name: str, block_sizes: Any) -> BlockMatrix:
    """A half-stored Hermitian matrix."""
    if not isinstance(matrix, BlockMatrix):
        if block_sizes is None:
            text = f"block_sizes: none, expected the sizes of blocks where {name} is no BlockMatrix"
            raise InvalidArgument(text, "block_sizes", "none", "sizes")
        make = BlockMatrix.from_scipy if hasattr(matrix, "tocsr") else BlockMatrix.from_dense
        return make(matrix, block_sizes, symmetry="hermitian")
    return matrix


def density(
    H: Any,
    S: Any = None,
    *,
    n_electrons: float = 0.0,
    method: str = "auto",
    filter: float = 1e-6,
    occupation: float = 2.0,
    temperature: float = 0.0,
    mu: Optional[float] = None,
    block_sizes: Any = None,
    inverse_factor: Optional[BlockMatrix] = None,
    P: Optional[BlockMatrix] = None,
    gap: Optional[Sequence[Sequence[float]]] = None,
    tolerance: float = 0.0,
    maxiter: int = 100,
    mixed_precision: Optional[bool] = None,
    energy_weighted: bool = False,
    check: bool = True,
    monitor: Optional[Callable[[DensityStep], Optional[bool]]] = None,
) -> DensityResult:
    """The density matrix of a Hamiltonian: ``P = occupation sum c c^H`` over the occupied states of ``H c = e S c``.

    Parameters
    ----------
    H : BlockMatrix, scipy.sparse matrix or array_like, shape (n, n)
        Hermitian. A BlockMatrix is half-stored (``symmetry="hermitian"``); of other matrices the lower half counts,
        in the blocks that `block_sizes` says.
    S : the same, optional
        The overlap, positive definite, of the same block sizes. None: the identity.
    n_electrons : float, optional
        Electrons; ``n_electrons / occupation`` states are occupied, a whole number but at a temperature.
    method : str, optional
        ``auto``, ``sign``, ``trs4``, ``tc2``, ``sp2``, ``purification``, ``submatrix``, ``fermi``, ``curvy`` or
        ``dense``.
    filter : float, optional
        Of all products. The error of P's elements falls with it, that of the energy with its square.
    occupation : float, optional
        Electrons in an occupied state: 2, or 1 for a spin channel.
    temperature : float, optional
        kT in the unit of H.
    mu : float, optional
        The states below it are occupied, whatever `n_electrons` says (``sign``, and at a temperature).
    block_sizes : int or sequence of int, optional
        Of the blocks, where H is no BlockMatrix. S has the same ones.
    inverse_factor, P : BlockMatrix, optional
        Of a former result nearby: Z is refined, and ``curvy`` begins with P.
    gap : ((float, float), (float, float)), optional
        Intervals of the highest occupied and the lowest other energy, as `homo` and `lumo` of a former result.
    tolerance : float, optional
        Idempotency that the last step may leave; 0: chosen.
    maxiter : int, optional
        Steps of each iteration at most.
    mixed_precision : bool, optional
        Iterations in float32, the last step in float64; None: where the filter allows it.
    energy_weighted, check : bool, optional
        Whether the energy-weighted density matrix is made, and whether idempotency and commutator are measured.
    monitor : callable, optional
        Called with a `DensityStep` after each step; False stops.

    Returns
    -------
    DensityResult

    Raises
    ------
    InvalidArgument
        For matrices and numbers that do not fit.
    ConvergenceError
        Without convergence, where there is no gap (``no_gap``), and where the monitor has stopped; with the status
        and the table of steps.
    LinAlgError
        For NaN, and an overlap that is not positive definite.
    """
    h = _half(H, "H", block_sizes)
    s = None if S is None else _half(S, "S", h.row_sizes)
    kind = scalar_type(*(m.dtype for m in (h, s) if m is not None))
    bounds = None
    if gap is not None:
        bounds = [float(x) for interval in gap for x in interval]

    def told(step: dict[str, Any]) -> Optional[bool]:
        return monitor(DensityStep(**step))  # type: ignore[misc]

    def inside(matrix: Optional[BlockMatrix]) -> Any:
        return None if matrix is None else matrix.astype(kind)._m

    d = _core.density(
        inside(h),
        inside(s),
        float(n_electrons),
        float(occupation),
        float(temperature),
        None if mu is None else float(mu),
        inside(inverse_factor),
        inside(P),
        bounds,
        method,
        float(filter),
        float(tolerance),
        int(maxiter),
        mixed_precision,
        energy_weighted,
        check,
        None if monitor is None else told,
    )
    result = DensityResult(
        P=_matrix(d["density"]),
        energy_weighted=_matrix(d["energy_weighted"]),
        inverse_factor=_matrix(d["inverse_factor"]),
        iterations=[DensityStep(**step) for step in d["steps"]],
        **{
            name: d[name]
            for name in (
                "energy mu electrons entropy free_energy homo lumo idempotency commutator "
                "method products flop seconds status"
            ).split()
        },
    )
    raise_for(result.status, result)
    return result


def _matrix(m: Any) -> Optional[BlockMatrix]:
    return None if m is None else BlockMatrix(m)
