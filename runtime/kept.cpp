// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime/kept.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

std::shared_ptr<void>& kept_with(const Runtime& runtime, std::string_view name) {
  auto& kept = runtime.detail().kept;
  const auto found = kept.find(name);
  return found != kept.end() ? found->second : kept[std::string(name)];
}

std::unique_lock<std::recursive_mutex> lock_kept(const Runtime& runtime) {
  return std::unique_lock(runtime.detail().kept_mutex);
}

}  // namespace tessera::detail
