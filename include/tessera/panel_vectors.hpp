// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/block_layout.hpp>
#include <tessera/data.hpp>

namespace tessera {

/// A block of `width` dense vectors, cut as the rows (or columns) of a block-sparse matrix: one segment for
/// each panel of a BlockDimension, an array of size(p) x width elements, column-major without gaps, whose rows
/// are those of the panel's blocks, one block after the other. A panel need not be consecutive rows, and may
/// have none, which the segments of BlockVectors cannot be; so these vectors have a class of their own, for
/// all four scalar types. Allocated lazily; a segment without elements has no data.
template <class T>
class PanelVectors {
 public:
  PanelVectors() = default;
  /// `owners`: the rank of each panel's segment; empty: dealt to the ranks in turn. Collective.
  /// @throws InvalidArgument for a null dimension, a width below 1, or owners that are no ranks
  PanelVectors(Runtime& runtime, BlockDimensionPointer dimension, Index width, std::vector<int> owners = {});

  /// It was made.
  bool valid() const noexcept { return dimension_ != nullptr; }
  /// Where it lives.
  Runtime& runtime() const noexcept { return *runtime_; }
  /// How the rows are cut.
  const BlockDimension& dimension() const noexcept { return *dimension_; }
  /// The same, to share it.
  const BlockDimensionPointer& dimension_pointer() const noexcept { return dimension_; }
  /// Elements of a vector.
  Index rows() const noexcept { return dimension_->elements(); }
  /// Number of vectors.
  Index width() const noexcept { return width_; }
  /// Number of segments.
  Index count() const noexcept { return static_cast<Index>(segments_.size()); }
  /// Rows of a segment.
  Index size(Index p) const noexcept { return sizes_[static_cast<std::size_t>(p)]; }
  /// The rank of a segment.
  int owner(Index p) const noexcept { return owners_[static_cast<std::size_t>(p)]; }
  /// The owners of all.
  const std::vector<int>& owners() const noexcept { return owners_; }
  /// The values of a segment: an array of T; valid where size(p) > 0.
  const Data& segment(Index p) const noexcept { return segments_[static_cast<std::size_t>(p)]; }

  /// Copies the vectors from a column-major host array that every rank has, rows() x width() with leading
  /// dimension ld. Collective; waits. @throws InvalidArgument
  void set(const T* values, Index ld) const;
  /// Copies the vectors to such an array, on every rank. Collective; waits. @throws InvalidArgument
  void get(T* values, Index ld) const;

 private:
  void check(const T* values, Index ld) const;
  template <class Copy>
  void for_each_block(Index p, const Copy& copy) const;
  Runtime* runtime_ = nullptr;
  BlockDimensionPointer dimension_;
  Index width_ = 0;
  std::vector<int> owners_;
  std::vector<Index> sizes_;
  std::vector<Data> segments_;
};

}  // namespace tessera
