// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <tessera/algorithms/lobpcg/vector_tasks.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

constexpr int priority = 0;

/// The ranges of one segment, as a task's operands; those without columns are left out.
template <std::size_t max, class T>
std::array<ReadColumns<T>, max> of_segment(std::span<const BlockColumns<T>> ranges, Index s) {
  std::array<ReadColumns<T>, max> operands;
  auto next = operands.begin();
  for (const BlockColumns<T>& range : ranges)
    if (range.columns > 0) *next++ = {range.block->segment(s), range.first, range.columns};
  return operands;
}

template <class T>
Index columns_of(std::span<const BlockColumns<T>> ranges) {
  Index sum = 0;
  for (const BlockColumns<T>& range : ranges) sum += range.columns;
  return sum;
}

/// The sums over the ranks (MPI gives all the same bits), in one message; empty if a rank's sequence has
/// failed.
std::vector<double> sum_of_ranks(const Sequence& sequence, std::vector<double> sums) {
  sums.push_back(sequence.failed() ? 1 : 0);
  sequence.runtime().all_reduce_sum(sums.data(), static_cast<Index>(sums.size()));
  if (sums.back() != 0) return {};
  sums.pop_back();
  return sums;
}

/// Numbers of a Gram matrix of l and r columns: of real columns, both parts of complex ones.
template <class T>
std::size_t gram_size(Index l, Index r) {
  return static_cast<std::size_t>(reals_of<T> * l * reals_of<T> * r);
}

/// L^H R of real columns' inner products: those of a = Re a + i Im a and b are
/// Re a^T Re b + Im a^T Im b + i (Re a^T Im b - Im a^T Re b).
template <class T>
SmallOf<T> gram_matrix(Index l, Index r, const double* sums) {
  SmallOf<T> g(l, r);
  if constexpr (is_complex<T>) {
    for (Index j = 0; j < r; ++j)
      for (Index i = 0; i < l; ++i) {
        const double *const of_real = sums + 2 * i + 2 * j * 2 * l, *const of_imaginary = of_real + 2 * l;
        g(i, j) = {of_real[0] + of_imaginary[1], of_imaginary[0] - of_real[1]};
      }
  } else {
    std::copy_n(sums, g.values.size(), g.values.begin());
  }
  return g;
}

/// The coefficients of real columns: [Re Y Im Y] = [Re X Im X] [Re c, Im c; -Im c, Re c] for each number c. Of a real T
/// they are c itself.
template <class T>
decltype(auto) real_coefficients(const SmallOf<T>& c) {
  if constexpr (is_complex<T>) {
    SmallMatrix all(2 * c.rows, 2 * c.cols);
    for (Index j = 0; j < c.cols; ++j)
      for (Index i = 0; i < c.rows; ++i) {
        all(2 * i, 2 * j) = all(2 * i + 1, 2 * j + 1) = c(i, j).real();
        all(2 * i, 2 * j + 1) = c(i, j).imag();
        all(2 * i + 1, 2 * j) = -c(i, j).imag();
      }
    return all;
  } else {
    return (c);
  }
}

}  // namespace

template <class T>
VectorTasks<T>::VectorTasks(Sequence& sequence, std::shared_ptr<const RowSegments> segments,
                            Index max_columns)
    : sequence_(sequence),
      segments_(std::move(segments)),
      gram_bytes_(sizeof(double) * gram_size<T>(3 * max_columns, 2 * max_columns)),
      work_(Data::scratch(
          sequence.runtime(),
          std::max(sizeof(double) *
                       static_cast<std::size_t>(gram_parts * gram_launch(static_cast<Index>(gram_size<T>(
                                                                 3 * max_columns, 2 * max_columns)))),
                   sizeof(double) * std::size_t{residual_parts * residual_norms}))) {
  for (Index s = 0; s < segments_->count(); ++s)
    norms_.push_back(Data::bytes(sequence.runtime(), sizeof(double) * residual_norms, segments_->owner(s)));
}

template <class T>
std::vector<SmallOf<T>> VectorTasks<T>::grams(std::span<const GramJob<T>> jobs) {
  Runtime& runtime = sequence_.runtime();
  while (grams_.size() < jobs.size()) {
    grams_.emplace_back();
    for (Index s = 0; s < segments_->count(); ++s)
      grams_.back().push_back(Data::bytes(runtime, gram_bytes_, segments_->owner(s)));
  }
  for (Index s = 0; s < segments_->count(); ++s)
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const Data& g = grams_[j][static_cast<std::size_t>(s)];
      sequence_.insert(Gram<T>{.left = of_segment<3, T>(jobs[j].left, s),
                               .right = of_segment<2, T>(jobs[j].right, s),
                               .g = g,
                               .work = work_,
                               .rows = segments_->size(s)},
                       {.priority = priority, .gpu = segments_->gpu(s)});
      g.fetch_to_host();
    }
  // The host waits: what comes next depends on these numbers.
  std::vector<double> sums;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::size_t count = gram_size<T>(columns_of<T>(jobs[j].left), columns_of<T>(jobs[j].right));
    const std::size_t first = sums.size();
    sums.resize(first + count, 0.0);
    for (const Data& g : grams_[j]) {
      if (!g.local()) continue;
      const HostAccess access(g, HostAccess::Mode::read);
      const auto part = access.array<const double>();
      for (std::size_t k = 0; k < count; ++k) sums[first + k] += part[k];
    }
  }
  sums = sum_of_ranks(sequence_, std::move(sums));
  std::vector<SmallOf<T>> result;
  if (sums.empty() || runtime.rank() != 0) return result;
  const double* from = sums.data();
  for (const GramJob<T>& job : jobs) {
    const Index l = columns_of<T>(job.left), r = columns_of<T>(job.right);
    result.push_back(gram_matrix<T>(l, r, from));
    from += gram_size<T>(l, r);
  }
  return result;
}

template <class T>
void combine_columns(Sequence& sequence, std::span<const BlockColumns<T>> inputs,
                     std::span<const BlockColumns<T>> outputs, const SmallOf<T>& complex_or_real,
                     bool keeps_others) {
  if (columns_of<T>(outputs) == 0) return;
  const SmallMatrix& c = real_coefficients<T>(complex_or_real);
  const Data coefficients = Data::bytes(
      sequence.runtime(), sizeof(double) * std::max<std::size_t>(c.values.size(), 1), Data::every_rank);
  {
    const HostAccess access(coefficients, HostAccess::Mode::write);
    std::copy(c.values.begin(), c.values.end(), access.array<double>().begin());
  }
  const auto is_input = [&](const BlockVectors<T>* block) {
    return std::any_of(inputs.begin(), inputs.end(), [&](const BlockColumns<T>& input) {
      return input.block == block && input.columns > 0;
    });
  };
  const RowSegments& segments = outputs.front().block->segments();
  for (Index s = 0; s < segments.count(); ++s) {
    Combine<T> task{.inputs = of_segment<4, T>(inputs, s), .c = coefficients, .rows = segments.size(s)};
    std::size_t next = 0;
    for (const auto& [block, first, columns] : outputs) {
      if (columns == 0) continue;
      const Data& piece = block->segment(s);
      task.outputs[next++] = {keeps_others || is_input(block) ? add_to(piece) : overwrite(piece), first,
                              columns};
    }
    sequence.insert(task, {.priority = priority, .gpu = segments.gpu(s)});
  }
}

template <class T>
void VectorTasks<T>::copy(const BlockColumns<T>& from, const BlockColumns<T>& to) {
  combine({&from, 1}, {&to, 1}, unit_matrix<WideOf<T>>(from.columns));
}

template <class T>
void VectorTasks<T>::random(const BlockColumns<T>& columns, std::uint64_t seed, Store store) {
  for (Index s = 0; s < segments_->count(); ++s) {
    const Data& piece = columns.block->segment(s);
    sequence_.insert(RandomVectors<T>{.v = store == Store::overwrite ? overwrite(piece) : add_to(piece),
                                      .seed = seed,
                                      .first_row = segments_->begin(s),
                                      .first = static_cast<std::int32_t>(columns.first),
                                      .columns = static_cast<std::int32_t>(columns.columns)},
                     {.priority = priority, .gpu = segments_->gpu(s)});
  }
}

template <class T>
void VectorTasks<T>::residual(const ProductBlock<T>& x, const BlockVectors<T>& r,
                              std::span<const double> theta, Index first) {
  std::array<double, max_block_columns> shifts{};
  std::copy(theta.begin(), theta.end(), shifts.begin());
  for (Index s = 0; s < segments_->count(); ++s) {
    const Data& norms = norms_[static_cast<std::size_t>(s)];
    sequence_.insert(Residual<T>{.ax = x.av.segment(s),
                                 .bx = x.bv.count() > 0 ? &x.bv.segment(s) : nullptr,
                                 .x = x.v.segment(s),
                                 .r = r.segment(s),
                                 .norms = norms,
                                 .work = work_,
                                 .columns = static_cast<std::int32_t>(theta.size()),
                                 .first = static_cast<std::int32_t>(first),
                                 .theta = shifts,
                                 .rows = segments_->size(s)},
                     {.priority = priority, .gpu = segments_->gpu(s)});
    norms.fetch_to_host();
  }
}

template <class T>
ResidualSquares VectorTasks<T>::wait_for_norms() {
  std::vector<double> sums(residual_norms, 0.0);
  for (const Data& norms : norms_) {
    if (!norms.local()) continue;
    const HostAccess access(norms, HostAccess::Mode::read);
    const auto part = access.array<const double>();
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
  }
  return {sum_of_ranks(sequence_, std::move(sums))};
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template void combine_columns(Sequence&, std::span<const BlockColumns<T>>,                \
                                std::span<const BlockColumns<T>>, const SmallOf<T>&, bool); \
  template class VectorTasks<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
