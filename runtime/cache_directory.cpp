// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tessera/error.hpp>
#include <tessera/runtime/cache_directory.hpp>

namespace tessera::detail {

std::filesystem::path cache_directory() {
  // A relative path would name another folder in each working directory.
  const auto from = [](const char* name) {
    const char* text = std::getenv(name);
    const std::filesystem::path path(text ? text : "");
    return path.is_absolute() ? path : std::filesystem::path();
  };
  std::error_code error;
  if (const auto cache = from("XDG_CACHE_HOME"); !cache.empty()) return cache / "tessera";
  if (const auto home = from("HOME"); std::filesystem::is_directory(home, error))
    return home / ".cache/tessera";
  throw RuntimeError("neither XDG_CACHE_HOME nor HOME names a directory");
}

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

}  // namespace tessera::detail
