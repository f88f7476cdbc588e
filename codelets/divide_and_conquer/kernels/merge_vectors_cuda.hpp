// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// The kernels of merge_vectors.hpp on the device, less the matrix product. Records and matrices are device
/// memory.
namespace tessera::kernels {

/// At most so many tiles in one call of launch_pack_rows.
inline constexpr Index max_packed_tiles = 1024;

/// kernels::pack_rows of a merge of order m.
template <class R>
void launch_pack_rows(cudaStream_t stream, Index m, const void* record, divide_and_conquer::Child child,
                      Index rows, const R* const* tiles, Index tile_count, Index tile_columns, Index ldt,
                      R* packed, Index ldp);

/// What follows the product in kernels::update_rows: the columns of the `roots` first columns of `out` are
/// moved to the output columns of their roots, and the deflated columns are copied from `packed`. No columns
/// are moved when roots == 0: zeros then go where roots belong.
/// first_root: the first root among the output columns [begin, end)
template <class R>
void launch_spread_columns(cudaStream_t stream, Index m, const void* record, divide_and_conquer::Child child,
                           Index rows, const R* packed, Index ldp, Index begin, Index end, Index first_root,
                           Index roots, R* out, Index ldo);

/// record -> outline of the output columns [begin, end); device memory.
void launch_outline(cudaStream_t stream, Index m, const void* record, Index begin, Index end,
                    divide_and_conquer::PanelOutline* outline);

/// to(i, j) := from(i, j), of a real and of a real or complex type.
template <class T, class R>
void launch_widen(cudaStream_t stream, Index rows, Index cols, const R* from, Index ldf, T* to, Index ldt);

}  // namespace tessera::kernels
