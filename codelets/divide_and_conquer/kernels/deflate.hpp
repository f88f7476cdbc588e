// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// The first and the last step of a merge: deflation, and the ascending order of the result. Both are serial
/// and O(m).
namespace tessera::detail::kernels {

/// Doubles and Indexes of scratch that deflate needs for a merged order m.
constexpr Index deflate_real_scratch(Index m) noexcept {
  return 2 * m;
}
constexpr Index deflate_index_scratch(Index m) noexcept {
  return 4 * m;
}

/// Forms D + rho z z^T from two spectra and deflates it.
///
/// z_i is dropped if rho |z_i| <= tol. Two neighbours d_p <= d_q are turned by the rotation with tangent
/// -z_p / z_q, which annihilates z_p, if the off-diagonal element |(d_q - d_p) c s| that it leaves is <= tol;
/// tol = 8 epsilon max(|d|, |z|).
///
/// left, right   spectra (R) of the children, orders m1 and m2, values ascending
/// off_diagonal  the element of T between the children; both diagonal elements beside it lost |off_diagonal|
///               before the children were solved
/// epsilon       spacing of the numbers that hold the eigenvectors (2^-52 or 2^-23)
/// record        (W) everything except base, offset, weight, root_first, root_last and output
/// real_scratch, index_scratch  deflate_real_scratch(m1 + m2) doubles, deflate_index_scratch(m1 + m2) Indexes
///
/// A value or a z that is not finite sets header->status to 1 and K to 0.
/// Source: LAPACK dlaed2; Dongarra & Sorensen, SIAM J. Sci. Stat. Comput. 8 (1987), section 4.
void deflate(const divide_and_conquer::NodeSpectrum& left, Index m1,
             const divide_and_conquer::NodeSpectrum& right, Index m2, double off_diagonal, double epsilon,
             divide_and_conquer::MergeRecord& record, double* real_scratch, Index* index_scratch) noexcept;

/// Puts roots and deflated values into one ascending list.
///
/// record  (R) everything but output; (W) output
/// merged  (W) values of the merged node; also its boundary rows if `rows` (from root_first and root_last)
void order_spectrum(divide_and_conquer::MergeRecord& record, bool rows,
                    divide_and_conquer::NodeSpectrum merged) noexcept;

/// Copies the weights of the poles, given in ascending order, to their slots: record.weight[pole_slot[i]] =
/// ascending[i].
void place_weights(const double* ascending, divide_and_conquer::MergeRecord& record) noexcept;

}  // namespace tessera::detail::kernels
