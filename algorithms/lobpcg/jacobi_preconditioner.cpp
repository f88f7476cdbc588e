// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/preconditioner_parts.hpp>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// The segments, if all ranks have given the same ones and nothing is wrong.
std::shared_ptr<const RowSegments> checked_segments(const Runtime& runtime,
                                                    std::shared_ptr<const RowSegments> segments,
                                                    const std::vector<double>& diagonal,
                                                    const JacobiOptions& options) {
  const auto check = [&] {
    if (!segments) throw InvalidArgument("segments", "null", "a cut of the rows");
    if (static_cast<Index>(diagonal.size()) != segments->rows())
      throw InvalidArgument("diagonal", fmt::format("{} elements", diagonal.size()),
                            fmt::format("one for each of the {} rows", segments->rows()));
    for (const double d : diagonal)
      if (!std::isfinite(d)) throw InvalidArgument("diagonal", fmt::format("{}", d), "finite elements");
    BeyondWantedEnd(options.end, options.shift, spread(diagonal), options.b_norm);
  };
  const std::uint64_t hash = argument_hash(segments ? segments->hash() : 0, hash_of_options(options));
  collectively(runtime, "JacobiPreconditioner", hash, check, [] {});
  return segments;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
JacobiPreconditioner<T>::JacobiPreconditioner(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                                              std::vector<double> diagonal, const JacobiOptions& options)
    : segments_(checked_segments(runtime, std::move(segments), diagonal, options)),
      limits_(least_and_largest(diagonal)),
      shift_(options.end, options.shift, spread(diagonal), options.b_norm) {
  guarded(runtime, [&] {
    for (Index s = 0; s < segments_->count(); ++s)
      diagonal_.push_back(owned_array(
          runtime,
          std::vector<double>(diagonal.begin() + segments_->begin(s), diagonal.begin() + segments_->end(s)),
          segments_->owner(s)));
  });
}

template <class T>
void JacobiPreconditioner<T>::prepare(Sequence&, std::span<const double> ritz_values, Index) {
  shift_.update(ritz_values);
}

template <class T>
void JacobiPreconditioner<T>::apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                                    Index columns) const {
  const auto check = [&] {
    require_blocks(*segments_, r, w, columns);
    shift_.value();
  };
  collectively(sequence.runtime(), "JacobiPreconditioner::apply", argument_hash(columns), check, [&] {
    const double sigma = shift_.value();
    const double largest = std::max(std::abs(limits_.first - sigma), std::abs(limits_.second - sigma)),
                 nearest = std::max(limits_.first - sigma, sigma - limits_.second);
    // With a shift beyond the whole diagonal D - shift is definite and is used unchanged: the caller may have
    // chosen the shift for that. Otherwise rows close to the shift would dominate the directions.
    const bool definite = shift_.given() && nearest > static_cast<double>(precision<T>) * largest;
    const double least = definite ? nearest : largest > 0 ? 1e-3 * largest : 1;
    for (Index s = 0; s < segments_->count(); ++s)
      sequence.insert(DivideRows<T>{.diagonal = diagonal_[static_cast<std::size_t>(s)],
                                    .r = r.segment(s),
                                    .w = w.segment(s),
                                    .columns = static_cast<int>(columns),
                                    .sign = shift_.given() ? 0 : shift_.sign(),
                                    .shift = sigma,
                                    .least = least},
                      {.gpu = segments_->gpu(s)});
  });
}

#define TESSERA_INSTANTIATE(T) template class JacobiPreconditioner<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
