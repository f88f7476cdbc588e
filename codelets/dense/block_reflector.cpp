// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/dense/block_reflector.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T>
void gather_reflectors(const HostContext& on, std::span<const MatrixView<const T>> pieces, Index b,
                       MatrixView<T> v) noexcept {
  Index row = 0;
  for (const auto& piece : pieces) {
    la::copy(on, piece, v.block(row, 0, piece.rows, v.cols));
    row += piece.rows;
  }
  for (Index j = 0; j < v.cols; ++j) std::fill_n(&v(0, j), std::min((j / b + 1) * b, v.rows), T(0));
}

template <class T>
void merge_t(const HostContext& on, std::span<const MatrixView<const T>> v,
             std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept {
  const Index k = t.cols;
  // T's place first holds V^H V (upper triangle); each block column is replaced from left to right.
  for (std::size_t piece = 0; piece < v.size(); ++piece)
    la::herk(on, Uplo::upper, Op::adjoint, 1, v[piece], piece == 0 ? 0 : 1, t);
  for (Index j = 0; j < k; j += b) {
    const auto& t_panel = t_panels[static_cast<std::size_t>(j / b)];
    const auto column = t.block(0, j, j, b);
    la::trmm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, -1, t_panel, column);
    la::trmm(on, Side::left, Uplo::upper, Op::none, Diag::non_unit, 1, t, column);
    la::copy(on, t_panel, t.block(j, j, b, b));
  }
  blas::zero_below_diagonal(t);
}

#define TESSERA_DEFINE(T)                     \
  TESSERA_DEFINE_TASK(GatherReflectors<T>)    \
  TESSERA_DEFINE_TASK(MergeT<T>)              \
  TESSERA_DEFINE_TASK(ApplyBlockReflector<T>) \
  TESSERA_DEFINE_TASK(SolveAdjointRow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
