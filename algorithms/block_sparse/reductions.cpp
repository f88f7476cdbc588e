// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/algorithms/block_sparse/block_sums.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/panel_lanczos.hpp>
#include <tessera/algorithms/block_sparse/panel_lines.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/block_reductions.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/spectral_bounds.hpp>

namespace tessera::detail {

namespace {

/// The results of a task for each panel, a few E, which every rank gets.
template <class E>
class PanelResults {
 public:
  explicit PanelResults(const BlockPattern& pattern)
      : pattern_(&pattern), pieces_(static_cast<std::size_t>(pattern.panels())), counts_(pieces_.size(), 0) {}

  /// Room for the results of a panel, where the panel is.
  const Data& make(Index p, Index count) {
    const auto at = static_cast<std::size_t>(p);
    counts_[at] = count;
    pieces_[at] = Data::bytes(pattern_->runtime(), static_cast<std::size_t>(count) * sizeof(E),
                              pattern_->panel_owner(p));
    return pieces_[at];
  }

  /// Calls visit(panel, results) for the panels of this rank, in their order; waits for their tasks.
  template <class Visit>
  void for_each_local(const Visit& visit) const {
    for (Index p = 0; p < pattern_->panels(); ++p) {
      const Data& piece = pieces_[static_cast<std::size_t>(p)];
      if (!piece.valid() || !piece.local()) continue;
      const HostAccess access(piece, HostAccess::Mode::read);
      visit(p, access.template array<const E>());
    }
  }

  /// All of them by panel, on every rank. Every number comes from one rank; the others add -0, which changes
  /// nothing (not even the sign of a zero).
  std::vector<std::vector<E>> gather() const {
    std::vector<Index> first(1, 0);
    for (const Index count : counts_) first.push_back(first.back() + count);
    constexpr Index parts = is_complex<E> ? 2 : 1;
    std::vector<double> all(static_cast<std::size_t>(parts * first.back()), -0.0);
    for_each_local([&](Index p, std::span<const E> results) {
      double* part = all.data() + parts * first[static_cast<std::size_t>(p)];
      for (const E x : results) {
        *part++ = real_part(x);
        if constexpr (is_complex<E>) *part++ = imag_part(x);
      }
    });
    pattern_->runtime().all_reduce_sum(all.data(), static_cast<Index>(all.size()));
    std::vector<std::vector<E>> results;
    const double* part = all.data();
    for (const Index count : counts_) {
      std::vector<E>& result = results.emplace_back(static_cast<std::size_t>(count));
      for (E& x : result) {
        if constexpr (is_complex<E>)
          x = E(RealOf<E>(part[0]), RealOf<E>(part[1]));
        else
          x = E(part[0]);
        part += parts;
      }
    }
    return results;
  }

 private:
  const BlockPattern* pattern_;
  std::vector<Data> pieces_;
  std::vector<Index> counts_;
};

/// The number that a PanelSum gives for each panel that has blocks, in the order of panels.
template <class T>
std::vector<std::vector<double>> reduce_panels(const BlockSparseMatrix<T>& a, PanelSum sum) {
  PanelResults<double> results(a.pattern());
  const Data work = Data::scratch(a.runtime(), reduction_bytes);
  Sequence sequence(a.runtime());
  for (Index p = 0; p < a.pattern().panels(); ++p)
    if (a.panel(p).valid())
      sequence.insert(ReducePanel<T>{.blocks = a.pattern().blocks_of(p),
                                     .values = a.panel(p),
                                     .result = results.make(p, 1),
                                     .work = work,
                                     .sum = sum,
                                     .symmetry = a.symmetry()});
  finish(sequence);
  return results.gather();
}

template <class T>
T scalar(std::complex<double> x) {
  if constexpr (is_complex<T>)
    return T(x);
  else
    return T(x.real());
}

/// Sums over the blocks of a matrix, and the number that comes of them, which is there when the tasks are over.
template <class T, class Number, class Of>
Completion<NumberResult<Number>> submit_sums(const BlockSparseMatrix<T>& a, const WantedSums<T>& wanted,
                                             const Of& number_of) {
  auto sequence = std::make_unique<Sequence>(a.runtime());
  const auto sums = std::make_shared<const BlockSums<T>>(*sequence, a, wanted);
  auto result = std::make_shared<NumberResult<Number>>();
  auto work = work_of(std::move(sequence), [=] { result->value = number_of(sums->total()); });
  return {std::move(work), std::move(result)};
}

/// The result, or what a blocking call throws.
template <class Number>
Number value_of(Runtime& runtime, Completion<NumberResult<Number>> completion) {
  const NumberResult<Number> result = std::move(completion).result();
  require_success(runtime, result.status());
  return result.value;
}

/// Which elements of the diagonal a stored block has.
DiagonalPart diagonal_part(const BlockPattern& pattern, BlockCoordinate at) {
  return {std::max(pattern.rows().first(at.row), pattern.cols().first(at.col)),
          std::min(pattern.rows().first(at.row + 1), pattern.cols().first(at.col + 1))};
}

/// Adds sums for the lines of a panel to those of the matrix; returns what follows them.
const double* add_lines(const BlockDimension& dimension, Index panel, const double* sums,
                        std::vector<double>& lines) {
  for (const Index block : dimension.panel(panel))
    for (Index i = dimension.first(block); i < dimension.first(block + 1); ++i)
      lines[static_cast<std::size_t>(i)] += *sums++;
  return sums;
}

/// The sums along all rows (or columns): each rank adds its panels in their order, the ranks' sums are added
/// once, and all ranks get the result of rank 0.
template <class T>
std::vector<double> sum_lines(const BlockSparseMatrix<T>& a, LineSum sum) {
  const BlockPattern& pattern = a.pattern();
  const bool by_row = sum == LineSum::rows_of_moduli, images = a.symmetry() != Symmetry::none;
  PanelResults<double> results(pattern);
  Sequence sequence(a.runtime());
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!a.panel(p).valid()) continue;
    const Index rows = pattern.rows().extent(pattern.row_panel(p)),
                cols = pattern.cols().extent(pattern.col_panel(p));
    const Index count = (by_row || images ? rows : 0) + (!by_row || images ? cols : 0);
    if (count == 0) continue;
    const Data lines_of_blocks = make_lines(pattern, p), order = make_order(pattern, p);
    sequence.insert(
        SumLines<T>{.blocks = pattern.blocks_of(p),
                    .lines = lines_of_blocks,
                    .order = if_valid(order),
                    .values = a.panel(p),
                    .sums = results.make(p, count),
                    .sum = sum,
                    .symmetry = a.symmetry(),
                    .rows = rows,
                    .cols = cols,
                    .block_rows = static_cast<Index>(pattern.rows().panel(pattern.row_panel(p)).size()),
                    .block_cols = static_cast<Index>(pattern.cols().panel(pattern.col_panel(p)).size())});
  }
  finish(sequence);
  std::vector<double> lines(static_cast<std::size_t>(by_row ? a.rows() : a.cols()), 0.0);
  results.for_each_local([&](Index p, std::span<const double> sums) {
    const double* next = sums.data();
    if (by_row) {
      next = add_lines(pattern.rows(), pattern.row_panel(p), next, lines);
      if (images) add_lines(pattern.cols(), pattern.col_panel(p), next, lines);
    } else {
      next = add_lines(pattern.cols(), pattern.col_panel(p), next, lines);
      if (images) add_lines(pattern.rows(), pattern.row_panel(p), next, lines);
    }
  });
  const auto count = static_cast<Index>(lines.size());
  a.runtime().all_reduce_sum(lines.data(), count);
  a.runtime().broadcast(lines.data(), count * static_cast<Index>(sizeof(double)), 0);
  return lines;
}

template <class T>
std::vector<std::vector<double>> norms_of(const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  PanelResults<double> results(pattern);
  Sequence sequence(a.runtime());
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!a.panel(p).valid()) continue;
    const std::int32_t panel = word_of(p);
    insert_norms(sequence, a, std::span(&panel, 1), results.make(p, pattern.panel_blocks(p)),
                 pattern.blocks_before(p), {});
  }
  finish(sequence);
  return results.gather();
}

/// Elements of the diagonal that the blocks of each panel would have, were all stored.
std::vector<Index> diagonal_of_panels(const BlockPattern& pattern) {
  std::vector<Index> elements(static_cast<std::size_t>(pattern.panels()), 0);
  for (const BlockCoordinate at : blocks_on_diagonal(pattern.layout())) {
    const auto [first, end] = diagonal_part(pattern, at);
    elements[static_cast<std::size_t>(
        pattern.panel(pattern.rows().panel_of(at.row), pattern.cols().panel_of(at.col)))] += end - first;
  }
  return elements;
}

template <class T>
std::vector<T> diagonal_of(const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  PanelResults<T> results(pattern);
  Sequence sequence(a.runtime());
  const std::vector<Index> room = diagonal_of_panels(pattern);
  for (const Index p : panels_on_diagonal(pattern))
    sequence.insert(GetDiagonal<T>{.blocks = pattern.blocks_of(p),
                                   .values = a.panel(p),
                                   .diagonal = results.make(p, room[static_cast<std::size_t>(p)])});
  finish(sequence);
  // Every element comes from one rank, a zero that is not stored from the rank that would store it; the others
  // add -0, which changes nothing (not even the sign of a zero).
  std::vector<std::complex<double>> diagonal(static_cast<std::size_t>(std::min(a.rows(), a.cols())),
                                             {-0.0, -0.0});
  for (const BlockCoordinate at : blocks_on_diagonal(pattern.layout())) {
    if (pattern.layout().owner(at.row, at.col) != a.runtime().rank()) continue;
    const auto [first, end] = diagonal_part(pattern, at);
    std::fill(diagonal.begin() + first, diagonal.begin() + end, std::complex<double>(0));
  }
  results.for_each_local([&](Index p, std::span<const T> stored) {
    auto next = stored.begin();
    for (const BlockCoordinate at : pattern.coordinates(p)) {
      const auto [first, end] = diagonal_part(pattern, at);
      for (Index i = first; i < end; ++i, ++next)
        diagonal[static_cast<std::size_t>(i)] = {static_cast<double>(real_part(*next)),
                                                 static_cast<double>(imag_part(*next))};
    }
  });
  a.runtime().all_reduce_sum(reinterpret_cast<double*>(diagonal.data()),
                             2 * static_cast<Index>(diagonal.size()));
  std::vector<T> result;
  for (const std::complex<double>& x : diagonal) {
    if constexpr (is_complex<T>)
      result.push_back(T(x));
    else
      result.push_back(static_cast<T>(x.real()));
  }
  return result;
}

/// Gershgorin's circles meet the real axis between the least and the largest a_ii -/+ r_i. The sums of moduli
/// are rounded, by at most one unit in 2^53 a term: the interval is widened by that.
template <class D>
SpectralInterval interval_of(const std::vector<D>& diagonal, const std::vector<double>& sums) {
  if (sums.empty()) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SpectralInterval interval{infinity, -infinity};
  const double rounding = precision<double> * static_cast<double>(sums.size() + 4);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double center = real_part(diagonal[i]);
    const double radius = std::max(sums[i] - std::abs(center), 0.0) + rounding * sums[i];
    // Infinity minus infinity, too.
    if (!std::isfinite(sums[i])) return {std::nan(""), std::nan("")};
    interval.lower = std::min(interval.lower, center - radius);
    interval.upper = std::max(interval.upper, center + radius);
  }
  return interval;
}

/// A public call with one matrix.
template <class T, class Work>
auto reduction(std::string_view name, const BlockSparseMatrix<T>& a, const Work& work) {
  return collectively(runtime_of("a", a), name, shape_hash(a), work);
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
std::vector<std::vector<double>> block_norms_squared(const BlockSparseMatrix<T>& a) {
  return reduction("block_norms_squared", a, [&] { return norms_of(a); });
}

template <class T>
std::vector<T> get_diagonal(const BlockSparseMatrix<T>& a) {
  return reduction("get_diagonal", a, [&] { return diagonal_of(a); });
}

template <class T>
Completion<NumberResult<T>> submit_trace(const BlockSparseMatrix<T>& a) {
  return reduction("trace", a, [&] {
    return submit_sums<T, T>(a, {.trace = true},
                             [](const BlockTotals& sums) { return scalar<T>(sums.trace); });
  });
}

template <class T>
T trace(const BlockSparseMatrix<T>& a) {
  return value_of(runtime_of("a", a), submit_trace(a));
}

template <class T>
Completion<NumberResult<T>> submit_dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b) {
  const auto check = [&] {
    require_made("b", b);
    require_sizes("b", b.layout(), a.layout());
  };
  return collectively(runtime_of("a", a), "dot", argument_hash(shape_hash(a), shape_hash(b)), check, [&] {
    return submit_sums<T, T>(a, {.other = &b}, [](const BlockTotals& sums) { return scalar<T>(sums.dot); });
  });
}

template <class T>
T dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b) {
  return value_of(runtime_of("a", a), submit_dot(a, b));
}

template <class T>
Completion<NumberResult<double>> submit_frobenius_norm(const BlockSparseMatrix<T>& a) {
  return reduction("frobenius_norm", a, [&] {
    return submit_sums<T, double>(a, {.squares = true},
                                  [](const BlockTotals& sums) { return std::sqrt(sums.squares); });
  });
}

template <class T>
double frobenius_norm(const BlockSparseMatrix<T>& a) {
  return value_of(runtime_of("a", a), submit_frobenius_norm(a));
}

template <class T>
double max_abs_norm(const BlockSparseMatrix<T>& a) {
  double largest = 0;
  for (const auto& number :
       reduction("max_abs_norm", a, [&] { return reduce_panels(a, PanelSum::largest); })) {
    if (number.empty()) continue;
    if (std::isnan(number[0])) return number[0];
    largest = std::max(largest, number[0]);
  }
  return largest;
}

template <class T>
double gershgorin_norm(const BlockSparseMatrix<T>& a) {
  double largest = 0;
  for (const double sum :
       reduction("gershgorin_norm", a, [&] { return sum_lines(a, LineSum::rows_of_moduli); })) {
    if (std::isnan(sum)) return sum;
    largest = std::max(largest, sum);
  }
  return largest;
}

template <class T>
SpectralInterval gershgorin_bounds(const BlockSparseMatrix<T>& a) {
  const auto check = [&] { require_hermitian(a); };
  return collectively(runtime_of("a", a), "gershgorin_bounds", shape_hash(a), check, [&] {
    const WholeOperand<T> whole(a);
    if (!whole.usable()) return interval_of(diagonal_of(a), sum_lines(a, LineSum::rows_of_moduli));
    const auto rows = whole.row_moduli();
    return interval_of(rows.diagonal, rows.sums);
  });
}

template <class T>
std::vector<double> column_norms(const BlockSparseMatrix<T>& a) {
  std::vector<double> norms =
      reduction("column_norms", a, [&] { return sum_lines(a, LineSum::columns_of_squares); });
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

template <class T>
double checksum(const BlockSparseMatrix<T>& a, bool by_position) {
  return collectively(runtime_of("a", a), "checksum", argument_hash(by_position, shape_hash(a)), [&] {
    if (!by_position)
      return value_of(a.runtime(), submit_sums<T, double>(a, {.squares = true}, [](const BlockTotals& sums) {
                        return sums.squares;
                      }));
    double sum = 0;
    for (const auto& number : reduce_panels(a, PanelSum::by_position))
      if (!number.empty()) sum += number[0];
    return sum;
  });
}

template <class T>
double occupation(const BlockSparseMatrix<T>& a) {
  require_made("a", a);
  const double all = static_cast<double>(a.rows()) * static_cast<double>(a.cols());
  if (all == 0) return 0;
  auto stored = static_cast<double>(a.pattern().elements());
  if (a.symmetry() != Symmetry::none) {
    stored *= 2;
    stored -= static_cast<double>(a.pattern().diagonal_elements());
  }
  return stored / all;
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template std::vector<std::vector<double>> block_norms_squared<T>(const BlockSparseMatrix<T>&);   \
  template std::vector<T> get_diagonal<T>(const BlockSparseMatrix<T>&);                            \
  template Completion<NumberResult<T>> submit_trace<T>(const BlockSparseMatrix<T>&);               \
  template T trace<T>(const BlockSparseMatrix<T>&);                                                \
  template Completion<NumberResult<T>> submit_dot<T>(const BlockSparseMatrix<T>&,                  \
                                                     const BlockSparseMatrix<T>&);                 \
  template T dot<T>(const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&);                     \
  template Completion<NumberResult<double>> submit_frobenius_norm<T>(const BlockSparseMatrix<T>&); \
  template double frobenius_norm<T>(const BlockSparseMatrix<T>&);                                  \
  template double max_abs_norm<T>(const BlockSparseMatrix<T>&);                                    \
  template double gershgorin_norm<T>(const BlockSparseMatrix<T>&);                                 \
  template SpectralInterval gershgorin_bounds<T>(const BlockSparseMatrix<T>&);                     \
  template std::vector<double> column_norms<T>(const BlockSparseMatrix<T>&);                       \
  template double checksum<T>(const BlockSparseMatrix<T>&, bool);                                  \
  template double occupation<T>(const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
