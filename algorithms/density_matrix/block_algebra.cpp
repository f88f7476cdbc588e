// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/gpu_memory.hpp>

namespace tessera::detail {

double filter_bound(const MultiplyResult& product, const BlockLayout& c, double filter_eps) {
  const double halves = c.symmetry == Symmetry::none ? 1 : 2,
               blocks = static_cast<double>(c.rows->blocks()) * static_cast<double>(c.cols->blocks()),
               skipped = std::min(halves * static_cast<double>(product.filtered_products), blocks),
               dropped = std::min(halves * static_cast<double>(product.filtered_blocks), blocks);
  return filter_eps * (std::sqrt(skipped) + std::sqrt(dropped));
}

template <class T>
BlockAlgebra<T>::BlockAlgebra(Runtime& runtime, double filter_eps, IterationMonitor monitor,
                              IterationReport& report)
    : runtime_(runtime),
      filter_eps_(filter_eps),
      monitor_(std::move(monitor)),
      report_(report),
      step_began_(std::chrono::steady_clock::now()) {}

template <class T>
Sequence& BlockAlgebra<T>::sequence() {
  if (!sequence_) sequence_ = std::make_unique<Sequence>(runtime_);
  return *sequence_;
}

template <class T>
void BlockAlgebra<T>::finish() {
  if (!sequence_) return;
  const Status status = sequence_->wait();
  sequence_.reset();
  if (!status.ok()) throw IterationEnded{status};
}

template <class T>
ProductSums BlockAlgebra<T>::product(double alpha, const ProductFactor<T>& a, const ProductFactor<T>& b,
                                     double beta, Matrix& c, const Matrix* dot_with) {
  const MultiplyResult r = multiply<T>(
      runtime_,
      {.alpha = T(Real(alpha)), .a = a, .b = b, .beta = T(Real(beta)), .c = c, .dot_with = dot_with},
      {.filter_eps = filter_eps_, .trace = true, .frobenius_norm = true, .sequence = &sequence()});
  if (!r) throw IterationEnded{r.status()};
  ++step_products_;
  step_flop_ += r.flop;
  return {r.trace.real(), r.dot.real(), r.frobenius_norm, filter_bound(r, c.layout(), filter_eps_)};
}

template <class T>
BlockSparseMatrix<T> BlockAlgebra<T>::product(double alpha, const ProductFactor<T>& a,
                                              const ProductFactor<T>& b, const BlockLayout& layout) {
  Matrix c(empty_pattern(runtime_, layout));
  product(alpha, a, b, 0, c);
  return c;
}

template <class T>
BlockSparseMatrix<T> BlockAlgebra<T>::copied(const Matrix& a) {
  return copy(sequence(), a);
}

template <class T>
BlockSparseMatrix<T> BlockAlgebra<T>::sum(std::initializer_list<std::pair<double, const Matrix*>> terms) {
  Matrix result = copied(*terms.begin()->second);
  double factor = terms.begin()->first;
  for (auto term = terms.begin() + 1; term != terms.end(); ++term, factor = 1)
    add(factor, result, term->first, *term->second);
  if (terms.size() == 1) scale(factor, result);
  return result;
}

template <class T>
void BlockAlgebra<T>::add(double alpha, Matrix& a, double beta, const Matrix& b) {
  tessera::add(sequence(), T(Real(alpha)), a, T(Real(beta)), b);
}

template <class T>
void BlockAlgebra<T>::scale(double alpha, Matrix& a) {
  tessera::scale(sequence(), T(Real(alpha)), a);
}

template <class T>
BlockSparseMatrix<T> BlockAlgebra<T>::in_layout(const Matrix& a, const BlockLayout& layout) {
  return a.layout() == layout ? copied(a) : redistribute(sequence(), a, layout);
}

template <class T>
BlockSparseMatrix<T> BlockAlgebra<T>::hermitian_part(const Matrix& a, const BlockLayout& layout) {
  Matrix half = in_layout(transpose(sequence(), a, true), a.layout());
  add(0.5, half, 0.5, a);
  return in_layout(half, layout);
}

template <class T>
const BlockSparseMatrix<T>& BlockAlgebra<T>::identity(const BlockLayout& layout) {
  const auto known = std::find_if(identities_.begin(), identities_.end(),
                                  [&](const Matrix& made) { return made.layout() == layout; });
  if (known != identities_.end()) return *known;
  BlockSparseBuilder<T> builder(runtime_, layout);
  builder.reserve_diagonal();
  Matrix made = builder.finalize();
  const std::vector<T> ones(static_cast<std::size_t>(made.rows()), T(1));
  set_diagonal(sequence(), std::span<const T>(ones), made);
  identities_.push_back(std::move(made));
  return identities_.back();
}

template <class T>
void BlockAlgebra<T>::count_products() {
  report_.products += std::exchange(step_products_, 0);
  report_.flop += std::exchange(step_flop_, 0);
}

template <class T>
IterationMonitor BlockAlgebra<T>::monitor() const {
  if (!monitor_) return {};
  return [this](const IterationStep& step) { return monitor_(step); };
}

template <class T>
void BlockAlgebra<T>::count_products(Index products, double flop) noexcept {
  step_products_ += products;
  step_flop_ += flop;
}

template <class T>
void BlockAlgebra<T>::end_step(IterationStep step, const Matrix& iterate) {
  finish();
  step.occupation = occupation(iterate);
  step.threshold = filter_eps_;
  end_step(std::move(step));
}

template <class T>
void BlockAlgebra<T>::end_step(IterationStep step) {
  const auto now = std::chrono::steady_clock::now();
  step.seconds = std::chrono::duration<double>(now - step_began_).count();
  step.products = step_products_;
  step.flop = step_flop_;
  count_products();
  step.gpu_bytes = static_cast<double>(gpu_bytes_held());
  step_began_ = now;
  report_.steps.push_back(step);
  if (!std::isfinite(step.convergence))
    throw IterationEnded{
        {StatusCode::not_finite, step.stage, 0, fmt::format("NaN or infinity in step {}", step.iteration)}};
  if (!monitor_) return;
  double stops = 0;
  agree(runtime_, 0, [&] { stops = monitor_(step) ? 0 : 1; });
  runtime_.all_reduce_max(&stops, 1);
  if (stops > 0)
    throw IterationEnded{{StatusCode::stopped, step.stage, step.iteration,
                          fmt::format("stopped by the monitor after step {}", step.iteration)}};
}

#define TESSERA_INSTANTIATE(T) template class BlockAlgebra<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
