// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/algorithms/sparse/diagonal_tiles.hpp>
#include <tessera/codelets/sparse/fom_tiles.hpp>
#include <tessera/codelets/vectors/call_preconditioner.hpp>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera {
namespace {

/// Least and largest; zeros of nothing.
std::pair<double, double> limits(std::span<const double> values) {
  if (values.empty()) return {0, 0};
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  return {*least, *largest};
}
double range(std::span<const double> values) {
  const auto [least, largest] = limits(values);
  return largest - least;
}

template <class T>
void require_blocks(const RowSegments& segments, const BlockVectors<T>& r, const BlockVectors<T>& w,
                    Index columns) {
  for (const BlockVectors<T>* v : {&r, &w})
    if (v->count() != segments.count() || v->rows() != segments.rows())
      throw InvalidArgument("vectors", fmt::format("{} rows in {} segments", v->rows(), v->count()),
                            fmt::format("{} rows in {} segments", segments.rows(), segments.count()));
  if (columns < 1 || columns > std::min(r.width(), w.width()))
    throw InvalidArgument("columns", fmt::format("{}", columns),
                          fmt::format("1 to {}", std::min(r.width(), w.width())));
}

/// A piece of data with these elements, at its owner.
template <class E>
Data owned_array(Runtime& runtime, const std::vector<E>& elements, int owner) {
  Data data = Data::bytes(runtime, elements.size() * sizeof(E), owner);
  if (data.local()) {
    const HostAccess access(data, HostAccess::Mode::write);
    std::copy(elements.begin(), elements.end(), access.array<E>().begin());
  }
  return data;
}

}  // namespace

BeyondWantedEnd::BeyondWantedEnd(EigenEnd end, std::optional<double> given, double range, double b_norm)
    : end_(end), shift_(given), given_(given.has_value()), range_(range), b_norm_(b_norm) {
  if (given && !std::isfinite(*given))
    throw InvalidArgument("shift", fmt::format("{}", *given), "a finite number");
  if (!(b_norm > 0 && std::isfinite(b_norm)))
    throw InvalidArgument("b_norm", fmt::format("{}", b_norm), "a positive number");
}

void BeyondWantedEnd::expect(double ritz_value, double residual) {
  if (std::isfinite(ritz_value) && std::isfinite(residual))
    expected_ = {b_norm_ * ritz_value, b_norm_ * ritz_value - sign() * residual};
}

void BeyondWantedEnd::update(std::span<const double> ritz_values) {
  if (given_ || ritz_values.empty()) return;
  auto [least, largest] = limits(ritz_values);
  least *= b_norm_;
  largest *= b_norm_;
  const bool smallest = end_ == EigenEnd::smallest;
  const double present = smallest ? least : largest;
  if (!outermost_ || beyond(present, *outermost_)) outermost_ = present;
  double distance = std::max(largest - least, range_ / 100);
  // One Ritz value and a constant diagonal: any distance that is no rounding error.
  if (distance <= 1e-12 * std::abs(*outermost_))
    distance = *outermost_ != 0 ? std::abs(*outermost_) / 100 : 1;
  shift_ = *outermost_ - sign() * distance;
  if (expected_ && beyond(expected_->passed, *outermost_) && beyond(expected_->end, *shift_))
    shift_ = expected_->end;
}

double BeyondWantedEnd::value() const {
  if (!shift_)
    throw InvalidArgument("shift", "none", "a number, or Ritz values (prepare) before the first application");
  return *shift_;
}

// ---- Jacobi
// ------------------------------------------------------------------------------------------------------

namespace {

/// Of what the options of all preconditioners have in common.
template <class Options>
std::uint64_t hash_of_options(const Options& options) {
  return argument_hash(options.end, options.shift.has_value(), options.shift.value_or(0), options.b_norm);
}

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
    BeyondWantedEnd(options.end, options.shift, range(diagonal), options.b_norm);
  };
  const std::uint64_t hash = argument_hash(segments ? segments->hash() : 0, hash_of_options(options));
  collectively(runtime, "JacobiPreconditioner", hash, check, [] {});
  return segments;
}

}  // namespace

template <class T>
JacobiPreconditioner<T>::JacobiPreconditioner(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                                              std::vector<double> diagonal, const JacobiOptions& options)
    : segments_(checked_segments(runtime, std::move(segments), diagonal, options)),
      limits_(limits(diagonal)),
      shift_(options.end, options.shift, range(diagonal), options.b_norm) {
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
    // Beyond the whole diagonal D - shift is definite and taken as it is: that may be what the shift was
    // given for. Else some rows would have directions to themselves.
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

// ---- FOM on the diagonal tiles
// -----------------------------------------------------------------------------------

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

template <class V, class T>
FomPreconditioner<V, T>::FomPreconditioner(Runtime& runtime, const CsbMatrix<V, T>& a,
                                           const FomOptions& options)
    : runtime_(runtime),
      a_(a),
      steps_(checked_steps(runtime, options)),
      shift_(options.end, options.shift, options.shift ? 0 : range(a.diagonal()), options.b_norm) {
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
    const double sigma = shift_.value();
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

// ---- Chebyshev polynomials
// ---------------------------------------------------------------------------------------

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

}  // namespace

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
  const auto [least, largest] = limits(ritz_values);
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
    double sigma = shift_.value();
    const double bound = a_.norm_bound();
    // The unwanted eigenvalues of the positive definite sign (A - sigma I): [low, high]. The iteration is
    // that for sign (A - sigma I) w = sign r, with sign in the directions.
    const auto [first, last] = interval_  ? *interval_
                               : sign > 0 ? std::pair(*innermost_, bound)
                                          : std::pair(-bound, *innermost_);
    // Ritz values that have put the shift beyond the whole interval (too large a b_norm, say): it stays as
    // far before the interval as that is long.
    if (const double length = std::abs(last - first); !(sign > 0 ? sigma < last : sigma > first))
      sigma = sign > 0 ? std::min(first, last) - std::max(length, 1e-3 * std::abs(last))
                       : std::max(first, last) + std::max(length, 1e-3 * std::abs(first));
    double low = sign > 0 ? first - sigma : sigma - last;
    const double high = sign > 0 ? last - sigma : sigma - first;  // > 0
    // A block that reaches to the other end, or an interval that the shift has come to lie in.
    if (!(low > 0 && low < 0.9 * high)) low = 0.5 * high;
    const double middle = (high + low) / 2, half = (high - low) / 2;
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
                                         .shift = sigma,
                                         .old = next * rho,
                                         .residual = sign * 2 * next / half},
                        {.gpu = r.segments().gpu(s)});
      rho = next;
    }
    multiplications_ += degree_;
    columns_multiplied_ += degree_ * columns;
  });
}

// ---- the user's own
// ----------------------------------------------------------------------------------------------

template <class T>
UserPreconditioner<T>::UserPreconditioner(PreconditionRows<T> rows,
                                          std::function<void(std::span<const double>, Index)> prepare)
    : functions_(new PreconditionFunctions<T>{std::move(rows), {}}),
      on_device_(false),
      prepare_(std::move(prepare)) {
  if (!functions_->host) throw InvalidArgument("rows", "empty", "a function");
}

template <class T>
UserPreconditioner<T>::UserPreconditioner(Runtime& runtime, DevicePreconditionRows<T> device,
                                          PreconditionRows<T> host,
                                          std::function<void(std::span<const double>, Index)> prepare)
    : functions_(new PreconditionFunctions<T>{std::move(host), std::move(device)}),
      on_device_(functions_->device && runtime.gpus() > 0),
      prepare_(std::move(prepare)) {
  const auto check = [&] {
    if (!functions_->host && !on_device_)
      throw InvalidArgument("rows",
                            functions_->device ? "a function for GPUs, without GPUs on every rank" : "empty",
                            "a function for the host");
  };
  collectively(runtime, "UserPreconditioner", argument_hash(on_device_), check, [] {});
}

template <class T>
void UserPreconditioner<T>::prepare(Sequence&, std::span<const double> ritz_values, Index converged) {
  if (prepare_) prepare_(ritz_values, converged);
}

template <class T>
void UserPreconditioner<T>::apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                                  Index columns) const {
  const auto check = [&] { require_blocks(r.segments(), r, w, columns); };
  collectively(sequence.runtime(), "UserPreconditioner::apply", argument_hash(columns), check, [&] {
    const auto call = [&]<WorkerKind kind>(Index s) {
      sequence.insert(CallPreconditioner<T, kind>{.r = r.segment(s),
                                                  .w = w.segment(s),
                                                  .columns = static_cast<int>(columns),
                                                  .first_row = r.segments().begin(s),
                                                  .functions = functions_.get()},
                      {.gpu = r.segments().gpu(s)});
    };
    for (Index s = 0; s < r.count(); ++s)
      if (on_device_)
        call.template operator()<WorkerKind::gpu>(s);
      else
        call.template operator()<WorkerKind::cpu>(s);
  });
}

#define TESSERA_INSTANTIATE(T)               \
  template class JacobiPreconditioner<T>;    \
  template class ChebyshevPreconditioner<T>; \
  template class UserPreconditioner<T>;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
template class FomPreconditioner<float, float>;
template class FomPreconditioner<float, double>;
template class FomPreconditioner<double, double>;

}  // namespace tessera
