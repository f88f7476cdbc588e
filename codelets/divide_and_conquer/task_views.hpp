// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// What the operands of the tasks of the tridiagonal divide and conquer hold. The views of operands that a
/// task only reads have pointers of the same type as those it writes.
namespace tessera::divide_and_conquer {

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

}  // namespace tessera::divide_and_conquer
