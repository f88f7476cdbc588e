// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/data.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// n columns (or rows) dealt to groups in turn, in blocks of `block`: the 1-D block-cyclic distribution. A
/// group keeps its columns in ascending order: those beyond a given one are contiguous.
struct CyclicColumns {
  Index n = 0, block = 1;
  int groups = 1;

  int group_of(Index column) const noexcept { return static_cast<int>(column / block % groups); }
  /// Number of the column among those of its group.
  Index local(Index column) const noexcept { return column / block / groups * block + column % block; }
  /// The column that is number `local` of the group.
  Index global(int group, Index local) const noexcept {
    return (local / block * groups + group) * block + local % block;
  }
  /// Columns of the group before `column`, and from it on.
  Index before(int group, Index column) const { return local_extent(column, block, group, groups); }
  Index from(int group, Index column) const { return count(group) - before(group, column); }
  Index count(int group) const { return before(group, n); }
};

/// A square matrix in groups of columns: one handle, n x columns.count(g), a group; groups without columns
/// have none. One process; each group is meant for a GPU of its own.
template <class T>
class ColumnGroups {
 public:
  ColumnGroups() = default;
  /// Groups without contents, allocated where they are first written.
  ColumnGroups(Runtime& runtime, const CyclicColumns& columns) : columns_(columns) {
    const auto check = [&] {
      if (columns.n < 0 || columns.block < 1 || columns.groups < 1 || runtime.size() > 1)
        throw InvalidArgument("columns", "of no use",
                              "columns in blocks and groups of at least one, in one process");
    };
    collectively(
        runtime, "ColumnGroups", argument_hash(sizeof(T), columns.n, columns.block, columns.groups), check,
        [&] {
          for (int g = 0; g < columns.groups; ++g) {
            const Index count = columns.count(g);
            groups_.push_back(count > 0 ? Data::matrix(runtime, columns.n, count, sizeof(T)) : Data());
          }
        });
  }
  const CyclicColumns& columns() const noexcept { return columns_; }
  int count() const noexcept { return static_cast<int>(groups_.size()); }
  const Data& group(int g) const noexcept { return groups_[static_cast<std::size_t>(g)]; }
  void release_group(int g) { groups_[static_cast<std::size_t>(g)].release(); }

 private:
  CyclicColumns columns_;
  std::vector<Data> groups_;
};

/// The GPU that works on a group of columns (TaskOptions::gpu); -1: there is none.
inline int gpu_of_group(const Runtime& runtime, int group) noexcept {
  return runtime.gpus() > 0 ? group % runtime.gpus() : -1;
}

}  // namespace tessera::detail
