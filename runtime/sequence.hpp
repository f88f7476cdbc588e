// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include <tessera/completion.hpp>
#include <tessera/data.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/task.hpp>
#include <tessera/sequence.hpp>

/// How a Sequence inserts tasks: for the sources of the library.
namespace tessera::detail {

/// Whether every GPU has room for the buffers of a task, so many bytes: StarPU would wait for it for ever.
/// @throws RuntimeError, naming the task, if not
void require_gpu_memory(const Runtime& runtime, std::string_view task, std::size_t bytes);

/// Gives the operands of a task their places among its buffers.
class OperandPlaces {
 public:
  explicit OperandPlaces(const Sequence& sequence) : sequence_(sequence) {}
  template <class Task>
  void place_all(Task& task) {
    const auto one = [&]<class Member>(Member& member) {
      if constexpr (requires { place(member); })
        place(member);
      else if constexpr (requires { place(member.front()); })
        for (auto& each : member) place(each);
    };
    for_each_member(task, one);
  }
  std::span<const Access> accesses() const noexcept { return list_.accesses(); }

 private:
  template <class Shape, AccessMode mode, OperandKind kind>
  void place(Operand<Shape, mode, kind>& operand) {
    using enum OperandKind;
    const Data* const data = operand.data();
    if (!data || (kind == gpu_scratch && !sequence_.runtime().any_gpus())) return;
    Sequence::require_data(*data);
    const bool first = kind == write_or_add && !operand.keeps() && !sequence_.has_written(*data);
    operand.place(list_.add(*data, first ? AccessMode::write : mode), first);
  }
  template <AccessMode mode, class... Shapes>
  void place(OperandList<mode, Shapes...>& operands) {
    operands.place(static_cast<int>(list_.accesses().size()));
    for (const Data* piece : operands.pieces()) {
      Sequence::require_data(*piece);
      list_.append(*piece, mode);
    }
  }
  const Sequence& sequence_;
  AccessList list_;
};

}  // namespace tessera::detail

namespace tessera {

template <class Task>
requires requires {
  Task::name;
}
void Sequence::insert(const Task& task, const TaskOptions& options, std::source_location where) {
  double flops = 0;
  if constexpr (requires { task.flops(); }) flops = task.flops();
  detail::Codelet& codelet = detail::TaskCodelet<Task>::codelet;
  detail::TaskBlock<Task> block{
      {.sequence = state_.get(), .stage = current_stage_, .codelet = codelet.index(), .flops = flops}, task};
  detail::OperandPlaces places(*this);
  places.place_all(block.task);
  insert_block(codelet, &block, sizeof block, options, places.accesses(), where);
}

}  // namespace tessera
