// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/band/kernels/wy_blocks.hpp>
#include <tessera/codelets/common/dispatch.hpp>

namespace tessera::detail::kernels {
namespace {

template <class R>
struct WyKernels {
  void (*project)(const WyBlock<R>&, const R*, Index, Index, R*) noexcept;
  void (*update)(const WyBlock<R>&, const R*, R*, Index, Index) noexcept;
  void (*apply)(const WyBlock<R>&, R*, Index, Index, R*) noexcept;
};

template <class R>
WyKernels<R> wy_kernels([[maybe_unused]] int level) noexcept {
  if constexpr (highest_cpu_level >= 4)
    if (level >= 4) return {level4::wy_project<R>, level4::wy_update<R>, level4::wy_apply<R>};
  if constexpr (highest_cpu_level >= 3)
    if (level == 3) return {level3::wy_project<R>, level3::wy_update<R>, level3::wy_apply<R>};
  return {level2::wy_project<R>, level2::wy_update<R>, level2::wy_apply<R>};
}

template <class T>
WyBlock<RealOf<T>> wy_block(Index bandwidth, const WyGroup<T>& group, Index hop) noexcept {
  using Layout = WyLayout<T>;
  using R = RealOf<T>;
  WyBlock<R> block{};
  block.rows = Layout::rows(bandwidth, group.sweeps);
  block.columns = Layout::columns(group.sweeps);
  block.used = Layout::reals * group.sweeps;
  block.height = Layout::reals * bandwidth;
  block.step = Layout::reals;
  block.vh = reinterpret_cast<const R*>(group.data + hop * Layout::block_size(bandwidth, group.sweeps));
  block.w = block.vh + block.rows * block.columns;
  return block;
}

/// Column (of `reals` real ones) j of a real-stored matrix from a complex vector x: x and, for complex types,
/// i x.
template <class T>
void put_companions(const T* x, Index count, RealOf<T>* to, Index ld) noexcept {
  for (Index i = 0; i < count; ++i) {
    if constexpr (is_complex<T>) {
      to[2 * i] = x[i].real();
      to[2 * i + 1] = x[i].imag();
      to[2 * i + ld] = -x[i].imag();
      to[2 * i + 1 + ld] = x[i].real();
    } else {
      to[i] = x[i];
    }
  }
}

template <class T>
struct FormScratch {
  RealOf<T>* dense;  ///< V in real storage, rows x columns
  RealOf<T>* gram;   ///< V^H V, then T, in real storage
  RealOf<T>* factor;
};

/// Columns 0 .. g-1 of T by T(0:j, j) = -tau_j T(0:j, 0:j) (V^H v_j), T(j, j) = tau_j (larft); -T goes to
/// `factor` in real storage (columns -T_j and -i T_j), T overwrites the Gram matrix.
template <class T>
void triangular_factor(Index sweeps, Index ld, const T* tau, RealOf<T>* gram, RealOf<T>* factor) noexcept {
  constexpr Index reals = WyLayout<T>::reals;
  const Index stride = ld / reals;
  T* const t = reinterpret_cast<T*>(gram);
  for (Index j = 0; j < sweeps; ++j) {
    T* const column = t + j * stride;
    // Ascending i needs only the entries k >= i of the Gram column, so T's column overwrites it.
    for (Index i = 0; i < j; ++i) {
      T sum(0);
      for (Index k = i; k < j; ++k) sum += t[i + k * stride] * column[k];
      column[i] = -tau[j] * sum;
    }
    column[j] = tau[j];
    for (Index i = j + 1; i < stride; ++i) column[i] = T(0);
    for (Index i = 0; i < stride; ++i) column[i] = -column[i];
    put_companions(column, stride, factor + reals * j * ld, ld);
    for (Index i = 0; i < stride; ++i) column[i] = -column[i];
  }
}

}  // namespace

template <class T>
Index wy_workspace(Index bandwidth, Index sweeps) noexcept {
  using Layout = WyLayout<T>;
  const Index rows = Layout::rows(bandwidth, sweeps), columns = Layout::columns(sweeps);
  const Index form = rows * columns + 2 * columns * columns + Layout::reals * sweeps;
  const Index apply = 16 * columns + rows * 16;
  return std::max(form, apply);
}

template <class T>
void form_wy_at_level(int level, Index n, Index bandwidth, const Reflectors<T>* pieces, Index piece_count,
                      const WyGroup<T>& group, Index first_hop, Index last_hop,
                      RealOf<T>* workspace) noexcept {
  using Layout = WyLayout<T>;
  using R = RealOf<T>;
  constexpr Index reals = Layout::reals;
  const WyKernels<R> kernels = wy_kernels<R>(level);
  const Index rows = Layout::rows(bandwidth, group.sweeps), columns = Layout::columns(group.sweeps);
  R* const dense = workspace;
  R* const gram = dense + rows * columns;
  R* const factor = gram + columns * columns;
  T* const tau = reinterpret_cast<T*>(factor + columns * columns);
  for (Index hop = first_hop; hop < last_hop; ++hop) {
    WyBlock<R> block = wy_block(bandwidth, group, hop);
    R* const vh = const_cast<R*>(block.vh);
    R* const w = const_cast<R*>(block.w);
    std::fill(dense, dense + rows * columns, R(0));
    std::fill(tau, tau + group.sweeps, T(0));
    for (Index p = 0; p < piece_count; ++p)
      for (Index k = 0; k < pieces[p].sweeps; ++k) {
        const Index sweep = pieces[p].first_sweep + k, j = sweep - group.first_sweep;
        if (j < 0 || j >= group.sweeps || sweep + 1 + hop * bandwidth >= n || !pieces[p].holds(sweep, hop))
          continue;
        const T* const v = pieces[p].vector(sweep, hop);
        tau[j] = v[bandwidth];
        put_companions(v, bandwidth, dense + reals * (j * rows + j), rows);
      }
    for (Index k = 0; k < rows; ++k)
      for (Index i = 0; i < columns; ++i) vh[i + k * columns] = dense[k + i * rows];
    kernels.project(block, dense, reals * rows, group.sweeps, gram);
    triangular_factor(group.sweeps, columns, tau, gram, factor);
    std::fill(w, w + rows * columns, R(0));
    WyBlock<R> v_block = block;
    v_block.w = dense;
    kernels.update(v_block, factor, w, rows, reals * group.sweeps);
  }
}

template <class T>
void apply_wy_at_level(int level, Index n, Index bandwidth, const WyGroup<T>* groups, Index group_count,
                       Index first_hop, Index last_hop, T* c, Index columns, Index ldc,
                       RealOf<T>* workspace) noexcept {
  using R = RealOf<T>;
  constexpr Index reals = WyLayout<T>::reals;
  const WyKernels<R> kernels = wy_kernels<R>(level);
  for (Index hop = first_hop; hop < last_hop; ++hop)
    for (Index g = group_count - 1; g >= 0; --g) {
      if (hop >= hop_count(n, bandwidth, groups[g].first_sweep)) continue;
      const WyBlock<R> block = wy_block(bandwidth, groups[g], hop);
      R* const x = workspace;
      const Index first = groups[g].first_sweep + 1 + hop * bandwidth;
      R* const window = reinterpret_cast<R*>(c + first);
      const Index ld = reals * ldc, available = reals * (n - first);
      if (available >= block.rows) {
        kernels.apply(block, window, ld, columns, x);
        continue;
      }
      // The padded block reaches beyond the last row: the product takes a padded copy, a few columns at a
      // time.
      R* const copy = workspace + 16 * block.columns;
      for (Index j = 0; j < columns; j += 16) {
        const Index count = std::min<Index>(16, columns - j);
        for (Index k = 0; k < count; ++k) {
          std::copy_n(window + (j + k) * ld, available, copy + k * block.rows);
          std::fill(copy + k * block.rows + available, copy + (k + 1) * block.rows, R(0));
        }
        kernels.apply(block, copy, block.rows, count, x);
        for (Index k = 0; k < count; ++k)
          std::copy_n(copy + k * block.rows, available, window + (j + k) * ld);
      }
    }
}

template <class T>
void form_wy(Index n, Index bandwidth, const Reflectors<T>* pieces, Index piece_count,
             const WyGroup<T>& group, Index first_hop, Index last_hop, RealOf<T>* workspace) noexcept {
  form_wy_at_level<T>(cpu_level(), n, bandwidth, pieces, piece_count, group, first_hop, last_hop, workspace);
}

template <class T>
void apply_wy(Index n, Index bandwidth, const WyGroup<T>* groups, Index group_count, Index first_hop,
              Index last_hop, T* c, Index columns, Index ldc, RealOf<T>* workspace) noexcept {
  apply_wy_at_level<T>(cpu_level(), n, bandwidth, groups, group_count, first_hop, last_hop, c, columns, ldc,
                       workspace);
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template Index wy_workspace<T>(Index, Index) noexcept;                                                   \
  template void form_wy<T>(Index, Index, const Reflectors<T>*, Index, const WyGroup<T>&, Index, Index,     \
                           RealOf<T>*) noexcept;                                                           \
  template void form_wy_at_level<T>(int, Index, Index, const Reflectors<T>*, Index, const WyGroup<T>&,     \
                                    Index, Index, RealOf<T>*) noexcept;                                    \
  template void apply_wy<T>(Index, Index, const WyGroup<T>*, Index, Index, Index, T*, Index, Index,        \
                            RealOf<T>*) noexcept;                                                          \
  template void apply_wy_at_level<T>(int, Index, Index, const WyGroup<T>*, Index, Index, Index, T*, Index, \
                                     Index, RealOf<T>*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
