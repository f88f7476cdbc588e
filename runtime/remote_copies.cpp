// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <condition_variable>

#include <tessera/runtime/fault_points.hpp>
#include <tessera/runtime/remote_copies.hpp>
#include <tessera/runtime/sequence_state.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

void RemoteCopies::add(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  for (RemotePeak* const peak : watching_) peak->most_ = std::max(peak->most_, bytes_);
}

void RemoteCopies::remove(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
}

std::size_t RemoteCopies::bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

const std::shared_ptr<RemoteCopies>& remote_copies(const Runtime& runtime) noexcept {
  return runtime.detail().remote_copies;
}

RemotePeak::RemotePeak(const Runtime& runtime) : copies_(remote_copies(runtime)) {
  const std::lock_guard lock(copies_->mutex_);
  most_ = copies_->bytes_;
  copies_->watching_.push_back(this);
}

RemotePeak::~RemotePeak() {
  const std::lock_guard lock(copies_->mutex_);
  std::erase(copies_->watching_, this);
}

std::size_t RemotePeak::bytes() const noexcept {
  const std::lock_guard lock(copies_->mutex_);
  return most_;
}

/// The copies that were dropped at the end of a step and are still read, or on their way. StarPU's threads may
/// come when the window has gone.
struct StepWindow::Step {
  std::mutex mutex;
  std::condition_variable changed;
  Index copies = 0;

  void add() {
    const std::lock_guard lock(mutex);
    ++copies;
  }
  void remove() {
    const std::lock_guard lock(mutex);
    if (--copies == 0) changed.notify_all();
  }
};

void StepWindow::begin_step() {
  if (steps_.size() < most_) return;
  guarded(runtime_, [&] {
    fault_point();
    wait_for(*steps_.front());
    steps_.pop_front();
    runtime_.barrier();
  });
}

/// Nothing wakes this thread when another rank fails, or when memory is short: it looks now and then.
void StepWindow::wait_for(Step& step) {
  constexpr auto alarm_pause = std::chrono::milliseconds(20);
  constexpr int stall_rounds = 50;
  StallWatch watch(runtime_.detail());
  std::unique_lock lock(step.mutex);
  for (int round = 1; !step.changed.wait_for(lock, alarm_pause, [&] { return step.copies == 0; }); ++round) {
    lock.unlock();
    runtime_.detail().require_no_alarm();
    if (round % stall_rounds == 0) give_up_if_stalled(runtime_.detail(), watch);
    lock.lock();
  }
}

void StepWindow::end_step(std::span<const Data* const> pieces) {
  const auto step = std::make_shared<Step>();
  for (const Data* const piece : pieces) {
    step->add();
    if (!piece->flush_remote_copies([step] { step->remove(); })) step->remove();
  }
  steps_.push_back(step);
}

}  // namespace tessera::detail
