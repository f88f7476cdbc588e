// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/checked_entries.hpp>
#include <tessera/algorithms/sparse/row_survey.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

constexpr Index max_cells = 256, samples_of_cell = 16;

double overlap(Index begin, Index end, Index first, Index last) noexcept {
  return static_cast<double>(std::max<Index>(0, std::min(end, last) - std::max(begin, first)));
}

}  // namespace

RowSurvey::RowSurvey(const Runtime& runtime, const SymmetricRows& rows)
    : order_(rows.order()),
      cells_(std::min(order_, max_cells)),
      counts_(static_cast<std::size_t>(cells_ * cells_)),
      work_(static_cast<std::size_t>(cells_ + 1)) {
  const auto samples = [&](Index cell) {
    return std::min(samples_of_cell, cell_begin(cell + 1) - cell_begin(cell));
  };
  // Whole numbers are summed: exact on whatever number of ranks.
  agree(runtime, 0, [&] {
    const int threads = host_threads(runtime);
    struct Space {
      std::vector<SparseEntry> real;
      std::vector<ComplexSparseEntry> complex;
    };
    std::vector<Space> spaces(static_cast<std::size_t>(threads));
    const Index mine = (cells_ - runtime.rank() + runtime.size() - 1) / runtime.size();
    parallel_for(threads, mine, [&](Index i, int thread) {
      const Index cell = runtime.rank() + i * runtime.size(), begin = cell_begin(cell),
                  size = cell_begin(cell + 1) - begin, count = samples(cell);
      double* const counts = counts_.data() + cell * cells_;
      for (Index sample = 0; sample < count; ++sample) {
        const Index row = begin + (2 * sample + 1) * size / (2 * count);
        Space& space = spaces[static_cast<std::size_t>(thread)];
        const auto note = [&](Index, Index column, auto) { counts[cell_of(column)] += 1; };
        if (rows.hermitian())
          for_checked_entries<std::complex<double>>(rows, row, row + 1, 0, row + 1, space.complex, note);
        else
          for_checked_entries<double>(rows, row, row + 1, 0, row + 1, space.real, note);
      }
    });
  });
  runtime.all_reduce_sum(counts_.data(), static_cast<Index>(counts_.size()));
  for (Index i = 0; i < cells_; ++i)
    for (Index j = 0; j <= i; ++j)
      counts_[static_cast<std::size_t>(i * cells_ + j)] *=
          static_cast<double>(cell_begin(i + 1) - cell_begin(i)) / static_cast<double>(samples(i));
  add_up();
}

RowSurvey::RowSurvey(Index order, std::vector<double> counts)
    : order_(order),
      cells_(std::min(order, max_cells)),
      counts_(std::move(counts)),
      work_(static_cast<std::size_t>(cells_ + 1)) {
  const auto size = [&](Index cell) { return static_cast<double>(cell_begin(cell + 1) - cell_begin(cell)); };
  bool possible = order > 0 && static_cast<Index>(counts_.size()) == count_of(order);
  for (Index i = 0; possible && i < cells_; ++i)
    for (Index j = 0; possible && j < cells_; ++j) {
      const double count = counts_[static_cast<std::size_t>(i * cells_ + j)],
                   most = j > i ? 0 : size(i) * size(j);
      possible = count >= 0 && count <= most * (1 + 1e-12);
    }
  if (!possible)
    throw InvalidArgument("counts", fmt::format("{} numbers", counts_.size()), "those of a survey");
  add_up();
}

Index RowSurvey::count_of(Index order) noexcept {
  const Index cells = std::min(order, max_cells);
  return cells * cells;
}

void RowSurvey::add_up() {
  std::vector<double> work(static_cast<std::size_t>(cells_));
  for (Index i = 0; i < cells_; ++i) {
    work[static_cast<std::size_t>(i)] += static_cast<double>(cell_begin(i + 1) - cell_begin(i));
    for (Index j = 0; j <= i; ++j) {
      const double count = counts_[static_cast<std::size_t>(i * cells_ + j)];
      entries_ += count;
      work[static_cast<std::size_t>(i)] += count;
      work[static_cast<std::size_t>(j)] += count;
    }
  }
  for (std::size_t i = 0; i < work.size(); ++i) work_[i + 1] = work_[i] + work[i];
}

Index RowSurvey::cell_of(Index row) const noexcept {
  Index cell = std::min(row * cells_ / order_, cells_ - 1);
  while (cell_begin(cell + 1) <= row && cell + 1 < cells_) ++cell;
  return cell;
}

double RowSurvey::entries(Index begin, Index end, Index first, Index last) const {
  const auto share = [&](Index cell, Index from, Index to) {
    return overlap(cell_begin(cell), cell_begin(cell + 1), from, to) /
           static_cast<double>(cell_begin(cell + 1) - cell_begin(cell));
  };
  double sum = 0;
  for (Index i = cell_of(begin); i < cells_ && cell_begin(i) < end; ++i)
    for (Index j = cell_of(first); j <= i && cell_begin(j) < last; ++j)
      sum += share(i, begin, end) * share(j, first, last) * counts_[static_cast<std::size_t>(i * cells_ + j)];
  return sum;
}

double RowSurvey::work_before(Index row) const {
  Index cell = std::min(row * cells_ / order_, cells_ - 1);
  while (cell_begin(cell + 1) < row) ++cell;
  const auto c = static_cast<std::size_t>(cell);
  return work_[c] + (work_[c + 1] - work_[c]) * overlap(cell_begin(cell), cell_begin(cell + 1), 0, row) /
                        static_cast<double>(cell_begin(cell + 1) - cell_begin(cell));
}

double RowSurvey::work(Index begin, Index end, double more_of_row) const {
  return work_before(end) - work_before(begin) + more_of_row * static_cast<double>(end - begin);
}

std::vector<Index> RowSurvey::cut(Index begin, Index end, Index parts, const std::vector<Index>& places,
                                  double more_of_row) const {
  const Index first = std::lower_bound(places.begin(), places.end(), begin) - places.begin(),
              last = std::lower_bound(places.begin(), places.end(), end) - places.begin();
  parts = std::min(parts, last - first);
  const double all = work(begin, end, more_of_row);
  std::vector<Index> result{begin};
  Index at = first;
  for (Index part = 1; part < parts; ++part) {
    const double wanted = all * static_cast<double>(part) / static_cast<double>(parts);
    // The nearest place that leaves at least one for each part.
    const Index lowest = at + 1, highest = last - (parts - part);
    at = lowest;
    const auto distance = [&](Index place) {
      return std::abs(work(begin, places[static_cast<std::size_t>(place)], more_of_row) - wanted);
    };
    while (at < highest && distance(at + 1) <= distance(at)) ++at;
    result.push_back(places[static_cast<std::size_t>(at)]);
  }
  result.push_back(end);
  return result;
}

}  // namespace tessera::detail
