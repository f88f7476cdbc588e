// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>
#include <tessera/scf.hpp>

namespace tessera::detail {

namespace {

constexpr Index largest_order = 12;

void require_order(Index order) {
  if (order < 1 || order > largest_order)
    throw InvalidArgument("order", fmt::to_string(order), fmt::format("1 to {}", largest_order));
}

double binomial(Index n, Index k) {
  double value = 1;
  for (Index i = 1; i <= k; ++i) value = value * static_cast<double>(n - k + i) / static_cast<double>(i);
  return std::round(value);
}

/// McWeeny's steps until the square of what is missing is negligible, or the filter ends it.
template <class T>
void purify_prediction(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& p, const BlockSparseMatrix<T>* s) {
  constexpr Index most = 5;
  const double tolerance = std::max(0.01 * algebra.filter_eps(), 10 * static_cast<double>(precision<T>));
  double error = 1;
  for (Index step = 1; step <= most && 3 * error * error > tolerance; ++step) {
    error = mcweeny_step(algebra, p, s);
    algebra.finish();
    algebra.end_step({.stage = "mcweeny",
                      .iteration = step,
                      .convergence = error,
                      .electrons = s ? real_part(dot(p, *s)) : real_part(trace(p))},
                     p);
  }
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::vector<double> aspc_coefficients(Index order) {
  require_order(order);
  std::vector<double> b;
  for (Index j = 1; j <= order; ++j)
    b.push_back((j % 2 == 1 ? 1 : -1) * static_cast<double>(j) * binomial(2 * order, order - j) /
                binomial(2 * order - 2, order - 1));
  return b;
}

template <class T>
DensityExtrapolation<T>::DensityExtrapolation(const ExtrapolationOptions& options) : options_(options) {
  require_order(options.order);
  if (!(options.occupation > 0) || std::isinf(options.occupation))
    throw InvalidArgument("occupation", fmt::to_string(options.occupation), "a number above 0");
  if (!(options.filter_eps >= 0) || std::isinf(options.filter_eps))
    throw InvalidArgument("filter_eps", fmt::to_string(options.filter_eps), "a number of at least 0");
}

template <class T>
void DensityExtrapolation<T>::add(const BlockSparseMatrix<T>& density, const BlockSparseMatrix<T>* overlap) {
  Runtime& runtime = runtime_of("density", density);
  const auto check = [&] {
    require_operand("density", runtime, density, true);
    if (!former_.empty()) {
      if (&former_.front().runtime() != &runtime)
        throw InvalidArgument("density", "a matrix of another Runtime", "that of the former ones");
      require_sizes("density", density.layout(), layout_);
    }
    if (!overlap) return;
    require_operand("overlap", runtime, *overlap, true);
    require_sizes("overlap", overlap->layout(), density.layout());
  };
  collectively(runtime, "DensityExtrapolation::add", argument_hash(shape_hash(density), overlap == nullptr),
               check, [&] {
                 IterationReport report;
                 report_iteration(report, [&] {
                   BlockAlgebra<T> algebra(runtime, options_.filter_eps, {}, report);
                   auto ps = overlap ? algebra.product(1 / options_.occupation, density, *overlap,
                                                       full_layout(density.layout()))
                                     : algebra.sum({{1 / options_.occupation, &density}});
                   algebra.finish();
                   if (static_cast<Index>(former_.size()) == options_.order) former_.pop_back();
                   former_.push_front(std::move(ps));
                   layout_ = density.layout();
                 });
                 if (!report.status().ok()) throw RuntimeError(report.status().message());
               });
}

template <class T>
DensityPrediction<T> DensityExtrapolation<T>::predict(const BlockSparseMatrix<T>* overlap) {
  if (former_.empty())
    throw InvalidArgument("DensityExtrapolation", "no density", "at least one that was added before");
  Runtime& runtime = former_.front().runtime();
  const auto check = [&] {
    if (!overlap) return;
    require_operand("overlap", runtime, *overlap, true);
    require_sizes("overlap", overlap->layout(), layout_);
  };
  return collectively(runtime, "DensityExtrapolation::predict",
                      argument_hash(overlap ? shape_hash(*overlap) : 1, geometries()), check, [&] {
                        DensityPrediction<T> result;
                        report_iteration(result, [&] {
                          BlockAlgebra<T> algebra(runtime, options_.filter_eps, {}, result);
                          const std::vector<double> b = aspc_coefficients(geometries());
                          auto ps = algebra.sum({{b[0], &former_[0]}});
                          for (std::size_t j = 1; j < b.size(); ++j) algebra.add(1, ps, b[j], former_[j]);
                          auto p = overlap ? BlockSparseMatrix<T>() : std::move(ps);
                          if (overlap) {
                            DensityOptions of_basis;
                            of_basis.filter_eps = options_.filter_eps;
                            OrthonormalBasis<T> basis(algebra, *overlap,
                                                      inverse_factor_.valid() ? &inverse_factor_ : nullptr,
                                                      of_basis);
                            const auto& z = basis.factor();
                            const auto psz = algebra.product(1, ps, z, full_layout(layout_));
                            p = algebra.hermitian_part(
                                algebra.product(1, psz, {z, Op::adjoint}, full_layout(layout_)), layout_);
                            result.inverse_factor = std::move(basis.factor());
                            inverse_factor_ = algebra.copied(result.inverse_factor);
                          }
                          purify_prediction(algebra, p, overlap);
                          algebra.scale(options_.occupation, p);
                          algebra.finish();
                          if (options_.filter_eps > 0) filter(p, options_.filter_eps);
                          algebra.count_products();
                          result.density = std::move(p);
                        });
                        return result;
                      });
}

#define TESSERA_INSTANTIATE(T) template class DensityExtrapolation<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
