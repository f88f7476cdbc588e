// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of copy.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::copy_codelets {

struct MaxAbsArguments {
  Uplo uplo;
  Index row0, col0;
};

struct NoArguments {};

struct ScaleArguments {
  bool power_of_four;
};

struct CopyArguments {
  TilePart source, destination;
  Op op;
  Index row0, col0;
  std::uint32_t footprint() const noexcept {
    return footprint_of(destination.rows, destination.cols, int(op));
  }
};

struct ExportArguments {
  Index first, count;
};

}  // namespace tessera::copy_codelets
