// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/column_groups.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T>
void form_y(const HostContext& on, std::span<const GroupRows<T>> parts, const CyclicColumns& columns,
            Index row, MatrixView<const T> t, MatrixView<T>, MatrixView<T> y) noexcept {
  for (const auto& [rows, group, first] : parts)
    for (Index j = 0; j < y.cols; ++j)
      for (Index i = 0; i < rows.rows; ++i) y(columns.global(group, first + i) - row, j) = rows(i, j);
  la::trmm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, t, y);
}

template <class T>
void place_pieces(const HostContext& on, std::span<const MatrixView<const T>> pieces,
                  std::span<const Index> first_cols, MatrixView<T> a) noexcept {
  for (std::size_t k = 0; k < pieces.size(); ++k)
    la::copy(on, pieces[k], a.block(0, first_cols[k], pieces[k].rows, pieces[k].cols));
}

template <class T>
void exchanged_rows(const HostContext&, MatrixView<const T> vz, Index b, const CyclicColumns& columns,
                    int group, Index first, MatrixView<T> out) noexcept {
  for (Index j = 0; j < out.cols; ++j)
    for (Index l = 0; l < out.rows; ++l)
      out(l, j) = vz(columns.global(group, first + l), partner_column(j, b));
}

#define TESSERA_DEFINE(T)              \
  TESSERA_DEFINE_TASK(GroupPanel<T>)   \
  TESSERA_DEFINE_TASK(GroupProduct<T>) \
  TESSERA_DEFINE_TASK(GroupFormZ<T>)   \
  TESSERA_DEFINE_TASK(GroupUpdate<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
