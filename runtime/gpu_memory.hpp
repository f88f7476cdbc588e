// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tessera::detail {

/// Bytes that StarPU holds of the memory of this rank's GPUs: those of the pieces that are there, of released
/// ones whose memory it keeps for the next, and of the chunks that small pieces share. Libraries' workspaces and
/// kernels' code do not count. 0 without GPUs.
std::size_t gpu_bytes_held() noexcept;

}  // namespace tessera::detail
