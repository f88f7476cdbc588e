// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// What a layer above keeps with a Runtime under a name; empty at first. It goes when the Runtime ends, before
/// StarPU does. Several threads may submit: who asks, or uses what is kept, holds the lock.
std::shared_ptr<void>& kept_with(const Runtime& runtime, std::string_view name);
/// The lock of all that is kept with a Runtime.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_kept(const Runtime& runtime);

}  // namespace tessera::detail
