// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/data.hpp>

namespace tessera::kernels {

/// Upper triangle := adjoint of the lower one, diagonal := its real part; A is square. [no flops, reads and
/// writes n^2 / 2]
template <class T>
void mirror_lower(MatrixView<T> a) noexcept {
  constexpr Index square = 32;  // rows and columns at a time, that both sides stay in the cache
  for (Index j = 0; j < a.cols; ++j) a(j, j) = T(real_part(a(j, j)));
  for (Index j0 = 0; j0 < a.cols; j0 += square)
    for (Index i0 = j0; i0 < a.rows; i0 += square)
      for (Index j = j0; j < std::min(j0 + square, a.cols); ++j)
        for (Index i = std::max(i0, j + 1); i < std::min(i0 + square, a.rows); ++i)
          a(j, i) = conjugate(a(i, j));
}

}  // namespace tessera::kernels
