// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

/// What the library keeps between runs.
namespace tessera::detail {

/// $XDG_CACHE_HOME/tessera, else $HOME/.cache/tessera; it need not exist, but HOME must. Relative paths do
/// not count.
/// @throws RuntimeError where the user has no place for it
std::filesystem::path cache_directory();

/// FNV-1a of a text: for names of files that change with what they hold.
std::uint64_t hash_of(std::string_view text) noexcept;

}  // namespace tessera::detail
