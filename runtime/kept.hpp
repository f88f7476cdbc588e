// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// What a layer above keeps with a Runtime under a name; empty at first. It goes when the Runtime ends, before
/// StarPU does. Only the thread that submits may ask.
std::shared_ptr<void>& kept_with(const Runtime& runtime, std::string_view name);

}  // namespace tessera::detail
