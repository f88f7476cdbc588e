// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <fmt/format.h>

#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

/// The lower band of a Hermitian n x n matrix, with room for the bulge of a chase. Column j is stored from
/// its diagonal down: entry (i, j) at offset i - j of a column of ld = 2 b entries, of which the first b + 1
/// are the band. The columns are cut into segments of 2 b, one handle each (a 2b x segment_cols matrix),
/// dealt to the ranks in blocks of consecutive segments in turn.
template <class T>
class BandMatrix {
 public:
  BandMatrix() = default;
  /// Segments without contents: each must first be written. Collective.
  /// @param bandwidth b >= 1
  BandMatrix(Runtime& runtime, Index n, Index bandwidth, Index segments_per_block = 16)
      : n_(n), bandwidth_(bandwidth) {
    const auto check = [&] {
      if (n < 0) throw InvalidArgument("n", fmt::format("{}", n), "at least 0");
      if (bandwidth < 1) throw InvalidArgument("bandwidth", fmt::format("{}", bandwidth), "at least 1");
      if (segments_per_block < 1)
        throw InvalidArgument("segments_per_block", fmt::format("{}", segments_per_block), "at least 1");
    };
    collectively(
        runtime, "BandMatrix", argument_hash(sizeof(T), n, bandwidth, segments_per_block), check, [&] {
          for (Index s = 0; s * segment_width() < n; ++s)
            segments_.push_back(Data::matrix(runtime, ld(), segment_cols(s), sizeof(T),
                                             static_cast<int>(s / segments_per_block % runtime.size())));
        });
  }

  Index size() const noexcept { return n_; }
  Index bandwidth() const noexcept { return bandwidth_; }
  Index ld() const noexcept { return 2 * bandwidth_; }
  /// Columns of every segment but the last.
  Index segment_width() const noexcept { return 2 * bandwidth_; }
  Index segment_count() const noexcept { return static_cast<Index>(segments_.size()); }
  Index segment_of(Index col) const noexcept { return col / segment_width(); }
  Index first_col(Index s) const noexcept { return s * segment_width(); }
  Index segment_cols(Index s) const noexcept { return std::min(segment_width(), n_ - first_col(s)); }
  const Data& segment(Index s) const noexcept { return segments_[static_cast<std::size_t>(s)]; }
  void release() { segments_.clear(); }

 private:
  Index n_ = 0, bandwidth_ = 1;
  std::vector<Data> segments_;
};

}  // namespace tessera::detail
