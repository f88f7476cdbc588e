// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/data.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera {

/// A tall matrix in slabs of columns: all rows x `width` columns a handle, slabs dealt to the ranks in turn
/// and those of a rank to its GPUs (Data::gpu()), where they stay.
/// What acts on the rows from the left (a back-transform) is then independent in each slab. To make one is
/// collective.
template <class T>
class ColumnSlabs {
 public:
  ColumnSlabs() = default;
  /// Slabs without contents, allocated lazily; slab j belongs to rank j mod size.
  ColumnSlabs(Runtime& runtime, Index rows, Index cols, Index width);
  /// In one process: the caller's column-major array z(ld, cols), in place.
  static ColumnSlabs wrap(Runtime& runtime, T* z, Index ld, Index rows, Index cols, Index width);

  /// Rows.
  Index rows() const noexcept { return rows_; }
  /// Columns of all slabs.
  Index cols() const noexcept { return cols_; }
  /// Columns of a slab; the last one may have fewer.
  Index width() const noexcept { return width_; }
  /// Number of slabs.
  Index count() const noexcept { return static_cast<Index>(slabs_.size()); }
  /// The first column of a slab.
  Index first_col(Index j) const noexcept { return j * width_; }
  /// Columns of a slab.
  Index slab_cols(Index j) const noexcept { return std::min(width_, cols_ - j * width_); }
  /// The data of a slab.
  const Data& slab(Index j) const noexcept { return slabs_[static_cast<std::size_t>(j)]; }
  /// The rank that holds a slab.
  int owner(Index j) const noexcept { return slab(j).owner(); }
  /// Has the GPUs of this rank's slabs get what all of them read, as soon as the tasks submitted so far have
  /// made it: their tasks follow one another, and StarPU would fetch it for each when the one before has
  /// ended, and when the GPU that has it finds the time.
  void prefetch_to_gpus(const Data& data) const;
  /// Frees the slabs once the submitted tasks have used them (wrapped memory: waits until it is up to date).
  void release() { slabs_.clear(); }

 private:
  template <class S>
  friend TiledMatrix<S> tiles_of(ColumnSlabs<S>&& slabs);
  ColumnSlabs(Index rows, Index cols, Index width) : rows_(rows), cols_(cols), width_(width) {}
  void check() const;
  void make_slabs(Runtime& runtime, T* memory, Index ld);
  Index rows_ = 0, cols_ = 0, width_ = 1;
  std::vector<Data> slabs_;
};

/// The slabs as a matrix of one row of tiles, rows() x width(), on a grid of one row of the ranks that have
/// slabs; the slabs are gone. Without slabs a matrix without tiles.
template <class T>
TiledMatrix<T> tiles_of(ColumnSlabs<T>&& slabs);

}  // namespace tessera
