// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// The reflectors of a band's reduction to tridiagonal form, as the chase leaves them: pieces of some
/// consecutive sweeps each, on the ranks whose tasks made them; n^2 / 2 elements altogether. A chase on CPUs
/// makes pieces(), one on a GPU device_pieces(); the other list is empty.
template <class T>
class ChaseReflectors {
 public:
  struct Piece {
    kernels::Reflectors<T> shape;  ///< data is null: the elements are in `data`
    Data data;
  };
  struct DevicePiece {
    kernels::DeviceReflectors shape;
    Data data;
  };

  ChaseReflectors() = default;
  ChaseReflectors(Index n, Index bandwidth) : n_(n), bandwidth_(bandwidth) {}
  Index size() const noexcept { return n_; }
  Index bandwidth() const noexcept { return bandwidth_; }
  /// By ascending first sweep.
  std::vector<Piece>& pieces() noexcept { return pieces_; }
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  std::vector<DevicePiece>& device_pieces() noexcept { return device_pieces_; }
  const std::vector<DevicePiece>& device_pieces() const noexcept { return device_pieces_; }
  void release() {
    pieces_.clear();
    device_pieces_.clear();
  }

 private:
  Index n_ = 0, bandwidth_ = 1;
  std::vector<Piece> pieces_;
  std::vector<DevicePiece> device_pieces_;
};

/// Sizes of the chase's tasks: `sweeps` consecutive sweeps a group, tiles and segments of 2 b sweeps columns.
///
/// Two neighbouring groups are two tiles apart, so n / (4 sweeps b) tasks run at once in the beginning and
/// fewer as the sweeps get shorter; a task has 24 (sweeps b)^2 flops. The largest group up to sweeps b = 320
/// (its tile stays in a core's second cache) with which two and a half tasks a worker run at first, but not
/// below sweeps b = 128, since a task must outweigh its overhead.
Index chase_sweeps_per_task(Index n, Index bandwidth, Index workers) noexcept;
/// With the workers of all ranks.
Index chase_sweeps_per_task(const Runtime& runtime, Index n, Index bandwidth) noexcept;

/// Where the chase runs: by tiles on the CPU cores of all ranks, or by ranges of whole sweeps, each a task
/// that takes a GPU (see codelets/band/kernels/chase.hpp). Chosen: on a GPU if there is one and the bandwidth
/// is not too large for it.
enum class ChasePlace { chosen, tiles, sweeps };

/// Sizes that a caller may set; 0: chosen.
struct ChaseOptions {
  Index sweeps = 0;             ///< a group
  Index segments_per_rank = 0;  ///< at least; 4 if not set, for a rank to have more work than messages
  ChasePlace place = ChasePlace::chosen;
  Index piece_bytes = 0;  ///< of a device piece of reflectors, about; if not set 1 GiB, or a 32nd of a GPU's
                          ///< memory where that is less
};

/// The sweeps that a range of whole sweeps from `first_sweep` on has: as many groups as make up a piece of at
/// most `bytes`, but one at least.
Index chase_range(Index n, Index bandwidth, Index first_sweep, Index group, std::size_t element_bytes,
                  Index bytes) noexcept;

/// Reduces a Hermitian band matrix to a real symmetric tridiagonal one, T = Q^H B Q, by bulge chasing (see
/// codelets/band/kernels/chase.hpp). Returns after submission.
///
/// The band is copied into wider segments with room for the bulge, which are dealt to the ranks in contiguous
/// runs of equal work (column j is passed by j sweeps, so the runs get shorter); neighbours exchange one
/// segment a group of sweeps. Tile t of group g follows tile t - 1 of its group and tile t + 1 of the group
/// before, by the segments that they share. The result does not depend on the number of workers or ranks.
///
/// Priorities: -(2 group + tile), the time step of the ideal pipeline.
///
/// With ChasePlace::sweeps rank 0 gathers the whole band in one segment and chases it alone: the sweeps run
/// through a GPU's second-level cache. The reflectors are then device pieces of rank 0, and values only is
/// one range.
///
/// @param band        read, and released
/// @param d           n reals, every_rank; written on all ranks
/// @param e           max(n - 1, 1) reals, every_rank; written on all ranks
/// @param reflectors  null: none are kept (values only)
/// Errors (status): not_finite, index = column from 1, if the band holds NaN or infinity.
/// Flops: 6 n^2 b; complex x 4.
template <class T>
void band_to_tridiagonal(Sequence& sequence, BandMatrix<T>&& band, const Data& d, const Data& e,
                         ChaseReflectors<T>* reflectors, const ChaseOptions& options = {});

}  // namespace tessera::detail
