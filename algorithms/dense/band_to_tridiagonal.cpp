// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/codelets/band/band_tasks.hpp>

namespace tessera::detail {

Index chase_sweeps_per_task(Index n, Index bandwidth, Index workers) noexcept {
  const Index product = std::clamp<Index>(n / (10 * std::max<Index>(workers, 1)), 128, 320);
  return std::max<Index>(product / bandwidth, 1);
}

Index chase_sweeps_per_task(const Runtime& runtime, Index n, Index bandwidth) noexcept {
  return chase_sweeps_per_task(n, bandwidth, Index(runtime.common_workers()) * runtime.size());
}

namespace {

/// The chase's view of the band: segments on ranks, and which rank runs which tile.
template <class T>
class Chase {
 public:
  Chase(Sequence& sequence, Index n, Index bandwidth, const ChaseOptions& options)
      : sequence_(sequence),
        n_(n),
        bandwidth_(bandwidth),
        sweeps_(options.sweeps > 0 ? options.sweeps
                                   : chase_sweeps_per_task(sequence.runtime(), n, bandwidth)),
        width_(2 * bandwidth * sweeps_),
        ranks_(static_cast<int>(std::clamp<Index>(
            segment_count() / (options.segments_per_rank > 0 ? options.segments_per_rank : 4), 1,
            sequence.runtime().size()))),
        workspace_(Data::scratch(
            sequence.runtime(),
            static_cast<std::size_t>(kernels::chase_workspace<T>(bandwidth)) * sizeof(RealOf<T>))) {
    for (Index k = 0; k < segment_count(); ++k)
      segments_.push_back(Data::bytes(
          sequence.runtime(),
          static_cast<std::size_t>(kernels::BandLayout<T>::size(bandwidth, columns(k))) * sizeof(T),
          owner(k)));
  }

  void gather(const BandMatrix<T>& band);
  void run(ChaseReflectors<T>* reflectors);
  void extract(const Data& d, const Data& e);

 private:
  Index segment_count() const noexcept { return ceil_div(n_, width_); }
  Index columns(Index k) const noexcept { return std::min(width_, n_ - k * width_); }
  int owner(Index k) const noexcept {
    const double position = (static_cast<double>(k) + 0.5) / static_cast<double>(segment_count());
    return std::min(static_cast<int>(position * position * ranks_), ranks_ - 1);
  }
  /// Tile t works on the segments t - 1 and t.
  int tile_rank(Index t) const noexcept { return owner(std::max<Index>(t - 1, 0)); }
  Index tile_begin(Index t) const noexcept { return t == 0 ? -width_ : t * width_ - 2 * bandwidth_; }
  void group(Index first_sweep, Index sweeps, ChaseReflectors<T>* reflectors);

  Sequence& sequence_;
  Index n_, bandwidth_, sweeps_, width_;
  int ranks_;
  Data workspace_;
  std::vector<Data> segments_;
};

template <class T>
void Chase<T>::gather(const BandMatrix<T>& band) {
  std::vector<const Data*> pieces;
  for (Index k = 0; k < segment_count(); ++k) {
    pieces.clear();
    for (Index s = k * sweeps_; s < std::min((k + 1) * sweeps_, band.segment_count()); ++s)
      pieces.push_back(&band.segment(s));
    sequence_.insert(
        BandGather<T>{.segment = segments_[static_cast<std::size_t>(k)],
                      .pieces = pieces,
                      .band = {.n = n_, .bandwidth = bandwidth_, .first = k * width_, .columns = columns(k)},
                      .piece_columns = band.segment_width()});
  }
}

template <class T>
void Chase<T>::group(Index first_sweep, Index sweeps, ChaseReflectors<T>* reflectors) {
  const Index last_position = n_ - 2 + 2 * bandwidth_ * (sweeps - 1);
  const Index first_tile = (first_sweep + 2 * bandwidth_) / width_;
  const Index end_tile = (last_position + 2 * bandwidth_) / width_ + 1;
  int rank = -1;
  const Data* kept = nullptr;
  kernels::Reflectors<T> shape;
  for (Index t = first_tile; t < end_tile; ++t) {
    if (reflectors && tile_rank(t) != rank) {
      // A new piece for the tiles from here on that run on the same rank.
      rank = tile_rank(t);
      Index end = t + 1;
      while (end < end_tile && tile_rank(end) == rank) ++end;
      shape = kernels::Reflectors<T>::of_tiles(n_, bandwidth_, first_sweep, sweeps, tile_begin(t),
                                               tile_begin(end));
      kept = nullptr;
      if (shape.size() > 0) {
        reflectors->pieces().push_back(
            {shape,
             Data::bytes(sequence_.runtime(), static_cast<std::size_t>(shape.size()) * sizeof(T), rank)});
        kept = &reflectors->pieces().back().data;
      }
    }
    const Index first_segment = std::max<Index>(t - 1, 0);
    const bool second = t > 0 && t < segment_count();
    sequence_.insert(ChaseTile<T>{.workspace = workspace_,
                                  .segments = {segments_[static_cast<std::size_t>(first_segment)],
                                               second ? &segments_[static_cast<std::size_t>(t)] : nullptr},
                                  .kept = kept,
                                  .place = {.n = n_,
                                            .bandwidth = bandwidth_,
                                            .first_sweep = first_sweep,
                                            .sweeps = sweeps,
                                            .column_begin = tile_begin(t),
                                            .column_end = tile_begin(t + 1),
                                            .first_column = first_segment * width_,
                                            .segment_width = width_},
                                  .reflectors = shape},
                     {.priority = static_cast<int>(-(2 * (first_sweep / sweeps_) + t))});
  }
}

template <class T>
void Chase<T>::run(ChaseReflectors<T>* reflectors) {
  for (Index first = 0; first + 1 < n_; first += sweeps_)
    group(first, std::min(sweeps_, n_ - 1 - first), reflectors);
}

template <class T>
void Chase<T>::extract(const Data& d, const Data& e) {
  using R = RealOf<T>;
  std::vector<Data> pieces;
  std::vector<const Data*> pointers;
  pieces.reserve(segments_.size());
  for (Index k = 0; k < segment_count(); ++k) {
    pieces.push_back(
        Data::bytes(sequence_.runtime(), static_cast<std::size_t>(2 * columns(k)) * sizeof(R), owner(k)));
    pointers.push_back(&pieces.back());
    sequence_.insert(TridiagonalPiece<T>{
        .segment = segments_[static_cast<std::size_t>(k)],
        .piece = pieces.back(),
        .band = {.n = n_, .bandwidth = bandwidth_, .first = k * width_, .columns = columns(k)}});
  }
  for (int rank = 0; rank < sequence_.runtime().size(); ++rank)
    sequence_.insert(
        TridiagonalAssemble<R>{.d = d, .e = e, .pieces = pointers, .n = n_, .piece_columns = width_},
        {.execute_on = rank});
}

/// The whole band on rank 0, by ranges of sweeps.
template <class T>
void chase_by_sweeps(Sequence& sequence, BandMatrix<T>&& band, const Data& d, const Data& e,
                     ChaseReflectors<T>* reflectors, const ChaseOptions& options) {
  using R = RealOf<T>;
  Runtime& runtime = sequence.runtime();
  const Index n = band.size(), b = band.bandwidth(), group = kernels::device_group(b);
  // The back-transform takes two to four times a piece beside a slab.
  const Index piece_bytes = options.piece_bytes > 0
                                ? options.piece_bytes
                                : std::min<Index>(Index(1) << 30, task_memory(runtime) / 8);
  const auto segment_elements = static_cast<std::size_t>(kernels::BandLayout<T>::size(b, n));
  const Data segment = Data::bytes(runtime, segment_elements * sizeof(T));
  std::vector<const Data*> pieces;
  for (Index s = 0; s < band.segment_count(); ++s) pieces.push_back(&band.segment(s));
  sequence.insert(BandGather<T>{.segment = segment,
                                .pieces = pieces,
                                .band = {.n = n, .bandwidth = b, .columns = n},
                                .piece_columns = band.segment_width()});
  band.release();

  const Data workspace = Data::scratch(runtime, kernels::chase_sweeps_workspace<T>(n, b, n));
  for (Index first = 0, count; first + 1 < n; first += count) {
    count = reflectors ? chase_range(n, b, first, group, sizeof(T), piece_bytes) : n - 1;
    const kernels::DeviceReflectors shape{
        .n = n, .bandwidth = b, .first_sweep = first, .sweeps = count, .group = group};
    const Data* kept = nullptr;
    if (reflectors) {
      reflectors->device_pieces().push_back(
          {shape, Data::bytes(runtime, static_cast<std::size_t>(shape.size()) * sizeof(T))});
      kept = &reflectors->device_pieces().back().data;
    }
    sequence.insert(
        ChaseSweeps<T>{.workspace = workspace, .segment = segment, .kept = kept, .sweeps = shape});
  }

  const Data piece = Data::bytes(runtime, static_cast<std::size_t>(2 * n) * sizeof(R));
  sequence.insert(TridiagonalPiece<T>{
      .segment = segment, .piece = piece, .band = {.n = n, .bandwidth = b, .columns = n}});
  const std::vector<const Data*> list{&piece};
  for (int rank = 0; rank < runtime.size(); ++rank)
    sequence.insert(TridiagonalAssemble<R>{.d = d, .e = e, .pieces = list, .n = n, .piece_columns = n},
                    {.execute_on = rank});
}

template <class T>
void chase_band(Sequence& sequence, BandMatrix<T>&& band, const Data& d, const Data& e,
                ChaseReflectors<T>* reflectors, const ChaseOptions& options) {
  const Index n = band.size();
  if (reflectors) *reflectors = ChaseReflectors<T>(n, band.bandwidth());
  const bool on_gpu = sequence.runtime().gpus() > 0 && band.bandwidth() <= kernels::max_device_bandwidth;
  if (options.place == ChasePlace::sweeps || (options.place == ChasePlace::chosen && on_gpu))
    return chase_by_sweeps(sequence, std::move(band), d, e, reflectors, options);
  Chase<T> chase(sequence, n, band.bandwidth(), options);
  chase.gather(band);
  band.release();
  chase.run(reflectors);
  chase.extract(d, e);
}

}  // namespace

Index chase_range(Index n, Index bandwidth, Index first_sweep, Index group, std::size_t element_bytes,
                  Index bytes) noexcept {
  // Later groups are smaller than the first.
  const kernels::DeviceReflectors first{.n = n,
                                        .bandwidth = bandwidth,
                                        .first_sweep = first_sweep,
                                        .sweeps = std::min(group, n - 1 - first_sweep),
                                        .group = group};
  const Index groups = bytes / std::max<Index>(first.size() * static_cast<Index>(element_bytes), 1);
  return std::min(std::max<Index>(groups, 1) * group, n - 1 - first_sweep);
}

template <class T>
void band_to_tridiagonal(Sequence& sequence, BandMatrix<T>&& band, const Data& d, const Data& e,
                         ChaseReflectors<T>* reflectors, const ChaseOptions& options) {
  const auto check = [&] {
    if (options.sweeps < 0 || options.segments_per_rank < 0 || options.piece_bytes < 0)
      throw InvalidArgument("options", "negative", "sizes of at least 0");
    require_made("d", d);
    require_made("e", e);
  };
  const std::uint64_t arguments =
      argument_hash(hash_of(band), reflectors != nullptr, options.sweeps, options.segments_per_rank,
                    options.place, options.piece_bytes);
  collectively(sequence.runtime(), "band_to_tridiagonal", arguments, check,
               [&] { chase_band(sequence, std::move(band), d, e, reflectors, options); });
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template void band_to_tridiagonal<T>(Sequence&, BandMatrix<T>&&, const Data&, const Data&, \
                                       ChaseReflectors<T>*, const ChaseOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
