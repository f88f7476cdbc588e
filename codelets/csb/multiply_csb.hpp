// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_layout.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet multiply_csb: one piece A_IJ of a half-stored symmetric matrix times blocks of row-major vectors,
/// both it and its transpose in one pass over its entries:
///   Y_I += A_IJ X_J,  Y_J += A_IJ^T X_I    (I = J: entries off the diagonal count for both, those on it
///   once),
/// or, on GPUs, only one of these (CsbSides), of which X and Y are then the only ones among the buffers.
///
/// Arguments: columns 1 <= m <= 32 that take part; overwrite_rows, overwrite_columns: Y_I, Y_J are
/// overwritten, not
///            added to: access mode write, and their columns m, ..., width - 1 become zero.
/// Buffers:   [piece (read; bytes, csb_layout.hpp; not where every rank has GPUs)],
///            [index (read; bytes, csb_index.hpp; where some rank has GPUs)],
///            X_J (read; width x columns of the piece, row-major vectors), Y_I (read-write; width x rows);
///            and, unless I = J, X_I (read) and Y_J (read-write). Columns m, ..., width - 1 of what is added
///            to are left alone.
/// Flops:     4 m an entry of the piece, or of the index where it has more (2 m on the diagonal; counted as
///            4); 2 m of one side.
/// Footprint: entries and m decide: predicted by bytes (12 or 8 an entry, and the vectors').
/// Order:     blocks in the order of the piece, rows ascending: the same bits in every run on the same kind
/// of worker. Source:    Aktulga, Buluc, Williams, Yang, IPDPS 2014; Maris et al. 2022, Algorithm 2.
namespace tessera {

struct CsbPieceShape {
  std::int64_t block_count = 0, entry_count = 0;
  bool on_diagonal = false;
  CsbSides sides = CsbSides::both;  ///< that the index has
  bool index_in_two_passes = false;
  std::int64_t more_entries = 0;  ///< that the index has besides: those of the diagonal tiles

  /// Y_I is written; Y_J, another one, is written.
  bool adds_to_rows() const noexcept { return sides != CsbSides::columns; }
  bool adds_to_columns() const noexcept { return !on_diagonal && sides != CsbSides::rows; }
};

namespace kernels {

/// y_rows and y_columns: the same for a piece on the diagonal. ld: the vectors' widths. Level by cpu_level().
template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept;

}  // namespace kernels

/// `index` is invalid where no GPU takes part. V: float or double values, T: float or double vectors (V =
/// double only with T = double). `gpu`: see TaskOptions. What a side that the shape leaves out would read and
/// write is not looked at.
/// @throws InvalidArgument for a missing index, and where CPUs multiply for a shape with one side or more
/// entries in the index
template <class V, class T>
void insert_multiply_csb(Sequence& sequence, int priority, const CsbPieceShape& shape, int columns,
                         bool overwrite_rows, bool overwrite_columns, const Data& piece, const Data& index,
                         const Data& x_columns, const Data& x_rows, const Data& y_rows, const Data& y_columns,
                         int gpu = -1);

}  // namespace tessera
