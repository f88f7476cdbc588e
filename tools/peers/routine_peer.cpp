// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "routine_peer.hpp"

#include <complex>

#include <fmt/format.h>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>

#include "cusolver_peer.hpp"
#include "gpu_libraries.hpp"
#include "machine_limits.hpp"
#include "process.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Times the calls of a routine that returns LAPACK's info.
template <class Call>
double time_routine(Runtime& runtime, const std::string& name, const Call& call) {
  double seconds = 0;
  int info = 0;
  runtime.run_exclusively(cpu_threads(runtime), [&] {
    const double start = now();
    info = call();
    seconds = now() - start;
  });
  if (info != 0) throw Error(fmt::format("LAPACK failed in {} with info = {}", name, info));
  return seconds;
}

template <class T>
std::string lapack_name(Routine routine) {
  const char* const family = is_complex<T> ? "he" : "sy";
  switch (routine) {
    case Routine::potrf:
      return fmt::format("lapack {}potrf", type_letter<T>);
    case Routine::hegst:
      return fmt::format("lapack {}{}gst", type_letter<T>, family);
    case Routine::hetrd:
      return fmt::format("lapack {}{}trd", type_letter<T>, family);
    case Routine::stedc:
      return fmt::format("lapack {}stedc", type_letter<RealOf<T>>);
    case Routine::trsm:
      return fmt::format("blas {}trsm", type_letter<T>);
    case Routine::gemm:
      return fmt::format("blas {}gemm", type_letter<T>);
    case Routine::none:
      break;
  }
  return "lapack";
}

template <class T>
double run_lapack(Runtime& runtime, RoutineProblem<T>& p, std::string& name) {
  using Real = RealOf<T>;
  const Index n = p.n;
  const auto order = static_cast<std::size_t>(n), square = order * order;
  name = lapack_name<T>(p.routine) + p.note;
  const auto time = [&](const auto& call) { return time_routine(runtime, name, call); };
  switch (p.routine) {
    case Routine::potrf:
      return time([&] { return blas::potrf<T>(Uplo::lower, n, p.a.data(), n); });
    case Routine::hegst:
      return time([&] { return blas::hegst<T>(1, Uplo::lower, n, p.a.data(), n, p.l.data(), n); });
    case Routine::hetrd: {
      const Index lwork = 64 * n;
      std::vector<Real> d(order), e(order);
      std::vector<T> tau(order), work(static_cast<std::size_t>(lwork));
      return time([&] {
        return blas::hetrd<T>(Uplo::lower, n, p.a.data(), n, d.data(), e.data(), tau.data(), work.data(),
                              lwork);
      });
    }
    case Routine::stedc: {
      std::vector<Real> z(square), work(1 + 4 * order + square);
      p.e.resize(order);
      std::vector<int> iwork(3 + 5 * order);
      return time([&] {
        return blas::stedc<Real>('I', n, p.d.data(), p.e.data(), z.data(), n, work.data(),
                                 static_cast<Index>(work.size()), iwork.data(),
                                 static_cast<Index>(iwork.size()));
      });
    }
    case Routine::trsm: {
      std::vector<T> x(order * static_cast<std::size_t>(p.columns), T(1));
      return time([&] {
        blas::trsm<T>(Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, n, p.columns, T(1), p.a.data(), n,
                      x.data(), n);
        return 0;
      });
    }
    case Routine::gemm: {
      const std::vector<T> a(square, T(1)), b(square, T(2));
      std::vector<T> c(square);
      return time([&] {
        blas::gemm<T>(Op::none, Op::none, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
        return 0;
      });
    }
    case Routine::none:
      break;
  }
  return unknown;
}

template <class T>
double run_cusolver(const RoutineProblem<T>& p, std::string& name) {
  switch (p.routine) {
    case Routine::potrf:
      name = fmt::format("cusolver Xpotrf ({})", type_letter<T>);
      return time_cusolver_potrf<T>(p.a, p.n);
    case Routine::hetrd:
      name = fmt::format("cusolver {}{}trd{}", type_letter<T>, is_complex<T> ? "he" : "sy", p.note);
      return time_cusolver_hetrd<T>(p.a, p.n);
    case Routine::trsm:
      name = fmt::format("cublas {}trsm", type_letter<T>);
      return time_cublas_trsm<T>(p.a, p.n, p.columns);
    case Routine::gemm:
      name = fmt::format("cublas {}gemm", type_letter<T>);
      return time_cublas_gemm<T>(p.n);
    default:
      return unknown;
  }
}

}  // namespace

template <class T>
std::unique_ptr<RoutinePeer<T>> make_routine_peer(Runtime& runtime, const std::string& library) {
  using Problem = RoutineProblem<T>;
  using Made = CallPeer<Problem, NoResult>;
  const std::string alone = needs_one_process(runtime);
  if (library == "none") return nullptr;
  if (library == "lapack")
    return std::make_unique<Made>(
        PeerTraits{"lapack", runtime.info().blas, alone, cpu_threads(runtime)},
        [&runtime](Problem& p, NoResult&, std::string& name) { return run_lapack(runtime, p, name); });
  if (library == "cusolver")
    return std::make_unique<Made>(
        PeerTraits{"cusolver", fmt::format("{}, cuBLAS {}", cusolver_version(), cublas_version()),
                   first_of({alone, needs_first_gpu()}), 0},
        [](Problem& p, NoResult&, std::string& name) { return run_cusolver(p, name); });
  throw InvalidArgument("--peer", library, "none, lapack or cusolver");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<RoutinePeer<T>> make_routine_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
