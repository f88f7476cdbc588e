// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/band/back_transform_tasks.hpp>
#include <tessera/codelets/linalg/split_products.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

/// Sweeps a WY group: enough columns for a register tile, few zeros in the parallelogram.
template <class T>
Index sweeps_per_group(Index bandwidth) noexcept {
  return std::min<Index>(bandwidth, is_complex<T> ? 8 : 16);
}

/// Groups that a task applies together: their window (b + groups g rows) is read and written once for all of
/// them.
constexpr Index groups_per_task(Index sweeps) noexcept {
  return std::clamp<Index>(64 / sweeps, 1, 8);
}

/// Tasks' worth of WY blocks in memory at a time.
constexpr Index ring_tasks = 3;

template <class T>
class BackTransform {
 public:
  BackTransform(Sequence& sequence, ChaseReflectors<T>& reflectors, const ColumnSlabs<T>& z)
      : sequence_(sequence),
        reflectors_(reflectors),
        z_(z),
        n_(reflectors.size()),
        bandwidth_(reflectors.bandwidth()),
        sweeps_(sweeps_per_group<T>(bandwidth_)),
        per_task_(groups_per_task(sweeps_)),
        workspace_(Data::scratch(
            sequence.runtime(),
            static_cast<std::size_t>(kernels::wy_workspace<T>(bandwidth_, sweeps_)) * sizeof(RealOf<T>))) {
    const Index groups = ceil_div(n_ - 1, sweeps_), ring = std::min(groups, ring_tasks * per_task_);
    const auto bytes =
        static_cast<std::size_t>(kernels::WyLayout<T>::size(n_, bandwidth_, 0, sweeps_)) * sizeof(T);
    for (Index i = 0; i < ring; ++i)
      ring_.push_back(Data::bytes(sequence.runtime(), bytes, Data::every_rank));
  }

  void run() {
    const Index groups = ceil_div(n_ - 1, sweeps_);
    for (Index end = groups; end > 0; end -= std::min(end, per_task_))
      apply(std::max<Index>(end - per_task_, 0), end);
  }

 private:
  Index group_sweeps(Index group) const noexcept { return std::min(sweeps_, n_ - 1 - group * sweeps_); }
  const Data& blocks(Index group) const noexcept {
    return ring_[static_cast<std::size_t>(group % static_cast<Index>(ring_.size()))];
  }
  void form_hops(Index group, Index first_hop, Index last_hop, int priority);
  void form(Index group, int priority);
  void apply(Index begin, Index end);

  Sequence& sequence_;
  ChaseReflectors<T>& reflectors_;
  const ColumnSlabs<T>& z_;
  Index n_, bandwidth_, sweeps_, per_task_;
  Data workspace_;
  std::vector<Data> ring_;
};

/// The WY blocks first_hop .. last_hop - 1 of a group on every rank that has slabs, by as many tasks as the
/// number of pieces that hold their reflectors asks for.
template <class T>
void BackTransform<T>::form_hops(Index group, Index first_hop, Index last_hop, int priority) {
  const Index first = group * sweeps_, sweeps = group_sweeps(group);
  std::vector<kernels::Reflectors<T>> shapes;
  std::vector<const Data*> data;
  const auto& pieces = reflectors_.pieces();
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const kernels::Reflectors<T>& shape = piece->shape;
    if (shape.first_sweep + shape.sweeps <= first) break;
    if (shape.first_sweep >= first + sweeps || shape.first_hop >= last_hop ||
        shape.first_hop + shape.hops <= first_hop)
      continue;
    shapes.push_back(shape);
    data.push_back(&piece->data);
  }
  if (static_cast<Index>(shapes.size()) > max_form_pieces && last_hop - first_hop > 1) {
    const Index middle = (first_hop + last_hop) / 2;
    form_hops(group, first_hop, middle, priority);
    form_hops(group, middle, last_hop, priority);
    return;
  }
  if (static_cast<Index>(shapes.size()) > max_form_pieces)
    throw RuntimeError("too many pieces of reflectors in one WY group");
  FormWy<T> task{.workspace = workspace_,
                 .blocks = first_hop == 0 ? overwrite(blocks(group)) : add_to(blocks(group)),
                 .kept = data,
                 .n = n_,
                 .bandwidth = bandwidth_,
                 .first_sweep = first,
                 .sweeps = sweeps,
                 .first_hop = first_hop,
                 .last_hop = last_hop};
  std::copy(shapes.begin(), shapes.end(), task.pieces.begin());
  const int ranks = static_cast<int>(std::min<Index>(sequence_.runtime().size(), z_.count()));
  for (int rank = 0; rank < ranks; ++rank) sequence_.insert(task, {.priority = priority, .execute_on = rank});
}

/// All WY blocks of a group; pieces that no earlier group needs are released.
template <class T>
void BackTransform<T>::form(Index group, int priority) {
  const Index first = group * sweeps_;
  form_hops(group, 0, kernels::hop_count(n_, bandwidth_, first), priority);
  auto& pieces = reflectors_.pieces();
  while (!pieces.empty() && pieces.back().shape.first_sweep >= first) pieces.pop_back();
}

template <class T>
void BackTransform<T>::apply(Index begin, Index end) {
  const int priority = static_cast<int>(begin);
  std::vector<const Data*> data;
  for (Index group = end - 1; group >= begin; --group)
    form(group, priority + 2 * static_cast<int>(per_task_));
  for (Index group = begin; group < end; ++group) data.push_back(&blocks(group));
  for (Index j = 0; j < z_.count(); ++j)
    sequence_.insert(ApplyWy<T>{.workspace = workspace_,
                                .c = z_.slab(j),
                                .blocks = data,
                                .n = n_,
                                .bandwidth = bandwidth_,
                                .first_sweep = begin * sweeps_,
                                .sweeps = sweeps_,
                                .last_sweeps = group_sweeps(end - 1),
                                .columns = z_.slab_cols(j)},
                     {.priority = priority});
}

/// The reflectors of a GPU's chase: the WY blocks of a whole piece at a time, in one of two buffers, so that
/// the blocks of the next piece may be formed while those of this one are applied.
template <class T>
void apply_device_pieces(Sequence& sequence, ChaseReflectors<T>& reflectors, const ColumnSlabs<T>& z,
                         bool split) {
  Runtime& runtime = sequence.runtime();
  auto& pieces = reflectors.device_pieces();
  const Data workspace = Data::scratch(runtime, kernels::apply_chase_workspace(z.width()));
  Index largest = 0;
  for (const auto& piece : pieces)
    largest = std::max(largest, kernels::chase_blocks<T>(piece.shape, split).size());
  Data ring[2];
  for (std::size_t i = 0; i < std::min<std::size_t>(2, pieces.size()); ++i)
    ring[i] = Data::bytes(runtime, static_cast<std::size_t>(largest) * sizeof(double), Data::every_rank);
  const int ranks = static_cast<int>(std::min<Index>(runtime.size(), z.count()));
  // Behind all of the divide and conquer: such a task keeps its GPU for long from the row blocks that the
  // slabs of the others wait for.
  constexpr int form_priority = 1, apply_priority = -1;
  for (; !pieces.empty(); pieces.pop_back()) {
    const kernels::DeviceReflectors& shape = pieces.back().shape;
    const Data& blocks = ring[(pieces.size() - 1) % 2];
    for (int rank = 0; rank < ranks; ++rank)
      sequence.insert(
          FormChaseT<T>{.reflectors = pieces.back().data, .blocks = blocks, .piece = shape, .split = split},
          {.priority = form_priority, .execute_on = rank});
    z.prefetch_to_gpus(blocks);
    for (Index j = 0; j < z.count(); ++j)
      sequence.insert(ApplyChase<T>{.workspace = workspace,
                                    .c = z.slab(j),
                                    .blocks = blocks,
                                    .piece = shape,
                                    .columns = z.slab_cols(j),
                                    .split = split},
                      {.priority = apply_priority});
  }
}

template <class T>
void apply_one_by_one(Sequence& sequence, ChaseReflectors<T>& reflectors, const ColumnSlabs<T>& z) {
  auto& pieces = reflectors.device_pieces();
  for (; !pieces.empty(); pieces.pop_back())
    for (Index j = 0; j < z.count(); ++j)
      sequence.insert(ApplyOneByOne<T>{.c = z.slab(j),
                                       .reflectors = pieces.back().data,
                                       .piece = pieces.back().shape,
                                       .columns = z.slab_cols(j)},
                      {.priority = static_cast<int>(pieces.size())});
}

template <class T>
void check(const ChaseReflectors<T>& reflectors, const ColumnSlabs<T>& z, ReflectorKernel kernel) {
  if (reflectors.size() <= 1 || z.count() == 0) return;
  require_rows("z", z, reflectors.size());
  if (kernel != ReflectorKernel::one_by_one) return;
  const Index b = reflectors.bandwidth();
  if (reflectors.device_pieces().empty())
    throw InvalidArgument("kernel", "one by one", "a chase that ran on a GPU");
  if (b > kernels::ChaseBlocks::largest_bandwidth || (b & (b - 1)) != 0)
    throw InvalidArgument("kernel", fmt::format("one by one with bandwidth {}", b),
                          "a bandwidth that is a power of two, at most 128");
}

template <class T>
void insert(Sequence& sequence, ChaseReflectors<T>& reflectors, const ColumnSlabs<T>& z,
            ReflectorKernel kernel, bool split) {
  if (reflectors.size() > 1 && z.count() > 0) {
    if (kernel == ReflectorKernel::one_by_one)
      apply_one_by_one(sequence, reflectors, z);
    else if (!reflectors.device_pieces().empty())
      apply_device_pieces<T>(sequence, reflectors, z, split);
    else
      BackTransform<T>(sequence, reflectors, z).run();
  }
  reflectors.release();
}

}  // namespace

template <class T>
void back_tridiagonal(Sequence& sequence, ChaseReflectors<T>&& reflectors, const ColumnSlabs<T>& z,
                      ReflectorKernel kernel, bool split_products) {
  // Bodies for CPUs know the one form of blocks.
  const bool split = split_products && splittable<T> && sequence.runtime().gpus() > 0;
  const std::uint64_t arguments =
      argument_hash(reflectors.size(), reflectors.bandwidth(), reflectors.pieces().size(),
                    reflectors.device_pieces().size(), hash_of(z), kernel, split_products);
  collectively(
      sequence.runtime(), "back_tridiagonal", arguments, [&] { check(reflectors, z, kernel); },
      [&] { insert(sequence, reflectors, z, kernel, split); });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void back_tridiagonal<T>(Sequence&, ChaseReflectors<T>&&, const ColumnSlabs<T>&, ReflectorKernel, \
                                    bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
