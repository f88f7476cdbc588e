// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>

/// A piece of a CSB matrix as a GPU multiplies it: both triangles by rows of Y, built once on the host. For
/// CPU and CUDA code.
///
/// The rows of Y_I and, for a piece off the diagonal, those of Y_J, or only one of them (CsbSides), are cut
/// into strips of csb_strip_rows; a thread block owns a strip and keeps its sums in shared memory. The rows
/// of X that a strip meets, in the order of the first families, are cut into stages: the rows of a stage are
/// copied to the slots of shared memory together; slot 0 is a row of zeros. Each row is then read there once
/// for each of the strip's entries, and the order of the rows makes these many. Where rows have two families
/// (SymmetricRows::families) there are two passes with different strips. The second pass has the entries
/// between rows of the same second family and strips of second families; the first pass has all other entries
/// and strips of first families. So a strip meets fewer rows of X than one of neighbouring rows would, or
/// than strips of first families with all entries.
///
/// The entries that a row has in a stage are a run. A warp works on a slice at a time: csb_slice_rows runs of
/// different rows and about the same length, one entry of each in a step; shorter runs are filled up with
/// zeros that meet slot 0. The slices of a stage are dealt to the strip's warps so that all have about the
/// same number of steps. A warp's part of the index is contiguous, in the order in which the warp reads it:
/// quads of up to csb_quad_steps steps. Runs two places apart use slots and rows of different parity where
/// they can: two rows of 64 bytes with different parity lie in different banks of shared memory.
///
/// Source: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010 (sliced ELLPACK); Hong, Sukumaran-Rajam, Nisa, Singh,
/// Sadayappan, PPoPP 2019 (a stage of X in shared memory).
namespace tessera::detail {

inline constexpr std::int64_t csb_slice_rows = 16, csb_quad_steps = 4, csb_strip_warps = 12,
                              csb_max_strip_rows = 512;
/// Slots of a stage, slot 0 included. With 64 bytes a slot and row a multiprocessor holds two thread blocks,
/// with 128 bytes one.
inline constexpr std::int64_t csb_stage_slots = 636;
/// Quads and steps for which memory follows an index, since a warp reads ahead.
inline constexpr std::int64_t csb_read_ahead = 64;

struct CsbStrip {
  std::uint32_t first_row;  ///< in the list of rows; the rows of Y_J follow those of Y_I
  std::uint16_t rows, side;
  std::uint32_t first_stage, stages;
};
/// Rows of X, those of slots 1, 2, ...
struct CsbStage {
  std::uint32_t first, count;  ///< in the list of rows of X
};
/// Where a warp's quads and steps begin; each quad and step has csb_slice_rows elements, one for each run.
struct CsbWarpStart {
  std::int64_t quad, step;
};

/// Up to csb_quad_steps entries of one run: their slots. Common to the runs of the slice: the number of steps
/// (0 at the end of a stage alone), whether the runs end here, and whether the warp's stage ends here.
class alignas(8) CsbQuad {
 public:
  TESSERA_HOST_DEVICE CsbQuad() : low_(0), high_(0) {}
  TESSERA_HOST_DEVICE CsbQuad(std::uint32_t low, std::uint32_t high) : low_(low), high_(high) {}
  TESSERA_HOST_DEVICE CsbQuad(const std::uint32_t (&slots)[csb_quad_steps], std::uint32_t row,
                              std::uint32_t steps, bool last, bool end_of_stage)
      : low_(slots[0] | slots[1] << 10 | slots[2] << 20),
        high_(slots[3] | row << 10 | steps << 20 | std::uint32_t(last) << 23 |
              std::uint32_t(end_of_stage) << 24) {}

  TESSERA_HOST_DEVICE std::uint32_t slot(int step) const {
    return (step < 3 ? low_ >> 10 * step : high_) & 0x3ff;
  }
  /// Row of the strip. Runs that fill up a slice have rows from csb_strip_rows on, a different one for each
  /// place.
  TESSERA_HOST_DEVICE std::uint32_t row() const { return high_ >> 10 & 0x3ff; }
  TESSERA_HOST_DEVICE int steps() const { return static_cast<int>(high_ >> 20 & 7); }
  TESSERA_HOST_DEVICE bool last() const { return (high_ >> 23 & 1) != 0; }
  TESSERA_HOST_DEVICE bool end_of_stage() const { return (high_ >> 24 & 1) != 0; }
  void mark_end_of_stage() { high_ |= 1u << 24; }

 private:
  std::uint32_t low_, high_;
};
static_assert(csb_stage_slots <= 1024 && csb_max_strip_rows + csb_slice_rows <= 1024);

/// The head of an index; its parts follow in the same memory, at multiples of 64 bytes from the head.
struct CsbIndexHeader {
  std::int64_t strip_count, stage_count, quad_count, step_count;
  std::int64_t strips_offset;  ///< CsbStrip, pass after pass, in the order in which they are begun
  std::int64_t rows_offset;    ///< std::uint32_t: the strips' rows, of Y_I or Y_J
  std::int64_t stages_offset;  ///< CsbStage, a strip's together
  std::int64_t x_offset;       ///< std::uint32_t: the stages' rows of X_J (side 0) or X_I (side 1)
  std::int64_t starts_offset;  ///< CsbWarpStart, csb_strip_warps for each strip
  std::int64_t quads_offset;   ///< CsbQuad
  std::int64_t values_offset;  ///< V
  std::int64_t total;          ///< bytes
};

/// Rows of a strip of a piece with y_rows rows of Y, those of Y_I and Y_J together: many, since they share
/// rows of X, but not so many that multiprocessors have fewer than several strips each.
constexpr std::int64_t csb_strip_rows(std::int64_t y_rows) noexcept {
  constexpr std::int64_t strips = 512, fewest = 64;
  std::int64_t rows = csb_max_strip_rows;
  while (rows > fewest && y_rows < strips * rows) rows /= 2;
  return rows;
}
constexpr std::int64_t csb_strips(std::int64_t rows, std::int64_t strip_rows) noexcept {
  return (rows + strip_rows - 1) / strip_rows;
}

/// The orders in which the rows of a segment are put into strips of either pass; empty: as they are.
struct CsbOrder {
  std::span<const std::uint32_t> first, second;
  std::span<const std::uint32_t> families;  ///< the rows' second ones; empty: there is one pass

  std::span<const std::uint32_t> of_pass(int pass) const noexcept { return pass == 0 ? first : second; }
};
/// Of the piece's rows and columns: both have second families, or none has.
struct CsbOrders {
  CsbOrder rows, columns;
  bool two_passes() const noexcept { return !rows.families.empty(); }
};

/// Builds the index of a piece of `rows` by `columns` (equal for a piece on the diagonal), or of one of its
/// sides, on `threads` threads. The piece consists of `parts`, all on the diagonal or none. The builder holds
/// the triangles by rows: 4 + sizeof(V) bytes an entry and side.
template <class V>
class CsbIndexBuilder {
 public:
  /// @throws InvalidArgument for a piece whose strips meet 2^32 rows of X or more
  CsbIndexBuilder(std::span<const CsbPieceView<V>> parts, std::int64_t rows, std::int64_t columns,
                  const CsbOrders& orders, int threads, CsbSides sides = CsbSides::both);
  ~CsbIndexBuilder();
  CsbIndexBuilder(CsbIndexBuilder&&) noexcept;

  const CsbIndexHeader& header() const noexcept;
  /// Into header().total bytes at a multiple of 8.
  void write(void* index) const;

 private:
  class Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tessera::detail
