// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_peer.hpp"

#include <algorithm>
#include <type_traits>

#include <dlfcn.h>
#include <fmt/format.h>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>

#include "process.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Work arrays with the size that a workspace query returns, but at least the documented minimum.
template <class T>
struct Workspace {
  std::vector<T> work{1};
  std::vector<RealOf<T>> rwork{1};
  std::vector<int> iwork{1};
  template <class Call>
  int query_and(const Call& call, Index least, Index least_real, Index least_integer) {
    call(Index{-1}, Index{-1}, Index{-1});
    work.resize(static_cast<std::size_t>(std::max(least, static_cast<Index>(real_part(work[0])))));
    rwork.resize(
        static_cast<std::size_t>(is_complex<T> ? std::max(least_real, static_cast<Index>(rwork[0])) : 1));
    iwork.resize(static_cast<std::size_t>(std::max(least_integer, static_cast<Index>(iwork[0]))));
    start = now();
    return call(static_cast<Index>(work.size()), static_cast<Index>(rwork.size()),
                static_cast<Index>(iwork.size()));
  }
  double start = 0;
};

void require_success(const std::string& name, int info) {
  if (info != 0) throw Error(fmt::format("LAPACK's {} failed with info = {}", name, info));
}

template <class T>
void all_pairs(PeerSolution<T>& solution, std::vector<T>& a, std::vector<T>& b, Index n, bool vectors) {
  const char job = vectors ? 'V' : 'N';
  const Index ld = std::max<Index>(n, 1);
  Workspace<T> space;
  solution.values.resize(static_cast<std::size_t>(ld));
  const auto call = [&](Index lwork, Index lrwork, Index liwork) {
    return b.empty()
               ? blas::heevd<T>(job, Uplo::lower, n, a.data(), ld, solution.values.data(), space.work.data(),
                                lwork, space.rwork.data(), lrwork, space.iwork.data(), liwork)
               : blas::hegvd<T>(1, job, Uplo::lower, n, a.data(), ld, b.data(), ld, solution.values.data(),
                                space.work.data(), lwork, space.rwork.data(), lrwork, space.iwork.data(),
                                liwork);
  };
  const Index square = vectors ? 2 * n * n : 0;
  const int info = space.query_and(call, 1 + 6 * n + square, 1 + 5 * n + square, 3 + 5 * n);
  solution.seconds = now() - space.start;
  require_success(solution.name, info);
  solution.values.resize(static_cast<std::size_t>(n));
  if (vectors) solution.vectors = std::move(a);
}

/// LAPACK's heevd_2stage, which computes values only; null where the LAPACK that runs does not have it (it is
/// newer than the others).
template <class T>
auto two_stage_driver() {
  using R = RealOf<T>;
  using Real = void (*)(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, int*,
                        const int*, int*);
  using Complex = void (*)(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,
                           const int*, int*, const int*, int*);
  const std::string name = fmt::format("{}{}evd_2stage_", type_letter<T>, is_complex<T> ? "he" : "sy");
  return reinterpret_cast<std::conditional_t<is_complex<T>, Complex, Real>>(
      dlsym(RTLD_DEFAULT, name.c_str()));
}

template <class T>
void all_values_in_two_stages(PeerSolution<T>& solution, std::vector<T>& a, Index n) {
  const int order = static_cast<int>(n), ld = std::max(order, 1);
  Workspace<T> space;
  solution.values.resize(static_cast<std::size_t>(ld));
  const auto call = [&](Index lwork, Index lrwork, Index liwork) {
    const int lw = static_cast<int>(lwork), li = static_cast<int>(liwork);
    [[maybe_unused]] const int lr = static_cast<int>(lrwork);
    int info = 0;
    const auto driver = two_stage_driver<T>();
    if constexpr (is_complex<T>)
      driver("N", "L", &order, a.data(), &ld, solution.values.data(), space.work.data(), &lw,
             space.rwork.data(), &lr, space.iwork.data(), &li, &info);
    else
      driver("N", "L", &order, a.data(), &ld, solution.values.data(), space.work.data(), &lw,
             space.iwork.data(), &li, &info);
    return info;
  };
  const int info = space.query_and(call, 1, std::max<Index>(n, 1), 1);
  solution.seconds = now() - space.start;
  require_success(solution.name, info);
  solution.values.resize(static_cast<std::size_t>(n));
}

template <class T>
void some_pairs(PeerSolution<T>& solution, std::vector<T>& a, std::vector<T>& b, Index n,
                const RangeOption& range, bool vectors) {
  using Real = RealOf<T>;
  const Index ld = std::max<Index>(n, 1);
  const bool by_index = range.kind == RangeOption::Kind::index;
  const Index most = by_index ? std::min(range.index_high, n) - range.index_low : n;
  if (n == 0 || most <= 0) return;
  solution.values.resize(static_cast<std::size_t>(n));
  solution.vectors.resize(static_cast<std::size_t>(vectors ? n * most : 1));
  std::vector<int> support(static_cast<std::size_t>(2 * most));
  Index found = 0;
  double before = now();
  if (!b.empty()) {
    require_success("potrf", blas::potrf<T>(Uplo::lower, n, b.data(), ld));
    require_success("hegst", blas::hegst<T>(1, Uplo::lower, n, a.data(), ld, b.data(), ld));
  }
  before = now() - before;
  Workspace<T> space;
  const auto call = [&](Index lwork, Index lrwork, Index liwork) {
    return blas::heevr<T>(vectors ? 'V' : 'N', by_index ? 'I' : 'V', Uplo::lower, n, a.data(), ld,
                          static_cast<Real>(range.value_low), static_cast<Real>(range.value_high),
                          range.index_low + 1, range.index_low + most, Real(0), &found,
                          solution.values.data(), solution.vectors.data(), ld, support.data(),
                          space.work.data(), lwork, space.rwork.data(), lrwork, space.iwork.data(), liwork);
  };
  const int info = space.query_and(call, 26 * n, 24 * n, 10 * n);
  require_success("heevr", info);
  if (!b.empty() && vectors)
    blas::trsm<T>(Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, n, found, T(1), b.data(), ld,
                  solution.vectors.data(), ld);
  solution.seconds = before + now() - space.start;
  solution.first = by_index ? range.index_low : 0;
  solution.values.resize(static_cast<std::size_t>(found));
  solution.vectors.resize(static_cast<std::size_t>(vectors ? n * found : 0));
}

}  // namespace

template <class T>
PeerSolution<T> solve_with_lapack(std::vector<T> a, std::vector<T> b, Index n, const RangeOption& range,
                                  bool vectors) {
  PeerSolution<T> solution;
  const char letter = type_letter<T>;
  const std::string family = is_complex<T> ? "he" : "sy";
  if (range.kind == RangeOption::Kind::all ||
      (!vectors && b.empty() && range.kind == RangeOption::Kind::index && range.index_low == 0 &&
       range.index_high >= n)) {
    solution.name = fmt::format("lapack {}{}{}", letter, family, b.empty() ? "evd" : "gvd");
    const bool also_two_stages = !vectors && b.empty() && two_stage_driver<T>();
    std::vector<T> again = also_two_stages ? a : std::vector<T>();
    all_pairs(solution, a, b, n, vectors);
    if (also_two_stages) {
      PeerSolution<T> other;
      other.name = solution.name + "_2stage";
      all_values_in_two_stages(other, again, n);
      keep_faster(solution, std::move(other));
    }
  } else {
    solution.name = fmt::format("lapack {}{}evr", letter, family);
    if (!b.empty()) solution.name += fmt::format(" with {}potrf, {}{}gst", letter, letter, family);
    some_pairs(solution, a, b, n, range, vectors);
  }
  return solution;
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template PeerSolution<T> solve_with_lapack<T>(std::vector<T>, std::vector<T>, Index, const RangeOption&, \
                                                bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
