// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_check.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include <fmt/format.h>

#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "lobpcg_problem.hpp"
#include "machine_limits.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// X by rows; each row has k numbers, S: double or std::complex<double>.
template <class S>
using RowMajor = std::vector<S>;

/// |x|^2.
template <class S>
double square(S x) {
  return real_part(x) * real_part(x) + imag_part(x) * imag_part(x);
}

/// Ranges of rows whose entries are requested together. A range does not cross a tile boundary.
std::vector<std::pair<Index, Index>> row_ranges(const SymmetricRows& rows) {
  constexpr Index max_rows = 256;
  std::vector<Index> cuts(rows.tiles().begin(), rows.tiles().end());
  if (cuts.empty()) cuts = {0, rows.order()};
  std::vector<std::pair<Index, Index>> ranges;
  for (std::size_t t = 0; t + 1 < cuts.size(); ++t)
    for (Index first = cuts[t]; first < cuts[t + 1]; first += max_rows)
      ranges.emplace_back(first, std::min(first + max_rows, cuts[t + 1]));
  return ranges;
}

constexpr std::size_t part_size = 16384;
std::size_t parts_of(std::size_t count) {
  return (count + part_size - 1) / part_size;
}
/// Calls work(begin, end, number) for parts of 0, ..., count - 1, which are always the same, on threads.
template <class Work>
void for_parts(int threads, std::size_t count, const Work& work) {
  parallel_for(threads, static_cast<Index>(parts_of(count)), [&](Index number, int) {
    const std::size_t begin = static_cast<std::size_t>(number) * part_size;
    work(begin, std::min(begin + part_size, count), static_cast<std::size_t>(number));
  });
}

/// y := y + value x, a row of k numbers each.
template <class S>
void add_row(S value, const S* x, std::size_t k, S* y) {
#pragma omp simd
  for (std::size_t j = 0; j < k; ++j) y[j] += value * x[j];
}

/// A X for the matrix given by `rows`, with values rounded to V. The ranges are distributed over
/// ranks and threads.
template <class V, class S>
RowMajor<S> product(Runtime& runtime, const SymmetricRows& rows, const RowMajor<S>& x, std::size_t k) {
  const std::vector<std::pair<Index, Index>> ranges = row_ranges(rows);
  const auto ranks = static_cast<Index>(runtime.size()), count = static_cast<Index>(ranges.size());
  // Each thread has its own sums.
  const int threads = threads_with_bytes(runtime, sizeof(S) * x.size());
  std::vector<RowMajor<S>> sums(static_cast<std::size_t>(threads));
  std::vector<std::vector<EntryOf<S>>> spaces(static_cast<std::size_t>(threads));
  parallel_for(threads, threads,
               [&](Index t, int) { sums[static_cast<std::size_t>(t)].assign(x.size(), S(0)); });
  parallel_for(threads, (count - runtime.rank() + ranks - 1) / ranks, [&](Index i, int thread) {
    const auto [first, end] = ranges[static_cast<std::size_t>(runtime.rank() + i * ranks)];
    std::vector<EntryOf<S>>& entries = spaces[static_cast<std::size_t>(thread)];
    RowMajor<S>& y = sums[static_cast<std::size_t>(thread)];
    entries.clear();
    list_entries(rows, first, end, entries);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      // Columns lie anywhere: what comes soon is on its way from memory meanwhile.
      constexpr std::size_t ahead = 16;
      const std::size_t soon = entries[std::min(e + ahead, entries.size() - 1)].column * k;
      __builtin_prefetch(x.data() + soon);
      __builtin_prefetch(y.data() + soon, 1);
      const EntryOf<S>& entry = entries[e];
      const std::size_t row = (static_cast<std::size_t>(first) + entry.row) * k, column = entry.column * k;
      const S value = static_cast<S>(static_cast<V>(entry.value));
      add_row(value, x.data() + column, k, y.data() + row);
      if (row != column) add_row(conjugate(value), x.data() + row, k, y.data() + column);
    }
  });
  for_parts(threads, x.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t t = 1; t < sums.size(); ++t)
      for (std::size_t i = begin; i < end; ++i) sums[0][i] += sums[t][i];
  });
  runtime.all_reduce_sum(reinterpret_cast<double*>(sums[0].data()),
                         static_cast<Index>(x.size() * sizeof(S) / sizeof(double)));
  return std::move(sums[0]);
}

/// Sums over all rows for pairs of columns.
template <class S>
struct Sums {
  std::vector<S> x_bx;           ///< X^H B X, k x k
  std::vector<double> x_square;  ///< of the columns of X
  std::vector<double> residual;  ///< squares of A x - theta B x

  explicit Sums(std::size_t k) : x_bx(k * k, S(0)), x_square(k, 0.0), residual(k, 0.0) {}
  void add(const Sums& other) {
    const auto each = [](auto& to, const auto& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    each(x_bx, other.x_bx), each(x_square, other.x_square), each(residual, other.residual);
  }
};

template <class S>
Sums<S> sums_of(int threads, const RowMajor<S>& x, const RowMajor<S>& ax, const RowMajor<S>& bx,
                const std::vector<double>& theta) {
  const std::size_t k = theta.size(), rows = x.size() / k;
  std::vector<Sums<S>> parts(parts_of(rows), Sums<S>(k));
  for_parts(threads, rows, [&](std::size_t begin, std::size_t end, std::size_t number) {
    Sums<S>& sums = parts[number];
    for (std::size_t row = begin * k; row < end * k; row += k)
      for (std::size_t j = 0; j < k; ++j) {
        sums.x_square[j] += square(x[row + j]);
        sums.residual[j] += square(ax[row + j] - theta[j] * bx[row + j]);
        for (std::size_t i = 0; i < k; ++i) sums.x_bx[i + j * k] += conjugate(x[row + i]) * bx[row + j];
      }
  });
  Sums<S> all(k);
  for (const Sums<S>& part : parts) all.add(part);
  return all;
}

/// NaN is a failed check here, not a check that was not computed.
double known(double x) {
  return std::isnan(x) ? HUGE_VAL : x;
}

/// error / allowed. An error of 0 passes even if `allowed` is 0, as for a matrix of zeros.
double scaled(double error, double allowed) {
  return error == 0 ? 0 : known(error / allowed);
}

/// Of a vector of length 1.
double allowed_residual(const LobpcgOptions& options, double norm_a, double norm_b, double theta) {
  const double unit = options.norm == LobpcgNorm::backward   ? norm_a + std::abs(theta) * norm_b
                      : options.norm == LobpcgNorm::relative ? std::abs(theta)
                                                             : 1;
  return options.tolerance * unit;
}

}  // namespace

double check_memory(double order, Index count, std::size_t element_bytes) noexcept {
  return order * static_cast<double>(count) * static_cast<double>(element_bytes + 3 * sizeof(double));
}

template <class V, class T>
CheckRecord check_pairs(Runtime& runtime, const SparsePair& pair, const LobpcgOptions& options,
                        const LobpcgResult<T>& result, const std::vector<double>& reference,
                        const std::string& against) {
  CheckRecord record;
  const std::size_t k = result.values.size(), n = static_cast<std::size_t>(pair.a.order());
  if (k == 0) return record;
  std::vector<T> given(n * k);
  result.vectors.get(given.data(), static_cast<Index>(k), static_cast<Index>(k));
  using S = WideOf<T>;
  const RowMajor<S> x(given.begin(), given.end()), ax = product<V>(runtime, pair.a, x, k),
                                                   bx = pair.b ? product<V>(runtime, *pair.b, x, k) : x;
  const double root = std::sqrt(static_cast<double>(n)), epsilon = static_cast<double>(precision<T>);
  record.residual = record.orthogonality = 0;
  double largest_square = 0;
  std::vector<double> bounds;
  const Sums<S> sums = sums_of<S>(host_threads(runtime), x, ax, bx,
                                  std::vector<double>(result.values.begin(), result.values.end()));
  for (std::size_t j = 0; j < k; ++j) {
    const double theta = result.values[j];
    const double residual = sums.residual[j], square = sums.x_square[j];
    largest_square = std::max(largest_square, square);
    bounds.push_back(allowed_residual(options, pair.norm_a, pair.norm_b, theta));
    record.residual = std::max(record.residual, scaled(known(std::sqrt(residual / square)), bounds.back()));
    for (std::size_t i = 0; i <= j; ++i)
      record.orthogonality =
          std::max(record.orthogonality,
                   known(std::abs(sums.x_bx[i + j * k] - (i == j ? 1.0 : 0.0)) / (root * epsilon)));
  }
  if (reference.empty()) return record;
  record.values = record.values_difference = 0;
  record.values_against = against;
  const double rounding = (static_cast<double>(precision<V>) + root * epsilon) * pair.norm_a;
  for (std::size_t j = 0; j < std::min(k, reference.size()); ++j) {
    const double difference = known(std::abs(result.values[j] - reference[j]));
    const double allowed = (bounds[j] + rounding) * (pair.b ? std::max(1.0, largest_square) : 1);
    record.values_difference = std::max(record.values_difference, difference);
    record.values = std::max(record.values, scaled(difference, allowed));
  }
  return record;
}

std::string different_values(const std::vector<double>& ours, const std::vector<double>& theirs,
                             const LobpcgOptions& options, double norm_a, double rounding) {
  for (std::size_t j = 0; j < std::min(ours.size(), theirs.size()); ++j) {
    const double theta = ours[j];
    // An eigenvalue is as near as the residual is long.
    const double allowed = 2 * allowed_residual(options, norm_a, 1, theta) + 100 * rounding * norm_a;
    if (!(std::abs(theta - theirs[j]) <= allowed))
      return fmt::format("eigenvalue {} is {:.12g}, the peer's {:.12g}", j + 1, theta, theirs[j]);
  }
  return {};
}

#define TESSERA_INSTANTIATE(V, T)                                                            \
  template CheckRecord check_pairs<V, T>(Runtime&, const SparsePair&, const LobpcgOptions&,  \
                                         const LobpcgResult<T>&, const std::vector<double>&, \
                                         const std::string&);
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera::program
