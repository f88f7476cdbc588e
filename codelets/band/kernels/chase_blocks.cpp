// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <tessera/codelets/band/kernels/chase_blocks.hpp>

namespace tessera::detail::kernels {
namespace {

/// Double precision, real or complex as T.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// V and then W of one group and hop, each rows x g from row 0 of the window, ld rows.
template <class T>
void dense_block(const ChaseBlocks& shape, const DeviceReflectors& piece, const T* reflectors, Index first,
                 Index hop, Wide<T>* v) noexcept {
  using D = Wide<T>;
  constexpr Index most = ChaseBlocks::columns;
  const Index g = shape.group_sweeps(), b = piece.bandwidth, rows = b + g;
  D* const w = v + rows * g;
  D t[most * most] = {}, tau[most] = {};
  std::fill(v, v + 2 * rows * g, D(0));
  for (Index j = 0; j < g; ++j) {
    const Index sweep = first + j, k = sweep - piece.first_sweep;
    if (k >= piece.sweeps || sweep + 1 + hop * b >= piece.n) continue;
    const Index block = hop_sum(piece.n, b, piece.first_sweep, piece.group, k / piece.group) + hop;
    const T* const x = reflectors + piece.vector_offset(block, k % piece.group);
    for (Index i = 0; i < b; ++i) v[j * rows + j + 1 + i] = D(x[i]);
    tau[j] = D(reflectors[piece.tau_offset(block, k % piece.group)]);
  }
  for (Index j = 0; j < g; ++j) {
    D gram[most];
    for (Index i = 0; i < j; ++i) {
      gram[i] = D(0);
      for (Index r = j; r < rows; ++r) gram[i] += conjugate(v[r + i * rows]) * v[r + j * rows];
    }
    for (Index i = 0; i < j; ++i) {
      D sum(0);
      for (Index k = i; k < j; ++k) sum += t[i + k * most] * gram[k];
      t[i + j * most] = -tau[j] * sum;
    }
    t[j + j * most] = tau[j];
    for (Index k = 0; k <= j; ++k)
      for (Index r = 0; r < rows; ++r) w[r + j * rows] -= v[r + k * rows] * t[k + j * most];
  }
}

/// Element (row, column) of the real matrix that stands for a complex one (or of a real one).
template <class D>
double real_element(const D* x, Index rows, Index row, Index column) noexcept {
  if constexpr (is_complex<D>) {
    if (row / 2 >= rows) return 0;
    const D value = x[row / 2 + column / 2 * rows];
    return row % 2 == column % 2 ? value.real() : row % 2 == 0 ? -value.imag() : value.imag();
  } else {
    return row < rows ? x[row + column * rows] : 0;
  }
}

}  // namespace

template <class T>
void form_chase_t(const DeviceReflectors& piece, const T* reflectors, double* blocks) noexcept {
  const ChaseBlocks shape = chase_blocks<T>(piece);
  const Index rows = piece.bandwidth + shape.group_sweeps(), tiles = shape.tiles;
  std::vector<Wide<T>> dense(static_cast<std::size_t>(2 * rows * shape.group_sweeps()));
  Wide<T>* const v = dense.data();
  Wide<T>* const w = v + rows * shape.group_sweeps();
  for (Index bundle = 0; bundle < shape.bundles(); ++bundle)
    for (Index hop = 0; hop < shape.hops(bundle); ++hop)
      for (Index group = 0; group < shape.groups; ++group) {
        dense_block<T>(shape, piece, reflectors, shape.bundle_sweep(bundle) + group * shape.group_sweeps(),
                       hop, v);
        double* out = blocks + shape.block(bundle, hop, group) * shape.block_size();
        for (Index k = 0; k <= tiles; ++k)
          for (Index c = 0, r = k; c < 2; ++c, ++r)
            for (Index j = 0; j < 8; ++j)
              for (Index i = 0; i < 8; ++i) *out++ = real_element(v, rows, 8 * r + i, 8 * c + j);
        for (Index c = 0; c < 2; ++c)
          for (Index r = 0; r <= c + tiles; ++r)
            for (Index i = 0; i < 8; ++i)
              for (Index j = 0; j < 8; ++j) *out++ = real_element(w, rows, 8 * r + i, 8 * c + j);
      }
}

template <class T>
void apply_chase(const DeviceReflectors& piece, const double* blocks, T* c, Index columns,
                 Index ldc) noexcept {
  using R = RealOf<T>;
  const ChaseBlocks shape = chase_blocks<T>(piece);
  const Index tiles = shape.tiles, rows = shape.reals * piece.n;
  for (Index bundle = shape.bundles() - 1; bundle >= 0; --bundle)
    for (Index hop = 0; hop < shape.hops(bundle); ++hop)
      for (Index group = shape.groups - 1; group >= 0; --group) {
        const Index first =
            shape.reals * (shape.bundle_sweep(bundle) + group * shape.group_sweeps() + hop * piece.bandwidth);
        const Index count = std::min(8 * (tiles + 2), rows - first);
        if (count <= 0) continue;
        const double* const v = blocks + shape.block(bundle, hop, group) * shape.block_size();
        for (Index column = 0; column < columns; ++column) {
          R* const y = reinterpret_cast<R*>(c + column * ldc) + first;
          double x[ChaseBlocks::columns] = {};
          const double* tile = v;
          for (Index first_tile = 0; first_tile <= tiles; ++first_tile)
            for (Index k = 0, r = first_tile; k < 2; ++k, ++r, tile += ChaseBlocks::tile_size)
              for (Index j = 0; j < 8; ++j)
                for (Index i = 0; i < std::min<Index>(8, count - 8 * r); ++i)
                  x[8 * k + j] += tile[i + 8 * j] * static_cast<double>(y[8 * r + i]);
          for (Index k = 0; k < 2; ++k)
            for (Index r = 0; r <= k + tiles; ++r, tile += ChaseBlocks::tile_size)
              for (Index i = 0; i < std::min<Index>(8, count - 8 * r); ++i) {
                double sum = 0;
                for (Index j = 0; j < 8; ++j) sum += tile[j + 8 * i] * x[8 * k + j];
                y[8 * r + i] += static_cast<R>(sum);
              }
        }
      }
}

template <class T>
void apply_one_by_one(const DeviceReflectors& piece, const T* reflectors, T* c, Index columns,
                      Index ldc) noexcept {
  const Index b = piece.bandwidth;
  for (Index k = piece.sweeps - 1; k >= 0; --k) {
    const Index sweep = piece.first_sweep + k, first_block = piece.first_block(k / piece.group);
    for (Index hop = 0; hop < hop_count(piece.n, b, sweep); ++hop) {
      const Index first = sweep + 1 + hop * b, rows = std::min(b, piece.n - first);
      const Index block = first_block + hop, j = k % piece.group;
      const T* const v = reflectors + piece.vector_offset(block, j);
      const T tau = reflectors[piece.tau_offset(block, j)];
      for (Index column = 0; column < columns; ++column) {
        T* const x = c + first + column * ldc;
        T sum(0);
        for (Index i = 0; i < rows; ++i) sum += conjugate(v[i]) * x[i];
        for (Index i = 0; i < rows; ++i) x[i] -= tau * sum * v[i];
      }
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template void form_chase_t<T>(const DeviceReflectors&, const T*, double*) noexcept;              \
  template void apply_chase<T>(const DeviceReflectors&, const double*, T*, Index, Index) noexcept; \
  template void apply_one_by_one<T>(const DeviceReflectors&, const T*, T*, Index, Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
