// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "slepc_peer.hpp"

#include <memory>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "lobpcg_problem.hpp"
#include "process.hpp"

#if TESSERA_HAVE_SLEPC
#include <slepceps.h>

namespace tessera::program {

namespace {

void require(PetscErrorCode code, const char* what) {
  if (code != 0) throw Error(fmt::format("SLEPc: {} failed with code {}", what, static_cast<int>(code)));
}

/// Initializes SLEPc once, and finalizes it when the process ends.
void start() {
  static const struct Library {
    Library() {
      require(PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr), "PetscOptionsSetValue");
      require(SlepcInitializeNoArguments(), "SlepcInitialize");
      require(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr), "PetscPushErrorHandler");
    }
    ~Library() { SlepcFinalize(); }  // before MPI_Finalize, as the runtime started MPI first
  } library;
}

/// A PETSc matrix. With one process, PETSc uses the arrays of this object. With several, PETSc
/// determines the distribution of rows. Each process builds all rows first.
class Matrix {
 public:
  explicit Matrix(const SymmetricRows& rows) {
    FullRows<double> full = full_rows<double>(rows, 1);
    const auto n = static_cast<PetscInt>(rows.order());
    int size = 1;
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    PetscInt count = PETSC_DECIDE, all = n, end = 0;
    require(PetscSplitOwnership(PETSC_COMM_WORLD, &count, &all), "PetscSplitOwnership");
    MPI_Scan(&count, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    const PetscInt first = end - count;
    const Index first_entry = full.begins[static_cast<std::size_t>(first)],
                end_entry = full.begins[static_cast<std::size_t>(end)];
    for (PetscInt i = first; i <= end; ++i)
      begins_.push_back(static_cast<PetscInt>(full.begins[static_cast<std::size_t>(i)] - first_entry));
    columns_.assign(full.columns.begin() + first_entry, full.columns.begin() + end_entry);
    if (size == 1) {
      values_ = std::move(full.values);
      require(MatCreateSeqAIJWithArrays(PETSC_COMM_WORLD, n, n, begins_.data(), columns_.data(),
                                        values_.data(), &matrix_),
              "MatCreateSeqAIJWithArrays");
    } else {
      values_.assign(full.values.begin() + first_entry, full.values.begin() + end_entry);
      require(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, count, count, n, n, begins_.data(), columns_.data(),
                                        values_.data(), &matrix_),
              "MatCreateMPIAIJWithArrays");
    }
    require(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE), "MatSetOption");
  }
  ~Matrix() { MatDestroy(&matrix_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  operator Mat() const { return matrix_; }

 private:
  std::vector<PetscInt> begins_, columns_;
  std::vector<PetscScalar> values_;
  Mat matrix_ = nullptr;
};

struct Solver {
  EPS eps = nullptr;
  Solver() { require(EPSCreate(PETSC_COMM_WORLD, &eps), "EPSCreate"); }
  ~Solver() { EPSDestroy(&eps); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
};

void set_up(EPS eps, const SparseEigenProblem& o, bool lobpcg) {
  require(EPSSetProblemType(eps, o.b ? EPS_GHEP : EPS_HEP), "EPSSetProblemType");
  require(EPSSetType(eps, lobpcg ? EPSLOBPCG : EPSKRYLOVSCHUR), "EPSSetType");
  require(EPSSetWhichEigenpairs(eps, o.largest ? EPS_LARGEST_REAL : EPS_SMALLEST_REAL),
          "EPSSetWhichEigenpairs");
  require(EPSSetDimensions(eps, static_cast<PetscInt>(o.count), PETSC_DEFAULT, PETSC_DEFAULT),
          "EPSSetDimensions");
  if (lobpcg && o.block > 0)
    require(EPSLOBPCGSetBlockSize(eps, static_cast<PetscInt>(o.block)), "block size");
  require(EPSSetTolerances(eps, o.tolerance, static_cast<PetscInt>(o.iterations)), "EPSSetTolerances");
  require(EPSSetConvergenceTest(eps, o.norm == "backward"   ? EPS_CONV_NORM
                                     : o.norm == "relative" ? EPS_CONV_REL
                                                            : EPS_CONV_ABS),
          "EPSSetConvergenceTest");
  if (!lobpcg || o.preconditioner != "none") return;
  ST st = nullptr;
  KSP ksp = nullptr;
  PC pc = nullptr;
  require(EPSGetST(eps, &st), "EPSGetST");
  require(STSetType(st, STPRECOND), "STSetType");
  require(STGetKSP(st, &ksp), "STGetKSP");
  require(KSPGetPC(ksp, &pc), "KSPGetPC");
  require(PCSetType(pc, PCNONE), "PCSetType");
}

}  // namespace

bool has_slepc() {
  return true;
}
std::string slepc_version() {
  return fmt::format("{}.{}.{}", SLEPC_VERSION_MAJOR, SLEPC_VERSION_MINOR, SLEPC_VERSION_SUBMINOR);
}

SlepcSolution solve_with_slepc(const SparseEigenProblem& problem, const std::string& name) {
  start();
  const Matrix left(*problem.a);
  std::unique_ptr<Matrix> right;
  if (problem.b) right = std::make_unique<Matrix>(*problem.b);
  const Solver solver;
  require(EPSSetOperators(solver.eps, left, right ? static_cast<Mat>(*right) : nullptr), "EPSSetOperators");
  set_up(solver.eps, problem, name == "lobpcg");
  require(EPSSetUp(solver.eps), "EPSSetUp");
  MPI_Barrier(PETSC_COMM_WORLD);
  const double begin = now();
  require(EPSSolve(solver.eps), "EPSSolve");
  SlepcSolution solution;
  solution.seconds = now() - begin;
  PetscInt count = 0, iterations = 0;
  require(EPSGetConverged(solver.eps, &count), "EPSGetConverged");
  require(EPSGetIterationNumber(solver.eps, &iterations), "EPSGetIterationNumber");
  solution.iterations = iterations;
  for (PetscInt i = 0; i < count; ++i) {
    PetscScalar value = 0;
    require(EPSGetEigenvalue(solver.eps, i, &value, nullptr), "EPSGetEigenvalue");
    solution.values.push_back(value);
  }
  return solution;
}

}  // namespace tessera::program

#else

namespace tessera::program {

bool has_slepc() {
  return false;
}
std::string slepc_version() {
  return {};
}

SlepcSolution solve_with_slepc(const SparseEigenProblem&, const std::string& solver) {
  throw InvalidArgument("--peer", "slepc-" + solver, "dense or none (this program was built without SLEPc)");
}

}  // namespace tessera::program

#endif
