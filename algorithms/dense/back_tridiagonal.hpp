// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/column_slabs.hpp>

namespace tessera::detail {

/// How the reflectors of a chase on a GPU are applied there.
enum class ReflectorKernel {
  blocked,    ///< as WY blocks on the tensor cores
  one_by_one  ///< ELPA2's way, to compare with: bandwidths that are powers of two, at most 128
};

/// Z := Q Z with the Q of band_to_tridiagonal: eigenvectors of the tridiagonal matrix become those of the
/// band. Returns after submission.
///
/// The sweeps are taken in WY groups of g (16 for real types, 8 for complex ones), several groups a task,
/// from the last to the first (codelets/band/kernels/wy_blocks.hpp). Each rank that owns slabs forms the WY
/// blocks that its slabs share, in a ring of a few buffers, so that little more than the reflectors
/// themselves is ever in memory.
///
/// Reflectors of a chase on a GPU (device pieces) are taken a piece at a time, each in one task a slab
/// (codelets/band/kernels/chase_blocks.hpp); a slab should then be all columns that its GPU owns. Their WY
/// blocks, two pieces' worth at a time, take 2 to 2.7 times the memory of the reflectors in double precision,
/// and for split products (twice that for other products of single precision; the same again for complex types).
///
/// Priorities: the sweeps' order counts, later sweeps first; the forming of blocks goes before their
/// application.
///
/// @param reflectors  read; released piece by piece as the tasks have used them
/// @param z           n rows; read and written
/// @param split_products  float and complex<float> after a chase on a GPU: by split operands in half precision,
/// for columns of length below 15 (launch_apply_chase)
/// @throws InvalidArgument for `one_by_one` where the chase did not run on a GPU or the bandwidth does not
/// fit
///
/// Flops: 2 n^2 columns nominally (n sweeps of 4 (n - s) a column); complex x 4.
template <class T>
void back_tridiagonal(Sequence& sequence, ChaseReflectors<T>&& reflectors, const ColumnSlabs<T>& z,
                      ReflectorKernel kernel = ReflectorKernel::blocked, bool split_products = true);

}  // namespace tessera::detail
