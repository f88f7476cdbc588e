// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail::kernels {

using divide_and_conquer::Child;
using divide_and_conquer::MergeRecord;

namespace {

/// Copies, and sets numbers far below the rounding error of an orthogonal matrix to zero: localised
/// eigenvectors have many of them, and denormal numbers would slow every product down.
template <class R>
void copy_without_tiny(const R* __restrict source, Index count, R* __restrict target) noexcept {
  const R tiny = sizeof(R) == 8 ? R(0x1p-500) : R(0x1p-60f);
#pragma omp simd
  for (Index i = 0; i < count; ++i) target[i] = std::abs(source[i]) < tiny ? R(0) : source[i];
}

}  // namespace

template <class R>
void pack_rows(const MergeRecord& record, Child child, Index rows, const R* const* tiles, Index tile_columns,
               Index ldt, R* packed, Index ldp) noexcept {
  const Index first_column = child == Child::left ? 0 : record.header->left;
  const Index columns = child == Child::left ? record.header->left : record.header->right;
  const Index pole_slots = record.header->pole_slots(child),
              first_pole = record.header->first_pole_slot(child);
  const Index first_deflated = record.header->first_deflated_slot(child);
  for (Index p = 0; p < record.header->packed_columns(child); ++p) {
    const Index slot = p < pole_slots ? first_pole + p : first_deflated + (p - pole_slots);
    const Index column = record.slot_column[slot] - first_column;
    R* target = packed + p * ldp;
    if (column < 0 || column >= columns) {
      std::fill_n(target, rows, R(0));  // a column of the other child that a rotation fills
      continue;
    }
    copy_without_tiny(tiles[column / tile_columns] + (column % tile_columns) * ldt, rows, target);
  }
  for (Index r = 0; r < record.header->rotations; ++r) {
    const Index px = record.header->packed_column(child, record.rotation_x[r]);
    const Index py = record.header->packed_column(child, record.rotation_y[r]);
    if (px < 0 || py < 0) continue;  // both columns were zero in these rows
    R* __restrict x = packed + px * ldp;
    R* __restrict y = packed + py * ldp;
    const R c = static_cast<R>(record.cosine[r]), s = static_cast<R>(record.sine[r]);
    for (Index i = 0; i < rows; ++i) {
      const R turned = c * x[i] + s * y[i];
      y[i] = c * y[i] - s * x[i];
      x[i] = turned;
    }
  }
}

template <class R>
void update_rows(const MergeRecord& record, Child child, Index rows, const R* packed, Index ldp, Index begin,
                 Index end, const R* s, Index lds, R* out, Index ldo) noexcept {
  const Index roots = record.roots_of(begin, end).count;
  const Index inner = record.header->pole_slots(child);
  // The product goes to the front of the output. Then its columns move to their places, the last first, and
  // the deflated columns are copied between them.
  if (roots > 0 && inner > 0)
    blas::gemm(Op::none, Op::none, rows, roots, inner, R(1), packed, ldp,
               s + record.header->first_pole_slot(child), lds, R(0), out, ldo);
  else
    blas::set_zero(MatrixView<R>{out, rows, roots, ldo});
  Index product = roots;
  for (Index c = end - 1; c >= begin; --c) {
    R* target = out + (c - begin) * ldo;
    const Index source = record.output[c];
    if (source < record.poles()) {
      --product;
      if (product != c - begin) std::copy_n(out + product * ldo, rows, target);
      continue;
    }
    const Index column = record.header->packed_column(child, source);
    if (column < 0)
      std::fill_n(target, rows, R(0));
    else
      std::copy_n(packed + column * ldp, rows, target);
  }
}

#define TESSERA_INSTANTIATE(R)                                                                         \
  template void pack_rows(const MergeRecord&, Child, Index, const R* const*, Index, Index, R*,         \
                          Index) noexcept;                                                             \
  template void update_rows(const MergeRecord&, Child, Index, const R*, Index, Index, Index, const R*, \
                            Index, R*, Index) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
