// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/csb/csb_layout.hpp>
#include <tessera/codelets/host_device.hpp>

/// A piece of a CSB matrix as a GPU multiplies it: both triangles by rows of Y, built once on the host, known
/// to CPU and CUDA code.
///
/// The rows of Y_I and, for a piece off the diagonal, those of Y_J are cut into strips of csb_strip_warps
/// x csb_warp_rows; a thread block owns a strip, its warp w the csb_warp_rows rows from w csb_warp_rows on,
/// as csb_warp_slices slices of csb_slice_rows consecutive rows. The rows of X that a strip meets are cut
/// into windows, so that coordinates have 16 bits, and rows of the strip that are worked on at the same time
/// meet the same rows of X in the first-level cache. Of a window a slice has as many steps as its row with
/// most entries: step k holds the k-th entry of each row, and zeros where there are none (ELLPACK slices; the
/// rows of a configuration have similar numbers of entries: 1.2 places an entry in the shell model). A warp's
/// steps lie one after the other in memory: slice by slice, window by window.
///
/// Source: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010 (sliced ELLPACK); Kreutzer et al., SIAM J. Sci. Comput.
/// 36 (2014) C401 (for processors with wide registers).
namespace tessera {

inline constexpr std::int64_t csb_slice_rows = 8, csb_warp_slices = 4,
                              csb_warp_rows = csb_slice_rows * csb_warp_slices, csb_most_strip_warps = 32;
/// Behind an index lies memory for so many steps: a warp may look ahead.
inline constexpr std::int64_t csb_read_ahead = 32;
/// Coordinates of so many steps of a row lie together, and a slice's are filled up to a multiple.
inline constexpr std::int64_t csb_coordinate_steps = 4;
/// The coordinate of a place without an entry.
inline constexpr std::uint16_t csb_no_entry = 0xffff;

struct CsbStrip {
  std::uint32_t first_row;  ///< from the beginning of Y_I (side 0) or Y_J (side 1)
  std::uint16_t rows, side;
  std::uint32_t first_window, windows;
};
/// Where a warp's steps begin.
struct CsbWarpStart {
  std::int64_t step;         ///< its values: csb_slice_rows a step, from there on
  std::int64_t coordinates;  ///< number of its first group of coordinates: csb_slice_rows x
                             ///< csb_coordinate_steps, row by row
};
/// Steps of a warp's slices in a window.
struct CsbWarpSteps {
  std::uint16_t of_slice[csb_warp_slices];
};

/// The head of an index; its parts follow in the same memory, at multiples of 64 bytes from the head.
struct CsbIndexHeader {
  std::int64_t strip_count, strip_warps, window_count, step_count, coordinate_count;
  std::int64_t strips_offset;       ///< CsbStrip, those with most entries first
  std::int64_t starts_offset;       ///< CsbWarpStart, strip_warps for each strip
  std::int64_t windows_offset;      ///< std::uint32_t: the row of X that coordinate 0 means, a strip's
                                    ///< windows together and ascending
  std::int64_t steps_offset;        ///< CsbWarpSteps, strip_warps for each window
  std::int64_t values_offset;       ///< V
  std::int64_t coordinates_offset;  ///< std::uint16_t
  std::int64_t total;               ///< bytes
};

/// Warps of a strip of a piece with so many rows of Y, Y_I and Y_J together: as many as share rows of X, but
/// enough strips for several a multiprocessor.
constexpr std::int64_t csb_strip_warps(std::int64_t y_rows) noexcept {
  constexpr std::int64_t strips = 512, fewest = 2;
  std::int64_t warps = csb_most_strip_warps;
  while (warps > fewest && y_rows < strips * warps * csb_warp_rows) warps /= 2;
  return warps;
}
constexpr std::int64_t csb_strips(std::int64_t rows, std::int64_t warps) noexcept {
  return (rows + warps * csb_warp_rows - 1) / (warps * csb_warp_rows);
}

/// Bytes of the index of a piece with so many rows and columns. Goes through the entries and needs about
/// 2 (4 + sizeof(V)) bytes of memory an entry for a while. (For a piece on the diagonal rows = columns.)
template <class V>
std::int64_t csb_index_bytes(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns);

/// Builds it in csb_index_bytes(...) bytes at a multiple of 8; needs as much memory for a while. Pieces are
/// independent: several may be built at once.
template <class V>
void build_csb_index(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns, void* index);

}  // namespace tessera
