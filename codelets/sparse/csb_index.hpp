// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>

/// A piece of a CSB matrix as a GPU multiplies it: both triangles by rows of Y, built once on the host, known
/// to CPU and CUDA code.
///
/// The rows of Y_I and, for a piece off the diagonal, those of Y_J, or only one of them (CsbSides), are cut
/// into strips of csb_strip_rows; a thread block owns a strip and keeps its sums in shared memory. The rows
/// of X that a strip meets, in the order of the first families, are cut into stages: those of a stage are
/// copied to the slots of shared memory together, slot 0 being a row of zeros. Each is then read there as
/// often as the strip has entries for it, which is what the rows' order is for. Where rows have two families
/// (SymmetricRows::families) there are two passes with strips of their own: the second one has the entries
/// between rows of the same second family, and strips of these; the first one all others, and strips of the
/// first families. In the shell model (48Cr) an entry meets a new row of X 0.14 times; 0.26 times if strips
/// of the first families have all entries, 0.44 times in strips of neighbouring rows.
///
/// The entries that a row has in a stage are a run. A warp works on a slice at a time: csb_slice_rows runs of
/// different rows and about the same length, one entry of each in a step; shorter runs are filled up with
/// zeros that meet slot 0. A stage's slices are dealt to the strip's warps so that all have about as many
/// steps. A warp's part of the index lies in one stretch of memory, in the order in which it is read: quads
/// of up to csb_quad_steps steps. Runs two places apart use slots and rows of different parity where they
/// can: of two rows of 64 bytes these lie in different banks of shared memory.
///
/// Source: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010 (sliced ELLPACK); Hong, Sukumaran-Rajam, Nisa, Singh,
/// Sadayappan, PPoPP 2019 (a stage of X in shared memory).
namespace tessera {

inline constexpr std::int64_t csb_slice_rows = 16, csb_quad_steps = 4, csb_strip_warps = 12,
                              csb_max_strip_rows = 512;
/// Of a stage, with slot 0. Two thread blocks a multiprocessor fit with 64 bytes a slot and row, one with
/// 128.
inline constexpr std::int64_t csb_stage_slots = 636;
/// Behind an index lies memory for so many quads and steps: a warp looks ahead.
inline constexpr std::int64_t csb_read_ahead = 64;

struct CsbStrip {
  std::uint32_t first_row;  ///< in the list of rows; Y_J's follow those of Y_I
  std::uint16_t rows, side;
  std::uint32_t first_stage, stages;
};
/// Rows of X, those of slots 1, 2, ...
struct CsbStage {
  std::uint32_t first, count;  ///< in the list of rows of X
};
/// Where a warp's quads and steps begin: csb_slice_rows of each, one for each run, from there on.
struct CsbWarpStart {
  std::int64_t quad, step;
};

/// Of one run: the slots of up to csb_quad_steps entries, and what is common to the slice's runs: the number
/// of steps (0 only at a stage's end), whether the runs end here, and whether the warp's stage does.
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
  /// Of the strip; from csb_strip_rows on for runs that only fill up a slice, another for each place.
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

/// Rows of a strip of a piece with so many rows of Y, Y_I and Y_J together: many share rows of X, but there
/// should be several strips for each multiprocessor.
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

/// Builds the index of a piece with so many rows and columns (for a piece on the diagonal rows = columns), or
/// of one of its sides, on so many threads; `parts`: what it consists of, all on the diagonal or none. Holds
/// the triangles by rows meanwhile: 4 + sizeof(V) bytes an entry and side.
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

}  // namespace tessera
