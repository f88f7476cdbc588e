// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <tessera/runtime/mpi_headers.hpp>

namespace tessera::detail {

/// Pieces of data that nobody has any more. To let go of them takes the host's time, and a product makes many: they are
/// let go where the host waits for tasks anyway, not between the tasks that it submits.
class RetiredData {
 public:
  /// Whether the piece is let go later: not beyond some hundreds, or 512 MiB in all, whose memory is wanted.
  bool take(starpu_data_handle_t handle, std::size_t bytes) noexcept;
  /// Lets all of them go.
  void release() noexcept;

 private:
  std::mutex mutex_;
  std::vector<starpu_data_handle_t> handles_;
  std::size_t bytes_ = 0;
};

}  // namespace tessera::detail
