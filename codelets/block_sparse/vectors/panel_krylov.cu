// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/vectors/krylov.hpp>
#include <tessera/codelets/block_sparse/vectors/panel_krylov.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/linalg/krylov_basis.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int warps = 4, threads = 32 * warps, vector_threads = 1024;

/// The values of panels `first`, `first` + 1, ...; null where a panel has no blocks.
template <class S>
struct PanelValues {
  static constexpr int most = 256;
  const S* values[most];
  std::int32_t first, count;
};

/// y_row := or += the sum of term(element, row, column) over the row, of the panels that are given. A thread block takes a
/// row of blocks, a warp some of its blocks, a lane a row of a block and some of its columns.
template <class S, class Y, class Term>
__global__ void __launch_bounds__(threads)
    row_sums_kernel(const std::int32_t* words, const __grid_constant__ PanelValues<S> of, Term term, Y* y,
                    bool add) {
  const PackedPattern pattern(words);
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  const std::int32_t row_panels = pattern.header().row_panels, col_panels = pattern.header().col_panels;
  const auto row_panel = static_cast<std::int32_t>(blockIdx.y), row = static_cast<std::int32_t>(blockIdx.x);
  if (row >= rows.blocks(row_panel)) return;
  const std::int32_t number = rows.first[row_panel] + row, m = rows.size[number];
  const Index first_row = rows.element[number];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  __shared__ Y parts[warps][32];
  for (std::int32_t r0 = 0; r0 < m; r0 += 32) {
    const int high = min(m - r0, 32), together = 32 / high, r = lane % high, c0 = lane / high;
    Y sum(0);
    for (std::int32_t q = 0; q < col_panels && c0 < together; ++q) {
      const std::int32_t panel_number = row_panel + q * row_panels - of.first;
      if (panel_number < 0 || panel_number >= of.count) continue;
      const PackedPanel panel = pattern.panel(row_panel, q);
      if (panel.blocks == 0) continue;
      const S* const values = of.values[panel_number];
      for (std::int32_t b = panel.row_begin[row] + warp; b < panel.row_begin[row + 1]; b += warps) {
        const std::int32_t col = cols.first[q] + panel.column[b], n = cols.size[col];
        const Index first_col = cols.element[col];
        const S* const block = values + panel.offset[b] + r0 + r;
        for (std::int32_t c = c0; c < n; c += together)
          sum += term(block[c * m], first_row + r0 + r, first_col + c);
      }
    }
    parts[warp][lane] = sum;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < high) {
      Y& to = y[first_row + r0 + threadIdx.x];
      Y all = add ? to : Y(0);
      for (int w = 0; w < warps; ++w)
        for (int l = static_cast<int>(threadIdx.x); l < high * together; l += high) all += parts[w][l];
      to = all;
    }
    __syncthreads();
  }
}

template <class S>
struct TimesVector {
  Real<S> factor;
  const S* v;
  __device__ S operator()(S element, Index, Index col) const { return factor * (element * v[col]); }
};

template <class S>
struct Modulus {
  double* diagonal;
  __device__ double operator()(S element, Index row, Index col) const {
    if (row == col) diagonal[row] = double(real(element));
    if constexpr (is_complex_scalar<S>)
      return hypot(double(element.re), double(element.im));
    else
      return fabs(double(element));
  }
};

/// One thread block: v := random numbers, of norm 1.
template <class S>
__global__ void __launch_bounds__(vector_threads) start_kernel(Index n, std::uint64_t seed, S* v) {
  __shared__ double parts[vector_threads / 32];
  double square = 0;
  for (Index i = threadIdx.x; i < n; i += vector_threads) {
    const auto number = 2 * static_cast<std::uint64_t>(i);
    const auto re = Real<S>(normal_number(seed, number));
    if constexpr (is_complex_scalar<S>)
      v[i] = S(re, Real<S>(normal_number(seed, number + 1)));
    else
      v[i] = re;
    square += double(real(v[i])) * double(real(v[i])) + double(imag(v[i])) * double(imag(v[i]));
  }
  square = warp_sum(square);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = square;
  __syncthreads();
  double sum = 0;
  for (const double part : parts) sum += part;
  const auto factor = Real<S>(sum > 0 ? 1 / sqrt(sum) : 0);
  for (Index i = threadIdx.x; i < n; i += vector_threads) v[i] = factor * v[i];
}

template <class S, class Y, class Term, class T>
void sum_rows(cudaStream_t stream, const std::int32_t* words, const PanelsWithBlocks& which,
              const ReadAll<Array<T>>& panels, const Term& term, Y* y) {
  const dim3 grid(static_cast<unsigned>(which.most_rows), static_cast<unsigned>(which.row_panels));
  std::size_t next = 0;
  for (std::int32_t first = 0; first < which.panels; first += PanelValues<S>::most) {
    PanelValues<S> of{{}, first, std::min(which.panels - first, PanelValues<S>::most)};
    for (; next < which.numbers.size() && which.numbers[next] < first + of.count; ++next)
      of.values[which.numbers[next] - first] = device_cast(panels[static_cast<int>(next)].data());
    row_sums_kernel<S, Y><<<grid, threads, 0, stream>>>(words, of, term, y, first > 0);
  }
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const ExtendKrylov<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const MatrixView<T> basis = *task.basis;
  const Index n = task.n;
  if (n == 0) return;
  if (task.first == 0)
    start_kernel<<<1, vector_threads, 0, on.stream>>>(n, task.seed, device_cast(basis.data));
  for (Index k = task.first; k < task.first + task.steps; ++k) {
    const MatrixView<T> next = basis.block(0, k + 1, n, 1);
    const TimesVector<S> term{task.factor, device_cast(basis.data + k * basis.ld)};
    sum_rows<S, S>(on.stream, task.pattern.view().data(), *task.which, task.panels, term,
                   device_cast(next.data));
    T* const passes = task.work.view().data();
    for (int pass = 0; pass < 2; ++pass)
      orthogonalise<T>(on, basis.block(0, 0, n, k + 1), next, passes + pass * (k + 1));
    end_lanczos_step<T>(on, passes + k, passes + 2 * k + 1, next,
                        task.coefficients.view().data() + 2 * (k - task.first));
  }
}

template <class T>
void run(const DeviceContext& on, const RowModuli<T>& task) {
  using namespace device;
  const std::span<double> sums = *task.sums;
  cudaMemsetAsync(sums.data(), 0, sums.size_bytes(), on.stream);
  const Modulus<DeviceScalar<T>> term{sums.data() + sums.size() / 2};
  sum_rows<DeviceScalar<T>, double>(on.stream, task.pattern.view().data(), *task.which, task.panels, term,
                                    sums.data());
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_ON_GPU(ExtendKrylov<T>) \
  TESSERA_DEFINE_ON_GPU(RowModuli<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
