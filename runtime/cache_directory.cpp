// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {

std::filesystem::path cache_directory() {
  const auto from = [](const char* name) -> std::filesystem::path {
    const char* text = std::getenv(name);
    return text ? text : "";
  };
  if (const auto cache = from("XDG_CACHE_HOME"); !cache.empty()) return cache / "tessera";
  if (const auto home = from("HOME"); !home.empty()) return home / ".cache/tessera";
  throw RuntimeError("neither XDG_CACHE_HOME nor HOME is set");
}

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

}  // namespace tessera
