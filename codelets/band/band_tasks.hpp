// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks of a chase, from the columns of a BandMatrix to the tridiagonal matrix. A task without flops
/// moves data. All sweeps of a matrix must run on one kind of worker, because a GPU does not keep the room
/// for the bulge zero.
namespace tessera::detail {

/// The columns first .. first + columns - 1 of a band matrix of order n.
struct BandColumns {
  Index n = 0, bandwidth = 1, first = 0, columns = 0;
};

/// Copies some columns of a band into the chase's storage, with zeros in the room for the bulge and the
/// padding.
/// | operand | mode  | shape                        | what                                            |
/// |---------|-------|------------------------------|-------------------------------------------------|
/// | segment | write | array of kernels::BandLayout | the columns with room for the bulge             |
/// | pieces  | read  | matrices: 2 b rows           | of a BandMatrix: columns from the diagonal down |
/// Errors: not_finite with index = column, from 1, where a number of the band is NaN or infinite.
template <class T>
struct BandGather {
  static constexpr const char* name = "band_gather";
  Write<Array<T>> segment;
  ReadAll<Matrix<T>> pieces;
  BandColumns band;
  Index piece_columns = 1;  ///< of each piece; the last may have fewer
};

/// Where one tile of a chase lies (kernels::chase_tile).
struct ChaseTilePlace {
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, column_begin = 0, column_end = 0;
  Index first_column = 0;  ///< of the first segment
  Index segment_width = 1;
  /// The hops of all sweeps in the tile.
  Index hops() const noexcept;
};

/// One tile of a chase, kernels::chase_tile, on CPUs.  [12 b^2 a hop]
/// | operand   | mode         | shape                           | what                                   |
/// |-----------|--------------|---------------------------------|----------------------------------------|
/// | workspace | scratch      | array: kernels::chase_workspace |                                        |
/// | segments  | read-write   | arrays of kernels::BandLayout   | one or two consecutive ones            |
/// | kept      | write or add | array: reflectors.size()        | other tiles' stay; absent: none kept   |
template <class T>
struct ChaseTile {
  static constexpr const char* name = "chase_tile";
  Scratch<Array<RealOf<T>>> workspace;
  std::array<ReadWrite<Array<T>>, 2> segments{};
  WriteOrAdd<Array<T>> kept{};
  ChaseTilePlace place;
  kernels::Reflectors<T> reflectors{};  ///< what `kept` holds, without its address

  double flops() const noexcept {
    const auto b = static_cast<double>(place.bandwidth);
    return flop_factor<T> * 12 * b * b * static_cast<double>(place.hops());
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(place.bandwidth, place.sweeps, static_cast<bool>(segments[1]),
                        static_cast<bool>(kept));
  }
};

/// Consecutive sweeps over all columns of a band in one segment: kernels::chase_sweeps.  [12 b^2 a hop]
/// | operand   | mode       | shape                                        | what                         |
/// |-----------|------------|----------------------------------------------|------------------------------|
/// | workspace | scratch    | array: kernels::chase_sweeps_workspace bytes |                              |
/// | segment   | read-write | array of kernels::BandLayout                 | the band                     |
/// | kept      | write      | array: sweeps.size()                         | reflectors; absent: not kept |
/// One task takes a whole GPU.
template <class T>
struct ChaseSweeps {
  static constexpr const char* name = "chase_sweeps";
  /// A CPU leaves zeros in the room for the bulge and relies on them; a GPU does not.
  static constexpr bool gpu_instead_of_cpu = true;
  Scratch<Array<char>> workspace;
  ReadWrite<Array<T>> segment;
  Write<Array<T>> kept{};
  kernels::DeviceReflectors sweeps;

  double flops() const noexcept {
    // Sweep s has (n - 1 - s) / b hops, up to rounding.
    const double b = static_cast<double>(sweeps.bandwidth), count = static_cast<double>(sweeps.sweeps);
    const double hops = count * (static_cast<double>(sweeps.n - 1 - sweeps.first_sweep) - 0.5 * count) / b;
    return flop_factor<T> * 12 * b * b * hops;
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(sweeps.bandwidth, sweeps.first_sweep, sweeps.sweeps, static_cast<bool>(kept));
  }
};

/// Copies diagonal and subdiagonal of some columns that the chase has finished.
/// | operand | mode  | shape                        | what                                           |
/// |---------|-------|------------------------------|------------------------------------------------|
/// | segment | read  | array of kernels::BandLayout | begins with the first column                   |
/// | piece   | write | array of 2 columns           | their part of d, then of e (0 in column n - 1) |
template <class T>
struct TridiagonalPiece {
  static constexpr const char* name = "tridiagonal_piece";
  Read<Array<T>> segment;
  Write<Array<RealOf<T>>> piece;
  BandColumns band;
};

/// Joins the pieces of a tridiagonal matrix, on CPUs.
/// | operand | mode  | shape                | what                          |
/// |---------|-------|----------------------|-------------------------------|
/// | d       | write | array: n             | diagonal                      |
/// | e       | write | array: max(n - 1, 1) | subdiagonal                   |
/// | pieces  | read  | arrays               | of TridiagonalPiece, in order |
template <class R>
struct TridiagonalAssemble {
  static constexpr const char* name = "tridiagonal_assemble";
  Write<Array<R>> d, e;
  ReadAll<Array<R>> pieces;
  Index n = 0;
  Index piece_columns = 1;  ///< of each piece; the last may have fewer
};

}  // namespace tessera::detail
