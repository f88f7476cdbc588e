// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// The eigenvectors of a merge, one block of rows at a time. A merge acts on the columns of Q only, so row
/// blocks are independent:
///
///     new rows = [rows of the child, 0] * rotations * [S, deflated columns], columns in ascending order of
///     the eigenvalues.
namespace tessera::detail::kernels {

/// Gathers and turns the columns of a row block that a merge needs: the poles' columns first, in the order of
/// the rows of S, then the deflated columns, without columns that are zero in this child's rows.
///
/// record         (R)
/// child          whose rows these are
/// rows           number of rows
/// tiles          (R) the child's row block in tiles of tile_columns columns each (the last may be narrower):
///                column j is tiles[j / tile_columns] + (j % tile_columns) * ldt
/// packed, ldp    (W) rows x record.packed_columns(child), at most rows x m
/// Entries below 2^-500 (double) or 2^-60 (float) become zero.
/// Flops: 6 rows per rotation.
/// Source: LAPACK dlaed2 (column types 1, 2, 3).
template <class R>
void pack_rows(const divide_and_conquer::MergeRecord& record, divide_and_conquer::Child child, Index rows,
               const R* const* tiles, Index tile_columns, Index ldt, R* packed, Index ldp) noexcept;

/// Output columns [begin, end) of a row block: one product with the secular vectors, copies for deflated
/// columns.
///
/// record       (R)
/// packed, ldp  (R) from pack_rows
/// s, lds       (R) secular vectors of record.roots_of(begin, end), from secular_vectors
/// out, ldo     (W) rows x (end - begin)
/// Flops: 2 rows pole_slots(child) roots_of(begin, end).count.
/// Source: LAPACK dlaed3.
template <class R>
void update_rows(const divide_and_conquer::MergeRecord& record, divide_and_conquer::Child child, Index rows,
                 const R* packed, Index ldp, Index begin, Index end, const R* s, Index lds, R* out,
                 Index ldo) noexcept;

// On a GPU, without the matrix product. Records and matrices are device memory, and the functions enqueue.

/// The most tiles in one call of launch_pack_rows.
inline constexpr Index max_packed_tiles = 1024;

/// kernels::pack_rows of a merge of order m.
template <class R>
void launch_pack_rows(CUstream_st* stream, Index m, const void* record, divide_and_conquer::Child child,
                      Index rows, const R* const* tiles, Index tile_count, Index tile_columns, Index ldt,
                      R* packed, Index ldp);

/// The part of kernels::update_rows after the product: moves the first `roots` columns of `out` to the output
/// columns of their roots, and copies the deflated columns from `packed`. If roots == 0, the columns of roots
/// become zero. first_root: the first root among the output columns [begin, end)
template <class R>
void launch_spread_columns(CUstream_st* stream, Index m, const void* record, divide_and_conquer::Child child,
                           Index rows, const R* packed, Index ldp, Index begin, Index end, Index first_root,
                           Index roots, R* out, Index ldo);

/// record -> outline of the output columns [begin, end); device memory.
void launch_outline(CUstream_st* stream, Index m, const void* record, Index begin, Index end,
                    divide_and_conquer::PanelOutline* outline);

/// to(i, j) := from(i, j), of a real and of a real or complex type.
template <class T, class R>
void launch_widen(CUstream_st* stream, Index rows, Index cols, const R* from, Index ldf, T* to, Index ldt);

}  // namespace tessera::detail::kernels
