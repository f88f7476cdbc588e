# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of the package, and the status of a computation."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

import numpy as np


@dataclasses.dataclass(frozen=True)
class Status:
    """How a computation has ended.

    Attributes
    ----------
    code : str
        ``success``, ``not_positive_definite``, ``not_finite``, ``no_convergence``, ``task_failed``,
        ``iterations_exhausted``, ``stagnated``, ``breakdown``, ``stopped``, ``block_not_positive_definite``,
        ``block_singular`` or ``no_gap``.
    stage : str
        The stage of the computation, or the method.
    index : int
        Where, counted from 1: the order of the leading minor, the column of the input, the number of the block.
    reason : str
        In words, where the code does not say it all.
    message : str
        One line for a person.
    """

    code: str
    stage: str
    index: int
    reason: str
    message: str

    @property
    def ok(self) -> bool:
        """Whether it is a success."""
        return self.code == "success"


class Error(Exception):
    """Base of all exceptions of the package."""


class InvalidArgument(Error, ValueError):
    """A bad argument.

    Attributes
    ----------
    name, value, expected : str
        The argument, its value as text, and what was expected.
    """

    def __init__(self, message: str, name: str = "", value: str = "", expected: str = "") -> None:
        super().__init__(message)
        self.name, self.value, self.expected = name, value, expected


class InputError(Error, ValueError):
    """A file that cannot be read as asked."""


class RuntimeFailure(Error, RuntimeError):
    """The runtime cannot start, cannot run a task, or there is too little memory."""


class RemoteError(Error, RuntimeError):
    """Another rank has thrown what is not an exception of this library."""


class ComputationError(Error, ArithmeticError):
    """A computation has failed.

    Attributes
    ----------
    status : Status
        What has happened, and where.
    result : object
        What there is of the result: an object such as a success returns, also of `eigh` of a stack; None for other
        direct methods.
    """

    def __init__(self, status: Status, result: Any = None) -> None:
        super().__init__(status.message)
        self.status, self.result = status, result


class LinAlgError(ComputationError, np.linalg.LinAlgError):
    """A matrix that is not finite, not positive definite or singular, or a direct method that has not converged."""


class ConvergenceError(ComputationError):
    """An iteration has not converged; ``result`` has the best that there is.

    Attributes
    ----------
    eigenvalues : ndarray, shape (k,), or None
        Of LOBPCG: the best eigenvalues that there are.
    eigenvectors : ndarray, shape (n, k), or None
        Of LOBPCG: their vectors.
    """

    @property
    def eigenvalues(self) -> Optional[np.ndarray]:
        return getattr(self.result, "values", None)

    @property
    def eigenvectors(self) -> Optional[np.ndarray]:
        return getattr(self.result, "vectors", None)


_linear_algebra = {
    "not_positive_definite",
    "not_finite",
    "no_convergence",
    "block_not_positive_definite",
    "block_singular",
}
_convergence = {"iterations_exhausted", "stagnated", "breakdown", "stopped", "no_gap"}


def raise_for(status: Status, result: Any = None) -> None:
    """Raises what belongs to a status; nothing for a success."""
    if status.ok:
        return
    if status.code in _linear_algebra:
        raise LinAlgError(status, result)
    if status.code in _convergence:
        raise ConvergenceError(status, result)
    raise ComputationError(status, result)
