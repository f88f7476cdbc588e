// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bodies of two_sided.hpp that CPUs and GPUs share, and the products that they share with panel_step.hpp
// and column_groups.hpp, on plain memory.
#pragma once

#include <vector>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>

namespace tessera::detail {

/// The number of rows up to which launch_tall_inner_products is faster than cuBLAS. It is larger for float,
/// whose tall products cuBLAS computes more slowly than those of double.
template <class T>
constexpr Index tallest_own_product = std::is_same_v<T, float> ? 16384 : 8192;

/// Y := beta Y + A W, A Hermitian, given by its lower triangle on a CPU and by both triangles on a GPU
/// (MirrorLower), where the general product is faster.
template <class T, class Context>
void hermitian_product(const Context& on, MatrixView<const T> a, MatrixView<const T> w, int beta,
                       MatrixView<T> y) noexcept {
  if constexpr (on_host<Context>)
    la::hemm(on, Side::left, Uplo::lower, 1, a, w, beta, y);
  else
    la::gemm(on, Op::none, Op::none, 1, a, w, beta, y);
}

/// Y_i := beta_i Y_i + A W_j, Y_j := beta_j Y_j + A^H W_i.
template <class T, class Context>
void product_pair(const Context& on, MatrixView<const T> a, MatrixView<const T> w_i, MatrixView<const T> w_j,
                  int beta_i, int beta_j, MatrixView<T> y_i, MatrixView<T> y_j) noexcept {
  la::gemm(on, Op::none, Op::none, 1, a, w_j, beta_i, y_i);
  la::gemm(on, Op::adjoint, Op::none, 1, a, w_i, beta_j, y_j);
}

/// D := [VZ^H W; W^H Y], VZ: the columns in use; it has the rows of W and Y.
template <class T, class Context>
void inner_products(const Context& on, MatrixView<const T> vz, MatrixView<const T> w, MatrixView<const T> y,
                    MatrixView<T> d) noexcept {
  const Index rows = w.rows, b = w.cols, used = vz.cols;
  if constexpr (!on_host<Context> && !is_complex<T>) {
    // One kernel instead of several, whose starts would take longer than their work.
    if (used > 0 && rows <= tallest_own_product<T>) return launch_tall_inner_products<T>(on, vz, w, y, d);
  }
  if (used > 0) la::gemm(on, Op::adjoint, Op::none, 1, vz, w, 0, d.block(0, 0, used, b));
  la::gemm(on, Op::adjoint, Op::none, 1, w, y, 0, d.block(used, 0, b, b));
}

/// Z := Y - V (Z^H W) - Z (V^H W) - V_new (1/2 W^H A W) into the panel's columns of VZ, where Y may be already.
template <class T, class Context>
void form_z(const Context& on, MatrixView<const T> d, MatrixView<const T> y, Index done,
            MatrixView<T> vz) noexcept {
  const Index b = y.cols, used = z_column(done, b);
  const auto z = vz.block(0, used, y.rows, b);
  if (z.data != y.data) la::copy(on, y, z);
  la::gemm(on, Op::none, Op::none, -1, vz.block(0, 0, y.rows, used), d.block(0, 0, used, b), 1, z);
}

/// C := C - V_i Z_j^H - Z_i V_j^H; VZ_i has the rows of C, VZ_j has as many rows as C has columns, both the columns in
/// use. workspace: rows x columns of VZ_j. On a GPU by split operands where there is space for them.
template <class T, class Context>
void subtract_pair(const Context& on, MatrixView<const T> vz_i, MatrixView<const T> vz_j, Index b,
                   T* workspace, std::span<char> split, MatrixView<T> c) noexcept {
  const MatrixView<T> exchanged{workspace, vz_j.rows, vz_j.cols, vz_j.rows};
  reorder_pairs<T>(on, vz_j, b, PairOrder::exchanged, exchanged);
  gemm_or_split<T>(on, Op::none, Op::adjoint, -1, vz_i, exchanged, 1, c, split);
}

template <class T, class Context>
void run(const Context& on, const MirrorLower<T>& task) {
  mirror_lower<T>(on, *task.a);
}

template <class T, class Context>
void run(const Context& on, const TwoSidedProduct<T>& task) {
  const TilePart& part = task.part;
  const auto a = part.of(*task.a);
  const Index b = task.w_i.view().cols;
  const auto rows_of = [&](auto whole) { return whole.block(part.row, 0, part.rows, b); };
  const auto cols_of = [&](auto whole) { return whole.block(part.col, 0, part.cols, b); };
  if (task.diagonal())
    hermitian_product<T>(on, a, rows_of(*task.w_i), task.y_i.beta(), rows_of(*task.y_i));
  else
    product_pair<T>(on, a, rows_of(*task.w_i), cols_of(*task.w_j), task.y_i.beta(), task.y_j.beta(),
                    rows_of(*task.y_i), cols_of(*task.y_j));
}

template <class T, class Context>
void run(const Context& on, const InnerProducts<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  const auto y = task.y.view().block(row, 0, rows, b);
  std::vector<MatrixView<const T>> parts;
  for (int k = 0; k < task.parts.size(); ++k) parts.push_back(task.parts[k].block(row, 0, rows, b));
  sum_parts<T>(on, parts, task.y.beta(), y);
  inner_products<T>(on, task.vz.view().block(row, 0, rows, 2 * done), task.w.view().block(row, 0, rows, b), y,
                    *task.d);
}

template <class T, class Context>
void run(const Context& on, const InnerSum<T>& task) {
  inner_sum<T>(on, views_of(task.pieces), task.done, task.b, *task.d);
}

template <class T, class Context>
void run(const Context& on, const FormZ<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  form_z<T>(on, *task.d, task.y.view().block(row, 0, rows, b), done,
            task.vz.view().block(row, 0, rows, 2 * kb));
}

template <class T, class Context>
void run(const Context& on, const PanelUpdate<T>& task) {
  const TilePart& part = task.part;
  const auto vz = task.vz.view().block(part.row, 0, part.rows, 2 * task.done);
  const auto top =
      (task.vz_top ? task.vz_top : task.vz).view().block(task.top_row, 0, part.cols, 2 * task.done);
  subtract_pair<T>(on, vz, top, task.b, task.workspace.view().data(), {}, part.of(*task.p));
}

template <class T, class Context>
void run(const Context& on, const Rank2kUpdate<T>& task) {
  const TilePart& part = task.part;
  const auto rows_of = [&](const auto& vz, Index row, Index rows) {
    return vz.view().block(row, 0, rows, 2 * task.done);
  };
  const auto vz_i = rows_of(task.vz_i, part.row, part.rows);
  const auto c = part.of(*task.a);
  T* const workspace = task.workspace.view().data();
  const std::span<char> split = task.split.view();
  if (task.diagonal())
    hermitian_update<T>(on, vz_i, task.b, task.both_triangles, workspace, split, c);
  else
    subtract_pair<T>(on, vz_i, rows_of(task.vz_j, part.col, part.cols), task.b, workspace, split, c);
}

template <class T, class Context>
void run(const Context& on, const SetZero<T>& task) {
  la::set_zero(on, *task.a);
}

template <class T, class Context>
void run(const Context& on, const CopyToBand<T>& task) {
  MatrixView<const T> source;
  if (task.factor)
    source = kernels::PanelFactor<T>::in(*task.factor, task.place.bandwidth).band();
  else
    source = *task.tile;
  copy_to_band<T>(on, task.part.of(source), task.place, *task.segment);
}

}  // namespace tessera::detail
