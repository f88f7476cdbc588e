// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/copy_matching.hpp>
#include <tessera/algorithms/block_sparse/kept_blocks.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

template <class T>
KeptBlocks<T>::KeptBlocks(Sequence& sequence, const BlockSparseMatrix<T>& matrix, double eps,
                          const Data* norms)
    : pattern_(matrix.pattern_pointer()),
      eps_(eps),
      formed_(norms && norms->valid() ? Data() : local_norms(sequence, matrix)),
      norms_(norms && norms->valid() ? *norms : formed_),
      chosen_(pattern_, local_panels(*pattern_)) {
  chosen_.count(sequence, FindKept{.pattern = pattern_->packed(),
                                   .panels = {},
                                   .norms = norms_,
                                   .totals = {},
                                   .row_counts = {},
                                   .of = {},
                                   .eps = eps_});
}

template <class T>
DroppedBlocks KeptBlocks<T>::take(Sequence& sequence, BlockSparseMatrix<T>& matrix) {
  chosen_.take();
  double dropped[2] = {static_cast<double>(-chosen_.difference()), static_cast<double>(chosen_.counted())};
  pattern_->runtime().all_reduce_sum(dropped, 2);
  if (dropped[0] == 0) return {0, 0};
  BlockSparseMatrix<T> smaller(chosen_.write_apart(sequence, WriteKept{.pattern = pattern_->packed(),
                                                                       .panels = {},
                                                                       .norms = norms_,
                                                                       .totals = {},
                                                                       .row_counts = {},
                                                                       .result = {},
                                                                       .of = {},
                                                                       .eps = eps_}));
  copy_matching(sequence, matrix, smaller, T(1));
  matrix = std::move(smaller);
  return {static_cast<Index>(dropped[0]), static_cast<Index>(dropped[1])};
}

template <class T>
Completion<FilterResult> find_and_drop(BlockSparseMatrix<T>& a, double eps) {
  auto sequence = std::make_unique<Sequence>(a.runtime());
  const auto kept = std::make_shared<KeptBlocks<T>>(*sequence, a, eps);
  auto result = std::make_shared<FilterResult>();
  // The norms decide which blocks there are: they are waited for.
  auto work = work_of(std::move(sequence), [kept, result, &a] {
    Sequence copies(a.runtime());
    const DroppedBlocks dropped = kept->take(copies, a);
    finish(copies);
    result->dropped_blocks = dropped.all;
    result->nonzero_blocks = dropped.not_zero;
  });
  return {std::move(work), std::move(result)};
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<FilterResult> submit_filter(BlockSparseMatrix<T>& a, double eps) {
  const auto check = [&] {
    if (!(eps >= 0)) throw InvalidArgument("eps", fmt::to_string(eps), "at least 0");
  };
  return collectively(runtime_of("a", a), "filter", argument_hash(eps, shape_hash(a)), check,
                      [&] { return find_and_drop(a, eps); });
}

template <class T>
Index filter(BlockSparseMatrix<T>& a, double eps) {
  const FilterResult result = submit_filter(a, eps).result();
  require_success(a.runtime(), result.status());
  return result.dropped_blocks;
}

#define TESSERA_INSTANTIATE(T)                                                       \
  template class detail::KeptBlocks<T>;                                              \
  template Completion<FilterResult> submit_filter<T>(BlockSparseMatrix<T>&, double); \
  template Index filter<T>(BlockSparseMatrix<T>&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
