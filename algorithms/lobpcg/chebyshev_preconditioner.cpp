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

template <class T>
void require_chebyshev(const SymmetricOperator<T>& a, const ChebyshevOptions& options) {
  const auto& interval = options.interval;
  // Without a given interval its wanted end is not known yet, but the other one is.
  const double bound = a.norm_bound();
  const BeyondWantedEnd shift(options.end, options.shift, bound, options.b_norm);
  if (options.degree < 1) throw InvalidArgument("degree", fmt::format("{}", options.degree), "at least 1");
  if (interval && !(interval->first < interval->second && std::isfinite(interval->second - interval->first)))
    throw InvalidArgument("interval", fmt::format("[{}, {}]", interval->first, interval->second),
                          "two numbers a < b");
  if (!interval && !(bound > 0))
    throw InvalidArgument("interval", "none", "given, for an operator without a norm_bound()");
  const auto [first, last] = interval ? *interval : std::pair(bound, -bound);
  if (options.shift && !(shift.sign() > 0 ? *options.shift < first : *options.shift > last))
    throw InvalidArgument("shift", fmt::format("{}", *options.shift),
                          "beyond the interval, on the wanted side");
}

template <class T>
int checked_degree(const Runtime& runtime, const SymmetricOperator<T>& a, const ChebyshevOptions& options) {
  const auto interval = options.interval.value_or(std::pair(0.0, 0.0));
  const std::uint64_t hash = argument_hash(options.degree, options.interval.has_value(), interval.first,
                                           interval.second, hash_of_options(options));
  collectively(
      runtime, "ChebyshevPreconditioner", hash, [&] { require_chebyshev(a, options); }, [] {});
  return options.degree;
}

/// The unwanted eigenvalues of the positive definite sign (A - sigma I): [low, high]. The iteration is that
/// for sign (A - sigma I) w = sign r, with sign in the directions.
struct UnwantedInterval {
  double sigma, low, high;
};

/// From the interval [first, last] of A. One that the shift has come to lie in, or beyond, is moved.
UnwantedInterval unwanted_interval(double sigma, double first, double last, int sign) {
  // Ritz values that have put the shift beyond the whole interval (too large a b_norm, say): it stays as
  // far before the interval as that is long.
  if (const double length = std::abs(last - first); !(sign > 0 ? sigma < last : sigma > first))
    sigma = sign > 0 ? std::min(first, last) - std::max(length, 1e-3 * std::abs(last))
                     : std::max(first, last) + std::max(length, 1e-3 * std::abs(first));
  double low = sign > 0 ? first - sigma : sigma - last;
  const double high = sign > 0 ? last - sigma : sigma - first;  // > 0
  // A block that reaches to the other end, or an interval that the shift has come to lie in.
  if (!(low > 0 && low < 0.9 * high)) low = 0.5 * high;
  return {sigma, low, high};
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
ChebyshevPreconditioner<T>::ChebyshevPreconditioner(Runtime& runtime, const SymmetricOperator<T>& a,
                                                    const ChebyshevOptions& options)
    : runtime_(runtime),
      a_(a),
      degree_(checked_degree(runtime, a, options)),
      b_norm_(options.b_norm),
      shift_(options.end, options.shift, a.norm_bound(), options.b_norm),
      interval_(options.interval) {}

template <class T>
void ChebyshevPreconditioner<T>::prepare(Sequence&, std::span<const double> ritz_values, Index) {
  shift_.update(ritz_values);
  const auto [least, largest] = least_and_largest(ritz_values);
  innermost_ = b_norm_ * (shift_.sign() > 0 ? largest : least);
}

template <class T>
void ChebyshevPreconditioner<T>::apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                                       Index columns) const {
  const auto check = [&] {
    require_blocks(*a_.segments(), r, w, columns);
    if (!interval_ && !innermost_)
      throw InvalidArgument("interval", "none",
                            "given, or Ritz values (prepare) before the first application");
    shift_.value();
  };
  collectively(sequence.runtime(), "ChebyshevPreconditioner::apply", argument_hash(columns), check, [&] {
    if (residual_.width() != r.width())
      for (BlockVectors<T>* v : {&residual_, &direction_, &product_})
        *v = BlockVectors<T>(runtime_, a_.segments(), r.width());
    const int sign = shift_.sign();
    const double bound = a_.norm_bound();
    const auto [first, last] = interval_  ? *interval_
                               : sign > 0 ? std::pair(*innermost_, bound)
                                          : std::pair(-bound, *innermost_);
    const UnwantedInterval unwanted = unwanted_interval(shift_.value(), first, last, sign);
    const double middle = (unwanted.high + unwanted.low) / 2, half = (unwanted.high - unwanted.low) / 2;
    const Index count = r.count();
    for (Index s = 0; s < count; ++s)
      sequence.insert(ChebyshevStart<T>{.r = r.segment(s),
                                        .q = residual_.segment(s),
                                        .d = direction_.segment(s),
                                        .w = w.segment(s),
                                        .columns = static_cast<int>(columns),
                                        .factor = sign / middle},
                      {.gpu = r.segments().gpu(s)});
    double rho = half / middle;
    for (int k = 0; k < degree_; ++k) {
      a_.apply(sequence, direction_, product_, columns);
      const double next = 1 / (2 * middle / half - rho);
      for (Index s = 0; s < count; ++s)
        sequence.insert(ChebyshevStep<T>{.ad = product_.segment(s),
                                         .q = residual_.segment(s),
                                         .d = direction_.segment(s),
                                         .w = w.segment(s),
                                         .columns = static_cast<int>(columns),
                                         .shift = unwanted.sigma,
                                         .old = next * rho,
                                         .residual = sign * 2 * next / half},
                        {.gpu = r.segments().gpu(s)});
      rho = next;
    }
    multiplications_ += degree_;
    columns_multiplied_ += degree_ * columns;
  });
}

#define TESSERA_INSTANTIATE(T) template class ChebyshevPreconditioner<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
