// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scalapack_peer.hpp"

#include <algorithm>

#include <tessera/error.hpp>

#if TESSERA_HAVE_SCALAPACK

#include "ranks_peer.hpp"
#include "scalapack_routines.hpp"

namespace tessera::program {
using namespace detail;

namespace {

constexpr int one = 1;

/// Work arrays of the sizes that a query returns. A size in single precision may have been rounded down.
template <class T>
struct Workspace {
  std::vector<T> work{1};
  std::vector<RealOf<T>> rwork{1};
  std::vector<int> iwork{1};
  int lwork = -1, lrwork = -1, liwork = -1;

  /// @param more  than the routine asks for
  void allocate(Index more) {
    const auto size = [](double asked) { return static_cast<int>(asked * (1 + 1e-6)) + 64; };
    lwork = size(static_cast<double>(real_part(work[0])) + static_cast<double>(more));
    lrwork = is_complex<T> ? size(static_cast<double>(rwork[0])) : 1;
    liwork = size(iwork[0]);
    work.resize(static_cast<std::size_t>(lwork));
    rwork.resize(static_cast<std::size_t>(lrwork));
    iwork.resize(static_cast<std::size_t>(liwork));
  }
};

template <class T>
class Solver {
 public:
  using Real = RealOf<T>;
  using Attempt = RanksAttempt<T>;
  explicit Solver(RanksProblem<T>& problem)
      : problem_(problem), n_(static_cast<int>(problem.n())), job_(problem.vectors() ? 'V' : 'N') {}

  /// A := inv(L) A inv(L)^H of the generalized problem, once for all routines, whose seconds contain it.
  /// @throws Error
  void reduce() {
    if (!problem_.generalized()) return;
    CyclicMatrix<T>&a = problem_.a(), &b = problem_.b();
    int info = 0;
    Workspace<T> space;
    reduction_ =
        problem_.timed([&] { Lib::potrf("L", &n_, b.data(), &one, &one, b.descriptor(), &info, 1); });
    require_success("potrf", info);
    const auto gst = [&] {
      Lib::gst(&one, "L", &n_, a.data(), &one, &one, a.descriptor(), b.data(), &one, &one, b.descriptor(),
               &scale_, space.work.data(), &space.lwork, &info, 1);
    };
    if (problem_.grid().inside()) gst();
    problem_.together([&] { space.allocate(for_products()); });
    reduction_ += problem_.timed(gst);
    require_success(Lib::reduction, info);
  }

  Attempt evd() {
    return attempt("evd", [this](CyclicMatrix<T>& a, CyclicMatrix<T>& z, Workspace<T>& s, int& info) {
      if constexpr (is_complex<T>)
        Lib::evd(&job_, "L", &n_, a.data(), &one, &one, a.descriptor(), values_.data(), z.data(), &one, &one,
                 z.descriptor(), s.work.data(), &s.lwork, s.rwork.data(), &s.lrwork, s.iwork.data(),
                 &s.liwork, &info, 1, 1);
      else
        Lib::evd(&job_, "L", &n_, a.data(), &one, &one, a.descriptor(), values_.data(), z.data(), &one, &one,
                 z.descriptor(), s.work.data(), &s.lwork, s.iwork.data(), &s.liwork, &info, 1, 1);
    });
  }

  /// Values alone.
  Attempt ev() {
    return attempt("ev", [this](CyclicMatrix<T>& a, CyclicMatrix<T>& z, Workspace<T>& s, int& info) {
      if constexpr (is_complex<T>)
        Lib::ev(&job_, "L", &n_, a.data(), &one, &one, a.descriptor(), values_.data(), z.data(), &one, &one,
                z.descriptor(), s.work.data(), &s.lwork, s.rwork.data(), &s.lrwork, &info, 1, 1);
      else
        Lib::ev(&job_, "L", &n_, a.data(), &one, &one, a.descriptor(), values_.data(), z.data(), &one, &one,
                z.descriptor(), s.work.data(), &s.lwork, &info, 1, 1);
    });
  }

  Attempt evr() {
    const RangeOption& range = problem_.range();
    const bool by_index = range.kind == RangeOption::Kind::index,
               by_value = range.kind == RangeOption::Kind::value;
    const char kind = problem_.wants_all() ? 'A' : by_value ? 'V' : 'I';
    const Real low = by_value ? static_cast<Real>(range.value_low) : 0,
               high = by_value ? static_cast<Real>(range.value_high) : 0;
    const int first = by_index ? static_cast<int>(range.index_low) + 1 : 1,
              last = by_index ? static_cast<int>(std::min(range.index_high, problem_.n())) : n_;
    int found = 0, vectors = 0;
    const auto call = [&](CyclicMatrix<T>& a, CyclicMatrix<T>& z, Workspace<T>& s, int& info) {
      if constexpr (is_complex<T>)
        Lib::evr(&job_, &kind, "L", &n_, a.data(), &one, &one, a.descriptor(), &low, &high, &first, &last,
                 &found, &vectors, values_.data(), z.data(), &one, &one, z.descriptor(), s.work.data(),
                 &s.lwork, s.rwork.data(), &s.lrwork, s.iwork.data(), &s.liwork, &info, 1, 1, 1);
      else
        Lib::evr(&job_, &kind, "L", &n_, a.data(), &one, &one, a.descriptor(), &low, &high, &first, &last,
                 &found, &vectors, values_.data(), z.data(), &one, &one, z.descriptor(), s.work.data(),
                 &s.lwork, s.iwork.data(), &s.liwork, &info, 1, 1, 1);
    };
    return attempt("evr", call, &found);
  }

 private:
  using Lib = scalapack::Routines<T>;

  std::string name(const char* routine) const {
    const char letter = type_letter<T>;
    std::string text = fmt::format("scalapack p{}{}{}", letter, Lib::family, routine);
    if (problem_.generalized()) text += fmt::format(" with p{}potrf, p{}{}", letter, letter, Lib::reduction);
    return text;
  }

  void require_success(const char* routine, int info) const {
    if (const int error = problem_.error_of_any(info); error != 0)
      throw Error(fmt::format("ScaLAPACK's p{}{} failed with |info| = {}", type_letter<T>, routine, error));
  }

  /// What p?ormtr needs, which p?syevd forgets for matrices of few blocks: p?ormtr does nothing then, and
  /// the vectors are wrong without an error.
  Index for_products() const {
    const Index nb = problem_.block();
    return nb * (problem_.a().local_rows() + problem_.a().local_cols() + 2 * nb);
  }

  /// @param found  how many values a routine for ranges has found; null: it has computed all
  template <class Call>
  Attempt attempt(const char* routine, const Call& call, const int* found = nullptr) {
    Attempt result{.name = name(routine)};
    CyclicMatrix<T> a;
    Workspace<T> space;
    int info = 0;
    problem_.together([&] {
      a = problem_.a();
      result.z = problem_.square();
      values_.assign(static_cast<std::size_t>(std::max(n_, 1)), Real(0));
    });
    if (problem_.grid().inside()) call(a, result.z, space, info);
    if (problem_.error_of_any(info) == 0) {
      problem_.together([&] { space.allocate(for_products()); });
      result.seconds = reduction_ + problem_.timed([&] { call(a, result.z, space, info); });
    }
    if (const int error = problem_.error_of_any(info); error != 0) {
      result.failure = fmt::format("{} failed with |info| = {}", result.name, error);
      return result;
    }
    keep_wanted(result, found);
    if (problem_.generalized() && problem_.vectors()) back_substitute(result);
    return result;
  }

  void keep_wanted(Attempt& result, const int* found) {
    std::vector<Real>& values = result.values;
    values = values_;
    problem_.share(values);
    double count = found ? *found : n_;
    problem_.runtime().all_reduce_max(&count, 1);
    values.resize(static_cast<std::size_t>(count));
    for (Real& value : values) value *= scale_;
    if (found) return;
    const auto [begin, end] = problem_.wanted(values);
    result.column = begin;
    values = std::vector<Real>(values.begin() + begin, values.begin() + std::max(begin, end));
  }

  void back_substitute(Attempt& result) const {
    const CyclicMatrix<T>& l = problem_.b();
    const int columns = static_cast<int>(result.values.size()), first = static_cast<int>(result.column) + 1;
    const T unit(1);
    if (columns == 0) return;
    result.seconds += problem_.timed([&] {
      Lib::trsm("L", "L", is_complex<T> ? "C" : "T", "N", &n_, &columns, &unit, l.data(), &one, &one,
                l.descriptor(), result.z.data(), &one, &first, result.z.descriptor(), 1, 1, 1, 1);
    });
  }

  RanksProblem<T>& problem_;
  int n_;
  char job_;
  std::vector<Real> values_;
  double reduction_ = 0;
  Real scale_ = 1;
};

/// The block size: 64 where p?syevr can take it. For a range by number it leaves too small a part of its work
/// array to p?ormtr where there are fewer vectors than a block has columns, and the vectors are wrong without an
/// error.
Index block_for(Index n, const RangeOption& range, bool vectors, int ranks) {
  Index block = 64;
  const bool part = vectors && range.kind == RangeOption::Kind::index;
  const Index count = std::min(range.index_high, n) - range.index_low;
  while (part && block > 1) {
    const CyclicShape shape = CyclicShape::make(n, ranks, block);
    block = shape.block;
    const Index rows = local_extent(n, block, 0, shape.grid.rows),
                cols = local_extent(count, block, 0, shape.grid.cols);
    const Index there = std::max(18 * n, rows * cols + 2 * block * block);
    if (there >= (rows + cols) * block + block * block) break;
    block /= 2;
  }
  return block;
}

}  // namespace

bool has_scalapack() {
  return true;
}
std::string scalapack_version() {
  return TESSERA_SCALAPACK_VERSION;
}

template <class T>
EigenPeerSolution<T> solve_with_scalapack(Runtime& runtime, const EigenPeerProblem<T>& asked, int threads) {
  if (nothing_wanted(asked)) return nothing_of<T>("scalapack");
  RanksProblem<T> problem(runtime, asked, block_for(asked.n, asked.range, asked.vectors, runtime.size()));
  Solver<T> solver(problem);
  solver.reduce();
  return fastest_of<T>(
      problem, asked, threads,
      {[&] { return asked.vectors ? solver.evd() : solver.ev(); }, [&] { return solver.evr(); }});
}

#else

namespace tessera::program {

bool has_scalapack() {
  return false;
}
std::string scalapack_version() {
  return {};
}

template <class T>
EigenPeerSolution<T> solve_with_scalapack(Runtime&, const EigenPeerProblem<T>&, int) {
  throw InvalidArgument("--peer", "scalapack", "another peer (this program was built without ScaLAPACK)");
}

#endif

#define TESSERA_INSTANTIATE(T) \
  template EigenPeerSolution<T> solve_with_scalapack<T>(Runtime&, const EigenPeerProblem<T>&, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
