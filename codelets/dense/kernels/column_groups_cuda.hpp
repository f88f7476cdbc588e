// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <cuda_runtime.h>

#include <tessera/codelets/dense/column_groups.hpp>

/// The copies of column_groups.hpp on plain device memory, enqueued on the stream.
namespace tessera {

/// Rows of a group: those of its columns from number `first` on.
template <class T>
struct GroupRows {
  MatrixView<const T> rows;
  int group = 0;
  Index first = 0;
};

/// Y, rows from `row` on, from the rows of the groups (max_column_groups at most), which hold all of them.
template <class T>
void launch_collect_rows(cudaStream_t stream, std::span<const GroupRows<T>> parts,
                         const CyclicColumns& columns, Index row, MatrixView<T> y) noexcept;

/// Pieces side by side: piece k into the columns first_cols[k] and following of A.
template <class T>
void launch_place_pieces(cudaStream_t stream, std::span<const MatrixView<const T>> pieces,
                         std::span<const Index> first_cols, MatrixView<T> a) noexcept;

/// OUT (ld = its rows) := [Z V], the rows of VZ = [V Z] that belong to the group's columns from number
/// `first` on.
template <class T>
void launch_exchanged_rows(cudaStream_t stream, MatrixView<const T> vz, const CyclicColumns& columns,
                           int group, Index first, MatrixView<T> out) noexcept;

}  // namespace tessera
