// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime/host_waits.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

std::uint64_t host_waits(const Runtime& runtime) noexcept {
  return runtime.detail().waits;
}

}  // namespace tessera::detail
