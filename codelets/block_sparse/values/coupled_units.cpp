// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <tessera/codelets/block_sparse/values/coupled_units.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace {

/// A random sign, or a random number of modulus 1.
template <class W>
W random_phase(std::uint64_t bits) noexcept {
  if constexpr (is_complex<W>) {
    const double angle = 2 * std::numbers::pi * unit_uniform(bits);
    return {std::cos(angle), std::sin(angle)};
  } else {
    return bits >> 63 ? W(1) : W(-1);
  }
}

/// The levels of one unit, each with itself.
template <class W>
Index own_levels(const UnitModel<W>& model, Index unit, LevelPair<W>* pairs) noexcept {
  const Index count = model.functions(unit);
  const double* const levels = &model.levels[static_cast<std::size_t>(model.first_function[unit])];
  for (Index k = 0; k < count; ++k) pairs[k] = {k, k, W(1), model.middle + levels[k]};
  return count;
}

/// All levels of the smaller unit, each with another one of the larger.
template <class W>
Index coupled_levels(const UnitModel<W>& model, Index row_unit, Index col_unit,
                     LevelPair<W>* pairs) noexcept {
  const Index rows = model.functions(row_unit), cols = model.functions(col_unit);
  const Index count = std::min(rows, cols), larger = std::max(rows, cols);
  const double* const row_levels = &model.levels[static_cast<std::size_t>(model.first_function[row_unit])];
  const double* const col_levels = &model.levels[static_cast<std::size_t>(model.first_function[col_unit])];
  const double norm = model.norm(row_unit, col_unit), half = model.wolfsberg_helmholz / 2;
  const std::uint64_t key = splitmix(splitmix(model.seed, static_cast<std::uint64_t>(row_unit)),
                                     static_cast<std::uint64_t>(col_unit));
  for (Index k = 0; k < larger; ++k) pairs[k].second = k;
  for (Index k = 0; k < count; ++k) {
    const auto draw = static_cast<std::uint64_t>(2 * k);
    const Index other = k + static_cast<Index>(splitmix(key, draw) % static_cast<std::uint64_t>(larger - k));
    std::swap(pairs[k].second, pairs[other].second);
    pairs[k].first = k;
    if (rows > cols) std::swap(pairs[k].first, pairs[k].second);
    pairs[k].overlap = norm * random_phase<W>(splitmix(key, draw + 1));
    pairs[k].energy = model.middle + half * (row_levels[pairs[k].first] + col_levels[pairs[k].second]);
  }
  return count;
}

/// Rounds to the type of the matrix.
template <class T, class W>
void put(const W* from, Index elements, T* to) noexcept {
  for (Index k = 0; k < elements; ++k) to[k] = static_cast<T>(from[k]);
}

template <class T>
void make_unit_matrix(T* a, Index n) noexcept {
  std::fill_n(a, n * n, T(0));
  for (Index k = 0; k < n; ++k) a[k + k * n] = T(1);
}

/// What rounding has left between the triangles goes.
template <class T>
void make_hermitian(T* a, Index n) noexcept {
  for (Index j = 0; j < n; ++j) {
    a[j + j * n] = T(real_part(a[j + j * n]));
    for (Index i = 0; i < j; ++i) a[i + j * n] = conjugate(a[j + i * n]);
  }
}

/// A block of S and of H: the rows of V that belong to its rows, times the pairs of levels, times those that
/// belong to its columns.
template <class T, class W>
void fill_block(const CoupledUnits<T>& task, const PanelBlock& block, W* work, LevelPair<W>* pairs) {
  const UnitModel<W>& model = *task.units;
  const Index I = model.unit_of_block[static_cast<std::size_t>(block.block_row)];
  const Index J = model.unit_of_block[static_cast<std::size_t>(block.block_col)];
  const Index count = I == J ? own_levels(model, I, pairs) : coupled_levels(model, I, J, pairs);
  const Index m = block.rows, n = block.cols;
  const W* const row_basis = &model.basis[static_cast<std::size_t>(model.first_value[I])] + block.first_row -
                             model.first_function[I];
  const W* const col_basis = &model.basis[static_cast<std::size_t>(model.first_value[J])] + block.first_col -
                             model.first_function[J];
  W* const left = work;
  W* const right = left + task.largest_block * task.largest_unit;
  W* const product = right + task.largest_block * task.largest_unit;
  for (Index k = 0; k < count; ++k) {
    const W* const of_row = row_basis + pairs[k].first * model.functions(I);
    for (Index i = 0; i < m; ++i) left[i + k * m] = of_row[i] * pairs[k].overlap;
    std::copy_n(col_basis + pairs[k].second * model.functions(J), n, right + k * n);
  }
  T* const s = task.overlap.view().data() + block.offset;
  T* const h = task.hamiltonian.view().data() + block.offset;
  const auto multiply = [&] {
    blas::gemm<W>(Op::none, Op::adjoint, m, n, count, W(1), left, m, right, n, W(0), product, m);
  };
  if (block.block_row == block.block_col) {
    make_unit_matrix(s, n);
  } else {
    multiply();
    put(product, m * n, s);
  }
  for (Index k = 0; k < count; ++k)
    for (Index i = 0; i < m; ++i) left[i + k * m] *= pairs[k].energy;
  multiply();
  put(product, m * n, h);
  if (block.block_row == block.block_col) make_hermitian(h, n);
}

}  // namespace

template <class T>
void run(const HostContext&, const CoupledUnits<T>& task) {
  using W = InDouble<T>;
  W* const work = reinterpret_cast<W*>(task.work.view().data());
  auto* const pairs = reinterpret_cast<LevelPair<W>*>(
      work + task.largest_block * (2 * task.largest_unit + task.largest_block));
  for (const PanelBlock& block : *task.blocks) fill_block(task, block, work, pairs);
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(CoupledUnits<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
