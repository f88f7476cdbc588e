# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.packages.starpu.package import Starpu as BuiltinStarpu

from spack.package import *


class Starpu(BuiltinStarpu):
    """StarPU as Spack builds it, with the patches and limits of tools/setup.

    It stands in this repository because Spack cannot patch a dependency of another one."""

    # Each patch tells in its first lines what it is for. Without them results are the same, but
    # STARPU_MPI_POLLING_PAUSE has no effect, large traces are not read, and a failed call of CUDA
    # ends the process at once.
    with when("@1.4.10:1.4"):
        patch("../../../../../../lib/starpu-trace.patch")
        patch("../../../../../../lib/starpu-yield.patch")
        patch("../../../../../../lib/starpu-polling.patch")
        patch("../../../../../../lib/starpu-cuda-error.patch")
    patch("../../../../../../lib/starpu-cuda13.patch", when="@1.4.10:1.4.12 +cuda ^cuda@13:")

    def configure_args(self):
        """Limits for any machine: without these they are those of the one that builds it."""
        limits = ["--enable-maxcpus=256", "--enable-maxcudadev=8", "--enable-maxnodes=16"]
        return super().configure_args() + limits
