// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/block_sparse/values/panel_norms.cuh>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = panel_threads;

/// change(i) for all i < count.
template <class Change>
__global__ void __launch_bounds__(threads) each_kernel(Index count, Change change) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    change(i);
}

template <class Change>
void for_each(cudaStream_t stream, std::size_t count, const Change& change) {
  if (count > 0)
    each_kernel<<<blocks_for(static_cast<Index>(count), 4 * threads, full_grid), threads, 0, stream>>>(
        static_cast<Index>(count), change);
}

template <class S>
struct Scale {
  S factor;
  S* values;
  __device__ void operator()(Index i) const { values[i] = times(values[i], factor); }
};

template <class S>
struct Add {
  S alpha, beta;
  bool conjugated, replace;
  const S* x;
  S* y;
  __device__ void operator()(Index i) const {
    const S added = times(alpha, conjugated ? device::conj(x[i]) : x[i]);
    y[i] = replace ? added : plus(times(beta, y[i]), added);
  }
};

template <class S, class Y>
struct Convert {
  const S* x;
  Y* y;
  __device__ void operator()(Index i) const {
    if constexpr (is_complex_scalar<S>)
      y[i] = Y(Real<Y>(x[i].re), Real<Y>(x[i].im));
    else
      y[i] = Y(x[i]);
  }
};

template <class S>
struct Multiply {
  const S* x;
  S* y;
  __device__ void operator()(Index i) const { y[i] = times(y[i], x[i]); }
};

template <class R>
struct Function {
  ElementFunction f;
  R first, second;
  R* values;
  __device__ void operator()(Index i) const { values[i] = of(plus(times(first, values[i]), second)); }
  __device__ R of(R x) const {
    switch (f) {
      case ElementFunction::inverse:
        return R(1) / x;
      case ElementFunction::tanh:
        return tanh(x);
      case ElementFunction::tanh_derivative: {
        const R t = tanh(x);
        return plus(R(1), -times(t, t));
      }
      case ElementFunction::artanh:
        return atanh(x);
      case ElementFunction::sin:
        return sin(x);
      case ElementFunction::cos:
        return cos(x);
      case ElementFunction::asin:
        return asin(x);
      case ElementFunction::square_root:
        return sqrt(x);
      case ElementFunction::absolute:
        return fabs(x);
      case ElementFunction::truncate:
        return x < R(-1) ? R(-1) : x > R(1) ? R(1) : x;
    }
    return x;
  }
};

template <class S>
__device__ S moved(bool conjugated, bool add, S factor, S element, S to) {
  const S value = times(factor, conjugated ? device::conj(element) : element);
  return add ? plus(to, value) : value;
}

template <class S>
__global__ void __launch_bounds__(threads) fill_kernel(S value, Index count, S* values) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    values[i] = value;
}

template <class S>
__global__ void __launch_bounds__(threads)
    copy_kernel(bool conjugated, bool add, S factor, Index count, const S* __restrict__ from, S* to) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    to[i] = moved(conjugated, add, factor, from[i], add ? to[i] : S(0));
}

/// blockIdx.x takes a move, blockIdx.y a part of it.
template <class S>
__global__ void __launch_bounds__(threads)
    move_kernel(bool transposed, bool conjugated, bool add, S factor, Index move_count,
                const BlockMove* __restrict__ moves, const S* __restrict__ source, S* destination) {
  for (Index m = blockIdx.x; m < move_count; m += gridDim.x) {
    const BlockMove move = moves[m];
    const Index count = Index(move.rows) * move.cols;
    const Index row_step = transposed ? move.source_ld : 1, col_step = transposed ? 1 : move.source_ld;
    for (Index e = Index(blockIdx.y) * threads + threadIdx.x; e < count; e += Index(gridDim.y) * threads) {
      const auto [i, j] = position(e, move.rows);
      S& to = destination[move.destination + i + j * move.destination_ld];
      to = moved(conjugated, add, factor, source[move.source + i * row_step + j * col_step], add ? to : S(0));
    }
  }
}

/// What copy_matching_kernel reads.
struct Matching {
  const std::int32_t *from, *to;
  std::int32_t row_panel, col_panel;
  Index elements;  ///< of the destination
  bool conjugated, add, zero;
};

/// A block of the destination, and where its values are in the source (-1: nowhere).
struct MatchingBlock {
  std::int32_t at = 0, count = 0, from = -1;
};

/// Warps share the blocks of the destination.
template <class S>
__global__ void __launch_bounds__(threads)
    copy_matching_kernel(Matching matching, S factor, const S* __restrict__ source, S* destination) {
  const PackedPattern pattern(matching.to);
  const PackedPanel from = PackedPattern(matching.from).panel(matching.row_panel, matching.col_panel),
                    to = pattern.panel(matching.row_panel, matching.col_panel);
  const std::int32_t rows = pattern.rows().blocks(matching.row_panel);
  const auto look = [&](std::int32_t c) {
    MatchingBlock block;
    const std::int32_t b = find_block(from, row_of_block(to, rows, c), to.column[c]);
    block.at = to.offset[c];
    if (b >= 0 || matching.zero) block.count = elements_of(to, c, matching.elements);
    if (b >= 0) block.from = from.offset[b];
    return block;
  };
  const auto copy = [&](const MatchingBlock& block, int lane, int lanes) {
    S* const here = destination + block.at;
    const S* const from = source + (block.from < 0 ? 0 : block.from);
    const auto copied = [&](S element, S before) {
      return block.from < 0 ? S(0) : moved(matching.conjugated, matching.add, factor, element, before);
    };
    if (in_chunks(here, block.count) && in_chunks(from, block.count)) {
      for (std::int32_t i = lane; i < block.count / Chunk<S>::count; i += lanes) {
        Chunk<S> before{}, elements{};
        if (block.from >= 0) elements = chunks(from)[i];
        if (matching.add) before = chunks(here)[i];
#pragma unroll
        for (int e = 0; e < Chunk<S>::count; ++e) elements.x[e] = copied(elements.x[e], before.x[e]);
        chunks(here)[i] = elements;
      }
      return;
    }
    for (std::int32_t i = lane; i < block.count; i += lanes)
      here[i] = copied(block.from < 0 ? S(0) : from[i], matching.add ? here[i] : S(0));
  };
  visit_blocks(to.blocks, matching.elements, look, copy);
}

}  // namespace
}  // namespace device

using device::device_cast, device::device_scalar, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const ScalePanel<T>& task) {
  const auto values = *task.values;
  device::for_each(on.stream, values.size(),
                   device::Scale<DeviceScalar<T>>{device_scalar(task.factor), device_cast(values.data())});
}

template <class T>
void run(const DeviceContext& on, const AddPanel<T>& task) {
  const auto x = *task.x;
  device::for_each(on.stream, x.size(),
                   device::Add<DeviceScalar<T>>{device_scalar(task.alpha), device_scalar(task.beta),
                                                task.conjugated, task.beta == T(0), device_cast(x.data()),
                                                device_cast(task.y.view().data())});
}

template <class T>
void run(const DeviceContext& on, const MultiplyPanel<T>& task) {
  const auto x = *task.x;
  device::for_each(
      on.stream, x.size(),
      device::Multiply<DeviceScalar<T>>{device_cast(x.data()), device_cast(task.y.view().data())});
}

/// For real numbers alone: CPUs compute the functions of complex numbers, which are rare.
template <class R>
void run(const DeviceContext& on, const FunctionOfPanel<R>& task) {
  const auto values = *task.values;
  device::for_each(on.stream, values.size(),
                   device::Function<R>{task.f, task.first, task.second, values.data()});
}

template <class T>
void run(const DeviceContext& on, const FillValues<T>& task) {
  using namespace device;
  const auto values = *task.values;
  const auto count = static_cast<Index>(values.size());
  if (task.value == T(0))
    cudaMemsetAsync(values.data(), 0, values.size_bytes(), on.stream);
  else if (count > 0)
    fill_kernel<<<blocks_for(count, 4 * threads, full_grid), threads, 0, on.stream>>>(
        device_scalar(task.value), count, device_cast(values.data()));
}

template <class T>
void run(const DeviceContext& on, const MoveBlocks<T>& task) {
  using namespace device;
  const auto moves = *task.moves;
  if (moves.empty()) return;
  move_kernel<<<panel_grid(moves.size()), threads, 0, on.stream>>>(
      task.op != Op::none, task.conjugated != (task.op == Op::adjoint), task.add, device_scalar(task.factor),
      static_cast<Index>(moves.size()), moves.data(), device_cast(task.source.view().data()),
      device_cast(task.destination.view().data()));
}

template <class T>
void run(const DeviceContext& on, const CopyValues<T>& task) {
  using namespace device;
  const auto source = *task.source;
  const auto count = static_cast<Index>(source.size());
  const bool add = !task.destination.first();
  T* const destination = task.destination.view().data();
  if (task.factor == T(1) && !task.conjugated && !add)
    cudaMemcpyAsync(destination, source.data(), source.size_bytes(), cudaMemcpyDeviceToDevice, on.stream);
  else if (count > 0)
    copy_kernel<<<blocks_for(count, 4 * threads, full_grid), threads, 0, on.stream>>>(
        task.conjugated, add, device_scalar(task.factor), count, device_cast(source.data()),
        device_cast(destination));
}

template <class From, class To>
void run(const DeviceContext& on, const ConvertValues<From, To>& task) {
  const auto x = *task.source;
  device::for_each(on.stream, x.size(),
                   device::Convert<DeviceScalar<From>, DeviceScalar<To>>{
                       device_cast(x.data()), device_cast(task.destination.view().data())});
}

template <class T>
void run(const DeviceContext& on, const CopyMatching<T>& task) {
  using namespace device;
  const std::span<T> destination = *task.destination;
  const bool first = task.destination.first();
  const Matching matching{task.from.view().data(),
                          task.to.view().data(),
                          task.row_panel,
                          task.col_panel,
                          static_cast<Index>(destination.size()),
                          task.conjugated,
                          task.add && !first,
                          first};
  copy_matching_kernel<<<panel_blocks, threads, 0, on.stream>>>(matching, device_scalar(task.factor),
                                                                device_cast(task.source.view().data()),
                                                                device_cast(destination.data()));
}

template <class T>
void run(const DeviceContext& on, const BlockNorms<T>& task) {
  using namespace device;
  if (task.panels.count == 0) return;
  NormedValues<DeviceScalar<T>> of{};
  for (int p = 0; p < task.panels.count; ++p) of.set(p, task.values[p]);
  form_norms(on.stream, task.pattern.view().data(), task.panels, of, task.norms.view().data());
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_ON_GPU(ScalePanel<T>)    \
  TESSERA_DEFINE_ON_GPU(AddPanel<T>)      \
  TESSERA_DEFINE_ON_GPU(MultiplyPanel<T>) \
  TESSERA_DEFINE_ON_GPU(FillValues<T>)    \
  TESSERA_DEFINE_ON_GPU(MoveBlocks<T>)    \
  TESSERA_DEFINE_ON_GPU(CopyValues<T>)    \
  TESSERA_DEFINE_ON_GPU(CopyMatching<T>)  \
  TESSERA_DEFINE_ON_GPU(BlockNorms<T>)
#define TESSERA_DEFINE_REAL(R) TESSERA_DEFINE_ON_GPU(FunctionOfPanel<R>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)
#define TESSERA_DEFINE_CONVERSION(From, To) TESSERA_DEFINE_ON_GPU(ConvertValues<From, To>)
TESSERA_FOR_CONVERSIONS(TESSERA_DEFINE_CONVERSION)

}  // namespace tessera::detail
