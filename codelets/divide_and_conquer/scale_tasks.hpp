// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/divide_and_conquer/task_views.hpp>
#include <tessera/runtime/task.hpp>

/// First and last task of the tridiagonal divide and conquer: the kernels of leaf.hpp that scale. All pieces
/// are of owner every_rank. No flops counted.
namespace tessera::divide_and_conquer {

/// kernels::scale_and_cut. Fails with not_finite, index: the row from 1.
/// | operand | mode  | shape                    | what                                   |
/// |---------|-------|--------------------------|----------------------------------------|
/// | d       | read  | array of R, n            | diagonal                               |
/// | e       | read  | array of R, n - 1        | off-diagonal                           |
/// | scaled  | write | array of double, 2 n + 1 | ScaledTridiagonal of the whole problem |
template <class R>
struct ScaleAndCut {
  static constexpr const char* name = "tridiagonal_scale";
  Read<Array<R>> d, e;
  Write<Array<double>> scaled;
  Index n = 0;
  Index leaf = 0;  ///< cuts lie at its multiples

  std::uint32_t footprint() const noexcept { return footprint_of(leaf, false); }
};

/// kernels::unscale_values of the whole spectrum.
/// | operand  | mode  | shape                    | what                                |
/// |----------|-------|--------------------------|-------------------------------------|
/// | scaled   | read  | array of double, 2 n + 1 | ScaledTridiagonal: for its exponent |
/// | spectrum | read  | array of double, 3 n     | NodeSpectrum of the root            |
/// | values   | write | array of R, n            | the eigenvalues                     |
template <class R>
struct Unscale {
  static constexpr const char* name = "tridiagonal_unscale";
  Read<Array<double>> scaled, spectrum;
  Write<Array<R>> values;
  Index n = 0;

  std::uint32_t footprint() const noexcept { return footprint_of(n, false); }
};

}  // namespace tessera::divide_and_conquer
