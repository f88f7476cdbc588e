// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/data.hpp>

namespace tessera {

/// A cut of the rows 0, ..., n - 1 into segments of consecutive rows, each of which belongs to a rank and,
/// where ranks have several GPUs, to one of them: its home, on which tasks of this segment run. Equal on all
/// ranks.
class RowSegments {
 public:
  /// `begins`: first row of each segment and, last, the number of rows: strictly ascending from 0
  /// `owners`: rank of each segment
  /// `gpus`: number of each segment's GPU among those of its rank, -1: none; empty: none for all
  /// @throws InvalidArgument
  RowSegments(std::vector<Index> begins, std::vector<int> owners, std::vector<int> gpus = {});
  /// About equal segments, dealt to the ranks, and there to the GPUs, in runs of consecutive ones; fewer if
  /// there are fewer rows.
  static std::shared_ptr<const RowSegments> even(const Runtime& runtime, Index rows, Index count);

  /// Number of rows.
  Index rows() const noexcept { return begins_.back(); }
  /// Number of segments.
  Index count() const noexcept { return static_cast<Index>(owners_.size()); }
  /// First row of a segment.
  Index begin(Index s) const noexcept { return begins_[static_cast<std::size_t>(s)]; }
  /// The row behind its last one.
  Index end(Index s) const noexcept { return begins_[static_cast<std::size_t>(s) + 1]; }
  /// Rows of a segment.
  Index size(Index s) const noexcept { return end(s) - begin(s); }
  /// Rank of a segment.
  int owner(Index s) const noexcept { return owners_[static_cast<std::size_t>(s)]; }
  /// TaskOptions::gpu of the tasks of a segment.
  int gpu(Index s) const noexcept { return gpus_.empty() ? -1 : gpus_[static_cast<std::size_t>(s)]; }
  /// The segment that holds a row.
  Index segment_of(Index row) const noexcept;
  /// For calls whose segments must be the same on all ranks.
  std::uint64_t hash() const noexcept;
  /// The same rows of the same ranks; on which GPU they are is a hint.
  friend bool operator==(const RowSegments& a, const RowSegments& b) {
    return a.begins_ == b.begins_ && a.owners_ == b.owners_;
  }

 private:
  std::vector<Index> begins_;
  std::vector<int> owners_, gpus_;
};

/// A block of `width` vectors of n rows, stored row by row (the vectors' elements of one row are neighbours)
/// in segments, one handle each: segment s is a matrix of `width` x size(s) elements for StarPU,
/// column-major, so that MatrixView(j, i) is element i of vector j. Allocated lazily. All four scalar types.
template <class T>
class BlockVectors {
 public:
  BlockVectors() = default;
  /// Collective, as set and get are.
  BlockVectors(Runtime& runtime, std::shared_ptr<const RowSegments> segments, Index width);

  /// Elements of a vector.
  Index rows() const noexcept { return segments_ ? segments_->rows() : 0; }
  /// Number of vectors.
  Index width() const noexcept { return width_; }
  /// How the rows are cut.
  const RowSegments& segments() const noexcept { return *segments_; }
  /// The same, to share it.
  const std::shared_ptr<const RowSegments>& shared_segments() const noexcept { return segments_; }
  /// Number of segments.
  Index count() const noexcept { return static_cast<Index>(data_.size()); }
  /// The rows of one segment, of all vectors.
  const Data& segment(Index s) const noexcept { return data_[static_cast<std::size_t>(s)]; }

  /// Copies all rows from a row-major host array that every rank has, n x columns with leading dimension ld,
  /// into the first `columns` vectors, zero into the others; waits. And back, on every rank (collective): the
  /// first `columns` vectors. @throws InvalidArgument
  void set(const T* values, Index ld, Index columns) const;
  /// Copies the first `columns` vectors to a row-major host array, on every rank; collective.
  void get(T* values, Index ld, Index columns) const;

  /// Frees the segments once the submitted tasks have used them.
  void release() { data_.clear(); }

 private:
  void check(const T* values, Index ld, Index columns) const;
  void set_rows(const T* values, Index ld, Index columns) const;
  void get_rows(T* values, Index ld, Index columns) const;
  std::shared_ptr<const RowSegments> segments_;
  Index width_ = 0;
  std::vector<Data> data_;
};

}  // namespace tessera
