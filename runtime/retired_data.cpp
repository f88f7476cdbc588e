// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime/retired_data.hpp>

namespace tessera::detail {

bool RetiredData::take(starpu_data_handle_t handle, std::size_t bytes) noexcept {
  constexpr std::size_t most_bytes = std::size_t(512) << 20, most_handles = 256;
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes - bytes_ || handles_.size() >= most_handles) return false;
  try {
    handles_.push_back(handle);
  } catch (...) {  // no memory to remember it
    return false;
  }
  bytes_ += bytes;
  return true;
}

void RetiredData::release() noexcept {
  std::vector<starpu_data_handle_t> handles;
  {
    const std::lock_guard lock(mutex_);
    handles.swap(handles_);
    bytes_ = 0;
  }
  for (const starpu_data_handle_t handle : handles) starpu_data_unregister_submit(handle);
}

}  // namespace tessera::detail
