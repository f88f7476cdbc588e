// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <tessera/runtime/alarm.hpp>

namespace tessera::detail {

namespace {

constexpr int alarm_tag = 1;

/// The fixed part of a message; the texts follow.
struct Head {
  ErrorKind kind;
  std::int32_t rank;
  Index line;
  std::uint32_t lengths[3];
};

}  // namespace

Alarm::Message Alarm::packed(const ErrorParts& failure) noexcept {
  Head head{failure.kind, failure.rank, failure.line, {}};
  Message message{};
  std::size_t used = sizeof head;
  for (int i = 0; i < 3; ++i) {
    const std::size_t length = std::min(failure.texts[i].size(), message.size() - used);
    std::memcpy(message.data() + used, failure.texts[i].data(), length);
    head.lengths[i] = static_cast<std::uint32_t>(length);
    used += length;
  }
  std::memcpy(message.data(), &head, sizeof head);
  return message;
}

ErrorParts Alarm::unpacked(const Message& message) {
  Head head;
  std::memcpy(&head, message.data(), sizeof head);
  ErrorParts failure{head.kind, head.rank, head.line, {}};
  std::size_t used = sizeof head;
  for (int i = 0; i < 3; ++i) {
    failure.texts[i].assign(message.data() + used, head.lengths[i]);
    used += head.lengths[i];
  }
  return failure;
}

void Alarm::start(MPI_Comm communicator, int rank, int size) {
  communicator_ = communicator;
  rank_ = rank;
  size_ = size;
  MPI_Irecv(received_.data(), static_cast<int>(received_.size()), MPI_BYTE, MPI_ANY_SOURCE, alarm_tag,
            communicator_, &listening_);
}

void Alarm::stop() noexcept {
  const std::lock_guard lock(mutex_);
  if (listening_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&listening_);
  MPI_Wait(&listening_, MPI_STATUS_IGNORE);
}

void Alarm::raise(const ErrorParts& failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (raised_.load()) return;
  try {
    failure_ = failure;
    sending_.reserve(static_cast<std::size_t>(size_));
  } catch (...) {  // no memory for the text: the failure is sent without it
  }
  raised_.store(true, std::memory_order_release);
  sent_ = packed(failure);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    MPI_Request request;
    MPI_Isend(sent_.data(), static_cast<int>(sent_.size()), MPI_BYTE, rank, alarm_tag, communicator_,
              &request);
    if (sending_.size() < sending_.capacity()) sending_.push_back(request);
  }
}

bool Alarm::look() noexcept {
  if (raised()) return true;
  const std::lock_guard lock(mutex_);
  if (listening_ == MPI_REQUEST_NULL) return raised();
  int arrived = 0;
  MPI_Test(&listening_, &arrived, MPI_STATUS_IGNORE);
  if (!arrived) return raised();
  try {
    failure_ = unpacked(received_);
  } catch (...) {  // no memory for its text
  }
  raised_.store(true, std::memory_order_release);
  return true;
}

}  // namespace tessera::detail
