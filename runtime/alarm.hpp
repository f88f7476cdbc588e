// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include <tessera/runtime/error_parts.hpp>
#include <tessera/runtime/mpi_headers.hpp>

/// Included by runtime/*.cpp only.
namespace tessera::detail {

/// A message of a rank to the others that it has failed, where they expect none. A rank that waits for
/// another polls the alarm (Runtime's collectives, Sequence::wait, HostAccess), so that no rank waits for one
/// that has given up. An alarm is final: tasks and messages of the ranks no longer match.
class Alarm {
 public:
  /// Collective: every rank listens from now on. @param communicator of the alarm alone
  void start(MPI_Comm communicator, int rank, int size);
  /// When all ranks have agreed to end.
  void stop() noexcept;

  /// Sends the failure to the others. Only the first failure of a process counts.
  void raise(const ErrorParts& failure) noexcept;
  /// Whether this rank or another has failed, as far as is known.
  bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
  /// The same after it has received the messages that have arrived.
  bool look() noexcept;
  /// After raised(): what has failed, and where.
  const ErrorParts& failure() const noexcept { return failure_; }

 private:
  /// Short enough to be sent at once, whether the receiver looks or not.
  static constexpr std::size_t message_bytes = 2048;
  using Message = std::array<char, message_bytes>;
  static Message packed(const ErrorParts& failure) noexcept;
  static ErrorParts unpacked(const Message& message);
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::mutex mutex_;  ///< of the requests
  MPI_Request listening_ = MPI_REQUEST_NULL;
  Message received_{}, sent_{};
  std::vector<MPI_Request> sending_;
  std::atomic<bool> raised_ = false;
  ErrorParts failure_;
};

}  // namespace tessera::detail
