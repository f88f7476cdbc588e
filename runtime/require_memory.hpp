// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Refuses work that needs more memory than there is, before it begins. Collective: all ranks refuse what one
/// refuses. Ranks of one host share its memory.
/// @param host_bytes that this rank will need in addition
/// @param gpu_bytes of each of its GPUs' memory at once, that nothing can be moved out of
/// @throws RuntimeError "WHAT needs 5.1 GiB of host memory on this rank, and 2.0 GiB may be used"
void require_memory(const Runtime& runtime, std::string_view what, double host_bytes, double gpu_bytes = 0);

}  // namespace tessera::detail
