# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tessera: eigenproblems, block-sparse matrices and density matrices as task graphs on StarPU.

========================  ==========================================================
`eigh`, `eigvalsh`        dense Hermitian eigenproblems, as in scipy.linalg
`eigsh`, `lobpcg`         a few eigenpairs of a sparse matrix or an operator
`BlockMatrix`             block-sparse matrices and their algebra
`multiply`                filtered products
`density`                density matrices without diagonalisation
`Runtime`, `info`         which cores and GPUs compute
`tessera.matgen`          test matrices
========================  ==========================================================
"""

from . import matgen
from ._blocks import BlockMatrix, ProductInfo, multiply
from ._dense import eigh, eigvalsh
from ._density import DensityResult, DensityStep, density
from ._errors import (
    ComputationError,
    ConvergenceError,
    Error,
    InputError,
    InvalidArgument,
    LinAlgError,
    RemoteError,
    RuntimeFailure,
    Status,
)
from ._iterative import LobpcgResult, eigsh, lobpcg
from ._runtime import Runtime, close, info

__version__ = "0.1.0"

__all__ = [
    "BlockMatrix",
    "ComputationError",
    "ConvergenceError",
    "DensityResult",
    "DensityStep",
    "Error",
    "InputError",
    "InvalidArgument",
    "LinAlgError",
    "LobpcgResult",
    "ProductInfo",
    "RemoteError",
    "Runtime",
    "RuntimeFailure",
    "Status",
    "close",
    "density",
    "eigh",
    "eigsh",
    "eigvalsh",
    "info",
    "lobpcg",
    "matgen",
    "multiply",
]
