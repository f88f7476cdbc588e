// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/device_reflectors.hpp>
#include <tessera/codelets/tile_part.hpp>

/// What the tasks of band_tasks.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera {

/// One tile of a chase (kernels::chase_tile); `reflectors` describes what is kept, without its address.
template <class T>
struct ChaseTile {
  Index n, bandwidth, first_sweep, sweeps, column_begin, column_end, first_column, segment_width;
  kernels::Reflectors<T> reflectors;
};

/// Pieces of reflectors that one form_wy task takes.
inline constexpr Index max_form_pieces = 64;

namespace band_codelets {

struct GatherArguments {
  Index n, bandwidth, first_column, columns, piece_columns;
};

template <class T>
struct ChaseArguments {
  ChaseTile<T> tile;
  bool two_segments, keep;
  std::uint32_t footprint() const noexcept {
    return footprint_of(tile.bandwidth, tile.sweeps, two_segments, keep);
  }
};

struct SweepsArguments {
  kernels::DeviceReflectors shape;
  bool keep;
  std::uint32_t footprint() const noexcept {
    return footprint_of(shape.bandwidth, shape.first_sweep, shape.sweeps, keep);
  }
};

struct PieceArguments {
  Index n, bandwidth, first_column, columns;
};

struct AssembleArguments {
  Index n, piece_columns;
};

template <class T>
struct FormArguments {
  Index n, bandwidth, first_sweep, sweeps, first_hop, last_hop, piece_count;
  kernels::Reflectors<T> pieces[max_form_pieces];
  std::uint32_t footprint() const noexcept { return footprint_of(bandwidth, sweeps, last_hop - first_hop); }
};

struct ApplyArguments {
  Index n, bandwidth, first_sweep, sweeps, last_sweeps;
  std::uint32_t footprint() const noexcept {
    return footprint_of(bandwidth, sweeps, kernels::hop_count(n, bandwidth, first_sweep));
  }
};

struct ChaseBlockArguments {
  kernels::DeviceReflectors piece;
  std::uint32_t footprint() const noexcept {
    return footprint_of(piece.bandwidth, piece.first_sweep, piece.sweeps);
  }
};

}  // namespace band_codelets
}  // namespace tessera
