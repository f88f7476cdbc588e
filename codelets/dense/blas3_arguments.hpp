// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of blas3.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::blas3_codelets {

struct NoArguments {};

template <class T>
struct HemmArguments {
  T alpha;
};

struct TrsmArguments {
  Side side;
  Op op;
  std::uint32_t footprint() const noexcept { return footprint_of(int(side), int(op)); }
};

struct PotrfArguments {
  Index first_row;
};

}  // namespace tessera::blas3_codelets
