// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <tessera/algorithms/lobpcg/subspace.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>

namespace tessera {
namespace {

constexpr int priority = 0;

/// The ranges of one segment.
template <class T>
std::vector<VectorColumns> of_segment(std::span<const BlockColumns<T>> ranges, Index s) {
  std::vector<VectorColumns> result;
  for (const BlockColumns<T>& range : ranges)
    if (range.columns > 0) result.push_back({&range.block->segment(s), range.first, range.columns});
  return result;
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

}  // namespace

template <class T>
VectorTasks<T>::VectorTasks(Sequence& sequence, std::shared_ptr<const RowSegments> segments,
                            Index most_columns)
    : sequence_(sequence),
      segments_(std::move(segments)),
      gram_bytes_(sizeof(double) * static_cast<std::size_t>(6 * most_columns * most_columns)),
      work_(Data::scratch(sequence.runtime(),
                          std::max(gram_parts * gram_bytes_,
                                   sizeof(double) * std::size_t{residual_parts * residual_norms}))) {
  for (Index s = 0; s < segments_->count(); ++s)
    norms_.push_back(Data::bytes(sequence.runtime(), sizeof(double) * residual_norms, segments_->owner(s)));
}

template <class T>
std::vector<SmallMatrix> VectorTasks<T>::grams(std::span<const GramJob<T>> jobs) {
  Runtime& runtime = sequence_.runtime();
  while (grams_.size() < jobs.size()) {
    grams_.emplace_back();
    for (Index s = 0; s < segments_->count(); ++s)
      grams_.back().push_back(Data::bytes(runtime, gram_bytes_, segments_->owner(s)));
  }
  for (Index s = 0; s < segments_->count(); ++s)
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const Data& g = grams_[j][static_cast<std::size_t>(s)];
      insert_gram<T>(sequence_, priority, segments_->size(s), of_segment<T>(jobs[j].left, s),
                     of_segment<T>(jobs[j].right, s), g, work_, segments_->gpu(s));
      g.fetch_to_host();
    }
  // The host waits: what comes next depends on these numbers.
  std::vector<double> sums;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto count = static_cast<std::size_t>(columns_of<T>(jobs[j].left) * columns_of<T>(jobs[j].right));
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
  std::vector<SmallMatrix> result;
  if (sums.empty() || runtime.rank() != 0) return result;
  auto from = sums.begin();
  for (const GramJob<T>& job : jobs) {
    SmallMatrix g(columns_of<T>(job.left), columns_of<T>(job.right));
    std::copy_n(from, g.values.size(), g.values.begin());
    from += static_cast<std::ptrdiff_t>(g.values.size());
    result.push_back(std::move(g));
  }
  return result;
}

template <class T>
void VectorTasks<T>::combine(std::span<const BlockColumns<T>> inputs,
                             std::span<const BlockColumns<T>> outputs, const SmallMatrix& c, bool whole) {
  if (columns_of<T>(outputs) == 0) return;
  const Data coefficients = Data::bytes(
      sequence_.runtime(), sizeof(double) * std::max<std::size_t>(c.values.size(), 1), Data::every_rank);
  {
    const HostAccess access(coefficients, HostAccess::Mode::write);
    std::copy(c.values.begin(), c.values.end(), access.array<double>().begin());
  }
  for (Index s = 0; s < segments_->count(); ++s)
    insert_combine<T>(sequence_, priority, segments_->size(s), of_segment<T>(inputs, s),
                      of_segment<T>(outputs, s), whole, coefficients, segments_->gpu(s));
}

template <class T>
void VectorTasks<T>::random(const BlockVectors<T>& v, Index first, Index columns, std::uint64_t seed,
                            bool clear) {
  for (Index s = 0; s < segments_->count(); ++s)
    insert_random_vectors<T>(sequence_, priority,
                             {.seed = seed,
                              .first_row = segments_->begin(s),
                              .first = static_cast<std::int32_t>(first),
                              .columns = static_cast<std::int32_t>(columns),
                              .clear = clear},
                             v.segment(s), segments_->gpu(s));
}

template <class T>
void VectorTasks<T>::residual(const BlockVectors<T>& x, const BlockVectors<T>& ax, const BlockVectors<T>* bx,
                              const BlockVectors<T>& r, std::span<const double> theta, Index first) {
  ResidualArguments arguments;
  arguments.columns = static_cast<std::int32_t>(theta.size());
  arguments.first = static_cast<std::int32_t>(first);
  std::copy(theta.begin(), theta.end(), arguments.theta);
  for (Index s = 0; s < segments_->count(); ++s) {
    const Data& norms = norms_[static_cast<std::size_t>(s)];
    insert_residual<T>(sequence_, priority, arguments, segments_->size(s), x.segment(s), ax.segment(s),
                       bx ? &bx->segment(s) : nullptr, r.segment(s), norms, work_, segments_->gpu(s));
    norms.fetch_to_host();
  }
}

template <class T>
std::vector<double> VectorTasks<T>::wait_for_norms() {
  std::vector<double> sums(residual_norms, 0.0);
  for (const Data& norms : norms_) {
    if (!norms.local()) continue;
    const HostAccess access(norms, HostAccess::Mode::read);
    const auto part = access.array<const double>();
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
  }
  return sum_of_ranks(sequence_, std::move(sums));
}

template class VectorTasks<float>;
template class VectorTasks<double>;

}  // namespace tessera
