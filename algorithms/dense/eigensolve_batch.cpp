// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/codelets/batch/eigensolve_chunk.hpp>
#include <tessera/eigensolve_batch.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/caller_streams.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

void require(bool good, const char* name, Index value, const std::string& expected) {
  if (!good) throw InvalidArgument(name, fmt::to_string(value), expected);
}

template <class T>
void check_batch(const Runtime& runtime, const EigenBatchProblem<T>& problem,
                 const EigensolveBatchOptions& options) {
  const BatchInput<T>& a = problem.a;
  const BatchOutput<T>& z = problem.vectors_to;
  if (runtime.size() > 1)
    throw InvalidArgument("runtime", fmt::format("{} ranks", runtime.size()),
                          "one rank, with a batch of its own");
  require(a.n >= 0 && a.n <= max_batch_order, "a.n", a.n, fmt::format("0 to {}", max_batch_order));
  require(a.count >= 0, "a.count", a.count, "at least 0");
  require(options.chunk >= 0, "chunk", options.chunk, "at least 0");
  if (a.n == 0 || a.count == 0) return;
  if (!a.data) throw InvalidArgument("a", "null", "an array");
  require(a.ld >= a.n, "a.ld", a.ld, fmt::format("at least n = {}", a.n));
  const Index least = (a.n - 1) * a.ld + a.n;
  require(a.count == 1 || a.stride >= least, "a.stride", a.stride,
          fmt::format("at least (n - 1) ld + n = {}", least));
  if (!options.vectors || !z.data) return;
  require(z.ld >= a.n, "vectors_to.ld", z.ld, fmt::format("at least n = {}", a.n));
  const bool beside = z.stride == a.n * z.ld, packed = z.ld == a.n && z.stride >= a.n * a.n;
  require(a.count == 1 || beside || packed, "vectors_to.stride", z.stride,
          fmt::format("n ld = {}, or more if ld is n", a.n * z.ld));
}

/// Matrices of a task.
/// @param on_gpu  they are in the memory of a GPU
template <class T>
Index chosen_chunk(const Runtime& runtime, Index n, Index count, bool vectors, bool on_gpu) {
  if (runtime.gpus() == 0) {
    // Several tasks a worker, none of them tiny.
    const double flops = 9 * flop_factor<T> * double(n) * double(n) * double(n);
    const Index least = static_cast<Index>(std::max(1e6 / flops, 1.0));
    return std::clamp<Index>(ceil_div(count, 4 * runtime.workers()), std::min(least, count), count);
  }
  // A GPU wants some matrices for each of its multiprocessors. What is there already it takes at once; what the host has
  // comes in several chunks, so that the transfers of one go on beside the work on another. The work space is bounded.
  constexpr double work_bytes = 2e9;
  const Index fill = n <= 64 ? 4096 : n <= 256 ? 528 : 64;
  const Index fits = std::max<Index>(
      static_cast<Index>(work_bytes / double(eigensolve_chunk_work<T>(runtime, n, 1, vectors))), 1);
  return std::min({count, fits, std::max(fill, ceil_div(count, (on_gpu ? 1 : 4) * runtime.gpus()))});
}

/// Matrices [first, first + count) of an array as a piece of data: one beside the other, or each as a column.
template <class T>
Data matrices(Runtime& runtime, T* data, Index n, Index ld, Index stride, Index first, Index count) {
  T* const begin = data + first * stride;
  if (stride == n * ld || count == 1) return Data::wrap_matrix(runtime, begin, n, n * count, ld, sizeof(T));
  return Data::wrap_matrix(runtime, begin, (n - 1) * ld + n, count, stride, sizeof(T));
}

/// The tasks of a batch, and what the matrices themselves say when they have ended.
template <class T>
class BatchWork final : public Work {
 public:
  using R = RealOf<T>;
  BatchWork(Runtime& runtime, const EigenBatchProblem<T>& problem, const EigensolveBatchOptions& options)
      : problem_(problem), result_(new EigenBatchResult<T>), sequence_(new Sequence(runtime)) {
    const BatchInput<T>& a = problem_.a;
    const Index n = a.n, count = a.count;
    if (n == 0 || count == 0) return;
    if (!options.vectors) problem_.vectors_to = {};
    vectors_ = options.vectors;
    if (!problem_.values_to) {
      result_->values.resize(static_cast<std::size_t>(n * count));
      problem_.values_to = result_->values.data();
    }
    if (vectors_ && !problem_.vectors_to.data) {
      result_->vectors.resize(static_cast<std::size_t>(n * n * count));
      problem_.vectors_to = {result_->vectors.data(), n};
    }
    info_.resize(static_cast<std::size_t>(count));
    const Index chunk = std::min(count, options.chunk > 0 ? options.chunk
                                                          : chosen_chunk<T>(runtime, n, count, vectors_,
                                                                            in_gpu_memory(runtime, a.data)));
    if (runtime.any_gpus())
      work_ = Data::scratch(runtime, eigensolve_chunk_work<T>(runtime, n, chunk, vectors_));
    sequence_->begin_stage(stage);
    for (Index first = 0; first < count; first += chunk)
      insert(runtime, first, std::min(chunk, count - first));
  }
  const std::shared_ptr<EigenBatchResult<T>>& result() const noexcept { return result_; }
  bool ready() const override { return sequence_->ready(); }
  Status finish() override {
    return guarded(sequence_->runtime(), [&] {
      const Status status = sequence_->wait();
      // The caller's arrays are up to date after that.
      inputs_.clear();
      outputs_.clear();
      return status ? look_at_matrices() : status;
    });
  }
  SequenceStatistics statistics() const override { return sequence_->statistics(); }

 private:
  static constexpr const char* stage = "eigensolve_batch";

  void insert(Runtime& runtime, Index first, Index count) {
    const BatchInput<T>& a = problem_.a;
    const BatchOutput<T>& z = problem_.vectors_to;
    const auto n = static_cast<std::size_t>(a.n), matrices_of_chunk = static_cast<std::size_t>(count);
    inputs_.push_back(matrices(runtime, const_cast<T*>(a.data), a.n, a.ld, a.stride, first, count));
    const Data& input = inputs_.back();
    const auto output = [&](Data data) -> const Data& { return outputs_.emplace_back(std::move(data)); };
    const Data& values = output(
        Data::wrap_bytes(runtime, problem_.values_to + first * a.n, sizeof(R) * n * matrices_of_chunk));
    const Data& info =
        output(Data::wrap_bytes(runtime, info_.data() + first, sizeof(int) * matrices_of_chunk));
    const Data* const vectors =
        vectors_ ? &output(matrices(runtime, z.data, a.n, z.ld, z.stride, first, count)) : nullptr;
    sequence_->insert(EigensolveChunk<T>{.a = input,
                                         .values = values,
                                         .info = info,
                                         .z = vectors,
                                         .work = work_.valid() ? &work_ : nullptr,
                                         .n = a.n,
                                         .count = count,
                                         .lda = a.ld,
                                         .ldz = z.ld,
                                         .uplo = a.uplo});
  }

  Status look_at_matrices() {
    for (std::size_t k = 0; k < info_.size(); ++k)
      if (info_[k] != 0)
        result_->failures.push_back({static_cast<Index>(k),
                                     info_[k] < 0 ? StatusCode::not_finite : StatusCode::no_convergence,
                                     std::abs(info_[k])});
    if (result_->failures.empty()) return {};
    const BatchFailure& failure = result_->failures.front();
    return {failure.code, stage, failure.matrix + 1,
            fmt::format("matrix {}, {} {}; {} of {} matrices have failed", failure.matrix + 1,
                        failure.code == StatusCode::not_finite ? "column" : "eigenvalue", failure.index,
                        result_->failures.size(), info_.size())};
  }

  EigenBatchProblem<T> problem_;
  bool vectors_ = false;
  // The sequence goes first, and waits: its tasks write into the result.
  std::shared_ptr<EigenBatchResult<T>> result_;
  std::vector<int> info_;
  Data work_;
  std::deque<Data> inputs_, outputs_;
  std::unique_ptr<Sequence> sequence_;
};

template <class T>
Completion<EigenBatchResult<T>> submit_batch(Runtime& runtime, const EigenBatchProblem<T>& problem,
                                             const EigensolveBatchOptions& options) {
  const double n = double(problem.a.n), count = double(problem.a.count);
  const double vectors = options.vectors && !problem.vectors_to.data ? n * n * sizeof(T) : 0;
  const double values = problem.values_to ? 0 : n * sizeof(RealOf<T>);
  require_memory(runtime, "eigensolve_batch", count * (vectors + values + sizeof(int)));
  auto work = std::make_unique<BatchWork<T>>(runtime, problem, options);
  std::shared_ptr<EigenBatchResult<T>> result = work->result();
  return {std::move(work), std::move(result)};
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<EigenBatchResult<T>> submit_eigensolve_batch(Runtime& runtime, const EigenBatchProblem<T>& problem,
                                                        const EigensolveBatchOptions& options) {
  const BatchInput<T>& a = problem.a;
  return collectively(
      runtime, "submit_eigensolve_batch",
      argument_hash(sizeof(T), is_complex<T>, a.n, a.count, a.uplo, options.vectors, options.chunk),
      [&] { check_batch(runtime, problem, options); },
      [&] { return submit_batch(runtime, problem, options); });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template Completion<EigenBatchResult<T>> submit_eigensolve_batch<T>(Runtime&, const EigenBatchProblem<T>&, \
                                                                      const EigensolveBatchOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
