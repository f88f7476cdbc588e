// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <tessera/codelets/tridiagonal/deflate.hpp>
#include <tessera/codelets/tridiagonal/leaf.hpp>
#include <tessera/codelets/tridiagonal/secular.hpp>
#include <tessera/codelets/tridiagonal/value_arguments.hpp>
#include <tessera/codelets/tridiagonal/value_tasks.hpp>

namespace tessera {
namespace {

using tridiagonal::MergeRecord;
using tridiagonal::NodeSpectrum;

using namespace value_codelets;

// ---- the steps of a merge
// -------------------------------------------------------------------------------------------

void run_deflate(TaskBuffers buffers, const MergeShape& shape, MergeRecord& record, void* scratch) noexcept {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), shape.n);
  double* reals = static_cast<double*>(scratch);
  Index* integers = reinterpret_cast<Index*>(reals + kernels::deflate_real_scratch(shape.order()));
  kernels::deflate(spectrum_of(buffers, 1, shape.left), shape.left, spectrum_of(buffers, 2, shape.right),
                   shape.right, scaled.e[shape.cut - 1], shape.epsilon, record, reals, integers);
}

void fail_if_broken(const TaskContext& task, const MergeShape& shape, const MergeRecord& record) noexcept {
  if (record.header->status != 0) task.fail(StatusCode::no_convergence, shape.cut + 1);
}

void merge_task(const TaskContext& task, TaskBuffers buffers, const MergeShape& shape) {
  MergeRecord record(bytes_of(buffers, 3), shape.order());
  double* scratch = buffers.array<double>(5).data();
  run_deflate(buffers, shape, record, scratch);
  fail_if_broken(task, shape, record);
  const Index poles = record.poles();
  kernels::secular_roots(record, 0, poles, record.base, record.offset);
  if (shape.weights) {
    kernels::secular_weights(record, 0, poles, scratch);
    kernels::place_weights(scratch, record);
  }
  if (shape.rows) kernels::secular_rows(record, 0, poles, record.root_first, record.root_last);
  kernels::order_spectrum(record, shape.rows, spectrum_of(buffers, 4, shape.order()));
}
Codelet merge_codelet = make_codelet<MergeShape, merge_task>("tridiagonal_merge");

void deflate_task(const TaskContext& task, TaskBuffers buffers, const MergeShape& shape) {
  MergeRecord record(bytes_of(buffers, 3), shape.order());
  run_deflate(buffers, shape, record, bytes_of(buffers, 4));
  fail_if_broken(task, shape, record);
}
Codelet deflate_codelet = make_codelet<MergeShape, deflate_task>("tridiagonal_deflate");

struct PartArguments {
  MergeShape shape;
  Index part, parts;
  Index capacity() const noexcept { return merge_part_capacity(shape.order(), parts); }
  Index begin(Index poles) const noexcept { return poles * part / parts; }
  Index end(Index poles) const noexcept { return poles * (part + 1) / parts; }
};

enum class Step { roots, weights, rows };

template <Step step>
void part_task(const TaskContext&, TaskBuffers buffers, const PartArguments& arguments) {
  const MergeRecord record(bytes_of(buffers, 0), arguments.shape.order());
  double* first = buffers.array<double>(1).data();
  double* second = first + arguments.capacity();
  const Index begin = arguments.begin(record.poles()), end = arguments.end(record.poles());
  if constexpr (step == Step::roots)
    kernels::secular_roots(record, begin, end, first, second);
  else if constexpr (step == Step::weights)
    kernels::secular_weights(record, begin, end, first);
  else
    kernels::secular_rows(record, begin, end, first, second);
}
Codelet roots_codelet = make_codelet<PartArguments, part_task<Step::roots>>("tridiagonal_secular_roots");
Codelet weights_codelet =
    make_codelet<PartArguments, part_task<Step::weights>>("tridiagonal_secular_weights");
Codelet rows_codelet = make_codelet<PartArguments, part_task<Step::rows>>("tridiagonal_secular_rows");

/// Copies the halves of all parts into two arrays of the record; the parts' buffers follow buffer
/// `first_part` - 1.
void collect(TaskBuffers buffers, int first_part, PartArguments arguments, Index poles, double* first,
             double* second) noexcept {
  for (arguments.part = 0; arguments.part < arguments.parts; ++arguments.part) {
    const double* part = buffers.array<const double>(first_part + static_cast<int>(arguments.part)).data();
    const Index begin = arguments.begin(poles), count = arguments.end(poles) - begin;
    std::copy_n(part, count, first + begin);
    if (second) std::copy_n(part + arguments.capacity(), count, second + begin);
  }
}

template <Step step>
void gather_task(const TaskContext&, TaskBuffers buffers, const PartArguments& arguments) {
  MergeRecord record(bytes_of(buffers, 0), arguments.shape.order());
  if constexpr (step == Step::roots) {
    collect(buffers, 1, arguments, record.poles(), record.base, record.offset);
  } else {
    // root_first is free until the rows are there: the weights pass through it to their slots.
    collect(buffers, 1, arguments, record.poles(), record.root_first, nullptr);
    kernels::place_weights(record.root_first, record);
  }
}
Codelet gather_roots_codelet =
    make_codelet<PartArguments, gather_task<Step::roots>>("tridiagonal_gather_roots");
Codelet gather_weights_codelet =
    make_codelet<PartArguments, gather_task<Step::weights>>("tridiagonal_gather_weights");

void order_task(const TaskContext&, TaskBuffers buffers, const PartArguments& arguments) {
  const MergeShape& shape = arguments.shape;
  MergeRecord record(bytes_of(buffers, 0), shape.order());
  if (shape.rows) collect(buffers, 2, arguments, record.poles(), record.root_first, record.root_last);
  kernels::order_spectrum(record, shape.rows, spectrum_of(buffers, 1, shape.order()));
}
Codelet order_codelet = make_codelet<PartArguments, order_task>("tridiagonal_order");

// ---- leaves, scaling
// ------------------------------------------------------------------------------------------------

template <class R>
void scale_task(const TaskContext& task, TaskBuffers buffers, const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 2), arguments.n);
  int exponent = 0;
  const Index bad =
      kernels::scale_and_cut(arguments.n, buffers.array<const R>(0).data(), buffers.array<const R>(1).data(),
                             arguments.m, scaled.d, scaled.e, &exponent);
  *scaled.exponent = exponent;
  if (bad != 0) task.fail(StatusCode::not_finite, bad);
}
template <class R>
Codelet scale_codelet = make_codelet<RangeArguments, scale_task<R>>("tridiagonal_scale", type_letter<R>);

template <class R>
void leaf_task(const TaskContext& task, TaskBuffers buffers, const LeafArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  double* reals = buffers.array<double>(1).data();
  for (Index tree = 0; tree < arguments.forest.trees(); ++tree) {
    const Index m = arguments.forest.tree_rows(tree),
                start = arguments.start + tree * arguments.forest.stride;
    const auto q = buffers.matrix<R>(static_cast<int>(2 + 2 * tree));
    int* integers = reinterpret_cast<int*>(reals + kernels::leaf_real_scratch(m));
    const int info = kernels::leaf_eigenvectors(m, scaled.d + start, scaled.e + start,
                                                spectrum_of(buffers, static_cast<int>(3 + 2 * tree), m),
                                                q.data, q.ld, reals, integers);
    if (info != 0) task.fail(StatusCode::no_convergence, start + 1);
  }
}
template <class R>
Codelet leaf_codelet = make_codelet<LeafArguments, leaf_task<R>>("tridiagonal_leaf", type_letter<R>);

void subtree_task(const TaskContext& task, TaskBuffers buffers, const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  const int info = kernels::subtree_values(arguments.m, scaled.d + arguments.start,
                                           scaled.e + arguments.start, arguments.epsilon, arguments.rows,
                                           spectrum_of(buffers, 1, arguments.m), bytes_of(buffers, 2));
  if (info != 0) task.fail(StatusCode::no_convergence, arguments.start + 1);
}
Codelet subtree_codelet = make_codelet<RangeArguments, subtree_task>("tridiagonal_subtree");

template <class R>
void unscale_task(const TaskContext&, TaskBuffers buffers, const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  kernels::unscale_values(spectrum_of(buffers, 1, arguments.n).value, 0, arguments.n,
                          static_cast<int>(*scaled.exponent), buffers.array<R>(2).data());
}
template <class R>
Codelet unscale_codelet = make_codelet<RangeArguments, unscale_task<R>>("tridiagonal_unscale",
                                                                        type_letter<R>);

}  // namespace

std::size_t merge_scratch_bytes(Index m) noexcept {
  const std::size_t on_host = static_cast<std::size_t>(kernels::deflate_real_scratch(m)) * sizeof(double) +
                              static_cast<std::size_t>(kernels::deflate_index_scratch(m)) * sizeof(Index);
  return std::max(on_host, static_cast<std::size_t>(tridiagonal::merge_scratch_doubles(m)) * sizeof(double));
}

std::size_t leaf_scratch_bytes(const tridiagonal::Forest& forest, bool on_gpu) noexcept {
  const Index m = std::min(forest.leaf, forest.rows);
  const std::size_t on_host = static_cast<std::size_t>(kernels::leaf_real_scratch(m)) * sizeof(double) +
                              static_cast<std::size_t>(kernels::leaf_integer_scratch(m)) * sizeof(int);
  return on_gpu ? std::max(on_host, tridiagonal::forest_scratch_bytes(forest, true)) : on_host;
}

std::size_t subtree_scratch_bytes(Index m, bool on_gpu) noexcept {
  const std::size_t on_host = kernels::subtree_scratch_bytes(m);
  return on_gpu ? std::max(on_host, tridiagonal::forest_scratch_bytes({m, m, m}, false)) : on_host;
}

template <class R>
void insert_tridiagonal_scale(Sequence& sequence, int priority, Index n, Index leaf, const Data& d,
                              const Data& e, const Data& scaled) {
  sequence.insert(scale_codelet<R>, RangeArguments{n, 0, leaf, 0, false}, {.priority = priority},
                  {read(d), read(e), write(scaled)});
}

template <class R>
void insert_tridiagonal_leaves(Sequence& sequence, int priority, Index n, Index start,
                               const tridiagonal::Forest& forest, double epsilon, const Data& scaled,
                               std::span<const LeafData> leaves, const Data& data_scratch) {
  double flops = 0;
  std::vector<Access> accesses{read(scaled), scratch(data_scratch)};
  for (Index tree = 0; tree < forest.trees(); ++tree) {
    const double order = static_cast<double>(forest.tree_rows(tree));
    flops += 4 * order * order * order;
    accesses.push_back(write(*leaves[static_cast<std::size_t>(tree)].q));
    accesses.push_back(write(*leaves[static_cast<std::size_t>(tree)].spectrum));
  }
  sequence.insert(leaf_codelet<R>, LeafArguments{n, start, forest, epsilon},
                  {.priority = priority, .flops = flops}, std::span<const Access>(accesses));
}

void insert_tridiagonal_subtree(Sequence& sequence, int priority, Index n, Index start, Index m,
                                double epsilon, bool rows, const Data& scaled, const Data& spectrum,
                                const Data& data_scratch) {
  sequence.insert(subtree_codelet, RangeArguments{n, start, m, epsilon, rows}, {.priority = priority},
                  {read(scaled), write(spectrum), scratch(data_scratch)});
}

template <class R>
void insert_tridiagonal_unscale(Sequence& sequence, int priority, Index n, const Data& scaled,
                                const Data& spectrum, const Data& values) {
  sequence.insert(unscale_codelet<R>, RangeArguments{n, 0, n, 0, false}, {.priority = priority},
                  {read(scaled), read(spectrum), write(values)});
}

void insert_tridiagonal_merge(Sequence& sequence, int priority, const MergeShape& shape,
                              const MergeData& data) {
  sequence.insert(merge_codelet, shape, {.priority = priority},
                  {read(data.scaled), read(data.left), read(data.right), write(data.record),
                   write(data.merged), scratch(data.scratch)});
}

void insert_tridiagonal_merge_in_parts(Sequence& sequence, int priority, const MergeShape& shape,
                                       const MergeData& data, std::span<const Data> parts) {
  const TaskOptions options{.priority = priority};
  const Index count = static_cast<Index>(parts.size());
  const auto in_parts = [&](Codelet& codelet) {
    for (Index p = 0; p < count; ++p)
      sequence.insert(codelet, PartArguments{shape, p, count}, options,
                      {read(data.record), write(parts[static_cast<std::size_t>(p)])});
  };
  const auto gather = [&](Codelet& codelet, std::vector<Access> accesses, bool read_parts) {
    if (read_parts)
      for (const Data& part : parts) accesses.push_back(read(part));
    sequence.insert(codelet, PartArguments{shape, 0, count}, options, std::span<const Access>(accesses));
  };
  sequence.insert(
      deflate_codelet, shape, options,
      {read(data.scaled), read(data.left), read(data.right), write(data.record), scratch(data.scratch)});
  in_parts(roots_codelet);
  gather(gather_roots_codelet, {read_write(data.record)}, true);
  if (shape.weights) {
    in_parts(weights_codelet);
    gather(gather_weights_codelet, {read_write(data.record)}, true);
  }
  if (shape.rows) in_parts(rows_codelet);
  gather(order_codelet, {read_write(data.record), write(data.merged)}, shape.rows);
}

#define TESSERA_INSTANTIATE(R)                                                                             \
  template void insert_tridiagonal_scale<R>(Sequence&, int, Index, Index, const Data&, const Data&,        \
                                            const Data&);                                                  \
  template void insert_tridiagonal_leaves<R>(Sequence&, int, Index, Index, const tridiagonal::Forest&,     \
                                             double, const Data&, std::span<const LeafData>, const Data&); \
  template void insert_tridiagonal_unscale<R>(Sequence&, int, Index, const Data&, const Data&, const Data&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
