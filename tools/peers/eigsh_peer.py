#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""A few eigenpairs by `eigsh` of CuPy (on the GPU) or of SciPy (ARPACK, on the cores), beside `tessera lobpcg`.

The matrix is a Matrix Market file (may be gzipped) or what `tessera lobpcg --save-matrix` writes (.h5, needs h5py).
Prints one JSON object: versions, seconds of each solve (the conversion and the way to the GPU apart), eigenvalues, and
residuals ||A x - w x||, computed afresh in double, over TOL (||A|| + |w|) with the row-sum norm of A: at most 1 where a
pair is as good as `tessera lobpcg --tol TOL` asks for. eigsh of CuPy compares with an absolute tolerance, which is
TOL ||A|| here; ARPACK compares with a relative one, which is made from it and the eigenvalues of a first solve that is
not timed.

Exit codes: 0; 1 if pairs have not converged; 2 for bad usage, a file that cannot be read, or a missing library."""
import argparse
import json
import sys
import time


def fail(text):
    print(f"eigsh_peer: {text}", file=sys.stderr)
    sys.exit(2)


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="eigsh_peer", description=__doc__, formatter_class=raw)
    parser.add_argument("matrix", help="FILE.mtx[.gz] or FILE.h5")
    parser.add_argument("--library", choices=["cupy", "scipy"], default="cupy")
    parser.add_argument("--k", type=int, default=5, help="wanted eigenpairs")
    parser.add_argument("--largest", action="store_true", help="the largest eigenvalues instead of the smallest")
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--basis", type=int, default=0, help="vectors of the basis (ncv); 0: max(2 k + 1, 20)")
    parser.add_argument("--type", choices=["s", "d"], default="d", help="of matrix and vectors")
    parser.add_argument("--iterations", type=int, default=0, help="maxiter; 0: the library's default")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=1)
    given = parser.parse_args()
    if given.k < 1 or given.tol <= 0 or given.repeat < 1 or given.warmup < 0:
        parser.error("--k and --repeat must be at least 1, --tol above 0, --warmup at least 0")
    return given


def lower_triangle(path):
    """Rows, columns and values of the entries of one triangle, and the order."""
    import numpy
    if path.endswith(".h5"):
        try:
            import h5py
        except ImportError as error:
            fail(f"{path} needs h5py, which cannot be imported ({error}); write a Matrix Market file, or install h5py")
        with h5py.File(path) as file:
            if file.attrs.get("format") not in ("tessera sparse matrix 1", b"tessera sparse matrix 1"):
                fail(f"{path}: is not what --save-matrix writes")
            count = file["cell_entries"][:]
            row = numpy.repeat(file["cell_first_row"][:], count) + file["row_in_cell"][:]
            column = numpy.repeat(file["cell_first_column"][:], count) + file["column_in_cell"][:]
            return row, column, file["value"][:], int(file["numbers"][0])
    import scipy.io
    import scipy.sparse
    matrix = scipy.io.mmread(path)
    if not scipy.sparse.issparse(matrix) or matrix.shape[0] != matrix.shape[1]:
        fail(f"{path}: is not a square sparse matrix")
    if not numpy.iscomplexobj(matrix) and abs(matrix - matrix.T).max() > 0:
        fail(f"{path}: is not symmetric")
    half = scipy.sparse.tril(matrix).tocoo()
    return half.row, half.col, half.data, matrix.shape[0]


def both_triangles(path, dtype):
    import numpy
    import scipy.sparse
    row, column, value, n = lower_triangle(path)
    if numpy.iscomplexobj(value):
        fail(f"{path}: is complex, and real matrices alone are compared")
    off = row != column
    rows, columns = numpy.concatenate([row, column[off]]), numpy.concatenate([column, row[off]])
    values = numpy.concatenate([value, value[off]]).astype(dtype)
    return scipy.sparse.csr_matrix((values, (rows, columns)), shape=(n, n))


class OnGpu:
    """CuPy's eigsh."""

    def __init__(self, host, given):
        try:
            import cupy
            import cupyx.scipy.sparse
            import cupyx.scipy.sparse.linalg
        except ImportError as error:
            fail(f"CuPy cannot be imported ({error}): install the package for your CUDA, such as cupy-cuda12x, or use "
                 "--library scipy")
        self.cupy, self.eigsh = cupy, cupyx.scipy.sparse.linalg.eigsh
        try:
            if cupy.cuda.runtime.getDeviceCount() == 0:
                fail("CuPy finds no GPU")
            self.matrix = cupyx.scipy.sparse.csr_matrix(host)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            fail(f"CuPy cannot use a GPU: {error}")
        self.wait()
        version = cupy.cuda.runtime.runtimeGetVersion()
        self.versions = {"name": "cupyx.scipy.sparse.linalg.eigsh", "version": f"CuPy {cupy.__version__}",
                         "cuda": f"{version // 1000}.{version % 1000 // 10}",
                         "gpu": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()}
        self.products = None  # a wrapper that counts them would make them slower

    def wait(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def solve(self, given, norm, known):
        more = {"maxiter": given.iterations} if given.iterations else {}
        w, v = self.eigsh(self.matrix, k=given.k, which="LA" if given.largest else "SA", ncv=given.basis,
                          tol=given.tol * norm, **more)
        self.wait()
        return self.cupy.asnumpy(w), self.cupy.asnumpy(v)


class OnHost:
    """SciPy's eigsh, ARPACK."""

    def __init__(self, host, given):
        import scipy
        import scipy.sparse.linalg
        self.module, self.matrix = scipy.sparse.linalg, host
        self.versions = {"name": "scipy.sparse.linalg.eigsh (ARPACK)", "version": f"SciPy {scipy.__version__}"}
        self.products = 0

    def wait(self):
        pass

    def product(self, x):
        self.products += 1
        return self.matrix @ x

    def solve(self, given, norm, known):
        self.products = 0
        a = self.module.LinearOperator(self.matrix.shape, matvec=self.product, dtype=self.matrix.dtype)
        # ARPACK: |estimate| <= tol |w|; the pair with the largest |w| decides about the tolerance for all.
        tol = given.tol if known is None else given.tol * min(1 + norm / max(abs(x), 1e-300) for x in known)
        more = {"maxiter": given.iterations} if given.iterations else {}
        try:
            return self.module.eigsh(a, k=given.k, which="LA" if given.largest else "SA", ncv=given.basis, tol=tol,
                                     **more)
        except self.module.ArpackNoConvergence as error:
            return error.eigenvalues, error.eigenvectors


def main():
    given = arguments()
    try:
        import numpy
        import scipy.sparse  # noqa: F401
    except ImportError as error:
        fail(f"NumPy and SciPy are needed, and cannot be imported ({error})")
    dtype = numpy.float32 if given.type == "s" else numpy.float64
    begin = time.perf_counter()
    try:
        host = both_triangles(given.matrix, dtype)
    except (OSError, ValueError) as error:
        fail(f"{given.matrix}: {error}")
    n = host.shape[0]
    given.basis = given.basis or min(max(2 * given.k + 1, 20), n)
    if given.k >= n or not given.k < given.basis <= n:
        fail(f"--k {given.k} and --basis {given.basis} do not fit the order {n}")
    norm = float(abs(host).sum(axis=1).max())
    read = time.perf_counter()
    solver = (OnGpu if given.library == "cupy" else OnHost)(host, given)
    converted = time.perf_counter()
    seconds, known = [], None
    for run in range(-max(given.warmup, 1), given.repeat):
        start = time.perf_counter()
        w, v = solver.solve(given, norm, known)
        end = time.perf_counter()
        known = w if len(w) else known
        if run >= 0:
            seconds.append(end - start)
    order = numpy.argsort(w)[::-1] if given.largest else numpy.argsort(w)
    w, v = w[order].astype(float), v[:, order].astype(float)
    residuals = numpy.linalg.norm(host.astype(float) @ v - v * w, axis=0) / numpy.linalg.norm(v, axis=0)
    scaled = residuals / (given.tol * (norm + abs(w)))
    good = len(w) == given.k and bool((scaled <= 1.1).all())
    print(json.dumps({"command": "eigsh_peer", **solver.versions, "matrix": given.matrix, "n": n,
                      "entries": int(host.nnz), "k": given.k, "largest": given.largest, "tol": given.tol,
                      "type": given.type, "basis": given.basis, "norm": norm,
                      "seconds": {"read": read - begin, "conversion": converted - read, "solve": seconds,
                                  "median": float(numpy.median(seconds))},
                      "products": solver.products, "values": w.tolist(), "residuals": residuals.tolist(),
                      "scaled_residuals": scaled.tolist(), "converged": good}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
