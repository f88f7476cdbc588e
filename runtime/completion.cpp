// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/completion.hpp>
#include <tessera/sequence.hpp>

namespace tessera::detail {
namespace {

class SequenceWork final : public Work {
 public:
  explicit SequenceWork(std::unique_ptr<Sequence> sequence) : sequence_(std::move(sequence)) {}
  bool ready() const override { return sequence_->ready(); }
  Status finish() override { return sequence_->wait(); }
  SequenceStatistics statistics() const override { return sequence_->statistics(); }

 private:
  std::unique_ptr<Sequence> sequence_;
};

}  // namespace

std::unique_ptr<Work> work_of(std::unique_ptr<Sequence> sequence) {
  return std::make_unique<SequenceWork>(std::move(sequence));
}

}  // namespace tessera::detail
