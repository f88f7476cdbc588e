// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/types.hpp>

/// The record of one merge of the tridiagonal divide and conquer: its result as plain data in one buffer.
///
/// A merge joins the spectral decompositions Q1 D1 Q1^T and Q2 D2 Q2^T of two neighbouring diagonal blocks
/// (orders `left` and `right`, m = left + right) through the off-diagonal element between them:
///
///     Q^T T Q = D + coupling z z^T,   Q = diag(Q1, Q2),   z = (last row of Q1, +-first row of Q2) / sqrt(2).
///
/// Deflation (Cuppen 1981; Dongarra & Sorensen 1987; LAPACK dlaed2) sets tiny z aside and turns pairs of
/// nearly equal d so that one z of the two vanishes; what remains are `poles` = K strictly increasing d with
/// sizeable z and the secular equation 1/coupling + sum_i z_i^2 / (d_i - lambda) = 0, whose K roots are new
/// eigenvalues. All arithmetic of the record is in double, for float problems too.
///
/// SLOTS. The columns of Q, turned by the rotations, have m slots: first the K columns of the poles, then the
/// m - K deflated columns. Both parts are grouped by the rows in which a column can be nonzero: rows of the
/// left child only, of both children, of the right child only (`pole_group`, `deflated_group` count them). So
/// the columns that matter to rows of one child are one contiguous range of each part, and so are the
/// matching rows of the matrix of secular vectors.
///
/// OUTPUT. Column c of the merged eigenvector matrix belongs to the c-th smallest eigenvalue: it is secular
/// vector `output[c]` if that is below K and the deflated column of slot `output[c]` otherwise.
namespace tessera::detail::divide_and_conquer {

/// A child of a merge.
enum class Child : int { left = 0, right = 1 };

struct MergeHeader {
  Index left, right;        ///< orders of the children
  Index poles;              ///< K, not deflated
  Index pole_group[3];      ///< poles whose columns live in left rows only, both, right rows only; sum K
  Index deflated_group[3];  ///< the same for the deflated columns; sum m - K
  Index rotations;          ///< number of plane rotations
  Index status;             ///< 0, or 1 when the merge met numbers that are not finite
  double coupling;          ///< rho > 0

  TESSERA_HOST_DEVICE Index order() const noexcept { return left + right; }
  /// First pole slot, and number of pole slots, whose columns may be nonzero in the rows of a child, with up
  /// to three more in front, so that the first row of the secular vectors in a product is aligned.
  TESSERA_HOST_DEVICE Index first_pole_slot(Child child) const noexcept {
    return child == Child::left ? 0 : pole_group[0] / 4 * 4;
  }
  TESSERA_HOST_DEVICE Index pole_slots(Child child) const noexcept {
    return child == Child::left ? pole_group[0] + pole_group[1] : poles - first_pole_slot(child);
  }
  /// The same for the deflated columns.
  TESSERA_HOST_DEVICE Index first_deflated_slot(Child child) const noexcept {
    return poles + (child == Child::left ? 0 : deflated_group[0]);
  }
  TESSERA_HOST_DEVICE Index deflated_slots(Child child) const noexcept {
    return deflated_group[1] + deflated_group[child == Child::left ? 0 : 2];
  }
  /// Column of a packed row block (see pack_rows) that holds a slot, or -1 if the slot is zero in this
  /// child's rows.
  TESSERA_HOST_DEVICE Index packed_column(Child child, Index slot) const noexcept {
    if (slot < poles) {
      const Index column = slot - first_pole_slot(child);
      return column >= 0 && column < pole_slots(child) ? column : -1;
    }
    const Index column = slot - first_deflated_slot(child);
    return column >= 0 && column < deflated_slots(child) ? pole_slots(child) + column : -1;
  }
  /// Number of columns of a packed row block; at most m.
  TESSERA_HOST_DEVICE Index packed_columns(Child child) const noexcept {
    return pole_slots(child) + deflated_slots(child);
  }
};

/// A view of one record: pointers into a buffer of `bytes(m)` bytes, aligned to 8 bytes, laid out by m alone.
struct MergeRecord {
  MergeHeader* header;
  // Ascending order of the poles, K entries each.
  double* pole;    ///< d_i
  double* z;       ///< z_i
  double* base;    ///< root k is base[k] + offset[k]; base is the pole nearest to it
  double* offset;  ///< so (d_i - base[k]) - offset[k] is d_i - lambda_k to full relative accuracy
  // By slot, m entries each.
  double* value;      ///< d of the column (poles and deflated)
  double* weight;     ///< Gu & Eisenstat's z-hat (only for poles)
  double* first_row;  ///< first row of the turned Q
  double* last_row;   ///< last row of the turned Q
  // By root, K entries each.
  double* root_first;  ///< first row of the new eigenvector matrix, column of root k
  double* root_last;   ///< last row
  // By rotation: x := cosine x + sine y, y := cosine y - sine x for the columns x, y of two slots.
  double* cosine;
  double* sine;
  Index* rotation_x;
  Index* rotation_y;
  Index* slot_column;  ///< by slot: column of diag(Q1, Q2) that it is taken from
  Index* pole_slot;    ///< by pole: its slot
  Index* deflated;     ///< the slots of the m - K deflated columns by ascending value
  Index* output;       ///< by output column, see above

  static constexpr Index double_arrays = 12, index_arrays = 6;
  TESSERA_HOST_DEVICE static constexpr std::size_t bytes(Index m) noexcept {
    return sizeof(MergeHeader) +
           static_cast<std::size_t>(m) * (double_arrays * sizeof(double) + index_arrays * sizeof(Index));
  }

  MergeRecord(void* buffer, Index m) noexcept : header(static_cast<MergeHeader*>(buffer)) {
    double* real = reinterpret_cast<double*>(header + 1);
    for (double** array : {&pole, &z, &base, &offset, &value, &weight, &first_row, &last_row, &root_first,
                           &root_last, &cosine, &sine}) {
      *array = real;
      real += m;
    }
    Index* integer = reinterpret_cast<Index*>(real);
    for (Index** array : {&rotation_x, &rotation_y, &slot_column, &pole_slot, &deflated, &output}) {
      *array = integer;
      integer += m;
    }
  }

  Index order() const noexcept { return header->order(); }
  Index poles() const noexcept { return header->poles; }

  /// The roots [first, first + count) among the output columns [begin, end).
  struct Roots {
    Index first, count;
  };
  Roots roots_of(Index begin, Index end) const noexcept {
    Roots roots{0, 0};
    for (Index c = begin; c < end; ++c)
      if (output[c] < header->poles && roots.count++ == 0) roots.first = output[c];
    return roots;
  }
};

/// The numbers of a record that the host needs before it starts the update of a panel of output columns, if
/// the record is in device memory.
struct PanelOutline {
  MergeHeader header;
  MergeRecord::Roots roots;  ///< of the panel's columns
};

/// Spectrum of a node of the tree, one buffer of `bytes(m)`: eigenvalues ascending and the first and last row
/// of the eigenvector matrix. The merge above needs no more.
struct NodeSpectrum {
  double* value;
  double* first_row;
  double* last_row;

  static constexpr Index doubles(Index m) noexcept { return 3 * m; }
  NodeSpectrum(double* buffer, Index m) noexcept
      : value(buffer), first_row(buffer + m), last_row(buffer + 2 * m) {}
};

// What the operands of the tasks of the tridiagonal divide and conquer hold. The views of operands that a
// task only reads have pointers of the same type as those it writes.

/// T in double, scaled and cut, as one buffer.
struct ScaledTridiagonal {
  double* d;
  double* e;
  double* exponent;  ///< T = 2^exponent * scaled T

  static constexpr std::size_t bytes(Index n) noexcept {
    return static_cast<std::size_t>(2 * n + 1) * sizeof(double);
  }
  ScaledTridiagonal(void* buffer, Index n) noexcept
      : d(static_cast<double*>(buffer)), e(d + n), exponent(e + n) {}
};

inline ScaledTridiagonal scaled_of(std::span<const double> scaled, Index n) noexcept {
  return ScaledTridiagonal(const_cast<double*>(scaled.data()), n);
}
inline NodeSpectrum spectrum_of(std::span<const double> spectrum, Index m) noexcept {
  return NodeSpectrum(const_cast<double*>(spectrum.data()), m);
}
inline MergeRecord record_of(std::span<const char> record, Index m) noexcept {
  return MergeRecord(const_cast<char*>(record.data()), m);
}
inline const PanelOutline& outline_of(std::span<const char> outline) noexcept {
  return *reinterpret_cast<const PanelOutline*>(outline.data());
}

/// Rows [start, start + m) of a problem of order n.
struct RowRange {
  Index n = 0, start = 0, m = 0;
};

}  // namespace tessera::detail::divide_and_conquer
