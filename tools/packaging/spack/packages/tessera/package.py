# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Tessera(CMakePackage, CudaPackage):
    """Large Hermitian eigenproblems, a few eigenpairs of huge sparse matrices, and products of
    block-sparse matrices with density matrices from them, as task graphs on StarPU."""

    # No version is released: `spack develop --path FOLDER tessera@main` builds a checkout.
    version("main", branch="main")
    license("BSD-3-Clause")

    variant("cuda", default=False, description="GPUs")
    variant("mpi", default=True, description="Several processes")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    # StarPU 1.4 with FxT, for traces, with the patches of tools/setup; each tells in its first lines what
    # it is for. Without them results are the same, STARPU_MPI_POLLING_PAUSE has no effect, large traces
    # are not read, and a failed call of CUDA ends the process at once. For CUDA 13 StarPU 1.4.10 to 1.4.12
    # need starpu-cuda13.patch. tools/setup gives StarPU three limits that Spack's recipe cannot:
    # --enable-maxcpus=256 --enable-maxcudadev=8 --enable-maxnodes=16; here they follow the building machine.
    depends_on(
        "starpu@1.4.10:1.4 +fxt ~examples",
        patches=[
            patch("../../../../lib/starpu-trace.patch"),
            patch("../../../../lib/starpu-yield.patch"),
            patch("../../../../lib/starpu-polling.patch"),
            patch("../../../../lib/starpu-cuda-error.patch"),
        ],
    )
    depends_on("starpu", patches=patch("../../../../lib/starpu-cuda13.patch"), when="+cuda ^cuda@13:")
    depends_on("starpu +mpi", when="+mpi")
    depends_on("starpu ~mpi", when="~mpi")
    depends_on("starpu +cuda", when="+cuda")

    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("blas")
    depends_on("lapack")
    depends_on("openblas threads=pthreads", when="^[virtuals=blas,lapack] openblas")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("zlib-api")
    depends_on("hdf5")
    depends_on("hwloc@2:")
    depends_on("libxsmm", when="target=x86_64:")
    depends_on("googletest", when="+tests")

    def cmake_args(self):
        args = [
            self.define_from_variant("TESSERA_WITH_CUDA", "cuda"),
            self.define_from_variant("TESSERA_WITH_MPI", "mpi"),
            self.define_from_variant("TESSERA_WITH_TESTS", "tests"),
            # Peers of the program, which would be taken from outside of Spack.
            self.define("TESSERA_WITH_SCALAPACK", False),
            self.define("TESSERA_WITH_ELPA", False),
            self.define("TESSERA_STARPU_PREFIX", self.spec["starpu"].prefix),
        ]
        if self.spec.satisfies("+cuda") and self.spec.variants["cuda_arch"].value[0] != "none":
            args.append(self.builder.define_cuda_architectures(self))
        return args
