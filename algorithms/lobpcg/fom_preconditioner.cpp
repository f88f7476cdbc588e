// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/preconditioner_parts.hpp>
#include <tessera/algorithms/sparse/diagonal_tiles.hpp>
#include <tessera/codelets/sparse/fom_tiles.hpp>
#include <tessera/preconditioners.hpp>

namespace tessera::detail {

namespace {

int checked_steps(const Runtime& runtime, const FomOptions& options) {
  const auto check = [&] {
    BeyondWantedEnd(options.end, options.shift, 0, options.b_norm);
    if (options.steps < 1 || options.steps > fom_max_steps)
      throw InvalidArgument("steps", fmt::format("{}", options.steps), fmt::format("1 to {}", fom_max_steps));
  };
  const std::uint64_t hash = argument_hash(options.steps, hash_of_options(options));
  collectively(runtime, "FomPreconditioner", hash, check, [] {});
  return options.steps;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class V, class T>
FomPreconditioner<V, T>::FomPreconditioner(Runtime& runtime, const CsbMatrix<V, T>& a,
                                           const FomOptions& options)
    : runtime_(runtime),
      a_(a),
      steps_(checked_steps(runtime, options)),
      shift_(options.end, options.shift, options.shift ? 0 : spread(a.diagonal()), options.b_norm) {
  guarded(runtime, [&] {
    const RowSegments& segments = *a.segments();
    for (Index s = 0; s < segments.count(); ++s) {
      const std::vector<Index>& begins = a.diagonal_tiles(s).begins;
      begins_.push_back(
          owned_array(runtime, std::vector<std::uint32_t>(begins.begin(), begins.end()), segments.owner(s)));
    }
  });
}

template <class V, class T>
void FomPreconditioner<V, T>::prepare(Sequence&, std::span<const double> ritz_values, Index) {
  shift_.update(ritz_values);
}

template <class V, class T>
void FomPreconditioner<V, T>::apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                                    Index columns) const {
  const auto check = [&] {
    require_blocks(*a_.segments(), r, w, columns);
    shift_.value();
  };
  collectively(sequence.runtime(), "FomPreconditioner::apply", argument_hash(columns), check, [&] {
    const RowSegments& segments = *a_.segments();
    const FomShift sigma(shift_.value(), shift_.given() ? 0 : shift_.sign());
    const auto tiles = [&](Index s) { return static_cast<Index>(a_.diagonal_tiles(s).begins.size()) - 1; };
    std::int64_t needed = 0;
    for (Index s = 0; s < segments.count(); ++s) {
      const int m = static_cast<int>(columns);
      needed = std::max(needed, runtime_.any_gpus()
                                    ? fom_scratch(segments.size(s), tiles(s), m, steps_, sizeof(T)).total
                                    : fom_scratch_on_cpu(a_.diagonal_tiles(s).begins, m, steps_, sizeof(T)));
    }
    const auto bytes = static_cast<std::size_t>(needed);
    if (bytes > scratch_bytes_) {
      scratch_ = Data::scratch(runtime_, bytes);
      scratch_bytes_ = bytes;
    }
    for (Index s = 0; s < segments.count(); ++s) {
      const auto& diagonal = a_.diagonal_tiles(s);
      insert_fom_tiles(sequence,
                       FomTiles<V, T>{.piece = diagonal.piece,
                                      .index = diagonal.index,
                                      .begins = begins_[static_cast<std::size_t>(s)],
                                      .r = r.segment(s),
                                      .w = w.segment(s),
                                      .scratch = scratch_,
                                      .shape = diagonal.piece ? diagonal.shape : CsbPieceShape{},
                                      .rows = segments.size(s),
                                      .tiles = tiles(s),
                                      .columns = static_cast<int>(columns),
                                      .steps = steps_,
                                      .shift = sigma},
                       {.gpu = segments.gpu(s)});
    }
  });
}

#define TESSERA_INSTANTIATE(V, T) template class FomPreconditioner<V, T>;
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera
