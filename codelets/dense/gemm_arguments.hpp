// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of gemm.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::gemm_codelets {

template <class T>
struct GemmArguments {
  Op op_a, op_b;
  T alpha, beta;
  TilePart a, b, c;
  Index depth() const noexcept { return op_a == Op::none ? a.cols : a.rows; }
  std::uint32_t footprint() const noexcept {
    return footprint_of(int(op_a), int(op_b), c.rows, c.cols, depth());
  }
};

}  // namespace tessera::gemm_codelets
