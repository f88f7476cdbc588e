# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Tessera(CMakePackage, CudaPackage):
    """Large Hermitian eigenproblems, a few eigenpairs of huge sparse matrices, and products of
    block-sparse matrices with density matrices from them, as task graphs on StarPU."""

    # No version is released: what is built is the checkout that has this file, at its branch main,
    # or, with `spack dev-build`, any folder as it is.
    git = pathlib.Path(__file__).resolve().parents[7].as_uri()
    version("main", branch="main")
    license("BSD-3-Clause")

    variant("cuda", default=False, description="GPUs")
    variant("mpi", default=True, description="Several processes")
    variant("fortran", default=True, description="The Fortran module")
    variant("python", default=False, description="The Python package")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    # FxT is for traces. The recipe of StarPU beside this one has Tessera's patches.
    depends_on("starpu@1.4.10:1.4 +fxt ~examples")
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
    depends_on("hdf5 ~mpi", when="~mpi")
    depends_on("hwloc@2:")
    depends_on("libxsmm", when="target=x86_64:")
    depends_on("googletest", when="+tests")

    extends("python@3.9:", when="+python")
    depends_on("py-nanobind@2.4:", type="build", when="+python")
    depends_on("py-numpy@1.23:", type=("build", "run"), when="+python")
    depends_on("py-scipy@1.9:", type="run", when="+python")

    def cmake_args(self):
        args = [
            self.define_from_variant("TESSERA_WITH_CUDA", "cuda"),
            self.define_from_variant("TESSERA_WITH_MPI", "mpi"),
            self.define_from_variant("TESSERA_WITH_FORTRAN", "fortran"),
            self.define_from_variant("TESSERA_WITH_PYTHON", "python"),
            self.define_from_variant("TESSERA_WITH_TESTS", "tests"),
            # Peers of the program, which would be taken from outside of Spack.
            self.define("TESSERA_WITH_SCALAPACK", False),
            self.define("TESSERA_WITH_ELPA", False),
            self.define("TESSERA_STARPU_PREFIX", self.spec["starpu"].prefix),
        ]
        if self.spec.satisfies("+cuda") and self.spec.variants["cuda_arch"].value[0] != "none":
            args.append(self.builder.define_cuda_architectures(self))
        return args
