// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera {
class Runtime;
}

namespace tessera::detail {

/// How often threads of the process have waited, so far, for the tasks of a sequence or for a piece of data
/// that they read: whether they were still under way or not, so that the number depends on no timing.
std::uint64_t host_waits(const Runtime& runtime) noexcept;

}  // namespace tessera::detail
