// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/sequence.hpp>

namespace tessera::detail {
namespace {

class SequenceWork final : public Work {
 public:
  SequenceWork(std::unique_ptr<Sequence> sequence, std::function<void()> then)
      : then_(std::move(then)), sequence_(std::move(sequence)) {}
  bool ready() const override { return sequence_->ready(); }
  Status finish() override {
    return guarded(sequence_->runtime(), [&] {
      const Status status = sequence_->wait();
      if (status && then_) then_();
      return status;
    });
  }
  SequenceStatistics statistics() const override { return sequence_->statistics(); }

 private:
  // Destroyed in reverse order: the sequence waits before what its tasks use goes.
  std::function<void()> then_;
  std::unique_ptr<Sequence> sequence_;
};

}  // namespace

std::unique_ptr<Work> work_of(std::unique_ptr<Sequence> sequence, std::function<void()> then) {
  return std::make_unique<SequenceWork>(std::move(sequence), std::move(then));
}

}  // namespace tessera::detail
