// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of whole_tasks.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::whole_codelets {

struct WholeArguments {
  Index n;
};

}  // namespace tessera::whole_codelets
