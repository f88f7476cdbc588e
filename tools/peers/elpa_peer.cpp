// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "elpa_peer.hpp"

#include <algorithm>
#include <complex>
#include <memory>

#include <tessera/error.hpp>

#if TESSERA_HAVE_ELPA

#include <elpa/elpa.h>

#include "ranks_peer.hpp"

namespace tessera::program {
using namespace detail;

namespace {

void require(int code, const std::string& what) {
  if (code != ELPA_OK) throw Error(fmt::format("ELPA: {} failed with code {}", what, code));
}

/// ELPA while a problem is solved.
struct Library {
  Library() { require(elpa_init(ELPA_API_VERSION), "elpa_init"); }
  ~Library() {
    int error = 0;
    elpa_uninit(&error);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

class Handle {
 public:
  Handle() {
    int error = 0;
    handle_ = elpa_allocate(&error);
    require(error, "elpa_allocate");
  }
  ~Handle() {
    int error = 0;
    elpa_deallocate(handle_, &error);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator elpa_t() const noexcept { return handle_; }

  void set(const char* name, Index value) {
    int error = 0;
    elpa_set_integer(handle_, name, static_cast<int>(value), &error);
    require(error, std::string("setting ") + name);
  }
  int get(const char* name) const {
    int value = 0, error = 0;
    elpa_get_integer(handle_, name, &value, &error);
    require(error, std::string("asking for ") + name);
    return value;
  }

 private:
  elpa_t handle_ = nullptr;
};

/// `GENERIC`, `AVX512_BLOCK2`, ... : the last part of the kernel's name.
template <class T>
std::string kernel_name(const Handle& handle) {
  const int kernel = handle.get(is_complex<T> ? "complex_kernel" : "real_kernel");
  std::string name;
#define TESSERA_NAME(id, number, ...) \
  if (kernel == (number)) name = #id;
  if constexpr (is_complex<T>) {
    ELPA_FOR_ALL_2STAGE_COMPLEX_KERNELS(TESSERA_NAME)
  } else {
    ELPA_FOR_ALL_2STAGE_REAL_KERNELS(TESSERA_NAME)
  }
#undef TESSERA_NAME
  const std::string prefix = is_complex<T> ? "ELPA_2STAGE_COMPLEX_" : "ELPA_2STAGE_REAL_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : fmt::to_string(kernel);
}

template <class T>
void set_up(Handle& handle, RanksProblem<T>& problem, Index vectors, int threads) {
  handle.set("na", problem.n());
  handle.set("nev", vectors);
  handle.set("local_nrows", problem.a().local_rows());
  handle.set("local_ncols", problem.a().local_cols());
  handle.set("nblk", problem.block());
  handle.set("mpi_comm_parent", problem.grid().communicator());
  handle.set("process_row", problem.grid().row());
  handle.set("process_col", problem.grid().col());
  if (problem.generalized()) handle.set("blacs_context", problem.grid().context());
  require(elpa_setup(handle), "elpa_setup");
  // An ELPA without OpenMP knows one thread only; BLAS has its own.
  int error = 0;
  elpa_set_integer(handle, "omp_threads", threads, &error);
}

/// These have no name for all types.
template <class T>
constexpr auto generalized_values = elpa_generalized_eigenvalues_d;
template <>
constexpr auto generalized_values<float> = elpa_generalized_eigenvalues_f;
template <>
constexpr auto generalized_values<std::complex<float>> = elpa_generalized_eigenvalues_fc;
template <>
constexpr auto generalized_values<std::complex<double>> = elpa_generalized_eigenvalues_dc;

/// The call of ELPA's that solves the problem.
template <class T>
int call_elpa(const Handle& handle, const RanksProblem<T>& problem, CyclicMatrix<T>& a, CyclicMatrix<T>& b,
              std::vector<RealOf<T>>& values, CyclicMatrix<T>& z) {
  int error = 0;
  constexpr int factorized = 0;
  if (problem.generalized() && problem.vectors())
    elpa_generalized_eigenvectors(handle, a.data(), b.data(), values.data(), z.data(), factorized, &error);
  else if (problem.generalized())
    generalized_values<T>(handle, a.data(), b.data(), values.data(), factorized, &error);
  else if (problem.vectors())
    elpa_eigenvectors(handle, a.data(), values.data(), z.data(), &error);
  else
    elpa_eigenvalues(handle, a.data(), values.data(), &error);
  return error;
}

template <class T>
RanksAttempt<T> solve(RanksProblem<T>& problem, int solver, int threads) {
  const Index n = problem.n();
  const RangeOption& range = problem.range();
  const Index lowest = range.kind == RangeOption::Kind::index ? std::clamp<Index>(range.index_high, 1, n) : n;
  RanksAttempt<T> result;
  result.name = solver == ELPA_SOLVER_1STAGE ? "elpa one stage" : "elpa two stages";
  CyclicMatrix<T> a, b;
  std::vector<RealOf<T>> values;
  std::unique_ptr<Handle> handle;
  problem.together([&] {
    a = problem.a();
    if (problem.generalized()) b = problem.b();
    result.z = problem.square();
    values.assign(static_cast<std::size_t>(n), 0);
  });
  problem.together([&] {
    if (!problem.grid().inside()) return;
    handle = std::make_unique<Handle>();
    set_up(*handle, problem, lowest, threads);
    handle->set("solver", solver);
  });
  if (solver == ELPA_SOLVER_2STAGE && handle && problem.vectors())
    result.name += ", " + kernel_name<T>(*handle);
  int code = ELPA_OK;
  result.seconds = problem.timed([&] { code = call_elpa(*handle, problem, a, b, values, result.z); });
  if (const int error = problem.error_of_any(code); error != 0) {
    result.failure = fmt::format("{} failed with code {}", result.name, -error);
    return result;
  }
  problem.share(values);
  if (problem.vectors()) values.resize(static_cast<std::size_t>(lowest));
  const auto [begin, end] = problem.wanted(values);
  result.column = begin;
  result.values.assign(values.begin() + begin, values.begin() + std::max(begin, end));
  return result;
}

}  // namespace

bool has_elpa() {
  return true;
}
bool elpa_has_single_precision() {
  return TESSERA_ELPA_SINGLE != 0;
}
std::string elpa_version() {
  return TESSERA_ELPA_VERSION;
}

template <class T>
EigenPeerSolution<T> solve_with_elpa(Runtime& runtime, const EigenPeerProblem<T>& asked, int threads) {
  if (nothing_wanted(asked)) return nothing_of<T>("elpa");
  constexpr Index block = 32;
  RanksProblem<T> problem(runtime, asked, block);
  mirror_lower(runtime, problem.grid(), problem.a());
  if (problem.generalized()) mirror_lower(runtime, problem.grid(), problem.b());
  std::unique_ptr<Library> library;
  problem.together([&] { library = std::make_unique<Library>(); });
  return fastest_of<T>(problem, asked, threads,
                       {[&] { return solve(problem, ELPA_SOLVER_1STAGE, threads); },
                        [&] { return solve(problem, ELPA_SOLVER_2STAGE, threads); }});
}

#else

namespace tessera::program {

bool has_elpa() {
  return false;
}
bool elpa_has_single_precision() {
  return false;
}
std::string elpa_version() {
  return {};
}

template <class T>
EigenPeerSolution<T> solve_with_elpa(Runtime&, const EigenPeerProblem<T>&, int) {
  throw InvalidArgument("--peer", "elpa", "another peer (this program was built without ELPA)");
}

#endif

#define TESSERA_INSTANTIATE(T) \
  template EigenPeerSolution<T> solve_with_elpa<T>(Runtime&, const EigenPeerProblem<T>&, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
