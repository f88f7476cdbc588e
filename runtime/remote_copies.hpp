// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <tessera/data.hpp>

/// Copies of other ranks' pieces on this rank: from the insertion of the first task here that reads a piece,
/// which posts the receive, until the memory of the copy is free.
namespace tessera::detail {

class RemotePeak;

/// Their bytes. Thread-safe.
class RemoteCopies {
 public:
  void add(std::size_t bytes) noexcept;
  void remove(std::size_t bytes) noexcept;
  std::size_t bytes() const noexcept;

 private:
  friend class RemotePeak;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::vector<RemotePeak*> watching_;
};

/// The count of a Runtime.
const std::shared_ptr<RemoteCopies>& remote_copies(const Runtime& runtime) noexcept;

/// The most bytes that such copies take at a time while it lives.
class RemotePeak {
 public:
  explicit RemotePeak(const Runtime& runtime);
  ~RemotePeak();
  RemotePeak(const RemotePeak&) = delete;
  RemotePeak& operator=(const RemotePeak&) = delete;
  /// So far.
  std::size_t bytes() const noexcept;

 private:
  friend class RemoteCopies;
  const std::shared_ptr<RemoteCopies> copies_;
  std::size_t most_;
};

/// Holds back the insertion of work in steps, each of which reads pieces of other ranks: so that on every rank
/// the copies of few steps wait. A send begins when the sender has inserted the task that needs it, whether or
/// not the receiver has; StarPU-MPI then receives it into memory of its own. So the ranks go from step to step
/// together.
class StepWindow {
 public:
  /// @param steps whose copies may wait on a rank at a time
  StepWindow(Runtime& runtime, std::size_t steps) : runtime_(runtime), most_(steps) {}
  /// Before the tasks of a step are inserted: waits until the copies of the step that is `steps` before it are
  /// free on all ranks. Collective.
  /// @throws what another rank has failed with, meanwhile
  void begin_step();
  /// When they are inserted: the copies of these pieces go as soon as the tasks have read them.
  void end_step(std::span<const Data* const> pieces);

 private:
  struct Step;
  void wait_for(Step& step);
  Runtime& runtime_;
  const std::size_t most_;
  std::deque<std::shared_ptr<Step>> steps_;
};

}  // namespace tessera::detail
